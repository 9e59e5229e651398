"""The folder of a study: its plan, its instances, and the rows of its runs, which the driver alone writes."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import struct
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write, make_folder, read_text
from ..catalogue import kind_named
from .isolation import memory_bounded
from .row import FORMAT, SCHEMA, of_bytes, spread
from .task import FileKey, Recipe, instance_of
from .toml_tables import located

if TYPE_CHECKING:
    import pandas as pd

JOURNAL, PART = "rows.journal", ".parquet"
"""The file of rows that are not in a part yet, and the ending of parts."""

_DIGEST = re.compile(r"[0-9a-f]{8,128}")
_LABELS = pa.schema([("key", pa.string()), ("family", pa.string()), ("recipe", pa.string())])
INDEX = pa.schema([("recipe", pa.string()), ("instance", pa.string()), ("size", pa.int64()), ("source", pa.string())])
"""Of an index: a recipe (JSON), the digest and the first size (|V|) of its instance, and its source.

The source is the digest of the instance in the file that the recipe names, whose content is in the folder, or "".
"""

_PLAN = b"overlaybench"
_PART_ROWS, _PART_BYTES = 20_000, 2**26
_SYNC_EVERY = 1.0
_SOUGHT = 250_000
_FRAME = struct.Struct("<8sQ32s")
_MAGIC = b"\xffrows/4\n"
_AGAIN = "run the study again, which repeats its runs"


def index_of(*columns: Sequence[Any]) -> pa.Table:
    """An index of instances: their recipes, digests, sizes and sources (`INDEX`)."""
    return pa.table(list(columns), schema=INDEX)


def positions(index: pa.Table, recipes: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """The row of an index that each recipe has, −1 where it has none."""
    rows = np.full(len(recipes), -1, np.int64)
    for begin in range(0, len(index), _SOUGHT):  # what Arrow holds of all texts would be twice their size
        found = pc.index_in(recipes, value_set=index["recipe"].slice(begin, _SOUGHT))
        new = np.asarray(pc.fill_null(found, -1)).astype(np.int64)
        rows = np.where((rows < 0) & (new >= 0), new + begin, rows)
    return rows


class Plan(msgspec.Struct, frozen=True):
    """A study as planned: its name, the notes for its readers, and its text.

    `limits` are the pairs of seconds and MiB under which runs were repeated (``--again``) in this folder.
    """

    name: str
    notes: Sequence[str]
    spec: str
    limits: Sequence[tuple[float, int]] = ()
    format: str = FORMAT


class Store:
    """The folder of a study; docs/results.md lists its files.

    ``runs/`` has the rows, also those of earlier studies and code versions: parts, and a journal of those that came
    since the last part. A row that stands in both, after a kill between the two, counts once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "runs"
        self.instances = folder / "instances"
        self.history = folder / "history"
        self.proofs = folder / "proofs"
        self.damaged = folder / "damaged"
        self.journal = self.runs / JOURNAL
        self._plan = folder / "plan.parquet"
        self._index = folder / "instances.parquet"

    def open_for(self, spec: str) -> None:
        """Create the folder for a study with this text, or check that it is one of results of this version."""
        file, folders = self.folder / "study.toml", (self.runs, self.history)
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

    def check_related(self, name: str, recipes: pa.ChunkedArray) -> None:
        """Refuse a study that shares neither its name nor a recipe (JSON) with the folder's present one."""
        if self.has_plan:
            present = self.plan().name
            if present != name and (positions(self.index(), recipes) < 0).all():
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

        The rows of its journal become a part. Only for the holder of the lock.
        """
        for folder in (self.folder, self.runs, self.instances, self.history, self.proofs):
            for left in folder.glob(".*.*"):
                left.unlink(missing_ok=True)
        remarks = []
        damaged = [part for part in self.parts() if checksum(part) != part.stem]
        damaged += [file for file in self.instances.glob("[!.]*") if not file.stat().st_size]
        for file in damaged:
            self.damaged.mkdir(exist_ok=True)
            file.replace(self.damaged / file.name)
            remarks.append(f"{file.name} was damaged and is in damaged/ now: its runs are repeated")
        bad: list[bytes] = []
        self._write_part(list(self._journalled(bad)))
        if bad:
            self.damaged.mkdir(exist_ok=True)
            with (self.damaged / JOURNAL).open("ab") as kept:
                kept.writelines(bad)
            lost = f"{sum(map(len, bad)):,} damaged bytes are in damaged/ now"
            remarks.append(f"{JOURNAL}: {lost}: their runs are repeated")
        self.journal.unlink(missing_ok=True)
        return remarks

    def _write_part(self, tables: list[pa.Table]) -> None:
        """Write a part of the rows that no part has."""
        if tables:
            rows = pa.concat_tables(tables)
            new = rows.filter(pc.invert(pc.is_in(rows["key"], value_set=self._keys_in_parts())))
            if new.num_rows:
                write_part(new.sort_by("key"), self.runs)

    def write_plan(self, plan: Plan, labels: Iterable[pa.Table] = ()) -> None:
        """Replace the plan and the study's text, which is kept in the history as well; a kill leaves either plan.

        `labels` are tables with the key of each run, and the family and recipe, if they have them, that its row has
        from now on. Only for the holder of the lock.
        """
        make_folder(self.history)
        kept = sorted(self.history.glob("[0-9]*.toml"))
        if not kept or read_text(kept[-1]) != plan.spec:
            atomic_write(self.history / f"{len(kept) + 1:04}.toml", plan.spec)
        atomic_write(self.folder / "study.toml", plan.spec)
        schema = _LABELS.with_metadata({_PLAN: msgspec.json.encode(plan)})

        def write(file: Path) -> None:
            with pq.ParquetWriter(file, schema, compression="zstd") as writer:
                for table in labels:
                    present = table.column_names
                    columns = [table[name] if name in present else pa.nulls(len(table)) for name in _LABELS.names]
                    writer.write_table(pa.table(columns, _LABELS.names).cast(schema))

        atomic_write(self._plan, write)

    def plan(self) -> Plan:
        """The study's plan; BadInput if another version of the program wrote it, or it is damaged."""
        try:
            metadata = pq.read_schema(self._plan).metadata or {}
            plan = msgspec.json.decode(metadata.get(_PLAN, b""), type=Plan)
        except (pa.ArrowException, OSError, ValueError, RecursionError) as error:
            raise _damaged(self._plan, error) from None
        if plan.format != FORMAT:
            raise BadInput(
                f"{self.folder}: holds '{plan.format}', and this version reads '{FORMAT}': run the study again in "
                "another folder, or read this one with the version that wrote it"
            )
        return plan

    def index(self) -> pa.Table:
        """The instances known so far (`INDEX`)."""
        return _read_table(self._index, INDEX) if self._index.is_file() else INDEX.empty_table()

    def write_index(self, index: pa.Table) -> None:
        """Replace the index of recipes."""
        atomic_write(self._index, lambda file: pq.write_table(index, file, compression="zstd"))

    def source(self, key: FileKey, digest: str) -> Path:
        """Where the instance with this digest is kept that was read from a file of a study."""
        if not _DIGEST.fullmatch(digest):
            raise BadInput(f"{self.folder}: '{digest}' is no digest of an instance: the folder was modified")
        return self.instances / f"{digest}{kind_named(key.file_kind).ending}"

    def kept(self, recipe: Recipe, source: str) -> str:
        """The file with the content of a recipe's own one, by its `source` in the index; "" without one."""
        return str(self.source(recipe.file_key, source)) if source else ""

    def add_source(self, key: FileKey, instance: Any) -> str:
        """Keep an instance that was read from a file, once; returns its digest."""
        file = self.source(key, instance.digest)
        if not file.is_file():
            make_folder(self.instances)
            kind_named(key.file_kind).write(instance, file)
        return str(instance.digest)

    def instance(self, recipe: str, digest: str) -> Any:
        """The instance of a recipe (JSON), made again; bad input if it is not the one with this digest."""
        source = _sources(self.folder, self._index.stat().st_mtime_ns).get(recipe, "") if self._index.is_file() else ""
        with located(str(self.folder)):
            made = Recipe.from_json(recipe)
        with memory_bounded("the instance"):
            instance = instance_of(recipe, self.kept(made, source))
        if instance.digest != digest:
            raise BadInput(
                f"{self.folder}: the recipe {recipe} gives another instance than {digest}: its file or its workload "
                "has changed"
            )
        return instance

    def done(self) -> pa.Array:
        """The keys of the runs that are stored."""
        journalled = [table["key"].combine_chunks() for table in self._journalled()]
        # First: the rows of a journal that becomes a part meanwhile are in that part.
        return pa.concat_arrays([pa.array([], pa.string()), *journalled, self._keys_in_parts()])

    def proof(self, key: str) -> Path:
        """The file of a run's proof, if it has one."""
        return self.proofs / f"{key}.proof.gz"

    def sampled(self, columns: Sequence[str], most: int) -> pa.Table:
        """About so many of the stored rows at most: of each part the first ones by their keys, which are random."""
        empty = pa.schema([SCHEMA.field(name) for name in columns]).empty_table()
        journalled = pa.concat_tables([empty, *(table.select(list(columns)) for table in self._journalled())])
        parts = self.parts()
        share = -(-most // (len(parts) + 1))
        return pa.concat_tables(
            [journalled.slice(0, share), *(read_part(part, columns).slice(0, share) for part in parts)]
        )

    def table(self, keys: pa.Array | Iterable[str] | None = None, columns: Sequence[str] = SCHEMA.names) -> pa.Table:
        """The stored rows (of the given keys and columns, if given), each once, in the order of their keys."""
        chosen = list(dict.fromkeys(["key", "started", *columns]))
        tables = [table.select(chosen) for table in self._journalled()]
        tables += [read_part(part, chosen) for part in self.parts()]
        stored = pa.concat_tables([pa.schema([SCHEMA.field(name) for name in chosen]).empty_table(), *tables])
        del tables
        order = pc.sort_indices(stored, sort_keys=[("key", "ascending"), ("started", "ascending")])
        own = stored["key"].take(order)
        kept = np.append(True, pc.not_equal(own[1:], own[:-1]))[: len(own)]
        if keys is not None:
            given = keys if isinstance(keys, pa.Array) else pa.array(list(keys), pa.string())
            kept &= np.asarray(pc.is_in(own, value_set=given))
        order, taken = order.filter(pa.array(kept)), dict[str, pa.ChunkedArray]()
        for name in chosen:  # one by one: all at once would be in memory twice
            taken[name] = stored[name].take(order)
            stored = stored.drop_columns([name])
        return pa.table({name: taken[name] for name in columns}, pa.schema([SCHEMA.field(name) for name in columns]))

    def rows(self, keys: pa.Array | Iterable[str] | None = None, columns: Sequence[str] = SCHEMA.names) -> pd.DataFrame:
        """The stored rows (of the given keys and columns, if given) as a frame: see `spread`.

        Runs of the present study have the families and recipes that it gives them, which may have changed since the
        run.
        """
        rows, names = self.table(keys, columns), [name for name in ("family", "recipe") if name in columns]
        labels = self.labels(["key", *names])
        at = pc.index_in(rows["key"], value_set=labels["key"])
        for name in names:
            own = pc.coalesce(labels[name].combine_chunks().take(at), rows[name])
            rows = rows.set_column(rows.column_names.index(name), name, own)
        return spread(rows)

    def keys(self) -> pa.Array:
        """The keys of the plan's runs."""
        return self.labels(["key"])["key"].combine_chunks()

    def labels(self, columns: Sequence[str] = _LABELS.names) -> pa.Table:
        """The key, family and recipe of each run of the plan, family and recipe null where the study gives none."""
        schema = pa.schema([_LABELS.field(name) for name in columns])
        return _read_table(self._plan, schema) if self.has_plan else schema.empty_table()

    def parts(self) -> list[Path]:
        """The files of merged rows."""
        return sorted(self.runs.glob(f"[!.]*{PART}"))

    def _journalled(self, damaged: list[bytes] | None = None) -> Iterator[pa.Table]:
        """The rows of the journal; damaged stretches of it are added to `damaged`, if given."""
        with contextlib.suppress(FileNotFoundError):  # it became a part meanwhile
            yield from read_journal(self.journal, damaged)

    def _keys_in_parts(self) -> pa.Array:
        keys = [read_part(part, ["key"])["key"].combine_chunks() for part in self.parts()]
        return pa.concat_arrays([pa.array([], pa.string()), *keys])


@lru_cache(maxsize=2)
def _sources(folder: Path, changed: int) -> Mapping[str, str]:
    """The digests of the files' contents from which recipes make instances, by recipe."""
    rows = Store(folder).index().filter(pc.field("source") != "").to_pylist()
    return {row["recipe"]: row["source"] for row in rows}


def _read_table(file: Path, schema: pa.Schema) -> pa.Table:
    try:
        table = pq.read_table(file, columns=schema.names, partitioning=None).select(schema.names).cast(schema)
        table.validate(full=True)
        return table.replace_schema_metadata(None)
    except (pa.ArrowException, KeyError, ValueError, OSError) as error:
        raise _damaged(file, error) from None


def _damaged(file: Path, error: Exception) -> BadInput:
    reason = str(error).removeprefix(f"{file}: ").partition("\n")[0]
    return BadInput(f"{file}: is damaged: remove it and run the study again, which restores it ({reason})")


class RowWriter(AbstractContextManager["RowWriter"]):
    """Stores rows as they come: in the journal, and in a part each time that many have come.

    The operating system has rows when :meth:`add` returns, so that a kill of any process loses none of them; they are
    on the disk a second later at most. Only for the holder of the lock.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._handle = -1
        self._tables: list[pa.Table] = []
        self._size = 0
        self._synced = 0.0

    def __exit__(self, *ended: object) -> None:
        self.close()

    def add(self, data: bytes, proofs: Mapping[str, bytes] | None = None) -> pa.Table:
        """Store the rows in some bytes (:func:`.to_bytes`) and return them; their proofs are on the disk before.

        BadInput if they cannot be written completely, and then no part of them is left.
        """
        table = of_bytes(data)
        for key, proof in (proofs or {}).items():
            make_folder(self._store.proofs)
            atomic_write(self._store.proof(key), proof)
        try:
            if self._handle < 0:
                self._handle = os.open(self._store.journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
                self._size = os.fstat(self._handle).st_size
            self._append(_FRAME.pack(_MAGIC, len(data), hashlib.sha256(data).digest()) + data)
        except OSError as error:
            raise BadInput(
                f"{self._store.runs}: cannot be written ({error.strerror}): free some space and resume"
            ) from None
        self._tables.append(table)
        if sum(each.num_rows for each in self._tables) >= _PART_ROWS or self._size >= _PART_BYTES:
            self.close()
        return table

    def close(self) -> None:
        """Make a part of the journal."""
        if self._handle >= 0:
            handle, self._handle = self._handle, -1
            os.close(handle)
        tables, self._tables = self._tables, []
        if tables:
            write_part(pa.concat_tables(tables).sort_by("key"), self._store.runs)
            self._store.journal.unlink(missing_ok=True)  # a kill before this line leaves the rows twice, which is known

    def _append(self, frame: bytes) -> None:
        written = 0
        try:
            while written < len(frame):
                written += os.write(self._handle, frame[written:])
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, self._size)
            raise
        self._size += written
        if time.monotonic() - self._synced >= _SYNC_EVERY:
            os.fdatasync(self._handle)
            self._synced = time.monotonic()


def read_journal(file: Path, damaged: list[bytes] | None = None) -> Iterator[pa.Table]:
    """The rows of a journal, a table for each batch; bytes that are of no complete batch go to `damaged`, if given."""
    with _opened(file) as opened:
        data = opened.read()
    at = 0
    while at < len(data):
        end = at + _FRAME.size
        magic, size, digest = _FRAME.unpack(data[at:end]) if end <= len(data) else (b"", 0, b"")
        body = data[end : end + size]
        if magic == _MAGIC and hashlib.sha256(body).digest() == digest:
            try:
                yield of_bytes(body)
                at = end + size
                continue
            except ValueError:  # its checksum was forged
                pass
        following = data.find(_MAGIC, at + 1)
        following = len(data) if following < 0 else following
        if damaged is not None:
            damaged.append(data[at:following])
        at = following


def _opened(file: Path) -> BufferedReader:
    """A file of rows; FileNotFoundError if it was merged meanwhile, BadInput if it is there and cannot be read."""
    try:
        return file.open("rb")
    except OSError as error:
        if isinstance(error, FileNotFoundError | NotADirectoryError) and not file.is_symlink():
            raise FileNotFoundError(error.errno, error.strerror) from None
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
    return _read_table(file, pa.schema([SCHEMA.field(name) for name in columns]))
