"""The parameters of Chen et al. (P3): Figures 4 and 5, and what §V says of η, λ and p."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd

from ...heuristics.topics.division import best_division, bulk_threshold, random_order
from ...heuristics.topics.kernels.ties import tie_order
from ...instances.topics.instance import TopicInstance
from ..papers.bench import LAWS, Bench, Sizes
from ..papers.grids_p3 import p3_default
from ..papers.rows_p3 import OWN, chosen, labelled
from .claim import Claim, Finding, Interval, NotRun, Scope, Verdict
from .evidence import all_of, at_least, at_most, mean_of, over_ties, per_instance, share_of, within
from .on_grids import figure_claim
from .on_p3_grids import TIMINGS, by_rule, found, rises, similar_degrees
from .p3_trade_off import TRADE_OFF

_MOST_AT = "the number of parts where the mean is greatest, against p = 1 and p = |L|"


def _parts(bench: Bench) -> Iterable[Finding]:
    every = labelled(bench.rows)
    rows = every[(every["data"] == "rows") & (every["given"] | (every["method"] == "gm-m"))]
    yield _rise_and_fall(rows)
    baseline = rows[rows["method"] == "gm-m"].groupby(["instance", "ties"])["max_degree"].mean()
    divided = rows[rows["method"] == "dcbr-m"]
    keys = pd.MultiIndex.from_frame(divided[["instance", "ties"]])
    above = divided.assign(above=divided["max_degree"].to_numpy() - baseline.loc[keys].to_numpy())
    worst, where = float(above["above"].max()), above.loc[above["above"].idxmax()]
    verdict, differ, intervals = by_rule(above, _worst_parts, lambda one: at_most(one, 6.5))
    text = (
        f"{'; '.join(f'{one.of}: {one.mean:.2f}' for one in intervals)}. The worst single run is {worst:g} above, at "
        f"p = {where['p']:g} with ties {where['ties']}.{differ}"
    )
    reading = "the mean over instances at the worst p"
    yield found(rows, "P3.F4", "D_DCBR − D_GMM below 6.5 for every p", verdict, text, intervals, reading=reading)
    yield from _fastest_parts(every, above)
    yield from _pn_follows(every)
    yield from _phases(every)
    yield from _chosen_parts(every)
    yield _all_parts(rows)
    yield similar_degrees(rows[rows["given"]], "P3.F4", "p")


def _worst_parts(above: pd.DataFrame, rule: str) -> Interval:
    """D_DCBR − D_GMM at the number of parts where its mean is greatest; widened for the choice among all p."""
    by_p = _by_parts(above[~above["single"]], "above", "p")
    worst = by_p.mean().idxmax()
    return mean_of(f"D_DCBR − D_GMM at p = {worst:g}, {rule}", by_p[worst], 6.5, together=by_p.shape[1])


def _at(above: pd.DataFrame, rule: str, p: float) -> Interval:
    own = above[above["p"] == p].groupby("instance")["above"].mean()
    return mean_of(f"D_DCBR − D_GMM at p = {p:g}, {rule}", own, 2.8)


def _by_parts(rows: pd.DataFrame, measure: str, at: str) -> pd.DataFrame:
    """A measure by instance and number of parts; numbers of parts that some instance has not are left out."""
    return rows.pivot_table(index="instance", columns=at, values=measure, aggfunc="mean").dropna(axis=1)


def _below(held: bool) -> Verdict:
    return Verdict.HOLDS if held else Verdict.REFUTED


def _rise_and_fall(rows: pd.DataFrame) -> Finding:
    divided = rows[rows["method"] == "dcbr-m"]
    verdicts, intervals, texts = {}, [], []
    for rule, own in divided.groupby("ties", sort=False):
        table = _by_parts(own.assign(at=own["p"].where(~own["single"], -1)), "max_degree", "at")
        peak = table.drop(columns=[1.0, -1.0], errors="ignore").mean().idxmax()
        together = 2 * table.shape[1]
        rise, fall = (
            mean_of(f"D at p = {peak:g} less D at {name}, ties {rule}", table[peak] - table[end], together=together)
            for name, end in (("p = 1", 1.0), ("p = |L|", -1.0))
        )
        verdicts[str(rule)] = all_of([at_least(rise, 0), at_least(fall, 0)])
        intervals += [rise, fall]
        texts.append(f"ties {rule}: greatest at p = {peak:g}, {rise.mean:.1f} above p = 1, {fall.mean:.1f} above |L|")
    verdict, differ = over_ties(verdicts)
    return found(
        divided,
        "P3.F4",
        "D_DCBR rises, then falls",
        verdict,
        f"{'; '.join(texts)}.{differ}",
        intervals,
        reading=_MOST_AT,
    )


def _fastest_parts(every: pd.DataFrame, above: pd.DataFrame) -> Iterator[Finding]:
    """Where T_DCBR is least over p, under each reading of running time, and how high D is there."""
    for reading, data, measure, aim in TIMINGS:
        if aim == "lemma-16":
            continue
        rows = every[(every["data"] == data) & every["given"] & ~every["single"] & (every["ties"] == "lowest")]
        table = per_instance(rows[rows["method"] == "dcbr-m"], measure, "p").dropna(axis=1)
        if table.empty:
            continue
        best = table.idxmin(axis=1)
        interval = mean_of("log2 of the fastest p", np.log2(best), float(np.log2(10)))
        least = table.mean().idxmin()
        near = within(interval, np.log2(5), np.log2(20))
        text = f"Least on average at p = {least:g}, an instance each at {', '.join(f'{p:g}' for p in best)}."
        words = f"near 10 is from 5 to 20; {reading}"
        yield found(rows, "P3.F4", f"T_DCBR least near p = 10: {reading}", near, text, [interval], reading=words)
        verdict, differ, gaps = by_rule(above, partial(_at, p=least), lambda one: at_most(one, 2.8))
        means = ", ".join(f"{one.mean:.2f}" for one in gaps)
        text = f"At p = {least:g} D_DCBR is {means} above D_GMM under the rules, published less than 2.8.{differ}"
        subject = f"D_DCBR − D_GMM below 2.8 at the fastest p: {reading}"
        yield found(above, "P3.F4", subject, verdict, text, gaps, reading=reading)
        yield _no_gain(every[every["data"] == data], measure, reading)


def _no_gain(rows: pd.DataFrame, measure: str, reading: str) -> Finding:
    """Whether T_DCB is nearer to T_GMM than T_DCBR is, at the p where T_DCBR is least."""
    own = rows[(rows["ties"] == "lowest") & (rows["given"] | (rows["method"] == "gm-m")) & ~rows["single"]]
    baseline = own[own["method"] == "gm-m"].groupby("instance")[measure].mean()
    dcb, dcbr = (
        per_instance(own[own["method"] == name], measure, "p").div(baseline, axis=0).dropna(axis=1)
        for name in ("dcb-m", "dcbr-m")
    )
    intervals = [
        mean_of("mean over p of T_DCB ÷ T_GMM", dcb.mean(axis=1)),
        mean_of("least T_DCBR ÷ T_GMM", dcbr.min(axis=1)),
    ]
    apart = mean_of("", (dcb.mean(axis=1) - dcbr.min(axis=1)).dropna())
    verdict = all_of([at_least(apart, 0), within(intervals[0], 0.6, 1.5)])
    span = f"{dcb.mean().min():.2f} to {dcb.mean().max():.2f}"
    text = f"T_DCB ÷ T_GMM is {span} over p; T_DCBR ÷ T_GMM falls to {dcbr.mean().min():.2f}."
    words = f"close to T_GMM is 0.6 to 1.5 times as long on average over p; {reading}"
    return found(own, "P3.F4", f"T_DCB stays close to T_GMM: {reading}", verdict, text, intervals, reading=words)


def _pn_follows(every: pd.DataFrame) -> Iterator[Finding]:
    for reading, data, measure, aim in TIMINGS:
        rows = every[
            (every["data"] == data) & every["given"] & (every["method"] == "dcbr-m") & (every["ties"] == "lowest")
        ]
        if aim == "lemma-16" or rows[measure].isna().all() or rows["p"].nunique() < 4:
            continue
        of_instance = (own for _, own in rows.groupby("instance") if own["pn"].nunique() > 1)
        ranks = [own[measure].corr(own["pn"], "spearman") for own in of_instance]
        interval = mean_of("Spearman's correlation of time and pn-ratio over p", ranks)
        text = f"Rank correlation over p {interval.mean:.2f} on average. It follows if positive; 1 is equal ranking."
        yield found(
            rows, "P3.F4", f"T follows pn-ratio: {reading}", at_least(interval, 0), text, [interval], reading=reading
        )


def _phases(every: pd.DataFrame) -> Iterator[Finding]:
    """§V: the combine phase takes most of the work for p near |L|, the conquer phase for small p."""
    rows = every[every["inner"].notna() & every["given"] & (every["method"] == "dcbr-m")]
    if rows.empty:
        return
    for subject, near, (low, high) in (
        ("the conquer phase dominates at small p", rows[rows["p"] == rows["p"].min()], (0.5, 1)),
        ("the combine phase dominates at p near |L|", rows[rows["single"]], (0, 0.5)),
    ):
        if near.empty:
            continue
        share = mean_of("the conquer phase's share of the work", near.groupby("instance")["inner"].mean())
        text = f"{share.mean:.1%} of the work of Algorithms 3 to 6 is in the conquer phase at p = {near['p'].max():g}."
        yield found(
            near, "P3.F4", subject, within(share, low, high), text, [share], reading="dominates is more than half"
        )


def _chosen_parts(every: pd.DataFrame) -> Iterator[Finding]:
    """§V: p chosen by an estimate against the p of least work."""
    table = every[(every["data"] == "table") & (every["method"] == "dcbr-m")]
    if not table["given"].any():
        return
    least = table[table["given"]].groupby("instance")["work"].min()
    for aim, name in ((OWN, "candidate pairs"), ("lemma-16", "Lemma 16's bound")):
        own = table[table["aim"] == aim].groupby("instance")[["work", "p"]].mean()
        ratio = mean_of("T at the chosen p ÷ least T", (own["work"] / least).dropna(), 1)
        parts = ", ".join(f"{p:g}" for p in own["p"])
        text = f"Work {ratio.mean:.2f} times the least over p; p is {parts}, an instance each."
        reading = f"within a tenth of the least; p minimises {name}"
        subject = f"p is chosen well by {name}"
        yield found(table, "P3.F4", subject, at_most(ratio, 1.1), text, [ratio], reading=reading)


def _all_parts(rows: pd.DataFrame) -> Finding:
    """Whether the divided methods equal GM-M at p = |L|, from the degrees and edges."""
    last = rows[rows["single"] | (rows["method"] == "gm-m")]
    table = per_instance(last, "edges", "ties", "method")
    degrees = per_instance(last, "max_degree", "ties", "method")
    own = [rule for rule in ("lowest", "highest") if rule in table.index.get_level_values("ties")]
    pairs = [
        one.loc[(slice(None), own), name] == one.loc[(slice(None), own), "gm-m"]
        for one in (table, degrees)
        for name in ("dcb-m", "dcbr-m")
    ]
    equal = np.logical_and.reduce([pair.to_numpy() for pair in pairs])
    text = f"Edges and maximum degrees equal GM-M's in {equal.sum()} of {len(equal)} runs with fixed ties."
    share = [share_of("runs whose edges and maximum degree equal GM-M's", int(equal.sum()), len(equal))]
    used, verdict = last[last["ties"].isin(own)], _below(bool(equal.all()))
    return found(used, "P3.F4", "at p = |L| both equal GM-M", verdict, text, share, reading="ties by number")


def _coverage(bench: Bench) -> Iterable[Finding]:
    every = labelled(bench.rows)
    rows = every[(every["method"] == "dcbr-m") & (every["data"] == "rows")]
    verdict, differ, shares = by_rule(rows, _large_steps, lambda one: at_least(one, 0.5))
    steps = by_rule(rows, partial(_step, before=1, after=2, claimed=3.0), rises)[2]
    text = f"By {', '.join(f'{one.mean:.2f}' for one in steps)} on average under the rules.{differ}"
    subject = "λ from 1 to 2 lowers D by 3 or more for most cases"
    reading = "most cases are at least half of the instances"
    yield found(rows, "P3.F5", subject, verdict, text, [*shares, *steps], reading=reading)
    for subject, before, after, judge, published in (
        ("λ from 2 to 3 lowers D by about 0.71", 2, 3, lambda one: within(one, 0.355, 1.42), 0.71),
        ("λ beyond 3 lowers D by at most 0.32", 3, 4, lambda one: at_most(one, 0.32), 0.32),
    ):
        verdict, differ, intervals = by_rule(rows, partial(_step, before=before, after=after, claimed=published), judge)
        shown = ", ".join(f"{one.mean:.2f}" for one in intervals)
        text = f"D at λ = {before} less D at λ = {after}: {shown} under the rules."
        about = "about 0.71 is within a factor 2" if before == 2 else ""
        yield found(rows, "P3.F5", subject, verdict, text + differ, intervals, reading=about)
    verdict, differ, intervals = by_rule(rows, partial(_step, before=1, after=4), rises)
    yield found(rows, "P3.F5", "D falls in λ", verdict, f"From λ = 1 to 4, by rule for ties.{differ}", intervals)
    verdicts, every_step = [], list[Interval]()
    for at in (2, 3):
        verdict, differ, intervals = by_rule(rows, partial(_bend, at=at), rises)
        verdicts.append(verdict)
        every_step += intervals
    text = f"The decrease to λ less the next one, by rule: {', '.join(f'{one.mean:.2f}' for one in every_step)}."
    yield found(rows, "P3.F5", "the decrease gets less with λ", all_of(verdicts), text, every_step)
    yield from _cost_of_coverage(every)


def _by_coverage(rows: pd.DataFrame, measure: str = "max_degree") -> pd.DataFrame:
    return per_instance(rows, measure, "coverage")


def _step(rows: pd.DataFrame, rule: str, before: int, after: int, claimed: float | None = None) -> Interval:
    degrees = _by_coverage(rows)
    return mean_of(f"D at λ = {before} less D at λ = {after}, {rule}", degrees[before] - degrees[after], claimed)


def _large_steps(rows: pd.DataFrame, rule: str) -> Interval:
    degrees = _by_coverage(rows)
    hits = int((degrees[1] - degrees[2] >= 3).sum())
    return share_of(f"share of instances where λ = 2 lowers D by 3 or more, {rule}", hits, len(degrees))


def _bend(rows: pd.DataFrame, rule: str, at: int) -> Interval:
    degrees = _by_coverage(rows)
    bend = degrees[at - 1] - 2 * degrees[at] + degrees[at + 1]
    return mean_of(f"decrease to λ = {at} less the next, {rule}", bend, together=2)


def _cost_of_coverage(every: pd.DataFrame) -> Iterator[Finding]:
    for reading, data, measure, aim in TIMINGS:
        own = every[(every["data"] == data) & (every["ties"] == "lowest") & every[measure].notna()]
        if aim == "lemma-16" or own.empty:
            continue
        baseline = own[own["method"] == "gm-m"].groupby("instance")[measure].mean()
        shares = _by_coverage(own[own["method"] == "dcbr-m"], measure).div(baseline, axis=0).dropna()
        whole = mean_of("T_DCBR ÷ T_GMM over λ", shares.mean(axis=1), 0.03)
        verdict = at_most(whole, 0.03)
        if verdict is Verdict.REFUTED and at_most(whole, 1) is Verdict.HOLDS:
            verdict = Verdict.ORDER
        text = f"{whole.mean:.1%} of GM-M's on average over λ; published at most 3%."
        yield found(own, "P3.F5", f"T_DCBR ≤ 3% of T_GMM: {reading}", verdict, text, [whole], reading=reading)
        more = mean_of("T at λ = 4 less T at λ = 1, ÷ T_GMM", shares[4] - shares[1], 0.0069)
        text = f"{more.mean:+.2%} of T_GMM from λ = 1 to 4; published at most 0.69%."
        yield found(
            own, "P3.F5", f"λ costs at most 0.69%: {reading}", at_most(more, 0.0069), text, [more], reading=reading
        )
        text = f"T_DCBR is {shares[4].mean() / shares[1].mean():.2f} times as long at λ = 4 as at λ = 1."
        yield found(own, "P3.F5", f"T_DCBR rises with λ: {reading}", rises(more), text, [more], reading=reading)
    pn = _by_coverage(chosen(every)[lambda rows: rows["method"] == "dcbr-m"], "pn")
    rise = mean_of("pn-ratio at λ = 4 less that at λ = 1", pn[4] - pn[1])
    yield found(every, "P3.F5", "pn-ratio rises with λ", rises(rise), f"By {rise.mean:.3f} on average.", [rise])


def _defaults(quick: bool, nodes: int = 1000) -> list[tuple[str, TopicInstance]]:
    """Instances of P3's default workload under each law."""
    every = ((law, recipe) for law in LAWS for recipe in p3_default("P3.S5", law, 2 if quick else 10, nodes=nodes))
    return [(law, recipe.make()) for law, recipe in every]


def _scope(instances: Sequence[tuple[str, TopicInstance]], ties: tuple[str, ...] = (), reading: str = "") -> Scope:
    nodes = instances[0][1].num_nodes
    sizes: Sizes = {"law": LAWS, "|V|": (nodes,), "|T|": (200,), "mean |T_v|": (50,)}
    own = len(instances) // len(LAWS)
    return Scope(sizes, samples=own, points=len(LAWS), ties=ties, reading=reading)


def _limits(bench: Bench) -> Iterable[Finding]:
    """§V: the extreme values of η and λ reduce DCBR-M to GM-M and DCB-M."""
    instances = _defaults(True, 300 if bench.quick else 1000)
    for subject, method, options, other, given in (
        ("every node bulk: DCBR-M is GM-M", "dcbr-m", {"eta": 1}, "gm-m", {}),
        (
            "λ as large as the parts: DCBR-M is DCB-M",
            "dcbr-m",
            {"coverage": 1000, "partitions": 6},
            "dcb-m",
            {"partitions": 6},
        ),
    ):
        equal, tried = 0, 0
        for seed, (_, instance) in enumerate(instances):
            for ties in ("lowest", "highest"):
                one = bench.run(method, instance, "minmax-tco", seed=seed, ties=ties, **options).answer
                two = bench.run(other, instance, "minmax-tco", seed=seed, ties=ties, **given).answer
                tried += 1
                equal += one is not None and two is not None and np.array_equal(one.edges, two.edges)
        verdict = Verdict.HOLDS if equal == tried else Verdict.REFUTED
        scope = _scope(instances, ("lowest", "highest"), "identical overlays, with the same seed")
        yield Finding(subject, verdict, f"The same edges in {equal} of {tried} pairs of runs.", 2 * tried, scope=scope)


def _pareto(bench: Bench) -> Iterable[Finding]:
    """§V, §IV.B: most nodes have few topics, so a small η leaves few nodes bulk."""
    instances = _defaults(bench.quick)
    sizes = [np.sort(np.diff(instance.node_offsets)) for _, instance in instances]
    for subject, sample, (low, high), reading in (
        (
            "at most 20% of the nodes are bulk by the choice of η",
            [float((own > bulk_threshold(one)).mean()) for own, (_, one) in zip(sizes, instances, strict=True)],
            (0, 0.2),
            "η is the least that leaves at most a fifth bulk",
        ),
        (
            "a small η leaves few nodes bulk",
            [float((own > own.max() / 2).mean()) for own in sizes],
            (0, 0.2),
            "small is half of max|T_v|, few is at most a fifth",
        ),
        (
            "the workload follows the 80–20 rule",
            [float(own[-len(own) // 5 :].sum() / own.sum()) for own in sizes],
            (0.8, 1),
            "the fifth of the nodes with most topics has at least 80% of all subscriptions",
        ),
    ):
        share = mean_of(subject, sample)
        text = f"A share of {share.mean:.1%} on average of the workload with 10 to 90 topics a node."
        scope = _scope(instances, reading=reading)
        yield Finding(subject, within(share, low, high), text, len(instances), scope=scope, intervals=[share])


def _cheap_divisions(bench: Bench) -> Iterable[Finding]:
    """§V: dividing for several p and choosing representatives costs little beside building the overlay."""
    instances, shares = _defaults(bench.quick), list[float]()
    for seed, (_, instance) in enumerate(instances):
        light = np.flatnonzero(np.diff(instance.node_offsets) <= bulk_threshold(instance)).astype(np.int32)
        order, shuffled = tie_order("lowest", seed), random_order(light, seed)
        start = time.process_time()
        best_division(instance, shuffled, 3, order, OWN)
        divided = time.process_time()
        bench.run("dcbr-m", instance, "minmax-tco", seed=seed, data="table")
        shares.append((divided - start) / (time.process_time() - divided))
    share = mean_of("time to choose p ÷ T_DCBR", shares[1:])
    text = f"{share.mean:.1%} of T_DCBR on average, with the structures of Algorithms 3 to 6."
    scope = _scope(instances, ("lowest",), "cheap is at most a tenth of T_DCBR; processor time")
    yield Finding("choosing p is cheap", at_most(share, 0.1), text, len(shares), scope=scope, intervals=[share])


CLAIMS_P3_PARAMETERS: tuple[Claim, ...] = (
    figure_claim("P3.F4", "in p: D_DCBR rises then falls; T_DCBR lowest near p = 10; pn-ratio follows it", _parts),
    figure_claim("P3.F5", "λ beyond 3 changes little, in degree and in time", _coverage),
    Claim("P3.S5.1", "extreme values of η and λ turn DCBR-M into GM-M and DCB-M", "P3 §V", _limits),
    Claim("P3.S5.2", "most nodes have few topics: a small η leaves few nodes bulk", "P3 §V, §IV.B", _pareto),
    Claim("P3.S5.3", "dividing for several p and choosing representatives is cheap", "P3 §V", _cheap_divisions),
    TRADE_OFF,
)
NOT_RUN_P3_FIGURES: tuple[NotRun, ...] = (
    NotRun(
        "P3.S6.2",
        "the original GM-M of 2009 would take longer still against DCBR-M",
        "P3 §VI",
        "its implementation is not described; P3.F6 and P3.F7 compare with the faster one that the paper measures",
    ),
    NotRun(
        "P3.S6.3",
        "uniform, Zipf and exponential popularity are those of deployed systems",
        "P3 §VI",
        "the traces of the cited studies are not available here",
    ),
)
