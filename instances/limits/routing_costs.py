"""The routing costs of overlays (P1 §9): the filtering cost and the topic diameters.

The filtering cost is for each topic the fewest relays in a tree that connects its subscribers, which is NP-hard. Each
topic is a hitting-set program: min Σ y_v such that every cut between the subscribers has a chosen relay; cuts are added
until the chosen relays connect them. A topic for which this would take too long is routed along shortest paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from math import inf

import numpy as np
import numpy.typing as npt

from ..contract.arrays import connected_components
from ..contract.overlay import Overlay
from ..topics.instance import TopicInstance

_MOST_RELAYS, _MOST_ROUNDS, _MOST_NODES = 300, 60, 2_000
_TRIMMED = 0.9  # of the edges may be left by a round of trimming that another one follows
Neighbours = dict[int, set[int]]


@dataclass(frozen=True)
class FilteringCost:
    """For each topic the non-subscribers in its tree, infinite where the overlay does not connect the topic.

    `proven` says whether no tree of any topic has fewer.
    """

    relays: tuple[float, ...]
    proven: bool

    @property
    def total(self) -> float:
        return sum(self.relays)


@lru_cache(maxsize=8)
def filtering_cost(overlay: Overlay, instance: TopicInstance) -> FilteringCost:
    """The filtering cost of an overlay.

    Exact if every topic has, after reductions, at most `_MOST_RELAYS` possible relays and its program is solved within
    the limits on rounds and search nodes; then `proven` says so. A topic of two components in G_t is always exact. Time
    O(|T|(|V| + |E|)) and the programs, exponential in the worst case but bounded by the limits.
    """
    at_u, at_v = overlay.topic_links(instance)
    roots = connected_components(instance.num_subscriptions, at_u, at_v)
    order = np.argsort(instance.node_topics, kind="stable")  # subscriptions by topic, then by node
    found = []
    for t, parts in enumerate(np.split(roots[order], instance.topic_offsets[1:-1])):
        part_of = dict(zip(instance.subscribers(t).tolist(), parts.tolist(), strict=True))
        connected = len(set(part_of.values())) == 1
        found.append((0.0, True) if connected else _fewest_relays(_trimmed(overlay, instance.subscribers(t)), part_of))
    return FilteringCost(tuple(relays for relays, _ in found), all(proven for _, proven in found))


def _trimmed(overlay: Overlay, subscribers: npt.NDArray[np.integer]) -> list[list[int]]:
    """The edges without most of those that lead to non-subscribers of degree 1. Cost O(|V| + |E|), in arrays."""
    edges, keeps = overlay.edges, np.zeros(overlay.num_nodes, np.bool_)
    keeps[subscribers] = True
    left = inf
    while len(edges) < _TRIMMED * left:
        left = len(edges)
        is_leaf = ~keeps & (np.bincount(edges.ravel(), minlength=overlay.num_nodes) == 1)
        edges = edges[~is_leaf[edges].any(axis=1)]
    listed: list[list[int]] = edges.tolist()
    return listed


def _fewest_relays(edges: list[list[int]], part_of: dict[int, int]) -> tuple[float, bool]:
    """The fewest relays that connect the parts of a topic, and whether that is proven.

    Vertices are relays, by number, and parts, by −1, −2, …
    """
    parts = {part: -1 - index for index, part in enumerate(dict.fromkeys(part_of.values()))}
    graph = _contracted(edges, {v: parts[part] for v, part in part_of.items()})
    terminals = set(parts.values())
    if len(_reached(graph, -1)) < len(graph):  # what the first part does not reach is of no use
        graph = {v: graph[v] for v in _reached(graph, -1)}
    if not terminals <= graph.keys():
        return inf, True
    _drop_leaves(graph, terminals)
    forced = _take_forced(graph, terminals)
    relays = graph.keys() - terminals
    if len(terminals) == 1:
        return float(forced), True
    if any(terminals <= graph[v] for v in relays):
        return forced + 1.0, True
    along_paths = _relays_along_paths(graph, terminals)
    if len(terminals) == 2 or along_paths == 2:
        return float(forced + along_paths), True
    if len(relays) <= _MOST_RELAYS and (fewest := _by_cuts(graph, terminals)) is not None:
        return float(forced + fewest), True
    return float(forced + along_paths), False


def _take_forced(graph: Neighbours, terminals: set[int]) -> int:
    """Contract the only neighbour of a terminal, a relay that every tree has, into it; returns how many these are.

    It joins all terminals beside it. A tree is contracted to one terminal.
    """
    count, waiting = 0, sorted(t for t in terminals if len(graph[t]) == 1)
    while waiting:
        t = waiting.pop()
        if t not in graph or len(graph[t]) != 1 or len(terminals) == 1:
            continue
        (relay,) = graph[t]
        count += 1
        joined = [w for w in graph[relay] if w in terminals]
        around = graph[relay].union(*(graph[w] for w in joined)) - {relay, *joined}
        for v in (relay, *joined):
            for w in graph.pop(v):
                if w in graph:
                    graph[w].discard(v)
        terminals.difference_update(joined)
        terminals.add(t)
        graph[t] = around
        for w in around:
            graph[w].add(t)
        _drop_leaves(graph, terminals, around)
        if len(graph[t]) == 1:
            waiting.append(t)
    return count


def _contracted(edges: list[list[int]], terminal_of: dict[int, int]) -> Neighbours:
    graph: Neighbours = {terminal: set() for terminal in terminal_of.values()}
    for u, v in edges:
        a, b = terminal_of.get(u, u), terminal_of.get(v, v)
        if a != b:
            graph.setdefault(a, set()).add(b)
            graph.setdefault(b, set()).add(a)
    return graph


def _reached(graph: Neighbours, start: int, allowed: Iterable[int] | None = None) -> set[int]:
    """What a vertex reaches, through allowed vertices only if these are given."""
    inside = graph.keys() if allowed is None else set(allowed)
    reached, waiting = {start}, [start]
    while waiting:
        for v in graph[waiting.pop()]:
            if v not in reached and v in inside:
                reached.add(v)
                waiting.append(v)
    return reached


def _drop_leaves(graph: Neighbours, terminals: set[int], among: Iterable[int] | None = None) -> None:
    """Remove relays with fewer than two neighbours, among some or all vertices, and those that become such."""
    waiting = [v for v in (graph if among is None else among) if v not in terminals and len(graph[v]) < 2]
    while waiting:
        v = waiting.pop()
        if v in graph:
            for w in graph.pop(v):
                graph[w].discard(v)
                if w not in terminals and len(graph[w]) < 2:
                    waiting.append(w)


def _relays_along_paths(graph: Neighbours, terminals: set[int]) -> int:
    """The relays of a minimum spanning tree of the shortest paths between neighbouring terminals (Mehlhorn 1988).

    A path's length is its number of relays; at most twice the fewest edges of a tree, with two terminals the fewest
    relays.
    """
    nearest, before = {t: (0, t) for t in terminals}, dict[int, int]()
    queue = [(0, t) for t in sorted(terminals)]
    while queue:
        length, v = heappop(queue)
        if length > nearest[v][0]:
            continue
        for w in sorted(graph[v]):
            if w not in terminals and length + 1 < nearest.get(w, (inf, 0))[0]:
                nearest[w], before[w] = (length + 1, nearest[v][1]), v
                heappush(queue, (length + 1, w))
    links = sorted(
        (nearest[v][0] + nearest[w][0], v, w)
        for v in graph
        for w in graph[v]
        if v < w and nearest[v][1] != nearest[w][1]
    )
    root = {t: t for t in terminals}
    chosen: set[int] = set()
    for _, v, w in links:
        a, b = (_root(root, nearest[end][1]) for end in (v, w))
        if a != b:
            root[a] = b
            chosen.update(_path(v, before, terminals), _path(w, before, terminals))
    kept = {v: graph[v] & (chosen | terminals) for v in chosen | terminals}
    _drop_leaves(kept, terminals)
    return len(kept) - len(terminals)


def _path(v: int, before: dict[int, int], terminals: set[int]) -> Iterator[int]:
    while v not in terminals:
        yield v
        v = before[v]


def _root(root: dict[int, int], v: int) -> int:
    while root[v] != v:
        root[v] = v = root[root[v]]
    return v


def _by_cuts(graph: Neighbours, terminals: set[int]) -> int | None:
    """The fewest relays by cuts between the terminals; None if a limit is reached."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    relays = sorted(graph.keys() - terminals)
    column = {v: index for index, v in enumerate(relays)}
    cuts: dict[frozenset[int], None] = {frozenset(graph[t]): None for t in sorted(terminals)}
    for _ in range(_MOST_ROUNDS):
        entries = [(row, column[v]) for row, cut in enumerate(cuts) for v in sorted(cut)]
        rows, columns = np.array(entries).T
        matrix = csr_array((np.ones(len(entries)), (rows, columns)), shape=(len(cuts), len(relays)))
        solution = milp(
            np.ones(len(relays)),
            integrality=np.ones(len(relays)),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(matrix, lb=1),
            options={"node_limit": _MOST_NODES},
        )
        if solution.status != 0:
            return None
        chosen = {v for v, value in zip(relays, solution.x, strict=True) if value > 0.5}
        violated = dict.fromkeys(_violated(graph, terminals, chosen))
        if not violated:
            return len(chosen)
        cuts |= violated
    return None


def _violated(graph: Neighbours, terminals: set[int], chosen: set[int]) -> Iterator[frozenset[int]]:
    """The relays beside each component of the terminals and the chosen relays, if there are several components."""
    allowed, left = terminals | chosen, set(terminals)
    while left:
        part = _reached(graph, min(left), allowed)
        if left == terminals and terminals <= part:
            return
        left -= part
        yield frozenset(w for v in part for w in graph[v] if w not in allowed)


_BYTES_AT_ONCE = 50_000_000


@lru_cache(maxsize=8)
def topic_diameters(overlay: Overlay, instance: TopicInstance) -> npt.NDArray[np.float64]:
    """The diameter of each topic, shape (|T|,): paths may pass through nodes that do not subscribe to it.

    The diameter of a topic with one subscriber is 0; without a path between two subscribers it is infinite.
    Breadth-first search from all nodes at once with a bit for each source: O(D·|E|·|V|/8) bytes for the largest
    diameter D, in bounded memory.
    """
    n = overlay.num_nodes
    at, beside = np.concatenate([overlay.edges, overlay.edges[:, ::-1]]).T
    order = np.argsort(at, kind="stable")
    nodes, starts = np.unique(at[order], return_index=True)
    sources_at_once = 8 * max(1, _BYTES_AT_ONCE // (len(at) + n))
    diameters = np.zeros(instance.num_topics)
    for first in range(0, n, sources_at_once):
        sources = np.arange(first, min(n, first + sources_at_once))
        np.maximum(diameters, _farthest(sources, beside[order], nodes, starts, instance), out=diameters)
    diameters.flags.writeable = False
    return diameters


def _farthest(
    sources: npt.NDArray[np.int64],
    beside: npt.NDArray[np.int32],
    nodes: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    instance: TopicInstance,
) -> npt.NDArray[np.float64]:
    """For each topic the largest distance of a subscriber from those of its subscribers that are among the sources.

    `beside` has the neighbours of `nodes`, from `starts` on.
    """
    word, bit = np.divmod(np.arange(len(sources), dtype=np.uint64), 64)
    reached = np.zeros((instance.num_nodes, int(word[-1]) + 1), np.uint64)
    reached[sources, word] = np.uint64(1) << bit
    members = [instance.subscribers(t) for t in range(instance.num_topics)]
    wanted = [np.bitwise_or.reduce(reached[each], axis=0) for each in members]
    open_topics = {t for t, mask in enumerate(wanted) if mask.any()}
    farthest, distance = np.zeros(instance.num_topics), 0
    while True:
        done = [t for t in open_topics if ((reached[members[t]] & wanted[t]) == wanted[t]).all()]
        farthest[done] = distance
        open_topics.difference_update(done)
        if not open_topics:
            return farthest
        following = reached.copy()
        if len(beside):
            following[nodes] |= np.bitwise_or.reduceat(reached[beside], starts, axis=0)
        if np.array_equal(following, reached):
            farthest[list(open_topics)] = np.inf
            return farthest
        reached, distance = following, distance + 1
