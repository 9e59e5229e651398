"""Check a proof file against an instance: ``python check_proof.py INSTANCE PROOF``; docs/proofs.md has the reasoning.

This file imports nothing but the standard library, and nothing imports it. All numbers are Python's integers and
fractions. It prints what is proven and exits with 0, or prints the first wrong line and exits with 1.

A proof has cases; a case has a tree of nodes, each with some columns fixed to 0 or 1. Rows are inequalities
Σ coefficient·x ≥ rhs that every answer satisfies: which ones are valid, each class below decides by itself. Rows with
multipliers prove a bound by weak duality: an answer within the node's fixings costs at least

    Σ multiplier·rhs + Σ over columns of min{reduced cost · x : x within its bounds}

where the reduced cost is the cost less Σ multiplier·coefficient. A column whose other value would raise this to what
is no better than the answer known is fixed for the node and all below it. The least bound of the leaves is the case's.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import heapq
import json
import math
import struct
import sys
from array import array
from itertools import combinations

INFINITE = math.inf


class Wrong(Exception):
    """A line of the proof, or the file as a whole, is wrong."""


def need(condition, why):
    if not condition:
        raise Wrong(why)


def is_count(value):
    return type(value) is int and value >= 0


class Case:
    """The tree of one statement; `below` is what its end says."""

    def __init__(self, model, below):
        self.model, self.below = model, below
        self.open = {0: ({}, 0)}  # leaf: its fixings, its bound in units (INFINITE: holds no answer)
        self.pending = {}  # leaf: reduced costs of the last bound, kept until the leaf branches
        self.created = 0

    def bound(self, node, multipliers, prices, without_costs):
        """Bound a leaf by rows with multipliers and nodes' degree rows with prices."""
        need(node in self.open, f"node {node} is no leaf")
        fixed, best = self.open[node]
        if best == INFINITE:
            return
        total, covers = 0, {}
        for coefficients, rhs, factor in multipliers:
            total += factor * rhs
            for column, value in coefficients:
                covers[column] = covers.get(column, 0) + factor * value
        total += self.model.price_term(prices)
        cost = (lambda column: 0) if without_costs else self.model.cost

        def reduced(column):
            return cost(column) - covers.get(column, 0) + self.model.price(column, prices)

        for column in covers:
            if column not in fixed:
                total += min(0, reduced(column)) * self.model.upper(column)
        for column, value in fixed.items():
            if value:
                total += reduced(column)
        if without_costs:
            if total > 0:
                self.open[node] = ({}, INFINITE)
            return
        if total > best:
            self.open[node] = (fixed, total)
        self.pending.setdefault(node, []).append((total, reduced))

    def exclude(self, node):
        """Fix the columns at 0 that the model excludes by the reduced costs of the last bound."""
        fixed, best = self.open[node]
        total, reduced = self.pending[node].pop()
        if self.below is not None:
            excluded = self.model.excluded(reduced, self.model.units_below(self.below) - total)
            closed = any(fixed.get(column) for column in excluded)
            self.open[node] = ({}, INFINITE) if closed else (fixed | dict.fromkeys(excluded, 0), best)

    def branch(self, node, column):
        need(node in self.open, f"node {node} is no leaf")
        column = self.model.column(column)
        fixed, best = self.open.pop(node)
        for total, reduced in self.pending.pop(node, ()):
            fixed = best == INFINITE or self.fix(fixed, total, reduced)
            if fixed is True:
                best = INFINITE
        for value in (1, 0):
            self.created += 1
            if best == INFINITE or fixed.get(column, value) != value:
                self.open[self.created] = ({}, INFINITE)
            else:
                self.open[self.created] = ({**fixed, column: value}, best)

    def fix(self, fixed, total, reduced):
        """The fixings with those that reduced costs add, for answers better than `below`; True if there are none."""
        if self.below is None:
            return fixed
        allowed = self.model.units_below(self.below) - total
        fixed = dict(fixed)
        for column in self.model.columns:
            gain = reduced(column)
            if column not in fixed and abs(gain) > allowed and self.model.upper(column) == 1:
                fixed[column] = int(gain < 0)
        return fixed

    def proven(self):
        """The bound of the case: the least of its leaves', and of `below`."""
        least = min(best for _, best in self.open.values())
        if least == INFINITE:
            return INFINITE if self.below is None else self.below
        value = self.model.value_of(least)
        return value if self.below is None else min(value, self.below)


class Topics:
    """Overlays in which every topic is connected, or has diameter 2; a column is a pair of nodes u < v as u·n + v."""

    problems = ("min-tco", "minmax-tco", "low-tco", "2d-star", "2d-true")

    def __init__(self, path, head):
        names, topics = head["nodes"], head["topics"]
        node_of, self.unit = {name: v for v, name in enumerate(names)}, head["unit"]
        need(len(node_of) == len(names) and is_count(self.unit) and self.unit, "nodes repeat, or the unit is no number")
        rows = sorted(set(read_subscriptions(path)))
        need({v for v, _ in rows} == set(names), "the instance has other nodes")
        self.n, self.problem = len(names), head["problem"]
        listed = {topic: t for t, topic in enumerate(topics)}
        need({t for _, t in rows} == set(topics) and len(listed) == len(topics), "the instance has other topics")
        numbered = sorted((node_of[v], listed[t]) for v, t in rows)
        need(digest_of(self.n, len(listed), numbered) == head["instance"], "the instance has another digest")
        self.every = [[] for _ in topics]
        for v, t in numbered:
            self.every[t].append(v)
        self.members = [self.every[t] for t in head.get("kept", range(len(topics)))]
        self.columns = sorted({u * self.n + v for nodes in self.every for u, v in combinations(nodes, 2)})
        self.known = set(self.columns)
        if self.problem == "2d-star":
            self.columns += [self.centre(t, node) for t, nodes in enumerate(self.members) for node in nodes]
        self.cap = None

    def begin(self, facts):
        self.cap = facts.get("cap")
        need(self.cap is None or is_count(self.cap), "the cap is no number")
        return self.cap

    def column(self, pair):
        if len(pair) == 3 and self.problem == "2d-star":
            return self.centre(pair[0], pair[1])
        u, v = pair
        need(u * self.n + v in self.known and 0 <= u < v < self.n, f"{pair} is no pair of subscribers of a topic")
        return u * self.n + v

    def centre(self, topic, node):
        """The column of a topic's centre: beyond those of pairs."""
        need(node in self.members[topic], f"node {node} does not subscribe to topic {topic}")
        return (self.n + topic) * self.n + node

    def cost(self, column):
        return self.unit if column < self.n * self.n else 0

    def upper(self, column):
        return 1

    def units_below(self, value):
        return (value - 1) * self.unit

    def value_of(self, units):
        return -(-units // self.unit)

    def price(self, column, prices):
        return prices.get(column // self.n, 0) + prices.get(column % self.n, 0)

    def price_term(self, prices):
        """The rows degree(v) ≤ cap."""
        need(not prices or self.cap is not None, "degrees have a price in a case without a cap")
        return -sum(prices.values()) * (self.cap or 0)

    def row(self, kind, topic, labels=None, other=None):
        """With k labels, k − 1 edges cross; or of u, v and W (labels 0, 1, 2), one of uv, u–W and v–the others (3).

        With stars, some centre of the topic has all edges: one is enough, so uv is an edge if the centre is u or v.
        """
        if kind == "centre" and self.problem == "2d-star":
            return [(self.centre(topic, node), 1) for node in self.members[topic]], 1
        if kind == "star" and self.problem == "2d-star":
            u, v = labels, other
            return [(self.column((u, v)), 1), (self.centre(topic, u), -1), (self.centre(topic, v), -1)], 0
        nodes = self.members[topic] if is_count(topic) and topic < len(self.members) else []
        need(len(labels) == len(nodes) > 0, "the labels are not those of the topic's subscribers")
        pairs = combinations(zip(nodes, labels), 2)
        if kind == "parts":
            crossing = [(u * self.n + v, 1) for (u, a), (v, b) in pairs if a != b]
            return crossing, len(set(labels)) - 1
        need(kind == "pair" and self.problem.startswith("2d-"), f"rows {kind!r} are not valid here")
        need(labels.count(0) == labels.count(1) == 1 and set(labels) <= {0, 1, 2, 3}, "no pair of subscribers")
        crosses = ({0, 1}, {0, 2}, {1, 3})
        return [(u * self.n + v, 1) for (u, a), (v, b) in pairs if {a, b} in crosses], 1

    def value(self, answer):
        """The value of an answer, which must be valid: the edges of an overlay."""
        edges = {(u, v) for u, v in answer}
        need(all(is_count(u) and is_count(v) and u < v < self.n for u, v in edges), "the answer has no such nodes")
        near = {v: set() for v in range(self.n)}
        for u, v in edges:
            near[u].add(v)
            near[v].add(u)
        for nodes in self.every:
            inside = set(nodes)
            if self.problem == "2d-star":
                fine = any(inside <= near[c] | {c} for c in nodes)
            elif self.problem == "2d-true":
                fine = all(v in near[u] or near[u] & near[v] & inside for u, v in combinations(nodes, 2))
            else:
                fine = reached(nodes[0], near, inside) == inside
            need(fine, f"the answer does not connect {len(nodes)} subscribers of a topic")
        degree = max(map(len, near.values()))
        return {"minmax-tco": degree, "low-tco": len(edges) * degree}.get(self.problem, len(edges))

    def conclude(self, cases):
        """The bound on the problem's value that cases, as (cap, bound on the edges), prove together."""
        if self.problem not in ("minmax-tco", "low-tco"):
            return max((bound for cap, bound in cases if cap is None), default=0)
        least = INFINITE
        for degree in range(min(2, max(map(len, self.every)) - 1), self.n):
            edges = max((bound for cap, bound in cases if cap is None or cap >= degree), default=0)
            if edges == INFINITE or 2 * edges > degree * self.n:
                continue  # the degrees add up to twice the edges
            least = min(least, degree if self.problem == "minmax-tco" else degree * edges)
        return least


def reached(start, near, inside):
    found, waiting = {start}, [start]
    while waiting:
        new = near[waiting.pop()] & inside - found
        found |= new
        waiting += new
    return found


def read_subscriptions(path):
    """The (node, topic) rows of a JSON, CSV or TSV file."""
    if path.endswith(".json"):
        with open(path, encoding="utf-8") as file:
            subscriptions = json.load(file)["subscriptions"]
        return [(node, topic) for node, topics in subscriptions.items() for topic in topics]
    need(not path.endswith(".parquet"), "Parquet is not in the standard library: convert the instance to .csv")
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="," if path.endswith(".csv") else "\t")
        return [(row["node"], row["topic"]) for row in rows]


def digest_of(num_nodes, num_topics, rows):
    """SHA-256 of sorted (node, topic) numbers: how many of each, where each node's topics begin, the topics."""
    starts = [0] * (num_nodes + 1)
    for v, _ in rows:
        starts[v + 1] += 1
    for v in range(num_nodes):
        starts[v + 1] += starts[v]
    topics = array("i", [t for _, t in rows])
    if sys.byteorder == "big":
        topics.byteswap()
    packed = struct.pack(f"<{2 + len(starts)}q", num_nodes, num_topics, *starts)
    return hashlib.sha256(b"overlaybench topics/1\n" + packed + topics.tobytes()).hexdigest()


class Steiner:
    """Trees that join terminals. Nodes are numbered from 0 in the file's order; a column is an arc (tail, head).

    A tree, directed away from the root terminal of the case, has an arc into every set of nodes with a terminal and
    without the root, at most one into each node; and some cheapest tree has, at a node that is no terminal, no fewer
    arcs out than in.
    """

    problems = ("steiner",)

    def __init__(self, path, head):
        self.problem, self.columns, self.unit, self.base = "steiner", (), 1, 0
        self.n, self.given, terminals = read_stp(path)
        flat = [number for edge in sorted(self.given) for number in edge]
        ordered = sorted(terminals)
        packed = struct.pack("<3q", self.n, len(self.given), len(ordered)) + struct.pack(f"<{len(flat)}i", *flat)
        packed += struct.pack(f"<{len(self.given)}q", *(cost for _, cost in sorted(self.given.items())))
        packed += struct.pack(f"<{len(ordered)}i", *ordered)
        digest = hashlib.sha256(b"overlaybench steiner/1\n" + packed).hexdigest()
        need(digest == head["instance"], "the instance has another digest")
        self.terminals, self.asked = set(terminals), set(terminals)
        self.near = {v: {} for v in range(self.n)}
        for (u, v), cost in self.given.items():
            self.near[u][v] = self.near[v][u] = cost

    def node(self, v):
        """A node leaves: a terminal with one edge is contracted along it; others have at most two edges."""
        ends = self.near.pop(v)
        for w in ends:
            del self.near[w][v]
        if v in self.terminals:
            need(len(ends) == 1 and len(self.terminals) > 1, f"terminal {v} does not have one edge")
            ((w, cost),) = ends.items()
            self.base += cost
            self.terminals = self.terminals - {v} | {w}
            return
        need(len(ends) <= 2, f"node {v} has {len(ends)} edges")
        if len(ends) == 2:
            (a, first), (b, second) = ends.items()
            self.near[a][b] = self.near[b][a] = min(first + second, self.near[a].get(b, INFINITE))

    def edge(self, u, v):
        """An edge leaves: a walk over terminals joins its ends, each stretch of which costs no more."""
        limit = self.near[u].pop(v)
        del self.near[v][u]
        sources, waiting = {u}, [u]
        while waiting and v not in sources:
            within = distances({waiting.pop(): 0}, self.near, limit)
            new = [w for w in within if (w in self.terminals or w == v) and w not in sources]
            sources.update(new)
            waiting += new
        need(v in sources, f"no walk over terminals replaces the edge {u}–{v}")

    def begin(self, facts):
        self.root, self.unit = facts["root"], facts["unit"]
        need(self.root in self.terminals and is_count(self.unit) and self.unit, "the root is no terminal")
        self.columns = [(u, v) for u in self.near for v in self.near[u]]
        return None

    def column(self, arc):
        tail, head = arc
        need(head in self.near.get(tail, ()), f"there is no arc {arc}")
        return tail, head

    def cost(self, arc):
        return self.near[arc[0]][arc[1]] * self.unit

    def upper(self, arc):
        return 1

    def units_below(self, value):
        return (value - 1) * self.unit

    def value_of(self, units):
        return -(-units // self.unit)

    def price(self, arc, prices):
        return 0

    def price_term(self, prices):
        need(not prices, "nodes have no prices here")
        return 0

    def row(self, kind, *nodes):
        """An arc enters a set; at most one enters a node, none the root; what goes into a node goes on."""
        if kind == "cut":
            inside = set(nodes)
            need(self.root not in inside and self.terminals & inside, "the set has no terminal, or the root")
            return [((u, v), 1) for v in inside for u in self.near[v] if u not in inside], 1
        (node,) = nodes
        into = [((u, node), -1) for u in self.near[node]]
        if kind == "into":
            return into, 0 if node == self.root else -1
        need(kind == "through" and node not in self.terminals, f"rows {kind!r} are not valid here")
        return into + [((node, u), 1) for u in self.near[node]], 0

    def excluded(self, reduced, allowed):
        """The arcs on no way from the root to a terminal whose reduced costs are within what is allowed."""
        out = {u: {v: reduced((u, v)) for v in self.near[u]} for u in self.near}
        back = {v: {u: out[u][v] for u in self.near[v]} for v in self.near}
        need(min((cost for arcs in out.values() for cost in arcs.values()), default=0) >= 0, "a negative reduced cost")
        there = distances({self.root: 0}, out)
        onward = distances(dict.fromkeys(self.terminals - {self.root}, 0), back)
        return {
            (u, v) for u, v in self.columns if there.get(u, INFINITE) + out[u][v] + onward.get(v, INFINITE) > allowed
        }

    def value(self, answer):
        """The value of an answer, which must be valid: edges that join the terminals."""
        edges, near = {(u, v) for u, v in answer}, {v: set() for v in range(self.n)}
        need(edges <= set(self.given), "the answer has edges that the instance has not")
        for u, v in edges:
            near[u].add(v)
            near[v].add(u)
        need(self.asked <= reached(min(self.asked), near, set(near)), "the answer does not join the terminals")
        return sum(self.given[edge] for edge in edges)

    def conclude(self, cases):
        return self.base + max((bound for _, bound in cases), default=0)


def distances(sources, near, limit=INFINITE):
    """The distances from the nearest of some nodes, up to a limit."""
    found, heap = {}, [(length, v) for v, length in sources.items()]
    while heap:
        length, v = heapq.heappop(heap)
        if v not in found:
            found[v] = length
            for w, cost in near[v].items():
                if w not in found and length + cost <= limit:
                    heapq.heappush(heap, (length + cost, w))
    return found


def read_stp(path):
    """The nodes, the edges with their costs and the terminals of an STP file, numbered from 0."""
    nodes, edges, terminals = 0, {}, []
    with open(path, encoding="utf-8") as file:
        for words in (line.split() for line in file):
            name = words[0].lower() if words else ""
            if name == "nodes":
                nodes = int(words[1])
            elif name == "e":
                u, v, cost = (int(word) for word in words[1:4])
                pair = min(u, v) - 1, max(u, v) - 1
                edges[pair] = min(cost, edges.get(pair, cost))
            elif name == "t":
                terminals.append(int(words[1]) - 1)
    return nodes, edges, terminals


KINDS = (Topics, Steiner)


def lines_of(path):
    """The lines of a proof with their numbers."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            yield number, json.loads(line)


def check(instance, proof):
    """Check a proof; returns the problem, the answer's value (None without one) and the bound that is proven.

    Raises Wrong with the line and the reason.
    """
    number = 0
    try:
        ends = [line[1] for _, line in lines_of(proof) if line[0] == "end"]
        model, case, cases, rows, claim = None, None, [], [], None
        for number, (tag, *items) in lines_of(proof):
            need(claim is None, "nothing may follow the claim")
            if tag == "proof":
                need(model is None, "a second head")
                kind = next((kind for kind in KINDS if items[0]["problem"] in kind.problems), None)
                need(kind is not None, f"no such problem as {items[0]['problem']!r}")
                model = kind(instance, items[0])
            elif tag == "row":
                rows.append(model.row(*items))
            elif tag == "case":
                need(case is None and len(cases) < len(ends), "a case without an end")
                facts = model.begin(items[0])
                case = Case(model, ends[len(cases)])
                need(case.below is None or is_count(case.below), "the end is no number")
            elif tag in ("node", "edge"):
                need(case is None and not cases, "a reduction after the first case")
                getattr(model, tag)(*items)
            elif tag in ("bound", "none", "paths"):
                node, listed, *prices = items
                priced = prices[0] if prices else []
                factors, charged = listed[1::2], priced[1::2]
                need(
                    all(map(is_count, listed + priced)) and not (len(listed) | len(priced)) % 2, "negative multipliers"
                )
                given = [(*rows[row], factor) for row, factor in zip(listed[::2], factors)]
                case.bound(node, given, dict(zip(priced[::2], charged)), tag == "none")
                if tag == "paths":
                    case.exclude(node)
            elif tag == "branch":
                case.branch(*items)
            elif tag == "end":
                cases.append((facts, case.proven()))
                case = None
            elif tag == "claim":
                need(case is None, "a claim within a case")
                claim = items
            else:
                need(False, f"no such line as {tag!r}")
        need(claim is not None, "the proof ends without a claim")
        bound, answer = claim
        value = None if answer is None else model.value(answer)
        proven = model.conclude(cases)
        need(bound is None or bound <= proven, f"{bound} is claimed, {proven} proven")
        need(value is None or proven <= value, f"{proven} is proven, yet the answer has {value}: a row must be wrong")
        return model.problem, value, proven
    except Wrong as error:
        raise Wrong(f"line {number}: {error}") from None
    except (ArithmeticError, AttributeError, EOFError, LookupError, OSError, TypeError, ValueError) as error:
        raise Wrong(f"line {number}: {type(error).__name__}: {error}") from None


def main(arguments):
    if len(arguments) != 2:
        print("usage: python check_proof.py INSTANCE PROOF", file=sys.stderr)
        return 2
    try:
        problem, value, bound = check(*arguments)
    except Wrong as error:
        print(f"wrong: {arguments[1]}: {error}")
        return 1
    if value is not None and value == bound:
        print(f"proven: {problem} {value} is optimal")
    else:
        shown = "no answer" if value is None else f"an answer of {value}"
        print(f"proven: {problem} is at least {bound}; the proof has {shown}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
