"""P3's Lemmas 12 and 15, Corollary 1 and eq. 12: degrees of divide and conquer, and who must know whom."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np

from ...heuristics.topics.division import divide, random_order, restricted
from ...heuristics.topics.kernels.ties import tie_order
from ...instances.topics.instance import TopicInstance
from ..papers.bench import LAWS, Bench, Experiment, runs
from ..papers.grids_p3 import p3_default
from .claim import Claim, Finding, Interval, Verdict, verdict_of
from .evidence import at_most, mean_of, scope_of, share_of
from .p3 import LOG
from .properties import TIES, scope_over

_AT = "at 400 nodes"
_BY_LEMMA_9 = "Its proof uses Lemma 9, which P3.L9 refutes; no counterexample here."
_ETAS, _PARTS, _COVERAGES = (2, 4), (1, 2, 5), (1, 3)


def varied(bench: Bench) -> list[TopicInstance]:
    """Instances on which the optimum is proven quickly: 30 nodes with 1 to 6 of 15 topics."""
    count = 2 if bench.quick else 10
    shape = {"nodes": 30, "topics": 15, "least": 1, "most": 6}
    return [recipe.make() for law in LAWS for recipe in p3_default("P3.L12", law, count, **shape)]


def _lower_bound(bench: Bench, instance: TopicInstance) -> float:
    """The optimum of minmax-tco, or a proven lower bound on it if 10 s do not suffice; at least 1."""
    result = bench.run("branch-and-cut", instance, "minmax-tco", time_limit=10.0)
    return max(1.0, float(result.lower_bound or 0.0))


def _division_degrees(bench: Bench) -> Iterable[Finding]:
    """Lemma 12 and Corollary 1 on the same runs of DCB-M."""
    instances = varied(bench)
    shares, conditional, ratios = [], [], []
    for seed, instance in enumerate(instances):
        optimum = _lower_bound(bench, instance)
        log = math.log(instance.num_nodes * instance.num_topics)
        for eta, parts, ties in product(_ETAS, _PARTS, TIES):
            result = bench.run("dcb-m", instance, "minmax-tco", eta=eta, partitions=parts, ties=ties, seed=seed)
            degree = float(result.value or math.inf)
            shares.append(degree / (eta + optimum * log))
            ratios.append(degree / optimum)
            if float(result.counters.get("inner_max_degree", 0)) < optimum:
                conditional.append(degree / (optimum * log))
    scope = scope_over(instances, TIES, reading=LOG, sizes={"η": _ETAS, "p": _PARTS})
    text = f"D_DCB is at most {max(shares):.3f} of η + optimum · ln(|V||T|) in all {len(shares)} runs. {_BY_LEMMA_9}"
    mean = mean_of("D_DCB ÷ optimum", np.reshape(ratios, (len(instances), -1)).mean(axis=1))
    yield Finding("Lemma 12", verdict_of(max(shares) <= 1), text, len(shares), scope=scope, intervals=(mean,))
    largest = max(conditional, default=math.nan)
    text = (
        f"Where the inner degree is below the optimum ({len(conditional)} of {len(shares)} runs), D_DCB is at most "
        f"{largest:.3f} of optimum · ln(|V||T|)."
    )
    verdict = verdict_of(largest <= 1) if conditional else Verdict.OPEN
    yield Finding("Corollary 1", verdict, text, len(conditional), scope=scope, intervals=(mean,))


def _representative_degrees(bench: Bench) -> Iterable[Finding]:
    """Lemma 15: the optimum is that of the instance on bulk nodes and representatives."""
    instances, shares = varied(bench), []
    near: dict[int, list[float]] = {coverage: [] for coverage in (*_COVERAGES, 30)}
    for seed, instance in enumerate(instances):
        whole = _lower_bound(bench, instance)
        sums: dict[int, list[float]] = {coverage: [] for coverage in near}
        for case, (eta, parts, coverage) in enumerate(product(_ETAS, _PARTS[1:], near)):
            ties = TIES[(case + seed) % len(TIES)]
            light = np.flatnonzero(np.diff(instance.node_offsets) <= eta).astype(np.int32)
            shuffled = random_order(light, seed)
            division = divide(instance, shuffled, min(parts, len(light)), coverage, tie_order(ties, seed))
            core = restricted(instance, division.combined)
            optimum = _lower_bound(bench, core)
            sums[coverage].append(optimum / whole)
            if coverage > max(_COVERAGES):
                continue
            options = {"eta": eta, "partitions": parts, "coverage": coverage, "ties": ties}
            degree = bench.run("dcbr-m", instance, "minmax-tco", seed=seed, **options).value or math.inf
            shares.append(degree / (eta + optimum * math.log(core.num_nodes * core.num_topics)))
        for coverage, found in sums.items():
            near[coverage].append(float(np.mean(found)))
    sizes: dict[str, Any] = {"η": _ETAS, "p": _PARTS[1:]}
    scope = scope_over(instances, TIES, reading=LOG, sizes={**sizes, "λ": _COVERAGES})
    text = (
        f"D_DCBR is at most {max(shares):.3f} of η + D_OPT(BR) · ln(|BR||T|) in all {len(shares)} runs; D_OPT(BR) is "
        f"proven for the instance on bulk nodes and representatives. {_BY_LEMMA_9}"
    )
    intervals = tuple(
        mean_of(f"D_OPT(BR) ÷ D_OPT(V), λ = {coverage}", found, 1.0, together=len(near))
        for coverage, found in near.items()
    )
    yield Finding("Lemma 15", verdict_of(max(shares) <= 1), text, len(shares), scope=scope, intervals=intervals[:1])
    last = intervals[-1]
    verdict = at_most(Interval("", *_distance(last), last.samples), 0.05)
    text = "With λ of the size of a part the two optima are equal on average: within 0.05 of 1 counts as equal."
    scope = scope_over(
        instances, TIES, reading="λ of 30, at least the size of a part", sizes={**sizes, "λ": tuple(near)}
    )
    subject = "D_OPT(BR) ≈ D_OPT(V) for large λ"
    yield Finding(subject, verdict, text, bench.done, scope=scope, intervals=intervals)


def _distance(interval: Interval) -> tuple[float, float, float]:
    """How far the mean, and at least and at most the ends of an interval are from 1."""
    low, high = interval.low or interval.mean, interval.high or interval.mean
    ends = abs(low - 1), abs(high - 1)
    return abs(interval.mean - 1), 0.0 if low <= 1 <= high else min(ends), max(ends)


def _neighbour_grid(quick: bool) -> Experiment:
    recipes = tuple(
        recipe for law in LAWS for recipe in p3_default("P3.E12", law, 2 if quick else 10, nodes=400, topics=100)
    )
    methods: list[Any] = [("dcbr-m", {"partitions": p, "coverage": c}) for p in (2, 5, 10, 40) for c in (1, 3)]
    methods += [("dcbr-m", {"partitions": 10, "coverage": 3, "ties": ties}) for ties in TIES[1:]]
    whole = [("dcb-m", {"partitions": p}) for p in (2, 10)]
    return Experiment(recipes, (runs("minmax-tco", *methods, *whole),))


def _neighbours(bench: Bench) -> Iterable[Finding]:
    rows = bench.rows[bench.rows["method"] == "dcbr-m"]
    counters = [json.loads(text) for text in rows["counters"]]
    rows = rows.assign(
        measured=[one["pn_ratio"] for one in counters], formula=[one["pn_ratio_formula"] for one in counters]
    )
    rows = rows.assign(difference=rows["measured"] - rows["formula"])
    equal = int(np.isclose(rows["difference"], 0, atol=1e-12).sum())
    text = (
        f"Equal in {equal} of {len(rows)} runs: the formula holds only for parts of equal size with equally many "
        f"representatives. Measured less formula: {rows['difference'].min():+.4f} to {rows['difference'].max():+.4f}."
    )
    scope = scope_of(rows, reading=_AT)
    by_instance = rows.groupby("instance")
    mean = mean_of("measured − formula", by_instance["difference"].mean(), 0.0)
    share = share_of("share of equal runs", equal, len(rows), 1.0)
    verdict = verdict_of(equal == len(rows))
    yield Finding("pn-ratio, as an equality", verdict, text, len(rows), scope=scope, intervals=(share, mean))
    gap = mean_of("largest |measured − formula| ÷ measured", by_instance.apply(_largest_gap, include_groups=False))
    text = "The formula as an approximation: the largest relative error of each instance is 5% on average at most."
    reading = f"≈ instead of =: a mean relative error of at most 5%; {_AT}"
    scope = scope_of(rows, reading=reading)
    yield Finding("pn-ratio, as an approximation", at_most(gap, 0.05), text, len(rows), scope=scope, intervals=(gap,))
    below = mean_of("measured pn-ratio, the largest of an instance", by_instance["measured"].max(), 1.0)
    text = "DCBR-M's pn-ratio is below 1, that of a centralised algorithm."
    verdict = verdict_of(bool((rows["measured"] < 1).all()))
    scope = scope_of(rows, reading=_AT)
    yield Finding("below a centralised algorithm's", verdict, text, len(rows), scope=scope, intervals=(below,))
    whole = bench.rows[bench.rows["method"] == "dcb-m"]
    ratios = [json.loads(text)["pn_ratio"] for text in whole["counters"]]
    text = f"DCB-M's pn-ratio is {min(ratios):g} to {max(ratios):g} in all {len(ratios)} runs."
    yield Finding("DCB-M: 1", verdict_of(min(ratios) == 1), text, len(ratios), scope=scope_of(whole, reading=_AT))


def _largest_gap(rows: Any) -> float:
    return float((rows["difference"].abs() / rows["measured"]).max())


CLAIMS_P3_DEGREES: tuple[Claim, ...] = (
    Claim("P3.L12", "D_DCB = O(η + D_OPT·log(|V||T|)); Corollary 1", "P3 Lemma 12, Corollary 1", _division_degrees),
    Claim("P3.L15", "D_DCBR = O(η + D_OPT(BR)·log(|BR||T|))", "P3 Lemma 15", _representative_degrees),
    Claim("P3.E12", "pn-ratio formula equals the measured one", "P3 eq. 12", _neighbours, _neighbour_grid),
)
