"""The figure of growth: exponents of exact power laws are found, and nothing is fitted across two parameters."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from overlaybench.compare.figures.charts import growth, growth_chart, spread
from overlaybench.compare.report.tables import judged_runs
from tests.compare.report_rows import frame, run


def sized(
    method: str,
    exponent: float,
    nodes: int = 1000,
    topics: int = 100,
    *,
    subscriptions: int = 10,
    seed: int = 0,
    **given: Any,
) -> dict[str, Any]:
    """A run whose time is a power of the nodes, and whose memory is linear in topics × subscriptions a node."""
    parameters = {"nodes": nodes, "topics": topics, "subscriptions": subscriptions}
    return run(
        method=method,
        instance=f"{parameters}{seed}",
        seed=seed,
        recipe=json.dumps({"family": "f", "seed": seed, "workload": "zipf", "parameters": parameters}),
        nodes=nodes,
        value=1,
        seconds=3e-7 * nodes**exponent * (1 + seed),
        peak_memory=2e4 * topics * subscriptions,
        **given,
    )


def test_a_power_law_is_fitted_exactly_to_the_medians() -> None:
    rows = [
        sized(method, exponent, nodes, seed=seed)
        for method, exponent in (("gm", 2.0), ("2d-oda", 1.25))
        for nodes in (500, 1000, 2000, 4000)
        for seed in (0, 1, 2)
    ]
    fitted = growth(judged_runs(frame(*rows)))
    seconds = fitted[fitted["measure"] == "seconds"].set_index("label")["exponent"]
    assert seconds["gm"] == pytest.approx(2.0)
    assert seconds["2d-oda"] == pytest.approx(1.25)
    assert set(fitted["size"]) == {"nodes"}
    memory = fitted[fitted["measure"] == "peak_memory"]["exponent"]
    assert memory.to_numpy() == pytest.approx(0.0, abs=1e-9)


def test_each_size_is_fitted_while_the_others_stay() -> None:
    rows = [sized("gm", 2.0, nodes, topics) for nodes in (500, 1000, 2000, 4000) for topics in (100, 200, 400)]
    fitted = growth(judged_runs(frame(*rows)))
    assert len(fitted[fitted["size"] == "nodes"]) == 2 * 3
    assert fitted[(fitted["size"] == "nodes") & (fitted["measure"] == "seconds")]["exponent"].to_numpy() == (
        pytest.approx(2.0)
    )
    topics = fitted[(fitted["size"] == "topics") & (fitted["measure"] == "peak_memory")]
    assert topics["exponent"].to_numpy() == pytest.approx(1.0)


def test_three_sizes_or_stopped_runs_or_times_too_short_are_no_line() -> None:
    few = [sized("gm", 2.0, nodes) for nodes in (500, 1000, 2000)]
    stopped = [sized("gm", 2.0, nodes, status="time-limit") for nodes in (4000, 8000)]
    mixed = [sized("gm", 2.0, 4000, topics=300)]
    short = [sized("2d-oda", 0.5, nodes) for nodes in (500, 1000, 2000, 4000)]
    runs = judged_runs(frame(*few, *stopped, *mixed, *short))
    assert growth(runs)["label"].tolist() == ["2d-oda"]  # its memory
    assert growth_chart(judged_runs(frame(*few))) is None


def test_the_figure_names_the_exponents() -> None:
    rows = [sized("gm", 1.75, nodes) for nodes in (500, 1000, 2000, 4000)]
    runs = judged_runs(frame(*rows))
    drawing = growth_chart(runs)
    assert drawing is not None
    assert "1.75" in drawing.svg
    assert "time (s) against nodes" in drawing.svg
    again = growth_chart(runs)
    assert again is not None
    assert drawing.svg == again.svg


def test_exponents_of_lines_that_end_together_are_written_apart() -> None:
    for heights in ([0.2, 0.2, 0.21, 0.9], [0.97, 0.98, 0.99, 1.0], [0.1, 0.5], [], [0.99] * 7):
        moved = spread(heights)
        assert all(b - a >= 0.055 - 1e-12 for a, b in pairwise(moved))
        assert max(moved, default=1) <= 1
    assert spread([0.1, 0.5]) == [0.1, 0.5]
