"""The rows of a proof, and their sums with multipliers."""

from __future__ import annotations

import json
import struct
from collections import namedtuple
from itertools import chain, compress, repeat
from operator import mul, sub

from cases import need

WIDEST = 7  # bytes a column
SPARSE = 32  # columns of a name, for each unit of their weights, up to which a row is kept as an integer
LARGE = 2**14  # columns of a name above which a row is kept as coefficients: those that are 0 need no place
OVERLAP = 4  # names of a column, on average, above which rows with a name have all columns
CELLS = 2**22  # coefficients of rows in use that are kept: 8 bytes each

# Coefficients from 0 to 255, as bytes, of columns that many rows have: those of the pairs of a topic, or of a node.
Named = namedtuple("Named", "name columns weights")


class Rows:
    """Rows by number, and columns by place: they are numbered as they are first named.

    A row is kept as its line. One in use is also kept as coefficients and places; or, if its columns have a name and
    enough weights are positive, as one integer with `width` bytes a weight: sums of rows with multipliers take a few
    steps of long arithmetic. The sum of each name is then spread over all columns by their places. Where most columns
    have many names, the integers have all columns from the first. No byte is borrowed from the next, as weights and
    multipliers are not negative; the width is 0, and all rows are kept as coefficients, if sums are too large.
    """

    def __init__(self, model):
        self.model, self.lines = model, []
        self.columns, self.place, self.costs = [], {}, []
        self.named, self.names = {}, 0  # the places of the columns of a name, and how many these are of all names
        self.used, self.cells, self.width, self.spread = {}, 0, 5, True

    def add(self, line, items):
        """Take the next row: a line and its items."""
        self.lines.append(None)
        self.keep(len(self.lines) - 1, *self.model.row(*items))
        self.lines[-1] = line

    def drop(self, numbers):
        """Forget rows that no later line names."""
        for number in numbers:
            self.line(number)
            self.lines[number] = None
            self.used.pop(number, None)

    def line(self, number):
        need(type(number) is int and 0 <= number < len(self.lines), f"there is no row {number}")
        need(self.lines[number] is not None, f"row {number} was dropped")
        return self.lines[number]

    def items(self, number):
        return json.loads(self.line(number))[1:]

    def place_of(self, column):
        """The place of a column, which is the next one if it has none."""
        if column not in self.place:
            self.place[column] = len(self.columns)
            self.columns.append(column)
            self.costs.append(self.model.cost(column))
        return self.place[column]

    def places(self, columns):
        places = [*map(self.place.get, columns)]
        return [*map(self.place_of, columns)] if None in places else places

    def place_all(self):
        """Give all columns a place."""
        if len(self.place) < len(self.model.columns):
            self.places(self.model.columns)

    def share(self, columns):
        """Number the columns anew; those given, which a case has at 0, so that no sum needs them, share place 0."""
        if columns or len(self.columns) < len(self.place):
            shared = set(columns)
            self.columns = [*columns[:1], *(column for column in self.place if column not in shared)]
            self.place = dict.fromkeys(columns, 0) | {column: place for place, column in enumerate(self.columns)}
            self.costs = [*map(self.model.cost, self.columns)]
            self.named, self.names, self.spread = {}, 0, True
            self.widen(self.width)

    def keep(self, number, coefficients, rhs):
        """Keep a row as its right-hand side, largest weight and integer of all columns (or 0); then as the integer of a
        name's columns with the name, or as coefficients with their places.
        """
        named = type(coefficients) is Named
        if named and self.width and len(coefficients.weights) <= min(LARGE, SPARSE * sum(coefficients.weights)):
            kept = rhs, max(coefficients.weights, default=0), *self.packed(*coefficients)
        else:
            pairs = compress(zip(*coefficients[1:]), coefficients.weights) if named else coefficients
            columns, values = [*zip(*pairs)] or ((), ())
            need({type(rhs), *map(type, values)} == {int}, "a number of the row is no integer")
            kept = rhs, 0, 0, values, self.places(columns)
            self.cells += 2 * len(values)
        if self.cells > CELLS:
            self.used, self.cells = {}, 0
        self.used[number] = kept
        return kept

    def packed(self, name, columns, weights):
        if name not in self.named:
            places = self.places([*columns])
            is_shared = len(self.columns) < len(self.place)  # the first place
            single = bytes(place >= is_shared for place in places)
            self.named[name] = single, [*compress(places, single)]
            self.names += sum(single)
            if self.spread != (self.names <= OVERLAP * len(self.columns)):
                self.spread = not self.spread
                self.widen(self.width)
        single, places = self.named[name]
        weights, width = bytes(compress(weights, single)), self.width
        data = bytearray(width * len(places if self.spread else self.columns))
        self.cells += len(data) >> 3
        if self.spread:
            data[::width] = weights
            return 0, int.from_bytes(data, "little"), name
        for place, weight in zip(places, weights):
            data[width * place] = weight
        return int.from_bytes(data, "little"), None, None

    def widen(self, width):
        """Give each column more bytes, or none: rows are kept anew."""
        self.width, self.used, self.cells = width, {}, 0

    def combined(self, multipliers, with_costs):
        """Of rows and multipliers in turn Σ multiplier·rhs, and by place cost, or 0, less Σ multiplier·coefficient."""
        factors, numbers = multipliers[1::2], multipliers[::2]
        while True:
            rows = [*map(self.used.get, numbers)]
            if None in rows:
                rows = [row or self.keep(k, *self.model.row(*self.items(k))) for k, row in zip(numbers, rows)]
            rhs, largest, whole, own, where = zip(*rows) if rows else [()] * 5
            if not self.width or sum(map(mul, factors, largest)) < 256**self.width:
                break
            self.widen(self.width + 1 if self.width < WIDEST else 0)
        reduced = [*self.costs] if with_costs else [0] * len(self.costs)
        if covered := sum(map(mul, factors, whole)):
            reduced = [*map(sub, reduced, unpacked([covered], [len(reduced)], self.width))]
        sums = {}
        for row, name, factor in zip(own, where, factors) if any(where) else ():
            if type(row) is int:
                sums[name] = sums.get(name, 0) + factor * row
            elif row:
                for place, value in zip(name, row):
                    reduced[place] -= factor * value
        places = [self.named[name][1] for name in sums]
        values = unpacked(sums.values(), map(len, places), self.width) if sums else ()
        for place, value in zip(chain.from_iterable(places), values):
            reduced[place] -= value
        return sum(map(mul, factors, rhs)), reduced


def unpacked(totals, sizes, width):
    """Of each total the `size` numbers, from 0 to below 256^width, whose Σ number·256^(width·place) it is."""
    packed = b"".join(map(int.to_bytes, totals, map(width.__mul__, sizes), repeat("little")))
    data = bytearray(8 * (len(packed) // width))
    for k in range(width):
        data[k::8] = packed[k::width]
    return struct.unpack(f"<{len(data) // 8}q", data)
