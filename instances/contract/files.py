"""Atomic writes, reads whose errors name the file, and labels: distinct, and in natural order."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import re
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import IO, Annotated, Any, NamedTuple, TypeVar, cast

import msgspec
import numpy as np
import numpy.typing as npt

from .errors import PACKED, BadInput, not_utf8

Document = TypeVar("Document")
Label = Annotated[str, msgspec.Meta(min_length=1)]
LARGEST_TEXT = 2**29
"""The most bytes of a JSON or other text file; 1,000,000 nodes with 20 topics each take about 200 MB."""
_BLOCK = 2**24
_NUMBER = re.compile("0|[1-9][0-9]{0,99}")


def atomic_write(path: Path, content: str | bytes | Callable[[Path], object]) -> None:
    """Write a text (as UTF-8) or bytes to a temporary file in the folder of `path`, then rename it to `path`.

    A function fills the temporary file, whose path it gets, instead.

    Raises BadInput if the folder is missing or cannot be written, or `path` exists and is not a regular file.
    """
    with atomic_file(path) as temporary:
        if callable(content):
            content(temporary)
        else:
            temporary.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def atomic_file(path: Path, *, if_filled: bool = False) -> Iterator[Path]:
    """A temporary file in the folder of `path`, renamed to `path` at the end and removed after an exception.

    `if_filled`: remove it as well if it is still empty at the end. Raises BadInput as :func:`atomic_write`.
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


def parts_of(path: Path) -> list[Path]:
    """The files that hold an instance: the file itself, or the parts in a folder ``*.parquet``, as Spark writes it.

    Parts may stand in folders that are named for the values of columns, such as ``topic=007``.
    """
    if path.suffix != ".parquet" or not path.is_dir():
        return [path]
    parts = sorted(path.glob("**/[!._]*.parquet"))
    return [part for part in parts if all("=" in name for name in part.relative_to(path).parent.parts)]


def make_folder(path: Path) -> None:
    """Make a folder and those above it, unless they exist; raises BadInput."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path}: cannot be created ({error.strerror}): choose another folder") from None


def check_writable(path: Path) -> None:
    """Raise BadInput if `path` cannot be written: before a run, whose answer would be lost."""
    with atomic_file(path, if_filled=True):
        pass


def _unwritable(path: Path, error: OSError) -> BadInput:
    fix = "free some space and run the command again" if error.errno == errno.ENOSPC else "choose another path"
    return BadInput(f"{path}: cannot be written ({error.strerror or error}): {fix}")


STANDARD_INPUT = Path("-")


class _Stated(NamedTuple):
    """A path whose format was stated, the ending of that format, and what a pipe holds once it has been read."""

    path: Path
    ending: str
    piped: list[IO[bytes]]


_stated: ContextVar[_Stated | None] = ContextVar("stated", default=None)


@contextmanager
def reading_as(path: Path, format_name: str) -> Iterator[None]:
    """A context in which a path, perhaps of a pipe or ``-`` for standard input, is read as ``csv`` or ``sets.gz``."""
    token = _stated.set(_Stated(path, f".{format_name.removeprefix('.')}", []))
    try:
        yield
    finally:
        _stated.reset(token)


def unpacked_name(path: Path) -> Path:
    """The path with the ending of its format: the one that :func:`reading_as` states, without endings of packing.

    A ``.zip`` without a format in its name has the ending of the file in it.
    """
    if (stated := _stated.get()) is not None and stated.path == path:
        path = Path(f"{path}{stated.ending}")
    elif path.suffix == ".zip" and not path.with_suffix("").suffix and path.is_file():
        with _errors_of(path), zipfile.ZipFile(path) as archive:
            return Path(_only_member(archive))
    return path.with_suffix("") if path.suffix in PACKED else path


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked if it ends with one of :data:`.PACKED`; those of standard input for ``-``.

    A pipe whose format is stated can be opened again. Raises BadInput if the file cannot be opened or unpacked, also
    from within the context.
    """
    stated = _stated.get()
    packing = Path(stated.ending).suffix or stated.ending if stated and stated.path == path else path.suffix
    with _errors_of(path), ExitStack() as stack:
        if stated and stated.path == path and (path == STANDARD_INPUT or path.is_fifo()):
            file = stack.enter_context(_piped(path, stated.piped))
        elif path == STANDARD_INPUT:
            raise BadInput(f"{path}: standard input has no ending: state its format, as in --format csv")
        else:
            file = stack.enter_context(path.open("rb"))
        if packing == ".gz":
            file = stack.enter_context(cast(IO[bytes], gzip.GzipFile(fileobj=file)))
        elif packing == ".zst":
            import pyarrow as pa

            file = stack.enter_context(cast(IO[bytes], io.BufferedReader(pa.CompressedInputStream(file, "zstd"))))
        elif packing == ".zip":
            archive = stack.enter_context(zipfile.ZipFile(file))
            file = stack.enter_context(archive.open(_only_member(archive)))
        yield file


def _piped(path: Path, kept: list[IO[bytes]]) -> IO[bytes]:
    """What comes through a pipe, in a temporary file that is read from its start."""
    if not kept:
        spool = tempfile.TemporaryFile()  # noqa: SIM115
        with path.open("rb") if path != STANDARD_INPUT else nullcontext(sys.stdin.buffer) as source:
            shutil.copyfileobj(source, spool, _BLOCK)
        spool.flush()
        kept.append(spool)
    copy = os.fdopen(os.dup(kept[0].fileno()), "rb")  # who reads it closes it
    copy.seek(0)
    return copy


def _only_member(archive: zipfile.ZipFile) -> str:
    members = [each.filename for each in archive.infolist() if not each.is_dir() and "__MACOSX/" not in each.filename]
    if len(members) != 1:
        raise BadInput(f"holds {len(members)} files: pack one")
    return members[0]


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """A context in which errors of the file system and of unpacking are bad input."""
    try:
        yield
    except BadInput as error:
        raise error if str(path) in str(error) else BadInput(f"{path}: {error}") from None
    except (EOFError, zlib.error, zipfile.BadZipFile, gzip.BadGzipFile, RuntimeError, NotImplementedError) as error:
        raise BadInput(f"{path}: cannot be unpacked ({error}): pack it again") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}): check the path") from None


def read_text(path: Path, at_most: int = LARGEST_TEXT) -> str:
    """The text of a UTF-8 file, without its byte order mark.

    Raises BadInput if it is missing, unreadable, not UTF-8 or larger than `at_most` bytes. No more than that is held in
    memory.
    """
    data = read_bytes(path, at_most)
    try:
        return as_read(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise not_utf8(f"{path}: byte {error.start}", data) from None


def read_bytes(path: Path, at_most: int = LARGEST_TEXT, instead: str = ", or use Parquet") -> bytearray:
    """The bytes of a file, within the bound of :func:`read_text`; an error also says what to use `instead`."""
    data, large = bytearray(), BadInput(f"{path}: is larger than {at_most / 2**20:g} MiB: make it smaller{instead}")
    with opened(path) as file:
        if path.is_file() and path.stat().st_size > at_most:
            raise large
        while more := file.read(_BLOCK):
            data += more
            if len(data) > at_most:
                raise large
    return data


def as_read(text: str) -> str:
    """A text without byte order mark and with one kind of line ends, as :func:`read_text` returns it from a file."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def read_start(path: Path, size: int) -> str:
    """The text in the first `size` bytes of a file; bytes that are not UTF-8 are replaced."""
    with opened(path) as file:
        return file.read(size).decode("utf-8", "replace")


def read_json(path: Path, format_name: str, kind: type[Document]) -> Document:
    """The object in a JSON file whose key ``format`` is `format_name`, as a type of msgspec."""
    with errors_in(path):
        return of_format(json_of(read_text(path)), format_name, kind)


def json_of(text: str, line: int = 0) -> Any:
    """The data in a JSON text, or in one line of a file of such texts, whose number an error names.

    Raises BadInput if it is not JSON, an object has a key twice, or a text is not Unicode.
    """
    try:
        data = json.loads(text, object_pairs_hook=_distinct_keys)
        if "\\u" in text:  # half a character has no other spelling
            json.dumps(data, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        where = f"line {line or error.lineno}, column {error.colno}"
        raise BadInput(f"{where}: {error.msg}: correct the JSON there") from None
    except RecursionError:
        raise BadInput("nested too deeply: needs an object of a documented format") from None
    except BadInput:
        raise
    except UnicodeEncodeError as error:
        label = error.object[error.start : error.end]
        raise BadInput(f"label '{label}' is not Unicode text: rename it") from None
    except ValueError as error:  # an integer of thousands of digits
        raise BadInput(f"{error}: put labels in quotes") from None
    return data


def of_format(data: Any, format_name: str, kind: type[Document]) -> Document:
    """JSON data whose key ``format`` is `format_name`, as a type of msgspec; anything else is bad input."""
    if not isinstance(data, dict) or data.get("format") != format_name:
        raise BadInput(f'needs an object with "format": "{format_name}" at the top')
    return converted(data, kind)


_FORMAT = re.compile(r'"format"\s*:\s*"([^"]*)"')
_FIRST_KEY = re.compile(r'\ufeff?\s*(?:\{\s*"([^"\\]*)"|(\[))')
_SEARCHED = 2**16


def start_of_json(path: Path) -> tuple[str, str]:
    """The format that the first 64 KiB of a JSON file name, and the first key; "" without one, [ for a list."""
    start = read_start(path, _SEARCHED)
    named, first = _FORMAT.search(start), _FIRST_KEY.match(start)
    return named[1] if named else "", (first[1] or first[2] or "") if first else ""


@contextmanager
def errors_in(path: Path) -> Iterator[None]:
    """A context in which each BadInput names the file at its start."""
    try:
        yield
    except BadInput as error:
        raise error if str(error).startswith(f"{BadInput(str(path))}: ") else BadInput(f"{path}: {error}") from None


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise BadInput(f"'{twice}' stands twice in one object: merge the two")
    return members


def converted(data: Any, kind: type[Document]) -> Document:
    """JSON data as a type of msgspec; an error names the entry, as in ``users['u1'].rates``, and what it must be."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        what, where = refused(str(error), data, kind)
    raise BadInput(f"{where}: {what}: correct it".removeprefix(": "))


def refused(error: str, data: Any, kind: type[Any], first: int = 0) -> tuple[str, str]:
    """The reason and the entry that an error of msgspec names; lists count from `first`. The search empties `data`."""
    what, _, path = error.partition(" - at ")
    at, entry = "", data
    for name, index in re.findall(r"\.(\w+)|\[(\d+|\.\.\.)\]", path):
        # msgspec names no keys of a mapping: the refused one is what is left when all others are taken out.
        key = name or (_refused_key(entry, data, kind, error) if index == "..." else int(index))
        shown = key if isinstance(key, str) else key + first
        at, entry = f"{at}.{name}" if name else f"{at}[{shown!r}]", entry[key]
    return what, ("a key of " if path.startswith("`key`") else "") + at.removeprefix(".")


def _refused_key(entries: dict[str, Any], data: Any, kind: type[Any], said: str) -> str:
    """The first key of a mapping within data whose entry is refused with this error; other entries are removed."""
    for key, entry in list(entries.items()):
        entries.clear()
        entries[key] = entry
        try:
            msgspec.convert(data, kind)
        except msgspec.ValidationError as error:
            if str(error) == said:
                break
    return key


def known_index(label: str, indices: Mapping[str, int], where: str, noun: str) -> int:
    """The index of a label, or bad input that names the entry with the unknown label."""
    if label not in indices:
        raise BadInput(f"{where}: unknown {noun} '{label}': correct the name")
    return indices[label]


def known_indices(labels: Iterable[str], indices: Mapping[str, int], where: str, noun: str) -> list[int]:
    """The index of each label, as :func:`known_index`."""
    return [known_index(label, indices, where, noun) for label in labels]


def write_json(path: Path, document: Mapping[str, object]) -> None:
    """Write an object as JSON with a line for each entry of its objects and lists, so that diffs name single ones."""
    parts = (f"{_line(key)}: {_block(value)}" for key, value in document.items())
    atomic_write(path, "{" + ",\n ".join(parts) + "}\n")


def _block(value: object) -> str:
    if isinstance(value, Mapping):
        rows, ends = [f"{_line(key)}: {_line(entry)}" for key, entry in value.items()], "{}"
    elif isinstance(value, list) and any(isinstance(entry, list | tuple | dict) for entry in value):
        rows, ends = [_line(entry) for entry in value], "[]"
    else:
        return _line(value)
    return ends[0] + ",".join(f"\n  {row}" for row in rows) + "\n " + ends[1]


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


class Coded(NamedTuple):
    """A column of labels: the distinct labels, and for each row the index of its label."""

    distinct: list[str]
    codes: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def of(cls, labels: Sequence[str]) -> Coded:
        """The column with the labels of these rows."""
        code_of = {label: code for code, label in enumerate(dict.fromkeys(labels))}
        return cls(list(code_of), np.fromiter(map(code_of.__getitem__, labels), np.int64, len(labels)))

    def first_rows(self) -> npt.NDArray[np.int64]:
        """The first row with each label, which has one."""
        first = np.zeros(len(self.distinct), np.int64)
        first[self.codes[::-1]] = np.arange(len(self.codes))[::-1]
        return first


def natural_order(labels: Sequence[str] | Coded) -> tuple[list[str], npt.NDArray[np.int64]]:
    """The distinct labels in natural order (n2 before n10), and each label's rank in that order.

    A label sorts by its runs of ASCII digits, as numbers, and of other characters, by code point; labels that
    differ only in leading zeros sort by code point.

    `labels`: columns of tables are coded: no Python object for each row. Raises BadInput if a label is not a Unicode
    text.
    """
    distinct, codes = labels if isinstance(labels, Coded) else Coded.of(labels)
    if not isinstance(labels, Coded):
        _check_text(labels, distinct)
    keys: Sequence[Any] = _numbers_of(distinct) or [*map(sort_key, distinct)]
    order = sorted(range(len(distinct)), key=keys.__getitem__)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return [distinct[code] for code in order], rank[codes]


def _numbers_of(distinct: list[str]) -> list[int]:
    """The numbers of labels that differ in nothing else, as n2 and n10 do, which are their natural order; or none."""
    shared = len(os.path.commonprefix(distinct).rstrip("0123456789"))  # noqa: RUF071 (of texts)
    digits = [label[shared:] for label in distinct]
    return [*map(int, digits)] if all(map(_NUMBER.fullmatch, digits)) else []


def _check_text(labels: Sequence[str], distinct: list[str]) -> None:
    for label in distinct:
        if not isinstance(label, str):
            problem = "has no label: give one" if label is None else f"has the label {label!r}: put it in quotes"
            raise BadInput(f"row {labels.index(label)} {problem}")
        try:
            label.encode()
        except UnicodeEncodeError:
            raise BadInput(f"label '{label}' is not Unicode text: rename it") from None


@lru_cache(maxsize=2**14)  # instances of a study share most labels
def sort_key(label: str) -> bytes:
    """A text whose order by bytes is the natural order of labels, here and in other programs.

    Digits compare as numbers: by length, then digit by digit. Every other part sorts after all numbers.
    """
    key = b""
    for digits, other in re.findall(r"0*([0-9]+)|([^0-9]+)", label):
        if digits:
            key += b"\1" + len(digits).to_bytes(8, "big") + digits.encode()
        else:
            key += b"\2" + other.encode().replace(b"\0", b"\0\1") + b"\0\0"
    return key + b"\0" + label.encode()


def distinct_labels(labels: Sequence[str] | None, size: int, kind: str) -> tuple[str, ...] | None:
    """The labels as a tuple, or None; BadInput for empty or repeated labels, or another number of labels than
    `size`.
    """
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
