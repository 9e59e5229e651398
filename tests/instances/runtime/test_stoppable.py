"""Work that cannot check the time is ended from outside, and the earlier results are returned."""

import importlib
import os
import signal
import time
from contextlib import nullcontext
from threading import Timer
from typing import Any

import numpy as np
import psutil
import pytest

import overlaybench as ob
from overlaybench.instances.runtime.run import Clock, interruptible
from overlaybench.instances.runtime.stoppable import Fork, finished_within
from overlaybench.models.engine.integer_model import IntegerModel, minimise_with_cp_sat
from overlaybench.models.topics.branch_and_cut import BRANCH_AND_CUT
from overlaybench.models.topics.lp_bound import LP_BOUND
from overlaybench.models.topics.lp_heuristics import lp_guided
from overlaybench.models.topics.relaxation.dual_fitting import dual_fitting_bound, fitted_within
from tests.interrupts import ctrl_c_raises, press_ctrl_c_in_the_parent
from tests.outcomes import bound_of, value_of

HOURS = 1e12
FOREVER = Clock(None)


def large_instance() -> ob.TopicInstance:
    """Each heuristic takes minutes on these 3,000 nodes with a random third of 200 topics each."""
    draw = np.random.default_rng(0)
    topics = [np.sort(draw.choice(200, 67, replace=False)).astype(np.int32) for _ in range(3000)]
    return ob.TopicInstance.from_sorted(np.arange(3001) * 67, np.concatenate(topics), 200)


LARGE = large_instance()


def sleep() -> None:
    time.sleep(3600)


@pytest.mark.parametrize("steps", [0, HOURS])
def test_finished_work_brings_its_answer(steps: float) -> None:
    assert finished_within(FOREVER, lambda: np.arange(100_000).sum(), steps=steps) == 4999950000
    assert finished_within(Clock(0), lambda: 1, steps=steps) is None


def test_unfinished_work_is_killed() -> None:
    before = psutil.Process().children()
    assert finished_within(Clock(0.2), sleep, steps=HOURS) is None
    assert psutil.Process().children() == before


def test_ctrl_c_ends_work_of_an_interruptible_budget() -> None:
    def press_and_sleep() -> None:
        press_ctrl_c_in_the_parent()
        sleep()

    with ctrl_c_raises(), interruptible(None) as clock:
        assert finished_within(clock, press_and_sleep, steps=HOURS) is None
        assert clock.interrupted


def test_a_part_that_crashes_is_an_error_and_one_without_memory_brings_nothing() -> None:
    def out_of_memory() -> None:
        raise MemoryError

    assert finished_within(FOREVER, out_of_memory, steps=HOURS) is None
    with pytest.raises(RuntimeError, match="exit code -9"):
        finished_within(FOREVER, lambda: os.kill(os.getpid(), signal.SIGKILL), steps=HOURS)


def test_starts_and_dual_fitting_end_with_the_clock() -> None:
    clock = Clock(0.2)
    (least,) = lp_guided.any_overlay(LARGE, ob.PROBLEMS["min-tco"])
    assert lp_guided.heuristic_overlays(LARGE, ob.PROBLEMS["min-tco"], seed=0, clock=clock) == [least]
    assert lp_guided.greedy_merge_or_stars(LARGE, clock) == lp_guided.stars(LARGE)
    assert fitted_within(clock, LARGE, work=10**18) == dual_fitting_bound(LARGE, work=0)


@pytest.mark.parametrize("name", ["min-tco", "minmax-tco", "low-tco"])
@pytest.mark.slow
def test_stars_and_a_bound_come_back_where_no_heuristic_ends_in_time(name: str) -> None:
    for method in (BRANCH_AND_CUT, LP_BOUND):
        result = method.run(LARGE, ob.PROBLEMS[name], time_limit=0.5)
        assert result.status is ob.Status.TIME_LIMIT
        assert 0 < bound_of(result) < value_of(result)


@pytest.mark.parametrize("raises", [True, False])
def test_cp_sat_stops_at_ctrl_c_and_leaves_it_to_the_handler(raises: bool) -> None:
    """As in a loop over instances: CP-SAT's own handler would keep the signal, and the loop would go on."""
    model, clock, received = market_split(5, 40), Clock(60), list[int]()
    importlib.import_module("ortools.sat.python.cp_model")

    def handle(number: int, _frame: object) -> None:
        received.append(number)
        if raises:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handle)
    press = Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    press.start()
    try:
        with pytest.raises(KeyboardInterrupt) if raises else nullcontext():
            outcome = minimise_with_cp_sat(model, clock, answer=lambda values: values)
            assert outcome.stopped
            assert clock.interrupted
    finally:
        press.join()
        assert signal.signal(signal.SIGINT, before) is handle
    assert received == [signal.SIGINT]


def market_split(rows: int, columns: int) -> IntegerModel:
    """Equations of random integers, which no solver settles while a test runs (Cornuéjols and Dawande 1999)."""
    model, draw = IntegerModel(), np.random.default_rng(1)
    chosen = model.add(np.zeros(columns)).tolist()
    for values in draw.integers(0, 100, (rows, columns)).tolist():
        model.require(chosen, values, least=sum(values) // 2, most=sum(values) // 2)
    return model


def test_ctrl_c_raises_after_cp_sat_has_solved() -> None:
    """CP-SAT alone leaves SIGINT with the system's action, which ends the process."""
    model = IntegerModel()
    model.require_some([model.column(cost=1)])
    with ctrl_c_raises():
        assert minimise_with_cp_sat(model, Clock(None), answer=list).answer == [1]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


@pytest.mark.timeout(30)
def test_a_death_is_noticed_though_another_process_holds_the_end_of_the_pipe() -> None:
    """A fork that another thread begins meanwhile inherits it."""

    def leave_the_end_to_a_child(pipe: Any) -> None:
        if os.fork() == 0:
            os.closerange(3, pipe.fileno())
            os.closerange(pipe.fileno() + 1, 1024)
            time.sleep(60)
        os._exit(9)

    child = Fork(leave_the_end_to_a_child)
    with pytest.raises(RuntimeError, match="exit code 9"):
        child.receive(10)
    child.end()


@pytest.mark.timeout(30)
def test_a_fork_forks_in_turn() -> None:
    def fork_again(pipe: Any) -> None:
        child = Fork(lambda inner: inner.send("a word"))
        pipe.send(child.receive(10))

    child = Fork(fork_again)
    assert child.receive(20) == "a word"
    child.end()
