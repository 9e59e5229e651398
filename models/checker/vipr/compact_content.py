"""The compact model of content-based overlays, and each row of a proof derived from its constraints (vipr.py)."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

from cases import need, neighbours
from compact import Connection, Flow, parents_from


class CompactContentModel:
    """x says where a user is, d which brokers have a subscriber of an audience: the channels with equal subscribers.

    For each publisher with messages to an audience of others, y says whether their tree has an arc; a flow along it
    starts where the publisher is and brings a unit to each broker with a subscriber. A spanning tree's arcs enter such
    brokers only; t says whether a shared tree has a link, and a flow of its own connects all brokers.
    """

    def __init__(self, file, model, *_):
        self.file, self.model, self.brokers = file, model, model.brokers
        alike = {}
        for c in model.channels:
            alike.setdefault(tuple(u for u in model.users if model.wanted[u][c]), []).append(c)
        self.audiences, audiences = list(alike.items()), range(len(alike))
        self.x = {(u, b): file.variable(f"x_{u}_{b}", 1) for u in model.users for b in model.brokers}
        costs = {x: model.demands[u] * model.access[u][b] for (u, b), x in self.x.items()}
        self.d = {(a, b): file.variable(f"d_{a}_{b}", 1) for a in audiences for b in model.brokers}
        self.shared, self.y, self.flows = None, {}, {}
        if model.problem == "content-shared-tree":
            links = {(i, j): file.variable(f"t_{i}_{j}", 1) for i, j in combinations(model.brokers, 2)}
            self.shared = Connection(file, "t", list(model.brokers), links)
        for a, (members, channels) in enumerate(self.audiences):
            for u in model.users:
                rate = sum(model.rates[u][c] for c in channels)
                if rate and set(members) - {u}:
                    for i, j in permutations(model.brokers, 2):
                        self.y[u, a, i, j] = file.variable(f"y_{u}_{a}_{i}_{j}", 1)
                        costs[self.y[u, a, i, j]] = rate * model.core[i][j]
                    arcs = {("p", b): self.x[u, b] for b in model.brokers}
                    arcs |= {(i, j): self.y[u, a, i, j] for i, j in permutations(model.brokers, 2)}
                    needs = {b: f"d_{a}_{b}" for b in model.brokers}
                    self.flows[u, a] = Flow(file, f"{u}_{a}", arcs, needs)
        costs = {variable: cost for variable, cost in costs.items() if cost}
        if all(cost.denominator == 1 for cost in costs.values()):
            costs = {variable: int(cost) for variable, cost in costs.items()}
        self.objective = costs
        self._name_columns()
        self._constrain()

    def _name_columns(self):
        """The variable of each column of the proof, and costs in integers: rounded down to units, if they are none."""
        model, known = self.model, [members for members, _ in self.audiences]
        self.places = places = [known.index(members) for members in model.members]
        for audience, place in zip(model.audiences, places, strict=True):
            need({*audience} == {*self.audiences[place][1]}, f"{audience} lacks channels: it has no translation")
        self.commodities = {k: (u, places[a]) for k, (u, a, _) in enumerate(model.commodities)}
        need(
            set(self.commodities.values()) <= set(self.flows),
            "a commodity without messages to others has no translation",
        )
        self.columns = {}
        for kind, *items in model.columns:
            if kind == "x":
                self.columns[kind, *items] = self.x[tuple(items)]
            elif kind == "d":
                self.columns[kind, *items] = self.d[places[items[0]], items[1]]
            elif kind == "y":
                self.columns[kind, *items] = self.y[*self.commodities[items[0]], *items[1:]]
            else:
                self.columns[kind, *items] = self.shared.links[tuple(items)]
        self.per = model.unit if all(type(cost) is int for cost in self.objective.values()) else 1
        costs = {self.columns[column]: cost // self.per for column, cost in model.costs.items() if cost}
        self.costs = self.objective if costs == self.objective else costs

    def _constrain(self):
        file, model = self.file, self.model
        self.on = {u: file.constraint(f"on_{u}", "E", 1, {self.x[u, b]: 1 for b in model.brokers}) for u in model.users}
        self.limit = {
            b: file.constraint(f"cap_{b}", "L", limit, {self.x[u, b]: model.demands[u] for u in model.users})
            for b, limit in enumerate(model.limits)
            if limit is not None
        }
        self.there, self.served, self.enters, self.along, self.links = {}, {}, {}, {}, None
        for (a, b), d in self.d.items():
            users = self.audiences[a][0]
            for u in users:
                terms = {d: 1, self.x[u, b]: -1}
                self.there[a, b, u] = file.constraint(f"there_{a}_{b}_{u}", "G", 0, terms)
            terms = {self.x[u, b]: 1 for u in users} | {d: -1}
            self.served[a, b] = file.constraint(f"served_{a}_{b}", "G", 0, terms)
        for flow in self.flows.values():
            flow.constrain()
        for (u, a, i, j), y in self.y.items():
            if model.problem == "content-mst":
                terms = {self.d[a, j]: 1, y: -1}
                self.enters[u, a, i, j] = file.constraint(f"enters_{u}_{a}_{i}_{j}", "G", 0, terms)
            elif self.shared and i < j:
                terms = {self.shared.links[i, j]: 1, y: -1, self.y[u, a, j, i]: -1}
                self.along[u, a, i, j] = file.constraint(f"along_{u}_{a}_{i}_{j}", "G", 0, terms)
        if self.shared:
            self.shared.constrain()
            terms = dict.fromkeys(self.shared.links.values(), 1)
            self.links = file.constraint("links", "E", len(model.brokers) - 1, terms)

    def row(self, kind, *items):
        """See :meth:`Content.row`."""
        rules, (first, *rest) = self.model, items
        if kind in ("there", "served"):
            a = self.places[first]
            return self.there[a, *rest] if kind == "there" else self.served[a, *rest]
        if kind in ("enters", "along"):
            return getattr(self, kind)[*self.commodities[first], *rest]
        if kind == "cut":
            return self.flows[self.commodities[first]].entered(set(rest[1:]), rest[0])
        if kind == "tree":
            return self.shared.partition({b: int(b in items) for b in self.brokers})
        given, rhs = rules.row(kind, *items)
        coefficients = {self.columns[column]: factor for column, factor in given if factor}
        if not given:  # one broker has no links
            return self.file.derive("lin", "G", rhs, {}, {})
        if kind in ("on", "links"):
            equation, sign = (self.on[first], rest[0]) if kind == "on" else (self.links, first)
            return equation if sign > 0 else self.file.derive("lin", "G", rhs, coefficients, {equation: -1})
        demands = {u: rules.demands[u] for u in rules.users}
        if kind == "capacity":
            scale = Fraction(rest[0])
        else:  # users who do not fit: their demands divided by the largest are less than their number by less than it
            over = sum(demands[u] for u in rest) - rules.limits[first]
            scale = 1 / max(over, *(demands[u] for u in rest))
        terms = {self.limit[first]: -scale}
        for u, demand in demands.items():
            x = self.x[u, first]
            left = coefficients.get(x, 0) + scale * demand
            terms[self.file.low[x] if left > 0 else self.file.up[x]] = left
        return self.file.derive("rnd", "G", rhs, coefficients, terms)

    def solution(self, answer):
        model, (at, trees) = self.model, answer
        values = {self.x[u, b]: 1 for u, b in enumerate(at)}
        if self.shared:
            given = {frozenset(link) for tree in trees for link in tree[2]}
            links = spanning({link: frozenset(link) not in given for link in self.shared.links}, self.brokers)
            shared = neighbours(links, self.brokers)
            values |= {self.shared.links[min(link), max(link)]: 1 for link in links} | self.shared.solution(shared)
        for a, (members, channels) in enumerate(self.audiences):
            destinations = {at[v] for v in members}
            values |= {self.d[a, b]: 1 for b in destinations}
            for u in model.users:
                if (u, a) not in self.flows:
                    continue
                source = at[u]
                if self.shared:
                    near = shared
                elif model.problem == "content-mst":
                    inside = destinations | {source}
                    prices = {(i, j): model.core[i][j] for i, j in combinations(sorted(inside), 2)}
                    near = neighbours(spanning(prices, inside), self.brokers)
                else:
                    sent = {c for c in channels if model.rates[u][c]}
                    found = [tree[2] for tree in trees if tree[0] in sent and source in tree[1]]
                    cheapest = min(found, key=model.links_price) if destinations - {source} else []
                    near = neighbours(cheapest, self.brokers)
                parents = parents_from(source, near, set(self.brokers)) | {source: "p"}
                flow = self.flows[u, a].along(parents, destinations)
                values |= flow
                for (i, j), unit in self.flows[u, a].units.items():
                    if unit in flow and i != "p":
                        values[self.y[u, a, i, j]] = 1
        return values

    def prove(self, cases, bound, lower):
        """Costs of the proof's columns, rounded down, are at least the bound, and so are all costs."""
        found = lower(0, bound)
        if self.costs is self.objective:
            return found
        share = Fraction(self.per, self.model.unit)
        terms = {found: share}
        for variable, cost in self.objective.items():
            terms[self.file.low[variable]] = cost - share * self.costs.get(variable, 0)
        return self.file.derive("lin", "G", bound, self.objective, terms)


def spanning(prices, nodes):
    """The links of a minimum spanning tree."""
    part, links = {b: {b} for b in nodes}, []
    for i, j in sorted(prices, key=prices.get):
        if part[i] is not part[j]:
            part[i] |= part[j]
            part |= dict.fromkeys(part[j], part[i])
            links.append((i, j))
    return links
