"""P5's figures: columns for the claims, figures and table of ``p5_runs.toml``, delays of pairs, and PlanetLab."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...heuristics.brokers.kernels.forwarding import STRATEGIES as NUMBERED
from ...heuristics.brokers.kernels.queueing import Timing, simulate
from ...instances.brokers.files import BROKERS
from ...instances.brokers.network import BrokerNetwork
from ...instances.brokers.predicates import matching_shares
from ...instances.brokers.problems import Dissemination, is_wanted, message_hops
from ..intervals import mean_interval, share_interval
from ..studies.task import Recipe
from .bench import Bench
from .claim import RISES, Judgement, Line, Verdict, about, at_least, at_most, claim, exact, judged
from .rows import Part, judge_parts
from .simulator.covering import matching_effort

BOTH = SPARSE, DENSE = "brokers-sparse", "brokers-dense"
UNCAPPED, SERVICES = ("s0", "s1", "s2"), (500, 1000, 2000, 4000, 8000)
_STATIC = "o_simulate != 'system'"
_SAMPLED, _MATCHED, _BIN, _PAIR_LEAST = 60, 200, 10, 3


def measured(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with deliveries in time (done, thousands), their share, hops, delay in ms, messages a second (rate).

    A run of the system has its own counts, another one those of its queues, or of its messages without service times.
    """
    system = rows["o_simulate"] == "system"
    periods, empty = rows["o_periods"].fillna(1), pd.Series(np.nan, rows.index)
    minutes = rows["p_publications"] / rows["p_rate"] * periods

    def pick(in_system: str, queued: str) -> pd.Series:
        own, queues = (rows.get(f"c_{name}", empty).astype(float) for name in (in_system, queued))
        return own.where(system, queues)

    done = pick("system_deliveries", "queued_deliveries")
    return rows.assign(
        minutes=minutes,
        done=done / 1000,
        share=done / (rows["deliveries"] * periods),
        hops=pick("system_hops", "queued_hops"),
        delay=pick("system_delay_ms", "queued_delay_ms"),
        rate=pick("system_messages", "queued_messages") / (60 * minutes),
        yields=rows.get("c_system_yield", empty).where(system, rows["yield"]),
        mean_hops=rows.get("c_system_hops", empty).where(system, rows["average_hops"]),
        fall=1 - rows["yield"],
    )


def with_copies(rows: pd.DataFrame) -> pd.DataFrame:
    """`measured`, and the copies of a publication that a forwarding broker sends."""
    copies = []
    for answer, links in zip(rows["answer"], rows["soft_links"], strict=True):
        publication, sender, _ = np.asarray(answer)[1 + 2 * int(links) :].reshape(-1, 3).astype(np.int64).T
        copies.append(len(sender) / len(np.unique((publication << 20) + sender)))
    return measured(rows).assign(copies=copies)


@claim("P5.F10.1", "p5-low-rate")
def PAIRS(bench: Bench) -> Judgement:
    """The share of the mean delay of a pair of a source and a receiver that S2 saves: the largest, and all pairs."""
    rows = bench.on("p5-low-rate").query(f"{_STATIC} and law == '{DENSE}' and method in ('s0', 's1', 's2')")
    saved: dict[str, list[npt.NDArray[np.float64]]] = {"s1": [], "s2": []}
    for draw in sorted(set(rows["draw"]))[: 2 if bench.quick else 3]:
        own = {row["method"]: row for row in rows[rows["draw"] == draw].to_dict("records")}
        if len(own) == 3:
            delays = {method: pair_delays(row) for method, row in own.items()}
            for method, each in saved.items():
                each.append(1 - (delays[method] / delays["s0"]).dropna().to_numpy())
    largest = mean_interval([float(each.max()) for each in saved["s2"]])
    every = np.concatenate(saved["s2"])
    shown = {
        "largest share saved by S1": mean_interval([float(each.max()) for each in saved["s1"]]),
        "mean over all pairs, S2": mean_interval([float(each.mean()) for each in saved["s2"]]),
        "share of pairs that S2 delays": share_interval(int((every < 0).sum()), len(every)),
    }
    lines = [Line(name, number, Verdict.CONFIRMED) for name, number in shown.items()]
    return judged(largest, at_least(0.5), RISES, sensitivity=lines)


def pair_delays(row: Mapping[str, Any]) -> pd.Series:
    """The mean milliseconds from source to receiver of each pair with a few deliveries: 1 a hop, and 1 a match."""
    network, answer = _answered(row)
    wanted = is_wanted(network, answer)
    publication, _, receiver = answer.messages[wanted].T
    hops = message_hops(network, answer)[wanted]
    pairs = pd.DataFrame(
        {"source": network.publications.sources[publication], "receiver": receiver, "ms": 2 * hops + 1}
    )
    means = pairs.groupby(["source", "receiver"])["ms"].agg(["mean", "size"])
    return means.loc[means["size"] >= _PAIR_LEAST, "mean"]


def with_effort(rows: pd.DataFrame) -> pd.DataFrame:
    """`measured` with covering sets of some brokers and predicates evaluated per publication, also in percent.

    The percentages are of the smallest fanout on the same data. In the system predicates are counted, and divided by
    the matches.
    """
    covering, evaluations = [], []
    for row in rows.to_dict("records"):
        if row["o_simulate"] == "system":
            covering.append(row["c_system_covering"])
            matches = row["c_system_messages_all"] + row["c_system_published"]
            evaluations.append(row["c_system_evaluations"] / matches)
            continue
        network, answer = _answered(row)
        brokers = np.arange(0, network.num_brokers, max(1, network.num_brokers // _SAMPLED), dtype=np.int32)
        covered, evaluated = matching_effort(network, answer.soft_links, brokers, _MATCHED)
        covering.append(covered)
        evaluations.append(evaluated)
    found = measured(rows).assign(covering=covering, evaluations=evaluations)
    base = found[found["p_fanout"] == 5].set_index(["draw", "o_simulate"])[["covering", "evaluations"]]
    least = base.reindex(pd.MultiIndex.from_frame(found[["draw", "o_simulate"]])).to_numpy()
    percent = 100 * found[["covering", "evaluations"]].to_numpy() / least
    return found.assign(covering_percent=percent[:, 0], evaluations_percent=percent[:, 1])


def with_longest(rows: pd.DataFrame) -> pd.DataFrame:
    """`measured`, without the five-second runs where there are longer ones of the same setting."""
    rows = measured(rows)
    longest = rows[rows["minutes"] < 2].groupby(["p_brokers", "o_service", "p_fanout", "law"])["minutes"].max()
    keys = pd.MultiIndex.from_frame(rows[["p_brokers", "o_service", "p_fanout", "law"]])
    return rows.assign(longest=rows["minutes"].to_numpy() >= longest.reindex(keys).to_numpy())


_MORE = Part("largest rise over S0", "most / s0 - 1", about(1.15), RISES, measure="done", each="draw", published=1.15)


@claim("P5.F13.1", "p5-saturated")
def MATCHING_TIMES(bench: Bench) -> Judgement:
    """The largest rise of deliveries by the matching time, which the paper does not give."""
    rows = with_longest(bench.on("p5-saturated"))
    rows = rows.query(f"{_STATIC} and p_brokers == 120 and p_uplink == 0 and p_fanout == 35 and minutes < 0.1")
    rows = rows[rows["law"] == SPARSE]
    found = {service: judge_parts([_MORE], rows[rows["o_service"] == service]) for service in SERVICES}
    rises = [one.number.mean for one in found.values() if one.number]
    lines = [Line(f"{service / 1000:g} ms a match", one.number, one.verdict) for service, one in found.items()]
    text = f"on the matching time: {min(rises, default=0):+.0%} to {max(rises, default=0):+.0%} at 0.5 to 8 ms a match"
    reached = bool(rises) and min(rises) < 1.15 < max(rises)
    verdict = Verdict.DEPENDS if reached else Verdict.NOT_DECIDED
    return Judgement(verdict, text, found[4000].number, lines)


@claim("P5.F13c", "p5-planetlab")
def PLANETLAB(bench: Bench) -> Judgement:
    """Shares delivered by cap, and the caps under which sparse and dense data are as published."""
    rows = measured(bench.on("p5-planetlab"))
    full, part = at_least(0.99), at_most(0.99)
    of = {s: Part(f"share of {s.upper()}", s, measure="share", each="draw") for s in UNCAPPED}
    more = [Part(f"{s.upper()} − S0", f"{s} - s0", RISES, measure="share", each="draw") for s in ("s1", "s2")]

    def as_published(own: pd.DataFrame, law: str) -> bool:
        numbers = {s: of[s].number(own) for s in UNCAPPED}
        limits = {"s0": part, **dict.fromkeys(("s1", "s2"), full if law == SPARSE else part)}
        held = all(number is not None and limits[s].holds(number) for s, number in numbers.items())
        return held and judge_parts(more, own).verdict is Verdict.CONFIRMED

    fitting, details = dict[str, list[int]](), []
    for law in BOTH:
        static = rows[(rows["law"] == law) & (rows["o_simulate"] != "system")]
        by_cap = {int(cap): static[static["p_uplink"] == cap] for cap in sorted(set(static["p_uplink"]))}
        fitting[law] = [cap for cap, own in by_cap.items() if as_published(own, law)]
        shown = (f"{cap}: {', '.join(f'{of[s].number(own)}' for s in UNCAPPED)}" for cap, own in by_cap.items())
        details.append(f"{_data(law)}, shares of S0, S1, S2 by cap: {'; '.join(shown)}")
    common = sorted(set(fitting[SPARSE]) & set(fitting[DENSE]))
    each = "; ".join(
        f"{_data(law)} as published at {', '.join(map(str, caps)) or 'no cap'}" for law, caps in fitting.items()
    )
    lines = []
    for law in BOTH:
        own = rows[(rows["law"] == law) & (rows["o_simulate"] == "system")]
        if len(own):
            lines.append(Line(f"in the system, 40 a second, share of S0, {_data(law)}", of["s0"].number(own),
                              Verdict.CONFIRMED if as_published(own, law) else Verdict.NOT_DECIDED))  # fmt: skip
    size = f"; publications of {10_240 // common[-1]} bytes fit both" if common else "; no one size fits both"
    verdict, number = Verdict.DEPENDS if all(fitting.values()) else Verdict.NOT_DECIDED, exact(len(common), len(rows))
    return Judgement(verdict, f"on the size of a publication: {each}{size}", number, lines, details)


def _data(law: str) -> str:
    """Sparse or dense."""
    return law.partition("-")[2]


# What the figures show


@lru_cache(maxsize=2)
def _network(recipe: str) -> BrokerNetwork:
    network: BrokerNetwork = Recipe.from_json(recipe).make()
    return network


def _answered(row: Mapping[str, Any]) -> tuple[BrokerNetwork, Dissemination]:
    """The network of a run, generated again, and its answer."""
    network = _network(row["recipe"])
    return network, BROKERS.unpack(np.asarray(row["answer"], dtype=np.int32), network)


_KEPT = ("law", "method", "recipe", "instance", "draw", "p_fanout", "o_simulate")


def _expanded(rows: pd.DataFrame, points: Any, where: str = "") -> pd.DataFrame:
    """Several rows of each run of a query: what `points` yields for it, with the columns that tell runs apart."""
    every = (rows.query(where) if where else rows).sort_values("recipe").to_dict("records")
    return pd.DataFrame([{**{name: row[name] for name in _KEPT}, **one} for row in every for one in points(row)])


def _matching(row: Mapping[str, Any]) -> Iterator[dict[str, float]]:
    network = _network(row["recipe"])
    shares = {
        "of_subscriptions": matching_shares(network.subscriptions, network.publications),
        "of_brokers": np.diff(network.destinations[0]) / network.num_brokers,
    }
    for percent in range(0, 101, 2):
        yield {"percent": percent, **{k: 100 * float((each <= percent / 100).mean()) for k, each in shares.items()}}


def _path_lengths(row: Mapping[str, Any]) -> Iterator[dict[str, float]]:
    if row["o_simulate"] == "system":
        counts = np.array(json.loads(row["c_system_hop_counts"]))
    else:
        answered = _answered(row)
        counts = np.bincount(message_hops(*answered)[is_wanted(*answered)])
    counts = np.pad(counts, (0, max(0, 20 - len(counts))))
    for hops, share in enumerate(np.cumsum(counts) / max(1, counts.sum())):
        yield {"hops": hops, row["law"].partition("-")[2]: 100 * share}


def _delays(row: Mapping[str, Any]) -> Iterator[dict[str, float]]:
    if row["o_simulate"] == "system":
        delays = json.loads(row["c_system_pair_delays"])
    else:
        delays = np.quantile(pair_delays(row), np.linspace(0, 1, 11)).tolist()
    yield from ({"percent": 10 * rank, "delay": each} for rank, each in enumerate(delays))


def _traffic(row: Mapping[str, Any]) -> Iterator[dict[str, float]]:
    if row["o_simulate"] == "system":
        series = json.loads(row["c_system_series"])
        yield from ({"second": s, "messages": m} for s, m in zip(series["seconds"], series["messages"], strict=True))
        return
    network, answer = _answered(row)
    timing = Timing(int(row["o_service"]), horizon=int(network.publications.times.max()))
    traffic = simulate(network, NUMBERED.index(row["method"]), answer.soft_links, timing).traffic
    rates = traffic[: len(traffic) // _BIN * _BIN].reshape(-1, _BIN).mean(axis=1)
    yield from ({"second": _BIN * number, "messages": rate} for number, rate in enumerate(rates.tolist()))


# Figures 8 to 11
matched = partial(_expanded, points=_matching, where=f"method == 's0' and {_STATIC}")
path_lengths = partial(_expanded, points=_path_lengths)
delays_of_pairs = partial(_expanded, points=_delays, where=f"law == '{DENSE}'")
traffic = partial(_expanded, points=_traffic, where=f"law == '{DENSE}'")
