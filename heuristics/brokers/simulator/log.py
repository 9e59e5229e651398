"""What an observer of the simulation writes down; no broker sees it."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids
from .messages import Entries

NEVER = 2**62
_SECOND = 1_000_000


@dataclass
class Issued:
    """Subscriptions that a broker issued together, and their times in microseconds.

    Attributes
    ----------
    started, settled : int
        When the coordinator let them start, and when every broker had confirmed them.
    ended : int
        When their end started to spread.
    """

    broker: int
    entries: Entries
    started: int = NEVER
    settled: int = NEVER
    ended: int = NEVER


@dataclass
class Log:
    """The log of one simulation.

    Attributes
    ----------
    publication, sender, receiver, time, local : array
        One entry for each copy processed: its publication, who sent it (-1 for a client), who processed it, when, and
        how many local subscriptions matched.
    published, completed : int64 arrays, shape (P,)
        When a publication was published, and when its last copy was processed; NEVER if not.
    under_way : int64 array, shape (P,)
        Its copies that are under way.
    lost : set of int
        Publications of which a broker that crashed for good, or left, had a copy.
    control_bytes, publication_bytes : mapping of second to int
        Sent between brokers.
    control_by_kind : mapping of message to bytes
    """

    published: npt.NDArray[np.int64]
    completed: npt.NDArray[np.int64]
    under_way: npt.NDArray[np.int64]
    publication: array[int] = field(default_factory=lambda: array("i"))
    sender: array[int] = field(default_factory=lambda: array("i"))
    receiver: array[int] = field(default_factory=lambda: array("i"))
    time: array[int] = field(default_factory=lambda: array("q"))
    local: array[int] = field(default_factory=lambda: array("i"))
    lost: set[int] = field(default_factory=set)
    issued: list[Issued] = field(default_factory=list)
    crashed: dict[int, int] = field(default_factory=dict)
    control_bytes: Counter[int] = field(default_factory=Counter)
    publication_bytes: Counter[int] = field(default_factory=Counter)
    control_by_kind: Counter[str] = field(default_factory=Counter)
    evaluations: int = 0
    longest_queue: int = 0
    bypassed: int = 0

    @classmethod
    def of(cls, publications: int) -> Log:
        """An empty log."""
        never = np.full((2, publications), NEVER, dtype=np.int64)
        return cls(never[0], never[1], np.zeros(publications, dtype=np.int64))

    def processed(self, publication: int, sender: int, receiver: int, time: int, local: int) -> None:
        """Note a copy that was processed."""
        self.publication.append(publication)
        self.sender.append(sender)
        self.receiver.append(receiver)
        self.time.append(time)
        self.local.append(local)

    def copies(self, publication: int, change: int, time: int) -> None:
        """Note that copies came or went."""
        self.under_way[publication] += change
        if not self.under_way[publication]:
            self.completed[publication] = time

    def messages(self) -> npt.NDArray[np.int64]:
        """Rows (publication, sender, receiver, time, local) of the copies that brokers sent, in order of processing."""
        columns = (self.publication, self.sender, self.receiver, self.time, self.local)
        rows = np.column_stack([np.array(each, dtype=np.int64) for each in columns])
        return rows[rows[:, 1] >= 0]

    def subscriptions(self) -> tuple[Ids, Ids, Ids, npt.NDArray[np.int64]]:
        """The brokers, bounds and times (started, settled, ended) of all subscriptions issued."""
        sizes = [len(each.entries.ids) for each in self.issued]
        brokers = np.repeat([each.broker for each in self.issued], sizes).astype(np.int32)
        lows, highs = (
            np.concatenate([getattr(each.entries, name) for each in self.issued]) for name in ("lows", "highs")
        )
        times = np.array([(each.started, each.settled, each.ended) for each in self.issued], dtype=np.int64)
        return brokers, lows, highs, np.repeat(times.reshape(-1, 3), sizes, axis=0)
