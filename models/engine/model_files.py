"""Integer programs in files that other solvers read: LP, MPS and OPB, each with a table of what its columns mean.

Programs read parts of these formats in ways of their own (findings/): sections `bin` and `gen`, a constant of the
objective, rows without terms, ranges, bounds by default. Nothing of this is written: a constant is the cost of a column
fixed at 1, a row has one side, and every column has its bounds.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, Protocol

from ...instances.contract.errors import BadInput

COLUMNS = ".columns.csv"
"""What the name of a model's file is followed by in that of its table."""
_HEADER = ("column", "factor", "value", "first", "second", "third")
_LARGEST, _MOST_PARTS = 2**62, 2**20  # of whole costs, and of one unit, in OPB
_ON_A_LINE = 8  # terms; some readers take lines of 255 characters


class _Side(NamedTuple):
    """Σ values·columns ⋚ right."""

    terms: dict[int, int]
    sense: str  # ">=", "<=" or "="
    right: float


class WritableModel(Protocol):
    """What is written of an integer program: minimise costs·columns + constant."""

    costs: list[float]
    lower: list[int]
    upper: list[int]
    integral: list[bool]
    constant: float

    def meanings(self) -> Iterable[tuple[int, tuple[str, ...]]]:
        """What the value of a column says, such as edge, ann, bob; others only help to say it."""


class _Program:
    """A model with a last column that is 1, which has the constant, and of rows those that say something."""

    def __init__(self, model: WritableModel, rows: Iterable[tuple[Sequence[int], Sequence[int], float, float]]) -> None:
        self.one = len(model.costs)
        self.costs = [*model.costs, model.constant]
        self.lower, self.upper = [*model.lower, 1], [*model.upper, 1]
        self.integral = [*model.integral, True]
        self.rows = [_Side({self.one: 1}, "=", 1)]
        for columns, values, least, most in rows:
            self.rows += self._sides(columns, values, least, most)
        used = {column for row in self.rows for column in row.terms}
        self.objective = {k: cost for k, cost in enumerate(self.costs) if cost or k not in used or k == self.one}
        meanings = dict(model.meanings())
        self.meanings = [meanings.get(k, ("helper",)) for k in range(self.one)] + [("constant",)]

    def _sides(self, columns: Sequence[int], values: Sequence[int], least: float, most: float) -> Iterator[_Side]:
        total = Counter[int]()
        for column, value in zip(columns, values, strict=True):
            total[column] += value
        terms = {column: value for column, value in total.items() if value}
        if not terms:
            if not least <= 0 <= most:
                yield _Side({self.one: 1}, ">=", 2)  # which never holds
        elif least == most:
            yield _Side(terms, "=", least)
        else:
            yield from [_Side(terms, ">=", least)] if math.isfinite(least) else []
            yield from [_Side(terms, "<=", most)] if math.isfinite(most) else []

    def names(self) -> list[str]:
        return [*(f"c{k}" for k in range(self.one)), "one"]

    def table(self, parts: Iterable[tuple[str, int, int]]) -> str:
        """The table of columns: the value of an entry is the sum of its columns by their factors."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_HEADER)
        for name, factor, column in parts:
            entry = (name, factor, *self.meanings[column])
            writer.writerow([*entry, *[""] * (len(_HEADER) - len(entry))])
        return text.getvalue()


def write_model(
    model: WritableModel, rows: Iterable[tuple[Sequence[int], Sequence[int], float, float]], path: Path
) -> None:
    """Write a model in the format that the ending names, and beside it the table of its columns.

    Column k is c<k> in LP and MPS, and ``one`` is 1. OPB has 0/1 variables only, x1, x2, …: a column is its lower bound
    and a sum of bits, as the table says, all columns count as integers, and costs that are no integers are multiplied
    by a power of 2, as a comment says. Raises BadInput if that would be too large.

    Parameters
    ----------
    rows : (columns, values, least, most)
        least ≤ Σ values·columns ≤ most.
    """
    program = _Program(model, rows)
    if path.suffix == ".opb":
        lines, table = _opb(program)
    else:
        lines = [*(_lp if path.suffix == ".lp" else _mps)(program)]
        table = program.table((name, 1, k) for k, name in enumerate(program.names()))
    path.write_text("\n".join([*lines, ""]), encoding="ascii")
    path.with_name(path.name + COLUMNS).write_text(table, encoding="utf-8")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))


def _terms(terms: Iterable[tuple[str, float]]) -> str:
    parts = [f"{'-' if value < 0 else '+'} {_number(abs(value))} {name}" for name, value in terms]
    return "\n  ".join(" ".join(parts[k : k + _ON_A_LINE]) for k in range(0, len(parts), _ON_A_LINE))


def _lp(program: _Program) -> Iterator[str]:
    name = program.names()
    yield from ("\\ c0, c1, ... are described in the table beside this file", "Minimize")
    yield " obj: " + _terms((name[k], cost) for k, cost in program.objective.items())
    yield "Subject To"
    for number, (terms, sense, right) in enumerate(program.rows):
        yield f" r{number}: {_terms((name[k], value) for k, value in terms.items())} {sense} {_number(right)}"
    yield "Bounds"
    for k, (least, most) in enumerate(zip(program.lower, program.upper, strict=True)):
        yield f" {name[k]} = {least}" if least == most else f" {least} <= {name[k]} <= {most}"
    yield "Generals"
    yield from (f" {name[k]}" for k, integral in enumerate(program.integral) if integral)
    yield "End"


_MARKER = "    MARKER    'MARKER'                 '{}'"


def _mps(program: _Program) -> Iterator[str]:
    """MPS whose fields stand where the fixed format has them, as long as numbers have at most 12 characters."""
    name, entries = program.names(), [list[tuple[str, float]]() for _ in program.costs]
    for k, cost in program.objective.items():
        entries[k].append(("obj", cost))
    for number, (terms, _, _) in enumerate(program.rows):
        for k, value in terms.items():
            entries[k].append((f"r{number}", value))
    senses = {">=": "G", "<=": "L", "=": "E"}
    yield from ("NAME          OVERLAY", "ROWS", " N  obj")
    yield from (f" {senses[row.sense]}  r{number}" for number, row in enumerate(program.rows))
    yield "COLUMNS"
    for integral, columns in groupby(range(len(name)), key=program.integral.__getitem__):
        if integral:
            yield _MARKER.format("INTORG")
        for k in columns:
            yield from (_fields(name[k], row, value) for row, value in entries[k])
        if integral:
            yield _MARKER.format("INTEND")
    yield "RHS"
    yield from (_fields("RHS", f"r{number}", row.right) for number, row in enumerate(program.rows) if row.right)
    yield "BOUNDS"
    for k, (least, most) in enumerate(zip(program.lower, program.upper, strict=True)):
        bounds = [("FX", least)] if least == most else [("LO", least), ("UP", most)]
        yield from (f" {kind} {_fields('BND', name[k], value)[4:]}" for kind, value in bounds)
    yield "ENDATA"


def _fields(column: str, row: str, value: float) -> str:
    return f"    {column:<8}  {row:<8}  {_number(value):>12}"


def _opb(program: _Program) -> tuple[list[str], str]:
    costs = [Fraction(cost) for cost in program.costs]
    unit = math.lcm(*(cost.denominator for cost in costs))
    if unit > _MOST_PARTS or unit * sum(map(abs, costs)) > _LARGEST:
        raise BadInput("OPB takes whole costs only, and these are not: write .mps or .lp")
    bits, count = list[range](), 0
    for least, most in zip(program.lower[:-1], program.upper[:-1], strict=True):
        bits.append(range(count + 1, count + 1 + (most - least).bit_length()))
        count += len(bits[-1])
    one = count + 1

    def bitwise(terms: Iterable[tuple[int, int]]) -> tuple[list[tuple[str, float]], int]:
        """Terms of bits, and what the lower bounds add to them."""
        parts, shift = list[tuple[str, float]](), 0
        for k, value in terms:
            shift += value * program.lower[k] * (k != program.one)
            own = [one] if k == program.one else bits[k]
            parts += [(f"x{bit}", value << power) for power, bit in enumerate(own)]
        return parts, shift

    spare = [2 ** len(own) - 1 - (program.upper[k] - program.lower[k]) for k, own in enumerate(bits)]
    capped = [_Side({k: 1}, "<=", program.upper[k]) for k, more in enumerate(spare) if more]
    lines = []
    for terms, sense, right in (*program.rows, *capped):
        parts, shift = bitwise(terms.items())
        if sense == "<=":
            parts, right, shift, sense = [(x, -value) for x, value in parts], -right, -shift, ">="
        if parts:
            lines.append(f"{_opb_terms(parts)} {sense} {math.ceil(right) - shift} ;")
        elif math.ceil(right) - shift > 0 or (sense == "=" and right != shift):
            lines.append(f"+1 x{one} >= 2 ;")
    parts, shift = bitwise((k, int(unit * costs[k])) for k in range(program.one) if costs[k])
    objective = [*parts, (f"x{one}", int(unit * costs[program.one]) + shift)]
    head = [f"* #variable= {one} #constraint= {len(lines)}", f"* the objective is {unit} times that of the model"]
    own = ((f"x{bit}", 1 << power, k) for k, each in enumerate(bits) for power, bit in enumerate(each))
    lower = ((f"x{one}", least, k) for k, least in enumerate(program.lower) if least)
    table = program.table(sorted([*own, *lower], key=lambda part: part[2]))
    return [*head, f"min: {_opb_terms(objective)} ;", *lines], table


def _opb_terms(terms: Iterable[tuple[str, float]]) -> str:
    return " ".join(f"{int(value):+d} {name}" for name, value in terms)
