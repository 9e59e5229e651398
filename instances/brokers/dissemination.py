"""An answer to a broker network: soft links, and the messages that carry every publication over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Ids, frozen
from ..contract.errors import BadInput
from ..contract.shown import facts, plot
from .network import BrokerNetwork

if TYPE_CHECKING:
    import networkx as nx

    from ..contract.shown import Figure

_LOST = -1


@dataclass(frozen=True, eq=False)
class Dissemination:
    """The soft links of a network, and every message between brokers.

    Parameters
    ----------
    soft_links : int32 array, shape (k, 2)
        Rows (sender, receiver), in lexicographic order. A soft link counts in its sender's fanout.
    messages : int32 array, shape (m, 3)
        Rows (publication, sender, receiver), ordered by publication and receiver.

    Build it from rows in any order with :meth:`of`.
    """

    soft_links: Ids
    messages: Ids

    def __post_init__(self) -> None:
        for name, width in (("soft_links", 2), ("messages", 3)):
            rows = np.asarray(getattr(self, name))
            if rows.size and (rows.ndim != 2 or rows.shape[1] != width):
                raise BadInput(f"{name.replace('_', ' ')} need rows of {width}, not an array of shape {rows.shape}")
            object.__setattr__(self, name, frozen(rows.reshape(-1, width), np.int32))

    @classmethod
    def of(cls, soft_links: npt.ArrayLike, messages: npt.ArrayLike) -> Dissemination:
        """Build from rows in any order."""
        links, sent = np.asarray(soft_links).reshape(-1, 2), np.asarray(messages).reshape(-1, 3)
        links, sent = links[np.lexsort(links.T[::-1])], sent[np.lexsort((sent[:, 1], sent[:, 2], sent[:, 0]))]
        return cls(links.astype(np.int32), sent.astype(np.int32))

    @property
    def num_messages(self) -> int:
        """The number of messages."""
        return len(self.messages)

    def to_networkx(self, instance: BrokerNetwork) -> nx.DiGraph[str]:
        """The links on the brokers' labels: attribute ``soft``, and ``messages``, how many cross it."""
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        label = instance.tree.label
        graph.add_nodes_from(label(b) for b in range(instance.num_brokers))
        for a, b in instance.tree.links.tolist():
            graph.add_edge(label(a), label(b), soft=False, messages=0)
            graph.add_edge(label(b), label(a), soft=False, messages=0)
        for a, b in self.soft_links.tolist():
            graph.add_edge(label(a), label(b), soft=True, messages=0)
        for _, a, b in self.messages.tolist():
            graph.edges[label(a), label(b)]["messages"] += 1
        return graph

    def plot(self, instance: BrokerNetwork) -> Figure:
        """Draw the soft links over the tree of an instance; see :func:`overlaybench.draw`."""
        return plot(instance, self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Dissemination, (self.soft_links, self.messages)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Dissemination)
            and np.array_equal(self.soft_links, other.soft_links)
            and np.array_equal(self.messages, other.messages)
        )

    def __hash__(self) -> int:
        return hash((self.soft_links.tobytes(), self.messages.tobytes()))

    def __repr__(self) -> str:
        return f"Dissemination({len(self.soft_links)} soft links, {self.num_messages} messages)"

    def _repr_html_(self) -> str:
        return facts("Dissemination", {"soft links": len(self.soft_links), "messages": self.num_messages})


class Arrivals:
    """The path length and the receiver's interest of each message of a dissemination.

    Attributes
    ----------
    hops : int64 array, shape (m,)
        Links from the source to the receiver of each message, this one included; -1 for a message whose sender
        never receives the publication.
    wanted : bool array, shape (m,)
        Whether the receiver has a matching subscription; if not, it is a pure forwarder.
    """

    def __init__(self, network: BrokerNetwork, answer: Dissemination) -> None:
        self._network, self._answer = network, answer

    @cached_property
    def hops(self) -> npt.NDArray[np.int64]:
        publication, sender, receiver = self._answer.messages.astype(np.int64).T
        size = self._network.num_brokers
        at = publication * size + receiver
        incoming = np.minimum(np.searchsorted(at, publication * size + sender), max(0, len(at) - 1))
        receives = at[incoming] == publication * size + sender if len(at) else np.zeros(0, dtype=np.bool_)
        from_source = sender == self._network.publications.sources[publication]
        hops = np.where(from_source, 1, _LOST)
        while True:
            longer = np.where(~from_source & receives & (hops[incoming] > 0), hops[incoming] + 1, hops)
            # Along a cycle the hops would grow for ever, but no path has more links than there are brokers.
            longer = np.where(longer > size, _LOST, longer)
            if np.array_equal(longer, hops):
                return hops
            hops = longer

    @cached_property
    def wanted(self) -> npt.NDArray[np.bool_]:
        offsets, brokers = self._network.destinations
        size = self._network.num_brokers
        of = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        publication, _, receiver = self._answer.messages.astype(np.int64).T
        return np.isin(publication * size + receiver, of * size + brokers)
