"""Representative sets: few nodes of each part that stand for its topics towards the others (P3, Algorithm 13)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ....instances.arrays import Ids
from ....instances.topics.instance import TopicInstance
from ...compiled import kernel
from ..kernels.bucket_queue import BucketQueue, Priorities
from ..kernels.interest import Interest, interest_of
from ..kernels.ties import TieOrder, candidate_of, priorities
from .partition import Partition

Levels = npt.NDArray[np.int32]


def representatives(instance: TopicInstance, partition: Partition, coverage: int, order: TieOrder) -> Ids:
    """Of each part, greedily, nodes that cover each of its outward topics λ times, or as often as the part can.

    A topic of a part is outward if a node outside of it wants the topic, be that node lightweight or bulk: line 6
    of Algorithm 12, which joins the topics of the lightweight parts alone, would leave a topic of one part and of
    bulk nodes unconnected. The node taken next is interested in most outward topics of its part that are not yet
    covered. A topic with fewer than λ subscribers in the part is covered by all of them (P3, eq. 8); Algorithm 13,
    which waits for λ of them, would not end.

    Parameters
    ----------
    instance : TopicInstance
    partition : Partition
    coverage : int
        λ, at least 1.
    order : TieOrder
        Among equally interested nodes.

    Returns
    -------
    int32 array, sorted
        The representatives of all parts.

    Notes
    -----
    Chen, Vitenberg, Jacobsen, 2010 (P3), Definition 2 and Algorithm 13. The parts choose at once, each apart from
    the others. A node is looked at when its interest of before comes up, at most |T_v| + 1 times, at O(|T_v|);
    memory O(Σ|T_v|).
    """
    slot_of, missing = _slots(interest_of(instance), partition.part_of, partition.num_parts, coverage)
    offsets, lightweight = instance.node_offsets, partition.lightweight
    open_topics = np.concatenate([[0], np.cumsum((slot_of >= 0) & (missing[slot_of] > 0))])
    interest = (open_topics[offsets[1:]] - open_topics[offsets[:-1]])[lightweight].astype(np.int32)
    waiting, chosen = BucketQueue(), np.zeros(instance.num_nodes, np.bool_)
    ranks = priorities(lightweight.astype(np.int64), order)
    waiting.put_each(ranks[interest > 0], interest[interest > 0])
    while level := waiting.top:
        waiting.put_each(*_choose(waiting.pop(), level, offsets, slot_of, missing, chosen, order))
    return np.flatnonzero(chosen).astype(np.int32)


def groups_of(instance: TopicInstance, partition: Partition) -> Ids:
    """A number for each subscription, shape (Σ|T_v|,): equal for a topic's subscribers in one part, -1 for bulk nodes.

    Cost O(Σ|T_v|).
    """
    slot_of, _ = _slots(interest_of(instance), partition.part_of, partition.num_parts, 1)
    return slot_of


@kernel
def _slots(interest: Interest, part_of: Ids, num_parts: int, coverage: int) -> tuple[Ids, Ids]:
    """Number the pairs of a part and a topic of it: the pair of each subscription (-1 for bulk nodes), and how many
    representatives each pair wants.
    """
    slot_of = np.empty(len(interest.node_topics), np.int32)
    missing = np.zeros(len(interest.node_topics) + 1, np.int32)
    cursor = interest.node_offsets[:-1].copy()
    newest = np.full(num_parts, -1, np.int32)
    found = 0
    for topic in range(len(interest.topic_offsets) - 1):
        first = found
        nodes = interest.topic_nodes[interest.topic_offsets[topic] : interest.topic_offsets[topic + 1]]
        for node in nodes:
            part, place = part_of[node], cursor[node]
            cursor[node] += 1
            slot_of[place] = -1
            if part < 0:
                continue
            if newest[part] < first:
                newest[part] = found
                found += 1
            slot_of[place] = newest[part]
            missing[newest[part]] += 1
        for slot in range(first, found):
            missing[slot] = 0 if missing[slot] == len(nodes) else min(missing[slot], coverage)
    return slot_of, missing


@kernel
def _choose(
    bucket: Priorities,
    level: int,
    offsets: npt.NDArray[np.int64],
    slot_of: Ids,
    missing: Ids,
    chosen: npt.NDArray[np.bool_],
    order: TieOrder,
) -> tuple[Priorities, Levels]:
    """Choose, best first, every node of a bucket with still so many open topics; return the rest with how many."""
    stale, levels = np.empty_like(bucket), np.empty(len(bucket), np.int32)
    found = 0
    for place in bucket:
        node = candidate_of(place, order)
        now = 0
        for slot in slot_of[offsets[node] : offsets[node + 1]]:
            now += missing[slot] > 0
        if now == level:
            chosen[node] = True
            for slot in slot_of[offsets[node] : offsets[node + 1]]:
                missing[slot] = max(missing[slot] - 1, 0)
        elif now > 0:
            stale[found] = place
            levels[found] = now
            found += 1
    return stale[:found].copy(), levels[:found].copy()
