"""Faulty algorithms, under which the verdict of a check must change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.claims.bench import Bench, rows_here
from overlaybench.compare.claims.claim import Judgement
from overlaybench.compare.claims.grids import GRIDS
from overlaybench.compare.claims.register import CLAIMS
from overlaybench.instances.contract.method import Method, Proposal
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.topics.instance import TopicInstance
from tests.heuristics.topics import twins

Broken = Callable[[TopicInstance, str, int], set[tuple[int, int]]]


def with_broken(name: str, build: Broken) -> Mapping[str, Method[Any, Any]]:
    """The catalogue with one algorithm replaced by one without the search of ties."""

    def solve(
        instance: TopicInstance, problem: object, *, seed: int, ties: str = "lowest", **options: object
    ) -> Proposal[Overlay]:
        if ties in ("worst", "best"):
            return Proposal(reason="not searched")
        return Proposal(Overlay.from_edges(instance.num_nodes, sorted(build(instance, ties, seed))))

    return {**METHODS, name: replace(METHODS[name], solve=solve, compiled=False)}


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


def judged_on(
    claim: str,
    methods: Mapping[str, Method[Any, Any]],
    shape: Mapping[str, Any],
    change: Callable[[pd.DataFrame], pd.DataFrame] = lambda rows: rows,
) -> Judgement:
    """The judgement of a claim's quick version, with other values of its grids' shapes and with changed rows."""
    tables = {}
    for name in CLAIMS[claim].grids:
        sheets = tuple(replace(sheet, quick={**sheet.quick, **shape}) for sheet in GRIDS[name].sheets)
        tables[name] = change(rows_here(replace(GRIDS[name], sheets=sheets).experiment(True), methods))
    return CLAIMS[claim].judge(Bench(True, methods, tables))


def fewer_ties(build: Broken) -> Broken:
    """Twins are slow: the hundred random seeds share two answers."""
    kept: dict[tuple[str, str, int], set[tuple[int, int]]] = {}

    def remembered(instance: TopicInstance, ties: str, seed: int) -> set[tuple[int, int]]:
        key = (instance.digest, ties, seed % 2)
        if key not in kept:
            kept[key] = build(instance, ties, seed % 2)
        return kept[key]

    return remembered
