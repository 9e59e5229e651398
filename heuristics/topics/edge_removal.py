"""Edge removal for the filtering problems of P1 §9: from a topic-connected overlay, take edges out by their price."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from ...instances.contract.run import Clock
from ...instances.topics.instance import TopicInstance
from ...instances.topics.soc import as_soc
from .greedy_merge import greedy_merge
from .kernels.relay_trees import RelayTrees, adjacency, relay_trees
from .limits import Limits, limits_of
from .minmax_oda import minmax_oda

Edges = npt.NDArray[np.int32]
_FEW_EDGES, _SHARE, _MOST_REFUSED = 400, 0.02, 40

START = Option(
    "start",
    "auto",
    "the overlay to start from; auto: by the degree function",
    choices=("auto", "gm", "minmax-oda"),
)


def edge_removal(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int,
    time_limit: float | None,
    start: str,
) -> Proposal[Overlay]:
    """A topic-connected overlay less the edges whose removal adds fewest relays.

    Equal prices are broken by the number of trees that use an edge, then by its number. `start` "auto" takes
    MinMax-ODA's overlay where the degree is the maximum degree. The run ends at the time limit, and fails where a
    maximum degree cannot be met by removal. Counter ``rounds``: how often prices were computed.

    Notes
    -----
    P1 (Chockler, Melamed, Tock and Vitenberg 2007) §9 states the problem; the algorithm was designed here. Prices come
    from :func:`.relay_trees`. A spanning forest of highest price is kept, so that no topic is cut off. Edges that no
    topic uses go first, then one edge at a time, or 2% of a large overlay. Under a limit on the filtering cost an edge
    that exceeds it is put back, at most 40 times. O(|E| |T| (|V| + |E| log |E|)) for up to 400 edges; for large
    overlays O(log(|E| ÷ |V|)) ÷ 2% rounds of O(|T| (|V| + |E| log |E|)).

    Examples
    --------
    >>> from overlaybench.instances.contract.catalogue import PROBLEMS
    >>> instance = TopicInstance.from_subscriptions({"x": ["a", "b"], "y": ["b", "c"], "z": ["c", "a"]})
    >>> problem = PROBLEMS["filtering@edges=2"]
    >>> edge_removal(instance, problem, seed=0, time_limit=None, start="auto").answer.edges.tolist()
    [[0, 1], [0, 2]]
    """
    limits, clock = limits_of(as_soc(problem), instance), Clock(time_limit)
    by_degree = limits.counts_max_degree if start == "auto" else start == "minmax-oda"
    first = minmax_oda(instance) if by_degree else greedy_merge(instance)
    found = _Removal(instance, limits, clock, first).run()
    if found is None:
        reason = "time: its limit ended the removal above the limit on the degree" if clock.passed else ""
        return Proposal(status=Status.FAILED, reason=reason or "no removal meets the limit on the degree")
    return found


class _State(NamedTuple):
    edges: Edges
    trees: RelayTrees

    @property
    def cost(self) -> int:
        return int(self.trees.relays.sum())


class _Removal:
    def __init__(self, instance: TopicInstance, limits: Limits, clock: Clock, start: Overlay) -> None:
        self.instance, self.limits, self.clock, self.rounds = instance, limits, clock, 0
        self.state = self._state(start.edges)
        self.kept: list[tuple[float, Edges]] = []

    def _state(self, edges: Edges) -> _State:
        self.rounds += 1
        graph = adjacency(self.instance.num_nodes, edges)
        return _State(edges, relay_trees(graph, self.instance.topic_offsets, self.instance.topic_nodes))

    def run(self) -> Proposal[Overlay] | None:
        refused: set[tuple[int, int]] = set()
        self._keep()
        batch = self._batch()
        while not self.clock.passed and len(refused) <= _MOST_REFUSED:
            removed = self._next(batch, refused)
            if not len(removed):
                break
            following = self._state(np.delete(self.state.edges, removed, axis=0))
            if self.limits.cost is not None and following.cost > self.limits.cost:
                if len(removed) == 1:
                    refused.add(tuple(self.state.edges[removed[0]].tolist()))
                batch = max(1, len(removed) // 2)
                continue
            self.state = following
            self._keep()
            batch = min(batch, self._batch())
        overlay = self._valid()
        return None if overlay is None else Proposal(overlay, counters={"rounds": self.rounds})

    def _valid(self) -> Overlay | None:
        """The last overlay kept, or an earlier one where the problem finds a routing cost above its limit."""
        last, step = len(self.kept) - 1, 1
        while last >= 0:
            overlay = Overlay(self.instance.num_nodes, self.kept[last][1])
            if self.limits.cost is None or not self.limits.problem.violations(self.instance, overlay):
                return overlay
            last, step = (last - step if last > step else 0 if last else -1), 2 * step
        return None

    def _batch(self) -> int:
        size = len(self.state.edges)
        return 1 if size <= _FEW_EDGES else int(_SHARE * size)

    def _keep(self) -> None:
        """Remember the state if it meets the limits and no earlier one is better."""
        edges, limits = self.state.edges, self.limits
        degrees = np.bincount(edges.ravel(), minlength=self.instance.num_nodes)
        degree = int(degrees.max()) if limits.counts_max_degree else len(edges)
        if limits.degree is not None and degree > limits.degree:
            return
        cost = self.state.cost * limits.cost_unit
        worth = cost if limits.degree is not None else degree * limits.degree_unit
        if limits.degree is None and limits.cost is None:
            worth += cost
        if not self.kept or worth < self.kept[-1][0]:
            self.kept.append((worth, edges))

    def _next(self, batch: int, refused: set[tuple[int, int]]) -> npt.NDArray[np.int64]:
        """The indices of the edges to remove next; none if the limits are met or nothing can be removed."""
        edges, trees, limits = self.state.edges, self.state.trees, self.limits
        degrees = np.bincount(edges.ravel(), minlength=self.instance.num_nodes)
        excess = len(edges) if limits.most_edges is None else len(edges) - limits.most_edges
        free = ~_forest(self.instance.num_nodes, edges, trees.prices)
        if limits.counts_max_degree:
            most = limits.degree if limits.degree is not None else int(degrees.max()) - 1
            crowded = degrees > most
            # An edge of the forest may be replaced by one between nodes that have degrees to spare.
            heavy = crowded[edges].sum(axis=1)
            free = ~_forest(self.instance.num_nodes, edges, trees.prices - heavy * 10**9) & (heavy > 0)
        if excess <= 0 or not free.any():
            return np.empty(0, np.int64)
        if refused:
            free &= np.array([tuple(edge) not in refused for edge in edges.tolist()])
        order = np.lexsort((np.arange(len(edges)), trees.uses, trees.prices))
        order = order[free[order]]
        unused = order[trees.uses[order] == 0]
        chosen: npt.NDArray[np.int64] = order[: min(batch, excess)]
        if len(unused) and not limits.counts_max_degree:
            chosen = unused[:excess]
        return chosen


def _forest(num_nodes: int, edges: Edges, prices: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Whether each edge is in a spanning forest of highest price, ties to the lower index."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import minimum_spanning_tree

    order = np.lexsort((np.arange(len(edges)), -prices))
    rank = np.empty(len(edges))
    rank[order] = np.arange(1, len(edges) + 1)
    graph = sp.csr_array((rank, (edges[:, 0], edges[:, 1])), shape=(num_nodes, num_nodes))
    kept = np.zeros(len(edges), np.bool_)
    kept[order[minimum_spanning_tree(graph).data.astype(np.int64) - 1]] = True
    return kept


EDGE_REMOVAL = Method(
    name="edge-removal",
    problems=("filtering",),
    summary="from Greedy Merge's overlay take out the edges whose removal adds fewest relays",
    source="none; P1 §9 states the problem",
    guarantee="none; a limit on edges or filtering cost is met wherever an overlay meets it",
    cost="O(|T| (|V| + |E| log |E|)) a round; a round an edge up to 400 edges, beyond that a round 2% of the edges",
    solve=edge_removal,
    options=(START,),
    compiled=True,
    pace=200,
    colour="#D55E00",
    marker="X",
)
