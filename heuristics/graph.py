"""Graphs and sets as kernels take them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..instances.contract.arrays import Ids, Offsets, offsets_of
from ..instances.runtime.compiled import kernel, wrapping_kernel


class Graph(NamedTuple):
    """An undirected graph of n nodes and m edges as adjacency arrays."""

    offsets: Offsets  # shape (n + 1,): the edges at node v are ``neighbour[offsets[v]:offsets[v + 1]]`` and ``edge[…]``
    neighbour: Ids  # shape (2m,)
    edge: Ids  # shape (2m,)
    u: Ids  # shape (m,): the ends of each edge
    v: Ids


def graph_of(num_nodes: int, edges: npt.NDArray[np.integer]) -> Graph:
    """The graph of edges given as an array of shape (m, 2). Cost O(m log m)."""
    ends = edges.astype(np.int32)
    tail = np.concatenate([ends[:, 0], ends[:, 1]])
    head = np.concatenate([ends[:, 1], ends[:, 0]])
    number = np.tile(np.arange(len(ends), dtype=np.int32), 2)
    order = np.argsort(tail, kind="stable")
    offsets = offsets_of(tail, num_nodes)
    return Graph(offsets, head[order], number[order], ends[:, 0].copy(), ends[:, 1].copy())


@kernel
def root_of(parent: Ids | Offsets, node: int) -> int:
    """The representative of a node's component, with path halving."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@wrapping_kernel
def bit_count(bits: int) -> int:
    """The number of bits that are set, of 64."""
    word = np.int64(bits)
    pairs = word - (word >> 1 & 0x5555555555555555)
    fours = (pairs & 0x3333333333333333) + (pairs >> 2 & 0x3333333333333333)
    return int(((fours + (fours >> 4) & 0x0F0F0F0F0F0F0F0F) * 0x0101010101010101) >> 56)
