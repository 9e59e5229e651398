"""``overlaybench solve``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ...instances.errors import BadInput
from ...instances.method import Method
from ...instances.result import Result, Status
from ..catalogue import METHODS, kind_named, method_named, problem_named
from ..studies.isolation import Job, run_isolated
from .inputs import AS_JSON, FILE, PROBLEM, column_options, key_values, load_instance
from .names import METHOD
from .outputs import in_parentheses


@dataclass(frozen=True)
class _Request:
    """The command's arguments."""

    file: Path
    problem: str
    method: str
    options: tuple[str, ...]
    seed: int
    time_limit: float | None
    memory_limit: int | None
    columns: Mapping[str, str]
    output: Path | None
    start: Path | None
    master: str | None
    as_json: bool


@click.command("solve")
@click.argument("file", type=FILE)
@PROBLEM
@click.option("--method", type=METHOD, required=True, help="See `overlaybench list methods`.")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the method; repeatable.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same answer.")
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), help="Seconds.")
@click.option("--memory-limit", type=click.IntRange(min=1), help="MiB beyond what the program itself takes.")
@column_options
@click.option("-o", "--output", type=FILE, help="Write the answer to this file (JSON; overlay/1 for topics).")
@click.option("--start", type=FILE, help="A file with the answer that the method starts from (polish, migration).")
@click.option("--master", help="Spark master for the parts of a divide-and-conquer method.  [default: no Spark]")
@AS_JSON
def command(**arguments: Any) -> None:
    """Solve a problem on the instance in FILE and check the answer. Exit status 1 if the run failed."""
    request = _Request(**arguments)
    instance = load_instance(request.file, request.problem, request.columns)
    result = _solved(request, instance)
    click.echo(_json(result, instance) if request.as_json else _text(result))
    sys.exit(1 if result.status is Status.FAILED else 0)


def _solved(request: _Request, instance: Any) -> Result[Any]:
    """Run the method in another process, or on Spark; write its answer if a file is named and there is one."""
    method, problem = method_named(request.method), problem_named(request.problem)
    kind = kind_named(problem.kind)
    options: dict[str, object] = {**key_values(request.options)}
    if request.start is not None:
        _check_takes(method, "overlay", "--start", "does not start from an overlay")
        if "start" in options:
            raise BadInput("--start and --option start=…: give one of them")
        options["overlay"] = start = kind.read_answer(request.start, instance)
        if violations := problem.violations(instance, start):
            raise BadInput(f"{request.start}: {violations[0]}: give an answer that is valid for {problem.name}")
    if request.master is None:
        job = Job(method, instance, problem, request.seed, options, request.time_limit, request.memory_limit)
        result = run_isolated(job).result
    else:
        _check_takes(method, "mapper", "--master", "has no parts that run apart")
        if request.time_limit is not None or request.memory_limit is not None:
            raise BadInput("--master: limits do not reach the executors: leave out --time-limit and --memory-limit")
        from ..studies.spark_mapper import run_on_spark

        result = run_on_spark(request.master, method, instance, problem, seed=request.seed, **options)
    if request.output is not None and result.answer is not None:
        kind.write_answer(result.answer, instance, request.output)
    return result


def _check_takes(method: Method[Any, Any], needed: str, flag: str, why_not: str) -> None:
    if needed not in method.inputs:
        able = ", ".join(each.name for each in METHODS.values() if needed in each.inputs)
        raise BadInput(f"{flag}: method '{method.name}' {why_not}: leave it out, or take {able}")


def _json(result: Result[Any], instance: Any) -> str:
    """One JSON object; the answer is shown as its kind has it (``edges`` for overlays), null where there is none."""
    kind = kind_named(problem_named(result.problem).kind)
    answer = dict.fromkeys(kind.shown) if result.answer is None else kind.labelled(result.answer, instance)
    return json.dumps(
        {
            "problem": result.problem,
            "method": result.method,
            "status": str(result.status),
            "value": result.value,
            "lower_bound": result.lower_bound,
            "gap": result.gap,
            "seconds": result.seconds,
            **answer,
            "counters": dict(result.counters),
            "measures": dict(result.measures),
            "reason": result.reason,
            "instance": instance.digest,
        },
        ensure_ascii=False,
    )


def _text(result: Result[Any]) -> str:
    lines = [f"{result.problem} by {result.method}: {result.status}, {result.seconds:.2f} s"]
    if result.value is not None:
        lines.append(f"value {result.value:g}" + in_parentheses(result.measures))
    if result.lower_bound is not None:
        gap = "" if result.gap is None else f", gap {result.gap:.2%}"
        lines.append(f"proven lower bound {result.lower_bound:g}{gap}")
    elif result.value is not None:
        lines.append("no lower bound: the method proves none")
    return "\n".join([*lines, *([result.reason] if result.reason else [])])
