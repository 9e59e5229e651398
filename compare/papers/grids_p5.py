"""The grids of P5's figures and tables, smaller if quick; workloads replace its data sets DT1, DT2 and DT-C."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..catalogue import workload_named
from ..studies.recipe import Recipe, freeze
from .bench import SEED, Experiment, Sizes, runs

SPARSE, DENSE = "brokers-sparse", "brokers-dense"
STRATEGIES = ("s0", "s1", "s2", "sh")
FANOUTS, COVERING_FANOUTS = (5, 20, 35), (5, 10, 15, 20, 25)
SERVICES, CAPS = (2000, 4000), (150, 100, 60)


def low_rate(quick: bool, figure: str) -> Experiment:
    """P5, Table 2, Fig. 8 and 9: 120 brokers of degree 3, Δ = 4, fanout 35, no queues."""
    recipes = tuple(
        recipe
        for data in (SPARSE, DENSE)
        for recipe in _grid(figure, data, 3 if quick else 10, publications=3600 if quick else 12_000)
    )
    return Experiment(recipes, (runs("soft-links", *STRATEGIES),))


def traffic(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 10 and 11: the dense data at 3,600 publications a minute, 1 ms per match (paper: ten minutes)."""
    recipes = _grid(figure, DENSE, 1 if quick else 3, publications=7200 if quick else 36_000)
    return Experiment(recipes, (runs("soft-links", *((s, {"service": 1000}) for s in STRATEGIES)),))


def covering(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 12: 500 brokers, subscriptions that cover each other, soft links of S2, fanouts 5 to 25."""
    recipes = tuple(
        recipe
        for fanout in COVERING_FANOUTS[: 2 if quick else None]
        for recipe in _grid(figure, "brokers-covering", 1 if quick else 3, fanout=fanout, publications=2400)
    )
    return Experiment(recipes, (runs("soft-links", "s2"),))


def saturated(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 13: 72,000 publications a minute, three fanouts, two matching speeds."""
    recipes = tuple(
        recipe
        for data in (SPARSE, DENSE)
        for fanout in FANOUTS
        for recipe in _grid(figure, data, 2 if quick else 10, publications=6000, rate=72_000, fanout=fanout)
    )
    timed = [(s, {"service": service}) for service in SERVICES for s in STRATEGIES]
    return Experiment(recipes, (runs("soft-links", *timed),))


def capped(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 14: 7,200 publications a minute, uplinks of at most 150 a second."""
    recipes = tuple(
        recipe
        for data in (SPARSE, DENSE)
        for cap in CAPS
        for recipe in _grid(figure, data, 3 if quick else 10, publications=7200, rate=7200, uplink=cap)
    )
    return Experiment(recipes, (runs("soft-links", *((s, {"service": 500}) for s in STRATEGIES)),))


def _grid(figure: str, workload: str, seeds: int, **parameters: Any) -> tuple[Recipe, ...]:
    """Instances with the same seeds for every shape, so that parameters differ on equal subscriptions."""
    shape = freeze(workload_named(workload).complete(parameters))
    return tuple(Recipe(figure, SEED + number, workload=workload, parameters=shape) for number in range(seeds))


GRIDS_P5: Mapping[str, Callable[[bool], Experiment]] = {
    "P5.T2": lambda quick: low_rate(quick, "P5.T2"),
    "P5.F8": lambda quick: low_rate(quick, "P5.F8"),
    "P5.F9": lambda quick: low_rate(quick, "P5.F9"),
    "P5.F10": lambda quick: traffic(quick, "P5.F10"),
    "P5.F11": lambda quick: traffic(quick, "P5.F11"),
    "P5.F12": lambda quick: covering(quick, "P5.F12"),
    "P5.F13": lambda quick: saturated(quick, "P5.F13"),
    "P5.F14": lambda quick: capped(quick, "P5.F14"),
}
SIZES_P5: Mapping[str, Sizes] = {}
