"""Compact models of the problems, and each row of a proof derived from their constraints (vipr.py)."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from cases import INFINITE, neighbours


def untranslated(problem):
    """Lines and rows that do not follow from the model of a problem."""
    kinds = {"leaf", "node", "edge", "paths", "seen", "near", "number", "ends", "apart"}
    return kinds | ({"centre", "star"} if problem == "2d-true" else set())


class Flow:
    """One flow along chosen arcs, which brings a unit to each node that needs one: an arc enters every set of such.

    `arcs` maps (tail, head) to the variable that says whether it is chosen, `needs` each node but the root to 0 or 1 or
    a variable, by its name.
    """

    def __init__(self, file, name, arcs, needs):
        self.file, self.arcs, self.needs, self.most = file, arcs, needs, max(1, len(needs))
        self.units = {arc: file.variable(f"f_{name}_{arc[0]}_{arc[1]}", integer=False) for arc in arcs}
        self.into, self.out = {v: [] for v in needs}, {v: [] for v in needs}
        for tail, head in arcs:
            self.into[head].append((tail, head))
            if tail in needs:
                self.out[tail].append((tail, head))
        self.name = name

    def constrain(self):
        self.balance, self.capacity = {}, {}
        for v, wants in self.needs.items():
            terms = {self.units[arc]: 1 for arc in self.into[v]} | {self.units[arc]: -1 for arc in self.out[v]}
            if isinstance(wants, str):
                terms[self.file.number[wants]] = -1
            known = 0 if isinstance(wants, str) else wants
            self.balance[v] = self.file.constraint(f"b_{self.name}_{v}", "E", known, terms)
        for (tail, head), chosen in self.arcs.items():
            terms = {self.units[tail, head]: 1, chosen: -self.most}
            self.capacity[tail, head] = self.file.constraint(f"k_{self.name}_{tail}_{head}", "L", 0, terms)

    def entered(self, inside, target=None):
        """An arc enters a set that needs a unit: the flow into it, divided by the most that an arc carries.

        With a target, whose need is a variable w ≤ 1: chosen arcs − w ≥ 0, as they are more than w − 1.
        """
        terms, coefficients, share = {}, {}, Fraction(1, self.most)
        for v in inside:
            terms[self.balance[v]] = share
            for arc in self.into[v]:
                if arc[0] not in inside:
                    terms[self.capacity[arc]] = -share
                    coefficients[self.arcs[arc]] = 1
            terms |= {self.file.low[self.units[arc]]: share for arc in self.out[v] if arc[1] not in inside}
            if isinstance(self.needs[v], str):
                w = self.file.number[self.needs[v]]
                if v == target:
                    coefficients[w] = -1
                    terms[self.file.up[w]] = share - 1
                else:
                    terms[self.file.low[w]] = share
        return self.file.derive("rnd", "G", 1 if target is None else 0, coefficients, terms)

    def along(self, parents, needing):
        """The flow in a tree, given as each node's parent: a unit for each of some nodes."""
        found = {}
        for v in needing:
            while v in parents:
                arc = parents[v], v
                found[self.units[arc]] = found.get(self.units[arc], 0) + 1
                v = parents[v]
        return found


class Connection:
    """Nodes are connected by links: a tree of them is directed away from the first node, and a flow follows it."""

    def __init__(self, file, name, nodes, links):
        self.file, self.name, self.nodes, self.links, (self.root, *others) = file, name, nodes, links, nodes
        arcs = {(i, j): file.variable(f"y_{name}_{i}_{j}") for i in nodes for j in others if i != j}
        self.flow = Flow(file, name, arcs, dict.fromkeys(others, 1))
        self.sets = {}

    def constrain(self):
        self.flow.constrain()
        self.oneway = {}
        for i, j in combinations(self.nodes, 2):
            terms = {self.flow.arcs[arc]: 1 for arc in ((i, j), (j, i)) if arc in self.flow.arcs}
            self.oneway[i, j] = self.file.constraint(f"o_{self.name}_{i}_{j}", "L", 0, terms | {self.links[i, j]: -1})

    def partition(self, labels):
        """Links between different labels, at least one fewer than labels: an arc enters each part but the root's."""
        parts, terms, coefficients = {}, {}, {}
        for v, label in labels.items():
            parts.setdefault(label, set()).add(v)
        home = parts.pop(labels[self.root])
        for part in parts.values():
            key = frozenset(part)
            if key not in self.sets:
                self.sets[key] = self.flow.entered(part)
            terms[self.sets[key]] = 1
        for i, j in combinations(self.nodes, 2):
            if labels[i] != labels[j]:
                terms[self.oneway[i, j]] = -1
                coefficients[self.links[i, j]] = 1
        back = [arc for arc in self.flow.arcs if arc[1] in home and arc[0] not in home]
        terms |= {self.file.low[self.flow.arcs[arc]]: 1 for arc in back}
        return self.file.derive("lin", "G", len(parts), coefficients, terms)

    def solution(self, near):
        parents = parents_from(self.root, near, set(self.nodes))
        return {self.flow.arcs[up, v]: 1 for v, up in parents.items()} | self.flow.along(parents, parents)


def parents_from(root, near, inside):
    """The parent of each node but the root in a tree of shortest paths within a set."""
    parents, waiting = {}, [root]
    for v in waiting:
        for w in sorted(near[v]):
            if w in inside and w != root and w not in parents:
                parents[w] = v
                waiting.append(w)
    return parents


class CompactOverlayModel:
    """x says whether a pair of nodes is an edge. Each topic's subscribers are connected by a flow.

    With fault tolerance, also without each of three subscribers or more; with a diameter of 2, by an edge or a common
    neighbour; with a star, the edges of the one centre are there. D is the largest degree, and `low-tco` costs at least
    d times the edges if D is d.
    """

    def __init__(self, file, model, head, _):
        self.file, self.model, self.problem, self.per = file, model, model.problem, model.unit
        self.kept = kept = head.get("kept", range(len(model.every)))
        n, topics = model.n, [(t, nodes) for t, nodes in enumerate(model.every) if len(nodes) > 1]
        self.x = {divmod(c, n): file.variable(f"x_{c // n}_{c % n}", 1) for c in model.columns if c < n * n}
        if not self.x:  # no checker expects a problem without a variable
            file.variable("nothing")
        self.columns = {u * n + v: variable for (u, v), variable in self.x.items()}
        self.costs = {self.x[u, v]: model.cost(u * n + v) // model.unit for u, v in self.x}
        self.joined, self.centres, self.common = {}, {}, {}
        if self.problem == "2d-star":
            self.centres = {
                (t, v): file.variable(f"c_{t}_{v}", 1) for t, nodes in enumerate(model.every) for v in nodes
            }
            for place, t in enumerate(kept):
                self.columns |= {model.centre(place, v): self.centres[t, v] for v in model.every[t]}
        else:
            for t, nodes in topics:
                leavers = nodes if self.problem == "k-tco" and len(nodes) > 2 else []
                for left in (None, *leavers):
                    rest, name = [v for v in nodes if v != left], f"{t}" if left is None else f"{t}_{left}"
                    self.joined[t, left] = Connection(file, name, rest, self.x)
        if self.problem == "2d-true":
            triples = {(u, v, w) for _, nodes in topics for u, v in combinations(nodes, 2) for w in nodes}
            for u, v, w in sorted(triples):
                if w not in (u, v):
                    self.common[u, v, w] = file.variable(f"z_{u}_{v}_{w}", integer=False)
        self.objective, self.cap = self.costs, None
        if self.problem in ("minmax-tco", "low-tco"):
            self.cap = file.variable("D")
            self.objective = {self.cap: 1}
        if self.problem == "low-tco":
            self.is_degree = [file.variable(f"d_{d}", 1) for d in range(n)]
            self.objective = {file.variable("C"): 1}
        self._constrain(topics)

    def _constrain(self, topics):
        file, n = self.file, self.model.n
        for joined in self.joined.values():
            joined.constrain()
        self.one, self.spoke, self.near, self.arm, self.degree = {}, {}, {}, {}, {}
        if self.centres:
            for t, nodes in enumerate(self.model.every):
                self.one[t] = file.constraint(f"one_{t}", "E", 1, {self.centres[t, v]: 1 for v in nodes})
        for t, nodes in topics:
            for u, v in combinations(nodes, 2):
                if self.centres:
                    terms = {self.x[u, v]: 1, self.centres[t, u]: -1, self.centres[t, v]: -1}
                    self.spoke[t, u, v] = file.constraint(f"s_{t}_{u}_{v}", "G", 0, terms)
                if self.common:
                    terms = {self.x[u, v]: 1} | {self.common[u, v, w]: 1 for w in nodes if w not in (u, v)}
                    self.near[t, u, v] = file.constraint(f"n_{t}_{u}_{v}", "G", 1, terms)
        for (u, v, w), z in self.common.items():
            for end in (u, v):
                terms = {z: 1, self.x[min(end, w), max(end, w)]: -1}
                self.arm[u, v, w, end] = file.constraint(f"a_{u}_{v}_{w}_{end}", "L", 0, terms)
        if self.cap is not None:
            for v in range(n):
                terms = {x: 1 for pair, x in self.x.items() if v in pair} | {self.cap: -1}
                self.degree[v] = file.constraint(f"deg_{v}", "L", 0, terms)
        if self.problem == "low-tco":
            (cost,) = self.objective
            self.some = file.constraint("some", "E", 1, dict.fromkeys(self.is_degree, 1))
            terms = {self.cap: 1} | {has: -d for d, has in enumerate(self.is_degree)}
            self.which, self.paid = file.constraint("which", "E", 0, terms), []
            for d, has in enumerate(self.is_degree):
                most = d * len(self.x)
                terms = {cost: 1, has: -most} | dict.fromkeys(self.x.values(), -d)
                self.paid.append(file.constraint(f"paid_{d}", "G", -most, terms))

    def row(self, kind, topic, labels=None, other=None):
        """The constraint or derivation that says what a row of the proof does; see :meth:`Topics.row`."""
        t = self.kept[topic]
        nodes = self.model.every[t]
        if kind == "centre":
            return self.one[t]
        if kind == "star":
            return self.spoke[t, min(labels, other), max(labels, other)]
        label = dict(zip(nodes, labels, strict=True))
        if kind == "pair":
            u, v = (next(w for w in nodes if label[w] == end) for end in (0, 1))
            return self._pair(t, u, v, label) if self.common else self._stars(t, self._pairs(u, v, label), 1)
        if self.centres:
            crossing = [(u, v) for u, v in combinations(nodes, 2) if label[u] != label[v]]
            return self._stars(t, crossing, len(set(labels)) - 1)
        if kind == "twice":
            return self._twice(t, label)
        left = next((v for v in nodes if label[v] == -1), None) if kind == "leaving" else None
        return self.joined[t, left].partition({v: part for v, part in label.items() if v != left})

    @staticmethod
    def _pairs(u, v, label):
        ends = [(u, v), *((u if side == 2 else v, w) for w, side in label.items() if side > 1)]
        return [(min(pair), max(pair)) for pair in ends]

    def _stars(self, t, pairs, rhs):
        """Edges that every star has often enough: those of a centre c are at least `rhs`, for each c."""
        terms = {self.spoke[t, u, v]: 1 for u, v in pairs} | {self.one[t]: rhs}
        ends = [end for pair in pairs for end in pair]
        for v in self.model.every[t]:
            terms[self.file.low[self.centres[t, v]]] = ends.count(v) - rhs
        return self.file.derive("lin", "G", rhs, {self.x[pair]: 1 for pair in pairs}, terms)

    def _pair(self, t, u, v, label):
        """A common neighbour counts by its edge to one of the two."""
        one, two = min(u, v), max(u, v)
        terms = {self.near[t, one, two]: 1}
        for w, side in label.items():
            if side > 1:
                terms[self.arm[one, two, w, u if side == 2 else v]] = -1
        return self.file.derive("lin", "G", 1, {self.x[pair]: 1 for pair in self._pairs(u, v, label)}, terms)

    def _twice(self, t, label):
        """A cut without each subscriber in turn has an edge; each edge is counted two fewer times than there are."""
        nodes, terms = list(label), {}
        for left in nodes:
            rest = {v: part for v, part in label.items() if v != left}
            if len(set(rest.values())) == 2:
                terms[self.joined[t, left].partition(rest)] = Fraction(1, len(nodes) - 2)
        crossing = {self.x[u, v]: 1 for u, v in combinations(nodes, 2) if label[u] != label[v]}
        return self.file.derive("rnd", "G", 2, crossing, terms)

    def price(self, v, within, cap):
        """−degree ≥ −cap, within the assumption that D is no larger."""
        terms = {x: -1 for pair, x in self.x.items() if v in pair}
        return self.file.derive("lin", "G", -cap, terms, {self.degree[v]: -1, within: -1})

    def solution(self, answer):
        edges = {tuple(edge) for edge in answer}
        near = neighbours(edges, range(self.model.n))
        values = {self.x[edge]: 1 for edge in edges}
        for joined in self.joined.values():
            values |= joined.solution(near)
        for t, nodes in enumerate(self.model.every if self.centres else ()):
            values[self.centres[t, next(c for c in nodes if set(nodes) <= near[c] | {c})]] = 1
        values |= {z: 1 for (u, v, w), z in self.common.items() if w in near[u] and w in near[v]}
        if self.cap is not None:
            values[self.cap] = degree = max(map(len, near.values()))
        if self.problem == "low-tco":
            (cost,) = self.objective
            values |= {self.is_degree[degree]: 1, cost: degree * len(edges)}
        return values

    def prove(self, cases, bound, lower):
        """The derivation of the bound on the objective; `lower(number, bound, within)` translates a case."""
        if self.cap is None:
            return lower(max((k for k, (cap, _) in enumerate(cases) if cap is None), key=lambda k: cases[k][1]), bound)
        file, n = self.file, self.model.n
        less = file.derive("asm", "L", bound - 1, self.objective)
        if self.problem == "minmax-tco":
            return file.split(self._impossible(cases, bound - 1, less, lower, {}), less, self.objective, bound)
        none = [file.derive("asm", "L", 0, {has: 1}) for has in self.is_degree]
        top, known = file.derive("lin", "G", 1, {}, {self.some: 1} | dict.fromkeys(none, -1)), {}
        for d, has in enumerate(self.is_degree):
            this = file.derive("asm", "G", 1, {has: 1})
            terms = {file.low[other]: k - n for k, other in enumerate(self.is_degree) if k != d}
            within = file.derive("lin", "L", d, {self.cap: 1}, terms | {self.which: 1, self.some: n, this: d - n})
            paid = {self.paid[d]: 1, this: d * len(self.x), less: -1}
            top = file.unsplit(self._impossible(cases, d, within, lower, known, paid, bound), this, top, none[d])
        return file.split(top, less, self.objective, bound)

    def _impossible(self, cases, degree, within, lower, known, paid=None, bound=0):
        """An absurdity from D ≤ degree: by a case, by twice its edges, by their cost, or by the largest topic alone."""
        file, absurd = self.file, ("lin", "G", 1, {})
        able = [k for k, (cap, _) in enumerate(cases) if cap is None or cap >= degree]
        case = max(able, key=lambda k: cases[k][1], default=None)
        cap, edges = (None, 0) if case is None else cases[case]
        if edges and case not in known:
            limits = cap is not None and [
                file.derive("asm", *sense, {self.cap: 1}) for sense in (("L", cap), ("G", cap + 1))
            ]
            known[case] = lower(case, edges, limits and limits[0]), limits
        found, limits = known.get(case, (None, None))
        if edges == INFINITE:
            pass
        elif 2 * edges > degree * self.model.n:
            found = file.derive(*absurd, {found: 2, within: -self.model.n} | dict.fromkeys(self.degree.values(), -1))
        elif paid and degree * edges >= bound:
            found = file.derive(*absurd, paid | {found: degree})
        else:
            t, nodes = max(enumerate(self.model.every), key=lambda pair: len(pair[1]))
            whole = self.joined[t, None].partition({v: v for v in nodes})
            terms = {whole: 2, within: -len(nodes)} | {self.degree[v]: -1 for v in nodes}
            terms |= {file.low[x]: 1 for pair, x in self.x.items() if len({*pair} & {*nodes}) == 1}
            return file.derive(*absurd, terms)
        if limits:
            return file.unsplit(found, limits[0], file.derive(*absurd, {limits[1]: 1, within: -1}), limits[1])
        return found


class SteinerModel:
    """z says whether a tree, directed away from the root, has an arc, w whether it has a node that is no terminal.

    A flow brings a unit to each other node of the tree. A node is entered once, and left if it is no terminal: as costs
    are not negative, some cheapest tree ends at terminals.
    """

    def __init__(self, file, model, _, facts):
        self.file, self.terminals, self.near, self.per = file, model.terminals, model.near, model.unit
        self.root = root = facts.get("root", min(model.terminals))
        arcs = [(u, v) for u in self.near for v in self.near[u]]
        self.columns = {(u, v): file.variable(f"z_{u}_{v}", 1) for u, v in arcs}
        if not arcs:
            file.variable("nothing")
        needs = {}
        for v in self.near:
            if v in model.terminals:
                needs[v] = 1
            else:
                needs[v] = f"w_{v}"
                self.columns[v] = file.variable(f"w_{v}", 1)
        del needs[root]
        self.objective = self.costs = {self.columns[u, v]: self.near[u][v] for u, v in arcs if self.near[u][v]}
        self.flow = Flow(file, "t", {arc: self.columns[arc] for arc in arcs if arc[1] != root}, needs)
        self.flow.constrain()
        self.into, self.through = {}, {}
        for v in self.near:
            into = {self.columns[u, v]: 1 for u in self.near[v]}
            if v in model.terminals:
                self.into[v] = file.constraint(f"into_{v}", "L", int(v != root), into)
            else:
                self.into[v] = file.constraint(f"into_{v}", "E", 0, into | {self.columns[v]: -1})
                terms = {self.columns[v, u]: 1 for u in self.near[v]} | dict.fromkeys(into, -1)
                self.through[v] = file.constraint(f"through_{v}", "G", 0, terms)

    def row(self, kind, *nodes):
        """See :meth:`Steiner.row`."""
        if kind in ("cut", "reach"):
            return self.flow.entered(set(nodes), nodes[0] if kind == "reach" else None)
        (v,) = nodes
        into = {self.columns[u, v]: -1 for u in self.near[v]}
        if kind == "into":
            over = {} if v in self.terminals else {self.file.up[self.columns[v]]: -1}
            return self.file.derive("lin", "G", 0 if v == self.root else -1, into, {self.into[v]: -1} | over)
        if kind == "through":
            return self.through[v]
        if kind == "left":
            out = {self.columns[v, u]: 1 for u in self.near[v]} | {self.columns[v]: -1}
            return self.file.derive("lin", "G", 0, out, {self.through[v]: 1, self.into[v]: 1})
        sign = 1 if kind == "once" else -1
        terms = dict.fromkeys(into, -sign) | {self.columns[v]: sign}
        return self.file.derive("lin", "G", 0, terms, {self.into[v]: -sign})

    def solution(self, answer):
        near = neighbours(answer, range(len(self.near)))
        parents = parents_from(self.root, near, set(near))
        needed = set()
        for v in self.terminals - {self.root}:
            while v in parents:
                needed.add(v)
                v = parents[v]
        values = {self.columns[parents[v], v]: 1 for v in needed} | {
            self.columns[v]: 1 for v in needed - self.terminals
        }
        return values | self.flow.along(parents, needed)

    def prove(self, cases, bound, lower):
        return lower(max(range(len(cases)), key=lambda k: cases[k][1]), bound)
