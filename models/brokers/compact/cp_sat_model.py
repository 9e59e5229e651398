"""Fewest messages over soft links in CP-SAT: an arborescence with levels for each demand over links that are bought."""

from __future__ import annotations

from dataclasses import dataclass

from ortools.sat.python import cp_model

from ....instances.contract.run import Clock
from ...engine.cp_sat_solver import Solution
from .demands import Arc, Demands, Routes, routes_in_use


@dataclass(frozen=True)
class SoftLinkCP:
    """The model and its decisions, as in :class:`.SoftLinkILP`."""

    demands: Demands
    model: cp_model.CpModel
    bought: dict[Arc, cp_model.IntVar]
    used: dict[int, dict[Arc, cp_model.IntVar]]

    def routes(self, solution: Solution) -> Routes:
        """The routes of a solution."""
        return routes_in_use(self.demands, self.used, solution.boolean_value)

    def hint(self, links: set[Arc], routes: Routes) -> None:
        """Start from a known answer."""
        for arc, variable in self.bought.items():
            self.model.add_hint(variable, int(arc in links))
        for number, arcs in self.used.items():
            for arc, variable in arcs.items():
                self.model.add_hint(variable, int(arc in routes[number]))


def build_cp(demands: Demands, clock: Clock) -> SoftLinkCP:
    """Fewest messages over primary links and bought soft links.

    For each demand, exactly one link leads to each broker that is reached, and all destinations are reached. Levels
    that increase along the links in use exclude cycles. A link is used only if its sender is reached and, if soft, it
    is bought.

    Raises
    ------
    OutOfTime
        If no time is left while the model is built.

    Notes
    -----
    O(demands × links) variables and constraints.
    """
    model = cp_model.CpModel()
    size = demands.num_brokers
    bought = {(u, v): model.new_bool_var(f"x_{u}_{v}") for u, v in demands.soft}
    used: dict[int, dict[Arc, cp_model.IntVar]] = {}
    cost = []
    for number, demand in enumerate(demands.demands):
        clock.check()
        y = {(u, v): model.new_bool_var(f"y_{number}_{u}_{v}") for u, v in demands.arcs if v != demand.source}
        used[number] = y
        cost += [demand.weight * variable for variable in y.values()]
        level = [model.new_int_var(0 if v == demand.source else 1, size - 1, f"l_{number}_{v}") for v in range(size)]
        model.add(level[demand.source] == 0)
        reached = [model.new_bool_var(f"r_{number}_{v}") for v in range(size)]
        model.add(reached[demand.source] == 1)
        for v in range(size):
            if v == demand.source:
                continue
            into = [variable for (_, end), variable in y.items() if end == v]
            model.add_exactly_one([*into, reached[v].negated()])
            if v in demand.destinations:
                model.add(reached[v] == 1)
            else:
                model.add_bool_or([*(variable for (u, _), variable in y.items() if u == v), reached[v].negated()])
        for (u, v), variable in y.items():
            model.add_implication(variable, reached[u])
            model.add(level[v] == level[u] + 1).only_enforce_if(variable)
            if (u, v) in bought:
                model.add_implication(variable, bought[u, v])
            if (v, u) in y and u < v:
                model.add_at_most_one([variable, y[v, u]])
    for u, spare in enumerate(demands.spare):
        own = [variable for arc, variable in bought.items() if arc[0] == u]
        if len(own) > spare:
            model.add(sum(own) <= spare)
    model.minimize(sum(cost))
    model.add(sum(cost) >= demands.deliveries)
    return SoftLinkCP(demands, model, bought, used)
