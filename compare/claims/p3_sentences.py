"""Sentences of P3 §§I to IV that are not lemmas: what topic-connectivity gives, and what partitions cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import LinearConstraint, milp

from ...heuristics.topics.division import partition_of, random_order, representatives, restricted
from ...heuristics.topics.kernels.ties import tie_order
from ...instances.contract.overlay import Overlay
from ...instances.topics.constructions import binary_tree_of_topics
from ...instances.topics.instance import TopicInstance
from ..papers.bench import LAWS, Bench, Experiment, runs
from ..papers.grids_p3 import p3_default
from ..studies.recipe import Recipe
from .claim import Claim, Finding, Interval, NotRun, Verdict, verdict_of
from .evidence import all_of, at_least, mean_of, over_ties, per_instance, scope_of, share_of, with_ties
from .on_p3_grids import in_fitted_laws
from .p3 import small
from .properties import TIES, assorted, scope_over

_NAIVE_PARTS = (2, 5, 10, 20)
_ABOVE_0 = 1e-9
_SEVERAL = "several times: at least 3; larger parts than these may have smaller sets, so the claim cannot be refuted"
_SYMBOLS = {"workload": "law", "p_nodes": "|V|", "p_topics": "|T|", "p": "p"}


def _sparse_overlays(bench: Bench) -> Iterable[Finding]:
    instances = [instance for _, instance in assorted(bench.quick) if instance.num_nodes >= 60]
    tries = 20
    connected = too_high = 0
    for seed, instance in enumerate(instances):
        overlay = bench.run("gm-m", instance, "minmax-tco").answer
        assert overlay is not None
        rng, n = np.random.default_rng(seed), instance.num_nodes
        for _ in range(tries):
            ends = rng.integers(0, n, (2 * overlay.num_edges, 2))
            ends = ends[ends[:, 0] != ends[:, 1]][: overlay.num_edges]
            connected += not (Overlay.from_edges(n, ends).topic_components(instance) > 1).any()
        too_high += n - 1 > overlay.max_degree
    share = share_of("share of random overlays that are topic-connected", connected, tries * len(instances))
    text = f"{connected} of {tries * len(instances)} random overlays with as many edges as GM-M's are topic-connected."
    scope = scope_over(instances, ("lowest",), seeds=tries, reading="sparse: as many edges as GM-M takes")
    rare = verdict_of((share.high or 1.0) < 0.05, Verdict.OPEN if (share.low or 0.0) < 0.05 else Verdict.REFUTED)
    runs_done = tries * len(instances)
    yield Finding("sparse: unlikely topic-connected", rare, text, runs_done, scope=scope, intervals=(share,))
    text = f"The complete overlay has a higher degree than GM-M's on {too_high} of {len(instances)} instances."
    scope = scope_over(instances, ("lowest",), reading="dense: every pair is an edge")
    yield Finding("dense: suboptimal degree", verdict_of(too_high == len(instances)), text, len(instances), scope=scope)


def _greedy_merge_degree(bench: Bench) -> Iterable[Finding]:
    """On Lemma 8's tree GM may link the root with every node, where degree 3 suffices."""
    heights = (2, 3, 4) if bench.quick else (2, 3, 4, 5, 6, 7)
    instances = {h: binary_tree_of_topics(h=h) for h in heights}
    rules = {"lowest": range(1), "highest": range(1), "random": range(5)}
    degree = {
        f"{ties}, seed {seed}" if ties == "random" else ties: [
            bench.value("gm", one, "minmax-tco", ties=ties, seed=seed) for one in instances.values()
        ]
        for ties, seeds in rules.items()
        for seed in seeds
    }
    sizes = [one.num_nodes for one in instances.values()]
    linear = {ties: verdict_of(found[-1] - found[-2] >= (sizes[-1] - sizes[-2]) / 2) for ties, found in degree.items()}
    verdict = verdict_of(Verdict.HOLDS in linear.values())
    under = ", ".join(ties for ties, held in linear.items() if held is Verdict.HOLDS) or "no rule"
    optimum = bench.value("branch-and-cut", instances[4], "minmax-tco")
    shown = "; ".join(f"{ties} {', '.join(f'{value:g}' for value in found)}" for ties, found in degree.items())
    text = (
        f"GM's maximum degree on Lemma 8's tree of {', '.join(map(str, sizes))} nodes: {shown}; degree {optimum:g} is "
        f"optimal (proven up to |V| = 31). Linear under: {under}."
    )
    reading = "may: one rule for ties suffices; Θ(|V|): at least half a link more a node"
    scope = scope_over(instances.values(), TIES, seeds=5, reading=reading)
    yield Finding("GM", verdict, text, bench.done, scope=scope)


def _naive_grid(quick: bool) -> Experiment:
    methods = [
        (method, {**options, "ties": ties})
        for ties in TIES
        for method, options in (("gm-m", {}), *(("naive-dc", {"partitions": p}) for p in _NAIVE_PARTS))
    ]
    recipes = p3_sized("P3.F2", 5, nodes=400 if quick else 4000)
    return Experiment(recipes, (runs("minmax-tco", *methods, time_limit=600.0),))


def p3_sized(family: str, seeds: int, *, nodes: int) -> tuple[Recipe, ...]:
    """P3's workloads with so many nodes and its default of 200 topics."""
    return tuple(recipe for law in LAWS for recipe in p3_default(family, law, seeds, nodes=nodes))


def _with_parts(rows: pd.DataFrame) -> pd.DataFrame:
    counters = [json.loads(text) for text in rows["counters"]]
    parts = [int(json.loads(text).get("partitions", 1)) for text in rows["options"]]
    inner = [
        one.get("inner_max_degree", degree) for one, degree in zip(counters, rows["max_degree"], strict=True)
    ]  # fmt: skip
    return with_ties(rows).assign(p=parts, inner=inner)


def _naive(bench: Bench) -> Iterable[Finding]:
    """The degree within random parts less that of GM-M's whole overlay."""

    def excess(rows: pd.DataFrame, p: int) -> pd.Series:
        inner = per_instance(rows, "inner", "p")
        return inner[p] - inner[1]

    reading = "p is not stated in Figure 2; significant: the interval of the increase lies above 0"
    yield from _increases(bench, "D_conquer − D_GMM", excess, reading)


def _sensitivity(bench: Bench) -> Iterable[Finding]:
    """Relative increase of maximum and average degree by random parts, on the same overlays."""

    def excess(rows: pd.DataFrame, p: int) -> pd.Series:
        largest, average = (per_instance(rows, measure, "p") for measure in ("max_degree", "average_degree"))
        return largest[p] / largest[1] - average[p] / average[1]

    reading = "p is not stated; more sensitive: a larger relative increase over GM-M"
    yield from _increases(bench, "D ÷ D_GMM − d ÷ d_GMM", excess, reading)


def _increases(
    bench: Bench, name: str, excess: Callable[[pd.DataFrame, int], pd.Series], reading: str
) -> Iterable[Finding]:
    """For each law and p, whether the increase is above 0 under every rule for ties."""
    for workload, some in _with_parts(bench.rows).groupby("workload", sort=False):
        together = len(_NAIVE_PARTS) * some["ties"].nunique()
        for p in _NAIVE_PARTS:
            own = some[some["p"].isin([1, p])]
            intervals = {
                str(ties): mean_of(f"{name}, p = {p}, ties {ties}", excess(of_rule, p), together=together)
                for ties, of_rule in own.groupby("ties", sort=False)
            }
            verdict, differ = over_ties({ties: _is_above_0(one) for ties, one in intervals.items()})
            means = ", ".join(f"{one.mean:.3g}" for one in intervals.values())
            text = f"Mean increase of {name}: {means} under the rules for ties.{differ}"
            scope = scope_of(own, {"|V|": (4000,), "|T|": (200,)}, reading=reading, symbols=_SYMBOLS)
            subject, found = f"{workload}, p = {p}", tuple(intervals.values())
            yield in_fitted_laws(Finding(subject, verdict, text, len(own), scope=scope, intervals=found))


def _is_above_0(increase: Interval) -> Verdict:
    """No increase and no decrease in any instance decides nothing."""
    return Verdict.OPEN if increase.low == increase.high == 0 else at_least(increase, _ABOVE_0)


def _equal_grid(bench: Bench) -> Iterable[Finding]:
    """Work of GM-M on two parts: equal ones against 1 : 3 and 1 : 9, counted by Algorithms 3 to 6."""
    shape = {"nodes": 100 if bench.quick else 1000, "topics": 100}
    count = 2 if bench.quick else 5
    instances = [recipe.make() for law in LAWS for recipe in p3_default("P3.S4B.1", law, count, **shape)]
    ratios: dict[int, list[float]] = {4: [], 10: []}
    for seed, instance in enumerate(instances):
        order = random_order(np.arange(instance.num_nodes, dtype=np.int32), seed)
        equal = _work(bench, instance, order, instance.num_nodes // 2)
        for share, found in ratios.items():
            found.append(_work(bench, instance, order, instance.num_nodes // share) / equal)
    intervals = tuple(
        mean_of(f"work of parts 1 : {share - 1} ÷ work of equal parts", found, together=2)
        for share, found in ratios.items()
    )
    verdict = all_of(at_least(one, 1.0 + _ABOVE_0) for one in intervals)
    text = "Two parts of unequal size take more work than two equal ones."
    scope = scope_over(instances, ("lowest",), reading="counted steps of Algorithms 3 to 6 (data=table)")
    yield Finding("two parts", verdict, text, bench.done, scope=scope, intervals=intervals)


def _work(bench: Bench, instance: TopicInstance, order: Any, first: int) -> float:
    parts = np.sort(order[:first]), np.sort(order[first:])
    runs_of = [bench.run("gm-m", restricted(instance, part), "minmax-tco", data="table") for part in parts]
    return sum(float(run.counters["table_work"]) for run in runs_of)


def _sets_grid(quick: bool) -> Experiment:
    methods = [("dcbr-m", {"partitions": p, "coverage": c}) for p in (2, 5) for c in (1, 3)]
    recipes = p3_sized("P3.S4C.2", 5, nodes=400 if quick else 4000)
    return Experiment(recipes, (runs("minmax-tco", *methods, time_limit=600.0),))


def _set_sizes(bench: Bench) -> Iterable[Finding]:
    counters = pd.DataFrame([json.loads(text) for text in bench.rows["counters"]], index=bench.rows.index)
    times = counters["lightweight"] / counters["representatives"]
    rows = bench.rows.assign(p=counters["partitions"], coverage=counters["coverage"], times=times)
    for coverage, some in rows.groupby("coverage"):
        points = some.groupby(["workload", "p"])
        intervals = tuple(
            mean_of(f"|L| ÷ |R|, {law}, p = {p}, λ = {coverage}", own["times"], together=points.ngroups)
            for (law, p), own in points
        )
        verdict = all_of(at_least(one, 3.0) for one in intervals)
        verdict = Verdict.OPEN if verdict is Verdict.REFUTED else verdict
        scope = scope_of(some, {"|V|": (4000,)}, reading=_SEVERAL, symbols={**_SYMBOLS, "coverage": "λ"})
        means = [one.mean for one in intervals]
        text = f"Lightweight nodes ÷ representatives: {min(means):.1f} to {max(means):.1f}."
        subject = f"rep-sets, λ = {coverage}"
        yield in_fitted_laws(Finding(subject, verdict, text, len(some), scope=scope, intervals=intervals))


def _greedy_sets(bench: Bench) -> Iterable[Finding]:
    """Algorithm 13 against the smallest sets that cover every topic λ times, by integer programming."""
    instances = list(small(bench.quick, 9, nodes=60, topics=30, subscriptions=6))
    ratios, sizes, short = [], [], 0
    for seed, instance in enumerate(instances):
        shuffled = random_order(np.arange(60, dtype=np.int32), seed)
        for parts, coverage, ties in ((2, 1, "lowest"), (2, 3, "highest"), (3, 2, "random")):
            partition = partition_of(60, shuffled, parts)
            chosen = representatives(instance, partition, coverage, tie_order(ties, seed))
            smallest = 0
            for part in partition.parts():
                cover, needed, alone = _cover_problem(instance, part, coverage)
                own = np.isin(part, chosen)
                short += bool((cover @ own < needed).any())
                smallest += _smallest_cover(cover, needed)
                sizes.append(alone)
            ratios.append(len(chosen) / max(smallest, 1))
    most = float(np.log(max(sizes)) + 1)
    scope = scope_over(instances, TIES, reading="logarithmic: at most 1 + ln of the most topics of a node")
    text = f"|R_d| ÷ the smallest set: at most {max(ratios):.3f}, where 1 + ln max|T_v| = {most:.3f} is allowed."
    mean = mean_of("greedy ÷ smallest rep-set", np.reshape(ratios, (len(instances), -1)).mean(axis=1))
    done = len(ratios)
    yield Finding("greedy rep-sets", verdict_of(max(ratios) <= most), text, done, scope=scope, intervals=(mean,))
    text = f"{short} of {len(sizes)} parts miss a topic's min{{λ, subscribers}} representatives (eq. 8)."
    scope = scope_over(instances, TIES)
    yield Finding("they are rep-sets (eq. 8)", verdict_of(not short), text, len(sizes), scope=scope)
    text = (
        "A topic with one subscriber in a part and others outside, λ = 3, run line by line: once that node is chosen, "
        "the topic still lacks two representatives and no node left has it, so the loop does not end. Ours follows "
        "eq. 8."
    )
    ends = ends_as_printed([{0, 1}, {1}, {1}, {1}], {0, 1}, 3)
    scope = scope_over(instances[:1], reading="Algorithm 13 as printed, without the minimum of eq. 8")
    yield Finding("Algorithm 13 as printed ends", verdict_of(ends), text, 1, scope=scope)


def _cover_problem(instance: TopicInstance, part: Any, coverage: int) -> tuple[Any, Any, int]:
    """The topics × nodes matrix of a part's outward topics, the coverage that each needs, and max|T_v|."""
    inside = {int(v) for v in part}
    outward = [
        t
        for t in range(instance.num_topics)
        if 0 < len(inside & set(instance.subscribers(t).tolist())) < len(instance.subscribers(t))
    ]
    cover = np.array([[t in set(instance.topics_of(v).tolist()) for v in part] for t in outward], float)
    needed = np.minimum(cover.sum(axis=1), coverage)
    return cover, needed, int(cover.sum(axis=0).max())


def _smallest_cover(cover: Any, needed: Any) -> int:
    ones = np.ones(cover.shape[1])
    found = milp(ones, integrality=ones, bounds=(0, 1), constraints=LinearConstraint(cover, lb=needed))
    return round(float(found.fun))


def ends_as_printed(interests: list[set[int]], outward: set[int], coverage: int) -> bool:
    """Whether Algorithm 13's loop ends: it does not once no node is left that covers a missing topic."""
    missing, left = dict.fromkeys(outward, coverage), list(interests)
    while missing:
        best = max(left, key=lambda own: len(own & missing.keys()), default=set[int]())
        if not best & missing.keys():
            return False
        left.remove(best)
        missing = {topic: n - (topic in best) for topic, n in missing.items() if n > (topic in best)}
    return True


def _large_grid(quick: bool) -> Experiment:
    shape = {"nodes": 2000 if quick else 8000, "topics": 200}
    recipes = tuple(recipe for law in LAWS for recipe in p3_default("P3.I.12", law, 1, **shape))
    return Experiment(recipes, (runs("minmax-tco", *(("dcbr-m", {"ties": ties}) for ties in TIES), time_limit=600.0),))


def _under_a_minute(bench: Bench) -> Iterable[Finding]:
    rows = bench.rows
    slowest = float(rows["cpu_seconds"].max()) if rows["cpu_seconds"].notna().all() else float(rows["seconds"].max())
    text = f"DCBR-M takes at most {slowest:.1f} s of processor time; the paper's 14 GB limit is not tried."
    scope = scope_of(rows, {"|V|": (8000,)}, reading="our kernels on one core of today", symbols=_SYMBOLS)
    yield in_fitted_laws(Finding("DCBR-M, 8000 nodes", verdict_of(slowest < 60), text, len(rows), scope=scope))


def _routes(bench: Bench) -> Iterable[Finding]:
    """Whether messages reach every subscriber over subscribers alone."""
    tried, lost = [], 0
    for _, instance in assorted(bench.quick):
        for ties in TIES:
            tried.append(instance)
            overlay = bench.run("gm-m", instance, "minmax-tco", ties=ties, seed=len(tried)).answer
            if overlay is None:
                lost += 1
                continue
            lost += sum(1 for topic in range(instance.num_topics) if not _reaches_all(instance, overlay, topic))
    text = f"{lost} topics in {len(tried)} overlays of GM-M have a subscriber that no path of subscribers reaches."
    scope = scope_over(tried, TIES)
    yield Finding("no relays", verdict_of(not lost), text, len(tried), scope=scope)


def _reaches_all(instance: TopicInstance, overlay: Overlay, topic: int) -> bool:
    members = set(instance.subscribers(topic).tolist())
    near: dict[int, list[int]] = {v: [] for v in members}
    for u, v in overlay.edges.tolist():
        if u in near and v in near:
            near[u].append(v)
            near[v].append(u)
    reached, waiting = set(), list(members)[:1]
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.add(node)
            waiting += near[node]
    return reached == members


NOT_RUN_P3: tuple[NotRun, ...] = tuple(
    NotRun(f"P3.{id_}", statement, f"P3 §{section}", reason)
    for id_, statement, section, reason in (
        (
            "I.3",
            "topic-connectivity saves bandwidth and computation and gives smaller routing tables",
            "I",
            "the paper defines no routing protocol whose traffic or tables could be counted",
        ),
        (
            "I.4",
            "high degrees make hotspots likelier and failures worse",
            "I",
            "the paper defines neither load nor a model of failures",
        ),
        (
            "I.5",
            "no polynomial algorithm has a constant ratio unless P = NP; the problem is NP-complete",
            "I, III",
            "a theorem of complexity theory on all algorithms, proven elsewhere: no run can test it",
        ),
        (
            "I.6",
            "GM-M ran out of memory at 8000 nodes with 14 GB",
            "I",
            "a property of the authors' Java program, which is not available",
        ),
        (
            "I.7",
            "in practice few nodes subscribe to many topics (Pareto 80–20)",
            "I, IV.B",
            "it describes the traces of the works it cites, which are not available",
        ),
        (
            "I.8",
            "bulk subscribers are still too many for brute force",
            "I",
            "brute force is not specified; P3.S4C and the figures show what 20% bulk nodes cost",
        ),
        (
            "S4B.2",
            "clustering costs too much time, and needs complete knowledge",
            "IV.B",
            "the paper names no clustering algorithm",
        ),
        (
            "S4C.eq4",
            "D_DCB ≤ D_inDCB + D_outDCB",
            "IV.C",
            "an inequality of degrees of any two sets of edges: no run can violate it",
        ),
        (
            "S4C.def2",
            "the complete node set is a rep-set; fewer nodes may be one",
            "IV.C",
            "true by definition; P3.S4C.2 has how many fewer",
        ),
    )
)  # fmt: skip

CLAIMS_P3_SENTENCES: tuple[Claim, ...] = (
    Claim("P3.I.1", "topic-connected: no relays are needed", "P3 §I", _routes),
    Claim("P3.I.2", "sparse overlays are unlikely topic-connected, dense ones suboptimal", "P3 §I", _sparse_overlays),
    Claim("P3.I.12", "8000 nodes take DCBR-M less than a minute", "P3 §I", _under_a_minute, _large_grid),
    Claim("P3.S2.1", "algorithms for few edges may give Θ(|V|) × the smallest degree", "P3 §II", _greedy_merge_degree),
    Claim("P3.S2.2", "partitions raise the maximum degree more than the average", "P3 §II", _sensitivity, _naive_grid),
    Claim("P3.F2", "random parts alone exceed GM-M's maximum degree", "P3 Figure 2", _naive, _naive_grid),
    Claim("P3.S4B.1", "parts of equal size take the least time", "P3 §IV.B", _equal_grid),
    Claim("P3.S4C.2", "minimal rep-sets are several times smaller than the nodes", "P3 §IV.C", _set_sizes, _sets_grid),
    Claim("P3.S4C.3", "Algorithm 13 ends with a rep-set within a log of the smallest", "P3 §IV.C", _greedy_sets),
)
