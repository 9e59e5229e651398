"""The checks of the papers' claims on small versions of each, and with faulty algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

import pytest

from overlaybench.compare.claims.claim import Claim, Finding, Verdict, open_if_fewer
from overlaybench.compare.claims.properties import assorted
from overlaybench.compare.claims.register import CLAIMS, claims_named, judge
from overlaybench.compare.papers.bench import Bench
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.topics.instance import TopicInstance
from tests.compare.claims.broken import verdicts


def test_every_claim_of_the_first_three_papers_is_known_by_its_id() -> None:
    assert all(claim.id == id_ for id_, claim in CLAIMS.items())
    assert {claim.id.partition(".")[0] for claim in CLAIMS.values()} >= {"P1", "P2", "P3", "W"}
    assert [claim.id for claim in claims_named(["P1.L6.6", "P1.L6.6"])] == ["P1.L6.6"]
    assert len(claims_named(["P1"])) > 5
    assert claims_named([]) == list(CLAIMS.values())
    with pytest.raises(BadInput, match=r"unknown claim 'P1\.L6\.7'"):
        claims_named(["P1.L6.7"])


def test_fewer_runs_than_a_claim_names_decide_nothing() -> None:
    few = open_if_fewer(Verdict.HOLDS, "All is well.", "GM", 10, 20)
    assert few.verdict is Verdict.OPEN
    assert "10 of 20 runs, so far: holds" in few.evidence
    assert open_if_fewer(Verdict.HOLDS, "All is well.", "GM", 20, 20).verdict is Verdict.HOLDS


VERDICTS: Mapping[str, dict[str, Verdict]] = {}

# The same checks on fewer sizes.
FEWER_SIZES: Mapping[str, Callable[[Bench], Iterable[Finding]]] = {}


def smaller(claim: str) -> Claim:
    return replace(CLAIMS[claim], judge=FEWER_SIZES.get(claim, CLAIMS[claim].judge))


@pytest.fixture
def fewer_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    """One seed of each workload and construction, instead of two."""

    def first_seeds(quick: bool) -> Iterator[tuple[str, TopicInstance]]:
        return ((name, instance) for name, instance in assorted(quick) if name.endswith("seed 0"))

    monkeypatch.setattr("overlaybench.compare.claims.properties.assorted", first_seeds)


@pytest.mark.usefixtures("fewer_instances")
@pytest.mark.parametrize("claim", VERDICTS)
def test_the_check_gives_the_verdicts_on_record_on_fewer_instances(claim: str) -> None:
    assert verdicts(judge(smaller(claim), quick=True)) == VERDICTS[claim]


@pytest.mark.slow
@pytest.mark.parametrize("claim", VERDICTS)
def test_the_quick_check_gives_the_verdicts_on_record(claim: str) -> None:
    assert verdicts(judge(CLAIMS[claim], quick=True)) == VERDICTS[claim]
