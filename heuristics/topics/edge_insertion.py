"""Edge insertion for the filtering problems of P1 §9: connect topic after topic of a spanning tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

import numpy as np

from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from ...instances.contract.run import Clock, offer
from ...instances.topics.instance import TopicInstance
from ...instances.topics.soc import as_soc
from .greedy_merge import greedy_merge
from .kernels.relay_trees import adjacency, relay_trees
from .limits import Limits, components_by_topic, limits_of, offer_star, star

TREES = ("star", "common-topics")
TREE = Option(
    "tree", "best", "the first tree: a star, the most common topics, or the better of both", choices=("best", *TREES)
)

Edge = tuple[int, int]
_MOST_TRIES, _LOWER = 6, 0.8


def edge_insertion(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int,
    time_limit: float | None,
    tree: str,
) -> Proposal[Overlay]:
    """A spanning tree, and edges of Greedy Merge's overlay that connect topics without relays.

    The tree is a star on each component of the relation "a common topic", around a node of most topics: then a topic
    costs one relay or none. Or it is a spanning forest of Greedy Merge's overlay of most common topics, with no degree
    above the limit. As long as the limits allow, the topic with fewest missing edges for each of its relays is
    connected by Greedy Merge's edges, those first that join most topics still to be connected.

    Parameters
    ----------
    seed : int
        Not used: ties are broken by number.
    time_limit : float or None
        When it ends, no further topic is connected.
    tree : {"best", "star", "common-topics"}

    Returns
    -------
    Proposal
        Status ``failed`` where the limits are not met. Counter ``tree``: the one that was better.

    Notes
    -----
    P1 (Chockler, Melamed, Tock and Vitenberg 2007) §9 states the problem; the algorithm was designed here. The cost of
    Greedy Merge and O(|T| (|V| + |E| log |E|)).

    Examples
    --------
    >>> from overlaybench.instances.contract.catalogue import PROBLEMS
    >>> instance = TopicInstance.from_subscriptions({"x": ["a", "b"], "y": ["b", "c"], "z": ["c", "a"]})
    >>> problem = PROBLEMS["filtering@edges=2"]
    >>> edge_insertion(instance, problem, seed=0, time_limit=None, tree="best").answer.edges.tolist()
    [[0, 1], [0, 2]]
    """
    limits, clock = limits_of(as_soc(problem), instance), Clock(time_limit)
    most_edges = limits.most_edges
    if most_edges is not None and most_edges < limits.fewest_edges:
        reason = f"every overlay that connects all topics has {limits.fewest_edges} edges or more"
        return Proposal(status=Status.INFEASIBLE, lower_bound=None, reason=reason)
    if time_limit is not None:
        offer_star(instance)
    gm = greedy_merge(instance)
    found = []
    for shape in TREES if tree == "best" else (tree,):
        overlay = _inserted(instance, limits, gm, shape, clock)
        if overlay is not None:
            found.append((problem.value(instance, overlay), shape, overlay))
            offer(overlay)
    if not found:
        return Proposal(status=Status.FAILED, reason="no tree meets the limits")
    _, shape, overlay = min(found, key=lambda each: each[0])
    return Proposal(overlay, counters={"tree": shape})


def _inserted(instance: TopicInstance, limits: Limits, gm: Overlay, shape: str, clock: Clock) -> Overlay | None:
    """The overlay from one tree; aimed at lower routing costs where the problem finds one above its limit."""
    aimed = limits
    for _ in range(_MOST_TRIES):
        insertion = _Insertion(instance, aimed, gm)
        if not insertion.start(shape):
            return None
        insertion.run(clock)
        overlay = insertion.overlay()
        if not limits.problem.violations(instance, overlay):
            return overlay
        if aimed.cost is None or clock.passed:
            return None
        aimed = limits.limited(cost=int(_LOWER * aimed.cost))
    return None


@dataclass
class _Insertion:
    """The overlay so far, and the components of each topic in it.

    Attributes
    ----------
    root : dict of lists
        Union-find over the subscriptions of ``topic_nodes``.
    missing : list of int
        For each topic the number of its components less one.
    relays : list of int
        For each topic those of its tree when insertion began.
    """

    instance: TopicInstance
    limits: Limits
    gm: Overlay
    edges: dict[Edge, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        instance = self.instance
        self.root = list(range(instance.num_subscriptions))
        self.missing: list[int] = (np.diff(instance.topic_offsets) - 1).tolist()
        self.degrees = [0] * instance.num_nodes
        self.position: list[dict[int, int]] = [{} for _ in range(instance.num_nodes)]
        topics = np.repeat(np.arange(instance.num_topics), np.diff(instance.topic_offsets)).tolist()
        for index, (v, t) in enumerate(zip(instance.topic_nodes.tolist(), topics, strict=True)):
            self.position[v][t] = index
        self.of_topic: list[list[Edge]] = [[] for _ in range(instance.num_topics)]
        for u, v in self.gm.edges.tolist():
            for t in self._common(u, v):
                self.of_topic[t].append((u, v))

    def start(self, shape: str) -> bool:
        """Add the first tree; False if no such tree keeps the degrees."""
        tree = self._star() if shape == "star" else self._forest()
        if tree is None:
            return False
        for u, v in tree:
            self._add(u, v)
        self.relays = self._costs()
        return True

    def run(self, clock: Clock) -> None:
        """Connect topics, the cheapest for each of its relays first."""
        waiting = [(self._rate(t), t) for t, relays in enumerate(self.relays) if relays and self.missing[t]]
        heapify(waiting)
        while waiting and not clock.passed:
            rate, t = heappop(waiting)
            if self._enough(rate):
                estimate, self.relays = self.relays, self._costs()
                if estimate == self.relays or self._enough(rate):
                    return
            if not self.missing[t]:
                continue
            if rate > self._rate(t):
                heappush(waiting, (self._rate(t), t))
                continue
            self._connect(t)

    def overlay(self) -> Overlay:
        """The overlay so far."""
        return Overlay.from_edges(self.instance.num_nodes, self.edges)

    def _rate(self, t: int) -> float:
        return self.missing[t] / max(1, self.relays[t])

    def _enough(self, rate: float) -> bool:
        """Whether no topic need be connected: the cost is within its limit, or, without limits, not worth the edges."""
        open_cost = sum(relays for relays, missing in zip(self.relays, self.missing, strict=True) if missing)
        if self.limits.cost is not None:
            return open_cost <= self.limits.cost
        return self.limits.degree is None and rate > 1

    def _costs(self) -> list[int]:
        graph = adjacency(self.instance.num_nodes, self.overlay().edges)
        trees = relay_trees(graph, self.instance.topic_offsets, self.instance.topic_nodes)
        return [int(relays) for relays in trees.relays]

    def _connect(self, t: int) -> None:
        """Connect a topic by edges of Greedy Merge's overlay, all of them or none."""
        most = self.limits.most_edges
        if most is not None and len(self.edges) + self.missing[t] > most:
            return
        cap, used = self.limits.most_degree, dict[int, int]()
        root: dict[int, int] = {}

        def find(v: int) -> int:
            x = _root(self.root, self.position[v][t])
            while x in root:
                x = root[x]
            return x

        chosen = []
        for u, v in sorted(self.of_topic[t], key=lambda edge: -self._joins(*edge)):
            a, b = find(u), find(v)
            if a == b or (cap is not None and max(self.degrees[w] + used.get(w, 0) for w in (u, v)) >= cap):
                continue
            root[a] = b
            used[u], used[v] = used.get(u, 0) + 1, used.get(v, 0) + 1
            chosen.append((u, v))
        if len(chosen) == self.missing[t]:
            for u, v in chosen:
                self._add(u, v)

    def _star(self) -> Iterable[Edge] | None:
        cap = self.limits.most_degree
        if cap is not None and self.limits.largest_component - 1 > cap:
            return None
        return star(self.instance)

    def _forest(self) -> Iterable[Edge] | None:
        """A spanning forest of Greedy Merge's overlay of most common topics that keeps the degrees, then completed."""
        root, degrees = list(range(self.instance.num_nodes)), [0] * self.instance.num_nodes
        cap = self.limits.most_degree

        tree: list[Edge] = []

        def link(u: int, v: int) -> None:
            root[_root(root, u)] = _root(root, v)
            tree.append((u, v))
            degrees[u] += 1
            degrees[v] += 1

        for u, v in sorted(map(tuple, self.gm.edges.tolist()), key=lambda edge: -len(self._common(*edge))):
            if _root(root, u) != _root(root, v) and (cap is None or max(degrees[u], degrees[v]) < cap):
                link(u, v)
        if cap is None:
            return tree
        open_ends: dict[int, int] = {}  # of each component by topics, a node with a degree to spare in the tree so far
        parts: dict[int, list[int]] = {}
        for v in range(len(root)):
            parts.setdefault(_root(root, v), []).append(v)
        component = components_by_topic(self.instance).tolist()
        for part in parts.values():
            c = component[part[0]]
            ends = sorted((v for v in part if degrees[v] < cap), key=degrees.__getitem__)
            if c in open_ends and (not ends or degrees[open_ends[c]] >= cap):
                return None
            if c in open_ends:
                link(open_ends[c], ends[0])
            spare = [v for v in (*ends, open_ends.get(c, -1)) if v >= 0 and degrees[v] < cap]
            if spare:
                open_ends[c] = min(spare, key=degrees.__getitem__)
            elif c not in open_ends:
                open_ends[c] = part[0]
        return tree

    def _common(self, u: int, v: int) -> set[int]:
        return self.position[u].keys() & self.position[v].keys()

    def _joins(self, u: int, v: int) -> int:
        """The topics, still to be connected, of which the edge joins two components."""
        return sum(
            _root(self.root, self.position[u][t]) != _root(self.root, self.position[v][t])
            for t in self._common(u, v)
            if self.missing[t]
        )

    def _add(self, u: int, v: int) -> None:
        edge = (u, v) if u < v else (v, u)
        if edge in self.edges:
            return
        self.edges[edge] = None
        self.degrees[u] += 1
        self.degrees[v] += 1
        for t in self._common(u, v):
            a, b = _root(self.root, self.position[u][t]), _root(self.root, self.position[v][t])
            if a != b:
                self.root[a] = b
                self.missing[t] -= 1


def _root(parent: list[int], x: int) -> int:
    """The representative of a component, with path halving."""
    while parent[x] != x:
        parent[x] = x = parent[parent[x]]
    return x


EDGE_INSERTION = Method(
    name="edge-insertion",
    problems=("filtering",),
    summary="from a spanning tree, connect topics by Greedy Merge's edges, those with fewest edges a relay first",
    source="none; P1 §9 states the problem",
    guarantee="with a star as tree no topic costs more than one relay; a limit on edges is met wherever one can be",
    cost="Greedy Merge's and O(|T| (|V| + |E| log |E|))",
    solve=edge_insertion,
    options=(TREE,),
    compiled=True,
    pace=100,
    colour="#009E73",
    marker="p",
)
