"""Methods `branch-and-cut` and `lp-rounding` for content-based overlays: directed cuts connect every destination."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from ...heuristics.content.routing import route
from ...instances.content.instance import ContentInstance
from ...instances.content.problems import CONTENT_PROBLEMS, ContentOverlay, ContentProblem
from ...instances.contract.arrays import Flags, Reals
from ...instances.contract.errors import BadInput
from ...instances.contract.method import Method, Proposal
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from ...instances.runtime.run import Clock, interruptible, offer, offer_bound
from ..engine.exact_method import PROGRESS, START, SearchLog, solve_exactly
from ..engine.minimum_cuts import minimum_cut, network_of
from ..engine.proof import NO_FILE, ProofFile
from ..engine.relaxation import NO_CUTOFF, RowList, SparseRelaxation, SparseRows
from ..engine.tree_search import Incumbent, TreeSearch
from .exact import TOLERANCE, Outcome, access_bound, begin_case, exact_method, improve_by_moves
from .model import ContentModel

_VIOLATION = 1e-4
_INTEGRAL = 1e-6
_STALL = 1e-4
_LEAST_COSTS, _MOST_COSTS, _LARGEST_SCALE = 16, 40, 1000
_TOO_LARGE = 2.0**100  # a proof counts in whole units
_SMALL = 1e-5  # of all costs: a smaller optimum needs finer bounds than integers of 64 bits give


class ContentCuts(SparseRelaxation):
    """Directed cuts of each publisher's arborescence, for a content model.

    For a set S of brokers and each j in S: x(publisher, S) + arcs into S ≥ d(j). Cuts of the shared tree are separated
    too, and cover inequalities, in case the capacity rows in integers admit overloads.
    """

    # A multiplier is rounded to 1/unit and a capacity row has entries up to 2^20: their product is the bound's error.
    finest = 2**44

    def __init__(self, model: ContentModel, *, exact: bool = False) -> None:
        self.model = model
        if exact:  # beyond the integers of 64 bits, so that Python's are taken
            self.finest = 2**64
        brokers = model.instance.num_brokers
        self._tails, self._heads = np.nonzero(model.off_diagonal)
        self._tree_network = network_of(brokers, self._tails, self._heads)
        # One more node, the publisher, with an arc to each broker for its access link.
        self._all_tails = np.concatenate([np.full(brokers, brokers), self._tails])
        self._all_heads = np.concatenate([np.arange(brokers), self._heads])
        self._network = network_of(brokers + 1, self._all_tails, self._all_heads)
        super().__init__(np.array(model.costs), model.rows.rows())

    def least_value(self, units: int) -> float:
        return units / self.unit

    def described(self, column: int) -> list[object]:
        return self.model.described(column)

    def branchable(self, fractional: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Users on brokers first: once they are fixed, little is left to decide."""
        first = fractional[fractional < self.model.x.size]
        return first if len(first) else fractional

    def violated(self, x: Reals, *, exact: bool) -> SparseRows:
        """Violated directed cuts, those of the shared tree, and covers; always exact."""
        rows = RowList()
        model = self.model
        for number, commodity in enumerate(model.commodities):
            source = model.x[commodity.publisher]
            columns = np.concatenate([source, model.y[number][self._tails, self._heads]])
            for target, destination in enumerate(model.d[commodity.audience].tolist()):
                if x[destination] - x[source[target]] <= _VIOLATION:
                    continue
                enough = float(x[destination]) - _VIOLATION
                sides = minimum_cut(self._network, x[columns], len(source), target, enough)
                for side in sides or ():
                    crossing = columns[side[self._all_tails] & ~side[self._all_heads]]
                    inside = np.flatnonzero(~side[: model.instance.num_brokers]).tolist()
                    text = ("cut", number, target, *inside)
                    rows.add([*crossing, destination], [1] * len(crossing) + [-1], 0, text)
        if model.routing == "shared-tree":
            self._add_shared_tree_cuts(x, rows)
        self._add_covers(x, rows)
        return rows.rows()

    def _add_shared_tree_cuts(self, x: Reals, rows: RowList) -> None:
        links = self.model.t[self._tails, self._heads]
        for target in range(1, self.model.instance.num_brokers):
            for side in minimum_cut(self._tree_network, x[links], 0, target, 1 - _VIOLATION) or ():
                inside = np.flatnonzero(~side).tolist()
                rows.add(np.sort(links[side[self._tails] & ~side[self._heads]]), 1, 1, ("tree", *inside))

    def _add_covers(self, x: Reals, rows: RowList) -> None:
        """Users who together exceed the capacity of the broker that the LP assigns them to."""
        instance = self.model.instance
        there = x[self.model.x] > 1 - _INTEGRAL
        for b in np.flatnonzero((instance.demands @ there) > instance.load_limits()).tolist():
            users = np.flatnonzero(there[:, b])
            rows.add(self.model.x[users, b], -1, 1 - len(users), ("cover", b, *users.tolist()))


class ContentIncumbent(Incumbent):
    """The best overlay without violations (`answer`), and its cost."""

    def __init__(self, model: ContentModel, problem: ContentProblem, start: ContentOverlay | None, unit: int) -> None:
        self.model, self.problem, self.unit = model, problem, unit
        self.answer: ContentOverlay | None = None
        self._rounded: set[bytes] = set()
        if start is not None:
            self._offer(start)

    @property
    def cutoff(self) -> int:
        """A node with a bound above this, in units, contains no overlay cheaper by more than the tolerance."""
        return int(self.value * (1 - TOLERANCE) * self.unit) if np.isfinite(self.value) else NO_CUTOFF

    def offer_chosen(self, columns: object, chosen: Flags) -> None:
        self._offer(self.model.answer(chosen.astype(np.float64)))

    def build_along(self, columns: object, x: Reals) -> ContentOverlay | None:
        """Assign users by falling largest LP value, each to the feasible broker of largest LP value."""
        instance = self.model.instance
        shares, residual = x[self.model.x], instance.load_limits()
        brokers = np.zeros(instance.num_users, np.int32)
        for u in np.argsort(-shares.max(axis=1), kind="stable").tolist():
            feasible = np.flatnonzero(residual >= instance.demands[u])
            if not len(feasible):
                return None
            brokers[u] = feasible[np.argmax(shares[u, feasible] - 1e-9 * instance.access[u, feasible])]
            residual[brokers[u]] -= instance.demands[u]
        if brokers.tobytes() in self._rounded:
            return None
        self._rounded.add(brokers.tobytes())
        overlay = route(instance, brokers, self.model.routing)
        self._offer(overlay)
        return overlay

    def improve_along(self, columns: object, x: Reals, clock: Clock, *, goal: float, steps: int) -> None:
        """As :meth:`build_along`, followed by moves of single users."""
        overlay = self.build_along(columns, x)
        if overlay is not None and not self.problem.violations(self.model.instance, overlay):
            self._offer(improve_by_moves(self.model.instance, self.problem, overlay, clock.share(0.2, 10.0)))

    def _offer(self, answer: ContentOverlay) -> None:
        value = self.problem.value(self.model.instance, answer)
        if value < self.value and not self.problem.violations(self.model.instance, answer):
            self.answer, self.value = answer, value
            offer(answer)


def _all_costs(instance: ContentInstance) -> float:
    return float(instance.demands @ instance.access.sum(axis=1) + instance.rates.sum() * instance.core.sum())


def _in_small_units(instance: ContentInstance) -> tuple[ContentInstance, float]:
    """The instance with prices in units in which all costs add up to 2^16 to 2^40, and how many of these are one.

    The LP's tolerances and the units of bounds are absolute, and HiGHS fails on larger costs. A power of 2 changes no
    digit of a cost. BadInput for costs that no unit of a proof fits.
    """
    costs = _all_costs(instance)
    if not costs or 2**_LEAST_COSTS <= costs < 2**_MOST_COSTS:
        return instance, 1.0
    if costs >= _TOO_LARGE:
        raise BadInput(f"all prices times rates add up to {costs:g}, above 2^100: divide them by a common factor")
    fitting = _LEAST_COSTS if costs < 1 << _LEAST_COSTS else _MOST_COSTS - 1
    scale = 2.0 ** min(fitting - math.floor(math.log2(costs)), _LARGEST_SCALE)
    return replace(instance, access=instance.access * scale, core=instance.core * scale), scale


def minimise(
    instance: ContentInstance,
    problem: ContentProblem,
    start: ContentOverlay | None,
    clock: Clock,
    *,
    progress: str,
    seed: int = 0,
    proof: ProofFile = NO_FILE,
) -> Outcome:
    """Minimise over the directed cut formulation (P4 §IV.A; docs/content.md); no step is random.

    The bound is proven in integers at every node of the tree, up to the relative tolerance of 5·10⁻⁷ at which nodes are
    cut off. Integers have 60 bits for the costs of everything: an optimum below 10⁻¹⁰ of that may remain unproven.
    """
    scaled, scale = _in_small_units(instance)
    model = ContentModel(scaled, problem.routing, clock=clock)
    small = start is not None and problem.value(scaled, start) < _SMALL * _all_costs(scaled)
    planes = ContentCuts(model, exact=small)
    incumbent = ContentIncumbent(model, problem, start, planes.unit)
    case = begin_case(proof, instance, int(planes.proof_unit * Fraction(scale)), model)
    root = planes.tighten(clock, stall=_STALL * planes.cost_scale)
    tree = TreeSearch(planes, incumbent, progress=SearchLog(progress, offer_bound, scale), proof=case)
    feasible = root is None or planes.lp.feasible
    planes.write_root(case, root)
    if root is not None and feasible:
        incumbent.improve_along(planes.columns, planes.lp.x, clock, goal=0.0, steps=0)
        tree.run(clock, root, planes.lp.x)
    case.end(incumbent.value / scale)
    counters = {**planes.counters, "root_bound": planes.best_units / planes.unit / scale, "nodes": tree.nodes}
    if not feasible or (tree.complete and incumbent.answer is None):
        return Outcome(None, math.inf, counters=counters)
    return Outcome(incumbent.answer, tree.units / planes.unit / scale, not tree.complete, counters)


CONTENT_BRANCH_AND_CUT = exact_method(
    "branch-and-cut",
    minimise,
    summary="content: branch-and-cut on directed cuts of each publisher's arborescence",
    options=(START, PROGRESS),
    inputs=("proof",),
)


def _round(
    instance: ContentInstance, problem: Problem[ContentInstance, ContentOverlay], *, seed: int, time_limit: float | None
) -> Proposal[ContentOverlay]:
    """Solve the relaxation by directed cuts and round it.

    Users are assigned by falling largest LP value, each to the broker of largest LP value with enough residual
    capacity; trees follow by :func:`.route`. Without time for the relaxation there is no overlay.
    """
    assert isinstance(problem, ContentProblem)
    if conflict := instance.capacity_conflict():
        return Proposal(status=Status.INFEASIBLE, reason=conflict)

    def round_in_time(_: ContentOverlay | None, clock: Clock) -> Outcome:
        scaled, scale = _in_small_units(instance)
        model = ContentModel(scaled, problem.routing, clock=clock)
        planes = ContentCuts(model)
        if planes.tighten(clock, stall=_STALL * planes.cost_scale) is None:
            return Outcome(stopped=True)
        if not planes.lp.feasible:
            return Outcome(None, math.inf)
        rounded = ContentIncumbent(model, problem, None, planes.unit).build_along(planes.columns, planes.lp.x)
        return Outcome(rounded, planes.best_units / planes.unit / scale, clock.passed)

    value, least = partial(problem.value, instance), access_bound(instance)
    with interruptible(time_limit) as clock:
        proposal = solve_exactly(
            value, round_in_time, clock, lower_bound=least, infeasible="the relaxation is infeasible"
        )
    if proposal.answer is None and proposal.status is None and not proposal.reason:
        return replace(proposal, reason="rounding leaves a user without a broker")
    return proposal


LP_ROUNDING: Method[ContentInstance, ContentOverlay] = Method(
    name="lp-rounding",
    problems=tuple(problem.name for problem in CONTENT_PROBLEMS),
    summary="users on the brokers of largest value in the linear relaxation, then trees; with a lower bound",
    source="P4 §III, §IV.A",
    guarantee="a proven lower bound; no ratio is proven of its answer",
    cost="a linear program with |U||B| + trees·|B|² columns, solved by directed cuts",
    bounds=True,
    anytime=False,
    engine="branch-and-cut",
    solve=_round,
    compiled=True,
    pace=50,
)
