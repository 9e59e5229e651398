"""Steiner trees: which reductions and rows are valid, and why."""

from __future__ import annotations

import hashlib
import heapq
import re
import struct

from cases import INFINITE, Model, is_count, need, neighbours, reached, reading, text_of


class SteinerRules(Model):
    """Trees that join terminals. Nodes are numbered from 0 in the file's order.

    A column is an arc (tail, head), or a node that is no terminal: 1 if it is on the tree. A tree, directed away from
    the root terminal of the case, has an arc into every set without the root that has a terminal or another node of
    the tree, at most one into each node, none into nodes outside it; and some cheapest tree has, at a node that is no
    terminal, no fewer arcs out than in.
    """

    problems = ("steiner",)

    def __init__(self, path, head):
        self.problem, self.base, self.root = "steiner", 0, None
        self.n, self.given, terminals = read(path)
        flat = [number for edge in sorted(self.given) for number in edge]
        ordered = sorted(terminals)
        packed = struct.pack("<3q", self.n, len(self.given), len(ordered)) + struct.pack(f"<{len(flat)}i", *flat)
        packed += struct.pack(f"<{len(self.given)}q", *(cost for _, cost in sorted(self.given.items())))
        packed += struct.pack(f"<{len(ordered)}i", *ordered)
        digest = hashlib.sha256(b"overlaybench steiner/1\n" + packed).hexdigest()
        need(digest == head["instance"], "the instance has another digest")
        self.terminals = self.asked = terminals
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
        found, heap = {u: 0}, [(0, u)]  # the least length of a walk's last stretch: 0 at terminals
        while heap and v not in found:
            length, w = heapq.heappop(heap)
            for x, cost in self.near[w].items() if length == found[w] else ():
                last = length + cost if x not in self.terminals else 0
                if length + cost <= limit and last < found.get(x, INFINITE):
                    found[x] = last
                    heapq.heappush(heap, (last, x))
        need(v in found, f"no walk over terminals replaces the edge {u}–{v}")

    def begin(self, facts):
        need(self.root is None, "a second case: rows hold for one root")
        self.root, self.unit = facts["root"], facts["unit"]
        need(self.root in self.terminals and is_count(self.unit) and self.unit, "the root is no terminal")
        self.arcs = [(u, v) for u in self.near for v in self.near[u]]
        self.columns = [*self.arcs, *(v for v in self.near if v not in self.terminals)]

    def column(self, column):
        if is_count(column):
            need(column in self.near and column not in self.terminals, f"{column} is no node, or a terminal")
            return column
        tail, head = arc = column
        need(head in self.near.get(tail, ()), f"there is no arc {arc}")
        return tail, head

    def cost(self, column):
        return 0 if is_count(column) else self.near[column[0]][column[1]] * self.unit

    def row(self, kind, *nodes):
        """An arc enters a set; at most one enters a node, none the root; what goes into a node goes on."""
        if kind in ("cut", "reach"):
            inside = set(nodes)
            entering = [((u, v), 1) for v in inside for u in self.near[v] if u not in inside]
            need(self.root not in inside, "the set has the root")
            if kind == "reach":
                return [*entering, (self.column(nodes[0]), -1)], 0
            need(self.terminals & inside, "the set has no terminal")
            return entering, 1
        (node,) = nodes
        into = [((u, node), -1) for u in self.near[node]]
        if kind == "into":
            return into, 0 if node == self.root else -1
        need(node not in self.terminals, f"rows {kind!r} are not valid at a terminal")
        out = [((node, u), 1) for u in self.near[node]]
        if kind == "through":
            return into + out, 0
        node = self.column(node)
        entered = [(arc, 1) for arc, _ in into]
        rows = {"entered": [*entered, (node, -1)], "once": [*into, (node, 1)], "left": [*out, (node, -1)]}
        need(kind in rows, f"no such rows as {kind!r}")
        return rows[kind], 0

    def excluded(self, reduced, allowed):
        """The arcs on no way from the root to a terminal whose reduced costs are within what is allowed."""
        out = {u: {v: reduced((u, v)) for v in self.near[u]} for u in self.near}
        back = {v: {u: out[u][v] for u in self.near[v]} for v in self.near}
        need(min((cost for arcs in out.values() for cost in arcs.values()), default=0) >= 0, "a negative reduced cost")
        there = distances({self.root: 0}, out)
        onward = distances(dict.fromkeys(self.terminals - {self.root}, 0), back)
        return {(u, v) for u, v in self.arcs if there.get(u, INFINITE) + out[u][v] + onward.get(v, INFINITE) > allowed}

    def value(self, answer):
        """The value of an answer, which must be valid: edges that join the terminals."""
        edges = {(u, v) for u, v in answer}
        need(edges <= set(self.given), "the answer has edges that the instance has not")
        near = neighbours(edges, range(self.n))
        need(self.asked <= reached(min(self.asked), near, set(near)), "the answer does not join the terminals")
        return sum(self.given[edge] for edge in edges)

    def conclude(self, cases):
        return self.base + max((bound for _, bound in cases), default=0)


def distances(sources, near):
    """The distances from the nearest of some nodes."""
    found, heap = {}, [(length, v) for v, length in sources.items()]
    while heap:
        length, v = heapq.heappop(heap)
        if v not in found:
            found[v] = length
            for w, cost in near[v].items():
                if w not in found:
                    heapq.heappush(heap, (length + cost, w))
    return found


FORMS = {"graph": {"nodes": 1, "edges": 1, "e": 3}, "terminals": {"terminals": 1, "t": 1}}


@reading
def read(path):
    """The nodes, the edges with their costs and the terminals of an STP file, numbered from 0."""
    text, sections, section = text_of(path), {}, None
    need(re.fullmatch(r"[\n\t -~]*", text), "the instance has a character that is not printable ASCII")
    lines = [line.split() for line in text.lower().split("\n")]
    lines = [words for words in lines if words and not words[0].startswith("#")]
    need(lines and "33d32945" in lines[0][:3], "the instance does not begin as an STP file")
    for words in lines[1:]:
        if section is None:
            if words == ["eof"]:
                break
            need(words[0] == "section" and len(words) == 2, f"no section begins: {words}")
            section = words[1]
            need(section in ("graph", "terminals", "comment", "coordinates"), f"unknown section {section!r}")
            need(section not in sections, f"a second section {section!r}")
            sections[section] = []
        elif words[0] == "end":
            section = None
        else:
            need(words[0] not in ("section", "eof"), f"the section {section!r} does not end")
            sections[section].append(words)
    need(section is None, f"the section {section!r} does not end")
    found = {}
    for section, forms in FORMS.items():
        for name, *words in sections[section]:
            need(name in forms and len(words) == forms[name], f"unknown line {name!r} in the instance")
            need(all(re.fullmatch("[0-9]{1,18}", word) for word in words), "a number of the instance is none")
            found.setdefault(name, []).append([int(word) for word in words])
    edges, terminals, given = {}, {v - 1 for (v,) in found["t"]}, found.get("e", [])
    ((nodes,),) = found["nodes"]
    need(1 <= nodes < 2**31, "the instance has too many nodes, or none")
    need(found.get("edges", [[len(given)]]) == [[len(given)]], "the instance has another number of edges")
    need(found.get("terminals", [[len(found["t"])]]) == [[len(found["t"])]], "another number of terminals")
    for u, v, cost in given:
        need(u != v, "the instance has a loop")
        pair = min(u, v) - 1, max(u, v) - 1
        edges[pair] = min(cost, edges.get(pair, cost))
    ends = {v for pair in edges for v in pair} | terminals
    need(min(ends) >= 0 and max(ends) < nodes, "the instance has no such node")
    need(sum(edges.values()) <= 2**53, "the costs of the instance add up to more than 2^53")
    return nodes, edges, terminals
