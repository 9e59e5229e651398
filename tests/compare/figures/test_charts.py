"""Charts of a study: curves and their files, plots against what was varied, growth, the gap over time, the map."""

import json
import math
import re
import struct
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from overlaybench.compare.figures.against import default_plots, plot_drawing, plot_table
from overlaybench.compare.figures.charts import (
    anytime_chart,
    gap_curves,
    growth,
    growth_chart,
    overview_chart,
    proof_map,
    spread,
)
from overlaybench.compare.figures.curves import Axis, curve_layers, curves
from overlaybench.compare.figures.files import FORMATS, as_bytes, vega_svg
from overlaybench.compare.figures.style import FigureOptions, rank_styles, styled
from overlaybench.compare.report.tables import judged_runs
from overlaybench.compare.studies.plot import Plot
from overlaybench.instances.contract.errors import BadInput
from tests.compare.report_rows import frame, recipe, run
from tests.outcomes import known


def at(
    alpha: float, value: float | None, *, method: str = "gm", seed: int = 0, family: str = "f", **given: Any
) -> dict[str, Any]:
    """A run on an instance whose best bound is 10."""
    fields = {"instance": f"{family}{alpha}/{seed}", "recipe": recipe(seed=seed, alpha=alpha), "family": family}
    return run(method=method, value=value, seed=seed, **{"lower_bound": 10, **fields, **given})


def judged(*rows: dict[str, Any]) -> pd.DataFrame:
    return judged_runs(frame(*rows))


def points(runs: pd.DataFrame, plot: Plot) -> dict[tuple[str, object], tuple[float, int]]:
    """Mean and number of instances by curve and x."""
    table = plot_table(runs, plot)
    return {(line.curve, line.x): (round(line.mean, 6), line.instances) for line in table.itertuples()}


def test_curves_have_a_colour_each_published_marks_and_their_legend_in_every_format() -> None:
    names = [f"method {number}" for number in range(12)]
    rows = [(name, x, float(x), x - 0.5, x + 0.5, False) for name in names for x in (1, 2)]
    rows += [(names[0], 2, 2.5, math.nan, math.nan, True)]
    table = pd.DataFrame(rows, columns=["curve", "x", "y", "low", "high", "published"])
    with styled(FigureOptions(formats=FORMATS)):
        first = curves(table, Axis("x"), Axis("y"), name="drawn")
    with styled(FigureOptions(formats=("svg",))):
        again = curves(table, Axis("x"), Axis("y"), name="drawn")
    layers = curve_layers(table, Axis("x"), Axis("y"), rank_styles(names))
    assert [layer.transform[0].filter for layer in layers] == ["!datum.published"] * 3 + ["datum.published"]
    assert first.files["svg"] == again.files["svg"], "equal charts are equal bytes"
    assert first.files["pdf"] == as_bytes(known(again.chart), "pdf")
    assert set(first.files) == {"svg", "pdf", "png"}
    assert b"CreationDate" not in first.files["pdf"]
    assert all(f">{name}</text>" in first.svg for name in [*names, "published"])
    assert len({style.colour for style in rank_styles(names).values()}) == len(names)


def test_panels_stand_in_rows_and_columns_whatever_their_titles_and_numbers() -> None:
    titles = ["short", "a title that takes two lines in any panel", "c", "d", "e", "f"]
    heights = [1.0, 1e6, 1.0, 1.25, 1e9, 2.0]
    rows = [(title, "a", x, y * x) for title, y in zip(titles, heights, strict=True) for x in (1, 2)]
    table = pd.DataFrame(rows, columns=["panel", "curve", "x", "y"])
    with styled(FigureOptions(formats=("svg",))):
        svg = curves(table, Axis("x"), Axis("y"), name="drawn").svg
    places = set(re.findall(r'translate\(([\d.]+),([\d.]+)\)"><path class="background"[^>]* d="M0,0h150', svg))
    assert len(places) == 6
    assert [len(set(side)) for side in zip(*places, strict=True)] == [3, 2], "columns and rows"


def test_pdf_and_png_of_a_chart_are_as_large_as_its_svg() -> None:
    table = pd.DataFrame({"curve": ["a", "a", "b"], "x": [1, 2, 1], "y": [1.0, 3.0, 2.0]})
    with styled(FigureOptions(width=4.0, formats=FORMATS)):
        files = curves(table, Axis("nodes"), Axis("edges"), name="drawn").files
    width, height = map(float, re.findall(r'="([\d.]+)pt"', files["svg"].decode())[:2])
    assert width == pytest.approx(4.0 * 72, abs=0.5)
    box = re.findall(rb"MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", files["pdf"])[0]
    assert list(map(float, box)) == pytest.approx([width, height], abs=0.1)
    pixels = struct.unpack(">II", files["png"][16:24])
    assert pixels == pytest.approx((width / 72 * 200, height / 72 * 200), abs=1.5)


def test_a_point_is_the_mean_of_the_instances_with_its_interval_by_students_t() -> None:
    values = [11.0, 12.0, 16.0, 13.0]
    runs = judged(*(at(alpha, v + 10 * (alpha > 1), seed=s) for alpha in (1, 2) for s, v in enumerate(values)))
    line = plot_table(runs, Plot("alpha")).set_index("x").loc[1.0]
    ratios = np.array(values) / 10
    low, high = stats.t.interval(0.95, 3, ratios.mean(), stats.sem(ratios))
    assert low < 1, "the interval is cut at 1, below which no ratio is"
    assert (line["mean"], line["low"], line["high"]) == pytest.approx((ratios.mean(), 1.0, high))
    assert (line["instances"], line["of_instances"]) == (4, 4)
    two = judged(*(at(alpha, 11 + s, seed=s) for alpha in (1, 2) for s in (0, 1)))
    assert plot_table(two, Plot("alpha"))[["low", "high"]].isna().all(axis=None)


def test_instances_count_once_and_only_where_all_methods_answered() -> None:
    repeats = [at(1, 12, options="{}", variant="gm", time_limit=10.0, key=f"{number:032x}") for number in range(5)]
    runs = judged(*repeats, at(1, 16, seed=1), at(2, 15))
    assert points(runs, Plot("alpha"))["gm", 1.0] == (1.4, 2)
    hard = [at(1, 30, seed=2), at(1, None, seed=2, method="ilp", lower_bound=None)]
    easy = [at(1, 12, seed=s, method=m) for s in (0, 1) for m in ("gm", "ilp")]
    found = points(judged(*hard, *easy, at(2, 14), at(2, 14, method="ilp")), Plot("alpha"))
    assert found["gm", 1.0] == found["ilp", 1.0] == (1.2, 2)


def test_a_method_with_few_answers_has_no_point_and_takes_none_from_others() -> None:
    rows = [at(1, 12, seed=s) for s in range(5)] + [at(1, 12, method="ilp"), at(2, 14), at(2, 14, method="ilp")]
    found = points(judged(*rows), Plot("alpha"))
    assert found["gm", 1.0] == (1.2, 5)
    assert ("ilp", 1.0) not in found
    assert ("ilp", 2.0) in found


def test_panels_are_families_curves_groups_and_means_of_times_geometric() -> None:
    families = [at(a, 12, family=f) for f, values in (("a", (1, 2)), ("b", (1, 2)), ("c", (3, 4))) for a in values]
    assert plot_table(judged(*families), Plot("alpha"))["panel"].unique().tolist() == ["a, b", "c"]
    groups = [at(a, value, family=f) for f, value in (("a", 12), ("b", 18)) for a in (1, 2)]
    found = points(judged(*groups), Plot("alpha", group="family"))
    assert (found["a", 1.0], found["b", 1.0]) == ((1.2, 1), (1.8, 1))
    times = [at(alpha, 12, seed=s, seconds=10.0**s) for alpha in (1, 2) for s in (0, 1, 2)]
    assert points(judged(*times), Plot("alpha", "time"))["gm", 1.0] == (10.0, 3)


def test_an_option_on_the_axis_leaves_the_name_of_the_curve() -> None:
    rows = [
        at(1, value, options=json.dumps({"ties": ties}), variant="gm" if ties == "lowest" else f"gm ties={ties}")
        for ties, value in (("lowest", 12), ("random", 13))
    ]
    runs = judged(*rows)
    assert points(runs, Plot("ties")) == {("gm", "lowest"): (1.2, 1), ("gm", "random"): (1.3, 1)}
    assert default_plots(runs) == (Plot("ties"),)


def test_close_sizes_that_nobody_chose_are_taken_together() -> None:
    rows = [at(1, 12, seed=s, nodes=nodes) for s, nodes in enumerate((100, 101, 102, 300, 302))]
    assert plot_table(judged(*rows), Plot("nodes"))["x"].tolist() == [101.0, 301.0]


def test_the_report_plots_the_ratio_against_the_only_parameter_varied() -> None:
    assert default_plots(judged(at(1, 12), at(2, 12))) == (Plot("alpha"),)
    assert default_plots(judged(at(1, 12))) == ()
    halves = [(0, "gm"), (1, "gm"), (2, "ilp"), (3, "ilp")]
    apart = judged(*(at(alpha, 12, seed=s, method=m) for alpha in (1, 2) for s, m in halves))
    with pytest.raises(BadInput, match="at any alpha"):
        plot_table(apart, Plot("alpha"))


@pytest.mark.parametrize(
    ("plot", "message"),
    [
        (Plot("topics"), "topics does not vary in this study: plot against alpha"),
        (Plot("alpha", group="famly"), "unknown group 'famly': did you mean 'family'"),
        (Plot("alpha", "degree"), "no run has the measure 'degree' where alpha varies"),
    ],
)
def test_what_does_not_vary_and_unknown_groups_are_bad_input(plot: Plot, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        plot_table(judged(at(1, 12), at(2, 12)), plot)


@pytest.mark.filterwarnings("error::FutureWarning")
def test_a_plot_is_drawn_with_a_curve_of_one_point_and_says_what_its_intervals_are() -> None:
    both = [at(alpha, 12, seed=s) for alpha in (1, 2) for s in range(3)]
    runs = judged(*both, *(at(1, 13 + s, method="gm-m", seed=s) for s in range(3)))
    plot = Plot("alpha", group="method")
    table = plot_table(runs, plot)
    assert len(table[table["curve"] == "gm-m"]) == 1
    drawn = plot_drawing(runs, plot, table)
    assert drawn.svg == plot_drawing(runs, plot, table).svg
    assert "95% interval by Student's t" in drawn.caption
    assert "tables/ratio-against-alpha-by-method.csv" in drawn.caption


def test_the_overview_has_a_strip_a_method_its_mean_and_the_share_of_its_optima() -> None:
    proven = at(1, 10, method="ilp", exact=True)
    drawn = known(overview_chart(judged(*(at(1, 10 + s, seed=s) for s in range(4)), proven)))
    assert [row["share"] for row in known(drawn.chart)["data"]["values"]] == ["25%", None, None, None, "100%"]
    assert ">25%</text>" in drawn.svg
    thirds = known(overview_chart(judged(*(at(1, 10 + s / 3, seed=s) for s in range(4)))))
    assert not re.search(r">1\.\d{3,}</text>", thirds.svg), "ratios of the axis are round"
    wide = known(overview_chart(judged(*(at(n, 10.0 * n, lower_bound=10.0) for n in (1, 4, 8)))))
    assert re.findall(r">(\d\.?\d*)</text>", wide.svg) == ["1", "2", "3", "5"], "and none is below 1"
    assert overview_chart(judged(at(1, None, lower_bound=None))) is None


def reported(*each: tuple[float, float | None, float | None]) -> list[dict[str, Any]]:
    return [{"seconds": at, "value": value, "lower_bound": bound} for at, value, bound in each]


def test_a_curve_over_time_is_the_mean_gap_of_a_methods_runs() -> None:
    rows = [
        run(instance="i", method="gm", value=12.0, seconds=0.5),
        run(instance="i", method="best", value=10.0, points=reported((1.0, 20.0, None), (4.0, 10.0, None))),
        run(instance="j", method="best", value=10.0, points=reported((2.0, 10.0, None))),
    ]
    runs = judged(*rows)
    found = gap_curves(runs)
    assert set(found) == {("min-tco", "gm", "value"), ("min-tco", "best", "value")}
    times, gaps = found["min-tco", "best", "value"]
    assert times.tolist() == [0, 1, 2, 4]
    assert gaps.tolist() == [1, 0.75, 0.25, 0]
    assert found["min-tco", "gm", "value"][1].tolist() == [1, pytest.approx(1 / 6)]
    assert "mean gap" in known(anytime_chart(runs)).svg
    assert anytime_chart(runs[runs["method"] == "gm"]) is None, "no run reported more than its outcome"


def test_the_map_has_a_panel_a_law_and_colours_proofs_by_their_time_and_others_by_gap() -> None:
    rows = [("uniform", 20.0, 5.0, 0.0, seconds) for seconds in (1.0, 100.0, 1000.0)]
    rows += [("zipf", 100.0, 10.0, gap, math.nan) for gap in (0.01, 0.3, math.nan)]
    chart = proof_map(pd.DataFrame(rows, columns=["law", "nodes", "subscriptions", "gap", "seconds"]))
    values = pd.DataFrame(chart["data"]["values"])
    proven, open_here = ["proven in 60 s", "proven in 600 s", "proven later"], ["gap to 1%", "larger gap", "no bound"]
    for law, states in (("uniform", proven), ("zipf", open_here)):
        own = values[values["panel"] == law]
        assert own["curve"].tolist() == states[::-1] if law == "uniform" else set(own["curve"]) == set(states)
        assert own["x"].nunique() == 1, "a point stands at its value"
        assert own["size"].is_monotonic_decreasing
        assert own["size"].nunique() == 3, "around each other"


def sized(
    method: str, exponent: float, nodes: int = 1000, topics: int = 100, *, seed: int = 0, **given: Any
) -> dict[str, Any]:
    """A run whose time is a power of the nodes, and whose memory is linear in topics × subscriptions a node."""
    made = recipe(seed=seed, nodes=nodes, topics=topics, subscriptions=10)
    measured = {"seconds": 3e-7 * nodes**exponent * (1 + seed), "peak_memory": 2e5 * topics}
    return run(method=method, instance=made, seed=seed, recipe=made, nodes=nodes, value=1, **measured, **given)


def test_a_power_law_is_fitted_exactly_to_the_medians_for_each_size_while_the_others_stay() -> None:
    rows = [
        sized(method, exponent, nodes, seed=seed)
        for method, exponent in (("gm", 2.0), ("2d-oda", 1.25))
        for nodes in (500, 1000, 2000, 4000)
        for seed in (0, 1, 2)
    ]
    fitted = growth(judged(*rows))
    seconds = fitted[fitted["measure"] == "seconds"].set_index("label")["exponent"]
    assert (seconds["gm"], seconds["2d-oda"]) == pytest.approx((2.0, 1.25))
    assert set(fitted["size"]) == {"nodes"}
    assert fitted[fitted["measure"] == "peak_memory"]["exponent"].to_numpy() == pytest.approx(0.0, abs=1e-9)
    both = [sized("gm", 2.0, nodes, topics) for nodes in (500, 1000, 2000, 4000) for topics in (100, 200, 400, 800)]
    fitted = growth(judged(*both))
    assert len(fitted[fitted["size"] == "nodes"]) == 2 * 4
    topics = fitted[(fitted["size"] == "topics") & (fitted["measure"] == "peak_memory")]
    assert topics["exponent"].to_numpy() == pytest.approx(1.0)


def test_three_sizes_or_stopped_runs_or_times_too_short_are_no_line() -> None:
    few = [sized("gm", 2.0, nodes) for nodes in (500, 1000, 2000)]
    stopped = [sized("gm", 2.0, nodes, status="time-limit") for nodes in (4000, 8000)]
    mixed = [sized("gm", 2.0, 4000, topics=300)]
    short = [sized("2d-oda", 0.5, nodes) for nodes in (500, 1000, 2000, 4000)]
    assert growth(judged(*few, *stopped, *mixed, *short))["label"].tolist() == ["2d-oda"]  # its memory
    assert growth_chart(judged(*few)) is None


def test_the_chart_of_growth_names_the_exponents_apart_from_each_other() -> None:
    drawn = known(growth_chart(judged(*(sized("gm", 1.75, nodes) for nodes in (500, 1000, 2000, 4000)))))
    assert "1.75" in drawn.svg
    assert "time (s) against nodes" in drawn.svg
    for heights in ([0.2, 0.2, 0.21, 0.9], [0.97, 0.98, 0.99, 1.0], [0.1, 0.5], [], [0.99] * 7):
        moved = spread(heights)
        assert all(b - a >= 0.055 - 1e-12 for a, b in pairwise(moved))
        assert max(moved, default=1) <= 1
    assert spread([0.1, 0.5]) == [0.1, 0.5]


def test_intervals_at_one_x_stand_beside_each_other_and_ticks_are_those_of_the_panel() -> None:
    rows = [
        at(1, 12 + seed % 3 + (method == "gm-m"), method=method, seed=seed + nodes, nodes=nodes, family=family)
        for family, sizes in (("a", (12, 24, 48)), ("b", (15, 30)))
        for nodes in sizes
        for method in ("gm", "gm-m")
        for seed in range(3)
    ]
    runs, plot = judged(*rows), Plot("nodes")
    chart = known(plot_drawing(runs, plot, plot_table(runs, plot)).chart)
    shown = pd.DataFrame(chart["data"]["values"])
    first = shown[(shown["panel"] == "min-tco, a") & (shown["x"] == 12)]
    assert first["low"].notna().all()
    assert first["at"].nunique() == 2
    assert np.abs(first["at"] - 12).max() < 2, "nearer than half of the way to the next size"
    assert {layer["encoding"]["x"]["field"] for layer in chart["spec"]["layer"] if "x" in layer["encoding"]} == {"at"}
    ticks = re.findall(r">(\d+)</text>", vega_svg(chart))
    assert [tick for tick in ticks if int(tick) > 9] == ["12", "24", "48", "15", "30"]
