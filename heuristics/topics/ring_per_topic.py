"""Rings on the subscribers of every topic: ring-per-topic (P1 §8.3), and HararyPT in one order of all nodes."""

from __future__ import annotations

import zlib
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ...instances.contract.arrays import Ids
from ...instances.contract.errors import BadInput
from ...instances.contract.method import Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Step, Trace
from ...instances.topics.instance import TopicInstance
from .heuristic import TOPIC_CONNECTED, heuristic
from .kernels.partial_overlay import OverlayBuild
from .tie_breaking.greedy_rule import EdgeRule, RingRule
from .tie_breaking.tie_search import EdgeSteps, check_traceable, trace_with_labels

ORDERS = ("number", "random", "random-per-topic")
ORDER = Option(
    "order",
    "number",
    "the order of the nodes on a ring: by number, one random order for all topics, or one for each topic",
    choices=ORDERS,
)


@heuristic(ORDER)
def ring_per_topic(instance: TopicInstance, *, order: str = "number", seed: int = 0) -> OverlayBuild:
    """The union over all topics of a ring on the subscribers.

    A ring on two subscribers is one edge, on one subscriber nothing. The degree of v is at most 2|T_v|.

    The subscribers of a ring are in the order of their numbers, in one random order of all nodes, or in a random order
    for each topic; the seed decides the random ones. An unknown `order` is bad input.

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
    rings = _rings(instance, order, seed)
    # An edge of several rings counts once for each of them; a ring on two subscribers lists its edge twice.
    ring_edges = len(rings) - int((np.diff(instance.topic_offsets) == 2).sum())
    return OverlayBuild(Overlay.from_edges(instance.num_nodes, rings), {"ring_edges": ring_edges})


def _rings(instance: TopicInstance, order: str, seed: int) -> Ids:
    """The edges of the rings, topic by topic, shape (m, 2); those of several rings are repeated."""
    nodes = instance.topic_nodes
    if order == "number":
        return _rings_through(nodes, instance)
    rank: npt.NDArray[np.integer]
    if order == "random":
        rank = np.random.default_rng(seed).permutation(instance.num_nodes)[nodes]
    else:  # by label and node, so that a ring keeps its order while others change
        salts = [zlib.crc32(f"{seed} {instance.topic_label(t)}".encode()) for t in range(instance.num_topics)]
        rank = _mixed(
            np.repeat(np.array(salts, np.uint64), np.diff(instance.topic_offsets)) << np.uint64(32)
            | nodes.astype(np.uint64)
        )
    return _rings_through(_ranked(instance, rank), instance)


def _mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The output function of splitmix64 (Steele, Lea, Flood 2014), a permutation."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        numbers = (numbers ^ numbers >> np.uint64(shift)) * np.uint64(factor)
    return numbers


def _rings_through(nodes: Ids, instance: TopicInstance) -> Ids:
    """As :func:`_rings`, where `nodes` has the subscribers of each topic in the order of its ring."""
    offsets, following = instance.topic_offsets, np.roll(nodes, -1)
    following[offsets[1:] - 1] = nodes[offsets[:-1]]
    rings: Ids = np.stack([nodes, following], axis=1)[nodes != following]
    return rings


def _ranked(instance: TopicInstance, rank: npt.NDArray[np.integer]) -> Ids:
    """The subscribers of every topic by the rank of their subscriptions, as in ``topic_nodes``."""
    topic = np.repeat(np.arange(instance.num_topics), np.diff(instance.topic_offsets))
    ordered: Ids = instance.topic_nodes[np.lexsort((rank, topic))]
    return ordered


def _solve(
    instance: TopicInstance, problem: object, *, time_limit: float | None, trace: bool = False, **given: Any
) -> Proposal[Overlay]:
    if trace:
        check_traceable(instance)
    built, again = ring_per_topic.build(instance, **given), partial(_trace, instance, **given)
    return Proposal(built.overlay, counters=built.counters, trace=again if trace else None)


def _trace(instance: TopicInstance, *, order: str, seed: int) -> Trace:
    """The edges in the order of the rings; nothing is compared, so no step has ties."""
    steps = EdgeSteps(instance, EdgeRule())
    state, listed = steps.start(), list[Step]()
    for u, v in np.sort(_rings(instance, order, seed), axis=1).tolist():
        if not steps.has_edge(state, (u, v)):
            listed.append(steps.step(state, (u, v), ties=1))
            state = steps.after(state, (u, v))
    return trace_with_labels(instance, listed, steps.measure)


def _rule(order: str) -> RingRule:
    if order == "random-per-topic":
        raise BadInput("option 'order': the atlas has rings in one order of the nodes: choose number or random")
    return RingRule()


RING_PER_TOPIC = replace(
    ring_per_topic.method(
        "ring-per-topic",
        TOPIC_CONNECTED,
        summary="a ring on the subscribers of each topic",
        source="P1 §8.3",
        guarantee="the degree of v is at most 2|T_v|; nothing is proven of the edges",
        cost="time O(Σ|T_v| log Σ|T_v|), memory O(Σ|T_v|)",
        inputs=("trace",),
        rule=_rule,
        pace=1,
    ),
    solve=_solve,
)


HARARY_ORDERS = ("interest", "number", "random")
HARARY_ORDER = Option(
    "order", "interest", "the order of all nodes: by their topics, by number, or a random one", choices=HARARY_ORDERS
)


@heuristic(HARARY_ORDER)
def harary_per_topic(instance: TopicInstance, *, order: str = "interest", seed: int = 0) -> OverlayBuild:
    """The union over all topics of a Harary graph for k = 2, a ring, on the subscribers.

    A ring is 2-connected, so every topic stays connected when any one subscriber leaves. All rings pass the nodes in
    one order, so nodes that follow each other in it and have several topics in common share one edge for these.

    The order is lexicographic by the nodes' topics, the most popular topic first; by number; or random by the seed.

    Notes
    -----
    HararyPT is from Chen, Vitenberg and Jacobsen (PODC 2013, IEEE TDSC 2022), of which only the abstracts were read: it
    "aligns nodes across different sub-overlays". How it orders them is not stated there; the order by interest is a
    design of our own. Time O(Σ|T_v| log Σ|T_v|), memory O(Σ|T_v|).

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(4)})
    >>> harary_per_topic(instance).edges.tolist()
    [[0, 1], [0, 3], [1, 2], [2, 3]]
    """
    n = instance.num_nodes
    if order == "interest":
        rank = _by_interest(instance)
    else:
        rank = np.arange(n) if order == "number" else np.random.default_rng(seed).permutation(n)
    rings = _rings_through(_ranked(instance, rank[instance.topic_nodes]), instance)
    overlay = Overlay.from_edges(n, rings)
    return OverlayBuild(overlay, {"steps": len(rings), "shared": len(rings) - overlay.num_edges})


def _by_interest(instance: TopicInstance) -> npt.NDArray[np.int64]:
    """The rank of each node in the lexicographic order of their topics, by falling popularity."""
    popularity = np.argsort(-np.diff(instance.topic_offsets), kind="stable")
    place = np.empty(instance.num_topics, np.int64)
    place[popularity] = np.arange(instance.num_topics)
    listed = [tuple(sorted(place[instance.topics_of(v)].tolist())) for v in range(instance.num_nodes)]
    rank = np.empty(instance.num_nodes, np.int64)
    rank[sorted(range(instance.num_nodes), key=listed.__getitem__)] = np.arange(instance.num_nodes)
    return rank


HARARY_PER_TOPIC = harary_per_topic.method(
    "harary-per-topic",
    ("k-tco",),
    summary="a ring on the subscribers of each topic, all in one order of the nodes",
    source="Chen, Vitenberg, Jacobsen 2013 (abstract); docs/topics.md",
    guarantee="the degree of v is at most 2|T_v|; nothing is proven of the edges",
    cost="time O(Σ|T_v| log Σ|T_v|), memory O(Σ|T_v|)",
    pace=1,
)
