"""The estimate of the work left: by what runs like it took, and never far off when sizes differ."""

from __future__ import annotations

import heapq
import itertools
from pathlib import Path
from typing import NamedTuple

import pytest

from overlaybench.compare.studies.progress import Tally, Work
from overlaybench.compare.studies.store import Store
from overlaybench.compare.studies.task import Task


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
