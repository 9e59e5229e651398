"""The strongest rows known of single topics of diameter 2: a topic has a centre, or many edges.

The graph on the k ≥ 4 subscribers of a topic either has a centre, which is adjacent to all others, or it has none. Then
it has at least max(k, 2k − 5) edges (Erdős, Rényi 1962; Murty 1968), each subscriber has two neighbours, as the only
neighbour of one is a centre, and for any u, v and W one of the edges uv, u–W, v–the others. So Σ α_e·x_e ≥ β is valid
if each star has α-weight β or more, and α ≥ a for a combination a of the rows of graphs without a centre, with a
right-hand side of β or more.

Separation is the LP of this disjunction: y_c is the share of the star at c, z and N those of a graph without a centre,
y_u + y_v + z_uv ≤ x_uv, and Σ y + N is largest. If it is below 1, the dual values are a row that cuts x off. All rows
are integers whose validity is computed from them alone, so no tolerance of a solver matters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ....instances.contract.arrays import Ids, Offsets
from ...engine.relaxation import HighsLP, Reals, Units
from .topic_rows import CENTRES, TopicEdges, TopicRows

_SCALE = 10_080  # dual values become integers in units of 1 ÷ this
_TOLERANCE = 1e-6
_MOST_SUBSCRIBERS = 40  # of a topic: separation takes memory and time O(k³)


class CentreRows:
    """The separation of these rows for one topic of `size` subscribers, which keeps its LP from call to call."""

    def __init__(self, size: int) -> None:
        self.size, pairs = size, size * (size - 1) // 2
        self._a, self._b = np.triu_indices(size, 1)
        self._pair = np.zeros((size, size), np.int64)
        self._pair[self._a, self._b] = self._pair[self._b, self._a] = np.arange(pairs)
        # Columns: z of each pair, N, then y of each subscriber and x of each pair.
        self._none, y, x = pairs, pairs + 1, pairs + 1 + size
        self._lp = HighsLP(first=x)
        self._lp.append_columns(np.repeat([0.0, -1.0, 0.0], [pairs, 1 + size, pairs]), 0.0, 9.0)
        for k, (a, b) in enumerate(zip(self._a.tolist(), self._b.tolist(), strict=True)):
            self._append([x + k, y + a, y + b, k], [1, -1, -1, -1])
        self._append([*range(pairs), self._none], [*[1] * pairs, -least_edges(size)])
        for v in range(size):
            self._append([*np.delete(self._pair[v], v).tolist(), self._none], [*[1] * (size - 1), -2])
        self._wanted: list[Ids] = []  # the labels of the rows of pairs

    def _append(self, columns: list[int], values: list[int]) -> None:
        self._lp.append_rows(np.zeros(1), np.zeros(1, np.int32), np.array(columns), np.array(values, np.float64))

    def violated(self, x: Reals, tolerance: float) -> tuple[int, Ids] | None:
        """The right-hand side and the labels of a row that x, by pairs, violates by a share of more than `tolerance`.

        The labels are |V_t|, the coefficients of pairs in lexicographic order, then the multipliers of the rows of
        graphs without a centre: of all edges, of each subscriber, and of pairs, each before its k labels.
        """
        self._lp.bound_columns(x, x)
        if not self._solved() or -self._lp.value >= 1 - tolerance:
            return None
        rhs, labels = self._row(len(x))
        return (rhs, labels) if labels[1 : 1 + len(x)] @ x < rhs * (1 - tolerance) else None

    def _solved(self) -> bool:
        """Solve, and add the rows of pairs that are violated."""
        while self._lp.solve(math.inf) and self._lp.feasible:
            values = self._lp.all_values
            if not (new := list(self._wanted_pairs(values[: self._none], values[self._none]))):
                return True
            for label in new:
                crossed = self._crossed(label)
                self._append([*crossed.tolist(), self._none], [*[1] * len(crossed), -1])
            self._wanted += new
        return False

    def _wanted_pairs(self, z: Reals, share: float) -> Iterator[Ids]:
        """The labels of the most violated pair of each subscriber in the part without a centre."""
        near = np.zeros((self.size, self.size))
        near[self._a, self._b] = near[self._b, self._a] = z
        sums = near + np.minimum(near[:, None], near[None]).sum(axis=2)
        np.fill_diagonal(sums, np.inf)
        done = set()
        for u, v in enumerate(sums.argmin(axis=1).tolist()):
            if sums[u, v] < share - _TOLERANCE and (v, u) not in done:
                done.add((u, v))
                label = np.where(near[u] < near[v], 2, 3).astype(np.int32)
                label[u], label[v] = 0, 1
                yield label

    def _crossed(self, label: Ids) -> Units:
        u, v = np.flatnonzero(label == 0), np.flatnonzero(label == 1)
        return np.concatenate([self._pair[u, v], self._pair[u, label == 2], self._pair[v, label == 3]])

    def _row(self, links: int) -> tuple[int, Ids]:
        """The row of the duals of so many rows of pairs, or more, and of the rows after these."""
        alpha, duals = np.split(np.rint(self._lp.row_duals * _SCALE).astype(np.int64), [links])
        edges, degrees, pairs = np.split(duals, [1, 1 + self.size])
        used = np.flatnonzero(pairs)
        least = edges + degrees[self._a] + degrees[self._b]
        for k in used.tolist():
            least[self._crossed(self._wanted[k])] += pairs[k]
        alpha = np.maximum(alpha, least)
        unit = max(1, int(np.gcd.reduce([*alpha, *duals])))
        alpha, edges, degrees, pairs = (each // unit for each in (alpha, edges, degrees, pairs))
        stars = np.bincount(self._a, alpha, self.size) + np.bincount(self._b, alpha, self.size)
        without = int(edges[0]) * least_edges(self.size) + 2 * int(degrees.sum()) + int(pairs.sum())
        blocks = [np.append(pairs[k], self._wanted[k]) for k in used.tolist()]
        labels = np.concatenate([[self.size], alpha, edges, degrees, *blocks]).astype(np.int32)
        return min(int(stars.min()), without), labels


def least_edges(size: int) -> int:
    """Of a graph of diameter 2 without a centre on four nodes or more."""
    return max(size, 2 * size - 5)


class CentreSeparation:
    """The separation for all topics of an instance."""

    def __init__(self) -> None:
        self._topics: dict[int, CentreRows] = {}

    def violated(
        self, topic_offsets: Offsets, links: TopicEdges, weights: Reals, others: Ids, tolerance: float
    ) -> TopicRows:
        """At most one row of each topic of 4 to 40 subscribers that is not among the `others`."""
        sizes = np.diff(topic_offsets)
        sizes[others] = 0
        found = []
        for t in np.flatnonzero((sizes > 3) & (sizes <= _MOST_SUBSCRIBERS)).tolist():
            if t not in self._topics:
                self._topics[t] = CentreRows(int(sizes[t]))
            rows = self._topics[t]
            own = slice(links.offsets[t], links.offsets[t + 1])
            near = np.zeros((rows.size, rows.size))
            near[links.a[own], links.b[own]] = weights[links.edge[own]]
            row = rows.violated(near[np.triu_indices(rows.size, 1)], tolerance)
            if row is not None:
                found.append((t, row))
        labels = [row[1] for _, row in found]
        topic, rhs = np.array([(t, row[0]) for t, row in found], np.int32).reshape(-1, 2).T
        offsets = np.cumsum([0, *map(len, labels)]).astype(np.int64)
        label = np.concatenate([np.empty(0, np.int32), *labels])
        return TopicRows(topic, np.full_like(topic, CENTRES), rhs, offsets, label)
