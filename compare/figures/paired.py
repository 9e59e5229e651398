"""The chart of a paired comparison: differences with intervals, performance profile, critical-difference diagram."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ..studies.paired import Paired
from ..studies.plot import MEASURES
from .charts import profile_points
from .curves import Axis, concatenated, curve_layers, data
from .style import INK, QUIET, Style, current_options

_WIDTH, _HEIGHT, _ROW, _LEAST_WIDTH = 180, 110, 16, 158  # points
_JITTER = 0.12

PARTS = ("differences", "profile", "ranks")
Panel = Callable[[Paired, Mapping[str, Style]], Any]


def paired_chart(
    comparisons: Sequence[Paired], styles: Mapping[str, Style], parts: Sequence[str] = PARTS
) -> Mapping[str, Any]:
    """A line of panels for each problem: every pair's differences, the profile, and the ranks of three or more methods.

    The comparisons are one a problem, all of one measure; `styles` are those of the methods (`method_styles`). Returns
    the specification with those `parts` that there are data for, empty if there are none; in a narrow figure the panels
    are below each other.
    """
    positive = all((one.values.to_numpy() > 0).all() for one in comparisons)
    known: dict[str, tuple[Panel, bool]] = {
        "differences": (_differences, True),
        "profile": (_profile, positive),
        "ranks": (_ranks, all(one.values.shape[1] > 2 for one in comparisons)),
    }
    kinds = [known[part][0] for part in parts if known[part][1]]
    if not kinds:
        return {}
    names = list(dict.fromkeys(str(name) for one in comparisons for name in one.values.columns))
    width, shown = current_options().width, {name: styles[name] for name in names}
    columns = max(1, min(len(kinds), int(width * 72 / _LEAST_WIDTH))) if width else len(kinds)
    return concatenated([kind(one, shown) for one in comparisons for kind in kinds], columns, names)


def _differences(comparison: Paired, styles: Mapping[str, Style]) -> Any:
    """A row a pair: the difference on each instance as a dot, the mean with its interval as a bar."""
    table = comparison.table
    pairs = [f"{first} − {second}" for first, second in table[["first", "second"]].itertuples(index=False)]
    dots = []
    for pair, (first, second) in zip(pairs, table[["first", "second"]].itertuples(index=False), strict=True):
        difference = (comparison.values[first] - comparison.values[second]).to_numpy()
        better = [styles[first if each < 0 else second].colour if each else QUIET for each in difference]
        # So that equal differences do not cover each other.
        jitter = _JITTER * (np.arange(len(difference)) % 5 - 2)
        dots.append(pd.DataFrame({"pair": pair, "difference": difference, "better": better, "jitter": jitter}))
    means = table.assign(pair=pairs)[["pair", "mean", "mean_low", "mean_high"]]
    y = alt.Y("pair:N", sort=pairs, title=None, axis=alt.Axis(labelLimit=0, domain=False, ticks=False, grid=False))
    along = alt.X("difference:Q", title=f"difference of {MEASURES[comparison.measure].title}")
    mean = alt.Chart(data(means))
    zero = alt.Chart(data(pd.DataFrame([{}]))).mark_rule(color=QUIET, strokeWidth=0.6).encode(x=alt.datum(0))
    points = alt.Chart(data(pd.concat(dots))).mark_circle(size=7, opacity=0.6)
    offset = alt.YOffset("jitter:Q", scale=alt.Scale(domain=[-0.5, 0.5]))
    return alt.layer(
        zero,
        points.encode(
            x=along, y=y, yOffset=offset, color=alt.Color("better:N", scale=None), tooltip=["pair:N", "difference:Q"]
        ),
        mean.mark_rule(color=INK, strokeWidth=1.2).encode(x="mean_low:Q", x2="mean_high:Q", y=y),
        mean.mark_tick(color=INK, thickness=1.4, size=10).encode(x="mean:Q", y=y, tooltip=["pair:N", "mean:Q"]),
    ).properties(
        width=_WIDTH,
        height=max(_HEIGHT, _ROW * len(pairs)),
        title=f"{comparison.problem}, {len(comparison.values)} instances",
    )


def _profile(comparison: Paired, styles: Mapping[str, Style]) -> Any:
    """The performance profile; relative to the best bound for ratios, to the best of the methods for other measures."""
    of_bound, values = comparison.measure == "ratio", comparison.values
    values = values if of_bound else values.div(values.min(axis="columns"), axis="index")
    points = profile_points(values.rename_axis(columns="label").stack().rename("ratio").reset_index())
    x = Axis(f"factor τ of the best {'bound' if of_bound else 'method'}", log=bool(points["x"].max() > 3))
    layers = curve_layers(points, x, Axis("share of instances", zero=True), styles, form="step")
    return alt.layer(*layers, data=data(points)).properties(width=_WIDTH, height=_HEIGHT, title=" ")


def _ranks(comparison: Paired, styles: Mapping[str, Style]) -> Any:
    """Mean ranks on a line; a bar joins methods that differ by less than the critical difference (Demšar 2006)."""
    ranks = comparison.ranks.sort_values(kind="stable")
    count, left, cliques = len(ranks), (len(ranks) + 1) // 2, comparison.cliques
    depth, apart = 1.0 + 0.5 * len(cliques), comparison.critical_difference
    lines: list[tuple[Any, ...]] = [
        (1.0, 0.0, float(count), 0.0, INK, 0.8),
        (1.0, -1.5, 1 + min(apart, count - 1.0), -1.5, INK, 0.8),
    ]
    lines += [(tick, 0.0, tick, -0.2, INK, 0.8) for tick in range(1, count + 1)]
    texts: list[tuple[Any, ...]] = [(tick, -0.4, str(tick), "center") for tick in range(1, count + 1)]
    texts += [(1.0, -1.8, f"critical difference {apart:.2f}", "left")]
    for order, (name, rank) in enumerate(ranks.items()):  # the better half is labelled on the left, from top to bottom
        line, end, side = (order, 0.9, "right") if order < left else (count - 1 - order, count + 0.1, "left")
        colour = styles[str(name)].colour
        lines += [(rank, 0.0, rank, depth + line, colour, 1.0), (rank, depth + line, end, depth + line, colour, 1.0)]
        texts.append((end, depth + line + 0.15, f" {name} {rank:.2f} ", side))
    for level, group in enumerate(cliques):
        lines.append(
            (ranks[group].min() - 0.04, 0.5 + 0.5 * level, ranks[group].max() + 0.04, 0.5 + 0.5 * level, INK, 2.4)
        )
    shown = data(pd.DataFrame(lines, columns=["x", "y", "x2", "y2", "colour", "width"]))
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0.9, count + 0.1], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[max(depth + left, 6.0), -2.6], nice=False))
    rule = alt.Chart(shown).mark_rule(strokeCap="round")
    layers: list[alt.Chart] = [
        rule.encode(
            *(x, y, alt.X2("x2:Q"), alt.Y2("y2:Q"), alt.Color("colour:N", scale=None)),
            strokeWidth=alt.StrokeWidth("width:Q", scale=None),
        )
    ]
    for side in ("left", "center", "right"):
        own = pd.DataFrame([text[:3] for text in texts if text[3] == side], columns=["x", "y", "text"])
        look: dict[str, Any] = {
            "align": side,
            "baseline": "bottom",
            "fontSize": current_options().font_size,
            "color": INK,
        }
        layers.append(alt.Chart(data(own)).mark_text(**look).encode(x, y, text="text:N"))
    return alt.layer(*layers).properties(
        width=_WIDTH,
        height=max(_HEIGHT, _ROW * (1.5 + count / 2)),
        title=f"{comparison.problem}: mean rank (1 is best)",
    )
