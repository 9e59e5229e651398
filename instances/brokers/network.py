"""A broker network with its traffic: the primary tree, subscriptions, publications, and the limits on soft links."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Ids, Offsets, frozen
from ..contract.errors import BadInput
from ..contract.shown import circle, facts, plot
from .predicates import Publications, Subscriptions, matching_brokers
from .tree import BrokerTree

if TYPE_CHECKING:
    import networkx as nx

    from ..contract.shown import Figure


@dataclass(frozen=True, eq=False)
class BrokerNetwork:
    """A primary network with its traffic and the limits on soft links (P5 §3, §6).

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

    Raises
    ------
    BadInput
        If a limit is out of range, a broker is unknown, or subscriptions and publications differ in attributes.

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
            if (unknown := np.flatnonzero((brokers < 0) | (brokers >= self.tree.num_brokers))).size:
                raise BadInput(
                    f"{what} {unknown[0]}: no broker {brokers[unknown[0]]}: give 0…{self.tree.num_brokers - 1}"
                )
        object.__setattr__(self, "attributes", names)

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
        sizes = np.bincount(of[remote], minlength=len(self.publications))
        return frozen(np.concatenate([[0], np.cumsum(sizes)]), np.int64), frozen(brokers[remote], np.int32)

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

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hexadecimal) of everything except labels and attribute names: the same on every machine."""
        sha = hashlib.sha256(b"overlaybench brokers/1\n")
        tree, subs, pubs = self.tree, self.subscriptions, self.publications
        head = [self.num_brokers, self.radius, self.fanout, len(self.attributes), len(subs), len(pubs)]
        arrays = (np.array(head), tree.links, tree.delays, tree.uplinks, subs.brokers, subs.lows, subs.highs)
        for part in (*arrays, pubs.times, pubs.sources, pubs.values):
            sha.update(np.ascontiguousarray(part, dtype="<i8").tobytes())
        return sha.hexdigest()

    def to_networkx(self) -> nx.Graph[str]:
        """The primary tree on the brokers' labels, with the ``delay`` of each link in microseconds."""
        import networkx as nx

        graph: nx.Graph[str] = nx.Graph()
        graph.add_nodes_from(self.tree.label(b) for b in range(self.num_brokers))
        for (a, b), delay in zip(self.tree.links.tolist(), self.tree.delays.tolist(), strict=True):
            graph.add_edge(self.tree.label(a), self.tree.label(b), delay=delay)
        return graph

    def plot(self, *answers: object) -> Figure:
        """Draw the instance, or answers to it side by side; see :func:`overlaybench.draw`."""
        return plot(self, *answers)

    def __reduce__(self) -> tuple[Any, ...]:
        given = (self.tree, self.subscriptions, self.publications, self.radius, self.fanout, self.attributes)
        return BrokerNetwork, given

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BrokerNetwork) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return (
            f"BrokerNetwork({self.num_brokers} brokers, {len(self.subscriptions)} subscriptions, "
            f"{len(self.publications)} publications, {self.digest[:12]})"
        )

    def _repr_html_(self) -> str:
        return facts(
            "BrokerNetwork",
            {
                "brokers": self.num_brokers,
                "subscriptions": len(self.subscriptions),
                "publications": len(self.publications),
                "attributes": len(self.attributes),
                "radius of soft links": self.radius,
                "fanout": self.fanout,
                "digest": self.digest[:12],
            },
            circle((self.num_brokers, self.tree.label), self.tree.links),
        )
