"""The judges of the content problems against costs summed message by message."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from overlaybench.instances.content.instance import ContentInstance
from overlaybench.instances.content.problems import CONTENT_PROBLEMS, ContentOverlay, RoutingTree, broker_traffic
from overlaybench.instances.content.workloads import relay_star
from overlaybench.instances.contract.arrays import Ids
from tests.content_brute_force import Network, cost, demands
from tests.content_brute_force import assignments as fitting
from tests.content_strategies import assignments, content_instances
from tests.properties import property_test

STEINER, MST, SHARED = CONTENT_PROBLEMS


STAR, AT_RIM = relay_star(rim=3), np.array([1, 2, 3])


def best_trees(instance: ContentInstance, network: Network, brokers: Ids, routing: str) -> tuple[RoutingTree, ...]:
    """The trees of an assignment that brute force finds best."""
    if routing == "mst":
        return ()
    traffic = broker_traffic(instance, ContentOverlay(brokers))
    if routing == "shared-tree":
        found = [ContentOverlay(brokers, (RoutingTree.of(links),)) for links in network.spanning_trees]
        return min(found, key=lambda overlay: SHARED.core_cost(instance, overlay, traffic)).trees
    trees = []
    for source, channel in np.argwhere(traffic.rates > 0):
        ends = frozenset({int(source), *np.flatnonzero(traffic.subscribed[:, channel]).tolist()})
        if len(ends) == 1:
            continue
        price = network.steiner(ends)
        links = next(
            links
            for mask in range(2**instance.num_brokers)
            if (members := frozenset(b for b in network.brokers if mask >> b & 1)) >= ends
            for links in network.trees(members)
            if network.price(links) == price
        )
        trees.append(RoutingTree.of(links, int(channel), [int(source)]))
    return tuple(trees)


@property_test(60, st.data())
def test_the_judges_sum_what_every_message_pays(data: st.DataObject) -> None:
    instance = data.draw(content_instances(max_brokers=4))
    brokers = data.draw(assignments(instance))
    network = Network(instance.core.tolist())
    values = {}
    for problem in CONTENT_PROBLEMS:
        answer = ContentOverlay(brokers, best_trees(instance, network, brokers, problem.routing))
        assert not problem.violations(instance, answer)
        values[problem.routing] = problem.value(instance, answer)
        assert values[problem.routing] == cost(instance, network, brokers.tolist(), problem.routing)
        measures = problem.measures(instance, answer)
        assert measures["access"] + measures["core"] == values[problem.routing]
    assert values["steiner"] <= min(values["mst"], values["shared-tree"])
    assert instance.demands.tolist() == demands(instance)


def test_a_broker_above_its_capacity_is_named_with_the_numbers() -> None:
    instance = dataclasses.replace(STAR, capacities=np.array([9, 0.5, 9, 9]))
    assert MST.violations(instance, ContentOverlay(AT_RIM)) == ["broker 'b1' carries 1 of 0.5"]


@pytest.mark.parametrize(
    ("trees", "fault"),
    [
        ([], "broker 'b1' has 0 trees for channel 'message': needs one"),
        ([([(1, 0), (0, 2)], 0, [1])], "tree 0 of channel 'message' does not reach broker 'b3'"),
        ([([(1, 2), (2, 3), (1, 3)], 0, [1])], "tree 0 of channel 'message' has a cycle or a repeated link"),
        ([([(1, 2), (2, 3)], 0, [1])] * 2, "broker 'b1' has 2 trees for channel 'message': needs one"),
        ([([(1, 2), (2, 3)],)], "tree 0 must name its channel and its source brokers"),
        ([([(1, 2), (2, 3)], 0, [9])], "tree 0 has a source that is no broker"),
        ([([(1, 2), (2, 7)], 0, [1])], "tree 0 of channel 'message' has the link (2, 7), which is no pair of brokers"),
    ],
)
def test_trees_that_do_not_carry_the_messages_are_violations(trees: list[Any], fault: str) -> None:
    overlay = ContentOverlay(AT_RIM, tuple(RoutingTree.of(*tree) for tree in trees))
    assert fault in STEINER.violations(STAR, overlay)


def test_the_shared_tree_must_span_all_brokers() -> None:
    for links in ([(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2), (2, 3)]):
        assert SHARED.violations(STAR, ContentOverlay(AT_RIM, (RoutingTree.of(links),)))
    assert SHARED.violations(STAR, ContentOverlay(AT_RIM))


@property_test(60, content_instances(tight=True))
def test_a_capacity_conflict_is_said_only_where_no_assignment_fits(instance: ContentInstance) -> None:
    if instance.capacity_conflict():
        assert next(iter(fitting(instance)), None) is None


def test_capacity_conflicts_give_the_numbers() -> None:
    def conflict(demand: list[float], capacities: list[float]) -> str:
        n, k = len(demand), len(capacities)
        given = np.ones((n, k)), np.zeros((k, k)), np.array(capacities, float), np.array([demand], float).T
        return ContentInstance(*given, np.zeros((n, 1), np.bool_)).capacity_conflict()

    assert conflict([5, 1], [4, 4]) == "user 'u0' has demand 5, the largest capacity is 4, of broker 'b0'"
    assert conflict([3, 3, 3], [4, 4]) == "the total demand is 9, the total capacity 8"
    assert conflict([6_000_000] * 2, [11_999_999]) == "the total demand is 12000000, the total capacity 11999999"
    assert conflict([3, 3, 3], [5, 5]).startswith("any two of 3 users have demand 6 or more, on 2 brokers")
    assert conflict([3, 3], [3, 3]) == ""
