"""The grids of P5's figures in the system: brokers that know only what messages brought them, links that adapt.

The full versions run at the paper's rates with 20 s between reviews, and for its minutes where that can be afforded:
at 72,000 publications a minute for some of the ten. Quick versions have few publications and reviews close together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..catalogue import workload_named
from ..studies.recipe import Recipe, freeze
from .bench import SEED, Experiment, Sizes, runs
from .grids_p5 import CAP, COVERING, COVERING_FANOUTS, DENSE, LETTER, SATURATED, SERVICE, SPARSE, UNCAPPED

INTERVAL = 20.0
"""The paper's seconds between reviews."""
SOCIAL, SYSTEM, EARLY = "brokers-social", "system", 5
PLANETLAB_CAPS, CAPPED_RATE = (20, 50), 7200
_NETWORKS = 3
LENGTHS = ((24_480, _NETWORKS), (72_000, 1))
"""Publications of 3.4 and of ten minutes at 7,200 a minute, and networks: ten minutes cost three times as much."""
_LOW, _LARGER = 3600, {"brokers": 250, "subscriptions": 28_690}


def low_rate(quick: bool, figure: str, *data: str) -> Experiment:
    """P5, Table 2 and Fig. 9 to 11: 120 brokers, 3,600 publications a minute for ten minutes, 1 ms a match."""
    recipes = tuple(
        recipe
        for name in data or ((SPARSE,) if quick else (SPARSE, DENSE))
        for recipe in _networks(figure, name, publications=900 if quick else 10 * _LOW)
    )
    return Experiment(recipes, (_system(*UNCAPPED, service=1000, interval=_every(quick, 1.0)),))


def load_bytes(quick: bool, figure: str) -> Experiment:
    """P5 §7, on Fig. 11: S2 on the dense data; quick for one review and the 20 s before it."""
    recipes = _networks(figure, DENSE, networks=2 if quick else _NETWORKS, publications=1212 if quick else 10 * _LOW)
    return Experiment(recipes, (_system("s2", service=1000, interval=INTERVAL),))


def crashing(quick: bool, figure: str) -> Experiment:
    """P5 §6: neighbours that fail for five seconds, twelve a minute, for five minutes."""
    shape = {"brokers": 40, "subscriptions": 600, "publications": 750 if quick else 5 * _LOW}
    options = {"service": 1000, "crashes": 12, "interval": _every(quick, 2.0)}
    return Experiment(_networks(figure, SPARSE, **shape), (_system("s0", "s2", **options),))


def covering(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 12: 500 brokers and 10,000 subscriptions that cover each other, 120 s; predicates are counted.

    The paper gives no rate; 1,800 a minute are assumed.
    """
    size = {"brokers": 100, "subscriptions": 2000, "publications": 600} if quick else {"publications": _LOW}
    shape = {"networks": 2 if quick else 1, **size}
    recipes = tuple(
        recipe
        for fanout in (5, 10, 25)
        for recipe in _networks(figure, COVERING, fanout=fanout, rate=_LOW // 2, **shape)
    )
    return Experiment(recipes, (_system("s2", predicate=1, interval=_every(quick, 1.0)),))


def saturated(quick: bool, figure: str, seconds: int, *fanouts: int, **shape: int) -> Experiment:
    """P5, Fig. 13(a) and (b): 72,000 publications a minute, 4 ms a match."""
    recipes = tuple(
        recipe
        for fanout in fanouts
        for recipe in _networks(
            figure, SPARSE, publications=_many(quick, seconds), rate=SATURATED, fanout=fanout, **shape
        )
    )
    return Experiment(recipes, (_overloaded(*UNCAPPED, every=_every(quick, 0.05), service=SERVICE),))


def hybrid(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 13(a) with capped uplinks, without which SH is S2."""
    recipes = _networks(figure, SPARSE, publications=_many(quick, 60), rate=SATURATED, uplink=CAP)
    return Experiment(recipes, (_overloaded("s2", "sh", every=_every(quick, 0.05), service=500),))


def planetlab(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 13(c): 21 brokers, 3,300 publications a minute; 50 copies of 200 bytes a second are its 10 KB/s."""
    recipes = tuple(
        recipe
        for data, subscriptions in ((SPARSE, 900), (DENSE, 6000))
        for cap in PLANETLAB_CAPS
        for recipe in _networks(
            figure,
            data,
            brokers=21,
            subscriptions=subscriptions,
            publications=550 if quick else 16_500,
            rate=3300,
            uplink=cap,
        )
    )
    return Experiment(recipes, (_system(*UNCAPPED, service=500, interval=_every(quick, 2.0)),))


def capped(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 14: 7,200 publications a minute, uplinks of 150 a second; SH also at a 5% threshold, for 3.4 minutes."""
    lengths = {figure: (900, _NETWORKS)} if quick else {figure: LENGTHS[0], f"{figure} in ten minutes": LENGTHS[1]}
    recipes = tuple(
        recipe
        for family, (publications, networks) in lengths.items()
        for recipe in _networks(family, SPARSE, networks, publications=publications, rate=CAPPED_RATE, uplink=CAP)
    )
    early = replace(
        _overloaded("sh", every=_every(quick, 0.25), service=500, output_threshold=EARLY), families=(figure,)
    )
    return Experiment(recipes, (_overloaded("s1", "s2", "sh", every=_every(quick, 0.25), service=500), early))


def social(quick: bool, figure: str) -> Experiment:
    """P5 §7, DT-FB: a synthetic network in its place; 40 ms a match, so that S0 is saturated at 3,600 a minute."""
    shape = {"subscriptions": 12_000, "publications": 600} if quick else {"publications": 3 * _LOW}
    recipes = _networks(figure, SOCIAL, **shape)
    return Experiment(recipes, (_overloaded(*UNCAPPED, every=_every(quick, 1.0), service=10 * SERVICE),))


def _many(quick: bool, seconds: int) -> int:
    """Publications at 72,000 a minute; quick for 1.5 s."""
    return 1800 if quick else seconds * SATURATED // 60


def _every(quick: bool, seconds: float) -> float:
    """The seconds between reviews: fewer in a quick run, which is short."""
    return seconds if quick else INTERVAL


def _overloaded(*strategies: str, every: float, **options: Any) -> Any:
    """Runs that end with the last publication: what waits for service then is not measured."""
    return _system(*strategies, interval=every, drain=False, **options)


def _system(*strategies: str, **options: Any) -> Any:
    return runs("soft-links", *((s, {"simulate": SYSTEM, **options}) for s in strategies), time_limit=3600.0)


def _networks(figure: str, workload: str, networks: int = _NETWORKS, **parameters: Any) -> tuple[Recipe, ...]:
    shape = freeze(workload_named(workload).complete(parameters))
    return tuple(Recipe(figure, SEED + number, workload=workload, parameters=shape) for number in range(networks))


GRIDS_P5_SYSTEM: Mapping[str, Callable[[bool], Experiment]] = {
    "P5.T2.system": lambda quick: low_rate(quick, "P5.T2.system"),
    "P5.F9.system": lambda quick: low_rate(quick, "P5.F9.system"),
    "P5.F10.system": lambda quick: low_rate(quick, "P5.F10.system", DENSE),
    "P5.F11.system": lambda quick: low_rate(quick, "P5.F11.system", DENSE),
    "P5.F12.system": lambda quick: covering(quick, "P5.F12.system"),
    "P5.F13.system": lambda quick: saturated(quick, "P5.F13.system", 60, *((5, 35) if quick else (35,))),
    "P5.F13b.system": lambda quick: saturated(quick, "P5.F13b.system", 60, 35, networks=1, **_LARGER),
    "P5.F13c.system": lambda quick: planetlab(quick, "P5.F13c.system"),
    "P5.F14.system": lambda quick: capped(quick, "P5.F14.system"),
}
"""Those of figures and tables; other claims name their experiments."""
_LOW_RATE: Sizes = {**LETTER, "publications a minute": (_LOW,)}
SIZES_P5_SYSTEM: Mapping[str, Sizes] = {
    "P5.T2.system": _LOW_RATE,
    "P5.S7.4": _LOW_RATE,
    "P5.S7.11": {**LETTER, "fanout": (20,), "publications a minute": (_LOW,)},
    "P5.F13.system": {**LETTER, "fanout": (5, 35), "publications a minute": (SATURATED,)},
    "P5.F12.system": {"brokers": (500,), "fanout": COVERING_FANOUTS, "minutes": (2,), "samples": (1,)},
    "P5.F13b.system": {**LETTER, "brokers": (250,), "fanout": (5, 35), "publications a minute": (SATURATED,)},
    "P5.F13.hybrid.system": {**LETTER, "publications a minute": (SATURATED,)},
    "P5.F13c.system": {"brokers": (21,), "publications a minute": (3300,), "minutes": (5,), "samples": (1,)},
    "P5.F14.system": {**LETTER, "publications a minute": (CAPPED_RATE,), "uplink": (CAP,)},
}
