"""The epsilon-constraint on the degree: exact where it ends, and a bound wherever it is cut off."""

import math
from functools import partial

import pytest

from overlaybench.instances.clock import Clock, OutOfTime
from overlaybench.instances.overlay import Overlay
from overlaybench.models.topics.compact.proof import Proof
from overlaybench.models.topics.compact.requirements import requirements_of
from overlaybench.models.topics.compact.simple_bounds import SimpleBounds, simple_bounds
from overlaybench.models.topics.objectives.pareto_front import ParetoFront, pareto_front
from tests import topic_brute_force as brute_force
from tests.models.topics.small_instances import small_instance

FOREVER = Clock(None)


def by_brute_force(instance, requirements, goal, *, start, clock):
    """The goal's optimum, as a solver would report it."""
    graphs = brute_force.all_graphs(instance.num_nodes)
    valid = graphs.edges >= goal.least
    for members in brute_force.members_of_topics(instance):
        valid = valid & graphs.connects(members)
    if goal.degree_cap is not None:
        valid = valid & (graphs.max_degree <= goal.degree_cap)
    if not valid.any():
        return Proof(None, math.inf)
    mask = min(graphs.masks[valid], key=lambda m: graphs.edges[m])
    edges = [pair for place, pair in enumerate(graphs.pairs) if mask >> place & 1]
    return Proof(Overlay.from_edges(instance.num_nodes, edges), len(edges))


class CutOff:
    """Answers a number of goals, then one without having proven it, then none."""

    def __init__(self, answer, goals):
        self.answer, self.goals = answer, goals

    def __call__(self, *arguments, **options):
        self.goals -= 1
        if self.goals < -1:
            raise OutOfTime
        proof = self.answer(*arguments, **options)
        if self.goals == -1 and proof.overlay is not None:
            return Proof(proof.overlay, proof.lower_bound - 1, stopped=True)
        return proof


def front_of(instance, minimise):
    requirements = requirements_of(instance, FOREVER)
    return pareto_front(requirements, simple_bounds(requirements, FOREVER), minimise, [], FOREVER)


def test_the_front_is_every_undominated_pair():
    longer = 0
    for seed in range(300):
        instance = small_instance(seed)
        front = front_of(instance, partial(by_brute_force, instance))
        assert front.complete
        assert front.points == brute_force.pareto_front(instance), f"seed {seed}"
        assert front.lower_bound == brute_force.optimum(instance, "low-tco")
        longer += len(front.points) > 1
    assert longer > 0, "fronts of one point say little"


@pytest.mark.parametrize("goals", [0, 1, 2])
def test_a_front_cut_off_is_a_part_of_it_and_its_bound_holds(goals):
    for seed in range(200):
        instance = small_instance(seed)
        front = front_of(instance, CutOff(partial(by_brute_force, instance), goals))
        whole = brute_force.pareto_front(instance)
        assert front.lower_bound <= brute_force.optimum(instance, "low-tco"), f"seed {seed}"
        assert set(front.points) <= set(whole), f"seed {seed}"
        if front.complete:
            assert front.points == whole


def test_the_bound_counts_only_degrees_that_can_carry_the_edges():
    # Ten edges on five nodes need degree 4, though nothing else refutes degree 1.
    assert ParetoFront(5, SimpleBounds(10, 1), []).lower_bound == 40


def test_a_degree_proven_impossible_does_not_count():
    front = ParetoFront(9, SimpleBounds(8, 2), [], {8: 10, 3: math.inf})
    assert front.lower_bound == 40
    assert front.bound(2) == math.inf
