"""Branch-and-cut for the fewest, or the cheapest, edges under a goal's limits, from a first overlay to a proof."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ....heuristics.topics.local_search.polish import is_searchable, polish
from ....instances.contract.overlay import Overlay
from ....instances.contract.result import OUT_OF_MEMORY
from ....instances.runtime.run import Clock, offer_bound
from ....instances.topics.instance import TopicInstance
from ...engine.exact_method import SearchLog, SolverOutcome
from ...engine.parallel_tree import search_tree
from ...engine.proof import NO_FILE, NO_PROOF, ProofFile
from ...engine.relaxation import UNIT, Bound
from ...engine.tree_search import WORK_A_STEP, TreeSearch
from ..lp_heuristics.lp_guided import (
    ANY_OVERLAY,
    GuidedIncumbent,
    flatter_along,
    flatter_overlays,
    guided_candidates,
    stars,
)
from ..relaxation.cost_splitting import Splitting, is_affordable, proof_rows, split_by_pricing
from ..relaxation.cutting_planes import ALL_PAIRS, CuttingPlanes, KeptRows, is_timely, write_case
from ..relaxation.neighbour_rows import MOST_PAIRS
from ..relaxation.separation import Goal
from ..relaxation.topic_rows import all_pairs, count_links

_ROOT_STALL = 1e-3
_BUILD_EVERY = 5
_FEW_EDGES = 500
_LP_SHARE = 0.5  # of the time left, for the LP of the root
_LONG_SEARCH = 20_000  # steps, at least
_MANY_EDGES = 500  # of the start; the tree's searches do better below
_EDGES_FLATTENED = 1_000  # by one round of steps
_CLOSED_BY_TREES = 10  # edges, at most
_NEAR_SHARE, _FAR = 0.2, 0.2  # of the time left; of an edge, from the LP to the end of the tree
_FLAT_SHARE, _FLAT_STALL, _FLAT_WORK = 0.5, 1e-2, 2  # of the time left; edges in ten rounds; times the LPs' work
_SEARCHED = 0.1  # seconds for each edge of the start, where no tree can close the gap


@dataclass(frozen=True)
class SearchSettings:
    """The parameters of a search."""

    seed: int = 0
    threads: int = 1  # processes that search the tree
    steps: int = 10_000  # of local search at the root, each time
    progress: str = "auto"
    proof: ProofFile = NO_FILE  # receives a case for each search
    near: bool = True  # rows that do not follow from the compact models (docs/proofs.md)
    offers: bool = False  # offer bounds on the cost of the edges: the problem is to minimise it


def minimise_edges(
    instance: TopicInstance,
    goal: Goal,
    start: Overlay | None,
    clock: Clock,
    settings: SearchSettings,
    *,
    stop_at_first: bool = False,
    kept: KeptRows | None = None,
) -> SolverOutcome[Overlay]:
    """Find an overlay with the cheapest edges within the goal's limits, and prove it; the fewest if each costs 1.

    Root LP by cutting planes and pricing; overlays built along LP values and improved by local search; then branch and
    bound with reduced-cost fixing. If half of the time does not suffice for a bound of the root LP, the search of
    :func:`.best` has the rest; if the gap is too wide for a tree, it has up to three quarters. Incumbent and bound
    remain after Ctrl-C, a time limit or a MemoryError. The `start` is valid, except that it may exceed the goal's cap
    on degrees; None if no answer is known. `stop_at_first` stops at the first overlay within the limits. Where the LP
    would start from a split of costs, it starts from the rows `kept` of a similar instance, if there are any.
    Exponential in the worst case. Where the goal is not `searchable`, overlays come from the tree alone.
    """
    search = _Search(instance, goal, start, clock, settings, stop_at_first, kept)
    try:
        search.run()
        stopped_by = clock.stopped_by
    except MemoryError:
        stopped_by = OUT_OF_MEMORY
    return search.outcome(stopped_by)


@dataclass
class _Search:
    instance: TopicInstance
    goal: Goal
    start: Overlay | None
    clock: Clock
    settings: SearchSettings
    stop_at_first: bool
    kept: KeptRows | None = None
    splitting: Splitting | None = None
    planes: CuttingPlanes | None = None
    tree: TreeSearch | None = None
    infeasible: bool = False

    def __post_init__(self) -> None:
        self.incumbent = GuidedIncumbent(self.instance, self.goal, self.start, self.settings.seed)
        self.base = self.start or stars(self.instance)  # topic-connected
        self.log = SearchLog(self.settings.progress, on_bound=offer_bound if self.settings.offers else None)
        self._rounds = 0
        self.case, self._is_root_written = NO_PROOF, False

    def run(self) -> None:
        if self._done():
            return
        listed = self.goal.rows is None or count_links(self.instance) <= ALL_PAIRS
        if not (listed and is_timely(self.instance, self.clock)):
            self._search_long(self.clock)
            return
        cap = self.goal.cap
        self.case = self.settings.proof.case(cap=cap if cap < self.instance.num_nodes else None)
        settings, incumbent, clock = self.settings, self.incumbent, self.clock
        planes = self.planes = CuttingPlanes(self.instance, self.goal, self.base)
        guide, part = None, clock.share(0.2)
        split = len(planes.edges) > _FEW_EDGES and self.goal.separator.splits
        if split and self.kept is not None:
            split = not self.kept.give(planes)
        if split and count_links(self.instance) <= ALL_PAIRS and is_affordable(self.instance, part):
            weighted = self.goal.costs is not None
            splitting = self.splitting = split_by_pricing(self.instance, self.base, part, weighted=weighted)
            planes.warm_start(splitting.used, *proof_rows(splitting))
            self._print()
            guide = splitting.usage_of(planes.edges.keys)
            incumbent.improve_along(planes.edges, guide, clock.share(0.2), goal=self._goal, steps=settings.steps)
        searchable = self.goal.searchable and self.goal.cap >= self.instance.num_nodes
        part = clock.share(_LP_SHARE) if searchable else clock
        root = planes.tighten(part, stall=_ROOT_STALL, at_round=self._at_round)
        self._write_root(planes, root)
        if self.kept is not None:
            self.kept.take(planes)
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
        far = searchable and self.base.num_edges > _MANY_EDGES and np.isfinite(clock.left)
        far = far and incumbent.value - goal > _CLOSED_BY_TREES * planes.cost_scale
        if far:
            self._search_long(clock.share(0.75, most=_SEARCHED * self.base.num_edges))
        if searchable and not far and not self._done():
            steps = max(_LONG_SEARCH, planes.lp.work // WORK_A_STEP)  # about as long as the LPs took
            incumbent.improve_along(planes.edges, along, clock.share(0.25), goal=goal, steps=steps)
            self._print(force=True)
        if settings.near and self.goal.searchable and not self._done():
            root = self._tighten_near(clock.share(_NEAR_SHARE), root)
            self.infeasible = not planes.lp.feasible
        if not self._done() and not self.infeasible:
            self.tree = TreeSearch(
                planes, incumbent, stop_at_first=self.stop_at_first, progress=self.log, proof=self.case
            )
            search_tree(self.tree, clock, root, along, workers=settings.threads)
            self._print(force=True)

    def _tighten_near(self, clock: Clock, root: Bound) -> Bound:
        """Raise the root's bound by rows of neighbours, where pairs are few and a tree would have far to go."""
        planes, before = self.planes, -np.inf
        assert planes is not None
        most_shared = int(np.diff(self.instance.node_offsets).max(initial=0))
        if count_links(self.instance) > MOST_PAIRS * most_shared:  # so there are too many pairs, which need no listing
            return root
        if self.incumbent.cutoff / UNIT < planes.lp.value + _FAR * planes.cost_scale:
            return root
        if len(all_pairs(self.instance)) > MOST_PAIRS:
            return root
        while planes.lp.feasible and planes.lp.value > before + _ROOT_STALL and not clock.passed:
            before = planes.lp.value
            if not planes.add_near():
                break
            found = planes.tighten(clock, stall=_ROOT_STALL, at_round=self._at_round)
            root = root if found is None or found.units < root.units else found
        self._write_root(planes, root)
        self._print(force=True)
        return root

    def _search_long(self, clock: Clock) -> None:
        """The search of method `best`, until the time is over."""
        start, weighted = self.incumbent.overlay, self.goal.costs is not None
        if start is None or not self.goal.searchable or not is_searchable(self.instance, start, clock):
            return
        instance, seed = self.instance, self.settings.seed
        steps = None if weighted or self.goal.cap < instance.num_nodes else self.settings.steps
        near, built = guided_candidates(
            instance, start, clock, weighted=weighted, splitting=self.splitting, steps=steps, seed=seed
        )
        for overlay in built:
            self.incumbent.offer(overlay)
        if not clock.passed:
            start, first = self.incumbent.overlay or start, "cost" if weighted else "edges"
            self.incumbent.offer(polish(instance, start, first=first, seed=seed, candidates=near, clock=clock))
        self._print(force=True)

    def _write_root(self, planes: CuttingPlanes, root: Bound | None) -> None:
        self._is_root_written = True
        planes.write_root(self.case, root)

    def outcome(self, reason: str) -> SolverOutcome[Overlay]:
        if not self._is_root_written and self.planes is not None:  # memory ran out on the way
            self._write_root(self.planes, None)
        self.case.end(self.incumbent.value)
        planes, tree, overlay, value = self.planes, self.tree, self.incumbent.overlay, self.incumbent.value
        bound: float = 0
        counters: dict[str, float | str] = {}
        if planes is not None:
            bound = max(0, -(-(planes.best_units if tree is None else tree.units) // UNIT))
            nodes, fixed = (0, 0) if tree is None else (tree.nodes, tree.fixed)
            counters = {**planes.counters, "nodes": nodes, "fixed_at_root": fixed}
        stopped_early = self.stop_at_first and overlay is not None
        complete = self.infeasible or (tree is not None and tree.complete and not stopped_early) or bound >= value
        return SolverOutcome(overlay, value if complete else bound, not complete, counters, reason)

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
        if planes is not None:
            units, nodes = (None, 0) if tree is None else (tree.units, tree.nodes)
            planes.print_on(self.log, self.incumbent.value, units=units, force=force, nodes=nodes)


def minimise_degree(
    instance: TopicInstance, least: int, starts: list[Overlay], clock: Clock, settings: SearchSettings, *, written: int
) -> SolverOutcome[Overlay]:
    """Find an overlay of smallest maximum degree, and prove it.

    First the LP that minimises D subject to the partition inequalities and degree(v) ≤ D gives a bound, rounded up, and
    row weighting an overlay, among near nodes and then along the LP of fewest edges under that bound as a cap. Then the
    search looks for any overlay with degrees below the incumbent's, until there is none or the incumbent's degree
    equals the bound, which is proven. `least` is a known lower bound, `written` one that the proof has already; the
    `starts` are topic-connected. The outcome has the counters of all searches and the reason of the last one.

    MinMax-TCO: P2 §2.1. With equal duals on all degree rows the LP's bound is 2·(bound on |E|) ÷ |V|; with a dual on
    one node's row alone it is that node's fractional cover of its topics by neighbours. The LP dominates both.
    """
    best = min(starts, key=lambda overlay: (overlay.max_degree, overlay.num_edges))
    counters: dict[str, float | str] = {}
    bound, reason, kept = least, "", KeptRows()
    kept.topics = [instance.topic_label(t) for t in range(instance.num_topics)]
    if is_timely(instance, clock):
        part = clock.share(0.3)
        planes = CuttingPlanes(instance, Goal(edge_cost=0, degree_cost=1), best)
        with suppress(MemoryError):
            planes.tighten(part, stall=1e-4)
        kept.take(planes)
        by_lp = max(0, -(-planes.best_units // UNIT))
        bound = max(bound, by_lp)
        if settings.proof.is_written:
            bound = max(written, by_lp)  # the other bound is not in the proof
            write_case(settings.proof, planes.best_proven, Fraction(by_lp), of_degree=True)
    offer_bound(bound)
    if bound < best.max_degree:
        steps = settings.steps * max(1, best.num_edges // _EDGES_FLATTENED)
        _, found = flatter_overlays(instance, best, clock, steps=steps, seed=settings.seed, least=bound)
        best = found[-1] if found else best
    if bound < best.max_degree and is_timely(instance, clock):
        part = clock.share(_FLAT_SHARE)
        planes = CuttingPlanes(instance, Goal(cap=bound), best)
        kept.give(planes)
        with suppress(MemoryError):
            planes.tighten(part, stall=_FLAT_STALL)
            kept.take(planes)
            if planes.lp.feasible and len(planes.lp.x):
                steps = max(_LONG_SEARCH, _FLAT_WORK * planes.lp.work // WORK_A_STEP)
                part = clock.share(_FLAT_SHARE)
                best = flatter_along(
                    planes.edges, planes.lp.x, best, part, steps=steps, seed=settings.seed, least=bound
                )
    while bound < best.max_degree and is_timely(instance, clock):
        cap = best.max_degree - 1
        outcome = minimise_edges(
            instance, Goal(cap=cap, least_degree=min(bound, cap)), best, clock, settings, stop_at_first=True, kept=kept
        )
        for name, value in outcome.counters.items():
            if name in ("cuts", "nodes", "simplex_iterations") and not isinstance(value, str):
                counters[name] = float(counters.get(name, 0.0)) + value
        if outcome.answer is not None:
            best = outcome.answer
        elif not outcome.stopped:
            bound = best.max_degree
        else:
            reason = outcome.reason
            break
        offer_bound(bound)
    counters["degree_bound"] = bound
    is_open, bound = bound < best.max_degree, min(bound, best.max_degree)
    return SolverOutcome(best, bound, is_open, counters, reason or clock.stopped_by)
