"""Atomic writes, reads whose errors name the file, and labels: distinct, and in natural order."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

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


_LONGEST = 2**63


def natural_order(labels: Sequence[str] | pa.Array) -> tuple[list[str], npt.NDArray[np.int64]]:
    """The distinct labels in natural order (n2 before n10), and each label's rank in that order.

    A label sorts by its runs of ASCII digits, as numbers, and of other characters, by code point; labels that
    differ only in leading zeros sort by code point.

    Parameters
    ----------
    labels : sequence of str, or array of strings without nulls
        An Arrow array, as tables are read, needs no Python object for each row.

    Raises
    ------
    BadInput
        If a label is not a Unicode text.
    """
    if hasattr(labels, "dictionary_encode"):
        encoded = labels.dictionary_encode()
        distinct, codes = encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
    else:
        code_of = {label: code for code, label in enumerate(dict.fromkeys(labels))}
        distinct, codes = list(code_of), np.fromiter(map(code_of.__getitem__, labels), np.int64, len(labels))
        _check_text(labels, distinct)
    order = sorted(range(len(distinct)), key=lambda code: _natural_key(distinct[code]))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return [distinct[code] for code in order], rank[codes]


def _check_text(labels: Sequence[str], distinct: list[str]) -> None:
    for label in distinct:
        if not isinstance(label, str):
            problem = "has no label: give one" if label is None else f"has the label {label!r}: put it in quotes"
            raise BadInput(f"row {labels.index(label)} {problem}")
        try:
            label.encode()
        except UnicodeEncodeError:
            raise BadInput(f"label '{label}' is not Unicode text: rename it") from None


def _natural_key(label: str) -> tuple[list[tuple[int, str]], str]:
    """Digits compare as numbers: by length, then digit by digit. Every other part sorts after all numbers."""
    key = []
    for digits, other in re.findall(r"0*([0-9]+)|([^0-9]+)", label):
        key.append((len(digits), digits) if digits else (_LONGEST, other))
    return key, label


def sort_key(label: str) -> bytes:
    """A text whose order by bytes is the natural order of labels, for sorting by other programs."""
    parts, whole = _natural_key(label)
    key = b""
    for length, part in parts:
        if length == _LONGEST:
            key += b"\2" + part.encode().replace(b"\0", b"\0\1") + b"\0\0"
        else:
            key += b"\1" + length.to_bytes(8, "big") + part.encode()
    return key + b"\0" + whole.encode()


def distinct_labels(labels: Sequence[str] | None, size: int, kind: str) -> tuple[str, ...] | None:
    """The labels as a tuple, or None; empty or repeated ones, or not `size` of them, are bad input."""
    if labels is None:
        return None
    if len(labels) != size:
        raise BadInput(f"{len(labels)} {kind} labels for {size} {kind}s: give one each")
    if "" in labels:
        raise BadInput(f"a {kind} has an empty label: name it")
    if len(set(labels)) < size:
        twice, _ = Counter(labels).most_common(1)[0]
        raise BadInput(f"two {kind}s have the label '{twice}': rename one")
    return tuple(labels)
