"""Branch-and-cut for content-based overlays: directed cuts on the exact engine, branching on users first."""

from __future__ import annotations

import math

import numpy as np

from ...instances.content.instance import ContentInstance
from ...instances.content.problems import CONTENT_PROBLEMS, ContentOverlay, ContentProblem
from ...instances.contract.run import Clock, offer_bound
from ..engine.exact_method import START
from ..engine.ilp_solvers import THREADS
from ..engine.proof import NO_FILE, ProofFile
from ..engine.search_log import PROGRESS, SearchLog
from ..engine.tree_search import TreeSearch
from .cuts import ContentCuts
from .exact import Outcome, exact_method
from .incumbent import ContentIncumbent
from .model import ContentModel
from .proofs import begin_case


def minimise(
    instance: ContentInstance,
    problem: ContentProblem,
    start: ContentOverlay | None,
    clock: Clock,
    *,
    threads: int,
    progress: str,
    seed: int = 0,
    proof: ProofFile = NO_FILE,
) -> Outcome:
    """Minimise over the directed cut formulation (P4 §IV.A; docs/content.md); no step is random.

    The bound is proven in integers at every node of the tree, up to the relative tolerance of 5·10⁻⁷ at which nodes are
    cut off.
    """
    model = ContentModel(instance, problem.routing, clock=clock)
    planes = ContentCuts(model, threads=threads)
    incumbent = ContentIncumbent(model, problem, start, planes.unit)
    case = begin_case(proof, instance, planes.unit, model)
    root = planes.tighten(clock, stall=1e-4 * planes.cost_scale)
    tree = TreeSearch(planes, incumbent, progress=SearchLog(progress, on_bound=offer_bound), proof=case)
    counters: dict[str, float | str] = {"nodes": 0, "cuts": planes.cuts, "columns": len(model.costs)}
    if root is None:
        case.end(incumbent.value)
        return Outcome(incumbent.answer, stopped=True, counters=counters)
    counters["root_bound"] = round(planes.best_units / planes.unit, 6)
    case.bound(0, root.proven)
    if not planes.lp.feasible:
        case.end(incumbent.value)
        return Outcome(None, math.inf, counters=counters)
    incumbent.improve_along(planes.columns, planes.lp.x, clock, goal=0.0, steps=0)
    tree.run(clock, root, planes.lp.x)
    case.end(incumbent.value)
    counters |= {"nodes": tree.nodes, "cuts": planes.cuts, "simplex_iterations": planes.lp.iterations}
    if tree.complete and incumbent.answer is None:
        return Outcome(None, math.inf, counters=counters)
    return Outcome(incumbent.answer, tree.units / planes.unit, not tree.complete, counters)


def _load() -> None:
    corners = np.array([[0.0, 2, 2], [2, 0, 2], [2, 2, 0]])
    users = ContentInstance(corners, 2 * corners, np.full(3, 9.0), np.ones((3, 1)), np.ones((3, 1), np.bool_))
    for problem in CONTENT_PROBLEMS:
        minimise(users, problem, None, Clock(None), threads=1, progress="off")
        planes = ContentCuts(ContentModel(users, problem.routing))
        planes.violated(np.full(len(planes.columns), 0.3), exact=True)


CONTENT_BRANCH_AND_CUT = exact_method(
    "branch-and-cut",
    minimise,
    summary="content: branch-and-cut on directed cuts of each publisher's arborescence",
    options=(START, THREADS, PROGRESS),
    load=_load,
    proves=True,
)
