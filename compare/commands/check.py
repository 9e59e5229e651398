"""``overlaybench check``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from ..catalogue import kind_named
from ..studies.processes import memory_bounded
from .inputs import AS_JSON, FILE, PROBLEM_OF_KIND, column_options, load_instance, problem_asked
from .outputs import in_parentheses


@click.command("check")
@click.argument("file", type=FILE)
@click.argument("answer", type=FILE)
@PROBLEM_OF_KIND
@column_options
@AS_JSON
def command(file: Path, answer: Path, problem: str | None, columns: Mapping[str, str], as_json: bool) -> None:
    """Check an ANSWER to the instance in FILE: its validity and its value. Exit status 1 if it is invalid."""
    judge = problem_asked(file, problem)
    instance = load_instance(file, judge.name, columns)
    with memory_bounded(str(answer)):
        given = kind_named(judge.kind).read_answer(answer, instance)
    value, violations = judge.value(instance, given), judge.violations(instance, given)
    measures = judge.measures(instance, given)
    if as_json:
        fields = {"problem": judge.name, "valid": not violations, "value": value, "violations": violations}
        click.echo(json.dumps({**fields, "measures": dict(measures)}, ensure_ascii=False))
    else:
        verdict = "invalid" if violations else "valid"
        click.echo("\n".join([f"{verdict} for {judge.name}, value {value:g}" + in_parentheses(measures), *violations]))
    sys.exit(1 if violations else 0)
