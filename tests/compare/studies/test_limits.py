"""Every method keeps its time limit on an instance that hurts it, and an anytime one has an answer then."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.studies.isolation import Job, Solver
from overlaybench.instances.catalogue import PROBLEMS, WORKLOADS
from overlaybench.instances.result import Status

pytestmark = pytest.mark.slow

LIMIT = 3.0
HURTING: dict[str, tuple[str, dict[str, object]]] = {
    "topics": ("zipf", {"nodes": 6000, "topics": 200, "subscriptions": 30}),
    "content": ("content", {"users": 3000, "brokers": 60}),
    "brokers": ("brokers-dense", {"brokers": 120}),
    "steiner": ("steiner-sparse", {"nodes": 20_000, "edges": 60_000, "terminals": 4000, "dearest": 100}),
}
"""Of each kind, an instance on which its slow methods take minutes."""
CASES = [
    (problem.name, method)
    for problem in PROBLEMS.values()
    for method in METHODS
    if problem.name in METHODS[method].problems and ":" not in method
]


@cache
def instance_of(kind: str) -> Any:
    workload, parameters = HURTING[kind]
    return WORKLOADS[workload].generate(seed=1, **parameters)


@pytest.fixture(scope="module")
def solver() -> Iterator[Solver]:
    with Solver() as started:
        yield started


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("problem", "method"), CASES)
def test_a_method_keeps_its_limit(problem: str, method: str, solver: Solver) -> None:
    judge = PROBLEMS[problem]
    job = Job(METHODS[method], instance_of(judge.kind), judge, 1, {}, LIMIT, 6000)
    result = solver.run(job).result
    assert result.seconds <= 1.05 * LIMIT + 1
    if METHODS[method].answering(problem).anytime:
        assert result.status is not Status.FAILED, result.reason
        assert result.answer is not None
    else:
        assert result.status is not Status.FAILED or "has no answer before its end" in result.reason, result.reason
