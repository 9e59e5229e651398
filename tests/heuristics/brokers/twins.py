"""P5's working maps and strategies in plain Python, with sets and paths instead of bits and tables."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass
from itertools import count
from typing import Any

import networkx as nx

from overlaybench.instances.brokers.network import BrokerNetwork, BrokerTree

Link = tuple[int, int]


def primary(tree: BrokerTree) -> nx.Graph[int]:
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(tree.num_brokers))
    graph.add_edges_from((int(u), int(v)) for u, v in tree.links)
    return graph


@dataclass
class Map:
    """One broker's working map: `stands_for[v]` is what v was contracted into."""

    stands_for: dict[int, int]
    order: list[int]
    between: dict[int, set[int]]
    beyond: dict[int, set[int]]
    behind: dict[int, set[int]]


def contracted(tree: BrokerTree, a: int, links: set[int], radius: int | None = None) -> Map:
    """The three steps of §3 on the whole primary network, or on the brokers within a radius."""
    graph = nx.ego_graph(primary(tree), a, radius=radius or tree.num_brokers)
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


def anchor(tree: BrokerTree, subscriber: int, a: int, radius: int) -> int:
    """The anchor at `a` of a subscription, passed on along the primary path hop by hop (§4).

    A sender within Δ − 1 of the subscriber keeps the anchor; others replace it by the next broker towards the receiver.
    The paper has the opposite direction, in which no broker is left when the subscriber is the anchor.
    """
    path = nx.shortest_path(primary(tree), subscriber, a)
    index = 0
    for hops in range(len(path) - 1):
        if hops > radius - 1:
            index += 1
    return int(path[index])


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


def carried(network: BrokerNetwork, links: list[Link], strategy: str, threshold: int) -> set[tuple[int, int, int]]:
    """Every message; each broker keeps the matching brokers whose path leaves the route of the publication so far."""
    tree, graph = network.tree, primary(network.tree)
    path = dict(nx.all_pairs_shortest_path(graph))
    ends = {a: set(graph[a]) | {v for u, v in links if u == a} for a in graph}
    maps = {a: contracted(tree, a, ends[a]) for a in graph}
    offsets, brokers = network.destinations
    sent: dict[tuple[int, int], int] = {}
    messages = []
    for p in range(len(network.publications)):
        source, second = int(network.publications.sources[p]), int(network.publications.times[p]) // 1_000_000
        matching = set(brokers[offsets[p] : offsets[p + 1]].tolist())
        queue = deque([(source, [source])])
        while queue:
            a, route = queue.popleft()
            downstream = {x for x in matching - {a} if set(path[a][x]) & set(route) == {a}}
            anchors = {maps[a].stands_for[x] for x in downstream}
            cap = int(tree.uplinks[a])
            saving = 100 * sent.get((a, second - 1), 0) > 100 * -(-cap * threshold // 100) > 0
            common = strategy == "s1" or (strategy == "sh" and saving)
            for n in (figure_5 if common else figure_6)(maps[a], anchors):
                messages.append((p, a, n))
                sent[a, second] = sent.get((a, second), 0) + 1
                queue.append((n, [*route, *path[a][n][1:]]))
    assert len(set(messages)) == len(messages)
    return set(messages)


def tree_messages(network: BrokerNetwork) -> set[tuple[int, int, int]]:
    """The messages of tree routing: each link once, aroute from the source, on a path to a matching broker."""
    graph = primary(network.tree)
    offsets, brokers = network.destinations
    return {
        (p, u, v)
        for p in range(len(network.publications))
        for x in brokers[offsets[p] : offsets[p + 1]].tolist()
        for u, v in nx.utils.pairwise(nx.shortest_path(graph, int(network.publications.sources[p]), x))
    }


SECOND = 1_000_000


class Tie(Exception):
    """Two publications reach a broker at the same time, so that their order is open."""


def simulated(
    network: BrokerNetwork, links: list[Link], strategy: str, service: int, soft_delay: int, horizon: int
) -> tuple[int, int, int, int]:
    """Deliveries, messages, total delay, total hops; output threshold 80 percent."""
    tree, graph = network.tree, primary(network.tree)
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
    deliveries = messages = delay = hops_taken = 0

    def at(time: int, what: str, *data: object) -> None:
        heapq.heappush(events, (time, next(number), what, data))

    for p, source in enumerate(network.publications.sources.tolist()):
        at(published[p], "arrival", source, p, [source], 0)
    while events:
        time, _, what, data = heapq.heappop(events)
        if time > horizon:
            break
        if what == "arrival":
            a, p, route, hops = data
            if (time, a) in arrived:
                raise Tie
            arrived.add((time, a))
            matcher[a].append((p, route, hops))
            if len(matcher[a]) == 1:
                at(time + service, "matched", a)
        elif what == "matched":
            (a,) = data
            p, route, hops = matcher[a].popleft()
            if matcher[a]:
                at(time + service, "matched", a)
            if hops:
                messages += 1
                if a in matching[p]:
                    deliveries, delay, hops_taken = deliveries + 1, delay + time - published[p], hops_taken + hops
            downstream = {x for x in matching[p] - {a} if set(path[a][x]) & set(route) == {a}}
            cap, second = int(tree.uplinks[a]), time // SECOND
            saving = 0 < -(-cap * 80 // 100) < sent.get((a, second - 1), 0)
            figure = figure_5 if strategy == "s1" or (strategy == "sh" and saving) else figure_6
            for n in figure(maps[a], {maps[a].stands_for[x] for x in downstream}):
                sent[a, second] = sent.get((a, second), 0) + 1
                uplink[a].append((n, p, [*route, *path[a][n][1:]], hops + 1))
                if len(uplink[a]) == 1:
                    at(time + (SECOND // cap if cap else 0), "sent", a)
        else:
            (a,) = data
            n, p, route, hops = uplink[a].popleft()
            if uplink[a]:
                cap = int(tree.uplinks[a])
                at(time + (SECOND // cap if cap else 0), "sent", a)
            over = int(tree.path_delays[a, n]) if graph.has_edge(a, n) else soft_delay
            at(time + over, "arrival", n, p, route, hops)
    return deliveries, messages, delay, hops_taken
