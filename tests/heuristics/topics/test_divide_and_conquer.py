"""P3's divide and conquer: twins, special cases, and the statements of the paper."""

import pickle
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.heuristics.topics.merge.divide_and_conquer import (
    AIMS,
    DCB_M,
    DCBR_M,
    Division,
    Partition,
    bulk_threshold,
    dc_gm,
    dcb_m,
    dcbr_m,
    divide,
    naive_dc,
    random_order,
)
from overlaybench.heuristics.topics.tie_breaking.ties import tie_order
from overlaybench.instances.contract.arrays import Ids
from tests.heuristics.topics import twins
from tests.heuristics.topics.test_guarantees import middling
from tests.properties import property_test
from tests.topic_strategies import topic_instances

TIES = ("lowest", "highest", "random")
FAMILY: dict[str, Callable[..., ob.Overlay]] = {"naive-dc": naive_dc, "dcb-m": dcb_m, "dcbr-m": dcbr_m, "dc-gm": dc_gm}


class Given(NamedTuple):
    """The parameters of a division."""

    eta: int
    partitions: int
    coverage: int
    seed: int


GIVEN = st.builds(Given, st.integers(1, 7), st.integers(1, 9), st.integers(1, 4), st.integers(-5, 2**40))


def overlay_of_twin(name: str, instance: ob.TopicInstance, ties: str, given: Given) -> set[twins.Edge]:
    interest, rank = twins.interest_of(instance), twins.rank_by(ties, given.seed)
    eta = 10**6 if name == "naive-dc" else given.eta
    parts = twins.random_parts(interest, eta, given.partitions, given.seed)
    if name in ("naive-dc", "dcb-m"):
        return twins.dcb_m(interest, rank, eta, parts)
    select = twins.any_degree if name == "dc-gm" else twins.least_raising
    return twins.dcbr_m(interest, rank, eta, parts, given.coverage, select)


def options_of(name: str, given: Given) -> dict[str, Any]:
    left_out = {"naive-dc": {"eta", "coverage"}, "dcb-m": {"coverage"}}.get(name, set())
    return {option: value for option, value in given._asdict().items() if option not in left_out}


@property_test(150, instance=topic_instances(max_nodes=12), given=GIVEN)
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("name", FAMILY)
def test_divide_and_conquer_equals_its_twin(name: str, ties: str, instance: ob.TopicInstance, given: Given) -> None:
    built = FAMILY[name](instance, **options_of(name, given), ties=ties)
    assert twins.edges(built) == overlay_of_twin(name, instance, ties, given)


@pytest.mark.parametrize("name", ["dcbr-m", "dc-gm"])
def test_degrees_within_parts_may_exceed_the_number_of_nodes_combined(name: str) -> None:
    # One representative, the hub of its part, and one bulk node: they share two topics and must be linked.
    wants = {f"n{v}": ["a", "b"] for v in range(8)} | {"z": ["a", "b", "c"]}
    instance = ob.TopicInstance.from_subscriptions(wants)
    built = FAMILY[name](instance, eta=2, partitions=1, coverage=1)
    assert ob.PROBLEMS["min-tco"].violations(instance, built) == []
    assert twins.edges(built) == overlay_of_twin(name, instance, "lowest", Given(2, 1, 1, seed=0))


@pytest.mark.parametrize("name", FAMILY)
def test_divide_and_conquer_equals_its_twin_on_every_construction(name: str) -> None:
    for label, instance in twins.CONSTRUCTED.items():
        given = Given(bulk_threshold(instance), 2, 2, seed=3)
        built = FAMILY[name](instance, **options_of(name, given), ties="random")
        assert twins.edges(built) == overlay_of_twin(name, instance, "random", given), label


@property_test(150, instance=topic_instances(max_nodes=12), given=GIVEN)
@pytest.mark.parametrize("ties", TIES)
def test_parts_and_representatives_equal_their_twins(ties: str, instance: ob.TopicInstance, given: Given) -> None:
    interest, rank = twins.interest_of(instance), twins.rank_by(ties, given.seed)
    division = divided(instance, given, ties)
    parts = twins.random_parts(interest, given.eta, given.partitions, given.seed)
    assert [part.tolist() for part in division.partition.parts()] == parts
    chosen = twins.representatives(interest, rank, parts, given.coverage)
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
    assert 1 in divided(instance, Given(1, 2, 3, seed=0)).representatives
    assert (0, 1) in twins.edges(dcbr_m(instance, eta=1, partitions=2))


@property_test(200, topic_instances(max_nodes=12))
def test_the_default_threshold_is_the_least_that_leaves_a_fifth_bulk(instance: ob.TopicInstance) -> None:
    assert bulk_threshold(instance) == twins.default_eta(twins.interest_of(instance))
    result = DCB_M.run(instance, ob.PROBLEMS["minmax-tco"])
    assert result.counters["eta"] == bulk_threshold(instance)
    assert 5 * float(result.counters["bulk"]) <= instance.num_nodes


@property_test(200, instance=topic_instances(max_nodes=12), given=GIVEN)
def test_pn_ratio_equals_its_count(instance: ob.TopicInstance, given: Given) -> None:
    interest, rank = twins.interest_of(instance), twins.rank_by("lowest", 0)
    division, bulk = divided(instance, given), twins.bulk_nodes(interest, given.eta)
    parts = twins.random_parts(interest, given.eta, given.partitions, given.seed)
    chosen = twins.representatives(interest, rank, parts, given.coverage)
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
        for option in {"ties", *options_of(name, Given(1, 1, 1, 1)), *["aim"] * (name == "dcbr-m")} - {"seed"}:
            with pytest.raises(ob.BadInput, match=option):
                method(middling(0), **{option: wrong[option]})


def divided(instance: ob.TopicInstance, given: Given, ties: str = "lowest") -> Division:
    light: Ids = np.flatnonzero(np.diff(instance.node_offsets) <= given.eta).astype(np.int32)
    order, parts = random_order(light, given.seed), min(given.partitions, len(light))
    return divide(instance, order, parts, given.coverage, tie_order(ties, given.seed))
