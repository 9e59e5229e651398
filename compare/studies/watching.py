"""How a study stands, told from its folder while it runs elsewhere or has stopped."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from .store import Store


def status(folder: Path) -> str:
    """A few lines: the study, how many of its runs are done, how they ended, and whether it is running."""
    store = Store.existing(folder)
    plan = store.plan()
    table = store.table(plan.keys, ["status", "started", "seconds"])
    ends = Counter(table["status"].to_pylist())
    total, done = len(plan.keys), len(table)
    running = store.is_locked()
    if running:
        stands = "running"
    elif done < total:
        stands = "stopped: the same study command goes on with it"
    else:
        stands = "finished"
    lines = [f"{plan.name}: {stands}", f"{done} of {total} runs done, {total - done} left"]
    lines += [f"  {count} {name}" for name, count in sorted(ends.items())]
    if done:
        lines.append(
            f"{sum(table['seconds'].to_pylist()):.1f} s of solving; last started {max(table['started'].to_pylist())}"
        )
    if store.damaged.is_dir():
        lines.append(f"{len(list(store.damaged.iterdir()))} damaged files were put aside in {store.damaged}")
    return "\n".join(lines)
