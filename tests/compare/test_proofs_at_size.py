"""Proofs of the default study and of larger instances are accepted, and prove what the runs claim."""

from pathlib import Path
from typing import Any

import pytest

import overlaybench as ob
from benchmarks.proofs import workload
from overlaybench.compare.studies.proofs import run_checker
from overlaybench.compare.studies.study import read_study
from overlaybench.compare.studies.task import writes_proofs
from tests.outcomes import value_of

STUDY = Path(ob.__file__).parent / "compare" / "default_study.toml"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200)]


def wrong(instance: Any, problem: str, folder: Path, method: str = "branch-and-cut", **given: Any) -> str:
    """What is wrong with the proof of a run, or nothing."""
    kind = ob.KINDS[ob.PROBLEMS[problem].kind]
    file, proof = folder / f"instance{kind.proof_endings[0]}", folder / "proof.gz"
    kind.write(instance, file)
    result = ob.solve(instance, problem, method, proof=proof, **given)
    checked = run_checker(file, proof)
    if not checked.accepted:
        return checked.sentence
    assert checked.value == pytest.approx(value_of(result), rel=1e-9)
    if checked.optimal == (result.status == "optimal"):
        return ""
    return f"{result.status} at {result.value}, bound {result.lower_bound}: {checked.sentence}"


def test_every_run_of_branch_and_cut_in_the_default_study_is_proven(tmp_path: Path) -> None:
    study = read_study(STUDY)
    found, runs, limit = {}, 0, study.runs[0].time_limit
    for recipe in study.recipes:
        instance = recipe.make()
        for problem in ob.METHODS["branch-and-cut"].problems:
            if ob.PROBLEMS[problem].kind == recipe.kind and writes_proofs("branch-and-cut", problem):
                runs += 1
                if said := wrong(instance, problem, tmp_path, time_limit=limit):
                    found[recipe.family, recipe.seed, problem] = said
    assert found == {}
    assert runs >= 26 * 7 + 12 * 3


def test_a_bound_for_1000_nodes_is_checked_in_a_minute(tmp_path: Path) -> None:
    instance = workload("uniform", 1000, 100, 10)(0)
    result = ob.solve(instance, "min-tco", "lp-bound", proof=tmp_path / "proof.gz", time_limit=60)
    ob.write_topics(instance, tmp_path / "instance.csv")
    checked = run_checker(tmp_path / "instance.csv", tmp_path / "proof.gz", 60)
    assert (checked.accepted, checked.lower_bound) == (True, result.lower_bound)
