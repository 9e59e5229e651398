"""Content overlays over time: users stay, migrate at periods (P4 §IV.C, §V), or are assigned anew at every event."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ...instances.content.dynamic import ContentLog
from ...instances.content.instance import ContentInstance, Flags
from ...instances.content.problems import ContentOverlay
from ...instances.content.trace import ContentSnapshot, ContentTrace
from ...instances.contract.arrays import Ids
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from ...instances.contract.run import Clock
from ...instances.contract.timed import SECOND
from .assignment import CapacityExceeded, cheapest, greedy_packing
from .migration import MoveRequest, migrate, simulate_migration
from .routing import route
from .steiner_mixing import STEINER_MIXING, steiner_mixing

_NONE = -1
_ROUTING = "steiner"


class InfeasibleSnapshot(Exception):
    """No assignment respects the capacities; the message says when and why."""


def followed(
    trace: ContentTrace,
    build: Callable[[ContentSnapshot, Ids], ContentOverlay],
    clock: Clock,
    later: Callable[[ContentSnapshot, Ids, int, int], Iterable[tuple[int, ContentOverlay]]] = lambda *_: (),
) -> ContentLog:
    """The log of the overlays that `build` makes of each snapshot and the users' brokers before, -1 for none.

    `later` takes a snapshot, its users' brokers, its time and the next one, in microseconds, and gives the overlays
    that follow in between. OutOfTime if the clock passes before the last.
    """
    home, found = np.full(trace.instance.num_users, _NONE, np.int32), dict[int, ContentOverlay]()
    ends = [*trace.step_times[1:].tolist(), int(trace.step_times[-1]) + 1]
    for time, end, snapshot in zip(trace.step_times.tolist(), ends, trace.snapshots(), strict=True):
        clock.check()
        if snapshot is None:
            found[time] = ContentOverlay(np.empty(0, np.int32))
            home[:] = _NONE
            continue
        if conflict := snapshot.instance.capacity_conflict():
            raise InfeasibleSnapshot(f"at {time / SECOND:g} s {conflict}")
        found[time] = build(snapshot, snapshot.positions(home))
        found.update(later(snapshot, found[time].brokers, time, end))
        home[:] = _NONE
        home[snapshot.users] = snapshot.brokers[list(found.values())[-1].brokers]
    return ContentLog(np.array(list(found), np.int64), list(found.values()))


def placed(instance: ContentInstance, before: Ids, known: Flags | None = None) -> Ids:
    """The brokers before, where as few users as possible change theirs.

    Of a broker above its capacity the lightest user moves whose move suffices, or the heaviest one, until it has
    capacity again. Users without a broker, by falling demand, get the cheapest one with enough residual capacity, of
    those they know if there is one. If none has enough for a user, all users are packed again by falling demand.

    `before`, shape (|U|,), has the broker of each user, -1 for none; `known`, shape (|U|, |B|), the brokers that each
    user knows, by default all. CapacityExceeded if packing all users again leaves one without a broker, too.
    """
    brokers, demands, limits = before.copy(), instance.demands, instance.load_limits()
    loads = np.array([demands[brokers == b].sum() for b in range(instance.num_brokers)])
    for b in np.flatnonzero(loads > limits).tolist():
        while loads[b] > limits[b]:
            own = np.flatnonzero(brokers == b)
            enough = own[demands[own] >= loads[b] - limits[b]]
            user = enough[np.argmin(demands[enough])] if len(enough) else own[np.argmax(demands[own])]
            brokers[user] = _NONE
            loads[b] = demands[brokers == b].sum()
    waiting = np.flatnonzero(brokers == _NONE)
    for user in waiting[np.argsort(-demands[waiting], kind="stable")].tolist():
        feasible: Flags = loads + demands[user] <= limits
        if not feasible.any():
            return greedy_packing(instance, order="heaviest")
        preferred = feasible if known is None else feasible & known[user]
        brokers[user] = cheapest(instance, user, preferred if preferred.any() else feasible)
        loads[brokers[user]] += demands[user]
    return brokers


def stay(trace: ContentTrace, clock: Clock) -> ContentLog:
    """The log in which users move only if their broker fails or has more than its capacity (:func:`placed`)."""

    def kept(snapshot: ContentSnapshot, before: Ids) -> ContentOverlay:
        return route(snapshot.instance, placed(snapshot.instance, before), _ROUTING)

    return followed(trace, kept, clock)


def mixing_recomputed(trace: ContentTrace, clock: Clock, *, trees: str = "closure", seed: int = 0) -> ContentLog:
    """The log in which Steiner-tree mixing assigns all users anew after each step, or else packing by demand."""

    def mixed(snapshot: ContentSnapshot, before: Ids) -> ContentOverlay:
        try:
            brokers = steiner_mixing(snapshot.instance, trees=trees, seed=seed)
        except CapacityExceeded:
            brokers = greedy_packing(snapshot.instance, order="heaviest")
        return route(snapshot.instance, brokers, _ROUTING)

    return followed(trace, mixed, clock)


class PeriodicMigration:
    """Brokers that move users every period, on what the calls of P4 §V bring them.

    Between periods users stay as in :func:`stay`. Subscriptions are known at once (`register`); rates are those of a
    user when it got its broker, and then those of the last period (`summarize`). A foreign broker accepts users only
    within its real capacity. A user knows the brokers drawn at its first join, and learns of another one if it gets
    that because none of those is up with enough residual capacity. `counts` has the messages and the moves declined.

    Zhao, Wu (P4), §IV.C and §V; parameters as for method `migrating`. Cost O(|U| |B|) a step and that of
    :func:`.migrate` a period; periods between two steps in which nothing changes any more are skipped.
    """

    def __init__(
        self, trace: ContentTrace, clock: Clock, *, period: float, knows: int = 0, heaviest: int = 0, seed: int = 0
    ) -> None:
        self._trace, self._clock, self._heaviest = trace, clock, heaviest
        self._period, self._draw = max(1, round(period * SECOND)), np.random.default_rng(seed)
        self._drawn = knows if 0 < knows < trace.instance.num_brokers else trace.instance.num_brokers
        self._known = np.zeros((trace.instance.num_users, trace.instance.num_brokers), np.bool_)
        self._heard = np.zeros((trace.instance.num_users, trace.instance.num_channels))
        self.counts = Counter[str]()

    def log(self) -> ContentLog:
        return followed(self._trace, self._kept, self._clock, self._periods)

    def _kept(self, snapshot: ContentSnapshot, before: Ids) -> ContentOverlay:
        for user in snapshot.users[~self._known[snapshot.users].any(axis=1)].tolist():
            self._known[user, self._draw.choice(self._trace.instance.num_brokers, self._drawn, replace=False)] = True
        brokers = placed(snapshot.instance, before, self._known[np.ix_(snapshot.users, snapshot.brokers)])
        self._known[snapshot.users, snapshot.brokers[brokers]] = True
        self._heard[snapshot.users[before == _NONE]] = snapshot.instance.rates[before == _NONE]
        return route(snapshot.instance, brokers, _ROUTING)

    def _periods(
        self, snapshot: ContentSnapshot, brokers: Ids, time: int, end: int
    ) -> Iterable[tuple[int, ContentOverlay]]:
        rates, begin = snapshot.instance.rates, self._trace.start
        tick = begin + max(1, -(-(time - begin) // self._period)) * self._period
        while tick < end:
            self._clock.check()
            before, is_settled = brokers, np.array_equal(self._heard[snapshot.users], rates)
            brokers = self._migrated(snapshot, before)
            self._heard[snapshot.users] = rates
            if not np.array_equal(brokers, before):
                yield tick, route(snapshot.instance, brokers, _ROUTING)
            elif is_settled:
                return
            tick += self._period

    def _migrated(self, snapshot: ContentSnapshot, before: Ids) -> Ids:
        instance, users = snapshot.instance, snapshot.users
        prices = np.where(self._known[np.ix_(users, snapshot.brokers)], instance.access, np.inf)
        rest = instance.capacities, self._heard[users], instance.subscriptions
        limit = None if math.isinf(self._clock.left) else self._clock.left
        believed = ContentInstance(prices, instance.core, *rest)
        asked = migrate(believed, before, _ROUTING, heaviest=self._heaviest, time_limit=limit).requests
        brokers, limits, requests = before.copy(), instance.load_limits(), list[MoveRequest]()
        for request in asked:
            user, foreign = request.user, request.foreign
            if brokers[user] == request.home:
                load = instance.demands[brokers == foreign].sum() + instance.demands[user]
                requests.append(replace(request, accepted=bool(load <= limits[foreign])))
                brokers[user] = foreign if requests[-1].accepted else request.home
        messages = simulate_migration(instance, before, requests).messages
        self.counts.update(messages=messages.total(), declined=messages["decline"])
        return brokers


def _migrating(trace: ContentTrace, clock: Clock, **given: Any) -> Proposal[ContentLog]:
    migration = PeriodicMigration(trace, clock, **given)
    return Proposal(migration.log(), counters={name: migration.counts[name] for name in ("messages", "declined")})


def _over_time(
    name: str, solver: Callable[..., Proposal[ContentLog]], **attributes: Any
) -> Method[ContentTrace, ContentLog]:
    """A method for content traces; `solver` takes the trace, a clock and, by name, `seed` and the options."""

    def solve(
        trace: ContentTrace, problem: Problem[ContentTrace, ContentLog], *, time_limit: float | None, **given: Any
    ) -> Proposal[ContentLog]:
        try:
            return solver(trace, Clock(time_limit), **given)
        except InfeasibleSnapshot as reason:
            return Proposal(status=Status.INFEASIBLE, reason=str(reason))
        except CapacityExceeded as reason:
            return Proposal(reason=str(reason))

    attributes |= {"problems": ("dynamic-content",), "guarantee": "nothing is proven of the cost"}
    return Method(name=name, solve=solve, compiled=True, anytime=False, **attributes)


STAY = _over_time(
    "stay",
    lambda trace, clock, **_: Proposal(stay(trace, clock)),
    summary="nobody moves unless a broker fails or is full; newcomers on the cheapest broker",
    source="P4 §III.A; docs/traces.md",
    cost="time O(|U| |B|) and the trees for every step",
    colour="#8C8C8C",
    marker="s",
)
MIGRATING = _over_time(
    "migrating",
    _migrating,
    summary="users stay, and every period brokers move those that lower the cost, by what they know",
    source="P4 §IV.C, §V",
    cost="that of migration for every period, and the trees for every step",
    options=(
        Option("period", 10.0, "seconds between migrations", least=1e-6, most=1e9),
        Option("knows", 0, "brokers that a user knows, drawn at its first join; 0: all", least=0),
        Option("heaviest", 0, "how many of its heaviest users a broker tries in a sweep; 0: all", least=0),
    ),
    colour="#E69F00",
    marker="D",
)
MIXING_RECOMPUTED = _over_time(
    "mixing-recomputed",
    lambda trace, clock, **given: Proposal(mixing_recomputed(trace, clock, **given)),
    summary="Steiner-tree mixing from scratch at every event",
    source="P4 §IV.B",
    cost="that of steiner-mixing for every step",
    options=STEINER_MIXING.options,
    random=True,
    colour="#0072B2",
    marker="X",
)
