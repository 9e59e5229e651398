"""The grids of P5's figures and tables, smaller if quick; workloads replace its data sets DT1 to DT5 and DT-C.

Every network has the same seed in every shape, so that parameters differ on equal subscriptions. The paper made one
execution of each setting; here there are three to ten networks a point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..catalogue import workload_named
from ..studies.recipe import Recipe, freeze
from .bench import SEED, Experiment, Sizes, runs

SPARSE, DENSE, COVERING = "brokers-sparse", "brokers-dense", "brokers-covering"
STRATEGIES = ("s0", "s1", "s2", "sh")
UNCAPPED = STRATEGIES[:3]
"""Without caps SH is S2 (P5.T2 checks it), so most grids without caps leave it out."""
FANOUTS, COVERING_FANOUTS = (5, 20, 35), (5, 10, 15, 20, 25)
SERVICES, RATES = (500, 1000, 2000, 4000, 8000), (3600, 36_000, 72_000)
CAP, CAPS, PLANETLAB_CAPS = 150, (150, 100, 60), (10, 15, 20, 25, 30, 40, 50, 60, 80)
SERVICE, SATURATED = 4000, 72_000
THRESHOLDS = (40, 10)
LETTER: Sizes = {"brokers": (120,), "fanout": (35,), "minutes": (10,), "samples": (1,)}


def low_rate(quick: bool, figure: str, *data: str) -> Experiment:
    """P5, Table 2, Fig. 8 to 11: 120 brokers of degree 3, Δ = 4, fanout 35, ten minutes, 1 ms a match."""
    recipes = tuple(
        recipe
        for name in data or (SPARSE, DENSE)
        for recipe in _grid(figure, name, 3 if quick else 10, publications=3600 if quick else 36_000)
    )
    return Experiment(recipes, (_timed(*STRATEGIES, service=1000),))


def covering(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 12: 500 brokers, subscriptions that cover each other, soft links of S2 after two minutes of traffic."""
    recipes = tuple(
        recipe
        for fanout in ((5, 10, 25) if quick else COVERING_FANOUTS)
        for recipe in _grid(figure, COVERING, 2 if quick else 5, fanout=fanout, publications=7200)
    )
    return Experiment(recipes, (runs("soft-links", "s2"),))


def saturated(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 13(a): 72,000 publications a minute for a minute, 4 ms a match."""
    recipes = tuple(
        recipe
        for data in (SPARSE, DENSE)
        for fanout in FANOUTS
        for recipe in _grid(figure, data, 3 if quick else 6, publications=6000, rate=SATURATED, fanout=fanout)
    )
    return Experiment(recipes, (_timed(*UNCAPPED, service=SERVICE, periods=1 if quick else 12),))


def ten_minutes(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 13(a) at fanout 35: the same for its ten minutes, on fewer networks, and for a minute beside."""
    recipes = tuple(
        recipe
        for data in (SPARSE, DENSE)
        for recipe in _grid(figure, data, 2 if quick else 3, publications=6000, rate=SATURATED)
    )
    lengths = (1, 10) if quick else (12, 120)
    return Experiment(recipes, tuple(_timed(*UNCAPPED, service=SERVICE, periods=each) for each in lengths))


def matching_times(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 13(a) at fanout 35 for the matching times that the paper leaves open."""
    recipes = tuple(
        recipe
        for data in (SPARSE, DENSE)
        for recipe in _grid(figure, data, 2 if quick else 3, publications=6000, rate=SATURATED)
    )
    return Experiment(recipes, tuple(_timed(*UNCAPPED, service=each) for each in SERVICES))


def hybrid_saturated(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 13(a) at fanout 35 with capped uplinks, without which SH is S2."""
    recipes = tuple(
        recipe
        for data in (SPARSE, DENSE)
        for cap in (CAP, 4 * CAP)
        for recipe in _grid(figure, data, 3 if quick else 4, publications=6000, rate=SATURATED, uplink=cap)
    )
    return Experiment(recipes, (_timed("s1", "s2", "sh", service=500),))


def larger(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 13(b): 250 brokers with 28,690 subscriptions."""
    shape = {"brokers": 250, "subscriptions": 28_690, "rate": SATURATED, "publications": 2400 if quick else 6000}
    recipes = tuple(
        recipe
        for fanout in (FANOUTS[0], FANOUTS[-1])
        for recipe in _grid(figure, SPARSE, 2 if quick else 5, fanout=fanout, **shape)
    )
    return Experiment(recipes, (_timed(*UNCAPPED, service=SERVICE, periods=1 if quick else 12),))


def planetlab(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 13(c): 21 brokers, 3,300 publications a minute for five minutes, capped uplinks."""
    recipes = tuple(
        recipe
        for data, subscriptions in ((SPARSE, 900), (DENSE, 6000))
        for cap in PLANETLAB_CAPS[:: 2 if quick else 1]
        for recipe in _grid(
            figure,
            data,
            2 if quick else 3,
            brokers=21,
            subscriptions=subscriptions,
            publications=3300 if quick else 16_500,
            rate=3300,
            uplink=cap,
        )
    )
    return Experiment(recipes, (_timed(*UNCAPPED, service=500),))


def capped(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 14: 7,200 publications a minute for ten minutes, uplinks of 150 a second; lower thresholds of SH."""
    recipes = _grid(figure, SPARSE, 3 if quick else 5, publications=7200, rate=7200, uplink=CAP)
    periods = 1 if quick else 10
    earlier = (_timed("sh", service=500, periods=periods, output_threshold=percent) for percent in THRESHOLDS)
    return Experiment(recipes, (_timed("s1", "s2", "sh", service=500, periods=periods), *earlier))


def other_caps(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 14 for a minute, with lower caps and dense data."""
    recipes = tuple(
        recipe
        for data in (SPARSE, DENSE)
        for cap in CAPS
        for recipe in _grid(figure, data, 3 if quick else 4, publications=7200, rate=7200, uplink=cap)
    )
    return Experiment(recipes, (_timed("s1", "s2", "sh", service=500),))


def rising_rate(quick: bool, figure: str) -> Experiment:
    """P5 §7, below Fig. 10: the dense data at rates up to twenty times as high."""
    recipes = tuple(
        recipe for rate in RATES for recipe in _grid(figure, DENSE, 3 if quick else 5, publications=3600, rate=rate)
    )
    return Experiment(recipes, (_timed("s0", "s2", service=1000),))


def copies(quick: bool, figure: str, *fanouts: int) -> Experiment:
    """P5 §2 and §6: a minute at the low rate, the load factor also as printed."""
    recipes = tuple(
        recipe
        for data in (SPARSE, DENSE)
        for fanout in fanouts or (35,)
        for recipe in _grid(figure, data, 3 if quick else 4, publications=3600, fanout=fanout)
    )
    printed = (("s2", {"load_factor": "min"}),) if fanouts else ()
    return Experiment(recipes, (runs("soft-links", *UNCAPPED, *printed),))


def _timed(*strategies: str, **options: int) -> Any:
    return runs("soft-links", *((s, options) for s in strategies))


def _grid(figure: str, workload: str, seeds: int, **parameters: Any) -> tuple[Recipe, ...]:
    shape = freeze(workload_named(workload).complete(parameters))
    return tuple(Recipe(figure, SEED + number, workload=workload, parameters=shape) for number in range(seeds))


GRIDS_P5: Mapping[str, Callable[[bool], Experiment]] = {
    "P5.T2": lambda quick: low_rate(quick, "P5.T2"),
    "P5.F8": lambda quick: low_rate(quick, "P5.F8"),
    "P5.F9": lambda quick: low_rate(quick, "P5.F9"),
    "P5.F10": lambda quick: low_rate(quick, "P5.F10", DENSE),
    "P5.F11": lambda quick: low_rate(quick, "P5.F11", DENSE),
    "P5.F12": lambda quick: covering(quick, "P5.F12"),
    "P5.F13": lambda quick: saturated(quick, "P5.F13"),
    "P5.F14": lambda quick: capped(quick, "P5.F14"),
}
_LOW_RATE: Sizes = {**LETTER, "publications a minute": (3600,)}
_HIGH_RATE: Sizes = {**LETTER, "publications a minute": (SATURATED,)}
_CAPPED: Sizes = {**LETTER, "publications a minute": (7200,), "uplink": (CAP,)}
SIZES_P5: Mapping[str, Sizes] = {
    **{f"P5.{each}": _LOW_RATE for each in ("T2", "F8", "F9", "F10", "F11")},
    "P5.F12": {"brokers": (500,), "fanout": COVERING_FANOUTS, "minutes": (2,), "samples": (1,)},
    "P5.F13": {**_HIGH_RATE, "fanout": (FANOUTS[0], FANOUTS[-1])},
    **{f"P5.F13.{each}": _HIGH_RATE for each in ("times", "minutes", "hybrid")},
    "P5.F13b": {**_HIGH_RATE, "brokers": (250,), "fanout": (FANOUTS[0], FANOUTS[-1])},
    "P5.F13c": {"brokers": (21,), "publications a minute": (3300,), "minutes": (5,), "samples": (1,)},
    "P5.F14": _CAPPED,
    "P5.F14.others": LETTER,
    "P5.S7.5": {"brokers": (120,), "fanout": (35,)},
}
