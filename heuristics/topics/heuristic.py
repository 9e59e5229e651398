"""What the Method constants of the topic heuristics share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ...instances.contract.method import Proposal
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.topics.instance import TopicInstance
from .kernels.partial_overlay import OverlayBuild
from .kernels.ties import RULES

TOPIC_CONNECTED = ("min-tco", "minmax-tco", "low-tco")
DIAMETER_TWO = (*TOPIC_CONNECTED, "2d-star", "2d-true")


def solve_by(build: Callable[..., OverlayBuild]) -> Callable[..., Proposal[Overlay]]:
    """`solve` of a method that builds one overlay, whatever the problem, and proves nothing.

    `build` takes the instance and, by name, `seed` and the method's options. `time_limit` does not interrupt it.
    """

    def solve(
        instance: TopicInstance,
        problem: Problem[TopicInstance, Overlay],
        *,
        seed: int,
        time_limit: float | None,
        **options: Any,
    ) -> Proposal[Overlay]:
        result = build(instance, seed=seed, **options)
        return Proposal(result.overlay, counters=result.counters)

    return solve


def warm_up_by(build: Callable[..., OverlayBuild], **options: object) -> Callable[[], None]:
    """`warm_up` of a method: a small overlay, built with the given options under every rule for ties."""

    @cache
    def warm_up() -> None:
        wants = ("abc", "abd", "abe", "cdf", "cef", "def", "g", "g", "h")
        instance = TopicInstance.from_subscriptions({f"n{v}": list(topics) for v, topics in enumerate(wants)})
        for ties in RULES:
            build(instance, seed=0, ties=ties, **options)

    return warm_up


def trial_instance() -> TopicInstance:
    """A small instance that the warm-ups of local search and of exact methods solve."""
    return TopicInstance.from_subscriptions({f"n{v}": [f"t{v * k % 7}" for k in range(1, 4)] for v in range(1, 14)})
