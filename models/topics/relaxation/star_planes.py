"""The LP of stars, and of topics of diameter 2, with columns for what a topic is.

A topic has a centre c, which is adjacent to all others: y(t, c) = 1. In ``2d-true`` it may have none: N(t) = 1, and
z(t, uv) are its edges. Then it has four subscribers or more, k of them at least max(k, 2k − 5) edges (Erdős, Rényi
1962; Murty 1968), each subscriber has two neighbours, as the only neighbour of one is a centre, and for any u, v and W
one of the edges uv, u–W, v–the others. The LP over x alone with all rows that follow is as strong, but has far more of
them, and branching on N and y settles more than branching on x.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np
import numpy.typing as npt

from ....instances.contract.overlay import Overlay
from ....instances.topics.instance import TopicInstance
from ...engine.proof import Multipliers, Proven
from ...engine.relaxation import Bits, Bound, Reals, RowList, SparseRelaxation, SparseRows, Text, Units
from .separation import violated_diameters
from .topic_rows import CandidateEdges, all_pairs, crossing

_VIOLATION = 1e-4
_KEPT = 10_000  # rows that are all in the LPs of the tree, if there are no more
_LEAST_WITHOUT = 4  # subscribers of a topic without a centre
_NO_CENTRE, _CENTRE, _EDGE, _OTHER = range(4)


class StarPlanes(SparseRelaxation):
    """Fewest edges x with a centre y for each topic: Σ_c y(t, c) + N(t) ≥ 1, and x(uv) ≥ y(t, u) + y(t, v) + z(t, uv).

    N and z are there if `others`: topics may have diameter 2 in another way. The second kind of row is valid because
    one centre a topic is enough: the star at it has the edge uv if the centre is u or v. For a pair with one common
    topic it holds with equality, so that this x is left out, unless `every_edge`, and its cost is that of both centres
    and z. The columns are those of `edges` with several common topics, then the subscriptions, topic by topic, then
    z(t, uv) and N(t) of the topics of four subscribers or more.
    """

    def __init__(self, instance: TopicInstance, *, others: bool = False, every_edge: bool = False) -> None:
        self.instance, self.edges, self.others = instance, CandidateEdges(instance, all_pairs(instance)), others
        links, first, sizes = self.edges.links, instance.topic_offsets[:-1], np.diff(instance.topic_offsets)
        self._shared = np.flatnonzero(self.edges.common > (0 if every_edge else 1))
        self._topic = np.repeat(np.arange(instance.num_topics), np.diff(links.offsets))
        begin = len(self._shared)
        self._one, self._other = (begin + first[self._topic] + ends for ends in (links.a, links.b))
        begin += instance.num_subscriptions
        without = sizes >= _LEAST_WITHOUT if others else np.zeros(len(sizes), np.bool_)
        has = without[self._topic]
        # Columns of links and topics that have none are the last of all values, a 0 that is appended.
        self._z = np.where(has, begin + np.cumsum(has) - 1, -1)
        begin += int(has.sum())
        self._none = np.where(without, begin + np.cumsum(without) - 1, -1)
        self._is_own = (self.edges.common[links.edge] == 1) & (not every_edge)
        costs, self._rank = np.zeros((2, begin + int(without.sum()) + 1), np.int64)
        costs[: len(self._shared)] = 1
        for columns in (self._one, self._other, self._z):
            np.add.at(costs, columns[self._is_own], 1)
        self._column = np.searchsorted(self._shared, links.edge)
        self._rank[:] = _CENTRE
        self._rank[: len(self._shared)] = _EDGE
        self._rank[self._z] = np.where(self._is_own, _EDGE, _OTHER)
        self._rank[self._none] = _NO_CENTRE
        costs, self._rank = costs[:-1], self._rank[:-1]
        super().__init__(costs, self._first_rows(np.flatnonzero(without)))
        self.cost_scale = 1.0

    def _first_rows(self, without: npt.NDArray[np.int64]) -> SparseRows:
        rows, offsets = RowList(), self.instance.topic_offsets
        for t in range(self.instance.num_topics):
            centres = len(self._shared) + np.arange(offsets[t], offsets[t + 1])
            none = self._none[t : t + 1]
            rows.add(np.append(centres, none[none >= 0]), 1, 1, ("centre", t))
        for t in without.tolist():
            z, a, b = self._links_of(t)
            k = int(offsets[t + 1] - offsets[t])
            rows.add(np.append(z, self._none[t]), [*[1] * len(z), -max(k, 2 * k - 5)], 0, ("number", t))
            for v, node in enumerate(self.instance.subscribers(t).tolist()):
                own = z[(a == v) | (b == v)]
                rows.add(np.append(own, self._none[t]), [*[1] * len(own), -2], 0, ("ends", t, node))
        if self.others:
            self._add(rows, np.flatnonzero(~self._is_own))
        return rows.rows()

    def _links_of(self, t: int) -> tuple[Units, Units, Units]:
        """The columns z of a topic's links, and the ends of these as indices in V_t."""
        links = self.edges.links
        own = slice(links.offsets[t], links.offsets[t + 1])
        return self._z[own], links.a[own].astype(np.int64), links.b[own].astype(np.int64)

    def described(self, column: int) -> tuple[int, ...]:
        """The two nodes of an edge; topic, centre and a 1 that tells them apart; N and z by the topic first."""
        rank, links = self._rank[column], self.edges.links
        if rank == _NO_CENTRE:
            return (int(np.flatnonzero(self._none == column)[0]),)
        if rank == _CENTRE:
            place = column - len(self._shared)
            topic = int(np.searchsorted(self.instance.topic_offsets, place, side="right")) - 1
            return topic, int(self.instance.topic_nodes[place]), 1
        link = int(np.flatnonzero(self._z == column)[0]) if column >= len(self._shared) else -1
        pair = self._shared[column] if link < 0 else links.edge[link]
        ends = int(self.edges.u[pair]), int(self.edges.v[pair])
        return ends if link < 0 else (int(self._topic[link]), *ends, 1)

    def branchable(self, fractional: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """What topics are first: once that is fixed, so are the edges of stars."""
        ranks = self._rank[fractional]
        first: npt.NDArray[np.int64] = fractional[ranks == ranks.min(initial=_OTHER)]
        return first

    def add_all_rows(self) -> None:
        """Add the rows of stars that are missing, to keep them all, unless there are too many, or others."""
        missing = np.flatnonzero(~self._is_own)
        if not self.others and len(missing) <= _KEPT:
            present, rows = set(self.rows.texts), RowList()
            self._add(rows, missing[[text not in present for text in self._texts(missing)]])
            self._add_rows(rows.rows())
            self.keeps_rows = True

    def violated(self, x: Reals, *, exact: bool) -> SparseRows:
        """Every violated row of an edge and a topic; with others, whose LP has all of them, of pairs. Always exact."""
        rows = RowList()
        if not self.others and not self.keeps_rows:
            excess = x[self._one] + x[self._other] - x[self._column]
            self._add(rows, np.flatnonzero((excess > _VIOLATION) & ~self._is_own))
        if self.others:
            x = np.append(x, 0.0)
            links = self.edges.links._replace(edge=np.arange(len(self._z), dtype=np.int32))
            offsets = self.instance.topic_offsets
            found = violated_diameters(offsets, links, x[self._z], tolerance=_VIOLATION, shares=x[self._none])
            ends, crossed = crossing(found, links, 0)
            for r, t in enumerate(found.topic.tolist()):
                z, label = self._z[crossed[ends[r] : ends[r + 1]]], found.label[found.offsets[r] : found.offsets[r + 1]]
                rows.add(np.append(z, self._none[t]), [*[1] * len(z), -1], 0, ("apart", t, tuple(label.tolist())))
        return rows.rows()

    def centres_of(self, x: Reals) -> Reals:
        """The values of the subscriptions, topic by topic."""
        return x[len(self._shared) :][: self.instance.num_subscriptions]

    def edges_of(self, x: Reals) -> Reals:
        """The values of the edges."""
        values, x = np.zeros(len(self.edges)), np.append(x, 0.0)
        values[self._shared] = x[: len(self._shared)]
        own = np.flatnonzero(self._is_own)
        values[self.edges.links.edge[own]] = x[self._one[own]] + x[self._other[own]] + x[self._z[own]]
        return values

    def _proven(self, lower: Bits | None, upper: Bits | None) -> Bound:
        bound = super()._proven(lower, upper)
        assert bound.proven is not None
        return replace(bound, proven=partial(self._with_own_pairs, bound.proven))

    def _with_own_pairs(self, proven: Proven) -> Multipliers:
        """Add the rows of pairs that have no column: each pays for an edge of one topic alone."""
        given = proven()
        own = [] if given.farkas else self._texts(np.flatnonzero(self._is_own))
        return given._replace(rows=chain(given.rows, ((text, self.unit) for text in own)))

    def _drop_idle_rows(self) -> None:
        if not self.keeps_rows:
            super()._drop_idle_rows()

    def _add(self, rows: RowList, links: npt.NDArray[np.int64]) -> None:
        for k, text in zip(links.tolist(), self._texts(links), strict=True):
            columns = [each for each in (self._column[k], self._one[k], self._other[k], self._z[k]) if each >= 0]
            rows.add(columns, [1, *[-1] * (len(columns) - 1)], 0, text)

    def _texts(self, links: npt.NDArray[np.int64]) -> list[Text]:
        edges = self.edges.links.edge[links]
        ends = self._topic[links].tolist(), self.edges.u[edges].tolist(), self.edges.v[edges].tolist()
        return [("star", *items) for items in zip(*ends, strict=True)]

    def overlay(self, chosen: npt.NDArray[np.bool_]) -> Overlay:
        """The overlay of the chosen columns."""
        return self.edges.overlay(self.edges_of(chosen.astype(np.float64)) > 0)
