"""The queue of a study's runs, and how many of them a worker takes at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from overlaybench.compare.studies.spark_study import Queue, _Round
from overlaybench.compare.studies.task import Task


def _task(instance: str) -> Task:
    return Task(instance, "{}", "all", "min-tco", "gm", "{}", 1, 10.0, 1000, "0")


def test_each_number_is_taken_once_by_any_number_of_workers(tmp_path: Path) -> None:
    queue = Queue.create(tmp_path, 500)

    def work(most: int) -> list[int]:
        taken: list[int] = []
        while numbers := queue.take(lambda first: 1 + first % most):
            assert len(numbers) <= most
            taken.extend(numbers)
        return taken

    with ThreadPoolExecutor(4) as pool:
        taken = sorted(number for numbers in pool.map(work, (1, 2, 5, 10)) for number in numbers)
    assert taken == list(range(500))


def test_a_closed_queue_gives_no_more_numbers(tmp_path: Path) -> None:
    queue = Queue.create(tmp_path, 3)
    assert queue.take(lambda first: 2) == range(2)
    queue.close()
    assert not queue.take(lambda first: 2)


@pytest.mark.parametrize(
    ("most", "seconds", "expected"),
    [(10, 0.001, [3, 2, 1]), (2, 0.001, [2, 2, 1]), (1, 0.001, [1, 1, 1]), (10, 1.0, [1, 1, 1])],
)
def test_only_short_runs_of_one_instance_are_taken_together(
    tmp_path: Path, most: int, seconds: float, expected: list[int]
) -> None:
    tasks = [_task(instance) for instance in "aaabba"]
    work = _Round(tasks, Queue.create(tmp_path, len(tasks)), str(tmp_path), most)
    assert [work.together(seconds, first) for first in (0, 3, 5)] == expected
