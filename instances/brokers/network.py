"""A broker network (P5): the primary tree, its subscriptions and publications, and the limits on soft links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Ids, Offsets, ReadOnly, connected_components, frozen, offsets_of, ordered_edges
from ..contract.errors import BadInput
from ..contract.files import distinct_labels
from ..contract.shown import Digested, circle
from .predicates import Publications, Subscriptions, matching_brokers

if TYPE_CHECKING:
    import networkx as nx


FORMAT = "brokers/1"
DELAY = 1000
UNCAPPED = 0
_TINY = 200


@dataclass(frozen=True, eq=False)
class BrokerTree(ReadOnly):
    """An immutable tree on brokers 0…n-1; :meth:`of` takes links in any order.

    Raises BadInput for another graph, and for negative delays or capacities.
    """

    links: Ids  # shape (n - 1, 2), the primary links, each u < v, in lexicographic order
    delays: Offsets  # of each link in microseconds, the same in both directions
    uplinks: Offsets  # publications a second that a broker can send, over all its links together; 0 for no cap
    labels: Sequence[str] | None = None  # by default b0, b1, …

    def __post_init__(self) -> None:
        delays, uplinks = frozen(self.delays, np.int64), frozen(self.uplinks, np.int64)
        labels = distinct_labels(self.labels, len(uplinks), "broker")
        if len(uplinks) < 1:
            raise BadInput("a network needs at least one broker")
        links = ordered_edges(np.asarray(self.links).reshape(-1, 2), len(uplinks), "primary link")
        if len(delays) != len(links):
            raise BadInput(f"{len(delays)} delays for {len(links)} primary links: give one each")
        if (delays < 0).any() or (uplinks < 0).any():
            raise BadInput("a delay or an uplink capacity is negative: give microseconds and publications a second")
        self._set(links=links, delays=delays, uplinks=uplinks, labels=labels)
        self._check_tree()

    def _check_tree(self) -> None:
        size = self.num_brokers
        root = connected_components(size, *self.links.T.astype(np.int64))
        if apart := np.flatnonzero(root).tolist():
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
        if (len(each), len(caps)) != (len(pairs), num_brokers):
            raise BadInput(f"{len(each)} delays and {len(caps)} uplinks: give one each link and broker")
        order = np.lexsort(pairs.T[::-1])
        return cls(pairs[order], each[order], caps, labels)

    def __repr__(self) -> str:
        return f"BrokerTree({self.num_brokers} brokers)"

    @property
    def num_brokers(self) -> int:
        return len(self.uplinks)

    def label(self, broker: int) -> str:
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
        """The neighbour of u on the path to v, shape (n, n); u itself at v = u. Cost O(n² log n), as for the others."""
        hops: npt.NDArray[np.int32] = self._paths(np.ones(len(self.links)))[1].T.astype(np.int32, order="C")
        np.fill_diagonal(hops, np.arange(self.num_brokers))
        return hops

    @cached_property
    def distances(self) -> npt.NDArray[np.int32]:
        """Primary hops between any two brokers, shape (n, n)."""
        return self._paths(np.ones(len(self.links)))[0].astype(np.int32)

    @cached_property
    def path_delays(self) -> npt.NDArray[np.int64]:
        """Microseconds over the primary path between any two brokers, shape (n, n)."""
        return self._paths(self.delays)[0].astype(np.int64)

    def _paths(self, weights: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The length of the path between any two brokers, and the broker before its second end."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        shape = self.num_brokers, self.num_brokers
        graph = csr_array((weights.astype(np.float64), tuple(self.links.T)), shape=shape)
        lengths, before = dijkstra(graph, directed=False, return_predecessors=True)
        return lengths, before


@dataclass(frozen=True, eq=False, repr=False)
class BrokerNetwork(Digested):
    """A primary network with its traffic and the limits on soft links (P5 §3, §6).

    Raises BadInput if a limit is out of range, a broker is unknown, or subscriptions and publications differ in
    attributes.

    Parameters
    ----------
    tree : BrokerTree
    subscriptions : Subscriptions
    publications : Publications
    radius : int
        Δ ≥ 1: a soft link joins brokers at most Δ primary hops apart.
    fanout : int
        The most primary and soft links that a broker may send over; at least its primary degree.
    attributes : tuple of str
        Their names.

    Examples
    --------
    >>> import overlaybench as ob
    >>> network = ob.generate("brokers-sparse", brokers=12, seed=1)
    >>> network.num_brokers, network.tree.num_brokers, network.to_networkx().number_of_edges()
    (12, 12, 11)
    """

    tree: BrokerTree
    subscriptions: Subscriptions
    publications: Publications
    radius: int = 4
    fanout: int = 35
    attributes: tuple[str, ...] = ()

    @property
    def is_tiny(self) -> bool:
        return self.num_brokers * len(self.publications) <= _TINY

    def trial(self) -> BrokerNetwork:
        # Links are profiled, promoted and dropped.
        tree = BrokerTree.of(6, [(v, v + 1) for v in range(5)], uplinks=[1] * 6)
        subscriptions = Subscriptions(np.array([3, 4, 5]), np.array([[0], [1], [0]]), np.array([[0], [1], [1]]))
        times = np.arange(4) * 400_000
        publications = Publications(times, np.zeros(4, dtype=np.int32), np.array([[0], [1], [1], [0]]))
        return BrokerNetwork(tree, subscriptions, publications, radius=4, fanout=3)

    def __post_init__(self) -> None:
        if self.radius < 1:
            raise BadInput(f"the radius Δ is {self.radius}: give at least 1")
        if self.fanout < (most := int(self.tree.degrees.max())):
            broker = self.tree.label(int(self.tree.degrees.argmax()))
            raise BadInput(
                f"the fanout {self.fanout} is below the {most} primary links of broker '{broker}': give at least {most}"
            )
        count = self.subscriptions.lows.shape[1]
        names = tuple(self.attributes) or tuple(f"a{k}" for k in range(count))
        if self.publications.values.shape[1] != count or len(names) != count or len(set(names)) < count:
            raise BadInput(
                f"{count} attributes of subscriptions, {self.publications.values.shape[1]} of publications, "
                f"{len(set(names))} distinct names: give as many of each"
            )
        for what, brokers in (("subscription", self.subscriptions.brokers), ("publication", self.publications.sources)):
            for k in np.flatnonzero((brokers < 0) | (brokers >= self.num_brokers)):
                raise BadInput(f"{what} {k}: no broker {brokers[k]}: give 0…{self.num_brokers - 1}")
        self._set(attributes=names)

    @property
    def num_brokers(self) -> int:
        """The number of brokers."""
        return self.tree.num_brokers

    @cached_property
    def matching(self) -> tuple[Offsets, Ids]:
        """The brokers with a matching subscription, for each publication: :func:`matching_brokers`."""
        return matching_brokers(self.subscriptions, self.publications, self.num_brokers)

    @cached_property
    def destinations(self) -> tuple[Offsets, Ids]:
        """The brokers that each publication must be sent to, as in `matching`: all but its source."""
        offsets, brokers = self.matching
        of = np.repeat(np.arange(len(self.publications)), np.diff(offsets))
        remote = brokers != self.publications.sources[of]
        return frozen(offsets_of(of[remote], len(self.publications)), np.int64), frozen(brokers[remote], np.int32)

    @property
    def num_deliveries(self) -> int:
        """Publications that arrive at brokers with matching subscriptions: the same in every valid answer."""
        return len(self.destinations[1])

    def allowed_links(self) -> Ids:
        """Every possible soft link: the ordered pairs (u, v) at primary distance 2 … Δ, shape (k, 2)."""
        far = self.tree.distances
        return np.argwhere((far >= 2) & (far <= self.radius)).astype(np.int32)

    def spare_links(self) -> npt.NDArray[np.int64]:
        """The most soft links of each broker: the fanout less its primary links, shape (n,)."""
        return self.fanout - self.tree.degrees

    @property
    def size(self) -> dict[str, int]:
        """The numbers of brokers, subscriptions and publications."""
        counts = self.num_brokers, len(self.subscriptions), len(self.publications)
        return dict(zip(("brokers", "subscriptions", "publications"), counts, strict=True))

    def _content(self) -> tuple[str, Iterable[npt.NDArray[Any]]]:
        tree, subs, pubs = self.tree, self.subscriptions, self.publications
        head = [self.num_brokers, self.radius, self.fanout, len(self.attributes), len(subs), len(pubs)]
        arrays = (np.array(head), tree.links, tree.delays, tree.uplinks, subs.brokers, subs.lows, subs.highs)
        return FORMAT, (each.astype(np.int64) for each in (*arrays, pubs.times, pubs.sources, pubs.values))

    def to_networkx(self) -> nx.Graph[str]:
        """The primary tree on the brokers' labels, with the ``delay`` of each link in microseconds."""
        import networkx as nx

        graph: nx.Graph[str] = nx.Graph()
        graph.add_nodes_from(self.tree.label(b) for b in range(self.num_brokers))
        for (a, b), delay in zip(self.tree.links.tolist(), self.tree.delays.tolist(), strict=True):
            graph.add_edge(self.tree.label(a), self.tree.label(b), delay=delay)
        return graph

    def _shown(self) -> tuple[Mapping[str, object], str]:
        rows = {"attributes": len(self.attributes), "radius of soft links": self.radius, "fanout": self.fanout}
        return rows, circle((self.num_brokers, self.tree.label), self.tree.links)
