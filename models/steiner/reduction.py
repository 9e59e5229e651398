"""Reductions of Steiner tree instances that keep an optimal tree, with proofs in docs/steiner.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...heuristics.graph import graph_of, root_of
from ...heuristics.heap import pop, push
from ...heuristics.steiner.spanning_trees import spanning_tree
from ...instances.contract.arrays import Flags
from ...instances.runtime.compiled import in_place_kernel, kernel
from ...instances.runtime.run import Clock
from ...instances.steiner.instance import SteinerInstance
from ..engine.proof import NO_FILE, ProofFile
from ..engine.relaxation import Units
from .changing_graph import (
    EDGES,
    FIXED,
    LOGGED,
    TERMINALS,
    TOTAL,
    Work,
    attach_all,
    contract,
    log,
    merge,
    remove,
    remove_all,
)

_FAR, _LARGEST_SUM = 2**62, 2**53
_WORTHWHILE = 0.02  # of the edges, to try again
_NEAREST = 4  # terminals near each node
_VISITED, _FEW = 200, 100  # edges looked at for a path in place of others; edges of a node that are few
_NODE = 31  # bits of a node's number
_STAR, _PAIRS = 5, 10  # the largest degree of a node that is replaced, and its pairs of neighbours


class ReducedInstance(NamedTuple):
    """A smaller instance; each of its optimal trees, with the fixed edges, expands to one of the original instance."""

    instance: SteinerInstance
    fixed: Units  # edges of the original instance that are on an optimal tree
    fixed_cost: int
    nodes: Units  # the original number of each node
    edges: Units  # the number of each edge among those of `parts`
    parts: Units  # the two edges that an edge replaces; −1 twice for an edge of the original instance

    def expand(self, original: SteinerInstance, chosen: Flags) -> npt.NDArray[np.int64]:
        """The edges of an original tree that is as cheap as the chosen edges of the reduced instance, or cheaper."""
        used = np.array(_originals(np.concatenate([self.fixed, self.edges[chosen]]), self.parts), np.int64)
        used = np.unique(used)
        graph = graph_of(original.num_nodes, original.edges[used])
        order = np.argsort(original.costs[used], kind="stable").astype(np.int32)
        # Edges may share some of those that they replace, and fixed ones may be on no optimal tree of the chosen nodes.
        return used[spanning_tree(graph, order, np.ones(original.num_nodes, np.bool_), original.terminals)[0]]


@kernel
def _originals(edges: Units, parts: Units) -> list[int]:
    """The original edges that edges replace, perhaps repeated."""
    stack, found = [int(e) for e in edges], [0 for _ in range(0)]
    while len(stack) > 0:
        e = stack.pop()
        if parts[e, 0] < 0:
            found.append(e)
        else:
            stack.append(int(parts[e, 0]))
            stack.append(int(parts[e, 1]))
    return found


class Nearby(NamedTuple):
    """The terminals nearest to each node, by distance, and a spanning tree of all terminals."""

    distance: Units  # shape (n, _NEAREST), with `_FAR` if there are no more, or none within the dearest edge's cost
    base: Units
    above: Units  # a terminal to which a path leads, itself at the top; the longest on the way bounds all segments
    length: Units


class Reduction:
    """An instance that :meth:`run` makes smaller, again and again.

    A proof receives the nodes and edges in the order of their removal; then only tests of degrees 1 and 2 and of the
    bottleneck Steiner distance are made.
    """

    def __init__(self, instance: SteinerInstance, proof: ProofFile = NO_FILE) -> None:
        self._instance, self._proof = instance, proof
        n, m = instance.num_nodes, instance.num_edges
        space = m + 3 * n + _PAIRS
        ends, terminal = np.full(2 * space, -1, np.int64), np.zeros(n, np.bool_)
        ends[: 2 * m], terminal[instance.terminals] = instance.edges.ravel(), True
        costs = np.zeros(space, np.int64)
        costs[:m] = instance.costs
        around, removed = np.full((2, 2 * space), -1, np.int64), np.zeros((space + n, 2), np.int64)
        by_node = np.full(n, -1, np.int64), np.zeros(n, np.int64), terminal, np.zeros(n, np.int64)
        numbers = np.array([m, instance.num_terminals, 0, 0, int(costs.sum())])
        parts = np.full((space, 2), -1, np.int64)
        heap = np.empty((3 + n + 2 * _NEAREST * space + _VISITED, 2), np.int64)
        self.work = Work._make([ends, costs, parts, *around, *by_node, removed, numbers, heap])
        self._tested = 0  # edges for which no path is left to look for
        attach_all(self.work, not proof.is_written)

    def run(
        self, clock: Clock | None = None, superfluous: Callable[[ReducedInstance, Clock], Flags] | None = None
    ) -> ReducedInstance:
        """Remove edges and nodes that some optimal tree does not need, contract and merge edges, until little changes.

        Tests of degrees 1 and 2, of the bottleneck Steiner distance, of links shorter than all others between two
        parts, and of degrees 3 to 5 (Duin, Volgenant 1989). Terminals that are not connected remain so. When the clock
        has passed, what is reduced till then is kept. `superfluous` goes from a reduced instance to edges that may be
        removed as well, and is asked again while it removes some part of them; it may disconnect the terminals, and is
        not in proofs. Cost O(m log n) a round, and for links the chords' paths in a spanning tree.
        """
        work, clock = self.work, clock or Clock(None)
        is_quick = superfluous is not None and self._tested == 0
        while True:
            shrinks = True
            while shrinks and not clock.passed:
                before = np.count_nonzero(work.ends >= 0)
                self._round(clock, is_quick)
                shrinks = bool(np.count_nonzero(work.ends >= 0) < (1 - _WORTHWHILE) * before)
            is_quick = False
            reduced = self.reduced()
            if superfluous is None or clock.passed or reduced.instance.num_terminals == 1:
                return reduced
            removed = superfluous(reduced, clock)
            remove_all(work, reduced.edges[removed])
            if removed.sum() <= _WORTHWHILE * len(removed):
                return self.reduced()

    def _round(self, clock: Clock, is_quick: bool) -> None:
        work, logged = self.work, int(self.work.numbers[LOGGED])
        by_degree(work, np.arange(len(work.first)))
        by_bottleneck(work, nearest_to(work))
        self._tested = by_walk(work, self._tested)
        if not self._proof.is_written and not clock.passed:
            fixed = int(work.numbers[FIXED])
            by_link(work, nearest_to(work))
            if not is_quick:
                by_star(work, nearest_to(work))
                by_path(work)
            self._tested = by_walk(work, self._tested if work.numbers[FIXED] == fixed else 0)
        elif self._proof.is_written:
            for u, v in work.log[logged : work.numbers[LOGGED]].tolist():
                self._proof.line(*(("node", u) if v < 0 else ("edge", u, v)))

    def reduced(self) -> ReducedInstance:
        """The instance as it is now."""
        work = self.work
        nodes = np.flatnonzero((work.degree > 0) | work.terminal)
        edges = np.flatnonzero(work.ends[::2] >= 0)
        ends = np.sort(np.searchsorted(nodes, work.ends.reshape(-1, 2)[edges]), axis=1)
        order = np.lexsort(ends.T[::-1])
        edges, listed = edges[order], ends[order].astype(np.int32)
        terminals = np.flatnonzero(work.terminal[nodes]).astype(np.int32)
        smaller = SteinerInstance(len(nodes), listed, work.costs[edges], terminals)
        fixed = work.fixed[: work.numbers[FIXED]].copy()
        cost = int(work.costs[fixed].sum())
        return ReducedInstance(smaller, fixed, cost, nodes, edges, work.parts)


@kernel
def by_degree(work: Work, nodes: Units) -> None:
    """Remove other nodes of degree 0 or 1, fix the only edge of a terminal, merge the edges of nodes of degree 2."""
    pending = list(nodes)
    while len(pending) > 0:
        v = pending.pop()
        degree = work.degree[v]
        if degree < 0 or degree > 2 or (work.terminal[v] and (work.numbers[TERMINALS] == 1 or degree != 1)):
            continue
        log(work, v, -1)
        if degree > 0:
            one = work.first[v] >> 1
            a = work.ends[work.first[v] ^ 1]
            pending.append(a)
            if work.terminal[v]:
                contract(work, one, v)
            else:
                end = work.after[work.first[v]]
                b = work.ends[end ^ 1] if degree == 2 else a
                remove(work, one)
                if degree == 2:
                    remove(work, end >> 1)
                    merge(work, one, end >> 1, a, b)
                    pending.append(b)
        work.degree[v] = -1


@kernel
def nearest_to(work: Work) -> Nearby:
    """The terminals nearest to each node, and a spanning tree of all, both only within the dearest edge's cost."""
    n, dearest = len(work.first), 0
    for e in range(work.numbers[EDGES]):
        if work.ends[2 * e] >= 0:
            dearest = max(dearest, work.costs[e])
    distance, base = np.full((n, _NEAREST), _FAR), np.full((n, _NEAREST), -1, np.int64)
    work.heap[0, 0] = 0
    for v in range(n):
        if work.terminal[v] and _is_nearer(distance, base, v, v, 0):
            push(work.heap, 0, v << _NODE | v)
    while work.heap[0, 0] > 0:
        length, near = pop(work.heap)
        v, t, end = near >> _NODE, near & ((1 << _NODE) - 1), -1
        for i in range(_NEAREST):
            if base[v, i] == t and distance[v, i] == length:
                end = work.first[v]
        while end >= 0:
            w, through = work.ends[end ^ 1], length + work.costs[end >> 1]
            if through < dearest and _is_nearer(distance, base, w, t, through):
                push(work.heap, through, w << _NODE | t)
            end = work.after[end]
    crossing = [(0, 0) for _ in range(0)]
    for e in range(work.numbers[EDGES]):
        u, v = work.ends[2 * e], work.ends[2 * e + 1]
        if u >= 0 and base[u, 0] >= 0 and base[v, 0] >= 0 and base[u, 0] != base[v, 0]:
            length = distance[u, 0] + work.costs[e] + distance[v, 0]
            if length < dearest:
                crossing.append((length, e))
    crossing.sort()
    above, lengths, size = np.arange(n), np.full(n, _FAR), np.ones(n, np.int64)
    for length, e in crossing:
        one, other = _top(above, base[work.ends[2 * e], 0]), _top(above, base[work.ends[2 * e + 1], 0])
        if one != other:
            if size[one] > size[other]:
                one, other = other, one
            above[one], lengths[one] = other, length
            size[other] += size[one]
    return Nearby(distance, base, above, lengths)


@in_place_kernel
def _is_nearer(distance: Units, base: Units, v: int, t: int, length: int) -> bool:
    """Whether a terminal is nearer to a node than known, and among the nearest; then the node gets it."""
    i = 0
    while i < _NEAREST - 1 and base[v, i] != t:
        i += 1
    if length >= distance[v, i]:
        return False
    while i > 0 and distance[v, i - 1] > length:
        distance[v, i], base[v, i] = distance[v, i - 1], base[v, i - 1]
        i -= 1
    distance[v, i], base[v, i] = length, t
    return True


@in_place_kernel
def _top(above: Units, t: int) -> int:
    while above[t] != t:
        t = above[t]
    return t


@in_place_kernel
def _bottleneck(nearby: Nearby, u: int, v: int) -> int:
    """A bound on the bottleneck Steiner distance, by walks over terminals nearest to both nodes. Cost O(log k)."""
    least = _FAR
    for i in range(_NEAREST):
        if nearby.distance[u, i] >= least:
            break
        for j in range(_NEAREST):
            longest = max(nearby.distance[u, i], nearby.distance[v, j])
            if longest >= least:
                break
            one, other = nearby.base[u, i], nearby.base[v, j]
            while one != other and longest < least:
                if nearby.length[one] > nearby.length[other]:
                    one, other = other, one
                longest, one = max(longest, nearby.length[one]), nearby.above[one]
            least = min(least, longest)
    return int(least)


@kernel
def by_bottleneck(work: Work, nearby: Nearby) -> None:
    """Remove the edges that cost more than a bound on the bottleneck Steiner distance of their ends.

    The dearest come first, so that the paths that replace an edge are still there when the next one is removed.
    """
    dear = [(0, 0) for _ in range(0)]
    for e in range(work.numbers[EDGES]):
        u, v = work.ends[2 * e], work.ends[2 * e + 1]
        if u >= 0 and _bottleneck(nearby, u, v) < work.costs[e]:
            dear.append((-work.costs[e], e))
    dear.sort()
    for _, e in dear:
        log(work, work.ends[2 * e], work.ends[2 * e + 1])
        remove(work, e)


@kernel
def by_walk(work: Work, first: int) -> int:
    """Remove edges, from the first to those made meanwhile, in whose place a walk has only segments as cheap.

    A walk is divided at terminals. Edges of nodes of many edges are left out. Returns the number of edges.
    """
    label, e, ends = np.full(len(work.first), _FAR), first, np.zeros(2, np.int64)
    while e < work.numbers[EDGES]:
        u, v = work.ends[2 * e], work.ends[2 * e + 1]
        if u >= 0 and min(work.degree[u], work.degree[v]) <= _FEW and _has_walk(work, e, label):
            log(work, u, v)
            remove(work, e)
            ends[0], ends[1] = u, v
            by_degree(work, ends)
        e += 1
    return int(e)


@kernel
def _has_walk(work: Work, e: int, label: Units) -> bool:
    """Whether a walk without an edge joins its ends by segments that cost no more; labels are reset."""
    u, v, most = work.ends[2 * e], work.ends[2 * e + 1], work.costs[e]
    if work.degree[u] > work.degree[v]:
        u, v = v, u
    label[u] = work.heap[0, 0] = visited = 0
    reached = [u]
    push(work.heap, 0, u)
    while work.heap[0, 0] > 0 and visited < _VISITED and label[v] == _FAR:
        length, at = pop(work.heap)
        end = work.first[at] if length == label[at] else -1
        while end >= 0:
            w, through = work.ends[end ^ 1], length + work.costs[end >> 1]
            visited += 1
            if through <= most and end >> 1 != e:
                through = 0 if work.terminal[w] else through
                if through < label[w]:
                    if label[w] == _FAR:
                        reached.append(w)
                    label[w] = through
                    push(work.heap, through, w)
            end = work.after[end]
    found = bool(label[v] < _FAR)
    for w in reached:
        label[w] = _FAR
    return found


@kernel
def _paths(work: Work, one: int, other: int, targets: Units, most: int, shunned: Flags, distance: Units) -> list[int]:
    """Set distances of targets from the nearer of two nodes, by paths without some nodes; returns the nodes reached.

    Nothing beyond `most` is reached, and few edges are looked at: the distances are upper bounds.
    """
    distance[one] = distance[other] = work.heap[0, 0] = visited = 0
    reached = [one, other]
    for v in reached:
        push(work.heap, 0, v)
    while work.heap[0, 0] > 0 and visited < _VISITED:
        length, v = pop(work.heap)
        left = 0
        for w in targets:
            left += distance[w] > length
        if left == 0:
            break
        end = work.first[v] if length == distance[v] else -1
        while end >= 0:
            w, through = work.ends[end ^ 1], length + work.costs[end >> 1]
            visited += 1
            if through < distance[w] and through <= most and not shunned[w]:
                if distance[w] == _FAR:
                    reached.append(w)
                distance[w] = through
                push(work.heap, through, w)
            end = work.after[end]
    return reached


class _Star(NamedTuple):
    """The edges at a node, their other ends and costs, and the lengths of paths between these without the node."""

    edges: Units
    ends: Units
    costs: Units
    paths: Units


@kernel
def by_star(work: Work, nearby: Nearby) -> None:
    """Replace nodes that some optimal tree has with degree 2 at most by edges between their neighbours.

    A node qualifies if, for any three or more of its neighbours, their bottleneck tree costs no more than their edges
    to the node. All pairs of neighbours get an edge, so that bottlenecks stay; at most as many as the node had may
    remain later.
    """
    star = _empty_star()
    lengths, distance, shunned = (
        np.zeros((_STAR, _STAR), np.int64),
        np.full(len(work.first), _FAR),
        np.zeros(len(work.first), np.bool_),
    )
    for v in range(len(work.first)):
        degree = work.degree[v]
        # Each node that is left may need the space of one edge more.
        if (
            work.terminal[v]
            or not 2 < degree <= _STAR
            or work.numbers[EDGES] + _PAIRS + len(work.first) > len(work.costs)
        ):
            continue
        shunned[v] = True
        total = _set_star(work, v, star, shunned, distance)
        useful = 0
        for i in range(degree):
            for j in range(i):
                lengths[i, j] = lengths[j, i] = min(star.paths[i, j], _bottleneck(nearby, star.ends[i], star.ends[j]))
                useful += lengths[i, j] >= star.costs[i] + star.costs[j]
        is_superfluous = useful <= degree and work.numbers[TOTAL] + degree * total <= _LARGEST_SUM
        for chosen in range(1 << degree):
            is_superfluous = is_superfluous and _is_connected_for_less(lengths, star.costs, degree, chosen)
        if is_superfluous:
            for i in range(degree):
                remove(work, star.edges[i])
            for i in range(degree):
                for j in range(i):
                    merge(work, star.edges[i], star.edges[j], star.ends[i], star.ends[j])
            work.degree[v] = -1
        shunned[v] = False


@kernel
def by_path(work: Work) -> None:
    """Remove an edge of a node of degree 3 if an optimal tree does not need it."""
    n = len(work.first)
    star = _empty_star()
    distance, shunned, nodes = np.full(n, _FAR), np.zeros(n, np.bool_), np.zeros(4, np.int64)
    for v in range(n):
        if work.degree[v] == 3 and not work.terminal[v]:
            shunned[v] = True
            _set_star(work, v, star, shunned, distance)
            for i in range(3):
                if _is_dispensable(work, star, i, shunned, distance):
                    remove(work, star.edges[i])
                    nodes[0], nodes[1:] = v, star.ends[:3]
                    by_degree(work, nodes)
                    break
            shunned[v] = False


@kernel
def _empty_star() -> _Star:
    zeros = np.zeros(_STAR, np.int64)
    return _Star(zeros, zeros.copy(), zeros.copy(), np.zeros((_STAR, _STAR), np.int64))


@kernel
def _set_star(work: Work, v: int, star: _Star, shunned: Flags, distance: Units) -> int:
    """Set the star of a node; returns its cost."""
    total, end, degree = 0, work.first[v], work.degree[v]
    for i in range(degree):
        star.edges[i], star.ends[i], star.costs[i] = end >> 1, work.ends[end ^ 1], work.costs[end >> 1]
        total += work.costs[end >> 1]
        end = work.after[end]
    for i in range(1, degree):
        reached = _paths(work, star.ends[i], star.ends[i], star.ends[:i], total, shunned, distance)
        for j in range(i):
            star.paths[i, j] = star.paths[j, i] = distance[star.ends[j]]
        for w in reached:
            distance[w] = _FAR
    return int(total)


@kernel
def _is_dispensable(work: Work, star: _Star, i: int, shunned: Flags, distance: Units) -> bool:
    """Whether an optimal tree need not have edge i of a node of degree 3.

    If it needs that edge, it has the other two as well, and goes on from the edge's end, unless that is a terminal,
    along another edge. Both times a path from the other two ends may take the place of the dearer edge.
    """
    j, k = (i + 1) % 3, (i + 2) % 3
    stretch, at = star.costs[i], star.ends[i]
    if star.paths[j, i] > stretch + star.costs[j] or star.paths[k, i] > stretch + star.costs[k]:
        return False
    chain, is_dispensable, following = [at], False, at
    while following >= 0 and not is_dispensable:
        at, following, candidates = following, -1, 0
        reached = _paths(work, star.ends[j], star.ends[k], np.array([at]), stretch, shunned, distance)
        is_dispensable = distance[at] <= stretch
        for w in reached:
            distance[w] = _FAR
        if is_dispensable or work.terminal[at]:
            break
        shunned[at] = True
        chain.append(at)
        beyond, dearest, end = [0 for _ in range(0)], stretch, work.first[at]
        while end >= 0:
            beyond.append(work.ends[end ^ 1])
            dearest = max(dearest, work.costs[end >> 1])
            end = work.after[end]
        reached = _paths(work, star.ends[j], star.ends[k], np.array(beyond), dearest, shunned, distance)
        end, cost = work.first[at], 0
        while end >= 0:
            w = work.ends[end ^ 1]
            if not shunned[w] and distance[w] > max(stretch, work.costs[end >> 1]):
                following, cost, candidates = w, work.costs[end >> 1], candidates + 1
            end = work.after[end]
        for w in reached:
            distance[w] = _FAR
        is_dispensable = candidates == 0
        if candidates > 1:
            break
        stretch += cost
    for w in chain:
        shunned[w] = False
    return is_dispensable


@kernel
def _is_connected_for_less(lengths: Units, costs: Units, degree: int, chosen: int) -> bool:
    """Whether a spanning tree of chosen ends of a star costs no more than the star, or they are fewer than three."""
    left, star, count, tree = chosen, 0, 0, 0
    nearest = np.full(degree, _FAR)
    for i in range(degree):
        if chosen >> i & 1:
            star, count = star + costs[i], count + 1
    if count < 3:
        return True
    while left > 0:
        near = -1
        for i in range(degree):
            if left >> i & 1 and (near < 0 or nearest[i] < nearest[near]):
                near = i
        tree += 0 if left == chosen else nearest[near]
        left ^= 1 << near
        for i in range(degree):
            nearest[i] = min(nearest[i], lengths[near, i])
        if tree > star:
            return False
    return True


@kernel
def by_link(work: Work, nearby: Nearby) -> None:
    """Contract edges of a minimum spanning tree that are on some optimal tree.

    Without such an edge uv the spanning tree has two parts. Each other edge xy between them costs at least uv, a path
    from u to x or a terminal in the part of u, and one from v to y or a terminal in its part.
    """
    order, parent, link, depth = _spanning_forest(work)
    n = len(parent)
    size, enter = np.ones(n, np.int64), np.zeros(n, np.int64)
    for v in order[::-1]:
        if parent[v] >= 0:
            size[parent[v]] += size[v]
    following, roots = np.zeros(n, np.int64), 0
    for v in order:
        if parent[v] < 0:
            enter[v], roots = roots, roots + size[v]
        else:
            enter[v] = following[parent[v]]
            following[parent[v]] += size[v]
        following[v] = enter[v] + 1
    below, beyond = np.full(n, _FAR), np.full(n, _FAR)
    for v in order:
        for i in range(_NEAREST):
            t, at = nearby.base[v, i], parent[v]
            if t >= 0 and below[v] == _FAR and enter[v] <= enter[t] < enter[v] + size[v]:
                below[v] = nearby.distance[v, i]
            t = nearby.base[at, i] if at >= 0 else -1
            if t >= 0 and beyond[v] == _FAR and not enter[v] <= enter[t] < enter[v] + size[v]:
                beyond[v] = nearby.distance[at, i]
    fixed = (below < _FAR) & (beyond < _FAR)
    for e in range(work.numbers[EDGES]):
        u, v = int(work.ends[2 * e]), int(work.ends[2 * e + 1])
        if u >= 0 and link[u] != e and link[v] != e:
            _compare(work.costs[e], u, v, parent, depth, enter, size, below, beyond, fixed)
    for v in order[::-1]:
        # An edge of the same cost may have taken its place.
        if fixed[v] and work.ends[2 * link[v]] >= 0:
            u = work.ends[2 * link[v]]
            other = work.ends[2 * link[v] + 1]
            contract(work, int(link[v]), int(u if work.degree[u] < work.degree[other] else other))


@kernel
def _spanning_forest(work: Work) -> tuple[Units, Units, Units, Units]:
    """A minimum spanning forest: its nodes from the roots on, and for each the parent, the edge there, and the depth.

    The depth is the cost of the path to the root.
    """
    n = len(work.first)
    edges = [(work.costs[e], e) for e in range(work.numbers[EDGES]) if work.ends[2 * e] >= 0]
    edges.sort()
    component, chosen = np.arange(n), np.zeros(work.numbers[EDGES], np.bool_)
    for _, e in edges:
        one, other = root_of(component, work.ends[2 * e]), root_of(component, work.ends[2 * e + 1])
        chosen[e] = one != other
        component[one] = other
    order, parent, link = np.empty(n, np.int64), np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    depth, known, last = np.zeros(n, np.int64), np.zeros(n, np.bool_), 0
    for root in range(n):
        if known[root] or work.degree[root] < 0:
            continue
        order[last], known[root], first, last = root, True, last, last + 1
        while first < last:
            v = order[first]
            first += 1
            end = work.first[v]
            while end >= 0:
                w, e = work.ends[end ^ 1], end >> 1
                if chosen[e] and not known[w]:
                    known[w], parent[w], link[w], depth[w] = True, v, e, depth[v] + work.costs[e]
                    order[last] = w
                    last += 1
                end = work.after[end]
    return order[:last], parent, link, depth


@kernel
def _compare(
    cost: int,
    u: int,
    v: int,
    parent: Units,
    depth: Units,
    enter: Units,
    size: Units,
    below: Units,
    beyond: Units,
    fixed: Flags,
) -> None:
    """Compare an edge uv with the edges of the spanning tree on the path between its ends."""
    top = u
    while not enter[top] <= enter[v] < enter[top] + size[top]:
        top = parent[top]
    for near, far in ((u, v), (v, u)):
        at = near
        while at != top:
            above = parent[at]
            if fixed[at]:
                down = min(below[at], depth[near] - depth[at])
                up = min(beyond[at], depth[far] - depth[top] + depth[above] - depth[top])
                fixed[at] = down + depth[at] - depth[above] + up <= cost
            at = above
