"""Steiner tree instances in files (STP of SteinLib), and the kind ``steiner``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

from ..contract.arrays import whole
from ..contract.errors import BadInput, check_ending
from ..contract.files import LARGEST_TEXT, as_read, atomic_write, errors_in, opened
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
_PRINTABLE = re.compile(r"[^\t -~]")
_COST = re.compile(r"\d{1,18}(\.\d{1,18})?(e[-+]?\d{1,2})?", re.IGNORECASE | re.ASCII)
_Line = tuple[int, list[str]]
Entries = dict[str, list[tuple[int, list[Any]]]]
"""The lines of a section by their first word: the line's number in the file, and the numbers in it."""


def _instance(graph: Entries, terminals: Entries) -> SteinerInstance:
    ((_, (num_nodes,)),) = graph["nodes"]
    edges, chosen = graph.get("e", []), terminals["t"]
    for listed, counts, noun in (
        (edges, graph.get("edges"), "edges"),
        (chosen, terminals.get("terminals"), "terminals"),
    ):
        if counts and counts[0][1][0] != len(listed):
            number, (count,) = counts[0]
            raise _wrong(number, f"says {count} {noun}, but there are {len(listed)}: correct one")
    for number, nodes in [(number, ends[:2]) for number, ends in edges] + chosen:
        if max(nodes) > num_nodes:
            raise _wrong(number, f"node {max(nodes)} is outside 1…{num_nodes}")
        if len(nodes) == 2 and nodes[0] == nodes[1]:
            raise _wrong(number, f"a loop at node {nodes[0]}: remove it")
    costs, unit = whole([cost for _, (_, _, cost) in edges])
    triples = [(u - 1, v - 1, cost) for (_, (u, v, _)), cost in zip(edges, costs, strict=True)]
    if sum(costs) > 2**53:
        raise BadInput("the costs add up to more than 2^53, with their decimals as integers: round or divide them")
    return SteinerInstance.from_edges(num_nodes, triples, [terminal - 1 for _, (terminal,) in chosen], unit)


def _wrong(number: int, message: str) -> BadInput:
    return BadInput(f"line {number}: {message}")


def _section(lines: Iterator[_Line], begin: int) -> Iterator[_Line]:
    for number, words in lines:
        if words[0].lower() == "end":
            return
        if words[0].lower() in ("section", "eof"):
            break
        yield number, words
    raise _wrong(begin, "this section does not end: close it with END")


def _entries(forms: Mapping[str, str], lines: Iterator[_Line], texts: list[str]) -> Entries:
    """The numbers of the lines by their first word, checked against its form; ids are at least 1."""
    entries: Entries = {}
    for number, (first, *words) in lines:
        if other := _PRINTABLE.search(texts[number - 1]):
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
        listed.append(
            (number, [Decimal(word) if name == "COST" else int(word) for name, word in zip(names, words, strict=True)])
        )
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
            too_large = BadInput(f"is larger than {LARGEST_TEXT >> 20} MiB: make it smaller")
            if path.is_file() and path.stat().st_size > LARGEST_TEXT:
                raise too_large
            with opened(path) as file:
                if len(data := file.read(LARGEST_TEXT + 1)) > LARGEST_TEXT:
                    raise too_large
            texts = as_read(data.decode("latin-1")).split("\n")
            texts[0] = texts[0].removeprefix("\u00ef\u00bb\u00bf")
            split = ((number, line.split()) for number, line in enumerate(texts, start=1))
            lines: Iterator[_Line] = ((number, words) for number, words in split if words and words[0][0] != "#")
            number, words = next(lines, (1, [""]))
            is_headed = _MAGIC in map(str.upper, words[:3])
            if words[0].lower() == "section":  # as files of the PACE challenge begin
                lines = chain([(number, words)], lines)
            elif not is_headed:
                raise _wrong(number, f"an STP file begins with '{_MAGIC} STP File, STP Format Version 1.0'")
            skipped = list[str]()
            sections: dict[str, Entries] = {}
            for number, words in lines:
                match [word.lower() for word in words]:
                    case ["eof"]:
                        break
                    case ["section", *name] if " ".join(name) in sections:
                        raise _wrong(number, f"a second section '{' '.join(words[1:])}': join the two")
                    case ["section", name] if name in _FORMS:
                        sections[name] = _entries(_FORMS[name], _section(lines, number), texts)
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
            is_plain = not skipped and is_headed and not any(map(_PRINTABLE.search, texts))
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
