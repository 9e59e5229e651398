"""How an instance came to be: enough to make it again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from compare.catalogue import workload_named
from instances import TopicInstance
from instances.option import Value
from instances.topic_files import TopicsFile, read_topics


@dataclass(frozen=True)
class Recipe:
    """A seeded workload, or a file with a seeded sample of its nodes.

    Attributes
    ----------
    family : str
        What the report groups by.
    workload, parameters
        A workload by name, or "" for a file.
    file, node_column, topic_column, sample
        A file, its columns, and how many nodes to draw from it (0: all of them).
    seed : int
        Of the workload, or of the sample.
    """

    family: str
    seed: int
    workload: str = ""
    parameters: tuple[tuple[str, Value], ...] = ()
    file: str = ""
    node_column: str = "node"
    topic_column: str = "topic"
    sample: int = 0

    def make(self) -> TopicInstance:
        """The instance; the same on every machine that has the same file."""
        if self.workload:
            return workload_named(self.workload).generate(seed=self.seed, **dict(self.parameters))
        instance = _read(self.file, self.node_column, self.topic_column).instance
        return instance.sample(self.sample, self.seed) if self.sample else instance

    def to_json(self) -> str:
        """One line of JSON, keys in a fixed order; the inverse of :meth:`from_json`."""
        fields: dict[str, object] = {"family": self.family, "seed": self.seed}
        if self.workload:
            fields |= {"workload": self.workload, "parameters": dict(self.parameters)}
        else:
            fields |= {"file": self.file, "node_column": self.node_column, "topic_column": self.topic_column}
            fields |= {"sample": self.sample}
        return json.dumps(fields, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """The recipe that :meth:`to_json` wrote."""
        fields = json.loads(text)
        return cls(**{**fields, "parameters": freeze(fields.get("parameters", {}))})


def freeze(parameters: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    """Parameters in a form that can be compared and hashed."""
    return tuple(sorted(parameters.items()))


@lru_cache(maxsize=4)
def _read(file: str, node_column: str, topic_column: str) -> TopicsFile:
    return read_topics(Path(file), node_column=node_column, topic_column=topic_column)
