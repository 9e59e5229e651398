"""The lemmas of Chen, Vitenberg and Jacobsen (P3) on divide and conquer: Lemma 8, correctness, the example of §IV.C."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy import stats

from ...heuristics.topics.divide_and_conquer import conquer_and_combine
from ...heuristics.topics.division import (
    Division,
    Partition,
    bulk_threshold,
    partition_of,
    random_order,
    representatives,
)
from ...heuristics.topics.gm_m import extend_gm_m
from ...heuristics.topics.kernels.ties import tie_order
from ...instances.contract.result import Status
from ...instances.topics.constructions import binary_tree_of_topics, root_and_leaves
from ...instances.topics.instance import TopicInstance
from ..papers.bench import Bench
from .claim import Claim, Finding, Scope, Verdict, verdict_of
from .evidence import over_ties, share_of
from .properties import TIES, assorted, scope_over

_HEIGHTS = (2, 3, 4)


def bad_partition(bench: Bench, sizes: Sequence[int] = _HEIGHTS) -> Iterable[Finding]:
    """P3, Lemma 8, on trees of these heights."""
    proven = {h: bench.run("branch-and-cut", binary_tree_of_topics(h=h), "minmax-tco") for h in sizes}
    optimal = all(result.status is Status.OPTIMAL and result.value == 3 for result in proven.values())
    shown = ", ".join(f"h={h}: {result.value:g} ({result.status})" for h, result in proven.items())
    scope = scope_over(map(_tree, sizes), ())
    yield Finding("optimum 3", verdict_of(optimal), f"Smallest maximum degree {shown}.", len(sizes), scope=scope)
    large = tuple(sizes) if bench.quick else (*sizes, 6, 8)
    scope = scope_over(map(_tree, large), TIES)
    forced = {h: {_inner_degree(h, 2**h, ties) for ties in TIES} for h in large}
    held = all(degrees == {2**h} for h, degrees in forced.items())
    text = "The root with all leaves as one part has degree " + ", ".join(
        f"{_range(degrees)} at |T| = {2**h}" for h, degrees in forced.items()
    )
    subject = "a bad partition forces degree |T|"
    yield Finding(subject, verdict_of(held), f"{text}.", len(TIES) * len(large), scope=scope)
    equal = {h: {_inner_degree(h, 2**h - 1, ties) for ties in TIES} for h in large}
    text = (
        "The part has |T| + 1 of 2|T| − 1 nodes, more than any of two or more equal parts, which Algorithm 7 asks for. "
        "With two equal parts the root and |T| − 1 leaves give "
        + ", ".join(f"{_range(degrees)} at |T| = {2**h}" for h, degrees in equal.items())
        + ": |T| − 1, so Θ(|T|) stays."
    )
    order = all(degrees == {2**h - 1} for h, degrees in equal.items())
    scope = scope_over(map(_tree, large), TIES, reading="two parts whose sizes differ by at most one")
    verdict = Verdict.ORDER if order else Verdict.REFUTED
    yield Finding("the same with equal parts", verdict, text, len(TIES) * len(large), scope=scope)
    yield from _chances(bench)


def _range(values: Iterable[int]) -> str:
    ordered = sorted(set(values))
    return f"{ordered[0]}" if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"


def _tree(h: int) -> TopicInstance:
    return binary_tree_of_topics(h=h)


def _inner_degree(h: int, leaves: int, ties: str = "lowest") -> int:
    """The maximum degree after the conquer phase if the root and this many leaves are one of two parts."""
    return _conquered(h, root_and_leaves(h=h)[: leaves + 1], ties)


def _conquered(h: int, part: Sequence[int], ties: str) -> int:
    """The maximum degree after the conquer phase if these nodes are one of two parts."""
    instance = _tree(h)
    part_of = np.ones(instance.num_nodes, np.int32)
    part_of[list(part)] = 0
    partition = Partition(part_of, 2)
    if not partition.sizes().all():
        partition = Partition(np.zeros_like(part_of), 1)
    division = Division(partition, np.empty(0, np.int32))
    nothing = conquer_and_combine(instance, division, extend_gm_m, tie_order(ties, 0))
    return int(nothing.counters["inner_max_degree"])


def _chances(bench: Bench) -> Iterable[Finding]:
    """How often random halves reach degree |T| − 1: runs against the exact probability, by enumeration."""
    seeds = 500 if bench.quick else 20_000
    heights = (2,) if bench.quick else (2, 3)
    intervals, texts, verdicts = [], [], []
    for h in heights:
        topics = 2**h
        instance = _tree(h)
        halves = list(combinations(range(2 * topics - 1), topics))
        degrees = Counter(_conquered(h, part, "lowest") for part in halves)
        chance = sum(count for degree, count in degrees.items() if degree >= topics - 1) / len(halves)
        hits = sum(
            int(bench.run("naive-dc", instance, "minmax-tco", seed=seed, partitions=2).counters["inner_max_degree"])
            >= topics - 1
            for seed in range(seeds)
        )
        test = float(stats.binomtest(hits, seeds, chance).pvalue)
        verdicts.append(test >= 0.05 / len(heights))
        intervals.append(share_of(f"share of random halves with degree ≥ |T| − 1, |T| = {topics}", hits, seeds, chance))
        texts.append(
            f"|T| = {topics}: {hits} of {seeds} seeds, exactly {chance:.4g} of all {len(halves)} halves (two-sided "
            f"binomial test p = {test:.2f})"
        )
    scope = Scope(
        {"|T|": tuple(2**h for h in heights)}, samples=seeds, points=len(heights), ties=("lowest",), seeds=seeds
    )
    text = f"The random partition finds degree |T| − 1 as often as chance has it: {'; '.join(texts)}."
    subject = "random halves are uniform"
    yield Finding(subject, verdict_of(all(verdicts)), text, bench.done, scope=scope, intervals=tuple(intervals))
    found = {
        h: [
            int(bench.run("naive-dc", _tree(h), "minmax-tco", seed=seed, partitions=2).counters["inner_max_degree"])
            for seed in range(30 if bench.quick else 200)
        ]
        for h in ((3, 5) if bench.quick else (3, 5, 7, 9))
    }
    means = ", ".join(f"{np.mean(one):.2f} at |T| = {2**h}" for h, one in found.items())
    h, m = 2, 4
    worst = sum(_conquered(h, _members(code), "lowest") == m for code in range(2 ** (2 * m - 1))) / 2 ** (2 * m - 1)
    text = (
        f"Each node in one of two parts independently: of all {2 ** (2 * m - 1)} assignments at |T| = {m}, {worst:.4f} "
        f"reach degree |T|; the lemma's own part and its mirror image have probability 2^-{2 * m - 2} there, "
        f"2^(2 − 2|T|) in general. With p equal parts it is 0. Random halves have mean degree {means}."
    )
    scope = Scope({"|T|": (m,)}, samples=1, ties=("lowest",), reading="each node chooses its part independently")
    yield Finding("the paper's chance is positive", verdict_of(worst > 0), text, 2 ** (2 * m - 1), scope=scope)


def _members(code: int) -> list[int]:
    return [v for v in range(code.bit_length()) if code >> v & 1]


def _connected(bench: Bench, method: str, subject: str) -> Iterable[Finding]:
    tried: list[TopicInstance] = []
    etas = (0, 2) if bench.quick else (0, 2, 8)
    all_parts = (1, 3, 10**6) if bench.quick else (1, 2, 3, 7, 10**6)
    coverages = ((1, 3) if bench.quick else (1, 3, 10**6)) if method == "dcbr-m" else (0,)
    sizes: dict[str, tuple[float | str, ...]] = {"η": etas, "p": all_parts}
    sizes |= {"λ": coverages} if method == "dcbr-m" else {}
    for name, instance in assorted(bench.quick):
        if instance.num_nodes > 100 and (bench.quick or not name.endswith("seed 0")):
            continue
        for seed, (ties, eta, parts) in enumerate(product(TIES, etas, all_parts)):
            for coverage in coverages:
                options: dict[str, Any] = {"coverage": coverage} if coverage else {}
                tried.append(instance)
                result = bench.run(method, instance, eta=eta, partitions=parts, seed=seed, ties=ties, **options)
                if result.status is Status.FAILED:
                    where = f"{name}, η = {eta}, p = {parts}, ties {ties}, seed {seed} {options}: {result.reason}"
                    scope = scope_over(tried, TIES, sizes=sizes)
                    yield Finding(subject, Verdict.REFUTED, where, len(tried), scope=scope)
                    return
    text = f"In all {len(tried)} runs, every topic has one component."
    scope = scope_over(tried, TIES, sizes=sizes)
    yield Finding(subject, Verdict.HOLDS, text, len(tried), scope=scope)


def _representatives_connected(bench: Bench) -> Iterable[Finding]:
    yield from _connected(bench, "dcbr-m", "DCBR-M, topics of bulk nodes outward too")
    tried: list[TopicInstance] = []
    reading = "Algorithm 12, line 6 as printed: outward topics are those of other lightweight parts"
    subject = "DCBR-M, Algorithm 12 taken literally"
    example = "b {x, y}, a {x}, c, d and e {y}"
    for (name, instance), parts in product([(example, _five_nodes()), *assorted(True)], (3, 2, 1)):
        tried.append(instance)
        if unconnected := _letter(instance, parts):
            also = [p for p in (3, 2, 1) if p < parts and _letter(instance, p)]
            others = f"; also with p = {' and '.join(map(str, also))}" if also else ""
            where = f"{name} with p = {parts}: {unconnected} of its topics are disconnected{others}"
            text = f"Line 6 of Algorithm 12 leaves out topics that only bulk nodes share with a part. On {where}."
            scope = scope_over(tried, ("lowest",), reading=reading)
            yield Finding(subject, Verdict.REFUTED, text, len(tried), scope=scope)
            return
    scope = scope_over(tried, ("lowest",), reading=reading)
    yield Finding(subject, Verdict.HOLDS, f"In all {len(tried)} runs.", len(tried), scope=scope)


def _five_nodes() -> TopicInstance:
    """A bulk node that alone shares topic x with lightweight node a, and three nodes with its other topic."""
    return TopicInstance.from_subscriptions({"b": ["x", "y"], "a": ["x"], "c": ["y"], "d": ["y"], "e": ["y"]})


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


def _example(bench: Bench) -> Iterable[Finding]:
    """§IV.C: Lemma 8's tree with the leaves as one part and all other nodes as the other."""
    heights = (2, 3, 4, 5) if bench.quick else (2, 3, 4, 5, 6, 7, 8)
    sets_right = True
    at_root: dict[tuple[int, str], int] = {}
    whole: dict[tuple[int, str], int] = {}
    covered: dict[tuple[int, str], int] = {}
    both: dict[tuple[int, str], int] = {}
    for h, ties in product(heights, TIES):
        instance = _tree(h)
        leaves = instance.num_nodes - 2**h
        part_of = (np.arange(instance.num_nodes) >= leaves).astype(np.int32)
        partition, order = Partition(part_of, 2), tie_order(ties, 0)
        least = representatives(instance, partition, 1, order)
        sets_right &= least.tolist() == [0, *range(leaves, instance.num_nodes)]
        every = np.arange(instance.num_nodes, dtype=np.int32)
        three = representatives(instance, partition, 3, order)
        for kept, nodes in ((at_root, least), (whole, every), (covered, three)):
            built = conquer_and_combine(instance, Division(partition, nodes), extend_gm_m, order).overlay
            kept[h, ties] = int(built.degrees[0] if kept is at_root else built.max_degree)
        bulk = Partition(part_of - 1, 1)
        division = Division(bulk, representatives(instance, bulk, 3, order))
        both[h, ties] = conquer_and_combine(instance, division, extend_gm_m, order).overlay.max_degree
    scope = scope_over(map(_tree, heights), TIES)
    text = "λ = 1 chooses the root alone, and all leaves." if sets_right else "λ = 1 chooses other nodes."
    yield Finding("minimal rep-sets", verdict_of(sets_right), text, len(at_root), scope=scope)
    text = "The root's degree: " + _by_height(at_root)
    verdict = verdict_of(all(degree >= 2**h for (h, _), degree in at_root.items()))
    yield Finding("merging rep-sets: degree |T| at the root", verdict, text, len(at_root), scope=scope)
    optimum = bench.value("branch-and-cut", _tree(min(5, heights[-1])), "minmax-tco")
    text = (
        f"The optimum is {optimum:g} (proven), and Algorithm 10 on the whole parts gives D = {_by_height(whole)} "
        "It has to be constant in |T|."
    )
    constant = {ties: verdict_of(whole[heights[-1], ties] <= max(whole[h, ties] for h in heights[:2])) for ties in TIES}
    verdict, differ = over_ties(constant)
    yield Finding("merging whole parts: constant degree", verdict, text + differ, len(whole), scope=scope)
    ratio = [covered[heights[-1], ties] / covered[heights[-2], ties] for ties in TIES]
    text = (
        f"λ = 3 gives D = {_by_height(covered)} When |T| doubles, D grows {min(ratio):.2f} to {max(ratio):.2f} times: "
        "a constant λ divides the effect, it does not remove it."
    )
    reading = "not what §IV.C does, which leaves bulk nodes out of rep-sets; prevented: D does not grow with |T|"
    scope = scope_over(map(_tree, heights), TIES, reading=reading)
    subject = "λ = 3 alone, with representatives of the bulk part too"
    yield Finding(subject, verdict_of(max(ratio) <= 1.1), text, len(covered), scope=scope)
    ratio = [both[heights[-1], ties] / both[heights[-2], ties] for ties in TIES]
    text = f"With the inner nodes as bulk nodes, all of them combined, and λ = 3 for leaves: D = {_by_height(both)}"
    scope = scope_over(map(_tree, heights), TIES, reading="prevented: D does not grow with |T|")
    yield Finding("both techniques", verdict_of(max(ratio) <= 1.1), text, len(both), scope=scope)


def _by_height(found: dict[tuple[int, str], int]) -> str:
    heights = sorted({h for h, _ in found})
    return ", ".join(f"{_range(found[h, ties] for ties in TIES)} at |T| = {2**h}" for h in heights) + "."


CLAIMS_P3_DIVISION: tuple[Claim, ...] = (
    Claim("P3.L8", "optimum 3; a bad partition forces degree |T|", "P3 Lemma 8", bad_partition),
    Claim("P3.L11", "DCB-M is topic-connected", "P3 Lemma 11", lambda bench: _connected(bench, "dcb-m", "DCB-M")),
    Claim("P3.L14", "DCBR-M is topic-connected", "P3 Lemma 14", _representatives_connected),
    Claim("P3.S4C.1", "the tree: minimal rep-sets force degree |T|, whole parts do not", "P3 §IV.C", _example),
)
