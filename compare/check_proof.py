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
        self.cap = None

    def begin(self, facts):
        self.cap = facts.get("cap")
        need(self.cap is None or is_count(self.cap), "the cap is no number")
        return self.cap

    def column(self, pair):
        u, v = pair
        need(u * self.n + v in self.known and 0 <= u < v < self.n, f"{pair} is no pair of subscribers of a topic")
        return u * self.n + v

    def cost(self, column):
        return self.unit

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

    def row(self, kind, topic, labels):
        """With k labels, k − 1 edges cross; or of u, v and W (labels 0, 1, 2), one of uv, u–W and v–the others (3)."""
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


KINDS = (Topics,)


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
            elif tag in ("bound", "none"):
                node, listed, *prices = items
                priced = prices[0] if prices else []
                factors, charged = listed[1::2], priced[1::2]
                need(all(map(is_count, listed + priced)) and not (len(listed) | len(priced)) % 2, "negative multipliers")
                given = [(*rows[row], factor) for row, factor in zip(listed[::2], factors)]
                case.bound(node, given, dict(zip(priced[::2], charged)), tag == "none")
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
