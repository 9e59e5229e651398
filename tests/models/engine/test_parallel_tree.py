"""A tree searched by several processes has the optimum, one answer for a seed, and a proof that holds."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import overlaybench as ob
from overlaybench.compare.studies.proofs import checked_proof
from overlaybench.models.engine import parallel_tree
from tests.outcomes import bound_of, value_of


@pytest.fixture(autouse=True)
def _rounds_of_small_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_tree, "_SMALL_TREE", 0)
    monkeypatch.setattr(parallel_tree, "_ROUND", (40, 40))


@pytest.mark.parametrize(
    ("problem", "sizes"),
    [
        ("2d-true", (10, 10, 4)),
        pytest.param("2d-star", (18, 16, 5), marks=pytest.mark.slow),  # has the processes of 2d-true
        *(pytest.param("min-tco", (n, n, n // 2), marks=pytest.mark.slow) for n in (20, 22, 24)),
    ],
)
def test_processes_find_and_prove_the_optimum_again(problem: str, sizes: tuple[int, int, int], tmp_path: Path) -> None:
    nodes, topics, subscriptions = sizes
    instance = ob.generate("uniform", nodes=nodes, topics=topics, subscriptions=subscriptions, seed=0)
    alone = ob.solve(instance, problem, "branch-and-cut", threads=1)
    proof = tmp_path / "proof.gz"
    two, again = (ob.solve(instance, problem, "branch-and-cut", threads=2, proof=proof) for _ in range(2))
    assert (two.status, two.value, two.lower_bound) == (alone.status, alone.value, alone.value)
    assert (again.answer, again.counters) == (two.answer, two.counters)
    assert checked_proof(instance, ob.PROBLEMS[problem], proof, 1).accepted


def test_a_time_limit_leaves_a_proven_bound(tmp_path: Path) -> None:
    instance = ob.generate("uniform", nodes=26, topics=26, subscriptions=13, seed=1)
    proof = tmp_path / "proof.gz"
    result = ob.solve(instance, "min-tco", "branch-and-cut", threads=3, time_limit=0.5, proof=proof)
    assert 39 <= bound_of(result) <= 41 <= value_of(result)
    assert checked_proof(instance, ob.PROBLEMS["min-tco"], proof, 1).accepted


def _die(*_: object) -> None:
    os._exit(3)


def _fail(*_: object) -> None:
    raise RuntimeError("exit code 3 is not what ended this process")


@pytest.mark.parametrize("end", [_die, _fail])
def test_a_process_that_ends_is_an_error_of_the_run(end: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_tree, "_done", end)
    instance = ob.generate("uniform", nodes=10, topics=10, subscriptions=4, seed=0)
    with pytest.raises(RuntimeError, match="exit code 3"):
        ob.solve(instance, "2d-true", "branch-and-cut", threads=2)
