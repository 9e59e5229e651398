"""The topic workloads of P1 §8, P2 §5 and §6.5, and P3 §VI; and workloads with link costs.

Every node draws its topics from its own random stream, a function of (seed, node): the instance does not depend on the
number of processes that draw it. The number of topics of a node is fixed, or random between a minimum and a maximum.
The topics are drawn one by one by popularity, without replacement (successive sampling).

P3 states neither the distribution of the number of topics nor the exponential distribution of popularity. With
``uniform-varying``, GM-M has the degrees of its Table II. The ``-fitted`` workloads reproduce its Tables III and IV
best (docs/topics.md): numbers of topics with a peak at the mean, p_i ∝ i^-3 (a power law whose tail, not density,
has the exponent 2) and p_i ∝ e^-0.1i.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..contract.arrays import Ids, Offsets
from ..contract.errors import BadInput
from ..contract.option import Option
from ..contract.workload import Weights, Workload, exponential, uniform, zipf
from .instance import TopicInstance
from .link_costs import LinkCosts

_MOST = 2**31 - 1


_POPULARITIES: dict[str, Callable[..., Weights]] = {"uniform": uniform, "zipf": zipf, "exponential": exponential}


@dataclass(frozen=True)
class RandomTopics:
    """Random topics for each node by popularity: the whole instance when called, or the nodes of a range."""

    distribution: str  # one of "uniform", "zipf", "exponential"
    peaked: bool = False  # see :func:`.draw_subscriptions`

    def __call__(self, *, nodes: int, topics: int, seed: int, **given: Any) -> TopicInstance:
        most = given.get("subscriptions") or given["most"]
        if nodes * most > _MOST:
            raise BadInput(f"{nodes} nodes of {most} subscriptions are more than {_MOST} in all: choose fewer")
        offsets, drawn = self.draw(0, nodes, topics=topics, seed=seed, **given)
        return TopicInstance.from_sorted(offsets, drawn, topics)

    def draw(
        self,
        first: int,
        last: int,
        *,
        topics: int,
        seed: int,
        subscriptions: int | None = None,
        least: int = 0,
        most: int = 0,
        **shape: float,
    ) -> tuple[Offsets, Ids]:
        """The topics of nodes `first` … `last` − 1 as CSR arrays; they do not depend on the range."""
        least, most = (least, most) if subscriptions is None else (subscriptions, subscriptions)
        if least > most:
            raise BadInput(f"at least {least} and at most {most} subscriptions a node: swap them")
        if most > topics:
            raise BadInput(
                f"{most} subscriptions a node from {topics} topics: choose fewer subscriptions or more topics"
            )
        from .kernels import draw_subscriptions

        weights = _POPULARITIES[self.distribution](topics, **shape)
        counts, drawn = draw_subscriptions(weights, least, most, seed, first, last, peaked=self.peaked)
        return np.concatenate([[0], np.cumsum(counts)]), drawn


def _size(name: str, default: int, summary: str) -> Option:
    return Option(name, default, summary, least=1, most=_MOST)


_NODES, _TOPICS = _size("nodes", 1000, "|V|"), _size("topics", 100, "|T| to draw from")
_FIXED = (_NODES, _TOPICS, _size("subscriptions", 10, "distinct topics a node"))
_RANGE = (_size("least", 10, "fewest topics a node"), _size("most", 90, "most topics a node"))
_FITTED = (_NODES, _size("topics", 200, "|T| to draw from"), *_RANGE)
_VARYING = (_size("nodes", 4000, "|V|"), *_FITTED[1:])


def _alpha(default: float) -> Option:
    return Option("alpha", default, "p_i proportional to i^-alpha", least=0.0, most=20.0)


def _decile(default: float) -> Option:
    return Option("top_decile", default, "share of the first tenth of the topics", least=0.0, most=0.999)


_P3, _PEAK = "P3 §VI", "10 to 90 a node, most often 50"
TOPIC_WORKLOADS: tuple[Workload[TopicInstance], ...] = tuple(
    Workload(name, summary, source, parameters, RandomTopics(name.partition("-")[0], peaked=parameters[:4] == _FITTED))
    for name, summary, source, parameters in (
        ("uniform", "uniform popularity, a fixed number a node", "P1 §8, P2 §6.5", _FIXED),
        ("zipf", "p_i ∝ i^-α, a fixed number a node", "P1 §8, P2 §5", (*_FIXED, _alpha(0.5))),
        ("exponential", "p_i ∝ q^i, a fixed number a node", "P1 §8", (*_FIXED, _decile(0.55))),
        ("uniform-varying", "uniform popularity, 10 to 90 a node", _P3, _VARYING),
        ("zipf-varying", "p_i ∝ i^-α, 10 to 90 a node", _P3, (*_VARYING, _alpha(2.0))),
        ("exponential-varying", "p_i ∝ q^i, 10 to 90 a node", _P3, (*_VARYING, _decile(0.55))),
        ("zipf-fitted", f"p_i ∝ i^-α, {_PEAK}, α fitted to Table III of P3", _P3, (*_FITTED, _alpha(3.0))),
        ("exponential-fitted", f"p_i ∝ q^i, {_PEAK}, q fitted to Table IV of P3", _P3, (*_FITTED, _decile(0.8647))),
    )
)


_SIDE = 1000
_STUB_COST = 2
_SUBSCRIBED = (
    *_FIXED,
    Option("popularity", "uniform", "of the topics, as in the workload of that name", choices=tuple(_POPULARITIES)),
)


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
    Workload("plane", "nodes in a square, an edge costs its length", "none; docs/topics.md", _SUBSCRIBED, plane),
    Workload(
        "transit-stub",
        "nodes in the stubs of a transit-stub network, an edge costs its path",
        "Zegura et al. 1996",
        (
            *_SUBSCRIBED,
            Option("transits", 8, "transit routers", least=1, most=1000),
            Option("stubs", 8, "stub networks of each transit router", least=1, most=10_000),
        ),
        transit_stub,
    ),
)
