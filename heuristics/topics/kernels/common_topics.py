"""Nodes with several common topics, found among many at a time: a bit for each of them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids, Offsets
from ....instances.runtime.compiled import kernel, wrapping_kernel

Words = npt.NDArray[np.int64]

BLOCK = 2**14
"""Nodes of a block: its bits for the most frequent topics stay in a processor's cache."""
_LIST_SHARE, _ALL_LISTS_SHARE = 8, 2


class Block(NamedTuple):
    """Some nodes by topic: the subscribers of a topic are a list if they are few in all topics, or in this one, else a
    row of bits.
    """

    starts: Offsets
    lists: Ids  # places in the block
    row: Ids  # of a topic in `bits`; -1 for a list
    bits: Words
    tally: npt.NDArray[np.uint16]  # 0 for each node, to count by


@kernel
def block_of(nodes: Ids, offsets: Offsets, topics: Ids, num_topics: int) -> Block:
    """The given nodes of a CSR relation; topics below 0 are left out. Cost O(Σ|T_v| + |T|) of these nodes."""
    words = (len(nodes) + 63) // 64
    starts = np.zeros(num_topics + 1, np.int64)
    for v in nodes:
        for t in topics[offsets[v] : offsets[v + 1]]:
            if t >= 0:
                starts[t + 1] += 1
    row, num = np.full(num_topics, -1, np.int32), 0
    least = words // _ALL_LISTS_SHARE if starts.max() <= words // _ALL_LISTS_SHARE else words // _LIST_SHARE
    for t in range(num_topics):
        if starts[t + 1] > least:
            row[t] = num
            num += 1
            starts[t + 1] = 0
        starts[t + 1] += starts[t]
    at, lists, bits = starts.copy(), np.empty(starts[-1], np.int32), np.zeros((num, words), np.int64)
    for place in range(len(nodes)):
        v = nodes[place]
        for t in topics[offsets[v] : offsets[v + 1]]:
            if t >= 0 and row[t] >= 0:
                bits[row[t], place >> 6] |= np.int64(1) << np.int64(place & 63)
            elif t >= 0:
                lists[at[t]] = place
                at[t] += 1
    return Block(starts, lists, row, bits, np.zeros(len(nodes), np.uint16))


@wrapping_kernel  # the lowest bit of a word may be its sign
def sharing(topics: Ids, block: Block, counts: Words, found: Ids) -> int:
    """List the places in a block of the nodes with at least `least` of the given topics, in any order.

    `topics`: distinct; those below 0 are left out. `counts`, shape (`least`, words of the block): 0 before and
    after: row k has a bit for the nodes with more than k of the topics seen so far. `found`: takes the places; as
    long as the block. Returns how many there are.

    Cost for each topic at most `least` operations on the words of the block (several at a time, by vector
    instructions), or on those of its subscribers if they are few; two for each subscriber if they are few everywhere.
    """
    if len(block.bits) == 0:
        return _tallied(topics, block, len(counts), found)
    last, num, first, chosen = len(counts) - 1, 0, counts[0], topics[topics >= 0]
    for seen, t in enumerate(chosen):
        row, left = block.row[t], len(chosen) - seen - 1
        high, low = min(last, seen), max(0, last - left - 1)  # no other counts can be, or become, enough
        if row >= 0:
            many = block.bits[row]
            for k in range(high, low, -1):
                more, count = counts[k - 1], counts[k]
                for word in range(len(many)):
                    count[word] |= more[word] & many[word]
            if left >= last:
                for word in range(len(many)):
                    first[word] |= many[word]
        else:
            for place in block.lists[block.starts[t] : block.starts[t + 1]]:
                at, bit = np.uint32(place) >> np.uint32(6), np.int64(1) << np.int64(place & 63)
                for k in range(high, low, -1):
                    counts[np.uint32(k), at] |= counts[np.uint32(k - 1), at] & bit
                first[at] |= bit
    for word in range(len(first)):
        left = counts[last, word]
        while left:
            found[num] = (word << 6) + math.frexp(left & -left)[1] - 1  # the lowest bit
            num += 1
            left &= left - 1
    counts[:] = 0
    return num


@kernel
def _tallied(topics: Ids, block: Block, least: int, found: Ids) -> int:
    """As :func:`sharing` where all topics are lists. The counts, which end at `least`, fit into the fastest cache."""
    tally, num = block.tally, 0
    for t in topics:
        if t >= 0:
            for place in block.lists[block.starts[t] : block.starts[t + 1]]:
                tally[place] += np.uint16(tally[place] < least)
    for t in topics:
        if t >= 0:
            for place in block.lists[block.starts[t] : block.starts[t + 1]]:
                if tally[place] == least:
                    found[num] = place
                    num += 1
                tally[place] = 0
    return num


@kernel
def pairs_sharing(
    least: int, members: Ids, listed: npt.NDArray[np.bool_], offsets: Offsets, topics: Ids, num_topics: int
) -> npt.NDArray[np.int64]:
    """The pairs u < v, as u·|V| + v, with at least `least` common topics and an end among some nodes, in any order.

    `members`: sorted nodes, at most BLOCK to be fast. `listed`, shape (|V|,): the nodes that are members of this
    call or another one: of two such nodes, the lower is the member. `offsets`, `topics`, `num_topics`: the topics
    of each node, as CSR arrays.

    Cost of :func:`sharing` for every node, and 8 bytes for each pair.
    """
    num_nodes = len(offsets) - 1
    pairs, num = np.empty(1024, np.int64), 0
    block = block_of(members, offsets, topics, num_topics)
    counts, found = np.zeros((least, (len(members) + 63) // 64), np.int64), np.empty(len(members), np.int32)
    for v in range(num_nodes):
        if listed[v] and v <= members[0]:
            continue
        many = sharing(topics[offsets[v] : offsets[v + 1]], block, counts, found)
        if num + many > len(pairs):
            longer = np.empty(2 * (num + many), np.int64)
            longer[:num] = pairs[:num]
            pairs = longer
        for i in range(many):
            u = members[found[i]]
            if not listed[v] or u < v:
                pairs[num] = np.int64(min(u, v)) * num_nodes + max(u, v)
                num += 1
    return pairs[:num].copy()


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
