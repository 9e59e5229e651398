"""Greedy methods under every way to break ties, by kernels: the methods themselves, edge by edge, on every instance."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import overlaybench as ob
from overlaybench.compare.atlas.every_instance import instance_of, instances, members_of
from overlaybench.compare.atlas.every_tie import (
    BEST_TIES,
    MEASURES,
    WORST_TIES,
    TieValues,
    values_under_ties,
)
from overlaybench.heuristics.topics.tie_breaking.tie_search import GreedySteps, SolveUnderTies, State
from overlaybench.instances.contract.catalogue import methods_of
from tests.compare.conftest import slow
from tests.outcomes import answer_of

METHODS = {method.name: method for method in methods_of("overlaybench.heuristics.topics") if method.rule is not None}
GREEDY = [name for name, method in METHODS.items() if isinstance(method.solve, SolveUnderTies)]
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in GREEDY),
    ("low-oda", {"k": 1.0}),
    ("low-oda", {"k": 1.5}),
]


def rows_of(nodes: int, topics: int) -> npt.NDArray[np.uint8]:
    return np.concatenate(list(instances(nodes, topics)))


def made_of(name: str, nodes: int, rows: npt.NDArray[np.uint8], options: dict[str, Any]) -> tuple[Any, TieValues]:
    method = METHODS[name]
    given = {key: value for key, value in method.complete(options, "min-tco").items() if key != "ties"}
    assert method.rule is not None
    return given, values_under_ties(nodes, rows, method.rule(**given))


def edges_of(graph: int, nodes: int) -> list[list[int]]:
    return [list(pair) for bit, pair in enumerate(combinations(range(nodes), 2)) if graph >> bit & 1]


def value(edges: list[list[int]]) -> dict[str, int]:
    ends = [v for edge in edges for v in edge]
    degree = max(map(ends.count, ends), default=0)
    return dict(zip(MEASURES, (len(edges), degree, len(edges) * degree), strict=True))


def ends_of(steps: GreedySteps, state: State) -> Iterator[tuple[Fraction, State]]:
    """Every end that choices lead to, with the probability of these choices."""
    candidates = steps.candidates(state)
    if not candidates:
        yield Fraction(1), state
    for choice in candidates:
        for chance, end in ends_of(steps, steps.after(state, choice)):
            yield chance / len(candidates), end


@pytest.mark.parametrize(("nodes", "topics"), [(2, 2), (4, 3), *(slow(5, t) for t in range(1, 6))])
@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_the_overlays_are_those_of_the_methods_on_every_instance(
    name: str, options: dict[str, Any], nodes: int, topics: int
) -> None:
    rows = rows_of(nodes, topics)
    given, found = made_of(name, nodes, rows, options)
    for row, graphs, values in zip(rows, found.graphs, found.values, strict=True):
        made = instance_of(nodes, members_of(nodes, row))
        for rule, (ties, graph) in enumerate(zip(("lowest", "highest"), graphs.tolist(), strict=True)):
            built = answer_of(METHODS[name].run(made, ob.PROBLEMS["min-tco"], ties=ties, **given)).edges.tolist()
            assert built == edges_of(graph, nodes), (name, options, members_of(nodes, row), ties)
            assert values[rule].tolist() == list(value(built).values())


@pytest.mark.parametrize(("nodes", "topics", "every"), [(4, 3, 3), slow(5, 4, 30)])
@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_worst_best_and_mean_are_those_over_all_choices(
    name: str, options: dict[str, Any], nodes: int, topics: int, every: int
) -> None:
    rows = rows_of(nodes, topics)[::every].copy()  # kernels are compiled for contiguous rows
    given, found = made_of(name, nodes, rows, options)
    solve = METHODS[name].solve
    assert isinstance(solve, SolveUnderTies)
    for row, values, means in zip(rows, found.values, found.means, strict=True):
        steps = solve.steps(instance_of(nodes, members_of(nodes, row)), **given)
        ends = [(chance, value([list(e) for e in steps.edges_of(s)])) for chance, s in ends_of(steps, steps.start())]
        for measure, worst, best, mean in zip(MEASURES, values[WORST_TIES], values[BEST_TIES], means, strict=True):
            assert worst == max(end[measure] for _, end in ends)
            assert best == min(end[measure] for _, end in ends)
            assert mean == pytest.approx(float(sum(chance * end[measure] for chance, end in ends)), rel=1e-12)


def test_rings_are_those_of_the_method_and_worst_and_best_are_over_all_orders() -> None:
    rows = rows_of(4, 3)
    _, found = made_of("ring-per-topic", 4, rows, {})
    for row, graphs, values, means in zip(rows, found.graphs, found.values, found.means, strict=True):
        topics = members_of(4, row)
        rings = []
        for order in permutations(range(4)):
            renamed = instance_of(4, [[order[v] for v in members] for members in topics])
            built = answer_of(METHODS["ring-per-topic"].run(renamed, ob.PROBLEMS["min-tco"])).edges.tolist()
            rings.append(value(built))
            if order == (0, 1, 2, 3):
                assert built == edges_of(graphs[0], 4) == edges_of(graphs[1], 4)
        for measure, worst, best, mean in zip(MEASURES, values[WORST_TIES], values[BEST_TIES], means, strict=True):
            over_all = [ring[measure] for ring in rings]
            assert (worst, best) == (max(over_all), min(over_all))
            assert mean == pytest.approx(sum(over_all) / len(over_all))
