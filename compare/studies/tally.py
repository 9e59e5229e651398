"""How far a study is, by the logs in its results folder."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from .row import from_line
from .run_log import lines_from
from .store import Store
from .study import expected_seconds

_LEAST_SECONDS = 0.005  # of a run, beside solving


class Tally:
    """Counts the runs that are logged from now on; an update costs reading what is new.

    Parameters
    ----------
    store : Store
    planned : mapping
        How many runs there are to do, by the seconds that are expected of each.

    Attributes
    ----------
    done, failed : int
        Runs since the tally was created.
    """

    def __init__(self, store: Store, planned: Mapping[float, int]) -> None:
        self._store, self._planned = store, planned
        self._read = {log.name: log.stat().st_size for log in store.logs()}
        self.done = self.failed = 0
        self._done: Counter[float] = Counter()
        self._seconds: dict[float, float] = defaultdict(float)

    @property
    def share(self) -> float:
        """The share of the work that is done; a remaining run counts with the mean of those like it, or as expected."""
        spent, left = sum(self._seconds.values()), 0.0
        for expected, runs in self._planned.items():
            done = self._done[expected]
            left += max(0, runs - done) * (self._seconds[expected] / done if done else expected)
        return spent / (spent + left) if spent else 0.0

    def update(self) -> None:
        """Count what was logged since the last update."""
        for log in self._store.logs():
            try:
                for line in lines_from(log, self._read.get(log.name, 0)):
                    if line.endswith(b"\n"):
                        self._read[log.name] = self._read.get(log.name, 0) + len(line)
                        self._count(line)
            except FileNotFoundError:  # merged meanwhile
                continue

    def _count(self, line: bytes) -> None:
        try:
            row = from_line(line)
        except (ValueError, KeyError, TypeError):
            return
        self.done += 1
        self.failed += row["status"] == "failed"
        expected = expected_seconds(row["exact"], row["time_limit"])
        self._done[expected] += 1
        self._seconds[expected] += max(_LEAST_SECONDS, row["seconds"])  # may be NaN
