"""Hypergraphs in the formats of other programs: lists of sets, oligomers and HIF; XGI's and HyperNetX's objects.

A vertex is a node, a hyperedge a topic: the topics of a node are the sets that it is a member of.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from ..contract.errors import BadInput
from ..contract.files import Label, as_read, converted
from .members import BLANKS, Reading, Remarks, parts, separator_of, without_copies

SETS, OLIGOMERS, HIF = ".sets", ".oligomers", ".hif.json"
"""The endings of files that are lists of sets, lists with copies of members, and Hypergraph Interchange Format."""

HIF_KEYS = ("network-type", "incidences", "metadata", "nodes", "edges")


class Incidences(NamedTuple):
    """The pairs (member, set) of a hypergraph, and vertices that may be in no set."""

    pairs: list[tuple[Hashable, Hashable]]
    vertices: Iterable[Hashable] = ()


class SetRow(NamedTuple):
    """A line of a list of sets: its number, the name of the set, and the members."""

    line: int
    name: str
    members: list[str]


def is_set(line: str) -> bool:
    """Whether a line of a list of sets has its members in braces, which the header of a table has not."""
    return "{" in line and line.rstrip().endswith("}")


def sets_in(text: str, reading: Reading, remarks: Remarks) -> tuple[list[SetRow], str]:
    """The sets in a list, one a line, and the separator of their members.

    Before the last tab stand the parts of a set's name; a set without one is called by its number, as in ``set 3``.
    Members may stand in braces; their separator is that of most lines, or of the reading, and blanks in a file
    without another one and without braces. Where lines have several tabs and no other separator, all fields are
    members, or all but the first if these are names. Empty lines and lines that begin with ``#`` are skipped.
    """
    rows = list[tuple[int, list[str]]]()
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#") and ("\t" in line or is_set(line)):
            remarks.add("sets left out as comments", f"'{line.strip():.60}'", f"line {number}")
        if line.strip() and not line.startswith("#"):
            rows.append((number, [field.strip() for field in line.rstrip().split("\t")]))
    if not rows:
        raise BadInput("has no sets: give it a line for each")
    listed = [_inner(fields[-1], f"line {number}") for number, fields in rows]
    braced = any(inner != fields[-1] for (_, fields), inner in zip(rows, listed, strict=True))
    widths = {len(fields) for _, fields in rows}
    separator = reading.separator or separator_of(listed, "," if braced else BLANKS)
    if separator == BLANKS and not reading.separator and len(widths) > 1 and max(widths) > _WITH_NAME:
        separator = BLANKS if any(len(each.split()) > 1 for each in listed) else "\t"
    if separator == "\t":
        named = _begin_with_names(rows)
        if named:
            remarks.add("names of sets before a tab", f"'{rows[0][1][0]}' is no member", f"line {rows[0][0]}")
        split = [(fields[:1], fields[1:]) if named else ([], fields) for _, fields in rows]
    else:
        _refuse_colons(rows, reading)
        split = [(fields[:-1], parts(inner, separator)) for (_, fields), inner in zip(rows, listed, strict=True)]
        unnamed = [(number, members) for (number, _), (names, members) in zip(rows, split, strict=True) if not names]
        if len(unnamed) == len(rows) > 1 and _begin_with_names(unnamed):
            example = f"'{unnamed[0][1][0]}' is read as a member: a name of a set stands before a tab"
            remarks.add("first members that no other set has", example, f"line {rows[0][0]}")
    return _named(rows, split, reading, remarks), separator


_WITH_NAME = 2


def _inner(listed: str, where: str) -> str:
    inner = listed[1:-1] if listed.startswith("{") and listed.endswith("}") and len(listed) > 1 else listed
    if "{" in inner or "}" in inner:
        raise BadInput(f"{where}: braces that do not enclose all members: write {{A, B}}")
    if not inner.strip():
        raise BadInput(f"{where}: a set without members: name them or remove the line")
    return inner


def _begin_with_names(rows: Sequence[tuple[int, list[str]]]) -> bool:
    """Whether the first fields of all lines differ, and are no members of other lines."""
    firsts, others = {fields[0] for _, fields in rows}, {each for _, fields in rows for each in fields[1:]}
    return len(firsts) == len(rows) and not firsts & others and all(len(fields) > 1 for _, fields in rows)


def _refuse_colons(rows: Sequence[tuple[int, list[str]]], reading: Reading) -> None:
    if not reading.as_is and all(len(fields) == 1 and re.match(r"[^:,;|]+:\s", fields[0]) for _, fields in rows):
        number, (text,) = rows[0]
        fix = "put a tab after the name of each set, or --as-is if it is a member"
        raise BadInput(f"line {number}: '{text:.40}' begins with a name and a colon: {fix}")


def _named(
    rows: Sequence[tuple[int, list[str]]],
    split: Sequence[tuple[list[str], list[str]]],
    reading: Reading,
    remarks: Remarks,
) -> list[SetRow]:
    found, lines = list[SetRow](), dict[str, int]()
    for (number, fields), (names, members) in zip(rows, split, strict=True):
        name = " ".join(field for field in names if field) or f"set {len(lines) + 1}"
        if name in lines:
            raise BadInput(f"line {number}: a set '{name}' stands on line {lines[name]} already: rename one of the two")
        if "" in members:
            at = members.index("") + 1
            raise BadInput(f"line {number}: member {at} has no name: name it or remove its separator")
        if len(members) == 1 and not fields[-1].startswith("{") and len(parts(members[0], BLANKS)) > 1:
            example = f"'{members[0]}' is one member"
            remarks.add("members with blanks that are alone in a set", example, f"line {number}")
        lines[name] = number
        found.append(SetRow(number, name, members))
    if reading.copies:
        flat = [(member, f"line {row.line}") for row in found for member in row.members]
        plain = iter(without_copies(flat, remarks))
        found = [SetRow(row.line, row.name, list(dict.fromkeys(next(plain) for _ in row.members))) for row in found]
    return found


def text_of_sets(sets: Iterable[tuple[str, Sequence[str]]], *, with_copies: bool = False) -> str:
    """A list of (name, members) as :func:`sets_in` reads it; bad input if a label is read differently."""
    given = [(name, list(members)) for name, members in sets]
    text = "".join(f"{name}\t{{{', '.join(members)}}}\n" for name, members in given)
    try:
        rows, _ = sets_in(as_read(text), Reading(copies=with_copies), Remarks())
        same = [(name, members) for _, name, members in rows] == given
    except BadInput:
        same = False
    if not same:
        raise BadInput("a list of sets cannot hold these labels (commas, braces, blanks at an end): write .json")
    return text


class _Incidence(Struct):
    edge: Label | int
    node: Label | int


class _Vertex(Struct):
    node: Label | int


class _HifInFile(Struct):
    incidences: list[_Incidence]
    nodes: list[_Vertex] = []


def is_hif(data: Any) -> bool:
    """Whether JSON data is in the Hypergraph Interchange Format rather than one of ours."""
    return isinstance(data, dict) and "format" not in data and any(key in data for key in HIF_KEYS[:2])


def incidences_of_hif(data: Any) -> Incidences:
    """The incidences in JSON data of the Hypergraph Interchange Format.

    Weights, directions and attributes are ignored, and so is a hyperedge without vertices. Of the labels 0 and "0" the
    text keeps its quotes.

    References
    ----------
    Coll et al.: HIF: the hypergraph interchange format for higher-order networks, Network Science 2025,
    https://doi.org/10.1017/nws.2025.10018
    """
    if not data.get("incidences", True):
        raise BadInput("its incidences are empty, so that no hyperedge has a member: write them, or another format")
    given = converted(data, _HifInFile)
    pairs = [(each.node, each.edge) for each in given.incidences]
    vertices = _distinct([node for node, _ in pairs] + [each.node for each in given.nodes])
    edges = _distinct([edge for _, edge in pairs])
    return Incidences([(vertices[v], edges[e]) for v, e in pairs], [vertices[each.node] for each in given.nodes])


def _distinct(labels: Iterable[str | int]) -> dict[str | int, str | int]:
    """The labels themselves; but a text in quotes where the same number is another label, as 0 and "0" are."""
    known = set(labels)
    numbers = {str(label) for label in known if isinstance(label, int)}
    return {label: f'"{label}"' if isinstance(label, str) and label in numbers else label for label in known}


def hif_of(sets: Iterable[tuple[str, Sequence[str]]], vertices: Iterable[str]) -> dict[str, object]:
    """A list of (name, members) and all vertices as JSON data of the Hypergraph Interchange Format."""
    listed = list(sets)
    rows = [{"edge": name, "node": member} for name, members in listed for member in members]
    edges = [{"edge": name} for name, _ in listed]  # which hypergraphx needs
    nodes = [{"node": vertex} for vertex in vertices]
    return {"network-type": "undirected", "incidences": rows, "edges": edges, "nodes": nodes}


def incidences_of_object(hypergraph: Any) -> Incidences | None:
    """The incidences of a hypergraph of XGI or HyperNetX; None if the object is none. Neither package is imported.

    Of a directed hypergraph, the members of an edge are its tail and its head.
    """
    match type(hypergraph).__module__.partition(".")[0]:
        case "xgi" if hasattr(hypergraph, "edges"):
            sets = hypergraph.edges.members(dtype=dict)
        case "hypernetx" if hasattr(hypergraph, "incidence_dict"):
            sets = hypergraph.incidence_dict
        case _:
            return None
    return Incidences([(member, name) for name, members in sets.items() for member in members], list(hypergraph.nodes))
