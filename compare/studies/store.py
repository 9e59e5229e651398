"""The folder of a study: its plan, its instances, and a row a finished run, in logs that are merged into Parquet."""

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

_FORMAT = f"results/{VERSION}"
_DIGEST = re.compile(r"[0-9a-f]{8,128}")
_PART_ROWS = 1000


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

    ``study.toml`` is the study as given, ``plan.json`` says which runs are the study's, ``instances/`` holds each
    instance by digest and ``index.json``, which says which recipe made it; ``runs/`` holds the rows: a log a worker
    (:mod:`.run_log`), and parts into which logs are merged (:mod:`.parts`); ``damaged/``
    holds what did not have its checksum. A row that stands twice (in a log and its part, if a merge was cut short)
    counts once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "runs"
        self.instances = folder / "instances"
        self.damaged = folder / "damaged"

    def open_for(self, spec: str) -> None:
        """Make the folder, or check that it holds this very study.

        Raises
        ------
        BadInput
            If it holds another study or another version's results, or other files, or cannot be made.
        """
        held = self.folder / "study.toml"
        if held.is_file():
            try:
                same = tomllib.loads(read_text(held)) == tomllib.loads(spec)
            except (tomllib.TOMLDecodeError, RecursionError):
                raise _damaged(held) from None
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
            raise BadInput(f"{self.folder}: cannot be made ({error.strerror}): choose another folder") from None
        if not held.is_file():
            atomic_write(held, lambda file: file.write_text(spec, encoding="utf-8"))

    @classmethod
    def existing(cls, folder: Path) -> Store:
        """The store of a study that was run; a folder without one is bad input."""
        if not (folder / "plan.json").is_file():
            raise BadInput(f"{folder}: holds no results: run `overlaybench study SPEC.toml --out {folder}` first")
        store = cls(folder)
        store.plan()
        return store

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep a second study out of the folder; the lock goes with the process, however it ends."""
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
        """Remove what a killed study left half-written and put aside what is damaged; say what was found.

        Only for the holder of the lock.
        """
        for folder in (self.folder, self.runs, self.instances):
            for left in folder.glob(".*.*"):
                left.unlink(missing_ok=True)
        said = []
        for part in self._parts():
            if not parts.is_whole(part):
                self._put_aside(part)
                said.append(f"{part.name} was damaged and is in damaged/ now: its runs are done again")
        for file in self.instances.glob("[!.]*"):
            if file.stat().st_size == 0:
                self._put_aside(file)
                said.append(f"{file.name} was empty and is in damaged/ now")
        return said + self.merge()

    def merge(self) -> list[str]:
        """Merge the logs that nobody writes any more into parts; say which lines were damaged and put aside.

        Only for the holder of the lock. A kill at any moment loses nothing: a log goes when its part is on the disk.
        """
        said: list[str] = []
        ready: list[tuple[Path, list[dict[str, Any]]]] = []
        waiting = 0
        for log in self._logs():
            with run_log.unwritten(log) as closed:
                if not closed:
                    continue
                bad: list[bytes] = []
                rows = list(run_log.read_log(log, bad))
                if bad:
                    self._keep_damaged(log.name, bad)
                    said.append(f"{log.name}: {len(bad)} damaged lines are in damaged/ now: their runs are done again")
                ready.append((log, rows))
                waiting += len(rows)
            if waiting >= _PART_ROWS:
                self._write_merged(ready)
                ready, waiting = [], 0
        self._write_merged(ready)
        return said

    def _write_merged(self, logs: list[tuple[Path, list[dict[str, Any]]]]) -> None:
        known = self._keys_in_parts()
        rows = {row["key"]: row for _, rows in logs for row in reversed(rows) if row["key"] not in known}
        if rows:
            parts.write_part(table_of([rows[key] for key in sorted(rows)]), self.runs)
        for log, _ in logs:
            log.unlink(missing_ok=True)

    def _put_aside(self, file: Path) -> None:
        self.damaged.mkdir(exist_ok=True)
        file.replace(self.damaged / file.name)

    def _keep_damaged(self, name: str, lines: list[bytes]) -> None:
        self.damaged.mkdir(exist_ok=True)
        with (self.damaged / name).open("ab") as kept:
            kept.writelines(lines)

    def write_plan(self, plan: Plan) -> None:
        """Keep what the study's rows are for."""
        text = json.dumps({"format": _FORMAT, **asdict(plan)}, ensure_ascii=False, indent=1)
        atomic_write(self.folder / "plan.json", lambda file: file.write_text(text, encoding="utf-8"))

    def plan(self) -> Plan:
        """What the study's rows are for; BadInput if another version of the program wrote it, or it is damaged."""
        file = self.folder / "plan.json"
        found = _json_object(file)
        version = found.pop("format", "results/1")
        if version != _FORMAT:
            raise BadInput(
                f"{self.folder}: holds {version!r}, and this version reads {_FORMAT!r}: run the study again in another "
                "folder, or read this one with the version that wrote it"
            )
        try:
            return Plan(**found)
        except TypeError:
            raise _damaged(file) from None

    def index(self) -> dict[str, Made]:
        """The instances made so far, by recipe (JSON)."""
        file = self.instances / "index.json"
        if not file.is_file():
            return {}
        try:
            return {recipe: Made(**made) for recipe, made in _json_object(file).items()}
        except TypeError:
            raise _damaged(file) from None

    def write_index(self, index: Mapping[str, Made]) -> None:
        """Replace the index of recipes."""
        text = json.dumps({recipe: asdict(made) for recipe, made in index.items()}, ensure_ascii=False, indent=1)
        atomic_write(self.instances / "index.json", lambda file: file.write_text(text, encoding="utf-8"))

    def add_instance(self, instance: Any, kind: Kind[Any, Any]) -> None:
        """Keep an instance under its digest."""
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
            raise BadInput(f"{file}: does not hold the instance it is named for: remove it and run the study again")
        return instance

    def _instance_file(self, digest: str, kind: Kind[Any, Any]) -> Path:
        if not _DIGEST.fullmatch(digest):
            raise BadInput(f"{self.folder}: '{digest}' is no digest of an instance: the folder was tampered with")
        return self.instances / f"{digest}{kind.ending}"

    def done(self) -> set[str]:
        """The keys of the runs that are stored."""
        in_logs = {row["key"] for row in self._logged()}  # first: a log that is merged meanwhile is in the parts then
        return in_logs | self._keys_in_parts()

    def table(self, keys: Iterable[str] | None = None, columns: Sequence[str] = SCHEMA.names) -> pa.Table:
        """The stored rows, each once, in the order of their keys; of the given keys and columns only, if given.

        Raises
        ------
        BadInput
            If a part is damaged.
        """
        chosen = list(dict.fromkeys(["key", "started", *columns]))
        logged = table_of(list(self._logged())).select(chosen)
        tables = [logged, *(parts.read_part(part, chosen) for part in self._parts())]
        found = pa.concat_tables(tables).sort_by([("key", "ascending"), ("started", "ascending")])
        wanted = None if keys is None else set(keys)
        seen: set[str] = set()
        kept = []
        for place, key in enumerate(found["key"].to_pylist()):
            if key not in seen and (wanted is None or key in wanted):
                seen.add(key)
                kept.append(place)
        return found.take(pa.array(kept, pa.int64())).select(list(columns))

    def rows(self, keys: Iterable[str] | None = None) -> pd.DataFrame:
        """The stored rows, of the given keys only, if given.

        A column a field of `SCHEMA`, but that every size and measure of the kinds that occur is a column of its own.
        """
        return spread(self.table(keys).to_pandas())

    def logs(self) -> list[Path]:
        """The logs that are not merged yet."""
        return self._logs()

    def _logged(self) -> Iterator[dict[str, Any]]:
        for log in self._logs():
            try:
                yield from run_log.read_log(log)
            except FileNotFoundError:  # merged meanwhile
                continue

    def _keys_in_parts(self) -> set[str]:
        return {key for part in self._parts() for key in parts.read_part(part, ["key"])["key"].to_pylist()}

    def _logs(self) -> list[Path]:
        return sorted(self.runs.glob(f"[!.]*{run_log.ENDING}"))

    def _parts(self) -> list[Path]:
        return sorted(self.runs.glob(f"[!.]*{parts.ENDING}"))


def _json_object(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_text(file))
    except (json.JSONDecodeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _damaged(file)
    return found


def _damaged(file: Path) -> BadInput:
    return BadInput(f"{file}: is damaged: remove it and run the study again, which writes it anew")
