"""The content heuristics against their twins, their own promises, and each other."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.heuristics.content.assignment import CapacityExceeded, greedy_packing, random_assignment, users_of
from overlaybench.heuristics.content.clustering import clustering
from overlaybench.heuristics.content.migration import (
    MIGRATION,
    MoveRequest,
    cost_changes,
    migrate,
    move,
    placement_of,
    simulate_migration,
)
from overlaybench.heuristics.content.migration import cost as placement_cost
from overlaybench.heuristics.content.routing import network_of, prices_from, route
from overlaybench.heuristics.content.steiner_mixing import (
    brokers_between,
    steiner_mixing,
    traffic_on_closure_trees,
    traffic_on_grown_trees,
)
from overlaybench.instances.content import problems
from overlaybench.instances.content.instance import ContentInstance
from overlaybench.instances.contract.arrays import Ids, Reals
from overlaybench.instances.contract.catalogue import WORKLOADS, methods_of
from overlaybench.instances.runtime.compiled import Interpreter, interpreted
from tests.content_brute_force import Network, Tree, cost
from tests.content_strategies import assignments, content_instances
from tests.outcomes import answer_of, value_of
from tests.properties import property_test

pytestmark = pytest.mark.interpreted

METHODS = {each.name: each for each in methods_of("overlaybench.heuristics.content") if each.answers("content-mst")}
PROBLEMS = {problem.routing: problem for problem in problems.CONTENT_PROBLEMS}
ROUTINGS, MST = list(PROBLEMS), PROBLEMS["mst"]


# The heuristics once more in plain Python, straight from their descriptions: slow, with exact fractions.


def packed(instance: ContentInstance) -> list[int]:
    loads, found = [0.0] * instance.num_brokers, []
    for u in range(instance.num_users):
        broker = min(
            (b for b in range(instance.num_brokers) if fits(instance, loads, u, b)),
            key=lambda b: (instance.access[u, b], b),
        )
        loads[broker] += float(instance.demands[u])
        found.append(broker)
    return found


def clustered(instance: ContentInstance) -> list[int]:
    users, brokers = range(instance.num_users), range(instance.num_brokers)
    loads: list[float] = [0.0] * instance.num_brokers
    found: dict[int, int] = {}

    def traffic(a: int, b: int) -> int:
        return sum(
            int(instance.rates[a, c]) * bool(instance.subscriptions[b, c])
            + int(instance.rates[b, c]) * bool(instance.subscriptions[a, c])
            for c in range(instance.num_channels)
        )

    for broker in brokers:
        pairs = [
            pair
            for pair in combinations([u for u in users if u not in found], 2)
            if loads[broker] + float(instance.demands[list(pair)].sum()) <= instance.load_limits()[broker]
        ]
        if pairs:
            best = max(
                pairs,
                key=lambda pair: (
                    ratio(traffic(*pair), instance.access[pair[0], broker] + instance.access[pair[1], broker]),
                    [-u for u in pair],
                ),
            )
            for u in best:
                found[u] = broker
                loads[broker] += float(instance.demands[u])
    for u in users:
        if u not in found:
            found[u] = max(
                (b for b in brokers if fits(instance, loads, u, b)),
                key=lambda b: (
                    ratio(sum(traffic(u, other) for other in users if found.get(other) == b), instance.access[u, b]),
                    -instance.access[u, b],
                    -b,
                ),
            )
            loads[found[u]] += float(instance.demands[u])
    return [found[u] for u in users]


def ratio(traffic: float, price: float) -> Fraction | float:
    if price:
        return Fraction(traffic) / Fraction(float(price))
    return math.inf if traffic else Fraction(0)


def fits(instance: ContentInstance, loads: list[float], user: int, broker: int) -> bool:
    return bool(loads[broker] + float(instance.demands[user]) <= instance.load_limits()[broker])


def grown_traffic(instance: ContentInstance) -> list[list[float]]:
    """Prim's algorithm from each publisher on each channel with another subscriber."""
    users, brokers = range(instance.num_users), range(instance.num_brokers)
    access, core = instance.access, instance.core
    traffic = [[0.0] * len(brokers) for _ in users]
    for c in range(instance.num_channels):
        wanting = [u for u in users if instance.subscriptions[u, c]]
        for s in users:
            rate, others = float(instance.rates[s, c]), [u for u in wanting if u != s]
            if not rate or not others:
                continue
            paths = {b: min(core[b, last] + access[u, last] for last in brokers for u in others) for b in brokers}
            start = min(brokers, key=lambda b: (access[s, b] + paths[b], b))
            traffic[s][start] += rate
            reached, left = {start}, set(wanting)
            while left:
                _, broker, _, user = min(
                    (min(core[q, b] for q in reached) + access[u, b], b, access[u, b], u) for b in brokers for u in left
                )
                left.remove(user)
                reached.add(broker)
                if user != s:
                    traffic[user][broker] += rate
    return traffic


def closure_tree_brokers(access: list[list[float]], core: list[list[float]]) -> set[int]:
    """The brokers on the paths of a minimum spanning tree of users; for prices without ties.

    Paths are those of the metric closure: between two users through any one or two brokers.
    """
    users, brokers = range(len(access)), range(len(core))
    paths = {
        (u, v): min((access[u][a] + core[a][b] + access[v][b], (a, b)) for a in brokers for b in brokers)
        for u in users
        for v in users
        if u != v
    }
    joined, used = {0}, set[int]()
    while len(joined) < len(users):
        (_, pair), new = min((paths[u, v], v) for u in joined for v in users if v not in joined)
        joined.add(new)
        used |= set(pair)
    return used


def beside_a_far_broker(users: int) -> ContentInstance:
    """A publisher at broker 0, and subscribers who are all at price 1 from broker 1, at distance 100 from broker 0."""
    access = np.array([[1.0, 101.0]] + [[100.0, 1.0]] * users)
    core = np.array([[0.0, 100.0], [100.0, 0.0]])
    rates, wanted = np.zeros((users + 1, 1)), np.ones((users + 1, 1), dtype=bool)
    rates[0], wanted[0] = 1.0, False
    return ContentInstance(access, core, np.full(2, np.inf), rates, wanted)


@property_test(80, content_instances(max_users=7, max_brokers=4, tight=True))
@pytest.mark.parametrize(("method", "twin"), [(greedy_packing, packed), (clustering, clustered)])
def test_the_two_stage_heuristics_agree_with_their_twins(
    method: Callable[[ContentInstance], Ids], twin: Callable[[ContentInstance], list[int]], instance: ContentInstance
) -> None:
    try:
        found = method(instance).tolist()
    except CapacityExceeded:
        with pytest.raises(ValueError, match="empty"):
            twin(instance)
    else:
        assert found == twin(instance)


def test_clustering_at_a_free_broker_multiplies_no_infinite_ratio_by_its_price() -> None:
    core, rates = np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones((4, 1))
    instance = ContentInstance(np.array([[0.0, 1.0]] * 4), core, np.full(2, np.inf), rates, rates > 0)
    with interpreted(Interpreter()), np.errstate(all="raise"):
        assert clustering(instance).tolist() == clustered(instance)


def test_a_user_that_no_pair_has_goes_to_the_broker_that_it_exchanges_most_with() -> None:
    """Users 0 and 1 are the pair of broker 0, 2 and 3 that of broker 1; 4 receives and 5 sends what 2 and 3 do."""
    rates, wanted = np.zeros((6, 2)), np.zeros((6, 2), np.bool_)
    rates[[0, 2, 5], [0, 1, 1]] = 9, 4, 1
    wanted[[1, 3, 4], [0, 1, 1]] = True
    instance = ContentInstance(np.ones((6, 2)), 1 - np.eye(2), np.full(2, np.inf), rates, wanted)
    assert clustering(instance).tolist() == clustered(instance) == [0, 0, 1, 1, 1, 1]


@property_test(80, content_instances(max_users=7, max_brokers=4))
def test_grown_trees_agree_with_their_twin(instance: ContentInstance) -> None:
    assert traffic_on_grown_trees(instance).tolist() == grown_traffic(instance)


@property_test(80, st.integers(2, 7), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_closure_trees_use_the_brokers_of_a_minimum_spanning_tree_of_users(users: int, brokers: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    places, homes = random.random((users, 2)), random.random((brokers, 2))
    access = np.hypot(*(places[:, None] - homes).T).T + random.random((users, brokers))  # so that no two ways tie
    core = np.hypot(*(homes[:, None] - homes).T).T
    used = closure_tree_brokers(access.tolist(), core.tolist())
    assert set(np.flatnonzero(brokers_between(access, core)).tolist()) == used


@property_test(40, content_instances(max_users=7, max_brokers=4))
@pytest.mark.parametrize("trees", [traffic_on_closure_trees, traffic_on_grown_trees])
def test_every_message_with_another_subscriber_puts_its_rate_on_each_of_its_users(
    trees: Callable[[ContentInstance], Reals], instance: ContentInstance
) -> None:
    alone = instance.subscriptions.sum(axis=0) - instance.subscriptions == 0
    sent = np.where(alone, 0.0, instance.rates)
    received = np.where(instance.subscriptions, instance.rates.sum(axis=0) - instance.rates, 0.0)
    assert trees(instance).sum(axis=1).tolist() == (sent + received).sum(axis=1).tolist()


@property_test(40, content_instances(max_users=6, tight=True), st.integers(0, 3))
@pytest.mark.parametrize("problem", problems.CONTENT_PROBLEMS, ids=lambda problem: problem.routing)
@pytest.mark.parametrize("name", METHODS)
def test_capacities_hold_or_the_method_says_what_stops_it(
    name: str, problem: problems.ContentProblem, instance: ContentInstance, seed: int
) -> None:
    result = METHODS[name].run(instance, problem, seed=seed)
    if result.status is ob.Status.FEASIBLE:
        network = Network(instance.core.tolist())
        best = cost(instance, network, answer_of(result).brokers.tolist(), problem.routing)
        assert value_of(result) >= best if problem is not MST else result.value == best
    elif result.status is ob.Status.INFEASIBLE:
        assert instance.capacity_conflict() == result.reason
    else:
        assert result.reason.startswith("no broker can take user ")
    again = METHODS[name].run(instance, problem, seed=seed)
    assert (again.status, again.answer, again.counters) == (result.status, result.answer, result.counters)


def test_one_user_too_many_is_named_with_the_numbers_and_the_heaviest_first_can_fit() -> None:
    demand, prices = np.array([[1.0], [1.0], [2.0], [2.0]]), np.array([[1.0, 2.0]] * 4)
    instance = ContentInstance(prices, np.zeros((2, 2)), np.full(2, 3.0), demand, np.zeros((4, 1), np.bool_))
    result = METHODS["greedy-packing"].run(instance, MST)
    assert result.status is ob.Status.FAILED
    assert "'u3'" in result.reason
    assert "'b0'" in result.reason
    assert METHODS["greedy-packing"].run(instance, MST, order="heaviest").status is ob.Status.FEASIBLE


def test_random_assignment_gives_every_broker_its_share() -> None:
    instance = WORKLOADS["content"].generate(users=4000, brokers=4, intervals=2)
    counts = np.bincount(random_assignment(instance, seed=1), minlength=4)
    assert abs(counts - 1000).max() < 5 * np.sqrt(750)
    assert (random_assignment(instance, seed=1) != random_assignment(instance, seed=2)).any()


def test_mixing_draws_in_proportion_to_the_traffic() -> None:
    instance = WORKLOADS["content"].generate(users=40, brokers=5, intervals=8, width=0.2, slack=100.0)
    traffic = traffic_on_closure_trees(instance)
    user = int(np.argmax((traffic > 0).sum(axis=1)))
    drawn = np.bincount([steiner_mixing(instance, seed=seed)[user] for seed in range(400)], minlength=5) / 400
    assert (traffic[user] > 0).sum() > 1
    assert abs(drawn - traffic[user] / traffic[user].sum()).max() < 0.12


def test_grown_trees_have_no_constant_ratio() -> None:
    for users in (4, 8, 16):
        instance = beside_a_far_broker(users)
        grown, closure = (
            (trees(instance) * instance.access).sum() for trees in (traffic_on_grown_trees, traffic_on_closure_trees)
        )
        assert grown >= users * 100
        assert closure <= 100 + 2 * users


@property_test(60, st.data())
@pytest.mark.parametrize("problem", problems.CONTENT_PROBLEMS, ids=lambda problem: problem.routing)
def test_migration_never_costs_more_than_its_start(problem: problems.ContentProblem, data: st.DataObject) -> None:
    instance = data.draw(content_instances(max_users=6, max_brokers=4))
    brokers = data.draw(assignments(instance))
    migrated = migrate(instance, brokers, problem.routing)
    assert not problem.violations(instance, migrated.overlay)
    start = problem.value(instance, route(instance, brokers, problem.routing))
    assert problem.value(instance, migrated.overlay) <= start
    after = brokers.copy()
    for request in migrated.requests:
        assert request.accepted
        assert after[request.user] == request.home
        after[request.user] = request.foreign
    assert after.tolist() == migrated.overlay.brokers.tolist()


@property_test(60, st.data())
def test_after_migration_no_single_user_gains_by_moving(data: st.DataObject) -> None:
    instance = data.draw(content_instances(max_users=5, max_brokers=3, tight=True))
    result = MIGRATION.run(instance, MST)
    if result.answer is None:
        return
    network, brokers = Network(instance.core.tolist()), result.answer.brokers.tolist()
    loads = np.bincount(brokers, instance.demands, instance.num_brokers)
    for user in range(instance.num_users):
        for broker in range(instance.num_brokers):
            if broker != brokers[user] and loads[broker] + instance.demands[user] <= instance.capacities[broker]:
                moved = [*brokers[:user], broker, *brokers[user + 1 :]]
                assert cost(instance, network, moved, "mst") >= value_of(result)


@property_test(40, st.data())
@pytest.mark.parametrize("problem", problems.CONTENT_PROBLEMS, ids=lambda problem: problem.routing)
def test_migration_improves_any_overlay(problem: problems.ContentProblem, data: st.DataObject) -> None:
    instance = data.draw(content_instances(max_users=5))
    given_trees = route(instance, data.draw(assignments(instance)), problem.routing)
    result = MIGRATION.run(instance, problem, overlay=given_trees)
    assert value_of(result) <= problem.value(instance, given_trees)


def test_an_overlay_to_begin_with_must_be_valid() -> None:
    instance = WORKLOADS["content"].generate(users=20, brokers=4, intervals=4)
    with pytest.raises(ob.BadInput, match=r"broker 'b2' carries .*: start from a valid overlay"):
        MIGRATION.run(instance, MST, overlay=problems.ContentOverlay(np.full(20, 2)))


def test_who_declines_stays_and_is_asked_once() -> None:
    instance = WORKLOADS["content"].generate(users=60, brokers=6, intervals=10, width=0.2)
    brokers = np.arange(60, dtype=np.int32) % 6
    free = ContentInstance(instance.access, instance.core, np.full(6, np.inf), instance.rates, instance.subscriptions)
    declines = np.arange(60) % 2 == 0
    requests = migrate(free, brokers, "mst", declines=declines).requests
    refused = [request.user for request in requests if not request.accepted]
    assert refused
    assert len(refused) == len(set(refused))
    assert declines[refused].all()
    assert not declines[[request.user for request in requests if request.accepted]].any()


@property_test(60, st.data())
def test_nothing_is_lost_while_users_move(data: st.DataObject) -> None:
    instance = data.draw(content_instances(max_users=6, max_brokers=4))
    start = data.draw(assignments(instance))
    brokers, moves = start.copy(), []
    for round_number in range(data.draw(st.integers(1, 3))):
        for user in data.draw(st.sets(st.integers(0, instance.num_users - 1))):
            foreign = data.draw(st.integers(0, instance.num_brokers - 1))
            if foreign != brokers[user]:
                accepted = data.draw(st.booleans())
                moves.append(MoveRequest(user, int(brokers[user]), foreign, round_number, accepted))
                brokers[user] = foreign if accepted else brokers[user]
    counts = simulate_migration(instance, start, moves, publications=30, seed=data.draw(st.integers(0, 99)))
    count = sum(move.accepted for move in moves)
    assert counts.lost == 0
    assert counts.messages["request_to_move"] == len(moves)
    assert counts.messages["decline"] == len(moves) - count
    for kind in ("accept", "replicate", "address", "connect"):
        assert counts.messages[kind] == count
    assert counts.messages["register"] == count * max(0, instance.num_brokers - 2)


def test_messages_are_lost_if_the_home_broker_does_not_forward() -> None:
    instance = WORKLOADS["content"].generate(users=200, brokers=10, intervals=10)
    start = np.arange(200, dtype=np.int32) % 10
    moves = [MoveRequest(user, user % 10, (user + 1) % 10, 0) for user in range(100)]
    kept, dropped = (
        simulate_migration(instance, start, moves, publications=50, seed=1, forwarding=share) for share in (1.0, 0.0)
    )
    assert kept.lost == 0
    assert kept.messages["redirect"] > 0
    assert dropped.lost > 0
    assert dropped.lost + dropped.delivered == kept.delivered


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
def test_prices_that_are_kept_are_those_of_their_set(routing: str, data: st.DataObject) -> None:
    core = data.draw(content_instances(max_users=1, max_brokers=5, max_channels=1)).core
    tree = tree_of(data, Network(core.tolist())) if routing == "shared-tree" else ()
    network, prices, expected = network_of(core, routing, tree), np.empty(len(core)), np.empty(len(core))
    few = network._replace(sets=network.sets[:1].copy(), prices=network.prices[:1].copy())
    chosen = st.lists(st.booleans(), min_size=len(core), max_size=len(core))
    for wanted in data.draw(st.lists(chosen, min_size=2, max_size=6)):
        prices_from(network_of(core, routing, tree), np.array(wanted), expected)
        for kept in (network, few):
            prices_from(kept, np.array(wanted), prices)
            assert prices.tolist() == expected.tolist()


@property_test(60, st.data())
def test_trees_connect_the_brokers_of_a_channel_without_relays_as_leaves(data: st.DataObject) -> None:
    instance = data.draw(content_instances(max_users=6, max_brokers=6))
    overlay = route(instance, data.draw(assignments(instance)), "steiner")
    assert problems.SteinerRouting().routing_faults(instance, overlay, problems.broker_traffic(instance, overlay)) == []
    keys = [(tree.channel, tree.sources) for tree in overlay.trees]
    assert len({*keys}) == len(keys)
    subscribed = problems.broker_traffic(instance, overlay).subscribed
    for tree in overlay.trees:
        assert problems.RoutingTree.of(tree.links, tree.channel, tree.sources) == tree
        ends = [end for link in tree.links for end in link]
        leaves = {end for end in ends if ends.count(end) == 1}
        assert leaves <= {*np.flatnonzero(subscribed[:, tree.channel]).tolist(), *tree.sources}


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
        assert placement_cost(users, moved) - placement_cost(users, placement) == found[broker]
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
    assert placement_cost(users_of(instance), placement) == value or (routing == "steiner")
    if routing == "steiner":
        assert value <= PROBLEMS["mst"].value(instance, problems.ContentOverlay(brokers))
