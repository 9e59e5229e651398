"""The lemmas of Chen, Vitenberg and Jacobsen (P3) on GM-M: ratios, degrees and phases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from ...heuristics.topics.gm_m import extend_gm_m
from ...heuristics.topics.kernels.partial_overlay import PartialOverlay
from ...heuristics.topics.kernels.ties import tie_order
from ...instances.contract.arrays import connected_components
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Result, Status
from ...instances.topics.instance import TopicInstance
from ..papers.bench import LAWS, Bench, Experiment, grid, runs
from .claim import Claim, Finding, verdict_of
from .evidence import mean_of, over_ties, scope_of, share_of, with_ties
from .properties import TIES, largest_topics_of_a_node, property_finding, scope_over

Edge = tuple[int, int]
LOG = "constant 1 and the natural logarithm"
_GREEDY = tuple(
    (name, ties, 1 if ties != "random" else 2) for name in ("gm-m", "minmax-oda") for ties in TIES
)  # fmt: skip


def small(quick: bool, each: int, *, nodes: int, topics: int, subscriptions: int) -> Iterator[TopicInstance]:
    """`each` random instances a law, a third of them in the quick version."""
    for law in LAWS:
        count = max(1, each // 3) if quick else each
        shape = {"nodes": nodes, "topics": topics, "subscriptions": subscriptions}
        yield from (recipe.make() for recipe in grid("P3.small", law, count, **shape))


def _solved(quick: bool) -> Experiment:
    shapes = [(20, 15, 4, 20), (30, 20, 5, 3 if quick else 20), (50, 20, 4, 0 if quick else 10)]
    recipes = tuple(
        recipe
        for law in LAWS
        for nodes, topics, subscriptions, count in shapes
        for recipe in grid("P3.L2", law, count, nodes=nodes, topics=topics, subscriptions=subscriptions)
    )
    greedy = (
        runs("minmax-tco", (name, {"ties": ties}), repeats=repeats) for name, ties, repeats in _GREEDY
    )  # fmt: skip
    return Experiment(recipes, (runs("minmax-tco", "branch-and-cut", time_limit=10.0), *greedy))


def _degree_ratio(bench: Bench, method: str, subject: str) -> Iterable[Finding]:
    rows = bench.rows
    exact = rows[rows["method"] == "branch-and-cut"].set_index("instance")
    mine = with_ties(rows[rows["method"] == method])
    bound = mine["instance"].map(exact["lower_bound"]).to_numpy(float)
    ratio = mine["value"].to_numpy(float) / bound
    share = ratio / np.log(mine["nodes"].to_numpy(float) * mine["topics"].to_numpy(float))
    mine = mine.assign(ratio=ratio, share=share)
    verdict, differ = over_ties(
        {ties: verdict_of(bool(some["share"].max() <= 1)) for ties, some in mine.groupby("ties", sort=False)}
    )
    proven = int((exact["status"] == Status.OPTIMAL).sum())
    evidence = (
        f"D ÷ optimum on {len(exact)} instances, {proven} of them solved to proven optimality and the others with a "
        f"proven lower bound: largest {ratio.max():.3f}. Largest share of ln(|V||T|): {share.max():.3f}, the constant "
        f"that suffices here.{differ}"
    )
    intervals = tuple(
        mean_of(f"D ÷ optimum, ties {ties}", some.groupby("instance")["ratio"].mean())
        for ties, some in mine.groupby("ties", sort=False)
    )
    yield Finding(subject, verdict, evidence, len(mine), scope=scope_of(mine, reading=LOG), intervals=intervals)


def _worst_ratio(bench: Bench) -> Iterable[Finding]:
    yield from _degree_ratio(bench, "gm-m", "GM-M")
    instances = list(small(bench.quick, 18, nodes=7, topics=6, subscriptions=3))
    shares, ratios = [], []
    for instance in instances:
        worst = bench.value("gm-m", instance, "minmax-tco", ties="worst")
        ratio = worst / bench.value("branch-and-cut", instance, "minmax-tco")
        ratios.append(ratio)
        shares.append(ratio / np.log(instance.num_nodes * instance.num_topics))
    text = (
        f"Over all equally good choices (exhaustive search): D ÷ proven optimum at most {max(ratios):.3f}, and at most "
        f"{max(shares):.3f} of ln(|V||T|)."
    )
    interval = mean_of("D ÷ optimum, worst choices", ratios)
    scope = scope_over(instances, ("worst",), reading=LOG)
    verdict = verdict_of(max(shares) <= 1)
    yield Finding("GM-M, the worst choices", verdict, text, 2 * len(instances), scope=scope, intervals=(interval,))


def _average_degree(bench: Bench) -> Iterable[Finding]:
    def violation(instance: TopicInstance, result: Result[Overlay]) -> str:
        n, most = instance.num_nodes, largest_topics_of_a_node(instance)
        bound = 2 * (n - 1) / n * most
        degree = result.measures["average_degree"]
        return "" if degree <= bound + 1e-9 else f"average degree {degree:.3f} above {bound:.3f}"

    def excess(instance: TopicInstance, result: Result[Overlay]) -> str:
        assert result.answer is not None
        merged = instance.num_subscriptions - instance.num_topics
        return "" if result.answer.num_edges <= merged else f"{result.answer.num_edges} edges, {merged} merges"

    yield property_finding(bench, "GM-M", "gm-m", violation, "Average degree at most 2·(|V| − 1)/|V|·max|T_v|")
    yield property_finding(
        bench, "eq. 3: every edge merges components", "gm-m", excess, "|E| ≤ Σ|T_v| − |T|, all merges there are"
    )


def _third(bench: Bench) -> Iterable[Finding]:
    """Every phase's merges against those of the best matching at its start, by exhaustive search."""
    instances = list(small(bench.quick, 12 if bench.quick else 40, nodes=8, topics=6, subscriptions=3))
    ratios: dict[str, list[list[float]]] = {ties: [] for ties in TIES}
    for seed, instance in enumerate(instances):
        for ties in TIES:
            result = bench.run("gm-m", instance, "minmax-tco", ties=ties, seed=seed, trace=True)
            edges = [step.edges[0] for step in result.trace or ()]
            ratios[ties].append(list(_shares_of_best_matchings(instance, edges)))
    least = {ties: min(map(min, found)) for ties, found in ratios.items()}
    verdict, differ = over_ties({ties: verdict_of(share >= 1 / 3 - 1e-9) for ties, share in least.items()})
    phases = sum(len(one) for found in ratios.values() for one in found)
    text = (
        f"{phases} phases: each merges at least {min(least.values()):.3f} of the components that the best of all "
        f"matchings would merge at its start.{differ}"
    )
    intervals = tuple(
        mean_of(f"share of the best matching, ties {ties}", map(np.mean, found)) for ties, found in ratios.items()
    )
    reading = "phase i: the edges added while the maximum degree is i; they need not form a matching"
    scope = scope_over(instances, TIES, reading=reading)
    yield Finding("phases of GM-M", verdict, text, bench.done, scope=scope, intervals=intervals)


def _shares_of_best_matchings(instance: TopicInstance, edges: Iterable[Edge]) -> Iterator[float]:
    """Of each phase, its merges ÷ the most merges of a matching on the components at its start."""
    degrees = np.zeros(instance.num_nodes, int)
    labels = _Labels(instance)
    start, merged, phase = labels, 0, 1
    for u, v in edges:
        degrees[[u, v]] += 1
        if degrees.max() > phase:
            yield merged / _best_matching(start, frozenset(range(instance.num_nodes)))
            start, merged, phase = labels, 0, int(degrees.max())
        labels, gain = labels.joined(u, v)
        merged += gain
    if merged:
        yield merged / _best_matching(start, frozenset(range(instance.num_nodes)))


class _Labels:
    """The component of every subscription: label[t][v]."""

    def __init__(self, instance: TopicInstance, of: Mapping[int, Mapping[int, int]] | None = None) -> None:
        self.instance = instance
        every = range(instance.num_topics)
        self.of = of or {t: {v: v for v in instance.subscribers(t).tolist()} for t in every}

    def joined(self, u: int, v: int) -> tuple[_Labels, int]:
        """The labels after an edge, and its contribution."""
        new, gain = dict(self.of), 0
        for t, label in self.of.items():
            if u in label and v in label and label[u] != label[v]:
                gain += 1
                new[t] = {w: label[u] if at == label[v] else at for w, at in label.items()}
        return _Labels(self.instance, new), gain


def _best_matching(labels: _Labels, free: frozenset[int]) -> int:
    """The most components that a matching of free nodes merges. Exponential."""
    if len(free) < 2:
        return 0
    first, rest = min(free), free - {min(free)}
    best = _best_matching(labels, rest)
    for partner in rest:
        after, gain = labels.joined(first, partner)
        if gain:
            best = max(best, gain + _best_matching(after, rest - {partner}))
    return best


def _extension(bench: Bench) -> Iterable[Finding]:
    """GM-M started from random edges, and from overlays of the two halves of the nodes."""
    instances = list(small(bench.quick, 30, nodes=20, topics=15, subscriptions=4))
    shares: list[float] = []
    unconnected = beyond = done = 0
    for seed, instance in enumerate(instances):
        optimum = bench.value("branch-and-cut", instance, "minmax-tco")
        for current in _current_edges(instance, seed):
            for ties in TIES:
                done += 1
                extended = _extended(instance, current, ties, seed)
                unconnected += bool((extended.topic_components(instance) > 1).any())
                more = extended.max_degree - (current.max_degree if current.num_edges else 0)
                shares.append(more / (optimum * np.log(instance.num_nodes * instance.num_topics)))
                beyond += shares[-1] > 1
    scope = scope_over(instances, TIES, reading=LOG)
    text = f"{done - unconnected} of {done} extensions are topic-connected."
    yield Finding("(a) topic-connected", verdict_of(not unconnected), text, done, scope=scope)
    text = (
        f"D(V, E_cur ∪ E_new) − D(V, E_cur) is at most {max(shares):.3f} of ln(|V||T|) times the proven optimum, from "
        "random edges (|V|/2, |V| and 2|V| of them) and from overlays of two halves of the nodes."
    )
    intervals = (mean_of("share of the bound", np.reshape(shares, (len(instances), -1)).mean(axis=1)),)
    yield Finding("(b) degree", verdict_of(not beyond), text, done, scope=scope, intervals=intervals)


def _current_edges(instance: TopicInstance, seed: int) -> Iterator[Overlay]:
    rng, n = np.random.default_rng(seed), instance.num_nodes
    pairs = np.array(list(combinations(range(n), 2)))
    for count in (n // 2, n, 2 * n):
        yield Overlay.from_edges(n, pairs[rng.choice(len(pairs), count, replace=False)])
    half = rng.permutation(n) < n // 2
    nothing = Overlay(n, np.empty((0, 2), np.int32))
    whole = _extended(instance, nothing, "lowest", seed).edges
    yield Overlay.from_edges(n, whole[half[whole[:, 0]] == half[whole[:, 1]]])


def _extended(instance: TopicInstance, current: Overlay, ties: str, seed: int) -> Overlay:
    partial, n = PartialOverlay(instance, tie_order(ties, seed)), instance.num_nodes
    roots = connected_components(instance.num_subscriptions, *current.topic_links(instance))
    partial.start_from(roots.astype(np.int32), current.degrees.astype(np.int32), current.max_degree)
    extend_gm_m(partial)
    new = np.stack(np.divmod(partial.edges, n), axis=1)
    return Overlay.from_edges(n, np.concatenate([current.edges, new]))


def _rules(bench: Bench) -> Iterable[Finding]:
    """GM-M against MinMax-ODA, which also adds edges of contribution 0 for as long as the degree allows."""
    instances = [
        one
        for nodes, topics in ((30, 20), (60, 30), (100, 50))
        for one in small(bench.quick, 10, nodes=nodes, topics=topics, subscriptions=5)
    ]
    reading = "edges of contribution 0 are discarded from MinMax-ODA's overlay at the end"
    yield _same_degrees(bench, instances, "edges of contribution 0 discarded", _discarded_degree, reading)
    instances = [
        one
        for nodes, topics in ((100, 50), (400, 100), (1000, 200))[: 1 if bench.quick else 3]
        for one in small(bench.quick, 10, nodes=nodes, topics=topics, subscriptions=10)
    ]
    subject, reading = "equal under one rule for ties", "edges of contribution 0 are kept"
    yield _same_degrees(bench, instances, subject, _whole_degree, reading)
    instances = list(small(bench.quick, 12, nodes=6, topics=6, subscriptions=3))
    extremes = [
        [bench.value(m, one, "minmax-tco", ties=ties) for m in ("gm-m", "minmax-oda")]
        for one in instances
        for ties in ("best", "worst")
    ]
    apart = sum(one != other for one, other in extremes)
    text = (
        f"Over all equally good choices the smallest and the largest D of the two are equal on "
        f"{len(extremes) - apart} of {len(extremes)} pairs of searches."
    )
    scope = scope_over(instances, ("best", "worst"), reading="MinMax-ODA may fill up its matchings in any way")
    yield Finding("equal over all choices", verdict_of(not apart), text, 4 * len(instances), scope=scope)


def discarded(bench: Bench, instance: TopicInstance, ties: str, seed: int) -> Overlay:
    """MinMax-ODA's overlay without its edges of contribution 0."""
    trace = bench.run("minmax-oda", instance, "minmax-tco", ties=ties, seed=seed, trace=True).trace or ()
    return Overlay.from_edges(instance.num_nodes, [step.edges[0] for step in trace if step.gain > 0])


def _discarded_degree(bench: Bench, instance: TopicInstance, ties: str, seed: int) -> float:
    return discarded(bench, instance, ties, seed).max_degree


def _whole_degree(bench: Bench, instance: TopicInstance, ties: str, seed: int) -> float:
    return bench.value("minmax-oda", instance, "minmax-tco", ties=ties, seed=seed)


def _same_degrees(
    bench: Bench,
    instances: Sequence[TopicInstance],
    subject: str,
    degree: Callable[[Bench, TopicInstance, str, int], float],
    reading: str,
) -> Finding:
    """Whether GM-M and MinMax-ODA have equal maximum degrees under the same rule and seed."""
    seeds = 2 if bench.quick else 5
    more = {
        ties: [
            [
                bench.value("gm-m", one, "minmax-tco", ties=ties, seed=seed) - degree(bench, one, ties, seed)
                for seed in range(seeds if ties == "random" else 1)
            ]
            for one in instances
        ]
        for ties in TIES
    }
    flat = [difference for found in more.values() for one in found for difference in one]
    equal, count = flat.count(0), len(flat)
    intervals = [mean_of(f"D_GMM − D_ODA, ties {ties}", np.mean(found, axis=1), 0.0) for ties, found in more.items()]
    intervals.append(share_of("share of equal runs", equal, count, 1.0))
    text = (
        f"D_GMM = D_ODA in {equal} of {count} pairs of runs under the same rule and seed; the difference is "
        f"{min(flat):+g} to {max(flat):+g}."
    )
    scope = scope_over(instances, TIES, seeds=seeds, reading=reading)
    verdict = verdict_of(equal == count)
    return Finding(subject, verdict, text, 2 * count, scope=scope, intervals=tuple(intervals))


def _matchings(bench: Bench) -> Iterable[Finding]:
    """Whether the edges of GM-M form D matchings: the chromatic index of its overlays, by exhaustive search."""
    named = [("a triangle of three topics with two subscribers each", _triangle())]
    named += [
        (f"random instance {i}", one)
        for i, one in enumerate(small(bench.quick, 12, nodes=8, topics=6, subscriptions=3))
    ]
    colours, more, beyond = 0, [], 0
    for name, instance in named:
        for ties in TIES:
            overlay = bench.run("gm-m", instance, "minmax-tco", ties=ties).answer
            assert overlay is not None
            edges, colours = [tuple(edge) for edge in overlay.edges.tolist()], overlay.max_degree
            if not _colourable(edges, colours):
                more.append(f"{name} (D = {colours})")
                beyond += not _colourable(edges, colours + 1)
    instances = [one for _, one in named]
    text = f"{len(more)} of {bench.done} overlays need more matchings than their maximum degree"
    text += f": {more[0]} is the first." if more else "."
    scope = scope_over(instances, TIES)
    yield Finding("D phases form D matchings", verdict_of(not more), text, bench.done, scope=scope)
    text = f"{bench.done - beyond} of {bench.done} overlays are at most D + 1 matchings, as Vizing's theorem says."
    yield Finding("D + 1 matchings", verdict_of(not beyond), text, bench.done, scope=scope)


def _triangle() -> TopicInstance:
    return TopicInstance.from_subscriptions({"v1": ["a", "c"], "v2": ["a", "b"], "v3": ["b", "c"]})


def _colourable(edges: list[Edge], colours: int, used: tuple[int, ...] = ()) -> bool:
    """Whether the edges can be coloured with so many colours such that edges with a common end differ."""
    if len(used) == len(edges):
        return True
    u, v = edges[len(used)]
    taken = {c for (a, b), c in zip(edges, used, strict=False) if {a, b} & {u, v}}
    fresh = min(colours, max(used, default=-1) + 2)
    return any(_colourable(edges, colours, (*used, c)) for c in range(fresh) if c not in taken)


CLAIMS_P3: tuple[Claim, ...] = (
    Claim(
        "P3.L1",
        "MinMax-ODA's maximum degree ≤ log(|V||T|) × optimum",
        "P3 Lemma 1",
        lambda bench: _degree_ratio(bench, "minmax-oda", "MinMax-ODA"),
        _solved,
    ),
    Claim("P3.L2", "GM-M's maximum degree ≤ log(|V||T|) × optimum", "P3 Lemma 2", _worst_ratio, _solved),
    Claim("P3.L3", "every phase merges ≥ 1/3 of what the best matching would", "P3 Lemma 3", _third),
    Claim("P3.L4", "GM-M: average degree ≤ 2·(|V| − 1)/|V|·max|T_v|", "P3 Lemma 4", _average_degree),
    Claim("P3.L6", "GM-M from given edges: topic-connected, degree bounded", "P3 Lemma 6", _extension),
    Claim("P3.S4A.1", "leaving out edges of contribution 0 does not change D", "P3 §IV.A", _rules),
    Claim("P3.S4A.2", "the edges of D phases form D matchings", "P3 §IV.A", _matchings),
)
