"""The compact models of the topic problems, for CP-SAT and for ILP solvers, and the bounds that need no solver.

Every model has a 0/1 column x_e for each pair e of nodes with a topic in common; forced edges are fixed to 1. Then:

* **Topic-connected, levels** (CP-SAT). Each topic gets an arborescence from a root block. Every other block has one
  parent, a parent requires an edge between the two blocks, and a block has a higher level than its parent, which
  excludes cycles. Two valid inequalities raise the bound: some edge leaves every block, and at least k − 1 edges
  connect k blocks. On 20 to 30 nodes, flows in place of levels take CP-SAT 1.4 to 10 times as long.
* **Topic-connected, multi-commodity.** Arcs y_ij of an arborescence, with y_ij + y_ji ≤ x(edges between the blocks i
  and j), and for every other block q a unit flow from the root to q with f^q ≤ y. Its LP bound is that of all partition
  inequalities x(cross) ≥ k − 1 (Wong 1984; Dar, Fischer, Martinovic, Scheithauer 2021).
* **Topic-connected, single-commodity.** One flow: each block but the root consumes a unit, and an arc carries at most
  as many units as there may be blocks behind it, times x. Two valid inequalities strengthen it: x(all) ≥ k − 1, and
  x(edges at a block) ≥ 1. It is smaller and weaker: the sum of the multi-commodity flows is feasible for it.
* **Smallest maximum degree**: an integer D, at least the degree of every node, is minimised.
* **2d-star**: a topic has one centre, Σ_v c_v = 1, and x_uv ≥ c_u + c_v for all its pairs.
* **2d-true**: a topic has at most one centre, as above. Any two subscribers are adjacent or have a common neighbour
  w in V_t: x_uv + Σ_w z_uvw ≥ 1 with z_uvw ≤ x_uw, x_vw. Without a centre each subscriber has two neighbours in V_t
  (a subscriber's only neighbour would be a centre), and V_t has at least 2|V_t| − 5 edges (Erdős, Rényi 1962).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.overlay import Overlay
from ....instances.runtime.run import Clock, Report
from ....instances.topics.instance import TopicInstance
from ....instances.topics.objective import CONNECTED, Objective
from ...engine.exact_method import SolverOutcome, check_size
from ...engine.integer_model import IntegerModel
from ..relaxation.topic_rows import all_pairs

Edge = tuple[int, int]
Subscribers = tuple[int, ...]
_MOST_SUBSCRIBERS = 5_000_000
MOST_PAIRS = 20_000_000
_SECONDS_A_PAIR, _SECONDS_A_COLUMN = 5e-7, 2e-6  # at most, to read it and to build it


@dataclass(frozen=True)
class Requirements:
    """An instance without redundant topics and useless edges."""

    num_nodes: int
    topics: list[Subscribers]  # the distinct V_t of at least two subscribers
    edges: list[Edge]  # the pairs u < v with a topic in common, in order: no other edge is ever needed
    forced: frozenset[Edge]  # the topics of two subscribers: only their one edge connects such a topic
    cost: Mapping[Edge, int] = field(default_factory=dict)


def requirements_of(instance: TopicInstance, clock: Clock, objective: Objective = CONNECTED) -> Requirements:
    """Read an instance. Time and memory O(Σ_t |V_t|²), O(Σ_t |V_t|³) if fault-tolerant.

    Edges have the costs of the objective. If topics are to be two-connected, a topic of three or more subscribers is
    replaced by its sets of all subscribers but one: an overlay connects all of these exactly if it is fault-tolerant.
    Raises OutOfTime and ModelTooLarge.
    """
    pairs = int((np.diff(instance.topic_offsets).astype(np.int64) ** 2).sum()) // 2
    check_size(pairs, MOST_PAIRS)
    clock.check(_SECONDS_A_PAIR * pairs)
    topics = sorted({tuple(instance.subscribers(t).tolist()) for t in range(instance.num_topics)})
    if objective.rule == "two-connected":
        check_size(sum(len(subscribers) ** 2 for subscribers in topics), _MOST_SUBSCRIBERS)
        left = (
            part for topic in topics for part in (combinations(topic, len(topic) - 1) if len(topic) > 2 else [topic])
        )
        topics = sorted(set(left))
    topics = [subscribers for subscribers in topics if len(subscribers) > 1]
    forced = frozenset((topic[0], topic[1]) for topic in topics if len(topic) == 2)
    u, v = np.divmod(all_pairs(instance), instance.num_nodes)
    clock.check()
    edges = list(zip(u.tolist(), v.tolist(), strict=True))
    costs = instance.edge_costs(u, v).tolist() if objective.weighted else []
    return Requirements(instance.num_nodes, topics, edges, forced, dict(zip(edges, costs, strict=False)))


@dataclass(frozen=True)
class Blocks:
    """A topic whose subscribers are grouped into blocks that forced edges connect, the largest first.

    `count` is their number, at least 2; `between` has the edges between blocks i < j.
    """

    count: int
    between: dict[tuple[int, int], list[Edge]]


def unconnected_topics(requirements: Requirements, clock: Clock) -> Iterator[Blocks]:
    """The topics that the forced edges leave unconnected, each distinct partition into blocks once.

    An overlay with the forced edges connects a topic if and only if it connects its blocks. Time O(Σ_t |V_t|² +
    |forced|).
    """
    import networkx as nx

    forced: nx.Graph[int] = nx.Graph(requirements.forced)
    forced.add_nodes_from(range(requirements.num_nodes))
    seen = set()
    for subscribers in requirements.topics:
        clock.check()
        blocks = [tuple(sorted(block)) for block in nx.connected_components(forced.subgraph(subscribers))]
        blocks.sort(key=lambda block: (-len(block), block))
        if len(blocks) > 1 and (key := tuple(blocks)) not in seen:
            seen.add(key)
            pairs = combinations(range(len(blocks)), 2)
            yield Blocks(len(blocks), {(i, j): [pair(u, v) for u in blocks[i] for v in blocks[j]] for i, j in pairs})


def pair(u: int, v: int) -> Edge:
    """The edge between two nodes, smaller node first."""
    return (u, v) if u < v else (v, u)


class SimpleBounds(NamedTuple):
    """Bounds on the edges and the maximum degree of every overlay in which each topic is connected."""

    edges: int
    max_degree: int


def simple_bounds(requirements: Requirements, clock: Clock) -> SimpleBounds:
    """Bounds from single topics and single nodes. Time O(Σ_t |V_t|²).

    A topic needs |V_t| − 1 edges, and topics that share no pair of subscribers need distinct ones. A node needs a
    neighbour in each of its topics, and topics that share no other subscriber need distinct neighbours. The degrees add
    up to twice the edges, and in a topic of more than two subscribers some degree is at least 2.
    """
    smallest_first = sorted(requirements.topics, key=len)
    topics_at: dict[int, list[Subscribers]] = defaultdict(list)
    for topic in smallest_first:
        clock.check()
        for node in topic:
            topics_at[node].append(topic)
    degrees = [_neighbours_needed(node, topics, clock) for node, topics in topics_at.items()]
    edges = max(_edges_needed(smallest_first, clock), math.ceil(sum(degrees) / 2))
    path = 2 if smallest_first and len(smallest_first[-1]) > 2 else 0
    return SimpleBounds(edges, max([*degrees, path, math.ceil(2 * edges / requirements.num_nodes)]))


def _neighbours_needed(node: int, topics: Iterable[Subscribers], clock: Clock) -> int:
    clock.check()
    others: set[int] = set()
    count = 0
    for topic in topics:
        if others.isdisjoint(rest := [v for v in topic if v != node]):
            others.update(rest)
            count += 1
    return count


def _edges_needed(topics: list[Subscribers], clock: Clock) -> int:
    taken: set[Edge] = set()
    total = 0
    for topic in topics:
        clock.check(_SECONDS_A_PAIR * len(topic) ** 2 / 2)
        pairs = list(combinations(topic, 2))
        if taken.isdisjoint(pairs):
            taken.update(pairs)
            total += len(topic) - 1
    return max(total, max((len(topic) - 1 for topic in topics), default=0))


class OverlayModel(IntegerModel):
    """A model with a 0/1 column x_e, in `edge`, for each of some pairs e = (u, v), u < v, of nodes.

    For diameter 2, `centre` has c_v of the subscribers of each topic; for ``2d-true``, `joint` has z_uvw: w is adjacent
    to both u and v, shared by all topics of u, v and w. `degree` is D, if it is there, at least the degree of every
    node.
    """

    def __init__(
        self, num_nodes: int, edges: Iterable[Edge], forced: frozenset[Edge] = frozenset(), clock: Clock | None = None
    ) -> None:
        super().__init__(clock)
        self.num_nodes, self.lazy = num_nodes, False
        self.edge = {e: self.column(int(e in forced)) for e in edges}
        self.centre: dict[Subscribers, dict[int, int]] = {}
        self.joint: dict[tuple[int, int, int], int] = {}
        self.degree: int | None = None

    def meanings(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        yield from ((x, ("edge", self.label(u), self.label(v))) for (u, v), x in self.edge.items())
        yield from ((x, ("centre", self.label(v))) for each in self.centre.values() for v, x in each.items())
        if self.degree is not None:
            yield self.degree, ("maximum degree",)

    def incident(self) -> dict[int, list[int]]:
        """The columns of the edges at each node that has any."""
        columns: dict[int, list[int]] = defaultdict(list)
        for edge, x in self.edge.items():
            for node in edge:
                columns[node].append(x)
        return columns

    def max_degree(self, least: int = 0, *, cost: float = 0.0) -> int:
        """The column D, at least the degree of every node; added at its first use."""
        if self.degree is None:
            self.degree = self.column(least, self.num_nodes, cost=cost)
            for columns in self.incident().values():
                self.require([self.degree, *columns], [1, *[-1] * len(columns)], least=0)
        return self.degree

    def start(self, overlay: Overlay) -> dict[int, int]:
        """The values of an overlay's edges, centres and degree; a valid overlay's determine all others but levels."""
        chosen = set(map(tuple, overlay.edges.tolist()))
        values = {x: int(edge in chosen) for edge, x in self.edge.items()}
        for subscribers, centre in self.centre.items():
            hub = next((v for v in subscribers if all(pair(v, w) in chosen for w in subscribers if w != v)), None)
            values |= {c: int(v == hub) for v, c in centre.items()}
        return values if self.degree is None else {**values, self.degree: overlay.max_degree}

    def overlay(self, values: npt.NDArray[np.float64]) -> Overlay:
        return Overlay.from_edges(self.num_nodes, [edge for edge, x in self.edge.items() if values[x] > 0.5])


@dataclass(frozen=True)
class Subproblem:
    """One minimisation; the costs of the edges and fault tolerance are in the requirements."""

    objective: Objective
    least: int = 0  # a known lower bound on the value, which becomes a row of the model
    degree_cap: int | None = None  # no degree is above
    report: Report | None = None  # is given the value of each solution, and each bound on it


Minimise = Callable[[Subproblem, Overlay | None, Clock], SolverOutcome[Overlay]]
"""A model with its solver, from a subproblem and a feasible start, if there is one; it may raise :class:`.OutOfTime` or
:class:`.ModelTooLarge` before any result."""


def build_model(requirements: Requirements, subproblem: Subproblem, formulation: str, clock: Clock) -> OverlayModel:
    """The model of a subproblem, in which topics are connected by "levels", "single" or "multi".

    The diameter-2 problems have one formulation. Columns and rows: O(Σ_t |V_t|³) for ``multi`` and the true diameter,
    O(Σ_t |V_t|²) for the others; ModelTooLarge is raised above `MOST_VARIABLES` columns, OutOfTime when the clock ends.
    """
    objective, rule = subproblem.objective, _FORMULATIONS.get(subproblem.objective.rule)
    cubic = formulation == "multi" if rule is None else rule.cubic
    columns_of_topics = sum(len(subscribers) ** (3 if cubic else 2) for subscribers in requirements.topics)
    check_size(len(requirements.edges) + columns_of_topics, MOST_VARIABLES[formulation])
    clock.check(_SECONDS_A_COLUMN * len(requirements.edges))
    model = OverlayModel(requirements.num_nodes, requirements.edges, requirements.forced, clock)
    model.lazy = rule is not None and rule.lazy
    if objective.of_degree:
        model.max_degree(subproblem.least, cost=1)
    else:
        for edge, x in model.edge.items():
            model.costs[x] = requirements.cost.get(edge, 1)
        model.require(model.edge.values(), [requirements.cost.get(e, 1) for e in model.edge], least=subproblem.least)
    if subproblem.degree_cap is not None:
        for columns in model.incident().values():
            model.require(columns, most=subproblem.degree_cap)
    if rule is not None:
        for subscribers in requirements.topics:
            clock.check()
            if len(subscribers) > 2:
                rule.require(model, subscribers)
        return model
    for topic in unconnected_topics(requirements, clock):
        clock.check()
        if topic.count == 2:
            model.require_some(model.edge[e] for e in topic.between[0, 1])
        else:
            _CONNECT[formulation](model, topic, clock)
    return model


def _connect_by_levels(model: OverlayModel, topic: Blocks, clock: Clock) -> None:
    crossing = _require_crossing(model, topic)
    parent = {arc: model.column() for arc in _arcs(topic)}
    for j in range(1, topic.count):
        model.require((parent[i, j] for i in range(topic.count) if i != j), least=1, most=1)
    for ends, edges in crossing.items():
        either = [parent[arc] for arc in (ends, ends[::-1]) if arc in parent]
        model.require(either, most=1)
        for arc in either:
            model.require_some(edges, of=arc)
        model.require([*edges, *either], [1] * len(edges) + [-1] * len(either), least=0)
    last = topic.count - 1
    model.require_levels(parent, [model.column(min(block, 1), last if block else 0) for block in range(topic.count)])


def _connect_by_one_flow(model: OverlayModel, topic: Blocks, clock: Clock) -> None:
    crossing = _require_crossing(model, topic)
    flow = {}
    for i, j in _arcs(topic):
        behind = topic.count - 1 if i == 0 else topic.count - 2
        flow[i, j] = model.column(0, behind, integral=False)
        edges = crossing[pair(i, j)]
        model.require([*edges, flow[i, j]], [behind] * len(edges) + [-1], least=0)
    for block in range(1, topic.count):
        model.require_surplus(_at(block, topic, flow), block, 1)


def _connect_by_many_flows(model: OverlayModel, topic: Blocks, clock: Clock) -> None:
    arborescence = {arc: model.column(integral=False) for arc in _arcs(topic)}
    for (i, j), edges in topic.between.items():
        either = [arborescence[arc] for arc in ((i, j), (j, i)) if arc in arborescence]
        columns = [*(model.edge[e] for e in edges), *either]
        model.require(columns, [1] * len(edges) + [-1] * len(either), least=0)
    for sink in range(1, topic.count):
        clock.check()
        flow = {arc: model.column(integral=False) for arc in arborescence if arc[0] != sink}
        for arc, amount in flow.items():
            model.require([arborescence[arc], amount], [1, -1], least=0)
        for block in range(1, topic.count):
            model.require_surplus(_at(block, topic, flow), block, int(block == sink))


MOST_VARIABLES = {"levels": 3_000_000, "single": 2_000_000, "multi": 2_000_000}
"""At most so many columns are built: about 1 GB in CP-SAT."""
_CONNECT = {"levels": _connect_by_levels, "single": _connect_by_one_flow, "multi": _connect_by_many_flows}


def _require_crossing(model: OverlayModel, topic: Blocks) -> dict[tuple[int, int], list[int]]:
    """An edge leaves every block, and k − 1 connect k blocks; returns the columns of the edges between two blocks."""
    crossing = {ends: [model.edge[e] for e in edges] for ends, edges in topic.between.items()}
    for block in range(topic.count):
        others = (crossing[pair(block, other)] for other in range(topic.count) if other != block)
        model.require_some(x for edges in others for x in edges)
    model.require((x for edges in crossing.values() for x in edges), least=topic.count - 1)
    return crossing


def _arcs(topic: Blocks) -> list[tuple[int, int]]:
    return [(i, j) for i in range(topic.count) for j in range(1, topic.count) if i != j]


def _at(block: int, topic: Blocks, flow: dict[tuple[int, int], int]) -> dict[tuple[int, int], int]:
    """The flow on the arcs at a block, in the order of :func:`_arcs`."""
    into = [(i, block) for i in range(topic.count)]
    arcs = (*into[:block], *((block, j) for j in range(topic.count)), *into[block + 1 :])
    return {arc: flow[arc] for arc in arcs if arc in flow}


def _add_centre(model: OverlayModel, subscribers: Subscribers) -> list[int]:
    """Centre columns of a topic, each with its star."""
    centre = model.centre[subscribers] = {v: model.column() for v in subscribers}
    for u, v in combinations(subscribers, 2):
        model.require([model.edge[u, v], centre[u], centre[v]], [1, -1, -1], least=0)
    return list(centre.values())


def _require_diameter(model: OverlayModel, subscribers: Subscribers) -> None:
    size = len(subscribers)
    centres = _add_centre(model, subscribers)
    model.require(centres, least=int(size == 3), most=1)
    if size == 3:
        return
    for v in subscribers:
        model.require([*(model.edge[pair(v, w)] for w in subscribers if w != v), *centres], least=2)
    fewest = max(size, 2 * size - 5)
    inside = [model.edge[e] for e in combinations(subscribers, 2)]
    model.require([*inside, *centres], [1] * len(inside) + [fewest - (size - 1)] * size, least=fewest)
    for u, v in combinations(subscribers, 2):
        paths = (_common_neighbour(model, u, v, w) for w in subscribers if w not in (u, v))
        model.require_some([model.edge[u, v], *paths])


def _common_neighbour(model: OverlayModel, u: int, v: int, w: int) -> int:
    if (u, v, w) not in model.joint:
        both = model.joint[u, v, w] = model.column(integral=False)
        model.imply(both, model.edge[pair(u, w)])
        model.imply(both, model.edge[pair(v, w)])
    return model.joint[u, v, w]


class _Formulation(NamedTuple):
    """The rows of a topic under a rule other than connection."""

    require: Callable[[OverlayModel, Subscribers], None]  # adds them
    cubic: bool = False  # they are O(|V_t|³)
    lazy: bool = False  # CP-SAT adds rows to its LP once they are violated: all those of stars take seconds


_FORMULATIONS = {
    "star": _Formulation(lambda model, own: model.require(_add_centre(model, own), least=1, most=1), lazy=True),
    "diameter-2": _Formulation(_require_diameter, cubic=True),
}
