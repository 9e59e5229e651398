"""``overlaybench draw``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...instances.contract.errors import BadInput
from ...instances.contract.problem import Problem
from ...instances.contract.result import Result
from .figure_options import figure_options
from .inputs import (
    FILE,
    PROBLEM_OF_KIND,
    check_steps,
    column_options,
    key_values,
    load_instance,
    method_asked,
    problem_asked,
)
from .names import METHOD

if TYPE_CHECKING:
    from ..figures.style import FigureOptions


@dataclass(frozen=True)
class _Request:
    """The command's arguments."""

    file: Path
    answers: tuple[Path, ...]
    output: Path
    problem: str | None
    methods: tuple[str, ...]
    options: tuple[str, ...]
    seed: int
    time_limit: float | None
    columns: Mapping[str, str]
    by_topic: bool
    differences: bool
    topics: tuple[str, ...]
    degrees: bool
    circle: bool
    step: bool
    figure_options: FigureOptions


@click.command("draw")
@click.argument("file", type=FILE)
@click.argument("answers", nargs=-1, type=FILE)
@click.option("-o", "--output", required=True, type=FILE, help="A .svg, .pdf, .png, .pgf or .html file.")
@PROBLEM_OF_KIND
@click.option("--method", "methods", multiple=True, type=METHOD, help="Solve by this first; repeatable.")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the methods; repeatable.")
@click.option("--seed", default=0, show_default=True, help="Of the methods.")
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), help="Seconds a method.")
@click.option("--by-topic", is_flag=True, help="Colour each edge by the topics that it serves.")
@click.option("--differences", is_flag=True, help="Edges in all answers grey, the others strong.")
@click.option("--topic", "topics", multiple=True, metavar="LABEL", help="A panel for this topic alone; repeatable.")
@click.option("--degrees", is_flag=True, help="Write the degree beside each node.")
@click.option("--circle", is_flag=True, help="Nodes on a circle rather than with few crossings.")
@click.option("--step", is_flag=True, help="Each choice of a greedy method: .html (slider), .pdf (pages), or a folder.")
@column_options
@partial(figure_options, formats=False)
def command(**arguments: Any) -> None:
    """Draw the instance in FILE, or ANSWERS to it side by side."""
    request = _Request(**arguments)
    problem = problem_asked(request.file, request.problem)
    instance = load_instance(request.file, problem.name, request.columns)
    if request.step:
        _draw_steps(request, instance, problem)
    else:
        _draw(request, instance, problem)
    click.echo(request.output)


def _draw(request: _Request, instance: Any, problem: Problem[Any, Any]) -> None:
    from ..catalogue import kind_named
    from ..figures.draw import draw
    from ..figures.draw_options import DrawOptions
    from ..figures.drawing_page import save_page
    from ..figures.saving import FIGURE_ENDINGS, check_ending, save

    check_ending(request.output, (*FIGURE_ENDINGS, ".html"))
    kind = kind_named(problem.kind)
    if (request.by_topic or request.topics) and kind.name != "topics":
        raise BadInput(f"--by-topic and --topic are for topics: {request.file} has {kind.name}: leave them out")
    if (request.by_topic or request.topics or request.differences) and not (request.answers or request.methods):
        raise BadInput("--by-topic, --topic and --differences are about answers: name an ANSWER or a --method")
    answers = [kind.read_answer(file, instance) for file in request.answers]
    results = [_solved(request, name, instance, problem) for name in request.methods]
    options = DrawOptions(
        problem=request.problem or "",
        names=tuple(file.stem for file in request.answers),
        by_topic=request.by_topic,
        differences=request.differences,
        topics=request.topics,
        degrees=request.degrees,
        circle=request.circle,
        figure=request.figure_options,
    )
    if request.output.suffix == ".html":
        save_page(request.output, _title(request), instance, *answers, *results, options=options)
    else:
        save(draw(instance, *answers, *results, options=options), request.output, options=options)


def _draw_steps(request: _Request, instance: Any, problem: Problem[Any, Any]) -> None:
    from ..figures.draw_options import DrawOptions
    from ..figures.stepping import SteppedOverlay, check_steps_path, save_steps

    if request.answers or len(request.methods) != 1:
        raise BadInput("--step shows the choices of one --method: give one, and no ANSWER")
    check_steps_path(request.output)
    check_steps(method_asked(problem, request.methods[0]), instance)
    result = _solved(request, request.methods[0], instance, problem, trace=True)
    assert result.trace is not None
    stepped = SteppedOverlay(instance, result.trace, DrawOptions(circle=request.circle, figure=request.figure_options))
    save_steps(stepped, request.output, _title(request))


def _solved(request: _Request, name: str, instance: Any, problem: Problem[Any, Any], **inputs: object) -> Result[Any]:
    from ..studies.isolation import Job, run_isolated

    given = {**key_values(request.options), **inputs}
    method = method_asked(problem, name)
    result = run_isolated(Job(method, instance, problem, request.seed, given, request.time_limit, None)).result
    if result.answer is None:
        raise BadInput(f"--method {name}: {result.status} ({result.reason or 'no answer'}): nothing to draw")
    return result


def _title(request: _Request) -> str:
    return " and ".join([request.file.name, *(file.name for file in request.answers), *request.methods])
