"""The integer programs, in PuLP.

Every model has a binary x_e for each pair e of nodes with a topic in common; forced edges are fixed to 1. Then:

* **Topic-connected, multi-commodity.** Each topic gets an arborescence from a root block: arcs y_ij, with
  y_ij + y_ji ≤ x(edges between the blocks i and j), and for every other block q a unit flow from the root to q with
  f^q ≤ y. Its LP bound is that of all partition inequalities x(cross) ≥ k − 1 (Wong 1984; Dar, Fischer, Martinovic,
  Scheithauer 2021).
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

from dataclasses import dataclass, field
from itertools import combinations

import pulp

from ....instances.contract.overlay import Overlay
from ....instances.contract.run import Clock
from .requirements import Blocks, Edge, Requirements, Subscribers, pair, unconnected_topics
from .subproblem import Subproblem

# At most this many variables are built: about 4 GB in PuLP.
MOST_VARIABLES = 2_000_000


@dataclass
class OverlayIlp:
    """A PuLP model and the meaning of its variables.

    Attributes
    ----------
    program : pulp.LpProblem
    edge : dict
        x_e for every candidate edge.
    centre : dict
        For the diameter-2 problems, c_v of the subscribers of each topic.
    degree : LpVariable, optional
        D, for ``minmax-tco``.
    """

    num_nodes: int
    program: pulp.LpProblem
    edge: dict[Edge, pulp.LpVariable]
    centre: dict[Subscribers, dict[int, pulp.LpVariable]] = field(default_factory=dict)
    degree: pulp.LpVariable | None = None

    def integers_of(self, overlay: Overlay) -> dict[pulp.LpVariable, int]:
        """The values of all integer variables for a feasible overlay; they determine the flows and z."""
        chosen = set(map(tuple, overlay.edges.tolist()))
        values = {variable: int(edge in chosen) for edge, variable in self.edge.items()}
        for subscribers, centre in self.centre.items():
            hub = next((v for v in subscribers if all(pair(v, w) in chosen for w in subscribers if w != v)), None)
            values.update({variable: int(v == hub) for v, variable in centre.items()})
        if self.degree is not None:
            values[self.degree] = overlay.max_degree
        return values

    def overlay(self) -> Overlay:
        """The overlay of the variables' values."""
        return Overlay.from_edges(self.num_nodes, [edge for edge, x in self.edge.items() if (x.value() or 0) > 0.5])


def build_ilp(requirements: Requirements, subproblem: Subproblem, formulation: str, clock: Clock) -> OverlayIlp:
    """The model of a subproblem; `formulation` is "multi" or "single".

    Variables and rows: O(Σ_t |V_t|³) for multi and the true diameter, O(Σ_t |V_t|²) for single and the star.

    Raises
    ------
    OutOfTime
        If building takes longer than the clock.
    ModelTooLarge
        If there would be more than `MOST_VARIABLES` variables.
    """
    cubic = subproblem.problem == "2d-true" or (subproblem.problem != "2d-star" and formulation == "multi")
    requirements.check_size(3 if cubic else 2, MOST_VARIABLES)
    program = pulp.LpProblem("overlay")
    edge = {
        (u, v): program.add_variable(f"x_{u}_{v}", int((u, v) in requirements.forced), 1, pulp.LpInteger)
        for u, v in requirements.edges
    }
    ilp = OverlayIlp(requirements.num_nodes, program, edge)
    if subproblem.problem == "minmax-tco":
        ilp.degree = program.add_variable("degree", subproblem.least, requirements.num_nodes, pulp.LpInteger)
        program += pulp.lpSum([ilp.degree])
    else:
        total = pulp.LpAffineExpression([(x, requirements.cost.get(e, 1)) for e, x in edge.items()])
        program += total
        program += total >= subproblem.least
    if subproblem.degree_cap is not None or ilp.degree is not None:
        limit = subproblem.degree_cap if ilp.degree is None else ilp.degree
        for edges in requirements.incident.values():
            program += pulp.lpSum(edge[e] for e in edges) <= limit
    if subproblem.problem.startswith("2d-"):
        require = _require_star if subproblem.problem == "2d-star" else _Diameter()
        for subscribers in requirements.topics:
            clock.check()
            if len(subscribers) > 2:
                require(ilp, subscribers)
    else:
        connect = _connect_by_many_flows if formulation == "multi" else _connect_by_one_flow
        for number, topic in enumerate(unconnected_topics(requirements, clock)):
            clock.check()
            if topic.count == 2:
                program += pulp.lpSum(edge[e] for e in topic.between[0, 1]) >= 1
            else:
                connect(ilp, topic, str(number), clock)
    return ilp


def _connect_by_many_flows(ilp: OverlayIlp, topic: Blocks, name: str, clock: Clock) -> None:
    add = ilp.program.add_variable
    arcs = _arcs(topic)
    arborescence = {(i, j): add(f"y_{name}_{i}_{j}", 0, 1) for i, j in arcs}
    for (i, j), edges in topic.between.items():
        either = [arborescence[arc] for arc in ((i, j), (j, i)) if arc in arborescence]
        ilp.program += pulp.lpSum(either) <= pulp.lpSum(ilp.edge[e] for e in edges)
    for sink in range(1, topic.count):
        clock.check()
        flow = {(i, j): add(f"f_{name}_{sink}_{i}_{j}", 0, 1) for i, j in arcs if i != sink}
        for arc, amount in flow.items():
            ilp.program += amount <= arborescence[arc]
        for block in range(1, topic.count):
            ilp.program += _surplus(flow, block) == int(block == sink)


def _connect_by_one_flow(ilp: OverlayIlp, topic: Blocks, name: str, clock: Clock) -> None:
    crossing = {ends: pulp.lpSum(ilp.edge[e] for e in edges) for ends, edges in topic.between.items()}
    flow = {}
    for i, j in _arcs(topic):
        behind = topic.count - 1 if i == 0 else topic.count - 2
        flow[i, j] = ilp.program.add_variable(f"f_{name}_{i}_{j}", 0, behind)
        ilp.program += flow[i, j] <= behind * crossing[pair(i, j)]
    for block in range(1, topic.count):
        ilp.program += _surplus(flow, block) == 1
    ilp.program += pulp.lpSum(crossing.values()) >= topic.count - 1
    for block in range(topic.count):
        ilp.program += pulp.lpSum(edges for ends, edges in crossing.items() if block in ends) >= 1


def _arcs(topic: Blocks) -> list[tuple[int, int]]:
    return [(i, j) for i in range(topic.count) for j in range(1, topic.count) if i != j]


def _surplus(flow: dict[tuple[int, int], pulp.LpVariable], block: int) -> pulp.LpAffineExpression:
    """The flow into a block minus the flow out of it."""
    terms = [(amount, 1) for (_, j), amount in flow.items() if j == block]
    terms += [(amount, -1) for (i, _), amount in flow.items() if i == block]
    return pulp.LpAffineExpression(terms)


def _require_star(ilp: OverlayIlp, subscribers: Subscribers) -> None:
    ilp.program += _add_centre(ilp, subscribers) == 1


def _add_centre(ilp: OverlayIlp, subscribers: Subscribers) -> pulp.LpAffineExpression:
    """Centre variables of a topic, each with its star; returns their sum."""
    name = f"c_{len(ilp.centre)}"
    centre = {v: ilp.program.add_variable(f"{name}_{v}", 0, 1, pulp.LpInteger) for v in subscribers}
    ilp.centre[subscribers] = centre
    for u, v in combinations(subscribers, 2):
        ilp.program += ilp.edge[u, v] >= centre[u] + centre[v]
    return pulp.lpSum(centre.values())


class _Diameter:
    """Adds the rows of ``2d-true``, topic by topic; z_uvw is shared by all topics of u, v and w."""

    def __init__(self) -> None:
        self._joint: dict[tuple[int, int, int], pulp.LpVariable] = {}

    def __call__(self, ilp: OverlayIlp, subscribers: Subscribers) -> None:
        size = len(subscribers)
        has_centre = _add_centre(ilp, subscribers)
        ilp.program += has_centre <= 1
        if size == 3:
            ilp.program += has_centre == 1
            return
        for v in subscribers:
            ilp.program += pulp.lpSum(ilp.edge[pair(v, w)] for w in subscribers if w != v) >= 2 - has_centre
        fewest = max(size, 2 * size - 5)
        inside = pulp.lpSum(ilp.edge[e] for e in combinations(subscribers, 2))
        ilp.program += inside >= fewest - (fewest - (size - 1)) * has_centre
        for u, v in combinations(subscribers, 2):
            paths = [self._common_neighbour(ilp, u, v, w) for w in subscribers if w not in (u, v)]
            ilp.program += ilp.edge[u, v] + pulp.lpSum(paths) >= 1

    def _common_neighbour(self, ilp: OverlayIlp, u: int, v: int, w: int) -> pulp.LpVariable:
        if (u, v, w) not in self._joint:
            both = self._joint[u, v, w] = ilp.program.add_variable(f"z_{u}_{v}_{w}", 0, 1)
            ilp.program += both <= ilp.edge[pair(u, w)]
            ilp.program += both <= ilp.edge[pair(v, w)]
        return self._joint[u, v, w]
