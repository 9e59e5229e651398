"""Verify finds every forged row and file, and none of them ends in an error."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from overlaybench.compare.studies.rerun import Rerun, faults_of_rerun, sampled
from overlaybench.compare.studies.row import SCHEMA
from overlaybench.compare.studies.spark_session import PlugIns
from overlaybench.compare.studies.store import Store
from overlaybench.compare.studies.verification import (
    Fault,
    Item,
    Verification,
    checked_in,
    faults_of_row,
    verified,
    verify,
)
from tests.compare.studies.forgeries import (
    OF_ANY_PROBLEM,
    OF_FILES,
    OF_ONE_ROW,
    OF_ROWS,
    SPEC,
    SPEC_OF_OTHERS,
    Forged,
    Forgery,
    exchanged_answer,
)
from tests.compare.studies.without_spark import study_done_in


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A study of 16 runs."""
    return study_done_in(tmp_path_factory.mktemp("honest"), SPEC)


@pytest.fixture(scope="module")
def of_others(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A study of the problems with costs, faults, limits and systems of brokers."""
    return study_done_in(tmp_path_factory.mktemp("others"), SPEC_OF_OTHERS)


def forged_by(forgery: Forgery, honest: Store, folder: Path) -> Forged:
    store = Store(shutil.copytree(honest.folder, folder / "out"))
    forged = Forged(store, store.table().to_pylist(), schema=SCHEMA)
    forgery(forged)
    forged.write()
    return forged


def checked_here(store: Store, **given: Any) -> Verification:
    """What verify finds, without Spark."""

    def apply(items: list[Item], slices: int, plug_ins: PlugIns) -> list[Fault]:
        faults_of = checked_in(str(store.folder), plug_ins)
        return [fault for item in items for fault in faults_of(item)]

    return verified(store, apply, **given)


def test_an_honest_study_has_no_faults(honest: Store) -> None:
    verification = checked_here(honest)
    assert verification == Verification(16, 0, 0, (), ())


@pytest.mark.parametrize("name", OF_ONE_ROW)
def test_a_forged_row_is_found_by_itself(name: str, honest: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overlaybench.compare.studies.verification._MOST_SECONDS", 1.0)
    forged = Forged(honest, honest.table().to_pylist())
    OF_ONE_ROW[name](forged)
    (row,) = (row for row in forged.rows if row["key"] == forged.keys[-1])
    faults = faults_of_row(row, str(honest.folder))
    assert faults
    assert not [fault for fault in faults if "cannot be checked" in fault or len(fault.splitlines()) > 1]


OF_MANY: dict[str, Forgery] = {**OF_ROWS, **OF_FILES}


@pytest.mark.parametrize("name", OF_MANY)
def test_every_forgery_is_found_where_it_is(name: str, honest: Store, tmp_path: Path) -> None:
    forged = forged_by(OF_MANY[name], honest, tmp_path)
    faults = checked_here(forged.store).faults
    assert set(forged.keys) <= {key for key, _ in faults}
    assert not [fault for _, fault in faults if "cannot be checked" in fault or len(fault.splitlines()) > 1]


def test_other_problems_have_no_faults_unless_forged(of_others: Store) -> None:
    assert checked_here(of_others).faults == ()
    for number, honest_row in enumerate(of_others.table().to_pylist()):
        for name, forge in OF_ANY_PROBLEM.items():
            row = of_others.table().to_pylist()[number]
            forge(row)
            faults = faults_of_row(row, str(of_others.folder))
            assert row == honest_row or faults, (name, row["problem"], row["method"])
            assert not [fault for fault in faults if "cannot be checked" in fault], (name, row["problem"], faults)


@pytest.mark.slow
@pytest.mark.spark
def test_forged_rows_are_found_on_spark(honest: Store, tmp_path: Path) -> None:
    """Each forgery of a row on a copy of that row, all in one folder."""
    forged = Forged(Store(shutil.copytree(honest.folder, tmp_path / "out")), [], schema=SCHEMA)
    for number, forgery in enumerate(OF_ONE_ROW.values()):
        one = Forged(forged.store, honest.table().to_pylist())
        forgery(one)
        row = next(row for row in one.rows if row["key"] == one.keys[-1])
        forged.rows.append({**row, "key": f"{number:032x}"})
        forged.keys.append(f"{number:032x}")
    forged.write()
    verification = verify(forged.store.folder, "local[2]")
    assert set(forged.keys) <= {key for key, _ in verification.faults}
    assert checked_here(honest).faults == verify(honest.folder, "local[2]").faults == ()


def test_a_random_share_is_repeated_and_a_forged_heuristic_found(honest: Store, tmp_path: Path) -> None:
    assert checked_here(honest, share=0.2, seed=1) == Verification(16, 0, 4, (), ())
    forged = forged_by(exchanged_answer, honest, tmp_path)
    assert checked_here(forged.store).faults == ()
    assert {key for key, _ in checked_here(forged.store, share=1.0).faults} == set(forged.keys)


def test_a_sample_depends_on_the_seed_alone() -> None:
    rows = [{"key": f"{number:032x}"} for number in range(40)]
    assert sampled(rows, 0.1, 3) == sampled(rows[::-1], 0.1, 3)
    assert len(sampled(rows, 0.01, 3)) == 1
    assert sampled(rows, 0.1, 3) != sampled(rows, 0.1, 4)


@pytest.mark.parametrize(
    ("before", "after", "faults"),
    [
        ({}, {}, 0),
        ({"value": 5.0}, {"value": 4.0}, 1),
        ({"status": "time-limit", "value": 5.0}, {"value": 4.0}, 0),
        ({"status": "time-limit", "value": 5.0}, {"value": 4.0, "lower_bound": 6.0}, 1),
        ({"seconds": 9.5, "value": 5.0}, {"value": 4.0}, 0),
        ({"status": "failed", "reason": "memory: 1 MiB", "value": None}, {"value": 4.0}, 0),
        ({"status": "failed", "reason": "ValueError: no", "value": None}, {"value": 4.0}, 1),
        ({"status": "infeasible", "value": None}, {"answer": [0, 1]}, 2),
        ({"code_version": "0" * 12, "value": 5.0}, {"value": 4.0}, 0),
    ],
)
def test_a_repeated_run_is_compared_as_far_as_no_limit_stopped_it(
    before: dict[str, Any], after: dict[str, Any], faults: int
) -> None:
    row = {"status": "feasible", "reason": "", "value": 5.0, "lower_bound": None, "answer": None, "measures": []}
    row |= {"seconds": 1.0, "time_limit": 10.0, "code_version": "1" * 12}
    assert len(list(faults_of_rerun(Rerun({**row, **before}, {**row, **after})))) == faults
