"""Branch-and-cut for the star model of diameter 2: columns for edges and for the centre of each topic."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ....heuristics.compiled import kernel
from ....instances.arrays import Ids, Offsets
from ....instances.clock import Clock
from ....instances.offers import offer, offer_bound
from ....instances.overlay import Overlay
from ....instances.topics.instance import TopicInstance
from ...engine.highs_lp import Reals
from ...engine.relaxation import NO_CUTOFF
from ...engine.search_log import SearchLog
from ...engine.sparse_relaxation import RowList, SparseRelaxation, SparseRows
from ...engine.tree_search import TreeSearch
from ..rows.candidate_edges import CandidateEdges, all_pairs
from .edge_minimisation import SearchOutcome, SearchSettings

_VIOLATION = 1e-4
_ROOT_STALL = 1e-3
_PASSES = 20


class StarPlanes(SparseRelaxation):
    """Fewest edges x with a centre y for each topic: Σ_c y(t, c) ≥ 1, and x(uv) ≥ y(t, u) + y(t, v).

    The columns are the pairs with a topic in common, then the subscriptions, topic by topic. The second kind of row is
    valid because one centre a topic is enough: the star at it has the edge uv if the centre is u or v.

    Attributes
    ----------
    pairs : CandidateEdges
    """

    def __init__(self, instance: TopicInstance, *, threads: int = 1) -> None:
        self.instance, self.pairs = instance, CandidateEdges(instance, all_pairs(instance))
        links, first = self.pairs.links, instance.topic_offsets[:-1]
        self._topic = np.repeat(np.arange(instance.num_topics), np.diff(links.offsets))
        self._one, self._other = (len(self.pairs) + first[self._topic] + ends for ends in (links.a, links.b))
        rows = RowList()
        for t in range(instance.num_topics):
            centres = len(self.pairs) + np.arange(instance.topic_offsets[t], instance.topic_offsets[t + 1])
            rows.add(centres, 1, 1, ("centre", t))
        costs = np.zeros(len(self.pairs) + instance.num_subscriptions, np.int64)
        costs[: len(self.pairs)] = 1
        super().__init__(costs, rows.rows(), threads=threads)

    def described(self, column: int) -> tuple[int, ...]:
        """The two nodes of an edge; or topic, centre and a 1 that tells them apart."""
        if column < len(self.pairs):
            return int(self.pairs.u[column]), int(self.pairs.v[column])
        place = column - len(self.pairs)
        topic = int(np.searchsorted(self.instance.topic_offsets, place, side="right")) - 1
        return topic, int(self.instance.topic_nodes[place]), 1

    def branchable(self, fractional: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Centres first: once they are fixed, so are the edges."""
        centres = fractional[fractional >= len(self.pairs)]
        return centres if len(centres) else fractional

    def violated(self, x: Reals, *, exact: bool) -> SparseRows:
        """Every violated row of an edge and a topic; always exact."""
        rows, links = RowList(), self.pairs.links
        excess = x[self._one] + x[self._other] - x[links.edge]
        for k in np.flatnonzero(excess > _VIOLATION).tolist():
            edge = int(links.edge[k])
            text = ("star", int(self._topic[k]), int(self.pairs.u[edge]), int(self.pairs.v[edge]))
            rows.add([edge, self._one[k], self._other[k]], [1, -1, -1], 0, text)
        return rows.rows()


class StarIncumbent:
    """The overlay of stars with fewest edges so far (`overlay`), and its number of edges (`value`)."""

    def __init__(self, planes: StarPlanes, start: Overlay) -> None:
        self._planes, self.unit = planes, planes.unit
        self.overlay, self.value = start, float(start.num_edges)

    @property
    def cutoff(self) -> int:
        """Nodes with a bound above this, in units, hold no better overlay."""
        return int(self.value - 1) * self.unit if math.isfinite(self.value) else NO_CUTOFF

    def offer_chosen(self, columns: object, chosen: npt.NDArray[np.bool_]) -> None:
        """Offer the chosen edges."""
        pairs = self._planes.pairs
        self._offer(np.flatnonzero(chosen[: len(pairs)]))

    def build_along(self, columns: object, x: Reals) -> None:
        """Take the centre of largest value in each topic, then move centres while that saves edges."""
        planes = self._planes
        offsets, links = planes.instance.topic_offsets, planes.pairs.links
        used = _descend(offsets, links.offsets, links.edge, x[: len(planes.pairs)], x[len(planes.pairs) :], _PASSES)
        self._offer(np.flatnonzero(used))

    def improve_along(self, columns: object, x: Reals, clock: Clock, *, goal: float, steps: int) -> None:
        """As :meth:`build_along`, whose overlays are local optima."""
        self.build_along(columns, x)

    def _offer(self, edges: npt.NDArray[np.int64]) -> None:
        if len(edges) < self.value:
            pairs = self._planes.pairs
            ends = np.stack([pairs.u[edges], pairs.v[edges]], axis=1)
            self.overlay = Overlay.from_edges(self._planes.instance.num_nodes, ends)
            self.value = float(len(edges))
            offer(self.overlay)


def minimise_stars(instance: TopicInstance, start: Overlay, clock: Clock, settings: SearchSettings) -> SearchOutcome:
    """Find an overlay with a star in every topic and fewest edges, and prove it.

    Parameters
    ----------
    start : Overlay
        Valid.

    Notes
    -----
    P2 (Onus and Richa 2015), §6.3. Exponential in the worst case; memory O(Σ_t |V_t|²).
    """
    outcome, log = SearchOutcome(start), SearchLog(settings.progress, on_bound=offer_bound if settings.offers else None)
    case = settings.proof.case(cap=None)
    planes = StarPlanes(instance, threads=settings.threads)
    incumbent = StarIncumbent(planes, start)
    tree, root = TreeSearch(planes, incumbent, progress=log, proof=case), None
    try:
        root = planes.tighten(clock, stall=_ROOT_STALL)
        if root is not None:
            case.bound(0, root.proven)
            incumbent.build_along(planes.columns, planes.lp.x)
            tree.run(clock, root, planes.lp.x)
        outcome.stopped_by = clock.stopped_by
    except MemoryError:
        outcome.stopped_by = "out of memory"
    case.end(incumbent.value)
    outcome.overlay, outcome.unit = incumbent.overlay, planes.unit
    outcome.units = tree.units if root is not None else planes.best_units
    outcome.complete = outcome.lower_bound >= incumbent.value
    outcome.counters = {
        "root_bound": round(planes.best_units / planes.unit, 6),
        "cuts": planes.cuts,
        "columns": len(planes.columns),
        "simplex_iterations": planes.lp.iterations,
        "nodes": tree.nodes,
    }
    return outcome


@kernel
def _descend(
    topic_offsets: Offsets, link_offsets: Offsets, link_edge: Ids, along: Reals, centre_value: Reals, passes: int
) -> npt.NDArray[np.int64]:
    """How many stars use each edge, after every topic in turn moved to the centre that needs fewest new edges.

    The links of a topic are all pairs of its subscribers in lexicographic order.
    """
    used = np.zeros(len(along), np.int64)
    topics = len(topic_offsets) - 1
    centre = np.empty(topics, np.int64)
    for t in range(topics):
        centre[t] = np.argmax(centre_value[topic_offsets[t] : topic_offsets[t + 1]])
        n = topic_offsets[t + 1] - topic_offsets[t]
        for w in range(n):
            if w != centre[t]:
                used[link_edge[_link(link_offsets[t], n, centre[t], w)]] += 1
    for _ in range(passes):
        moved = False
        for t in range(topics):
            n = topic_offsets[t + 1] - topic_offsets[t]
            for w in range(n):
                if w != centre[t]:
                    used[link_edge[_link(link_offsets[t], n, centre[t], w)]] -= 1
            best, least = centre[t], np.inf
            for c in range(n):
                cost = 0.0
                for w in range(n):
                    if w != c:
                        edge = link_edge[_link(link_offsets[t], n, c, w)]
                        if used[edge] == 0:
                            cost += 1.0 - 1e-3 * along[edge]
                if cost < least - 1e-9:
                    best, least = np.int64(c), cost
            moved |= best != centre[t]
            centre[t] = best
            for w in range(n):
                if w != best:
                    used[link_edge[_link(link_offsets[t], n, best, w)]] += 1
        if not moved:
            break
    return used


@kernel
def _link(first: int, n: int, one: int, other: int) -> int:
    a, b = min(one, other), max(one, other)
    return first + a * (2 * n - a - 1) // 2 + b - a - 1
