"""Random topic instances, and helpers that the tests of exact methods share."""

import random
from typing import Any

import numpy as np
import pytest

import overlaybench as ob
from overlaybench.instances.runtime.run import Clock
from overlaybench.models.topics.compact.overlay_model import OverlayModel, Subproblem, build_model, requirements_of
from tests.outcomes import answer_of, bound_of, value_of


def small_instance(seed: int) -> ob.TopicInstance:
    """At most 6 nodes and 4 topics; sparse ones and dense ones."""
    draw = random.Random(seed)
    nodes, topics, density = draw.randint(1, 6), draw.randint(1, 4), draw.choice([0.3, 0.5, 0.7])
    wanted = [[t for t in range(topics) if draw.random() < density] or [draw.randrange(topics)] for _ in range(nodes)]
    return ob.TopicInstance.from_subscriptions({f"n{v}": [f"t{t}" for t in wanted[v]] for v in range(nodes)})


def priced(instance: ob.TopicInstance, seed: int) -> ob.TopicInstance:
    """The instance with points in a small square, a table of sites, or a cost for every pair."""
    draw = random.Random(seed)
    n = instance.num_nodes
    if seed % 3 == 0:
        return instance.with_costs(ob.LinkCosts.plane([(draw.randint(0, 30), draw.randint(0, 30)) for _ in range(n)]))
    size = n if seed % 3 == 1 else 3
    table = np.array([[draw.randint(1, 20) for _ in range(size)] for _ in range(size)])
    table = np.maximum(table, table.T)
    if size == n:
        return instance.with_costs(ob.LinkCosts.given(table))
    return instance.with_costs(ob.LinkCosts.between_sites([draw.randrange(3) for _ in range(n)], table))


def uniform_instance(nodes: int, topics: int, size: int, seed: int = 0) -> ob.TopicInstance:
    """`size` distinct topics a node, all equally likely."""
    draw = random.Random(seed)
    return ob.TopicInstance.from_subscriptions(
        {f"n{v}": [f"t{t}" for t in draw.sample(range(topics), size)] for v in range(nodes)}
    )


def model_of(instance: ob.TopicInstance, problem: str, formulation: str = "multi") -> OverlayModel:
    """The compact model of a problem."""
    objective, forever = ob.PROBLEMS[problem].objective, Clock(None)
    requirements = requirements_of(instance, forever, objective)
    return build_model(requirements, Subproblem(objective), formulation, forever)


def renumbered(instance: ob.TopicInstance, seed: int) -> ob.TopicInstance:
    """The same subscriptions with the nodes and the topics in another order."""
    draw = random.Random(seed)
    nodes, topics = list(range(instance.num_nodes)), list(range(instance.num_topics))
    draw.shuffle(nodes)
    draw.shuffle(topics)
    return ob.TopicInstance.from_subscriptions(
        {f"n{nodes[v]}": [f"t{topics[t]}" for t in instance.topics_of(v)] for v in range(instance.num_nodes)}
    )


def tiers(quick: int, slow: int) -> list[Any]:
    """Parameters of a test over seeds: the first few run always, the others only with the slow tests."""
    return [pytest.param(range(quick), id="quick"), pytest.param(range(quick, slow), id="slow", marks=pytest.mark.slow)]


def described(case: object) -> object:
    """The name of a parameter of a test: the values of options."""
    return "-".join(map(str, case.values())) if isinstance(case, dict) else case


def bounded(result: ob.Result[ob.Overlay]) -> tuple[ob.Overlay, float, float]:
    """The answer, value and lower bound of a result that has all three."""
    return answer_of(result), value_of(result), bound_of(result)
