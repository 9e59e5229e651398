"""Checking all that a study has stored again: rows, answers, bounds and proofs; and by repeating runs."""

from __future__ import annotations

import json
import math
import os
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from multiprocessing.util import Finalize
from operator import eq
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS
from ...instances.contract.errors import BadInput
from ...instances.contract.method import Proposal, judged
from ...instances.contract.result import Status
from ...instances.runtime.run import Point, Trajectory
from ..catalogue import METHODS, version_of, workload_version
from .bounds import disagreements, exceeds, proven
from .executors import DEATHS, GrowingBatches, LocalProcesses, one_by_one, one_done, run_batches, work_of
from .isolation import Solver, memory_bounded
from .progress import Bar
from .proofs import faults_of_evidence, has_evidence, without_digest
from .row import MEASURED, OBJECTS, SCHEMA, impossible, object_in, of_instance, of_result, of_task, spread
from .spark_session import PlugIns, executors_on, find_plug_ins, local_cores
from .spark_study import Start, job_of, run_task
from .store import PART, Store, read_journal, read_part
from .task import Recipe, instance_of, is_key, options_json, task_of

Row = Mapping[str, Any]
Fault = tuple[str, str]
"""A row's key or a file's name, and a sentence."""


class Evidence(NamedTuple):
    """What a row is checked against beside itself: the kept content of its instance's file, and its proof, if any."""

    kept: str = ""
    proof: bytes | None = None


Item = tuple[Row, Evidence]

Checked = tuple[list[Fault], bool]
"""The faults of a row, and whether it was checked against its instance."""

_TOGETHER, _BATCH_SECONDS = 100, 5.0
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
    folder: Path,
    master: str,
    archive: Path | None = None,
    *,
    share: float = 0.0,
    seed: int = 0,
    quiet: bool = True,
    start: Start | None = None,
) -> Verification:
    """Check every stored row, and what rows say of each other.

    Of each row all that follows from it is derived again (`COLUMNS`): its key; its instance, from its file and from its
    recipe; and from instance, answer, bound and points the whole outcome, as the problem judges it. Its proof is
    checked again. No bound of a row may lie above a valid answer's value on the same instance, directly or by an
    implication between problems.

    Rows are checked by processes on the cores of a `master` ``local[…]``, else on that Spark cluster; `start` gives
    other executors. A `share` of the runs, drawn at random by `seed`, is repeated and compared
    (:func:`.faults_of_rerun`). A folder without results, with a damaged plan or of another version is bad input.
    """
    store, cores = Store.existing(folder), local_cores(master)
    rows, faults = _stored_rows(store)
    plan, notes, workloads = store.plan(), list[str](), set[str]()
    try:
        find_plug_ins(plan.spec)
    except (BadInput, ValueError, AttributeError, TypeError, KeyError, RecursionError):
        faults.append(("plan.parquet", "the text of its study is no study"))
    used = {name: set(rows[name].unique().to_pylist()) for name in ("method", "problem", "recipe")}
    for recipe in used["recipe"]:
        with suppress(BadInput):
            workloads.add(str(Recipe.from_json(recipe).workload))
    plug_ins = PlugIns.among(methods=used["method"], problems=used["problem"], workloads=workloads)
    proofs = sum(map(has_evidence, rows["counters"].to_pylist()))
    checked: list[Checked] = []
    if rows.num_rows:
        with Bar(rows.num_rows, "rows checked", quiet=quiet) as bar:
            if cores:
                start = start or (lambda plug_ins: LocalProcesses(cores))
            else:
                bar.waiting("Spark")
                start = start or partial(executors_on, master, store.folder / "spark.log", archive)
            checked = _checked_by(start, store, rows, plug_ins, bar)
    faults += [fault for found, _ in checked for fault in found]
    wrong = pa.array({key for key, _ in faults}, pa.string())
    sound = rows.filter(pc.invert(pc.is_in(rows["key"], value_set=wrong)))
    faults += _contradictions(sound)
    if without := sum(not has_instance for _, has_instance in checked):
        notes.append(
            f"{without} rows are not checked against their instances, which cannot be made here: they are of other "
            "code, or of a file or a plug-in that is not here"
        )
    planned = store.keys().unique()
    if missing := pc.sum(pc.invert(pc.is_in(planned, value_set=rows["key"]))).as_py():
        notes.append(f"{missing} of {len(planned)} runs are not stored: the study was stopped, or lost rows")
    repeated = 0
    for key in sampled(sound["key"].to_pylist(), share, seed) if share else []:
        try:
            faults += [(key, fault) for fault in faults_of_rerun(rerun(store.folder, key))]
            repeated += 1
        except BadInput as error:  # as of a plug-in that is not installed here
            notes.append(f"{key} cannot be repeated: {error}")
    answered = rows.num_rows - rows["answer"].null_count
    return Verification(answered, proofs, repeated, tuple(sorted(set(faults))), tuple(notes))


def _items(store: Store, rows: pa.Table, kept: Mapping[str, str]) -> Iterator[Item]:
    """The rows to be checked with their evidence, those of one instance together."""
    proofs = {file.name for file in store.proofs.glob("*")}
    for some in rows.sort_by("instance").to_batches(_TOGETHER):
        for row in some.to_pylist():
            file = store.proof(row["key"])
            proof = file.read_bytes() if file.name in proofs and is_key(row["key"]) else None
            yield row, Evidence(kept.get(row["recipe"], ""), proof)


def _checked_by(start: Start, store: Store, rows: pa.Table, plug_ins: PlugIns, bar: Bar) -> list[Checked]:
    """Have rows checked."""
    checked, kept = list[Checked](), dict[str, str]()
    for entry in store.index().filter(pc.field("source") != "").to_pylist():
        with suppress(ValueError, TypeError, AttributeError):
            kept[entry["recipe"]] = store.kept(Recipe.from_json(entry["recipe"]), entry["source"])

    def receive(_: object, found: list[Checked]) -> None:
        checked.extend(found)
        bar.show(len(checked))

    with start(plug_ins) as executors:
        for sent in set(kept.values()):
            executors.send(Path(sent))
        check = one_by_one(partial(_check_item, executors.path_of))
        work = work_of(check, begin=plug_ins.register, seconds=_BATCH_SECONDS)
        batches = GrowingBatches(_items(store, rows, kept), rows.num_rows, _TOGETHER)
        run_batches(executors, batches, work, receive, lambda running: None)
    return checked


def _check_item(path_of: Callable[[str], str], item: Item, is_dead: bool) -> Checked:
    """Check a row; whatever it holds, nothing is raised."""
    row, evidence = item
    evidence, key = evidence._replace(kept=path_of(evidence.kept)), str(row.get("key"))
    if is_dead:
        return [(key, f"checking it ends the process that does, {DEATHS} times")], True
    faults = [(key, fault) for fault in faults_of_row(row, evidence)]
    return faults, bool(faults) or _generated(row["recipe"], evidence.kept) == row["instance"]


NO_EVIDENCE = Evidence()


def faults_of_row(row: Row, evidence: Evidence = NO_EVIDENCE) -> list[str]:
    """The faults of a row of a results folder, a sentence each; whatever its fields hold, nothing is raised."""
    if faults := impossible(row):
        return faults
    return [fault for check in CHECKS for fault in _found(partial(check, row, evidence))]


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


def _task(row: Row, evidence: Evidence) -> Iterator[str]:
    """The key, and in this version of the code the form of the options, the variant and exactness."""
    task = task_of(row)
    wanted: dict[str, Any] = {"key": task.key}
    if _is_current(row):
        stated = METHODS[task.method].keyed(json.loads(task.options), task.problem)
        wanted = {**of_task(task), "options": options_json(stated)}
    yield from _other(row, wanted)


def _recipe(row: Row, evidence: Evidence) -> Iterator[str]:
    recipe = Recipe.from_json(row["recipe"])
    yield from _other(row, {"recipe": recipe.to_json(), "family": recipe.family})
    made = _generated(row["recipe"], evidence.kept)
    if made not in (None, row["instance"]) and (_is_current(row) or recipe.file):
        yield "its recipe gives another instance"


def _outcome(row: Row, evidence: Evidence) -> Iterator[str]:
    """All that follows from instance, answer, bound and points, as the problem judges them."""
    problem, status = PROBLEMS[row["problem"]], Status(row["status"])
    if _generated(row["recipe"], evidence.kept) != row["instance"]:
        return
    instance = instance_of(row["recipe"], evidence.kept)
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
    if method.exact and status is Status.FEASIBLE and not row["reason"]:
        yield f"is feasible, and {method.name} ends with a proof or at a limit"
    stopped = status is Status.TIME_LIMIT and not row["reason"] and not (method.exact or method.bounds)
    if stopped and row["seconds"] < _LIMIT_SHARE * row["time_limit"]:
        yield f"is {status} after {row['seconds']:g} s of {row['time_limit']:g}, for no other reason"
    if _is_current(row):
        reason = method.skip(instance, problem) if method.skip else ""
        if reason != (row["reason"] if status is Status.SKIPPED else ""):
            yield f"is {status}, and {method.name} has {'the' if reason else 'no'} reason {reason} to skip it"


def _evidence(row: Row, evidence: Evidence) -> Iterator[str]:
    counters, problem = row["counters"], PROBLEMS[row["problem"]]
    if _generated(row["recipe"], evidence.kept) != row["instance"]:
        return
    if has_evidence(counters) or evidence.proof is not None:
        instance = instance_of(row["recipe"], evidence.kept)
        with tempfile.TemporaryDirectory(prefix="overlaybench-") as folder:
            proof = Path(folder, f"{row['key']}.proof.gz")
            if evidence.proof is not None:
                proof.write_bytes(evidence.proof)
            yield from faults_of_evidence(json.loads(counters), instance, problem, proof, row["seconds"])


CHECKS = (_task, _recipe, _outcome, _evidence)
"""Each takes a row whose columns are possible by themselves and its evidence, and yields the row's faults."""


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
        r["status"] in (Status.FAILED, Status.TIME_LIMIT, Status.MEMORY_LIMIT, Status.OPTIMAL)
        if math.isnan(r["cpu_seconds"])
        else r["cpu_seconds"] <= (_JUDGED_SHARE * r["time_limit"] + _SLACK_SECONDS) * object_in(r["machine"])["cores"]
    ),
    "memory that its machine has": lambda r: r["peak_memory"] <= object_in(r["machine"])["memory"] * 2**20,
    "a status that a lower bound can have": lambda r: r["status"] not in _ENDED_WITHOUT or r["lower_bound"] is None,
    "a finite lower bound": lambda r: r["lower_bound"] != math.inf or r["status"] == Status.INFEASIBLE,
    "points that are finite, each later and better": lambda r: _improves(r["points"]),
}
"""What every row must have beside what is derived, whatever its problem and method."""


@cache
def _maker(process: int) -> LocalProcesses:
    """A warm process that makes instances by recipes, which can be forged, and take any time and memory."""
    made = LocalProcesses(1, seconds_a_batch=_MOST_SECONDS)
    Finalize(None, made.__exit__, exitpriority=1)  # before multiprocessing waits for the processes of this one
    return made


def _made_digest(item: tuple[str, str], is_dead: bool) -> str:
    """The digest of a recipe's instance; bad input if it cannot be made in `_MOST_SECONDS` and half of the memory."""
    recipe, kept = item
    try:
        if is_dead:
            raise BadInput(f"nothing within {_MOST_SECONDS:g} s and half of the memory")
        with memory_bounded("its instance"):
            return str(Recipe.from_json(recipe).make(kept).digest)
    except Exception as error:  # a forged recipe can hold anything
        raise BadInput(f"its recipe gives no instance: {type(error).__name__}: {error}".splitlines()[0]) from None


_MAKE = work_of(one_by_one(_made_digest), begin=tuple, seconds=math.inf)


@lru_cache(maxsize=64)
def _generated(recipe: str, kept: str) -> str | None:
    """The digest of the instance that a recipe (JSON) gives; None if that cannot be known here.

    It is not known of a plug-in that is another one now or not installed, and of a file or data that this machine has
    not.
    """
    made = Recipe.from_json(recipe)
    if made.workload:
        workload = WORKLOADS.get(made.workload)
        if workload is None and not made.code:
            raise BadInput(f"unknown workload '{made.workload}'")
        if workload is None or made.code != workload_version(made.workload):
            return None
        if workload.needs:
            with suppress(BadInput):
                return str(one_done(_maker(os.getpid()), _MAKE, (recipe, kept)))
            return None
    elif not Path(kept or made.file).exists():
        return None
    return str(one_done(_maker(os.getpid()), _MAKE, (recipe, kept)))


def _stored_rows(store: Store) -> tuple[pa.Table, list[Fault]]:
    """Every row in the parts and the journal, one a key, and the faults: damaged files, and keys with two rows.

    A row that stands in the journal and, the same, in a part (after a kill between the two) is no fault.
    """
    faults: list[Fault] = []
    files = store.journal, *store.parts()  # the journal first, as it becomes a part meanwhile
    tables = {file.name: table for file in files for table in [_rows_in(file, faults)]}
    rows = pa.concat_tables([SCHEMA.empty_table(), *tables.values()])
    repeated = rows["key"].to_pandas().duplicated().to_numpy(bool)
    again = set(rows["key"].filter(pa.array(repeated)).to_pylist())
    known: dict[str, Row] = {}
    for name, table in tables.items() if again else ():
        for row in table.filter(pc.is_in(table["key"], value_set=pa.array(again))).to_pylist():
            if _comparable(known.setdefault(row["key"], row)) != _comparable(row):
                faults.append((row["key"], f"has two different rows, one of them in {name}"))
    return rows.filter(pa.array(~repeated)), faults


def _rows_in(file: Path, faults: list[Fault]) -> pa.Table:
    damaged: list[bytes] = []
    try:
        tables = [read_part(file)] if file.suffix == PART else list(read_journal(file, damaged))
    except FileNotFoundError:  # there is no journal, or it has become a part
        tables = []
    except BadInput as error:
        faults.append((file.name, str(error)))
        tables = []
    if damaged and not Store(file.parents[1]).is_locked():  # a study may be writing the last batch
        faults.append((file.name, "has a damaged stretch: run the study again, which repeats its runs"))
    return pa.concat_tables([SCHEMA.empty_table(), *tables])


def _comparable(row: Row) -> str:
    return json.dumps(row, sort_keys=True, default=str)


def _contradictions(rows: pa.Table) -> Iterator[Fault]:
    """The bounds that lie above the value of an answer to their instance, directly or by an implication.

    The rows have no faults of their own, so that their answers are valid.
    """
    if not rows.num_rows:
        return
    frame = spread(rows)
    pairs = proven(frame)
    best = {(pair.instance, pair.problem): pair.best for pair in pairs.itertuples()}
    above = set()
    names = ["key", "instance", "problem", "lower_bound"]
    for key, instance, problem, bound in frame.loc[frame["lower_bound"].notna(), names].itertuples(index=False):
        if exceeds(bound, lowest := best[instance, problem], problem):
            above.add(key)
            yield key, f"its lower bound {bound:g} lies above the value {lowest:g} of an answer"
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
            same = [*map(eq, before, after), False].index(False)
            before, after = (f"{len(each)} numbers, from number {same + 1}: {each[same:]}" for each in (before, after))
        return _shortened(before), _shortened(after)


def _shortened(value: object) -> str:
    text = f"{value:.10g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _without_amounts(value: object) -> object:
    return _MEMORY.sub(r"… \1", value) if isinstance(value, str) else value


def rerun(folder: Path, key: str) -> Rerun:
    """Repeat a run from its row alone, with the present code; its instance is made again.

    Where the code's version is another one, the rows differ in that and may differ in more.
    """
    store = Store.existing(folder)
    matching = store.done().filter(pc.starts_with(store.done(), key)).unique().to_pylist()
    if len(matching) != 1:
        raise BadInput(f"{folder}: {len(matching)} runs have a key starting with '{key}': see `overlaybench results`")
    before = store.table(matching).to_pylist()[0]
    not_found = find_plug_ins(store.plan().spec)
    if not_found and (before["method"] not in METHODS or before["problem"] not in PROBLEMS):
        raise not_found[0]
    stored = task_of(before)
    task = replace(stored, code_version=version_of(stored.method, stored.problem))
    instance = store.instance(task.recipe, task.instance)
    with Solver() as solver:
        after, _ = run_task(task, job_of(task, instance), solver)
    after["answer"] = None if after["answer"] is None else np.asarray(after["answer"]).tolist()
    return Rerun(before, after)


def sampled(keys: Sequence[str], share: float, seed: int) -> list[str]:
    """A random share of the keys, at least one of them; the same for one seed."""
    keys = sorted(keys)
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
    limited = row["status"] in (Status.TIME_LIMIT, Status.MEMORY_LIMIT)
    return bool(limited or row["seconds"] >= _NEAR_LIMIT * row["time_limit"])
