"""What the files of a results folder must fulfil together: rows, plan, index, labels and history."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ...instances.contract.errors import BadInput
from ...instances.contract.files import read_text
from ..catalogue import code_version, own_part
from . import parts
from .bounds import TOLERANCE, disagreements, proven
from .recipe import Recipe
from .row import from_line, spread, table_of
from .run_log import lines_from
from .store import Plan, Store
from .study import Study, study_of
from .task import Task, writes_proofs

Fault = tuple[str, str]
"""A row's key or a file's name, and a sentence."""


def stored_rows(store: Store) -> tuple[list[dict[str, Any]], list[Fault]]:
    """Every row in the parts and logs, one a key, and the faults: damaged files, and keys with two different rows.

    A row that stands in a log and, the same, in a part (after an incomplete merge) is no fault.
    """
    rows: dict[str, dict[str, Any]] = {}
    faults = []
    for file, row in _every_row(store):
        if isinstance(row, str):
            faults.append((file, row))
        elif not isinstance(key := row.get("key"), str):
            faults.append((file, "has a row without a key"))
        elif key not in rows:
            rows[key] = row
        elif _comparable(rows[key]) != _comparable(row):
            faults.append((key, f"has two different rows, one of them in {file}"))
    return list(rows.values()), faults


def _every_row(store: Store) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """Each row, or the fault of a file, with the file's name; logs first, as they are merged meanwhile."""
    for log in store.logs():
        try:
            for line in lines_from(log, 0):
                yield from ((log.name, row) for row in _of_line(line))
        except FileNotFoundError:
            continue
    for part in sorted(store.runs.glob(f"[!.]*{parts.ENDING}")):
        try:
            table = parts.read_part(part)
        except BadInput as error:
            yield part.name, str(error)
            continue
        except FileNotFoundError:
            continue
        yield from ((part.name, row) for row in table.to_pylist())


def _of_line(line: bytes) -> Iterator[dict[str, Any] | str]:
    if not line.endswith(b"\n"):  # the last line of a killed worker, or of one that is writing
        return
    try:
        row = from_line(line)
        row["answer"] = None if row["answer"] is None else np.asarray(row["answer"]).tolist()
        yield row
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        yield "has a damaged line: run the study again, which repeats its run"


def _comparable(row: Mapping[str, Any]) -> str:
    return json.dumps(row, sort_keys=True, default=str)


def contradictions(rows: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    """The bounds that lie above the value of a valid answer to their instance, directly or by an implication.

    Parameters
    ----------
    rows : sequence of mapping
        Rows without faults of their own, so that their answers are valid.
    """
    if not rows:
        return
    frame = spread(table_of([dict(row) for row in rows]).to_pandas())
    pairs = proven(frame)
    best = {(pair.instance, pair.problem): pair.best for pair in pairs.itertuples()}
    above = set()
    for key, instance, problem, bound in zip(
        *(frame[name].tolist() for name in ("key", "instance", "problem", "lower_bound")), strict=True
    ):
        lowest = best[instance, problem]
        if bound > lowest + TOLERANCE * max(1.0, abs(lowest)):
            above.add(key)
            yield key, f"its lower bound {bound:g} lies above the value {lowest:g} of an answer"
    for kind, sentence, keys in disagreements(frame, pairs)[["kind", "sentence", "keys"]].itertuples(index=False):
        if kind == "infeasible":
            yield keys[0], sentence
        elif kind == "value below bound" and above.isdisjoint(keys):
            yield keys[1], sentence


def plan_faults(store: Store, rows: Sequence[Mapping[str, Any]]) -> tuple[list[Fault], list[str]]:
    """The faults of plan, labels and history, and remarks on what cannot be checked.

    The runs of the present study and of every earlier one are derived again from their text: the plan must have the
    keys of the present one, and every row of this version of the code must belong to one of them.
    """
    plan, faults, notes = store.plan(), list[Fault](), list[str]()
    specs = [store.folder / "study.toml", *sorted(store.history.glob("[0-9]*.toml"))]
    texts = [_text(file) for file in specs]
    if any(text != plan.spec for text in (texts[0], texts[-1])):
        faults.append(("plan.json", "has another text of the study than study.toml or the last one in history/"))
    if len(set(plan.keys)) < len(plan.keys):
        faults.append(("plan.json", "has a key twice"))
    faults += _label_faults(store, plan, rows)
    stored = {row["key"] for row in rows}
    if missing := len(set(plan.keys) - stored):
        notes.append(
            f"{missing} of the study's {len(plan.keys)} runs are not stored: the study was stopped, or lost rows"
        )
    versions = list(dict.fromkeys([code_version(), *(own_part(row["code_version"]) for row in rows)]))
    current = {row["key"] for row in rows if own_part(row["code_version"]) == code_version()}
    if other := len(stored - current):
        notes.append(f"{other} rows are of other versions of the code, whose studies are not derived again")
    try:
        studies = [_study(store, text) for text in dict.fromkeys([plan.spec, *texts])]
    except BadInput as error:
        return [*faults, ("study.toml", str(error))], notes
    if None in studies:
        return faults, [*notes, "the study names files beside it: its runs are not derived again"]
    known: set[str] = set()
    for number, study in enumerate(study for study in studies if study is not None):
        derived = [_keys(task, versions) for task in study.tasks(store.index())]
        known.update(*derived)
        if number == 0 and (current or not stored):
            faults += _planned(plan, study, derived)
    faults += [(key, "belongs to no study that was run in this folder") for key in sorted(current - known)]
    return faults, notes


def _planned(plan: Plan, study: Study, derived: Sequence[set[str]]) -> Iterator[Fault]:
    keys = set(plan.keys)
    if lacking := sum(keys.isdisjoint(each) for each in derived):
        yield "plan.json", f"lacks {lacking} of the {len(derived)} runs that its study has"
    if more := len(keys.difference(*derived)):
        yield "plan.json", f"has {more} keys of no run of its study"
    if (plan.name, list(plan.notes)) != (study.name, list(study.notes)):
        yield "plan.json", "has another name or other notes than its study"


def _keys(task: Task, versions: Iterable[str]) -> set[str]:
    """The keys that a run may have, under each of these versions of the code, with and without a proof."""
    plug_ins = task.code_version.removeprefix(own_part(task.code_version))
    proofs = {task.proof, writes_proofs(task.method, task.problem)}
    return {replace(task, code_version=each + plug_ins, proof=proof).key for each in versions for proof in proofs}


def _study(store: Store, text: str) -> Study | None:
    """A study from its text; None where it names files relative to a folder that is not known."""
    try:
        sources = tomllib.loads(text).get("instances", [])
        if any("file" in source for source in sources):
            return None
    except (ValueError, RecursionError, AttributeError, TypeError):
        raise BadInput("the text of a study is no study") from None
    return study_of(text, store.folder / "study.toml")


def _text(file: Any) -> str:
    try:
        return read_text(file)
    except BadInput:
        return ""


def _label_faults(store: Store, plan: Plan, rows: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    """Families and recipes in plan.parquet, which replace those of the rows wherever results are shown."""
    file = store.folder / "plan.parquet"
    if not file.is_file():
        return
    try:
        labels = pq.read_table(file, partitioning=None).to_pylist()
        instances = {recipe: one.digest for recipe, one in store.index().items()}
        if sorted(label["key"] for label in labels) != sorted(plan.keys):
            yield file.name, "has other keys than plan.json"
        of_rows = {row["key"]: row["instance"] for row in rows}
        for label in labels:
            if label["recipe"] is None and label["family"] is None:
                continue
            if Recipe.from_json(label["recipe"]).family != label["family"]:
                yield label["key"], f"has the family '{label['family']}' in plan.parquet, and another in its recipe"
            digest = instances.get(label["recipe"])
            if of_rows.get(label["key"], digest) != digest:
                yield label["key"], "has in plan.parquet the recipe of another instance"
    except (BadInput, pa.ArrowException, KeyError, ValueError, TypeError, OSError) as error:
        yield file.name, f"is damaged ({type(error).__name__}): run the study again, which restores it"


def index_entries(store: Store) -> tuple[list[tuple[str, str, int]], list[Fault]]:
    """The recipe, digest and size of each instance in the index, and the faults of the index."""
    try:
        index = store.index()
    except BadInput as error:
        return [], [("index.json", str(error))]
    return [(recipe, one.digest, one.size) for recipe, one in index.items()], []
