"""Stages: each improves the answer or the bound of a run; methods `auto`, `best`, `lp-bound`, `branch-and-cut` are
lists of them.

The first stage has an overlay and a bound at any size within seconds. A stage takes what is known, and what it finds is
offered at once, so that a run has it wherever it is ended.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...heuristics.topics.local_search.polish import is_judged_within
from ...heuristics.topics.local_search.repair import repaired
from ...instances.contract.catalogue import PROBLEMS
from ...instances.contract.method import Proposal
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Status
from ...instances.runtime.run import Clock, OutOfTime, interruptible, offer, on_trial
from ...instances.runtime.stoppable import finished_within
from ...instances.topics.instance import TopicInstance
from ...instances.topics.objective import Objective
from ...instances.topics.problems import AnyTopicProblem
from ..engine.exact_method import SolverOutcome
from ..engine.proof import ProofFile
from .lp_heuristics.lp_guided import heuristic_overlays, quick_overlays
from .relaxation.cutting_planes import begin_proof
from .relaxation.dual_fitting import quick_bounds
from .relaxation.presolve import Presolved, presolved
from .relaxation.topic_rows import count_links, keys_of
from .search.edge_minimisation import SearchSettings


@dataclass(frozen=True)
class StartParameters:
    """What the first stages do.

    Attributes
    ----------
    at_once, few_rows : int
        Pairs of subscribers of a topic and subscriptions up to which any heuristic ends within a second: no quick
        answer comes before.
    presolving : float
        Seconds, at most, of presolve, for each pair of topics of a node: without the time, there is none.
    leaves : int
        Subscriptions up to which presolve takes leaves away: to move an overlay may cost O(edges) for each of them.
    first_share, share : float
        The part of the time left that the first heuristic has, and that all others have together.
    """

    at_once: int = 1_000_000
    few_rows: int = 20_000
    presolving: float = 5e-7
    leaves: int = 4_000_000
    first_share: float = 1.0
    share: float = 0.5


PARAMETERS = StartParameters()
INFEASIBLE = "no topic-connected overlay keeps the limits of the objective"


@dataclass
class Run:
    """What is asked and what is known; the instance has the objective's costs.

    `answers` are valid, in the order in which they were found; `best` is the first of least `value`, infinite without
    one; `starts` are those of heuristics, the best first. The bound is −inf where no stage proves one. `earlier` is an
    overlay of these nodes that is to be repaired.
    """

    instance: TopicInstance
    problem: AnyTopicProblem
    clock: Clock
    settings: SearchSettings
    presolve: bool = True
    by: str = "auto"
    earlier: Overlay | None = None
    answers: list[Overlay] = field(default_factory=list)
    starts: list[Overlay] = field(default_factory=list)
    bound: float = -math.inf
    stopped: bool = False
    infeasible: bool = False
    reason: str = ""
    counters: dict[str, float | str] = field(default_factory=dict)
    reduced: Presolved | None = None
    stage: str = ""
    value: float = math.inf
    best: Overlay | None = None

    @property
    def objective(self) -> Objective:
        objective: Objective = self.problem.objective
        return objective

    def take(self, *overlays: Overlay) -> None:
        """Note valid answers of the current stage, and offer each better one."""
        for overlay in overlays:
            self.answers.append(overlay)
            if (value := self.problem.value(self.instance, overlay)) < self.value:
                self.best, self.value, self.counters["value_by"] = overlay, value, self.stage
                self.show(overlay)

    def show(self, overlay: Overlay) -> None:
        """Offer a valid answer, where there is time to judge it."""
        if is_judged_within(self.instance, overlay, self.clock):
            offer(overlay)

    @cached_property
    def is_large(self) -> bool:
        """Whether heuristics may end late: what they find is offered at once."""
        return count_links(self.instance) > PARAMETERS.at_once

    def prove(self, bound: float) -> None:
        """Note a bound that the current stage proves."""
        if bound > self.bound:
            self.bound, self.counters["bound_by"] = bound, self.stage
            offer(lower_bound=bound)

    def conclude(self, outcome: SolverOutcome[Overlay], bound: float) -> None:
        """Note what a search ended with, and the bound that it proves."""
        self.infeasible = outcome.answer is None and bound == math.inf
        if outcome.answer is not None:
            self.take(outcome.answer)
            if self.earlier is None and self.problem.value(self.instance, outcome.answer) == self.value:
                self.best = outcome.answer  # of equals, the search's own; of repairs, that of fewest changes
        if math.isfinite(bound):
            self.prove(bound)
        self.stopped |= outcome.stopped
        self.reason = outcome.reason or self.reason
        self.counters |= outcome.counters

    @cached_property
    def simple_bounds(self) -> tuple[int, int]:
        """Bounds on edges and degree without pairs of nodes."""
        return quick_bounds(self.instance)

    def reduce(self, *, implied: bool, leaves: bool) -> Presolved:
        """The presolved instance, once; the proof begins with the steps."""
        if self.reduced is None:
            steps = float((np.diff(self.instance.node_offsets).astype(np.float64) ** 2).sum())
            wanted = self.presolve and PARAMETERS.presolving * steps < self.clock.left
            leaves = wanted and leaves and self.instance.num_subscriptions <= PARAMETERS.leaves
            self.reduced = presolved(self.instance, implied=wanted and implied, leaves=leaves)
            begin_proof(self.settings.proof, self.instance, self.problem, self.reduced)
            self.counters |= self.reduced.counters
        return self.reduced

    def proposal(self) -> Proposal[Overlay]:
        """The answer with its bound; the proof ends with the claim."""
        best, bound = self.best, None if self.bound == -math.inf else float(self.bound)
        if best is not None and self.earlier is not None:
            before, now = keys_of(self.earlier), keys_of(best)
            added, removed = (len(np.setdiff1d(*each)) for each in ((now, before), (before, now)))
            self.counters |= {"links_added": added, "links_removed": removed}
        if best is not None and bound is not None and self.reduced is not None:
            self.settings.proof.claim(self.value, bound, best.edges.tolist())
        reason = self.clock.stopped_by or self.reason
        if self.infeasible:
            return Proposal(status=Status.INFEASIBLE, counters=self.counters, reason=INFEASIBLE)
        stopped = self.stopped or best is None
        return Proposal(best, bound, Status.TIME_LIMIT if stopped else None, self.counters, reason)


class Stage(NamedTuple):
    """A step of a run, and what it is called in results."""

    name: str
    run: Callable[[Run], None]


def repair(run: Run) -> None:
    """The earlier overlay, if there is one, as :func:`.repaired` for these subscriptions; where it is valid."""
    if run.earlier is None:
        return
    work = partial(repaired, run.instance, run.earlier, lambda: run.clock.passed)
    overlay = finished_within(run.clock, work, steps=float(count_links(run.instance)))
    if overlay is not None and not run.problem.violations(run.instance, overlay):
        run.take(overlay)


def simple_bound(run: Run) -> None:
    """The bound that needs no pairs of nodes."""
    simple = run.objective.value(*run.simple_bounds)
    if run.settings.proof.is_written:  # the proof would lack it
        offer(lower_bound=simple)
    else:
        run.prove(simple)
        run.infeasible = run.objective.cap is not None and run.simple_bounds[1] > run.objective.cap


def first_answers(run: Run, *, always: bool = False) -> None:
    """Stars or rings, and the simple bounds, before anything that may not end; nothing where all heuristics end soon.

    Time O(Σ|T_v| log Σ|T_v|), and that of :func:`.quick_bounds`.
    """
    is_large = run.is_large or run.instance.num_subscriptions > PARAMETERS.few_rows
    if always or on_trial.get() or is_large:
        if run.objective.cap is not None:  # no overlay may keep it
            simple_bound(run)
            if run.infeasible:
                return
        for overlay in quick_overlays(run.instance, run.problem):
            run.take(overlay)
            if run.bound == -math.inf:
                simple_bound(run)
            if run.clock.passed:
                return
        simple_bound(run)


def heuristic_starts(run: Run, parameters: StartParameters = PARAMETERS) -> None:
    """The heuristics that exact methods start from, each of which may end by its part of the time."""
    run.starts = heuristic_overlays(
        run.instance,
        run.problem,
        seed=run.settings.seed,
        clock=run.clock.share(parameters.first_share),
        share=parameters.share,
        known_answer=run.best,
        shown=run.show if run.is_large else None,
    )
    run.take(*run.starts)
    if run.earlier is not None and run.best is not None:
        run.starts.insert(0, run.best)


REPAIR = Stage("repair", repair)
FIRST_ANSWERS, STARTS = Stage("first answers", first_answers), Stage("heuristics", heuristic_starts)


def is_searched(problem: AnyTopicProblem | str) -> bool:
    """Whether a problem, perhaps given by name, has an objective that stages lower."""
    found = PROBLEMS.get(problem) if isinstance(problem, str) else problem
    objective = None if found is None else found.objective
    if not isinstance(objective, Objective):
        return False
    return objective.rule == "connected" or objective.first == "edges"


def solve_in_stages(
    stages: Callable[[Run], Iterable[Stage]],
    instance: TopicInstance,
    problem: AnyTopicProblem,
    *,
    seed: int,
    time_limit: float | None,
    presolve: bool = True,
    by: str = "auto",
    proof: str | Path | None = None,
    overlay: Overlay | None = None,
    **search: Any,
) -> Proposal[Overlay]:
    """Run stages until the bound meets the value, the time is over, or none is left.

    The seed is that of all searches: one seed gives one answer, unless the time limit (seconds), Ctrl-C or running out
    of memory ends the run. `proof` names the file for a proof of the bound (docs/proofs.md), `overlay` is an earlier
    one, which stage ``repair`` takes; `search` has the other fields of :class:`.SearchSettings`. Where a stage ends by
    a lack of time or memory, what is known is the result.
    """
    objective: Objective = problem.objective
    with interruptible(time_limit) as clock, ProofFile(proof) as file:
        settings = SearchSettings(seed=seed, **search, proof=file, near=presolve)
        run = Run(objective.priced(instance), problem, clock, settings, presolve, by, overlay)
        try:
            for stage in stages(run):
                if clock.passed and run.best is not None and run.bound > -math.inf:
                    run.stopped = True
                    break
                run.stage = stage.name
                stage.run(run)
                if run.infeasible or run.bound >= run.value:
                    break
        except OutOfTime:
            run.stopped = True
        except MemoryError:
            if run.best is None:
                raise
            run.stopped, run.reason = True, "out of memory"
        return run.proposal()
