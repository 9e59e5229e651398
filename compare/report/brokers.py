"""The part of a report that shows soft links over broker trees (P5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from ...instances.brokers.kind import BROKERS
from ..figures.brokers import broker_drawings
from . import cells
from .broker_tables import broker_runs, loss_table, optimum_table, queue_table, strategy_table
from .cells import Table
from .part import Keep, Part, plain_table


def broker_part(rows: pd.DataFrame, keep: Keep) -> Part | None:
    """The part, or None where the study has no runs on broker networks; parameters as of `content_part`."""
    if rows.empty:
        return None
    runs = broker_runs(rows)
    tables = [
        (title, sentence, _table(own, keep(f"brokers-{name}", own)))
        for name, title, sentence, own in (
            (
                "optima",
                "How far from the best",
                "Messages ÷ the best lower bound that a run proved, on instances on which an exact method ran: over "
                "all soft links that fanout and Δ allow, and all ways over them. Saved: of the messages that S0 sends "
                "above the bound, the share done without.",
                optimum_table(runs),
            ),
            (
                "losses",
                "Where the rest is lost",
                "A strategy's messages ÷ the fewest over the same links is lost in forwarding; these ÷ the bound is "
                "lost by the links that the gains chose.",
                loss_table(runs),
            ),
            (
                "strategies",
                "What each strategy saves",
                "Yield: deliveries ÷ messages. Fewer forwarders: pure forwarders saved, of those of S0. Means over "
                "instances.",
                strategy_table(runs),
            ),
            (
                "queues",
                "With queues",
                "What was delivered before the last publication, of all; a simulation with service times and uplink "
                "caps.",
                queue_table(runs),
            ),
        )
    ]
    shown = [(title, sentence, table) for title, sentence, table in tables if table.lines]
    return Part(BROKERS.name, "Soft links over broker trees", shown, broker_drawings(runs))


def _count(value: float) -> str:
    return cells.number(value, ",.0f")


_WRITTEN: Mapping[str, Callable[[float], str]] = {
    **dict.fromkeys(("mean", "worst", "forwarding", "gain", "both"), cells.ratio),
    **dict.fromkeys(("saved", "yield", "fewer forwarders", "delivered"), cells.percentage),
    **dict.fromkeys(("brokers", "fanout", "rate", "uplink", "instances", "proven", "reached", "longest queue"), _count),
    **dict.fromkeys(("messages", "soft_links"), _count),
    **dict.fromkeys(("hops", "delay ms"), lambda value: cells.number(value, ",.2f")),
    "seconds": cells.seconds,
}


def _table(table: pd.DataFrame, name: str) -> Table:
    return plain_table(table, name, _WRITTEN)
