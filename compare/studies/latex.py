"""Tables as LaTeX: booktabs rules, every text escaped, no siunitx."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..printable import printable

Best = Literal["min", "max"]
_LONG = 40
_OF_RUNS = ("problem", "variant", "family", "status", "value", "bound", "ratio", "seconds")
_LEFT_OUT = (
    *("mean_lower_bound", "mean_primal_integral", "mean_dual_integral"),
    *("mean_cpu_seconds", "mean_peak_memory"),
)
_MEANS = ("mean_ratio", "mean_value", "mean_seconds")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_GREEK = {"α": "alpha", "β": "beta", "λ": "lambda", "μ": "mu", "ρ": "rho", "σ": "sigma", "τ": "tau", "χ": "chi"}
_SIGNS = {"≤": "leq", "≥": "geq", "×": "times", "÷": "div", "±": "pm", "∞": "infty", "·": "cdot", "≈": "approx"}
_TO_LATEX = str.maketrans(
    {sign: rf"\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", '"': "''"}
    | {"[": "{[}", "*": "{*}", "`": r"\textasciigrave{}"}  # after a line's end, the first two are its arguments
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
    | {"–": "--", "−": "$-$", "²": "$^2$", "…": r"\ldots{}", "Δ": r"$\Delta$"}
    | {sign: rf"$\{name}$" for sign, name in (_SIGNS | _GREEK).items()}
)


def latex_table(
    frame: pd.DataFrame,
    caption: str = "",
    label: str = "",
    *,
    best: Mapping[str, Best] | None = None,
    within: Sequence[str] = (),
    among: pd.Series[bool] | None = None,
    digits: int = 4,
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
    within : sequence of str
        Bold is the best of the rows that agree in these columns.
    among : Series of bool, optional
        The rows that may be bold; by default all.
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
    groups = [shown[at] for at, name in enumerate(frame.columns) if name in within] or [pd.Series(0, shown.index)]
    for at, name in enumerate(frame.columns):
        if best and name in best:
            compared = shown[at] if among is None else shown[at].where(among.to_numpy())
            leading = compared == compared.groupby(groups, dropna=False).transform(best[name])
            styler = styler.apply(lambda _, bold=leading: np.where(bold, "textbf:--rwrap;", ""), subset=[at])
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


def results_latex(rows: pd.DataFrame, by: Sequence[str] = (), *, bold: bool = False) -> str:
    """Runs, or the groups of `grouped` by these columns, as a table with the columns that fit a page.

    Parameters
    ----------
    bold : bool
        Mark the best means of the groups that agree in all of `by` but the last, as the best of each column. A mean
        over fewer instances than these groups have together is not compared.
    """
    if not by:
        return latex_table(rows[[name for name in _OF_RUNS if name in rows.columns]], "Runs.", "tab:runs")
    shown = rows.drop(columns=[name for name in _LEFT_OUT if name in rows.columns])
    whole = rows["instances"] == rows["of_instances"]
    if not rows["failed"].any():
        shown = shown.drop(columns="failed")
    if bool(whole.all()):
        shown = shown.drop(columns="of_instances")
    if bool((rows["instances"] == rows["ratio_instances"]).all()):
        shown = shown.drop(columns="ratio_instances")
    caption = f"Results by {' and '.join(by).replace('_', ' ')}; means over the instances that a group answered."
    best: dict[str, Best] = dict.fromkeys(_MEANS if bold else (), "min")
    return latex_table(shown, caption, "tab:results", best=best, within=by[:-1], among=whole)


def _column_format(column: pd.Series[Any], digits: int) -> Any:
    """A format with as many decimals for a column as its largest number needs for these significant digits.

    A number that would lose them, or all but one beside numbers below a hundred, has a power of ten.
    """
    finite = column.dropna().to_numpy(dtype=np.float64)
    finite = finite[np.isfinite(finite)]
    whole = bool(np.all(finite == np.round(finite)))
    largest = float(np.abs(finite).max(initial=0.0)) or 1.0
    decimals = 0 if whole else max(0, digits - 1 - int(np.floor(np.log10(largest))))
    least = 10.0 ** (1 - decimals) if decimals > 1 else 0.5 * 10**-decimals

    def formatted(number: float) -> str:
        if pd.isna(number) or not np.isfinite(number):
            return "--"
        if number and not whole and abs(number) < least:
            mantissa, exponent = f"{number:.{digits - 2}e}".split("e")
            return rf"${mantissa} \cdot 10^{{{int(exponent)}}}$"
        return f"{number:,.{decimals}f}".replace(",", "{,}").replace("-", "$-$")

    return formatted


def _text(entry: object) -> str:
    """An entry as LaTeX; a missing one is a dash."""
    if entry is None or (isinstance(entry, float) and np.isnan(entry)):
        return "--"
    if isinstance(entry, (tuple, list)):
        entry = " ".join(map(str, entry))
    return escaped(str(entry))


def escaped(text: str) -> str:
    r"""A text as LaTeX sets it: ``a_b ÷ 2`` becomes ``a\_b $\div$ 2``; a control character is a space."""
    return _CONTROL.sub(" ", text).translate(_TO_LATEX)


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
