"""The grids of the papers' figures and tables: instances and algorithms, with fewer seeds if quick."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ..studies.recipe import Recipe
from .bench import Experiment, grid, runs
from .grids_p4 import GRIDS_P4
from .grids_p5 import GRIDS_P5

LAWS = ("uniform", "zipf", "exponential")
K_VALUES = tuple(float(k) for k in range(1, 9))
P3_WORKLOADS = {"uniform": "uniform-varying", "zipf": "zipf-fitted", "exponential": "exponential-fitted"}


def p1_nodes(family: str, *, laws: tuple[str, ...] = LAWS, topics: tuple[int, ...] = (100, 200)) -> tuple[Recipe, ...]:
    """P1 §8: |V| 1000 … 10,000, |T| 100 and 200, 10 topics per node, five seeds per point."""
    return tuple(
        recipe
        for law in laws
        for t in topics
        for n in range(1000, 10_001, 1000)
        for recipe in grid(family, law, 5, nodes=n, topics=t, subscriptions=10)
    )


def p1_figure(family: str, *methods: str, **varied: Any) -> Callable[[bool], Experiment]:
    """P1, Figures 2 to 4(a): these methods on the instances of `p1_nodes`, quick or not."""
    return lambda quick: Experiment(p1_nodes(family, **varied), (runs("min-tco", *methods),))


def p1_f4b(quick: bool) -> Experiment:
    """P1, Figure 4(b): GM and RingPT, Zipf, |V| = 1000, |T| 100 … 200 and beyond, 10 and 20 topics per node."""
    recipes = tuple(
        recipe
        for t in (100, 125, 150, 175, 200, 500, 1000)
        for s in (10, 20)
        for recipe in grid("P1.F4b", "zipf", 3 if quick else 10, nodes=1000, topics=t, subscriptions=s)
    )
    return Experiment(recipes, (runs("min-tco", "gm", "ring-per-topic"),))


def p2_nodes(quick: bool, family: str) -> Experiment:
    """P2 §5.1–5.2, Figures 1 and 2: |V| 100 … 1000, Zipf 0.5, |T| = 100, 10 topics per node, k = 3."""
    recipes = tuple(
        recipe
        for n in range(100, 1001, 100)
        for recipe in grid(family, "zipf", 2 if quick else 10, nodes=n, topics=100, subscriptions=10)
    )
    return Experiment(recipes, (runs("low-tco", "gm", "minmax-oda", "low-oda"),))


def p2_k(quick: bool, family: str) -> Experiment:
    """P2 §5.3, Figures 3 and 4: k = 1 … 8 at |V| = 100."""
    recipes = grid(family, "zipf", 5 if quick else 30, nodes=100, topics=100, subscriptions=10)
    low = [("low-oda", {"k": k}) for k in K_VALUES]
    return Experiment(recipes, (runs("low-tco", "gm", "minmax-oda", *low),))


def p2_diameter(quick: bool, figure: str) -> Experiment:
    """P2 §6.5, Figures 8 to 10: uniform; |V|, |T| or the topics per node vary."""
    shapes = {
        "P2.F8": [{"nodes": n, "topics": 100, "subscriptions": 10} for n in range(100, 1001, 100)],
        "P2.F9": [{"nodes": 100, "topics": t, "subscriptions": 20} for t in range(100, 501, 100)],
        "P2.F10": [{"nodes": 100, "topics": 100, "subscriptions": s} for s in range(10, 51, 10)],
    }[figure]
    recipes = tuple(recipe for shape in shapes for recipe in grid(figure, "uniform", 2 if quick else 10, **shape))
    return Experiment(recipes, (runs("min-tco", "gm", "cd-oda", "cd-oda-1", "cd-oda-2", "2d-oda"),))


def p3_default(family: str, law: str, seeds: int, **shape: Any) -> tuple[Recipe, ...]:
    """P3 §VI: 10 to 90 topics per node, |T| = 200 by default; the laws that fit its tables best."""
    return grid(family, P3_WORKLOADS[law], seeds, **{"nodes": 1000, "topics": 200, **shape})


def p3_grid(
    figure: str,
    methods: Sequence[Any],
    shapes: Sequence[Mapping[str, int]] = ({},),
    *,
    laws: Sequence[str] = ("uniform",),
    seeds: tuple[int, int],
    time_limit: float = 1200.0,
) -> Callable[[bool], Experiment]:
    """A figure or table of P3: methods on every law and shape; `seeds` are those of the quick and the full version."""

    def experiment(quick: bool) -> Experiment:
        count = seeds[0 if quick else 1]
        recipes = (
            recipe for law in laws for shape in shapes for recipe in p3_default(figure, law, count, **shape)
        )  # fmt: skip
        return Experiment(tuple(recipes), (runs("minmax-tco", *methods, time_limit=time_limit),))

    return experiment


_DIVIDED = ("gm-m", "dcb-m", "dcbr-m")
_P3_NODES = (1000, 2000, 4000, 6000, 8000)
# The parameter of each figure: p in 4, λ in 5, |V| in 6, 7 and 10, |T| in 8, the mean topics per node ± 40 in 9.
_P3: Mapping[str, Callable[[bool], Experiment]] = {
    **{
        table: p3_grid(table, _DIVIDED, laws=(law,), seeds=(50, 400), time_limit=120.0)
        for table, law in (("P3.T2", "uniform"), ("P3.T3", "zipf"), ("P3.T4", "exponential"))
    },
    "P3.F4": p3_grid(
        "P3.F4",
        ("gm-m", *(("dcbr-m", {"partitions": p}) for p in (1, 2, 5, 10, 20, 50, 100, 200, 400, 800))),
        seeds=(2, 5),
        time_limit=120.0,
    ),
    "P3.F5": p3_grid(
        "P3.F5",
        ("gm-m", *(("dcbr-m", {"coverage": coverage}) for coverage in range(1, 5))),
        [{"nodes": 2000, "topics": t} for t in range(500, 1001, 100)],
        seeds=(1, 3),
        time_limit=600.0,
    ),
    "P3.F6": p3_grid("P3.F6", ("gm-m", "dcbr-m"), [{"nodes": n} for n in _P3_NODES], laws=LAWS, seeds=(1, 2)),
    "P3.F7": p3_grid("P3.F7", _DIVIDED, [{"nodes": n, "topics": 100} for n in _P3_NODES], seeds=(1, 2)),
    "P3.F8": p3_grid(
        "P3.F8",
        _DIVIDED,
        [{"nodes": 4000, "topics": t} for t in (100, 200, 400, 600, 800, 1000)],
        laws=LAWS,
        seeds=(1, 2),
    ),
    "P3.F9": p3_grid(
        "P3.F9",
        _DIVIDED,
        [{"topics": 400, "least": mean - 40, "most": mean + 40} for mean in range(50, 151, 25)],
        seeds=(1, 5),
        time_limit=120.0,
    ),
    "P3.F10": p3_grid(
        "P3.F10",
        ("ring-per-topic", "dcbr-m"),
        [{"nodes": n, "topics": 100} for n in (1000, 2000, 4000, 8000)],
        seeds=(1, 2),
    ),
}
GRIDS: Mapping[str, Callable[[bool], Experiment]] = {
    "P1.F2": p1_figure("P1.F2", "gm"),
    "P1.F3": p1_figure("P1.F3", "gm"),
    "P1.F4a": p1_figure("P1.F4a", "gm", "ring-per-topic", laws=("zipf",), topics=(100,)),
    "P1.F4b": p1_f4b,
    **{figure: partial(p2_nodes, family=figure) for figure in ("P2.F1", "P2.F2")},
    **{figure: partial(p2_k, family=figure) for figure in ("P2.F3", "P2.F4")},
    **{figure: partial(p2_diameter, figure=figure) for figure in ("P2.F8", "P2.F9", "P2.F10")},
    **_P3,
    **GRIDS_P4,
    **GRIDS_P5,
}
