"""Claims and conditions as users write them: ``gm <= 1.5 * low-oda[k=3]``, ``max_degree <= 3 and topics > 2``.

The grammar has numbers, names, ``+ - * /``, comparisons, ``and``, ``or``, ``not`` and parentheses. A name is a quantity
of the instance, or a method with its options in brackets. A minus stands between spaces, since names have hyphens.
Arithmetic is exact.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from ...instances.contract.errors import BadInput
from .every_instance import Rows, node_sets

Numbers = npt.NDArray[np.int64]
_NAME = re.compile(r"(?<![\w.])[A-Za-z_][\w.]*(?:[-:][A-Za-z_\d][\w.]*)*(?:\[[^\]]*\])?")
_WORDS = ("and", "or", "not")
_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda over, under: Fraction(over) / under,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
QUANTITIES = {
    "nodes": "the nodes",
    "used": "the nodes that have a topic",
    "topics": "the topics",
    "distinct": "the different sets of subscribers",
    "subscriptions": "the subscriptions",
    "max_degree": "the most topics of a node",
    "min_degree": "the fewest topics of a node that has one",
    "max_size": "the most subscribers of a topic",
    "min_size": "the fewest subscribers of a topic",
}


@dataclass(frozen=True)
class Expression:
    """A comparison, or several joined by ``and``, ``or``, ``not``; `names` are those in it, methods as written."""

    text: str
    names: tuple[str, ...]
    tree: ast.expr

    def holds(self, columns: Mapping[str, Numbers], size: int) -> npt.NDArray[np.bool_]:
        """Whether it is true of each of so many instances, given the values of its names."""
        if not self.names:
            return np.full(size, bool(self._value(self.tree, ())))
        values, index = np.unique(np.stack([columns[name] for name in self.names], axis=1), axis=0, return_inverse=True)
        try:
            truth = [bool(self._value(self.tree, row)) for row in values.tolist()]
        except ZeroDivisionError:
            raise BadInput(f"{self.text!r}: divides by 0 on an instance: multiply instead") from None
        return np.array(truth, np.bool_)[index.reshape(-1)]

    def _value(self, node: ast.expr, row: Any) -> Any:
        match node:
            case ast.Constant():
                return Fraction(str(node.value))
            case ast.Name():
                return row[int(node.id[1:])]
            case ast.UnaryOp():
                return _OPERATORS[type(node.op)](self._value(node.operand, row))
            case ast.BinOp():
                return _OPERATORS[type(node.op)](self._value(node.left, row), self._value(node.right, row))
            case ast.BoolOp():
                join = all if isinstance(node.op, ast.And) else any
                return join(self._value(each, row) for each in node.values)
            case ast.Compare():
                sides = [self._value(each, row) for each in (node.left, *node.comparators)]
                pairs = zip(node.ops, sides, sides[1:], strict=False)
                return all(_OPERATORS[type(op)](left, right) for op, left, right in pairs)
        raise TypeError(node)


def parsed(text: str, what: str) -> Expression:
    """The expression in a text; BadInput names what is wrong. Nothing in it is run."""
    names: dict[str, int] = {}

    def numbered(match: re.Match[str]) -> str:
        name = match[0]
        return f" {name} " if name in _WORDS else f"_{names.setdefault(name, len(names))}"

    try:
        tree = ast.parse(_NAME.sub(numbered, text).strip(), mode="eval").body
        size = sum(1 for _ in ast.walk(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        size, tree = 0, ast.Constant(0)
    if not size or size > 500 or not _is_condition(tree):
        raise BadInput(
            f"{what} {text!r}: is no comparison: write it as 'gm <= 1.5 * low-oda[k=3]' or 'max_degree <= 3'"
        )
    return Expression(text, tuple(names), tree)


def _is_condition(node: ast.expr) -> bool:
    match node:
        case ast.BoolOp():
            return all(map(_is_condition, node.values))
        case ast.UnaryOp(op=ast.Not()):
            return _is_condition(node.operand)
        case ast.Compare():
            return all(type(op) in _OPERATORS for op in node.ops) and all(map(_is_term, (node.left, *node.comparators)))
    return False


def _is_term(node: ast.expr) -> bool:
    match node:
        case ast.Constant():
            return isinstance(node.value, int | float) and type(node.value) is not bool and isfinite(node.value)
        case ast.Name():
            return True
        case ast.UnaryOp(op=ast.USub()):
            return _is_term(node.operand)
        case ast.BinOp():
            return type(node.op) in _OPERATORS and _is_term(node.left) and _is_term(node.right)
    return False


def quantities_of(nodes: int, rows: Rows) -> dict[str, Numbers]:
    """Each of `QUANTITIES` on each instance."""
    sets = node_sets(nodes)[rows].astype(np.int64)
    subscribed = sets[:, :, None] >> np.arange(nodes) & 1
    sizes, degrees = subscribed.sum(axis=2), subscribed.sum(axis=1)
    whole = np.ones(len(rows), np.int64)
    columns = (
        nodes * whole,
        (degrees > 0).sum(axis=1),
        rows.shape[1] * whole,
        1 + (np.diff(rows.astype(np.int64), axis=1) != 0).sum(axis=1),
        sizes.sum(axis=1),
        degrees.max(axis=1),
        np.where(degrees > 0, degrees, rows.shape[1]).min(axis=1),
        sizes.max(axis=1),
        sizes.min(axis=1),
    )
    return dict(zip(QUANTITIES, columns, strict=True))
