"""The grids of P4's figures and table, with fewer points if quick."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ..studies.recipe import Recipe, freeze
from .bench import Experiment, Sizes, grid, runs

CONTENT_METHODS = ("random-assignment", "greedy-packing", "clustering", "steiner-mixing")
METRICS = ("plane", "independent", "cheapest-ways")
ROUTINGS = ("content-mst", "content-steiner", "content-shared-tree")
GROWN = ("steiner-mixing", {"trees": "grown"})
_READ = (*CONTENT_METHODS, ("greedy-packing", {"order": "heaviest"}), GROWN)
"""P4's algorithms, greedy packing in both orders of users, mixing with both kinds of trees."""


def sizes(quick: bool) -> Experiment:
    """P4, Figure 9: |U| 1000 … 10,000, a hundredth as many brokers, 20 samples per point; three laws of prices."""
    recipes = tuple(
        recipe
        for metric in METRICS
        for users in ((500, 1000) if quick else (1000, 2000, 5000, 10_000))
        for recipe in grid("P4.F9", "content", 8 if quick else 20, users=users, brokers=users // 100, metric=metric)
    )
    return Experiment(recipes, (runs("content-mst", *_READ),))


def broker_numbers(quick: bool) -> Experiment:
    """P4, §VI.A: |B| a hundredth and a tenth of 1000 users, every routing, 20 samples per point (quick: 3)."""
    recipes = tuple(
        recipe
        for metric in METRICS
        for brokers in ((10, 30) if quick else (10, 100))
        for recipe in grid("P4.S6.A", "content", 3 if quick else 20, users=1000, brokers=brokers, metric=metric)
    )
    return Experiment(recipes, tuple(runs(routing, *CONTENT_METHODS, GROWN) for routing in ROUTINGS))


def core_prices(quick: bool) -> Experiment:
    """P4, Figure 10: access-to-core price ratios 1/32 … 32, 10,000 users, 100 brokers, 20 samples, three laws."""
    users, seeds = (500, 5) if quick else (10_000, 20)
    recipes = tuple(
        recipe
        for metric in METRICS
        for ratio in (1 / 32, 1.0, 8.0, 32.0)
        for recipe in _with_ratio(
            grid("P4.F10", "content", seeds, users=users, brokers=users // 100, metric=metric), ratio
        )
    )
    return Experiment(recipes, (runs("content-mst", *CONTENT_METHODS, GROWN),))


def _with_ratio(networks: tuple[Recipe, ...], ratio: float) -> tuple[Recipe, ...]:
    """The same users and positions, so that nothing but the prices between brokers differs."""
    return tuple(
        replace(network, parameters=freeze({**dict(network.parameters), "access_to_core": ratio}))
        for network in networks
    )


def times(quick: bool) -> Experiment:
    """P4, Table I: 10,000 users, 100 brokers, six networks (quick: 2000 users, 20 brokers, three networks)."""
    users, seeds = (2000, 3) if quick else (10_000, 6)
    recipes = grid("P4.TI", "content", seeds, users=users, brokers=users // 100)
    return Experiment(recipes, (runs("content-mst", *CONTENT_METHODS, GROWN),))


GRIDS_P4: Mapping[str, Callable[[bool], Experiment]] = {"P4.F9": sizes, "P4.F10": core_prices, "P4.TI": times}
SIZES_P4: Mapping[str, Sizes] = {
    "P4.F9": {"|U|": (1000, 10_000), "samples": (100,)},
    "P4.F10": {"|U|": (10_000,), "|B|": (100,), "samples": (100,)},
    "P4.TI": {"|U|": (10_000,), "|B|": (100,)},
    "P4.S6.A": {"|U|": (1000, 10_000), "samples": (100,)},
}
