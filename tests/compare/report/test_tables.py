"""The numbers of a report, against hand-made rows and brute force."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from overlaybench.compare.figures.charts import common_instances, profile
from overlaybench.compare.report.summary import above, percent, summary
from overlaybench.compare.report.tables import (
    effort_table,
    failure_table,
    family_ratios,
    family_table,
    judged_runs,
    method_table,
)
from overlaybench.compare.studies.bounds import IMPLICATIONS, disagreements, proven
from overlaybench.instances.content.problems import CONTENT_PROBLEMS
from overlaybench.instances.contract.catalogue import WORKLOADS
from overlaybench.instances.contract.result import Status
from tests.compare.report_rows import frame, run
from tests.content_brute_force import optimum


def pair(rows: pd.DataFrame, problem: str, instance: str = "i1") -> pd.Series:
    pairs = proven(rows)
    return pairs[(pairs["problem"] == problem) & (pairs["instance"] == instance)].iloc[0]


def summarised(rows: pd.DataFrame, problem: str = "min-tco") -> str:
    return "".join(phrase.text for phrase in summary(judged_runs(rows), proven(rows), problem))


def four_instances() -> pd.DataFrame:
    """Two instances with a proven optimum (10 and 20), one with a bound only (8 against 10), one with nothing."""
    return frame(
        run(method="ilp", instance="i1", value=10, status="optimal", seconds=2.0),
        run(method="ilp", instance="i2", value=20, status="optimal", seconds=4.0),
        run(method="ilp", instance="i3", value=11, lower_bound=8, status="time-limit", seconds=10.0),
        run(method="ilp", instance="i4", status="failed", seconds=12.0, reason="out of memory"),
        run(method="gm", instance="i1", value=10, seconds=0.1),
        run(method="gm", instance="i2", value=25, seconds=0.1),
        run(method="gm", instance="i3", value=10, seconds=0.1),
        run(method="gm", instance="i4", value=7, seconds=0.5),
    )


def test_method_table_equals_the_numbers_worked_out_by_hand() -> None:
    table = method_table(judged_runs(four_instances()), "min-tco").set_index("method")
    gm = table.loc["gm"]
    assert (gm["instances"], gm["runs"], gm["answered"], gm["compared"]) == (4, 4, 4, 3)
    assert gm["mean_ratio"] == pytest.approx((1 + 1.25 + 1.25) / 3)
    assert gm["worst_ratio"] == pytest.approx(1.25)
    assert (gm["versus_optimum"], gm["reached"], gm["proved"], gm["failed"]) == (2, 1, 0, 0)
    assert gm["mean_over_optimum"] == pytest.approx(1.125)
    assert gm["mean_seconds"] == pytest.approx(0.2)
    ilp = table.loc["ilp"]
    assert (ilp["runs"], ilp["answered"], ilp["proved"], ilp["failed"], ilp["versus_optimum"]) == (4, 3, 2, 1, 2)
    assert ilp["mean_ratio"] == pytest.approx((1 + 1 + 11 / 8) / 3)
    assert ilp["worst_over_optimum"] == 1
    assert ilp["mean_seconds"] == pytest.approx(7.0)
    assert list(table.index) == ["gm", "ilp"], "heuristics stand before exact methods"


def test_worst_run_names_the_run_with_the_worst_ratio() -> None:
    runs = judged_runs(four_instances())
    worst = method_table(runs, "min-tco").set_index("method").at["ilp", "worst_run"]
    assert runs.set_index("anchor").at[worst, "instance"] == "i3"


def test_best_bound_is_the_highest_of_any_method_and_ignores_failed_runs() -> None:
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


def test_a_bound_met_by_another_run_proves_the_optimum() -> None:
    rows = frame(run(method="ilp", value=12, lower_bound=9, status="time-limit"), run(method="gm", value=9))
    assert pair(rows, "min-tco")["optimum"] == 9
    table = method_table(judged_runs(rows), "min-tco").set_index("method")
    assert table.at["gm", "reached"] == 1
    assert table.at["gm", "proved"] == 0


def test_a_min_tco_bound_bounds_both_diameter_two_problems_and_not_the_other_way() -> None:
    heuristics = [run(problem, "2d-oda", value=30) for problem in ("2d-star", "2d-true")]
    rows = frame(run("min-tco", "ilp", value=20, status="optimal"), *heuristics)
    assert pair(rows, "2d-true")["bound"] == 20
    assert pair(rows, "2d-star")["bound"] == 20
    assert "diameter at most 2" in pair(rows, "2d-star")["bound_proof"]
    rows = frame(run("2d-star", "ilp", value=20, status="optimal"), run("min-tco", "gm", value=15))
    assert np.isnan(pair(rows, "min-tco")["bound"])


def test_the_bounds_of_both_objectives_multiply_for_low_tco() -> None:
    rows = frame(
        run("min-tco", "ilp", value=20, status="optimal", nodes=20),
        run("minmax-tco", "ilp", value=3, status="optimal", nodes=20),
        run("low-tco", "low-oda", value=75, nodes=20),
    )
    found = pair(rows, "low-tco")
    assert found["bound"] == 60
    assert set(found["bound_keys"]) == set(rows["key"][:2])


def test_the_degree_bound_by_handshakes_is_rounded_up() -> None:
    rows = frame(run("min-tco", "ilp", value=16, status="optimal", nodes=10), run("minmax-tco", "gm", value=6))
    assert pair(rows, "minmax-tco")["bound"] == 4


def _optima(subscriptions: list[set[int]]) -> dict[str, int]:
    """The best values of all five problems over every graph on the nodes, by definition."""
    nodes = range(len(subscriptions))
    links = list(itertools.combinations(nodes, 2))
    groups = [[v for v in nodes if t in subscriptions[v]] for t in set().union(*subscriptions)]
    best: dict[str, int] = {}
    for size in range(len(links) + 1):
        for chosen in itertools.combinations(links, size):
            graph: nx.Graph[int] = nx.Graph(chosen)
            graph.add_nodes_from(nodes)
            parts = [graph.subgraph(group) for group in groups]
            if not all(nx.is_connected(part) for part in parts):
                continue
            degree = max(d for _, d in graph.degree())
            values = {"min-tco": size, "minmax-tco": degree, "low-tco": size * degree}
            if all(nx.diameter(part) <= 2 for part in parts):
                values["2d-true"] = size
            if all(max(d for _, d in part.degree()) == len(part) - 1 for part in parts):
                values["2d-star"] = size
            for problem, value in values.items():
                best[problem] = min(best.get(problem, value), value)
    return best


def test_no_implied_bound_exceeds_an_optimum_found_by_brute_force() -> None:
    random = np.random.default_rng(7)
    for _ in range(30):
        nodes = int(random.integers(2, 6))
        wanted = [set(random.choice(4, random.integers(1, 4), replace=False).tolist()) for _ in range(nodes)]
        best = _optima(wanted)
        for implication in (each for each in IMPLICATIONS if each.target in best):
            bound = implication.bound(float(nodes), *(float(best[name]) for name in implication.premises))
            assert bound <= best[implication.target] + 1e-9, (implication.proof, wanted)


def test_no_bound_of_content_by_steiner_trees_exceeds_an_optimum_found_by_brute_force() -> None:
    for seed in range(12):
        given = {"users": 4, "brokers": 3, "intervals": 2, "metric": "independent"}
        instance = WORKLOADS["content"].generate(seed=seed, **given)
        best = {problem.name: optimum(instance, problem.name.removeprefix("content-")) for problem in CONTENT_PROBLEMS}
        for implication in (each for each in IMPLICATIONS if each.target in best):
            least = [float(best[name]) for name in implication.premises]
            assert implication.bound(np.nan, *least) <= best[implication.target] * (1 + 1e-12)


def test_an_overlay_counts_for_every_problem_it_answers() -> None:
    star = run("2d-star", "2d-oda", value=9, edges=9, max_degree=3, nodes=10)
    rows = frame(
        star,
        run("min-tco", "ilp", lower_bound=9, status="time-limit"),
        run("low-tco", "gm", value=40, edges=10, max_degree=4),
        run("minmax-tco", "gm", value=4, edges=10, max_degree=4),
    )
    assert pair(rows, "min-tco")["optimum"] == 9
    assert pair(rows, "min-tco")["best_key"] == star["key"]
    assert pair(rows, "low-tco")["best"] == 27
    assert pair(rows, "minmax-tco")["best"] == 3
    assert pair(rows, "2d-star")["best"] == 9


def test_a_topic_connected_overlay_does_not_count_for_diameter_two() -> None:
    rows = frame(run("min-tco", "gm", value=9, edges=9, max_degree=2), run("2d-true", "2d-oda", value=15, edges=15))
    assert pair(rows, "2d-true")["best"] == 15


def test_a_diameter_two_overlay_does_not_count_for_stars_and_a_star_counts_for_diameter_two() -> None:
    star = run("2d-star", "2d-oda", value=15, edges=15)
    rows = frame(star, run("2d-true", "ilp", value=12, edges=12, status="optimal"))
    assert pair(rows, "2d-star")["best"] == 15
    rows = frame(star, run("2d-true", "2d-oda", value=16, edges=16))
    assert pair(rows, "2d-true")["best"] == 15


def test_ratio_is_one_where_value_and_bound_are_zero_and_absent_without_a_positive_bound() -> None:
    runs = judged_runs(
        frame(
            run(method="ilp", instance="zero", value=0, status="optimal"),
            run(method="gm", instance="none", value=5),
            run(method="gm", instance="trivial", value=5, lower_bound=0),
        )
    ).set_index("instance")
    assert runs.at["zero", "ratio"] == 1
    assert np.isnan(runs.at["none", "ratio"])
    assert np.isnan(runs.at["trivial", "ratio"])
    assert runs.at["zero", "gap"] == 0


def test_a_method_run_under_several_time_limits_is_several_lines() -> None:
    rows = frame(
        run(method="ilp", value=12, status="time-limit", time_limit=1.0),
        run(method="ilp", value=10, status="optimal", time_limit=60.0),
        run(method="gm", value=11, time_limit=60.0),
    )
    assert set(judged_runs(rows)["label"]) == {"ilp, 1 s", "ilp, 60 s", "gm"}


def test_consistent_rows_show_no_disagreement() -> None:
    assert disagreements(four_instances()).empty


def test_two_different_optima_are_found() -> None:
    rows = frame(run(method="ilp", value=10, status="optimal"), run(method="cp-sat", value=11, status="optimal"))
    found = disagreements(rows)
    assert found["kind"].tolist() == ["two optima"]
    assert set(found.at[0, "keys"]) == set(rows["key"])
    assert "10" in found.at[0, "sentence"]
    assert "11" in found.at[0, "sentence"]


def test_a_value_below_a_proven_bound_is_found() -> None:
    rows = frame(run(method="ilp", value=10, status="optimal"), run(method="gm", value=9))
    found = disagreements(rows)
    assert found["kind"].tolist() == ["value below bound"]
    assert set(found.at[0, "keys"]) == set(rows["key"])


def test_an_overlay_of_one_problem_below_the_bound_of_another_is_found() -> None:
    rows = frame(
        run("minmax-tco", "ilp", value=4, status="optimal", edges=12, max_degree=4),
        run("min-tco", "gm", value=11, edges=11, max_degree=3),
    )
    assert disagreements(rows)["problem"].tolist() == ["minmax-tco"]


def test_false_bounds_do_not_lift_each_other_for_ever() -> None:
    rows = frame(
        run("min-tco", "ilp", lower_bound=50, status="time-limit", nodes=2),
        run("minmax-tco", "ilp", lower_bound=40, status="time-limit", nodes=2),
        run("low-tco", "gm", value=1, edges=1, max_degree=1, nodes=2),
    )
    assert math.isfinite(pair(rows, "low-tco")["bound"])
    assert "low-tco" in disagreements(rows)["problem"].tolist()


def test_an_answer_to_what_was_called_infeasible_is_found() -> None:
    rows = frame(run(method="ilp", status="infeasible"), run(method="gm", value=9))
    assert disagreements(rows)["kind"].tolist() == ["infeasible"]


def test_optimal_with_a_bound_that_is_not_the_value_is_found() -> None:
    rows = frame(run(method="ilp", value=9, lower_bound=8, status="optimal"))
    assert disagreements(rows)["kind"].tolist() == ["optimal without proof"]


def test_the_summary_states_what_is_proven_and_what_is_not() -> None:
    text = summarised(four_instances())
    assert text.startswith("2 of 4 instances were solved to proven optimality (2 claimed).")
    assert "On 1 the best bound is within 20% of the best overlay" in text
    assert "1 instance has no lower bound above 0" in text
    compared = "Compared with the proven optimum over 2 instances, the only heuristic, gm, is on average 12% above it"
    assert f"{compared} and at most 25% above it (optimal in 1 of 2 runs)." in text
    assert "Failed runs: 1 of ilp." in text


def test_the_summary_names_no_optimum_where_none_is_known() -> None:
    rows = frame(run(method="ilp", value=12, lower_bound=10, status="time-limit"), run(method="gm", value=11))
    text = summarised(rows)
    assert text.startswith("0 of 1 instance was solved to proven optimality. On 1 the best bound is within 9.1%")
    assert "the best bound (no optimum is proven) over 1 instance, the only heuristic, gm, is 10% above it." in text


def test_the_summary_claims_no_gap_where_results_contradict_each_other() -> None:
    text = summarised(frame(run(method="ilp", value=10, status="optimal"), run(method="gm", value=9)))
    assert "1 instance has an overlay below a proven bound" in text
    assert "of the best overlay" not in text


def test_the_closest_heuristic_is_one_that_ran_on_the_most_instances() -> None:
    rows = frame(
        run(method="ilp", instance="easy", value=10, status="optimal"),
        run(method="ilp", instance="hard", value=20, status="optimal"),
        run(method="gm", instance="easy", value=11),
        run(method="gm", instance="hard", value=22),
        run(method="ring-per-topic", instance="easy", value=10),
    )
    text = summarised(rows)
    assert "the only heuristic, gm, is on average 10% above it" in text
    assert text.endswith("Not compared, because they ran on fewer instances: ring-per-topic.")


def test_the_closest_and_the_farthest_heuristic_are_so_by_the_same_mean() -> None:
    """gm-m has the worst single run, and gm the worst mean."""
    values = {"gm": (13, 13, 13), "gm-m": (10, 10, 16), "low-oda": (10, 11, 10)}
    rows = [run(method="ilp", instance=f"i{i}", value=10, status="optimal") for i in range(3)]
    rows += [run(method=name, instance=f"i{i}", value=v) for name, vs in values.items() for i, v in enumerate(vs)]
    rows += [run(method="gm", instance="i3", value=10), run(method="gm-m", instance="i3", value=30)]
    rows += [run(method="low-oda", instance="i3"), run(method="ilp", instance="i3", value=10, status="optimal")]
    text = summarised(frame(*rows))
    assert "By the mean ratio to the proven optimum over 3 instances, the closest of 3 heuristics, low-oda," in text
    assert "the farthest, gm, is on average 30% above it" in text


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.031, "3.1%"), (0.0311, "3.2%"), (0, "0%"), (0.25, "25%"), (1.004, "101%"), (0.00052, "0.052%")],
)
def test_a_limit_is_rounded_up(share: float, shown: str) -> None:
    assert percent(share, up=True) == shown


def test_far_values_are_multiples() -> None:
    assert above(1.125) == "13% above"
    assert above(11.875) == "11.9 times"


def test_failed_runs_are_grouped_by_reason() -> None:
    rows = frame(
        run(method="ilp", instance="i1", status="failed", reason="killed"),
        run(method="ilp", instance="i2", status="failed", reason="killed"),
        run(method="gm", instance="i1", status="failed", reason="crashed"),
    )
    table = failure_table(judged_runs(rows))
    assert sorted(zip(table["method"], table["reason"], table["runs"], strict=True)) == [
        ("gm", "crashed", 1),
        ("ilp", "killed", 2),
    ]


def test_what_was_run_adds_up_to_all_runs() -> None:
    runs = judged_runs(four_instances())
    effort = effort_table(runs)
    assert effort["runs"].sum() == effort[[str(status) for status in Status]].to_numpy().sum() == len(runs)
    assert effort["seconds"].sum() == pytest.approx(28.8)
    assert family_table(runs)["runs"].sum() == len(runs)


def test_ratios_are_averaged_within_each_family() -> None:
    rows = frame(
        run(method="ilp", instance="a", value=10, status="optimal", family="real"),
        run(method="ilp", instance="b", value=10, status="optimal", family="random"),
        run(method="gm", instance="a", value=12, family="real"),
        run(method="gm", instance="b", value=15, family="random"),
        run(method="ring-per-topic", instance="b", value=20, family="random"),
    )
    means = family_ratios(judged_runs(rows), "min-tco")
    assert means.at["gm", "real"] == pytest.approx(1.2)
    assert means.at["gm", "random"] == pytest.approx(1.5)
    assert np.isnan(means.at["ring-per-topic", "real"])


def test_a_profile_counts_instances_not_runs_and_never_reaches_failures() -> None:
    rows = frame(
        run(method="ilp", instance="i1", value=10, status="optimal"),
        run(method="ilp", instance="i2", value=10, status="optimal"),
        run(method="gm", instance="i1", seed=1, value=10),
        run(method="gm", instance="i1", seed=2, value=12),
        run(method="gm", instance="i2", status="failed"),
    )
    runs = judged_runs(rows)
    factors, shares = profile(runs[runs["label"] == "gm"])
    assert factors.tolist() == pytest.approx([1.0, 1.2])
    assert shares.tolist() == pytest.approx([0.25, 0.5])


def test_a_profile_compares_methods_on_the_instances_they_share() -> None:
    runs = judged_runs(four_instances().iloc[[0, 1, 2, 4, 5]])
    shared, count = common_instances(runs)
    assert count == 2
    assert set(shared["instance"]) == {"i1", "i2"}
