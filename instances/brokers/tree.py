"""The primary network: a tree of brokers with link delays and uplink capacities (P5 §3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Ids, Offsets, frozen
from ..contract.errors import BadInput

DELAY = 1000
UNCAPPED = 0


@dataclass(frozen=True, eq=False)
class BrokerTree:
    """An immutable tree on brokers 0…n-1.

    Parameters
    ----------
    links : int32 array, shape (n - 1, 2)
        The primary links, each u < v, in lexicographic order. Build it from links in any order with :meth:`of`.
    delays : int64 array, shape (n - 1,)
        Delay of each link in microseconds, the same in both directions.
    uplinks : int64 array, shape (n,)
        Publications a second that a broker can send, over all its links together; 0 means no cap.
    labels : sequence of str, optional
        Names; by default ``b0, b1, …``.

    Raises
    ------
    BadInput
        If the links are no tree on the brokers, or a delay or capacity is negative.
    """

    links: Ids
    delays: Offsets
    uplinks: Offsets
    labels: Sequence[str] | None = None

    def __post_init__(self) -> None:
        links = frozen(np.asarray(self.links).reshape(-1, 2), np.int32)
        delays, uplinks = frozen(self.delays, np.int64), frozen(self.uplinks, np.int64)
        labels = None if self.labels is None else tuple(self.labels)
        if len(uplinks) < 1:
            raise BadInput("a network needs at least one broker")
        _check_delays(len(delays), len(links))
        if (delays < 0).any() or (uplinks < 0).any():
            raise BadInput("a delay or an uplink capacity is negative: give microseconds and publications a second")
        if labels is not None and (len(labels) != len(uplinks) or len(set(labels)) < len(labels) or "" in labels):
            raise BadInput(f"{len(uplinks)} brokers need {len(uplinks)} distinct labels, none of them empty")
        keys = links[:, 0].astype(np.int64) * len(uplinks) + links[:, 1]
        if (links[:, 0] >= links[:, 1]).any() or (np.diff(keys) <= 0).any():
            raise BadInput("primary links must be distinct, each u < v, in lexicographic order")
        for name, value in (("links", links), ("delays", delays), ("uplinks", uplinks), ("labels", labels)):
            object.__setattr__(self, name, value)
        self._check_tree()

    def _check_tree(self) -> None:
        size = self.num_brokers
        if self.links.size and (self.links.min() < 0 or self.links.max() >= size):
            raise BadInput(f"a primary link has an end outside the brokers 0…{size - 1}")
        if apart := sorted(set(range(size)) - set(self._parents)):
            ends = f"'{self.label(0)}' to '{self.label(apart[0])}'"
            raise BadInput(f"the primary network is no tree: no path from {ends}: add a link")
        if len(self.links) != size - 1:
            raise BadInput(
                f"the primary network is no tree: {len(self.links)} links on {size} brokers close a cycle: "
                f"keep {size - 1}"
            )

    @classmethod
    def of(
        cls,
        num_brokers: int,
        links: Iterable[tuple[int, int]],
        *,
        delays: Iterable[int] | None = None,
        uplinks: Iterable[int] | None = None,
        labels: Sequence[str] | None = None,
    ) -> BrokerTree:
        """Build from links in any order and direction; by default 1 ms each, and no uplink is capped."""
        pairs: npt.NDArray[Any] = np.sort(np.array(list(links), dtype=np.int64).reshape(-1, 2), axis=1)
        each = np.array([DELAY] * len(pairs) if delays is None else list(delays), dtype=np.int64)
        caps = np.array([UNCAPPED] * num_brokers if uplinks is None else list(uplinks), dtype=np.int64)
        _check_delays(len(each), len(pairs))
        if len(caps) != num_brokers:
            raise BadInput(f"{len(caps)} uplinks for {num_brokers} brokers: give one each")
        order = np.lexsort(pairs.T[::-1])
        return cls(pairs[order], each[order], caps, labels)

    def __repr__(self) -> str:
        return f"BrokerTree({self.num_brokers} brokers)"

    @property
    def num_brokers(self) -> int:
        """The number of brokers."""
        return len(self.uplinks)

    def label(self, broker: int) -> str:
        """The name of a broker."""
        return self.labels[broker] if self.labels is not None else f"b{broker}"

    @cached_property
    def degrees(self) -> npt.NDArray[np.int64]:
        """Primary links of each broker, shape (n,)."""
        return np.bincount(self.links.ravel(), minlength=self.num_brokers)

    @cached_property
    def neighbours(self) -> tuple[Ids, ...]:
        """The primary neighbours of each broker, in ascending order."""
        start, end = np.concatenate([self.links, self.links[:, ::-1]]).T
        return tuple(np.split(end[np.lexsort((end, start))], np.cumsum(self.degrees)[:-1]))

    @cached_property
    def next_hops(self) -> npt.NDArray[np.int32]:
        """The neighbour of u on the path to v, shape (n, n); u itself at v = u. Cost O(n²)."""
        hops = np.diag(np.arange(self.num_brokers, dtype=np.int32))
        for v, parent, earlier in self._attachments():
            hops[earlier, v] = hops[earlier, parent]
            hops[parent, v] = v
            hops[v, earlier] = parent
        return hops

    @cached_property
    def distances(self) -> npt.NDArray[np.int32]:
        """Primary hops between any two brokers, shape (n, n). Cost O(n²)."""
        return self._path_sums(np.ones(len(self.links), dtype=np.int32))

    @cached_property
    def path_delays(self) -> npt.NDArray[np.int64]:
        """Microseconds over the primary path between any two brokers, shape (n, n). Cost O(n²)."""
        return self._path_sums(self.delays)

    def _path_sums(self, weights: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The sum of the weights of the links on the path between any two brokers."""
        of_link = {(u, v): weight for (u, v), weight in zip(self.links.tolist(), weights.tolist(), strict=True)}
        sums = np.zeros((self.num_brokers, self.num_brokers), dtype=weights.dtype)
        for v, parent, earlier in self._attachments():
            sums[v, earlier] = sums[earlier, v] = sums[parent, earlier] + of_link[min(v, parent), max(v, parent)]
        return sums

    def _attachments(self) -> Iterator[tuple[int, int, list[int]]]:
        """Each broker but 0 with its parent and all brokers visited earlier."""
        order = list(self._parents)
        return ((v, self._parents[v], order[:index]) for index, v in enumerate(order) if index)

    @cached_property
    def _parents(self) -> dict[int, int]:
        """The parent of each broker that is reachable from broker 0, breadth first; 0 is its own."""
        parents, queue = {0: 0}, [0]
        for u in queue:
            for v in self.neighbours[u].tolist():
                if v not in parents:
                    parents[v] = u
                    queue.append(v)
        return parents

    def __reduce__(self) -> tuple[Any, ...]:
        return BrokerTree, (self.links, self.delays, self.uplinks, self.labels)


def _check_delays(delays: int, links: int) -> None:
    if delays != links:
        raise BadInput(f"{delays} delays for {links} primary links: give one each")
