"""Answers and proofs of others: only what is valid, better and consistent comes in; changes are checked."""

import gzip
import json
import math
import shlex
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec import structs

import overlaybench as ob
from overlaybench.compare.command_line import cli
from overlaybench.compare.library.archive import FolderEvidence, unpacked, write_archive
from overlaybench.compare.library.study import with_digests
from overlaybench.compare.library.submission import faults_since, submit
from overlaybench.compare.library.table import LibraryTable, Record, read_table, write_table

ROOT = Path(__file__).parents[3]
INSTANCES = """name,group,workload,parameters,seed,digest,sizes,problems
a,small,uniform,nodes=7 subscriptions=3 topics=4,3,,,min-tco minmax-tco
b,small,zipf,nodes=7 subscriptions=3 topics=5,0,,,min-tco minmax-tco
"""
ADA = {"name": "Ada", "source": "a thesis"}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """An instance, and files with its optimum, a worse overlay, an invalid one, and a proof."""
    folder = tmp_path_factory.mktemp("files")
    instance = ob.generate("uniform", nodes=7, subscriptions=3, topics=4, seed=3)
    result: Any = ob.solve(instance, "min-tco", "branch-and-cut", proof=folder / "best.proof.gz")
    names = [instance.node_label(v) for v in range(7)]

    def write(name: str, edges: list[list[str]]) -> Path:
        (folder / name).write_text(json.dumps({"format": "overlay/1", "edges": edges}))
        return folder / name

    best = [[names[u], names[v]] for u, v in result.answer.edges.tolist()]
    return {
        "value": result.value,
        "best": write("best.json", best),
        "invalid": write("invalid.json", best[1:]),
        "all": write("all.json", [[u, v] for u in names for v in names if u < v]),
        "proof": folder / "best.proof.gz",
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table with a record of a poor heuristic."""
    folder = tmp_path / "table"
    folder.mkdir()
    (folder / "instances.csv").write_text(INSTANCES)
    table, _ = with_digests(read_table(folder))
    poor = Record("a", "min-tco", "ring-per-topic", 10.0, ob.Status.FEASIBLE, 21.0, math.nan, 1.0, 0.1, "", "v")
    write_table(table.with_records([poor]), folder)
    return folder


def test_a_better_answer_and_a_proof_come_in_with_name_and_source(folder: Path, found: dict[str, Any]) -> None:
    old = read_table(folder)
    words = ["library", "submit", str(found["best"]), "--instance", "a", "--name", "Ada", "--source", "a thesis"]
    done = CliRunner().invoke(cli, [*words, "--table", str(folder)], catch_exceptions=False)
    assert f"a, min-tco: value {found['value']:g} by Ada" in done.output
    submit(read_table(folder), folder, found["proof"], name="Bob", source="https://doi.org/10.1/2", method="by hand")
    table = read_table(folder)
    known = table.known("a", "min-tco")
    assert (known.value, known.bound, known.is_open) == (found["value"], found["value"], False)
    assert known.best is not None
    assert known.bounded is not None
    assert (known.best.name, known.best.source, len(known.best.date)) == ("Ada", "a thesis", 10)
    assert (known.bounded.name, known.bounded.method, len(known.bounded.proof)) == ("Bob", "by hand", 64)
    assert list(faults_since(table, folder, old)) == []
    done_ = write_archive(table, [FolderEvidence(folder)], folder.parent / "a.tar.zst")
    assert (done_.answers, done_.proofs) == (1, 1)
    with unpacked(folder.parent / "a.tar.zst") as root:
        assert "Bob, by hand" in (root / "table.csv").read_text()


@pytest.mark.parametrize(
    ("file", "given", "reason"),
    [
        ("invalid", {}, "not valid for min-tco"),
        ("all", {"problem": "min-tco"}, r"no better than what is known: value 21 by ring-per-topic.*; no bound"),
        ("best", {"instance": None}, "add --instance"),
        ("best", {"instance": "q"}, "unknown instance 'q'"),
        ("best", {"problem": "k-tco"}, "poses no k-tco"),
        ("best", {"name": " "}, "--name"),
        ("best", {"source": "two\nlines"}, "--source"),
        ("proof", {"instance": "b"}, "is about min-tco on a"),
        ("proof", {"problem": "minmax-tco", "instance": None}, "is about min-tco on a"),
    ],
)
def test_what_is_invalid_no_better_or_unclear_is_refused_and_nothing_is_written(
    file: str, given: dict[str, Any], reason: str, folder: Path, found: dict[str, Any]
) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(ob.BadInput, match=reason):
        submit(read_table(folder), folder, found[file], **(ADA | {"instance": "a"} | given))
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_second_time_is_no_better(folder: Path, found: dict[str, Any]) -> None:
    for file in ("best", "proof"):
        submit(read_table(folder), folder, found[file], **ADA, instance="a")
        with pytest.raises(ob.BadInput, match=r"no better than what is known: value .* by Ada"):
            submit(read_table(folder), folder, found[file], **ADA, instance="a")


def test_a_forged_proof_and_an_answer_below_a_bound_are_refused(
    folder: Path, found: dict[str, Any], tmp_path: Path
) -> None:
    lines = [json.loads(line) for line in gzip.decompress(found["proof"].read_bytes()).splitlines()]
    lines[-1][1] += 1
    (tmp_path / "forged.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    (tmp_path / "nothing.gz").write_bytes(b"nothing")
    for name, reason in (("forged.gz", "does not accept"), ("nothing.gz", "is no proof")):
        with pytest.raises(ob.BadInput, match=reason):
            submit(read_table(folder), folder, tmp_path / name, **ADA)
    table = read_table(folder)
    bound = Record("a", "min-tco", "wrong", 10.0, ob.Status.TIME_LIMIT, math.nan, 20.0, 1.0, 0.1, "p", "v")
    with pytest.raises(ob.BadInput, match="one is wrong"):
        submit(table.with_records([bound]), folder, found["best"], **ADA, instance="a")


def no_file(folder: Path, record: Record) -> list[Record]:
    (folder / "answers" / "a" / "min-tco.json").unlink()
    return [record]


CHANGES: dict[str, Callable[[Path, Record], list[Record]]] = {
    "a lower value": lambda folder, record: [structs.replace(record, value=record.value - 1)],
    "no author": lambda folder, record: [structs.replace(record, name="", method="mine")],
    "another pair": lambda folder, record: [structs.replace(record, problem="minmax-tco", value=1.0)],
    "no file": no_file,
    "a proof without a file": lambda folder, record: [
        record,
        structs.replace(record, value=math.nan, bound=3.0, proof="0" * 64),
    ],
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_with_a_record_that_nothing_shows_is_found(name: str, folder: Path, found: dict[str, Any]) -> None:
    old = read_table(folder)
    record = submit(old, folder, found["best"], **ADA, instance="a")
    assert list(faults_since(read_table(folder), folder, old)) == []
    (fault,) = faults_since(old.with_records(CHANGES[name](folder, record)), folder, old)
    assert "min" in fault


def test_a_proof_that_is_not_the_one_of_its_record_is_found(folder: Path, found: dict[str, Any]) -> None:
    old = read_table(folder)
    record = submit(old, folder, found["proof"], **ADA)
    (fault,) = faults_since(old.with_records([structs.replace(record, proof="0" * 64)]), folder, old)
    assert "is not the proof of the record" in fault


def test_a_change_of_what_was_there_is_found(folder: Path, tmp_path: Path) -> None:
    old = read_table(folder)
    bare = LibraryTable(old.entries)
    (fault,) = faults_since(bare, folder, old)
    assert "ring-per-topic was removed" in fault
    worse = bare.with_records([structs.replace(record, value=30.0) for record in old.runs])
    assert any("removed" in fault for fault in faults_since(worse, folder, old))
    changed = {"a": structs.replace(old.entries["a"], seed=4)}
    faults = list(faults_since(LibraryTable(changed).with_records(old.runs), folder, old))
    assert [fault.split(":")[0] for fault in faults] == ["a", "b"]
    added = {**old.entries, "c": structs.replace(old.entries["a"], name="c", digest="0" * 64)}
    (fault,) = faults_since(LibraryTable(added).with_records(old.runs), folder, old)
    assert "'c' is not here" in fault


def test_the_workflow_runs_the_check_of_new_records(folder: Path, found: dict[str, Any], tmp_path: Path) -> None:
    yaml = import_module("yaml")  # of mkdocs, without types
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "library.yml").read_text())
    (command,) = (
        step["run"]
        for step in workflow["jobs"]["new-records"]["steps"]
        if step.get("run", "").startswith("overlaybench ")
    )
    base = tmp_path / "base"
    base.mkdir()
    write_table(read_table(folder), base)
    words = shlex.split(command)[1:]
    words[words.index("base/compare/library")] = str(base)
    words[words.index("change/compare/library")] = str(folder)

    def run() -> tuple[int, str]:
        done = CliRunner().invoke(cli, words, catch_exceptions=False)
        return done.exit_code, done.output

    assert run() == (0, "0 new records, 0 faults\n")
    submit(read_table(folder), folder, found["best"], **ADA, instance="a")
    assert run() == (0, "1 new records, 0 faults\n")
    (folder / "answers" / "a" / "min-tco.json").write_bytes(found["invalid"].read_bytes())
    status, printed = run()
    assert (status, printed.splitlines()[-1]) == (1, "1 new records, 1 faults")
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / "library.yml").read_text())
    asked = {item["id"] for item in form["body"] if "id" in item}
    assert asked >= {"instance", "problem", "file", "name", "source"}
