"""Proofs of a study's runs: written, checked by another process, kept with the row, and checked again."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import overlaybench as ob
from overlaybench.compare.commands.studies import dry_run_report
from overlaybench.compare.studies import proofs
from overlaybench.compare.studies.isolation import Job, Solver
from overlaybench.compare.studies.proofs import CheckedProof, checked_proof, digest_of, run_with_evidence
from overlaybench.compare.studies.results import results
from overlaybench.compare.studies.store import Store
from overlaybench.compare.studies.study import read_study
from overlaybench.compare.studies.verification import Evidence, faults_of_row, rerun
from tests.compare.studies.without_spark import study_done_in

SPEC = """
name = "proofs"
seed = 4
time_limit = 60
instances = [{ workload = "zipf", nodes = 6, topics = 5, subscriptions = 2 }]
[[runs]]
problems = ["min-tco"]
methods = ["gm", "branch-and-cut", "cp-sat"]
"""
PATH = ob.TopicInstance.from_subscriptions({"a": ["x"], "b": ["x", "y"], "c": ["y"]})
MIN_TCO = ob.PROBLEMS["min-tco"]


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return study_done_in(tmp_path_factory.mktemp("proven"), f"{SPEC}proof = true\n")


def stored(store: Store) -> dict[str, dict[str, Any]]:
    return {row["method"]: row for row in store.table(store.keys()).to_pylist()}


def faults(store: Store, row: dict[str, Any], **counters: object) -> list[str]:
    """The faults that `verify` finds in a row with these counters instead of its own."""
    known = {name: value for name, value in {**json.loads(row["counters"]), **counters}.items() if value is not None}
    proof = store.proof(row["key"])
    evidence = Evidence(proof=proof.read_bytes() if proof.is_file() else None)
    return list(faults_of_row({**row, "counters": json.dumps(known)}, evidence))


def test_a_proof_is_kept_checked_and_certifies_the_value_of_every_run(proven: Store) -> None:
    row = stored(proven)["branch-and-cut"]
    counters = json.loads(row["counters"])
    assert counters["proof"] == digest_of(proven.proof(row["key"]))
    assert counters["proof_check"] == f"proven: min-tco {row['value']:g} is optimal"
    assert counters["certified"] == row["value"]
    assert [file.name for file in proven.proofs.iterdir()] == [f"{row['key']}.proof.gz"]
    assert faults(proven, row) == []
    assert faults(proven, row, proof=None, proof_check=None, certified=None)
    levels = results(proven.folder).set_index("method")["proven"]
    assert levels.to_dict() == {"branch-and-cut": "certified", "cp-sat": "certified", "gm": ""}


@pytest.mark.parametrize("name", ["proof", "proof_check", "certified"])
def test_any_dropped_or_changed_evidence_is_found(proven: Store, name: str) -> None:
    rows = stored(proven)
    row = rows["branch-and-cut"]
    texts = ("wrong: line 7: no", "0" * 64, f"proven: min-tco {row['value']:g}")
    for value in (None, row["value"] + 1, 0.0, *texts):
        assert faults(proven, row, **{name: value})
    for method in ("cp-sat", "gm"):
        assert faults(proven, rows[method], **{name: json.loads(row["counters"])[name]})


def test_a_proof_that_was_changed_exchanged_or_removed_is_a_fault(proven: Store) -> None:
    row = stored(proven)["branch-and-cut"]
    file = proven.proof(row["key"])
    before = file.read_bytes()
    try:
        lines = gzip.decompress(before).decode().splitlines(keepends=True)
        file.write_bytes(gzip.compress("".join(lines[:-1]).encode()))
        assert faults(proven, row) == [f"its proof {file.name} is not the file that was checked"]
        assert "wrong: " in faults(proven, row, proof=digest_of(file))[0]
        file.unlink()
        assert f"{file.name} is missing" in faults(proven, row)[0]
    finally:
        file.write_bytes(before)


def test_a_proof_about_an_instance_of_another_digest_is_wrong(proven: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The instance as the package reads it, whatever the checker reads in its file."""
    row = stored(proven)["branch-and-cut"]
    instance = proven.instance(row["recipe"], row["instance"])
    monkeypatch.setitem(vars(instance), "digest", "0" * 64)
    checked = checked_proof(instance, MIN_TCO, proven.proof(row["key"]), 1.0)
    assert checked == CheckedProof("wrong: the proof is about another instance")


def test_a_proof_of_another_problem_certifies_nothing(proven: Store) -> None:
    row = stored(proven)["branch-and-cut"]
    assert any("its proof gives" in fault for fault in faults(proven, {**row, "problem": "low-tco"}))


def test_a_proof_repeats_no_run_that_has_one_and_a_run_without_is_repeated_only_for_it(tmp_path: Path) -> None:
    without = stored(study_done_in(tmp_path, SPEC))
    with_proof = stored(study_done_in(tmp_path, f"{SPEC}proof = true\n"))
    for method in ("gm", "cp-sat"):
        assert with_proof[method] == without[method]
    assert with_proof["branch-and-cut"]["key"] != without["branch-and-cut"]["key"]
    assert with_proof["branch-and-cut"]["seed"] == without["branch-and-cut"]["seed"]
    again = study_done_in(tmp_path, SPEC)
    assert stored(again)["branch-and-cut"]["key"] == without["branch-and-cut"]["key"]
    assert len(again.done()) == 4


def test_a_stored_run_with_a_proof_serves_a_study_without(proven: Store, tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to(proven.folder)
    before = proven.done()
    try:
        assert stored(study_done_in(tmp_path, SPEC)) == stored(proven)
        assert proven.done() == before
    finally:
        study_done_in(tmp_path, f"{SPEC}proof = true\n")


def test_a_table_without_a_method_that_proves_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(SPEC.replace('"branch-and-cut", ', "") + "proof = true\n")
    with pytest.raises(ob.BadInput, match=r"runs\[1\]: proof: none of these methods writes proofs"):
        read_study(file)
    file.write_text(SPEC + 'proof = "yes"\n')
    with pytest.raises(ob.BadInput, match="proof: give true or false"):
        read_study(file)


def test_a_repeated_run_writes_its_proof_elsewhere(proven: Store) -> None:
    row = stored(proven)["branch-and-cut"]
    again = rerun(proven.folder, row["key"])
    assert again.differences == []
    assert digest_of(proven.proof(row["key"])) == json.loads(row["counters"])["proof"]


def _fails(instance: Any, problem: Any, *, proof: Path, **given: Any) -> ob.Proposal[Any]:
    Path(proof).write_bytes(b"begun")
    raise RuntimeError("no more")


def _boasts(instance: Any, problem: Any, **given: Any) -> ob.Proposal[Any]:
    edges = ob.Overlay.from_edges(3, [(0, 1), (1, 2)])
    return ob.Proposal(edges, 1.0, counters={"certified": 2, "proof": "0", "proof_check": "proven", "own": 7})


def _lies(instance: Any, problem: Any, *, proof: Path, **given: Any) -> ob.Proposal[Any]:
    with gzip.open(proof, "wt") as file:
        file.write('["claim",2,[[0,1],[1,2]]]\n')
    return ob.Proposal(ob.Overlay.from_edges(3, [(0, 1), (1, 2)]), 2.0)


@pytest.fixture
def solver() -> Iterator[Solver]:
    with Solver() as started:
        yield started


def job_of(solve: Any) -> Job:
    method: ob.Method[Any, Any] = ob.Method(
        name="mine", problems=("min-tco",), summary="", source="", solve=solve, inputs=("proof",)
    )
    return Job(method, PATH, MIN_TCO, 0, {}, 20.0, 1000)


def test_a_failed_run_leaves_no_proof(solver: Solver, tmp_path: Path) -> None:
    run = run_with_evidence(job_of(_fails), solver.run, tmp_path / "proof.gz")
    assert run.result.status == "failed"
    assert list(tmp_path.iterdir()) == []


def test_a_method_cannot_certify_itself(solver: Solver, tmp_path: Path) -> None:
    for proof in (None, tmp_path / "proof.gz"):
        assert run_with_evidence(job_of(_boasts), solver.run, proof).result.counters == {"own": 7}
    assert list(tmp_path.iterdir()) == []


def test_a_proof_that_the_checker_refuses_is_kept_and_certifies_nothing(solver: Solver, tmp_path: Path) -> None:
    counters = run_with_evidence(job_of(_lies), solver.run, tmp_path / "proof.gz").result.counters
    assert str(counters["proof_check"]).startswith("wrong: line 1: ")
    assert "certified" not in counters
    assert (tmp_path / "proof.gz").is_file()


def test_a_checker_without_time_says_so(solver: Solver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "_CHECK_SECONDS", 1e-3)
    monkeypatch.setattr(proofs, "_CHECK_SHARE", 0.0)
    job = replace(job_of(_lies), method=ob.METHODS["branch-and-cut"])
    counters = run_with_evidence(job, solver.run, tmp_path / "proof.gz").result.counters
    assert counters["proof_check"] == "not checked: the checker had no verdict after 0.001 s"
    assert "certified" not in counters


def test_runs_that_are_left_are_not_nothing_though_they_are_short(tmp_path: Path) -> None:
    short = SPEC.replace('"branch-and-cut", "cp-sat"', "")
    store = study_done_in(tmp_path, short)
    for seeds, said in (
        (1, "1 instances, 1 runs, 1 of them stored"),
        (1, "nothing to go"),
        (2, "at most 2 instances, 2 runs (equal instances count once when they are made), 1 of them stored"),
        (2, "less than 1 s to go"),
    ):
        (tmp_path / "more.toml").write_text(short.replace("subscriptions = 2", f"subscriptions = 2, seeds = {seeds}"))
        assert said in dry_run_report(read_study(tmp_path / "more.toml"), store, "local[2]")
