"""The decentralised scheme of P3 §IV.D, and GM-M by the table of Algorithms 3 to 6, against the plain algorithms."""

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.compare.claims import contribution_table
from overlaybench.compare.claims.contribution_table import WORK, extend_by_table, gm_m_by_table
from overlaybench.compare.claims.decentralised import Decentralised, decentralised, drawn_partition
from overlaybench.heuristics.topics.merge.divide_and_conquer import (
    Division,
    Partition,
    conquer_and_combine,
    divide_and_conquer,
    representatives,
)
from overlaybench.heuristics.topics.merge.gm_m import extend_gm_m, gm_m
from overlaybench.heuristics.topics.tie_breaking.ties import tie_order
from tests.heuristics.topics.test_guarantees import middling
from tests.properties import property_test
from tests.topic_strategies import topic_instances

TIES = ("lowest", "highest", "random")


@property_test(150, instance=topic_instances(max_nodes=12), seed=st.integers(-5, 2**40), partitions=st.integers(1, 9))
@pytest.mark.parametrize("ties", TIES)
def test_the_table_gives_the_overlays_of_gm_m_and_of_divide_and_conquer(
    ties: str, instance: ob.TopicInstance, seed: int, partitions: int
) -> None:
    assert gm_m_by_table(instance, ties=ties, seed=seed) == gm_m(instance, ties=ties, seed=seed)
    by_rows, by_table = (
        divide_and_conquer(instance, extend, partitions=partitions, ties=ties, seed=seed).overlay
        for extend in (extend_gm_m, extend_by_table)
    )
    assert by_rows == by_table


def centralised(instance: ob.TopicInstance, partition: Partition, coverage: int, ties: str) -> ob.Overlay:
    order = tie_order(ties, 5)
    division = Division(partition, representatives(instance, partition, coverage, order))
    return conquer_and_combine(instance, division, extend_gm_m, order).overlay


def simulated(instance: ob.TopicInstance, partition: Partition, coverage: int, ties: str) -> Decentralised:
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
    ties: str, instance: ob.TopicInstance, eta: int, parts: int, coverage: int, seed: int
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
def test_without_the_exchange_of_topics_overlays_are_connected(
    instance: ob.TopicInstance, parts: int, seed: int
) -> None:
    partition, order = drawn_partition(instance, 3, parts, seed), tie_order("lowest", 0)
    found = decentralised(instance, partition, 2, extend_gm_m, order, topics_exchanged=False)
    assert ob.PROBLEMS["minmax-tco"].violations(instance, found.overlay) == []
    covered = {(int(partition.part_of[v]), t) for v in found.representatives for t in instance.topics_of(v).tolist()}
    light = partition.lightweight
    assert covered == {(int(partition.part_of[v]), t) for v in light for t in instance.topics_of(v).tolist()}


def test_representatives_and_what_nodes_know_are_those_found_by_hand() -> None:
    # Part 0 has n0 and n1, part 1 has n2; n3 is bulk. All of a, b are outward topics.
    instance = ob.TopicInstance.from_subscriptions({"n0": ["a"], "n1": ["a", "b"], "n2": ["b"], "n3": ["a", "b", "c"]})
    partition = Partition(np.array([0, 0, 1, -1], np.int32), 2)
    found = simulated(instance, partition, 1, "lowest")
    assert found.representatives.tolist() == [1, 2]
    assert [sorted(known) for known in found.knows] == [[0, 1], [0, 1, 2, 3], [1, 2, 3], [1, 2, 3]]
    assert found.pn_ratio == 1


def test_one_part_of_all_nodes_is_gm_m_and_every_node_knows_all() -> None:
    instance = middling(1)
    partition = drawn_partition(instance, 99, 1, 0)
    found = decentralised(instance, partition, 3, extend_by_table, tie_order("lowest", 0))
    assert found.overlay == gm_m(instance)
    assert found.pn_ratio == found.pn_ratio_with_directory == 1


def test_nodes_draw_every_part_equally_often_and_bulk_nodes_none() -> None:
    instance = middling(0)
    light = np.diff(instance.node_offsets) <= 3
    count = np.zeros(3)
    for seed in range(600):
        part_of = drawn_partition(instance, 3, 3, seed).part_of
        assert ((part_of >= 0) == light).all()
        count += np.bincount(part_of[light], minlength=3)
    assert (np.abs(count / count.sum() - 1 / 3) < 0.03).all()


def counted(wants: dict[str, list[str]]) -> dict[str, float | str]:
    result = gm_m_by_table.build(ob.TopicInstance.from_subscriptions(wants))
    assert result.counters["table_work"] == sum(int(result.counters[f"table_{name}"]) for name in WORK)
    return {name: result.counters[f"table_{name}"] for name in WORK}


def test_one_edge_is_counted_as_the_paper_says() -> None:
    # The pair (n0, n1) shares two topics: it is found at [2][0], where the search starts. Afterwards the search finds
    # nothing at [2][0] and [1][0], which leave the maximum degree at 1, nor at [2][1], then at [1][0] and [1][1].
    assert counted({"n0": ["a", "b"], "n1": ["a", "b"]}) == {
        "initial": 2,
        "pairs": 1,
        "entries": 1 + 2 + 1 + 2,
        "listed": 1,
        "contribution_updates": 0,
        "degree_looks": 0,
        "degree_updates": 0,
    }


@pytest.mark.parametrize("ties", ["lowest", "highest", "random"])
def test_every_contribution_is_lowered_to_0_one_by_one(ties: str) -> None:
    # Lemma 7: all contributions together are pairs × shared topics at first and 0 at last. What the added edges
    # contribute is not updated.
    instance = ob.WORKLOADS["uniform-varying"].generate(seed=0, nodes=80, topics=30, least=3, most=15)
    result = gm_m_by_table.build(instance, ties=ties)
    work = {name: int(result.counters[f"table_{name}"]) for name in WORK}
    assert work["contribution_updates"] == work["initial"] - int(result.counters["merges"])
    assert (
        work["degree_updates"] <= work["degree_looks"] <= 2 * (instance.num_nodes - 1) * int(result.counters["steps"])
    )
    assert result.counters["counted"] == 0


def test_more_nodes_than_the_table_holds_are_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contribution_table, "MOST_NODES", 2)
    with pytest.raises(ob.BadInput, match="at most 2 nodes, not of 3: use gm-m"):
        gm_m_by_table(ob.TopicInstance.from_subscriptions({"a": ["t"], "b": ["t"], "c": ["t"]}))
