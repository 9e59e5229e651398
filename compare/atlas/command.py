"""The command ``atlas``: every small instance, for a method or a claim."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ...instances.contract.errors import BadInput, check_ending
from ...instances.runtime.status_line import StatusLine
from ...instances.topics.files import TOPICS
from ..commands.options import AS_JSON, FILE, OPTIONS, PROBLEM_NAME, QUIET, Name, key_values, remark, show, table

_TIES = ("worst", "best", "lowest", "highest")
_WIDTH = 40
_HIDDEN = ("ties", "worst_ratio")


@click.command("atlas")
@click.option("--method", type=Name("methods"), default="", help="A heuristic.")
@OPTIONS
@click.option("--claim", default="", metavar="CLAIM", help="In place of a method: 'gm <= 1.5 * low-oda[k=3]'.")
@click.option("--where", default="", metavar="CONDITION", help="Only instances such as 'max_degree <= 3'.")
@click.option("--problem", type=PROBLEM_NAME, default="min-tco", show_default=True)
@click.option("--nodes", default=5, show_default=True, help="At most so many nodes, up to 7.")
@click.option("--topics", default=5, show_default=True, help="At most so many topics, up to 16.")
@click.option("--ties", type=click.Choice(_TIES), default="worst", show_default=True, help="Shown in the table.")
@click.option("--master", help="Spark master [default: this process, or all cores for more than 200,000 instances].")
@click.option("--out", "folder", type=FILE, help="Keep the parts of the survey here, so that it goes on after a stop.")
@click.option("-o", "--output", type=FILE, help="Write the instance to this file, which solve, draw and check read.")
@QUIET
@AS_JSON
def atlas(
    method: str, options: tuple[str, ...], ties: str, output: Path | None, quiet: bool, as_json: bool, **given: Any
) -> None:
    """Survey every instance up to a size: how far a method misses the optimum, or whether a claim holds.

    Instances that differ by the names of nodes and topics are one. Conditions and claims compare numbers, methods,
    `optimum`, and quantities: nodes, used, topics, distinct, subscriptions, max_degree, min_degree (topics of a node),
    max_size, min_size (subscribers of a topic). A method in a claim has its worst value over all ties, or with
    [ties=best], lowest or highest another one.
    """
    from .python_api import atlas as surveyed
    from .surveys import OWN

    if output is not None:
        check_ending(output, (".json", *TOPICS.endings))
    if options:
        method = f"{method}[{','.join(f'{name}={value}' for name, value in key_values(options).items())}]"
    line = StatusLine()
    if not quiet:
        given["progress"] = lambda done, of: line.show(done, f"{done:,} of {of:,} instances")
    found = surveyed(method, **given)
    line.clear()
    if as_json:
        click.echo(json.dumps(found.document()))
    else:
        rows = found.rows.to_dict("records")
        rows = [row for row in rows if row.get("ties", ties) in (ties, OWN)]
        show(table("", [{name: each for name, each in row.items() if name not in _HIDDEN} for row in rows]))
        if not given["claim"] and found.cells:
            show(table("instances by ratio", _histogram(found.histogram(rows[0]["ties"]))))
        click.echo(found.answer)
        for number, members in enumerate(found.document()["instance"] or ()):
            click.echo(f"t{number}: {' '.join(members)}")
    if output is not None:
        if found.instance is None:
            raise BadInput(f"{output}: there is no instance to write")
        TOPICS.write(found.instance, output)
        remark(f"the instance is in {output}")


def _histogram(counts: dict[str, int]) -> list[dict[str, Any]]:
    most = max(counts.values(), default=1)
    return [{"ratio": ratio, "instances": n, "": "█" * -(-_WIDTH * n // most)} for ratio, n in counts.items()]
