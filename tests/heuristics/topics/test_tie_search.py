"""Extremes over all ways to break ties, and traces: every step is greedy by the definition."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.heuristics.topics.ring_per_topic import ORDERS
from overlaybench.heuristics.topics.tie_breaking import tie_search
from overlaybench.heuristics.topics.tie_breaking.greedy_rule import EdgeRule
from overlaybench.heuristics.topics.tie_breaking.ties import RULES
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS, methods_of
from overlaybench.instances.contract.result import Status, Trace
from overlaybench.instances.topics.constructions import minmax_oda_matchings, nested_subscriptions
from tests.compare.atlas.test_every_tie import ends_of
from tests.heuristics.topics import twins
from tests.heuristics.topics.test_guarantees import BY_NAME, HEURISTICS, middling
from tests.outcomes import answer_of, known
from tests.properties import property_test
from tests.topic_strategies import topic_instances

SEARCHED = [method.name for method in HEURISTICS if isinstance(method.solve, tie_search.SolveUnderTies)]


def steps_of(name: str, instance: ob.TopicInstance) -> tie_search.GreedySteps:
    """The method's steps with its default options."""
    method = BY_NAME[name]
    assert isinstance(method.solve, tie_search.SolveUnderTies)
    options = method.complete({}, "min-tco")
    return method.solve.steps(instance, **{name: value for name, value in options.items() if name != "ties"})


@property_test(6, instance=topic_instances(max_nodes=4, max_topics=4), data=st.data(), quick=2)
@pytest.mark.parametrize("name", SEARCHED)
def test_extremes_are_those_over_all_choices(name: str, instance: ob.TopicInstance, data: st.DataObject) -> None:
    problem = PROBLEMS[data.draw(st.sampled_from(["min-tco", "minmax-tco", "low-tco"]))]
    steps = steps_of(name, instance)
    ends = [ob.Overlay.from_edges(instance.num_nodes, steps.edges_of(end)) for _, end in ends_of(steps, steps.start())]
    values = {problem.value(instance, overlay) for overlay in ends}
    for extreme, expected in (("best", min(values)), ("worst", max(values))):
        assert problem.value(instance, tie_search.extreme_ties(steps, problem, extreme).overlay) == expected


def test_a_search_that_stops_early_fails_and_names_its_limit() -> None:
    instance = minmax_oda_matchings(n=6)
    with pytest.raises(tie_search.TooManyStates, match="more than 50"):
        tie_search.extreme_ties(steps_of("minmax-oda", instance), PROBLEMS["min-tco"], "worst", most_states=50)
    result = BY_NAME["minmax-oda"].run(minmax_oda_matchings(n=8), PROBLEMS["min-tco"], ties="worst", time_limit=0.05)
    assert result.status is Status.FAILED
    assert "time limit" in result.reason


def test_divide_and_conquer_and_several_runs_have_no_exhaustive_ties() -> None:
    instance = nested_subscriptions(n=4)
    with pytest.raises(ob.BadInput, match="'ties'"):
        BY_NAME["dcb-m"].run(instance, PROBLEMS["min-tco"], ties="worst")
    with pytest.raises(ob.BadInput, match="one run"):
        BY_NAME["gm"].run(instance, PROBLEMS["min-tco"], ties="best", runs=2)


TRACED = {m.name: m for m in methods_of("overlaybench.heuristics.topics") if "trace" in m.inputs}
GREEDY: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in SEARCHED},
    # The least k, one between small contributions, and one that is no exact float.
    **{f"low-oda k={k}": ("low-oda", {"k": k}) for k in (1.0, 2.5, 0.1 + 0.2 + 1.7)},
}
LARGER = [[middling(seed, *sizes) for seed in range(3)] for sizes in ((14, 5, 3), (12, 20, 10), (18, 9, 5), (16, 2, 2))]
SCORES = {"neighbours": 0, "weighted neighbours": 1, "connection density": 2, "neighbours, negated": 3}


def trace_and_overlay(
    name: str, instance: ob.TopicInstance, ties: str = "lowest", seed: int = 0, **options: Any
) -> tuple[Trace, ob.Overlay]:
    """A trace repeats a run step by step in plain Python, and fails if its overlay is another one."""
    orders = dict(zip(RULES, ORDERS, strict=True))
    options |= {"ties": ties} if name != "ring-per-topic" else {"order": orders[ties]}
    result = TRACED[name].run(instance, PROBLEMS["min-tco"], seed=seed, trace=True, **options)
    return known(result.trace), answer_of(result)


@property_test(100, instance=topic_instances(), seed=st.integers(-5, 2**40))
@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("name", GREEDY)
def test_a_method_builds_the_overlay_of_its_steps(name: str, ties: str, instance: ob.TopicInstance, seed: int) -> None:
    method, options = GREEDY[name]
    trace_and_overlay(method, instance, ties, seed, **options)


@pytest.mark.parametrize(
    ("ties", "seeds"), [("random", 1), *(pytest.param(each, 3, marks=pytest.mark.slow) for each in RULES)]
)
@pytest.mark.parametrize("name", GREEDY)
def test_it_does_so_on_constructions_and_larger_instances(name: str, ties: str, seeds: int) -> None:
    method, options = GREEDY[name]
    for instances in (*([one] for one in twins.CONSTRUCTED.values()), *(LARGER if seeds > 1 else LARGER[:2])):
        for seed, instance in enumerate(instances[:seeds]):
            trace_and_overlay(method, instance, ties, seed, **options)


@property_test(300, topic_instances(), st.sampled_from(sorted(TRACED)), st.sampled_from(RULES))
def test_the_steps_add_each_edge_of_the_overlay_once(instance: ob.TopicInstance, name: str, ties: str) -> None:
    trace, overlay = trace_and_overlay(name, instance, ties, seed=5)
    edges = [edge for step in trace for edge in step.edges]
    assert sorted(edges) == [tuple(edge) for edge in overlay.edges.tolist()]
    assert all(step.ties >= 1 for step in trace)
    degrees = np.zeros(instance.num_nodes, dtype=int)
    for step in trace:
        for edge in step.edges:
            degrees[list(edge)] += 1
        assert step.degrees == tuple(degrees[list(step.nodes)])


@property_test(100, topic_instances(max_nodes=6), st.sampled_from(RULES))
@pytest.mark.parametrize("name", ["gm", "gm-m", "minmax-oda", "low-oda"])
def test_every_edge_chosen_contributes_most_of_those_allowed(name: str, instance: ob.TopicInstance, ties: str) -> None:
    trace, _ = trace_and_overlay(name, instance, ties)
    interest, edges = twins.interest_of(instance), set[twins.Edge]()
    for step in trace:
        of_all, degrees = twins.contributions(interest, edges), ob.Overlay.from_edges(instance.num_nodes, edges).degrees
        raised = {pair: max(degrees.max(), *(degrees[list(pair)] + 1)) for pair in of_all}
        useful = [pair for pair in of_all if name != "gm-m" or of_all[pair]]
        lowest = min(raised[pair] for pair in useful)
        low = max(of_all[pair] for pair in useful if raised[pair] == lowest)
        high = max(of_all.values())
        if name == "gm" or (name == "low-oda" and 3 * low < high):
            equal = [pair for pair, gain in of_all.items() if gain == high]
        else:
            equal = [pair for pair in useful if raised[pair] == lowest and of_all[pair] == low]
        assert step.nodes in equal
        assert step.ties == len(equal)
        assert step.gain == of_all[step.edges[0]] == len(step.topics)
        edges.add(step.edges[0])
    assert not any(twins.contributions(interest, edges).values())


@property_test(100, topic_instances(), st.sampled_from(RULES))
@pytest.mark.parametrize("name", ["cd-oda", "cd-oda-1", "cd-oda-2", "cd-max"])
def test_every_centre_chosen_has_the_highest_score(name: str, instance: ob.TopicInstance, ties: str) -> None:
    trace, _ = trace_and_overlay(name, instance, ties)
    left = set(range(instance.num_topics))
    for step in trace:
        scores = []
        for v in range(instance.num_nodes):
            stars = [set(instance.subscribers(t).tolist()) for t in instance.topics_of(v).tolist() if t in left]
            neighbours, weighted = len(set().union(*stars)), sum(map(len, stars))
            every = neighbours, weighted, weighted / max(neighbours, 1), -neighbours
            scores.append(every[SCORES[trace.measure]] if stars else -math.inf)
        assert step.gain == pytest.approx(scores[step.nodes[0]]) == pytest.approx(max(scores))
        assert step.ties == sum(score == max(scores) for score in scores)
        assert set(step.topics) == left & set(instance.topics_of(step.nodes[0]).tolist())
        left -= set(step.topics)
    assert not left


@property_test(100, topic_instances(), st.sampled_from(RULES))
def test_every_star_of_2d_oda_has_the_highest_topic_density(instance: ob.TopicInstance, ties: str) -> None:
    trace, _ = trace_and_overlay("2d-oda", instance, ties)
    left, adjacent = set(range(instance.num_topics)), set[tuple[int, int]]()
    for step in trace:
        scores = {
            (u, t): sum(len(instance.subscribers(other)) for other in left & set(instance.topics_of(u).tolist()))
            / sum((u, v) not in adjacent for v in instance.subscribers(t).tolist())
            for t in left
            for u in instance.subscribers(t).tolist()
        }
        (centre,), (topic,) = step.nodes, step.topics
        assert step.gain == pytest.approx(scores[centre, topic]) == pytest.approx(max(scores.values()))
        left.remove(topic)
        adjacent |= {pair for u, v in step.edges for pair in ((u, v), (v, u))}
    assert not left


def test_the_search_for_extreme_ties_has_a_trace() -> None:
    instance = WORKLOADS["case-seven"].generate(seed=0, n=5)
    worst = TRACED["gm"].run(instance, PROBLEMS["min-tco"], ties="worst", trace=True)
    trace = known(worst.trace)
    assert "; ".join(trace.choice(step).replace("–", " ") for step in trace) == worst.counters["choices"]


def test_a_trace_is_made_only_when_asked_for_and_below_its_limit() -> None:
    instance = WORKLOADS["uniform"].generate(seed=1, nodes=8, topics=5, subscriptions=2)
    assert TRACED["gm"].run(instance, PROBLEMS["min-tco"]).trace is None
    large = WORKLOADS["uniform"].generate(seed=1, nodes=tie_search.MOST_NODES + 1, topics=5, subscriptions=2)
    with pytest.raises(
        ob.BadInput, match=f"a trace of {tie_search.MOST_NODES + 1} nodes: at most {tie_search.MOST_NODES}"
    ):
        TRACED["gm"].run(large, PROBLEMS["min-tco"], trace=True)
    with pytest.raises(ob.BadInput, match="leave option 'runs' at 1"):
        TRACED["gm"].run(instance, PROBLEMS["min-tco"], trace=True, runs=2)


def test_a_trace_that_misses_the_overlay_is_an_error() -> None:
    instance = ob.TopicInstance.from_subscriptions({"a": ["t"], "b": ["t"], "c": ["t"]})
    steps = tie_search.EdgeSteps(instance, EdgeRule())
    with pytest.raises(RuntimeError, match="does not end in the overlay"):
        tie_search.trace_of(steps, tie_search.along([(0, 1), (1, 2)]), ob.Overlay.from_edges(3, [(0, 1), (0, 2)]))


def test_a_trace_shows_itself_in_80_columns_as_records_and_as_a_table() -> None:
    wants = {f"a node with a long name {v}": [f"a topic with a long name {t}" for t in range(9)] for v in range(3)}
    trace, _ = trace_and_overlay("gm", ob.TopicInstance.from_subscriptions(wants))
    lines = repr(trace).splitlines()
    assert len(lines) == 1 + len(trace) == 3
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["step", "choice", "contribution", "ties", "degrees", "topics"]
    assert trace.records()[0]["contribution"] == 9
    assert trace.records()[0]["nodes"] == ["a node with a long name 0", "a node with a long name 1"]
    assert list(trace.to_pandas()["ties"]) == [3, 2]
    assert "<table" in trace._repr_html_()
