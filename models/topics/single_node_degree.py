"""SN-TCO (P1 §5): the smallest degree that one node can have in a topic-connected overlay."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ...instances.overlay import Overlay
from ...instances.topics.instance import TopicInstance


def smallest_degree_of(instance: TopicInstance, node: int) -> tuple[int, Overlay]:
    """The smallest degree of `node` in any topic-connected overlay, and an overlay in which it has that degree.

    Edges between the other nodes only help, so all of them are there; the node's neighbours are tried by rising
    number, and every overlay is looked at by its topic components alone. Nothing is said of set covers.

    Raises
    ------
    RuntimeError
        Never for an instance as :class:`TopicInstance` keeps it: with all edges every topic is connected.

    Notes
    -----
    P1, §5 and Lemma 5.2. Cost O(2^|V|) overlays in the worst case: for small instances.
    """
    others = [v for v in range(instance.num_nodes) if v != node]
    clique = list(combinations(others, 2))
    for degree in range(instance.num_nodes):
        for neighbours in combinations(others, degree):
            overlay = Overlay.from_edges(instance.num_nodes, [*clique, *((node, v) for v in neighbours)])
            if np.all(overlay.topic_components(instance) == 1):
                return degree, overlay
    raise RuntimeError("the complete overlay is not topic-connected")
