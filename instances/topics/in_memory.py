"""Topic instances from objects in memory: mappings, pairs, tables, matrices and bipartite graphs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..contract.errors import BadInput
from .files import check_columns, labels_of
from .instance import TopicInstance

if TYPE_CHECKING:
    import networkx as nx

_MISSING = ("NAType", "NaTType")
"""The types of pandas' missing labels."""


def from_object(source: object, *, node_column: str = "node", topic_column: str = "topic") -> tuple[TopicInstance, int]:
    """Build from an object of a type that :func:`overlaybench.read` lists; labels become their texts.

    Returns
    -------
    instance : TopicInstance
    duplicates : int
        The number of rows or pairs that repeat an earlier one.

    Raises
    ------
    BadInput
        If the object is of another type or has no subscription, or two labels have one text; with the row and the fix.
    """
    given: Any = source
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
        "pairs, a table, a bipartite graph or a matrix"
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

    Raises
    ------
    BadInput
        If the attribute is missing, an edge lies within one side, a topic has no edge, or two nodes or two topics have
        the same label.
    """
    side = dict(graph.nodes(data="bipartite"))
    if missing := [v for v in graph if side[v] not in (0, 1)]:
        raise BadInput(f"graph node '{missing[0]}' lacks the attribute bipartite=0 (node) or 1 (topic): set it")
    if isolated := [v for v in graph if side[v] == 1 and graph.degree(v) == 0]:
        raise BadInput(f"topic '{isolated[0]}' has no subscriber: remove it")
    if within := [(a, b) for a, b in graph.edges() if side[a] == side[b]]:
        raise BadInput(f"edge {within[0]} lies within one side: edges join a node and a topic")
    label_of: dict[Hashable, Hashable] = {}
    for number, noun in enumerate(("node", "topic")):
        given = {
            v: v[1] if isinstance(v, tuple) and len(v) == 2 and v[0] == noun else v for v in graph if side[v] == number
        }
        if twice := [label for label, count in Counter(map(str, given.values())).items() if count > 1]:
            raise BadInput(f"two {noun}s have the label '{twice[0]}': rename one")
        label_of |= given
    pairs = ((a, b) if side[a] == 0 else (b, a) for a, b in graph.edges())
    named = ((label_of[node], label_of[topic]) for node, topic in pairs)
    return _from_pairs(named, [label for v, label in label_of.items() if side[v] == 0])[0]
