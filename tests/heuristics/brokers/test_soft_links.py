"""Soft links over a broker tree: maps, strategies and their invariants."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from overlaybench.heuristics.brokers.kernels.forwarding import STRATEGIES
from overlaybench.heuristics.brokers.kernels.link_management import Management, managed_links
from overlaybench.heuristics.brokers.kernels.working_map import (
    Bits,
    WorkingMaps,
    add_link,
    has_bit,
    remove_link,
    working_maps,
)
from overlaybench.heuristics.brokers.soft_links import (
    S0_TREE,
    S1_COMMON,
    S2_FAR,
    SH_HYBRID,
    BrokerMethod,
    disseminate,
    disseminate_over,
)
from overlaybench.instances.brokers.network import BrokerNetwork, BrokerTree
from overlaybench.instances.brokers.problems import SoftLinks
from overlaybench.instances.contract.catalogue import WORKLOADS
from overlaybench.instances.contract.result import Status
from tests.broker_strategies import Link, broker_networks, networks_with_links
from tests.heuristics.brokers import twins as broker_twins
from tests.outcomes import value_of
from tests.properties import property_test

SMALL = {"brokers": 40, "fanout": 9, "subscriptions": 400, "publications": 600}


def map_of(maps: WorkingMaps, a: int) -> broker_twins.Map:
    """A broker's map in the twin's terms: brokers instead of slots."""
    slots = [int(slot) for slot in maps.order[a, : maps.counts[a]]]
    end = {slot: int(maps.ends[a, slot]) for slot in slots}

    def named(sets: Bits) -> dict[int, set[int]]:
        return {end[slot]: {end[other] for other in slots if has_bit(sets[a, slot], other)} for slot in slots}

    stands_for = {v: end[int(maps.slots[a, v])] if v != a else a for v in range(len(maps.ends))}
    return broker_twins.Map(
        stands_for, [end[slot] for slot in slots], named(maps.between), named(maps.beyond), named(maps.behind)
    )


def links_of(tree: BrokerTree, links: set[Link], a: int) -> set[int]:
    return {int(v) for v in tree.neighbours[a]} | {v for u, v in links if u == a}


@property_test(60, given=networks_with_links(), data=st.data(), quick=10)
def test_working_maps_updated_link_by_link_equal_contraction_from_scratch(
    given: tuple[BrokerNetwork, list[Link]], data: st.DataObject
) -> None:
    network, links = given
    allowed = [(int(u), int(v)) for u, v in network.allowed_links()]
    maps = working_maps(network.tree, links, capacity=network.num_brokers)
    present = set(links)
    for u, v in data.draw(st.lists(st.sampled_from(allowed), max_size=8)) if allowed else []:
        if (u, v) in present:
            remove_link(maps, u, maps.slots[u, v])
        else:
            add_link(maps, u, v, True)
        present ^= {(u, v)}
    for a in range(network.num_brokers):
        assert map_of(maps, a) == broker_twins.contracted(network.tree, a, links_of(network.tree, present, a))


@property_test(40, given=networks_with_links(), quick=6)
def test_maps_of_the_neighbourhood_with_anchors_equal_maps_of_the_whole_tree(
    given: tuple[BrokerNetwork, list[Link]],
) -> None:
    """A broker beyond Δ is represented by its anchor, Δ hops away, which is contracted like any other."""
    network, links = given
    tree, maps = network.tree, working_maps(network.tree, links)
    for a in range(network.num_brokers):
        full = map_of(maps, a)
        near = broker_twins.contracted(tree, a, links_of(tree, set(links), a), network.radius)
        assert (full.order, full.between, full.beyond) == (near.order, near.between, near.beyond)
        assert full.behind == near.behind
        for v in range(network.num_brokers):
            anchor = broker_twins.anchor(tree, v, a, network.radius)
            assert tree.distances[a, anchor] <= network.radius
            assert full.stands_for[v] == near.stands_for[anchor]


def test_a_map_of_more_links_than_a_word_has_bits_equals_contraction() -> None:
    tree = BrokerTree.of(140, [(0, v) for v in range(1, 70)] + [(v, v + 70) for v in range(70)])
    links = {(0, v) for v in range(71, 140)}
    maps = working_maps(tree, sorted(links))
    assert maps.real.shape[1] == 3
    assert map_of(maps, 0) == broker_twins.contracted(tree, 0, links_of(tree, links, 0))


@property_test(60, given=networks_with_links(), threshold=st.sampled_from([0, 50, 80]), quick=10)
@pytest.mark.parametrize("strategy", ["s1", "s2", "sh"])
def test_decisions_by_the_last_hop_alone_equal_the_figures_of_the_paper(
    strategy: str, given: tuple[BrokerNetwork, list[Link]], threshold: int
) -> None:
    network, links = given
    answer = disseminate_over(network, STRATEGIES.index(strategy), np.array(links).reshape(-1, 2), threshold)
    assert {tuple(row) for row in answer.messages.tolist()} == broker_twins.carried(network, links, strategy, threshold)


@property_test(100, given=networks_with_links(max_brokers=16))
@pytest.mark.parametrize("strategy", ["s1", "s2", "sh"])
def test_every_matching_broker_gets_each_publication_once_over_any_soft_links(
    strategy: str, given: tuple[BrokerNetwork, list[Link]]
) -> None:
    network, links = given
    answer = disseminate_over(network, STRATEGIES.index(strategy), np.array(links).reshape(-1, 2), 0)
    assert SoftLinks().violations(network, answer) == []


@property_test(40, network=broker_networks(), quick=6)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_without_soft_links_every_strategy_is_tree_routing(strategy: str, network: BrokerNetwork) -> None:
    answer = disseminate_over(network, STRATEGIES.index(strategy), np.empty((0, 2), dtype=np.int32))
    assert {tuple(row) for row in answer.messages.tolist()} == broker_twins.tree_messages(network)


@property_test(40, network=broker_networks(), quick=6)
@pytest.mark.parametrize("method", [S0_TREE, S1_COMMON, S2_FAR, SH_HYBRID], ids=lambda m: m.name)
def test_methods_return_valid_disseminations(method: BrokerMethod, network: BrokerNetwork) -> None:
    managed = {} if method is S0_TREE else {"rounds": 5, "window": 2, "candidates": 2}
    result = method.run(network, SoftLinks(), **managed)
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL), result.reason
    assert value_of(result) >= network.num_deliveries


def test_managed_links_save_messages_and_more_of_them_save_more() -> None:
    network = WORKLOADS["brokers-sparse"].generate(seed=3, **SMALL)
    messages = {name: disseminate(network, name).num_messages for name in STRATEGIES}
    assert messages["s2"] < messages["s1"] < messages["s0"]
    tight = BrokerNetwork(network.tree, network.subscriptions, network.publications, 4, 4)
    assert messages["s2"] < disseminate(tight, "s2").num_messages < messages["s0"]


def test_the_messages_of_sh_lie_between_those_of_s2_and_s1() -> None:
    network = WORKLOADS["brokers-sparse"].generate(seed=3, **SMALL, uplink=20, rate=7200)
    links = managed_links(network, STRATEGIES.index("s2"), Management())
    s1, s2, sh = (disseminate_over(network, STRATEGIES.index(name), links).num_messages for name in ("s1", "s2", "sh"))
    assert s2 < sh < s1
