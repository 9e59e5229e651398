"""Representative sets: a few nodes of each part that cover the topics it shares with others (P3, Algorithm 13)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids
from ....instances.topics.instance import TopicInstance
from ...compiled import kernel
from ..kernels.bucket_queue import BucketQueue, Ranks
from ..kernels.interest import Interest, interest_of
from ..kernels.ties import TieOrder, candidate_of, ranks_of
from .partition import Partition

Levels = npt.NDArray[np.int32]


def representatives(instance: TopicInstance, partition: Partition, coverage: int, order: TieOrder) -> Ids:
    """Choose from each part, greedily, nodes that cover each of its outward topics λ times, or as often as possible.

    A topic of a part is outward if a lightweight or bulk node outside the part subscribes to it. (Line 6 of
    Algorithm 12 considers the lightweight parts alone, which leaves a topic of one part and of bulk nodes
    unconnected.) The next node is one that subscribes to most outward topics of its part that are not yet covered. A
    topic with fewer than λ subscribers in the part is covered by all of them (P3, eq. 8), where Algorithm 13 would not
    end.

    `coverage` is λ, at least 1; `order` breaks ties of nodes that cover equally many topics. Returns all
    representatives, sorted.

    Notes
    -----
    P3, Definition 2 and Algorithm 13, for all parts at once. A node is evaluated at most |T_v| + 1 times, at O(|T_v|);
    memory O(Σ|T_v|).
    """
    slot_of, missing = _slots(interest_of(instance), partition.part_of, partition.num_parts, coverage)
    offsets, lightweight = instance.node_offsets, partition.lightweight
    uncovered = np.concatenate([[0], np.cumsum((slot_of >= 0) & (missing[slot_of] > 0))])
    gains = (uncovered[offsets[1:]] - uncovered[offsets[:-1]])[lightweight].astype(np.int32)
    queue, chosen = BucketQueue(), np.zeros(instance.num_nodes, np.bool_)
    ranks = ranks_of(lightweight.astype(np.int64), order)
    queue.put_each(ranks[gains > 0], gains[gains > 0])
    while level := queue.top:
        queue.put_each(*_choose(queue.pop(), level, offsets, slot_of, missing, chosen, order))
    return np.flatnonzero(chosen).astype(np.int32)


def groups_of(instance: TopicInstance, partition: Partition) -> Ids:
    """A number for each subscription, equal for a topic's subscribers in one part, -1 for bulk nodes. Shape (Σ|T_v|,).

    Cost O(Σ|T_v|).
    """
    slot_of, _ = _slots(interest_of(instance), partition.part_of, partition.num_parts, 1)
    return slot_of


@kernel
def _slots(interest: Interest, part_of: Ids, num_parts: int, coverage: int) -> tuple[Ids, Ids]:
    """Number the pairs (part, topic): the pair of each subscription (-1 for bulk nodes), and how many representatives
    each pair needs.
    """
    slot_of = np.empty(len(interest.node_topics), np.int32)
    missing = np.zeros(len(interest.node_topics) + 1, np.int32)
    cursor = interest.node_offsets[:-1].copy()
    newest = np.full(num_parts, -1, np.int32)
    num_slots = 0
    for topic in range(len(interest.topic_offsets) - 1):
        first = num_slots
        nodes = interest.topic_nodes[interest.topic_offsets[topic] : interest.topic_offsets[topic + 1]]
        for node in nodes:
            part, i = part_of[node], cursor[node]
            cursor[node] += 1
            slot_of[i] = -1
            if part < 0:
                continue
            if newest[part] < first:
                newest[part] = num_slots
                num_slots += 1
            slot_of[i] = newest[part]
            missing[newest[part]] += 1
        for slot in range(first, num_slots):
            missing[slot] = 0 if missing[slot] == len(nodes) else min(missing[slot], coverage)
    return slot_of, missing


@kernel
def _choose(
    bucket: Ranks,
    level: int,
    offsets: npt.NDArray[np.int64],
    slot_of: Ids,
    missing: Ids,
    chosen: npt.NDArray[np.bool_],
    order: TieOrder,
) -> tuple[Ranks, Levels]:
    """Choose, in order, every node of a bucket that still gains `level`; return the others with their gains."""
    stale, levels = np.empty_like(bucket), np.empty(len(bucket), np.int32)
    num_stale = 0
    for rank in bucket:
        node = candidate_of(rank, order)
        gain = 0
        for slot in slot_of[offsets[node] : offsets[node + 1]]:
            gain += missing[slot] > 0
        if gain == level:
            chosen[node] = True
            for slot in slot_of[offsets[node] : offsets[node + 1]]:
                missing[slot] = max(missing[slot] - 1, 0)
        elif gain > 0:
            stale[num_stale] = rank
            levels[num_stale] = gain
            num_stale += 1
    return stale[:num_stale].copy(), levels[:num_stale].copy()
