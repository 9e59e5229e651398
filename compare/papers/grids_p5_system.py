"""The grids of P5's figures in the system: brokers that know only what messages brought them, links that adapt.

All grids compress time: they have fewer publications than ten minutes at the paper's rate, and reviews closer together,
so that links are reviewed about as often as in the paper's interval, but by fewer publications each time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..catalogue import workload_named
from ..studies.recipe import Recipe, freeze
from .bench import SEED, Experiment, Sizes, runs
from .grids_p5 import CAP, COVERING, DENSE, LETTER, SATURATED, SERVICE, SPARSE, UNCAPPED

INTERVAL, REVIEWS = 20.0, 30
"""The paper's seconds between reviews, and how many ten minutes have."""
SOCIAL, SYSTEM, EARLY = "brokers-social", "system", 5
PLANETLAB_CAPS = (20, 50)
_NETWORKS = 3


def low_rate(quick: bool, figure: str, *data: str) -> Experiment:
    """P5, Table 2 and Fig. 9 to 11: 120 brokers, 3,600 publications a minute, 1 ms a match."""
    recipes = tuple(
        recipe
        for name in data or ((SPARSE,) if quick else (SPARSE, DENSE))
        for recipe in _networks(figure, name, publications=900 if quick or name == DENSE else 1800)
    )
    return Experiment(recipes, (_system(*UNCAPPED, service=1000, interval=1.0),))


def load_bytes(quick: bool, figure: str) -> Experiment:
    """P5 §7, on Fig. 11: the dense data for one review and the 20 s before it, which is the paper's ratio."""
    recipes = _networks(figure, DENSE, networks=2 if quick else 3, publications=1212)
    return Experiment(recipes, (_system("s2", service=1000, interval=INTERVAL),))


def crashing(quick: bool, figure: str) -> Experiment:
    """P5 §6: neighbours that fail for five seconds, twelve a minute."""
    shape = {"brokers": 40, "subscriptions": 600, "publications": 750 if quick else 1500}
    recipes = _networks(figure, SPARSE, **shape)
    return Experiment(recipes, (_system("s0", "s2", service=1000, crashes=12, interval=2.0),))


def covering(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 12: 500 brokers and 10,000 subscriptions that cover each other; predicates are counted."""
    shape: dict[str, Any] = {"brokers": 100, "subscriptions": 2000} if quick else {}
    recipes = tuple(
        recipe
        for fanout in (5, 10, 25)
        for recipe in _networks(figure, COVERING, networks=1, publications=1200, fanout=fanout, **shape)
    )
    return Experiment(recipes, (_system("s2", predicate=1, interval=1.0),))


def saturated(quick: bool, figure: str, *fanouts: int, **shape: Any) -> Experiment:
    """P5, Fig. 13(a) and (b): 72,000 publications a minute, 4 ms a match."""
    publications = 600 if quick else 2400
    recipes = tuple(
        recipe
        for fanout in fanouts
        for recipe in _networks(
            figure, SPARSE, publications=publications, rate=SATURATED, **{"fanout": fanout, **shape}
        )
    )
    return Experiment(recipes, (_system(*UNCAPPED, service=SERVICE, interval=_reviews(publications, SATURATED)),))


def hybrid(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 13(a) with capped uplinks, without which SH is S2; some seconds, as SH goes by the one before."""
    publications = 1800 if quick else 3000
    recipes = _networks(figure, SPARSE, publications=publications, rate=SATURATED, uplink=CAP)
    options = {"service": 500, "interval": _reviews(publications, SATURATED)}
    return Experiment(recipes, (_system("s2", "sh", **options),))


def planetlab(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 13(c): 21 brokers, 3,300 publications a minute; 50 copies of 200 bytes a second are its 10 KB/s."""
    publications = 550 if quick else 1100
    recipes = tuple(
        recipe
        for data, subscriptions in ((SPARSE, 900), (DENSE, 6000))
        for cap in PLANETLAB_CAPS
        for recipe in _networks(
            figure, data, brokers=21, subscriptions=subscriptions, publications=publications, rate=3300, uplink=cap
        )
    )
    return Experiment(recipes, (_system(*UNCAPPED, service=500, interval=2.0),))


def capped(quick: bool, figure: str) -> Experiment:
    """P5, Fig. 14: 7,200 publications a minute, uplinks of 150 a second; SH also with a threshold of 5%."""
    publications = 900 if quick else 3600
    recipes = _networks(figure, SPARSE, publications=publications, rate=7200, uplink=CAP)
    options = {"service": 500, "interval": _reviews(publications, 7200)}
    return Experiment(recipes, (_system("s1", "s2", "sh", **options), _system("sh", output_threshold=EARLY, **options)))


def social(quick: bool, figure: str) -> Experiment:
    """P5 §7, DT-FB: a synthetic network in its place; 40 ms a match, so that S0 is saturated at 3,600 a minute.

    It has a tenth of the subscriptions: more at a broker have the same interest, and change no message.
    """
    recipes = _networks(figure, SOCIAL, subscriptions=12_000, publications=600 if quick else 1200)
    return Experiment(recipes, (_system(*UNCAPPED, service=10 * SERVICE, interval=1.0),))


def _reviews(publications: int, rate: int) -> float:
    """The seconds between reviews with which the publications take as many reviews as the paper's ten minutes."""
    return round(60 * publications / rate / REVIEWS, 3)


def _system(*strategies: str, **options: Any) -> Any:
    return runs("soft-links", *((s, {"simulate": SYSTEM, **options}) for s in strategies), time_limit=3600.0)


def _networks(figure: str, workload: str, networks: int = _NETWORKS, **parameters: Any) -> tuple[Recipe, ...]:
    shape = freeze(workload_named(workload).complete(parameters))
    return tuple(Recipe(figure, SEED + number, workload=workload, parameters=shape) for number in range(networks))


GRIDS_P5_SYSTEM: Mapping[str, Callable[[bool], Experiment]] = {
    "P5.T2.system": lambda quick: low_rate(quick, "P5.T2.system"),
    "P5.F9.system": lambda quick: low_rate(quick, "P5.F9.system"),
    "P5.F11.system": lambda quick: low_rate(quick, "P5.F11.system", DENSE),
    "P5.F12.system": lambda quick: covering(quick, "P5.F12.system"),
    "P5.F13.system": lambda quick: saturated(quick, "P5.F13.system", 5, 35),
    "P5.F13b.system": lambda quick: saturated(quick, "P5.F13b.system", 35, brokers=250, subscriptions=28_690),
    "P5.F13c.system": lambda quick: planetlab(quick, "P5.F13c.system"),
    "P5.F14.system": lambda quick: capped(quick, "P5.F14.system"),
}
"""Those of figures and tables; other claims name their experiments."""
_LOW_RATE: Sizes = {**LETTER, "publications a minute": (3600,)}
SIZES_P5_SYSTEM: Mapping[str, Sizes] = {
    "P5.T2.system": _LOW_RATE,
    "P5.S7.4": _LOW_RATE,
    "P5.S7.11": {**LETTER, "fanout": (20,), "publications a minute": (3600,)},
    "P5.F13.system": {**LETTER, "fanout": (5, 35), "publications a minute": (SATURATED,)},
    "P5.F13.hybrid.system": {**LETTER, "publications a minute": (SATURATED,)},
    "P5.F13c.system": {"brokers": (21,), "publications a minute": (3300,), "minutes": (5,), "samples": (1,)},
    "P5.F14.system": {**LETTER, "publications a minute": (7200,), "uplink": (CAP,)},
}
