"""The folder of a study: its plan, its instances, and the rows of its runs, in logs that are merged into Parquet."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import re
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write, make_folder, read_text
from ...instances.contract.kind import AS_STORED, Kind
from .row import FORMAT, SCHEMA, from_line, spread, table_of, to_line
from .task import Task

LOG, PART = ".log", ".parquet"
"""The endings of logs and of the parts into which they are merged."""

_DIGEST = re.compile(r"[0-9a-f]{8,128}")
_LABELS = pa.schema([("key", pa.string()), ("family", pa.string()), ("recipe", pa.string())])
_PART_ROWS = 1000
_LOG_ROWS, _LOG_BYTES = 1000, 2**24
_SYNC_EVERY = 1.0
_LONGEST_LINE = 2**30
_AGAIN = "run the study again, which repeats its runs"

Decoded = TypeVar("Decoded")


class StoredInstance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An instance in the folder: its digest, and the first size of its kind (|V|)."""

    digest: str
    size: int


class Plan(msgspec.Struct, frozen=True):
    """A study as planned: its name, the notes for its readers, its text, and the keys of its runs."""

    name: str
    notes: Sequence[str]
    spec: str
    keys: Sequence[str]
    format: str = FORMAT


class Store:
    """The folder of a study.

    docs/results.md lists its files. ``runs/`` has the rows, also those of earlier studies and code versions: a log of
    each worker (:class:`RunLog`), and parts into which logs are merged. A row that stands in a log and in its part,
    after an incomplete merge, counts once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "runs"
        self.instances = folder / "instances"
        self.history = folder / "history"
        self.proofs = folder / "proofs"
        self.damaged = folder / "damaged"
        self._plan = folder / "plan.json"
        self._labels = folder / "plan.parquet"

    def open_for(self, spec: str) -> None:
        """Create the folder for a study with this text, or check that it is one of results of this version."""
        file, folders = self.folder / "study.toml", (self.runs, self.instances, self.history, self.proofs)
        if file.is_file() and self.has_plan:
            self.plan()
        elif not file.is_file() and self.folder.exists():

            def is_left_by_a_kill(path: Path) -> bool:
                empty = path in folders and path.is_dir() and not any(path.iterdir())
                return empty or path.name.startswith(f".{file.name}.")

            if self.folder.is_file() or not all(map(is_left_by_a_kill, self.folder.iterdir())):
                raise BadInput(f"{self.folder}: holds other files: choose another folder")
        for folder in folders:
            make_folder(folder)
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
        return self._plan.is_file()

    @classmethod
    def existing(cls, folder: Path) -> Store:
        """The store of a study in a folder; a folder without results is bad input."""
        store = cls(folder)
        if not store.has_plan:
            raise BadInput(f"{folder}: holds no results: run `overlaybench study SPEC.toml --out {folder}` first")
        store.plan()
        return store

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Exclude a second study from the folder; the lock ends with the process."""
        file = self.folder / ".lock"
        try:
            file.touch()
        except OSError as error:
            raise BadInput(f"{self.folder}: cannot be written ({error.strerror}): choose another folder") from None
        with _locked_if_free(file) as free:
            if not free:
                raise BadInput(f"{self.folder}: another study is running there: wait for it or choose another")
            yield

    def is_locked(self) -> bool:
        """Whether a study is running in the folder."""
        file = self.folder / ".lock"
        if not file.is_file():
            return False
        with _locked_if_free(file, fcntl.LOCK_SH) as free:
            return not free

    def recover(self) -> list[str]:
        """Remove incomplete files of a killed study, move what is damaged to ``damaged/`` and return remarks on it.

        Only for the holder of the lock.
        """
        for folder in (self.folder, self.runs, self.instances, self.history, self.proofs):
            for left in folder.glob(".*.*"):
                left.unlink(missing_ok=True)
        damaged = [part for part in self.parts() if checksum(part) != part.stem]
        damaged += [file for file in self.instances.glob("[!.]*") if not file.stat().st_size]
        for file in damaged:
            self.damaged.mkdir(exist_ok=True)
            file.replace(self.damaged / file.name)
        return [
            f"{file.name} was damaged and is in damaged/ now: its runs are repeated" for file in damaged
        ] + self.merge()

    def merge(self) -> list[str]:
        """Merge the logs that are no longer written into parts; return remarks on the lines that were damaged.

        Only for the holder of the lock. A kill loses nothing: a log is removed after its part is on the disk.
        """
        remarks: list[str] = []
        logs: list[Path] = []
        rows: dict[str, dict[str, Any]] = {}
        merged = self._keys_in_parts()
        waiting = self.logs()
        for log in waiting:
            with _locked_if_free(log) as closed:
                if closed:
                    bad: list[bytes] = []
                    for row in read_log(log, bad):
                        rows.setdefault(row["key"], row)
                    logs.append(log)
                    if bad:
                        self.damaged.mkdir(exist_ok=True)
                        with (self.damaged / log.name).open("ab") as kept:
                            kept.writelines(bad)
                        lines = f"{len(bad)} damaged lines are in damaged/ now"
                        remarks.append(f"{log.name}: {lines}: their runs are repeated")
            if len(rows) >= _PART_ROWS or log == waiting[-1]:
                if new := sorted(rows.keys() - merged):
                    write_part(table_of([rows[key] for key in new]), self.runs)
                for done in logs:
                    done.unlink(missing_ok=True)
                merged |= rows.keys()
                logs, rows = [], {}
        return remarks

    def write_plan(self, plan: Plan, tasks: Mapping[str, Task] | None = None) -> None:
        """Replace the plan and the study's text, which is kept in the history as well; a kill leaves either plan.

        Only for the holder of the lock. Its rows have the families and recipes of `tasks` from now on.
        """
        self.history.mkdir(exist_ok=True)
        kept = sorted(self.history.glob("[0-9]*.toml"))
        if not kept or read_text(kept[-1]) != plan.spec:
            atomic_write(self.history / f"{len(kept) + 1:04}.toml", plan.spec)
        atomic_write(self.folder / "study.toml", plan.spec)
        given = tasks or {}
        labels = [[getattr(given.get(key), name, None) for key in plan.keys] for name in ("family", "recipe")]
        table = pa.table([list(plan.keys), *labels], schema=_LABELS)
        atomic_write(self._labels, lambda file: pq.write_table(table, file, compression="zstd"))
        _write_json(self._plan, plan)

    def plan(self) -> Plan:
        """The study's plan; BadInput if another version of the program wrote it, or it is damaged."""
        plan = _read_json(self._plan, Plan)
        if plan.format != FORMAT:
            raise BadInput(
                f"{self.folder}: holds '{plan.format}', and this version reads '{FORMAT}': run the study again in "
                "another folder, or read this one with the version that wrote it"
            )
        return plan

    def index(self) -> dict[str, StoredInstance]:
        """The instances stored so far, by recipe (JSON)."""
        file = self.instances / "index.json"
        return _read_json(file, dict[str, StoredInstance]) if file.is_file() else {}

    def write_index(self, index: Mapping[str, StoredInstance]) -> None:
        """Replace the index of recipes."""
        _write_json(self.instances / "index.json", index)

    def add_instance(self, instance: Any, kind: Kind[Any, Any]) -> None:
        """Store an instance under its digest."""
        if not self.has_instance(instance.digest, kind):
            make_folder(self.instances)
            kind.write(instance, self._instance_file(instance.digest, kind))

    def has_instance(self, digest: str, kind: Kind[Any, Any]) -> bool:
        """Whether a file for the instance is there."""
        return self._instance_file(digest, kind).is_file()

    def instance(self, digest: str, kind: Kind[Any, Any]) -> Any:
        """An instance by digest; a file that does not hold it is bad input."""
        file = self._instance_file(digest, kind)
        try:
            instance = kind.read(file, AS_STORED).instance
        except BadInput as error:
            raise _damaged(file, error) from None
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
        """The stored rows (of the given keys and columns, if given), each once, in the order of their keys."""
        chosen = list(dict.fromkeys(["key", "started", *columns]))
        logged = table_of(list(self._logged())).select(chosen)
        tables = [logged, *(read_part(part, chosen) for part in self.parts())]
        stored = pa.concat_tables(tables).sort_by([("key", "ascending"), ("started", "ascending")])
        of_rows = stored["key"].to_pandas()
        kept = ~of_rows.duplicated() & (keys is None or of_rows.isin(list(keys or ())))
        return stored.filter(pa.array(kept, pa.bool_())).select(list(columns))

    def rows(self, keys: Iterable[str] | None = None) -> pd.DataFrame:
        """The stored rows (of the given keys, if given), with typed columns: see `spread`.

        Runs of the present study have the families and recipes that it gives them, which may have changed since the
        run.
        """
        rows, labels = self.table(keys).to_pandas(), self.labels().to_pandas()
        labels = labels.drop_duplicates("key").set_index("key")
        for name in ("family", "recipe"):
            rows[name] = rows["key"].map(labels[name]).fillna(rows[name])
        try:
            return spread(rows)
        except (ValueError, TypeError) as error:
            raise BadInput(f"{self.folder}: a row holds no JSON ({error}): see `overlaybench verify`") from None

    def labels(self) -> pa.Table:
        """The key, family and recipe of each run of the plan, family and recipe null where the study gives none."""
        if not self.has_plan:
            return _LABELS.empty_table()
        try:
            labels = pq.read_table(self._labels, partitioning=None).select(_LABELS.names).cast(_LABELS)
            labels.validate(full=True)
        except (pa.ArrowException, KeyError, ValueError, OSError) as error:
            raise _damaged(self._labels, error) from None
        return labels

    def logs(self) -> list[Path]:
        """The logs that are not merged yet."""
        return sorted(self.runs.glob(f"[!.]*{LOG}"))

    def parts(self) -> list[Path]:
        """The files of merged rows."""
        return sorted(self.runs.glob(f"[!.]*{PART}"))

    def _logged(self) -> Iterator[dict[str, Any]]:
        for log in self.logs():
            with contextlib.suppress(FileNotFoundError):  # merged meanwhile
                yield from read_log(log)

    def _keys_in_parts(self) -> set[str]:
        return {key for part in self.parts() for key in read_part(part, ["key"])["key"].to_pylist()}


def _read_json(file: Path, kind: type[Decoded]) -> Decoded:
    try:
        return msgspec.json.decode(read_text(file), type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _damaged(file, error) from None


def _write_json(file: Path, data: object) -> None:
    atomic_write(file, msgspec.json.format(msgspec.json.encode(data), indent=1))


def _damaged(file: Path, error: Exception) -> BadInput:
    reason = str(error).removeprefix(f"{file}: ").partition("\n")[0]
    return BadInput(f"{file}: is damaged: remove it and run the study again, which restores it ({reason})")


class RunLog:
    """Appends rows to a file of its own, a line a row with its checksum, and starts another when that one is long.

    The operating system has a line when :meth:`add` returns, so that a kill of any process loses nothing. It is on the
    disk a second later at most: a power cut may cost a worker's last second. A log that is being written is locked
    against merging.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._handle = -1
        self._rows = self._size = 0
        self._synced = 0.0

    def add(self, row: dict[str, Any]) -> None:
        """Append a row; BadInput if it cannot be written completely, and then no part of it is left."""
        line = to_line(row)
        try:
            if self._handle < 0:
                self._open()
            self._append(line)
        except OSError as error:
            raise BadInput(
                f"{self._folder}: cannot be written ({error.strerror}): free some space and resume"
            ) from None
        self._rows += 1
        if self._rows >= _LOG_ROWS or self._size >= _LOG_BYTES:
            self.close()

    def close(self) -> None:
        """Sync the rows to the disk and unlock the log; the next row starts another file."""
        if self._handle >= 0:
            handle, self._handle = self._handle, -1
            try:
                os.fdatasync(handle)
            finally:
                os.close(handle)

    def _open(self) -> None:
        name = f"{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}{LOG}"
        self._handle = os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        self._rows = self._size = 0

    def _append(self, line: bytes) -> None:
        written = 0
        try:
            while written < len(line):
                written += os.write(self._handle, line[written:])
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, self._size)
            raise
        self._size += written
        if time.monotonic() - self._synced >= _SYNC_EVERY:
            os.fdatasync(self._handle)
            self._synced = time.monotonic()


def read_log(file: Path, damaged: list[bytes] | None = None) -> Iterator[dict[str, Any]]:
    """The complete rows of a log; other lines are added to `damaged`, if given."""
    for line in lines_from(file, 0):
        try:
            yield from_line(line)
        except ValueError:
            if damaged is not None:
                damaged.append(line)


def lines_from(file: Path, offset: int) -> Iterator[bytes]:
    """The lines of a log from a byte offset; the last may be incomplete."""
    with _opened(file) as log:
        log.seek(offset)
        while line := log.readline(_LONGEST_LINE):
            yield line


def _opened(file: Path) -> BufferedReader:
    """A file of rows; FileNotFoundError if it was merged meanwhile, BadInput if it is there and cannot be read."""
    try:
        return file.open("rb")
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not file.is_symlink():
            raise
        raise BadInput(f"{file}: cannot be read ({error.strerror}): remove it and {_AGAIN}") from None


@contextmanager
def _locked_if_free(file: Path, how: int = fcntl.LOCK_EX) -> Iterator[bool]:
    """Whether no other process holds the lock of a file; if so, none does inside the context."""
    with _opened(file) as opened:
        try:
            fcntl.flock(opened, how | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def write_part(table: pa.Table, folder: Path) -> Path:
    """Write a table of rows to a file named by its checksum, atomically, and sync it to the disk."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    data = sink.getvalue().to_pybytes()
    file = folder / f"{hashlib.sha256(data).hexdigest()[:32]}{PART}"
    atomic_write(file, data)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)  # the folder's list of files
    finally:
        os.close(handle)
    return file


def checksum(file: Path) -> str:
    """32 hexadecimal digits of the SHA-256 of a file's bytes: the name of an intact part."""
    with _opened(file) as part:
        return hashlib.file_digest(part, "sha256").hexdigest()[:32]


def read_part(file: Path, columns: Sequence[str] = SCHEMA.names) -> pa.Table:
    """The rows of a part; BadInput if its bytes are not those that were written."""
    if checksum(file) != file.stem:
        raise BadInput(f"{file}: is damaged (its checksum differs): {_AGAIN}")
    wanted = pa.schema([SCHEMA.field(name) for name in columns])
    try:
        table = pq.read_table(file, columns=wanted.names, partitioning=None).select(wanted.names).cast(wanted)
        table.validate(full=True)
        return table
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:  # its name was forged
        reason = str(error).partition("\n")[0]
        raise BadInput(f"{file}: holds no results ({reason}): remove it and {_AGAIN}") from None
