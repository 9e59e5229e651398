"""A node without topics has degree 0 in an answer that needs no edge of it, and changes no optimum."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import overlaybench as ob

WANTED = {"b": ["x", "y"], "c": ["y", "z"], "d": ["x", "z"], "e": ["x"]}
ALONE = {"a": [], "b": WANTED["b"], "c": WANTED["c"], "cc": [], "d": WANTED["d"], "e": WANTED["e"], "f": []}
INSTANCE = ob.read(ALONE)
PROBLEMS = [problem.name for problem in ob.PROBLEMS.values() if problem.kind == "topics"]


@pytest.mark.parametrize(
    "problem", [pytest.param(each, marks=[pytest.mark.interpreted] * (each != "2d-true")) for each in PROBLEMS]
)
def test_every_method_answers_with_them_and_exact_ones_as_without_them(problem: str) -> None:
    for name, method in ob.METHODS.items():
        if method.answers(problem):
            result = ob.solve(INSTANCE, problem, name, time_limit=3 if method.exact else 0.1)
            assert result.status is not ob.Status.FAILED, (name, result.reason)
            if method.exact and result.status is ob.Status.OPTIMAL:
                assert result.value == ob.solve(ob.read(WANTED), problem, name, time_limit=3).value, name


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_files_keep_them(tmp_path: Path, ending: str) -> None:
    ob.write_topics(INSTANCE, tmp_path / f"a.{ending}")
    again = ob.read(tmp_path / f"a.{ending}")
    assert again == INSTANCE
    assert again.node_labels == tuple(ALONE)


def test_objects_keep_them() -> None:
    assert ob.read(INSTANCE.to_networkx()) == ob.TopicInstance.from_subscriptions(ALONE) == INSTANCE
    assert ob.read(INSTANCE.to_scipy()) == ob.read(INSTANCE.to_scipy().toarray().astype(int)) == INSTANCE
    assert INSTANCE.sample(6, seed=1).num_nodes == 6
    assert INSTANCE.induced(np.array([0, 1, 2])).num_subscriptions == 4


def test_a_table_of_text_has_no_place_for_them(tmp_path: Path) -> None:
    with pytest.raises(ob.BadInput, match=r"a\.csv: .* write \.json"):
        ob.write_topics(INSTANCE, tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []
