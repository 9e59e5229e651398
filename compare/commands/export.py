"""The command ``export``: instances and answers in the formats of other programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ...instances.contract.errors import BadInput
from ...instances.contract.files import write_json
from ..catalogue import kind_named
from .options import FILE, PROBLEM_OF_KIND, SEED, column_options, load_instance, problem_asked

_WHAT = ("instance", "answer", "gossipsub")


@click.command("export")
@click.argument("what", type=click.Choice(_WHAT))
@click.argument("file", type=FILE)
@click.argument("answer", type=FILE, required=False)
@click.option("-o", "--output", required=True, type=FILE, help="Its ending is the format; JSON for gossipsub.")
@PROBLEM_OF_KIND
@click.option("--mesh", type=click.IntRange(min=1), help="gossipsub: a random mesh of so many connections, no ANSWER.")
@click.option("--messages", default=0, show_default=True, type=click.IntRange(0, 100_000), help="gossipsub: published.")
@click.option("--bytes", "size", default=1024, show_default=True, type=click.IntRange(1, 2**27), help="Of a message.")
@SEED
@column_options
def export(what: str, file: Path, answer: Path | None, output: Path, columns: Mapping[str, str], **given: Any) -> None:
    """Write the instance in FILE or an ANSWER to it for other programs.

    \b
    instance   FILE in another format: .json, .hif.json, .sets, .csv, .tsv, .parquet
    answer     ANSWER in another format: .json, .graphml, .dot
    gossipsub  an overlay (or a random --mesh) as a script of libp2p's interoperability tests
    """  # noqa: D301
    judge = problem_asked(file, given["problem"])
    kind, instance = kind_named(judge.kind), load_instance(file, judge, columns)
    mesh, seed = given["mesh"], given["seed"]
    if mesh is not None and what != "gossipsub":
        raise BadInput(f"--mesh is for gossipsub, not for {what}: leave it out")
    if (answer is not None) + (mesh is not None) != (what != "instance"):
        needs = {"instance": "no ANSWER", "answer": "an ANSWER", "gossipsub": "an ANSWER or --mesh"}[what]
        raise BadInput(f"export {what} takes {needs}: correct the command")
    if what == "instance":
        kind.write(instance, output)
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
