"""The optimum of every topic problem by enumeration of all graphs on at most 6 nodes.

Independent of the problems and methods of the package: the graphs on n nodes are the bit masks 0 … 2^(n(n-1)/2) − 1,
and a property of them is an array over the masks.
"""

from collections.abc import Callable
from functools import cache
from itertools import combinations
from math import isqrt

import numpy as np
import numpy.typing as npt

from overlaybench.instances.topics.instance import TopicInstance

MOST_NODES = 6
Flags = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]
Rule = Callable[[tuple[int, ...]], Flags]


class AllGraphs:
    """Every graph on n nodes."""

    def __init__(self, n: int) -> None:
        assert n <= MOST_NODES
        self.n = n
        self.pairs = list(combinations(range(n), 2))
        self.masks = np.arange(2 ** len(self.pairs))
        bits = [self.masks >> index & 1 for index in range(len(self.pairs))]
        self.has: dict[tuple[int, int], Flags] = {}
        for pair, bit in zip(self.pairs, bits, strict=True):
            self.has[pair] = self.has[pair[::-1]] = bit.astype(bool)
        nothing = np.zeros(len(self.masks), dtype=int)
        self.edges: Counts = sum(bits, nothing)
        of_nodes = [sum((bits[i] for i, pair in enumerate(self.pairs) if v in pair), nothing) for v in range(n)]
        self.degrees: Counts = np.array(of_nodes)
        self.max_degree: Counts = self.degrees.max(axis=0)

    def connects(self, members: tuple[int, ...]) -> Flags:
        """Whether the graph induced on the members is connected."""
        return np.equal(self.components_of(members)[0], 1)

    def survives(self, members: tuple[int, ...]) -> Flags:
        """Whether the members stay connected when any one of them leaves; two need only be connected."""
        if len(members) < 3:
            return self.connects(members)
        rest = [self.connects(tuple(v for v in members if v != left)) for left in members]
        return np.asarray(np.all(rest, axis=0))

    @cache  # noqa: B019, there are six of these objects
    def components_of(self, members: tuple[int, ...]) -> tuple[Counts, Counts]:
        """The number of components of the graph induced on the members, and the size of the largest."""
        near = {(u, v): self.has[u, v] if u != v else np.full(len(self.masks), True) for u in members for v in members}
        for w in members:
            for u in members:
                for v in members:
                    near[u, v] = near[u, v] | (near[u, w] & near[w, v])
        first = [~np.any([near[u, v] for u in members if u < v] or [near[v, v] & False], axis=0) for v in members]
        sizes = [np.sum([near[u, v] for v in members], axis=0) for u in members]
        return np.sum(first, axis=0), np.max(sizes, axis=0)

    def serve(self, problem: str, members: tuple[int, ...]) -> Flags:
        """Whether the graphs are what a problem wants of a topic."""
        rules: dict[str, Rule] = {
            "2d-star": self.has_star_on,
            "2d-true": self.brings_within_two,
            "k-tco": self.survives,
        }
        return rules.get(problem, self.connects)(members)

    def within(self, caps: tuple[int, ...], most_edges: int) -> Flags:
        """Whether no degree is above its cap and there are at most so many edges."""
        fits = np.asarray((self.degrees <= np.array(caps)[:, None]).all(axis=0))
        return fits & (self.edges <= most_edges)

    @cache  # noqa: B019
    def has_star_on(self, members: tuple[int, ...]) -> Flags:
        every = np.full(len(self.masks), True)
        stars = [np.all([every, *(self.has[v, w] for w in members if w != v)], axis=0) for v in members]
        return np.asarray(np.any(stars, axis=0))

    @cache  # noqa: B019
    def brings_within_two(self, members: tuple[int, ...]) -> Flags:
        """Whether the graph induced on the members has diameter at most 2."""
        near = np.full(len(self.masks), True)
        for u, v in combinations(members, 2):
            between = [self.has[u, w] & self.has[w, v] for w in members if w not in (u, v)]
            near &= np.any([self.has[u, v], *between], axis=0)
        return near


@cache
def all_graphs(n: int) -> AllGraphs:
    return AllGraphs(n)


def members_of_topics(instance: TopicInstance) -> list[tuple[int, ...]]:
    return [
        tuple(v for v in range(instance.num_nodes) if t in instance.topics_of(v)) for t in range(instance.num_topics)
    ]


def optimum(instance: TopicInstance, problem: str) -> int:
    """The least value of any overlay."""
    values, valid = values_and_validity(instance, problem)
    return int(values[valid].min())


def values_and_validity(instance: TopicInstance, problem: str) -> tuple[Counts, Flags]:
    """The value of every graph, and whether it is an overlay of the problem."""
    graphs = all_graphs(instance.num_nodes)
    valid = np.full(len(graphs.masks), True)
    for members in members_of_topics(instance):
        valid &= graphs.serve(problem, members)
    if problem == "weighted-tco":
        return _paid(instance, graphs), valid
    worth = {"minmax-tco": graphs.max_degree, "low-tco": graphs.edges * graphs.max_degree}
    return worth.get(problem, graphs.edges), valid


def connected(instance: TopicInstance) -> Flags:
    """Whether every graph connects each topic."""
    return values_and_validity(instance, "min-tco")[1]


def degree_limited(
    instance: TopicInstance, measure: str, caps: tuple[int, ...], most_edges: int
) -> tuple[Counts, Flags]:
    """As :func:`values_and_validity` under a limit on degrees: what is missing by a measure, or "edges" if nothing."""
    graphs = all_graphs(instance.num_nodes)
    valid = graphs.within(caps, most_edges)
    missing = np.zeros(len(graphs.masks), dtype=int)
    for members in members_of_topics(instance):
        parts, largest = graphs.components_of(members)
        if measure == "edges":
            valid = valid & (parts == 1)
        else:
            of = {"topics": parts > 1, "components": parts - 1, "subscribers": len(members) - largest}
            missing = missing + of[measure]
    return graphs.edges if measure == "edges" else missing, valid


def _paid(instance: TopicInstance, graphs: AllGraphs) -> Counts:
    """The total cost of the edges of every graph."""
    total = np.zeros(len(graphs.masks), dtype=np.int64)
    for u, v in graphs.pairs:
        total += graphs.has[u, v] * cost_between(instance, u, v)
    return total


def cost_between(instance: TopicInstance, u: int, v: int) -> int:
    """The cost of an edge by its definition: a table's entry, or a distance rounded to the nearest integer."""
    costs = instance.costs
    if costs is None:
        return 1
    if len(costs.sites):
        return int(costs.table[costs.sites[u], costs.sites[v]])
    squared = sum((int(a) - int(b)) ** 2 for a, b in zip(costs.points[u], costs.points[v], strict=True))
    return max(1, (isqrt(4 * squared) + 1) // 2)


def pareto_front(instance: TopicInstance) -> list[tuple[int, int]]:
    """The Pareto front of (edges, maximum degree), by ascending degree."""
    graphs, valid = all_graphs(instance.num_nodes), connected(instance)
    front: list[tuple[int, int]] = []
    for degree in range(instance.num_nodes):
        edges = graphs.edges[valid & (graphs.max_degree <= degree)]
        if len(edges) and (not front or edges.min() < front[-1][0]):
            front.append((int(edges.min()), degree))
    return front
