"""Atomic writes, and reads whose errors name the file."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import BadInput

LARGEST_TEXT = 2**29
"""The most bytes of a JSON or other text file; 1,000,000 nodes with 20 topics each take about 200 MB."""
_BLOCK = 2**24


def atomic_write(path: Path, content: str | bytes | Callable[[Path], object]) -> None:
    """Write a text (as UTF-8) or bytes to a temporary file in the folder of `path`, then rename it to `path`.

    A function fills the temporary file, whose path it gets, instead.

    Raises
    ------
    BadInput
        If the folder is missing or cannot be written, or `path` exists and is not a regular file.
    """
    with atomic_file(path) as temporary:
        if callable(content):
            content(temporary)
        else:
            temporary.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def atomic_file(path: Path, *, if_filled: bool = False) -> Iterator[Path]:
    """A temporary file in the folder of `path`, renamed to `path` at the end and removed after an exception.

    Parameters
    ----------
    if_filled : bool
        Remove it as well if it is still empty at the end.

    Raises
    ------
    BadInput
        As :func:`atomic_write`.
    """
    try:
        if path.exists() and not path.is_file():
            raise BadInput(f"{path}: exists and is not a regular file: choose another path")
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise _unwritable(path, error) from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        if if_filled and not temporary.stat().st_size:
            return
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> BadInput:
    return BadInput(f"{path}: cannot be written ({error.strerror or error}): choose another path")


def _unreadable(path: Path, error: OSError) -> BadInput:
    return BadInput(f"{path}: cannot be read ({error.strerror}): check the path")


def read_text(path: Path, at_most: int = LARGEST_TEXT) -> str:
    """The text of a UTF-8 file, without its byte order mark.

    Raises
    ------
    BadInput
        If it is missing, unreadable, not UTF-8 or larger than `at_most` bytes. No more than that is held in memory.
    """
    try:
        with path.open("rb") as file:
            # A pipe has size 0: it is read block by block.
            size = os.fstat(file.fileno()).st_size
            data = b"" if size > at_most else file.read(max(size, _BLOCK))
            while size <= at_most and len(data) <= at_most and (more := file.read(_BLOCK)):
                data += more
        if max(size, len(data)) > at_most:
            raise BadInput(f"{path}: is larger than {at_most / 2**20:g} MiB: make it smaller, or use Parquet")
        return data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: byte {error.start} is not UTF-8: convert the file") from None
    except OSError as error:
        raise _unreadable(path, error) from None


def read_start(path: Path, size: int) -> str:
    """The text in the first `size` bytes of a file; bytes that are not UTF-8 are replaced."""
    try:
        with path.open("rb") as file:
            return file.read(size).decode("utf-8", "replace")
    except OSError as error:
        raise _unreadable(path, error) from None


def read_json(path: Path, format_name: str) -> dict[str, Any]:
    """The object in a JSON file whose key ``format`` is `format_name`.

    Raises
    ------
    BadInput
        If the file cannot be read, is not JSON, has another format, or an object has a key twice.
    """
    try:
        data = json.loads(read_text(path), object_pairs_hook=lambda pairs: _distinct_keys(path, pairs))
    except json.JSONDecodeError as error:
        location = f"{path}: line {error.lineno}, column {error.colno}"
        raise BadInput(f"{location}: {error.msg}: correct the JSON there") from None
    except RecursionError:
        raise BadInput(f"{path}: nested too deeply: needs {_format_key(format_name)}") from None
    except BadInput:
        raise
    except ValueError as error:  # an integer of thousands of digits
        raise BadInput(f"{path}: {error}: put labels in quotes") from None
    if not isinstance(data, dict) or data.get("format") != format_name:
        raise BadInput(f"{path}: needs {_format_key(format_name)}")
    return data


def _distinct_keys(path: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise BadInput(f"{path}: '{key}' stands twice in one object: merge the two")
        members[key] = value
    return members


def _format_key(format_name: str) -> str:
    return f'an object with "format": "{format_name}" at the top'
