"""A row of results: what is stored of a run, its schema, and its forms in a log line and in a table."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ...instances.contract.catalogue import KINDS
from ...instances.contract.run import Point
from ...instances.topics.files import TOPICS
from ..catalogue import kind_named, problem_named
from .isolation import IsolatedRun
from .provenance import library_versions, machine
from .task import STORED, Task

VERSION = 3
"""Of the results folder: raised with every change of `SCHEMA` or of the files (docs/results.md, "Versions")."""

ADDED = ("points",)
"""The columns that version 2 lacks. They are null in its rows."""

READ = tuple(f"results/{version}" for version in range(2, VERSION + 1))
"""The formats that this version reads."""

SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("instance", pa.string()),
        ("recipe", pa.string()),
        ("family", pa.string()),
        ("kind", pa.string()),
        ("sizes", pa.map_(pa.string(), pa.int64())),
        ("problem", pa.string()),
        ("method", pa.string()),
        ("variant", pa.string()),
        ("options", pa.string()),
        ("exact", pa.bool_()),
        ("seed", pa.int64()),
        ("time_limit", pa.float64()),
        ("memory_limit", pa.int64()),
        ("status", pa.string()),
        ("reason", pa.string()),
        ("value", pa.float64()),
        ("lower_bound", pa.float64()),
        ("seconds", pa.float64()),
        ("cpu_seconds", pa.float64()),
        ("measures", pa.map_(pa.string(), pa.float64())),
        ("counters", pa.string()),
        ("answer", pa.list_(pa.int32())),
        ("peak_memory", pa.float64()),
        ("code_version", pa.string()),
        ("judge", pa.string()),
        ("versions", pa.string()),
        ("machine", pa.string()),
        ("started", pa.string()),
        ("points", pa.list_(pa.struct(dict.fromkeys(Point._fields, pa.float64())))),
    ]
).with_metadata({"overlaybench": f"results/{VERSION}"})

MEASURED = ("seconds", "cpu_seconds", "peak_memory", "machine", "started", "points")
"""The columns in which two runs of one task may differ."""

_OF_TASK = ("key", "variant", "exact", *STORED)
_CHECKSUM = 32


def row(task: Task, instance: Any, run: IsolatedRun, started: str = "") -> dict[str, Any]:
    """What is stored of a run: the fields of `SCHEMA`, which docs/results.md explains."""
    problem, result = problem_named(task.problem), run.result
    kind, judge = kind_named(problem.kind), type(problem)
    values = {
        **{name: getattr(task, name) for name in _OF_TASK},
        "kind": kind.name,
        "sizes": list(kind.size(instance).items()),
        **{name: getattr(result, name) for name in ("reason", "value", "lower_bound", "seconds")},
        "status": str(result.status),
        "cpu_seconds": run.cpu_seconds,
        "measures": list(result.measures.items()),
        "counters": json.dumps(dict(result.counters)),
        "answer": None if result.answer is None else kind.pack(result.answer),
        "peak_memory": run.peak,
        "judge": f"{judge.__module__}.{judge.__qualname__}",
        "versions": library_versions(),
        "machine": machine(),
        "started": started,
        "points": [point._asdict() for point in result.points],
    }
    return {name: values[name] for name in SCHEMA.names}


def to_line(row: dict[str, Any]) -> bytes:
    """A row as one line of ASCII: the checksum of its JSON, a space, the JSON, with the answer packed as base64."""
    answer = row["answer"]
    packed = None if answer is None else base64.b64encode(np.asarray(answer, dtype="<i4").tobytes()).decode()
    text = json.dumps({**row, "answer": packed}).encode()
    return _checksum(text) + b" " + text + b"\n"


def from_line(line: bytes) -> dict[str, Any]:
    """The row in a line that :func:`to_line` wrote; ValueError if it is any other."""
    checksum, _, text = line.rstrip(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != _checksum(text):
        raise ValueError("not a complete row")
    row: dict[str, Any] = json.loads(text)
    if row["answer"] is not None:
        row["answer"] = np.frombuffer(base64.b64decode(row["answer"]), dtype="<i4")
    for name in ("sizes", "measures"):
        row[name] = [tuple(pair) for pair in row[name]]
    return row


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    """Rows as a table of `SCHEMA`."""
    return pa.Table.from_pylist(rows, SCHEMA)


def spread(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with a column for every size and measure of their kinds instead of the two maps.

    Sizes are integers where all rows are of one kind, and NaN where a row's kind does not have them.
    """
    kinds = [kind for kind in KINDS.values() if kind.name in set(rows["kind"])] or [TOPICS]
    names = {"sizes": _distinct(kind.sizes for kind in kinds), "measures": _distinct(kind.measures for kind in kinds)}
    for column, wanted in names.items():
        maps = [dict(pairs) for pairs in rows[column]]
        dtype = "int64" if column == "sizes" and len(kinds) == 1 else "float64"
        position = rows.columns.tolist().index(column)
        for offset, name in enumerate(wanted):
            values = [each.get(name) for each in maps]
            rows.insert(position + offset, name, pd.Series(values, rows.index, dtype))
    return rows.drop(columns=list(names))


def _distinct(tuples: Iterable[tuple[str, ...]]) -> list[str]:
    return list(dict.fromkeys(itertools.chain.from_iterable(tuples)))


def _checksum(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:_CHECKSUM].encode()
