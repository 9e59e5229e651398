"""Method `auto`: the stages that an instance's size and the time allow, an answer and a bound within seconds first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from ...heuristics.topics.greedy_merge import GREEDY_MERGE
from ...heuristics.topics.merge.divide_and_conquer import dc_gm
from ...instances.contract.method import Method
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.runtime.stoppable import finished_within
from ...instances.topics.instance import TopicInstance
from ...instances.topics.problems import TOPIC_PROBLEMS
from ..engine.exact_method import PROGRESS
from ..engine.parallel_tree import THREADS
from .best import IMPROVEMENT
from .best import PARAMETERS as EXPECTED
from .branch_and_cut import TREE
from .lp_bound import BOUNDS
from .relaxation.presolve import PRESOLVE
from .relaxation.price_join import processors
from .relaxation.topic_rows import count_links
from .search.edge_minimisation import SearchSettings
from .stages import (
    FIRST_ANSWERS,
    REPAIR,
    STARTS,
    Run,
    Stage,
    StartParameters,
    heuristic_starts,
    is_searched,
    solve_in_stages,
)


@dataclass(frozen=True)
class SizeLimits:
    """Where the stages of large instances begin.

    Attributes
    ----------
    tree_links : int
        Pairs of subscribers of a topic up to which branch-and-cut follows the heuristics. Beyond, cost splitting proves
        the same bound sooner, and its overlay is better: with 1,400,000 pairs (3,000 customers) and 20 s of a loaded
        machine 13,556 of 13,544, branch-and-cut 13,639 of 13,403.
    """

    tree_links: int = 500_000


@dataclass(frozen=True)
class PartParameters:
    """How Greedy Merge begins on instances for all of which there is no time.

    Attributes
    ----------
    share : float
        The most of the time left that Greedy Merge on all nodes is expected to take.
    of_parts : float
        What all parts take. Overlays along a split of costs are better, and need the rest: of 10,000,000 subscriptions
        Greedy Merge takes 800 s of a processor, in ten parts 90 s, with 35% more edges.
    """

    share: float = 0.35
    of_parts: float = 0.1


LIMITS = SizeLimits()
_OF_LARGE = StartParameters(first_share=0.8, share=0.1)


def starts_of_large(run: Run, parameters: PartParameters = PartParameters()) -> None:
    """Greedy Merge, and others; where it takes too long, on parts of the nodes and between representatives of each."""
    instance, left = run.instance, run.clock.left
    expected = EXPECTED.expected(GREEDY_MERGE, instance)
    by_edges = run.objective.free and run.objective.first == "edges"
    if by_edges and expected / processors(instance) > parameters.share * left > 0:
        parts = math.ceil(expected / (parameters.of_parts * left))  # which take 1 ÷ parts of it
        merge = partial(dc_gm, instance, eta=instance.num_topics, partitions=parts)
        if (overlay := finished_within(run.clock, merge, steps=math.inf)) is not None:
            run.take(overlay)
    else:
        heuristic_starts(run, _OF_LARGE)


def stages(run: Run, limits: SizeLimits = LIMITS) -> Iterator[Stage]:
    """The stages of a run: up to a tree for small instances, the bound and local search for others.

    A problem that local search does not lower, as its topics need more than connection, has the tree at any size: it
    ends with what its relaxation proves.
    """
    yield from (REPAIR, FIRST_ANSWERS)
    if not run.objective.free or count_links(run.instance) <= limits.tree_links:
        yield from (STARTS, TREE)
    else:
        yield from (Stage(STARTS.name, starts_of_large), BOUNDS, IMPROVEMENT)


AUTO: Method[TopicInstance, Overlay] = Method(
    name="auto",
    problems=tuple(each.name for each in TOPIC_PROBLEMS),
    models=is_searched,
    summary="by the instance's size and the time: heuristics, then branch-and-cut, or a bound and local search",
    source="docs/sizes.md",
    guarantee="a valid overlay and a proven bound at any size; the optimum with proof where it ends by itself",
    cost="the first overlay and bound O(Σ|T_v| log Σ|T_v|); then what the time limit allows",
    bounds=True,
    engine="branch-and-cut",
    random=True,
    solve=partial(solve_in_stages, stages),
    options=(
        PRESOLVE,
        Option(
            "steps", SearchSettings.steps, "steps of local search, each time, without a time limit", least=0, most=10**9
        ),
        THREADS,
        PROGRESS,
    ),
    inputs=("proof", "overlay"),
    repairs=True,
    compiled=True,
)
