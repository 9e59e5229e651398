"""How every figure looks: one colour and one marker a method, and files that are the same byte for byte."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator
from numpy.typing import ArrayLike

Dashes = Literal["-", "--", ":", "-."]
# Okabe and Ito's colours, told apart with every common colour blindness; the markers differ too.
_METHODS: Mapping[str, tuple[str, str]] = {
    "gm": ("#0072B2", "o"),
    "gm-m": ("#332288", "h"),
    "ring-per-topic": ("#8C8C8C", "X"),
    "minmax-oda": ("#E69F00", "s"),
    "low-oda": ("#009E73", "^"),
    "cd-oda": ("#D55E00", "v"),
    "cd-oda-1": ("#CC79A7", "<"),
    "cd-oda-2": ("#882255", ">"),
    "2d-oda": ("#56B4E9", "D"),
    "ilp": ("#000000", "P"),
    "cp-sat": ("#6B5B00", "*"),
    "random-assignment": ("#8C8C8C", "X"),
    "greedy-packing": ("#E69F00", "s"),
    "clustering": ("#009E73", "^"),
    "steiner-mixing": ("#0072B2", "o"),
    "migration": ("#D55E00", "D"),
    "s0": ("#8C8C8C", "X"),
    "s1": ("#E69F00", "s"),
    "s2": ("#0072B2", "o"),
    "sh": ("#009E73", "^"),
    "least-messages": ("#CC79A7", "v"),
}
_DASHES: tuple[Dashes, ...] = ("-", "--", ":", "-.")
_OTHERS = (("#117733", "p"), ("#AA4499", "d"), ("#999933", "8"))
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
    """A figure, ready for the page and for a paper.

    Attributes
    ----------
    name : str
        Of its files.
    caption : str
        What is seen, in full sentences.
    svg : str
        The picture as one ``<svg>`` element, its identifiers prefixed by the name so that several share a page.
    svg_file, pdf_file : bytes
        The same as files of their own.
    anchors : tuple of str
        The runs it shows, where they are few.
    """

    name: str
    caption: str
    svg: str
    svg_file: bytes
    pdf_file: bytes
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Style:
    """The looks of one method's variant."""

    colour: str
    marker: str
    dashes: Dashes


@contextmanager
def styled() -> Iterator[None]:
    """The settings in which every figure is made, whatever the user's own matplotlib settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_RC)
        yield


def method_styles(runs: pd.DataFrame) -> dict[str, Style]:
    """A style a label, the same in every figure: the method gives colour and marker, its variants are shades of it.

    Parameters
    ----------
    runs : DataFrame
        With method, label and exact. The styles come heuristics first.
    """
    pairs = runs[["exact", "method", "label"]].drop_duplicates("label").sort_values(["exact", "method", "label"])
    others = [method for method in pairs["method"].unique() if method not in _METHODS]
    styles = {}
    for method, group in pairs.groupby("method", sort=False):
        colour, marker = _METHODS.get(str(method)) or _OTHERS[others.index(method) % len(_OTHERS)]
        for place, label in enumerate(group["label"]):
            share = 0.6 * place / max(len(group) - 1, 1)
            red, green, blue = ((1 - share) * part + share for part in to_rgb(colour))
            styles[label] = Style(to_hex((red, green, blue)), marker, _DASHES[place % len(_DASHES)])
    return styles


def panels(count: int, legend: Sequence[Line2D]) -> tuple[Figure, list[Axes]]:
    """A figure with a grid of `count` axes; the legend stands in the place left over if it is short, or else below."""
    columns = min(count, _COLUMNS)
    lines = -(-count // columns)
    width = max(_PANEL_WIDTH * columns, 3.6)
    entries = max(1, int(width / 1.45))
    spare = lines * columns - count
    below = 0.0 if spare and len(legend) <= 12 else 0.16 * -(-len(legend) // entries) + 0.15
    figure = Figure(figsize=(width, _PANEL_HEIGHT * lines + below), layout="constrained")
    axes = [figure.add_subplot(lines, columns, place + 1) for place in range(count)]
    if below:
        figure.legend(handles=list(legend), loc="outside lower center", ncols=entries, handletextpad=0.4)
    else:
        place = figure.add_subplot(lines, columns, count + 1)
        place.set_axis_off()
        box = place.legend(handles=list(legend), loc="center left", handletextpad=0.4, borderaxespad=0)
        box.set_in_layout(False)  # or a long name would make every panel narrower
    return figure, axes


def curve(axes: Axes, x: ArrayLike, y: ArrayLike, errors: ArrayLike, style: Style) -> None:
    """A line through points with error bars, in a method's style; `errors` as of matplotlib's errorbar."""
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
    """Ratios from 1 to `highest` on the axis ``x`` or ``y``: on a logarithmic scale, with plain numbers as ticks."""
    room = max(highest, 1.02) ** 0.06
    limits = (1 / room, max(highest, 1.02) * room)
    steps = [base * 10**power for power in range(6) for base in (1, 1.5, 2, 3, 5, 7)]
    ticks = [tick for tick in steps if tick <= limits[1]]
    if len(ticks) < 4:
        step = next(s for s in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5) if (limits[1] - 1) / s < 6)
        ticks = [1 + step * place for place in range(7) if 1 + step * place <= limits[1]]
    axis = axes.xaxis if along == "x" else axes.yaxis
    (axes.set_xscale if along == "x" else axes.set_yscale)("log")
    (axes.set_xlim if along == "x" else axes.set_ylim)(limits)
    plain_ticks(axis, ticks[:: -(-len(ticks) // 8)])


def plain_ticks(axis: Any, places: Sequence[float], texts: Sequence[str] | None = None) -> None:
    """Only these ticks, written as plain numbers or by the texts given."""
    axis.set_major_locator(FixedLocator(list(places)))
    axis.set_major_formatter(FixedFormatter(list(texts or [f"{place:,.6g}" for place in places])))
    axis.set_minor_locator(NullLocator())


def drawing(
    figure: Figure, name: str, caption: str, titles: Mapping[str, str] | None = None, anchors: Sequence[str] = ()
) -> Drawing:
    """The figure as SVG and PDF, without a date.

    Parameters
    ----------
    titles : mapping, optional
        From an anchor on the page (``run-17``) that marks of the figure link to, to the text shown on hovering.
    anchors : sequence of str
        The runs that the caption names.
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
    element = re.sub(r'^<svg ([^>]*?)width="[^"]*" height="[^"]*"', r"<svg \1", element)
    return re.sub(r' (xmlns(:\w+)?|version)="[^"]*"', "", element.replace("xlink:href", "href")).strip()


def _file(element: str) -> bytes:
    return ('<?xml version="1.0" encoding="utf-8"?>\n' + element).encode()
