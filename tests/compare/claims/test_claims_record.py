"""The claims on record: every finding says what it rests on, and every check can fail."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.claims.claim import Claim, Finding, Verdict
from overlaybench.compare.claims.register import CLAIMS, RECORD, ClaimOutcome, not_run, outcomes_in
from overlaybench.compare.papers.grids import GRIDS

GREEDY = re.compile(r"(?<![\w-])(GM|GM-M|MinMax-ODA|Low-ODA|CD-ODA(-II?)?|2D-ODA|DCBR?-M)(?![\w-])", re.IGNORECASE)
"""The methods whose answers depend on ties, as findings name them."""


def full() -> Mapping[str, ClaimOutcome]:
    return {one.id: one for one in outcomes_in(RECORD) if not one.quick}


def own_claims() -> set[str]:
    """The claims of the project: other tests may have added plug-ins."""
    return {id_ for id_, claim in CLAIMS.items() if not any(claim is one for one in CLAIMS.plug_ins.values())}


def findings() -> Iterator[tuple[Claim, Finding]]:
    for outcome in full().values():
        yield from ((CLAIMS[outcome.id], finding) for finding in outcome.findings)


def runs_greedy_methods(claim: Claim) -> bool:
    """Whether the claim's grid has runs of a method with a rule for ties."""
    experiment = claim.experiment(True)
    names = {name for run in experiment.runs for name, _ in run.methods} if experiment else set()
    return any(option.name == "ties" for name in names for option in METHODS[name].options)


def about_greedy_methods(claim: Claim, finding: Finding) -> bool:
    return runs_greedy_methods(claim) or GREEDY.search(finding.subject) is not None


def test_every_claim_is_on_record_in_its_full_version_with_a_verdict() -> None:
    known = full()
    assert sorted(own_claims() - set(known)) == []
    assert [one.id for one in known.values() if not one.findings] == []
    assert [(claim.id, one.subject) for claim, one in findings() if not one.evidence or one.runs < 1] == []


def test_every_finding_on_record_has_sizes_and_instances() -> None:
    assert full()
    lacking = [(claim.id, one.subject) for claim, one in findings() if not one.scope.sizes or one.scope.samples < 1]
    assert lacking == []


def test_every_finding_about_a_greedy_method_names_its_rules_for_ties() -> None:
    assert full()
    about = [(claim, one) for claim, one in findings() if about_greedy_methods(claim, one)]
    assert [(claim.id, one.subject) for claim, one in about if not one.scope.ties] == []


def test_every_finding_about_a_figure_or_table_has_intervals() -> None:
    """A claim of a figure or table compares means; one that is open may lack them."""
    assert full()
    of_grids = [(claim.id, one) for claim, one in findings() if claim.id in GRIDS and one.verdict is not Verdict.OPEN]
    assert [(id_, one.subject) for id_, one in of_grids if not one.intervals] == []


def test_every_interval_on_record_contains_its_mean() -> None:
    for claim, finding in findings():
        for one in finding.intervals:
            if one.low is not None and one.high is not None:
                slack = 1e-9 * max(1.0, abs(one.mean))
                assert one.low - slack <= one.mean <= one.high + slack, (claim.id, finding.subject, one)


def test_a_sentence_that_is_not_run_is_no_claim_and_has_a_reason() -> None:
    sentences = not_run()
    assert len({one.id for one in sentences}) == len(sentences)
    assert {one.id for one in sentences} & set(CLAIMS) == set()
    assert all(one.reason and one.statement and one.source for one in sentences)


def broken_cases() -> dict[str, Any]:
    """The faulty algorithms and data of all test files, by claim."""
    files = sorted(Path(__file__).parent.glob("test_claims_*.py"))
    modules = [import_module(f"tests.compare.claims.{file.stem}") for file in files if file.stem != Path(__file__).stem]
    return {claim: case for module in modules for claim, case in getattr(module, "BROKEN", {}).items()}


def test_every_claim_is_tried_with_a_faulty_algorithm_or_faulty_data() -> None:
    assert sorted(own_claims() ^ set(broken_cases())) == []
