"""Steiner tree instances in files (STP of SteinLib), and the kind ``steiner``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ..contract.errors import BadInput
from ..contract.files import atomic_write, errors_in, read_text
from ..contract.kind import LoadedInstance
from ..contract.overlay import OverlayKind
from .instance import SteinerInstance

_MAGIC = "33d32945"
_READ, _SKIPPED = ("graph", "terminals"), ("comment", "coordinates")


def read_stp(path: Path) -> SteinerInstance:
    """The undirected instance in an STP file; nodes 1…n of the file are 0…n-1.

    Of parallel edges the cheapest is kept. Comments and coordinates are skipped; other sections (degree limits, prizes,
    presolve) and arcs change the problem and are errors.

    Raises
    ------
    BadInput
        With the line and the fix: no STP file, an unknown section or entry, a malformed number or one out of range,
        a wrong count, no terminal.
    """
    lines = _Lines(path)
    number, words = next(lines, (1, [""]))
    if _MAGIC not in (word.lower() for word in words[:3]):
        raise lines.wrong(number, "an STP file begins with '33D32945 STP File, STP Format Version 1.0'")
    graph = terminals = None
    for number, words in lines:
        head = [word.lower() for word in words]
        if head == ["eof"]:
            break
        if head[0] != "section" or len(head) != 2:
            raise lines.wrong(number, f"'{' '.join(words)}' is outside a section: begin one with SECTION")
        if head[1] == "graph":
            graph = _graph(lines, number)
        elif head[1] == "terminals":
            terminals = _terminals(lines, number)
        elif head[1] in _SKIPPED:
            for _ in lines.section(number):
                pass
        else:
            raise lines.wrong(number, f"section '{words[1]}' is not supported: give graph and terminals only")
    if graph is None or terminals is None:
        missing = "Graph" if graph is None else "Terminals"
        raise BadInput(f"{path}: has no section {missing}: add it")
    num_nodes, edges = graph
    for line, terminal in terminals:
        if terminal > num_nodes:
            raise lines.wrong(line, f"terminal {terminal} is outside 1…{num_nodes}")
    for line, u, v, _ in edges:
        if max(u, v) > num_nodes:
            raise lines.wrong(line, f"node {max(u, v)} is outside 1…{num_nodes}")
    with errors_in(path):
        return SteinerInstance.from_edges(
            num_nodes, [(u - 1, v - 1, cost) for _, u, v, cost in edges], [terminal - 1 for _, terminal in terminals]
        )


def write_stp(instance: SteinerInstance, path: Path) -> None:
    """Write an instance; the inverse of :func:`read_stp`."""
    edges = zip(instance.edges.tolist(), instance.costs.tolist(), strict=True)
    graph = [f"Nodes {instance.num_nodes}", f"Edges {instance.num_edges}"]
    graph += [f"E {u + 1} {v + 1} {cost}" for (u, v), cost in edges]
    terminals = [f"Terminals {instance.num_terminals}", *(f"T {t + 1}" for t in instance.terminals.tolist())]
    sections = (["SECTION Graph", *graph, "END", ""], ["SECTION Terminals", *terminals, "END", ""])
    head = "33D32945 STP File, STP Format Version 1.0"
    text = "\n".join([head, "", *sections[0], *sections[1], "EOF", ""])
    atomic_write(path, text)


class _Lines(Iterator[tuple[int, list[str]]]):
    """The lines that are neither empty nor comments, with their numbers."""

    def __init__(self, path: Path) -> None:
        self._path = path
        split = ((number, line.split()) for number, line in enumerate(read_text(path).splitlines(), start=1))
        self._lines = ((number, words) for number, words in split if words and not words[0].startswith("#"))

    def __next__(self) -> tuple[int, list[str]]:
        return next(self._lines)

    def wrong(self, number: int, message: str) -> BadInput:
        return BadInput(f"{self._path}: line {number}: {message}")

    def section(self, begin: int) -> Iterator[tuple[int, list[str]]]:
        """The lines until END."""
        for number, words in self._lines:
            if words[0].lower() == "end":
                return
            if words[0].lower() in ("section", "eof"):
                break
            yield number, words
        raise self.wrong(begin, "this section does not end: close it with END")

    def numbers(self, number: int, words: list[str], form: str) -> list[int]:
        """The integers after the first word of a line of the given form; ids are at least 1."""
        names = form.split()[1:]
        if len(words) != len(names) + 1:
            raise self.wrong(number, f"'{' '.join(words)}' must read '{form}'")
        numbers = []
        for name, word in zip(names, words[1:], strict=True):
            least = 0 if name in ("COST", "COUNT") else 1
            if not word.isdecimal() or not word.isascii() or len(word) > 18 or int(word) < least:
                fix = "scale the costs" if name == "COST" else "correct it"
                raise self.wrong(number, f"'{word}' is no integer of at least {least}: {fix}")
            numbers.append(int(word))
        return numbers


def _graph(lines: _Lines, begin: int) -> tuple[int, list[tuple[int, int, int, int]]]:
    """The number of nodes, and the edges with their lines."""
    nodes = count = None
    edges: list[tuple[int, int, int, int]] = []
    for number, words in lines.section(begin):
        kind = words[0].lower()
        if kind == "nodes":
            (nodes,) = lines.numbers(number, words, "Nodes N")
        elif kind == "edges":
            (count,) = lines.numbers(number, words, "Edges COUNT")
        elif kind == "e":
            u, v, cost = lines.numbers(number, words, "E NODE NODE COST")
            if u == v:
                raise lines.wrong(number, f"a loop at node {u}: remove it")
            edges.append((number, u, v, cost))
        elif kind in ("obstacles", "a", "arcs"):
            raise lines.wrong(number, f"'{words[0]}' belongs to another problem: give undirected edges")
        else:
            raise lines.wrong(number, f"'{words[0]}' is unknown in section Graph: give Nodes, Edges and E lines")
    if nodes is None:
        raise lines.wrong(begin, "section Graph has no line 'Nodes N': add it")
    if count is not None and count != len(edges):
        raise lines.wrong(begin, f"section Graph says {count} edges and has {len(edges)}: correct one")
    return nodes, edges


def _terminals(lines: _Lines, begin: int) -> list[tuple[int, int]]:
    """The terminals with their lines."""
    count = None
    terminals: list[tuple[int, int]] = []
    for number, words in lines.section(begin):
        kind = words[0].lower()
        if kind == "terminals":
            (count,) = lines.numbers(number, words, "Terminals COUNT")
        elif kind == "t":
            (terminal,) = lines.numbers(number, words, "T NODE")
            terminals.append((number, terminal))
        else:
            raise lines.wrong(number, f"'{words[0]}' is unknown in section Terminals: give Terminals and T lines")
    if not terminals:
        raise lines.wrong(begin, "section Terminals names no terminal: add lines 'T NODE'")
    if count is not None and count != len(terminals):
        raise lines.wrong(begin, f"section Terminals says {count} and has {len(terminals)}: correct one")
    return terminals


class Steiner(OverlayKind[SteinerInstance]):
    """Graphs with edge costs and terminals."""

    name, summary = "steiner", "a graph with edge costs and terminals; an answer is a tree"
    instance_type, default_problem = SteinerInstance, "steiner"
    endings, ending = (".stp",), ".stp"
    sizes, measures = ("nodes", "links", "terminals"), ("edges", "steiner_nodes")

    def read(self, path: Path, columns: Mapping[str, str]) -> LoadedInstance[SteinerInstance]:
        return LoadedInstance(read_stp(path))

    def write(self, instance: SteinerInstance, path: Path) -> None:
        write_stp(instance, path)

    def size(self, instance: SteinerInstance) -> dict[str, int]:
        return {"nodes": instance.num_nodes, "links": instance.num_edges, "terminals": instance.num_terminals}


STEINER = Steiner()
