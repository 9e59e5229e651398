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

SETS, OLIGOMERS, HIF = ".sets", ".oligomers", ".hif.json"
"""The endings of files that are lists of sets, lists with copies of members, and Hypergraph Interchange Format."""

HIF_KEYS = ("network-type", "incidences", "metadata", "nodes", "edges")

_COPIES = re.compile(r"(?:[1-9]\d*\*)?([^*()]+?)(?:\*[1-9]\d*|\([1-9]\d*\))?")


class Incidences(NamedTuple):
    """The pairs (member, set) of a hypergraph, and vertices that may be in no set."""

    pairs: list[tuple[Hashable, Hashable]]
    vertices: Iterable[Hashable] = ()


def is_set(line: str) -> bool:
    """Whether a line of a list of sets has its members in braces, which the header of a table has not."""
    return "{" in line and line.rstrip().endswith("}")


def incidences_of_sets(text: str, *, with_copies: bool = False) -> Incidences:
    """The incidences in a list of sets, one a line: the parts of its name and its members, separated by tabs.

    Members stand in braces and are separated by commas; without braces also by blanks, if there is no comma. Blanks
    around names and members do not count. A set without a name is called by its number, as in ``set 3``. Empty lines
    and lines that begin with ``#`` are skipped. `with_copies`, ``2*A``, ``A*2`` and ``A(2)`` are two copies of A; these
    and members given twice count once.
    """
    pairs = list[tuple[Hashable, Hashable]]()
    lines = dict[str, int]()
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        *fields, listed = (field.strip() for field in line.rstrip().split("\t"))
        name = " ".join(field for field in fields if field) or f"set {len(lines) + 1}"
        if name in lines:
            raise BadInput(f"line {number}: a set '{name}' stands on line {lines[name]} already: rename one of the two")
        lines[name] = number
        pairs += ((member, name) for member in _members(listed, f"line {number}", with_copies))
    if not pairs:
        raise BadInput("has no sets: give it a line for each")
    return Incidences(pairs)


def _members(listed: str, where: str, with_copies: bool) -> Iterable[str]:
    inner = listed[1:-1] if listed.startswith("{") and listed.endswith("}") and len(listed) > 1 else listed
    if "{" in inner or "}" in inner:
        raise BadInput(f"{where}: braces that do not enclose all members: write {{A, B}}")
    if not inner.strip():
        raise BadInput(f"{where}: a set without members: name them or remove the line")
    parts = inner.split(",") if inner != listed or "," in inner else inner.split()
    members = [part.strip() for part in parts]
    if "" in members:
        raise BadInput(f"{where}: member {members.index('') + 1} has no name: name it or remove its comma")
    if not with_copies:
        return members
    return dict.fromkeys(found[1].strip() if (found := _COPIES.fullmatch(member)) else member for member in members)


def text_of_sets(sets: Iterable[tuple[str, Sequence[str]]], *, with_copies: bool = False) -> str:
    """A list of (name, members) as :func:`incidences_of_sets` reads it; bad input if a label is read differently."""
    rows = list(sets)
    text = "".join(f"{name}\t{{{', '.join(members)}}}\n" for name, members in rows)
    try:
        read = incidences_of_sets(as_read(text), with_copies=with_copies).pairs
        same = read == [(member, name) for name, members in rows for member in members]
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

    Weights, directions and attributes are ignored, and so is a hyperedge without vertices.

    References
    ----------
    Coll et al.: HIF: the hypergraph interchange format for higher-order networks, Network Science 2025,
    https://doi.org/10.1017/nws.2025.10018
    """
    given = converted(data, _HifInFile)
    return Incidences([(each.node, each.edge) for each in given.incidences], [each.node for each in given.nodes])


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
