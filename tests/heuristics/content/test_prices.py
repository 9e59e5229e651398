"""The prices of trees, and of moves, against trees found among all and costs summed anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from overlaybench.heuristics.content.heuristic import users_of
from overlaybench.heuristics.content.migration import cost, cost_changes, move, placement_of
from overlaybench.heuristics.content.routing import network_of, prices_from, route
from overlaybench.instances.content.instance import ContentInstance
from overlaybench.instances.content.problems import CONTENT_PROBLEMS, ContentOverlay
from tests.content_brute_force import Network, Tree
from tests.content_strategies import assignments, content_instances
from tests.properties import property_test

ROUTINGS = [problem.routing for problem in CONTENT_PROBLEMS]
PROBLEMS = {problem.routing: problem for problem in CONTENT_PROBLEMS}


def tree_of(data: st.DataObject, network: Network) -> Tree:
    return data.draw(st.sampled_from(network.spanning_trees))


@property_test(100, st.data())
@pytest.mark.parametrize("routing", ROUTINGS)
def test_the_price_from_each_broker_is_that_of_the_best_tree(routing: str, data: st.DataObject) -> None:
    core = data.draw(content_instances(max_users=1, max_brokers=5, max_channels=1)).core
    network = Network(core.tolist())
    wanted = np.array(data.draw(st.lists(st.booleans(), min_size=len(core), max_size=len(core))))
    tree = tree_of(data, network) if routing == "shared-tree" else ()
    prices = np.empty(len(core))
    prices_from(network_of(core, routing, tree), wanted, prices)
    for broker in range(len(core)):
        ends = frozenset({broker, *np.flatnonzero(wanted).tolist()}) if wanted.any() else frozenset({broker})
        if routing == "shared-tree":
            assert prices[broker] == network.part(tree, ends)
        elif routing == "mst":
            assert prices[broker] == network.spanning(ends)
        else:
            assert network.steiner(ends) <= prices[broker] <= network.spanning(ends)


@property_test(60, st.data())
@pytest.mark.parametrize("routing", ROUTINGS)
def test_a_move_changes_the_cost_by_what_was_foretold(routing: str, data: st.DataObject) -> None:
    instance = data.draw(content_instances(max_users=6, max_brokers=4))
    brokers, user = data.draw(assignments(instance)), data.draw(st.integers(0, instance.num_users - 1))
    tree = tree_of(data, Network(instance.core.tolist())) if routing == "shared-tree" else ()
    users, network = users_of(instance), network_of(instance.core, routing, tree)
    placement, found = placement_of(users, network, brokers), np.empty(instance.num_brokers)
    cost_changes(users, network, placement, user, found)
    for broker in range(instance.num_brokers):
        moved, anew = placement_of(users, network, brokers), brokers.copy()
        move(users, network, moved, user, broker)
        anew[user] = broker
        expected = placement_of(users, network, anew)
        assert cost(users, moved) - cost(users, placement) == found[broker]
        assert [values.tolist() for values in moved] == [values.tolist() for values in expected]


@property_test(60, st.data())
@pytest.mark.parametrize("routing", ROUTINGS)
def test_a_placement_costs_what_the_judge_says(routing: str, data: st.DataObject) -> None:
    instance = data.draw(content_instances(max_users=6, max_brokers=4))
    brokers = data.draw(assignments(instance))
    overlay = route(instance, brokers, routing)
    assert not PROBLEMS[routing].violations(instance, overlay)
    value = PROBLEMS[routing].value(instance, overlay)
    links = overlay.trees[0].links if routing == "shared-tree" else ()
    placement = placement_of(users_of(instance), network_of(instance.core, routing, links), brokers)
    assert cost(users_of(instance), placement) == value or (routing == "steiner")
    if routing == "steiner":
        assert value <= PROBLEMS["mst"].value(instance, ContentOverlay(brokers))


def test_the_relaying_broker_of_a_star_metric_is_found() -> None:
    core = np.array([[0, 2, 2, 1], [2, 0, 2, 1], [2, 2, 0, 1], [1, 1, 1, 0]], dtype=float)
    rates, wanted = np.array([[1.0], [0.0], [0.0]]), np.array([[False], [True], [True]])
    instance = ContentInstance(np.ones((3, 4)), core, np.full(4, np.inf), rates, wanted)
    brokers = np.arange(3, dtype=np.int32)
    cores = {
        routing: problem.measures(instance, route(instance, brokers, routing))["core"]
        for routing, problem in PROBLEMS.items()
    }
    assert cores == {"steiner": 3, "mst": 4, "shared-tree": 3}
