"""Layered ODA: the star of P2's diameter-2 heuristics, deepened to trees, for the topic-diameter problems of P1 §9."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import combinations

import numpy as np

from ...instances.contract.method import Method
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.topics.instance import TopicInstance
from ...instances.topics.soc import as_soc
from .cd_oda import cd_oda, cd_oda_1, cd_oda_2
from .limits import Limits, best_of, limits_of, star
from .two_diameter_oda import two_diameter_oda

_STARS = (two_diameter_oda, cd_oda, cd_oda_1, cd_oda_2)
_DEEPEST = 12
_MOST_PAIRS = 10_000_000


def _candidates(instance: TopicInstance, problem: Problem[TopicInstance, Overlay]) -> Iterator[tuple[str, Overlay]]:
    """The overlays of P2's heuristics for diameter 2, those of :func:`layered_trees` over the radii, and cliques."""
    limits = limits_of(as_soc(problem), instance)
    limit = as_soc(problem).most_cost
    deepest = _DEEPEST if limit is None else min(_DEEPEST, int(limit) // 2)
    if deepest >= 1:
        for stars in _STARS:
            yield stars.__name__.replace("_", "-"), stars(instance)
    seen = None
    for radius in range(2, deepest + 1):
        overlay = layered_trees(instance, radius)
        if overlay == seen:
            break
        seen = overlay
        yield f"radius {radius}", overlay
    if limits.cost is None or deepest < 1:
        yield from _cliques(instance, limits)


def _cliques(instance: TopicInstance, limits: Limits) -> Iterator[tuple[str, Overlay]]:
    """A clique on each topic; and under an average below 2 a star, and cliques on the smallest topics only."""
    sizes = np.diff(instance.topic_offsets)
    order = [t for t in np.argsort(sizes, kind="stable").tolist() if sizes[t] > 1]
    chosen = {"cliques": len(order)}
    if limits.cost is not None:
        chosen["star and cliques"] = max(0, min(len(order), 2 * len(order) - limits.cost))
    for name, count in chosen.items():
        if int((sizes[order[:count]] ** 2).sum()) <= _MOST_PAIRS:
            edges = [pair for t in order[:count] for pair in combinations(instance.subscribers(t).tolist(), 2)]
            yield (
                name,
                Overlay.from_edges(instance.num_nodes, edges if name == "cliques" else [*edges, *star(instance)]),
            )


def layered_trees(instance: TopicInstance, radius: int) -> Overlay:
    """An overlay in which every topic has a subscriber at most `radius` hops from all others.

    From the topic of most subscribers on, the one whose topics left have most subscribers is the centre. Each other
    subscriber that is farther than `radius` from it is connected to the node of lowest degree among those at most
    `radius` − 1 from it; paths through other nodes count. With radius 1 these are stars, as in P2's 2D-ODA.

    The radius is at least 1; no topic diameter exceeds twice the radius.

    Notes
    -----
    Designed here after Onus and Richa 2015 (P2), §6.3. Time O(|T|(|V| + |E|) log |V|).

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(7)})
    >>> layered_trees(instance, 1).max_degree, layered_trees(instance, 2).max_degree
    (6, 3)
    """
    sizes = np.diff(instance.topic_offsets)
    weight = np.array([sizes[instance.topics_of(v)].sum() for v in range(instance.num_nodes)])
    beside: list[set[int]] = [set() for _ in range(instance.num_nodes)]
    for t in np.lexsort((np.arange(len(sizes)), -sizes)).tolist():
        subscribers = instance.subscribers(t)
        centre = int(subscribers[np.argmax(weight[subscribers])])
        weight[subscribers] -= sizes[t]
        _add_tree(centre, subscribers.tolist(), radius, beside)
    return Overlay.from_edges(instance.num_nodes, [(u, v) for u, near in enumerate(beside) for v in near if u < v])


def _add_tree(centre: int, subscribers: list[int], radius: int, beside: list[set[int]]) -> None:
    """Connect the subscribers to the centre within the radius."""
    distance = {centre: 0}
    waiting = [centre]
    for node in waiting:
        if distance[node] < radius:
            for other in beside[node]:
                if other not in distance:
                    distance[other] = distance[node] + 1
                    waiting.append(other)
    inner = [(len(beside[v]), v) for v, hops in distance.items() if hops < radius]
    heapify(inner)
    for v in subscribers:
        if v in distance:
            continue
        degree, parent = heappop(inner)
        while degree != len(beside[parent]):
            heappush(inner, (len(beside[parent]), parent))
            degree, parent = heappop(inner)
        beside[parent].add(v)
        beside[v].add(parent)
        heappush(inner, (len(beside[parent]), parent))
        distance[v] = distance[parent] + 1
        if distance[v] < radius:
            heappush(inner, (len(beside[v]), v))


LAYERED_ODA = Method(
    name="layered-oda",
    problems=("topic-diameter", "average-topic-diameter"),
    summary="2D-ODA and the CD-ODA family; for larger diameters a tree of several layers in each topic",
    source="P2 §6; deeper trees are our own",
    guarantee="no topic diameter above twice the radius",
    cost="that of P2's heuristics, and O(|T|(|V| + |E|) log |V|) for each radius",
    solve=partial(best_of, _candidates),
    compiled=True,
    pace=150,
    colour="#56B4E9",
    marker="d",
)
