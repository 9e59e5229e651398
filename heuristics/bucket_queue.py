"""Candidates waiting in buckets, one for each contribution they were last known to have."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Priorities = npt.NDArray[np.int64]


class BucketQueue:
    """Priorities of candidates, by a level that never rises (the LINKCONTRIB array of P1, Algorithm 1).

    Contributions only fall while an overlay grows, so a candidate may wait at the level it had when it was last
    looked at: nothing is moved when an edge is added. The arrays put in belong to the queue, which sorts them.
    """

    def __init__(self, buckets: Mapping[int, Priorities] | None = None) -> None:
        self._buckets = {level: [priorities] for level, priorities in (buckets or {}).items() if len(priorities)}

    @property
    def top(self) -> int:
        """The highest level that is not empty; 0 if all are."""
        return max(self._buckets, default=0)

    def pop(self) -> Priorities:
        """Take everything at the top level, best first."""
        groups = self._buckets.pop(self.top)
        bucket = groups[0] if len(groups) == 1 else np.concatenate(groups)
        bucket.sort()
        return bucket

    def put(self, priorities: Priorities, level: int) -> None:
        """Let candidates wait at one level above 0."""
        if len(priorities):
            self._buckets.setdefault(level, []).append(priorities)

    def put_each(self, priorities: Priorities, levels: npt.NDArray[np.int32]) -> None:
        """Let each candidate wait at its own level above 0."""
        if not len(priorities):
            return
        order = np.argsort(levels, kind="stable")
        present, first = np.unique(levels[order], return_index=True)
        for level, group in zip(present.tolist(), np.split(priorities[order], first[1:]), strict=True):
            self.put(group, level)

    def remove(self, priorities: Priorities) -> None:
        """Take candidates out, wherever they wait, once for all. Cost O(P log R) for R of P candidates."""
        for level, groups in list(self._buckets.items()):
            left = [group[~np.isin(group, priorities)] for group in groups]
            self._buckets[level] = [group for group in left if len(group)]
            if not self._buckets[level]:
                del self._buckets[level]

    def absorb(self, other: BucketQueue) -> None:
        """Take over everything that waits in another queue."""
        for level, groups in other._buckets.items():
            self._buckets.setdefault(level, []).extend(groups)
        other._buckets.clear()
