"""All pairs of nodes with topics in common: the candidates of every greedy method that adds edge by edge."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from heuristics.bucket_queue import BucketQueue
from heuristics.compiled import kernel
from heuristics.interest import Interest, interest_of
from heuristics.ties import TieOrder, priority
from instances import TopicInstance
from instances.topic_instance import Ids, Offsets


def pairs_by_common_topics(instance: TopicInstance, order: TieOrder, *, least: int = 1) -> BucketQueue:
    """Every pair u < v with at least `least` topics in common, at the level |T_u ∩ T_v| (P1, Algorithm 2).

    The candidate of a pair is the number u·|V| + v. Cost O(Σ_t |V_t|²) time, 8 bytes a pair.
    """
    interest = interest_of(instance)
    counts = _count_pairs(interest)
    counts[:least] = 0
    starts = np.concatenate([[0], np.cumsum(counts)])
    priorities = _list_pairs(interest, least, starts[:-1].copy(), int(starts[-1]), order)
    return BucketQueue({c: priorities[starts[c] : starts[c + 1]] for c in np.flatnonzero(counts).tolist()})


@kernel
def _count_pairs(interest: Interest) -> npt.NDArray[np.int64]:
    """The number of pairs with c topics in common, for each c."""
    n = len(interest.node_offsets) - 1
    most = 0
    for u in range(n):
        most = max(most, interest.node_offsets[u + 1] - interest.node_offsets[u])
    counts = np.zeros(most + 1, np.int64)
    cursor = interest.topic_offsets[:-1].copy()
    common = np.zeros(n, np.int32)
    met = np.empty(n, np.int32)
    for u in range(n):
        for k in range(_meet_later_nodes(u, interest, cursor, common, met)):
            counts[common[met[k]]] += 1
            common[met[k]] = 0
    return counts


@kernel
def _list_pairs(interest: Interest, least: int, free: Offsets, size: int, order: TieOrder) -> npt.NDArray[np.int64]:
    """The priorities of the pairs, those with c topics in common from place free[c] on."""
    n = len(interest.node_offsets) - 1
    priorities = np.empty(size, np.int64)
    cursor = interest.topic_offsets[:-1].copy()
    common = np.zeros(n, np.int32)
    met = np.empty(n, np.int32)
    for u in range(n):
        for k in range(_meet_later_nodes(u, interest, cursor, common, met)):
            v = met[k]
            if common[v] >= least:
                priorities[free[common[v]]] = priority(np.int64(u) * n + v, order)
                free[common[v]] += 1
            common[v] = 0
    return priorities


@kernel
def _meet_later_nodes(u: int, interest: Interest, cursor: Offsets, common: Ids, met: Ids) -> int:
    """Count u's topics in common with each node after it: the nodes go to `met`, the counts to `common`.

    Nodes come in increasing order, so `cursor` stands at u in the list of subscribers of each of its topics.
    """
    found = 0
    for i in range(interest.node_offsets[u], interest.node_offsets[u + 1]):
        topic = interest.node_topics[i]
        cursor[topic] += 1
        for j in range(cursor[topic], interest.topic_offsets[topic + 1]):
            v = interest.topic_nodes[j]
            if common[v] == 0:
                met[found] = v
                found += 1
            common[v] += 1
    return found
