"""Soft links over a broker tree: maps, strategies and their invariants."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlaybench.heuristics.brokers.forwarding import STRATEGIES
from overlaybench.heuristics.brokers.link_management import Management, managed_links
from overlaybench.heuristics.brokers.soft_links import (
    S0_TREE,
    S1_COMMON,
    S2_FAR,
    SH_HYBRID,
    disseminate,
    disseminate_over,
)
from overlaybench.heuristics.brokers.working_map import WorkingMaps, add_link, has_bit, remove_link, working_maps
from overlaybench.instances.brokers.network import BrokerNetwork
from overlaybench.instances.brokers.problems import SoftLinks
from overlaybench.instances.brokers.tree import BrokerTree
from overlaybench.instances.catalogue import WORKLOADS
from overlaybench.instances.result import Status
from tests.broker_strategies import Link, broker_networks, networks_with_links
from tests.heuristics.brokers import twins as broker_twins

SMALL = {"brokers": 40, "fanout": 9, "subscriptions": 400, "publications": 600}


def seen_by(maps: WorkingMaps, a: int) -> broker_twins.Map:
    """A broker's map in the twin's terms: brokers instead of slots."""
    slots = [int(slot) for slot in maps.order[a, : maps.counts[a]]]
    end = {slot: int(maps.ends[a, slot]) for slot in slots}

    def named(sets: np.ndarray) -> dict[int, set[int]]:
        return {end[slot]: {end[other] for other in slots if has_bit(sets[a, slot], other)} for slot in slots}

    stands_for = {v: end[int(maps.slots[a, v])] if v != a else a for v in range(len(maps.ends))}
    return broker_twins.Map(
        stands_for, [end[slot] for slot in slots], named(maps.between), named(maps.beyond), named(maps.behind)
    )


def links_of(tree: BrokerTree, links: set[Link], a: int) -> set[int]:
    return {int(v) for v in tree.neighbours[a]} | {v for u, v in links if u == a}


@settings(max_examples=60, deadline=None)
@given(given=networks_with_links(), data=st.data())
def test_working_maps_kept_link_by_link_are_those_contracted_from_scratch(
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
        assert seen_by(maps, a) == broker_twins.contracted(network.tree, a, links_of(network.tree, present, a))


@settings(max_examples=40, deadline=None)
@given(given=networks_with_links())
def test_brokers_that_know_only_their_neighbourhood_and_anchors_see_the_same(
    given: tuple[BrokerNetwork, list[Link]],
) -> None:
    """A broker beyond Δ is met at its anchor, which stands Δ hops away and is contracted like any other."""
    network, links = given
    tree, maps = network.tree, working_maps(network.tree, links)
    for a in range(network.num_brokers):
        whole = seen_by(maps, a)
        near = broker_twins.contracted(tree, a, links_of(tree, set(links), a), network.radius)
        assert (whole.order, whole.between, whole.beyond) == (near.order, near.between, near.beyond)
        assert whole.behind == near.behind
        for v in range(network.num_brokers):
            anchor = broker_twins.anchor(tree, v, a, network.radius)
            assert tree.distances[a, anchor] <= network.radius
            assert whole.stands_for[v] == near.stands_for[anchor]


def test_a_map_of_more_links_than_a_word_has_bits_is_contracted_rightly() -> None:
    tree = BrokerTree.of(140, [(0, v) for v in range(1, 70)] + [(v, v + 70) for v in range(70)])
    links = {(0, v) for v in range(71, 140)}
    maps = working_maps(tree, sorted(links))
    assert maps.real.shape[1] == 3
    assert seen_by(maps, 0) == broker_twins.contracted(tree, 0, links_of(tree, links, 0))


@pytest.mark.parametrize("strategy", ["s1", "s2", "sh"])
@settings(max_examples=60, deadline=None)
@given(given=networks_with_links(), threshold=st.sampled_from([0, 50, 80]))
def test_brokers_that_know_only_the_last_hop_send_what_the_figures_say(
    strategy: str, given: tuple[BrokerNetwork, list[Link]], threshold: int
) -> None:
    network, links = given
    answer = disseminate_over(network, STRATEGIES.index(strategy), np.array(links).reshape(-1, 2), threshold)
    assert {tuple(row) for row in answer.messages.tolist()} == broker_twins.carried(network, links, strategy, threshold)


@pytest.mark.parametrize("strategy", ["s1", "s2", "sh"])
@settings(max_examples=100, deadline=None)
@given(given=networks_with_links(max_brokers=16))
def test_every_matching_broker_gets_each_publication_once_over_any_soft_links(
    strategy: str, given: tuple[BrokerNetwork, list[Link]]
) -> None:
    network, links = given
    answer = disseminate_over(network, STRATEGIES.index(strategy), np.array(links).reshape(-1, 2), 0)
    assert SoftLinks().violations(network, answer) == []


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=40, deadline=None)
@given(network=broker_networks())
def test_without_soft_links_every_strategy_is_tree_routing(strategy: str, network: BrokerNetwork) -> None:
    answer = disseminate_over(network, STRATEGIES.index(strategy), np.empty((0, 2), dtype=np.int32))
    assert {tuple(row) for row in answer.messages.tolist()} == broker_twins.tree_messages(network)


@pytest.mark.parametrize("method", [S0_TREE, S1_COMMON, S2_FAR, SH_HYBRID], ids=lambda m: m.name)
@settings(max_examples=40, deadline=None)
@given(network=broker_networks())
def test_methods_return_valid_disseminations(method: object, network: BrokerNetwork) -> None:
    managed = {} if method is S0_TREE else {"rounds": 5, "window": 2, "candidates": 2}
    result = method.run(network, SoftLinks(), **managed)  # type: ignore[attr-defined]
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL), result.reason
    assert result.value >= network.num_deliveries


def test_managed_links_save_messages_and_more_of_them_save_more() -> None:
    network = WORKLOADS["brokers-sparse"].generate(seed=3, **SMALL)
    messages = {name: disseminate(network, name).num_messages for name in STRATEGIES}
    assert messages["s2"] < messages["s1"] < messages["s0"]
    tight = BrokerNetwork(network.tree, network.subscriptions, network.publications, 4, 4)
    assert messages["s2"] < disseminate(tight, "s2").num_messages < messages["s0"]


def test_the_hybrid_strategy_lies_between_the_two_it_is_made_of() -> None:
    network = WORKLOADS["brokers-sparse"].generate(seed=3, **SMALL, uplink=20, rate=7200)
    links = managed_links(network, STRATEGIES.index("s2"), Management())
    s1, s2, sh = (disseminate_over(network, STRATEGIES.index(name), links).num_messages for name in ("s1", "s2", "sh"))
    assert s2 < sh < s1
