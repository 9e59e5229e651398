"""The figures of P1, P2 and P3 by their axes and lines, and the catalogue of all figures and tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..studies.recipe import Recipe
from .figure import PaperFigure, PaperTable
from .figures_p4 import FIGURES_P4, TABLES_P4
from .figures_p5 import FIGURES_P5, TABLES_P5
from .figures_p5_system import FIGURES_P5_SYSTEM, TABLES_P5_SYSTEM
from .rows_p3 import drawn
from .tables_p3 import TABLES_P3

NODES, TOPICS, SIZE = ("p_nodes", "number of nodes |V|"), ("p_topics", "number of topics |T|"), "topics a node"
AVERAGE, LARGEST = ("average_degree", "average degree"), ("max_degree", "maximum degree")
SECONDS = ("seconds", "seconds")


def with_steps(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the column share: the steps of GM ÷ (|V|²|T|); the instances are generated again."""
    worst_case = rows["p_nodes"].astype(float) ** 2 * rows["p_topics"].astype(float)
    return rows.assign(share=[greedy_merge_steps(recipe) for recipe in rows["recipe"]] / worst_case)


def greedy_merge_steps(recipe: str) -> float:
    """The number of times P1's Algorithm 3 decreases the contribution of an edge (lines 6–11); ties do not change it.

    Merging two components of topic t decreases it for every pair between them except the chosen edge, so the
    |V_t| − 1 merges take (|V_t| − 1)(|V_t| − 2)/2 steps.
    """
    sizes = np.diff(Recipe.from_json(recipe).make().topic_offsets).astype(float)
    return float(((sizes - 1) * (sizes - 2) / 2).sum())


def apart_by_rule(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with Low-ODA's runs just below a whole k, which read its rule with ">", as ``low-oda (>)`` at that k."""
    k = pd.to_numeric(rows["k"])
    return rows.assign(method=rows["method"].mask(k % 1 > 0, "low-oda (>)"), k=k.round(3))


_DEGREES_AND_TIME = (LARGEST, AVERAGE, SECONDS)
_K, _WITHOUT_K = ("k", "parameter k"), ("gm", "minmax-oda", "gm-m")
FIGURES: Mapping[str, PaperFigure] = {
    "P1.F2": PaperFigure(NODES, (AVERAGE,), ("workload", "p_topics"), bound="min-tco"),
    "P1.F3": PaperFigure(
        NODES,
        (("share", "steps ÷ (|V|²|T|)"),),
        ("workload", "p_topics"),
        published="in the order of 10⁻³",
        measured=with_steps,
    ),
    "P1.F4a": PaperFigure(
        NODES,
        (AVERAGE,),
        ("workload", "p_topics", "method", "order"),
        bound="min-tco",
        published="RingPT about 3 × GM",
    ),
    "P1.F4b": PaperFigure(
        TOPICS,
        (AVERAGE,),
        ("workload", "p_nodes", "method", "order", "p_subscriptions"),
        bound="min-tco",
        published="GM +25% at worst, RingPT doubles",
    ),
    "P2.F1": PaperFigure(NODES, (LARGEST,), ("method",), bound="minmax-tco", measured=apart_by_rule),
    "P2.F2": PaperFigure(NODES, (AVERAGE,), ("method",), bound="min-tco", measured=apart_by_rule),
    "P2.F3": PaperFigure(_K, (LARGEST,), ("method",), _WITHOUT_K, "minmax-tco", measured=apart_by_rule),
    "P2.F4": PaperFigure(_K, (AVERAGE,), ("method",), _WITHOUT_K, "min-tco", measured=apart_by_rule),
    "P2.F8": PaperFigure(
        NODES, (AVERAGE,), ("method",), bound="min-tco", published="2D-ODA ≤ 1.09 × GM; CD-ODA-II 2.04, CD-ODA, -I 2.06"
    ),
    "P2.F9": PaperFigure(
        TOPICS, (AVERAGE,), ("method",), bound="min-tco", published="2D-ODA ≤ 1.07 × GM; CD-ODA-II 1.96, CD-ODA, -I 2"
    ),
    "P2.F10": PaperFigure(
        ("p_subscriptions", SIZE),
        (AVERAGE,),
        ("method",),
        bound="min-tco",
        published="2D-ODA ≤ 1.1 × GM; CD-ODA-II 1.94, CD-ODA, -I 2.23",
    ),
    "P3.F4": PaperFigure(
        ("p", "number of parts p"),
        (LARGEST, AVERAGE, SECONDS, ("pn", "pn-ratio")),
        ("method",),
        ("gm-m",),
        published="T lowest near p = 10, D_DCBR at most 6.5 above D_GMM",
        measured=drawn,
    ),
    "P3.F5": PaperFigure(
        TOPICS,
        (LARGEST, SECONDS),
        ("method", "coverage"),
        published="differences in D ≥ 3, 0.71, ≤ 0.32",
        measured=drawn,
    ),
    "P3.F6": PaperFigure(
        NODES,
        _DEGREES_AND_TIME,
        ("workload", "method"),
        published="D_DCBR − D_GMM ≤ 2.0, T_DCBR ≤ 4% of T_GMM",
        measured=drawn,
    ),
    "P3.F7": PaperFigure(
        NODES, _DEGREES_AND_TIME, ("method",), published="T_DCBR 4.79%, T_DCB 75.7% of T_GMM", measured=drawn
    ),
    "P3.F8": PaperFigure(
        TOPICS,
        _DEGREES_AND_TIME,
        ("workload", "method"),
        published="D_DCBR − D_GMM 3.51, 4.46, 3.46; T ≤ 3.8%",
        measured=drawn,
    ),
    "P3.F9": PaperFigure(("mean_size", f"mean {SIZE}"), _DEGREES_AND_TIME, ("method",), measured=drawn),
    "P3.F10": PaperFigure(
        NODES, (LARGEST, AVERAGE), ("method", "order"), published="RingPT about 30 × DCBR-M", measured=drawn
    ),
    **FIGURES_P4,
    **FIGURES_P5,
    **FIGURES_P5_SYSTEM,
}
TABLES: Mapping[str, PaperTable] = {**TABLES_P3, **TABLES_P4, **TABLES_P5, **TABLES_P5_SYSTEM}


def with_axes(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that did not fail, with the columns k, p, coverage, pn and mean_size of the figures' axes."""
    rows = rows[rows["status"] != "failed"].copy()
    options = [json.loads(text) for text in rows["options"]]
    counters = [json.loads(text) for text in rows["counters"]]
    rows["k"] = [one.get("k") for one in options]
    rows["p"] = [one.get("partitions") for one in options]
    rows["coverage"] = [f"λ={one['coverage']}" if "coverage" in one else "" for one in options]
    rows["order"] = [one.get("order", "") for one in options]
    rows["pn"] = [one.get("pn_ratio") for one in counters]
    if "p_least" in rows:
        rows["mean_size"] = (rows["p_least"] + rows["p_most"]) / 2
    return rows


def rows_for(figure: str, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of a figure's runs with all columns that it needs."""
    rows = with_axes(rows)
    measured = FIGURES[figure].measured if figure in FIGURES else None
    return measured(rows) if measured else rows


def name_of_line(figure: PaperFigure, values: tuple[Any, ...]) -> str:
    """The legend entry of a line."""
    prefixes = {"p_topics": "|T|=", "p_subscriptions": "s="}
    shown = [f"{prefixes.get(column, '')}{value}" for column, value in zip(figure.lines, values, strict=True)]
    return " ".join(one.removesuffix("-fitted").removesuffix("-varying") for one in shown if one)
