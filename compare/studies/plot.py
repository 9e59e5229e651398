"""A plot that a user chooses for the report: a measure against what was varied."""

from __future__ import annotations

from dataclasses import dataclass

MEASURES = ("ratio", "value", "time", "degree", "gap", "memory")


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
