"""The command ``overlaybench``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

import click

from ..instances.errors import BadInput
from . import listing, solving
from .result_commands import RESULT_COMMANDS

_FILE = click.Path(path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="overlaybench")
def cli() -> None:
    """Build publish/subscribe overlays, and prove how far each is from the best."""


@cli.command(context_settings={"ignore_unknown_options": True})
@click.argument("workload")
@click.argument("parameters", nargs=-1, type=click.UNPROCESSED)
@click.option("--seed", default=0, show_default=True, help="One seed, one instance.")
@click.option("-o", "--output", required=True, type=_FILE, help="A .json, .csv, .tsv or .parquet file.")
def generate(workload: str, parameters: tuple[str, ...], seed: int, output: Path) -> None:
    """Write an instance of a WORKLOAD; its parameters are --nodes N --topics T ... (`overlaybench list workloads`)."""
    solving.generate(workload, solving.named_values(parameters), seed, output)


@cli.command()
@click.argument("file", type=_FILE)
@click.option("--problem", required=True, help="See `overlaybench list problems`.")
@click.option("--method", required=True, help="See `overlaybench list methods`.")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the method; repeatable.")
@click.option("--seed", default=0, show_default=True, help="One seed, one answer.")
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), help="Seconds.")
@click.option("--memory-limit", type=click.IntRange(min=1), help="MiB beyond what the program itself takes.")
@click.option("--node-column", help="In CSV, TSV and Parquet files of topics.  [default: node]")
@click.option("--topic-column", help="In CSV, TSV and Parquet files of topics.  [default: topic]")
@click.option("-o", "--output", type=_FILE, help="Write the answer there (JSON; overlay/1 for topics).")
@click.option("--start", type=_FILE, help="A file with the answer that the method begins with (polish, migration).")
@click.option("--master", help="Spark master for the parts of a divide-and-conquer method.  [default: no Spark]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def solve(
    file: Path,
    problem: str,
    method: str,
    options: tuple[str, ...],
    seed: int,
    time_limit: float | None,
    memory_limit: int | None,
    node_column: str | None,
    topic_column: str | None,
    output: Path | None,
    start: Path | None,
    master: str | None,
    as_json: bool,
) -> None:
    """Answer a problem on the instance in FILE (build an overlay), and judge it. Exit status 1 if the run failed."""
    run = solving.solve(
        solving.load(file, problem, {"node": node_column, "topic": topic_column}),
        problem,
        method,
        solving.options_given(options),
        seed=seed,
        time_limit=time_limit,
        memory_limit=memory_limit,
        output=output,
        start=start,
        master=master,
    )
    click.echo(run.to_json() if as_json else run.to_text())
    sys.exit(1 if run.failed else 0)


@cli.command()
@click.argument("file", type=_FILE)
@click.argument("answer", type=_FILE)
@click.option("--problem", required=True, help="See `overlaybench list problems`.")
@click.option("--node-column", help="In CSV, TSV and Parquet files of topics.  [default: node]")
@click.option("--topic-column", help="In CSV, TSV and Parquet files of topics.  [default: topic]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(
    file: Path, answer: Path, problem: str, node_column: str | None, topic_column: str | None, as_json: bool
) -> None:
    """Judge an ANSWER (an overlay) to the instance in FILE: is it valid, what is it worth. Exit status 1 if invalid."""
    instance = solving.load(file, problem, {"node": node_column, "topic": topic_column})
    verdict = solving.check(instance, answer, problem)
    click.echo(verdict.to_json() if as_json else verdict.to_text())
    sys.exit(1 if verdict.violations else 0)


@cli.command("list")
@click.argument("what", default="all")
def list_command(what: str) -> None:
    """List the problems, methods, workloads or claims; or, given a problem's name, what answers it."""
    listing.show(what)


@cli.command()
@click.argument("spec", type=_FILE)
@click.option("--out", required=True, type=_FILE, help="The folder of results; a study that was stopped goes on.")
@click.option("--master", default="local[*]", show_default=True, help="Spark master.")
@click.option("--archive", type=_FILE, help="What a cluster's workers import (see `overlaybench archive`).")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def study(spec: Path, out: Path, master: str, archive: Path | None, quiet: bool) -> None:
    """Run the study in SPEC.toml on Spark."""
    from . import studying

    studying.study(spec, out, master, archive=archive, quiet=quiet)


@cli.command()
@click.argument("folder", type=_FILE)
def report(folder: Path) -> None:
    """Write the page of a study's results: report.html, tables/ and figures/ in its FOLDER."""
    from . import studying

    click.echo(studying.report(folder))


@cli.command()
@click.argument("ids", nargs=-1)
@click.option(
    "--quick", is_flag=True, help="Thin grids and fewer seeds: all claims in some six minutes on two idle cores."
)
@click.option("--out", type=_FILE, help="The folder of evidence [default: claims-quick or claims-full].")
@click.option("--master", default="local[*]", show_default=True, help="Spark master.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
@click.option("--record", type=_FILE, help="Put the outcomes into this file too (JSON).")
@click.option("--page", type=_FILE, help="Write all outcomes in the record, or in the folder, as a Markdown page.")
def claims(
    ids: tuple[str, ...],
    quick: bool,
    out: Path | None,
    master: str,
    as_json: bool,
    record: Path | None,
    page: Path | None,
) -> None:
    """Run the papers' claims with these IDS (P1 for all of P1; none for all). A refuted claim is no error."""
    from . import claiming

    folder = out or Path("claims-quick" if quick else "claims-full")
    claiming.claims(ids, quick=quick, out=folder, master=master, as_json=as_json, record=record, page=page)


@cli.command()
@click.argument("ids", nargs=-1)
@click.option("--quick", is_flag=True, help="Fewer seeds.")
@click.option("--out", type=_FILE, help="Where figures, tables and runs go [default: claims-quick or claims-full].")
@click.option("--master", default="local[*]", show_default=True, help="Spark master.")
def reproduce(ids: tuple[str, ...], quick: bool, out: Path | None, master: str) -> None:
    """Draw the papers' figures and tables with these IDS (P1.F2, P3.T2; none for all) from runs of their grids."""
    from . import reproducing

    folder = out or Path("claims-quick" if quick else "claims-full")
    reproducing.reproduce(ids, quick=quick, out=folder, master=master)


@cli.command()
@click.option("--method", required=True, help="A heuristic.")
@click.option("--problem", required=True, help="A topic problem that it answers.")
@click.option("--nodes", type=click.IntRange(2, 200), default=6, show_default=True)
@click.option("--topics", type=click.IntRange(1, 200), default=6, show_default=True)
@click.option("--time-limit", type=click.FloatRange(0, min_open=True), default=60.0, show_default=True, help="Seconds.")
@click.option("--seed", default=0, show_default=True, help="Of the local search.")
@click.option("--ties", default="", help="The rule for ties [default: worst on up to 6 nodes, else lowest].")
@click.option("--hall", type=_FILE, default=Path("hall_of_fame.json"), show_default=True, help="Worst cases found.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def worst(
    method: str,
    problem: str,
    nodes: int,
    topics: int,
    time_limit: float,
    seed: int,
    ties: str,
    hall: Path,
    as_json: bool,
) -> None:
    """Search for an instance on which a heuristic is far from the proven optimum."""
    from . import hunting

    hunting.worst(
        method,
        problem,
        nodes=nodes,
        topics=topics,
        time_limit=time_limit,
        seed=seed,
        ties=ties,
        hall=hall,
        as_json=as_json,
    )


for _command in RESULT_COMMANDS:
    cli.add_command(_command)


def main() -> NoReturn:
    """Run the command line; bad input is one line and exit status 2."""
    try:
        sys.exit(cli.main(standalone_mode=False) or 0)
    except BadInput as error:
        _stop(str(error), 2)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "overlaybench"
        _stop(f"{' '.join(error.format_message().split())} (see `{command} --help`)", 2)
    except click.ClickException as error:
        _stop(error.format_message(), 2)
    except (KeyboardInterrupt, click.Abort) as end:
        _stop(str(end.__cause__ or end) or "stopped; what was done is kept", 130)


def _stop(message: str, status: int) -> NoReturn:
    click.echo(f"overlaybench: {message}", err=True)
    sys.exit(status)
