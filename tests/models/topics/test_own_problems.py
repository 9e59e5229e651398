"""Problems of others: what their objective states is all that exact methods, bounds and searches need."""

import math
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import overlaybench as ob
from overlaybench.compare.studies.proofs import checked_proof
from overlaybench.instances.topics.problems import TopicProblem
from overlaybench.models.topics.relaxation.topic_rows import CandidateEdges, all_pairs, edge_rows
from tests.models.checker.tiny import read_lines, write_lines

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


TRIANGLES = """
from cases import need
from topics import TopicRules


class Triangles(TopicRules):
    problems = ("owned",)

    def holds(self, pairs, least):
        return least == -2 and len(pairs) == 3 == len({v for pair in pairs for v in pair}) and {*pairs.values()} == {-1}

    def value(self, answer):
        edges = {(u, v) for u, v in answer}
        need(not any((u, v) in edges for u, w in edges for x, v in edges if w == x), "a triangle")
        return super().value(answer)
"""


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
def test_the_exact_method_proves_the_optimum_of_all_graphs(stated: dict[str, Any], tmp_path: Path) -> None:
    if "separator" in stated:
        (tmp_path / "triangles.py").write_text(TRIANGLES)
        stated = {**stated, "checked_by": tmp_path / "triangles.py"}
    problem, statuses = Owned(**stated), set()
    for seed, topics in ((1, 3), (2, 4), (5, 6)):
        instance = ob.generate("uniform", nodes=5, topics=topics, subscriptions=2, seed=seed)
        optimum = least(instance, problem)
        for name in METHODS:
            given: dict[str, Any] = {"proof": tmp_path / f"{seed}.gz"} if name == "branch-and-cut" else {}
            result = ob.solve(instance, problem, name, time_limit=0.2 if name == "best" else 30, **given)
            bound = -math.inf if result.lower_bound is None else result.lower_bound
            assert bound <= optimum <= (math.inf if result.value is None else result.value), (name, seed)
            if name == "branch-and-cut":
                infeasible = result.status is ob.Status.INFEASIBLE
                assert infeasible == math.isinf(optimum)
                assert infeasible or (result.status, result.value) == (ob.Status.OPTIMAL, optimum)
                statuses.add(result.status)
                proven = f"proven: owned {optimum:g} is optimal"
                assert infeasible or checked_proof(instance, problem, given["proof"], 1).sentence == proven
    assert ob.Status.OPTIMAL in statuses


def test_a_proof_of_another_statement_or_row_is_refused(tmp_path: Path) -> None:
    instance = ob.TopicInstance.from_subscriptions({v: ["t"] for v in "abcd"})
    proof, rules = tmp_path / "p.gz", tmp_path / "rules.py"
    rules.write_text(TRIANGLES)
    capped, open_ = Owned(cap=2), Owned(separator=no_triangle, checked_by=rules)
    ob.solve(instance, capped, "branch-and-cut", proof=proof)
    assert (
        checked_proof(instance, Owned(cap=3), proof, 1).sentence
        == "wrong: the proof states another problem of this name"
    )
    assert "not checked" in checked_proof(instance, Owned(separator=no_triangle), proof, 1).sentence
    head, *lines, _ = read_lines(proof)
    star = [["claim", None, [[0, 1], [0, 2], [0, 3]]]]
    write_lines(proof, [head, *lines, *star])
    assert "too many neighbours" in checked_proof(instance, capped, proof, 1).sentence
    del head[1]["cap"]
    write_lines(proof, [head, ["case", {"cap": 2}], *lines[1:], *star])
    assert "is at least 0" in checked_proof(instance, open_, proof, 1).sentence
    for labels, said in (([-2, 0, 1, -1, 1, 2, -1, 0, 2, -1], "proven"), ([-1, 0, 1, -1, 1, 2, -1, 0, 2, -1], "hold")):
        write_lines(proof, [head, ["case", {"cap": None}], ["row", "edges", -1, labels], ["end", None], *star])
        assert said in checked_proof(instance, open_, proof, 1).sentence
    write_lines(proof, [head, *lines, ["claim", None, [[0, 1], [1, 2], [0, 2], [2, 3]]]])
    assert "a triangle" in checked_proof(instance, open_, proof, 1).sentence


def test_a_pair_without_a_common_topic_in_a_row_is_bad_input() -> None:
    apart = ob.TopicInstance.from_subscriptions({"a": ["s"], "b": ["s", "t"], "c": ["t", "u"], "d": ["u"]})
    edges = CandidateEdges(apart, all_pairs(apart))
    with pytest.raises(ob.BadInput, match=r"pair \(0, 2\)"):
        edge_rows(edges, np.zeros(len(edges)), [ob.EdgeRow({(0, 2): 1}, 1)], 0.0)


@pytest.mark.parametrize("stated", [{"first": "degree", "cap": 2}, {"rule": "star", "cap": 2}, {"first": "length"}])
def test_an_objective_that_no_method_can_lower_is_refused(stated: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"cap|one of"):
        ob.Objective(**stated)
