"""Claims about the curves of a figure: they rest on the runs of the figure's grid."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pandas as pd

from ..papers.bench import Bench
from ..papers.grids import GRIDS
from .claim import Claim, Finding, Verdict, open_if_fewer


def figure_claim(figure: str, statement: str, judge: Callable[[Bench], Iterable[Finding]], source: str = "") -> Claim:
    """A claim about a figure or table, judged by the runs of its grid; `source` is "P1 Figure 2" for P1.F2."""
    return Claim(figure, statement, source or f"{figure[:2]} Figure {figure[4:]}", judge, GRIDS[figure])


def mean_by(bench: Bench, measure: str, *columns: str) -> pd.Series:
    """The mean of a measure over the runs that did not fail, by these columns."""
    return bench.rows[bench.rows["status"] != "failed"].groupby(list(columns))[measure].mean()


def on_grid(bench: Bench, figure: str, subject: str, verdict: Verdict, evidence: str) -> Finding:
    """A finding from all runs of a grid: ``open here`` if the quick version covers fewer points."""
    runs, named = (len(GRIDS[figure](quick).recipes) for quick in (bench.quick, False))
    if bench.quick and len(_points(figure, True)) < len(_points(figure, False)):
        return open_if_fewer(verdict, evidence, subject, runs, named)
    return Finding(subject, verdict, evidence, runs)


def _points(figure: str, quick: bool) -> set[object]:
    return {(recipe.workload, recipe.parameters) for recipe in GRIDS[figure](quick).recipes}
