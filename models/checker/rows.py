"""The rows of a proof, and their sums with multipliers."""

from __future__ import annotations

import json
import sys
from array import array
from functools import lru_cache
from operator import mul

from cases import need

PACKED = 4096  # columns up to which rows in use are kept as integers
WIDEST = 7  # bytes a column
SPARSE = 32  # columns up to its last one that a row in use has, for each coefficient, if it is kept as an integer
SIGNS = bytes(128) + b"\xff" * 128  # what a number's highest byte is followed by
CELLS = 2**22  # coefficients of rows in use that are kept: 8 bytes each


class Rows:
    """Rows by number, and columns by place: they are numbered as they are first named.

    A row is kept as its line. One that is in use is kept as a single integer, too, with `width` bytes a column, so that
    sums of rows with multipliers take a few steps of long arithmetic. It is kept as places and coefficients instead if
    it has a large coefficient or few of them, or if the width is 0 (many columns, or large sums).
    """

    def __init__(self, model):
        self.model, self.lines = model, []
        self.columns, self.place, self.costs = [], {}, []
        self.used, self.cells, self.width = {}, 0, 4
        self.priced, self.dearest = (0, 0, 0), 0  # the costs as an integer, of so many columns and this width

    def add(self, line, items):
        """Take the next row: a line and its items."""
        self.lines.append(None)
        self.use(len(self.lines) - 1, items)
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
        place = self.place.get(column)
        if place is None:
            place = self.place[column] = len(self.columns)
            self.columns.append(column)
            self.costs.append(cost := self.model.cost(column))
            self.dearest = max(self.dearest, abs(cost))
            if self.width and len(self.columns) > PACKED:
                self.widen(0)
        return place

    def place_all(self):
        """Give all columns a place."""
        if len(self.place) < len(self.model.columns):
            for column in self.model.columns:
                self.place_of(column)

    def use(self, number, items):
        return self.keep(number, *self.model.row(*items))

    def keep(self, number, coefficients, rhs):
        """Its right-hand side, its largest coefficient, and the integer or 0, else (places, coefficients)."""
        row = dict(coefficients)
        if len(row) < len(coefficients):
            row = {}
            for column, value in coefficients:
                row[column] = row.get(column, 0) + value
        places, values = [*map(self.place.get, row)], [*row.values()]
        need({type(rhs), *map(type, values)} == {int}, "a number of the row is no integer")
        if None in places:
            places = [*map(self.place_of, row)]
        size, largest = max(places, default=-1) + 1, max(max(values, default=0), -min(values, default=0))
        if self.width and largest < 128 and size <= SPARSE * len(places):
            kept = rhs, largest, packed(places, values, size, self.width), None
            self.cells += (size * self.width) >> 3
        else:
            kept = rhs, largest, 0, (places, values)
            self.cells += 2 * len(places)
        if self.cells > CELLS:
            self.used, self.cells = {}, 0
        self.used[number] = kept
        return kept

    def widen(self, width):
        """Give each column more bytes, or none: rows are listed then."""
        self.width, self.used, self.cells = width, {}, 0

    def combined(self, multipliers, with_costs):
        """Σ multiplier·rhs, and by place the costs, if they count, less Σ multiplier·coefficient.

        The rows and their multipliers come in turn.
        """
        factors, numbers = multipliers[1::2], multipliers[::2]
        rows = [*map(self.used.get, numbers)]
        if None in rows:
            rows = [row or self.use(number, self.items(number)) for row, number in zip(rows, numbers)]
        total = sum(map(mul, factors, [row[0] for row in rows]))
        largest = sum(map(mul, factors, [row[1] for row in rows])) + self.dearest
        while self.width and 2 * largest >= 256**self.width:
            self.widen(self.width + 1 if self.width < WIDEST else 0)
            rows = [self.use(number, self.items(number)) for number in numbers]
        if self.width:
            vector = self.packed_costs() * with_costs - sum(map(mul, [row[2] for row in rows], factors))
            reduced = unpacked(vector, len(self.costs), self.width)
        else:
            reduced = list(self.costs) if with_costs else [0] * len(self.costs)
        for row, factor in zip(rows, factors):
            if row[3]:
                for place, value in zip(*row[3]):
                    reduced[place] -= factor * value
        return total, reduced

    def packed_costs(self):
        size, width, _ = self.priced
        if (size, width) != (len(self.costs), self.width):
            size, width = len(self.costs), self.width
            costs = b"".join(cost.to_bytes(width, "little") for cost in self.costs)
            self.priced = size, width, int.from_bytes(costs, "little")
        return self.priced[2]


def packed(places, values, size, width):
    """Σ value·256^(width·place), of values from −127 to 127; places are below `size`."""
    data = bytearray((b"\x80" + bytes(width - 1)) * size)
    for place, value in zip(places, values):
        data[width * place] = 128 + value
    return int.from_bytes(data, "little") - (halves(size, width) >> 8 * (width - 1))


def unpacked(total, size, width):
    """The `size` numbers whose Σ number·256^(width·place) is the total, each of less than half of 256^width."""
    half, data = halves(size, width), bytearray(8 * size)
    packed = ((total + half) ^ half).to_bytes(width * size, "little")
    for k in range(width):
        data[k::8] = packed[k::width]
    signs = packed[width - 1 :: width].translate(SIGNS)
    for k in range(width, 8):
        data[k::8] = signs
    numbers = array("q", data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()


@lru_cache(64)
def halves(size, width):
    """Half of 256^width in each of so many fields: added, it makes negative numbers positive."""
    return int.from_bytes((bytes(width - 1) + b"\x80") * size, "little")
