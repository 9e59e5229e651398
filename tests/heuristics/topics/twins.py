"""Divide and conquer, rings and several runs of Greedy Merge in plain Python, as their papers define them.

Every quantity is recomputed at every step. One run of a greedy method has its own steps in plain Python
(:mod:`overlaybench.heuristics.topics.tie_breaking.tie_search`).

Nodes are 0…n-1; `interest` is the list of their topic sets; an overlay is a set of edges (u, v) with u < v.
`rank` maps a candidate to its rank among equally good ones; the lowest is taken.
"""

from collections import Counter
from collections.abc import Callable
from itertools import combinations

import overlaybench as ob
from overlaybench.instances.topics.constructions import CONSTRUCTIONS, SET_COVER_CONSTRUCTIONS

Edge = tuple[int, int]
Interest = list[set[int]]
Rank = Callable[[int], int]


def interest_of(instance: ob.TopicInstance) -> Interest:
    return [set(instance.topics_of(v).tolist()) for v in range(instance.num_nodes)]


def edges(overlay: ob.Overlay) -> set[Edge]:
    return {(int(u), int(v)) for u, v in overlay.edges}


def rank_by(ties: str, seed: int) -> Rank:
    """The tie rules; ``random`` is the finalizer of splitmix64 on 63 bits, the seed's own scrambling mixed in."""
    if ties == "lowest":
        return lambda candidate: candidate
    if ties == "highest":
        return lambda candidate: -candidate
    salt = scramble((seed + 1) * 0x9E3779B97F4A7C15 % 2**63)
    return lambda candidate: scramble(candidate ^ salt)


def scramble(x: int) -> int:
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**63
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**63
    return x ^ x >> 31


def greedy_merge(interest: Interest, rank: Rank, runs: int = 1) -> set[Edge]:
    used: set[Edge] = set()
    for _ in range(runs):
        overlay: set[Edge] = set()
        while True:
            weights = {edge: weight for edge, weight in contributions(interest, overlay).items() if edge not in used}
            best = heaviest(weights, interest, rank)
            if best is None or weights[best] == 0:
                break
            overlay.add(best)
        used |= overlay
    return used


def ring_per_topic(interest: Interest) -> set[Edge]:
    overlay: set[Edge] = set()
    for topic in set().union(*interest):
        ring = subscribers(interest, topic)
        overlay |= {(min(u, v), max(u, v)) for u, v in zip(ring, ring[1:] + ring[:1], strict=True) if u != v}
    return overlay


def contributions(interest: Interest, overlay: set[Edge]) -> dict[Edge, int]:
    """Of every pair that is not an edge yet."""
    component = {topic: components(interest, overlay, topic) for topic in set().union(*interest)}
    return {
        (u, v): sum(component[topic][u] != component[topic][v] for topic in interest[u] & interest[v])
        for u, v in combinations(range(len(interest)), 2)
        if (u, v) not in overlay
    }


def components(interest: Interest, overlay: set[Edge], topic: int) -> dict[int, int]:
    """For each subscriber of the topic the lowest node of its component."""
    lowest = {v: v for v in subscribers(interest, topic)}
    for _ in lowest:
        for u, v in overlay:
            if u in lowest and v in lowest:
                lowest[u] = lowest[v] = min(lowest[u], lowest[v])
    return lowest


def subscribers(interest: Interest, topic: int) -> list[int]:
    return [v for v, topics in enumerate(interest) if topic in topics]


def least_raising(weights: dict[Edge, int], overlay: set[Edge]) -> dict[Edge, int]:
    """The candidates whose addition raises the overlay's maximum degree least."""
    before = max_degree(overlay)
    raises = {edge: max_degree(overlay | {edge}) - before for edge in weights}
    return {edge: weight for edge, weight in weights.items() if raises[edge] == min(raises.values())}


def max_degree(overlay: set[Edge]) -> int:
    return max(Counter(end for edge in overlay for end in edge).values(), default=0)


def heaviest(weights: dict[Edge, int], interest: Interest, rank: Rank) -> Edge | None:
    n = len(interest)
    return min(weights, key=lambda edge: (-weights[edge], rank(edge[0] * n + edge[1])), default=None)


Parts = list[list[int]]
Select = Callable[[dict[Edge, int], set[Edge]], dict[Edge, int]]


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
    inner = conquer(interest, rank, parts, least_raising)
    nodes = list(range(len(interest)))
    potential = potential_edges(bulk_nodes(interest, eta), parts)
    return inner | build_edges(interest, rank, nodes, inner, potential, least_raising)


def dcbr_m(
    interest: Interest, rank: Rank, eta: int, parts: Parts, coverage: int, select: Select = least_raising
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


_OTHER_SIZES: dict[str, dict[str, int]] = {
    "greedy-merge-cuboid": {"k": 2, "m": 3},
    "minmax-oda-matchings": {"n": 5},
    "nested-subscriptions": {"n": 12},
    "weighted-nested-subscriptions": {"n": 2},
    "case-seven": {"n": 13},
    "binary-tree-of-topics": {"h": 2},
    "set-cover-single-node": {"elements": 9, "sets": 7},
    "set-cover-duplicated": {"sets": 3},
}
_SIZES = [
    *((workload.name, {}) for workload in (*CONSTRUCTIONS, *SET_COVER_CONSTRUCTIONS[:2])),
    *_OTHER_SIZES.items(),
    ("set-cover-repeated", {"copies": 2}),
    ("set-cover-repeated", {"sets": 3, "copies": 4}),
]


def _instance(name: str, parameters: dict[str, int]) -> ob.TopicInstance:
    instance = ob.WORKLOADS[name].generate(seed=3, **parameters)
    assert isinstance(instance, ob.TopicInstance)
    return instance


CONSTRUCTED = {
    " ".join([name, *(f"{key}={value}" for key, value in parameters.items())]): _instance(name, parameters)
    for name, parameters in _SIZES
}
