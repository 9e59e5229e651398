"""The soft link problem of P5, which judges every answer."""

from __future__ import annotations

import numpy as np

from ..contract.problem import Problem
from .dissemination import Arrivals, Dissemination
from .network import BrokerNetwork

_MOST_NAMED = 5


class SoftLinks(Problem[BrokerNetwork, Dissemination]):
    """Fewest messages that carry every publication to every broker with a matching subscription (P5 §6, §7).

    An answer chooses soft links, within fanout and radius, and a path of primary and soft links for each delivery.
    A broker receives a publication at most once. So the messages are the deliveries, whose number is fixed, plus the
    receptions by pure forwarders: fewest messages, fewest pure forwarders and highest yield are equivalent.
    """

    kind, default_method = "brokers", "cp-sat"
    name, summary, source = "soft-links", "fewest messages over the primary tree and soft links", "P5 §6, §7"

    def value(self, instance: BrokerNetwork, answer: Dissemination) -> float:
        """The number of messages between brokers."""
        return answer.num_messages

    def violations(self, instance: BrokerNetwork, answer: Dissemination) -> list[str]:
        found = _unknown(instance, answer)
        if not found:
            found = [*_bad_links(instance, answer), *_bad_messages(instance, answer)]
        return found if len(found) <= _MOST_NAMED else [*found[:_MOST_NAMED], f"and {len(found) - _MOST_NAMED} more"]

    def measures(self, instance: BrokerNetwork, answer: Dissemination) -> dict[str, float]:
        """Deliveries, pure forwarders, yield, hops of the deliveries (mean and most), and the number of soft links."""
        arrivals = Arrivals(instance, answer)
        hops = arrivals.hops[arrivals.wanted]
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
    unknown = ends[(ends < 0) | (ends >= network.num_brokers)]
    found = [f"there is no broker {v}" for v in np.unique(unknown).tolist()]
    publications = answer.messages[:, 0]
    outside = publications[(publications < 0) | (publications >= len(network.publications))]
    return found + [f"there is no publication {p}" for p in np.unique(outside).tolist()]


def _bad_links(network: BrokerNetwork, answer: Dissemination) -> list[str]:
    tree, (u, v) = network.tree, answer.soft_links.T
    found = []
    for row in np.flatnonzero((tree.distances[u, v] < 2) | (tree.distances[u, v] > network.radius)).tolist():
        a, b = int(u[row]), int(v[row])
        found.append(
            f"soft link '{tree.label(a)}'→'{tree.label(b)}' joins brokers {tree.distances[a, b]} primary hops apart, "
            f"not 2 to {network.radius}"
        )
    keys = u.astype(np.int64) * network.num_brokers + v
    if len(np.unique(keys)) < len(keys):
        found.append("a soft link occurs twice")
    out = np.bincount(u, minlength=network.num_brokers)
    for broker in np.flatnonzero(out > network.fanout - tree.degrees).tolist():
        found.append(
            f"broker '{tree.label(broker)}' has {tree.degrees[broker]} primary and {out[broker]} soft links, "
            f"the fanout is {network.fanout}"
        )
    return found


def _bad_messages(network: BrokerNetwork, answer: Dissemination) -> list[str]:
    tree, size = network.tree, network.num_brokers
    publication, sender, receiver = answer.messages.astype(np.int64).T
    linked = np.zeros((size, size), dtype=np.bool_)
    linked[tuple(answer.soft_links.T)] = True
    linked |= tree.distances == 1
    found = [
        f"publication {publication[i]} goes from '{tree.label(int(sender[i]))}' to '{tree.label(int(receiver[i]))}', "
        "which no link joins"
        for i in np.flatnonzero(~linked[sender, receiver]).tolist()
    ]
    at = publication * size + receiver
    twice = np.flatnonzero(np.diff(at) == 0)
    back = np.flatnonzero(network.publications.sources[publication] == receiver)
    for i in np.concatenate([twice, back]).tolist():
        found.append(f"publication {publication[i]} reaches '{tree.label(int(receiver[i]))}' twice")
    if (np.diff(at) < 0).any():
        return [*found, "messages must be sorted by publication and receiver"]
    for i in np.flatnonzero(Arrivals(network, answer).hops < 0).tolist():
        found.append(f"publication {publication[i]} is sent by '{tree.label(int(sender[i]))}', which never receives it")
    offsets, brokers = network.destinations
    wanted = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) * size + brokers
    for missing in np.setdiff1d(wanted, at).tolist():
        found.append(f"publication {missing // size} never reaches '{tree.label(missing % size)}'")
    return found


BROKER_PROBLEMS: tuple[SoftLinks, ...] = (SoftLinks(),)
