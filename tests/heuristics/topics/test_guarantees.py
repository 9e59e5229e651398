"""The guarantees of the papers, on any instance."""

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.heuristics.topics.greedy_merge import GREEDY_MERGE, greedy_merge
from overlaybench.heuristics.topics.merge.gm_m import gm_m
from overlaybench.heuristics.topics.merge.low_oda import low_oda
from overlaybench.heuristics.topics.merge.minmax_oda import MINMAX_ODA, minmax_oda
from overlaybench.heuristics.topics.ring_per_topic import ORDERS, ring_per_topic
from overlaybench.heuristics.topics.tie_breaking.ties import RULES
from overlaybench.instances.contract.catalogue import PROBLEMS, methods_of
from overlaybench.instances.topics.constructions import CONSTRUCTIONS, SET_COVER_CONSTRUCTIONS
from tests.heuristics.topics import twins
from tests.properties import property_test
from tests.topic_strategies import TopicMethod, topic_instances

pytestmark = pytest.mark.interpreted  # the slow cases of larger instances compile the same kernels

HEURISTICS = tuple(
    method
    for method in methods_of("overlaybench.heuristics.topics")
    if not method.anytime and PROBLEMS[method.problems[0]].kind == "topics"
)

BY_NAME = {method.name: method for method in HEURISTICS}
DIVIDED = ("naive-dc", "dcb-m", "dcbr-m", "dc-gm")
GREEDY = [method.name for method in HEURISTICS if any(option.name == "ties" for option in method.options)]


def middling(seed: int, nodes: int = 40, topics: int = 15, most: int = 8) -> ob.TopicInstance:
    rng = np.random.default_rng(seed)
    return ob.TopicInstance.from_subscriptions(
        {f"n{v}": [f"t{t}" for t in rng.choice(topics, rng.integers(1, most + 1), replace=False)] for v in range(nodes)}
    )


@property_test(100, instance=topic_instances(max_nodes=9), data=st.data())
@pytest.mark.parametrize("method", HEURISTICS, ids=lambda method: method.name)
def test_every_answer_is_valid(method: TopicMethod, instance: ob.TopicInstance, data: st.DataObject) -> None:
    ties = data.draw(st.sampled_from(["lowest", "highest", "random"]))
    options: dict[str, Any] = {"ties": ties} if method.name in GREEDY else {}
    for problem in method.problems:
        result = method.run(instance, PROBLEMS[problem], seed=data.draw(st.integers(0, 3)), **options)
        assert result.status is ob.Status.FEASIBLE, result.reason


@property_test(200, topic_instances(max_nodes=9), st.sampled_from(ORDERS), st.integers(0, 3))
def test_rings_are_valid_and_have_twice_the_topics_as_degree(instance: ob.TopicInstance, order: str, seed: int) -> None:
    overlay = ring_per_topic(instance, order=order, seed=seed)
    assert (overlay.topic_components(instance) == 1).all()
    assert (overlay.degrees <= 2 * np.diff(instance.node_offsets)).all()
    assert twins.edges(ring_per_topic(instance)) == twins.ring_per_topic(twins.interest_of(instance))


def test_the_orders_of_ring_per_topic_differ_and_the_seed_decides_the_random_ones() -> None:
    instance = middling(0)
    rings = {(order, seed): ring_per_topic(instance, order=order, seed=seed) for order in ORDERS for seed in (0, 1)}
    assert rings["number", 0] == rings["number", 1] == ring_per_topic(instance)
    assert len({overlay.edges.tobytes() for overlay in rings.values()}) == 5
    assert rings["random", 1] == ring_per_topic(instance, order="random", seed=1)
    with pytest.raises(ob.BadInput, match="unknown value 'reverse' of option 'order'"):
        ring_per_topic(instance, order="reverse")


def test_runs_of_greedy_merge_end_when_every_useful_pair_is_an_edge() -> None:
    instance = ob.TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(4)} | {"n4": ["b"]})
    result = GREEDY_MERGE.run(instance, PROBLEMS["min-tco"], runs=50)
    assert result.value == 6
    assert float(result.counters["runs"]) <= 6


@property_test(100, topic_instances(max_nodes=9))
def test_the_greedy_steps_are_the_edges(instance: ob.TopicInstance) -> None:
    for name in ("gm", "minmax-oda", "gm-m", "low-oda", *DIVIDED):
        result = BY_NAME[name].run(instance, PROBLEMS["min-tco"])
        assert result.counters["steps"] == result.value
        assert result.counters["merges"] == instance.num_subscriptions - instance.num_topics


@pytest.mark.parametrize("name", [name for name in GREEDY if name != "gm2"])
def test_random_ties_reach_the_choice_of_every_candidate(name: str) -> None:
    instance = ob.TopicInstance.from_subscriptions({"n0": ["a"], "n1": ["a"], "n2": ["a"]})
    answers = {
        BY_NAME[name].run(instance, PROBLEMS[BY_NAME[name].problems[0]], seed=s, ties="random").answer
        for s in range(40)
    }
    assert {tuple(map(tuple, answer.edges.tolist())) for answer in answers if answer is not None} == {
        ((0, 1), (0, 2)),
        ((0, 1), (1, 2)),
        ((0, 2), (1, 2)),
    }


@pytest.mark.parametrize(
    ("seed", "nodes"), [(0, 60), *(pytest.param(s, 200, marks=pytest.mark.slow) for s in range(5))]
)
def test_low_oda_lies_between_greedy_merge_and_gm_m(seed: int, nodes: int) -> None:
    instance = middling(seed, nodes, topics=30)
    assert low_oda(instance, k=1e6) == gm_m(instance)
    assert low_oda(instance, k=1).num_edges <= 1.1 * greedy_merge(instance).num_edges
    assert gm_m(instance).max_degree < greedy_merge(instance).max_degree


def test_minmax_oda_adds_edges_that_do_not_contribute_and_gm_m_does_not() -> None:
    # n0 needs three links; after its first, MinMax-ODA pairs the two that are left though they share nothing.
    instance = ob.TopicInstance.from_subscriptions({"n0": ["a", "b", "c"], "n1": ["a"], "n2": ["b"], "n3": ["c"]})
    assert gm_m(instance).edges.tolist() == [[0, 1], [0, 2], [0, 3]]
    assert minmax_oda(instance).edges.tolist() == [[0, 1], [0, 2], [0, 3], [1, 3], [2, 3]]
    assert MINMAX_ODA.run(instance, PROBLEMS["min-tco"]).counters["idle_edges"] == 2


def test_the_functions_themselves_refuse_bad_options() -> None:
    instance = middling(0)
    with pytest.raises(ob.BadInput, match="unknown value 'any' of option 'ties'"):
        greedy_merge(instance, ties="any")
    for k in (0.5, -1.0, float("nan"), float("inf")):
        with pytest.raises(ob.BadInput, match="'k' must lie from 1"):
            low_oda(instance, k=k)
    with pytest.raises(ob.BadInput, match="'runs' must be at least 1"):
        greedy_merge(instance, runs=0)


@property_test(100, instance=topic_instances(), seed=st.integers(-5, 2**40), ties=st.sampled_from(RULES))
def test_several_runs_of_greedy_merge_equal_their_twin(instance: ob.TopicInstance, seed: int, ties: str) -> None:
    twin = twins.greedy_merge(twins.interest_of(instance), twins.rank_by(ties, seed), runs=3)
    assert twins.edges(greedy_merge(instance, ties=ties, seed=seed, runs=3)) == twin


def test_every_construction_is_compared() -> None:
    named = {workload.name for workload in (*CONSTRUCTIONS, *SET_COVER_CONSTRUCTIONS)}
    assert {label.split()[0] for label in twins.CONSTRUCTED} == named
