"""Instances that force what P2 says of GM and CD-ODA-II, where its own instances leave ties or do not."""

from __future__ import annotations

from ...instances.contract.overlay import Overlay
from ...instances.topics.instance import TopicInstance


def tree_with_bridges(h: int) -> TopicInstance:
    """An instance on which GM's maximum degree is linear whatever the ties, and maximum degree 3 suffices.

    2^h leaves have two topics each; v_i-j of a binary tree above them has those of its leaves. For each leaf of the
    left half, two nodes c each have one of its topics and one of the same leaf of the right half. Only the root has
    both, so that GM links each c to the root; an edge to either leaf would do for one topic. 3·2^h − 1 nodes.
    """
    leaves = 2**h
    topics_of = {
        f"v{i}-{j}": [f"t{leaf}-{side}" for leaf in _leaves_below(h, i, j) for side in (0, 1)]
        for i in range(h + 1)
        for j in range(2**i)
    }
    half = leaves // 2
    topics_of |= {f"c{j}-{side}": [f"t{j}-{side}", f"t{j + half}-{side}"] for j in range(half) for side in (0, 1)}
    return TopicInstance.from_subscriptions(topics_of)


def tree_of_bridges(instance: TopicInstance, h: int) -> Overlay:
    """The overlay of maximum degree 3 for `tree_with_bridges`: the tree, and each c at its two leaves."""
    index = {instance.node_label(v): v for v in range(instance.num_nodes)}
    half = 2**h // 2
    edges = [(f"v{i - 1}-{j // 2}", f"v{i}-{j}") for i in range(1, h + 1) for j in range(2**i)]
    edges += [(f"v{h}-{leaf}", f"c{j}-{side}") for j in range(half) for side in (0, 1) for leaf in (j, j + half)]
    pairs = [(index[u], index[v]) for u, v in edges]
    return Overlay.from_edges(instance.num_nodes, sorted((min(pair), max(pair)) for pair in pairs))


def _leaves_below(h: int, level: int, number: int) -> range:
    width = 2 ** (h - level)
    return range(number * width, (number + 1) * width)


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
