"""Links in which topics must be united for no edge to contribute much: what a bound on edges counts on Spark."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...instances.contract.arrays import Ids, Offsets
from ...instances.runtime.compiled import kernel

Links = npt.NDArray[np.int64]

DROPPED = 2**40
"""More links than a topic has subscribers: the topic leaves the bound."""


@kernel
def count_excess_links(first: Ids, offsets: Offsets, ranks: Ids, most: int, steps: int, links: Links) -> None:
    """Count, for each topic, the pairs of nodes in which it must be united for no edge to contribute more than `most`.

    A pair of nodes with m > `most` ≥ 1 common topics is counted for the m − `most` of them that have most subscribers.
    If each such topic t has one component fewer for every pair counted for it, every edge contributes at most `most`.
    Σ_t max(0, |V_t| − 1 − links[t]) ÷ most is then a lower bound on the edges of a topic-connected overlay.

    A row is a node with a topic, `first`, int32 and rising, at which its pairs are sought: one row for every topic but
    its `most` last ones, as every pair is found at its rarest common topic. The node's topics are
    ``ranks[offsets[row]:offsets[row + 1]]``, rising: numbered so that rarer topics come first. A topic at which more
    than `steps` comparisons are needed is dropped from the bound. The counts are added to `links`, shape (|T|,).

    The search by rarest common topic is the prefix filter of Chaudhuri, Ganti and Kaushik 2006
    (doi:10.1109/ICDE.2006.9), the argument that of dual fitting (P1 Lemma 6.5). Time O(Σ_{t, t'} |V_t ∩ V_t'|²) over
    pairs of topics, memory O(rows).
    """
    size, start, following = np.zeros_like(links), np.zeros_like(links), np.zeros_like(links)
    a = 0
    while a < len(first):
        b, topic = a, first[a]
        while b < len(first) and first[b] == topic:
            b += 1
        for i in range(offsets[a], offsets[b]):
            size[ranks[i]] += ranks[i] > topic
        # A counting sort: `members` gets the rows of the group under each of their further topics.
        work, filled = 0, 0
        for i in range(offsets[a], offsets[b]):
            t = ranks[i]
            work += size[t]
            if size[t] and following[t] == 0:
                start[t], following[t] = filled, filled + 1
                filled += size[t]
        if work > steps:
            # Without all of its pairs a count would be too small, and the bound too large.
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
            # Only what was touched: the arrays are as long as there are topics.
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
