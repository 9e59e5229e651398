"""Files that are written whole or not at all, and read with errors that name them."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .errors import BadInput

LARGEST_TEXT = 2**29
"""Bytes of JSON or the like: 1,000,000 nodes with 20 topics each take some 200 MB."""
_BLOCK = 2**24


def atomic_write(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then put it in place in one step.

    Raises
    ------
    BadInput
        If the folder is missing or cannot be written, or the path is taken by something other than a file.
    """
    try:
        if path.exists() and not path.is_file():
            raise BadInput(f"{path}: is there already and no regular file: choose another place")
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise _unwritable(path, error) from None
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
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
    return BadInput(f"{path}: cannot be written ({error.strerror or error}): choose another place")


def read_text(path: Path, at_most: int = LARGEST_TEXT) -> str:
    """The text of a UTF-8 file, without its byte order mark.

    Raises
    ------
    BadInput
        If it is missing, unreadable or larger than `at_most` bytes, of which no more are ever held.
    """
    try:
        with path.open("rb") as file:
            # A pipe, say, has no size: it is read bit by bit.
            known = os.fstat(file.fileno()).st_size
            data = b"" if known > at_most else file.read(max(known, _BLOCK))
            while known <= at_most and len(data) <= at_most and (more := file.read(_BLOCK)):
                data += more
        if max(known, len(data)) > at_most:
            raise BadInput(f"{path}: is larger than {at_most / 2**20:g} MiB: make it smaller, or use Parquet")
        return data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: byte {error.start} is not UTF-8: convert the file") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}): check the path") from None


def read_json(path: Path, format_name: str) -> dict[str, Any]:
    """The object in a JSON file whose key ``format`` is `format_name`.

    Raises
    ------
    BadInput
        If the file cannot be read, is no JSON, holds another format, or gives a key twice in one object.
    """
    try:
        data = json.loads(read_text(path), object_pairs_hook=lambda pairs: _once(path, pairs))
    except json.JSONDecodeError as error:
        raise BadInput(f"{path}: line {error.lineno}, column {error.colno}: {error.msg}: mend the JSON there") from None
    except RecursionError:
        raise BadInput(f"{path}: nested too deeply: needs {_wanted(format_name)}") from None
    except BadInput:
        raise
    except ValueError as error:  # an integer of thousands of digits
        raise BadInput(f"{path}: {error}: put labels in quotes") from None
    if not isinstance(data, dict) or data.get("format") != format_name:
        raise BadInput(f"{path}: needs {_wanted(format_name)}")
    return data


def _once(path: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise BadInput(f"{path}: '{key}' stands twice in one object: merge the two")
        found[key] = value
    return found


def _wanted(format_name: str) -> str:
    return f'an object with "format": "{format_name}" at the top'
