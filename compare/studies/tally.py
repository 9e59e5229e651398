"""How far a study is, told by its results folder alone: the logs as they grow."""

from __future__ import annotations

from compare.studies.row import from_line
from compare.studies.run_log import lines_from
from compare.studies.store import Store
from compare.studies.study import expected_seconds


class Tally:
    """Counts the runs that are logged from now on, at the cost of reading what is new.

    Attributes
    ----------
    done, failed : int
        Runs since the tally was made.
    spent : float
        The seconds that were expected of those done.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read = {log.name: log.stat().st_size for log in store.logs()}
        self.done = self.failed = 0
        self.spent = 0.0

    def update(self) -> None:
        """Count what was logged since the last time."""
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
        self.spent += expected_seconds(row["exact"], row["time_limit"])
