"""One run to be done: an instance by its recipe, a problem, a method with its options, a seed, and its limits."""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...instances.contract.errors import BadInput
from ...instances.contract.kind import AS_STORED, LoadedInstance
from ...instances.contract.option import Value
from ..catalogue import METHODS, kind_named, workload_named

RecipeSeeds = Sequence[int] | npt.NDArray[np.int64]


class FileKey(NamedTuple):
    """A file of a study, as its recipes name it: its path, the kind of its instance, and the names of its columns."""

    file: str
    file_kind: str
    columns: tuple[tuple[str, Any], ...]

    def read(self) -> LoadedInstance[Any]:
        """The instance in the file."""
        return kind_named(self.file_kind).read(Path(self.file), dict(self.columns))


@dataclass(frozen=True, slots=True)
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

    @property
    def file_key(self) -> FileKey:
        """The file that it names."""
        return FileKey(self.file, self.file_kind, self.columns)

    def make(self, kept: str = "") -> Any:
        """The instance; the same on every machine. What the file holds is read from the file `kept`, if given."""
        if self.workload:
            return workload_named(self.workload).generate(seed=self.seed, **dict(self.parameters))
        instance = _read(FileKey(kept, self.file_kind, freeze(AS_STORED)) if kept else self.file_key)
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
        """The recipe that :meth:`to_json` wrote; any other text is bad input."""
        try:
            fields = json.loads(text)
            frozen: dict[str, Any] = {key: freeze(fields[key]) for key in ("parameters", "columns") if key in fields}
            return cls(**{**fields, **frozen})
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise BadInput("a row has no recipe of an instance: see `overlaybench verify`") from None


@lru_cache(maxsize=2)
def instance_of(recipe: str, kept: str = "") -> Any:
    """The instance of a recipe (JSON), as by :meth:`Recipe.make`; the last two stay in memory."""
    return Recipe.from_json(recipe).make(kept)


def freeze(parameters: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Parameters as sorted pairs, which can be compared and hashed; lists are tuples."""
    return tuple(sorted((name, tuple(each) if isinstance(each, list) else each) for name, each in parameters.items()))


class Recipes:
    """Distinct recipes, kept as one of each form (all but the seed) and the seeds: a million take 8 MB."""

    def __init__(self, recipes: Iterable[tuple[Recipe, RecipeSeeds]]) -> None:
        seeds: dict[Recipe, list[npt.NDArray[np.int64]]] = {}
        for recipe, more in recipes:
            seeds.setdefault(replace(recipe, seed=0), []).append(np.asarray(more, np.int64))
        self.forms = tuple(seeds)
        self.seeds = tuple(map(_each_once, seeds.values()))
        self.starts = np.concatenate([[0], np.cumsum([len(each) for each in self.seeds], dtype=np.int64)]).tolist()

    @classmethod
    def of(cls, recipes: Iterable[Recipe]) -> Recipes:
        return cls((recipe, (recipe.seed,)) for recipe in recipes)

    def __len__(self) -> int:
        return int(self.starts[-1])

    def __getitem__(self, number: int) -> Recipe:
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        number %= len(self)
        form = bisect_right(self.starts, number) - 1
        return replace(self.forms[form], seed=int(self.seeds[form][number - self.starts[form]]))

    def __iter__(self) -> Iterator[Recipe]:
        pairs = zip(self.forms, self.seeds, strict=True)
        return (replace(form, seed=seed) for form, seeds in pairs for seed in seeds.tolist())

    def texts(self) -> pa.ChunkedArray:
        """Each as JSON (:meth:`Recipe.to_json`)."""
        pieces = (slice(at, at + TOGETHER) for at in range(0, max(1, len(self)), TOGETHER))
        return pa.chunked_array([self.some_texts(piece) for piece in pieces], pa.string())

    def some_texts(self, numbers: slice | npt.NDArray[np.integer]) -> pa.Array:
        """Some as JSON."""
        if not self.forms:
            return pa.array([], pa.string())
        chosen = np.arange(len(self))[numbers]
        halves = zip(*(form.to_json().split(_NO_SEED, 1) for form in self.forms), strict=True)  # a family's are escaped
        before, after = (self.by_form(half, chosen) for half in halves)
        seeds = pa.array(np.concatenate(self.seeds)[chosen]).cast(pa.string())
        return pc.binary_join_element_wise(before, pa.scalar('"seed": '), seeds, ",", after, "")

    def by_form(self, values: Iterable[object], numbers: npt.NDArray[np.integer]) -> pa.Array:
        """The value of the form of each of some recipes, given one for every form."""
        at = np.searchsorted(self.starts, numbers, side="right") - 1
        return pa.DictionaryArray.from_arrays(pa.array(at.astype(np.int32)), pa.array(list(values))).dictionary_decode()


_NO_SEED = '"seed": 0,'
TOGETHER = 100_000
"""So many runs or recipes are made into texts at a time."""


def _each_once(parts: Iterable[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """The numbers in some arrays, in the order of their first positions."""
    numbers = np.concatenate(list(parts))
    return numbers[np.sort(np.unique(numbers, return_index=True)[1])]


@lru_cache(maxsize=2)
def _read(key: FileKey) -> Any:
    return key.read().instance


@dataclass(frozen=True, slots=True)
class RunGroup:
    """What the runs of one variant of a method on one problem have in common.

    `options` has all of the method's, defaults included, as JSON with sorted keys; limits are seconds, and MiB for the
    solver process and its children. With `proof` the runs write one: their keys are others, and they can replace the
    same runs without.
    """

    problem: str
    method: str
    options: str
    time_limit: float
    memory_limit: int
    code_version: str
    proof: bool = False

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

    def keys(self, digests: Iterable[str], seeds: Iterable[int]) -> list[str]:
        """The keys of runs on the instances with these digests: 32 hexadecimal digits, the same on every machine.

        They depend on everything that decides a result: not on the recipe and the family of the instance.
        """
        before = f"{self.code_version}\0"
        between = f"\0{self.memory_limit}\0{self.method}\0{self.options}\0{self.problem}\0"
        after = f"\0{self.time_limit}" + ("\0proof" if self.proof else "")
        pairs = zip(digests, seeds, strict=True)
        return [
            hashlib.sha256(f"{before}{digest}{between}{seed}{after}".encode()).hexdigest()[:32]
            for digest, seed in pairs
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(RunGroup):
    """A run of a group: on an instance (its digest, its recipe as JSON and its family), with a seed."""

    instance: str
    recipe: str
    family: str
    seed: int

    @property
    def key(self) -> str:
        """The key of the run (:meth:`RunGroup.keys`)."""
        return self.keys([self.instance], [self.seed])[0]


STORED = tuple(field.name for field in fields(Task) if field.name != "proof")
"""The fields of a task that its row has."""


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


def derived_seed(*parts: str) -> int:
    """A seed below 2^31 (the range every solver takes) that depends on every part."""
    return int(hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8], 16) % 2**31


def limits_in(problem: str) -> dict[str, float]:
    """The limits that a problem's name states: ``max-degree`` 3 for ``filtering@max-degree=3``."""
    return {name: float(value) for name, value in re.findall(r"([^@=]+)=([\d.]+)", problem)}


def without_limit(problem: str, limit: str = r"[^@=]+") -> str:
    """A problem's name without the value of a limit, or of all: ``filtering@max-degree``."""
    return re.sub(rf"((?:^|@){limit})=[^@]+", r"\1", problem)
