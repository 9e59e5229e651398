"""Plots that a user chooses for the report: a measure against what was varied."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from ...instances.contract.errors import BadInput, unknown
from .toml_tables import check_keys, located, typed


class Measure(NamedTuple):
    """What is measured of a run.

    Attributes
    ----------
    column : str
        Of the runs with their bounds (`judged_runs`).
    title : str
        With the unit.
    unit : float
        What the column is divided by.
    """

    column: str
    title: str
    unit: float = 1.0


MEASURES = {
    "ratio": Measure("ratio", "value ÷ best bound"),
    "value": Measure("value", "value"),
    "time": Measure("seconds", "time (s)"),
    "degree": Measure("max_degree", "maximum degree"),
    "gap": Measure("gap", "gap"),
    "memory": Measure("peak_memory", "memory (MiB)", 2.0**20),
}
"""By their names in study.toml."""


@dataclass(frozen=True)
class Plot:
    """What a plot shows.

    Attributes
    ----------
    x : str
        A workload's parameter or an option of a method, by its name in study.toml, or a size of the instances.
    y : str
        One of `MEASURES`.
    group : str
        The column whose values are the curves.
    """

    x: str
    y: str = "ratio"
    group: str = "variant"

    @property
    def name(self) -> str:
        """The stem of its files: ``ratio-against-nodes``."""
        grouped = "" if self.group == "variant" else f"-by-{self.group}"
        return re.sub(r"[^\w-]", "-", f"{self.y}-against-{self.x}{grouped}")


def read_plots(study: Mapping[str, Any]) -> tuple[Plot, ...]:
    """The plots that the ``[report]`` table of a study chooses: ``plots = [{ x = "nodes", y = "time" }]``.

    Raises
    ------
    BadInput
        Names the plot and what is wrong with it. Whether the study varies `x` only its results tell.
    """
    with located("report"):
        report = typed(study, "report", dict, {})
        check_keys(report, ("plots",))
        plots = typed(report, "plots", list, [])
    read = []
    for number, plot in enumerate(plots, start=1):
        with located(f"report.plots[{number}]"):
            read.append(plot_of(plot))
    return tuple(dict.fromkeys(read))


def plots_of(spec: str) -> tuple[Plot, ...]:
    """The plots chosen in a stored study's text, which was checked when the study was read."""
    return read_plots(tomllib.loads(spec))


def plot_of(table: object) -> Plot:
    """The plot of a table such as ``{"x": "nodes", "y": "time"}``; bad input if it is none."""
    names = [field.name for field in fields(Plot)]
    if not isinstance(table, dict) or "x" not in table:
        raise BadInput(f'a plot is {{ x = "nodes", y = "ratio", group = "variant" }}, x at least, not {table!r}')
    check_keys(table, names)
    plot = Plot(**{name: typed(table, name, str, "") for name in table})
    if plot.y not in MEASURES:
        raise unknown("measure", plot.y, MEASURES)
    return plot
