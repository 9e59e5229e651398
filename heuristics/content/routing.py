"""Trees between brokers under each routing of P4: their prices, and the trees of an assignment (P4 §IV.B, phase 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from ...instances.content.instance import ContentInstance, Flags, Floats
from ...instances.content.problems import BrokerTraffic, ContentOverlay, RoutingTree, broker_traffic
from ...instances.contract.arrays import Ids
from ...instances.contract.compiled import kernel


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

    def links(connected: Ids) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = _relayed_links(instance.core, connected).tolist()
        return found

    return ContentOverlay(brokers, steiner_trees(traffic, links))


def steiner_trees(traffic: BrokerTraffic, links: Callable[[Ids], list[tuple[int, int]]]) -> tuple[RoutingTree, ...]:
    """The trees of an assignment; `links` gives those of a tree that connects some brokers."""
    trees = []
    for channel in np.flatnonzero(traffic.leaving.any(axis=0)).tolist():
        destinations = traffic.subscribed[:, channel]
        sources = np.flatnonzero(traffic.leaving[:, channel])
        inside, outside = sources[destinations[sources]], sources[~destinations[sources]]
        groups = [[source] for source in outside.tolist()]
        for group in [inside.tolist(), *groups] if len(inside) else groups:
            members = destinations.copy()
            members[group] = True
            trees.append(RoutingTree.of(links(np.flatnonzero(members).astype(np.int32)), channel, group))
    return tuple(trees)


@kernel
def _relayed_links(core: Floats, connected: Ids) -> Ids:
    """The links of a tree with relays, without relays that are leaves. Shape (k, 2)."""
    tree = with_relays(core, spanning_tree(core, connected))
    members = np.zeros(len(core), np.bool_)
    members[connected] = True
    needed = members[tree.brokers]
    links = np.empty((len(needed), 2), dtype=np.int32)
    count = 0
    for k in range(len(needed) - 1, 0, -1):
        if needed[k]:
            parent = tree.parents[k]
            needed[parent] = True
            links[count, 0], links[count, 1] = tree.brokers[parent], tree.brokers[k]
            count += 1
    return links[:count]


def _shared_tree(instance: ContentInstance, traffic: BrokerTraffic) -> tuple[RoutingTree, ...]:
    count = instance.num_brokers
    spanning = links_of(spanning_tree(instance.core, np.arange(count, dtype=np.int32)))
    candidates = [spanning, *([(centre, b) for b in range(count) if b != centre] for centre in range(count))]
    networks = [network_of(instance.core, "shared-tree", links) for links in candidates]
    costs = [_shared_tree_cost(network, traffic.rates, traffic.subscribed) for network in networks]
    return (RoutingTree.of(candidates[int(np.argmin(costs))]),)


@kernel
def _shared_tree_cost(network: BrokerArrays, rates: Floats, subscribed: Flags) -> float:
    """The core cost of a shared tree. Cost O(|B| |C|)."""
    total = 0.0
    prices = np.empty(len(subscribed))
    for c in range(subscribed.shape[1]):
        prices_from(network, subscribed[:, c], prices)
        for b in range(len(prices)):
            total += rates[b, c] * prices[b]
    return total


ROUTINGS = ("mst", "steiner", "shared-tree")
MST, STEINER, SHARED_TREE = range(3)
_RELATIVE_GAIN = 1e-12


class BrokerArrays(NamedTuple):
    """The brokers as kernels take them.

    `order`, `parents`, shape (|B|,): for SHARED_TREE the brokers from the root on, each after its parent, and each
    broker's parent (-1: the root).
    """

    routing: int  # MST, STEINER or SHARED_TREE
    core: Floats  # shape (|B|, |B|)
    order: Ids
    parents: Ids


class SpanningTree(NamedTuple):
    """A minimum spanning tree, its brokers in the order in which Prim's algorithm added them."""

    brokers: Ids  # shape (k,)
    parents: Ids  # shape (k,): the index in `brokers` of each broker's parent, which comes before it; -1 for the first
    links: Floats  # shape (k,): the price of the link to the parent; 0 for the first


def network_of(core: Floats, routing: str, links: Iterable[tuple[int, int]] = ()) -> BrokerArrays:
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
    return BrokerArrays(ROUTINGS.index(routing), core, order, parents)


@kernel
def prices_from(network: BrokerArrays, destinations: Flags, prices: Floats) -> None:
    """Set prices[b] to the price of the tree that connects broker b and all destinations.

    Exact for MST and SHARED_TREE; for STEINER the price of the tree of :func:`with_relays`. Cost O(|B|²), for STEINER
    O(|B|²) for each relay.
    """
    if network.routing == SHARED_TREE:
        _shared_tree_prices(network, destinations, prices)
        return
    members = np.flatnonzero(destinations).astype(np.int32)
    if len(members) == 0:
        prices[:] = 0.0
        return
    tree = spanning_tree(network.core, members)
    if network.routing == STEINER:
        tree = with_relays(network.core, tree)
    total = tree.links.sum()
    for b in range(len(destinations)):
        prices[b] = total if destinations[b] else insertion_price(network.core, tree, b)


@kernel
def spanning_tree(core: Floats, members: Ids) -> SpanningTree:
    """A minimum spanning tree of one or more brokers, by Prim's algorithm in O(k²)."""
    count = len(members)
    brokers, parents, links = members.copy(), np.full(count, -1, dtype=np.int32), np.zeros(count)
    nearest = core[members[0]][members]
    for done in range(1, count):
        k = done + np.argmin(nearest[done:])
        for values in (brokers, parents):
            values[done], values[k] = values[k], values[done]
        if parents[done] < 0:
            parents[done] = 0
        links[done] = nearest[k]
        nearest[k] = nearest[done]
        for later in range(done + 1, count):
            price = core[brokers[done], brokers[later]]
            if price < nearest[later]:
                nearest[later], parents[later] = price, done
    return SpanningTree(brokers, parents, links)


def links_of(tree: SpanningTree) -> list[tuple[int, int]]:
    """The links of a tree, each with the parent first."""
    return list(zip(tree.brokers[tree.parents[1:]].tolist(), tree.brokers[1:].tolist(), strict=True))


@kernel
def insertion_price(core: Floats, tree: SpanningTree, broker: int) -> float:
    """The price of a minimum spanning tree of the tree's brokers and one more, in O(k) (Chin, Houck 1978).

    From the last broker to the first: of the link to its parent and the best connection of its branch to the new
    broker, the cheaper one is in the tree, and the other is a connection for its parent.
    """
    total = 0.0
    connections = core[broker][tree.brokers]
    for k in range(len(connections) - 1, 0, -1):
        total += min(connections[k], tree.links[k])
        parent = tree.parents[k]
        connections[parent] = min(connections[parent], max(connections[k], tree.links[k]))
    return float(total + connections[0])


@kernel
def with_relays(core: Floats, tree: SpanningTree) -> SpanningTree:
    """The tree with further brokers as relays: each time the one that saves most, until none saves anything.

    The iterated 1-Steiner heuristic of Kahng and Robins (1992) over all brokers. O(|B|²) for each relay.
    """
    inside = np.zeros(len(core), dtype=np.bool_)
    inside[tree.brokers] = True
    price = tree.links.sum()
    while True:
        best, relay = price - _RELATIVE_GAIN * price, -1
        for b in range(len(core)):
            if not inside[b]:
                inserted = insertion_price(core, tree, b)
                if inserted < best:
                    best, relay = inserted, b
        if relay < 0:
            return tree
        inside[relay] = True
        tree = spanning_tree(core, np.append(tree.brokers, np.int32(relay)))
        price = tree.links.sum()


@kernel
def _shared_tree_prices(network: BrokerArrays, destinations: Flags, prices: Floats) -> None:
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
