"""Cheapest Steiner trees: the published optima, the brute force, and every part of the proof."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import networkx as nx
import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.heuristics.graph import graph_of
from overlaybench.instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS, methods_of
from overlaybench.instances.runtime.run import Clock
from overlaybench.models.engine.minimum_cuts import minimum_cut, network_of
from overlaybench.models.steiner import branch_and_cut, reduction
from overlaybench.models.steiner.branch_and_cut import STEINER_BRANCH_AND_CUT, BoundReduction, steiner_branch_and_cut
from overlaybench.models.steiner.directed_cuts import DirectedCuts, dual_ascent, least_through
from overlaybench.models.steiner.reduction import Reduction
from tests.outcomes import BoundLog, bound_of, value_of
from tests.properties import property_test
from tests.steiner_brute_force import hypercube, least_cost, least_cost_by_sets, small_graph, street_grid

pytestmark = pytest.mark.interpreted

STEINER_HEURISTICS = methods_of("overlaybench.heuristics.steiner")

STEINER = PROBLEMS["steiner"]
STEINLIB = Path(__file__).parents[3].parent / "shared" / "data" / "steinlib"
PUBLISHED = {"b01": 82, "b02": 83, "b03": 138, "b04": 59, "b05": 61, "b06": 122, "b07": 111, "b08": 104, "b09": 220}
SEEDS = st.integers(0, 10**9)


@pytest.mark.skipif(not STEINLIB.is_dir(), reason="the SteinLib data is not beside the repository")
@pytest.mark.parametrize("presolve", [True, False])
@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_optima_of_steinlib_are_proven(name: str, presolve: bool) -> None:
    result = STEINER_BRANCH_AND_CUT.run(
        KINDS["steiner"].read(STEINLIB / f"{name}.stp", {}).instance, STEINER, presolve=presolve
    )
    assert (result.status, result.value) == (ob.Status.OPTIMAL, PUBLISHED[name])


@pytest.fixture
def lp_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search over sets of terminals gives up at once."""
    monkeypatch.setattr(branch_and_cut, "_SEARCHES", ((10, -1),))


@property_test(200, SEEDS, st.booleans(), st.sampled_from([("_SEARCHES", ((10, -1),)), ("_FEW_STARTS", 4)]))
def test_the_optimum_is_the_brute_forces(seed: int, presolve: bool, constant: tuple[str, Any]) -> None:
    instance = small_graph(seed)
    with patch.object(branch_and_cut, *constant):
        result = STEINER_BRANCH_AND_CUT.run(instance, STEINER, presolve=presolve)
    expected = least_cost(instance)
    assert result.value == expected
    assert result.status is (ob.Status.INFEASIBLE if expected is None else ob.Status.OPTIMAL)


@property_test(100, SEEDS)
def test_heuristics_stay_within_their_guarantee(seed: int) -> None:
    instance = small_graph(seed)
    least = least_cost(instance)
    for method in STEINER_HEURISTICS:
        result = method.run(instance, STEINER)
        if least is None:
            assert result.status is ob.Status.INFEASIBLE
        else:
            assert least <= value_of(result) <= 2 * (1 - 1 / instance.num_terminals) * least + 1e-9


ALONE: dict[str, Callable[[Any], object]] = {
    "degree": lambda work: reduction.by_degree(work, np.arange(len(work.first))),
    "bottleneck": lambda work: reduction.by_bottleneck(work, reduction.nearest_to(work)),
    "walk": lambda work: reduction.by_walk(work, 0),
    "link": lambda work: reduction.by_link(work, reduction.nearest_to(work)),
    "star": lambda work: reduction.by_star(work, reduction.nearest_to(work)),
    "path": lambda work: reduction.by_path(work),
}


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize("draw", [small_graph, street_grid])
def test_each_reduction_keeps_the_least_cost_and_removes_edges(name: str, draw: Callable[[int], Any]) -> None:
    removed = 0
    for seed in range(60):
        instance = draw(seed)
        work = reduction.Reduction(instance)
        before = work.reduced().instance.num_edges
        ALONE[name](work.work)
        reduced = work.reduced()
        removed += before - reduced.instance.num_edges
        least = least_cost_by_sets(instance)
        assert reduced.fixed_cost + least_cost_by_sets(reduced.instance) == least
    assert removed > 0 or (name, draw) == ("bottleneck", street_grid)  # whose links replace each other


@property_test(300, SEEDS, quick=60)
def test_reduced_grids_expand_to_an_optimal_tree(seed: int) -> None:
    instance = street_grid(seed)
    result = STEINER_BRANCH_AND_CUT.run(instance, STEINER)
    least = least_cost_by_sets(instance)
    assert result.value == (None if least == np.inf else least)


@property_test(300, SEEDS, quick=100)
def test_what_bounds_remove_no_tree_cheaper_than_the_best_known_needs(seed: int) -> None:
    instance = small_graph(seed)
    best = BoundReduction(instance)
    reduced, least = Reduction(instance).run(superfluous=best.superfluous), least_cost(instance)
    if best.tree is not None:
        assert STEINER.violations(instance, best.tree) == []
        assert STEINER.value(instance, best.tree) == best.value
    remaining = least_cost(reduced.instance)
    known = [] if remaining is None else [reduced.fixed_cost + remaining]
    assert min([*known, best.value]) == (np.inf if least is None else least)
    assert not best.is_optimal or best.value == least


@pytest.mark.parametrize("seed", range(6))
def test_trees_directed_from_the_root_violate_no_row(seed: int) -> None:
    instance = small_graph(seed, most_nodes=8)
    answer = STEINER_BRANCH_AND_CUT.run(instance, STEINER).answer
    if answer is None or instance.num_terminals == 1:
        return
    root = int(instance.terminals[0])
    graph = graph_of(instance.num_nodes, instance.edges)
    ascent = dual_ascent(graph, np.repeat(instance.costs, 2), instance.terminals, root)
    planes = DirectedCuts(instance, graph, root, np.arange(2 * instance.num_edges), ascent, range(instance.num_nodes))
    tree: nx.Graph[int] = nx.Graph(answer.edges.tolist())
    arcs = set(nx.bfs_edges(tree, root))
    values = [int(planes.described(c) in arcs or planes.described(c) in tree) for c in range(len(planes.columns))]
    rows = planes.rows
    held = np.add.reduceat(rows.values * np.array(values)[rows.columns], rows.offsets[:-1]) >= rows.rhs
    assert held.all()
    assert planes.satisfied(np.array(values, float))


@property_test(100, SEEDS)
def test_dual_ascent_is_a_bound_and_its_reduced_costs_tell_what_an_arc_costs(seed: int) -> None:
    instance = small_graph(seed)
    least = least_cost(instance)
    graph, root = graph_of(instance.num_nodes, instance.edges), int(instance.terminals[0])
    ascent = dual_ascent(graph, np.repeat(instance.costs, 2), instance.terminals, root)
    if least is None:
        assert ascent.bound >= 2**60
        return
    assert ascent.bound <= least
    assert (ascent.reduced >= 0).all()
    through = least_through(graph, ascent.reduced, instance.terminals, root)
    for e in range(instance.num_edges):
        without = np.delete(np.arange(instance.num_edges), e)
        rest = ob.SteinerInstance(
            instance.num_nodes, instance.edges[without], instance.costs[without], instance.terminals
        )
        if least_cost(rest) != least:  # every cheapest tree has the edge, in one direction or the other
            assert ascent.bound + through[2 * e : 2 * e + 2].min() <= least


@pytest.mark.usefixtures("lp_alone")
@pytest.mark.slow
def test_relaxations_and_branching_prove_what_no_reduction_touches() -> None:
    # All costs equal, every corner alike: nothing is reduced, and the directed cut bound of 18.75 leaves a gap.
    result = STEINER_BRANCH_AND_CUT.run(hypercube(dimension=5), STEINER)
    assert (result.status, result.value) == (ob.Status.OPTIMAL, 20)
    assert float(result.counters["nodes"]) > 0
    assert result.counters["reduced_edges"] == 80


@pytest.mark.usefixtures("lp_alone")
@pytest.mark.parametrize("size", [3, 5, pytest.param(9, marks=pytest.mark.slow)])
def test_branching_on_nodes_proves_subdivided_complete_graphs(size: int) -> None:
    # A node at 0 puts all others on the tree, so the search tree is a path; branching on arcs doubles it at each step.
    result = STEINER_BRANCH_AND_CUT.run(WORKLOADS["steiner-subdivision"].generate(size=size), STEINER)
    assert (result.status, result.value) == (ob.Status.OPTIMAL, size * (size + 1) // 2 - 2)
    assert float(result.counters.get("nodes", 0)) <= 3 * size


@pytest.mark.usefixtures("lp_alone")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("workload", "options", "optimum"),
    [
        ("steiner-subdivision", {"size": 13}, 89),
        ("steiner-skutella", {"depth": 1}, 10),
        ("steiner-hypercube", {"dimension": 6}, 39),
    ],
)
def test_instances_with_a_relaxation_gap_are_proven(workload: str, options: dict[str, int], optimum: int) -> None:
    result = STEINER_BRANCH_AND_CUT.run(WORKLOADS[workload].generate(**options), STEINER)
    assert (result.status, result.value) == (ob.Status.OPTIMAL, optimum)


def test_the_directed_cut_bound_holds_at_every_round() -> None:
    instance = hypercube(dimension=4)
    graph = graph_of(instance.num_nodes, instance.edges)
    ascent = dual_ascent(graph, np.repeat(instance.costs, 2), instance.terminals, 0)
    planes = DirectedCuts(instance, graph, 0, np.arange(2 * instance.num_edges), ascent, range(instance.num_nodes))
    bounds = BoundLog()
    planes.tighten(Clock(None), at_round=bounds)
    assert planes.converged
    assert max(bounds) <= (least_cost(instance) or 0) * planes.unit
    # The vertices of the hypercube are alike: 28/3 is the value of the directed cut relaxation with flow balance.
    assert planes.best_units / planes.unit == pytest.approx(28 / 3, abs=1e-5)


@pytest.mark.usefixtures("lp_alone")
@pytest.mark.parametrize("limit", [0.0, 0.05])
def test_a_time_limit_leaves_a_tree_and_a_bound(limit: float) -> None:
    result = STEINER_BRANCH_AND_CUT.run(hypercube(dimension=7), STEINER, time_limit=limit)
    assert result.status is ob.Status.TIME_LIMIT
    assert 0 <= bound_of(result) <= value_of(result)


def test_a_single_terminal_needs_nothing() -> None:
    alone = ob.SteinerInstance.from_edges(3, [(0, 1, 1)], [2])
    assert steiner_branch_and_cut(alone).answer == ob.Overlay.from_edges(3, [])


@property_test(100, SEEDS)
def test_minimum_cuts_are_those_of_networkx(seed: int) -> None:
    draw = np.random.default_rng(seed)
    n = int(draw.integers(2, 9))
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v and draw.random() < 0.5]
    capacities = draw.integers(0, 5, size=len(pairs)) / 4
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(n))
    for (u, v), capacity in zip(pairs, capacities, strict=True):
        graph.add_edge(u, v, capacity=capacity)
    tails, heads = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    sides = minimum_cut(network_of(n, tails, heads), capacities, 0, n - 1, np.inf)
    assert sides is not None
    expected = nx.minimum_cut_value(graph, 0, n - 1)
    for side in sides:
        assert side[0]
        assert not side[n - 1]
        assert capacities[side[tails] & ~side[heads]].sum() == pytest.approx(expected)
    assert not (sides[0] & ~sides[1]).any()
