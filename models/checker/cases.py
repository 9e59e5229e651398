"""What the checks of all kinds share: cases, their trees, and bounds by weak duality."""

from __future__ import annotations

import json
import math
from array import array
from itertools import compress
from operator import add

INFINITE = math.inf
FREE, AT_1 = b"\1" + bytes(255), b"\0\0\1" + bytes(253)  # translate a column's state to whether it is free, or at 1


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

    problem, columns, unit, slack, excluded = "", (), 1, 0, None

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

    @property
    def title(self):
        """What the problem is called."""
        return self.problem

    def stated(self):
        """What the proof states of a problem of others, as a sentence."""
        return ""

    def shared(self):
        """A sentence about what all answers of some value share, if cases settle that."""
        return ""

    def conclude(self, cases):
        """The bound on the problem's value that cases, as (facts, bound), prove together."""
        return max((bound for _, bound in cases), default=0)


class Case:
    """The tree of one statement; `below` is what its end says.

    A leaf is closed once its bound leaves no answer better than `below`: nothing more is kept of it than that. An open
    one has its fixings as a chain (those of the node above, its own): each is a place of `rows`, twice, plus the value.
    """

    def __init__(self, model, below, rows):
        need(below is None or model.may_end(below), f"the end, {below}, is no value of an answer")
        self.model, self.below, self.rows, self.at_0 = model, below, rows, []
        rows.share(())
        self.root = None, self.codes(model.assumed(below))  # the fixings of node 0
        self.open = {0: (self.root, 0)}  # leaf: its fixings, and its bound in units
        self.closed = bytearray(1)  # of each node, whether it was a leaf when it was closed
        self.known = None, b""  # fixings, and the columns' states by place: 0 if free, 1 if at 0, 2 if at 1
        self.last = None  # of node 0, its last bound and reduced costs: they fix columns only where that is needed

    def codes(self, values):
        return array("q", (2 * self.rows.place_of(column) + value for column, value in values.items()))

    def bound(self, node, multipliers, prices, tag="bound"):
        """Bound a leaf by rows and multipliers in turn, and nodes' degree rows with prices.

        With the tag "none" costs do not count; with "paths" the model says by the reduced costs what to fix at 0.
        """
        if not self.is_open(node):
            return
        fixings, states, best = self.settled(node)
        total, reduced = self.rows.combined(multipliers, with_costs=tag != "none")
        total += self.model.price_term(prices)
        reduced = self.with_prices(reduced, 0, prices)
        free = [*compress(reduced, states.translate(FREE))]
        total += (sum(free) - sum(map(abs, free))) // 2  # the negative ones
        total += sum(compress(reduced, states.translate(AT_1)))
        if tag == "none":
            if total > 0:
                self.close(node)
            return
        best = max(best, total)
        if self.below is not None and self.model.value_of(best) >= self.model.least(self.below):
            self.close(node)
            return
        if tag == "paths":
            need(2 not in states, "paths count a column that is fixed at 1, which the bound counts too")
            fixings = self.excluded(fixings, total, reduced, prices)
        elif node == 0:
            self.last = total, reduced, prices
        else:
            fixings = self.fixed(fixings, states, total, reduced, prices)
        self.open[node] = fixings, best

    def trees(self, total):
        """Bound the root by the weight of spanning trees, whatever is fixed there."""
        if self.is_open(0):
            fixings, _, best = self.settled(0)
            self.open[0] = fixings, max(best, total)

    def branch(self, node, column):
        """Split a leaf by a column into two, at 1 and at 0."""
        column = self.model.column(column)
        is_open = self.is_open(node)
        if is_open and node == 0:
            self.narrow()
        place = self.rows.place_of(column)
        if is_open:
            fixings, states, best = self.settled(node)
            del self.open[node]
        self.closed[node] = False
        for value in (1, 0):
            if is_open and states[place] != 2 - value:
                self.open[len(self.closed)] = (fixings, (2 * place + value,)), best
                self.closed.append(False)
            else:
                self.closed.append(True)

    def narrow(self):
        """Let the columns that the root has at 0 share a place if they are many: only paths ask for their costs."""
        fixings = self.root_fixings()
        self.at_0 = [column for column, value in fixings.items() if not value]
        if 2 * len(self.at_0) > len(self.rows.columns) and self.model.excluded is None:
            self.rows.share(self.at_0)
            at_1 = {column: value for column, value in fixings.items() if value}
            self.known, self.root = (None, b""), (None, self.codes({self.at_0[0]: 0} | at_1))
            self.open[0] = self.root, self.open[0][1]

    def is_open(self, node):
        """Whether a leaf is open; no other node may have a line."""
        need(node in self.open or (is_count(node) and node < len(self.closed) and self.closed[node]), "no such leaf")
        return node in self.open

    def close(self, node):
        del self.open[node]
        self.closed[node] = True

    def settled(self, node):
        """The fixings of an open leaf, the columns' states and its bound; of the root once its last bound has fixed."""
        fixings, best = self.open[node]
        states = self.by_place(fixings)
        if node == 0:
            if self.last is not None:
                fixings, self.last = self.fixed(fixings, states, *self.last), None
                states, self.open[0] = self.by_place(fixings), (fixings, best)
            self.root = fixings
        return fixings, states, best

    def by_place(self, fixings):
        """The states of all columns; those of the chain that was asked for last are at hand."""
        link, own = fixings, []
        while link is not None and link is not self.known[0]:
            link, codes = link
            own.append(codes)
        states = bytearray(b"" if link is None else self.known[1]).ljust(len(self.rows.columns), b"\0")
        for codes in own:
            for code in codes:
                states[code >> 1] = 1 + (code & 1)
        self.known = fixings, states
        return states

    def fixed(self, fixings, states, total, reduced, prices):
        """Fix the columns whose other value, by their reduced costs, no answer better than `below` has."""
        if self.below is None:
            return fixings
        allowed = self.model.units_below(self.below) - total
        reduced = self.complete(reduced, prices)
        free = states.ljust(len(reduced), b"\0").translate(FREE)
        costs = zip(compress(range(len(reduced)), free), compress(reduced, free))
        codes = array("q", [2 * place + (cost < 0) for place, cost in costs if not -allowed <= cost <= allowed])
        return (fixings, codes) if codes else fixings

    def excluded(self, fixings, total, reduced, prices):
        """Fix at 0 what the model excludes by the reduced costs of the last bound."""
        if self.below is None:
            return fixings
        reduced = self.complete(reduced, prices)
        allowed = self.model.units_below(self.below) - total
        none = self.model.excluded(lambda column: reduced[self.rows.place[column]], allowed)
        return fixings, self.codes(dict.fromkeys(none, 0))

    def complete(self, reduced, prices):
        """The reduced costs of all columns, also of those that no row has named so far."""
        known = len(reduced)
        self.rows.place_all()
        more = self.rows.costs[known:]
        return self.with_prices([*reduced, *more], known, prices) if more else reduced

    def with_prices(self, reduced, start, prices):
        """Reduced costs with the prices of nodes, which those before `start` have."""
        if not prices:
            return reduced
        more = (self.model.price(column, prices) for column in self.rows.columns[start:])
        return [*reduced[:start], *map(add, reduced[start:], more)]

    def root_fixings(self):
        """What the root fixes, by column."""
        if 0 in self.open:
            self.settled(0)
        states = self.by_place(self.root)
        found = {self.rows.columns[place]: state - 1 for place, state in enumerate(states) if state}
        return found | dict.fromkeys(self.at_0, 0)

    def proven(self):
        """The bound of the case: the least of its leaves', and of `below`."""
        if not self.open:
            return INFINITE if self.below is None else self.model.least(self.below)
        value = self.model.value_of(min(best for _, best in self.open.values()))
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
