"""Steiner tree instances in files (STP of SteinLib), and the kind ``steiner``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..contract.arrays import whole
from ..contract.errors import BadInput, check_ending
from ..contract.files import as_read, atomic_write, errors_in, read_bytes
from ..contract.kind import LoadedInstance
from ..contract.overlay import OverlayKind
from .instance import SteinerInstance

_MAGIC = "33D32945"
_FORMS = {
    "graph": {"nodes": "NUMBER", "edges": "COUNT", "e": "NODE NODE COST"},
    "terminals": {"terminals": "COUNT", "t": "NODE"},
}
"""The lines of each section that is read: the first word, and what follows it."""
_SILENT = ("comment", "coordinates")
_SKIPPED = (*_SILENT, "tree decomposition", "drawing", "layout", "labels", "finalsolution", "solution")
"""Sections that do not change the problem; the first ones are left out without a remark."""
_UNPRINTABLE = re.compile(r"[^\t\n -~]")
_RUNS = re.compile(r"^((?:E(?: [1-9]\d{0,8}){2} \d{1,15}\n){2,})", re.MULTILINE | re.ASCII)
_COST = re.compile(r"\d{1,18}(\.\d{1,18})?(e[-+]?\d{1,2})?", re.IGNORECASE | re.ASCII)
Entries = dict[str, list[tuple[int, Any]]]
"""The lines of a section by their first word: the first one's number in the file, and the numbers in each."""


class _Line(NamedTuple):
    """A line of a file, or a run of lines of plain edges, with the number and the words of the first one."""

    number: int
    words: list[str]
    text: str


def _lines(text: str) -> Iterator[_Line]:
    """The lines that are neither empty nor remarks."""
    number = 1
    for index, piece in enumerate(_RUNS.split(text)):
        for place, line in enumerate([piece] if index % 2 else piece.split("\n"), number):
            words = line[: line.find("\n")].split() if index % 2 else line.split()
            if words and words[0][0] != "#":
                yield _Line(place, words, line)
        number += piece.count("\n")


def _instance(graph: Entries, terminals: Entries) -> SteinerInstance:
    ((_, ((num_nodes,),)),) = graph["nodes"]
    edges, costs, unit = np.empty((0, 3), np.int64), list[int](), 1
    lines = [first + k for first, rows in graph.get("e", []) for k in range(len(rows))]
    if lines:
        edges = np.concatenate([np.asarray(rows) for _, rows in graph["e"]])
        costs, unit = (edges[:, 2].tolist(), 1) if edges.dtype == np.int64 else whole(edges[:, 2].tolist())
    ends, chosen = edges[:, :2].astype(np.int64), [(number, node) for number, ((node,),) in terminals["t"]]
    for count, counts, noun in (
        (len(edges), graph.get("edges"), "edges"),
        (len(chosen), terminals.get("terminals"), "terminals"),
    ):
        if counts and counts[0][1][0][0] != count:
            raise _wrong(counts[0][0], f"says {counts[0][1][0][0]} {noun}, but there are {count}: correct one")
    outside, loops = ends.max(axis=1, initial=0) > num_nodes, ends[:, 0] == ends[:, 1]
    for at in np.flatnonzero(outside | loops)[:1]:
        fault = f"node {ends[at].max()} is outside 1…{num_nodes}" if outside[at] else f"a loop at node {ends[at, 0]}"
        raise _wrong(lines[at], fault if outside[at] else f"{fault}: remove it")
    for number, node in chosen:
        if node > num_nodes:
            raise _wrong(number, f"node {node} is outside 1…{num_nodes}")
    if sum(costs) > 2**53:
        raise BadInput("the costs add up to more than 2^53, with their decimals as integers: round or divide them")
    triples = np.column_stack([ends - 1, np.array(costs, np.int64)])
    return SteinerInstance.from_edges(num_nodes, triples, [terminal - 1 for _, terminal in chosen], unit)


def _wrong(number: int, message: str) -> BadInput:
    return BadInput(f"line {number}: {message}")


def _section(lines: Iterator[_Line], begin: int) -> Iterator[_Line]:
    for line in lines:
        if line.words[0].lower() == "end":
            return
        if line.words[0].lower() in ("section", "eof"):
            break
        yield line
    raise _wrong(begin, "this section does not end: close it with END")


def _entries(forms: Mapping[str, str], lines: Iterator[_Line]) -> Entries:
    """The numbers of the lines by their first word, checked against its form; ids are at least 1."""
    entries: Entries = {}
    for number, (first, *words), text in lines:
        if other := _UNPRINTABLE.search(text):
            raise _wrong(number, f"the character {other[0]!a} is not printable ASCII: remove it")
        if first.lower() not in forms:
            known = ", ".join(f"'{word.title()} {form}'" for word, form in forms.items())
            raise _wrong(number, f"'{first}' is unknown or belongs to another problem: give {known}")
        names = forms[first.lower()].split()
        if len(words) != len(names):
            raise _wrong(number, f"'{' '.join((first, *words))}' must read '{first} {' '.join(names)}'")
        for name, word in zip(names, words, strict=True):
            least = int(name in ("NODE", "NUMBER"))
            if name == "COST":
                if not _COST.fullmatch(word):
                    raise _wrong(number, f"'{word}' is no number of at least 0: correct the cost")
            elif not (word.isdecimal() and word.isascii() and len(word) <= 18 and int(word) >= least):
                raise _wrong(number, f"'{word}' is no integer of at least {least}: correct it")
        listed = entries.setdefault(first.lower(), [])
        if listed and len(first) > 1:
            raise _wrong(number, f"a second line '{first}': remove one")
        if "\n" in text:
            listed.append((number, np.fromstring(text.replace("E", " "), np.int64, sep=" ").reshape(-1, 3)))
        else:
            pairs = zip(names, words, strict=True)
            listed.append((number, [[Decimal(word) if name == "COST" else int(word) for name, word in pairs]]))
    return entries


class Steiner(OverlayKind[SteinerInstance]):
    """Graphs with edge costs and terminals."""

    name, summary = "steiner", "a graph with edge costs and terminals; an answer is a tree"
    example = ("steiner-sparse", "--nodes 40 --edges 80 --terminals 8")
    proof_endings = (".stp",)
    panels = "compare.figures.panels:SteinerTrees"
    instance_type, default_problem = SteinerInstance, "steiner"
    endings, ending = (".stp", ".gr"), ".stp"
    sizes, measures = ("nodes", "links", "terminals"), ("edges", "steiner_nodes")

    def read(self, path: Path, columns: Mapping[str, Any]) -> LoadedInstance[SteinerInstance]:
        """The undirected instance in an STP file; nodes 1…n of the file are 0…n-1.

        Of parallel edges the cheapest is kept. Costs with decimals are multiplied by a power of 10. Comments, in any
        encoding, coordinates, drawings, solutions and tree decompositions are skipped; other sections (degree limits,
        prizes, presolve) and arcs change the problem and are errors. Files of the PACE challenge (.gr) lack the first
        line.
        """
        with errors_in(path):
            text = as_read(read_bytes(path, instead="").removeprefix(b"\xef\xbb\xbf").decode("latin-1"))
            lines = _lines(text)
            number, words, _ = first = next(lines, _Line(1, [""], ""))
            is_headed = _MAGIC in map(str.upper, words[:3])
            if words[0].lower() == "section":  # as files of the PACE challenge begin
                lines = chain([first], lines)
            elif not is_headed:
                raise _wrong(number, f"an STP file begins with '{_MAGIC} STP File, STP Format Version 1.0'")
            skipped = list[str]()
            sections: dict[str, Entries] = {}
            for number, words, _ in lines:
                match [word.lower() for word in words]:
                    case ["eof"]:
                        break
                    case ["section", *name] if " ".join(name) in sections:
                        raise _wrong(number, f"a second section '{' '.join(words[1:])}': join the two")
                    case ["section", name] if name in _FORMS:
                        sections[name] = _entries(_FORMS[name], _section(lines, number))
                    case ["section", *name] if " ".join(name) in _SKIPPED:
                        list(_section(lines, number))
                        sections[" ".join(name)] = {}
                        if " ".join(name) not in _SILENT:
                            skipped.append(f"line {number}: the section '{' '.join(words[1:])}' is left out")
                    case ["section", *_]:
                        other = " ".join(words[1:])
                        raise _wrong(number, f"section '{other}' is not supported: give graph and terminals only")
                    case _:
                        raise _wrong(number, f"'{' '.join(words)}' is outside a section: begin one with SECTION")
            for section, needed in (("graph", "nodes"), ("terminals", "t")):
                if needed not in sections.get(section, ()):
                    raise BadInput(f"has no section {section.title()} with a line '{needed.title()} NUMBER': add it")
            instance = _instance(sections["graph"], sections["terminals"])
            if instance.unit > 1:
                skipped.append(f"costs with decimals are counted in units of 1/{instance.unit}")
            is_plain = not skipped and is_headed and not _UNPRINTABLE.search(text)
            return LoadedInstance(instance, notes=tuple(skipped), is_plain=is_plain)

    def write(self, instance: SteinerInstance, path: Path) -> None:
        check_ending(path, self.endings)
        edges = zip(instance.edges.tolist(), instance.costs.tolist(), strict=True)
        graph = [f"Nodes {instance.num_nodes}", f"Edges {instance.num_edges}"]
        graph += [f"E {u + 1} {v + 1} {cost}" for (u, v), cost in edges]
        terminals = [f"Terminals {instance.num_terminals}", *(f"T {t + 1}" for t in instance.terminals.tolist())]
        sections = (["SECTION Graph", *graph, "END", ""], ["SECTION Terminals", *terminals, "END", ""])
        text = "\n".join([f"{_MAGIC} STP File, STP Format Version 1.0", "", *sections[0], *sections[1], "EOF", ""])
        atomic_write(path, text)


STEINER = Steiner()
