"""The figures and tables of P5: the measures of our runs, and the published numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...heuristics.brokers.kernels.covering import matching_effort
from ...heuristics.brokers.kernels.forwarding import STRATEGIES as NUMBERED
from ...heuristics.brokers.kernels.link_management import Management
from ...heuristics.brokers.kernels.queueing import Timing, simulate
from ...instances.brokers.files import BROKERS
from ...instances.brokers.network import BrokerNetwork
from ...instances.brokers.predicates import matching_shares
from ...instances.brokers.problems import Arrivals, Dissemination
from ..studies.recipe import Recipe
from .figure import PaperFigure, PaperTable
from .grids_p5 import DENSE, SPARSE, STRATEGIES

NAMES = {SPARSE: "sparse", DENSE: "dense"}
_BIN = 10
_TABLES_SAMPLED, _PUBLICATIONS_MATCHED = 60, 200
PUBLISHED = {
    "sparse": ((559, 348, 216, 195), (38, 50, 61, 64)),
    "dense": ((1010, 687, 325, 300), (50, 60, 76, 77)),
}
_PUBLICATIONS = 36
PUBLISHED_DELAYS = dict(zip(STRATEGIES, (14.0, 12.5, 9.3, 9.3), strict=True))
PUBLISHED_TRAFFIC = dict(zip(STRATEGIES, (3400, 2850, 2200, 2200), strict=True))


def with_queues(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the results of the queueing simulation: messages, thousand deliveries, their hops and delay.

    Further columns are its matching time (service) and the seconds that the publications take (duration).
    """
    counters = [json.loads(text) for text in rows["counters"]]
    return by_data(
        rows.assign(
            messages=[one["queued_messages"] for one in counters],
            queued=[one["queued_deliveries"] / 1000 for one in counters],
            queued_hops=[one["queued_hops"] for one in counters],
            delay=[one["queued_delay_ms"] for one in counters],
            service=[json.loads(text).get("service") for text in rows["options"]],
            duration=60 * minutes(rows),
        ),
        "queued",
    )


def minutes(rows: pd.DataFrame) -> pd.Series:
    """The minutes that a run's publications take, all periods together."""
    periods = pd.Series([json.loads(text).get("periods", 1) for text in rows["options"]], rows.index)
    return rows["p_publications"] / rows["p_rate"] * periods


def with_thresholds(rows: pd.DataFrame) -> pd.DataFrame:
    """`with_queues`, and the threshold of SH; S1 and S2, which have none, at SH's default."""
    default = Management().output_threshold
    thresholds = [json.loads(text).get("output_threshold", default) for text in rows["options"]]
    return with_queues(rows).assign(threshold=thresholds)


def by_data(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The rows with a measure as two columns, ``sparse`` and ``dense``, one for each panel."""
    return rows.assign(**{name: rows[column].where(rows["workload"] == data) for data, name in NAMES.items()})


def with_matching(rows: pd.DataFrame) -> pd.DataFrame:
    """The cumulative distribution of the share of subscriptions, and of brokers, that a publication matches."""
    found = []
    for own in rows[rows["method"] == "s0"].to_dict("records"):
        network = _network(own["recipe"])
        subscriptions = matching_shares(network.subscriptions, network.publications)
        brokers = np.diff(network.destinations[0]) / network.num_brokers
        for percent in range(0, 101, 2):
            at_most = {
                name: 100 * float((shares <= percent / 100).mean())
                for name, shares in (("of_subscriptions", subscriptions), ("of_brokers", brokers))
            }
            found.append({**_plain(own), "percent": percent, **at_most})
    return pd.DataFrame(found)


def with_path_lengths(rows: pd.DataFrame) -> pd.DataFrame:
    """The percentage of a run's deliveries within a number of hops: a row for each number."""
    found = []
    for own, network, answer in _answered(rows):
        arrivals = Arrivals(network, answer)
        counts = np.bincount(arrivals.hops[arrivals.wanted])
        for hops, share in enumerate(np.cumsum(counts) / counts.sum()):
            found.append({**own, "hops": hops, "share": 100 * share})
    return by_data(_extended(pd.DataFrame(found)), "share")


def _extended(rows: pd.DataFrame) -> pd.DataFrame:
    """Extend all curves to the longest one: beyond its longest path a run is at 100%."""
    curves = rows.set_index(["workload", "recipe", "method", "hops"])["share"].unstack("hops").fillna(100.0)
    return curves.stack().rename("share").reset_index()


def with_traffic(rows: pd.DataFrame) -> pd.DataFrame:
    """Messages that arrive per second, a row for each ten seconds; the simulation of the run is repeated."""
    found = []
    for own, network, answer in _answered(rows):
        timing = Timing(own["service"], horizon=int(network.publications.times.max()))
        traffic = simulate(network, NUMBERED.index(own["method"]), answer.soft_links, timing).traffic
        rates = traffic[: len(traffic) // _BIN * _BIN].reshape(-1, _BIN).mean(axis=1)
        found += [{**own, "second": _BIN * number, "messages": rate} for number, rate in enumerate(rates.tolist())]
    return pd.DataFrame(found)


def with_effort(rows: pd.DataFrame) -> pd.DataFrame:
    """Covering sets of some brokers and predicates evaluated per publication, also relative to the smallest fanout."""
    found = []
    for own, network, answer in _answered(rows):
        step = max(1, network.num_brokers // _TABLES_SAMPLED)
        brokers = np.arange(0, network.num_brokers, step, dtype=np.int32)
        effort = matching_effort(network, answer.soft_links, brokers, _PUBLICATIONS_MATCHED)
        found.append({**own, "covering": effort.covering, "evaluations": effort.evaluations})
    table = pd.DataFrame(found)
    least = table[table["p_fanout"] == table["p_fanout"].min()][["covering", "evaluations"]].mean()
    return table.assign(**{f"{name}_percent": 100 * table[name] / least[name] for name in ("covering", "evaluations")})


def table_two(rows: pd.DataFrame) -> dict[str, float]:
    """Pure forwarders per publication, their reduction against S0 (%) and yields (%), by data and strategy."""
    means = rows.assign(each=rows["pure_forwarders"] / rows["publications"]).groupby(["workload", "method"])
    each, yields = means["each"].mean(), means["yield"].mean()
    table = {}
    for data, name in NAMES.items():
        for s in STRATEGIES:
            table[f"{name} {s.upper()} pure forwarders a publication"] = float(each[data, s])
            table[f"{name} {s.upper()} fewer than S0, %"] = 100 * (1 - float(each[data, s] / each[data, "s0"]))
            table[f"{name} {s.upper()} yield, %"] = 100 * float(yields[data, s])
    return table


def average_delays(rows: pd.DataFrame) -> dict[str, float]:
    """Mean milliseconds from publication to delivery, by strategy."""
    delays = with_queues(rows).groupby("method")["delay"].mean()
    return {f"{s.upper()} average delay, ms": float(delays[s]) for s in STRATEGIES}


def _answered(rows: pd.DataFrame) -> Iterator[tuple[dict[str, Any], BrokerNetwork, Dissemination]]:
    """Each run with its network, generated again, and its answer."""
    for own in rows.sort_values("recipe").to_dict("records"):
        network = _network(own["recipe"])
        packed: npt.NDArray[np.int32] = np.asarray(own["answer"], dtype=np.int32)
        service = json.loads(own["options"]).get("service")
        yield {**_plain(own), "service": service}, network, BROKERS.unpack(packed, network)


def _plain(own: dict[str, Any]) -> dict[str, Any]:
    return {name: own[name] for name in ("workload", "method", "recipe", "p_fanout")}


@lru_cache(maxsize=2)
def _network(recipe: str) -> BrokerNetwork:
    network: BrokerNetwork = Recipe.from_json(recipe).make()
    return network


def _published_table() -> dict[str, float]:
    table = {}
    for name, (forwarders, yields) in PUBLISHED.items():
        for s, count, share in zip(STRATEGIES, forwarders, yields, strict=True):
            table[f"{name} {s.upper()} pure forwarders a publication"] = count / _PUBLICATIONS
            table[f"{name} {s.upper()} fewer than S0, %"] = 100 * (1 - count / forwarders[0])
            table[f"{name} {s.upper()} yield, %"] = float(share)
    return table


FIGURES_P5: Mapping[str, PaperFigure] = {
    "P5.F8": PaperFigure(
        ("percent", "% matched"),
        (("of_subscriptions", "% of publications, by subscriptions"), ("of_brokers", "% of publications, by brokers")),
        ("workload",),
        published="8% of the subscriptions matched sparse, 53% dense; 8.1% and 23.9% of the brokers, by Table 2",
        measured=with_matching,
    ),
    "P5.F9": PaperFigure(
        ("hops", "hops"),
        tuple((name, f"% of deliveries, {name}") for name in NAMES.values()),
        ("method",),
        published="shorter under S1, shorter still under S2 and SH",
        measured=with_path_lengths,
    ),
    "P5.F11": PaperFigure(
        ("second", "seconds"),
        (("messages", "messages a second"),),
        ("method",),
        published="S0 3400, S1 2850, S2 2200, SH 2200 messages a second",
        measured=with_traffic,
    ),
    "P5.F12": PaperFigure(
        ("p_fanout", "fanout"),
        (("covering_percent", "covering sets, %"), ("evaluations_percent", "predicate evaluations, %")),
        ("method",),
        published="fanout 5 to 10: covering sets +12%, evaluations +34%",
        measured=with_effort,
    ),
    "P5.F13": PaperFigure(
        ("p_fanout", "fanout"),
        tuple((name, f"thousand deliveries, {name}") for name in NAMES.values()),
        ("method", "service"),
        published="up to 115% more than S0; more with fanout",
        measured=with_queues,
    ),
    "P5.F14": PaperFigure(
        ("threshold", "% of its uplink above which SH saves it"),
        (("queued", "thousand deliveries, sparse"), ("queued_hops", "hops")),
        ("method",),
        published="S2 209 thousand in ten minutes, S1 and SH 234 and 238 in an order that the text does not give; "
        "3.38, 5.80 and 5.93 hops",
        measured=with_thresholds,
    ),
}
TABLES_P5: Mapping[str, PaperTable] = {
    "P5.T2": PaperTable(table_two, _published_table()),
    "P5.F10": PaperTable(
        average_delays,
        {f"{s.upper()} average delay, ms": ms for s, ms in PUBLISHED_DELAYS.items()},
    ),
}
