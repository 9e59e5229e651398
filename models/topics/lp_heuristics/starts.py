"""Overlays of the heuristics, as starts and first incumbents of exact methods."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ....heuristics.topics.greedy_merge import greedy_merge
from ....heuristics.topics.ring_per_topic import harary_per_topic
from ....instances.contract.catalogue import methods_of
from ....instances.contract.overlay import Overlay
from ....instances.contract.problem import Problem
from ....instances.contract.run import Clock
from ....instances.topics.instance import TopicInstance
from ...engine.stoppable import Answer, finished_within


def heuristic_overlays(
    instance: TopicInstance, problem: Problem[TopicInstance, Overlay], *, seed: int, clock: Clock
) -> list[Overlay]:
    """The overlays of the problem's own heuristics with their default options, the best first.

    A heuristic that does not end in time adds none. Cost: the heuristics'.
    """
    overlays = []
    for method in methods_of("overlaybench.heuristics.topics"):
        if problem.name in method.starts:
            options = method.complete({}, problem.name)
            solve = partial(method.solve, instance, problem, seed=seed, time_limit=None, **options)
            proposal = _run(solve, instance, clock)
            if proposal is not None and proposal.answer is not None:
                overlays.append(proposal.answer)
    return sorted(overlays, key=lambda overlay: problem.value(instance, overlay))


def greedy_merge_or_stars(instance: TopicInstance, clock: Clock) -> Overlay:
    """The overlay of Greedy Merge, or :func:`stars` if the clock leaves no time for it."""
    return _run(partial(greedy_merge, instance), instance, clock) or stars(instance)


def any_overlay(instance: TopicInstance, problem: Problem[TopicInstance, Overlay]) -> Overlay:
    """A valid overlay in time O(Σ|T_v| log Σ|T_v|): rings for fault tolerance, else :func:`stars`."""
    return harary_per_topic(instance, order="number") if problem.name == "k-tco" else stars(instance)


def stars(instance: TopicInstance) -> Overlay:
    """The star of each topic at its first subscriber, valid for all problems but ``k-tco``.

    Time O(Σ|T_v| log Σ|T_v|).
    """
    sizes = np.diff(instance.topic_offsets)
    centres = np.repeat(instance.topic_nodes[instance.topic_offsets[:-1]], sizes)
    others = centres != instance.topic_nodes
    return Overlay.from_edges(instance.num_nodes, np.stack([centres[others], instance.topic_nodes[others]], axis=1))


def _run(work: Callable[[], Answer], instance: TopicInstance, clock: Clock) -> Answer | None:
    sizes = np.diff(instance.topic_offsets).astype(np.float64)
    steps = instance.num_nodes**2 + (sizes**2).sum() * int(np.diff(instance.node_offsets).max())
    return finished_within(clock, work, steps=float(steps))
