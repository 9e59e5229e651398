"""The progress of a study: plain lines in a log, a bar that fits the terminal, and nothing where it is quiet."""

import heapq
import io
import itertools
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console

from overlaybench.compare.commands.studies import status_of
from overlaybench.compare.studies import progress
from overlaybench.compare.studies.progress import Bar, RunTally, StudyWork, saved
from overlaybench.compare.studies.row import SCHEMA, table_of
from overlaybench.compare.studies.store import Plan, Store
from overlaybench.compare.studies.task import RunGroup
from overlaybench.instances.contract.numbers import duration


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that the test sets."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def tally(store: Path, planned: dict[str, int], left: int, failed: int, work: StudyWork) -> RunTally:
    """The state of a study of which so many runs are left."""
    tally = RunTally(Store(store), {(Job("gm", 10, 1.0).group, 10): left}, planned)
    tally.__dict__ |= {"done": 1, "failed": failed, "worked": work, "_longest": 30.0}
    return tally


@pytest.fixture
def worked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work of a tally is what a test says."""
    monkeypatch.setattr(RunTally, "work", property(lambda tally: tally.__dict__["worked"]))


def test_the_time_so_far_is_that_of_the_command(
    clock: list[float], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Bar(1, "runs done") as bar:
        clock[0] += 7
        RunTally(Store(tmp_path), {(Job("gm", 10, 1.0).group, 10): 1}, {"gm": 1}, begun=clock[0] - 20).show(bar, 1)
    assert "20 s so far" in capsys.readouterr().err


@pytest.mark.usefixtures("worked")
def test_a_log_gets_plain_lines(clock: list[float], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planned = {"gm": 60, "ilp": 40}
    with Bar(100, "runs done") as bar:
        states = [
            tally(tmp_path, planned, 72, 1, StudyWork(10, 90, 0)),
            tally(tmp_path, planned, 60, 1, StudyWork(32, 92, 0)),
        ]
        bar.waiting("Spark")
        states[0].show(bar, 2)  # too soon
        clock[0] += 16
        states[1].show(bar, 0)
        clock[0] += 1
        tally(tmp_path, planned, 0, 3, StudyWork(100, 0, 0)).show(bar, 2)  # workers that end hold no run any more
    assert capsys.readouterr().err.splitlines() == [
        "40 of 100 runs done, 1 failed, waiting for workers, 60 left, 16 s so far, about 47 s to go",
        "100 of 100 runs done, 3 failed, ending the workers, 0 s so far",
    ]


@pytest.mark.usefixtures("worked")
def test_estimates_by_limits_say_at_most(
    clock: list[float], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Bar(100, "runs done") as bar:
        shown = tally(tmp_path, {"ilp": 100}, 100, 0, StudyWork(0, 6000, 6000))
        shown.done = 0
        clock[0] += 20
        shown.show(bar, 2)
    assert "20 s so far, at most 50 min to go" in capsys.readouterr().err


def test_a_quiet_bar_shows_nothing(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with Bar(10, "runs done", quiet=True) as bar:
        clock[0] += 100
        bar.show(3)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("worked")
@pytest.mark.parametrize(
    ("width", "text"),
    [
        (110, "412 of 1,064 runs done, 3 failed, 2 running, 650 left, 0 s so far, at most 2 h 30 min to go"),
        (80, "412 of 1,064 runs done, 3 failed, 2 running, at most 2 h 30 min to go"),
        (72, "412 of 1,064 done, 3 failed, at most 2 h 30 min to go"),
        (50, "412/1064, 3 failed, ≤ 2 h 30 min"),
        (24, "412/1064, ≤ 2 h 30 min"),
    ],
)
def test_a_terminal_gets_a_bar_beside_a_text_that_fits(
    width: int, text: str, monkeypatch: pytest.MonkeyPatch, clock: list[float], tmp_path: Path
) -> None:
    console = Console(force_terminal=True, width=width, file=io.StringIO(), _environ={})
    monkeypatch.setattr(progress, "Console", lambda file: console)
    monkeypatch.setattr(StudyWork, "to_go", lambda *given: 9000.0)
    with Bar(1064, "runs done") as bar:
        tally(tmp_path, {"gm": 1064}, 652, 3, StudyWork(24, 18000, 18000)).show(bar, 2)
        assert bar._bar
        lines = console.render_lines(bar._bar.get_renderable(), pad=False)
    plain = ["".join(segment.text for segment in line) for line in lines]
    assert len(plain) == 1
    assert plain[0].rstrip().endswith(text)
    assert len(plain[0]) <= width
    assert "━" in plain[0]


@pytest.mark.usefixtures("worked")
def test_status_finds_the_time_to_go_and_the_runs_of_each_method(tmp_path: Path, clock: list[float]) -> None:
    assert saved(tmp_path) == ("", {})
    shown = tally(tmp_path, {"gm": 6, "ilp": 4}, 5, 0, StudyWork(10, 10, 0))
    clock[0] += 10
    shown.show(Bar(10, "runs done", quiet=True), 0)
    assert saved(tmp_path) == ("about 10 s to go", {"gm": 6, "ilp": 4})
    (tmp_path / "progress.json").write_text("{")
    assert saved(tmp_path) == ("", {})
    tally(tmp_path / "missing", {"gm": 6}, 5, 0, StudyWork(1, 1, 0)).show(Bar(6, "runs done", quiet=True), 1)


def test_status_says_that_a_study_ended_before_it_had_instances(tmp_path: Path) -> None:
    Store(tmp_path).write_plan(Plan("early", (), ""))
    assert status_of(tmp_path) == ("early: stopped before its instances were made: the same study command resumes it")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (48120, "13 h 22 min"), (7200, "2 h")]
)
def test_a_duration_has_its_two_largest_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_compiling_kernels_is_not_pace(clock: list[float], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A study of 46 s, whose first runs took 0.1 s each, once said 17 minutes after half a minute of compilation."""
    jobs = [Job("gm", 10, 0.1)] * 100
    tally = RunTally(Store(tmp_path), {(jobs[0].group, 10): 100}, {"gm": 100})
    for job in jobs[:9]:
        tally.count(table_of([full(job)]))
    for _ in range(30):
        clock[0] += 1
        with Bar(100, "runs done") as bar:
            tally.show(bar, 2)
        assert float(capsys.readouterr().err.split("about ")[1].split(" s to go")[0]) <= 10


class Job(NamedTuple):
    """A run that is simulated."""

    method: str
    size: int
    seconds: float
    limit: float = 1200.0
    options: str = "{}"

    @property
    def group(self) -> RunGroup:
        return RunGroup("min-tco", self.method, self.options, self.limit, 1000, "")

    @property
    def row(self) -> dict[str, object]:
        fields = {name: getattr(self.group, name) for name in ("problem", "method", "options", "exact", "time_limit")}
        return {**fields, "sizes": [("nodes", self.size)], "seconds": self.seconds, "status": "feasible"}


def tally_of(jobs: list[Job]) -> RunTally:
    return RunTally(Store(Path("none")), Counter((job.group, job.size) for job in jobs))


def simulated(jobs: list[Job], cores: int = 2) -> list[tuple[float, float]]:
    """The seconds left and the estimate of them, after each of the runs on these cores."""
    free, ends = [0.0] * cores, []
    for job in jobs:
        end = heapq.heappop(free) + job.seconds
        heapq.heappush(free, end)
        ends.append((end, job))
    last, tally, estimates = max(free), tally_of(jobs), []
    for end, job in sorted(ends, key=lambda one: one[0]):
        tally.count(table_of([full(job)]))
        running = min(cores, len(jobs) - tally.done)
        estimates.append((last - end, tally.work.to_go(end, running, tally.done)))
    return estimates


OF_SIZES = [Job("gm", 1000, 4.0), Job("gm", 500, 1.0), Job("gm", 250, 0.25), Job("gm", 100_000, 1.0, 30.0)]


@pytest.mark.parametrize(
    ("jobs", "counted", "left"),
    [
        ([Job("ilp", 50, seconds, 60.0) for seconds in (10.0, 20.0, 30.0, 40.0)], 2, 30.0),  # the mean of those like it
        ([Job("gm", 1000, 4.0), Job("gm-m", 1000, 4.0)], 1, 4.0),  # of other methods on instances of its size
        (OF_SIZES, 1, 4.0 * (0.5**1.5 + 0.25**1.5) + 30.0),  # by the growth with the size, at most the limit
        (OF_SIZES, 2, 0.25 + 30.0),
        ([Job("ilp", 50, 1.0, 60.0)] * 10 + [Job("gm", 50, 1.0)] * 10, 0, 601.0),  # an exact method: its limit
    ],
)
def test_what_is_left_counts_as_runs_like_it(jobs: list[Job], counted: int, left: float) -> None:
    tally = tally_of(jobs)
    for job in jobs[:counted]:
        tally.count(table_of([full(job)]))
    assert tally.work.done == sum(job.seconds for job in jobs[:counted])
    assert tally.work.left == pytest.approx(left)
    assert tally.work.is_limited == (counted == 0)
    assert counted or tally.work.to_go(0.0, 2, 0) == pytest.approx(left / 2)


@pytest.mark.parametrize("power", [1.0, 2.25])
def test_an_estimate_is_never_off_by_a_factor_of_five_when_the_largest_instances_come_first(power: float) -> None:
    """P3's grids: the mean of the first runs, on 8000 nodes, once stood for those on 1000, and said six hours."""
    sizes = [8000] * 10 + [4000] * 10 + [1000] * 150 + [200] * 50
    pace = {"gm-m": 1.0, "dcb-m": 0.3, "dcbr-m": 0.1}
    jobs = [Job(name, n, factor * (n / 1000) ** power) for n in sizes for name, factor in pace.items()]
    estimates = [(left, estimate) for left, estimate in simulated(jobs) if left > 20]
    assert len(estimates) > 100
    assert all(left / 5 < estimate < 5 * left for left, estimate in estimates)


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_successive_estimates_change_by_less_than_a_factor_of_three(power: float) -> None:
    sizes = [8000] * 10 + [1000] * 150
    jobs = [Job(name, n, (n / 1000) ** power) for n in sizes for name in ("gm-m", "dcb-m")]
    shown = [estimate for left, estimate in simulated(jobs) if left > 5]
    assert all(before / 3 < after < 3 * before for before, after in itertools.pairwise(shown))


def test_runs_that_fail_are_counted_and_take_time(tmp_path: Path) -> None:
    tally = RunTally(Store(tmp_path), {(Job("gm", 10, 0.0).group, 10): 1})
    tally.count(table_of([{**full(Job("gm", 10, float("nan"))), "status": "failed"}]))
    assert (tally.done, tally.failed, tally.work.left) == (1, 1, 0.0)


def full(job: Job) -> dict[str, object]:
    return dict.fromkeys(SCHEMA.names) | job.row


def test_the_runs_that_are_stored_say_how_long_others_take(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [Job("ilp", 50, 0.5, 60.0)] * 400
    monkeypatch.setattr(Store, "sampled", lambda *given: table_of([full(job) for job in jobs[:9]]))
    tally = tally_of(jobs)
    assert tally.work == StudyWork(done=0.0, left=200.0, limited=0.0)
    assert tally.work.about(tally.work.to_go(1.0, 2, 0)) == "about 1 min 40 s to go"


def test_the_first_rows_after_a_resume_do_not_decide_the_estimate() -> None:
    tally = tally_of([Job("gm", 20, 0.005)] * 7000)
    for _ in range(15):
        tally.count(table_of([full(Job("gm", 20, 0.005))]))
    assert tally.work.to_go(1.0, 2, 15) < 60.0, (
        "35 s of solving are left for two cores; a second passed before the rows"
    )
