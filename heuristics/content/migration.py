"""User migration (P4 §IV.C): each broker moves its heaviest users to other brokers while that lowers the total cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...instances.content.instance import ContentInstance, Flags, Floats
from ...instances.content.problems import CONTENT_PROBLEMS, ContentOverlay
from ...instances.contract.arrays import Ids, Offsets
from ...instances.contract.errors import BadInput
from ...instances.contract.method import Proposal
from ...instances.contract.option import Option
from ...instances.contract.run import Clock, offer
from ..compiled import kernel
from .clustering import clustering
from .greedy_packing import greedy_packing
from .heuristic import content_heuristic
from .kernels.placement import Placement, Users, cost, cost_changes, move, placement_of, users_of
from .kernels.prices import Network, network_of
from .kernels.routing import route
from .migration_protocol import Move, simulate_migration
from .random_assignment import random_assignment
from .steiner_mixing import steiner_mixing

_STARTS = {
    "greedy-packing": lambda instance, seed: greedy_packing(instance),
    "clustering": lambda instance, seed: clustering(instance),
    "steiner-mixing": lambda instance, seed: steiner_mixing(instance, seed=seed),
    "random-assignment": lambda instance, seed: random_assignment(instance, seed=seed),
}
_OPTIONS = (
    Option("start", "greedy-packing", "the heuristic whose assignment is improved", choices=tuple(_STARTS)),
    Option("heaviest", 0, "how many of its heaviest users a broker tries in a sweep; 0: all", least=0),
    Option("decline", 0.0, "share of the users who decline to move", least=0.0, most=1.0),
    Option("publications", 20, "messages published during the moves, to count losses", least=0),
)
_PROBLEMS = {problem.routing: problem for problem in CONTENT_PROBLEMS}
_USERS_AT_ONCE = 500
_RELATIVE_GAIN = 1e-12


@dataclass(frozen=True)
class MigrationResult:
    """An overlay, the requests to move that led to it, and the number of sweeps over the users."""

    overlay: ContentOverlay
    requests: Sequence[Move]
    sweeps: int


def migrate(
    instance: ContentInstance,
    brokers: Ids,
    routing: str,
    *,
    heaviest: int = 0,
    declines: Flags | None = None,
    time_limit: float | None = None,
) -> MigrationResult:
    """Improve an assignment until no broker lowers the cost by moving a single user to another broker.

    A sweep takes the users of every broker by falling demand. In round r each broker in turn asks its r-th user to
    move to the broker, among those with enough residual capacity, where the total cost falls most, if it falls at all.
    A user who declines is not asked again. The last sweep is one without a move.

    Parameters
    ----------
    instance : ContentInstance
    brokers : int32 array, shape (|U|,)
        An assignment within the capacities.
    routing : {"mst", "steiner", "shared-tree"}
        For ``steiner`` moves are evaluated with the heuristic trees of :func:`.prices_from`. For ``shared-tree`` the
        tree is chosen again after the last sweep; if that lowers the cost, sweeps go on.
    heaviest : int
        How many users a broker tries in a sweep, 0 for all; 1 is the step of the paper.
    declines : bool array, shape (|U|,), optional
        The users who decline.
    time_limit : float, optional
        Seconds, after which the current assignment is returned.

    Returns
    -------
    MigrationResult
        Its overlay costs at most as much as that of `brokers`.

    Notes
    -----
    Zhao, Wu (P4), §IV.C. A user costs O(|B| |C|), and one tree for each channel of which the user is the broker's last
    subscriber or would be another broker's first.
    """
    users, clock = users_of(instance), Clock(time_limit)
    refused = np.zeros(instance.num_users, dtype=np.bool_)
    unwilling = refused.copy() if declines is None else declines
    best = route(instance, brokers, routing)
    offer(best)
    value = _PROBLEMS[routing].value
    requests: list[Move] = []
    sweeps = rounds = 0
    while True:
        network = network_of(instance.core, routing, best.trees[0].links if routing == "shared-tree" else ())
        placement = placement_of(users, network, best.brokers)
        new_requests: list[Move] = []
        settled = False
        while not settled and not clock.passed:
            in_sweep = _sweep(users, network, placement, heaviest, unwilling, refused, clock)
            new_requests += [replace(request, round=rounds + request.round) for request in in_sweep]
            sweeps, rounds = sweeps + 1, rounds + instance.num_users
            settled = not any(request.accepted for request in in_sweep)
        overlay = route(instance, placement.brokers, routing)
        if routing == "shared-tree":
            same_tree = ContentOverlay(placement.brokers, best.trees)
            settled = value(instance, same_tree) <= value(instance, overlay)
            overlay = same_tree if settled else overlay
        if not any(request.accepted for request in new_requests):
            return MigrationResult(best, requests + new_requests, sweeps)
        if value(instance, overlay) >= value(instance, best):
            return MigrationResult(best, requests, sweeps)
        best, requests = overlay, requests + new_requests
        offer(best)
        if settled or clock.passed:
            return MigrationResult(best, requests, sweeps)


def _sweep(
    users: Users,
    network: Network,
    placement: Placement,
    heaviest: int,
    unwilling: Flags,
    refused: Flags,
    clock: Clock,
) -> list[Move]:
    """The requests of a sweep."""
    by_weight = np.lexsort((np.arange(len(refused)), -users.demands, placement.brokers))
    homes = placement.brokers[by_weight]
    rounds = np.arange(len(homes)) - np.searchsorted(homes, homes)
    turns = np.lexsort((homes, rounds))
    if heaviest:
        turns = turns[rounds[turns] < heaviest]
    tolerance = _RELATIVE_GAIN * cost(users, placement)
    requests = []
    for start in range(0, len(turns), _USERS_AT_ONCE):
        if clock.passed:
            break
        part = turns[start : start + _USERS_AT_ONCE]
        rows = _request_moves(users, network, placement, by_weight[part], unwilling, refused, tolerance)
        for index, user, home, foreign in rows.tolist():
            requests.append(Move(user, home, foreign, int(rounds[part[index]]), not unwilling[user]))
    return requests


@kernel
def _request_moves(
    users: Users,
    network: Network,
    placement: Placement,
    turns: Offsets,
    unwilling: Flags,
    refused: Flags,
    tolerance: float,
) -> Ids:
    """Move users one after the other; each request is a row: index in `turns`, user, home broker, foreign broker."""
    requests = np.empty((len(turns), 4), dtype=np.int32)
    count = 0
    changes = np.empty(len(placement.loads))
    for index in range(len(turns)):
        user = turns[index]
        if refused[user]:
            continue
        cost_changes(users, network, placement, user, changes)
        foreign = _best_broker(users, placement, user, changes)
        if changes[foreign] < -tolerance:
            requests[count] = np.array([index, user, placement.brokers[user], foreign])
            count += 1
            if unwilling[user]:
                refused[user] = True
            else:
                move(users, network, placement, user, foreign)
    return requests[:count]


@kernel
def _best_broker(users: Users, placement: Placement, user: int, changes: Floats) -> int:
    """The broker with enough residual capacity where the cost falls most, or the user's own."""
    best = placement.brokers[user]
    for b in range(len(changes)):
        if changes[b] < changes[best] and placement.loads[b] + users.demands[user] <= users.load_limits[b]:
            best = b
    return int(best)


def _solve(
    instance: ContentInstance,
    routing: str,
    *,
    seed: int,
    time_limit: float | None,
    overlay: ContentOverlay | None = None,
    **chosen: Any,
) -> Proposal[ContentOverlay]:
    problem = _PROBLEMS[routing]
    if overlay is not None and (violations := problem.violations(instance, overlay)):
        raise BadInput(f"{violations[0]}: start from a valid overlay")
    before = _STARTS[chosen["start"]](instance, seed) if overlay is None else overlay.brokers
    declines = np.random.default_rng(seed).random(instance.num_users) < chosen["decline"]
    result = migrate(instance, before, routing, heaviest=chosen["heaviest"], declines=declines, time_limit=time_limit)
    if overlay is not None and problem.value(instance, overlay) < problem.value(instance, result.overlay):
        result = MigrationResult(overlay, (), result.sweeps)  # the given trees are better than the heuristic ones
    counts = simulate_migration(instance, before, result.requests, publications=chosen["publications"], seed=seed)
    return Proposal(result.overlay, counters={"sweeps": result.sweeps, **counts.counters})


MIGRATION = content_heuristic(
    "migration",
    _solve,
    summary="heaviest users move to the broker that lowers the cost most, from any start",
    source="P4 §IV.C, §V",
    guarantee="never costs more than its start; it ends when no move of a single user lowers the cost",
    cost="O(|B| |C|) for each user in a sweep, and the trees of the channels that change",
    options=_OPTIONS,
    warm_up_with=tuple({"start": start} for start in _STARTS),
    inputs=("overlay",),
    pace=5,
    colour="#D55E00",
    marker="s",
)
