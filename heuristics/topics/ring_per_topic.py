"""Ring-per-topic (P1 §8.3): a ring on the subscribers of every topic."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ...instances.contract.arrays import Ids
from ...instances.contract.errors import unknown
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Step, Trace
from ...instances.topics.instance import TopicInstance
from .heuristic import TOPIC_CONNECTED, solve_by
from .kernels.partial_overlay import OverlayBuild
from .tie_search.steps import EdgeSteps, check_traceable, edge_step, traced

ORDERS = ("number", "random", "random-per-topic")
ORDER = Option(
    "order",
    "number",
    "the order of the nodes on a ring: by number, one random order for all topics, or one for each topic",
    choices=ORDERS,
)


def ring_per_topic(instance: TopicInstance, *, order: str = "number", seed: int = 0) -> Overlay:
    """The union over all topics of a ring on the subscribers.

    A ring on two subscribers is one edge, on one subscriber nothing. The degree of v is at most 2|T_v|.

    Parameters
    ----------
    instance : TopicInstance
    order : {"number", "random", "random-per-topic"}
        The order of the subscribers on a ring: that of their numbers, one random order of all nodes, or a random order
        for each topic.
    seed : int
        For the random orders.

    Raises
    ------
    BadInput
        If `order` is none of the three.

    Notes
    -----
    Chockler, Melamed, Tock and Vitenberg 2007 (P1), §8.3 (RingPT), which orders the nodes by their identifiers and
    does not say whether these depend on the topic. Time O(Σ|T_v| log Σ|T_v|), memory O(Σ|T_v|).

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> ring_per_topic(instance).edges.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return Overlay.from_edges(instance.num_nodes, _rings(instance, order, seed))


def _rings(instance: TopicInstance, order: str, seed: int) -> Ids:
    """The edges of the rings, topic by topic, shape (m, 2); those of several rings are repeated."""
    return rings_through(_ordered(instance, order, seed), instance)


def rings_through(nodes: Ids, instance: TopicInstance) -> Ids:
    """As :func:`_rings`, where `nodes` has the subscribers of each topic in the order of its ring."""
    offsets, following = instance.topic_offsets, np.roll(nodes, -1)
    following[offsets[1:] - 1] = nodes[offsets[:-1]]
    rings: Ids = np.stack([nodes, following], axis=1)[nodes != following]
    return rings


def ranked(instance: TopicInstance, rank: npt.NDArray[np.integer]) -> Ids:
    """The subscribers of every topic by the rank of their subscriptions, as in ``topic_nodes``."""
    topic = np.repeat(np.arange(instance.num_topics), np.diff(instance.topic_offsets))
    ordered: Ids = instance.topic_nodes[np.lexsort((rank, topic))]
    return ordered


def _ordered(instance: TopicInstance, order: str, seed: int) -> Ids:
    """The subscribers of every topic in the order of its ring, as in ``topic_nodes``."""
    if order not in ORDERS:
        raise unknown("value of option 'order'", order, ORDERS)
    nodes = instance.topic_nodes
    if order == "number":
        return nodes
    draw = np.random.default_rng(seed)
    rank = draw.permutation(instance.num_nodes)[nodes] if order == "random" else draw.permutation(len(nodes))
    return ranked(instance, rank)


def _build(instance: TopicInstance, *, seed: int, order: str) -> OverlayBuild:
    sizes = np.diff(instance.topic_offsets)
    # An edge of several rings counts once for each of them.
    ring_edges = int(np.where(sizes > 2, sizes, sizes - 1).sum())
    return OverlayBuild(ring_per_topic(instance, order=order, seed=seed), {"ring_edges": ring_edges})


def _solve(
    instance: TopicInstance, *given: Any, seed: int, order: str, trace: bool = False, **options: Any
) -> Proposal[Overlay]:
    if trace:
        check_traceable(instance)
    proposal = solve_by(_build)(instance, *given, seed=seed, order=order, **options)
    return replace(proposal, trace=partial(_trace, instance, order, seed)) if trace else proposal


def _trace(instance: TopicInstance, order: str, seed: int) -> Trace:
    """The edges in the order of the rings; nothing is compared, so no step has ties."""
    steps = EdgeSteps(instance, lambda contributions, degrees: [])
    state, listed = steps.start(), list[Step]()
    for u, v in np.sort(_rings(instance, order, seed), axis=1).tolist():
        if not steps.has_edge(state, (u, v)):
            listed.append(edge_step(steps, state, (u, v), ties=1))
            state = steps.after(state, (u, v))
    return traced(instance, listed, steps.measure)


RING_PER_TOPIC = Method(
    name="ring-per-topic",
    problems=TOPIC_CONNECTED,
    summary="a ring on the subscribers of each topic",
    source="P1 §8.3",
    guarantee="the degree of v is at most 2|T_v|; nothing is proven of the edges",
    cost="time O(Σ|T_v| log Σ|T_v|), memory O(Σ|T_v|)",
    solve=_solve,
    options=(ORDER,),
    inputs=("trace",),
    anytime=False,
    pace=1,
    colour="#8C8C8C",
    marker="X",
)
