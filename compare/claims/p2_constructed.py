"""Instances that force what P2 says of GM and CD-ODA-II, and a lower bound on every overlay of stars."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...instances.contract.overlay import Overlay
from ...instances.topics.instance import TopicInstance

Floats = npt.NDArray[np.float64]
_PACE, _SHARPNESS, _COOLING, _MARGIN = 0.3, 8.0, 0.1, 1e-6


def tree_with_bridges(h: int) -> TopicInstance:
    """An instance on which GM's maximum degree is linear whatever the ties, and maximum degree 3 suffices.

    2^h leaves have two topics each; v_i-j of a binary tree above them has those of its leaves. For each leaf of the
    left half, two nodes c each have one of its topics and one of the same leaf of the right half. Only the root has
    both, so that GM links each c to the root; an edge to either leaf would do for one topic. 3·2^h − 1 nodes.
    """
    half, topics_of = 2**h // 2, dict[str, list[str]]()
    for i in range(h + 1):
        width = 2 ** (h - i)
        for j in range(2**i):
            leaves = range(j * width, (j + 1) * width)
            topics_of[f"v{i}-{j}"] = [f"t{leaf}-{side}" for leaf in leaves for side in (0, 1)]
    topics_of |= {f"c{j}-{side}": [f"t{j}-{side}", f"t{j + half}-{side}"] for j in range(half) for side in (0, 1)}
    return TopicInstance.from_subscriptions(topics_of)


def tree_of_bridges(instance: TopicInstance, h: int) -> Overlay:
    """The overlay of maximum degree 3 for `tree_with_bridges`: the tree, and each c at its two leaves."""
    index = {instance.node_label(v): v for v in range(instance.num_nodes)}
    half = 2**h // 2
    edges = [(f"v{i - 1}-{j // 2}", f"v{i}-{j}") for i in range(1, h + 1) for j in range(2**i)]
    edges += [(f"v{h}-{leaf}", f"c{j}-{side}") for j in range(half) for side in (0, 1) for leaf in (j, j + half)]
    pairs = [sorted((index[u], index[v])) for u, v in edges]
    return Overlay.from_edges(instance.num_nodes, sorted((u, v) for u, v in pairs))


def chain(n: int) -> TopicInstance:
    """All nodes have topic z, and v_i and v_(i+1) a topic of their own: the path is GM's only choice."""
    return TopicInstance.from_subscriptions(
        {f"v{i}": ["z", *(f"t{j}" for j in (i - 1, i) if 1 <= j < n)] for i in range(1, n + 1)}
    )


def dense_prefixes(n: int) -> TopicInstance:
    """An instance that leads CD-ODA-II to n(n − 1)/2 + 3n − 1 edges whatever the ties, where 4n − 2 suffice.

    v_i has t_1 … t_i and the n(n − i + 1) topics S_i, which u_i shares; all u_i and n nodes d_i have z, so that the u_i
    have more neighbours than the v_i, and a lower density.
    """
    sets = {i: [f"s{i}-{j}" for j in range(n * (n - i + 1))] for i in range(1, n + 1)}
    topics_of = {f"v{i}": [*(f"t{j}" for j in range(1, i + 1)), *sets[i]] for i in sets}
    topics_of |= {f"u{i}": [*sets[i], "z"] for i in sets}
    topics_of |= {f"d{i}": ["z"] for i in sets}
    return TopicInstance.from_subscriptions(topics_of)


def independent_subscriptions(*, nodes: int, topics: int, subscriptions: int, seed: int) -> TopicInstance:
    """Each node subscribes to each topic by itself with one probability; nodes without topics are left out."""
    wants = np.random.default_rng(seed).random((nodes, topics)) < subscriptions / topics
    return TopicInstance.from_subscriptions(
        {f"n{v}": [f"t{t}" for t in np.flatnonzero(row)] for v, row in enumerate(wants) if row.any()}
    )


def correlated(share: float, seed: int) -> TopicInstance:
    """100 nodes with 10 of 100 topics each, of which a share comes from the 20 topics of the node's group."""
    rng, topics_of = np.random.default_rng(seed), {}
    for v in range(100):
        own = rng.choice(np.arange(20) + 20 * (v % 5), round(10 * share), replace=False)
        rest = rng.choice(np.setdiff1d(np.arange(100), own), 10 - len(own), replace=False)
        topics_of[f"n{v}"] = [f"t{t}" for t in sorted((*own.tolist(), *rest.tolist()))]
    return TopicInstance.from_subscriptions(topics_of)


def star_bound(instance: TopicInstance, steps: int = 20) -> int:
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
