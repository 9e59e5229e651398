"""The grids of P3's figures and tables, and the sizes that the paper names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..studies.recipe import Recipe
from .bench import LAWS, Experiment, Sizes, grid, runs

P3_WORKLOADS = {"uniform": "uniform-varying", "zipf": "zipf-fitted", "exponential": "exponential-fitted"}


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
GRIDS_P3: Mapping[str, Callable[[bool], Experiment]] = {
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
SIZES_P3: Mapping[str, Sizes] = {}
