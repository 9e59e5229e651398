"""Claims beyond the papers: the effect of ties, and the worst cases that search has found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ...instances.topics.constructions import (
    case_seven,
    greedy_merge_cuboid,
    minmax_oda_matchings,
    nested_subscriptions,
    weighted_nested_subscriptions,
)
from ...instances.topics.instance import TopicInstance
from ..catalogue import METHODS
from ..papers.bench import Bench
from .claim import Claim, Finding, Scope, Verdict, verdict_of
from .evidence import mean_of, share_of
from .hall_of_fame import worst_cases, wrong_with
from .worst import WorstCase, instance_of, proven_optimum, searches_ties

_NODES, _TOPICS = 6, 6
_CONSTRUCTIONS: tuple[tuple[str, str, str, Callable[[], list[TopicInstance]]], ...] = (
    ("gm", "min-tco", "P1 Lemma 6.6", lambda: [greedy_merge_cuboid(k=2, m=m) for m in (2, 3)]),
    ("minmax-oda", "min-tco", "P2 Lemma 1", lambda: [minmax_oda_matchings(n=n) for n in (4, 5, 6)]),
    ("cd-oda", "2d-star", "P2 Lemma 5", lambda: [nested_subscriptions(n=n) for n in (4, 5, 6)]),
    ("cd-oda-1", "2d-star", "P2 Lemma 6", lambda: [weighted_nested_subscriptions(n=n) for n in (2, 3)]),
    ("cd-oda-2", "2d-star", "P2 Case VII", lambda: [case_seven(n=n) for n in (5, 6)]),
)


def tie_spread(bench: Bench, count: int = 0) -> Iterable[Finding]:
    """Worst ÷ best over all tie-breaking choices, for every method, on `count` instances (0: 25 or 250)."""
    instances = [_random(seed) for seed in range(count or (25 if bench.quick else 250))]
    for method, problem in searched_problems():
        ratios = np.array(
            [
                bench.value(method, one, problem, ties="worst") / bench.value(method, one, problem, ties="best")
                for one in instances
            ]
        )
        apart = int((ratios > 1).sum())
        text = (
            f"Worst ÷ best over all ways to break ties: above 1 on {apart} of {len(ratios)} random instances, largest "
            f"{ratios.max():.3f}."
        )
        scope = Scope({"|V|": (_NODES,), "|T|": (_TOPICS,)}, samples=len(ratios), ties=("best", "worst"))
        intervals = (
            mean_of("worst ÷ best", ratios),
            share_of("share of instances on which ties matter", apart, len(ratios)),
        )
        subject, verdict = f"{method}, {problem}", verdict_of(apart == 0)
        yield Finding(subject, verdict, text, 2 * len(ratios), scope=scope, intervals=intervals)


def searched_problems() -> list[tuple[str, str]]:
    """Every method that searches tie-breaking choices, with the problems on which it is compared."""
    return [
        (method.name, problem)
        for method in METHODS.values()
        if searches_ties(method)
        for problem in (("2d-star",) if "2d-star" in method.problems else ("min-tco", "minmax-tco"))
    ]


def _random(seed: int) -> TopicInstance:
    """An instance of 6 nodes and 6 topics, with each subscription present with probability 1/2."""
    interest = np.random.default_rng(seed).random((_TOPICS, _NODES)) < 0.5
    return instance_of(_NODES, [tuple(np.flatnonzero(row).tolist()) for row in interest if row.sum() > 1])


def _hall(bench: Bench) -> Iterable[Finding]:
    cases = worst_cases()
    wrong = [why for case in cases if (why := wrong_with(case))]
    text = f"{len(cases) - len(wrong)} of {len(cases)} cases have the value and the proven optimum on record. "
    yield Finding("on record", verdict_of(not wrong), text + "; ".join(wrong[:3]), len(cases), scope=_scope(cases))
    for method, problem, source, constructed in _CONSTRUCTIONS:
        instances = constructed()
        built = [
            (
                instance.num_nodes,
                bench.value(method, instance, problem, ties="worst"),
                proven_optimum(instance, problem),
            )
            for instance in instances
        ]
        size, value, optimum = max(built, key=lambda one: one[1] / (one[2] or 1))
        found = [c for c in cases if (c.method, c.problem) == (method, problem) and c.nodes <= size]
        best = max(found, key=lambda case: case.ratio, default=None)
        if best is None or not optimum:
            text = f"No case of {method} on {problem} is on record at that size."
            yield Finding(source, Verdict.OPEN, text, len(built), scope=Scope({"|V|": (size,)}, ties=("worst",)))
            continue
        ratio = value / optimum
        text = (
            f"On at most {size} nodes {source} leads {method} to {value:g} where {optimum:g} suffice ({ratio:.3f}); "
            f"search found {best.value:g} against {best.optimum:g} ({best.ratio:.3f}) on {best.nodes} nodes and "
            f"{len(best.topics)} topics{', the worst of that size' if best.exhaustive else ''}."
        )
        verdict = verdict_of(best.ratio <= ratio)
        if verdict is Verdict.HOLDS:
            # Among k connected nodes an overlay has at most k(k − 1)/2 edges, and each needs k − 1.
            verdict = verdict_of(ratio == size / 2, Verdict.OPEN)
            text += f" No ratio exceeds {size / 2:g}, half the nodes" + (
                "." if verdict is Verdict.HOLDS else ": unproven."
            )
        yield Finding(f"{source} is the worst of its size", verdict, text, len(built) + len(found), scope=_scope(found))


def _scope(cases: Sequence[WorstCase]) -> Scope:
    sizes = {"|V|": {case.nodes for case in cases}, "|T|": {len(case.topics) for case in cases}}
    ties = tuple(sorted({case.ties for case in cases if case.ties}))
    shown = {symbol: tuple(sorted(values)) for symbol, values in sizes.items()}
    return Scope(shown, samples=1, points=len(cases), ties=ties, reading="ratio to the proven optimum")


CLAIMS_SEARCH: tuple[Claim, ...] = (
    Claim("W.TIES", "what a greedy method builds does not depend on ties", "not in the papers", tie_spread),
    Claim("W.HALL", "worst cases found by search, against the papers' constructions", "not in the papers", _hall),
)
