"""Proofs as VIPR: a reader by the specification accepts them, `viprchk` too where it is, and nobody a broken one."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import highspy
import pytest
from hypothesis import strategies as st

from tests.models.checker import vipr_reader
from tests.models.checker.test_written_proofs import medium
from tests.models.checker.tiny import TOPIC_PROBLEMS, Line, Tiny, checker, draw_tiny, write_lines
from tests.properties import property_test

SEEDS = st.integers(0, 10**9)
PROBLEMS = (*TOPIC_PROBLEMS, "steiner")
_VIPRCHK = shutil.which("viprchk")


def translated(tiny: Tiny, lines: list[Line], folder: Path) -> str:
    """The certificate of a proof."""
    instance, proof, out = folder / f"instance{tiny.suffix}", folder / "lines.gz", folder / "certificate.vipr"
    tiny.write(instance)
    write_lines(proof, lines)
    ended = subprocess.run(
        [sys.executable, str(Path(checker().__file__).with_name("vipr.py")), str(instance), str(proof), str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return out.read_text()


def accepted(text: str, folder: Path) -> vipr_reader.Certificate:
    """The certificate as the reader has it, once `viprchk` accepts it as well, if there is one."""
    assert by_viprchk(text, folder) is not False
    return vipr_reader.read(text)


def by_viprchk(text: str, folder: Path) -> bool | None:
    """Whether `viprchk` accepts a certificate; None if it is not on the PATH."""
    if _VIPRCHK is None:
        return None
    file = folder / "other.vipr"
    file.write_text(text)
    ended = subprocess.run([_VIPRCHK, str(file)], capture_output=True, text=True, check=False, timeout=600)
    return ended.returncode == 0 and "Successfully verified" in ended.stdout


def least_by_highs(file: Path) -> float:
    """The optimum of a problem in MPS."""
    solver = highspy.Highs()
    solver.silent()
    assert solver.readModel(str(file)) == highspy.HighsStatus.kOk
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(solver.getInfo().objective_function_value)


@property_test(60, SEEDS, quick=3)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_optima_of_tiny_instances_are_certified(problem: str, seed: int) -> None:
    tiny = draw_tiny(random.Random(seed), problem)
    with TemporaryDirectory() as name:
        folder = Path(name)
        _, lines = tiny.prove(folder, seed=seed, presolve=False)
        if not lines:
            return
        found = accepted(translated(tiny, lines, folder), folder)
        assert found.lower == found.upper == tiny.optimum()
        assert least_by_highs(folder / "certificate.mps") == pytest.approx(tiny.optimum())


@property_test(20, SEEDS, quick=1)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_searches_with_trees_and_stopped_ones_are_certified(problem: str, seed: int) -> None:
    draw = random.Random(seed)
    tiny = Tiny(problem, medium(draw, problem))
    with TemporaryDirectory() as name:
        result, lines = tiny.prove(Path(name), seed=seed, presolve=False, time_limit=draw.choice([0.1, 0.5, 2.0]))
        if lines:
            found = accepted(translated(tiny, lines, Path(name)), Path(name))
            assert found.lower >= result.lower_bound
            assert found.upper == result.value
