"""Branch-and-cut for content-based overlays: directed cuts on the exact engine, branching on users first."""

from __future__ import annotations

import math
from functools import cache, partial

import numpy as np

from ...instances.clock import Clock
from ...instances.content.instance import ContentInstance
from ...instances.content.overlay import ContentOverlay
from ...instances.content.problems import CONTENT_PROBLEMS, ContentProblem
from ...instances.method import Method, Proposal
from ...instances.problem import Problem
from ..engine.progress import PROGRESS, Progress
from ..engine.tree_search import TreeSearch
from ..engine.ilp_solvers import THREADS
from .cuts import ContentCuts
from .exact import START, Proof, solve_content
from .incumbent import ContentIncumbent
from .model import ContentModel
from .starts import warm_up_heuristics


def content_branch_and_cut(
    instance: ContentInstance,
    problem: Problem[ContentInstance, ContentOverlay],
    *,
    seed: int = 0,
    time_limit: float | None = None,
    start: str = "best",
    threads: int = 1,
    progress: str = "auto",
) -> Proposal[ContentOverlay]:
    """A cheapest content-based overlay with proof, or the best one found with a proven bound.

    Parameters
    ----------
    seed : int
        Of the heuristics.
    time_limit : float, optional
        Seconds.
    start : {"best", "none"}
        Whether heuristics run first.
    threads : int
        Of the LP solver.
    progress : {"auto", "on", "off"}
        Lines on stderr.

    Returns
    -------
    Proposal
        Its bound is proven in integers at every node of the tree, up to a relative half of a millionth, at which nodes
        are cut off.

    Notes
    -----
    Exponential in the worst case; docs/content_exact.md has the formulation and measurements. P4 §IV.A.
    """
    assert isinstance(problem, ContentProblem)
    minimise = partial(_minimise, instance, problem, threads=threads, progress=progress)
    return solve_content(instance, problem, minimise, start=start, seed=seed, time_limit=time_limit)


def _minimise(
    instance: ContentInstance,
    problem: ContentProblem,
    start: ContentOverlay | None,
    clock: Clock,
    *,
    threads: int,
    progress: str,
) -> Proof:
    model = ContentModel(instance, problem.routing, clock=clock)
    planes = ContentCuts(model, threads=threads)
    incumbent = ContentIncumbent(model, problem, start, planes.unit)
    root = planes.tighten(clock, stall=1e-4 * planes.cost_scale)
    tree = TreeSearch(planes, incumbent, progress=Progress(progress))
    counters: dict[str, float | str] = {"nodes": 0, "cuts": planes.cuts, "columns": len(model.costs)}
    if root is None:
        return Proof(incumbent.answer, -math.inf, False, counters)
    counters["root_bound"] = round(planes.best_units / planes.unit, 6)
    if not planes.lp.feasible:
        return Proof(None, math.inf, True, counters)
    incumbent.improve_along(planes.columns, planes.lp.x, clock, goal=0.0, steps=0)
    tree.run(clock, root, planes.lp.x)
    counters |= {"nodes": tree.nodes, "cuts": planes.cuts, "simplex_iterations": planes.lp.iterations}
    if tree.complete and incumbent.answer is None:
        return Proof(None, math.inf, True, counters)
    return Proof(incumbent.answer, tree.units / planes.unit, tree.complete, counters)


@cache
def _warm_up() -> None:
    """Compile the kernels, and load the LP solver."""
    warm_up_heuristics()
    corners = np.array([[0.0, 2, 2], [2, 0, 2], [2, 2, 0]])
    users = ContentInstance(corners, 2 * corners, np.full(3, 9.0), np.ones((3, 1)), np.ones((3, 1), np.bool_))
    for problem in CONTENT_PROBLEMS:
        content_branch_and_cut(users, problem, progress="off")
        planes = ContentCuts(ContentModel(users, problem.routing))
        planes.violated(np.full(len(planes.columns), 0.3), exact=True)


CONTENT_BRANCH_AND_CUT: Method[ContentInstance, ContentOverlay] = Method(
    name="branch-and-cut",
    problems=tuple(problem.name for problem in CONTENT_PROBLEMS),
    summary="content: branch-and-cut on directed cuts of each publisher's arborescence",
    source="P4 §IV.A; docs/content_exact.md",
    exact=True,
    solve=content_branch_and_cut,
    options=(START, THREADS, PROGRESS),
    warm_up=_warm_up,
)
