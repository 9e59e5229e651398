"""What Onus and Richa (P2) say of their Figures 1 to 4, as checks on their grids; §6 is in :mod:`.p2_diameter`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from ..papers.bench import Bench
from ..papers.figures import apart_by_rule
from ..papers.grids import GRIDS
from ..papers.grids import SIZES as CLAIMED
from ..papers.grids_p2 import K_VALUES
from .claim import Claim, Finding
from .evidence import at_least, at_most, within
from .on_grids import figure_claim
from .p2_points import at_points, by_method, finding_on, from_point_to_point, independent_rows, on_average

_TENTH, _K = 0.1, 3.0
_READINGS: Mapping[str, str] = {
    "minmax-oda": "MinMax-ODA as §1.1 words it: among the edges that raise the maximum degree least, also edges that "
    "connect nothing",
    "gm-m": "MinMax-ODA without edges that connect nothing",
}
_INDEPENDENT = "each node subscribes to each topic by itself, ten topics in the mean"
_NAMES = {"gm": "GM", "minmax-oda": "MinMax-ODA", "gm-m": "MinMax-ODA, contributing edges only"}
_RULES: Mapping[str, tuple[str, str]] = {
    "k=3": ("", "e1 is taken if it weighs at least w(e2)/k, as in Algorithm 1"),
    "k=3, strict": (", with >", "e1 is taken if it weighs more than w(e2)/k, as in the prose of §3"),
}
"""Low-ODA's lines at k = 3, and its rule as a subject and a reading have it."""
_WORDS = {"max_degree": "maximum degree", "average_degree": "average degree"}


def _between(bench: Bench, figure: str, measure: str) -> Iterable[Finding]:
    """Low-ODA against GM and both readings of MinMax-ODA, at every |V|, k = 3."""
    yield from _sides(bench.rows, figure, measure)
    shapes = [{"nodes": n, "topics": 100, "subscriptions": 10} for n in ((100,) if bench.quick else (100, 500))]
    methods: Sequence[tuple[str, Mapping[str, Any]]] = [(name, {}) for name in (*_NAMES, "low-oda")]
    rows = independent_rows(bench, "zipf", shapes, methods, "low-tco")
    yield from _sides(rows, figure, measure, _INDEPENDENT)


def _sides(rows: pd.DataFrame, figure: str, measure: str, law: str = "") -> Iterable[Finding]:
    rows = with_k(rows)
    table = by_method(rows, measure, "line")
    suffix = " (topics drawn independently)" if law else ""
    for line, (rule, said) in _RULES.items():
        if line not in table:
            continue
        for method, name in _NAMES.items():
            below = (measure == "max_degree") is (method == "gm")
            judge = partial(at_most if below else at_least, limit=0.0)
            less, of = table[line] - table[method], f"Low-ODA − {name}"
            reading = "; ".join(filter(None, (_READINGS.get(method, ""), said, law)))
            subject = f"Low-ODA{rule} at {'most' if below else 'least'} {name}{suffix}"
            found = at_points(less, of, judge)
            text = f"The {_WORDS[measure]} of Low-ODA less that of {name}, mean at a point {found.range}."
            yield finding_on(rows, CLAIMED[figure], subject, found, text, reading=reading)
            found = on_average(less, of, judge)
            text = f"The {_WORDS[measure]} of Low-ODA less that of {name}, mean over the points {found.range}."
            reading += "; between, on average over the sizes"
            yield finding_on(rows, CLAIMED[figure], f"{subject}, on average", found, text, reading=reading)


def _degradation(bench: Bench) -> Iterable[Finding]:
    """P2 §5: what Low-ODA loses in the quantity that the other algorithm is made for."""
    rows = with_k(bench.rows)
    for method, measure in (("gm", "average_degree"), ("minmax-oda", "max_degree"), ("gm-m", "max_degree")):
        table = by_method(rows, measure, "line")
        for line, (rule, said) in _RULES.items():
            found = at_points(
                table[line] / table[method], f"Low-ODA ÷ {_NAMES[method]}", partial(at_most, limit=1 + _TENTH)
            )
            text = f"The {_WORDS[measure]} of Low-ODA ÷ that of {_NAMES[method]}, mean at a point {found.range}."
            reading = "; ".join(filter(None, ("small: at most a tenth", _READINGS.get(method, ""), said)))
            subject = f"{_WORDS[measure]}{rule} against {_NAMES[method]}"
            yield finding_on(rows, CLAIMED["P2.F1"], subject, found, text, reading=reading)


def with_k(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the columns k and line: the method, or Low-ODA's k and rule (``k=2, strict``)."""
    k = pd.Series([json.loads(text).get("k") for text in rows["options"]], rows.index, float)
    k = k.mask(k.isna() & (rows["method"] == "low-oda"), _K)
    named = apart_by_rule(rows.assign(k=k))
    strict = named["method"] != rows["method"]
    of_k = [f"k={k:g}{', strict' if more else ''}" for k, more in zip(named["k"], strict, strict=True)]
    return rows.assign(k=named["k"], line=rows["method"].where(k.isna(), of_k))


def _in_k(bench: Bench, figure: str, measure: str) -> Iterable[Finding]:
    rows = with_k(bench.rows)
    table = by_method(rows, measure, "line")
    table["k=1, strict"] = table["gm"]
    for (rule, said), suffix in zip(_RULES.values(), ("", ", strict"), strict=True):
        lines = {f"k={k:g}{suffix}": f"k={k:g}" for k in K_VALUES}
        own = "with > and k = 1 Low-ODA is GM: no weight is above the largest" if suffix else ""
        renamed = table[[*lines, *_NAMES]].rename(columns=lines)
        yield from _in_k_by(rows, renamed, figure, measure, rule, said, own)


def _in_k_by(
    rows: pd.DataFrame, table: pd.DataFrame, figure: str, measure: str, rule: str, said: str, own: str
) -> Iterable[Finding]:
    """How a degree changes with k under one rule of Low-ODA; the columns of `table` are ``k=1`` … and methods."""
    falls = measure == "max_degree"
    word, judge = ("falls", partial(at_most, limit=0.0)) if falls else ("rises", partial(at_least, limit=0.0))
    lines = [f"k={k:g}" for k in K_VALUES]
    shown = ", ".join(f"{table[line].mean():.2f}" for line in lines)
    steps = table[lines].rename_axis(columns="k").stack()
    found = from_point_to_point(steps, "k", _WORDS[measure], judge)
    text = f"Means for k = 1 … 8: {shown}."
    yield finding_on(rows, CLAIMED[figure], f"{word} with k, step by step{rule}", found, text, reading=said)
    found = from_point_to_point(steps, "k", _WORDS[measure], judge, ends=True)
    yield finding_on(rows, CLAIMED[figure], f"{word} from k = 1 to k = 8{rule}", found, text, reading=said)
    for line, method in (("k=1", "gm"), ("k=8", "minmax-oda"), ("k=8", "gm-m")):
        ratio = at_points(
            table[line] / table[method],
            f"Low-ODA with {line} ÷ {_NAMES[method]}",
            partial(within, low=1 - _TENTH, high=1 + _TENTH),
        )
        text = f"The {_WORDS[measure]} with {line} ÷ that of {_NAMES[method]}: {ratio.range}."
        given = _READINGS.get(method, own)
        reading = "; ".join(filter(None, ("about the same: within a tenth", given, said)))
        subject = f"{line.replace('=', ' = ')} ≈ {_NAMES[method]}{rule}"
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
