"""Taking results into the table: only answers that the problem accepts, and bounds that the checker accepts."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from msgspec import structs

from ...instances.contract.errors import BadInput
from ..catalogue import kind_named, problem_named
from ..studies.proofs import CERTIFIED, PROOF, faults_of_evidence
from ..studies.store import Store
from .scores import LibraryRow, library_rows, record_of
from .table import Entry, Record, Table

_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Update:
    """The table after an update, how many runs it took in, how many of them had a certified bound, and what it refused.

    Attributes
    ----------
    refused : tuple of (str, str)
        The key of a run and why its answer or its bound was not accepted.
    """

    table: Table
    taken: int
    certified: int
    refused: tuple[tuple[str, str], ...]


def updated(table: Table, store: Store, progress: Callable[[int, int], object] | None = None) -> Update:
    """Take the runs of a results folder that are runs of the library into the table.

    Every answer is validated by its problem again, on an instance with the digest of the table. A bound counts if the
    run has a proof that the checker accepts once more, or a certificate that is recomputed in integers. A run whose
    answer is refused is left out; one whose bound is refused, or that has none that is certified, is taken in without.

    Raises
    ------
    BadInput
        If a certified bound lies above an answer: one of the two is wrong, and nothing is taken in.
    """
    refused: list[tuple[str, str]] = []
    records: list[Record] = []
    rows = list(library_rows(table, store))
    best = {(one.name, one.row["problem"]): table.known(one.name, one.row["problem"]).value for one in rows}
    for one in rows:
        at = one.name, one.row["problem"]
        best[at] = min(
            (each for each in (best[at], one.row["value"]) if each is not None and each == each), default=math.nan
        )
    for number, one in enumerate(rows, start=1):
        if progress is not None:
            progress(number, len(rows))
        try:
            records.append(_accepted(one, store, best[one.name, one.row["problem"]], refused))
        except _RefusedError as error:
            refused.append((one.row["key"], str(error)))
    after = table.with_records(records)
    for entry, problem in after.pairs():
        known = after.known(entry.name, problem)
        if known.bound > known.value + _TOLERANCE * max(1.0, abs(known.value)):
            assert known.best is not None
            assert known.bounded is not None
            raise BadInput(
                f"{entry.name}, {problem}: the bound {known.bound:g} of {known.bounded.method} lies above the value "
                f"{known.value:g} of {known.best.method}: one is wrong; nothing was taken in"
            )
    certified = sum(not math.isnan(record.bound) for record in records)
    return Update(after, len(records), certified, tuple(refused))


class _RefusedError(Exception):
    pass


def _accepted(one: LibraryRow, store: Store, best: float, refused: list[tuple[str, str]]) -> Record:
    row, record = one.row, record_of(one, best)
    problem, kind = problem_named(row["problem"]), kind_named(row["kind"])
    try:
        instance = store.instance(row["instance"], kind)
        if row["answer"] is not None:
            answer = kind.unpack(np.asarray(row["answer"], dtype=np.int32), instance)
            if violations := problem.violations(instance, answer):
                raise _RefusedError("its answer is not valid: " + "; ".join(violations))
            if (value := problem.value(instance, answer)) != row["value"]:
                raise _RefusedError(f"its answer has value {value:g}, not {row['value']}")
        elif row["value"] is not None:
            raise _RefusedError("it has a value and no answer")
        counters: Mapping[str, Any] = json.loads(row["counters"])
        if (bound := counters.get(CERTIFIED)) is None:
            return record
        faults = list(faults_of_evidence(counters, instance, problem, store.proof(row["key"]), row["seconds"]))
    except (BadInput, ValueError, IndexError) as error:
        raise _RefusedError(str(error)) from None
    if faults:
        refused.append((row["key"], "; ".join(faults)))
        return record
    return structs.replace(record, bound=float(bound), proof=str(counters.get(PROOF, "certificate")))


def with_digests(table: Table) -> tuple[Table, list[str]]:
    """The table with digest and sizes of the entries that have none yet, and why some cannot be made here."""
    entries: dict[str, Entry] = {}
    missing = []
    for name, entry in table.entries.items():
        entries[name] = entry
        if not entry.digest:
            try:
                instance = entry.make()
            except BadInput as error:
                missing.append(str(error))
                continue
            sizes = " ".join(f"{size}={count}" for size, count in kind_named(entry.kind).size(instance).items())
            entries[name] = structs.replace(entry, digest=instance.digest, sizes=sizes)
    return replace(table, entries=entries), missing
