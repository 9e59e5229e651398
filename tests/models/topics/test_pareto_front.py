"""The epsilon-constraint on the degree: exact if it ends, and a valid bound if it is stopped."""

import math

import pytest

import overlaybench as ob
from overlaybench.instances.runtime.run import Clock, OutOfTime
from overlaybench.models.engine.exact_method import SolverOutcome
from overlaybench.models.topics.compact.overlay_model import (
    Minimise,
    SimpleBounds,
    Subproblem,
    requirements_of,
    simple_bounds,
)
from overlaybench.models.topics.compact.pareto_front import Front, edges_by_degree, pareto_front, shown
from tests import topic_brute_force as brute_force
from tests.models.topics.small_instances import small_instance, tiers

FOREVER = Clock(None)


def by_brute_force(
    instance: ob.TopicInstance, subproblem: Subproblem, start: ob.Overlay | None = None, clock: Clock = FOREVER
) -> SolverOutcome[ob.Overlay]:
    """The optimum of a subproblem, as a solver would report it."""
    graphs = brute_force.all_graphs(instance.num_nodes)
    valid = brute_force.connected(instance) & (graphs.edges >= subproblem.least)
    if subproblem.degree_cap is not None:
        valid = valid & (graphs.max_degree <= subproblem.degree_cap)
    if not valid.any():
        return SolverOutcome(None, math.inf)
    mask = min(graphs.masks[valid], key=lambda m: graphs.edges[m])
    edges = [pair for place, pair in enumerate(graphs.pairs) if mask >> place & 1]
    return SolverOutcome(ob.Overlay.from_edges(instance.num_nodes, edges), len(edges))


class Stopped:
    """Solves a number of subproblems, then one without proof, then none."""

    def __init__(self, instance: ob.TopicInstance, solved: int) -> None:
        self.instance, self.left = instance, solved

    def __call__(self, subproblem: Subproblem, start: ob.Overlay | None, clock: Clock) -> SolverOutcome[ob.Overlay]:
        self.left -= 1
        if self.left < -1:
            raise OutOfTime
        outcome = by_brute_force(self.instance, subproblem)
        if self.left == -1 and outcome.answer is not None:
            return SolverOutcome(outcome.answer, outcome.lower_bound - 1, stopped=True)
        return outcome


def front_of(instance: ob.TopicInstance, minimise: Minimise) -> Front:
    simple = simple_bounds(requirements_of(instance, FOREVER), FOREVER)
    return pareto_front(instance.num_nodes, simple, minimise, [], FOREVER)


@pytest.mark.parametrize("seeds", tiers(40, 200))
@pytest.mark.parametrize("solved", [0, 1, 2, 100])
def test_a_stopped_front_is_a_part_of_the_front_and_its_bound_holds(solved: int, seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        front = front_of(instance, Stopped(instance, solved))
        whole = brute_force.pareto_front(instance)
        assert front.lower_bound <= brute_force.optimum(instance, "low-tco"), f"seed {seed}"
        assert set(shown(front)) <= set(whole), f"seed {seed}"
        assert front.complete or solved < 100
        if front.complete:
            assert shown(front) == whole
            assert front.lower_bound == brute_force.optimum(instance, "low-tco")


def test_what_was_stopped_has_the_time_that_is_left_in_the_end() -> None:
    for seed in range(20):
        instance, given = small_instance(seed), dict[int | None, list[float]]()

        def stopped_once(
            subproblem: Subproblem,
            start: ob.Overlay | None,
            clock: Clock,
            instance: ob.TopicInstance = instance,
            given: dict[int | None, list[float]] = given,
        ) -> SolverOutcome[ob.Overlay]:
            times = given.setdefault(subproblem.degree_cap, [])
            times.append(clock.left)
            outcome = by_brute_force(instance, subproblem)
            short = len(times) == 1 and outcome.answer is not None
            return SolverOutcome(outcome.answer, outcome.lower_bound - short, stopped=short)

        simple = simple_bounds(requirements_of(instance, FOREVER), FOREVER)
        front = pareto_front(instance.num_nodes, simple, stopped_once, [], Clock(1000))
        assert front.complete
        assert shown(front) == brute_force.pareto_front(instance), f"seed {seed}"
        assert all(times == sorted(times) for times in given.values())


def test_the_bound_counts_only_degrees_that_can_carry_the_edges() -> None:
    assert edges_by_degree(5, SimpleBounds(10, 1), []).lower_bound == 40
    front = edges_by_degree(9, SimpleBounds(8, 2), [])
    front.proven = {8: 10, 3: math.inf}
    assert front.lower_bound == 40
    assert front.bound(2) == math.inf
