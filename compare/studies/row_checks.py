"""What one stored row must fulfil, recomputed from the row and its instance: a function a check."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS
from ...instances.contract.errors import BadInput
from ...instances.contract.kind import Kind
from ...instances.contract.method import Method
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from ...instances.contract.run import Clock
from ...models.engine.stoppable import finished_within
from ..catalogue import METHODS, code_version, kind_named, own_part
from .point_checks import faults_of_points
from .processes import memory_bounded
from .proofs import faults_of_evidence, has_evidence
from .recipe import Recipe
from .row import ADDED, SCHEMA
from .store import Store
from .task import STORED, Task, is_key, options_json

_MAY_BE_NULL = ("value", "lower_bound", "answer", "cpu_seconds", *ADDED)
_OBJECTS = ("options", "counters", "versions", "machine", "recipe")
_VERSION = re.compile(r"[0-9a-f]{12}(\+[0-9a-f]+)?")
_DIGEST = re.compile(r"[0-9a-f]{8,128}")
_MOST_SEED = 2**31
_ANSWERED = (Status.OPTIMAL, Status.FEASIBLE)
_UNANSWERED = (Status.INFEASIBLE, Status.FAILED, Status.SKIPPED)
_MOST_SECONDS = 300.0
_ROUNDING = 1e-6
_SLACK_SHARE, _SLACK_SECONDS = 1.25, 10.0  # earlier versions stopped runs at a quarter, or 5 s, past their limit


@dataclass(frozen=True)
class StoredRun:
    """A row that is well formed, and what it refers to, read and generated when a check asks for it."""

    row: Mapping[str, Any]
    folder: str

    @cached_property
    def problem(self) -> Problem[Any, Any]:
        return PROBLEMS[self.row["problem"]]

    @cached_property
    def kind(self) -> Kind[Any, Any]:
        return KINDS[self.row["kind"]]

    @cached_property
    def method(self) -> Method[Any, Any] | None:
        """None for a plug-in that is not installed."""
        found = METHODS.get(self.row["method"])
        return None if found is None else found.answering(self.row["problem"])

    @cached_property
    def is_plug_in(self) -> bool:
        """Whether the run used a plug-in."""
        return "+" in self.row["code_version"]

    @cached_property
    def is_current(self) -> bool:
        """Whether the row is of this version of the code, whose methods and workloads are known."""
        return own_part(self.row["code_version"]) == code_version()

    @cached_property
    def status(self) -> Status:
        return Status(self.row["status"])

    @cached_property
    def recipe(self) -> Recipe:
        return _recipe_in(self.row["recipe"])

    @cached_property
    def options(self) -> dict[str, Any]:
        options: dict[str, Any] = json.loads(self.row["options"])
        return options

    @cached_property
    def instance(self) -> Any:
        return _stored_instance(self.folder, self.row["instance"], self.kind.name)

    @cached_property
    def answer(self) -> Any:
        packed = self.row["answer"]
        return None if packed is None else self.kind.unpack(np.asarray(packed, dtype=np.int32), self.instance)


Check = Callable[[StoredRun], Iterator[str]]


def faults_of_row(row: Mapping[str, Any], folder: str) -> list[str]:
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
    run = StoredRun(row, folder)
    return [fault for check in CHECKS for fault in _found(check, run)]


def _found(check: Check, run: StoredRun) -> Iterator[str]:
    try:
        yield from check(run)
    except (BadInput, ValueError, IndexError) as error:
        yield f"{type(error).__name__}: {error}".splitlines()[0]
    except Exception as error:  # a forged row must not end the verification of the others
        yield f"cannot be checked ({check.__name__.strip('_')}: {type(error).__name__}: {error})".splitlines()[0]


def _malformed(row: Mapping[str, Any]) -> Iterator[str]:
    """Columns that are missing, null or of another type, and texts that are no JSON or name nothing."""
    if missing := [name for name in SCHEMA.names if name not in row]:
        yield f"has no {missing[0]}"
        return
    if nulls := [name for name in SCHEMA.names if row[name] is None and name not in _MAY_BE_NULL]:
        yield f"has null as its {' and '.join(nulls)}"
        return
    try:
        pa.Table.from_pylist([dict(row)], SCHEMA)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        yield f"has a value of another type ({str(error).splitlines()[0]})"
        return
    for name in ("sizes", "measures"):
        if any(value is None for _, value in row[name]) or len({key for key, _ in row[name]}) < len(row[name]):
            yield f"has a null or a name twice in its {name}"
    if row["answer"] is not None and any(number is None for number in row["answer"]):
        yield "has a null in its answer"
    yield from (f"has as its {name} no JSON object" for name in _OBJECTS if not _is_object(row[name]))
    yield from _unnamed(row)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text, parse_constant=_no_number), dict)
    except (ValueError, RecursionError):
        return False


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _unnamed(row: Mapping[str, Any]) -> Iterator[str]:
    if not is_key(row["key"]):
        yield "has a key of another form"
    if not _DIGEST.fullmatch(row["instance"]):
        yield "has an instance that is no digest"
    if not _VERSION.fullmatch(row["code_version"]):
        yield "has a code version of another form"
    if row["status"] not in list(Status):
        yield f"has the unknown status '{row['status']}'"
    plug_in = "+" in row["code_version"]
    for noun, known in (("kind", KINDS), ("problem", PROBLEMS), ("method", METHODS)):
        if row[noun] not in known and not (noun == "method" and plug_in):
            yield f"has the unknown {noun} '{row[noun]}'"
            return
    if (wanted := PROBLEMS[row["problem"]].kind) != row["kind"]:
        yield f"has the kind {row['kind']}, its problem {row['problem']} is about {wanted}"


def _key(run: StoredRun) -> Iterator[str]:
    task = Task(**{name: run.row[name] for name in STORED})
    if run.row["key"] not in (task.key, Task(**{name: run.row[name] for name in STORED}, proof=True).key):
        yield "its key is not that of its instance, problem, method, options, seed, limits and code version"


def _limits(run: StoredRun) -> Iterator[str]:
    row = run.row
    if not (math.isfinite(row["time_limit"]) and row["time_limit"] > 0 and row["memory_limit"] > 0):
        yield f"has limits of {row['time_limit']} s and {row['memory_limit']} MiB"
    if not 0 <= row["seed"] < _MOST_SEED:
        yield f"has the seed {row['seed']}, which no study derives"


def _measured(run: StoredRun) -> Iterator[str]:
    row, seconds = run.row, run.row["seconds"]
    for name in ("seconds", "cpu_seconds", "peak_memory"):
        if row[name] is not None and not (row[name] >= 0 or (name == "cpu_seconds" and math.isnan(row[name]))):
            yield f"has {row[name]} as its {name}"
    if run.status not in (Status.FAILED, Status.SKIPPED):
        if seconds == 0:
            yield "has 0 seconds, which no run takes"
        if seconds > _SLACK_SHARE * row["time_limit"] + _SLACK_SECONDS:
            yield f"has {seconds:g} seconds, with a limit of {row['time_limit']:g}"
    if run.status is Status.SKIPPED and seconds:
        yield f"was skipped, with {seconds:g} seconds"
    started = datetime.fromisoformat(row["started"])
    if started.tzinfo is None:
        yield f"started at {row['started']}, without a time zone"
    if "python" not in json.loads(row["versions"]) or "host" not in json.loads(row["machine"]):
        yield "does not name its version of Python and its machine"


def _method(run: StoredRun) -> Iterator[str]:
    row, method = run.row, METHODS.get(run.row["method"])
    if method is None or not run.is_current:
        return
    try:
        stated = options_json(method.stated(run.options, row["problem"]))
    except BadInput as error:
        yield str(error)
        return
    if stated != row["options"]:
        yield f"its options are not those of {row['method']} in order"
        return
    task = Task(**{name: row[name] for name in STORED})
    if row["variant"] != task.variant:
        yield f"has the variant '{row['variant']}', its method and options are '{task.variant}'"
    if row["exact"] != task.exact:
        yield f"has exact = {row['exact']}, {row['method']} has {task.exact}"


def _judge(run: StoredRun) -> Iterator[str]:
    row, judge = run.row, type(run.problem)
    if run.is_current and row["judge"] != f"{judge.__module__}.{judge.__qualname__}":
        yield f"was judged by '{row['judge']}', which is not the problem {run.problem.name}"


def _instance(run: StoredRun) -> Iterator[str]:
    sizes = run.kind.size(run.instance)
    if list(run.row["sizes"]) != list(sizes.items()):
        yield f"has the sizes {dict(run.row['sizes'])}, its instance {sizes}"


def _recipe(run: StoredRun) -> Iterator[str]:
    row = run.row
    if run.recipe.to_json() != row["recipe"]:
        yield "its recipe is not in the form that studies write"
    if run.recipe.family != row["family"]:
        yield f"has the family '{row['family']}', its recipe '{run.recipe.family}'"
    digest = generated(row["recipe"], run.is_current)
    if digest is not None and digest != row["instance"]:
        yield "its recipe gives another instance"


@lru_cache(maxsize=64)
def generated(recipe: str, current: bool = True) -> str | None:
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
    with memory_bounded("its instance"):
        found = finished_within(Clock(_MOST_SECONDS), lambda: _digest_of(made), steps=math.inf)
    if found is None:
        raise BadInput(f"its recipe gives no instance within {_MOST_SECONDS:g} s and half of the memory")
    digest, fault = found
    if fault:
        raise BadInput(f"its recipe gives no instance: {fault}")
    return digest


def _digest_of(recipe: Recipe) -> tuple[str, str]:
    """The digest of a recipe's instance, or what is wrong with the recipe."""
    try:
        return str(recipe.make().digest), ""
    except Exception as error:  # a forged recipe can hold anything
        return "", f"{type(error).__name__}: {error}".splitlines()[0]


def _recipe_in(text: str) -> Recipe:
    try:
        return Recipe.from_json(text)
    except (TypeError, AttributeError):
        raise BadInput("its recipe has other fields than those of a recipe") from None


def _outcome(run: StoredRun) -> Iterator[str]:
    row, status = run.row, run.status
    if (row["value"] is None) != (row["answer"] is None):
        yield "has a value without an answer" if row["answer"] is None else "has an answer without a value"
    if status in _ANSWERED and row["answer"] is None:
        yield f"has status {status} without an answer"
    if status in _UNANSWERED and row["answer"] is not None:
        yield f"has status {status} with an answer"
    if status in (Status.FAILED, Status.SKIPPED) and not row["reason"]:
        yield f"has status {status} without a reason"
    if status in (Status.FAILED, Status.SKIPPED) and row["lower_bound"] is not None:
        yield f"has status {status} with a lower bound"


def _skipped(run: StoredRun) -> Iterator[str]:
    if run.method is None or not run.is_current or run.is_plug_in:
        return
    reason = run.method.skip(run.instance, run.problem) if run.method.skip else ""
    if run.status is Status.SKIPPED and run.row["reason"] != reason:
        yield f"was skipped, for which {run.method.name} has {'another' if reason else 'no'} reason"
    if run.status is not Status.SKIPPED and reason:
        yield f"was not skipped, although {reason}"


def _answer(run: StoredRun) -> Iterator[str]:
    if run.row["answer"] is None:
        if run.row["measures"]:
            yield "has measures without an answer"
        return
    if violations := run.problem.violations(run.instance, run.answer):
        yield "; ".join(violations)
    value = run.problem.value(run.instance, run.answer)
    if value != run.row["value"]:
        yield f"has value {value:g}, not {run.row['value']} as in its row"
    measures = {name: float(number) for name, number in run.problem.measures(run.instance, run.answer).items()}
    if dict(run.row["measures"]) != measures:
        yield f"has the measures {measures}, not {dict(run.row['measures'])} as in its row"
    packed = np.asarray(run.kind.pack(run.answer))
    if packed.tolist() != list(run.row["answer"]):
        yield "its answer is not in the order that studies write, or has something twice"


def _bound(run: StoredRun) -> Iterator[str]:
    row, bound, value = run.row, run.row["lower_bound"], run.row["value"]
    if run.status is Status.OPTIMAL and value != bound:
        yield f"has status optimal with value {value} and lower bound {bound}"
    if bound is None:
        return
    if math.isnan(bound):
        yield "has a lower bound that is not a number"
    elif run.problem.integral and math.isfinite(bound) and bound != math.floor(bound):
        yield f"has the lower bound {bound:g}, and every value is an integer"
    if bound == math.inf and run.status is not Status.INFEASIBLE:
        yield "has an infinite lower bound, and is not infeasible"
    if value is not None:
        if bound > value + _ROUNDING * max(1.0, abs(value)):
            yield f"its lower bound {bound:g} lies above the value {value:g} of its own answer"
        if bound == value and run.status is not Status.OPTIMAL:
            yield f"has status {run.status}, although its lower bound is its value"
    if run.method is not None and not run.is_plug_in and not (run.method.exact or run.method.bounds):
        yield f"has the lower bound {bound:g}, and {row['method']} proves none"


def _points(run: StoredRun) -> Iterator[str]:
    may_lack = own_part(run.row["code_version"]) != code_version()
    yield from faults_of_points(run.row, may_lack=may_lack)


def _evidence(run: StoredRun) -> Iterator[str]:
    counters = run.row["counters"]
    if has_evidence(counters):
        proof = Store(Path(run.folder)).proof(run.row["key"])
        yield from faults_of_evidence(json.loads(counters), run.instance, run.problem, proof, run.row["seconds"])


@lru_cache(maxsize=2)
def _stored_instance(folder: str, digest: str, kind: str) -> Any:
    with memory_bounded("the instance"):
        return Store(Path(folder)).instance(digest, kind_named(kind))


CHECKS: tuple[Check, ...] = (
    _key,
    _limits,
    _measured,
    _method,
    _judge,
    _instance,
    _recipe,
    _outcome,
    _skipped,
    _answer,
    _bound,
    _points,
    _evidence,
)
"""Each takes a row that is well formed and yields its faults."""
