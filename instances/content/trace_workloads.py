"""Workloads of content traces: churn of users, rates that follow the day, and brokers that fail.

Users, rates, subscriptions and prices are those of the workload ``content``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..contract.option import Option
from ..contract.timed import SECOND, rising
from ..contract.workload import Workload
from .instance import ContentInstance
from .trace import DOWN, JOIN, LEAVE, RATE, SUBSCRIBE, UNSUBSCRIBE, UP, ContentTrace
from .workloads import CONTENT_WORKLOADS

_Event = tuple[int, int, int, int, float]
"""Microseconds, kind, user or broker, channel and rate."""


def churn(
    *, seed: int, users: int, events: int, rate: float, changes: float, slack: float, **given: Any
) -> ContentTrace:
    """A population that stays about as large: each event is a join, a departure, or a change of a user.

    Events are `rate` a second, independent. A share `changes` of them are changes: half of these give a user on a
    random channel the rate of a random newcomer, half change whether it subscribes to a random channel. Of the others
    half are joins of new users, half departures of random ones.
    """
    draw, pool = np.random.default_rng([seed, 3]), _pool(users + events, seed, given)
    subscribed, present, fresh = pool.subscriptions.copy(), list(range(users)), users
    listed = list[_Event]()
    for time in rising(np.cumsum(draw.exponential(1 / rate, events))):
        is_change, first, at = draw.random() < changes, draw.random() < 0.5, int(draw.integers(len(present)))
        user, channel = present[at], int(draw.integers(pool.num_channels))
        if is_change and first:
            other = int(draw.integers(pool.num_users))
            listed.append((time, RATE, user, channel, float(pool.rates[other, channel])))
        elif is_change:
            listed.append((time, UNSUBSCRIBE if subscribed[user, channel] else SUBSCRIBE, user, channel, 0.0))
            subscribed[user, channel] ^= True
        elif first or len(present) < 2:
            listed.append((time, JOIN, fresh, -1, 0.0))
            present.append(fresh)
            fresh += 1
        else:
            present[at] = present[-1]
            present.pop()
            listed.append((time, LEAVE, user, -1, 0.0))
    return _trace(pool, users, fresh, listed, slack)


def diurnal(
    *, seed: int, users: int, days: int, steps: int, day: float, swing: float, slack: float, **given: Any
) -> ContentTrace:
    """Rates rise and fall by a share `swing` of their mean in a day, as a cosine; all else stays.

    The users to whom one broker is cheapest are a region, and the peaks of the regions are spread evenly over the day.
    All rates change `steps` times a day, at one time. Rates are rounded to thousandths.
    """
    pool = _pool(users, seed, given)
    regions = np.argmin(pool.access, axis=1)[:, None] / pool.num_brokers
    hours = np.arange(days * steps + 1) / steps
    rates = [np.round(pool.rates * (1 + swing * np.cos(2 * np.pi * (hour - regions))), 3) for hour in hours]
    acting = list(zip(*(ends.tolist() for ends in np.nonzero(pool.rates)), strict=True))
    listed: list[_Event] = [
        (max(1, round(hour * day * SECOND)), RATE, user, channel, float(now[user, channel]))
        for hour, now in zip(hours[1:].tolist(), rates[1:], strict=True)
        for user, channel in acting
    ]
    return _trace(replace(pool, rates=rates[0]), users, users, listed, slack)


def failures(
    *, seed: int, users: int, count: int, every: float, repair: float, most: int, slack: float, **given: Any
) -> ContentTrace:
    """Brokers fail at Poisson times, on average `every` seconds, and are repaired after exponential ones.

    At most `most` brokers are down at a time, and never the last one; what would be one more does not happen.
    """
    draw, pool = np.random.default_rng([seed, 6]), _pool(users, seed, given)
    listed, back = list[_Event](), dict[int, int]()
    for time in np.rint(1 + np.cumsum(draw.exponential(every, count)) * SECOND).astype(np.int64).tolist():
        back = {broker: end for broker, end in back.items() if end >= time}
        broker, lasting = int(draw.integers(pool.num_brokers)), 1 + round(draw.exponential(repair) * SECOND)
        if broker in back or len(back) >= min(most, pool.num_brokers - 1):
            continue
        back[broker] = time + lasting
        listed += [(time, DOWN, broker, -1, 0.0), (time + lasting, UP, broker, -1, 0.0)]
    return _trace(pool, users, users, listed, slack)


def _pool(users: int, seed: int, given: dict[str, Any]) -> ContentInstance:
    """The users that ever join, without limits of capacity."""
    fixed = {"dimensions": 1, "cells": "equal"}
    return CONTENT_WORKLOADS[0].generate(seed=seed, users=users, **fixed, **given)


def _trace(pool: ContentInstance, present: int, ever: int, listed: list[_Event], slack: float) -> ContentTrace:
    """The trace of events on the first users of a pool; capacities are `slack` times the largest demand of any time."""
    rows = np.array(sorted(listed, key=lambda event: event[0]), np.float64).reshape(-1, 5)
    kinds, subjects, channels = (rows[:, k].astype(np.int32) for k in (1, 2, 3))
    first, times = np.arange(present, dtype=np.int32), rows[:, 0].astype(np.int64)

    def limited(capacity: float) -> ContentTrace:
        users = pool.rates[:ever], pool.subscriptions[:ever]
        whole = ContentInstance(pool.access[:ever], pool.core, np.full(pool.num_brokers, capacity), *users)
        return ContentTrace(whole, 0, first, times, kinds, subjects, channels, rows[:, 4])

    most = max(float(one.instance.demands.sum()) for one in limited(np.inf).snapshots() if one is not None)
    return limited(float(np.ceil(slack * most / pool.num_brokers)))


_BY_NAME = {option.name: option for option in CONTENT_WORKLOADS[0].parameters}


def _workload(
    name: str, summary: str, build: Callable[..., ContentTrace], *parameters: Option
) -> Workload[ContentTrace]:
    own = (
        Option("users", 60, "|U| at the start", least=1, most=1_000_000),
        Option("brokers", 6, "|B|", least=1, most=100_000),
        Option("intervals", 10, "channels: intervals of the histogram", least=1, most=1_000_000),
        *(_BY_NAME[one] for one in ("width", "metric", "access_to_core")),
        Option(
            "slack", 2.0, "total capacity as a multiple of the largest total demand of any time", least=0.0, most=1e6
        ),
    )
    return Workload(name, summary, "P4 §VI.A; docs/traces.md", (*own, *parameters), build, "content-trace")


CONTENT_TRACE_WORKLOADS: tuple[Workload[ContentTrace], ...] = (
    _workload(
        "content-churn",
        "users join, leave and change their rates and subscriptions, at Poisson times",
        churn,
        Option("events", 60, "how many", least=0, most=1_000_000),
        Option("rate", 1.0, "events a second", least=1e-6, most=1e6),
        Option("changes", 0.5, "share of events that change a user", least=0.0, most=1.0),
    ),
    _workload(
        "content-diurnal",
        "rates follow the day, whose hours differ between the regions around brokers",
        diurnal,
        Option("days", 1, "how many", least=1, most=10_000),
        Option("steps", 24, "times a day at which rates change", least=1, most=1440),
        Option("day", 86_400.0, "seconds", least=0.1, most=1e9),
        Option("swing", 0.8, "share of its mean by which a rate rises and falls", least=0.0, most=1.0),
    ),
    _workload(
        "broker-failures",
        "brokers fail at Poisson times and are repaired",
        failures,
        Option("count", 20, "failures, of which those beyond `most` do not happen", least=0, most=1_000_000),
        Option("every", 60.0, "mean seconds between failures", least=0.001, most=1e6),
        Option("repair", 60.0, "mean seconds until a repair", least=0.001, most=1e6),
        Option("most", 1, "brokers that are down at a time", least=1, most=100_000),
    ),
)
