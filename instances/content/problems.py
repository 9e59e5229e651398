"""The minimum cost content-based overlay of P4 under three routings between brokers, and their judges."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numba import njit

from ..problem import Problem
from .instance import ContentInstance, Flags, Floats
from .overlay import ContentOverlay, RoutingTree

_NAMED = 5


@dataclass(frozen=True)
class BrokerTraffic:
    """What an assignment makes of the brokers.

    Attributes
    ----------
    rates : float64 array, shape (|B|, |C|)
        What the users of a broker publish on a channel.
    wanted : bool array, shape (|B|, |C|)
        Whether a user of the broker wants the channel.
    loads : float64 array, shape (|B|,)
        Traffic between a broker and its users.
    """

    rates: Floats
    wanted: Flags
    loads: Floats

    @property
    def travels(self) -> Flags:
        """Whether messages of a broker's users on a channel leave the broker. Shape (|B|, |C|)."""
        elsewhere: Flags = self.wanted.sum(axis=0) - self.wanted > 0
        return (self.rates > 0) & elsewhere


def broker_traffic(instance: ContentInstance, answer: ContentOverlay) -> BrokerTraffic:
    """The traffic at each broker. Cost O(|U| |C| + |B| |C|)."""
    users = np.arange(instance.num_users)
    at = sp.csr_array((np.ones(len(users)), (answer.brokers, users)), shape=(instance.num_brokers, len(users)))
    return BrokerTraffic(at @ instance.rates, (at @ instance.subscriptions) > 0, at @ instance.demands)


class ContentProblem(Problem[ContentInstance, ContentOverlay]):
    """The least cost of access and core together, every user on one broker, no broker above its capacity.

    Access: each user's traffic times the price to its broker. Core: for each publisher u and channel c, g_uc times
    the price of the tree that carries its messages from its broker to every broker with another user who wants c;
    a message crosses a link once. The routing says which trees there are to choose from.
    """

    kind, integral = "content", False
    routing: str

    def value(self, instance: ContentInstance, answer: ContentOverlay) -> float:
        """The cost of access and core."""
        return _access(instance, answer) + self.core_cost(instance, answer, broker_traffic(instance, answer))

    def violations(self, instance: ContentInstance, answer: ContentOverlay) -> list[str]:
        """See :class:`Problem`."""
        if len(answer.brokers) != instance.num_users:
            return [f"the answer has {len(answer.brokers)} users, the instance {instance.num_users}"]
        if (answer.brokers >= instance.num_brokers).any():
            user = int(np.argmax(answer.brokers >= instance.num_brokers))
            return [f"user '{instance.user_label(user)}' is on broker {answer.brokers[user]}, which there is not"]
        traffic = broker_traffic(instance, answer)
        full = [
            f"broker '{instance.broker_label(b)}' carries {traffic.loads[b]:g} of {instance.capacities[b]:g}"
            for b in np.flatnonzero(traffic.loads > instance.room()).tolist()
        ]
        return [*_shortened(full, "brokers"), *_shortened(self.misrouted(instance, answer, traffic), "faults of trees")]

    def measures(self, instance: ContentInstance, answer: ContentOverlay) -> dict[str, float]:
        """Access and core cost, how many brokers have users, and the largest share of a capacity in use."""
        traffic = broker_traffic(instance, answer)
        shares = np.zeros(instance.num_brokers)
        np.divide(traffic.loads, instance.capacities, out=shares, where=instance.capacities > 0)
        return {
            "access": _access(instance, answer),
            "core": self.core_cost(instance, answer, traffic),
            "brokers_used": len(np.unique(answer.brokers)),
            "largest_load": float(shares.max()),
        }

    @abstractmethod
    def core_cost(self, instance: ContentInstance, answer: ContentOverlay, traffic: BrokerTraffic) -> float:
        """What the messages pay between brokers."""

    @abstractmethod
    def misrouted(self, instance: ContentInstance, answer: ContentOverlay, traffic: BrokerTraffic) -> list[str]:
        """What is wrong with the answer's trees, a sentence each."""


class SteinerRouting(ContentProblem):
    """Any tree for each source broker and channel: other brokers may relay. The answer gives the trees."""

    name, routing = "content-steiner", "steiner"
    summary, source = "least cost of access and core, any tree a source broker and channel", "P4 §II, §IV"

    def core_cost(self, instance: ContentInstance, answer: ContentOverlay, traffic: BrokerTraffic) -> float:
        """Σ of each tree's price times what its sources publish on its channel. O(links of all trees)."""
        return float(
            sum(
                tree.price(instance.core) * traffic.rates[list(tree.sources), tree.channel].sum()
                for tree in answer.trees
                if tree.channel is not None
            )
        )

    def misrouted(self, instance: ContentInstance, answer: ContentOverlay, traffic: BrokerTraffic) -> list[str]:
        """No tree or several for a source, links that are no tree, or a broker not reached."""
        carried = np.zeros((instance.num_brokers, instance.num_channels), dtype=np.int64)
        found = []
        for number, tree in enumerate(answer.trees):
            if tree.channel is None or not 0 <= tree.channel < instance.num_channels or not tree.sources:
                found.append(f"tree {number} must name its channel and its source brokers")
                continue
            if not 0 <= tree.sources[0] <= tree.sources[-1] < instance.num_brokers:
                found.append(f"tree {number} has a source that is no broker")
                continue
            carried[list(tree.sources), tree.channel] += 1
            wrong = _fault(tree, instance, {*tree.sources, *np.flatnonzero(traffic.wanted[:, tree.channel]).tolist()})
            if wrong:
                found.append(f"tree {number} of channel '{instance.channel_label(tree.channel)}' {wrong}")
        for b, c in np.argwhere((carried > 1) | (traffic.travels & (carried == 0))):
            found.append(
                f"broker '{instance.broker_label(b)}' has {carried[b, c]} trees for channel "
                f"'{instance.channel_label(c)}': needs one"
            )
        return found


class MstRouting(ContentProblem):
    """A minimum spanning tree of just the source broker and those with subscribers: there is nothing to choose.

    P4 §III.A holds these trees for optimal under the triangle inequality. They are not: three brokers at distance 2
    from each other and a fourth at distance 1 from all three need 4, and 3 with the fourth as a relay.
    """

    name, routing = "content-mst", "mst"
    summary, source = "least cost of access and core, minimum spanning trees of the brokers concerned", "P4 §III.A"

    def core_cost(self, instance: ContentInstance, answer: ContentOverlay, traffic: BrokerTraffic) -> float:
        """Prim's algorithm once a channel, and once for each source broker without a subscriber. O(|C| |B|³)."""
        return float(_spanning_cost(instance.core, traffic.rates, traffic.wanted, traffic.travels))

    def misrouted(self, instance: ContentInstance, answer: ContentOverlay, traffic: BrokerTraffic) -> list[str]:
        """Trees, which follow from the assignment, must not be given."""
        return ["the routing leaves no tree to choose: give none"] if answer.trees else []


class SharedTreeRouting(ContentProblem):
    """Everything on one spanning tree of all brokers, which the answer gives; a message takes the part it needs."""

    name, routing = "content-shared-tree", "shared-tree"
    summary, source = "least cost of access and core, one spanning tree of the brokers for all", "P4 §IV.A eq. 7, 8"

    def core_cost(self, instance: ContentInstance, answer: ContentOverlay, traffic: BrokerTraffic) -> float:
        """For each link, what is published on one side and wanted on the other. O(|B|² |C|)."""
        total = 0.0
        for a, b in answer.trees[0].links if answer.trees else ():
            beyond = _side(answer.trees[0].links, (a, b), instance.num_brokers)
            for here, there in ((beyond, ~beyond), (~beyond, beyond)):
                crossing = traffic.rates[here].sum(axis=0)[traffic.wanted[there].any(axis=0)].sum()
                total += float(instance.core[a, b] * crossing)
        return total

    def misrouted(self, instance: ContentInstance, answer: ContentOverlay, traffic: BrokerTraffic) -> list[str]:
        """Other than one tree of all brokers."""
        if len(answer.trees) != 1 or answer.trees[0].channel is not None or answer.trees[0].sources:
            return ["the routing needs one tree, for all channels and sources"]
        wrong = _fault(answer.trees[0], instance, set(range(instance.num_brokers)))
        return [f"the tree {wrong}"] if wrong else []


def _access(instance: ContentInstance, answer: ContentOverlay) -> float:
    paid = instance.demands * instance.access[np.arange(instance.num_users), answer.brokers]
    return float(paid.sum())


def _fault(tree: RoutingTree, instance: ContentInstance, needed: set[int]) -> str:
    """What keeps the links from being a tree that reaches all the brokers needed; empty if nothing does."""
    neighbours: dict[int, list[int]] = {b: [] for b in needed}
    for a, b in tree.links:
        if not 0 <= a < b < instance.num_brokers:
            return f"has the link ({a}, {b}), which is no pair of brokers"
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    if not neighbours:
        return ""
    reached = _reached(neighbours, next(iter(neighbours)))
    apart = sorted(set(neighbours) - reached)
    if apart:
        return f"does not reach broker '{instance.broker_label(apart[0])}'"
    return "has a circle or a link twice" if len(tree.links) >= len(neighbours) else ""


def _side(links: Sequence[tuple[int, int]], cut: tuple[int, int], num_brokers: int) -> Flags:
    """The brokers on the first end's side of a link."""
    neighbours: dict[int, list[int]] = {b: [] for b in range(num_brokers)}
    for a, b in links:
        if (a, b) != cut:
            neighbours[a].append(b)
            neighbours[b].append(a)
    side = np.zeros(num_brokers, dtype=np.bool_)
    side[list(_reached(neighbours, cut[0]))] = True
    return side


def _reached(neighbours: dict[int, list[int]], start: int) -> set[int]:
    reached, ahead = {start}, [start]
    while ahead:
        for b in neighbours[ahead.pop()]:
            if b not in reached:
                reached.add(b)
                ahead.append(b)
    return reached


@njit(cache=True)
def _spanning_cost(core, rates, wanted, travels):  # type: ignore[no-untyped-def]
    total = 0.0
    for c in range(rates.shape[1]):
        common = -1.0  # a source with a subscriber of its own adds no broker: such sources share one tree
        for source in range(len(core)):
            if not travels[source, c]:
                continue
            if not wanted[source, c]:
                total += rates[source, c] * _spanning_price(core, wanted[:, c], source)
                continue
            if common < 0:
                common = _spanning_price(core, wanted[:, c], source)
            total += rates[source, c] * common
    return total


@njit(cache=True)
def _spanning_price(core, wanted, source):  # type: ignore[no-untyped-def]
    """The price of a minimum spanning tree of a source and the brokers wanted, by Prim's algorithm."""
    waiting = np.flatnonzero(wanted)
    waiting = waiting[waiting != source]
    nearest = core[source][waiting]
    total = 0.0
    for left in range(len(waiting), 0, -1):
        k = np.argmin(nearest[:left])
        total += nearest[k]
        broker = waiting[k]
        waiting[k], nearest[k] = waiting[left - 1], nearest[left - 1]
        for i in range(left - 1):
            nearest[i] = min(nearest[i], core[broker, waiting[i]])
    return total


def _shortened(faults: list[str], kind: str) -> list[str]:
    return [*faults[:_NAMED], f"and {len(faults) - _NAMED} more {kind}"] if len(faults) > _NAMED else faults


CONTENT_PROBLEMS: tuple[ContentProblem, ...] = (SteinerRouting(), MstRouting(), SharedTreeRouting())
