"""Texts without the characters that a terminal obeys, a reader of CSV breaks at, or pandas takes for a text's end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

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
