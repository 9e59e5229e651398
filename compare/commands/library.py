"""``overlaybench library``."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import click

from ...instances.contract.errors import BadInput, check_ending
from ...instances.contract.files import check_writable
from ...instances.runtime.status_line import StatusLine
from ..catalogue import kind_named
from ..library.archive import FolderEvidence, RunEvidence, check_folder, unpacked, write_archive
from ..library.study import library_runs, runnable_pairs, select_pairs, study_text, update_table, with_digests
from ..library.table import (
    known_row,
    law_points,
    page_text,
    read_table,
    score_methods,
    score_row,
    write_page,
    write_table,
)
from ..studies.library_entries import TABLE
from ..studies.store import Store
from ..studies.study import study_of
from .options import (
    ARCHIVE,
    FILE,
    LIBRARY_INSTANCE,
    MASTER,
    METHOD,
    PROBLEM_NAME,
    QUIET,
    Positive,
    echo_written,
    example,
    figure_options,
    remark,
    show,
    table,
)
from .studies import echo_statuses

_TABLE = click.option("--table", "folder", type=FILE, default=TABLE, help="A folder with another library's tables.")
_GROUP = click.option("--group", "groups", multiple=True, metavar="GROUP", help="Only these groups; repeatable.")
_PROBLEM = click.option("--problem", "problems", multiple=True, type=PROBLEM_NAME, help="Only these; repeatable.")
_WIDE = 100_000
_OPEN = click.option("--open", "only_open", is_flag=True, help="Only where the optimum is not proven.")


@click.group("library")
def library_() -> None:
    """List, get and run the library's instances, and score methods on them.

    The table has the best value and the best proven bound known of each instance. `run` is a study over the library,
    `score` ranks its methods, `update` takes its results into the table, and `map` draws what is proven. `archive`
    writes all of it to one file, which `check`, and anyone without this package, can check.
    """


@library_.command("list", epilog=example("library list --problem min-tco --open"))
@_GROUP
@_PROBLEM
@_OPEN
@_TABLE
def list_instances(folder: Path, **given: Any) -> None:
    """List instances with what is known of them."""
    library = read_table(folder)
    pairs = select_pairs(library, **given)
    rows = []
    for entry, problem in pairs:
        facts = {"group": entry.group, "needs": entry.needs}
        rows.append(known_row(entry, problem, library.known(entry.name, problem)) | facts)
    show(table("The library", rows, ("sizes", "by", "by ", "proof", "group", "needs"), pipe=_WIDE))
    instances = len({entry.name for entry, _ in pairs})
    remark(f"{instances} instances, {len(pairs)} with their problems")


@library_.command("get", epilog=example("library get small-zipf-20-20-5-s0 -o zipf.json"))
@click.argument("name", type=LIBRARY_INSTANCE)
@click.option("-o", "--output", type=FILE, help="[default: NAME with the ending of its kind]")
@_TABLE
def get(name: str, output: Path | None, folder: Path) -> None:
    """Write the instance NAME to a file."""
    entry = read_table(folder).entry(name)
    kind, instance = kind_named(entry.kind), entry.make()
    file = output or Path(f"{name}{kind.ending}")
    kind.write(instance, file)
    echo_written(instance, kind, file)


@library_.command("run", epilog=example("library run gm best --time-limit 10 --out results/library"))
@click.argument("methods", nargs=-1, required=True, type=METHOD)
@click.option("--out", required=True, type=FILE, help="The folder of results; a run goes on or grows there.")
@click.option("--time-limit", type=Positive(), default=60.0, show_default=True, help="Seconds.")
@click.option("--memory-limit", type=click.IntRange(1), default=4096, show_default=True, help="MiB a run.")
@click.option("--proof/--no-proof", default=True, help="Whether methods that can write proofs do.  [default: proof]")
@click.option("--instance", "names", multiple=True, type=LIBRARY_INSTANCE, help="Only these instances; repeatable.")
@_GROUP
@_PROBLEM
@_OPEN
@MASTER
@ARCHIVE
@QUIET
@_TABLE
def run(methods: tuple[str, ...], out: Path, master: str, folder: Path, **given: Any) -> None:
    """Run METHODS on the library, as a study on Spark.

    Options of a method follow its name: "low-oda k=8". The folder is that of a study: `results`, `report`, `verify`
    and `rerun` read it. Instances that this machine lacks the data for are left out, with a line that tells how to
    get them.
    """
    from ..studies.spark_study import run_study

    limits = {name: given.pop(name) for name in ("time_limit", "memory_limit", "proof")}
    spark = {name: given.pop(name) for name in ("archive", "quiet")}
    here, absent = runnable_pairs(select_pairs(read_table(folder), **given))
    remark(*absent)
    text = study_text(here, methods, **limits)
    store = Store(out)
    keys = run_study(study_of(text, out / "study.toml"), store, master, grow=True, **spark)
    echo_statuses(out, store, keys)


@library_.command("score", epilog=example("library score results/library"))
@click.argument("results", type=FILE)
@_TABLE
def score(results: Path, folder: Path) -> None:
    """Rank the methods of the study in RESULTS among all known."""
    library = read_table(folder)
    found = score_methods(library, [run.record for run in library_runs(library, Store.existing(results))])
    rows = [score_row(line) | {"better than known": str(line.improved)} for line in found.itertuples()]
    if not rows:
        raise BadInput(f"{results}: has no runs on the library's instances: see `overlaybench library run`")
    show(table("Scores on the library", rows, ("better than known",)))


@library_.command("update", epilog=example("library update results/library"))
@click.argument("results", nargs=-1, type=FILE)
@click.option("--page", type=FILE, help="Write the table into this page as well, between its two marks.")
@_TABLE
def update(results: tuple[Path, ...], page: Path | None, folder: Path) -> None:
    """Take the studies in RESULTS into the table.

    Answers are validated again by their problems. Bounds count with a proof that the checker
    accepts. Instances without a digest get theirs.
    """
    if page is not None:
        page_text(page)  # before minutes of checks
    library, missing = with_digests(read_table(folder))
    remark(*missing)
    line = StatusLine()
    for one in results:
        done = update_table(
            library, Store.existing(one), lambda runs, of: line.show(runs, f"checked {runs} of {of} runs")
        )
        line.clear()
        remark(*(f"{one}: run {key} refused: {reason}" for key, reason in done.refused))
        click.echo(f"{one}: {done.taken} runs taken in, {done.certified} with a certified bound")
        library = done.table
    write_table(library, folder)
    if page is not None:
        write_page(library, page)


@library_.command("archive", epilog=example("library archive results/library -o library.tar.zst"))
@click.argument("results", nargs=-1, type=FILE)
@click.option("-o", "--output", required=True, type=FILE, help="A .tar.zst file.")
@_TABLE
def archive(results: tuple[Path, ...], output: Path, folder: Path) -> None:
    """Write the library to one file that anyone can check.

    It has the instances, best answers, proofs, the table and the checker. Answers and proofs are looked for in
    RESULTS, folders of studies and earlier archives. What they lack is left out, and the table says so.
    """
    if output.suffixes[-2:] != [".tar", ".zst"]:
        raise BadInput(f"{output}: an archive's name ends with .tar.zst: choose such a name")
    check_writable(output)
    library, line = read_table(folder), StatusLine()
    with ExitStack() as stack:
        sources: list[RunEvidence | FolderEvidence] = []
        for one in results:
            sources.append(
                FolderEvidence(stack.enter_context(unpacked(one))) if one.is_file() else RunEvidence(library, one)
            )
        of = len(library.entries)
        done = write_archive(library, sources, output, lambda number: line.show(number, f"{number} of {of} instances"))
    line.clear()
    remark(*(f"left out: {reason}" for reason in done.refused))
    click.echo(f"{output}: {done.pairs} lines, {done.answers} with an answer, {done.proofs} with a proof")


@library_.command("check", epilog=example("library check library.tar.zst"))
@click.argument("archive", type=FILE)
def check(archive: Path) -> None:
    """Check every record of an ARCHIVE, as its own check_all.py does.

    The checker is that of this package. Exit status 1 on a fault.
    """
    with unpacked(archive) as root:
        shown, right = check_folder(root)
    click.echo(shown, nl=False)
    sys.exit(0 if right else 1)


@library_.command("map", epilog=example("library map results/library -o map.svg"))
@click.argument("results", nargs=-1, type=FILE)
@click.option("-o", "--output", required=True, type=FILE, help="A .svg, .pdf or .png file.")
@click.option("--problem", type=PROBLEM_NAME, default="min-tco", show_default=True)
@_TABLE
@partial(figure_options, formats=False)
def draw_map(results: tuple[Path, ...], output: Path, problem: str, folder: Path, figure_options: Any) -> None:
    """Draw what is proven in the table, and in RESULTS if accepted."""
    from ..figures.charts import proof_map
    from ..figures.style import ENDINGS, save, styled

    check_ending(output, ENDINGS)
    library = read_table(folder)
    for one in results:
        library = update_table(library, Store.existing(one)).table
    points = law_points(library, problem)
    if not len(points):
        raise BadInput(f"--problem {problem}: the library has no such instances with a popularity law: choose another")
    with styled(figure_options):
        figure = proof_map(points)
    save(figure, output, figure_options)
    click.echo(output)
