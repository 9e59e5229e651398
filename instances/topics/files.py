"""Topic instances in files: topics/1 JSON, and CSV, TSV or Parquet rows of (node, topic); networkx graphs."""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from ..errors import BadInput
from ..files import atomic_write, read_json
from .instance import TopicInstance
from .rows import parquet_rows, separated_rows

FORMAT = "topics/1"
_SIDES = ("node", "topic")
_SEPARATED = (".csv", ".tsv", ".dat", ".txt")


@dataclass(frozen=True)
class TopicsFile:
    """An instance read from a file, and how many of its rows repeated an earlier one (each counts once)."""

    instance: TopicInstance
    duplicates: int


def read_topics(path: Path, *, node_column: str = "node", topic_column: str = "topic") -> TopicsFile:
    """Read an instance; the name's ending tells the format (.json, .csv, .tsv, .dat, .txt, .parquet).

    Nodes and topics are numbered in the natural order of their labels (n2 before n10), so the order of rows
    or keys in the file does not matter. Columns other than the two named are ignored.

    Raises
    ------
    BadInput
        With the file, the place and the mend, for whatever is wrong with it.
    """
    try:
        if path.suffix == ".json":
            return _from_json(path)
        if path.suffix == ".parquet":
            labels = parquet_rows(path, (node_column, topic_column))
        elif path.suffix in _SEPARATED:
            labels = separated_rows(path, (node_column, topic_column))
        else:
            raise _unknown_ending(path)
        return TopicsFile(*TopicInstance.from_pairs(*labels))
    except BadInput as error:
        raise error if str(error).startswith(f"{BadInput(str(path))}: ") else BadInput(f"{path}: {error}") from None


def write_topics(instance: TopicInstance, path: Path) -> None:
    """Write an instance in the format that the name's ending tells; the inverse of :func:`read_topics`."""
    if path.suffix == ".json":
        text = json.dumps({"format": FORMAT, "subscriptions": _subscriptions(instance)}, ensure_ascii=False, indent=1)
        atomic_write(path, lambda file: file.write_text(text + "\n", encoding="utf-8"))
    elif path.suffix == ".parquet":
        atomic_write(path, lambda file: pq.write_table(_rows(instance), file))
    elif path.suffix in _SEPARATED:
        delimiter = "," if path.suffix == ".csv" else "\t"
        options = pa.csv.WriteOptions(delimiter=delimiter)
        atomic_write(path, lambda file: pa.csv.write_csv(_rows(instance), file, options))
    else:
        raise _unknown_ending(path)


def _unknown_ending(path: Path) -> BadInput:
    return BadInput(f"{path}: unknown ending '{path.suffix}': use .json, .parquet, {', '.join(_SEPARATED)}")


def from_bipartite(graph: nx.Graph[Any]) -> TopicInstance:
    """Build from a networkx bipartite graph whose nodes carry ``bipartite=0`` (nodes) or ``1`` (topics).

    The labels are the graph nodes as text; ``("node", label)`` and ``("topic", label)``, as :func:`to_bipartite`
    has them, stand for their label.

    Raises
    ------
    BadInput
        If the attribute is missing, an edge lies within one side, a node or topic has no edge, or two of a side
        have one label.
    """
    side = nx.get_node_attributes(graph, "bipartite")
    if bare := [v for v in graph if side.get(v) not in (0, 1)]:
        raise BadInput(f"graph node '{bare[0]}' lacks the attribute bipartite=0 (node) or 1 (topic): set it")
    if lonely := [v for v in graph if graph.degree(v) == 0]:
        kind, lack = ("node", "topic") if side[lonely[0]] == 0 else ("topic", "subscriber")
        raise BadInput(f"{kind} '{lonely[0]}' has no {lack}: remove it")
    if crossed := [(a, b) for a, b in graph.edges() if side[a] == side[b]]:
        raise BadInput(f"edge {crossed[0]} lies within one side: edges join a node and a topic")
    labels = {v: _label(v, _SIDES[side[v]]) for v in graph}
    taken: set[tuple[int, str]] = set()
    for v, label in labels.items():
        if (side[v], label) in taken:
            raise BadInput(f"two {_SIDES[side[v]]}s have the label '{label}': rename one")
        taken.add((side[v], label))
    pairs = [(a, b) if side[a] == 0 else (b, a) for a, b in graph.edges()]
    return TopicInstance.from_pairs([labels[a] for a, _ in pairs], [labels[b] for _, b in pairs])[0]


def _label(graph_node: Hashable, kind: str) -> str:
    if isinstance(graph_node, tuple) and len(graph_node) == 2 and graph_node[0] == kind:
        return str(graph_node[1])
    return str(graph_node)


def to_bipartite(instance: TopicInstance) -> nx.Graph[tuple[str, str]]:
    """The subscriptions as a bipartite networkx graph on ("node", label) and ("topic", label)."""
    graph: nx.Graph[tuple[str, str]] = nx.Graph()
    for node, topics in _subscriptions(instance).items():
        graph.add_node(("node", node), bipartite=0)
        for topic in topics:
            graph.add_node(("topic", topic), bipartite=1)
            graph.add_edge(("node", node), ("topic", topic))
    return graph


def _from_json(path: Path) -> TopicsFile:
    subscriptions = read_json(path, FORMAT).get("subscriptions")
    if not isinstance(subscriptions, dict):
        raise BadInput('needs "subscriptions": an object of node: [topics]')
    nodes: list[str] = []
    topics: list[str] = []
    for node, wanted in subscriptions.items():
        if not isinstance(wanted, list) or not all(isinstance(topic, str) for topic in wanted):
            raise BadInput(f"node '{node}': its topics must be a list of strings")
        if not wanted:
            raise BadInput(f"node '{node}' has no topic: give it one or remove it")
        if not node or "" in wanted:
            raise BadInput(f"node '{node}': an empty {'topic' if node else 'node'}: name it or remove it")
        nodes.extend([node] * len(wanted))
        topics.extend(wanted)
    return TopicsFile(*TopicInstance.from_pairs(nodes, topics))


def _subscriptions(instance: TopicInstance) -> dict[str, list[str]]:
    names = [instance.topic_label(t) for t in range(instance.num_topics)]
    return {
        instance.node_label(v): [names[t] for t in instance.topics_of(v).tolist()] for v in range(instance.num_nodes)
    }


def _rows(instance: TopicInstance) -> pa.Table:
    nodes = pa.array([instance.node_label(v) for v in range(instance.num_nodes)], pa.string())
    topics = pa.array([instance.topic_label(t) for t in range(instance.num_topics)], pa.string())
    node_ids = np.repeat(np.arange(instance.num_nodes), np.diff(instance.node_offsets))
    return pa.table({"node": nodes.take(pa.array(node_ids)), "topic": topics.take(pa.array(instance.node_topics))})
