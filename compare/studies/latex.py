"""Tables as LaTeX (booktabs rules, every text escaped, no siunitx), as CSV and as a workbook."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ..printable import printable

_LONG = 40
_OF_RUNS = ("problem", "variant", "family", "status", "value", "bound", "ratio", "seconds")
_HEADS: Mapping[str, tuple[str, float]] = {
    "variant": ("method", 1),
    "instances": ("n", 1),
    "interval": ("95% interval", 1),
    "max_ratio": ("maximum", 1),
    "reached": ("optimum reached", 1),
    "proved": ("proved optimal", 1),
    "compared_instances": ("n", 1),
    "optimum_instances": ("n, optimum known", 1),
    "seconds": ("time (s)", 1),
    "mean_seconds": ("mean time (s)", 1),
    "low": ("95% from", 1),
    "high": ("95% to", 1),
    "curve": ("method", 1),
    "longest": ("longest run (s)", 1),
    "peak_memory": ("memory (MiB)", 2.0**20),
    "mean_peak_memory": ("mean memory (MiB)", 2.0**20),
}
"""Heads with units, and what the numbers below are divided by, of columns that are not headed by their names."""
_DIGITS = 3
_COLUMN, _PAGE, _BOTH = 229, 345, 469  # points of a column of an article of two, of one, and of two columns together
_LETTER = 5.0  # points
_SIZES: tuple[tuple[str, float, float], ...] = (
    ("", 1.0, 6.0),
    (r"\small\setlength{\tabcolsep}{4pt}", 0.925, 4.0),
    (r"\footnotesize\setlength{\tabcolsep}{3pt}", 0.85, 3.0),
    (r"\scriptsize\setlength{\tabcolsep}{1.5pt}", 0.8, 1.5),
)
"""Fonts: commands, the width of letters relative to the usual ones, and points on each side of a column."""
_ONE_COLUMN = r"""\csname if@twocolumn\endcsname\onecolumn\let\afterwards\twocolumn\else\let\afterwards\relax\fi
{%s
%s}\afterwards
"""
"""Around a longtable, which is an error on pages of two columns: its font and text."""
_BREAK = r" \\ "
_COMMANDS = re.compile(r"\\(?:begin\{tabular\}.{12}|end\{tabular\}|[a-zA-Z]+|,) ?|[\\{}$^]")
_SIGN = re.compile(r"\$\\[a-z]+\$")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_GREEK = {"α": "alpha", "β": "beta", "λ": "lambda", "μ": "mu", "ρ": "rho", "σ": "sigma", "τ": "tau", "χ": "chi"}
_SIGNS = {"≤": "leq", "≥": "geq", "×": "times", "÷": "div", "±": "pm", "∞": "infty", "·": "cdot", "≈": "approx"}
_TO_LATEX = str.maketrans(
    {sign: rf"\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", '"': "''"}
    | {"[": "{[}", "*": "{*}", "`": r"\textasciigrave{}"}  # after a line's end, the first two are its arguments
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
    | {"–": "--", "−": "$-$", "²": "$^2$", "…": r"\ldots{}", "†": r"$\dagger$", "Δ": r"$\Delta$"}
    | {sign: rf"$\{name}$" for sign, name in (_SIGNS | _GREEK).items()}
)


def latex_table(
    frame: pd.DataFrame,
    caption: str = "",
    label: str = "",
    *,
    bold: pd.DataFrame | None = None,
    names: Mapping[str, str] | None = None,
) -> str:
    r"""A ``table`` for a paper that loads ``booktabs`` (a ``longtable``, on pages of one column, above 40 rows).

    It fits a column of 3.2 inches, or is a ``table*`` over both columns.

    The columns of the frame become the columns, its index is left out, and so are columns of empty texts. Texts and
    headers are escaped; an underscore in a header becomes a space. `bold` is a mask of columns, whose texts are set as
    numbers are; `names` says what columns and entries are called in the paper (``gm``: ``Greedy Merge``).
    """
    named = names or {}
    shown = frame.set_axis(range(frame.shape[1]), axis="columns").reset_index(drop=True)
    shown = shown[[at for at in shown if not len(shown) or not (shown[at].astype(object) == "").all()]].copy()
    heads, cells, sides = {}, {}, {}
    for at in shown:
        name = str(frame.columns[at])
        title, unit = head(name), _HEADS.get(name, ("", 1))[1]
        number = is_numeric_dtype(shown[at]) and not is_bool_dtype(shown[at])
        if number and unit != 1:
            shown[at] = shown[at].astype(np.float64) / unit
        entries = shown[at].map(_column_format(shown[at]) if number else lambda entry: _text(_called(entry, named)))
        side = "r" if number or (bold is not None and name in bold) else "l"
        heads[at], cells[at], sides[at] = _text(named.get(name, title)), entries.tolist(), side
    long, marked = len(frame) > _LONG, {at for at in cells if bold is not None and frame.columns[at] in bold}
    columns = {at: [heads[at], *cells[at]] for at in cells}
    shapes = ((_PAGE, 20),) if long else ((_COLUMN, 20), (_PAGE, 20), (_BOTH, 20), (_BOTH, 10))
    fitted = [_fit(columns, sides, _text(caption), marked, *shape) for shape in shapes]
    cells, caption, size, _ = next((one for one in fitted if one.fits), fitted[-1])
    heads, cells = {at: texts[0] for at, texts in cells.items()}, {at: texts[1:] for at, texts in cells.items()}
    styler = pd.DataFrame(cells).style.hide(axis="index").format_index(heads.get, axis="columns")
    for at in marked & set(cells):
        assert bold is not None
        leading = bold[frame.columns[at]].reset_index(drop=True)
        styler = styler.apply(lambda _, best=leading: np.where(best, "textbf:--rwrap;", ""), subset=[at])
    text: str = styler.to_latex(
        hrules=True,
        column_format="".join(sides[at] for at in cells),
        caption=caption or None,
        label=label or None,
        environment="longtable" if long else None if fitted[0].fits else "table*",
        position=None if long else "tbp",
        position_float=None if long else "centering",
    )
    return _ONE_COLUMN % (size, text) if long else text.replace("\\centering", f"\\centering{size}", 1)


class _Fitted(NamedTuple):
    """Columns with their heads, the caption, commands for the font, and whether the table is as narrow as asked."""

    cells: dict[int, list[str]]
    caption: str
    size: str
    fits: bool


def head(name: str) -> str:
    """A column's head in words, with the unit of its numbers."""
    return _HEADS.get(name, (name.replace("_", " "), 1))[0]


def _fit(
    cells: dict[int, list[str]], sides: Mapping[int, str], caption: str, bold: set[int], points: float, longest: int
) -> _Fitted:
    """Make a table, whose columns begin with their heads, no wider than the points if possible.

    As far as needed: words of heads are stacked, columns of one entry go into the caption, the font is smaller, and
    texts of more letters than the `longest` line are stacked. `bold` columns have bold entries and stay.
    """

    def letters(at: int, start: int = 0) -> float:
        lines = [line for text in cells[at][start:] for line in text.split(_BREAK)]
        wide = [len(_COMMANDS.sub("", _SIGN.sub("mm", line))) for line in lines]
        narrow = [0.4 * line.count(r"\,") - 0.6 * line.count(" $") for line in lines]  # spaces in numbers, around signs
        return max(1, *map(sum, zip(wide, narrow, strict=True))) * (1.15 if at in bold else 1)

    def fits(scale: float = 1.0, space: float = 6.0) -> bool:
        return sum(scale * _LETTER * letters(at) + 2 * space for at in cells) <= points

    def stacked(text: str, most: int, start: str) -> str:
        lines = wrap(text, most, break_long_words=False)
        return rf"\begin{{tabular}}{start}{_BREAK.join(lines)}\end{{tabular}}" if len(lines) > 1 else text

    cells, names = {at: list(texts) for at, texts in cells.items()}, {at: texts[0] for at, texts in cells.items()}
    sizes = _SIZES if points > _COLUMN else _SIZES[:-1]
    if not fits():
        for at in cells:
            cells[at][0] = stacked(names[at], int(letters(at, 1)), f"[b]{{@{{}}{sides[at]}@{{}}}}")
    constant = [at for at in cells if at not in bold and len(set(cells[at][1:])) == 1 < len(cells[at]) - 1]
    if not fits() and caption and len(constant) < len(cells):
        said = [f"{names[at]} = {cells.pop(at)[1]}" for at in constant]
        if known := "; ".join(each for each in said if not each.endswith("--")):
            caption = f"{caption.removesuffix('.')}. In all rows: {known}."
    for at in () if fits(*_SIZES[2][1:]) else [at for at in cells if sides[at] == "l"]:
        cells[at][1:] = [stacked(text, longest, "[t]{@{}l@{}}") for text in cells[at][1:]]
    size = next((size for size, *narrower in sizes if fits(*narrower)), None)
    return _Fitted(cells, caption, sizes[-1][0] if size is None else size, size is not None)


def results_latex(rows: pd.DataFrame, by: Sequence[str] = (), *, names: Mapping[str, str] | None = None) -> str:
    """Runs, or the groups of `grouped` by these columns, as a table for a paper.

    A group has n (its instances), the mean ratio with its 95% interval and maximum, the optima that it reached, and its
    mean time; the mean value where no ratio is known.
    """
    if not by:
        known = rows[[name for name in _OF_RUNS if name in rows.columns]]
        return latex_table(known, "Runs.", "tab:runs", names=names)
    whole, bounded = rows["instances"] == rows["of_instances"], bool(rows["mean_ratio"].notna().any())
    first = list(rows.columns[: len(by)])
    ends = rows[["ratio_low", "ratio_high"]]
    missing = "–" if ends.notna().to_numpy().any() else ""  # a column without any interval is left out
    shown = rows.assign(interval=[f"{low:.2f}–{high:.2f}" if low == low else missing for low, high in ends.to_numpy()])
    if not whole.all():
        counts = zip(rows["instances"], rows["of_instances"], strict=True)
        shown["instances"] = [f"{some} of {of}" for some, of in counts]
    ratios = ("mean_ratio", "interval", "max_ratio", "reached") if bounded else ("mean_value",)
    more = ["failed"] if rows["failed"].any() else []
    more += ["ratio_instances"] if (rows["instances"] != rows["ratio_instances"]).any() else []
    heads = " and ".join((names or {}).get(name, head(name)) for name in by)
    what = (
        "ratio of the value to the best proven lower bound, its mean over n instances with the 95% interval by "
        "Student's t, its maximum, and the runs that reached a proven optimum"
        if bounded
        else "mean value over n instances"
    )
    repeated = ["runs"] if bounded and (rows["runs"] != rows["instances"]).any() else []  # more runs than n reach it
    columns = [*first, "instances", *repeated, *ratios, *more, "mean_seconds"]
    caption = f"Results by {heads}: {what}."
    return latex_table(shown[columns], caption, "tab:results", names=names)


def _column_format(column: pd.Series[Any]) -> Any:
    """A format with as many decimals for a column as its largest number needs for four significant digits.

    A number that would lose them, or all but one beside numbers below a hundred, has a power of ten.
    """
    finite = column.dropna().to_numpy(dtype=np.float64)
    finite = finite[np.isfinite(finite)]
    whole = bool(np.all(finite == np.round(finite)))
    largest = float(np.abs(finite).max(initial=0.0)) or 1.0
    decimals = 0 if whole else max(0, _DIGITS - 1 - int(np.floor(np.log10(largest))))
    least = 10.0 ** (1 - decimals) if decimals > 1 else 0.5 * 10**-decimals

    def formatted(number: float) -> str:
        if pd.isna(number) or not np.isfinite(number):
            return "--"
        if number and not whole and abs(number) < least:
            mantissa, exponent = f"{number:.{_DIGITS - 2}e}".split("e")
            return rf"${mantissa} \cdot 10^{{{int(exponent)}}}$"
        separator = r"\," if largest >= 10_000 else ""
        return f"{number:,.{decimals}f}".replace(",", separator).replace("-", "$-$")

    return formatted


def _called(entry: object, names: Mapping[str, str]) -> object:
    """The entry by its name in the paper; yes and no for truth."""
    if isinstance(entry, (bool, np.bool_)):
        return "yes" if entry else "no"
    return called(entry, names) if isinstance(entry, str) else names.get(str(entry), entry)


def called(text: str, names: Mapping[str, str]) -> str:
    """A text with the names in it as the paper has them, such as a method's with its options."""
    if not names or text in names:
        return names.get(text, text)
    longest = sorted(map(re.escape, names), key=len, reverse=True)
    return re.sub(rf"(?<![\w-])(?:{'|'.join(longest)})(?![\w-])", lambda found: names[found[0]], text)


def _text(entry: object) -> str:
    """An entry as LaTeX; a missing one is a dash."""
    if entry is None or (isinstance(entry, float) and np.isnan(entry)):
        return "--"
    if isinstance(entry, (tuple, list)):
        entry = " ".join(map(str, entry))
    return escaped(str(entry))


def escaped(text: str) -> str:
    r"""A text as LaTeX sets it: ``a_b ÷ 2`` becomes ``a\_b $\div$ 2``; a control character is a space."""
    return _CONTROL.sub(" ", text).translate(_TO_LATEX).replace("$$", "")


_FORMULA = re.compile(r"[ \t\r\n]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r]")


def csv_text(table: pd.DataFrame) -> str:
    """A table as CSV, without its index; the elements of a list are separated by spaces.

    A text (or header) that a spreadsheet would take for a formula, since it begins with ``=``, ``+``, ``-`` or ``@``,
    gets an apostrophe in front; control characters become ``�``. Numbers are as they are.
    """
    plain = table.rename(columns=_cell)
    for at, dtype in enumerate(table.dtypes):
        if not is_numeric_dtype(dtype):
            plain.isetitem(at, table.iloc[:, at].map(_cell))
    text: str = plain.to_csv(index=False, lineterminator="\n")
    return text


def _cell(entry: Any) -> Any:
    if isinstance(entry, (tuple, list)):
        entry = " ".join(map(str, entry))
    return _text_cell(entry) if isinstance(entry, str) else entry


@lru_cache(maxsize=2**14)
def _text_cell(entry: str) -> str:
    text = printable(entry)
    return f"'{text}" if _FORMULA.match(entry) else text


_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml."
_OFFICE = "http://schemas.openxmlformats.org"
_WORKBOOK: Mapping[str, str] = {
    "[Content_Types].xml": f'<Types xmlns="{_OFFICE}/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/book.xml" ContentType="{_TYPES}sheet.main+xml"/>'
    f'<Override PartName="/sheet.xml" ContentType="{_TYPES}worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_OFFICE}/package/2006/relationships"><Relationship Id="r1" '
    f'Type="{_OFFICE}/officeDocument/2006/relationships/officeDocument" Target="book.xml"/></Relationships>',
    "_rels/book.xml.rels": f'<Relationships xmlns="{_OFFICE}/package/2006/relationships"><Relationship Id="r1" '
    f'Type="{_OFFICE}/officeDocument/2006/relationships/worksheet" Target="sheet.xml"/></Relationships>',
    "book.xml": f'<workbook xmlns="{_OFFICE}/spreadsheetml/2006/main" '
    f'xmlns:r="{_OFFICE}/officeDocument/2006/relationships"><sheets><sheet name="results" sheetId="1" r:id="r1"/>'
    "</sheets></workbook>",
}


def workbook(table: pd.DataFrame) -> bytes:
    """A table as an Excel workbook (.xlsx) of one sheet, numbers as numbers; equal tables are equal bytes."""

    def cell(entry: Any) -> str:
        if isinstance(entry, (int, float, np.number)) and not isinstance(entry, bool):
            return f"<c><v>{entry!r}</v></c>" if np.isfinite(entry) else "<c/>"
        text = "" if entry is None else _CONTROL.sub(" ", str(_cell(entry)))
        return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'

    lines = [list(map(str, table.columns)), *table.astype(object).to_numpy().tolist()]
    rows = "".join(f"<row>{''.join(map(cell, line))}</row>" for line in lines)
    sheet = f'<worksheet xmlns="{_OFFICE}/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in {**_WORKBOOK, "sheet.xml": sheet}.items():
            file.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
