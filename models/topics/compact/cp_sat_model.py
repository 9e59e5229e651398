"""The CP-SAT models.

Every model has a Boolean x_e for each pair e of nodes with a topic in common. Then:

* **Topic-connected**: each topic gets an arborescence from a root block. Every other block has one parent, a parent
  requires an edge between the two blocks, and a block has a higher level than its parent, which excludes cycles. Two
  valid inequalities raise the bound: some edge leaves every block, and at least k − 1 edges connect k blocks.
* **Smallest maximum degree**: an integer D, at least the degree of every node.
* **2d-star** and **2d-true**: as in :mod:`.ilp_model`, with clauses in place of equivalent rows.

Levels solve faster than flows: on uniform and Zipf 0.5 instances of 20 to 30 nodes, Min-TCO took CP-SAT 0.07, 0.08 and
0.7 s with levels, 0.1, 0.4 and 2.3 s with one integer flow per topic, and 0.1, 0.8 and 3.8 s with a Boolean flow per
block.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

from ortools.sat.python import cp_model

from ....instances.contract.overlay import Overlay
from ....instances.contract.run import Clock
from ...engine.cp_sat_solver import Solution
from .requirements import Blocks, Edge, Requirements, Subscribers, pair, unconnected_topics
from .subproblem import Subproblem

# At most this many variables are built: about 1 GB.
MOST_VARIABLES = 3_000_000


@dataclass
class OverlayCp:
    """A CP-SAT model and the meaning of its variables.

    Attributes
    ----------
    model : cp_model.CpModel
    edge : dict
        x_e for every candidate edge.
    centre : dict
        For the diameter-2 problems, c_v of the subscribers of each topic.
    joint : dict
        For ``2d-true``, z_uvw: w is adjacent to both u and v.
    """

    num_nodes: int
    model: cp_model.CpModel
    edge: dict[Edge, cp_model.IntVar]
    centre: dict[Subscribers, dict[int, cp_model.IntVar]] = field(default_factory=dict)
    joint: dict[tuple[int, int, int], cp_model.IntVar] = field(default_factory=dict)

    def hint(self, overlay: Overlay) -> None:
        """Hint the edges of an overlay; CP-SAT completes the other variables."""
        chosen = set(map(tuple, overlay.edges.tolist()))
        for edge, x in self.edge.items():
            self.model.add_hint(x, int(edge in chosen))

    def overlay(self, solution: Solution) -> Overlay:
        """The overlay of a solution."""
        return Overlay.from_edges(self.num_nodes, [edge for edge, x in self.edge.items() if solution.value(x)])


def build_cp(requirements: Requirements, subproblem: Subproblem, clock: Clock) -> OverlayCp:
    """The model of a subproblem.

    Variables: O(Σ_t |V_t|²), for ``2d-true`` O(Σ_t |V_t|³).

    Raises
    ------
    OutOfTime
        If building takes longer than the clock.
    ModelTooLarge
        If there would be more than `MOST_VARIABLES` variables.
    """
    requirements.check_size(3 if subproblem.problem == "2d-true" else 2, MOST_VARIABLES)
    model = cp_model.CpModel()
    edge = {e: model.new_int_var(int(e in requirements.forced), 1, "") for e in requirements.edges}
    cp = OverlayCp(requirements.num_nodes, model, edge)
    limit: int | cp_model.IntVar | None = subproblem.degree_cap
    if subproblem.problem == "minmax-tco":
        limit = model.new_int_var(subproblem.least, requirements.num_nodes, "degree")
        model.minimize(limit)
    else:
        total = sum(requirements.cost.get(e, 1) * x for e, x in edge.items())
        model.add(total >= subproblem.least)
        model.minimize(total)
    if limit is not None:
        for edges in requirements.incident.values():
            model.add(sum(edge[e] for e in edges) <= limit)
    if subproblem.problem.startswith("2d-"):
        require = _require_star if subproblem.problem == "2d-star" else _require_diameter
        for subscribers in requirements.topics:
            clock.check()
            if len(subscribers) > 2:
                require(cp, subscribers)
    else:
        for topic in unconnected_topics(requirements, clock):
            _connect(cp, topic)
    return cp


def _connect(cp: OverlayCp, topic: Blocks) -> None:
    model, blocks = cp.model, range(topic.count)
    crossing = {ends: [cp.edge[e] for e in edges] for ends, edges in topic.between.items()}
    for block in blocks:
        model.add_bool_or(x for ends, edges in crossing.items() if block in ends for x in edges)
    if topic.count == 2:
        return
    model.add(sum(x for edges in crossing.values() for x in edges) >= topic.count - 1)
    parent = {(i, j): model.new_bool_var("") for i in blocks for j in blocks if i != j and j > 0}
    for j in blocks[1:]:
        model.add_exactly_one(parent[i, j] for i in blocks if i != j)
    for ends, edges in crossing.items():
        either = [parent[arc] for arc in (ends, ends[::-1]) if arc in parent]
        model.add_at_most_one(either)
        for arc in either:
            model.add_bool_or(~arc, *edges)
        model.add(sum(either) <= sum(edges))
    level = [model.new_int_var(min(block, 1), topic.count - 1 if block else 0, "") for block in blocks]
    for (i, j), arc in parent.items():
        model.add(level[j] >= level[i] + 1).only_enforce_if(arc)


def _require_star(cp: OverlayCp, subscribers: Subscribers) -> None:
    cp.model.add_exactly_one(_add_centre(cp, subscribers))


def _add_centre(cp: OverlayCp, subscribers: Subscribers) -> list[cp_model.IntVar]:
    """Centre variables of a topic, each with its star."""
    centre = cp.centre[subscribers] = {v: cp.model.new_bool_var("") for v in subscribers}
    for u, v in combinations(subscribers, 2):
        cp.model.add(centre[u] + centre[v] <= cp.edge[u, v])
    return list(centre.values())


def _require_diameter(cp: OverlayCp, subscribers: Subscribers) -> None:
    model, size = cp.model, len(subscribers)
    centres = _add_centre(cp, subscribers)
    if size == 3:
        model.add_exactly_one(centres)
        return
    model.add_at_most_one(centres)
    has_centre = sum(centres)
    for v in subscribers:
        model.add(sum(cp.edge[pair(v, w)] for w in subscribers if w != v) >= 2 - has_centre)
    fewest = max(size, 2 * size - 5)
    inside = sum(cp.edge[e] for e in combinations(subscribers, 2))
    model.add(inside >= fewest - (fewest - (size - 1)) * has_centre)
    for u, v in combinations(subscribers, 2):
        paths = (_common_neighbour(cp, u, v, w) for w in subscribers if w not in (u, v))
        model.add_bool_or(cp.edge[u, v], *paths)


def _common_neighbour(cp: OverlayCp, u: int, v: int, w: int) -> cp_model.IntVar:
    if (u, v, w) not in cp.joint:
        both = cp.joint[u, v, w] = cp.model.new_bool_var("")
        cp.model.add_implication(both, cp.edge[pair(u, w)])
        cp.model.add_implication(both, cp.edge[pair(v, w)])
    return cp.joint[u, v, w]
