"""Broker networks after P5 §7: trees, subscriptions around each broker's interest, publications by Zipf popularity.

The paper gives sizes and how much matches, not how its data were drawn. Here the first attribute is a subject whose
popularity falls as i^-α. A hosting broker has an interest, a window of subjects around a centre drawn by the same
popularity, and all its subscriptions start from that window. A subscription gets more specific by steps: each halves
its window and adds a predicate on a further attribute, so that it is covered by the less specific ones around it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import BadInput
from ..option import Option, Value
from ..popularity import zipf
from ..workload import Workload
from .network import BrokerNetwork
from .predicates import HIGHEST, LOWEST, Publications, Subscriptions
from .tree import DELAY, BrokerTree

TREES = ("balanced", "random", "path", "star")
SUBJECTS = 1000
VALUES = 1000
FURTHER = 3
_PERCENT = 100


def broker_workload(
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
    """A network of one of the families above.

    Parameters
    ----------
    seed : int
    tree : {"balanced", "random", "path", "star"}
    brokers, degree : int
        `degree` is the largest in a balanced or random tree.
    radius, fanout, uplink : int
        Δ, most links a broker, publications a second out of a broker (0: no cap).
    subscriptions, publications : int
        How many of each in all.
    rate : int
        Publications a minute, at times drawn independently and uniformly over the time that they take together.
    alpha, spread : float, int
        Subject i has popularity i^-alpha; an interest reaches `spread` subjects to either side of its centre.
    specific : int
        Percent of the subscriptions that take a step of specialisation, and of these a further one, up to three.
    hosts : int
        Percent of the brokers that have subscriptions.

    Raises
    ------
    BadInput
        If the degree leaves no tree.
    """
    trees, interests, wishes, events = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(4))
    primary = primary_tree(tree, brokers, degree, trees, uplink)
    popularity = np.cumsum(zipf(SUBJECTS, alpha)).astype(np.int64)
    hosting = np.sort(interests.permutation(brokers)[: max(1, -(-brokers * hosts // _PERCENT))])
    centres = _drawn(popularity, len(hosting), interests)
    return BrokerNetwork(
        primary,
        _subscriptions(hosting, centres, subscriptions, spread, specific, wishes),
        _publications(brokers, publications, rate, popularity, events),
        radius,
        max(fanout, int(primary.degrees.max())) if tree == "star" else fanout,
        ("subject", *(f"value{k}" for k in range(1, FURTHER + 1))),
    )


def primary_tree(family: str, brokers: int, degree: int, random: np.random.Generator, uplink: int = 0) -> BrokerTree:
    """A tree by family: ``random`` hangs each broker under a random earlier one that has less than `degree` links."""
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
    return BrokerTree.of(brokers, links, delays=[DELAY] * len(links), uplinks=[uplink] * brokers)


def _subscriptions(
    hosting: npt.NDArray[np.int64],
    centres: npt.NDArray[np.int64],
    count: int,
    spread: int,
    specific: int,
    random: np.random.Generator,
) -> Subscriptions:
    host = np.sort(np.arange(count) % len(hosting))
    further = random.integers(_PERCENT, size=(count, FURTHER)) < specific
    steps = np.cumprod(further, axis=1).sum(axis=1)
    half = spread >> steps
    lows = np.full((count, FURTHER + 1), LOWEST, dtype=np.int64)
    highs = np.full((count, FURTHER + 1), HIGHEST, dtype=np.int64)
    lows[:, 0], highs[:, 0] = np.maximum(centres[host] - half, 0), np.minimum(centres[host] + half, SUBJECTS - 1)
    start = random.integers(VALUES // 2, size=(count, FURTHER))
    for k in range(FURTHER):
        taken = steps > k
        lows[taken, k + 1] = start[taken, k]
        highs[taken, k + 1] = start[taken, k] + VALUES // 2
    return Subscriptions(hosting[host].astype(np.int32), lows.astype(np.int32), highs.astype(np.int32))


def _publications(
    brokers: int, count: int, rate: int, popularity: npt.NDArray[np.int64], random: np.random.Generator
) -> Publications:
    times = np.sort(random.integers(max(1, count * 60_000_000 // rate), size=count))
    sources = random.integers(brokers, size=count)
    values = np.column_stack([_drawn(popularity, count, random), random.integers(VALUES, size=(count, FURTHER))])
    return Publications(times, sources.astype(np.int32), values.astype(np.int32))


def _drawn(popularity: npt.NDArray[np.int64], count: int, random: np.random.Generator) -> npt.NDArray[np.int64]:
    return np.searchsorted(popularity, random.integers(popularity[-1], size=count), side="right").astype(np.int64)


def _workload(name: str, summary: str, **chosen: Value) -> Workload[BrokerNetwork]:
    given: dict[str, Value] = {"brokers": 120, "subscriptions": 6552, "publications": 3600, **chosen}

    def count(name: str, summary: str, default: int = 0, least: int = 1, most: int = 2**31 - 1) -> Option:
        return Option(name, given.get(name, default), summary, least=least, most=most)

    parameters = (
        Option("tree", "balanced", "family of the primary network", choices=TREES),
        count("brokers", "brokers"),
        count("degree", "most primary links of a broker in a balanced or random tree", 3),
        count("radius", "Δ: most primary hops that a soft link spans", 4),
        count("fanout", "most primary and soft links that a broker sends over", 35, least=0),
        count("uplink", "publications a second out of a broker; 0 for no cap", 0, least=0),
        count("subscriptions", "subscriptions in all"),
        count("publications", "publications in all"),
        count("rate", "publications a minute", 3600),
        Option("alpha", 0.8, "popularity of subject i is proportional to i^-alpha", least=0.0, most=20.0),
        count("spread", "subjects to either side of an interest's centre", 9, least=0, most=SUBJECTS),
        count("specific", "percent of the subscriptions that take each step of specialisation", 10, least=0, most=100),
        count("hosts", "percent of the brokers that have subscriptions", 100, most=100),
    )
    return Workload(name, summary, "P5 §7", parameters, broker_workload, "brokers")


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
)
