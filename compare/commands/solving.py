"""Commands on one instance: ``generate``, ``solve``, ``trace``, ``optima``, ``check``, ``draw`` and ``export``."""

from __future__ import annotations

import json
import math
import shutil
import sys
import tempfile
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Any

import click
from click.shell_completion import CompletionItem

from ...instances.contract.catalogue import KINDS, WORKLOADS
from ...instances.contract.errors import BadInput, check_ending
from ...instances.contract.files import atomic_write, check_writable, write_json
from ...instances.contract.numbers import plain
from ...instances.contract.problem import Problem
from ...instances.contract.result import Result, Status
from ...instances.runtime.code import OURS
from ...instances.runtime.compiled import interpreted_first
from ...instances.runtime.signals import keeping
from ..catalogue import kind_named, method_named, named_part, problem_named, workload_named
from ..studies.isolation import memory_bounded
from ..studies.proofs import (
    COUNTERS,
    VERDICT,
    VIPR,
    file_for_checker,
    level_of,
    own_objective,
    problem_of,
    run_checker,
    write_vipr,
)
from .options import (
    AS_JSON,
    FILE,
    METHOD,
    OPTIONS,
    PROBLEM_NAME,
    PROBLEM_OF_KIND,
    SEED,
    TIME_LIMIT,
    WORKLOAD,
    Positive,
    column_options,
    echo_written,
    example,
    figure_options,
    in_parentheses,
    key_values,
    kind_asked,
    load,
    load_instance,
    problem_asked,
    remark,
)

_WIDTH = 80
_LONG = ("choices", "snapshot_bounds", "system_series", "system_hop_counts", "system_pair_delays")
_PARQUET, _PROOFS = ".parquet", (".gz", VIPR)
STAGES = ("value_by", "bound_by")
"""The counters that name the stages which found the value and the bound."""
MODEL_FORMATS = (".mps", ".lp", ".opb")
_MESSAGE_BYTES = click.IntRange(8, 10 * 2**20)  # of its identifier, and the most that the runners take
_WHAT = ("instance", "answer", "model", "gossipsub")


class _Generate(click.Command):
    """Completes the parameters of the workload, too."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        workload = WORKLOADS.get(ctx.params.get("workload") or "")
        flags = {f"--{one.name.replace('_', '-')}": one.summary for one in workload.parameters} if workload else {}
        found = [CompletionItem(flag, help=text) for flag, text in flags.items() if flag.startswith(incomplete or "?")]
        return [*found, *super().shell_complete(ctx, incomplete)]


SCRATCH = click.option(
    "--scratch",
    metavar="ADDRESS",
    help="With --master and Parquet: a folder for tables that driver and workers see.  [default: beside the output]",
)


@click.command("generate", cls=_Generate, context_settings={"ignore_unknown_options": True})
@click.argument("workload", type=WORKLOAD)
@click.argument("parameters", nargs=-1, type=click.UNPROCESSED)
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same instance.")
@click.option("--master", help="Spark master that draws the nodes and writes a folder of Parquet files.")
@SCRATCH
@click.option("-o", "--output", required=True, type=FILE, help="A .json, .csv, .tsv or .parquet file.")
def generate(
    workload: str, parameters: tuple[str, ...], seed: int, master: str | None, scratch: str | None, output: Path
) -> None:
    """Write an instance of a WORKLOAD; its parameters are --nodes N --topics T ... (`overlaybench list workloads`)."""
    chosen, given = workload_named(workload), _named_values(parameters)
    if master is not None:
        solver = _spark_solver()
        with solver.on_cluster(master, None, output, scratch=scratch) as (session, (out,), tables):
            nodes = solver.generate(session, chosen, out, seed=seed, scratch=tables, **given)
        remark(f"wrote {nodes:,} nodes to {out}")
        return
    _check_on_spark(scratch, False)
    with memory_bounded(f"the instance of workload '{workload}'"):
        instance = interpreted_first(("workload", chosen.name), lambda: chosen.generate(seed=seed, **given))
    kind_named(chosen.kind).write(instance, output)
    echo_written(instance, kind_named(chosen.kind), output)


def _spark_solver() -> Any:
    """The annex that solves, checks and generates from Parquet to Parquet."""
    return import_module(f"{OURS}.compare.spark_solver.solving")


def _check_on_spark(scratch: str | None, on_spark: bool) -> None:
    if scratch and not on_spark:
        raise BadInput("--scratch: is for Parquet on a cluster: give --master and Parquet files, or leave it out")


def _is_parquet(path: Path | None) -> bool:
    """Whether a path names a Parquet file, or Parquet files by a folder or a pattern."""
    return path is not None and (path.suffix == _PARQUET or path.is_dir())


def _named_values(words: tuple[str, ...]) -> dict[str, object]:
    """The parameters in ``--nodes 20 --top-decile=0.6``; anything else is bad input."""
    given: dict[str, object] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if not name.startswith("--") or not (equals or rest):
            raise BadInput(f"'{word}': parameters are given as --name value")
        key = name[2:].replace("-", "_")
        if key in given:
            raise BadInput(f"{name} is given twice: leave one out")
        given[key] = value if equals else rest.pop(0)
    return given


@click.command("solve")
@click.argument("file", type=FILE)
@PROBLEM_OF_KIND
@click.option("--method", type=METHOD, help="See `overlaybench list methods`.  [default: that of the problem]")
@OPTIONS
@SEED
@TIME_LIMIT
@click.option("--memory-limit", type=click.IntRange(min=1), help="MiB beyond what the program itself takes.")
@column_options
@click.option(
    "-o",
    "--output",
    type=FILE,
    help="Write the answer to this file (.json; overlays also .csv, .tsv, .parquet, .graphml, .dot).",
)
@click.option(
    "--start",
    "overlay",
    type=FILE,
    help="A file with the answer that the method starts from (polish, migration) or repairs (gm-incremental, auto).",
)
@click.option(
    "--proof",
    type=FILE,
    help="Write a proof of the bound to this file, and check it as `check-proof` does; with the ending .vipr, a "
    "certificate for the checkers of VIPR, and its problem as .mps.",
)
@click.option(
    "--master",
    help="Spark master for the parts of a divide-and-conquer method; with -o FOLDER.parquet all is on Spark.",
)
@SCRATCH
@click.option(
    "--step",
    "trace",
    is_flag=True,
    default=None,
    help="Show a greedy method's choices in order, with contribution and ties.",
)
@AS_JSON
def solve(file: Path, problem: str | None, options: tuple[str, ...], columns: Mapping[str, Any], **given: Any) -> None:
    """Solve a problem on the instance in FILE and check the answer. Exit status 1 if the run failed."""
    from ..python_api.solving import solve as solved

    output, as_json, method = given.pop("output"), given.pop("as_json"), given.pop("method")
    result: Result[Any]
    on_spark = given["master"] is not None and (_is_parquet(output) or (_is_parquet(file) and not file.is_file()))
    _check_on_spark(scratch := given.pop("scratch"), on_spark)
    if on_spark:
        given["scratch"] = scratch
        result = _spark_solver().solve_files(
            file, problem, method, key_values(options), columns, output or Path(), **given
        )
        click.echo(_json(result) if as_json else f"{_text(result)}\n{result.answer}")
    else:
        judge = problem_asked(file, problem, columns)
        instance = load_instance(file, judge, columns)
        further = {"time_limit": None} | {name: value for name, value in given.items() if value is not None}
        further |= key_values(options)
        if output is not None:
            kind_named(judge.kind).check_ending(output)
            check_writable(output)
        if given["proof"] is not None and not given["proof"].is_dir():
            check_ending(given["proof"], _PROOFS)
        with keeping():
            result = solved(instance, judge, method, apart=True, **further)
            click.echo(_json(result, instance) if as_json else _text(result, judge.unit(instance)))
            if output is not None and result.answer is not None:
                kind_named(judge.kind).write_answer(result.answer, instance, output)
    sys.exit(1 if result.status is Status.FAILED else 0)


def _json(result: Result[Any], instance: Any = None) -> str:
    """One JSON object; the answer is shown as its kind has it (``edges`` for overlays), null where there is none."""
    first = ("problem", "method", "status", "value", "lower_bound", "gap")
    unit = 1 if instance is None else problem_named(result.problem).unit(instance)
    shown = (
        {name: getattr(result, name) for name in first}
        | ({"unit": unit} if unit > 1 else {})
        | {"proven": level_of(result), "seconds": result.seconds}
    )
    last = {"counters": dict(result.counters), "measures": dict(result.measures), "reason": result.reason}
    if instance is None:  # it is on Spark, as is the answer
        shown |= {"overlay": result.answer, **last}
    else:
        kind = kind_named(problem_named(result.problem).kind)
        answer = dict.fromkeys(kind.shown) if result.answer is None else kind.labelled(result.answer, instance)
        shown |= {**answer, **last, "instance": instance.digest}
    return json.dumps(shown | ({} if result.trace is None else {"steps": result.trace.records()}), ensure_ascii=False)


def _text(result: Result[Any], unit: int = 1) -> str:
    lines = [f"{result.problem} by {result.method}: {result.status}, {result.seconds:.2f} s"]
    if result.value is not None:
        lines.append(f"value {_in_units(result.value, unit)}" + in_parentheses(result.measures))
    if result.lower_bound is not None:
        gap = "" if result.gap is None else f", gap {result.gap:.2%}"
        lines.append(f"proven lower bound {_in_units(result.lower_bound, unit)}{gap}")
    elif result.value is not None:
        method = method_named(result.method).answering(problem_named(result.problem).name)
        proven = "none was proven in time" if method.exact or method.bounds else "the method proves none"
        lines.append(f"no lower bound: {proven}")
    elif result.status in (Status.TIME_LIMIT, Status.MEMORY_LIMIT):
        lines.append(f"no answer and no lower bound within the {result.status.replace('-', ' ')}")
    given = result.counters
    stages = [f"{what} by {given[key]}" for what, key in zip(("value", "bound"), STAGES, strict=True) if key in given]
    lines += [", ".join(stages)] if stages else []
    shown = {name: value for name, value in given.items() if name not in (*_LONG, *COUNTERS, *STAGES)}
    texts = {name: plain(value) if isinstance(value, float | int) else value for name, value in shown.items()}
    counters = [f"{name.replace('_', ' ')} {text}" for name, text in texts.items()]
    lines += [f"proof: {given[VERDICT]}"] if VERDICT in given else []
    lines += [_wrapped(f"counters: {', '.join(counters)}")] if counters else []
    lines += [_wrapped(f"choices: {given['choices']}")] if given.get("choices") else []
    lines += [result.reason] if result.reason else []
    return "\n".join([*lines, *([] if result.trace is None else ["", repr(result.trace)])])


def _in_units(value: float, unit: int) -> str:
    """A value, of which `unit` are one of the user's file: 456 is 45.6 where costs have one decimal."""
    return plain(value) if unit == 1 or math.isinf(value) else f"{Decimal(int(value)) / unit:f}"


def _wrapped(text: str) -> str:
    return fill(text, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


@click.group("trace")
def trace() -> None:
    """Make the trace of two files, as of yesterday and today."""


@trace.command("from", epilog=example("trace from old.csv new.csv -o change.jsonl"))
@click.argument("file", type=FILE, metavar="OLD")
@click.argument("new", type=FILE)
@click.option("-o", "--output", required=True, type=FILE, help="A .jsonl or .trace.parquet file.")
@column_options
def trace_from(file: Path, new: Path, output: Path, columns: Mapping[str, Any]) -> None:
    """Write the trace from the subscriptions in OLD to those in NEW, a second later."""
    kind, judge = kind_named("trace"), problem_named("min-tco")
    old, later = (load_instance(each, judge, columns) for each in (file, new))
    with memory_bounded(f"the trace from {file} to {new}"):
        made = named_part(kind.between)(old, later)
    kind.write(made, output)
    echo_written(made, kind, output)


@click.command("optima")
@click.argument("file", type=FILE)
@PROBLEM_OF_KIND
@click.option("--most", type=int, default=100, show_default=True, help="Overlays to list.")
@click.option("--within", type=int, default=0, show_default=True, help="Also overlays that cost so much more.")
@SEED
@click.option("--time-limit", type=Positive(), default=60.0, show_default=True, help="Seconds.")
@click.option("--circle", is_flag=True, help="Nodes on a circle rather than with few crossings.")
@click.option("--proof", type=FILE, help="Write proofs to this folder, and check them as `check-proof` does.")
@click.option("-o", "--output", type=FILE, help="A picture (.svg, .pdf, .png), or all overlays as .json.")
@column_options
@partial(figure_options, formats=False)
@AS_JSON
def optima(
    file: Path,
    problem: str | None,
    output: Path | None,
    circle: bool,
    as_json: bool,
    columns: Mapping[str, Any],
    figure_options: Any,
    **given: Any,
) -> None:
    """List all optimal overlays of the instance in FILE, and what they share: the edges in every one, in some, in none.

    Each is proven. Exit status 1 if the optimum is not proven in time.
    """
    from ..figures.style import ENDINGS, DrawOptions, save
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


@click.command("check")
@click.argument("file", type=FILE)
@click.argument("answer", type=FILE)
@PROBLEM_OF_KIND
@column_options
@click.option("--master", help="Spark master for Parquet files that no machine holds: FILE and ANSWER stay on Spark.")
@SCRATCH
@AS_JSON
def check(
    file: Path,
    answer: Path,
    problem: str | None,
    columns: Mapping[str, Any],
    master: str | None,
    scratch: str | None,
    as_json: bool,
) -> None:
    """Check an ANSWER to the instance in FILE: its validity and its value. Exit status 1 if it is invalid."""
    _check_on_spark(scratch, master is not None)
    if master is not None:
        solver = _spark_solver()
        with solver.on_cluster(master, problem, file, answer, scratch=scratch) as (session, (source, given), tables):
            found = solver.check(session, solver.Source(source, columns), given, tables)
        name, value, violations, measures = solver.PROBLEM, found.edges, found.violations, found.measures
        unit = 1
    else:
        judge = problem_asked(file, problem, columns)
        instance = load_instance(file, judge, columns)
        with memory_bounded(str(answer)):
            given = kind_named(judge.kind).read_answer(answer, instance)
        name, value, violations = judge.name, judge.value(instance, given), judge.violations(instance, given)
        measures, unit = judge.measures(instance, given), judge.unit(instance)
    if as_json:
        fields = {"problem": name, "valid": not violations, "value": value, "violations": violations}
        click.echo(json.dumps({**fields, "measures": dict(measures)}, ensure_ascii=False))
    else:
        verdict = "invalid" if violations else "valid"
        shown = _in_units(value, unit)
        click.echo("\n".join([f"{verdict} for {name}, value {shown}" + in_parentheses(measures), *violations]))
    sys.exit(1 if violations else 0)


@click.command("check-proof")
@click.argument("file", type=FILE)
@click.argument("proof", type=FILE)
@click.option("--problem", type=PROBLEM_NAME, help="Of others, module:NAME, unless a package names it.")
@click.option("--to-vipr", type=FILE, help="Translate it to this .vipr file, and write the problem as .mps beside it.")
@column_options
@AS_JSON
def check_proof(
    file: Path, proof: Path, problem: str | None, to_vipr: Path | None, columns: Mapping[str, Any], as_json: bool
) -> None:
    """Check a PROOF about the instance in FILE, written by ``solve --proof``. Exit status 1 if it is wrong.

    The checker is a program of its own, models/checker/check_proof.py, that imports nothing of this package. FILE is
    converted for it if it is of a format that it does not read.
    """
    if to_vipr is not None and to_vipr.suffix != VIPR:
        raise BadInput(f"--to-vipr: {to_vipr} does not end with {VIPR}: choose another name")
    if proof.suffix == VIPR:
        raise BadInput(f"{proof}: viprchk reads such certificates: give the proof that `solve --proof` wrote as .gz")
    try:
        proof.open("rb").close()
    except OSError as error:
        raise BadInput(f"{proof}: cannot be read ({error.strerror}): check the path") from None
    kind = kind_asked(file)
    if not kind.proof_endings:
        known = ", ".join(each.name for each in KINDS.values() if each.proof_endings)
        raise BadInput(f"{file}: the checker knows no instances of the kind '{kind.name}': it knows {known}")
    loaded = load(file, problem_named(kind.default_problem), columns)
    objective = own_objective(problem_of(proof) if problem is None else problem_named(problem))
    instance = loaded.instance if objective is None else objective.priced(loaded.instance)
    with tempfile.TemporaryDirectory(prefix="overlaybench-") as folder:
        if file.suffix not in kind.proof_endings or columns or not loaded.is_plain or instance is not loaded.instance:
            file = file_for_checker(instance, kind.name, Path(folder))
        checked = run_checker(file, proof, digest=instance.digest, objective=objective)
        if to_vipr is not None and checked.accepted:
            write_vipr(file, proof, to_vipr)
    said = "\n".join(filter(None, [checked.shared, checked.sentence]))
    click.echo(json.dumps(checked._asdict(), ensure_ascii=False) if as_json else said)
    sys.exit(0 if checked.accepted else 1)


@click.command("draw")
@click.argument("file", type=FILE)
@click.argument("answers", nargs=-1, type=FILE)
@click.option("-o", "--output", required=True, type=FILE, help="A .svg, .pdf, .png or .html file.")
@PROBLEM_OF_KIND
@click.option("--method", "methods", multiple=True, type=METHOD, help="Solve by this first; repeatable.")
@OPTIONS
@SEED
@TIME_LIMIT
@click.option("--by-topic", is_flag=True, help="Colour each edge by the topics that it serves.")
@click.option("--differences", is_flag=True, help="Edges in all answers grey, the others strong.")
@click.option("--topic", "topics", multiple=True, metavar="LABEL", help="A panel for this topic alone; repeatable.")
@click.option("--degrees", is_flag=True, help="Write the degree beside each node.")
@click.option("--circle", is_flag=True, help="Nodes on a circle rather than with few crossings.")
@click.option("--at", type=float, metavar="SECONDS", help="Of a trace: the overlay then, by default at the end.")
@click.option("--step", is_flag=True, help="Each choice of a greedy method: .html (slider), .pdf (pages), or a folder.")
@column_options
@partial(figure_options, formats=False)
def draw(
    file: Path, answers: tuple[Path, ...], output: Path, step: bool, columns: Mapping[str, Any], **looks: Any
) -> None:
    """Draw the instance in FILE, or ANSWERS to it side by side.

    Of a trace an .html file shows the overlays over time, with a slider, unless --at names one time.
    """
    from ..figures.draw import draw as drawn
    from ..figures.draw import save_page
    from ..figures.stepping import SteppedOverlay, check_steps_path, save_steps
    from ..figures.style import ENDINGS, DrawOptions, save
    from ..python_api.solving import solve

    problem, methods = looks.pop("problem"), looks.pop("methods")
    given = {name: looks.pop(name) for name in ("seed", "time_limit")} | key_values(looks.pop("options"))
    given |= {"trace": True} if step else {}
    judge = problem_asked(file, problem, columns)
    instance, kind = load_instance(file, judge, columns), kind_named(judge.kind)
    if step and (answers or len(methods) != 1):
        raise BadInput("--step shows the choices of one --method: give one, and no ANSWER")
    if looks["at"] is not None and not kind.replay:
        raise BadInput(f"--at is for traces: {file} has {kind.name}: leave it out")
    if (looks["by_topic"] or looks["topics"]) and kind.name != "topics":
        raise BadInput(f"--by-topic and --topic are for topics: {file} has {kind.name}: leave them out")
    if (looks["by_topic"] or looks["topics"] or looks["differences"]) and not (answers or methods):
        raise BadInput("--by-topic, --topic and --differences are about answers: name an ANSWER or a --method")
    if step:
        check_steps_path(output)
    else:
        check_ending(output, (*ENDINGS, ".html"))
    shown = [kind.read_answer(each, instance) for each in answers]
    for name in methods:
        result = solve(instance, judge, name, apart=True, **given)
        if result.answer is None:
            raise BadInput(f"--method {name}: {result.status} ({result.reason or 'no answer'}): nothing to draw")
        shown.append(result)
    title = " and ".join([file.name, *(each.name for each in answers), *methods])
    names = tuple(each.stem for each in answers)
    look = DrawOptions(problem=problem or "", names=names, figure=looks.pop("figure_options"), **looks)
    if step:
        save_steps(SteppedOverlay(instance, shown[0].trace, look), output, title)
    elif output.suffix == ".html" and kind.replay and look.at is None:
        named_part(kind.replay)(output, title, instance, *shown, options=look)
    elif output.suffix == ".html":
        save_page(output, title, instance, *shown, options=look)
    else:
        save(drawn(instance, *shown, options=look), output, look.figure)
    click.echo(output)


@click.command("export")
@click.argument("what", type=click.Choice(_WHAT))
@click.argument("file", type=FILE)
@click.argument("answer", type=FILE, required=False)
@click.option("-o", "--output", required=True, type=FILE, help="Its ending is the format; JSON for gossipsub.")
@PROBLEM_OF_KIND
@click.option("--mesh", type=click.IntRange(min=1), help="gossipsub: a random mesh of so many connections, no ANSWER.")
@click.option("--messages", default=0, show_default=True, type=click.IntRange(0, 100_000), help="gossipsub: published.")
@click.option("--bytes", "size", default=1024, show_default=True, type=_MESSAGE_BYTES, help="Of a message.")
@OPTIONS
@SEED
@column_options
def export(what: str, file: Path, answer: Path | None, output: Path, columns: Mapping[str, Any], **given: Any) -> None:
    """Write the instance in FILE or an ANSWER to it for other programs.

    \b
    instance   FILE in another format: .json, .hif.json, .sets, .csv, .tsv, .parquet
    answer     ANSWER in another format: .json, .csv, .tsv, .parquet, .graphml, .dot
    model      the integer program of method ilp for FILE: .mps, .lp, .opb (pseudo-Boolean)
    gossipsub  an overlay (or a random --mesh) as a script of libp2p's interoperability tests
    """  # noqa: D301
    judge = problem_asked(file, given["problem"], columns)
    kind, instance = kind_named(judge.kind), load_instance(file, judge, columns)
    mesh, seed = given["mesh"], given["seed"]
    if mesh is not None and what != "gossipsub":
        raise BadInput(f"--mesh is for gossipsub, not for {what}: leave it out")
    if (answer is not None) + (mesh is not None) != (what in ("answer", "gossipsub")):
        needs = {"answer": "an ANSWER", "gossipsub": "an ANSWER or --mesh"}.get(what, "no ANSWER")
        raise BadInput(f"export {what} takes {needs}: correct the command")
    if what == "instance":
        kind.write(instance, output)
    elif what == "model":
        _write_model(instance, judge, output, key_values(given["options"]))
    elif what == "answer" and answer is not None:
        kind.write_answer(kind.read_answer(answer, instance), instance, output)
    else:
        if kind.name != "topics":
            raise BadInput(f"gossipsub: {file} has {kind.name}: give topics")
        from ...instances.topics.gossipsub import random_mesh, script

        overlay = random_mesh(instance.num_nodes, mesh, seed) if answer is None else kind.read_answer(answer, instance)
        sent = {"messages": given["messages"], "message_bytes": given["size"], "seed": seed}
        write_json(output, script(instance, overlay, **sent))
    click.echo(output)


def _write_model(instance: Any, problem: Problem[Any, Any], output: Path, options: dict[str, Any]) -> None:
    if output.suffix not in MODEL_FORMATS:
        raise BadInput(f"{output}: a model is written as {', '.join(MODEL_FORMATS)}: choose one of these endings")
    method = method_named("ilp")
    known = method.complete(options, problem)
    if "model_file" not in method.answering(problem).inputs:
        raise BadInput(f"model: ilp solves no single model of {problem.name}: see `overlaybench list ilp`")
    from ...models.engine.model_files import COLUMNS

    with tempfile.TemporaryDirectory(prefix="overlaybench-") as folder:
        model = Path(folder, f"model{output.suffix}")
        quickly = {"start": "none"} if "start" in known else {}
        result = method.run(instance, problem, **{**quickly, **options, "model_file": model})
        if not model.exists():
            raise BadInput(f"model: none was written: {result.reason or 'the instance leaves nothing to decide'}")
        for ending in (COLUMNS, ""):
            atomic_write(output.with_name(output.name + ending), partial(shutil.copyfile, f"{model}{ending}"))
