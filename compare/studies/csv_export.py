"""Tables as CSV whose texts stay texts in a spreadsheet."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from ..printable import printable

_FORMULA = re.compile(r"[ \t\r\n]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r]")


def csv_text(table: pd.DataFrame) -> str:
    """A table as CSV, without its index; the elements of a list are separated by spaces.

    A text (or header) that a spreadsheet would take for a formula, since it begins with ``=``, ``+``, ``-`` or ``@``,
    gets an apostrophe in front; control characters become ``�``. Numbers are as they are.
    """
    plain = table.rename(columns=_cell)
    for at, dtype in enumerate(table.dtypes):
        if not pd.api.types.is_numeric_dtype(dtype):
            plain.isetitem(at, table.iloc[:, at].map(_cell))
    text: str = plain.to_csv(index=False, lineterminator="\n")
    return text


def _cell(entry: Any) -> Any:
    if isinstance(entry, (tuple, list)):
        entry = " ".join(map(str, entry))
    if not isinstance(entry, str):
        return entry
    text = printable(entry)
    return f"'{text}" if _FORMULA.match(entry) else text
