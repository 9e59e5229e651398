"""``overlaybench check``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import click

from ..catalogue import kind_named
from ..studies.processes import memory_bounded
from .inputs import AS_JSON, FILE, PROBLEM_OF_KIND, column_options, load_instance, problem_asked
from .on_cluster import check as check_on_cluster
from .outputs import in_parentheses


@click.command("check")
@click.argument("file", type=FILE)
@click.argument("answer", type=FILE)
@PROBLEM_OF_KIND
@column_options
@click.option("--master", help="Spark master for Parquet files that no machine holds: FILE and ANSWER stay on Spark.")
@AS_JSON
def command(
    file: Path, answer: Path, problem: str | None, columns: Mapping[str, str], master: str | None, as_json: bool
) -> None:
    """Check an ANSWER to the instance in FILE: its validity and its value. Exit status 1 if it is invalid."""
    if master is not None:
        asked = problem or "min-tco"
        verdict = check_on_cluster(master, file, answer, asked, columns)
        _show(asked, verdict.edges, verdict.violations, verdict.measures, as_json)
    judge = problem_asked(file, problem)
    instance = load_instance(file, judge.name, columns)
    with memory_bounded(str(answer)):
        given = kind_named(judge.kind).read_answer(answer, instance)
    value, violations = judge.value(instance, given), judge.violations(instance, given)
    measures = judge.measures(instance, given)
    _show(judge.name, value, violations, measures, as_json)


def _show(
    problem: str, value: float, violations: Sequence[str], measures: Mapping[str, float], as_json: bool
) -> NoReturn:
    if as_json:
        fields = {"problem": problem, "valid": not violations, "value": value, "violations": violations}
        click.echo(json.dumps({**fields, "measures": dict(measures)}, ensure_ascii=False))
    else:
        verdict = "invalid" if violations else "valid"
        click.echo("\n".join([f"{verdict} for {problem}, value {value:g}" + in_parentheses(measures), *violations]))
    sys.exit(1 if violations else 0)
