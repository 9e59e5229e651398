"""The grids of the papers' figures and tables: instances and algorithms, with fewer seeds if quick."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


def p1_f2(quick: bool) -> Experiment:
    """P1, Figure 2: GM's average degree."""
    return Experiment(p1_nodes("P1.F2"), (runs("min-tco", "gm"),))


def p1_f3(quick: bool) -> Experiment:
    """P1, Figure 3: the steps of GM, on the same runs."""
    return Experiment(p1_nodes("P1.F3"), (runs("min-tco", "gm"),))


def p1_f4a(quick: bool) -> Experiment:
    """P1, Figure 4(a): GM and RingPT, Zipf, |T| = 100."""
    recipes = p1_nodes("P1.F4a", laws=("zipf",), topics=(100,))
    return Experiment(recipes, (runs("min-tco", "gm", "ring-per-topic"),))


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


def p3_table(quick: bool, table: str) -> Experiment:
    """P3, Tables II to IV: |V| = 1000, one law each; 400 runs as in the paper, or 50 if quick."""
    law = {"P3.T2": "uniform", "P3.T3": "zipf", "P3.T4": "exponential"}[table]
    recipes = p3_default(table, law, 50 if quick else 400)
    return Experiment(recipes, (runs("minmax-tco", "gm-m", "dcb-m", "dcbr-m"),))


def p3_f4(quick: bool) -> Experiment:
    """P3, Figure 4: the number of parts p from 1 to |L|, |V| = 1000."""
    methods: list[Any] = [("dcbr-m", {"partitions": p}) for p in (1, 2, 5, 10, 20, 50, 100, 200, 400, 800)]
    return Experiment(p3_default("P3.F4", "uniform", 2 if quick else 5), (runs("minmax-tco", "gm-m", *methods),))


def p3_f5(quick: bool) -> Experiment:
    """P3, Figure 5: λ = 1 … 4, |V| = 2000, |T| 500 … 1000, uniform."""
    recipes = tuple(
        recipe
        for t in range(500, 1001, 100)
        for recipe in p3_default("P3.F5", "uniform", 1 if quick else 3, nodes=2000, topics=t)
    )
    methods: list[Any] = [("dcbr-m", {"coverage": c}) for c in range(1, 5)]
    return Experiment(recipes, (runs("minmax-tco", "gm-m", *methods, time_limit=600.0),))


def p3_f6(quick: bool) -> Experiment:
    """P3, Figure 6: the three laws, |V| 1000 … 8000."""
    recipes = tuple(
        recipe
        for law in LAWS
        for n in (1000, 2000, 4000, 6000, 8000)
        for recipe in p3_default("P3.F6", law, 1 if quick else 2, nodes=n)
    )
    return Experiment(recipes, (runs("minmax-tco", "gm-m", "dcbr-m", time_limit=1200.0),))


def p3_f7(quick: bool) -> Experiment:
    """P3, Figure 7: |V| grows, |T| = 100, uniform."""
    recipes = tuple(
        recipe
        for n in (1000, 2000, 4000, 6000, 8000)
        for recipe in p3_default("P3.F7", "uniform", 1 if quick else 2, nodes=n, topics=100)
    )
    return Experiment(recipes, (runs("minmax-tco", "gm-m", "dcb-m", "dcbr-m", time_limit=1200.0),))


def p3_f8(quick: bool) -> Experiment:
    """P3, Figure 8: |T| grows, three laws."""
    recipes = tuple(
        recipe
        for law in LAWS
        for t in (100, 200, 400, 600, 800, 1000)
        for recipe in p3_default("P3.F8", law, 1 if quick else 2, nodes=4000, topics=t)
    )
    return Experiment(recipes, (runs("minmax-tco", "gm-m", "dcb-m", "dcbr-m", time_limit=1200.0),))


def p3_f9(quick: bool) -> Experiment:
    """P3, Figure 9: mean topics per node 50 … 150, each ± 40, |V| = 1000, |T| = 400, uniform."""
    recipes = tuple(
        recipe
        for mean in range(50, 151, 25)
        for recipe in p3_default("P3.F9", "uniform", 1 if quick else 5, topics=400, least=mean - 40, most=mean + 40)
    )
    return Experiment(recipes, (runs("minmax-tco", "gm-m", "dcb-m", "dcbr-m"),))


def p3_f10(quick: bool) -> Experiment:
    """P3, Figure 10: RingPT against DCBR-M, |T| = 100."""
    recipes = tuple(
        recipe
        for n in (1000, 2000, 4000, 8000)
        for recipe in p3_default("P3.F10", "uniform", 1 if quick else 2, nodes=n, topics=100)
    )
    return Experiment(recipes, (runs("minmax-tco", "ring-per-topic", "dcbr-m", time_limit=1200.0),))


GRIDS: Mapping[str, Callable[[bool], Experiment]] = {
    "P1.F2": p1_f2,
    "P1.F3": p1_f3,
    "P1.F4a": p1_f4a,
    "P1.F4b": p1_f4b,
    "P2.F1": lambda quick: p2_nodes(quick, "P2.F1"),
    "P2.F2": lambda quick: p2_nodes(quick, "P2.F2"),
    "P2.F3": lambda quick: p2_k(quick, "P2.F3"),
    "P2.F4": lambda quick: p2_k(quick, "P2.F4"),
    "P2.F8": lambda quick: p2_diameter(quick, "P2.F8"),
    "P2.F9": lambda quick: p2_diameter(quick, "P2.F9"),
    "P2.F10": lambda quick: p2_diameter(quick, "P2.F10"),
    "P3.T2": lambda quick: p3_table(quick, "P3.T2"),
    "P3.T3": lambda quick: p3_table(quick, "P3.T3"),
    "P3.T4": lambda quick: p3_table(quick, "P3.T4"),
    "P3.F4": p3_f4,
    "P3.F5": p3_f5,
    "P3.F6": p3_f6,
    "P3.F7": p3_f7,
    "P3.F8": p3_f8,
    "P3.F9": p3_f9,
    "P3.F10": p3_f10,
    **GRIDS_P4,
    **GRIDS_P5,
}
