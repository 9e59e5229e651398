"""The primary network: a tree of brokers with link delays and uplink capacities (P5 §3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from ..arrays import Ids, Offsets, frozen
from ..errors import BadInput

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
        Microseconds over each link, the same both ways.
    uplinks : int64 array, shape (n,)
        Publications a second that a broker can send, over all its links together; 0 means no cap.
    labels : sequence of str, optional
        Names; by default ``b0, b1, …``.

    Raises
    ------
    BadInput
        If the links are no tree on the brokers (saying where), or a delay or capacity is negative.
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
        if len(delays) != len(links):
            raise BadInput(f"{len(delays)} delays for {len(links)} primary links: give one each")
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
            raise BadInput(f"a primary link ends outside the brokers 0…{size - 1}")
        count, part = connected_components(self._adjacency, directed=False)
        if count > 1:
            apart = self.label(int(np.flatnonzero(part != part[0])[0]))
            raise BadInput(f"the primary network is no tree: no path from '{self.label(0)}' to '{apart}': add a link")
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
        pairs = [(min(u, v), max(u, v)) for u, v in links]
        given = list(delays) if delays is not None else [DELAY] * len(pairs)
        if len(given) != len(pairs):
            raise BadInput(f"{len(given)} delays for {len(pairs)} primary links: give one each")
        for u, v in pairs:
            if u == v or pairs.count((u, v)) > 1:
                raise BadInput(f"primary link {u}-{v} is a loop or stands twice: remove it")
        order = sorted(range(len(pairs)), key=lambda i: pairs[i])
        caps = list(uplinks) if uplinks is not None else [UNCAPPED] * num_brokers
        if len(caps) != num_brokers:
            raise BadInput(f"{len(caps)} uplinks for {num_brokers} brokers: give one each")
        return cls(
            np.array([pairs[i] for i in order], dtype=np.int64),
            np.array([given[i] for i in order], dtype=np.int64),
            np.array(caps, dtype=np.int64),
            labels,
        )

    @property
    def num_brokers(self) -> int:
        """N."""
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
        """The primary neighbours of each broker, rising."""
        matrix = self._adjacency
        ends = np.split(matrix.indices, matrix.indptr[1:-1])
        return tuple(np.sort(each).astype(np.int32) for each in ends)

    @cached_property
    def next_hops(self) -> npt.NDArray[np.int32]:
        """The neighbour of u on the path to v, shape (n, n); u itself at v = u. Cost O(n²)."""
        hops = np.empty((self.num_brokers, self.num_brokers), dtype=np.int32)
        for v, (_, before) in enumerate(self._searches):
            hops[:, v] = before
            hops[v, v] = v
        return hops

    @cached_property
    def distances(self) -> npt.NDArray[np.int32]:
        """Primary hops between any two brokers, shape (n, n). Cost O(n²)."""
        far = np.zeros((self.num_brokers, self.num_brokers), dtype=np.int32)
        for v, (order, before) in enumerate(self._searches):
            for u in order[1:].tolist():
                far[u, v] = far[before[u], v] + 1
        return far

    @cached_property
    def path_delays(self) -> npt.NDArray[np.int64]:
        """Microseconds over the primary path between any two brokers, shape (n, n). Cost O(n²)."""
        size = self.num_brokers
        one = np.zeros((size, size), dtype=np.int64)
        one[self.links[:, 0], self.links[:, 1]] = one[self.links[:, 1], self.links[:, 0]] = self.delays
        delay = np.zeros((size, size), dtype=np.int64)
        for v, (order, before) in enumerate(self._searches):
            for u in order[1:].tolist():
                delay[u, v] = delay[before[u], v] + one[u, before[u]]
        return delay

    @cached_property
    def _searches(self) -> list[tuple[Ids, Ids]]:
        return [breadth_first_order(self._adjacency, v, directed=False) for v in range(self.num_brokers)]

    @cached_property
    def _adjacency(self) -> sp.csr_array:
        u, v = self.links.T
        ones = np.ones(2 * len(u), dtype=np.int8)
        ends = (np.concatenate([u, v]), np.concatenate([v, u]))
        return sp.csr_array(sp.coo_array((ones, ends), shape=(self.num_brokers, self.num_brokers)))

    def __reduce__(self) -> tuple[Any, ...]:
        return BrokerTree, (self.links, self.delays, self.uplinks, self.labels)
