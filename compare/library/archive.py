"""The library as one file that anyone can check: instances, best answers, proofs, the table, the checker; and back.

Answers and proofs lie in results folders (:class:`RunEvidence`) and in folders like the table's own or an archive's
(:class:`FolderEvidence`): ``answers/INSTANCE/PROBLEM.json``, ``proofs/INSTANCE/PROBLEM.proof.gz``.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write
from ...instances.contract.problem import Problem
from ...instances.contract.tables import MOST_BYTES
from ...instances.runtime.run import die_with_parent
from ..catalogue import code_version, kind_named, problem_named
from ..studies.bounds import exceeds, near
from ..studies.library_entries import Entry
from ..studies.proofs import CERTIFIED, checked_proof
from ..studies.row import object_in
from ..studies.store import Store
from .study import library_runs
from .table import Known, LibraryTable, Record, by_text, number_text, write_table

_CHECKER = Path(__file__).resolve().parents[2] / "models" / "checker"
_FOLDER, _SUMS, _TABLE = "overlaybench-library", "SHA256SUMS", "table.csv"
_COLUMNS = (
    *("instance", "problem", "kind", "digest", "file"),
    *("value", "found_by", "answer", "bound", "proven_by", "proof", "note"),
)
_LEVEL = 9
_README = Path(__file__).with_name("archive_readme.txt")


class RunEvidence:
    """The runs of a results folder on the library."""

    def __init__(self, table: LibraryTable, folder: Path) -> None:
        self._store = Store.existing(folder)
        self._rows: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for row, record in library_runs(table, self._store):
            self._rows.setdefault((record.instance, record.problem), []).append(row)

    def answers(self, entry: Entry, problem: str, instance: Any, value: float) -> Iterator[Any]:
        for row in self._rows.get((entry.name, problem), ()):
            if row["answer"] is not None and near(row["value"], value):
                yield kind_named(entry.kind).unpack(np.asarray(row["answer"], dtype=np.int32), instance)

    def proofs(self, entry: Entry, problem: str, bound: float) -> Iterator[Path]:
        for row in self._rows.get((entry.name, problem), ()):
            certified, proof = object_in(row["counters"]).get(CERTIFIED, -math.inf), self._store.proof(row["key"])
            if not exceeds(bound, certified) and proof.is_file():
                yield proof


class FolderEvidence:
    """A folder with ``answers/`` and ``proofs/``: that of a table, or of an archive."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def answers(self, entry: Entry, problem: str, instance: Any, value: float) -> Iterator[Any]:
        if (file := answer_file(self._folder, entry.name, problem)).is_file():
            yield kind_named(entry.kind).read_answer(file, instance)

    def proofs(self, entry: Entry, problem: str, bound: float) -> Iterator[Path]:
        if (file := proof_file(self._folder, entry.name, problem)).is_file():
            yield file


def answer_file(folder: Path, instance: str, problem: str) -> Path:
    """Where a folder has the answer to an instance."""
    return folder / "answers" / instance / f"{problem}.json"


def proof_file(folder: Path, instance: str, problem: str) -> Path:
    """Where a folder has the proof about an instance."""
    return folder / "proofs" / instance / f"{problem}.proof.gz"


def fault_of_answer(problem: Problem[Any, Any], instance: Any, answer: Any, value: float) -> str:
    """Why an answer does not have the value; "" if it is valid and does, to the digits of the table."""
    if violations := problem.violations(instance, answer):
        return "it is not valid: " + "; ".join(violations)
    found = problem.value(instance, answer)
    return "" if math.isclose(found, value, rel_tol=1e-9) else f"it has the value {found:.10g}, not {value:.10g}"


def fault_of_proof(problem: Problem[Any, Any], instance: Any, proof: Path, record: Record) -> str:
    """Why the checker does not accept a file as a proof of the record's bound; "" if it does."""
    checked = checked_proof(instance, problem, proof, record.seconds)
    if checked.lower_bound is None or checked.problem != problem.name:
        return f"{proof.name}: {checked.sentence}"
    least = f"{proof.name}: proves no more than {checked.lower_bound:.10g}"
    return least if exceeds(record.bound, checked.lower_bound) else ""


class Archived(NamedTuple):
    """How many pairs an archive has, and how many of them with an answer and with a proof; why some were refused."""

    pairs: int
    answers: int
    proofs: int
    refused: tuple[str, ...]


def write_archive(
    table: LibraryTable,
    sources: Sequence[RunEvidence | FolderEvidence],
    file: Path,
    progress: Callable[[int], object] = lambda _: None,
) -> Archived:
    """Write the table, its instances, what the sources have of its best answers and proofs, and the checker.

    Each answer is validated by its problem and each proof by the checker; the first accepted one of the sources' is
    taken. Instances of data of others are left out. The file is the same, byte for byte, for the same contents.
    """
    import pyarrow as pa

    refused: list[str] = []
    with tempfile.TemporaryDirectory(prefix="overlaybench-") as folder:
        root = Path(folder)
        rows = []
        for number, entry in enumerate(table.entries.values()):
            progress(number)
            kind = kind_named(entry.kind)
            name = "" if entry.needs else f"instances/{entry.name}{(kind.proof_endings or ('.json',))[-1]}"
            instance = entry.make() if name else None
            if name:
                (root / name).parent.mkdir(exist_ok=True)
                kind.write(instance, root / name)
            for problem in entry.problems:
                known = table.known(entry.name, problem)
                row = _row(entry, problem, known) | {"file": name}
                if name:
                    row |= _evidence(root, entry, problem, instance, known, sources, refused)
                rows.append(row)
        with (root / _TABLE).open("w", encoding="utf-8", newline="") as opened:
            writer = csv.DictWriter(opened, _COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        write_table(table, root)
        for script in _CHECKER.glob("*.py"):
            shutil.copyfile(script, root / script.name)
        about = {"code": code_version(), "pyarrow": pa.__version__, "level": _LEVEL}
        (root / "README.md").write_text(_README.read_text(encoding="utf-8").format(**about), encoding="utf-8")
        names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
        sums = [f"{hashlib.sha256((root / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
        (root / _SUMS).write_text("".join(sums), encoding="utf-8")
        atomic_write(file, _compressed(root, [*names, _SUMS]))
    answers, proofs = (sum(bool(row[name]) for row in rows) for name in ("answer", "proof"))
    return Archived(len(rows), answers, proofs, tuple(refused))


def _row(entry: Entry, problem: str, known: Known) -> dict[str, str]:
    return dict.fromkeys(_COLUMNS, "") | {
        "instance": entry.name,
        "problem": problem,
        "kind": entry.kind,
        "digest": entry.digest,
        "value": number_text(known.value),
        "found_by": by_text(known.best),
        "bound": number_text(known.bound),
        "proven_by": by_text(known.bounded),
        "note": f"left out: data of others, {entry.needs}" if entry.needs else "",
    }


def _evidence(
    root: Path,
    entry: Entry,
    problem: str,
    instance: Any,
    known: Known,
    sources: Sequence[RunEvidence | FolderEvidence],
    refused: list[str],
) -> dict[str, str]:
    """Copy an answer and a proof that are accepted into the archive; its row's columns."""
    judge, pair = problem_named(problem), f"{entry.name}, {problem}"
    answer = proof = ""

    def save(file: Path, write: Callable[[Path], object]) -> str:
        file.parent.mkdir(parents=True, exist_ok=True)
        write(file)
        return file.relative_to(root).as_posix()

    if known.best is not None:
        given = (each for source in sources for each in source.answers(entry, problem, instance, known.value))
        if chosen := _first(given, lambda one: fault_of_answer(judge, instance, one, known.value), pair, refused):
            write = partial(kind_named(entry.kind).write_answer, chosen[0], instance)
            answer = save(answer_file(root, entry.name, problem), write)
    if (bounded := known.bounded) is not None:
        files = (each for source in sources for each in source.proofs(entry, problem, known.bound))
        if chosen := _first(files, lambda one: fault_of_proof(judge, instance, one, bounded), pair, refused):
            proof = save(proof_file(root, entry.name, problem), partial(shutil.copyfile, chosen[0]))
    absent = [
        noun
        for noun, record, file in (("answer", known.best, answer), ("proof", known.bounded, proof))
        if record and not file
    ]
    return {"answer": answer, "proof": proof, "note": f"not at hand: {' and '.join(absent)}" if absent else ""}


def _first(given: Iterator[Any], fault_of: Callable[[Any], str], pair: str, refused: list[str]) -> tuple[Any] | None:
    """The first that has no fault, None without one; the faults of the others, and of files, go to `refused`."""
    try:
        for one in given:
            if not (fault := fault_of(one)):
                return (one,)
            refused.append(f"{pair}: {fault}")
    except (BadInput, ValueError, IndexError) as error:  # of a damaged file or row
        refused.append(f"{pair}: {error}")
    return None


def _compressed(root: Path, names: Sequence[str]) -> bytes:
    """A tar file of some files under one folder, without times, owners and modes of this machine."""
    import pyarrow as pa

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name in names:
            data = (root / name).read_bytes()
            member = tarfile.TarInfo(f"{_FOLDER}/{name}")
            member.size, member.mode = len(data), 0o644
            tar.addfile(member, io.BytesIO(data))
    codec = pa.Codec("zstd", compression_level=_LEVEL)
    return bytes(codec.compress(packed.getbuffer(), asbytes=True))


@contextmanager
def unpacked(file: Path) -> Iterator[Path]:
    """The folder of an archive's files, until the end; bad input if the file is no archive of a library."""
    import pyarrow as pa

    with tempfile.TemporaryDirectory(prefix="overlaybench-") as folder:
        try:
            with (
                pa.input_stream(str(file), compression="zstd") as stream,
                tarfile.open(fileobj=stream, mode="r|") as tar,
            ):
                size = 0
                for member in tar:
                    size += member.size
                    if size > MOST_BYTES:
                        raise BadInput(f"{file}: unpacks to more than {MOST_BYTES >> 30} GiB: take another archive")
                    path = (Path(folder) / member.name).resolve()  # Python's own safe filter begins with 3.11.4
                    if member.isdir():
                        continue
                    if not member.isfile() or not path.is_relative_to(Path(folder).resolve()):
                        raise tarfile.TarError(f"{member.name} is no file of its folder")
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with tar.extractfile(member) or io.BytesIO() as data:
                        path.write_bytes(data.read())
        except BadInput:
            raise
        except (OSError, ValueError, tarfile.TarError, pa.ArrowException) as error:  # ValueError: of a forged header
            reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
            raise BadInput(f"{file}: is no archive of a library ({reason}): see `library archive`") from None
        root = Path(folder) / _FOLDER
        if not (root / _TABLE).is_file():
            raise BadInput(f"{file}: is no archive of a library (it has no {_FOLDER}/{_TABLE}): see `library archive`")
        yield root


def check_folder(root: Path) -> tuple[str, bool]:
    """Check an unpacked archive by this package's own copy of the checker: what it prints, and whether all is right."""
    words = [sys.executable, str(_CHECKER / "check_all.py"), str(root)]
    ended = subprocess.run(words, capture_output=True, text=True, preexec_fn=die_with_parent, check=False)
    return ended.stdout + ended.stderr, ended.returncode == 0
