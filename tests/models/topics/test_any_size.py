"""At any size and limit an anytime method on topics has a valid answer, and the exact ones and `auto` a bound."""

import random

import pytest

import overlaybench as ob
from overlaybench.instances.topics.problems import TOPIC_PROBLEMS
from overlaybench.models.topics.stages import PARAMETERS

METHODS = ("auto", "branch-and-cut", "best", "lp-bound", "cp-sat", "ilp")
NODES, LIMITS = (200, 2_000, 20_000), (1, 2, 5)


@pytest.mark.parametrize("problem", [problem.name for problem in TOPIC_PROBLEMS])
def test_without_any_time_there_is_a_valid_answer_and_a_simple_bound(problem: str) -> None:
    """The instance has more pairs than heuristics come first for."""
    instance = ob.generate("uniform", nodes=1600, topics=2, subscriptions=1, seed=3)
    sizes = [len(instance.subscribers(t)) for t in range(2)]
    assert sum(size * (size - 1) // 2 for size in sizes) < PARAMETERS.at_once
    large = ob.generate("uniform", nodes=2400, topics=2, subscriptions=1, seed=3)
    result = ob.solve(large, problem, "auto", time_limit=1e-6)
    assert result.answer is not None
    assert not ob.PROBLEMS[problem].violations(large, result.answer)
    assert result.lower_bound is not None
    assert result.lower_bound >= (2 if problem == "minmax-tco" else large.num_nodes - 2)
    assert result.counters["value_by"] == result.counters["bound_by"] == "first answers"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_no_run_ends_empty_handed(seed: int) -> None:
    draw = random.Random(seed)
    problem, method, nodes = draw.choice(TOPIC_PROBLEMS).name, draw.choice(METHODS), draw.choice(NODES)
    instance = ob.generate("zipf", nodes=nodes, topics=50, subscriptions=10, seed=seed)
    result = ob.solve(instance, problem, method, time_limit=draw.choice(LIMITS), apart=True)
    assert result.answer is not None, (problem, method, nodes, result.reason)
    assert not ob.PROBLEMS[problem].violations(instance, result.answer)
    assert method == "best" or result.lower_bound is not None, (problem, method, nodes, result.reason)
