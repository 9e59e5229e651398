"""The options and the style of every figure: sizes, fonts and formats, and the look of each method."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib import font_manager
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from ...instances.contract.errors import BadInput, check_ending, unknown
from ...instances.contract.files import atomic_write
from .files import FORMATS, Drawn, as_bytes, figure_with_printable_texts, for_page, svg_of, vega_svg
from .fonts import family_of

TOPIC_COLOURS = ("#CC6677", "#332288", "#DDCC77", "#117733", "#88CCEE", "#882255", "#44AA99", "#AA4499")
OTHER_TOPICS = "#BBBBBB"
INK, QUIET = "#222222", "#767676"
ENDINGS = tuple(f".{ending}" for ending in FORMATS)
# Okabe and Ito's and Tol's colours, and a few between them, on white.
_COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#CC6677", "#332288", "#117733", "#882255"),
    *("#44AA99", "#999933", "#AA4499", "#6B5B00", "#4477AA", "#EE6677", "#A6761D", "#661100", "#6699CC", "#000000"),
)
_DASHES: tuple[tuple[float, ...], ...] = ((1, 0), (4, 2), (1, 1.5), (5, 1.5, 1, 1.5), (9, 2), (5, 1, 1, 1, 1, 1))
# Markers of one shape have equal dashes, so that colours that look alike to some readers need markers of two shapes.
_SHAPES = ("ohHp8", "^>", "Dd", "sX", "v<", "P*")
_MARKERS = "os^vD<>Xph*d"
_LOOKS = {
    name: (colour, marker)
    for colour, named in {
        "#8C8C8C": "harary-per-topic=h ring-per-topic=X mst-per-topic=o s0=v random-assignment=> rings=*",
        "#CC79A7": "cd-oda-1=< least-messages=> lp-rounding=P edge-exchange=*",
        "#56B4E9": "2d-oda=D layered-oda=d",
        "#661100": "dc-gm=v shortest-paths=>",
        "#0072B2": "gm=o gm2=D weighted-gm=^ cd-max=< s2=H steiner-mixing=8 ptco=> gm-recomputed=*",
        "#D55E00": "cd-oda=v migration=s edge-removal=X topic-by-topic=D",
        "#A6761D": "dcbr-m=H",
        "#E69F00": "minmax-oda=s s1=d greedy-packing=< degree-diameter=h gm-incremental=P",
        "#332288": "gm-m=h auto=P",
        "#009E73": "low-oda=^ sh=s clustering=v mehlhorn=8 edge-insertion=p gossip-mesh=D shadow-repair=<",
        "#999933": "naive-dc=^",
        "#EE6677": "dcb-m=p",
        "#882255": "cd-oda-2=> smoothed-optimum=*",
        "#117733": "polish=s capped-gm=8",
        "#44AA99": "best=*",
        "#CC6677": "branch-and-cut=d snapshot-optima=8",
        "#6B5B00": "cp-sat=* diameter-cp-sat=H filtering-cp-sat=h",
        "#000000": "ilp=P",
        "#6699CC": "lp-bound=X",
    }.items()
    for name, _, marker in (each.partition("=") for each in named.split())
}
"""Colour and marker of each method of ours: methods of one problem are told apart by the colour-blind."""
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
}
# Sizes relative to the font size.
TITLE, TICKS = 15 / 14, 13 / 14
_GENERIC = {"serif": "DejaVu Serif", "sans-serif": "DejaVu Sans", "monospace": "DejaVu Sans Mono"}


@dataclass(frozen=True)
class FigureOptions:
    """How figures are set for a paper.

    `width` is that of every figure in inches, 0 for as many panels of the usual width as there are; `font` a family
    that is installed, the file of one, or serif, sans-serif or monospace, or several with commas, each for what those
    before it lack, "" for DejaVu Sans; `font_size` that of labels in points,
    ticks are a little smaller and titles a little larger; `formats` are the files to write, of `FORMATS`; `names` says
    what methods, problems and columns are called.
    """

    width: float = 0.0
    font: str = ""
    font_size: float = 7.0
    formats: tuple[str, ...] = ("svg", "pdf")
    names: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def enlarged(self) -> float:
        """The font size as a factor of the usual one."""
        return self.font_size / FigureOptions.font_size

    @property
    def families(self) -> list[str]:
        """The families, each for the letters that those before it lack."""
        return [family_of(name.strip()) for name in self.font.split(",") if name.strip()] or ["DejaVu Sans"]

    @property
    def measured(self) -> str:
        """The families by whose letters charts leave room: matplotlib's for a generic one."""
        return ", ".join(f"{_GENERIC[name]}, {name}" if name in _GENERIC else name for name in self.families)

    def settings(self) -> dict[str, Any]:
        """The settings of matplotlib.

        Bad input if a font or a format is not available, or a number is out of range.
        """
        if not (self.width == 0 or 1 <= self.width <= 40):
            raise BadInput(f"a figure {self.width:g} inches wide: choose from 1 to 40")
        if not 4 <= self.font_size <= 40:
            raise BadInput(f"a font size of {self.font_size:g} points: choose from 4 to 40")
        for name in self.formats:
            if name not in FORMATS:
                raise unknown("format of figures", name, FORMATS)
        for name in self.families:
            if name not in _GENERIC:
                _check_font(name)
        size = self.font_size
        return {
            **_RC,
            **dict.fromkeys(("font.size", "axes.labelsize", "legend.fontsize", "legend.title_fontsize"), size),
            **dict.fromkeys(("axes.titlesize", "figure.titlesize"), TITLE * size),
            **dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), TICKS * size),
            "font.family": self.families,
        }


def _check_font(font: str) -> None:
    try:
        font_manager.findfont(font_manager.FontProperties(family=font), fallback_to_default=False)
    except ValueError:
        raise unknown("font", font, font_manager.get_font_names()) from None


DEFAULT_OPTIONS = FigureOptions()
_CURRENT: ContextVar[FigureOptions] = ContextVar("options of figures", default=DEFAULT_OPTIONS)


@dataclass(frozen=True)
class DrawOptions:
    """What a drawing of an instance and its answers shows beside the edges.

    Attributes
    ----------
    problem : str
        The problem by which answers are judged in their titles; by default that of the kind, see :class:`.Kind`.
    names : tuple of str
        What the answers are called; by default the method of a result, or "answer 1" and so on.
    by_topic : bool
        Colour each edge by the topics that both its ends subscribe to.
    differences : bool
        Show edges that all answers have in grey, the others strong.
    topics : tuple of str
        Labels of topics that get a panel each, with their subscribers and the edges between these.
    centres : bool
        Mark the centres of stars, where every topic has one.
    degrees : bool
        Write the degree beside each node.
    circle : bool
        Place the nodes on a circle rather than with few crossings.
    at : float or None
        The time in seconds of the overlays that are drawn of a trace; by default its end.
    title : str
        Of the drawing of an instance.
    figure : FigureOptions
        Width, font and formats.

    Examples
    --------
    >>> import overlaybench as ob
    >>> instance = ob.read({"ann": ["chess", "news"], "bob": ["news"]})
    >>> figure = ob.draw(instance, ob.Overlay.from_edges(2, [(0, 1)]), options=ob.DrawOptions(topics=("news",)))
    >>> len(figure.axes)
    1
    """

    problem: str = ""
    names: tuple[str, ...] = ()
    by_topic: bool = False
    differences: bool = False
    topics: tuple[str, ...] = ()
    centres: bool = True
    degrees: bool = False
    circle: bool = False
    at: float | None = None
    title: str = ""
    figure: FigureOptions = DEFAULT_OPTIONS


DEFAULT = DrawOptions()


@contextmanager
def styled(options: FigureOptions | None = None) -> Iterator[FigureOptions]:
    """A context with the settings of every figure, independent of the user's matplotlib settings.

    Without `options` they are those of the context around this one, or the default ones: a command gives them once,
    around all that it draws. Bad input as for :meth:`FigureOptions.settings`.
    """
    chosen = _CURRENT.get() if options is None else options
    settings: Mapping[Any, Any] = chosen.settings()
    token = _CURRENT.set(chosen)
    try:
        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(settings)
            yield chosen
    finally:
        _CURRENT.reset(token)


def current_options() -> FigureOptions:
    """The options of the context (`styled`)."""
    return _CURRENT.get()


@dataclass(frozen=True)
class Style:
    """Colour, marker as matplotlib names it, and line style of a method's variant: points of line and gap in turn."""

    colour: str
    marker: str
    dashes: tuple[float, ...] = _DASHES[0]


def look(method: str) -> tuple[str, str]:
    """Colour and marker of a method by name, as matplotlib names them.

    The name of a plug-in decides, and no method of ours looks like it.
    """
    if method in _LOOKS:
        return _LOOKS[method]

    def rank(pair: tuple[str, str]) -> bytes:
        # Pseudo-random: a method installed beside it does not change a method's look.
        return hashlib.sha256("\0".join((method, *pair)).encode()).digest()

    return min({*itertools.product(_COLOURS, "".join(_SHAPES))}.difference(_LOOKS.values()), key=rank)


def dashes(marker: str) -> tuple[float, ...]:
    """The line style of a marker by its shape."""
    return _DASHES[_shape(marker)]


def _shape(marker: str) -> int:
    return next((rank for rank, shape in enumerate(_SHAPES) if marker in shape), 0)


def method_styles(runs: pd.DataFrame) -> dict[str, Style]:
    """The style of each label: the look of its method, for variants darker shades and other markers and dashes.

    The contrast to white is at least 3:1. `runs` has the columns method, label and exact; heuristics are first.
    """
    pairs = runs[["exact", "method", "label"]].drop_duplicates("label").sort_values(["exact", "method", "label"])
    styles = {}
    for method, group in pairs.groupby("method", sort=False):
        colour, marker = look(str(method))
        for rank, label in enumerate(group["label"]):
            shape = (_shape(marker) + rank) % len(_SHAPES)
            own = [other for other in _SHAPES[shape] if other != marker]
            other = own[(rank // len(_SHAPES)) % len(own)] if rank else marker
            shade = _on_white(colour, 1 - 0.6 * rank / max(len(group) - 1, 1))
            styles[label] = Style(shade, other, dashes(other))
    return styles


def _on_white(colour: str, share: float) -> str:
    """A colour with this share of its light, or as much less as a contrast of 3:1 to white takes (WCAG 2.1)."""
    while True:
        red, green, blue = (share * part for part in to_rgb(colour))
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)]
        light = sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
        if 1.05 / (light + 0.05) >= 3.02:  # above 3, as hexadecimal digits are rounded
            return to_hex((red, green, blue))
        share *= 0.98


def rank_styles(names: Iterable[str]) -> dict[str, Style]:
    """A style for each name that is no method's, in the order given; 25 colours before one is repeated."""
    colours = dict.fromkeys((*TOPIC_COLOURS, *_COLOURS))
    marked = zip(dict.fromkeys(names), itertools.cycle(colours), itertools.cycle(_MARKERS))
    return {name: Style(colour, marker, dashes(marker)) for name, colour, marker in marked}


@dataclass(frozen=True)
class Drawing:
    """A figure as part of a page and as files.

    `name` is the stem of its file names, `svg` one element whose identifiers start with the name, so that several
    figures can share a page; `files` are the contents of its files by ending, for the formats of the options; `anchors`
    the runs that the caption links to; `chart` the specification (Vega-Lite) where the figure is a chart.
    """

    name: str
    caption: str
    svg: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    anchors: tuple[str, ...] = ()
    chart: Mapping[str, Any] | None = None


def drawing(drawn: Figure | Mapping[str, Any], name: str, caption: str, anchors: Sequence[str] = ()) -> Drawing:
    """Render a chart or a figure in the formats of the options, without dates: equal figures are equal bytes."""
    with styled() as options:
        shown = drawn if isinstance(drawn, Figure) else vega_svg(drawn)
        files = {ending: as_bytes(shown, ending) for ending in options.formats}
        svg = for_page(svg_of(shown), name)
    return Drawing(name, caption, svg, files, tuple(anchors), None if isinstance(drawn, Figure) else drawn)


@dataclass(frozen=True)
class Chart:
    """A chart (Vega-Lite) that is displayed where it is the value of a notebook's cell."""

    spec: Mapping[str, Any]
    options: FigureOptions = DEFAULT_OPTIONS

    def savefig(self, path: str | Path) -> None:
        """Write it as :func:`save`."""
        save(self.spec, Path(path), self.options)

    def _repr_svg_(self) -> str:
        with styled(self.options):
            return vega_svg(self.spec)


def save(drawn: Drawn, path: Path, options: FigureOptions = DEFAULT_OPTIONS) -> None:
    """Write a chart or a drawing in the format that the ending determines; equal drawings are equal bytes.

    Bad input if the ending is none of `FORMATS`, no font has a letter of a drawing (in SVG the reader's may), or the
    file cannot be written.
    """
    check_ending(path, ENDINGS)
    ending = path.suffix[1:]
    with styled(replace(options, formats=(ending,))):
        if isinstance(drawn, Figure):
            figure_with_printable_texts(drawn, all_letters=ending != "svg")
        data = as_bytes(drawn, ending)
    atomic_write(path, data)
