"""Data sets and covering of P5 (Fig. 8 and 12) as checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

import numpy as np
import pandas as pd

from ...heuristics.brokers.kernels.covering import covering_set, predicates_evaluated
from ...instances.contract.catalogue import WORKLOADS
from ..papers.bench import SEED, Bench
from ..papers.figures_p5 import with_effort
from ..papers.grids_p5 import COVERING, DENSE, GRIDS_P5, SPARSE
from .claim import Claim, Finding, Interval, Scope, Verdict, verdict_of
from .evidence import above, all_of, mean_of
from .p5_networks import by_network, finding, near_published, order_or_numbers

_COVERING, _EVALUATIONS, _POINTS = 0.12, 0.34, 0.05
_SHARE_POINTS, _SAMPLED = 0.02, 400
EFFORT = {"covering": "covering sets", "evaluations": "predicate evaluations"}
_TABLES = "soft links of S2; tables of 60 brokers and 200 publications"
# Data set, workload, brokers, subscriptions, published share of subscriptions that a publication matches.
DATA_SETS = (
    ("DT1", SPARSE, 120, 6552, 0.08),
    ("DT2", DENSE, 120, 19_472, 0.53),
    ("DT3", SPARSE, 250, 28_690, 0.09),
    ("DT4", SPARSE, 21, 900, 0.09),
    ("DT5", DENSE, 21, 6000, 0.54),
    ("DT-C", COVERING, 500, 10_000, 0.04),
)


def matched_share(workload: str, seed: int, brokers: int, subscriptions: int) -> float:
    """The mean share of the subscriptions that a publication matches, in one network."""
    network = WORKLOADS[workload].generate(
        seed=seed, brokers=brokers, subscriptions=subscriptions, publications=_SAMPLED
    )
    lows, highs = network.subscriptions.lows, network.subscriptions.highs
    counts = [((lows <= point) & (point <= highs)).all(axis=1).mean() for point in network.publications.values]
    return float(np.mean(counts))


def _data_sets(bench: Bench) -> Iterable[Finding]:
    seeds = range(10)
    for name, workload, brokers, subscriptions, published in DATA_SETS:
        shares = [matched_share(workload, SEED + seed, brokers, subscriptions) for seed in seeds]
        interval = mean_of("share of subscriptions matched", shares, published)
        yield Finding(
            f"{name}, {workload}",
            near_published([interval], _SHARE_POINTS),
            f"A publication matches {interval.mean:.1%} of the subscriptions, published {published:.1%}. The workload "
            "stands in for the data set, whose law the paper does not give.",
            len(shares),
            scope=Scope(
                {"brokers": (brokers,), "subscriptions": (subscriptions,)},
                {"brokers": (brokers,), "subscriptions": (subscriptions,), "samples": (1,)},
                samples=len(shares),
                reading=f"a check of our workload; within {100 * _SHARE_POINTS:.0f} points counts as the same",
            ),
            intervals=[interval],
        )


def _covering(bench: Bench) -> Iterable[Finding]:
    rows = with_effort(bench.rows).drop_duplicates(["recipe", "p_fanout"])
    rows = bench.rows.merge(rows[["recipe", *EFFORT]], on="recipe")
    tables = {column: by_network(rows, column, "p_fanout") for column in EFFORT}
    for subject, verdict, text, intervals, reading in rises_with_fanout(tables):
        given = "; ".join(filter(None, (_TABLES, reading)))
        yield finding(bench, "P5.F12", subject, verdict, text, intervals, reading=given)


def rises_with_fanout(tables: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, Verdict, str, list[Interval], str]]:
    """Judge tables of `EFFORT` by fanout: the subject, verdict, text, intervals and reading of each finding."""
    fanouts = sorted(tables["covering"])
    rises = {
        column: mean_of(f"{name}, fanout 10 ÷ 5 − 1", table[10] / table[5] - 1, published, together=3)
        for (column, name), table, published in zip(
            EFFORT.items(), tables.values(), (_COVERING, _EVALUATIONS), strict=True
        )
    }
    steps = [
        mean_of(f"{EFFORT[column]}, fanout {high} ÷ {low} − 1", table[high] / table[low] - 1, together=2 * len(fanouts))
        for column, table in tables.items()
        for low, high in pairwise(fanouts)
    ]
    sharper = mean_of(
        "evaluations − covering sets, rise from 5 to 10",
        tables["evaluations"][10] / tables["evaluations"][5] - tables["covering"][10] / tables["covering"][5],
        together=3,
    )
    order = all_of(map(above, (*rises.values(), sharper)))
    yield (
        "fanout 5 to 10",
        order_or_numbers(order, near_published(rises.values(), _POINTS)),
        f"Covering sets {rises['covering'].mean:+.1%}, published +12%; predicate evaluations "
        f"{rises['evaluations'].mean:+.1%}, published +34%. The amounts depend on how far subscriptions of different "
        "brokers cover each other, which the paper does not give.",
        [*rises.values(), sharper],
        f"within {100 * _POINTS:.0f} points counts as the same",
    )
    listed = "; ".join(
        f"{fanout}: {(tables['covering'][fanout] / tables['covering'][5]).mean():.1%}, "
        f"{(tables['evaluations'][fanout] / tables['evaluations'][5]).mean():.1%}"
        for fanout in fanouts
    )
    yield (
        "rise with every fanout",
        all_of(map(above, steps)),
        f"Covering sets and evaluations against fanout 5: {listed}.",
        steps,
        "",
    )


def _rules(bench: Bench) -> Iterable[Finding]:
    """§4 and §7 on covering: what a covering set matches, the example of three subscriptions, predicates."""
    seeds, wrong, points = range(5 if bench.quick else 30), [], 0
    fewer = []
    for seed in seeds:
        network = WORKLOADS[COVERING].generate(seed=seed, brokers=12, subscriptions=400, publications=60)
        lows, highs = network.subscriptions.lows, network.subscriptions.highs
        widths = (highs.astype(np.int64) - lows).sum(axis=1)
        kept = covering_set(lows, highs, np.argsort(-widths, kind="stable"))
        matches = [((lows <= p) & (p <= highs)).all(axis=1) for p in network.publications.values]
        points += len(matches)
        wrong += [seed for each in matches if each.any() != each[kept].any()]
        predicates, covered = network.subscriptions.predicates, np.ones(len(lows), dtype=np.bool_)
        covered[kept] = False
        fewer.append(float(predicates[covered].mean() - predicates[kept].mean()))
    scope = Scope(
        {"brokers": (12,), "subscriptions": (400,)}, samples=len(seeds), reading="a check of our workload and rules"
    )
    text = f"For {points} publications the covering set has a match exactly if all subscriptions have one"
    yield Finding(
        "a covering set matches what its subscriptions match",
        verdict_of(not wrong),
        f"{text}." if not wrong else f"{text}, except in {len(wrong)} cases, the first with seed {wrong[0]}.",
        points,
        scope=scope,
    )
    difference = mean_of("predicates, covered − covering", fewer)
    yield Finding(
        "covering subscriptions have fewer predicates",
        above(difference),
        f"Covered subscriptions have {difference.mean:.2f} predicates more on average.",
        len(fewer),
        scope=scope,
        intervals=[difference],
    )
    yield _three_subscriptions()


def _three_subscriptions() -> Finding:
    """s1 covers s2, s2 covers s3: one link needs {s1}, two links {s1} and {s2}."""
    lows, highs = np.array([[0], [2], [4]], dtype=np.int32), np.array([[9], [7], [5]], dtype=np.int32)
    values = np.array([[1], [3], [4], [20]], dtype=np.int32)
    sets = [covering_set(lows, highs, np.array(link, dtype=np.int64)) for link in ([0, 1, 2], [0], [1, 2])]
    one, two = (
        sum(predicates_evaluated(lows, highs, kept, values) for kept in links) for links in (sets[:1], sets[1:])
    )
    found = [kept.tolist() for kept in sets]
    held = found == [[0], [0], [1]] and one < two
    text = f"One link: covering set {found[0]}, {one} evaluations for four publications; two links: {found[1:]}, {two}."
    scope = Scope({"subscriptions": (3,), "publications": (len(values),)}, samples=1)
    return Finding("the example of three subscriptions", verdict_of(held), text, 2, scope=scope)


CLAIMS_P5_MATCHING: tuple[Claim, ...] = (
    Claim(
        "P5.F8",
        "publications match 8, 53, 9, 9, 54 and 4% of the subscriptions of DT1 to DT5 and DT-C",
        "P5 Fig. 8",
        _data_sets,
    ),
    Claim(
        "P5.F12",
        "fanout 5 to 10: covering sets +12%, predicate evaluations +34%; both rise with fanout",
        "P5 Fig. 12",
        _covering,
        GRIDS_P5["P5.F12"],
    ),
    Claim(
        "P5.S4.3",
        "a link needs only its covering set, more links need more; covering subscriptions have fewer predicates",
        "P5 §4, §7",
        _rules,
    ),
)
