"""Ctrl-C, SIGTERM and SIGHUP at any moment: one line, the answer if there is one, and the status of the signal."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import overlaybench as ob
from tests.compare.conftest import PROGRAM, slow
from tests.interrupts import ctrl_c_at_answer

MOMENTS = (0.7, 2.0, 3.5, 5.0)
NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
METHODS = ("branch-and-cut", "ilp", "cp-sat", "polish")
FEW = [("branch-and-cut", 1.0, signal.SIGINT), ("polish", 1.0, signal.SIGHUP)]
MANY = [("ilp", 4.0, signal.SIGTERM)] + [
    (name, moment, NUMBERS[(i + j) % 3]) for i, name in enumerate(METHODS) for j, moment in enumerate(MOMENTS)
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("signals") / "instance.json"
    ob.write_topics(ob.generate("zipf", nodes=60, topics=30, subscriptions=5, seed=1), path)
    return path


def started(words: Sequence[str], **given: Any) -> subprocess.Popen[str]:
    """A command that does not ignore signals, as in a job of a shell."""

    def hear() -> None:
        for number in NUMBERS:
            signal.signal(number, signal.SIG_DFL)

    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, preexec_fn=hear, **given)


@pytest.mark.parametrize(("method", "moment", "number"), [*FEW, *(slow(*each) for each in MANY)])
def test_a_signal_ends_solve_with_the_incumbent(file: Path, method: str, moment: float, number: signal.Signals) -> None:
    steps = ("--option", "steps=100000000") if method == "polish" else ()
    words = (*PROGRAM, "solve", str(file), "--problem", "k-tco", "--method", method, "--json", *steps)
    with_a_trial_run = {name: value for name, value in os.environ.items() if name != "OVERLAYBENCH_INTERPRET"}
    solving = started(words, start_new_session=True, env=with_a_trial_run)
    time.sleep(moment)
    os.killpg(solving.pid, number) if number is signal.SIGINT else solving.send_signal(number)
    out, err = solving.communicate(timeout=15)
    lines = [line for line in err.splitlines() if line and "compiling kernels" not in line]
    assert (solving.returncode, len(lines)) == (128 + number, 1), err
    assert lines[0].startswith("overlaybench: stopped")
    if out:
        assert json.loads(out)["reason"] == "interrupted"
        assert json.loads(out)["value"] is not None


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_ends_a_search_of_many_runs(tmp_path: Path, number: signal.Signals) -> None:
    words = (*PROGRAM, "worst", "--method", "gm", "--problem", "min-tco", "--nodes", "8", "--topics", "8")
    searching = started(words, cwd=tmp_path)
    time.sleep(4)
    searching.send_signal(number)
    _, err = searching.communicate(timeout=15)
    assert searching.returncode == 128 + number, err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("begin", "number", "seconds", "ended"),
    [
        ("handle_signals", 15, 0.3, "KeyboardInterrupt, imported\n"),
        ("default_signals", 2, 0.3, "KeyboardInterrupt, imported\n"),  # as in the process of a run
        ("handle_signals", 15, 60, ""),
    ],
)
def test_a_signal_waits_for_the_end_of_an_import(
    tmp_path: Path, begin: str, number: int, seconds: float, ended: str
) -> None:
    """Libraries cannot be imported again after an import that an exception ended, and some crash."""
    (tmp_path / "slow.py").write_text(
        f"import os, time; os.kill(os.getpid(), {number}); time.sleep({seconds}); imported = True"
    )
    program = (
        f"from overlaybench.instances.runtime.signals import {begin}; {begin}()\n"
        "try:\n    import slow\n"
        "except KeyboardInterrupt:\n    pass\n"
        "try:\n    [None for _ in range(10**9)]\n"
        "except KeyboardInterrupt:\n    print('KeyboardInterrupt,', 'imported' if slow.imported else '')\n"
    )
    begun = time.monotonic()
    out, err = (importing := started((sys.executable, "-c", program), cwd=tmp_path)).communicate(timeout=30)
    assert (importing.returncode, out) == (0 if ended else 128 + signal.SIGTERM, ended), err
    assert err == ("" if ended else "overlaybench: stopped by SIGTERM\n")
    assert time.monotonic() - begun < 10


def test_ctrl_c_returns_the_incumbent_of_a_solver_in_this_process(file: Path) -> None:
    with ctrl_c_at_answer():
        result = ob.solve(ob.read(file), "k-tco", "ilp", time_limit=60)
    assert (str(result.status), result.reason) == ("time-limit", "interrupted")
    assert result.value is not None
    assert result.seconds < 30


@pytest.mark.slow
def test_solve_prints_its_answer_where_the_disk_takes_no_proof(file: Path, tmp_path: Path) -> None:
    """The largest size of a file stands for a full disk; Python 3.11 would cut the bytecode that it writes."""
    words = ["solve", file, "--problem", "min-tco", "--method", "branch-and-cut", "--time-limit", 5, "--json"]
    proof = tmp_path / "proof.gz"
    ended = subprocess.run(
        [*PROGRAM, *map(str, words), "--proof", str(proof)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400)),
        check=False,
    )
    assert json.loads(ended.stdout)["value"] is not None
    assert "the proof cannot be written (File too large): it is left out" in ended.stderr
    assert not proof.exists()
