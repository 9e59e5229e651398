"""The gap against time: how fast each method approaches the best known value, from above and from below."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from ...instances.contract.result import Status
from ..studies.anytime import BOUND, VALUE, Steps, gap_steps, mean_steps
from ..studies.bounds import problem_order
from .style import QUIET, Drawing, Style, drawing, panels, plain_ticks, styled

_SHORTEST = 1e-3
_PERCENT = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


def anytime_drawing(runs: pd.DataFrame, styles: Mapping[str, Style]) -> Drawing | None:
    """The mean gap to the best known value against time: a panel for each problem.

    Parameters
    ----------
    runs : DataFrame
        The runs with their bounds (`judged_runs`).
    styles : mapping
        The style of each label.

    Returns
    -------
    Drawing or None
        None if no run has reported more than its outcome.
    """
    curves = gap_curves(runs)
    problems = [problem for problem in problem_order(runs) if any(each[0] == problem for each in curves)]
    if not problems:
        return None
    labels = [label for label in styles if any(each[1] == label for each in curves)]
    keys = [Line2D([], [], color=styles[label].colour, linewidth=1.4, label=label) for label in labels]
    kinds = [
        Line2D([], [], color=QUIET, linestyle="-", label="value"),
        Line2D([], [], color=QUIET, linestyle=":", label="bound"),
    ]
    with styled():
        figure, grid = panels(len(problems), [*keys, *kinds])
        for axes, problem in zip(grid, problems, strict=True):
            latest = _SHORTEST
            for label in labels:
                for of, dash in ((VALUE, "-"), (BOUND, ":")):
                    if (steps := curves.get((problem, label, of))) is not None:
                        times, gaps = np.maximum(steps[0], _SHORTEST), np.maximum(100 * steps[1], _PERCENT[0])
                        axes.step(times, gaps, where="post", color=styles[label].colour, linestyle=dash, linewidth=1.1)
                        latest = max(latest, float(times[-1]))
            axes.set(xscale="log", yscale="log", title=problem, xlabel="time", ylabel="mean gap (%)")
            ticks = [10.0**power for power in range(-3, 6) if 10.0**power <= 2 * latest]
            plain_ticks(axes.xaxis, ticks, [f"{at:,g} s" if at >= 1 else f"{1000 * at:g} ms" for at in ticks])
            axes.set_ylim(_PERCENT[0] / 1.3, 130)
            plain_ticks(axes.yaxis, _PERCENT, ["≤ 0.1", *(f"{gap:g}" for gap in _PERCENT[1:])])
        caption = (
            "Mean gap to the best value known of each instance against the elapsed time, both axes logarithmic. Solid: "
            "gap of the incumbent, 100% before a run's first answer. Dotted: gap of the proven lower bound. A curve is "
            "the mean over the runs of a method; a run keeps its last gap. Times are wall-clock times."
        )
        return drawing(figure, "anytime", caption)


def gap_curves(runs: pd.DataFrame) -> dict[tuple[str, str, str], Steps]:
    """The mean gap over time by problem, label, and ``value`` or ``lower_bound`` (only where a run has a bound).

    Problems whose runs have reported no more than their outcomes are left out.
    """
    curves: dict[tuple[str, str, str], Steps] = {}
    known = runs[runs["status"] != Status.SKIPPED]
    for problem, here in known.groupby("problem"):
        best = here.groupby("instance")["value"].min()
        rows = here[here["instance"].map(best).notna()]
        points = dict(rows["points"].items())
        if not any(len(each) > 1 for each in points.values()):
            continue
        for label, group in rows.groupby("label"):
            for of in (VALUE, BOUND) if group[BOUND].notna().any() else (VALUE,):
                each = [gap_steps(points[i], best[name], of) for i, name in group["instance"].items()]
                curves[str(problem), str(label), of] = mean_steps(each)
    return curves
