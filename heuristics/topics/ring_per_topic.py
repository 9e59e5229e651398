"""Ring-per-topic (P1 §8.3): a ring on the subscribers of every topic."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...instances.arrays import Ids
from ...instances.method import Method, Proposal
from ...instances.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from ...instances.trace import Step, Trace
from .heuristic import TOPIC_CONNECTED, solve_by
from .kernels.partial_overlay import OverlayBuild
from .tie_search.steps import EdgeSteps
from .tie_search.trace import check_traceable, edge_step, traced


def ring_per_topic(instance: TopicInstance) -> Overlay:
    """The union over all topics of a ring on the subscribers in the order of their numbers.

    A ring on two subscribers is one edge, on one subscriber nothing. The degree of v is at most 2|T_v|.

    Notes
    -----
    Chockler, Melamed, Tock and Vitenberg 2007 (P1), §8.3 (RingPT). Time O(Σ|T_v| log Σ|T_v|), memory O(Σ|T_v|).

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> ring_per_topic(instance).edges.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return Overlay.from_edges(instance.num_nodes, _rings(instance))


def _rings(instance: TopicInstance) -> Ids:
    """The edges of the rings, topic by topic, shape (m, 2); those of several rings are repeated."""
    nodes, offsets = instance.topic_nodes, instance.topic_offsets
    following = np.roll(nodes, -1)
    following[offsets[1:] - 1] = nodes[offsets[:-1]]
    rings: Ids = np.stack([nodes, following], axis=1)[nodes != following]
    return rings


def _build(instance: TopicInstance, *, seed: int) -> OverlayBuild:
    sizes = np.diff(instance.topic_offsets)
    # An edge of several rings counts once for each of them.
    return OverlayBuild(ring_per_topic(instance), {"ring_edges": int(np.where(sizes > 2, sizes, sizes - 1).sum())})


def _solve(instance: TopicInstance, *given: Any, trace: bool = False, **options: Any) -> Proposal[Overlay]:
    if trace:
        check_traceable(instance)
    proposal = solve_by(_build)(instance, *given, **options)
    return replace(proposal, trace=partial(_trace, instance)) if trace else proposal


def _trace(instance: TopicInstance) -> Trace:
    """The edges in the order of the rings; nothing is compared, so no step has ties."""
    steps = EdgeSteps(instance, lambda contributions, degrees: [])
    state, listed = steps.start(), list[Step]()
    for u, v in np.sort(_rings(instance), axis=1).tolist():
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
    inputs=("trace",),
    anytime=False,
    pace=1,
    colour="#8C8C8C",
    marker="X",
)
