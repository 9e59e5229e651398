"""Parts and levels without Spark: every topic is connected by the edges of all parts together."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.compare.spark_solver.conquer import Level, SubscriptionRows, conquer, levels, nearest, packed
from overlaybench.compare.spark_solver.numbering import X_END
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.heuristics.topics.tie_breaking.ties import tie_order

pytestmark = pytest.mark.interpreted

LOWEST = tie_order("lowest", 0)
wants = st.lists(st.sets(st.integers(0, 9), min_size=1, max_size=5), min_size=1, max_size=30)


def rows_of(chosen: dict[int, list[int]]) -> SubscriptionRows:
    """As Spark sends them: in any order."""
    listed = list(reversed(chosen.items()))
    table = pa.table({"id": [v for v, _ in listed], "topics": pa.array([t for _, t in listed], pa.list_(pa.int32()))})
    return SubscriptionRows.of([table.cast(pa.schema([("id", pa.int64()), ("topics", pa.list_(pa.int32()))]))])


def edges_of_parts(wanted: list[list[int]], x: list[int], level: Level, part_of: list[int]) -> list[tuple[int, int]]:
    """The edges of a level, with the anchors of topics outside the core as the package's docstring has them."""
    anchor = {t: min((x[v], v) for v in range(len(wanted)) if t in wanted[v]) for topics in wanted for t in topics}
    core = rows_of({v: topics for v, topics in enumerate(wanted) if x[v] < level.core})
    found: list[tuple[int, int]] = []
    for part in range(level.parts):
        rows = {v: wanted[v] for v in range(len(wanted)) if level.first <= x[v] < level.last and part_of[v] == part}
        if not rows:
            continue
        visitors: dict[int, list[int]] = {}
        for t in sorted({t for topics in rows.values() for t in topics}):
            at, v = anchor[t]
            if at >= level.core and v not in rows:
                visitors.setdefault(v, []).append(t)
        members = rows_of(rows).joined(rows_of(visitors))
        edges = conquer(members, nearest(members, [core], 2), LOWEST)
        found += [(int(u), int(v)) for u, v in edges]
    return found


@settings(max_examples=60)
@given(wants, st.integers(1, 40), st.integers(1, 40), st.randoms(use_true_random=False))
def test_all_parts_connect_every_topic(chosen: list[set[int]], part_rows: int, core_rows: int, random: Random) -> None:
    present = {t: i for i, t in enumerate(sorted(set().union(*chosen)))}
    wanted = [sorted(present[t] for t in topics) for topics in chosen]
    x = [random.randrange(X_END) for _ in wanted]
    plan = levels(len(wanted), sum(map(len, wanted)), part_rows, core_rows)
    edges: list[tuple[int, int]] = []
    for level in plan:
        part_of = [random.randrange(level.parts) for _ in wanted]
        edges += edges_of_parts(wanted, x, level, part_of)
    offsets = np.concatenate([[0], np.cumsum([len(topics) for topics in wanted])])
    instance = ob.TopicInstance(offsets, np.array([t for topics in wanted for t in topics], np.int32))
    overlay = ob.Overlay.from_edges(len(wanted), edges)
    assert (overlay.topic_components(instance) == 1).all()
    if len(plan) == 1:
        assert overlay == greedy_merge(instance)


@given(st.integers(1, 10**9), st.integers(1, 30), st.integers(1, 10**7), st.integers(1, 10**7))
def test_levels_are_consecutive_and_follow_their_core(nodes: int, topics: int, part_rows: int, core_rows: int) -> None:
    plan = levels(nodes, nodes * topics, part_rows, core_rows)
    assert [level.first for level in plan] == [0, *(level.last for level in plan[:-1])]
    assert plan[-1].last == X_END
    assert (plan[0].parts, plan[0].core) == (1, 0)
    for level in plan:
        assert level.core <= level.first
        assert level.core * nodes // X_END <= max(1, core_rows // topics)
        assert (level.last - level.first) * nodes / X_END <= (level.parts + 1) * max(1, part_rows // topics)


@given(st.dictionaries(st.integers(0, 4095), st.integers(1, 1000), min_size=1, max_size=50), st.integers(1, 20))
def test_buckets_fill_parts_and_large_ones_are_spread(sizes: dict[int, int], parts: int) -> None:
    first, spread, number = packed(sizes, parts)
    load = np.zeros(number)
    for bucket, size in sizes.items():
        load[first[bucket] : first[bucket] + spread[bucket]] += size / spread[bucket]
    assert load.max() <= -(-sum(sizes.values()) // parts)
    assert len(first) == len(spread) == 4096
    assert number <= 3 * parts + 1


def test_large_topics_are_spread_and_the_core_gets_no_edges() -> None:
    first, spread, number = packed({7: 400, 8: 600}, 10)
    assert (spread[7], spread[8], number) == (4, 6, 10)
    assert first[8] == first[7] + 4
    core = rows_of({0: [0, 1], 1: [0], 2: [1]})
    edges = conquer(rows_of({5: [0, 1], 6: [1, 2]}), core, LOWEST)
    assert sorted(map(tuple, edges.tolist())) == [(0, 5), (0, 6)]


@pytest.mark.parametrize("size", [0, 1])
def test_rows_without_nodes_are_rows(size: int) -> None:
    rows = rows_of({3: [1]} if size else {})
    assert (len(rows.nodes), len(rows.topics), rows.offsets.tolist()) == (size, size, [0, 1][: size + 1])


@settings(max_examples=60)
@given(wants, wants, st.integers(1, 3), st.integers(1, 5))
def test_candidates_share_most_topics(
    of_part: list[set[int]], of_core: list[set[int]], candidates: int, size: int
) -> None:
    part = {v: sorted(topics) for v, topics in enumerate(of_part)}
    core = {100 + v: sorted(topics) for v, topics in enumerate(of_core)}
    found = nearest(
        rows_of(part),
        [rows_of(dict(list(core.items())[at : at + size])) for at in range(0, len(core), size)],
        candidates,
    )
    often = {t for t in range(10) if sum(t in topics for topics in of_part) > max(1, len(part) // 16)}
    expected: set[tuple[int, int]] = set()
    for t in sorted(set().union(*of_part)):
        expected |= {(u, t) for u in sorted(u for u in core if t in core[u])[:1]}
        for topics in part.values():
            common = {u: set(topics) & set(core[u]) for u in core if t in core[u] and t in topics}
            near = [u for u in common if len(common[u] - often) >= 2]
            expected |= {(u, t) for u in sorted(near, key=lambda u: (-len(common[u]), u))[:candidates]}
    owner = np.repeat(found.nodes, np.diff(found.offsets)).tolist()
    assert list(zip(owner, found.topics.tolist(), strict=True)) == sorted(expected)
