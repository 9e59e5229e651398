"""Studies from Python: run one, take its results as a table, compare two, and compare the methods in one.

Each function on methods gives a table with a figure. `study` is a folder or a :class:`StudyResults`. Methods are names,
with options where several variants ran (``"low-oda k=8"``); without any, all are taken. `problem` is one problem, by
default every one that the methods answered. `measure` is ratio, value, time, degree, gap or memory. `where` keeps the
runs with these values: ``family="Zipf"``.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

import pandas as pd

from ...instances.contract.errors import BadInput, unknown
from ...instances.contract.method import Method
from ...instances.contract.numbers import exact
from ...instances.contract.plug_in import is_defined_in, method
from ..catalogue import METHODS, method_named, problem_named
from ..intervals import mean_interval as student
from ..report.tables import judged_runs
from ..studies.bounds import problem_order, sizes_of, sorted_by
from ..studies.columns import varied
from ..studies.comparison import StudyComparison, compared, results_of_version
from ..studies.paired import Paired, explained
from ..studies.paired import paired as paired_on
from ..studies.plot import MEASURES, plot_of, report_of
from ..studies.results import results
from ..studies.store import Store
from ..studies.task import without_limit
from .tables import ResultTable

_SHOWN = ("variant", "status", "value", "lower_bound", "ratio", "seconds")


def study(
    spec: str | Path, out: str | Path, *, master: str = "local[*]", quiet: bool = False, grow: bool = False
) -> StudyResults:
    """Run the study in a TOML file on Spark; runs that the folder holds already are not repeated.

    A study file with more methods, instances, seeds or limits runs only what is new. Methods that a notebook defines
    (:func:`.method`) are known by their names in it, and so are its plain functions, as methods for the problems that
    the file lists beside them.

    Parameters
    ----------
    spec, out : path
        The study file (docs/study.md explains its keys), and the folder of results, created if missing.
    master : str
        The Spark master.
    quiet : bool
        Show no progress.
    grow : bool
        Take the folder of an unrelated study, whose runs stay stored there; without it that is bad input.

    Examples
    --------
    >>> import overlaybench as ob
    >>> finished = ob.study("study.toml", out="results/mine")  # doctest: +SKIP
    >>> finished.results(problem="min-tco").to_pandas()  # doctest: +SKIP
    """
    from ..studies.spark_study import run_study
    from ..studies.study import read_study

    plain = _problems_of_methods(Path(spec).expanduser())
    for name, value in list(vars(sys.modules["__main__"]).items()):
        if isinstance(value, FunctionType) and value.__module__ == "__main__" and name in plain:
            value = method(name, plain[name])(value)
        if isinstance(value, Method) and is_defined_in("__main__", value.solve):
            METHODS.register(f"__main__:{name}", value)
    folder = Path(out).expanduser()
    asked = read_study(Path(spec).expanduser())
    for note in asked.notes:
        print(f"overlaybench: {note}", file=sys.stderr, flush=True)
    run_study(asked, Store(folder), master, quiet=quiet, grow=grow)
    return StudyResults(folder)


def _problems_of_methods(spec: Path) -> dict[str, list[str]]:
    """The problems beside each name in a study file that no method has; nothing of a file that cannot be read."""
    found: dict[str, list[str]] = {}
    with suppress(OSError, ValueError, TypeError, LookupError, AttributeError):
        for runs in tomllib.loads(spec.read_text(encoding="utf-8"))["runs"]:
            names = [one["method"] if isinstance(one, dict) else one for one in runs["methods"]]
            for name in (each for each in names if isinstance(each, str) and METHODS.get(each) is None):
                found.setdefault(name, []).extend(runs["problems"])
    return {name: list(dict.fromkeys(problems)) for name, problems in found.items()}


def compare_studies(
    first: AnyStudy,
    second: AnyStudy,
    *,
    ignore: Sequence[str] = (),
    noise: float = 0.1,
    versions: tuple[str, str] | None = None,
    **where: object,
) -> StudyComparison:
    """Compare two studies run by run: what got better, what got worse, and what took longer.

    Runs are matched by what they are (instance, problem, method, options, limits) and not by their seeds.

    Parameters
    ----------
    first, second : path or StudyResults
        Folders of results.
    ignore : sequence of {"options", "time_limit", "memory_limit"}
        Match runs that differ in these.
    noise : float
        Seconds below which times are not compared.
    versions : (str, str), optional
        The code version of each side, or its first digits; by default the present ones.
    **where
        Keep the rows with these values: ``problem="min-tco"``.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.compare_studies("results/before", "results/after").is_worse  # doctest: +SKIP
    False
    """
    sides = [_results(first), _results(second)]
    if versions:
        rows = [results_of_version(one.path, of, texts_of(where)) for one, of in zip(sides, versions, strict=True)]
    else:
        rows = [one.results(**where).rows for one in sides]  # type: ignore[arg-type]
    if not any(map(len, rows)):
        raise BadInput("there are no such runs: see `overlaybench results`")
    return compared(*rows, ignore=ignore, noise=noise)


def texts_of(where: Mapping[str, object]) -> dict[str, str]:
    """Values as ``--where`` takes them."""
    return {column: f"{value:g}" if isinstance(value, float) else str(value) for column, value in where.items()}


@dataclass(frozen=True, repr=False)
class StudyResults:
    """The folder of a study's results, also where ``overlaybench study`` ran it.

    Parameters
    ----------
    folder : path

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.StudyResults("results/mine").results(problem="min-tco").to_polars()  # doctest: +SKIP
    """

    folder: str | Path

    def results(self, *, all_runs: bool = False, **where: object) -> ResultTable:
        """Its finished runs, a row a run; keywords keep the rows with these values: ``problem="min-tco"``.

        With `all_runs` also the stored runs that are no longer in the study.
        """
        rows = results(self.path, texts_of(where), all_runs=all_runs)
        sizes = [name for name in sizes_of(rows) if name in rows]
        rows = sorted_by(rows, "problem", "family", *sizes, "instance", "variant", "seed")
        title = f"{len(rows)} runs" if len(rows) != 1 else "1 run"
        columns = ("problem", "family", "instance", *sizes[:1], *_SHOWN)
        return ResultTable(rows, title, columns=columns, names=self.names)

    def instance(self, digest: str) -> Any:
        """An instance of the study by its digest: the column ``instance`` of the results."""
        store = Store.existing(self.path)
        known = store.index().to_pandas().set_index("instance")["recipe"]
        if digest not in known:
            raise BadInput(f"{self.path}: has no instance '{digest}': see the column instance of its results")
        return store.instance(known[[digest]].iloc[0], digest)

    def report(self) -> Path:
        """Write its report (report.html, tables/ and figures/ in the folder) and return the path of the page."""
        from ..report.writing import report_study

        return report_study(self.path)

    def judged(self, **where: object) -> pd.DataFrame:
        """The chosen runs with the bounds that all runs of the study prove; see :func:`.judged_runs`."""
        store = Store.existing(self.path)
        runs = judged_runs(store.rows(store.keys()))
        return runs[runs["key"].isin(set(results(self.path, texts_of(where))["key"]))] if where else runs

    @property
    def names(self) -> dict[str, str]:
        """What methods, problems and columns are called in tables for papers, by the study file."""
        store = Store(self.path)
        return report_of(store.plan().spec).names if store.has_plan else {}

    @property
    def path(self) -> Path:
        """The folder."""
        return Path(self.folder).expanduser()

    def __repr__(self) -> str:
        return f"{self.folder}: {self.results()!r}"

    def _repr_html_(self) -> str:
        return self.results()._repr_html_()


AnyStudy = str | Path | StudyResults


@dataclass(frozen=True, repr=False, kw_only=True)
class PairedTable(ResultTable):
    """The result of :func:`paired`; `comparisons` has one :class:`.Paired` a problem."""

    comparisons: tuple[Paired, ...]

    @property
    def shown(self) -> pd.DataFrame:
        """A row a pair: the differences with their intervals as texts, and p, corrected where there are several."""
        rows, several = self.rows, any(len(one.table) > 1 for one in self.comparisons)
        numbers = {
            f"{of} [95% interval]": [_estimate(*row) for row in rows[[of, f"{of}_low", f"{of}_high"]].to_numpy()]
            for of in ("mean", "median")
        }
        counts = [f"{w}/{t}/{n}" for w, t, n in rows[["wins", "ties", "losses"]].to_numpy()]
        p = {"p, Holm" if several else "p": [f"{p:.2g}" for p in rows["p_holm"]]}
        return rows[["problem", "first", "second"]].assign(**numbers, **{"win/tie/loss": counts}, **p)


def paired(
    study: AnyStudy, *methods: str, problem: str | None = None, measure: str = "ratio", **where: object
) -> PairedTable:
    """Compare methods on the instances that all of them answered: paired differences with intervals and tests.

    Returns
    -------
    PairedTable
        A row a problem and pair: the mean and the median of first − second with their 95% bootstrap intervals, wins,
        ties and losses, p of Wilcoxon's signed-rank test, and p_holm, corrected for the number of pairs. Its figure has
        the differences, the performance profile and the mean ranks.

    Raises
    ------
    BadInput
        If a method is unknown or ambiguous, or no instance has the measure for all.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.paired("results/mine", "gm", "low-oda").plot().savefig("paired.pdf")  # doctest: +SKIP
    """
    runs, variants = _runs(study, (), None, where), [own_name(method) for method in methods]
    found, errors = [], []
    for name in problem_order(runs) if problem is None else [problem_named(problem).name]:
        try:
            found.append(paired_on(runs, variants, name, measure))
        except BadInput as error:
            errors.append(error)
    if not found:
        raise errors[0] if errors else BadInput("there are no such runs: see `overlaybench results`")

    def drawn(parts: Sequence[str] = ("differences", "profile", "ranks")) -> Any:
        from ..figures.charts import paired_chart
        from ..figures.style import method_styles

        return paired_chart(found, method_styles(runs), parts)

    rows = pd.concat([one.table.assign(problem=one.problem, measure=measure) for one in found], ignore_index=True)
    notes = tuple(f"{one.problem}: {explained(one)}" for one in found)
    title = (
        f"Paired differences of the {measure}, first minus second: 95% bootstrap intervals over instances, "
        "p of Wilcoxon's signed-rank test"
    )
    return PairedTable(rows, title, notes, drawn=drawn, names=_results(study).names, comparisons=tuple(found))


def critical_difference(
    study: AnyStudy, *methods: str, problem: str | None = None, measure: str = "ratio", **where: object
) -> ResultTable:
    """Rank three or more methods by Friedman's test, and name those that Nemenyi's test does not tell apart.

    Returns
    -------
    ResultTable
        A row a problem and method: instances, mean_rank, critical_difference (mean ranks that differ by less are not
        told apart) and not_apart. Its figure is the diagram of Demšar (2006).

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.critical_difference("results/mine", "gm", "gm-m", "low-oda").to_latex()  # doctest: +SKIP
    """
    found = paired(study, *methods, problem=problem, measure=measure, **where)
    if found.comparisons[0].friedman is None:
        raise BadInput("critical differences need three methods and two instances: name more methods, or use ob.paired")
    rows = [
        {
            "problem": one.problem,
            "method": name,
            "instances": len(one.values),
            "mean_rank": rank,
            "critical_difference": one.critical_difference,
            "not_apart": ", ".join(
                dict.fromkeys(o for group in one.cliques if name in group for o in group if o != name)
            ),
        }
        for one in found.comparisons
        for name, rank in one.ranks.sort_values(kind="stable").items()
    ]
    drawn = partial(found.drawn, ("ranks",))
    return ResultTable(pd.DataFrame(rows), f"Mean ranks by {measure}; 1 is best", drawn=drawn, names=found.names)


def profile(study: AnyStudy, *methods: str, problem: str | None = None, **where: object) -> ResultTable:
    """The performance profile (Dolan and Moré 2002): the share of instances solved within a factor of the best bound.

    The table has a row a step: problem, method, factor, share; the figure a panel a problem.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.profile("results/mine", problem="min-tco").plot()  # doctest: +SKIP
    """
    from ..figures.charts import common_instances, profile_chart, profile_points

    runs = _runs(study, methods, problem, where)
    runs = runs[runs["bound"].notna()]
    parts = [profile_points(common_instances(of)[0]).assign(problem=name) for name, of in runs.groupby("problem")]
    if not parts:
        raise BadInput("no instance has a proven bound: add an exact method to the study")
    rows = pd.concat(parts).rename(columns={"curve": "method", "x": "factor", "y": "share"})
    rows = rows[["problem", "method", "factor", "share"]].drop_duplicates(ignore_index=True)
    drawn = partial(_chart, profile_chart, runs)
    return ResultTable(rows, "Performance profile", drawn=drawn, names=_results(study).names)


def mean_interval(
    study: AnyStudy,
    *methods: str,
    by: str | Sequence[str] = (),
    problem: str | None = None,
    measure: str = "ratio",
    **where: object,
) -> ResultTable:
    """The mean of a measure for each method, with its 95% interval by Student's t over instances.

    The table has a row a problem, method and value of the columns `by` (such as a workload's parameter): instances,
    mean, low, high, worst. Its figure has the means against the last column of `by`, a panel for each value of others.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.mean_interval("results/mine", "gm", by="subscriptions").to_pandas()  # doctest: +SKIP
    """
    runs, keys = _runs(study, methods, problem, where), [by] if isinstance(by, str) else list(by)
    columns = pd.concat([varied(runs), runs], axis="columns") if keys else runs
    columns = columns.loc[:, ~columns.columns.duplicated()]  # a parameter comes before a size of its name
    if missing := [name for name in keys if name not in columns]:
        raise unknown("column", missing[0], columns.columns)
    if measure not in MEASURES:
        raise unknown("measure", measure, MEASURES)
    problems = runs["problem"]
    for name in keys:  # a limit that is a column varies within a problem
        problems = problems.map(partial(without_limit, limit=re.escape(name)))
    values = runs[MEASURES[measure].column] / MEASURES[measure].unit
    measured = runs.assign(y=values, **{name: columns[name] for name in keys}, problem=problems)
    # Repeats are averaged first: instances are what is sampled.
    each = measured.dropna(subset="y").groupby(["problem", "label", *keys, "instance"], sort=False)["y"].mean()
    rows = []
    for at, values in each.groupby(["problem", "label", *keys], sort=False):
        found = student(values, least=MEASURES[measure].least)
        rows.append((*at, found.n, found.mean, found.low, found.high, values.max()))
    table = pd.DataFrame(rows, columns=["problem", "method", *keys, "instances", "mean", "low", "high", "worst"])

    def drawn() -> Any:
        from ..figures.curves import Axis, curves
        from ..figures.style import method_styles

        points = table.rename(columns={"method": "curve", "mean": "y"})
        each = [table["problem"], *(f"{name.replace('_', ' ')} " + table[name].map(exact) for name in keys[:-1])]
        points["panel"] = [", ".join(texts) for texts in zip(*each, strict=True)]
        points = points.assign(x=points[keys[-1]] if keys else points["curve"])
        across = Axis(keys[-1].replace("_", " ") if keys else "")
        points = points[["panel", "curve", "x", "y", "low", "high"]]
        styles = method_styles(runs)
        return _chart(curves, points, across, Axis(MEASURES[measure].title), name="mean", styles=styles, shaded=False)

    title = f"Mean {_titled(measure)} with its 95% interval"
    return ResultTable(table, title, drawn=drawn, names=_results(study).names)


def ratio_plot(
    study: AnyStudy,
    *methods: str,
    x: str = "nodes",
    y: str = "ratio",
    group: str = "variant",
    problem: str | None = None,
    **where: object,
) -> ResultTable:
    """The mean ratio to the best bound against what a study varied, with its 95% interval by Student's t.

    `x` is a workload's parameter, an option, a size, or a limit in a problem's name (``max-degree``), `y` a measure,
    `group` the column whose values are the curves. The table has a row a point; an `x` that does not vary is bad input.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.ratio_plot("results/mine", "gm", "low-oda", x="subscriptions").plot()  # doctest: +SKIP
    """
    from ..figures.against import plot_drawing, plot_table

    runs, plot = _runs(study, methods, problem, where), plot_of({"x": x, "y": y, "group": group})
    table = plot_table(runs, plot)
    names = {"x": x.replace("_", " "), **_results(study).names}
    title = f"{'Geometric mean' if y == 'time' else 'Mean'} {_titled(y)} against {x}"
    return ResultTable(table, title, drawn=partial(_chart, plot_drawing, runs, plot, table), names=names)


def _titled(measure: str) -> str:
    return measure if measure == "ratio" else MEASURES[measure].title


def _results(study: AnyStudy) -> StudyResults:
    return study if isinstance(study, StudyResults) else StudyResults(study)


def _runs(study: AnyStudy, methods: Sequence[str], problem: str | None, where: dict[str, object]) -> pd.DataFrame:
    """The judged runs of some methods, by label, variant or name; of all methods where none is named."""
    runs = _results(study).judged(**where)
    runs = runs if problem is None else runs[runs["problem"] == problem_named(problem).name]
    names = [own_name(method) for method in methods]
    for name in names:
        if not runs[["label", "variant", "method"]].eq(name).any(axis=None):
            raise unknown("method", name, sorted(set(runs["label"])))
    return runs[runs[["label", "variant", "method"]].isin(names).any(axis="columns")] if names else runs


def _estimate(middle: float, low: float, high: float) -> str:
    text = f"{middle:.3g}" + (f" [{low:.3g}, {high:.3g}]" if low == low else "")
    return text.replace("-", "−")


def own_name(variant: str) -> str:
    """A method as runs name it, with its options, where it is given as ``module:NAME``."""
    name, space, options = variant.partition(" ")
    if ":" not in name:
        return variant
    return f"{method_named(name).name}{space}{options}"


def _chart(draw: Callable[..., Any], *given: Any, **looks: Any) -> Any:
    if (drawing := draw(*given, **looks)) is None:
        raise BadInput("no run has a ratio: add an exact method to the study")
    return drawing.chart
