"""Solving one instance in this process: answers, lower bounds, and the check of an answer."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any, overload

import numpy as np

from ...instances.brokers.network import BrokerNetwork
from ...instances.brokers.problems import Dissemination
from ...instances.content.instance import ContentInstance
from ...instances.content.problems import ContentOverlay
from ...instances.contract.catalogue import PROBLEMS, kind_of
from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_file
from ...instances.contract.method import Method
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.result import Result
from ...instances.steiner.instance import SteinerInstance
from ...instances.topics.instance import TopicInstance
from ..catalogue import METHODS

AnyProblem = str | Problem[Any, Any] | None
AnyMethod = str | Method[Any, Any] | None
_ANSWERS = {"topics": Overlay, "steiner": Overlay, "content": ContentOverlay, "brokers": Dissemination}


@overload
def solve(
    instance: TopicInstance | SteinerInstance,
    problem: AnyProblem = None,
    method: AnyMethod = None,
    *,
    seed: int = 0,
    time_limit: float | None = 60.0,
    **options: Any,
) -> Result[Overlay]: ...
@overload
def solve(
    instance: ContentInstance,
    problem: AnyProblem = None,
    method: AnyMethod = None,
    *,
    seed: int = 0,
    time_limit: float | None = 60.0,
    **options: Any,
) -> Result[ContentOverlay]: ...
@overload
def solve(
    instance: BrokerNetwork,
    problem: AnyProblem = None,
    method: AnyMethod = None,
    *,
    seed: int = 0,
    time_limit: float | None = 60.0,
    **options: Any,
) -> Result[Dissemination]: ...
def solve(
    instance: Any,
    problem: AnyProblem = None,
    method: AnyMethod = None,
    *,
    seed: int = 0,
    time_limit: float | None = 60.0,
    **options: Any,
) -> Result[Any]:
    """Solve a problem on an instance in this process, and validate the answer.

    Parameters
    ----------
    problem : str or Problem, optional
        One of :func:`overlaybench.problems`, or ``package.module:NAME``. By default `min-tco` for topics,
        `content-steiner` for content, `soft-links` for broker networks, `steiner` for Steiner instances.
    method : str or Method, optional
        One of :func:`overlaybench.methods`, or ``package.module:NAME``; by default an exact method.
    seed : int
        The same seed gives the same answer on any machine.
    time_limit : float, optional
        Seconds; None for none. A method that is not anytime runs to its end; in
        :func:`overlaybench.compare_methods` it is stopped.
    **options
        Options of the method, such as ``ties="random"``; and ``trace=True`` for the choices of a greedy method, or
        ``overlay=…`` for the answer that a local search starts from; and ``proof=path`` for a file to which a proof of
        the bound is written, once it is complete.

    Returns
    -------
    Result
        With value, lower_bound, gap, status, answer, seconds and measures. Its problem has validated the answer.

    Raises
    ------
    BadInput
        If the method does not answer the problem, or an option, the seed or the limit is unknown or out of range.

    Examples
    --------
    >>> import overlaybench as ob
    >>> instance = ob.read({"ann": ["news", "chess"], "bob": ["news", "chess"], "cid": ["chess"]})
    >>> result = ob.solve(instance, "min-tco", "gm", ties="random", seed=3)
    >>> result.value, str(result.status)
    (2, 'feasible')
    >>> ob.solve(instance).lower_bound
    2
    """
    check_limits(seed, time_limit)
    judge = problem_for(instance, problem)
    chosen = method_for(judge, method).answering(judge.name)
    for name in ("trace", "proof"):
        if name in options and name not in chosen.inputs:
            able = ", ".join(each for each in METHODS if name in METHODS[each].answering(judge.name).inputs)
            raise BadInput(f"method '{chosen.name}' has no {name}: leave it out, or take one of {able}")
    if options.get("proof") is None:
        return chosen.run(instance, judge, seed=seed, time_limit=time_limit, **options)
    with atomic_file(Path(options["proof"]).expanduser(), if_filled=True) as file:
        return chosen.run(instance, judge, seed=seed, time_limit=time_limit, **{**options, "proof": file})


def lower_bound(instance: Any, problem: AnyProblem = None, *, time_limit: float | None = 60.0) -> float:
    """Prove a lower bound on the optimum with the problem's exact method.

    Parameters
    ----------
    problem : str or Problem, optional
        As for :func:`overlaybench.solve`.
    time_limit : float, optional
        Seconds; None for none. Within it the bound is as good as the method proves; it is often the optimum.

    Returns
    -------
    float
        −inf if nothing was proved in time, inf if the instance has no answer.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.lower_bound(ob.generate("zipf", nodes=12, topics=6, subscriptions=2, seed=1), "min-tco")
    13.0
    """
    bound = solve(instance, problem, time_limit=time_limit).lower_bound
    return -math.inf if bound is None else float(bound)


def check(instance: Any, answer: Any, problem: AnyProblem = None) -> list[str]:
    """List what makes an answer invalid, one sentence each; an empty list says that it is valid.

    Parameters
    ----------
    answer : Overlay, ContentOverlay, Dissemination, Result, path, networkx graph or pairs of labels
        An answer, a result that has one, or the path to its file; for topics and Steiner instances also a graph or
        edges on the labels.
    problem : str or Problem, optional
        As for :func:`overlaybench.solve`. Its method ``value`` gives the value of the answer.

    Raises
    ------
    BadInput
        If the object is no answer, or the file, the graph or the edges are not on the nodes of the instance.

    Examples
    --------
    >>> import overlaybench as ob
    >>> instance = ob.read({"ann": ["news"], "bob": ["news"], "cid": ["news"]})
    >>> ob.check(instance, [("ann", "bob"), ("bob", "cid")], "min-tco")
    []
    >>> ob.check(instance, [("ann", "bob")], "min-tco")
    ["topic 'news' has 2 components"]
    """
    judge = problem_for(instance, problem)
    return judge.violations(instance, answer_to(instance, answer))


def answer_to(instance: Any, answer: Any) -> Any:
    """An answer as its kind has it, from a result, a file, a graph or pairs of labels."""
    expected = _ANSWERS[kind_of(instance).name]
    if isinstance(answer, Result):
        answer = answer.answer
    if isinstance(answer, expected):
        return answer
    if isinstance(answer, str | Path):
        return kind_of(instance).read_answer(Path(answer).expanduser(), instance)
    if expected is Overlay and hasattr(answer, "adj"):
        return Overlay.from_networkx(answer, instance)
    if expected is Overlay and isinstance(answer, Iterable):
        edges: list[tuple[Hashable, Hashable]] = list(answer)
        return Overlay.from_labels(edges, instance)
    raise BadInput(
        f"an object of type {type(answer).__name__} is no answer: give an object of type {expected.__name__}"
    )


def problem_for(instance: Any, problem: AnyProblem) -> Problem[Any, Any]:
    """A problem by name, or by default that of the instance's kind; one of another kind is bad input."""
    kind = kind_of(instance)
    if problem is not None and not isinstance(problem, str | Problem):
        raise BadInput(f"a problem is one name, not an object of type {type(problem).__name__}")
    chosen = problem if isinstance(problem, Problem) else PROBLEMS.named(problem or kind.default_problem)
    if chosen.kind != kind.name:
        raise BadInput(f"problem '{chosen.name}' is about {chosen.kind}, the instance about {kind.name}")
    return chosen


def method_for(problem: Problem[Any, Any], method: AnyMethod) -> Method[Any, Any]:
    """A method by name, or by default the problem's exact one."""
    if isinstance(method, Method):
        return method
    if callable(method) and hasattr(method, "__name__"):
        raise BadInput(f"function '{method.__name__}' is no method: decorate it with @ob.method(name, problems=[…])")
    if method is not None and not isinstance(method, str):
        raise BadInput(f"a method is one name, not an object of type {type(method).__name__}")
    if not method and not problem.default_method:
        raise BadInput(f"problem '{problem.name}' has no method by default: name one")
    return METHODS.named(method or problem.default_method)


def check_limits(seed: object, time_limit: object) -> None:
    """Raise BadInput unless the seed is a whole number and the limit a positive number of seconds, or None."""
    if not isinstance(seed, int | np.integer):
        raise BadInput(f"seed must be a whole number, not {seed!r}")
    if time_limit is not None and not (isinstance(time_limit, int | float | np.number) and time_limit > 0):
        raise BadInput(f"time_limit must be a number of seconds above 0, or None, not {time_limit!r}")
