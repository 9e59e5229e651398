"""Topic instances in files (JSON, CSV, TSV, Parquet, sets, HIF) and in memory, and the kind ``topics``.

In memory they are mappings, pairs, tables, matrices, bipartite graphs or hypergraphs.
"""

from __future__ import annotations

import json
import math
from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ..contract.errors import BadInput, unknown_ending
from ..contract.files import (
    Coded,
    Label,
    atomic_write,
    converted,
    errors_in,
    json_of,
    of_format,
    read_start,
    read_text,
    start_of_json,
    unpacked_name,
    write_json,
)
from ..contract.kind import LoadedInstance
from ..contract.overlay import OverlayKind
from ..contract.tables import LONGEST_HEADER, check_columns, labels_of, parquet_labels, separated
from . import hypergraphs
from .instance import FORMAT, TopicInstance
from .link_costs import CostsInFile, as_labels, from_labels

if TYPE_CHECKING:
    import networkx as nx

SEPARATED = (".csv", ".tsv", ".dat", ".txt")
_TEXTS = (*SEPARATED, hypergraphs.SETS, hypergraphs.OLIGOMERS)


def read_topics(
    path: str | Path, *, node_column: str = "node", topic_column: str = "topic"
) -> LoadedInstance[TopicInstance]:
    """Read an instance; the suffix determines the format (.json, .csv, .tsv, .dat, .txt, .parquet, .sets, .oligomers).

    JSON is topics/1 or the Hypergraph Interchange Format; a text whose first line ends with members in braces is a list
    of sets. Nodes and topics are numbered in the natural order of their labels (n2 before n10), so the order of rows or
    keys in the file does not matter. Other columns are ignored. Raises BadInput if the file cannot be used; the message
    names the file, the location and the fix.

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
        ending = unpacked_name(path).suffix
        if ending == ".json":
            return _from_json(path)
        if ending == ".parquet":
            return _from_parquet(path, columns)
        if _holds_sets(path):
            sets = hypergraphs.incidences_of_sets(read_text(path), with_copies=_has_copies(path))
            return LoadedInstance(*_from_pairs(*sets))
        if ending in SEPARATED:
            return LoadedInstance(*TopicInstance.from_pairs(*_separated(path, columns)))
        raise unknown_ending(path, (".json", ".parquet", *_TEXTS))


def _holds_sets(path: Path) -> bool:
    """Whether a text file is a list of sets, by its ending or its first line."""
    ending = unpacked_name(path).suffix
    if ending not in SEPARATED:
        return ending in (hypergraphs.SETS, hypergraphs.OLIGOMERS)
    start = read_start(path, LONGEST_HEADER).lstrip("\ufeff\r\n")
    return hypergraphs.is_set(start.partition("\n")[0].partition("\r")[0])


def _has_copies(path: Path) -> bool:
    return unpacked_name(path).suffix == hypergraphs.OLIGOMERS


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
    if more and (path.name.endswith(hypergraphs.HIF) or path.suffix in _TEXTS):
        raise BadInput(f"{path}: this format has no place for link costs: write .json")
    if instance.has_nodes_without_topics and path.suffix in _TEXTS:
        raise BadInput(f"{path}: this format has no place for nodes without topics: write .json")
    if path.name.endswith(hypergraphs.HIF):
        nodes = map(instance.node_label, range(instance.num_nodes))
        write_json(path, hypergraphs.hif_of(_sets(instance), nodes))
    elif path.suffix in (hypergraphs.SETS, hypergraphs.OLIGOMERS):
        with errors_in(path):
            atomic_write(path, hypergraphs.text_of_sets(_sets(instance), with_copies=_has_copies(path)))
    elif path.suffix == ".json":
        write_json(path, {"format": FORMAT, "subscriptions": _subscriptions(instance), **more})
    elif path.suffix == ".parquet":
        atomic_write(path, partial(_write_parquet, instance, more.get("costs")))
    elif path.suffix in SEPARATED:
        from pyarrow import csv as arrow_csv

        form = arrow_csv.WriteOptions(delimiter="," if path.suffix == ".csv" else "\t")
        atomic_write(path, lambda file: arrow_csv.write_csv(instance.to_arrow(), file, form))
    else:
        raise unknown_ending(path, (".json", ".parquet", *_TEXTS))


def _sets(instance: TopicInstance) -> list[tuple[str, list[str]]]:
    return [
        (instance.topic_label(t), [instance.node_label(v) for v in instance.subscribers(t).tolist()])
        for t in range(instance.num_topics)
    ]


def _subscriptions(instance: TopicInstance) -> dict[str, list[str]]:
    names = [instance.topic_label(t) for t in range(instance.num_topics)]
    return {
        instance.node_label(v): [names[t] for t in instance.topics_of(v).tolist()] for v in range(instance.num_nodes)
    }


class _TopicsInFile(Struct):
    subscriptions: dict[Label, list[Label]]
    costs: CostsInFile | None = None


def _from_json(path: Path) -> LoadedInstance[TopicInstance]:
    data = json_of(read_text(path))
    if hypergraphs.is_hif(data):
        return LoadedInstance(*_from_pairs(*hypergraphs.incidences_of_hif(data)))
    document = of_format(data, FORMAT, _TopicsInFile)
    nodes = [node for node, topics in document.subscriptions.items() for _ in topics]
    listed = list(chain.from_iterable(document.subscriptions.values()))
    without_topics = [node for node, topics in document.subscriptions.items() if not topics]
    return _with_costs(*TopicInstance.from_pairs(nodes, listed, without_topics), document.costs)


def _with_costs(instance: TopicInstance, duplicates: int, costs: CostsInFile | None) -> LoadedInstance[TopicInstance]:
    if costs is not None:
        instance = instance.with_costs(from_labels(costs, map(instance.node_label, range(instance.num_nodes))))
    return LoadedInstance(instance, duplicates)


_COSTS, _WITHOUT_TOPICS = b"overlaybench.costs", b"overlaybench.nodes_without_topics"


def _separated(path: Path, columns: tuple[str, str]) -> tuple[Coded, Coded]:
    """The labels in the named columns of a CSV or TSV file; an empty one is bad input."""
    ones, twos = dict[str, int](), dict[str, int]()
    first, second = array("q"), array("q")
    rows = separated(path)
    one, two = check_columns(columns, next(rows)[1])
    for line, row in rows:
        if not row[one] or not row[two]:
            raise BadInput(f"line {line}: an empty {columns[bool(row[one])]}: name it or remove the line")
        first.append(ones.setdefault(row[one], len(ones)))
        second.append(twos.setdefault(row[two], len(twos)))
    if not len(first):
        raise BadInput("has no rows under its header: give it at least one (node, topic) row")
    return Coded(list(ones), np.frombuffer(first, np.int64)), Coded(list(twos), np.frombuffer(second, np.int64))


def _from_parquet(path: Path, columns: Sequence[str]) -> LoadedInstance[TopicInstance]:
    """The instance of the labels in the named columns; the metadata have costs as in JSON, and nodes without topics."""
    labels, metadata = parquet_labels(path, columns)
    try:
        costs, without_topics = (json.loads(metadata.get(key, b"null")) for key in (_COSTS, _WITHOUT_TOPICS))
    except ValueError:
        raise BadInput("its metadata of link costs and nodes are not JSON: write the file again") from None
    pairs = TopicInstance.from_pairs(labels[0], labels[1], converted(without_topics or [], list[str]))
    return _with_costs(*pairs, None if costs is None else converted(costs, CostsInFile))


def _write_parquet(instance: TopicInstance, costs: object, path: Path) -> None:
    import pyarrow.parquet as pq

    table, metadata = instance.to_arrow(), dict[bytes, object]()
    if costs is not None:
        metadata[_COSTS] = costs
    if instance.has_nodes_without_topics:
        metadata[_WITHOUT_TOPICS] = [node for node, topics in _subscriptions(instance).items() if not topics]
    text = {key: json.dumps(value, separators=(",", ":")) for key, value in metadata.items()}
    pq.write_table(table.replace_schema_metadata(text) if text else table, path)


_MISSING = ("NAType", "NaTType")
"""The types of pandas' missing labels."""


def from_object(source: object, *, node_column: str = "node", topic_column: str = "topic") -> tuple[TopicInstance, int]:
    """Build from an object of a type that :func:`overlaybench.read` lists; labels become their texts.

    Returns the instance, and the number of rows or pairs that repeat an earlier one. Raises BadInput if the object is
    of another type or has no subscription, or two labels have one text; with the row and the fix.
    """
    given: Any = source
    if (incidences := hypergraphs.incidences_of_object(source)) is not None:
        return _from_pairs(*incidences)
    if isinstance(source, Mapping):
        return _from_pairs(_pairs_of(source), source)
    if hasattr(given, "adj") and hasattr(given, "nodes"):
        return from_bipartite(given), 0
    if hasattr(given, "tocoo"):
        entries = given.tocoo()
        stored = entries.data != 0
        return _from_entries(entries.row[stored], entries.col[stored], entries.shape), 0
    if isinstance(source, np.ndarray) and source.dtype.kind in "biuf":
        return _from_matrix(source), 0
    if hasattr(given, "__arrow_c_stream__"):
        return _from_table(given, (node_column, topic_column))
    if isinstance(source, Iterable) and not isinstance(source, str | bytes):
        return _from_pairs(source)
    raise BadInput(
        f"an object of type {type(source).__name__} has no subscriptions: give a path, a mapping of nodes to topics, "
        "pairs, a table, a bipartite graph, a hypergraph or a matrix"
    )


def _pairs_of(mapping: Mapping[Hashable, Iterable[Hashable]]) -> Iterable[tuple[Hashable, Hashable]]:
    for node, topics in mapping.items():
        if isinstance(topics, str | bytes) or not isinstance(topics, Iterable):
            raise BadInput(f"node {node!r} has {topics!r} for its topics: give a list of topics")
        yield from ((node, topic) for topic in topics)


def _from_pairs(pairs: Iterable[Any], further_nodes: Iterable[Hashable] = ()) -> tuple[TopicInstance, int]:
    rows = []
    for row, pair in enumerate(pairs):
        if isinstance(pair, str | bytes) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise BadInput(f"row {row} is {pair!r}: give pairs (node, topic)")
        rows.append(pair)
    nodes = _texts([*(node for node, _ in rows), *further_nodes], "node")
    return TopicInstance.from_pairs(
        nodes[: len(rows)], _texts([topic for _, topic in rows], "topic"), nodes[len(rows) :]
    )


def _texts(labels: list[Any], noun: str) -> list[str]:
    """The texts of labels: equal labels have one text, others must not share it."""
    text_of, label_of = dict[Hashable, str](), dict[str, Hashable]()
    for row, label in enumerate(labels):
        try:
            if label in text_of:
                continue
        except TypeError:
            raise BadInput(f"row {row}: its {noun} {label!r} is not hashable: give a text or a number") from None
        is_nan = isinstance(label, float) and math.isnan(label)
        if label is None or is_nan or type(label).__name__ in _MISSING:
            raise BadInput(f"row {row} has no {noun}: name it or remove the row")
        other = label_of.setdefault(str(label), label)
        if other is not label:
            raise BadInput(f"two {noun}s have the text '{label}': {other!r} and {label!r}: rename one")
        text_of[label] = str(label)
    return [text_of[label] for label in labels]


def _from_table(table: Any, columns: tuple[str, str]) -> tuple[TopicInstance, int]:
    import pyarrow as pa

    if not isinstance(table, pa.Table):
        check_columns(columns, list(table.columns))
        table = table[list(columns)]
    else:
        check_columns(columns, table.column_names)
    try:
        nodes, topics = labels_of(pa.table(table), columns)
    except pa.ArrowException:  # labels of several types in one column
        return _from_pairs(zip(*(table[column] for column in columns), strict=True))
    return TopicInstance.from_pairs(nodes, topics)


def _from_matrix(matrix: npt.NDArray[Any]) -> TopicInstance:
    if matrix.ndim != 2:
        raise BadInput(f"a matrix of shape {matrix.shape}: give one of two dimensions, nodes × topics")
    if (other := np.argwhere((matrix != 0) & (matrix != 1))).size:
        row, column = other[0].tolist()
        value = matrix[row, column]
        raise BadInput(f"entry ({row}, {column}) of the matrix is {value}: give 0 or 1, or pairs as a list of tuples")
    rows, columns = np.nonzero(matrix)
    return _from_entries(rows, columns, matrix.shape)


def _from_entries(rows: npt.NDArray[Any], columns: npt.NDArray[Any], shape: tuple[int, ...]) -> TopicInstance:
    if len(rows) == 0:
        raise BadInput("the matrix has no entry: an instance needs at least one node with one topic")
    keys = np.unique(rows.astype(np.int64) * shape[1] + columns)
    return TopicInstance.from_keys(keys, shape[0], shape[1])


def from_bipartite(graph: nx.Graph[Any]) -> TopicInstance:
    """The instance of a bipartite networkx graph with node attribute ``bipartite=0`` (nodes) or ``1`` (topics).

    The labels are the graph nodes as text; of ``("node", label)`` and ``("topic", label)``, as
    :meth:`.TopicInstance.to_networkx` returns them, the label.

    Raises BadInput if the attribute is missing, an edge lies within one side, a topic has no edge, or two nodes or two
    topics have the same label.
    """
    side = dict(graph.nodes(data="bipartite"))
    if missing := [v for v in graph if side[v] not in (0, 1)]:
        raise BadInput(f"graph node '{missing[0]}' lacks the attribute bipartite=0 (node) or 1 (topic): set it")
    if isolated := [v for v in graph if side[v] == 1 and graph.degree(v) == 0]:
        raise BadInput(f"topic '{isolated[0]}' has no subscriber: remove it")
    if within := [(a, b) for a, b in graph.edges() if side[a] == side[b]]:
        raise BadInput(f"edge {within[0]} lies within one side: edges join a node and a topic")
    noun = {v: ("node", "topic")[side[v]] for v in graph}
    label_of = {v: v[1] if isinstance(v, tuple) and len(v) == 2 and v[0] == noun[v] else v for v in graph}
    for (what, label), count in Counter((noun[v], str(label_of[v])) for v in graph).items():
        if count > 1:
            raise BadInput(f"two {what}s have the label '{label}': rename one")
    pairs = ((a, b) if side[a] == 0 else (b, a) for a, b in graph.edges())
    named = ((label_of[node], label_of[topic]) for node, topic in pairs)
    return _from_pairs(named, [label for v, label in label_of.items() if side[v] == 0])[0]


class Topics(OverlayKind[TopicInstance]):
    """Subscriptions of nodes to topics (P1 §3)."""

    name, summary = "topics", "subscriptions of nodes to topics; answered by an overlay"
    instance_type, default_problem, priced_problem = TopicInstance, "min-tco", "weighted-tco"
    format, endings, first_keys = FORMAT, (*_TEXTS, ".parquet"), hypergraphs.HIF_KEYS
    columns, ending = ("node", "topic"), ".parquet"
    sizes, measures = ("nodes", "topics", "subscriptions"), ("edges", "max_degree", "average_degree")

    def read(self, path: Path, columns: Mapping[str, str]) -> LoadedInstance[TopicInstance]:
        return read_topics(path, **{f"{column}_column": name for column, name in columns.items()})

    def is_plain(self, path: Path) -> bool:
        return start_of_json(path)[0] == FORMAT if path.suffix == ".json" else not _holds_sets(path)

    def write(self, instance: TopicInstance, path: Path) -> None:
        write_topics(instance, path)


TOPICS = Topics()
