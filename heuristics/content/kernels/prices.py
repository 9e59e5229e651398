"""What it costs to join brokers by a tree under each routing of P4: the kernels behind every content heuristic."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...compiled import kernel

Ids = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

MST, STEINER, SHARED_TREE = range(3)
_GAIN = 1e-12


class Network(NamedTuple):
    """The brokers as kernels take them.

    Attributes
    ----------
    routing : int
        MST, STEINER or SHARED_TREE.
    core : float64 array, shape (|B|, |B|)
    order, parents : int32 arrays, shape (|B|,)
        For SHARED_TREE the brokers from the root on, each after its parent, and each broker's parent (-1: the root).
    """

    routing: int
    core: Floats
    order: Ids
    parents: Ids


class SpanningTree(NamedTuple):
    """A minimum spanning tree in the order in which Prim's algorithm found its brokers.

    Attributes
    ----------
    brokers : int32 array, shape (k,)
    parents : int32 array, shape (k,)
        The place in `brokers`, before its own, of each broker's neighbour; -1 for the first.
    links : float64 array, shape (k,)
        The price of that link; 0 for the first.
    """

    brokers: Ids
    parents: Ids
    links: Floats


@kernel
def prices_from(network: Network, wanted: Flags, prices: Floats) -> None:
    """Into prices[b]: the price of the tree that joins broker b and all brokers wanted.

    Exact for MST and SHARED_TREE; for STEINER that of a tree with relays added while one helps. Cost O(|B|²), for
    STEINER O(|B|²) a relay.
    """
    if network.routing == SHARED_TREE:
        _tree_prices(network, wanted, prices)
        return
    members = np.flatnonzero(wanted).astype(np.int32)
    if len(members) == 0:
        prices[:] = 0.0
        return
    tree = spanning_tree(network.core, members)
    if network.routing == STEINER:
        tree = with_relays(network.core, tree)
    total = tree.links.sum()
    for b in range(len(wanted)):
        prices[b] = total if wanted[b] else insertion_price(network.core, tree, b)


@kernel
def spanning_tree(core: Floats, members: Ids) -> SpanningTree:
    """A minimum spanning tree of some brokers, at least one, by Prim's algorithm in O(k²)."""
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


@kernel
def insertion_price(core: Floats, tree: SpanningTree, broker: int) -> float:
    """The price of a minimum spanning tree of the tree's brokers and one more, in O(k) (Chin, Houck 1978).

    From the last broker to the first: of its own link and the best way of its branch to the new broker the cheaper
    stays, and the dearer is a way for its parent.
    """
    total = 0.0
    ways = core[broker][tree.brokers]
    for k in range(len(ways) - 1, 0, -1):
        total += min(ways[k], tree.links[k])
        parent = tree.parents[k]
        ways[parent] = min(ways[parent], max(ways[k], tree.links[k]))
    return float(total + ways[0])


@kernel
def with_relays(core: Floats, tree: SpanningTree) -> SpanningTree:
    """The tree with other brokers added, each time the one that saves most, while one saves anything.

    The iterated 1-Steiner heuristic of Kahng and Robins (1992) over all brokers. O(|B|²) a relay.
    """
    inside = np.zeros(len(core), dtype=np.bool_)
    inside[tree.brokers] = True
    price = tree.links.sum()
    while True:
        best, relay = price - _GAIN * price, -1
        for b in range(len(core)):
            if not inside[b]:
                found = insertion_price(core, tree, b)
                if found < best:
                    best, relay = found, b
        if relay < 0:
            return tree
        inside[relay] = True
        tree = spanning_tree(core, np.append(tree.brokers, np.int32(relay)))
        price = tree.links.sum()


@kernel
def _tree_prices(network: Network, wanted: Flags, prices: Floats) -> None:
    """The links of the shared tree between brokers wanted, and from each broker the way to them."""
    order, parents, core = network.order, network.parents, network.core
    below = wanted.astype(np.int64)
    for b in order[:0:-1]:
        below[parents[b]] += below[b]
    count, total = wanted.sum(), 0.0
    prices[:] = 0.0
    if count == 0:
        return
    for b in range(len(wanted)):
        if not wanted[b]:
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


def network_of(core: Floats, routing: str, links: Any = ()) -> Network:
    """The brokers under a routing by name; `links` are those of the shared tree.

    Parameters
    ----------
    core : float64 array, shape (|B|, |B|)
    routing : {"mst", "steiner", "shared-tree"}
    links : sequence of pairs of brokers
    """
    count = len(core)
    order, parents = np.arange(count, dtype=np.int32), np.full(count, -1, dtype=np.int32)
    if routing == "shared-tree":
        neighbours: list[list[int]] = [[] for _ in range(count)]
        for a, b in links:
            neighbours[a].append(b)
            neighbours[b].append(a)
        found = [0]
        for a in found:
            for b in neighbours[a]:
                if b != parents[a]:
                    parents[b] = a
                    found.append(b)
        order = np.array(found, dtype=np.int32)
    return Network({"mst": MST, "steiner": STEINER, "shared-tree": SHARED_TREE}[routing], core, order, parents)
