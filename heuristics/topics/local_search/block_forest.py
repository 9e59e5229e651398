"""The blocks (maximal 2-connected subgraphs and bridges) of every topic of an overlay to which edges are added.

The block-cut tree of a topic is rooted at its first subscriber: every other subscriber belongs to one block, that of
the edge to its parent, and every block hangs from its *top*, the subscriber by which it is nearest to the root. An edge
unites all blocks on the path between its ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....instances.contract.arrays import Ids
from ....instances.contract.overlay import Overlay
from ....instances.topics.instance import TopicInstance
from ...compiled import kernel
from .linked_overlay import Links, Subscriptions, links_of, subscriptions_of


class BlockForest(NamedTuple):
    """The block-cut trees; a subscription is its position in ``topic_nodes``, and a block one of its subscriptions."""

    block: Ids  # of each subscription its block when the forest was built, -1 for the root of a topic
    united: Ids  # of each block the one that it became a part of, or itself
    top: Ids  # of each block
    depth: Ids  # of each subscription the number of blocks up to the root when the forest was built
    blocks: Ids  # of each topic the number of blocks


def block_forest(instance: TopicInstance, overlay: Overlay) -> BlockForest:
    """The blocks of a topic-connected overlay. Cost O(Σ|T_v| + Σ_edges (|T_u| + |T_v|))."""
    subscriptions = subscriptions_of(instance)
    links = links_of(overlay, subscriptions, spare_edges=0, spare_links=0)
    size = instance.num_subscriptions
    forest = BlockForest(
        block=np.full(size, -1, np.int32),
        united=np.arange(size, dtype=np.int32),
        top=np.full(size, -1, np.int32),
        depth=np.zeros(size, np.int32),
        blocks=np.zeros(instance.num_topics, np.int32),
    )
    _find_blocks(subscriptions, links, forest)
    return forest


@kernel
def _find_blocks(subscriptions: Subscriptions, links: Links, forest: BlockForest) -> None:
    """Hopcroft and Tarjan 1973, by lowest preorder numbers."""
    size = len(forest.block)
    number, low = np.zeros(size, np.int32), np.zeros(size, np.int32)  # from 1 on
    waiting, via = links.head.copy(), np.full(size, -1, np.int32)
    path, found, order = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32)
    for topic in range(len(forest.blocks)):
        root = subscriptions.topic_offsets[topic]
        path[0], order[0] = root, root
        number[root] = low[root] = 1
        length, num_found, visited = 1, 0, 1
        while length:
            a = path[length - 1]
            half = waiting[a]
            if half >= 0:
                waiting[a] = links.after[half]
                b = links.target[half]
                if number[b] == 0:
                    order[visited] = b
                    visited += 1
                    number[b] = low[b] = visited
                    via[b] = half ^ 1
                    path[length] = found[num_found] = b
                    length += 1
                    num_found += 1
                elif half != via[a]:
                    low[a] = min(low[a], number[b])
                continue
            length -= 1
            if length == 0:
                break
            parent = path[length - 1]
            low[parent] = min(low[parent], low[a])
            if low[a] >= number[parent]:
                forest.blocks[topic] += 1
                forest.top[a] = parent
                member = np.int32(-1)
                while member != a:
                    num_found -= 1
                    member = found[num_found]
                    forest.block[member] = a
        for k in range(1, visited):
            forest.depth[order[k]] = forest.depth[forest.top[forest.block[order[k]]]] + 1


@kernel
def block_of(p: int, forest: BlockForest) -> int:
    """The block of a subscription that is no root, by union-find with path halving."""
    united, b = forest.united, forest.block[p]
    while united[b] != b:
        united[b] = united[united[b]]
        b = united[b]
    return int(b)


@kernel
def _level(p: int, forest: BlockForest) -> int:
    """0 for the root; else one more than the depth of the top of the subscription's block."""
    return 0 if forest.block[p] < 0 else forest.depth[forest.top[block_of(p, forest)]] + 1


@kernel
def blocks_between(p: int, q: int, forest: BlockForest) -> int:
    """The number of blocks on the path between two subscriptions of a topic: 1 if one block has both."""
    count = 0
    while p != q:
        # The one whose block hangs lower climbs, so that neither passes the block that the paths share.
        if _level(p, forest) < _level(q, forest):
            p, q = q, p
        block = block_of(p, forest)
        count += 1
        if forest.top[block] == q or (forest.block[q] >= 0 and block_of(q, forest) == block):
            break
        p = forest.top[block]
    return count


@kernel
def unite_blocks(p: int, q: int, topic: int, forest: BlockForest) -> None:
    """Unite the blocks on the path between two subscriptions of a topic, as an edge between them does."""
    low, high = np.int64(-1), np.int64(-1)  # the united blocks below p's and q's ends of the path
    count = 0
    while p != q:
        if _level(p, forest) < _level(q, forest):
            p, q = q, p
            low, high = high, low
        block = np.int64(block_of(p, forest))
        above = forest.top[block]
        meets = above == q or (forest.block[q] >= 0 and block_of(q, forest) == block)
        if low >= 0:
            forest.united[low] = block
        low = block
        count += 1
        if meets:
            break
        p = above
    if low >= 0 and high >= 0 and low != high:
        # Both hang from one subscription, or the lower one has climbed into the block that the higher one is in.
        if forest.depth[forest.top[low]] < forest.depth[forest.top[high]]:
            low, high = high, low
        forest.united[low] = high
    if count:
        forest.blocks[topic] -= count - 1
