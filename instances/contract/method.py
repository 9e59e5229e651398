"""Methods: one signature for every heuristic and model, and the validation of what they return."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Concatenate, Generic

import numpy as np

from ..runtime.compiled import (
    Interpreter,
    briefly,
    compile_calls,
    interpreted,
    interpreting,
    mark_compiled,
    never_interpreted,
)
from ..runtime.run import PAUSES, OutOfTime, Trajectory, offer, on_trial, setting, solving
from ..runtime.signals import stopped
from .errors import BadInput, missing_extra
from .numbers import distinct
from .option import Option, Value, complete, keyed
from .problem import Answer, Instance, Problem, family_of
from .result import OUT_OF_MEMORY, Result, Status, Trace

_ROUNDING, _TRIAL_SECONDS = 1e-6, 0.5
_SMALL = 5000  # the largest size of an instance whose first run is interpreted
_PREPARED: set[Any] = set()


@dataclass(frozen=True)
class Proposal(Generic[Answer]):
    """The answer of a method with its bound and counters, before the problem validates the answer.

    A `status` of None means ``optimal`` if the lower bound equals the answer's value, else ``feasible``. `trace` is
    called once the run is over, so that it does not count in the run's seconds.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.Proposal(ob.Overlay.from_edges(2, [(0, 1)]), lower_bound=1).answer
    Overlay(2 nodes, 1 edges, maximum degree 1)
    """

    answer: Answer | None = None
    lower_bound: float | None = None
    status: Status | None = None
    counters: Mapping[str, float | str] = field(default_factory=dict)
    reason: str = ""
    trace: Callable[[], Trace] | None = None

    def __post_init__(self) -> None:
        """Take numbers of numpy as Python's; raise TypeError or ValueError for what no row of a study can hold."""
        counters = {name: each.item() if isinstance(each, np.generic) else each for name, each in self.counters.items()}
        if not all(type(each) in (int, float, str) and each == each for each in counters.values()):
            raise TypeError(f"the counters of a proposal are numbers or texts, not {counters}")
        if not isinstance(self.reason, str):
            raise TypeError(f"the reason of a proposal is a text, not {self.reason!r}")
        object.__setattr__(self, "counters", counters)
        object.__setattr__(self, "status", None if self.status is None else Status(self.status))


@dataclass(frozen=True, kw_only=True)
class Method(Generic[Instance, Answer]):
    """A named algorithm for some problems, with all its properties.

    Attributes
    ----------
    name, summary, source
        As listed; `source` names paper and section.
    problems : tuple of str
        The problems it answers.
    models : callable, optional
        Takes a problem, or its name, and returns whether it also answers this one, by what its objective states.
    solve : callable
        The function behind it: takes an instance, a problem and the keywords `seed`, `time_limit` (seconds or None)
        and all `options`, and returns a proposal.
    guarantee, cost : str
        What is proven of its answers, and its time and memory, for ``overlaybench list NAME``; a line each.
    exact : bool
        Whether it proves optimality, given enough time.
    bounds : bool
        Whether it proves lower bounds although it is not exact.
    engine : str
        The method that its proofs share their code with, if any: the two do not count as independent.
    skip : callable, optional
        Takes an instance and a problem and returns why the method does not apply to them, or ""; the run is then
        ``skipped``.
    compiled : bool
        Whether it calls compiled kernels: what a run calls on a trial instance is then compiled before (`prepare`).
    inputs : tuple of str
        Optional keywords of `solve` that are not options because text cannot express them: ``mapper``, which applies
        a function to independent parts of the work, ``overlay``, an initial answer, ``trace``, which asks for the
        choices in order, ``proof``, a file to write a proof to, or ``model_file``, one to write the model to, unsolved.
    repairs : bool
        Whether `overlay` may be one of earlier subscriptions: not valid, and with nodes that are gone.
    anytime : bool
        Whether it has an answer when a time limit or Ctrl-C ends it early: its own, or the best that it offered.
    random : bool
        Whether the answer depends on the seed under the default options.
    pace : float
        Its speed, by which lists are sorted: about how many nanoseconds it takes per pair of subscribers of a topic
        (topics), or its rank among the methods of its kind.
    rule : callable, optional
        Takes the options but ``ties`` and returns what the exhaustive search of ties on small instances needs
        (:mod:`overlaybench.heuristics.topics.tie_breaking.greedy_rule`); BadInput for options that it lacks.
    members : tuple of Method
        The methods of this name that :meth:`joined` combines; empty for a method of its own.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.METHODS["gm"].run(ob.read({"ann": ["news"], "bob": ["news"]}), ob.PROBLEMS["min-tco"]).value
    1
    """

    name: str
    problems: tuple[str, ...]
    summary: str
    source: str
    solve: Callable[Concatenate[Instance, Problem[Instance, Answer], ...], Proposal[Answer]]
    guarantee: str = ""
    cost: str = ""
    exact: bool = False
    bounds: bool = False
    engine: str = ""
    options: tuple[Option, ...] = ()
    models: Callable[[Problem[Any, Any] | str], bool] | None = None
    skip: Callable[[Instance, Problem[Instance, Answer]], str] | None = None
    compiled: bool = False
    inputs: tuple[str, ...] = ()
    repairs: bool = False
    anytime: bool = True
    random: bool = False
    pace: float = 1000.0
    rule: Callable[..., Any] | None = None
    members: tuple[Method[Any, Any], ...] = ()

    def __repr__(self) -> str:
        return f"Method({self.name}: {self.summary})"

    def is_interpreted(self, instance: Instance) -> bool:
        """Whether kernels are interpreted on this instance: compiling them would take far longer than the run."""
        return self.compiled and getattr(instance, "is_tiny", False) and not never_interpreted()

    def prepare(self, instance: Instance, problem: Problem[Instance, Answer], options: Mapping[str, Value]) -> bool:
        """Compile what a run with these options will call, on all cores, so that it does not count in the run's time.

        A trial instance shows what is called (:class:`.Interpreter`). Once for a problem and options in a process.
        Returns whether this was the first time. Where nothing is to be interpreted, the first calls compile.
        """
        trial = getattr(instance, "trial", None)
        if trial is None or not self.compiled or self.is_interpreted(instance) or never_interpreted():
            return False
        key = self._key(instance, problem, options)
        if key in _PREPARED:
            return False
        if calls := list(self.calls(trial(), problem, options).values()):
            compile_calls(calls)
        _PREPARED.add(key)
        mark_compiled(key)
        return True

    def run_briefly(
        self,
        instance: Instance,
        problem: Problem[Instance, Answer],
        *,
        seed: int = 0,
        time_limit: float | None = None,
        **options: object,
    ) -> Result[Answer] | None:
        """Run with interpreted kernels if they were never compiled on this machine and that takes a second at most.

        Compiling takes tens of seconds, on a small instance a thousand times as long as the run. None otherwise, and
        where an exact or anytime method proves no optimum in that time: compiled kernels find better answers.
        """
        chosen, member = self.complete(options, problem), self.answering(problem)
        small = max(getattr(instance, "size", {"": _SMALL + 1}).values()) <= _SMALL
        proves = member.exact or member.bounds
        if not (member.compiled and small) or member.is_interpreted(instance) or (member.anytime and not proves):
            return None
        run = partial(self.run, instance, problem, seed=seed, time_limit=time_limit, **options)
        result = briefly(member._key(instance, problem, chosen), run)
        done = Status.OPTIMAL if member.anytime or member.exact else Status.FEASIBLE
        return result if result and result.status is done else None

    def _key(self, instance: Instance, problem: Problem[Any, Any], options: Mapping[str, Value]) -> tuple[str, ...]:
        """What the kernels that a run calls depend on."""
        return self.name, problem.name, type(instance).__name__, str(sorted(options.items()))

    def calls(
        self, trial: Instance, problem: Problem[Instance, Answer], options: Mapping[str, Value]
    ) -> dict[Any, Any]:
        """The kernels that a run on a tiny instance calls, each with the arguments of its first call of their types."""
        silent, limit = io.StringIO(), _TRIAL_SECONDS if self.anytime else None
        interpreter = Interpreter(math.inf, record=True)
        quiet = redirect_stdout(silent), redirect_stderr(silent)
        with setting(on_trial, True), interpreted(interpreter), suppress(Exception), quiet[0], quiet[1]:
            self.solve(trial, problem, seed=0, time_limit=limit, **options)
        return interpreter.calls

    def answers(self, problem: Problem[Any, Any] | str) -> bool:
        """Whether the method answers a problem, perhaps given by name; a problem with limits counts as its family."""
        if self.members:
            return any(member.answers(problem) for member in self.members)
        name = problem if isinstance(problem, str) else problem.name
        known = name in self.problems or family_of(name) in self.problems
        return known or (self.models is not None and self.models(problem))

    def answering(self, problem: Problem[Any, Any] | str) -> Method[Instance, Answer]:
        """The member that answers a problem; without such a member, this method."""
        return next((member for member in self.members if member.answers(problem)), self)

    def joined(self, other: Method[Any, Any]) -> Method[Any, Any]:
        """Combine this method and another one of its name; ValueError if both answer a problem."""
        members = (*(self.members or (self,)), *(other.members or (other,)))
        if twice := set(self.problems) & set(other.problems):
            raise ValueError(f"two methods '{self.name}' answer '{min(twice)}'")
        return Method(
            name=self.name,
            problems=(*self.problems, *other.problems),
            summary="; ".join(member.summary for member in members),
            source="; ".join(member.source for member in members),
            guarantee="; ".join(dict.fromkeys(member.guarantee for member in members if member.guarantee)),
            cost="; ".join(dict.fromkeys(member.cost for member in members if member.cost)),
            exact=all(member.exact for member in members),
            solve=partial(_solve_by_member, members),
            options=tuple(dict.fromkeys(option for member in members for option in member.options)),
            compiled=any(member.compiled for member in members),
            inputs=tuple(dict.fromkeys(name for member in members for name in member.inputs)),
            members=members,
        )

    def complete(self, options: Mapping[str, object], problem: Problem[Any, Any] | str) -> dict[str, Value]:
        """All options with their values, defaults filled in; an unknown option or problem is bad input.

        `inputs` among the options are skipped.
        """
        if (member := self.answering(problem)) is not self:
            return member.complete(options, problem)
        if not self.answers(problem):
            asked = problem if isinstance(problem, str) else problem.name
            raise BadInput(f"method '{self.name}' does not answer '{asked}': it answers {', '.join(self.problems)}")
        given = {name: value for name, value in options.items() if name not in self.inputs}
        return complete(self.options, given, f"method '{self.name}'")

    def keyed(self, options: Mapping[str, object], problem: str) -> dict[str, Value]:
        """The options stored with a run, and part of its key and seed: without `unkeyed` ones at their defaults."""
        return keyed(self.answering(problem).options, self.complete(options, problem))

    def by_default(
        self,
        instance: Instance,
        problem: Problem[Instance, Answer],
        *,
        seed: int,
        time_limit: float | None = None,
        threads: int = 1,
    ) -> Proposal[Answer]:
        """The proposal with default options, not validated: for a method that starts from the answer of this one.

        A method that can use `threads` has so many.
        """
        method = self.answering(problem)
        takes_threads = any(option.name == "threads" for option in method.options)
        options = self.complete({"threads": threads} if takes_threads else {}, problem)
        return method.solve(instance, problem, seed=seed, time_limit=time_limit, **options)

    def valid_answer(
        self, instance: Instance, problem: Problem[Instance, Answer], *, seed: int, time_limit: float | None = None
    ) -> Answer | None:
        """The answer with default options if it is valid, which is then offered; None otherwise."""
        answer = self.by_default(instance, problem, seed=seed, time_limit=time_limit).answer
        if answer is None or problem.violations(instance, answer):
            return None
        offer(answer)
        return answer

    def run(
        self,
        instance: Instance,
        problem: Problem[Instance, Answer],
        *,
        seed: int = 0,
        time_limit: float | None = None,
        **options: object,
    ) -> Result[Answer]:
        """Solve, then validate: an invalid answer or a bound above its value becomes a ``failed`` result.

        An exact method ends ``optimal``, ``infeasible``, at a limit, or ``feasible`` for a reason that it gives: any
        other end of it is ``failed``, with the gap that it left as the reason. Raises BadInput if the method does not
        answer the problem or an option is unknown or out of range.
        """
        chosen, member = self.complete(options, problem), self.answering(problem)
        inputs = {name: value for name, value in options.items() if name in member.inputs}
        if member.skip is not None and (reason := member.skip(instance, problem)):
            return Result(problem=problem.name, method=self.name, status=Status.SKIPPED, reason=reason)
        given = {"seed": seed, "time_limit": time_limit, **chosen, **inputs}
        if interpreting.get() is not None:
            return self._timed(instance, problem, given)
        if member.is_interpreted(instance):
            with suppress(Exception), interpreted(Interpreter()):  # what fails is compiled, and raises again
                return self._timed(instance, problem, given)
        member.prepare(instance, problem, chosen)
        return self._timed(instance, problem, given)

    def _timed(
        self, instance: Instance, problem: Problem[Instance, Answer], given: Mapping[str, Any]
    ) -> Result[Answer]:
        start, trajectory = PAUSES.now(), Trajectory()
        with solving(instance, problem, trajectory) as run:
            try:
                proposal = self.solve(instance, problem, **given)
            except KeyboardInterrupt:
                answer, bound = run.best_offered()
                if run.is_nested or stopped() or (answer is None and bound is None):
                    raise  # what it is a part of ends, too
                proposal = Proposal(answer, bound, Status.TIME_LIMIT, reason="interrupted")
            except ModuleNotFoundError as error:
                raise missing_extra(error) from None
            except OutOfTime:
                proposal = Proposal(
                    *run.best_offered(), Status.TIME_LIMIT, reason="the time limit passed during the run"
                )
            seconds = PAUSES.now() - start
        result = judged(self.name, instance, problem, proposal, seconds, trajectory)
        is_open = not result.reason and (
            result.status is Status.FEASIBLE or (result.status is Status.TIME_LIMIT and given["time_limit"] is None)
        )
        if self.answering(problem).exact and is_open:
            reason = f"ended at no limit with value {result.value} and lower bound {result.lower_bound}"
            return Result(
                problem=problem.name,
                method=self.name,
                status=Status.FAILED,
                seconds=seconds,
                counters=result.counters,
                reason="; ".join(filter(None, (reason, result.reason))),
            )
        return result


def _solve_by_member(
    members: tuple[Method[Any, Any], ...], instance: Any, problem: Problem[Any, Any], **given: Any
) -> Proposal[Any]:
    member = next(member for member in members if member.answers(problem))
    return member.solve(instance, problem, **given)


def judged(
    method: str,
    instance: Instance,
    problem: Problem[Instance, Answer],
    proposal: Proposal[Answer],
    seconds: float,
    trajectory: Trajectory | None = None,
) -> Result[Answer]:
    """The result of a proposal, by the problem's own `value` and `violations`."""
    completed = partial((trajectory or Trajectory()).completed, seconds, integral=problem.integral)
    result: partial[Result[Answer]] = partial(
        Result, problem=problem.name, method=method, seconds=seconds, counters=proposal.counters
    )
    failed = partial(result, status=Status.FAILED)
    answer, status = proposal.answer, proposal.status
    if status is Status.TIME_LIMIT and proposal.reason == OUT_OF_MEMORY:
        status = Status.MEMORY_LIMIT
    bound = None if proposal.lower_bound == -math.inf else proposal.lower_bound
    if bound is not None and math.isnan(bound):
        return failed(reason="the lower bound is not a number")
    if bound is not None and problem.integral and math.isfinite(bound):
        bound = float(math.ceil(bound - _ROUNDING))
    if answer is None:
        if status in (Status.OPTIMAL, Status.FEASIBLE):
            return failed(reason=f"status {status} without an answer")
        if status in (None, Status.FAILED, Status.SKIPPED):
            reason = proposal.reason or "no answer and no reason"
            return result(status=status or Status.FAILED, lower_bound=bound, reason=reason)
        return result(status=status, lower_bound=bound, reason=proposal.reason, points=completed(None, bound))
    if status in (Status.FAILED, Status.SKIPPED):
        return failed(reason=proposal.reason or f"the method reported a failure: {status} with an answer")
    if violations := problem.violations(instance, answer):
        return failed(reason="invalid answer: " + "; ".join(violations))
    value = problem.value(instance, answer)
    tolerance = 0.0 if problem.integral else _ROUNDING * (abs(value) or 1.0)  # units are free
    if bound is not None and bound > value + tolerance:
        return failed(reason="lower bound {} lies above the answer's value {}".format(*distinct(bound, value)))
    closed = bound is not None and bound >= value - tolerance
    if status is Status.INFEASIBLE:
        return failed(reason="status infeasible with a valid answer")
    if status is Status.OPTIMAL and not closed:
        below = distinct(value) if bound is None else distinct(value, bound)
        return failed(
            reason=f"status optimal with value {below[0]} and lower bound {None if bound is None else below[1]}"
        )
    lower_bound = value if closed else bound
    return result(
        status=Status.OPTIMAL if closed else status or Status.FEASIBLE,
        value=value,
        lower_bound=lower_bound,
        answer=answer,
        measures=problem.measures(instance, answer),
        reason="" if closed else proposal.reason,
        trace=None if proposal.trace is None else proposal.trace(),
        points=completed(value, lower_bound),
    )
