"""Proven optima of SN-TCO, by enumeration, and of minimum set cover, by CP-SAT."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ...instances.contract.overlay import Overlay
from ...instances.runtime.run import Clock
from ...instances.topics.constructions import SetCover
from ...instances.topics.instance import TopicInstance
from ...models.engine.integer_model import IntegerModel, minimise_with_cp_sat


def smallest_degree_of(instance: TopicInstance, node: int) -> tuple[int, Overlay]:
    """SN-TCO: the smallest degree of `node` in any topic-connected overlay, and an overlay in which it has that degree.

    More edges between the other nodes never hurt, so the overlay has all of them; sets of neighbours are enumerated by
    rising size, and each is judged by its topic components, without the reduction to set cover. P1 (Chockler et al.
    2007), §5 and Lemma 5.2. Cost O(2^|V|) overlays in the worst case: for small instances.
    """
    others = [v for v in range(instance.num_nodes) if v != node]
    clique = list(combinations(others, 2))
    for degree in range(instance.num_nodes):
        for neighbours in combinations(others, degree):
            overlay = Overlay.from_edges(instance.num_nodes, [*clique, *((node, v) for v in neighbours)])
            if np.all(overlay.topic_components(instance) == 1):
                return degree, overlay
    raise RuntimeError("the complete overlay is not topic-connected")


def minimum_set_cover(cover: SetCover) -> tuple[int, ...]:
    """The rising numbers of a smallest family of sets that covers all elements, proven by CP-SAT.

    The problem from which P1 (Chockler et al. 2007) reduces. One worker and one seed: the same sets on every machine.
    Exponential in the worst case; RuntimeError if CP-SAT proves no optimum.
    """
    model = IntegerModel()
    chosen = [model.column(cost=1) for _ in cover.sets]
    for element in range(cover.elements):
        model.require_some(chosen[number] for number, members in enumerate(cover.sets) if element in members)
    outcome = minimise_with_cp_sat(
        model, Clock(None), answer=lambda values: tuple(k for k in chosen if values[k] > 0.5)
    )
    if outcome.answer is None or outcome.stopped:
        raise RuntimeError("CP-SAT proves no optimum of a set cover")
    return outcome.answer
