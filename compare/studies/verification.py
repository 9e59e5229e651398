"""Checking all that a study has stored again: rows, answers, bounds and proofs; and by repeating runs."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from ...instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS
from ...instances.contract.errors import BadInput
from ...instances.contract.method import Proposal, judged
from ...instances.contract.result import Status
from ...instances.runtime.run import Clock, Point, Trajectory
from ...models.engine.stoppable import finished_within
from ..catalogue import METHODS, kind_named, version_of
from .bounds import disagreements, exceeds, proven
from .isolation import Solver, memory_bounded
from .progress import Bar
from .proofs import faults_of_evidence, has_evidence, without_digest
from .row import MEASURED, OBJECTS, impossible, object_in, of_instance, of_result, of_task, spread, table_of
from .spark_session import PlugIns, awaited, find_plug_ins, local_cores, spark
from .spark_study import run_task
from .store import LOG, Store, read_log, read_part
from .task import Recipe, options_json, task_of

Row = Mapping[str, Any]
Fault = tuple[str, str]
"""A row's key or a file's name, and a sentence."""

Apply = Callable[[Sequence[Sequence[Row]], PlugIns], list[Fault]]

_ROWS_TOGETHER, _PROOFS_TOGETHER = 50, 5
_MOST_SECONDS = 300.0
_SLACK_SHARE, _SLACK_SECONDS = 1.25, 10.0
_JUDGED_SHARE = 1.5
_LIMIT_SHARE = 0.5
_LARGEST = 2.0**53
_LONGEST = 200
_DECIDED = ("status", "value", "lower_bound", "measures", "answer")
_MEMORY = re.compile(r"[\d.,]+ (MiB|GiB|bytes)\b")
_NEAR_LIMIT = 0.8
_ENDED_WITHOUT = (Status.FAILED, Status.SKIPPED)


@dataclass(frozen=True)
class Verification:
    """How many answers :func:`verify` checked, proofs too, and runs repeated; the faults; what it could not check."""

    checked: int
    proofs: int
    repeated: int
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]


def verify(
    folder: Path, master: str, archive: Path | None = None, *, share: float = 0.0, seed: int = 0, quiet: bool = True
) -> Verification:
    """Check every stored row, and what rows say of each other.

    Of each row all that follows from it is derived again (`COLUMNS`): its key; its instance, from its file and from its
    recipe; and from instance, answer, bound and points the whole outcome, as the problem judges it. Its proof is
    checked again. No bound of a row may lie above a valid answer's value on the same instance, directly or by an
    implication between problems.

    Rows are checked by processes on the cores of a `master` ``local[…]``, else on that Spark cluster. A `share` of the
    runs, drawn at random by `seed`, is repeated and compared (:func:`.faults_of_rerun`). A folder without results, with
    a damaged plan or of another version is bad input.
    """
    store = Store.existing(folder)
    at, cores = str(store.folder.resolve()), local_cores(master)

    def apply(parts: Sequence[Sequence[Row]], plug_ins: PlugIns) -> list[Fault]:
        sizes = list(itertools.accumulate(map(len, parts)))
        with ExitStack() as stack:
            bar = stack.enter_context(Bar(sizes[-1], "rows checked", quiet=quiet))
            if cores:
                pool = stack.enter_context(ProcessPoolExecutor(min(cores, len(parts)), get_context("fork")))
                found = []
                for checked, faults in zip(sizes, pool.map(partial(faults_of_part, at), parts), strict=True):
                    found += faults
                    bar.show(checked)
                return found
            bar.waiting("Spark")
            context = stack.enter_context(spark(master, store.folder / "spark.log", archive, plug_ins))
            done = context.accumulator(0)

            def faults_of(part: Sequence[Row]) -> list[Fault]:
                plug_ins.register()
                faults = faults_of_part(at, part)
                done.add(len(part))
                return faults

            on_cluster = context.parallelize(parts, len(parts)).flatMap(faults_of)
            return list(awaited(on_cluster.collect, lambda: bar.show(done.value)))

    return verified(store, apply, share=share, seed=seed)


def faults_of_part(folder: str, rows: Sequence[Row]) -> list[Fault]:
    """The faults of rows; whatever they hold, nothing is raised."""
    return [(str(row.get("key")), fault) for row in rows for fault in faults_of_row(row, folder)]


def verified(store: Store, apply: Apply, *, share: float = 0.0, seed: int = 0) -> Verification:
    """As :func:`verify`, where `apply` has parts of the rows checked."""
    rows, faults = _stored_rows(store)
    plan, notes = store.plan(), list[str]()
    try:
        find_plug_ins(plan.spec)
    except (BadInput, ValueError, AttributeError, TypeError, KeyError, RecursionError):
        faults.append(("plan.json", "the text of its study is no study"))
    plug_ins = PlugIns.among(
        methods={str(row.get("method")) for row in rows},
        problems={str(row.get("problem")) for row in rows},
        workloads={_workload(str(row.get("recipe"))) for row in rows},
    )
    rows.sort(key=lambda row: str(row.get("instance")))  # what is about one instance is checked together
    proofs = sum(has_evidence(str(row.get("counters"))) for row in rows)
    if rows:
        size = math.ceil(len(rows) / max(1, len(rows) // _ROWS_TOGETHER, proofs // _PROOFS_TOGETHER))
        faults += apply([rows[at : at + size] for at in range(0, len(rows), size)], plug_ins)
    wrong = {key for key, _ in faults}
    sound = [row for row in rows if row["key"] not in wrong]
    faults += _contradictions(sound)
    if missing := len(set(plan.keys) - {row["key"] for row in rows}):
        notes.append(f"{missing} of {len(plan.keys)} runs are not stored: the study was stopped, or lost rows")
    repeated = 0
    for key in sampled(sound, share, seed) if share else []:
        try:
            faults += [(key, fault) for fault in faults_of_rerun(rerun(store.folder, key))]
            repeated += 1
        except BadInput as error:  # as of a plug-in that is not installed here
            notes.append(f"{key} cannot be repeated: {error}")
    answered = sum(row.get("answer") is not None for row in rows)
    return Verification(answered, proofs, repeated, tuple(sorted(set(faults))), tuple(notes))


def _workload(recipe: str) -> str:
    try:
        return str(Recipe.from_json(recipe).workload)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return ""


def faults_of_row(row: Row, folder: str) -> list[str]:
    """The faults of a row of a results folder, a sentence each; whatever its fields hold, nothing is raised."""
    if faults := impossible(row):
        return faults
    return [fault for check in CHECKS for fault in _found(partial(check, row, folder))]


def _found(check: Callable[[], Iterator[str]]) -> Iterator[str]:
    try:
        yield from check()
    except Exception as error:  # a forged row must not end the verification of the others
        yield f"{type(error).__name__}: {error}".splitlines()[0]


def _other(row: Row, wanted: Row) -> Iterator[str]:
    """The columns whose values differ from what follows from the others."""
    for name, value in wanted.items():
        if row[name] != value:
            stored, derived = (str(each)[:_LONGEST] for each in (row[name], value))
            yield f"has {stored} as its {name}, and {derived} follows from its other columns"


def _is_current(row: Row) -> bool:
    """Whether a row is of this version of the code of its method, which is known, and of its problem."""
    return row["method"] in METHODS and row["code_version"] == _version_here(row["method"], row["problem"])


_version_here = lru_cache(version_of)


def _task(row: Row, folder: str) -> Iterator[str]:
    """The key, and in this version of the code the form of the options, the variant and exactness."""
    task = task_of(row)
    wanted: dict[str, Any] = {"key": task.key}
    if _is_current(row):
        stated = METHODS[task.method].keyed(json.loads(task.options), task.problem)
        wanted = {**of_task(task), "options": options_json(stated)}
    yield from _other(row, wanted)


def _recipe(row: Row, folder: str) -> Iterator[str]:
    recipe = Recipe.from_json(row["recipe"])
    yield from _other(row, {"recipe": recipe.to_json(), "family": recipe.family})
    if _generated(row["recipe"], _is_current(row)) not in (None, row["instance"]):
        yield "its recipe gives another instance"


def _outcome(row: Row, folder: str) -> Iterator[str]:
    """All that follows from instance, answer, bound and points, as the problem judges them."""
    problem, status = PROBLEMS[row["problem"]], Status(row["status"])
    instance = _stored_instance(folder, row["instance"], problem.kind)
    wanted = of_instance(problem, instance)
    if not _is_current(row):
        del wanted["judge"]
    yield from _other(row, wanted)
    packed = row["answer"]
    answer = None if packed is None else KINDS[problem.kind].unpack(np.asarray(packed, dtype=np.int32), instance)
    trajectory = Trajectory([Point(**point) for point in row["points"]])
    proposal = Proposal(answer, row["lower_bound"], status, reason=row["reason"])
    result = judged(row["method"], instance, problem, proposal, row["seconds"], trajectory)
    if result.status is not status:
        yield f"is {status}, and judged {result.status} ({result.reason})".splitlines()[0]
    derived = of_result(problem, result)
    derived["answer"] = None if derived["answer"] is None else np.asarray(derived["answer"]).tolist()
    yield from _other(row, derived)
    yield from (f"has not {sentence}" for sentence, holds in RULES.items() if not holds(row))
    method = METHODS.get(row["method"])
    if method is None:
        return
    method = method.answering(problem)
    if row["lower_bound"] is not None and not (method.exact or method.bounds):
        yield f"has the lower bound {row['lower_bound']:g}, and {method.name} proves none"
    if method.exact and status is Status.FEASIBLE:
        yield f"is feasible, and {method.name} ends with a proof or at a limit"
    stopped = status is Status.TIME_LIMIT and not row["reason"] and not (method.exact or method.bounds)
    if stopped and row["seconds"] < _LIMIT_SHARE * row["time_limit"]:
        yield f"is {status} after {row['seconds']:g} s of {row['time_limit']:g}, for no other reason"
    if _is_current(row):
        reason = method.skip(instance, problem) if method.skip else ""
        if reason != (row["reason"] if status is Status.SKIPPED else ""):
            yield f"is {status}, and {method.name} has {'the' if reason else 'no'} reason {reason} to skip it"


def _evidence(row: Row, folder: str) -> Iterator[str]:
    proof = Store(Path(folder)).proof(row["key"])
    if has_evidence(row["counters"]) or proof.is_file():
        problem = PROBLEMS[row["problem"]]
        instance = _stored_instance(folder, row["instance"], problem.kind)
        yield from faults_of_evidence(json.loads(row["counters"]), instance, problem, proof, row["seconds"])


CHECKS = (_task, _recipe, _outcome, _evidence)
"""Each takes a row whose columns are possible by themselves and the results folder, and yields the row's faults."""


def _improves(points: Sequence[Row]) -> bool:
    """Whether points are of numbers that a value can be, in the order of time, and never get worse."""
    seconds = [0.0, *(point["seconds"] for point in points)]
    values = [math.inf if point["value"] is None else point["value"] for point in points]
    bounds = [-math.inf if point["lower_bound"] is None else point["lower_bound"] for point in points]
    ordered = (seconds, values, bounds) == (sorted(seconds), sorted(values, reverse=True), sorted(bounds))
    return ordered and all(number is None or abs(number) < _LARGEST for point in points for number in point.values())


RULES: dict[str, Callable[[Row], bool]] = {
    "seconds within its limit, and above 0": lambda r: (
        r["status"] in _ENDED_WITHOUT or 0 < r["seconds"] <= _SLACK_SHARE * r["time_limit"] + _SLACK_SECONDS
    ),
    "0 seconds, although it was skipped": lambda r: r["status"] != Status.SKIPPED or r["seconds"] == 0,
    "processor seconds that its machine can give within its limit": lambda r: (
        r["status"] in (Status.FAILED, Status.TIME_LIMIT, Status.OPTIMAL)
        if math.isnan(r["cpu_seconds"])
        else r["cpu_seconds"] <= (_JUDGED_SHARE * r["time_limit"] + _SLACK_SECONDS) * object_in(r["machine"])["cores"]
    ),
    "memory that its machine has": lambda r: r["peak_memory"] <= object_in(r["machine"])["memory"] * 2**20,
    "a status that a lower bound can have": lambda r: r["status"] not in _ENDED_WITHOUT or r["lower_bound"] is None,
    "a finite lower bound": lambda r: r["lower_bound"] != math.inf or r["status"] == Status.INFEASIBLE,
    "points that are finite, each later and better": lambda r: _improves(r["points"]),
}
"""What every row must have beside what is derived, whatever its problem and method."""


_LOADED = {""}
"""The workloads of which this process has made an instance."""


@lru_cache(maxsize=64)
def _generated(recipe: str, current: bool) -> str | None:
    """The digest of the instance that a recipe (JSON) gives; None if that cannot be known here.

    It is not known of another version of the code, of a plug-in that is another one now or not installed, and of a file
    or software that this machine has not.
    """
    made = Recipe.from_json(recipe)
    if made.workload:
        workload = WORKLOADS.get(made.workload)
        if workload is None and not made.code:
            raise BadInput(f"unknown workload '{made.workload}'")
        if workload is None or workload.needs or made.code or not current:
            return None
    elif not Path(made.file).exists():
        return None

    def digest_of() -> tuple[str, str]:
        try:
            return str(made.make().digest), ""
        except Exception as error:  # a forged recipe can hold anything
            return "", f"{type(error).__name__}: {error}".splitlines()[0]

    with memory_bounded("its instance"):
        found = finished_within(Clock(_MOST_SECONDS), digest_of, steps=math.inf)
    if found is None:
        raise BadInput(f"its recipe gives no instance within {_MOST_SECONDS:g} s and half of the memory")
    digest, fault = found
    if fault:
        raise BadInput(f"its recipe gives no instance: {fault}")
    if made.workload not in _LOADED:
        _LOADED.add(made.workload)
        made.make()  # the next processes inherit its kernels
    return digest


@lru_cache(maxsize=2)
def _stored_instance(folder: str, digest: str, kind: str) -> Any:
    with memory_bounded("the instance"):
        return Store(Path(folder)).instance(digest, kind_named(kind))


def _stored_rows(store: Store) -> tuple[list[dict[str, Any]], list[Fault]]:
    """Every row in the parts and logs, one a key, and the faults: damaged files, and keys with two different rows.

    A row that stands in a log and, the same, in a part (after an incomplete merge) is no fault.
    """
    rows: dict[str, dict[str, Any]] = {}
    faults: list[Fault] = []
    for file in (*store.logs(), *store.parts()):  # logs first, as they are merged meanwhile
        for row in _rows_in(file, faults):
            key = row.get("key")
            if not isinstance(key, str):
                faults.append((file.name, "has a row without a key"))
            elif (known := rows.setdefault(key, row)) is not row and _comparable(known) != _comparable(row):
                faults.append((key, f"has two different rows, one of them in {file.name}"))
    return list(rows.values()), faults


def _rows_in(file: Path, faults: list[Fault]) -> list[dict[str, Any]]:
    try:
        if file.suffix != LOG:
            found: list[dict[str, Any]] = read_part(file).to_pylist()
            return found
        damaged: list[bytes] = []
        rows = list(read_log(file, damaged))
    except FileNotFoundError:  # a log that was merged meanwhile
        return []
    except BadInput as error:
        faults.append((file.name, str(error)))
        return []
    if any(line.endswith(b"\n") for line in damaged):  # others are of a worker that was killed, or is writing
        faults.append((file.name, "has a damaged line: run the study again, which repeats its run"))
    return [{**row, "answer": None if row["answer"] is None else row["answer"].tolist()} for row in rows]


def _comparable(row: Row) -> str:
    return json.dumps(row, sort_keys=True, default=str)


def _contradictions(rows: Sequence[Row]) -> Iterator[Fault]:
    """The bounds that lie above the value of an answer to their instance, directly or by an implication.

    The rows have no faults of their own, so that their answers are valid.
    """
    if not rows:
        return
    frame = spread(table_of([dict(row) for row in rows]).to_pandas())
    pairs = proven(frame)
    best = {(pair.instance, pair.problem): pair.best for pair in pairs.itertuples()}
    above = set()
    for row in rows:
        bound, lowest = row["lower_bound"], best[row["instance"], row["problem"]]
        if bound is not None and exceeds(bound, lowest, row["problem"]):
            above.add(row["key"])
            yield row["key"], f"its lower bound {bound:g} lies above the value {lowest:g} of an answer"
    for kind, sentence, keys in disagreements(frame, pairs)[["kind", "sentence", "keys"]].itertuples(index=False):
        if kind == "infeasible":
            yield keys[0], sentence
        elif kind == "value below bound" and above.isdisjoint(keys):
            yield keys[1], sentence


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
            name
            for name in before
            if name not in MEASURED and _without_amounts(before[name]) != _without_amounts(after[name])
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


def _without_amounts(value: object) -> object:
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
    stored = task_of(before)
    task = replace(stored, code_version=version_of(stored.method, stored.problem))
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
        if bound is not None and value is not None and exceeds(bound, value, one["problem"]):
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
