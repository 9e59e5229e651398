"""The grids of P1's figures, and the sizes that the paper names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..studies.recipe import Recipe
from .bench import LAWS, Experiment, Sizes, grid, runs


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


GRIDS_P1: Mapping[str, Callable[[bool], Experiment]] = {
    "P1.F2": p1_figure("P1.F2", "gm"),
    "P1.F3": p1_figure("P1.F3", "gm"),
    "P1.F4a": p1_figure("P1.F4a", "gm", "ring-per-topic", laws=("zipf",), topics=(100,)),
    "P1.F4b": p1_f4b,
}
SIZES_P1: Mapping[str, Sizes] = {}
