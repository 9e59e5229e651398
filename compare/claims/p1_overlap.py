"""P1 §8.1's explanation of its curves: how much the interests of two nodes overlap."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...instances.contract.catalogue import WORKLOADS
from ...instances.topics.instance import TopicInstance
from ..papers.bench import LAWS, Bench
from ..papers.grids_p1 import TOPICS
from .claim import Claim, Finding, Interval, Scope
from .p1_figures import positive
from .p1_points import at_points, in_all, over_rules, range_of

_ROWS = 1000


def overlaps(instance: TopicInstance) -> tuple[float, float]:
    """The mean of |T_v ∩ T_w| over all pairs, and the mean over v of its maximum over w. Cost O(|V|²|T|)."""
    n = instance.num_nodes
    wants = np.zeros((n, instance.num_topics), np.float32)
    wants[np.repeat(np.arange(n), np.diff(instance.node_offsets)), instance.node_topics] = 1
    total, best = 0.0, 0.0
    for first in range(0, n, _ROWS):
        common: npt.NDArray[np.float32] = wants[first : first + _ROWS] @ wants.T
        common[np.arange(len(common)), first + np.arange(len(common))] = 0
        total += float(common.sum())
        best += float(common.max(axis=1).sum())
    return total / (n * (n - 1)), best / n


def _overlap(bench: Bench) -> Iterable[Finding]:
    seeds, nodes = (4, (250, 500, 1000)) if bench.quick else (5, (1000, 2000, 5000, 10_000))
    index = pd.MultiIndex.from_product(
        [LAWS, TOPICS, nodes, range(seeds)], names=["workload", "p_topics", "p_nodes", "number"]
    )
    values = [
        overlaps(WORKLOADS[law].generate(nodes=n, topics=t, subscriptions=10, seed=seed)) for law, t, n, seed in index
    ]
    every, best = (pd.Series([pair[k] for pair in values], index) for k in (0, 1))
    sizes = {"law": LAWS, "|V|": nodes, "|T|": TOPICS, "|T_v|": (10,)}
    claimed = {"law": LAWS, "|V|": (1000, 10_000), "|T|": TOPICS, "|T_v|": (10,)}
    scope = Scope(sizes, claimed, samples=seeds, points=len(index) // seeds)

    wide = best.unstack("p_nodes")
    rise = {"": pd.concat({n: wide[n] - wide[m] for m, n in pairwise(nodes)}, names=["p_nodes"])}
    found = at_points(rise, "rise of a node's largest overlap from the |V| before")
    text = "The largest |T_v ∩ T_w| of a node rises from one |V| to the next by"
    yield _finding("larger with |V|", text, found, scope)

    fall = {"": every.xs(100, level="p_topics") - every.xs(200, level="p_topics")}
    found = at_points(fall, "mean overlap at |T| = 100 less at |T| = 200")
    yield _finding("smaller with |T|", "From |T| = 100 to 200 the mean |T_v ∩ T_w| falls by", found, scope)

    for law in ("uniform", "zipf"):
        more = {"": every.xs("exponential", level="workload") - every.xs(law, level="workload")}
        found = at_points(more, f"mean overlap, exponential less {law}")
        yield _finding(f"larger for exponential than {law}", "The mean |T_v ∩ T_w| is larger by", found, scope)


def _finding(subject: str, text: str, found: dict[str, list[Interval]], scope: Scope) -> Finding:
    verdict, _ = over_rules(found, positive)
    intervals = tuple(in_all(found))
    runs = scope.samples * scope.points
    return Finding(subject, verdict, f"{text} {range_of(found)} topics.", runs, scope=scope, intervals=intervals)


CLAIMS_P1_OVERLAP: tuple[Claim, ...] = (
    Claim(
        "P1.S8.2",
        "interests overlap more in larger |V| (a node with its best partner), less for more |T|, most for exponential",
        "P1 §8.1",
        _overlap,
    ),
)
