"""The data of the page's interactive plots: every run once, in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path as Outline

from ..figures.style import method_styles
from ..studies.bounds import problem_order, sizes_of
from ..studies.columns import varied
from ..studies.plot import MEASURES, Plot

_TEXTS = ("problem", "label", "family", "status")
_TAKEN = (*_TEXTS, *MEASURES, "run", "instance", "proven", "seed", "bound", "runs", "instances", "lowest", "highest")
_DIGITS = 6


def plot_data(runs: pd.DataFrame, plots: Sequence[Plot] = ()) -> dict[str, Any]:
    """The runs in columns for the page's script; `plots` names the axes that are shown first.

    Parameters
    ----------
    runs : DataFrame
        From `judged_runs`, in the order of their anchors.

    Returns
    -------
    dict
        texts (column → its distinct texts, problems in their usual order), codes (column → index into texts, a run
        each), numbers (column → a number a run, None where it has none), axes (names of columns → titles, for x and
        y), styles (label → colour, outline of the marker in a square from −1 to 1, exact), instances (digests) and
        instance (a run each), first (x and y).

    Notes
    -----
    About 120 bytes of JSON a run.
    """
    own = runs.reset_index(drop=True)
    texts = {name: own[name].astype(str) for name in _TEXTS}
    numbers = {name: _numbers(own[name]) for name in ("seed", "bound")}
    titles = {}
    columns, sizes = varied(own), sizes_of(own)
    for given in sorted(columns, key=lambda name: name not in sizes):
        column = columns[given]
        name = f"parameter {given}" if given in _TAKEN else str(given)
        titles[name] = str(given).replace("_", " ")
        as_numbers = pd.to_numeric(column, errors="coerce")
        if as_numbers.notna().sum() == column.notna().sum():
            numbers[name] = _numbers(as_numbers)
        else:
            texts[name] = column.map(str, na_action="ignore").fillna("")
    shown = {name: one for name, one in MEASURES.items() if one.column in own and own[one.column].notna().any()}
    numbers |= {name: _numbers(own[one.column] / one.unit) for name, one in shown.items()}
    measures = {name: one.title for name, one in shown.items()}
    order = {"problem": problem_order(own)}
    known = {name: order.get(name) or sorted(column.unique()) for name, column in texts.items()}
    instances = own["instance"].unique().tolist()
    return {
        "texts": known,
        "codes": {name: _codes(column, known[name]) for name, column in texts.items()},
        "numbers": numbers,
        "proven": own["optimum"].notna().astype(int).tolist(),
        "instances": [digest[:8] for digest in instances],
        "instance": _codes(own["instance"], instances),
        "x": {**titles, "family": "family", "label": "method", **measures},
        "y": measures,
        "styles": _styles(own),
        "first": [[plot.x, plot.y] for plot in plots],
    }


def _numbers(column: pd.Series[float]) -> list[float | None]:
    """The numbers for JSON: None for what is not finite, whole ones exact, others with six digits."""
    values = pd.to_numeric(column).to_numpy(dtype=np.float64)
    return [_short(value) if np.isfinite(value) else None for value in values]


def _short(value: float) -> float:
    return int(value) if value == int(value) else float(f"{value:.{_DIGITS}g}")


def _codes(column: pd.Series[str], known: Sequence[str]) -> list[int]:
    index: Mapping[str, int] = {text: number for number, text in enumerate(known)}
    return [index[text] for text in column]


def _styles(runs: pd.DataFrame) -> dict[str, list[Any]]:
    exact = dict(zip(runs["label"], runs["exact"], strict=True))
    return {
        label: [style.colour, _outline(style.marker), bool(exact[label])]
        for label, style in method_styles(runs).items()
    }


def _outline(marker: str) -> str:
    """A marker of matplotlib as an SVG path in a square from −1 to 1."""
    style = MarkerStyle(marker)
    path = style.get_path().transformed(style.get_transform())
    size = max(float(np.abs(path.vertices).max()), 1e-9)
    letters = {Outline.MOVETO: "M", Outline.LINETO: "L", Outline.CURVE3: "Q", Outline.CURVE4: "C"}
    steps = []
    for points, code in path.iter_segments(simplify=False):
        if code == Outline.CLOSEPOLY:
            steps.append("Z")
        else:
            pairs = points.reshape(-1, 2) / size * (1, -1)  # SVG's y points down
            steps.append(letters[code] + " ".join(f"{x:g},{y:g}" for x, y in pairs.round(2) + 0.0))
    return "".join(steps)
