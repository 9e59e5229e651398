"""The style of every figure: a colour and a marker for each method, and files that are equal byte for byte."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator
from numpy.typing import ArrayLike

from ...instances.contract.errors import BadInput, unknown
from .looks import Dashes, dashes, look
from .svg import as_file, for_page
from .tex import check_usetex, set_by_tex, tex_system

TOPIC_COLOURS = ("#CC6677", "#332288", "#DDCC77", "#117733", "#88CCEE", "#882255", "#44AA99", "#AA4499")
OTHER_TOPICS = "#BBBBBB"
MARKERS = "os^vD<>Xph*d"
INK, QUIET = "#222222", "#767676"
_RC: dict[Any, Any] = {
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
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
    "legend.frameon": False,
    "legend.handlelength": 2.8,
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "overlaybench",
    "pdf.fonttype": 42,
    "pgf.rcfonts": False,  # a PGF figure has the fonts of the document that includes it
}
# Sizes relative to the font size.
_TITLE, _TICKS = 15 / 14, 13 / 14
_PANEL_WIDTH, _PANEL_HEIGHT, _COLUMNS = 2.6, 2.15, 3
_LEAST_PANEL, _ENTRY = 1.62, 1.45  # inches at a font size of 7 points
_LINE, _CHARACTER, _HANDLE = 0.155, 0.064, 8  # a legend's line and a letter, in inches; a handle, in letters
_GENERIC = ("serif", "sans-serif", "monospace")
FORMATS = ("svg", "pdf", "pgf")


@dataclass(frozen=True)
class FigureOptions:
    """How figures are set for a paper.

    Attributes
    ----------
    width : float
        Of every figure, in inches; 0 for as many panels of the usual width as there are.
    font : str
        A font family that is installed, or serif, sans-serif or monospace; "" for DejaVu Sans.
    font_size : float
        Of labels, in points; ticks are a little smaller, titles a little larger.
    usetex : bool
        Set all texts by LaTeX.
    formats : tuple of str
        The files to write, of `FORMATS`. PGF figures take their fonts from the document that includes them.
    """

    width: float = 0.0
    font: str = ""
    font_size: float = 7.0
    usetex: bool = False
    formats: tuple[str, ...] = ("svg", "pdf")

    def settings(self) -> dict[str, Any]:
        """The settings of matplotlib.

        Raises
        ------
        BadInput
            If a font, a format or LaTeX is not available, or a number is out of range.
        """
        if not (self.width == 0 or 1 <= self.width <= 40):
            raise BadInput(f"a figure {self.width:g} inches wide: choose from 1 to 40")
        if not 4 <= self.font_size <= 40:
            raise BadInput(f"a font size of {self.font_size:g} points: choose from 4 to 40")
        for name in self.formats:
            if name not in FORMATS:
                raise unknown("format of figures", name, FORMATS)
        if self.usetex:
            check_usetex()
        elif self.font and self.font not in _GENERIC:
            _check_font(self.font)
        size = self.font_size
        return {
            **_RC,
            **dict.fromkeys(("font.size", "axes.labelsize", "legend.fontsize"), size),
            **dict.fromkeys(("axes.titlesize", "figure.titlesize"), _TITLE * size),
            "legend.title_fontsize": size,
            **dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), _TICKS * size),
            "font.family": self.font or ("serif" if self.usetex else "DejaVu Sans"),
            "text.usetex": self.usetex,
            **({"pgf.texsystem": tex_system()} if "pgf" in self.formats else {}),
        }


DEFAULT_OPTIONS = FigureOptions()
_CURRENT: ContextVar[FigureOptions] = ContextVar("options of figures", default=DEFAULT_OPTIONS)


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
    files : mapping
        The contents of its files by ending (``svg``, ``pdf``, ``pgf``).
    anchors : tuple of str
        The runs that the caption links to.
    """

    name: str
    caption: str
    svg: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    anchors: tuple[str, ...] = ()

    @property
    def svg_file(self) -> bytes:
        """The contents of its SVG file."""
        return self.files["svg"]

    @property
    def pdf_file(self) -> bytes:
        """The contents of its PDF file."""
        return self.files["pdf"]


@dataclass(frozen=True)
class Style:
    """Colour, marker and line style of a method's variant."""

    colour: str
    marker: str
    dashes: Dashes


@contextmanager
def styled(options: FigureOptions | None = None) -> Iterator[None]:
    """A context with the settings of every figure, independent of the user's matplotlib settings.

    Without `options` they are those of the context around this one, or the default ones: a command gives them once,
    around all that it draws.

    Raises
    ------
    BadInput
        See :meth:`FigureOptions.settings`.
    """
    chosen = _CURRENT.get() if options is None else options
    settings: Mapping[Any, Any] = chosen.settings()
    token = _CURRENT.set(chosen)
    try:
        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(settings)
            yield
    finally:
        _CURRENT.reset(token)


def _check_font(font: str) -> None:
    try:
        font_manager.findfont(font_manager.FontProperties(family=font), fallback_to_default=False)
    except ValueError:
        raise unknown("font", font, font_manager.get_font_names()) from None


def method_styles(runs: pd.DataFrame) -> dict[str, Style]:
    """The style of each label: the look of its method, and shades of its colour for the method's variants.

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
    styles = {}
    for method, group in pairs.groupby("method", sort=False):
        colour, marker = look(str(method))
        for rank, label in enumerate(group["label"]):
            share = 0.6 * rank / max(len(group) - 1, 1)
            red, green, blue = ((1 - share) * part + share for part in to_rgb(colour))
            styles[label] = Style(to_hex((red, green, blue)), marker, dashes(marker, rank))
    return styles


def rank_styles(names: Iterable[str]) -> dict[str, Style]:
    """A style for each name that is no method's, in the order given."""
    marked = zip(names, cycle(TOPIC_COLOURS), cycle(MARKERS))
    return {name: Style(colour, marker, dashes(marker)) for name, colour, marker in marked}


def panels(count: int, legend: Sequence[Line2D]) -> tuple[Figure, list[Axes]]:
    """A figure with `count` axes in a grid. A short legend fills an empty cell of the grid; otherwise it is below."""
    options = _CURRENT.get()
    enlarged = options.font_size / FigureOptions.font_size
    fitting = max(1, int(options.width / (_LEAST_PANEL * enlarged))) if options.width else _COLUMNS
    columns = min(count, _COLUMNS, fitting)
    lines = -(-count // columns)
    width = options.width or max(_PANEL_WIDTH * columns, 3.6)
    height = _PANEL_HEIGHT * max(0.75, min(1.0, width / columns / _PANEL_WIDTH))
    entries = max(1, int(width / (_ENTRY * enlarged)))
    spare = lines * columns - count
    longest = max((len(str(entry.get_label())) for entry in legend), default=0)
    inside = spare and len(legend) * _LINE * enlarged < height and _fits(longest + _HANDLE, width / columns, enlarged)
    below = 0.0 if inside else (0.16 * -(-len(legend) // entries) + 0.15) * enlarged
    figure = Figure(figsize=(width, height * lines + below), layout="constrained")
    axes = [figure.add_subplot(lines, columns, cell) for cell in range(1, count + 1)]
    if below:
        figure.legend(handles=list(legend), loc="outside lower center", ncols=entries, handletextpad=0.4)
    else:
        cell = figure.add_subplot(lines, columns, count + 1)
        cell.set_axis_off()
        box = cell.legend(handles=list(legend), loc="center left", handletextpad=0.4, borderaxespad=0)
        box.set_in_layout(False)  # a long name would make every panel narrower
    return figure, axes


def scaled(width: float, height: float) -> tuple[float, float]:
    """The size of a figure in inches: as given, or scaled to the width of the options."""
    wanted = _CURRENT.get().width or width
    return wanted, height * wanted / width


def panel_title(axes: Axes, problem: str, detail: str, short: str = "") -> None:
    """Set a panel's title: problem and detail in one line or in two, or with the short detail, as they fit."""
    panel, figure = axes.get_subplotspec(), axes.get_figure(root=True)
    assert panel is not None
    assert figure is not None
    width = float(figure.get_size_inches()[0]) / panel.get_gridspec().ncols
    enlarged = _TITLE * _CURRENT.get().font_size / FigureOptions.font_size
    joined = f"{problem}, {detail}" if detail else problem
    fitting = detail if not short or _fits(len(detail), width, enlarged) else short
    axes.set_title(joined if not detail or _fits(len(joined), width, enlarged) else f"{problem}\n{fitting}")


def _fits(characters: int, width: float, enlarged: float) -> bool:
    return characters * _CHARACTER * enlarged < width


def curve_legend(styles: Mapping[str, Style]) -> list[Line2D]:
    """The legend entries of `curve`."""
    return [
        Line2D([], [], color=style.colour, marker=style.marker, markersize=4, linestyle=style.dashes, label=label)
        for label, style in styles.items()
    ]


def curve(axes: Axes, x: ArrayLike, y: ArrayLike, errors: ArrayLike, style: Style) -> None:
    """A line through points with error bars; `errors` as for matplotlib's errorbar."""
    axes.errorbar(
        np.asarray(x),
        np.asarray(y),
        yerr=np.asarray(errors),
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


def time_axis(axes: Axes, shortest: float, longest: float) -> None:
    """Set up the y-axis for seconds: logarithmic, with ticks such as 10 ms."""
    low, high = shortest / 1.6, longest * 1.6
    ticks = [10.0**power for power in range(-5, 6) if low <= 10.0**power <= high]
    texts = [f"{tick:,g} s" if tick >= 0.1 else f"{1000 * tick:g} ms" for tick in ticks]
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    plain_ticks(axes.yaxis, ticks, texts)


def plain_ticks(axis: Any, ticks: Sequence[float], texts: Sequence[str] | None = None) -> None:
    """Set exactly these ticks, labelled by their numbers or by `texts`."""
    axis.set_major_locator(FixedLocator(list(ticks)))
    axis.set_major_formatter(FixedFormatter(list(texts or [f"{tick:,.6g}" for tick in ticks])))
    axis.set_minor_locator(NullLocator())


def drawing(
    figure: Figure, name: str, caption: str, titles: Mapping[str, str] | None = None, anchors: Sequence[str] = ()
) -> Drawing:
    """Render a figure in the formats of the options; without dates, so that equal figures are equal bytes.

    Parameters
    ----------
    titles : mapping, optional
        The tooltip of each anchor (``run-17``) that the figure links to.
    anchors : sequence of str
        See `Drawing`.
    """
    options = _CURRENT.get()
    with set_by_tex(figure, name, escape=options.usetex):
        text = _saved(figure, "svg", Date=None, Creator=None).decode()
        element = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
        files = {}
        if "svg" in options.formats:
            files["svg"] = as_file(re.sub(r'(xlink:href="#run-[0-9]+")', "", element))
        if "pdf" in options.formats:
            files["pdf"] = _saved(figure, "pdf", CreationDate=None, ModDate=None, Producer=None)
        if "pgf" in options.formats:
            with set_by_tex(figure, name, escape=not options.usetex):
                files["pgf"] = _saved(figure, "pgf")
    return Drawing(name, caption, for_page(element, name, titles or {}), files, tuple(anchors))


def _saved(figure: Figure, ending: str, **metadata: None) -> bytes:
    buffer = io.BytesIO()
    given: dict[str, Any] = {"metadata": metadata} if metadata else {}  # PGF takes none
    figure.savefig(buffer, format=ending, **given)
    return buffer.getvalue()
