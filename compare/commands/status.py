"""``overlaybench status``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..studies.progress import clock, saved
from ..studies.store import Store
from .inputs import FILE

if TYPE_CHECKING:
    import pandas as pd


@click.command("status")
@click.argument("folder", type=FILE)
def command(folder: Path) -> None:
    """Show how far the study in FOLDER is, also while it runs: by status, by method, and the time to go."""
    click.echo(status(folder))


def status(folder: Path) -> str:
    """The study, how many of its runs are done, their statuses and methods, and whether it is running."""
    store = Store.existing(folder)
    plan = store.plan()
    table = store.table(plan.keys, ["method", "status", "started", "seconds"]).to_pandas()
    statuses = Counter(table["status"])
    total, done = len(plan.keys), len(table)
    to_go, planned = saved(folder)
    if store.is_locked() and not total:
        return f"{plan.name}: running, its instances are being generated"
    if store.is_locked():
        state, left = "running", f", {to_go}" if to_go and done < total else ""
    elif done < total:
        state, left = "stopped: the same study command resumes it", f" ({to_go} when it stopped)" if to_go else ""
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
    seconds = table.groupby("method")["seconds"].mean()
    names = sorted({*counts, *planned})
    wide = max([len(name) for name in names], default=0)
    if names:
        yield f"{'':{wide}}     done   failed{'     left' if planned else ''}  mean time"
    for name in names:
        left = f" {max(0, planned.get(name, 0) - counts[name]):8}" if planned else ""
        yield f"{name:{wide}} {counts[name]:8} {failed[name]:8}{left} {_duration(seconds.get(name, nan)):>10}"


def _duration(seconds: float) -> str:
    if not seconds >= 0:
        return "–"
    return clock(seconds) if seconds >= 60 else f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"
