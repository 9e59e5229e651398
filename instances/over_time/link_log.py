"""The answer to a trace: when which links of the overlay are added and removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Ids, Offsets, edge_keys, frozen
from ..contract.errors import BadInput
from ..contract.overlay import Overlay
from ..contract.shown import Drawn, facts
from ..contract.time_units import SECOND
from .trace import LEAVE, TopicTrace

Change = tuple[int, int, int, bool]
"""The time in microseconds, the two ends, and whether the link is added (else removed)."""
Link = tuple[int, int]


class Moment(NamedTuple):
    """The links at a time in microseconds, the new links among them, and the links removed since the moment before."""

    time: int
    links: Set[Link]
    added: Set[Link]
    gone: Set[Link]


@dataclass(frozen=True, eq=False)
class LinkLog(Drawn):
    """The changes of an overlay over time, in the order of their times and, at one time, of their links.

    The changes at the start of the trace are the first overlay. What is changed at the time of an event comes after the
    event. The links of a node that leaves or crashes vanish by themselves: they are not among the changes. Raises
    BadInput if the changes are out of order, or a link is no pair of two nodes or changes twice at one time.

    Parameters
    ----------
    num_nodes : int
        |V| of the trace.
    times : int64 array, shape (k,)
        In microseconds, as in the trace.
    links : int32 array, shape (k, 2)
        The ends u < v.
    added : int32 array, shape (k,)
        1 for a link that is added, 0 for one that is removed.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.LinkLog.of(3, [(0, 0, 1, True), (2_000_000, 1, 2, True), (2_000_000, 1, 0, False)])
    LinkLog(3 nodes, 2 links added, 1 removed)
    """

    num_nodes: int
    times: Offsets
    links: Ids
    added: Ids

    def __post_init__(self) -> None:
        links = np.asarray(self.links)
        self._set(
            times=frozen(self.times, np.int64),
            links=frozen(links if links.size else np.empty((0, 2)), np.int32),
            added=frozen(self.added, np.int32),
        )
        if self.links.shape != (len(self.times), 2) or self.added.shape != self.times.shape:
            raise BadInput("a log needs one time, one pair of nodes and one sign for each change")
        outside = (self.links[:, 0] < 0) | (self.links[:, 0] >= self.links[:, 1]) | (self.links[:, 1] >= self.num_nodes)
        for at in np.flatnonzero(outside | (self.added < 0) | (self.added > 1)).tolist():
            raise BadInput(f"change {at}: its link must be u < v within 0…{self.num_nodes - 1}, its sign 0 or 1")
        order = np.lexsort((self.links[:, 1], self.links[:, 0], self.times))
        keys = np.column_stack([self.times, self.links])[order]
        if (order != np.arange(len(order))).any() or (np.diff(keys, axis=0) == 0).all(axis=1).any():
            raise BadInput(
                "the changes must be in the order of time and link, each link at most once a time: sort them"
            )

    @classmethod
    def of(cls, num_nodes: int, changes: Iterable[Change]) -> LinkLog:
        """Build from changes in any order and direction."""
        rows = np.array([(time, u, v, added) for time, u, v, added in changes], np.int64).reshape(-1, 4)
        return cls.from_arrays(num_nodes, rows[:, 0], rows[:, 1:3], rows[:, 3])

    @classmethod
    def from_arrays(
        cls, num_nodes: int, times: Offsets, links: npt.NDArray[np.integer], added: npt.NDArray[np.integer]
    ) -> LinkLog:
        """Build from arrays of changes in any order and direction."""
        low, high = links.min(axis=1, initial=2**31), links.max(axis=1, initial=-1)
        order = np.lexsort((high, low, times))
        return cls(
            num_nodes, times[order], np.column_stack([low, high])[order].astype(np.int32), added[order].astype(np.int32)
        )

    @classmethod
    def from_overlays(cls, trace: TopicTrace, overlays: Iterable[Overlay]) -> LinkLog:
        """The log that has one overlay after each step of a trace. Cost O(|E| log |E|) a step."""
        n, parts = trace.num_nodes, list[npt.NDArray[np.int64]]()
        before: npt.NDArray[np.int64] = np.empty(0, np.int64)
        gone_at = trace.step_of[trace.kinds >= LEAVE], trace.nodes[trace.kinds >= LEAVE]
        for step, (time, overlay) in enumerate(zip(trace.step_times.tolist(), overlays, strict=True)):
            gone = gone_at[1][gone_at[0] == step]
            kept = before[~(np.isin(before // n, gone) | np.isin(before % n, gone))]
            before = edge_keys(overlay.edges, n)
            for keys, sign in ((np.setdiff1d(before, kept), 1), (np.setdiff1d(kept, before), 0)):
                parts.append(np.column_stack([np.full(len(keys), time), keys // n, keys % n, np.full(len(keys), sign)]))
        rows = np.concatenate(parts)
        return cls.from_arrays(n, rows[:, 0], rows[:, 1:3], rows[:, 3])

    @property
    def num_changes(self) -> int:
        """The number of links added and removed, the first overlay's among them."""
        return len(self.times)

    def at(self, time: int, departures: Iterable[tuple[int, int]] = ()) -> Overlay:
        """The overlay at a time in microseconds, after the changes of that time.

        Parameters
        ----------
        departures : iterable of (time, node)
            When nodes leave and crash (:meth:`.TopicTrace.departures`): their links vanish then.
        """
        links: Set[Link] = frozenset()
        for moment in self.moments(departures):
            if moment.time > time:
                break
            links = moment.links
        return Overlay.from_edges(self.num_nodes, sorted(links))

    def moments(self, departures: Iterable[tuple[int, int]] = (), times: Iterable[int] = ()) -> Iterator[Moment]:
        """The overlay at every time at which a link changes or a node departs, and at these `times`, in their order.

        Cost O(|E|) each.
        """
        rows = zip(self.times.tolist(), self.links.tolist(), self.added.tolist(), strict=True)
        given = [(int(when), 1, (u, v), int(sign)) for when, (u, v), sign in rows]
        given += [(when, 0, (node, node), 0) for when, node in departures] + [(at, 0, (-1, -1), 0) for at in times]
        links: Set[Link] = frozenset()
        for time, own in groupby(sorted(given), key=itemgetter(0)):
            before, now = links, set(links)
            for _, is_change, (u, v), sign in own:
                if not is_change:
                    now = {link for link in now if u not in link} if u >= 0 else now
                elif sign:
                    now.add((u, v))
                else:
                    now.discard((u, v))
            links = now
            yield Moment(time, links, links - before, before - links)

    def __repr__(self) -> str:
        added = int(self.added.sum())
        return f"LinkLog({self.num_nodes} nodes, {added} links added, {self.num_changes - added} removed)"

    def _repr_html_(self) -> str:
        added = int(self.added.sum())
        rows = {"nodes": self.num_nodes, "links added": added, "links removed": self.num_changes - added}
        return facts("LinkLog", {**rows, "seconds": np.ptp(self.times).item() / SECOND if self.num_changes else None})
