"""From a function that builds an overlay to a heuristic, a callable and a method; or a log of links to a method."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any, Generic, ParamSpec

from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from ...instances.topics.problems import AnyTopicProblem
from .kernels.partial_overlay import OverlayBuild
from .tie_breaking.greedy_rule import GreedyRule
from .tie_breaking.tie_search import TIES_OR_EXTREMES, GreedySteps, SolveUnderTies, steps_by
from .tie_breaking.ties import TIES

TOPIC_CONNECTED = ("min-tco", "minmax-tco", "low-tco")
DIAMETER_TWO = (*TOPIC_CONNECTED, "2d-star", "2d-true")
Given = ParamSpec("Given")


def heuristic(*options: Option) -> Callable[[Callable[Given, OverlayBuild]], Heuristic[Given]]:
    """Make a heuristic of a function that builds one overlay, whatever the problem, and proves nothing.

    The function takes the instance and, by name, `seed` and the options.
    """
    return lambda build: Heuristic(build, options)


class Heuristic(Generic[Given]):
    """A function that builds an overlay. A call validates the options given, and returns the overlay alone.

    `build`: the function itself, which returns the overlay with the counters of the run.
    """

    __name__: str

    def __init__(self, build: Callable[Given, OverlayBuild], options: tuple[Option, ...]) -> None:
        self.build: Callable[..., OverlayBuild] = build
        self._options = options
        update_wrapper(self, build)

    def __call__(self, *instance: Given.args, **given: Given.kwargs) -> Overlay:
        chosen = {option.name: option.parse(given[option.name]) for option in self._options if option.name in given}
        return self.build(*instance, **{**given, **chosen}).overlay

    def method(
        self,
        name: str,
        problems: tuple[str, ...],
        *,
        rule: Callable[..., GreedyRule] | None = None,
        steps: Callable[..., GreedySteps] | None = None,
        traced: Callable[..., GreedySteps] | None = None,
        inputs: tuple[str, ...] = (),
        **fields: Any,
    ) -> Method[TopicInstance, Overlay]:
        """The method of this heuristic; a time limit does not interrupt it.

        `rule`, callable, optional: takes the options but ``ties`` and returns what a greedy method does next. With the
        option ``ties``, it then has the values ``worst`` and ``best``, and runs have a trace: by `steps` and `traced`,
        as :class:`.SolveUnderTies` takes them, where these are not :func:`.steps_by` the rule. `**fields`: further
        fields of :class:`.Method`.
        """
        solve: Callable[..., Proposal[Overlay]] = self._solve
        options = self._options
        if rule is not None and TIES in options:
            steps = steps or partial(steps_by, rule)
            options = tuple(TIES_OR_EXTREMES if option == TIES else option for option in options)
            solve, inputs = SolveUnderTies(self._solve, steps, traced or steps), (*inputs, "trace")
        return Method(
            name=name,
            problems=problems,
            solve=solve,
            options=options,
            compiled=True,
            inputs=inputs,
            anytime=False,
            rule=rule,
            **fields,
        )

    def _solve(
        self, instance: TopicInstance, problem: AnyTopicProblem, *, seed: int, time_limit: float | None, **options: Any
    ) -> Proposal[Overlay]:
        built = self.build(instance, seed=seed, **options)
        return Proposal(built.overlay, counters=built.counters)
