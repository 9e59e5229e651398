"""The checks of the claims on SOC problems: the verdict on record, and another one where a method is faulty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.claims.claim import Verdict
from overlaybench.compare.claims.register import CLAIMS, judge
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.heuristics.topics.ring_per_topic import ring_per_topic
from overlaybench.instances.method import Method, Proposal
from overlaybench.instances.topics.instance import TopicInstance
from tests.compare.claims.broken import verdicts


def never_below_a_ring(instance: TopicInstance, *given: object, **options: object) -> Proposal[Any]:
    return Proposal(ring_per_topic(instance))


def greedy(instance: TopicInstance, *given: object, **options: object) -> Proposal[Any]:
    return Proposal(greedy_merge(instance, runs=3))


SOUND = {
    "N.SOC": {"edges": Verdict.HOLDS, "max-degree": Verdict.HOLDS},
    "N.STAR": {"star": Verdict.HOLDS},
}
FAULTY: Mapping[str, Mapping[str, Method[Any, Any]]] = {
    "N.SOC": {"filtering-cp-sat": replace(METHODS["filtering-cp-sat"], solve=never_below_a_ring)},
    "N.STAR": {"diameter-cp-sat": replace(METHODS["diameter-cp-sat"], solve=greedy)},
}


@pytest.mark.slow
@pytest.mark.parametrize("claim", SOUND)
def test_the_quick_check_gives_the_verdicts_on_record(claim: str) -> None:
    assert verdicts(judge(CLAIMS[claim], quick=True)) == SOUND[claim]


@pytest.mark.slow
@pytest.mark.parametrize("claim", FAULTY)
def test_a_faulty_method_changes_the_verdict(claim: str) -> None:
    found = verdicts(judge(CLAIMS[claim], quick=True, methods={**METHODS, **FAULTY[claim]}))
    assert Verdict.REFUTED in found.values()
