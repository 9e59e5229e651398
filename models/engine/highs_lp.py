"""An LP that HiGHS re-solves by dual simplex after rows and columns are added or removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import highspy

Reals = npt.NDArray[np.float64]


class HighsLP:
    """Minimise costs·columns subject to rows ≥ right-hand sides; the columns from `first` on are decisions in [0, 1].

    Parameters
    ----------
    threads : int
        Of HiGHS.
    first : int
        The number of leading columns that are not decisions.

    Attributes
    ----------
    x : float64 array, one a decision
    value : float
        The objective, in floating point.
    row_duals : float64 array, one a row
        Nonnegative.
    feasible : bool
        False if the LP has no solution; then the duals are a Farkas ray, scaled to a largest entry of 1.
    iterations : int
        Simplex iterations so far, without those of probes.
    probed : int
        Those of probes.
    work : int
        The sum of each iteration's number of rows, to which its time is about proportional.
    """

    def __init__(self, *, threads: int = 1, first: int = 0) -> None:
        import highspy

        self._first = first
        self.x, self.row_duals, self.value, self.feasible = np.empty(0), np.empty(0), 0.0, True
        self.iterations = self.work = self.probed = 0
        self._highs, self._status = highspy.Highs(), highspy.HighsModelStatus
        self._infinity, self._no_limit = highspy.kHighsInf, highspy.kHighsIInf
        for name, value in (
            ("output_flag", False),
            ("threads", threads),
            ("presolve", "off"),
            ("solver", "simplex"),
            ("simplex_strategy", 1),
            ("random_seed", 0),
        ):
            self._highs.setOptionValue(name, value)

    def append_columns(
        self,
        costs: Reals,
        lower: float,
        upper: float,
        starts: npt.NDArray[np.integer] | None = None,
        rows: npt.NDArray[np.integer] | None = None,
        values: Reals | None = None,
    ) -> None:
        """Append columns, with their entries in the present rows (column-wise, one of `starts` a column)."""
        count = len(costs)
        self._highs.addCols(
            count,
            costs,
            np.full(count, lower),
            np.full(count, upper),
            0 if rows is None else len(rows),
            np.zeros(count, np.int32) if starts is None else starts.astype(np.int32),
            np.empty(0, np.int32) if rows is None else rows.astype(np.int32),
            np.empty(0) if values is None else values,
        )

    def append_rows(
        self, lower: Reals, starts: npt.NDArray[np.integer], columns: npt.NDArray[np.integer], values: Reals
    ) -> None:
        """Append rows Σ values·columns ≥ lower (row-wise, one of `starts` a row)."""
        self._highs.addRows(
            len(lower),
            lower,
            np.full(len(lower), self._infinity),
            len(columns),
            starts.astype(np.int32),
            columns.astype(np.int32),
            values,
        )

    def delete_rows(self, index: npt.NDArray[np.integer]) -> None:
        """Remove rows by index."""
        self._highs.deleteRows(len(index), index.astype(np.int32))

    def bound_columns(self, lower: Reals, upper: Reals) -> None:
        """Set the bounds of all decisions."""
        columns = np.arange(self._first, self._first + len(lower), dtype=np.int32)
        self._highs.changeColsBounds(len(lower), columns, lower, upper)

    @property
    def basis(self) -> highspy.HighsBasis:
        """The basis; valid until rows or columns change."""
        return self._highs.getBasis()

    def start_from(self, basis: highspy.HighsBasis) -> None:
        """Start the next solution from a basis of an LP of the same rows and columns."""
        self._highs.setBasis(basis)

    def probe(self, decision: int, value: int, basis: highspy.HighsBasis, iterations: int) -> float:
        """The objective after a few dual simplex iterations with a decision fixed; call :meth:`release` afterwards."""
        self._highs.setBasis(basis)
        self._bound(decision, value, value)
        self._highs.setOptionValue("simplex_iteration_limit", iterations)
        self._highs.run()
        self._highs.setOptionValue("simplex_iteration_limit", self._no_limit)
        info = self._highs.getInfo()
        self.probed += max(0, info.simplex_iteration_count)
        if self._highs.getModelStatus() == self._status.kInfeasible:
            return float("inf")
        return float(info.objective_function_value)

    def release(self, decision: int, lower: int, upper: int, basis: highspy.HighsBasis) -> None:
        """Restore the bounds and the basis after :meth:`probe`."""
        self._bound(decision, lower, upper)
        self._highs.setBasis(basis)

    def _bound(self, decision: int, lower: int, upper: int) -> None:
        column = np.array([self._first + decision], np.int32)
        self._highs.changeColsBounds(1, column, np.array([float(lower)]), np.array([float(upper)]))

    def solve(self, time_limit: float) -> bool:
        """Solve; False if there is no solution because of the time limit (seconds) or of numerical errors."""
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(time_limit, 0.01))
        self._highs.run()
        status = self._highs.getModelStatus()
        info = self._highs.getInfo()
        iterations = max(0, info.simplex_iteration_count)
        self.iterations += iterations
        self.work += iterations * self._highs.getNumRow()
        if status == self._status.kOptimal:
            solution = self._highs.getSolution()
            self._take_values(np.array(solution.col_value))
            self.value, self.feasible = float(info.objective_function_value), True
            self._take_duals(np.maximum(np.array(solution.row_dual), 0.0))
            return True
        if status == self._status.kInfeasible:
            _, known, ray = self._highs.getDualRay()
            if known and (largest := float(np.abs(ray).max())) > 0:
                self.feasible, self.value = False, np.inf
                self._take_duals(np.maximum(np.asarray(ray) / largest, 0.0))
                return True
        return False

    def _take_values(self, values: Reals) -> None:
        self.x = np.clip(values[self._first :], 0.0, 1.0)

    def _take_duals(self, duals: Reals) -> None:
        self.row_duals = duals
