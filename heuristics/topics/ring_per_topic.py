"""Ring-per-topic (P1 §8.3): a ring on the subscribers of every topic."""

from __future__ import annotations

import numpy as np

from ...instances.method import Method
from ...instances.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from .heuristic import TOPIC_CONNECTED, solve_by
from .kernels.partial_overlay import OverlayBuild


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
    nodes, offsets = instance.topic_nodes, instance.topic_offsets
    following = np.roll(nodes, -1)
    following[offsets[1:] - 1] = nodes[offsets[:-1]]
    ring = np.stack([nodes, following], axis=1)
    return Overlay.from_edges(instance.num_nodes, ring[nodes != following])


def _build(instance: TopicInstance, *, seed: int) -> OverlayBuild:
    sizes = np.diff(instance.topic_offsets)
    # An edge of several rings counts once for each of them.
    return OverlayBuild(ring_per_topic(instance), {"ring_edges": int(np.where(sizes > 2, sizes, sizes - 1).sum())})


RING_PER_TOPIC = Method(
    name="ring-per-topic",
    problems=TOPIC_CONNECTED,
    summary="a ring on the subscribers of each topic",
    source="P1 §8.3",
    guarantee="the degree of v is at most 2|T_v|; nothing is proven of the edges",
    cost="time O(Σ|T_v| log Σ|T_v|), memory O(Σ|T_v|)",
    solve=solve_by(_build),
    anytime=False,
    pace=1,
    colour="#8C8C8C",
    marker="X",
)
