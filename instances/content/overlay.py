"""A content-based overlay: one broker for each user, and the routing trees between brokers (P4 §II.A)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Ids, frozen
from ..contract.errors import BadInput
from ..contract.shown import facts, plot, spread_of

if TYPE_CHECKING:
    import networkx as nx

    from ..contract.shown import Figure
    from .instance import ContentInstance

Links = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class RoutingTree:
    """Links between brokers, and the messages that cross each of them once.

    Parameters
    ----------
    links : pairs of brokers a < b, in lexicographic order
        :meth:`of` makes them from pairs in any order and direction.
    channel : int or None
        The channel whose messages it carries; None for all channels.
    sources : tuple of int
        The brokers whose users' messages it carries, in increasing order; empty for all brokers.
    """

    links: Links
    channel: int | None = None
    sources: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, links: Iterable[tuple[int, int]], channel: int | None = None, sources: Iterable[int] = ()
    ) -> RoutingTree:
        """The tree with these links; repeated links count once."""
        ordered = sorted({(min(int(a), int(b)), max(int(a), int(b))) for a, b in links})
        return cls(tuple(ordered), channel, tuple(sorted({int(b) for b in sources})))

    def price(self, core: npt.NDArray[np.float64]) -> float:
        """The sum of the prices of its links."""
        return float(sum(core[a, b] for a, b in self.links))


@dataclass(frozen=True, eq=False)
class ContentOverlay:
    """An answer to a content problem.

    Parameters
    ----------
    brokers : int32 array, shape (|U|,)
        The broker of each user; the array is copied.
    trees : tuple of RoutingTree
        Depends on the problem's routing: none for ``mst``, one spanning tree of all brokers for ``shared-tree``, a tree
        for each source broker and channel with another destination for ``steiner``.
    """

    brokers: Ids
    trees: tuple[RoutingTree, ...] = ()

    def __post_init__(self) -> None:
        brokers = frozen(self.brokers, np.int32)
        if brokers.ndim != 1 or (brokers < 0).any():
            raise BadInput("brokers must be one array with a broker, numbered from 0, for each user")
        object.__setattr__(self, "brokers", brokers)
        object.__setattr__(self, "trees", tuple(self.trees))

    def to_networkx(self, instance: ContentInstance) -> nx.Graph[tuple[str, str]]:
        """The links in use on ("user", label) and ("broker", label), with the price of each as ``weight``.

        An answer to ``content-mst`` names no trees: the graph then has the links of users only.
        """
        import networkx as nx

        graph: nx.Graph[tuple[str, str]] = nx.Graph()
        brokers = [("broker", instance.broker_label(b)) for b in range(instance.num_brokers)]
        graph.add_nodes_from(brokers)
        for user, broker in enumerate(self.brokers.tolist()):
            price = float(instance.access[user, broker])
            graph.add_edge(("user", instance.user_label(user)), brokers[broker], weight=price)
        for a, b in {link for tree in self.trees for link in tree.links}:
            graph.add_edge(brokers[a], brokers[b], weight=float(instance.core[a, b]))
        return graph

    def plot(self, instance: ContentInstance) -> Figure:
        """Draw the overlay of an instance; see :func:`overlaybench.draw`."""
        return plot(instance, self)

    def __reduce__(self) -> tuple[Any, ...]:
        return ContentOverlay, (self.brokers, self.trees)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ContentOverlay):
            return NotImplemented
        return np.array_equal(self.brokers, other.brokers) and self.trees == other.trees

    def __hash__(self) -> int:
        return hash((self.brokers.tobytes(), self.trees))

    def __repr__(self) -> str:
        return f"ContentOverlay({len(self.brokers)} users, {len(self.trees)} trees)"

    def _repr_html_(self) -> str:
        users = np.bincount(self.brokers)
        rows = {
            "users": len(self.brokers),
            "brokers with users": int((users > 0).sum()),
            "users of such a broker": spread_of(users[users > 0]),
            "routing trees": len(self.trees),
        }
        return facts("ContentOverlay", rows)
