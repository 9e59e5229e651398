"""``overlaybench claims``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.table import Table

from ..claims.claim import Interval
from ..claims.estimate import TimeToGo, cores, expected
from ..claims.page import write_page
from ..claims.register import (
    CLAIMS,
    ClaimOutcome,
    claims_named,
    keep_outcomes,
    outcomes_in,
    run_claims,
)
from .options import CLAIM, FILE, MASTER
from .outputs import console

_SHOWN = 4


@click.command("claims")
@click.argument("ids", nargs=-1, type=CLAIM)
@click.option(
    "--quick", is_flag=True, help="Smaller grids and fewer seeds: see overlaybench list claims for the durations."
)
@click.option("--out", type=FILE, help="The folder of evidence [default: claims-quick or claims-full].")
@MASTER
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
@click.option("--record", type=FILE, help="Add the outcomes to this file (JSON).")
@click.option("--page", type=FILE, help="Write all outcomes in the record, or in the folder, as Markdown pages.")
def claims(
    ids: tuple[str, ...],
    quick: bool,
    out: Path | None,
    master: str,
    as_json: bool,
    record: Path | None,
    page: Path | None,
) -> None:
    """Test the papers' claims with these IDS (P1 for all of P1; none for all). A refuted claim is no error."""
    folder = out or Path("claims-quick" if quick else "claims-full")
    chosen = claims_named(ids)
    time = expected(chosen, quick)
    machine = f"{cores()} {'core' if cores() == 1 else 'cores'}"
    claims = "1 claim" if len(chosen) == 1 else f"{len(chosen)} claims"
    click.echo(f"overlaybench: {claims}, {time.text(cores())} on {machine} with nothing else to do", err=True)
    to_go, outcomes = TimeToGo(time), []
    for outcome in run_claims(chosen, quick, folder, master, lambda line: click.echo(f"[{to_go}] {line}", err=True)):
        to_go.add(outcome.seconds)
        outcomes.append(outcome)
    if as_json:
        click.echo(json.dumps([outcome.to_dict() for outcome in outcomes], ensure_ascii=False))
    else:
        console(200).print(_table(outcomes))
    if record is not None:
        keep_outcomes(outcomes, record)
    if page is not None:
        write_page(outcomes_in(record or folder / "claims.json"), page)


def _table(outcomes: Sequence[ClaimOutcome]) -> Table:
    """A row a finding."""
    heads = ("id", "claim", "about", "verdict", "evidence", "95% intervals", "runs", "seconds")
    table = Table(*heads, show_lines=True)
    for column in table.columns:
        column.overflow = "fold"
    for outcome in outcomes:
        head = outcome.id, CLAIMS[outcome.id].statement
        seconds = f"{outcome.seconds + outcome.grid_seconds:.1f}"
        for finding in outcome.findings:
            cells = finding.subject, finding.line, finding.evidence, _intervals(finding.intervals), str(finding.runs)
            table.add_row(*head, *cells, seconds)
            head, seconds = ("", ""), ""
    return table


def _intervals(intervals: Sequence[Interval]) -> str:
    """The first intervals, a line each."""
    more = [f"and {len(intervals) - _SHOWN} more"] if len(intervals) > _SHOWN else []
    return "\n".join([*map(str, intervals[:_SHOWN]), *more])
