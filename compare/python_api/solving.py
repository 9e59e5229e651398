"""Answers, lower bounds and the check of an answer to one instance; and several methods on it, ranked."""

from __future__ import annotations

import math
import os
import sys
import tempfile
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from ...instances.contract.catalogue import PROBLEMS, kind_of
from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_file
from ...instances.contract.method import Method
from ...instances.contract.numbers import short
from ...instances.contract.overlay import Overlay, read_overlay
from ...instances.contract.plug_in import method as method_of
from ...instances.contract.problem import Problem
from ...instances.contract.result import Result, Status
from ...instances.runtime.status_line import StatusLine
from ..catalogue import METHODS
from ..studies.isolation import Job, Solver, run_isolated
from .tables import ResultTable

AnyProblem = str | Problem[Any, Any] | None
AnyMethod = str | Method[Any, Any] | Callable[..., Any] | None
Item = TypeVar("Item")
Choice = str | Method[Any, Any] | Callable[..., Any] | Mapping[str, Any]
_COLUMNS = ("method", "status", "value", "ratio", "lower_bound", "gap", "seconds")


def solve(
    instance: Any,
    problem: AnyProblem = None,
    method: AnyMethod = None,
    *,
    seed: int = 0,
    time_limit: float | None = 60.0,
    memory_limit: int | None = None,
    apart: bool = False,
    master: str | None = None,
    **options: Any,
) -> Result[Any]:
    """Solve a problem on an instance, and validate the answer.

    Parameters
    ----------
    problem : str or Problem, optional
        One of :func:`overlaybench.problems`, or ``package.module:NAME``. By default `min-tco` for topics,
        `content-steiner` for content, `soft-links` for broker networks, `steiner` for Steiner instances.
    method : str, Method or function, optional
        One of :func:`overlaybench.methods`, ``package.module:NAME``, or a function as :func:`overlaybench.method` takes
        it; by default an exact method.
    seed : int
        The same seed gives the same answer on any machine.
    time_limit : float, optional
        Seconds; None for none. A method that is not anytime runs to its end; in
        :func:`overlaybench.compare_methods`, and with `apart`, it is stopped.
    memory_limit : int, optional
        MiB beyond what this process takes; implies `apart`.
    apart : bool
        Run in a process of its own, as studies do: a crash or a limit ends that process, and is a result with status
        ``failed`` and its reason. A proof that it writes is checked as ``overlaybench check-proof`` does.
    master : str, optional
        The Spark master for the parts of a divide-and-conquer method.
    **options
        Options of the method, such as ``ties="random"``; and ``trace=True`` for the choices of a greedy method, or
        ``overlay=…`` for the answer, or its file, that a local search starts from or a method repairs; and
        ``proof=path`` for a file to which a proof of the bound is written, once it is complete; a ``.vipr`` file is a
        certificate of VIPR.

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
    chosen = method_for(judge, method)
    chosen.complete({}, judge)  # a method that does not answer the problem is bad input
    if not isinstance(options.get("proof"), str | os.PathLike | None):
        raise BadInput(f"proof: {options['proof']!r} is no path: name a file")
    for needed in ("trace", "proof", "overlay"):
        if options.get(needed):
            check_takes(chosen, needed, judge)
    if options.get("trace"):
        from ...heuristics.topics.tie_breaking.tie_search import check_traceable

        check_traceable(instance)
    if options.get("overlay"):
        options["overlay"] = _start(instance, judge, options, repairs=chosen.answering(judge).repairs)
    limits = {"time_limit": time_limit, "memory_limit": memory_limit}
    if master is not None:
        check_takes(chosen, "mapper", judge)
        if any(limits.values()):
            raise BadInput("--master: limits do not reach the executors: give no time limit and no memory limit")
        from ..studies.spark_session import run_on_spark

        return run_on_spark(master, chosen, instance, judge, seed=seed, **options)
    if str(options.get("proof") or "").endswith(".vipr"):
        return _certified(chosen, instance, judge, Path(options.pop("proof")), seed=seed, **limits, **options)
    if memory_limit is None and options.get("proof") is None:
        brief = chosen.answering(judge).run_briefly(instance, judge, seed=seed, time_limit=time_limit, **options)
        if brief is not None:
            return brief
    if apart or memory_limit is not None:
        return _apart(Job(chosen, instance, judge, seed, options, time_limit, memory_limit))
    run = partial(chosen.answering(judge).run, instance, judge, seed=seed, time_limit=time_limit)
    if options.get("proof") is None:
        return run(**options)
    with atomic_file(Path(options.pop("proof")).expanduser(), if_filled=True) as file:
        return run(**options, proof=file)


def _start(instance: Any, problem: Problem[Any, Any], options: dict[str, Any], *, repairs: bool) -> Any:
    given = options["overlay"]
    if repairs and isinstance(given, str | Path):
        return read_overlay(Path(given).expanduser(), instance, known_only=True)
    if "start" in options:
        raise BadInput("--start and --option start=…: give one of them")
    answer = answer_to(instance, given)
    if not repairs and (violations := problem.violations(instance, answer)):
        name = given if isinstance(given, str | Path) else "--start"
        raise BadInput(f"{name}: {violations[0]}: give an answer that is valid for {problem.name}")
    return answer


def _certified(
    method: Method[Any, Any], instance: Any, problem: Problem[Any, Any], certificate: Path, **given: Any
) -> Result[Any]:
    """Solve without presolve, whose steps no constraint derives, and translate the proof."""
    from ..studies.proofs import PROOF, VERDICT, digest_of, file_for_checker, write_vipr

    certificate = certificate.expanduser()
    with atomic_file(certificate, if_filled=True):  # it can be written
        pass
    if any(option.name == "presolve" for option in method.answering(problem).options):
        given.setdefault("presolve", False)
    with tempfile.TemporaryDirectory(prefix="overlaybench-") as folder:
        proof = Path(folder) / "proof.gz"
        result = solve(instance, problem, method, apart=True, proof=proof, **given)
        if proof.exists():
            try:
                write_vipr(file_for_checker(instance, problem.kind, Path(folder)), proof, certificate)
            except BadInput as error:  # the answer is worth having without
                print(f"overlaybench: {error}", file=sys.stderr)
            else:
                said = f"{result.counters[VERDICT]} ({certificate}; its problem: {certificate.with_suffix('.mps')})"
                written = {PROOF: digest_of(certificate), VERDICT: said}
                result = replace(result, counters={**result.counters, **written})
    return result


def _apart(job: Job) -> Result[Any]:
    from ..studies.proofs import PROOF, run_with_evidence

    options = {**job.options}
    given = options.pop("proof", None)
    proof = Path(str(given)).expanduser() if given else None
    run = run_with_evidence(replace(job, options=options), run_isolated, proof)
    if proof and PROOF not in run.result.counters:
        why = "a proof is of an answer" if run.result.answer is None else "it ended without a proof"
        print(f"overlaybench: {proof}: not written: the run is {run.result.status}, and {why}", file=sys.stderr)
    return run.result


_WITHOUT = {
    "trace": ("--step", "has no greedy choices to show"),
    "proof": ("--proof", "writes no proofs"),
    "mapper": ("--master", "has no parts that run apart"),
    "overlay": ("--start", "does not start from an overlay"),
}
"""The command's option for each further input of a method, and what is said of a method without it."""


def check_takes(method: Method[Any, Any], needed: str, problem: Problem[Any, Any]) -> None:
    """Raise BadInput if a method for a problem has no such input; the message names those that have."""
    if needed not in method.answering(problem).inputs:
        answering = (each.answering(problem) for each in METHODS.values() if each.answers(problem))
        able = [each.name for each in answering if needed in each.inputs]
        instead = f", or take one of {', '.join(able)}" if able else ""
        option, why = _WITHOUT[needed]
        raise BadInput(f"{needed} ({option}): method '{method.name}' {why} for {problem.name}: leave it out{instead}")


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
    result = solve(instance, problem, time_limit=time_limit)
    if result.status is Status.INFEASIBLE:
        return math.inf
    return -math.inf if result.lower_bound is None else float(result.lower_bound)


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
    expected = kind_of(instance).answer_type
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
    chosen = PROBLEMS.named(problem or kind.default_problem)
    if chosen.kind != kind.name:
        raise BadInput(f"problem '{chosen.name}' is about {chosen.kind}, the instance about {kind.name}")
    return chosen


def method_for(problem: Problem[Any, Any], method: AnyMethod) -> Method[Any, Any]:
    """A method by name, or a plain function as one, or by default the problem's exact one."""
    given: Any = method or problem.default_method
    if isinstance(given, FunctionType):
        given = method_of(given.__name__, [problem.name])(given)
    chosen: Method[Any, Any] | None = METHODS.named(given) if given else None
    if chosen is None or not (method or chosen.answers(problem)):
        raise BadInput(f"problem '{problem.name}' has no method by default: name one")
    return chosen


def check_limits(seed: object, time_limit: object) -> None:
    """Raise BadInput unless the seed is a whole number and the limit a positive number of seconds, or None."""
    if not isinstance(seed, int | np.integer):
        raise BadInput(f"seed must be a whole number, not {seed!r}")
    if time_limit is not None and not (isinstance(time_limit, int | float | np.number) and time_limit > 0):
        raise BadInput(f"time_limit must be a number of seconds above 0, or None, not {time_limit!r}")


def compare_methods(
    instance: Any,
    problem: AnyProblem = None,
    methods: Choice | Iterable[Choice] | None = None,
    *,
    seed: int = 0,
    time_limit: float = 60.0,
    memory_limit: int | None = None,
) -> MethodComparison:
    """Run several methods on one instance, each in a process of its own, and compare them to the best proven bound.

    Parameters
    ----------
    instance, problem, seed
        As for :func:`overlaybench.solve`.
    methods : str, Method or mapping, or several of them, optional
        Names, methods, or ``{"method": "low-oda", "k": 3}`` for options, as in a study file. By default all methods
        that answer the problem.
    time_limit, memory_limit
        Seconds and MiB a method; one that does not keep them is stopped and has status ``failed``. A local search such
        as `polish` uses all of its time.

    Returns
    -------
    MethodComparison
        Where no method proves a lower bound, the problem's exact method is run for one.

    Raises
    ------
    BadInput
        If a method does not answer the problem, or an option is unknown or out of range.

    Examples
    --------
    >>> import overlaybench as ob
    >>> instance = ob.generate("zipf", nodes=12, topics=6, subscriptions=2, seed=1)
    >>> table = ob.compare_methods(instance, "min-tco", ["gm", "ring-per-topic", "branch-and-cut"])
    >>> table.to_pandas()["ratio"].round(3).tolist()
    [1.0, 1.692, 1.0]
    >>> table.bound, table.bound_by
    (13, 'branch-and-cut')
    """
    import pandas as pd

    check_limits(seed, time_limit)
    judge = problem_for(instance, problem)
    if methods is None:
        methods = [method for method in METHODS.values() if method.answers(judge)]
    elif isinstance(methods, str | Method | FunctionType | Mapping):
        methods = (methods,)
    elif not isinstance(methods, Iterable):
        raise BadInput(f"methods are a list of names, not {methods!r}")
    if not (chosen := [_chosen(judge, each) for each in methods]):
        raise BadInput("no methods are given: name some, or leave methods out for all")
    jobs = [Job(method, instance, judge, seed, options, time_limit, memory_limit) for method, options in chosen]
    names = [" ".join([m.name, *(f"{name}={value}" for name, value in options.items())]) for m, options in chosen]
    results = [_run(job) for job in tracked(jobs, names)]
    bounds = _bounds(zip(results, names, strict=True))
    if not bounds and judge.default_method:
        exact = Job(method_for(judge, None), instance, judge, seed, {}, time_limit, memory_limit)
        bounds = _bounds([(_run(exact), exact.method.name)])
    bound, bound_by = max(bounds, key=lambda pair: pair[0], default=(None, ""))
    rows = pd.DataFrame([_row(name, each, bound) for name, each in zip(names, results, strict=True)])
    title = "no method proved a lower bound"
    if bound is not None:
        title = f"best proven lower bound {short(bound)}, by {bound_by}"
    notes = tuple(f"{name}: {each.reason}" for name, each in zip(names, results, strict=True) if each.reason)
    return MethodComparison(
        rows.assign(reason=[each.reason for each in results]),
        f"{judge.name}: {title}",
        notes,
        _COLUMNS,
        problem=judge.name,
        methods=tuple(names),
        results=tuple(results),
        bound=bound,
        bound_by=bound_by,
    )


def _row(name: str, result: Result[Any], bound: float | None) -> dict[str, Any]:
    ratio = None
    if result.value is not None and bound is not None and (bound > 0 or bound == result.value == 0):
        ratio = result.value / bound if bound else 1.0
    numbers = (result.value, ratio, result.lower_bound, result.gap, result.seconds)
    cells = (name, str(result.status), *(math.nan if number is None else number for number in numbers))
    return dict(zip(_COLUMNS, cells, strict=True)) | dict(result.measures)


def _chosen(problem: Problem[Any, Any], choice: Choice) -> tuple[Method[Any, Any], dict[str, Any]]:
    """A method and its options, which it knows."""
    options = dict(choice) if isinstance(choice, Mapping) else {"method": choice}
    if "method" not in options:
        raise BadInput(f'a method is a name or {{"method": name, option: value}}, not {options}')
    method = method_for(problem, options.pop("method"))
    method.complete(options, problem)
    return method, options


def _run(job: Job) -> Result[Any]:
    with Solver() as solver:
        return solver.run(job).result


def _bounds(results: Iterable[tuple[Result[Any], str]]) -> list[tuple[float, str]]:
    """The lower bounds that runs proved, with who proved each."""
    proved = [(each.lower_bound, name) for each, name in results if each.status is not Status.FAILED]
    return [(bound, name) for bound, name in proved if bound is not None]


def tracked(items: Sequence[Item], names: Sequence[str]) -> Iterator[Item]:
    """Yield the items; a terminal or a notebook shows the name of the one at work until all are done."""
    bar = StatusLine(len(items))
    try:
        for done, (item, name) in enumerate(zip(items, names, strict=True)):
            bar.show(done, f"{name}, {done + 1} of {len(items)}")
            yield item
    finally:
        bar.clear()


@dataclass(frozen=True, repr=False, kw_only=True)
class MethodComparison(ResultTable):
    """The results of several methods on one instance: a table with a row a method.

    Attributes
    ----------
    problem : str
    methods : tuple of str
        Each with its options.
    results : tuple of Result
        In the order of the methods.
    bound : float or None
        The best lower bound that any of the runs proved.
    bound_by : str
        The method that proved it.

    Examples
    --------
    >>> import overlaybench as ob
    >>> instance = ob.read({"ann": ["news"], "bob": ["news"], "cid": ["news"]})
    >>> ob.compare_methods(instance, "min-tco", ["gm", "branch-and-cut"])["gm"].value
    2
    """

    problem: str
    methods: tuple[str, ...]
    results: tuple[Result[Any], ...]
    bound: float | None
    bound_by: str

    @property
    def ratios(self) -> tuple[float | None, ...]:
        """Each value ÷ the bound, 1 if both are 0; None without an answer or a positive bound."""
        return tuple(None if math.isnan(ratio) else ratio for ratio in self.rows["ratio"])

    def __getitem__(self, method: str) -> Result[Any]:
        """The result of a method."""
        if method not in self.methods:
            raise KeyError(f"'{method}' is none of {', '.join(self.methods)}")
        return self.results[self.methods.index(method)]
