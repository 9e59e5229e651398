"""What it takes to put a paper's figure, or its table, beside runs of its grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class PaperFigure:
    """How to draw a grid.

    Attributes
    ----------
    x : (str, str)
        Column and its label.
    panels : tuple of (str, str)
        The same for each panel's y axis.
    lines : tuple of str
        The columns that tell lines apart.
    flat : tuple of str
        Methods that do not depend on x: drawn over the whole width.
    bound : str
        The problem whose proven lower bound is drawn too, in the first panel; "" for none.
    published : str
        What the paper prints, in a line.
    measured : callable, optional
        From the rows of the runs to rows that have columns which take making the instances again.
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
    """The figures of a table by name, from the rows of its runs, and the published ones where there are any."""

    means: Callable[[pd.DataFrame], Mapping[str, float]]
    published: Mapping[str, float]
