"""Checking stored answers again, and repeating runs from their own rows."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ...instances.catalogue import PROBLEMS
from ...instances.errors import BadInput
from ...instances.result import Status
from ..catalogue import EQUAL_VERSIONS, METHODS, kind_named, own_part, problem_named, version_of
from .isolation import Solver
from .plug_ins import PlugIns, find_plug_ins
from .proofs import faults_of_evidence, has_evidence, without_digest
from .recipe import Recipe
from .row import MEASURED
from .spark_session import spark
from .spark_study import run_task
from .store import Store
from .task import STORED, Task

_ROWS_PER_SLICE, _PROOFS_PER_SLICE = 50, 5
_READ = ("key", "instance", "kind", "problem", "status", "value", "lower_bound", "seconds", "counters", "answer")
_TOLERANCE = 1e-6
_OBJECTS = ("options", "counters", "versions")
_MEMORY = re.compile(r"[\d.,]+ (MiB|GiB|bytes)\b")
_LONGEST = 200


@dataclass(frozen=True)
class Verification:
    """How many answers and proofs :func:`verify` checked, and the faults: pairs of a row's key and a sentence."""

    checked: int
    proofs: int
    faults: tuple[tuple[str, str], ...]


def verify(folder: Path, master: str, archive: Path | None = None) -> Verification:
    """Check every stored answer with its problem's own `value` and `violations`, on Spark.

    Faults are: an answer that violates the problem, has another value than its row, or lies below its row's lower
    bound; a row with status ``optimal`` whose bound is not its value; a bound above the value of another row of the
    same instance and problem; a proof that is missing, is not the file that was checked, or that the checker, run
    again, refuses or finds to prove another bound than the row has as ``certified``; such a bound without a proof.

    Raises
    ------
    BadInput
        If there are no results, or they are damaged.
    """
    store = Store.existing(folder)
    rows = store.table(columns=_READ).to_pylist()
    find_plug_ins(store.plan().spec)
    absolute = str(store.folder.resolve())
    plug_ins = PlugIns.among(problems={row["problem"] for row in rows})

    def faults_of(row: dict[str, Any]) -> list[tuple[str, str]]:
        plug_ins.register()
        return [(row["key"], fault) for fault in _faults(row, absolute)]

    faults = list(_contradictions(rows))
    proven = [row for row in rows if has_evidence(row["counters"])]
    answered = [row for row in rows if row["answer"] is not None]
    checked = sorted({row["key"]: row for row in (*proven, *answered)}.values(), key=lambda row: str(row["instance"]))
    if checked:
        with spark(master, store.folder / "spark.log", archive, plug_ins) as context:
            wanted = max(1, len(checked) // _ROWS_PER_SLICE, len(proven) // _PROOFS_PER_SLICE)
            slices = context.parallelize(checked, wanted)
            faults += slices.flatMap(faults_of).collect()
    return Verification(len(answered), len(proven), tuple(sorted(faults)))


def _faults(row: dict[str, Any], folder: str) -> Iterator[str]:
    try:
        problem, kind = problem_named(row["problem"]), kind_named(row["kind"])
        instance = _instance(folder, row["instance"], kind.name)
        if has_evidence(row["counters"]):
            proof = Store(Path(folder)).proof(row["key"])
            yield from faults_of_evidence(json.loads(row["counters"]), instance, problem, proof, row["seconds"])
        if row["answer"] is None:
            return
        answer = kind.unpack(np.asarray(row["answer"], dtype=np.int32), instance)
        violations, value = problem.violations(instance, answer), problem.value(instance, answer)
    except (BadInput, ValueError, IndexError) as error:
        yield f"{type(error).__name__}: {error}"
        return
    if violations:
        yield "; ".join(violations)
    if value != row["value"]:
        yield f"has value {value:g}, not {row['value']} as in its row"


def _contradictions(rows: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    best: dict[tuple[str, str], float] = {}
    for row in rows:
        if row["value"] is not None and row["status"] != Status.FAILED:
            pair = row["instance"], row["problem"]
            best[pair] = min(best.get(pair, row["value"]), row["value"])
    for row in rows:
        value, bound = row["value"], row["lower_bound"]
        if row["status"] == Status.OPTIMAL and value != bound:
            yield row["key"], f"has status optimal with value {value} and lower bound {bound}"
        lowest = best.get((row["instance"], row["problem"]))
        if bound is not None and lowest is not None and bound > lowest + _TOLERANCE * max(1.0, abs(lowest)):
            yield row["key"], f"its lower bound {bound:g} lies above the value {lowest:g} of an answer"


@lru_cache(maxsize=2)
def _instance(folder: str, digest: str, kind: str) -> Any:
    return Store(Path(folder)).instance(digest, kind_named(kind))


@dataclass(frozen=True)
class Rerun:
    """The row of a run before and after the run was repeated."""

    before: dict[str, Any]
    after: dict[str, Any]

    @property
    def differences(self) -> list[str]:
        """The columns that differ, without times, amounts of memory, machine and the bytes of a proof file."""
        before, after = ({**row, "counters": without_digest(row["counters"])} for row in (self.before, self.after))
        return [
            name for name in before if name not in MEASURED and _comparable(before[name]) != _comparable(after[name])
        ]

    def values(self, column: str) -> tuple[str, str]:
        """The values of a column before and after, as short texts; of a JSON object only the members that differ."""
        before, after = self.before[column], self.after[column]
        if column in _OBJECTS:
            old, new = json.loads(before), json.loads(after)
            names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
            before, after = ({name: each[name] for name in names if name in each} for each in (old, new))
        elif isinstance(before, list) and isinstance(after, list):
            pairs = zip(before, after, strict=False)
            same = next((at for at, (old, new) in enumerate(pairs) if old != new), min(len(before), len(after)))
            before, after = (f"{len(each)} numbers, from number {same + 1}: {each[same:]}" for each in (before, after))
        return _shortened(before), _shortened(after)


def _comparable(value: object) -> object:
    return _MEMORY.sub(r"… \1", value) if isinstance(value, str) else value


def _shortened(value: object) -> str:
    text = f"{value:.10g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def rerun(folder: Path, key: str) -> Rerun:
    """Repeat a run from its row alone, with the present code; an instance that is missing is generated again.

    Nothing but that instance is stored. Where the code's version is another one, the rows differ in that and may
    differ in more.

    Raises
    ------
    BadInput
        If there is no such run, or the instance can neither be read nor be generated.
    """
    store = Store.existing(folder)
    matching = [each for each in store.done() if each.startswith(key)]
    if len(matching) != 1:
        raise BadInput(f"{folder}: {len(matching)} runs have a key starting with '{key}': see `overlaybench results`")
    before = store.table(matching).to_pylist()[0]
    not_found = find_plug_ins(store.plan().spec)
    if not_found and (before["method"] not in METHODS or before["problem"] not in PROBLEMS):
        raise not_found[0]
    own = own_part(before["code_version"])
    version = version_of(before["method"], before["problem"], own if own in EQUAL_VERSIONS else None)
    stored = Task(**{name: before[name] for name in STORED}, proof=True)
    task = replace(stored, code_version=version, proof=stored.key == before["key"])
    kind = kind_named(before["kind"])
    if not store.has_instance(task.instance, kind):
        instance = Recipe.from_json(task.recipe).make()
        if instance.digest != task.instance:
            raise BadInput(f"the recipe {task.recipe} gives another instance than the run had: its file has changed")
        store.add_instance(instance, kind)
    with Solver() as solver, tempfile.TemporaryDirectory(prefix="overlaybench-") as temporary:
        after = run_task(task, store, solver, Path(temporary) / "proof.gz")
    after["answer"] = None if after["answer"] is None else np.asarray(after["answer"]).tolist()
    return Rerun(before, after)
