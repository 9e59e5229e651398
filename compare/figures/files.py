"""Charts and drawings as SVG, PDF, PNG and PGF: equal ones are equal bytes."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from fontTools.pens.recordingPen import RecordingPen
from fontTools.svgLib.path import parse_path
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter
from matplotlib.transforms import Affine2D, Transform

from ...instances.contract.errors import BadInput
from ..printable import printable
from ..studies.latex import escaped

Drawn = Figure | Mapping[str, Any] | str
"""A figure of matplotlib, or the specification of a chart (Vega-Lite) or its ``<svg>`` element (:func:`vega_svg`)."""

FORMATS = ("svg", "pdf", "pgf", "png")
_PIXELS_PER_INCH = 200
_LEAST_TEXT = 11.0
_WITHOUT_DATE: Mapping[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": None},
    "png": {"Software": None},
}
_SYSTEMS = ("xelatex", "lualatex", "pdflatex")
_DEBIAN = "apt-get install texlive-latex-recommended texlive-fonts-recommended cm-super texlive-xetex"
_CODES = {
    "moveTo": Outline.MOVETO,
    "lineTo": Outline.LINETO,
    "qCurveTo": Outline.CURVE3,
    "curveTo": Outline.CURVE4,
    "closePath": Outline.CLOSEPOLY,
}
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")


def svg_of(drawn: Drawn, name: str, *, usetex: bool = False) -> str:
    """A chart or a figure as one ``<svg>`` element, its width in points; the context is that of `styled`."""
    if isinstance(drawn, Figure):
        text = _written(drawn, "svg", name, usetex).decode()
        return re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    element = drawn if isinstance(drawn, str) else vega_svg(drawn)
    return svg_of(figure_of(element), name, usetex=True) if usetex else element


def as_bytes(drawn: Drawn, ending: str, name: str, *, usetex: bool = False) -> bytes:
    """A file of one of the `FORMATS`; all but a chart's SVG are written by matplotlib.

    Bad input if LaTeX stops on a text of the figure `name`.
    """
    if ending == "svg":
        element = re.sub(r' (xlink:)?href="#run-[0-9]+"', "", svg_of(drawn, name, usetex=usetex))
        return ('<?xml version="1.0" encoding="utf-8"?>\n' + element).encode()
    figure = drawn if isinstance(drawn, Figure) else figure_of(svg_of(drawn, name))
    return _written(figure, ending, name, usetex)


def _written(figure: Figure, ending: str, name: str, usetex: bool) -> bytes:
    buffer = io.BytesIO()
    given: dict[str, Any] = {"metadata": _WITHOUT_DATE[ending]} if ending in _WITHOUT_DATE else {}
    given |= {"dpi": _PIXELS_PER_INCH} if ending == "png" else {}
    with set_by_tex(figure, name, escape=usetex or ending == "pgf"):
        figure.savefig(buffer, format=ending, **given)
    return buffer.getvalue()


def for_page(element: str, name: str) -> str:
    """An ``<svg>`` element as part of a page: identifiers start with `name`, texts are at least 11 pixels high."""
    own = set(re.findall(r'\bid="([^"]+)"', element))

    def prefixed(match: re.Match[str]) -> str:
        before, identifier = match.groups()
        return f"{before}{name}-{identifier}" if identifier in own else match.group()

    element = re.sub(r'(\bid="|href="#|url\(#)([^")]+)', prefixed, element)
    sizes = re.findall(r"<[^<>]*\b(?:font(?:-size)?:[^;\"<>]*?|font-size=\")(\d+(?:\.\d+)?)px", element)
    shown = re.search(r'viewBox="0 0 ([\d.]+)', element)
    least = float(shown[1]) * _LEAST_TEXT / min(map(float, sizes)) if shown and sizes else 0.0
    # As wide as the page, but not so wide that a single panel looks enlarged.
    element = re.sub(
        r'^<svg ([^>]*?)width="([\d.]+)pt" height="[^"]*"',
        lambda m: f'<svg {m[1]}style="min-width: {np.ceil(least):.0f}px; max-width: {2 * float(m[2]):.0f}px"',
        element,
    )
    element = re.sub(r'<a xlink:href="#(run-[0-9]+)"[^>]*>', r'<a href="#\1">', element)
    # A panel without marks of a layer has an empty group, which is no picture that needs a name.
    element = re.sub(
        r'(<g class="[^"]*") role="graphics-symbol" aria-roledescription="[^"]*"(?! aria-label)', r"\1", element
    )
    return re.sub(r' (xmlns(:\w+)?|version)="[^"]*"', "", element.replace("xlink:href", "href")).strip()


def vega_svg(spec: Mapping[str, Any]) -> str:
    """A specification as an ``<svg>`` element of one point a unit; it is fitted to its ``usermeta`` width, if any.

    A specification that is none of Vega-Lite is a ValueError.
    """
    import vl_convert

    _register_fonts()
    wanted, fitted = spec.get("usermeta", {}).get("width", 0.0), dict(spec)
    for _ in range(3 if wanted else 1):
        element: str = vl_convert.vegalite_to_svg(fitted)
        sizes = re.findall(r'^<svg [^>]*?width="([\d.]+)" height="([\d.]+)"', element)[0]
        width, height = (float(size) for size in sizes)
        if not wanted or abs(width - wanted) < 1:
            break
        more = (wanted - width) / max(1, fitted["columns"])
        for key, of in (("spec", [fitted.get("spec", {})]), ("concat", fitted.get("concat", []))):
            cells = [{**cell, "width": max(20.0, cell.get("width", 0) + more)} for cell in of]
            fitted |= {key: cells[0] if key == "spec" else cells} if key in fitted else {}
    scale = wanted / width if wanted else 1.0
    size = f'width="{scale * width:g}pt" height="{scale * height:g}pt"'
    # The links to runs are those of the page, not of Vega's base address.
    element = re.sub(r'xlink:href="[^"#]*#', 'xlink:href="#', element)
    return re.sub(r'width="[\d.]+" height="[\d.]+"', size, element, count=1)


@cache
def _register_fonts() -> None:
    import vl_convert

    vl_convert.register_font_directory(str(Path(mpl.get_data_path()) / "fonts" / "ttf"))


def figure_of(svg: str, kind: type[Figure] = Figure) -> Figure:
    """The figure of matplotlib that shows a chart's ``<svg>`` element: for LaTeX's texts, PGF, PDF and PNG."""
    root = ET.fromstring(re.sub(r' xmlns="[^"]*"', "", svg))
    width, height = (float(root.attrib["viewBox"].split()[side]) for side in (2, 3))
    scale = float(root.attrib["width"].removesuffix("pt")) / width
    figure = kind(figsize=(width * scale / 72, height * scale / 72))
    to_page = Affine2D().scale(scale / 72, -scale / 72).translate(0, height * scale / 72)
    for rank, (element, place) in enumerate(_elements(root, to_page)):
        if element.tag == "text":
            _add_text(figure, element, place, scale)
        elif element.tag in ("path", "line"):
            _add_path(figure, element, place, scale, rank)
    return figure


def _elements(element: ET.Element, place: Transform) -> Iterator[tuple[ET.Element, Transform]]:
    """The elements that are shown, each with its transform to inches."""
    if element.get("display") == "none":
        return
    for name, given in re.findall(r"(\w+)\(([^)]*)\)", element.get("transform", "")):
        numbers = [float(number) for number in _NUMBER.findall(given)]
        own = Affine2D()
        if name == "translate":
            own.translate(*numbers, *([0.0] if len(numbers) == 1 else []))
        else:
            getattr(own, {"rotate": "rotate_deg"}.get(name, name))(*numbers)
        place = own + place
    yield element, place
    for child in element if element.tag != "text" else ():
        yield from _elements(child, place)


def _add_text(figure: Figure, element: ET.Element, place: Transform, scale: float) -> None:
    lines = [(part.text or "", float(part.get("dy", "0"))) for part in element.findall("tspan")]
    below = 0.0
    (cosine, sine), *_ = place.get_matrix()[:2, :2].T
    for text, step in lines or [(element.text or "", 0.0)]:
        below += step
        x, y = place.transform((0.0, below)) / figure.get_size_inches()
        shown = figure.text(
            x,
            y,
            text,
            ha={"middle": "center", "end": "right"}.get(element.get("text-anchor", ""), "left"),
            va="baseline",
            rotation=np.degrees(np.arctan2(sine, cosine)),
            rotation_mode="anchor",
            fontsize=float(element.attrib["font-size"].removesuffix("px")) * scale,
            fontweight=element.get("font-weight", "normal"),
            color=element.get("fill", "black"),
            alpha=float(element.get("opacity", "1")),
        )
        shown.set_in_layout(False)


def _add_path(figure: Figure, element: ET.Element, place: Transform, scale: float, rank: int) -> None:
    given, opacity = element.attrib, float(element.get("opacity", "1"))
    outline = f"M0,0L{given.get('x2', '0')},{given.get('y2', '0')}" if element.tag == "line" else given.get("d", "")
    fill, stroke = (
        mpl.colors.to_rgba(colour, opacity * float(given.get(f"{name}-opacity", "1"))) if colour != "none" else "none"
        for name in ("fill", "stroke")
        for colour in [_colour(given.get(name))]
    )
    if not outline or fill == stroke == "none":
        return
    dashes = [float(number) * scale for number in _NUMBER.findall(given.get("stroke-dasharray", ""))]
    width = float(given.get("stroke-width", "1")) * scale
    look: dict[str, Any] = {"linestyle": (0, [each / width for each in dashes])} if dashes and width else {}
    patch = PathPatch(
        outline_of(outline),
        transform=place + figure.dpi_scale_trans,
        facecolor=fill,
        edgecolor=stroke,
        linewidth=width,
        zorder=1 + rank * 1e-6,
        clip_on=False,
        **look,
    )
    patch.set_in_layout(False)
    figure.add_artist(patch)


def _colour(given: str | None) -> str:
    return "none" if given in (None, "none", "transparent") or "url" in str(given) else str(given)


def outline_of(path: str) -> Outline:
    """A path of SVG as matplotlib's."""
    pen = RecordingPen()
    parse_path(path, pen)
    steps = [(point, _CODES[name]) for name, points in pen.value if name in _CODES for point in points or [(0, 0)]]
    return Outline(np.array([point for point, _ in steps], dtype=np.float64), [code for _, code in steps])


def tex_system() -> str:
    """The LaTeX that measures the texts of PGF figures; bad input without one."""
    system = next((name for name in _SYSTEMS if shutil.which(name)), None)
    if system is None or not _known("underscore.sty"):
        needs = f"{' or '.join(_SYSTEMS)}, with underscore.sty"
        raise BadInput(f"figures as PGF need {needs}: install what is missing ({_DEBIAN}) or leave out pgf")
    return system


@cache
def check_usetex() -> None:
    """Bad input unless LaTeX and the packages that matplotlib loads are installed."""
    missing = [name for name in ("latex", "kpsewhich") if not shutil.which(name)]
    missing += [style for style in ("type1ec.sty", "type1cm.sty", "geometry.sty") if not missing and not _known(style)]
    if missing:
        raise BadInput(f"--usetex needs {' and '.join(missing)}, not found: install LaTeX ({_DEBIAN}) or leave it out")


def _known(style: str) -> bool:
    return bool(subprocess.run(["kpsewhich", style], capture_output=True, check=False).stdout)


@contextmanager
def set_by_tex(figure: Figure, name: str, *, escape: bool = True) -> Iterator[None]:
    """A context in which the texts of a figure, ticks too, have no control characters or tabs, and are escaped for TeX.

    Without `escape` TeX's special characters stay as they are. Bad input, in one line, if LaTeX stops on a text of the
    figure `name`.
    """
    from matplotlib.backends.backend_pgf import LatexError

    shown_as = escaped if escape else printable
    axes = [axis for each in figure.axes for axis in (each.xaxis, each.yaxis)]
    ticks = [(each, list(each.seq)) for axis in axes if isinstance(each := axis.get_major_formatter(), FixedFormatter)]
    texts = [(each, each.get_text()) for each in figure.findobj(Text) if isinstance(each, Text)]
    for formatter, plain in ticks:
        formatter.seq = [shown_as(text.replace("\t", " ")) for text in plain]
    for shown, text in texts:
        shown.set_text(shown_as(text.replace("\t", " ")))
    try:
        yield
    except (RuntimeError, ValueError, LatexError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.startswith("!")]
        reason = lines[0].lstrip("! ") if lines else str(error).splitlines()[0]
        raise BadInput(f"figure '{name}': LaTeX cannot set it ({reason}): choose other labels or formats") from None
    finally:
        for formatter, plain in ticks:
            formatter.seq = plain
        for shown, text in texts:
            shown.set_text(text)
