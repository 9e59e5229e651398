"""Someone else's answer or proof for the library, checked and kept beside the table; and the records of a change.

The folder of a table has of each submission ``answers/INSTANCE/PROBLEM.json`` or ``proofs/INSTANCE/PROBLEM.proof.gz``
until a better one replaces it.
"""

from __future__ import annotations

import gzip
import json
import math
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import structs

from ...instances.contract.errors import BadInput
from ...instances.contract.files import make_folder
from ...instances.contract.result import Status
from ..catalogue import kind_named, problem_named
from ..studies.bounds import exceeds
from ..studies.library_entries import Entry
from ..studies.proofs import checked_proof, digest_of
from .archive import answer_file, fault_of_answer, fault_of_proof, proof_file
from .study import check_consistent
from .table import Known, LibraryTable, Record, by_text, line_of, number_text, write_table

_PROOF = ".gz"
_RUN_SECONDS = 600.0  # a proof may be checked for as long as one of a run of ten minutes


def submit(
    table: LibraryTable,
    folder: Path,
    file: Path,
    *,
    name: str,
    source: str,
    method: str = "",
    instance: str | None = None,
    problem: str | None = None,
) -> Record:
    """Take an answer, or a proof (.gz), into the table in a folder, and return its record.

    A proof names its instance by digest and its problem. For an answer `instance` is a name; its problem is by default
    the first that the library poses. An answer is validated by its problem, a proof by the checker. A file that is
    refused, is no better than what is known, or contradicts it is bad input, and nothing is written.
    """
    for what, text in (("name", name), ("source", source), ("method", method or "-")):
        if not text.strip() or not text.isprintable():
            raise BadInput(f"--{what}: is empty or has a line break: write one line")
    record = Record(
        *("", "", method.strip(), math.nan, Status.TIME_LIMIT, math.nan, math.nan, math.nan, math.nan, "", ""),
        *(datetime.now(UTC).date().isoformat(), name.strip(), source.strip()),
    )
    take = _proof_taken if file.suffix == _PROOF else _answer_taken
    record, kept, write = take(table, record, folder, file, instance, problem)
    known = table.known(record.instance, record.problem)
    if not _is_better(record, known):
        raise BadInput(f"{file}: {_pair(record)}: {said(record)} is no better than what is known: {_known(known)}")
    after = table.with_records([record])
    check_consistent(after)
    make_folder(kept.parent)
    write(kept)
    write_table(after, folder)
    return record


Taken = tuple[Record, Path, Callable[[Path], object]]


def _answer_taken(
    table: LibraryTable, record: Record, folder: Path, file: Path, instance: str | None, problem: str | None
) -> Taken:
    """The record of a valid answer, where its file belongs, and what writes it."""
    if instance is None:
        raise BadInput(f"{file}: an answer does not name its instance: add --instance NAME")
    entry = table.entry(instance)
    judge, kind, given = _posed(entry, problem or entry.problems[0]), kind_named(entry.kind), entry.make()
    answer = kind.read_answer(file, given)
    if violations := judge.violations(given, answer):
        raise BadInput(f"{file}: is not valid for {judge.name}: {'; '.join(violations)}")
    value = float(judge.value(given, answer))
    found = structs.replace(record, instance=entry.name, problem=judge.name, value=value, status=Status.FEASIBLE)
    return found, answer_file(folder, entry.name, judge.name), partial(kind.write_answer, answer, given)


def _proof_taken(
    table: LibraryTable, record: Record, folder: Path, file: Path, instance: str | None, problem: str | None
) -> Taken:
    """The record of the bound that a proof proves, where its file belongs, and what writes it."""
    try:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            head = json.loads(lines.readline(2**26))[1]
            digest, about = str(head["instance"]), str(head["problem"])
    except (OSError, EOFError, ValueError, LookupError, TypeError) as error:
        raise BadInput(f"{file}: is no proof as `solve --proof` writes it ({error}): check the file") from None
    entry = table.by_digest.get(digest)
    if entry is None or instance not in (None, entry.name) or problem not in (None, about):
        raise BadInput(f"{file}: is about {about} on {entry.name if entry else 'no instance of the library'}: check it")
    judge = _posed(entry, about)
    checked = checked_proof(entry.make(), judge, file, _RUN_SECONDS)
    if checked.lower_bound is None or checked.problem != judge.name:
        raise BadInput(f"{file}: the checker does not accept it: {checked.sentence}")
    found = structs.replace(
        record, instance=entry.name, problem=about, bound=checked.lower_bound, proof=digest_of(file)
    )
    return found, proof_file(folder, entry.name, about), partial(shutil.copyfile, file)


def _posed(entry: Entry, problem: str) -> Any:
    if problem not in entry.problems:
        raise BadInput(f"{entry.name}: the library poses no {problem} on it, but {', '.join(entry.problems)}")
    return problem_named(problem)


def _is_better(record: Record, known: Known) -> bool:
    lower = exceeds(known.value, record.value) or known.best is None
    higher = exceeds(record.bound, known.bound) or known.bounded is None
    return (lower and not math.isnan(record.value)) or (higher and not math.isnan(record.bound))


def _pair(record: Record) -> str:
    return f"{record.instance}, {record.problem}"


def said(record: Record) -> str:
    """The value or the bound of a submission."""
    return f"value {number_text(record.value)}" if math.isnan(record.bound) else f"bound {number_text(record.bound)}"


def _known(known: Known) -> str:
    value = f"value {number_text(known.value)} by {by_text(known.best)}" if known.best else "no value"
    bound = f"bound {number_text(known.bound)} by {by_text(known.bounded)}" if known.bounded else "no bound"
    return f"{value}; {bound}"


def faults_since(table: LibraryTable, folder: Path, old: LibraryTable) -> Iterator[str]:
    """What is wrong with what a table in a folder has beyond an older one, a sentence each.

    Its new records must be of submissions, better than the older ones, and have an answer or a proof in the folder that
    judge or checker accepts. Nothing else may have changed but by better records; new instances can be made.
    """
    for name, entry in old.entries.items():
        if table.entries.get(name) != entry:
            yield f"{name}: the instance was changed or removed: add one of another name"
    before = {line_of(record) for record in old.runs}
    new = [record for record in table.runs if line_of(record) not in before]
    expected = {line_of(record) for record in old.with_records(new).runs}
    for line in sorted(expected - {line_of(record) for record in table.runs}):
        yield f"{line[0]}, {line[1]}: the record of {line[2]} was removed: restore its line"
    for entry in table.entries.values():
        if entry.name not in old.entries:
            try:
                if entry.make() and not entry.digest:
                    yield f"{entry.name}: has no digest: run `overlaybench library update`"
            except BadInput as error:
                yield str(error)
    for record in new:
        try:
            if fault := _fault_of_record(table, folder, record, old.known(record.instance, record.problem)):
                yield f"{_pair(record)}, by {record.name or record.method}: {fault}"
        except (BadInput, ValueError, IndexError) as error:
            yield f"{_pair(record)}, by {record.name or record.method}: {error}"
    try:
        check_consistent(table)
    except BadInput as error:
        yield str(error)


def _fault_of_record(table: LibraryTable, folder: Path, record: Record, known: Known) -> str:
    if not (record.name and record.source):
        return "has no author and source: let `overlaybench library submit` write the record"
    if not _is_better(record, known):
        return f"{said(record)} is no better than what was known: {_known(known)}"
    entry = table.entry(record.instance)
    judge, instance = problem_named(record.problem), entry.make()
    if not math.isnan(record.value):
        file = answer_file(folder, record.instance, record.problem)
        if fault := fault_of_answer(judge, instance, kind_named(entry.kind).read_answer(file, instance), record.value):
            return f"{file.name}: {fault}"
    if math.isnan(record.bound):
        return ""
    file = proof_file(folder, record.instance, record.problem)
    if not file.is_file() or digest_of(file) != record.proof:
        return f"{file}: is missing, or is not the proof of the record: add it"
    return fault_of_proof(judge, instance, file, structs.replace(record, seconds=_RUN_SECONDS))
