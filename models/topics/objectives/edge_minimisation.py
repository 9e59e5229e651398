"""Branch-and-cut for the fewest, or the cheapest, edges under a goal's limits, from a first overlay to a proof."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ....heuristics.topics.polish import polish
from ....instances.contract.overlay import Overlay
from ....instances.contract.run import Clock, offer_bound
from ....instances.topics.instance import TopicInstance
from ...engine.integer_bound import UNIT, Bound
from ...engine.proof import NO_FILE, NO_PROOF, ProofFile
from ...engine.search_log import SearchLog
from ...engine.tree_search import WORK_A_STEP, TreeSearch
from ..bounds.certificate import Certificate
from ..bounds.cost_splitting import Splitting
from ..bounds.priced_splitting import is_affordable, split_by_pricing
from ..cuts.cutting_planes import ALL_PAIRS, CuttingPlanes
from ..incumbents.diving import dive
from ..incumbents.guided_candidates import guided_candidates
from ..incumbents.lp_guided import ANY_OVERLAY, Incumbent
from ..rows.candidate_edges import count_links
from ..rows.goal import Goal

_ROOT_STALL = 1e-3
_BUILD_EVERY = 5
_FEW_EDGES = 500
_LP_SHARE = 0.5  # of the time left, for the LP of the root
_DIVES = (0.3, 0.1, 0.05)
_LONG_SEARCH = 20_000  # steps, at least
_MANY_EDGES = 500  # of the start; the tree's searches do better below
_CLOSED_BY_TREES = 10  # edges, at most
_SEARCHED = 0.1  # seconds for each edge of the start, where no tree can close the gap


@dataclass(frozen=True)
class SearchSettings:
    """The parameters of a search.

    Attributes
    ----------
    seed : int
    sparse : bool
        Start from few edges and price the others in.
    threads : int
        Of the LP solver.
    steps : int
        Of local search at the root, each time.
    progress : str
        See :class:`.SearchLog`.
    proof : ProofFile
        Receives a case for each search.
    offers : bool
        Offer bounds on the cost of the edges (:func:`.offer`): the problem is to minimise it.
    """

    seed: int = 0
    sparse: bool = True
    threads: int = 1
    steps: int = 10_000
    progress: str = "auto"
    proof: ProofFile = NO_FILE
    offers: bool = False


@dataclass
class SearchOutcome:
    """The outcome of a search, complete or stopped.

    Attributes
    ----------
    overlay : Overlay or None
        The best overlay within the goal's limits.
    units : int
        A proven bound on the cost of the edges, times `unit`.
    unit : int
    complete : bool
        Whether the overlay is proven optimal or, without one, that there is none.
    stopped_by : str
        ``interrupted`` after Ctrl-C, ``out of memory``, or nothing (also at the time limit).
    counters : dict
    certificate : Certificate or None
        Of the bound at the root.
    """

    overlay: Overlay | None = None
    units: int = 0
    unit: int = UNIT
    complete: bool = False
    stopped_by: str = ""
    counters: dict[str, float | str] = field(default_factory=dict)
    certificate: Certificate | None = None

    @property
    def lower_bound(self) -> int:
        """A lower bound on the cost of the edges of every overlay."""
        return max(0, -(-self.units // self.unit))


def minimise_edges(
    instance: TopicInstance,
    goal: Goal,
    start: Overlay,
    clock: Clock,
    settings: SearchSettings,
    *,
    stop_at_first: bool = False,
) -> SearchOutcome:
    """Find an overlay with the cheapest edges within the goal's limits, and prove it; the fewest if each costs 1.

    Root LP by cutting planes and pricing; overlays built along LP values and improved by local search; dives; then
    branch and bound with reduced-cost fixing. If half of the time does not suffice for a bound of the root LP, the
    search of :func:`.best` has the rest; if the gap is too wide for a tree, it has up to three quarters. Incumbent and
    bound remain after Ctrl-C, a time limit or a MemoryError.

    Parameters
    ----------
    goal : Goal
        Its objective is the cost of the edges.
    start : Overlay
        Valid, except that it may exceed the goal's cap on degrees.
    stop_at_first : bool
        Stop at the first overlay within the limits.

    Notes
    -----
    Exponential in the worst case. Local search supports neither `goal.diameter` nor
    `goal.fault_tolerant`: their overlays come from the tree.
    """
    search = _Search(instance, goal, start, clock, settings, stop_at_first)
    try:
        search.run()
        stopped_by = clock.stopped_by
    except MemoryError:
        stopped_by = "out of memory"
    return search.outcome(stopped_by)


@dataclass
class _Search:
    instance: TopicInstance
    goal: Goal
    start: Overlay
    clock: Clock
    settings: SearchSettings
    stop_at_first: bool
    splitting: Splitting | None = None
    planes: CuttingPlanes | None = None
    tree: TreeSearch | None = None
    infeasible: bool = False

    def __post_init__(self) -> None:
        self.incumbent = Incumbent(self.instance, self.goal, self.start, self.settings.seed)
        self.log = SearchLog(self.settings.progress, on_bound=offer_bound if self.settings.offers else None)
        self._rounds = 0
        self.case = NO_PROOF

    def run(self) -> None:
        if self._done():
            return
        cap = self.goal.cap
        self.case = self.settings.proof.case(cap=cap if cap < self.instance.num_nodes else None)
        settings, incumbent, clock = self.settings, self.incumbent, self.clock
        planes = self.planes = CuttingPlanes(
            self.instance, self.goal, self.start, sparse=settings.sparse, threads=settings.threads
        )
        guide, part = None, clock.share(0.2)
        split = len(planes.edges) > _FEW_EDGES and settings.sparse and not self.goal.fault_tolerant
        if split and count_links(self.instance) <= ALL_PAIRS and is_affordable(self.instance, part):
            weighted = self.goal.costs is not None
            splitting = self.splitting = split_by_pricing(self.instance, self.start, part, weighted=weighted)
            planes.warm_start(splitting)
            self._print()
            guide = splitting.usage_of(planes.edges.keys)
            incumbent.improve_along(planes.edges, guide, clock.share(0.2), goal=self._goal, steps=settings.steps)
        searchable = self.goal.searchable and self.goal.cap >= self.instance.num_nodes
        part = clock.share(_LP_SHARE) if searchable else clock
        root = planes.tighten(part, stall=_ROOT_STALL, at_round=self._at_round)
        # The split may have proven more than the LP.
        strongest = planes.best_proven if root is None or root.units < planes.best_units else root.proven
        self.case.bound(0, strongest)
        if not planes.lp.feasible:
            self.infeasible = root is not None
            return
        x = planes.lp.x
        along, goal = x if guide is None else guide, self._goal
        if root is None:
            self._search_long(clock)
            return
        incumbent.improve_along(planes.edges, x, clock, goal=goal, steps=settings.steps)
        self._print(force=True)
        far = searchable and self.start.num_edges > _MANY_EDGES and np.isfinite(clock.left)
        far = far and incumbent.value - goal > _CLOSED_BY_TREES * planes.cost_scale
        if far:
            self._search_long(clock.share(0.75, most=_SEARCHED * self.start.num_edges))
        if self.goal.searchable:
            for share in _DIVES:
                if not self._done():
                    dive(planes, incumbent, x, clock.share(0.3), goal=goal, share=share)
                    self._print(force=True)
        if searchable and not far and not self._done():
            steps = max(_LONG_SEARCH, planes.lp.work // WORK_A_STEP)  # about as long as the LPs took
            incumbent.improve_along(planes.edges, along, clock.share(0.25), goal=goal, steps=steps)
            self._print(force=True)
        if not self._done():
            self.tree = TreeSearch(
                planes, incumbent, stop_at_first=self.stop_at_first, progress=self.log, proof=self.case
            )
            self.tree.run(clock, root, along)
            self._print(force=True)

    def _search_long(self, clock: Clock) -> None:
        """The search of method `best`, until the time is over."""
        start, weighted = self.incumbent.overlay, self.goal.costs is not None
        if start is None or clock.passed or not self.goal.searchable:
            return
        steps = None if weighted or self.goal.cap < self.instance.num_nodes else self.settings.steps
        near, built = guided_candidates(
            self.instance,
            start,
            clock,
            weighted=weighted,
            splitting=self.splitting,
            steps=steps,
            seed=self.settings.seed,
        )
        for overlay in built:
            self.incumbent.offer(overlay)
        if not clock.passed:
            start, first = self.incumbent.overlay or start, "cost" if weighted else "edges"
            found = polish(self.instance, start, first=first, seed=self.settings.seed, candidates=near, clock=clock)
            self.incumbent.offer(found)
        self._print(force=True)

    def outcome(self, stopped_by: str) -> SearchOutcome:
        outcome = SearchOutcome(self.incumbent.overlay, stopped_by=stopped_by)
        self.case.end(self.incumbent.value)
        planes, tree = self.planes, self.tree
        if planes is not None:
            outcome.units = planes.best_units if tree is None else tree.units
            outcome.certificate = planes.certificate
            outcome.counters = {
                "root_bound": round(planes.best_units / UNIT, 6),
                "cuts": planes.cuts,
                "columns": len(planes.edges),
                "simplex_iterations": planes.lp.iterations,
                "nodes": 0 if tree is None else tree.nodes,
                "fixed_at_root": 0 if tree is None else tree.fixed,
            }
        stopped_early = self.stop_at_first and outcome.overlay is not None
        outcome.complete = self.infeasible or (tree is not None and tree.complete and not stopped_early)
        if outcome.overlay is not None:
            value = self.incumbent.cost(outcome.overlay)
            outcome.complete |= outcome.lower_bound >= value
            if outcome.complete:
                outcome.units = value * UNIT
        return outcome

    @property
    def _goal(self) -> float:
        """The search ends at an incumbent of this value."""
        units = 0 if self.planes is None else self.planes.best_units
        return ANY_OVERLAY if self.stop_at_first else max(0, -(-units // UNIT))

    def _done(self) -> bool:
        return self.clock.passed or (self.incumbent.overlay is not None and self.incumbent.value <= self._goal)

    def _at_round(self, bound: Bound) -> bool:
        planes = self.planes
        assert planes is not None
        self._rounds += 1
        if self._rounds % _BUILD_EVERY == 0:
            self.incumbent.build_along(planes.edges, planes.lp.x)
        self._print()
        return self._done()

    def _print(self, force: bool = False) -> None:
        planes, tree = self.planes, self.tree
        assert planes is not None
        self.log.line(
            incumbent=None if self.incumbent.overlay is None else self.incumbent.value,
            bound=(planes.best_units if tree is None else tree.units) / UNIT,
            cuts=planes.cuts,
            edges=len(planes.edges),
            nodes=0 if tree is None else tree.nodes,
            force=force,
        )
