"""Covering sets: they match the same publications, and are larger with more links."""

from __future__ import annotations

import numpy as np

from overlaybench.heuristics.brokers.kernels.covering import covering_set, matching_effort, predicates_evaluated
from overlaybench.instances.brokers.network import BrokerNetwork
from overlaybench.instances.brokers.predicates import HIGHEST, LOWEST
from overlaybench.instances.contract.catalogue import WORKLOADS
from tests.broker_strategies import broker_networks
from tests.properties import property_test


@property_test(60, network=broker_networks(), quick=10)
def test_a_covering_set_is_least_and_matches_whatever_all_match(network: BrokerNetwork) -> None:
    subscriptions = network.subscriptions
    order = np.argsort(-(subscriptions.highs - subscriptions.lows).sum(axis=1), kind="stable")
    kept = covering_set(subscriptions.lows, subscriptions.highs, order).tolist()

    def covers(i: int, j: int) -> bool:
        return bool(
            (subscriptions.lows[i] <= subscriptions.lows[j]).all()
            and (subscriptions.highs[j] <= subscriptions.highs[i]).all()
        )

    assert all(any(covers(i, j) for i in kept) for j in range(len(subscriptions)))
    assert not any(covers(i, j) for i in kept for j in kept if i != j)


@property_test(60, network=broker_networks(), quick=10)
def test_predicates_are_evaluated_until_one_fails_or_a_subscription_matches(network: BrokerNetwork) -> None:
    lows, highs = network.subscriptions.lows.copy(), network.subscriptions.highs.copy()
    lows[lows == 0], highs[highs == 4] = LOWEST, HIGHEST
    kept = np.arange(len(lows))
    expected = 0
    for point in network.publications.values.tolist():
        for s in kept:
            outcomes = [
                low <= value <= high
                for low, high, value in zip(lows[s].tolist(), highs[s].tolist(), point, strict=True)
                if (low, high) != (LOWEST, HIGHEST)
            ]
            expected += outcomes.index(False) + 1 if False in outcomes else len(outcomes)
            if False not in outcomes:
                break
    assert predicates_evaluated(lows, highs, kept, network.publications.values) == expected


def test_links_split_the_subscriptions_so_that_less_is_covered() -> None:
    network = WORKLOADS["brokers-covering"].generate(seed=1, brokers=40, subscriptions=600, publications=60)
    brokers = np.arange(40, dtype=np.int32)
    none = matching_effort(network, np.empty((0, 2), dtype=np.int32), brokers, 60)
    every = matching_effort(network, network.allowed_links(), brokers, 60)
    assert none.covering < every.covering < len(network.subscriptions)
    assert none.evaluations < every.evaluations
