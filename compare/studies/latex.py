"""Tables as LaTeX: booktabs rules, every text escaped, no siunitx."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

Best = Literal["min", "max"]
_LONG = 40
_GREEK = {"α": "alpha", "β": "beta", "λ": "lambda", "τ": "tau", "ρ": "rho"}
_SIGNS = {"≤": "leq", "≥": "geq", "×": "times", "÷": "div", "±": "pm", "∞": "infty", "·": "cdot", "≈": "approx"}
_TO_LATEX = str.maketrans(
    {sign: rf"\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", '"': "''"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "–": "--", "−": "$-$", "²": "$^2$"}
    | {sign: rf"$\{name}$" for sign, name in (_SIGNS | _GREEK).items()}
)


def latex_table(
    frame: pd.DataFrame, caption: str = "", label: str = "", *, best: Mapping[str, Best] | None = None, digits: int = 4
) -> str:
    r"""A table for a paper that loads ``booktabs`` (and ``longtable`` for more than 40 rows).

    Parameters
    ----------
    frame : DataFrame
        Its columns become the columns, its index is left out. Texts and headers are escaped; an underscore in a
        header becomes a space.
    caption, label : str
        Of the table; left out where empty.
    best : mapping, optional
        The columns whose lowest (``min``) or highest (``max``) number is bold, ties included.
    digits : int
        Significant digits of numbers that are not whole.

    Returns
    -------
    str
        A ``table`` or ``longtable`` environment.

    Examples
    --------
    >>> import pandas as pd
    >>> print(latex_table(pd.DataFrame({"method": ["gm", "low-oda"], "mean_ratio": [1.0312, 1.25]})))
    \begin{table}[tbp]
    \centering
    \begin{tabular}{lr}
    \toprule
    method & mean ratio \\
    \midrule
    gm & 1.031 \\
    low-oda & 1.250 \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    shown = frame.set_axis(range(frame.shape[1]), axis="columns").reset_index(drop=True)
    numbers = [pd.api.types.is_numeric_dtype(each) and not pd.api.types.is_bool_dtype(each) for each in shown.dtypes]
    headers = [_text(str(name).replace("_", " ")) for name in frame.columns]
    formats = {at: _column_format(shown[at], digits) if number else _text for at, number in enumerate(numbers)}
    styler = shown.style.hide(axis="index").format(formats).format_index(lambda at: headers[at], axis="columns")
    for at, name in enumerate(frame.columns):
        if best and name in best and shown[at].notna().any():
            highlight = styler.highlight_min if best[name] == "min" else styler.highlight_max
            styler = highlight(subset=[at], props="textbf:--rwrap;")
    long = len(frame) > _LONG
    text: str = styler.to_latex(
        hrules=True,
        column_format="".join("r" if number else "l" for number in numbers),
        caption=_text(caption) or None,
        label=label or None,
        environment="longtable" if long else None,
        position=None if long else "tbp",
        position_float=None if long else "centering",
    )
    return text


def _column_format(column: pd.Series[Any], digits: int) -> Any:
    """A format with as many decimals for a column as its largest number needs for these significant digits."""
    finite = column.dropna().to_numpy(dtype=np.float64)
    finite = finite[np.isfinite(finite)]
    whole = bool(np.all(finite == np.round(finite)))
    largest = float(np.abs(finite).max()) if len(finite) else 0.0
    before = int(np.floor(np.log10(largest))) + 1 if largest >= 1 else 1
    decimals = 0 if whole else max(0, digits - before)

    def formatted(number: float) -> str:
        if not np.isfinite(number):
            return "--"
        if number and not whole and abs(number) < 0.5 * 10**-decimals:
            mantissa, exponent = f"{number:.{digits - 2}e}".split("e")
            return rf"${mantissa} \cdot 10^{{{int(exponent)}}}$"
        return f"{number:,.{decimals}f}".replace(",", "{,}").replace("-", "$-$")

    return formatted


def _text(entry: object) -> str:
    """An entry as LaTeX: special characters escaped, signs of mathematics as commands; a missing one is a dash."""
    if entry is None or (isinstance(entry, float) and np.isnan(entry)):
        return "--"
    if isinstance(entry, (tuple, list)):
        entry = " ".join(map(str, entry))
    return str(entry).translate(_TO_LATEX)
