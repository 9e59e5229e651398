"""The filtering problems of P1 §9: take edges out of an overlay by price, or connect topic after topic of a tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.contract.arrays import Ids, Offsets
from ...instances.contract.method import Method, Proposal
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Status
from ...instances.limits.soc import as_soc
from ...instances.runtime.compiled import kernel
from ...instances.runtime.run import Clock, offer
from ...instances.topics.instance import TopicInstance
from ...instances.topics.problems import AnyTopicProblem
from ..graph import Graph, graph_of, root_of
from ..topics.greedy_merge import greedy_merge
from ..topics.kernels.interest import contribution, join, singletons
from ..topics.merge.minmax_oda import minmax_oda
from .limits import DegreeLimits, components_by_topic, limits_of, offer_star, star

Edges = npt.NDArray[np.int32]
_FEW_EDGES, _SHARE, _MOST_REFUSED = 400, 0.02, 40


def edge_removal(
    instance: TopicInstance, problem: AnyTopicProblem, *, seed: int, time_limit: float | None
) -> Proposal[Overlay]:
    """Greedy Merge's overlay less the edges whose removal adds fewest relays; MinMax-ODA's for the maximum degree.

    Equal prices are broken by the number of trees that use an edge, then by its number. The run ends at the time limit,
    and fails where a maximum degree cannot be met by removal. Counter ``rounds``: how often prices were computed.

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
    >>> edge_removal(instance, problem, seed=0, time_limit=None).answer.edges.tolist()
    [[0, 1], [0, 2]]
    """
    limits, clock = limits_of(as_soc(problem), instance), Clock(time_limit)
    first = minmax_oda(instance) if limits.counts_max_degree else greedy_merge(instance)
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
    def __init__(self, instance: TopicInstance, limits: DegreeLimits, clock: Clock, start: Overlay) -> None:
        self.instance, self.limits, self.clock, self.rounds = instance, limits, clock, 0
        self.state = self._state(start.edges)
        self.kept: list[tuple[float, Edges]] = []

    def _state(self, edges: Edges) -> _State:
        self.rounds += 1
        graph = graph_of(self.instance.num_nodes, edges)
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
    compiled=True,
    pace=200,
)


Edge = tuple[int, int]
_TREES = ("star", "common-topics")
_MOST_TRIES, _LOWER = 6, 0.8


def edge_insertion(
    instance: TopicInstance, problem: AnyTopicProblem, *, seed: int, time_limit: float | None
) -> Proposal[Overlay]:
    """A spanning tree, and edges of Greedy Merge's overlay that connect topics without relays.

    The tree is a star on each component of the relation "a common topic", around a node of most topics: then a topic
    costs one relay or none. Or it is a spanning forest of Greedy Merge's overlay of most common topics, with no degree
    above the limit. As long as the limits allow, the topic with fewest missing edges for each of its relays is
    connected by Greedy Merge's edges, those first that join most topics still to be connected. The better of the two
    is returned.

    Ties are broken by number. The run ends at the time limit, with no further topic connected, and fails where the
    limits are not met. Counter ``tree``: the one that was better.

    Notes
    -----
    P1 (Chockler, Melamed, Tock and Vitenberg 2007) §9 states the problem; the algorithm was designed here. The cost of
    Greedy Merge and O(|T| (|V| + |E| log |E|)).

    Examples
    --------
    >>> from overlaybench.instances.contract.catalogue import PROBLEMS
    >>> instance = TopicInstance.from_subscriptions({"x": ["a", "b"], "y": ["b", "c"], "z": ["c", "a"]})
    >>> problem = PROBLEMS["filtering@edges=2"]
    >>> edge_insertion(instance, problem, seed=0, time_limit=None).answer.edges.tolist()
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
    for shape in _TREES:
        overlay = _inserted(instance, limits, gm, shape, clock)
        if overlay is not None:
            found.append((problem.value(instance, overlay), shape, overlay))
            offer(overlay)
    if not found:
        return Proposal(status=Status.FAILED, reason="no tree meets the limits")
    _, shape, overlay = min(found, key=lambda each: each[0])
    return Proposal(overlay, counters={"tree": shape})


def _inserted(instance: TopicInstance, limits: DegreeLimits, gm: Overlay, shape: str, clock: Clock) -> Overlay | None:
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


class _Insertion:
    """The overlay so far, and the components of each topic in it.

    `missing` has for each topic the number of its components less one, and `relays` those of its tree when insertion
    began.
    """

    def __init__(self, instance: TopicInstance, limits: DegreeLimits, gm: Overlay) -> None:
        self.instance, self.limits, self.gm = instance, limits, gm
        self.edges: dict[Edge, None] = {}
        self.components, self.degrees = singletons(instance), [0] * instance.num_nodes
        self.of_topic: list[list[Edge]] = [[] for _ in range(instance.num_topics)]
        for u, v in gm.edges.tolist():
            for t in self._common(u, v):
                self.of_topic[t].append((u, v))
        self._count_missing()

    def start(self, shape: str) -> bool:
        """Add the first tree; False if no such tree keeps the degrees."""
        tree = self._star() if shape == "star" else self._forest()
        if tree is not None:
            self._add(tree)
            self.relays = self._costs()
        return tree is not None

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
        graph = graph_of(self.instance.num_nodes, self.overlay().edges)
        trees = relay_trees(graph, self.instance.topic_offsets, self.instance.topic_nodes)
        return [int(relays) for relays in trees.relays]

    def _connect(self, t: int) -> None:
        """Connect a topic by edges of Greedy Merge's overlay, all of them or none."""
        from scipy.cluster.hierarchy import DisjointSet

        most, cap, c = self.limits.most_edges, self.limits.most_degree, self.components
        if most is not None and len(self.edges) + self.missing[t] > most:
            return
        labels = c.label[c.topic_offsets[t] : c.topic_offsets[t + 1]].tolist()
        label_of, united = dict(zip(self.instance.subscribers(t).tolist(), labels, strict=True)), DisjointSet(labels)
        chosen, used = list[Edge](), Counter[int]()
        for u, v in sorted(self.of_topic[t], key=lambda edge: -contribution(edge[0], edge[1], c, c.label)):
            if united.connected(label_of[u], label_of[v]):
                continue
            if cap is None or max(self.degrees[w] + used[w] for w in (u, v)) < cap:
                united.merge(label_of[u], label_of[v])
                used.update((u, v))
                chosen.append((u, v))
        if len(chosen) == self.missing[t]:
            self._add(chosen)

    def _star(self) -> Iterable[Edge] | None:
        cap = self.limits.most_degree
        return None if cap is not None and self.limits.largest_component - 1 > cap else star(self.instance)

    def _forest(self) -> Iterable[Edge] | None:
        """A spanning forest of Greedy Merge's overlay of most common topics that keeps the degrees, then completed."""
        from scipy.cluster.hierarchy import DisjointSet

        n, cap = self.instance.num_nodes, self.limits.most_degree
        united, degrees, tree = DisjointSet(range(n)), [0] * n, list[Edge]()

        def link(u: int, v: int) -> None:
            united.merge(u, v)
            tree.append((u, v))
            degrees[u] += 1
            degrees[v] += 1

        for u, v in sorted(map(tuple, self.gm.edges.tolist()), key=lambda edge: -len(self._common(*edge))):
            if not united.connected(u, v) and (cap is None or max(degrees[u], degrees[v]) < cap):
                link(u, v)
        if cap is None:
            return tree
        open_ends: dict[int, int] = {}  # of each component by topics, a node with a degree to spare in the tree so far
        component = components_by_topic(self.instance).tolist()
        for part in map(sorted, united.subsets()):
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

    def _common(self, u: int, v: int) -> list[int]:
        topics: list[int] = np.intersect1d(self.instance.topics_of(u), self.instance.topics_of(v)).tolist()
        return topics

    def _add(self, edges: Iterable[Edge]) -> None:
        for u, v in edges:
            edge = (u, v) if u < v else (v, u)
            if edge not in self.edges:
                self.edges[edge] = None
                self.degrees[u] += 1
                self.degrees[v] += 1
                join(u, v, self.components)
        self._count_missing()

    def _count_missing(self) -> None:
        # A component's label is the position of one of its members, and no other component's.
        first = self.components.label == np.arange(len(self.components.label))
        self.missing: list[int] = (np.add.reduceat(first, self.components.topic_offsets[:-1], dtype=int) - 1).tolist()


EDGE_INSERTION = Method(
    name="edge-insertion",
    problems=("filtering",),
    summary="from a spanning tree, connect topics by Greedy Merge's edges, those with fewest edges a relay first",
    source="none; P1 §9 states the problem",
    guarantee="with a star as tree no topic costs more than one relay; a limit on edges is met wherever one can be",
    cost="Greedy Merge's and O(|T| (|V| + |E| log |E|))",
    solve=edge_insertion,
    compiled=True,
    pace=100,
)


Counts = npt.NDArray[np.int64]


class RelayTrees(NamedTuple):
    """What the trees of all topics cost and use.

    `relays` has one number a topic, -1 where the overlay does not connect it; `uses` and `prices` one an edge: the
    trees that use it, and the relays that its removal adds, |V| for each topic that then has no other link.
    """

    relays: Counts
    uses: Counts
    prices: Counts


@kernel
def relay_trees(graph: Graph, topic_offsets: Offsets, topic_nodes: Ids) -> RelayTrees:
    """For each topic a tree over the overlay that connects its subscribers with few relays, and the prices of edges.

    A tree is a minimum spanning tree of the shortest paths between neighbouring subscribers (Mehlhorn 1988), where the
    length of a path is its number of relays. An edge's price is an estimate of the relays that its removal adds: for
    each topic whose tree uses it, the cheapest other link between the two parts of the tree.

    Cost O(|T| (|V| + |E| log |E|)), memory O(|V| + |E|).
    """
    num_topics = len(topic_offsets) - 1
    trees = RelayTrees(
        np.zeros(num_topics, np.int64), np.zeros(len(graph.u), np.int64), np.zeros(len(graph.u), np.int64)
    )
    for topic in range(num_topics):
        subscribers = topic_nodes[topic_offsets[topic] : topic_offsets[topic + 1]]
        if len(subscribers) > 1:
            _add_topic(topic, subscribers, graph, trees)
    return trees


@kernel
def _add_topic(topic: int, subscribers: Ids, graph: Graph, trees: RelayTrees) -> None:
    n = len(graph.offsets) - 1
    distance, base, via = _regions(subscribers, graph)
    links, lengths = _links(distance, base, graph)
    root = np.arange(n).astype(np.int32)
    chosen, others = np.empty(len(subscribers) - 1, np.int32), np.empty(len(links), np.int32)
    num_chosen, num_others = 0, 0
    for i in np.argsort(lengths, kind="mergesort"):
        a, b = root_of(root, base[graph.u[links[i]]]), root_of(root, base[graph.v[links[i]]])
        if a != b:
            root[a] = b
            chosen[num_chosen] = links[i]
            num_chosen += 1
        else:
            others[num_others] = links[i]
            num_others += 1
    if num_chosen < len(subscribers) - 1:
        trees.relays[topic] = -1
        return
    price = _replacements(subscribers, chosen, others[:num_others], distance, base, graph)
    counted = np.zeros(n, np.bool_)
    for i in range(num_chosen):
        trees.uses[chosen[i]] += 1
        trees.prices[chosen[i]] += price[i]
        for end in (graph.u[chosen[i]], graph.v[chosen[i]]):
            node = end
            while distance[node] > 0:
                edge = via[node]
                trees.relays[topic] += not counted[node]
                trees.uses[edge] += not counted[node]
                trees.prices[edge] += price[i]
                counted[node] = True
                node = graph.u[edge] + graph.v[edge] - node


@kernel
def _regions(subscribers: Ids, graph: Graph) -> tuple[Ids, Ids, Ids]:
    """For each node its hops to the nearest subscriber (-1 if unreached), which that is, and the edge towards it."""
    n = len(graph.offsets) - 1
    distance, base, via = np.full(n, -1, np.int32), np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    queue = np.empty(n, np.int32)
    queue[: len(subscribers)] = subscribers
    for node in subscribers:
        distance[node] = 0
        base[node] = node
    first, last = 0, len(subscribers)
    while first < last:
        node = queue[first]
        first += 1
        for i in range(graph.offsets[node], graph.offsets[node + 1]):
            other = graph.neighbour[i]
            if distance[other] < 0:
                distance[other], base[other], via[other] = distance[node] + 1, base[node], graph.edge[i]
                queue[last] = other
                last += 1
    return distance, base, via


@kernel
def _links(distance: Ids, base: Ids, graph: Graph) -> tuple[Ids, Ids]:
    """The edges between two regions, and the relays of the path through each."""
    links, lengths = np.empty(len(graph.u), np.int32), np.empty(len(graph.u), np.int32)
    count = 0
    for edge in range(len(graph.u)):
        a, b = base[graph.u[edge]], base[graph.v[edge]]
        if a >= 0 and a != b:
            links[count] = edge
            lengths[count] = distance[graph.u[edge]] + distance[graph.v[edge]]
            count += 1
    return links[:count], lengths[:count]


@kernel
def _replacements(
    subscribers: Ids, chosen: Ids, others: Ids, distance: Ids, base: Ids, graph: Graph
) -> npt.NDArray[np.int64]:
    """For each link of the tree the relays that the next best link adds; `others` come by rising length."""
    n = len(distance)
    price = np.full(len(chosen), n, np.int64)
    parent_link, depth = _rooted(subscribers[0], chosen, base, graph)
    top = np.arange(n).astype(np.int32)  # of each subscriber: its nearest ancestor below an uncovered link
    for link in others:
        a, b = root_of(top, base[graph.u[link]]), root_of(top, base[graph.v[link]])
        length = distance[graph.u[link]] + distance[graph.v[link]]
        while a != b:
            if depth[a] < depth[b]:
                a, b = b, a
            i = parent_link[a]
            covered = chosen[i]
            price[i] = length - distance[graph.u[covered]] - distance[graph.v[covered]]
            above = base[graph.u[covered]] if base[graph.v[covered]] == a else base[graph.v[covered]]
            top[a] = above
            a = root_of(top, above)
    return price


@kernel
def _rooted(start: int, chosen: Ids, base: Ids, graph: Graph) -> tuple[Ids, Ids]:
    """The tree of links from a subscriber: for each other one the index of the link above it, and its depth."""
    n = len(base)
    first, following = np.full(n, -1, np.int32), np.full(2 * len(chosen), -1, np.int32)
    for i in range(len(chosen)):
        for half, end in ((2 * i, base[graph.u[chosen[i]]]), (2 * i + 1, base[graph.v[chosen[i]]])):
            following[half] = first[end]
            first[end] = half
    parent_link, depth = np.full(n, -1, np.int32), np.zeros(n, np.int32)
    waiting = np.empty(len(chosen) + 1, np.int32)
    waiting[0] = start
    count = 1
    while count > 0:
        count -= 1
        node = waiting[count]
        half = first[node]
        while half >= 0:
            if half // 2 != parent_link[node]:
                link = chosen[half // 2]
                other = base[graph.v[link]] if half % 2 == 0 else base[graph.u[link]]
                parent_link[other], depth[other] = half // 2, depth[node] + 1
                waiting[count] = other
                count += 1
            half = following[half]
    return parent_link, depth
