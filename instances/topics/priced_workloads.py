"""Workloads with link costs: nodes in the plane, and nodes at the stubs of a transit-stub network."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..contract.errors import BadInput
from ..contract.option import Option
from ..contract.workload import Workload
from .instance import TopicInstance
from .link_costs import LinkCosts
from .workloads import TOPIC_WORKLOADS

_SIDE = 1000
_STUB_COST = 2
_POPULARITY = Option(
    "popularity",
    "uniform",
    "of the topics, as in the workload of that name",
    choices=("uniform", "zipf", "exponential"),
)
_SUBSCRIPTIONS = tuple(TOPIC_WORKLOADS[0].parameters)


def plane(*, seed: int, popularity: str, **sizes: Any) -> TopicInstance:
    """Nodes at uniform integer points of a square of side 1000; an edge costs its length."""
    instance = _subscribed(popularity, seed, sizes)
    points = np.random.default_rng([seed, 1]).integers(0, _SIDE + 1, (instance.num_nodes, 2))
    return instance.with_costs(LinkCosts.plane(points))


def transit_stub(*, seed: int, popularity: str, transits: int, stubs: int, **sizes: Any) -> TopicInstance:
    """Nodes at the stubs of a transit-stub network, as in GT-ITM (Zegura, Calvert, Bhattacharjee 1996).

    Transit routers are uniform points of a square of side 1000, joined by a ring and by chords with probability ½. Each
    has `stubs` stub networks at a distance of 10 to 100, and every node is in a random stub. An edge costs the length
    of the shortest path between the stubs of its ends, and 2 within and into the stubs.
    """
    if transits * stubs > 20_000:
        raise BadInput(f"{transits} transit routers of {stubs} stubs are more than 20,000 stubs: choose fewer")
    instance = _subscribed(popularity, seed, sizes)
    draw = np.random.default_rng([seed, 2])
    where = draw.integers(0, _SIDE + 1, (transits, 2)).astype(np.float64)
    length = np.maximum(1.0, np.floor(np.sqrt(((where[:, None] - where) ** 2).sum(axis=-1)) + 0.5))
    linked = np.triu(draw.random((transits, transits)) < 0.5, 1)
    ring = np.arange(transits)
    linked[ring, (ring + 1) % transits] = True
    core = np.where(linked | linked.T, length, np.inf)
    np.fill_diagonal(core, 0)
    for via in range(transits):
        np.minimum(core, core[:, via, None] + core[via], out=core)
    access = draw.integers(10, 101, transits * stubs)
    router = np.repeat(ring, stubs)
    table = core[np.ix_(router, router)].astype(np.int64) + access[:, None] + access + _STUB_COST
    np.fill_diagonal(table, _STUB_COST)
    return instance.with_costs(LinkCosts.between_sites(draw.integers(0, transits * stubs, instance.num_nodes), table))


def _subscribed(popularity: str, seed: int, sizes: dict[str, Any]) -> TopicInstance:
    workload = next(workload for workload in TOPIC_WORKLOADS if workload.name == popularity)
    return workload.generate(seed=seed, **sizes)


PRICED_WORKLOADS: tuple[Workload[TopicInstance], ...] = (
    Workload(
        "plane",
        "nodes in a square, an edge costs its length",
        "none; docs/weighted.md",
        (*_SUBSCRIPTIONS, _POPULARITY),
        plane,
    ),
    Workload(
        "transit-stub",
        "nodes in the stubs of a transit-stub network, an edge costs its path",
        "Zegura et al. 1996",
        (
            *_SUBSCRIPTIONS,
            _POPULARITY,
            Option("transits", 8, "transit routers", least=1, most=1000),
            Option("stubs", 8, "stub networks of each transit router", least=1, most=10_000),
        ),
        transit_stub,
    ),
)
