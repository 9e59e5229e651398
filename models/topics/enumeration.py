"""Proven optima of small problems by enumeration: all overlays on six nodes, SN-TCO, and minimum set cover."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ...instances.contract.overlay import Overlay
from ...instances.contract.run import Clock
from ...instances.topics.constructions import SetCover
from ...instances.topics.instance import TopicInstance
from ..engine.integer_model import IntegerModel, minimise_with_cp_sat

MOST_NODES = 6
ENUMERATED = ("min-tco", "minmax-tco", "low-tco", "2d-star", "2d-true")
Flags = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]
_every: Callable[[list[Flags]], Flags] = np.logical_and.reduce
_some: Callable[[list[Flags]], Flags] = np.logical_or.reduce


def smallest_value(instance: TopicInstance, problem: str) -> int:
    """The optimum of one of the problems `ENUMERATED` on up to six nodes, by enumeration of all 2^(n(n−1)/2) overlays.

    The set of overlays that serve a set of subscribers is cached, so another instance costs O(|T|) passes over an array
    of at most 32,768 flags.
    """
    n = instance.num_nodes
    valid = np.ones(1 << (n * (n - 1) // 2), np.bool_)
    rule = problem if problem.startswith("2d-") else "connected"
    for topic in range(instance.num_topics):
        valid &= _serves(n, tuple(instance.subscribers(topic).tolist()), rule)
    edges, degree = _sizes(n)
    value = {"minmax-tco": degree, "low-tco": edges * degree}.get(problem, edges)
    return int(value[valid].min())


@cache
def _sizes(n: int) -> tuple[Counts, Counts]:
    """The edges and the maximum degree of every overlay; overlay i has the p-th pair if bit p of i is set."""
    masks = np.arange(1 << (n * (n - 1) // 2))
    degrees = np.zeros((n, len(masks)), np.int64)
    for bit, (u, v) in enumerate(combinations(range(n), 2)):
        degrees[u] += masks >> bit & 1
        degrees[v] += masks >> bit & 1
    return degrees.sum(axis=0) // 2, degrees.max(axis=0)


@cache
def _serves(n: int, members: tuple[int, ...], rule: str) -> Flags:
    """Whether each overlay connects the members, or gives them a star or diameter 2, by its edges among them."""
    masks = np.arange(1 << (n * (n - 1) // 2))
    edge = {pair: (masks >> bit & 1).astype(np.bool_) for bit, pair in enumerate(combinations(range(n), 2))}

    def linked(u: int, v: int) -> Flags:
        return np.ones(len(masks), np.bool_) if u == v else edge[min(u, v), max(u, v)]

    if rule == "2d-star":
        return _some([_every([linked(u, v) for v in members]) for u in members])
    near = {pair: linked(*pair) for pair in ((u, v) for u in members for v in members)}
    if rule == "2d-true":
        return _every([_some([near[u, w] & near[w, v] for w in members]) for u in members for v in members])
    for w in members:
        for u in members:
            for v in members:
                near[u, v] = near[u, v] | (near[u, w] & near[w, v])
    return _every([near[members[0], v] for v in members])


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
