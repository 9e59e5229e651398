"""Checking everything that a study has stored again: rows, answers, bounds, proofs, plan and index."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from ...instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS
from ...instances.contract.errors import BadInput
from ...instances.contract.files import read_text
from ...instances.contract.result import Status
from ...instances.contract.run import Clock
from ...models.engine.stoppable import finished_within
from ..catalogue import METHODS, code_version, kind_named, own_part
from .bounds import TOLERANCE, disagreements, proven
from .isolation import memory_bounded
from .proofs import faults_of_evidence, has_evidence
from .recipe import Recipe
from .rerun import faults_of_rerun, rerun, sampled
from .row import OBJECTS, SCHEMA, of_instance, of_task, spread, table_of
from .spark_session import PlugIns, find_plug_ins, spark
from .store import LOG, Store, read_log, read_part
from .study import Study, study_of
from .task import STORED, Task, options_json
from .toml_tables import parsed

Row = Mapping[str, Any]
Fault = tuple[str, str]
"""A row's key or a file's name, and a sentence."""

Item = Row | tuple[str, str, int]
"""A row, or an entry of the index: recipe, digest and size."""

Apply = Callable[[list[Item], int, PlugIns], list[Fault]]

_ROWS_PER_SLICE, _PROOFS_PER_SLICE = 50, 5
_MAY_BE_NULL = ("value", "lower_bound", "answer", "cpu_seconds")
_KEY = re.compile(r"[0-9a-f]{32}")
_VERSION = re.compile(r"[0-9a-f]{12}(\+[0-9a-f]+)?")
_DIGEST = re.compile(r"[0-9a-f]{8,128}")
_MOST_SEED = 2**31
_MOST_SECONDS = 300.0
_SLACK_SHARE, _SLACK_SECONDS = 1.25, 10.0
_LONGEST = 200


@dataclass(frozen=True)
class Verification:
    """What :func:`verify` checked.

    Attributes
    ----------
    checked, proofs, repeated : int
        Answers checked, proofs checked and runs repeated.
    faults : tuple of (str, str)
        A row's key or a file's name, and a sentence.
    notes : tuple of str
        What could not be checked.
    """

    checked: int
    proofs: int
    repeated: int
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]


def verify(
    folder: Path, master: str, archive: Path | None = None, *, share: float = 0.0, seed: int = 0
) -> Verification:
    """Check every stored row on Spark, and what rows, plan, index and labels say of each other.

    Of each row everything is recomputed that follows from it: its key; its instance, from its file and from its recipe,
    with sizes; kind, variant, exactness and judge; its answer's violations, value and measures; that its status has an
    answer, a reason and a bound where it needs one, from a method that proves bounds; and its proof.
    No bound of a row may lie above a valid answer's value on the same instance, directly or by an implication between
    problems. The plan and every row must follow from the text of a study in the folder.

    Parameters
    ----------
    share : float
        Also repeat this share of the runs, drawn at random, and compare (:func:`.faults_of_rerun`).
    seed : int
        Of that draw.

    Raises
    ------
    BadInput
        If there are no results, or their plan is damaged or of another version.
    """
    store = Store.existing(folder)

    def on_spark(items: list[Item], slices: int, plug_ins: PlugIns) -> list[Fault]:
        with spark(master, store.folder / "spark.log", archive, plug_ins) as context:
            faults_of = checked_in(str(store.folder.resolve()), plug_ins)
            return list(context.parallelize(items, slices).flatMap(faults_of).collect())

    return verified(store, on_spark, share=share, seed=seed)


def verified(store: Store, apply: Apply, *, share: float = 0.0, seed: int = 0) -> Verification:
    """As :func:`verify`, where `apply` has the rows and the entries of the index checked, in about so many slices."""
    rows, faults = _stored_rows(store)
    try:
        find_plug_ins(store.plan().spec)
    except (BadInput, ValueError, AttributeError, TypeError, KeyError, RecursionError):
        faults.append(("plan.json", "the text of its study is no study"))
    index, damaged = [], list[Fault]()
    try:
        index = [(recipe, one.digest, one.size) for recipe, one in store.index().items()]
    except BadInput as error:
        damaged = [("index.json", str(error))]
    plug_ins = PlugIns.among(
        methods={str(row.get("method")) for row in rows},
        problems={str(row.get("problem")) for row in rows},
        workloads={_workload(recipe) for recipe, _, _ in index},
    )
    items: list[Item] = [*sorted(rows, key=lambda row: str(row.get("instance"))), *index]
    proofs = sum(has_evidence(str(row.get("counters"))) for row in rows)
    if items:
        faults += apply(items, max(1, len(items) // _ROWS_PER_SLICE, proofs // _PROOFS_PER_SLICE), plug_ins)
    faults += damaged
    wrong = {key for key, _ in faults}
    sound = [row for row in rows if row["key"] not in wrong]
    faults += _contradictions(sound)
    notes: list[str] = []
    if not damaged:
        texts = ("key", "code_version", "instance")
        of_plan, notes = _plan_faults(store, [row for row in rows if all(isinstance(row.get(n), str) for n in texts)])
        faults += of_plan
    repeated = sampled(sound, share, seed) if share else []
    for key in repeated:
        faults += [(key, fault) for fault in faults_of_rerun(rerun(store.folder, key))]
    answered = sum(row.get("answer") is not None for row in rows)
    return Verification(answered, proofs, len(repeated), tuple(sorted(set(faults))), tuple(notes))


def checked_in(folder: str, plug_ins: PlugIns) -> Callable[[Item], list[Fault]]:
    """The function that a worker applies to each row and each entry of the index."""

    def faults_of(item: Item) -> list[Fault]:
        plug_ins.register()
        if isinstance(item, tuple):
            return [("index.json", fault) for fault in _faults_of_entry(*item, folder)]
        return [(str(item.get("key")), fault) for fault in faults_of_row(item, folder)]

    return faults_of


def _faults_of_entry(recipe: str, digest: str, size: int, folder: str) -> Iterator[str]:
    """The faults of an entry of the index: that its recipe gives another instance, or that of another size."""
    try:
        made, kind = _generated(recipe), kind_named(Recipe.from_json(recipe).kind)
        if made is not None and made != digest:
            yield f"its recipe {recipe} gives another instance than {digest}"
        if kind.size(Store(Path(folder)).instance(digest, kind))[kind.sizes[0]] != size:
            yield f"has another size than the instance {digest}"
    except Exception as error:  # a forged entry must not end the verification of the others
        yield f"its recipe {recipe}: {error}".splitlines()[0]


def _workload(recipe: str) -> str:
    try:
        return str(Recipe.from_json(recipe).workload)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return ""


def faults_of_row(row: Row, folder: str) -> list[str]:
    """The faults of a row, a sentence each; whatever its fields hold, nothing is raised.

    Parameters
    ----------
    row : mapping
        The columns of `SCHEMA`.
    folder : str
        The results folder, for instances and proofs.
    """
    if faults := list(_malformed(row)):
        return faults
    run = _StoredRun(row, folder)
    return [fault for check in CHECKS for fault in _found(check, run)]


def _malformed(row: Row) -> Iterator[str]:
    """Columns that are missing, null or of another type, and texts that are no JSON or name nothing."""
    if missing := [name for name in SCHEMA.names if name not in row]:
        yield f"has no {missing[0]}"
        return
    if nulls := [name for name in SCHEMA.names if row[name] is None and name not in _MAY_BE_NULL]:
        yield f"has null as its {' and '.join(nulls)}"
        return
    try:
        table_of([dict(row)])
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        yield f"has a value of another type ({str(error).splitlines()[0]})"
        return
    for name in ("sizes", "measures"):
        if any(value is None for _, value in row[name]) or len({key for key, _ in row[name]}) < len(row[name]):
            yield f"has a null or a name twice in its {name}"
    if row["answer"] is not None and any(number is None for number in row["answer"]):
        yield "has a null in its answer"
    yield from (f"has as its {name} no JSON object" for name in OBJECTS if not _is_object(row[name]))
    forms = {"key": _KEY, "instance": _DIGEST, "code_version": _VERSION}
    yield from (f"has a {name} of another form" for name, form in forms.items() if not form.fullmatch(row[name]))
    if row["status"] not in list(Status):
        yield f"has the unknown status '{row['status']}'"
    for noun, known in (("kind", KINDS), ("problem", PROBLEMS), ("method", METHODS)):
        if row[noun] not in known and not (noun == "method" and "+" in row["code_version"]):
            yield f"has the unknown {noun} '{row[noun]}'"
            return
    if (wanted := PROBLEMS[row["problem"]].kind) != row["kind"]:
        yield f"has the kind {row['kind']}, its problem {row['problem']} is about {wanted}"


def _is_object(text: str) -> bool:
    def no_number(name: str) -> float:
        raise ValueError(f"{name} is no number of JSON")

    try:
        return isinstance(json.loads(text, parse_constant=no_number), dict)
    except (ValueError, RecursionError):
        return False


class _StoredRun:
    """A row that is well formed, and what it refers to, read and generated when a check asks for it."""

    def __init__(self, row: Row, folder: str) -> None:
        self.row, self.folder = row, folder
        self.problem, self.status = PROBLEMS[row["problem"]], Status(row["status"])
        method = METHODS.get(row["method"])
        self.method = None if method is None else method.answering(row["problem"])
        """None for a plug-in that is not installed."""
        self.is_plug_in = "+" in row["code_version"]
        self.is_current = own_part(row["code_version"]) == code_version()
        """Whether the row is of this version of the code, whose methods and workloads are known."""
        task = Task(**{name: row[name] for name in STORED})
        with_proof = replace(task, proof=True)
        self.task = with_proof if with_proof.key == row["key"] else task

    @cached_property
    def instance(self) -> Any:
        return _stored_instance(self.folder, self.row["instance"], self.problem.kind)

    @cached_property
    def answer(self) -> Any:
        return KINDS[self.problem.kind].unpack(np.asarray(self.row["answer"], dtype=np.int32), self.instance)


Check = Callable[[_StoredRun], Iterator[str]]


def _found(check: Check, run: _StoredRun) -> Iterator[str]:
    try:
        yield from check(run)
    except (BadInput, ValueError, IndexError) as error:
        yield f"{type(error).__name__}: {error}".splitlines()[0]
    except Exception as error:  # a forged row must not end the verification of the others
        yield f"cannot be checked ({check.__name__.strip('_')}: {type(error).__name__}: {error})".splitlines()[0]


def _other(row: Row, wanted: Row) -> Iterator[str]:
    """The columns whose values differ from what follows from the others."""
    for name, value in wanted.items():
        if row[name] != value:
            stored, derived = (str(each)[:_LONGEST] for each in (row[name], value))
            yield f"has {stored} as its {name}, and {derived} follows from its other columns"


def _task(run: _StoredRun) -> Iterator[str]:
    """The key, and in this version of the code the form of the options, the variant and exactness."""
    if not (run.is_current and run.method):
        yield from _other(run.row, {"key": run.task.key})
        return
    stated = METHODS[run.task.method].stated(json.loads(run.task.options), run.task.problem)
    yield from _other(run.row, {**of_task(run.task), "options": options_json(stated)})


def _recipe(run: _StoredRun) -> Iterator[str]:
    recipe = _recipe_in(run.row["recipe"])
    yield from _other(run.row, {"recipe": recipe.to_json(), "family": recipe.family})
    digest = _generated(run.row["recipe"], run.is_current)
    if digest is not None and digest != run.row["instance"]:
        yield "its recipe gives another instance"


def _instance(run: _StoredRun) -> Iterator[str]:
    """Kind and sizes, and in this version of the code the judge and the reason for which a run is skipped."""
    wanted = of_instance(run.problem, run.instance)
    if not run.is_current:
        del wanted["judge"]
    yield from _other(run.row, wanted)
    if run.method is None or not run.is_current or run.is_plug_in:
        return
    reason = run.method.skip(run.instance, run.problem) if run.method.skip else ""
    if run.status is Status.SKIPPED and run.row["reason"] != reason:
        yield f"was skipped, for which {run.method.name} has {'another' if reason else 'no'} reason"
    if run.status is not Status.SKIPPED and reason:
        yield f"was not skipped, although {reason}"


def _answer(run: _StoredRun) -> Iterator[str]:
    if run.row["answer"] is None:
        return
    if violations := run.problem.violations(run.instance, run.answer):
        yield "; ".join(violations)
    measures = run.problem.measures(run.instance, run.answer)
    packed = np.asarray(KINDS[run.problem.kind].pack(run.answer)).tolist()
    wanted = {"value": run.problem.value(run.instance, run.answer), "measures": list(measures.items())}
    yield from _other(run.row, {**wanted, "answer": packed})


def _rules(run: _StoredRun) -> Iterator[str]:
    """The `RULES` that the row breaks; one that cannot be evaluated is broken."""
    fields = SimpleNamespace(**run.row)
    for sentence, holds in RULES.items():
        try:
            broken = not holds(fields)
        except (TypeError, ValueError, KeyError):
            broken = True
        if broken:
            yield f"has not {sentence}"


def _bound(run: _StoredRun) -> Iterator[str]:
    bound = run.row["lower_bound"]
    if bound is None:
        return
    if run.problem.integral and math.isfinite(bound) and bound != math.floor(bound):
        yield f"has the lower bound {bound:g}, and every value is an integer"
    if run.method is not None and not run.is_plug_in and not (run.method.exact or run.method.bounds):
        yield f"has the lower bound {bound:g}, and {run.method.name} proves none"


def _evidence(run: _StoredRun) -> Iterator[str]:
    if has_evidence(run.row["counters"]):
        proof = Store(Path(run.folder)).proof(run.row["key"])
        counters = json.loads(run.row["counters"])
        yield from faults_of_evidence(counters, run.instance, run.problem, proof, run.row["seconds"])


CHECKS: tuple[Check, ...] = (_task, _recipe, _instance, _answer, _rules, _bound, _evidence)
"""Each takes a row that is well formed and yields its faults."""

_ENDED_WITHOUT = (Status.FAILED, Status.SKIPPED)
_NO_ANSWER = (Status.INFEASIBLE, *_ENDED_WITHOUT)


def _monotone(points: Sequence[Row], name: str, sign: int) -> bool:
    known = [math.inf if point[name] is None else sign * point[name] for point in points]
    return all(before >= after for before, after in itertools.pairwise(known))


RULES: dict[str, Callable[[SimpleNamespace], bool]] = {
    "limits above 0": lambda r: 0 < r.time_limit < math.inf and r.memory_limit > 0,
    "a seed that a study derives": lambda r: 0 <= r.seed < _MOST_SEED,
    "seconds and memory of 0 or more": lambda r: (
        r.seconds >= 0 and r.peak_memory >= 0 and not (r.cpu_seconds or 0.0) < 0
    ),
    "seconds within its limit, and above 0": lambda r: (
        r.status in _ENDED_WITHOUT or 0 < r.seconds <= _SLACK_SHARE * r.time_limit + _SLACK_SECONDS
    ),
    "0 seconds, although it was skipped": lambda r: r.status != Status.SKIPPED or r.seconds == 0,
    "a start with a time zone": lambda r: datetime.fromisoformat(r.started).tzinfo is not None,
    "the version of Python and the name of its machine": lambda r: (
        "python" in json.loads(r.versions) and "host" in json.loads(r.machine)
    ),
    "a value and an answer, or neither": lambda r: (r.value is None) == (r.answer is None),
    "measures only with an answer": lambda r: r.answer is not None or not r.measures,
    "the answer that its status says": lambda r: (
        r.status not in (Status.OPTIMAL, Status.FEASIBLE) or r.answer is not None
    ),
    "a status that an answer can have": lambda r: r.status not in _NO_ANSWER or r.answer is None,
    "a reason for its status": lambda r: r.status not in _ENDED_WITHOUT or bool(r.reason),
    "a status that a lower bound can have": lambda r: r.status not in _ENDED_WITHOUT or r.lower_bound is None,
    "status optimal where its lower bound is its value, and only there": lambda r: (
        r.value is None or (r.status == Status.OPTIMAL) == (r.value == r.lower_bound)
    ),
    "a number as its lower bound": lambda r: r.lower_bound is None or not math.isnan(r.lower_bound),
    "a finite lower bound": lambda r: r.lower_bound != math.inf or r.status == Status.INFEASIBLE,
    "a lower bound of at most its value": lambda r: (
        None in (r.value, r.lower_bound) or r.lower_bound <= r.value + TOLERANCE * max(1.0, abs(r.value))
    ),
    "points": lambda r: bool(r.points) or (r.value, r.lower_bound) == (None, None),
    "points of finite numbers": lambda r: all(
        point["seconds"] is not None and all(number is None or math.isfinite(number) for number in point.values())
        for point in r.points
    ),
    "points in the order of time, before its end": lambda r: (
        not r.points
        or all(a <= b for a, b in itertools.pairwise([0.0, *(point["seconds"] for point in r.points), r.seconds]))
    ),
    "a last point of its value and lower bound": lambda r: (
        not r.points or (r.points[-1]["value"], r.points[-1]["lower_bound"]) == (r.value, r.lower_bound)
    ),
    "points that never get worse": lambda r: _monotone(r.points, "value", 1) and _monotone(r.points, "lower_bound", -1),
}
"""What every row must have, whatever its problem and method."""


@lru_cache(maxsize=64)
def _generated(recipe: str, current: bool = True) -> str | None:
    """The digest of the instance that a recipe (JSON) gives; None if that cannot be known here.

    It is not known of another version of the code, of a plug-in that is another one now or not installed, and of a file
    or software that this machine has not.
    """
    made = _recipe_in(recipe)
    if made.workload:
        workload = WORKLOADS.get(made.workload)
        if workload is None and not made.code:
            raise BadInput(f"unknown workload '{made.workload}'")
        if workload is None or workload.needs or made.code or not current:
            return None
    elif not Path(made.file).is_file():
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
    return digest


def _recipe_in(text: str) -> Recipe:
    try:
        return Recipe.from_json(text)
    except (TypeError, AttributeError):
        raise BadInput("its recipe has other fields than those of a recipe") from None


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
            elif _comparable(rows.setdefault(key, row)) != _comparable(row):
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
    for row in rows:
        bound, lowest = row["lower_bound"], best[row["instance"], row["problem"]]
        if bound is not None and bound > lowest + TOLERANCE * max(1.0, abs(lowest)):
            above.add(row["key"])
            yield row["key"], f"its lower bound {bound:g} lies above the value {lowest:g} of an answer"
    for kind, sentence, keys in disagreements(frame, pairs)[["kind", "sentence", "keys"]].itertuples(index=False):
        if kind == "infeasible":
            yield keys[0], sentence
        elif kind == "value below bound" and above.isdisjoint(keys):
            yield keys[1], sentence


def _plan_faults(store: Store, rows: Sequence[Row]) -> tuple[list[Fault], list[str]]:
    """The faults of plan, labels and history, and remarks on what cannot be checked.

    The runs of the present study and of every earlier one are derived again from their text: the plan must have the
    keys of the present one, and every row of this version of the code must belong to one of them.
    """
    plan, faults, notes = store.plan(), list[Fault](), list[str]()
    texts = [_text(file) for file in (store.folder / "study.toml", *sorted(store.history.glob("[0-9]*.toml")))]
    if any(text != plan.spec for text in (texts[0], texts[-1])):
        faults.append(("plan.json", "has another text of the study than study.toml or the last one in history/"))
    if len(set(plan.keys)) < len(plan.keys):
        faults.append(("plan.json", "has a key twice"))
    faults += _label_faults(store, plan.keys, rows)
    stored = {row["key"] for row in rows}
    if missing := len(set(plan.keys) - stored):
        notes.append(
            f"{missing} of the study's {len(plan.keys)} runs are not stored: the study was stopped, or lost rows"
        )
    versions = dict.fromkeys([code_version(), *(own_part(row["code_version"]) for row in rows)])
    current = {row["key"] for row in rows if own_part(row["code_version"]) == code_version()}
    if other := len(stored - current):
        notes.append(f"{other} rows are of other versions of the code, whose studies are not derived again")
    try:
        studies = [_study(store, text) for text in dict.fromkeys([plan.spec, *texts])]
    except BadInput as error:
        return [*faults, ("study.toml", str(error))], notes
    known: set[str] = set()
    for number, study in enumerate(studies):
        if study is None:
            return faults, [*notes, "the study names files beside it: its runs are not derived again"]
        derived = [_keys(task, versions) for task in study.tasks(store.index())]
        known.update(*derived)
        if number == 0 and (current or not stored):
            keys = set(plan.keys)
            if lacking := sum(keys.isdisjoint(each) for each in derived):
                faults.append(("plan.json", f"lacks {lacking} of the {len(derived)} runs that its study has"))
            if more := len(keys.difference(*derived)):
                faults.append(("plan.json", f"has {more} keys of no run of its study"))
            if (plan.name, list(plan.notes)) != (study.name, list(study.notes)):
                faults.append(("plan.json", "has another name or other notes than its study"))
    faults += [(key, "belongs to no study that was run in this folder") for key in sorted(current - known)]
    return faults, notes


def _keys(task: Task, versions: Mapping[str, None]) -> set[str]:
    """The keys that a run may have, under each of these versions of the code, with and without a proof."""
    plug_ins = task.code_version.removeprefix(own_part(task.code_version))
    return {key for each in versions for key in replace(task, code_version=each + plug_ins).equal_keys}


def _study(store: Store, text: str) -> Study | None:
    """A study from its text; None where it names files relative to a folder that is not known."""
    try:
        if any("file" in source for source in parsed(text).get("instances", [])):
            return None
    except (BadInput, AttributeError, TypeError):
        raise BadInput("the text of a study is no study") from None
    return study_of(text, store.folder / "study.toml")


def _text(file: Path) -> str:
    try:
        return read_text(file)
    except BadInput:
        return ""


def _label_faults(store: Store, keys: Sequence[str], rows: Sequence[Row]) -> Iterator[Fault]:
    """Families and recipes in plan.parquet, which replace those of the rows wherever results are shown."""
    name = "plan.parquet"
    try:
        labels = store.labels().to_pylist()
        instances = {recipe: one.digest for recipe, one in store.index().items()}
        if sorted(str(label["key"]) for label in labels) != sorted(keys):
            yield name, "has other keys than plan.json"
        of_rows = {row["key"]: row["instance"] for row in rows}
        for label in labels:
            if label["recipe"] is None and label["family"] is None:
                continue
            if Recipe.from_json(label["recipe"]).family != label["family"]:
                yield label["key"], f"has the family '{label['family']}' in {name}, and another in its recipe"
            digest = instances.get(label["recipe"])
            if of_rows.get(label["key"], digest) != digest:
                yield label["key"], f"has in {name} the recipe of another instance"
    except (BadInput, ValueError, TypeError) as error:
        yield name, f"is damaged ({type(error).__name__}): run the study again, which restores it"
