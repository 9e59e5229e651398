"""The guarantees of the papers, on any instance."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import strategies as st

from overlaybench.heuristics.topics.cd_oda import cd_oda, cd_oda_1, cd_oda_2
from overlaybench.heuristics.topics.gm_m import gm_m
from overlaybench.heuristics.topics.greedy_merge import GREEDY_MERGE, greedy_merge
from overlaybench.heuristics.topics.low_oda import low_oda
from overlaybench.heuristics.topics.minmax_oda import MINMAX_ODA, minmax_oda
from overlaybench.heuristics.topics.ring_per_topic import ORDERS, ring_per_topic
from overlaybench.heuristics.topics.two_diameter_oda import two_diameter_oda
from overlaybench.instances.contract.catalogue import PROBLEMS, methods_of
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.method import Method
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.contract.result import Status
from overlaybench.instances.topics.constructions import (
    CONSTRUCTIONS,
    SET_COVER_CONSTRUCTIONS,
    case_seven,
    greedy_merge_cuboid,
    minmax_oda_matchings,
    nested_subscriptions,
    weighted_nested_subscriptions,
)
from overlaybench.instances.topics.instance import TopicInstance
from tests.heuristics.topics import twins
from tests.heuristics.topics.twins import CONSTRUCTED
from tests.properties import property_test
from tests.topic_strategies import topic_instances

HEURISTICS = tuple(method for method in methods_of("overlaybench.heuristics.topics") if not method.anytime)

BY_NAME = {method.name: method for method in HEURISTICS}
DIAMETER_TWO = ("cd-oda", "cd-oda-1", "cd-oda-2", "2d-oda")
DIVIDED = ("naive-dc", "dcb-m", "dcbr-m", "dc-gm")
NEXT_DOOR = {"weighted-gm", "mst-per-topic", "gm2", "harary-per-topic"}
GREEDY = [method.name for method in HEURISTICS if any(option.name == "ties" for option in method.options)]


def middling(seed: int, nodes: int = 40, topics: int = 15, most: int = 8) -> TopicInstance:
    rng = np.random.default_rng(seed)
    return TopicInstance.from_subscriptions(
        {f"n{v}": [f"t{t}" for t in rng.choice(topics, rng.integers(1, most + 1), replace=False)] for v in range(nodes)}
    )


def test_every_heuristic_of_the_papers_has_its_name() -> None:
    papers = {"gm", "ring-per-topic", "minmax-oda", "gm-m", "low-oda", *DIVIDED, *DIAMETER_TWO}
    assert set(BY_NAME) == papers | NEXT_DOOR


@property_test(100, instance=topic_instances(max_nodes=9), data=st.data())
@pytest.mark.parametrize("method", HEURISTICS, ids=lambda method: method.name)
def test_every_answer_is_valid_for_every_problem(
    method: Method[TopicInstance, Overlay], instance: TopicInstance, data: st.DataObject
) -> None:
    ties = data.draw(st.sampled_from(["lowest", "highest", "random"]))
    options: dict[str, Any] = {"ties": ties} if method.name in GREEDY else {}
    for problem in method.problems:
        result = method.run(instance, PROBLEMS[problem], seed=data.draw(st.integers(0, 3)), **options)
        assert result.status is Status.FEASIBLE, result.reason


def test_only_the_diameter_two_heuristics_answer_diameter_two_problems() -> None:
    for method in HEURISTICS:
        assert ("2d-star" in method.problems) == ("2d-true" in method.problems) == (method.name in DIAMETER_TWO)
        assert ({"min-tco", "minmax-tco", "low-tco"} <= set(method.problems)) == (method.name not in NEXT_DOOR)


@property_test(200, topic_instances(max_nodes=9), st.sampled_from(ORDERS), st.integers(0, 3))
def test_ring_per_topic_is_valid_and_has_degree_at_most_twice_the_subscription(
    instance: TopicInstance, order: str, seed: int
) -> None:
    overlay = ring_per_topic(instance, order=order, seed=seed)
    assert (overlay.topic_components(instance) == 1).all()
    assert (overlay.degrees <= 2 * np.diff(instance.node_offsets)).all()


def test_the_orders_of_ring_per_topic_differ_and_the_seed_decides_the_random_ones() -> None:
    instance = middling(0)
    rings = {(order, seed): ring_per_topic(instance, order=order, seed=seed) for order in ORDERS for seed in (0, 1)}
    assert rings["number", 0] == rings["number", 1] == ring_per_topic(instance)
    assert len({overlay.edges.tobytes() for overlay in rings.values()}) == 5
    assert rings["random", 1] == ring_per_topic(instance, order="random", seed=1)
    with pytest.raises(BadInput, match="value of option 'order'"):
        ring_per_topic(instance, order="reverse")


def test_one_order_for_all_topics_shares_the_ring_of_equal_subscriptions() -> None:
    alike = TopicInstance.from_subscriptions({f"n{v}": ["a", "b"] for v in range(12)})
    assert ring_per_topic(alike, order="random").num_edges == 12
    assert ring_per_topic(alike, order="random-per-topic").num_edges > 12


@property_test(200, topic_instances(max_nodes=9))
def test_greedy_merge_adds_no_more_edges_than_lemma_6_2_allows(instance: TopicInstance) -> None:
    spanning_trees = instance.num_subscriptions - instance.num_topics
    assert greedy_merge(instance).num_edges <= min(instance.num_nodes**2, spanning_trees)


@property_test(100, topic_instances(max_nodes=9), st.integers(2, 4))
def test_every_further_run_of_greedy_merge_adds_new_edges_by_the_same_rule(instance: TopicInstance, runs: int) -> None:
    fewer, more = (
        GREEDY_MERGE.run(instance, PROBLEMS["min-tco"], runs=count, ties="random").answer for count in (runs - 1, runs)
    )
    assert fewer is not None
    assert more is not None
    kept, all_edges = (set(map(tuple, overlay.edges.tolist())) for overlay in (fewer, more))
    assert kept <= all_edges
    # The last run connects every topic as far as the remaining pairs can.
    added, unused = all_edges - kept, set(combinations(range(instance.num_nodes), 2)) - kept
    reached, reachable = (Overlay.from_edges(instance.num_nodes, edges) for edges in (sorted(added), sorted(unused)))
    assert (reached.topic_components(instance) == reachable.topic_components(instance)).all()


def test_several_runs_of_greedy_merge_shorten_paths_within_a_topic() -> None:
    instance = middling(2)
    one, three = (greedy_merge(instance, runs=runs).to_networkx() for runs in (1, 3))
    lengths = [nx.average_shortest_path_length(graph.subgraph(instance.subscribers(0))) for graph in (one, three)]
    assert lengths[1] < lengths[0]


def test_runs_of_greedy_merge_end_when_every_useful_pair_is_an_edge() -> None:
    instance = TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(4)} | {"n4": ["b"]})
    result = GREEDY_MERGE.run(instance, PROBLEMS["min-tco"], runs=50)
    assert result.value == 6
    assert float(result.counters["runs"]) <= 6


@property_test(100, topic_instances(max_nodes=9))
def test_the_greedy_steps_are_the_edges(instance: TopicInstance) -> None:
    for name in ("gm", "minmax-oda", "gm-m", "low-oda", *DIVIDED):
        result = BY_NAME[name].run(instance, PROBLEMS["min-tco"])
        assert result.counters["steps"] == result.value
        assert result.counters["merges"] == instance.num_subscriptions - instance.num_topics


@pytest.mark.parametrize("name", GREEDY)
@pytest.mark.parametrize("ties", ["lowest", "highest", "random"])
def test_the_same_seed_gives_the_same_overlay(name: str, ties: str) -> None:
    problem = PROBLEMS[BY_NAME[name].problems[0]]
    first, second = (BY_NAME[name].run(middling(1), problem, seed=5, ties=ties).answer for _ in range(2))
    assert first == second


@pytest.mark.parametrize("name", GREEDY)
def test_random_ties_depend_on_the_seed(name: str) -> None:
    # All nodes have the same topics: ties alone decide the centres and the edges.
    instance = TopicInstance.from_subscriptions({f"n{v}": ["a", "b"] for v in range(12)})
    problem = PROBLEMS[BY_NAME[name].problems[0]]
    answers = {BY_NAME[name].run(instance, problem, seed=seed, ties="random").answer for seed in range(10)}
    assert len(answers) > 1


@pytest.mark.parametrize("name", [name for name in GREEDY if name != "gm2"])
def test_random_ties_reach_the_choice_of_every_candidate(name: str) -> None:
    instance = TopicInstance.from_subscriptions({"n0": ["a"], "n1": ["a"], "n2": ["a"]})
    answers = {
        BY_NAME[name].run(instance, PROBLEMS[BY_NAME[name].problems[0]], seed=s, ties="random").answer
        for s in range(40)
    }
    assert {tuple(map(tuple, answer.edges.tolist())) for answer in answers if answer is not None} == {
        ((0, 1), (0, 2)),
        ((0, 1), (1, 2)),
        ((0, 2), (1, 2)),
    }


@property_test(50, instance=topic_instances(), data=st.data())
@pytest.mark.parametrize("method", HEURISTICS, ids=lambda method: method.name)
def test_new_names_in_the_same_order_change_nothing_but_names(
    method: Method[TopicInstance, Overlay], instance: TopicInstance, data: st.DataObject
) -> None:
    def names(count: int) -> list[str]:
        return sorted(data.draw(st.lists(st.text("abcxyz", min_size=1), min_size=count, max_size=count, unique=True)))

    nodes, topics = names(instance.num_nodes), names(instance.num_topics)
    renamed = TopicInstance.from_subscriptions(
        {nodes[v]: [topics[t] for t in instance.topics_of(v)] for v in range(instance.num_nodes)}
    )
    before, after = (method.run(i, PROBLEMS[method.problems[0]]).answer for i in (instance, renamed))
    assert before is not None
    assert after is not None
    new_name = {instance.node_label(v): nodes[v] for v in range(instance.num_nodes)}
    assert {frozenset(new_name[str(v)] for v in edge) for edge in before.to_networkx(instance).edges} == {
        frozenset(edge) for edge in after.to_networkx(renamed).edges
    }


@pytest.mark.parametrize("seed", range(5))
def test_low_oda_lies_between_greedy_merge_and_gm_m(seed: int) -> None:
    instance = middling(seed, nodes=200, topics=30)
    assert low_oda(instance, k=1e6) == gm_m(instance)
    assert low_oda(instance, k=1).num_edges <= 1.1 * greedy_merge(instance).num_edges
    assert gm_m(instance).max_degree < greedy_merge(instance).max_degree


@pytest.mark.parametrize(("k", "m"), [(2, 3), (3, 4), (4, 4), (5, 5)])
@pytest.mark.parametrize("ties", ["lowest", "highest", "random"])
def test_greedy_merge_takes_as_many_edges_as_lemma_6_6_counts(k: int, m: int, ties: str) -> None:
    assert greedy_merge(greedy_merge_cuboid(k=k, m=m), ties=ties).num_edges == 2 * k + k * m


@pytest.mark.parametrize("n", [5, 8, 11])
def test_cd_oda_may_build_the_complete_overlay_of_lemma_5(n: int) -> None:
    instance = nested_subscriptions(n=n)
    edges = {
        ties: BY_NAME["cd-oda"].run(instance, PROBLEMS["2d-true"], ties=ties).value for ties in ("lowest", "highest")
    }
    assert edges == {"lowest": n * (n - 1) / 2, "highest": n - 1}


@pytest.mark.parametrize("n", [3, 5])
def test_the_overlay_of_lemma_6_is_that_of_cd_oda_1_and_not_of_cd_oda_2(n: int) -> None:
    # A node u_i shares all its topics with v_i alone: it has the highest density, and CD-ODA-II begins with it.
    instance = weighted_nested_subscriptions(n=n)
    assert BY_NAME["cd-oda-1"].run(instance, PROBLEMS["2d-true"]).value == n * (n - 1) / 2 + n
    assert BY_NAME["cd-oda-2"].run(instance, PROBLEMS["2d-true"]).value == 2 * n - 1


@pytest.mark.parametrize("n", [6, 9, 14])
def test_case_seven_has_the_values_of_table_2(n: int) -> None:
    instance = case_seven(n=n)
    for name, edges in {"cd-oda": 2 * n - 5, "cd-oda-1": 2 * n - 5, "cd-oda-2": 2 * n - 5, "2d-oda": n}.items():
        assert BY_NAME[name].run(instance, PROBLEMS["2d-star"]).value == edges


@pytest.mark.parametrize("n", [8, 20])
def test_minmax_oda_takes_about_half_the_square_on_lemma_1(n: int) -> None:
    instance = minmax_oda_matchings(n=n)
    assert abs(minmax_oda(instance).num_edges - n * (n - 2) / 2) <= n / 4
    assert greedy_merge(instance).num_edges == n - 1


def test_minmax_oda_adds_edges_that_do_not_contribute_and_gm_m_does_not() -> None:
    # n0 needs three links; after its first, MinMax-ODA pairs the two that are left though they share nothing.
    instance = TopicInstance.from_subscriptions({"n0": ["a", "b", "c"], "n1": ["a"], "n2": ["b"], "n3": ["c"]})
    assert gm_m(instance).edges.tolist() == [[0, 1], [0, 2], [0, 3]]
    assert minmax_oda(instance).edges.tolist() == [[0, 1], [0, 2], [0, 3], [1, 3], [2, 3]]
    assert MINMAX_ODA.run(instance, PROBLEMS["min-tco"]).counters["idle_edges"] == 2


@pytest.mark.parametrize("name", GREEDY)
def test_an_unknown_rule_for_ties_is_bad_input(name: str) -> None:
    with pytest.raises(BadInput, match="did you mean 'lowest'"):
        BY_NAME[name].run(middling(0), PROBLEMS[BY_NAME[name].problems[0]], ties="lowes")


def test_the_functions_themselves_refuse_bad_options() -> None:
    instance = middling(0)
    with pytest.raises(BadInput, match="unknown value of option 'ties'"):
        greedy_merge(instance, ties="any")
    for k in (0.5, -1.0, float("nan"), float("inf")):
        with pytest.raises(BadInput, match="'k' must lie from 1"):
            low_oda(instance, k=k)
    with pytest.raises(BadInput, match="'runs' must be at least 1"):
        greedy_merge(instance, runs=0)


def test_a_lone_node_needs_no_edge() -> None:
    instance = TopicInstance.from_subscriptions({"n0": ["a", "b"]})
    for method in HEURISTICS:
        assert method.run(instance, PROBLEMS[method.problems[0]]).value == 0


def test_topics_of_one_subscriber_need_no_edge() -> None:
    instance = TopicInstance.from_subscriptions({"n0": ["a"], "n1": ["b"], "n2": ["c"]})
    for method in HEURISTICS:
        assert method.run(instance, PROBLEMS[method.problems[0]]).value == 0


def test_a_run_proves_nothing() -> None:
    result = GREEDY_MERGE.run(middling(3), PROBLEMS["min-tco"], time_limit=1e-9)
    assert result.status is Status.FEASIBLE
    assert result.lower_bound is None


PAIRS: dict[str, tuple[Callable[..., Overlay], Callable[..., set[twins.Edge]]]] = {
    "gm": (greedy_merge, twins.greedy_merge),
    "minmax-oda": (minmax_oda, twins.minmax_oda),
    "gm-m": (gm_m, twins.gm_m),
    "gm-m by table": (partial(gm_m, data="table"), twins.gm_m),
    "cd-oda": (cd_oda, twins.cd_oda),
    "cd-oda-1": (cd_oda_1, twins.cd_oda_1),
    "cd-oda-2": (cd_oda_2, twins.cd_oda_2),
    "2d-oda": (two_diameter_oda, twins.two_diameter_oda),
}
TIES = ("lowest", "highest", "random")
# The least k, k between and beyond small contributions, and k that are no exact floats.
FACTORS = (1.0, 1.5, 2.0, 3.0, 7 / 3, 0.1 + 0.2 + 1.7, 100.0)


@property_test(100, instance=topic_instances(), seed=st.integers(-5, 2**40))
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("name", PAIRS)
def test_heuristic_equals_its_twin(name: str, ties: str, instance: TopicInstance, seed: int) -> None:
    method, twin = PAIRS[name]
    assert edges(method(instance, ties=ties, seed=seed)) == twin(twins.interest_of(instance), twins.rank_by(ties, seed))


@property_test(150, instance=topic_instances(), seed=st.integers(0, 99), k=st.sampled_from(FACTORS) | st.floats(1, 8))
@pytest.mark.parametrize("ties", TIES)
def test_low_oda_equals_its_twin(ties: str, instance: TopicInstance, seed: int, k: float) -> None:
    rank = twins.rank_by(ties, seed)
    assert edges(low_oda(instance, k=k, ties=ties, seed=seed)) == twins.low_oda(
        twins.interest_of(instance), rank, Fraction(k)
    )


@property_test(100, instance=topic_instances(), seed=st.integers(0, 99), runs=st.integers(2, 4))
@pytest.mark.parametrize("ties", TIES)
def test_runs_of_greedy_merge_equal_their_twin(ties: str, instance: TopicInstance, seed: int, runs: int) -> None:
    assert edges(greedy_merge(instance, runs=runs, ties=ties, seed=seed)) == twins.greedy_merge_runs(
        twins.interest_of(instance), twins.rank_by(ties, seed), runs
    )


@property_test(200, topic_instances())
def test_ring_per_topic_equals_its_twin(instance: TopicInstance) -> None:
    assert edges(ring_per_topic(instance)) == twins.ring_per_topic(twins.interest_of(instance))


def test_every_construction_is_compared() -> None:
    named = {workload.name for workload in (*CONSTRUCTIONS, *SET_COVER_CONSTRUCTIONS)}
    assert {label.split()[0] for label in CONSTRUCTED} == named


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("name", [*PAIRS, "low-oda", "gm in 3 runs", "ring-per-topic"])
@pytest.mark.parametrize("construction", CONSTRUCTED)
def test_heuristic_equals_its_twin_on_every_construction(construction: str, name: str, ties: str) -> None:
    check(CONSTRUCTED[construction], name, ties, seed=1)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("name", [*PAIRS, "low-oda"])
@pytest.mark.parametrize(("nodes", "topics", "most"), [(14, 5, 3), (12, 20, 10), (18, 9, 5), (16, 2, 2)])
def test_heuristic_equals_its_twin_on_larger_instances(
    nodes: int, topics: int, most: int, name: str, ties: str
) -> None:
    for seed in range(3):
        check(middling(seed, nodes, topics, most), name, ties, seed)


def check(instance: TopicInstance, name: str, ties: str, seed: int) -> None:
    interest, rank = twins.interest_of(instance), twins.rank_by(ties, seed)
    if name == "low-oda":
        assert edges(low_oda(instance, k=2.5, ties=ties, seed=seed)) == twins.low_oda(interest, rank, Fraction(5, 2))
    elif name == "gm in 3 runs":
        assert edges(greedy_merge(instance, runs=3, ties=ties, seed=seed)) == twins.greedy_merge_runs(interest, rank, 3)
    elif name == "ring-per-topic":
        assert edges(ring_per_topic(instance)) == twins.ring_per_topic(interest)
    else:
        method, twin = PAIRS[name]
        assert edges(method(instance, ties=ties, seed=seed)) == twin(interest, rank)


def edges(overlay: Overlay) -> set[twins.Edge]:
    return {(int(u), int(v)) for u, v in overlay.edges}
