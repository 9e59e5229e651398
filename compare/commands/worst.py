"""``overlaybench worst``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import redirect_stderr
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ...instances.contract.errors import BadInput
from ...instances.topics.files import TOPICS
from ..claims.worst import HALL, WorstCase, add_case, search_worst_case, worst_cases
from ..printable import StatusLine
from .options import AS_JSON, FILE, METHOD, PROBLEM_NAME, Positive


@click.command("worst")
@click.option("--method", type=METHOD, required=True, help="A heuristic.")
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
    method: str, problem: str, hall: Path, only_known: bool, output: Path | None, as_json: bool, **search: Any
) -> None:
    """Search for an instance on which a heuristic is far from the proven optimum.

    A terminal shows one line of progress; what solvers print goes to the file of --hall with the ending .log.
    """
    if output is not None and output.suffix not in (endings := (".json", *TOPICS.endings)):
        raise BadInput(f"{output}: unknown ending '{output.suffix}': use {', '.join(endings)}")
    kept = (*worst_cases(HALL), *worst_cases(hall))
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
        click.echo(f"overlaybench: {'added to' if added else 'not worse than the cases in'} {hall}", err=True)
    if output is not None:
        TOPICS.write(case.instance(), output)
        click.echo(f"overlaybench: the instance is in {output}", err=True)


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
