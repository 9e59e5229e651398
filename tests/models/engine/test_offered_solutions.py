"""What a solver finds is offered while it searches, so that a run that is stopped keeps it."""

from __future__ import annotations

from typing import Any

import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS
from overlaybench.instances.contract.run import watched

TOPICS = ("zipf", {"nodes": 8, "topics": 6, "subscriptions": 3})
CASES = [
    ("min-tco", "cp-sat", TOPICS),
    ("min-tco", "ilp", TOPICS),
    ("topic-diameter", "diameter-cp-sat", TOPICS),
    ("content-mst", "cp-sat", ("content", {"users": 6, "brokers": 3})),
    ("content-mst", "ilp", ("content", {"users": 6, "brokers": 3})),
]


class Heard:
    """Keeps the values and bounds that it is told."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.bounds: list[float] = []

    def offered(self, answer: Any, value: float | None, lower_bound: float | None) -> None:
        assert (answer is None) == (value is None)
        self.values += [] if value is None else [value]
        self.bounds += [] if lower_bound is None else [lower_bound]

    def solving(self, begun: bool) -> None:
        pass

    def paused(self, begun: bool) -> None:
        pass


@pytest.mark.parametrize(("problem", "method", "source"), CASES)
def test_solutions_of_a_solver_are_offered(problem: str, method: str, source: tuple[str, dict[str, Any]]) -> None:
    instance, heard = WORKLOADS[source[0]].generate(seed=1, **source[1]), Heard()
    with watched(heard):
        result = METHODS[method].answering(problem).run(instance, PROBLEMS[problem], seed=1, start="none")
    assert result.value is not None
    assert heard.values[-1] == pytest.approx(result.value)
    assert all(bound <= result.value * (1 + 1e-6) for bound in heard.bounds)
