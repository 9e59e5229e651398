"""Which soft links a broker keeps: profiled by gain, promoted and dropped in rounds (P5 §6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.arrays import Ids
from ...instances.brokers.network import BrokerNetwork
from ..compiled import kernel
from .dissemination import INTERVAL, Profile, Traffic, carry, new_load, new_profile, traffic_of
from .working_map import FREE, Mesh, has, link, mesh_of, put, unlink


@dataclass(frozen=True)
class Management:
    """How soft links are managed.

    Attributes
    ----------
    rounds : int
        How often every broker reviews its links.
    window : int
        Publications carried before each review; the traffic starts again when it ends.
    candidates : int
        Links beyond the fanout that a broker may profile at a time (maxlinks − fanout).
    load_threshold, output_threshold : int
        Percent of its uplink above which a broker counts as loaded, and above which it saves its uplink (SH).
    """

    rounds: int = 40
    window: int = 1200
    candidates: int = 10
    load_threshold: int = 80
    output_threshold: int = 80


class Limits(NamedTuple):
    """What every review goes by. Shapes: spare (n,), path_delays (n, n); radius and candidates are numbers."""

    spare: npt.NDArray[np.int64]
    path_delays: npt.NDArray[np.int64]
    radius: int
    candidates: int


def managed_links(network: BrokerNetwork, strategy: int, how: Management) -> Ids:
    """The soft links after `rounds` reviews of traffic carried by a strategy, rows (sender, receiver).

    A broker ranks its soft and candidate links by gain: publications meant for the link × brokers it skips × the
    product over these of 1 + max(0, load − threshold), where the paper writes min and means max. The best, as many as
    the fanout leaves beside primary links, are kept or promoted; the rest, and any without gain, go. Then it profiles
    primary neighbours of brokers that it sends much to. For the first candidates there is no gain yet, as primary links
    skip nobody, so these are ranked by what their gain would be if all of that traffic went on to them; what was
    profiled least recently comes first, and of equals what bypasses the slower path.

    Notes
    -----
    Cost of a round: that of carrying its window, and O(n (n + c² + c d)) with d the largest primary degree.
    """
    neighbourhood = (network.tree.distances <= network.radius).sum(axis=1) - 1
    capacity = int(min(network.fanout + how.candidates, neighbourhood.max()))
    mesh = mesh_of(network.tree, capacity=capacity)
    limits = Limits(network.spare_links(), network.tree.path_delays, network.radius, how.candidates)
    load = new_load(network, how.output_threshold)
    profiled = np.full((network.num_brokers, network.num_brokers), FREE, dtype=np.int64)
    neighbours = _neighbour_table(network)
    total, first = len(network.publications), 0
    for number in range(how.rounds if total else 0):
        last = min(first + how.window, total)
        traffic, profile = traffic_of(network, first, last), new_profile(mesh)
        load.interval[:] = FREE
        carry(traffic, mesh, strategy, load, profile)
        factors = _load_factors(network, traffic, profile, how.load_threshold)
        review(mesh, profile.sent, factors, limits, neighbours, profiled, number)
        first = last if last < total else 0
    return soft_links_of(mesh)


def soft_links_of(mesh: Mesh) -> Ids:
    """The soft links in use, rows (sender, receiver), in order."""
    pairs = [
        (a, int(mesh.ends[a, slot]))
        for a in range(len(mesh.ends))
        for slot in mesh.order[a, : mesh.counts[a]]
        if has(mesh.real[a], slot) and mesh.distances[a, mesh.ends[a, slot]] > 1
    ]
    return np.array(sorted(pairs), dtype=np.int32).reshape(-1, 2)


def _neighbour_table(network: BrokerNetwork) -> Ids:
    table = np.full((network.num_brokers, max(1, int(network.tree.degrees.max()))), FREE, dtype=np.int32)
    for broker, ends in enumerate(network.tree.neighbours):
        table[broker, : len(ends)] = ends
    return table


def _load_factors(
    network: BrokerNetwork, traffic: Traffic, profile: Profile, threshold: int
) -> npt.NDArray[np.float64]:
    """1 + max(0, load − threshold) of each broker; one without a cap is never loaded."""
    seconds = max(int(traffic.times[-1] - traffic.times[0]), INTERVAL) / INTERVAL
    caps = network.tree.uplinks
    load = np.where(caps > 0, profile.output / (np.maximum(caps, 1) * seconds), 0.0)
    factors: npt.NDArray[np.float64] = 1 + np.maximum(0.0, load - threshold / 100)
    return factors


@kernel
def review(
    mesh: Mesh,
    sent: npt.NDArray[np.int64],
    factors: npt.NDArray[np.float64],
    limits: Limits,
    neighbours: Ids,
    profiled: npt.NDArray[np.int64],
    number: int,
) -> None:
    """One round at every broker, which changes nobody's links but its own."""
    for a in range(len(mesh.ends)):
        promise = np.zeros(len(mesh.ends))
        for i in range(mesh.counts[a]):
            slot = mesh.order[a, i]
            far = mesh.ends[a, slot]
            for end in neighbours[far]:
                if end != FREE and 2 <= mesh.distances[a, end] <= limits.radius:
                    reached = sent[a, slot] * (mesh.distances[a, end] - 1) * load_factor(mesh, a, end, factors)
                    promise[end] = max(promise[end], reached)
        _keep_best(mesh, a, sent[a], factors, limits.spare[a])
        _profile_next(mesh, a, promise, limits, profiled, number)


@kernel
def _keep_best(mesh: Mesh, a: int, sent: npt.NDArray[np.int64], factors: npt.NDArray[np.float64], spare: int) -> None:
    gains = np.zeros(mesh.ends.shape[1])
    for i in range(mesh.counts[a]):
        slot = mesh.order[a, i]
        gains[slot] = gain(mesh, a, mesh.ends[a, slot], sent[slot], factors)
    kept = np.zeros(mesh.ends.shape[1], dtype=np.bool_)
    for _ in range(spare):
        best = FREE
        for i in range(mesh.counts[a]):
            slot = mesh.order[a, i]
            if kept[slot] or gains[slot] <= 0:
                continue
            better = best == FREE or gains[slot] > gains[best]
            if better or (gains[slot] == gains[best] and has(mesh.real[a], slot) and not has(mesh.real[a], best)):
                best = slot
        if best == FREE:
            break
        kept[best] = True
    for slot in range(mesh.ends.shape[1]):
        if mesh.ends[a, slot] != FREE and mesh.distances[a, mesh.ends[a, slot]] > 1:
            if kept[slot]:
                put(mesh.real[a], slot)
            else:
                unlink(mesh, a, slot)


@kernel
def gain(mesh: Mesh, a: int, v: int, sent: int, factors: npt.NDArray[np.float64]) -> float:
    """Of a link from `a` to `v` over which `sent` publications went."""
    return float(sent * (mesh.distances[a, v] - 1)) * load_factor(mesh, a, v, factors)


@kernel
def load_factor(mesh: Mesh, a: int, v: int, factors: npt.NDArray[np.float64]) -> float:
    """The product of the factors of the brokers strictly between `a` and `v`."""
    product, at = 1.0, mesh.next_hops[a, v]
    while at != v:
        product *= factors[at]
        at = mesh.next_hops[at, v]
    return product


@kernel
def _profile_next(
    mesh: Mesh,
    a: int,
    promise: npt.NDArray[np.float64],
    limits: Limits,
    profiled: npt.NDArray[np.int64],
    number: int,
) -> None:
    for i in range(mesh.counts[a]):
        promise[mesh.ends[a, mesh.order[a, i]]] = 0
    for _ in range(min(limits.candidates, mesh.ends.shape[1] - mesh.counts[a])):
        best = FREE
        for v in range(len(promise)):
            if promise[v] <= 0:
                continue
            if best == FREE or profiled[a, v] < profiled[a, best]:
                best = v
            elif profiled[a, v] == profiled[a, best]:
                slower = limits.path_delays[a, v] > limits.path_delays[a, best]
                if promise[v] > promise[best] or (promise[v] == promise[best] and slower):
                    best = v
        if best == FREE:
            return
        link(mesh, a, best, False)
        profiled[a, best] = number
        promise[best] = 0
