"""P3's divide and conquer in plain Python, as Algorithms 2 and 7–13 define it.

Edges, overlays, interest and ranks are as in :mod:`tests.heuristics.topics.twins`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from tests.heuristics.topics.twins import Edge, Interest, Rank, contributions, least_raising, rank_by, subscribers

Parts = list[list[int]]
Select = Callable[[dict[Edge, int], set[Edge]], dict[Edge, int]]


def least_raising_degree(weights: dict[Edge, int], overlay: set[Edge]) -> dict[Edge, int]:
    return least_raising(weights, overlay)


def any_degree(weights: dict[Edge, int], overlay: set[Edge]) -> dict[Edge, int]:
    return weights


def build_edges(
    interest: Interest, rank: Rank, nodes: list[int], current: set[Edge], potential: set[Edge], select: Select
) -> set[Edge]:
    """Algorithm 2; nodes are numbered among themselves for ties."""
    overlay, number = set(current), {v: k for k, v in enumerate(nodes)}
    while True:
        weights = contributions(interest, overlay)
        useful = {edge: weight for edge, weight in weights.items() if weight > 0 and edge in potential}
        if not useful:
            return overlay - current
        candidates = select(useful, overlay)
        overlay.add(min(candidates, key=lambda e: (-candidates[e], rank(number[e[0]] * len(nodes) + number[e[1]]))))


def default_eta(interest: Interest) -> int:
    return min(eta for eta in range(100) if 5 * len(bulk_nodes(interest, eta)) <= len(interest))


def bulk_nodes(interest: Interest, eta: int) -> list[int]:
    return [v for v, topics in enumerate(interest) if len(topics) > eta]


def random_parts(interest: Interest, eta: int, num_parts: int, seed: int) -> Parts:
    """Lightweight nodes in the order of seeded priorities, dealt out one by one."""
    lightweight = [v for v, topics in enumerate(interest) if len(topics) <= eta]
    shuffled = sorted(lightweight, key=rank_by("random", ~seed))
    return [sorted(shuffled[part::num_parts]) for part in range(min(num_parts, len(shuffled)))]


def conquer(interest: Interest, rank: Rank, parts: Parts, select: Select) -> set[Edge]:
    """The loop of Algorithms 7 and 8."""
    inner: set[Edge] = set()
    for part in parts:
        inner |= build_edges(interest, rank, part, set(), set(combinations(part, 2)), select)
    return inner


def dcb_m(interest: Interest, rank: Rank, eta: int, parts: Parts) -> set[Edge]:
    """Algorithms 9 and 10."""
    inner = conquer(interest, rank, parts, least_raising_degree)
    nodes = list(range(len(interest)))
    potential = potential_edges(bulk_nodes(interest, eta), parts)
    return inner | build_edges(interest, rank, nodes, inner, potential, least_raising_degree)


def dcbr_m(
    interest: Interest, rank: Rank, eta: int, parts: Parts, coverage: int, select: Select = least_raising_degree
) -> set[Edge]:
    """Algorithms 11 and 12; components and degrees are those of the whole overlay."""
    inner, bulk = conquer(interest, rank, parts, select), bulk_nodes(interest, eta)
    chosen = representatives(interest, rank, parts, coverage)
    nodes = sorted(bulk + [v for part in chosen for v in part])
    return inner | build_edges(interest, rank, nodes, inner, potential_edges(bulk, chosen), select)


def potential_edges(bulk: list[int], parts: Parts) -> set[Edge]:
    """Lines 3 and 4 of Algorithm 10, and 10 and 11 of Algorithm 12."""
    all_nodes = bulk + [v for part in parts for v in part]
    pairs = {(v, w) for v in bulk for w in all_nodes if v != w}
    pairs |= {(v, w) for one, other in combinations(parts, 2) for v in one for w in other}
    return {(min(pair), max(pair)) for pair in pairs}


def representatives(interest: Interest, rank: Rank, parts: Parts, coverage: int, *, as_printed: bool = False) -> Parts:
    """Lines 3 to 7 of Algorithm 12, where the topics of bulk nodes are others' topics too unless `as_printed`."""
    chosen = []
    for part in parts:
        outside = set(range(len(interest))) - set(part)
        if as_printed:
            outside = {v for other in parts if other != part for v in other}
        outward = set().union(*(interest[v] for v in part)) & set().union(*(interest[v] for v in outside))
        chosen.append(representative_set(interest, rank, part, outward, coverage))
    return chosen


def representative_set(interest: Interest, rank: Rank, part: list[int], outward: set[int], coverage: int) -> list[int]:
    """Algorithm 13, with min{λ, |subs(t)|} of eq. 8 for λ in line 3."""
    missing = {topic: min(coverage, len(set(subscribers(interest, topic)) & set(part))) for topic in outward}
    chosen: list[int] = []
    while any(missing.values()):
        uncovered = {topic for topic, count in missing.items() if count > 0}
        node = min(set(part) - set(chosen), key=lambda v: (-len(interest[v] & uncovered), rank(v)))
        chosen.append(node)
        for topic in interest[node] & uncovered:
            missing[topic] -= 1
    return sorted(chosen)


def potential_neighbours(bulk: list[int], parts: Parts, chosen: Parts) -> list[int]:
    """For each node the number of nodes that it must know, itself included (P3 §IV.D)."""
    known: dict[int, set[int]] = {v: set() for v in [*bulk, *(v for part in parts for v in part)]}
    everyone_chosen = {v for part in chosen for v in part}
    for v in bulk:
        known[v] |= set(bulk) | everyone_chosen
    for part, ours in zip(parts, chosen, strict=True):
        for v in part:
            known[v] |= set(part)
        for v in ours:
            known[v] |= set(bulk) | (everyone_chosen - set(ours))
    return [len(others) for others in known.values()]
