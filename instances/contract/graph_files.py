"""Graphs of other programs by node label: GraphML, DOT, and tables of edges, read and written.

Programs number nodes, and keep their labels in an attribute of a name of their own: the reader looks for the attribute
whose values are the instance's labels, and refuses a graph with two such readings.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import NamedTuple
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from .errors import BadInput
from .terms import said

GRAPHML, DOT, TABLES = ".graphml", (".dot", ".gv"), (".csv", ".tsv")
_NAMES = ("label", "name", "shared name", "_nx_name", "id", "node", "title", "xlabel", "_graphml_vertex_id", "its text")
"""Attributes that hold labels, in lower case, first those that an error names rather than others.

igraph keeps names of networkx as ``_nx_name`` and identifiers of GraphML as ``id``, graph-tool keeps the latter as
``_graphml_vertex_id``; Cytoscape has ``shared name``; yEd nests a text.
"""
_NUMBERED = {
    "yEd": "yworks.com",
    "igraph": "Created by igraph",
    "graph-tool or Boost": 'parse.nodeids="canonical"',
    "Cytoscape": 'attr.name="SUID"',
}
"""What the files of programs have in them whose identifiers of nodes are numbers that no user sees."""
_PARTS = ("node", "edge", "hyperedge")
_NESTED = ("NodeLabel", "Label.Text")  # elements of yEd, and of its successors
_ENDS = (("source", "target"), ("u", "v"), ("from", "to"), ("src", "dst"), ("node1", "node2"))
_RETURN = {"\r": "&#13;"}  # else it is read as the end of a line


class GraphInFile(NamedTuple):
    """The attributes of each node by identifier, edges by identifiers, and the program that numbers nodes, or ""."""

    nodes: Mapping[str, Mapping[str, str]]
    edges: Iterable[tuple[str, str]]
    numbered_by: str = ""

    def labelled_edges(self, known: Set[str], *, some: bool = False) -> list[tuple[str, str]]:
        """The edges by label, of those that are `known`; every node must have one of its own.

        Labels are an attribute that is named like one, or else the identifiers, unless these are numbers of a program.
        With `some`, where none has known labels alone, it is enough that one of its labels is known. Raises BadInput if
        there are no such labels, or two ways to read them.
        """
        label_of = self._labels(known, some)
        return [(label_of[u], label_of[v]) for u, v in self.edges]

    def _labels(self, known: Set[str], some: bool) -> Mapping[str, str]:
        own = {node: node for node in self.nodes}
        attributes = {name for given in self.nodes.values() for name in given if name.lower() in _NAMES}
        named = {name: {node: given.get(name, "") for node, given in self.nodes.items()} for name in attributes}
        if some and not any(_fit(labels, known) for labels in (own, *named.values())):
            known |= {
                label for each in (own, *named.values()) if known & {*each.values()} for label in each.values()
            } - {""}
        fitting = {name: labels for name, labels in named.items() if _fit(labels, known)}
        if fitting:
            if _fit(own, known) and not self._are_numbers():
                fitting["its identifier"] = own
            (first, labels), *others = fitting.items()
            if other := next((name for name, each in others if each != labels), ""):
                raise BadInput(f"nodes have other labels by {first} than by {other}: keep the one that is meant")
            return labels
        if _fit(own, known):
            if self.numbered_by or (self._are_numbers() and self._have_labels(known)):
                raise BadInput(
                    f"its identifiers ({next(iter(own))}, …) are numbers of {self.numbered_by or 'a program'} and no "
                    "labels: give each node its label as the attribute 'label'"
                )
            return own
        raise BadInput(_unfit(named[min(named, key=lambda name: _NAMES.index(name.lower()))] if named else own, known))

    def _are_numbers(self) -> bool:
        """Whether identifiers may only count the nodes, as n0, n1, n2 do."""
        parts = [re.fullmatch(r"(\D*)(\d{1,18})", node, re.ASCII) for node in self.nodes]
        starts, counts = {part and part[1] for part in parts}, [int(part[2]) for part in parts if part]
        counted = counts == [*range(counts[0], counts[0] + len(parts))] if counts else False
        return bool(self.numbered_by) or (len(starts) == 1 and counted)

    def _have_labels(self, known: Set[str]) -> bool:
        """Whether an attribute is named like a label, or holds a label at every node."""
        if any(name.lower() in _NAMES for given in self.nodes.values() for name in given):
            return True
        names = {name for given in self.nodes.values() for name in given}
        return any(_fit({node: given.get(name, "") for node, given in self.nodes.items()}, known) for name in names)


def _fit(labels: Mapping[str, str], known: Set[str]) -> bool:
    distinct = {*labels.values()}
    return len(distinct) == len(labels) and distinct <= known


def _unfit(labels: Mapping[str, str], known: Set[str]) -> str:
    """What hinders some labels from being those of all nodes."""
    if missing := next((node for node, label in labels.items() if not label), ""):
        return f"{said('node')} '{missing}' has no label, as others have: give it one"
    if unknown := next((label for label in labels.values() if label not in known), ""):
        return f"{said('unknown node')} '{unknown}': {said('name a node of the instance')} by the attribute 'label'"
    label, _ = Counter(labels.values()).most_common(1)[0]
    return f"{said('two nodes')} have the label '{label}': rename one"


def graphml_of(labels: Iterable[str], edges: Iterable[tuple[str, str]]) -> str:
    """An undirected graph as GraphML; a label is the node's identifier and its attribute ``label``."""
    nodes = "".join(
        f'  <node id={quoteattr(label)}><data key="label">{escape(label, _RETURN)}</data></node>\n' for label in labels
    )
    lines = "".join(f"  <edge source={quoteattr(u)} target={quoteattr(v)}/>\n" for u, v in edges)
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        '<key id="label" for="node" attr.name="label" attr.type="string"/>\n'
        f'<graph id="overlay" edgedefault="undirected">\n{nodes}{lines}</graph>\n</graphml>\n'
    )
    try:
        ElementTree.fromstring(text)
    except ElementTree.ParseError:
        raise BadInput("a label has a character that XML cannot hold: rename it, or write .json") from None
    return text


def graph_of_graphml(text: str) -> GraphInFile:
    """The graph in GraphML; directions, and attributes of edges, are ignored.

    Raises BadInput with the line of what is no XML, the root of other XML, a node without identifier, an edge without
    two nodes, a hyperedge, or one of them outside of the graph.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        line, column = error.position
        raise BadInput(f"line {line}, column {column + 1}: {error.msg.partition(':')[0]}: correct the XML") from None
    elements = list(root.iter())
    if _tag(root) != "graphml" or sum(_tag(each) == "graph" for each in root) != 1:
        raise BadInput(f"is XML of <{_tag(root)}>, not one <graph> in <graphml>: give GraphML")
    holders = [each for each in elements if _tag(each) in ("graphml", "node")]  # the latter of groups
    graphs = [each for holder in holders for each in holder if _tag(each) == "graph"]
    inside = sum(_tag(each) in _PARTS for graph in graphs for each in graph)
    if inside < sum(_tag(each) in _PARTS for each in elements):
        raise BadInput("a <node> or an <edge> stands outside of <graph>, where none is read: correct the XML")
    keys = {each.get("id", ""): each.get("attr.name", each.get("id", "")) for each in elements if _tag(each) == "key"}
    nodes = dict[str, dict[str, str]]()
    for node in (each for each in elements if _tag(each) == "node"):
        if (own := node.get("id")) is None or own in nodes:
            raise BadInput(f"a node has {'no id' if own is None else f'the id of another one, {own!r}'}: correct it")
        nodes[own] = dict(_data_of(node, keys))
    edges = []
    for number, edge in enumerate(each for each in elements if _tag(each) in ("edge", "hyperedge")):
        ends = edge.get("source", ""), edge.get("target", "")
        if ends[0] not in nodes or ends[1] not in nodes:
            raise BadInput(f"edge {number} has no source or no target among the nodes: correct it")
        edges.append(ends)
    return GraphInFile(nodes, edges, next((program for program, mark in _NUMBERED.items() if mark in text), ""))


def _data_of(node: ElementTree.Element, keys: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for data in (each for each in node if _tag(each) == "data"):
        nested = next((each.text for each in data.iter() if _tag(each) in _NESTED and (each.text or "").strip()), "")
        if len(data):
            yield from [("its text", nested.strip())] if nested else []
        elif data.text:
            yield keys.get(data.get("key", ""), ""), data.text


def _tag(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def dot_of(labels: Iterable[str], edges: Iterable[tuple[str, str]]) -> str:
    """An undirected graph in the DOT language of Graphviz; raises BadInput for a label with a carriage return."""
    lines = [f"  {_quoted(label)};" for label in labels]
    lines += [f"  {_quoted(u)} -- {_quoted(v)};" for u, v in edges]
    return "\n".join(["graph overlay {", *lines, "}", ""])


def _quoted(label: str) -> str:
    if "\r" in label:
        raise BadInput(
            f"label {label!r} has a carriage return, which DOT reads as a line's end: rename it, or write .json"
        )
    # Nothing else is escaped in DOT, and a backslash at the end would take the quote with it.
    return '"' + label.replace("\\", "\\\\").replace('"', '\\"') + '"'


def graph_of_dot(text: str) -> GraphInFile:
    """The graph in DOT, with its subgraphs; directions, ports, and attributes but those of nodes are ignored.

    Raises BadInput with the line of the first text that is not DOT.
    """
    reader = _Dot(text)
    reader.skip("strict")
    if not (reader.skip("graph") or reader.skip("digraph")):
        raise reader.wrong("expected graph or digraph")
    if not reader.sees("{"):
        reader.identifier()
    reader.body()
    if not reader.sees(""):
        raise reader.wrong("expected the end of the file")
    return GraphInFile(reader.nodes, reader.edges, "igraph" if text.startswith("/* Created by igraph") else "")


_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/|(?<![^\n])\#[^\n]*)|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<html><)"""
    r"""|(?P<sign>--|->|[{}\[\];,=:+])|(?P<word>-?(?:\.\d+|\d+(?:\.\d*)?)|[^\W\d]\w*)""",
    re.DOTALL,
)
_DEEPEST = 100
_ESCAPED = re.compile(r'\\(\n|["\\])')  # a backslash continues a line, too


class _Dot:
    """A recursive descent through the tokens of a DOT file, which collects nodes and edges."""

    def __init__(self, text: str) -> None:
        self._tokens, self._at, self._depth = [*_tokens(text), ("", True, text.count("\n") + 1)], 0, 0
        self.nodes: dict[str, dict[str, str]] = {}
        self.edges: list[tuple[str, str]] = []

    def wrong(self, expected: str) -> BadInput:
        text, _, line = self._tokens[self._at]
        return BadInput(f"line {line}: {expected}, found {repr(text) if text else 'the end'}: correct the DOT")

    def sees(self, sign: str) -> bool:
        """Whether a sign or a keyword, whose case does not matter, is next."""
        text, is_plain, _ = self._tokens[self._at]
        return is_plain and text.lower() == sign

    def skip(self, *signs: str) -> bool:
        seen = any(map(self.sees, signs))
        self._at += seen
        return seen

    def identifier(self) -> str:
        whole = ""
        while True:
            text, is_plain, _ = self._tokens[self._at]
            if is_plain and not re.match(r"[-.]?\w", text):
                raise self.wrong("expected a name")
            self._at, whole = self._at + 1, whole + text
            if not self.skip("+"):
                return whole

    def body(self) -> list[str]:
        """Read what stands in braces; returns the nodes in it."""
        if not self.skip("{"):
            raise self.wrong("expected {")
        if (depth := self._depth) == _DEEPEST:
            raise BadInput("nested too deeply: give one graph without subgraphs")
        self._depth, inside = depth + 1, list[str]()
        while not self.skip("}"):
            inside += [] if self.skip(";") else self._statement()
        self._depth = depth
        return inside

    def _statement(self) -> list[str]:
        if self.skip("graph", "node", "edge"):
            self._attributes()
            return []
        if self._tokens[min(self._at + 1, len(self._tokens) - 1)][:2] == ("=", True):
            self._at += 2  # an attribute of the graph
            self.identifier()
            return []
        groups = [self._operand()]
        while self.skip("--", "->"):
            groups.append(self._operand())
        given = self._attributes()
        if len(groups) > 1:
            self.edges += [(u, v) for one, other in pairwise(groups) for u in one for v in other]
        elif len(groups[0]) == 1:
            self.nodes[groups[0][0]].update(given)
        return [node for group in groups for node in group]

    def _operand(self) -> list[str]:
        """A node, with its port, or the nodes of a subgraph."""
        if self.skip("subgraph"):
            if not self.sees("{"):
                self.identifier()
            return self.body()
        if self.sees("{"):
            return self.body()
        node = self.identifier()
        while self.skip(":"):
            self.identifier()
        self.nodes.setdefault(node, {})
        return [node]

    def _attributes(self) -> dict[str, str]:
        given = dict[str, str]()
        while self.skip("["):
            while not self.skip("]"):
                name = self.identifier()
                given[name] = self.identifier() if self.skip("=") else "true"
                self.skip(";", ",")
        # \N and \G stand for names of the node and the graph.
        return {name: value for name, value in given.items() if value and "\\N" not in value}


def _tokens(text: str) -> Iterator[tuple[str, bool, int]]:
    """Each text, whether it stands for itself (no quotes, no HTML), and its line."""
    at, line = 0, 1
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise BadInput(f"line {line}: {text[at]!r} is not DOT: put labels in double quotes")
        end = found.end()
        if found["html"]:
            depth = 1
            while depth and end < len(text):
                depth += {"<": 1, ">": -1}.get(text[end], 0)
                end += 1
            yield text[at:end], False, line
        elif found["quoted"] is not None:
            yield _ESCAPED.sub(lambda each: each[1].strip("\n"), found["quoted"]), False, line
        elif found["blank"] is None:
            yield found[0], True, line
        line += text.count("\n", at, end)
        at = end


def table_of(edges: Iterable[tuple[str, str]], known: Set[str], separator: str) -> str:
    """Edges as a table with a header that cannot be an edge."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(next((pair for pair in _ENDS if not {*pair} <= known), _ENDS[0]))
    writer.writerows(edges)
    return text.getvalue()


def columns_of_ends(header: Sequence[str]) -> tuple[str, str]:
    """The two columns of a table that hold the ends of edges, by their names; raises BadInput."""
    lower = [name.strip().lower() for name in header]
    pairs = [pair for pair in _ENDS if {*pair} <= {*lower}]
    if len(pairs) != 1:
        names = ", ".join(f"'{name}'" for name in header)
        raise BadInput(f"which columns of {names or 'none'} hold the ends of edges is not said: name source and target")
    one, two = (header[lower.index(name)] for name in pairs[0])
    return one, two


def edges_of_table(rows: Iterator[tuple[int, list[str]]], known: Set[str]) -> Iterator[tuple[str, str]]:
    """The edges in the rows of a table with the columns source and target, or of two columns without a header."""
    line, header = next(rows)
    is_edge = len(header) == 2 and {*header} <= known
    if is_edge and {name.lower() for name in header} in [{*pair} for pair in _ENDS]:
        raise BadInput(f"line {line} may be a header or an edge: name the columns source and target")
    if is_edge:
        one, two = 0, 1
        yield header[0], header[1]
    else:
        one, two = map(header.index, columns_of_ends(header))
    yield from ((row[one], row[two]) for _, row in rows)
