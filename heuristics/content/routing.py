"""Trees between brokers under each routing of P4: their prices, and the trees of an assignment (P4 §IV.B, phase 3)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.content.instance import ContentInstance
from ...instances.content.problems import BrokerTraffic, ContentOverlay, RoutingTree, broker_traffic
from ...instances.contract.arrays import Flags, Ids, Offsets, Reals
from ...instances.runtime.compiled import kernel, wrapping_kernel


def route(instance: ContentInstance, brokers: Ids, routing: str) -> ContentOverlay:
    """The overlay of an assignment with heuristic trees between brokers.

    Parameters
    ----------
    instance : ContentInstance
    brokers : int32 array, shape (|U|,)
        The broker of each user.
    routing : {"mst", "steiner", "shared-tree"}
        ``mst`` leaves no tree to choose. ``steiner``: the tree of :func:`.with_relays` for each channel, one for all
        source brokers with a subscriber and one for each other source broker. ``shared-tree``: the cheapest of a
        minimum spanning tree of all brokers and the stars.

    Notes
    -----
    Zhao, Wu (P4), §IV.B, phase 3. Cost for ``steiner`` O(|B|²) for each tree and relay, for ``shared-tree``
    O(|B|² |C|).
    """
    overlay = ContentOverlay(brokers)
    if routing == "mst":
        return overlay
    traffic = broker_traffic(instance, overlay)
    if routing == "shared-tree":
        return ContentOverlay(brokers, _shared_tree(instance, traffic))
    return ContentOverlay(brokers, _steiner_trees(instance.core, traffic))


def _steiner_trees(core: Reals, traffic: BrokerTraffic) -> tuple[RoutingTree, ...]:
    channels, sources = np.nonzero(traffic.leaving.T)
    if not len(channels):
        return ()
    # Sources with a subscriber share a tree.
    group = np.where(traffic.subscribed[sources, channels], 0, sources + 1)
    order = np.lexsort((sources, group, channels))
    channels, sources, group = channels[order], sources[order], group[order]
    first = np.flatnonzero((np.diff(channels, prepend=-1) != 0) | (np.diff(group, prepend=-1) != 0))
    members = traffic.subscribed.T[channels[first]]
    members[np.repeat(np.arange(len(first)), np.diff(first, append=len(channels))), sources] = True
    keys, ends = (each.tolist() for each in _relayed_links(core, members))
    known = {key: divmod(key, len(core)) for key in set(keys)}  # trees share links: 25,000 are some 1,000 objects
    links, listed = tuple(known[key] for key in keys), tuple(sources.tolist())
    groups = [listed[begin:end] for begin, end in pairwise([*first.tolist(), len(listed)])]
    trees = zip(pairwise([0, *ends]), channels[first].tolist(), groups, strict=True)
    return tuple(RoutingTree(links[begin:end], channel, group) for (begin, end), channel, group in trees)


@kernel
def _relayed_links(core: Reals, members: Flags) -> tuple[Offsets, Offsets]:
    """The links of trees with relays, without relays that are leaves, and where those of each tree end.

    A link of brokers a < b is the number a |B| + b; those of a tree are in increasing order.
    """
    found, ends, prices = [0 for _ in range(0)], np.empty(len(members), np.int64), np.empty(len(core))
    for row in range(len(members)):
        tree = with_relays(core, spanning_tree(core, np.flatnonzero(members[row]).astype(np.int32)), prices)
        needed, links = members[row][tree.brokers], [0 for _ in range(0)]
        for k in range(len(needed) - 1, 0, -1):
            if needed[k]:
                parent = tree.parents[k]
                needed[parent] = True
                a, b = tree.brokers[parent], tree.brokers[k]
                links.append(int(min(a, b)) * len(core) + max(a, b))
        links.sort()
        found.extend(links)
        ends[row] = len(found)
    return np.array(found, np.int64), ends


def _shared_tree(instance: ContentInstance, traffic: BrokerTraffic) -> tuple[RoutingTree, ...]:
    count = instance.num_brokers
    spanning = links_of(spanning_tree(instance.core, np.arange(count, dtype=np.int32)))
    candidates = [spanning, *([(centre, b) for b in range(count) if b != centre] for centre in range(count))]
    networks = [network_of(instance.core, "shared-tree", links) for links in candidates]
    costs = [_shared_tree_cost(network, traffic.rates, traffic.subscribed) for network in networks]
    return (RoutingTree.of(candidates[int(np.argmin(costs))]),)


@kernel
def _shared_tree_cost(network: BrokerArrays, rates: Reals, subscribed: Flags) -> float:
    """The core cost of a shared tree. Cost O(|B| |C|)."""
    total = 0.0
    prices = np.empty(len(subscribed))
    for c in range(subscribed.shape[1]):
        prices_from(network, subscribed[:, c], prices)
        for b in range(len(prices)):
            total += rates[b, c] * prices[b]
    return total


_WORD = 62  # brokers in each integer of a set
_ROWS, _CELLS = 16, 23  # prices are kept for at most 2^16 sets of destinations, and in at most 2^23 numbers
ROUTINGS = ("mst", "steiner", "shared-tree")
MST, STEINER, SHARED_TREE = range(3)
_RELATIVE_GAIN = 1e-12


class BrokerArrays(NamedTuple):
    """The brokers as kernels take them.

    `order`, `parents`, shape (|B|,): for SHARED_TREE the brokers from the root on, each after its parent, and each
    broker's parent (-1: the root). The others keep `prices` of some sets of destinations, which migration asks for ten
    times each: row i is of the set with the bits ``sets[i]``.
    """

    routing: int  # MST, STEINER or SHARED_TREE
    core: Reals  # shape (|B|, |B|)
    order: Ids
    parents: Ids
    sets: npt.NDArray[np.int64]
    prices: Reals


class SpanningTree(NamedTuple):
    """A minimum spanning tree, its brokers in the order in which Prim's algorithm added them."""

    brokers: Ids  # shape (k,)
    parents: Ids  # shape (k,): the index in `brokers` of each broker's parent, which comes before it; -1 for the first
    links: Reals  # shape (k,): the price of the link to the parent; 0 for the first


def network_of(core: Reals, routing: str, links: Iterable[tuple[int, int]] = ()) -> BrokerArrays:
    """The brokers under a routing by name; `links` are those of the shared tree."""
    count = len(core)
    order, parents = np.arange(count, dtype=np.int32), np.full(count, -1, dtype=np.int32)
    if routing == "shared-tree":
        neighbours: list[list[int]] = [[] for _ in range(count)]
        for a, b in links:
            neighbours[a].append(b)
            neighbours[b].append(a)
        reached = [0]
        for a in reached:
            for b in neighbours[a]:
                if b != parents[a]:
                    parents[b] = a
                    reached.append(b)
        order = np.array(reached, dtype=np.int32)
    rows = 1 if routing == "shared-tree" else 1 << min(_ROWS, _CELLS - count.bit_length())
    sets, prices = np.zeros((rows, -(-count // _WORD)), np.int64), np.zeros((rows, count))
    return BrokerArrays(ROUTINGS.index(routing), core, order, parents, sets, prices)


@kernel
def prices_from(network: BrokerArrays, destinations: Flags, prices: Reals) -> None:
    """Set prices[b] to the price of the tree that connects broker b and all destinations.

    Exact for MST and SHARED_TREE; for STEINER the price of the tree of :func:`with_relays`. Cost O(|B|²), for STEINER
    O(|B|²) for each relay.
    """
    if network.routing == SHARED_TREE:
        _shared_tree_prices(network, destinations, prices)
        return
    row, members = _row_of(network, destinations), np.flatnonzero(destinations).astype(np.int32)
    if len(members) == 0:
        prices[:] = 0.0
        return
    known = True
    for word in range(network.sets.shape[1]):
        bits = np.int64(0)
        for b in members:
            if b // _WORD == word:
                bits |= np.int64(1) << (b % _WORD)
        known &= network.sets[row, word] == bits
        network.sets[row, word] = bits
    if not known:
        tree = spanning_tree(network.core, members)
        if network.routing == STEINER:
            tree = with_relays(network.core, tree, network.prices[row])
        else:
            set_insertion_prices(network.core, tree, network.prices[row])
        network.prices[row][members] = tree.links.sum()
    prices[:] = network.prices[row]


@wrapping_kernel
def _row_of(network: BrokerArrays, destinations: Flags) -> int:
    """The row for a set of destinations, by a hash of it."""
    mixed = np.int64(0)
    for b in range(len(destinations)):
        if destinations[b]:
            mixed = (mixed ^ (b + 1)) * np.int64(0x2545F4914F6CDD1D)
            mixed ^= mixed >> 29
    return int(mixed & (len(network.prices) - 1))


@kernel
def spanning_tree(core: Reals, members: Ids) -> SpanningTree:
    """A minimum spanning tree of one or more brokers, by Prim's algorithm in O(k²)."""
    count = len(members)
    brokers, parents, links = members.copy(), np.full(count, -1, dtype=np.int32), np.zeros(count)
    nearest = np.full(count, np.inf)
    k = 0
    for done in range(count):
        brokers[done], brokers[k] = brokers[k], brokers[done]
        parents[done], parents[k] = parents[k], parents[done]
        links[done], nearest[k] = nearest[k], nearest[done]
        prices, k = core[brokers[done]], done + 1
        for later in range(done + 1, count):
            price = prices[brokers[later]]
            if price < nearest[later]:
                nearest[later], parents[later] = price, done
            if nearest[later] < nearest[k]:
                k = later
    links[0] = 0.0
    return SpanningTree(brokers, parents, links)


def links_of(tree: SpanningTree) -> list[tuple[int, int]]:
    """The links of a tree, each with the parent first."""
    return list(zip(tree.brokers[tree.parents[1:]].tolist(), tree.brokers[1:].tolist(), strict=True))


@kernel
def set_insertion_prices(core: Reals, tree: SpanningTree, prices: Reals) -> None:
    """Set prices[b] to the price of a minimum spanning tree of the tree's brokers and broker b (Chin, Houck 1978).

    From the tree's last broker to the first: of the link to its parent and the best connection of its branch to the new
    broker, the cheaper one is in the tree, and the other is a connection for its parent. Cost O(k |B|); the inner loop
    over brokers uses the processor's vector instructions.
    """
    connections = core[tree.brokers]
    prices[:] = 0.0
    for k in range(len(connections) - 1, 0, -1):
        link, here, above = tree.links[k], connections[k], connections[tree.parents[k]]
        for b in range(len(prices)):
            prices[b] += min(here[b], link)
            above[b] = min(above[b], max(here[b], link))
    prices += connections[0]


@kernel
def with_relays(core: Reals, tree: SpanningTree, prices: Reals) -> SpanningTree:
    """The tree with further brokers as relays: each time the one that saves most, until none saves anything.

    Sets prices[b] to the price of the tree with broker b added. The iterated 1-Steiner heuristic of Kahng and Robins
    (1992) over all brokers. O(k |B|) for each relay.
    """
    inside = np.zeros(len(core), dtype=np.bool_)
    inside[tree.brokers] = True
    while True:
        price = tree.links.sum()
        best, relay = price - _RELATIVE_GAIN * price, -1
        set_insertion_prices(core, tree, prices)
        for b in range(len(core)):
            if not inside[b] and prices[b] < best:
                best, relay = prices[b], b
        if relay < 0:
            return tree
        inside[relay] = True
        tree = spanning_tree(core, np.append(tree.brokers, np.int32(relay)))


@kernel
def _shared_tree_prices(network: BrokerArrays, destinations: Flags, prices: Reals) -> None:
    """The price of the tree's links between destinations, plus that of the path from each broker to them."""
    order, parents, core = network.order, network.parents, network.core
    below = destinations.astype(np.int64)
    for b in order[:0:-1]:
        below[parents[b]] += below[b]
    count, total = destinations.sum(), 0.0
    prices[:] = 0.0
    if count == 0:
        return
    for b in range(len(destinations)):
        if not destinations[b]:
            prices[b] = np.inf
    for b in order[1:]:
        if 0 < below[b] < count:
            total += core[b, parents[b]]
            prices[b] = prices[parents[b]] = 0.0
    for b in order[:0:-1]:
        prices[parents[b]] = min(prices[parents[b]], prices[b] + core[b, parents[b]])
    for b in order[1:]:
        prices[b] = min(prices[b], prices[parents[b]] + core[b, parents[b]])
    prices += total
