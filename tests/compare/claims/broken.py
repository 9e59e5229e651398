"""Faulty algorithms, under which the verdict of a check must change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.claims.claim import Verdict
from overlaybench.compare.claims.register import ClaimOutcome
from overlaybench.instances.contract.method import Method, Proposal
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.topics.instance import TopicInstance
from tests.heuristics.topics import twins

Broken = Callable[[TopicInstance, str, int], set[tuple[int, int]]]


def with_broken(name: str, build: Broken) -> Mapping[str, Method[Any, Any]]:
    """The catalogue with one algorithm replaced by one without the search of ties."""

    def solve(
        instance: TopicInstance, problem: object, *, seed: int, ties: str, **options: object
    ) -> Proposal[Overlay]:
        if ties in ("worst", "best"):
            return Proposal(reason="not searched")
        return Proposal(Overlay.from_edges(instance.num_nodes, sorted(build(instance, ties, seed))))

    return {**METHODS, name: replace(METHODS[name], solve=solve, warm_up=None)}


def second_best_greedy_merge(instance: TopicInstance, ties: str, seed: int) -> set[tuple[int, int]]:
    """GM that takes the edge of second highest contribution while there are two."""
    interest, rank = twins.interest_of(instance), twins.rank_by(ties, seed)
    overlay: set[tuple[int, int]] = set()
    while True:
        weights = {edge: weight for edge, weight in twins.contributions(interest, overlay).items() if weight}
        if not weights:
            return overlay
        order = sorted(weights, key=lambda edge: (-weights[edge], rank(edge[0] * len(interest) + edge[1])))
        overlay.add(order[min(1, len(order) - 1)])


def forgetful_cd_oda(instance: TopicInstance, ties: str, seed: int) -> set[tuple[int, int]]:
    """CD-ODA that never drops a topic: every pair with a common topic is linked."""
    interest = twins.interest_of(instance)
    return {
        (u, v) for u in range(len(interest)) for v in range(u + 1, len(interest)) if interest[u] & interest[v]
    }  # fmt: skip


def verdicts(outcome: ClaimOutcome) -> dict[str, Verdict]:
    return {finding.subject: finding.verdict for finding in outcome.findings}


def fewer_ties(build: Broken) -> Broken:
    """Twins are slow: the hundred random seeds share two answers."""
    kept: dict[tuple[str, str, int], set[tuple[int, int]]] = {}

    def remembered(instance: TopicInstance, ties: str, seed: int) -> set[tuple[int, int]]:
        key = (instance.digest, ties, seed % 2)
        if key not in kept:
            kept[key] = build(instance, ties, seed % 2)
        return kept[key]

    return remembered
