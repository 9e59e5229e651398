"""P3's divide and conquer as a system: degrees of Lemmas 12 and 15, §V's parameters and the decentralised scheme."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from ...heuristics.topics.merge.divide_and_conquer import (
    Division,
    best_division,
    bulk_threshold,
    divide,
    divide_and_conquer,
    partition_of,
    random_order,
    restricted,
)
from ...heuristics.topics.merge.gm_m import extend_gm_m
from ...heuristics.topics.tie_breaking.ties import tie_order
from ...instances.topics.instance import TopicInstance
from ..intervals import mean_interval, share_interval
from .bench import TIES, Bench, by_law
from .claim import CaseTally, Judgement, Line, at_least, at_most, claim, exact, judged
from .contribution_table import extend_by_table, gm_m_by_table
from .decentralised import Decentralised, decentralised, drawn_partition

_MINMAX, _COVERAGE = "minmax-tco", 3
_BY_LEMMA_9 = "its proof uses Lemma 9, which P3.L9 contradicts; no counterexample here"
_WORKLOADS = ("uniform-varying", "zipf-varying", "exponential-fitted")


def instances_p3(seeds: int, **shape: Any) -> list[TopicInstance]:
    """P3's workload under each law."""
    return [one for _, one in by_law(seeds, _WORKLOADS, **{"topics": 200, **shape})]


def _lightweight(instance: TopicInstance, eta: int | None = None) -> Any:
    most = bulk_threshold(instance) if eta is None else eta
    return np.flatnonzero(np.diff(instance.node_offsets) <= most).astype(np.int32)


def _lower_bound(bench: Bench, instance: TopicInstance) -> float:
    """The optimum of minmax-tco, or a proven lower bound on it if 10 s do not suffice; at least 1."""
    result = bench.run("branch-and-cut", instance, _MINMAX, time_limit=10.0)
    return max(1.0, float(result.lower_bound or 0.0))


@claim("P3.L12")
def degree_of_dcb_m(bench: Bench) -> Judgement:
    """Lemma 12, and Corollary 1 where the inner degree is below the optimum."""
    tally, shares, corollary = CaseTally(), list[float](), list[float]()
    for seed, instance in enumerate(instances_p3(1 if bench.quick else 10, nodes=30, topics=15, least=1, most=6)):
        optimum, log = _lower_bound(bench, instance), math.log(instance.num_nodes * instance.num_topics)
        for eta, parts, ties in product((2, 4), (1, 2, 5), TIES):
            result = bench.run("dcb-m", instance, _MINMAX, eta=eta, partitions=parts, ties=ties, seed=seed)
            degree = math.inf if result.value is None else result.value
            shares.append(degree / (eta + optimum * log))
            tally.add(shares[-1] <= 1, f"instance {seed}, η = {eta}, p = {parts}, ties {ties}: D = {degree:g}")
            if float(result.counters.get("inner_max_degree", 0)) < optimum:
                corollary.append(degree / (optimum * log))
                tally.add(corollary[-1] <= 1, f"Corollary 1, instance {seed}: D = {degree:g}, optimum {optimum:g}")
    details = (
        f"Corollary 1: at most {max(corollary, default=0):.3f} of the bound in {len(corollary)} runs",
        _BY_LEMMA_9,
    )
    return tally.judgement(exact(max(shares), len(shares)), details=details)


@claim("P3.L15")
def degree_of_dcbr_m(bench: Bench) -> Judgement:
    """Lemma 15: the optimum is that of the instance on bulk nodes and representatives."""
    tally, shares, near = CaseTally(), list[float](), {1: list[float](), 3: [], 30: []}
    for seed, instance in enumerate(instances_p3(1 if bench.quick else 10, nodes=30, topics=15, least=1, most=6)):
        whole = _lower_bound(bench, instance)
        for case, (eta, parts, coverage) in enumerate(product((2, 4), (2, 5), near)):
            ties, light = TIES[(case + seed) % len(TIES)], _lightweight(instance, eta)
            shuffled, order = random_order(light, seed), tie_order(ties, seed)
            core = restricted(instance, divide(instance, shuffled, min(parts, len(light)), coverage, order).combined)
            optimum = _lower_bound(bench, core)
            near[coverage].append(optimum / whole)
            options = {"eta": eta, "partitions": parts, "coverage": coverage, "ties": ties}
            result = bench.run("dcbr-m", instance, _MINMAX, seed=seed, **options)
            degree = math.inf if result.value is None else result.value
            shares.append(degree / (eta + optimum * math.log(core.num_nodes * core.num_topics)))
            tally.add(shares[-1] <= 1, f"instance {seed}, {options}: D = {degree:g}")
    ratios = (f"D_OPT(BR) ÷ D_OPT(V) at λ = {coverage}: {mean_interval(found)}" for coverage, found in near.items())
    return tally.judgement(exact(max(shares), len(shares)), details=(*ratios, _BY_LEMMA_9))


@claim("P3.S4B.1")
def equal_parts(bench: Bench) -> Judgement:
    """Work of GM-M on two parts: equal ones against 1 : 3 and 1 : 9, counted by Algorithms 3 to 6."""
    ratios: dict[int, list[float]] = {4: [], 10: []}
    for seed, instance in enumerate(
        instances_p3(1 if bench.quick else 4, nodes=100 if bench.quick else 500, topics=100)
    ):
        order = random_order(np.arange(instance.num_nodes, dtype=np.int32), seed)

        def work(first: int, instance: TopicInstance = instance, order: Any = order) -> float:
            parts = (restricted(instance, np.sort(part)) for part in (order[:first], order[first:]))
            bench.done += 2
            return sum(float(gm_m_by_table.build(one).counters["table_work"]) for one in parts)

        equal = work(instance.num_nodes // 2)
        for share, found in ratios.items():
            found.append(work(instance.num_nodes // share) / equal)
    line = Line.of("parts 1 : 9", mean_interval(ratios[10]), at_least(1))
    return judged(mean_interval(ratios[4]), at_least(1), sensitivity=(line,))


@claim("P3.S5.1")
def extreme_parameters(bench: Bench) -> Judgement:
    """Every node bulk: GM-M's overlay. λ as large as the parts: DCB-M's."""
    tally = CaseTally()
    cases: tuple[tuple[dict[str, int], str, dict[str, int]], ...] = (
        ({"eta": 1}, "gm-m", {}),
        ({"coverage": 1000, "partitions": 6}, "dcb-m", {"partitions": 6}),
    )
    for seed, instance in enumerate(instances_p3(1 if bench.quick else 2, nodes=200 if bench.quick else 1000)):
        for (options, other, given), ties in product(cases, ("lowest", "highest")):
            one = bench.run("dcbr-m", instance, _MINMAX, seed=seed, ties=ties, **options).answer
            two = bench.run(other, instance, _MINMAX, seed=seed, ties=ties, **given).answer
            tally.add(one is not None and one == two, f"instance {seed}, {options}, ties {ties}: not {other}'s overlay")
    return tally.judgement()


@claim("P3.S5.3")
def choosing_parts_is_cheap(bench: Bench) -> Judgement:
    """Dividing for all p and choosing representatives, as a share of DCBR-M by Algorithms 3 to 6, processor time."""
    shares = []
    for seed, instance in enumerate(instances_p3(1 if bench.quick else 3, nodes=300 if bench.quick else 1000)):
        shuffled, order = random_order(_lightweight(instance), seed), tie_order("lowest", seed)
        start = time.process_time()
        best_division(instance, shuffled, _COVERAGE, order, "lemma-16")
        divided = time.process_time()
        divide_and_conquer(instance, extend_by_table, seed=seed)
        bench.done += 1
        shares.append((divided - start) / (time.process_time() - divided))
    return judged(mean_interval(shares[1:]), at_most(0.1), at_most(0.5))


@cache
def _schemes(quick: bool, simulate: Callable[..., Decentralised]) -> list[tuple[TopicInstance, Any, Decentralised]]:
    """The scheme with parts that the nodes draw themselves and p as §V chooses it: instance, partition, outcome."""
    found = []
    for instance, ties in product(instances_p3(1 if quick else 2, nodes=200 if quick else 1000, topics=200), TIES):
        order, shuffled = tie_order(ties, 1), random_order(_lightweight(instance), 1)
        parts = best_division(instance, shuffled, _COVERAGE, order, "lemma-16").partition.num_parts
        partition = drawn_partition(instance, bulk_threshold(instance), parts, 1)
        found.append((instance, partition, simulate(instance, partition, _COVERAGE, extend_gm_m, order)))
    return found


@claim("P3.S4D.2")
def potential_neighbours(bench: Bench) -> Judgement:
    """Every node learns of its part and, if bulk or a representative, of B and all R; of no other."""
    tally = CaseTally()
    for number, (_, partition, found) in enumerate(_schemes(bench.quick, decentralised)):
        core = frozenset(found.representatives.tolist()) | frozenset(partition.bulk.tolist())
        parts = {int(partition.part_of[part[0]]): frozenset(part.tolist()) for part in partition.parts()}
        known = [
            parts.get(int(part), frozenset()) | (core if v in core else frozenset())
            for v, part in enumerate(partition.part_of)
        ]
        tally.add(list(map(frozenset, found.knows)) == known, f"run {number}: other nodes than the three subsets")
        most = max((len(found.knows[v]) for v in found.representatives.tolist()), default=0)
        tally.add(most == max(map(len, found.knows)), f"run {number}: a node learns of more than a representative")
        ends = found.overlay.edges.tolist()
        tally.add(
            all(v in found.knows[u] and u in found.knows[v] for u, v in ends), f"run {number}: a link to a stranger"
        )
    bench.done += tally.n // 3
    return tally.judgement()


@claim("P3.S4D.3")
def partial_knowledge(bench: Bench) -> Judgement:
    """pn-ratio below 1 for DCBR-M and 1 for GM-M by the same scheme; with nodes as the directory beside it."""
    tally, schemes = CaseTally(), _schemes(bench.quick, decentralised)
    for number, (_, _, found) in enumerate(schemes):
        tally.add(found.pn_ratio < 1, f"run {number}: pn-ratio {found.pn_ratio}")
    for instance, _, _ in schemes[:: 3 * len(TIES)]:
        whole = drawn_partition(instance, int(np.diff(instance.node_offsets).max()), 1, 0)
        same = decentralised(instance, whole, _COVERAGE, extend_gm_m, tie_order("lowest", 0))
        equal = same.overlay == bench.run("gm-m", instance, _MINMAX).answer
        tally.add(equal and same.pn_ratio == 1, f"GM-M by the same scheme: pn-ratio {same.pn_ratio}")
    ratio = mean_interval(found.pn_ratio for _, _, found in schemes)
    formula = mean_interval(
        found.pn_ratio - Division(partition, found.representatives).pn_ratio_formula for _, partition, found in schemes
    )
    directory = exact(max(found.pn_ratio_with_directory for _, _, found in schemes), len(schemes))
    line = Line.of("nodes are the directory: largest pn-ratio", directory, at_most(0.999))
    details = (f"pn-ratio less eq. 12, parts drawn by the nodes: {formula}",)
    return tally.judgement(ratio, sensitivity=(line,), details=details)


@claim("P3.S4D.1")
def five_steps(bench: Bench) -> Judgement:
    """The scheme, with the exchange of topics that Algorithm 12 needs, and the five steps alone, against DCBR-M."""
    tally, alone, more = CaseTally(), list[bool](), list[float]()
    shapes: tuple[dict[str, int], ...] = (
        ({"nodes": 150},) if bench.quick else ({"nodes": 600}, {"nodes": 200, "topics": 600})
    )
    for shape in shapes:
        for number, instance in enumerate(instances_p3(1 if bench.quick else 2, **shape)):
            for ties in TIES:
                result = bench.run("dcbr-m", instance, _MINMAX, ties=ties, seed=1, coverage=_COVERAGE)
                shuffled, parts = random_order(_lightweight(instance), 1), int(result.counters.get("partitions", 2))
                partition, order = partition_of(instance.num_nodes, shuffled, parts), tie_order(ties, 1)
                whole, five = (
                    decentralised(instance, partition, _COVERAGE, extend_gm_m, order, topics_exchanged=exchanged)
                    for exchanged in (True, False)
                )
                tally.add(whole.overlay == result.answer, f"instance {number}, {shape}, ties {ties}: another overlay")
                connected = not (five.overlay.topic_components(instance) > 1).any()
                tally.add(connected, f"instance {number}, {shape}, ties {ties}: the five steps alone do not connect")
                alone.append(five.overlay == whole.overlay)
                more.append(len(five.representatives) / max(len(whole.representatives), 1))
    text = "the five steps alone, which cover all topics of a part: equal overlays"
    line = Line.of(text, share_interval(sum(alone), len(alone)), all(alone))
    details = (f"|R| of the five steps alone ÷ |R| of Algorithm 12: {mean_interval(more)}",)
    return tally.judgement(tally.share, sensitivity=(line,), details=details)


@claim("P3.S4D.4")
def parallel_time(bench: Bench) -> Judgement:
    """Counted work of Algorithms 3–6 if every part has a machine (eq. 11), against one machine for all."""
    numbers = (2, 4, 8) if bench.quick else (4, 8, 16, 32)
    powers, balance, total = list[float](), list[float](), list[float]()
    for instance in instances_p3(1 if bench.quick else 2, nodes=200 if bench.quick else 1000):
        work = [_work(bench, instance, parts) for parts in numbers]
        powers.append(float(np.polyfit(-np.log(numbers), np.log([max(inner) for inner, _ in work]), 1)[0]))
        balance += [p * max(inner) / sum(inner) for p, (inner, _) in zip(numbers, work, strict=True)]
        total += [(max(inner) + rest) / (sum(inner) + rest) for inner, rest in work]
    details = (
        f"largest part's work ÷ mean part's: {mean_interval(balance)}",
        f"time with a machine a part ÷ on one machine: {mean_interval(total)}",
    )
    return judged(
        mean_interval(powers), at_most(4), because="an upper bound: Lemma 7 gives the power 2", details=details
    )


def _work(bench: Bench, instance: TopicInstance, parts: int) -> tuple[list[int], int]:
    """The table work of each part and of the combine phase."""
    inner: list[int] = []

    def counting(function: Callable[[Any], Any], each: Iterable[Any]) -> list[Any]:
        results = [function(part) for part in each]
        inner.extend(counters["table_work"] for _, counters in results)
        return results

    options: dict[str, Any] = {"coverage": _COVERAGE, "partitions": parts, "mapper": counting}
    built = divide_and_conquer(instance, extend_by_table, seed=1, **options)
    bench.done += 1
    return inner, int(built.counters["table_work"]) - sum(inner)
