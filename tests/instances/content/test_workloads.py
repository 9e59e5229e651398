"""P4's content workload: histograms by exact integration, prices that are a metric, capacities and ratios as asked."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, example
from hypothesis import strategies as st
from scipy.integrate import quad

import overlaybench as ob
from overlaybench.instances.content import workloads
from tests.content_brute_force import optimum
from tests.properties import property_test
from tests.steiner_brute_force import least_cost, small_graph

CONTENT = ob.WORKLOADS["content"]
coefficient = st.floats(-3, 3) | st.integers(-2, 2).map(float)


@property_test(100, coefficient, coefficient, coefficient)
@example(5e-324, 0.0, 1.0)
@example(1e-200, -1e-200, 0.5)
def test_a_cut_quadratic_is_integrated_exactly(a: float, b: float, c: float) -> None:
    ends = np.linspace(0, 1, 6)
    found = workloads.cut_quadratic_integral(np.array([[a, b, c]]), ends)[0]
    near = np.roots([x if abs(x) > 1e-9 else 0.0 for x in (a, b, c)])  # tells quad where to look, no more
    breaks = [root.real for root in near if abs(root.imag) < 1e-9 and 0 < root.real < 1]
    for end, integral in zip(ends, found, strict=True):
        points = [root for root in breaks if root < end] or None
        expected = quad(lambda x: max(0.0, (a * x + b) * x + c), 0, end, points=points, limit=200)[0]
        assert integral == pytest.approx(expected, abs=1e-7)


@property_test(50, st.integers(1, 12), st.integers(1, 5), st.integers(0, 10**6))
def test_a_coarse_histogram_is_the_sum_of_a_fine_one(intervals: int, times: int, seed: int) -> None:
    coefficients = np.random.default_rng(seed).uniform(-1, 1, (4, 3))
    coarse = workloads.cut_quadratic_histogram(coefficients, np.linspace(0, 1, 1 + intervals), 10_000)
    fine = workloads.cut_quadratic_histogram(coefficients, np.linspace(0, 1, 1 + intervals * times), 10_000)
    assert coarse.tolist() == fine.reshape(4, intervals, times).sum(axis=2).tolist()
    assert (fine >= 0).all()


@property_test(100, st.floats(0, 1), st.floats(0, 1), st.integers(1, 50))
def test_a_subscription_touches_every_interval_of_what_it_wants(one: float, other: float, intervals: int) -> None:
    low, high = min(one, other), max(one, other)
    found = workloads.intersected_cells(np.array([low]), np.array([high]), intervals)[0]
    for x in (low, high, (low + high) / 2):
        assert found[min(int(x * intervals), intervals - 1)]
    places = np.flatnonzero(found)
    assert places.tolist() == list(range(places[0], places[-1] + 1))
    assert places[0] / intervals <= low + 1e-12
    assert high <= (places[-1] + 1) / intervals + 1e-12


@property_test(50, st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 9))
def test_exact_cells_make_up_every_subscription(seed: int, users: int, grain: int) -> None:
    low, high = np.sort(np.random.default_rng(seed).integers(0, grain + 1, (2, users)) / grain, axis=0)
    ends = workloads.exact_cells(low, high)
    assert (np.diff(ends) > 0).all()
    inside = workloads.contained_cells(low, high, ends)
    assert np.allclose(inside @ np.diff(ends), high - low)
    middles = (ends[:-1] + ends[1:]) / 2
    assert inside.tolist() == ((low[:, None] < middles) & (middles < high[:, None])).tolist()


def test_exact_cells_count_no_false_positive() -> None:
    given = {"seed": 3, "users": 40, "brokers": 4}
    exact, coarse, fine = (
        CONTENT.generate(**given, **cells) for cells in ({"cells": "exact"}, {"intervals": 10}, {"intervals": 1000})
    )
    assert exact.num_channels == 81  # two ends a user, and both of the content space
    assert exact.out_rates.tolist() == coarse.out_rates.tolist() == fine.out_rates.tolist()
    assert (exact.in_rates <= fine.in_rates).all()
    assert (fine.in_rates <= coarse.in_rates).all()
    assert fine.in_rates.sum() == pytest.approx(exact.in_rates.sum(), rel=0.01)
    assert coarse.in_rates.sum() > 1.1 * exact.in_rates.sum()
    grid = CONTENT.generate(**given, cells="exact", dimensions=2)
    assert grid.num_channels == 81**2


@pytest.mark.parametrize("metric", ["plane", "independent", "cheapest-ways"])
@pytest.mark.parametrize("ratio", [1.0, 8.0])
def test_prices_are_whole_metric_and_in_the_ratio_asked(metric: str, ratio: float) -> None:
    instance = CONTENT.generate(seed=4, users=400, brokers=20, intervals=10, metric=metric, access_to_core=ratio)
    core = instance.core
    assert (core == np.rint(core)).all()
    assert (core[:, :, None] <= core[:, None, :] + core[None, :, :]).all()
    mean = core[np.triu_indices(20, 1)].mean()
    assert instance.access.mean() / mean == pytest.approx(ratio, rel=0.02)


def test_the_same_seed_at_another_ratio_or_grain_has_the_same_users() -> None:
    near, far = (CONTENT.generate(seed=7, users=60, brokers=4, access_to_core=ratio) for ratio in (1.0, 32.0))
    assert near.rates.tolist() == far.rates.tolist()
    assert near.subscriptions.tolist() == far.subscriptions.tolist()
    assert near.access.tolist() == far.access.tolist()
    coarse = CONTENT.generate(seed=7, users=60, brokers=4, intervals=10)
    assert coarse.out_rates.tolist() == near.out_rates.tolist()


def test_several_dimensions_make_a_grid_of_cells() -> None:
    instance = CONTENT.generate(seed=2, users=50, brokers=4, intervals=6, dimensions=2)
    assert instance.num_channels == 36
    grid = instance.subscriptions.reshape(50, 6, 6)
    for cells in grid:  # a box: the product of what it has in each dimension
        assert cells.tolist() == np.outer(cells.any(axis=1), cells.any(axis=0)).tolist()
    rates = instance.rates.reshape(50, 6, 6)
    finer = CONTENT.generate(seed=2, users=50, brokers=4, intervals=12, dimensions=2).rates.reshape(50, 6, 2, 6, 2)
    assert finer.sum(axis=(2, 4)).tolist() == rates.tolist()


def test_a_seed_gives_the_same_instance_and_no_more_rates_than_fit() -> None:
    assert CONTENT.generate(seed=11, users=30, brokers=5, intervals=7).digest[:16] == "11e7da752c21d9e1"
    instance = CONTENT.generate(seed=11, users=30, brokers=5, intervals=3, dimensions=2, metric="cheapest-ways")
    assert instance.digest[:16] == "b6e66bf79d7120fc"
    with pytest.raises(ob.BadInput, match="are more than 2147483647 rates"):
        CONTENT.generate(users=1000, brokers=2, intervals=1000, dimensions=3)


@property_test(30, seed=st.integers(0, 10_000))
def test_with_brokers_at_all_nodes_an_overlay_costs_as_much_as_a_steiner_tree(seed: int) -> None:
    graph = small_graph(seed, most_nodes=5)
    assume(graph.num_terminals <= 4)
    if nx.is_connected(graph.to_networkx()):
        assert optimum(workloads.steiner_overlay(graph), "steiner") == least_cost(graph)
    else:
        with pytest.raises(ob.BadInput, match="no path between"):
            workloads.steiner_overlay(graph)


@property_test(30, seed=st.integers(0, 10_000))
def test_with_brokers_at_steiner_nodes_alone_an_overlay_costs_no_less(seed: int) -> None:
    graph = small_graph(seed, most_nodes=5)
    assume(nx.is_connected(graph.to_networkx()) and graph.num_terminals < graph.num_nodes)
    assert optimum(workloads.steiner_overlay(graph, brokers_at="steiner-nodes"), "steiner") >= (least_cost(graph) or 0)


def test_two_terminals_side_by_side_need_a_detour_where_brokers_are_at_steiner_nodes() -> None:
    graph = ob.SteinerInstance.from_edges(3, [(0, 1, 1), (0, 2, 10), (1, 2, 10)], [0, 1])
    assert optimum(workloads.steiner_overlay(graph), "steiner") == least_cost(graph) == 1
    assert optimum(workloads.steiner_overlay(graph, brokers_at="steiner-nodes"), "steiner") == 20
    with pytest.raises(ob.BadInput, match="every node is a terminal"):
        workloads.steiner_overlay(ob.SteinerInstance.from_edges(2, [(0, 1, 1)], [0, 1]), brokers_at="steiner-nodes")


@pytest.mark.parametrize("rim", [2, 3, 4])
def test_a_relay_star_costs_its_rim_with_relays_and_almost_twice_as_much_without(rim: int) -> None:
    star = workloads.relay_star(rim=rim)
    assert optimum(star, "steiner") == rim
    assert optimum(star, "mst") == 2 * (rim - 1)
