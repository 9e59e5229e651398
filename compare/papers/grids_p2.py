"""The grids of P2's figures, and the sizes that the paper names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from .bench import Experiment, Sizes, grid, runs

K_VALUES = tuple(float(k) for k in range(1, 9))
STRICTER = 1e-6
"""Less than k, so that e1 must weigh more than w(e2)/k instead of at least as much: weights are whole numbers."""
NODES, TOPICS, SUBSCRIPTIONS = range(100, 1001, 100), range(100, 501, 100), range(10, 51, 10)
STARS = ("cd-oda", "cd-oda-1", "cd-oda-2", "2d-oda")
"""The methods of §6, which build a star for each topic."""
_DEGREES = ("gm", "minmax-oda", "gm-m")
_SAMPLES = 10


def under_ties(quick: bool, problem: str, methods: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[Any, ...]:
    """Runs of methods with ties lowest, highest and random, the last with two seeds (one if quick)."""
    fixed = [(name, {**options, "ties": rule}) for rule in ("lowest", "highest") for name, options in methods]
    random = [(name, {**options, "ties": "random"}) for name, options in methods]
    return runs(problem, *fixed), runs(problem, *random, repeats=1 if quick else 2)


def p2_nodes(quick: bool, family: str) -> Experiment:
    """P2 §5.1–5.2, Figures 1 and 2: |V| 100 … 1000, Zipf 0.5, |T| = 100, 10 topics per node, k = 3."""
    recipes = tuple(
        recipe
        for n in (NODES[::4] if quick else NODES)
        for recipe in grid(family, "zipf", 5 if quick else _SAMPLES, nodes=n, topics=100, subscriptions=10)
    )
    strict = ("low-oda", {"k": 3.0 - STRICTER})
    return Experiment(recipes, under_ties(quick, "low-tco", [*((m, {}) for m in (*_DEGREES, "low-oda")), strict]))


def p2_k(quick: bool, family: str) -> Experiment:
    """P2 §5.3, Figures 3 and 4: k = 1 … 8 at |V| = 100, with "≥" and with ">" (k = 1 with ">" is GM)."""
    recipes = grid(family, "zipf", 5 if quick else 30, nodes=100, topics=100, subscriptions=10)
    low = [("low-oda", {"k": k}) for k in (*K_VALUES, *(k - STRICTER for k in K_VALUES[1:]))]
    return Experiment(recipes, under_ties(quick, "low-tco", [*((name, {}) for name in _DEGREES), *low]))


def p2_diameter(quick: bool, figure: str) -> Experiment:
    """P2 §6.5, Figures 8 to 10: uniform; |V|, |T| or the topics per node vary."""
    shapes = {
        "P2.F8": [{"nodes": n, "topics": 100, "subscriptions": 10} for n in (NODES[:4:3] if quick else NODES)],
        "P2.F9": [{"nodes": 100, "topics": t, "subscriptions": 20} for t in (TOPICS[::2] if quick else TOPICS)],
        "P2.F10": [
            {"nodes": 100, "topics": 100, "subscriptions": s} for s in (SUBSCRIPTIONS[::2] if quick else SUBSCRIPTIONS)
        ],
    }[figure]
    samples = 5 if quick else _SAMPLES
    recipes = tuple(recipe for shape in shapes for recipe in grid(figure, "uniform", samples, **shape))
    return Experiment(recipes, under_ties(quick, "min-tco", [(name, {}) for name in ("gm", *STARS)]))


GRIDS_P2: Mapping[str, Callable[[bool], Experiment]] = {
    **{figure: partial(p2_nodes, family=figure) for figure in ("P2.F1", "P2.F2")},
    **{figure: partial(p2_k, family=figure) for figure in ("P2.F3", "P2.F4")},
    **{figure: partial(p2_diameter, figure=figure) for figure in ("P2.F8", "P2.F9", "P2.F10")},
}
_LOW: Sizes = {"|V|": (100, 1000), "|T|": (100,), "|T_v|": (10,), "law": ("zipf",)}
SIZES_P2: Mapping[str, Sizes] = {
    "P2.F1": _LOW,
    "P2.F2": _LOW,
    "P2.F3": {**_LOW, "|V|": (100,), "k": (1.0, 8.0)},
    "P2.F4": {**_LOW, "|V|": (100,), "k": (1.0, 8.0)},
    "P2.F8": {"|V|": (100, 1000), "|T|": (100,), "|T_v|": (10,), "law": ("uniform",)},
    "P2.F9": {"|V|": (100,), "|T|": (100, 500), "|T_v|": (20,), "law": ("uniform",)},
    "P2.F10": {"|V|": (100,), "|T|": (100,), "|T_v|": (10, 50), "law": ("uniform",)},
}
