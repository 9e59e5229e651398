"""Several methods on one instance, ranked by the best proven bound."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ...instances.contract.errors import BadInput
from ...instances.contract.method import Method
from ...instances.contract.problem import Problem
from ...instances.contract.result import Result, Status
from ...instances.contract.shown import text
from ..catalogue import METHODS
from ..printable import StatusLine
from ..studies.isolation import Job, Solver
from .solving import AnyProblem, check_limits, method_for, problem_for
from .tables import ResultTable

_COLUMNS = ("method", "status", "value", "ratio", "lower_bound", "gap", "seconds")

Item = TypeVar("Item")
Choice = str | Method[Any, Any] | Mapping[str, Any]


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
        methods = [method for method in METHODS.values() if method.answers(judge.name)]
    elif isinstance(methods, str | Method | Mapping):
        methods = (methods,)
    if not (chosen := [_chosen(judge, each) for each in methods]):
        raise BadInput("no methods are given: name some, or leave methods out for all")
    jobs = [Job(method, instance, judge, seed, options, time_limit, memory_limit) for method, options in chosen]
    for job in jobs:
        job.method.complete(job.options, judge.name)
    names = [_label(job) for job in jobs]
    results = [_run(job) for job in tracked(jobs, names)]
    bounds = [(each.lower_bound, name) for each, name in zip(results, names, strict=True) if _proves(each)]
    if not bounds and judge.default_method:
        exact = Job(method_for(judge, None), instance, judge, seed, {}, time_limit, memory_limit)
        bounds = [(each.lower_bound, exact.method.name) for each in [_run(exact)] if _proves(each)]
    bound, bound_by = max(bounds, key=lambda pair: pair[0] or 0.0, default=(None, ""))
    rows = pd.DataFrame([_row(name, each, bound) for name, each in zip(names, results, strict=True)])
    title = "no method proved a lower bound"
    if bound is not None:
        title = f"best proven lower bound {text(bound)}, by {bound_by}"
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
    if not isinstance(choice, Mapping):
        return method_for(problem, choice), {}
    if "method" not in choice:
        raise BadInput(f'a method is a name or {{"method": name, option: value}}, not {dict(choice)}')
    return method_for(problem, choice["method"]), {name: value for name, value in choice.items() if name != "method"}


def _label(job: Job) -> str:
    return " ".join([job.method.name, *(f"{name}={value}" for name, value in job.options.items())])


def _run(job: Job) -> Result[Any]:
    with Solver() as solver:
        return solver.run(job).result


def _proves(result: Result[Any]) -> bool:
    return result.lower_bound is not None and result.status is not Status.FAILED


def tracked(items: Sequence[Item], names: Sequence[str]) -> Iterator[Item]:
    """Yield the items; a terminal or a notebook shows the name of the one at work until all are done."""
    from ..studies.progress import NotebookBar, in_notebook

    bar = NotebookBar(len(items)) if in_notebook() else StatusLine()
    try:
        for done, (item, name) in enumerate(zip(items, names, strict=True)):
            bar.show(done, f"{name}, {done + 1} of {len(items)}")
            yield item
    finally:
        bar.clear()


@dataclass(frozen=True, repr=False)
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

    problem: str = ""
    methods: tuple[str, ...] = ()
    results: tuple[Result[Any], ...] = ()
    bound: float | None = None
    bound_by: str = ""

    @property
    def ratios(self) -> tuple[float | None, ...]:
        """Each value ÷ the bound, 1 if both are 0; None without an answer or a positive bound."""
        return tuple(None if math.isnan(ratio) else ratio for ratio in self.rows["ratio"])

    def __getitem__(self, method: str) -> Result[Any]:
        """The result of a method."""
        if method not in self.methods:
            raise KeyError(f"'{method}' is none of {', '.join(self.methods)}")
        return self.results[self.methods.index(method)]
