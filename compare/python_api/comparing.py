"""Several methods on one instance, ranked by the best proven bound."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

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

if TYPE_CHECKING:
    import pandas as pd

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
    problem : str or Problem, optional
        As for :func:`overlaybench.solve`.
    methods : str, Method or mapping, or several of them, optional
        Names, methods, or ``{"method": "low-oda", "k": 3}`` for options, as in a study file. By default all methods
        that answer the problem.
    seed : int
        Of every method.
    time_limit : float
        Seconds a method; one that does not keep it is stopped and has status ``failed``. A local search such as
        `polish` uses all of it.
    memory_limit : int, optional
        MiB a method.

    Returns
    -------
    MethodComparison
        A table with a row a method, which shows itself; ``to_pandas()`` returns it, ``results`` has the answers. Where
        no method proves a lower bound, the problem's exact method is run for one.

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
    return MethodComparison(judge.name, tuple(names), tuple(results), bound, bound_by)


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
class MethodComparison:
    """The results of several methods on one instance.

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
        return tuple(self._ratio(each.value) for each in self.results)

    def _ratio(self, value: float | None) -> float | None:
        if value is None or self.bound is None or self.bound < 0:
            return None
        if self.bound == 0:
            return 1.0 if value == 0 else None
        return value / self.bound

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, method: str) -> Result[Any]:
        """The result of a method."""
        try:
            return self.results[self.methods.index(method)]
        except ValueError:
            raise KeyError(f"'{method}' is none of {', '.join(self.methods)}") from None

    def to_pandas(self) -> pd.DataFrame:
        """A row a method: method, status, value, ratio, lower_bound, gap, seconds, the answer's measures, reason."""
        import pandas as pd

        rows = []
        for name, each, ratio in zip(self.methods, self.results, self.ratios, strict=True):
            numbers = (each.value, ratio, each.lower_bound, each.gap, each.seconds)
            cells = (name, str(each.status), *(math.nan if number is None else number for number in numbers))
            rows.append(dict(zip(_COLUMNS, cells, strict=True)) | dict(each.measures))
        return pd.DataFrame(rows).assign(reason=[each.reason for each in self.results])

    @property
    def table(self) -> ResultTable:
        """The same as a table, which shows itself and becomes LaTeX."""
        bound = "no method proved a lower bound"
        if self.bound is not None:
            bound = f"best proven lower bound {text(self.bound)}, by {self.bound_by}"
        reasons = (
            f"{name}: {each.reason}" for name, each in zip(self.methods, self.results, strict=True) if each.reason
        )
        return ResultTable(self.to_pandas(), f"{self.problem}: {bound}", tuple(reasons), _COLUMNS)

    def __repr__(self) -> str:
        return repr(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()
