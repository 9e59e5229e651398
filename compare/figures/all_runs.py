"""The figures of a report over all runs: ratio against size, performance profile, time against size."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ...instances.contract.result import Status
from ...instances.topics.instance import TopicInstance
from ..studies.bounds import TOLERANCE, problem_order
from .growth import growth_drawing
from .overlay import overlay_drawing
from .scatter import scatter
from .style import QUIET, Drawing, Style, drawing, method_styles, panels, ratio_axis, styled, time_axis

_SHORTEST = 1e-5


def figures(runs: pd.DataFrame, load_instance: Callable[[str], TopicInstance]) -> list[Drawing]:
    """Every figure that the runs have data for.

    Parameters
    ----------
    runs : DataFrame
        The runs with their bounds (`judged_runs`).
    load_instance : callable
        Maps a digest to its instance; called for the overlay that is drawn.

    Notes
    -----
    The same runs give the same bytes. Cost O(R) for R runs.
    """
    styles = method_styles(runs)
    titles = dict(zip(runs["anchor"], _hover(runs), strict=True))
    drawn = [
        ratio_drawing(runs, styles, titles),
        profile_drawing(runs, styles),
        time_drawing(runs, styles, titles),
        growth_drawing(runs, styles),
        overlay_drawing(runs, load_instance),
    ]
    return [one for one in drawn if one is not None]


def _hover(runs: pd.DataFrame) -> list[str]:
    return [
        f"{run.label}: {run.family}, {run.nodes:g} nodes, {run.status}"
        + (f", value {run.value:g}" if np.isfinite(run.value) else "")
        + (f", ratio {run.ratio:.4g}" if np.isfinite(run.ratio) else "")
        + f", {run.seconds:.3g} s"
        for run in runs.itertuples()
    ]


def ratio_drawing(runs: pd.DataFrame, styles: Mapping[str, Style], titles: Mapping[str, str]) -> Drawing | None:
    """Ratio to the best bound against nodes: a dot for each run, a panel for each problem.

    A dot is filled if the optimum of its instance is proven, and hollow if only a bound is known.
    """
    shown = runs[runs["ratio"].notna()]
    if shown.empty:
        return None
    problems = problem_order(shown)
    with styled():
        figure, grid = panels(len(problems), [*_legend(shown, styles), *_fill_legend()])
        for axes, problem in zip(grid, problems, strict=True):
            here = shown[shown["problem"] == problem]
            ratio_axis(axes, float(here["ratio"].max()), along="y")
            scatter(axes, here, "ratio", styles, here["optimum"].notna(), log=False)
            axes.axhline(1, color=QUIET, linewidth=0.6, zorder=1)
            axes.set(title=problem, xlabel="nodes", ylabel="value ÷ best bound")
        missing = len(runs) - len(shown)
        caption = (
            "Ratio of each run's value to the best proven lower bound of its instance, against the number of nodes. "
            "Every run is a dot; at a ratio of 1 it is optimal. Filled: the optimum of the instance is proven, "
            "so the ratio is exact. Hollow: only a bound is known, and the true ratio is lower or equal. "
            "At each size the methods are side by side in the legend's order; a short bar is a method's mean."
        ) + (f" {missing:,} of {len(runs):,} runs have no answer or no bound and are not shown." if missing else "")
        return drawing(figure, "ratio", caption)


def time_drawing(runs: pd.DataFrame, styles: Mapping[str, Style], titles: Mapping[str, str]) -> Drawing | None:
    """Seconds against nodes, both logarithmic: a dot for each run, hollow if it reached its time limit."""
    shown = runs[runs["seconds"].notna() & (runs["status"] != Status.FAILED)]
    if shown.empty:
        return None
    shown = shown.assign(seconds=shown["seconds"].clip(lower=_SHORTEST))
    problems = problem_order(shown)
    kinds = [_dot(QUIET, "o", True, "finished"), _dot(QUIET, "o", False, "stopped by limit")]
    with styled():
        figure, grid = panels(len(problems), [*_legend(shown, styles), *kinds])
        for axes, problem in zip(grid, problems, strict=True):
            here = shown[shown["problem"] == problem]
            time_axis(axes, float(here["seconds"].min()), float(here["seconds"].max()))
            scatter(axes, here, "seconds", styles, here["status"] != Status.TIME_LIMIT, log=True)
            axes.set(title=problem, xlabel="nodes", ylabel="time")
        caption = (
            "Wall-clock time of the method, on a logarithmic scale, against the number of nodes. Every run that did "
            "not fail is a dot, hollow if it reached its time limit. A short bar is a method's geometric mean."
        )
        return drawing(figure, "time", caption)


def profile_drawing(runs: pd.DataFrame, styles: Mapping[str, Style]) -> Drawing | None:
    """Performance profile (Dolan and Moré 2002): the share of instances solved within a factor τ of the best bound."""
    bounded = runs[runs["bound"].notna() & ((runs["bound"] > 0) | (runs["value"] == 0))]
    problems = [problem for problem in problem_order(bounded) if bounded["problem"].eq(problem).any()]
    if bounded["ratio"].dropna().empty:
        return None
    with styled():
        figure, grid = panels(len(problems), _legend(bounded, styles, lines=True))
        for axes, problem in zip(grid, problems, strict=True):
            here = bounded[bounded["problem"] == problem]
            shared, count = common_instances(here)
            highest = max(float(shared["ratio"].max()), 1.0) if shared["ratio"].notna().any() else 1.0
            ratio_axis(axes, highest, along="x")
            draw_profile(axes, shared, styles)
            total = here["instance"].nunique()
            note = f"{count} of {total} instances" if count < total else f"{count} instances"
            axes.set(title=problem, xlabel="factor τ", ylabel=f"share of {note}")
        caption = (
            "Performance profile (Dolan and Moré): for each factor τ, the share of instances on which a method's value "
            "is at most τ times the best bound. Curves further up and to the left are better; a run without an answer "
            "counts as never within a factor. A panel covers the instances with a bound on which all its methods ran."
        )
        return drawing(figure, "profile", caption)


def draw_profile(axes: Axes, shared: pd.DataFrame, styles: Mapping[str, Style]) -> None:
    """Draw the profile of each label that has runs, on axes whose horizontal limits are set (`ratio_axis`)."""
    start, edge = axes.get_xlim()
    for label in (label for label in styles if label in set(shared["label"])):
        factors, shares = profile(shared[shared["label"] == label])
        axes.step(
            [start, 1.0, *factors, edge],
            [0.0, _at_one(factors, shares), *shares, shares[-1] if len(shares) else 0.0],
            where="post",
            color=styles[label].colour,
            linestyle=styles[label].dashes,
            linewidth=1.2,
        )
    axes.set_ylim(-0.02, 1.04)


def common_instances(runs: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """The runs on the instances common to all labels (all runs if there is none), and the number of instances."""
    labels = runs.groupby("instance")["label"].nunique()
    shared = labels.index[labels == runs["label"].nunique()]
    chosen = runs[runs["instance"].isin(shared)] if len(shared) else runs
    return chosen, int(chosen["instance"].nunique())


def profile(runs: pd.DataFrame) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The steps of one method's profile: increasing factors, and the share of instances within each.

    Several runs on an instance share its weight; a run without a ratio is within no factor.
    """
    weight = 1 / runs.groupby("instance")["instance"].transform("size") / max(runs["instance"].nunique(), 1)
    reached = runs.assign(weight=weight).dropna(subset=["ratio"]).groupby("ratio")["weight"].sum()
    factors: npt.NDArray[np.float64] = reached.index.to_numpy(dtype=np.float64)
    return factors, reached.to_numpy(dtype=np.float64).cumsum()


def _at_one(factors: npt.NDArray[np.float64], shares: npt.NDArray[np.float64]) -> float:
    within = shares[factors <= 1 + TOLERANCE]
    return float(within[-1]) if len(within) else 0.0


def _legend(shown: pd.DataFrame, styles: Mapping[str, Style], *, lines: bool = False) -> list[Line2D]:
    exact = dict(zip(shown["label"], shown["exact"], strict=True))
    return [
        Line2D([], [], color=style.colour, linestyle=style.dashes, linewidth=1.4, label=name)
        if lines
        else _dot(style.colour, style.marker, True, name)
        for label, style in styles.items()
        if label in exact
        for name in [f"{label} (exact)" if exact[label] else label]
    ]


def _fill_legend() -> list[Line2D]:
    return [_dot(QUIET, "o", True, "optimum proven"), _dot(QUIET, "o", False, "only a bound")]


def _dot(colour: str, marker: str, full: bool, label: str) -> Line2D:
    face = colour if full else "white"
    return Line2D(
        [], [], linestyle="none", marker=marker, color=colour, markerfacecolor=face, markersize=4, label=label
    )
