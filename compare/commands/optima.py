"""The command ``optima``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from ...instances.contract.files import check_writable, write_json
from .options import (
    AS_JSON,
    FILE,
    PROBLEM_OF_KIND,
    SEED,
    Positive,
    column_options,
    figure_options,
    load_instance,
    problem_asked,
)


@click.command("optima")
@click.argument("file", type=FILE)
@PROBLEM_OF_KIND
@click.option("--most", type=int, default=100, show_default=True, help="Overlays to list.")
@click.option("--within", type=int, default=0, show_default=True, help="Also overlays that cost so much more.")
@SEED
@click.option("--time-limit", type=Positive(), default=60.0, show_default=True, help="Seconds.")
@click.option("--circle", is_flag=True, help="Nodes on a circle rather than with few crossings.")
@click.option("--proof", type=FILE, help="Write proofs to this folder, and check them as `check-proof` does.")
@click.option("-o", "--output", type=FILE, help="A picture (.svg, .pdf, .png, .pgf), or all overlays as .json.")
@column_options
@partial(figure_options, formats=False)
@AS_JSON
def optima(
    file: Path,
    problem: str | None,
    output: Path | None,
    circle: bool,
    as_json: bool,
    columns: Mapping[str, str],
    figure_options: Any,
    **given: Any,
) -> None:
    """List all optimal overlays of the instance in FILE, and what they share: the edges in every one, in some, in none.

    Each is proven. Exit status 1 if the optimum is not proven in time.
    """
    from ..figures.style import ENDINGS, DrawOptions, check_ending, save
    from ..python_api.optima import optima as listed

    judge = problem_asked(file, problem, columns)
    instance = load_instance(file, judge, columns)
    if output is not None:
        check_ending(output, (*ENDINGS, ".json"))
        check_writable(output)
    found = listed(instance, judge, **given)
    if output is not None and output.suffix == ".json":
        write_json(output, found.document())
    elif output is not None:
        save(found.drawn(options=DrawOptions(circle=circle, figure=figure_options)), output, figure_options)
    click.echo(json.dumps(found.document(), ensure_ascii=False) if as_json else repr(found))
    sys.exit(0 if found.value is not None else 1)
