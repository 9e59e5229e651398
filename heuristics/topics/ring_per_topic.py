"""Ring-per-topic (P1 §8.3): every topic for itself."""

from __future__ import annotations

import numpy as np

from ...instances.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from .heuristic import TOPIC_CONNECTED, heuristic
from .kernels.growth import OverlayBuild


def ring_per_topic(instance: TopicInstance) -> Overlay:
    """The union over all topics of a ring on the subscribers in the order of their numbers.

    A ring on two subscribers is one edge, on one subscriber nothing. The degree of v is at most 2|T_v|.

    Parameters
    ----------
    instance : TopicInstance

    Returns
    -------
    Overlay

    Notes
    -----
    Chockler, Melamed, Tock, Vitenberg, PODC 2007 (P1), §8.3 (RingPT). Time O(Σ|T_v| log Σ|T_v|), memory
    O(Σ|T_v|).

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
    return OverlayBuild(ring_per_topic(instance), {"ring_edges": _ring_edges(instance)})


def _ring_edges(instance: TopicInstance) -> int:
    """The edges of all rings before those in several rings are counted once."""
    sizes = np.diff(instance.topic_offsets)
    return int(np.where(sizes > 2, sizes, sizes - 1).sum())


RING_PER_TOPIC = heuristic(
    "ring-per-topic",
    _build,
    problems=TOPIC_CONNECTED,
    summary="a ring on the subscribers of each topic",
    source="P1 §8.3",
    pace=1,
    colour="#8C8C8C",
    marker="X",
)
