"""Topic instances in files (JSON, CSV, TSV, Parquet, sets, HIF) and in memory, and the kind ``topics``.

In memory they are mappings, pairs, tables, matrices, bipartite graphs or hypergraphs.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, repeat
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
    unpacked_name,
    write_json,
)
from ..contract.kind import LoadedInstance
from ..contract.overlay import OverlayKind
from ..contract.tables import LONGEST_HEADER, check_columns, is_plain_table, labels_of, parquet_labels, row_blocks
from ..contract.terms import said
from . import hypergraphs, neighbours
from .instance import FORMAT, TopicInstance
from .link_costs import CostsInFile, as_labels, from_labels
from .members import LabelRows, Labels, Reading, Remarks, as_members, joined, judge_labels, refuse_single_members

if TYPE_CHECKING:
    import networkx as nx

SEPARATED = (".csv", ".tsv", ".dat", ".txt")
_TEXTS = (*SEPARATED, hypergraphs.SETS, hypergraphs.OLIGOMERS)


def read_topics(
    path: str | Path,
    *,
    node_column: str | Sequence[str] = "node",
    topic_column: str | Sequence[str] = "topic",
    separator: str = "",
    copies: bool = False,
    as_is: bool = False,
) -> LoadedInstance[TopicInstance]:
    """Read an instance; the suffix determines the format (.json, .csv, .tsv, .dat, .txt, .parquet, .sets, .oligomers).

    JSON is topics/1 or the Hypergraph Interchange Format; a text whose first line ends with members in braces is a list
    of sets. Nodes and topics are numbered in the natural order of their labels (n2 before n10), so the order of rows or
    keys in the file does not matter. Other columns are ignored. Raises BadInput if the file cannot be used; the message
    names the file, the location and the fix.

    Parameters
    ----------
    node_column, topic_column : str or sequence of str
        The columns of a table. Several are one key: the label ``a|b`` for the values a and b.
    separator : str
        Between members of a list: in a list of sets, where it is found if it is not stated, and in the cells of the
        columns, which are labels if it is not stated.
    copies : bool
        Members such as ``A(2)`` are copies of one, as they are in ``.oligomers``.
    as_is : bool
        The labels of tables are taken as they stand, blanks included, and topics of one subscriber each are meant:
        otherwise a file without any other topic is refused, because its lists are probably read as labels.

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
    path = Path(path)
    with errors_in(path):
        ending = unpacked_name(path).suffix
        reading = Reading.of(node_column, topic_column, separator, copies or _has_copies(path), as_is)
        if ending == ".json":
            return _from_json(path, reading)
        if ending in neighbours.RECORDS:
            return _of_labels(neighbours.columns_of_lines(read_text(path), reading), reading, is_plain=False)
        if ending in neighbours.GRAPHS:
            return _of_incidences(neighbours.incidences_of_graph(read_text(path), ending), reading)
        if ending == neighbours.HMETIS:
            return _of_incidences(neighbours.incidences_of_hmetis(read_text(path)), reading)
        if ending == ".parquet":
            return _from_parquet(path, reading)
        if _holds_sets(path):
            return _from_sets(read_text(path), reading)
        if ending in SEPARATED:
            labels = _separated(path, reading)
            return _of_labels(labels, reading, is_plain=is_plain_table(path, [*reading.node, *reading.topic]))
        raise unknown_ending(path, (".json", ".parquet", *_TEXTS, *TOPICS.only_read))


def _of_labels(
    labels: Sequence[Labels],
    reading: Reading,
    further_nodes: Sequence[str] = (),
    *,
    is_plain: bool = True,
) -> LoadedInstance[TopicInstance]:
    """The instance of the labels in the columns of a table, several of which are one key, and remarks on them."""
    remarks, nodes, topics = Remarks(), labels[: len(reading.node)], labels[len(reading.node) :]
    node, rows = _key(nodes, "node", reading.node, reading, remarks)
    topic, split = _key([each.of_rows(rows) for each in topics], "topic", reading.topic, reading, remarks)
    node = node.of_rows(split)
    is_plain &= [node] == list(nodes) and [topic] == list(topics)
    refuse_single_members(node, topic, reading, remarks)
    instance, duplicates = TopicInstance.from_pairs(node.coded, topic.coded, further_nodes)
    return LoadedInstance(instance, duplicates, remarks.lines(), is_plain)


def _key(
    columns: Sequence[Labels], noun: str, names: Sequence[str], reading: Reading, remarks: Remarks
) -> tuple[Labels, npt.NDArray[np.int64] | None]:
    """One label a row of the values in columns, and the row of each where lists were split."""
    if len(columns) > 1:
        reading = replace(reading, separator="")  # a list is no part of a key
    rows = None
    read = list[Labels]()
    for labels, name in zip(columns, names, strict=True):
        own, rows = (labels, None) if reading.as_is else as_members(labels, reading, remarks)
        judge_labels(own, noun, reading, "", remarks, name)
        read.append(own)
    return joined(read), rows


def _from_sets(text: str, reading: Reading) -> LoadedInstance[TopicInstance]:
    remarks, rows = Remarks(), LabelRows(2)
    sets, separator = hypergraphs.sets_in(text, reading, remarks)
    for line, name, members in sets:
        rows.add(repeat(line, len(members)), (members, repeat(name, len(members))))
    nodes, topics = rows.columns()
    judge_labels(nodes, "node", reading, separator, remarks)
    refuse_single_members(nodes, topics, reading, remarks)
    instance, duplicates = TopicInstance.from_pairs(nodes.coded, topics.coded)
    return LoadedInstance(instance, duplicates, remarks.lines(), is_plain=False)


def _holds_sets(path: Path) -> bool:
    """Whether a text file is a list of sets, by its ending or its first line."""
    ending = unpacked_name(path).suffix
    if ending not in SEPARATED:
        return ending in (hypergraphs.SETS, hypergraphs.OLIGOMERS)
    lines = read_start(path, LONGEST_HEADER).removeprefix("\ufeff").splitlines()
    return hypergraphs.is_set(next((line for line in lines if line.strip() and not line.startswith("#")), ""))


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
        write_json(path, {"format": FORMAT, "subscriptions": subscriptions(instance), **more})
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


def subscriptions(instance: TopicInstance) -> dict[str, list[str]]:
    """The topics of each node by label: the inverse of :meth:`.TopicInstance.from_subscriptions`."""
    names = [instance.topic_label(t) for t in range(instance.num_topics)]
    return {
        instance.node_label(v): [names[t] for t in instance.topics_of(v).tolist()] for v in range(instance.num_nodes)
    }


class _TopicsInFile(Struct):
    subscriptions: dict[Label, list[Label]]
    costs: CostsInFile | None = None


def _from_json(path: Path, reading: Reading) -> LoadedInstance[TopicInstance]:
    data = json_of(read_text(path))
    if hypergraphs.is_hif(data):
        return _of_incidences(hypergraphs.incidences_of_hif(data), reading)
    if (incidences := neighbours.incidences_of_json(data)) is not None:
        return _of_incidences(incidences, reading)
    if isinstance(data, list):
        return _of_labels(neighbours.columns_of_records(data, reading), reading, is_plain=False)
    document = of_format(data, FORMAT, _TopicsInFile)
    nodes = [node for node, topics in document.subscriptions.items() for _ in topics]
    listed = list(chain.from_iterable(document.subscriptions.values()))
    without_topics = [node for node, topics in document.subscriptions.items() if not topics]
    instance, duplicates = TopicInstance.from_pairs(nodes, listed, without_topics)
    remarks = _judged(instance, reading)
    return LoadedInstance(_with_costs(instance, document.costs), duplicates, remarks.lines(), is_plain=True)


def _of_incidences(incidences: hypergraphs.Incidences, reading: Reading) -> LoadedInstance[TopicInstance]:
    instance, duplicates = _from_pairs(*incidences)
    return LoadedInstance(instance, duplicates, _judged(instance, reading).lines(), is_plain=False)


def _judged(instance: TopicInstance, reading: Reading) -> Remarks:
    """Remarks on the labels of an instance whose file says by itself what they are, such as JSON."""
    remarks = Remarks()

    def of_node(node: int) -> str:
        return f"node '{instance.node_label(node)}'"

    nodes = np.repeat(np.arange(instance.num_nodes), np.diff(instance.node_offsets))
    by_node = Labels(Coded([instance.node_label(v) for v in range(instance.num_nodes)], nodes), of_node)
    labels = [instance.topic_label(t) for t in range(instance.num_topics)]
    by_topic = Labels(
        Coded(labels, instance.node_topics.astype(np.int64)), lambda t: of_node(int(instance.subscribers(t)[0]))
    )
    for one, noun in ((by_node, "node"), (by_topic, "topic")):
        judge_labels(one, noun, reading, "", remarks)
    if len(instance.node_topics) == instance.num_topics and not reading.as_is:
        remarks.add(said("is that meant"), said("every topic has one subscriber"), of_node(int(nodes[0])))
    return remarks


def _with_costs(instance: TopicInstance, costs: CostsInFile | None) -> TopicInstance:
    if costs is None:
        return instance
    return instance.with_costs(from_labels(costs, map(instance.node_label, range(instance.num_nodes))))


_COSTS, _WITHOUT_TOPICS = b"overlaybench.costs", b"overlaybench.nodes_without_topics"


def _separated(path: Path, reading: Reading) -> list[Labels]:
    """The labels in the columns of the nodes and the topics of a CSV or TSV file; an empty one is bad input."""
    names = [*reading.node, *reading.topic]
    blocks, read = row_blocks(path, names), LabelRows(len(names))
    places = check_columns(names, next(blocks)[1][0])
    for lines, rows in blocks:
        cells = [*zip(*rows, strict=True)]
        read.add(lines, [cells[at] for at in places])
    labels = read.columns()
    if not len(labels[0].coded):
        raise BadInput("has no rows under its header: give it at least one (node, topic) row")
    for name, each in zip(names, labels, strict=True):
        for code, text in enumerate(each.coded.distinct):
            if not text or (text.isspace() and not reading.as_is):
                raise BadInput(f"{each.place(code)}: an empty {name}: name it or remove the line")
    return labels


def _from_parquet(path: Path, reading: Reading) -> LoadedInstance[TopicInstance]:
    """The instance of the labels in the named columns; the metadata have costs as in JSON, and nodes without topics."""
    labels, metadata = parquet_labels(path, [*reading.node, *reading.topic])
    try:
        costs, without_topics = (json.loads(metadata.get(key, b"null")) for key in (_COSTS, _WITHOUT_TOPICS))
    except ValueError:
        raise BadInput("its metadata of link costs and nodes are not JSON: write the file again") from None
    loaded = _from_columns(labels, reading, converted(without_topics or [], list[str]))
    given = None if costs is None else converted(costs, CostsInFile)
    return replace(loaded, instance=_with_costs(loaded.instance, given))


def _from_columns(
    coded: Sequence[Coded], reading: Reading, further_nodes: Sequence[str] = ()
) -> LoadedInstance[TopicInstance]:
    """The instance of the labels in the columns of a table that has numbers of rows."""
    columns = [Labels.at(each, lambda row: f"row {row + 1}") for each in coded]
    return _of_labels(columns, reading, further_nodes, is_plain=False)


def _write_parquet(instance: TopicInstance, costs: object, path: Path) -> None:
    import pyarrow.parquet as pq

    table, metadata = instance.to_arrow(), dict[bytes, object]()
    if costs is not None:
        metadata[_COSTS] = costs
    if instance.has_nodes_without_topics:
        metadata[_WITHOUT_TOPICS] = [node for node, topics in subscriptions(instance).items() if not topics]
    text = {key: json.dumps(value, separators=(",", ":")) for key, value in metadata.items()}
    pq.write_table(table.replace_schema_metadata(text) if text else table, path)


_MISSING = ("NAType", "NaTType")
"""The types of pandas' missing labels."""


def from_object(source: object, reading: Reading) -> LoadedInstance[TopicInstance]:
    """Build from an object of a type that :func:`overlaybench.read` lists; labels become their texts.

    The labels of a table are read as those of a file. Raises BadInput if the object is of another type or has no
    subscription, or two labels have one text; with the row and the fix.
    """
    if hasattr(source, "__arrow_c_stream__") and not isinstance(source, Mapping):
        return _from_table(source, reading)
    return LoadedInstance(*_from_object(source))


def _from_object(source: object) -> tuple[TopicInstance, int]:
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


def _from_table(table: Any, reading: Reading) -> LoadedInstance[TopicInstance]:
    import pyarrow as pa

    columns = [*reading.node, *reading.topic]
    if not hasattr(table, "__dataframe__") or isinstance(table, pa.RecordBatch):  # a stream, as DuckDB's relations are
        try:
            table = pa.table(table)
        except (pa.ArrowException, TypeError, ValueError):
            name = type(table).__name__
            raise BadInput(f"an object of type {name} is no table: give one with columns of labels") from None
    check_columns(columns, list(getattr(table, "column_names", table.columns)))
    table = table.select(columns) if isinstance(table, pa.Table) else table[columns]
    try:
        labels = labels_of(pa.table(table), columns)
    except pa.ArrowException:  # labels of several types in one column
        given = [_texts(list(table[column]), column) for column in columns]
        labels = [Coded.of(texts) for texts in given]
    return _from_columns(labels, reading)


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
    example = ("zipf", "--nodes 30 --topics 15 --subscriptions 4")
    proof_endings = (".csv", ".tsv", ".json")
    panels = "compare.figures.panels:TopicOverlays"
    instance_type, default_problem, priced_problem = TopicInstance, "min-tco", "weighted-tco"
    format = FORMAT
    endings, only_read = (*_TEXTS, ".parquet"), (*neighbours.RECORDS, *neighbours.GRAPHS, neighbours.HMETIS)
    first_keys = (*hypergraphs.HIF_KEYS, *neighbours.XGI_KEYS, "type", "[")
    columns, settings, ending = ("node", "topic"), ("separator", "copies", "as_is"), ".parquet"
    sizes, measures = ("nodes", "topics", "subscriptions"), ("edges", "max_degree", "average_degree")

    def read(self, path: Path, columns: Mapping[str, Any]) -> LoadedInstance[TopicInstance]:
        given = {f"{name}_column" if name in self.columns else name: value for name, value in columns.items()}
        return read_topics(path, **given)

    def write(self, instance: TopicInstance, path: Path) -> None:
        write_topics(instance, path)


TOPICS = Topics()
