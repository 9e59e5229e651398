"""How something is solved: one signature for every algorithm and model, and the judging of what they return."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Concatenate, Generic

from .errors import BadInput
from .option import Option, Value, complete
from .problem import Answer, Instance, Problem
from .result import Result, Status

_ROUNDING = 1e-6


@dataclass(frozen=True)
class Proposal(Generic[Answer]):
    """What a method itself returns, before a problem has judged it.

    `status` None means ``feasible``, or ``optimal`` where the lower bound equals the answer's value.
    """

    answer: Answer | None = None
    lower_bound: float | None = None
    status: Status | None = None
    counters: Mapping[str, float | str] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Method(Generic[Instance, Answer]):
    """A named way to answer some problems, and all that anything else has to know of it.

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
        and all `options` to a proposal.
    warm_up : callable, optional
        Compiles the method's kernels and loads its libraries, so that neither is counted as solving.
    inputs : tuple of str
        What `solve` takes beside the options and no text can give: ``mapper``, which applies a function to independent
        parts of the work, or ``overlay``, an answer to begin with. Each may be left out.
    anytime : bool
        Whether it has an answer when a time limit or Ctrl-C ends it early.
    random : bool
        Whether another seed may give another answer under the default options.
    pace : float
        How fast it is: about how many nanoseconds a pair of subscribers of one topic takes it (topics), or its rank
        among the methods of its kind. Lists run from fast to slow.
    starts : tuple of str
        The problems whose exact methods take its answer as a first incumbent.
    promising : tuple of str
        The problems on which method ``best`` runs it before faster ones.
    colour, marker : str
        In figures, as matplotlib names them; "" for the next free one.
    """

    name: str
    problems: tuple[str, ...]
    summary: str
    source: str
    solve: Callable[Concatenate[Instance, Problem[Instance, Answer], ...], Proposal[Answer]]
    exact: bool = False
    options: tuple[Option, ...] = ()
    warm_up: Callable[[], None] | None = None
    inputs: tuple[str, ...] = ()
    anytime: bool = True
    random: bool = False
    pace: float = 1000.0
    starts: tuple[str, ...] = ()
    promising: tuple[str, ...] = ()
    colour: str = ""
    marker: str = ""

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
    method: str, instance: Instance, problem: Problem[Instance, Answer], found: Proposal[Answer], seconds: float
) -> Result[Answer]:
    """The result of what a method found, by the problem's own `value` and `violations`."""

    def failed(reason: str) -> Result[Answer]:
        return Result(
            problem=problem.name,
            method=method,
            status=Status.FAILED,
            seconds=seconds,
            counters=found.counters,
            reason=reason,
        )

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
        return Result(
            problem=problem.name,
            method=method,
            status=status,
            value=None,
            lower_bound=bound,
            answer=None,
            seconds=seconds,
            measures={},
            counters=found.counters,
            reason=reason,
        )
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
        problem=problem.name,
        method=method,
        status=status,
        value=value,
        lower_bound=value if closed else bound,
        answer=found.answer,
        seconds=seconds,
        measures=problem.measures(instance, found.answer),
        counters=found.counters,
        reason=found.reason,
    )
