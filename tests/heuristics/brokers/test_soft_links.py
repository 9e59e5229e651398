"""Soft links over a broker tree, beside P5's maps, strategies and queues with sets and paths for bits and tables."""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass
from itertools import count
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.compare.claims.simulator import covering
from overlaybench.heuristics.brokers import soft_links
from overlaybench.heuristics.brokers.kernels import working_map
from overlaybench.heuristics.brokers.kernels.forwarding import S0, S2, STRATEGIES, traffic_of
from overlaybench.heuristics.brokers.kernels.link_management import (
    Management,
    Review,
    gain,
    managed_links,
    neighbour_table,
    review,
)
from overlaybench.heuristics.brokers.kernels.queueing import Timing, _repeated, simulate
from overlaybench.instances.brokers.network import BrokerNetwork, BrokerTree
from overlaybench.instances.brokers.predicates import HIGHEST, LOWEST, Publications, Subscriptions
from overlaybench.instances.brokers.problems import SoftLinks
from tests.broker_strategies import Link, broker_networks, graph_of, networks_with_links
from tests.outcomes import value_of
from tests.properties import property_test

Linked = tuple[BrokerNetwork, list[Link]]
SMALL = {"brokers": 40, "fanout": 9, "subscriptions": 400, "publications": 600}


@dataclass
class Map:
    """One broker's working map: `stands_for[v]` is what v was contracted into."""

    stands_for: dict[int, int]
    order: list[int]
    between: dict[int, set[int]]
    beyond: dict[int, set[int]]
    behind: dict[int, set[int]]


def contracted(tree: BrokerTree, a: int, links: set[int]) -> Map:
    """The three steps of §3 on the whole primary network."""
    graph = graph_of(tree)
    far = nx.single_source_shortest_path_length(graph, a)
    path = nx.single_source_shortest_path(graph, a)
    wom = graph.copy()
    into: dict[int, int] = {}
    for v in sorted(graph, key=lambda v: -far[v]):
        if v == a or v in links:
            continue
        closer = next(w for w in wom[v] if far[w] < far[v])
        into[v] = closer
        for other in list(wom[v]):
            if other != closer:
                wom.add_edge(other, closer)
        wom.remove_node(v)
    stands_for = {}
    for v in graph:
        at = v
        while at in into:
            at = into[at]
        stands_for[v] = at
    assert set(wom) == links | {a}
    order = sorted(links, key=lambda v: (far[v], v))
    within = nx.single_source_shortest_path(wom, a)
    between = {v: set(within[v]) - {a} for v in links}
    assert all(between[v] <= set(path[v]) for v in links)
    beyond = {v: {w for w in links if v in within[w]} for v in links}
    behind = {v: {w for w in links if a in nx.shortest_path(wom, v, w)} for v in links}
    return Map(stands_for, order, between, beyond, behind)


def figure_5(seen: Map, anchors: set[int]) -> list[int]:
    common: set[int] = set()
    for n in seen.order:
        if n in anchors:
            if not common & seen.between[n]:
                common |= seen.between[n]
            else:
                common &= seen.between[n] | seen.behind[n]
    forward, left = [], set(anchors)
    for n in reversed(seen.order):
        if left & seen.beyond[n] and n in common:
            forward.append(n)
            left -= seen.beyond[n]
    assert not left
    return forward


def figure_6(seen: Map, anchors: set[int]) -> list[int]:
    forward, left = [], set(anchors)
    for n in seen.order:
        if n in left:
            forward.append(n)
            left -= seen.beyond[n]
    return forward


SECOND = 1_000_000


class Tie(Exception):
    """Two publications reach a broker at the same time, so that their order is open."""


def simulated(
    network: BrokerNetwork, links: list[Link], strategy: str, timing: Timing, *, at_once: bool = False
) -> tuple[set[tuple[int, int, int]], tuple[int, int, int, int]]:
    """The messages sent, and deliveries, messages, total delay and total hops until the horizon.

    Each broker keeps the matching brokers whose path leaves the route of the publication so far. `at_once` lets
    messages take no time and wait in no queue.
    """
    tree, graph = network.tree, graph_of(network.tree)
    path = dict(nx.all_pairs_shortest_path(graph))
    maps = {a: contracted(tree, a, set(graph[a]) | {v for u, v in links if u == a}) for a in graph}
    offsets, brokers = network.destinations
    matching = [set(brokers[offsets[p] : offsets[p + 1]].tolist()) for p in range(len(network.publications))]
    published = network.publications.times.tolist()
    events: list[tuple[int, int, str, tuple[Any, ...]]] = []
    number = count()
    matcher: dict[int, deque[Any]] = {a: deque() for a in graph}
    uplink: dict[int, deque[Any]] = {a: deque() for a in graph}
    sent: dict[tuple[int, int], int] = {}
    arrived: set[tuple[int, int]] = set()
    sendings = set[tuple[int, int, int]]()
    deliveries = messages = delay = hops_taken = 0

    def at(time: int, what: str, *data: object) -> None:
        heapq.heappush(events, (time, next(number), what, data))

    for p, source in enumerate(network.publications.sources.tolist()):
        at(published[p], "arrival", source, p, [source], 0)
    while events:
        time, _, what, data = heapq.heappop(events)
        if time > (timing.horizon or math.inf):
            break
        if what == "arrival":
            a, p, route, hops = data
            if (time, a) in arrived and not at_once:
                raise Tie
            arrived.add((time, a))
            matcher[a].append((p, route, hops))
            if len(matcher[a]) == 1:
                at(time + timing.service, "matched", a)
        elif what == "matched":
            (a,) = data
            p, route, hops = matcher[a].popleft()
            if matcher[a]:
                at(time + timing.service, "matched", a)
            if hops:
                messages += 1
                if a in matching[p]:
                    deliveries, delay, hops_taken = deliveries + 1, delay + time - published[p], hops_taken + hops
            downstream = {x for x in matching[p] - {a} if set(path[a][x]) & set(route) == {a}}
            cap, second = int(tree.uplinks[a]), time // SECOND
            saving = 0 < -(-cap * timing.output_threshold // 100) < sent.get((a, second - 1), 0)
            figure = figure_5 if strategy == "s1" or (strategy == "sh" and saving) else figure_6
            for n in figure(maps[a], {maps[a].stands_for[x] for x in downstream}):
                assert (p, a, n) not in sendings
                sendings.add((p, a, n))
                sent[a, second] = sent.get((a, second), 0) + 1
                uplink[a].append((n, p, [*route, *path[a][n][1:]], hops + 1))
                if len(uplink[a]) == 1:
                    at(time + (SECOND // cap if cap and not at_once else 0), "sent", a)
        else:
            (a,) = data
            n, p, route, hops = uplink[a].popleft()
            if uplink[a]:
                cap = int(tree.uplinks[a])
                at(time + (SECOND // cap if cap and not at_once else 0), "sent", a)
            over = int(tree.path_delays[a, n]) if graph.has_edge(a, n) else timing.soft_delay
            at(time + (0 if at_once else over), "arrival", n, p, route, hops)
    return sendings, (deliveries, messages, delay, hops_taken)


def map_of(maps: working_map.WorkingMaps, a: int) -> Map:
    """A broker's map in the twin's terms: brokers instead of slots."""
    slots = [int(slot) for slot in maps.order[a, : maps.counts[a]]]
    end = {slot: int(maps.ends[a, slot]) for slot in slots}

    def named(sets: working_map.Bits) -> dict[int, set[int]]:
        return {
            end[slot]: {end[other] for other in slots if working_map.has_bit(sets[a, slot], other)} for slot in slots
        }

    stands_for = {v: end[int(maps.slots[a, v])] if v != a else a for v in range(len(maps.ends))}
    return Map(stands_for, [end[slot] for slot in slots], named(maps.between), named(maps.beyond), named(maps.behind))


def links_of(tree: BrokerTree, links: set[Link], a: int) -> set[int]:
    return {int(v) for v in tree.neighbours[a]} | {v for u, v in links if u == a}


@pytest.mark.interpreted
@property_test(60, given=networks_with_links(), data=st.data(), quick=10)
def test_updated_maps_equal_contraction_anew(given: Linked, data: st.DataObject) -> None:
    network, links = given
    allowed = [(int(u), int(v)) for u, v in network.allowed_links()]
    maps = working_map.working_maps(network.tree, links, capacity=network.num_brokers)
    present = set(links)
    for u, v in data.draw(st.lists(st.sampled_from(allowed), max_size=8)) if allowed else []:
        if (u, v) in present:
            working_map.remove_link(maps, u, maps.slots[u, v])
        else:
            working_map.add_link(maps, u, v, True)
        present ^= {(u, v)}
    for a in range(network.num_brokers):
        assert map_of(maps, a) == contracted(network.tree, a, links_of(network.tree, present, a))


def test_a_map_of_more_links_than_a_word_has_bits_equals_contraction() -> None:
    tree = BrokerTree.of(140, [(0, v) for v in range(1, 70)] + [(v, v + 70) for v in range(70)])
    links = {(0, v) for v in range(71, 140)}
    maps = working_map.working_maps(tree, sorted(links))
    assert maps.real.shape[1] == 3
    assert map_of(maps, 0) == contracted(tree, 0, links_of(tree, links, 0))


@property_test(60, given=networks_with_links(), threshold=st.sampled_from([0, 50, 80]), quick=10)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_strategies_decide_as_the_papers_figures(strategy: str, given: Linked, threshold: int) -> None:
    network, links = given[0], [] if strategy == "s0" else given[1]
    rows = np.array(links, dtype=np.int32).reshape(-1, 2)
    answer = soft_links.disseminate_over(network, STRATEGIES.index(strategy), rows, threshold)
    sent, _ = simulated(network, links, strategy, Timing(service=0, output_threshold=threshold), at_once=True)
    assert {tuple(row) for row in answer.messages.tolist()} == sent
    assert SoftLinks().violations(network, answer) == []
    unlinked = soft_links.disseminate_over(network, STRATEGIES.index(strategy), rows[:0], threshold)
    assert unlinked == soft_links.disseminate_over(network, S0, rows[:0])


@property_test(40, network=broker_networks(), quick=6)
@pytest.mark.parametrize(
    "method", [soft_links.S0_TREE, soft_links.S1_COMMON, soft_links.S2_FAR, soft_links.SH_HYBRID], ids=lambda m: m.name
)
def test_methods_return_valid_disseminations(method: soft_links.BrokerMethod, network: BrokerNetwork) -> None:
    managed = {} if method is soft_links.S0_TREE else {"rounds": 5, "window": 2, "candidates": 2}
    result = method.run(network, SoftLinks(), **managed)
    assert result.status in (ob.Status.FEASIBLE, ob.Status.OPTIMAL), result.reason
    assert value_of(result) >= network.num_deliveries


def test_managed_links_save_messages_and_more_of_them_save_more() -> None:
    network = ob.WORKLOADS["brokers-sparse"].generate(seed=3, **SMALL)
    messages = {name: soft_links.disseminate(network, name).num_messages for name in STRATEGIES}
    assert messages["s2"] < messages["s1"] < messages["s0"]
    tight = BrokerNetwork(network.tree, network.subscriptions, network.publications, 4, 4)
    assert messages["s2"] < soft_links.disseminate(tight, "s2").num_messages < messages["s0"]


def reviewed(
    network: BrokerNetwork,
    real: set[Link],
    candidates: set[Link],
    sent: dict[Link, int],
    factors: list[float],
    profiled: dict[Link, int],
    many: int,
    capacity: int,
) -> tuple[set[Link], set[Link]]:
    """Soft links and candidates after a review."""
    graph, tree = graph_of(network.tree), network.tree
    path = dict(nx.all_pairs_shortest_path(graph))
    kept, profiled_next = set(), set()
    for a in graph:
        soft = {v for u, v in real if u == a}
        ends = set(graph[a]) | soft | {v for u, v in candidates if u == a}

        def worth(v: int, count: int, a: int = a) -> float:
            return count * (len(path[a][v]) - 2) * math.prod(factors[x] for x in path[a][v][1:-1])

        gains = {v: worth(v, sent[a, v]) for v in ends if len(path[a][v]) > 2}
        worthy = [v for v in gains if gains[v] > 0]
        ranked = sorted(worthy, key=lambda v: (-gains[v], v not in soft, len(path[a][v]), v))
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


@property_test(100, given=networks_with_links(max_brokers=9), data=st.data())
def test_a_review_changes_links_as_the_reference(given: Linked, data: st.DataObject) -> None:
    network, links = given
    size, many, capacity = network.num_brokers, 2, network.fanout + 2
    allowed = [(int(u), int(v)) for u, v in network.allowed_links()]
    free = sorted(set(allowed) - set(links))
    candidates = {each for each in free if data.draw(st.booleans())}
    while crowded := [u for u in range(size) if sum(w == u for w, _ in candidates) > many]:
        candidates.remove(min(each for each in candidates if each[0] == crowded[0]))
    maps = working_map.working_maps(network.tree, links, capacity=capacity)
    for u, v in sorted(candidates):
        working_map.add_link(maps, u, v, False)
    sent, counts = np.zeros(maps.ends.shape, dtype=np.int64), {}
    for u in range(size):
        for slot in maps.order[u, : maps.counts[u]].tolist():
            sent[u, slot] = counts[u, int(maps.ends[u, slot])] = data.draw(st.integers(0, 4))
    factors = data.draw(st.lists(st.sampled_from([1.0, 1.5, 2.0]), min_size=size, max_size=size))
    last = {each: data.draw(st.integers(0, 3)) for each in free if data.draw(st.booleans())}
    profiled = np.full((size, size), -1, dtype=np.int64)
    for (u, v), round_number in last.items():
        profiled[u, v] = round_number
    tree = network.tree
    limits = (network.spare_links(), tree.path_delays, profiled, neighbour_table(tree), network.radius, many)
    review(maps, 0, size, Review(sent, np.array(factors), *limits, 9))
    expected = reviewed(network, set(links), candidates, counts, factors, last, many, capacity)
    now = {
        (u, int(maps.ends[u, s]), working_map.has_bit(maps.real[u], s))
        for u in range(size)
        for s in maps.order[u, : maps.counts[u]]
    }
    soft = {(u, v) for u, v, real in now if real and network.tree.distances[u, v] > 1}
    assert (soft, {(u, v) for u, v, real in now if not real}) == expected
    assert all(profiled[u, v] == 9 for u, v in expected[1])


def test_links_past_loaded_brokers_gain_more_with_max_and_nothing_with_min() -> None:
    maps = working_map.working_maps(BrokerTree.of(4, [(0, 1), (1, 2), (2, 3)]))
    loads = np.array([0.0, 0.9, 0.5, 0.0])
    assert gain(maps, 0, 3, 10, Management().factors(loads)) == pytest.approx(10 * 2 * 1.1)
    as_printed = Management(load_factor="min").factors(loads)
    assert gain(maps, 0, 3, 10, as_printed) == pytest.approx(10 * 2 * 0.7), "a loaded broker would not count at all"


@property_test(
    40,
    given=networks_with_links(max_brokers=10),
    service=st.sampled_from([0, 313, 200_003]),
    soft_delay=st.sampled_from([0, 977]),
    horizon=st.sampled_from([0, 1_500_000]),
    quick=6,
)
@pytest.mark.parametrize("strategy", ["s1", "s2", "sh"])
def test_one_event_a_message_equals_an_event_for_every_step(
    strategy: str, given: Linked, service: int, soft_delay: int, horizon: int
) -> None:
    (network, links), timing = given, Timing(service, soft_delay, horizon)
    try:
        _, expected = simulated(network, links, strategy, timing)
    except Tie:
        assume(False)
    found = simulate(network, STRATEGIES.index(strategy), np.array(links).reshape(-1, 2), timing)
    assert (found.deliveries, found.messages, found.total_delay, found.total_hops) == expected
    assert found.traffic.sum() == found.messages


def test_many_messages_in_transit_at_once_are_all_delivered() -> None:
    network = ob.WORKLOADS["brokers-dense"].generate(
        seed=2, brokers=60, publications=9000, rate=10**9, subscriptions=600
    )
    found = simulate(network, S2, managed_links(network, S2, Management()), Timing(service=0, soft_delay=10**7))
    assert found.deliveries == network.num_deliveries > 1 << 16


@pytest.mark.parametrize("first", [0, 1])
def test_of_messages_that_arrive_at_once_the_one_sent_first_is_matched_first(first: int) -> None:
    """Publications 0 and 1 arrive at broker 0 after 1,010 µs; only one of them is for it, and horizon is one match."""
    tree = BrokerTree.of(4, [(0, 1), (0, 2), (0, 3)])
    subscriptions = Subscriptions(np.array([0, 3]), np.array([[first], [1 - first]]), np.array([[first], [1 - first]]))
    publications = Publications(np.array([0, 0]), np.array([1, 2]), np.array([[0], [1]]))
    network = BrokerNetwork(tree, subscriptions, publications)
    found = simulate(network, S2, np.empty((0, 2), dtype=np.int32), Timing(service=10, horizon=1020))
    assert (found.messages, found.deliveries) == (1, 1 - first)


def test_publications_repeated_by_periods_are_those_of_a_longer_network() -> None:
    once = ob.WORKLOADS["brokers-sparse"].generate(seed=7, brokers=20, publications=90, subscriptions=100, rate=72_000)
    of, length = once.publications, int(once.publications.times.max()) + 1
    times = np.concatenate([of.times + k * length for k in range(3)])
    thrice = Publications(times, np.tile(of.sources, 3), np.tile(of.values, (3, 1)))
    longer = BrokerNetwork(once.tree, once.subscriptions, thrice)
    repeated, stated = _repeated(traffic_of(once), 3), traffic_of(longer)
    for array in stated._fields:
        assert getattr(repeated, array).tolist() == getattr(stated, array).tolist()
    links = managed_links(once, S2, Management())
    found = [
        simulate(network, S2, links, Timing(30_000, horizon=3 * length, periods=periods))
        for network, periods in ((once, 3), (longer, 1))
    ]
    assert found[0].deliveries < 3 * once.num_deliveries
    assert len({(one.deliveries, one.messages, one.total_delay, one.total_hops) for one in found}) == 1


@property_test(60, network=broker_networks(), quick=10)
def test_a_covering_set_is_least_and_matches_whatever_all_match(network: BrokerNetwork) -> None:
    subscriptions = network.subscriptions
    order = np.argsort(-(subscriptions.highs - subscriptions.lows).sum(axis=1), kind="stable")
    kept = covering.covering_set(subscriptions.lows, subscriptions.highs, order).tolist()

    def covers(i: int, j: int) -> bool:
        return bool(
            (subscriptions.lows[i] <= subscriptions.lows[j]).all()
            and (subscriptions.highs[j] <= subscriptions.highs[i]).all()
        )

    assert all(any(covers(i, j) for i in kept) for j in range(len(subscriptions)))
    assert not any(covers(i, j) for i in kept for j in kept if i != j)


@pytest.mark.interpreted
@property_test(60, network=broker_networks(), data=st.data(), quick=10)
def test_a_working_table_matches_until_the_first_false_predicate(network: BrokerNetwork, data: st.DataObject) -> None:
    lows, highs = network.subscriptions.lows.copy(), network.subscriptions.highs.copy()
    lows[lows == 0], highs[highs == 4] = LOWEST, HIGHEST
    slots = np.array([data.draw(st.integers(-1, 2)) for _ in lows], dtype=np.int32)
    table, anchors = covering.working_table(lows, highs, slots, 3), np.zeros(1, dtype=np.uint64)
    total = 0
    for point in network.publications.values:
        matching, evaluations = ((lows <= point) & (point <= highs)).all(axis=1), 0
        for slot in range(4):
            for s in range(*table.starts[slot : slot + 2].tolist()):
                outcomes = [
                    bool(low <= value <= high)
                    for low, high, value in zip(table.lows[s], table.highs[s], point, strict=True)
                    if (low, high) != (LOWEST, HIGHEST)
                ]
                evaluations += outcomes.index(False) + 1 if False in outcomes else len(outcomes)
                if False not in outcomes and slot < 3:
                    break
        assert covering.find_matching(table, point, anchors) == (matching[slots < 0].sum(), evaluations)
        assert [working_map.has_bit(anchors, slot) for slot in range(3)] == [
            matching[slots == slot].any() for slot in range(3)
        ]
        total += evaluations
    assert covering.predicates_evaluated(table, network.publications.values) == total


@pytest.mark.interpreted
def test_links_split_the_subscriptions_so_that_less_is_covered() -> None:
    network = ob.WORKLOADS["brokers-covering"].generate(seed=1, brokers=40, subscriptions=600, publications=60)
    brokers = np.arange(40, dtype=np.int32)
    none = covering.matching_effort(network, np.empty((0, 2), dtype=np.int32), brokers, 60)
    every = covering.matching_effort(network, network.allowed_links(), brokers, 60)
    assert none[0] < every[0] < len(network.subscriptions)
    assert none[1] < every[1]
