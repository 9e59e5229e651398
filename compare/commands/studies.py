"""The commands on a study: ``study``, ``status``, ``report``, ``watch``, ``verify``, ``rerun`` and ``archive``."""

from __future__ import annotations

import json
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click
import numpy as np
import pyarrow as pa

from ...instances.contract.errors import BadInput
from ...instances.contract.numbers import duration, seconds
from ...instances.contract.result import Status
from ..printable import printable
from ..studies.plot import MEASURES, Plot, plot_of
from ..studies.progress import RunTally, saved
from ..studies.run_table import run_table
from ..studies.store import INDEX, Store, index_of, positions
from ..studies.study import Study, read_study, study_schema
from .options import ARCHIVE, FILE, MASTER, QUIET, Positive, figure_options, key_values, remark, trade_option

if TYPE_CHECKING:
    import pandas as pd

    from ..figures.style import FigureOptions

REPEATABLE = (Status.TIME_LIMIT, Status.MEMORY_LIMIT, Status.FAILED)
_MANY = 2000  # runs, from which on their report takes more than seconds


def _print_schema(ctx: click.Context, parameter: click.Parameter, asked: bool) -> None:
    if asked:
        click.echo(json.dumps(study_schema(), ensure_ascii=False, indent=1))
        ctx.exit()


@click.command("study")
@click.argument("spec", type=FILE)
@click.option("--out", type=FILE, help="The folder of results; a study goes on or grows there.  [required to run it]")
@MASTER
@ARCHIVE
@click.option("--grow", is_flag=True, help="Take the folder of an unrelated study, whose runs stay stored there.")
@click.option(
    "--again",
    multiple=True,
    type=click.Choice([status.value for status in REPEATABLE]),
    help="Repeat the runs that ended so, under the limits given here; the others count as they are. Repeatable.",
)
@click.option("--time-limit", type=Positive(), help="With --again: seconds a run.  [default: as in SPEC.toml]")
@click.option("--memory-limit", type=click.IntRange(16, 2**31), help="With --again: MiB a run.")
@QUIET
@click.option("--dry-run", is_flag=True, help="Check SPEC.toml and print what it would run, and how long it takes.")
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON schema of study files, for editors.",
)
def study(
    spec: Path,
    out: Path | None,
    master: str,
    archive: Path | None,
    grow: bool,
    again: tuple[str, ...],
    time_limit: float | None,
    memory_limit: int | None,
    quiet: bool,
    dry_run: bool,
) -> None:
    """Run the study in SPEC.toml on Spark.

    What is stored in the folder is not repeated: a study that was stopped is resumed, and a study file with more
    methods, instances, seeds or limits runs only what is new. docs/study.md explains every key of a study file.
    """
    from ..studies.spark_study import Again, run_study

    repeated = Again(again, time_limit, memory_limit) if again else None
    if (time_limit or memory_limit) and not again:
        raise BadInput(
            "--time-limit and --memory-limit are for --again: give --again time-limit, or edit the study file"
        )
    if repeated and not (time_limit or memory_limit) and set(again) != {"failed"}:
        raise BadInput("--again: give --time-limit or --memory-limit as well, which these runs have then")
    if dry_run:
        with TemporaryDirectory() as nothing:
            click.echo(dry_run_report(read_study(spec), Store(out or Path(nothing)), master))
        return
    if out is None:
        raise click.UsageError("Missing option '--out'.")
    asked, store = read_study(spec), Store(out)
    remark(*asked.notes)
    try:
        keys = run_study(asked, store, master, archive=archive, quiet=quiet, grow=grow, again=repeated)
    except KeyboardInterrupt:
        command = shlex.join(["overlaybench", *sys.argv[1:]])
        raise KeyboardInterrupt(f"stopped; finished runs are kept. To go on: {command}") from None
    echo_statuses(out, store, keys)
    if other := len(store.done().unique()) - len(store.table(keys, ["key"])):
        remark(
            f"{other} stored runs of earlier studies or code versions are not among them: see "
            f"`overlaybench results {out} --all`"
        )


def dry_run_report(asked: Study, store: Store, master: str) -> str:
    """What a study would run, by problem and method, and the time of it; instances that are not stored have none."""
    from ..library.study import known_times
    from ..studies.spark_session import local_cores

    index, texts = store.index() if store.has_plan else INDEX.empty_table(), asked.recipes.texts()
    unknown = np.flatnonzero(positions(index, texts) < 0)
    for _, _, remarks in asked.files(map(asked.recipes.__getitem__, unknown.tolist())):
        remark(*remarks)
    new, none = texts.take(pa.array(unknown)), [""] * len(unknown)  # each counts as an instance of its own
    sizes = asked.recipes.by_form([form.size for form in asked.recipes.forms], unknown)
    index = pa.concat_tables([index, index_of(new, new, sizes, none)])
    table, done = run_table(asked, index), store.done()
    table = table.keyed(done)
    left, cores = table.missing(done), local_cores(master) or 1
    counts = table.counted(left)
    tally = RunTally(store, counts)
    tally.learn(known_times(group.method for group, _ in counts))
    work = tally.work
    most = sum(n * (of.time_limit if of.exact else tally.expected(of, size)) for (of, size), n in counts.items())
    known = index["instance"].take(pa.array(positions(index, texts)))
    counted = f"{len(known.unique())} instances, {len(table)} runs"
    if len(unknown):
        counted = f"at most {counted} (equal instances count once when they are made)"
    lines = [f"{asked.name}: {counted}, {len(table) - len(left)} of them stored"]
    lines += asked.notes
    of_variants = Counter[tuple[str, str]]()
    for (group, _), runs in counts.items():
        of_variants[group.problem, group.variant] += runs
    lines += [f"{runs:8}  {problem}  {variant}" for (problem, variant), runs in sorted(of_variants.items())]
    short = "less than 1 s to go" if len(left) else "nothing to go"
    about = work.about(work.left / cores) or short
    if not work.is_limited and most > max(cores, 2 * work.left):
        about += f" (at most {duration(most / cores)}, if every exact method takes its time limit)"
    return "\n".join([*lines, f"{about}, on {cores} cores"])


def echo_statuses(out: Path, store: Store, keys: pa.Array) -> None:
    """Print how many of the runs ended with which status."""
    counts = Counter(store.table(keys, ["status"])["status"].to_pylist())
    click.echo(f"{out}: {len(keys)} runs: " + ", ".join(f"{n} {name}" for name, n in sorted(counts.items())))


@click.command("status")
@click.argument("folder", type=FILE)
def status(folder: Path) -> None:
    """Show how far the study in FOLDER is, also while it runs: by status, by method, and the time to go."""
    click.echo(status_of(folder))


def status_of(folder: Path) -> str:
    """The study, how many of its runs are done, their statuses and methods, and whether it is running."""
    store = Store.existing(folder)
    plan, keys = store.plan(), store.keys()
    table = store.table(keys, ["method", "status", "started", "seconds"]).to_pandas()
    statuses = Counter(table["status"])
    total, done = len(keys), len(table)
    to_go, planned = saved(folder)
    if store.is_locked() and not total:
        return f"{plan.name}: running, its instances are being generated"
    if store.is_locked():
        state, left = "running", f", {to_go}" if to_go and done < total else ""
    elif done < total:
        state, left = "stopped: the same study command resumes it", f" ({to_go} when it stopped)" if to_go else ""
    elif not total:
        return f"{plan.name}: stopped before its instances were made: the same study command resumes it"
    else:
        state, left = "finished", ""
    lines = [f"{plan.name}: {state}", f"{done} of {total} runs done, {total - done} left{left}"]
    lines += [f"  {count} {name}" for name, count in sorted(statuses.items())]
    if done:
        last = max(table["started"])
        lines.append(f"{table['seconds'].sum():.1f} s of solving; last started {last}")
    lines += _by_method(table, planned if done < total else {})
    if store.damaged.is_dir():
        lines.append(f"{len(list(store.damaged.iterdir()))} damaged files were moved to {store.damaged}")
    return "\n".join(lines)


def _by_method(table: pd.DataFrame, planned: Mapping[str, int]) -> Iterator[str]:
    """A line a method: its runs done, failed and, where they are known, left, and the mean time of those done."""
    counts, failed = Counter(table["method"]), Counter(table.loc[table["status"] == "failed", "method"])
    times = table.groupby("method")["seconds"].mean()
    names = sorted({*counts, *planned})
    wide = max([len(name) for name in names], default=0)
    if names:
        yield f"{'':{wide}}     done   failed{'     left' if planned else ''}  mean time"
    for name in names:
        left = f" {max(0, planned.get(name, 0) - counts[name]):8}" if planned else ""
        yield f"{name:{wide}} {counts[name]:8} {failed[name]:8}{left} {seconds(times.get(name, nan)):>10}"


@click.command("report")
@click.argument("folders", metavar="FOLDER…", type=FILE, nargs=-1, required=True)
@click.option("--x", metavar="PARAM", help="Plot against this parameter, option or size.  [default: what one varies]")
@click.option("--y", type=click.Choice(list(MEASURES)), help="Plot this measure.  [default: ratio]")
@click.option("--group", metavar="COLUMN", help="A curve for each value of it.  [default: variant]")
@click.option("--plot", "more", multiple=True, metavar="x=…,y=…", help="A further plot: x=nodes,y=time,group=family.")
@click.option("--all", "every", is_flag=True, help="Also runs that are no longer in the study.")
@figure_options
@trade_option
def report(
    folders: tuple[Path, ...], more: tuple[str, ...], every: bool, figure_options: FigureOptions, **first: str | None
) -> None:
    """Write the report of the study in FOLDER: report.html, tables/ and figures/ there.

    The plots that the options choose take the place of those in the study's [report] table. With several folders an
    index of their reports is written beside them, reports.html.
    """
    plots, stores = _plots(first, more), [Store.existing(folder) for folder in dict.fromkeys(folders)]
    if (planned := sum(len(store.keys()) for store in stores)) >= _MANY:
        click.echo(f"writing the report of {planned:,} runs", err=True)
    from ..report.writing import report_study, write_index

    pages = {}
    for folder, store in zip(dict.fromkeys(folders), stores, strict=True):
        page = report_study(folder, all_runs=every, plots=plots, figure_options=figure_options, quiet=False)
        pages[page] = store.plan().name
        click.echo(page)
    if len(pages) > 1:
        click.echo(write_index(pages))


@click.command("watch")
@click.argument("folder", type=FILE)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 for any free one.")
def watch(folder: Path, port: int) -> None:
    """Serve the report of the study in FOLDER while it runs.

    Only browsers of this machine reach the page, which reloads when rows were added. Nothing is written into FOLDER.
    Ctrl-C ends the server.
    """
    from ..report.watch import page_server

    with page_server(folder, port) as server:
        click.echo(f"http://127.0.0.1:{server.server_port}/")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            raise KeyboardInterrupt("stopped; the page is no longer served") from None


def _plots(first: dict[str, str | None], more: tuple[str, ...]) -> tuple[Plot, ...]:
    chosen = {name: value for name, value in first.items() if value is not None}
    if chosen and "x" not in chosen:
        raise BadInput(f"--{min(chosen)}: give --x as well, the parameter to plot against")
    tables = [chosen] if chosen else []
    tables += [key_values(tuple(words.split(",")), "--plot") for words in more]
    return tuple(dict.fromkeys(plot_of(table) for table in tables))


@click.command("verify")
@click.argument("folder", type=FILE)
@MASTER
@ARCHIVE
@click.option(
    "--rerun",
    "share",
    type=Positive(1),
    metavar="SHARE",
    help="Also repeat this share of the runs, drawn at random, and compare: 0.05 for one in twenty.",
)
@click.option("--seed", default=0, show_default=True, help="Of the draw of --rerun.")
def verify(folder: Path, master: str, archive: Path | None, share: float | None, seed: int) -> None:
    """Check every stored row, answer and proof of the study in FOLDER again.

    Exit status 1 if one is wrong. docs/results.md says what is checked, and what it cannot find.
    """
    from ..studies.verification import verify as verify_study

    verification = verify_study(folder, master, archive, share=share or 0.0, seed=seed, quiet=False)
    for key, fault in verification.faults:
        click.echo(printable(f"{key}: {fault}"))
    remark(*verification.notes)
    proofs = f" and {verification.proofs} proofs" if verification.proofs else ""
    repeated = f", {verification.repeated} runs repeated" if verification.repeated else ""
    click.echo(
        f"{folder}: {verification.checked} answers{proofs} checked{repeated}, {len(verification.faults)} faults found"
    )
    sys.exit(1 if verification.faults else 0)


@click.command("rerun")
@click.argument("folder", type=FILE)
@click.argument("key")
def rerun(folder: Path, key: str) -> None:
    """Repeat the run with this KEY and compare; its first digits suffice. Exit status 1 if the rows differ."""
    from ..studies.verification import rerun as rerun_run

    run = rerun_run(folder, key)
    for name in ("status", "value", "lower_bound", "seconds"):
        click.echo("{}: {} before, {} now".format(name, *run.values(name)))
    if run.differences:
        click.echo(f"differs in {', '.join(run.differences)}")
        for name in run.differences:
            before, now = run.values(name)
            click.echo(f"  {name} before  {before}\n  {name} now     {now}")
    else:
        click.echo("the same row")
    sys.exit(1 if run.differences else 0)


@click.command("archive")
@click.option("-o", "--output", required=True, type=FILE, help="A .zip file.")
@click.option("--libraries", is_flag=True, help="Include every library: workers then need only Python and Java.")
def archive(output: Path, libraries: bool) -> None:
    """Write the code that a cluster's workers import to one file."""
    from ..studies.spark_session import write_archive

    click.echo(write_archive(output, libraries=libraries))
