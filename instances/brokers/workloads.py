"""Broker networks after P5 §7: trees, subscriptions around each broker's interest, publications by Zipf popularity.

The paper gives sizes and matching shares, but not how its data were drawn. Here the first attribute is a subject whose
popularity falls as i^-α. A hosting broker has an interest, a window of subjects around a centre drawn by the same
popularity, and all its subscriptions start from that window. A subscription becomes more specific in steps: each
halves its window and adds a predicate on a further attribute, so that less specific subscriptions with the same centre
cover it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from ..contract.errors import BadInput
from ..contract.option import Option, Value
from ..contract.workload import Workload, zipf
from .network import UNCAPPED, BrokerNetwork, BrokerTree
from .predicates import HIGHEST, LOWEST, Publications, Subscriptions

TREES = ("balanced", "random", "path", "star")
SUBJECTS = 1000
VALUES = 1000
FURTHER = 3
_PERCENT = 100


@dataclass(frozen=True)
class PrimaryTree:
    """Family and size of a tree; `degree` is the largest in a balanced or random one, `uplink` 0 means no cap."""

    tree: str = "balanced"
    brokers: int = 120
    degree: int = 3
    uplink: int = UNCAPPED


@dataclass(frozen=True)
class SoftLinkLimits:
    """The radius Δ, and the most primary and soft links that a broker sends over."""

    radius: int = 4
    fanout: int = 35


@dataclass(frozen=True)
class Interests:
    """How subscriptions are drawn: `specific` and `hosts` are percent of the subscriptions and of the brokers."""

    subscriptions: int = 6552
    spread: int = 9
    specific: int = 10
    hosts: int = 100


@dataclass(frozen=True)
class Traffic:
    """How publications are drawn: `rate` a minute, with subjects of popularity i^-alpha."""

    publications: int = 3600
    rate: int = 3600
    alpha: float = 0.8


_GROUPS = (PrimaryTree, SoftLinkLimits, Interests, Traffic)


def broker_workload(
    seed: int, tree: PrimaryTree, limits: SoftLinkLimits, interests: Interests, traffic: Traffic
) -> BrokerNetwork:
    """A network with everything drawn independently; bad input if the degree allows no tree."""
    streams = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(4))
    tree_random, interest_random, subscription_random, publication_random = streams
    primary = primary_tree(tree, tree_random)
    popularity = np.cumsum(zipf(SUBJECTS, traffic.alpha)).astype(np.int64)
    hosting = interest_random.permutation(tree.brokers)[: max(1, -(-tree.brokers * interests.hosts // _PERCENT))]
    centres = _draw_subjects(popularity, len(hosting), interest_random)
    return BrokerNetwork(
        primary,
        _draw_subscriptions(np.sort(hosting), centres, interests, subscription_random),
        _draw_publications(tree.brokers, traffic, popularity, publication_random),
        limits.radius,
        max(limits.fanout, int(primary.degrees.max())) if tree.tree == "star" else limits.fanout,
        ("subject", *(f"value{k}" for k in range(1, FURTHER + 1))),
    )


def primary_tree(shape: PrimaryTree, random: np.random.Generator) -> BrokerTree:
    """A tree; in a random one each broker is attached to a random earlier one that has less than `degree` links."""
    if shape.tree in ("balanced", "random") and shape.degree < 2 < shape.brokers:
        raise BadInput(f"degree {shape.degree} allows no tree on {shape.brokers} brokers: give at least 2")
    links: list[tuple[int, int]] = []
    degrees = [0] * shape.brokers
    for v in range(1, shape.brokers):
        if shape.tree == "path":
            u = v - 1
        elif shape.tree == "star":
            u = 0
        else:
            free = [u for u in range(v) if degrees[u] < shape.degree]
            u = free[int(random.integers(len(free)))] if shape.tree == "random" else free[0]
        links.append((u, v))
        degrees[u] += 1
        degrees[v] += 1
    return BrokerTree.of(shape.brokers, links, uplinks=[shape.uplink] * shape.brokers)


def _draw_subscriptions(
    hosting: npt.NDArray[np.int64], centres: npt.NDArray[np.int64], interests: Interests, random: np.random.Generator
) -> Subscriptions:
    count = interests.subscriptions
    host = np.sort(np.arange(count) % len(hosting))
    further = random.integers(_PERCENT, size=(count, FURTHER)) < interests.specific
    steps = np.cumprod(further, axis=1).sum(axis=1)
    half = interests.spread >> steps
    lows = np.full((count, FURTHER + 1), LOWEST, dtype=np.int64)
    highs = np.full((count, FURTHER + 1), HIGHEST, dtype=np.int64)
    lows[:, 0], highs[:, 0] = np.maximum(centres[host] - half, 0), np.minimum(centres[host] + half, SUBJECTS - 1)
    start = random.integers(VALUES // 2, size=(count, FURTHER))
    for k in range(FURTHER):
        restricted = steps > k
        lows[restricted, k + 1] = start[restricted, k]
        highs[restricted, k + 1] = start[restricted, k] + VALUES // 2
    return Subscriptions(hosting[host].astype(np.int32), lows.astype(np.int32), highs.astype(np.int32))


def _draw_publications(
    brokers: int, traffic: Traffic, popularity: npt.NDArray[np.int64], random: np.random.Generator
) -> Publications:
    """Publications at times drawn independently and uniformly over the time that they take at the given rate."""
    count = traffic.publications
    times = np.sort(random.integers(max(1, count * 60_000_000 // traffic.rate), size=count))
    sources = random.integers(brokers, size=count)
    values = np.column_stack(
        [_draw_subjects(popularity, count, random), random.integers(VALUES, size=(count, FURTHER))]
    )
    return Publications(times, sources.astype(np.int32), values.astype(np.int32))


def _draw_subjects(popularity: npt.NDArray[np.int64], count: int, random: np.random.Generator) -> npt.NDArray[np.int64]:
    return np.searchsorted(popularity, random.integers(popularity[-1], size=count), side="right").astype(np.int64)


def _build(*, seed: int, **given: Any) -> BrokerNetwork:
    groups: list[Any] = [kind(**{field.name: given[field.name] for field in fields(kind)}) for kind in _GROUPS]
    return broker_workload(seed, *groups)


def _workload(name: str, summary: str, **changed: Value) -> Workload[BrokerNetwork]:
    defaults: dict[str, Any] = {field.name: field.default for kind in _GROUPS for field in fields(kind)} | changed

    def number(name: str, summary: str, least: int = 1, most: int = 2**31 - 1) -> Option:
        return Option(name, defaults[name], summary, least=least, most=most)

    parameters = (
        Option("tree", defaults["tree"], "family of the primary network", choices=TREES),
        number("brokers", "brokers"),
        number("degree", "most primary links of a broker in a balanced or random tree"),
        number("radius", "Δ: most primary hops that a soft link spans"),
        number("fanout", "most primary and soft links that a broker sends over", least=0),
        number("uplink", "publications a second out of a broker; 0 for no cap", least=0),
        number("subscriptions", "subscriptions in all"),
        number("publications", "publications in all"),
        number("rate", "publications a minute"),
        Option("alpha", defaults["alpha"], "popularity of subject i is proportional to i^-alpha", least=0.0, most=20.0),
        number("spread", "subjects to either side of an interest's centre", least=0, most=SUBJECTS),
        number("specific", "percent of the subscriptions that take each step of specialisation", least=0, most=100),
        number("hosts", "percent of the brokers that have subscriptions", most=100),
    )
    return Workload(name, summary, "P5 §7", parameters, _build, "brokers")


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
