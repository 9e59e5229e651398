"""A row of results: its columns, what each may hold, its forms in bytes and in a table, its typed columns."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache, partial
from importlib import metadata
from math import inf, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ...instances.contract.catalogue import KINDS, PROBLEMS
from ...instances.contract.errors import storable
from ...instances.contract.problem import Problem
from ...instances.contract.result import Result, Status
from ...instances.runtime.run import Point
from ...instances.topics.files import TOPICS
from ..catalogue import kind_named, problem_named
from .isolation import IsolatedRun
from .task import STORED, Task

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "results/4"
"""Of the results folder: its number rises with every change of `COLUMNS` or of the files."""

_TEXT, _INTEGER, _NUMBER = pa.string(), pa.int64(), pa.float64()
_LONGEST_COUNTERS = 2**16
_CLOCKS_DIFFER = timedelta(days=1)


class Column(NamedTuple):
    """A column: its type, and whether a value is one that a run can have; docs/results.md says what it means."""

    type: pa.DataType
    holds: Callable[[Any], bool]


def _form(pattern: str) -> Callable[[Any], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None


def _object(text: str) -> dict[str, Any]:
    def no_number(name: str) -> float:
        if name == "Infinity":  # the certified bound of what is infeasible
            return inf
        raise ValueError(f"{name} is no number of JSON")

    found = json.loads(text, parse_constant=no_number)
    if not isinstance(found, dict):
        raise TypeError("not an object")
    return found


def _is_object(text: str) -> bool:
    return _object(text) is not None


def _is_given(value: object) -> bool:
    return value is not None


def _is_amount(number: float) -> bool:
    return 0 <= number < inf


_is_time = _form(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+\d\d:\d\d|Z)")


def _are_distinct(pairs: Iterable[tuple[str, float]]) -> bool:
    named = dict(pairs)
    return len(named) == len(list(pairs)) and None not in named and None not in named.values()


def _types(text: str) -> set[type]:
    return {type(value) for value in _object(text).values()}


_MACHINE = {"processor": str, "cores": int, "memory": int, "system": str, "host": str}
COLUMNS: dict[str, Column] = {
    "key": Column(_TEXT, _form("[0-9a-f]{32}")),
    "instance": Column(_TEXT, _form("[0-9a-f]{8,128}")),
    "recipe": Column(_TEXT, _is_object),
    "family": Column(_TEXT, _is_given),
    "kind": Column(_TEXT, KINDS.__contains__),
    "sizes": Column(pa.map_(_TEXT, _INTEGER), _are_distinct),
    "problem": Column(_TEXT, PROBLEMS.__contains__),
    "method": Column(_TEXT, _is_given),
    "variant": Column(_TEXT, _is_given),
    "options": Column(_TEXT, _is_object),
    "exact": Column(pa.bool_(), _is_given),
    "seed": Column(_INTEGER, lambda seed: 0 <= seed < 2**31),
    "time_limit": Column(_NUMBER, lambda seconds: 0 < seconds < inf),
    "memory_limit": Column(_INTEGER, lambda mib: mib > 0),
    "status": Column(_TEXT, list(Status).__contains__),
    "reason": Column(_TEXT, _is_given),
    "value": Column(_NUMBER, lambda value: True),
    "lower_bound": Column(_NUMBER, lambda bound: True),
    "seconds": Column(_NUMBER, _is_amount),
    "cpu_seconds": Column(_NUMBER, lambda seconds: isnan(seconds) or _is_amount(seconds)),
    "measures": Column(pa.map_(_TEXT, _NUMBER), _are_distinct),
    "counters": Column(_TEXT, lambda text: len(text) <= _LONGEST_COUNTERS and _types(text) <= {int, float, str}),
    "answer": Column(pa.list_(pa.int32()), lambda numbers: numbers is None or None not in numbers),
    "peak_memory": Column(_NUMBER, _is_amount),
    "code_version": Column(_TEXT, _form(r"[0-9a-f]{12}(\+[0-9a-f]+)?")),
    "judge": Column(_TEXT, _is_given),
    "versions": Column(_TEXT, lambda text: "python" in _object(text) and _types(text) == {str}),
    "machine": Column(_TEXT, lambda text: {name: type(value) for name, value in _object(text).items()} == _MACHINE),
    "started": Column(
        _TEXT, lambda time: _is_time(time) and datetime.fromisoformat(time) <= datetime.now(UTC) + _CLOCKS_DIFFER
    ),
    "points": Column(pa.list_(pa.struct(dict.fromkeys(Point._fields, _NUMBER))), _is_given),
}
"""The columns of a row, in their order."""

SCHEMA = pa.schema([(name, column.type) for name, column in COLUMNS.items()]).with_metadata({"overlaybench": FORMAT})

MEASURED = ("seconds", "cpu_seconds", "peak_memory", "machine", "started", "points")
"""The columns in which two runs of one task may differ."""

OBJECTS = ("recipe", "options", "counters", "versions", "machine")
"""The columns that hold a JSON object."""

_LIBRARIES = ("numpy", "numba", "scipy", "networkx", "highspy", "ortools", "PuLP")


def row(task: Task, instance: Any, run: IsolatedRun) -> dict[str, Any]:
    """What is stored of a run."""
    problem = problem_named(task.problem)
    values = {
        **of_task(task),
        **of_instance(problem, instance),
        **of_result(problem, run.result),
        "seconds": run.result.seconds,
        "cpu_seconds": run.cpu_seconds,
        "counters": json.dumps(dict(run.result.counters)),
        "peak_memory": run.peak,
        "versions": library_versions(),
        "machine": machine(),
        "started": datetime.fromtimestamp(run.started, UTC).isoformat(timespec="milliseconds"),
    }
    return {name: values[name] for name in COLUMNS}


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


def of_result(problem: Problem[Any, Any], result: Result[Any]) -> dict[str, Any]:
    """The columns that follow from a judged result."""
    packed = None if result.answer is None else kind_named(problem.kind).pack(result.answer)
    return {
        "status": str(result.status),
        "reason": storable(result.reason),
        "value": result.value,
        "lower_bound": result.lower_bound,
        "measures": list(result.measures.items()),
        "answer": packed,
        "points": [point._asdict() for point in result.points],
    }


def impossible(row: Mapping[str, Any]) -> list[str]:
    """The faults of a row's columns by themselves, a sentence each: what is missing, of another type or no run's."""
    if missing := [name for name in COLUMNS if name not in row]:
        return [f"has no {missing[0]}"]
    wrong = [name for name, column in COLUMNS.items() if not _is_possible(column.holds, row[name])]
    if not wrong and not _is_possible(table_of, [dict(row)]):
        wrong = [name for name, column in COLUMNS.items() if not _is_possible(partial(_array, column.type), row[name])]
    return [f"has an impossible {name}: {str(row[name])[:80]!r}" for name in wrong]


def _is_possible(holds: Callable[[Any], object], value: Any) -> bool:
    try:
        return bool(holds(value))
    except (pa.ArrowException, TypeError, ValueError, OverflowError, RecursionError):
        return False


def _array(kind: pa.DataType, value: Any) -> pa.Array:
    """Only of a value that its column holds: Arrow aborts the process for a map with a null as name."""
    return pa.array([value], kind)


def to_bytes(rows: list[dict[str, Any]]) -> bytes:
    """Rows as the bytes of an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, SCHEMA) as stream:
        stream.write_table(table_of(rows))
    return bytes(sink.getvalue())


def of_bytes(data: bytes) -> pa.Table:
    """The rows in the bytes that :func:`to_bytes` made; ValueError if they are any other."""
    try:
        with pa.ipc.open_stream(data) as stream:
            table = stream.read_all().select(SCHEMA.names).cast(SCHEMA)
        table.validate(full=True)
    except (pa.ArrowException, KeyError, OSError) as error:
        raise ValueError(f"not rows: {error}") from None
    return table


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    """Rows as a table of `SCHEMA`."""
    return pa.Table.from_pylist(rows, SCHEMA)


@lru_cache(maxsize=2**14)
def object_in(text: str) -> Mapping[str, Any]:
    """The JSON object in a column of `OBJECTS`; equal texts give one object, which is not to be changed."""
    found: Mapping[str, Any] = json.loads(text)
    return found


def spread(table: pa.Table) -> pd.DataFrame:
    """Rows as a frame, with a column for each size and measure in place of the two maps; other columns may be absent.

    Sizes are integers where all rows are of one kind, and NaN where a row's kind does not have them. Points stay in
    Arrow's column until they are asked for.
    """
    present = table["kind"].unique().to_pylist()
    several = KINDS if len(present) > 1 else present  # the order of all is costly to know
    kinds = [KINDS[name] for name in several if name in present and name in KINDS] or [TOPICS]
    for column in ("sizes", "measures"):
        at = table.column_names.index(column)
        maps, table = table[column], table.remove_column(at)
        dtype = _INTEGER if column == "sizes" and len(kinds) == 1 else _NUMBER
        for name in reversed(dict.fromkeys(name for kind in kinds for name in getattr(kind, column))):
            table = table.add_column(at, name, pc.map_lookup(maps, name, "last").cast(dtype))
    import pandas as pd  # a quarter of a second, in each worker too

    points = SCHEMA.field("points").type
    return table.to_pandas(types_mapper={points: pd.ArrowDtype(points)}.get)


@cache
def library_versions() -> str:
    """Python's version and those of the solvers and libraries, as JSON with sorted keys.

    A library that is not installed as a package (it came in an archive without its metadata) is left out.
    """
    found = {"python": platform.python_version()}
    for name in _LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            found[name.lower()] = metadata.version(name)
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
