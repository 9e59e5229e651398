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
SIGNS = bytes(128) + b"\xff" * 128  # what a number's highest byte is followed by
CELLS = 2**22  # coefficients of rows in use that are kept: 8 bytes each


class Rows:
    """Rows by number, and columns by place: they are numbered as they are first named.

    A row is kept as its line. One that is in use is kept as a single integer, too, with `width` bytes a column, so that
    sums of rows with multipliers take a few steps of long arithmetic; or, where the width is 0 (many columns, or large
    numbers), as places and coefficients.
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
        """Its right-hand side, its largest coefficient, and the integer, or None and (places, coefficients)."""
        listed = [*coefficients]
        row = dict(listed)
        if len(row) < len(listed):
            row = {}
            for column, value in listed:
                row[column] = row.get(column, 0) + value
        places, values = [*map(self.place.get, row)], [*row.values()]
        need({type(rhs), *map(type, values)} == {int}, "a number of the row is no integer")
        if None in places:
            places = [*map(self.place_of, row)]
        largest = max(map(abs, values), default=0)
        if self.width and 2 * largest < 256**self.width:
            kept = rhs, largest, packed(places, values, self.width), None
            self.cells += (max(places, default=0) * self.width) >> 3
        else:
            kept = rhs, largest, None, (places, values)
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
        factors, numbers, used = multipliers[1::2], multipliers[::2], self.used
        rows = [used.get(number) or self.use(number, self.items(number)) for number in numbers]
        total = sum(map(mul, factors, [row[0] for row in rows]))
        largest = sum(map(mul, factors, [row[1] for row in rows])) + self.dearest
        while self.width and 2 * largest >= 256**self.width:
            self.widen(self.width + 1 if self.width < WIDEST else 0)
            rows = [self.use(number, self.items(number)) for number in numbers]
        size, width = len(self.costs), self.width
        vectors = [row[2] for row in rows]
        if width and None not in vectors:
            return total, unpacked(self.packed_costs() * with_costs - sum(map(mul, vectors, factors)), size, width)
        reduced = list(self.costs) if with_costs else [0] * size
        for (_, _, vector, listed), factor in zip(rows, factors):
            places, values = listed or (range(size), unpacked(vector, size, width))
            for place, value in zip(places, values):
                reduced[place] -= factor * value
        return total, reduced

    def packed_costs(self):
        size, width, _ = self.priced
        if (size, width) != (len(self.costs), self.width):
            size, width = len(self.costs), self.width
            self.priced = size, width, packed(range(size), self.costs, width)
        return self.priced[2]


def packed(places, values, width):
    """Σ value·256^(width·place)."""
    size = max(places, default=-1) + 1
    if min(values, default=0) >= 0 and max(values, default=0) < 256:  # as most rows
        data = bytearray(width * size)
        for place, value in zip(places, values):
            data[width * place] = value
        return int.from_bytes(data, "little")
    numbers = array("q", bytes(8 * size))
    for place, value in zip(places, values):
        numbers[place] = value
    ordered, data = lowest_first(numbers).tobytes(), bytearray(width * size)
    for k in range(width):
        data[k::width] = ordered[k::8]
    return (int.from_bytes(data, "little") ^ halves(size, width)) - halves(size, width)


def unpacked(total, size, width):
    """The numbers that :func:`packed` adds up, each of less than half of 256^width."""
    half, data = halves(size, width), bytearray(8 * size)
    packed = ((total + half) ^ half).to_bytes(width * size, "little")
    for k in range(width):
        data[k::8] = packed[k::width]
    signs = packed[width - 1 :: width].translate(SIGNS)
    for k in range(width, 8):
        data[k::8] = signs
    return lowest_first(array("q", data))


@lru_cache(64)
def halves(size, width):
    """Half of 256^width in each of so many fields: added, it makes negative numbers positive."""
    return int.from_bytes((bytes(width - 1) + b"\x80") * size, "little")


def lowest_first(numbers):
    """The numbers, the lowest byte of each first on any machine."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
