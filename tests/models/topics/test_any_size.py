"""At any size and limit an anytime method on topics has a valid answer, and the exact ones and `auto` a bound."""

import random

import pytest

import overlaybench as ob
from overlaybench.heuristics.topics.greedy_merge import GREEDY_MERGE
from overlaybench.instances.limits.problems import MEASURES, PartialTCO
from overlaybench.instances.runtime.run import Clock, OutOfTime
from overlaybench.instances.topics.objective import CONNECTED
from overlaybench.instances.topics.problems import TOPIC_PROBLEMS
from overlaybench.models.limits.degree_limits import limited_model
from overlaybench.models.topics.auto import PartParameters, starts_of_large
from overlaybench.models.topics.best import PARAMETERS as PARAMETERS_OF_HEURISTICS
from overlaybench.models.topics.compact.overlay_model import OverlayModel, Subproblem, build_model, requirements_of
from overlaybench.models.topics.relaxation.topic_rows import count_links
from overlaybench.models.topics.search.edge_minimisation import SearchSettings
from overlaybench.models.topics.stages import PARAMETERS, Run
from tests.models.topics.small_instances import uniform_instance

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


@pytest.mark.parametrize("method", ["auto", "best"])
def test_many_subscriptions_of_few_pairs_have_an_answer_before_heuristics(method: str) -> None:
    instance = ob.generate("uniform", nodes=10_001, topics=8_000, subscriptions=2, seed=3)
    assert count_links(instance) < PARAMETERS.at_once
    result = ob.METHODS[method].run(instance, ob.PROBLEMS["min-tco"], time_limit=1e-6)
    assert result.answer is not None
    assert result.counters["value_by"] == "first answers"


class _Passing(Clock):
    """A clock that passes after it was read so often."""

    def __init__(self, readings: int) -> None:
        super().__init__(None)
        self.readings = readings

    @property
    def left(self) -> float:
        self.readings -= 1
        return 1e9 if self.readings > 0 else 0.0


@pytest.mark.interpreted
@pytest.mark.parametrize("formulation", ["levels", "single", "multi", *MEASURES])
def test_the_model_of_one_topic_is_given_up_once_the_time_is_over(formulation: str) -> None:
    instance = ob.read({v: ["t"] for v in range(24)})
    requirements = requirements_of(instance, Clock(None))
    readings = 6

    def build(clock: Clock) -> OverlayModel:
        if formulation in MEASURES:
            given = PartialTCO(formulation), requirements, Subproblem(CONNECTED), "levels"
            return limited_model(instance, *given, clock)
        return build_model(requirements, Subproblem(CONNECTED), formulation, clock)

    assert build(Clock(None)).num_rows > 64 * readings
    with pytest.raises(OutOfTime):
        build(_Passing(readings))


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


def test_without_time_for_greedy_merge_it_runs_on_parts_of_the_nodes() -> None:
    instance = uniform_instance(60, 12, 4, 3)
    run = Run(instance, ob.PROBLEMS["min-tco"], Clock(1e6), SearchSettings())
    expected = PARAMETERS_OF_HEURISTICS.expected(GREEDY_MERGE, instance)
    starts_of_large(run, PartParameters(share=expected / 2e6, of_parts=expected / 4.5e6))
    in_parts = ob.solve(instance, "min-tco", "dc-gm", eta=12, partitions=5).value
    merged = ob.solve(instance, "min-tco", "gm").value
    assert in_parts is not None
    assert merged is not None
    assert (run.value, len(run.answers)) == (in_parts, 1)
    starts_of_large(run, PartParameters(share=1.0))
    assert run.value == min(in_parts, merged)
    assert not any(ob.PROBLEMS["min-tco"].violations(instance, overlay) for overlay in run.answers)
