"""Tables of labels: CSV and its dialects, and Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from .errors import PACKED, BadInput
from .files import Coded, opened, parts_of

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_HEADER = 2**20
_FEW_ROWS, _MOST_ROWS, MOST_BYTES = 2**16, 200_000_000, 1 << 34  # of a table


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
        with opened(path) as file:
            if path.is_file() and path.stat().st_size > MOST_BYTES:
                raise BadInput(f"is larger than {MOST_BYTES >> 30} GiB: give it fewer rows")
            yield from _rows_in(io.TextIOWrapper(file, encoding="utf-8-sig", newline=""))
    except UnicodeDecodeError:
        with opened(path) as lines:
            line = next(number for number, text in enumerate(lines, 1) if text.decode(errors="ignore").encode() != text)
        raise BadInput(f"line {line} is not UTF-8: convert the file") from None


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


def readable(path: Path) -> Any:
    """What Arrow and NumPy read of a file: its path, or its bytes if it is packed or a pipe."""
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
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = parts_of(path)
    if not files:
        raise BadInput("is a folder without Parquet files: check the path")
    rows = size = 0
    footers, chosen = [], list[str]()
    try:
        for file in files:
            with pq.ParquetFile(readable(file)) as source:
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
            with pq.ParquetFile(readable(file), metadata=footer, pre_buffer=many) as source:
                tables.append(source.read(chosen, use_threads=many))
        return labels_of(pa.concat_tables(tables, promote_options="permissive"), chosen), metadata
    except (pa.ArrowException, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise BadInput(
            f"cannot be read ({reason}): check the path; give a complete file with columns of labels"
        ) from None
