"""The folder of a study: its plan, its instances, and the rows of its runs, in logs that are merged into Parquet."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write, read_text
from ...instances.contract.kind import Kind
from . import parts, run_log
from .row import READ, SCHEMA, VERSION, spread, table_of
from .task import Task

_FORMAT = f"results/{VERSION}"
_DIGEST = re.compile(r"[0-9a-f]{8,128}")
_PART_ROWS = 1000
_LABELS = pa.schema([("key", pa.string()), ("family", pa.string()), ("recipe", pa.string())])


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

    ``study.toml`` is the present study as given, ``plan.json`` lists its runs, and ``plan.parquet`` their keys with
    family and recipe, for other programs to join with. ``history/`` has every study that was run there, in order.
    ``instances/`` has each instance by digest, and ``index.json`` by recipe. ``runs/`` has the rows, also those of
    earlier studies and code versions: a log a worker (:mod:`.run_log`), and parts into which logs are merged
    (:mod:`.parts`). ``proofs/`` has the proofs that runs wrote, and ``damaged/`` what did not match its checksum. A row
    that occurs twice (in a log and its part, after an incomplete merge) counts once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "runs"
        self.instances = folder / "instances"
        self.history = folder / "history"
        self.proofs = folder / "proofs"
        self.damaged = folder / "damaged"

    def open_for(self, spec: str) -> None:
        """Create the folder for a study with this text, or check that it is one of results.

        Raises
        ------
        BadInput
            If it holds another version's results, or other files, or cannot be created.
        """
        file = self.folder / "study.toml"
        if file.is_file():
            if self.has_plan:
                self.plan()
        elif self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            raise BadInput(f"{self.folder}: holds other files: choose another folder")
        try:
            for folder in (self.runs, self.instances, self.history, self.proofs):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{self.folder}: cannot be created ({error.strerror}): choose another folder") from None
        if not file.is_file():
            atomic_write(file, spec)

    def check_related(self, name: str, recipes: Iterable[str]) -> None:
        """Refuse a study that shares neither its name nor a recipe (JSON) with the folder's present one."""
        if self.has_plan:
            present = self.plan().name
            if present != name and self.index().keys().isdisjoint(recipes):
                raise BadInput(
                    f"{self.folder}: holds the study '{present}', which shares no instance with '{name}': choose "
                    "another folder, or add --grow to keep both in this one"
                )

    @property
    def has_plan(self) -> bool:
        """Whether the folder holds a study that was planned."""
        return (self.folder / "plan.json").is_file()

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
        for folder in (self.folder, self.runs, self.instances, self.history, self.proofs):
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

    def write_plan(self, plan: Plan, tasks: Mapping[str, Task] | None = None) -> None:
        """Replace the plan and the study's text, which is kept in the history as well.

        Only for the holder of the lock. A kill at any time leaves either plan.

        Parameters
        ----------
        tasks : mapping, optional
            The tasks of `plan` by key, whose families and recipes are those of its rows from now on.
        """
        self._keep_in_history(plan.spec)
        atomic_write(self.folder / "study.toml", plan.spec)
        labels: list[tuple[str, str | None, str | None]] = [(key, None, None) for key in plan.keys]
        if tasks is not None:
            labels = [(key, task.family, task.recipe) for key, task in tasks.items()]
        table = pa.table([list(column) for column in zip(*labels, strict=True)] or [[], [], []], schema=_LABELS)
        atomic_write(self.folder / "plan.parquet", lambda file: pq.write_table(table, file, compression="zstd"))
        text = json.dumps({"format": _FORMAT, **asdict(plan)}, ensure_ascii=False, indent=1)
        atomic_write(self.folder / "plan.json", text)

    def _keep_in_history(self, spec: str) -> None:
        self.history.mkdir(exist_ok=True)
        kept = sorted(self.history.glob("[0-9]*.toml"))
        if not kept and self.has_plan:  # of a version that kept no history
            kept = [self.history / "0001.toml"]
            atomic_write(kept[0], self.plan().spec)
        if not kept or read_text(kept[-1]) != spec:
            atomic_write(self.history / f"{len(kept) + 1:04}.toml", spec)

    def plan(self) -> Plan:
        """The study's plan; BadInput if another version of the program wrote it, or it is damaged."""
        file = self.folder / "plan.json"
        fields = _json_object(file)
        version = fields.pop("format", "results/1")
        if version not in READ:
            raise BadInput(
                f"{self.folder}: holds {version!r}, and this version reads {', '.join(map(repr, READ))}: run the study "
                "again in another folder, or read this one with the version that wrote it"
            )
        try:
            plan = Plan(**fields)
        except TypeError:
            raise _damaged(file) from None
        texts = (plan.name, plan.spec, *_listed(plan.notes, file), *_listed(plan.keys, file))
        if not all(isinstance(text, str) for text in texts):
            raise _damaged(file)
        return plan

    def index(self) -> dict[str, StoredInstance]:
        """The instances stored so far, by recipe (JSON)."""
        file = self.instances / "index.json"
        if not file.is_file():
            return {}
        try:
            index = {recipe: StoredInstance(**fields) for recipe, fields in _json_object(file).items()}
        except TypeError:
            raise _damaged(file) from None
        if not all(isinstance(one.digest, str) and isinstance(one.size, int) for one in index.values()):
            raise _damaged(file)
        return index

    def write_index(self, index: Mapping[str, StoredInstance]) -> None:
        """Replace the index of recipes."""
        text = json.dumps({recipe: asdict(one) for recipe, one in index.items()}, ensure_ascii=False, indent=1)
        atomic_write(self.instances / "index.json", text)

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
        """Tasks by the key of their row: their own, or that of an equal run that is stored."""
        done = self.done()
        return {next((key for key in task.equal_keys if key in done), task.key): task for task in tasks}

    def proof(self, key: str) -> Path:
        """The file of a run's proof, if it has one."""
        return self.proofs / f"{key}.proof.gz"

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
        """The stored rows (of the given keys, if given), with a column for every size and measure: see `spread`.

        Runs of the present study have the families and recipes that it gives them, which may have changed since the
        run.
        """
        rows, labels = self.table(keys).to_pandas(), self._labels()
        for name in ("family", "recipe"):
            rows[name] = rows["key"].map(labels[name]).fillna(rows[name])
        return spread(rows)

    def _labels(self) -> pd.DataFrame:
        file = self.folder / "plan.parquet"
        if not file.is_file():  # of a version without it
            return _LABELS.empty_table().to_pandas().set_index("key")
        try:
            labels = pq.read_table(file, partitioning=None).select(_LABELS.names).cast(_LABELS)
            labels.validate(full=True)
        except (pa.ArrowException, KeyError, ValueError, OSError):
            raise _damaged(file) from None
        return labels.to_pandas().drop_duplicates("key").set_index("key")

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


def _listed(value: object, file: Path) -> list[Any]:
    if not isinstance(value, list):
        raise _damaged(file)
    return value


def _damaged(file: Path) -> BadInput:
    return BadInput(f"{file}: is damaged: remove it and run the study again, which restores it")
