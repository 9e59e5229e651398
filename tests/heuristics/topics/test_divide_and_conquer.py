"""P3's divide and conquer: twins, special cases, and the statements of the paper."""

import pickle
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.heuristics.topics import gm_m as contribution_table
from overlaybench.heuristics.topics.decentralised import Decentralised, decentralised, drawn_partition
from overlaybench.heuristics.topics.divide_and_conquer import (
    AIMS,
    DCB_M,
    DCBR_M,
    Division,
    Partition,
    bulk_threshold,
    conquer_and_combine,
    dc_gm,
    dcb_m,
    dcbr_m,
    divide,
    naive_dc,
    random_order,
    representatives,
)
from overlaybench.heuristics.topics.gm_m import EXTENSIONS, GM_M, WORK, extend_gm_m, gm_m
from overlaybench.heuristics.topics.kernels.ties import tie_order
from overlaybench.instances.contract.arrays import Ids
from tests.heuristics.topics import twins
from tests.heuristics.topics.test_guarantees import middling
from tests.heuristics.topics.twins import CONSTRUCTED
from tests.properties import property_test
from tests.topic_strategies import topic_instances

TIES = ("lowest", "highest", "random")
FAMILY: dict[str, Callable[..., ob.Overlay]] = {"naive-dc": naive_dc, "dcb-m": dcb_m, "dcbr-m": dcbr_m, "dc-gm": dc_gm}
PARAMETERS: dict[str, Any] = {
    "eta": st.integers(1, 7),
    "partitions": st.integers(1, 9),
    "coverage": st.integers(1, 4),
    "seed": st.integers(-5, 2**40),
}


def overlay_of_twin(
    name: str, instance: ob.TopicInstance, ties: str, eta: int, partitions: int, coverage: int, seed: int
) -> set[twins.Edge]:
    interest, rank = twins.interest_of(instance), twins.rank_by(ties, seed)
    eta = 10**6 if name == "naive-dc" else eta
    parts = twins.random_parts(interest, eta, partitions, seed)
    if name in ("naive-dc", "dcb-m"):
        return twins.dcb_m(interest, rank, eta, parts)
    select = twins.any_degree if name == "dc-gm" else twins.least_raising
    return twins.dcbr_m(interest, rank, eta, parts, coverage, select)


def options_of(name: str, eta: int, partitions: int, coverage: int) -> dict[str, int]:
    if name == "naive-dc":
        return {"partitions": partitions}
    bulk = {"eta": eta, "partitions": partitions}
    return bulk if name == "dcb-m" else bulk | {"coverage": coverage}


@property_test(150, instance=topic_instances(max_nodes=12), **PARAMETERS)
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("name", FAMILY)
def test_divide_and_conquer_equals_its_twin_and_itself_by_the_table_of_pairs(
    name: str, ties: str, instance: ob.TopicInstance, eta: int, partitions: int, coverage: int, seed: int
) -> None:
    options: dict[str, Any] = options_of(name, eta, partitions, coverage) | {"ties": ties, "seed": seed}
    built = FAMILY[name](instance, **options)
    assert edges(built) == overlay_of_twin(name, instance, ties, eta, partitions, coverage, seed)
    assert name == "dc-gm" or FAMILY[name](instance, **options, data="table") == built


@pytest.mark.parametrize("name", ["dcbr-m", "dc-gm"])
def test_degrees_within_parts_may_exceed_the_number_of_nodes_combined(name: str) -> None:
    # One representative, the hub of its part, and one bulk node: they share two topics and must be linked.
    wants = {f"n{v}": ["a", "b"] for v in range(8)} | {"z": ["a", "b", "c"]}
    instance = ob.TopicInstance.from_subscriptions(wants)
    built = FAMILY[name](instance, eta=2, partitions=1, coverage=1)
    assert ob.PROBLEMS["min-tco"].violations(instance, built) == []
    assert edges(built) == overlay_of_twin(name, instance, "lowest", 2, 1, 1, seed=0)


@pytest.mark.parametrize("name", FAMILY)
def test_divide_and_conquer_equals_its_twin_on_every_construction(name: str) -> None:
    for label, instance in CONSTRUCTED.items():
        eta = bulk_threshold(instance)
        built = FAMILY[name](instance, **options_of(name, eta, 2, 2), ties="random", seed=3)
        assert edges(built) == overlay_of_twin(name, instance, "random", eta, 2, 2, seed=3), label


@property_test(150, instance=topic_instances(max_nodes=12), **PARAMETERS)
@pytest.mark.parametrize("ties", TIES)
def test_parts_and_representatives_equal_their_twins(
    ties: str, instance: ob.TopicInstance, eta: int, partitions: int, coverage: int, seed: int
) -> None:
    interest, rank = twins.interest_of(instance), twins.rank_by(ties, seed)
    division = divided(instance, eta, partitions, coverage, seed, ties)
    parts = twins.random_parts(interest, eta, partitions, seed)
    assert [part.tolist() for part in division.partition.parts()] == parts
    chosen = twins.representatives(interest, rank, parts, coverage)
    assert division.representatives.tolist() == sorted(v for part in chosen for v in part)


def test_outward_topics_as_printed_leave_a_topic_of_one_part_and_bulk_nodes_unconnected() -> None:
    # Only n0 is bulk; "shared" is a topic of one part alone, which line 6 of Algorithm 12 does not count as outward.
    instance = ob.TopicInstance.from_subscriptions(
        {"n0": ["shared", "b", "c"], "n1": ["shared"], "n2": ["b"], "n3": ["b"]}
    )
    interest, rank = twins.interest_of(instance), twins.rank_by("lowest", 0)
    parts = twins.random_parts(interest, 1, 2, seed=0)
    printed = twins.representatives(interest, rank, parts, 3, as_printed=True)
    assert all(1 not in edge for edge in twins.potential_edges([0], printed))
    assert 1 in divided(instance, 1, 2, 3, seed=0).representatives
    assert (0, 1) in edges(dcbr_m(instance, eta=1, partitions=2))


@property_test(200, topic_instances(max_nodes=12))
def test_the_default_threshold_is_the_least_that_leaves_a_fifth_bulk(instance: ob.TopicInstance) -> None:
    assert bulk_threshold(instance) == twins.default_eta(twins.interest_of(instance))
    result = DCB_M.run(instance, ob.PROBLEMS["minmax-tco"])
    assert result.counters["eta"] == bulk_threshold(instance)
    assert 5 * float(result.counters["bulk"]) <= instance.num_nodes


@property_test(200, instance=topic_instances(max_nodes=12), **PARAMETERS)
def test_pn_ratio_equals_its_count(
    instance: ob.TopicInstance, eta: int, partitions: int, coverage: int, seed: int
) -> None:
    interest, rank = twins.interest_of(instance), twins.rank_by("lowest", 0)
    division = divided(instance, eta, partitions, coverage, seed)
    bulk, parts = twins.bulk_nodes(interest, eta), twins.random_parts(interest, eta, partitions, seed)
    chosen = twins.representatives(interest, rank, parts, coverage)
    known = twins.potential_neighbours(bulk, parts, chosen)
    assert division.pn_ratio == max(known) / instance.num_nodes
    combining = len(twins.potential_edges(bulk, chosen))
    within = [len(part) * (len(part) - 1) // 2 for part in parts] or [0]
    assert division.pairs == combining + sum(within)


@pytest.mark.parametrize("aim", AIMS)
def test_the_number_of_parts_chosen_serves_the_aim_best(aim: str) -> None:
    instance = ob.WORKLOADS["uniform-varying"].generate(seed=1, nodes=300, topics=40, least=2, most=12)
    order = tie_order("lowest", 0)
    result = DCBR_M.run(instance, ob.PROBLEMS["minmax-tco"], aim=aim, seed=5)
    light = np.flatnonzero(np.diff(instance.node_offsets) <= bulk_threshold(instance)).astype(np.int32)
    tried = {
        parts: AIMS[aim](divide(instance, random_order(light, 5), parts, 3, order))
        for parts in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192)
    }
    assert result.counters["partitions"] == min(tried, key=lambda parts: tried[parts])
    assert tried[int(result.counters["partitions"])] < min(tried[1], tried[192])


def test_the_estimates_of_lemma_16_and_equation_11() -> None:
    partition = Partition(np.array([-1, 0, 0, 0, 1, 1, 1], np.int32), 2)
    division = Division(partition, np.array([1, 4], np.int32))
    assert AIMS["lemma-16"](division) == (1 + 2) ** 4 + 6**4 / 2**3
    assert AIMS["equation-11"](division) == (1 + 2) ** 4 + 6**4 / 2**4


@pytest.mark.parametrize("name", FAMILY)
def test_the_overlay_is_the_same_whatever_the_mapper(name: str) -> None:
    calls: list[int] = []

    def elsewhere(function: Callable[[Any], Any], parts: Iterable[Any]) -> list[Any]:
        """Last part first, all pickled as for another process."""
        sent = [pickle.dumps((function, part)) for part in parts]
        calls.append(len(sent))
        answers = []
        for parcel in reversed(sent):
            run, part = pickle.loads(parcel)
            answers.append(pickle.loads(pickle.dumps(run(part))))
        return answers[::-1]

    instance = middling(4)
    for ties in TIES:
        here, there = (
            FAMILY[name](instance, partitions=4, ties=ties, seed=2, mapper=mapper) for mapper in (map, elsewhere)
        )
        assert here == there
    assert calls == [4, 4, 4]


def test_options_out_of_range_are_bad_input() -> None:
    wrong: dict[str, Any] = {"ties": "any", "eta": -1, "partitions": -2, "coverage": 0, "aim": "speed"}
    for name, method in FAMILY.items():
        for option in ("ties", *options_of(name, 1, 1, 1), *["aim"] * (name == "dcbr-m")):
            with pytest.raises(ob.BadInput, match=option):
                method(middling(0), **{option: wrong[option]})


def divided(
    instance: ob.TopicInstance, eta: int, partitions: int, coverage: int, seed: int, ties: str = "lowest"
) -> Division:
    light: Ids = np.flatnonzero(np.diff(instance.node_offsets) <= eta).astype(np.int32)
    return divide(instance, random_order(light, seed), min(partitions, len(light)), coverage, tie_order(ties, seed))


def edges(overlay: ob.Overlay) -> set[twins.Edge]:
    return {(int(u), int(v)) for u, v in overlay.edges}


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


def test_messages_and_entries_are_those_counted_by_hand() -> None:
    # Part 0 has n0 and n1, part 1 has n2; n3 is bulk. All of a, b are outward topics.
    instance = ob.TopicInstance.from_subscriptions({"n0": ["a"], "n1": ["a", "b"], "n2": ["b"], "n3": ["a", "b", "c"]})
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


def test_one_part_of_all_nodes_is_gm_m_and_every_node_knows_all() -> None:
    instance = middling(1)
    partition = drawn_partition(instance, 99, 1, 0)
    found = decentralised(instance, partition, 3, EXTENSIONS["table"], tie_order("lowest", 0))
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
    result = GM_M.run(ob.TopicInstance.from_subscriptions(wants), ob.PROBLEMS["minmax-tco"], data="table")
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
    result = GM_M.run(instance, ob.PROBLEMS["minmax-tco"], ties=ties, data="table")
    work = {name: int(result.counters[f"table_{name}"]) for name in WORK}
    assert work["contribution_updates"] == work["initial"] - int(result.counters["merges"])
    assert (
        work["degree_updates"] <= work["degree_looks"] <= 2 * (instance.num_nodes - 1) * int(result.counters["steps"])
    )
    assert result.counters["counted"] == 0


def test_more_nodes_than_the_table_holds_are_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contribution_table, "MOST_NODES", 2)
    with pytest.raises(ob.BadInput, match="at most 2 nodes, not of 3: use data=rows"):
        gm_m(ob.TopicInstance.from_subscriptions({"a": ["t"], "b": ["t"], "c": ["t"]}), data="table")
