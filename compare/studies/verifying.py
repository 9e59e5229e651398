"""Stored answers judged afresh, and runs made again from their own rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ...instances.errors import BadInput
from ...instances.result import Status
from ..catalogue import code_version, kind_named, problem_named
from .isolation import Solver
from .recipe import Recipe
from .row import OF_THE_MOMENT
from .spark_session import spark
from .spark_study import run_task
from .store import Store
from .task import Task

_AT_ONCE = 50
_READ = ("key", "instance", "kind", "problem", "status", "value", "lower_bound", "answer")
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Verdict:
    """What :func:`verify` found: how many rows were judged, and what is wrong with which (key, sentence)."""

    judged: int
    wrong: tuple[tuple[str, str], ...]


def verify(folder: Path, master: str, archive: Path | None = None) -> Verdict:
    """Judge every stored answer with its problem's own `value` and `violations`, on Spark.

    An answer is wrong that violates the problem, is worth other than its row says, or lies below its row's lower
    bound; so is a row that says ``optimal`` without its bound, and an answer above or below a bound or value that
    another row of its instance and problem proves impossible.

    Raises
    ------
    BadInput
        If there are no results, or they are damaged.
    """
    store = Store.existing(folder)
    rows = store.table(columns=_READ).to_pylist()
    wrong = list(_contradictions(rows))
    answered = sorted((row for row in rows if row["answer"] is not None), key=lambda row: str(row["instance"]))
    if answered:
        place = str(store.folder.resolve())
        with spark(master, store.folder / "spark.log", archive) as context:
            slices = context.parallelize(answered, max(1, len(answered) // _AT_ONCE))
            wrong += slices.flatMap(lambda row: [(row["key"], said) for said in _faults(row, place)]).collect()
    return Verdict(len(answered), tuple(sorted(wrong)))


def _faults(row: dict[str, Any], folder: str) -> Iterator[str]:
    try:
        problem, kind = problem_named(row["problem"]), kind_named(row["kind"])
        instance = _instance(folder, row["instance"], kind.name)
        answer = kind.unpack(np.asarray(row["answer"], dtype=np.int32), instance)
        violations, value = problem.violations(instance, answer), problem.value(instance, answer)
    except (BadInput, ValueError, IndexError) as error:
        yield f"{type(error).__name__}: {error}"
        return
    if violations:
        yield "; ".join(violations)
    if value != row["value"]:
        yield f"is worth {value:g}, its row says {row['value']}"


def _contradictions(rows: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    best: dict[tuple[str, str], float] = {}
    for row in rows:
        if row["value"] is not None and row["status"] != Status.FAILED:
            where = row["instance"], row["problem"]
            best[where] = min(best.get(where, row["value"]), row["value"])
    for row in rows:
        value, bound = row["value"], row["lower_bound"]
        if row["status"] == Status.OPTIMAL and value != bound:
            yield row["key"], f"is said to be optimal with value {value} and lower bound {bound}"
        found = best.get((row["instance"], row["problem"]))
        if bound is not None and found is not None and bound > found + _TOLERANCE * max(1.0, abs(found)):
            yield row["key"], f"its lower bound {bound:g} lies above an answer's value {found:g}"


@lru_cache(maxsize=2)
def _instance(folder: str, digest: str, kind: str) -> Any:
    return Store(Path(folder)).instance(digest, kind_named(kind))


@dataclass(frozen=True)
class Rerun:
    """A run and the same run made again."""

    before: dict[str, Any]
    after: dict[str, Any]

    @property
    def differences(self) -> list[str]:
        """The columns that differ, but for those that belong to the moment (times, memory, machine)."""
        return [name for name in self.before if name not in OF_THE_MOMENT and self.before[name] != self.after[name]]


def rerun(folder: Path, key: str) -> Rerun:
    """Make a run again from its row alone: its instance is read, or made anew from the recipe if it is lost.

    Nothing is stored. The code is the present one: where its version is another, the rows differ in that and may
    differ in more.

    Raises
    ------
    BadInput
        If there is no such run, or the instance can be neither read nor made.
    """
    store = Store.existing(folder)
    found = [each for each in store.done() if each.startswith(key)]
    if len(found) != 1:
        raise BadInput(f"{folder}: {len(found)} runs have a key that begins with '{key}': see `overlaybench results`")
    before = store.table(found).to_pylist()[0]
    fields = {name: before[name] for name in Task.__dataclass_fields__}
    task = Task(**{**fields, "code_version": code_version()})
    kind = kind_named(before["kind"])
    if not store.has_instance(task.instance, kind):
        _make_again(task, store)
    with Solver() as solver:
        after = run_task(task, store, solver)
    after["answer"] = None if after["answer"] is None else np.asarray(after["answer"]).tolist()
    return Rerun(before, after)


def _make_again(task: Task, store: Store) -> None:
    recipe = Recipe.from_json(task.recipe)
    instance = recipe.make()
    if instance.digest != task.instance:
        raise BadInput(f"the recipe {task.recipe} makes another instance than the one of the run: its file has changed")
    store.add_instance(instance, kind_named(recipe.kind))
