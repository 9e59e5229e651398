"""The progress of a study: plain lines in a log, a bar that fits the terminal, and nothing where it is quiet."""

from __future__ import annotations

import heapq
import io
import itertools
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console

from overlaybench.compare.studies import progress
from overlaybench.compare.studies.progress import Progress, Tally, Work, saved
from overlaybench.compare.studies.store import Store
from overlaybench.compare.studies.task import Task


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


class Job(NamedTuple):
    """A run that is simulated."""

    method: str
    size: int
    seconds: float
    limit: float = 1200.0
    options: str = "{}"

    @property
    def task(self) -> Task:
        return Task(str(self.size), "", "", "min-tco", self.method, self.options, 0, self.limit, 1000, "")

    @property
    def row(self) -> dict[str, object]:
        task = self.task
        fields = {name: getattr(task, name) for name in ("problem", "method", "options", "exact", "time_limit")}
        return {**fields, "sizes": [("nodes", self.size)], "seconds": self.seconds, "status": "feasible"}


def tally_of(jobs: list[Job]) -> Tally:
    return Tally(Store(Path("none")), [job.task for job in jobs], {str(job.size): job.size for job in jobs})


def simulated(jobs: list[Job], cores: int = 2) -> list[tuple[float, float]]:
    """The seconds left and the estimate of them, after each of the runs on these cores."""
    free, ends = [0.0] * cores, []
    for job in jobs:
        end = heapq.heappop(free) + job.seconds
        heapq.heappush(free, end)
        ends.append((end, job))
    last, tally, estimates = max(free), tally_of(jobs), []
    for end, job in sorted(ends, key=lambda one: one[0]):
        tally.count(job.row)
        running = min(cores, len(jobs) - tally.done)
        estimates.append((last - end, tally.work.to_go(end, running, tally.done)))
    return estimates


def test_a_run_counts_as_the_mean_of_those_like_it() -> None:
    jobs = [Job("ilp", 50, seconds, 60.0) for seconds in (10.0, 20.0, 30.0, 40.0)]
    tally = tally_of(jobs)
    for job in jobs[:2]:
        tally.count(job.row)
    assert tally.work == Work(done=30.0, left=30.0, limited=0.0)


def test_before_anything_is_measured_an_exact_method_counts_with_its_limit_and_the_estimate_is_an_upper_one() -> None:
    tally = tally_of([Job("ilp", 50, 1.0, 60.0)] * 10 + [Job("gm", 50, 1.0)] * 10)
    assert tally.work.left == pytest.approx(601)
    assert tally.work.is_limited
    assert tally.work.to_go(0.0, 2, 0) == pytest.approx(300.5)


def test_another_size_counts_by_the_growth_with_the_size_but_at_most_the_limit() -> None:
    jobs = [Job("gm", 1000, 4.0), Job("gm", 500, 1.0), Job("gm", 250, 0.25), Job("gm", 100_000, 1.0, 30.0)]
    tally = tally_of(jobs)
    tally.count(jobs[0].row)
    assert tally.work.left == pytest.approx(4.0 * (0.5**1.5 + 0.25**1.5) + 30.0)
    tally.count(jobs[1].row)
    assert tally.work.left == pytest.approx(0.25 + 30.0)


def test_a_method_without_runs_counts_as_others_on_instances_of_its_size() -> None:
    tally = tally_of([Job("gm", 1000, 4.0), Job("gm-m", 1000, 4.0)])
    tally.count(Job("gm", 1000, 4.0).row)
    assert tally.work == Work(done=4.0, left=4.0, limited=0.0)


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0, 2.25])
def test_an_estimate_is_never_off_by_a_factor_of_five_when_the_largest_instances_come_first(power: float) -> None:
    """P3's grids: the mean of the first runs, on 8000 nodes, once stood for those on 1000, and said six hours."""
    sizes = [8000] * 15 + [4000] * 15 + [1000] * 600 + [200] * 200
    pace = {"gm-m": 1.0, "dcb-m": 0.3, "dcbr-m": 0.1}
    jobs = [Job(name, n, factor * (n / 1000) ** power) for n in sizes for name, factor in pace.items()]
    estimates = [(left, estimate) for left, estimate in simulated(jobs) if left > 20]
    assert len(estimates) > 100
    assert all(left / 5 < estimate < 5 * left for left, estimate in estimates)


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_successive_estimates_change_by_less_than_a_factor_of_three(power: float) -> None:
    sizes = [8000] * 15 + [1000] * 600
    jobs = [Job(name, n, (n / 1000) ** power) for n in sizes for name in ("gm-m", "dcb-m")]
    shown = [estimate for left, estimate in simulated(jobs) if left > 5]
    assert all(before / 3 < after < 3 * before for before, after in itertools.pairwise(shown))


def test_runs_that_fail_are_counted_and_take_time(tmp_path: Path) -> None:
    tally = Tally(Store(tmp_path), [Job("gm", 10, 0.0).task], {"10": 10})
    tally.count({**Job("gm", 10, float("nan")).row, "status": "failed"})
    assert (tally.done, tally.failed, tally.work.left) == (1, 1, 0.0)
