"""``overlaybench solve``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

import click

from ...instances.contract.errors import BadInput
from ...instances.contract.problem import Problem
from ...instances.contract.result import Result, Status
from ..catalogue import kind_named, problem_named
from ..studies.evidence import VERDICT, level_of
from ..studies.isolation import Job, run_isolated
from ..studies.proofs import COUNTERS, PROOF, run_with_evidence
from .inputs import (
    AS_JSON,
    FILE,
    PROBLEM_OF_KIND,
    check_steps,
    check_takes,
    column_options,
    key_values,
    load_instance,
    method_asked,
    problem_asked,
)
from .names import METHOD
from .on_cluster import solve as solve_on_cluster
from .on_cluster import stays_on_cluster
from .outputs import in_parentheses

_WIDTH = 80
_LONG = ("choices", "system_series", "system_hop_counts", "system_pair_delays")


@dataclass(frozen=True)
class _Request:
    """The command's arguments."""

    file: Path
    problem: str | None
    method: str | None
    options: tuple[str, ...]
    seed: int
    time_limit: float | None
    memory_limit: int | None
    columns: Mapping[str, str]
    output: Path | None
    start: Path | None
    proof: Path | None
    master: str | None
    step: bool
    as_json: bool


@click.command("solve")
@click.argument("file", type=FILE)
@PROBLEM_OF_KIND
@click.option("--method", type=METHOD, help="See `overlaybench list methods`.  [default: an exact one]")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the method; repeatable.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same answer.")
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), help="Seconds.")
@click.option("--memory-limit", type=click.IntRange(min=1), help="MiB beyond what the program itself takes.")
@column_options
@click.option("-o", "--output", type=FILE, help="Write the answer to this file (JSON; overlay/1 for topics).")
@click.option("--start", type=FILE, help="A file with the answer that the method starts from (polish, migration).")
@click.option(
    "--proof",
    type=FILE,
    help="Write a proof of the bound to this file, and check it as `overlaybench check-proof` does.",
)
@click.option(
    "--master",
    help="Spark master for the parts of a divide-and-conquer method; with -o FOLDER.parquet all is on Spark.",
)
@click.option("--step", is_flag=True, help="Show a greedy method's choices in order, with contribution and ties.")
@AS_JSON
def command(**arguments: Any) -> None:
    """Solve a problem on the instance in FILE and check the answer. Exit status 1 if the run failed."""
    request = _Request(**arguments)
    if stays_on_cluster(request.master, request.file, request.output):
        result = _solved_on_cluster(request)
        click.echo(_json_on_cluster(result) if request.as_json else _text(result) + f"\n{result.answer}")
        sys.exit(1 if result.status is Status.FAILED else 0)
    problem = problem_asked(request.file, request.problem)
    instance = load_instance(request.file, problem.name, request.columns)
    result = _solved(request, instance, problem)
    click.echo(_json(result, instance) if request.as_json else _text(result))
    sys.exit(1 if result.status is Status.FAILED else 0)


def _solved(request: _Request, instance: Any, problem: Problem[Any, Any]) -> Result[Any]:
    """Run the method in another process, or on Spark; write its answer if a file is named and there is one."""
    method, kind = method_asked(problem, request.method), kind_named(problem.kind)
    options: dict[str, object] = {**key_values(request.options)}
    if request.step:
        check_steps(method, instance)
        options["trace"] = True
    if request.start is not None:
        check_takes(method, "overlay", "--start", "does not start from an overlay")
        if "start" in options:
            raise BadInput("--start and --option start=…: give one of them")
        options["overlay"] = start = kind.read_answer(request.start, instance)
        if violations := problem.violations(instance, start):
            raise BadInput(f"{request.start}: {violations[0]}: give an answer that is valid for {problem.name}")
    if request.proof is not None:
        check_takes(method, "proof", "--proof", f"writes no proofs for {problem.name}", problem)
    if request.master is None:
        job = Job(method, instance, problem, request.seed, options, request.time_limit, request.memory_limit)
        run = run_with_evidence(job, run_isolated, request.proof)
        result = run.result
        click.echo(run.output, err=True, nl=False)  # what a method of one's own prints
        if request.proof is not None and PROOF not in result.counters:
            why = f"the run is {result.status}, and a proof is of an answer"
            click.echo(f"overlaybench: {request.proof}: not written: {why}", err=True)
    else:
        check_takes(method, "mapper", "--master", "has no parts that run apart")
        if request.time_limit is not None or request.memory_limit is not None:
            raise BadInput("--master: limits do not reach the executors: leave out --time-limit and --memory-limit")
        from ..studies.spark_mapper import run_on_spark

        result = run_on_spark(request.master, method, instance, problem, seed=request.seed, **options)
    if request.output is not None and result.answer is not None:
        kind.write_answer(result.answer, instance, request.output)
    return result


def _solved_on_cluster(request: _Request) -> Result[str]:
    return solve_on_cluster(
        str(request.master),
        request.file,
        request.output,
        request.problem or "min-tco",
        request.method,
        seed=request.seed,
        options=key_values(request.options),
        columns=request.columns,
        time_limit=request.time_limit,
        memory_limit=request.memory_limit,
        start=request.start,
        proof=request.proof,
        step=request.step,
    )


def _json(result: Result[Any], instance: Any) -> str:
    """One JSON object; the answer is shown as its kind has it (``edges`` for overlays), null where there is none."""
    kind = kind_named(problem_named(result.problem).kind)
    answer = dict.fromkeys(kind.shown) if result.answer is None else kind.labelled(result.answer, instance)
    steps = {} if result.trace is None else {"steps": result.trace.records()}
    return _as_json(result, answer, {"instance": instance.digest, **steps})


def _json_on_cluster(result: Result[str]) -> str:
    """As :func:`_json`, with the path of the overlay in place of its edges and of the instance."""
    return _as_json(result, {"overlay": result.answer}, {})


def _as_json(result: Result[Any], answer: Mapping[str, object], more: Mapping[str, object]) -> str:
    return json.dumps(
        {
            "problem": result.problem,
            "method": result.method,
            "status": str(result.status),
            "value": result.value,
            "lower_bound": result.lower_bound,
            "gap": result.gap,
            "proven": level_of(result),
            "seconds": result.seconds,
            **answer,
            "counters": dict(result.counters),
            "measures": dict(result.measures),
            "reason": result.reason,
            **more,
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
    lines += [f"proof: {result.counters[VERDICT]}"] if VERDICT in result.counters else []
    hidden = (*_LONG, *COUNTERS)
    counters = {name.replace("_", " "): value for name, value in result.counters.items() if name not in hidden}
    shown = ", ".join(
        f"{name} {value:g}" if isinstance(value, float | int) else f"{name} {value}" for name, value in counters.items()
    )
    lines += [_wrapped(f"counters: {shown}")] if counters else []
    lines += [_wrapped(f"choices: {result.counters['choices']}")] if result.counters.get("choices") else []
    lines += [result.reason] if result.reason else []
    return "\n".join([*lines, *([] if result.trace is None else ["", repr(result.trace)])])


def _wrapped(text: str) -> str:
    return fill(text, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
