"""Methods and workloads from plain functions: the decorators of plug-ins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter, getdoc, signature
from typing import Any

from .errors import BadInput
from .method import Method, Proposal
from .option import Option
from .overlay import Overlay
from .workload import Workload

_SUPPLIED = ("problem", "seed", "time_limit")


def method(
    name: str, problems: Sequence[str], *, options: Iterable[Option] = (), **fields: Any
) -> Callable[[Callable[..., Any]], Method[Any, Any]]:
    """Make a method of a function; the function's name means the method from then on.

    The function takes an instance and, as keywords, those of `problem`, `seed`, `time_limit` (seconds or None) and the
    options that are in its signature, or all of them as ``**given``. It returns an answer, edges (for topics), or a
    :class:`.Proposal` with a lower bound. Raises TypeError if the signature takes no instance, or has a parameter that
    nothing is passed for.

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
        if not signature(function).parameters:
            raise TypeError(f"{function.__name__} must take an instance")
        call = _Call(function, is_method=True)
        defaults: dict[str, Any] = {"anytime": "time_limit" in call.names, "random": "seed" in call.names}
        defaults |= {"summary": call.summary or name, "source": function.__module__}
        own = call.options(options, (*_SUPPLIED, *fields.get("inputs", ())))
        listed = (problems,) if isinstance(problems, str) else tuple(problems)
        return Method(name=name, problems=listed, solve=call, options=own, **{**defaults, **fields})

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
        call = _Call(function)
        line = summary or call.summary or name
        return Workload(name, line, source or function.__module__, call.options(parameters, ("seed",)), call, kind)

    return decorate


def is_defined_in(module: str, solve: Callable[..., Any]) -> bool:
    """Whether the function of a method or workload is of a module."""
    return getattr(solve.function if isinstance(solve, _Call) else solve, "__module__", "") == module


@dataclass(frozen=True)
class _Call:
    """A function that is passed the keywords that its signature names, or all of them for ``**given``."""

    function: Callable[..., Any]
    is_method: bool = False

    @cached_property
    def _keywords(self) -> list[Parameter]:
        return list(signature(self.function).parameters.values())[self.is_method :]

    @property
    def names(self) -> set[str]:
        return {parameter.name for parameter in self._keywords}

    @property
    def _takes_all(self) -> bool:
        return any(parameter.kind is Parameter.VAR_KEYWORD for parameter in self._keywords)

    @property
    def summary(self) -> str:
        return (getdoc(self.function) or "").partition("\n")[0].removesuffix(".")

    def options(self, declared: Iterable[Option], supplied: Sequence[str]) -> tuple[Option, ...]:
        """The declared options, and one for each other parameter that has a default."""
        options, name = {option.name: option for option in declared}, self.function.__name__
        if not self._takes_all and (strange := [option for option in options if option not in self.names]):
            raise TypeError(f"{name} does not take its option '{strange[0]}'")
        for parameter in self._keywords:
            if parameter.name in (*options, *supplied) or parameter.kind is Parameter.VAR_KEYWORD:
                continue
            if not isinstance(parameter.default, bool | int | float | str):
                raise TypeError(
                    f"parameter '{parameter.name}' of {name} needs a default "
                    "(a number, a text, True or False), which makes it an option"
                )
            options[parameter.name] = Option(parameter.name, parameter.default, "")
        return tuple(options.values())

    def __call__(self, *instance_and_problem: Any, **given: Any) -> Any:
        if not self.is_method:
            return self._passed(given)
        instance, problem = instance_and_problem
        answer = self._passed({**given, "problem": problem}, instance)
        if isinstance(answer, Proposal):
            return answer
        if answer is None:
            return Proposal(reason=f"{self.function.__name__} returned no answer")
        if problem.kind == "topics" and not isinstance(answer, Overlay):
            if isinstance(answer, Iterator):
                answer = list(answer)  # what it raises is an error of the function, not of its edges
            try:
                answer = Overlay.from_edges(instance.num_nodes, answer)
            except BadInput:
                raise
            except (TypeError, ValueError):
                returned = f"{self.function.__name__} returned a {type(answer).__name__}"
                raise TypeError(
                    f"{returned}: return an Overlay, a Proposal, or pairs of nodes, which are numbers from 0"
                ) from None
        return Proposal(answer)

    def _passed(self, given: dict[str, Any], *instance: Any) -> Any:
        return self.function(
            *instance, **{name: given[name] for name in given if self._takes_all or name in self.names}
        )
