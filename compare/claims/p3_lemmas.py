"""P3's lemmas and sentences on GM-M, on random parts and on representatives: ratios, phases and constructions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import networkx as nx
import numpy as np

from ...heuristics.topics.kernels.partial_overlay import PartialOverlay
from ...heuristics.topics.merge.divide_and_conquer import (
    Division,
    Partition,
    best_division,
    build_part,
    bulk_threshold,
    conquer_and_combine,
    partition_of,
    random_order,
    representatives,
    restricted,
)
from ...heuristics.topics.merge.gm_m import extend_gm_m
from ...heuristics.topics.tie_breaking.ties import tie_order
from ...instances.contract.arrays import connected_components
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Result
from ...instances.topics.constructions import binary_tree_of_topics, root_and_leaves
from ...instances.topics.instance import TopicInstance
from ..intervals import mean_interval, share_interval
from .bench import TIES, Bench, by_law, grid
from .claim import CaseTally, Judgement, Limit, Line, Verdict, at_least, at_most, claim, depends_on, exact, judged
from .contribution_table import gm_m_by_table
from .decentralised import representative_set
from .enumeration import smallest_cover
from .properties import (
    Graph,
    assorted,
    best_matching,
    component_labels,
    contributions,
    is_edge_colourable,
    merge_components,
    on_assorted,
    violation_of,
)

_MINMAX = "minmax-tco"
_LINEAR = "a constant of 1 and the natural logarithm suffice"


def small(quick: bool, each: int, *, nodes: int, topics: int, subscriptions: int) -> Iterator[TopicInstance]:
    """`each` random instances a law, a sixth of them in the quick version."""
    count = max(1, each // 6) if quick else each
    yield from (one for _, one in by_law(count, nodes=nodes, topics=topics, subscriptions=subscriptions))


@claim("P3.L3")
def a_third_of_the_best_matching(bench: Bench) -> Judgement:
    """Every phase's merges against those of the best matching at its start, by exhaustive search."""
    tally, shares = CaseTally(), list[float]()
    for seed, instance in enumerate(small(bench.quick, 20, nodes=8, topics=6, subscriptions=3)):
        for ties in TIES:
            trace = bench.run("gm-m", instance, _MINMAX, ties=ties, seed=seed, trace=True).trace or ()
            for share in _shares_of_best_matchings(instance, [step.edges[0] for step in trace]):
                shares.append(share)
                tally.add(share >= 1 / 3 - 1e-9, f"seed {seed}, ties {ties}: {share:.3f}")
    return tally.judgement(exact(min(shares), len(shares)), details=(f"mean share {np.mean(shares):.3f}",))


def _shares_of_best_matchings(instance: TopicInstance, edges: Iterable[tuple[int, int]]) -> Iterator[float]:
    """Of each phase, its merges ÷ the most merges of a matching on the components at its start."""
    every, degrees = range(instance.num_nodes), np.zeros(instance.num_nodes, int)
    start = labels = component_labels(instance)
    merged, phase = 0, 1
    for u, v in edges:
        degrees[[u, v]] += 1
        if degrees.max() > phase:
            yield merged / best_matching(start, every)
            start, merged, phase = labels, 0, int(degrees.max())
        labels, gain = merge_components(labels, (u, v))
        merged += gain
    if merged:
        yield merged / best_matching(start, every)


@claim("P3.L4")
def average_degree(bench: Bench) -> Judgement:
    """Lemma 4's bound with its constant, and eq. 3: every edge merges components."""

    def violation(instance: TopicInstance, result: Result[Overlay]) -> str:
        n, most = instance.num_nodes, int(np.diff(instance.node_offsets).max())
        degree, edges = result.measures["average_degree"], result.measures["edges"]
        if edges > instance.num_subscriptions - instance.num_topics:
            return f"{edges:g} edges, {instance.num_subscriptions - instance.num_topics} merges"
        bound = 2 * (n - 1) / n * most
        return "" if degree <= bound + 1e-9 else f"average degree {degree:.3f} above {bound:.3f}"

    return on_assorted(bench, "gm-m", violation)


@claim("P3.L6")
def extension(bench: Bench) -> Judgement:
    """GM-M started from random edges, and from overlays of the two halves of the nodes."""
    tally, shares = CaseTally(), list[float]()
    for seed, instance in enumerate(small(bench.quick, 12, nodes=20, topics=15, subscriptions=4)):
        optimum = bench.value("branch-and-cut", instance, _MINMAX, proven=True)
        log = float(np.log(instance.num_nodes * instance.num_topics))
        for current, ties in product(_current_edges(instance, seed), TIES):
            extended = _extended(bench, instance, current, ties, seed)
            more = extended.max_degree - (current.max_degree if current.num_edges else 0)
            shares.append(more / (optimum * log))
            case = f"seed {seed}, ties {ties}, {current.num_edges} edges: {more} more, optimum {optimum:g}"
            tally.add(shares[-1] <= 1 and not (extended.topic_components(instance) > 1).any(), case)
    return tally.judgement(exact(max(shares), len(shares)), details=(_LINEAR,))


def _current_edges(instance: TopicInstance, seed: int) -> Iterator[Overlay]:
    rng, n = np.random.default_rng(seed), instance.num_nodes
    pairs = np.array(list(combinations(range(n), 2)))
    for count in (n // 2, n, 2 * n):
        yield Overlay.from_edges(n, pairs[rng.choice(len(pairs), count, replace=False)])
    half = rng.permutation(n) < n // 2
    ends = np.array([(u, v) for u, v in pairs if half[u] == half[v]])
    yield Overlay.from_edges(n, ends[rng.choice(len(ends), n, replace=False)])


def _extended(bench: Bench, instance: TopicInstance, current: Overlay, ties: str, seed: int) -> Overlay:
    partial, n = PartialOverlay(instance, tie_order(ties, seed)), instance.num_nodes
    roots = connected_components(instance.num_subscriptions, *current.topic_links(instance))
    partial.start_from(roots.astype(np.int32), current.degrees.astype(np.int32), current.max_degree)
    extend_gm_m(partial)
    bench.done += 1
    return Overlay.from_edges(n, np.concatenate([current.edges, np.stack(np.divmod(partial.edges, n), axis=1)]))


@claim("P3.S4A.1")
def edges_of_contribution_0(bench: Bench) -> Judgement:
    """GM-M against MinMax-ODA, which fills up its matchings with edges of contribution 0 and discards them.

    Lemma 2's proof discards them after each phase, which leaves GM-M's choices as they are; the sentence says "at the
    end", when the degrees that they took have decided other edges.
    """
    discarded, phases = list[float](), CaseTally()
    for seed, instance in enumerate(small(bench.quick, 20, nodes=30, topics=20, subscriptions=5)):
        for ties in TIES:
            degree = bench.value("gm-m", instance, _MINMAX, ties=ties, seed=seed)
            trace = bench.run("minmax-oda", instance, _MINMAX, ties=ties, seed=seed, trace=True).trace or ()
            kept = Overlay.from_edges(instance.num_nodes, [step.edges[0] for step in trace if step.gain > 0])
            discarded.append(degree - kept.max_degree)
        by_phase = by_phases(instance)
        whole = bench.run("gm-m", instance, _MINMAX, ties="lowest").answer
        phases.add(by_phase == whole, f"instance {seed}")
    text = f"discarded at the end: D_GMM − D_ODA {mean_interval(discarded)}, {min(discarded):+g} to {max(discarded):+g}"
    at_the_end = judged(share_interval(discarded.count(0), len(discarded)), Limit(1.0, 1.0), details=(text,))
    sides = {"at the end, as the sentence says": at_the_end, "after each phase": phases.judgement(phases.share)}
    return depends_on("when the edges are discarded", sides)


def by_phases(instance: TopicInstance) -> Overlay:
    """MinMax-ODA, lowest pair first, that fills up each phase's matching and discards that before the next phase."""
    n, labels, edges = instance.num_nodes, component_labels(instance), list[tuple[int, int]]()
    degree = np.zeros(n, int)
    while (contribution := contributions(labels)).any():
        most = int(degree.max())
        for top in (most, most + 1):
            allowed = np.maximum.outer(degree, degree) < top
            if (contribution * allowed).any():
                break
        u, v = divmod(int((contribution * allowed).argmax()), n)
        labels, _ = merge_components(labels, (u, v))
        degree[[u, v]] += 1
        edges.append((u, v))
    return Overlay.from_edges(n, edges)


@claim("P3.S4A.2")
def matchings(bench: Bench) -> Judgement:
    """Whether the edges of GM-M's D phases form D matchings: the chromatic index, by exhaustive search."""
    triangle = TopicInstance.from_subscriptions({"v1": ["a", "c"], "v2": ["a", "b"], "v3": ["b", "c"]})
    tally, beyond = CaseTally(), 0
    for number, instance in enumerate((triangle, *small(bench.quick, 12, nodes=8, topics=6, subscriptions=3))):
        for ties in TIES:
            overlay = bench.run("gm-m", instance, _MINMAX, ties=ties).answer
            graph: Graph = nx.Graph([] if overlay is None else overlay.edges.tolist())
            colours = 0 if overlay is None else overlay.max_degree
            name = "a triangle of three topics with two subscribers each" if number == 0 else f"instance {number}"
            if not tally.add(is_edge_colourable(graph, colours), f"{name} needs D + 1 = {colours + 1}"):
                beyond += not is_edge_colourable(graph, colours + 1)
    line = Line("D + 1 matchings, as before Lemma 2 and by Vizing", exact(beyond, tally.n), Verdict.CONFIRMED)
    return tally.judgement(sensitivity=(line,) if not beyond else ())


@claim("P3.A3")
def data_structures(bench: Bench) -> Judgement:
    """Algorithms 3 to 6, corrected, against Algorithms 1 and 2 under the same rule and seed; and as printed."""
    shape: dict[str, Any] = {"nodes": 60 if bench.quick else 200, "topics": 50, "least": 5, "most": 30}
    instances = [one.make() for one in grid("P3.A3", "uniform-varying", 2 if bench.quick else 10, **shape)]
    tally, work = CaseTally(), list[float]()
    for (seed, instance), ties in product(enumerate(instances), TIES):
        run = gm_m_by_table.build(instance, ties=ties, seed=seed)
        other = bench.run("gm-m", instance, _MINMAX, ties=ties, seed=seed)
        bench.done += 1
        tally.add(run.overlay == other.answer, f"instance {seed}, ties {ties}")
        steps = int(run.counters.get("table_pairs", 1)) * int(run.counters.get("steps", 1))
        work.append(int(run.counters.get("table_work", 0)) / steps)
    greedy = [bench.answer("gm-m", one, _MINMAX) for one in instances]
    printed, corrected = ([as_printed(one, up_to_maximum=whole) for one in instances] for whole in (True, False))
    others = {
        "Algorithm 5 as printed": printed,
        "its line 2 ends before the maximum degree": corrected,
        "MinMax-ODA, 0-edges kept": [bench.answer("minmax-oda", one, _MINMAX) for one in instances],
    }
    same = {name: [one == other for one, other in zip(built, greedy, strict=True)] for name, built in others.items()}
    lines = [Line.of(name, share_interval(sum(each), len(each)), all(each)) for name, each in same.items()]
    less = mean_interval(work)
    apart = sum((o.topic_components(one) > 1).any() for o, one in zip(printed, instances, strict=True))
    degree = mean_interval(one.max_degree / other.max_degree for one, other in zip(printed, greedy, strict=True))
    found = tally.judgement(tally.share, sensitivity=lines, details=(
        f"counted work ÷ contributions that Algorithm 2 computes: {less}",
        f"Algorithm 5 as printed: topics disconnected on {apart} of {len(printed)} instances, D ÷ GM-M's {degree}",
    ))  # fmt: skip
    return found if at_most(1).holds(less) else replace(found, verdict=Verdict.CONTRADICTED, because=f"work {less}")


def as_printed(instance: TopicInstance, *, up_to_maximum: bool = True) -> Overlay:
    """Algorithms 3–6 line by line from no edges, lowest pair first, until they find no edge or none contributes.

    Line 2 of Algorithm 5 runs up to the maximum degree, or else ends before it. Cost O(|V|² |T|) an edge.
    """
    n, edges, labels = instance.num_nodes, list[tuple[int, int]](), component_labels(instance)
    degree = np.zeros(n, np.int64)
    contribution = contributions(labels)
    current, current_degree = int(contribution.max()), 0
    while highest := int(contribution.max()):
        larger = np.maximum.outer(degree, degree)
        last = int(degree.max()) - (not up_to_maximum)
        steps = [*product(range(current, 0, -1), range(current_degree, last + 1)), (highest, int(degree.max()))]
        found = next((step for step in steps if ((contribution == step[0]) & (larger == step[1])).any()), None)
        if found is None:
            break
        current, current_degree = found
        u, v = np.argwhere((contribution == current) & (larger == current_degree))[0].tolist()
        edges.append((u, v))
        labels, _ = merge_components(labels, (u, v))
        contribution = contributions(labels)
        degree[[u, v]] += 1
    return Overlay.from_edges(n, edges)


def binomial_tree(order: int) -> TopicInstance:
    """2^order nodes, each with at most 2 topics: one shared with its children, one with its parent and siblings.

    Node v > 0 is a child of v without its lowest bit. The edges to the children are topic-connected, with degree
    `order` at node 0; degree 3 suffices. Cost O(2^order).
    """
    parents = {v: v & (v - 1) for v in range(1, 2**order)}
    topics = {v: {f"t{v}"} if v in parents.values() else set() for v in range(2**order)}
    for child, parent in parents.items():
        topics[child].add(f"t{parent}")
    return TopicInstance.from_subscriptions({f"v{v}": sorted(of) for v, of in topics.items()})


def legal_degree(steps: Any, order: int) -> int | None:
    """The maximum degree if GM-M takes child 2^i of every node that has one in phase i + 1; None if it cannot.

    Every edge is checked against all equally good choices of the step.
    """
    state = steps.start()
    for i in range(order):
        for parent in range(0, 2**order, 2 ** (i + 1)):
            edge = parent, parent + 2**i
            if edge not in steps.candidates(state):
                return None
            state = steps.after(state, edge)
    return None if steps.candidates(state) else max(state.degrees)


def _any_choice(bench: Bench, parameter: str, method: str, problem_options: Mapping[str, Any]) -> Judgement:
    """Equally good choices lead GM-M to degree log2 |V| although no node has more than two topics."""
    orders = range(2, 6 if bench.quick else 8)
    steps = getattr(bench.methods["gm-m"].solve, "steps", None)
    reached = {order: legal_degree(steps(binomial_tree(order)), order) if steps else None for order in orders}
    lines = []
    for ties in TIES:
        large = 8 if bench.quick else 14
        degree = bench.value(method, binomial_tree(large), _MINMAX, ties=ties, **problem_options)
        lines.append(Line(f"ties {ties}, |V| = {2**large}", exact(degree), Verdict.NOT_DECIDED))
    shown = ", ".join(f"{degree} at |V| = {2**order}" for order, degree in reached.items())
    if all(degree == order for order, degree in reached.items()):
        text = f"with {parameter} = 2, equally good choices lead to D = log₂|V|: {shown}; the optimum is at most 3"
        return Judgement(Verdict.CONTRADICTED, text, exact(max(orders), len(orders)), lines)
    return Judgement(Verdict.NOT_DECIDED, f"the choices are not among the best: {shown}", None, lines)


@claim("P3.L5")
def maximum_degree(bench: Bench) -> Judgement:
    """Lemma 5: whether the topics of a node bound GM-M's maximum degree."""
    return _any_choice(bench, "max|T_v|", "gm-m", {})


@claim("P3.L9")
def conquered_degree(bench: Bench) -> Judgement:
    """Lemma 9: with η = 2 and p = 1 every node is lightweight and Algorithm 8 is GM-M."""
    return _any_choice(bench, "η", "dcb-m", {"eta": 2, "partitions": 1})


@claim("P3.L8")
def bad_partition(bench: Bench) -> Judgement:
    """Lemma 8's tree: optimum 3, and degree |T| if the root and all leaves are one part."""
    tally = CaseTally()
    for h in (2, 3) if bench.quick else (2, 3, 4):
        optimum = bench.value("branch-and-cut", binary_tree_of_topics(h=h), _MINMAX, proven=True)
        tally.add(optimum == 3, f"h = {h}: optimum {optimum:g}")
    heights = (2, 3, 4) if bench.quick else (2, 3, 4, 6, 8)
    for h, ties in product(heights, TIES):
        degree = conquered_tree(bench, h, root_and_leaves(h=h), ties)
        tally.add(degree == 2**h, f"|T| = {2**h}, ties {ties}: degree {degree}")
    equal = {2**h: conquered_tree(bench, h, root_and_leaves(h=h)[: 2**h], "lowest") for h in heights}
    details = [_by_chance(bench, h) for h in ((2,) if bench.quick else (2, 3, 4, 5))]
    shown = ", ".join(f"{degree} at |T| = {t}" for t, degree in equal.items())
    line = Line("two equal parts: " + shown, exact(max(equal.values())), Verdict.ORDER)
    return tally.judgement(exact(2 ** heights[-1] / 3, tally.n), sensitivity=(line,), details=details)


def _by_chance(bench: Bench, h: int) -> str:
    """How often a half of the nodes of Lemma 8's tree has a bad degree: of all halves up to |T| = 8, or random ones."""
    n, draw = 2 ** (h + 1) - 1, np.random.default_rng(h)
    every = combinations(range(n), 2**h) if h <= 3 else (draw.permutation(n)[: 2**h] for _ in range(1000))
    degrees = [conquered_tree(bench, h, part, "lowest") for part in every]
    bad, kind = sum(degree >= 2**h - 1 for degree in degrees), "all" if h <= 3 else "random"
    return f"{bad} of {kind} {len(degrees):,} halves at |T| = {2**h} reach degree |T| − 1; the most is {max(degrees)}"


def conquered_tree(bench: Bench, h: int, part: Iterable[int], ties: str) -> int:
    """The maximum degree after the conquer phase if these nodes of Lemma 8's tree are one of two parts."""
    instance = binary_tree_of_topics(h=h)
    part_of = np.ones(instance.num_nodes, np.int32)
    part_of[list(part)] = 0
    bench.done += 1
    division = Division(Partition(part_of, 2), np.empty(0, np.int32))
    return int(conquer_and_combine(instance, division, extend_gm_m, tie_order(ties, 0)).counters["inner_max_degree"])


def _connected(bench: Bench, method: str, **options: tuple[int, ...]) -> Judgement:
    """Topic-connectivity on assorted instances over η, p, λ and the rules for ties."""
    tally, settings = CaseTally(), [dict(zip(options, values, strict=True)) for values in product(*options.values())]
    for name, instance in assorted(bench.quick):
        for seed, (given, ties) in enumerate(product(settings, TIES)):
            if instance.num_nodes <= 100 or seed % 7 == 0:
                result = bench.run(method, instance, _MINMAX, seed=seed, ties=ties, **given)
                wrong = violation_of(result)
                tally.add(not wrong, f"{name}, {given}, ties {ties}, seed {seed}: {wrong}")
    return tally.judgement()


@claim("P3.L11")
def dcb_m_connects(bench: Bench) -> Judgement:
    """DCB-M over η, p and ties."""
    return _connected(bench, "dcb-m", eta=(0, 2, 8), partitions=(1, 3, 10**6))


@claim("P3.L14")
def dcbr_m_connects(bench: Bench) -> Judgement:
    """DCBR-M, with topics of bulk nodes outward too, over η, p, λ and ties; and line 6 of Algorithm 12 as printed."""
    found = _connected(bench, "dcbr-m", eta=(0, 2, 8), partitions=(1, 3, 10**6), coverage=(1, 3))
    five = TopicInstance.from_subscriptions({"b": ["x", "y"], "a": ["x"], "c": ["y"], "d": ["y"], "e": ["y"]})
    apart = {parts: line_6_as_printed(five, parts) for parts in (3, 2, 1)}
    shown = "line 6 of Algorithm 12 as printed, b {x, y}, a {x}, c, d, e {y}, p = [3, 2, 1]: topics disconnected"
    line_6 = Line.of(shown, exact(max(apart.values())), not any(apart.values()))
    shape: dict[str, Any] = {"nodes": 300 if bench.quick else 1000, "topics": 200}
    instances = [one.make() for one in grid("P3.A12", "uniform-varying", 2 if bench.quick else 6, **shape)]
    printed = [line_12_as_printed(bench, one) for one in instances]
    ours = mean_interval(bench.value("dcbr-m", one, _MINMAX) for one in instances)
    whole = not any((o.topic_components(one) > 1).any() for o, one in zip(printed, instances, strict=True))
    text = f"line 12 as printed, Table II's workload: connected; D, which of the whole overlay is {ours}"
    line_12 = Line.of(text, mean_interval(overlay.max_degree for overlay in printed), whole)
    return replace(found, sensitivity=(line_6, line_12))


def line_12_as_printed(bench: Bench, instance: TopicInstance) -> Overlay:
    """DCBR-M whose combine phase knows only the inner edges between nodes of B ∪ R: line 12 of Algorithm 12 as printed.

    Representatives that are connected through other nodes of their part count as apart, so that more edges are added.
    """
    order, light = tie_order("lowest", 0), np.flatnonzero(np.diff(instance.node_offsets) <= bulk_threshold(instance))
    division = best_division(instance, random_order(light.astype(np.int32), 0), 3, order, "lemma-16")
    nodes, parts = division.combined, list(division.partition.parts())
    ends = [build_part(restricted(instance, part), extend=extend_gm_m, order=order)[0] for part in parts]
    inner = np.concatenate([part[pairs] for part, pairs in zip(parts, ends, strict=True)])
    index = np.full(instance.num_nodes, -1)
    index[nodes] = np.arange(len(nodes))
    among = index[inner][(index[inner] >= 0).all(axis=1)]
    built = _extended(bench, restricted(instance, nodes), Overlay.from_edges(len(nodes), among), "lowest", 0)
    return Overlay.from_edges(instance.num_nodes, np.concatenate([inner, nodes[built.edges]]))


def line_6_as_printed(instance: TopicInstance, parts: int) -> int:
    """The number of disconnected topics if outward topics are only those shared with other lightweight parts."""
    light = np.flatnonzero(np.diff(instance.node_offsets) <= bulk_threshold(instance)).astype(np.int32)
    partition = partition_of(instance.num_nodes, random_order(light, 0), min(parts, len(light)))
    of_part = [set().union(*(instance.topics_of(v).tolist() for v in part.tolist())) for part in partition.parts()]
    chosen: list[int] = []
    for d, part in enumerate(partition.parts()):
        others = set().union(*(topics for i, topics in enumerate(of_part) if i != d))
        wants = {v: of_part[d] & others & set(instance.topics_of(v).tolist()) for v in part.tolist()}
        chosen += representative_set(wants, 3, {v: rank for rank, v in enumerate(wants)}) or ()
    division = Division(partition, np.array(sorted(chosen), np.int32))
    built = conquer_and_combine(instance, division, extend_gm_m, tie_order("lowest", 0))
    return int((built.overlay.topic_components(instance) > 1).sum())


@claim("P3.S4C.1")
def minimal_sets_on_the_tree(bench: Bench) -> Judgement:
    """Lemma 8's tree with the leaves as the lightweight part and all other nodes bulk."""
    heights, tally = (2, 3, 4, 5) if bench.quick else (2, 3, 4, 5, 6, 7, 8), CaseTally()
    alone, at_root = dict[int, int](), dict[int, int]()
    degrees: dict[tuple[str, int], int] = {}
    for h, ties in product(heights, TIES):
        instance, order, t = binary_tree_of_topics(h=h), tie_order(ties, 0), 2**h
        leaves = instance.num_nodes - t
        part_of = (np.arange(instance.num_nodes) >= leaves).astype(np.int32)
        halves, bulk = Partition(part_of, 2), Partition(part_of - 1, 1)

        def built(partition: Partition, nodes: Any) -> Overlay:
            return conquer_and_combine(instance, Division(partition, nodes), extend_gm_m, order).overlay  # noqa: B023

        least, every = representatives(instance, halves, 1, order), np.arange(instance.num_nodes, dtype=np.int32)
        tally.add(
            least.tolist() == [0, *range(leaves, instance.num_nodes)], f"|T| = {t}: minimal sets {least.tolist()}"
        )
        degree = int(built(halves, least).degrees[0])
        tally.add(degree >= t, f"|T| = {t}, ties {ties}: minimal sets give the root degree {degree}")
        both = built(bulk, representatives(instance, bulk, 3, order)).max_degree
        for name, found in (("whole parts", built(halves, every).max_degree), ("both techniques", both)):
            degrees[name, h] = max(found, degrees.get((name, h), 0))
            limit = degrees[name, heights[0]] + 1
            tally.add(found <= limit, f"{name}, |T| = {t}, ties {ties}: D = {found}, not constant")
        covered = built(halves, representatives(instance, halves, 3, order)).max_degree
        alone[t], at_root[t] = max(covered, alone.get(t, 0)), min(degree, at_root.get(t, degree))
    bench.done = 4 * len(TIES) * len(heights)
    shown = ", ".join(f"{degree} at |T| = {t}" for t, degree in alone.items())
    text = f"λ = 3 alone, with representatives of the bulk part: D {shown}"
    line = Line(text, exact(max(alone.values())), Verdict.CONTRADICTED)
    ends = [
        f"{name}: D = {degrees[name, heights[-1]]} at |T| = {2 ** heights[-1]}"
        for name in ("whole parts", "both techniques")
    ]
    return tally.judgement(exact(at_root[2 ** heights[-1]], tally.n), sensitivity=(line,), details=ends)


@claim("P3.S4C.3")
def greedy_sets(bench: Bench) -> Judgement:
    """Algorithm 13 with eq. 8's minimum against the smallest rep-sets, by integer programming."""
    tally, ratios = CaseTally(), list[float]()
    for seed, instance in enumerate(small(bench.quick, 9, nodes=60, topics=30, subscriptions=6)):
        shuffled = random_order(np.arange(60, dtype=np.int32), seed)
        for parts, coverage, ties in ((2, 1, "lowest"), (2, 3, "highest"), (3, 2, "random")):
            partition = partition_of(60, shuffled, parts)
            chosen = representatives(instance, partition, coverage, tie_order(ties, seed))
            bench.done += 1
            for part in partition.parts():
                pairs, needed = _cover_problem(instance, part, coverage)
                own = np.isin(part, chosen)
                tally.add(not (pairs @ own < needed).any(), f"instance {seed}, {parts} parts: no rep-set (eq. 8)")
                most = float(np.log(pairs.sum(axis=0).max()) + 1)
                ratios.append(float(own.sum()) / max(len(smallest_cover(pairs, needed)), 1))
                text = f"instance {seed}: {ratios[-1]:.3f} times the smallest, {most:.3f} allowed"
                tally.add(ratios[-1] <= most, text)
    wants, ranks = {0: {0, 1}, 1: {1}, 2: {1}, 3: {1}}, dict.fromkeys(range(4), 0)
    ends = representative_set(wants, 3, ranks, as_printed=True) is not None
    line = Line.of("Algorithm 13 as printed ends, a topic with one subscriber in the part", exact(float(ends)), ends)
    return tally.judgement(exact(max(ratios), len(ratios)), sensitivity=(line,))


def _cover_problem(instance: TopicInstance, part: Any, coverage: int) -> tuple[Any, Any]:
    """The topics × nodes matrix of a part's outward topics, and the coverage that each needs."""
    interest = component_labels(instance) >= 0
    inside = interest[:, part].sum(axis=1)
    outward = (inside > 0) & (inside < interest.sum(axis=1))
    cover = interest[np.ix_(outward, part)].astype(float)
    return cover, np.minimum(cover.sum(axis=1), coverage)


@claim("P3.I.1")
def no_relays(bench: Bench) -> Judgement:
    """Whether messages reach every subscriber over subscribers alone in GM-M's overlays."""
    return on_assorted(bench, "gm-m", lambda instance, result: _unreached(instance, result.answer), _MINMAX)


def _unreached(instance: TopicInstance, overlay: Overlay | None) -> str:
    if overlay is None:
        return "no overlay"
    graph = overlay.to_networkx()
    for topic in range(instance.num_topics):
        members = instance.subscribers(topic).tolist()
        reached = nx.node_connected_component(graph.subgraph(members), members[0])
        if len(reached) < len(members):
            return f"topic {topic} reaches {len(reached)} of {len(members)} subscribers"
    return ""


@claim("P3.I.2")
def sparse_overlays(bench: Bench) -> Judgement:
    """Random overlays with as many edges as GM-M's; and the complete overlay's degree against GM-M's."""
    tries, connected, tally = 20, 0, CaseTally()
    for seed, (name, instance) in enumerate(one for one in assorted(bench.quick) if one[1].num_nodes >= 60):
        overlay = bench.run("gm-m", instance, _MINMAX).answer
        edges, n, rng = 0 if overlay is None else overlay.num_edges, instance.num_nodes, np.random.default_rng(seed)
        pairs = np.stack(np.triu_indices(n, 1), axis=1)
        for _ in range(tries):
            ends = pairs[rng.choice(len(pairs), edges, replace=False)]
            connected += not (Overlay.from_edges(n, ends).topic_components(instance) > 1).any()
        tally.add(overlay is not None and n - 1 > overlay.max_degree, name)
    dense = f"the complete overlay has a higher degree on {tally.n - tally.failed} of {tally.n} instances"
    return judged(share_interval(connected, tries * tally.n), at_most(0.05), details=(dense,))


@claim("P3.S2.1")
def degree_of_few_edges(bench: Bench) -> Judgement:
    """On Lemma 8's tree GM may link the root with every node, where degree 3 suffices."""
    heights = (2, 3, 4) if bench.quick else (2, 3, 4, 5, 6, 7)
    instances = [binary_tree_of_topics(h=h) for h in heights]
    degree = {ties: [bench.value("gm", one, _MINMAX, ties=ties) for one in instances] for ties in TIES}
    shares = {ties: exact(found[-1] / instances[-1].num_nodes, len(heights)) for ties, found in degree.items()}
    lines = tuple(Line.of(f"ties {ties}", one, one.mean >= 0.5) for ties, one in shares.items())
    best = max(shares.values(), key=lambda one: one.mean)
    text = f"D ÷ |V| = {best.mean:.3g} at |V| = {instances[-1].num_nodes}, where degree 3 suffices: one rule is enough"
    return judged(best, at_least(0.5), because=text, sensitivity=lines)
