"""Minutes of random instances: no two exact methods, nor the brute force, ever disagree."""

from __future__ import annotations

import math
import random

import pytest

from overlaybench.instances.contract.catalogue import methods_of
from overlaybench.instances.contract.result import Status
from overlaybench.instances.contract.run import Clock
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.instances.topics.problems import TOPIC_PROBLEMS
from overlaybench.models.topics.lp_bound import lower_bound
from tests.models.topics.proven import proven_by
from tests.models.topics.small_instances import bounded
from tests.topic_brute_force import optimum

MODELS = methods_of("overlaybench.models.topics")

PROBLEMS = {problem.name: problem for problem in TOPIC_PROBLEMS}

METHODS = {method.name: method for method in MODELS if method.exact}


def drawn(seed: int) -> TopicInstance:
    """At most 6 nodes, or, for every fourth seed, at most 11, which only the methods solve."""
    draw = random.Random(seed)
    n = draw.randint(7, 11) if seed % 4 == 3 else draw.randint(2, 6)
    topics, density = draw.randint(1, 8), draw.choice([0.2, 0.35, 0.5, 0.75])
    wanted = [[t for t in range(topics) if draw.random() < density] or [draw.randrange(topics)] for _ in range(n)]
    return TopicInstance.from_subscriptions({f"n{v}": [f"t{t}" for t in wanted[v]] for v in range(n)})


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("part", range(4))
def test_no_disagreement_in_four_thousand_instances(part: int) -> None:
    names = [problem.name for problem in TOPIC_PROBLEMS]
    for seed in range(1000 * part, 1000 * (part + 1)):
        instance, problem = drawn(seed), names[seed % len(names)]
        values: dict[str, float] = {}
        for name, method in METHODS.items():
            if problem in method.problems:
                result = method.run(instance, PROBLEMS[problem], seed=seed)
                assert result.status is Status.OPTIMAL, f"seed {seed}, {name} on {problem}: {result.reason}"
                values[name] = bounded(result)[1]
        if instance.num_nodes <= 6:
            values["brute force"] = optimum(instance, problem)
        assert len(set(values.values())) == 1, f"seed {seed}, {problem}: {values}"
        if problem in ("min-tco", "minmax-tco"):
            bound = lower_bound(instance, Clock(None), of_degree=problem == "minmax-tco")
            assert bound.value <= values["cp-sat"], f"seed {seed}"
            assert proven_by(instance, problem, bound) == math.ceil(bound.value)
