"""The lemmas of Chockler et al. (P1) on Greedy Merge as checks; figures and hardness are in files beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import networkx as nx
import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse.csgraph import shortest_path

from ...instances.contract.catalogue import WORKLOADS
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Result, Status
from ...instances.topics.constructions import greedy_merge_cuboid
from ...instances.topics.instance import TopicInstance
from ..papers.bench import LAWS, Bench, Experiment, grid, runs
from ..papers.grids_p1 import every_tie
from ..papers.link_contributions import merge_by_link_contributions
from ..studies.recipe import Recipe
from .claim import Claim, Finding, Interval, NotRun, Scope, Verdict, open_if_fewer, verdict_of
from .evidence import all_of, at_least, mean_of, over_ties, scope_of, with_ties
from .properties import TIES, assorted, invalid, property_finding
from .ties import Case, count_finding

CUBOIDS = tuple((k, m) for k in range(2, 7) for m in range(3, 7))
_SOLVED = 200
_MOST_TRACED = 60


def assorted_scope(quick: bool, most: int = 10**9, reading: str = "") -> Scope:
    """The scope of a property tested on the assorted instances of at most so many nodes."""
    tested = [(name, instance.num_nodes) for name, instance in assorted(quick) if instance.num_nodes <= most]
    nodes, seeds = [number for _, number in tested], 2 if quick else 10
    workloads = tuple(sorted({name.split(" ")[0] for name, _ in tested}))
    sizes: dict[str, tuple[float | str, ...]] = {"|V|": (min(nodes), max(nodes)), "workloads": workloads}
    return Scope(sizes, samples=seeds, points=len(nodes) // seeds, ties=TIES, reading=reading)


def _connected(bench: Bench) -> Iterable[Finding]:
    found = property_finding(bench, "GM", "gm", invalid, "Every topic has one component")
    reading = "contributions as §6.1 defines them: lowered only for pairs of two components"
    yield replace(found, scope=assorted_scope(bench.quick, reading=reading))
    apart, tried = list[tuple[float, str]](), 0
    for name, instance in assorted(bench.quick):
        edges, _ = merge_by_link_contributions(instance, as_printed=True)
        parts = Overlay.from_edges(instance.num_nodes, edges).topic_components(instance)
        tried += 1
        if (share := float((parts > 1).mean())) > 0:
            apart.append((share, name))
    text = (
        "Algorithm 3, line 6 taken literally is over all topics of both ends. Where they are in one component already, "
        "it lowers contributions within it, so that pairs leave the lists early. "
    )
    if apart:
        share, name = max(apart)
        text += f"Topics stay apart in {len(apart)} of {tried} runs, at most {share:.0%} of the topics ({name})."
    scope = replace(assorted_scope(bench.quick, reading="Algorithm 3 as printed"), ties=("newest of a list",))
    yield Finding("Algorithm 3 as printed", verdict_of(not apart), text.strip(), tried, scope=scope)


def _edge_count(bench: Bench) -> Iterable[Finding]:
    largest = 0.0

    def violation(instance: TopicInstance, result: Result[Overlay]) -> str:
        nonlocal largest
        edges = result.measures["edges"]
        allowed = min(instance.num_nodes**2, instance.num_subscriptions)
        largest = max(largest, edges / allowed)
        return "" if edges <= allowed else f"{edges:g} edges, {allowed} allowed"

    found = property_finding(bench, "GM", "gm", violation, "At most min(V², Σ|V_t|) edges, constant 1")
    evidence = f"{found.evidence} Largest share of the bound: {largest:.3f}."
    yield replace(found, evidence=evidence, scope=assorted_scope(bench.quick, reading="O(…) with constant 1"))
    found = property_finding(bench, "every topic's subgraph is a tree", "gm", _with_cycle, "G_t has |V_t| − 1 edges")
    reading = "the first sentence of Lemma 6.2's proof; the lemma does not need it"
    yield replace(found, scope=assorted_scope(bench.quick, reading=reading))


def _with_cycle(instance: TopicInstance, result: Result[Overlay]) -> str:
    """An edge taken for one topic may close a cycle in another; "" where no topic has one."""
    overlay = result.answer
    assert overlay is not None
    common = np.zeros(instance.num_topics, int)
    for u, v in overlay.edges.tolist():
        common[np.intersect1d(instance.topics_of(u), instance.topics_of(v), assume_unique=True)] += 1
    wrong = np.flatnonzero(common > np.diff(instance.topic_offsets) - 1)
    if not len(wrong):
        return ""
    topic = int(wrong[0])
    return f"topic {topic} has {len(instance.subscribers(topic))} subscribers and {common[topic]} edges among them"


def _greedy(bench: Bench) -> Iterable[Finding]:
    """P1 §6.1: each edge is of maximum contribution, merges components, and all merges are Σ|T_v| − |T|."""
    wrong, tried = {"maximum": list[str](), "merges": list[str](), "start": list[str]()}, 0
    for name, instance in assorted(bench.quick):
        if instance.num_nodes > _MOST_TRACED or instance.num_topics > 200:
            continue
        for ties in TIES:
            tried += 1
            trace = bench.run("gm", instance, ties=ties, seed=tried, trace=True).trace
            gains = [step.gain for step in trace] if trace else [0.0]
            common = int(_common(instance).max())
            if any(after > before for before, after in pairwise(gains)):
                wrong["maximum"].append(f"{name}, ties {ties}")
            if min(gains) < 1 or sum(gains) != instance.num_subscriptions - instance.num_topics:
                wrong["merges"].append(f"{name}, ties {ties}")
            if gains[0] != common:
                wrong["start"].append(f"{name}, ties {ties}")
    scope = assorted_scope(bench.quick, _MOST_TRACED)
    for key, subject, text in (
        ("maximum", "contributions never rise", "The contributions of the edges in order never rise"),
        ("merges", "every edge merges components", "Each edge merges components, Σ|T_v| − |T| in all"),
        ("start", "first contribution", "The first edge contributes the most topics that two nodes have in common"),
    ):
        bad = wrong[key]
        evidence = f"{text}: in {tried - len(bad)} of {tried} traced runs." + (f" Not on {bad[0]}." if bad else "")
        yield Finding(subject, verdict_of(not bad), evidence, tried, scope=scope)


def _common(instance: TopicInstance) -> npt.NDArray[np.int64]:
    """|T_v ∩ T_w| of all pairs v ≠ w, a dense matrix."""
    wants = np.zeros((instance.num_nodes, instance.num_topics), int)
    wants[np.repeat(np.arange(instance.num_nodes), np.diff(instance.node_offsets)), instance.node_topics] = 1
    common: npt.NDArray[np.int64] = wants @ wants.T
    np.fill_diagonal(common, 0)
    return common


def solved_instances(quick: bool, family: str) -> Experiment:
    """At least 200 random instances of P1's three laws, small enough to be solved or nearly so: up to 60 nodes."""
    shapes = [(20, 15, 5, 35), (30, 15, 5, 35)]
    if not quick:
        shapes = [(20, 15, 5, 35), (30, 15, 5, 35), (40, 15, 5, 20), (60, 15, 5, 10), (60, 20, 3, 10)]
    recipes = tuple(
        recipe
        for law in LAWS
        for n, t, s, seeds in shapes
        for recipe in grid(family, law, seeds, nodes=n, topics=t, subscriptions=s)
    )
    return Experiment(recipes, (runs("min-tco", "branch-and-cut", time_limit=20.0), *every_tie()))


def _ratio(bench: Bench) -> Iterable[Finding]:
    exact = bench.rows[bench.rows["method"] == "branch-and-cut"].set_index("instance")
    proven, bound_of = int((exact["status"] == Status.OPTIMAL).sum()), exact["lower_bound"].astype(float)
    mine = with_ties(bench.rows[bench.rows["method"] == "gm"])
    mine = mine.assign(ratio=mine["value"].astype(float) / mine["instance"].map(bound_of))
    sizes = _sizes(mine)
    bounds = {
        "ln Σ|T_v|": (np.log(sizes["start"]), "log is the natural logarithm, as in the proof"),
        "log₂ Σ|T_v|": (np.log2(sizes["start"]), "log is to base 2"),
        "ln(Σ|T_v| − |T|)": (np.log(sizes["start"] - sizes["end"]), "the sharper bound in the proof, k ln(C_s − C_e)"),
        "H(max|T_v ∩ T_w|)": (sizes["harmonic"], "Wolsey's theorem, which P1 does not name: it proves the others"),
    }
    scope = scope_of(mine)
    worst = mine.loc[mine["ratio"].idxmax()]
    means = [
        mean_of(f"GM ÷ optimum, |V| = {n}, ties {rule}", own.groupby("instance")["ratio"].mean())
        for (rule, n), own in mine.groupby(["ties", "nodes"])
    ]
    for name, (bound, reading) in bounds.items():
        by_rule = {
            rule: verdict_of(bool((own["ratio"] <= bound[own.index]).all())) for rule, own in mine.groupby("ties")
        }
        verdict, differ = over_ties(by_rule)
        share = float((mine["ratio"] / bound).max())
        text = (
            f"GM ÷ optimum on {len(exact)} instances, {proven} proven, of the others ÷ the proven lower bound: at most "
            f"{worst['ratio']:.3f} ({worst['recipe']}, ties {worst['ties']}). Largest share of the bound {name}: "
            f"{share:.3f}, the constant that suffices.{differ}"
        )
        said = replace(scope, reading=reading)
        found = open_if_fewer(verdict, text, f"GM ≤ {name}", proven, _SOLVED)
        yield replace(found, scope=said, intervals=tuple(means))
    yield from _smallest(bench)


def _sizes(mine: pd.DataFrame) -> pd.DataFrame:
    """Of each row: C_s = Σ|T_v|, C_e = |T|, and the harmonic number of the largest first contribution."""
    made = {recipe: Recipe.from_json(recipe).make() for recipe in mine["recipe"].unique()}
    harmonic = {}
    for recipe, instance in made.items():
        harmonic[recipe] = float((1 / np.arange(1, _common(instance).max() + 1)).sum())
    return pd.DataFrame(
        {
            "start": [made[recipe].num_subscriptions for recipe in mine["recipe"]],
            "end": [made[recipe].num_topics for recipe in mine["recipe"]],
            "harmonic": [harmonic[recipe] for recipe in mine["recipe"]],
        },
        mine.index,
    )


def _smallest(bench: Bench) -> Iterable[Finding]:
    """The bounds on the smallest instances, where a logarithm is below 1 and no ratio can be."""
    for nodes, name in ((2, "ln Σ|T_v|"), (3, "ln(Σ|T_v| − |T|)")):
        instance = TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(nodes)})
        built, least = (bench.value(method, instance, "min-tco") for method in ("gm", "branch-and-cut"))
        start = instance.num_subscriptions - (0 if nodes == 2 else 1)
        held = built <= np.log(start) * least
        text = (
            f"{nodes} nodes, one topic of both." if nodes == 2 else f"{nodes} nodes, one topic of all."
        ) + f" GM and the optimum have {built:g} edges, and ln {start} = {np.log(start):.2f} < 1."
        reading = f"the bound {name} on every instance"
        reading += "; Wolsey's bound shows that it fails only on such tiny ones" if nodes == 2 else ""
        scope = Scope({"|V|": (nodes,), "|T|": (1,)}, samples=1, ties=("all equal",), reading=reading)
        yield Finding(f"{name} on {nodes} nodes", verdict_of(held), text, 2, scope=scope)


def cuboid(bench: Bench, sizes: Sequence[tuple[int, int]] = CUBOIDS) -> Iterable[Finding]:
    """P1, Lemma 6.6, at these sizes (k, m)."""
    instances = {(k, m): greedy_merge_cuboid(k=k, m=m) for k, m in sizes}
    scope = Scope({"k": tuple(sorted({k for k, _ in sizes})), "m": tuple(sorted({m for _, m in sizes}))},
                  samples=1, points=len(sizes))  # fmt: skip
    cases = [
        Case(f"k={k} m={m}", instances[k, m], 2 * k + k * m, exhaustive=k + m <= (7 if bench.quick else 9))
        for k, m in sizes
    ]
    found = count_finding(bench, "GM", "gm", "min-tco", cases, "GM builds 2k + km edges")
    yield replace(found, scope=replace(scope, ties=(*TIES, "best", "worst"), seeds=100))
    wrong = []
    for (k, m), instance in instances.items():
        result = bench.run("branch-and-cut", instance, "min-tco")
        if result.status is not Status.OPTIMAL or result.value != 2 * m + 2 * k:
            wrong.append(f"k={k} m={m}: {result.status}, {result.value}")
    verdict = verdict_of(not wrong)
    evidence = f"2m + 2k edges proven optimal for {len(sizes) - len(wrong)} of {len(sizes)} (k, m). " + "; ".join(wrong)
    yield Finding("optimum", verdict, evidence.strip(), len(sizes), scope=scope)
    yield from _order(bench, instances, replace(scope, ties=TIES))
    yield _growth(bench, {k: instances[k, k] if (k, k) in instances else greedy_merge_cuboid(k=k, m=k)
                          for k in range(3, max(k for k, _ in sizes) + 1)})  # fmt: skip


def _order(bench: Bench, instances: dict[tuple[int, int], TopicInstance], scope: Scope) -> Iterable[Finding]:
    """The proof's order: Sk_k is linked to both Stwo first, and all Sk to both Stwo within the first 2k edges."""
    wrong = {place: {rule: list[str]() for rule in TIES} for place in ("first two edges", "first 2k edges")}
    for (k, m), instance in instances.items():
        for rule in TIES:
            trace = bench.run("gm", instance, ties=rule, seed=1, trace=True).trace
            named = [{instance.node_label(v) for v in edge} for step in trace or () for edge in step.edges]
            for place, least in zip(wrong, (k, 1), strict=True):
                expected = [{f"Stwo{p}", f"Sk{i}"} for i in range(least, k + 1) for p in (1, 2)]
                if not all(edge in named[: len(expected)] for edge in expected):
                    wrong[place][rule].append(f"k={k} m={m}")
    for place, by_rule in wrong.items():
        verdict, differ = over_ties({rule: verdict_of(not names) for rule, names in by_rule.items()})
        text = "Traced runs in which they are those of the proof: " + ", ".join(
            f"ties {rule} {len(instances) - len(names)} of {len(instances)}" for rule, names in by_rule.items()
        )  # fmt: skip
        text += f". An edge (Stwo, Sk_1) contributes m, an edge (Sk_k, Sm) 2^k; the count is the same.{differ}"
        yield Finding(f"order of the {place}", verdict, text, 3 * len(instances), scope=scope)


def _growth(bench: Bench, square: dict[int, TopicInstance]) -> Finding:
    """The ratio at k = m is (2 + k)/4, and log₂|T| = 1 + log₂(2^k − 1) + log₂ k."""
    ratios, wrong = {}, []
    for k, instance in square.items():
        values = {bench.value("gm", instance, "min-tco", ties=ties, seed=1) for ties in TIES}
        ratios[k] = max(values) / (4 * k)
        if values != {k * k + 2 * k}:
            wrong.append(f"k = m = {k}")
    shares = [ratio / np.log2(square[k].num_topics) for k, ratio in ratios.items()]
    shown = [", ".join(f"{number:.3f}" for number in numbers) for numbers in (ratios.values(), shares)]
    text = (
        f"GM ÷ optimum at k = m = {min(square)} … {max(square)}: {shown[0]}, (2 + k)/4 in all but {len(wrong)}; "
        f"÷ log₂|T|: {shown[1]}. |T| is 2(2^k − 1)k and not O(2^k), but log₂|T| ≤ 2k + 1, so that the ratio is at "
        "least log₂|T|/8."
    )
    held = not wrong and all(share >= 1 / 8 for share in shares)
    scope = Scope(
        {"k": tuple(square)}, samples=1, points=len(square), ties=TIES, reading="the ratio grows like log |T|"
    )
    return Finding("ratio (2 + k)/4 at k = m", verdict_of(held), text, 3 * len(square), scope=scope)


def _further_runs(bench: Bench) -> Iterable[Finding]:
    seeds = 5 if bench.quick else 20
    instances = [
        WORKLOADS[law].generate(nodes=100, topics=20, subscriptions=4, seed=seed)
        for law in LAWS
        for seed in range(seeds)
    ]
    values = {
        (ties, count): np.array([_mean_figures(bench, instance, ties, count) for instance in instances])
        for ties in TIES
        for count in (1, 2, 3)
    }
    scope = Scope({"law": LAWS, "|V|": (100,), "|T|": (20,), "|T_v|": (4,), "runs": (1, 2, 3)},
                  samples=seeds, points=len(LAWS), ties=TIES)  # fmt: skip
    for column, subject, better in ((0, "connectivity", 1), (1, "diameter", -1)):
        means = {key: float(value[:, column].mean()) for key, value in values.items()}
        by_rule, intervals = dict[str, Verdict](), list[Interval]()
        for ties in TIES:
            each = [
                mean_of(
                    f"{subject} after {count + 1} runs less after {count}, ties {ties}",
                    (values[ties, count + 1] - values[ties, count])[:, column],
                    together=6,
                )
                for count in (1, 2)
            ]
            turned = [replace(one, low=-one.high, high=-one.low) if better < 0 and one.low is not None and
                      one.high is not None else one for one in each]  # fmt: skip
            by_rule[ties] = all_of(at_least(one, np.nextafter(0, 1)) for one in turned)
            intervals += each
        verdict, differ = over_ties(by_rule)
        shown = "; ".join(f"ties {ties} " + ", ".join(f"{means[ties, c]:.2f}" for c in (1, 2, 3)) for ties in TIES)
        evidence = f"Mean {'edge connectivity' if column == 0 else 'diameter'} of a topic after 1, 2, 3 runs: {shown}."
        yield Finding(subject, verdict, evidence + differ, 9 * len(instances), scope=scope, intervals=tuple(intervals))


def _mean_figures(bench: Bench, instance: TopicInstance, ties: str, count: int) -> tuple[float, float]:
    """The means over the topics of an instance of edge connectivity and diameter after some runs."""
    overlay = bench.run("gm", instance, runs=count, ties=ties, seed=count).answer
    assert overlay is not None
    connectivity, diameter = np.array(list(_topic_figures(instance, overlay))).T
    return float(connectivity.mean()), float(diameter.mean())


def _topic_figures(instance: TopicInstance, overlay: Overlay) -> Iterator[tuple[float, float]]:
    """The edge connectivity and the diameter of every G_t."""
    graph = overlay.to_networkx()
    for topic in range(instance.num_topics):
        inside = graph.subgraph(instance.subscribers(topic).tolist())
        if len(inside) > 1:
            yield (
                nx.edge_connectivity(inside),
                float(shortest_path(nx.to_scipy_sparse_array(inside), unweighted=True).max()),
            )


CLAIMS_P1: tuple[Claim, ...] = (
    Claim("P1.L6.1", "GM's overlay is topic-connected", "P1 Lemma 6.1", _connected),
    Claim("P1.L6.2", "GM adds at most min(V², Σ|V_t|) edges", "P1 Lemma 6.2, Corollary 6.3", _edge_count),
    Claim("P1.S6.1", "every edge of GM contributes most and merges at least two components", "P1 §6.1", _greedy),
    Claim(
        "P1.L6.5",
        "GM ≤ log(Σ|T_v|) × optimum",
        "P1 Lemma 6.5",
        _ratio,
        lambda quick: solved_instances(quick, "P1.L6.5"),
    ),
    Claim("P1.L6.6", "GM builds 2k + km edges where 2m + 2k suffice and are optimal", "P1 Lemma 6.6", cuboid),
    Claim("P1.S6.4", "further GM runs raise connectivity and lower topic diameter", "P1 §6.4", _further_runs),
)
NOT_RUN_P1: tuple[NotRun, ...] = (
    NotRun(
        "P1.I.6",
        "interests are correlated in common applications (RSS feeds, stock-market monitors)",
        "P1 §1",
        "a statement on traffic that other papers measured; their data are not at hand",
    ),
    NotRun(
        "P1.S2.1",
        "a simple distributed heuristic of another paper has an average degree far below twice the subscription size",
        "P1 §2",
        "a result of the paper on SpiderCast; its protocol is not given here",
    ),
    NotRun(
        "P1.S2.2",
        "systems that do not require topic-connectivity can have smaller degrees, at a cost that they do not state",
        "P1 §2",
        "a judgement of other systems, without a measure; §9 leaves the tradeoff to future work",
    ),
    NotRun(
        "P1.S5.1",
        "topic-connectivity is verified in polynomial time, so that TCO is in NP",
        "P1 §5",
        "a statement on growth without a bound; the problem's check takes O(Σ_e |T_v ∩ T_w| + Σ|T_v|) on every answer",
    ),
    NotRun(
        "P1.S6.4.2",
        "a distributed GM gives the same overlay if every node knows all interests",
        "P1 §6.4",
        "no protocol is given; with one rule for ties the answer is a function of the instance, which tests keep",
    ),
    NotRun(
        "P1.S7.1",
        "no polynomial algorithm has a constant ratio unless P = NP, so that GM is almost tight",
        "P1 Lemma 7.1, §7",
        "a statement on all algorithms; the construction of its proof is run as P1.L7.1",
    ),
    NotRun(
        "P1.S9.1",
        "the decision problem Filtering is NP-hard",
        "P1 §9",
        "its proof is in the full version of the paper, which is not at hand; no construction is given",
    ),
    NotRun(
        "P1.S9.2",
        "Diameter and the framework SOC express the tradeoffs of other overlay problems",
        "P1 §9",
        "definitions without a result",
    ),
)
