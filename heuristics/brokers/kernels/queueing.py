"""A discrete-event simulation of publications with queues, for delay, traffic and throughput (P5 §7)."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.brokers.network import BrokerNetwork
from ....instances.contract.arrays import Ids, frozen
from ....instances.contract.time_units import SECOND
from ....instances.runtime.compiled import kernel
from .forwarding import (
    NOWHERE,
    ForwardingBuffers,
    SentCounts,
    Traffic,
    choose_targets,
    no_messages,
    traffic_of,
    workspace_for,
)
from .working_map import WorkingMaps, working_maps

SOFT_DELAY = 1000


class Timing(NamedTuple):
    """Service times, delays and the horizon of a simulation.

    `periods`: how often the publications are published, one period after the other; a period is as long as they
    take.
    """

    service: int = 1000  # microseconds in which a broker matches one publication, received or its own
    soft_delay: int = SOFT_DELAY  # microseconds over a soft link; each primary link has its own delay
    horizon: int = 0  # microseconds after which nothing is counted; 0 means no limit
    output_threshold: int = 80  # percent of its capacity above which a broker saves its uplink, under SH
    periods: int = 1


class Simulation(NamedTuple):
    """The outcome until the horizon.

    `deliveries`, `messages`: publications matched by brokers that received them: by those with matching
    subscriptions, and by all. `total_delay`, `total_hops`: microseconds and links from source to delivery, summed
    over deliveries. `longest_queue`, shape (n,): the most publications that waited for a broker or its uplink when
    one arrived.
    """

    deliveries: int
    messages: int
    total_delay: int
    total_hops: int
    traffic: npt.NDArray[np.int64]  # shape (seconds,): messages that arrived in each second
    longest_queue: npt.NDArray[np.int64]

    @property
    def average_delay(self) -> float:
        """Milliseconds from publication to delivery."""
        return self.total_delay / 1000 / max(1, self.deliveries)

    @property
    def average_hops(self) -> float:
        """Links from source to delivery."""
        return self.total_hops / max(1, self.deliveries)


class _Queues(NamedTuple):
    """Brokers and uplinks as servers, and what is counted as in :class:`Simulation`; all times in microseconds.

    `matched`, `sent`, shape (n,): the time at which the queue of a broker, and of its uplink, is empty.
    `per_message`, `primary_delays`, shapes (n,) and (n, n): transmission time on an uplink, 0 without a cap; delays
    along primary paths, used for primary links.
    """

    matched: npt.NDArray[np.int64]
    sent: npt.NDArray[np.int64]
    per_message: npt.NDArray[np.int64]
    primary_delays: npt.NDArray[np.int64]
    totals: npt.NDArray[np.int64]  # shape (4,): deliveries, messages, delay and hops
    traffic: npt.NDArray[np.int64]
    longest_queue: npt.NDArray[np.int64]


def simulate(network: BrokerNetwork, strategy: int, links: Ids, timing: Timing) -> Simulation:
    """Route all publications of a network over given soft links, with queues.

    A broker matches publications one at a time in the order of arrival and puts the copies in the queue of its uplink,
    which sends them one at a time; then each takes the delay of its link. Times are integers and messages that arrive
    at the same time are taken in the order sent, so a network gives the same numbers on any machine.

    `strategy`, one of S0, S1, S2, SH. `links`, shape (k, 2): soft links (sender, receiver).

    P5 §7 measured a cluster; this is a model of it. Cost O(log m + d + c w) a message, with m messages in transit at
    once. As both queues are first come, first served, each message needs only one event.
    """
    maps, uplinks = working_maps(network.tree, links), network.tree.uplinks
    matched, sent, longest_queue = np.zeros((3, network.num_brokers), dtype=np.int64)
    per_message = np.where(uplinks > 0, SECOND // np.maximum(uplinks, 1), 0)
    totals = np.zeros(4, dtype=np.int64)
    seconds = np.zeros(timing.horizon // SECOND + 1 if timing.horizon else 1 << 12, dtype=np.int64)
    queues = _Queues(matched, sent, per_message, network.tree.path_delays, totals, seconds, longest_queue)
    counts = no_messages(uplinks, maps, timing.output_threshold)
    limited = timing._replace(horizon=timing.horizon or 2**62)
    traffic = _repeated(traffic_of(network), timing.periods)
    _run(traffic, maps, strategy, limited, queues, counts, workspace_for(maps))
    deliveries, messages, delay, hops = totals.tolist()
    return Simulation(deliveries, messages, delay, hops, np.trim_zeros(seconds, "b"), longest_queue)


def repeated_times(times: npt.NDArray[np.int64], periods: int) -> npt.NDArray[np.int64]:
    """The times of publications that are repeated; a period is a microsecond longer than the last time."""
    return np.add.outer(np.arange(periods) * (int(times.max(initial=0)) + 1), times).ravel()


def _repeated(traffic: Traffic, periods: int) -> Traffic:
    if periods == 1:
        return traffic
    offsets = np.add.outer(np.arange(periods) * traffic.offsets[-1], traffic.offsets[:-1]).ravel()
    return Traffic(
        frozen(repeated_times(traffic.times, periods), np.int64),
        frozen(np.tile(traffic.sources, periods), np.int32),
        frozen(np.append(offsets, periods * traffic.offsets[-1]), np.int64),
        frozen(np.tile(traffic.brokers, periods), np.int32),
    )


@kernel
def _run(
    traffic: Traffic,
    maps: WorkingMaps,
    strategy: int,
    timing: Timing,
    queues: _Queues,
    counts: SentCounts,
    workspace: ForwardingBuffers,
) -> None:
    """Process publications and arrivals in order of time; publications first at equal times."""
    # Arrivals: time, number of the sending, publication, sender, receiver, hops. The first entry is for type inference.
    heap: list[Any] = [(0, 0, 0, 0, 0, 0)]
    heap.clear()
    published = sendings = 0
    while published < len(traffic.times) or heap:
        if not heap or (published < len(traffic.times) and traffic.times[published] <= heap[0][0]):
            time, p, sender, broker, hops = traffic.times[published], published, NOWHERE, traffic.sources[published], 0
            published += 1
        else:
            time, _, p, sender, broker, hops = heappop(heap)
        if time > timing.horizon:
            return
        # First come, first served: the time at which the queue is empty says when this publication is matched.
        queues.matched[broker] = max(queues.matched[broker], time) + timing.service
        matched = queues.matched[broker]
        matching = traffic.brokers[traffic.offsets[p] : traffic.offsets[p + 1]]
        if sender != NOWHERE and matched <= timing.horizon:
            _count(queues, timing.service, broker, time, matching, traffic.times[p], hops)
        for i in range(choose_targets(maps, broker, sender, matching, matched, strategy, counts, workspace)):
            end = np.int64(maps.ends[broker, workspace.targets[i]])
            queues.sent[broker] = max(queues.sent[broker], matched) + queues.per_message[broker]
            delay = queues.primary_delays[broker, end] if maps.distances[broker, end] == 1 else timing.soft_delay
            heappush(heap, (queues.sent[broker] + delay, sendings, p, broker, end, hops + 1))
            sendings += 1


@kernel
def _count(queues: _Queues, service: int, broker: int, time: int, matching: Ids, published: int, hops: int) -> None:
    totals, matched = queues.totals, queues.matched[broker]
    totals[1] += 1
    queues.traffic[min(time // SECOND, len(queues.traffic) - 1)] += 1
    waiting = (matched - time) // max(1, service)
    if queues.per_message[broker] > 0:
        waiting += max(0, queues.sent[broker] - time) // queues.per_message[broker]
    queues.longest_queue[broker] = max(queues.longest_queue[broker], waiting)
    for v in matching:
        if v == broker:
            totals[0] += 1
            totals[2] += matched - published
            totals[3] += hops
