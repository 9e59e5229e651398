"""User migration (P4 §IV.C): a broker hands its heaviest users to where the whole costs less, while it helps."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...instances.content.instance import ContentInstance
from ...instances.content.overlay import ContentOverlay
from ...instances.content.problems import CONTENT_PROBLEMS
from ...instances.errors import BadInput
from ...instances.option import Option
from ..compiled import kernel
from .clustering import clustering
from .greedy_packing import greedy_packing
from .heuristic import Assigned, content_heuristic
from .kernels.placement import Placement, Users, changes, cost, move, placed, users_of
from .kernels.prices import Flags, Floats, Ids, Network, network_of
from .kernels.routing import routed
from .migration_protocol import Move, simulate_migration
from .random_assignment import random_assignment
from .steiner_mixing import steiner_mixing

_STARTS = ("greedy-packing", "clustering", "steiner-mixing", "random-assignment")
_OPTIONS = (
    Option("start", "greedy-packing", "the assignment to improve", choices=_STARTS),
    Option("heaviest", 0, "how many of its heaviest users a broker tries in a sweep; 0: all", least=0),
    Option("decline", 0.0, "share of the users who decline to move", least=0.0, most=1.0),
    Option("publications", 20, "messages published while users move, to see that none is lost", least=0),
)
_PROBLEMS = {problem.routing: problem for problem in CONTENT_PROBLEMS}
_AT_ONCE = 500
_GAIN = 1e-12


@dataclass(frozen=True)
class Migrated:
    """An overlay, the requests to move that led to it, and how many sweeps over the users they took."""

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
) -> Migrated:
    """Improve an assignment until no broker gains by handing a single user to another broker.

    A sweep takes the users of every broker by falling traffic: in its r-th round each broker in turn asks its r-th
    user to move to the broker, among those with room, where the whole cost falls most, if it falls anywhere. A user
    who declines is not asked again. Sweeps end with the first that moves nobody.

    Parameters
    ----------
    instance : ContentInstance
    brokers : int32 array, shape (|U|,)
        Any assignment within the capacities.
    routing : {"mst", "steiner", "shared-tree"}
        For ``steiner`` moves are chosen by the prices of trees with relays
        (:func:`.prices_from`), which are not always least; for ``shared-tree`` the tree is
        chosen anew when no user moves any more, as long as that helps.
    heaviest : int
        How many users a broker tries in a sweep, 0 for all; with 1 this is P4's step to the letter.
    declines : bool array, shape (|U|,), optional
        Who declines.
    time_limit : float, optional
        Seconds, after which the assignment is returned as it is then.

    Returns
    -------
    Migrated
        Costing at most what the start costs.

    Notes
    -----
    Zhao, Wu (P4), §IV.C. A user costs O(|B| |C|), and a tree for each channel of which he is his broker's last
    subscriber or would be another's first.
    """
    users = users_of(instance)
    asked = np.zeros(instance.num_users, dtype=np.bool_)
    unwilling = asked.copy() if declines is None else declines
    end = time.perf_counter() + (np.inf if time_limit is None else time_limit)
    best = routed(instance, brokers, routing)
    value = _PROBLEMS[routing].value
    requests: list[Move] = []
    sweeps = rounds = 0
    while True:
        network = network_of(instance.core, routing, best.trees[0].links if routing == "shared-tree" else ())
        placement = placed(users, network, best.brokers)
        asking: list[Move] = []
        settled = False
        while not settled and time.perf_counter() < end:
            found = _sweep(users, network, placement, heaviest, unwilling, asked, end)
            asking += [replace(request, round=rounds + request.round) for request in found]
            sweeps, rounds = sweeps + 1, rounds + instance.num_users
            settled = not any(request.accepted for request in found)
        improved = routed(instance, placement.brokers, routing)
        if routing == "shared-tree":
            kept = ContentOverlay(placement.brokers, best.trees)
            settled = value(instance, kept) <= value(instance, improved)
            improved = kept if settled else improved
        if not any(request.accepted for request in asking):
            return Migrated(best, requests + asking, sweeps)
        if value(instance, improved) >= value(instance, best):
            return Migrated(best, requests, sweeps)
        best, requests = improved, requests + asking
        if settled or time.perf_counter() >= end:
            return Migrated(best, requests, sweeps)


def _sweep(
    users: Users,
    network: Network,
    placement: Placement,
    heaviest: int,
    unwilling: Flags,
    asked: Flags,
    end: float,
) -> list[Move]:
    """The requests of a sweep."""
    by_weight = np.lexsort((np.arange(len(asked)), -users.demands, placement.brokers))
    homes = placement.brokers[by_weight]
    rounds = np.arange(len(homes)) - np.searchsorted(homes, homes)
    turns = np.lexsort((homes, rounds))
    if heaviest:
        turns = turns[rounds[turns] < heaviest]
    tolerance = _GAIN * cost(users, placement)
    requests = []
    for start in range(0, len(turns), _AT_ONCE):
        if time.perf_counter() > end:
            break
        part = turns[start : start + _AT_ONCE]
        found = _ask(users, network, placement, by_weight[part], unwilling, asked, tolerance)
        for place, user, home, foreign in found.tolist():
            requests.append(Move(user, home, foreign, int(rounds[part[place]]), not unwilling[user]))
    return requests


@kernel
def _ask(
    users: Users,
    network: Network,
    placement: Placement,
    turns: npt.NDArray[np.int64],
    unwilling: Flags,
    asked: Flags,
    tolerance: float,
) -> Ids:
    """Let users move one after the other; a row a request: place in `turns`, user, home broker, foreign broker."""
    requests = np.empty((len(turns), 4), dtype=np.int32)
    count = 0
    found = np.empty(len(placement.loads))
    for place in range(len(turns)):
        user = turns[place]
        if asked[user]:
            continue
        changes(users, network, placement, user, found)
        foreign = _best(users, placement, user, found)
        if found[foreign] < -tolerance:
            requests[count] = np.array([place, user, placement.brokers[user], foreign])
            count += 1
            if unwilling[user]:
                asked[user] = True
            else:
                move(users, network, placement, user, foreign)
    return requests[:count]


@kernel
def _best(users: Users, placement: Placement, user: int, found: Floats) -> int:
    """The broker with room where the cost falls most, or the user's own."""
    best = placement.brokers[user]
    for b in range(len(found)):
        if found[b] < found[best] and placement.loads[b] + users.demands[user] <= users.room[b]:
            best = b
    return int(best)


def _assign(
    instance: ContentInstance,
    *,
    routing: str,
    seed: int,
    time_limit: float | None,
    start: str = "greedy-packing",
    heaviest: int = 0,
    decline: float = 0.0,
    publications: int = 20,
    overlay: ContentOverlay | None = None,
) -> Assigned:
    before = _started(instance, start, seed) if overlay is None else overlay.brokers
    judge = _PROBLEMS[routing]
    if overlay is not None and (violations := judge.violations(instance, overlay)):
        raise BadInput(f"{violations[0]}: begin with a valid overlay")
    declines = np.random.default_rng(seed).random(instance.num_users) < decline
    done = migrate(instance, before, routing, heaviest=heaviest, declines=declines, time_limit=time_limit)
    if overlay is not None and judge.value(instance, overlay) < judge.value(instance, done.overlay):
        done = Migrated(overlay, (), done.sweeps)  # its trees were better than those that migration finds
    journal = simulate_migration(instance, before, done.requests, publications=publications, seed=seed)
    return Assigned(done.overlay.brokers, {"sweeps": done.sweeps, **journal.counters}, done.overlay)


def _started(instance: ContentInstance, start: str, seed: int) -> Ids:
    if start == "greedy-packing":
        return greedy_packing(instance)
    if start == "clustering":
        return clustering(instance)
    return (
        random_assignment(instance, seed=seed) if start == "random-assignment" else steiner_mixing(instance, seed=seed)
    )


MIGRATION = content_heuristic(
    "migration",
    _assign,
    summary="heaviest users move to the broker that lowers the cost most, from any start",
    source="P4 §IV.C, §V",
    options=_OPTIONS,
    warm_up_with=tuple({"start": start} for start in _STARTS),
    inputs=("overlay",),
    pace=5,
    colour="#D55E00",
    marker="D",
)
