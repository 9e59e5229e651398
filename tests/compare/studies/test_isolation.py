"""Whatever a solver does, a judged result or a failed one with its reason comes back."""

import os
import signal
import subprocess
import threading
import time

import numpy as np
import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.studies.isolation import Job, Solver, run_isolated
from overlaybench.instances.catalogue import PROBLEMS, WORKLOADS
from overlaybench.instances.errors import BadInput
from overlaybench.instances.method import Method, Proposal
from overlaybench.instances.option import Option
from overlaybench.instances.overlay import Overlay
from overlaybench.instances.result import Status
from overlaybench.instances.topics.instance import TopicInstance

PATH = TopicInstance.from_subscriptions({"a": ["x"], "b": ["x", "y"], "c": ["y"]})
CONNECTED = Overlay.from_edges(3, [(0, 1), (1, 2)])


def run(solve, *, time_limit=5.0, memory_limit=512, options=(), whole=False):
    method = Method(
        name="trial",
        problems=("min-tco",),
        summary="a trial",
        source="tests",
        exact=False,
        solve=solve,
        options=options,
        anytime=not whole,
    )
    return run_isolated(
        method,
        PATH,
        PROBLEMS["min-tco"],
        seed=1,
        options={},
        time_limit=time_limit,
        memory_limit=memory_limit,
    )


def answering(instance, problem, **_):
    return Proposal(CONNECTED)


def test_an_answer_comes_back_judged():
    outcome = run(answering)
    assert outcome.result.status is Status.FEASIBLE
    assert outcome.result.value == 2
    assert outcome.result.answer == CONNECTED


def test_an_invalid_overlay_is_failed_and_names_the_topic():
    result = run(lambda *_, **__: Proposal(Overlay.from_edges(3, [(0, 1)]))).result
    assert result.status is Status.FAILED
    assert "topic 'y' has 2 components" in result.reason
    assert result.answer is None


def test_a_bound_above_the_value_is_failed():
    result = run(lambda *_, **__: Proposal(CONNECTED, lower_bound=3)).result
    assert result.status is Status.FAILED
    assert "lower bound 3" in result.reason


def test_an_exception_is_failed_with_its_message():
    def raising(*_, **__):
        raise ZeroDivisionError("no such\nthing")

    result = run(raising).result
    assert result.status is Status.FAILED
    assert result.reason == "ZeroDivisionError: no such"


def test_a_crash_is_failed_and_names_the_signal():
    result = run(lambda *_, **__: os.kill(os.getpid(), signal.SIGSEGV)).result
    assert result.status is Status.FAILED
    assert "SIGSEGV" in result.reason


@pytest.mark.parametrize(("deaths", "status"), [(1, Status.FEASIBLE), (2, Status.FEASIBLE), (9, Status.FAILED)])
def test_a_solver_that_somebody_kills_is_begun_again_twice(tmp_path, deaths, status):
    note = tmp_path / "begun"

    def killed(*_, **__):
        with note.open("a") as begun:
            begun.write(".")
        if len(note.read_text()) <= deaths:
            os.kill(os.getpid(), signal.SIGKILL)
        return Proposal(CONNECTED)

    result = run(killed).result
    assert result.status is status
    assert len(note.read_text()) == min(deaths + 1, 3)
    assert (result.reason == "crash: killed by SIGKILL") == (status is Status.FAILED)


def test_an_early_exit_is_failed_with_its_last_words():
    def leaving(*_, **__):
        os.write(2, b"a word\nlicence missing\n")
        os._exit(7)

    result = run(leaving).result
    assert result.status is Status.FAILED
    assert result.reason == "crash: exit status 7 (licence missing)"


def test_a_solver_that_ignores_its_limit_is_killed(monkeypatch):
    monkeypatch.setattr("overlaybench.compare.studies.isolation._GRACE_SECONDS", 0.2)
    result = run(lambda *_, **__: time.sleep(600), time_limit=0.3).result
    assert result.status is Status.FAILED
    assert result.reason.startswith("time:")
    assert result.seconds >= 0.5


def test_of_a_method_that_has_whole_answers_only_the_reason_says_so(monkeypatch):
    monkeypatch.setattr("overlaybench.compare.studies.isolation._GRACE_SECONDS", 0.2)
    result = run(lambda *_, **__: time.sleep(60), time_limit=0.1, anytime=False).result
    assert result.status is Status.FAILED
    assert result.reason.endswith("half an answer is none, so trial hands in none")


def interrupted_after(seconds):
    """Ctrl-C for this process alone, as a terminal sends it: solvers lead sessions of their own."""
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()


def until_interrupted(*_, **__):
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        return Proposal(CONNECTED, reason="interrupted")


def test_ctrl_c_brings_what_a_method_has_in_hand():
    interrupted_after(0.5)
    result = run(until_interrupted, time_limit=None).result
    assert (result.value, result.reason) == (2, "interrupted")


@pytest.mark.parametrize("whole", [True, False])
def test_ctrl_c_ends_a_method_that_has_nothing_and_says_which(whole):
    interrupted_after(0.5)
    with pytest.raises(KeyboardInterrupt, match="trial had no answer yet"):
        run(lambda *_, **__: time.sleep(60), time_limit=None, anytime=not whole)


def test_children_of_a_killed_solver_die_too(monkeypatch, tmp_path):
    monkeypatch.setattr("overlaybench.compare.studies.isolation._GRACE_SECONDS", 0.2)
    note = tmp_path / "pid"

    def with_child(*_, **__):
        child = subprocess.Popen(["sleep", "600"])
        note.write_text(str(child.pid))
        child.wait()

    run(with_child, time_limit=0.5)
    pid = int(note.read_text())
    for _ in range(100):
        if not _alive(pid):
            break
        time.sleep(0.05)
    assert not _alive(pid)


def _alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("piece", [8, 2048])
def test_a_solver_that_eats_memory_is_failed_and_the_next_one_is_unharmed(piece):
    def eating(*_, **__):
        held = []
        while True:
            held.append(np.ones(piece * 2**17))
            time.sleep(0.001)

    result = run(eating, memory_limit=256, time_limit=60).result
    assert result.status is Status.FAILED
    assert result.reason.startswith("memory:") or "MemoryError" in result.reason
    assert run(answering).result.status is Status.FEASIBLE


def test_peak_memory_counts_what_the_solver_holds():
    def holding(*_, **__):
        held = np.ones(100 * 2**17)
        time.sleep(0.3)
        return Proposal(CONNECTED, counters={"held": float(held.sum())})

    assert 90 * 2**20 < run(holding).peak < 200 * 2**20


def test_a_warm_solver_is_seen_to_take_as_much_memory_as_a_new_one():
    # What the heap keeps of one run the next would use unseen.
    instance = WORKLOADS["zipf"].generate(seed=0, nodes=60_000, topics=200, subscriptions=10)
    job = Job(METHODS["gm"], instance, PROBLEMS["min-tco"], 0, {}, None, None)
    with Solver() as solver:
        first, second = (solver.run(job).peak for _ in range(2))
    assert second > 0.5 * first > 5 * 2**20


def test_solver_output_stays_off_the_terminal(capfd):
    def chatty(*_, **__):
        print("hello", flush=True)
        os.write(2, b"there")
        return Proposal(CONNECTED)

    assert run(chatty).result.status is Status.FEASIBLE
    assert capfd.readouterr() == ("", "")


def test_a_wrong_option_is_bad_input_before_anything_runs():
    method = Method(
        name="trial",
        problems=("min-tco",),
        summary="",
        source="",
        exact=False,
        solve=answering,
        options=(Option("k", 1, ""),),
    )
    with pytest.raises(BadInput, match="did you mean 'k'"):
        run_isolated(
            method,
            PATH,
            PROBLEMS["min-tco"],
            seed=1,
            options={"kk": 1},
            time_limit=1,
            memory_limit=None,
        )
