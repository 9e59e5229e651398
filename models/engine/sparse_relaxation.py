"""A relaxation with sparse rows and without column generation; its bounds are proven in integer arithmetic."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .proof import Multipliers
from .relaxation import NO_COLUMNS, UNIT, Bits, Bound, HighsLP, Reals, Relaxation, Units

_PATIENCE = 25
_USED = 1e-9
_LARGEST = 2.0**60
_HALF = 32
Text = tuple[Any, ...]


class SparseRows(NamedTuple):
    """Inequalities Σ values·x ≥ rhs in integers."""

    offsets: Units
    columns: Units  # those of row r are columns[offsets[r]:offsets[r + 1]]
    values: Units
    rhs: Units
    texts: npt.NDArray[np.object_]  # of each row in a proof: a tuple that starts with the name of its kind

    def chosen(self, rows: npt.NDArray[np.bool_]) -> SparseRows:
        """The rows for which `rows` is True."""
        sizes = np.diff(self.offsets)
        entries = np.repeat(rows, sizes)
        offsets = np.concatenate([[0], np.cumsum(sizes[rows])]).astype(np.int64)
        return SparseRows(offsets, self.columns[entries], self.values[entries], self.rhs[rows], self.texts[rows])


class RowList:
    """A list of distinct rows, to which rows are added one by one."""

    def __init__(self) -> None:
        self._rows: dict[tuple[bytes, bytes, int], tuple[Units, Units, int, Text]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[tuple[Units, Units, int, Text]]:
        return iter(self._rows.values())

    def add(self, columns: npt.ArrayLike, values: npt.ArrayLike, rhs: int, text: Text = ()) -> None:
        """Add Σ values·columns ≥ rhs; `values` may be one number for all columns, `text` is its text in a proof."""
        where = np.asarray(columns, np.int64)
        factors = np.broadcast_to(np.asarray(values, np.int64), where.shape)
        self._rows.setdefault((where.tobytes(), factors.tobytes(), rhs), (where, factors, rhs, text))

    def rows(self) -> SparseRows:
        """All rows, in the order of their addition."""
        listed = list(self._rows.values())
        sizes = [len(columns) for columns, *_ in listed]
        texts = np.empty(len(listed), np.object_)
        texts[:] = [text for *_, text in listed]
        return SparseRows(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([NO_COLUMNS, *(columns for columns, *_ in listed)]),
            np.concatenate([NO_COLUMNS, *(values for _, values, *_ in listed)]),
            np.array([rhs for _, _, rhs, _ in listed], np.int64),
            texts,
        )


@dataclass(frozen=True)
class SparseMultipliers:
    """The rows of a bound with their multipliers in units, for a proof (:class:`.Proven`)."""

    texts: npt.NDArray[np.object_]
    units: Units
    farkas: bool

    def multipliers(self) -> Multipliers:
        """See :class:`.Proven`."""
        used = np.flatnonzero(self.units)
        return Multipliers(zip(self.texts[used].tolist(), self.units[used].tolist(), strict=True), (), self.farkas)


class SparseRelaxation(Relaxation[SparseRows]):
    """Minimise costs·x over 0/1 columns; rows that :meth:`violated` adds may be dropped again, the initial ones not.

    Bounds are proven for the nonnegative costs rounded down to multiples of 1/unit; integers are exact. The unit is the
    largest power of 2 up to `finest` with which the sum of all costs stays below 2^60 units. Multipliers are multiples
    of 1/proof_unit, which is finer where a `finest` above 2^32 is out of reach.
    """

    finest = UNIT

    def __init__(
        self, costs: npt.NDArray[np.number], rows: SparseRows, *, constant: float = 0, threads: int = 1
    ) -> None:
        super().__init__()
        total = float(costs.sum()) + abs(constant) + 1
        self.unit = min(self.finest, 2 ** int(np.floor(np.log2(_LARGEST / total))))
        self.cost_scale = max(float(costs.mean()), 1e-9) if len(costs) else 1.0
        if self.finest > UNIT and self.unit < self.finest >> 2:
            self.proof_unit = self.finest << 20
            self._cost_units = np.array([int(Fraction(cost) * self.proof_unit) for cost in costs.tolist()], object)
        else:
            self.proof_unit = self.unit
            self._cost_units = np.floor(costs * float(self.unit)).astype(np.int64)
        self._constant = int(np.floor(constant * self.unit))
        self._columns = np.arange(len(costs))
        self.rows, self._permanent = rows, len(rows.rhs)
        self.idle = np.zeros(len(rows.rhs), np.int64)
        self.lp = HighsLP(threads=threads)
        self.lp.append_columns(costs.astype(np.float64), 0.0, 1.0)
        self._append(rows)

    @property
    def columns(self) -> Units:
        """The indices of the columns."""
        return self._columns

    @abstractmethod
    def violated(self, x: Reals, *, exact: bool) -> SparseRows:
        """See :class:`Relaxation`."""

    def _proven(self, lower: Bits | None, upper: Bits | None) -> Bound:
        """Weak duality: Σ duals·rhs + Σ_columns min over x of (cost − cover)·x, in integers."""
        self.idle = np.where(self.lp.row_duals > _USED, 0, self.idle + 1)
        sizes = np.diff(self.rows.offsets)
        real = np.abs(self.rows.values.astype(np.float64)) * np.repeat(self.lp.row_duals, sizes)
        most = float(np.bincount(self.rows.columns, real, minlength=1).max()) + 1
        # A ray proves infeasibility at any scale: the largest at which the sums of a column fit.
        scale = self.proof_unit if self.lp.feasible else _LARGEST / most
        kind = np.int64 if scale * most <= 2 * _LARGEST else object  # Python's integers do not overflow
        scaled = self.lp.row_duals * float(scale)
        # Large multipliers of rows that cancel must not be cut to fit: the bound would be far too low.
        duals = np.minimum(scaled, _LARGEST).astype(kind) if kind is np.int64 else np.array([*map(int, scaled)], kind)
        reduced = self._cost_units.astype(kind) if self.lp.feasible else np.zeros(len(self._cost_units), kind)
        np.subtract.at(reduced, self.rows.columns, np.repeat(duals, sizes) * self.rows.values)
        low, high = (0, 1) if lower is None or upper is None else (lower, upper)
        least = np.where(reduced > 0, reduced * low, reduced * high)
        halves = int((least >> _HALF).sum()), int((least & (2**_HALF - 1)).sum())  # the sum of all may not fit
        total = sum((duals * self.rows.rhs).tolist()) + (halves[0] << _HALF) + halves[1]
        proof = SparseMultipliers(self.rows.texts, duals, not self.lp.feasible)
        if self.lp.feasible:
            finer = self.proof_unit // self.unit
            total, reduced = total // finer, reduced // finer
        reduced = np.clip(reduced, -int(_LARGEST), int(_LARGEST)).astype(np.int64)
        return Bound(total + (self._constant if self.lp.feasible else 0), NO_COLUMNS, reduced, proof)

    def _size(self, rows: SparseRows) -> int:
        return len(rows.rhs)

    def _add_rows(self, rows: SparseRows) -> None:
        self._append(rows)
        old = self.rows
        self.rows = SparseRows(
            np.concatenate([old.offsets, rows.offsets[1:] + old.offsets[-1]]),
            *(np.concatenate([mine, new]) for mine, new in zip(old[1:], rows[1:], strict=True)),
        )
        self.idle = np.concatenate([self.idle, np.zeros(len(rows.rhs), np.int64)])

    def _append(self, rows: SparseRows) -> None:
        self.lp.append_rows(
            rows.rhs.astype(np.float64), rows.offsets[:-1], rows.columns, rows.values.astype(np.float64)
        )

    def _drop_idle_rows(self) -> None:
        drop = self.idle >= _PATIENCE
        drop[: self._permanent] = False
        if drop.any():
            self.lp.delete_rows(np.flatnonzero(drop))
            self.rows, self.idle = self.rows.chosen(~drop), self.idle[~drop]
