"""All optimal overlays of a topic problem, and what they share: the edges in every one, in some, and in none.

Let L be the optimum plus the tolerance `within`. Reduced costs of the root's LP exclude or force most edges at once,
overlays of cost at most L that are found settle others, and for each edge left branch-and-cut proves that no such
overlay has it (or misses it), or finds one. Then overlays are enumerated by branching on the edges that some have and
others miss; a branch without a known overlay is searched, and ends where it has none.

Optimal overlays have no redundant edge. With a tolerance, only overlays count from which no edge can be removed: else
every edge could be added to an optimum. That an edge is needed is linear with sides of a cut: edge uv is needed if for
a topic t, V_t has sides with u and v on different ones and no other edge between them. CP-SAT decides this.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...heuristics.topics.kernels.interest import costs_of
from ...instances.contract.arrays import Flags, Ids
from ...instances.contract.errors import BadInput
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Status
from ...instances.runtime.run import Clock, OutOfTime, interruptible
from ...instances.topics.instance import TopicInstance
from ...instances.topics.problems import TOPIC_PROBLEMS, AnyTopicProblem
from ..engine.exact_method import ModelTooLarge, SearchLog
from ..engine.integer_model import minimise_with_cp_sat
from ..engine.proof import NO_FILE, ProofFile, ProofTree
from ..engine.relaxation import Bits, Reals
from ..engine.tree_search import Incumbent, TreeSearch, fix_by_reduced_cost
from .branch_and_cut import BRANCH_AND_CUT
from .compact.overlay_model import Edge, OverlayModel, Subproblem, build_model, requirements_of
from .lp_heuristics.lp_guided import weighted_greedy
from .relaxation.cutting_planes import LP_LINKS, CuttingPlanes, begin_proof
from .relaxation.presolve import presolved
from .relaxation.separation import Goal
from .relaxation.star_planes import StarPlanes
from .relaxation.topic_rows import CandidateEdges, count_links, keys_of

CLASSES = EVERY, SOME, NONE, OPEN = ("every", "some", "none", "open")
SHARING = tuple(
    problem.name
    for problem in TOPIC_PROBLEMS
    if problem.objective.first in ("edges", "cost") and problem.objective.rule != "star"
)
"""The problems whose optima are enumerated."""
OPTIMUM_PROOF, EDGES_PROOF = "optimum.proof.gz", "edges.proof.gz"
_MOST_LINKS = 3_000_000
_INTEGRAL, _TRIES = 1e-6, 3
_SHARE = 0.05  # of the time left, for a search by CP-SAT


@dataclass(frozen=True)
class SharedEdges:
    """The optima found, and the class of each edge.

    Attributes
    ----------
    value : int or None
        The optimum; None if it was not proven in time: then `overlays` has the best one found.
    overlays : tuple of Overlay
        Distinct overlays of cost at most `value` + the tolerance, without redundant edges.
    complete : bool
        Whether these are all of them.
    edges : int32 array, shape (m, 2)
        All pairs with a topic in common, u < v, in order. No other pair is in any of the overlays.
    classes : array of str, shape (m,)
        Of `CLASSES`: the edge is in every such overlay, in some but not all, in none, or open, all by proof.
    """

    value: int | None
    overlays: tuple[Overlay, ...]
    complete: bool
    edges: Ids
    classes: npt.NDArray[np.str_]

    @property
    def shares(self) -> Reals:
        """The share of the overlays listed that have each edge."""
        if not self.overlays or not len(self.edges):
            return np.zeros(len(self.edges))
        keys = self.edges[:, 0].astype(np.int64) * self.overlays[0].num_nodes + self.edges[:, 1]
        having: Reals = np.mean([np.isin(keys, keys_of(overlay)) for overlay in self.overlays], axis=0)
        return having


def shared_edges(
    instance: TopicInstance,
    problem: AnyTopicProblem,
    *,
    most: int = 100,
    within: int = 0,
    seed: int = 0,
    time_limit: float | None = None,
    proof: Path | None = None,
) -> SharedEdges:
    """List up to `most` optimal overlays, and settle which edges are in every one, in some and in none.

    Parameters
    ----------
    within : int
        Overlays may cost so much more than the optimum.
    proof : Path, optional
        A folder for proofs of the optimum and of the edges in every overlay and in none. With a tolerance, edges that
        CP-SAT excludes are not in the proof.

    Raises
    ------
    BadInput
        For another problem, or an instance with too many pairs.

    Notes
    -----
    Exponential in the worst case: a search an edge that the LP leaves open, and a search at most for each edge and each
    overlay listed. Interrupted, or after the time limit, edges not settled are open.
    """
    if problem.name not in SHARING:
        raise BadInput(f"problem '{problem.name}': the optima of {', '.join(SHARING)} are listed: take one of these")
    if within and not problem.objective.free:
        raise BadInput(f"a tolerance of {within} for '{problem.name}': list its optima alone (0)")
    if (links := count_links(instance)) > _MOST_LINKS:
        raise BadInput(f"{links:,} pairs of subscribers of a topic: at most {_MOST_LINKS:,}: take a sample of nodes")
    with interruptible(time_limit) as clock:
        paths = (None, None) if proof is None else (proof / OPTIMUM_PROOF, proof / EDGES_PROOF)
        result = BRANCH_AND_CUT.run(instance, problem, seed=seed, time_limit=clock.left, proof=paths[0])
        if result.answer is None or result.value is None:
            raise BadInput(f"{problem.name}: {result.reason or result.status}: allow more time")
        with ProofFile(paths[1]) as file:
            search = _Search(instance, problem, result.answer, int(result.value) + within, clock, file, seed)
            if result.status is not Status.OPTIMAL or clock.passed:
                return search.outcome(None, (result.answer,), complete=False)
            search.settle()
            search.write_claim()
        complete = search.enumerate(most)
        listed = tuple(search.edges.overlay(chosen) for chosen in search.pool.members[:most])
        return search.outcome(int(result.value), listed, complete=complete and len(search.pool.members) <= most)


class _Pool:
    """The distinct overlays found so far, as selections of the candidate edges.

    `inside` has the edges of any, `outside` those that any misses; `telling` the overlays that added to one of them.
    """

    def __init__(self, size: int) -> None:
        self.members: list[Flags] = []
        self.telling: list[Flags] = []
        self.inside, self.outside = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
        self._known: dict[bytes, int] = {}

    def add(self, chosen: Flags) -> int:
        """The number of a selection, which may be known already."""
        number = self._known.setdefault(np.packbits(chosen).tobytes(), len(self.members))
        if number == len(self.members):
            self.members.append(chosen)
            if (chosen & ~self.inside).any() or (~chosen & ~self.outside).any():
                self.telling.append(chosen)
            self.inside |= chosen
            self.outside |= ~chosen
        return number


class _Search:
    """Overlays of cost at most `limit`; `lower` and `upper` bound each edge's column in all of them, by proof."""

    def __init__(
        self,
        instance: TopicInstance,
        problem: AnyTopicProblem,
        start: Overlay,
        limit: int,
        clock: Clock,
        file: ProofFile,
        seed: int,
    ) -> None:
        self.instance, self.problem, self.start, self.limit, self.clock = instance, problem, start, limit, clock
        self.tolerant, self._file, self._seed = problem.value(instance, start) < limit, file, seed
        self.goal = Goal.of(problem.objective, instance)
        self.planes: CuttingPlanes | StarPlanes
        if problem.objective.rule == "diameter-2" and count_links(instance) <= LP_LINKS:
            self.planes = StarPlanes(instance, others=True, every_edge=True)
        else:
            self.planes = CuttingPlanes(instance, self.goal, start, sparse=False)
        self.edges = self.planes.edges
        size = len(self.edges)
        self.costs = costs_of(self.edges.u, self.edges.v, self.goal.costs_on(instance.num_nodes))
        self.pool = _Pool(size)
        self.lower, self.upper = np.zeros(size, np.int8), np.ones(size, np.int8)

    @property
    def cutoff(self) -> int:
        """A bound above it, in units, excludes every overlay that counts."""
        return self.limit * self.planes.unit

    def chosen(self, overlay: Overlay) -> Flags:
        return np.isin(self.edges.keys, keys_of(overlay))

    def offer(self, chosen: Flags, kept: Bits | None = None) -> int | None:
        """The number of a selection in the pool; None if it is no overlay, or costs too much.

        With `kept`, redundant edges are dropped, those of `kept` last.
        """
        if self.tolerant and kept is not None:
            chosen = self._irredundant(chosen, kept)
        if self.costs[chosen].sum() > self.limit or self.problem.violations(self.instance, self.edges.overlay(chosen)):
            return None
        return self.pool.add(chosen)

    def _irredundant(self, chosen: Flags, kept: Bits) -> Flags:
        chosen = chosen.copy()
        members = np.flatnonzero(chosen)
        for edge in members[np.lexsort((-self.costs[members], kept[members]))]:
            chosen[edge] = False
            chosen[edge] = bool(self.problem.violations(self.instance, self.edges.overlay(chosen)))
        return chosen

    def settle(self) -> None:
        """Classify the edges: after this, those between `lower` and `upper` that the pool does not settle are open."""
        self.offer(self.chosen(self.start))
        root = self.planes.tighten(self.clock)
        if root is None:
            return
        self.root = root
        begin_proof(self._file, self.instance, self.problem, presolved(self.instance, implied=False))
        case = self._file.case()
        case.bound(0, root.proven)
        case.end(self.limit + 1)
        fix_by_reduced_cost(self.lower, self.upper, root, self.cutoff)
        for last in (False, True) if self.tolerant else (True,):
            for edge in np.flatnonzero(self.lower != self.upper).tolist():
                for value, known in ((1, self.pool.inside), (0, self.pool.outside)):
                    if not known[edge] and self.lower[edge] != self.upper[edge] and not self.clock.passed:
                        self._settle(edge, value, last=last)

    def _settle(self, edge: int, value: int, *, last: bool) -> None:
        """Find an overlay with the edge's column at a value, or exclude the value."""
        lower, upper = self.lower.copy(), self.upper.copy()
        (lower if value else upper)[edge] = value
        case = self._file.case(**{"with" if value else "without": self.planes.described(edge)})
        found, proven = self.find(lower, upper, case, exactly=last)
        case.end(self.limit + 1)
        if found is None and proven:
            (self.upper if value else self.lower)[edge] = 1 - value

    def find(self, lower: Bits, upper: Bits, case: ProofTree, *, exactly: bool = True) -> tuple[int | None, bool]:
        """An overlay within these bounds, which become narrower; without one, whether it is proven that there is none.

        Narrower bounds hold for every overlay that counts. CP-SAT is called only if `exactly`.
        """
        planes = self.planes
        bound = planes.tighten(self.clock, lower=lower, upper=upper, enough=self.cutoff)
        case.bound(0, None if bound is None else bound.proven)
        if bound is None:
            return None, False
        if bound.units > self.cutoff:
            return None, True
        x, witness = planes.lp.x[: len(self.edges)], _Witness(self, lower, upper)
        fix_by_reduced_cost(lower, upper, bound, self.cutoff)
        if planes.converged and np.minimum(x, 1 - x).max(initial=0) < _INTEGRAL:
            witness.offer_chosen(self.edges, x > 0.5)
        for _ in range(_TRIES):
            if witness.number is None:
                witness.build_along(self.edges, x)
        if self.tolerant and (lower > self.lower).any():
            if witness.number is not None or not exactly:
                return witness.number, witness.number is not None
            return self._find_needed(lower, upper)
        if witness.number is not None:
            return witness.number, True
        tree = TreeSearch(planes, witness, stop_at_first=True, progress=SearchLog("off"), proof=case)
        tree.run(self.clock, self.root, x, lower=lower, upper=upper)
        return witness.number, tree.complete

    def _find_needed(self, lower: Bits, upper: Bits) -> tuple[int | None, bool]:
        """As :meth:`find`, by CP-SAT: an overlay that needs each of its edges in `lower`."""
        objective, clock = self.problem.objective, self.clock.share(_SHARE)
        try:
            requirements = requirements_of(self.instance, clock, objective)
            model = build_model(requirements, Subproblem(objective), "levels", clock)
            model.require(model.edge.values(), [requirements.cost.get(e, 1) for e in model.edge], most=self.limit)
            model.costs = [0.0] * len(model.costs)
            for edge in np.flatnonzero((lower == 1) | (upper == 0)).tolist():
                ends = int(self.edges.u[edge]), int(self.edges.v[edge])
                model.lower[model.edge[ends]] = model.upper[model.edge[ends]] = int(lower[edge])
                if lower[edge] > self.lower[edge]:
                    _require_needed(model, ends, [t for t in requirements.topics if {*ends} <= {*t}])
            outcome = minimise_with_cp_sat(model, clock, answer=model.overlay, seed=self._seed)
        except (OutOfTime, ModelTooLarge):
            return None, False
        if outcome.answer is None:
            return None, not outcome.stopped
        return self.offer(self.chosen(outcome.answer), lower), True

    def built_along(self, x: Reals, lower: Bits, upper: Bits) -> Flags:
        """A selection by Greedy Merge along LP values, preferably within bounds."""
        self._seed += 1
        weights = (x + 0.01) / self.costs
        weights[lower == 1] = 1e3
        weights[upper == 0] *= 1e-6
        return self.chosen(
            weighted_greedy(self.edges, weights, cap=self.instance.num_nodes, overload=0.0, seed=self._seed)
        )

    def enumerate(self, most: int) -> bool:
        """Fill the pool with overlays, up to `most`; returns whether it has all of them."""
        if self.planes.best_units == 0 and not self.pool.members:
            return False
        branches = [(self.lower, self.upper, list(range(len(self.pool.members))))]
        while branches and len(self.pool.members) <= most:
            lower, upper, known = branches.pop()
            if not known:
                found, proven = self.find(lower, upper, NO_FILE.case())
                if found is None and not proven:
                    return False
                known = [] if found is None else [found]
            elif (lower != upper).any():
                bound = self.planes.tighten(self.clock, lower=lower, upper=upper, enough=self.cutoff)
                if bound is None:
                    return False
                fix_by_reduced_cost(lower, upper, bound, self.cutoff)
            free = np.flatnonzero(lower != upper)
            if len(free) and known:
                branches += self._halves(lower, upper, known, free)
        return not branches

    def _halves(
        self, lower: Bits, upper: Bits, known: list[int], free: npt.NDArray[np.int64]
    ) -> Iterator[tuple[Bits, Bits, list[int]]]:
        """Two branches on the edge that divides the known overlays most evenly, each with its part of them."""
        having = np.sum([self.pool.members[number][free] for number in known], axis=0)
        edge = free[np.argmax(np.minimum(having, len(known) - having))]
        for value in (0, 1):
            bits = lower.copy(), upper.copy()
            bits[1 - value][edge] = value
            yield *bits, [number for number in known if self.pool.members[number][edge] == value]

    def write_claim(self) -> None:
        """End the proof: overlays that have, and miss, the edges between `lower` and `upper`; and the optimum found."""
        if self._file.is_written:
            for chosen in self.pool.telling:
                self._file.line("seen", self.edges.overlay(chosen).edges.tolist())
            self._file.claim(None, None, self.start.edges.tolist())

    def outcome(self, value: int | None, overlays: tuple[Overlay, ...], *, complete: bool) -> SharedEdges:
        inside, outside = self.pool.inside, self.pool.outside
        settled = [self.lower == 1, self.upper == 0, inside & outside]
        classes = np.select(settled, [EVERY, NONE, SOME], OPEN)
        edges = np.stack([self.edges.u, self.edges.v], axis=1)
        return SharedEdges(value, overlays, complete, edges, classes)


class _Witness(Incumbent):
    """Any overlay that counts within bounds: `number` is that in the pool, and `value` then finite."""

    def __init__(self, search: _Search, lower: Bits, upper: Bits) -> None:
        self._search, self._lower, self._upper = search, lower.copy(), upper.copy()
        self.number: int | None = None

    @property
    def cutoff(self) -> int:
        return self._search.cutoff

    def offer_chosen(self, columns: object, chosen: Flags) -> None:
        self._take(self._search.offer(chosen[: len(self._search.edges)], self._lower))

    def build_along(self, edges: CandidateEdges, x: Reals) -> None:
        if self._search.goal.searchable:
            self._take(self._search.offer(self._search.built_along(x, self._lower, self._upper)))

    def _take(self, number: int | None) -> None:
        if number is not None:
            member = self._search.pool.members[number]
            if (member >= self._lower).all() and (member <= self._upper).all():
                self.number, self.value = number, 0.0


def _require_needed(model: OverlayModel, ends: Edge, topics: list[tuple[int, ...]]) -> None:
    """For one of the topics, the edge is the only one between two sides of the subscribers."""
    needed_by = [model.column() for _ in topics]
    model.require_some(needed_by)
    for here, subscribers in zip(needed_by, topics, strict=True):
        side = {v: model.column(int(v == ends[1]), int(v != ends[0])) for v in subscribers}
        for u, v in combinations(subscribers, 2):
            if (u, v) != ends:
                for one, other in ((side[u], side[v]), (side[v], side[u])):
                    model.require([here, model.edge[u, v], one, other], [-1, -1, -1, 1], least=-2)
