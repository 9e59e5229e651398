"""Studies over the library: the file of one, and taking its results into the table.

Only answers that the problem accepts count, and bounds that the checker accepts.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from msgspec import structs

from ...instances.contract.errors import BadInput, unknown
from ...instances.contract.option import Value
from ...instances.contract.result import Status
from ..catalogue import kind_named, method_named, problem_named
from ..studies.bounds import exceeds
from ..studies.columns import GapSteps
from ..studies.library_entries import TABLE, Entry
from ..studies.proofs import CERTIFIED, PROOF, faults_of_evidence
from ..studies.row import object_in
from ..studies.store import Store
from ..studies.task import writes_proofs
from .table import LibraryTable, Record, read_table

_USED_UP = 0.9  # of a time limit


def select_pairs(
    table: LibraryTable,
    *,
    names: Sequence[str] = (),
    groups: Sequence[str] = (),
    problems: Sequence[str] = (),
    only_open: bool = False,
) -> list[tuple[Entry, str]]:
    """The pairs of an entry and a problem with these names, groups and problems, all of them where none is given.

    An unknown name or group is bad input, and so is a choice of nothing.
    """
    for name in names:
        table.entry(name)
    known = {entry.group for entry in table.entries.values()}
    for group in groups:
        if group not in known:
            raise unknown("group of the library", group, known)
    pairs = [
        (entry, problem)
        for entry, problem in table.pairs()
        if (not names or entry.name in names)
        and (not groups or entry.group in groups)
        and (not problems or problem in problems)
        and (not only_open or table.known(entry.name, problem).is_open)
    ]
    if not pairs:
        raise BadInput("the library has no such instances: see `overlaybench library list`")
    return pairs


def runnable_pairs(pairs: Sequence[tuple[Entry, str]]) -> tuple[list[tuple[Entry, str]], list[str]]:
    """The pairs whose instance can be made here, and a sentence for each instance that lacks data of others."""
    reasons = {}
    for entry in dict.fromkeys(entry for entry, _ in pairs if entry.needs):
        try:
            entry.make()
        except BadInput as error:
            reasons[entry] = str(error)
    return [pair for pair in pairs if pair[0] not in reasons], list(reasons.values())


def study_text(
    pairs: Sequence[tuple[Entry, str]], methods: Sequence[str], *, time_limit: float, memory_limit: int, proof: bool
) -> str:
    """The study (TOML) of methods on instances of the library, each on the problems that it answers.

    A method is a name, with options after spaces (``low-oda k=8``). With `proof` methods that can write proofs do. A
    method that is unknown or answers none of the problems is bad input.
    """
    variants = [_variant(text) for text in methods]
    lines = [
        "# Written by `overlaybench library run`.",
        'name = "library"',
        f"time_limit = {time_limit:g}",
        f"memory_limit = {memory_limit}",
    ]
    for entry in dict.fromkeys(entry for entry, _ in pairs):
        lines += ["", "[[instances]]", f"family = {_toml(entry.group)}", f"workload = {_toml(entry.workload)}"]
        lines += [f"{name} = {_toml(value)}" for name, value in entry.complete.items()]
        lines.append(f"seeds = [{entry.seed}]")
    used: set[str] = set()
    for problem in dict.fromkeys(problem for _, problem in pairs):
        answering = [(name, options) for name, options in variants if method_named(name).answers(problem)]
        used |= {name for name, _ in answering}
        if answering:
            families = dict.fromkeys(entry.group for entry, each in pairs if each == problem)
            listed = ", ".join(_method(name, options) for name, options in answering)
            lines += ["", "[[runs]]", f"problems = [{_toml(problem)}]", f"methods = [{listed}]"]
            lines.append(f"families = [{', '.join(map(_toml, families))}]")
            if proof and any(writes_proofs(name, problem) for name, _ in answering):
                lines.append("proof = true")
    if unused := [name for name, _ in variants if name not in used]:
        raise BadInput(f"method '{unused[0]}' answers none of the problems of these instances: leave it out")
    return "\n".join([*lines, ""])


def _variant(text: str) -> tuple[str, dict[str, str]]:
    name, *words = text.split() or [text]
    options = dict(word.split("=", 1) for word in words if "=" in word)
    if len(options) < len(words):
        raise BadInput(f"method '{text}': options are name=value after the method's name, each once")
    return method_named(name).name, options


def _method(name: str, options: Mapping[str, str]) -> str:
    given = "".join(f", {option} = {_toml(value)}" for option, value in options.items())
    return f"{{ method = {_toml(name)}{given} }}"


def _toml(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False)


class LibraryRun(NamedTuple):
    """A row of a study on an instance of the library, and its record without a bound."""

    row: Mapping[str, Any]
    record: Record


def library_runs(table: LibraryTable, store: Store) -> list[LibraryRun]:
    """The runs of a folder's present study on the library's instances and for its problems.

    Primal integrals are against the best value known, or that of these runs if it is lower.
    """
    found = []
    for row in store.table(store.keys()).to_pylist():
        entry = table.by_digest.get(row["instance"])
        if entry is not None and row["problem"] in entry.problems and row["status"] != Status.SKIPPED:
            found.append((entry.name, row))
    best: dict[tuple[str, str], float] = {}
    for name, row in found:
        known = best.setdefault((name, row["problem"]), table.known(name, row["problem"]).value)
        values = [value for value in (known, row["value"]) if value is not None and value == value]
        best[name, row["problem"]] = min(values, default=math.nan)
    return [LibraryRun(row, _record(name, row, best[name, row["problem"]])) for name, row in found]


def _record(name: str, row: Mapping[str, Any], best: float) -> Record:
    seconds, steps = row["cpu_seconds"], GapSteps.of([row["points"]], [best])
    return Record(
        instance=name,
        problem=row["problem"],
        method=row["variant"],
        time_limit=float(row["time_limit"]),
        status=Status(row["status"]),
        value=math.nan if row["value"] is None else float(row["value"]),
        bound=math.nan,
        seconds=math.nan if seconds is None else float(seconds),
        integral=math.nan if math.isnan(best) else float(steps.integrals([row["time_limit"]])[0]),
        proof="",
        version=row["code_version"][:12],
        date=row["started"][:10],
    )


@dataclass(frozen=True)
class LibraryUpdate:
    """The table after an update, how many runs it took in and how many of them with a certified bound.

    `refused` has the key of each run whose answer or bound was not accepted, and why.
    """

    table: LibraryTable
    taken: int
    certified: int
    refused: tuple[tuple[str, str], ...]


def update_table(
    table: LibraryTable, store: Store, progress: Callable[[int, int], object] | None = None
) -> LibraryUpdate:
    """Take the runs of a results folder that are runs of the library into the table.

    Every answer is validated by its problem again, on an instance with the digest of the table. A bound counts if the
    run has a proof that the checker accepts once more. A run whose answer is refused is left out; one whose bound is
    refused, or that has none that is certified, is taken in without. Bad input if a certified bound lies above an
    answer: one of the two is wrong, and nothing is taken in.
    """
    refused: list[tuple[str, str]] = []
    records: list[Record] = []
    runs = library_runs(table, store)
    for number, one in enumerate(runs, start=1):
        if progress is not None:
            progress(number, len(runs))
        try:
            records.append(_accepted(one, store, refused))
        except (BadInput, ValueError, IndexError) as error:
            refused.append((one.row["key"], str(error)))
    after = table.with_records(records)
    check_consistent(after)
    certified = sum(not math.isnan(record.bound) for record in records)
    return LibraryUpdate(after, len(records), certified, tuple(refused))


def check_consistent(table: LibraryTable) -> None:
    """Bad input if a certified bound of the table lies above an answer's value: one of the two is wrong."""
    for entry, problem in table.pairs():
        known = table.known(entry.name, problem)
        if known.best and known.bounded and exceeds(known.bound, known.value):
            raise BadInput(
                f"{entry.name}, {problem}: the bound {known.bound:g} of {known.bounded.method} lies above the value "
                f"{known.value:g} of {known.best.method}: one is wrong; nothing is taken in"
            )


def _accepted(one: LibraryRun, store: Store, refused: list[tuple[str, str]]) -> Record:
    """The record with its bound if that is certified; a ValueError or BadInput says why an answer is refused."""
    row, record = one
    problem, kind = problem_named(row["problem"]), kind_named(row["kind"])
    instance, counters = store.instance(row["recipe"], row["instance"]), object_in(row["counters"])
    if row["answer"] is not None:
        answer = kind.unpack(np.asarray(row["answer"], dtype=np.int32), instance)
        if violations := problem.violations(instance, answer):
            raise BadInput("its answer is not valid: " + "; ".join(violations))
        if (value := problem.value(instance, answer)) != row["value"]:
            raise BadInput(f"its answer has value {value:g}, not {row['value']}")
    elif row["value"] is not None:
        raise BadInput("it has a value and no answer")
    if (bound := counters.get(CERTIFIED)) is None:
        return record
    if faults := list(faults_of_evidence(counters, instance, problem, store.proof(row["key"]), row["seconds"])):
        refused.append((row["key"], "; ".join(faults)))
        return record
    return structs.replace(record, bound=float(bound), proof=str(counters[PROOF]))


def with_digests(table: LibraryTable) -> tuple[LibraryTable, list[str]]:
    """The table with digest and sizes of the entries that have none yet, and why some cannot be made here."""
    entries, missing = dict(table.entries), []
    for name, entry in table.entries.items():
        if not entry.digest:
            try:
                instance = entry.make()
            except BadInput as error:
                missing.append(str(error))
                continue
            sizes = " ".join(f"{size}={count}" for size, count in kind_named(entry.kind).size(instance).items())
            entries[name] = structs.replace(entry, digest=instance.digest, sizes=sizes)
    return replace(table, entries=entries), missing


def known_times(methods: Iterable[str]) -> Iterator[tuple[str, str, int, float]]:
    """Problem, method, first size of the instance, and the median seconds, of the library's runs by these methods.

    Runs that used up their time limit are left out: many instances are there because they are hard.
    """
    library, times, names = read_table(TABLE), defaultdict[tuple[str, str, int], list[float]](list), set(methods)
    for run in library.records.values():
        if run.method in names and run.seconds < _USED_UP * run.time_limit:
            size = int(library.entries[run.instance].sizes.partition("=")[2].split()[0])
            times[run.problem, run.method, size].append(run.seconds)
    for (problem, method, size), seconds in times.items():
        yield problem, method, size, median(seconds)
