"""Overlays under a limit on degrees: judge, exact methods and heuristics against the enumeration of all graphs."""

import math
from decimal import Decimal
from itertools import combinations

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.heuristics.limits.degree_limits import overlays_within
from overlaybench.instances.limits.problems import MEASURES, RULES, CappedTCO, DegreeLimited, PartialTCO
from overlaybench.instances.runtime.run import Clock
from tests.outcomes import value_of
from tests.properties import property_test
from tests.topic_brute_force import all_graphs, degree_limited
from tests.topic_strategies import Case, instances_with_overlays, topic_instances

LIMITS = st.one_of(
    st.tuples(st.just("max-degree"), st.integers(0, 4)),
    st.tuples(st.sampled_from(RULES[1:]), st.sampled_from([0.0, 0.4, 1.0, 1.5, 2.5])),
)


def plain_limits(instance: ob.TopicInstance, rule: str, limit: float) -> tuple[tuple[int, ...], int]:
    """The caps of the nodes and the most edges, from their definition."""
    n = instance.num_nodes
    caps = [n - 1] * n
    if rule == "max-degree":
        caps = [min(int(limit), n - 1)] * n
    elif rule == "degree-per-topic":
        caps = [min(math.ceil(Decimal(f"{limit:.12g}") * len(instance.topics_of(v))), n - 1) for v in range(n)]
    return tuple(caps), math.floor(limit * n / 2) if rule == "average-degree" else n * n


def problem_of(measure: str, rule: str, limit: float) -> DegreeLimited:
    return CappedTCO(rule, limit) if measure == "edges" else PartialTCO(measure, rule, limit)


@pytest.mark.parametrize(("limit", "cap"), [(1e-9, 1), (0, 0), (0.7, 7), (1.1, 11), (0.7000000001, 8)])
def test_a_limit_a_topic_is_the_decimal_of_its_name(limit: float, cap: int) -> None:
    """In floating point 0.7 · 10 is above 7, and what a slack of 1e-9 forgives of that rounds 1e-9 to 0."""
    instance = ob.read({v: [f"t{k}" for k in range(10)] for v in range(13)})
    problem = CappedTCO("degree-per-topic", limit)
    assert {*problem.caps(instance).tolist()} == {cap}
    assert problem.variant(problem.name).caps(instance).tolist() == [cap] * 13


@property_test(400, instances_with_overlays(max_nodes=5), st.sampled_from(["edges", *MEASURES]), LIMITS)
def test_the_judge_agrees_with_the_definition(given: Case, measure: str, limit: tuple[str, float]) -> None:
    instance, overlay = given
    problem = problem_of(measure, *limit)
    graphs = all_graphs(instance.num_nodes)
    edges = {(int(u), int(v)) for u, v in overlay.edges}
    mask = sum(1 << bit for bit, pair in enumerate(graphs.pairs) if pair in edges)
    values, valid = degree_limited(instance, measure, *plain_limits(instance, *limit))
    assert problem.value(instance, overlay) == values[mask]
    assert (problem.violations(instance, overlay) == []) == valid[mask]


@pytest.mark.interpreted
@property_test(40, topic_instances(max_nodes=5), LIMITS, quick=3)
@pytest.mark.parametrize("method", ["cp-sat", "ilp", "branch-and-cut", "auto"])
@pytest.mark.parametrize("measure", ["edges", *MEASURES])
def test_exact_methods_find_the_least_value_of_all_graphs_or_prove_that_there_is_none(
    measure: str, method: str, instance: ob.TopicInstance, limit: tuple[str, float]
) -> None:
    problem = problem_of(measure, *limit)
    if not ob.METHODS[method].answers(problem.name):
        assert measure != "edges" or limit[0] != "max-degree"
        return
    values, valid = degree_limited(instance, measure, *plain_limits(instance, *limit))
    for options in ({"start": "best"}, {"start": "none"}) if method in ("cp-sat", "ilp") else ({},):
        result = ob.METHODS[method].run(instance, problem, **options)  # type: ignore[arg-type]
        if valid.any():
            assert (result.status, result.value) == (ob.Status.OPTIMAL, values[valid].min()), result
        else:
            assert result.status is ob.Status.INFEASIBLE, result


@pytest.mark.interpreted
@property_test(60, topic_instances(max_nodes=6), LIMITS, quick=10)
@pytest.mark.parametrize("method", ["ptco", "topic-by-topic"])
def test_heuristics_keep_the_limit_and_the_greedy_one_its_ratio(
    method: str, instance: ob.TopicInstance, limit: tuple[str, float]
) -> None:
    problem = PartialTCO("components", *limit)
    result = ob.METHODS[method].run(instance, problem)
    values, valid = degree_limited(instance, "components", *plain_limits(instance, *limit))
    assert value_of(result) >= values[valid].min()
    if method == "ptco":
        unions = instance.num_subscriptions - instance.num_topics
        ratio = 1 - 1 / math.e if limit[0] == "average-degree" else 1 / 3
        assert unions - value_of(result) >= ratio * (unions - values[valid].min())


@property_test(30, topic_instances(max_nodes=6), st.integers(1, 5), quick=5)
def test_capped_gm_finds_a_valid_overlay_or_none_where_there_is_none(instance: ob.TopicInstance, most: int) -> None:
    values, valid = degree_limited(instance, "edges", *plain_limits(instance, "max-degree", most))
    result = ob.METHODS["capped-gm"].run(instance, CappedTCO(limit=most))
    if result.value is None:
        assert result.status is ob.Status.FAILED
    else:
        assert result.value >= values[valid].min()


@pytest.mark.interpreted
@property_test(60, topic_instances(max_nodes=6), LIMITS, quick=10)
def test_a_partial_overlay_in_no_time_has_each_edge_that_contributes_within_the_limit(
    instance: ob.TopicInstance, limit: tuple[str, float]
) -> None:
    problem = PartialTCO("components", *limit)
    (name, overlay), *_ = overlays_within(instance, problem, clock=Clock(1e9))
    assert name == "quick"
    assert problem.violations(instance, overlay) == []
    if overlay.num_edges == problem.most_edges(instance):
        return
    missing, edges = problem.value(instance, overlay), overlay.edges.tolist()
    for pair in combinations(range(instance.num_nodes), 2):
        more = ob.Overlay.from_edges(instance.num_nodes, [*edges, pair])
        assert problem.violations(instance, more) or problem.value(instance, more) == missing


@pytest.mark.parametrize("method", ["cp-sat", "ilp", "auto", "capped-gm"])
@pytest.mark.parametrize(
    ("problem", "bound"),
    [
        ("capped-tco@max-degree=2", 2398),
        ("capped-tco@degree-per-topic=2", 2398),
        ("capped-tco@average-degree=2", 2398),
        ("partial-tco@max-degree=1", 0),
    ],
)
def test_without_time_a_large_instance_has_a_valid_overlay_and_a_bound(problem: str, bound: int, method: str) -> None:
    large, chosen = ob.generate("uniform", nodes=2400, topics=2, subscriptions=1, seed=3), ob.METHODS[method]
    if not chosen.answers(problem):
        assert method in ("auto", "capped-gm")
        return
    result = chosen.run(large, ob.PROBLEMS[problem], time_limit=1e-6)
    assert result.answer is not None
    assert not ob.PROBLEMS[problem].violations(large, result.answer)
    assert method == "capped-gm" or result.lower_bound == bound


@pytest.mark.parametrize("method", ["cp-sat", "ilp", "auto"])
@pytest.mark.parametrize("limit", ["max-degree=1", "average-degree=1.9", "degree-per-topic=1"])
def test_bounds_without_a_model_prove_that_no_overlay_keeps_the_limit(limit: str, method: str) -> None:
    large, chosen = ob.generate("uniform", nodes=2400, topics=2, subscriptions=1, seed=3), ob.METHODS[method]
    if chosen.answers(f"capped-tco@{limit}"):
        result = chosen.run(large, ob.PROBLEMS[f"capped-tco@{limit}"], time_limit=1e-6)
        assert result.status is ob.Status.INFEASIBLE
    else:
        assert method == "auto"


@pytest.mark.interpreted
def test_each_node_may_have_a_limit_of_its_own() -> None:
    star = ob.read({"hub": ["a", "b", "c"], "x": ["a"], "y": ["b"], "z": ["c"]})
    degrees = [3 if star.node_label(v) == "hub" else 1 for v in range(4)]
    assert ob.solve(star, CappedTCO(degrees=degrees)).value == 3
    for method in ("cp-sat", "branch-and-cut"):
        assert ob.solve(star, CappedTCO(degrees=[2] * 4), method).status is ob.Status.INFEASIBLE
    assert ob.solve(star, PartialTCO(degrees=[2] * 4)).value == 1
    assert CappedTCO().default_method == "auto" != CappedTCO(degrees=degrees).default_method
    assert CappedTCO(degrees=degrees).name != CappedTCO(degrees=[2] * 4).name
    with pytest.raises(ob.BadInput, match="one a node"):
        ob.solve(star, CappedTCO(degrees=[1]))


def test_names_with_limits_lead_to_problems() -> None:
    assert ob.PROBLEMS.named("min-tco@max-degree=5").name == "capped-tco@max-degree=5"
    assert ob.PROBLEMS.named("partial-tco@topics@max-degree=2").name == "partial-tco@max-degree=2"
    for name in ("partial-tco@subscribers@degree-per-topic=0.5", "capped-tco@average-degree=3.5", "partial-tco"):
        assert ob.PROBLEMS.named(name).name == name
    for name in ("min-tco@5", "min-tco@edges=5", "partial-tco@max-degree=1.5", "partial-tco@nodes@max-degree=2"):
        with pytest.raises(ob.BadInput):
            ob.PROBLEMS.named(name)
    with pytest.raises(ob.BadInput):
        PartialTCO(degrees=[-1])


@pytest.mark.slow
def test_a_larger_instance_is_open_only_between_its_bounds() -> None:
    instance = ob.generate("uniform", nodes=40, topics=20, subscriptions=3, seed=1)
    capped = ob.solve(instance, "min-tco@max-degree=4", "branch-and-cut", time_limit=20)
    plain = ob.solve(instance, "min-tco")
    assert value_of(capped) >= (plain.lower_bound or 0)
    assert capped.measures["max_degree"] <= 4
    shares = [ob.solve(instance, f"partial-tco@components@max-degree={d}", "ptco").value for d in range(6)]
    assert shares == sorted(shares, reverse=True)  # type: ignore[type-var]
    assert np.isclose(shares[0] or 0, instance.num_subscriptions - instance.num_topics)
