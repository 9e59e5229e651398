"""Tables of labels: CSV and its dialects, and Parquet."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO
from urllib.parse import unquote

from .errors import PACKED, BadInput, not_utf8
from .files import Coded, opened, parts_of

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_HEADER = 2**20
_AT_ONCE = 256  # rows: many lists at once take the time of collecting garbage
_FEW_ROWS, _MOST_ROWS, MOST_BYTES = 2**16, 200_000_000, 1 << 34  # of a table


def check_columns(columns: Sequence[str], present: Sequence[str]) -> list[int]:
    """The positions of columns; raises BadInput unless each is present once and they differ."""
    if len(set(columns)) < len(columns):
        twice, _ = Counter(columns).most_common(1)[0]
        raise BadInput(f"column '{twice}' is named twice: name one for the nodes, one for the topics")
    for column in columns:
        if column not in present:
            names = ", ".join(f"'{name}'" for name in present)
            option = f" (--{column}-column NAME)" if column in ("node", "topic") else ""
            fix = f"name the column that is meant{option}{_OTHERWISE}"
            raise BadInput(f"no column '{column}' among {names or 'none'}: {fix}")
        if list(present).count(column) > 1:
            raise BadInput(f"column '{column}' stands twice in the header: rename one")
    return list(map(list(present).index, columns))


_OTHERWISE = (
    ", or separate columns by , ; | tabs or blanks; without a header, put the line node,topic first; a file with a set "
    "on each line ends with .sets"
)


def separated(path: Path, columns: Sequence[str] = ()) -> Iterator[tuple[int, list[str]]]:
    """The line on which each row of a table begins, and its cells; the first row is the header.

    A header with a tab makes it TSV, any other one CSV. If it lacks one of the `columns`, the first line that has them
    is the header, behind comments (and Excel's ``sep=;``), whatever the case of its names: separated by tabs, commas,
    semicolons, ``|``, or aligned by blanks; and its names are given as in `columns`. Values may be quoted as in RFC
    4180 and then contain separators and line breaks. Empty lines are skipped.

    Raises BadInput if a line is not UTF-8 or has another number of values than the header (each with the line), quotes
    are unbalanced, or there is no header.
    """
    for begins, rows in row_blocks(path, columns):
        yield from zip(begins, rows, strict=True)


def row_blocks(path: Path, columns: Sequence[str]) -> Iterator[tuple[Sequence[int], list[list[str]]]]:
    """The rows of :func:`separated` in blocks, the first of which is the header: two thirds of the time."""
    try:
        with opened(path) as file:
            if path.is_file() and path.stat().st_size > MOST_BYTES:
                raise BadInput(f"is larger than {MOST_BYTES >> 30} GiB: give it fewer rows")
            yield from _blocks_in(io.TextIOWrapper(file, encoding="utf-8-sig", newline=""), columns)
    except UnicodeDecodeError:
        with opened(path) as lines:
            line, text = next(
                (n, text) for n, text in enumerate(lines, 1) if text.decode(errors="ignore").encode() != text
            )
        raise not_utf8(f"line {line}", text) from None


def is_plain_table(path: Path, columns: Sequence[str]) -> bool:
    """Whether the first line of a table that is not empty is a header in CSV or TSV with these columns."""
    with opened(path) as file:
        return _begin(io.TextIOWrapper(file, encoding="utf-8-sig", newline=""), columns)[1].is_plain


class _Dialect(NamedTuple):
    """How the lines of a table are divided; `blanks` around cells are no part of them."""

    delimiter: str
    header: Sequence[str] = ()
    blanks: bool = False
    is_plain: bool = False


_DELIMITERS, _ALIGNED = ("\t", ",", ";", "|"), " "
_COMMENTS, _MOST_COMMENTS = ("#", "%", "//", "--", '"#', "sep=", "SEP="), 10_000
_RULE = re.compile(r"[-+|=:\s]*[-=]{3}[-+|=:\s]*")


def _begin(file: TextIO, columns: Sequence[str]) -> tuple[list[str], _Dialect]:
    """The lines of a table up to its header, and its dialect."""
    lines, plain, stated = list[str](), None, ""
    while len(lines) < _MOST_COMMENTS and (line := file.readline(LONGEST_HEADER + 1)):
        lines.append(line)
        if len(line) > LONGEST_HEADER:
            raise BadInput(f"line {len(lines)} has more than {LONGEST_HEADER:,} characters: break it into rows")
        text = line.strip("\r\n")
        if not text:
            continue
        if plain is None:
            plain, first = _Dialect("\t" if "\t" in line else ",", is_plain=True), len(lines)
            if not columns or set(columns) <= set(_cells(text, plain.delimiter)):
                return lines, plain
        for delimiter in [stated] if stated else [*_DELIMITERS, _ALIGNED]:
            raw = _cells(text, delimiter)
            header = _named(raw, columns)
            if set(columns) <= set(header):
                padded = f"{delimiter} " in text or any(cell != cell.strip() for cell in raw)
                return lines, _Dialect(delimiter, header, blanks=padded)
        if not text.startswith(_COMMENTS):
            break
        stated = text[4:5] if text[:4].lower() == "sep=" else stated
    return lines[: first if plain else None], plain or _Dialect(",")


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == _ALIGNED:
        return line.split()
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=delimiter != "\t"), [])
    except csv.Error:
        return []


def _named(header: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The header with the names of `columns` where it has them in another case, with blanks or a sign of comments."""
    if set(columns) <= set(header):
        return list(header)
    alike = [_key(name) for name in header]
    wanted = {_key(name): name for name in columns if alike.count(_key(name)) == 1}
    return [wanted.get(key, name) for key, name in zip(alike, header, strict=True)]


def _key(name: str) -> str:
    return name.strip().removeprefix("#").strip().casefold()


def _blocks_in(file: TextIO, columns: Sequence[str]) -> Iterator[tuple[Sequence[int], list[list[str]]]]:
    lines, dialect = _begin(file, columns)
    before, head = len(lines) - 1, lines[-1:]
    if dialect.delimiter == _ALIGNED:
        yield [before + 1], [list(dialect.header)]
        yield from (([at], [row]) for at, row in _aligned(file, before + 2, dialect.header, head[0].split()))
        return
    reader = csv.reader(chain(head, file), delimiter=dialect.delimiter, skipinitialspace=dialect.blanks, strict=True)
    begin, begins, rows = before + 1, list[int](), list[list[str]]()
    try:
        header = next(reader, [])
        if not header:
            raise BadInput("is empty: give it a header line with the names of its columns")
        yield [begin], [list(dialect.header) or header]
        begin = before + reader.line_num + 1
        for row in reader:
            # Left out are the header of a table that was joined, and the rule under a header.
            if row and (dialect.is_plain or (row != header and not _RULE.fullmatch("".join(row)))):
                if len(row) != len(header):
                    raise BadInput(f"line {begin}: {len(row)} values under a header of {len(header)}: correct the line")
                begins.append(begin)
                rows.append([cell.strip() for cell in row] if dialect.blanks else row)
                if len(rows) == _AT_ONCE:
                    yield begins, rows
                    begins, rows = [], []
            begin = before + reader.line_num + 1
    except csv.Error as error:
        raise BadInput(f"line {begin}: {error}: correct its quotes") from None
    if rows:
        yield begins, rows


def _aligned(file: TextIO, begin: int, header: Sequence[str], words: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table whose columns are aligned by blanks; headers that are repeated, and rules, are left out."""
    for number, line in enumerate(file, begin):
        row = found = line.split()
        if not row or row == words or _RULE.fullmatch(line.strip()):
            continue
        if len(row) != len(header):
            row = re.split(r"\s{2,}", line.strip())
        if len(row) != len(header):
            raise BadInput(f"line {number}: {len(found)} values under a header of {len(header)}: correct the line")
        yield number, row


def labels_of(table: pa.Table, columns: Sequence[str]) -> list[Coded]:
    """The labels in the named columns of a table, as text.

    Raises BadInput if a label is missing or empty, or none (:func:`label_texts`); rows are counted from 1.
    """
    import pyarrow.compute as pc

    labels = []
    for column in columns:
        values = label_texts(table[column], column).combine_chunks()
        encoded = values.dictionary_encode()
        distinct = encoded.dictionary.to_pylist()
        if values.null_count or "" in distinct:
            row = pc.index(pc.or_kleene(pc.is_null(values), pc.equal(values, "")), True).as_py() + 1
            raise BadInput(f"row {row}: an empty {column}: name it or remove the row")
        labels.append(Coded(distinct, encoded.indices.to_numpy()))
    return labels


def _partition(path: Path, part: Path) -> dict[str, str | None]:
    """The values of columns in the names of the folders between a folder and a part, as they are written there."""
    named = (name.partition("=") for name in part.relative_to(path).parent.parts) if part != path else ()
    return {column: None if value == _NO_VALUE else unquote(value) for column, _, value in named}


_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = 2**53
"""Floating-point numbers from here on are not known to the last digit."""


def label_texts(values: Any, column: str) -> Any:
    """An array or chunked array of labels as text, by one rule on one machine and on Spark.

    Texts, integers, truth values, dates and decimals have the text that Arrow gives them, bytes are UTF-8. A whole
    floating-point number is an integer, as tables have them where a column had gaps. Raises BadInput for other numbers
    and types (times have no one text); rows are counted from 1. A missing label is null.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(values.type):
        values = pc.cast(values, values.type.value_type)
    kind = values.type
    if pa.types.is_floating(kind):
        values = pc.cast(values, pa.float64())
        whole = pc.and_(pc.equal(values, pc.floor(values)), pc.less(pc.abs(values), float(_WHOLE)))
        if (row := pc.index(whole, False).as_py()) >= 0:
            number = values[row].as_py()
            raise BadInput(f"row {row + 1}: {column} {number!r} is no whole number below 2^53: give labels as text")
        values = pc.cast(values, pa.int64())
    allowed = ("string", "large_string", "string_view", "integer", "boolean", "date32", "decimal", "binary", "null")
    if not any(getattr(pa.types, f"is_{name}")(values.type) for name in (*allowed, "large_binary")):
        fix = "cast it to text, as str() gives it" if "uuid" in str(kind) else "cast it to text"
        raise BadInput(f"column '{column}' has type {kind}, and labels are texts or whole numbers: {fix}")
    try:
        texts = pc.cast(values, pa.string())
        texts.validate(full=True)  # Parquet may hold bytes that are not UTF-8
    except pa.ArrowInvalid:
        fix = "cast it to text; of a UUID, as str() gives it"
        raise BadInput(f"column '{column}' has bytes that are no UTF-8 text: {fix}") from None
    return texts


def readable(path: Path) -> Any:
    """The source from which Arrow and NumPy read a file: its path, or the bytes of a packed file or a pipe."""
    if path.is_file() and path.suffix not in PACKED:
        return path
    with opened(path) as file:
        return io.BytesIO(file.read())


def parquet_labels(
    path: Path, columns: Sequence[str] | Callable[[Sequence[str]], Sequence[str]]
) -> tuple[list[Coded], Mapping[bytes, bytes]]:
    """The labels in columns of a Parquet file, or of the parts in a folder, and the file's metadata.

    The columns are named, or chosen by a function of all names.
    """
    with arrow_errors():
        table, metadata = parquet_table(path, columns)
        return labels_of(table, table.column_names), metadata


@contextmanager
def arrow_errors(fix: str = "give a complete file with columns of labels") -> Iterator[None]:
    """Turn the errors of Arrow and of the system, and values out of place, into bad input."""
    import pyarrow as pa

    try:
        yield
    except BadInput:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise BadInput(f"cannot be read ({reason}): check the path; {fix}") from None


def parquet_table(
    path: Path, columns: Sequence[str] | Callable[[Sequence[str]], Sequence[str]]
) -> tuple[pa.Table, Mapping[bytes, bytes]]:
    """The columns themselves, as :func:`parquet_labels` chooses them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = parts_of(path)
    if not files:
        raise BadInput("is a folder without Parquet files: check the path")
    rows = size = 0
    footers, chosen = [], list[str]()
    for file in files:
        with pq.ParquetFile(readable(file)) as source:
            names = [*source.schema_arrow.names, *_partition(path, file)]
            chosen = chosen or list(columns(names) if callable(columns) else columns)
            check_columns(chosen, names)
            footers.append(source.metadata)
            groups = [source.metadata.row_group(number) for number in range(source.metadata.num_row_groups)]
            rows, size = rows + source.metadata.num_rows, size + sum(group.total_byte_size for group in groups)
            metadata = source.schema_arrow.metadata or {}
    if rows > _MOST_ROWS or size > MOST_BYTES:
        raise BadInput(f"holds more than {_MOST_ROWS:,} rows or {MOST_BYTES >> 30} GiB: give it fewer")
    tables, many = [], rows > _FEW_ROWS  # other threads take longer to wake than a few rows to read
    for file, footer in zip(files, footers, strict=True):
        # A third of the time of read_table, which takes it for a data set.
        with pq.ParquetFile(readable(file), metadata=footer, pre_buffer=many) as source:
            values = _partition(path, file)
            table = source.read([name for name in chosen if name not in values], use_threads=many)
            for name, value in values.items():
                table = table.append_column(name, pa.array([value] * table.num_rows, pa.string()))
            tables.append(table.select(chosen))
    return pa.concat_tables(tables, promote_options="permissive"), metadata
