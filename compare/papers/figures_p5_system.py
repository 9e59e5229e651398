"""P5's figures and tables from runs of the system: the measures in its counters, and the published numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...heuristics.brokers.kernels.link_management import Management
from .figure import PaperFigure, PaperTable
from .figures_p5 import NAMES, PUBLISHED, PUBLISHED_DELAYS, by_data, minutes
from .grids_p5 import STRATEGIES, UNCAPPED

PUBLISHED_YIELDS = {
    name: dict(zip(STRATEGIES, (each / 100 for each in yields), strict=True)) for name, (_, yields) in PUBLISHED.items()
}
_MEASURES = (
    "yield",
    "yield_late",
    "hops",
    "delay_ms",
    "deliveries",
    "messages",
    "messages_all",
    "published",
    "load_share",
    "control_share",
    "bypassed",
    "evaluations",
    "covering",
)
_DEFAULT_INTERVAL = 20.0


def with_system(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the system's counters as columns ``system_…``, and further ones.

    These are the share of all deliveries that were made in time (share), minutes, messages a second (traffic),
    deliveries a second in the last quarter of the interval, the seconds between reviews, and the threshold of SH.
    """
    counters = [json.loads(text) for text in rows["counters"]]
    options = [json.loads(text) for text in rows["options"]]
    measured = {f"system_{name}": [one.get(f"system_{name}") for one in counters] for name in _MEASURES}
    return rows.assign(
        **measured,
        share=[one.get("system_deliveries", np.nan) for one in counters] / rows["deliveries"],
        minutes=minutes(rows),
        last_quarter=[_last_quarter(one["system_series"]) for one in counters],
        traffic=[one.get("system_messages", np.nan) for one in counters] / (60 * minutes(rows)),
        # Defaults are no part of the stored options.
        interval=[one.get("interval", _DEFAULT_INTERVAL) for one in options],
        threshold=[one.get("output_threshold", Management().output_threshold) for one in options],
    )


def _last_quarter(series: str) -> float:
    deliveries = json.loads(series)["deliveries"]
    return float(np.mean(deliveries[-max(1, len(deliveries) // 4) :]))


def with_shares(rows: pd.DataFrame) -> pd.DataFrame:
    """`with_system`, and the share of the deliveries made, in percent, as a column for each data set."""
    measured = with_system(rows)
    return by_data(measured.assign(percent=100 * measured["share"]), "percent")


def with_system_paths(rows: pd.DataFrame) -> pd.DataFrame:
    """The percentage of a run's deliveries within a number of hops: a row for each number."""
    found = list(_counted(rows, "system_hop_counts"))
    most = max(len(counts) for _, counts in found)
    paths = [
        {**own, "hops": hops, "share": 100 * share}
        for own, counts in found
        for hops, share in enumerate(np.cumsum(np.pad(counts, (0, most - len(counts)))) / max(1, sum(counts)))
    ]
    return by_data(pd.DataFrame(paths), "share")


def with_pair_delays(rows: pd.DataFrame) -> pd.DataFrame:
    """The mean delays from sources to receivers in ascending order: a row for each tenth of the pairs."""
    pairs = [
        {**own, "percent": 100 * number / (len(delays) - 1), "delay": delay}
        for own, delays in _counted(rows, "system_pair_delays")
        for number, delay in enumerate(delays)
    ]
    return pd.DataFrame(pairs)


def with_series(rows: pd.DataFrame) -> pd.DataFrame:
    """Measures over time: a row for each run and bin."""
    return pd.concat([pd.DataFrame(series).assign(**own) for own, series in _counted(rows, "system_series")])


def with_system_effort(rows: pd.DataFrame) -> pd.DataFrame:
    """Covering sets of a broker and predicates evaluated per match, relative to the smallest fanout, in percent."""
    measured = with_system(rows)
    matches = measured["system_messages_all"] + measured["system_published"]
    measured = measured.assign(
        covering=measured["system_covering"], evaluations=measured["system_evaluations"] / matches
    )
    least = measured[measured["p_fanout"] == measured["p_fanout"].min()][["covering", "evaluations"]].mean()
    return measured.assign(**{f"{name}_percent": 100 * measured[name] / least[name] for name in least.index})


def _counted(rows: pd.DataFrame, name: str) -> Iterator[tuple[dict[str, Any], Any]]:
    for own in rows.sort_values("recipe").to_dict("records"):
        yield {key: own[key] for key in ("workload", "method", "recipe")}, json.loads(json.loads(own["counters"])[name])


def table_two_of_system(rows: pd.DataFrame) -> dict[str, float]:
    """Yields, also in the second half of the interval, and mean delays, by data and strategy."""
    means = with_system(rows).groupby(["workload", "method"])[["system_yield", "system_yield_late", "system_delay_ms"]]
    table = {}
    for (data, s), own in means.mean().iterrows():
        table[f"{NAMES[data]} {s.upper()} yield, %"] = 100 * float(own["system_yield"])
        table[f"{NAMES[data]} {s.upper()} yield in the second half, %"] = 100 * float(own["system_yield_late"])
        table[f"{NAMES[data]} {s.upper()} average delay, ms"] = float(own["system_delay_ms"])
    return table


FIGURES_P5_SYSTEM: Mapping[str, PaperFigure] = {
    "P5.F9.system": PaperFigure(
        ("hops", "hops"),
        tuple((name, f"% of deliveries, {name}") for name in NAMES.values()),
        ("method",),
        published="shorter under S1, shorter still under S2 and SH",
        measured=with_system_paths,
    ),
    "P5.F10.system": PaperFigure(
        ("percent", "% of the pairs of a source and a receiver"),
        (("delay", "mean ms to a delivery"),),
        ("method",),
        published="means over all deliveries: S0 14.0, S1 12.5, S2 9.3 ms",
        measured=with_pair_delays,
    ),
    "P5.F11.system": PaperFigure(
        ("seconds", "seconds"),
        (("messages", "messages a second"), ("delay_ms", "ms to a delivery"), ("yield", "yield")),
        ("method",),
        published="S0 3400, S1 2850, S2 2200, SH 2200 messages a second",
        measured=with_series,
    ),
    "P5.F12.system": PaperFigure(
        ("p_fanout", "fanout"),
        (("covering_percent", "covering sets, %"), ("evaluations_percent", "predicate evaluations, %")),
        ("method",),
        published="fanout 5 to 10: covering sets +12%, evaluations +34%",
        measured=with_system_effort,
    ),
    "P5.F13.system": PaperFigure(
        ("p_fanout", "fanout"),
        (("sparse", "% of the deliveries, sparse"),),
        ("method",),
        published="up to 115% more than S0; more with fanout",
        measured=with_shares,
    ),
    "P5.F13b.system": PaperFigure(
        ("p_fanout", "fanout"),
        (("sparse", "% of the deliveries, sparse"),),
        ("method",),
        published="more than S0; more with fanout",
        measured=with_shares,
    ),
    "P5.F13c.system": PaperFigure(
        ("p_uplink", "copies a second on an uplink"),
        tuple((name, f"% of the deliveries, {name}") for name in NAMES.values()),
        ("method",),
        published="sparse: S1 and S2 in full, S0 not; dense: S0 least, none in full",
        measured=with_shares,
    ),
    "P5.F14.system": PaperFigure(
        ("minutes", "minutes"),
        (("sparse", "% of the deliveries, sparse"), ("system_hops", "hops")),
        ("method", "threshold"),
        published="S2 209 thousand, S1 and SH 234 and 238 in an order that the text does not give; 3.38, 5.80 and 5.93 "
        "hops",
        measured=with_shares,
    ),
}
TABLES_P5_SYSTEM: Mapping[str, PaperTable] = {
    "P5.T2.system": PaperTable(
        table_two_of_system,
        {
            **{
                f"{name} {s.upper()} yield, %": 100 * yields[s]
                for name, yields in PUBLISHED_YIELDS.items()
                for s in UNCAPPED
            },
            **{f"dense {s.upper()} average delay, ms": PUBLISHED_DELAYS[s] for s in UNCAPPED},
        },
    )
}
