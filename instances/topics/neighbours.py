"""Instances in the own formats of other programs: XGI, hypergraphx, hMETIS, ROS, bipartite graphs, and records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from itertools import product, repeat
from typing import Any

from ..contract.errors import BadInput
from ..contract.files import json_of
from ..contract.graph_files import DOT, GRAPHML, GraphInFile, graph_of_dot, graph_of_graphml
from .hypergraphs import Incidences
from .members import LabelRows, Labels, Reading

GRAPHS, HMETIS, RECORDS = (GRAPHML, *DOT), ".hgr", (".jsonl", ".ndjson")
"""The endings of bipartite graphs, of hypergraphs for partitioning, and of records in lines of JSON."""
XGI_KEYS = ("hypergraph-data", "node-data", "edge-data", "edge-dict")
_SHAPES = {"ellipse": "0", "oval": "0", "box": "1", "rect": "1", "rectangle": "1"}  # of rqt_graph
_LABELS = ("label", "_nx_name", "name")


def incidences_of_json(data: Any) -> Incidences | None:
    """The incidences in JSON that XGI or hypergraphx writes as its own; None for other data.

    Of a directed hypergraph, the members of an edge are its tail and its head; hyperedges of hypergraphx have no names,
    and are called ``set 1`` and so on.
    """
    if isinstance(data, dict) and isinstance(sets := data.get("edge-dict"), dict):
        if not all(isinstance(members, list) for members in sets.values()):
            raise BadInput("edge-dict has no lists of members: write it by xgi.write_hif")
        vertices = list(data.get("node-data") or ())  # keys of JSON are texts, whatever the members are
        return Incidences([(str(v), name) for name, members in sets.items() for v in _flat(members)], vertices)
    if not (isinstance(data, list) and data and isinstance(data[0], dict)):
        return None
    entries = [each for each in data if isinstance(each, dict) and each.get("type") in ("node", "edge")]
    if not any("interaction" in each or "idx" in each for each in entries):
        return None
    sets = [_flat(each.get("interaction") or []) for each in entries if each["type"] == "edge"]
    pairs: list[tuple[Hashable, Hashable]] = [(v, f"set {at}") for at, members in enumerate(sets, 1) for v in members]
    return Incidences(pairs, [each.get("idx") for each in entries if each["type"] == "node"])


def _flat(members: Iterable[Any]) -> list[Any]:
    """The members of a hyperedge, or of its tail and head."""
    return [v for each in members for v in (each if isinstance(each, list) else [each])]


def incidences_of_hmetis(text: str) -> Incidences:
    """The incidences in hMETIS' format: a line of two numbers, then the numbers of vertices in each hyperedge.

    Weights of hyperedges and vertices are ignored; lines that begin with ``%`` are comments.
    """
    split = ((at, line.split()) for at, line in enumerate(text.split("\n"), 1))
    lines = [(at, words) for at, words in split if words and not words[0].startswith("%")]
    at, head = lines[0] if lines else (1, [])
    if not re.fullmatch(r"[0-9]{1,9} [0-9]{1,9}( 1| 10| 11)?", " ".join(head)):
        raise BadInput(f"line {at}: hMETIS begins with the numbers of hyperedges and vertices: correct it")
    edges, vertices, weighted = int(head[0]), int(head[1]), head[2:] in (["1"], ["11"])
    expected = edges + vertices * (head[2:] in (["10"], ["11"]))
    if len(lines) - 1 != expected:
        raise BadInput(f"has {len(lines) - 1} lines under its first: {expected} are announced: correct one of the two")
    pairs = list[tuple[Hashable, Hashable]]()
    for number, (line, words) in enumerate(lines[1 : edges + 1], 1):
        for word in words[weighted:]:
            if not word.isdecimal() or not 1 <= int(word) <= vertices:
                raise BadInput(f"line {line}: '{word}' is no vertex from 1 to {vertices}: correct it")
            pairs.append((int(word), number))
    return Incidences(pairs, range(1, vertices + 1))


def columns_of_records(data: Any, reading: Reading) -> list[Labels]:
    """The labels in a list of JSON objects that have the columns of the reading as keys; a list is its members."""
    if not isinstance(data, list) or not all(isinstance(record, dict) for record in data):
        raise BadInput('give an object with "format": "topics/1", or a list of objects such as {"node": …, "topic": …}')
    return _columns(((at, record) for at, record in enumerate(data, 1)), reading, "record")


def columns_of_lines(text: str, reading: Reading) -> list[Labels]:
    """The labels in lines of JSON objects, as :func:`columns_of_records`."""
    lines = ((at, json_of(line, at)) for at, line in enumerate(text.split("\n"), 1) if line.strip())
    return _columns(lines, reading, "line")


def _columns(records: Iterator[tuple[int, Any]], reading: Reading, noun: str) -> list[Labels]:
    names = [*reading.node, *reading.topic]
    rows = LabelRows(len(names), noun)
    for at, record in records:
        values = []
        for name in names:
            if not isinstance(record, dict) or name not in record:
                known = ", ".join(map(repr, record)) if isinstance(record, dict) else "no keys"
                raise BadInput(f"{noun} {at}: no '{name}' among {known}: name the key that is meant as a column")
            given = record[name] if isinstance(record[name], list) else [record[name]]
            values.append([_text(value, f"{noun} {at}", name) for value in given])
        if texts := [*product(*values)]:
            rows.add(repeat(at, len(texts)), zip(*texts, strict=True))
    return rows.columns()


def _text(value: Any, where: str, name: str) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if value is None or value == "":
        raise BadInput(f"{where}: an empty {name}: name it or remove the record")
    if not isinstance(value, str | int):
        raise BadInput(f"{where}: {name} is {value!r:.40}: give a text or a whole number")
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def incidences_of_graph(text: str, ending: str) -> Incidences:
    """The incidences in a bipartite graph: nodes have the attribute ``bipartite`` 0, topics 1, or ROS' shapes.

    rqt_graph draws nodes as ellipses and topics as boxes. A label is the attribute ``label`` (``_nx_name``, ``name``),
    else the identifier. Directions are ignored.
    """
    graph = graph_of_graphml(text) if ending == GRAPHML else graph_of_dot(text)
    side = {v: given.get("bipartite") or _SHAPES.get(given.get("shape", ""), "") for v, given in graph.nodes.items()}
    side = {v: re.sub(r"\.0$", "", given) for v, given in side.items()}
    if other := next((v for v in graph.nodes if side[v] not in ("0", "1")), ""):
        raise BadInput(f"'{other}' lacks bipartite=0 (node) or 1 (topic): set it, or give a table of nodes and topics")
    label = _labels_of(graph, side)
    if within := next(((u, v) for u, v in graph.edges if side[u] == side[v]), None):
        raise BadInput(f"edge {within} lies within one side: edges join a node and a topic")
    ends = [(u, v) if side[u] == "0" else (v, u) for u, v in graph.edges]
    return Incidences([(label[u], label[v]) for u, v in ends], [label[v] for v in graph.nodes if side[v] == "0"])


def _labels_of(graph: GraphInFile, side: dict[str, str]) -> dict[str, str]:
    names = (name for name in _LABELS if all(given.get(name) for given in graph.nodes.values()))
    if not (name := next(names, "")) and graph.numbered_by:
        raise BadInput(f"its identifiers are numbers of {graph.numbered_by}: give each node the attribute 'label'")
    label = {v: given[name] if name else v for v, given in graph.nodes.items()}
    (twice, count), *_ = [*Counter((side[v], label[v]) for v in label).most_common(1), (("", ""), 0)]
    if count > 1:
        raise BadInput(f"two of one side have the label '{twice[1]}': rename one")
    return label
