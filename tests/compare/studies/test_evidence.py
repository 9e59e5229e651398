"""How far a lower bound is proven: by a checked proof, by two engines, or by one."""

import json
import math
from typing import Any

import pandas as pd
import pytest

from overlaybench.compare.report.tables import judged_runs, summary_table
from overlaybench.compare.studies.bounds import disagreements, proven
from overlaybench.compare.studies.proofs import level_of, levels
from overlaybench.instances.contract.result import Result, Status
from tests.compare.report_rows import frame, run


def optimal(method: str, value: Any = 10, **given: Any) -> dict[str, Any]:
    return run(method=method, value=value, status="optimal", **given)


def certified(bound: float) -> str:
    return json.dumps({"nodes": 3, "certified": bound})


def levels_of(*runs: dict[str, Any]) -> list[str]:
    return list(levels(frame(*runs)))


def test_one_engine_claims_and_two_agree_unless_they_contradict() -> None:
    assert levels_of(optimal("cp-sat"), run(method="gm", value=12)) == ["claimed", ""]
    assert levels_of(optimal("cp-sat"), optimal("branch-and-cut")) == ["agreed", "agreed"]
    others = (optimal("cp-sat", seed=2), optimal("ilp", instance="i2"), optimal("ilp", problem="low-tco"))
    assert all(levels_of(optimal("cp-sat"), other) == ["claimed", "claimed"] for other in others)
    assert levels_of(optimal("lp-bound"), optimal("branch-and-cut")) == ["claimed", "claimed"]  # one engine
    rows = [optimal("ilp"), run(method="cp-sat", value=11, lower_bound=8, status="time-limit")]
    assert levels_of(*rows) == ["claimed", "agreed"]
    assert levels_of(optimal("cp-sat", 10), optimal("ilp", 9)) == ["claimed", "claimed"]
    assert levels_of(optimal("cp-sat", 10), optimal("ilp", 9, counters=certified(9))) == ["claimed", "certified"]


def test_a_checked_proof_certifies_every_bound_that_it_implies_and_no_higher_one() -> None:
    rows = [
        optimal("branch-and-cut", counters=certified(10)),
        optimal("cp-sat"),
        run(method="ilp", value=12, lower_bound=7, status="time-limit"),
    ]
    assert levels_of(*rows) == ["certified", "certified", "certified"]
    assert levels_of(optimal("branch-and-cut", counters=certified(9)), optimal("cp-sat")) == ["agreed", "agreed"]
    assert levels_of(optimal("branch-and-cut", counters=certified(9))) == ["claimed"]


def test_failures_and_texts_certify_nothing_and_infeasibility_is_claimed_or_agreed() -> None:
    failed = run(method="ilp", status="failed", lower_bound=10)
    assert levels_of(failed, optimal("cp-sat")) == ["", "claimed"]
    assert levels_of(run(method="gm", value=10)) == [""]
    rows = [run(method=method, status="infeasible") for method in ("ilp", "cp-sat")]
    assert levels_of(rows[0]) == ["claimed"]
    assert levels_of(*rows) == ["agreed", "agreed"]
    assert levels_of(optimal("branch-and-cut", counters='{"certified": "10"}')) == ["claimed"]
    assert levels_of(optimal("branch-and-cut", counters='{"note": "\\"certified\\": 10"}')) == ["claimed"]


def test_an_implied_bound_is_proven_as_far_as_the_weakest_bound_behind_it() -> None:
    rows = frame(
        optimal("branch-and-cut", problem="min-tco", counters=certified(10)),
        optimal("cp-sat", 4, problem="minmax-tco"),
        run("low-tco", value=41, edges=10, max_degree=4),
    )
    pairs = proven(rows).set_index("problem")["proven"]
    assert pairs.to_dict() == {"min-tco": "certified", "minmax-tco": "claimed", "low-tco": "claimed"}


def test_a_refused_proof_is_a_disagreement() -> None:
    counters = json.dumps({"proof": "0", "proof_check": "wrong: line 7: the row is not valid"})
    rows = frame(optimal("branch-and-cut", counters=counters), optimal("cp-sat"))
    found = disagreements(rows, proven(rows))
    assert found["kind"].tolist() == ["wrong proof"]
    assert "line 7: the row is not valid" in found["sentence"].iloc[0]


@pytest.mark.parametrize(
    ("given", "level"),
    [
        ({"status": Status.OPTIMAL, "value": 3.0, "lower_bound": 3.0}, "claimed"),
        ({"status": Status.OPTIMAL, "value": 3.0, "lower_bound": 3.0, "counters": {"certified": 3.0}}, "certified"),
        ({"status": Status.TIME_LIMIT, "lower_bound": 3.0, "counters": {"certified": 2.0}}, "claimed"),
        ({"status": Status.FEASIBLE, "value": 3.0}, ""),
        ({"status": Status.INFEASIBLE, "reason": "no capacity"}, "claimed"),
        ({"status": Status.INFEASIBLE, "reason": "no capacity", "counters": {"certified": math.inf}}, "certified"),
        ({"status": Status.FAILED, "lower_bound": 3.0, "reason": "killed"}, ""),
    ],
)
def test_a_single_run_is_certified_or_claimed(given: dict[str, Any], level: str) -> None:
    assert level_of(Result(problem="min-tco", method="branch-and-cut", **given)) == level


def test_the_summary_counts_the_levels_of_the_optima() -> None:
    rows: pd.DataFrame = frame(
        optimal("branch-and-cut", instance="i1", counters=certified(10)),
        optimal("cp-sat", instance="i2"),
        optimal("ilp", instance="i2"),
        optimal("cp-sat", instance="i3"),
    )
    (line,) = summary_table(judged_runs(rows), proven(rows)).to_dict("records")
    assert [line[name] for name in ("instances", "solved", "certified", "agreed", "claimed")] == [3, 3, 1, 1, 1]
