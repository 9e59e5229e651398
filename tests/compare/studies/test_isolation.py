"""A run in a separate process returns a checked result or a failed one with its reason, whatever the solver does."""

import gc
import mmap
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import overlaybench as ob
from overlaybench.compare.studies import isolation
from overlaybench.compare.studies.isolation import (
    IsolatedRun,
    Job,
    Solver,
    memory_bounded,
    private_memory,
    run_isolated,
)
from overlaybench.instances.contract import method as method_module
from overlaybench.instances.runtime.run import Clock, offer
from overlaybench.instances.runtime.stoppable import finished_within
from tests.compare.conftest import Terminal, shrink_machine
from tests.interrupts import ctrl_c_raises, press_ctrl_c_in_the_parent

PATH = ob.TopicInstance.from_subscriptions({"a": ["x"], "b": ["x", "y"], "c": ["y"]})
CONNECTED = ob.Overlay.from_edges(3, [(0, 1), (1, 2)])


def run(solve: Callable[..., Any], **given: Any) -> IsolatedRun:
    return run_isolated(job(solve, **given))


def job(
    solve: Callable[..., Any],
    seed: int = 1,
    time_limit: float | None = 5.0,
    memory_limit: int | None = 512,
    *,
    anytime: bool = True,
) -> Job:
    method = trial(solve, anytime=anytime)
    return Job(method, PATH, ob.PROBLEMS["min-tco"], seed, {}, time_limit, memory_limit)


def trial(solve: Callable[..., Any], **fields: Any) -> ob.Method[Any, Any]:
    return ob.Method(name="trial", problems=("min-tco",), summary="a trial", source="tests", solve=solve, **fields)


def answering(*_: Any, **__: Any) -> ob.Proposal[ob.Overlay]:
    return ob.Proposal(CONNECTED)


def test_an_exception_is_failed_with_its_message_and_its_place_in_the_users_code() -> None:
    def raising(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("no such\nthing")

    of_the_user = FunctionType(raising.__code__, {"__name__": "__main__"})  # "tests" may be installed by a package, too
    result = run(of_the_user).result
    assert result.status is ob.Status.FAILED
    line = raising.__code__.co_firstlineno + 1
    assert result.reason == f"ZeroDivisionError: no such (test_isolation.py, line {line}, in raising)"


@pytest.mark.parametrize(
    ("deaths", "status", "number"),
    [
        (2, ob.Status.FEASIBLE, signal.SIGKILL),
        *((9, ob.Status.FAILED, number) for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)),
    ],
)
def test_a_run_killed_from_outside_is_repeated(
    tmp_path: Path, deaths: int, status: ob.Status, number: signal.Signals
) -> None:
    note = tmp_path / "attempts"

    def killed(*_: Any, **__: Any) -> ob.Proposal[ob.Overlay]:
        with note.open("a") as attempts:
            attempts.write(".")
        if len(note.read_text()) <= deaths:
            os.kill(os.getpid(), number)
        return ob.Proposal(CONNECTED)

    result = run(killed).result
    assert result.status is status
    assert len(note.read_text()) == min(deaths + 1, 3)
    assert (result.reason == f"crash: killed by {number.name}") == (status is ob.Status.FAILED)


def leaving(*_: Any, **__: Any) -> None:
    os.write(2, b"a word\nlicence missing\n")
    os._exit(7)


def closing(*_: Any, **__: Any) -> None:
    os.closerange(3, 256)
    time.sleep(600)


def eating(piece: int, *_: Any, **__: Any) -> None:
    held = []
    while True:
        held.append(np.ones(piece * 2**17))
        time.sleep(0.001)


def endless(*_: Any, **__: Any) -> None:
    """Print until the file that it prints to is emptied."""
    size = 0
    while True:
        before, size = size, os.fstat(1).st_size
        if size < before:
            sys.exit(5)
        os.write(1, b"." * 2**14)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"_END_SECONDS": 0.2, "_GRACE_SECONDS": 0.2, "_MOST_OUTPUT": 2**20}.items():
        monkeypatch.setattr(f"overlaybench.compare.studies.isolation.{name}", value)


WRONG: dict[str, tuple[Callable[..., Any], str, dict[str, Any]]] = {
    "invalid": (lambda *_, **__: ob.Proposal(ob.Overlay.from_edges(3, [(0, 1)])), "topic 'y' has 2 components", {}),
    "bound": (lambda *_, **__: ob.Proposal(CONNECTED, lower_bound=3), "lower bound 3", {}),
    "crash": (lambda *_, **__: os.kill(os.getpid(), signal.SIGSEGV), "SIGSEGV", {}),
    "nameless signal": (lambda *_, **__: os.kill(os.getpid(), 40), "crash: killed by signal 40", {}),
    "exit": (leaving, "crash: exit status 7 (licence missing)", {}),
    "closed": (closing, "crash: the solver closed its files and went on", {}),
    "deaf": (lambda *_, **__: time.sleep(600), "time:", {"time_limit": 0.3}),
    "not anytime": (lambda *_, **__: time.sleep(60), "no answer before its end", {"time_limit": 0.1, "anytime": False}),
    "small pieces": (partial(eating, 8), "memory:", {"memory_limit": 128, "time_limit": 60}),
    "large pieces": (partial(eating, 2048), "memory:", {"memory_limit": 256, "time_limit": 60}),
    "output": (endless, "crash: exit status 5", {"time_limit": 2}),
}


@pytest.mark.usefixtures("impatient")
def test_among_runs_done_together_each_that_goes_wrong_has_its_reason_and_all_others_answer(tmp_path: Path) -> None:
    def killed_once(*_: Any, **__: Any) -> ob.Proposal[ob.Overlay]:
        if not (tmp_path / "killed").exists():
            (tmp_path / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return ob.Proposal(CONNECTED)

    def chatty(*_: Any, seed: int, **__: Any) -> ob.Proposal[ob.Overlay]:
        print(f"run {seed}")
        return ob.Proposal(CONNECTED)

    patient, late = partial(job, time_limit=60), job(offering(lambda: time.sleep(60)), time_limit=0.5)
    wrong = [patient(killed_once), late, *(patient(solve, **given) for solve, _, given in WRONG.values())]
    with Solver() as solver:
        runs = solver.run_all([each for k, one in enumerate(wrong, start=1) for each in (patient(chatty, k), one)])
        first = solver.run_all([patient(chatty, k) for k in range(3)], seconds=0.0)
    assert [run.output for run in runs[::2]] == [f"run {k}\n" for k in range(1, len(wrong) + 1)]
    assert {run.result.status for run in (runs[1], *runs[::2])} == {ob.Status.FEASIBLE}
    assert (runs[3].result.status, runs[3].result.value, runs[3].result.lower_bound) == (ob.Status.TIME_LIMIT, 2, 1)
    for run, (_, reason, _) in zip(runs[5::2], WRONG.values(), strict=True):
        status = ob.Status.MEMORY_LIMIT if reason == "memory:" else ob.Status.FAILED
        assert (run.result.status, reason in run.result.reason) == (status, True), run.result.reason
    assert len(first) == 1


def test_a_memory_limit_above_the_address_space_is_none() -> None:
    assert run(answering, memory_limit=10**20).result.status is ob.Status.FEASIBLE


def until_interrupted(*_: Any, **__: Any) -> ob.Proposal[ob.Overlay] | None:
    try:
        press_ctrl_c_in_the_parent()
        time.sleep(60)
    except KeyboardInterrupt:
        return ob.Proposal(CONNECTED, reason="interrupted")
    return None


def test_ctrl_c_returns_the_incumbent_of_an_anytime_method() -> None:
    with ctrl_c_raises():
        result = run(until_interrupted, time_limit=None).result
    assert (result.value, result.reason) == (2, "interrupted")


@pytest.mark.parametrize("anytime", [True, False])
def test_ctrl_c_ends_a_method_without_an_answer_and_names_it(anytime: bool, capfd: pytest.CaptureFixture[str]) -> None:
    def without_answer(*_: Any, **__: Any) -> None:
        press_ctrl_c_in_the_parent()
        time.sleep(60)

    with ctrl_c_raises(), pytest.raises(KeyboardInterrupt, match="trial had no answer yet"):
        run(without_answer, time_limit=None, anytime=anytime)
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("impatient")
def test_children_of_a_killed_solver_die_too(tmp_path: Path) -> None:
    note = tmp_path / "pid"

    def with_child(*_: Any, **__: Any) -> None:
        child = subprocess.Popen(["sleep", "600"])
        note.write_text(str(child.pid))
        child.wait()

    run(with_child, time_limit=0.5)
    with suppress(psutil.NoSuchProcess):
        child = psutil.Process(int(note.read_text()))
        end = time.monotonic() + 5
        while child.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < end


def test_peak_memory_counts_what_the_solver_holds() -> None:
    def holding(*_: Any, **__: Any) -> ob.Proposal[ob.Overlay]:
        gc.collect()
        held = np.ones(50 * 2**17)
        time.sleep(0.5)
        return ob.Proposal(CONNECTED, counters={"held": float(held.sum())})

    gc.disable()
    garbage: list[Any] = [np.ones(40 * 2**17)]
    garbage.append(garbage)
    freed = [np.ones(2**13) for _ in range(1600)]  # 100 MiB of the heap, which `kept` holds
    kept = np.ones(2**13)
    del garbage, freed
    try:
        peak = run(holding).peak
    finally:
        gc.enable()
    assert kept.all()
    assert 45 * 2**20 < peak < 100 * 2**20


@pytest.mark.slow
def test_a_warm_solver_shows_as_much_memory_as_a_new_one() -> None:
    # Memory that the heap keeps of one run would not be seen in the next.
    instance = ob.WORKLOADS["zipf"].generate(seed=0, nodes=60_000, topics=200, subscriptions=10)
    job = Job(ob.METHODS["gm"], instance, ob.PROBLEMS["min-tco"], 0, {}, None, None)
    with Solver() as solver:
        first, second = (solver.run(job).peak for _ in range(2))
    assert second > 0.5 * first > 5 * 2**20


@pytest.mark.parametrize("has_log", [True, False])
def test_an_attended_run_is_seen_on_the_terminal_while_it_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, has_log: bool
) -> None:
    def chatty(*_: Any, **__: Any) -> ob.Proposal[ob.Overlay]:
        offer(CONNECTED, 1)
        if has_log:
            print("to a terminal" if sys.stderr.isatty() else "to a file", file=sys.stderr)
        while not (tmp_path / "seen").exists():
            time.sleep(0.01)
        sys.stderr.write("the end")
        return ob.Proposal(CONNECTED)

    wanted = "to a terminal\n" if has_log else "trial: 0 s, value 2, bound 1"
    shown = Terminal(lambda text: (tmp_path / "seen").touch() if wanted in text else None)
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr("overlaybench.compare.studies.isolation._SHOW_SECONDS", 9 if has_log else 0)
    assert run(chatty).output == f"{wanted * has_log}the end", "it is seen, or the run would not end"
    removed = "" if has_log else "\r\x1b[K"
    assert shown.getvalue().endswith(f"{wanted}{removed}the end"), "the line of the state is removed, if there is one"


def test_output_belongs_to_its_run_and_stays_off_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def chatty_or_leaving(*_: Any, seed: int, **__: Any) -> ob.Proposal[ob.Overlay]:
        if seed:
            sys.exit(3)
        print("hello")
        os.write(2, b"there")
        return ob.Proposal(CONNECTED)

    method = trial(chatty_or_leaving)
    monkeypatch.setattr("overlaybench.compare.studies.isolation.METHODS", {method.name: method})
    monkeypatch.setattr("overlaybench.compare.studies.isolation.method_named", lambda _: method)
    with Solver() as solver:
        first, second = (solver.run(Job(method, PATH, ob.PROBLEMS["min-tco"], k, {}, 9, None)) for k in range(2))
    assert (first.output, first.result.status) == ("hello\nthere", ob.Status.FEASIBLE)
    assert (second.output, second.result.reason) == ("", "crash: exit status 3")
    assert capfd.readouterr() == ("", "")


def offering(then: Callable[[], object]) -> Callable[..., ob.Proposal[ob.Overlay] | None]:
    """A method that offers an invalid answer, a valid one with a bound, a worse one, and then does something."""

    def solve(*_: Any, **__: Any) -> None:
        offer(ob.Overlay.from_edges(3, [(0, 1)]))
        offer(CONNECTED, lower_bound=1.0)
        offer(ob.Overlay.from_edges(3, [(0, 1), (1, 2), (0, 2)]), lower_bound=0.0)
        offer("no overlay")
        then()

    return solve


@pytest.mark.parametrize(
    ("then", "reason", "limit", "notes"),
    [
        (lambda: time.sleep(60), "time:", 0.5, 2**16),
        (lambda: time.sleep(60), "time:", 0.5, 200),  # full after the first ones
        (partial(eating, 8), "memory:", 3.0, 2**16),
    ],
    ids=["time", "full notes", "memory"],
)
def test_what_a_run_offered_survives_its_limits(
    then: Callable[[], object], reason: str, limit: float, notes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("overlaybench.compare.studies.isolation._NOTES", notes)
    result = run(offering(then), time_limit=limit, memory_limit=128).result
    limited = ob.Status.MEMORY_LIMIT if reason == "memory:" else ob.Status.TIME_LIMIT
    assert (result.status, result.value, result.lower_bound) == (limited, 2, 1)
    assert result.answer == CONNECTED
    assert result.points[-1][1:] == (2, 1)
    assert result.points[0].seconds < result.seconds  # when it was offered
    assert result.reason.startswith(reason)


def test_the_number_of_a_run_is_never_seen_half_written() -> None:
    notes, begun = mmap.mmap(-1, isolation._NOTES), 100_000
    heard = isolation._Heard(notes, [], 0)
    if not (child := os.fork()):
        sender = isolation._Sender(None, notes)  # type: ignore[arg-type]
        for _ in range(begun):
            sender.begin(1.0)
        os._exit(0)
    seen = [0]
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        seen += [heard._head.state[0] >> 32 for _ in range(1000)]
    assert seen == sorted(seen)
    assert seen[-1] < begun


def test_ctrl_c_returns_what_a_run_that_ignores_it_has_offered() -> None:
    def ignoring() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        press_ctrl_c_in_the_parent()
        time.sleep(60)

    with ctrl_c_raises():
        result = run(offering(ignoring), time_limit=None).result
    assert (result.value, result.reason) == (2, "interrupted")


def test_what_a_method_offers_that_another_one_calls_does_not_count() -> None:
    def calling(*_: Any, **__: Any) -> None:
        inner = trial(offering(lambda: None))
        with suppress(AttributeError):  # it returns nothing
            inner.run(PATH, ob.PROBLEMS["min-tco"])
        time.sleep(60)

    assert run(calling, time_limit=0.5).result.status is ob.Status.FAILED


def test_offers_without_a_watcher_and_in_a_forked_process_change_nothing() -> None:
    def forking(*_: Any, **__: Any) -> ob.Proposal[ob.Overlay]:
        finished_within(Clock(None), lambda: offer(CONNECTED, lower_bound=9.0), steps=1e12)
        return ob.Proposal(CONNECTED, lower_bound=1.0)

    offer(CONNECTED)
    assert run(forking).result.lower_bound == 1


@pytest.fixture
def small_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """One with 512 MiB of memory, half of which an instance may take."""
    shrink_machine(monkeypatch, 2**29)


def test_more_than_half_of_the_memory_is_bad_input_and_the_bound_ends_with_the_reading(small_machine: None) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(ob.BadInput, match=r"it takes more than half of the machine's memory"), memory_bounded("it"):
        np.empty(2**26)
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert len(np.empty(2**26)) == 2**26


def test_a_small_parquet_file_that_unfolds_to_gigabytes_is_bad_input(small_machine: None, tmp_path: Path) -> None:
    file = tmp_path / "bomb.parquet"
    labels = pa.DictionaryArray.from_arrays(pa.array(bytes(4096), pa.int8()), ["n" * 2**20])
    pq.write_table(pa.table({"node": labels, "topic": labels}), file, compression="zstd")
    assert file.stat().st_size < 2**20
    with pytest.raises(ob.BadInput), memory_bounded("it"):
        ob.read_topics(file)


def test_no_forked_solver_makes_the_trial_run_of_a_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it compiles would count in the run's limit."""

    def calls(*_: Any) -> dict[Any, Any]:
        (tmp_path / str(os.getpid())).touch()
        return {}

    monkeypatch.delenv("OVERLAYBENCH_INTERPRET", raising=False)
    monkeypatch.setattr(ob.Method, "calls", calls)
    monkeypatch.setattr(method_module, "_PREPARED", set())
    larger = ob.WORKLOADS["uniform"].generate(seed=1, nodes=30, topics=5, subscriptions=3)
    with Solver() as solver:
        for instance in (PATH, larger, larger):
            job = Job(ob.METHODS["ring-per-topic"], instance, ob.PROBLEMS["minmax-tco"], 1, {}, 60.0, 512)
            assert solver.run(job).result.status is ob.Status.FEASIBLE
    assert [file.name for file in tmp_path.iterdir()] == [str(os.getpid())]


def test_private_memory_is_what_the_system_says_and_zero_once_a_process_has_ended() -> None:
    words = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        started.stdout.readline()
        process = psutil.Process(started.pid)
        process.suspend()
        while process.status() != psutil.STATUS_STOPPED:
            time.sleep(0.01)
        held = process.memory_info()
        assert private_memory(started.pid) == held.rss - held.shared > 0
        started.kill()
        while process.status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)
        assert private_memory(started.pid) == 0
    assert private_memory(started.pid) == 0
