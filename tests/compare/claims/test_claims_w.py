"""The claims beyond the papers, sound and with faulty algorithms or data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.claims import search
from overlaybench.compare.claims.claim import Verdict
from overlaybench.compare.claims.hall_of_fame import worst_cases
from overlaybench.compare.claims.register import CLAIMS, judge
from overlaybench.compare.claims.search import searched_problems, tie_spread
from overlaybench.compare.claims.worst import WorstCase
from overlaybench.compare.papers.bench import Bench
from overlaybench.instances.contract.method import Method, Proposal
from tests.compare.claims.broken import verdicts

EDGE_RULES = ("gm", "gm-m", "minmax-oda", "low-oda")
STAR_RULES = ("cd-oda", "cd-oda-1", "cd-oda-2", "2d-oda")
Broken = tuple[str, Mapping[str, Method[Any, Any]], Sequence[WorstCase]]


def without_ties(name: str) -> Mapping[str, Method[Any, Any]]:
    """The catalogue with one algorithm whose answer is that of the lowest ties whatever is asked for."""

    def solve(instance: object, problem: Any, *, seed: int, ties: str, **options: Any) -> Proposal[Any]:
        return Proposal(METHODS[name].run(instance, problem, ties="lowest", **options).answer)

    return {**METHODS, name: replace(METHODS[name], solve=solve, warm_up=None)}


def few_cases() -> list[WorstCase]:
    return [case for case in worst_cases() if case.nodes <= 4][:3]


def a_wrong_value() -> list[WorstCase]:
    first, *others = few_cases()
    return [replace(first, value=first.value + 1), *others]


BROKEN: Mapping[str, Callable[[], Broken]] = {
    "W.TIES": lambda: ("cd-oda, 2d-star", without_ties("cd-oda"), ()),
    "W.HALL": lambda: ("on record", METHODS, a_wrong_value()),
}
SOUND = {"W.TIES": Verdict.REFUTED, "W.HALL": Verdict.HOLDS}


@pytest.mark.parametrize("claim", BROKEN)
def test_a_faulty_algorithm_or_case_changes_the_verdict(claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    subject, methods, cases = BROKEN[claim]()
    small = replace(CLAIMS[claim], judge=partial(tie_spread, count=4)) if claim == "W.TIES" else CLAIMS[claim]
    monkeypatch.setattr(search, "searched_problems", lambda: [("cd-oda", "2d-star")])
    monkeypatch.setattr(search, "worst_cases", few_cases)
    monkeypatch.setattr(search, "_CONSTRUCTIONS", search._CONSTRUCTIONS[2:3])
    assert verdicts(judge(small, True))[subject] is SOUND[claim]
    if cases:
        monkeypatch.setattr(search, "worst_cases", lambda: cases)
    assert verdicts(judge(small, True, methods))[subject] is not SOUND[claim]


def test_every_method_that_searches_ties_is_compared_on_its_problems() -> None:
    assert set(searched_problems()) >= {
        *((method, problem) for method in EDGE_RULES for problem in ("min-tco", "minmax-tco")),
        *((method, "2d-star") for method in STAR_RULES),
    }


@pytest.mark.slow
def test_ties_matter_to_every_greedy_method_on_a_few_instances() -> None:
    found = {finding.subject: finding for finding in tie_spread(Bench(True), 4)}
    assert found["cd-oda, 2d-star"].verdict is Verdict.REFUTED
    assert all(finding.runs == 8 for finding in found.values())


@pytest.mark.slow
def test_a_construction_is_the_worst_of_its_size_only_where_no_ratio_can_exceed_it() -> None:
    found = verdicts(judge(CLAIMS["W.HALL"], True))
    assert found["P1 Lemma 6.6 is the worst of its size"] is Verdict.REFUTED
    assert found["P2 Lemma 5 is the worst of its size"] is Verdict.HOLDS
    assert found["P2 Lemma 1 is the worst of its size"] is Verdict.OPEN
