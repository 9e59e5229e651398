"""Link management: soft links are profiled by gain, promoted and dropped in rounds (P5 §6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.brokers.network import BrokerNetwork, BrokerTree
from ....instances.contract.arrays import Ids
from ....instances.contract.compiled import kernel
from .forwarding import INTERVAL, SentCounts, Traffic, no_messages, route, traffic_of
from .working_map import FREE, WorkingMaps, add_link, has_bit, remove_link, set_bit, working_maps

LOAD_FACTORS = ("max", "min")


@dataclass(frozen=True)
class Management:
    """The parameters of link management.

    Attributes
    ----------
    rounds : int
        Reviews of its links by every broker.
    window : int
        Publications routed before each review; after the last publication the first follows again.
    candidates : int
        Links beyond the fanout that a broker may profile at a time (maxlinks − fanout).
    load_threshold, output_threshold : int
        Percent of its uplink capacity above which a broker counts as loaded, and above which it saves its uplink (SH).
    load_factor : {"max", "min"}
        A bypassed broker's factor in the gain: 1 + max(0, load − threshold), or with min, as the paper prints it.
    """

    rounds: int = 40
    window: int = 1200
    candidates: int = 10
    load_threshold: int = 80
    output_threshold: int = 80
    load_factor: str = "max"


class Limits(NamedTuple):
    """The limits on links in every review. Shapes: spare (n,), path_delays (n, n)."""

    spare: npt.NDArray[np.int64]
    path_delays: npt.NDArray[np.int64]
    radius: int
    candidates: int


def managed_links(network: BrokerNetwork, strategy: int, management: Management) -> Ids:
    """The soft links after `rounds` reviews of the traffic of a strategy, rows (sender, receiver).

    A broker ranks its soft and candidate links by gain: publications intended for the link × brokers that it bypasses ×
    the product over these of 1 + max(0, load − threshold); the paper prints min, where max must be meant. As many of
    the best as the fanout leaves beside the primary links are kept or promoted; the others, and those without gain, are
    removed. Then the broker profiles new candidates: neighbours of the brokers that it sends to. As primary links
    bypass no broker and have no gain, a candidate's rank is the gain it would have if all that traffic continued to it.
    The least recently profiled comes first; among equals, the one that bypasses the slower path.

    Notes
    -----
    Cost of a round: that of routing its window, and O(n (n + c² + c d)) with d the largest primary degree.
    """
    size = network.num_brokers
    neighbourhood = (network.tree.distances <= network.radius).sum(axis=1) - 1
    maps = working_maps(network.tree, capacity=int(min(network.fanout + management.candidates, neighbourhood.max())))
    limits = Limits(network.spare_links(), network.tree.path_delays, network.radius, management.candidates)
    counts = no_messages(network, maps, management.output_threshold)
    last_profiled = np.full((size, size), FREE, dtype=np.int64)
    neighbours = neighbour_table(network.tree)
    total, first = len(network.publications), 0
    for number in range(management.rounds if total else 0):
        last = min(first + management.window, total)
        traffic = traffic_of(network, first, last)
        counts.interval[:], counts.by_slot[:], counts.total[:] = FREE, 0, 0
        route(traffic, maps, strategy, counts)
        factors = _load_factors(network, traffic, counts, management)
        review(maps, counts.by_slot, factors, limits, neighbours, last_profiled, number)
        first = last if last < total else 0
    return soft_links_of(maps)


def soft_links_of(maps: WorkingMaps) -> Ids:
    """The soft links in use, rows (sender, receiver), in lexicographic order."""
    pairs = [
        (a, int(maps.ends[a, slot]))
        for a in range(len(maps.ends))
        for slot in maps.order[a, : maps.counts[a]]
        if has_bit(maps.real[a], slot) and maps.distances[a, maps.ends[a, slot]] > 1
    ]
    return np.array(sorted(pairs), dtype=np.int32).reshape(-1, 2)


def neighbour_table(tree: BrokerTree) -> Ids:
    """The primary neighbours of each broker, shape (n, largest degree), filled up with -1."""
    table = np.full((tree.num_brokers, max(1, int(tree.degrees.max()))), FREE, dtype=np.int32)
    for broker, ends in enumerate(tree.neighbours):
        table[broker, : len(ends)] = ends
    return table


def _load_factors(
    network: BrokerNetwork, traffic: Traffic, counts: SentCounts, management: Management
) -> npt.NDArray[np.float64]:
    """1 + max(0, load − threshold) of each broker, or the same with min; the load of one without a cap is 0."""
    seconds = max(int(traffic.times[-1] - traffic.times[0]), INTERVAL) / INTERVAL
    caps = network.tree.uplinks
    load = np.where(caps > 0, counts.total / (np.maximum(caps, 1) * seconds), 0.0)
    above = load - management.load_threshold / 100
    return 1 + (np.minimum(above, 0.0) if management.load_factor == "min" else np.maximum(above, 0.0))


@kernel
def review(
    maps: WorkingMaps,
    sent: npt.NDArray[np.int64],
    factors: npt.NDArray[np.float64],
    limits: Limits,
    neighbours: Ids,
    last_profiled: npt.NDArray[np.int64],
    number: int,
) -> None:
    """One round: every broker reviews its own links."""
    for a in range(len(maps.ends)):
        review_own(maps, a, sent, factors, limits, neighbours, last_profiled, number)


@kernel
def review_own(
    maps: WorkingMaps,
    a: int,
    sent: npt.NDArray[np.int64],
    factors: npt.NDArray[np.float64],
    limits: Limits,
    neighbours: Ids,
    last_profiled: npt.NDArray[np.int64],
    number: int,
) -> None:
    """Broker `a` keeps, promotes and drops its links and chooses candidates, by row `a` of each array."""
    potential = np.zeros(len(maps.ends))
    for i in range(maps.counts[a]):
        slot = maps.order[a, i]
        far = maps.ends[a, slot]
        for end in neighbours[far]:
            if end != FREE and 2 <= maps.distances[a, end] <= limits.radius:
                reached = sent[a, slot] * (maps.distances[a, end] - 1) * load_factor(maps, a, end, factors)
                potential[end] = max(potential[end], reached)
    _keep_best(maps, a, sent[a], factors, limits.spare[a])
    _profile_next(maps, a, potential, limits, last_profiled, number)


@kernel
def _keep_best(
    maps: WorkingMaps, a: int, sent: npt.NDArray[np.int64], factors: npt.NDArray[np.float64], spare: int
) -> None:
    gains = np.zeros(maps.ends.shape[1])
    for i in range(maps.counts[a]):
        slot = maps.order[a, i]
        gains[slot] = gain(maps, a, maps.ends[a, slot], sent[slot], factors)
    kept = np.zeros(maps.ends.shape[1], dtype=np.bool_)
    for _ in range(spare):
        best = FREE
        for i in range(maps.counts[a]):
            slot = maps.order[a, i]
            if kept[slot] or gains[slot] <= 0:
                continue
            better = best == FREE or gains[slot] > gains[best]
            if better or (
                gains[slot] == gains[best] and has_bit(maps.real[a], slot) and not has_bit(maps.real[a], best)
            ):
                best = slot
        if best == FREE:
            break
        kept[best] = True
    for slot in range(maps.ends.shape[1]):
        if maps.ends[a, slot] != FREE and maps.distances[a, maps.ends[a, slot]] > 1:
            if kept[slot]:
                set_bit(maps.real[a], slot)
            else:
                remove_link(maps, a, slot)


@kernel
def gain(maps: WorkingMaps, a: int, v: int, sent: int, factors: npt.NDArray[np.float64]) -> float:
    """The gain of a link from `a` to `v` that is intended for `sent` publications."""
    return float(sent * (maps.distances[a, v] - 1)) * load_factor(maps, a, v, factors)


@kernel
def load_factor(maps: WorkingMaps, a: int, v: int, factors: npt.NDArray[np.float64]) -> float:
    """The product of the factors of the brokers strictly between `a` and `v`."""
    product, at = 1.0, maps.next_hops[a, v]
    while at != v:
        product *= factors[at]
        at = maps.next_hops[at, v]
    return product


@kernel
def _profile_next(
    maps: WorkingMaps,
    a: int,
    potential: npt.NDArray[np.float64],
    limits: Limits,
    last_profiled: npt.NDArray[np.int64],
    number: int,
) -> None:
    # Brokers that have a link already are no candidates.
    for i in range(maps.counts[a]):
        potential[maps.ends[a, maps.order[a, i]]] = 0
    for _ in range(min(limits.candidates, maps.ends.shape[1] - maps.counts[a])):
        best = FREE
        for v in range(len(potential)):
            if potential[v] <= 0:
                continue
            if best == FREE or last_profiled[a, v] < last_profiled[a, best]:
                best = v
            elif last_profiled[a, v] == last_profiled[a, best]:
                slower = limits.path_delays[a, v] > limits.path_delays[a, best]
                if potential[v] > potential[best] or (potential[v] == potential[best] and slower):
                    best = v
        if best == FREE:
            return
        add_link(maps, a, best, False)
        last_profiled[a, best] = number
        potential[best] = 0
