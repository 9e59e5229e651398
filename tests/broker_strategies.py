"""Small random broker networks for hypothesis."""

from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from overlaybench.instances.brokers.network import BrokerNetwork, BrokerTree
from overlaybench.instances.brokers.predicates import Publications, Subscriptions

Link = tuple[int, int]


def graph_of(tree: BrokerTree) -> "nx.Graph[int]":
    """The tree with the delays of its links."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(tree.num_brokers))
    graph.add_weighted_edges_from(np.column_stack([tree.links, tree.delays]).tolist(), "delay")
    return graph


@st.composite
def broker_trees(draw: st.DrawFn, *, min_brokers: int = 1, max_brokers: int = 12) -> BrokerTree:
    """Any tree of at most this size, with any delays and caps."""
    size = draw(st.integers(min_brokers, max_brokers))
    links = [(draw(st.integers(0, v - 1)), v) for v in range(1, size)]
    names = draw(st.permutations(range(size)))
    delays = draw(st.lists(st.integers(0, 5000), min_size=size - 1, max_size=size - 1))
    uplinks = draw(st.lists(st.sampled_from([0, 1, 2, 5]), min_size=size, max_size=size))
    return BrokerTree.of(size, [(names[u], names[v]) for u, v in links], delays=delays, uplinks=uplinks)


@st.composite
def broker_networks(
    draw: st.DrawFn, *, min_brokers: int = 1, max_brokers: int = 12, max_publications: int = 6
) -> BrokerNetwork:
    """Any tree with interests around it; values and bounds lie from 0 to 4 on two attributes."""
    tree = draw(broker_trees(min_brokers=min_brokers, max_brokers=max_brokers))
    bounds = st.tuples(st.integers(0, 4), st.integers(0, 4)).map(sorted)
    count = draw(st.integers(0, 2 * tree.num_brokers))
    rows = sorted((draw(st.integers(0, tree.num_brokers - 1)), draw(bounds), draw(bounds)) for _ in range(count))
    low: npt.NDArray[Any] = np.array([[x[0], y[0]] for _, x, y in rows], dtype=np.int64).reshape(-1, 2)
    high: npt.NDArray[Any] = np.array([[x[1], y[1]] for _, x, y in rows], dtype=np.int64).reshape(-1, 2)
    subscriptions = Subscriptions(np.array([b for b, _, _ in rows], dtype=np.int64), low, high)
    published = draw(st.integers(0, max_publications))
    times = sorted(draw(st.lists(st.integers(0, 3_000_000), min_size=published, max_size=published)))
    sources = [draw(st.integers(0, tree.num_brokers - 1)) for _ in times]
    values = np.array([[draw(st.integers(0, 4)), draw(st.integers(0, 4))] for _ in times]).reshape(-1, 2)
    publications = Publications(
        np.array(times, dtype=np.int64), np.array(sources, dtype=np.int64), values.astype(np.int64)
    )
    fanout = int(tree.degrees.max()) + draw(st.integers(0, 4))
    return BrokerNetwork(tree, subscriptions, publications, draw(st.integers(1, 5)), fanout)


@st.composite
def networks_with_links(draw: st.DrawFn, *, max_brokers: int = 12) -> tuple[BrokerNetwork, list[Link]]:
    """A network and any soft links within its limits."""
    network = draw(broker_networks(max_brokers=max_brokers))
    allowed = [(int(u), int(v)) for u, v in network.allowed_links()]
    spare = network.spare_links().tolist()
    links = []
    for u, v in draw(st.permutations(allowed)) if allowed else []:
        if spare[u] > 0 and draw(st.booleans()):
            spare[u] -= 1
            links.append((u, v))
    return network, sorted(links)
