"""LPs to which rows and columns are added, with lower bounds as integers in units of 1/2^32."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from ...instances.runtime.run import Clock
from .exact_method import SearchLog
from .proof import Multipliers, ProofTree, Proven

if TYPE_CHECKING:
    import highspy

UNIT = 2**32
Units = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Bits = npt.NDArray[np.int8]
_USED, _SURE = 1e-9, 1e-6
NO_COLUMNS = np.empty(0, np.int64)
NO_CUTOFF = 2**62
_SLICES, _LEAST_SLICE = 3, 1.0  # of the time left, or seconds, after which the dual values of a root's LP prove a bound
_FEW_COLUMNS = 200


@dataclass(frozen=True)
class Bound:
    """A lower bound proven by dual values, with the reduced costs."""

    units: int  # the bound times `UNIT`
    new_columns: npt.NDArray[np.int64]  # of negative reduced cost and not in the LP yet, most negative first
    reduced_costs: Units  # in units, one a column of the LP
    proven: Proven | None = None  # the multipliers that prove it


class HighsLP:
    """Minimise costs·columns subject to rows ≥ right-hand sides; the columns from `first` on are decisions in [0, 1].

    `x` has the value of each decision, `all_values` that of each column, `value` the objective in floating point,
    `row_duals` a nonnegative dual for each row. If `feasible` is False, the LP has no solution, and the duals are a
    Farkas ray, scaled to a largest entry of 1. A solution ends once the objective exceeds `enough`: then `is_cut_off`,
    and the duals are feasible, but the values are not; so if time runs out, and `is_stopped`. `iterations` counts
    simplex iterations, `probed` those of probes apart; `work` is the sum of each iteration's number of rows, to which
    its time is about proportional.
    """

    def __init__(self, *, first: int = 0) -> None:
        import highspy

        self._first = first
        self.x, self.row_duals, self.value, self.feasible = np.empty(0), np.empty(0), 0.0, True
        self.all_values = self.x
        self.enough, self.is_cut_off, self.is_stopped = np.inf, False, False
        self.iterations = self.work = self.probed = 0
        self._highs, self._status = highspy.Highs(), highspy.HighsModelStatus
        self._ends = self._status.kOptimal, self._status.kObjectiveBound, self._status.kTimeLimit
        self._basic = highspy.HighsBasisStatus.kBasic, highspy.HighsBasisStatus.kLower
        self._infinity, self._no_limit = highspy.kHighsInf, highspy.kHighsIInf
        for name, value in (
            ("output_flag", False),
            ("threads", 1),
            ("presolve", "off"),
            ("solver", "simplex"),
            ("simplex_strategy", 1),
            ("random_seed", 0),
        ):
            self._highs.setOptionValue(name, value)

    @property
    def effort(self) -> int:
        """All simplex iterations so far."""
        return self.iterations + self.probed

    def append_columns(
        self,
        costs: Reals,
        lower: float,
        upper: float,
        starts: npt.NDArray[np.integer] | None = None,
        rows: npt.NDArray[np.integer] = NO_COLUMNS,
        values: Reals | None = None,
    ) -> None:
        """Append columns, with their entries in the present rows (column-wise, one of `starts` a column)."""
        count = len(costs)
        starts = np.zeros(count, np.int32) if starts is None else starts.astype(np.int32)
        bounds = np.full(count, lower), np.full(count, upper)
        values = np.ones(len(rows)) if values is None else values
        self._highs.addCols(count, costs, *bounds, len(rows), starts, rows.astype(np.int32), values)

    def append_rows(
        self, lower: Reals, starts: npt.NDArray[np.integer], columns: npt.NDArray[np.integer], values: Reals
    ) -> None:
        """Append rows Σ values·columns ≥ lower (row-wise, one of `starts` a row)."""
        infinite = np.full(len(lower), self._infinity)
        self._highs.addRows(
            len(lower), lower, infinite, len(columns), starts.astype(np.int32), columns.astype(np.int32), values
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

    def start_from(self, basis: highspy.HighsBasis, rows: Units) -> None:
        """Start from a basis of an LP with fewer columns, whose row of each present row is in `rows`, −1 for a new one.

        Nothing happens if a row that was tight there is gone.
        """
        basic, lower = self._basic
        before, new = basis.row_status, self._highs.getNumCol() - len(basis.col_status)
        if new or len(rows) != len(before) or (rows < 0).any():
            kept = [basic if row < 0 else before[row] for row in rows.tolist()]
            if sum(status != basic for status in kept) < sum(status != basic for status in before):
                return
            basis.row_status, basis.col_status = kept, [*basis.col_status, *([lower] * new)]
        self._highs.setBasis(basis)

    def probe(self, decision: int, value: int, basis: highspy.HighsBasis, iterations: int) -> float:
        """The objective after a few dual simplex iterations with a decision fixed; call :meth:`release` afterwards."""
        self._highs.setOptionValue("objective_bound", np.inf)
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
        self._highs.setOptionValue("objective_bound", self.enough)
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(time_limit, 0.01))
        status, ray = self._run()
        if status not in self._ends and ray is None:  # rounding misled it: once more, without a basis
            self._highs.clearSolver()
            status, ray = self._run()
        info = self._highs.getInfo()
        iterations = max(0, info.simplex_iteration_count)
        self.iterations += iterations
        self.work += iterations * self._highs.getNumRow()
        self.is_cut_off, self.is_stopped = status == self._status.kObjectiveBound, False
        if status in self._ends:
            solution = self._highs.getSolution()
            limited = status == self._status.kTimeLimit
            self.is_stopped = limited and solution.dual_valid
            if self.is_stopped or not limited:
                self.all_values = np.array(solution.col_value)
                self.x = np.clip(self.all_values[self._first :], 0.0, 1.0)
                self.value, self.feasible = float(info.objective_function_value), True
                self.row_duals = np.maximum(np.array(solution.row_dual), 0.0)
            return not limited
        if ray is not None and (largest := float(np.abs(ray).max())) > 0:
            self.feasible, self.value = False, np.inf
            self.row_duals = np.maximum(np.asarray(ray) / largest, 0.0)
            return True
        return False

    def _run(self) -> tuple[highspy.HighsModelStatus, Reals | None]:
        """The status after a run, and the ray that proves that there is no solution, if it is known."""
        self._highs.run()
        status = self._highs.getModelStatus()
        _, known, ray = self._highs.getDualRay() if status == self._status.kInfeasible else (None, False, None)
        return status, ray if known else None


class Probing(NamedTuple):
    """How strong branching tries columns: how often each, how many at a node, iterations in each direction."""

    reliable: int
    columns: int
    iterations: int


FEW_PROBES, MANY_PROBES = Probing(2, 10, 60), Probing(4, 20, 120)


class Position(NamedTuple):
    """Where an LP was solved: its basis, and the numbers of its rows after the first so many."""

    basis: highspy.HighsBasis
    fixed_rows: int
    numbers: Units


class AnyRows(Protocol):
    """Some rows, by columns or by labels."""

    @property
    def rhs(self) -> npt.NDArray[np.integer]: ...

    def chosen(self, rows: npt.NDArray[np.bool_]) -> Self: ...


Rows = TypeVar("Rows", bound=AnyRows)


class Relaxation(ABC, Generic[Rows]):
    """A restricted LP over 0/1 decisions to which violated rows and columns of negative reduced cost are added.

    Those of `rows` follow the first `fixed_rows` rows of the LP; the first `permanent` of them stay in it, others are
    dropped once they were slack in `patience` consecutive solutions, which `idle` counts.
    `cuts` counts rows added so far; `best_units` is the best bound proven without fixed columns, times `unit`,
    `best_proven` the multipliers that prove it. `converged` says whether the last call of :meth:`tighten` ended because
    no row is violated and no column improves.
    """

    lp: HighsLP
    columns: Sized  # the decisions in the LP
    rows: Rows
    idle: Units
    fixed_rows = permanent = 0
    unit = UNIT  # bounds are proven in integer arithmetic, as multiples of 1/unit
    cost_scale = 1.0  # a typical cost
    columns_at_once = _FEW_COLUMNS  # the most that are added in a round
    patience = 25
    probing = FEW_PROBES
    keeps_rows = False  # whether the tree leaves rows and columns, so that a node starts from its parent's basis

    def __init__(self) -> None:
        self.cuts = self.best_units = 0
        self.best_proven: Proven | None = None
        self.converged = False
        self._numbers, self._numbered = np.zeros(0, np.int64), 0

    @property
    def position(self) -> Position:
        """Where a child of this node starts."""
        return Position(self.lp.basis, self.fixed_rows, self._row_numbers())

    def start_from(self, position: Position) -> None:
        """Continue from the basis there, if the rows that were tight are still in the LP."""
        numbers, fixed = self._row_numbers(), self.fixed_rows
        if position.fixed_rows == fixed:
            at = np.searchsorted(position.numbers, numbers)
            known = np.append(position.numbers, -1)[at] == numbers
            self.lp.start_from(position.basis, np.concatenate([np.arange(fixed), np.where(known, fixed + at, -1)]))

    def _row_numbers(self) -> Units:
        """In the order of addition, of all rows after the first."""
        new = len(self.idle) - len(self._numbers)
        self._numbers = np.concatenate([self._numbers, self._numbered + np.arange(new)])
        self._numbered += new
        return self._numbers

    @property
    def counters(self) -> dict[str, float | str]:
        """As reported with a result."""
        return {
            "root_bound": round(self.best_units / self.unit, 6),
            "cuts": self.cuts,
            "columns": len(self.columns),
            "simplex_iterations": self.lp.iterations,
        }

    @property
    def keys(self) -> npt.NDArray[np.int64]:
        """What each column is called in all processes of a search."""
        return np.arange(len(self.columns))

    def include(self, keys: npt.NDArray[np.int64]) -> None:
        """Add those columns that the LP of another process has and this one has not; by default all have the same."""

    def print_on(
        self, log: SearchLog, incumbent: float, *, units: int | None = None, force: bool = False, **nodes: int
    ) -> None:
        """Add a line to the log; the bound is the root's unless that of a tree, in units, is given with its nodes."""
        bound = (self.best_units if units is None else units) / self.unit
        log.line(incumbent=incumbent, bound=bound, cuts=self.cuts, edges=len(self.columns), force=force, **nodes)

    def tighten(
        self,
        clock: Clock,
        *,
        lower: Bits | None = None,
        upper: Bits | None = None,
        enough: int = NO_CUTOFF,
        exact: bool = True,
        stall: float = 0.0,
        rounds: int = 100_000,
        at_round: Callable[[Bound], bool] | None = None,
    ) -> Bound | None:
        """Solve, separate and price until nothing is violated, the bound stalls, or it exceeds `enough`.

        Parameters
        ----------
        lower, upper : int8 arrays, one a column
            Bounds of x at a node of a search tree; columns added later are free.
        enough : int
            Stop when the bound, in units, exceeds this.
        exact : bool
            Whether to separate exactly if heuristic separation finds nothing.
        stall : float
            Stop if the bound rose by less than this in ten rounds.
        at_round : callable
            Takes the bound of each round and returns whether to stop.

        Returns the best bound of this call, None if time ran out before there was one; `lp.x` is the last solution. If
        `lp.feasible` is False, the LP is proven infeasible and the bound exceeds `enough`.
        """
        self.converged = False
        self.lp.enough = np.inf if lower is None or enough >= NO_CUTOFF else enough / self.unit + _SURE
        call = _Tightening(self, clock, lower, upper, enough, exact, stall, at_round)
        for number in range(rounds):
            if clock.passed or not call.goes_on(last=number + 1 == rounds):
                break
        return call.best

    def _keep(self, bound: Bound) -> None:
        if bound.units > self.best_units:
            self.best_units, self.best_proven = bound.units, bound.proven

    def write_root(self, proof: ProofTree, root: Bound | None) -> None:
        """Write the best bound and then the root's, if there is one: by its reduced costs the search fixes columns."""
        if root is None or root.units < self.best_units:
            proof.bound(0, self.best_proven)
        if root is not None:
            proof.bound(0, root.proven)

    @abstractmethod
    def violated(self, x: Reals, *, exact: bool) -> Rows:
        """Rows that x violates; with `exact`, the result is empty only if no row is violated."""

    def satisfied(self, x: Reals) -> bool:
        """Whether 0/1 values violate no row of the relaxation, so that they are an answer."""
        return not len(self.violated(x, exact=False).rhs)

    def refine(self) -> bool:
        """Add rows that are looked for once at a node, before it is branched on; whether there are any."""
        return False

    def branchable(self, fractional: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The columns to branch on first among those with fractional value; by default, all."""
        return fractional

    def described(self, column: int) -> object:
        """A column in a proof: what it decides, as JSON."""
        return column

    def least_value(self, units: int) -> float:
        """The least value of an answer that this bound allows; by default, values are integers."""
        return -(-units // self.unit)

    def _solve(self, time_limit: float) -> bool:
        return self.lp.solve(time_limit)

    @abstractmethod
    def _proven(self, lower: Bits | None, upper: Bits | None) -> Bound: ...

    @abstractmethod
    def _add_rows(self, rows: Rows) -> None: ...

    def _drop_idle_rows(self) -> None:
        drop = self.idle >= self.patience
        drop[: self.permanent] = False
        if drop.any():
            self.lp.delete_rows(np.flatnonzero(drop) + self.fixed_rows)
            self._numbers = self._row_numbers()[~drop]
            self.rows, self.idle = self.rows.chosen(~drop), self.idle[~drop]

    def _add_columns(self, columns: npt.NDArray[np.int64]) -> None:
        raise NotImplementedError

    def _extended(self, bits: Bits | None, value: int) -> Bits:
        known = NO_COLUMNS.astype(np.int8) if bits is None else bits
        return np.concatenate([known, np.full(len(self.columns) - len(known), value, np.int8)])


@dataclass
class _Tightening:
    """One call of :meth:`Relaxation.tighten`, whose parameters it has: the objectives so far, and the best bound."""

    planes: Relaxation[Any]
    clock: Clock
    lower: Bits | None
    upper: Bits | None
    enough: int
    exact: bool
    stall: float
    at_round: Callable[[Bound], bool] | None
    best: Bound | None = None

    def __post_init__(self) -> None:
        self._root, self._history, self._last_raise = self.lower is None, list[float](), 0

    def goes_on(self, *, last: bool) -> bool:
        """A round: solve, prove, separate and price. Whether another one may follow."""
        planes, lp = self.planes, self.planes.lp
        if not self._solves():
            return self._goes_on_unsolved()
        if lp.feasible:
            self._history.append(lp.value)
        stalled = bool(self.stall) and len(self._history) > 10 and self._history[-1] - self._history[-11] < self.stall
        # At a node of a tree, the bound is proven only if it may be enough, or where rounds end.
        unproven = not (self._root or last or self.at_round) and lp.value * planes.unit <= self.enough
        rows = planes.violated(lp.x, exact=self.exact) if unproven else None
        new_columns = NO_COLUMNS
        if rows is None or not len(rows.rhs) or stalled:
            bound = planes._proven(self.lower, self.upper)
            if not lp.feasible:
                return self._goes_on_infeasible(bound)
            if lp.is_cut_off and bound.units <= self.enough:  # by rounding
                lp.enough = np.inf
                return True
            if self._is_enough(bound):
                return False
            new_columns = bound.new_columns
        if rows is None:
            rows = planes.violated(lp.x, exact=self.exact)
        if not len(rows.rhs) and not len(new_columns):
            planes.converged = self.exact
            return False
        if stalled and not len(new_columns):
            return False
        self._extend(rows, new_columns)
        return True

    def _solves(self) -> bool:
        planes, left = self.planes, self.clock.left
        if self._root:
            return planes._solve(min(left, max(_LEAST_SLICE, left / _SLICES)))
        self.lower, self.upper = planes._extended(self.lower, 0), planes._extended(self.upper, 1)
        planes.lp.bound_columns(self.lower.astype(np.float64), self.upper.astype(np.float64))
        return planes._solve(left)

    def _goes_on_unsolved(self) -> bool:
        """The dual values of a root's LP that was stopped prove a bound, too."""
        if not (self._root and self.planes.lp.is_stopped):
            return False
        stopped = self.planes._proven(None, None)
        self.planes._keep(stopped)
        return self.at_round is None or not self.at_round(stopped)

    def _goes_on_infeasible(self, bound: Bound) -> bool:
        if len(bound.new_columns):
            self.planes._add_columns(np.sort(bound.new_columns[:_FEW_COLUMNS]))
            return True
        if bound.units > 0:
            self.best = replace(bound, units=self.enough + 1)
        return False

    def _is_enough(self, bound: Bound) -> bool:
        if self.best is None or bound.units >= self.best.units:
            self.best = bound
        if self._root:
            self.planes._keep(bound)
        return self.best.units > self.enough or (self.at_round is not None and self.at_round(self.best))

    def _extend(self, rows: AnyRows, new_columns: npt.NDArray[np.int64]) -> None:
        planes, history = self.planes, self._history
        # Rows are dropped only after the objective rises; otherwise the loop may add and drop a row for ever.
        if len(history) > 1 and history[-1] > history[self._last_raise] + 1e-6:
            self._last_raise = len(history) - 1
            planes._drop_idle_rows()
        if len(new_columns):
            planes._add_columns(np.sort(new_columns[: planes.columns_at_once]))
        if len(rows.rhs):
            planes.cuts += len(rows.rhs)
            planes._add_rows(rows)


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


def sparse_multipliers(texts: npt.NDArray[np.object_], units: Units, farkas: bool) -> Multipliers:
    """The rows of a bound with their multipliers in units, for a proof."""
    used = np.flatnonzero(units)
    return Multipliers(zip(texts[used].tolist(), units[used].tolist(), strict=True), (), farkas)


class SparseRelaxation(Relaxation[SparseRows]):
    """Minimise costs·x over 0/1 columns; rows that :meth:`violated` adds may be dropped again, the initial ones not.

    Bounds are proven for the nonnegative costs rounded down to multiples of 1/unit; integers are exact. The unit is the
    largest power of 2 up to `finest` with which the sum of all costs stays below 2^60 units. Multipliers are multiples
    of 1/proof_unit, which is finer where a `finest` above 2^32 is out of reach.
    """

    finest = UNIT

    def __init__(self, costs: npt.NDArray[np.number], rows: SparseRows) -> None:
        super().__init__()
        total = float(costs.sum()) + 1
        self.unit = min(self.finest, 2 ** int(np.floor(np.log2(_LARGEST / total))))
        self.cost_scale = max(float(costs.mean()), 1e-9) if len(costs) else 1.0
        if self.finest > UNIT and self.unit < self.finest >> 2:
            self.proof_unit = self.finest << 20
            self._cost_units = np.array([int(Fraction(cost) * self.proof_unit) for cost in costs.tolist()], object)
        else:
            self.proof_unit = self.unit
            self._cost_units = np.floor(costs * float(self.unit)).astype(np.int64)
        self.columns = np.arange(len(costs))
        self.lp = HighsLP()
        self.lp.append_columns(costs.astype(np.float64), 0.0, 1.0)
        self.rows, self.idle, self.permanent = RowList().rows(), np.zeros(0, np.int64), len(rows.rhs)
        self._add_rows(rows)

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
        proof = partial(sparse_multipliers, self.rows.texts, duals, not self.lp.feasible)
        if self.lp.feasible:
            finer = self.proof_unit // self.unit
            total, reduced = total // finer, reduced // finer
        reduced = np.clip(reduced, -int(_LARGEST), int(_LARGEST)).astype(np.int64)
        return Bound(total, NO_COLUMNS, reduced, proof)

    def _add_rows(self, rows: SparseRows) -> None:
        lower, values = rows.rhs.astype(np.float64), rows.values.astype(np.float64)
        self.lp.append_rows(lower, rows.offsets[:-1], rows.columns, values)
        old = self.rows
        self.rows = SparseRows(
            np.concatenate([old.offsets, rows.offsets[1:] + old.offsets[-1]]),
            *(np.concatenate([mine, new]) for mine, new in zip(old[1:], rows[1:], strict=True)),
        )
        self.idle = np.concatenate([self.idle, np.zeros(len(rows.rhs), np.int64)])
