"""Repeating runs from their own rows, and comparing what they give with what is stored."""

from __future__ import annotations

import itertools
import math
import random
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...instances.contract.catalogue import PROBLEMS
from ...instances.contract.errors import BadInput
from ...instances.contract.result import Status
from ..catalogue import METHODS, kind_named, version_of
from .bounds import near
from .isolation import Solver
from .proofs import without_digest
from .recipe import Recipe
from .row import MEASURED, OBJECTS, object_in
from .spark_session import find_plug_ins
from .spark_study import run_task
from .store import Store
from .task import STORED, Task

_DECIDED = ("status", "value", "lower_bound", "measures", "answer")
_MEMORY = re.compile(r"[\d.,]+ (MiB|GiB|bytes)\b")
_LONGEST = 200
_NEAR_LIMIT = 0.8


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
        if column in OBJECTS:
            old, new = object_in(before), object_in(after)
            names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
            before, after = ({name: each[name] for name in names if name in each} for each in (old, new))
        elif isinstance(before, list) and isinstance(after, list):
            same = sum(
                1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
            )
            before, after = (f"{len(each)} numbers, from number {same + 1}: {each[same:]}" for each in (before, after))
        return _shortened(before), _shortened(after)


def _shortened(value: object) -> str:
    text = f"{value:.10g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _comparable(value: object) -> object:
    return _MEMORY.sub(r"… \1", value) if isinstance(value, str) else value


def rerun(folder: Path, key: str) -> Rerun:
    """Repeat a run from its row alone, with the present code; an instance that is missing is generated and stored.

    Where the code's version is another one, the rows differ in that and may differ in more.
    """
    store = Store.existing(folder)
    matching = [each for each in store.done() if each.startswith(key)]
    if len(matching) != 1:
        raise BadInput(f"{folder}: {len(matching)} runs have a key starting with '{key}': see `overlaybench results`")
    before = store.table(matching).to_pylist()[0]
    not_found = find_plug_ins(store.plan().spec)
    if not_found and (before["method"] not in METHODS or before["problem"] not in PROBLEMS):
        raise not_found[0]
    stored = Task(**{name: before[name] for name in STORED}, proof=True)
    version = version_of(stored.method, stored.problem)
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


def sampled(rows: Sequence[Mapping[str, Any]], share: float, seed: int) -> list[str]:
    """The keys of a random share of the rows, at least one of them; the same for one seed."""
    keys = sorted(row["key"] for row in rows)
    return sorted(random.Random(seed).sample(keys, min(len(keys), math.ceil(share * len(keys)))))


def faults_of_rerun(run: Rerun) -> Iterator[str]:
    """What a repeated run shows to be wrong in the stored one.

    A run that ended by itself both times, under one version of the code, gives the same status, value, bound, measures
    and answer. Of one that a limit stopped, or nearly did, only what must hold of any two runs is compared: no value
    below the other one's bound.
    """
    before, after = run.before, run.after
    for one, other, when in ((before, after, "a repeated run"), (after, before, "the stored run")):
        bound, value = one["lower_bound"], other["value"]
        if bound is not None and value is not None and value < bound and not near(value, bound):
            yield f"{when} has an answer of value {value:g}, below the bound {bound:g} of the other"
    if Status.INFEASIBLE in (before["status"], after["status"]) and (before["answer"] or after["answer"]):
        yield "is infeasible in one of two runs, and answered in the other"
    if before["code_version"] != after["code_version"] or _was_stopped(before) or _was_stopped(after):
        return
    if names := [name for name in _DECIDED if before[name] != after[name]]:
        old, new = run.values(names[0])
        yield f"repeated, it has another {' and '.join(names)}: {old} before, {new} now"


def _was_stopped(row: Mapping[str, Any]) -> bool:
    if row["status"] == Status.FAILED:
        return str(row["reason"]).startswith(("time:", "memory:", "crash:"))
    return bool(row["status"] == Status.TIME_LIMIT or row["seconds"] >= _NEAR_LIMIT * row["time_limit"])
