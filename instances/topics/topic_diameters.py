"""Topic diameters (P1 §9): the largest distance in the overlay between two subscribers of a topic."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..contract.overlay import Overlay
from .instance import TopicInstance

_BYTES_AT_ONCE = 50_000_000
Bits = npt.NDArray[np.uint8]


@lru_cache(maxsize=8)
def topic_diameters(overlay: Overlay, instance: TopicInstance) -> npt.NDArray[np.float64]:
    """The diameter of each topic, shape (|T|,): paths may pass through nodes that do not subscribe to it.

    It is 0 for a topic of one subscriber, and infinite where the overlay does not connect two subscribers.

    Notes
    -----
    Breadth-first search from all nodes at once with a bit for each source. Time O(D·|E|·|V|/8) bytes for the largest
    diameter D; memory is bounded.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"a": ["x"], "b": ["y"], "c": ["x", "y"]})
    >>> topic_diameters(Overlay.from_edges(3, [(0, 1), (1, 2)]), instance).tolist()
    [2.0, 1.0]
    """
    n = overlay.num_nodes
    heads, tails = _both_directions(overlay)
    width = max(1, _BYTES_AT_ONCE // (len(heads) + n))
    diameters = np.zeros(instance.num_topics)
    for first in range(0, n, 8 * width):
        sources = np.arange(first, min(n, first + 8 * width))
        np.maximum(diameters, _farthest(sources, heads, tails, instance), out=diameters)
    diameters.flags.writeable = False
    return diameters


def _both_directions(overlay: Overlay) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """The neighbours of each node that has any, one node after the other; these nodes, and where each starts."""
    u, v = overlay.edges.T
    at, beside = np.concatenate([u, v]), np.concatenate([v, u])
    order = np.argsort(at, kind="stable")
    nodes, starts = np.unique(at[order], return_index=True)
    return beside[order], np.stack([nodes, starts])


def _farthest(
    sources: npt.NDArray[np.int64],
    beside: npt.NDArray[np.int32],
    nodes_and_starts: npt.NDArray[np.int64],
    instance: TopicInstance,
) -> npt.NDArray[np.float64]:
    """For each topic the largest distance of a subscriber from those of its subscribers that are among the sources."""
    n = instance.num_nodes
    nodes, starts = nodes_and_starts
    width = -(-len(sources) // 8)
    reached = np.zeros((n, width), np.uint8)
    local = np.arange(len(sources))
    reached[sources, local // 8] = np.uint8(1) << (local % 8).astype(np.uint8)
    wanted = {t: _mask(instance.subscribers(t), sources, width) for t in range(instance.num_topics)}
    open_topics = {t for t, mask in wanted.items() if mask.any()}
    farthest, distance = np.zeros(instance.num_topics), 0
    while True:
        done = [t for t in open_topics if ((reached[instance.subscribers(t)] & wanted[t]) == wanted[t]).all()]
        farthest[done] = distance
        open_topics.difference_update(done)
        if not open_topics:
            return farthest
        following = reached.copy()
        if len(beside):
            following[nodes] |= np.bitwise_or.reduceat(reached[beside], starts, axis=0)
        if np.array_equal(following, reached):
            farthest[list(open_topics)] = np.inf
            return farthest
        reached, distance = following, distance + 1


def _mask(subscribers: npt.NDArray[np.int32], sources: npt.NDArray[np.int64], width: int) -> Bits:
    among = subscribers[(subscribers >= sources[0]) & (subscribers <= sources[-1])] - sources[0]
    bits = np.zeros(8 * width, np.bool_)
    bits[among] = True
    return np.packbits(bits, bitorder="little")
