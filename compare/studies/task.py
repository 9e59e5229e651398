"""One run to be done: an instance by its recipe, a problem, a method with its options, a seed, and its limits."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from ...instances.contract.option import Value
from ..catalogue import METHODS, kind_named, workload_named

Named = TypeVar("Named", bound=Value)


@dataclass(frozen=True)
class Recipe:
    """A workload by name with its parameters, or "" and a file with a sample of so many nodes (0: all); both seeded.

    `family` is what the report groups by, `columns` the names of a file's columns where they are not the default ones,
    `code` the version of a workload that is a plug-in; an instance of another version is another one.
    """

    family: str
    seed: int
    workload: str = ""
    parameters: tuple[tuple[str, Value], ...] = ()
    file: str = ""
    file_kind: str = "topics"
    columns: tuple[tuple[str, Any], ...] = ()
    sample: int = 0
    code: str = ""

    @property
    def kind(self) -> str:
        """The kind of the instance."""
        return workload_named(self.workload).kind if self.workload else self.file_kind

    @property
    def size(self) -> int:
        """The first size (nodes, users, …) as far as the recipe says it; 1 if it does not."""
        parameters: dict[str, Any] = dict(self.parameters)
        return int(self.sample or parameters.get(kind_named(self.kind).sizes[0], 1))

    def make(self) -> Any:
        """The instance; the same on every machine that has the same file."""
        if self.workload:
            return workload_named(self.workload).generate(seed=self.seed, **dict(self.parameters))
        instance = _read(self.file, self.file_kind, self.columns)
        return kind_named(self.file_kind).sample(instance, self.sample, self.seed) if self.sample else instance

    def to_json(self) -> str:
        """One line of JSON, keys in a fixed order; the inverse of :meth:`from_json`."""
        fields: dict[str, object] = {"family": self.family, "seed": self.seed}
        if self.workload:
            fields |= {"workload": self.workload, "parameters": dict(self.parameters)}
        else:
            fields |= {"file": self.file, "file_kind": self.file_kind, "columns": dict(self.columns)}
            fields |= {"sample": self.sample}
        if self.code:
            fields |= {"code": self.code}
        return json.dumps(fields, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """The recipe that :meth:`to_json` wrote."""
        fields = json.loads(text)
        frozen: dict[str, Any] = {name: freeze(fields[name]) for name in ("parameters", "columns") if name in fields}
        return cls(**{**fields, **frozen})


def freeze(parameters: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Parameters as sorted pairs, which can be compared and hashed; lists are tuples."""
    return tuple(sorted((name, tuple(each) if isinstance(each, list) else each) for name, each in parameters.items()))


@lru_cache(maxsize=4)
def _read(file: str, kind: str, columns: tuple[tuple[str, Any], ...]) -> Any:
    return kind_named(kind).read(Path(file), dict(columns)).instance


@dataclass(frozen=True, slots=True)
class Task:
    """A run, keyed by everything that decides its result: not by recipe (JSON) and family of the instance (its digest).

    `options` has all of the method's, defaults included, as JSON with sorted keys; limits are seconds, and MiB for the
    solver process and its children. With `proof` the run writes one: its key is another one, and it can replace the
    same run without.
    """

    instance: str
    recipe: str
    family: str
    problem: str
    method: str
    options: str
    seed: int
    time_limit: float
    memory_limit: int
    code_version: str
    proof: bool = False

    @property
    def key(self) -> str:
        """32 hexadecimal digits: the same task has the same key on every machine."""
        return derived(*(str(getattr(self, name)) for name in _KEYED), *(["proof"] if self.proof else []))

    @property
    def equal_keys(self) -> tuple[str, ...]:
        """The keys whose rows count for this task: its own, and that of the same run with a proof."""
        with_proof = not self.proof and writes_proofs(self.method, self.problem)
        return (self.key, replace(self, proof=True).key) if with_proof else (self.key,)

    @property
    def exact(self) -> bool:
        """Whether the method proves optimality when given time."""
        return METHODS[self.method].exact

    @property
    def variant(self) -> str:
        """The method with the options that differ from its defaults: ``low-oda k=8``."""
        defaults = METHODS[self.method].complete({}, self.problem)
        chosen = {k: v for k, v in json.loads(self.options).items() if defaults[k] != v}
        plain = {k: int(v) if isinstance(v, float) and v.is_integer() else v for k, v in chosen.items()}  # 8 for 8.0
        return " ".join([self.method, *(f"{name}={value}" for name, value in plain.items())])


STORED = tuple(field.name for field in fields(Task) if field.name != "proof")
"""The fields of a task that its row has."""

_KEYED = sorted({*STORED} - {"recipe", "family"})


def task_of(row: Mapping[str, Any]) -> Task:
    """The task of a row, whose key says whether the run has a proof."""
    task = Task(**{name: row[name] for name in STORED}, proof=True)
    return task if task.key == row["key"] else replace(task, proof=False)


def writes_proofs(method: str, problem: str) -> bool:
    """Whether a method can write a proof of a problem."""
    return "proof" in METHODS[method].answering(problem).inputs


def is_key(text: str) -> bool:
    """Whether a text has the form of a task's key."""
    return re.fullmatch(r"[0-9a-f]{32}", text) is not None


def options_json(options: Mapping[str, Value]) -> str:
    """Options as the JSON text that keys and rows use."""
    return json.dumps(dict(sorted(options.items())), ensure_ascii=False)


def derived(*parts: str) -> str:
    """32 hexadecimal digits that depend on every part."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def derived_seed(*parts: str) -> int:
    """A seed below 2^31 (the range every solver takes) that depends on every part."""
    return int(derived(*parts)[:8], 16) % 2**31
