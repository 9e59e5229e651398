"""The style of every figure: a colour and a marker for each method, and files that are equal byte for byte."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from itertools import cycle
from typing import Any, Literal

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator
from numpy.typing import ArrayLike

from ..catalogue import METHODS

Dashes = Literal["-", "--", ":", "-."]
_DASHES: tuple[Dashes, ...] = ("-", "--", ":", "-.")
# Of methods that name none. All colours are Okabe and Ito's or Tol's: they differ under every common colour blindness.
_FREE_LOOKS = (("#117733", "p"), ("#AA4499", "d"), ("#999933", "8"))
TOPIC_COLOURS = ("#CC6677", "#332288", "#DDCC77", "#117733", "#88CCEE", "#882255", "#44AA99", "#AA4499")
OTHER_TOPICS = "#BBBBBB"
INK, QUIET = "#222222", "#767676"
_RC: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 7.0,
    "axes.titlesize": 7.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 7.0,
    "axes.linewidth": 0.6,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.5,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "overlaybench",
    "pdf.fonttype": 42,
}
_PANEL_WIDTH, _PANEL_HEIGHT, _COLUMNS = 2.6, 2.15, 3


@dataclass(frozen=True)
class Drawing:
    """A figure as part of a page and as files.

    Attributes
    ----------
    name : str
        The stem of its file names.
    caption : str
        What the figure shows, in full sentences.
    svg : str
        One ``<svg>`` element. Its identifiers start with the name, so that several figures can share a page.
    svg_file, pdf_file : bytes
        The contents of its files.
    anchors : tuple of str
        The runs that the caption links to.
    """

    name: str
    caption: str
    svg: str
    svg_file: bytes
    pdf_file: bytes
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Style:
    """Colour, marker and line style of a method's variant."""

    colour: str
    marker: str
    dashes: Dashes


@contextmanager
def styled() -> Iterator[None]:
    """A context with the settings of every figure, independent of the user's matplotlib settings."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_RC)
        yield


def method_styles(runs: pd.DataFrame) -> dict[str, Style]:
    """The style of each label: colour and marker are the method's, and its variants have shades of the colour.

    Parameters
    ----------
    runs : DataFrame
        With the columns method, label and exact.

    Returns
    -------
    dict
        Heuristics first, then exact methods.
    """
    pairs = runs[["exact", "method", "label"]].drop_duplicates("label").sort_values(["exact", "method", "label"])
    free = cycle(_FREE_LOOKS)
    looks = {method: _own_look(method) or next(free) for method in pairs["method"].unique()}
    styles = {}
    for method, group in pairs.groupby("method", sort=False):
        colour, marker = looks[method]
        for rank, label in enumerate(group["label"]):
            share = 0.6 * rank / max(len(group) - 1, 1)
            red, green, blue = ((1 - share) * part + share for part in to_rgb(colour))
            styles[label] = Style(to_hex((red, green, blue)), marker, _DASHES[rank % len(_DASHES)])
    return styles


def _own_look(method: str) -> tuple[str, str] | None:
    """The colour and the marker that a method names, if it names any."""
    known = METHODS.get(method)
    return (known.colour, known.marker) if known is not None and known.colour else None


def panels(count: int, legend: Sequence[Line2D]) -> tuple[Figure, list[Axes]]:
    """A figure with `count` axes in a grid. A short legend fills an empty cell of the grid; otherwise it is below."""
    columns = min(count, _COLUMNS)
    lines = -(-count // columns)
    width = max(_PANEL_WIDTH * columns, 3.6)
    entries = max(1, int(width / 1.45))
    spare = lines * columns - count
    below = 0.0 if spare and len(legend) <= 12 else 0.16 * -(-len(legend) // entries) + 0.15
    figure = Figure(figsize=(width, _PANEL_HEIGHT * lines + below), layout="constrained")
    axes = [figure.add_subplot(lines, columns, cell) for cell in range(1, count + 1)]
    if below:
        figure.legend(handles=list(legend), loc="outside lower center", ncols=entries, handletextpad=0.4)
    else:
        cell = figure.add_subplot(lines, columns, count + 1)
        cell.set_axis_off()
        box = cell.legend(handles=list(legend), loc="center left", handletextpad=0.4, borderaxespad=0)
        box.set_in_layout(False)  # a long name would make every panel narrower
    return figure, axes


def curve_legend(styles: Mapping[str, Style]) -> list[Line2D]:
    """The legend entries of `curve`."""
    return [
        Line2D([], [], color=style.colour, marker=style.marker, markersize=4, linestyle=style.dashes, label=label)
        for label, style in styles.items()
    ]


def curve(axes: Axes, x: ArrayLike, y: ArrayLike, errors: ArrayLike, style: Style) -> None:
    """A line through points with error bars; `errors` as for matplotlib's errorbar."""
    axes.errorbar(
        x,
        y,
        yerr=errors,
        color=style.colour,
        marker=style.marker,
        markersize=3,
        linewidth=0.8,
        linestyle=style.dashes,
        capsize=2,
        elinewidth=0.6,
    )


def ratio_axis(axes: Axes, highest: float, *, along: str) -> None:
    """Set up the axis ``x`` or ``y`` for ratios from 1 to `highest`: logarithmic, with plain numbers as ticks."""
    margin = max(highest, 1.02) ** 0.06
    limits = (1 / margin, max(highest, 1.02) * margin)
    steps = [base * 10**power for power in range(6) for base in (1, 1.5, 2, 3, 5, 7)]
    ticks = [tick for tick in steps if tick <= limits[1]]
    if len(ticks) < 4:
        step = next(s for s in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5) if (limits[1] - 1) / s < 6)
        ticks = [1 + step * rank for rank in range(7) if 1 + step * rank <= limits[1]]
    axis = axes.xaxis if along == "x" else axes.yaxis
    (axes.set_xscale if along == "x" else axes.set_yscale)("log")
    (axes.set_xlim if along == "x" else axes.set_ylim)(limits)
    plain_ticks(axis, ticks[:: -(-len(ticks) // 8)])


def plain_ticks(axis: Any, ticks: Sequence[float], texts: Sequence[str] | None = None) -> None:
    """Set exactly these ticks, labelled by their numbers or by `texts`."""
    axis.set_major_locator(FixedLocator(list(ticks)))
    axis.set_major_formatter(FixedFormatter(list(texts or [f"{tick:,.6g}" for tick in ticks])))
    axis.set_minor_locator(NullLocator())


def drawing(
    figure: Figure, name: str, caption: str, titles: Mapping[str, str] | None = None, anchors: Sequence[str] = ()
) -> Drawing:
    """Render a figure as SVG and PDF; without dates, so that equal figures are equal bytes.

    Parameters
    ----------
    titles : mapping, optional
        The tooltip of each anchor (``run-17``) that the figure links to.
    anchors : sequence of str
        See `Drawing`.
    """
    buffer = io.BytesIO()
    figure.savefig(buffer, format="pdf", metadata={"CreationDate": None, "ModDate": None, "Producer": None})
    pdf = buffer.getvalue()
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue().decode()
    element = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    alone = re.sub(r'(xlink:href="#run-[0-9]+")', "", element)
    return Drawing(name, caption, _for_page(element, name, titles or {}), _file(alone), pdf, tuple(anchors))


def _for_page(element: str, name: str, titles: Mapping[str, str]) -> str:
    own = set(re.findall(r'\bid="([^"]+)"', element))

    def prefixed(match: re.Match[str]) -> str:
        before, identifier = match.groups()
        return f"{before}{name}-{identifier}" if identifier in own else match.group()

    element = re.sub(r'(\bid="|href="#|url\(#)([^")]+)', prefixed, element)
    element = re.sub(
        r'<a xlink:href="#(run-[0-9]+)"[^>]*>',
        lambda match: f'<a href="#{match[1]}"><title>{escape(titles.get(match[1], match[1]))}</title>',
        element,
    )
    # As wide as the page, but not so wide that a single panel looks enlarged.
    element = re.sub(
        r'^<svg ([^>]*?)width="([\d.]+)pt" height="[^"]*"',
        lambda match: f'<svg {match[1]}style="max-width: {2 * float(match[2]):.0f}px"',
        element,
    )
    return re.sub(r' (xmlns(:\w+)?|version)="[^"]*"', "", element.replace("xlink:href", "href")).strip()


def _file(element: str) -> bytes:
    return ('<?xml version="1.0" encoding="utf-8"?>\n' + element).encode()
