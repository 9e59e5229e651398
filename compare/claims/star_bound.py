"""A lower bound on the edges of every overlay in which each topic has a star (Onus and Richa, §6.3)."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...instances.topics.instance import TopicInstance

Floats = npt.NDArray[np.float64]
_STEPS = 20
_PACE, _SHARPNESS, _COOLING = 0.3, 8.0, 0.1
_MARGIN = 1e-6


def star_bound(instance: TopicInstance, steps: int = _STEPS) -> int:
    """The fewest edges of an overlay in which each topic's subscribers all neighbour one of them, from below.

    Divide the cost 1 of each pair of nodes among the topics that both subscribe to, in any way. An overlay with a star
    for each topic then costs at least the sum over the topics of the cheapest star by that topic's shares. The shares
    start equal and are moved towards the cheapest stars `steps` times; every division gives a valid bound, and the
    largest is returned.

    Notes
    -----
    This is the dual of the linear program with a variable for each pair and for each topic's centre, in which a pair
    costs at least the sum of its ends' shares in the centre of each common topic. Time and memory O(Σ|V_t|²) a step.

    Examples
    --------
    >>> star_bound(TopicInstance.from_subscriptions({"n0": ["a"], "n1": ["a", "b"], "n2": ["b"]}))
    2
    """
    groups = [instance.subscribers(t) for t in range(instance.num_topics)]
    groups = [members for members in groups if len(members) > 1]
    shares = _divided([np.ones((len(members), len(members))) for members in groups], groups, instance.num_nodes)
    best = 0.0
    for step in range(steps):
        stars = [share.sum(axis=1) for share in shares]
        best = max(best, sum(float(star.min()) for star in stars))
        pace = _PACE / (1 + _COOLING * step)
        moved = [share * _towards(star, pace) for share, star in zip(shares, stars, strict=True)]
        shares = _divided(moved, groups, instance.num_nodes)
    return math.ceil(best - _MARGIN)


def _towards(star: Floats, pace: float) -> Floats:
    """The factors for a topic's shares: above 1 for the pairs of the centres whose stars are cheapest."""
    weight = np.exp(-_SHARPNESS * (star / star.min() - 1))
    weight /= weight.sum()
    factors: Floats = np.exp(pace * (len(star) * (weight[:, None] + weight[None, :]) - 2))
    return factors


def _divided(shares: list[Floats], groups: list[npt.NDArray[np.int32]], nodes: int) -> list[Floats]:
    """The shares in proportion, so that those of each pair sum to 1."""
    load = np.zeros((nodes, nodes))
    for members, share in zip(groups, shares, strict=True):
        np.fill_diagonal(share, 0.0)
        load[np.ix_(members, members)] += share
    load[load == 0] = 1.0
    return [share / load[np.ix_(members, members)] for members, share in zip(groups, shares, strict=True)]
