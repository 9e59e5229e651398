"""A discrete-event simulation of publications with queues, for delay, traffic and throughput (P5 §7)."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.brokers.network import BrokerNetwork
from ....instances.contract.arrays import Ids, frozen
from ....instances.contract.compiled import kernel
from .forwarding import NOWHERE, SentCounts, Traffic, Workspace, choose_targets, no_messages, traffic_of, workspace_for
from .working_map import WorkingMaps, working_maps

_SECOND = 1_000_000


class Timing(NamedTuple):
    """Service times, delays and the horizon of a simulation.

    Attributes
    ----------
    service : int
        Microseconds in which a broker matches one publication, received or its own.
    soft_delay : int
        Microseconds over a soft link; each primary link has its own delay.
    horizon : int
        Microseconds after which nothing is counted; 0 means no limit.
    output_threshold : int
        Percent of its capacity above which a broker saves its uplink, under SH.
    periods : int
        How often the publications are published, one period after the other; a period is as long as they take.
    """

    service: int = 1000
    soft_delay: int = 1000
    horizon: int = 0
    output_threshold: int = 80
    periods: int = 1


@dataclass(frozen=True)
class Simulation:
    """The outcome until the horizon.

    Attributes
    ----------
    deliveries, messages : int
        Publications matched by brokers that received them: by those with matching subscriptions, and by all.
    total_delay, total_hops : int
        Microseconds and links from source to delivery, summed over deliveries.
    traffic : int64 array, shape (seconds,)
        Messages that arrived in each second.
    longest_queue : int64 array, shape (n,)
        The most publications that waited for a broker or its uplink when one arrived.
    """

    deliveries: int
    messages: int
    total_delay: int
    total_hops: int
    traffic: npt.NDArray[np.int64]
    longest_queue: npt.NDArray[np.int64]

    @property
    def average_delay(self) -> float:
        """Milliseconds from publication to delivery."""
        return self.total_delay / 1000 / max(1, self.deliveries)

    @property
    def average_hops(self) -> float:
        """Links from source to delivery."""
        return self.total_hops / max(1, self.deliveries)


class _Servers(NamedTuple):
    """Brokers and uplinks as servers; all times in microseconds.

    Attributes
    ----------
    matched, sent : int64 arrays, shape (n,)
        The time at which the queue of a broker, and of its uplink, is empty.
    per_message : int64 array, shape (n,)
        Transmission time on an uplink; 0 without a cap.
    primary_delays : int64 array, shape (n, n)
        Along primary paths; used for primary links.
    """

    matched: npt.NDArray[np.int64]
    sent: npt.NDArray[np.int64]
    per_message: npt.NDArray[np.int64]
    primary_delays: npt.NDArray[np.int64]


class _Statistics(NamedTuple):
    """Totals (deliveries, messages, delay, hops), messages a second, and the longest queue of each broker."""

    totals: npt.NDArray[np.int64]
    traffic: npt.NDArray[np.int64]
    longest_queue: npt.NDArray[np.int64]


def simulate(network: BrokerNetwork, strategy: int, links: Ids, timing: Timing) -> Simulation:
    """Route all publications of a network over given soft links, with queues.

    A broker matches publications one at a time in the order of arrival and puts the copies in the queue of its uplink,
    which sends them one at a time; then each takes the delay of its link. Times are integers and messages that arrive
    at the same time are taken in the order sent, so a network gives the same numbers on any machine.

    Parameters
    ----------
    strategy : {S0, S1, S2, SH}
    links : int32 array, shape (k, 2)
        Soft links (sender, receiver).

    Notes
    -----
    P5 §7 measured a cluster; this is a model of it. Cost O(log m + d + c w) a message, with m messages in transit at
    once. As both queues are first come, first served, each message needs only one event.
    """
    maps = working_maps(network.tree, links)
    size, uplinks = network.num_brokers, network.tree.uplinks
    matched, sent = np.zeros((2, size), dtype=np.int64)
    per_message = np.where(uplinks > 0, _SECOND // np.maximum(uplinks, 1), 0)
    servers = _Servers(matched, sent, per_message, network.tree.path_delays)
    seconds = timing.horizon // _SECOND + 1 if timing.horizon else 1 << 12
    found = _Statistics(np.zeros(4, dtype=np.int64), np.zeros(seconds, dtype=np.int64), np.zeros(size, dtype=np.int64))
    counts = no_messages(network, maps, timing.output_threshold)
    limited = timing._replace(horizon=timing.horizon or 2**62)
    traffic = _repeated(traffic_of(network), timing.periods)
    _run(traffic, maps, strategy, limited, servers, found, counts, workspace_for(maps))
    deliveries, messages, delay, hops = found.totals.tolist()
    return Simulation(deliveries, messages, delay, hops, np.trim_zeros(found.traffic, "b"), found.longest_queue)


def _repeated(traffic: Traffic, periods: int) -> Traffic:
    """The publications of several periods, each a microsecond longer than the last time."""
    if periods == 1:
        return traffic
    each, per_period = int(traffic.times.max(initial=0)) + 1, traffic.offsets[-1]
    number = np.repeat(np.arange(periods), len(traffic.times))
    offsets = np.append(np.tile(traffic.offsets[:-1], periods) + number * per_period, periods * per_period)
    return Traffic(
        frozen(np.tile(traffic.times, periods) + number * each, np.int64),
        frozen(np.tile(traffic.sources, periods), np.int32),
        frozen(offsets, np.int64),
        frozen(np.tile(traffic.brokers, periods), np.int32),
    )


@kernel
def _run(
    traffic: Traffic,
    maps: WorkingMaps,
    strategy: int,
    timing: Timing,
    servers: _Servers,
    found: _Statistics,
    counts: SentCounts,
    workspace: Workspace,
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
        servers.matched[broker] = max(servers.matched[broker], time) + timing.service
        matched = servers.matched[broker]
        matching = traffic.brokers[traffic.offsets[p] : traffic.offsets[p + 1]]
        if sender != NOWHERE and matched <= timing.horizon:
            _count(found, timing, servers, broker, time, matching, traffic.times[p], hops)
        for i in range(choose_targets(maps, broker, sender, matching, matched, strategy, counts, workspace)):
            end = np.int64(maps.ends[broker, workspace.targets[i]])
            servers.sent[broker] = max(servers.sent[broker], matched) + servers.per_message[broker]
            delay = servers.primary_delays[broker, end] if maps.distances[broker, end] == 1 else timing.soft_delay
            heappush(heap, (servers.sent[broker] + delay, sendings, p, broker, end, hops + 1))
            sendings += 1


@kernel
def _count(
    found: _Statistics,
    timing: Timing,
    servers: _Servers,
    broker: int,
    time: int,
    matching: Ids,
    published: int,
    hops: int,
) -> None:
    """Count a publication that arrived at `time`."""
    totals, second, matched = found.totals, min(time // _SECOND, len(found.traffic) - 1), servers.matched[broker]
    totals[1] += 1
    found.traffic[second] += 1
    waiting = (matched - time) // max(1, timing.service)
    if servers.per_message[broker] > 0:
        waiting += max(0, servers.sent[broker] - time) // servers.per_message[broker]
    found.longest_queue[broker] = max(found.longest_queue[broker], waiting)
    for v in matching:
        if v == broker:
            totals[0] += 1
            totals[2] += matched - published
            totals[3] += hops
