"""GM-M by the data structures of P3, Algorithms 3 to 6, whose steps are counted for the claims about its time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...heuristics.topics.heuristic import TOPIC_CONNECTED, Heuristic, heuristic
from ...heuristics.topics.kernels.interest import TopicComponents, unite
from ...heuristics.topics.kernels.partial_overlay import Degrees, Edges, OverlayBuild, PartialOverlay
from ...heuristics.topics.merge.divide_and_conquer import AIM, COVERAGE, ETA, PARTITIONS, divide_and_conquer
from ...heuristics.topics.tie_breaking.ties import TIES, TieOrder, candidate_of, rank_of, tie_order
from ...instances.contract.errors import BadInput
from ...instances.contract.method import Method
from ...instances.contract.overlay import Overlay
from ...instances.runtime.compiled import kernel
from ...instances.topics.instance import TopicInstance

Cells = npt.NDArray[np.int32]
Work = npt.NDArray[np.int64]

MOST_NODES = 25_000
WORK = ("initial", "pairs", "entries", "listed", "contribution_updates", "degree_looks", "degree_updates")
"""What is counted, each as the counter ``table_…``:

``initial``: pairs and topics in which Algorithm 4 compares two subscribers. ``pairs``: pairs that it puts into the
table. ``entries``: entries of the table at which Algorithm 5 looks. ``listed``: pairs that are read from them.
``contribution_updates``: lines 2–8 of Algorithm 6. ``degree_looks``, ``degree_updates``: the pairs of its line 14, and
those that line 19 moves.
"""
_INITIAL, _PAIRS, _ENTRIES, _LISTED, _CONTRIBUTION_UPDATES, _DEGREE_LOOKS, _DEGREE_UPDATES = range(len(WORK))
CONTRIBUTION, NEXT, PREVIOUS = range(3)
NONE = -1


class PairTable(NamedTuple):
    """Doubly linked lists of pairs of nodes by contribution and a degree: P3's EdgeContrib, P1's LINKCONTRIB."""

    first: Edges  # the number of the pair (u, u + 1); a pair (u, v) has the number first[u] + v - u - 1
    cells: Cells  # of each pair its contribution, and the next and the previous pair of its list
    heads: Cells  # [contribution, degree]: the first pair of the list
    work: Work


@heuristic(TIES)
def gm_m_by_table(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> OverlayBuild:
    """The overlay of :func:`.gm_m` and the counters of :data:`WORK`. Cost as :func:`extend_by_table`."""
    partial = PartialOverlay(instance, tie_order(ties, seed))
    extend_by_table(partial)
    return OverlayBuild(partial.overlay(), partial.counters())


@heuristic(ETA, PARTITIONS, TIES)
def dcb_m_by_table(instance: TopicInstance, **options: Any) -> OverlayBuild:
    """The overlay of :func:`.dcb_m`, and the counters of :data:`WORK`."""
    return divide_and_conquer(instance, extend_by_table, all_combine=True, **options)


@heuristic(ETA, PARTITIONS, COVERAGE, AIM, TIES)
def dcbr_m_by_table(instance: TopicInstance, **options: Any) -> OverlayBuild:
    """The overlay of :func:`.dcbr_m`, and the counters of :data:`WORK`."""
    return divide_and_conquer(instance, extend_by_table, **options)


def extend_by_table(partial: PartialOverlay) -> None:
    """Add GM-M's edges until every topic is connected, choosing them by a table of the contributions of all pairs.

    The edges are those of :func:`.extend_gm_m`. Counters of :data:`WORK` and their sum are added to `partial`. Over
    25,000 nodes, whose table takes 3.75 GB, are bad input.

    P3, Algorithms 3–6, with four corrections without which they give other overlays or do not end: line 2 of
    Algorithm 5 stops before the maximum degree (an edge of that degree raises it) and starts from 0 for every
    contribution; its line 7 takes the highest contribution that is left; and Algorithm 4 counts the degrees of the
    given edges before their maximum. Where the paper takes any edge of an entry, the rule for ties decides: the pairs
    of a level are listed and sorted once a phase, since no pair reaches a level after the search has.

    Time O(|V|²|T|) (P3, Lemma 7) and the sorting; memory 12 bytes a pair of nodes.
    """
    n = partial.instance.num_nodes
    if n > MOST_NODES:
        raise BadInput(f"the table keeps every pair of at most {MOST_NODES:,} nodes, not of {n:,}: use gm-m")
    # An edge raises the maximum degree only if none below it contributes, so it rises at most once a node.
    lists, work = int(np.diff(partial.instance.node_offsets).max()), np.zeros(len(WORK), np.int64)
    table = empty_table(n, lists + 1, partial.initial_max_degree + n + 1, work)
    highest = _count_contributions(table.first, table.cells, work, partial.components)
    _put_all(partial.degrees, table)
    degrees, most = partial.degrees, partial.initial_max_degree
    edges, merged = _add_edges_of_table(highest, most, degrees, table, partial.components, partial.order)
    partial.evaluations += int(work[_LISTED])
    partial.record(edges, merged)
    partial.work.update({f"table_{name}": int(count) for name, count in zip(WORK, work, strict=True)})
    partial.work["table_work"] = int(work.sum())


@kernel
def _count_contributions(first: Edges, cells: Cells, work: Work, components: TopicComponents) -> int:
    """Algorithm 4, line 13: the contribution of every pair; returns the highest."""
    c = components
    cells[:, CONTRIBUTION] = 0
    for u in range(len(first)):
        for i in range(c.node_offsets[u], c.node_offsets[u + 1]):
            topic, p = c.node_topics[i], c.positions[i]
            for q in range(p + 1, c.topic_offsets[topic + 1]):
                cells[first[u] + c.topic_nodes[q] - u - 1, CONTRIBUTION] += c.label[p] != c.label[q]
                work[_INITIAL] += 1
    highest = 0
    for pair in range(len(cells)):
        highest = max(highest, cells[pair, CONTRIBUTION])
    return highest


@kernel
def _put_all(degrees: Degrees, table: PairTable) -> None:
    """Algorithm 4, lines 12–15: the pairs that contribute."""
    for u in range(len(degrees)):
        for v in range(u + 1, len(degrees)):
            pair = pair_of(u, v, table)
            if table.cells[pair, CONTRIBUTION] > 0:
                put(pair, max(degrees[u], degrees[v]), table)
                table.work[_PAIRS] += 1


@kernel
def _add_edges_of_table(
    highest: int, max_degree: int, degrees: Degrees, table: PairTable, components: TopicComponents, order: TieOrder
) -> tuple[Edges, int]:
    """Algorithm 3: returns the edges u·|V| + v in the order of their addition, and the number of components merged."""
    edges, num, merged = np.empty(len(components.label), np.int64), 0, 0
    while highest > 0:
        for level in range(highest, 0, -1):
            for rank in _listed(level, 0, max_degree, table, order):
                edge = candidate_of(rank, order)
                if _is_at(edge, level, max_degree, degrees, table):
                    _add(edge, degrees, table, components)
                    edges[num], num, merged = edge, num + 1, merged + level
        # All pairs that are left raise the maximum degree: one is added, which begins the next phase.
        ranks = _listed(highest, max_degree, max_degree + 1, table, order)
        if len(ranks):
            edge = candidate_of(ranks[0], order)
            _add(edge, degrees, table, components)
            edges[num], num, merged = edge, num + 1, merged + highest
            max_degree += 1
        else:
            highest -= 1
    return edges[:num].copy(), merged


@kernel
def _listed(level: int, least: int, below: int, table: PairTable, order: TieOrder) -> Edges:
    """The sorted ranks of the edges that contribute `level` and whose larger degree is at least `least` and `below`."""
    listed, n = [0 for _ in range(0)], len(table.first)
    for degree in range(least, below):
        pair = table.heads[level, degree]
        table.work[_ENTRIES] += 1
        while pair != NONE:
            u = first_of(pair, table)
            listed.append(rank_of(u * n + pair - table.first[u] + u + 1, order))
            pair = table.cells[pair, NEXT]
    table.work[_LISTED] += len(listed)
    ranks = np.array(listed, np.int64)
    ranks.sort()
    return ranks


@kernel
def _is_at(edge: int, level: int, below: int, degrees: Degrees, table: PairTable) -> bool:
    u = edge // len(degrees)
    v = edge - u * len(degrees)
    pair = pair_of(u, v, table)
    return bool(table.cells[pair, CONTRIBUTION] == level and max(degrees[u], degrees[v]) < below)


@kernel
def _add(edge: int, degrees: Degrees, table: PairTable, components: TopicComponents) -> None:
    """Algorithm 6: unite the components of the edge's topics, and move pairs to their new entries."""
    u = edge // len(degrees)
    v = edge - u * len(degrees)
    own = pair_of(u, v, table)
    take(own, max(degrees[u], degrees[v]), table)
    table.cells[own, CONTRIBUTION] = 0
    table.work[_CONTRIBUTION_UPDATES] += unite_topics(u, v, degrees, table, components, False)[1]
    _raise(u, degrees, table)
    _raise(v, degrees, table)


@kernel
def unite_topics(
    u: int, v: int, degrees: Degrees, table: PairTable, components: TopicComponents, as_printed: bool
) -> tuple[int, int, int]:
    """Unite the components of the topics that a new edge connects, and lower the pairs across them.

    With `as_printed`, as P1 prints Algorithm 3, pairs within a component that has both ends are lowered, too. Returns
    how many topics both ends have, pairs are lowered, and subscribers get another component.
    """
    c = components
    topics = lowered = members = 0
    i, j = c.node_offsets[u], c.node_offsets[v]
    while i < c.node_offsets[u + 1] and j < c.node_offsets[v + 1]:
        topic, other = c.node_topics[i], c.node_topics[j]
        p, q = c.positions[i], c.positions[j]
        if topic == other:
            topics += 1
            apart = c.label[p] != c.label[q]
            if apart or as_printed:
                lowered += _lower(p, q, pair_of(u, v, table), degrees, table, c)
            if apart:
                members += c.size[c.label[p]] + c.size[c.label[q]]
                unite(p, q, c)
        i += topic <= other
        j += other <= topic
    return topics, lowered, members


@kernel
def _lower(p: int, q: int, own: int, degrees: Degrees, table: PairTable, components: TopicComponents) -> int:
    """Lower each listed pair across two components of a topic, except for the new edge; returns how many."""
    c, lowered = components, 0
    one = p
    for _ in range(c.size[c.label[p]]):
        other = q
        for _ in range(c.size[c.label[q]]):
            u, v = c.topic_nodes[one], c.topic_nodes[other]
            if u != v:
                pair = pair_of(u, v, table)
                if pair != own and table.cells[pair, CONTRIBUTION] > 0:
                    degree = max(degrees[u], degrees[v])
                    take(pair, degree, table)
                    table.cells[pair, CONTRIBUTION] -= 1
                    if table.cells[pair, CONTRIBUTION] > 0:
                        put(pair, degree, table)
                    lowered += 1
            other = c.following[other]
        one = c.following[one]
    return lowered


@kernel
def _raise(u: int, degrees: Degrees, table: PairTable) -> None:
    """Lines 12–19: raise the degree of a node."""
    for v in range(len(degrees)):
        if v == u:
            continue
        pair = pair_of(u, v, table)
        if table.cells[pair, CONTRIBUTION] > 0:
            table.work[_DEGREE_LOOKS] += 1
            if degrees[v] <= degrees[u]:
                take(pair, degrees[u], table)
                put(pair, degrees[u] + 1, table)
                table.work[_DEGREE_UPDATES] += 1
    degrees[u] += 1


def empty_table(nodes: int, contributions: int, degrees: int, work: Work) -> PairTable:
    """A table without pairs, whose lists have these numbers of contributions and degrees, 0 included."""
    first = np.concatenate([[0], np.cumsum(np.arange(nodes - 1, 0, -1))]).astype(np.int64)
    cells = np.full((nodes * (nodes - 1) // 2, 3), NONE, np.int32)
    return PairTable(first, cells, np.full((contributions, degrees), NONE, np.int32), work)


@kernel
def pair_of(u: int, v: int, table: PairTable) -> int:
    """The number of the pair of two nodes."""
    return int(table.first[min(u, v)] + abs(v - u) - 1)


@kernel
def first_of(pair: int, table: PairTable) -> int:
    """The smaller node of a pair. Cost O(log |V|)."""
    return int(np.searchsorted(table.first[: len(table.first) - 1], pair, side="right") - 1)


@kernel
def put(pair: int, degree: int, table: PairTable) -> None:
    """Add a pair to the entry of its contribution and of a degree. Cost O(1)."""
    cells, contribution = table.cells, table.cells[pair, CONTRIBUTION]
    following = table.heads[contribution, degree]
    cells[pair, NEXT], cells[pair, PREVIOUS] = following, NONE
    if following != NONE:
        cells[following, PREVIOUS] = pair
    table.heads[contribution, degree] = pair


@kernel
def take(pair: int, degree: int, table: PairTable) -> None:
    """Remove a pair from the entry of its contribution and of its larger degree. Cost O(1)."""
    cells = table.cells
    following, previous = cells[pair, NEXT], cells[pair, PREVIOUS]
    if following != NONE:
        cells[following, PREVIOUS] = previous
    if previous != NONE:
        cells[previous, NEXT] = following
    else:
        table.heads[cells[pair, CONTRIBUTION], degree] = following


BY_TABLE = "-by-table"
"""With this ending a method of P3 keeps the contributions of all pairs, as P3 does, and counts its steps."""


def _counted(method: Heuristic[Any], name: str, **fields: Any) -> Method[TopicInstance, Overlay]:
    cost = "time O(|V|²|T|), memory O(|V|²), for the whole or for each part"
    return method.method(
        f"{name}{BY_TABLE}",
        TOPIC_CONNECTED,
        summary=f"{name} by P3's own data structures, whose steps are counted",
        source="P3, Algorithms 3–6",
        guarantee=f"the overlay of {name}",
        cost=cost,
        **fields,
    )


GM_M_BY_TABLE = _counted(gm_m_by_table, "gm-m")
DCB_M_BY_TABLE = _counted(dcb_m_by_table, "dcb-m", inputs=("mapper",), random=True)
DCBR_M_BY_TABLE = _counted(dcbr_m_by_table, "dcbr-m", inputs=("mapper",), random=True)
