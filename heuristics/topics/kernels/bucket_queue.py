"""Candidates waiting in buckets, one for each gain they were last known to have."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Priorities = npt.NDArray[np.int64]


class BucketQueue:
    """Priorities of candidates, by a level that never rises (as in the LINKCONTRIB array of P1, Algorithm 1).

    A candidate may wait at the level it had when it was last looked at: nothing is moved when others are taken. The
    arrays put in belong to the queue, which sorts them.
    """

    def __init__(self) -> None:
        self._buckets: dict[int, list[Priorities]] = {}

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
