"""Descriptions of a paper's figure or table, by which runs of its grid are compared with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper.

    Attributes
    ----------
    x : (str, str)
        Column and its label.
    panels : tuple of (str, str)
        Column and label of each panel's y axis.
    lines : tuple of str
        The columns that distinguish the lines.
    flat : tuple of str
        Methods that do not depend on x, drawn as horizontal lines.
    bound : str
        The problem whose proven lower bound the first panel shows; "" for none.
    published : str
        The published result, in a line.
    measured : callable, optional
        Adds columns to the rows of the runs that need the instances generated again.
    """

    x: tuple[str, str]
    panels: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]
    flat: tuple[str, ...] = ()
    bound: str = ""
    published: str = ""
    measured: Callable[[pd.DataFrame], pd.DataFrame] | None = None


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper: its numbers by name from the rows of our runs, and the published ones where legible."""

    means: Callable[[pd.DataFrame], Mapping[str, float]]
    published: Mapping[str, float]
