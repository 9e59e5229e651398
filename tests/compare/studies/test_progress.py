"""The progress of a study: plain lines in a log, with an estimate, and nothing where it is quiet."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from overlaybench.compare.studies.progress import Progress
from overlaybench.compare.studies.store import Store
from overlaybench.compare.studies.tally import Tally


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that the test sets."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_a_log_gets_plain_lines_and_one_at_the_end(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(100, 20) as shown:
        shown.show(8, 1, 2, 0.1)  # too soon
        clock[0] += 16
        shown.show(20, 1, 2, 0.25)
        clock[0] += 1
        shown.show(80, 3, 0, 1.0)
    assert capsys.readouterr().err.splitlines() == [
        "20 of 100 runs were done before",
        "40 of 100 runs done (1 failed), 2 running, 58 left, 0:16 so far, about 0:48 to go",
        "100 of 100 runs done (3 failed), 0 running, 0 left, 0:17 so far",
    ]


def test_the_estimate_counts_work_and_not_runs(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    """Long runs come first: half of the work may be one run of a hundred."""
    with Progress(101, 0) as shown:
        clock[0] += 60
        shown.show(1, 0, 2, 0.5)
    assert "1 of 101 runs done (0 failed), 2 running, 98 left, 1:00 so far, about 1:00 to go" in capsys.readouterr().err


def test_a_quiet_study_shows_nothing(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(10, 5, quiet=True) as shown:
        clock[0] += 100
        shown.show(1, 0, 1, 0.5)
    assert capsys.readouterr() == ("", "")


def test_the_share_of_work_goes_by_what_runs_took_and_by_expectation_where_none_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tally = Tally(Store(tmp_path), {60.0: 2, 0.1: 100})
    rows: list[dict[str, object]] = [{"status": "optimal", "exact": True, "time_limit": 60.0, "seconds": 10.0}]
    monkeypatch.setattr("overlaybench.compare.studies.tally.from_line", lambda line: rows[0])
    assert tally.share == 0
    tally._count(b"")
    assert tally.share == pytest.approx(10 / (20 + 10))
    rows[0] = {"status": "failed", "exact": False, "time_limit": 60.0, "seconds": 0.5}
    tally._count(b"")
    assert tally.share == pytest.approx(10.5 / (20 + 50))
    assert (tally.done, tally.failed) == (2, 1)
