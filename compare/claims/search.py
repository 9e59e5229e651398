"""Observations beyond the papers (W): the effect of ties, and the worst cases that search has found."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ...instances.topics.constructions import (
    case_seven,
    greedy_merge_cuboid,
    minmax_oda_matchings,
    nested_subscriptions,
    weighted_nested_subscriptions,
)
from ...instances.topics.instance import TopicInstance
from ..atlas.every_instance import instance_of
from ..atlas.record import entries_on_record
from ..atlas.surveys import WORST
from ..catalogue import METHODS
from ..intervals import mean_interval
from .bench import Bench
from .claim import CaseTally, Judgement, Line, Verdict, at_most, claim, exact, judged
from .worst import proven_optimum, searches_ties, worst_cases, wrong_with

_NODES, _TOPICS = 6, 6
CONSTRUCTIONS: Mapping[str, tuple[str, str, Callable[[], list[TopicInstance]]]] = {
    "P1 Lemma 6.6": ("gm", "min-tco", lambda: [greedy_merge_cuboid(k=2, m=m) for m in (2, 3)]),
    "P2 Lemma 1": ("minmax-oda", "min-tco", lambda: [minmax_oda_matchings(n=n) for n in (4, 5, 6)]),
    "P2 Lemma 5": ("cd-oda", "2d-star", lambda: [nested_subscriptions(n=n) for n in (4, 5, 6)]),
    "P2 Lemma 6": ("cd-oda-1", "2d-star", lambda: [weighted_nested_subscriptions(n=n) for n in (2, 3)]),
    "P2 Case VII": ("cd-oda-2", "2d-star", lambda: [case_seven(n=n) for n in (5, 6)]),
}


def random_instances(quick: bool) -> list[TopicInstance]:
    """Instances of 6 nodes and 6 topics, with each subscription present with probability 1/2."""
    found = []
    for seed in range(25 if quick else 250):
        interest = np.random.default_rng(seed).random((_TOPICS, _NODES)) < 0.5
        found.append(instance_of(_NODES, [tuple(np.flatnonzero(row).tolist()) for row in interest if row.sum() > 1]))
    return found


def searched_problems() -> list[tuple[str, str]]:
    """Every method that searches tie-breaking choices, with the problems on which it is compared."""
    return [
        (method.name, problem)
        for method in METHODS.values()
        if searches_ties(method)
        for problem in (("2d-star",) if "2d-star" in method.problems else ("min-tco", "minmax-tco"))
    ]


@claim("W.TIES")
def TIE_SPREAD(bench: Bench) -> Judgement:
    """Worst ÷ best over all ways to break ties, for every method."""
    largest, lines, some = 1.0, [], random_instances(bench.quick)
    for method, problem in searched_problems():
        ratios = [
            bench.value(method, one, problem, ties="worst") / bench.value(method, one, problem, ties="best")
            for one in some
        ]
        largest = max(largest, *ratios)
        own = judged(exact(max(ratios)), at_most(1.0))
        share = f"{sum(ratio > 1 for ratio in ratios)} of {len(ratios)} instances, at most {max(ratios):.3f}"
        lines.append(Line(f"{method}, {problem}: mean; apart on {share}", mean_interval(ratios), own.verdict))
    return judged(exact(largest, len(some)), at_most(1.0), sensitivity=lines)


@claim("W.HALL")
def HALL(bench: Bench) -> Judgement:
    """The papers' constructions against the atlas and the worst cases found, of which the latter are judged again."""
    cases, tally = worst_cases(), CaseTally()
    for case in cases:
        why = wrong_with(case)
        tally.add(not why, str(why))
    if tally.failed:
        return Judgement(Verdict.NOT_DECIDED, f"a case on record is wrong: {tally.first}", exact(tally.failed, tally.n))
    lines, exceeded = [], 0
    for source, (method, problem, constructed) in CONSTRUCTIONS.items():
        built = [
            (one.num_nodes, bench.value(method, one, problem, ties="worst") / (proven_optimum(one, problem) or 1))
            for one in constructed()
        ]
        size, ratio = max(built, key=lambda one: one[1])
        found = [
            case.ratio for case in cases if (case.method, case.problem) == (method, problem) and case.nodes <= size
        ]
        cells = entries_on_record().get((method, problem), {})
        found += [one.found[WORST].value / one.found[WORST].optimum for (n, _), one in cells.items() if n <= size]
        # Among k connected nodes an overlay has at most k(k − 1)/2 edges, and each needs k − 1.
        worst = Verdict.CONTRADICTED if max(found, default=0) > ratio else Verdict.NOT_DECIDED
        worst = Verdict.CONFIRMED if worst is not Verdict.CONTRADICTED and ratio == size / 2 else worst
        exceeded += worst is Verdict.CONTRADICTED
        text = f"{source}: {method} has {ratio:.3f} on at most {size} nodes; worst found"
        lines.append(Line(text, exact(max(found, default=0.0), len(found)), worst))
    return judged(exact(exceeded, len(CONSTRUCTIONS)), at_most(0), sensitivity=lines)
