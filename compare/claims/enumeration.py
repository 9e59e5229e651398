"""Proven optima of SN-TCO, by enumeration, and of minimum covers, by integer programming."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from ...instances.contract.overlay import Overlay
from ...instances.topics.constructions import SetCover
from ...instances.topics.instance import TopicInstance


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
    """The rising numbers of a smallest family of sets that covers all elements: P1 (Chockler et al. 2007), §5."""
    contains = np.array([[element in members for members in cover.sets] for element in range(cover.elements)])
    return smallest_cover(contains.astype(float), np.ones(cover.elements))


def smallest_cover(contains: npt.NDArray[np.float64], needed: npt.NDArray[np.float64]) -> tuple[int, ...]:
    """The rising numbers of the fewest columns that cover each row `needed` times, proven; no rows need none.

    `contains`, shape (rows, columns), `needed`, shape (rows,). Exponential in the worst case; RuntimeError if HiGHS
    proves no optimum.
    """
    from scipy.optimize import LinearConstraint, milp

    if not len(needed):
        return ()
    ones = np.ones(contains.shape[1])
    found = milp(ones, integrality=ones, bounds=(0, 1), constraints=LinearConstraint(contains, lb=needed))
    if found.status != 0:
        raise RuntimeError(f"no optimum of a cover is proven: {found.message}")
    return tuple(np.flatnonzero(found.x > 0.5).tolist())
