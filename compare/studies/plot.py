"""Plots that a user chooses for the report: a measure against what was varied."""

from __future__ import annotations

import math
import re
import tomllib
from typing import NamedTuple

import msgspec

from ...instances.contract.errors import BadInput, unknown
from .toml_tables import checked


class Measure(NamedTuple):
    """What is measured of a run: a column of `judged_runs` divided by the unit, a title with the unit, the least."""

    column: str
    title: str
    unit: float = 1.0
    least: float = 0.0


MEASURES = {
    "ratio": Measure("ratio", "value ÷ best bound", least=1.0),
    "value": Measure("value", "value", least=-math.inf),
    "time": Measure("seconds", "time (s)"),
    "degree": Measure("max_degree", "maximum degree"),
    "gap": Measure("gap", "gap"),
    "memory": Measure("peak_memory", "memory (MiB)", 2.0**20),
}
"""By their names in study.toml."""


class Plot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a plot shows; a study file has it as a table ``{ x = "nodes", y = "time" }``.

    `x` is a workload's parameter or an option of a method, by its name in study.toml, or a size of the instances; `y`
    is one of `MEASURES`, and `group` the column whose values are the curves.
    """

    x: str
    y: str = "ratio"
    group: str = "variant"

    def __post_init__(self) -> None:
        if self.y not in MEASURES:
            raise unknown("measure", self.y, MEASURES)

    @property
    def name(self) -> str:
        """The stem of its files: ``ratio-against-nodes``."""
        grouped = "" if self.group == "variant" else f"-by-{self.group}"
        return re.sub(r"[^\w-]", "-", f"{self.y}-against-{self.x}{grouped}")


class Report(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table ``[report]`` of a study file: the plots that it chooses, and what methods and others are called."""

    plots: list[Plot] = []
    names: dict[str, str] = {}


def report_of(spec: str) -> Report:
    """The table ``[report]`` of a stored study's text, which was checked when the study was read."""
    return checked(tomllib.loads(spec).get("report", {}), Report)


def plot_of(table: object) -> Plot:
    """The plot of a table such as ``{"x": "nodes", "y": "time"}``; bad input if it is none."""
    if not isinstance(table, dict) or "x" not in table:
        raise BadInput(f'a plot is {{ x = "nodes", y = "ratio", group = "variant" }}, x at least, not {table!r}')
    return checked(table, Plot)
