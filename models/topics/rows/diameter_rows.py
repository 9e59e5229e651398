"""Rows of true diameter 2: two subscribers of a topic are adjacent or have a common neighbour in the topic.

For u, v in V_t and any W ⊆ V_t − {u, v}: x(uv) + x(u–W) + x(v–the others) ≥ 1, as one of the two edges of every
path u–w–v is on the left-hand side. W = {w : x(uw) < x(wv)} minimises the left-hand side, so separation is exact and
costs O(|V_t|) a pair. The 0/1 vectors that satisfy all rows are the overlays of diameter 2.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ....heuristics.compiled import kernel
from ....instances.contract.arrays import Ids, Offsets
from .candidate_edges import Links
from .topic_rows import DIAMETER, TopicRows

Weights = npt.NDArray[np.float64]
_PER_TOPIC = 6


def violated_diameters(topic_offsets: Offsets, links: Links, weights: Weights, *, tolerance: float) -> TopicRows:
    """The most violated rows of each topic, at most one for each subscriber u and six for each topic.

    Parameters
    ----------
    topic_offsets : int64 array, shape (|T| + 1,)
    weights : float64 array, one a candidate edge

    Returns
    -------
    TopicRows
        Of kind `DIAMETER`; empty if and only if no row is violated by more than `tolerance`.

    Notes
    -----
    P2 (Onus and Richa 2015), §6, states the problem. Time O(Σ_t |V_t|³), memory O(max |V_t|²).
    """
    topic, label = _separate(topic_offsets, links, weights, tolerance)
    sizes = topic_offsets[topic + 1] - topic_offsets[topic]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return TopicRows(topic, np.full_like(topic, DIAMETER), np.ones_like(topic), offsets, label)


@kernel
def _separate(topic_offsets: Offsets, links: Links, weights: Weights, tolerance: float) -> tuple[Ids, Ids]:
    num_topics = len(topic_offsets) - 1
    topics = np.empty(num_topics * _PER_TOPIC, np.int32)
    labels = np.empty(topic_offsets[-1] * _PER_TOPIC, np.int32)
    rows = used = 0
    for t in range(num_topics):
        n = topic_offsets[t + 1] - topic_offsets[t]
        x = np.zeros((n, n))
        for k in range(links.offsets[t], links.offsets[t + 1]):
            x[links.a[k], links.b[k]] = x[links.b[k], links.a[k]] = weights[links.edge[k]]
        sums, partner = np.full(n, 2.0), np.zeros(n, np.int32)
        for u in range(n):
            for v in range(n):
                if v == u:
                    continue
                total = x[u, v]
                for w in range(n):
                    total += min(x[u, w], x[v, w])
                    if total >= sums[u]:
                        break
                if total < sums[u]:
                    sums[u], partner[u] = total, v
        taken = 0
        for u in np.argsort(sums, kind="mergesort"):
            v = partner[u]
            if sums[u] >= 1 - tolerance or taken == _PER_TOPIC:
                break
            if v < u and partner[v] == u:
                continue
            for w in range(n):
                labels[used + w] = 2 if x[u, w] < x[v, w] else 3
            labels[used + u], labels[used + v] = 0, 1
            topics[rows] = t
            rows += 1
            taken += 1
            used += n
    return topics[:rows].copy(), labels[:used].copy()
