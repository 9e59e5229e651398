"""Claims about the curves of a figure: they rest on the runs of the figure's grid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pandas as pd

from ..papers.bench import Bench
from ..papers.grids import GRIDS, SIZES
from .claim import Claim, Finding, Interval, Verdict
from .evidence import finding_from


def figure_claim(figure: str, statement: str, judge: Callable[[Bench], Iterable[Finding]], source: str = "") -> Claim:
    """A claim about a figure or table, judged by the runs of its grid; `source` is "P1 Figure 2" for P1.F2."""
    return Claim(figure, statement, source or f"{figure[:2]} Figure {figure[4:]}", judge, GRIDS[figure])


def mean_by(bench: Bench, measure: str, *columns: str) -> pd.Series:
    """The mean of a measure over the runs that did not fail, by these columns."""
    return bench.rows[bench.rows["status"] != "failed"].groupby(list(columns))[measure].mean()


def on_grid(
    bench: Bench,
    figure: str,
    subject: str,
    verdict: Verdict,
    evidence: str,
    intervals: Sequence[Interval] = (),
    *,
    reading: str = "",
) -> Finding:
    """A finding from all runs of a grid; its scope says how their sizes compare with the paper's."""
    return finding_from(bench.rows, SIZES.get(figure), subject, verdict, evidence, intervals, reading=reading)
