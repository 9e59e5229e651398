"""Pages of the documentation about the library: its instances in one table, and a page for each with its history."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from overlaybench.compare.library.table import Known, LibraryTable, Record, by_text, known_row
from overlaybench.compare.printable import markdown_table
from overlaybench.compare.studies.library_entries import Entry
from overlaybench.instances.contract.result import Status

EASY, HARD, OPEN = "easy", "hard", "open"
EASY_SECONDS = 10.0


def difficulty(table: LibraryTable, instance: str, problem: str) -> str:
    """``easy``, ``hard`` or ``open``, by the records of an instance and a problem.

    Open: no certified bound meets the best value. Easy: a run with default options certified its own answer's optimum
    in at most :data:`EASY_SECONDS` processor seconds. Hard: proven otherwise.
    """
    if table.known(instance, problem).is_open:
        return OPEN
    quick = (_is_quick(record) for record in table.of_pair(instance, problem))
    return EASY if any(quick) else HARD


def _is_quick(record: Record) -> bool:
    certified = record.status is Status.OPTIMAL and bool(record.proof)
    return certified and " " not in record.method and record.seconds <= EASY_SECONDS


def page_of(name: str) -> str:
    """The page of an instance in the documentation."""
    return f"instances/{name}.md"


def table_page(table: LibraryTable) -> str:
    """The page with the table of all instances and problems, which a script sorts and filters."""
    rows = []
    for entry, problem in table.pairs():
        known = table.known(entry.name, problem)
        row = known_row(entry, problem, known) | {"value": _number(known.value), "bound": _number(_bound(known))}
        status = difficulty(table, entry.name, problem)
        linked = {"instance": f"[{entry.name}]({page_of(entry.name)})"}
        rows.append(linked | {"problem": problem, "status": status, "group": entry.group} | row | linked)
    count = Counter(row["status"] for row in rows)
    buttons = [f'<button type="button" class="md-button" value="{each}">{each}</button>' for each in (EASY, HARD, OPEN)]
    return "\n".join(
        [
            "---\nhide: [navigation, toc]\n---\n# The instances of the library\n",
            f"{len(table.entries)} instances, {len(rows)} with their problems. **Easy** ({count[EASY]}): a run with",
            f"default options proved the optimum in {EASY_SECONDS:g} processor seconds or less. **Hard**",
            f"({count[HARD]}): proven by a longer run or by other options. **Open** ({count[OPEN]}):",
            "no [checked proof](proofs.md) meets the best value. Click a head to sort; words filter the rows, such as",
            "`open min-tco dense`. [What the columns mean](library.md#reading-the-tables).\n",
            '<p class="filters" hidden><input id="filter" type="search" placeholder="words" aria-label="Filter rows">',
            f'{" ".join(buttons)} <span id="filter-count" role="status"></span></p>\n',
            *_scrolled(rows),
            '<script src="library_table.js"></script>\n<script src="tables.js"></script>\n',
        ]
    )


def instance_page(table: LibraryTable, entry: Entry, drawing: str) -> str:
    """The page of an instance: what it is, a drawing (Markdown), and of each problem what is known and since when."""
    recipe = ", ".join([*(f"{name} = {value}" for name, value in entry.parameters), f"seed {entry.seed}"])
    sizes = ", ".join(f"{int(count):,} {name}" for name, count in (size.split("=") for size in entry.sizes.split()))
    verdicts = ", ".join(f"`{problem}` {difficulty(table, entry.name, problem)}" for problem in entry.problems)
    facts = {
        "sizes": sizes,
        "group": entry.group,
        "workload": f"[{entry.workload}](../reference/workloads.md#{entry.workload}), {recipe}",
        "needs": entry.needs,
        "digest": f"`{entry.digest}`" if entry.digest else "not made yet",
    }
    lines = [f"# {entry.name}\n", f"An instance of the [library](../library.md): {verdicts}.\n"]
    lines += [f"* **{about}**: {text}" for about, text in facts.items() if text]
    lines += [f"\n```\noverlaybench solve @{entry.name} --problem {entry.problems[0]}\n```\n", drawing]
    for problem in entry.problems:
        lines += _problem(table, entry.name, problem)
    return "\n".join([*lines, "\n[All instances](../instances.md)\n"])


def _problem(table: LibraryTable, name: str, problem: str) -> Iterator[str]:
    known = table.known(name, problem)
    yield f"\n## {problem}: {difficulty(table, name, problem)}\n"
    if known.best is not None:
        yield f"* **value** {_number(known.value)}, by {by_text(known.best)}"
    if known.bounded is not None:
        gap = "" if math.isnan(known.gap) else f", gap {known.gap:.2%}"
        yield f"* **bound** {_number(_bound(known))}{gap}, by {by_text(known.bounded)}"
        yield f"* **proof** SHA-256 `{known.bounded.proof}`"
    yield ""
    rows = list(_history(table.of_pair(name, problem), known))
    yield from _scrolled(rows) if rows else ["No result yet."]


def _scrolled(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """A table without its empty columns, a line a row, which is scrolled where the screen is too narrow."""
    filled = [column for column in rows[0] if any(row[column] not in ("", "–") for row in rows)]
    lines = markdown_table(filled, ([row[column] for column in filled] for row in rows))
    return ['<div class="scroll" markdown="1">\n', *lines, "\n</div>\n"]


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:,.10g}"


def _bound(known: Known) -> float:
    """The bound, at most the value, which it may exceed by rounding where costs are no integers."""
    return min(known.bound, known.value)


def _history(records: Sequence[Record], known: Known) -> Iterator[Mapping[str, str]]:
    """The records by day, of one day from the worst on; bold is what improved on all before."""
    value, bound = math.inf, -math.inf
    for record in sorted(records, key=_order):
        lower, higher = record.value < value, record.bound > bound
        value, bound = min(value, record.value) if lower else value, record.bound if higher else bound
        yield {
            "day": record.date or "–",
            "by": by_text(record),
            "value": _bold(_number(record.value), lower),
            "bound": _bold(_number(min(record.bound, known.value)), higher),
            "proof": f"`{record.proof[:12]}`" if record.proof else "",
        }


def _order(record: Record) -> tuple[str, float, float]:
    value = math.inf if math.isnan(record.value) else record.value
    return record.date, -value, -math.inf if math.isnan(record.bound) else record.bound


def _bold(number: str, improves: bool) -> str:
    return f"**{number}**" if improves else number
