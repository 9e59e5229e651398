"""What the command claims does."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from .claims.page import write_page
from .claims.register import CLAIMS, Outcome, claims_named, expected_seconds, keep_outcomes, outcomes_in, run_claims


def claims(
    ids: Sequence[str],
    *,
    quick: bool,
    out: Path,
    master: str,
    as_json: bool,
    record: Path | None,
    page: Path | None,
) -> None:
    """Run claims, print their verdicts, keep the evidence in `out`; whatever the verdicts, that is success.

    `record` is a file that the outcomes are put into, `page` is written from it, or else from what is in `out`.
    """
    chosen = claims_named(ids)
    seconds = expected_seconds(chosen, quick)
    click.echo(f"overlaybench: {len(chosen)} claims, at most about {_duration(seconds)} on two cores", err=True)
    outcomes = list(run_claims(chosen, quick, out, master, lambda line: click.echo(line, err=True)))
    if as_json:
        click.echo(json.dumps([outcome.to_dict() for outcome in outcomes], ensure_ascii=False))
    else:
        _console().print(verdict_table(outcomes))
    if record is not None:
        keep_outcomes(outcomes, record)
    if page is not None:
        write_page(outcomes_in(record or out / "claims.json"), page)


def verdict_table(outcomes: Sequence[Outcome]) -> Table:
    """A row a finding: id, claim, about, verdict, evidence, runs, seconds."""
    table = Table("id", "claim", "about", "verdict", "evidence", "runs", "seconds", show_lines=True)
    for column in table.columns:
        column.overflow = "fold"
    for outcome in outcomes:
        for place, finding in enumerate(outcome.findings):
            head = (outcome.id, CLAIMS[outcome.id].statement) if place == 0 else ("", "")
            seconds = f"{outcome.seconds + outcome.grid_seconds:.1f}" if place == 0 else ""
            told = (finding.subject, str(finding.verdict), finding.evidence, str(finding.runs), seconds)
            table.add_row(*head, *told)
    return table


def _console() -> Console:
    """A file gets wide lines; a terminal its own width."""
    return Console() if sys.stdout.isatty() else Console(width=200)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
