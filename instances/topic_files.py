"""Topic instances in files: topics/1 JSON, and CSV, TSV or Parquet rows of (node, topic); networkx graphs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from instances.errors import BadInput
from instances.files import read_text, write_whole
from instances.topic_instance import TopicInstance

FORMAT = "topics/1"
_ROWS = (".csv", ".tsv", ".dat", ".txt")


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
            table = _parquet(path, node_column, topic_column)
        elif path.suffix in _ROWS:
            table = _separated(path, node_column, topic_column)
        else:
            raise BadInput(f"unknown ending '{path.suffix}': use .json, .parquet, {', '.join(_ROWS)}")
        first_row = 1 if path.suffix == ".parquet" else 2
        columns = [_labels(table, name, first_row) for name in (node_column, topic_column)]
        return TopicsFile(*TopicInstance.from_pairs(*columns))
    except BadInput as error:
        raise error if str(error).startswith(str(path)) else BadInput(f"{path}: {error}") from None


def write_topics(instance: TopicInstance, path: Path) -> None:
    """Write an instance in the format that the name's ending tells; the inverse of :func:`read_topics`."""
    if path.suffix == ".json":
        text = json.dumps({"format": FORMAT, "subscriptions": _subscriptions(instance)}, ensure_ascii=False, indent=1)
        write_whole(path, lambda file: file.write_text(text + "\n", encoding="utf-8"))
    elif path.suffix == ".parquet":
        write_whole(path, lambda file: pq.write_table(_rows(instance), file))
    elif path.suffix in _ROWS:
        delimiter = "," if path.suffix == ".csv" else "\t"
        options = pa.csv.WriteOptions(delimiter=delimiter)
        write_whole(path, lambda file: pa.csv.write_csv(_rows(instance), file, options))
    else:
        raise BadInput(f"{path}: unknown ending '{path.suffix}': use .json, .parquet, {', '.join(_ROWS)}")


def from_bipartite(graph: nx.Graph[Any]) -> TopicInstance:
    """Build from a networkx bipartite graph whose nodes carry ``bipartite=0`` (nodes) or ``1`` (topics).

    Raises
    ------
    BadInput
        If the attribute is missing, an edge lies within one side, or a node or topic has no edge.
    """
    side = nx.get_node_attributes(graph, "bipartite")
    if bare := [v for v in graph if side.get(v) not in (0, 1)]:
        raise BadInput(f"graph node '{bare[0]}' lacks the attribute bipartite=0 (node) or 1 (topic)")
    if lonely := [v for v in graph if graph.degree(v) == 0]:
        kind, lack = ("node", "topic") if side[lonely[0]] == 0 else ("topic", "subscriber")
        raise BadInput(f"{kind} '{lonely[0]}' has no {lack}: remove it")
    if crossed := [(a, b) for a, b in graph.edges() if side[a] == side[b]]:
        raise BadInput(f"edge {crossed[0]} lies within one side: edges join a node and a topic")
    pairs = [(a, b) if side[a] == 0 else (b, a) for a, b in graph.edges()]
    return TopicInstance.from_pairs([str(a) for a, _ in pairs], [str(b) for _, b in pairs])[0]


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
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise BadInput(f"'{twice}' stands twice in one object: merge the two")
        return found

    try:
        data = json.loads(read_text(path), object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise BadInput(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise BadInput("nested too deeply for a topics file") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise BadInput(f'needs "format": "{FORMAT}" at the top')
    subscriptions = data.get("subscriptions")
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
            raise BadInput(f"node '{node}': {'an empty topic' if node else 'an empty node'}: name it or remove it")
        nodes.extend([node] * len(wanted))
        topics.extend(wanted)
    return TopicsFile(*TopicInstance.from_pairs(nodes, topics))


def _separated(path: Path, *columns: str) -> pa.Table:
    try:
        with path.open(encoding="utf-8") as file:
            header = file.readline()
        delimiter = "\t" if "\t" in header else ","
        return pa.csv.read_csv(
            path,
            parse_options=pa.csv.ParseOptions(delimiter=delimiter),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(columns, pa.string()),
                include_columns=_present(columns, header.rstrip("\r\n").split(delimiter)),
                strings_can_be_null=False,
            ),
        )
    except UnicodeDecodeError as error:
        raise BadInput(f"byte {error.start} is not UTF-8: convert the file") from None
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}): check the path") from None
    except pa.ArrowInvalid as error:
        raise BadInput(f"{_one_line(error)}: mend that row") from None


def _parquet(path: Path, *columns: str) -> pa.Table:
    try:
        names = _present(columns, pq.read_schema(path).names)
        table = pq.read_table(path, columns=names)
        return pa.table({name: table[name].cast(pa.string()) for name in names})
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror or _one_line(error)}): check the path") from None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise BadInput(f"{_one_line(error)}: is it a Parquet file of labels?") from None


def _present(columns: tuple[str, ...], header: list[str]) -> list[str]:
    names = [name.strip().strip('"') for name in header]
    for column in columns:
        if column not in names:
            raise BadInput(f"no column '{column}' among {', '.join(names)}: name the node and topic columns")
    return list(columns)


def _labels(table: pa.Table, column: str, first_row: int) -> pa.Array:
    labels = table[column].combine_chunks()
    bare = pc.or_kleene(pc.is_null(labels), pc.equal(labels, ""))
    if (row := pc.index(bare, True).as_py()) >= 0:
        raise BadInput(f"row {row + first_row}: an empty {column}: name it or remove the row")
    return labels


def _subscriptions(instance: TopicInstance) -> dict[str, list[str]]:
    return {
        instance.node_label(v): [instance.topic_label(int(t)) for t in instance.topics_of(v)]
        for v in range(instance.num_nodes)
    }


def _rows(instance: TopicInstance) -> pa.Table:
    subscriptions = _subscriptions(instance)
    nodes = [node for node, topics in subscriptions.items() for _ in topics]
    return pa.table({"node": nodes, "topic": [topic for topics in subscriptions.values() for topic in topics]})


def _one_line(error: BaseException) -> str:
    return str(error).splitlines()[0]
