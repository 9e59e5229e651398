"""The columns and rows that all exact models of a content-based overlay share (P4 §IV.A, corrected)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ...heuristics.content.routing import links_of, spanning_tree
from ...instances.content.instance import ContentInstance
from ...instances.content.problems import ContentOverlay, RoutingTree
from ...instances.contract.arrays import Ids, Reals
from ...instances.contract.option import Option
from ...instances.runtime.run import Clock
from ..engine.exact_method import check_size
from ..engine.integer_model import Columns, IntegerModel, Row
from ..engine.relaxation import RowList

_FINEST, _EXACT = 2.0**20, 2.0**40
_MOST_COLUMNS = 20_000_000


@dataclass(frozen=True)
class Audience:
    """Channels with the same subscribers."""

    channels: Columns
    subscribers: Columns


@dataclass(frozen=True)
class Commodity:
    """Messages that take one tree: those of a publisher to one audience, with their rate on all of its channels."""

    publisher: int
    audience: int
    rate: float


class ContentModel(IntegerModel):
    """0/1 columns: users on brokers, destination brokers of audiences, arcs of arborescences, a shared tree.

    The columns `x` say that a user is on a broker, shape (|U|, |B|); `d` that a broker has a subscriber of an audience,
    (audiences, |B|); `y` that a commodity's arborescence has the arc from broker i to j, (commodities, |B|, |B|), −1
    for i = j; `t` that the shared tree has the link, (|B|, |B|), symmetric, −1 for i = j and for the other routings.
    `rows` has assignment, capacity, destinations and the restrictions of the routing; each model adds the rows that
    connect arborescences to their destinations. There are |U||B| + audiences·|B| + commodities·|B|² columns. An
    arborescence starts at its publisher's broker, and its subscribers are leaves, so users need no arcs. Raises
    ModelTooLarge and OutOfTime.
    """

    def __init__(self, instance: ContentInstance, routing: str, *, clock: Clock | None = None) -> None:
        super().__init__()
        self.instance, self.routing, self.clock = instance, routing, clock or Clock(None)
        self.rows = RowList()
        self.audiences, self.commodities = _commodities(instance)
        users, brokers, audiences = instance.num_users, instance.num_brokers, len(self.audiences)
        check_size(len(self.commodities) * brokers**2, _MOST_COLUMNS)
        self.x = self.add((instance.demands[:, None] * instance.access).ravel()).reshape(users, brokers)
        self.d = self.add(np.zeros(audiences * brokers)).reshape(-1, brokers)
        self.off_diagonal = ~np.eye(brokers, dtype=np.bool_)
        self.y = np.full((len(self.commodities), brokers, brokers), -1)
        for number, commodity in enumerate(self.commodities):
            self.y[number][self.off_diagonal] = self.add(commodity.rate * instance.core[self.off_diagonal])
        self.t = np.full((brokers, brokers), -1)
        self._add_assignment()
        self._add_destinations()
        if routing == "mst":
            self._restrict_to_destinations()
        if routing == "shared-tree":
            self._restrict_to_shared_tree()

    def _listed(self) -> Iterator[Row]:
        for users in self.x.tolist():
            yield Row(users, [1] * len(users), 1, 1)
        for columns, values, rhs, text in self.rows:
            if text[:1] != ("on",):
                yield Row(columns.tolist(), values.tolist(), rhs)

    @property
    def num_rows(self) -> int:
        return len(self.rows) - len(self.x)

    def _add_assignment(self) -> None:
        instance, x = self.instance, self.x
        for u in range(instance.num_users):
            self.rows.add(x[u], 1, 1, ("on", u, 1))
            self.rows.add(x[u], -1, -1, ("on", u, -1))
        demands, limits, scale = _integral_demands(instance.demands, instance.load_limits())
        for b in range(instance.num_brokers):
            if limits[b] < demands.sum():
                self.rows.add(x[:, b], -demands, -int(limits[b]), ("capacity", b, scale))
                for u in np.flatnonzero(demands > limits[b]).tolist():
                    self.rows.add([x[u, b]], -1, 0, ("cover", b, u))

    def _add_destinations(self) -> None:
        for number, audience in enumerate(self.audiences):
            self.clock.check()
            for b in range(self.instance.num_brokers):
                for u in audience.subscribers.tolist():
                    self.rows.add([self.d[number, b], self.x[u, b]], [1, -1], 0, ("there", number, b, u))

    def _restrict_to_destinations(self) -> None:
        """Only brokers with a subscriber are destinations, and arcs enter only these."""
        for number, audience in enumerate(self.audiences):
            users = audience.subscribers
            for b in range(self.instance.num_brokers):
                columns = [*self.x[users, b].tolist(), self.d[number, b]]
                self.rows.add(columns, [1] * len(users) + [-1], 0, ("served", number, b))
        for number, commodity in enumerate(self.commodities):
            self.clock.check()
            for i, j in np.argwhere(self.off_diagonal):
                columns = [self.d[commodity.audience, j], self.y[number, i, j]]
                self.rows.add(columns, [1, -1], 0, ("enters", number, int(i), int(j)))

    def _restrict_to_shared_tree(self) -> None:
        brokers = self.instance.num_brokers
        upper = np.triu_indices(brokers, 1)
        self.t[upper] = self.add(np.zeros(len(upper[0])))
        self.t = np.maximum(self.t, self.t.T)
        links = self.t[upper]
        self.rows.add(links, 1, brokers - 1, ("links", 1))
        self.rows.add(links, -1, 1 - brokers, ("links", -1))
        for number, arcs in enumerate(self.y):
            self.clock.check()
            for i, j in zip(*upper, strict=True):
                columns = [self.t[i, j], arcs[i, j], arcs[j, i]]
                self.rows.add(columns, [1, -1, -1], 0, ("along", number, int(i), int(j)))

    def meanings(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        user, broker = self.instance.user_label, self.instance.broker_label
        for (u, b), x in np.ndenumerate(self.x):
            yield int(x), ("user on broker", user(u), broker(b))
        for (number, i, j), y in np.ndenumerate(self.y):
            yield int(y), ("link of a publisher", broker(i), broker(j), user(self.commodities[number].publisher))
        for i, j in np.argwhere(np.triu(self.t, 1) > 0).tolist():
            yield int(self.t[i, j]), ("link of the tree", broker(i), broker(j))

    def described(self, column: int) -> list[object]:
        kinds = ("x", self.x), ("d", self.d), ("y", self.y), ("t", np.triu(self.t, 1))
        return next([name, *at] for name, columns in kinds for at in np.argwhere(columns == column).tolist())

    def values(self, answer: ContentOverlay) -> npt.NDArray[np.int8]:
        """The values of the columns for a valid answer; 0 for columns that were added to this model later."""
        values = np.zeros(len(self.costs), np.int8)
        values[self.x[np.arange(self.instance.num_users), answer.brokers]] = 1
        for number, audience in enumerate(self.audiences):
            values[self.d[number, answer.brokers[audience.subscribers]]] = 1
        if self.routing == "shared-tree":
            for a, b in answer.trees[0].links:
                values[self.t[a, b]] = 1
        for number, commodity in enumerate(self.commodities):
            source = int(answer.brokers[commodity.publisher])
            destinations = set(answer.brokers[self.audiences[commodity.audience].subscribers].tolist())
            for i, j in _arcs(self._links(answer, commodity.audience, source, destinations), source, destinations):
                values[self.y[number, i, j]] = 1
        return values

    def _links(
        self, answer: ContentOverlay, audience: int, source: int, destinations: set[int]
    ) -> list[tuple[int, int]]:
        if self.routing == "mst":
            return _spanning_links(self.instance.core, destinations | {source})
        channels = self.audiences[audience].channels.tolist()
        for tree in answer.trees:
            if tree.channel is None or (source in tree.sources and tree.channel in channels):
                return list(tree.links)
        return []

    def answer(self, x: Reals) -> ContentOverlay:
        """The answer of integral values of the columns."""
        brokers: Ids = np.argmax(x[self.x], axis=1).astype(np.int32)
        if self.routing == "mst":
            return ContentOverlay(brokers)
        if self.routing == "shared-tree":
            upper = np.argwhere(np.triu(self.off_diagonal))
            return ContentOverlay(brokers, (RoutingTree.of([(i, j) for i, j in upper if x[self.t[i, j]] > 0.5]),))
        routes: dict[tuple[int, int], RoutingTree] = {}
        for number, commodity in enumerate(self.commodities):
            source = int(np.argmax(x[self.x[commodity.publisher]]))
            audience = self.audiences[commodity.audience]
            destinations = set(brokers[audience.subscribers].tolist())
            if destinations == {source}:
                continue
            used = {int(b) for i, j in np.argwhere(self.off_diagonal) if x[self.y[number, i, j]] > 0.5 for b in (i, j)}
            links = _arcs(_spanning_links(self.instance.core, {source, *destinations, *used}), source, destinations)
            for channel in audience.channels.tolist():
                route = RoutingTree.of(links, channel, [source])
                best = routes.setdefault((source, channel), route)
                if route.price(self.instance.core) < best.price(self.instance.core):
                    routes[source, channel] = route
        return ContentOverlay(brokers, tuple(routes.values()))


def _commodities(instance: ContentInstance) -> tuple[list[Audience], list[Commodity]]:
    """The audiences with messages from other users, and their commodities."""
    alike: dict[bytes, list[int]] = {}
    for channel in range(instance.num_channels):
        alike.setdefault(instance.subscriptions[:, channel].tobytes(), []).append(channel)
    audiences: list[Audience] = []
    commodities: list[Commodity] = []
    for channels in alike.values():
        subscribers = np.flatnonzero(instance.subscriptions[:, channels[0]])
        rates = instance.rates[:, channels].sum(axis=1)
        publishers = [u for u in np.flatnonzero(rates).tolist() if (subscribers != u).any()]
        if publishers:
            commodities += [Commodity(u, len(audiences), float(rates[u])) for u in publishers]
            audiences.append(Audience(np.array(channels), subscribers))
    return audiences, commodities


def _integral_demands(demands: Reals, limits: Reals) -> tuple[Columns, Reals, float]:
    """Demands and load limits as integers that cut off no feasible assignment, and their scale; exact for integers."""
    largest = float(demands.max()) or 1.0
    exact = largest < _EXACT and (demands == np.floor(demands)).all()
    unit = 1.0 if exact else 2.0 ** np.floor(np.log2(_FINEST / largest))
    return np.floor(demands * unit).astype(np.int64), np.floor(limits * unit), unit


def _spanning_links(core: Reals, members: set[int]) -> list[tuple[int, int]]:
    return links_of(spanning_tree(core, np.array(sorted(members), dtype=np.int32)))


def _arcs(links: list[tuple[int, int]], source: int, destinations: set[int]) -> list[tuple[int, int]]:
    """The arcs of a tree on the paths from a source to its destinations."""
    import networkx as nx

    tree: nx.Graph[int] = nx.Graph(links)
    tree.add_node(source)
    paths = nx.single_source_shortest_path(tree, source)
    return sorted({arc for end in destinations & paths.keys() for arc in pairwise(paths[end])})


FORMULATIONS = ("arborescences", "flows")
FORMULATION = Option(
    "formulation", FORMULATIONS[0], "how trees are connected, see docs/content.md", choices=FORMULATIONS
)


def compact_model(
    instance: ContentInstance, routing: str, formulation: str, clock: Clock | None = None
) -> ContentModel:
    """An exact model of polynomial size.

    ``arborescences``: one for each publisher and audience, connected by one flow (P4 §IV.A). ``flows``: one flow for
    each publisher, audience and destination broker; a link carries the union of the flows, which share their content
    (P4 §II.B, corrected). For n brokers, n² further columns for each arborescence, or n³ with ``flows``.
    """
    model = ContentModel(instance, routing, clock=clock)
    brokers = instance.num_brokers
    if routing == "shared-tree":
        for target in range(1, brokers):
            _add_unit_flow(model, model.t, None, target, None)
    for number, commodity in enumerate(model.commodities):
        model.clock.check()
        arcs, destinations = model.y[number], model.d[commodity.audience]
        source = model.x[commodity.publisher]
        if formulation == "flows":
            for target in range(brokers):
                _add_unit_flow(model, arcs, source, target, int(destinations[target]))
        else:
            _connect(model, arcs, source, destinations)
    return model


def _connect(model: ContentModel, arcs: Columns, source: Columns, destinations: Columns) -> None:
    """Arcs enter every destination and leave only entered brokers; one flow excludes cycles.

    The publisher's broker needs no entering arc.
    """
    brokers = len(arcs)
    flow = np.full((brokers, brokers), -1)
    most = max(1, brokers - 1)
    flow[model.off_diagonal] = model.add(np.zeros(brokers * (brokers - 1)), upper=most, integral=False)
    for i, j in np.argwhere(model.off_diagonal):
        model.rows.add([arcs[i, j], flow[i, j]], [most, -1], 0)
    for b in range(brokers):
        others = np.flatnonzero(model.off_diagonal[b])
        here, ends = int(source[b]), [1] * len(others)
        model.rows.add([*arcs[others, b], here, destinations[b]], [*ends, 1, -1], 0)
        # A destination consumes one unit of flow; the source supplies up to one unit for each broker.
        flows = [*flow[others, b], *flow[b, others], here, destinations[b]]
        model.rows.add(flows, [*ends, *[-1] * len(others), brokers, -1], 0)
        for j in others.tolist():
            before = [*(arcs[i, b] for i in others if i != j), here]
            model.rows.add([*before, arcs[b, j]], [*[1] * len(before), -1], 0)


def _add_unit_flow(
    model: ContentModel, arcs: Columns, source: Columns | None, target: int, destination: int | None
) -> None:
    """A unit of flow within the arcs to a target, if its `destination` column is 1 or there is none.

    The flow starts at the broker whose `source` column is 1, or at broker 0 if there is no source.
    """
    brokers = len(arcs)
    flow = np.full((brokers, brokers), -1)
    flow[model.off_diagonal] = model.add(np.zeros(brokers * (brokers - 1)), integral=False)
    for i, j in np.argwhere(model.off_diagonal):
        model.rows.add([arcs[i, j], flow[i, j]], [1, -1], 0)
    for b in range(brokers):
        others = np.flatnonzero(model.off_diagonal[b])
        columns = [*flow[others, b].tolist(), *flow[b, others].tolist()]
        values, rhs = [1] * len(others) + [-1] * len(others), 0
        if source is not None:
            columns.append(int(source[b]))
            values.append(1)
        elif b == 0:
            rhs -= 1
        if b == target and destination is not None:
            columns.append(destination)
            values.append(-1)
        elif b == target:
            rhs += 1
        model.rows.add(columns, values, rhs)
