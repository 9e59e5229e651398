"""P5's Table 2 and Figures 8 to 14: grids, claims on their rows, and figures as data.

Runs are simulated: links are chosen before, on the same traffic; lines "in the system" have brokers that know only
messages, and links that adapt while the run goes on. Every shape has the same seeds, so that strategies, fanouts and
caps are compared on equal subscriptions (column ``draw``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...heuristics.brokers.kernels.covering import matching_effort
from ...heuristics.brokers.kernels.forwarding import STRATEGIES as NUMBERED
from ...heuristics.brokers.kernels.queueing import Timing, simulate
from ...instances.brokers.files import BROKERS
from ...instances.brokers.network import BrokerNetwork
from ...instances.brokers.predicates import matching_shares
from ...instances.brokers.problems import Arrivals, Dissemination
from ..intervals import mean_interval, share_interval
from ..studies.recipe import Recipe
from .bench import Bench
from .claim import RISES, Claim, Judgement, Limit, Line, Verdict, about, at_least, at_most, claim, exact, judged
from .figures import Curve, Figure, Panel, Table
from .grids import Grid, Sheet
from .rows import Part, judge_parts, on_rows

SPARSE, DENSE, COVERING, SOCIAL = (f"brokers-{name}" for name in ("sparse", "dense", "covering", "social"))
Series = Callable[[pd.DataFrame], pd.Series]
STRATEGIES = ("s0", "s1", "s2", "sh")
UNCAPPED = STRATEGIES[:3]
"""Without caps SH is S2 (P5.T2), so most grids without caps leave it out."""
BOTH, FANOUTS, COVERING_FANOUTS = (SPARSE, DENSE), (5, 35), (5, 10, 15, 20, 25)
CAPS, PLANETLAB_CAPS = (10, 20, 40, 60, 80, 100, 150, 200, 300), (20, 25, 30, 35, 40, 45, 50, 60)
SERVICES, SATURATED = (500, 1000, 2000, 4000, 8000), 72_000
_SAMPLED, _MATCHED, _BIN, _PAIR_LEAST = 60, 200, 10, 3


def _sheet(
    data: str | tuple[str, ...],
    shape: Mapping[str, Any],
    methods: Sequence[str],
    seeds: tuple[int, int],
    **options: Any,
) -> Sheet:
    """Strategies with these options; the quick version has 60 brokers, fewer subscriptions and publications."""
    named = [(method, options) for method in methods]
    quick = {"brokers": 60, "subscriptions": 1200, "publications": min(1200, shape["publications"])}
    return Sheet(data, shape, "soft-links", named, seeds, quick=quick, paired=True)


def _system(
    data: str | tuple[str, ...], shape: Mapping[str, Any], methods: Sequence[str], networks: int, **options: Any
) -> Sheet:
    """The same in the system, in the full version only."""
    return _sheet(data, shape, methods, (0, networks), simulate="system", **options)


GRID_LOW = Grid(
    "p5-low-rate",
    (
        _sheet(BOTH, {"publications": 36_000}, STRATEGIES, (4, 5), service=1000),
        _system(BOTH, {"publications": 6000}, UNCAPPED, 2, service=1000),
    ),
    paper={"p_publications": 36_000},
)
GRID_RATES = Grid(
    "p5-rates",
    (_sheet(DENSE, {"publications": 3600, "rate": (3600, 36_000, SATURATED)}, ("s0", "s2"), (3, 5), service=1000),),
)
GRID_COVERING = Grid(
    "p5-covering",
    (
        _sheet(COVERING, {"publications": 7200, "fanout": COVERING_FANOUTS}, ("s2",), (2, 3)),
        _system(COVERING, {"publications": 1800, "rate": 1800, "fanout": (5, 10)}, ("s2",), 2, predicate=1),
    ),
    paper={"p_brokers": 500},
)
_FAST: dict[str, Any] = {"publications": 6000, "rate": SATURATED}
_WIDE: dict[str, Any] = {**_FAST, "fanout": FANOUTS}
GRID_SATURATED = Grid(
    "p5-saturated",
    (
        _sheet(BOTH, _WIDE, UNCAPPED, (3, 4), service=4000, periods=12),
        _sheet(SPARSE, _FAST, UNCAPPED, (0, 1), service=4000, periods=120),
        _sheet(SPARSE, _FAST, UNCAPPED, (2, 3), service=SERVICES),
        _sheet(SPARSE, {**_WIDE, "brokers": 250, "subscriptions": 28_690}, UNCAPPED, (0, 3), service=4000, periods=12),
        _sheet(BOTH, {**_FAST, "uplink": (150, 600)}, ("s2", "sh"), (3, 5), service=500),
        _system(SPARSE, {**_FAST, "publications": SATURATED}, UNCAPPED, 1, service=4000, drain=False),
    ),
)
GRID_PLANETLAB = Grid(
    "p5-planetlab",
    tuple(
        sheet
        for data, subscriptions in ((SPARSE, 900), (DENSE, 6000))
        for shape in ({"brokers": 21, "subscriptions": subscriptions, "publications": 16_500, "rate": 3300},)
        for sheet in (
            _sheet(data, {**shape, "uplink": PLANETLAB_CAPS}, UNCAPPED, (2, 6), service=500),
            _system(data, {**shape, "uplink": 40}, UNCAPPED, 2, service=500),
        )
    ),
)
_CAPPED: dict[str, Any] = {"publications": 7200, "rate": 7200, "uplink": 150}
GRID_CAPPED = Grid(
    "p5-capped",
    (
        _sheet(SPARSE, _CAPPED, STRATEGIES[1:], (3, 10), service=500, periods=10),
        _sheet(SPARSE, _CAPPED, ("sh",), (3, 6), service=500, periods=10, output_threshold=(40, 10)),
        _sheet(BOTH, {**_CAPPED, "uplink": CAPS}, STRATEGIES[1:], (2, 6), service=500),
        _system(SPARSE, _CAPPED, STRATEGIES[1:], 2, service=500, drain=False),
    ),
)
_CRASHING = {"brokers": 40, "subscriptions": 600, "publications": 9000}
GRID_BYTES = Grid(
    "p5-bytes", (_sheet(DENSE, {"publications": 6000}, ("s2",), (2, 2), simulate="system", service=1000),)
)
GRID_CRASHES = Grid(
    "p5-crashes", (_sheet(SPARSE, _CRASHING, ("s0", "s2"), (3, 6), simulate="system", service=1000, crashes=12),)
)
GRID_SOCIAL = Grid(
    "p5-social",
    (_sheet(SOCIAL, {"publications": 5400}, UNCAPPED, (2, 3), simulate="system", service=40_000, drain=False),),
)


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


def _of(column: Any, factor: float = 1.0) -> Series:
    return lambda d: factor * d[column]


def _minus(one: Any, other: Any) -> Series:
    return lambda d: d[one] - d[other]


def _gain(one: Any, other: Any) -> Series:
    """A number above another, as a share of it."""
    return lambda d: d[one] / d[other] - 1


def _saved_by(one: Any, other: Any) -> Series:
    """What is saved of another number, as a share of it."""
    return lambda d: 1 - d[one] / d[other]


def _apart(high: tuple[Any, Any], low: tuple[Any, Any]) -> Series:
    """The share saved by the first of each pair, under the first pair less under the second."""
    return lambda d: d[low[0]] / d[low[1]] - d[high[0]] / d[high[1]]


def _named(law: str) -> str:
    """Sparse or dense."""
    return law.partition("-")[2]


def _ordered(measure: str, falls: bool, law: str) -> tuple[Part, ...]:
    """S1 beyond S0 and S2 beyond S1 in a measure that falls or rises, on one data set."""
    name = "−" if falls else "to"
    where, data = f"law == '{law}'", _named(law)
    return tuple(
        Part(f"{measure} of {before.upper()} {name} {after.upper()}, {data}",
             _minus(before, after) if falls else _minus(after, before), RISES, measure=measure, each="draw",
             where=where)
        for before, after in (("s0", "s1"), ("s1", "s2"))
    )  # fmt: skip


_STATIC, _IN_SYSTEM = "o_simulate != 'system'", {"in the system": "o_simulate == 'system'"}
_PAIR = partial(Part, each="draw")
_BY_DATA = partial(Part, each="draw", across=["law", "method"])
low_rate = partial(on_rows, where=_STATIC, vary=_IN_SYSTEM, prepare=measured)
YIELDS = {SPARSE: (0.38, 0.50, 0.61, 0.64), DENSE: (0.50, 0.60, 0.76, 0.77)}
FORWARDERS = {SPARSE: (559, 348, 216, 195), DENSE: (1010, 687, 325, 300)}
DELAYS, TRAFFIC = (14.0, 12.5, 9.3, 9.3), (3400, 2850, 2200, 2200)


def _yields() -> Iterator[Part]:
    for law, printed in YIELDS.items():
        yield from _ordered("yields", False, law)
        for strategy, share in zip(UNCAPPED[1:], printed[1:], strict=False):
            yield _PAIR(f"yield of {strategy.upper()}, {_named(law)}", _of(strategy),
                        about(share), at_least(share), measure="yields", where=f"law == '{law}'",
                        published=share)  # fmt: skip


T2 = low_rate(
    "P5.T2",
    "p5-low-rate",
    _PAIR("fall of pure forwarders under S2, dense", _saved_by("s2", "s0"), about(0.70), at_least(0.70),
          measure="pure_forwarders", where=f"law == '{DENSE}'", published=0.70),
    *_yields(),
    _PAIR("fall of pure forwarders under S2, sparse", _saved_by("s2", "s0"), measure="pure_forwarders",
          where=f"law == '{SPARSE}'", published=1 - 216 / 559),
    _PAIR("messages of SH − S2 (the table has other numbers for SH)", _minus("sh", "s2"), Limit(0, 0),
          measure="value"),
)  # fmt: skip
F9 = low_rate(
    "P5.F9",
    "p5-low-rate",
    _BY_DATA("hops saved by S1, sparse − dense",
             _apart(((SPARSE, "s1"), (SPARSE, "s0")), ((DENSE, "s1"), (DENSE, "s0"))), RISES, measure="mean_hops"),
    *_ordered("mean_hops", True, SPARSE),
    *_ordered("mean_hops", True, DENSE),
    _PAIR("least share delivered by the end", lambda d: d.min(axis=1), at_least(0.999), measure="share",
          where=f"law == '{SPARSE}' and {_STATIC}"),
    _PAIR("least share delivered by the end, dense", lambda d: d.min(axis=1), at_least(0.999), measure="share",
          where=f"law == '{DENSE}' and {_STATIC}"),
)  # fmt: skip
_DENSE = f"law == '{DENSE}'"


def _saved(measure: str, printed: tuple[float, ...]) -> tuple[Part, ...]:
    """The shares that S2 and S1 save of a measure of S0, beside the printed ones."""
    return tuple(
        _PAIR(f"share saved by {s.upper()}", _saved_by(s, "s0"), about(share, 1.15), at_least(share),
              measure=measure, where=_DENSE, published=round(share, 3))
        for s, share in (("s2", 1 - printed[2] / printed[0]), ("s1", 1 - printed[1] / printed[0]))
    )  # fmt: skip


F10 = low_rate(
    "P5.F10", "p5-low-rate", *_saved("delay", DELAYS), *_ordered("delay", True, DENSE),
    *(_PAIR(f"ms under {s.upper()}", _of(s), measure="delay", where=_DENSE, published=ms)
      for s, ms in zip(UNCAPPED, DELAYS, strict=False)),
)  # fmt: skip
F11 = low_rate(
    "P5.F11", "p5-low-rate", *_saved("rate", TRAFFIC), *_ordered("rate", True, DENSE),
    *(_PAIR(f"messages a second under {s.upper()}", _of(s), measure="rate", where=_DENSE, published=each)
      for s, each in zip(UNCAPPED, TRAFFIC, strict=False)),
)  # fmt: skip


def with_copies(rows: pd.DataFrame) -> pd.DataFrame:
    """`measured`, and the copies of a publication that a forwarding broker sends."""
    copies = []
    for answer, links in zip(rows["answer"], rows["soft_links"], strict=True):
        publication, sender, _ = np.asarray(answer)[1 + 2 * int(links) :].reshape(-1, 3).astype(np.int64).T
        copies.append(len(sender) / len(np.unique((publication << 20) + sender)))
    return measured(rows).assign(copies=copies)


COPIES = on_rows(
    "P5.S2.3",
    "p5-low-rate",
    *(
        _BY_DATA(f"messages saved by {s.upper()}, sparse − dense",
                 _apart(((SPARSE, s), (SPARSE, "s0")), ((DENSE, s), (DENSE, "s0"))), RISES, measure="value")
        for s in ("s2", "s1")
    ),
    *(
        part
        for law in BOTH
        for part in (
            _PAIR(f"messages, S1 − S2, {law}", _minus("s1", "s2"), RISES, measure="value",
                  where=f"law == '{law}'"),
            _PAIR(f"copies of a forwarding broker, S2 − S1, {law}", _minus("s2", "s1"), RISES,
                  measure="copies", where=f"law == '{law}'"),
        )
    ),
    where=_STATIC,
    prepare=with_copies,
)  # fmt: skip


@claim("P5.F10.1", "p5-low-rate")
def PAIRS(bench: Bench) -> Judgement:
    """The share of the mean delay of a pair of a source and a receiver that S2 saves: the largest, and all pairs."""
    rows = bench.on("p5-low-rate").query(f"{_STATIC} and {_DENSE} and method in ('s0', 's1', 's2')")
    saved: dict[str, list[npt.NDArray[np.float64]]] = {"s1": [], "s2": []}
    for draw in sorted(set(rows["draw"]))[: 2 if bench.quick else 3]:
        own = {row["method"]: row for row in rows[rows["draw"] == draw].to_dict("records")}
        if len(own) == 3:
            delays = {method: pair_delays(row) for method, row in own.items()}
            for method, each in saved.items():
                each.append(1 - (delays[method] / delays["s0"]).dropna().to_numpy())
    largest = mean_interval([float(each.max()) for each in saved["s2"]])
    every = np.concatenate(saved["s2"])
    lines = [
        Line(
            "largest share saved by S1", mean_interval([float(each.max()) for each in saved["s1"]]), Verdict.CONFIRMED
        ),
        Line("mean over all pairs, S2", mean_interval([float(each.mean()) for each in saved["s2"]]), Verdict.CONFIRMED),
        Line("share of pairs that S2 delays", share_interval(int((every < 0).sum()), len(every)), Verdict.CONFIRMED),
    ]
    return judged(largest, at_least(0.5), RISES, sensitivity=lines)


def pair_delays(row: Mapping[str, Any]) -> pd.Series:
    """The mean milliseconds from source to receiver of each pair with a few deliveries: 1 a hop, and 1 a match."""
    network, answer = _answered(row)
    arrivals = Arrivals(network, answer)
    publication, _, receiver = answer.messages[arrivals.wanted].T
    hops = arrivals.hops[arrivals.wanted]
    pairs = pd.DataFrame(
        {"source": network.publications.sources[publication], "receiver": receiver, "ms": 2 * hops + 1}
    )
    means = pairs.groupby(["source", "receiver"])["ms"].agg(["mean", "size"])
    return means.loc[means["size"] >= _PAIR_LEAST, "mean"]


LOAD_BYTES = on_rows(
    "P5.S7.4", "p5-bytes",
    Part("load exchange in S2's bytes", _of("s2"), at_most(0.02), measure="c_system_load_share"),
    Part("all control messages in S2's bytes", _of("s2"), measure="c_system_control_share"),
)  # fmt: skip
CRASHES = on_rows(
    "P5.S6.4", "p5-crashes",
    Part("delay of S2 ÷ S0", lambda d: d["s2"] / d["s0"], Limit(high=1), measure="c_system_delay_ms"),
    Part("copies that met a crashed neighbour, S2", _of("s2"), measure="c_system_bypassed"),
)  # fmt: skip
SOCIAL_TRACE = on_rows(
    "P5.S7.11", "p5-social",
    *(
        Part(f"{name} of {s.upper()} ÷ S0 − 1", _gain(s, "s0"), about(more) if name == "deliveries" else None, RISES,
             measure=f"c_system_{name}", published=more)
        for name in ("deliveries", "yield") for s, more in (("s2", 1.15), ("s1", 0.37))
    ),
)  # fmt: skip
_SHARE = "share of S0's delay saved"
RATES = on_rows(
    "P5.S7.5", "p5-rates",
    *(
        Part(f"{_SHARE}, {high:g} − {low:g} a minute",
             _apart((("s2", high), ("s0", high)), (("s2", low), ("s0", low))), RISES,
             measure="delay", each="draw", across=["method", "p_rate"])
        for low, high in ((3600, SATURATED), (3600, 36_000))
    ),
    where="", prepare=measured,
)  # fmt: skip


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
        effort = matching_effort(network, answer.soft_links, brokers, _MATCHED)
        covering.append(effort.covering)
        evaluations.append(effort.evaluations)
    found = measured(rows).assign(covering=covering, evaluations=evaluations)
    base = found[found["p_fanout"] == 5].set_index(["draw", "o_simulate"])[["covering", "evaluations"]]
    least = base.reindex(pd.MultiIndex.from_frame(found[["draw", "o_simulate"]])).to_numpy()
    percent = 100 * found[["covering", "evaluations"]].to_numpy() / least
    return found.assign(covering_percent=percent[:, 0], evaluations_percent=percent[:, 1])


def _rise(of: str, low: int, high: int, must: Limit, nearly: Limit | None = None) -> Part:
    name = f"{of}, fanout {high} ÷ {low} − 1"
    return Part(name, _gain(high, low), must, nearly, measure=of, across="p_fanout", each="draw")


F12 = on_rows(
    "P5.F12", "p5-covering",
    _rise("evaluations", 5, 10, about(0.34, 1.2), RISES),
    _rise("covering", 5, 10, about(0.12, 1.2), RISES),
    _rise("evaluations", 10, 25, RISES),
    _rise("covering", 10, 25, RISES),
    where=_STATIC, vary=_IN_SYSTEM, prepare=with_effort,
)  # fmt: skip


def _more(strategy: str, law: str, fanout: int) -> Part:
    name = f"{strategy.upper()} ÷ S0 − 1, {_named(law)}, fanout {fanout}"
    return _PAIR(name, _gain(strategy, "s0"), RISES, measure="done",
                 where=f"law == '{law}' and p_fanout == {fanout}")  # fmt: skip


def _grows(strategy: str, law: str) -> Part:
    return Part(f"{strategy.upper()}, fanout 35 ÷ 5 − 1, {_named(law)}", _gain(35, 5), RISES,
                measure="done", across="p_fanout", each="draw",
                where=f"law == '{law}' and method == '{strategy}'")  # fmt: skip


def _trends(id_: str, brokers: int, laws: tuple[str, ...], **vary: str) -> Claim:
    """Deliveries above S0's, and more with more fanout, at the longest interval that all settings have."""
    principal = f"{_STATIC} and p_brokers == {brokers} and o_service == 4000 and p_uplink == 0 and minutes < 2"
    return on_rows(
        id_, "p5-saturated", _more("s2", SPARSE, 35),
        *(_more(s, law, fanout) for law in laws for s in ("s1", "s2") for fanout in FANOUTS),
        *(_grows(s, law) for law in laws for s in ("s1", "s2")),
        where=f"{principal} and longest",
        vary=vary, prepare=_saturated_rows,
    )  # fmt: skip


def _saturated_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """`measured`, without the five-second runs where there are longer ones of the same setting."""
    rows = measured(rows)
    longest = rows[rows["minutes"] < 2].groupby(["p_brokers", "o_service", "p_fanout", "law"])["minutes"].max()
    keys = pd.MultiIndex.from_frame(rows[["p_brokers", "o_service", "p_fanout", "law"]])
    return rows.assign(longest=rows["minutes"].to_numpy() >= longest.reindex(keys).to_numpy())


F13 = _trends(
    "P5.F13", 120, BOTH,
    **{
        "for ten minutes, one network": f"{_STATIC} and p_brokers == 120 and minutes > 2",
        "in the system, for a minute": "o_simulate == 'system'",
    },
)  # fmt: skip
F13B = _trends("P5.F13b", 250, (SPARSE,))
_MORE = _PAIR("largest rise over S0", lambda d: d[["s1", "s2"]].max(axis=1) / d["s0"] - 1, about(1.15), RISES,
              measure="done", published=1.15)  # fmt: skip


@claim("P5.F13.1", "p5-saturated")
def MATCHING_TIMES(bench: Bench) -> Judgement:
    """The largest rise of deliveries by the matching time, which the paper does not give."""
    rows = _saturated_rows(bench.on("p5-saturated"))
    rows = rows.query(f"{_STATIC} and p_brokers == 120 and p_uplink == 0 and p_fanout == 35 and minutes < 0.1")
    rows = rows[rows["law"] == SPARSE]
    found = {service: judge_parts([_MORE], rows[rows["o_service"] == service]) for service in SERVICES}
    rises = [one.number.mean for one in found.values() if one.number]
    lines = [Line(f"{service / 1000:g} ms a match", one.number, one.verdict) for service, one in found.items()]
    text = f"on the matching time: {min(rises, default=0):+.0%} to {max(rises, default=0):+.0%} at 0.5 to 8 ms a match"
    reached = bool(rises) and min(rises) < 1.15 < max(rises)
    verdict = Verdict.DEPENDS if reached else Verdict.NOT_DECIDED
    return Judgement(verdict, text, found[4000].number, lines)


MARGINAL = on_rows(
    "P5.F13.2", "p5-saturated",
    *(
        _PAIR(f"S2 ÷ SH − 1, {_named(law)}", _gain("s2", "sh"), Limit(1e-12, 0.1), RISES,
              measure="done", where=f"law == '{law}'")
        for law in BOTH
    ),
    where="p_uplink == 150", vary={"uplinks of 600 a second": "p_uplink == 600"}, prepare=measured,
)  # fmt: skip


@claim("P5.F13c", "p5-planetlab")
def PLANETLAB(bench: Bench) -> Judgement:
    """Shares delivered by cap, and the caps under which sparse and dense data are as published."""
    rows = measured(bench.on("p5-planetlab"))
    full, part = at_least(0.99), at_most(0.99)
    of = {s: _PAIR(f"share of {s.upper()}", _of(s), measure="share") for s in UNCAPPED}
    more = [_PAIR(f"{s.upper()} − S0", _minus(s, "s0"), RISES, measure="share") for s in ("s1", "s2")]

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
        details.append(f"{_named(law)}, shares of S0, S1, S2 by cap: {'; '.join(shown)}")
    common = sorted(set(fitting[SPARSE]) & set(fitting[DENSE]))
    each = "; ".join(f"{_named(law)} as published at {_listed(caps)}" for law, caps in fitting.items())
    lines = []
    for law in BOTH:
        own = rows[(rows["law"] == law) & (rows["o_simulate"] == "system")]
        if len(own):
            lines.append(Line(f"in the system, 40 a second, share of S0, {_named(law)}", of["s0"].number(own),
                              Verdict.CONFIRMED if as_published(own, law) else Verdict.NOT_DECIDED))  # fmt: skip
    size = f"; publications of {10_240 // common[-1]} bytes fit both" if common else "; no one size fits both"
    fits_some = all(fitting.values())
    text = f"on the size of a publication: {each}{size}"
    return Judgement(Verdict.DEPENDS if fits_some else Verdict.NOT_DECIDED, text, exact(len(common), len(rows)), lines,
                     details)  # fmt: skip


def _listed(caps: list[int]) -> str:
    return ", ".join(map(str, caps)) or "no cap"


_TEN = "p_uplink == 150 and minutes > 5 and o_output_threshold != 40 and o_output_threshold != 10"
_AT = "p_uplink == {} and minutes == 1 and law == '{}' and o_simulate != 'system'"
F14 = on_rows(
    "P5.F14", "p5-capped",
    _PAIR("SH ÷ S2 − 1", _gain("sh", "s2"), RISES, measure="done"),
    _PAIR("hops of SH − S2", _minus("sh", "s2"), RISES, measure="hops"),
    _PAIR("hops of S2", _of("s2"), measure="hops", published=3.38),
    _PAIR("hops of SH (published 5.80 or 5.93)", _of("sh"), measure="hops"),
    _PAIR("share delivered by S1", _of("s1"), measure="share"),
    _PAIR("share delivered by SH", _of("sh"), measure="share"),
    where=_TEN,
    vary={
        **{f"uplinks of {cap} a second, {_named(law)}": _AT.format(cap, law) for law in BOTH for cap in CAPS},
        **{
            f"SH saves its uplink above {percent}%":
            f"p_uplink == 150 and minutes > 5 and (method != 'sh' or o_output_threshold == {percent})"
            for percent in (40, 10)
        },
        "in the system, for a minute": "o_simulate == 'system'",
    },
    prepare=measured,
)  # fmt: skip


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


def _expanded(rows: pd.DataFrame, points: Any) -> pd.DataFrame:
    """Several rows of each run: what `points` yields for it, with the columns that tell runs apart."""
    every = rows.sort_values("recipe").to_dict("records")
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
        arrivals = Arrivals(*_answered(row))
        counts = np.bincount(arrivals.hops[arrivals.wanted])
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


def _curves(strategies: tuple[str, ...], query: str = _STATIC) -> tuple[Curve, ...]:
    return tuple(Curve(s.upper(), f"method == '{s}' and {query}") for s in strategies)


_MORE_SYSTEM = {"in the system": _curves(UNCAPPED, _IN_SYSTEM["in the system"])}
_DATA = (Panel("sparse", "% of deliveries, sparse"), Panel("dense", "% of deliveries, dense"))
_MEANS = {s.upper(): {300.0: float(each)} for s, each in zip(STRATEGIES, TRAFFIC, strict=True)}
_C1 = "o_simulate != 'system' and p_brokers == 120 and o_service == 4000 and p_uplink == 0 and longest"
FIGURE_8 = Figure(
    "P5.F8", "p5-low-rate", ("percent", "% matched"),
    (Panel("of_subscriptions", "% of publications, by subscriptions"),
     Panel("of_brokers", "% of publications, by brokers")),
    tuple(Curve(_named(law), f"law == '{law}'") for law in BOTH),
    prepare=lambda rows: _expanded(rows[(rows["method"] == "s0") & (rows["o_simulate"] != "system")], _matching),
)  # fmt: skip
FIGURE_9 = Figure("P5.F9", "p5-low-rate", ("hops", "path length in hops"), _DATA, _curves(STRATEGIES),
                  more=_MORE_SYSTEM, prepare=partial(_expanded, points=_path_lengths))  # fmt: skip
FIGURE_10 = Figure(
    "P5.F10", "p5-low-rate", ("percent", "% of the pairs of a source and a receiver"),
    (Panel("delay", "average delay in ms"),), _curves(STRATEGIES), more=_MORE_SYSTEM,
    prepare=lambda rows: _expanded(rows[rows["law"] == DENSE], _delays),
)  # fmt: skip
FIGURE_11 = Figure(
    "P5.F11", "p5-low-rate", ("second", "seconds"), (Panel("messages", "messages a second", _MEANS),),
    _curves(STRATEGIES), more=_MORE_SYSTEM, prepare=lambda rows: _expanded(rows[rows["law"] == DENSE], _traffic),
)  # fmt: skip
FIGURE_12 = Figure(
    "P5.F12", "p5-covering", ("p_fanout", "fanout"),
    (Panel("covering_percent", "covering sets, %", {"S2": {5: 100, 10: 112}}),
     Panel("evaluations_percent", "predicate evaluations per match, %", {"S2": {5: 100, 10: 134}})),
    _curves(("s2",)), more={"in the system": _curves(("s2",), _IN_SYSTEM["in the system"])}, form="bars",
    prepare=with_effort,
)  # fmt: skip
FIGURE_13 = Figure(
    "P5.F13", "p5-saturated", ("p_fanout", "fanout"), (Panel("done", "thousand deliveries"),),
    _curves(UNCAPPED, f"{_C1} and law == '{SPARSE}'"),
    more={"dense": _curves(UNCAPPED, f"{_C1} and law == '{DENSE}'"),
          "250 brokers (b)": _curves(UNCAPPED, _C1.replace("120", "250"))},
    form="bars", prepare=_saturated_rows,
)  # fmt: skip
FIGURE_13C = Figure(
    "P5.F13c", "p5-planetlab", ("p_uplink", "copies a second on an uplink"),
    (Panel("share", "share of the deliveries"),),
    _curves(UNCAPPED, f"{_STATIC} and law == '{SPARSE}'"),
    more={"dense": _curves(UNCAPPED, f"{_STATIC} and law == '{DENSE}'")}, form="bars", prepare=measured,
)  # fmt: skip
FIGURE_14 = Figure(
    "P5.F14", "p5-capped", ("p_uplink", "cap of uplinks a second"),
    (Panel("done", "thousand deliveries in ten minutes", {"S2": {150: 209}}),
     Panel("hops", "hops", {"S2": {150: 3.38}})),
    _curves(STRATEGIES[1:], _TEN),
    more={f"caps, {_named(law)}": _curves(STRATEGIES[1:], f"minutes == 1 and {_STATIC} and law == '{law}'")
          for law in BOTH},
    form="bars", prepare=measured,
)  # fmt: skip


def _table() -> Iterator[Part]:
    for law, name in zip(BOTH, ("sparse", "dense"), strict=True):
        for rank, s in enumerate(STRATEGIES):
            where = f"law == '{law}'"
            yield _PAIR(f"{name} {s.upper()} pure forwarders a publication", _of(s), where=where,
                        measure="forwarders", published=FORWARDERS[law][rank] / 36)  # fmt: skip
            yield _PAIR(f"{name} {s.upper()} yield, %", _of(s, 100), measure="yield", where=where,
                        published=100 * YIELDS[law][rank])  # fmt: skip


TABLE_2 = Table(
    "P5.T2", "p5-low-rate", tuple(_table()), where=_STATIC,
    marked={"S2 yield 77% (text)": "the table has 76%; 77% is SH's"},
    prepare=lambda rows: rows.assign(forwarders=rows["pure_forwarders"] / rows["publications"]),
)  # fmt: skip
