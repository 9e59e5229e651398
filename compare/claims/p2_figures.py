"""What Onus and Richa (P2) say of their Figures 1 to 4, as checks on their grids; §6 is in :mod:`.p2_diameter`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from ..papers.bench import Bench
from ..papers.grids import GRIDS
from ..papers.grids import SIZES as CLAIMED
from ..papers.grids_p2 import K_VALUES
from .claim import Claim, Finding
from .evidence import at_least, at_most, within
from .on_grids import figure_claim
from .p2_points import at_points, by_method, finding_on, from_point_to_point, independent_rows

_TENTH = 0.1
_READINGS: Mapping[str, str] = {
    "minmax-oda": "MinMax-ODA as §1.1 words it: among the edges that raise the maximum degree least, also edges that "
    "connect nothing",
    "gm-m": "MinMax-ODA without edges that connect nothing",
}
_INDEPENDENT = "each node subscribes to each topic by itself, ten topics in the mean"
_NAMES = {"gm": "GM", "minmax-oda": "MinMax-ODA", "gm-m": "MinMax-ODA, contributing edges only"}
_WORDS = {"max_degree": "maximum degree", "average_degree": "average degree"}


def _between(bench: Bench, figure: str, measure: str) -> Iterable[Finding]:
    """Low-ODA against GM and both readings of MinMax-ODA, at every |V|, k = 3."""
    yield from _sides(bench.rows, figure, measure)
    shapes = [{"nodes": n, "topics": 100, "subscriptions": 10} for n in ((100,) if bench.quick else (100, 500))]
    methods: Sequence[tuple[str, Mapping[str, Any]]] = [(name, {}) for name in (*_NAMES, "low-oda")]
    rows = independent_rows(bench, "zipf", shapes, methods, "low-tco")
    yield from _sides(rows, figure, measure, _INDEPENDENT)


def _sides(rows: pd.DataFrame, figure: str, measure: str, law: str = "") -> Iterable[Finding]:
    table = by_method(rows, measure)
    largest = measure == "max_degree"
    low = table["low-oda"]
    of_gm = low - table["gm"]
    suffix = " (topics drawn independently)" if law else ""
    judge = partial(at_most, limit=0.0) if largest else partial(at_least, limit=0.0)
    found = at_points(of_gm, "Low-ODA − GM", judge)
    text = f"The {_WORDS[measure]} of Low-ODA less that of GM, mean at a point {found.range}."
    side = "at most" if largest else "at least"
    yield finding_on(rows, CLAIMED[figure], f"Low-ODA {side} GM{suffix}", found, text, reading=law)
    for method, reading in _READINGS.items():
        judge = partial(at_least, limit=0.0) if largest else partial(at_most, limit=0.0)
        found = at_points(low - table[method], f"Low-ODA − {_NAMES[method]}", judge)
        text = f"The {_WORDS[measure]} of Low-ODA less that of {_NAMES[method]}, mean at a point {found.range}."
        side = "at least" if largest else "at most"
        own = "; ".join(filter(None, (reading, law)))
        yield finding_on(rows, CLAIMED[figure], f"Low-ODA {side} {_NAMES[method]}{suffix}", found, text, reading=own)


def _degradation(bench: Bench) -> Iterable[Finding]:
    """P2 §5: what Low-ODA loses in the quantity that the other algorithm is made for."""
    rows = bench.rows
    for method, measure in (("gm", "average_degree"), ("minmax-oda", "max_degree"), ("gm-m", "max_degree")):
        table = by_method(rows, measure)
        found = at_points(
            table["low-oda"] / table[method], f"Low-ODA ÷ {_NAMES[method]}", partial(at_most, limit=1 + _TENTH)
        )
        text = f"The {_WORDS[measure]} of Low-ODA ÷ that of {_NAMES[method]}, mean at a point {found.range}."
        reading = "; ".join(filter(None, ("small: at most a tenth", _READINGS.get(method, ""))))
        subject = f"{_WORDS[measure]} against {_NAMES[method]}"
        yield finding_on(rows, CLAIMED["P2.F1"], subject, found, text, reading=reading)


def with_k(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the column k, and Low-ODA's method named ``k=1``."""
    options = [json.loads(text) for text in rows["options"]]
    named = [f"k={one['k']:g}" if "k" in one else name for one, name in zip(options, rows["method"], strict=True)]
    return rows.assign(k=[one.get("k") for one in options], line=named)


def _in_k(bench: Bench, figure: str, measure: str) -> Iterable[Finding]:
    rows = with_k(bench.rows)
    table = by_method(rows, measure, "line")
    falls = measure == "max_degree"
    word, judge = ("falls", partial(at_most, limit=0.0)) if falls else ("rises", partial(at_least, limit=0.0))
    lines = [f"k={k:g}" for k in K_VALUES]
    shown = ", ".join(f"{table[line].mean():.2f}" for line in lines)
    steps = table[lines].rename_axis(columns="k").stack()
    found = from_point_to_point(steps, "k", _WORDS[measure], judge)
    text = f"Means for k = 1 … 8: {shown}."
    yield finding_on(rows, CLAIMED[figure], f"{word} with k, step by step", found, text)
    found = from_point_to_point(steps, "k", _WORDS[measure], judge, ends=True)
    yield finding_on(rows, CLAIMED[figure], f"{word} from k = 1 to k = 8", found, text)
    for line, method in (("k=1", "gm"), ("k=8", "minmax-oda"), ("k=8", "gm-m")):
        ratio = at_points(
            table[line] / table[method],
            f"Low-ODA with {line} ÷ {_NAMES[method]}",
            partial(within, low=1 - _TENTH, high=1 + _TENTH),
        )
        text = f"The {_WORDS[measure]} with {line} ÷ that of {_NAMES[method]}: {ratio.range}."
        reading = "; ".join(filter(None, ("about the same: within a tenth", _READINGS.get(method, ""))))
        subject = f"{line.replace('=', ' = ')} ≈ {_NAMES[method]}"
        yield finding_on(rows, CLAIMED[figure], subject, ratio, text, reading=reading)


CLAIMS_P2_FIGURES: tuple[Claim, ...] = (
    figure_claim(
        "P2.F1",
        "maximum degree: Low-ODA between GM and MinMax-ODA",
        partial(_between, figure="P2.F1", measure="max_degree"),
    ),
    figure_claim(
        "P2.F2",
        "average degree: Low-ODA between GM and MinMax-ODA",
        partial(_between, figure="P2.F2", measure="average_degree"),
    ),
    Claim(
        "P2.S5.1",
        "Low-ODA pays little: its average degree is near GM's, its maximum degree near MinMax-ODA's",
        "P2 §5",
        _degradation,
        GRIDS["P2.F1"],
    ),
    figure_claim(
        "P2.F3",
        "the maximum degree falls in k; k = 1 ≈ GM, k = 8 ≈ MinMax-ODA",
        partial(_in_k, figure="P2.F3", measure="max_degree"),
    ),
    figure_claim(
        "P2.F4",
        "the average degree rises in k; k = 1 ≈ GM, k = 8 ≈ MinMax-ODA",
        partial(_in_k, figure="P2.F4", measure="average_degree"),
    ),
)
