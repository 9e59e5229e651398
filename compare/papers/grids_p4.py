"""The grids of P4's figures and table, with fewer points if quick."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ..studies.recipe import freeze
from .bench import Experiment, Sizes, grid, runs

CONTENT_METHODS = ("random-assignment", "greedy-packing", "clustering", "steiner-mixing")
METRICS = ("plane", "independent", "cheapest-ways")


def sizes(quick: bool) -> Experiment:
    """P4, Figure 9: |U| 1000 … 10,000, a hundredth as many brokers, 20 samples per point; three price metrics."""
    recipes = tuple(
        recipe
        for metric in METRICS
        for users in ((1000, 2000) if quick else (1000, 2000, 4000, 6000, 8000, 10_000))
        for recipe in grid("P4.F9", "content", 20, users=users, brokers=users // 100, metric=metric)
    )
    return Experiment(recipes, (runs("content-mst", *CONTENT_METHODS),))


def core_prices(quick: bool) -> Experiment:
    """P4, Figure 10: the access-to-core price ratio from 1 to 32, 10,000 users and 100 brokers."""
    users, seeds = (1000, 10) if quick else (10_000, 5)
    networks = grid("P4.F10", "content", seeds, users=users, brokers=users // 100)
    # The users and their positions are the same at every ratio, so that nothing else differs.
    recipes = tuple(
        replace(network, parameters=freeze({**dict(network.parameters), "access_to_core": ratio}))
        for ratio in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
        for network in networks
    )
    return Experiment(recipes, (runs("content-mst", *CONTENT_METHODS),))


def times(quick: bool) -> Experiment:
    """P4, Table I: 10,000 users, 100 brokers, one network (full: five)."""
    recipes = grid("P4.TI", "content", 1 if quick else 5, users=10_000, brokers=100)
    return Experiment(recipes, (runs("content-mst", *CONTENT_METHODS),))


GRIDS_P4: Mapping[str, Callable[[bool], Experiment]] = {"P4.F9": sizes, "P4.F10": core_prices, "P4.TI": times}
SIZES_P4: Mapping[str, Sizes] = {}
