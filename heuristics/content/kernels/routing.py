"""From an assignment of users to an overlay: the trees between brokers (P4 §IV.B, phase 3)."""

from __future__ import annotations

import numpy as np

from ....instances.content.instance import ContentInstance, Flags, Floats
from ....instances.content.problems import BrokerTraffic, ContentOverlay, RoutingTree, broker_traffic
from ....instances.contract.arrays import Ids
from ...compiled import kernel
from .prices import Network, links_of, network_of, prices_from, spanning_tree, with_relays


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
    trees = _steiner_trees if routing == "steiner" else _shared_tree
    return ContentOverlay(brokers, trees(instance, traffic))


def _steiner_trees(instance: ContentInstance, traffic: BrokerTraffic) -> tuple[RoutingTree, ...]:
    trees = []
    for channel in np.flatnonzero(traffic.leaving.any(axis=0)).tolist():
        destinations = traffic.subscribed[:, channel]
        sources = np.flatnonzero(traffic.leaving[:, channel])
        inside, outside = sources[destinations[sources]], sources[~destinations[sources]]
        groups = [[source] for source in outside.tolist()]
        for group in [inside.tolist(), *groups] if len(inside) else groups:
            members = destinations.copy()
            members[group] = True
            links = _relayed_links(instance.core, members)
            trees.append(RoutingTree.of(links.tolist(), channel, group))
    return tuple(trees)


@kernel
def _relayed_links(core: Floats, members: Flags) -> Ids:
    """The links of a tree with relays, without relays that are leaves. Shape (k, 2)."""
    tree = with_relays(core, spanning_tree(core, np.flatnonzero(members).astype(np.int32)))
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
def _shared_tree_cost(network: Network, rates: Floats, subscribed: Flags) -> float:
    """The core cost of a shared tree. Cost O(|B| |C|)."""
    total = 0.0
    prices = np.empty(len(subscribed))
    for c in range(subscribed.shape[1]):
        prices_from(network, subscribed[:, c], prices)
        for b in range(len(prices)):
            total += rates[b, c] * prices[b]
    return total
