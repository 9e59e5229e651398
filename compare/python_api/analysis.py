"""What a study says about its methods: each function gives a table with a figure.

`study` is a folder or a :class:`StudyResults`. Methods are names, with options where several variants ran (``"low-oda
k=8"``); without any, all are taken. `problem` is one problem, by default every one that the methods answered. `measure`
is ratio, value, time, degree, gap or memory. `where` keeps the runs with these values: ``family="Zipf"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...instances.contract.errors import BadInput, unknown
from .studies import StudyResults
from .tables import ResultTable

if TYPE_CHECKING:
    import pandas as pd

    from ..studies.paired import Paired

AnyStudy = str | Path | StudyResults


@dataclass(frozen=True, repr=False)
class PairedTable(ResultTable):
    """The result of :func:`paired`; `comparisons` has one :class:`.Paired` a problem."""

    comparisons: tuple[Paired, ...] = ()

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
    return _paired(study, methods, problem, measure, where, ("differences", "profile", "ranks"))


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
    import pandas as pd

    found = _paired(study, methods, problem, measure, where, ("ranks",))
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
    return ResultTable(pd.DataFrame(rows), f"Mean ranks by {measure}; 1 is best", drawn=found.drawn, names=found.names)


def profile(study: AnyStudy, *methods: str, problem: str | None = None, **where: object) -> ResultTable:
    """The performance profile (Dolan and Moré 2002): the share of instances solved within a factor of the best bound.

    The table has a row a step: problem, method, factor, share; the figure a panel a problem.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.profile("results/mine", problem="min-tco").plot()  # doctest: +SKIP
    """
    import pandas as pd

    from ..figures.charts import common_instances, profile_chart, profile_points

    runs = _runs(study, methods, problem, where)
    runs = runs[runs["bound"].notna()]
    parts = [profile_points(common_instances(of)[0]).assign(problem=name) for name, of in runs.groupby("problem")]
    if not parts:
        raise BadInput("no instance has a proven bound: add an exact method to the study")
    rows = pd.concat(parts).rename(columns={"curve": "method", "x": "factor", "y": "share"})
    rows = rows[["problem", "method", "factor", "share"]].drop_duplicates(ignore_index=True)
    names = _results(study).names
    return ResultTable(rows, "Performance profile", drawn=lambda: _chart(profile_chart(runs)), names=names)


def mean_interval(
    study: AnyStudy,
    *methods: str,
    by: str | Sequence[str] = (),
    problem: str | None = None,
    measure: str = "ratio",
    **where: object,
) -> ResultTable:
    """The mean of a measure for each method, with its 95% interval by bootstrap over instances.

    The table has a row a problem, method and value of the columns `by` (such as a workload's parameter): instances,
    mean, low, high, worst. Its figure has the means against the last column of `by`, a panel for each value of others.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.mean_interval("results/mine", "gm", by="subscriptions").to_pandas()  # doctest: +SKIP
    """
    import numpy as np
    import pandas as pd

    from ..intervals import bootstrap_interval
    from ..studies.columns import varied
    from ..studies.plot import MEASURES

    runs, keys = _runs(study, methods, problem, where), [by] if isinstance(by, str) else list(by)
    columns = pd.concat([varied(runs), runs], axis="columns") if keys else runs
    if missing := [name for name in keys if name not in columns]:
        raise unknown("column", missing[0], columns.columns)
    if measure not in MEASURES:
        raise unknown("measure", measure, MEASURES)
    measured = runs.assign(
        y=runs[MEASURES[measure].column] / MEASURES[measure].unit, **{name: _first(columns[name]) for name in keys}
    )
    # Repeats are averaged first: instances are what is sampled.
    each = measured.dropna(subset="y").groupby(["problem", "label", *keys, "instance"], sort=False)["y"].mean()
    rows = []
    for at, values in each.groupby(["problem", "label", *keys], sort=False):
        low, high = bootstrap_interval(values.to_numpy(), np.mean)
        numbers = {"instances": len(values), "mean": values.mean(), "low": low, "high": high, "worst": values.max()}
        rows.append(dict(zip(["problem", "method", *keys], at, strict=True)) | numbers)
    table = pd.DataFrame(rows, columns=["problem", "method", *keys, "instances", "mean", "low", "high", "worst"])

    def drawn() -> Any:
        from ..figures.curves import Axis, curves
        from ..figures.style import method_styles
        from ..studies.results import as_text

        points = table.rename(columns={"method": "curve", "mean": "y"})
        each = [table["problem"], *(f"{name.replace('_', ' ')} " + table[name].map(as_text) for name in keys[:-1])]
        points["panel"] = [", ".join(texts) for texts in zip(*each, strict=True)]
        points = points.assign(x=points[keys[-1]] if keys else points["curve"])
        across = Axis(keys[-1].replace("_", " ") if keys else "")
        points = points[["panel", "curve", "x", "y", "low", "high"]]
        return _chart(
            curves(points, across, Axis(MEASURES[measure].title), name="mean", styles=method_styles(runs), shaded=False)
        )

    return ResultTable(table, f"Mean {measure} with its 95% interval", drawn=drawn, names=_results(study).names)


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
    from ..studies.plot import plot_of

    runs, plot = _runs(study, methods, problem, where), plot_of({"x": x, "y": y, "group": group})
    table = plot_table(runs, plot)
    drawn, names = lambda: _chart(plot_drawing(runs, plot, table)), {"x": x.replace("_", " "), **_results(study).names}
    return ResultTable(table, f"Mean {y} against {x}", drawn=drawn, names=names)


def _first(found: Any) -> Any:
    """The parameter, where a size has its name too."""
    return found if found.ndim == 1 else found.iloc[:, 0]


def _results(study: AnyStudy) -> StudyResults:
    return study if isinstance(study, StudyResults) else StudyResults(study)


def _runs(study: AnyStudy, methods: Sequence[str], problem: str | None, where: dict[str, object]) -> pd.DataFrame:
    """The judged runs of some methods, by label, variant or name; of all methods where none is named."""
    runs = _results(study).judged(**where)
    runs = runs if problem is None else runs[runs["problem"] == _problem(problem)]
    names = [own_name(method) for method in methods]
    for name in names:
        if not runs[["label", "variant", "method"]].eq(name).any(axis=None):
            raise unknown("method", name, sorted(set(runs["label"])))
    return runs[runs[["label", "variant", "method"]].isin(names).any(axis="columns")] if names else runs


def _paired(
    study: AnyStudy,
    methods: Sequence[str],
    problem: str | None,
    measure: str,
    where: dict[str, object],
    parts: tuple[str, ...],
) -> PairedTable:
    import pandas as pd

    from ..studies.bounds import problem_order
    from ..studies.paired import explained
    from ..studies.paired import paired as paired_on

    runs, names = _runs(study, (), None, where), [own_name(method) for method in methods]
    found, errors = [], []
    for name in problem_order(runs) if problem is None else [_problem(problem)]:
        try:
            found.append(paired_on(runs, names, name, measure))
        except BadInput as error:
            errors.append(error)
    if not found:
        raise errors[0] if errors else BadInput("there are no such runs: see `overlaybench results`")

    def drawn(parts: Sequence[str] = parts) -> Any:
        from ..figures.paired import paired_chart
        from ..figures.style import method_styles

        return paired_chart(found, method_styles(runs), parts)

    rows = pd.concat([one.table.assign(problem=one.problem, measure=measure) for one in found], ignore_index=True)
    notes = tuple(f"{one.problem}: {explained(one)}" for one in found)
    title = f"Paired differences of the {measure}, first minus second"
    return PairedTable(rows, title, notes, drawn=drawn, names=_results(study).names, comparisons=tuple(found))


def _estimate(middle: float, low: float, high: float) -> str:
    text = f"{middle:.3g}" + (f" [{low:.3g}, {high:.3g}]" if low == low else "")
    return text.replace("-", "−")


def own_name(variant: str) -> str:
    """A method as runs name it, with its options, where it is given as ``module:NAME``."""
    name, space, options = variant.partition(" ")
    if ":" not in name:
        return variant
    from ..catalogue import METHODS

    return f"{METHODS.named(name).name}{space}{options}"


def _problem(name: str) -> str:
    from ..catalogue import problem_named

    return problem_named(name).name


def _chart(drawing: Any) -> Any:
    if drawing is None:
        raise BadInput("no run has a ratio: add an exact method to the study")
    return drawing.chart
