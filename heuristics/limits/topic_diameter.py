"""Overlays of low topic diameter (P1 §9): layered stars after P2's, and known graphs of few edges or low degree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

from ...instances.contract.method import Method
from ...instances.contract.overlay import Overlay
from ...instances.limits.soc import as_soc
from ...instances.topics.instance import TopicInstance
from ...instances.topics.problems import AnyTopicProblem
from ..topics.kernels.interest import weighted_neighbours
from ..topics.two_diameter.cd_oda import cd_oda, cd_oda_1, cd_oda_2
from ..topics.two_diameter.two_diameter_oda import two_diameter_oda
from .limits import DegreeLimits, best_of, components_by_topic, limits_of, star

_STARS = (two_diameter_oda, cd_oda, cd_oda_1, cd_oda_2)
_DEEPEST = 12
_MOST_PAIRS = 10_000_000


def _candidates(instance: TopicInstance, problem: AnyTopicProblem) -> Iterator[tuple[str, Overlay]]:
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


def _cliques(instance: TopicInstance, limits: DegreeLimits) -> Iterator[tuple[str, Overlay]]:
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
    weight = weighted_neighbours(instance)
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
)


Pairs = npt.NDArray[np.int64]
_SHORT = 10


def _graphs(instance: TopicInstance, problem: AnyTopicProblem) -> Iterator[tuple[str, Overlay]]:
    """A star, balanced trees and generalised de Bruijn graphs on each component that may meet the limits.

    A component is one of the relation "a common topic". Its nodes are in the order of their numbers: which topics they
    have does not matter. Graphs of low degree are tried only where the degree counts.

    Notes
    -----
    The generalised de Bruijn graph on n nodes connects i with (b·i + a) mod n for a = 0 … b − 1: its diameter is at
    most ⌈log_b n⌉ and no degree exceeds 2b (Imase and Itoh 1981), against at least n^(1/C) for a diameter of C (Moore's
    bound). A tree with d − 1 children a node has a diameter of about 2 log_(d−1) n. O(|E|) a graph, and the problem's
    own functions judge each.

    Examples
    --------
    >>> from overlaybench.instances.contract.catalogue import PROBLEMS
    >>> instance = TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(5)})
    >>> DEGREE_DIAMETER.run(instance, PROBLEMS["topic-diameter"]).answer.num_edges
    5

    References
    ----------
    Imase, Itoh: Design to minimize diameter on building-block network, IEEE Trans. Computers 1981,
    https://doi.org/10.1109/TC.1981.1675809
    """
    limits = limits_of(as_soc(problem), instance)
    order, starts = _components(instance)

    def overlay(graph: Callable[[int, int], Pairs], number: int) -> Overlay:
        edges = [order[first:last][graph(last - first, number)] for first, last in starts]
        return Overlay.from_edges(instance.num_nodes, np.concatenate(edges))

    largest = limits.largest_component
    yield "star", overlay(_tree, largest)
    if not limits.counts_max_degree:
        return
    most = limits.degree if limits.degree is not None else largest
    if most == 2 or largest // 2 <= (limits.cost or 2 * _SHORT):
        yield "cycle", overlay(_cycle, 0)
    if limits.cost is not None:
        hops = max(1, int(as_soc(problem).most_cost or 1))
        bases = {_least_base(largest, hops)}
        children = {_least_base(largest, max(1, hops // 2)), *((2, 3) if hops > 3 else ())}
    elif limits.degree is not None:
        bases, children = {most // 2}, {most - 1}
    else:
        bases = {_least_base(largest, hops) for hops in range(2, 8)}
        children = {2, 3, 4}
    for base in sorted(base for base in bases if base >= 2):
        yield f"de Bruijn {base}", overlay(_de_bruijn, base)
    for number in sorted(number for number in children if 2 <= number < largest):
        yield f"tree {number}", overlay(_tree, number)


def _components(instance: TopicInstance) -> tuple[Pairs, list[tuple[int, int]]]:
    """The nodes by component, and where each component starts and ends."""
    component = components_by_topic(instance)
    order = np.argsort(component, kind="stable")
    cuts = [0, *(np.flatnonzero(np.diff(component[order])) + 1).tolist(), len(order)]
    return order, list(pairwise(cuts))


def _least_base(nodes: int, hops: int) -> int:
    """The least b with b^hops ≥ nodes."""
    base = max(1, int(nodes ** (1 / hops)) - 1)
    while base**hops < nodes:
        base += 1
    return base


def _tree(nodes: int, children: int) -> Pairs:
    """The root has one child more than other nodes."""
    v = np.arange(1, nodes)
    return np.stack([np.maximum(0, (v - 2) // children), v], axis=1)


def _cycle(nodes: int, _number: int) -> Pairs:
    v = np.arange(nodes)
    pairs = np.stack([v, (v + 1) % nodes], axis=1)
    return pairs[: nodes if nodes > 2 else nodes - 1]


def _de_bruijn(nodes: int, base: int) -> Pairs:
    i, a = np.meshgrid(np.arange(nodes), np.arange(min(base, nodes)), indexing="ij")
    pairs = np.stack([i.ravel(), ((base * i + a) % nodes).ravel()], axis=1)
    distinct: Pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return distinct


DEGREE_DIAMETER = Method(
    name="degree-diameter",
    problems=("topic-diameter", "average-topic-diameter"),
    summary="a star, balanced trees or generalised de Bruijn graphs, whatever the topics",
    source="Imase and Itoh 1981; P1 §9 states the problem",
    guarantee="fewest edges if topic diameters up to 2 are allowed; for a diameter of C no degree above 2⌈|V|^(1/C)⌉",
    cost="O(|E|) a graph, and the evaluation of each",
    solve=partial(best_of, _graphs),
    pace=50,
)
