"""``overlaybench generate``."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from ...instances.contract.catalogue import WORKLOADS
from ...instances.contract.errors import BadInput
from ..catalogue import kind_named, workload_named
from ..studies.processes import memory_bounded
from .inputs import FILE
from .names import WORKLOAD
from .on_cluster import generate as generate_on_cluster


class _Generate(click.Command):
    """Completes the parameters of the workload, too."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        workload = WORKLOADS.get(ctx.params.get("workload") or "")
        flags = {f"--{one.name.replace('_', '-')}": one.summary for one in workload.parameters} if workload else {}
        found = [CompletionItem(flag, help=text) for flag, text in flags.items() if flag.startswith(incomplete or "?")]
        return [*found, *super().shell_complete(ctx, incomplete)]


@click.command("generate", cls=_Generate, context_settings={"ignore_unknown_options": True})
@click.argument("workload", type=WORKLOAD)
@click.argument("parameters", nargs=-1, type=click.UNPROCESSED)
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same instance.")
@click.option("--master", help="Spark master that draws the nodes and writes a folder of Parquet files.")
@click.option("-o", "--output", required=True, type=FILE, help="A .json, .csv, .tsv or .parquet file.")
def command(workload: str, parameters: tuple[str, ...], seed: int, master: str | None, output: Path) -> None:
    """Write an instance of a WORKLOAD; its parameters are --nodes N --topics T ... (`overlaybench list workloads`)."""
    chosen = workload_named(workload)
    if master is not None:
        written = generate_on_cluster(master, chosen, output, seed=seed, parameters=_named_values(parameters))
        click.echo(f"{output}: {written}", err=True)
        return
    with memory_bounded(f"the instance of workload '{workload}'"):
        instance = chosen.generate(seed=seed, **_named_values(parameters))
    kind_named(chosen.kind).write(instance, output)
    click.echo(f"{output}: {instance!r}", err=True)


def _named_values(words: tuple[str, ...]) -> dict[str, object]:
    """The parameters in ``--nodes 20 --top-decile=0.6``; anything else is bad input."""
    given: dict[str, object] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if not name.startswith("--") or not (equals or rest):
            raise BadInput(f"'{word}': parameters are given as --name value")
        given[name[2:].replace("-", "_")] = value if equals else rest.pop(0)
    return given
