"""``overlaybench status``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from ..studies.store import Store
from .inputs import FILE


@click.command("status")
@click.argument("folder", type=FILE)
def command(folder: Path) -> None:
    """Show how far the study in FOLDER is, also while it runs."""
    click.echo(status(folder))


def status(folder: Path) -> str:
    """A few lines: the study, how many of its runs are done, their statuses, and whether it is running."""
    store = Store.existing(folder)
    plan = store.plan()
    table = store.table(plan.keys, ["status", "started", "seconds"])
    statuses = Counter(table["status"].to_pylist())
    total, done = len(plan.keys), len(table)
    if store.is_locked():
        state = "running"
    elif done < total:
        state = "stopped: the same study command resumes it"
    else:
        state = "finished"
    lines = [f"{plan.name}: {state}", f"{done} of {total} runs done, {total - done} left"]
    lines += [f"  {count} {name}" for name, count in sorted(statuses.items())]
    if done:
        seconds, last = sum(table["seconds"].to_pylist()), max(table["started"].to_pylist())
        lines.append(f"{seconds:.1f} s of solving; last started {last}")
    if store.damaged.is_dir():
        lines.append(f"{len(list(store.damaged.iterdir()))} damaged files were moved to {store.damaged}")
    return "\n".join(lines)
