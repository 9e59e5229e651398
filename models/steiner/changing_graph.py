"""A graph whose edges change: the data of reductions of Steiner trees, and what changes them."""

from __future__ import annotations

from typing import NamedTuple

from ...instances.contract.arrays import Flags
from ...instances.runtime.compiled import in_place_kernel
from ..engine.relaxation import Units

EDGES, TERMINALS, FIXED, LOGGED, TOTAL = range(5)  # of `numbers`


class Work(NamedTuple):
    """A graph that changes. Edge e has the ends ``ends[2 e]`` and ``ends[2 e + 1]``, −1 twice once it is removed."""

    ends: Units
    costs: Units
    parts: Units
    after: Units  # of each end of an edge the next one at the same node; −1 for the last
    before: Units
    first: Units  # the first end at each node
    degree: Units  # −1 for a node that is removed
    terminal: Flags
    fixed: Units
    log: Units  # the nodes (with −1) and edges in the order of their removal
    numbers: Units
    heap: Units  # for Dijkstra's algorithm from the nearest terminals of each node


@in_place_kernel
def attach_all(work: Work, contracting: bool) -> None:
    """Enter the edges at their nodes, and contract those that cost nothing."""
    for end in range(2 * work.numbers[EDGES]):
        attach(work, end)
    if contracting:
        for e in range(work.numbers[EDGES]):
            if work.costs[e] == 0 and work.ends[2 * e] >= 0:
                contract(work, e, work.ends[2 * e])


@in_place_kernel
def attach(work: Work, end: int) -> None:
    """Enter the end of an edge at its node."""
    v = work.ends[end]
    work.before[end], work.after[end] = -1, work.first[v]
    if work.first[v] >= 0:
        work.before[work.first[v]] = end
    work.first[v] = end
    work.degree[v] += 1


@in_place_kernel
def detach(work: Work, end: int) -> None:
    """Take the end of an edge from its node."""
    v, before, after = work.ends[end], work.before[end], work.after[end]
    if before >= 0:
        work.after[before] = after
    else:
        work.first[v] = after
    if after >= 0:
        work.before[after] = before
    work.degree[v] -= 1


@in_place_kernel
def remove(work: Work, e: int) -> None:
    """Remove an edge."""
    detach(work, 2 * e)
    detach(work, 2 * e + 1)
    work.ends[2 * e] = work.ends[2 * e + 1] = -1
    work.numbers[TOTAL] -= work.costs[e]


@in_place_kernel
def remove_all(work: Work, edges: Units) -> None:
    """Remove edges."""
    for e in edges:
        remove(work, e)


@in_place_kernel
def log(work: Work, u: int, v: int) -> None:
    """Note that an edge is removed, or a node u with v = −1."""
    work.log[work.numbers[LOGGED], 0], work.log[work.numbers[LOGGED], 1] = u, v
    work.numbers[LOGGED] += 1


@in_place_kernel
def edge_between(work: Work, a: int, b: int) -> int:
    """The edge between two nodes, −1 if there is none. Cost: the smaller degree."""
    if work.degree[a] > work.degree[b]:
        a, b = b, a
    end = work.first[a]
    while end >= 0:
        if work.ends[end ^ 1] == b:
            return int(end >> 1)
        end = work.after[end]
    return -1


@in_place_kernel
def insert(work: Work, e: int, a: int, b: int) -> None:
    """Give an edge its ends, unless one between them is no dearer; a dearer one is removed."""
    other = edge_between(work, a, b)
    if other >= 0 and work.costs[other] <= work.costs[e]:
        return
    if other >= 0:
        remove(work, other)
    work.ends[2 * e], work.ends[2 * e + 1] = a, b
    attach(work, 2 * e)
    attach(work, 2 * e + 1)
    work.numbers[TOTAL] += work.costs[e]


@in_place_kernel
def merge(work: Work, one: int, other: int, a: int, b: int) -> None:
    """Insert an edge of the summed cost of two."""
    e = work.numbers[EDGES]
    work.costs[e] = work.costs[one] + work.costs[other]
    work.parts[e, 0], work.parts[e, 1] = one, other
    work.numbers[EDGES] += 1
    insert(work, e, a, b)


@in_place_kernel
def contract(work: Work, e: int, u: int) -> None:
    """Fix an edge and contract its end u into the other one."""
    v = work.ends[2 * e] + work.ends[2 * e + 1] - u
    work.fixed[work.numbers[FIXED]] = e
    work.numbers[FIXED] += 1
    remove(work, e)
    while work.first[u] >= 0:
        end = work.first[u]
        other = work.ends[end ^ 1]
        remove(work, end >> 1)
        insert(work, end >> 1, v, other)
    if work.terminal[u]:
        work.numbers[TERMINALS] -= work.terminal[v]
        work.terminal[v] = True
    work.terminal[u], work.degree[u] = False, -1
