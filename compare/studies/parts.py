"""Merged runs: Parquet files, each named by the checksum of its bytes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ...instances.contract.errors import BadInput
from .row import ADDED, SCHEMA

ENDING = ".parquet"
_BUFFER = 2**20


def write_part(table: pa.Table, folder: Path) -> Path:
    """Write a table of rows to a file named by its checksum, atomically, and sync it to the disk."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    data = sink.getvalue()
    file = folder / f"{hashlib.sha256(data).hexdigest()[:32]}{ENDING}"
    temporary = folder / f".{file.name}.{os.getpid()}"
    try:
        with temporary.open("wb") as part:
            part.write(data)
            part.flush()
            os.fsync(part.fileno())
        temporary.replace(file)
        _sync_folder(folder)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written ({error.strerror}): free some space and resume") from None
    finally:
        temporary.unlink(missing_ok=True)
    return file


def is_intact(file: Path) -> bool:
    """Whether a part's bytes have the checksum in its name."""
    return checksum(file) == file.stem


def checksum(file: Path) -> str:
    """32 hexadecimal digits of the SHA-256 of a file's bytes."""
    sha = hashlib.sha256()
    with file.open("rb") as part:
        while block := part.read(_BUFFER):
            sha.update(block)
    return sha.hexdigest()[:32]


def read_part(file: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """The rows of a part; BadInput if its bytes are not those that were written."""
    if not is_intact(file):
        raise BadInput(f"{file}: is damaged (its checksum differs): run the study again, which repeats its runs")
    try:
        wanted = SCHEMA if columns is None else pa.schema([SCHEMA.field(name) for name in columns])
        stored = pq.read_schema(file).names
        missing = [name for name in ADDED if name in wanted.names and name not in stored]
        table = pq.read_table(file, columns=[name for name in wanted.names if name not in missing], partitioning=None)
        for name in missing:
            table = table.append_column(name, pa.nulls(len(table), SCHEMA.field(name).type))
        table = table.select(wanted.names).cast(wanted)
        table.validate(full=True)
        return table
    except (pa.ArrowException, OSError, ValueError) as error:  # its name was forged, or another program wrote it
        reason = str(error).partition("\n")[0]
        raise BadInput(f"{file}: holds no results ({reason}): remove it and run the study again") from None


def _sync_folder(folder: Path) -> None:
    """Sync a folder's list of files to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
