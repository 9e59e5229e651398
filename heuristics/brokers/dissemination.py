"""Publications carried over a mesh without queues: the static simulation behind P5 Table 2 and Fig. 9."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.arrays import Ids, Offsets
from ...instances.brokers.network import BrokerNetwork
from ..compiled import kernel
from .forwarding import NOWHERE, S1, SH, Room, anchors_at, forward_common, forward_far, room_for
from .working_map import Mesh, has

_AT_ONCE = 1 << 22
INTERVAL = 1_000_000


class Load(NamedTuple):
    """How much each broker sends, for the hybrid strategy.

    Attributes
    ----------
    limits : int64 array, shape (n,)
        Publications sent in one interval of a second above which a broker saves its uplink; 0 for no limit.
    interval, sent, before : int64 arrays, shape (n,)
        The interval of the last sending, what was sent in it, and in the one before it.
    """

    limits: npt.NDArray[np.int64]
    interval: npt.NDArray[np.int64]
    sent: npt.NDArray[np.int64]
    before: npt.NDArray[np.int64]


class Profile(NamedTuple):
    """What a simulation counts.

    Attributes
    ----------
    sent : int64 array, shape (n, c)
        Publications meant for each slot, candidates among them.
    output : int64 array, shape (n,)
        Publications that each broker really sent.
    """

    sent: npt.NDArray[np.int64]
    output: npt.NDArray[np.int64]


class Traffic(NamedTuple):
    """Publications as kernels take them; the arrays of a network's publications and destinations."""

    times: Offsets
    sources: Ids
    offsets: Offsets
    brokers: Ids


def traffic_of(network: BrokerNetwork, first: int = 0, last: int | None = None) -> Traffic:
    """Publications `first` … `last` − 1 of a network."""
    offsets, brokers = network.destinations
    stop = len(network.publications) if last is None else last
    published = network.publications
    return Traffic(published.times[first:stop], published.sources[first:stop], offsets[first : stop + 1], brokers)


def new_load(network: BrokerNetwork, threshold: int) -> Load:
    """Nothing sent yet; a broker saves its uplink above `threshold` percent of its capacity."""
    zeros = [np.zeros(network.num_brokers, dtype=np.int64) for _ in range(3)]
    return Load(-(-network.tree.uplinks * threshold // 100), *zeros)


def new_profile(mesh: Mesh) -> Profile:
    """Nothing counted yet."""
    return Profile(np.zeros(mesh.ends.shape, dtype=np.int64), np.zeros(len(mesh.ends), dtype=np.int64))


def carry(traffic: Traffic, mesh: Mesh, strategy: int, load: Load, profile: Profile) -> npt.NDArray[np.int32]:
    """The messages that carry each publication to its destinations, each broker deciding for itself.

    Parameters
    ----------
    strategy : {S0, S1, S2, SH}
        Of all brokers; S0 wants a mesh of primary links only.
    load, profile
        Are counted on.

    Returns
    -------
    int32 array, shape (messages, 3)
        Rows (publication, sender, receiver), publications counted from 0 as in `traffic`.

    Notes
    -----
    Cost O(d + c w) a message, d its publication's destinations. Nothing waits: all of a publication happens at its
    time, also what the hybrid strategy counts.
    """
    return np.concatenate([np.empty((0, 3), dtype=np.int32), *_parts(traffic, mesh, strategy, load, profile)])


def _parts(
    traffic: Traffic, mesh: Mesh, strategy: int, load: Load, profile: Profile
) -> Iterator[npt.NDArray[np.int32]]:
    size, room = len(mesh.ends), room_for(mesh)
    rows = max(1, _AT_ONCE // size)
    buffer = np.empty((min(rows, len(traffic.times)) * (size - 1) + 1, 3), dtype=np.int32)
    for first in range(0, len(traffic.times), rows):
        last = min(first + rows, len(traffic.times))
        filled = _carry(first, last, traffic, mesh, strategy, load, profile, room, buffer)
        if filled < 0:
            raise RuntimeError("a broker got a publication twice")
        yield buffer[:filled].copy()


@kernel
def _carry(
    first: int,
    last: int,
    traffic: Traffic,
    mesh: Mesh,
    strategy: int,
    load: Load,
    profile: Profile,
    room: Room,
    messages: npt.NDArray[np.int32],
) -> int:
    """Fill `messages` publication by publication, each the queue of its own brokers; returns how many, or -1."""
    filled = 0
    for p in range(first, last):
        matching = traffic.brokers[traffic.offsets[p] : traffic.offsets[p + 1]]
        begin = done = filled
        broker, came_from = traffic.sources[p], NOWHERE
        while True:
            count = decide(mesh, broker, came_from, matching, traffic.times[p], strategy, load, profile, room)
            if filled + count - begin >= len(mesh.ends):
                return -1
            for i in range(count):
                messages[filled, 0] = p
                messages[filled, 1] = broker
                messages[filled, 2] = mesh.ends[broker, room.targets[i]]
                filled += 1
            if done == filled:
                break
            came_from, broker = messages[done, 1], messages[done, 2]
            done += 1
    return filled


@kernel
def decide(
    mesh: Mesh,
    broker: int,
    came_from: int,
    matching: Ids,
    time: int,
    strategy: int,
    load: Load,
    profile: Profile,
    room: Room,
) -> int:
    """Put the slots that a broker sends to in ``room.targets``, counting them on; returns how many."""
    common = strategy == S1 or (strategy == SH and busy(load, broker, time))
    if not anchors_at(mesh, broker, came_from, matching, False, room):
        return 0
    count = forward_common(mesh, broker, False, room) if common else forward_far(mesh, broker, room)
    candidates = False
    for i in range(count):
        profile.sent[broker, room.targets[i]] += 1
        candidates |= not has(mesh.real[broker], room.targets[i])
    if candidates:
        # Funnelling each copy by itself would deliver twice where the closer broker serves another target too.
        anchors_at(mesh, broker, came_from, matching, True, room)
        count = forward_common(mesh, broker, True, room) if common else forward_far(mesh, broker, room)
    profile.output[broker] += count
    load.sent[broker] += count
    return count


@kernel
def busy(load: Load, broker: int, time: int) -> bool:
    """Whether the broker sent more than its limit in the last whole interval before `time`."""
    interval = time // INTERVAL
    if interval != load.interval[broker]:
        load.before[broker] = load.sent[broker] if interval == load.interval[broker] + 1 else 0
        load.sent[broker] = 0
        load.interval[broker] = interval
    return bool(0 < load.limits[broker] < load.before[broker])
