"""The topic workloads of P1 §8, P2 §5 and §6.5, and P3 §VI, by name.

Every node draws its topics from a stream of its own, a function of (seed, node) alone: the instance is the same
whether its nodes are drawn in one process or in many. A node first fixes its number of topics (given, or uniform
between a least and a most number) and then draws topics one by one by popularity, without replacement: a topic
that it already has is drawn again. The probability of a set of topics is therefore that of successive sampling.

P3 does not say how its numbers of topics are spread nor which exponential law it takes. Under ``uniform-varying`` GM-M
has the degrees of its Table II. The `-fitted` workloads came closest to its Tables III and IV (measured in
docs/heuristics.md): numbers of topics that peak at the mean, p_i ∝ i^-3 (a power law whose tail, not density, has the
exponent 2) and p_i ∝ e^-0.1i.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .. import popularity
from ..errors import BadInput
from ..option import Option
from ..workload import Workload
from .instance import TopicInstance
from .subscription_draw import draw_subscriptions

_MOST = 2**31 - 1


def topic_weights(law: str, topics: int, **shape: float) -> popularity.Weights:
    """The weights of a popularity law by name."""
    laws: dict[str, Callable[..., popularity.Weights]] = {
        "uniform": popularity.uniform,
        "zipf": popularity.zipf,
        "exponential": popularity.exponential,
    }
    return laws[law](topics, **shape)


def _fixed(law: str, *, nodes: int, topics: int, subscriptions: int, seed: int, **shape: float) -> TopicInstance:
    return _draw(law, nodes, topics, subscriptions, subscriptions, seed, shape)


def _varying(law: str, *, nodes: int, topics: int, least: int, most: int, seed: int, **shape: float) -> TopicInstance:
    return _draw(law, nodes, topics, least, most, seed, shape)


def _fitted(law: str, *, nodes: int, topics: int, least: int, most: int, seed: int, **shape: float) -> TopicInstance:
    return _draw(law, nodes, topics, least, most, seed, shape, peaked=True)


def _draw(
    law: str, nodes: int, topics: int, least: int, most: int, seed: int, shape: dict[str, float], peaked: bool = False
) -> TopicInstance:
    if least > most:
        raise BadInput(f"at least {least} and at most {most} subscriptions a node: swap them")
    if most > topics:
        raise BadInput(f"{most} subscriptions a node from {topics} topics: choose fewer subscriptions or more topics")
    if nodes * most > _MOST:
        raise BadInput(f"{nodes} nodes of {most} subscriptions are more than {_MOST} in all: choose fewer")
    sizes, wanted = draw_subscriptions(topic_weights(law, topics, **shape), least, most, seed, 0, nodes, peaked=peaked)
    offsets = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return TopicInstance.from_sorted(offsets, wanted, topics)


def _size(name: str, default: int, summary: str) -> Option:
    return Option(name, default, summary, least=1, most=_MOST)


_NODES, _TOPICS = _size("nodes", 1000, "|V|"), _size("topics", 100, "|T| to draw from")
_FIXED = (_NODES, _TOPICS, _size("subscriptions", 10, "distinct topics a node"))
_VARYING = (
    _size("nodes", 4000, "|V|"),
    _size("topics", 200, "|T| to draw from"),
    _size("least", 10, "fewest topics a node"),
    _size("most", 90, "most topics a node"),
)
_FITTED = (_NODES, *_VARYING[1:])


def _alpha(default: float) -> Option:
    return Option("alpha", default, "p_i proportional to i^-alpha", least=0.0, most=20.0)


def _decile(default: float) -> Option:
    return Option("top_decile", default, "mass of the first tenth of the topics", least=0.0, most=0.999)


_P1, _P3 = "P1 §8, P2 §5", "P3 §VI"
TOPIC_WORKLOADS: tuple[Workload[TopicInstance], ...] = (
    Workload(
        "uniform", "every topic alike, a fixed number a node", "P1 §8, P2 §6.5", _FIXED, partial(_fixed, "uniform")
    ),
    Workload("zipf", "p_i ∝ i^-α, a fixed number a node", _P1, (*_FIXED, _alpha(0.5)), partial(_fixed, "zipf")),
    Workload(
        "exponential",
        "p_i ∝ q^i, a fixed number a node",
        "P1 §8",
        (*_FIXED, _decile(0.55)),
        partial(_fixed, "exponential"),
    ),
    Workload("uniform-varying", "every topic alike, 10 to 90 a node", _P3, _VARYING, partial(_varying, "uniform")),
    Workload("zipf-varying", "p_i ∝ i^-α, 10 to 90 a node", _P3, (*_VARYING, _alpha(2.0)), partial(_varying, "zipf")),
    Workload(
        "exponential-varying",
        "p_i ∝ q^i, 10 to 90 a node",
        _P3,
        (*_VARYING, _decile(0.55)),
        partial(_varying, "exponential"),
    ),
    Workload(
        "zipf-fitted",
        "p_i ∝ i^-α, 10 to 90 a node, most often 50, α such that P3's Table III comes out",
        _P3,
        (*_FITTED, _alpha(3.0)),
        partial(_fitted, "zipf"),
    ),
    Workload(
        "exponential-fitted",
        "p_i ∝ q^i, 10 to 90 a node, most often 50, q such that P3's Table IV comes out",
        _P3,
        (*_FITTED, _decile(0.8647)),
        partial(_fitted, "exponential"),
    ),
)
