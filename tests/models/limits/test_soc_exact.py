"""The exact methods of the SOC problems against the enumeration of all graphs."""

import math
import random

import pytest

import overlaybench as ob
from overlaybench.heuristics.limits.limits import limits_of
from overlaybench.instances.limits.soc import DEGREE_FUNCTIONS, ROUTING_COSTS, as_soc
from overlaybench.instances.runtime.run import Clock
from overlaybench.models.limits.soc_cp_sat import DIAMETER_CP_SAT, FILTERING_CP_SAT, least_diameters
from overlaybench.models.limits.unicyclic_overlays import fewest_relays
from tests.models.topics.small_instances import small_instance, tiers
from tests.soc_brute_force import optimum, pareto_front

pytestmark = pytest.mark.interpreted

METHODS = {"filtering": FILTERING_CP_SAT, "topic-diameter": DIAMETER_CP_SAT, "average-topic-diameter": DIAMETER_CP_SAT}


def limited(routing: str, seed: int) -> tuple[str, str, float, float]:
    """A random problem on a routing cost: its name, its degree function and both limits."""
    draw = random.Random(f"{routing} {seed}")
    degree = draw.choice(sorted(DEGREE_FUNCTIONS))
    if draw.random() < 0.5:
        most = draw.choice([1, 2, 3]) if degree == "max-degree" else draw.choice([1.0, 1.5, 2.0, 4.0])
        return f"{routing}@{degree}={most}", degree, most, math.inf
    cost = draw.choice([1.2, 1.5, 2.25]) if routing.startswith("average") else draw.choice([0, 1, 2, 3])
    return f"{routing}={cost}@{degree}", degree, math.inf, cost


def solved(routing: str, name: str, instance: ob.TopicInstance, seed: int) -> ob.Result[ob.Overlay]:
    start = "none" if seed % 4 < 2 else "best"
    result: ob.Result[ob.Overlay] = METHODS[routing].run(instance, ob.PROBLEMS[name], seed=seed, start=start)
    return result


@pytest.mark.parametrize("seeds", tiers(8, 200))
@pytest.mark.parametrize("routing", ROUTING_COSTS)
def test_the_optimum_is_the_brute_forces(routing: str, seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        name, degree, most_degree, most_cost = limited(routing, seed)
        expected = optimum(instance, degree, routing, most_degree, most_cost)
        result = solved(routing, name, instance, seed)
        if math.isinf(expected):
            assert result.status is ob.Status.INFEASIBLE, f"{name}, seed {seed}: {result}"
        else:
            assert result.status is ob.Status.OPTIMAL, f"{name}, seed {seed}: {result}"
            assert result.value == pytest.approx(expected), f"{name}, seed {seed}"


@pytest.mark.parametrize("seeds", tiers(3, 40))
@pytest.mark.parametrize("degree", ["edges", "max-degree"])
@pytest.mark.parametrize("routing", ROUTING_COSTS)
def test_the_front_is_the_brute_forces(routing: str, degree: str, seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        result = solved(routing, f"{routing}@{degree}", instance, seed)
        expected = " ".join(f"{size:g}x{cost:g}" for size, cost in pareto_front(instance, degree, routing))
        assert result.counters["front"] == expected, f"seed {seed}"
        assert result.counters["front_complete"] == "yes"
        assert result.value == pytest.approx(optimum(instance, degree, routing, math.inf, math.inf))


def test_a_star_has_fewest_edges_of_all_overlays_with_topic_diameter_two() -> None:
    instance = ob.TopicInstance.from_subscriptions({f"n{v}": [f"t{v % 4}", f"t{v % 3}"] for v in range(24)})
    result = DIAMETER_CP_SAT.run(instance, ob.PROBLEMS["topic-diameter=2@edges"])
    assert (result.status, result.value) == (ob.Status.OPTIMAL, 23)


def test_other_problems_are_refused() -> None:
    with pytest.raises(TypeError, match="degree function"):
        as_soc(ob.PROBLEMS["min-tco"])


@pytest.mark.parametrize("most_listed", [2_000_000, 10])
def test_limited_degrees_leave_few_nodes_within_few_hops(most_listed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eleven nodes of one topic: ten others are within 5 hops on a cycle, and within 3 where degrees are 3.

    The largest topic alone says so where the pairs are too many to list.
    """
    monkeypatch.setattr("overlaybench.models.limits.soc_cp_sat._MOST_PAIRS", most_listed)
    instance = ob.TopicInstance.from_subscriptions({f"n{v}": ["t", f"t{v % 2}"] for v in range(11)})
    for degree, largest, each in ((2, 5, 5 + 3 + 2), (3, 3, 3 + 2 + 2), (10, 1, 3)):
        for average, least in ((False, largest), (True, each)):
            name = f"{'average-' * average}topic-diameter@max-degree={degree}"
            limits = limits_of(as_soc(ob.PROBLEMS[name]), instance)
            assert least_diameters(instance, limits, average=average) == least


@pytest.mark.parametrize("seeds", tiers(12, 1500))
def test_the_fewest_relays_with_one_cycle_are_the_brute_forces(seeds: range) -> None:
    proven = 0
    for seed in seeds:
        draw = random.Random(seed)
        nodes, cycle = draw.randint(4, 6), draw.random() < 0.7
        topics = [draw.sample(range(nodes), draw.randint(2, 4)) for _ in range(draw.randint(4, 7))]
        wanted = {f"n{v}": [f"t{t}" for t, members in enumerate(topics) if v in members] for v in range(nodes)}
        instance = ob.TopicInstance.from_subscriptions(wanted)
        problem = ob.PROBLEMS[f"filtering@edges={nodes - 1 + cycle}"]
        if limits_of(as_soc(problem), instance).fewest_edges < nodes - 1:
            continue
        least, below = optimum(instance, "edges", "filtering", nodes - 1 + cycle, math.inf), draw.choice([1, 2, 9, 9])
        bound, overlay = fewest_relays(instance, below, Clock(None), cycle=cycle)
        assert bound in (0, min(least, below)), f"seed {seed}"
        if overlay is not None:
            assert not problem.violations(instance, overlay), f"seed {seed}"
            assert problem.value(instance, overlay) >= bound, f"seed {seed}"
        proven += 0 < bound == least
    assert proven > len(seeds) / 10
