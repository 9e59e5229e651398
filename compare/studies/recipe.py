"""How an instance is generated or read: enough to make it again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from ...instances.contract.option import Value
from ..catalogue import kind_named, workload_named

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
    columns: tuple[tuple[str, str], ...] = ()
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
        frozen = {name: freeze(fields[name]) for name in ("parameters", "columns") if name in fields}
        return cls(**{**fields, **frozen})


def freeze(parameters: Mapping[str, Named]) -> tuple[tuple[str, Named], ...]:
    """Parameters as sorted pairs, which can be compared and hashed."""
    return tuple(sorted(parameters.items()))


@lru_cache(maxsize=4)
def _read(file: str, kind: str, columns: tuple[tuple[str, str], ...]) -> Any:
    return kind_named(kind).read(Path(file), dict(columns)).instance
