"""Cheapest Steiner trees of few terminals: dynamic programming over pairs of a node and a set of terminals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...heuristics.graph import Graph, graph_of
from ...heuristics.heap import pop, push
from ...heuristics.steiner.spanning_trees import spanning_tree
from ...instances.contract.arrays import Flags, Ids, Offsets
from ...instances.runtime.compiled import in_place_kernel, kernel, wrapping_kernel
from ...instances.runtime.run import Clock
from ...instances.steiner.instance import SteinerInstance
from ..engine.relaxation import Units
from .directed_cuts import Ascent

_FAR = 2**62
_WORD = 62  # bits of a set in each integer
_SIGNATURE = 8  # integers that say near which nodes a set has pairs
_GROUP, _LEVELS = 4, 4  # bits of a position in a level of the index of sets, and its levels
_SLICE = 4_000_000  # steps between two looks at the clock
_UNSURE = 1.5  # the power of half the steps allowed over those spent, by which an estimate may be too high
_DECAY = 0.5**0.25  # of the growth of sets by size
_MOST_BYTES = 2**30
_SPACE = 1024  # rows of the first tables
_PAIRS, _SETS, _UNIONS, _INDEXED, _STEPS, _UPPER, _BEST, _PARTS = range(8)  # of `numbers`; three pairs at the end
_NODE, _COST, _FIRST, _SECOND = range(4)
_SIZE, _BEGIN, _END, _UNION = range(4)


class Search(NamedTuple):
    """The result of a search."""

    is_complete: bool
    pairs: int
    chosen: Flags | None = None  # the edges of a cheapest tree, shape (m,), if it costs less than the bound given


class SetSearch(NamedTuple):
    """An instance, and the cuts of a dual ascent with their terminals and nodes."""

    graph: Graph
    near: Units  # the graph's neighbours
    costs: Units  # scaled by 2^shift, with noise below that, so that trees differ
    shift: int
    terminal: Ids  # the number of each node as a terminal, −1 if it is none
    terminals: Units
    everything: Units  # all terminals as a set
    duals: Units
    sides: Units  # the terminals of each cut as a set, shape (cuts, words)
    offsets: Offsets  # the nodes of cut i are ``nodes[offsets[i]:offsets[i + 1]]``
    nodes: Ids
    entered: Units  # of each node the sum of the duals of its cuts


class Tables(NamedTuple):
    """Pairs of a node and a set of terminals that a tree connects, and these sets.

    A row of `pairs` has the node, the cost and two numbers of how the tree ends at the node: the pair of the tree
    without the edge there and −1 − the edge, or the pairs of two parts, or −1 twice for a terminal alone. A row of
    `sets` has the size, where its pairs begin and end, ordered by node, and the last union that gives the set. A row of
    `unions` has the two sets and the union before it that gives the same set.
    """

    pairs: Units
    sets: Units
    members: Units
    unions: Units
    groups: Units  # of each group in the index what all its sets have in common, and near which nodes one has pairs
    indexed: Units  # the sets that others are joined with
    slots: Units  # where a set is found by its members
    numbers: Units


class Scratch(NamedTuple):
    """Of each node, for the set at hand."""

    distance: Units
    width: Units
    limit: Units  # a pair that costs this much is on no tree cheaper than the best one
    blocked: Units  # the rest of an optimal tree stays at least this far away
    first: Units
    second: Units
    pair: Units
    trees: Units
    tree: Units
    valid: Flags
    touched: Units
    stack: Units
    heap: Units  # enough for each node once and, as Dijkstra's algorithm takes each node once, for each arc


def cheaper_tree(
    instance: SteinerInstance, root: int, ascent: Ascent, upper: int, clock: Clock, most_steps: int
) -> Search:
    """Find a cheapest tree of three terminals or more that costs less than `upper`.

    A pair of a node and a set of terminals has the cost of a cheapest tree that connects them. Sets of at most half of
    the terminals are extended along edges by size, and joined with disjoint ones at common nodes (Erickson, Monma,
    Veinott 1987). Dropped are pairs that no cheapest tree has, as the rest of the tree would come nearer to the set
    (Iwata, Shigemura 2019, https://doi.org/10.1609/aaai.v33i01.33011520), and those that cost `upper` or more with the
    duals of the ascent's cuts that the rest must cross. Proofs are in docs/steiner.md.

    The time limit, 1 GiB, or too many steps (about the edges looked at; those of larger sizes are estimated) end the
    search. Exponential in the number of terminals; cost of a set O(m log n), and of the sets that it is joined with.
    """
    task = _task(instance, root, ascent, upper)
    if task is None:
        return Search(False, 0)
    n, k, words = instance.num_nodes, instance.num_terminals, len(task.everything)
    of_nodes = [np.full(n, value) for value in (_FAR, _FAR, 0, 0, 0, 0, -1, 0, 0)]
    lists = np.zeros(n, np.int64), np.zeros((n, 3), np.int64), np.zeros((1 + n + len(task.near), 2), np.int64)
    scratch = Scratch._make([*of_nodes, np.zeros(n, np.bool_), *lists])
    numbers = np.array([0, 0, 0, 0, 0, upper, upper << task.shift, -1, -1, -1])
    widths = (4,), (4,), (words,), (3,), (words + min(_SIGNATURE, -(-n // _WORD)),), ()
    empty = Tables._make([*(np.empty((k, *width), np.int64) for width in widths), np.empty(0, np.int64), numbers])
    tables = _grown(empty, n)
    for t in range(k):
        _set_of(tables, np.where(np.arange(words) == t // _WORD, 1 << t % _WORD, 0), 1)
    before = dearest = most = 0
    for size in range(1, k // 2 + 1):
        sets = np.flatnonzero(tables.sets[: numbers[_SETS], _SIZE] == size)
        sets, done = sets[np.lexsort(tables.members[sets].T)], 0
        while done < len(sets):
            steps = int(numbers[_STEPS]) + _SLICE
            done = _solve_sets(task, tables, scratch, sets, done, steps)
            is_short = done < len(sets) and numbers[_STEPS] <= steps
            if (
                (is_short and 2 * sum(table.nbytes for table in tables) > _MOST_BYTES)
                or clock.passed
                or numbers[_STEPS] > most_steps
            ):
                return Search(False, int(numbers[_PAIRS]))
            tables = _grown(tables, n) if is_short else tables
        spent = int(numbers[_STEPS]) - before
        following = np.count_nonzero(tables.sets[: numbers[_SETS], _SIZE] == size + 1)
        # Against the largest sizes before, as the ratios of small numbers vary.
        most = max(most, len(sets))
        growth = max(spent / (dearest or spent or 1), following / max(1, most))
        expected = _expected(before + spent, spent, growth, k // 2 - size)
        if expected > most_steps * max(1.0, most_steps / (2 * numbers[_STEPS])) ** _UNSURE:
            return Search(False, int(numbers[_PAIRS]))
        before, dearest = before + spent, max(dearest, spent)
    return Search(True, int(numbers[_PAIRS]), _edges(task, tables) if numbers[_PARTS] >= 0 else None)


def _expected(steps: float, spent: float, growth: float, sizes: int) -> float:
    """About the steps for all sizes, if what growth from one to the next exceeds 1 by halves every four sizes."""
    for _ in range(sizes):
        spent *= growth
        steps += spent
        growth = 1 + (growth - 1) * _DECAY if growth > 1 else growth
    return steps


def _task(instance: SteinerInstance, root: int, ascent: Ascent, upper: int) -> SetSearch | None:
    """The instance with nodes in breadth-first order from the root; None if its costs leave no bits for noise."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    n, k, graph = instance.num_nodes, instance.num_terminals, graph_of(instance.num_nodes, instance.edges)
    shift = max(0, min(32, 60 - int(upper + 1).bit_length()))
    most = (1 << shift) // n
    if most == 0 and not instance.costs.all():
        return None
    noise = np.random.default_rng(0).integers(min(1, most), most, size=instance.num_edges, endpoint=True)
    adjacency = csr_array((np.ones(len(graph.neighbour)), graph.neighbour, graph.offsets), shape=(n, n))
    order = breadth_first_order(adjacency, root, return_predecessors=False)
    place = np.full(n, -1, np.int32)
    place[order] = np.arange(len(order))
    place[place < 0] = np.arange(len(order), n)
    terminal, terminals = np.full(n, -1, np.int32), np.sort(place[instance.terminals]).astype(np.int64)
    terminal[terminals] = np.arange(k)
    nodes, cut = place[ascent.nodes], np.repeat(np.arange(len(ascent.duals)), np.diff(ascent.node_offsets))
    at = terminal[nodes].astype(np.int64)
    everything, sides = np.zeros(-(-k // _WORD), np.int64), np.zeros((len(ascent.duals), -(-k // _WORD)), np.int64)
    np.bitwise_or.at(everything, np.arange(k) // _WORD, 1 << np.arange(k) % _WORD)
    np.bitwise_or.at(sides, (cut[at >= 0], at[at >= 0] // _WORD), 1 << at[at >= 0] % _WORD)
    entered = np.bincount(nodes, ascent.duals[cut], n).astype(np.int64)
    graph, costs = graph_of(n, place[instance.edges]), (instance.costs << shift) + noise
    cuts = ascent.duals, sides, ascent.node_offsets, nodes, entered
    return SetSearch(graph, graph.neighbour.astype(np.int64), costs, shift, terminal, terminals, everything, *cuts)


def _grown(tables: Tables, n: int) -> Tables:
    """Tables with the same contents and twice the space of what is short of it: `n` pairs, and a set's unions."""
    numbers = tables.numbers
    more = int(numbers[_INDEXED]) + 1
    needs = {"pairs": numbers[_PAIRS] + n, "unions": numbers[_UNIONS] + more}
    needs |= dict.fromkeys(("sets", "members"), numbers[_SETS] + more)
    needs |= {"indexed": more, "groups": _row(more, _LEVELS - 1) + 1}
    longer = {}
    for name, least in needs.items():
        old: Units = getattr(tables, name)
        if len(old) < least:
            longer[name] = np.empty((2 * int(least) + _SPACE, *old.shape[1:]), np.int64)
            longer[name][: len(old)] = old
    tables = tables._replace(**longer)
    if len(tables.slots) < 2 * len(tables.sets):
        tables = tables._replace(slots=np.full(1 << (2 * len(tables.sets)).bit_length(), -1))
        _fill_slots(tables)
    return tables


@kernel
def _fill_slots(tables: Tables) -> None:
    for number in range(tables.numbers[_SETS]):
        tables.slots[_slot(tables, tables.members[number])] = number


def _edges(task: SetSearch, tables: Tables) -> Flags:
    """The edges of the best tree."""
    inside = task.terminal >= 0
    stack = tables.numbers[_PARTS:].tolist()
    while stack:
        node, _, first, second = tables.pairs[stack.pop()].tolist()
        inside[node] = True
        stack += [part for part in (first, second) if part >= 0]
    order = np.argsort(task.costs, kind="stable").astype(np.int32)
    return spanning_tree(task.graph, order, inside, task.terminals.astype(np.int32))[0]


@kernel
def _solve_sets(task: SetSearch, tables: Tables, scratch: Scratch, sets: Units, start: int, steps: int) -> int:
    """Find the pairs of sets of the same size; how many are done when `steps` or the tables are used up."""
    numbers, n = tables.numbers, len(scratch.pair)
    for done in range(start, len(sets)):
        more, number = numbers[_INDEXED] + 1, sets[done]
        if (
            numbers[_STEPS] > steps
            or numbers[_PAIRS] + n > len(tables.pairs)
            or numbers[_SETS] + more > len(tables.sets)
            or numbers[_UNIONS] + more > len(tables.unions)
            or more > len(tables.indexed)
            or _row(more, _LEVELS - 1) >= len(tables.groups)
        ):
            return done
        numbers[_STEPS] += n + len(task.duals)
        tables.sets[number, _BEGIN] = tables.sets[number, _END] = 0
        largest = _set_limits(task, tables, tables.members[number], scratch.limit)
        if largest > 0:
            count = _trace(task, tables, scratch, number)
            reached, most, count = _extend(task, tables, scratch, number, count, largest)
            touched = scratch.touched[:count]
            if count > 0:
                _block(task, scratch, touched)
                most = min(most, _separate(task, tables, scratch, number, reached))
                _keep(task, tables, scratch, number, np.sort(touched), most)
            for v in touched:
                scratch.distance[v], scratch.valid[v] = _FAR, False
    return len(sets)


@kernel
def _set_limits(task: SetSearch, tables: Tables, members: Units, limit: Units) -> int:
    """Set the limits of a set's pairs from the cuts that the rest of a tree must cross; returns the largest."""
    upper = tables.numbers[_UPPER]
    # Arcs of the rest lead away from the cuts' root or, if the set has the root, from the node, so that each cut that
    # must be crossed is entered: those with a terminal of the rest, in the second case without the node.
    limit[:] = 0
    if members[0] & 1:
        limit[:] = task.entered
    for c in range(len(task.duals)):
        within = True
        for w in range(len(members)):
            within &= task.sides[c, w] & ~members[w] == 0
        if within:
            for k in range(task.offsets[c], task.offsets[c + 1]):
                limit[task.nodes[k]] -= task.duals[c]
        else:
            upper -= task.duals[c]
    limit += upper
    limit <<= task.shift
    return int(limit.max())


@kernel
def _unite(tables: Tables, scratch: Scratch, number: int) -> None:
    """Make a heap of the nodes of the unions that give a set by cost: the cheapest one a node, below its limit."""
    pairs, sets, union = tables.pairs, tables.sets, tables.sets[number, _UNION]
    count, scratch.heap[0, 0] = 0, 0
    while union >= 0:
        one, other = tables.unions[union, 0], tables.unions[union, 1]
        p, q = sets[one, _BEGIN], sets[other, _BEGIN]
        tables.numbers[_STEPS] += sets[one, _END] - p + sets[other, _END] - q
        while p < sets[one, _END] and q < sets[other, _END]:
            v, ahead = pairs[p, _NODE], pairs[p, _NODE] - pairs[q, _NODE]
            if ahead == 0 and pairs[p, _COST] + pairs[q, _COST] < min(scratch.limit[v], scratch.width[v]):
                if scratch.width[v] == _FAR:
                    scratch.stack[count, 0] = v
                    count += 1
                scratch.width[v] = pairs[p, _COST] + pairs[q, _COST]
                scratch.first[v], scratch.second[v] = p, q
            p += ahead <= 0
            q += ahead >= 0
        union = tables.unions[union, 2]
    for v in scratch.stack[:count, 0]:
        push(scratch.heap, scratch.width[v], v)
        scratch.width[v] = _FAR


@kernel
def _trace(task: SetSearch, tables: Tables, scratch: Scratch, number: int) -> int:
    """Start at the unions that give a set, and at the nodes of their trees; returns how many nodes these are.

    A tree costs as much at each of its nodes. If a node is on all trees, no optimal rest comes nearer to it than the
    longest stretch without branches between it and the root of each: a path to it would replace that stretch.
    """
    pairs, touched, stack, count, trees = tables.pairs, scratch.touched, scratch.stack, 0, 0
    _unite(tables, scratch, number)
    if tables.sets[number, _SIZE] == 1:
        root = task.terminals[number]
        push(scratch.heap, 0, root)
        scratch.first[root] = scratch.second[root] = -1
    while scratch.heap[0, 0] > 0:
        cost, root = pop(scratch.heap)
        if scratch.distance[root] < cost:
            continue
        trees += 1
        scratch.valid[root] = True
        depth, stack[0, 0], stack[0, 1], stack[0, 2] = 1, -1, 0, 0
        while depth > 0:
            depth -= 1
            pair, stretch, longest = stack[depth, 0], stack[depth, 1], stack[depth, 2]
            v, one, other = root, scratch.first[root], scratch.second[root]
            if pair >= 0:
                v, one, other = pairs[pair, _NODE], pairs[pair, _FIRST], pairs[pair, _SECOND]
            if scratch.tree[v] != trees:
                if scratch.trees[v] == 0:
                    touched[count] = v
                    count += 1
                    scratch.blocked[v] = longest
                scratch.tree[v] = trees
                scratch.trees[v] += 1
            scratch.blocked[v] = min(scratch.blocked[v], longest)
            scratch.distance[v] = min(scratch.distance[v], cost)
            if one >= 0 and other >= 0:
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = one, 0, longest
                stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = other, 0, longest
                depth += 2
            elif one >= 0:
                stretch += pairs[pair, _COST] - pairs[one, _COST]
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = one, stretch, max(stretch, longest)
                depth += 1
    for v in touched[:count]:
        if scratch.trees[v] < trees:
            scratch.blocked[v] = 0
        scratch.trees[v] = scratch.tree[v] = 0
    return count


@in_place_kernel
def _outside(task: SetSearch, members: Units, node: int) -> bool:
    """Whether a node is a terminal outside a set."""
    t = task.terminal[node]
    return bool(t >= 0 and members[t // _WORD] >> (t % _WORD) & 1 == 0)


@kernel
def _extend(
    task: SetSearch, tables: Tables, scratch: Scratch, number: int, count: int, largest: int
) -> tuple[int, int, int]:
    """Dijkstra's algorithm from the nodes touched, until it reaches a terminal outside, or all neighbours of one.

    Returns that terminal, −1 without one, the cost at which it ended, and how many nodes it has touched.
    """
    graph, distance, valid, members = task.graph, scratch.distance, scratch.valid, tables.members[number]
    has_others = len(task.terminals) - tables.sets[number, _SIZE] > 1
    beside = np.zeros(len(task.terminals), np.int64)
    heap = scratch.heap
    heap[0, 0] = 0
    for v in scratch.touched[:count]:
        push(heap, distance[v], v)
    while heap[0, 0] > 0:
        cost, v = pop(heap)
        if cost > distance[v]:
            continue
        if cost >= largest:
            return -1, cost, count
        if _outside(task, members, v):
            return v, cost, count
        valid[v] &= cost < scratch.limit[v]
        tables.numbers[_STEPS] += graph.offsets[v + 1] - graph.offsets[v]
        for k in range(graph.offsets[v], graph.offsets[v + 1]):
            w, through = task.near[k], cost + task.costs[graph.edge[k]]
            if through < distance[w] or (through == distance[w] and valid[v] and not valid[w]):
                if distance[w] == _FAR:
                    scratch.touched[count] = w
                    count += 1
                if through < distance[w]:
                    push(heap, through, w)
                distance[w], valid[w] = through, valid[v]
                scratch.first[w], scratch.second[w] = v, -1 - graph.edge[k]
            if has_others and _outside(task, members, w):
                beside[task.terminal[w]] += 1
                if beside[task.terminal[w]] == graph.offsets[w + 1] - graph.offsets[w]:
                    return w, cost, count
    return -1, _FAR, count


@kernel
def _block(task: SetSearch, scratch: Scratch, touched: Units) -> None:
    """Spread what is blocked to the nodes around."""
    graph, blocked, heap = task.graph, scratch.blocked, scratch.heap
    heap[0, 0] = 0
    for v in touched:
        if blocked[v] > 0:
            push(heap, -blocked[v], v)
    while heap[0, 0] > 0:
        less, v = pop(heap)
        if -less == blocked[v]:
            for k in range(graph.offsets[v], graph.offsets[v + 1]):
                w, left = task.near[k], -less - task.costs[graph.edge[k]]
                if left > blocked[w]:
                    blocked[w] = left
                    push(heap, -left, w)


@kernel
def _separate(task: SetSearch, tables: Tables, scratch: Scratch, number: int, start: int) -> int:
    """The largest cost such that nodes of that distance or more, not blocked, connect the terminals outside the set.

    The rest of a tree has a node at that distance or nearer, so pairs further away are on no optimal tree. −1 if the
    terminals are not connected.
    """
    graph, width, heap, members = task.graph, scratch.width, scratch.heap, tables.members[number]
    left = len(task.terminals) - tables.sets[number, _SIZE]
    for t in task.terminals:
        if _outside(task, members, t):
            start = t if start < 0 else start
            if scratch.blocked[t] > 0:
                return -1
    width[:] = -1
    width[start] = scratch.distance[start]
    stack, heap[0, 0] = scratch.stack, 0
    push(heap, -width[start], start)
    while heap[0, 0] > 0:
        least, u = pop(heap)
        if -least < width[u]:
            continue
        depth, stack[0, 0] = 1, u
        while depth > 0:
            depth -= 1
            v = stack[depth, 0]
            left -= _outside(task, members, v)
            if left == 0:
                return int(-least)
            tables.numbers[_STEPS] += graph.offsets[v + 1] - graph.offsets[v]
            for k in range(graph.offsets[v], graph.offsets[v + 1]):
                w = task.near[k]
                through = min(-least, scratch.distance[w])
                if through > width[w] and scratch.blocked[w] <= 0:
                    width[w] = through
                    if through == -least:
                        stack[depth, 0] = w
                        depth += 1
                    else:
                        push(heap, -through, w)
    return -1


@kernel
def _keep(task: SetSearch, tables: Tables, scratch: Scratch, number: int, nodes: Units, most: int) -> None:
    """Keep the valid pairs of a set up to a cost, join it with others, and enter it into the index."""
    numbers, sets, words = tables.numbers, tables.sets, tables.members.shape[1]
    group = np.zeros(tables.groups.shape[1], np.int64)
    group[:words] = tables.members[number]
    sets[number, _BEGIN] = numbers[_PAIRS]
    for v in nodes:
        if scratch.valid[v] and scratch.distance[v] <= most and scratch.distance[v] < scratch.limit[v]:
            pair = numbers[_PAIRS]
            tables.pairs[pair, _NODE], tables.pairs[pair, _COST] = v, scratch.distance[v]
            tables.pairs[pair, _FIRST], tables.pairs[pair, _SECOND] = scratch.first[v], scratch.second[v]
            scratch.pair[v] = pair
            numbers[_PAIRS] += 1
            bit = v * ((len(group) - words) * _WORD) // len(scratch.pair)
            group[words + bit // _WORD] |= np.int64(1) << (bit % _WORD)
    sets[number, _END] = numbers[_PAIRS]
    for pair in range(sets[number, _BEGIN], sets[number, _END]):
        if tables.pairs[pair, _FIRST] >= 0 and tables.pairs[pair, _SECOND] < 0:
            tables.pairs[pair, _FIRST] = scratch.pair[tables.pairs[pair, _FIRST]]
    scratch.width[:] = _FAR
    scratch.blocked[:] = 0
    if sets[number, _END] > sets[number, _BEGIN]:
        _complete(task, tables, scratch, number)
        _join(task, tables, scratch, number, group)
        if 3 * sets[number, _SIZE] <= len(task.terminals):
            leaf = numbers[_INDEXED]
            tables.indexed[leaf] = number
            for level in range(_LEVELS):
                first = leaf >> (_GROUP * level) << (_GROUP * level)
                row = tables.groups[_row(first, level)]
                if leaf == first:
                    row[:] = group
                row[:words] &= group[:words]
                row[words:] |= group[words:]
            numbers[_INDEXED] += 1
    scratch.pair[nodes] = -1


@kernel
def _complete(task: SetSearch, tables: Tables, scratch: Scratch, number: int) -> None:
    """Join a set's pairs with the unions that give all other terminals, which makes whole trees."""
    numbers = tables.numbers
    rest = tables.slots[_slot(tables, task.everything ^ tables.members[number])]
    if rest >= 0:
        scratch.limit[:] = numbers[_BEST]
        _unite(tables, scratch, rest)
        while scratch.heap[0, 0] > 0:
            cost, v = pop(scratch.heap)
            pair = scratch.pair[v]
            if pair >= 0 and cost + tables.pairs[pair, _COST] < numbers[_BEST]:
                numbers[_BEST] = cost + tables.pairs[pair, _COST]
                numbers[_PARTS], numbers[_PARTS + 1] = scratch.first[v], scratch.second[v]
                numbers[_PARTS + 2] = pair
                numbers[_UPPER] = numbers[_BEST] >> task.shift


@kernel
def _join(task: SetSearch, tables: Tables, scratch: Scratch, number: int, given: Units) -> None:
    """Join a set with all disjoint ones before it that have a pair at the same node, if the rest is as large."""
    numbers, sets, words = tables.numbers, tables.sets, tables.members.shape[1]
    leaf, level = 0, _LEVELS - 1
    while leaf < numbers[_INDEXED]:
        numbers[_STEPS] += 1
        may_join = _may_join(tables.groups, _row(leaf, level), given, words)
        if may_join and level > 0:
            level -= 1
            continue
        if may_join:
            other, meets = tables.indexed[leaf], False
            if sets[other, _SIZE] + 2 * sets[number, _SIZE] <= len(task.terminals):
                for q in range(sets[other, _BEGIN], sets[other, _END]):
                    meets |= scratch.pair[tables.pairs[q, _NODE]] >= 0
                numbers[_STEPS] += sets[other, _END] - sets[other, _BEGIN]
            if meets:
                size = sets[number, _SIZE] + sets[other, _SIZE]
                union, place = numbers[_UNIONS], _set_of(tables, given[:words] | tables.members[other], size)
                tables.unions[union, 0], tables.unions[union, 1] = number, other
                tables.unions[union, 2], sets[place, _UNION] = sets[place, _UNION], union
                numbers[_UNIONS] += 1
        leaf += 1 << (_GROUP * level)
        while level < _LEVELS - 1 and leaf & ((1 << (_GROUP * (level + 1))) - 1) == 0:
            level += 1


@in_place_kernel
def _row(first: int, level: int) -> int:
    """The row of a group that begins with a set: first come the sets of a group of level 1, then the groups there."""
    within = first & ((1 << _GROUP) - 1) if level == 0 else (1 << _GROUP) + level - 1
    return (first >> _GROUP) * ((1 << _GROUP) + _LEVELS - 1) + within


@in_place_kernel
def _may_join(groups: Units, group: int, given: Units, words: int) -> bool:
    """Whether a set may be disjoint from one of a group, and near it."""
    w = 0
    while w < len(given) and groups[group, w] & given[w] == 0:
        w += 1
    return words <= w < len(given)


@kernel
def _set_of(tables: Tables, members: Units, size: int) -> int:
    """The number of a set, which is entered if it is new."""
    slot = _slot(tables, members)
    if tables.slots[slot] < 0:
        number = tables.numbers[_SETS]
        tables.numbers[_SETS] += 1
        tables.slots[slot], tables.members[number] = number, members
        tables.sets[number, _SIZE], tables.sets[number, _UNION] = size, -1
    return int(tables.slots[slot])


@wrapping_kernel
def _slot(tables: Tables, members: Units) -> int:
    """The slot of a set, or the free one where it belongs."""
    mixed = np.int64(0)
    for word in members:
        mixed = (mixed ^ word) * np.int64(0x2545F4914F6CDD1D)
        mixed ^= mixed >> 29
    slot = mixed & (len(tables.slots) - 1)
    while tables.slots[slot] >= 0 and (tables.members[tables.slots[slot]] != members).any():
        slot = (slot + 1) & (len(tables.slots) - 1)
    return int(slot)
