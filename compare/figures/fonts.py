"""Fonts that have the letters of labels: those that are installed, and files that the user names."""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.ft2font import FT2Font

from ...instances.contract.errors import BadInput

ENDINGS = (".ttf", ".otf", ".ttc")
FOLDERS = [Path(mpl.get_data_path()) / "fonts" / "ttf"]
"""The folders of the files that :func:`family_of` has read, then that of matplotlib's fonts.

Charts take letters from the first one that has them, and one of matplotlib's fonts has boxes for all.
"""
_UPRIGHT, _REGULAR = ("normal", "normal", "normal"), (400, "normal", "regular")
_WITHOUT_LETTERS = "Last Resort"  # has a box for every character
# Titles are bold where a font has that.
logging.getLogger("matplotlib.font_manager").addFilter(lambda record: "find font weight" not in record.getMessage())
logging.getLogger("fontTools").setLevel(logging.ERROR)  # a font's odd timestamps are no matter of the reader


@cache
def family_of(font: str) -> str:
    """The family of a font that is named by its file, which is added to those that are installed; others unchanged."""
    path = Path(font)
    if path.suffix.lower() not in ENDINGS:
        return font
    try:
        name: str = FT2Font(str(path)).family_name
        font_manager.fontManager.addfont(str(path))
    except (OSError, RuntimeError):
        raise BadInput(f"{font}: cannot be read as a font: give a file {', '.join(ENDINGS)}") from None
    FOLDERS.insert(0, path.resolve().parent)
    return name


def families_with(texts: Iterable[str], families: list[str]) -> tuple[list[str], list[str]]:
    """`families`, and the fewest further ones that have what these lack of the letters of texts; and what none has.

    The further ones are chosen greedily, of equals those without serifs. Fonts are read only where letters lack.
    """
    signs = {sign for text in texts if not text.isascii() for sign in text}
    letters = {sign for sign in signs if unicodedata.category(sign)[0] not in "CZ"}
    chosen = list(families)
    for family in families if letters else ():
        letters -= _letters_in(font_manager.findfont(font_manager.FontProperties(family=family)))
    known = _installed() if letters else {}
    while letters:
        name = min(known, key=lambda name: (-len(letters & _letters_in(known[name])), "Sans" not in name, name))
        if not letters & _letters_in(known[name]):
            break
        chosen.append(name)
        letters -= _letters_in(known[name])
    return chosen, sorted(letters)


@cache
def _letters_in(file: str) -> frozenset[str]:
    return frozenset(map(chr, FT2Font(file).get_charmap()))


def _installed() -> dict[str, str]:
    """The file of each family, also of those installed since matplotlib made its list."""
    listed = {entry.fname for entry in font_manager.fontManager.ttflist}
    for file in sorted({*font_manager.findSystemFonts()} - listed):
        try:
            font_manager.fontManager.addfont(file)
        except (OSError, RuntimeError):  # such as pictures alone
            continue
    return {
        entry.name: entry.fname
        for entry in font_manager.fontManager.ttflist
        if (entry.style, entry.variant, entry.stretch) == _UPRIGHT and entry.weight in _REGULAR
        if not entry.name.startswith(_WITHOUT_LETTERS) and Path(entry.fname).is_file()
    }
