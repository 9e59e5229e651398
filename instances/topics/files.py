"""Topic instances in files (JSON, CSV, TSV, Parquet), and the kind ``topics``."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ..contract.errors import BadInput
from ..contract.files import Label, atomic_write, converted, errors_in, read_json, write_json
from ..contract.kind import LoadedInstance
from ..contract.overlay import OverlayKind
from .instance import TopicInstance
from .link_costs import CostsInFile, as_labels, from_labels

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

FORMAT = "topics/1"
SEPARATED = (".csv", ".tsv", ".dat", ".txt")


@dataclass(frozen=True)
class TopicsFile:
    """An instance read from a file, and how many of its rows repeated an earlier one (each counts once)."""

    instance: TopicInstance
    duplicates: int


def read_topics(path: str | Path, *, node_column: str = "node", topic_column: str = "topic") -> TopicsFile:
    """Read an instance; the suffix determines the format (.json, .csv, .tsv, .dat, .txt, .parquet).

    Nodes and topics are numbered in the natural order of their labels (n2 before n10), so the order of rows
    or keys in the file does not matter. Other columns are ignored.

    Raises
    ------
    BadInput
        If the file cannot be used; the message names the file, the location and the fix.

    Examples
    --------
    >>> import overlaybench as ob
    >>> from tempfile import TemporaryDirectory
    >>> instance = ob.read({"ann": ["news"], "bob": ["news"]})
    >>> with TemporaryDirectory() as folder:
    ...     ob.write_topics(instance, f"{folder}/wanted.csv")
    ...     ob.read_topics(f"{folder}/wanted.csv").instance == instance
    True
    """
    path, columns = Path(path), (node_column, topic_column)
    with errors_in(path):
        if path.suffix == ".json":
            return _from_json(path)
        if path.suffix == ".parquet":
            return _from_parquet(path, columns)
        if path.suffix in SEPARATED:
            return TopicsFile(*TopicInstance.from_pairs(*_separated(path, columns)))
        raise _unknown_suffix(path)


def write_topics(instance: TopicInstance, path: str | Path) -> None:
    """Write an instance in the format that the suffix determines; the inverse of :func:`read_topics`.

    Examples
    --------
    >>> import overlaybench as ob
    >>> from tempfile import TemporaryDirectory
    >>> instance = ob.read({"ann": ["news"], "bob": ["news"]})
    >>> with TemporaryDirectory() as folder:
    ...     ob.write_topics(instance, f"{folder}/wanted.parquet")
    ...     ob.read(f"{folder}/wanted.parquet").num_nodes
    2
    """
    path = Path(path)
    more = {} if instance.costs is None else {"costs": as_labels(instance.costs, instance.node_label)}
    if path.suffix == ".json":
        write_json(path, {"format": FORMAT, "subscriptions": _subscriptions(instance), **more})
    elif path.suffix == ".parquet":
        atomic_write(path, partial(_write_parquet, instance, more.get("costs")))
    elif path.suffix in SEPARATED and (more or instance.has_nodes_without_topics):
        raise BadInput(f"{path}: a table of text has no place for link costs and nodes without topics: write .json")
    elif path.suffix in SEPARATED:
        atomic_write(path, partial(_write_separated, instance, "," if path.suffix == ".csv" else "\t"))
    else:
        raise _unknown_suffix(path)


def _subscriptions(instance: TopicInstance) -> dict[str, list[str]]:
    """The topics of each node, by label."""
    names = [instance.topic_label(t) for t in range(instance.num_topics)]
    return {
        instance.node_label(v): [names[t] for t in instance.topics_of(v).tolist()] for v in range(instance.num_nodes)
    }


def _unknown_suffix(path: Path) -> BadInput:
    return BadInput(f"{path}: unknown ending '{path.suffix}': use .json, .parquet, {', '.join(SEPARATED)}")


class _TopicsInFile(Struct):
    subscriptions: dict[Label, list[Label]]
    costs: CostsInFile | None = None


def _from_json(path: Path) -> TopicsFile:
    document = read_json(path, FORMAT, _TopicsInFile)
    nodes = [node for node, topics in document.subscriptions.items() for _ in topics]
    listed = list(chain.from_iterable(document.subscriptions.values()))
    without_topics = [node for node, topics in document.subscriptions.items() if not topics]
    return _with_costs(*TopicInstance.from_pairs(nodes, listed, without_topics), document.costs)


def _with_costs(instance: TopicInstance, duplicates: int, costs: CostsInFile | None) -> TopicsFile:
    if costs is not None:
        instance = instance.with_costs(from_labels(costs, map(instance.node_label, range(instance.num_nodes))))
    return TopicsFile(instance, duplicates)


_BLOCK = 1 << 20
_LONGEST_HEADER = 1 << 20
_COSTS, _WITHOUT_TOPICS = b"overlaybench.costs", b"overlaybench.nodes_without_topics"
_MOST_ROWS, _MOST_BYTES = 200_000_000, 1 << 34


def _separated(path: Path, columns: Sequence[str]) -> list[pa.Array]:
    """The labels in the named columns of a CSV or TSV file with a header; a header with a tab makes it TSV.

    Values may be quoted as in RFC 4180 and then contain separators and line breaks. Empty lines are skipped.

    Raises
    ------
    BadInput
        If a line is not UTF-8 or has another number of values than the header, quotes are unbalanced, a label is
        empty (each with the line), or a column is missing or stands twice in the header.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            head = "\n"
            while head and not head.strip("\r\n"):
                head = file.readline(_LONGEST_HEADER + 1)
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}): check the path") from None
    if "\ufffd" in head:
        _check_utf8(path)
    if len(head) > _LONGEST_HEADER:
        raise BadInput(f"its first line has more than {_LONGEST_HEADER:,} characters: give it a header line")
    if not head:
        raise BadInput(f"is empty: give it a header line with the columns {' and '.join(columns)}")
    if path.stat().st_size > _MOST_BYTES:
        raise BadInput(f"is larger than {_MOST_BYTES >> 30} GiB: give it fewer rows")
    delimiter = "\t" if "\t" in head else ","
    check_columns(columns, next(csv.reader([head], delimiter=delimiter)))
    try:
        table = arrow_csv.read_csv(
            path,
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(columns, pa.string()),
                include_columns=list(columns),
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowException as error:
        _explain(path, delimiter, columns)
        raise BadInput(f"{_first_line(error)}: correct the file") from None
    labels = [table[column].combine_chunks() for column in columns]
    if len(table) == 0 or any(_first_empty(column) is not None for column in labels):
        _explain(path, delimiter, columns)
    if _lines(path) > len(table) + 1:
        _explain(path, delimiter, columns)  # a quote that is not closed includes the lines after it
    return labels


def _from_parquet(path: Path, columns: Sequence[str]) -> TopicsFile:
    """The instance of the labels in the named columns, other values converted to text.

    The metadata have the costs as in JSON, and the labels of nodes without topics.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as file:
            source = pq.ParquetFile(file)
            check_columns(columns, source.schema_arrow.names)
            _check_size(source.metadata)
            metadata = source.schema_arrow.metadata or {}
            labels = labels_of(source.read(columns=list(columns)), columns)
    except pa.ArrowException as error:
        raise BadInput(f"{_first_line(error)}: give a complete Parquet file with columns of labels") from None
    except OSError as error:
        reason = error.strerror or _first_line(error)
        raise BadInput(f"cannot be read ({reason}): check the path, and that the file is complete") from None
    try:
        costs, without_topics = (json.loads(metadata.get(key, b"null")) for key in (_COSTS, _WITHOUT_TOPICS))
    except ValueError:
        raise BadInput("its metadata of link costs and nodes are not JSON: write the file again") from None
    pairs = TopicInstance.from_pairs(labels[0], labels[1], converted(without_topics or [], list[str]))
    return _with_costs(*pairs, None if costs is None else converted(costs, CostsInFile))


def labels_of(table: pa.Table, columns: Sequence[str]) -> list[pa.Array]:
    """The labels in the named columns of a table, as text.

    Raises
    ------
    BadInput
        If a label is missing or empty (rows are counted from 1).
    pyarrow.ArrowException
        If a column cannot be converted to text.
    """
    import pyarrow as pa

    labels = [table[column].cast(pa.string()).combine_chunks() for column in columns]
    for column, values in zip(columns, labels, strict=True):
        values.validate(full=True)  # Parquet may hold bytes that are not UTF-8
        if (row := _first_empty(values)) is not None:
            raise BadInput(f"row {row + 1}: an empty {column}: name it or remove the row")
    return labels


def _write_separated(instance: TopicInstance, delimiter: str, path: Path) -> None:
    from pyarrow import csv as arrow_csv

    arrow_csv.write_csv(instance.to_arrow(), path, arrow_csv.WriteOptions(delimiter=delimiter))


def _write_parquet(instance: TopicInstance, costs: object, path: Path) -> None:
    import pyarrow.parquet as pq

    table, metadata = instance.to_arrow(), dict[bytes, object]()
    if costs is not None:
        metadata[_COSTS] = costs
    if instance.has_nodes_without_topics:
        metadata[_WITHOUT_TOPICS] = [node for node, topics in _subscriptions(instance).items() if not topics]
    text = {key: json.dumps(value, separators=(",", ":")) for key, value in metadata.items()}
    pq.write_table(table.replace_schema_metadata(text) if text else table, path)


def _check_size(metadata: pq.FileMetaData) -> None:
    """Refuse a file that would take too much memory once decompressed."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    if metadata.num_rows > _MOST_ROWS or sum(group.total_byte_size for group in groups) > _MOST_BYTES:
        raise BadInput(f"holds more than {_MOST_ROWS:,} rows or {_MOST_BYTES >> 30} GiB: give it fewer")


def check_columns(columns: Sequence[str], present: Sequence[str]) -> None:
    """Raise BadInput unless each column is present once and they differ."""
    if len(set(columns)) < len(columns):
        raise BadInput(f"column '{columns[0]}' is named twice: name one for the nodes, one for the topics")
    for column in columns:
        if column not in present:
            names = ", ".join(f"'{name}'" for name in present)
            raise BadInput(f"no column '{column}' among {names}: name the node and topic columns")
        if list(present).count(column) > 1:
            raise BadInput(f"column '{column}' stands twice in the header: rename one")


def _explain(path: Path, delimiter: str, columns: Sequence[str]) -> None:
    """Raise for the first invalid line, if there is one."""
    _check_utf8(path)
    line = 1
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            header = next(row for row in rows if row)
            count, line = 0, rows.line_num + 1
            for row in rows:
                if row:
                    _check_row(row, header, columns, line)
                count, line = count + bool(row), rows.line_num + 1
        except csv.Error as error:
            raise BadInput(f"line {line}: {error}: correct its quotes") from None
    if count == 0:
        raise BadInput("has no rows under its header: give it at least one (node, topic) row")


def _check_utf8(path: Path) -> None:
    with path.open("rb") as file:
        for number, text in enumerate(file, start=1):
            try:
                text.decode("utf-8")
            except UnicodeDecodeError:
                raise BadInput(f"line {number} is not UTF-8: convert the file") from None


def _check_row(row: Sequence[str], header: Sequence[str], columns: Sequence[str], line: int) -> None:
    if len(row) != len(header):
        raise BadInput(f"line {line}: {len(row)} values under a header of {len(header)}: correct the line")
    for column in columns:
        if not row[header.index(column)]:
            raise BadInput(f"line {line}: an empty {column}: name it or remove the line")


def _lines(path: Path) -> int:
    breaks, last = 0, b"\n"
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            breaks, last = breaks + block.count(b"\n"), block[-1:]
    return breaks + (last != b"\n")


def _first_empty(labels: pa.Array) -> int | None:
    import pyarrow.compute as pc

    empty = pc.or_kleene(pc.is_null(labels), pc.equal(labels, ""))
    row: int = pc.index(empty, True).as_py()
    return row if row >= 0 else None


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0]


class Topics(OverlayKind[TopicInstance]):
    """Subscriptions of nodes to topics (P1 §3)."""

    name, summary = "topics", "subscriptions of nodes to topics; answered by an overlay"
    instance_type, default_problem = TopicInstance, "min-tco"
    format, endings = FORMAT, (*SEPARATED, ".parquet")
    columns, ending = ("node", "topic"), ".parquet"
    sizes, measures = ("nodes", "topics", "subscriptions"), ("edges", "max_degree", "average_degree")

    def read(self, path: Path, columns: Mapping[str, str]) -> LoadedInstance[TopicInstance]:
        read = read_topics(path, **{f"{column}_column": name for column, name in columns.items()})
        remark = f"{path}: {read.duplicates} duplicate (node, topic) rows, each counted once" if read.duplicates else ""
        return LoadedInstance(read.instance, remark)

    def write(self, instance: TopicInstance, path: Path) -> None:
        write_topics(instance, path)

    def size(self, instance: TopicInstance) -> dict[str, int]:
        return dict(zip(self.sizes, (instance.num_nodes, instance.num_topics, instance.num_subscriptions), strict=True))

    def sample(self, instance: TopicInstance, size: int, seed: int) -> TopicInstance:
        return instance.sample(size, seed)


TOPICS = Topics()
