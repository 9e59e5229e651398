"""Every method keeps its time limit on an instance that hurts it, and an anytime one has an answer then.

The limits are seconds of an idle machine: on a loaded one, a run that returns may take so many of a processor.
"""

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import overlaybench as ob
from overlaybench.compare.studies.isolation import Job, Solver

pytestmark = pytest.mark.slow

LIMIT = 3.0
Source = tuple[str, dict[str, object]]
HURTING: dict[str, Source] = {
    "topics": ("zipf", {"nodes": 6000, "topics": 200, "subscriptions": 30}),
    "content": ("content", {"users": 3000, "brokers": 60}),
    "brokers": ("brokers-dense", {"brokers": 120}),
    "steiner": ("steiner-sparse", {"nodes": 20_000, "edges": 60_000, "terminals": 4000, "dearest": 100}),
    "trace": ("churn", {"nodes": 2000, "topics": 100, "subscriptions": 10, "events": 2000}),
}
"""Of each kind, an instance on which its slow methods take minutes."""
LARGE: dict[str, Source] = {
    "topics": ("zipf", {"nodes": 200_000, "topics": 2000, "subscriptions": 30}),
    "content": ("content", {"users": 60_000, "brokers": 60}),
    "brokers": ("brokers-dense", {"brokers": 120, "publications": 60_000}),
    "steiner": ("steiner-sparse", {"nodes": 200_000, "edges": 600_000, "terminals": 40_000, "dearest": 100}),
    "trace": ("churn", {"nodes": 20_000, "topics": 200, "subscriptions": 10, "events": 4000}),
}
"""The same for methods of almost linear time."""
SEARCHED: dict[str, Source] = {
    "topics": ("zipf", {"nodes": 120, "topics": 60, "subscriptions": 8}),
    "content": ("content", {"users": 200, "brokers": 20}),
    "brokers": ("brokers-dense", {"brokers": 30}),
    "steiner": ("steiner-sparse", {"nodes": 3000, "edges": 12_000, "terminals": 800, "dearest": 100}),
    "trace": ("churn", {"nodes": 120, "topics": 60, "subscriptions": 8, "events": 60}),
}
"""The same for the solvers of exact methods and for `MODELLED`, whose models do not fit in memory on the others."""
FAST = {"ring-per-topic", "cd-oda-1", "2d-oda", "harary-per-topic", "mst-per-topic", "mehlhorn", "s0"} | {
    *("random-assignment", "greedy-packing", "clustering", "migration")
}
MODELLED = {"lp-rounding"}
"""Methods that have nothing to answer without a solution of their model."""
ON_DISTANCES = {"filtering", "topic-diameter", "average-topic-diameter"}
"""Problems whose judge takes minutes on the instance of the others."""
LOOSE = {"capped-tco": "capped-tco@max-degree=40"}
"""In place of a problem whose default limit no overlay of these instances may keep."""


def sources() -> Iterator[tuple[str, str, Source]]:
    """Every problem with each of its methods, and the instances that hurt it."""
    for problem in ob.PROBLEMS.values():
        for name, method in ob.METHODS.items():
            if problem.name in method.problems and ":" not in name:
                hurting = LARGE if name in FAST else SEARCHED if name in MODELLED else HURTING
                workload, parameters = hurting[problem.kind]
                if problem.name in ON_DISTANCES:
                    parameters = {"nodes": 1000, "topics": 250, "subscriptions": 12}
                yield problem.name, name, (workload, parameters)
                if method.exact:
                    yield problem.name, name, SEARCHED[problem.kind]


CASES = list(sources())


@lru_cache(maxsize=2)
def generated(workload: str, parameters: str) -> Any:
    return ob.WORKLOADS[workload].generate(seed=1, **json.loads(parameters))


@pytest.fixture(scope="module")
def solver() -> Iterator[Solver]:
    with Solver() as started:
        yield started


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("problem", "method", "source"), CASES, ids=[f"{p}-{m}" for p, m, _ in CASES])
def test_a_method_keeps_its_limit(problem: str, method: str, source: Source, solver: Solver) -> None:
    judge, instance = ob.PROBLEMS[LOOSE.get(problem, problem)], generated(source[0], json.dumps(source[1]))
    run = solver.run(Job(ob.METHODS[method], instance, judge, 1, {}, LIMIT, 6000))
    result, seconds = run.result, float(np.fmin(run.result.seconds, run.cpu_seconds))  # no number where it was killed
    if "not judged" in result.reason:  # the method kept its limit, and so did its judge
        assert seconds <= 2 * LIMIT + 5 + 2
        return
    assert seconds <= 1.05 * LIMIT + 1 + 1e-6 * getattr(instance, "num_subscriptions", 0)
    if not ob.METHODS[method].answering(problem).anytime:
        assert result.status is not ob.Status.FAILED or "has no answer before its end" in result.reason, result.reason
    elif method != "edge-removal" or problem != "filtering":  # which has only answers above the limit until late
        assert result.status is not ob.Status.FAILED, result.reason
        assert result.answer is not None
