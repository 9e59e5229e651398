"""``overlaybench list``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

import click
from rich.table import Table

from ...instances.catalogue import PROBLEMS, WORKLOADS
from ...instances.errors import unknown
from ...instances.option import Option
from ..catalogue import METHODS
from .outputs import console


@click.command("list")
@click.argument("what", default="all")
def command(what: str) -> None:
    """List the problems, methods, workloads or claims; or the methods and workloads of one problem."""
    tables = {"problems": _problems, "methods": _methods, "workloads": _workloads, "claims": _claims}
    if what in PROBLEMS:
        console().print(*_methods(what), *_workloads(PROBLEMS[what].kind))
        return
    if what not in (*tables, "all"):
        raise unknown("list", what, [*tables, "all", *PROBLEMS])
    for name, table in tables.items():
        if what in (name, "all"):
            console().print(*table())
    for name, catalogue in (("methods", METHODS), ("workloads", WORKLOADS)):
        if what in (name, "all"):
            for error in catalogue.errors:
                click.echo(f"overlaybench: {error}", err=True)


def _problems() -> Iterator[Table]:
    table = _table("Problems", "problem", "instances", "minimise", "source")
    for problem in PROBLEMS.values():
        table.add_row(problem.name, problem.kind, problem.summary, problem.source)
    yield table


def _methods(problem: str | None = None) -> Iterator[Table]:
    methods = [method for method in METHODS.values() if problem is None or problem in method.problems]
    table = _table("Methods", "method", "what it does", "answers", "source")
    for method in methods:
        name = f"{method.name} (exact)" if method.exact else method.name
        table.add_row(name, method.summary, ", ".join(method.problems), method.source)
    yield table
    yield _options("Options of methods", {method.name: method.options for method in methods})


def _workloads(kind: str | None = None) -> Iterator[Table]:
    workloads = [workload for workload in WORKLOADS.values() if kind in (None, workload.kind)]
    table = _table("Workloads", "workload", "instances", "law", "source")
    for workload in workloads:
        table.add_row(workload.name, workload.kind, workload.summary, workload.source)
    yield table
    yield _options("Parameters of workloads", {workload.name: workload.parameters for workload in workloads})


def _claims() -> Iterator[Table]:
    from ..claims.register import CLAIMS, expected_seconds

    table = _table("Claims", "claim", "what the paper says", "source", "seconds, quick / full")
    for claim in CLAIMS.values():
        table.add_row(
            claim.id,
            claim.statement,
            claim.source,
            f"{expected_seconds([claim], True):.0f} / {expected_seconds([claim], False):.0f}",
        )
    yield table


def _options(title: str, by_owner: Mapping[str, Iterable[Option]]) -> Table:
    owners: dict[Option, list[str]] = {}
    for owner, options in by_owner.items():
        for option in options:
            owners.setdefault(option, []).append(owner)
    table = _table(title, "name", "default", "values", "meaning", "of")
    for option, names in owners.items():
        table.add_row(option.name, str(option.default), _values(option), option.summary, ", ".join(names))
    return table


def _values(option: Option) -> str:
    if option.allowed:
        return ", ".join(option.allowed)
    bounds = [f"from {option.least:g}"] if option.least > -math.inf else []
    return " ".join(bounds + ([f"to {option.most:g}"] if option.most < 2**31 - 1 else []))


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", show_lines=True)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
