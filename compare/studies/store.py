"""The folder of a study: its plan, its instances, and the rows of its runs, in logs that are merged into Parquet."""

from __future__ import annotations

import fcntl
import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from ...instances.errors import BadInput
from ...instances.files import atomic_write, read_text
from ...instances.kind import Kind
from . import parts, run_log
from .row import SCHEMA, VERSION, spread, table_of
from .task import Task

_FORMAT = f"results/{VERSION}"
_DIGEST = re.compile(r"[0-9a-f]{8,128}")
_PART_ROWS = 1000


@dataclass(frozen=True)
class StoredInstance:
    """An instance in the folder: its digest, and the first size of its kind (|V|)."""

    digest: str
    size: int


@dataclass(frozen=True)
class Plan:
    """A study as planned: its name, the notes for its readers, its text, and the keys of its runs."""

    name: str
    notes: Sequence[str]
    spec: str
    keys: Sequence[str]


class Store:
    """The folder of a study.

    ``study.toml`` is the study as given and ``plan.json`` lists its runs. ``instances/`` has each instance by digest,
    and ``index.json`` by recipe. ``runs/`` has the rows: a log a worker (:mod:`.run_log`), and parts into which logs
    are merged (:mod:`.parts`). ``damaged/`` has what did not match its checksum. A row that occurs twice (in a log and
    its part, after an incomplete merge) counts once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "runs"
        self.instances = folder / "instances"
        self.damaged = folder / "damaged"

    def open_for(self, spec: str) -> None:
        """Create the folder, or check that it is this study's.

        Raises
        ------
        BadInput
            If it holds another study or another version's results, or other files, or cannot be created.
        """
        file = self.folder / "study.toml"
        if file.is_file():
            try:
                same = tomllib.loads(read_text(file)) == tomllib.loads(spec)
            except (tomllib.TOMLDecodeError, RecursionError):
                raise _damaged(file) from None
            if not same:
                raise BadInput(f"{self.folder}: holds another study: choose another folder or remove this one")
            if (self.folder / "plan.json").is_file():
                self.plan()
        elif self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            raise BadInput(f"{self.folder}: holds other files: choose another folder")
        try:
            for folder in (self.runs, self.instances):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{self.folder}: cannot be created ({error.strerror}): choose another folder") from None
        if not file.is_file():
            atomic_write(file, lambda path: path.write_text(spec, encoding="utf-8"))

    @classmethod
    def existing(cls, folder: Path) -> Store:
        """The store of a study in a folder; a folder without results is bad input."""
        if not (folder / "plan.json").is_file():
            raise BadInput(f"{folder}: holds no results: run `overlaybench study SPEC.toml --out {folder}` first")
        store = cls(folder)
        store.plan()
        return store

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Exclude a second study from the folder; the lock ends with the process."""
        try:
            handle = os.open(self.folder / ".lock", os.O_CREAT | os.O_RDWR, 0o644)
        except OSError as error:
            raise BadInput(f"{self.folder}: cannot be written ({error.strerror}): choose another folder") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise BadInput(f"{self.folder}: another study is running there: wait for it or choose another") from None
        finally:
            os.close(handle)

    def is_locked(self) -> bool:
        """Whether a study is running in the folder."""
        file = self.folder / ".lock"
        if not file.is_file():
            return False
        with file.open("rb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def recover(self) -> list[str]:
        """Remove incomplete files of a killed study, move what is damaged to ``damaged/`` and return remarks on it.

        Only for the holder of the lock.
        """
        for folder in (self.folder, self.runs, self.instances):
            for left in folder.glob(".*.*"):
                left.unlink(missing_ok=True)
        remarks = []
        for part in self._parts():
            if not parts.is_intact(part):
                self._move_to_damaged(part)
                remarks.append(f"{part.name} was damaged and is in damaged/ now: its runs are repeated")
        for file in self.instances.glob("[!.]*"):
            if file.stat().st_size == 0:
                self._move_to_damaged(file)
                remarks.append(f"{file.name} was empty and is in damaged/ now")
        return remarks + self.merge()

    def merge(self) -> list[str]:
        """Merge the logs that are no longer written into parts; return remarks on the lines that were damaged.

        Only for the holder of the lock. A kill at any time loses nothing: a log is removed after its part is on the
        disk.
        """
        remarks: list[str] = []
        ready: list[tuple[Path, list[dict[str, Any]]]] = []
        waiting = 0
        for log in self.logs():
            with run_log.unwritten(log) as closed:
                if not closed:
                    continue
                bad: list[bytes] = []
                rows = list(run_log.read_log(log, bad))
                if bad:
                    self._keep_damaged(log.name, bad)
                    remarks.append(f"{log.name}: {len(bad)} damaged lines are in damaged/ now: their runs are repeated")
                ready.append((log, rows))
                waiting += len(rows)
            if waiting >= _PART_ROWS:
                self._write_merged(ready)
                ready, waiting = [], 0
        self._write_merged(ready)
        return remarks

    def _write_merged(self, logs: list[tuple[Path, list[dict[str, Any]]]]) -> None:
        merged = self._keys_in_parts()
        rows = {row["key"]: row for _, rows in logs for row in reversed(rows) if row["key"] not in merged}
        if rows:
            parts.write_part(table_of([rows[key] for key in sorted(rows)]), self.runs)
        for log, _ in logs:
            log.unlink(missing_ok=True)

    def _move_to_damaged(self, file: Path) -> None:
        self.damaged.mkdir(exist_ok=True)
        file.replace(self.damaged / file.name)

    def _keep_damaged(self, name: str, lines: list[bytes]) -> None:
        self.damaged.mkdir(exist_ok=True)
        with (self.damaged / name).open("ab") as kept:
            kept.writelines(lines)

    def write_plan(self, plan: Plan) -> None:
        """Replace the plan."""
        text = json.dumps({"format": _FORMAT, **asdict(plan)}, ensure_ascii=False, indent=1)
        atomic_write(self.folder / "plan.json", lambda file: file.write_text(text, encoding="utf-8"))

    def plan(self) -> Plan:
        """The study's plan; BadInput if another version of the program wrote it, or it is damaged."""
        file = self.folder / "plan.json"
        fields = _json_object(file)
        version = fields.pop("format", "results/1")
        if version != _FORMAT:
            raise BadInput(
                f"{self.folder}: holds {version!r}, and this version reads {_FORMAT!r}: run the study again in another "
                "folder, or read this one with the version that wrote it"
            )
        try:
            return Plan(**fields)
        except TypeError:
            raise _damaged(file) from None

    def index(self) -> dict[str, StoredInstance]:
        """The instances stored so far, by recipe (JSON)."""
        file = self.instances / "index.json"
        if not file.is_file():
            return {}
        try:
            return {recipe: StoredInstance(**fields) for recipe, fields in _json_object(file).items()}
        except TypeError:
            raise _damaged(file) from None

    def write_index(self, index: Mapping[str, StoredInstance]) -> None:
        """Replace the index of recipes."""
        text = json.dumps({recipe: asdict(one) for recipe, one in index.items()}, ensure_ascii=False, indent=1)
        atomic_write(self.instances / "index.json", lambda file: file.write_text(text, encoding="utf-8"))

    def add_instance(self, instance: Any, kind: Kind[Any, Any]) -> None:
        """Store an instance under its digest."""
        if not self.has_instance(instance.digest, kind):
            kind.write(instance, self._instance_file(instance.digest, kind))

    def has_instance(self, digest: str, kind: Kind[Any, Any]) -> bool:
        """Whether a file for the instance is there."""
        return self._instance_file(digest, kind).is_file()

    def instance(self, digest: str, kind: Kind[Any, Any]) -> Any:
        """An instance by digest; a file that does not hold it is bad input."""
        file = self._instance_file(digest, kind)
        instance = kind.read(file, {}).instance
        if instance.digest != digest:
            raise BadInput(f"{file}: does not hold the instance of its name: remove it and run the study again")
        return instance

    def _instance_file(self, digest: str, kind: Kind[Any, Any]) -> Path:
        if not _DIGEST.fullmatch(digest):
            raise BadInput(f"{self.folder}: '{digest}' is no digest of an instance: the folder was modified")
        return self.instances / f"{digest}{kind.ending}"

    def done(self) -> set[str]:
        """The keys of the runs that are stored."""
        in_logs = {row["key"] for row in self._logged()}  # first: a log that is merged meanwhile is in the parts then
        return in_logs | self._keys_in_parts()

    def keyed(self, tasks: Iterable[Task]) -> dict[str, Task]:
        """Tasks by the key of their row: where an equal earlier version of the code has stored it, that one's key."""
        done = self.done()
        return {next((key for key in task.earlier_keys if key in done), task.key): task for task in tasks}

    def table(self, keys: Iterable[str] | None = None, columns: Sequence[str] = SCHEMA.names) -> pa.Table:
        """The stored rows (of the given keys and columns, if given), each once, in the order of their keys.

        Raises
        ------
        BadInput
            If a part is damaged.
        """
        chosen = list(dict.fromkeys(["key", "started", *columns]))
        logged = table_of(list(self._logged())).select(chosen)
        tables = [logged, *(parts.read_part(part, chosen) for part in self._parts())]
        stored = pa.concat_tables(tables).sort_by([("key", "ascending"), ("started", "ascending")])
        wanted = None if keys is None else set(keys)
        first: dict[str, int] = {}
        for index, key in enumerate(stored["key"].to_pylist()):
            if wanted is None or key in wanted:
                first.setdefault(key, index)
        return stored.take(pa.array(list(first.values()), pa.int64())).select(list(columns))

    def rows(self, keys: Iterable[str] | None = None) -> pd.DataFrame:
        """The stored rows (of the given keys, if given), with a column for every size and measure: see `spread`."""
        return spread(self.table(keys).to_pandas())

    def logs(self) -> list[Path]:
        """The logs that are not merged yet."""
        return sorted(self.runs.glob(f"[!.]*{run_log.ENDING}"))

    def _logged(self) -> Iterator[dict[str, Any]]:
        for log in self.logs():
            try:
                yield from run_log.read_log(log)
            except FileNotFoundError:  # merged meanwhile
                continue

    def _keys_in_parts(self) -> set[str]:
        return {key for part in self._parts() for key in parts.read_part(part, ["key"])["key"].to_pylist()}

    def _parts(self) -> list[Path]:
        return sorted(self.runs.glob(f"[!.]*{parts.ENDING}"))


def _json_object(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(read_text(file))
    except (json.JSONDecodeError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise _damaged(file)
    return data


def _damaged(file: Path) -> BadInput:
    return BadInput(f"{file}: is damaged: remove it and run the study again, which restores it")
