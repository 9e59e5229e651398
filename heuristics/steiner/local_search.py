"""Local search on Steiner trees: nodes are inserted, and key paths and key vertices replaced."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from ...instances.contract.arrays import Flags, Ids, Reals
from ...instances.runtime.compiled import kernel
from ...instances.runtime.run import Clock
from ..graph import Graph, root_of
from .spanning_trees import prune, settle

_STEPS = 5_000_000  # edges looked at between two looks at the clock
_LEAST = 1e-9  # of a gain


class RootedTree(NamedTuple):
    """A tree in preorder from a terminal; its key nodes are terminals and nodes of degree 3 or more."""

    parent: Ids  # of each node: −1 at the root, −2 outside the tree
    via: Ids  # the edge to the parent
    rank: Ids  # the position of each node
    node: Ids  # at each position
    end: Ids  # of the subtree of each position, so that its nodes are those at the positions from its own to here
    first: Ids  # the key path above position q has the edges above the positions ``first[q]`` to q


class Regions(NamedTuple):
    """For each node of the graph its base: the nearest node of a tree."""

    distance: Reals
    base: Ids  # its position; −1 if there is none
    toward: Ids  # the edge on the path to it, −1 on the tree
    begin: Ids  # the nodes with the base at position q are ``member[begin[q]:begin[q + 1]]``
    member: Ids
    part: Ids  # of each position in an exchange, 0 otherwise


def improve_tree(graph: Graph, costs: Reals, kept: Flags, terminals: Ids, clock: Clock) -> Flags:
    """A local optimum of a pruned tree: no insertion of a node, and no exchange of a key path or vertex, saves cost.

    A key vertex is a node of degree 3 or more that is no terminal; key paths are those between key vertices and
    terminals. A key path, or a key vertex with its key paths, is replaced by a cheapest forest of shortest paths
    between the parts that remain. Shortest paths to the whole tree are computed once for all exchanges until one saves
    cost (Uchoa, Werneck 2012, https://doi.org/10.1145/2133803.2184448). The result costs at most as much as `kept`,
    shape (m,). When the clock has passed, it is the best tree so far. Cost O(m · depth) for each round, and O(m log n)
    for each exchange that saves cost.
    """
    n = len(graph.offsets) - 1
    best, turn, unchanged = kept.copy(), 0, 0
    tree = RootedTree(*(np.empty(n + 1, np.int32) for _ in range(6)))
    ids = [np.zeros(n + 1, np.int32) for _ in range(5)]
    regions = Regions(np.empty(n), *ids)
    while unchanged < 2 * n and not clock.passed:
        turn, unchanged = _improve(graph, costs, best, terminals, tree, regions, turn, unchanged, _STEPS)
    return best


@kernel
def _improve(
    graph: Graph,
    costs: Reals,
    kept: Flags,
    terminals: Ids,
    tree: RootedTree,
    regions: Regions,
    start: int,
    since: int,
    steps: int,
) -> tuple[int, int]:
    """Improve a tree in place, from a turn on, for some steps; the next turn, and how many in a row changed nothing.

    The turns 0 to n − 1 insert nodes, the turns n to 2n − 1 exchange key vertices and the key paths above nodes.
    """
    n = len(graph.offsets) - 1
    is_terminal = np.zeros(n, np.bool_)
    is_terminal[terminals] = True
    done, unchanged, turn, is_current = 0, since, start, False
    size = _root_tree(graph, kept, is_terminal, int(terminals[0]), tree)
    while unchanged < 2 * n and done <= steps:
        unchanged += 1
        v, improved = turn % n, False
        if turn < n:
            if tree.parent[v] == -2:
                done += graph.offsets[v + 1] - graph.offsets[v]
                improved = _insert(graph, costs, kept, is_terminal, tree.parent, tree.via, v)
        elif tree.parent[v] >= 0 and tree.first[tree.rank[v] + 1] > tree.rank[v]:
            if not is_current:
                done += 4 * len(graph.edge)
                _find_regions(graph, costs, tree, size, regions)
                is_current = True
            q = tree.rank[v]
            within = regions.begin[tree.end[q]] - regions.begin[tree.first[q]]
            done += 4 * min(within, n - within)
            if not is_terminal[v]:
                improved = _reconnect(graph, costs, kept, tree, size, regions, q, True)
            if not improved:
                improved = _reconnect(graph, costs, kept, tree, size, regions, q, False)
        if improved:
            unchanged, is_current = 0, False
            size = _root_tree(graph, kept, is_terminal, int(terminals[0]), tree)
        turn = (turn + 1) % (2 * n)
    return turn, unchanged


@kernel
def _root_tree(graph: Graph, kept: Flags, is_terminal: Flags, root: int, tree: RootedTree) -> int:
    """Bring the kept edges of the tree with a root terminal into preorder; returns the number of its nodes."""
    tree.parent[:] = -2
    tree.parent[root] = tree.via[root] = -1
    stack, size = [np.int32(root)], 0
    while len(stack) > 0:
        v = stack.pop()
        tree.rank[v], tree.node[size] = size, v
        size += 1
        tree.end[size - 1] = size
        for k in range(graph.offsets[v], graph.offsets[v + 1]):
            w = graph.neighbour[k]
            if kept[graph.edge[k]] and tree.parent[w] == -2:
                tree.parent[w], tree.via[w] = v, graph.edge[k]
                stack.append(w)
    for q in range(size - 1, 0, -1):
        above = tree.rank[tree.parent[tree.node[q]]]
        tree.end[above] = max(tree.end[above], tree.end[q])
    tree.first[0] = 0
    for q in range(size):
        is_inner = not is_terminal[tree.node[q]] and q + 1 < size and tree.end[q + 1] == tree.end[q]
        tree.first[q + 1] = tree.first[q] if is_inner else q + 1
    return size


@kernel
def _insert(graph: Graph, costs: Reals, kept: Flags, is_terminal: Flags, parent: Ids, via: Ids, node: int) -> bool:
    """Insert a node where its edges to the tree replace dearer ones; whether that saved cost."""
    count, first = 0, np.int32(-1)
    for k in range(graph.offsets[node], graph.offsets[node + 1]):
        if parent[graph.neighbour[k]] != -2:
            count += 1
            if first < 0 or costs[graph.edge[k]] < costs[first]:
                first = graph.edge[k]
    if count < 2:
        return False
    added, dropped = [first], [first for _ in range(0)]
    changed = [(np.int32(node), np.int32(-2), np.int32(-1))]  # nodes with the parents and edges that they had
    # The node becomes the root, so that the path from any other node to it follows the parents.
    gain, below, edge = -costs[first], np.int32(node), first
    parent[node], via[node] = -1, -1
    v = graph.u[first] if graph.v[first] == node else graph.v[first]
    while v >= 0:
        changed.append((v, parent[v], via[v]))
        upper, edge_up = parent[v], via[v]
        parent[v], via[v] = below, edge
        below, edge, v = v, edge_up, upper
    for k in range(graph.offsets[node], graph.offsets[node + 1]):
        w, link = graph.neighbour[k], graph.edge[k]
        if parent[w] == -2 or link == first:
            continue
        highest, v = w, w
        while v != node:
            if costs[via[v]] > costs[via[highest]]:
                highest = v
            v = parent[v]
        if costs[via[highest]] <= costs[link]:
            continue
        gain += costs[via[highest]] - costs[link]
        added.append(link)
        dropped.append(via[highest])
        below, edge, v = np.int32(node), link, w
        while True:
            changed.append((v, parent[v], via[v]))
            upper, edge_up = parent[v], via[v]
            parent[v], via[v] = below, edge
            if v == highest:
                break
            below, edge, v = v, edge_up, upper
    # Leaves that are no terminals save more.
    leaves = False
    for e in dropped:
        for end in (graph.u[e], graph.v[e]):
            count = 0
            for k in range(graph.offsets[end], graph.offsets[end + 1]):
                count += kept[graph.edge[k]]
            for link in added:
                count += graph.u[link] == end or graph.v[link] == end
            for link in dropped:
                count -= graph.u[link] == end or graph.v[link] == end
            leaves |= count <= 1 and not is_terminal[end]
    if gain > _LEAST or leaves:
        trial = kept.copy()
        for e in added:
            trial[e] = True
        for e in dropped:
            trial[e] = False
        prune(graph, trial, is_terminal)
        if gain > _LEAST or costs[trial].sum() < costs[kept].sum() - _LEAST:
            kept[:] = trial
            return True
    for i in range(len(changed) - 1, -1, -1):
        v, upper, edge_up = changed[i]
        parent[v], via[v] = upper, edge_up
    return False


@kernel
def _find_regions(graph: Graph, costs: Reals, tree: RootedTree, size: int, regions: Regions) -> None:
    """Find the base of each node, and list the nodes by their bases."""
    distance, base, toward, begin = regions.distance, regions.base, regions.toward, regions.begin
    distance[:] = np.inf
    base[:] = toward[:] = -1
    for q in range(size):
        distance[tree.node[q]], base[tree.node[q]] = 0.0, q
    heap = [(0.0, np.int32(0)) for _ in range(0)]
    for q in range(size):
        v = tree.node[q]
        for k in range(graph.offsets[v], graph.offsets[v + 1]):
            w, through = graph.neighbour[k], costs[graph.edge[k]]
            if through < distance[w]:
                distance[w], base[w], toward[w] = through, q, graph.edge[k]
                heapq.heappush(heap, (through, w))
    settle(graph, costs, distance, base, toward, heap, np.inf)
    begin[:] = 0
    for v in range(len(distance)):
        if base[v] >= 0:
            begin[base[v]] += 1
    for q in range(1, len(begin)):
        begin[q] += begin[q - 1]
    for v in range(len(distance)):
        if base[v] >= 0:
            begin[base[v]] -= 1
            regions.member[begin[base[v]]] = v


@kernel
def _reconnect(
    graph: Graph, costs: Reals, kept: Flags, tree: RootedTree, size: int, regions: Regions, q: int, whole: bool
) -> bool:
    """Replace the key path above a position, or the `whole` key vertex there; whether that saves cost.

    The parts of the tree that remain get numbers from 1 on, but the largest one 0: its nodes are not looked at.
    """
    distance, base, toward, begin, part = regions.distance, regions.base, regions.toward, regions.begin, regions.part
    top, end = int(tree.first[q]), int(tree.end[q])
    paths, spans = [(top, q)], [(0, top, 1), (end, size, 1)]
    largest, most, count = 1, begin[top] + begin[size] - begin[end], 1
    below = q + 1 if whole else q
    while below < end:
        start = below
        while tree.first[below + 1] <= below:
            below += 1
        if whole:
            paths.append((start, below))
        count += 1
        spans.append((below, int(tree.end[below]), count))
        if begin[tree.end[below]] - begin[below] > most:
            largest, most = count, begin[tree.end[below]] - begin[below]
        below = int(tree.end[below])
    limit = 0.0
    for start, last in paths:
        for p in range(start, last + 1):
            limit += costs[tree.via[tree.node[p]]]
        spans.append((start, last + (whole and last == q), -1))
    looked = [np.int32(0) for _ in range(0)]
    for start, last, number in spans:
        if number != largest:
            part[start:last] = number
            if number > 0:
                for i in range(begin[start], begin[last]):
                    looked.append(regions.member[i])
    moved = _move_bases(graph, costs, regions, spans, limit)
    for v, _, _, _ in moved:
        looked.append(v)
    joins, bound = [(0.0, np.int32(0)) for _ in range(0)], limit - _LEAST
    for v in looked:
        for k in range(graph.offsets[v], graph.offsets[v + 1]):
            w, e = graph.neighbour[k], graph.edge[k]
            length = distance[v] + costs[e] + distance[w]
            if length < bound and part[base[v]] != part[base[w]]:
                joins.append((length, e))
                if count == 2:
                    bound = length
    joins.sort()
    parent, paid, missing = np.arange(count + 1, dtype=np.int32), 0.0, count - 1
    chosen = [np.int32(0) for _ in range(0)]
    for length, e in joins:
        if missing == 0 or paid + length >= limit - _LEAST:
            break
        one, other = root_of(parent, part[base[graph.u[e]]]), root_of(parent, part[base[graph.v[e]]])
        if one != other:
            parent[one] = other
            paid += length
            missing -= 1
            chosen.append(e)
    for start, last, number in spans:
        if number != largest:
            part[start:last] = 0
    if missing > 0:
        for v, length, q_before, e in moved:
            distance[v], base[v], toward[v] = length, q_before, e
        return False
    for start, last in paths:
        for p in range(start, last + 1):
            kept[tree.via[tree.node[p]]] = False
    for e in chosen:
        kept[e] = True
        for v in (graph.u[e], graph.v[e]):
            while toward[v] >= 0 and not kept[toward[v]]:
                kept[toward[v]] = True
                v = graph.u[toward[v]] if graph.v[toward[v]] == v else graph.v[toward[v]]
    return True


@kernel
def _move_bases(
    graph: Graph, costs: Reals, regions: Regions, spans: list[tuple[int, int, int]], limit: float
) -> list[tuple[np.int32, float, np.int32, np.int32]]:
    """Find bases for the nodes whose own are in spans of number −1, within a limit; each with what it had before."""
    distance, base, toward = regions.distance, regions.base, regions.toward
    moved = [(np.int32(0), 0.0, np.int32(0), np.int32(0)) for _ in range(0)]
    for start, last, number in spans:
        if number < 0:
            for i in range(regions.begin[start], regions.begin[last]):
                v = regions.member[i]
                moved.append((v, distance[v], base[v], toward[v]))
                distance[v], base[v] = np.inf, -1
    heap = [(0.0, np.int32(0)) for _ in range(0)]
    for v, _, _, _ in moved:
        for k in range(graph.offsets[v], graph.offsets[v + 1]):
            w, through = graph.neighbour[k], distance[graph.neighbour[k]] + costs[graph.edge[k]]
            if through < distance[v] and through < limit:
                distance[v], base[v], toward[v] = through, base[w], graph.edge[k]
        if base[v] >= 0:
            heapq.heappush(heap, (distance[v], v))
    settle(graph, costs, distance, base, toward, heap, limit)
    return moved
