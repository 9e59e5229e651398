"""The commands on the papers: ``claims``, ``reproduce``, and ``worst``, the search for worst cases of heuristics."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stderr
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from msgspec import structs

from ...instances.contract.errors import BadInput, check_ending, unknown
from ...instances.contract.files import atomic_write
from ...instances.contract.numbers import duration
from ...instances.runtime.status_line import StatusLine
from ...instances.topics.files import TOPICS
from ..atlas.surveys import Term
from ..commands.options import (
    AS_JSON,
    CLAIM,
    FILE,
    MASTER,
    METHOD,
    OPTIONS,
    PROBLEM_NAME,
    Positive,
    key_values,
    remark,
    show,
    table,
)
from .bench import rows_of, run_grids
from .claim import Claim, LedgerRow
from .data import FIGURES, TABLES, experiment_of
from .figures import Figure, PaperTable, comparison_of, draw, points_of
from .pages import VERDICTS, listed, printed, row_of, write_pages
from .register import CLAIMS, claims_named, expected_seconds, keep_rows, record, run_claims
from .worst import HALL, WorstCase, add_case, cases_on_record, search_worst_case, worst_cases


@click.command("claims")
@click.argument("ids", nargs=-1, type=CLAIM)
@click.option("--all", "every", is_flag=True, help="All claims; with IDS, also what was varied and the details.")
@click.option("--run", "full", is_flag=True, help="Run the claims again, in full: minutes a claim, hours for all.")
@click.option("--quick", is_flag=True, help="Run them on smaller grids with fewer seeds: seconds a claim.")
@click.option("--out", type=FILE, help="The folder of a run's evidence [default: claims-quick or claims-full].")
@MASTER
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
@click.option("--record", "kept", type=FILE, help="Add the rows of a run to this file (JSON).")
@click.option("--page", type=FILE, help="Write all rows in the record, or in the folder, as Markdown pages.")
def claims(ids: tuple[str, ...], every: bool, quick: bool, out: Path | None, master: str, **given: Any) -> None:
    """Show the papers' claims with these IDS (P1 for all of P1) as they stand on record, or run them.

    An ID is P1.L6.6, p1.l6.6, or the place in the paper: "P1 Lemma 6.6". Without IDS, list them with their verdicts. A
    contradicted claim is no error. A claim whose check cannot run is reported in a line, and the others go on; the exit
    status is then 1.
    """
    folder, kept, as_json = out or _folder(quick), given["kept"], given["as_json"]
    chosen, known, run, failed = claims_named(ids), record(), given["full"] or quick, False
    if run:
        if not (ids or every):
            raise click.UsageError("name claims to run, or --all")
        rows, failed = _run(chosen, quick, folder, master, None if as_json else every and bool(ids))
        if kept is not None:
            keep_rows(rows, kept)
    else:
        rows = [row_of(known, claim.id) for claim in chosen]
    if as_json:
        shown = [(structs.asdict(CLAIMS[row.id].statement) if row.id in CLAIMS else {}) | row.to_dict() for row in rows]
        click.echo(json.dumps(shown, ensure_ascii=False))
    elif not run and (ids or every):
        click.echo("\n\n".join(printed(row, every=every and bool(ids)) for row in rows))
        remark(VERDICTS)
    elif not run:
        click.echo(listed(known))
        click.echo("Name claims (overlaybench claims P3.F10), or --all; --run or --quick runs them.")
    if given["page"] is not None:
        write_pages(record(kept or folder / "claims.json") if kept or run else known, given["page"])
    sys.exit(1 if failed else 0)


def _folder(quick: bool) -> Path:
    return Path("claims-quick" if quick else "claims-full")


def _run(
    chosen: Sequence[Claim], quick: bool, folder: Path, master: str, every: bool | None
) -> tuple[list[LedgerRow], bool]:
    """The rows of a run, and whether a claim raised; rows are printed, with all that was varied if `every`."""
    (seconds, whole), rows, line = expected_seconds(chosen, quick), list[LedgerRow](), StatusLine()
    all_seconds, began = sum(seconds.values()), list[float]()
    remark(f"{len(chosen)} to run, about {duration(max(1.0, whole))}")

    def progress(claim: Claim) -> None:
        """What is left is by the record's proportions and this run's pace."""
        began.append(time.perf_counter())
        left = sum(seconds.values())
        pace = (began[-1] - began[0]) / max(all_seconds - left, 1e-9)
        del seconds[claim.id]
        text = f"{claim.id}: {len(began) - 1} of {len(chosen)} judged"
        text += f", about {duration(max(1.0, pace * left))} to go" if len(began) > 1 else ""
        if not sys.stderr.isatty():
            remark(text)
        line.show(0, text)

    for outcome in run_claims(chosen, quick, folder, master, progress):
        line.clear()
        if isinstance(outcome, LedgerRow):
            rows.append(outcome)
            if every is not None:
                click.echo(printed(outcome, every=every) + "\n")
        else:
            claim, error = outcome
            remark(f"{claim.id}: {type(error).__name__}: {error}".splitlines()[0])
    return rows, len(rows) < len(chosen)


@click.command("reproduce")
@click.argument("ids", nargs=-1)
@click.option("--quick", is_flag=True, help="Smaller grids and fewer seeds.")
@click.option("--all", "every", is_flag=True, help="Further panels: other laws, rules for ties and readings.")
@click.option("--out", type=FILE, help="Folder of figures, tables and runs [default: claims-quick or claims-full].")
@MASTER
def reproduce(ids: tuple[str, ...], quick: bool, every: bool, out: Path | None, master: str) -> None:
    """Draw the papers' figures and tables with these IDS (P1.F2, P3.T2; none for all) beside the published values."""
    named: dict[str, Figure | PaperTable] = {**FIGURES, **TABLES}
    for name in ids:
        if name not in named:
            raise unknown("figure or table", name, named)
    chosen = [named[name] for name in dict.fromkeys(ids)] or list(named.values())
    grids = {one.grid: experiment_of(one.grid, quick) for one in chosen}
    folder = out or _folder(quick)
    store = run_grids(list(grids.values()), quick, folder, master)
    for one in chosen:
        rows = rows_of(grids[one.grid], store).query("status != 'failed'")
        if isinstance(one, Figure):
            shown = points_of(one, rows, every=every)
            files = draw(one, shown).files
        else:
            shown, files = comparison_of(one, rows), {}
        show(table(one.name, shown.to_dict("records"), pipe=100_000))
        for ending, data in {"csv": shown.to_csv(index=False).encode(), **files}.items():
            atomic_write(folder / f"{one.name}.{ending}", data)
        click.echo(", ".join(f"{folder / one.name}.{ending}" for ending in (*files, "csv")))


@click.command("worst")
@click.option("--method", type=METHOD, required=True, help="A heuristic.")
@OPTIONS
@click.option("--problem", type=PROBLEM_NAME, required=True, help="A topic problem that it answers.")
@click.option("--nodes", type=click.IntRange(2, 200), default=6, show_default=True)
@click.option("--topics", type=click.IntRange(1, 200), default=6, show_default=True)
@click.option("--time-limit", type=Positive(), default=60.0, show_default=True, help="Seconds.")
@click.option("--seed", default=0, show_default=True, help="Of the local search.")
@click.option("--ties", default="", help="The rule for ties [default: worst on up to 6 nodes, else lowest].")
@click.option("--hall", type=FILE, default=Path("hall_of_fame.json"), show_default=True, help="Worst cases so far.")
@click.option(
    "--known", "only_known", is_flag=True, help="The worst case known of at most this size, without a search."
)
@click.option("-o", "--output", type=FILE, help="Write the instance to this file, which solve, draw and check read.")
@AS_JSON
def worst(
    method: str,
    options: tuple[str, ...],
    problem: str,
    hall: Path,
    only_known: bool,
    output: Path | None,
    as_json: bool,
    **search: Any,
) -> None:
    """Search for an instance on which a heuristic is far from the proven optimum.

    Where the atlas has every instance of this size, the answer is proven (see `overlaybench atlas`).

    A terminal shows one line of progress; what solvers print goes to the file of --hall with the ending .log.
    """
    if output is not None:
        check_ending(output, (".json", *TOPICS.endings))
    method = Term(method, tuple(key_values(options).items())).normal(problem).label
    on_record = cases_on_record(method, problem, search["nodes"], search["topics"])
    kept = (*on_record, *worst_cases(HALL), *worst_cases(hall))
    known = [case for case in kept if (case.method, case.problem) == (method, problem)]
    if only_known:
        case = _worst_of(known, **search)
    else:
        line, log = StatusLine(), hall.with_suffix(".log")
        try:
            file = log.open("a", encoding="utf-8")
        except OSError as error:
            raise BadInput(f"{log}: cannot be written ({error.strerror}): name another --hall") from None
        with file, redirect_stderr(file):
            case = search_worst_case(
                *(method, problem),
                known=known,
                progress=lambda solved, ratio: line.show(0, f"{solved} instances, worst ratio so far {ratio:.4f}"),
                **search,
            )
        line.clear()
    click.echo(json.dumps({**asdict(case), "ratio": case.ratio}) if as_json else _text(case))
    if not only_known:
        added = add_case(case, hall)
        remark(f"{'added to' if added else 'not worse than the cases in'} {hall}")
    if output is not None:
        TOPICS.write(case.instance(), output)
        remark(f"the instance is in {output}")


def _worst_of(known: Sequence[WorstCase], *, nodes: int, topics: int, ties: str, **unused: Any) -> WorstCase:
    """The known case of largest ratio of at most this size, under a rule for ties if one is named."""
    fitting = [case for case in known if case.nodes <= nodes and len(case.topics) <= topics]
    fitting = [case for case in fitting if ties in ("", case.ties)]
    if not fitting:
        sizes = ", ".join(sorted({f"{case.nodes} nodes and {len(case.topics)} topics" for case in known}))
        raise BadInput(f"--known: no case of this size: {f'there are cases of {sizes}' if known else 'search for one'}")
    return max(fitting, key=lambda case: case.ratio)


def _text(case: WorstCase) -> str:
    rule = f", ties {case.ties}" if case.ties else ""
    proof = "no instance of this size is worse" if case.exhaustive else "the worst found by local search"
    lines = [
        f"{case.method} on {case.problem}{rule}: {case.value:g}, proven optimum {case.optimum:g}: {case.ratio:.4f}",
        f"{case.nodes} nodes, {len(case.topics)} topics: {proof}",
        *(f"t{number}: {' '.join(f'n{v}' for v in members)}" for number, members in enumerate(case.topics)),
    ]
    return "\n".join(lines)
