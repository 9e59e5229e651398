"""What branch-and-cut writes is accepted and proves its bound: on tiny instances, and when the search is stopped."""

import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.instances.runtime.run import Clock
from overlaybench.models.engine.relaxation import HighsLP
from overlaybench.models.engine.tree_search import TreeSearch
from overlaybench.models.topics import branch_and_cut
from overlaybench.models.topics.relaxation.cutting_planes import CuttingPlanes
from overlaybench.models.topics.relaxation.star_planes import StarPlanes
from tests.models.checker.tiny import (
    ALL_PROBLEMS,
    ONE_OF_CONTENT,
    TOPIC_PROBLEMS,
    TRACES,
    Line,
    Tiny,
    case_of,
    check,
    checker,
    draw_tiny,
    falsehood,
)
from tests.properties import property_test
from tests.steiner_brute_force import hypercube

SEEDS = st.integers(0, 10**9)
_ROUNDING = 1e-6
# Other tests compile the kernels of topics, and interpreting a search for stars may take ten seconds.
OTHERS = [each for each in (*ALL_PROBLEMS, TRACES) if each not in TOPIC_PROBLEMS]
INTERPRETED = [pytest.param(each, marks=pytest.mark.interpreted) for each in OTHERS]


@property_test(300, SEEDS, quick=4)
@pytest.mark.parametrize("problem", [*TOPIC_PROBLEMS, *INTERPRETED])
def test_optima_of_tiny_instances_are_proven(problem: str, seed: int) -> None:
    tiny = draw_tiny(random.Random(seed), problem)
    with TemporaryDirectory() as folder:
        result, lines = tiny.prove(Path(folder), seed=seed)
        if not lines:
            assert result.status is ob.Status.INFEASIBLE
            assert tiny.optimum() == float("inf")
            return
        outcome = accepted(tiny, result, lines, Path(folder))
    assert outcome[3]
    assert not falsehood(tiny, outcome)


@pytest.mark.interpreted
@property_test(60, SEEDS, quick=1)
@pytest.mark.parametrize("problem", ONE_OF_CONTENT)
def test_a_stopped_search_has_proven_its_bound(problem: str, seed: int) -> None:
    draw = random.Random(seed)
    tiny = Tiny(problem, medium(draw, problem))
    with TemporaryDirectory() as folder:
        result, lines = tiny.prove(Path(folder), seed=seed, time_limit=draw.choice([0.03, 0.1, 0.3, 1.0]))
        if result.value is None:
            assert not lines
        else:
            accepted(tiny, result, lines, Path(folder))


@pytest.mark.parametrize(
    ("problem", "calls"),
    [
        pytest.param(problem, calls, marks=[pytest.mark.slow] * (calls == 1 or (calls == 3 and problem[:2] != "2d")))
        for problem in TOPIC_PROBLEMS
        for calls in (0, 1, 3)
    ],
)
def test_a_search_without_memory_has_proven_its_bound(
    problem: str, calls: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [calls]
    for planes in (CuttingPlanes, StarPlanes):
        monkeypatch.setattr(planes, "tighten", failing(planes.tighten, left))
    monkeypatch.setattr(TreeSearch, "_improve", failing(TreeSearch._improve, left))
    tiny = Tiny(problem, medium(random.Random(calls), problem))
    result, lines = tiny.prove(tmp_path, seed=0)
    assert result.status is ob.Status.OPTIMAL or (result.status, result.reason) == ("memory-limit", "out of memory")
    accepted(tiny, result, lines, tmp_path)


@pytest.mark.interpreted
@pytest.mark.parametrize(("problem", "seed"), [("steiner", 11), ("content-steiner", 0)])
def test_what_the_lp_that_time_ended_has_proven_is_in_the_proof(
    problem: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved, solve = list[bool](), HighsLP.solve

    def stopped_at_second(lp: HighsLP, time_limit: float) -> bool:
        solved.append(solve(lp, time_limit))
        lp.is_stopped = len(solved) == 2
        return len(solved) < 2

    monkeypatch.setattr(HighsLP, "solve", stopped_at_second)
    monkeypatch.setattr(Clock, "left", property(lambda _: 60.0 * (len(solved) < 2)))
    tiny = Tiny(problem, medium(random.Random(seed), problem))
    result, lines = tiny.prove(tmp_path, seed=0, time_limit=60)
    assert (result.status, solved) == (ob.Status.TIME_LIMIT, [True, True])
    accepted(tiny, result, lines, tmp_path)


@pytest.mark.slow
def test_cases_of_edges_alone_and_of_what_topics_are_stand_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branch_and_cut, "_QUICK_LINKS", 0)
    tiny = Tiny("2d-true", ob.generate("uniform", nodes=20, topics=20, subscriptions=5, seed=1))
    result, lines = tiny.prove(tmp_path, seed=0, time_limit=60)
    assert result.value == 52
    assert result.status is ob.Status.OPTIMAL
    assert [line[0] for line in lines].count("case") == 2
    accepted(tiny, result, lines, tmp_path)


def accepted(tiny: Tiny, result: Any, lines: list[Line], folder: Path) -> tuple[str, Any, Any, bool]:
    """The checker's verdict, on the result's answer and at least on its bound."""
    outcome = check(tiny, lines, folder)
    assert not isinstance(outcome, str), outcome
    _, value, proven, is_optimal = outcome
    assert abs(float(value) - result.value) <= _ROUNDING * result.value
    assert float(proven) >= result.lower_bound * (1 - _ROUNDING)
    assert is_optimal or result.status is not ob.Status.OPTIMAL
    return outcome


def failing(method: Any, left: list[int]) -> Any:
    """A method that runs out of memory after some calls."""

    def run(*arguments: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise MemoryError
        return method(*arguments, **options)

    return run


def medium(draw: random.Random, problem: str) -> Any:
    """An instance whose search may need a tree and more than a moment."""
    seed = draw.randrange(10**6)
    if problem in TOPIC_PROBLEMS:
        topics = draw.randint(3, 15)
        laws = ["plane", "transit-stub"] if problem == "weighted-tco" else ["uniform", "zipf", "exponential"]
        law = ob.WORKLOADS[draw.choice(laws)]
        return law.generate(
            seed=seed, nodes=draw.randint(10, 24), topics=topics, subscriptions=draw.randint(2, min(topics, 8))
        )
    if problem == "steiner":
        if draw.random() < 0.3:
            return draw.choice(
                [hypercube(dimension=4), hypercube(dimension=5), ob.WORKLOADS["steiner-subdivision"].generate(size=7)]
            )
        nodes = draw.randint(10, 60)
        edges = draw.randint(nodes, min(nodes * (nodes - 1) // 2, 5 * nodes))
        return ob.WORKLOADS["steiner-sparse"].generate(
            seed=seed, nodes=nodes, edges=edges, terminals=draw.randint(2, nodes)
        )
    return ob.WORKLOADS["content"].generate(
        seed=seed,
        users=draw.randint(5, 14),
        brokers=draw.randint(2, 6),
        intervals=draw.randint(1, 4),
        metric=draw.choice(["plane", "independent", "cheapest-ways"]),
    )


def test_a_bound_counts_what_the_bound_before_it_fixed() -> None:
    """A node is bounded again after columns were fixed: uniform (100, 100, 10), seed 3, has such a root."""
    cases = checker("cases")

    class Pair(cases.Model):  # type: ignore[misc, name-defined]
        columns = ("a", "b")

        def cost(self, column: str) -> int:
            return {"a": 2, "b": 5}[column]

    case = case_of(Pair(), 3, [([("a", 1), ("b", 1)], 1), ([("a", 1), ("b", 3)], 1)])
    case.bound(0, [0, 1], {})  # of the reduced costs 1 and 4 the second exceeds what is left: 1
    case.bound(0, [1, 2], {})  # 1 if b were free, 2 as it is fixed to 0
    assert case.root_fixings() == {"b": 0}
    assert case.proven() == 2
