"""Write docs/atlas.md from the atlas on record: ``python -m overlaybench.docs.atlas_page``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from textwrap import fill

from overlaybench.compare.atlas.every_instance import number_of_instances
from overlaybench.compare.atlas.record import AtlasEntry, entries_on_record
from overlaybench.compare.atlas.small_optima import PROBLEMS as LISTED
from overlaybench.compare.atlas.small_optima import smallest_value
from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.claims.search import CONSTRUCTIONS
from overlaybench.instances.contract.catalogue import PROBLEMS
from overlaybench.instances.topics.instance import TopicInstance

PAGE = Path(__file__).with_name("atlas.md")
Cells = Mapping[tuple[int, int], AtlasEntry]
METHOD_NAMES = (
    "gm", "minmax-oda", "gm-m", "low-oda", "cd-oda", "cd-oda-1", "cd-oda-2", "cd-max", "2d-oda", "ring-per-topic",
)  # fmt: skip
SHARES = (6, 7)
_HEAD = """# The atlas of small instances

`overlaybench atlas` goes through **every** topic instance up to a size, once up to renaming nodes and topics, and
compares a method with the optimum under every way to break ties. What stands here is proven by exhaustion.

```
overlaybench atlas --method gm --problem min-tco --nodes 6 --topics 6     a table by size, and the worst instance
overlaybench atlas --method low-oda --option k=8 --nodes 5 --topics 6     a method with an option
overlaybench atlas --claim "gm <= 1.5 * low-oda[k=3]"                     a counterexample, the smallest, or a proof
overlaybench atlas --claim "gm[ties=best] <= optimum" --where "max_degree <= 3" --nodes 6 --topics 6
overlaybench atlas --method mine:function --nodes 4 --topics 4            a method of your own
overlaybench worst --method gm --problem min-tco --nodes 6 --topics 7     answers from this record, then searches
```

An instance of n nodes and t topics is a multiset of t sets of two or more nodes; a node may have no topic. `worst` and
`best` are over all choices that ties leave open, and hold whatever the nodes are called. For `ring-per-topic`, which
has no ties, they are over all orders of the nodes. *Random* breaks each tie uniformly at random, independently of
others; its mean is exact. `lowest`, `highest` and a method of your own depend on how the nodes are numbered; they are
run on one numbering of each instance. `--out FOLDER` keeps parts, so that a survey that was stopped goes on; `--master`
spreads it over a Spark cluster, with the same bytes. From Python: `ob.atlas("gm", nodes=5, topics=5)`.

Three things make it a proof. The number of instances of every size equals the count by Burnside's lemma, which needs
no enumeration. The optimum is the first of all graphs on the nodes, by rising value, that serves every topic; it is
compared with a brute force and with branch-and-cut. The search of ties gives the overlays of the methods themselves,
edge by edge, on all instances of up to five nodes and five topics (`tests/compare/atlas/test_every_tie.py`).
"""


def page() -> str:
    """The text of the page."""
    known = plain()
    parts = [_HEAD, sizes_on_record(known), failing(known), _shares(known), growth(known), _lemmas(known), _factors()]
    return "\n".join([*parts, "## Worst ratios, method by method", "", matrices(known)])


def plain() -> Mapping[tuple[str, str], Cells]:
    """The record of methods with their default options."""
    return {key: cells for key, cells in entries_on_record().items() if "[" not in key[0]}


def _table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *rows)) + "\n"


def _topics(entry: AtlasEntry, ties: str = "worst") -> str:
    return " ".join("".join(map(str, members)) for members in entry.found[ties].topics)


def _worst(entry: AtlasEntry, ties: str = "worst") -> str:
    return f"{entry.found[ties].value}/{entry.found[ties].optimum}"


def _ratio(entry: AtlasEntry, ties: str = "worst") -> Fraction:
    return Fraction(entry.found[ties].value, entry.found[ties].optimum)


def _pairs(known: Mapping[tuple[str, str], Cells]) -> Iterator[tuple[str, str, Cells]]:
    for method in METHOD_NAMES:
        for problem in LISTED:
            if cells := known.get((method, problem)):
                yield method, problem, cells


def sizes_on_record(known: Mapping[tuple[str, str], Cells]) -> str:
    """The numbers of instances of each size."""
    sizes = sorted({size for cells in known.values() for size in cells})
    rows = []
    for n in sorted({n for n, _ in sizes}):
        row = [str(n)]
        for t in range(1, max(t for _, t in sizes) + 1):
            missing = sorted({m for m, _, cells in _pairs(known) if (n, t) not in cells}, key=METHOD_NAMES.index)
            note = "" if not missing else "–" if len(missing) == len(METHOD_NAMES) else "*"
            row.append(note if note == "–" else f"{number_of_instances(n, t):,}{note}")
        rows.append(row)
    partial = {
        f"({n}, {t})": [m for m in METHOD_NAMES if any((n, t) in c for name, _, c in _pairs(known) if name == m)]
        for n, t in sizes
    }
    stars = "; ".join(
        f"{size} for {', '.join(f'`{m}`' for m in names)} alone"
        for size, names in partial.items()
        if len(names) < len(METHOD_NAMES)
    )
    head = ["nodes \\ topics", *map(str, range(1, max(t for _, t in sizes) + 1))]
    note = f"\n\\* {stars}.\n" if stars else ""
    return f"## What is complete\n\nInstances of each size, all surveyed:\n\n{_table(head, rows)}{note}"


def failing(known: Mapping[tuple[str, str], Cells]) -> str:
    """The smallest instances on which methods are not optimal."""
    rows = []
    for method, problem, cells in _pairs(known):
        row = [f"`{method}`", problem]
        for ties in ("worst", "best"):
            order = sorted(cells.values(), key=lambda one: (one.topics, one.nodes))
            first = next((one for one in order if one.found[ties].not_optimal), None)
            if first is None:
                last = max(cells.values(), key=lambda one: one.instances)
                row += [f"none up to ({last.nodes}, {last.topics})", ""]
            else:
                row += [f"({first.nodes}, {first.topics}): {_worst(first, ties)}", _topics(first, ties)]
        rows.append(row)
    head = ["method", "problem", "smallest size that misleads it", "topics", "whatever the ties", "topics"]
    text = (
        "The smallest instance, by topics and then by nodes, on which a choice of ties is not optimal, and on which no "
        "choice is. A topic is written by its subscribers: `012 03` has the topics {0, 1, 2} and {0, 3}."
    )
    return f"## The smallest instance that misleads each method\n\n{_wrapped(text)}\n\n{_table(head, rows)}"


def _shares(known: Mapping[tuple[str, str], Cells]) -> str:
    rows = []
    for method, problem, cells in _pairs(known):
        if (one := cells.get(SHARES)) is None:
            continue
        found = [one.found[ties] for ties in ("worst", "best")]
        shares = [f"{each.not_optimal / one.instances:.2%}" for each in found]
        means = [f"{each.mean_ratio:.4f}" for each in found]
        worst = [_worst(one), f"{one.found['worst'].cases:,}"]
        rows.append([f"`{method}`", problem, *shares, means[0], f"{one.random:.4f}", means[1], *worst])
    if not rows:
        return ""
    head = ["method", "problem", "not optimal, worst ties", "best ties", "mean ratio, worst ties", "random", "best"]
    head += ["worst ratio", "instances that have it"]
    text = f"All {number_of_instances(*SHARES):,} instances of {SHARES[0]} nodes and {SHARES[1]} topics."
    return f"## How often\n\n{text}\n\n{_table(head, rows)}"


_GROWTH = """Greedy Merge, fewest edges. Take as topics all n sets of n − 1 nodes. Ties allow a star first: each of its
n − 1 edges contributes to n − 2 topics, as much as any edge. Then one topic is left, the one without the centre, and
takes n − 2 more edges: 2n − 3 in all. The optimum is n: the overlay must stay connected without any one node, for which
a cycle suffices. So **the worst ratio with n nodes and n topics is at least 2 − 3/n for every n ≥ 3**. The atlas proves
that it is exactly 2 − 3/t with n nodes and t topics for (n, t) = {law}; at the other sizes on record it is what the
matrix below says, and beyond them nothing is proven. {beaten} {lucky}

Stars. A method that links only nodes with a common topic has at most n/2 times the fewest edges: k nodes in one piece
have at most k(k − 1)/2 edges and need k − 1. `cd-oda` on 2d-star reaches n/2 first at (n, t) = {stars}: with the n − 1
topics of Lemma 5 of Onus and Richa, and with no fewer.

More nodes, more topics. A worst ratio does not fall when a node without topics is added, except for `minmax-oda`, which
may spend idle edges on it. Whether it may fall when a topic is added is open; on record it {falls}."""


def growth(known: Mapping[tuple[str, str], Cells]) -> str:
    """What grows with nodes and topics, and what of it is proven."""
    cells = known["gm", "min-tco"]
    law = [size for size, one in sorted(cells.items()) if size[1] > 3 and _ratio(one) == 2 - Fraction(3, size[1])]
    beaten = min(((t, n) for (n, t), one in cells.items() if n > 3 and _ratio(one) > 2 - Fraction(3, n)), default=None)
    more = "On record it is not exceeded on n nodes with more topics either."
    if beaten is not None:
        one = cells[beaten[::-1]]
        more = (
            f"With many more topics than nodes it grows: {_worst(one)} at {_listed([beaten[::-1]])}, `{_topics(one)}`."
        )
    order = sorted(cells.values(), key=lambda one: (one.topics, one.nodes))
    unlucky = next((one for one in order if one.found["best"].not_optimal), None)
    lucky = "On every instance on record some choice of ties makes it optimal."
    if unlucky is not None:
        size, least = _listed([(unlucky.nodes, unlucky.topics)]), _worst(unlucky, "best")
        lucky = f"The smallest instance on which no choice of ties makes it optimal is at {size}: {least}, "
        lucky += f"`{_topics(unlucky, 'best')}`."
    stars = known["cd-oda", "2d-star"]
    reached = [
        (n, min((t for m, t in stars if m == n and _ratio(stars[m, t]) == Fraction(n, 2)), default=0))
        for n in (4, 5, 6, 7)
    ]
    falls = _falls(known)
    text = _GROWTH.format(
        law=_listed(law),
        beaten=more,
        lucky=lucky,
        stars=_listed([size for size in reached if size[1]]),
        falls=f"does: {falls}" if falls else "never does",
    )
    paragraphs = [_wrapped(f"**{title}.** {rest}") for title, rest in (p.split(". ", 1) for p in text.split("\n\n"))]
    return "\n\n".join(["## What grows, and what is proven", *paragraphs, ""])


def _wrapped(text: str) -> str:
    return fill(" ".join(text.split()), 118, break_long_words=False, break_on_hyphens=False)


def _listed(sizes: list[tuple[int, int]]) -> str:
    return ", ".join(f"({n}, {t})" for n, t in sorted(sizes))


def _falls(known: Mapping[tuple[str, str], Cells]) -> str:
    found = [
        f"`{method}` on {problem} at ({n}, {t}) from {_worst(cells[n, t])} to {_worst(cells[n, t + 1])}"
        for method, problem, cells in _pairs(known)
        for n, t in sorted(cells)
        if (n, t + 1) in cells and _ratio(cells[n, t + 1]) < _ratio(cells[n, t])
    ]
    return found[0] + (f", and {len(found) - 1} times more" if found[1:] else "") if found else ""


def _lemmas(known: Mapping[tuple[str, str], Cells]) -> str:
    rows = []
    for source, (method, problem, built) in CONSTRUCTIONS.items():
        for instance in built():
            rows += _lemma_row(source, method, problem, instance, known[method, problem])
    head = [
        "construction",
        "method",
        "problem",
        "nodes, topics",
        "ratio",
        "worst of this size",
        "as bad with fewest topics",
    ]
    text = (
        "The papers' constructions that have few enough nodes, under the worst ties, beside the worst instance on as "
        "many nodes. A topic with one subscriber does not count. The family of Lemma 6.6 has a ratio of at most "
        "k(n − k)/(2(n − 2)) on n = k + m + 2 nodes. Up to 11 nodes the n sets of n − 1 nodes are worse; from 12 nodes "
        "on the family is, with k = 6, m = 4 and 504 topics, and without a limit as n grows."
    )
    return f"## Where the papers' constructions stand\n\n{_wrapped(text)}\n\n{_table(head, rows)}"


def _lemma_row(source: str, method: str, problem: str, instance: TopicInstance, cells: Cells) -> list[list[str]]:
    n = instance.num_nodes
    topics = sum(len(instance.subscribers(t)) > 1 for t in range(instance.num_topics))
    if n > 7:
        return []
    value = METHODS[method].run(instance, PROBLEMS[problem], ties="worst").value
    if value is None:
        return []
    ratio = Fraction(int(value), smallest_value(instance, problem))
    same = cells.get((n, topics))
    as_bad = sorted((t, _worst(one)) for (m, t), one in cells.items() if m == n and _ratio(one) >= ratio)
    worst = "not on record" if same is None else _worst(same) + (", this one" if _ratio(same) == ratio else "")
    fewest = "" if ratio == 1 else f"{as_bad[0][0]} topics: {as_bad[0][1]}" if as_bad else "none on record"
    shown = f"{int(value)}/{smallest_value(instance, problem)}"
    return [[source, f"`{method}`", problem, f"{n}, {topics}", shown, worst, fewest]]


def _factors() -> str:
    rows = []
    for (method, problem), cells in sorted(entries_on_record().items()):
        if method.startswith("low-oda"):
            sizes = [(n, t) for n, t in ((4, 5), (5, 5), (5, 7), (6, 6)) if (n, t) in cells]
            if len(sizes) == 4:
                rows.append([f"`{method}`", problem, *(_worst(cells[size]) for size in sizes)])
    if not rows:
        return ""
    head = ["method", "problem", "(4, 5)", "(5, 5)", "(5, 7)", "(6, 6)"]
    return f"## Low-ODA by its factor k\n\nThe default is k = 3.\n\n{_table(head, rows)}"


def matrices(known: Mapping[tuple[str, str], Cells]) -> str:
    """The worst ratios of each method on each problem, by nodes and topics."""
    parts = ["The worst ratio of each size, under the worst ties: value/optimum.", ""]
    for method in METHOD_NAMES:
        own = {problem: cells for name, problem, cells in _pairs(known) if name == method}
        topics = range(1, max(t for cells in own.values() for _, t in cells) + 1)
        alike = dict[str, tuple[str, list[list[str]]]]()
        for problem, cells in own.items():
            ratios = {size: _worst(one) for size, one in cells.items()}
            rows = [[str(n), *(ratios.get((n, t), "") for t in topics)] for n in sorted({n for n, _ in cells if n > 2})]
            names = alike[str(rows)][0] + ", " if str(rows) in alike else ""
            alike[str(rows)] = names + problem, rows
        rows = [["" if at else names, *row] for names, each in alike.values() for at, row in enumerate(each)]
        parts += [f"### {method}", "", _table(["problem", "nodes \\ topics", *map(str, topics)], rows)]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
