"""How a heuristic that builds an overlay becomes a method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from ...instances.method import Method, Proposal
from ...instances.option import Option
from ...instances.overlay import Overlay
from ...instances.problem import Problem
from ...instances.topics.instance import TopicInstance
from .kernels.growth import OverlayBuild
from .kernels.ties import RULES, TIES
from .tie_search.extremes import with_extremes

TOPIC_CONNECTED = ("min-tco", "minmax-tco", "low-tco")
DIAMETER_TWO = (*TOPIC_CONNECTED, "2d-star", "2d-true")


def heuristic(
    name: str,
    build: Callable[..., OverlayBuild],
    *,
    problems: tuple[str, ...],
    summary: str,
    source: str,
    options: tuple[Option, ...] = (),
    warm_up_with: Mapping[str, object] | None = None,
    **more: Any,
) -> Method[TopicInstance, Overlay]:
    """The method that builds an overlay in polynomial time and proves nothing about it.

    `build` takes the instance and, by name, `seed` and the options; which problem is asked makes no difference.
    `warm_up_with` are options that make it call all its kernels, where its defaults do not. `more` are further
    attributes of :class:`.Method`.
    `time_limit` does not interrupt it: half an overlay answers nothing. Whoever runs it may end it from outside.
    """

    def solve(
        instance: TopicInstance,
        problem: Problem[TopicInstance, Overlay],
        *,
        seed: int,
        time_limit: float | None,
        **options: Any,
    ) -> Proposal[Overlay]:
        built = build(instance, seed=seed, **options)
        return Proposal(built.overlay, counters=built.counters)

    warm_up = _warm_up(build, options, warm_up_with or {})
    method: Method[TopicInstance, Overlay] = Method(
        name=name,
        problems=problems,
        summary=summary,
        source=source,
        solve=solve,
        options=options,
        warm_up=warm_up,
        anytime=False,
        **more,
    )
    return with_extremes(method)


def _warm_up(
    build: Callable[..., OverlayBuild], options: tuple[Option, ...], given: Mapping[str, object]
) -> Callable[[], None]:
    @cache
    def warm_up() -> None:
        for chosen in [{"ties": rule} for rule in RULES] if TIES in options else [{}]:
            build(_two_triangles(), seed=0, **chosen, **given)

    return warm_up


def _two_triangles() -> TopicInstance:
    """An instance on which every kernel of every heuristic is called."""
    return TopicInstance.from_subscriptions(
        {
            "n0": ["a", "b", "c"],
            "n1": ["a", "b", "d"],
            "n2": ["a", "b", "e"],
            "n3": ["c", "d", "f"],
            "n4": ["c", "e", "f"],
            "n5": ["d", "e", "f"],
            "n6": ["g"],
            "n7": ["g"],
            "n8": ["h"],
        }
    )


def trial_instance() -> TopicInstance:
    """A small instance with something to search, for the warm-ups of local search and models."""
    return TopicInstance.from_subscriptions({f"n{v}": [f"t{v * k % 7}" for k in range(1, 4)] for v in range(1, 14)})
