"""P3's system claims: the decentralised scheme of §IV.D, run message by message, and Algorithms 3–6."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np

from ...heuristics.topics.decentralised import Decentralised, decentralised, drawn_partition
from ...heuristics.topics.division import Division, Partition, best_division, bulk_threshold, partition_of, random_order
from ...heuristics.topics.gm_m import extend_gm_m
from ...heuristics.topics.kernels.ties import tie_order
from ...instances.topics.instance import TopicInstance
from ..catalogue import problem_named
from ..papers.bench import LAWS, Bench
from ..papers.grids_p3 import p3_default
from .claim import Claim, Finding, Interval, NotRun, Scope, Verdict, verdict_of
from .evidence import all_of, at_least, at_most, mean_of, share_of, within
from .properties import TIES, scope_over

_COVERAGE = 3
_COMPARED = {True: (((200, 100), (150, 600)), 2), False: (((1000, 200), (1000, 1000), (200, 1000)), 5)}
"""|V| and |T| of the instances that P3.S4D.1 compares, quick or full, and how many of each law."""
_WORKED = {True: (300, 100, 3, (2, 4, 8, 16)), False: (1000, 200, 4, (4, 8, 16, 32))}
"""|V|, |T|, instances of each law, and the numbers of parts of P3.S4D.4."""
Simulate = Callable[..., Decentralised]
_Point = tuple[str, int, int]  # law, |V|, |T|


@dataclass(frozen=True)
class _Run:
    """One run of the scheme with parts that the nodes draw themselves, and p as P3 §V chooses it."""

    point: _Point
    instance: str
    ties: str
    pn_ratio: float
    with_directory: float
    formula: float
    three_subsets: bool
    largest_at_representative: bool
    links_known: bool
    largest_part: float  # ÷ the mean part
    rounds: tuple[tuple[str, int, int], ...]


def _instances(quick: bool) -> Iterator[tuple[_Point, TopicInstance]]:
    shapes = ((300, 100, 4),) if quick else ((1000, 200, 4), (4000, 200, 1))
    for law, (nodes, topics, count) in product(LAWS, shapes):
        for recipe in p3_default("P3.S4D", law, count, nodes=nodes, topics=topics):
            yield (law, nodes, topics), recipe.make()


@cache
def _runs(quick: bool, simulate: Simulate) -> tuple[_Run, ...]:
    return tuple(_run(*one, ties, simulate) for one in _instances(quick) for ties in TIES)


def _run(point: _Point, instance: TopicInstance, ties: str, simulate: Simulate) -> _Run:
    order, eta = tie_order(ties, 1), bulk_threshold(instance)
    shuffled = random_order(_lightweight(instance), 1)
    parts = best_division(instance, shuffled, _COVERAGE, order, "time").partition.num_parts
    partition = drawn_partition(instance, eta, parts, 1)
    found = simulate(instance, partition, _COVERAGE, extend_gm_m, order)
    sizes = partition.sizes()
    known = [len(one) for one in found.knows]
    return _Run(
        point,
        instance.digest,
        ties,
        found.pn_ratio,
        found.pn_ratio_with_directory,
        Division(partition, found.representatives).pn_ratio_formula,
        _are_three_subsets(found, partition),
        max((known[v] for v in found.representatives.tolist()), default=0) == max(known),
        all(v in found.knows[u] and u in found.knows[v] for u, v in found.overlay.edges.tolist()),
        float(sizes.max() / sizes.mean()),
        tuple((one.what, one.messages, one.entries) for one in found.rounds),
    )


def _lightweight(instance: TopicInstance) -> Any:
    return np.flatnonzero(np.diff(instance.node_offsets) <= bulk_threshold(instance)).astype(np.int32)


def _are_three_subsets(found: Decentralised, partition: Partition) -> bool:
    """Whether every node has learned of its part and, if it combines, of all bulk nodes and representatives."""
    core = frozenset(found.representatives.tolist()) | frozenset(partition.bulk.tolist())
    part_of = partition.part_of.tolist()
    parts = {int(part_of[part[0]]): frozenset(part.tolist()) for part in partition.parts()}
    return all(
        known == parts.get(part_of[v], frozenset()) | (core if v in core else frozenset())
        for v, known in enumerate(found.knows)
    )


def _scope(runs: Sequence[_Run], reading: str = "") -> Scope:
    return _scope_of([(run.point, run.instance) for run in runs], TIES, reading)


def _scope_of(
    instances: Iterable[tuple[_Point, str]], ties: tuple[str, ...], reading: str = "", **sizes: tuple[float | str, ...]
) -> Scope:
    """The scope of runs on instances given by digest; the samples are those of the point that has fewest."""
    at: dict[_Point, set[str]] = {}
    for point, digest in instances:
        at.setdefault(point, set()).add(digest)
    laws, nodes, topics = (tuple(dict.fromkeys(point[k] for point in at)) for k in range(3))
    by = {"law": laws, "|V|": nodes, "|T|": topics, **sizes}
    return Scope(by, {}, min(map(len, at.values())), len(at), ties, reading=reading)


def _by_instance(runs: Iterable[_Run], number: Callable[[_Run], float]) -> dict[_Point, list[float]]:
    """A number of each instance, its mean over the rules for ties, by point."""
    own: dict[tuple[_Point, str], list[float]] = {}
    for run in runs:
        own.setdefault((run.point, run.instance), []).append(number(run))
    by_point: dict[_Point, list[float]] = {}
    for (point, _), numbers in own.items():
        by_point.setdefault(point, []).append(fmean(numbers))
    return by_point


def _intervals(of: str, runs: Sequence[_Run], number: Callable[[_Run], float], claimed: float) -> list[Interval]:
    points = _by_instance(runs, number)
    return [
        mean_of(f"{of}, {law}, |V| = {nodes}", numbers, claimed, together=len(points))
        for (law, nodes, _), numbers in points.items()
    ]


def _in_all(runs: Sequence[_Run], subject: str, what: str, held: Callable[[_Run], bool], reading: str = "") -> Finding:
    """A property that every run must have."""
    count = sum(map(held, runs))
    share = share_of(f"share of runs in which {what}", count, len(runs), 1.0)
    text = f"So in {count} of {len(runs)} runs: {what}."
    return Finding(subject, verdict_of(count == len(runs)), text, len(runs), (), _scope(runs, reading), (share,))


def _learned(bench: Bench) -> Iterable[Finding]:
    runs, none = _runs(bench.quick, decentralised), "the directory's hosts are not counted"
    what = "every node learns of its part and, if bulk or a representative, of B and all R, and of no other"
    yield _in_all(runs, "the three subsets", what, lambda run: run.three_subsets, none)
    what = "no node learns of more than some representative does"
    yield _in_all(runs, "largest for representatives", what, lambda run: run.largest_at_representative, none)
    what = "each end of every link has learned of the other, so no fan-out exceeds the nodes known"
    yield _in_all(runs, "fan-out at most the potential neighbours", what, lambda run: run.links_known)


def _partial_knowledge(bench: Bench) -> Iterable[Finding]:
    runs = _runs(bench.quick, decentralised)
    measures: tuple[tuple[str, Callable[[_Run], float], str], ...] = (
        ("no node learns of all", lambda run: run.pn_ratio, "the directory's hosts are not counted"),
        ("with nodes as directory", lambda run: run.with_directory, "nodes host the directory, names spread by a hash"),
    )
    for subject, number, reading in measures:
        intervals = _intervals("pn-ratio", runs, number, 1.0)
        text = f"The largest share of the nodes that one has learned of is {min(map(number, runs)):.3f} to "
        text += f"{max(map(number, runs)):.3f}; 1 for any centralised algorithm."
        below = sum(number(run) < 1 for run in runs)
        intervals.append(share_of("share of runs below 1", below, len(runs), 1.0))
        verdict = verdict_of(below == len(runs))
        yield Finding(subject, verdict, text, len(runs), (), _scope(runs, reading), intervals)
    intervals = _intervals("pn-ratio less eq. 12", runs, lambda run: run.pn_ratio - run.formula, 0.0)
    equal = all_of(within(one, 0, 0) for one in intervals)
    largest = _intervals("largest part ÷ mean part", runs, lambda run: run.largest_part, 1.0)
    text = (
        f"Measured less formula {min(one.mean for one in intervals):+.4f} to "
        f"{max(one.mean for one in intervals):+.4f}. "
        f"Nodes that draw their part make the largest one {fmean(one.mean for one in largest):.2f} times the mean one."
    )
    reading = "parts drawn by the nodes, as step 1 says"
    subject = "eq. 12 with parts that nodes draw"
    yield Finding(subject, equal, text, len(runs), (), _scope(runs, reading), [*intervals, *largest])
    yield _undivided(bench)


def _undivided(bench: Bench) -> Finding:
    """GM-M by the same scheme: one part of all nodes."""
    instances, order = [one for _, one in _instances(True)], tie_order("lowest", 0)
    ratios, equal = [], 0
    for instance in instances:
        most = int(np.diff(instance.node_offsets).max())
        found = decentralised(instance, drawn_partition(instance, most, 1, 0), _COVERAGE, extend_gm_m, order)
        ratios.append(found.pn_ratio)
        equal += found.overlay == bench.run("gm-m", instance, "minmax-tco").answer
    held = equal == len(instances) and min(ratios) == 1
    text = f"One part of all nodes builds GM-M's overlay on {equal} of {len(instances)} instances; pn-ratio 1 on all."
    interval = mean_of("pn-ratio", ratios, 1.0)
    scope = scope_over(instances, ("lowest",), reading="GM-M decentralised by the same scheme")
    return Finding("GM-M must know all", verdict_of(held), text, len(instances), (), scope, (interval,))


def _same_overlay(bench: Bench) -> Iterable[Finding]:
    """The scheme and the five steps alone against DCBR-M with the same parts."""
    shapes, count = _COMPARED[bench.quick]
    equal, exact, more_nodes, more_degree, invalid, rounds = 0, 0, [], [], 0, []
    named = [
        ((law, nodes, topics), recipe.make())
        for law, (nodes, topics) in product(LAWS, shapes)
        for recipe in p3_default("P3.S4D.1", law, count, nodes=nodes, topics=topics)
    ]
    instances, points = [one for _, one in named], [(point, one.digest) for point, one in named]
    for instance in instances:
        extra, above = [], []
        for ties in TIES:
            result = bench.run("dcbr-m", instance, "minmax-tco", ties=ties, seed=1, coverage=_COVERAGE)
            shuffled, parts = random_order(_lightweight(instance), 1), int(result.counters.get("partitions", 2))
            partition, order = partition_of(instance.num_nodes, shuffled, parts), tie_order(ties, 1)
            whole, alone = (
                decentralised(instance, partition, _COVERAGE, extend_gm_m, order, topics_exchanged=exchanged)
                for exchanged in (True, False)
            )
            equal += whole.overlay == result.answer
            exact += alone.overlay == whole.overlay
            invalid += bool(problem_named("minmax-tco").violations(instance, alone.overlay))
            extra.append(len(alone.representatives) / max(len(whole.representatives), 1))
            above.append(alone.overlay.max_degree - whole.overlay.max_degree)
            if instance is instances[0] and ties == "lowest":
                rounds = [
                    {"round": k + 1, "what": one.what, "messages": one.messages, "entries": one.entries}
                    for k, one in enumerate(whole.rounds)
                ]
        more_nodes.append(fmean(extra))
        more_degree.append(fmean(above))
    tried = len(TIES) * len(instances)
    text = (
        f"Equal to DCBR-M with the same parts in {equal} of {tried} runs, once parts and bulk nodes tell each other "
        f"their topics and largest degrees; {len(rounds)} rounds."
    )
    scope = _scope_of(points, TIES, "with an exchange of topics between parts, which the five steps lack")
    share = share_of("share of equal overlays", equal, tried, 1.0)
    yield Finding("the scheme builds DCBR-M", verdict_of(equal == tried), text, tried, rounds, scope, (share,))
    extra_interval = mean_of("|R| ÷ |R| of Algorithm 12", more_nodes, 1.0)
    text = (
        f"Without that exchange a part cannot tell which topics are outward and covers all: equal overlays in "
        f"{exact} of {tried} runs, |R| {extra_interval.mean:.3f} times Algorithm 12's."
    )
    scope = _scope_of(points, TIES, "the five steps alone; representatives cover every topic of the part")
    intervals = (
        share_of("share of equal overlays", exact, tried, 1.0),
        extra_interval,
        mean_of("D − D of DCBR-M", more_degree, 0.0),
    )
    verdict = verdict_of(exact == tried)
    yield Finding("the five steps alone build DCBR-M", verdict, text, tried, (), scope, intervals)
    text = f"{tried - invalid} of {tried} overlays of the five steps alone are topic-connected."
    share = share_of("share of topic-connected overlays", tried - invalid, tried, 1.0)
    yield Finding("the five steps alone connect", verdict_of(not invalid), text, tried, (), scope, (share,))


def _parallel_time(bench: Bench) -> Iterable[Finding]:
    """Counted work of Algorithms 3–6 if every part has a machine (eq. 11), against one machine for all."""
    nodes, topics, count, numbers = _WORKED[bench.quick]
    named = [
        ((law, nodes, topics), recipe.make())
        for law in LAWS
        for recipe in p3_default("P3.S4D", law, count, nodes=nodes, topics=topics)
    ]
    shares, whole, powers = [], [], []
    for _, instance in named:
        work = [[_work(bench, instance, p, ties) for ties in TIES] for p in numbers]
        largest = [fmean(max(parts) for parts, _ in each) for each in work]
        shares.append(
            [p * fmean(max(parts) / sum(parts) for parts, _ in each) for p, each in zip(numbers, work, strict=True)]
        )
        whole.append([fmean((max(ps) + rest) / (sum(ps) + rest) for ps, rest in each) for each in work])
        powers.append(float(np.polyfit(-np.log(numbers), np.log(largest), 1)[0]))
    tried = len(TIES) * len(named) * len(numbers)

    def scope(reading: str = "") -> Scope:
        points = [(point, one.digest) for point, one in named]
        words = f"counted work of Algorithms 3 to 6{reading}"
        return _scope_of(points, TIES, words, p=tuple(map(float, numbers)))

    power = mean_of("power of |L|/p in the largest part's work", powers, 4.0)
    text = f"The work of the largest part grows with the power {power.mean:.2f} of |L|/p, eq. 11 has 4."
    yield Finding("as an upper bound", at_most(power, 4), text, tried, (), scope(), (power,))
    text += " The 4 precedes Lemma 7."
    yield Finding("as the growth", at_least(power, 4), text, tried, (), scope("; eq. 11 as Θ"), (power,))
    square = replace(power, claimed=2.0)
    text = f"The power is {power.mean:.2f}; by Lemma 7 it is 2."
    reading = "; eq. 11 with the time of Lemma 7"
    yield Finding("with Lemma 7's square", at_most(power, 2), text, tried, (), scope(reading), (square,))
    fair = [
        mean_of(
            f"p × largest part's share of the work, p = {p}", [one[k] for one in shares], 1.0, together=len(numbers)
        )
        for k, p in enumerate(numbers)
    ]
    text = "1 is a perfect balance, p is none at all."
    reading = "; balanced if the largest part has less than 1.5 times the mean work, our threshold"
    balanced = all_of(at_most(one, 1.5) for one in fair)
    yield Finding("parts balance the load", balanced, text, tried, (), scope(reading), fair)
    total = [
        mean_of(f"time on p machines ÷ on one, p = {p}", [one[k] for one in whole], together=len(numbers))
        for k, p in enumerate(numbers)
    ]
    text = "Largest part and combine phase, against all parts and combine phase."
    yield Finding("total run time falls", all_of(_below_one(one) for one in total), text, tried, (), scope(), total)


def _below_one(interval: Interval) -> Verdict:
    """Refuted at 1, which is no reduction."""
    return Verdict.REFUTED if at_least(interval, 1) is Verdict.HOLDS else at_most(interval, 1)


def _work(bench: Bench, instance: TopicInstance, parts: int, ties: str) -> tuple[list[int], int]:
    """The table work of each part and of the combine phase."""
    inner: list[int] = []

    def counting(function: Callable[[Any], Any], each: Iterable[Any]) -> list[Any]:
        results = [function(part) for part in each]
        inner.extend(counters["table_work"] for _, counters in results)
        return results

    options = {"coverage": _COVERAGE, "partitions": parts, "data": "table", "mapper": counting}
    result = bench.run("dcbr-m", instance, "minmax-tco", seed=1, ties=ties, **options)
    return inner, int(result.counters["table_work"]) - sum(inner)


CLAIMS_P3_SYSTEM: tuple[Claim, ...] = (
    Claim("P3.S4D.1", "five steps between nodes build DCBR-M's overlay", "P3 §IV.D", _same_overlay),
    Claim("P3.S4D.2", "a node learns of its part, B and R only; its fan-out is no larger", "P3 §IV.D", _learned),
    Claim("P3.S4D.3", "no node must know the whole system: pn-ratio below 1", "P3 §IV.D, §I", _partial_knowledge),
    Claim("P3.S4D.4", "parts in parallel: time O(|T|((|B| + |R|)⁴ + |L|⁴/p⁴))", "P3 eq. 11", _parallel_time),
)
NOT_RUN_P3_SYSTEM: tuple[NotRun, ...] = (
    NotRun(
        "P3.S4D.5",
        "GM-M cannot be decentralised in this way",
        "P3 §IV.D",
        "It speaks of every possible scheme; P3.S4D.3 runs GM-M by this one, where every node must know all.",
    ),
    NotRun(
        "P3.S4D.6",
        "resources of the distributed system are used optimally",
        "P3 §IV.D",
        "The paper names no resource and no measure; P3.S4D.4 has the balance of work.",
    ),
    NotRun(
        "P3.S4D.7",
        "collecting interests in a scalable and robust way is a problem of its own",
        "P3 §IV.D",
        "The paper's model has neither failures nor nodes that leave.",
    ),
    NotRun(
        "P3.S4D.8",
        "a distributed hash table can hold the names of the parts",
        "P3 §IV.D",
        "The paper names no protocol; the simulation counts one message a registration and one an answer.",
    ),
)
