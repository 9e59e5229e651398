"""The minimum cost content-based overlay of P4 under three routings between brokers, and its answers."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Flags, Ids, Offsets, Reals, connected_components, frozen
from ..contract.errors import BadInput
from ..contract.numbers import distinct
from ..contract.problem import Implication, Problem, shortened
from ..contract.shown import Drawn, facts, spread_of
from .instance import ContentInstance

if TYPE_CHECKING:
    import networkx as nx


Links = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class RoutingTree:
    """Links between brokers, and the messages that cross each of them once."""

    links: Links  # pairs of brokers a < b in lexicographic order; :meth:`of` takes any order and direction
    channel: int | None = None  # the channel whose messages it carries; None for all
    sources: tuple[int, ...] = ()  # the brokers whose users' messages it carries, in increasing order; empty for all

    @classmethod
    def of(
        cls, links: Iterable[tuple[int, int]], channel: int | None = None, sources: Iterable[int] = ()
    ) -> RoutingTree:
        """The tree with these links; repeated links count once."""
        ordered = sorted({(min(int(a), int(b)), max(int(a), int(b))) for a, b in links})
        return cls(tuple(ordered), channel, tuple(sorted({int(b) for b in sources})))

    def price(self, core: npt.NDArray[np.float64]) -> float:
        return float(sum(core[a, b] for a, b in self.links))


@dataclass(frozen=True, eq=False)
class ContentOverlay(Drawn):
    """An answer to a content problem.

    The trees depend on the problem's routing: none for ``mst``, one spanning tree of all brokers for ``shared-tree``, a
    tree for each source broker and channel with another destination for ``steiner``.
    """

    brokers: Ids  # shape (|U|,), the broker of each user; the array is copied
    trees: tuple[RoutingTree, ...] = ()

    def __post_init__(self) -> None:
        brokers = frozen(self.brokers, np.int32)
        if brokers.ndim != 1 or (brokers < 0).any():
            raise BadInput("brokers must be one array with a broker, numbered from 0, for each user")
        self._set(brokers=brokers, trees=tuple(self.trees))

    @cached_property
    def links(self) -> tuple[Offsets, Offsets]:
        """The tree and the two brokers of each link of all trees, shapes (l,) and (l, 2)."""
        counts = [len(tree.links) for tree in self.trees]
        links = chain.from_iterable(tree.links for tree in self.trees)
        ends = np.fromiter(chain.from_iterable(links), np.int64, 2 * sum(counts))
        return np.repeat(np.arange(len(counts)), counts), ends.reshape(-1, 2)

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


_CELLS_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class BrokerTraffic:
    """The traffic at the brokers under an assignment.

    What the users of a broker publish on a channel (`rates`) and whether one subscribes to it (`subscribed`), shape
    (|B|, |C|); and the traffic between a broker and its users (`loads`), shape (|B|,).
    """

    rates: Reals
    subscribed: Flags
    loads: Reals

    @property
    def leaving(self) -> Flags:
        """Whether messages of a broker's users on a channel leave the broker. Shape (|B|, |C|)."""
        elsewhere: Flags = self.subscribed.sum(axis=0) - self.subscribed > 0
        return (self.rates > 0) & elsewhere


def broker_traffic(instance: ContentInstance, answer: ContentOverlay) -> BrokerTraffic:
    """The traffic at each broker. Cost O(|U| |C| + |B| |C|)."""
    import scipy.sparse as sp

    users = np.arange(instance.num_users)
    at = sp.csr_array((np.ones(len(users)), (answer.brokers, users)), shape=(instance.num_brokers, len(users)))
    return BrokerTraffic(at @ instance.rates, (at @ instance.subscriptions) > 0, at @ instance.demands)


_CHEAPEST = Implication(
    ("content-steiner",), "whatever tree carries a message, none is cheaper than a Steiner tree of the same brokers"
)


class ContentProblem(Problem[ContentInstance, ContentOverlay]):
    """Minimise access plus core cost, with each user on one broker and no broker above its capacity.

    Access: each user's demand times the price to its broker. Core: for each publisher u and channel c, g_uc times the
    price of the tree that connects u's broker to every broker with another subscriber of c; a message crosses a link
    once. The routing defines the trees allowed.
    """

    kind, integral, default_method = "content", False, "branch-and-cut"
    routing: str

    def value(self, instance: ContentInstance, answer: ContentOverlay) -> float:
        return _access(instance, answer) + self.core_cost(instance, answer, broker_traffic(instance, answer))

    def violations(self, instance: ContentInstance, answer: ContentOverlay) -> list[str]:
        if len(answer.brokers) != instance.num_users:
            return [f"the answer has {len(answer.brokers)} users, the instance {instance.num_users}"]
        if (answer.brokers >= instance.num_brokers).any():
            user = int(np.argmax(answer.brokers >= instance.num_brokers))
            return [f"user '{instance.user_label(user)}' is on broker {answer.brokers[user]}, which does not exist"]
        traffic = broker_traffic(instance, answer)
        overloaded = [
            f"broker '{instance.broker_label(b)}' carries "
            + " of ".join(distinct(float(traffic.loads[b]), float(instance.capacities[b])))
            for b in np.flatnonzero(traffic.loads > instance.load_limits()).tolist()
        ]
        faults = self.routing_faults(instance, answer, traffic)
        return [*shortened(overloaded, "brokers"), *shortened(faults, "faults of trees")]

    def measures(self, instance: ContentInstance, answer: ContentOverlay) -> dict[str, float]:
        """Access cost, core cost, the number of brokers with users, and the largest load as a share of a capacity."""
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
        """The cost of messages between brokers."""

    @abstractmethod
    def routing_faults(self, instance: ContentInstance, answer: ContentOverlay, traffic: BrokerTraffic) -> list[str]:
        """The violations of the answer's trees, one sentence each."""


class SteinerRouting(ContentProblem):
    """Any tree for each source broker and channel, other brokers as relays included; given by the answer."""

    name, routing = "content-steiner", "steiner"
    summary, source = "least access plus core cost, any tree for each source broker and channel", "P4 §II, §IV"

    def core_cost(self, instance: ContentInstance, answer: ContentOverlay, traffic: BrokerTraffic) -> float:
        """Σ of each tree's price times what its sources publish on its channel. O(links of all trees)."""
        number, ends = answer.links
        prices = np.bincount(number, instance.core[ends[:, 0], ends[:, 1]], len(answer.trees))
        rates = [
            0.0
            if tree.channel is None
            else traffic.rates[tree.sources[0], tree.channel]
            if len(tree.sources) == 1
            else traffic.rates[list(tree.sources), tree.channel].sum()
            for tree in answer.trees
        ]
        return float(np.cumsum(np.append(0.0, prices * np.array(rates)))[-1])

    def routing_faults(self, instance: ContentInstance, answer: ContentOverlay, traffic: BrokerTraffic) -> list[str]:
        """A source with no tree or several, links that form no tree, or a destination that is not reached."""
        carried = np.zeros((instance.num_brokers, instance.num_channels), dtype=np.int64)
        faults: list[str] = []
        sound, (owner, ends), step = [], answer.links, max(1, _CELLS_AT_ONCE // instance.num_brokers)
        for start in range(0, len(answer.trees), step):
            part, links = answer.trees[start : start + step], slice(*np.searchsorted(owner, (start, start + step)))
            sound += _are_sound(part, owner[links] - start, ends[links], traffic.subscribed)
        for number, tree in enumerate(answer.trees):
            if sound[number]:
                for source in tree.sources:
                    carried[source, tree.channel] += 1
                continue
            if tree.channel is None or not 0 <= tree.channel < instance.num_channels or not tree.sources:
                faults.append(f"tree {number} must name its channel and its source brokers")
                continue
            if not 0 <= tree.sources[0] <= tree.sources[-1] < instance.num_brokers:
                faults.append(f"tree {number} has a source that is no broker")
                continue
            carried[list(tree.sources), tree.channel] += 1
            destinations = np.flatnonzero(traffic.subscribed[:, tree.channel]).tolist()
            if fault := _fault(tree, instance, {*tree.sources, *destinations}):
                faults.append(f"tree {number} of channel '{instance.channel_label(tree.channel)}' {fault}")
        for b, c in np.argwhere((carried > 1) | (traffic.leaving & (carried == 0))):
            faults.append(
                f"broker '{instance.broker_label(b)}' has {carried[b, c]} trees for channel "
                f"'{instance.channel_label(c)}': needs one"
            )
        return faults


class MstRouting(ContentProblem):
    """A minimum spanning tree of the source broker and the brokers with subscribers; the assignment determines it.

    P4 §III.A states that these trees are optimal under the triangle inequality. They are not: for three brokers at
    distance 2 from each other and a fourth at distance 1 from all three they cost 4; with the fourth as a relay, 3.
    """

    name, routing = "content-mst", "mst"
    summary = "least access plus core cost, minimum spanning trees of source and destination brokers"
    source = "P4 §III.A"
    implications = (_CHEAPEST,)

    def core_cost(self, instance: ContentInstance, answer: ContentOverlay, traffic: BrokerTraffic) -> float:
        """One tree for each channel and one for each source broker without a subscriber. O(|C| |B|³)."""
        return _spanning_cost(instance.core, traffic)

    def routing_faults(self, instance: ContentInstance, answer: ContentOverlay, traffic: BrokerTraffic) -> list[str]:
        """Any tree: the assignment determines the trees."""
        return ["the assignment determines the trees: give none"] if answer.trees else []


class SharedTreeRouting(ContentProblem):
    """One spanning tree of all brokers, given by the answer; a message takes the part that it needs."""

    name, routing = "content-shared-tree", "shared-tree"
    summary = "least access plus core cost, one spanning tree of the brokers for all messages"
    source = "P4 §IV.A eq. 7, 8"
    implications = (_CHEAPEST,)

    def core_cost(self, instance: ContentInstance, answer: ContentOverlay, traffic: BrokerTraffic) -> float:
        """For each link the rates published on one side with subscribers on the other. O(|B|² |C|)."""
        total = 0.0
        links = answer.trees[0].links if answer.trees else ()
        for a, b in links:
            beyond = np.zeros(instance.num_brokers, dtype=np.bool_)
            beyond[list(_reached([link for link in links if link != (a, b)], a))] = True
            for here, there in ((beyond, ~beyond), (~beyond, beyond)):
                crossing = traffic.rates[here].sum(axis=0)[traffic.subscribed[there].any(axis=0)].sum()
                total += float(instance.core[a, b] * crossing)
        return total

    def routing_faults(self, instance: ContentInstance, answer: ContentOverlay, traffic: BrokerTraffic) -> list[str]:
        """Anything but one spanning tree of all brokers."""
        if len(answer.trees) != 1 or answer.trees[0].channel is not None or answer.trees[0].sources:
            return ["the answer needs one tree for all channels and sources"]
        fault = _fault(answer.trees[0], instance, set(range(instance.num_brokers)))
        return [f"the tree {fault}"] if fault else []


def _access(instance: ContentInstance, answer: ContentOverlay) -> float:
    return float((instance.demands * instance.access[np.arange(instance.num_users), answer.brokers]).sum())


def _are_sound(trees: Sequence[RoutingTree], number: Offsets, ends: Offsets, subscribed: Flags) -> list[bool]:
    """Whether each tree is one and reaches its sources and all brokers with a subscriber; shape of those (|B|, |C|).

    All trees are one graph with |B| vertices for each; the number of the tree and the ends of each link are given.
    Trees whose channel, sources or links are out of range are not sound. Cost O(|B|) for each tree.
    """
    count, channels = len(subscribed), np.array([-1 if tree.channel is None else tree.channel for tree in trees])
    owner = np.repeat(np.arange(len(trees)), [len(tree.sources) for tree in trees])
    sources = np.fromiter(chain.from_iterable(tree.sources for tree in trees), np.int64, len(owner))
    sound = (channels >= 0) & (channels < subscribed.shape[1]) & (np.bincount(owner, minlength=len(trees)) > 0)
    sound[owner[(sources < 0) | (sources >= count)]] = False
    sound[number[(ends[:, 0] < 0) | (ends[:, 0] >= ends[:, 1]) | (ends[:, 1] >= count)]] = False
    inside = subscribed.T[np.where(sound, channels, 0)]
    inside[owner[sound[owner]], sources[sound[owner]]] = True
    number, ends = number[sound[number]], ends[sound[number]]
    inside[number, ends.T] = True
    roots = connected_components(inside.size, *(number * count + ends.T)).reshape(inside.shape)
    components = (inside & (roots == np.arange(inside.size).reshape(inside.shape))).sum(axis=1)
    links = np.bincount(number, minlength=len(trees))
    found: list[bool] = (sound & (components == 1) & (links + 1 == inside.sum(axis=1))).tolist()
    return found


def _fault(tree: RoutingTree, instance: ContentInstance, needed: set[int]) -> str:
    """Why the links are no tree that reaches all needed brokers; empty if they are."""
    if strange := [(a, b) for a, b in tree.links if not 0 <= a < b < instance.num_brokers]:
        return f"has the link {strange[0]}, which is no pair of brokers"
    brokers = needed.union(*tree.links)
    if not brokers:
        return ""
    reached = _reached(tree.links, min(brokers))
    if missed := sorted(brokers - reached):
        return f"does not reach broker '{instance.broker_label(missed[0])}'"
    return "has a cycle or a repeated link" if len(tree.links) >= len(brokers) else ""


def _reached(links: Iterable[tuple[int, int]], start: int) -> set[int]:
    """The brokers that links join with one of them."""
    neighbours = defaultdict[int, list[int]](list)
    for a, b in links:
        neighbours[a].append(b)
        neighbours[b].append(a)
    reached, stack = {start}, [start]
    while stack:
        beside = [b for b in neighbours[stack.pop()] if b not in reached]
        reached.update(beside)
        stack += beside
    return reached


def _spanning_cost(core: Reals, traffic: BrokerTraffic) -> float:
    """Σ rate times price of the minimum spanning tree of the source broker and the destinations, channel by channel."""
    channels, sources = np.nonzero(traffic.leaving.T)
    inside = traffic.subscribed[sources, channels]
    # A source with a subscriber adds no broker to the tree: all such sources of a channel share one tree.
    keys = channels * (len(core) + 1) + np.where(inside, 0, sources + 1)
    _, first, tree = np.unique(keys, return_index=True, return_inverse=True)
    prices = np.empty(len(first))
    step = max(1, _CELLS_AT_ONCE // len(core))
    for start in range(0, len(first), step):
        rows = first[start : start + step]
        members = traffic.subscribed.T[channels[rows]]
        prices[start : start + step] = _spanning_prices(core, members, sources[rows])
    return float(np.cumsum(np.append(0.0, traffic.rates[sources, channels] * prices[tree]))[-1])


def _spanning_prices(core: Reals, members: Flags, sources: Offsets) -> Reals:
    """The price of a minimum spanning tree of each row's source and members: Prim's algorithm, all rows at once."""
    rows = np.arange(len(members))
    outside = members.copy()
    outside[rows, sources] = False
    nearest = np.where(outside, core[sources], np.inf)
    prices = np.zeros(len(members))
    for _ in range(int(outside.sum(axis=1).max(initial=0))):
        added = nearest.argmin(axis=1)
        links = nearest[rows, added]
        prices += np.where(np.isinf(links), 0.0, links)
        outside[rows, added] = False
        nearest = np.where(outside, np.minimum(nearest, core[added]), np.inf)
    return prices


CONTENT_PROBLEMS: tuple[ContentProblem, ...] = (SteinerRouting(), MstRouting(), SharedTreeRouting())
