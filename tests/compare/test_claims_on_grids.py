"""The claims that rest on grids, each on a fixed small one, and the figures drawn from the same rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from compare.catalogue import METHODS
from compare.claim import Verdict
from compare.claim_bench import Experiment, grid, rows_here, runs, together
from compare.claims import CLAIMS, judge
from compare.claims_figures import greedy_merge_steps
from compare.claims_p3_figures import PUBLISHED, table_means
from compare.paper_figures import FIGURES, TABLES, rows_for
from compare.paper_grids import GRIDS, LAWS, p3_default
from compare.reproducing import draw
from instances import TopicInstance
from tests.compare.test_claims import second_best_greedy_merge, verdicts, with_broken
from tests.heuristics import twins


def small_p1(figure: str, *methods: str, sizes: tuple[int, ...] = (100, 200, 400)) -> Experiment:
    recipes = tuple(
        recipe
        for law in LAWS
        for topics in (100, 200)
        for nodes in sizes
        for recipe in grid(figure, law, 1, nodes=nodes, topics=topics, subscriptions=10)
    )
    return Experiment(recipes, (runs("min-tco", *methods),))


def solved(figure: str) -> Experiment:
    recipes = tuple(recipe for law in LAWS for recipe in grid(figure, law, 2, nodes=12, topics=8, subscriptions=3))
    low: list[Any] = [("low-oda", {"k": float(k)}) for k in (1, 3, 8)]
    return Experiment(
        recipes,
        (
            runs("min-tco", "branch-and-cut", "gm"),
            runs("minmax-tco", "branch-and-cut", "gm-m"),
            runs("low-tco", *low),
        ),
    )


def small_p3(figure: str, *methods: Any, laws: tuple[str, ...] = ("uniform",)) -> Experiment:
    recipes = tuple(
        recipe
        for law in laws
        for shape in ({"nodes": 60, "topics": 40}, {"nodes": 120, "topics": 80})
        for recipe in p3_default(figure, law, 1, least=3, most=9, **shape)
    )
    return Experiment(recipes, (runs("minmax-tco", *methods),))


SMALL: Mapping[str, tuple[Experiment, dict[str, Verdict]]] = {
    "P1.F2": (small_p1("P1.F2", "gm"), {"rises with |T|": Verdict.HOLDS}),
    "P1.F3": (
        small_p1("P1.F3", "gm", sizes=(500, 1000, 2000)),
        {"behaves like |V|²": Verdict.HOLDS, "falls with |T|": Verdict.HOLDS},
    ),
    "P3.E12": (
        small_p3("P3.E12", *(("dcbr-m", {"partitions": p}) for p in (2, 5)), laws=LAWS),
        {"pn-ratio": Verdict.REFUTED},
    ),
}


@pytest.mark.parametrize("claim", SMALL)
def test_a_claim_on_a_small_grid_gives_the_verdict_on_record(claim: str) -> None:
    experiment, expected = SMALL[claim]
    found = verdicts(judge(replace(CLAIMS[claim], experiment=lambda quick: experiment), quick=False))
    assert {subject: found[subject] for subject in expected} == expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("P2.F10", {"2D-ODA ÷ GM": Verdict.REFUTED, "cd-oda-2 ÷ 2D-ODA": Verdict.REFUTED}),
        ("P2.F4", {"rises with k": Verdict.HOLDS, "k = 1 ≈ gm": Verdict.HOLDS, "k = 8 ≈ minmax-oda": Verdict.REFUTED}),
        ("P2.F3", {"k = 8 ≈ minmax-oda": Verdict.HOLDS, "k = 1 ≈ gm": Verdict.REFUTED}),
    ],
)
def test_the_quick_grids_of_p2_give_the_verdicts_on_record(claim: str, expected: dict[str, Verdict]) -> None:
    found = verdicts(judge(CLAIMS[claim], quick=True))
    assert {subject: found[subject] for subject in expected} == expected


@pytest.mark.parametrize(
    ("claim", "subject"),
    [
        ("P1.L6.5", "GM"),
        ("P2.T1", "Low-ODA, average degree"),
        ("P2.T2", "Low-ODA, maximum degree"),
        ("P3.L2", "GM-M"),
    ],
)
def test_a_bound_holds_on_six_solved_instances_which_are_too_few_for_a_verdict(claim: str, subject: str) -> None:
    outcome = judge(replace(CLAIMS[claim], experiment=lambda quick: solved(claim)), quick=True)
    (finding,) = outcome.findings
    assert finding.subject == subject
    assert finding.verdict is Verdict.OPEN
    assert "so far: holds" in finding.evidence


def test_greedy_merge_that_takes_second_best_edges_is_further_from_the_optimum() -> None:
    claim = replace(CLAIMS["P1.L6.5"], experiment=lambda quick: solved("P1.L6.5"))
    right, wrong = (
        float(judge(claim, True, methods).findings[0].evidence.partition("mean ")[2].partition(";")[0])
        for methods in (METHODS, with_broken("gm", second_best_greedy_merge))
    )
    assert right < wrong


def test_greedy_merge_with_every_useful_pair_breaks_the_figures_it_is_compared_in() -> None:
    def everything(instance: TopicInstance, ties: str, seed: int) -> set[tuple[int, int]]:
        interest = twins.interest_of(instance)
        n = range(instance.num_nodes)
        return {(u, v) for u in n for v in n if u < v and interest[u] & interest[v]}

    broken = with_broken("gm", everything)
    experiment = small_p1("P1.F2", "gm")
    found = verdicts(judge(replace(CLAIMS["P1.F2"], experiment=lambda quick: experiment), False, broken))
    assert found["falls with |V|"] is Verdict.REFUTED
    assert verdicts(judge(CLAIMS["P2.F10"], True, broken))["2D-ODA ÷ GM"] is Verdict.HOLDS


def test_the_steps_of_greedy_merge_are_the_updates_that_algorithm_3_makes() -> None:
    (recipe,) = grid("x", "zipf", 1, nodes=12, topics=6, subscriptions=3)
    interest = twins.interest_of(recipe.make())
    overlay: set[tuple[int, int]] = set()
    updates, weights = 0, twins.contributions(interest, overlay)
    while edge := twins.heaviest(weights, interest, lambda place: place):
        if weights[edge] == 0:
            break
        overlay.add(edge)
        after = twins.contributions(interest, overlay)
        updates += sum(weights[pair] - after[pair] for pair in after)
        weights = after
    assert greedy_merge_steps(recipe.to_json()) == updates


def test_experiments_keep_their_runs_to_their_own_instances() -> None:
    first, second = small_p1("P1.F2", "gm"), small_p3("P3.F7", "gm-m")
    both = together([first, second])
    assert len(both.recipes) == len(first.recipes) + len(second.recipes)
    rows = rows_here(both, METHODS)
    assert set(rows[rows["family"] == "P3.F7"]["method"]) == {"gm-m"}
    assert len(rows) == len(both.recipes)


@pytest.mark.parametrize("quick", [True, False])
def test_every_figure_of_the_papers_has_a_grid_and_every_grid_of_a_table_its_published_means(quick: bool) -> None:
    assert set(GRIDS) == set(FIGURES) | set(TABLES)
    for name, experiment in GRIDS.items():
        assert {recipe.family for recipe in experiment(quick).recipes} == {name}
        assert name in CLAIMS or name == "P5.F8", "which shows a workload, of which the paper claims nothing"


def test_table_means_compare_times_within_an_instance() -> None:
    rows = rows_here(small_p3("P3.T2", "gm-m", "dcb-m", "dcbr-m"), METHODS)
    means = table_means(rows)
    assert set(PUBLISHED["P3.T3"]) <= set(means)
    assert means["D_GMM"] == rows[rows["method"] == "gm-m"]["max_degree"].mean()
    seconds = rows.pivot_table(index="instance", columns="method", values="seconds")
    assert np.isclose(means["T_DCB/T_GMM"], (seconds["dcb-m"] / seconds["gm-m"]).mean())


@pytest.mark.parametrize(
    ("figure", "build"),
    [
        ("P1.F3", lambda: small_p1("P1.F3", "gm")),
        ("P3.F7", lambda: small_p3("P3.F7", "gm-m", "dcb-m", "dcbr-m")),
        ("P3.F4", lambda: small_p3("P3.F4", "gm-m", *(("dcbr-m", {"partitions": p}) for p in (1, 4, 16)))),
    ],
)
def test_a_figure_is_drawn_the_same_twice_with_the_papers_axes(figure: str, build: Callable[[], Experiment]) -> None:
    rows = rows_for(figure, rows_here(build(), METHODS))
    first, second = draw(figure, rows), draw(figure, rows)
    assert first.svg_file == second.svg_file
    text = first.svg_file.decode()
    assert FIGURES[figure].x[1] in text
    assert all(label in text for _, label in FIGURES[figure].panels)
