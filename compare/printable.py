"""Values and texts as terminals, CSV, data frames and pages show them."""

from __future__ import annotations

import gzip
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..instances.contract.numbers import ratio, short
from ..instances.contract.terms import said

if TYPE_CHECKING:
    import pandas as pd

_DIGITS, _DIGEST = 8, re.compile("[0-9a-f]{32,}")
_RATIOS = ("ratio", "mean_ratio", "max_ratio", "ratio_low", "ratio_high")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """A text whose control characters are ``�``, except tabs and ends of lines."""
    return _CONTROL.sub("�", text)


def printable_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """A copy with all texts printable."""
    rows = rows.copy()
    for name in rows.select_dtypes("object"):
        rows[name] = rows[name].map(lambda entry: printable(entry) if isinstance(entry, str) else entry)
    return rows


def cell(name: str, value: object) -> str:
    """A value in a table, by the name of its column: the first digits of digests, memory in MiB, shares in per cent."""
    if isinstance(value, str):
        return printable(value)[: _DIGITS if _DIGEST.fullmatch(value) else None]
    if isinstance(value, float) and value == value:
        if name.endswith("memory"):
            return f"{value / 2**20:,.{1 if value < 2**24 else 0}f} MiB"
        if name.endswith(("gap", "integral")):
            return f"{value:.2%}"
        if name in _RATIOS and 1 <= value < 1e6:
            return ratio(value)
        if name.endswith("seconds"):
            return f"{value:.3g}"
    return short(value)


def markdown_table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """The lines of a table in Markdown."""
    first, *others = ([cell.replace("|", "\\|").replace("\n", " ").rstrip() for cell in row] for row in (heads, *rows))
    yield from (f"| {' | '.join(row)} |" for row in (first, ["---"] * len(first), *others))


def template(name: str) -> Any:
    """A template of a page (Jinja) by its path in this folder, such as ``report/report.html``; HTML escapes all texts.

    Filters: `tojson` for the data of a script element, `said` for words of the trade, `compressed` for hidden rows.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    dumps = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":")}
    environment.policies["json.dumps_kwargs"] = dumps
    environment.filters["said"] = said
    environment.filters["compressed"] = lambda rows: b64encode(gzip.compress(str(rows).encode(), mtime=0)).decode()
    return environment.get_template(name)
