"""The figure of a paired comparison: differences with intervals, performance profile, critical-difference diagram."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ..studies.paired import Paired
from ..studies.plot import MEASURES
from .all_runs import draw_profile
from .style import INK, QUIET, Style, plain_ticks, ratio_axis

_PANEL_WIDTH, _PANEL_HEIGHT, _ROW_HEIGHT, _LEAST_WIDTH = 2.6, 2.0, 0.24, 2.2

Panel = Callable[[Axes, Paired, Mapping[str, Style]], None]


def paired_figure(comparisons: Sequence[Paired], styles: Mapping[str, Style], width: float = 0.0) -> Figure:
    """A line of panels for each problem: every pair's differences, the profile, and the ranks of three or more methods.

    Parameters
    ----------
    comparisons : sequence of Paired
        One a problem, all of the same measure.
    styles : mapping
        The style of each method (`method_styles`).
    width : float
        In inches, 0 for the usual one; in a narrow figure the panels are below each other.
    """
    kinds: list[Panel] = [_differences]
    kinds += [_profile] if all((one.values.to_numpy() > 0).all() for one in comparisons) else []
    kinds += [_ranks] if any(one.values.shape[1] > 2 for one in comparisons) else []
    panels = [(kind, one) for one in comparisons for kind in kinds]
    shares = [_SHARES[kind] for kind in kinds]
    width = width or _PANEL_WIDTH * sum(shares)
    columns = max(1, min(len(kinds), int(width / _LEAST_WIDTH)))
    rows = [panels[start : start + columns] for start in range(0, len(panels), columns)]
    heights = [max(_height(kind, one) for kind, one in row) for row in rows]
    figure = Figure(figsize=(width, sum(heights) + 0.3), layout="constrained")
    ratios = shares if columns == len(kinds) else None
    cells = figure.subfigures(len(rows), columns, squeeze=False, height_ratios=heights, width_ratios=ratios)
    for number, (kind, one) in enumerate(panels):
        kind(cells[divmod(number, columns)].add_subplot(), one, styles)
    handles = [
        Line2D([], [], color=styles[name].colour, linestyle=styles[name].dashes, linewidth=1.4, label=name)
        for name in dict.fromkeys(name for one in comparisons for name in one.values.columns)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=max(1, int(width / 1.45)), handletextpad=0.4)
    return figure


def _height(kind: Panel, comparison: Paired) -> float:
    rows = 0.0
    if kind is _differences:
        rows = len(comparison.table)
    elif kind is _ranks:
        rows = 1.5 + comparison.values.shape[1] / 2
    return max(_PANEL_HEIGHT, 0.7 + _ROW_HEIGHT * rows)


def _differences(axes: Axes, comparison: Paired, styles: Mapping[str, Style]) -> None:
    """A row a pair: the difference on each instance as a dot, the mean with its interval as a bar."""
    for row, pair in enumerate(comparison.table.itertuples()):
        difference = comparison.values[pair.first] - comparison.values[pair.second]
        colours = np.where(difference < 0, styles[pair.first].colour, styles[pair.second].colour)
        colours = np.where(difference == 0, QUIET, colours)
        offsets = (
            row + 0.3 * (np.arange(len(difference)) % 5 - 2) / 5
        )  # so that equal differences do not cover each other
        axes.scatter(difference, offsets, s=5, c=colours, linewidths=0, alpha=0.6, zorder=2)
        axes.errorbar(
            pair.mean,
            row,
            xerr=None if np.isnan(pair.mean_low) else [[pair.mean - pair.mean_low], [pair.mean_high - pair.mean]],
            color=INK,
            marker="|",
            markersize=8,
            linewidth=1.2,
            capsize=2.5,
            zorder=3,
        )
    axes.axvline(0, color=QUIET, linewidth=0.6, zorder=1)
    names = [f"{first} − {second}" for first, second in comparison.table[["first", "second"]].itertuples(index=False)]
    plain_ticks(axes.yaxis, range(len(names)), names)
    axes.set(ylim=(len(names) - 0.4, -0.6), xlabel=f"difference of {MEASURES[comparison.measure].title}")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.grid(visible=False, axis="y")
    axes.set_title(f"{comparison.problem}, {len(comparison.values)} instances", loc="left")


def _profile(axes: Axes, comparison: Paired, styles: Mapping[str, Style]) -> None:
    """The performance profile; relative to the best bound for ratios, to the best of the methods for other measures."""
    of_bound = comparison.measure == "ratio"
    values = (
        comparison.values if of_bound else comparison.values.div(comparison.values.min(axis="columns"), axis="index")
    )
    ratio_axis(axes, float(values.to_numpy().max()), along="x")
    shared = values.rename_axis(columns="label").stack().rename("ratio").reset_index()
    draw_profile(axes, shared, styles)
    axes.set(xlabel=f"factor τ of the best {'bound' if of_bound else 'method'}", ylabel="share of instances")


def _ranks(axes: Axes, comparison: Paired, styles: Mapping[str, Style]) -> None:
    """Mean ranks on a line; a bar joins methods that differ by less than the critical difference (Demšar 2006)."""
    axes.set_axis_off()
    ranks = comparison.ranks.sort_values(kind="stable")
    count, left = len(ranks), (len(ranks) + 1) // 2
    depth = 1.0 + 0.5 * len(comparison.cliques)
    axes.set(xlim=(0.9, count + 0.1), ylim=(max(depth + left, 6.0), -2.6))
    axes.plot([1, count], [0, 0], color=INK, linewidth=0.8)
    for tick in range(1, count + 1):
        axes.plot([tick, tick], [0, -0.2], color=INK, linewidth=0.8)
        axes.text(tick, -0.3, str(tick), ha="center", va="bottom")
    for order, (name, rank) in enumerate(ranks.items()):  # the better half is labelled on the left, from top to bottom
        line, end, side = (order, 0.9, "right") if order < left else (count - 1 - order, count + 0.1, "left")
        axes.plot([rank, rank, end], [0, depth + line, depth + line], color=styles[str(name)].colour, linewidth=1.0)
        axes.text(end, depth + line, f" {name} {rank:.2f} ", ha=side, va="center")
    for level, group in enumerate(comparison.cliques):
        bar = [ranks[group].min() - 0.04, ranks[group].max() + 0.04]
        axes.plot(bar, [0.5 + 0.5 * level] * 2, color=INK, linewidth=2.4, solid_capstyle="round")
    apart = comparison.critical_difference
    axes.plot([1, 1 + min(apart, count - 1)], [-1.5, -1.5], color=INK, linewidth=0.8, marker="|", markersize=4)
    axes.text(1, -1.75, f"critical difference {apart:.2f}", ha="left", va="bottom")
    axes.set_title("mean rank (1 is best)", loc="left")


_SHARES: Mapping[Panel, float] = {_differences: 1.35, _profile: 1.0, _ranks: 1.35}
"""The widths of panels beside each other."""
