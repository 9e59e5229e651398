"""The extremes over all ways to break ties, against every order of the candidates tried one by one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import strategies as st

from overlaybench.heuristics.topics.tie_search.extremes import (
    SolveUnderTies,
    TooManyStates,
    extreme_ties,
)
from overlaybench.heuristics.topics.tie_search.steps import GreedySteps
from overlaybench.instances.contract.catalogue import PROBLEMS, methods_of
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.contract.result import Status
from overlaybench.instances.topics.constructions import minmax_oda_matchings, nested_subscriptions
from overlaybench.instances.topics.instance import TopicInstance
from tests.heuristics.topics import twins
from tests.properties import property_test
from tests.topic_strategies import topic_instances

HEURISTICS = tuple(method for method in methods_of("overlaybench.heuristics.topics") if not method.anytime)

BY_NAME = {method.name: method for method in HEURISTICS}
SEARCHED = [method.name for method in HEURISTICS if isinstance(method.solve, SolveUnderTies)]
TWINS: dict[str, Callable[..., set[twins.Edge]]] = {
    "gm": twins.greedy_merge,
    "gm-m": twins.gm_m,
    "minmax-oda": twins.minmax_oda,
    "low-oda": lambda interest, rank: twins.low_oda(interest, rank, Fraction(3)),
    "cd-oda": twins.cd_oda,
    "cd-oda-1": twins.cd_oda_1,
    "cd-oda-2": twins.cd_oda_2,
    "2d-oda": twins.two_diameter_oda,
}


def steps_of(name: str, instance: TopicInstance) -> GreedySteps:
    """The method's steps with its default options."""
    method = BY_NAME[name]
    assert isinstance(method.solve, SolveUnderTies)
    options = method.complete({}, "min-tco")
    return method.solve.steps(instance, **{name: value for name, value in options.items() if name != "ties"})


def test_every_greedy_method_of_one_run_has_extremes() -> None:
    assert set(SEARCHED) == set(TWINS)


def values_over_all_orders(name: str, problem: str, instance: TopicInstance) -> list[float]:
    """A run of greedy choices is the run under the priorities that list them first, in their order: try all."""
    n, topics = instance.num_nodes, instance.num_topics
    if name.startswith("cd-oda"):
        candidates = list(range(n))
    elif name == "2d-oda":
        candidates = [u * topics + t for u in range(n) for t in instance.topics_of(u).tolist()]
    else:
        candidates = [u * n + v for u in range(n) for v in range(u + 1, n)]
    interest = twins.interest_of(instance)
    values = []
    for order in permutations(candidates):
        edges = TWINS[name](interest, {candidate: rank for rank, candidate in enumerate(order)}.__getitem__)
        values.append(PROBLEMS[problem].value(instance, Overlay.from_edges(n, sorted(edges))))
    return values


@property_test(6, instance=topic_instances(max_nodes=4, max_topics=4), data=st.data(), quick=2)
@pytest.mark.parametrize("name", SEARCHED)
def test_extremes_are_those_over_all_orders_of_candidates(
    name: str, instance: TopicInstance, data: st.DataObject
) -> None:
    if name == "2d-oda" and instance.num_subscriptions > 6:
        instance = instance.induced(few_subscriptions(instance))
    problem = data.draw(st.sampled_from(["min-tco", "minmax-tco", "low-tco"]))
    values = values_over_all_orders(name, problem, instance)
    for extreme, expected in (("best", min(values)), ("worst", max(values))):
        overlay = extreme_ties(steps_of(name, instance), problem, extreme).overlay
        assert PROBLEMS[problem].value(instance, overlay) == expected


def few_subscriptions(instance: TopicInstance) -> npt.NDArray[np.int64]:
    """As many of the first nodes as have at most six subscriptions together, at least one."""
    sizes = np.cumsum(np.diff(instance.node_offsets))
    kept = np.arange(max(1, int((sizes <= 6).sum())))
    return kept if sizes[kept[-1]] <= 6 else np.array([int(np.argmin(np.diff(instance.node_offsets)))])


@property_test(25, instance=topic_instances(max_nodes=6), quick=8)
@pytest.mark.parametrize("name", SEARCHED)
def test_the_first_candidates_are_the_choices_of_ties_lowest(name: str, instance: TopicInstance) -> None:
    steps = steps_of(name, instance)
    state = steps.start()
    while candidates := steps.candidates(state):
        state = steps.after(state, candidates[0])
    answer = BY_NAME[name].run(instance, PROBLEMS["min-tco"], ties="lowest").answer
    assert answer == Overlay.from_edges(instance.num_nodes, steps.edges_of(state))


@property_test(15, instance=topic_instances(max_nodes=5), seed=st.integers(0, 99), quick=5)
@pytest.mark.parametrize("name", SEARCHED)
def test_every_rule_for_ties_lies_between_the_extremes(name: str, instance: TopicInstance, seed: int) -> None:
    for problem in ("min-tco", "minmax-tco"):
        best, worst, lowest, highest, random = (
            BY_NAME[name].run(instance, PROBLEMS[problem], ties=ties, seed=seed).value
            for ties in ("best", "worst", "lowest", "highest", "random")
        )
        assert best is not None
        assert worst is not None
        assert all(value is not None and best <= value <= worst for value in (lowest, highest, random))


def test_lemma_5_is_the_worst_of_ties_and_a_star_the_best() -> None:
    instance = nested_subscriptions(n=6)
    worst = BY_NAME["cd-oda"].run(instance, PROBLEMS["2d-true"], ties="worst")
    assert worst.value == 15
    assert str(worst.counters["choices"]).startswith("v1; v2; v3; v4; v5")
    assert BY_NAME["cd-oda"].run(instance, PROBLEMS["2d-true"], ties="best").value == 5


def test_a_search_that_stops_early_fails_and_names_its_limit() -> None:
    instance = minmax_oda_matchings(n=6)
    with pytest.raises(TooManyStates, match="more than 50"):
        extreme_ties(steps_of("minmax-oda", instance), "min-tco", "worst", most_states=50)
    result = BY_NAME["minmax-oda"].run(minmax_oda_matchings(n=8), PROBLEMS["min-tco"], ties="worst", time_limit=0.05)
    assert result.status is Status.FAILED
    assert "time limit" in result.reason


def test_divide_and_conquer_and_several_runs_have_no_exhaustive_ties() -> None:
    instance = nested_subscriptions(n=4)
    with pytest.raises(BadInput, match="'ties'"):
        BY_NAME["dcb-m"].run(instance, PROBLEMS["min-tco"], ties="worst")
    with pytest.raises(BadInput, match="one run"):
        BY_NAME["gm"].run(instance, PROBLEMS["min-tco"], ties="best", runs=2)
