"""The gap against time, and the map of what is proven."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from overlaybench.compare.figures.charts import anytime_chart, gap_curves
from overlaybench.compare.figures.proof_map import proof_map
from overlaybench.compare.report.tables import judged_runs
from tests.compare.report_rows import frame, run


def points(*each: tuple[float, float | None, float | None]) -> list[dict[str, Any]]:
    return [{"seconds": at, "value": value, "lower_bound": bound} for at, value, bound in each]


def judged(**given: Any) -> pd.DataFrame:
    rows = [
        run(instance="i", method="gm", value=12.0, seconds=0.5, **given),
        run(instance="i", method="best", value=10.0, points=points((1.0, 20.0, None), (4.0, 10.0, None))),
        run(instance="j", method="best", value=10.0, points=points((2.0, 10.0, None))),
    ]
    return judged_runs(frame(*rows))


def test_a_curve_is_the_mean_gap_of_a_methods_runs_at_each_time() -> None:
    curves = gap_curves(judged())
    assert set(curves) == {("min-tco", "gm", "value"), ("min-tco", "best", "value")}
    times, gaps = curves["min-tco", "best", "value"]
    assert times.tolist() == [0, 1, 2, 4]
    assert gaps.tolist() == [1, 0.75, 0.25, 0]
    assert curves["min-tco", "gm", "value"][1].tolist() == [1, pytest.approx(1 / 6)]


def test_the_figure_needs_a_run_that_reported_more_than_its_outcome() -> None:
    runs = judged()
    drawn = anytime_chart(runs)
    assert drawn is not None
    assert "mean gap" in drawn.svg
    assert anytime_chart(runs[runs["method"] == "gm"]) is None


def test_the_map_has_a_panel_a_law_and_colours_proofs_by_their_time() -> None:
    rows = [("uniform", 20.0, 5.0, 0.0, seconds) for seconds in (1.0, 100.0, 1000.0)]
    rows += [("zipf", 100.0, 10.0, gap, math.nan) for gap in (0.01, 0.3, math.nan)]
    chart = proof_map(pd.DataFrame(rows, columns=["law", "nodes", "subscriptions", "gap", "seconds"]))
    values = pd.DataFrame(chart["data"]["values"])
    for law, states in (("uniform", ["proven in 60 s", "proven in 600 s", "proven later"]), ("zipf", _OPEN)):
        own = values[values["panel"] == law]
        assert own["curve"].tolist() == states
        assert own["x"].nunique() == 3, "side by side"


_OPEN = ["gap to 1%", "larger gap", "no bound"]
