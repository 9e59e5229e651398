"""Dual values that are equal on all topics: a bound from counts of the pairs of nodes with many common topics."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ....heuristics.compiled import kernel
from ....instances.contract.arrays import Ids, Offsets

Links = npt.NDArray[np.int64]

DROPPED = 2**40
"""More links than a topic has subscribers: the topic leaves the bound."""


@kernel
def count_links(first: Ids, offsets: Offsets, ranks: Ids, most: int, steps: int, links: Links) -> None:
    """Count, for each topic, the pairs of nodes in which it must be united for no edge to contribute more than `most`.

    A pair of nodes with m > `most` common topics is counted for the m − `most` of them that have most subscribers. If
    each such topic t has one component fewer for every pair counted for it, every edge contributes at most `most`.
    The components of t are then at least |V_t| − links[t], and at least one, so that

        Σ_t max(0, |V_t| − 1 − links[t]) ÷ most

    is a lower bound on the edges of a topic-connected overlay: 1 ÷ `most` on the partition inequality of each topic is
    a feasible dual solution.

    Parameters
    ----------
    first : int32 array, ascending
        Every pair is found at its rarest common topic. A row is a node with a topic at which its pairs are sought: one
        row for every topic but its `most` last ones.
    offsets, ranks : arrays
        The topics of the node of each row, ascending: numbered so that rarer topics come first.
    most : int
        At least 1.
    steps : int
        A topic at which more than this many comparisons are needed is dropped from the bound.
    links : int64 array, shape (|T|,)
        The counts are added to it.

    Notes
    -----
    The search by rarest common topic is the prefix filter of Chaudhuri, Ganti and Kaushik 2006, the argument that of
    dual fitting (P1 Lemma 6.5). Time O(Σ_{t, t'} |V_t ∩ V_t'|²) over pairs of topics, memory O(rows).

    References
    ----------
    doi:10.1109/ICDE.2006.9
    """
    size, start, following = (
        np.zeros(len(links), np.int64),
        np.zeros(len(links), np.int64),
        np.zeros(len(links), np.int64),
    )
    a = 0
    while a < len(first):
        b, topic = a, first[a]
        while b < len(first) and first[b] == topic:
            b += 1
        for i in range(offsets[a], offsets[b]):
            size[ranks[i]] += ranks[i] > topic
        work, filled = 0, 0
        for i in range(offsets[a], offsets[b]):
            t = ranks[i]
            work += size[t]
            if size[t] and following[t] == 0:
                start[t], following[t] = filled, filled + 1
                filled += size[t]
        if work > steps:
            links[topic] = DROPPED
        else:
            members = np.empty(filled, np.int64)
            for t in ranks[offsets[a] : offsets[b]]:
                following[t] = start[t]
            for row in range(a, b):
                for i in range(offsets[row], offsets[row + 1]):
                    if ranks[i] > topic:
                        members[following[ranks[i]]] = row
                        following[ranks[i]] += 1
            for t in ranks[offsets[a] : offsets[b]]:
                following[t] = start[t]
            _count_group(a, b, topic, offsets, ranks, most, size, start, following, members, links)
        for t in ranks[offsets[a] : offsets[b]]:
            size[t] = start[t] = following[t] = 0
        a = b


@kernel
def _count_group(
    a: int,
    b: int,
    topic: int,
    offsets: Offsets,
    ranks: Ids,
    most: int,
    size: Links,
    start: Links,
    following: Links,
    members: Links,
    links: Links,
) -> None:
    """The pairs among rows a … b − 1, whose nodes have the topic; `members` lists the rows of each later topic."""
    count, seen = np.zeros(b - a, np.int64), np.empty(b - a, np.int64)
    for row in range(a, b):
        num = 0
        for i in range(offsets[row], offsets[row + 1]):
            t = ranks[i]
            if t > topic:
                following[t] += 1
                for other in members[following[t] : start[t] + size[t]]:
                    if count[other - a] == 0:
                        seen[num] = other
                        num += 1
                    count[other - a] += 1
        for other in seen[:num]:
            common, count[other - a] = count[other - a] + 1, 0
            if common <= most:
                continue
            i, j = offsets[row], offsets[other]
            while ranks[i] != ranks[j]:
                if ranks[i] < ranks[j]:
                    i += 1
                else:
                    j += 1
            if ranks[i] != topic:
                continue  # found at that rarer topic
            i, j = offsets[row + 1] - 1, offsets[other + 1] - 1
            while common > most:
                if ranks[i] == ranks[j]:
                    links[ranks[i]] += 1
                    common -= 1
                    i, j = i - 1, j - 1
                elif ranks[i] > ranks[j]:
                    i -= 1
                else:
                    j -= 1
