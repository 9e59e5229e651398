"""Known graphs of few edges or low degree for their diameter, for the topic-diameter problems of P1 §9."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ...instances.contract.method import Method
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.topics.instance import TopicInstance
from ...instances.topics.soc import as_soc
from .limits import best_of, components_by_topic, limits_of

Pairs = npt.NDArray[np.int64]
_SHORT = 10


def _graphs(instance: TopicInstance, problem: Problem[TopicInstance, Overlay]) -> Iterator[tuple[str, Overlay]]:
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
    colour="#E69F00",
    marker="h",
)
