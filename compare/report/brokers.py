"""The part of a report about soft links over broker trees (P5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from ...instances.brokers.files import BROKERS
from ..figures.charts import broker_charts, system_charts
from . import cells
from .broker_tables import (
    broker_runs,
    loss_table,
    optimum_table,
    queue_table,
    strategy_table,
    system_series,
    system_table,
)
from .cells import Table
from .part import Keep, Part, plain_table


def broker_part(rows: pd.DataFrame, keep: Keep) -> Part | None:
    """The part, or None if the study has no runs on broker networks; parameters as for `content_part`."""
    if rows.empty:
        return None
    runs = broker_runs(rows)
    tables = [
        (title, sentence, _table(own, keep(f"brokers-{name}", own)))
        for name, title, sentence, own in (
            (
                "optima",
                "Distance from the optimum",
                "Messages ÷ the best proven lower bound, on instances with a run of an exact method. The bound covers "
                "all soft links that fanout and Δ allow, and all routes over them. Saved: the reduction, as a share of "
                "the messages that S0 (the tree alone) sends above the bound. S0, S1, S2 and SH are the strategies of "
                "Kazemzadeh and Jacobsen 2012 (P5).",
                optimum_table(runs),
            ),
            (
                "losses",
                "Causes of the distance",
                "Forwarding: a strategy's messages ÷ the fewest over the same soft links. Gain: the fewest over these "
                "links ÷ the bound, which is due to the choice of links. Both: the product.",
                loss_table(runs),
            ),
            (
                "strategies",
                "Savings of each strategy",
                "Yield (P5, Table 2): deliveries ÷ messages. Fewer forwarders: the reduction of pure forwarders "
                "against S0. Means over instances.",
                strategy_table(runs),
            ),
            (
                "queues",
                "With queues",
                "The share of all deliveries that arrive before the last publication, in a simulation with service "
                "times and uplink caps.",
                queue_table(runs),
            ),
            (
                "system",
                "As a system",
                "Brokers that know only what messages brought them (simulate=system): yield of all messages until the "
                "last publication, and of those in the second half of that time; the share of control messages in all "
                "bytes; copies that met a crashed neighbour; publications lost by brokers that crashed for good.",
                system_table(runs),
            ),
        )
    ]
    shown = [(title, sentence, table) for title, sentence, table in tables if table.lines]
    drawn = [*broker_charts(runs), *system_charts(system_series(runs.assign(label=runs["variant"])))]
    return Part(BROKERS.name, "Soft links over broker trees", shown, drawn)


def _count(value: float) -> str:
    return cells.number(value, ",.0f")


_WRITTEN: Mapping[str, Callable[[float], str]] = {
    **dict.fromkeys(("mean", "worst", "forwarding", "gain", "both"), cells.ratio),
    **dict.fromkeys(("saved", "yield", "late yield", "fewer forwarders", "delivered", "control"), cells.percentage),
    **dict.fromkeys(("bypassed", "lost"), _count),
    **dict.fromkeys(("brokers", "fanout", "rate", "uplink", "instances", "proven", "reached", "longest queue"), _count),
    **dict.fromkeys(("messages", "soft_links"), _count),
    **dict.fromkeys(("hops", "delay ms"), lambda value: cells.number(value, ",.2f")),
    "seconds": cells.seconds,
}


def _table(table: pd.DataFrame, name: str) -> Table:
    return plain_table(table, name, _WRITTEN)
