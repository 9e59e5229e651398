"""The claims on link costs, fault tolerance and SOC, sound and with faulty algorithms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.claims import next_door
from overlaybench.compare.claims.claim import Verdict
from overlaybench.compare.claims.register import CLAIMS, judge
from overlaybench.instances.contract.method import Method, Proposal
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.topics.instance import TopicInstance
from tests.compare.claims.broken import verdicts

Build = Callable[[TopicInstance], Overlay]


def with_faulty(name: str, build: Build) -> Mapping[str, Method[Any, Any]]:
    def solve(instance: TopicInstance, problem: object, **given: object) -> Proposal[Overlay]:
        return Proposal(build(instance))

    return {**METHODS, name: replace(METHODS[name], solve=solve, warm_up=None, members=())}


def every_pair(instance: TopicInstance) -> Overlay:
    n = instance.num_nodes
    return Overlay.from_edges(n, [(u, v) for v in range(n) for u in range(v)])


def no_edge(instance: TopicInstance) -> Overlay:
    return Overlay.from_edges(instance.num_nodes, [])


BROKEN: Mapping[str, tuple[str, str, Build]] = {
    "N.WTCO.1": ("weighted GM, plane", "weighted-gm", every_pair),
    "N.WTCO.2": ("weighted GM, plane", "weighted-gm", every_pair),
    "N.KTCO.1": ("GM2", "gm2", no_edge),
    "N.KTCO.2": ("GM2, uniform", "gm2", every_pair),
    "N.KTCO.3": ("GM2, uniform", "gm", every_pair),
    "N.SOC.1": ("edges, uniform", "edge-insertion", every_pair),
    "N.SOC.2": ("edges", "filtering-cp-sat", every_pair),
}


@pytest.fixture
def few_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four instances of at most 40 nodes."""
    usual = next_door._instances

    def few(law: str, nodes: int, count: int, **more: object) -> list[TopicInstance]:
        return usual(law, min(nodes, 40), 4, **{"topics": 20, "subscriptions": 4, **more})

    monkeypatch.setattr(next_door, "_instances", few)


@pytest.mark.usefixtures("few_instances")
@pytest.mark.parametrize("claim", [pytest.param(c, marks=pytest.mark.slow) if c == "N.SOC.1" else c for c in BROKEN])
def test_a_faulty_algorithm_changes_the_verdict(claim: str) -> None:
    subject, method, build = BROKEN[claim]
    sound, faulty = (verdicts(judge(CLAIMS[claim], True, each)) for each in (METHODS, with_faulty(method, build)))
    assert sound[subject] is not Verdict.REFUTED
    assert faulty[subject] is Verdict.REFUTED
