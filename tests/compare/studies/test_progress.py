"""The progress of a study: plain lines in a log, a bar that fits the terminal, and nothing where it is quiet."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from rich.console import Console

from overlaybench.compare.studies import progress
from overlaybench.compare.studies.progress import Progress, Tally, Work, saved
from overlaybench.compare.studies.store import Store


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that the test sets."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def tally(done: int, failed: int, work: Work) -> Tally:
    return Tally(Store(Path("none")), [], {}, done=done, failed=failed, _work=work)


def test_a_log_gets_plain_lines_and_one_at_the_end(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with Progress({"gm": 60, "ilp": 40}, 20) as shown:
        shown.show(tally(8, 1, Work(10, 90, 0)), 2)  # too soon
        clock[0] += 16
        shown.show(tally(20, 1, Work(32, 92, 0)), 0)
        clock[0] += 1
        shown.show(tally(80, 3, Work(100, 0, 0)), 2)  # workers that end hold no run any more
    assert capsys.readouterr().err.splitlines() == [
        "20 of 100 runs were done before",
        "40 of 100 runs done (1 failed), 0 running, 60 left, 0:16 so far, about 0:46 to go",
        "100 of 100 runs done (3 failed), 0 running, 0 left, 0:17 so far",
    ]


def test_a_note_that_cannot_be_written_does_not_end_the_study(clock: list[float], tmp_path: Path) -> None:
    with Progress({"gm": 2}, 0, quiet=True, folder=tmp_path / "missing") as shown:
        clock[0] += 60
        shown.show(tally(1, 0, Work(1, 1, 0)), 1)
    assert saved(tmp_path / "missing") == ("", {})


def test_the_estimate_counts_work_and_not_runs(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    """Long runs come first: half of the work may be one run of a hundred."""
    with Progress({"gm": 101}, 0) as shown:
        clock[0] += 60
        shown.show(tally(1, 0, Work(60, 60, 0)), 0)
    assert (
        "1 of 101 runs done (0 failed), 0 running, 100 left, 1:00 so far, about 1:00 to go" in capsys.readouterr().err
    )


def test_an_estimate_by_limits_says_at_most(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with Progress({"ilp": 100}, 0) as shown:
        clock[0] += 20
        shown.show(tally(0, 0, Work(0, 6000, 6000)), 2)
    assert "0:20 so far, at most 50:00 to go" in capsys.readouterr().err


def test_a_quiet_study_shows_nothing(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with Progress({"gm": 10}, 5, quiet=True) as shown:
        clock[0] += 100
        shown.show(tally(1, 0, Work(1, 1, 0)), 1)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("width", "text"),
    [
        (100, "412 of 1,064 runs done, 3 failed, 2 running, at most 2:30:00 to go"),
        (80, "412 of 1,064 runs done, 3 failed, 2 running, at most 2:30:00 to go"),
        (72, "412 of 1,064 done, 3 failed, 2 running, at most 2:30:00 to go"),
        (60, "412/1064 done, 3 failed, at most 2:30:00 to go"),
        (40, "412/1064, 3 failed, ≤ 2:30:00"),
        (20, "412/1064, ≤ 2:30:00"),
    ],
)
def test_a_terminal_gets_a_bar_beside_a_text_that_fits(
    width: int, text: str, monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    console = Console(force_terminal=True, width=width, file=io.StringIO(), _environ={})
    monkeypatch.setattr(progress, "Console", lambda stderr: console)
    monkeypatch.setattr(Work, "to_go", lambda *given: 9000.0)
    with Progress({"gm": 1064}, 400) as shown:
        shown.show(tally(12, 3, Work(24, 18000, 18000)), 2)
        assert shown._bar
        lines = console.render_lines(shown._bar.get_renderable(), pad=False)
    plain = ["".join(segment.text for segment in line) for line in lines]
    assert len(plain) == 1
    assert plain[0].rstrip().endswith(text)
    assert len(plain[0]) <= width
    assert ("━" in plain[0]) == (width > 20)


def test_status_finds_the_time_to_go_and_the_runs_of_each_method(tmp_path: Path, clock: list[float]) -> None:
    assert saved(tmp_path) == ("", {})
    with Progress({"gm": 6, "ilp": 4}, 0, quiet=True, folder=tmp_path) as shown:
        clock[0] += 10
        shown.show(tally(5, 0, Work(10, 10, 0)), 0)
    assert saved(tmp_path) == ("about 0:10 to go", {"gm": 6, "ilp": 4})
    (tmp_path / "progress.json").write_text("{")
    assert saved(tmp_path) == ("", {})
