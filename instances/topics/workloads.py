"""The topic workloads of P1 §8, P2 §5 and §6.5, and P3 §VI.

Every node draws its topics from its own random stream, a function of (seed, node): the instance does not depend on the
number of processes that draw it. The number of topics of a node is fixed, or random between a minimum and a maximum.
The topics are drawn one by one by popularity, without replacement (successive sampling).

P3 states neither the distribution of the number of topics nor the exponential distribution of popularity. With
``uniform-varying``, GM-M has the degrees of its Table II. The ``-fitted`` workloads reproduce its Tables III and IV
best (docs/heuristics.md): numbers of topics with a peak at the mean, p_i ∝ i^-3 (a power law whose tail, not density,
has the exponent 2) and p_i ∝ e^-0.1i.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..contract import popularity
from ..contract.arrays import Ids, Offsets
from ..contract.errors import BadInput
from ..contract.option import Option
from ..contract.workload import Workload
from .instance import TopicInstance

_MOST = 2**31 - 1


def topic_weights(distribution: str, topics: int, **shape: float) -> popularity.Weights:
    """The weights of a popularity distribution by name."""
    distributions: dict[str, Callable[..., popularity.Weights]] = {
        "uniform": popularity.uniform,
        "zipf": popularity.zipf,
        "exponential": popularity.exponential,
    }
    return distributions[distribution](topics, **shape)


@dataclass(frozen=True)
class RandomTopics:
    """Random topics for each node by popularity: the whole instance when called, or the nodes of a range.

    Attributes
    ----------
    distribution : {"uniform", "zipf", "exponential"}
    peaked : bool
        See :func:`.draw_subscriptions`.
    """

    distribution: str
    peaked: bool = False

    def __call__(self, *, nodes: int, topics: int, seed: int, **given: Any) -> TopicInstance:
        """The instance on nodes 0 … `nodes` − 1."""
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
        from .kernels.subscription_draw import draw_subscriptions

        weights = topic_weights(self.distribution, topics, **shape)
        counts, drawn = draw_subscriptions(weights, least, most, seed, first, last, peaked=self.peaked)
        return np.concatenate([[0], np.cumsum(counts)]), drawn


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
    return Option("top_decile", default, "share of the first tenth of the topics", least=0.0, most=0.999)


_P1, _P3 = "P1 §8, P2 §5", "P3 §VI"
TOPIC_WORKLOADS: tuple[Workload[TopicInstance], ...] = (
    Workload("uniform", "uniform popularity, a fixed number a node", "P1 §8, P2 §6.5", _FIXED, RandomTopics("uniform")),
    Workload("zipf", "p_i ∝ i^-α, a fixed number a node", _P1, (*_FIXED, _alpha(0.5)), RandomTopics("zipf")),
    Workload(
        "exponential",
        "p_i ∝ q^i, a fixed number a node",
        "P1 §8",
        (*_FIXED, _decile(0.55)),
        RandomTopics("exponential"),
    ),
    Workload("uniform-varying", "uniform popularity, 10 to 90 a node", _P3, _VARYING, RandomTopics("uniform")),
    Workload("zipf-varying", "p_i ∝ i^-α, 10 to 90 a node", _P3, (*_VARYING, _alpha(2.0)), RandomTopics("zipf")),
    Workload(
        "exponential-varying",
        "p_i ∝ q^i, 10 to 90 a node",
        _P3,
        (*_VARYING, _decile(0.55)),
        RandomTopics("exponential"),
    ),
    Workload(
        "zipf-fitted",
        "p_i ∝ i^-α, 10 to 90 a node, most often 50, α fitted to Table III of P3",
        _P3,
        (*_FITTED, _alpha(3.0)),
        RandomTopics("zipf", peaked=True),
    ),
    Workload(
        "exponential-fitted",
        "p_i ∝ q^i, 10 to 90 a node, most often 50, q fitted to Table IV of P3",
        _P3,
        (*_FITTED, _decile(0.8647)),
        RandomTopics("exponential", peaked=True),
    ),
)
