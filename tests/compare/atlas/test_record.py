"""The atlas on record: its examples have the values that it says, and the page is made of it."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from overlaybench.compare.atlas.cells import surveyed
from overlaybench.compare.atlas.every_instance import node_sets
from overlaybench.compare.atlas.every_tie import BEST_TIES, WORST_TIES, values_under_ties
from overlaybench.compare.atlas.record import AtlasEntry, entries_on_record, entry_of
from overlaybench.compare.atlas.small_optima import PROBLEMS, optima_of
from overlaybench.compare.atlas.surveys import Survey
from overlaybench.compare.claims.worst import search_worst_case, wrong_with
from overlaybench.docs.atlas_page import PAGE, failing, growth, matrices, plain, sizes_on_record

ENTRIES = [entry for cells in entries_on_record().values() for entry in cells.values()]
QUICK_NODES = 6


def values_of(entry: AtlasEntry, ties: str, number: int) -> tuple[int, int]:
    """The value and the optimum of the example, computed again."""
    index = {s: k for k, s in enumerate(node_sets(entry.nodes).tolist())}
    topics = entry.found[ties].topics
    row = np.array([sorted(index[sum(1 << v for v in members)] for members in topics)], np.uint8)
    survey = Survey(entry.problem, entry.method)
    rule = survey.term.found(entry.problem).rule
    assert rule is not None
    values = values_under_ties(entry.nodes, row, rule(**survey.term.given(entry.problem))).values
    value = values[0, number, PROBLEMS[entry.problem][1]]
    return int(value), int(optima_of(entry.nodes, row, entry.problem)[0])


@pytest.mark.parametrize(("ties", "number"), [("worst", WORST_TIES), ("best", BEST_TIES)])
def test_every_example_on_record_has_the_values_that_stand_beside_it(ties: str, number: int) -> None:
    chosen = [entry for entry in ENTRIES if entry.nodes <= QUICK_NODES][::3]
    assert len(chosen) > 500
    for entry in chosen:
        found = entry.found[ties]
        assert values_of(entry, ties, number) == (found.value, found.optimum), entry
        assert (found.not_optimal == 0) == (found.value == found.optimum)
        assert found.mean_ratio <= entry.random if ties == "best" else found.mean_ratio >= entry.random


@pytest.mark.parametrize("nodes", [6, pytest.param(7, marks=pytest.mark.slow)])  # all graphs of 7 take seconds
def test_cells_on_record_are_surveyed_alike_again(nodes: int) -> None:
    chosen = [entry for entry in ENTRIES if entry.instances < 2500 and entry.nodes <= nodes][::90]
    assert len({entry.method for entry in chosen}) > 5
    for entry in chosen:
        survey = Survey(entry.problem, entry.method)
        (cell,) = surveyed(survey, [(entry.nodes, entry.topics)])
        assert entry_of(entry.method, entry.problem, cell) == entry


def test_worst_answers_from_the_record_at_once() -> None:
    case = search_worst_case("gm", "min-tco", nodes=6, topics=6, time_limit=1e-9)
    assert case.exhaustive
    assert (case.value, case.optimum) == (9, 6)
    assert wrong_with(case) == ""


def test_the_observations_on_the_papers_are_those_of_the_record() -> None:
    known = entries_on_record()

    def worst(method: str, problem: str, nodes: int, topics: int) -> Fraction:
        found = [known[method, problem][n, t].found["worst"] for n in range(2, nodes + 1) for t in range(1, topics + 1)]
        return max(Fraction(one.value, one.optimum) for one in found)

    assert worst("gm", "min-tco", 6, 7) == Fraction(9, 6)
    assert known["gm", "min-tco"][6, 6].found["worst"].topics == tuple(combinations(range(6), 5))
    for n in (4, 5, 6):
        assert worst("cd-oda", "2d-star", n, n - 2) < Fraction(n, 2) == worst("cd-oda", "2d-star", n, n - 1)
    assert worst("cd-oda-2", "2d-star", 6, 7) == Fraction(8, 5)
    assert worst("minmax-oda", "min-tco", 6, 7) == Fraction(13, 4)
    family = {n: max(Fraction(k * (n - k), 2 * (n - 2)) for k in range(1, n - 2)) for n in range(4, 13)}
    assert [n for n, ratio in family.items() if ratio > 2 - Fraction(3, n)] == [12]


def test_the_page_is_made_of_the_record() -> None:
    known, text = plain(), PAGE.read_text(encoding="utf-8")
    for part in (sizes_on_record(known), failing(known), growth(known), matrices(known)):
        assert part in text, "run python -m overlaybench.docs.atlas_page"
