"""Graphs in the formats of other programs, by node label: GraphML, read and written, and DOT, written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from .errors import BadInput

GRAPHML, DOT = ".graphml", (".dot", ".gv")
_NAMES = ("label", "name")
_RETURN = {"\r": "&#13;"}  # else it is read as the end of a line


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


def edges_of_graphml(text: str) -> Iterator[tuple[str, str]]:
    """The edges in GraphML by the labels of their ends; directions and other attributes are ignored.

    A node's label is its attribute named ``label``, else ``name``, else its identifier. Raises BadInput with the line
    of what is no XML, or the number of an edge without two ends.
    """
    try:
        elements = list(ElementTree.fromstring(text).iter())
    except ElementTree.ParseError as error:
        line, column = error.position
        raise BadInput(f"line {line}, column {column + 1}: {error.msg.partition(':')[0]}: correct the XML") from None
    keys = {each.get("id"): each.get("attr.name") for each in elements if _tag(each) == "key"}
    label_of = dict[str, str]()
    for node in (each for each in elements if _tag(each) == "node"):
        given = {keys.get(data.get("key")): data.text or "" for data in node if _tag(data) == "data"}
        own = node.get("id", "")
        label_of[own] = next((given[name] for name in _NAMES if given.get(name)), own)
    for number, edge in enumerate(each for each in elements if _tag(each) == "edge"):
        ends = edge.get("source"), edge.get("target")
        if ends[0] is None or ends[1] is None:
            raise BadInput(f"edge {number} has no source or no target: add it")
        yield label_of.get(ends[0], ends[0]), label_of.get(ends[1], ends[1])


def _tag(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def dot_of(labels: Iterable[str], edges: Iterable[tuple[str, str]]) -> str:
    """An undirected graph in the DOT language of Graphviz."""
    lines = [f"  {_quoted(label)};" for label in labels]
    lines += [f"  {_quoted(u)} -- {_quoted(v)};" for u, v in edges]
    return "\n".join(["graph overlay {", *lines, "}", ""])


def _quoted(label: str) -> str:
    # Nothing else is escaped in DOT, and a backslash at the end would take the quote with it.
    return '"' + label.replace("\\", "\\\\").replace('"', '\\"') + '"'
