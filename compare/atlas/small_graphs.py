"""All graphs on at most 7 nodes as bit masks, and tables of what a set of nodes sees of each.

Bit i of a graph is the i-th pair of nodes in lexicographic order. A set of nodes sees the pairs within it: the k-th of
:func:`.node_sets` has an entry for each graph on it, at ``start[k]`` and the number that these pairs have as bits.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.contract.arrays import Ids
from ...instances.runtime.compiled import in_place_kernel
from .every_instance import node_sets

_LOW = 11  # pairs whose bits one look-up takes
Bytes = npt.NDArray[np.uint8]


class SmallGraphs(NamedTuple):
    """The graphs on n nodes."""

    nodes: int
    sets: Ids  # the sets of nodes, each as bits
    start: Ids  # of each set its first entry
    low: Ids  # [set, the lowest 11 bits of a graph]: their bits among the pairs of the set
    high: Ids  # [set, the other bits of a graph]
    joining: Ids  # of each entry: the pairs, as a graph, that join two components
    excess: Bytes  # of each entry: the components but one
    edges: Bytes  # of each graph
    max_degree: Bytes  # of each graph
    saturated: Ids  # of each graph: the pairs that touch a node of maximum degree
    stars: Ids  # [node, set of nodes as bits]: the pairs of the node and another node of the set
    rings: Ids  # [order of the nodes, set]: a ring on the set; the order by number is the first


@cache
def small_graphs(nodes: int) -> SmallGraphs:
    """The tables of the graphs on so many nodes: 130 KB on 6 nodes, 22 MB on 7."""
    sets, pairs = node_sets(nodes), list(combinations(range(nodes), 2))
    number = {pair: i for i, pair in enumerate(pairs)}
    within = [[i for i, (u, v) in enumerate(pairs) if s >> u & 1 and s >> v & 1] for s in sets.tolist()]
    start = np.cumsum([0, *(1 << len(inner) for inner in within)], dtype=np.int32)
    masks = np.arange(1 << len(pairs), dtype=np.int32)
    low, high = (
        np.array([_compressed(masks[: 1 << bits], inner, first) for inner in within], np.int32)
        for first, bits in ((0, min(_LOW, len(pairs))), (_LOW, max(0, len(pairs) - _LOW)))
    )
    degrees, touching = np.zeros((nodes, len(masks)), np.uint8), np.zeros(nodes, np.int32)
    for bit, pair in enumerate(pairs):
        for v in pair:
            degrees[v] += (masks >> bit & 1).astype(np.uint8)
            touching[v] |= 1 << bit
    most, saturated = degrees.max(axis=0), np.zeros_like(masks)
    for v in range(nodes):
        saturated |= np.where(degrees[v] == most, touching[v], 0).astype(np.int32)
    stars = [
        [sum(1 << i for i, pair in enumerate(pairs) if u in pair and s >> sum(pair) - u & 1) for s in range(1 << nodes)]
        for u in range(nodes)
    ]
    joining, excess = np.zeros(start[-1], np.int32), np.zeros(start[-1], np.uint8)
    ends = np.array(pairs, np.int32)
    for k, inner in enumerate(within):
        _find_components(int(sets[k]), np.array(inner, np.int32), ends, joining[start[k] :], excess[start[k] :])
    return SmallGraphs(
        nodes, sets, start[:-1].copy(), low, high, joining, excess, degrees.sum(axis=0, dtype=np.uint8) // 2, most,
        saturated, np.array(stars, np.int32), _rings(nodes, sets.tolist(), number),
    )  # fmt: skip


def _compressed(masks: Ids, inner: list[int], first: int) -> Ids:
    """The bits of masks, of which the lowest is the pair `first`, at their positions among the pairs of a set."""
    found = np.zeros_like(masks)
    for position, pair in enumerate(inner):
        if pair >= first:
            found |= (masks >> (pair - first) & 1) << position
    return found


def _rings(nodes: int, sets: list[int], number: dict[tuple[int, int], int]) -> Ids:
    """The rings on each set, in every order of the nodes up to rotation and reversal."""
    rings = []
    for order in permutations(range(1, nodes)):
        if nodes == 2 or order[0] < order[-1]:
            on = [[v for v in (0, *order) if s >> v & 1] for s in sets]
            edges = [{number[min(u, v), max(u, v)] for u, v in zip(x, [*x[1:], x[0]], strict=True)} for x in on]
            rings.append([sum(1 << edge for edge in each) for each in edges])
    return np.array(rings, np.int32)


@in_place_kernel
def _find_components(nodes: int, inner: Ids, ends: Ids, joining: Ids, excess: Bytes) -> None:
    """Fill the entries of one set with the pairs that join components, and the number of these but one."""
    for graph in range(1 << len(inner)):
        left, parts, crossing = nodes, 0, 0
        while left:
            part, grown = 0, left & -left
            while grown != part:
                part = grown
                for i in range(len(inner)):
                    pair = 1 << ends[inner[i], 0] | 1 << ends[inner[i], 1]
                    if graph >> i & 1 and grown & pair:
                        grown |= pair
            left &= ~part
            parts += 1
            for i in range(len(inner)):
                if (part >> ends[inner[i], 0] & 1) != (part >> ends[inner[i], 1] & 1):
                    crossing |= 1 << inner[i]
        joining[graph], excess[graph] = crossing, parts - 1


@in_place_kernel
def entry_of(k: int, graph: int, graphs: SmallGraphs) -> int:
    """The entry of a set for a graph."""
    return int(graphs.start[k] + (graphs.low[k, graph & ((1 << _LOW) - 1)] | graphs.high[k, graph >> _LOW]))
