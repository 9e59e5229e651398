"""Integer programs as data: columns with bounds and costs, and rows, which CP-SAT and the ILP solvers interpret."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.contract.run import Clock

Columns = npt.NDArray[np.int64]
Start = Mapping[int, int]
"""The values of some integer columns; the solver completes the others."""
_ROWS_PER_CHECK = 1000


class Row(NamedTuple):
    """least ≤ Σ values·columns ≤ most, in integers; only where the column `only_if`, if there is one, is 1."""

    columns: Sequence[int]
    values: Sequence[int]
    least: float = -math.inf
    most: float = math.inf
    only_if: int | None = None


class IntegerModel:
    """Minimise costs·columns + constant subject to rows, without the words of any solver.

    Attributes
    ----------
    costs : list of float
        Of the columns.
    lower, upper : list of int
    integral : list of bool
        A column that need not be integral may be: CP-SAT takes all columns as integers.
    constant : float
    lazy : bool
        Whether CP-SAT adds rows to its linear relaxation as they are violated, its default, or all at the root.
    """

    def __init__(self) -> None:
        self.costs: list[float] = []
        self.lower: list[int] = []
        self.upper: list[int] = []
        self.integral: list[bool] = []
        self.constant, self.lazy = 0.0, True
        self._rows: list[Row] = []

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(self._rows)

    def column(self, lower: int = 0, upper: int = 1, *, cost: float = 0.0, integral: bool = True) -> int:
        """Add a column, 0 or 1 by default; returns its number."""
        self.costs.append(cost)
        self.lower.append(lower)
        self.upper.append(upper)
        self.integral.append(integral)
        return len(self.costs) - 1

    def add(self, costs: npt.ArrayLike, *, upper: int = 1, integral: bool = True) -> Columns:
        """Add columns from 0 to an upper bound with these costs."""
        new = np.atleast_1d(np.asarray(costs, np.float64)).tolist()
        return np.array([self.column(upper=upper, cost=cost, integral=integral) for cost in new], np.int64)

    def require(
        self,
        columns: Iterable[int],
        values: int | Sequence[int] = 1,
        *,
        least: float = -math.inf,
        most: float = math.inf,
        only_if: int | None = None,
    ) -> None:
        """Add the row least ≤ Σ values·columns ≤ most; one number for all columns stands for equal values."""
        listed = list(columns)
        factors = [values] * len(listed) if isinstance(values, int) else values
        self._rows.append(Row(listed, factors, least, most, only_if))

    def require_some(self, columns: Iterable[int], *, of: int | None = None) -> None:
        """At least one of some 0/1 columns is 1 where the column `of` is, or always."""
        listed = list(columns)
        if of is None:
            self.require(listed, least=1)
        else:
            self.require([*listed, of], [*[1] * len(listed), -1], least=0)

    def imply(self, column: int, other: int) -> None:
        """Where one 0/1 column is 1, so is the other."""
        self.require([other, column], [1, -1], least=0)

    def require_levels(self, arcs: Mapping[tuple[int, int], int], level: Sequence[int]) -> None:
        """The head of an arc that is used has a higher level than its tail, which excludes cycles."""
        for (tail, head), used in arcs.items():
            self.require([level[head], level[tail]], [1, -1], least=1, only_if=used)

    def rows_in_time(self, clock: Clock) -> Iterator[Row]:
        """The rows; :class:`.OutOfTime` is raised once no time is left."""
        for number, row in enumerate(self._listed()):
            if number % _ROWS_PER_CHECK == 0:
                clock.check()
            yield row

    def _listed(self) -> Iterable[Row]:
        return self._rows

    def is_boolean(self, row: Row) -> bool:
        """Whether a row has only 0/1 columns, each with the value 1 or −1."""
        return all(abs(value) == 1 for value in row.values) and all(
            self.upper[k] == 1 and self.lower[k] >= 0 for k in row.columns
        )

    def unconditional(self, row: Row) -> Row:
        """A row without `only_if`: where this column is 0, the row holds for any values within their bounds."""
        if row.only_if is None:
            return row
        bounds = [(self.lower[k] * a, self.upper[k] * a) for k, a in zip(row.columns, row.values, strict=True)]
        if math.isfinite(row.least):
            slack = row.least - sum(min(pair) for pair in bounds)
            return Row([*row.columns, row.only_if], [*row.values, -int(slack)], row.least - slack)
        slack = sum(max(pair) for pair in bounds) - row.most
        return Row([*row.columns, row.only_if], [*row.values, int(slack)], most=row.most + slack)
