"""The grids of P5's figures in the system: brokers that know only what messages brought them, links that adapt.

The quick versions compress time: fewer publications at the paper's rate, with reviews as many publications apart in
proportion, so that links are reviewed about as often.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..catalogue import workload_named
from ..studies.recipe import Recipe, freeze
from .bench import SEED, Experiment, Sizes, runs
from .grids_p5 import CAP, DENSE, SPARSE, STRATEGIES

INTERVAL, QUICK_INTERVAL = 20.0, 1.0
QUICK_PUBLICATIONS = 1800
SYSTEM = "system"


def low_rate(quick: bool, figure: str, *data: str) -> Experiment:
    """P5, Table 2 and Fig. 9 to 11, and the bytes of load exchange: 120 brokers, 3,600 a minute, ten minutes."""
    recipes = tuple(
        recipe
        for name in data or ((SPARSE,) if quick else (SPARSE, DENSE))
        for recipe in _networks(figure, name, 3, publications=QUICK_PUBLICATIONS if quick else 36_000)
    )
    return Experiment(recipes, (_system(quick, *STRATEGIES, service=1000),))


def crashing(quick: bool, figure: str) -> Experiment:
    """P5 §6: neighbours that fail for five seconds, twelve a minute."""
    recipes = _networks(figure, SPARSE, 3, brokers=40, subscriptions=600, publications=2000 if quick else 10_000)
    return Experiment(recipes, (_system(quick, "s0", "s2", service=1000, crashes=12),))


def saturated(quick: bool, figure: str) -> Experiment:
    """P5 §7, on Fig. 13: 72,000 publications a minute with capped uplinks, without which SH is S2."""
    recipes = tuple(
        recipe
        for cap in (CAP, 4 * CAP)
        for recipe in _networks(
            figure, SPARSE, 3, publications=QUICK_PUBLICATIONS if quick else 72_000, rate=72_000, uplink=cap
        )
    )
    # A tenth of a second has as many publications as two seconds at the low rate.
    return Experiment(recipes, (_system(quick, "s1", "s2", "sh", service=500, interval=0.1 if quick else INTERVAL),))


def capped(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 14: 7,200 publications a minute for ten minutes, uplinks of 150 a second."""
    recipes = _networks(
        figure, SPARSE, 3, publications=2 * QUICK_PUBLICATIONS if quick else 72_000, rate=7200, uplink=CAP
    )
    return Experiment(recipes, (_system(quick, "s1", "s2", "sh", service=500),))


def _system(quick: bool, *strategies: str, **options: Any) -> Any:
    given = {"simulate": SYSTEM, "interval": QUICK_INTERVAL if quick else INTERVAL, **options}
    return runs("soft-links", *((s, given) for s in strategies), time_limit=3600.0)


def _networks(figure: str, workload: str, seeds: int, **parameters: Any) -> tuple[Recipe, ...]:
    shape = freeze(workload_named(workload).complete(parameters))
    return tuple(Recipe(figure, SEED + number, workload=workload, parameters=shape) for number in range(seeds))


GRIDS_P5_SYSTEM: Mapping[str, Callable[[bool], Experiment]] = {
    "P5.T2.system": lambda quick: low_rate(quick, "P5.T2.system"),
    "P5.S7.4": lambda quick: low_rate(quick, "P5.S7.4", DENSE),
    "P5.S6.4": lambda quick: crashing(quick, "P5.S6.4"),
    "P5.F13.system": lambda quick: saturated(quick, "P5.F13.system"),
    "P5.F14.system": lambda quick: capped(quick, "P5.F14.system"),
}
_LETTER: Sizes = {"brokers": (120,), "fanout": (35,), "minutes": (10,), "samples": (1,)}
SIZES_P5_SYSTEM: Mapping[str, Sizes] = {
    "P5.T2.system": {**_LETTER, "publications a minute": (3600,)},
    "P5.S7.4": {**_LETTER, "publications a minute": (3600,)},
    "P5.F13.system": {**_LETTER, "publications a minute": (72_000,)},
    "P5.F14.system": {**_LETTER, "publications a minute": (7200,), "uplink": (CAP,)},
}
