"""Ctrl-C, SIGTERM and SIGHUP at any moment: one line, the answer if there is one, and the status of the signal."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import overlaybench as ob

COMMAND = (sys.executable, "-m", "overlaybench.compare")
MOMENTS = (0.7, 2.0, 3.5, 5.0)
NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
METHODS = ("branch-and-cut", "ilp", "cp-sat", "polish")
FEW = [("branch-and-cut", 1.0, signal.SIGINT), ("ilp", 4.0, signal.SIGTERM), ("polish", 3.0, signal.SIGHUP)]
MANY = [(name, moment, NUMBERS[(i + j) % 3]) for i, name in enumerate(METHODS) for j, moment in enumerate(MOMENTS)]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("signals") / "instance.json"
    ob.write_topics(ob.generate("zipf", nodes=60, topics=30, subscriptions=5, seed=1), path)
    return path


@pytest.mark.parametrize(
    ("method", "moment", "number"), [*FEW, *(pytest.param(*each, marks=pytest.mark.slow) for each in MANY)]
)
def test_a_signal_ends_solve_with_one_line_and_the_incumbent(
    file: Path, method: str, moment: float, number: signal.Signals
) -> None:
    steps = ("--option", "steps=100000000") if method == "polish" else ()
    words = (*COMMAND, "solve", str(file), "--problem", "k-tco", "--method", method, "--json", *steps)
    solving = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={name: value for name, value in os.environ.items() if name != "OVERLAYBENCH_INTERPRET"},  # with a trial run
        preexec_fn=lambda: [signal.signal(each, signal.SIG_DFL) for each in NUMBERS],  # not ignored, as in a job of sh
    )
    time.sleep(moment)
    os.killpg(solving.pid, number) if number is signal.SIGINT else solving.send_signal(number)
    out, err = solving.communicate(timeout=15)
    lines = [line for line in err.splitlines() if line and "compiling kernels" not in line]
    assert (solving.returncode, len(lines)) == (128 + number, 1), err
    assert lines[0].startswith("overlaybench: stopped")
    if out:
        assert json.loads(out)["reason"] == "interrupted"
        assert json.loads(out)["value"] is not None


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_ends_a_search_of_many_runs(tmp_path: Path, number: signal.Signals) -> None:
    words = (*COMMAND, "worst", "--method", "gm", "--problem", "min-tco", "--nodes", "8", "--topics", "8")
    searching = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        preexec_fn=lambda: [signal.signal(each, signal.SIG_DFL) for each in NUMBERS],
    )
    time.sleep(4)
    searching.send_signal(number)
    _, err = searching.communicate(timeout=15)
    assert searching.returncode == 128 + number, err
    assert "Traceback" not in err


def test_ctrl_c_returns_the_incumbent_of_a_solver_in_this_process(file: Path) -> None:
    instance, before = ob.read(file), signal.signal(signal.SIGINT, signal.default_int_handler)
    ob.solve(instance, "k-tco", "ilp", time_limit=0.1)
    try:
        threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        result = ob.solve(instance, "k-tco", "ilp", time_limit=60)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (str(result.status), result.reason) == ("time-limit", "interrupted")
    assert result.value is not None
    assert result.seconds < 30


def test_solve_prints_its_answer_where_the_disk_takes_no_proof(file: Path, tmp_path: Path) -> None:
    """The largest size of a file stands for a full disk."""
    words = ["solve", file, "--problem", "min-tco", "--method", "branch-and-cut", "--time-limit", 5, "--json"]
    proof = tmp_path / "proof.gz"
    ended = subprocess.run(
        [*COMMAND, *map(str, words), "--proof", str(proof)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400)),
        check=False,
    )
    assert json.loads(ended.stdout)["value"] is not None
    assert "the proof cannot be written (File too large): it is left out" in ended.stderr
    assert not proof.exists()
