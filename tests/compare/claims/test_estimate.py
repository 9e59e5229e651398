"""How long claims take: by the record, each grid once, and by the pace of the first judges."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from overlaybench.compare.claims.estimate import ExpectedTime, TimeToGo, duration, expected
from overlaybench.compare.claims.register import CLAIMS, ClaimOutcome, claims_named, keep_outcomes


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record of quick versions."""
    known = [
        ClaimOutcome("P2.F3", True, 1.0, (), grid_seconds=10.0),
        ClaimOutcome("P2.F4", True, 2.0, (), grid_seconds=10.0),
        ClaimOutcome("P4.F9", True, 1.0, (), grid_seconds=10.0),
    ]
    keep_outcomes(known, tmp_path / "record.json")
    monkeypatch.setattr("overlaybench.compare.claims.estimate.RECORD", tmp_path / "record.json")


@pytest.mark.usefixtures("record")
def test_a_full_version_that_is_not_on_record_counts_by_its_number_of_instances() -> None:
    quick, full = (expected([CLAIMS["P2.F3"]], quick) for quick in (True, False))
    assert (quick.seconds(2), quick.is_lower) == (1 + 10 / 2 + 15, False)
    assert (full.seconds(2), full.is_lower) == (1 + 6 * 10 / 2 + 15, False)
    assert full.seconds(60) == 1 + 1 + 15


@pytest.mark.usefixtures("record")
def test_a_full_version_on_larger_instances_is_estimated_from_below_by_the_squares_of_their_sizes() -> None:
    full = expected([CLAIMS["P4.F9"]], False)
    work = []
    for quick in (False, True):
        experiment = CLAIMS["P4.F9"].experiment(quick)
        assert experiment is not None
        work.append(sum(int(dict(recipe.parameters)["users"]) ** 2 for recipe in experiment.recipes))
    assert full.grids == pytest.approx(10 * work[0] / work[1])
    assert full.text(1).startswith("at least about")


def test_a_quick_version_that_is_not_on_record_is_estimated_from_the_full_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_outcomes([ClaimOutcome("P2.F3", False, 1.0, (), grid_seconds=60.0)], tmp_path / "full.json")
    monkeypatch.setattr("overlaybench.compare.claims.estimate.RECORD", tmp_path / "full.json")
    full, quick = (expected([CLAIMS["P2.F3"]], version) for version in (False, True))
    assert (full.grids, full.is_lower) == (60.0, False)
    assert 0 < quick.grids < 60
    assert not quick.is_lower


@pytest.mark.usefixtures("record")
def test_a_grid_that_two_claims_share_counts_once() -> None:
    assert expected(claims_named(["P2.F3", "P2.F4"]), True) == ExpectedTime((1.0, 2.0), 10.0)


@pytest.mark.usefixtures("record")
def test_a_claim_that_states_its_duration_needs_no_record() -> None:
    claim = replace(CLAIMS["P4.F9"], seconds=(3.0, 400.0))
    assert [expected([claim], quick).seconds(2) for quick in (True, False)] == [3.0, 400.0]


def test_the_time_to_go_follows_the_pace_of_the_judges_that_are_done() -> None:
    to_go = TimeToGo(ExpectedTime((10.0, 10.0, 20.0), 0.0))
    assert to_go.seconds == 40
    to_go.add(21.0)
    assert to_go.seconds == pytest.approx(60)
    assert str(to_go) == "2 of 3, about 60 s to go"
    to_go.add(10.0)
    to_go.add(20.0)
    assert to_go.seconds == 0


@pytest.mark.parametrize("slower", [0.1, 1.0, 3.0, 10.0])
def test_the_time_to_go_never_jumps_when_all_judges_are_equally_slower_than_recorded(slower: float) -> None:
    recorded = (0.2, 5.0, 0.3, 2.0, 10.0, 0.1, 4.0)
    to_go, shown = TimeToGo(ExpectedTime(recorded, 0.0)), []
    for seconds in recorded[:-1]:
        to_go.add(slower * seconds)
        shown.append(to_go.seconds)
    left = [slower * sum(recorded[done:]) for done in range(1, len(recorded))]
    assert all(true / 10 < estimate < 10 * true for true, estimate in zip(left, shown, strict=True))
    assert shown[-1] == pytest.approx(left[-1], rel=0.5)


def test_durations_are_in_seconds_minutes_or_hours() -> None:
    assert [duration(seconds) for seconds in (40, 600, 23_000)] == ["40 s", "10 min", "6.4 h"]
