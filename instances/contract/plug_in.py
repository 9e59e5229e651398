"""Methods and workloads from plain functions: the decorators of plug-ins."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from .method import Method, Proposal
from .option import Option
from .overlay import Overlay
from .problem import Problem
from .workload import Workload

_SUPPLIED = ("problem", "seed", "time_limit")


class MethodFields(TypedDict, total=False):
    """The fields of :class:`.Method` that :func:`method` takes beside name, problems and options."""

    summary: str
    source: str
    guarantee: str
    cost: str
    exact: bool
    skip: Callable[[Any, Problem[Any, Any]], str]
    compiled: bool
    inputs: tuple[str, ...]
    anytime: bool
    random: bool
    pace: float
    colour: str
    marker: str


def method(
    name: str, problems: Sequence[str], *, options: Iterable[Option] = (), **fields: Unpack[MethodFields]
) -> Callable[[Callable[..., Any]], Method[Any, Any]]:
    """Make a method of a function; the function's name means the method from then on.

    The function takes an instance and, as keywords, those of `problem`, `seed`, `time_limit` (seconds or None) and the
    options that are in its signature, or all of them as ``**given``. It returns an answer, edges (for topics), or a
    :class:`.Proposal` with a lower bound.

    Parameters
    ----------
    name : str
        As shown; other methods must not have it.
    problems : sequence of str
        The names of the problems it answers.
    options : iterable of Option, optional
        Its options. Any other parameter of the function with a default is an option too.
    **fields
        Further fields of :class:`.Method`. By default `summary` is the first line of the docstring, `source` the
        module, `anytime` whether the signature names `time_limit`, and `random` whether it names `seed`.

    Raises
    ------
    TypeError
        If the signature takes no instance, or has a parameter that nothing is passed for.

    Examples
    --------
    >>> import overlaybench as ob
    >>> @ob.method("one-star", problems=["min-tco"])
    ... def one_star(instance, centre=0):
    ...     return [(centre, v) for v in range(instance.num_nodes) if v != centre]
    >>> triangle = ob.TopicInstance.from_subscriptions({"a": ["t"], "b": ["t"], "c": ["t"]})
    >>> one_star.run(triangle, ob.PROBLEMS["min-tco"]).value
    2
    """

    def decorate(function: Callable[..., Any]) -> Method[Any, Any]:
        named = _parameters(function)[1:]
        if not _parameters(function):
            raise TypeError(f"{function.__name__} must take an instance")
        own = _options(function, named, options, (*_SUPPLIED, *fields.get("inputs", ())))
        names = {parameter.name for parameter in named}
        defaults: MethodFields = {
            "summary": _first_line(function) or name,
            "source": function.__module__,
            "anytime": "time_limit" in names,
            "random": "seed" in names,
        }
        solve = _Solve(function, _taken(named))
        merged: MethodFields = {**defaults, **fields}
        return Method(name=name, problems=_listed(problems), solve=solve, options=own, **merged)

    return decorate


def workload(
    name: str, *, parameters: Iterable[Option] = (), summary: str = "", source: str = "", kind: str = "topics"
) -> Callable[[Callable[..., Any]], Workload[Any]]:
    """Make a workload of a function; the function's name means the workload from then on.

    The function takes `seed` and its parameters as keywords, and returns an instance of a `kind`.

    Parameters
    ----------
    name, summary, source
        As for :func:`method`.
    parameters : iterable of Option, optional
        Its parameters. Any other parameter of the function with a default counts too.
    kind : str
        The kind of its instances.

    Examples
    --------
    >>> import overlaybench as ob
    >>> @ob.workload("topic-ring")
    ... def topic_ring(*, seed, nodes=6, topics=3):
    ...     wanted = {f"n{v}": [f"t{(v + seed) % topics}", f"t{(v + seed + 1) % topics}"] for v in range(nodes)}
    ...     return ob.TopicInstance.from_subscriptions(wanted)
    >>> topic_ring.generate(seed=1, nodes=9).num_nodes
    9
    """

    def decorate(function: Callable[..., Any]) -> Workload[Any]:
        named = _parameters(function)
        own = _options(function, named, parameters, ("seed",))
        line = summary or _first_line(function) or name
        return Workload(name, line, source or function.__module__, own, _Build(function, _taken(named)), kind)

    return decorate


@dataclass(frozen=True)
class _Solve:
    """The `solve` of a method: passes to a function what its signature takes (None: everything)."""

    function: Callable[..., Any]
    taken: frozenset[str] | None

    def __call__(self, instance: Any, problem: Problem[Any, Any], **given: Any) -> Proposal[Any]:
        answer = self.function(instance, **_chosen({**given, "problem": problem}, self.taken))
        if isinstance(answer, Proposal):
            return answer
        if answer is None:
            return Proposal(reason=f"{self.function.__name__} returned no answer")
        if problem.kind == "topics" and not isinstance(answer, Overlay):
            try:
                answer = Overlay.from_edges(instance.num_nodes, answer)
            except TypeError:
                noun = type(answer).__name__
                raise TypeError(
                    f"{self.function.__name__} returned a {noun}: return an Overlay, a Proposal, or pairs of nodes"
                ) from None
        return Proposal(answer)


@dataclass(frozen=True)
class _Build:
    """The `build` of a workload, likewise."""

    function: Callable[..., Any]
    taken: frozenset[str] | None

    def __call__(self, **given: Any) -> Any:
        return self.function(**_chosen(given, self.taken))


def _chosen(given: dict[str, Any], taken: frozenset[str] | None) -> dict[str, Any]:
    return {name: value for name, value in given.items() if taken is None or name in taken}


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def _taken(parameters: Iterable[inspect.Parameter]) -> frozenset[str] | None:
    """The keywords that a signature takes; None if it takes all."""
    listed = list(parameters)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in listed):
        return None
    return frozenset(parameter.name for parameter in listed)


def _options(
    function: Callable[..., Any],
    parameters: Sequence[inspect.Parameter],
    declared: Iterable[Option],
    supplied: Sequence[str],
) -> tuple[Option, ...]:
    """The declared options, and one for each other parameter that has a default."""
    options = {option.name: option for option in declared}
    taken = _taken(parameters)
    for name in options:
        if taken is not None and name not in taken:
            raise TypeError(f"{function.__name__} does not take its option '{name}'")
    for parameter in parameters:
        if parameter.name in (*options, *supplied) or parameter.kind is parameter.VAR_KEYWORD:
            continue
        if not isinstance(parameter.default, bool | int | float | str):
            raise TypeError(
                f"parameter '{parameter.name}' of {function.__name__} needs a default "
                "(a number, a text, True or False), which makes it an option"
            )
        options[parameter.name] = Option(parameter.name, parameter.default, "")
    return tuple(options.values())


def _first_line(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0].removesuffix(".")


def _listed(names: Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
