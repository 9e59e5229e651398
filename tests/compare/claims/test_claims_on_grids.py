"""The claims that rest on grids, each on a fixed small one, and the figures drawn from the same rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.claims.claim import Verdict
from overlaybench.compare.claims.register import CLAIMS, judge
from overlaybench.compare.papers.bench import LAWS, Experiment, grid, rows_here, runs, together
from overlaybench.compare.papers.drawing import draw
from overlaybench.compare.papers.figures import FIGURES, TABLES, greedy_merge_steps, rows_for
from overlaybench.compare.papers.grids import GRIDS
from overlaybench.compare.papers.grids_p3 import p3_default
from tests.compare.claims.broken import verdicts
from tests.heuristics.topics import twins


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


def shaped(figure: str, problem: str, law: str, methods: Sequence[Any], *shapes: dict[str, int]) -> Experiment:
    recipes = tuple(recipe for shape in shapes for recipe in grid(figure, law, 2, **shape))
    return Experiment(recipes, (runs(problem, *methods),))


# Verdicts on times are left out, because they depend on the machine.
SMALL: Mapping[str, tuple[Experiment, dict[str, Verdict]]] = {}


@pytest.mark.parametrize("claim", SMALL)
def test_a_claim_on_a_small_grid_gives_the_verdict_on_record(claim: str) -> None:
    experiment, expected = SMALL[claim]
    found = verdicts(judge(replace(CLAIMS[claim], experiment=lambda quick: experiment), quick=False))
    assert {subject: found[subject] for subject in expected} == expected


@pytest.mark.parametrize(
    ("claim", "subject"),
    [],
)
def test_a_bound_holds_on_six_solved_instances_which_are_too_few_for_a_verdict(claim: str, subject: str) -> None:
    outcome = judge(replace(CLAIMS[claim], experiment=lambda quick: solved(claim)), quick=True)
    (finding,) = outcome.findings
    assert finding.subject == subject
    assert finding.verdict is Verdict.OPEN
    assert "so far: holds" in finding.evidence


def test_the_steps_of_greedy_merge_are_the_updates_that_algorithm_3_makes() -> None:
    (recipe,) = grid("x", "zipf", 1, nodes=12, topics=6, subscriptions=3)
    interest = twins.interest_of(recipe.make())
    overlay: set[tuple[int, int]] = set()
    updates, weights = 0, twins.contributions(interest, overlay)
    while edge := twins.heaviest(weights, interest, lambda index: index):
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
        assert {recipe.family.partition(" ")[0] for recipe in experiment(quick).recipes} == {name}
        # The system has claims of its own about some figures only; the others are those of the accelerated mode.
        claimed = {name, name.removesuffix(".system")} & set(CLAIMS)
        assert claimed or name == "P5.F8", "which shows a workload, of which the paper claims nothing"


@pytest.mark.parametrize(
    ("figure", "build"),
    [
        ("P3.F4", lambda: small_p3("P3.F4", "gm-m", *(("dcbr-m", {"partitions": p}) for p in (1, 4, 16)))),
        pytest.param("P1.F3", lambda: small_p1("P1.F3", "gm"), marks=pytest.mark.slow),
        pytest.param("P3.F7", lambda: small_p3("P3.F7", "gm-m", "dcb-m", "dcbr-m"), marks=pytest.mark.slow),
    ],
)
def test_a_figure_is_drawn_the_same_twice_with_the_papers_axes(figure: str, build: Callable[[], Experiment]) -> None:
    rows = rows_for(figure, rows_here(build(), METHODS))
    first, second = draw(figure, rows), draw(figure, rows)
    assert first.svg_file == second.svg_file
    text = first.svg_file.decode()
    assert FIGURES[figure].x[1] in text
    assert all(label in text for _, label in FIGURES[figure].panels)
