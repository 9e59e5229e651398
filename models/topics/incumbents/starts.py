"""Overlays of the heuristics: a start for a solver, and the incumbent if it finds nothing better."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ....heuristics.topics.greedy_merge import greedy_merge
from ....instances.catalogue import methods_of
from ....instances.clock import Clock
from ....instances.method import Method
from ....instances.option import Option
from ....instances.overlay import Overlay
from ....instances.problem import Problem
from ....instances.topics.instance import TopicInstance
from ...engine.stoppable import Answer, finished_within

START = Option("start", "best", "the heuristic overlay handed in: the best one, or none", choices=("best", "none"))


def heuristic_overlays(
    instance: TopicInstance, problem: Problem[TopicInstance, Overlay], *, seed: int, clock: Clock
) -> list[Overlay]:
    """The overlays of the problem's own heuristics with their default options, the best first.

    Heuristics that the clock does not leave time for bring nothing. Cost: the heuristics'.
    """
    overlays = []
    for method in _heuristics_for(problem.name):
        solve = partial(
            method.solve, instance, problem, seed=seed, time_limit=None, **method.complete({}, problem.name)
        )
        found = _run(solve, instance, clock)
        if found is not None and found.answer is not None:
            overlays.append(found.answer)
    return sorted(overlays, key=lambda overlay: problem.value(instance, overlay))


def greedy_merge_or_stars(instance: TopicInstance, clock: Clock) -> Overlay:
    """The overlay of Greedy Merge, or :func:`stars` if the clock leaves no time for it."""
    return _run(partial(greedy_merge, instance), instance, clock) or stars(instance)


def stars(instance: TopicInstance) -> Overlay:
    """The star of each topic at its first subscriber: it answers every problem, in time O(Σ|T_v| log Σ|T_v|)."""
    sizes = np.diff(instance.topic_offsets)
    centres = np.repeat(instance.topic_nodes[instance.topic_offsets[:-1]], sizes)
    others = centres != instance.topic_nodes
    return Overlay.from_edges(instance.num_nodes, np.stack([centres[others], instance.topic_nodes[others]], axis=1))


def warm_up_heuristics() -> None:
    """Compile what :func:`heuristic_overlays` runs."""
    for method in methods_of("overlaybench.heuristics.topics"):
        if method.starts:
            method.prepare()


def _heuristics_for(problem: str) -> list[Method[TopicInstance, Overlay]]:
    return [method for method in methods_of("overlaybench.heuristics.topics") if problem in method.starts]


def _run(work: Callable[[], Answer], instance: TopicInstance, clock: Clock) -> Answer | None:
    sizes = np.diff(instance.topic_offsets).astype(np.float64)
    steps = instance.num_nodes**2 + (sizes**2).sum() * int(np.diff(instance.node_offsets).max())
    return finished_within(clock, work, steps=float(steps))
