"""The two phases of divide and conquer, for any division and any greedy algorithm (P3 §IV)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np

from ....instances.contract.arrays import Ids
from ....instances.contract.overlay import Overlay
from ....instances.topics.instance import TopicInstance
from ..kernels.contributions import Degrees
from ..kernels.partial_overlay import OverlayBuild, PartialOverlay
from ..kernels.ties import TieOrder
from .division import Division
from .partition import Partition, restricted
from .representatives import groups_of

Extend = Callable[[PartialOverlay], None]
PartEdges = tuple[Ids, Mapping[str, int]]
_WORK = ("counted", "table_work")


class Mapper(Protocol):
    """Applies a function to every part and returns the results in the order of the parts, like the built-in map.

    Function and parts can be pickled, so the calls may run in other processes.
    """

    def __call__(
        self, function: Callable[[TopicInstance], PartEdges], parts: Iterable[TopicInstance], /
    ) -> Iterable[PartEdges]: ...


def conquer_and_combine(
    instance: TopicInstance, division: Division, extend: Extend, order: TieOrder, mapper: Mapper = map
) -> OverlayBuild:
    """Build the overlay of each part, then add edges between bulk nodes and representatives (P3, Algorithms 8, 10, 12).

    `extend` adds edges to a partial overlay until it is topic-connected, first within parts, then between them. Cost:
    that of `extend` on each part and on B ∪ R, and O(Σ|T_v|).
    """
    inner, conquering = _conquer(instance, division, extend, order, mapper)
    outer, combining = _combine(instance, division, extend, order, inner)
    counters = {
        "partitions": division.partition.num_parts,
        "bulk": len(division.partition.bulk),
        "lightweight": len(division.partition.lightweight),
        "representatives": len(division.representatives),
        "pn_ratio": division.pn_ratio,
        "pn_ratio_formula": division.pn_ratio_formula,
        "inner_edges": len(inner),
        "inner_max_degree": int(np.bincount(inner.ravel(), minlength=1).max()),
        "outer_edges": len(outer),
        **{f"inner_{name}": count for name, count in conquering.items() if name in _WORK},
        **{name: conquering.get(name, 0) + combining.get(name, 0) for name in {**conquering, **combining}},
    }
    return OverlayBuild(Overlay.from_edges(instance.num_nodes, np.concatenate([inner, outer])), counters)


def _conquer(
    instance: TopicInstance, division: Division, extend: Extend, order: TieOrder, mapper: Mapper
) -> tuple[Ids, Counter[str]]:
    """The edges within parts, shape (m, 2), and the counters of all parts together."""
    parts = list(division.partition.parts())
    results = mapper(partial(build_part, extend=extend, order=order), (restricted(instance, nodes) for nodes in parts))
    edges, counters = [np.empty((0, 2), np.int32)], Counter[str]()
    for nodes, (ends, counted) in zip(parts, results, strict=True):
        edges.append(nodes[ends])
        counters.update(counted)
    return np.concatenate(edges), counters


def build_part(part: TopicInstance, *, extend: Extend, order: TieOrder) -> PartEdges:
    """The edges of a part by its own numbering, shape (m, 2), and the counters. Cost that of `extend`."""
    overlay = PartialOverlay(part, order)
    extend(overlay)
    return _ends(overlay), overlay.counters()


def combine_core(
    core: TopicInstance, partition: Partition, degrees: Degrees, max_degree: int, extend: Extend, order: TieOrder
) -> PartEdges:
    """The edges among bulk nodes and representatives by their own numbering, shape (m, 2), and the counters.

    `degrees` are theirs after the conquer phase, `max_degree` that of all nodes. Cost that of `extend`.
    """
    overlay = PartialOverlay(core, order)
    # Every part is topic-connected, so the representatives of a part that share a topic are connected in it.
    overlay.start_from(groups_of(core, partition), degrees, max_degree)
    extend(overlay)
    return _ends(overlay), overlay.counters()


def _combine(instance: TopicInstance, division: Division, extend: Extend, order: TieOrder, inner: Ids) -> PartEdges:
    """The edges among bulk nodes and representatives, shape (m, 2), and the counters of this phase."""
    nodes, partition = division.combined, division.partition
    if not len(nodes):
        return np.empty((0, 2), np.int32), dict.fromkeys(("steps", "merges", "evaluations", "counted"), 0)
    degrees = np.bincount(inner.ravel(), minlength=instance.num_nodes).astype(np.int32)
    core, parts = restricted(instance, nodes), replace(partition, part_of=partition.part_of[nodes])
    ends, counters = combine_core(core, parts, degrees[nodes], int(degrees.max()), extend, order)
    return nodes[ends], counters


def _ends(overlay: PartialOverlay) -> Ids:
    return np.stack(np.divmod(overlay.edges, overlay.instance.num_nodes), axis=1).astype(np.int32)
