"""``overlaybench report``: which plots it draws, how its figures are set, and errors in one line."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner

from overlaybench.compare.commands import studies
from overlaybench.compare.commands.studies import report
from overlaybench.compare.figures.style import FigureOptions
from overlaybench.compare.report import writing
from overlaybench.compare.studies.plot import Plot
from overlaybench.compare.studies.store import Plan
from overlaybench.instances.contract.errors import BadInput
from tests.compare.figures.test_charts import at
from tests.compare.report_rows import frame

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


def invoke(*words: str) -> None:
    result = CliRunner().invoke(report, ["folder", *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def test_without_options_the_plots_are_those_of_the_study_file(given: dict[str, Any]) -> None:
    invoke()
    assert given["plots"] == (Plot("nodes", "time"),)
    assert given["figure_options"] == FigureOptions()
    assert len(given["rows"]) == 1


def test_a_large_report_says_at_once_what_is_written(given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies, "_MANY", 1)
    said = CliRunner().invoke(report, ["folder"], catch_exceptions=False).output
    assert "writing the report of 1 runs" in said


def test_the_options_of_the_command_line_reach_the_report(given: dict[str, Any]) -> None:
    figures = ("--width", "84mm", "--font", "serif", "--font-size", "8", "--formats", "pdf,svg,pdf")
    invoke("--all", "--x", "alpha", "--group", "family", "--plot", "x=nodes,y=degree", "--plot", "x=alpha", *figures)
    assert given["plots"] == (Plot("alpha", "ratio", "family"), Plot("nodes", "degree"), Plot("alpha"))
    assert given["figure_options"].width == pytest.approx(84 / 25.4)
    assert replace(given["figure_options"], width=0) == FigureOptions(
        font="serif", font_size=8.0, formats=("pdf", "svg")
    )
    assert (len(given["rows"]), given["notes"]) == (2, [])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--y", "time"], "--y: give --x as well"),
        (["--plot", "nodes"], "--plot nodes: write it as KEY=VALUE"),
        (["--plot", "x=nodes,z=1"], "unknown key 'z'"),
        (["--width", "3.4"], "--width 3.4: write a number and its unit"),
        (["--formats", "svg,gif"], "unknown format 'gif' of figures"),
    ],
)
def test_bad_options_are_found_before_anything_is_read(given: dict[str, Any], words: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        invoke(*words)
    assert not given


@pytest.mark.usefixtures("no_charts", "stub")
def test_several_folders_have_an_index_beside_them(tmp_path: Path) -> None:
    folders = [str(tmp_path / name) for name in ("a b", "<c>")]
    result = CliRunner().invoke(report, [*folders, folders[0], "--formats", "svg"], catch_exceptions=False)
    assert result.output.splitlines()[-1] == str(tmp_path / "reports.html")
    html = (tmp_path / "reports.html").read_text(encoding="utf-8")
    body = html[html.index("<main") : html.index("</main>")]
    assert re.findall(r'<a href="([^#"]*)">(.*?)</a>', body) == [
        (f"{name}/report.html", "a study") for name in 2 * ("a%20b", "%3Cc%3E")
    ]
    lines = [re.sub(r"<[^>]*>", " ", line).split() for line in re.findall(r"<tr>(.*?)</tr>", body, flags=re.DOTALL)]
    assert lines[1][:7] == ["a", "study", "1", "1", "1", "1", "0"]
    assert lines[-1][:5] == ["a", "study", "min-tco", "1", "gm"]


@pytest.mark.usefixtures("no_charts", "stub")
def test_a_report_of_one_folder_writes_no_index(tmp_path: Path) -> None:
    CliRunner().invoke(report, [str(tmp_path / "a"), "--formats", "svg"], catch_exceptions=False)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]
