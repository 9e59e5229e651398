"""Optima by trying every overlay, written from the problems' definitions alone."""

from functools import lru_cache
from itertools import combinations

from instances import TopicInstance


@lru_cache(maxsize=4096)
def fewest(instance: TopicInstance, problem: str) -> int:
    """The optimum of a problem on at most 6 nodes."""
    n = instance.num_nodes
    topics = [set(instance.subscribers(t).tolist()) for t in range(instance.num_topics)]
    pairs = [(u, v) for u, v in combinations(range(n), 2) if any(u in t and v in t for t in topics)]
    best = None
    for size in range(len(pairs) + 1):
        for edges in combinations(pairs, size):
            value = _value(n, edges, problem)
            if (best is None or value < best) and all(_fits(topic, edges, problem) for topic in topics):
                best = value
        if best is not None and problem in ("min-tco", "2d-true", "2d-star"):
            return best
    assert best is not None
    return best


def _value(n: int, edges: tuple[tuple[int, int], ...], problem: str) -> int:
    degree = max(sum(v in edge for edge in edges) for v in range(n))
    return {"minmax-tco": degree, "low-tco": degree * len(edges)}.get(problem, len(edges))


def _fits(topic: set[int], edges: tuple[tuple[int, int], ...], problem: str) -> bool:
    near = {v: {v} | {a + b - v for a, b in edges if v in (a, b) and a + b - v in topic} for v in topic}
    if problem == "2d-star":
        return any(near[v] == topic for v in topic)
    if problem == "2d-true":
        return all(near[u] & near[v] for u, v in combinations(topic, 2))
    reached = {min(topic)}
    while grown := set().union(*(near[v] for v in reached)) - reached:
        reached |= grown
    return reached == topic
