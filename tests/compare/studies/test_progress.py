"""What a study says while it runs: plain lines in a log, with an estimate, and nothing when it is to be quiet."""

import pytest

from compare.studies import progress as module
from compare.studies.progress import Progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_a_log_gets_a_plain_line_now_and_then_and_one_at_the_end(clock, capsys):
    with Progress(100, 20, 40.0) as shown:
        shown.show(8, 1, 2, 4.0)  # too soon
        clock[0] += 16
        shown.show(20, 1, 2, 10.0)
        clock[0] += 1
        shown.show(80, 3, 0, 40.0)
    assert capsys.readouterr().err.splitlines() == [
        "20 of 100 runs were done before",
        "40 of 100 runs done (1 failed), 2 running, 58 left, 0:16 so far, about 0:48 to go",
        "100 of 100 runs done (3 failed), 0 running, 0 left, 0:17 so far",
    ]


def test_the_estimate_counts_expected_seconds_and_not_runs(clock, capsys):
    """Long runs come first: half of the expected time may be one run of a hundred."""
    with Progress(101, 0, 200.0) as shown:
        clock[0] += 60
        shown.show(1, 0, 2, 100.0)
    assert "1 of 101 runs done (0 failed), 2 running, 98 left, 1:00 so far, about 1:00 to go" in capsys.readouterr().err


def test_a_quiet_study_shows_nothing(clock, capsys):
    with Progress(10, 5, 1.0, quiet=True) as shown:
        clock[0] += 100
        shown.show(1, 0, 1, 0.5)
    assert capsys.readouterr() == ("", "")
