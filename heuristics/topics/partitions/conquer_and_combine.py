"""The two phases of divide and conquer, whatever is divided and by whichever rule edges are added (P3 §IV)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np

from ....instances.arrays import Ids
from ....instances.overlay import Overlay
from ....instances.topics.instance import TopicInstance
from ..kernels.growth import Growth, OverlayBuild
from ..kernels.ties import TieOrder
from .division import Division
from .partition import restricted
from .representatives import groups_of

Rule = Callable[[Growth], None]
Conquered = tuple[Ids, Mapping[str, int]]


class Mapper(Protocol):
    """Applies a function to every part and returns what it gives in the order of the parts, like the built-in map.

    Function and parts can be pickled, so the calls may happen elsewhere. The functions of
    :mod:`.divide_and_conquer` take it as ``mapper``, and so does ``solve`` of their methods.
    """

    def __call__(
        self, function: Callable[[TopicInstance], Conquered], parts: Iterable[TopicInstance], /
    ) -> Iterable[Conquered]: ...


def conquer_and_combine(
    instance: TopicInstance,
    division: Division,
    rule: Rule,
    order: TieOrder,
    mapper: Mapper,
    parameters: Mapping[str, float],
) -> OverlayBuild:
    """Build the overlay of each part, then add edges between bulk nodes and representatives (P3, Algorithms 8, 10, 12).

    The rule adds edges until an overlay is topic-connected: all of them within parts, or between them. Cost: that of
    the rule on each part and on B ∪ R, and O(Σ|T_v|). Beside what the run came to, the counters hold `parameters`.
    """
    inner, conquering = _conquered(instance, division, rule, order, mapper)
    outer, combining = _combined(instance, division, rule, order, inner)
    counters = {
        **parameters,
        "partitions": division.partition.num_parts,
        "bulk": len(division.partition.bulk),
        "lightweight": len(division.partition.lightweight),
        "representatives": len(division.representatives),
        "pn_ratio": division.pn_ratio,
        "pn_ratio_formula": division.pn_ratio_formula,
        "inner_edges": len(inner),
        "inner_max_degree": int(np.bincount(inner.ravel(), minlength=1).max()),
        "outer_edges": len(outer),
        **{name: conquering[name] + combining[name] for name in combining},
    }
    return OverlayBuild(Overlay.from_edges(instance.num_nodes, np.concatenate([inner, outer])), counters)


def _conquered(
    instance: TopicInstance, division: Division, rule: Rule, order: TieOrder, mapper: Mapper
) -> tuple[Ids, Counter[str]]:
    """The edges within parts, shape (m, 2), and the counters of all parts together."""
    parts = list(division.partition.parts())
    found = mapper(partial(_conquer, rule=rule, order=order), (restricted(instance, nodes) for nodes in parts))
    edges, counters = [np.empty((0, 2), np.int32)], Counter[str]()
    for nodes, (ends, counted) in zip(parts, found, strict=True):
        edges.append(nodes[ends])
        counters.update(counted)
    return np.concatenate(edges), counters


def _conquer(part: TopicInstance, *, rule: Rule, order: TieOrder) -> Conquered:
    growth = Growth(part, order)
    rule(growth)
    return _ends(growth), growth.counters()


def _combined(instance: TopicInstance, division: Division, rule: Rule, order: TieOrder, inner: Ids) -> Conquered:
    """The edges among bulk nodes and representatives, shape (m, 2), and what adding them took."""
    nodes, partition = division.combined, division.partition
    if not len(nodes):
        return np.empty((0, 2), np.int32), dict.fromkeys(("steps", "merges", "evaluations"), 0)
    core = restricted(instance, nodes)
    degrees = np.bincount(inner.ravel(), minlength=instance.num_nodes).astype(np.int32)
    growth = Growth(core, order)
    # Every part is topic-connected, so the representatives of a part that share a topic are connected in it.
    groups = groups_of(core, replace(partition, part_of=partition.part_of[nodes]))
    growth.assume(groups, degrees[nodes], int(degrees.max()))
    rule(growth)
    return nodes[_ends(growth)], growth.counters()


def _ends(growth: Growth) -> Ids:
    return np.stack(np.divmod(growth.edges, growth.instance.num_nodes), axis=1).astype(np.int32)
