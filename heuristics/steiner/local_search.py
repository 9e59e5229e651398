"""Local search on Steiner trees: nodes are inserted, and key paths and key vertices replaced."""

from __future__ import annotations

import heapq

import numpy as np

from ...instances.contract.arrays import Ids
from ...instances.contract.compiled import kernel
from ...instances.contract.run import Clock
from ..graph import Graph, root_of
from .spanning_trees import Flags, Reals, prune

_STEPS = 5_000_000  # edges looked at between two looks at the clock
_LEAST = 1e-9  # of a gain


def improve_tree(graph: Graph, costs: Reals, kept: Flags, terminals: Ids, clock: Clock) -> Flags:
    """A local optimum of a pruned tree: no insertion of a node, and no exchange of a key path or vertex, saves cost.

    A key vertex is a node of degree 3 or more that is no terminal; key paths are those between key vertices and
    terminals. A key path, or a key vertex with its key paths, is replaced by a cheapest forest of shortest paths
    between the parts that remain (Uchoa, Werneck 2012, https://doi.org/10.1145/2133803.2184448). The result costs at
    most as much as `kept`, shape (m,). When the clock has passed, it is the best tree so far. Cost O(n · depth + k m
    log n) for each round.
    """
    best, node, unchanged = kept.copy(), 0, 0
    while unchanged < len(graph.offsets) - 1 and not clock.passed:
        node, unchanged = _improve(graph, costs, best, terminals, node, unchanged, _STEPS)
    return best


@kernel
def _improve(
    graph: Graph, costs: Reals, kept: Flags, terminals: Ids, start: int, since: int, steps: int
) -> tuple[int, int]:
    """Improve a tree in place, from a node on, for some steps; the next node, and how many in a row changed nothing."""
    n = len(graph.offsets) - 1
    is_terminal = np.zeros(n, np.bool_)
    is_terminal[terminals] = True
    parent, via = np.empty(n, np.int32), np.empty(n, np.int32)
    done, unchanged, v = 0, since, start
    size = _root_tree(graph, kept, int(terminals[0]), parent, via)
    while unchanged < n and done <= steps:
        unchanged += 1
        if parent[v] == -2:
            done += graph.offsets[v + 1] - graph.offsets[v]
            improved = _insert(graph, costs, kept, is_terminal, parent, via, v)
        else:
            done += 4 * size
            improved = _exchange(graph, costs, kept, is_terminal, v)
        if improved:
            unchanged = 0
            size = _root_tree(graph, kept, int(terminals[0]), parent, via)
        v = (v + 1) % n
    return v, unchanged


@kernel
def _root_tree(graph: Graph, kept: Flags, root: int, parent: Ids, via: Ids) -> int:
    """Set the parent of each node of a tree and the edge to it, −1 at the root, −2 outside; returns its size."""
    parent[:] = -2
    parent[root] = via[root] = -1
    stack, size = [np.int32(root)], 0
    while len(stack) > 0:
        v = stack.pop()
        size += 1
        for k in range(graph.offsets[v], graph.offsets[v + 1]):
            w = graph.neighbour[k]
            if kept[graph.edge[k]] and parent[w] == -2:
                parent[w], via[w] = v, graph.edge[k]
                stack.append(w)
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
    added, dropped = [first], [first]
    dropped.pop()
    changed, old_parent, old_via = [np.int32(node)], [np.int32(-2)], [np.int32(-1)]
    # The node becomes the root, so that the path from any other node to it follows the parents.
    gain, below, edge = -costs[first], np.int32(node), first
    parent[node], via[node] = -1, -1
    v = graph.u[first] if graph.v[first] == node else graph.v[first]
    while v >= 0:
        changed.append(v)
        old_parent.append(parent[v])
        old_via.append(via[v])
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
            changed.append(v)
            old_parent.append(parent[v])
            old_via.append(via[v])
            upper, edge_up = parent[v], via[v]
            parent[v], via[v] = below, edge
            if v == highest:
                break
            below, edge, v = v, edge_up, upper
    # Leaves that are no terminals, as the edge dropped was one of at most two at its end, save more.
    leaves = False
    for e in dropped:
        for end in (graph.u[e], graph.v[e]):
            count = 0
            for k in range(graph.offsets[end], graph.offsets[end + 1]):
                count += kept[graph.edge[k]]
            leaves |= count <= 2 and not is_terminal[end]
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
        parent[changed[i]], via[changed[i]] = old_parent[i], old_via[i]
    return False


@kernel
def _exchange(graph: Graph, costs: Reals, kept: Flags, is_terminal: Flags, node: int) -> bool:
    """Replace a key vertex with its key paths, or a key path from a node; whether that saved cost."""
    links = [np.int32(0)]
    links.pop()
    for k in range(graph.offsets[node], graph.offsets[node + 1]):
        if kept[graph.edge[k]]:
            links.append(graph.edge[k])
    is_key = not is_terminal[node] and len(links) > 2
    if not is_key and not is_terminal[node]:
        return False
    removed, ends, firsts = [np.int32(0)], [0], [0]
    removed.pop()
    ends.pop()
    for link in links:
        removed.append(link)
        v = graph.u[link] if graph.v[link] == node else graph.v[link]
        last = link
        while not is_terminal[v]:
            count, onward = 0, last
            for k in range(graph.offsets[v], graph.offsets[v + 1]):
                if kept[graph.edge[k]]:
                    count += 1
                    if graph.edge[k] != last:
                        onward = graph.edge[k]
            if count > 2:
                break
            removed.append(onward)
            v = graph.u[onward] if graph.v[onward] == v else graph.v[onward]
            last = onward
        ends.append(int(v))
        firsts.append(len(removed))
    if is_key and _reconnect(graph, costs, kept, removed, ends):
        return True
    for i in range(len(ends)):
        if ends[i] > node and _reconnect(graph, costs, kept, removed[firsts[i] : firsts[i + 1]], [node, ends[i]]):
            return True
    return False


@kernel
def _reconnect(graph: Graph, costs: Reals, kept: Flags, removed: list[np.int32], ends: list[int]) -> bool:
    """Replace edges of a tree by cheapest paths between the parts that have the `ends`; whether that saves cost."""
    n, limit = len(graph.offsets) - 1, 0.0
    for e in removed:
        kept[e] = False
        limit += costs[e]
    part, distance, via = np.full(n, -1, np.int32), np.full(n, np.inf), np.full(n, -1, np.int32)
    tree = [np.int32(0)]
    tree.pop()
    for i in range(len(ends)):
        part[ends[i]] = i
        tree.append(np.int32(ends[i]))
    done = 0
    while done < len(tree):
        v = tree[done]
        distance[v] = 0.0
        done += 1
        for k in range(graph.offsets[v], graph.offsets[v + 1]):
            w = graph.neighbour[k]
            if kept[graph.edge[k]] and part[w] < 0:
                part[w] = part[v]
                tree.append(w)
    heap, joins = [(0.0, np.int32(0))], [(0.0, np.int32(0))]
    heap.pop()
    joins.pop()
    # A path shorter than the limit between two parts is within half the limit of one of them everywhere.
    done = 0
    while done < len(tree) or len(heap) > 0:
        if done < len(tree):
            v = tree[done]
            done += 1
        else:
            length, v = heapq.heappop(heap)
            if length > distance[v]:
                continue
            tree.append(v)
            done += 1
        for k in range(graph.offsets[v], graph.offsets[v + 1]):
            w, through = graph.neighbour[k], distance[v] + costs[graph.edge[k]]
            if through < distance[w] and through <= limit / 2:
                distance[w], part[w], via[w] = through, part[v], graph.edge[k]
                heapq.heappush(heap, (through, w))
    for v in tree:
        for k in range(graph.offsets[v], graph.offsets[v + 1]):
            w = graph.neighbour[k]
            if part[w] > part[v]:
                joins.append((distance[v] + costs[graph.edge[k]] + distance[w], graph.edge[k]))
    joins.sort()
    parent, paid, missing = np.arange(len(ends), dtype=np.int32), 0.0, len(ends) - 1
    chosen = [np.int32(0)]
    chosen.pop()
    for length, e in joins:
        if missing == 0 or paid + length >= limit - _LEAST:
            break
        one, other = root_of(parent, part[graph.u[e]]), root_of(parent, part[graph.v[e]])
        if one != other:
            parent[one] = other
            paid += length
            missing -= 1
            chosen.append(e)
    if missing > 0:
        for e in removed:
            kept[e] = True
        return False
    for e in chosen:
        kept[e] = True
        for end in (graph.u[e], graph.v[e]):
            v = end
            while via[v] >= 0 and not kept[via[v]]:
                kept[via[v]] = True
                v = graph.u[via[v]] if graph.v[via[v]] == v else graph.v[via[v]]
    return True
