"""Broker networks after P5 §7: trees, subscriptions around each broker's interest, publications by Zipf popularity.

The paper gives sizes and matching shares, but not how its data were drawn. Here the first attribute is a subject whose
popularity falls as i^-α. A hosting broker has an interest, a window of subjects around a centre drawn by the same
popularity, and all its subscriptions start from that window. A subscription becomes more specific in steps: each
halves its window and adds a predicate on a further attribute, so that less specific subscriptions with the same centre
cover it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Ids
from ..contract.errors import BadInput
from ..contract.option import Option, Value
from ..contract.time_units import MINUTE
from ..contract.workload import Workload, zipf
from .network import UNCAPPED, BrokerNetwork, BrokerTree
from .predicates import HIGHEST, LOWEST, Publications, Subscriptions

TREES = ("balanced", "random", "path", "star")
SUBJECTS = 1000
VALUES = 1000
FURTHER = 3
_PERCENT = 100


def _networks(
    *,
    seed: int,
    tree: str,
    brokers: int,
    degree: int,
    radius: int,
    fanout: int,
    uplink: int,
    subscriptions: int,
    publications: int,
    rate: int,
    alpha: float,
    spread: int,
    specific: int,
    hosts: int,
) -> BrokerNetwork:
    """A network with everything drawn independently; bad input if the degree allows no tree."""
    streams = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(4))
    tree_random, interest_random, subscription_random, publication_random = streams
    links = _tree(tree, brokers, degree, tree_random)
    primary = BrokerTree.of(brokers, links, uplinks=[uplink] * brokers)
    popularity = np.cumsum(zipf(SUBJECTS, alpha)).astype(np.int64)
    hosting = interest_random.permutation(brokers)[: max(1, -(-brokers * hosts // _PERCENT))]
    centres = _draw_subjects(popularity, len(hosting), interest_random)
    host = np.sort(np.arange(subscriptions) % len(hosting))
    lows, highs = _draw_bounds(centres[host], spread, specific, subscription_random)
    return BrokerNetwork(
        primary,
        Subscriptions(np.sort(hosting)[host].astype(np.int32), lows, highs),
        _draw_publications(brokers, publications, rate, popularity, publication_random),
        radius,
        max(fanout, int(primary.degrees.max())) if tree == "star" else fanout,
        ("subject", *(f"value{k}" for k in range(1, FURTHER + 1))),
    )


def _tree(family: str, brokers: int, degree: int, random: np.random.Generator) -> list[tuple[int, int]]:
    """Links of a tree; a random one attaches each broker to a random earlier one with less than `degree` links."""
    if family in ("balanced", "random") and degree < 2 < brokers:
        raise BadInput(f"degree {degree} allows no tree on {brokers} brokers: give at least 2")
    links: list[tuple[int, int]] = []
    degrees = [0] * brokers
    for v in range(1, brokers):
        if family == "path":
            u = v - 1
        elif family == "star":
            u = 0
        else:
            free = [u for u in range(v) if degrees[u] < degree]
            u = free[int(random.integers(len(free)))] if family == "random" else free[0]
        links.append((u, v))
        degrees[u] += 1
        degrees[v] += 1
    return links


def _draw_bounds(
    centres: npt.NDArray[np.int64], spread: int, specific: int, random: np.random.Generator
) -> tuple[Ids, Ids]:
    count = len(centres)
    further = random.integers(_PERCENT, size=(count, FURTHER)) < specific
    steps = np.cumprod(further, axis=1).sum(axis=1)
    half = spread >> steps
    lows = np.full((count, FURTHER + 1), LOWEST, dtype=np.int32)
    highs = np.full((count, FURTHER + 1), HIGHEST, dtype=np.int32)
    lows[:, 0], highs[:, 0] = np.maximum(centres - half, 0), np.minimum(centres + half, SUBJECTS - 1)
    start = random.integers(VALUES // 2, size=(count, FURTHER))
    for k in range(FURTHER):
        restricted = steps > k
        lows[restricted, k + 1] = start[restricted, k]
        highs[restricted, k + 1] = start[restricted, k] + VALUES // 2
    return lows, highs


def _draw_publications(
    brokers: int, count: int, rate: int, popularity: npt.NDArray[np.int64], random: np.random.Generator
) -> Publications:
    """Publications at times drawn independently and uniformly over the time that they take at the given rate."""
    times = np.sort(random.integers(max(1, count * MINUTE // rate), size=count))
    sources = random.integers(brokers, size=count)
    values = np.column_stack(
        [_draw_subjects(popularity, count, random), random.integers(VALUES, size=(count, FURTHER))]
    )
    return Publications(times, sources.astype(np.int32), values.astype(np.int32))


def _draw_subjects(popularity: npt.NDArray[np.int64], count: int, random: np.random.Generator) -> npt.NDArray[np.int64]:
    return np.searchsorted(popularity, random.integers(popularity[-1], size=count), side="right").astype(np.int64)


def _number(name: str, default: int, summary: str, least: int = 1, most: int = 2**31 - 1) -> Option:
    return Option(name, default, summary, least=least, most=most)


_PARAMETERS = (
    Option("tree", "balanced", "family of the primary network", choices=TREES),
    _number("brokers", 120, "brokers"),
    _number("degree", 3, "most primary links of a broker in a balanced or random tree"),
    _number("radius", 4, "Δ: most primary hops that a soft link spans"),
    _number("fanout", 35, "most primary and soft links that a broker sends over", least=0),
    _number("uplink", UNCAPPED, "publications a second out of a broker; 0 for no cap", least=0),
    _number("subscriptions", 6552, "subscriptions in all"),
    _number("publications", 3600, "publications in all"),
    _number("rate", 3600, "publications a minute"),
    Option("alpha", 0.8, "popularity of subject i is proportional to i^-alpha", least=0.0, most=20.0),
    _number("spread", 9, "subjects to either side of an interest's centre", least=0, most=SUBJECTS),
    _number("specific", 10, "percent of the subscriptions that take each step of specialisation", least=0, most=100),
    _number("hosts", 100, "percent of the brokers that have subscriptions", most=100),
)


def _workload(name: str, summary: str, **changed: Value) -> Workload[BrokerNetwork]:
    parameters = tuple(replace(option, default=changed.get(option.name, option.default)) for option in _PARAMETERS)
    return Workload(name, summary, "P5 §7", parameters, _networks, "brokers")


BROKER_WORKLOADS: tuple[Workload[BrokerNetwork], ...] = (
    _workload("brokers-sparse", "a publication matches about 8% of the subscriptions, and of the brokers"),
    _workload(
        "brokers-dense",
        "a publication matches about half of the subscriptions, at a quarter of the brokers",
        subscriptions=19472,
        spread=220,
        hosts=45,
    ),
    _workload(
        "brokers-covering",
        "most subscriptions are covered by others",
        brokers=500,
        subscriptions=10_000,
        spread=8,
        specific=60,
    ),
    _workload(
        "brokers-social",
        "many subscriptions, each publication matches about 6.5%; synthetic, in place of P5's unpublished social trace",
        subscriptions=120_000,
        spread=7,
        fanout=20,
    ),
)
