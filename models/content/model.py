"""The columns and rows that every exact model of a content-based overlay shares (P4 §IV.A, put right)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...instances.arrays import Ids
from ...instances.clock import Clock, OutOfTime
from ...instances.content.instance import ContentInstance
from ...instances.content.overlay import ContentOverlay, RoutingTree
from ..engine.sparse_relaxation import RowList, Units

Reals = npt.NDArray[np.float64]
Columns = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
_FINEST, _EXACT = 2.0**20, 2.0**40
_MOST_COLUMNS = 20_000_000
_LOOK_EVERY = 1000


class ModelTooLarge(Exception):
    """A model that memory would not hold, with the number of columns; what heuristics find stands."""


@dataclass(frozen=True)
class Group:
    """Messages that take one tree: those of a publisher on all channels with the same subscribers.

    Attributes
    ----------
    publisher : int
    content : int
        Which set of subscribers.
    rate : float
        Traffic, on all these channels together.
    """

    publisher: int
    content: int
    rate: float


@dataclass(frozen=True)
class Tree:
    """An arborescence of the model.

    Attributes
    ----------
    content : int
    source : int array
        Of a publisher's tree: the columns that say on which broker it hangs, shape (|B|,). Of a broker's: the column
        that says whether it is used, shape (1,).
    root : int or None
        The broker, of a broker's tree.
    rate : float
        What its links pay a unit of price; 0 for a broker's tree, which payments of their own pay for.
    """

    content: int
    source: Columns
    root: int | None
    rate: float


class ContentModel:
    """0/1 columns: users on brokers, brokers that want a content, arcs of each group's arborescence, a shared tree.

    Parameters
    ----------
    instance : ContentInstance
    routing : {"steiner", "mst", "shared-tree"}
    trees_of : {"publishers", "brokers"}
        An arborescence for each publisher and content; or for each broker and content, whose price every publisher at
        that broker pays in proportion to its traffic.
    clock : Clock, optional
        How long building may take, which is long where users and contents are many.

    Attributes
    ----------
    channels : list of int arrays
        The channels of each content: those with the same subscribers, at least two or one who is no sole publisher.
    subscribers : list of int arrays
    groups : list of Group
    x : int array, shape (|U|, |B|)
        The columns: user u is on broker b.
    d : int array, shape (contents, |B|)
        Broker b has a subscriber.
    trees : list of Tree
    y : int array, shape (trees, |B|, |B|)
        The tree's messages go from broker i to broker j; −1 where i = j.
    t : int array, shape (|B|, |B|)
        The shared tree has the link; symmetric, −1 where i = j and under the other routings.
    costs : list of float
        Of all columns, in the order of their numbers.
    rows : RowList
        Assignment, capacity, destinations and what the routing forbids; that arborescences reach their destinations is
        left to each model.

    Raises
    ------
    ModelTooLarge
    OutOfTime

    Notes
    -----
    |U||B| + contents·|B| + groups·|B|² columns. An arborescence hangs on its publisher's broker and has its subscribers
    as leaves, which is why users need no arcs of their own.
    """

    def __init__(
        self,
        instance: ContentInstance,
        routing: str,
        *,
        trees_of: str = "publishers",
        clock: Clock | None = None,
    ) -> None:
        self.instance, self.routing, self.clock = instance, routing, clock
        self.costs: list[float] = []
        self.upper: list[float] = []
        self.integral: list[bool] = []
        self.rows = RowList()
        self.channels, self.subscribers, self.groups = _groups(instance)
        users, brokers = instance.num_users, instance.num_brokers
        trees = len(self.groups) if trees_of == "publishers" else len(self.channels) * brokers
        if trees * brokers**2 > _MOST_COLUMNS:
            raise ModelTooLarge(f"the exact model would have {trees * brokers**2:,} columns, above {_MOST_COLUMNS:,}")
        self.x = self.add((instance.demands[:, None] * instance.access).ravel()).reshape(users, brokers)
        self.d = self.add(np.zeros(len(self.channels) * brokers)).reshape(-1, brokers)
        self.off_diagonal = ~np.eye(brokers, dtype=np.bool_)
        if trees_of == "publishers":
            self.trees = [Tree(group.content, self.x[group.publisher], None, group.rate) for group in self.groups]
        else:
            roots = [(content, b) for content in range(len(self.channels)) for b in range(brokers)]
            self.trees = [Tree(content, self.add([0.0]), b, 0.0) for content, b in roots]
        self.y = np.full((len(self.trees), brokers, brokers), -1)
        for number, tree in enumerate(self.trees):
            self.y[number][self.off_diagonal] = self.add(tree.rate * instance.core[self.off_diagonal])
        if trees_of == "brokers":
            self._payments()
        self.t = np.full((brokers, brokers), -1)
        self._assign()
        self._destinations()
        if routing == "mst":
            self._only_destinations()
        if routing == "shared-tree":
            self._shared_tree()

    def rows_in_time(self) -> Iterator[tuple[Units, Units, int]]:
        """The rows; OutOfTime is raised once building has taken too long."""
        for number, row in enumerate(self.rows):
            if number % _LOOK_EVERY == 0:
                self.check_time()
            yield row

    def check_time(self) -> None:
        """Raise OutOfTime once building has taken too long."""
        if self.clock is not None and self.clock.left <= 0:
            raise OutOfTime

    def add(self, costs: npt.ArrayLike, *, upper: float = 1.0, integral: bool = True) -> Columns:
        """New columns from 0 to a bound, with these costs."""
        new = np.atleast_1d(np.asarray(costs, np.float64))
        first = len(self.costs)
        self.costs.extend(new.tolist())
        self.upper.extend([upper] * len(new))
        self.integral.extend([integral] * len(new))
        return np.arange(first, first + len(new))

    def _assign(self) -> None:
        instance, x = self.instance, self.x
        for u in range(instance.num_users):
            self.rows.add(x[u], 1, 1)
            self.rows.add(x[u], -1, -1)
        demands, room = _whole(instance.demands, instance.room())
        for b in range(instance.num_brokers):
            if room[b] < demands.sum():
                self.rows.add(x[:, b], -demands, -int(room[b]))
                for u in np.flatnonzero(demands > room[b]).tolist():
                    self.rows.add([x[u, b]], -1, 0)

    def _destinations(self) -> None:
        for content, users in enumerate(self.subscribers):
            self.check_time()
            for b in range(self.instance.num_brokers):
                for u in users.tolist():
                    self.rows.add([self.d[content, b], self.x[u, b]], [1, -1], 0)

    def _only_destinations(self) -> None:
        """Arcs enter only brokers with a subscriber, and those are such."""
        for content, users in enumerate(self.subscribers):
            for b in range(self.instance.num_brokers):
                columns = [*self.x[users, b].tolist(), self.d[content, b]]
                self.rows.add(columns, [1] * len(users) + [-1], 0)
        for number, tree in enumerate(self.trees):
            self.check_time()
            for i, j in np.argwhere(self.off_diagonal):
                self.rows.add([self.d[tree.content, j], self.y[number, i, j]], [1, -1], 0)

    def _shared_tree(self) -> None:
        brokers = self.instance.num_brokers
        upper = np.triu_indices(brokers, 1)
        self.t[upper] = self.add(np.zeros(len(upper[0])))
        self.t = np.maximum(self.t, self.t.T)
        links = self.t[upper]
        self.rows.add(links, 1, brokers - 1)
        self.rows.add(links, -1, 1 - brokers)
        for arcs in self.y:
            self.check_time()
            for i, j in zip(*upper, strict=True):
                self.rows.add([self.t[i, j], arcs[i, j], arcs[j, i]], [1, -1, -1], 0)

    def _payments(self) -> None:
        """A publisher at a broker makes its tree used, and pays its price."""
        core = np.floor(self.instance.core * _price_unit(self.instance.core)).astype(np.int64)
        most = int(core.sum()) // 2  # no tree has a link twice
        for group in self.groups:
            self.check_time()
            pay = int(self.add([group.rate / _price_unit(self.instance.core)], upper=most)[0])
            for number, tree in enumerate(self.trees):
                if tree.content == group.content and tree.root is not None:
                    here = int(self.x[group.publisher, tree.root])
                    self.rows.add([tree.source[0], here], [1, -1], 0)
                    arcs = self.y[number][self.off_diagonal]
                    prices = -core[self.off_diagonal]
                    self.rows.add([*arcs, pay, here], [*prices, 1, -most], -most)

    def values(self, answer: ContentOverlay) -> npt.NDArray[np.int8]:
        """The columns of a valid answer; columns added by a model after this one's are 0."""
        values = np.zeros(len(self.costs), np.int8)
        values[self.x[np.arange(self.instance.num_users), answer.brokers]] = 1
        for content, users in enumerate(self.subscribers):
            values[self.d[content, answer.brokers[users]]] = 1
        if self.routing == "shared-tree":
            for a, b in answer.trees[0].links:
                values[self.t[a, b]] = 1
        sources = {(group.content, int(answer.brokers[group.publisher])): group.publisher for group in self.groups}
        for number, tree in enumerate(self.trees):
            if tree.root is None:
                source = int(answer.brokers[np.flatnonzero((self.x == tree.source).all(axis=1))[0]])
            elif (tree.content, tree.root) in sources:
                source = tree.root
                values[tree.source] = 1
            else:
                continue
            wanted = set(answer.brokers[self.subscribers[tree.content]].tolist())
            for i, j in _arcs(self._links(answer, tree.content, source, wanted), source, wanted):
                values[self.y[number, i, j]] = 1
        return values

    def _links(self, answer: ContentOverlay, content: int, source: int, wanted: set[int]) -> list[tuple[int, int]]:
        if self.routing == "mst":
            return _spanning_links(self.instance.core, sorted(wanted | {source}))
        channels = self.channels[content].tolist()
        for tree in answer.trees:
            if tree.channel is None or (source in tree.sources and tree.channel in channels):
                return list(tree.links)
        return []

    def answer(self, x: Reals) -> ContentOverlay:
        """The answer that integral values of the columns stand for."""
        brokers: Ids = np.argmax(x[self.x], axis=1).astype(np.int32)
        if self.routing == "mst":
            return ContentOverlay(brokers)
        if self.routing == "shared-tree":
            upper = np.argwhere(np.triu(self.off_diagonal))
            return ContentOverlay(brokers, (RoutingTree.of([(i, j) for i, j in upper if x[self.t[i, j]] > 0.5]),))
        found: dict[tuple[int, int], RoutingTree] = {}
        for number, tree in enumerate(self.trees):
            source = int(np.argmax(x[tree.source])) if tree.root is None else tree.root
            wanted = set(brokers[self.subscribers[tree.content]].tolist())
            if wanted == {source} or (tree.root is not None and x[tree.source[0]] < 0.5):
                continue
            used = {int(b) for i, j in np.argwhere(self.off_diagonal) if x[self.y[number, i, j]] > 0.5 for b in (i, j)}
            links = _arcs(_spanning_links(self.instance.core, sorted({source, *wanted, *used})), source, wanted)
            for channel in self.channels[tree.content].tolist():
                route = RoutingTree.of(links, channel, [source])
                known = found.setdefault((source, channel), route)
                if route.price(self.instance.core) < known.price(self.instance.core):
                    found[source, channel] = route
        return ContentOverlay(brokers, tuple(found.values()))


def _groups(instance: ContentInstance) -> tuple[list[Columns], list[Columns], list[Group]]:
    """Channels by their subscribers, those subscribers, and who publishes to others there."""
    alike: dict[bytes, list[int]] = {}
    for channel in range(instance.num_channels):
        alike.setdefault(instance.subscriptions[:, channel].tobytes(), []).append(channel)
    channels: list[Columns] = []
    subscribers: list[Columns] = []
    groups: list[Group] = []
    for together in alike.values():
        wanting = np.flatnonzero(instance.subscriptions[:, together[0]])
        rates = instance.rates[:, together].sum(axis=1)
        publishers = [u for u in np.flatnonzero(rates).tolist() if (wanting != u).any()]
        if publishers:
            groups += [Group(u, len(channels), float(rates[u])) for u in publishers]
            channels.append(np.array(together))
            subscribers.append(wanting)
    return channels, subscribers, groups


def _whole(demands: Reals, room: Reals) -> tuple[Columns, Reals]:
    """Demands and room in whole numbers that forbid nothing which fits; exact for whole numbers of moderate size."""
    largest = max(1.0, float(demands.max()))
    whole = largest < _EXACT and (demands == np.floor(demands)).all()
    unit = 1.0 if whole else 2.0 ** np.floor(np.log2(_FINEST / largest))
    return np.floor(demands * unit).astype(np.int64), np.floor(room * unit)


def _price_unit(core: Reals) -> float:
    """By which prices become whole numbers; 1 if they are."""
    return 1.0 if (core == np.floor(core)).all() else 2.0 ** np.floor(np.log2(_FINEST / float(core.max())))


def _spanning_links(core: Reals, members: list[int]) -> list[tuple[int, int]]:
    """A minimum spanning tree of some brokers, by Prim's algorithm."""
    inside, links = members[:1], []
    while len(inside) < len(members):
        outside = [b for b in members if b not in inside]
        a, b = min(((a, b) for a in inside for b in outside), key=lambda link: (core[link], link))
        inside.append(b)
        links.append((a, b))
    return links


def _arcs(links: list[tuple[int, int]], source: int, wanted: set[int]) -> list[tuple[int, int]]:
    """The arcs from a source along a tree to the brokers wanted, and no further."""
    parent = {source: source}
    ahead = [source]
    for a in ahead:
        for i, j in links:
            b = j if i == a else i if j == a else a
            if b not in parent:
                parent[b] = a
                ahead.append(b)
    found = set()
    for b in wanted & parent.keys():
        while b != source:
            found.add((parent[b], b))
            b = parent[b]
    return sorted(found)
