"""How something is solved: one signature for every algorithm and model, and the judging of what they return."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Concatenate, Generic

from instances.errors import BadInput
from instances.option import Option, Value, complete
from instances.problem import Answer, Instance, Problem
from instances.result import Result, Status

_ROUNDING = 1e-6


@dataclass(frozen=True)
class Found(Generic[Answer]):
    """What a method itself returns, before anyone has judged it.

    `status` None means ``feasible``, or ``optimal`` where the lower bound equals the answer's value.
    """

    answer: Answer | None = None
    lower_bound: float | None = None
    status: Status | None = None
    counters: Mapping[str, float | str] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True)
class Method(Generic[Instance, Answer]):
    """A named way to answer some problems.

    Attributes
    ----------
    name, summary, source
        As listed; `source` names paper and section.
    problems : tuple of str
        The problems it answers.
    exact : bool
        Whether it proves optimality when given time.
    solve : callable
        The function behind it: from instance, problem and the keywords `seed`, `time_limit` (seconds; None means none)
        and all `options` to what it found.
    warm_up : callable, optional
        Compiles the method's kernels, so that compiling is not counted as solving.
    inputs : tuple of str
        What `solve` takes beside the options and no text can give: ``mapper``, which applies a function to parts that
        can be worked on apart, or ``overlay``, an answer to begin with. Each may be left out.
    whole : bool
        Whether it has a whole answer at its end and nothing before, so that neither time limit nor Ctrl-C gets one.
    """

    name: str
    problems: tuple[str, ...]
    summary: str
    source: str
    exact: bool
    solve: Callable[Concatenate[Instance, Problem[Instance, Answer], ...], Found[Answer]]
    options: tuple[Option, ...] = ()
    warm_up: Callable[[], None] | None = None
    inputs: tuple[str, ...] = ()
    whole: bool = False

    def prepare(self) -> None:
        """Warm up, if there is anything to."""
        if self.warm_up is not None:
            self.warm_up()

    def answering(self, problem: str) -> Method[Instance, Answer]:
        """The method that answers a problem under this name: here, this one."""
        return self

    def complete(self, options: Mapping[str, object], problem: str) -> dict[str, Value]:
        """All options with their values, defaults filled in; an unknown option or problem is bad input.

        `inputs` among the options are left out: they have no text.
        """
        if problem not in self.problems:
            raise BadInput(f"method '{self.name}' does not answer '{problem}': it answers {', '.join(self.problems)}")
        given = {name: value for name, value in options.items() if name not in self.inputs}
        return complete(self.options, given, f"method '{self.name}'")

    def run(
        self,
        instance: Instance,
        problem: Problem[Instance, Answer],
        *,
        seed: int = 0,
        time_limit: float | None = None,
        **options: object,
    ) -> Result[Answer]:
        """Solve, then judge: an invalid answer or a bound above its value becomes a ``failed`` result.

        Raises
        ------
        BadInput
            If the method does not answer the problem or an option is unknown or out of range.
        """
        chosen = self.complete(options, problem.name)
        inputs = {name: value for name, value in options.items() if name in self.inputs}
        self.prepare()
        start = time.perf_counter()
        found = self.solve(instance, problem, seed=seed, time_limit=time_limit, **chosen, **inputs)
        return judged(self.name, instance, problem, found, time.perf_counter() - start)


def judged(
    method: str, instance: Instance, problem: Problem[Instance, Answer], found: Found[Answer], seconds: float
) -> Result[Answer]:
    """The result of what a method found, by the problem's own `value` and `violations`."""

    def failed(reason: str) -> Result[Answer]:
        return Result(problem.name, method, Status.FAILED, seconds=seconds, counters=found.counters, reason=reason)

    bound = None if found.lower_bound == -math.inf else found.lower_bound
    if bound is not None and math.isnan(bound):
        return failed("the lower bound is not a number")
    if bound is not None and problem.integral and math.isfinite(bound):
        bound = float(math.ceil(bound - _ROUNDING))
    if found.answer is None:
        status = found.status or Status.FAILED
        if status in (Status.OPTIMAL, Status.FEASIBLE):
            return failed(f"said {status} without an answer")
        reason = found.reason or ("no answer and no reason" if status is Status.FAILED else "")
        return Result(problem.name, method, status, None, bound, None, seconds, {}, found.counters, reason)
    if found.status is Status.FAILED:
        return failed(found.reason or "the method said so")
    violations = problem.violations(instance, found.answer)
    if violations:
        return failed("invalid answer: " + "; ".join(violations))
    value = problem.value(instance, found.answer)
    tolerance = 0.0 if problem.integral else _ROUNDING * max(1.0, abs(value))
    if bound is not None and bound > value + tolerance:
        return failed(f"lower bound {bound:g} lies above the answer's value {value:g}")
    if found.status is Status.INFEASIBLE:
        return failed("said infeasible, and returned a valid answer")
    closed = bound is not None and bound >= value - tolerance
    if found.status is Status.OPTIMAL and not closed:
        return failed(f"said optimal with value {value:g} and lower bound {bound}")
    status = Status.OPTIMAL if closed else found.status or Status.FEASIBLE
    return Result(
        problem.name,
        method,
        status,
        value,
        value if closed else bound,
        found.answer,
        seconds,
        problem.measures(instance, found.answer),
        found.counters,
        found.reason,
    )
