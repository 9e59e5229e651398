"""Publications over a mesh with queues: a discrete-event simulation for delay, traffic and throughput (P5 §7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.arrays import Ids
from ...instances.brokers.network import BrokerNetwork
from ..compiled import kernel
from .dissemination import Load, Profile, Traffic, decide, new_load, new_profile, traffic_of
from .forwarding import NOWHERE, Room, room_for
from .working_map import Mesh, mesh_of

_SECOND = 1_000_000
_ROOM = 1 << 16


@dataclass(frozen=True)
class Timing:
    """What takes how long.

    Attributes
    ----------
    service : int
        Microseconds in which a broker matches one publication that it received or published; one at a time.
    soft_delay : int
        Microseconds over a soft link; primary links have their own.
    horizon : int
        Microseconds after which nothing is counted; 0 means until everything has arrived.
    output_threshold : int
        Percent of its uplink above which a broker saves it, under SH.
    """

    service: int = 1000
    soft_delay: int = 1000
    horizon: int = 0
    output_threshold: int = 80


@dataclass(frozen=True)
class Simulation:
    """What happened until the horizon.

    Attributes
    ----------
    deliveries, messages : int
        Receptions at matching brokers, and at all; of publications that a broker has finished to receive.
    total_delay, total_hops : int
        Microseconds, and links, from source to each delivery, summed over deliveries.
    traffic : int64 array, shape (seconds,)
        Messages that arrived in each second.
    longest_queue : int64 array, shape (n,)
        Most publications that waited for a broker or its uplink at once, counted when one arrives.
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


class Clock(NamedTuple):
    """What the brokers are busy with until when, and what takes how long; all in microseconds.

    Attributes
    ----------
    matched, sent : int64 arrays, shape (n,)
        When a broker has matched all it received, and its uplink has sent all it was given.
    per_message : int64 array, shape (n,)
        For one publication on its uplink; 0 without a cap.
    primary_delays : int64 array, shape (n, n)
        Along primary paths; used for direct links.
    """

    matched: npt.NDArray[np.int64]
    sent: npt.NDArray[np.int64]
    per_message: npt.NDArray[np.int64]
    primary_delays: npt.NDArray[np.int64]
    service: int
    soft_delay: int
    horizon: int


class Counts(NamedTuple):
    """Totals (deliveries, messages, delay, hops), messages a second, and the longest queue of each broker."""

    totals: npt.NDArray[np.int64]
    traffic: npt.NDArray[np.int64]
    longest_queue: npt.NDArray[np.int64]


class Heap(NamedTuple):
    """Messages under way, the earliest arrival first; of equal times the one sent first.

    Attributes
    ----------
    keys : int64 array, shape (room, 2)
        Time of arrival, and the number of the sending.
    messages : int32 array, shape (room, 4)
        Publication, sender, receiver, hops.
    """

    keys: npt.NDArray[np.int64]
    messages: npt.NDArray[np.int32]


def simulate(network: BrokerNetwork, strategy: int, links: Ids, timing: Timing) -> Simulation:
    """Carry all publications of a network over given soft links, with queues.

    A broker matches what it receives one by one, first come first served, then hands the copies to its uplink, which
    sends them one by one; then they take the delay of their link. Times are whole microseconds and of equal ones the
    first sent comes first, so the same network gives the same numbers on any machine.

    Parameters
    ----------
    strategy : {S0, S1, S2, SH}
    links : int32 array, shape (k, 2)
        Soft links (sender, receiver).

    Notes
    -----
    P5 §7 measured a cluster; this is a model of it. Cost O(log m + d + c w) a message, with m messages under way at
    once; a broker's queues are first come first served, so a message is one event.
    """
    mesh = mesh_of(network.tree, [(int(u), int(v)) for u, v in links])
    size, uplinks = network.num_brokers, network.tree.uplinks
    last = timing.horizon or 2**62
    clock = Clock(
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
        np.where(uplinks > 0, _SECOND // np.maximum(uplinks, 1), 0),
        network.tree.path_delays,
        timing.service,
        timing.soft_delay,
        last,
    )
    heap = Heap(np.empty((_ROOM, 2), dtype=np.int64), np.empty((_ROOM, 4), dtype=np.int32))
    seconds = timing.horizon // _SECOND + 1 if timing.horizon else 1 << 12
    counts = Counts(np.zeros(4, dtype=np.int64), np.zeros(seconds, dtype=np.int64), np.zeros(size, dtype=np.int64))
    load, profile, room = new_load(network, timing.output_threshold), new_profile(mesh), room_for(mesh)
    _run(traffic_of(network), mesh, strategy, clock, heap, counts, load, profile, room)
    done, messages, delay, hops = counts.totals.tolist()
    return Simulation(done, messages, delay, hops, np.trim_zeros(counts.traffic, "b"), counts.longest_queue)


@kernel
def _run(
    traffic: Traffic,
    mesh: Mesh,
    strategy: int,
    clock: Clock,
    heap: Heap,
    counts: Counts,
    load: Load,
    profile: Profile,
    room: Room,
) -> None:
    """Take publications and arrivals in order of time; of equal times publications first."""
    published = waiting = sendings = 0
    while published < len(traffic.times) or waiting:
        if waiting == 0 or (published < len(traffic.times) and traffic.times[published] <= heap.keys[0, 0]):
            p, came_from, broker, hops = published, NOWHERE, traffic.sources[published], 0
            time = traffic.times[published]
            published += 1
        else:
            time = heap.keys[0, 0]
            p, came_from, broker, hops = heap.messages[0]
            waiting = _pop(heap, waiting)
        if time > clock.horizon:
            return
        clock.matched[broker] = max(clock.matched[broker], time) + clock.service
        matched = clock.matched[broker]
        matching = traffic.brokers[traffic.offsets[p] : traffic.offsets[p + 1]]
        if came_from != NOWHERE:
            _count(counts, broker, time, matched, clock, matching, traffic.times[p], hops)
        chosen = decide(mesh, broker, came_from, matching, matched, strategy, load, profile, room)
        if waiting + chosen > len(heap.keys):
            heap = _grown(heap)
        for i in range(chosen):
            end = mesh.ends[broker, room.targets[i]]
            clock.sent[broker] = max(clock.sent[broker], matched) + clock.per_message[broker]
            delay = clock.primary_delays[broker, end] if mesh.distances[broker, end] == 1 else clock.soft_delay
            waiting = _push(heap, waiting, clock.sent[broker] + delay, sendings, p, broker, end, hops + 1)
            sendings += 1


@kernel
def _count(
    counts: Counts, broker: int, time: int, matched: int, clock: Clock, matching: Ids, published: int, hops: int
) -> None:
    if matched > clock.horizon:
        return
    totals, second = counts.totals, min(time // _SECOND, len(counts.traffic) - 1)
    totals[1] += 1
    counts.traffic[second] += 1
    behind = (matched - time) // max(1, clock.service)
    if clock.per_message[broker] > 0:
        behind += max(0, clock.sent[broker] - time) // clock.per_message[broker]
    counts.longest_queue[broker] = max(counts.longest_queue[broker], behind)
    for v in matching:
        if v == broker:
            totals[0] += 1
            totals[2] += matched - published
            totals[3] += hops


@kernel
def _grown(heap: Heap) -> Heap:
    keys = np.empty((2 * len(heap.keys), 2), dtype=np.int64)
    messages = np.empty((2 * len(heap.keys), 4), dtype=np.int32)
    keys[: len(heap.keys)] = heap.keys
    messages[: len(heap.keys)] = heap.messages
    return Heap(keys, messages)


@kernel
def _push(heap: Heap, size: int, time: int, number: int, p: int, sender: int, receiver: int, hops: int) -> int:
    """Add a message; returns how many there are."""
    at = size
    while at > 0:
        above = (at - 1) // 2
        if heap.keys[above, 0] < time or (heap.keys[above, 0] == time and heap.keys[above, 1] < number):
            break
        heap.keys[at] = heap.keys[above]
        heap.messages[at] = heap.messages[above]
        at = above
    heap.keys[at, 0] = time
    heap.keys[at, 1] = number
    heap.messages[at, 0] = p
    heap.messages[at, 1] = sender
    heap.messages[at, 2] = receiver
    heap.messages[at, 3] = hops
    return size + 1


@kernel
def _pop(heap: Heap, size: int) -> int:
    """Take the first message away; returns how many are left."""
    size -= 1
    time, number = heap.keys[size, 0], heap.keys[size, 1]
    at, below = 0, 1
    while below < size:
        if below + 1 < size:
            left, right = heap.keys[below], heap.keys[below + 1]
            if right[0] < left[0] or (right[0] == left[0] and right[1] < left[1]):
                below += 1
        if time < heap.keys[below, 0] or (time == heap.keys[below, 0] and number < heap.keys[below, 1]):
            break
        heap.keys[at] = heap.keys[below]
        heap.messages[at] = heap.messages[below]
        at, below = below, 2 * below + 1
    heap.keys[at] = heap.keys[size]
    heap.messages[at] = heap.messages[size]
    return size
