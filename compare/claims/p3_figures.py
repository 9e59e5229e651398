"""What Chen et al. (P3) say of their Figures 6 to 10, as checks on the papers' grids."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from ..papers.bench import LAWS, Bench
from ..papers.grids_p3 import known_algorithms
from ..papers.rows_p3 import chosen, labelled
from ..papers.tables_p3 import METHODS
from .claim import Claim, Finding, Interval, Verdict
from .evidence import at_least, at_most, mean_of, per_instance, within
from .on_grids import figure_claim
from .on_p3_grids import (
    TIMINGS,
    by_rule,
    difference,
    difference_finding,
    falls,
    found,
    ratios,
    rises,
    similar_degrees,
    time_findings,
    trend_finding,
    values,
)

_P_BY_PAIRS, _P_BY_LEMMA = "p minimises the candidate pairs (Lemma 7)", "p minimises Lemma 16's bound"
_LIMITS = (("D_DCBR − D_GMM ≤ 2.0", "max_degree", 2.0), ("d_DCBR − d_GMM ≤ 0.70", "average_degree", 0.7))


def _by_lemma(rows: pd.DataFrame) -> pd.DataFrame:
    """The timed runs by Algorithms 3 to 6, DCBR-M's with p by Lemma 16; their overlays are those of our kernels."""
    own = rows[(rows["data"] == "table") & (rows["ties"] == "lowest")]
    own = own[(own["method"] != "dcbr-m") | (own["aim"] == "lemma-16")]
    return own[own["instance"].isin(own[own["method"] == "dcbr-m"]["instance"])]


def _laws(bench: Bench) -> Iterable[Finding]:
    rows = labelled(bench.rows)
    by_lemma = chosen(rows, aim="lemma-16")
    by_lemma = by_lemma[by_lemma["ties"] == "lowest"]
    fast, times = "T_DCBR ≤ 4.0% of T_GMM", "25 times as fast (abstract)"
    for law in LAWS:
        of_law, also = rows[rows["law"] == law], by_lemma[by_lemma["law"] == law]
        for subject, measure, limit in _LIMITS:
            name = f"{law}: {subject}"
            yield difference_finding(chosen(of_law), "P3.F6", name, measure, limit, reading=_P_BY_PAIRS)
            if (also["method"] == "dcbr-m").any():
                other = f"{name}, p by Lemma 16"
                yield difference_finding(also, "P3.F6", other, measure, limit, reading=_P_BY_LEMMA)
        yield from time_findings(of_law, "P3.F6", "dcbr-m", 0.04, lambda one: at_most(one, 0.04), f"{law}: {fast}")
        yield from time_findings(
            of_law, "P3.F6", "dcbr-m", 25, lambda one: at_least(one, 25), f"{law}: {times}", speed_up=True
        )
    low = {"D_DCBR": values("max_degree", "dcbr-m"), "d_GMM": values("average_degree", "gm-m")}
    for law in LAWS:
        own = chosen(rows[rows["law"] == law])
        subject, reading = f"{law}: D_DCBR and d_GMM stay low as |V| grows", "low is at most 1 more a doubling of |V|"
        yield trend_finding(
            own, "P3.F6", subject, "p_nodes", low, lambda one: at_most(one, 1), log=True, reading=reading
        )
    yield from _share_trends(rows, "P3.F6", "p_nodes", "dcbr-m", falls, "T_DCBR ÷ T_GMM falls with |V|")


def _share_trends(
    rows: pd.DataFrame, figure: str, column: str, method: str, judge: Callable[[Interval], Verdict], subject: str
) -> Iterator[Finding]:
    """The trend of a time ratio, as an exponent in the size, under every reading of running time."""
    for reading, data, measure, aim in TIMINGS:
        if aim == "lemma-16":
            continue
        own = chosen(rows, data, aim)
        own = own[(own["ties"] == "lowest") & own[measure].notna()]
        if ratios(own, measure, method).empty:
            continue
        log = {f"log2(T_{METHODS[method]} ÷ T_GMM)": partial(_log_ratio, measure=measure, method=method)}
        yield trend_finding(own, figure, f"{subject}: {reading}", column, log, judge, log=True, reading=reading)


def _log_ratio(rows: pd.DataFrame, measure: str, method: str, to: str = "") -> pd.Series:
    ratio = ratios(rows, measure, method)
    return pd.Series(np.log2(ratio / ratios(rows, measure, to) if to else ratio))


def _nodes(bench: Bench) -> Iterable[Finding]:
    rows = labelled(bench.rows)
    yield from time_findings(
        rows, "P3.F7", "dcbr-m", 0.0479, lambda one: at_most(one, 0.0479), "T_DCBR is 4.79% of T_GMM or less"
    )
    subject = "T_DCB is 75.7% to 100% of T_GMM"
    yield from time_findings(rows, "P3.F7", "dcb-m", 0.757, lambda one: within(one, 0.757, 1), subject)
    yield from _share_trends(rows, "P3.F7", "p_nodes", "dcbr-m", falls, "T_DCBR ÷ T_GMM falls with |V|")
    yield from _gains(rows)
    yield from _similar(rows, "P3.F7", "|V|")


def _similar(rows: pd.DataFrame, figure: str, over: str) -> Iterator[Finding]:
    yield similar_degrees(chosen(rows), figure, over, reading=_P_BY_PAIRS)
    if len(by_lemma := _by_lemma(rows)):
        also = similar_degrees(by_lemma, figure, over, reading=f"DCBR-M's {_P_BY_LEMMA}")
        yield replace(also, subject=f"{also.subject}, p by Lemma 16")


def _gains(rows: pd.DataFrame) -> Iterator[Finding]:
    """Whether DCBR-M gains more with |V| than DCB-M."""
    for reading, data, measure, aim in TIMINGS:
        own = chosen(rows, data, aim)
        own = own[(own["ties"] == "lowest") & own[measure].notna()]
        if aim == "lemma-16" or own["method"].nunique() < 3:
            continue
        subject = f"DCBR-M gains more with |V| than DCB-M: {reading}"
        named = {"log2(T_DCBR ÷ T_DCB)": partial(_log_ratio, measure=measure, method="dcbr-m", to="dcb-m")}
        yield trend_finding(own, "P3.F7", subject, "p_nodes", named, falls, log=True, reading=reading)


def _topics(bench: Bench) -> Iterable[Finding]:
    rows = labelled(bench.rows)
    own, by_lemma = chosen(rows), _by_lemma(rows)
    for law, limit in (("uniform", 3.51), ("zipf", 4.46), ("exponential", 3.46)):
        subject = f"{law}: D_DCBR − D_GMM ≤ {limit}"
        yield difference_finding(own[own["law"] == law], "P3.F8", subject, "max_degree", limit, reading=_P_BY_PAIRS)
        of_law = by_lemma[by_lemma["law"] == law]
        if len(of_law):
            other = f"{subject}, p by Lemma 16"
            yield difference_finding(of_law, "P3.F8", other, "max_degree", limit, reading=_P_BY_LEMMA)
        subject = f"{law}: T_DCBR < 3.8% of T_GMM"
        own_law = rows[rows["law"] == law]
        yield from time_findings(own_law, "P3.F8", "dcbr-m", 0.038, lambda one: at_most(one, 0.038), subject)
    uniform = own[own["law"] == "uniform"]
    for letter, measure in (("D", "max_degree"), ("d", "average_degree")):
        named = {f"{letter} of {name}": values(measure, name) for name in ("gm-m", "dcb-m", "dcbr-m")}
        subject = f"{letter} of all three rises with |T|"
        yield trend_finding(uniform, "P3.F8", subject, "p_topics", named, rises, log=True, reading=_P_BY_PAIRS)
        if len(alike := by_lemma[by_lemma["law"] == "uniform"]):
            own_p = {f"{letter} of dcbr-m": values(measure, "dcbr-m")}
            subject = f"{letter} of DCBR-M rises with |T|, p by Lemma 16"
            yield trend_finding(alike, "P3.F8", subject, "p_topics", own_p, rises, log=True, reading=_P_BY_LEMMA)
    joined = {"components joined by an edge": partial(_per_edge, method="gm-m")}
    subject = "an edge joins fewer components as |T| grows"
    yield trend_finding(uniform, "P3.F8", subject, "p_topics", joined, falls, log=True, reading="uniform law, GM-M")
    of_law = rows[rows["law"] == "uniform"]
    yield from _share_trends(of_law, "P3.F8", "p_topics", "dcbr-m", rises, "T_DCBR ÷ T_GMM rises with |T|")


def _sizes(bench: Bench) -> Iterable[Finding]:
    rows = labelled(bench.rows)
    own = chosen(rows)
    for of_p, suffix, reading in ((own, "", _P_BY_PAIRS), (_by_lemma(rows), ", p by Lemma 16", _P_BY_LEMMA)):
        if len(of_p):
            yield from _sizes_by(of_p, suffix, f"|T_v| from the mean − 40 to the mean + 40; {reading}")
    joined = {"components joined by an edge": partial(_per_edge, method="gm-m")}
    subject = "an edge joins more components as |T_v| grows"
    yield trend_finding(own, "P3.F9", subject, "mean_size", joined, rises, reading="GM-M")
    yield from _share_trends(rows, "P3.F9", "mean_size", "dcbr-m", falls, "T_DCBR ÷ T_GMM falls with |T_v|")
    for finding in _share_trends(rows, "P3.F9", "mean_size", "dcb-m", falls, "T_DCB ÷ T_GMM hardly falls with |T_v|"):
        yield _hardly(finding)
    yield from _similar(rows, "P3.F9", "|T_v|")
    yield from _updates(rows)


def _sizes_by(rows: pd.DataFrame, suffix: str, reading: str) -> Iterator[Finding]:
    for letter, measure in (("D", "max_degree"), ("d", "average_degree")):
        both = {f"{letter} of {name}": values(measure, name) for name in ("gm-m", "dcbr-m")}
        subject = f"{letter} falls with |T_v|{suffix}"
        yield trend_finding(rows, "P3.F9", subject, "mean_size", both, falls, reading=reading)
        gap = {f"{letter}_DCBR − {letter}_GMM": partial(difference, measure=measure, one="dcbr-m", other="gm-m")}
        subject = f"the difference in {letter} shrinks{suffix}"
        yield trend_finding(rows, "P3.F9", subject, "mean_size", gap, falls, reading=reading)


def _updates(rows: pd.DataFrame) -> Iterator[Finding]:
    """§VI.F: the contributions that an added edge changes, counted in Algorithm 6."""
    counters = [json.loads(text) for text in rows["counters"]]
    updates = [one.get("table_contribution_updates", math.nan) / one.get("steps", math.nan) for one in counters]
    own = rows.assign(updates=updates)
    own = chosen(own, "table")
    own = own[own["updates"].notna() & own["method"].isin(["gm-m", "dcbr-m"])]
    if own["method"].nunique() < 2:
        return
    reading = "contributions updated by Algorithm 6, lines 2 to 8, an edge"
    both = {f"log2(updates an edge) of {name}": partial(_log_of, method=name) for name in ("gm-m", "dcbr-m")}
    yield trend_finding(own, "P3.F9", "an edge causes more updates", "mean_size", both, rises, reading=reading)
    ratio = {"log2(updates of DCBR-M ÷ of GM-M)": partial(_log_ratio, measure="updates", method="dcbr-m")}
    subject = "updates rise less for DCBR-M than for GM-M"
    yield trend_finding(own, "P3.F9", subject, "mean_size", ratio, falls, reading=reading)


def _log_of(rows: pd.DataFrame, method: str) -> pd.Series:
    return pd.Series(np.log2(values("updates", method)(rows)))


def _hardly(finding: Finding) -> Finding:
    """No significant gain: refuted if the ratio falls significantly, by more than a tenth a doubling."""
    (slope,) = finding.intervals
    verdict = at_least(slope, float(np.log2(0.9)))
    reading = f"hardly is by at most a tenth a doubling; {finding.scope.reading}"
    return replace(finding, verdict=verdict, scope=replace(finding.scope, reading=reading))


def _rings(bench: Bench) -> Iterable[Finding]:
    rows = labelled(bench.rows)
    own = chosen(rows[rows["method"] != "ring-per-topic"])
    rings = rows[rows["method"] == "ring-per-topic"]
    for order, of_order in rings.groupby(rings["options"].str.extract(r'"order": "([^"]+)"', expand=False)):
        both = pd.concat([of_order.assign(ties=rule) for rule in own["ties"].unique()] + [own])
        verdict, differ, intervals = by_rule(both, _factor, lambda one: within(one, 25, 35))
        if verdict is Verdict.REFUTED and all(at_least(one, 1) is Verdict.HOLDS for one in intervals):
            verdict = Verdict.ORDER
        text = f"RingPT ÷ DCBR-M {', '.join(f'{one.mean:.1f}' for one in intervals)} under DCBR-M's rules for ties."
        reading = f"rings in the order {order}; about 30 is 25 to 35; {_P_BY_PAIRS}"
        subject = f"RingPT's maximum degree ≈ 30 × DCBR-M's: order {order}"
        used = pd.concat([of_order, own])
        yield found(used, "P3.F10", subject, verdict, text + differ, intervals, reading=reading)
    yield _as_a_tree(rings)
    yield _possible_factor(own)
    verdict, differ, intervals = by_rule(own, _excess, lambda one: at_most(one, 1.22))
    text = (
        f"D_DCBR − D_GMM {', '.join(f'{one.mean:.2f}' for one in intervals)} under the rules; published 1.22.{differ}"
    )
    yield found(own, "P3.F10", "D_DCBR − D_GMM is 1.22 or less", verdict, text, intervals, reading=_P_BY_PAIRS)


def _as_a_tree(rings: pd.DataFrame) -> Finding:
    """§VI.G: rings have the average degree of trees, |V_t| edges against |V_t| − 1 for each topic."""
    edges = [json.loads(text)["ring_edges"] for text in rings["counters"]]
    more = edges / (rings["subscriptions"] - rings["topics"])
    ratio = mean_of("edges of the rings ÷ edges of trees", more.groupby(rings["instance"]).mean(), 1)
    text = f"Rings have {ratio.mean - 1:.2%} more edges than a tree for each topic, shared edges counted for each."
    verdict = within(ratio, 1, 1.01)
    return found(rings, "P3.F10", "rings have the average degree of trees", verdict, text, [ratio], reading="within 1%")


def _factor(rows: pd.DataFrame, rule: str) -> Interval:
    table = per_instance(rows, "max_degree", "method")
    return mean_of(f"RingPT ÷ DCBR-M, {rule}", table["ring-per-topic"] / table["dcbr-m"], 30)


def _excess(rows: pd.DataFrame, rule: str) -> Interval:
    return mean_of(f"D_DCBR − D_GMM, {rule}", difference(rows, "max_degree", "dcbr-m", "gm-m"), 1.22)


def _possible_factor(rows: pd.DataFrame) -> Finding:
    """An upper bound: no order of the rings gives a node more than 2|T_v| links."""
    divided = rows[rows["method"] == "dcbr-m"]
    bound = 2 * divided["p_most"] / divided["max_degree"]
    interval = mean_of("2·max|T_v| ÷ D_DCBR", bound.groupby(divided["instance"]).max(), 30)
    text = (
        f"A node has at most 2|T_v| links in rings, so RingPT ÷ DCBR-M is at most {bound.max():.1f} on any of these "
        "instances, whatever the order."
    )
    verdict = Verdict.REFUTED if bound.max() < 25 else Verdict.OPEN
    reading = f"about 30 is 25 to 35; nodes with 10 to 90 topics; {_P_BY_PAIRS}"
    return found(divided, "P3.F10", "a factor of 30 is possible", verdict, text, [interval], reading=reading)


def _lowest(bench: Bench) -> Iterable[Finding]:
    """§VI: no algorithm known then has a lower maximum degree than GM-M."""
    rows = labelled(bench.rows)
    gm_m = rows[rows["method"] == "gm-m"]
    for other in ("minmax-oda", "gm", "low-oda", "ring-per-topic"):
        own = rows[rows["method"] == other]
        rules = gm_m["ties"].unique()
        alike = own if other == "minmax-oda" else pd.concat([own.assign(ties=rule) for rule in rules])
        below = partial(_below, other=other)
        verdict, differ, intervals = by_rule(pd.concat([gm_m, alike]), below, lambda one: at_most(one, 0))
        shown = ", ".join(f"{one.mean:+.2f}" for one in intervals)
        text = f"D_GMM less D of {other} on average {shown} under the rules for ties.{differ}"
        subject = f"GM-M's maximum degree is at most that of {other}"
        yield found(pd.concat([gm_m, own]), "P3.S6.4", subject, verdict, text, intervals, reading="on average")


def _below(rows: pd.DataFrame, rule: str, other: str) -> Interval:
    return mean_of(f"D_GMM less D of {other}, {rule}", difference(rows, "max_degree", "gm-m", other))


def _per_edge(rows: pd.DataFrame, method: str) -> pd.Series:
    """The components that an edge joins on average: Σ(|V_t| − 1) ÷ |E|, an instance each."""
    own = rows[rows["method"] == method]
    joined = (own["subscriptions"] - own["topics"]) / own["edges"]
    return joined.groupby(own["instance"]).mean()


CLAIMS_P3_FIGURES: tuple[Claim, ...] = (
    figure_claim("P3.F6", "D_DCBR − D_GMM ≤ 2.0 on average; T_DCBR ≤ 4% of T_GMM; 25 times as fast (abstract)", _laws),
    figure_claim("P3.F7", "as |V| grows: T_DCBR 4.79% and T_DCB 75.7% of T_GMM", _nodes),
    figure_claim("P3.F8", "as |T| grows: D_DCBR − D_GMM ≤ 3.51, 4.46, 3.46; T_DCBR < 3.8% of T_GMM", _topics),
    figure_claim("P3.F9", "as |T_v| grows: D falls, and so do the differences and T_DCBR ÷ T_GMM", _sizes),
    Claim(
        "P3.S6.4",
        "GM-M has the lowest maximum degree of the polynomial algorithms known then",
        "P3 §VI",
        _lowest,
        known_algorithms,
    ),
    figure_claim("P3.F10", "RingPT's maximum degree ≈ 30 × DCBR-M's; D_DCBR − D_GMM 1.22", _rings),
)
