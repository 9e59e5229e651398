"""What the commands generate, solve and check do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ..instances.errors import BadInput
from ..instances.method import Method
from ..instances.result import Result, Status
from .catalogue import METHODS, kind_named, method_named, problem_named, workload_named
from .studies.isolation import run_isolated
from .studies.processes import memory_bounded


@dataclass(frozen=True)
class Run:
    """A result with the instance it is for."""

    instance: Any
    result: Result[Any]

    @property
    def failed(self) -> bool:
        """Whether there is nothing to show but a reason."""
        return self.result.status is Status.FAILED

    def to_json(self) -> str:
        """One JSON object: problem, method, status, value, lower_bound, gap, seconds, edges, counters and more.

        The answer is shown as its kind has it: ``edges`` for overlays, null where there is none.
        """
        result = self.result
        kind = kind_named(problem_named(result.problem).kind)
        answer = dict.fromkeys(kind.shown) if result.answer is None else kind.labelled(result.answer, self.instance)
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
                "instance": self.instance.digest,
            },
            ensure_ascii=False,
        )

    def to_text(self) -> str:
        """A few lines for a person."""
        result = self.result
        lines = [f"{result.problem} by {result.method}: {result.status}, {result.seconds:.2f} s"]
        if result.value is not None:
            lines.append(f"value {result.value:g}" + _measured(result.measures))
        if result.lower_bound is not None:
            gap = "" if result.gap is None else f", gap {result.gap:.2%}"
            lines.append(f"proven lower bound {result.lower_bound:g}{gap}")
        elif result.value is not None:
            lines.append("no lower bound: the method proves none")
        return "\n".join([*lines, *([result.reason] if result.reason else [])])


@dataclass(frozen=True)
class Verdict:
    """What a problem says of an answer."""

    problem: str
    value: float
    violations: list[str]
    measures: Mapping[str, float]

    def to_json(self) -> str:
        """One JSON object: problem, valid, value, violations, measures."""
        return json.dumps(
            {
                "problem": self.problem,
                "valid": not self.violations,
                "value": self.value,
                "violations": self.violations,
                "measures": dict(self.measures),
            },
            ensure_ascii=False,
        )

    def to_text(self) -> str:
        """A few lines for a person."""
        verdict = "invalid" if self.violations else "valid"
        head = f"{verdict} for {self.problem}, value {self.value:g}" + _measured(self.measures)
        return "\n".join([head, *self.violations])


def load(file: Path, problem: str, columns: Mapping[str, str | None]) -> Any:
    """The instance in a file, of the kind that a problem asks for; what its reader should know goes to stderr.

    `columns` maps a column to its name in the file, or to None where it is the usual one.
    """
    kind = kind_named(problem_named(problem).kind)
    renamed = {column: name for column, name in columns.items() if name is not None}
    if foreign := [column for column in renamed if column not in kind.columns]:
        raise BadInput(f"--{foreign[0]}-column: instances of the kind '{kind.name}' have no such column: leave it out")
    with memory_bounded(str(file)):
        read = kind.read(file, renamed)
    if read.remark:
        click.echo(f"overlaybench: {read.remark}", err=True)
    return read.instance


def generate(workload: str, given: dict[str, object], seed: int, output: Path) -> None:
    """Write an instance of a workload."""
    chosen = workload_named(workload)
    with memory_bounded(f"the instance of workload '{workload}'"):
        instance = chosen.generate(seed=seed, **given)
    kind_named(chosen.kind).write(instance, output)
    click.echo(f"{output}: {instance!r}", err=True)


def solve(
    instance: Any,
    problem: str,
    method: str,
    options: Mapping[str, object],
    *,
    seed: int,
    time_limit: float | None,
    memory_limit: int | None,
    output: Path | None,
    start: Path | None = None,
    master: str | None = None,
) -> Run:
    """Run a method in a process of its own, or on Spark; write its answer, if asked to and there is one.

    `start` is a file with the answer that the method is to begin with.
    """
    solver, judge = method_named(method), problem_named(problem)
    kind = kind_named(judge.kind)
    inputs: dict[str, object] = {}
    if start is not None:
        _check_takes(solver, "overlay", "--start", "begins with no overlay of yours")
        if "start" in options:
            raise BadInput("--start and --option start=…: give one of them")
        inputs["overlay"] = kind.read_answer(start, instance)
        if violations := judge.violations(instance, inputs["overlay"]):
            raise BadInput(f"{start}: {violations[0]}: give an answer that is valid for {problem}")
    if master is None:
        result = run_isolated(
            solver,
            instance,
            judge,
            seed=seed,
            options={**options, **inputs},
            time_limit=time_limit,
            memory_limit=memory_limit,
        ).result
    else:
        _check_takes(solver, "mapper", "--master", "has no parts that could run apart")
        if time_limit is not None or memory_limit is not None:
            raise BadInput("--master: no limit reaches the executors: leave out --time-limit and --memory-limit")
        # Spark takes seconds to import.
        from .studies.spark_mapper import run_on_spark

        result = run_on_spark(master, solver, instance, judge, seed=seed, **options)
    if output is not None and result.answer is not None:
        kind.write_answer(result.answer, instance, output)
    return Run(instance, result)


def _check_takes(method: Method[Any, Any], what: str, flag: str, why_not: str) -> None:
    if what not in method.inputs:
        able = ", ".join(each.name for each in METHODS.values() if what in each.inputs)
        raise BadInput(f"{flag}: method '{method.name}' {why_not}: leave it out, or take {able}")


def check(instance: Any, file: Path, problem: str) -> Verdict:
    """Judge the answer in a file."""
    judge = problem_named(problem)
    with memory_bounded(str(file)):
        answer = kind_named(judge.kind).read_answer(file, instance)
    return Verdict(
        judge.name,
        judge.value(instance, answer),
        judge.violations(instance, answer),
        judge.measures(instance, answer),
    )


def named_values(words: tuple[str, ...]) -> dict[str, object]:
    """The parameters in ``--nodes 20 --top-decile=0.6``; anything else is bad input."""
    given: dict[str, object] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if not name.startswith("--") or not (equals or rest):
            raise BadInput(f"'{word}': parameters are given as --name value")
        given[name[2:].replace("-", "_")] = value if equals else rest.pop(0)
    return given


def options_given(words: tuple[str, ...]) -> dict[str, object]:
    """The options in ``key=value`` words."""
    given: dict[str, object] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise BadInput(f"--option {word}: write it as KEY=VALUE")
        given[name] = value
    return given


def _measured(measures: Mapping[str, float]) -> str:
    if not measures:
        return ""
    return " (" + ", ".join(f"{name.replace('_', ' ')} {figure:g}" for name, figure in measures.items()) + ")"
