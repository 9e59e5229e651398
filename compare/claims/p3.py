"""The lemmas of Chen, Vitenberg and Jacobsen (P3) as checks; :mod:`.p3_figures` has the tables and figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from ...heuristics.topics.gm_m import extend_gm_m
from ...heuristics.topics.kernels.ties import tie_order
from ...heuristics.topics.partitions.conquer_and_combine import conquer_and_combine
from ...heuristics.topics.partitions.division import Division
from ...heuristics.topics.partitions.partition import Partition, bulk_threshold, partition_of, random_order
from ...instances.overlay import Overlay
from ...instances.result import Result, Status
from ...instances.topics.constructions import binary_tree_of_topics, root_and_leaves
from ...instances.topics.instance import TopicInstance
from ..papers.bench import LAWS, Bench, Experiment, grid, runs
from .claim import Claim, Finding, Verdict, open_if_fewer, verdict_of
from .properties import TIES, assorted, largest_topics_of_a_node, optima, property_finding

_BOUNDED = 60


def _solved(quick: bool) -> Experiment:
    per_law = _BOUNDED // len(LAWS) * (1 if quick else 4)
    recipes = tuple(
        recipe for law in LAWS for recipe in grid("P3.L2", law, per_law, nodes=20, topics=15, subscriptions=4)
    )
    return Experiment(recipes, (runs("minmax-tco", "branch-and-cut", "gm-m", ("gm-m", {"ties": "highest"})),))


def _degree_ratio(bench: Bench) -> Iterable[Finding]:
    smallest = optima(bench, "minmax-tco")
    mine = bench.rows[(bench.rows["method"] == "gm-m") & bench.rows["instance"].isin(list(smallest))]
    ratio = mine["value"].to_numpy(float) / np.array([smallest[digest] for digest in mine["instance"]])
    share = ratio / np.log(mine["nodes"].to_numpy(float) * mine["topics"].to_numpy(float))
    evidence = (
        f"GM-M's maximum degree ÷ proven optimum on {len(smallest)} instances: at most {ratio.max():.3f}, mean "
        f"{ratio.mean():.3f}; largest share of ln(|V||T|) {share.max():.3f}, the constant that suffices."
    )
    yield open_if_fewer(verdict_of(bool(share.max() <= 1)), evidence, "GM-M", len(smallest), _BOUNDED)


def _average_degree(bench: Bench) -> Iterable[Finding]:
    def violation(instance: TopicInstance, result: Result[Overlay]) -> str:
        n, most = instance.num_nodes, largest_topics_of_a_node(instance)
        bound = 2 * (n - 1) / n * most
        degree = result.measures["average_degree"]
        return "" if degree <= bound + 1e-9 else f"average degree {degree:.3f} above {bound:.3f}"

    yield property_finding(bench, "GM-M", "gm-m", violation, "Average degree at most 2·(|V| − 1)/|V|·max|T_v|")


def _maximum_degree(bench: Bench) -> Iterable[Finding]:
    largest, where, tried = 0.0, "", 0
    for name, instance in assorted(bench.quick):
        for ties in TIES:
            tried += 1
            degree = bench.run("gm-m", instance, "minmax-tco", ties=ties, seed=tried).value
            constant = (degree or 0.0) / largest_topics_of_a_node(instance)
            if constant > largest:
                largest, where = constant, name
    enough = "Constant 1 suffices" if largest <= 1 else f"Constant 1 does not suffice, {largest:.3f} does"
    evidence = f"{enough} in all {tried} runs; the largest D ÷ max|T_v| is {largest:.3f}, on {where}."
    yield Finding("GM-M", Verdict.HOLDS, evidence, tried)


def bad_partition(bench: Bench, sizes: Sequence[int] = (2, 3, 4)) -> Iterable[Finding]:
    """P3, Lemma 8, on trees of these heights."""
    proven = {h: bench.run("branch-and-cut", binary_tree_of_topics(h=h), "minmax-tco") for h in sizes}
    optimal = all(result.status is Status.OPTIMAL and result.value == 3 for result in proven.values())
    shown = ", ".join(f"h={h}: {result.value:g} ({result.status})" for h, result in proven.items())
    yield Finding("optimum 3", verdict_of(optimal), f"Smallest maximum degree {shown}.", len(sizes))
    forced = {h: _inner_degree(h, 2**h) for h in sizes}
    held = all(degree == 2**h for h, degree in forced.items())
    text = "The root with all leaves as one part gives degree " + ", ".join(
        f"{d} at |T| = {2**h}" for h, d in forced.items()
    )
    yield Finding("a bad partition forces degree |T|", verdict_of(held), f"{text}.", len(sizes))
    equal = {h: _inner_degree(h, 2**h - 1) for h in sizes}
    text = (
        "The part has |T| + 1 of 2|T| − 1 nodes, more than any of two or more equal parts, which Algorithm 7 asks for. "
        "With two equal parts the worst is "
        + ", ".join(f"{degree} at |T| = {2**h}" for h, degree in equal.items())
        + ": |T| − 1, so Θ(|T|) stays."
    )
    order = all(degree == 2**h - 1 for h, degree in equal.items())
    yield Finding("the same with equal parts", Verdict.ORDER if order else Verdict.REFUTED, text, len(sizes))
    seeds = 500 if bench.quick else 5000
    found = {h: _by_chance(bench, h, seeds) for h in sizes}
    text = "; ".join(
        f"h={h}: {hits} of {seeds} random halves reach |T| − 1 "
        f"(that very part: {seeds * chance:.2g} expected), mean degree {mean:.2f}"
        for h, (hits, chance, mean) in found.items()
    )
    rare = all(hits <= 10 * seeds * chance + 10 for hits, chance, _ in found.values())
    subject = "how often chance finds it"
    yield Finding(subject, verdict_of(rare), f"Random partitions: {text}.", len(sizes) * seeds)


def _inner_degree(h: int, leaves: int) -> int:
    """The maximum degree after the conquer phase if the root and this many leaves are one of two parts."""
    instance = binary_tree_of_topics(h=h)
    part_of = np.ones(instance.num_nodes, np.int32)
    part_of[root_and_leaves(h=h)[: leaves + 1]] = 0
    division = Division(Partition(part_of, 2), np.arange(instance.num_nodes, dtype=np.int32))
    built = conquer_and_combine(instance, division, extend_gm_m, tie_order("lowest", 0))
    return int(built.counters["inner_max_degree"])


def _by_chance(bench: Bench, h: int, seeds: int) -> tuple[int, float, float]:
    """Hits, their probability, and the mean inner maximum degree of naive divide and conquer with two parts."""
    instance, topics = binary_tree_of_topics(h=h), 2**h
    degrees = [
        int(bench.run("naive-dc", instance, "minmax-tco", seed=seed, partitions=2).counters["inner_max_degree"])
        for seed in range(seeds)
    ]
    # The root lies in the larger part, of |T| nodes, with |T| - 1 of the |T| leaves and nothing else.
    chance = topics / math.comb(2 * topics - 1, topics)
    return sum(degree >= topics - 1 for degree in degrees), chance, float(np.mean(degrees))


def _connected(bench: Bench, method: str, subject: str) -> Iterable[Finding]:
    tried = 0
    for name, instance in assorted(True):
        if instance.num_nodes > 100:
            continue
        for eta, parts, seed in product((0, 2, 8), (1, 2, 3, 7, 10**6), range(1 if bench.quick else 5)):
            for coverage in (1, 3) if method == "dcbr-m" else (0,):
                options: dict[str, Any] = {"coverage": coverage} if coverage else {}
                tried += 1
                result = bench.run(method, instance, eta=eta, partitions=parts, seed=seed, **options)
                if result.status is Status.FAILED:
                    where = f"{name}, η = {eta}, p = {parts}, seed {seed} {options}: {result.reason}"
                    yield Finding(subject, Verdict.REFUTED, where, tried)
                    return
    text = f"In all {tried} runs over η, p, seeds" + (" and λ." if method == "dcbr-m" else ".")
    yield Finding(subject, Verdict.HOLDS, text, tried)


def _representatives_connected(bench: Bench) -> Iterable[Finding]:
    yield from _connected(bench, "dcbr-m", "DCBR-M, topics of bulk nodes outward too")
    tried = 0
    for name, instance in assorted(True):
        for parts in (3, 2, 1):
            tried += 1
            unconnected = _letter(instance, parts)
            if unconnected:
                where = f"{name} with p = {parts}: {unconnected} topics are disconnected"
                text = f"Line 6 of Algorithm 12 leaves out topics that only bulk nodes share with a part. On {where}."
                yield Finding("DCBR-M, Algorithm 12 taken literally", Verdict.REFUTED, text, tried)
                return
    yield Finding("DCBR-M, Algorithm 12 taken literally", Verdict.HOLDS, f"In all {tried} runs.", tried)


def _letter(instance: TopicInstance, parts: int, coverage: int = 3) -> int:
    """The number of disconnected topics if outward topics are only those shared with other lightweight parts."""
    sizes = np.diff(instance.node_offsets)
    light = np.flatnonzero(sizes <= bulk_threshold(instance)).astype(np.int32)
    partition = partition_of(instance.num_nodes, random_order(light, 0), min(parts, len(light)))
    of_part = [set().union(*(instance.topics_of(v).tolist() for v in part.tolist())) for part in partition.parts()]
    chosen: list[int] = []
    for d, part in enumerate(partition.parts()):
        others = set().union(*(topics for i, topics in enumerate(of_part) if i != d))
        chosen += _cover(instance, part.tolist(), of_part[d] & others, coverage)
    division = Division(partition, np.array(sorted(chosen), np.int32))
    built = conquer_and_combine(instance, division, extend_gm_m, tie_order("lowest", 0))
    return int((built.overlay.topic_components(instance) > 1).sum())


def _cover(instance: TopicInstance, part: list[int], outward: set[int], coverage: int) -> Iterator[int]:
    """Choose nodes of a part greedily until every outward topic is covered λ times, or by all its subscribers."""
    wants = {v: outward & set(instance.topics_of(v).tolist()) for v in part}
    missing = {t: min(coverage, sum(t in topics for topics in wants.values())) for t in outward}
    while missing:
        best = max(wants, key=lambda v: len(wants[v] & missing.keys()))
        for topic in wants.pop(best) & missing.keys():
            missing[topic] -= 1
            if not missing[topic]:
                del missing[topic]
        yield best


CLAIMS_P3: tuple[Claim, ...] = (
    Claim("P3.L2", "GM-M's maximum degree ≤ log(|V||T|) × optimum", "P3 Lemma 2", _degree_ratio, _solved),
    Claim("P3.L4", "GM-M: average degree ≤ 2·(|V| − 1)/|V|·max|T_v|", "P3 Lemma 4", _average_degree),
    Claim("P3.L5", "GM-M: maximum degree is O(max|T_v|)", "P3 Lemma 5", _maximum_degree),
    Claim("P3.L8", "optimum 3; a bad partition forces degree |T|", "P3 Lemma 8", bad_partition),
    Claim(
        "P3.L11",
        "DCB-M is topic-connected",
        "P3 Lemma 11",
        lambda bench: _connected(bench, "dcb-m", "DCB-M"),
    ),
    Claim("P3.L14", "DCBR-M is topic-connected", "P3 Lemma 14", _representatives_connected),
)
