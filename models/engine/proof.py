"""Proofs of bounds, written while a search runs; docs/proof_format.md has the format, models/checker the checker."""

from __future__ import annotations

import gzip
import json
import math
import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ...instances.contract.errors import BadInput

FORMAT = "overlaybench-proof/1"
_LEVEL = 1
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False).encode
_ROWS_KNOWN = 20_000  # rows that may be used again; others are dropped, and written anew where they are needed


class Multipliers(NamedTuple):
    """Rows with positive integer multipliers, which prove a bound or, without costs, infeasibility; or trees alone."""

    rows: Iterable[tuple[Hashable, int]]  # the key of a row is also its text: the items of its line in the file
    prices: Iterable[tuple[int, int]] = ()  # nodes with the multiplier of their degree row
    farkas: bool = False  # whether the sum is a contradiction without any costs
    trees: Iterable[tuple[int, list[int], list[int]]] = ()  # of the root: topics, their subscribers in a row, its gaps


Proven = Callable[[], Multipliers]
"""What a bound keeps of the LP that proved it: its multipliers, made when they are written."""


class ProofFile:
    """A proof file, compressed as it is written; one that ends without a claim is emptied, as it proves nothing.

    Without a path nothing is written, and `is_written` is False. `cases` counts those begun so far. BadInput is raised
    if the file cannot be written.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self._path, self._claimed = path, False
        try:
            self._file = None if path is None else gzip.open(path, "wt", compresslevel=_LEVEL, encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            raise BadInput(f"{path}: cannot be written ({error.strerror}): choose another path for the proof") from None
        self._rows: OrderedDict[Hashable, int] = OrderedDict()
        self.cases = 0
        self._count = 0

    @property
    def is_written(self) -> bool:
        """Whether there is a file."""
        return self._file is not None

    def __enter__(self) -> ProofFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None and self._path is not None:
            self._try(self._file.close)
        if self._path is not None and not (self._claimed and self._file):
            os.truncate(self._path, 0)

    def _try(self, write: Callable[..., object], *arguments: str) -> None:
        """Write or close; where the disk is full the run goes on without a proof, as its answer is worth more."""
        try:
            write(*arguments)
        except OSError as error:
            print(f"overlaybench: the proof cannot be written ({error.strerror}): it is left out", file=sys.stderr)
            self._file = None

    def line(self, *items: Any) -> None:
        """Write a line, a JSON list."""
        if self._file is not None:
            self._try(self._file.write, _encode(items) + "\n")

    def head(self, **facts: Any) -> None:
        """Write the first line: what is proven of which instance."""
        self.line("proof", {"format": FORMAT, **facts})

    def snapshot(self, step: int, **facts: Any) -> None:
        """Begin the section of a snapshot of a trace, whose rows are numbered from 0 again."""
        self.line("snapshot", step, facts)
        self._rows.clear()
        self._count = 0

    def case(self, **facts: Any) -> ProofTree:
        """Begin the tree of a statement such as "with no degree above 4"."""
        self.line("case", facts)
        self.cases += 1
        return ProofTree(self)

    def claim(self, value: float | None, bound: float | None, answer: Any) -> None:
        """Write the last line: the answer, and its optimality if the bound says so."""
        self._claimed = True
        self.line("claim", bound if value is not None and value == bound else None, answer)

    def multipliers(self, tag: str, node: int, given: Multipliers) -> None:
        """Write rows that are new, then a line of multipliers."""
        if self._file is None:
            return
        if trees := list(given.trees):
            for tree in trees:
                self.line("tree", *tree)
            self.line("trees")
            return
        listed: list[int] = []
        for row, factor in given.rows:
            number = self._rows.get(row)
            if number is None:
                number = self._rows[row] = self._count
                self._count += 1
                self.line("row", *row)  # type: ignore[misc]
            self._rows.move_to_end(row)
            listed += (number, factor)
        prices = [number for pair in given.prices for number in pair]
        self.line(tag, node, listed, *([prices] if prices else []))
        if len(self._rows) > _ROWS_KNOWN:
            dropped = [self._rows.popitem(last=False)[1] for _ in range(len(self._rows) - _ROWS_KNOWN)]
            self.line("drop", *dropped)


class ProofTree:
    """The search tree of one case: node 0 is its root; a node is a leaf unless it branches."""

    def __init__(self, file: ProofFile) -> None:
        self._file = file
        self._created = 0

    def bound(self, node: int, proven: Proven | None) -> None:
        """Bound a node and fix what its reduced costs allow."""
        if proven is not None and self._file.is_written:
            given = proven()
            self._file.multipliers("none" if given.farkas else "bound", node, given)

    def paths(self, given: Multipliers, *, excluding: bool = True) -> None:
        """Bound the root by directed cuts, and exclude arcs by the least reduced cost of a path through them."""
        self._file.multipliers("paths" if excluding else "bound", 0, given)

    def branch(self, node: int, column: Any) -> tuple[int, int]:
        """Split a node; returns the numbers of its children with the column at 1 and at 0."""
        self._file.line("branch", node, column)
        self._created += 2
        return self._created - 1, self._created

    def replay(self, record: Record) -> dict[int, int]:
        """Write what another process noted; returns the numbers here of the nodes that it made."""
        made: dict[int, int] = {}
        for node, children, what in record:
            number = made.get(node, node)
            if isinstance(what, Multipliers):
                self.bound(number, partial(Multipliers, *what))
            else:
                made.update(zip(children, self.branch(number, what), strict=True))
        return made

    def end(self, below: float) -> None:
        """End the case: it holds no answer of a value below the bounds of all leaves and below this one."""
        self._file.line("end", None if below == math.inf else int(below) if below == int(below) else below)


Record = list[tuple[int, tuple[int, ...], Any]]
"""Nodes with their multipliers, or with the numbers of their children and the column that they differ in."""


class NotedTree(ProofTree):
    """Bounds and branchings noted for :meth:`ProofTree.replay`; nodes made here have negative numbers."""

    def __init__(self, tree: ProofTree) -> None:
        self._with_bounds, self._created = tree._file.is_written, 0
        self.record: Record = []

    def bound(self, node: int, proven: Proven | None) -> None:
        if proven is not None and self._with_bounds:
            given = proven()
            self.record.append((node, (), given._replace(rows=list(given.rows), prices=list(given.prices))))

    def branch(self, node: int, column: Any) -> tuple[int, int]:
        self._created -= 2
        children = self._created + 1, self._created
        self.record.append((node, children, column))
        return children


NO_FILE = ProofFile()
NO_PROOF = ProofTree(NO_FILE)
