"""Scatter plots over instance sizes: the methods side by side at each size, each dot a link to its run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes

from .style import Style, plain_ticks

_EVENLY = 10
_DOTS = 9.0


class SizeAxis:
    """A horizontal axis of sizes: evenly spaced if they are few, otherwise on a logarithmic scale.

    Parameters
    ----------
    axes : Axes
    sizes : float array
        Positive; order and repetitions do not matter.
    """

    def __init__(self, axes: Axes, sizes: npt.NDArray[np.float64]) -> None:
        self._sizes = np.unique(sizes)
        self._even = len(self._sizes) <= _EVENLY
        positions = self._positions(self._sizes)
        self.spacing = 1.0 if self._even else max(float(np.median(np.diff(positions))), float(np.ptp(positions)) / 40)
        margin = 0.6 * self.spacing if self._even else max(0.6 * self.spacing, 0.04 * float(np.ptp(positions)))
        axes.set_xlim(positions[0] - margin, positions[-1] + margin)
        shown = np.arange(len(positions)) if self._even else spaced(positions)
        plain_ticks(axes.xaxis, positions[shown].tolist(), [f"{size:,g}" for size in self._sizes[shown]])
        for edge in positions[1:] - 0.5 if self._even else ():
            axes.axvline(edge, color="#EEEEEE", linewidth=0.5, zorder=0)

    def _positions(self, sizes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        positions = np.searchsorted(self._sizes, sizes) if self._even else np.log(sizes)
        return positions.astype(np.float64)

    def column(self, sizes: npt.NDArray[np.float64], number: int, columns: int) -> npt.NDArray[np.float64]:
        """The x coordinates of these sizes in the `number`-th of `columns` columns side by side."""
        return self._positions(sizes) + (number - (columns - 1) / 2) / columns * 0.86 * self.spacing


def spaced(positions: npt.NDArray[np.float64], most: int = 7) -> npt.NDArray[np.intp]:
    """The indices of at most `most` positions, spread evenly."""
    wanted = np.linspace(positions[0], positions[-1], most)
    return np.unique(np.abs(positions[:, None] - wanted).argmin(axis=0))


def scatter(
    axes: Axes, here: pd.DataFrame, column: str, styles: Mapping[str, Style], filled: pd.Series[bool], *, log: bool
) -> None:
    """Draw the dots of one panel and a short bar at each method's mean for a size (`log`: its geometric mean).

    Parameters
    ----------
    here : DataFrame
        Runs with nodes, label, anchor and `column`.
    filled : Series of bool
        Which dots are filled; same index.
    """
    labels = [label for label in styles if label in set(here["label"])]
    along = SizeAxis(axes, here["nodes"].to_numpy(dtype=np.float64))
    half = 0.36 * along.spacing / len(labels)
    for number, label in enumerate(labels):
        style, mine = styles[label], here["label"] == label
        for full in (True, False):
            dots = here[mine & (filled == full)]
            axes.scatter(
                along.column(dots["nodes"].to_numpy(), number, len(labels)),
                dots[column],
                s=_DOTS,
                marker=style.marker,
                facecolors=style.colour if full else "white",
                edgecolors=style.colour,
                linewidths=0.3 if full else 0.6,
                alpha=0.7 if full else 1.0,
                urls=[f"#{anchor}" for anchor in dots["anchor"]],
                zorder=3,
            )
        grouped = here[mine].groupby("nodes")[column]
        means = (grouped.agg(_geometric_mean) if log else grouped.mean())[grouped.size() > 1]
        at = along.column(means.index.to_numpy(), number, len(labels))
        axes.hlines(means, at - half, at + half, color=style.colour, linewidth=1.2, zorder=4)


def _geometric_mean(numbers: pd.Series[float]) -> float:
    return float(np.exp(np.log(numbers).mean()))
