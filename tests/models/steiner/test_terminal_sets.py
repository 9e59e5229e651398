"""Dynamic programming over sets of terminals finds the brute force's optimum, or gives up."""

import random

import networkx as nx
import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.heuristics.graph import graph_of
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS
from overlaybench.instances.runtime.run import Clock
from overlaybench.instances.steiner.instance import SteinerInstance
from overlaybench.models.steiner import branch_and_cut, terminal_sets
from overlaybench.models.steiner.directed_cuts import dual_ascent
from overlaybench.models.steiner.terminal_sets import Search, cheaper_tree
from tests.properties import property_test
from tests.steiner_brute_force import hypercube, least_cost, small_graph

pytestmark = pytest.mark.interpreted

ENOUGH = 10**12
SEEDS = st.integers(0, 10**9)


def searched(instance: SteinerInstance, upper: int, *, root: int = 0, arcs: int = 1000, steps: int = ENOUGH) -> Search:
    terminal = int(instance.terminals[root % instance.num_terminals])
    graph = graph_of(instance.num_nodes, instance.edges)
    ascent = dual_ascent(graph, np.repeat(instance.costs, 2), instance.terminals, terminal, arcs)
    return cheaper_tree(instance, terminal, ascent, upper, Clock(None), steps)


@property_test(
    300,
    SEEDS,
    st.sampled_from([1, 2, 6, 30]),
    st.sampled_from([0, 1, 2, 5, 10**6]),
    st.integers(0, 20),
    st.sampled_from([0, 20, 1000]),
    quick=100,
)
def test_a_tree_cheaper_than_the_bound_is_an_optimum(seed: int, dearest: int, above: int, root: int, arcs: int) -> None:
    instance = small_graph(seed, most_nodes=10, dearest=dearest)
    least = least_cost(instance)
    if least is None or instance.num_terminals < 3:
        return
    search = searched(instance, least + above, root=root, arcs=arcs)
    assert search.is_complete
    if above == 0:
        assert search.chosen is None
    else:
        assert search.chosen is not None
        tree = ob.Overlay.from_edges(instance.num_nodes, instance.edges[search.chosen])
        assert PROBLEMS["steiner"].violations(instance, tree) == []
        assert instance.costs[search.chosen].sum() == least


def test_tables_grow_without_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = hypercube(dimension=4)
    found = searched(instance, 100)
    monkeypatch.setattr(terminal_sets, "_SPACE", 1)
    assert found.chosen is not None
    grown = searched(instance, 100)
    assert grown.pairs == found.pairs
    assert grown.chosen is not None
    assert np.array_equal(grown.chosen, found.chosen)


def test_terminals_of_several_words_form_sets() -> None:
    # A caterpillar: its 80 leaves are the terminals, and the tree is the graph without its only other edges.
    edges = (
        [(v, v + 1, 2) for v in range(79)] + [(v, 80 + v, 1) for v in range(80)] + [(v, v + 2, 5) for v in range(78)]
    )
    instance = SteinerInstance.from_edges(160, edges, range(80, 160))
    search = searched(instance, 1000, root=17, arcs=10**6)
    assert search.is_complete
    assert search.chosen is not None
    assert instance.costs[search.chosen].sum() == 79 * 2 + 80


def exhausted(*_: object) -> None:
    raise MemoryError


@pytest.mark.parametrize(
    ("name", "limit", "by_lp"), [("_MOST_BYTES", 0, True), ("_grown", exhausted, True), ("_SPACE", 0, False)]
)
def test_the_lp_proves_what_memory_does_not_allow(
    name: str, limit: object, by_lp: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal_sets, "_SPACE", 0)
    monkeypatch.setattr(terminal_sets, name, limit)
    result = branch_and_cut.STEINER_BRANCH_AND_CUT.run(hypercube(dimension=4), PROBLEMS["steiner"])
    assert (result.status, result.value) == (ob.Status.OPTIMAL, 10)
    assert ("root_bound" in result.counters) == by_lp


def test_a_search_ends_before_it_takes_too_many_steps() -> None:
    assert not searched(hypercube(dimension=4), 100, steps=1000).is_complete


def test_a_long_narrow_grid_is_not_given_up_for_its_many_terminals() -> None:
    draw, at = random.Random(1), {(x, y): 3 * x + y for x in range(60) for y in range(3)}
    pairs = [(v, (v[0] + 1, v[1])) for v in at] + [(v, (v[0], v[1] + 1)) for v in at]
    edges = [(at[v], at[w], draw.randint(50, 90)) for v, w in pairs if w in at]
    instance = SteinerInstance.from_edges(180, edges, draw.sample(range(180), 60))
    assert searched(instance, 12_000, arcs=10**6, steps=3_000_000).is_complete


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_larger_trees_are_those_of_the_lp(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"nodes": 60, "edges": 150, "terminals": 14, "seed": seed}
    instance = WORKLOADS["steiner-sparse"].generate(**given)
    assert nx.is_connected(instance.to_networkx())
    search = searched(instance, int(instance.costs.sum()))
    monkeypatch.setattr(branch_and_cut, "_SEARCHES", ((10, -1),))
    result = branch_and_cut.STEINER_BRANCH_AND_CUT.run(instance, PROBLEMS["steiner"])
    assert search.chosen is not None
    assert result.status is ob.Status.OPTIMAL
    assert instance.costs[search.chosen].sum() == result.value
