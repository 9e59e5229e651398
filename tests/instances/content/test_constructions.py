"""P4's constructions: what they cost at least, by searches over all assignments and trees."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from overlaybench.instances.content.files import read_content, write_content
from overlaybench.instances.content.workloads import CONTENT_CONSTRUCTIONS, relay_star, steiner_overlay
from overlaybench.instances.contract.catalogue import WORKLOADS
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.steiner.instance import SteinerInstance
from tests.content_brute_force import optimum
from tests.properties import property_test
from tests.steiner_brute_force import least_cost, small_graph


@property_test(30, seed=st.integers(0, 10_000))
def test_with_brokers_at_all_nodes_an_overlay_costs_as_much_as_a_steiner_tree(seed: int) -> None:
    graph = small_graph(seed, most_nodes=5)
    assume(graph.num_terminals <= 4)
    if nx.is_connected(graph.to_networkx()):
        assert optimum(steiner_overlay(graph), "steiner") == least_cost(graph)
    else:
        with pytest.raises(BadInput, match="no path between"):
            steiner_overlay(graph)


@property_test(30, seed=st.integers(0, 10_000))
def test_with_brokers_at_steiner_nodes_alone_an_overlay_costs_no_less(seed: int) -> None:
    graph = small_graph(seed, most_nodes=5)
    assume(nx.is_connected(graph.to_networkx()) and graph.num_terminals < graph.num_nodes)
    assert optimum(steiner_overlay(graph, brokers_at="steiner-nodes"), "steiner") >= (least_cost(graph) or 0)


def test_two_terminals_side_by_side_need_a_detour_where_brokers_are_at_steiner_nodes() -> None:
    graph = SteinerInstance.from_edges(3, [(0, 1, 1), (0, 2, 10), (1, 2, 10)], [0, 1])
    assert optimum(steiner_overlay(graph), "steiner") == least_cost(graph) == 1
    assert optimum(steiner_overlay(graph, brokers_at="steiner-nodes"), "steiner") == 20
    with pytest.raises(BadInput, match="every node is a terminal"):
        steiner_overlay(SteinerInstance.from_edges(2, [(0, 1, 1)], [0, 1]), brokers_at="steiner-nodes")


@pytest.mark.parametrize("rim", [2, 3, 4])
def test_a_relay_star_costs_its_rim_with_relays_and_almost_twice_as_much_without(rim: int) -> None:
    star = relay_star(rim=rim)
    assert optimum(star, "steiner") == rim
    assert optimum(star, "mst") == 2 * (rim - 1)


@pytest.mark.parametrize("workload", CONTENT_CONSTRUCTIONS, ids=lambda workload: workload.name)
def test_a_construction_is_generated_by_name_and_survives_its_file(workload, tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert WORKLOADS[workload.name] is workload
    instance = workload.generate(seed=3)
    write_content(instance, tmp_path / "x.json")
    assert read_content(tmp_path / "x.json") == instance
    assert workload.generate(seed=3) == instance
