"""Problems of others: what their objective states is all that exact methods, bounds and searches need."""

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import overlaybench as ob
from overlaybench.instances.topics.problems import TopicProblem
from overlaybench.models.topics.relaxation.topic_rows import CandidateEdges, all_pairs, edge_rows

METHODS = ("branch-and-cut", "best", "lp-bound")


class Owned(TopicProblem):
    """Fewest edges, or their cost, under what a test states."""

    summary, source, name = "a problem of others", "tests", "owned"

    def __init__(self, **stated: Any) -> None:
        self.objective = ob.Objective(starts=("min-tco",), **stated)

    def value(self, instance: ob.TopicInstance, answer: ob.Overlay) -> float:
        costs = self.objective.costs
        return answer.num_edges if costs is None else float(costs(instance).between(*answer.edges.T).sum())

    def violations(self, instance: ob.TopicInstance, answer: ob.Overlay) -> list[str]:
        edges, cap = set(map(tuple, answer.edges.tolist())), self.objective.cap
        over = [] if cap is None or answer.max_degree <= cap else ["a degree is too large"]
        closed = [] if self.objective.separator is None else [three for three in triangles(edges) if three <= edges]
        return [*super().violations(instance, answer), *over, *(f"triangle {sorted(three)}" for three in closed)]


def triangles(edges: Any) -> list[set[tuple[int, int]]]:
    nodes = sorted({v for edge in edges for v in edge})
    return [{(u, v), (v, w), (u, w)} for u, v, w in combinations(nodes, 3)]


def no_triangle(instance: ob.TopicInstance, pairs: Any, weights: Any) -> Iterator[ob.EdgeRow]:
    known = set(map(tuple, pairs.tolist()))
    return (ob.EdgeRow(dict.fromkeys(three, -1), -2) for three in triangles(known) if three <= known)


def on_a_line(instance: ob.TopicInstance) -> ob.LinkCosts:
    return ob.LinkCosts.plane([(7 * v % 5, 0) for v in range(instance.num_nodes)])


def least(instance: ob.TopicInstance, problem: Owned) -> float:
    """By all graphs on the nodes, each judged by the problem; infinite without a valid one."""
    pairs = list(combinations(range(instance.num_nodes), 2))
    graphs = ([pairs[p] for p in range(len(pairs)) if mask >> p & 1] for mask in range(1 << len(pairs)))
    overlays = (ob.Overlay.from_edges(instance.num_nodes, edges) for edges in graphs)
    valid = (each for each in overlays if not problem.violations(instance, each))
    return min((problem.value(instance, each) for each in valid), default=math.inf)


@pytest.mark.parametrize(
    "stated",
    [
        {"cap": 2},
        {"first": "cost", "costs": on_a_line},
        {"first": "cost", "costs": on_a_line, "cap": 3},
        {"separator": no_triangle},
        {"separator": no_triangle, "cap": 3},
    ],
)
def test_the_exact_method_proves_the_optimum_of_all_graphs(stated: dict[str, Any]) -> None:
    problem, statuses = Owned(**stated), set()
    for seed, topics in ((1, 3), (2, 4), (5, 6)):
        instance = ob.generate("uniform", nodes=5, topics=topics, subscriptions=2, seed=seed)
        optimum = least(instance, problem)
        for name in METHODS:
            result = ob.solve(instance, problem, name, time_limit=30)
            bound = -math.inf if result.lower_bound is None else result.lower_bound
            assert bound <= optimum <= (math.inf if result.value is None else result.value), (name, seed)
            if name == "branch-and-cut":
                infeasible = result.status is ob.Status.INFEASIBLE
                assert infeasible == math.isinf(optimum)
                assert infeasible or (result.status, result.value) == (ob.Status.OPTIMAL, optimum)
                statuses.add(result.status)
    assert ob.Status.OPTIMAL in statuses


def test_a_pair_without_a_common_topic_in_a_row_is_bad_input() -> None:
    apart = ob.TopicInstance.from_subscriptions({"a": ["s"], "b": ["s", "t"], "c": ["t", "u"], "d": ["u"]})
    edges = CandidateEdges(apart, all_pairs(apart))
    with pytest.raises(ob.BadInput, match=r"pair \(0, 2\)"):
        edge_rows(edges, np.zeros(len(edges)), [ob.EdgeRow({(0, 2): 1}, 1)], 0.0)


@pytest.mark.parametrize("stated", [{"first": "degree", "cap": 2}, {"rule": "star", "cap": 2}, {"first": "length"}])
def test_an_objective_that_no_method_can_lower_is_refused(stated: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"cap|one of"):
        ob.Objective(**stated)
