"""Arguments that several commands share, and how they become instances and options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...instances.contract.errors import BadInput
from .names import PROBLEM_NAME

if TYPE_CHECKING:
    from ...instances.contract.method import Method
    from ...instances.contract.problem import Problem

FILE = click.Path(path_type=Path)
PROBLEM = click.option("--problem", type=PROBLEM_NAME, required=True, help="See `overlaybench list problems`.")
PROBLEM_OF_KIND = click.option(
    "--problem", type=PROBLEM_NAME, help="See `overlaybench list problems`.  [default: that of the file's kind]"
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
MASTER = click.option("--master", default="local[*]", show_default=True, help="Spark master.")
ARCHIVE = click.option("--archive", type=FILE, help="The code for a cluster's workers (see `overlaybench archive`).")


def column_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--node-column`` and ``--topic-column``; it gets those that were given as ``columns``."""

    @wraps(command)
    def with_columns(node_column: str | None, topic_column: str | None, **others: Any) -> None:
        named = {"node": node_column, "topic": topic_column}
        command(columns={column: name for column, name in named.items() if name is not None}, **others)

    for column in ("topic", "node"):
        text = f"In CSV, TSV and Parquet files of topics.  [default: {column}]"
        with_columns = click.option(f"--{column}-column", help=text)(with_columns)
    return with_columns


def problem_asked(file: Path, name: str | None) -> Problem[Any, Any]:
    """The problem of that name; without a name the one by default for the kind of the instance in a file."""
    from ...instances.contract.catalogue import kind_of_file
    from ..catalogue import problem_named

    return problem_named(name or kind_of_file(file).default_problem)


def method_asked(problem: Problem[Any, Any], name: str | None) -> Method[Any, Any]:
    """The method of that name; without a name the exact one by default for a problem."""
    from ..catalogue import method_named

    if not (chosen := name or problem.default_method):
        raise BadInput(f"problem '{problem.name}' has no method by default: give --method")
    return method_named(chosen)


def check_takes(
    method: Method[Any, Any], needed: str, flag: str, why_not: str, problem: Problem[Any, Any] | None = None
) -> None:
    """Raise BadInput if a method has no such input, for a problem; the message names those that have."""
    from ..catalogue import METHODS

    every = METHODS.values() if problem is None else [each.answering(problem.name) for each in METHODS.values()]
    if needed not in (method if problem is None else method.answering(problem.name)).inputs:
        able = [each.name for each in every if needed in each.inputs and (not problem or each.answers(problem.name))]
        instead = f", or take {', '.join(able)}" if able else ""
        raise BadInput(f"{flag}: method '{method.name}' {why_not}: leave it out{instead}")


def check_steps(method: Method[Any, Any], instance: Any) -> None:
    """Raise BadInput if a method has no trace, or an instance is too large for one."""
    from ...heuristics.topics.tie_search.trace import check_traceable

    check_takes(method, "trace", "--step", "has no greedy choices to show")
    check_traceable(instance)


def load_instance(file: Path, problem: str, columns: Mapping[str, str]) -> Any:
    """The instance in a file, of the kind that a problem asks for; remarks of its reader go to stderr."""
    from ..catalogue import kind_named, problem_named
    from ..studies.processes import memory_bounded

    kind = kind_named(problem_named(problem).kind)
    if foreign := [column for column in columns if column not in kind.columns]:
        raise BadInput(f"--{foreign[0]}-column: instances of the kind '{kind.name}' have no such column: leave it out")
    with memory_bounded(str(file)):
        read = kind.read(file, columns)
    if read.remark:
        click.echo(f"overlaybench: {read.remark}", err=True)
    return read.instance


def key_values(words: tuple[str, ...], flag: str = "--option") -> dict[str, str]:
    """The values in ``key=value`` words that were given with a flag."""
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise BadInput(f"{flag} {word}: write it as KEY=VALUE")
        given[name] = value
    return given
