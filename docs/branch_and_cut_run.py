"""Write docs/how_branch_and_cut_works.md from one run: ``python -m overlaybench.docs.branch_and_cut_run``.

The bounds on the page are computed here from the lines of the proof, by no code of the package.
"""

from __future__ import annotations

import gzip
import json
import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import Any

import numpy as np
from scipy.optimize import linprog

import overlaybench as ob
from overlaybench.compare.figures.draw import NotebookFigure
from overlaybench.compare.figures.files import as_bytes
from overlaybench.compare.figures.panels import HERE, PLAIN, GraphAxes, circle
from overlaybench.compare.figures.style import FigureOptions, styled
from overlaybench.compare.studies.proofs import run_checker
from overlaybench.instances.contract.files import atomic_write

PAGE = Path(__file__).with_name("how_branch_and_cut_works.md")
PICTURE = PAGE.with_suffix(".svg")
TOPICS = ("cfhi", "abdfg", "bcefh", "cdefg", "aegi", "cdegh", "cdfh", "abdgi", "deghi", "bdhi", "abef", "efgh")
Edge = tuple[int, int]


@dataclass(frozen=True)
class Node:
    """A node of the search tree: its branches, what bounds fix, its rows with multipliers, and the bound they prove."""

    number: int
    branches: dict[Edge, int]
    fixed: dict[Edge, int]
    rows: list[tuple[int, Fraction]]
    bound: Fraction


class SmallRun:
    """The instance, its proof, and what the lines of the proof say."""

    def __init__(self, folder: Path) -> None:
        rows = [f"{node},t{number}" for number, members in enumerate(TOPICS) for node in members]
        self.csv = "\n".join(["node,topic", *rows, ""])
        file, proof = folder / "nine.csv", folder / "nine.proof.gz"
        file.write_text(self.csv)
        self.instance = ob.read(file)
        self.members = [[*map(self.instance.node_label, self.instance.subscribers(t))] for t in range(len(TOPICS))]
        self.index = {self.instance.node_label(v): v for v in range(self.instance.num_nodes)}
        result = ob.solve(self.instance, "min-tco", "branch-and-cut", proof=proof)
        assert result.answer is not None
        self.overlay, self.value = result.answer, int(result.value or 0)
        self.fixed_at_root = result.counters["fixed_at_root"]
        self.greedy = ob.solve(self.instance, "min-tco", "gm")
        self.verdict = run_checker(file, proof).sentence
        with gzip.open(proof, "rt") as lines:
            self.lines: list[list[Any]] = list(map(json.loads, lines))
        self.head = self.lines[0][1]
        self.rows = [tuple(line[2:]) for line in self.lines if line[:2] == ["row", "parts"]]
        self.end = next(int(line[1]) for line in self.lines if line[0] == "end")
        pairs = {pair for members in TOPICS for pair in combinations(sorted(self.index[v] for v in members), 2)}
        self.pairs = sorted(pairs)

    def row(self, number: int) -> tuple[dict[Edge, int], int]:
        """The coefficients and the right-hand side of a row: edges between parts of a topic ≥ parts − 1."""
        kept, labels = self.rows[number]
        members = self.instance.subscribers(self.head["kept"][kept]).tolist()
        apart = {(u, v): 1 for (u, a), (v, b) in combinations(zip(members, labels, strict=True), 2) if a != b}
        return apart, max(labels)

    def said(self, number: int) -> str:
        """A row in words: ``cfhi: c | f | h | i``."""
        kept, labels = self.rows[number]
        topic = self.head["kept"][kept]
        names = [self.instance.node_label(v) for v in self.instance.subscribers(topic).tolist()]
        parts = [
            "".join(v for v, own in zip(names, labels, strict=True) if own == part) for part in range(max(labels) + 1)
        ]
        return f"t{topic} | {' · '.join(parts)} | {max(labels)}"

    def nodes(self) -> list[Node]:
        """The nodes of the tree with their last bounds; a bound fixes columns as docs/proof_format.md says."""
        branches: list[dict[Edge, int]] = [{}]
        fixed: list[dict[Edge, int]] = [{}]
        found: dict[int, Node] = {}
        for kind, number, *rest in self.lines[1:]:
            if kind == "branch":
                pair = (rest[0][0], rest[0][1])
                branches += ({**branches[number], pair: value} for value in (1, 0))
                fixed += ({**fixed[number], pair: value} for value in (1, 0))
            elif kind == "bound":
                rows = [
                    (row, Fraction(m, self.head["unit"])) for row, m in zip(rest[0][::2], rest[0][1::2], strict=True)
                ]
                found[number] = Node(number, branches[number], fixed[number], rows, self._bound(rows, fixed[number]))
        return list(found.values())

    def _bound(self, rows: list[tuple[int, Fraction]], fixed: dict[Edge, int]) -> Fraction:
        """Σ m·b + Σ min((1 − Σ m·a)·x), and the columns that cannot have their other value are fixed."""
        total, reduced = Fraction(0), dict.fromkeys(self.pairs, Fraction(1))
        for number, m in rows:
            coefficients, least = self.row(number)
            total += m * least
            for pair, a in coefficients.items():
                reduced[pair] -= m * a
        for pair, cost in reduced.items():
            total += cost * fixed[pair] if pair in fixed else min(cost, Fraction(0))
        for pair, cost in reduced.items():
            if pair not in fixed and total + abs(cost) > self.end - 1:
                fixed[pair] = int(cost < 0)
        return total

    def relaxed(self) -> tuple[int, dict[Edge, float]]:
        """The number of all partition inequalities, and an optimal solution of the linear program that has them all."""
        rows = []
        for members in (sorted(map(self.index.__getitem__, topic)) for topic in TOPICS):
            for labels in (each for each in product(range(len(members)), repeat=len(members)) if _is_partition(each)):
                apart = [(u, v) for (u, a), (v, b) in combinations(zip(members, labels, strict=True), 2) if a != b]
                rows.append(([-float(pair in apart) for pair in self.pairs], -max(labels)))
        left, right = (np.array(side) for side in zip(*rows, strict=True))
        found = linprog(np.ones(len(self.pairs)), left, right, bounds=(0, 1), method="highs-ds")
        return len(rows), {pair: float(x) for pair, x in zip(self.pairs, found.x, strict=True) if x > 1e-9}


def _is_partition(labels: tuple[int, ...]) -> bool:
    """Whether these are two parts or more, numbered in the order of their first members."""
    return max(labels) > 0 and all(label <= max(labels[:at], default=-1) + 1 for at, label in enumerate(labels))


def picture(run: SmallRun) -> bytes:
    """The solution of the linear program at the root beside the optimum."""
    _, relaxed = run.relaxed()
    labels, positions = list(run.index), circle(len(run.index))
    halves = [pair for pair, x in relaxed.items() if x < 1 - 1e-9]
    branched = [tuple(line[2]) for line in run.lines if line[0] == "branch"]
    options = FigureOptions(formats=("svg",), width=5.2)
    with styled(options):
        figure = NotebookFigure(figsize=(5.2, 2.7), layout="constrained")
        for number, (title, whole, part) in enumerate((
            (f"the relaxation at the root: {sum(relaxed.values()):g}", [p for p in relaxed if p not in halves], halves),
            (f"an optimal overlay: {run.value} edges", list(map(tuple, run.overlay.edges.tolist())), []),
        )):  # fmt: skip
            axes = figure.add_subplot(1, 2, number + 1)
            axes.set_title(title)
            graph = GraphAxes(axes, positions)
            graph.edges([edge for edge in whole if edge not in branched], PLAIN, 1.6)
            graph.edges([edge for edge in whole if edge in branched], HERE, 1.6)
            graph.edges([edge for edge in part if edge not in branched], PLAIN, 1.0, linestyle=":")
            graph.edges([edge for edge in part if edge in branched], HERE, 1.0, linestyle=":")
            graph.nodes(labels)
        return as_bytes(figure, "svg")


def page(run: SmallRun) -> str:
    """The text of the page."""
    root, *leaves = nodes = run.nodes()
    inequalities, relaxed = run.relaxed()
    subscribers = "\n".join(f"t{t:<4}{members}" for t, members in enumerate(TOPICS))
    sums = [f"| {k} | {run.said(k)} | {float(m):.3g} |" for k, m in root.rows]
    branches = [
        f"| {node.number} | {', '.join(f'{_named(run, pair)} = {x}' for pair, x in node.branches.items()) or '–'} "
        f"| {len(node.rows)} | {float(node.bound):.4g} | {_rounded(node.bound)} |"
        for node in nodes
    ]
    branched, *_ = leaves[0].branches
    pair, fixed = _named(run, branched), root.fixed
    total = sum((m * run.row(k)[1] for k, m in root.rows), Fraction(0))
    shown = [json.dumps(line, separators=(",", ":")) for line in run.lines[1:]]
    shown = [line if len(line) <= 100 else f"{line[:97]}…" for line in shown]
    return _filled(f"""# How branch-and-cut works

One small run of `branch-and-cut` on `min-tco`, from the file to the proof. All numbers and the picture are written by
`python -m overlaybench.docs.branch_and_cut_run`, which runs it again.

```
overlaybench solve nine.csv --method branch-and-cut --proof nine.proof.gz
overlaybench check-proof nine.csv nine.proof.gz
```

`nine.csv` has a line for each subscription, such as `a,t1`: {run.instance.num_subscriptions} subscriptions of nine
nodes to {len(TOPICS)} topics, whose subscribers are

```
{subscribers}
```

**What is asked.** The fewest edges such that the subscribers of each topic are connected among themselves. Only a pair
with a topic in common can help: {len(run.pairs)} of the {math.comb(len(run.index), 2)} pairs. Each is a column x(u, v)
of a linear program: 1 if the overlay has the edge, 0 if it has not, and it costs 1.

**A first answer.** Greedy Merge has {run.greedy.value:g} edges. A local search improves it to {run.value}, the
incumbent. From here on the search looks for {run.value - 1} edges or fewer, or for a proof that there is no
such overlay.

**The relaxation.** Let x be any number from 0 to 1. Divide the subscribers of a topic into parts: a connected topic has
at least as many edges between the parts as there are parts, less 1 (a *partition inequality*). Here these are
{inequalities:,} inequalities, and more than fit into any program for larger topics. So the program begins with few. Its
solution is searched for a partition that it violates (*separation*, by minimum cuts: `models/topics/relaxation/`), that
row is added, and the program is solved again, until none is violated. With all of them the least cost is
{sum(relaxed.values()):g}, and {_fractions(relaxed)} pairs have fractions: the dotted edges, here of {_values(relaxed)}.

![The solution of the relaxation beside an optimal overlay](how_branch_and_cut_works.svg)

**A bound that anyone can add up.** The solver also gives a multiplier for each row. Every overlay satisfies every row,
so it satisfies their weighted sum.

| row | topic | parts | edges between parts at least | multiplier |
| --- | --- | --- | --- | --- |
{chr(10).join(sums)}

The right-hand sides, each times its multiplier, add up to {float(total):g}. A pair in many rows counts more than once:
where its multipliers add up to more than its cost of 1, the excess is subtracted. What is left is
{float(root.bound):.4g}, so {_rounded(root.bound)} edges are needed at least. Multipliers are rounded to integers in
units of 1/{run.head["unit"]:,} before this sum, so the bound is exact, whatever the solver's rounding was.

**Fixing.** Give one pair its other value: if this alone raises the bound above {run.end - 1}, no overlay of
{run.end - 1} edges has that value. This fixes {len(fixed)} pairs at the root. {_listed(run, fixed, 1)} are in every
such overlay, {_listed(run, fixed, 0)} in none.

**Branching.** {_rounded(root.bound)} is not {run.value} yet. The search picks a fractional pair, {pair}, and
makes two programs: one with the edge and one without. Every overlay is in one of the two. Each gets its own rows and
multipliers.

| node of the tree | branches | rows | bound | edges at least |
| --- | --- | --- | --- | --- |
{chr(10).join(branches)}

Both leaves need {min(_rounded(leaf.bound) for leaf in leaves)} edges or more. The incumbent has {run.value}:
it is optimal, and the tree of {len(nodes)} nodes is the reason.

**The proof** is those steps as lines, here without the first one, which names the instance:

```
{chr(10).join(shown)}
```

`row` names a topic and the part of each subscriber, `bound` the rows and multipliers of a node, `branch` a node and a
pair, `end` the number that no overlay is below, and `claim` the overlay. The checker reads these lines and the file,
and nothing else: *{run.verdict}*. [The format](proof_format.md) has all kinds of lines, [proofs](proofs.md) what you
need to believe, and [exact methods](exact.md) what larger instances need: presolve, searches along the relaxation's
values, and rows of further kinds.
""")


def _filled(text: str) -> str:
    """The text with its paragraphs in lines of 120 letters."""
    blocks = text.strip().split("\n\n")
    plain = (block if block[0] in "#`|!" else fill(block, 120, break_on_hyphens=False) for block in blocks)
    return "\n\n".join(plain) + "\n"


def _fractions(solution: dict[Edge, float]) -> int:
    return sum(x < 1 - 1e-9 for x in solution.values())


def _values(solution: dict[Edge, float]) -> str:
    return " and ".join(sorted({str(Fraction(x).limit_denominator(99)) for x in solution.values() if x < 1 - 1e-9}))


def _listed(run: SmallRun, fixed: dict[Edge, int], value: int) -> str:
    return ", ".join(_named(run, pair) for pair, own in fixed.items() if own == value)


def _named(run: SmallRun, pair: Edge) -> str:
    return "–".join(run.instance.node_label(v) for v in pair)


def _rounded(bound: Fraction) -> int:
    """A bound on a whole number of edges."""
    return math.ceil(bound - Fraction(1, 10**6))


def main() -> None:
    """Run it, and write the page and its picture."""
    with TemporaryDirectory() as folder:
        run = SmallRun(Path(folder))
    atomic_write(PICTURE, picture(run))
    atomic_write(PAGE, page(run))


if __name__ == "__main__":
    main()
