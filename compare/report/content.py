"""The part of a report about content-based overlays (P4)."""

from __future__ import annotations

import pandas as pd

from ...instances.content.files import CONTENT
from ..figures.charts import content_charts
from . import cells
from .cells import Cell, Column, Table
from .content_tables import content_runs, reduction_table, routing_table
from .part import Keep, Part, plain_table


def content_part(rows: pd.DataFrame, keep: Keep) -> Part | None:
    """The part, or None if the study has no content runs.

    Parameters
    ----------
    rows : DataFrame
        The runs of the kind ``content`` (`judged_runs`).
    keep : callable
        See `Keep`.
    """
    if rows.empty:
        return None
    runs = content_runs(rows)
    reductions = reduction_table(runs)
    return Part(CONTENT.name, "Content-based overlays", _tables(runs, reductions, keep), content_charts(reductions))


def _tables(runs: pd.DataFrame, reductions: pd.DataFrame, keep: Keep) -> list[tuple[str, str, Table]]:
    routings = routing_table(runs)
    found = [
        (
            "Cost reduction ratio",
            "The cost of random assignment ÷ the method's on the same instance (Zhao and Wu 2011, P4, §VI.B): mean "
            "over instances with its 95% confidence interval.",
            _reductions(reductions, keep("content-cost-reduction", reductions)),
        ),
        (
            "Cost of a routing for equal assignments",
            "Core cost and total cost ÷ those of mst, over assignments that a method gave for both.",
            plain_table(
                routings,
                keep("content-routings", routings),
                dict.fromkeys(("core", "smallest", "largest", "total"), cells.ratio),
            ),
        ),
    ]
    return [(title, sentence, table) for title, sentence, table in found if table.lines]


def _reductions(reductions: pd.DataFrame, name: str) -> Table:
    columns = (
        *(Column("problem", number=False), Column("family", number=False), Column("users"), Column("brokers")),
        *(Column("channels"), Column("access ÷ core price"), Column("method", number=False), Column("instances")),
        *(Column("cost reduction"), Column("95% interval"), Column("mean time")),
    )
    lines = []
    for line in reductions.itertuples():
        texts = (
            *(line.problem, line.family, f"{line.users:,.0f}", f"{line.brokers:,.0f}", f"{line.channels:,.0f}"),
            *(cells.number(line.access_to_core), line.variant, f"{line.instances:,}", cells.ratio(line.crr)),
            *(f"{cells.ratio(line.low)} to {cells.ratio(line.high)}" if line.instances > 1 else "–",),
            cells.seconds(line.seconds),
        )
        lines.append([Cell(text) for text in texts])
    return Table(name, columns, lines)
