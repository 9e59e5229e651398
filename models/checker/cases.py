"""What the checks of all kinds share: cases, their trees, and bounds by weak duality."""

from __future__ import annotations

import json
import math

INFINITE = math.inf


class Wrong(Exception):
    """A line of the proof, or the file as a whole, is wrong."""


class NoInstance(Wrong):
    """The file of the instance is not of its format."""


def reading(read):
    """A reader of instances, whose errors name the file."""

    def named(path):
        try:
            return read(path)
        except MemoryError:
            raise
        except Exception as error:  # whatever a damaged file leads to
            reason = error if isinstance(error, Wrong) else f"{type(error).__name__}: {error}"
            raise NoInstance(f"{path}: {reason}: correct the file, or write it again") from None

    return named


def need(condition, why):
    """Stop with the reason unless the condition holds."""
    if not condition:
        raise Wrong(why)


def is_count(value):
    """Whether a value is an integer of at least 0."""
    return type(value) is int and value >= 0


class Model:
    """The columns and the valid rows of a kind of problem, as its subclass states them.

    Attributes
    ----------
    problem : str
    columns : iterable
        All columns that may be fixed by reduced cost. A column is 0 or 1.
    unit : int
        Costs are integers, in units of 1/unit.
    slack : Fraction or int
        The relative tolerance within which a bound proves a value.
    """

    problem, columns, unit, slack = "", (), 1, 0

    @classmethod
    def poses(cls, problem):
        """Whether the class checks proofs of the problem."""
        return problem in cls.problems

    def may_end(self, below):
        """Whether an answer can have the value; bounds are rounded up to such values, so a case ends with one."""
        return is_count(below)

    def units_below(self, value):
        """A column is fixed if its other value would cost more units than this: no better than the value."""
        return (value - 1) * self.unit

    def value_of(self, units):
        """The least value of an answer that costs so many units."""
        return -(-units // self.unit)

    def least(self, below):
        """What a case proves if every answer found by its tree is worse than `below`."""
        return below

    def price(self, column, prices):
        """What the prices of nodes add to the cost of a column."""
        return 0

    def price_term(self, prices):
        """What the prices of nodes add to the bound."""
        need(not prices, "nodes have no prices here")
        return 0

    def assumed(self, below):
        """The columns that the root of a case fixes, by the case or because all answers better than `below` do."""
        return {}

    def learn(self, case):
        """Take note of what a complete case settles."""

    def shared(self):
        """A sentence about what all answers of some value share, if cases settle that."""
        return ""

    def conclude(self, cases):
        """The bound on the problem's value that cases, as (facts, bound), prove together."""
        return max((bound for _, bound in cases), default=0)


class Case:
    """The tree of one statement; `below` is what its end says."""

    def __init__(self, model, below):
        need(below is None or model.may_end(below), f"the end, {below}, is no value of an answer")
        self.model, self.below = model, below
        self.root = model.assumed(below)  # the fixings of node 0
        self.open = {0: (self.root, 0)}  # leaf: its fixings, its bound in units (INFINITE: holds no answer)
        self.pending = {}  # leaf: the last bound and its reduced costs, until the leaf has another or branches
        self.created = 0

    def bound(self, node, multipliers, prices, without_costs):
        """Bound a leaf by rows with multipliers and nodes' degree rows with prices."""
        fixed, best = self.settled(node)
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
                total += min(0, reduced(column))
        for column, value in fixed.items():
            if value:
                total += reduced(column)
        if without_costs:
            if total > 0:
                self.open[node] = ({}, INFINITE)
            return
        if total > best:
            self.open[node] = (fixed, total)
        self.pending[node] = total, reduced

    def trees(self, total):
        """Bound the root by the weight of spanning trees, whatever is fixed there."""
        fixed, best = self.settled(0)
        self.open[0] = (fixed, max(best, total))

    def exclude(self, node):
        """Fix the columns at 0 that the model excludes by the reduced costs of the last bound."""
        fixed, best = self.open[node]
        need(not any(fixed.values()), "paths count a column that is fixed at 1, which the bound counts too")
        total, reduced = self.pending.pop(node)
        if self.below is not None:
            excluded = self.model.excluded(reduced, self.model.units_below(self.below) - total)
            self.open[node] = (fixed | dict.fromkeys(excluded, 0), best)

    def branch(self, node, column):
        column = self.model.column(column)
        fixed, best = self.settled(node)
        del self.open[node]
        for value in (1, 0):
            self.created += 1
            if best == INFINITE or fixed.get(column, value) != value:
                self.open[self.created] = ({}, INFINITE)
            else:
                self.open[self.created] = ({**fixed, column: value}, best)

    def settled(self, node):
        """A leaf's fixings and bound, once the reduced costs of its last bound have fixed what they can."""
        need(node in self.open, f"node {node} is no leaf")
        fixed, best = self.open[node]
        if node in self.pending:
            total, reduced = self.pending.pop(node)
            if best != INFINITE and self.below is not None:
                fixed = fixed | self.fixable(fixed, self.model.units_below(self.below) - total, reduced)
                self.open[node] = (fixed, best)
        if node == 0:
            self.root = fixed
        return fixed, best

    def fixable(self, fixed, allowed, reduced):
        """The columns whose other value, by their reduced costs, no answer better than `below` has."""
        gains = ((column, reduced(column)) for column in self.model.columns if column not in fixed)
        return {column: int(gain < 0) for column, gain in gains if abs(gain) > allowed}

    def proven(self):
        """The bound of the case: the least of its leaves', and of `below`."""
        least = min(best for _, best in self.open.values())
        if least == INFINITE:
            return INFINITE if self.below is None else self.model.least(self.below)
        value = self.model.value_of(least)
        return value if self.below is None else min(value, self.model.least(self.below))


def reached(start, near, inside):
    """The nodes of a set that can be reached from one of them within it."""
    found, waiting = {start}, [start]
    while waiting:
        new = near[waiting.pop()] & inside - found
        found |= new
        waiting += new
    return found


def neighbours(edges, nodes=()):
    """The neighbours of the nodes, and of the ends of edges."""
    near = {v: set() for v in (*nodes, *(end for edge in edges for end in edge))}
    for u, v in edges:
        need(u != v, "an edge joins a node to itself")
        near[u].add(v)
        near[v].add(u)
    return near


def text_of(path):
    """The text of a file in UTF-8, of at most 512 MiB, without byte order mark; all line ends are those of Unix."""
    with open(path, "rb") as file:
        data = file.read(2**29 + 1)
    need(len(data) <= 2**29, "the instance is larger than 512 MiB")
    return data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def document(path, form):
    """The object in a JSON file of a format."""
    data = parsed(text_of(path))
    need(type(data) is dict and data.get("format") == form, f"the instance is no object of the format {form}")
    return data


def parsed(text):
    """The data in a JSON text."""
    data = json.loads(text, object_pairs_hook=object_of)
    if "\\u" in text:
        json.dumps(data, ensure_ascii=False).encode()  # an error for half a character
    return data


def object_of(pairs):
    """A JSON object, in which no key may repeat: readers disagree on which of its values counts."""
    found = dict(pairs)
    need(len(found) == len(pairs), "a key repeats in the instance")
    return found


def need_labels(names):
    """Stop unless all names are texts: 1, 1.0 and true would be one label, or three."""
    need(all(type(name) is str and name for name in names), "a label is no text, or empty")


def is_integer(value, least, most):
    """Whether a value is an integer within bounds."""
    return type(value) is int and least <= value <= most
