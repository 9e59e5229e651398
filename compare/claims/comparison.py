"""Figures of published numbers and ours in the same axes, drawn from the intervals of a claim's findings."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from textwrap import shorten
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..figures.style import INK, TOPIC_COLOURS, Drawing, FigureOptions, drawing, plain_ticks, scaled, styled
from .claim import Finding, Interval
from .page_paper import compared, figure_of

_AT = re.compile(r"(?:[,;]? *\bat\b)? *(?P<symbol>[^\s=,;]+) ?= ?(?P<value>-?\d+(?:\.\d+)?)(?![\w.])")
_MOST, _ROW, _CURVES, _MARGIN, _WIDTH = 40, 0.155, 1.7, 0.55, 5.6
_LOG, _TITLE, _BYTES = 20, 78, 60_000
_PUBLISHED: Mapping[str, Any] = {"color": INK, "linestyle": "", "marker": "D", "markersize": 4, "fillstyle": "none"}
_OURS: Mapping[str, Any] = {"color": TOPIC_COLOURS[0], "linestyle": "", "marker": "o", "markersize": 3}

Curves = Mapping[str, Sequence[tuple[float, Interval]]]


def comparison_drawings(id_: str, findings: Iterable[Finding]) -> list[Drawing]:
    """One figure, with a panel for each finding that has a published number; none if no finding has.

    Intervals that differ in a number only (``RingPT ÷ GM at |V| = 1000``) are points of a curve along it, others are
    rows. Whiskers are 95% intervals. The last findings are left out of a file of more than 60 kB: tables have them all.
    """
    chosen = [(finding, curves_of(finding.intervals)) for finding in compared(findings)]
    drawn = cache(lambda count: _drawn(id_, chosen[:count]))
    # More findings make a larger file, and a drawing takes seconds.
    fitting = bisect_right(range(1, len(chosen) + 1), _BYTES, key=lambda count: len(drawn(count).svg_file))
    return [drawn(max(1, fitting))] if chosen else []


def _drawn(id_: str, chosen: Sequence[tuple[Finding, tuple[str, Curves] | None]]) -> Drawing:
    heights = [_CURVES if along else _ROW * (_rows(finding) + 1) for finding, along in chosen]
    heights = [height + _MARGIN for height in heights]
    with styled(FigureOptions(formats=("svg",))):
        page = Figure(figsize=scaled(_WIDTH, sum(heights) + 0.3), layout="constrained")
        cells = page.add_gridspec(len(chosen), 1, height_ratios=heights)
        for number, (finding, along) in enumerate(chosen):
            axes = page.add_subplot(cells[number, 0])
            if along:
                _draw_curves(axes, *along)
            else:
                _draw_rows(axes, [one for one in finding.intervals if one.claimed is not None][:_MOST])
            # Right-aligned, so that a long title extends over the labels of the rows.
            axes.set_title(shorten(f"{finding.subject}: {finding.verdict}", _TITLE, placeholder=" …"), loc="right")
        handles = [Line2D([], [], label="published", **_PUBLISHED), Line2D([], [], label="ours, 95% interval", **_OURS)]
        page.legend(handles=handles, loc="outside lower center", ncols=2)
        found = drawing(page, figure_of(id_), f"{id_}: published numbers and ours.")
    svg = re.sub(rb"(\d\.\d\d)\d+", rb"\1", found.svg_file)
    return replace(found, files={**found.files, "svg": svg})


def curves_of(intervals: Sequence[Interval]) -> tuple[str, Curves] | None:
    """The symbol along which intervals are curves, and these by name; None if they are none.

    The symbol is the last one that every interval's name gives a number, with three values or more.
    """
    given = [{match["symbol"]: match for match in _AT.finditer(one.of)} for one in intervals]
    common = [symbol for symbol in given[-1] if all(symbol in one for one in given)] if given else []
    for symbol in reversed(common):
        if len({one[symbol]["value"] for one in given}) >= 3:
            curves: dict[str, list[tuple[float, Interval]]] = {}
            for one, names in zip(intervals, given, strict=True):
                match = names[symbol]
                name = f"{one.of[: match.start()]}{one.of[match.end() :]}".strip(" ,;:")
                curves.setdefault(name, []).append((float(match["value"]), one))
            return symbol, {name: sorted(points, key=lambda point: point[0]) for name, points in curves.items()}
    return None


def _rows(finding: Finding) -> int:
    return min(_MOST, sum(one.claimed is not None for one in finding.intervals))


def _told_apart(names: Sequence[str]) -> tuple[str, list[str]]:
    """The parts that all names have, and each name without them: long names leave no room for the axes."""
    parts = [name.split(", ") for name in names]
    common = [part for part in parts[0] if len(parts) > 1 and all(part in own for own in parts)]
    return ", ".join(common), [", ".join(part for part in own if part not in common) for own in parts]


def _draw_curves(axes: Axes, symbol: str, curves: Curves) -> None:
    common, names = _told_apart(list(curves)) if len(curves) > 1 else (next(iter(curves)), [""])
    for rank, (name, points) in enumerate(zip(names, curves.values(), strict=True)):
        colour = TOPIC_COLOURS[rank % len(TOPIC_COLOURS)]
        x, ours = [at for at, _ in points], [one for _, one in points]
        style = {**_OURS, "color": colour, "linestyle": "-", "linewidth": 0.8}
        axes.errorbar(x, [one.mean for one in ours], yerr=_whiskers(ours), label=name, elinewidth=0.8, **style)
        published = [(at, one.claimed) for at, one in points if one.claimed is not None]
        if published:
            style = {**_PUBLISHED, "color": colour if len(curves) > 1 else INK, "linestyle": "--", "linewidth": 0.8}
            axes.plot(*zip(*published, strict=True), **style)
    axes.set_xlabel(f"{common}, against {symbol}" if common else symbol)
    _scale(axes, [one for points in curves.values() for _, one in points], "y")
    if len(curves) > 1:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _draw_rows(axes: Axes, intervals: Sequence[Interval]) -> None:
    at = list(range(len(intervals)))
    axes.errorbar([one.mean for one in intervals], at, xerr=_whiskers(intervals), elinewidth=1, **_OURS)
    axes.plot([float(one.claimed or 0) for one in intervals], at, **_PUBLISHED)
    common, names = _told_apart([one.of for one in intervals])
    axes.set_yticks(at, names)
    axes.set_xlabel(common)
    axes.set_ylim(len(intervals) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", visible=True)
    _scale(axes, intervals, "x")


def _whiskers(intervals: Sequence[Interval]) -> list[list[float]]:
    below = [one.mean - (one.mean if one.low is None else one.low) for one in intervals]
    above = [(one.mean if one.high is None else one.high) - one.mean for one in intervals]
    return [below, above]


def _scale(axes: Axes, intervals: Sequence[Interval], along: str) -> None:
    """A logarithmic axis where positive numbers differ by more than a factor of 20, otherwise one from 0."""
    numbers = [number for one in intervals for number in (one.mean, one.low, one.claimed) if number is not None]
    if min(numbers) > 0 and max(numbers) > _LOG * min(numbers):
        (axes.set_xscale if along == "x" else axes.set_yscale)("log")
        powers = range(math.floor(math.log10(min(numbers))), math.ceil(math.log10(max(numbers))) + 1)
        steps = (1, 3) if len(powers) <= 4 else (1,)
        ticks = [base * 10.0**power for power in powers for base in steps]
        plain_ticks(axes.xaxis if along == "x" else axes.yaxis, ticks)
    elif min(numbers) >= 0:
        (axes.set_xlim if along == "x" else axes.set_ylim)(0)
