"""The data that the page's scripts read: every run once, and the overlays of small instances."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from overlaybench.compare.figures.draw import embedded_json
from overlaybench.compare.report import page_data as overlays
from overlaybench.compare.report.page_data import overlay_data, plot_data
from overlaybench.compare.report.tables import judged_runs
from overlaybench.compare.studies.plot import Plot
from overlaybench.instances.topics.instance import TopicInstance
from tests.compare.report_rows import INSTANCES, STAR, STAR_EDGES, answered, frame, run, study_rows

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def parameters(**given: object) -> dict[str, str]:
    return {"recipe": json.dumps({"workload": "zipf", "parameters": given})}


def test_every_run_has_its_numbers_in_the_order_of_its_anchor() -> None:
    runs = judged_runs(study_rows())
    data = plot_data(runs)
    for name, column in (("ratio", "ratio"), ("time", "seconds"), ("value", "value")):
        shown = [np.nan if value is None else value for value in data["numbers"][name]]
        np.testing.assert_allclose(shown, runs[column], rtol=1e-5)
    assert [data["texts"]["label"][code] for code in data["codes"]["label"]] == runs["label"].tolist()
    assert data["texts"]["problem"][0] == "min-tco"
    assert list(data["y"]) == ["ratio", "value", "time", "degree", "gap", "memory"]


def test_whole_numbers_are_exact() -> None:
    seed = 2_135_562_980
    assert plot_data(judged_runs(frame(run(value=3, seed=seed))))["numbers"]["seed"] == [seed]


def test_what_a_study_varied_is_an_axis_and_what_it_did_not_is_none() -> None:
    rows = [
        run(instance=f"i{n}", value=3, subscriptions=4 * n, **parameters(subscriptions=n, alpha=0.5)) for n in (2, 3)
    ]
    axes = plot_data(judged_runs(frame(*rows)))["x"]
    assert {"subscriptions", "total_subscriptions"} <= set(axes)
    assert not {"alpha", "topics"} & set(axes)


def test_a_parameter_called_like_a_measure_does_not_replace_it() -> None:
    rows = [run(instance=f"i{n}", value=3, **parameters(value=n, family=f"f{n}")) for n in (2, 3)]
    data = plot_data(judged_runs(frame(*rows)))
    assert data["numbers"]["value"] == [3, 3]
    assert data["numbers"]["parameter value"] == [2, 3]
    assert data["texts"]["family"] == ["by hand"]


def test_the_plot_that_a_study_chooses_is_shown_first() -> None:
    assert plot_data(judged_runs(study_rows()), [Plot("nodes", "time")])["first"] == [["nodes", "time"]]


def test_answers_are_two_characters_an_edge() -> None:
    runs = judged_runs(study_rows())
    data = overlay_data(runs, INSTANCES.__getitem__)
    assert data is not None
    star = next(row for row in runs.itertuples() if row.method == "gm" and row.instance == STAR.digest)
    code = data["answers"][data["runs"][star.anchor.removeprefix("run-")]]
    ends = [ALPHABET.index(character) for character in code]
    assert sorted(zip(ends[::2], ends[1::2], strict=True)) == sorted(STAR_EDGES)
    assert [instance["nodes"] for instance in data["instances"]] == [[f"n{v}" for v in range(n)] for n in (5, 6)]
    assert not data["left_out"]


def test_large_instances_are_left_out_and_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    path = TopicInstance.from_subscriptions({f"n{v}": [f"t{v}", f"t{v + 1}"] for v in range(61)})
    rows = answered(path, [(v, v + 1) for v in range(60)], "min-tco", "gm")
    both = judged_runs(pd.concat([study_rows(), frame(rows)], ignore_index=True))
    found = {**INSTANCES, path.digest: path}
    data = overlay_data(both, found.__getitem__)
    assert data is not None
    assert len(data["instances"]) == 2
    assert data["left_out"].endswith("are left out: 1 of 3.")
    monkeypatch.setattr(overlays, "MOST_BYTES", 600)
    smallest = overlay_data(both, found.__getitem__)
    assert smallest is not None
    assert len(smallest["instances"]) == 1
    assert "2 of 3" in smallest["left_out"]


def test_without_answers_there_is_nothing_to_draw() -> None:
    assert overlay_data(judged_runs(frame(run(value=3))), INSTANCES.__getitem__) is None


def test_no_text_ends_the_script_that_holds_it() -> None:
    evil = "</script><script>alert(1)</script><!--"
    text = embedded_json({evil: [evil]})
    assert "<" not in text
    assert json.loads(text) == {evil: [evil]}
