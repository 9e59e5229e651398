"""Nodes with several common topics, found among many at a time by a byte for each of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids, Offsets
from ....instances.runtime.compiled import kernel

Bytes = npt.NDArray[np.uint8]

BLOCK = 2**15
"""Nodes of a block at most: their bytes stay in a processor's fastest cache."""
MOST_COMMON = 31
"""Counts of common topics end here: a row of counts begins above the one before, eight times until all are cleared."""
_LIST_SHARE = 32


class Block(NamedTuple):
    """Some nodes by topic: the subscribers of a topic are a list of places, or a byte for each place if they are many.

    `counts`, less `epoch[0]` if that is positive, are the topics in common with the last node that was compared, up to
    `MOST_COMMON`.
    """

    starts: Offsets
    lists: npt.NDArray[np.uint16]  # places in the block
    row: Ids  # of a topic in `masks`; -1 for a list
    masks: Bytes  # shape (topics, places)
    counts: Bytes
    epoch: npt.NDArray[np.int64]


@kernel
def block_of(nodes: Ids, offsets: Offsets, topics: Ids, num_topics: int) -> Block:
    """The given nodes, at most BLOCK, of a CSR relation; topics below 0 are left out.

    Cost O(Σ|T_v| + |T|) of these nodes, and a byte a node for each topic that a 32nd of them subscribe to.
    """
    starts = np.zeros(num_topics + 1, np.int64)
    for v in nodes:
        for t in topics[offsets[v] : offsets[v + 1]]:
            if t >= 0:
                starts[t + 1] += 1
    row, num = np.full(num_topics, -1, np.int32), 0
    for t in range(num_topics):
        if starts[t + 1] * _LIST_SHARE > len(nodes):
            row[t] = num
            num += 1
            starts[t + 1] = 0
        starts[t + 1] += starts[t]
    at, lists, masks = starts.copy(), np.empty(starts[-1], np.uint16), np.zeros((num, len(nodes)), np.uint8)
    for place in range(len(nodes)):
        v = nodes[place]
        for t in topics[offsets[v] : offsets[v + 1]]:
            if t >= 0 and row[t] >= 0:
                masks[row[t], place] = 1
            elif t >= 0:
                lists[at[t]] = place
                at[t] += 1
    return Block(starts, lists, row, masks, np.zeros(len(nodes), np.uint8), np.zeros(1, np.int64))


@kernel
def sharing(topics: Ids, least: int, block: Block, found: Ids) -> int:
    """List the places in a block of the nodes with at least `least` of the given topics, in any order.

    `topics`: distinct; those below 0 are left out. `least`: from 1 to MOST_COMMON. `found`: takes the places; longer
    than the block. Returns how many there are.

    Cost: a step for each subscriber, or, several at a time by vector instructions, for each node of the block if they
    are many.
    """
    counts, num, many = block.counts, 0, 0
    block.epoch[0] += MOST_COMMON
    if block.epoch[0] + MOST_COMMON > 255:
        counts[:] = 0
        block.epoch[0] = 0
    zero, last, end = np.uint8(block.epoch[0]), block.epoch[0] + least - 1, np.uint8(block.epoch[0] + MOST_COMMON)
    for t in topics:
        if t >= 0 and block.row[t] >= 0:
            mask = block.masks[block.row[t]]
            for place in range(len(counts)):
                count = max(counts[place], zero)
                counts[place] = count + (mask[place] & np.uint8(count < end))
            many += 1
    if many >= least:
        for place in range(len(counts)):
            found[num] = place
            num += counts[place] > last
    for t in topics:
        if t >= 0 and block.row[t] < 0:
            for place in block.lists[block.starts[t] : block.starts[t + 1]]:
                count = max(counts[place], zero)
                counts[place] = count + np.uint8(count < end)
                if count == last:
                    found[num] = place
                    num += 1
    return num


@kernel
def pairs_sharing(
    least: int, members: Ids, listed: npt.NDArray[np.bool_], offsets: Offsets, topics: Ids, num_topics: int
) -> tuple[npt.NDArray[np.int64], Bytes]:
    """The pairs u < v, as u·|V| + v, with at least `least` common topics and an end among some nodes, in any order.

    Also how many topics each has in common, up to MOST_COMMON.

    `members`: sorted nodes, at most BLOCK. `listed`, shape (|V|,): the nodes that are members of this
    call or another one: of two such nodes, the lower is the member. `offsets`, `topics`, `num_topics`: the topics
    of each node, as CSR arrays.

    Cost of :func:`sharing` for every node, and 9 bytes for each pair.
    """
    num_nodes = len(offsets) - 1
    pairs, common, num = np.empty(1024, np.int64), np.empty(1024, np.uint8), 0
    block, found = block_of(members, offsets, topics, num_topics), np.empty(len(members) + 1, np.int32)
    for v in range(num_nodes):
        if listed[v] and v <= members[0]:
            continue
        many = sharing(topics[offsets[v] : offsets[v + 1]], least, block, found)
        if num + many > len(pairs):
            longer, further = np.empty(2 * (num + many), np.int64), np.empty(2 * (num + many), np.uint8)
            longer[:num], further[:num] = pairs[:num], common[:num]
            pairs, common = longer, further
        for i in range(many):
            u = members[found[i]]
            if not listed[v] or u < v:
                pairs[num] = np.int64(min(u, v)) * num_nodes + max(u, v)
                common[num] = block.counts[found[i]] - block.epoch[0]
                num += 1
    return pairs[:num].copy(), common[:num].copy()


@kernel
def pairs_by_common_topics(
    sample: Ids,
    listed: npt.NDArray[np.bool_],
    most: int,
    topic_offsets: Offsets,
    topic_nodes: Ids,
    offsets: Offsets,
    topics: Ids,
) -> npt.NDArray[np.float64]:
    """How many pairs of a listed node and one of a sample have 0, 1, …, at least `most` common topics.

    A pair of two listed nodes counts half. Cost O(Σ|V_t|) over the topics of the sample.
    """
    pairs, common = np.zeros(most + 1), np.zeros(len(listed), np.int32)
    for u in sample:
        for step in (1, -1):
            for t in topics[offsets[u] : offsets[u + 1]]:
                for v in topic_nodes[topic_offsets[t] : topic_offsets[t + 1]]:
                    if step > 0:
                        common[v] += 1
                    elif common[v]:
                        if listed[v] and v != u:
                            pairs[min(common[v], most)] += 0.5 if listed[u] else 1
                        common[v] = 0
    return pairs
