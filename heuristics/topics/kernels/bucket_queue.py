"""A priority queue of candidates in buckets, one for each level of gain."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ranks = npt.NDArray[np.int64]


class BucketQueue:
    """Ranks of candidates by a level that never rises (as in the LINKCONTRIB array of P1, Algorithm 1).

    A candidate may stay at an outdated, higher level until it is popped. The queue owns and sorts the arrays it is
    given.
    """

    def __init__(self) -> None:
        self._buckets: dict[int, list[Ranks]] = {}

    @property
    def top(self) -> int:
        """The highest level that is not empty; 0 if all are."""
        return max(self._buckets, default=0)

    def pop(self) -> Ranks:
        """Remove all candidates at the top level; returns them in ascending order of rank."""
        groups = self._buckets.pop(self.top)
        bucket = groups[0] if len(groups) == 1 else np.concatenate(groups)
        bucket.sort()
        return bucket

    def put(self, ranks: Ranks, level: int) -> None:
        """Add candidates at one level above 0."""
        if len(ranks):
            self._buckets.setdefault(level, []).append(ranks)

    def put_each(self, ranks: Ranks, levels: npt.NDArray[np.int32]) -> None:
        """Add each candidate at its own level above 0."""
        if not len(ranks):
            return
        order = np.argsort(levels, kind="stable")
        present, first = np.unique(levels[order], return_index=True)
        for level, group in zip(present.tolist(), np.split(ranks[order], first[1:]), strict=True):
            self.put(group, level)
