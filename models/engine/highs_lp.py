"""An LP that is solved again and again by HiGHS' dual simplex while rows and columns come and go."""

from __future__ import annotations

import highspy
import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]
_OPTIMAL, _INFEASIBLE = highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInfeasible


class HighsLP:
    """Minimise costs·columns subject to rows ≥ right-hand sides; the columns from `first` on are decisions in [0, 1].

    Parameters
    ----------
    threads : int
        Of HiGHS.
    first : int
        How many columns, the first ones, are no decisions.

    Attributes
    ----------
    x : float64 array, one a decision
    value : float
        The objective, by floating point.
    row_duals : float64 array, one a row
        Not negative.
    feasible : bool
        False if the LP has no solution; then the duals are a Farkas ray, scaled to a largest entry of 1.
    iterations : int
        Simplex iterations so far.
    """

    def __init__(self, *, threads: int = 1, first: int = 0) -> None:
        self._first = first
        self.x, self.row_duals, self.value, self.feasible = np.empty(0), np.empty(0), 0.0, True
        self.iterations = 0
        self._highs = highspy.Highs()
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
        """Append columns, with their entries in the rows that are there (column-wise, `starts` one a column)."""
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
        """Append rows Σ values·columns ≥ lower, row-wise, `starts` one a row."""
        self._highs.addRows(
            len(lower),
            lower,
            np.full(len(lower), highspy.kHighsInf),
            len(columns),
            starts.astype(np.int32),
            columns.astype(np.int32),
            values,
        )

    def delete_rows(self, index: npt.NDArray[np.integer]) -> None:
        """Remove rows by number."""
        self._highs.deleteRows(len(index), index.astype(np.int32))

    def bound_columns(self, lower: Reals, upper: Reals) -> None:
        """Set the bounds of all decisions."""
        columns = np.arange(self._first, self._first + len(lower), dtype=np.int32)
        self._highs.changeColsBounds(len(lower), columns, lower, upper)

    @property
    def basis(self) -> highspy.HighsBasis:
        """The basis, as long as rows and columns stay the same."""
        return self._highs.getBasis()

    def start_from(self, basis: highspy.HighsBasis) -> None:
        """Start the next solve from a basis."""
        self._highs.setBasis(basis)

    def probe(self, decision: int, value: int, basis: highspy.HighsBasis, iterations: int) -> float:
        """The objective a few dual simplex iterations after a decision is fixed; :meth:`release` it afterwards."""
        self._highs.setBasis(basis)
        self._bound(decision, value, value)
        self._highs.setOptionValue("simplex_iteration_limit", iterations)
        self._highs.run()
        self._highs.setOptionValue("simplex_iteration_limit", highspy.kHighsIInf)
        if self._highs.getModelStatus() == _INFEASIBLE:
            return float("inf")
        return float(self._highs.getInfo().objective_function_value)

    def release(self, decision: int, lower: int, upper: int, basis: highspy.HighsBasis) -> None:
        """Take back what :meth:`probe` changed."""
        self._bound(decision, lower, upper)
        self._highs.setBasis(basis)

    def _bound(self, decision: int, lower: int, upper: int) -> None:
        column = np.array([self._first + decision], np.int32)
        self._highs.changeColsBounds(1, column, np.array([float(lower)]), np.array([float(upper)]))

    def solve(self, time_limit: float) -> bool:
        """Solve; False if the time limit (seconds) or numerical trouble left no solution."""
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(time_limit, 0.01))
        self._highs.run()
        status = self._highs.getModelStatus()
        info = self._highs.getInfo()
        self.iterations += max(0, info.simplex_iteration_count)
        if status == _OPTIMAL:
            solution = self._highs.getSolution()
            self._take_values(np.array(solution.col_value))
            self.value, self.feasible = float(info.objective_function_value), True
            self._take_duals(np.maximum(np.array(solution.row_dual), 0.0))
            return True
        if status == _INFEASIBLE:
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
