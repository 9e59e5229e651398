"""The command ``export``: instances and answers in the formats of other programs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write, write_json
from ...instances.contract.problem import Problem
from ..catalogue import kind_named, method_named
from .options import FILE, OPTIONS, PROBLEM_OF_KIND, SEED, column_options, key_values, load_instance, problem_asked

MODEL_FORMATS = (".mps", ".lp", ".opb")
_WHAT = ("instance", "answer", "model", "gossipsub")


@click.command("export")
@click.argument("what", type=click.Choice(_WHAT))
@click.argument("file", type=FILE)
@click.argument("answer", type=FILE, required=False)
@click.option("-o", "--output", required=True, type=FILE, help="Its ending is the format; JSON for gossipsub.")
@PROBLEM_OF_KIND
@click.option("--mesh", type=click.IntRange(min=1), help="gossipsub: a random mesh of so many connections, no ANSWER.")
@click.option("--messages", default=0, show_default=True, type=click.IntRange(0, 100_000), help="gossipsub: published.")
@click.option("--bytes", "size", default=1024, show_default=True, type=click.IntRange(1, 2**27), help="Of a message.")
@OPTIONS
@SEED
@column_options
def export(what: str, file: Path, answer: Path | None, output: Path, columns: Mapping[str, str], **given: Any) -> None:
    """Write the instance in FILE or an ANSWER to it for other programs.

    \b
    instance   FILE in another format: .json, .hif.json, .sets, .csv, .tsv, .parquet
    answer     ANSWER in another format: .json, .graphml, .dot
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
    known = method.complete(options, problem.name)
    if "model_file" not in method.answering(problem.name).inputs:
        raise BadInput(f"model: ilp solves no single model of {problem.name}: see `overlaybench list ilp`")
    with TemporaryDirectory(prefix="overlaybench-") as folder:
        model = Path(folder, f"model{output.suffix}")
        quickly = {"start": "none"} if "start" in known else {}
        result = method.run(instance, problem, **{**quickly, **options, "model_file": model})
        if not model.exists():
            raise BadInput(f"model: none was written: {result.reason or 'the instance leaves nothing to decide'}")
        atomic_write(output, partial(shutil.copyfile, model))
