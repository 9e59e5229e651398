"""Fewest messages over soft links as an ILP: a multi-commodity flow for each demand over links that are bought."""

from __future__ import annotations

from dataclasses import dataclass

import pulp

from ....instances.contract.run import Clock
from .demands import Arc, Demands, Routes, routes_in_use


@dataclass(frozen=True)
class SoftLinkILP:
    """The program and its decisions: the soft links that are bought, and the links that each demand uses."""

    demands: Demands
    program: pulp.LpProblem
    bought: dict[Arc, pulp.LpVariable]
    used: dict[int, dict[Arc, pulp.LpVariable]]

    def routes(self) -> Routes:
        """The routes of the program's solution."""
        return routes_in_use(self.demands, self.used, lambda variable: variable.value() > 0.5)

    def start(self, links: set[Arc], routes: Routes) -> dict[pulp.LpVariable, int]:
        """The values of a known answer for the decisions that occur in the program."""
        values = {variable: int(arc in links) for arc, variable in self.bought.items()}
        for number, arcs in self.used.items():
            values |= {variable: int(arc in routes[number]) for arc, variable in arcs.items()}
        known = {variable.name for variable in self.program.variables()}
        return {variable: value for variable, value in values.items() if variable.name in known}


def build_ilp(demands: Demands, clock: Clock) -> SoftLinkILP:
    """Fewest messages over primary links and bought soft links.

    For each demand, y_a is 1 if it uses link a. Each destination k receives one unit of flow from the source, f_ka ≤
    y_a; a broker has at most one incoming y, a destination exactly one, the source none. Brokers send only what they
    receive (y_vw ≤ Σ y into v), and pure forwarders send it on (Σ y into v ≤ Σ y out of v). A soft link in use is
    bought (y_a ≤ x_a), by each broker at most as many as its fanout leaves. The relaxation of the flows equals that of
    directed Steiner cuts (Wong 1984), and the balance of forwarders strengthens it (Koch and Martin 1998).

    Raises
    ------
    OutOfTime
        If no time is left while the model is built.

    Notes
    -----
    O(Σ over demands of links × destinations) variables and rows.
    """
    program = pulp.LpProblem("soft_links", pulp.LpMinimize)
    bought = {(u, v): program.add_variable(f"x_{u}_{v}", cat="Binary") for u, v in demands.soft}
    used: dict[int, dict[Arc, pulp.LpVariable]] = {}
    cost = []
    for number, demand in enumerate(demands.demands):
        clock.check()
        arcs = [(u, v) for u, v in demands.arcs if v != demand.source]
        y = {(u, v): program.add_variable(f"y_{number}_{u}_{v}", cat="Binary") for u, v in arcs}
        used[number] = y
        cost += [demand.weight * variable for variable in y.values()]
        into: dict[int, list[Arc]] = {v: [] for v in range(demands.num_brokers)}
        out: dict[int, list[Arc]] = {v: [] for v in range(demands.num_brokers)}
        for u, v in arcs:
            into[v].append((u, v))
            out[u].append((u, v))
        for v in range(demands.num_brokers):
            if v == demand.source:
                continue
            received = pulp.lpSum(y[arc] for arc in into[v])
            program += (received == 1) if v in demand.destinations else (received <= 1)
            if v not in demand.destinations:
                program += received <= pulp.lpSum(y[arc] for arc in out[v])
            for arc in out[v]:
                program += y[arc] <= received - y.get((arc[1], v), 0)
        for arc in set(arcs) & set(bought):
            program += y[arc] <= bought[arc]
        for k in demand.destinations:
            _add_flow(program, f"f_{number}_{k}", demand.source, k, y, into, out)
    for u, spare in enumerate(demands.spare):
        own = [variable for arc, variable in bought.items() if arc[0] == u]
        if len(own) > spare:
            program += pulp.lpSum(own) <= spare
    program.setObjective(pulp.lpSum(cost))
    return SoftLinkILP(demands, program, bought, used)


def _add_flow(
    program: pulp.LpProblem,
    name: str,
    source: int,
    end: int,
    y: dict[Arc, pulp.LpVariable],
    into: dict[int, list[Arc]],
    out: dict[int, list[Arc]],
) -> None:
    """One unit of flow from the source to `end`, over links in use only."""
    flow = {(u, v): program.add_variable(f"{name}_{u}_{v}", 0, 1) for u, v in y if u != end}
    for arc, variable in flow.items():
        program += variable <= y[arc]
    for v in into:
        net = pulp.lpSum(flow[arc] for arc in into[v] if arc in flow) - pulp.lpSum(
            flow[arc] for arc in out[v] if arc in flow
        )
        if v != source:
            program += net == (1 if v == end else 0)
