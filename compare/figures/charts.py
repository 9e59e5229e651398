"""The charts of a study: runs, profile, growth, gap over time, content, brokers, paired methods; the map of proofs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ...instances.contract.result import Status
from ...instances.contract.terms import said
from ..studies.bounds import problem_order, sorted_by
from ..studies.columns import BOUND, VALUE, GapSteps, Steps
from ..studies.paired import Paired
from ..studies.plot import MEASURES
from ..studies.proofs import TOLERANCE
from ..studies.row import object_in
from .against import means_chart
from .curves import (
    Axis,
    across,
    colours,
    concatenated,
    curve_layers,
    curves,
    dash,
    data,
    hollow,
    panels,
    shapes,
    x_channel,
    y_channel,
)
from .style import INK, QUIET, TICKS, Drawing, Style, current_options, drawing, method_styles

_WIDE, _MOST_DOTS = 3.0, 2000
_OVERVIEW, _NARROW = 170, 6.0  # points a panel; inches, below which its panels are below each other
_SHORTEST, _SMALLEST_GAP = 1e-5, 0.1
_AT_A_LIMIT = (Status.TIME_LIMIT, Status.MEMORY_LIMIT)
SIZES = {"nodes": "nodes", "topics": "topics", "subscriptions": "topics a node"}
_MEASURES = {"seconds": ("time (s)", 1.0, 1e-3), "peak_memory": ("memory (MiB)", 2.0**20, 2.0**20)}
_FEWEST_SIZES = 4
_LABEL = 0.055  # the height of a label as a share of its panel
_LOWEST_TIME = 1e-3


def _named(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs by their labels in legends: exact methods say so."""
    return runs.assign(label=runs["label"] + np.where(runs["exact"].astype(bool), " (exact)", ""))


def overview_chart(runs: pd.DataFrame, name: str = "overview") -> Drawing | None:
    """Ratio to the best bound by problem: each method is a strip of dots with its mean and the share of its optima."""
    runs = _named(runs)
    shown = sorted_by(runs[runs["ratio"].notna()], "problem")
    if shown.empty:
        return None
    points = pd.DataFrame({"panel": shown["problem"], "curve": shown["label"], "x": shown["ratio"]})
    own = points[["panel", "curve"]]
    share = runs.groupby(["problem", "label"])["reached"].mean().reindex(pd.MultiIndex.from_frame(own))
    points["share"] = np.where(own.duplicated(), None, (100 * share).map("{:.3g}%".format).to_numpy())
    styles, many, options = method_styles(shown), len(points) > _MOST_DOTS, current_options()
    y = alt.Y("curve:N", sort=list(styles), title=None, axis=alt.Axis(grid=True, ticks=False, domain=False))
    axis, colour = Axis("value ÷ best bound", log=True), colours(styles, shown=False)
    ticks = pd.Series(_ratio_ticks(points["x"]))
    x, least, mean = (x_channel(axis, ticks, field) for field in ("x", "least", "mean"))
    of = alt.Chart().transform_aggregate(least="min(x)", most="max(x)", mean="mean(x)", groupby=["curve"])
    each = alt.Chart().mark_point(filled=True, size=9, opacity=0.5).encode(x=x, y=y, color=colour)
    if many:
        each = of.mark_rule(strokeWidth=2, opacity=0.5).encode(x=least, x2="most:Q", y=y, color=colour)
    tick = of.mark_tick(thickness=1.6, size=10, color=INK).encode(x=mean, y=y, tooltip=["curve:N", "mean:Q"])
    known = alt.Chart().transform_filter("isValid(datum.share)")
    text = known.mark_text(align="left", dx=3, color=INK, fontSize=TICKS * options.font_size)
    layers = [each, tick, text.encode(x=alt.value("width"), y=y, text="share:N")]
    methods = int(points.groupby("panel")["curve"].nunique().max())
    beside = 1 if 0 < options.width < _NARROW else 2
    spec = panels(layers, points, [], size=(_OVERVIEW, 11.0 * methods + 8), most=beside, ticks=_ratio_ticks)
    spec["config"]["facet"] = {"spacing": {"row": 14, "column": 34}}
    caption = (
        "Ratio of each run's value to the best proven lower bound of its instance, by problem. "
        f"{'A strip spans a method’s runs' if many else 'Every run is a dot'}, the bar is a method's mean, and 1 is "
        "optimal. The number on the right is the share of a method's runs that gave a proven optimum."
    )
    return drawing(spec, name, caption)


def _ratio_ticks(ratios: Iterable[float]) -> list[float]:
    """At most five round numbers from 1 to the largest ratio, or from 1 on the usual ones if that is above 3."""
    most = max(ratios)
    if most > 3:
        return [tick for tick in (1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0) if tick <= most]
    step = next(size for size in (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if most - 1 <= 4.5 * size)
    return [round(1 + step * number, 3) for number in range(int((most - 1) / step + 1e-9) + 1)]


def ratio_chart(runs: pd.DataFrame) -> Drawing | None:
    """Ratio to the best bound against nodes: a dot for each run, filled if the optimum of its instance is proven."""
    shown = runs[runs["ratio"].notna()]
    missing = len(runs) - len(shown)
    caption = (
        "Ratio of each run's value to the best proven lower bound of its instance, against the number of nodes. A "
        "short bar is a method's mean. Filled: the optimum is proven. Hollow: only a bound is known; the true ratio "
        "is lower or equal."
    ) + (f" {missing:,} of {len(runs):,} runs have no answer or no bound and are not shown." if missing else "")
    shown = shown.assign(y=shown["ratio"], filled=shown["optimum"].notna())
    return _dots(shown, Axis("value ÷ best bound", log=True), "only a bound", "ratio", caption, rule=1.0)


def time_chart(runs: pd.DataFrame) -> Drawing | None:
    """Seconds against nodes, logarithmic: a dot for each run, hollow if it reached its time limit."""
    shown = runs[runs["seconds"].notna() & (runs["status"] != Status.FAILED)]
    caption = (
        "Wall-clock time of the method, on a logarithmic scale, against the number of nodes. Every run that did "
        "not fail is a dot, hollow if it reached its time limit. A short bar is a method's geometric mean."
    )
    shown = shown.assign(y=shown["seconds"].clip(lower=_SHORTEST), filled=~shown["status"].isin(_AT_A_LIMIT))
    return _dots(shown, Axis("time", log=True, unit="s"), "stopped by limit", "time", caption, geometric=True)


def _dots(
    shown: pd.DataFrame,
    axis: Axis,
    empty: str,
    name: str,
    caption: str,
    *,
    geometric: bool = False,
    rule: float | None = None,
) -> Drawing | None:
    """A dot a run at its `y` that links to its row, hollow where not `filled`; a short bar at each method's mean."""
    if shown.empty:
        return None
    shown = sorted_by(_named(shown), "problem")
    styles, filled = method_styles(shown), shown["filled"]
    points = pd.DataFrame(
        {
            "panel": shown["problem"],
            "curve": shown["label"],
            "x": shown["nodes"],
            "y": shown["y"],
            "filled": filled,
            "run": "#" + shown["anchor"],
            "about": _about(shown),
        }
    )
    along: dict[str, Any] = {"x": x_channel(Axis("nodes", log=True), points["x"])}
    beside = points["x"].nunique() == 1
    if beside:
        along["x"] = alt.X("x:O", title=said("nodes"), sort="ascending")
        along["xOffset"] = alt.XOffset("curve:N", sort=list(styles), scale=alt.Scale(domain=list(styles)))
    colour = {"color": colours(styles)}
    own = {**along, **colour, "shape": shapes(styles), "y": y_channel(axis)}
    own |= {"href": alt.Href("run:N"), "tooltip": alt.Tooltip("about:N"), "description": alt.Description("about:N")}
    logarithm, power = ("log(datum.y)", "exp(datum.mean)") if geometric else ("datum.y", "datum.mean")
    means = (
        alt.Chart()
        .transform_calculate(scaled=logarithm)
        .transform_aggregate(mean="mean(scaled)", count="count()", groupby=["x", "curve"])
        .transform_filter("datum.count > 1")
        .transform_calculate(y=power)
    )
    marked = means.mark_tick(orient="horizontal", thickness=1.2, size=max(3, 110 / len(styles)) if beside else 8)
    ways = [marked] if beside else [means.mark_line(strokeWidth=0.8), marked]
    dots = alt.Chart().transform_filter("datum.filled").mark_point(filled=True, size=11, opacity=0.7).encode(**own)
    layers = [dots]
    if len(points) > _MOST_DOTS:
        caption += f" Of more than {_MOST_DOTS:,} runs, a line from a method's lowest to its highest is shown."
        ends = alt.Chart().transform_aggregate(low="min(y)", high="max(y)", groupby=["x", "curve"])
        spanned = ends.mark_rule(strokeWidth=0.8, opacity=0.6)
        layers = [spanned.encode(**along, **colour, y=y_channel(axis, "low"), y2="high:Q")]
    elif not filled.all():
        rings = alt.Chart().transform_filter("!datum.filled").transform_calculate(hollow=f"'{empty}'")
        ring = rings.mark_point(filled=False, size=11, strokeWidth=0.6)
        layers.append(ring.encode(**own, opacity=hollow(empty)))
    layers += [way.encode(**along, **colour, y=y_channel(axis)) for way in ways]
    return drawing(panels([*across(rule), *layers], points, styles), name, said(caption))


def _about(runs: pd.DataFrame) -> list[str]:
    return [
        f"{run.label}: {run.family}, {run.nodes:g} nodes, {run.status}"
        + (f", value {run.value:g}" if np.isfinite(run.value) else "")
        + (f", ratio {run.ratio:.4g}" if np.isfinite(run.ratio) else "")
        + f", {run.seconds:.3g} s"
        for run in runs.itertuples()
    ]


@cache
def chosen_charts() -> dict[str, Any]:
    """The charts whose axes the reader of a page chooses: every run (runs), their means, and the profile.

    The page fills in their data (rows with label, instance, x, y and ratio), titles and scales.
    """
    blank = alt.Chart(alt.NamedData("chosen"))
    given: dict[str, Any] = {"x": "x:Q", "y": "y:Q", "color": alt.Color("label:N", legend=None), "xOffset": "label:N"}
    marked = {**given, "fill": alt.Fill("label:N", legend=None), "shape": alt.Shape("label:N", legend=None)}
    point = blank.mark_point(size=55, strokeWidth=1.2, tooltip=alt.TooltipContent("data"))
    proven = alt.condition("datum.proven", alt.value(0.85), alt.value(0.001))
    ends: Any = {"low": "min(y)", "high": "max(y)", "y": "mean(y)"}
    counts: Any = {"runs": "count()", "instances": "distinct(instance)"}
    means = alt.layer(
        blank.mark_rule(strokeWidth=1.2).encode(**{**given, "y": "low:Q", "y2": "high:Q"}),
        blank.mark_line(strokeWidth=1.5).encode(**given).properties(name="line"),
        point.encode(**marked),
    )
    counted = blank.transform_joinaggregate(total="count()", groupby=["label"])
    ranked = counted.transform_filter("isValid(datum.ratio)").transform_window(
        rank="row_number()", sort=[alt.SortField("ratio")], groupby=["label"]
    )
    line = ranked.transform_calculate(share="datum.rank / datum.total").mark_line(
        interpolate="step-after", strokeWidth=2, point=alt.OverlayMarkDef(filled=True, size=30)
    )
    profile = line.encode(
        x=alt.X("ratio:Q", title="factor of the best bound"),
        y=alt.Y("share:Q", title="share of runs within the factor", scale=alt.Scale(domain=[0, 1])),
        color=given["color"],
        tooltip=["label:N", "ratio:Q", alt.Tooltip("share:Q", format=".0%")],
    )
    charts = {
        "runs": point.encode(**marked, fillOpacity=proven),
        "means": means.transform_aggregate(**ends, **counts, groupby=["label", "x"]),
        "profile": profile,
    }
    return {name: chart.to_dict(validate=False) for name, chart in charts.items()}


def profile_chart(runs: pd.DataFrame) -> Drawing | None:
    """Performance profile (Dolan and Moré 2002): the share of instances solved within a factor τ of the best bound."""
    bounded = _named(runs[runs["bound"].notna() & ((runs["bound"] > 0) | (runs["value"] == 0))])
    if bounded["ratio"].dropna().empty:
        return None
    parts = []
    for problem in problem_order(bounded):
        here = bounded[bounded["problem"] == problem]
        if len(here):
            shared, count = common_instances(here)
            total = here["instance"].nunique()
            title = f"{problem}, {count} of {total} instances" if count < total else f"{problem}, {count} instances"
            parts.append(profile_points(shared).assign(panel=title))
    caption = (
        "Performance profile (Dolan and Moré): the share of instances on which a method's value is at most τ times the "
        "best bound, of those with a bound on which all methods ran. A run without an answer is never within a factor."
    )
    points = pd.concat(parts)
    x, y = Axis("factor τ", log=bool(points["x"].max() > _WIDE)), Axis("share of instances", zero=True)
    return curves(points, x, y, name="profile", caption=caption, styles=method_styles(bounded), form="step")


def profile_points(shared: pd.DataFrame) -> pd.DataFrame:
    """The profile of each label from factor 1 to the largest of all: curve, x (factor) and y (share of instances).

    Several runs on an instance share its weight; a run without a ratio is within no factor.
    """
    highest, parts = max(1.0, shared["ratio"].max()), []
    for label, runs in shared.groupby("label", sort=False):
        weight = 1 / runs.groupby("instance")["instance"].transform("size") / runs["instance"].nunique()
        shares = weight.groupby(runs["ratio"]).sum().cumsum()
        within, last = shares.loc[: 1 + TOLERANCE].max(), shares.max()
        y = [0.0 if np.isnan(within) else within, *shares, 0.0 if np.isnan(last) else last]
        parts.append(pd.DataFrame({"curve": label, "x": [1.0, *shares.index, 1.02 * highest], "y": y}))
    return pd.concat(parts)


def common_instances(runs: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """The runs on the instances common to all labels (all runs if there is none), and the number of instances."""
    labels = runs.groupby("instance")["label"].nunique()
    shared = labels.index[labels == runs["label"].nunique()]
    chosen = runs[runs["instance"].isin(shared)] if len(shared) else runs
    return chosen, int(chosen["instance"].nunique())


def growth_chart(runs: pd.DataFrame) -> Drawing | None:
    """The medians of time and memory against each size that a study varies, both axes logarithmic.

    None if no method has runs at four sizes that differ in one parameter of one workload only.
    """
    fitted = growth(runs)
    if fitted.empty:
        return None
    styles = {label: own for label, own in method_styles(runs).items() if label in set(fitted["label"])}
    rows: list[dict[str, Any]] = []
    for (measure, size), here in fitted.groupby(["measure", "size"], sort=False):
        name, unit, _ = _MEASURES[str(measure)]
        lines = []
        for number, line in enumerate(here.itertuples()):
            along, medians = np.array(line.sizes, dtype=float), np.array(line.medians) / unit
            fit = np.exp(line.intercept + line.exponent * np.log(along)) / unit
            common = {
                "panel": f"{name} against {SIZES[str(size)]}",
                "curve": line.label,
                "line": f"{line.label} {number}",
            }
            lines += [{**common, "x": x, "y": y, "fit": own} for x, y, own in zip(along, medians, fit, strict=True)]
            lines[-1] |= {"exponent": f"{line.exponent:.2f}"}
        ends = sorted((line for line in lines if "exponent" in line), key=lambda line: line["fit"])
        low, high = (f(line[key] for line in lines for key in ("y", "fit")) for f in (min, max))
        span = max(float(np.log(high / low)), 1e-9)
        for line, height in zip(ends, spread([float(np.log(line["fit"] / low)) / span for line in ends]), strict=True):
            line["at"] = low * float(np.exp(height * span))
        rows += lines
    points = pd.DataFrame(rows)
    given, y = {"x": x_channel(Axis("", log=True), points["x"]), "color": colours(styles)}, Axis("", log=True)
    dots = alt.Chart().mark_point(filled=True, size=13, opacity=1)
    line = alt.Chart().mark_line(strokeWidth=1)
    text = alt.Chart().transform_filter("isValid(datum.exponent)")
    text = text.mark_text(align="left", dx=4, fontSize=TICKS * current_options().font_size)
    layers = [
        dots.encode(**given, y=y_channel(y), shape=shapes(styles), tooltip=["curve:N", "x:Q", "y:Q"]),
        line.encode(**given, y=y_channel(y, "fit"), strokeDash=dash(styles), detail="line:N"),
        text.encode(**given, y=y_channel(y, "at"), text="exponent:N"),
    ]
    caption = (
        "Median wall-clock time, and median memory above that of the process at the start, against each size that the "
        "study varies, with workload and other sizes fixed. A line is a least-squares fit of a power of the size, the "
        "number its exponent. Left out: medians below 1 ms or 1 MiB, runs that failed or reached a time limit."
    )
    return drawing(panels(layers, points, styles), "growth", caption)


def growth(runs: pd.DataFrame) -> pd.DataFrame:
    """The fitted power laws.

    A row for each label, size, measure and combination of workload and other sizes with at least four sizes: label,
    problem, size (a key of SIZES), measure (seconds or peak_memory), others (the recipe without that size), sizes and
    medians (rising in size), exponent and intercept of the fit of ln(median) to ln(size).
    """
    ended = runs[~runs["status"].isin([Status.FAILED, *_AT_A_LIMIT])]
    recipes = list(map(object_in, ended["recipe"]))
    found = []
    for measure, (_, _, least) in _MEASURES.items():
        for size in SIZES:
            sizes = [recipe.get("parameters", {}).get(size) for recipe in recipes]
            others = [_without(recipe, size) for recipe in recipes]
            table = ended[["label", "problem", measure]].assign(size=sizes, others=others).dropna(subset=["size"])
            for (label, problem, rest), group in table.groupby(["label", "problem", "others"]):
                medians = group.groupby("size")[measure].median()
                medians = medians[medians >= least]
                if len(medians) >= _FEWEST_SIZES:
                    along = np.log(medians.index.to_numpy(dtype=np.float64))
                    exponent, intercept = np.polyfit(along, np.log(medians.to_numpy(dtype=np.float64)), 1)
                    ends = tuple(medians.index.tolist()), tuple(medians.tolist())
                    found.append((label, problem, size, measure, rest, *ends, exponent, intercept))
    columns = ("label", "problem", "size", "measure", "others", "sizes", "medians", "exponent", "intercept")
    return pd.DataFrame(found, columns=columns)


def _without(recipe: Mapping[str, Any], size: str) -> str:
    rest = {name: value for name, value in recipe.get("parameters", {}).items() if name != size}
    return json.dumps([recipe.get("workload", ""), rest], sort_keys=True)


def spread(heights: list[float]) -> list[float]:
    """Increasing heights (shares of a panel), moved apart so that labels do not overlap."""
    moved: list[float] = []
    for height in heights:
        moved.append(max(height, moved[-1] + _LABEL) if moved else height)
    for rank in range(len(moved) - 1, -1, -1):
        most = 1.0 if rank == len(moved) - 1 else moved[rank + 1] - _LABEL
        moved[rank] = min(moved[rank], most)
    return moved


def anytime_chart(runs: pd.DataFrame) -> Drawing | None:
    """The mean gap to the best known value against time, a panel a problem; None if no run has reported anything."""
    found = gap_curves(runs)
    if not found:
        return None
    styles = {label: own for label, own in method_styles(runs).items() if any(each[1] == label for each in found)}
    kinds = {VALUE: "value", BOUND: "bound"}
    rows = [
        pd.DataFrame(
            {
                "panel": problem,
                "curve": label,
                "of": kinds[of],
                "x": np.maximum(found[problem, label, of][0], _LOWEST_TIME),
                "y": np.maximum(100 * found[problem, label, of][1], _SMALLEST_GAP),
            }
        )
        for problem in problem_order(runs)
        for label in styles
        for of in kinds
        if (problem, label, of) in found
    ]
    points = pd.concat(rows)
    caption = (
        "Mean gap to the best value known of each instance against wall-clock time, over the runs of a method. Solid: "
        "gap of the incumbent, 100% before the first answer. Dotted: gap of the proven lower bound. A run keeps its "
        "last gap; gaps are at least 0.1%."
    )
    known = alt.Scale(domain=list(kinds.values()), range=[[1, 0], [1, 1.5]])
    line = alt.Chart().mark_line(interpolate="step-after", strokeWidth=1.1)
    powers: dict[str, Any] = {"values": [0.1, 1, 10, 100]} if points["y"].min() <= 10 else {}
    layer = line.encode(
        x=x_channel(Axis("time", log=True, unit="s"), points["x"]),
        y=y_channel(Axis("mean gap (%)", log=True), **powers),
        color=colours(styles, symbolType="stroke", symbolStrokeWidth=1.4),
        strokeDash=alt.StrokeDash("of:N", scale=known, legend=alt.Legend(title=None, symbolStrokeColor=INK)),
        tooltip=["curve:N", "of:N", "x:Q", "y:Q"],
    )
    return drawing(panels([layer], points, styles), "anytime", caption)


def gap_curves(runs: pd.DataFrame) -> dict[tuple[str, str, str], Steps]:
    """The mean gap over time by problem, label, and ``value`` or ``lower_bound`` (only where a run has a bound).

    Problems whose runs have reported no more than their outcomes are left out.
    """
    found: dict[tuple[str, str, str], Steps] = {}
    known = runs[runs["status"] != Status.SKIPPED]
    for problem, here in known.groupby("problem"):
        best = here.groupby("instance")["value"].min()
        rows = here[here["instance"].map(best).notna()]
        if not rows["points"].map(len).gt(1).any():
            continue
        for label, group in rows.groupby("label"):
            for of in (VALUE, BOUND) if group[BOUND].notna().any() else (VALUE,):
                steps = GapSteps.of(group["points"], group["instance"].map(best), of)
                found[str(problem), str(label), of] = steps.mean()
    return found


def content_charts(runs: pd.DataFrame) -> Iterator[Drawing | None]:
    """Cost reduction ratios (`content_runs`) against size and core price (Zhao and Wu 2011, Figures 9 and 10)."""
    compared = runs[runs["crr"].notna() & (runs["method"] != "random-assignment")].assign(label=runs["variant"])
    for x, fixed, of, what in (
        ("users", "access_to_core", "users", "the number of users, at one access-to-core ratio"),
        (
            "access_to_core",
            "users",
            "core-price",
            "the mean access price ÷ the mean core price, for one size",
        ),
    ):
        # Of the other parameter: the value with most points, then the largest size or the ratio nearest 1.
        counts = compared.groupby(fixed)[x].nunique()
        most = counts[counts == counts.max()].index.to_numpy(dtype=np.float64)
        if len(most):
            kept = most[np.argmin(np.abs(np.log(most)))] if fixed == "access_to_core" else most.max()
            caption = (
                f"Cost reduction ratio against {what} ({kept:,g}): the cost of random assignment ÷ the method's on the "
                "same instance. Above 1 is better than random."
            )
            own, name = compared[compared[fixed] == kept], f"content-crr-by-{of}"
            yield means_chart(own, x, "crr", name=name, title="random's cost ÷ cost", caption=caption, log=True)


_OVER_TIME = (
    ("yield", "deliveries ÷ messages", "Yield"),
    ("deliveries", "deliveries a second", "Throughput"),
    ("messages", "messages a second", "Traffic"),
    ("hops", "hops to a delivery", "Path length"),
    ("delay_ms", "ms to a delivery", "Delay"),
    ("control_bytes", "bytes a second", "Control messages"),
)


def broker_charts(runs: pd.DataFrame, series: pd.DataFrame) -> Iterator[Drawing | None]:
    """Messages by size and pure forwarders by fanout (`broker_runs`), the system over time (`system_series`)."""
    heuristic = runs[~runs["exact"].astype(bool)].assign(label=lambda own: own["variant"], percent=100 * runs["fewer"])
    bounded, title = heuristic["bounded"].astype(bool), "messages ÷ best bound"
    caption = "Messages ÷ the best proven bound against the number of brokers: 1 is optimal."
    name = "soft-links-ratio-by-brokers"
    yield means_chart(heuristic[bounded], "brokers", "ratio", name=name, title=title, caption=caption)
    title, name = "% fewer pure forwarders", "soft-links-forwarders-by-fanout"
    caption = "Reduction of pure forwarders against strategy S0 (the tree alone), by fanout."
    yield means_chart(heuristic[~bounded], "fanout", "percent", name=name, title=title, caption=caption)
    for of, title, what in _OVER_TIME if len(series) else ():
        name, caption = f"system-{of.replace('_', '-')}-over-time", f"{what} in the system over time."
        yield means_chart(series, "seconds", of, name=name, title=title, caption=caption)


_LIMITS = (60.0, 600.0)
_STATES = {
    f"proven in {_LIMITS[0]:g} s": Style("#117733", "o"),
    f"proven in {_LIMITS[1]:g} s": Style("#88CCEE", "o"),
    "proven later": Style("#332288", "o"),
    "gap to 1%": Style("#F6D9A8", "s"),
    "gap to 5%": Style("#E9A25C", "s"),
    "gap to 20%": Style("#DD7733", "s"),
    "larger gap": Style("#7A1020", "s"),
    "no bound": Style("#FFFFFF", "s"),
}
_GAPS = (0.0, 0.01, 0.05, 0.2)
_INNERMOST, _RING = 14, 26  # square points: the innermost mark of one place, and what each one around it adds


def proof_map(points: pd.DataFrame) -> Mapping[str, Any]:
    """The specification of the map; both axes are logarithmic.

    `points` has a row an instance: law, nodes, subscriptions (topics a node), gap (0 if the optimum is proven, NaN
    without a bound), seconds (processor seconds of the run that proved it). Instances of equal size lie around each
    other, what is proven best innermost.
    """
    shown = points.sort_values(
        ["law", "nodes", "subscriptions", "gap", "seconds"], ascending=False, kind="stable", na_position="first"
    )
    around = shown.groupby(["law", "nodes", "subscriptions"]).cumcount(ascending=False)
    names = list(_STATES)
    late = np.searchsorted(_LIMITS, shown["seconds"])
    wide = len(_LIMITS) + np.searchsorted(_GAPS, shown["gap"])
    state = np.where(shown["gap"].isna(), len(names) - 1, np.where(shown["gap"] > 0, wide, late))
    data = pd.DataFrame(
        {
            "panel": pd.Categorical(shown["law"], points["law"].unique()),
            "curve": [names[rank] for rank in state],
            "x": shown["nodes"],
            "y": shown["subscriptions"],
            "gap": shown["gap"],
            "size": _INNERMOST + _RING * around,
        }
    ).sort_values("panel", kind="stable")
    dots = alt.Chart().mark_point(filled=True, opacity=1, stroke=QUIET, strokeWidth=0.4)
    layer = dots.encode(
        x=x_channel(Axis("nodes n", log=True), data["x"]),
        y=y_channel(Axis("topics a node s", log=True)),
        color=colours(_STATES, symbolStrokeWidth=0.4, symbolStrokeColor=QUIET),
        shape=shapes(_STATES),
        size=alt.Size("size:Q", scale=None, legend=None),
        tooltip=["curve:N", "x:Q", "y:Q", "gap:Q"],
    )
    return panels([layer], data.assign(panel=data["panel"].astype(str)), names)


TOPIC_CHARTS = (ratio_chart, profile_chart, time_chart, growth_chart)
"""What is drawn of runs on topic instances (`judged_runs`), where they have data for it."""


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
    title = f"{comparison.problem}: performance profile"
    return alt.layer(*layers, data=data(points)).properties(width=_WIDTH, height=_HEIGHT, title=title)


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
