"""LP relaxations solved by cutting planes and, optionally, column generation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sized
from dataclasses import replace
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ...instances.contract.run import Clock
from .branching import LITTLE
from .highs_lp import HighsLP, Reals
from .integer_bound import UNIT, Bound
from .proof import Proven

Bits = npt.NDArray[np.int8]
Rows = TypeVar("Rows")
_FEW_COLUMNS = 200
NO_CUTOFF = 2**62


class Relaxation(ABC, Generic[Rows]):
    """A restricted LP over 0/1 decisions to which violated rows and columns of negative reduced cost are added.

    Attributes
    ----------
    lp : HighsLP
    unit : int
        Bounds are proven in integer arithmetic, as multiples of 1/unit.
    cost_scale : float
        A typical cost.
    columns_at_once : int
        The most columns added in a round.
    cuts : int
        Rows added so far.
    best_units : int
        The best bound proven without fixed columns, times `unit`.
    best_proven : Proven or None
        The multipliers that prove it.
    probing : Probing
        Of the tree's branching.
    keeps_rows : bool
        Whether the tree leaves rows and columns as they are, so that the LP of a node starts from its parent's basis.
    converged : bool
        Whether the last call of :meth:`tighten` ended because no row is violated and no column improves.
    """

    lp: HighsLP
    unit = UNIT
    cost_scale = 1.0
    columns_at_once = _FEW_COLUMNS
    probing = LITTLE
    keeps_rows = False

    def __init__(self) -> None:
        self.cuts = self.best_units = 0
        self.best_proven: Proven | None = None
        self.converged = False

    @property
    @abstractmethod
    def columns(self) -> Sized:
        """The decisions in the LP."""

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

        Returns
        -------
        Bound or None
            The best bound of this call; None if time ran out before there was one. If `lp.feasible` is False, the
            LP is proven infeasible and the bound exceeds `enough`. `lp.x` is the last solution.
        """
        root = lower is None
        best: Bound | None = None
        history: list[float] = []
        self.converged = False
        last_raise = 0
        for number in range(rounds):
            if clock.passed:
                break
            if not root:
                lower, upper = self._extended(lower, 0), self._extended(upper, 1)
                self.lp.bound_columns(lower.astype(np.float64), upper.astype(np.float64))
            if not self.lp.solve(clock.left):
                break
            # At a node of a tree, the bound is proven only if it may be enough, or where rounds end.
            rows, bound = None, None
            if self.lp.feasible:
                history.append(self.lp.value)
            stalled = bool(stall) and len(history) > 10 and history[-1] - history[-11] < stall
            if not root and at_round is None and number + 1 < rounds and self.lp.value * self.unit <= enough:
                rows = self.violated(self.lp.x, exact=exact)
            if rows is None or not self._size(rows) or stalled:
                bound = self._proven(lower, upper)
                if not self.lp.feasible:
                    if bound.units > 0 and not len(bound.new_columns):
                        return replace(bound, units=enough + 1)
                    if not len(bound.new_columns):
                        break
                    self._add_columns(np.sort(bound.new_columns[:_FEW_COLUMNS]))
                    continue
                if best is None or bound.units >= best.units:
                    best = bound
                if root and bound.units > self.best_units:
                    self.best_units, self.best_proven = bound.units, bound.proven
                    self._keep_certificate()
                if best.units > enough or (at_round is not None and at_round(best)):
                    break
            if rows is None:
                rows = self.violated(self.lp.x, exact=exact)
            new_columns = np.empty(0, np.int64) if bound is None else bound.new_columns
            if not self._size(rows) and not len(new_columns):
                self.converged = exact
                break
            if stalled and not len(new_columns):
                break
            # Rows are dropped only after the objective rises; otherwise the loop may add and drop a row for ever.
            if len(history) > 1 and history[-1] > history[last_raise] + 1e-6:
                last_raise = len(history) - 1
                self._drop_idle_rows()
            if len(new_columns):
                self._add_columns(np.sort(new_columns[: self.columns_at_once]))
            if self._size(rows):
                self.cuts += self._size(rows)
                self._add_rows(rows)
        return best

    @abstractmethod
    def violated(self, x: Reals, *, exact: bool) -> Rows:
        """Rows that x violates; with `exact`, the result is empty only if no row is violated."""

    def satisfied(self, x: Reals) -> bool:
        """Whether 0/1 values violate no row of the relaxation, so that they are an answer."""
        return not self._size(self.violated(x, exact=False))

    def branchable(self, fractional: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The columns to branch on first among those with fractional value; by default, all."""
        return fractional

    def described(self, column: int) -> object:
        """A column in a proof: what it decides, as JSON."""
        return column

    def least_value(self, units: int) -> float:
        """The least value of an answer that this bound allows; by default, values are integers."""
        return -(-units // self.unit)

    @abstractmethod
    def _proven(self, lower: Bits | None, upper: Bits | None) -> Bound: ...

    @abstractmethod
    def _size(self, rows: Rows) -> int: ...

    @abstractmethod
    def _add_rows(self, rows: Rows) -> None: ...

    @abstractmethod
    def _drop_idle_rows(self) -> None: ...

    def _add_columns(self, columns: npt.NDArray[np.int64]) -> None:
        raise NotImplementedError

    def _keep_certificate(self) -> None:
        """Called when the duals of the LP prove a new best bound without fixed columns."""

    def _extended(self, bits: Bits | None, value: int) -> Bits:
        known = np.empty(0, np.int8) if bits is None else bits
        return np.concatenate([known, np.full(len(self.columns) - len(known), value, np.int8)])
