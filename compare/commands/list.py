"""``overlaybench list``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from ...instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS
from ...instances.contract.errors import unknown
from ...instances.contract.method import Method
from ..catalogue import METHODS
from .explanation import Explanation, defaults_of, explanations, values_of
from .names import ANY_NAME
from .outputs import add_row, show, table

if TYPE_CHECKING:
    from rich.console import RenderableType


@click.command("list")
@click.argument("what", default="all", metavar="[WHAT]", type=ANY_NAME)
def command(what: str) -> None:
    """List methods, problems, workloads, kinds or claims, or explain one.

    WHAT is one of these words, "all", or the name of a method, problem, workload, kind of instances or claim.
    """
    if what in (*LISTS, "all"):
        show(*(part for name, parts in LISTS.items() if what in (name, "all") for part in parts()))
        for name, catalogue in (("methods", METHODS), ("workloads", WORKLOADS)):
            if what in (name, "all"):
                for error in catalogue.errors:
                    click.echo(f"overlaybench: {error}", err=True)
        click.echo("overlaybench: `overlaybench list NAME` explains any of these", err=True)
    else:
        show(*_explained(what))


def _problems() -> Iterator[RenderableType]:
    rows = table("Problems", "problem", "minimise", "instances", if_wide=("source",))
    for problem in PROBLEMS.values():
        add_row(rows, problem.name, problem.summary, problem.kind, problem.source)
    yield rows


def _methods(problem: str = "") -> Iterator[RenderableType]:
    """A table for each set of problems, or one of the methods for a problem."""
    groups: dict[str, list[Method[Any, Any]]] = {}
    for method in METHODS.values():
        for one in method.members or (method,):
            if not problem or one.answers(problem):
                groups.setdefault(problem or ", ".join(one.problems), []).append(one)
    for answers, methods in groups.items():
        rows = table(f"Methods for {answers}", "method", "what it does", if_wide=("answers", "options", "source"))
        for one in methods:
            name = f"{one.name} (exact)" if one.exact else one.name
            add_row(rows, name, one.summary, ", ".join(one.problems), defaults_of(one.options) or "-", one.source)
        yield rows


def _workloads(kind: str = "") -> Iterator[RenderableType]:
    rows = table("Workloads", "workload", "law", "instances", if_wide=("parameters", "source"))
    for workload in WORKLOADS.values():
        if kind in ("", workload.kind):
            parameters = defaults_of(workload.parameters)
            law = f"{workload.summary}; needs {workload.needs}" if workload.needs else workload.summary
            add_row(rows, workload.name, law, workload.kind, parameters, workload.source)
    yield rows


def _kinds() -> Iterator[RenderableType]:
    rows = table("Kinds of instances", "kind", "what it is", "default problem", if_wide=("sizes", "measures"))
    for kind in KINDS.values():
        add_row(rows, kind.name, kind.summary, kind.default_problem, ", ".join(kind.sizes), ", ".join(kind.measures))
    yield rows


def _claims() -> Iterator[RenderableType]:
    from ..claims.estimate import expected_seconds
    from ..claims.register import CLAIMS

    rows = table("Claims", "claim", "what the paper says", "quick", "full", if_wide=("source",))
    for claim in CLAIMS.values():
        quick, full = (f"{expected_seconds([claim], version):.0f} s" for version in (True, False))
        add_row(rows, claim.id, claim.statement, quick, full, claim.source)
    yield rows


def _explained(name: str) -> Iterator[RenderableType]:
    """What the name stands for; for a problem also what answers it."""
    found = explanations(name)
    if not found:
        from ..claims.register import CLAIMS

        raise unknown("name", name, [*LISTS, "all", *PROBLEMS, *KINDS, *METHODS, *WORKLOADS, *CLAIMS])
    for explanation in found:
        yield from _parts(explanation)
    if name in PROBLEMS:
        yield from (*_methods(name), *_workloads(PROBLEMS[name].kind))


def _parts(explanation: Explanation) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    yield Text.assemble((explanation.name, "bold"), f" ({explanation.noun}): {explanation.summary}")
    facts = Table.grid(padding=(0, 2))
    for about, text in explanation.facts.items():
        facts.add_row(Text(about), Text(text))
    yield Padding(facts, (1, 0, 0, 2))
    if explanation.options:
        words = "Parameters" if explanation.noun == "workload" else "Options"
        options = table(f"\n{words}", "name", "default", "values", "meaning")
        for option in explanation.options:
            add_row(options, option.name, str(option.default), values_of(option), option.summary)
        yield options
    if explanation.examples:
        yield Text("\nExample" if len(explanation.examples) == 1 else "\nExamples", style="bold")
        lines = "\n".join(f"  {line}" for line in explanation.examples)
        yield Text(f"{lines}\n", no_wrap=True, overflow="ignore")


LISTS: Mapping[str, Callable[[], Iterator[RenderableType]]] = {
    "problems": _problems,
    "methods": _methods,
    "workloads": _workloads,
    "kinds": _kinds,
    "claims": _claims,
}
