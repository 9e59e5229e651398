"""Link management: soft links are profiled by gain, promoted and dropped in rounds (P5 §6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.brokers.network import BrokerNetwork, BrokerTree
from ....instances.contract.arrays import Ids
from ....instances.contract.time_units import SECOND
from ....instances.runtime.compiled import kernel
from .forwarding import no_messages, route, traffic_of
from .working_map import FREE, WorkingMaps, add_link, has_bit, remove_link, set_bit, working_maps

LOAD_FACTORS = ("max", "min")


@dataclass(frozen=True)
class Management:
    """The parameters of link management.

    `load_threshold`, `output_threshold`: percent of its uplink capacity above which a broker counts as loaded, and
    above which it saves its uplink (SH). `load_factor`, one of "max", "min": a bypassed broker's factor in the
    gain: 1 + max(0, load − threshold), or with min, as the paper prints it.
    """

    rounds: int = 40  # reviews of its links by every broker
    window: int = 1200  # publications routed before each review; after the last publication the first follows again
    candidates: int = 10  # links beyond the fanout that a broker may profile at a time (maxlinks − fanout)
    load_threshold: int = 80
    output_threshold: int = 80
    load_factor: str = "max"

    def factors(self, loads: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The factors of brokers by their loads, as shares of their uplinks."""
        above = loads - self.load_threshold / 100
        return 1 + (np.minimum(above, 0.0) if self.load_factor == "min" else np.maximum(above, 0.0))


class Review(NamedTuple):
    """What brokers review their links by. n brokers with c slots and at most d primary links.

    `last_profiled`, shape (n, n): the round in which a broker last profiled a link to another one; -1 if never.
    `radius`, `candidates`, `number`: Δ, the most candidates, and the number of the round.
    """

    sent: npt.NDArray[np.int64]  # shape (n, c): publications intended for each slot since the last review
    factors: npt.NDArray[np.float64]  # shape (n,)
    spare: npt.NDArray[np.int64]  # shape (n,): the most soft links of each broker
    path_delays: npt.NDArray[np.int64]  # shape (n, n)
    last_profiled: npt.NDArray[np.int64]
    neighbours: Ids  # shape (n, d): primary neighbours, filled up with -1
    radius: int
    candidates: int
    number: int


def managed_links(network: BrokerNetwork, strategy: int, management: Management) -> Ids:
    """The soft links after `rounds` reviews of the traffic of a strategy, rows (sender, receiver) in order.

    A broker ranks its soft and candidate links by gain: publications intended for the link × brokers that it bypasses ×
    the product over these of 1 + max(0, load − threshold); the paper prints min, where max must be meant. As many of
    the best as the fanout leaves beside the primary links are kept or promoted; the others, and those without gain, are
    removed. Then the broker profiles new candidates: neighbours of the brokers that it sends to. As primary links
    bypass no broker and have no gain, a candidate's rank is the gain it would have if all that traffic continued to it.
    The least recently profiled comes first; among equals, the one that bypasses the slower path.

    Cost of a round: that of routing its window, and O(n (n + c² + c d)) with d the largest primary degree.
    """
    tree, size, total, first = network.tree, network.num_brokers, len(network.publications), 0
    neighbourhood = (tree.distances <= network.radius).sum(axis=1) - 1
    maps = working_maps(tree, capacity=int(min(network.fanout + management.candidates, neighbourhood.max())))
    counts = no_messages(tree.uplinks, maps, management.output_threshold)
    last_profiled, neighbours = np.full((size, size), FREE, dtype=np.int64), neighbour_table(tree)
    for number in range(management.rounds if total else 0):
        last = min(first + management.window, total)
        traffic = traffic_of(network, first, last)
        counts.interval[:], counts.by_slot[:], counts.total[:] = FREE, 0, 0
        route(traffic, maps, strategy, counts)
        seconds = max(int(traffic.times[-1] - traffic.times[0]), SECOND) / SECOND
        loads = np.where(tree.uplinks > 0, counts.total / (np.maximum(tree.uplinks, 1) * seconds), 0.0)
        limits = (network.spare_links(), tree.path_delays, last_profiled, neighbours, network.radius)
        review(maps, 0, size, Review(counts.by_slot, management.factors(loads), *limits, management.candidates, number))
        first = last if last < total else 0
    pairs = [
        (a, int(maps.ends[a, slot]))
        for a in range(size)
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


@kernel
def review(maps: WorkingMaps, first: int, last: int, by: Review) -> None:
    """Brokers `first` … `last` − 1 keep, promote and drop their links and choose candidates."""
    for a in range(first, last):
        potential = np.zeros(len(maps.ends))
        for i in range(maps.counts[a]):
            slot = maps.order[a, i]
            for end in by.neighbours[maps.ends[a, slot]]:
                if end != FREE and 2 <= maps.distances[a, end] <= by.radius:
                    potential[end] = max(potential[end], gain(maps, a, end, by.sent[a, slot], by.factors))
        _keep_best(maps, a, by)
        _profile_next(maps, a, potential, by)


@kernel
def gain(maps: WorkingMaps, a: int, v: int, sent: int, factors: npt.NDArray[np.float64]) -> float:
    """The gain of a link from `a` to `v` for `sent` publications, by the factors of the brokers between the two."""
    product, at = 1.0, maps.next_hops[a, v]
    while at != v:
        product *= factors[at]
        at = maps.next_hops[at, v]
    return float(sent * (maps.distances[a, v] - 1)) * product


@kernel
def _keep_best(maps: WorkingMaps, a: int, by: Review) -> None:
    gains, kept = np.zeros(maps.ends.shape[1]), np.zeros(maps.ends.shape[1], dtype=np.bool_)
    for i in range(maps.counts[a]):
        slot = maps.order[a, i]
        gains[slot] = gain(maps, a, maps.ends[a, slot], by.sent[a, slot], by.factors)
    for _ in range(by.spare[a]):
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
def _profile_next(maps: WorkingMaps, a: int, potential: npt.NDArray[np.float64], by: Review) -> None:
    # Brokers that have a link already are no candidates.
    for i in range(maps.counts[a]):
        potential[maps.ends[a, maps.order[a, i]]] = 0
    last_profiled, delays = by.last_profiled[a], by.path_delays[a]
    for _ in range(min(by.candidates, maps.ends.shape[1] - maps.counts[a])):
        best = FREE
        for v in range(len(potential)):
            if potential[v] <= 0:
                continue
            if best == FREE or last_profiled[v] < last_profiled[best]:
                best = v
            elif last_profiled[v] == last_profiled[best]:
                slower = delays[v] > delays[best]
                if potential[v] > potential[best] or (potential[v] == potential[best] and slower):
                    best = v
        if best == FREE:
            return
        add_link(maps, a, best, False)
        last_profiled[best] = by.number
        potential[best] = 0
