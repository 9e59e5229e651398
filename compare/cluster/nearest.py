"""The nodes of the core that a part may need: for each subscription, those with most topics of its node in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...heuristics.compiled import kernel
from ...instances.arrays import Ids, Offsets
from .conquer import Subscriptions

Nodes = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int32]

NOBODY = 2**63 - 1
_LARGEST_SHARE = 16


def nearest(part: Subscriptions, core: Iterable[Subscriptions], candidates: int) -> Subscriptions:
    """The candidates of the core for the edges of a part.

    Parameters
    ----------
    part : Subscriptions
    core : iterable of Subscriptions
        Other nodes, in pieces of any size.
    candidates : int
        At least 1.

    Returns
    -------
    Subscriptions
        For each node v and topic t of the part, the `candidates` nodes of the core with t that have most topics in
        common with v, of those with at least two (of equal ones the first), with topic t; and for each topic of the
        part the first node of the core that has it.

    Notes
    -----
    At most `candidates` rows for each of the part, whatever the size of the core, and 28 bytes for each of them. Time
    O(Σ_t |V_t|·|W_t|) for V_t and W_t in part and core. Topics of more than a sixteenth of the part's nodes
    do not count for the search (a topic of 40% of all nodes would be seen in 16% of all pairs), but for the number of
    common topics of the pairs it finds.
    """
    present, local, sizes = np.unique(part.topics, return_inverse=True, return_counts=True)
    number = np.full(int(present.max(initial=-1)) + 1, -1, np.int64)
    number[present] = np.arange(len(present))
    owner = np.repeat(np.arange(len(part.nodes), dtype=np.int32), np.diff(part.offsets))
    subscribers, starts = owner[np.argsort(local, kind="stable")], np.concatenate([[0], np.cumsum(sizes)])
    sought = sizes <= max(1, len(part.nodes) // _LARGEST_SHARE)
    found = np.full((len(local), candidates), NOBODY, np.int64)
    common, first = np.zeros(found.shape, np.int32), np.full(len(present), NOBODY, np.int64)
    at = _Index(part.offsets, local.astype(np.int32), number, sought, starts, subscribers)
    for piece in core:
        _search(piece.nodes, piece.offsets, piece.topics, at, found, common, first)
    del common
    row, some = np.nonzero(found != NOBODY)[0], np.flatnonzero(first != NOBODY)
    nodes = np.concatenate([found[found != NOBODY], first[some]])
    del found
    topics = np.concatenate([part.topics[row], present[some]])
    order = np.lexsort((topics, nodes))
    nodes, topics = nodes[order], topics[order]
    new = np.append(True, (np.diff(nodes) != 0) | (np.diff(topics) != 0))[: len(nodes)]
    nodes, topics = nodes[new], topics[new]
    distinct, begin = np.unique(nodes, return_index=True)
    return Subscriptions(distinct, np.append(begin, len(nodes)), topics)


class _Index(NamedTuple):
    """The nodes of a part by topic, which are numbered 0, 1, … here."""

    offsets: Offsets
    topics: Ids
    number: Nodes
    sought: npt.NDArray[np.bool_]
    starts: Nodes
    subscribers: Ids


@kernel
def _search(
    nodes: Nodes, offsets: Offsets, topics: Ids, part: _Index, found: Nodes, common: Counts, first: Nodes
) -> None:
    """Compare the nodes of a piece of the core with those of the part."""
    num_nodes = len(part.offsets) - 1
    once, twice = np.zeros(num_nodes // 64 + 1, np.int64), np.zeros(num_nodes // 64 + 1, np.int64)
    seen, rows = np.empty(num_nodes, np.int32), np.empty(np.diff(part.offsets).max(), np.int64)
    last_with = np.full(len(part.sought), -1, np.int64)
    last = found.shape[1] - 1
    for u in range(len(nodes)):
        num = 0
        for topic in topics[offsets[u] : offsets[u + 1]]:
            t = part.number[topic] if topic < len(part.number) else -1
            if t < 0:
                continue
            last_with[t] = u
            if first[t] == NOBODY:
                first[t] = nodes[u]
            if part.sought[t]:
                for i in range(part.starts[t], part.starts[t + 1]):
                    v = part.subscribers[i]
                    word, bit = v >> 6, np.int64(1) << np.int64(v & 63)
                    if once[word] & bit and not twice[word] & bit:
                        twice[word] |= bit
                        seen[num] = v
                        num += 1
                    once[word] |= bit
        once[:] = 0
        for v in seen[:num]:
            twice[v >> 6] = 0
            shared = 0
            for i in range(part.offsets[v], part.offsets[v + 1]):
                if last_with[part.topics[i]] == u:
                    rows[shared] = i
                    shared += 1
            for i in rows[:shared]:
                if shared > common[i, last]:
                    _enter(nodes[u], shared, found[i], common[i])


@kernel
def _enter(node: int, shared: int, found: Nodes, common: Counts) -> None:
    """Enter a node in the row of one subscription, which is descending by common topics."""
    at = len(found) - 1
    while at and common[at - 1] < shared:
        found[at], common[at] = found[at - 1], common[at - 1]
        at -= 1
    found[at], common[at] = node, shared
