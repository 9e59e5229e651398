"""Charts and drawings as SVG, PDF and PNG: equal ones are equal bytes."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter

from ...instances.contract.errors import BadInput
from ..printable import printable
from .fonts import FOLDERS, families_with

Drawn = Figure | Mapping[str, Any] | str
"""A figure of matplotlib, or the specification of a chart (Vega-Lite) or its ``<svg>`` element (:func:`vega_svg`)."""

FORMATS = ("svg", "pdf", "png")
_PIXELS_PER_INCH = 200
_LEAST_TEXT = 11.0
_TABLE = re.compile(rb"(?:\n +/[a-z]+\d+ \d+ 0 R)+")
_WITHOUT_DATE: Mapping[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": None},
    "png": {"Software": None},
}


def svg_of(drawn: Drawn) -> str:
    """A chart or a figure as one ``<svg>`` element, its width in points; the context is that of `styled`."""
    if isinstance(drawn, Figure):
        text = _written(drawn, "svg").decode()
        return re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    return drawn if isinstance(drawn, str) else vega_svg(drawn)


def as_bytes(drawn: Drawn, ending: str) -> bytes:
    """A file of one of the `FORMATS`: charts are written by vl-convert, drawings by matplotlib."""
    if isinstance(drawn, Figure) and ending != "svg":
        return _written(drawn, ending)
    # The links to runs are those of a page.
    element = re.sub(r' (xlink:)?href="#run-[0-9]+"', "", svg_of(drawn))
    if ending == "svg":
        return ('<?xml version="1.0" encoding="utf-8"?>\n' + element).encode()
    import vl_convert

    _register_fonts()
    element = re.sub(r'="([\d.]+)pt"', r'="\1"', element, count=2)  # vl-convert's pixel is a point
    if ending == "pdf":
        # Its tables of groups are in a new order each time (findings/vl_convert_pdf_order.sh).
        return _TABLE.sub(lambda found: b"\n".join(sorted(found[0].split(b"\n"))), vl_convert.svg_to_pdf(element))
    return bytes(vl_convert.svg_to_png(element, ppi=_PIXELS_PER_INCH))


def _written(figure: Figure, ending: str) -> bytes:
    buffer = io.BytesIO()
    given: dict[str, Any] = {"dpi": _PIXELS_PER_INCH} if ending == "png" else {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # `save` refuses it
        figure_with_printable_texts(figure).savefig(buffer, format=ending, metadata=_WITHOUT_DATE[ending], **given)
    return buffer.getvalue()


def figure_with_printable_texts(figure: Figure, *, all_letters: bool = False) -> Figure:
    """The figure, whose texts, ticks too, have no control characters or tabs any more, and fonts with their letters.

    `all_letters`: raise BadInput if no font has some of them; otherwise they are boxes.
    """
    texts, ticks = [each for each in figure.findobj(Text) if isinstance(each, Text)], list[str]()
    for axis in (axis for each in figure.axes for axis in (each.xaxis, each.yaxis)):
        if isinstance(formatter := axis.get_major_formatter(), FixedFormatter):
            formatter.seq = [_on_one_line(text) for text in formatter.seq]
            ticks += formatter.seq
    for each in texts:
        if (text := each.get_text()) != (shown := _on_one_line(text)):
            each.set_text(shown)
    families = mpl.rcParams["font.family"]
    chosen, missing = families_with([*ticks, *(each.get_text() for each in texts)], families)
    if missing and all_letters:
        more = f" and {len(missing) - 1} more letters of labels" if len(missing) > 1 else ""
        raise BadInput(f"no installed font has '{missing[0]}'{more}: name one that has by --font FILE, or write .svg")
    for each in texts if chosen != families else ():
        each.set_fontfamily(chosen)
    return figure


def _on_one_line(text: str) -> str:
    return printable(text.replace("\t", " "))


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


def _register_fonts() -> None:
    for folder in FOLDERS:
        _register_folder(folder)


@cache
def _register_folder(folder: Path) -> None:
    import vl_convert

    vl_convert.register_font_directory(str(folder))
