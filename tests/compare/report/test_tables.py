"""The numbers of a report, against hand-made rows and brute force."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import overlaybench as ob
from overlaybench.compare.figures.charts import common_instances, profile_points
from overlaybench.compare.report.tables import (
    effort_table,
    failure_table,
    family_ratios,
    family_table,
    judged_runs,
    listed,
    method_table,
    summary_table,
)
from overlaybench.compare.studies.bounds import disagreements, implications, proven
from overlaybench.instances.content.problems import CONTENT_PROBLEMS
from overlaybench.instances.content.workloads import relay_star
from tests.compare.report_rows import frame, run
from tests.content_brute_force import optimum
from tests.topic_brute_force import optimum as topic_optimum


def pair(rows: pd.DataFrame, problem: str, instance: str = "i1") -> pd.Series:
    pairs = proven(rows)
    return pairs[(pairs["problem"] == problem) & (pairs["instance"] == instance)].iloc[0]


def summarised(rows: pd.DataFrame, problem: str = "min-tco") -> pd.Series:
    return summary_table(judged_runs(rows), proven(rows)).set_index("problem").loc[problem]


def proof(problem: str, value: float, **given: Any) -> dict[str, Any]:
    """A run that proved its answer optimal."""
    return run(problem, "ilp", value=value, status="optimal", **given)


def four_instances() -> pd.DataFrame:
    """Two instances with a proven optimum (10 and 20), one with a bound only (8 against 10), one with nothing."""
    return frame(
        proof("min-tco", 10, instance="i1", seconds=2.0),
        proof("min-tco", 20, instance="i2", seconds=4.0),
        run(method="ilp", instance="i3", value=11, lower_bound=8, status="time-limit", seconds=10.0),
        run(method="ilp", instance="i4", status="failed", seconds=12.0, reason="out of memory"),
        run(method="gm", instance="i1", value=10, seconds=0.1),
        run(method="gm", instance="i2", value=25, seconds=0.1),
        run(method="gm", instance="i3", value=10, seconds=0.1),
        run(method="gm", instance="i4", value=7, seconds=0.5),
    )


def test_method_table_equals_the_numbers_worked_out_by_hand() -> None:
    runs = judged_runs(four_instances())
    table = method_table(runs, "min-tco").set_index("method")
    assert list(table.index) == ["gm", "ilp"], "heuristics stand before exact methods"
    gm, ilp = table.loc["gm"], table.loc["ilp"]
    counts = ["runs", "answered", "compared", "versus_optimum", "reached", "proved", "failed"]
    assert gm[["instances", *counts]].tolist() == [4, 4, 4, 3, 2, 1, 0, 0]
    assert ilp[counts].tolist() == [4, 3, 3, 2, 2, 2, 1]
    numbers = ["mean_ratio", "worst_ratio", "mean_over_optimum", "mean_seconds"]
    assert gm[numbers].tolist() == pytest.approx([(1 + 1.25 + 1.25) / 3, 1.25, 1.125, 0.2])
    assert ilp[["mean_ratio", "worst_over_optimum", "mean_seconds"]].tolist() == pytest.approx([(2 + 11 / 8) / 3, 1, 7])
    assert runs.set_index("anchor").at[ilp["worst_run"], "instance"] == "i3"


def test_a_met_bound_proves_the_optimum_and_failed_runs_bound_nothing() -> None:
    rows = frame(
        run(method="ilp", value=12, lower_bound=7, status="time-limit"),
        run(method="cp-sat", lower_bound=9, status="time-limit"),
        run(method="gm", value=13),
        run(method="gm", seed=2, status="failed", lower_bound=12, value=3),
    )
    found = pair(rows, "min-tco")
    assert (found["bound"], found["best"]) == (9, 12)
    assert np.isnan(found["optimum"])
    assert found["gap"] == pytest.approx(3 / 12)
    assert found["bound_keys"] == (rows.at[1, "key"],)
    rows = frame(run(method="ilp", value=12, lower_bound=9, status="time-limit"), run(method="gm", value=9))
    assert pair(rows, "min-tco")["optimum"] == 9
    table = method_table(judged_runs(rows), "min-tco").set_index("method")
    assert (table.at["gm", "reached"], table.at["gm", "proved"]) == (1, 0)


STAR_OVERLAY = run("2d-star", "2d-oda", value=15, edges=15)


@pytest.mark.parametrize(
    ("rows", "problem", "column", "expected"),
    [
        ([proof("min-tco", 20), run("2d-true", "2d-oda", value=30)], "2d-true", "bound", 20),
        ([proof("min-tco", 20), run("2d-star", "2d-oda", value=30)], "2d-star", "bound", 20),
        ([proof("2d-star", 20), run("min-tco", "gm", value=15)], "min-tco", "bound", math.nan),
        ([run(lower_bound=9 + 1e-7, value=20), run("2d-true", "2d-oda", value=30)], "2d-true", "bound", 9),
        (
            [proof("min-tco", 20, nodes=20), proof("minmax-tco", 3, nodes=20), run("low-tco", value=75, nodes=20)],
            *("low-tco", "bound", 60),
        ),
        # By handshakes, rounded up.
        ([proof("min-tco", 16, nodes=10), run("minmax-tco", "gm", value=6)], "minmax-tco", "bound", 4),
        # An overlay counts for every problem that it answers, and for no other.
        ([run("2d-star", value=9, edges=9, max_degree=3), run("min-tco", "ilp", lower_bound=9)], "min-tco", "best", 9),
        ([run("low-tco", value=40, edges=10, max_degree=4), run("minmax-tco", "ilp")], "minmax-tco", "best", 4),
        (
            [run("minmax-tco", value=4, edges=10, max_degree=4), run("low-tco", value=50, edges=10, max_degree=5)],
            *("low-tco", "best", 40),
        ),
        (
            [run("min-tco", value=9, edges=9, max_degree=2), run("2d-true", "2d-oda", value=15, edges=15)],
            *("2d-true", "best", 15),
        ),
        ([STAR_OVERLAY, run("2d-true", "ilp", value=12, edges=12, status="optimal")], "2d-star", "best", 15),
        ([STAR_OVERLAY, run("2d-true", "2d-oda", value=16, edges=16)], "2d-true", "best", 15),
    ],
)
def test_one_problem_counts_for_others(rows: list[dict[str, Any]], problem: str, column: str, expected: float) -> None:
    assert pair(frame(*rows), problem)[column] == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("problem", "value", "bound", "is_proven", "is_false"),
    [
        ("weighted-tco", 2_000_001, 2_000_000, False, False),
        ("weighted-tco", 2_000_000, 2_000_001, False, True),
        ("content-mst", 2_000_001, 2_000_000, True, False),
        ("content-mst", 2e-9, 1e-9, False, False),
        ("content-mst", 2e-9, 3e-9, False, True),
    ],
)
def test_numbers_differ_by_one_where_they_are_integers_and_by_a_share_elsewhere(
    problem: str, value: float, bound: float, is_proven: bool, is_false: bool
) -> None:
    rows = frame(run(problem, "gm", value=value), run(problem, "ilp", lower_bound=bound, status="time-limit"))
    assert math.isfinite(pair(rows, problem)["optimum"]) == is_proven
    assert len(disagreements(rows, proven(rows))) == is_false


OF_TOPICS = ("min-tco", "minmax-tco", "low-tco", "2d-star", "2d-true", "weighted-tco", "k-tco")


def test_no_implied_bound_exceeds_an_optimum_found_by_brute_force() -> None:
    for seed in range(20):
        given = {"nodes": 3 + seed % 3, "topics": 4, "subscriptions": 1 + seed % 2}
        instance = ob.WORKLOADS["plane" if seed % 2 else "uniform"].generate(seed=seed, **given)
        best = {problem: float(topic_optimum(instance, problem)) for problem in OF_TOPICS}
        content = ob.WORKLOADS["content"].generate(seed=seed, users=4, brokers=3, intervals=2, metric="independent")
        best |= {each.name: float(optimum(content, each.name.removeprefix("content-"))) for each in CONTENT_PROBLEMS}
        for target, one in (each for each in implications() if each[0] in best):
            bound = one.bound(float(instance.num_nodes), *(best[name] for name in one.premises))
            assert bound <= best[target] * (1 + 1e-9), (one.proof, seed)


def test_no_bound_of_a_dearer_routing_counts_for_a_cheaper_one() -> None:
    """Only trees of any brokers use the hub of a star; three pairs on a triangle share no tree without a detour."""
    near = 1 - np.eye(3)
    pairs = ob.ContentInstance(9 * near, near, np.full(3, 9.0), np.eye(3), np.roll(np.eye(3, dtype=np.bool_), 1, 0))
    for instance, costs in ((relay_star(rim=3), (3, 4, 3)), (pairs, (3, 3, 4))):
        best = {each.name: optimum(instance, each.routing) for each in CONTENT_PROBLEMS}
        assert tuple(best.values()) == costs
        for target, one in (each for each in implications() if each[0] in best):
            assert one.bound(4.0, *(best[name] for name in one.premises)) <= best[target]


def test_ratio_is_one_where_value_and_bound_are_zero_and_absent_without_a_positive_bound() -> None:
    runs = judged_runs(
        frame(
            proof("min-tco", 0, instance="zero"),
            run(method="gm", instance="none", value=5),
            run(method="gm", instance="trivial", value=5, lower_bound=0),
        )
    ).set_index("instance")
    assert (runs.at["zero", "ratio"], runs.at["zero", "gap"]) == (1, 0)
    assert runs.loc[["none", "trivial"], "ratio"].isna().all()


def test_a_method_run_under_several_time_limits_is_several_lines() -> None:
    rows = frame(
        run(method="ilp", value=12, status="time-limit", time_limit=1.0),
        proof("min-tco", 10, time_limit=60.0),
        run(method="gm", value=11, time_limit=60.0),
    )
    assert set(judged_runs(rows)["label"]) == {"ilp, 1 s", "ilp, 60 s", "gm"}


USERS = {"kind": "content"}


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        ([proof("min-tco", 10), run(method="cp-sat", value=11, status="optimal")], "two optima"),
        ([proof("content-mst", 9, **USERS), run("content-mst", value=8, status="optimal", **USERS)], "two optima"),
        ([proof("min-tco", 10), run(method="gm", value=9)], "value below bound"),
        (
            [proof("minmax-tco", 4, edges=12, max_degree=4), run("min-tco", value=11, edges=11, max_degree=3)],
            "value below bound",
        ),
        ([run(method="ilp", status="infeasible"), run(method="gm", value=9)], "infeasible"),
        ([run(method="ilp", value=9, lower_bound=8, status="optimal")], "optimal without proof"),
    ],
)
def test_a_contradiction_is_found_with_its_runs(rows: list[dict[str, Any]], kind: str) -> None:
    given = frame(*rows)
    found = disagreements(given, proven(given))
    assert found["kind"].tolist() == [kind]
    assert set(found.at[0, "keys"]) <= set(given["key"])
    assert disagreements(four_instances(), proven(four_instances())).empty


@pytest.mark.filterwarnings("ignore:overflow")
def test_false_bounds_do_not_lift_each_other_for_ever() -> None:
    rows = frame(
        run("min-tco", "ilp", lower_bound=50, status="time-limit", nodes=2),
        run("minmax-tco", "ilp", lower_bound=40, status="time-limit", nodes=2),
        run("low-tco", "gm", value=1, edges=1, max_degree=1, nodes=2),
    )
    assert math.isfinite(pair(rows, "low-tco")["bound"])
    assert "low-tco" in disagreements(rows, proven(rows))["problem"].tolist()


def test_the_summary_states_what_is_proven_and_what_is_not() -> None:
    line = summarised(four_instances())
    assert line[["instances", "solved", "claimed", "certified", "open_ended", "failed"]].tolist() == [4, 2, 2, 0, 1, 1]
    assert line[["widest_gap", "mean_gap"]].tolist() == pytest.approx([0.2, 0.2])
    assert line[["closest", "compared_with", "farthest"]].tolist() == ["gm", "2 optima", ""]
    assert line[["closest_mean", "closest_worst"]].tolist() == pytest.approx([1.125, 1.25])
    line = summarised(frame(run(method="ilp", value=12, lower_bound=10, status="time-limit"), run(value=11)))
    assert line[["solved", "compared_with", "closest_mean"]].tolist() == [0, "1 bound", pytest.approx(1.1)]
    assert line["widest_gap"] == pytest.approx(1 / 11)
    line = summarised(frame(proof("min-tco", 10), run(method="gm", value=9)))
    assert np.isnan(line["widest_gap"]), "no gap where results contradict each other"
    line = summarised(frame(proof("min-tco", 10)))
    assert line[["closest", "compared_with"]].tolist() == ["", ""], "without a heuristic"


def test_the_closest_heuristic_is_one_that_ran_on_the_most_instances_by_the_mean() -> None:
    rows = [proof("min-tco", value, instance=name) for name, value in (("easy", 10), ("hard", 20))]
    rows += [run(instance="easy", value=11), run(instance="hard", value=22)]
    line = summarised(frame(*rows, run(method="ring-per-topic", instance="easy", value=10)))
    assert line[["closest", "closest_mean", "farthest"]].tolist() == ["gm", pytest.approx(1.1), ""]
    # gm-m has the worst single run, and gm the worst mean.
    values = {"gm": (13, 13, 13), "gm-m": (10, 10, 16), "low-oda": (10, 11, 10)}
    rows = [proof("min-tco", 10, instance=f"i{i}") for i in range(4)]
    rows += [run(method=name, instance=f"i{i}", value=v) for name, vs in values.items() for i, v in enumerate(vs)]
    rows += [run(instance="i3", value=10), run(method="gm-m", instance="i3", value=30)]
    line = summarised(frame(*rows, run(method="low-oda", instance="i3")))
    assert line[["compared_with", "closest", "farthest"]].tolist() == ["3 optima", "low-oda", "gm"]
    assert line["farthest_mean"] == pytest.approx(1.3)


def test_failed_runs_are_grouped_by_reason_and_what_was_run_adds_up() -> None:
    failed = [("ilp", "i1", "killed"), ("ilp", "i2", "killed"), ("gm", "i1", "crashed")]
    rows = frame(*(run(method=m, instance=i, status="failed", reason=why) for m, i, why in failed))
    table = failure_table(judged_runs(rows))
    grouped = sorted(zip(table["method"], table["reason"], table["runs"], strict=True))
    assert grouped == [("gm", "crashed", 1), ("ilp", "killed", 2)]
    runs = judged_runs(four_instances())
    effort = effort_table(runs)
    assert effort["runs"].sum() == effort[[str(status) for status in ob.Status]].to_numpy().sum() == len(runs)
    assert effort["seconds"].sum() == pytest.approx(28.8)
    assert family_table(runs)["runs"].sum() == len(runs)
    assert listed(pd.Series([2_147_483_647, 0.5])) == "0.5, 2147483647", "seeds have all their digits"


def test_ratios_are_averaged_within_each_family() -> None:
    rows = [proof("min-tco", 10, instance=name, family=name) for name in ("real", "random")]
    rows += [run(instance=name, value=value, family=name) for name, value in (("real", 12), ("random", 15))]
    rows.append(run(method="ring-per-topic", instance="random", value=20, family="random"))
    means, _ = family_ratios(judged_runs(frame(*rows)), "min-tco")
    assert (means.at["gm", "real"], means.at["gm", "random"]) == pytest.approx((1.2, 1.5))
    assert np.isnan(means.at["ring-per-topic", "real"])


def test_a_profile_counts_instances_not_runs_never_reaches_failures_and_compares_shared_instances() -> None:
    rows = [proof("min-tco", 10, instance=name) for name in ("i1", "i2")]
    rows += [run(instance="i1", seed=seed, value=value) for seed, value in ((1, 10), (2, 12))]
    runs = judged_runs(frame(*rows, run(instance="i2", status="failed")))
    steps = profile_points(runs[runs["label"] == "gm"])
    assert steps["x"].tolist() == pytest.approx([1.0, 1.0, 1.2, 1.02 * 1.2])
    assert steps["y"].tolist() == pytest.approx([0.25, 0.25, 0.5, 0.5])
    shared, count = common_instances(judged_runs(four_instances().iloc[[0, 1, 2, 4, 5]]))
    assert count == 2
    assert set(shared["instance"]) == {"i1", "i2"}
