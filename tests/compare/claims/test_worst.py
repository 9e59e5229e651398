"""The search for worst cases, and the file of those found."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from overlaybench.compare.claims.worst import add_case, search_worst_case, worst_cases, wrong_with
from overlaybench.instances.contract.catalogue import methods_of
from overlaybench.instances.contract.errors import BadInput
from tests.outcomes import output_of

HEURISTICS = tuple(method for method in methods_of("overlaybench.heuristics.topics") if not method.anytime)


def test_four_nodes_and_four_topics_suffice_to_mislead_greedy_merge_and_three_nodes_do_not() -> None:
    case = search_worst_case("gm", "min-tco", nodes=4, topics=4, time_limit=60)
    assert case.exhaustive
    assert (case.value, case.optimum) == (5, 4)
    assert wrong_with(case) == ""
    assert search_worst_case("gm", "min-tco", nodes=3, topics=4, time_limit=60).ratio == 1


def test_options_are_part_of_the_method() -> None:
    cases = {k: search_worst_case(f"low-oda[k={k}]", "min-tco", nodes=4, topics=3, time_limit=60) for k in (1, 3, 8)}
    assert [case.method for case in cases.values()] == ["low-oda[k=1]", "low-oda", "low-oda[k=8]"]
    assert all(case.exhaustive and wrong_with(case) == "" for case in cases.values())
    assert cases[1].ratio < cases[8].ratio


def test_an_exact_method_or_a_problem_of_another_kind_is_refused() -> None:
    for method, problem, said in (
        ("lp-rounding", "content-steiner", "'content-steiner' is about content"),
        ("ilp", "min-tco", "choose a heuristic"),
    ):
        with pytest.raises(BadInput, match=said):
            search_worst_case(method, problem, nodes=4, topics=4, time_limit=1)


def test_local_search_goes_on_from_known_cases_and_never_below_them() -> None:
    known = search_worst_case("gm", "min-tco", nodes=4, topics=4, time_limit=60)
    found = search_worst_case("gm", "min-tco", nodes=5, topics=5, time_limit=0.3, ties="lowest", known=[known])
    assert not found.exhaustive
    assert found.nodes == 5
    assert wrong_with(found) == ""


def test_the_hall_of_fame_is_as_it_says_for_every_heuristic_and_problem() -> None:
    cases = worst_cases()
    on_record = {(case.method, case.problem) for case in cases}
    papers = [method for method in HEURISTICS if method.source.startswith("P") and "dynamic-tco" not in method.problems]
    topics = [(method.name, problem) for method in papers for problem in method.problems]
    assert sorted(set(topics) - on_record) == []
    assert [wrong_with(case) for case in cases if wrong_with(case)] == []


def test_a_case_with_a_wrong_value_is_detected() -> None:
    case = worst_cases()[0]
    assert "÷" in wrong_with(replace(case, value=case.value + 1))
    assert "÷" in wrong_with(replace(case, optimum=case.optimum - 1))


def test_only_the_worst_of_a_size_is_kept(tmp_path: Path) -> None:
    file, case = tmp_path / "hall.json", worst_cases()[0]
    assert add_case(case, file)
    assert not add_case(replace(case, value=case.optimum), file)
    assert add_case(replace(case, value=case.value + 1), file)
    assert [one.value for one in worst_cases(file)] == [case.value + 1]
    file.write_text("[{}]")
    with pytest.raises(BadInput, match=r"hall\.json: no list of worst cases"):
        worst_cases(file)


def test_worst_keeps_a_case_and_writes_an_instance_that_solve_draw_and_check_read(tmp_path: Path) -> None:
    words = ["worst", "--method", "gm", "--problem", "min-tco", "--nodes", "4", "--topics", "4"]
    hall, file, best, picture = (tmp_path / name for name in ("hall.json", "worst.json", "best.json", "worst.svg"))
    assert '"ratio": 1.25' in output_of(*words, "--json", "--hall", hall)
    assert len(worst_cases(hall)) == 1
    output_of(*words, "--known", "-o", file)
    solved = json.loads(output_of("solve", file, "--method", "gm", "--option", "ties=worst", "--json"))
    assert solved["value"] == 5
    assert json.loads(output_of("solve", file, "-o", best, "--json"))["value"] == 4
    output_of("check", file, best)
    output_of("draw", file, best, "-o", picture)
    assert picture.read_text().startswith("<?xml")
