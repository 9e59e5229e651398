"""P3 §V: what the threshold η of bulk nodes costs and gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...heuristics.topics.division import best_division, bulk_threshold, random_order
from ...heuristics.topics.kernels.ties import tie_order
from ...instances.topics.instance import TopicInstance
from ..papers.bench import LAWS, Bench
from ..papers.grids_p3 import p3_default
from ..papers.rows_p3 import OWN
from .claim import Claim, Finding, Interval, Verdict
from .evidence import mean_of, over_ties
from .on_p3_grids import falls, in_fitted_laws, rises
from .properties import TIES, scope_over

_QUANTILES = (0.5, 0.65, 0.8, 0.9, 1.0)
_MEASURES: tuple[tuple[str, str, Callable[[Interval], Verdict]], ...] = (
    ("D rises with η", "slope of D", rises),
    ("D without bulk nodes is above D with bulk nodes alone", "D at the largest η less D of GM-M", rises),
    ("the work falls with η", "slope of log2(counted work)", falls),
    ("the pn-ratio falls with η", "slope of the pn-ratio", falls),
)


def _instances(quick: bool, law: str) -> list[TopicInstance]:
    shape = {"nodes": 300, "topics": 100} if quick else {"nodes": 1000, "topics": 200}
    return [recipe.make() for recipe in p3_default("P3.S5.4", law, 3 if quick else 4, **shape)]


def _trade_off(bench: Bench) -> Iterable[Finding]:
    for law in LAWS:
        yield from _under(bench, law)


def _under(bench: Bench, law: str) -> Iterator[Finding]:
    """Slopes over the share of nodes that are lightweight, one an instance, with the p of the default η."""
    instances = _instances(bench.quick, law)
    slopes = {(name, ties): list[float]() for name, _, _ in _MEASURES for ties in TIES}
    for seed, instance in enumerate(instances):
        of_nodes = np.diff(instance.node_offsets)
        thresholds = [int(np.quantile(of_nodes, share, method="higher")) for share in _QUANTILES]
        light = np.flatnonzero(of_nodes <= bulk_threshold(instance)).astype(np.int32)
        shares = [float((of_nodes <= eta).mean()) for eta in thresholds]
        for ties in TIES:
            parts = best_division(instance, random_order(light, seed), 3, tie_order(ties, seed), OWN)
            options: dict[str, Any] = {"partitions": parts.partition.num_parts, "ties": ties, "seed": seed}
            options["data"] = "table" if ties == TIES[0] else "rows"
            runs = [bench.run("dcbr-m", instance, "minmax-tco", eta=eta, **options) for eta in thresholds]
            degrees = np.array([run.value for run in runs], float)
            whole = bench.value("gm-m", instance, "minmax-tco", seed=seed, ties=ties)
            found = {"slope of D": _slope(shares, degrees), _MEASURES[1][1]: float(degrees[-1]) - whole}
            found["slope of the pn-ratio"] = _slope(shares, [run.counters["pn_ratio"] for run in runs])
            if ties == TIES[0]:
                work, listed = (
                    np.array([run.counters[name] for run in runs], float) for name in ("table_work", "table_listed")
                )
                found["slope of log2(counted work)"] = _slope(shares, np.log2(work - listed))
            for name, of, _ in _MEASURES:
                slopes[name, ties] += [found[of]] if of in found else []
    reading = "η at five quantiles of |T_v| from 0.5 to 1, with the p of the default η; slopes over the share |L| ÷ |V|"
    sizes: dict[str, tuple[float | str, ...]] = {"law": (law,), "share |L| ÷ |V|": _QUANTILES}
    for name, of, judge in _MEASURES:
        measured = [ties for ties in TIES if slopes[name, ties]]
        intervals = {ties: mean_of(f"{of}, ties {ties}", slopes[name, ties]) for ties in measured}
        verdict, differ = over_ties({ties: judge(one) for ties, one in intervals.items()})
        shown = ", ".join(f"{one.mean:+.2f}" for one in intervals.values())
        text = f"{of}: {shown} under the rules for ties.{differ}"
        scope = scope_over(instances, measured, reading=reading, sizes=sizes)
        finding = Finding(
            f"{law}: {name}",
            verdict,
            text,
            len(instances) * len(_QUANTILES) * len(measured),
            (),
            scope,
            tuple(intervals.values()),
        )
        yield in_fitted_laws(finding)


def _slope(shares: list[float], values: Any) -> float:
    return float(np.polyfit(shares, np.asarray(values, float), 1)[0])


TRADE_OFF = Claim("P3.S5.4", "a larger η gives a higher degree, less time and a lower pn-ratio", "P3 §V", _trade_off)
