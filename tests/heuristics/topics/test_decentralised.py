"""P3 §IV.D's scheme: nodes that know what messages bring them build the overlay of DCBR-M."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from overlaybench.heuristics.topics.decentralised import Decentralised, decentralised, drawn_partition
from overlaybench.heuristics.topics.divide_and_conquer import conquer_and_combine
from overlaybench.heuristics.topics.division import Division, Partition, representatives
from overlaybench.heuristics.topics.gm_m import EXTENSIONS, extend_gm_m, gm_m
from overlaybench.heuristics.topics.greedy_merge import extend_greedily
from overlaybench.heuristics.topics.kernels.ties import tie_order
from overlaybench.instances.contract.catalogue import PROBLEMS
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.topics.instance import TopicInstance
from tests.heuristics.topics.test_guarantees import middling
from tests.properties import property_test
from tests.topic_strategies import topic_instances

TIES = ("lowest", "highest", "random")


def centralised(instance: TopicInstance, partition: Partition, coverage: int, ties: str) -> Overlay:
    order = tie_order(ties, 5)
    division = Division(partition, representatives(instance, partition, coverage, order))
    return conquer_and_combine(instance, division, extend_gm_m, order).overlay


def simulated(instance: TopicInstance, partition: Partition, coverage: int, ties: str) -> Decentralised:
    return decentralised(instance, partition, coverage, extend_gm_m, tie_order(ties, 5))


@property_test(
    150,
    instance=topic_instances(max_nodes=12),
    eta=st.integers(1, 7),
    parts=st.integers(1, 6),
    coverage=st.integers(1, 4),
    seed=st.integers(0, 99),
)
@pytest.mark.parametrize("ties", TIES)
def test_the_overlay_is_that_of_dcbr_m_with_the_same_parts(
    ties: str, instance: TopicInstance, eta: int, parts: int, coverage: int, seed: int
) -> None:
    partition = drawn_partition(instance, eta, parts, seed)
    found = simulated(instance, partition, coverage, ties)
    assert found.overlay == centralised(instance, partition, coverage, ties)
    division = Division(partition, representatives(instance, partition, coverage, tie_order(ties, 5)))
    assert found.representatives.tolist() == division.representatives.tolist()
    assert found.pn_ratio == division.pn_ratio
    ends = found.overlay.edges.tolist()
    assert all(v in found.knows[u] and u in found.knows[v] for u, v in ends)


@property_test(100, instance=topic_instances(max_nodes=12), parts=st.integers(1, 6), seed=st.integers(0, 99))
def test_without_the_exchange_of_topics_representatives_are_a_superset_and_the_overlay_is_topic_connected(
    instance: TopicInstance, parts: int, seed: int
) -> None:
    partition, order = drawn_partition(instance, 3, parts, seed), tie_order("lowest", 0)
    found = decentralised(instance, partition, 2, extend_gm_m, order, topics_exchanged=False)
    assert PROBLEMS["minmax-tco"].violations(instance, found.overlay) == []
    covered = {(int(partition.part_of[v]), t) for v in found.representatives for t in instance.topics_of(v).tolist()}
    light = partition.lightweight
    assert covered == {(int(partition.part_of[v]), t) for v in light for t in instance.topics_of(v).tolist()}


def test_messages_and_entries_are_those_counted_by_hand() -> None:
    # Part 0 has n0 and n1, part 1 has n2; n3 is bulk. All of a, b are outward topics.
    instance = TopicInstance.from_subscriptions({"n0": ["a"], "n1": ["a", "b"], "n2": ["b"], "n3": ["a", "b", "c"]})
    partition = Partition(np.array([0, 0, 1, -1], np.int32), 2)
    found = simulated(instance, partition, 1, "lowest")
    assert {one.what: (one.messages, one.entries) for one in found.rounds} == {
        "register with their part": (3, 6),
        "learn of their part": (3, 4 + 4 + 2),
        "send interests within parts": (2, 1 + 2),
        "post topics and the largest degree": (3, 3 + 2 + 4),
        "learn the outward topics and the largest degree": (3, 3 + 2 + 3),
        "pass both on within parts": (1, 3),
        "register with bulk nodes and representatives": (3, 6),
        "learn of bulk nodes and representatives": (3, 18),
        "send interests and degrees across parts": (6, 2 * (4 + 3 + 5)),
    }
    assert found.representatives.tolist() == [1, 2]
    assert [sorted(known) for known in found.knows] == [[0, 1], [0, 1, 2, 3], [1, 2, 3], [1, 2, 3]]
    assert found.pn_ratio == 1
    assert len(found.conquering) == 2


def test_one_part_of_all_nodes_is_gm_m_and_every_node_knows_all() -> None:
    instance = middling(1)
    partition = drawn_partition(instance, 99, 1, 0)
    found = decentralised(instance, partition, 3, EXTENSIONS["table"], tie_order("lowest", 0))
    assert found.overlay == gm_m(instance)
    assert found.pn_ratio == found.pn_ratio_with_directory == 1
    assert found.conquering[0]["table_work"] > 0


def test_any_greedy_algorithm_may_extend_the_parts() -> None:
    instance, order = middling(2), tie_order("lowest", 0)
    partition = drawn_partition(instance, 4, 3, 1)
    division = Division(partition, representatives(instance, partition, 2, order))
    built = conquer_and_combine(instance, division, extend_greedily, order)
    assert decentralised(instance, partition, 2, extend_greedily, order).overlay == built.overlay


def test_nodes_draw_every_part_equally_often_and_bulk_nodes_none() -> None:
    instance = middling(0)
    light = np.diff(instance.node_offsets) <= 3
    count = np.zeros(3)
    for seed in range(600):
        part_of = drawn_partition(instance, 3, 3, seed).part_of
        assert ((part_of >= 0) == light).all()
        count += np.bincount(part_of[light], minlength=3)
    assert (np.abs(count / count.sum() - 1 / 3) < 0.03).all()
