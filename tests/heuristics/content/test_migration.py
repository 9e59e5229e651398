"""Migration only ever helps, and its protocol loses nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from overlaybench.heuristics.content.migration import MIGRATION, migrate
from overlaybench.heuristics.content.migration_protocol import Move, simulate_migration
from overlaybench.heuristics.content.routing import route
from overlaybench.instances.content.instance import ContentInstance
from overlaybench.instances.content.problems import CONTENT_PROBLEMS, ContentOverlay, ContentProblem
from overlaybench.instances.contract.catalogue import WORKLOADS, methods_of
from overlaybench.instances.contract.errors import BadInput
from tests.content_brute_force import Network, cost
from tests.content_strategies import assignments, content_instances
from tests.outcomes import answer_of, value_of
from tests.properties import property_test

CONTENT_MODELS = methods_of("overlaybench.models.content")

STEINER, MST, SHARED = CONTENT_PROBLEMS
(CONTENT_BRANCH_AND_CUT,) = (method for method in CONTENT_MODELS if method.name == "branch-and-cut")


@property_test(60, st.data())
@pytest.mark.parametrize("problem", CONTENT_PROBLEMS, ids=lambda problem: problem.routing)
def test_migration_never_costs_more_than_its_start(problem: ContentProblem, data: st.DataObject) -> None:
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
@pytest.mark.parametrize("problem", CONTENT_PROBLEMS, ids=lambda problem: problem.routing)
def test_migration_improves_any_overlay_and_keeps_the_best_possible(
    problem: ContentProblem, data: st.DataObject
) -> None:
    instance = data.draw(content_instances(max_users=5))
    given_trees = route(instance, data.draw(assignments(instance)), problem.routing)
    result = MIGRATION.run(instance, problem, overlay=given_trees)
    assert value_of(result) <= problem.value(instance, given_trees)
    best = answer_of(CONTENT_BRANCH_AND_CUT.run(instance, problem))
    assert MIGRATION.run(instance, problem, overlay=best).value == problem.value(instance, best)


def test_an_overlay_to_begin_with_must_be_valid() -> None:
    instance = WORKLOADS["content"].generate(users=20, brokers=4, intervals=4)
    with pytest.raises(BadInput, match=r"broker 'b2' carries .*: start from a valid overlay"):
        MIGRATION.run(instance, MST, overlay=ContentOverlay(np.full(20, 2)))


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


def test_the_same_seed_gives_the_same_answer_and_counts() -> None:
    instance = WORKLOADS["content"].generate(users=80, brokers=5, intervals=10, width=0.2)
    first, second = (MIGRATION.run(instance, STEINER, seed=3, start="random-assignment", decline=0.2) for _ in range(2))
    assert first.answer == second.answer
    assert first.counters == second.counters


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
                moves.append(Move(user, int(brokers[user]), foreign, round_number, accepted))
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
    moves = [Move(user, user % 10, (user + 1) % 10, 0) for user in range(100)]
    kept, dropped = (
        simulate_migration(instance, start, moves, publications=50, seed=1, forwarding=share) for share in (1.0, 0.0)
    )
    assert kept.lost == 0
    assert kept.messages["redirect"] > 0
    assert dropped.lost > 0
    assert dropped.lost + dropped.delivered == kept.delivered


def test_every_accepted_move_takes_the_messages_of_the_protocol() -> None:
    instance = WORKLOADS["content"].generate(users=3, brokers=4, intervals=2)
    moves = [Move(0, 0, 1, 0), Move(1, 0, 2, 0, accepted=False)]
    counts = simulate_migration(instance, np.zeros(3, dtype=np.int32), moves)
    sent = {kind: count for kind, count in counts.messages.items() if count}
    assert sent == {
        "request_to_move": 2, "accept": 1, "decline": 1, "replicate": 1, "address": 1, "connect": 1, "register": 2
    }  # fmt: skip
