"""``overlaybench report``: which plots it draws, how its figures are set, and errors in one line."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from overlaybench.compare.commands import studies
from overlaybench.compare.figures.style import FigureOptions
from overlaybench.compare.report import writing
from overlaybench.compare.studies.plot import Plot
from overlaybench.compare.studies.store import Plan
from tests.compare.figures.test_charts import at
from tests.compare.report_rows import frame
from tests.outcomes import output_of

SPEC = '[report]\nplots = [{ x = "nodes", y = "time" }]'


class Stub:
    """A store of two runs, of which the second is no longer in the study."""

    @classmethod
    def existing(cls, folder: Path) -> Stub:
        return cls()

    def plan(self) -> Plan:
        return Plan("a study", (), SPEC)

    def keys(self) -> pa.Array:
        return pa.array(self.rows(None)["key"][:1])

    def rows(self, keys: pa.Array | None) -> pd.DataFrame:
        rows = frame(at(1, 12), at(2, 13))
        return rows if keys is None else rows[rows["key"].isin(keys.to_pylist())]

    def instance(self, digest: str, kind: object) -> object:
        raise AssertionError


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "Store", Stub)
    monkeypatch.setattr(studies, "Store", Stub)


@pytest.fixture
def given(stub: None, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the command gives to `write_report`."""
    kept: dict[str, Any] = {}

    def keep(folder: Path, rows: pd.DataFrame, load: object, **others: Any) -> Path:
        kept.update(others, rows=rows)
        return folder / "report.html"

    monkeypatch.setattr(writing, "write_report", keep)
    return kept


def test_without_options_the_plots_are_those_of_the_study_file(given: dict[str, Any]) -> None:
    output_of("report", "folder")
    assert given["plots"] == (Plot("nodes", "time"),)
    assert given["figure_options"] == FigureOptions()
    assert len(given["rows"]) == 1


def test_a_large_report_says_at_once_what_is_written(given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies, "_MANY", 1)
    assert "writing the report of 1 runs" in output_of("report", "folder")


def test_the_options_of_the_command_line_reach_the_report(given: dict[str, Any]) -> None:
    figures = ("--width", "84mm", "--font", "serif", "--font-size", "8", "--formats", "pdf,svg,pdf")
    plots = ("--x", "alpha", "--group", "family", "--plot", "x=nodes,y=degree", "--plot", "x=alpha")
    output_of("report", "folder", "--all", *plots, *figures)
    assert given["plots"] == (Plot("alpha", "ratio", "family"), Plot("nodes", "degree"), Plot("alpha"))
    assert given["figure_options"].width == pytest.approx(84 / 25.4)
    assert replace(given["figure_options"], width=0) == FigureOptions(
        font="serif", font_size=8.0, formats=("pdf", "svg")
    )
    assert (len(given["rows"]), given["notes"]) == (2, [])


@pytest.mark.usefixtures("no_charts", "stub")
def test_several_folders_have_an_index_beside_them_and_one_has_none(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("a b", "<c>")]
    output_of("report", folders[0], "--formats", "svg")
    assert [*tmp_path.iterdir()] == folders[:1]
    printed = output_of("report", *folders, folders[0], "--formats", "svg")
    assert printed.splitlines()[-1] == str(tmp_path / "reports.html")
    html = (tmp_path / "reports.html").read_text(encoding="utf-8")
    body = html[html.index("<main") : html.index("</main>")]
    assert re.findall(r'<a href="([^#"]*)">(.*?)</a>', body) == [
        (f"{name}/report.html", "a study") for name in 2 * ("a%20b", "%3Cc%3E")
    ]
    lines = [re.sub(r"<[^>]*>", " ", line).split() for line in re.findall(r"<tr>(.*?)</tr>", body, flags=re.DOTALL)]
    assert lines[1][:7] == ["a", "study", "1", "1", "1", "1", "0"]
    assert lines[-1][:5] == ["a", "study", "min-tco", "1", "gm"]
