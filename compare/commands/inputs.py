"""Arguments that several commands share, and how they become instances and options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click

from ...instances.errors import BadInput
from .names import PROBLEM_NAME

FILE = click.Path(path_type=Path)
PROBLEM = click.option("--problem", type=PROBLEM_NAME, required=True, help="See `overlaybench list problems`.")
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
