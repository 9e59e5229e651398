"""The soft-link problem of P5 and its answers: soft links, and the messages that carry every publication over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Ids, frozen
from ..contract.errors import BadInput
from ..contract.problem import Problem, shortened
from ..contract.shown import Drawn, facts
from .network import BrokerNetwork

if TYPE_CHECKING:
    import networkx as nx


_LOST = -1


@dataclass(frozen=True, eq=False)
class Dissemination(Drawn):
    """The soft links of a network, and every message between brokers; :meth:`of` takes rows in any order."""

    soft_links: Ids  # rows (sender, receiver), in lexicographic order; a soft link counts in its sender's fanout
    messages: Ids  # rows (publication, sender, receiver), ordered by publication and receiver

    def __post_init__(self) -> None:
        for name, width in (("soft_links", 2), ("messages", 3)):
            rows = np.asarray(getattr(self, name))
            if rows.size and (rows.ndim != 2 or rows.shape[1] != width):
                raise BadInput(f"{name.replace('_', ' ')} need rows of {width}, not an array of shape {rows.shape}")
            object.__setattr__(self, name, frozen(rows.reshape(-1, width), np.int32))

    @classmethod
    def of(cls, soft_links: npt.ArrayLike, messages: npt.ArrayLike) -> Dissemination:
        links, sent = np.asarray(soft_links).reshape(-1, 2), np.asarray(messages).reshape(-1, 3)
        links, sent = links[np.lexsort(links.T[::-1])], sent[np.lexsort((sent[:, 1], sent[:, 2], sent[:, 0]))]
        return cls(links.astype(np.int32), sent.astype(np.int32))

    @property
    def num_messages(self) -> int:
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

    def __repr__(self) -> str:
        return f"Dissemination({len(self.soft_links)} soft links, {self.num_messages} messages)"

    def _repr_html_(self) -> str:
        return facts("Dissemination", {"soft links": len(self.soft_links), "messages": self.num_messages})


def message_hops(network: BrokerNetwork, answer: Dissemination) -> npt.NDArray[np.int64]:
    """The links from the source to the receiver of each message, shape (m,); -1 if its sender never receives it."""
    publication, sender, receiver = answer.messages.astype(np.int64).T
    size = network.num_brokers
    at = publication * size + receiver
    incoming = np.minimum(np.searchsorted(at, publication * size + sender), max(0, len(at) - 1))
    receives = at[incoming] == publication * size + sender if len(at) else np.zeros(0, dtype=np.bool_)
    from_source = sender == network.publications.sources[publication]
    hops = np.where(from_source, 1, _LOST)
    while True:
        longer = np.where(~from_source & receives & (hops[incoming] > 0), hops[incoming] + 1, hops)
        # Along a cycle the hops would grow without end, but no path has more links than there are brokers.
        longer = np.where(longer > size, _LOST, longer)
        if np.array_equal(longer, hops):
            return hops
        hops = longer


def is_wanted(network: BrokerNetwork, answer: Dissemination) -> npt.NDArray[np.bool_]:
    """Whether the receiver of each message has a matching subscription, shape (m,); if not, it only forwards."""
    publication, _, receiver = answer.messages.astype(np.int64).T
    return np.isin(publication * network.num_brokers + receiver, _deliveries(network))


def _deliveries(network: BrokerNetwork) -> npt.NDArray[np.int64]:
    """Each publication and broker that must receive it, as ``publication · brokers + broker``."""
    offsets, brokers = network.destinations
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) * network.num_brokers + brokers


class SoftLinks(Problem[BrokerNetwork, Dissemination]):
    """Fewest messages that carry every publication to every broker with a matching subscription (P5 §6, §7).

    An answer chooses soft links, within fanout and radius, and a path of primary and soft links for each delivery.
    A broker receives a publication at most once. So the messages are the deliveries, whose number is fixed, plus the
    receptions by pure forwarders: fewest messages, fewest pure forwarders and highest yield are equivalent.
    """

    kind, default_method = "brokers", "cp-sat"
    name, summary, source = "soft-links", "fewest messages over the primary tree and soft links", "P5 §6, §7"

    def value(self, instance: BrokerNetwork, answer: Dissemination) -> float:
        return answer.num_messages

    def violations(self, instance: BrokerNetwork, answer: Dissemination) -> list[str]:
        found = _unknown(instance, answer)
        return shortened(found or [*_bad_links(instance, answer), *_bad_messages(instance, answer)], "faults")

    def measures(self, instance: BrokerNetwork, answer: Dissemination) -> dict[str, float]:
        """Deliveries, pure forwarders, yield, hops of the deliveries (mean and most), and the number of soft links."""
        hops = message_hops(instance, answer)[is_wanted(instance, answer)]
        return {
            "deliveries": len(hops),
            "pure_forwarders": answer.num_messages - len(hops),
            "yield": len(hops) / answer.num_messages if answer.num_messages else 1.0,
            "average_hops": float(hops.mean()) if len(hops) else 0.0,
            "max_hops": float(hops.max()) if len(hops) else 0.0,
            "soft_links": len(answer.soft_links),
        }


def _unknown(network: BrokerNetwork, answer: Dissemination) -> list[str]:
    ends = np.concatenate([answer.soft_links.ravel(), answer.messages[:, 1:].ravel()])
    named = (("broker", ends, network.num_brokers), ("publication", answer.messages[:, 0], len(network.publications)))
    return [
        f"there is no {noun} {each}"
        for noun, numbers, count in named
        for each in np.unique(numbers[(numbers < 0) | (numbers >= count)]).tolist()
    ]


def _bad_links(network: BrokerNetwork, answer: Dissemination) -> list[str]:
    tree, (u, v) = network.tree, answer.soft_links.T
    far = tree.distances[u, v]
    found = [
        f"soft link '{tree.label(u[i])}'→'{tree.label(v[i])}' joins brokers {far[i]} primary hops apart, "
        f"not 2 to {network.radius}"
        for i in np.flatnonzero((far < 2) | (far > network.radius)).tolist()
    ]
    if len(np.unique(answer.soft_links, axis=0)) < len(answer.soft_links):
        found.append("a soft link occurs twice")
    out = np.bincount(u, minlength=network.num_brokers)
    return found + [
        f"broker '{tree.label(broker)}' has {tree.degrees[broker]} primary and {out[broker]} soft links, "
        f"the fanout is {network.fanout}"
        for broker in np.flatnonzero(out > network.spare_links()).tolist()
    ]


def _bad_messages(network: BrokerNetwork, answer: Dissemination) -> list[str]:
    tree, size = network.tree, network.num_brokers
    publication, sender, receiver = answer.messages.astype(np.int64).T
    linked = tree.distances == 1
    linked[tuple(answer.soft_links.T)] = True
    found = [
        f"publication {publication[i]} goes from '{tree.label(sender[i])}' to '{tree.label(receiver[i])}', "
        "which no link joins"
        for i in np.flatnonzero(~linked[sender, receiver]).tolist()
    ]
    at = publication * size + receiver
    twice = np.flatnonzero(np.diff(at) == 0)
    back = np.flatnonzero(network.publications.sources[publication] == receiver)
    repeated = np.concatenate([twice, back]).tolist()
    found += [f"publication {publication[i]} reaches '{tree.label(receiver[i])}' twice" for i in repeated]
    if (np.diff(at) < 0).any():
        return [*found, "messages must be sorted by publication and receiver"]
    found += [
        f"publication {publication[i]} is sent by '{tree.label(sender[i])}', which never receives it"
        for i in np.flatnonzero(message_hops(network, answer) < 0).tolist()
    ]
    missing = np.setdiff1d(_deliveries(network), at).tolist()
    return found + [f"publication {each // size} never reaches '{tree.label(each % size)}'" for each in missing]


BROKER_PROBLEMS: tuple[SoftLinks, ...] = (SoftLinks(),)
