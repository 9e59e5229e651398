"""The grids of P2's figures, and the sizes that the paper names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from .bench import Experiment, Sizes, grid, runs

K_VALUES = tuple(float(k) for k in range(1, 9))


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


GRIDS_P2: Mapping[str, Callable[[bool], Experiment]] = {
    **{figure: partial(p2_nodes, family=figure) for figure in ("P2.F1", "P2.F2")},
    **{figure: partial(p2_k, family=figure) for figure in ("P2.F3", "P2.F4")},
    **{figure: partial(p2_diameter, figure=figure) for figure in ("P2.F8", "P2.F9", "P2.F10")},
}
SIZES_P2: Mapping[str, Sizes] = {}
