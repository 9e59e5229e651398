"""Rows of one node: Σ weight(u)·x(uv) ≥ the least weight of neighbours that together have all topics which v shares.

In every topic of two or more subscribers a node has a neighbour, so that its neighbours' topics cover its own. The LP
knows this of each topic by itself. These rows describe the sets of neighbours that cover all of them, in integers: the
dominant of their convex hull (set covering; Balas and Ng 1989). On dense topics they raise the LP by as much as a tree
of twice the size does. Separation is by row generation over the weights, where the least weight of a cover is found by
branch and bound; a row's right-hand side is computed once more from its integer weights, so no rounding matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids
from ....instances.runtime.compiled import kernel
from ...engine.relaxation import HighsLP, Reals
from .topic_rows import CandidateEdges, Units

MOST_PAIRS = 500
"""Of the instances for which such rows are looked for."""
_MOST_TOPICS = 62  # of a node: a set of them is the bits of an integer
_FINE = 1 << 24
_MOST_WEIGHT, _CLOSE = 24, 1e-4
_VIOLATION = 0.02
_STEPS = 20_000
_ROUNDS = 60


class NeighbourRows(NamedTuple):
    """Rows by the weights of the candidate edges, 0 for those that do not have the node as an end."""

    node: Ids
    weights: Units  # (rows, edges)
    rhs: Units

    def joined(self, others: NeighbourRows) -> NeighbourRows:
        """The rows of both, in order."""
        node, rhs = np.concatenate([self.node, others.node]), np.concatenate([self.rhs, others.rhs])
        return NeighbourRows(node, np.concatenate([self.weights, others.weights]), rhs)


def neighbour_texts(
    edges: CandidateEdges, rows: NeighbourRows, units: Units
) -> Iterator[tuple[tuple[str, int, tuple[int, ...]], int]]:
    """The rows with positive multipliers, for a proof: the node, and the weights of its neighbours in rising order."""
    for r in np.flatnonzero(units).tolist():
        at, others = _ends(edges, v := int(rows.node[r]))
        yield ("near", v, tuple(rows.weights[r, at[np.argsort(others)]].tolist())), int(units[r])


def _ends(edges: CandidateEdges, v: int) -> tuple[npt.NDArray[np.int64], Ids]:
    """The edges at a node, and their other ends."""
    at = np.flatnonzero((edges.u == v) | (edges.v == v))
    return at, edges.u[at] + edges.v[at] - v


class NeighbourSeparation:
    """Finds violated rows of all nodes of an instance; all its useful pairs are candidate edges."""

    def __init__(self, edges: CandidateEdges) -> None:
        self._nodes = [node for v in range(edges.instance.num_nodes) if (node := _around(edges, v)) is not None]

    def violated(self, x: Reals) -> NeighbourRows:
        """At most one row a node, which x violates by 2% of its right-hand side or more."""
        found = [(node, *row) for node in self._nodes if (row := node.violated(x)) is not None]
        weights = np.zeros((len(found), len(x)), np.int64)
        for r, (node, weight, _) in enumerate(found):
            weights[r, node.at] = weight
        nodes, rhs = [node.v for node, *_ in found], [least for *_, least in found]
        return NeighbourRows(np.array(nodes, np.int32), weights, np.array(rhs, np.int64))


class _Node:
    """A node, its edges, the topics that each neighbour shares with it as bits, and the covers found so far."""

    def __init__(self, v: int, at: npt.NDArray[np.int64], masks: Units) -> None:
        self.v, self.at, self._masks = v, at, masks
        self._all = np.bitwise_or.reduce(masks)
        self._covers = [least_cover(masks, np.ones_like(masks), self._all, _STEPS)[1]]

    def violated(self, x: Reals) -> tuple[Units, int] | None:
        """The weights of a row and its right-hand side.

        The weights minimise weight·x, subject to a weight of at least 1 for every cover.
        """
        values = x[self.at]
        lp = HighsLP()
        lp.append_columns(values, 0.0, 1.0)
        _add_covers(lp, self._covers)
        for _ in range(_ROUNDS):
            if not lp.solve(1.0) or not lp.feasible or lp.value > 1 - _VIOLATION:
                return None
            least, cover = least_cover(self._masks, (lp.x * _FINE).astype(np.int64) + 1, self._all, _STEPS)
            if least < 0:
                return None
            if (lp.x * cover).sum() > 1 - _CLOSE:
                return self._in_integers(lp.x, values)
            self._covers.append(cover)
            _add_covers(lp, [cover])
        return None

    def _in_integers(self, weights: Reals, values: Reals) -> tuple[Units, int] | None:
        scales = np.arange(1, _MOST_WEIGHT + 1)
        error = np.abs(np.outer(scales, weights) - np.rint(np.outer(scales, weights))).max(axis=1)
        integral = np.rint(weights * int(scales[error.argmin()])).astype(np.int64)
        rhs, _ = least_cover(self._masks, integral, self._all, _STEPS)
        return (integral, rhs) if rhs > 0 and integral @ values < (1 - _VIOLATION) * rhs else None


def _add_covers(lp: HighsLP, covers: list[npt.NDArray[np.bool_]]) -> None:
    row, column = np.nonzero(np.array(covers))
    lp.append_rows(np.ones(len(covers)), np.searchsorted(row, np.arange(len(covers))), column, np.ones(len(column)))


def _around(edges: CandidateEdges, v: int) -> _Node | None:
    at, others = _ends(edges, v)
    topics = edges.instance.topics_of(v)
    if not len(at) or len(topics) > _MOST_TOPICS:
        return None
    masks = [
        int((1 << np.flatnonzero(np.isin(topics, edges.instance.topics_of(int(w)))).astype(object)).sum())
        for w in others
    ]
    return _Node(v, at, np.array(masks, np.int64))


@kernel
def least_cover(masks: Units, weights: Units, whole: int, steps: int) -> tuple[int, npt.NDArray[np.bool_]]:
    """The least total weight of masks whose union is `whole`, and which: none of them is superfluous.

    −1 if more than so many steps are needed. Branch and bound on the bit that fewest masks have; a set of bits costs at
    least what the dearest of them does at its cheapest mask. Exponential in the worst case.
    """
    count = len(masks)
    order = np.argsort(weights, kind="mergesort")
    best = np.zeros(count, np.bool_)
    least = np.int64(2**62)
    done, weight = np.zeros(64, np.int64), np.zeros(64, np.int64)
    bit, place, taken = np.zeros(64, np.int64), np.full(64, -1), np.zeros(64, np.int64)
    depth = used = 0
    while depth >= 0:
        if place[depth] < 0:
            used += 1
            if used > steps:
                return -1, best
            left = whole & ~done[depth]
            if left == 0:
                if weight[depth] < least:
                    least = weight[depth]
                    best[:] = False
                    for d in range(depth):
                        best[taken[d]] = True
                depth -= 1
                continue
            fewest, dearest = count + 1, np.int64(0)
            for b in range(63):
                if (left >> b) & 1:
                    having, cheapest = 0, np.int64(2**62)
                    for k in range(count):
                        if (masks[k] >> b) & 1:
                            having += 1
                            cheapest = min(cheapest, weights[k])
                    dearest = max(dearest, cheapest)
                    if having < fewest:
                        fewest, bit[depth] = having, b
            if weight[depth] + dearest >= least:
                depth -= 1
                continue
            place[depth] = 0
        deeper = False
        while place[depth] < count and not deeper:
            k = order[place[depth]]
            place[depth] += 1
            if weight[depth] + weights[k] >= least:
                break
            if (masks[k] >> bit[depth]) & 1:
                taken[depth] = k
                done[depth + 1], weight[depth + 1] = done[depth] | masks[k], weight[depth] + weights[k]
                deeper = True
        if deeper:
            depth += 1
            place[depth] = -1
        else:
            depth -= 1
    for j in range(count - 1, -1, -1):
        if best[order[j]]:
            union = np.int64(0)
            for i in range(count):
                if best[i] and i != order[j]:
                    union |= masks[i]
            if union & whole == whole:
                best[order[j]] = False
    return int(least), best
