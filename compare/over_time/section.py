"""What a report says of overlays that change: links against bounds, and changes, over time and in total."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from ...instances.contract.time_units import SECOND
from ..catalogue import kind_named, problem_named
from ..figures.against import means_chart
from ..figures.curves import Axis, curves
from ..figures.style import Drawing, method_styles
from ..report.domains import OF_RUN, Section, answered
from ..studies.bounds import sorted_by
from ..studies.row import object_in

_PARTS = 30
_BOUNDS = "snapshot_bounds"


def trace_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """The runs on traces with a valid answer.

    Adds change_cost, `of` (the problem without it), snapshot_bound (the mean of the bounds of the instance's snapshots,
    from all runs on it that have them; NaN if none) and level_ratio (mean links of a snapshot ÷ it).
    """
    runs = answered(rows)
    best = _best_bounds(runs)
    means = runs["instance"].map({digest: float(own.mean()) for digest, own in best.items()}).astype(np.float64)
    means = means.where([_bounded(name) for name in runs["problem"]])
    judges: list[Any] = [problem_named(name) for name in runs["problem"]]
    costs, of = [float(judge.change_cost) for judge in judges], [judge.free.name for judge in judges]
    ratio = runs["edges"] / means.where(means > 0)
    return runs.assign(change_cost=costs, of=of, snapshot_bound=means, level_ratio=ratio)


def _bounded(problem: str) -> bool:
    """Whether bounds of snapshots hold for the overlays: not where topics may be disconnected for a while."""
    return not getattr(problem_named(problem), "delay", 0.0)


def _best_bounds(runs: pd.DataFrame) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """The best bound of each snapshot, by the digest of the trace."""
    best: dict[str, np.ndarray[Any, np.dtype[np.float64]]] = {}
    for own in runs.itertuples():
        if text := object_in(own.counters).get(_BOUNDS):
            found = np.array([float(each) for each in str(text).split()])
            best[own.instance] = np.maximum(best.get(own.instance, found), found)
    return best


def levels_over_time(runs: pd.DataFrame, load: Callable[[str], Any]) -> pd.DataFrame:
    """The overlays of each run over time, replayed by the judge: a row for each run and part of its trace.

    seconds (the end of the part; 30 equal parts of the longest trace of a family), level (links at this time),
    bound (of the snapshot, NaN if unknown), ratio = level ÷ bound, recourse (the changes in the part ÷ its events, NaN
    without an event). Cost: that of judging every run.
    """
    best, traces = _best_bounds(runs), {digest: load(digest) for digest in runs["instance"].unique()}
    lasting = {digest: float(one.step_times[-1] - one.start) / SECOND for digest, one in traces.items() if one}
    longest = runs["instance"].map(lasting).groupby(runs["family"]).transform("max") if len(runs) else []
    found = []
    for own, last in zip(runs.to_dict("records"), longest, strict=True):
        trace = traces[own["instance"]]
        if trace is None or own["answer"] is None or last <= 0:
            continue
        judge: Any = problem_named(own["problem"])
        seen = judge.timeline(trace, kind_named(judge.kind).unpack(own["answer"], trace))
        ends = np.arange(1, _PARTS + 1) * last / _PARTS
        ends = ends[: 1 + int(np.searchsorted(ends, lasting[own["instance"]]))]
        moments = (seen.times - trace.start) / SECOND
        at = np.searchsorted(moments, ends, side="right") - 1
        steps = np.searchsorted((trace.step_times - trace.start) / SECOND, ends, side="right") - 1
        changes = np.cumsum(seen.changed)[at]
        events = np.searchsorted((trace.times - trace.start) / SECOND, ends, side="right")
        happened = np.diff(events, prepend=0)
        bound = np.full(len(ends), np.nan)
        if own["instance"] in best and _bounded(own["problem"]):
            bound = best[own["instance"]][steps]
        level = seen.levels[at].astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(bound > 0, level / bound, np.nan)
            recourse = np.where(happened > 0, np.diff(changes, prepend=0) / happened, np.nan)
        columns = {"seconds": ends, "level": level, "bound": bound, "ratio": ratio, "recourse": recourse}
        found.append(pd.DataFrame(columns).assign(**{name: own[name] for name in OF_RUN}))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def trade_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Means over the traces of a family by method and change cost: links, ÷ bound, recourse, disconnected seconds."""
    by = ["of", "family", "variant", "change_cost"]
    each = runs.groupby([*by, "instance"])[["edges", "level_ratio", "recourse", "disconnected_seconds"]].mean()
    table = each.groupby(by).mean()
    table.insert(0, "traces", each.groupby(by).size())
    names = {"edges": "mean links", "level_ratio": "links ÷ bound", "recourse": "changes an event"}
    shown = table.reset_index().rename(columns={"of": "problem", **names})
    return sorted_by(shown, "problem", "family", "change_cost", "variant")


def over_time_charts(runs: pd.DataFrame, series: pd.DataFrame) -> Iterator[Drawing | None]:
    """Links and recourse over time (`levels_over_time`), and one against the other (`trace_runs`)."""
    bounded = bool(len(series) and series["ratio"].notna().any())
    y, title = ("ratio", "links ÷ bound") if bounded else ("level", "links")
    caption = f"Links of the overlay{' ÷ the proven bound of its snapshot' if bounded else ''} over time."
    yield means_chart(series, "seconds", y, name="links-over-time", title=title, caption=caption)
    caption = "Recourse over time: changes ÷ events, in each of 30 parts of the trace."
    name = "recourse-of-links-over-time"
    yield means_chart(series, "seconds", "recourse", name=name, title="changes an event", caption=caption)
    yield _trade_chart(runs)


def _trade_chart(runs: pd.DataFrame) -> Drawing | None:
    """Links against recourse: a curve a method, a point a change cost."""
    if runs.empty or runs["recourse"].isna().all():
        return None
    bounded = bool(runs["level_ratio"].notna().all())
    y = "level_ratio" if bounded else "edges"
    each = runs.groupby(["of", "family", "label", "change_cost", "instance"], sort=False)[["recourse", y]].mean()
    points = each.groupby(level=[0, 1, 2, 3], sort=False).mean().reset_index().sort_values(["of", "family", "recourse"])
    points["panel"] = points["of"] + ", " + points["family"]
    points = points.rename(columns={"label": "curve", "recourse": "x", y: "y"})
    caption = (
        f"Links{' ÷ the proven bounds of the snapshots' if bounded else ''} against changes an "
        "event: lower left is better. A point is a method at one change cost, a mean over traces; a method that does "
        "not heed the cost has equal points."
    )
    title = "mean links" + (" ÷ mean bound" if bounded else "")
    return curves(
        points[["panel", "curve", "x", "y"]],
        Axis("changes an event", zero=True),
        Axis(title),
        name="links-against-recourse",
        caption=caption,
        styles=method_styles(runs),
    )


SECTION = Section(
    "trace",
    "Overlays over time",
    trace_runs,
    (
        (
            "trade",
            "Links and changes",
            "Mean links of a snapshot and, over all snapshots, links ÷ proven bounds (of snapshot-optima, where it "
            "ran); links added and removed an event; subscriber-seconds outside of a topic's largest component. "
            "Means over the traces of a family.",
            trade_table,
        ),
    ),
    over_time_charts,
    levels_over_time,
)
