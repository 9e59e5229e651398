"""The nodes of the core that a part may need: for each subscription, those with most topics of its node in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...heuristics.compiled import kernel
from ...heuristics.topics.kernels.common_topics import BLOCK, block_of, sharing
from ...instances.contract.arrays import Ids, Offsets
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
    O(Σ_t |V_t|·|W_t|) for V_t and W_t in part and core, a 64th of it for frequent topics (:func:`.sharing`). Topics of
    more than a sixteenth of the part's nodes do not count for the search (a topic of 40% of all nodes would be seen in
    16% of all pairs), but for the number of common topics of the pairs it finds.
    """
    present, local, sizes = np.unique(part.topics, return_inverse=True, return_counts=True)
    number = np.full(int(present.max(initial=-1)) + 2, -1, np.int32)
    number[present] = np.arange(len(present))
    sought = np.where((sizes <= max(1, len(part.nodes) // _LARGEST_SHARE))[local], local, -1).astype(np.int32)
    found = np.full((len(local), candidates), NOBODY, np.int64)
    common, weakest = np.zeros(found.shape, np.int32), np.zeros(len(found), np.int32)
    first = np.full(len(present), NOBODY, np.int64)
    index = _Index(part.offsets, local.astype(np.int32), sought, len(present))
    for piece in core:
        topics = number[np.minimum(piece.topics, len(number) - 1)]
        earliest = np.full(len(present) + 1, NOBODY, np.int64)
        earliest[topics[::-1]] = np.repeat(piece.nodes, np.diff(piece.offsets))[::-1]
        first = np.where(first == NOBODY, earliest[:-1], first)
        for begin in range(0, len(part.nodes), BLOCK):
            _search(piece.nodes, piece.offsets, topics, index, begin, found, common, weakest)
    del common
    width, some = 1 + len(number), np.flatnonzero(first != NOBODY)
    rows = np.flatnonzero(found != NOBODY)
    keys = found.ravel()[rows]
    del found
    keys = keys * width + part.topics[rows // candidates]
    nodes, topics = np.divmod(np.unique(np.concatenate([keys, first[some] * width + present[some]])), width)
    distinct, starts = np.unique(nodes, return_index=True)
    return Subscriptions(distinct, np.append(starts, len(nodes)), topics.astype(np.int32))


class _Index(NamedTuple):
    """The nodes of a part with their topics, which are numbered 0, 1, … here."""

    offsets: Offsets
    topics: Ids
    sought: Ids  # -1 in place of the topics that do not count for the search
    num_topics: int


@kernel
def _search(
    nodes: Nodes, offsets: Offsets, topics: Ids, part: _Index, begin: int, found: Nodes, common: Counts, weakest: Counts
) -> None:
    """Compare the nodes of a piece of the core with a block of the part's, from the one at `begin` on."""
    members = np.arange(begin, min(begin + BLOCK, len(part.offsets) - 1), dtype=np.int32)
    block = block_of(members, part.offsets, part.sought, part.num_topics)
    counts = np.zeros((2, (len(members) + 63) // 64), np.int64)
    here, listed = np.zeros(part.num_topics + 1, np.bool_), np.empty(len(members), np.int32)
    rows = np.empty(np.diff(part.offsets[begin : begin + len(members) + 1]).max() + 1, np.int64)
    for u in range(len(nodes)):
        mine = topics[offsets[u] : offsets[u + 1]]
        many = sharing(mine, block, counts, listed)
        if not many:
            continue
        here[mine] = True
        here[-1] = False
        for v in members[listed[:many]]:
            shared = 0
            for i in range(part.offsets[v], part.offsets[v + 1]):
                rows[shared] = i
                shared += here[part.topics[i]]
            for i in rows[:shared]:
                if shared > weakest[i]:
                    _enter(nodes[u], shared, i, found, common)
                    weakest[i] = common[i, -1]
        here[mine] = False


@kernel
def _enter(node: int, shared: int, row: int, found: Nodes, common: Counts) -> None:
    """Enter a node in the row of one subscription, which is descending by common topics."""
    at = found.shape[1] - 1
    while at and common[row, at - 1] < shared:
        found[row, at], common[row, at] = found[row, at - 1], common[row, at - 1]
        at -= 1
    found[row, at], common[row, at] = node, shared
