"""Reliability branching: pseudo-costs initialised by strong branching (Achterberg, Koch and Martin 2005)."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.runtime.run import Clock
from .exact_method import SearchLog
from .proof import NO_PROOF, ProofTree
from .relaxation import (
    FEW_PROBES,
    NO_COLUMNS,
    NO_CUTOFF,
    UNIT,
    Bits,
    Bound,
    HighsLP,
    Position,
    Probing,
    Reals,
    Relaxation,
)

_LEAST = 1e-6


class BranchStep(NamedTuple):
    """A column set to 0 or 1, by how much that changes it, and the objective before."""

    column: int
    direction: int
    change: float
    value: float


class Branching:
    """Pseudo-costs: the mean objective gain per unit of change of each column in each direction.

    Gains are divided by `scale`, a typical cost. Achterberg, Koch, Martin 2005,
    https://doi.org/10.1016/j.orl.2004.04.002
    """

    def __init__(self, lp: HighsLP, scale: float = 1.0, probing: Probing = FEW_PROBES) -> None:
        self._lp, self._scale, self._probing = lp, scale, probing
        self._gain = np.zeros((2, 0))
        self._count = np.zeros((2, 0), np.int64)

    def choose(self, fractional: npt.NDArray[np.int64], x: Reals, lower: Bits, upper: Bits, clock: Clock) -> int:
        """The column with the largest product of its two gains; unreliable columns are probed in both directions.

        `fractional` lists the free columns with fractional value; the LP has the node's bounds `lower` and `upper`.
        """
        self._grow(len(x))
        count, gain = self._count.sum(axis=1), self._gain.sum(axis=1)
        mean = gain / np.maximum(count, 1)
        rate = np.where(self._count > 0, self._gain / np.maximum(self._count, 1), np.maximum(mean, 0.05)[:, None])
        down, up = rate[0, fractional] * x[fractional], rate[1, fractional] * (1 - x[fractional])
        score = np.maximum(down, _LEAST) * np.maximum(up, _LEAST)
        order = fractional[np.lexsort((fractional, -np.minimum(x[fractional], 1 - x[fractional]), -score))]
        best, best_score = int(order[0]), float(score.max())
        value, basis = self._lp.value, self._lp.basis
        probed = False
        reliable, most, iterations = self._probing
        for column in order[:most].tolist():
            if self._count[:, column].min() >= reliable or clock.passed:
                continue
            gains = []
            for direction in (0, 1):
                probed = True
                gained = max(0.0, self._lp.probe(column, direction, basis, iterations) - value) / self._scale
                change = x[column] if direction == 0 else 1 - x[column]
                self._count_gain(column, direction, change, gained)
                gains.append(max(gained, _LEAST))
            self._lp.release(column, int(lower[column]), int(upper[column]), basis)
            if gains[0] * gains[1] > best_score or not probed:
                best, best_score = column, gains[0] * gains[1]
        return best

    def learn(self, step: BranchStep) -> None:
        """Count what the LP of a child gained over that of its parent; the LP has the child's bounds."""
        if self._lp.is_cut_off:  # it gained more, and nobody knows how much
            return
        self._grow(step.column + 1)  # another process may have chosen it
        gained = max(0.0, self._lp.value - step.value) / self._scale
        self._count_gain(step.column, step.direction, step.change, gained)

    def _count_gain(self, column: int, direction: int, change: float, gained: float) -> None:
        self._gain[direction, column] += min(gained, 2.0) / change
        self._count[direction, column] += 1

    def _grow(self, size: int) -> None:
        missing = size - self._gain.shape[1]
        if missing > 0:
            self._gain = np.pad(self._gain, ((0, 0), (0, missing)))
            self._count = np.pad(self._count, ((0, 0), (0, missing)))


_INTEGRAL = 1e-6
WORK_A_STEP = 150  # of the LP, in about the time of a step of local search
_FIRST_STEPS, _DOUBLINGS = 5_000, 8
_SEARCH_SHARE, _LAST_SHARE = 2, 8  # of the LP's work; where only one better value is left, likely none
_BROAD = 100  # nodes by their bounds, before the last value is searched for depth first


class Incumbent(ABC):
    """The best answer so far, and heuristics that improve it by the values x of the LP's columns.

    `value` is infinite without an answer; `unit` is that of the relaxation whose bounds it cuts off.
    """

    value: float = np.inf
    unit = UNIT
    overlay: Any = None  # the answer, where several processes search; then it is also what :meth:`offer` takes

    def offer(self, answer: Any) -> object:
        """Keep an answer of another process if it is better."""
        raise NotImplementedError

    def vary(self, number: int) -> None:
        """Draw other random numbers from now on than the processes of other numbers."""
        raise NotImplementedError

    @property
    def cutoff(self) -> int:
        """A node with a bound above this, in units, contains no better answer; values are integers by default."""
        return int(self.value - 1) * self.unit if np.isfinite(self.value) else NO_CUTOFF

    @abstractmethod
    def offer_chosen(self, columns: Any, chosen: npt.NDArray[np.bool_]) -> object:
        """Keep an answer, given by the chosen columns, if it is better."""

    @abstractmethod
    def build_along(self, columns: Any, x: Reals) -> object:
        """Construct an answer guided by LP values, and keep it if it is better."""

    def improve_along(self, columns: Any, x: Reals, clock: Clock, *, goal: float, steps: int) -> object:
        """As :meth:`build_along`, followed by a local search of about `steps` steps or until the value is `goal`."""
        return self.build_along(columns, x)


@dataclass(order=True)
class Node:
    """A node of the search tree: some columns are fixed to 1, some to 0."""

    turn: int  # 0, or minus the number where the tree is searched depth first
    units: int  # a proven lower bound, in units of the relaxation
    depth: int  # minus the number of branchings, so that of equal bounds the deepest node comes first
    number: int  # in the order of creation
    lower: Bits = field(compare=False)  # bounds of the columns present at its creation; later ones are free
    upper: Bits = field(compare=False)
    case: int = field(default=0, compare=False)  # its number in the proof
    branched: BranchStep | None = field(default=None, compare=False)  # how it arose from its parent
    start: Position | None = field(default=None, compare=False)  # of its LP, unless that of the node solved before


class TreeSearch:
    """Search for answers better than the incumbent until there are none.

    The `planes` should be tightened at the root already. `stop_at_first` asks for feasibility only. `nodes` counts
    those solved so far, `fixed` the columns fixed by reduced cost at the root; `open` is a heap of those to be solved,
    and `current` the one that is solved next. `complete` says whether the search has ended, so that the incumbent, if
    any, is optimal.
    """

    def __init__(
        self,
        planes: Relaxation[Any],
        incumbent: Incumbent,
        *,
        stop_at_first: bool = False,
        progress: SearchLog,
        proof: ProofTree = NO_PROOF,
    ) -> None:
        self.proof = proof
        self.planes, self.incumbent, self.progress = planes, incumbent, progress
        self.branching = Branching(planes.lp, planes.cost_scale, planes.probing)
        self.nodes = self.fixed = 0
        self.complete = False
        self._stop_at_first = stop_at_first
        self._root: Bound | None = None
        self._guide = np.zeros(0)
        self.open: list[Node] = []
        self.current: Node | None = None
        self._created = 0
        self._is_last = False  # whether only one better value is left
        self._searches = self._steps = 0
        self.closed = NO_CUTOFF  # the least bound of the nodes closed by an integral solution

    @property
    def units(self) -> int:
        """The bound proven so far, in units: the least of all open nodes, or the cutoff if none is open."""
        open_ = [node.units for node in (self.open if self.open and self.open[0].turn else self.open[:1])]
        open_ += [self.current.units] if self.current else []
        bound = min(open_, default=self.incumbent.cutoff + 1 if self.nodes else self.planes.best_units)
        return max(self.planes.best_units, min(bound, self.closed, self.incumbent.cutoff + 1))

    def run(
        self, clock: Clock, root: Bound | None, guide: Reals, *, lower: Bits | None = None, upper: Bits | None = None
    ) -> None:
        """Search from the bound of the root until the tree is complete or time runs out.

        `guide` is a fractional solution of the root, one value a column, that guides primal heuristics. The search is
        within the bounds `lower` and `upper` of the columns, if they are given.
        """
        self.begin(root, guide, lower=lower, upper=upper)
        self.advance(clock)
        self.end()

    def begin(self, root: Bound | None, guide: Reals, *, lower: Bits | None = None, upper: Bits | None = None) -> None:
        """Open the root; the parameters are those of :meth:`run`."""
        self._root, self._guide = root, guide
        units = self.planes.best_units if root is None else root.units
        free = [NO_COLUMNS.astype(np.int8) if bits is None else bits for bits in (lower, upper)]
        size = len(self.planes.columns)
        self.current = Node(0, units, 0, 0, _extended(free[0], size, 0), _extended(free[1], size, 1))

    def end(self) -> None:
        """Close the nodes that the last incumbent cuts off."""
        self.open = [node for node in self.open if node.units <= self.incumbent.cutoff]
        if self.current is not None and self.current.units > self.incumbent.cutoff:
            self.current = None
        self.complete = self.current is None and not self.open

    def advance(self, clock: Clock, iterations: int = 2**62) -> bool:
        """Search for about so many simplex iterations; returns whether there is more to search."""
        enough = self.planes.lp.effort + iterations
        while self.current is not None or self.open:
            if clock.passed or self.is_answered:
                return False
            if self.planes.lp.effort >= enough:
                return True
            if self.current is None:
                self.current = heapq.heappop(self.open)
            node = self.current
            if node.units > self.incumbent.cutoff:
                self.current = None
                continue
            children = self._solve(node, clock)
            if children is None:
                return False
            self.nodes += 1
            # A dive saves simplex iterations, unless nodes keep their parents' bases.
            if children and not self.planes.keeps_rows:
                self.current = replace(children.pop(0), start=None)
            else:
                self.current = None
            for child in children:
                heapq.heappush(self.open, child)
            self.print()
        return False

    @property
    def is_answered(self) -> bool:
        """Whether one answer is enough, and there is one."""
        return self._stop_at_first and np.isfinite(self.incumbent.value)

    def print(self) -> None:
        """Add a line to the log."""
        log, value, open_nodes = self.progress, self.incumbent.value, len(self.open)
        self.planes.print_on(log, value, units=self.units, nodes=self.nodes, open_nodes=open_nodes)

    def _solve(self, node: Node, clock: Clock) -> list[Node] | None:
        """The children of a node, the one to solve next first; None if time ran out."""
        planes, lp = self.planes, self.planes.lp
        self._fix_at_root(node)
        if node.start is not None:
            planes.start_from(node.start)
            node.start = None
        stall, refined = 0.02, False
        while True:
            bound = planes.tighten(
                clock,
                lower=node.lower,
                upper=node.upper,
                enough=self.incumbent.cutoff,
                exact=stall == 0,
                stall=stall,
                rounds=100_000 if stall == 0 else 30,
            )
            if bound is None:
                return None
            if node.branched is not None:
                self.branching.learn(node.branched)
                node.branched = None
            if max(node.units, bound.units) > self.incumbent.cutoff:
                self._prove(node, bound)
                return []
            x = lp.x
            fractional = np.flatnonzero((x > _INTEGRAL) & (x < 1 - _INTEGRAL))
            if len(fractional):
                if refined or not planes.refine():
                    break
                refined = True
                continue
            if planes.satisfied(x):
                self.incumbent.offer_chosen(planes.columns, x > 0.5)
                self._prove(node, bound)
                if node.units > self.incumbent.cutoff:
                    return []
                if planes.converged:
                    self.closed = min(self.closed, node.units)
                    # The bound is below the value of an integral solution by rounding, or by columns left to price.
                    return []
            elif planes.converged or clock.passed:
                return None
            stall = 0.0
        self._prove(node, bound)
        self._improve(x, clock)
        if node.units > self.incumbent.cutoff:
            return []
        lower, upper = _extended(node.lower, len(planes.columns), 0), _extended(node.upper, len(planes.columns), 1)
        fix_by_reduced_cost(lower, upper, bound, self.incumbent.cutoff)
        free = planes.branchable(fractional[(lower[fractional] == 0) & (upper[fractional] == 1)])
        if not len(free):
            return [self._child(node, lower, upper, node.case)]
        edge = self.branching.choose(free, x, lower, upper, clock)
        up, down = lower.copy(), upper.copy()
        up[edge], down[edge] = 1, 0
        cases = self.proof.branch(node.case, planes.described(edge))
        steps = BranchStep(edge, 1, 1 - x[edge], lp.value), BranchStep(edge, 0, x[edge], lp.value)
        return [self._child(node, up, upper, cases[0], steps[0]), self._child(node, lower, down, cases[1], steps[1])]

    def _prove(self, node: Node, bound: Bound) -> None:
        """Raise the bound of a node; none is raised without its line in the proof, also where time runs out."""
        self.proof.bound(node.case, bound.proven)
        node.units = max(node.units, bound.units)

    def _child(self, node: Node, lower: Bits, upper: Bits, case: int, branched: BranchStep | None = None) -> Node:
        self._created += 1
        deep = self._is_last and self.nodes >= _BROAD and not self.planes.keeps_rows
        start = self.planes.position if deep or self.planes.keeps_rows else None
        turn = -self._created if deep else 0
        return Node(turn, node.units, node.depth - 1, self._created, lower, upper, case, branched, start)

    def _fix_at_root(self, node: Node) -> None:
        if self._root is not None and self.incumbent.cutoff < NO_CUTOFF:
            before = int((node.upper == 0).sum() + (node.lower == 1).sum())
            fix_by_reduced_cost(node.lower, node.upper, self._root, self.incumbent.cutoff)
            if node.number == 0:
                self.fixed = int((node.upper == 0).sum() + (node.lower == 1).sum()) - before

    def _improve(self, x: Reals, clock: Clock) -> None:
        """Construct an answer, then search locally, longer each time, for half of the LP's work or an eighth of it."""
        self.incumbent.build_along(self.planes.columns, x)
        goal = self.planes.least_value(self.units)
        self._is_last = self.incumbent.value <= goal + 1
        share = _LAST_SHARE if self._is_last else _SEARCH_SHARE
        allowed = self.planes.lp.work // (share * WORK_A_STEP)
        while self.incumbent.value > goal and not clock.passed:
            steps = _FIRST_STEPS << min(self._searches, _DOUBLINGS)
            if self._steps + steps > allowed:
                return
            # The values at a node depend on its branch; every other search uses the values of the root.
            along = x if self._searches % 2 else self._guide
            self._searches, self._steps = self._searches + 1, self._steps + steps
            self.incumbent.improve_along(self.planes.columns, along, clock, goal=goal, steps=steps)


def fix_by_reduced_cost(lower: Bits, upper: Bits, bound: Bound, cutoff: int) -> None:
    """Fix columns, in place, whose other value would raise the bound above the cutoff."""
    if cutoff == NO_CUTOFF:
        return
    known = min(len(lower), len(bound.reduced_costs))
    reduced, low, high = bound.reduced_costs[:known], lower[:known], upper[:known]
    free = (low == 0) & (high == 1)
    high[free & (bound.units + reduced > cutoff)] = 0
    low[free & (bound.units - reduced > cutoff)] = 1


def _extended(bits: Bits, size: int, value: int) -> Bits:
    return np.concatenate([bits, np.full(size - len(bits), value, np.int8)])
