"""Proofs through the commands: `solve --proof` writes them, `check-proof` accepts them and names what is wrong."""

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import overlaybench as ob
from overlaybench.compare.studies import proofs
from overlaybench.compare.studies.proofs import run_checker
from tests.compare.conftest import Run
from tests.models.checker import vipr_reader

SMALL: dict[str, dict[str, Any]] = {
    "uniform": {"nodes": 8, "topics": 5, "subscriptions": 2},
    "content": {"users": 5, "brokers": 3, "intervals": 2},
    "steiner-sparse": {"nodes": 14, "edges": 24, "terminals": 5},
}
PROVEN = [  # tests/models/checker has every problem
    ("uniform", "low-tco", "branch-and-cut"),
    ("uniform", "minmax-tco", "lp-bound"),
    pytest.param("content", "content-steiner", "branch-and-cut", marks=pytest.mark.interpreted),
    pytest.param("steiner-sparse", "steiner", "branch-and-cut", marks=pytest.mark.interpreted),
]


def written(workload: str, folder: Path, ending: str = "", seed: int = 0) -> Path:
    instance = ob.generate(workload, seed=seed, **SMALL[workload])
    kind = ob.KINDS[ob.WORKLOADS[workload].kind]
    file = folder / f"instance{ending or kind.ending}"
    kind.write(instance, file)
    return file


@pytest.mark.parametrize(("workload", "problem", "method"), PROVEN)
def test_proofs_are_accepted(run: Run, tmp_path: Path, workload: str, problem: str, method: str) -> None:
    file, proof = written(workload, tmp_path), tmp_path / "proof.gz"
    status, out, _ = run("solve", file, "--problem", problem, "--method", method, "--json", "--proof", proof)
    assert status == 0
    solved = json.loads(out)
    assert sorted(path.name for path in tmp_path.iterdir()) == [file.name, proof.name]
    status, out, _ = run("check-proof", file, proof, "--json")
    checked = json.loads(out)
    assert (status, checked["accepted"], checked["problem"]) == (0, True, problem)
    assert checked["value"] == pytest.approx(solved["value"])
    assert checked["optimal"] == (solved["status"] == "optimal")
    assert solved["counters"]["proof_check"] == checked["sentence"]
    assert (solved["proven"] == "certified") == (checked["lower_bound"] >= solved["lower_bound"] * (1 - 1e-6))


@pytest.mark.parametrize("ending", [".json", ".csv", ".tsv", ".parquet", ".sets", ".hif.json"])
def test_every_format_of_topics_is_checked(run: Run, tmp_path: Path, ending: str) -> None:
    file, proof = written("uniform", tmp_path, ending), tmp_path / "proof.gz"
    result = ob.solve(ob.read(file), "min-tco", "branch-and-cut", proof=proof)
    assert run("check-proof", file, proof) == (0, f"proven: min-tco {result.value} is optimal\n", "")
    if ending == ".csv":
        file.write_text(file.read_text().replace("node", "user", 1))
        assert run("check-proof", file, proof, "--node-column", "user")[0] == 0
    checked = run_checker(file, proof, 0.001)
    assert (checked.accepted, checked.sentence) == (False, "not checked: the checker had no verdict after 0.001 s")


@pytest.mark.parametrize("ending", [".json", ".parquet"])
def test_a_node_without_topics_hinders_no_proof(run: Run, tmp_path: Path, ending: str) -> None:
    file, proof = tmp_path / f"topics{ending}", tmp_path / "proof.gz"
    ob.write_topics(ob.TopicInstance.from_subscriptions({"a": ["t"], "b": [], "c": ["t"]}), file)
    status, out, err = run("solve", file, "--proof", proof, "--json")
    assert (status, err, json.loads(out)["proven"]) == (0, "", "certified")
    assert run("check-proof", file, proof) == (0, "proven: min-tco 1 is optimal\n", "")
    assert run("solve", file, "--proof", tmp_path / "proof.vipr")[0] == 0
    assert (tmp_path / "proof.vipr").exists()


def test_a_changed_proof_or_instance_is_named(run: Run, tmp_path: Path) -> None:
    file, proof = written("uniform", tmp_path, ".json"), tmp_path / "proof.gz"
    ob.solve(ob.read(file), "min-tco", "branch-and-cut", proof=proof)
    lines = gzip.decompress(proof.read_bytes()).decode().splitlines()
    claim = json.loads(lines[-1])
    claim[1] += 1
    forged = tmp_path / "forged.gz"
    forged.write_bytes(gzip.compress("\n".join([*lines[:-1], json.dumps(claim)]).encode()))
    status, out, _ = run("check-proof", file, forged)
    assert status == 1
    assert out.startswith(f"wrong: line {len(lines)}: ")
    assert json.loads(run("check-proof", file, forged, "--json")[1])["accepted"] is False
    forged.write_bytes(proof.read_bytes()[:-20])
    assert run("check-proof", file, forged)[0] == 1
    other = written("uniform", tmp_path, ".csv", seed=1)
    assert "the instance has" in run("check-proof", other, proof)[1]


def test_a_kind_that_the_checker_does_not_know_is_refused(run: Run, tmp_path: Path) -> None:
    network = tmp_path / "network.json"
    ob.KINDS["brokers"].write(ob.generate("brokers-sparse"), network)
    said = refusal(run, "check-proof", network, network)
    assert "the checker knows no instances of the kind 'brokers'" in said


def test_a_run_without_a_complete_proof_keeps_the_old_file(tmp_path: Path) -> None:
    instance, proof = ob.generate("uniform", **SMALL["uniform"]), tmp_path / "proof.gz"
    proof.write_text("old")
    with pytest.raises(ob.BadInput, match=r"method 'gm' writes no proofs .* one of auto, branch-and-cut, lp-bound"):
        ob.solve(instance, "min-tco", "gm", proof=proof)
    with pytest.raises(ob.BadInput, match="threads"):
        ob.solve(instance, "min-tco", "branch-and-cut", threads=-1, proof=proof)
    for given in ([], 3, object()):
        with pytest.raises(ob.BadInput, match="is no path"):
            ob.solve(instance, "min-tco", "branch-and-cut", proof=given)
    assert (proof.read_text(), list(tmp_path.iterdir())) == ("old", [proof])
    ob.solve(instance, "min-tco", "branch-and-cut", proof=str(proof))
    assert gzip.decompress(proof.read_bytes()).startswith(b'["proof",')


@pytest.mark.interpreted
def test_an_infeasible_instance_has_no_proof_and_one_line_says_so(run: Run, tmp_path: Path) -> None:
    crowded, parted = tmp_path / "crowded.json", tmp_path / "parted.stp"
    content = json.loads(written("content", tmp_path, ".json").read_text())
    for broker in content["brokers"].values():
        broker["capacity"] = 1e-3
    crowded.write_text(json.dumps(content))
    graph = "33D32945 STP File, STP Format Version 1.0\nSECTION Graph\nNodes 4\nEdges 2\nE 1 2 1\nE 3 4 1\nEND\n"
    parted.write_text(f"{graph}SECTION Terminals\nTerminals 2\nT 1\nT 3\nEND\nEOF\n")
    proof = tmp_path / "proof.gz"
    words = ("--method", "branch-and-cut", "--json")
    for file, problem in ((crowded, "content-steiner"), (parted, "steiner")):
        status, out, err = run("solve", file, "--problem", problem, *words, "--proof", proof)
        assert (status, json.loads(out)["status"], proof.exists()) == (0, "infeasible", False)
        assert err == f"overlaybench: {proof}: not written: the run is infeasible, and a proof is of an answer\n"


def test_the_checker_runs_without_the_package(tmp_path: Path) -> None:
    """From a copy of its folder, by the standard library alone."""
    source = Path(ob.__file__).parent / "models" / "checker"
    copy = shutil.copytree(source, tmp_path / "checker", ignore=shutil.ignore_patterns("__pycache__"))
    file, proof = written("uniform", tmp_path, ".json"), tmp_path / "proof.gz"
    ob.solve(ob.read(file), "min-tco", "branch-and-cut", proof=proof)
    code = (
        f"import sys; sys.path[:] = [{str(copy)!r}, *(p for p in sys.path if 'site-packages' not in p)]; "
        f"import check_proof; status = check_proof.main([{str(file)!r}, {str(proof)!r}]); "
        "sys.exit(status or any(name.split('.')[0] in ('overlaybench', 'numpy') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "is optimal" in done.stdout


def test_the_commands_write_certificates(run: Run, tmp_path: Path) -> None:
    file, proof, out = written("uniform", tmp_path), tmp_path / "p.gz", tmp_path / "c.vipr"
    status, said, _ = run("solve", file, "--problem", "min-tco", "--proof", out)
    assert status == 0
    assert f" is optimal ({out}; its problem: {out.with_suffix('.mps')})\n" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.mps", "c.vipr", file.name]
    text, value = out.read_text(), ob.solve(ob.read(file), "min-tco").value
    found = vipr_reader.read(text)
    assert found.lower == found.upper == value
    words = ("solve", file, "--problem", "min-tco", "--method", "branch-and-cut", "--proof", proof, "--option")
    assert run(*words, "presolve=false")[0] == 0
    status, said, _ = run("check-proof", file, proof, "--to-vipr", out)
    assert (status, said) == (0, f"proven: min-tco {value} is optimal\n")
    assert out.read_text() == text
    assert refusal(run, "check-proof", file, proof, "--to-vipr", tmp_path / "c.txt").endswith("choose another name\n")


def test_what_has_no_certificate_is_refused_in_a_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proof, out = tmp_path / "p.gz", tmp_path / "c.vipr"
    file = tmp_path / "leaf.csv"
    file.write_text("node,topic\na,t\nb,t\nc,t\n")
    ob.solve(ob.read(file), "min-tco", "branch-and-cut", proof=proof)
    assert "solve with --option presolve=false" in refusal(run, "check-proof", file, proof, "--to-vipr", out)
    killed = tmp_path / "killed.py"
    killed.write_text("import os; os.kill(os.getpid(), 15)")
    monkeypatch.setattr(proofs, "_TRANSLATOR", killed)
    assert refusal(run, "check-proof", file, proof, "--to-vipr", out).endswith("exit status -15\n")
    assert not out.exists()


def refusal(run: Run, *words: object) -> str:
    """The one line that a command ends with."""
    status, _, said = run(*words)
    assert (status, said.count("\n")) == (2, 1), said
    return said
