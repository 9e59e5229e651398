"""The results of a study: a folder of Parquet files, one row a run, each written whole or not at all."""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from compare.task import Task
from instances import KINDS, BadInput, Kind, Result
from instances.files import read_text, write_whole
from instances.topics import TOPICS

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
        ("measures", pa.map_(pa.string(), pa.float64())),
        ("counters", pa.string()),
        ("answer", pa.list_(pa.int32())),
        ("peak_memory", pa.float64()),
        ("code_version", pa.string()),
    ]
)


@dataclass(frozen=True)
class Made:
    """An instance that was made: its digest, and the first size of its kind (|V|)."""

    digest: str
    size: int


@dataclass(frozen=True)
class Plan:
    """What a study came to: its name, the notes for its readers, its text, and the keys of its runs."""

    name: str
    notes: Sequence[str]
    spec: str
    keys: Sequence[str]


class Store:
    """The folder of a study.

    ``study.toml`` is the study as given, ``instances/`` holds each instance by digest and ``index.json``, which
    says which recipe made it; ``runs/`` holds a row a file, named by the key of the task; ``plan.json`` says which
    rows are the study's.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "runs"
        self.instances = folder / "instances"

    def open_for(self, spec: str) -> None:
        """Make the folder, or check that it holds this very study.

        Raises
        ------
        BadInput
            If it holds another study, or other files, or cannot be made.
        """
        held = self.folder / "study.toml"
        if held.is_file():
            if tomllib.loads(read_text(held)) != tomllib.loads(spec):
                raise BadInput(f"{self.folder}: holds another study: choose another folder or remove this one")
        elif self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            raise BadInput(f"{self.folder}: holds other files: choose another folder")
        try:
            for folder in (self.runs, self.instances):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{self.folder}: cannot be made ({error.strerror}): choose another folder") from None
        if not held.is_file():
            write_whole(held, lambda file: file.write_text(spec, encoding="utf-8"))

    @classmethod
    def existing(cls, folder: Path) -> Store:
        """The store of a study that was run; a folder without one is bad input."""
        if not (folder / "plan.json").is_file():
            raise BadInput(f"{folder}: holds no results: run `overlaybench study SPEC.toml --out {folder}` first")
        return cls(folder)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep a second study out of the folder; the lock goes with the process, however it ends."""
        handle = os.open(self.folder / ".lock", os.O_CREAT | os.O_RDWR, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise BadInput(f"{self.folder}: another study is running there: wait for it or choose another") from None
        finally:
            os.close(handle)

    def sweep(self) -> None:
        """Remove what a killed study left half-written."""
        for folder in (self.folder, self.runs, self.instances):
            for left in folder.glob(".*.*"):
                left.unlink(missing_ok=True)

    def write_plan(self, plan: Plan) -> None:
        """Keep what the study's rows are for."""
        text = json.dumps(asdict(plan), ensure_ascii=False, indent=1)
        write_whole(self.folder / "plan.json", lambda file: file.write_text(text, encoding="utf-8"))

    def plan(self) -> Plan:
        """What the study's rows are for."""
        return Plan(**json.loads(read_text(self.folder / "plan.json")))

    def index(self) -> dict[str, Made]:
        """The instances made so far, by recipe (JSON)."""
        file = self.instances / "index.json"
        found = json.loads(read_text(file)) if file.is_file() else {}
        return {recipe: Made(**made) for recipe, made in found.items()}

    def write_index(self, index: Mapping[str, Made]) -> None:
        """Replace the index of recipes."""
        text = json.dumps({recipe: asdict(made) for recipe, made in index.items()}, ensure_ascii=False, indent=1)
        write_whole(self.instances / "index.json", lambda file: file.write_text(text, encoding="utf-8"))

    def add_instance(self, instance: Any, kind: Kind[Any, Any]) -> None:
        """Keep an instance under its digest."""
        if not (file := self._instance_file(instance.digest, kind)).is_file():
            kind.write(instance, file)

    def instance(self, digest: str, kind: Kind[Any, Any]) -> Any:
        """An instance by digest; a file that does not hold it is bad input."""
        file = self._instance_file(digest, kind)
        instance = kind.read(file, {}).instance
        if instance.digest != digest:
            raise BadInput(f"{file}: does not hold the instance it is named for: remove it and run the study again")
        return instance

    def _instance_file(self, digest: str, kind: Kind[Any, Any]) -> Path:
        return self.instances / f"{digest}{kind.ending}"

    def done(self) -> set[str]:
        """The keys of the runs that are stored."""
        return {file.stem for file in self.runs.glob("*.parquet")}

    def __contains__(self, key: str) -> bool:
        return (self.runs / f"{key}.parquet").is_file()

    def add(self, row: dict[str, Any]) -> None:
        """Keep the row of a finished run."""
        table = pa.Table.from_pylist([row], SCHEMA)
        write_whole(self.runs / f"{row['key']}.parquet", lambda file: pq.write_table(table, file))

    def rows(self, keys: Iterable[str] | None = None) -> pd.DataFrame:
        """The stored rows, of the given keys only, if given.

        A column a field of `SCHEMA`, but that every size and measure of the kinds that occur is a column of its own.
        """
        names = sorted(self.done() if keys is None else self.done() & set(keys))
        tables = [pq.read_table(self.runs / f"{name}.parquet", schema=SCHEMA) for name in names]
        return spread(pa.concat_tables([SCHEMA.empty_table(), *tables]).to_pandas())


def spread(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with a column for every size and measure of their kinds in place of the two maps.

    Sizes are whole numbers where all rows are of one kind; NaN stands where a row's kind does not have them.
    """
    kinds = [kind for kind in KINDS.values() if kind.name in set(rows["kind"])] or [TOPICS]
    names = {"sizes": _distinct(kind.sizes for kind in kinds), "measures": _distinct(kind.measures for kind in kinds)}
    for column, wanted in names.items():
        maps = [dict(pairs) for pairs in rows[column]]
        whole = column == "sizes" and len(kinds) == 1
        place = rows.columns.tolist().index(column)
        for offset, name in enumerate(wanted):
            values = [each.get(name) for each in maps]
            rows.insert(place + offset, name, pd.Series(values, rows.index, "int64" if whole else "float64"))
    return rows.drop(columns=list(names))


def _distinct(tuples: Iterable[tuple[str, ...]]) -> list[str]:
    return list(dict.fromkeys(itertools.chain.from_iterable(tuples)))


def row(
    task: Task, instance: Any, kind: Kind[Any, Any], result: Result[Any], *, exact: bool, peak: float
) -> dict[str, Any]:
    """What is kept of a run. `peak` is the largest memory seen, in bytes."""
    return {
        "key": task.key,
        "instance": task.instance,
        "recipe": task.recipe,
        "family": task.family,
        "kind": kind.name,
        "sizes": list(kind.size(instance).items()),
        "problem": task.problem,
        "method": task.method,
        "variant": task.variant,
        "options": task.options,
        "exact": exact,
        "seed": task.seed,
        "time_limit": task.time_limit,
        "memory_limit": task.memory_limit,
        "status": str(result.status),
        "reason": result.reason,
        "value": result.value,
        "lower_bound": result.lower_bound,
        "seconds": result.seconds,
        "measures": list(result.measures.items()),
        "counters": json.dumps(dict(result.counters)),
        "answer": None if result.answer is None else kind.pack(result.answer),
        "peak_memory": peak,
        "code_version": task.code_version,
    }
