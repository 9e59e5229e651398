"""The lemmas, theorems and single sentences of Onus and Richa (P2) as checks, and the columns of its figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from ...instances.contract.overlay import Overlay
from ...instances.topics.constructions import (
    binary_tree_of_topics,
    case_seven,
    minmax_oda_matchings,
    nested_subscriptions,
    weighted_nested_subscriptions,
)
from ...instances.topics.instance import TopicInstance
from ..catalogue import problem_named
from ..intervals import Interval, mean_interval
from ..studies.task import Recipe
from .bench import TIES, Bench, by_law, grid
from .claim import FALLS, RISES, CaseTally, Judgement, Limit, Line, Verdict, all_of, at_most, claim, exact, judged
from .claim import verdict_of as verdict
from .p2_constructed import (
    chain,
    correlated,
    dense_prefixes,
    independent_subscriptions,
    star_bound,
    tree_of_bridges,
    tree_with_bridges,
)
from .properties import (
    Graph,
    PropertyCase,
    assorted,
    best_matching,
    component_labels,
    counts,
    is_edge_colourable,
    mean_diameter,
    merge_components,
    violation_of,
)

Edge = tuple[int, int]
FAMILY = ("cd-oda", "cd-oda-1", "cd-oda-2")
_FACTORS = (1.0, 2.0, 3.0, 4.0, 8.0)
_SMALL: Mapping[str, Any] = {"nodes": 8, "topics": 10, "subscriptions": 3}
_SMALLEST_DEGREE = 2.0  # of trees with bridges: 2 or 3, and the bound is least for 2
_PROVEN = "p2-solved"


def _overlays(bench: Bench, method: str, instance: TopicInstance, **options: Any) -> Iterator[Overlay]:
    """The overlays of a method with ties lowest, highest and twice random."""
    for ties, seed in (("lowest", 0), ("highest", 0), ("random", 0), ("random", 1)):
        result = bench.run(method, instance, ties=ties, seed=seed, **options)
        if result.answer is not None:
            yield result.answer


def _largest_share(
    bench: Bench, problem: str, method: str, limit: Callable[[TopicInstance, float, float], float], *ks: float
) -> tuple[float, Interval]:
    """The largest value ÷ proven lower bound, and the largest share of a limit (of instance, bound and k) in all runs.

    A k of 0 stands for √|V|, one of −1 for |V|; without any the method has no option k.
    """
    rows = bench.on(_PROVEN)
    rows = rows[(rows["problem"] == problem) & rows["lower_bound"].notna()]
    ratios, shares = [], []
    for row in rows.itertuples():
        instance, least = Recipe.from_json(row.recipe).make(), math.ceil(float(row.lower_bound) - 1e-6)
        own = [{0.0: math.sqrt(instance.num_nodes), -1.0: float(instance.num_nodes)}.get(k, k) for k in ks]
        for k in own or [1.0]:
            for overlay in _overlays(bench, method, instance, **({"k": k} if ks else {})):
                value = float(overlay.degrees.max()) if problem == "minmax-tco" else len(overlay.edges)
                ratios.append(value / least)
                shares.append(value / limit(instance, least, k))
    return max(ratios), exact(max(shares), len(shares))


_KS = (1.0, 2.0, 3.0, 8.0, 0.0, -1.0)
_AT_MOST_1 = Limit(high=1.0)


@claim("P2.T1", _PROVEN)
def theorem_1(bench: Bench) -> Judgement:
    """Edges of Low-ODA against min{k·ln Σ|T_v|, |V|} × the fewest."""

    def limit(instance: TopicInstance, least: float, k: float) -> float:
        return min(k * math.log(instance.num_subscriptions), instance.num_nodes) * least

    ratio, share = _largest_share(bench, "min-tco", "low-oda", limit, *_KS)
    return judged(share, _AT_MOST_1, details=[f"largest edges ÷ fewest edges: {ratio:.3f}"])


@claim("P2.T2", _PROVEN)
def theorem_2(bench: Bench) -> Judgement:
    """Low-ODA's maximum degree against the proof's bound, Table 1's, and on trees where the bound can be missed."""

    def limit(instance: TopicInstance, least: float, k: float) -> float:
        return (instance.num_nodes / (2 * k) + 1) * 3 * (least + 1) * math.log(instance.num_subscriptions)

    def short(instance: TopicInstance, least: float, k: float) -> float:
        return min(instance.num_nodes / k * math.log(instance.num_subscriptions), instance.num_nodes) * least

    ratio, share = _largest_share(bench, "minmax-tco", "low-oda", limit, *_KS)
    _, of_table = _largest_share(bench, "minmax-tco", "low-oda", short, *_KS)
    shares = []
    for h in (5,) if bench.quick else (5, 6, 7):
        instance = tree_with_bridges(h)
        n = instance.num_nodes
        most = max(float(one.degrees.max()) for one in _overlays(bench, "low-oda", instance, k=float(n)))
        shares.append(most / limit(instance, _SMALLEST_DEGREE, n))
    on_trees = exact(max(shares), len(shares))
    lines = [
        Line.of("the bound of Table 1, (n/k)·ln Σ|T_v| × the smallest", of_table, _AT_MOST_1),
        Line.of("k = |V| on trees with bridging nodes", on_trees, _AT_MOST_1),
    ]
    number = exact(max(share.mean, on_trees.mean), share.n + on_trees.n)
    details = [f"largest maximum degree ÷ smallest: {ratio:.3f}"]
    return judged(number, _AT_MOST_1, sensitivity=lines, details=details)


@claim("P2.I.2", _PROVEN)
def table_1(bench: Bench) -> Judgement:
    """Table 1: logarithmic ratios on solved instances, linear ones on trees with bridges and Lemma 1's instances."""

    def limit(instance: TopicInstance, least: float, _: float) -> float:
        return math.log(instance.num_nodes * instance.num_topics) * least

    log, linear = "share of ln(|V||T|)", "linear, at least a quarter"
    numbers = {
        f"{log}, {method}, {what} degree": (_largest_share(bench, problem, method, limit)[1], _AT_MOST_1)
        for method, problem, what in (
            ("gm", "min-tco", "average"),
            ("minmax-oda", "minmax-tco", "maximum"),
            ("gm-m", "minmax-tco", "maximum"),
        )
    }
    number = max((share for share, _ in numbers.values()), key=lambda one: one.mean)
    trees = {h: tree_with_bridges(h) for h in ((2, 3, 4) if bench.quick else (2, 3, 4, 5, 6))}
    narrow = all(
        not list(problem_named("minmax-tco").violations(one, tree_of_bridges(one, h)))
        and tree_of_bridges(one, h).degrees.max() == 3
        for h, one in trees.items()
    )
    least = [
        min(float(o.degrees.max()) for o in _overlays(bench, "gm", one)) / one.num_nodes for one in trees.values()
    ]  # fmt: skip
    quarter = Limit(low=1 / 4)
    numbers[f"{linear}: gm, maximum degree ÷ n"] = exact(min(least) * narrow, len(least)), quarter
    for method in ("minmax-oda", "gm-m"):
        share = exact(*_least_share(bench, method, minmax_oda_matchings, (4, 8, 16, 24)))
        numbers[f"{linear}: {method}, edges ÷ n(n − 1)"] = share, quarter
    details = [f"{name}: {one.mean:.3f}" for name, (one, _) in numbers.items()]
    gravest = all_of(verdict(one, must) for one, must in numbers.values())
    return Judgement(gravest, "; ".join(details[:2]), number, (), details)


def _least_share(
    bench: Bench, method: str, build: Callable[..., TopicInstance], sizes: Iterable[int]
) -> tuple[float, int]:
    """The least edges ÷ n(n − 1) over sizes and ties, where n − 1 edges suffice, and the number of sizes."""
    found = [
        min(len(one.edges) for one in _overlays(bench, method, build(n=n))) / (n * (n - 1)) for n in sizes
    ]  # fmt: skip
    return min(found), len(found)


@claim("P2.I.1")
def whole_star(bench: Bench) -> Judgement:
    """§1.1 on the binary tree of topics, where maximum degree 3 suffices."""
    tally, lines = CaseTally(), dict[str, Line]()
    for h in (2, 3) if bench.quick else (2, 3, 4, 5):
        instance = binary_tree_of_topics(h=h)
        n = instance.num_nodes
        found = {ties: bench.value("gm", instance, "minmax-tco", ties=ties, seed=1) for ties in TIES}
        tally.add(max(found.values()) == n - 1, f"|V| = {n}: at most {max(found.values()):g}")
        lines |= {
            ties: Line.of(f"ties {ties}, |V| = {n}", exact(value), value == n - 1) for ties, value in found.items()
        }
    return tally.judgement(exact(1 - tally.failed / tally.n, tally.n), sensitivity=list(lines.values()))


def _with_optimum(
    found: Judgement,
    bench: Bench,
    method: str,
    build: Callable[..., TopicInstance],
    optimum: Mapping[int, int],
    *of: str,
) -> Judgement:
    """A judgement of counts if the proven optima of some problems are those claimed; otherwise what they are."""
    for problem, (n, claimed) in product(of, optimum.items()):
        if (least := bench.value(method, build(n=n), problem, proven=True)) != claimed:
            return Judgement(Verdict.CONTRADICTED, f"the optimum of {problem} at n = {n} is {least:g}, not {claimed}")
    return replace(found, details=[*found.details, "the optima are proven as claimed"])


def _for_some_ties(found: Judgement) -> Judgement:
    """The judgement of a count that a method can have: some choice of ties suffices."""
    if found.verdict is not Verdict.DEPENDS:
        return found
    return replace(found, verdict=Verdict.CONFIRMED, because=f"for some choice: {found.because.partition(': ')[2]}")


@claim("P2.L1")
def lemma_1(bench: Bench) -> Judgement:
    """Lemma 1: the count, the linear ratio, and the optimum."""
    sizes = (4, 6, 20) if bench.quick else range(4, 21, 2)
    cases = [PropertyCase(f"n = {n}", minmax_oda_matchings(n=n), n * (n - 2) / 2, exhaustive=n <= 6) for n in sizes]
    found = counts(bench, "minmax-oda", "min-tco", cases)
    lines = [*found.sensitivity]
    for method in ("minmax-oda", "gm-m"):
        share, number = _least_share(bench, method, minmax_oda_matchings, sizes)
        text = f"{method}: edges ÷ n(n − 1), linear if at least 1/4"
        lines.append(Line.of(text, exact(share, number), share >= 1 / 4))
    if all_of(one.verdict for one in lines[-2:]) is not Verdict.CONFIRMED:
        found = replace(found, verdict=Verdict.CONTRADICTED, because=f"the ratio is not linear: {lines[-2].number}")
    bare, claimed = exact(bench.value("gm-m", cases[-1].instance, "min-tco")), cases[-1].claimed
    near = Limit(0.9 * claimed, 1.1 * claimed)
    lines.append(Line.of(f"edges of weight 0 left out, {cases[-1].name}", bare, Limit(claimed, claimed), near))
    found, optimum = replace(found, sensitivity=lines), {n: n - 1 for n in sizes}
    return _with_optimum(found, bench, "branch-and-cut", minmax_oda_matchings, optimum, "min-tco")


@claim("P2.L5")
def lemma_5(bench: Bench) -> Judgement:
    """Lemma 5: CD-ODA's count for some choice of ties, and the optimum."""
    sizes = range(3, 7 if bench.quick else 13)
    cases = [PropertyCase(f"n = {n}", nested_subscriptions(n=n), n * (n - 1) / 2) for n in sizes]
    found = _for_some_ties(counts(bench, "cd-oda", "2d-true", cases))
    return _with_optimum(found, bench, "cp-sat", nested_subscriptions, {n: n - 1 for n in sizes}, "2d-true")


@claim("P2.L6")
def lemma_6(bench: Bench) -> Judgement:
    """Lemma 6 for each of its two algorithms, the optimum, and CD-ODA-II's ratio on an instance of ours."""
    sizes = range(2, 5 if bench.quick else 7)
    cases = [PropertyCase(f"n = {n}", weighted_nested_subscriptions(n=n), n * (n - 1) / 2 + n) for n in sizes]
    first, second = (counts(bench, method, "2d-true", cases) for method in FAMILY[1:])
    ours = {n: dense_prefixes(n) for n in ((3, 5) if bench.quick else (3, 5, 8, 12))}
    right = all(
        len(one.edges) == n * (n - 1) / 2 + 3 * n - 1
        for n, instance in ours.items()
        for one in _overlays(bench, "cd-oda-2", instance)
    )
    n = max(ours)
    ratio = exact((n * (n - 1) / 2 + 3 * n - 1) / (4 * n - 2), len(ours))
    lines = [
        Line(f"CD-ODA-I, {cases[-1].name}", first.number, first.verdict),
        *(replace(one, varied=f"CD-ODA-II, {one.varied}") for one in second.sensitivity),
        Line.of(f"CD-ODA-II ÷ the fewest on our instance, n = {n}: linear in n", ratio, right),
    ]
    gravest = all_of((first.verdict, second.verdict))
    because = f"CD-ODA-I: {first.because}; CD-ODA-II: {second.because}"
    found = Judgement(gravest, because, second.number, lines, second.details)
    optimum = {n: 2 * n - 1 for n in sizes}
    return _with_optimum(found, bench, "cp-sat", weighted_nested_subscriptions, optimum, "2d-true")


@claim("P2.VII")
def case_vii(bench: Bench) -> Judgement:
    """Case VII and Table 2: the counts of four algorithms, and both optima."""
    sizes = range(5, 8 if bench.quick else 15)
    found = {}
    for method in (*FAMILY, "2d-oda"):
        claimed = {n: n if method == "2d-oda" else 2 * n - 5 for n in sizes}
        cases = [PropertyCase(f"n = {n}", case_seven(n=n), claimed[n], exhaustive=n <= 8) for n in sizes]
        found[method] = counts(bench, method, "2d-true", cases)
    gravest = all_of(one.verdict for one in found.values())
    lines = [Line(f"{method}, n = {sizes[-1]}", one.number, one.verdict) for method, one in found.items()]
    because = next(f"{method}: {one.because}" for method, one in found.items() if one.verdict is gravest)
    wrong = sum(one.verdict is not Verdict.CONFIRMED for one in found.values())
    whole = Judgement(gravest, because, exact(wrong, 4 * len(sizes)), lines)
    return _with_optimum(whole, bench, "cp-sat", case_seven, {n: n for n in sizes}, "2d-star", "2d-true")


@claim("P2.S6.3")
def better_than_family(bench: Bench) -> Judgement:
    """§6.3: 2D-ODA on the bad cases of the CD-ODA family, against their optima."""
    sizes = (4, 6) if bench.quick else (4, 6, 8, 10, 12)
    families: tuple[tuple[str, Sequence[int], Callable[[int], TopicInstance], Callable[[int], int]], ...] = (
        ("Lemma 5's instances", sizes, lambda n: nested_subscriptions(n=n), lambda n: n - 1),
        ("Lemma 6's instances", (4, 5, 6), lambda n: weighted_nested_subscriptions(n=n), lambda n: 2 * n - 1),
        ("ours for CD-ODA-II", sizes, dense_prefixes, lambda n: 4 * n - 2),
        ("Case VII", (6, 8, 10, 12), lambda n: case_seven(n=n), lambda n: n),
    )
    lines = []
    for name, own, build, optimum in families:
        most = max(len(o.edges) / optimum(n) for n in own for o in _overlays(bench, "2d-oda", build(n)))
        lines.append(Line.of(name, exact(most, len(own)), _AT_MOST_1))
    number = max((line.number for line in lines if line.number), key=lambda one: one.mean)
    return judged(number, _AT_MOST_1, sensitivity=lines)


@claim("P2.L7")
def diameter_two(bench: Bench) -> Judgement:
    """Lemma 7, and §6.5's same sentence on the CD-ODA family."""
    tally, judge = CaseTally(), problem_named("2d-true")
    for method in ("2d-oda", *FAMILY):
        for name, instance in assorted(bench.quick):
            for ties in TIES:
                result = bench.run(method, instance, ties=ties, seed=tally.n)
                wrong = violation_of(result) or "; ".join(judge.violations(instance, result.answer))
                tally.add(not wrong, f"{method}, {name}, ties {ties}: {wrong}")
    return tally.judgement()


def _small_instances(quick: bool) -> dict[str, TopicInstance]:
    """Random instances of 8 nodes by workload and seed."""
    return dict(by_law(2 if quick else 10, **_SMALL))


def edges_in_order(bench: Bench, method: str, instance: TopicInstance, **options: Any) -> Iterator[list[Edge]]:
    """The edges of a method in the order in which it adds them, under each rule for ties."""
    for ties in TIES:
        result = bench.run(method, instance, ties=ties, trace=True, **options)
        if result.trace is not None:
            yield [(u, v) for step in result.trace.steps for u, v in step.edges]


def blocks_of(edges: Sequence[Edge], nodes: int, height: int) -> list[list[Edge]]:
    """Lemma 4's sets R_i: the edges added while the maximum degree is above (i − 1)·height and at most i·height."""
    degrees, found = np.zeros(nodes, int), dict[int, list[Edge]]()
    for edge in edges:
        degrees[list(edge)] += 1
        found.setdefault((int(degrees.max()) - 1) // height, []).append(edge)
    return [found[number] for number in sorted(found)]


@claim("P2.L4")
def lemma_4(bench: Bench) -> Judgement:
    """Lemma 4 with h rounded up, and down in the sensitivity."""
    sides = {}
    for name, rounded in (("h = ⌈n/2k⌉ + 1", math.ceil), ("h = ⌊n/2k⌋ + 1", math.floor)):
        tally, least = CaseTally(), math.inf
        for case, instance in _small_instances(bench.quick).items():
            for k in _FACTORS:
                height = rounded(instance.num_nodes / (2 * k)) + 1
                for edges in edges_in_order(bench, "low-oda", instance, k=k):
                    labels = component_labels(instance)
                    for block in blocks_of(edges, instance.num_nodes, height):
                        most = best_matching(labels, range(instance.num_nodes))
                        labels, merged = merge_components(labels, *block)
                        least = min(least, merged / most if most else math.inf)
                        tally.add(3 * merged >= most, f"{case}, k = {k:g}: {merged} of {most} joined")
        sides[name] = tally.judgement(exact(least, tally.n))
    (_, principal), (name, other) = sides.items()
    return replace(principal, sensitivity=[other.line(name)], runs=bench.done)


@claim("P2.S3.1")
def perfect_matchings(bench: Bench) -> Judgement:
    """§3: every n/2 consecutive edges of MinMax-ODA are a perfect matching."""
    every = {**_small_instances(bench.quick), **{f"Lemma 1, n = {n}": minmax_oda_matchings(n=n) for n in (4, 6, 8)}}
    tallies, whole = {"the first n/2 edges": CaseTally(), "every further n/2 edges": CaseTally()}, CaseTally()
    for name, instance in every.items():
        half = instance.num_nodes // 2
        for edges in edges_in_order(bench, "minmax-oda", instance):
            for start in range(0, len(edges) - half + 1, half):
                group = edges[start : start + half]
                matching = len({v for edge in group for v in edge}) == 2 * half
                for tally in (whole, tallies["every further n/2 edges" if start else "the first n/2 edges"]):
                    tally.add(matching, f"{name}: a node is twice in {[(u + 1, v + 1) for u, v in group]}")
    of = {name: exact(1 - one.failed / max(one.n, 1), one.n) for name, one in {**tallies, "": whole}.items()}
    lines = [one.judgement(of[name]).line(f"{name}, share of matchings") for name, one in tallies.items()]
    return whole.judgement(of[""], sensitivity=lines)


@claim("P2.L3")
def matchings_of_graphs(bench: Bench) -> Judgement:
    """Lemma 3 on all small graphs, by exhaustive search."""
    tally, fewer = CaseTally(), 0
    for graph in nx.graph_atlas_g():
        if graph.number_of_edges() and len(graph) <= (5 if bench.quick else 7):
            degree = largest_degree(graph)
            tally.add(is_edge_colourable(graph, degree + 1), f"edges {sorted(graph.edges)}")
            fewer += not is_edge_colourable(graph, degree)
    number = exact(fewer, tally.n)
    line = Line.of("graphs for which d matchings do not suffice", number, Limit(low=1))
    return tally.judgement(exact(1 - tally.failed / tally.n, tally.n), sensitivity=[line], runs=tally.n)


def largest_degree(graph: Graph) -> int:
    """The maximum degree."""
    return max(degree for _, degree in graph.degree)


@claim("P2.S6.5.4")
def long_paths(bench: Bench) -> Judgement:
    """§6.5 and §1 on chains: the diameter of the topic that all nodes share, the smallest over ties."""
    sizes = (8, 16) if bench.quick else (8, 16, 32, 64)
    least: dict[str, list[int]] = {"gm": [], "minmax-oda": []}
    for method, diameters in least.items():
        for n in sizes:
            graphs: list[Graph] = [nx.Graph(one.edges.tolist()) for one in _overlays(bench, method, chain(n))]
            diameters.append(min(nx.diameter(g) if len(g) == n and nx.is_connected(g) else 0 for g in graphs))
    linear = all(2 * d >= n for d, n in zip(least["gm"], sizes, strict=True))
    rises = sorted(set(least["minmax-oda"])) == least["minmax-oda"]
    text = "; ".join(f"{method}: {', '.join(map(str, found))}" for method, found in least.items())
    held = Verdict.CONFIRMED if linear and rises else Verdict.CONTRADICTED
    return Judgement(held, f"diameters at n = {sizes}: {text}", exact(least["gm"][-1] / sizes[-1], len(sizes)))


@claim("P2.S1.1")
def rings(bench: Bench) -> Judgement:
    """§1: exponents of |V_t| in topic diameters and of |T_v| in degrees, for each order of the rings."""
    orders, proportional = ("number", "random-per-topic"), Limit(0.9, 1.1)
    samples = range(5 if bench.quick else 10)
    wide = [grid("rings", "uniform", len(samples), nodes=n, topics=100, subscriptions=10) for n in (100, 400)]
    mixed = grid("rings", "uniform-varying", len(samples), nodes=400, topics=100, least=5, most=20)
    lines = []
    for order in orders:
        diameters = [[_mean_diameter(bench, one.make(), order) for one in each] for each in wide]
        grown = np.log(np.divide(diameters[1], diameters[0])) / math.log(4)
        degrees = [_degree_exponent(bench, one.make(), order) for one in mixed]
        for name, sample in (("|T_v| in the degree", degrees), ("|V_t| in the diameter", grown.tolist())):
            number = mean_interval(sample)
            lines.append(Line.of(f"exponent of {name}, order {order}", number, proportional))
    found = all_of(line.verdict for line in lines[:2])
    shown = "; ".join(f"{line.varied.removeprefix('exponent of ')}: {line.number}" for line in lines)
    none = "neither order of the rings has both: " if found is Verdict.CONTRADICTED else ""
    return Judgement(found, f"{none}exponents of {shown}", lines[0].number, lines)


def _mean_diameter(bench: Bench, instance: TopicInstance, order: str) -> float:
    return mean_diameter(instance, bench.answer("ring-per-topic", instance, order=order), every=10)


def _degree_exponent(bench: Bench, instance: TopicInstance, order: str) -> float:
    """Of the nodes with at least 15 topics against those with at most 10."""
    sizes, degrees = np.diff(instance.node_offsets), bench.answer("ring-per-topic", instance, order=order).degrees
    few, many = sizes <= 10, sizes >= 15
    grown, more = degrees[many].mean() / degrees[few].mean(), sizes[many].mean() / sizes[few].mean()
    return math.log(grown) / math.log(more)


@claim("P2.S1.2")
def correlation(bench: Bench) -> Judgement:
    """§1: edges of GM where half or all topics of a node come from its group's, ÷ edges where none do."""
    samples = range(5 if bench.quick else 20)
    lines = []
    for ties in TIES:
        edges = {
            share: np.array([bench.value("gm", correlated(share, s), "min-tco", ties=ties, seed=s) for s in samples])
            for share in (0.0, 0.5, 1.0)
        }
        for share in (1.0, 0.5):
            number = mean_interval(edges[share] / edges[0.0], together=2)
            name = f"{share:.0%} of the topics from the group, ties {ties}"
            lines.append(Line.of(name, number, Limit(high=1 - 1e-9)))
    found = all_of(line.verdict for line in lines[:2])
    return Judgement(found, f"{lines[0].varied}: {lines[0].number}", lines[0].number, lines)


# The figures: columns for the claims, figures and tables of the file of runs

STARS = ("cd-oda", "cd-oda-1", "cd-oda-2", "2d-oda")
_BOUND_STEPS = 400


def lines_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with the columns line (gm, minmax-oda, k=1 …), rule of line 10 (≥, >), and zeros (with, without).

    A copy of the rows for each reading: with > and k = 1 Low-ODA is GM; MinMax-ODA without edges of weight 0 is GM-M.
    """
    copies = []
    k = rows["o_k"].round(3) if "o_k" in rows else pd.Series(np.nan, rows.index)
    low = rows["method"] == "low-oda"
    strict = low & (rows["o_k"] < k)
    named = rows["method"].mask(low, "k=" + k.map("{:g}".format))
    for rule, zeros in product(("≥", ">"), ("with", "without")):
        kept = ~low | (strict if rule == ">" else ~strict)
        minmax = "minmax-oda" if zeros == "with" else "gm-m"
        own = rows.assign(line=named.mask(rows["method"] == minmax, "minmax"), rule=rule, zeros=zeros)[kept]
        copies += [own, own[own["method"] == "gm"].assign(line="k=1")] if rule == ">" else [own]
    return pd.concat(copies, ignore_index=True)


def degrees_by_rule(bench: Bench, found: Judgement) -> Judgement:
    """GM's maximum degree by rule for ties, at the largest size."""
    rows = bench.on("p2-nodes")
    last = rows[(rows["method"] == "gm") & (rows["p_nodes"] == rows["p_nodes"].max())]
    means = ", ".join(f"ties {rule} {mean:.1f}" for rule, mean in last.groupby("ties")["max_degree"].mean().items())
    text = f"GM's maximum degree at |V| = {rows['p_nodes'].max():g}: {means}"
    return replace(found, details=[*found.details, text])


def with_work(rows: pd.DataFrame) -> pd.DataFrame:
    """The subscriptions that Low-ODA compared ÷ (|V|²|T|), and logarithms."""
    own = rows[(rows["method"] == "low-oda") & (rows["o_k"] == 3)]
    nodes = own["p_nodes"].astype(float)
    share = own["c_counted"].astype(float) / (nodes**2 * own["p_topics"])
    return own.assign(share=share, log_share=np.log(share), log_nodes=np.log(nodes))


_OF_STARS = "method != 'branch-and-cut'"
_FIGURES = {
    "P2.F8": ("p_topics == 100 and p_subscriptions == 10", "p_nodes", FALLS),
    "P2.F9": ("p_nodes == 100 and p_subscriptions == 20", "p_topics", RISES),
    "P2.F10": ("p_nodes == 100 and p_topics == 100", "p_subscriptions", FALLS),
}
_PUBLISHED = {"P2.F8": 1.09, "P2.F9": 1.07, "P2.F10": 1.1}


def _of_any_stars(id_: str, bench: Bench, found: Judgement) -> Judgement:
    """What holds of every overlay of stars, by proven bounds; the other readings of the law and of “times more”."""
    limit = _PUBLISHED[id_]
    rows = bench.on("p2-stars").query(f"{_FIGURES[id_][0]} and ties == 'lowest'")
    gm = rows[rows["method"] == "gm"].drop_duplicates("instance")
    sizes = ["p_nodes", "p_topics", "p_subscriptions"]
    first = gm.groupby(sizes).head(1 if bench.quick else 3)
    bounds = [star_bound(Recipe.from_json(one).make()) for one in first["recipe"]]
    ratio = (pd.Series(bounds, first.index) / first["edges"]).groupby([first[size] for size in sizes]).mean()
    lines = []
    for name, one in (("least", ratio.min()), ("most", ratio.max())):
        held = Verdict.CONTRADICTED if one > limit else Verdict.NOT_DECIDED
        text = f"any overlay of stars, a lower bound ÷ GM, the {name} at a point"
        lines.append(Line(text, exact(float(one), len(first)), held))
    if found.number:
        lines.append(Line.of(f"“{limit:g} times more” read as 1 + {limit:g}", found.number, at_most(1 + limit)))
    lines.append(_independent(bench, limit, *map(int, next(iter(ratio.index)))))
    details = [*found.details, *(_best_known(rows, bench.quick) if id_ == "P2.F8" else ())]
    return replace(found, sensitivity=[*found.sensitivity, *lines], details=details)


def _independent(bench: Bench, limit: float, nodes: int, topics: int, subscriptions: int) -> Line:
    """2D-ODA ÷ GM where each node subscribes to each topic by itself."""
    ratios = []
    for seed in range(3 if bench.quick else 10):
        shape = {"nodes": nodes, "topics": topics, "subscriptions": subscriptions}
        instance = independent_subscriptions(seed=seed, **shape)
        ratios.append(bench.value("2d-oda", instance, "min-tco") / bench.value("gm", instance, "min-tco"))
    text = f"topics drawn independently, |V| = {nodes}, |T| = {topics}"
    return Line.of(text, mean_interval(ratios), at_most(limit))


def _best_known(rows: pd.DataFrame, quick: bool) -> Iterator[str]:
    """At |V| = 100, for each seed: the best known lower bound on the edges of any overlay of stars, and GM's edges."""
    solved = rows[rows["method"] == "branch-and-cut"].set_index("instance")
    every = rows[(rows["method"] == "gm") & (rows["p_nodes"] == 100)].drop_duplicates("instance")
    own = every[every["instance"].isin(solved.index)] if len(solved) else every.head(2)
    for number, gm in enumerate(own.itertuples()):
        bound, built = float(star_bound(Recipe.from_json(gm.recipe).make(), 20 if quick else _BOUND_STEPS)), ""
        if gm.instance in solved.index:
            run = solved.loc[gm.instance]
            bound, built = max(bound, float(run["lower_bound"])), f", best known {run['value']:g}"
        text = f"|V| = 100, seed {number}: stars need at least {bound:g} edges{built}, GM has {gm.edges:g}"
        yield f"{text}: {bound / gm.edges:.2f} times"


any_stars_F8, any_stars_F9, any_stars_F10 = (partial(_of_any_stars, id_) for id_ in _FIGURES)


def _trend(figure: str, bench: Bench) -> Judgement:
    """How the average degree of each algorithm changes with a size: from each value to the next, and over all."""
    where, column, must = _FIGURES[figure]
    rows = bench.on("p2-stars").query(f"{where} and {_OF_STARS} and ties == 'lowest'")
    rows = rows.drop_duplicates(["instance", "method"])
    number = rows.groupby(["method", column]).cumcount()
    every = rows.assign(number=number).pivot_table("average_degree", ["method", "number"], column).dropna()
    steps, lines, details = [], list[Line](), []
    for method in ("2d-oda", "gm", *STARS[:-1]):
        wide = every.loc[method]
        whole = mean_interval(wide.iloc[:, -1] - wide.iloc[:, 0], together=5)
        changes = [
            mean_interval(step, together=5 * (wide.shape[1] - 1)) for step in wide.diff(axis=1).iloc[:, 1:].T.values
        ]
        lines.append(Line.of(f"{method}, from the first to the last", whole, must))
        steps += [verdict(change, must) for change in changes]
        details.append(f"{method}: {', '.join(f'{mean:.2f}' for mean in wide.mean())}")
    found = all_of(line.verdict for line in lines)
    if found is Verdict.CONFIRMED and Verdict.CONTRADICTED in steps:
        found = Verdict.ORDER
    wrong = [line.varied.partition(",")[0] for line in lines if line.verdict is not Verdict.CONFIRMED]
    text = f"not for {', '.join(wrong)}" if wrong else "from the first size to the last for all five"
    text += "" if found is not Verdict.ORDER else ", not from each size to the next"
    return Judgement(found, text, lines[0].number, lines, details, runs=len(rows))


S6_5_1, S6_5_2, S6_5_3 = (
    claim(f"P2.S6.5.{i}", "p2-stars")(partial(_trend, figure)) for i, figure in enumerate(_FIGURES, 1)
)


def at_every_k(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of Figures 3 and 4, where GM and MinMax-ODA have a value at every k."""
    read, low = lines_of(rows), lines_of(rows)["line"].str.startswith("k=")
    level = [read[~low].assign(k=k) for k in range(1, 9)]
    return pd.concat([read[low].assign(k=read["line"][low].str[2:].astype(float)), *level], ignore_index=True)
