"""A row of results: what is stored of a run, its schema, its forms in a log line and in a table, its typed columns."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ...instances.contract.catalogue import KINDS
from ...instances.contract.problem import Problem
from ...instances.contract.run import Point
from ...instances.topics.files import TOPICS
from ..catalogue import kind_named, problem_named
from .isolation import IsolatedRun
from .task import STORED, Task

FORMAT = "results/3"
"""Of the results folder: its number rises with every change of `SCHEMA` or of the files."""

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
).with_metadata({"overlaybench": FORMAT})

MEASURED = ("seconds", "cpu_seconds", "peak_memory", "machine", "started", "points")
"""The columns in which two runs of one task may differ."""

OBJECTS = ("recipe", "options", "counters", "versions", "machine")
"""The columns that hold a JSON object."""

TYPED = {"recipe": "recipe_fields", "options": "option_values", "counters": "counter_values"}
"""The columns of `OBJECTS` that :func:`spread` reads, and those with the objects read (:func:`typed`)."""

_LIBRARIES = ("numpy", "numba", "scipy", "networkx", "highspy", "ortools", "PuLP", "PySCIPOpt")
_CHECKSUM = 32


def row(task: Task, instance: Any, run: IsolatedRun, started: str = "") -> dict[str, Any]:
    """What is stored of a run: the fields of `SCHEMA`, which docs/results.md explains."""
    problem, result = problem_named(task.problem), run.result
    values = {
        **of_task(task),
        **of_instance(problem, instance),
        **{name: getattr(result, name) for name in ("reason", "value", "lower_bound", "seconds")},
        "status": str(result.status),
        "cpu_seconds": run.cpu_seconds,
        "measures": list(result.measures.items()),
        "counters": json.dumps(dict(result.counters)),
        "answer": None if result.answer is None else kind_named(problem.kind).pack(result.answer),
        "peak_memory": run.peak,
        "versions": library_versions(),
        "machine": machine(),
        "started": started,
        "points": [point._asdict() for point in result.points],
    }
    return {name: values[name] for name in SCHEMA.names}


def of_task(task: Task) -> dict[str, Any]:
    """The columns that follow from the task alone."""
    return {name: getattr(task, name) for name in ("key", "variant", "exact", *STORED)}


def of_instance(problem: Problem[Any, Any], instance: Any) -> dict[str, Any]:
    """The columns that follow from the problem and the instance."""
    kind, judge = kind_named(problem.kind), type(problem)
    return {
        "kind": kind.name,
        "sizes": list(kind.size(instance).items()),
        "judge": f"{judge.__module__}.{judge.__qualname__}",
    }


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
    try:
        row: dict[str, Any] = json.loads(text)
        if row["answer"] is not None:
            row["answer"] = np.frombuffer(base64.b64decode(row["answer"]), dtype="<i4")
        for name in ("sizes", "measures"):
            row[name] = [tuple(pair) for pair in row[name]]
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"not a row: {error!r}") from None
    return row


def _checksum(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:_CHECKSUM].encode()


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    """Rows as a table of `SCHEMA`."""
    return pa.Table.from_pylist(rows, SCHEMA)


@lru_cache(maxsize=2**14)
def object_in(text: str) -> Mapping[str, Any]:
    """The JSON object in a column of `OBJECTS`; equal texts give one object, which is not to be changed."""
    found: Mapping[str, Any] = json.loads(text)
    return found


def spread(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with typed columns: those of `TYPED`, and one for every size and measure in place of the two maps.

    Sizes are integers where all rows are of one kind, and NaN where a row's kind does not have them.
    """
    kinds = [kind for kind in KINDS.values() if kind.name in set(rows["kind"])] or [TOPICS]
    for column in ("sizes", "measures"):
        wanted = dict.fromkeys(name for kind in kinds for name in getattr(kind, column))
        maps = [dict(pairs) for pairs in rows[column]]
        dtype = "int64" if column == "sizes" and len(kinds) == 1 else "float64"
        at = rows.columns.tolist().index(column)
        for offset, name in enumerate(wanted):
            rows.insert(at + offset, name, pd.Series([each.get(name) for each in maps], rows.index, dtype))
        rows = rows.drop(columns=column)
    return typed(rows)


def typed(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with the columns of `TYPED`: the fields of the recipe, the options and the counters, each a mapping."""
    return rows.assign(**{name: rows[text].map(object_in) for text, name in TYPED.items()})


@cache
def library_versions() -> str:
    """Python's version and those of the solvers and libraries, as JSON with sorted keys.

    A library that is not installed as a package (it came in an archive without its metadata) is left out.
    """
    found = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name.lower()] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return json.dumps(found, sort_keys=True)


@cache
def machine() -> str:
    """Processor, cores that may be used, memory (MiB), system and host name, as JSON with sorted keys."""
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text(encoding="utf-8", errors="replace").splitlines() if cpus.is_file() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    found = {
        "processor": next(names, platform.processor()),
        "cores": len(os.sched_getaffinity(0)),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "host": platform.node(),
    }
    return json.dumps(found, sort_keys=True)
