"""Batches: each item is done once, alone after it was with one that killed its worker, and given up at the third."""

import os
import pickle
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from overlaybench.compare.studies.executors import (
    DEATHS,
    Batches,
    BatchOutcome,
    LocalProcesses,
    one_by_one,
    run_batches,
    work_of,
)
from overlaybench.instances.contract.errors import BadInput

POISON = 13


class Numbers(Batches[int]):
    def __init__(self, numbers: Sequence[int], together: int) -> None:
        super().__init__()
        self.left, self.together = deque(numbers), together

    def next(self, cores: int) -> list[int]:
        return [self.left.popleft() for _ in range(min(self.together, len(self.left)))]


def squared(number: int, is_dead: bool) -> tuple[int, bool]:
    if number == POISON and not is_dead:
        os._exit(9)
    return number * number, is_dead


def begin() -> None:
    """Nothing is needed."""


def done_by(do: Any, numbers: Sequence[int], together: int, seconds: float = 60.0, **given: Any) -> list[Any]:
    found: list[Any] = []
    with LocalProcesses(2, **given) as processes:
        work = work_of(one_by_one(do), begin=begin, seconds=seconds)
        run_batches(processes, Numbers(numbers, together), work, lambda items, r: found.extend(r), lambda running: None)
    return found


def test_one_that_kills_its_worker_every_time_is_given_up_and_all_others_are_done_once() -> None:
    found = done_by(squared, range(40), 8)
    assert Counter(value for value, _ in found) == Counter(number * number for number in range(40))
    assert [value for value, is_dead in found if is_dead] == [POISON * POISON]


def test_a_batch_ends_after_its_seconds_and_the_rest_comes_back() -> None:
    def slow(number: int, is_dead: bool) -> int:
        time.sleep(0.05)
        return number

    work = work_of(one_by_one(slow), begin=begin, seconds=0.0)
    assert pickle.loads(work(pickle.dumps([1, 2, 3]), 0)) == BatchOutcome(1, [1])
    assert sorted(done_by(slow, range(9), 9, seconds=0.0)) == list(range(9))


def test_a_batch_whose_worker_died_comes_back_undone_and_one_alone_is_told_at_the_third_death() -> None:
    work = work_of(one_by_one(squared), begin=begin, seconds=9.0)
    assert pickle.loads(work(pickle.dumps([1, 2]), 1)) == BatchOutcome(0, died=True)
    assert pickle.loads(work(pickle.dumps([POISON]), DEATHS)) == BatchOutcome(1, [(POISON * POISON, True)])
    assert pickle.loads(work(pickle.dumps([3]), DEATHS - 1)) == BatchOutcome(1, [(9, False)])


def test_bad_input_ends_the_work_with_its_line() -> None:
    def refused(number: int, is_dead: bool) -> int:
        raise BadInput(f"{number}: no")

    with pytest.raises(BadInput, match=r"[012]: no"):
        done_by(refused, range(3), 1)


def test_what_takes_longer_than_allowed_is_told_once(tmp_path: Path) -> None:
    def hanging(number: int, is_dead: bool) -> bool:
        if number == 1 and not is_dead:
            with (tmp_path / "tries").open("a") as file:
                file.write("x")
            time.sleep(60)
        return is_dead

    assert sorted(done_by(hanging, range(3), 3, seconds_a_batch=1.0)) == [False, False, True]
    assert (tmp_path / "tries").read_text() == "xx", "once with others and once alone"


def test_a_process_ends_although_its_warm_ones_wait_for_work() -> None:
    code = """if True:
        import os
        import overlaybench as ob
        from overlaybench.compare.studies import spark_study, verification
        from overlaybench.compare.studies.isolation import Job
        instance = ob.read({"ann": ["a"], "bob": ["a"]})
        run = spark_study._solver().run(Job(ob.METHODS["gm"], instance, ob.PROBLEMS["min-tco"], 0, {}, None, None))
        maker = verification._maker(os.getpid())
        try:
            verification.one_done(maker, verification._MAKE, ("{}", ""))
        except ob.BadInput:
            print(run.result.value)"""
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60).stdout == b"1\n"
