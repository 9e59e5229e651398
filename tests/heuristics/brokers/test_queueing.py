"""Soft links with queues: the compiled simulation against one with an event for every step, and against no queues."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from overlaybench.heuristics.brokers.kernels.forwarding import S2, STRATEGIES
from overlaybench.heuristics.brokers.kernels.link_management import Management, managed_links
from overlaybench.heuristics.brokers.kernels.queueing import Timing, simulate
from overlaybench.heuristics.brokers.soft_links import disseminate_over
from overlaybench.instances.brokers.network import BrokerNetwork, BrokerTree
from overlaybench.instances.brokers.predicates import Publications, Subscriptions
from overlaybench.instances.brokers.problems import SoftLinks
from overlaybench.instances.contract.catalogue import WORKLOADS
from tests.broker_strategies import Link, networks_with_links
from tests.heuristics.brokers.queueing_twin import Tie, simulated
from tests.properties import property_test


@property_test(
    40,
    given=networks_with_links(max_brokers=10),
    service=st.sampled_from([0, 313, 200_003]),
    soft_delay=st.sampled_from([0, 977]),
    horizon=st.sampled_from([2**60, 1_500_000]),
    quick=6,
)
@pytest.mark.parametrize("strategy", ["s1", "s2", "sh"])
def test_one_event_a_message_equals_an_event_for_every_step(
    strategy: str, given: tuple[BrokerNetwork, list[Link]], service: int, soft_delay: int, horizon: int
) -> None:
    network, links = given
    try:
        expected = simulated(network, links, strategy, service, soft_delay, horizon)
    except Tie:
        assume(False)
    timing = Timing(service, soft_delay, 0 if horizon == 2**60 else horizon)
    found = simulate(network, STRATEGIES.index(strategy), np.array(links).reshape(-1, 2), timing)
    assert (found.deliveries, found.messages, found.total_delay, found.total_hops) == expected
    assert found.traffic.sum() == found.messages


@property_test(40, given=networks_with_links(max_brokers=12), quick=6)
@pytest.mark.parametrize("strategy", ["s0", "s1", "s2"])
def test_without_a_horizon_queues_lose_nothing_and_change_no_route(
    strategy: str, given: tuple[BrokerNetwork, list[Link]]
) -> None:
    network, links = given
    if strategy == "s0":
        links = []
    rows = np.array(links, dtype=np.int32).reshape(-1, 2)
    still = disseminate_over(network, STRATEGIES.index(strategy), rows)
    measures = SoftLinks().measures(network, still)
    queued = simulate(network, STRATEGIES.index(strategy), rows, Timing(service=5000))
    assert queued.deliveries == network.num_deliveries
    assert queued.messages == still.num_messages
    assert queued.average_hops == pytest.approx(measures["average_hops"])


def test_many_messages_in_transit_at_once_are_all_delivered() -> None:
    network = WORKLOADS["brokers-dense"].generate(seed=2, brokers=60, publications=9000, rate=10**9, subscriptions=600)
    found = simulate(network, S2, managed_links(network, S2, Management()), Timing(service=0, soft_delay=10**7))
    assert found.deliveries == network.num_deliveries > 1 << 16


def test_a_slow_broker_delays_and_saturation_leaves_publications_behind() -> None:
    network = WORKLOADS["brokers-sparse"].generate(seed=2, brokers=40, publications=1200, rate=72_000)
    links = np.empty((0, 2), dtype=np.int32)
    fast, slow = (simulate(network, S2, links, Timing(service, horizon=1_000_000)) for service in (100, 20_000))
    assert slow.deliveries < fast.deliveries
    assert slow.average_delay > fast.average_delay
    assert slow.longest_queue.max() > fast.longest_queue.max()


@pytest.mark.parametrize("first", [0, 1])
def test_of_messages_that_arrive_at_once_the_one_sent_first_is_matched_first(first: int) -> None:
    """Publications 0 and 1 arrive at broker 0 after 1,010 µs; only one of them is for it, and horizon is one match."""
    tree = BrokerTree.of(4, [(0, 1), (0, 2), (0, 3)])
    subscriptions = Subscriptions(np.array([0, 3]), np.array([[first], [1 - first]]), np.array([[first], [1 - first]]))
    publications = Publications(np.array([0, 0]), np.array([1, 2]), np.array([[0], [1]]))
    network = BrokerNetwork(tree, subscriptions, publications)
    found = simulate(network, S2, np.empty((0, 2), dtype=np.int32), Timing(service=10, horizon=1020))
    assert (found.messages, found.deliveries) == (1, 1 - first)


def test_publications_repeated_by_periods_are_those_of_a_longer_network() -> None:
    once = WORKLOADS["brokers-sparse"].generate(seed=4, brokers=20, publications=90, subscriptions=100, rate=72_000)
    of, length = once.publications, int(once.publications.times.max()) + 1
    times = np.concatenate([of.times + k * length for k in range(3)])
    thrice = Publications(times, np.tile(of.sources, 3), np.tile(of.values, (3, 1)))
    links = managed_links(once, S2, Management())
    found = [
        simulate(network, S2, links, Timing(30_000, horizon=3 * length, periods=periods))
        for network, periods in ((once, 3), (BrokerNetwork(once.tree, once.subscriptions, thrice), 1))
    ]
    assert found[0].deliveries < 3 * once.num_deliveries
    assert len({(one.deliveries, one.messages, one.total_delay, one.total_hops) for one in found}) == 1
