"""Atomic writes, reads whose errors name the file, and labels: distinct, and in natural order."""

from __future__ import annotations

import csv
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TextIO, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from .errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

Document = TypeVar("Document")
Entry = TypeVar("Entry")
Label = Annotated[str, msgspec.Meta(min_length=1)]
LARGEST_TEXT = 2**29
"""The most bytes of a JSON or other text file; 1,000,000 nodes with 20 topics each take about 200 MB."""
_BLOCK = 2**24
LONGEST_HEADER = 2**20
_FEW_ROWS, _MOST_ROWS, MOST_BYTES = 2**16, 200_000_000, 1 << 34  # of a table


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
    """The files that hold an instance: the file itself, or the parts in a folder ``*.parquet``, as Spark writes it."""
    return sorted(path.glob("[!._]*.parquet")) if path.suffix == ".parquet" and path.is_dir() else [path]


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
    return BadInput(f"{path}: cannot be written ({error.strerror or error}): choose another path")


def _unreadable(path: Path, error: OSError) -> BadInput:
    return BadInput(f"{path}: cannot be read ({error.strerror}): check the path")


def read_text(path: Path, at_most: int = LARGEST_TEXT) -> str:
    """The text of a UTF-8 file, without its byte order mark.

    Raises BadInput if it is missing, unreadable, not UTF-8 or larger than `at_most` bytes. No more than that is held in
    memory.
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
        return as_read(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: byte {error.start} is not UTF-8: convert the file") from None
    except OSError as error:
        raise _unreadable(path, error) from None


def as_read(text: str) -> str:
    """A text as :func:`read_text` gives it once it is in a file: no byte order mark, and ends of lines of one kind."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def read_start(path: Path, size: int) -> str:
    """The text in the first `size` bytes of a file; bytes that are not UTF-8 are replaced."""
    try:
        with path.open("rb") as file:
            return file.read(size).decode("utf-8", "replace")
    except OSError as error:
        raise _unreadable(path, error) from None


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


def json_lines(
    text: str, format_name: str, head: type[Document], entry: type[Entry]
) -> tuple[Document, list[tuple[int, Entry]]]:
    """The object in the first line of a text, and those in the other lines with their numbers, as types of msgspec.

    The key ``format`` of the first one is `format_name`; empty lines are skipped. Raises BadInput that names the line.
    """
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise BadInput(f'is empty: its first line must be an object with "format": "{format_name}"')
    first: Any = _in_line(*lines[0], head)
    if first.format != format_name:
        raise BadInput(f"line {lines[0][0]}: format '{first.format}' is not {format_name}: correct it")
    return first, [(number, _in_line(number, line, entry)) for number, line in lines[1:]]


def _in_line(number: int, line: str, kind: type[Any]) -> Any:
    try:
        return converted(json_of(line, number), kind)
    except BadInput as error:
        where = f"line {number}"
        raise error if str(error).startswith(f"{where},") else BadInput(f"{where}: {error}") from None


def write_json_lines(path: Path, documents: Iterable[Mapping[str, object]]) -> None:
    """Write each object as JSON in a line of its own."""
    atomic_write(path, "".join(f"{_line(document)}\n" for document in documents))


_FORMAT = re.compile(r'"format"\s*:\s*"([^"]*)"')
_FIRST_KEY = re.compile(r'\ufeff?\s*\{\s*"([^"\\]*)"')
_SEARCHED = 2**16


def start_of_json(path: Path) -> tuple[str, str]:
    """What the key ``format`` in the first 64 KiB of a JSON file names, and its first key; "" for none."""
    start = read_start(path, _SEARCHED)
    named, first = _FORMAT.search(start), _FIRST_KEY.match(start)
    return named[1] if named else "", first[1] if first else ""


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
    """What an error of msgspec says of data, which is used up, and of which entry; lists are counted from `first`."""
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
    """A column of labels: the distinct ones, and the index of each row's among them."""

    distinct: list[str]
    codes: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.codes)


def natural_order(labels: Sequence[str] | Coded) -> tuple[list[str], npt.NDArray[np.int64]]:
    """The distinct labels in natural order (n2 before n10), and each label's rank in that order.

    A label sorts by its runs of ASCII digits, as numbers, and of other characters, by code point; labels that
    differ only in leading zeros sort by code point.

    `labels`: columns of tables are coded: no Python object for each row. Raises BadInput if a label is not a Unicode
    text.
    """
    if isinstance(labels, Coded):
        distinct, codes = labels
    else:
        code_of = {label: code for code, label in enumerate(dict.fromkeys(labels))}
        distinct, codes = list(code_of), np.fromiter(map(code_of.__getitem__, labels), np.int64, len(labels))
        _check_text(labels, distinct)
    order = sorted(range(len(distinct)), key=[*map(sort_key, distinct)].__getitem__)
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


def check_columns(columns: Sequence[str], present: Sequence[str]) -> list[int]:
    """The positions of columns; raises BadInput unless each is present once and they differ."""
    if len(set(columns)) < len(columns):
        raise BadInput(f"column '{columns[0]}' is named twice: name one for the nodes, one for the topics")
    for column in columns:
        if column not in present:
            names = ", ".join(f"'{name}'" for name in present)
            raise BadInput(f"no column '{column}' among {names or 'none'}: name the column that is meant")
        if list(present).count(column) > 1:
            raise BadInput(f"column '{column}' stands twice in the header: rename one")
    return list(map(list(present).index, columns))


def separated(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The line on which each row of a CSV or TSV file begins, and its cells; the first row is the header.

    A header with a tab makes it TSV. Values may be quoted as in RFC 4180 and then contain separators and line breaks.
    Empty lines are skipped.

    Raises BadInput if a line is not UTF-8 or has another number of values than the header (each with the line), quotes
    are unbalanced, or there is no header.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if os.fstat(file.fileno()).st_size > MOST_BYTES:
                raise BadInput(f"is larger than {MOST_BYTES >> 30} GiB: give it fewer rows")
            yield from _rows_in(file)
    except UnicodeDecodeError:
        with path.open("rb") as lines:
            line = next(number for number, text in enumerate(lines, 1) if text.decode(errors="ignore").encode() != text)
        raise BadInput(f"line {line} is not UTF-8: convert the file") from None
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}): check the path") from None


def _rows_in(file: TextIO) -> Iterator[tuple[int, list[str]]]:
    blank, head = 0, ""
    while head := file.readline(LONGEST_HEADER + 1):
        if head.strip("\r\n"):
            break
        blank += 1
    if len(head) > LONGEST_HEADER:
        raise BadInput(f"line {blank + 1} has more than {LONGEST_HEADER:,} characters: break it into rows")
    reader = csv.reader(chain([head], file), delimiter="\t" if "\t" in head else ",", strict=True)
    begin = blank + 1
    try:
        header = next(reader, [])
        if not header:
            raise BadInput("is empty: give it a header line with the names of its columns")
        yield begin, header
        width = len(header)
        begin = blank + reader.line_num + 1
        for row in reader:
            if len(row) == width:
                yield begin, row
            elif row:
                raise BadInput(f"line {begin}: {len(row)} values under a header of {width}: correct the line")
            begin = blank + reader.line_num + 1
    except csv.Error as error:
        raise BadInput(f"line {begin}: {error}: correct its quotes") from None


def labels_of(table: pa.Table, columns: Sequence[str]) -> list[Coded]:
    """The labels in the named columns of a table, as text.

    Raises BadInput if a label is missing or empty (rows are counted from 1). pyarrow.ArrowException if a column cannot
    be converted to text.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    labels = []
    for column in columns:
        values = table[column].cast(pa.string()).combine_chunks()
        values.validate(full=True)  # Parquet may hold bytes that are not UTF-8
        encoded = values.dictionary_encode()
        distinct = encoded.dictionary.to_pylist()
        if values.null_count or "" in distinct:
            row = pc.index(pc.or_kleene(pc.is_null(values), pc.equal(values, "")), True).as_py() + 1
            raise BadInput(f"row {row}: an empty {column}: name it or remove the row")
        labels.append(Coded(distinct, encoded.indices.to_numpy()))
    return labels


def parquet_labels(
    path: Path, columns: Sequence[str] | Callable[[Sequence[str]], Sequence[str]]
) -> tuple[list[Coded], Mapping[bytes, bytes]]:
    """The labels in columns of a Parquet file, or of the parts in a folder, and the file's metadata.

    The columns are named, or chosen by a function of all names.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = parts_of(path)
    if not files:
        raise BadInput("is a folder without Parquet files: check the path")
    rows = size = 0
    footers, chosen = [], list[str]()
    try:
        for file in files:
            file.stat()  # Arrow's error repeats the path
            with pq.ParquetFile(file) as source:
                chosen = chosen or list(columns(source.schema_arrow.names) if callable(columns) else columns)
                check_columns(chosen, source.schema_arrow.names)
                footers.append(source.metadata)
                groups = [source.metadata.row_group(number) for number in range(source.metadata.num_row_groups)]
                rows, size = rows + source.metadata.num_rows, size + sum(group.total_byte_size for group in groups)
                metadata = source.schema_arrow.metadata or {}
        if rows > _MOST_ROWS or size > MOST_BYTES:
            raise BadInput(f"holds more than {_MOST_ROWS:,} rows or {MOST_BYTES >> 30} GiB: give it fewer")
        tables, many = [], rows > _FEW_ROWS  # other threads take longer to wake than a few rows to read
        for file, footer in zip(files, footers, strict=True):
            # A third of the time of read_table, which takes it for a data set.
            with pq.ParquetFile(file, metadata=footer, pre_buffer=many) as source:
                tables.append(source.read(chosen, use_threads=many))
        return labels_of(pa.concat_tables(tables, promote_options="permissive"), chosen), metadata
    except (pa.ArrowException, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise BadInput(
            f"cannot be read ({reason}): check the path; give a complete file with columns of labels"
        ) from None
