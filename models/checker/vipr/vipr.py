"""Translate a proof to VIPR 1.0: ``python vipr.py INSTANCE PROOF OUT.vipr``; docs/proofs.md says what this is for.

The problem section is a compact model of the instance (compact.py), which OUT.mps has as well. Each row of the proof is
derived from it, each leaf of the tree is an absurdity under the assumptions of its branches and that an answer is
better than the bound, and unsplits merge them. A reader of the certificate believes neither this file nor the proof.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from functools import partial
from math import ceil, lcm
from operator import add
from pathlib import Path
from tempfile import TemporaryFile

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the checker, which it stands beside

from cases import INFINITE, NoInstance, Wrong, need
from certificate import Certificate
from check_proof import ROUND_CEILING, ROUND_FLOOR, examine, lines_of, shown
from compact import CompactOverlayModel, SteinerModel, untranslated
from compact_content import CompactContentModel
from content import ContentRules
from rows import Rows
from steiner import SteinerRules
from topics import TopicRules

_SIMPLE = (12, 60, 420)  # denominators by which multipliers are tried before those of the proof: shorter numbers
_LARGEST = 10**6


class Fixing:
    """Columns that a node has at one value: their sum is constrained by a derivation, made when it is first needed."""

    def __init__(self, value, columns, derive):
        self.value, self.columns, self.derive, self.made = value, columns, derive, None

    def constraint(self):
        if self.made is None:
            self.made = self.derive()
        return self.made


class GivenRows(Rows):
    """The rows of a proof, which the checker has read, by the numbers that name them; those of trees are negative."""

    def __init__(self, model):
        super().__init__(model)
        self.given = {}
        self.place_all()

    def line(self, number):
        return self.given[number]


def nearest(numerator, denominator, most):
    """The fraction next to a given one, as a numerator and a denominator of `most` or less (continued fractions)."""
    n, d, p, q, last_p, last_q = numerator, denominator, 1, 0, 0, 1
    while d and last_q + n // d * q <= most:
        p, q, last_p, last_q = last_p + n // d * p, last_q + n // d * q, p, q
        n, d = d, n % d
    k = (most - last_q) // q
    if 2 * d * (last_q + k * q) <= denominator:
        return p, q
    return last_p + k * p, last_q + k * q


class DerivedTree:
    """The tree of a case, under the assumption that an answer costs less than is proven, and `within` of its degrees.

    A node has fixings by column. Its bound's multipliers are tried with small denominators first: any that do will do.
    """

    def __init__(self, translation, below, cap, within):
        model, compact = translation.model, translation.compact
        self.file, self.model, self.compact, self.row = translation.file, model, compact, translation.row
        self.cap, self.within, self.prices, self.cut, self.most = cap, within, {}, None, 0
        self.rows = translation.rows
        self.simple = _SIMPLE if compact.per == model.unit else ()
        if below != INFINITE:
            self.most = -(-below * model.unit // compact.per) - 1
            self.cut = self.file.derive("asm", "L", self.most, compact.costs)
        self.nodes, self.pending, self.closed, self.kids, self.split = {0: {}}, {}, {}, {}, {}

    def ways(self, multipliers, prices):
        """The multipliers with a scale, by which costs are multiplied."""
        unit = self.model.unit
        for most in self.simple:
            parts = [[(k, *nearest(m, unit, most)) for k, m in part] for part in (multipliers, prices)]
            scale = lcm(*(denominator for part in parts for *_, denominator in part))
            if scale <= _LARGEST:
                yield scale, *([(k, m * (scale // denominator)) for k, m, denominator in part] for part in parts)
        yield unit, multipliers, prices

    def weigh(self, fixed, free, scale, multipliers, prices):
        """The bound by rows, less what the assumption allows, and the reduced cost of each column; without costs, if
        `free`."""
        rows, unit, charged = self.rows, self.model.unit, dict(prices)
        total, reduced = rows.combined([number for pair in multipliers for number in pair], with_costs=False)
        total -= (self.cap or 0) * sum(charged.values())
        if not free and self.cut is not None:
            total -= self.most * self.share(scale)
        if not free:
            reduced = map(add, reduced, rows.costs if scale == unit else [cost * scale // unit for cost in rows.costs])
        reduced = dict(zip(rows.columns, reduced))
        if charged:
            reduced = {column: cost + self.model.price(column, charged) for column, cost in reduced.items()}
        total += sum(cost for cost in reduced.values() if cost < 0)
        for column, fixing in fixed.items():
            cost = reduced[column]
            if fixing.value == (cost > 0):
                total += abs(cost)
        return total, reduced

    def share(self, scale):
        """The multiplier of the assumption on the cost."""
        return scale * self.compact.per // self.model.unit

    def terms(self, fixed, free, reduced, scale, multipliers, prices):
        """The constraints with multipliers whose sum is Σ (costs − reduced)·x ≥ the bound, with nothing left of reduced
        costs: bounds and fixings take them away."""
        terms, used, rest = {}, {}, reduced
        for number, factor in multipliers:
            derived = self.row(number)
            terms[derived] = terms.get(derived, 0) + factor
        for v, price in prices:
            if v not in self.prices:
                self.prices[v] = self.compact.price(v, self.within, self.cap)
            terms[self.prices[v]] = price
        for column, cost in reduced.items():
            fixing = fixed.get(column)
            if fixing and (cost > 0 if fixing.value else cost < 0):
                used[fixing] = max(used.get(fixing, 0), abs(cost))
        if used:
            rest = dict(reduced)
        for fixing, factor in used.items():
            signed = factor if fixing.value else -factor
            terms[fixing.constraint()] = signed
            for column in fixing.columns:
                rest[column] -= signed
        for column, cost in rest.items():
            if cost:
                variable = self.compact.columns[column]
                bound = self.file.low[variable] if cost > 0 else self.file.up[variable]
                terms[bound] = terms.get(bound, 0) + cost
        if not free and self.cut is not None:
            terms[self.cut] = -self.share(scale)
        return terms

    def bound(self, node, listed, priced, free):
        """Close the node if it can be, or remember what its reduced costs fix."""
        fixed = self.settled(node)
        if fixed is None or (not free and self.cut is None):
            return
        multipliers = [pair for pair in zip(listed[::2], listed[1::2]) if pair[1]]
        prices = [pair for pair in zip(priced[::2], priced[1::2]) if pair[1]]
        total, reduced = self.weigh(fixed, free, self.model.unit, multipliers, prices)
        if total > 0:
            for way in self.ways(multipliers, prices):
                total, reduced = self.weigh(fixed, free, *way)
                if total > 0:
                    terms = self.terms(fixed, free, reduced, *way)
                    self.closed[node], self.nodes[node] = self.file.derive("lin", "G", total, {}, terms), None
                    return
        elif not free:
            self.pending[node] = -total, reduced, (multipliers, prices)

    def settled(self, node):
        """The fixings of a node, once the last bound has fixed what it can; None if it is closed."""
        if node in self.closed or node not in self.nodes:
            return None
        fixed = self.nodes[node]
        if node in self.pending:
            slack, reduced, given = self.pending.pop(node)
            new = dict(fixed)
            for value in (0, 1):
                columns = [c for c, cost in reduced.items() if c not in fixed and (-cost if value else cost) > slack]
                if columns:
                    fixing = Fixing(value, columns, partial(self.fix, fixed, value, columns, given))
                    new |= dict.fromkeys(columns, fixing)
            self.nodes[node] = fixed = new
        return fixed

    def fix(self, fixed, value, columns, given):
        """Derive Σ columns ≤ 0, or ≥ their number: the least reduced cost times their sum is less than that."""
        sign = -1 if value else 1
        for way in self.ways(*given):
            total, reduced = self.weigh(fixed, False, *way)
            least = min(sign * reduced[column] for column in columns)
            if total <= 0 and least > -total:
                break
        variables = [self.compact.columns[column] for column in columns]
        for column in columns:
            reduced[column] -= sign * least
        rhs = total + (least * len(columns) if value else 0)
        terms = self.terms(fixed, False, reduced, *way)
        sum_up = self.file.derive("lin", "G", rhs, dict.fromkeys(variables, -sign * least), terms)
        sense, rhs = ("G", len(columns)) if value else ("L", 0)
        return self.file.derive("rnd", sense, rhs, dict.fromkeys(variables, 1), {sum_up: Fraction(-sign, least)})

    def branch(self, node, pair):
        """Two assumptions; the node that contradicts a fixing is closed at once."""
        column, fixed = self.model.column(pair), self.settled(node)
        new = [2 * len(self.kids) + k for k in (1, 2)]
        self.kids[node] = new
        if fixed is None:
            return
        self.nodes[node] = None  # only its children need what it fixes
        variable = self.compact.columns[column]
        for child, value in zip(new, (1, 0)):
            self.split[child] = assumed = self.file.derive("asm", "LG"[value], value, {variable: 1})
            known = fixed.get(column)
            if known is None or known.value == value:
                self.nodes[child] = {**fixed, column: known or Fixing(value, [column], lambda assumed=assumed: assumed)}
            else:
                reduced = dict.fromkeys(self.rows.columns, 0) | {column: -1 if value else 1}
                terms = self.terms(fixed, True, reduced, 1, [], [])
                self.closed[child] = self.file.derive("lin", "G", 1, {}, terms | {assumed: 1 if value else -1})

    def merged(self):
        """The absurdity of the root, once all leaves are closed."""
        for node in sorted(self.kids, reverse=True):  # children are numbered after their parents
            if node not in self.closed and node in self.nodes:
                one, two = self.kids[node]
                need(one in self.closed and two in self.closed, f"node {node} is not closed: the translation ends here")
                self.closed[node] = self.file.unsplit(
                    self.closed[one], self.split[one], self.closed[two], self.split[two]
                )
        need(0 in self.closed, "the root is not closed: the translation ends here")
        return self.closed[0]


class Translation:
    """A proof that the checker accepts, as a certificate."""

    def __init__(self, instance, proof):
        self.model, cases, self.value, self.bound, claim = examine(instance, proof)
        known = type(self.model) in COMPACT and self.model.title == self.model.problem
        need(known, f"proofs of {self.model.title} have no translation")
        self.rows, self.cases = GivenRows(self.model), []  # where cases start
        self.lines = TemporaryFile()  # noqa: SIM115, their lines
        self.made = {}
        head, facts = self.unpack(proof)
        self.file = Certificate()
        self.compact = COMPACT[type(self.model)](self.file, self.model, head, facts)
        self.file.objective = self.compact.objective
        self.solution = None if claim[1] is None else self.compact.solution(claim[1])
        need(self.bound != INFINITE, "that there is no answer has no translation")
        if all(type(cost) is int for cost in self.file.objective.values()):
            self.bound = ceil(self.bound)
        if self.bound > 0:
            self.last = self.compact.prove(cases, self.bound, self.lower)
        else:
            terms = {self.file.low[variable]: cost for variable, cost in self.file.objective.items()}
            self.last = self.file.derive("lin", "G", 0, self.file.objective, terms)

    def unpack(self, proof):
        """Keep the rows, and the lines of cases in a file; returns what the head says, and the first case."""
        left, trees, first, head, number = untranslated(self.model.problem), [], {}, {}, 0
        for _, line in lines_of(proof):
            tag, *items = json.loads(line)
            need(tag not in left, f"lines {tag!r} have no translation: solve with --option presolve=false")
            if tag == "proof":
                head = items[0]
            elif tag == "row":
                need(items[0] not in left, f"rows {items[0]!r} have no translation: solve with --option presolve=false")
                self.rows.given[number] = line
                number += 1
            elif tag == "tree":
                trees.append(items)
            elif tag == "case":
                first = first if self.cases else items[0]
                self.cases.append(self.lines.tell())
            if tag == "trees":
                rows, line = self.model.trees_as_rows(trees, len(self.rows.given) - number)
                self.rows.given |= {row: json.dumps(["row", *items]) for row, items in rows.items()}
                line, trees = json.dumps(line).encode() + b"\n", []
            if tag in ("case", "bound", "none", "trees", "branch", "end"):
                self.lines.write(line)
        return head, first

    def row(self, number):
        """The constraint that says the same as a row."""
        if number not in self.made:
            self.made[number] = self.compact.row(*self.rows.items(number))
        return self.made[number]

    def lower(self, number, below, within=None):
        """Costs ≥ below by a case, or an absurdity if it has no answer."""
        self.lines.seek(self.cases[number])
        lines = map(json.loads, iter(self.lines.readline, b""))
        _, facts = next(lines)
        tree = DerivedTree(self, below, facts.get("cap"), within)
        for tag, *items in lines:
            if tag == "end":
                break
            if tag in ("bound", "none"):
                node, listed, *priced = items
                tree.bound(node, listed, priced[0] if priced else [], tag == "none")
            elif tag == "branch":
                tree.branch(*items)
        absurd = tree.merged()
        return absurd if tree.cut is None else self.file.split(absurd, tree.cut, self.compact.costs, tree.most + 1)

    def write(self, path):
        """Write the certificate, and its problem as MPS beside it."""
        self.file.write(path, self.last, self.bound, self.value, self.solution)
        self.file.write_mps(path.removesuffix(".vipr") + ".mps")


COMPACT = {TopicRules: CompactOverlayModel, SteinerRules: SteinerModel, ContentRules: CompactContentModel}


def main(arguments):
    """Translate; the exit status: 0 written, 1 refused, 2 other arguments or no instance."""
    if len(arguments) != 3 or not arguments[2].endswith(".vipr"):
        print("usage: python vipr.py INSTANCE PROOF OUT.vipr", file=sys.stderr)
        return 2
    try:
        (done := Translation(*arguments[:2])).write(arguments[2])
    except (NoInstance, MemoryError) as error:
        print(str(error) or "not translated: out of memory", file=sys.stderr)
        return 2
    except Wrong as error:
        print(f"wrong: {arguments[1]}: {error}")
        return 1
    least, most = shown(done.bound, ROUND_FLOOR), shown(done.value, ROUND_CEILING)
    print(f"written: {arguments[2]}: {done.model.problem} in [{least}, {most}]")
    return 0


if __name__ == "__main__":
    sys.setrecursionlimit(50_000)  # a fixing is derived from those of its ancestors
    sys.exit(main(sys.argv[1:]))
