"""SN-TCO (P1, Chockler et al. 2007, §5): the smallest degree of one node in any topic-connected overlay."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ...instances.contract.overlay import Overlay
from ...instances.topics.instance import TopicInstance


def smallest_degree_of(instance: TopicInstance, node: int) -> tuple[int, Overlay]:
    """The smallest degree of `node` in any topic-connected overlay, and an overlay in which it has that degree.

    More edges between the other nodes never hurt, so the overlay has all of them; sets of neighbours are enumerated by
    rising size, and each is judged by its topic components, without the reduction to set cover.

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
