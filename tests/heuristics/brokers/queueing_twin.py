"""The queueing simulation with an event for every step: an arrival, the end of matching, the end of sending."""

from __future__ import annotations

import heapq
from collections import deque
from itertools import count
from typing import Any

import networkx as nx

from overlaybench.instances.brokers.network import BrokerNetwork
from tests.heuristics.brokers.twins import Link, contracted, figure_5, figure_6, primary

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
