"""From an assignment of users to an answer: the trees that the routing leaves to choose (P4 §IV.B, phase 3)."""

from __future__ import annotations

import numpy as np

from ....instances.content.instance import ContentInstance
from ....instances.content.overlay import ContentOverlay, RoutingTree
from ....instances.content.problems import BrokerTraffic, broker_traffic
from ...compiled import kernel
from .prices import Flags, Floats, Ids, Network, SpanningTree, network_of, prices_from, spanning_tree, with_relays


def routed(instance: ContentInstance, brokers: Ids, routing: str) -> ContentOverlay:
    """The assignment with good trees between brokers.

    Parameters
    ----------
    instance : ContentInstance
    brokers : int32 array, shape (|U|,)
        The broker of each user.
    routing : {"mst", "steiner", "shared-tree"}
        ``mst`` has no trees to choose. ``steiner``: a minimum spanning tree of each channel's brokers with relays added
        while one saves anything, once for all sources with a subscriber and once for each other source.
        ``shared-tree``: of a minimum spanning tree of all brokers and the stars the one that costs least.

    Returns
    -------
    ContentOverlay

    Notes
    -----
    Zhao, Wu (P4), §IV.B, phase 3; relays as in :func:`.with_relays`. Cost for ``steiner``
    O(|B|²) a tree and relay, for ``shared-tree`` O(|B|² |C|).
    """
    overlay = ContentOverlay(brokers)
    if routing == "mst":
        return overlay
    traffic = broker_traffic(instance, overlay)
    trees = _steiner_trees if routing == "steiner" else _shared_tree
    return ContentOverlay(brokers, trees(instance, traffic))


def shared_tree_cost(network: Network, traffic: BrokerTraffic) -> float:
    """The core cost of a shared tree. Cost O(|B| |C|)."""
    return float(_shared_tree_cost(network, traffic.rates, traffic.wanted))


def _steiner_trees(instance: ContentInstance, traffic: BrokerTraffic) -> tuple[RoutingTree, ...]:
    trees = []
    for channel in np.flatnonzero(traffic.travels.any(axis=0)).tolist():
        wanted = traffic.wanted[:, channel]
        sources = np.flatnonzero(traffic.travels[:, channel])
        inside, outside = sources[wanted[sources]], sources[~wanted[sources]]
        groups = [[source] for source in outside.tolist()]
        for group in [inside.tolist(), *groups] if len(inside) else groups:
            members = wanted.copy()
            members[group] = True
            links = _relayed_links(instance.core, members)
            trees.append(RoutingTree.of(links.tolist(), channel, group))
    return tuple(trees)


@kernel
def _relayed_links(core: Floats, members: Flags) -> Ids:
    """The links of a tree with relays; a relay at the end of a branch leaves it. Shape (k, 2)."""
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
    spanning = spanning_tree(instance.core, np.arange(count, dtype=np.int32))
    candidates = [_links(spanning), *([(centre, b) for b in range(count) if b != centre] for centre in range(count))]
    costs = [shared_tree_cost(network_of(instance.core, "shared-tree", links), traffic) for links in candidates]
    return (RoutingTree.of(candidates[int(np.argmin(costs))]),)


def _links(tree: SpanningTree) -> list[tuple[int, int]]:
    ends = zip(tree.brokers[tree.parents[1:]].tolist(), tree.brokers[1:].tolist(), strict=True)
    return list(ends)


@kernel
def _shared_tree_cost(network: Network, rates: Floats, wanted: Flags) -> float:
    total = 0.0
    prices = np.empty(len(wanted))
    for c in range(wanted.shape[1]):
        prices_from(network, wanted[:, c], prices)
        for b in range(len(prices)):
            total += rates[b, c] * prices[b]
    return total
