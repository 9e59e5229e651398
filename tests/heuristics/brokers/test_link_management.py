"""Link management by gain: one review of all brokers against plain Python, and the slip about min and max."""

from __future__ import annotations

from math import prod

import networkx as nx
import numpy as np
import pytest
from hypothesis import strategies as st

from overlaybench.heuristics.brokers.kernels.link_management import Limits, gain, neighbour_table, review
from overlaybench.heuristics.brokers.kernels.working_map import add_link, has_bit, working_maps
from overlaybench.instances.brokers.network import BrokerNetwork, BrokerTree
from tests.broker_strategies import Link, networks_with_links
from tests.heuristics.brokers.twins import primary
from tests.properties import property_test

Links = set[Link]


def reviewed(
    network: BrokerNetwork,
    real: set[Link],
    candidates: set[Link],
    sent: dict[Link, int],
    factors: list[float],
    profiled: dict[Link, int],
    many: int,
    capacity: int,
) -> tuple[Links, Links]:
    """Soft links and candidates after a review."""
    graph, tree = primary(network.tree), network.tree
    path = dict(nx.all_pairs_shortest_path(graph))
    kept, profiled_next = set(), set()
    for a in graph:
        soft = {v for u, v in real if u == a}
        ends = set(graph[a]) | soft | {v for u, v in candidates if u == a}

        def worth(v: int, count: int, a: int = a) -> float:
            return count * (len(path[a][v]) - 2) * prod(factors[x] for x in path[a][v][1:-1])

        gains = {v: worth(v, sent[a, v]) for v in ends if len(path[a][v]) > 2}
        worthy = [v for v in gains if gains[v] > 0]
        ranked = sorted(worthy, key=lambda v: (-gains[v], v not in soft, path_rank(path, a, v)))
        best = set(ranked[: network.fanout - graph.degree(a)])
        kept |= {(a, v) for v in best}
        potential: dict[int, float] = {}
        for x in ends:
            for v in graph[x]:
                if 2 <= len(path[a][v]) - 1 <= network.radius:
                    potential[v] = max(potential.get(v, 0), worth(v, sent[a, x]))
        waiting = [v for v in potential if potential[v] > 0 and v not in best | set(graph[a])]
        waiting.sort(key=lambda v: (profiled.get((a, v), -1), -potential[v], -int(tree.path_delays[a, v]), v))
        profiled_next |= {(a, v) for v in waiting[: min(many, capacity - graph.degree(a) - len(best))]}
    return kept, profiled_next


def path_rank(path: dict[int, dict[int, list[int]]], a: int, v: int) -> tuple[int, int]:
    return len(path[a][v]), v


@property_test(100, given=networks_with_links(max_brokers=9), data=st.data())
def test_a_review_keeps_promotes_and_drops_as_the_reference(
    given: tuple[BrokerNetwork, list[Link]], data: st.DataObject
) -> None:
    network, links = given
    size, many, capacity = network.num_brokers, 2, network.fanout + 2
    allowed = [(int(u), int(v)) for u, v in network.allowed_links()]
    free = sorted(set(allowed) - set(links))
    candidates = {each for each in free if data.draw(st.booleans())}
    while crowded := [u for u in range(size) if sum(w == u for w, _ in candidates) > many]:
        candidates.remove(min(each for each in candidates if each[0] == crowded[0]))
    maps = working_maps(network.tree, links, capacity=capacity)
    for u, v in sorted(candidates):
        add_link(maps, u, v, False)
    sent, counts = np.zeros(maps.ends.shape, dtype=np.int64), {}
    for u in range(size):
        for slot in maps.order[u, : maps.counts[u]].tolist():
            sent[u, slot] = counts[u, int(maps.ends[u, slot])] = data.draw(st.integers(0, 4))
    factors = data.draw(st.lists(st.sampled_from([1.0, 1.5, 2.0]), min_size=size, max_size=size))
    last = {each: data.draw(st.integers(0, 3)) for each in free if data.draw(st.booleans())}
    profiled = np.full((size, size), -1, dtype=np.int64)
    for (u, v), round_number in last.items():
        profiled[u, v] = round_number
    limits = Limits(network.spare_links(), network.tree.path_delays, network.radius, many)
    review(maps, sent, np.array(factors), limits, neighbour_table(network.tree), profiled, 9)
    expected = reviewed(network, set(links), candidates, counts, factors, last, many, capacity)
    now = {
        (u, int(maps.ends[u, s]), has_bit(maps.real[u], s))
        for u in range(size)
        for s in maps.order[u, : maps.counts[u]]
    }
    soft = {(u, v) for u, v, real in now if real and network.tree.distances[u, v] > 1}
    assert (soft, {(u, v) for u, v, real in now if not real}) == expected
    assert all(profiled[u, v] == 9 for u, v in expected[1])


def test_links_past_loaded_brokers_gain_more_with_max_and_nothing_with_min() -> None:
    maps = working_maps(BrokerTree.of(4, [(0, 1), (1, 2), (2, 3)]))
    threshold, load = 0.8, np.array([0.0, 0.9, 0.5, 0.0])
    factors = 1 + np.maximum(0, load - threshold)
    assert gain(maps, 0, 3, 10, factors) == pytest.approx(10 * 2 * 1.1)
    as_printed = 1 + np.minimum(0, load - threshold)
    assert gain(maps, 0, 3, 10, as_printed) == pytest.approx(10 * 2 * 0.7), "a loaded broker would not count at all"
