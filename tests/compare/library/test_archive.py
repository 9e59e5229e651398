"""An archive of the library is the same every time, is checked by python3 alone, and every kind of damage is found."""

import csv
import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner

from overlaybench.compare.command_line import cli
from overlaybench.compare.library.archive import RunEvidence, unpacked, write_archive
from overlaybench.compare.library.study import select_pairs, study_text, update_table, with_digests
from overlaybench.compare.library.table import LibraryTable, read_table, write_table
from overlaybench.compare.studies.store import Store
from overlaybench.instances.contract.errors import BadInput
from tests.compare.studies.without_spark import study_done_in
from tests.models.checker.tiny import checker
from tests.outcomes import output_of

Study = tuple[Path, LibraryTable, Store]
INSTANCES = """name,group,workload,parameters,seed,digest,sizes,problems
a,small,uniform,nodes=7 subscriptions=3 topics=4,3,,,min-tco capped-tco@average-degree=3
b,other,zipf,nodes=7 subscriptions=3 topics=5,0,,,min-tco
c,cubes,steiner-hypercube,dimension=3,0,,,steiner
d,traces,churn,events=4 nodes=5 subscriptions=2 topics=3,0,,,dynamic-tco
z,real,lastfm,nodes=5,0,,,min-tco
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The folder of a table whose best answers and proofs a study has, the table and the study."""
    folder = tmp_path_factory.mktemp("table")
    (folder / "instances.csv").write_text("".join(INSTANCES.splitlines(keepends=True)[:-1]))
    table, _ = with_digests(read_table(folder))
    text = study_text(
        select_pairs(table),
        ["branch-and-cut", "cp-sat", "snapshot-optima"],
        time_limit=20,
        memory_limit=2000,
        proof=True,
    )
    store = study_done_in(tmp_path_factory.mktemp("out"), text)
    write_table(update_table(table, store).table, folder)
    with (folder / "instances.csv").open("a") as file:
        file.write(INSTANCES.splitlines()[-1] + "\n")
    return folder, read_table(folder), store


@pytest.fixture(scope="module")
def archive(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    _, table, store = study
    file = tmp_path_factory.mktemp("archive") / "a.tar.zst"
    done = write_archive(table, [RunEvidence(table, store.folder)], file)
    assert (done.pairs, done.answers, done.proofs, done.refused) == (6, 5, 4, ())
    return file


@pytest.fixture
def folder(archive: Path, tmp_path: Path) -> Path:
    """What is in the archive."""
    with unpacked(archive) as root:
        return Path(shutil.copytree(root, tmp_path / "unpacked"))


def checked(folder: Path, cwd: Path) -> tuple[int, str]:
    words = [sys.executable, "-S", "-E", "-B", str(folder / "check_all.py")]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, env={}, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


def resummed(folder: Path) -> None:
    """Write the checksums of the files as they are now."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    sums = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (folder / "SHA256SUMS").write_text("".join(line for line in sums if "SHA256SUMS" not in line))


@pytest.mark.interpreted
def test_two_archives_are_equal_byte_for_byte(study: Study, archive: Path, tmp_path: Path) -> None:
    folder, _, store = study
    words = ("library", "archive", store.folder, archive, "--table", folder, "-o", tmp_path / "b.tar.zst")
    assert "6 lines, 5 with an answer, 4 with a proof" in output_of(*words)
    assert (tmp_path / "b.tar.zst").read_bytes() == archive.read_bytes()


def test_python_alone_in_an_empty_folder_finds_nothing_wrong(folder: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    status, printed = checked(folder, empty)
    assert (status, printed.splitlines()[-1]) == (0, "6 lines: 5 values and 4 bounds checked, 0 faults")
    assert printed.split()[:8] == ["instance", "problem", "value", "bound", "value", "is", "bound", "is"]
    assert [line.split()[-2:] for line in printed.splitlines()[1:4]] == [
        ["valid", "proven"],
        ["valid", "–"],
        ["valid", "proven"],
    ]
    assert "left out: data of others" in printed
    assert list(empty.iterdir()) == []


def test_an_archive_is_a_source_of_another_one(study: Study, archive: Path, tmp_path: Path) -> None:
    folder, table, _ = study
    output_of("library", "archive", archive, "--table", folder, "-o", tmp_path / "again.tar.zst")
    assert (tmp_path / "again.tar.zst").read_bytes() == archive.read_bytes()
    assert write_archive(table, [], tmp_path / "none.tar.zst")[1:] == (0, 0, ())
    with unpacked(tmp_path / "none.tar.zst") as root:
        assert {row["note"] for row in csv.DictReader((root / "table.csv").open())} > {"not at hand: answer and proof"}
        assert checked(root, tmp_path)[0] == 0


def test_what_judge_and_checker_refuse_is_left_out_with_the_reason(study: Study, tmp_path: Path) -> None:
    _, table, store = study
    out = Path(shutil.copytree(store.folder, tmp_path / "out"))
    for proof in (out / "proofs").iterdir():
        proof.write_bytes(gzip.compress(gzip.decompress(proof.read_bytes()).replace(b'["bound",0', b'["none",0')))
    done = write_archive(table, [RunEvidence(table, out)], tmp_path / "a.tar.zst")
    assert (done.answers, done.proofs) == (5, 4 - len(done.refused))
    assert done.refused


def edited(file: str, change: Callable[[Any], Any]) -> Callable[[Path], object]:
    """Change the data of a JSON file."""
    return lambda folder: (folder / file).write_text(json.dumps(change(json.loads((folder / file).read_text()))))


def copied(*files: tuple[str, str]) -> Callable[[Path], object]:
    return lambda folder: [shutil.copy(folder / source, folder / to) for source, to in files]


def changed(column: str, to: str, *files: str) -> Callable[[Path], object]:
    """Another field in the rows of instance b, of the table or other files."""

    def change(folder: Path) -> None:
        for file in files or ("table.csv",):
            rows = pd.read_csv(folder / file, dtype=str, keep_default_na=False)
            rows.loc[rows["instance"] == "b", column] = to
            rows.to_csv(folder / file, index=False)

    return change


def all_edges(folder: Path) -> None:
    names = list(json.loads((folder / "instances" / "a.json").read_text())["subscriptions"])
    edges = [[u, v] for u in names for v in names if u < v]
    (folder / OVERLAY).write_text(json.dumps({"format": "overlay/1", "edges": edges}))


def a_degree_too_high(folder: Path) -> None:
    all_edges(folder)
    shutil.copy(folder / OVERLAY, folder / "answers" / "a" / "capped-tco@average-degree=3.json")


def a_higher_claim(folder: Path) -> None:
    file = folder / PROOF
    lines = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    lines[-1][1] += 1
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))


def a_line_less(folder: Path) -> None:
    file = folder / "table.csv"
    file.write_text("".join(line for line in file.read_text().splitlines(True) if not line.startswith("b,")))


def two_lines_of_one_problem(folder: Path) -> None:
    """Of which the first one has no answer."""
    for name, old, new in (("instances", "min-tco\n", "min-tco min-tco\n"), ("table", "answers/b", "answers/none")):
        lines = (folder / f"{name}.csv").read_text().splitlines(True)
        both = [line.replace(old, new) for line in lines if line.startswith("b,")]
        kept = lines if name == "table" else [line for line in lines if not line.startswith("b,")]
        (folder / f"{name}.csv").write_text("".join([kept[0], *both, *kept[1:]]))


def proof_of_another_instance(folder: Path) -> None:
    """All of instance b is that of a, but for its digest, and no answer shows it."""
    copied((PROOF, PROOF.replace("/a/", "/b/")), ("instances/a.json", "instances/b.json"))(folder)
    bound = next(csv.DictReader((folder / "table.csv").open()))["bound"]
    for column, to, files in (("value", "", BOTH), ("bound", bound, BOTH), ("answer", "", ["table.csv"])):
        changed(column, to, *files)(folder)


OVERLAY, PROOF, STEINER = "answers/a/min-tco.json", "proofs/a/min-tco.proof.gz", "proofs/c/steiner.proof.gz"
BOTH = ("table.csv", "records.csv")
OF_B = [(name.format("b"), name.format("a")) for name in ("instances/{}.json", OVERLAY.replace("/a/", "/{}/"))]
DAMAGES: dict[str, Callable[[Path], object]] = {
    "an edge less": edited(OVERLAY, lambda answer: answer | {"edges": answer["edges"][1:]}),
    "a change less": edited("answers/d/dynamic-tco.json", lambda log: log | {"changes": log["changes"][:-1]}),
    "all edges": all_edges,
    "a degree too high": a_degree_too_high,
    "a higher claim": a_higher_claim,
    "a proof cut short": lambda folder: (folder / STEINER).write_bytes((folder / STEINER).read_bytes()[:-20]),
    "the proof of another instance": copied(("proofs/b/min-tco.proof.gz", PROOF)),
    "another instance without an answer": proof_of_another_instance,
    "another instance": copied(*OF_B, ("proofs/b/min-tco.proof.gz", PROOF)),
    "a line less": a_line_less,
    "no table": lambda folder: (folder / "table.csv").unlink(),
    "a table of nothing": lambda folder: (folder / "table.csv").write_text("\0"),
    "lower numbers in both tables": changed("value", "1", *BOTH),
    "higher bounds in both tables": changed("bound", "99", *BOTH),
    "an infinite bound": lambda folder: [
        changed(column, to, *BOTH[: 1 + (column != "answer")])(folder)
        for column, to in (("value", ""), ("answer", ""), ("bound", "inf"))
    ],
    "two lines of one problem": two_lines_of_one_problem,
    "a lower value": changed("value", "1"),
    "no value": changed("value", "nan"),
    "a lower bound": changed("bound", "1"),
    "no bound": changed("bound", ""),
    "another digest": changed("digest", "0" * 64),
    "another answer": changed("answer", "answers/none.json"),
    "another problem": changed("problem", "k-tco"),
    "a lower record": changed("value", "1", "records.csv"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found_with_new_checksums_too(
    damage: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    DAMAGES[damage](folder)
    resummed(folder)
    monkeypatch.setattr(checker("check_all"), "Pool", lambda _: nullcontext(SimpleNamespace(imap=map)))
    assert checker("check_all").main([str(folder)]) == 1
    printed = capsys.readouterr().out
    assert "wrong: " in printed
    assert "SHA256SUMS" not in printed


@pytest.mark.parametrize("name", ["check_proof.py", "answers/b/min-tco.json"])
def test_a_file_changed_missing_or_added_is_found_by_its_checksum(name: str, folder: Path, tmp_path: Path) -> None:
    file = folder / name
    before = file.read_bytes()
    file.write_bytes(before + b"\n")
    assert f"wrong: {name}: has another checksum" in checked(folder, tmp_path)[1]
    file.write_bytes(before)
    added = file.with_name(f"more-{file.name}")
    file.rename(added)
    if name != "check_proof.py":
        status, printed = checked(folder, tmp_path)
        assert status == 1
        assert f"wrong: {name}: is missing" in printed or "No such file" in printed


def test_the_command_checks_by_this_packages_own_checker(archive: Path, folder: Path, tmp_path: Path) -> None:
    assert output_of("library", "check", archive).endswith(": 5 values and 4 bounds checked, 0 faults\n")
    (folder / "check_all.py").write_text("print('all is fine')\n")
    all_edges(folder)
    resummed(folder)
    root = tmp_path / "overlaybench-library"
    folder.rename(root)
    with tarfile.open(tmp_path / "forged.tar", "w") as tar:
        tar.add(root, root.name)
    (tmp_path / "forged.tar.zst").write_bytes(pa.compress((tmp_path / "forged.tar").read_bytes(), "zstd", asbytes=True))
    done = CliRunner().invoke(cli, ["library", "check", str(tmp_path / "forged.tar.zst")], catch_exceptions=False)
    assert done.exit_code == 1
    assert "wrong: a, min-tco" in done.output


@pytest.mark.parametrize(
    ("kind", "path", "why"),
    [
        pytest.param(tarfile.REGTYPE, "../above", "is no file of its folder", id="a file above"),
        pytest.param(tarfile.SYMTYPE, "link", "is no file of its folder", id="a link"),
        pytest.param(tarfile.REGTYPE, "a\0b", "null (byte|character)", id="no path"),
    ],
)
def test_no_archive_writes_outside_its_folder(kind: bytes, path: str, why: str, tmp_path: Path) -> None:
    member = tarfile.TarInfo("member")
    member.type, member.linkname, member.pax_headers = kind, str(tmp_path), {"path": path}
    with pa.output_stream(str(tmp_path / "a.tar.zst"), "zstd") as out, tarfile.open(fileobj=out, mode="w|") as tar:
        tar.addfile(member)
    with pytest.raises(BadInput, match=why), unpacked(tmp_path / "a.tar.zst"):
        pass
