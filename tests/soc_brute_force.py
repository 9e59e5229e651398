"""The optimum of every SOC problem on named functions, by enumeration of all graphs on at most 6 nodes.

Independent of the judges and of the methods: filtering costs from the connected induced subgraphs that contain a
topic's subscribers, distances from powers of reachability.
"""

import math
from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from overlaybench.instances.topics.instance import TopicInstance
from tests.topic_brute_force import AllGraphs, all_graphs, members_of_topics

Reals = npt.NDArray[np.float64]


@cache
def relays(n: int, members: tuple[int, ...]) -> Reals:
    """For every graph the fewest further nodes that connect the members; infinite where none do."""
    graphs = all_graphs(n)
    fewest = np.full(len(graphs.masks), np.inf)
    others = [v for v in range(n) if v not in members]
    for count in range(len(others), -1, -1):
        for chosen in combinations(others, count):
            fewest[graphs.connects(tuple(sorted((*members, *chosen))))] = count
    return fewest


@cache
def distances(n: int) -> dict[tuple[int, int], Reals]:
    """For every graph the distance of each pair."""
    graphs: AllGraphs = all_graphs(n)
    found = {pair: np.full(len(graphs.masks), np.inf) for pair in graphs.pairs}
    for start in range(n):
        reached = {v: np.full(len(graphs.masks), v == start) for v in range(n)}
        for hops in range(1, n):
            reached = {
                v: np.logical_or.reduce([reached[v], *(reached[w] & graphs.has[v, w] for w in range(n) if w != v)])
                for v in range(n)
            }
            for v in range(start + 1, n):
                array = found[start, v]
                array[reached[v] & np.isinf(array)] = hops
    return found


def functions(instance: TopicInstance) -> dict[str, Reals]:
    """δ and ρ of every graph on the nodes of an instance, by name."""
    n, topics = instance.num_nodes, members_of_topics(instance)
    graphs = all_graphs(n)
    nothing = np.zeros(len(graphs.masks))
    diameters = [
        np.max([nothing, *(distances(n)[pair] for pair in combinations(members, 2))], axis=0) for members in topics
    ]
    return {
        "edges": graphs.edges.astype(float),
        "max-degree": graphs.max_degree.astype(float),
        "average-degree": 2 * graphs.edges / n,
        "filtering": np.sum([relays(n, members) for members in topics], axis=0),
        "topic-diameter": np.max(diameters, axis=0),
        "average-topic-diameter": np.mean(diameters, axis=0),
    }


def optimum(instance: TopicInstance, degree: str, routing: str, most_degree: float, most_cost: float) -> float:
    """The least δ under a finite limit on ρ, ρ under one on δ, or δ + ρ under none; infinite if nothing is valid."""
    of = functions(instance)
    valid = (of[degree] <= most_degree + 1e-9) & (of[routing] <= most_cost + 1e-9) & np.isfinite(of[routing])
    worth = of[routing] if math.isfinite(most_degree) else of[degree] if math.isfinite(most_cost) else None
    total: Reals = of[degree] + of[routing] if worth is None else worth
    return float(total[valid].min(initial=math.inf))


def pareto_front(instance: TopicInstance, degree: str, routing: str) -> list[tuple[float, float]]:
    """The Pareto front of (δ, ρ), by rising δ."""
    of = functions(instance)
    front: list[tuple[float, float]] = []
    for most in np.unique(of[degree]):
        cost = float(of[routing][of[degree] <= most].min())
        if math.isfinite(cost) and (not front or cost < front[-1][1]):
            front.append((float(most), cost))
    return front
