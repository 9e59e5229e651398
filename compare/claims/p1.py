"""The lemmas of Chockler et al. (P1) as checks; :mod:`.p1_figures` has the figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import networkx as nx
import numpy as np
from scipy.sparse.csgraph import shortest_path

from ...instances.catalogue import WORKLOADS
from ...instances.overlay import Overlay
from ...instances.result import Result, Status
from ...instances.topics.constructions import greedy_merge_cuboid
from ...instances.topics.instance import TopicInstance
from ...instances.topics.set_cover import (
    duplicated_instance,
    random_set_cover,
    repeated_instance,
    single_node_instance,
)
from ...models.topics.minimum_set_cover import minimum_set_cover
from ...models.topics.single_node_tco import smallest_degree_of
from ..papers.bench import LAWS, Bench, Experiment, grid, runs
from .claim import Claim, Finding, open_if_fewer, verdict_of
from .properties import invalid, optima, property_finding
from .ties import Case, count_finding

_SOLVED = 70
CUBOIDS = tuple((k, m) for k in range(2, 7) for m in range(3, 7))


def _connected(bench: Bench) -> Iterable[Finding]:
    yield property_finding(bench, "GM", "gm", invalid, "Every topic has one component")


def _edge_count(bench: Bench) -> Iterable[Finding]:
    largest = 0.0

    def violation(instance: TopicInstance, result: Result[Overlay]) -> str:
        nonlocal largest
        edges = result.measures["edges"]
        allowed = min(instance.num_nodes**2, instance.num_subscriptions)
        largest = max(largest, edges / allowed)
        return "" if edges <= allowed else f"{edges:g} edges, {allowed} allowed"

    found = property_finding(bench, "GM", "gm", violation, "At most min(V², Σ|V_t|) edges, constant 1")
    yield replace(found, evidence=f"{found.evidence} Largest share of the bound: {largest:.3f}.")


def solved_instances(quick: bool, family: str, *, nodes: tuple[int, ...] = (20, 30)) -> Experiment:
    """At least 200 random instances of P1's three laws, small enough to be solved to optimality."""
    per_law = _SOLVED // len(nodes) * (1 if quick else 4)
    recipes = tuple(
        recipe
        for law in LAWS
        for n in nodes
        for recipe in grid(family, law, per_law, nodes=n, topics=15, subscriptions=5)
    )
    return Experiment(recipes, (runs("min-tco", "branch-and-cut", "gm", ("gm", {"ties": "highest"})),))


def _ratio(bench: Bench) -> Iterable[Finding]:
    optimum = optima(bench, "min-tco")
    mine = bench.rows[(bench.rows["method"] == "gm") & bench.rows["instance"].isin(list(optimum))]
    ratio = mine["value"].to_numpy(float) / np.array([optimum[digest] for digest in mine["instance"]])
    bound = np.log(mine["subscriptions"].to_numpy(float))
    worst = int(np.argmax(ratio))
    evidence = (
        f"GM ÷ proven optimum on {len(optimum)} instances: at most {ratio[worst]:.3f} "
        f"({mine['recipe'].iloc[worst]}), mean {ratio.mean():.3f}; the bound ln Σ|T_v| there is {bound[worst]:.2f}. "
        f"Largest share of the bound: {(ratio / bound).max():.3f}, which is the constant that suffices."
    )
    verdict = verdict_of(bool((ratio <= bound).all()))
    yield open_if_fewer(verdict, evidence, "GM", len(optimum), 200)


def cuboid(bench: Bench, sizes: Sequence[tuple[int, int]] = CUBOIDS) -> Iterable[Finding]:
    """P1, Lemma 6.6, at these sizes (k, m)."""
    instances = {(k, m): greedy_merge_cuboid(k=k, m=m) for k, m in sizes}
    cases = [
        Case(f"k={k} m={m}", instances[k, m], 2 * k + k * m, exhaustive=k + m <= (7 if bench.quick else 9))
        for k, m in sizes
    ]
    yield count_finding(bench, "GM", "gm", "min-tco", cases, "GM builds 2k + km edges")
    wrong, first = [], []
    for (k, m), instance in instances.items():
        result = bench.run("branch-and-cut", instance, "min-tco")
        if result.status is not Status.OPTIMAL or result.value != 2 * m + 2 * k:
            wrong.append(f"k={k} m={m}: {result.status}, {result.value}")
        if m < 2**k:
            first.append((k, m))
    verdict = verdict_of(not wrong)
    evidence = f"2m + 2k edges proven optimal for {len(sizes) - len(wrong)} of {len(sizes)} (k, m). " + "; ".join(wrong)
    yield Finding("optimum", verdict, evidence.strip(), len(sizes))
    order = (
        f"An edge (Stwo, Sk_1) contributes m, an edge (Sk_k, Sm) 2^k: the latter is more in {len(first)} of "
        f"{len(sizes)} (k, m), so the first 2k edges are not those of the proof. The count does not depend on it."
    )
    yield Finding("order of the first 2k edges", verdict_of(not first), order, len(sizes))


def _single_node(bench: Bench) -> Iterable[Finding]:
    wrong, number = [], 40 if bench.quick else 200
    for seed in range(number):
        cover = random_set_cover(4 + seed % 6, 3 + seed % 5, 0.3, seed)
        degree, _ = smallest_degree_of(single_node_instance(cover), len(cover.sets))
        if degree != len(minimum_set_cover(cover)):
            wrong.append(f"seed {seed}: degree {degree}, cover {len(minimum_set_cover(cover))}")
    evidence = f"Smallest degree of v = smallest cover for {number - len(wrong)} of {number} random set covers, each "
    evidence += "solved both ways (all neighbourhoods of v; CP-SAT). " + "; ".join(wrong[:3])
    yield Finding("SN-TCO", verdict_of(not wrong), evidence.strip(), number)


def _duplicated(bench: Bench) -> Iterable[Finding]:
    degrees, edges, number = [], [], 20 if bench.quick else 100
    above_three = 0
    for seed in range(number):
        cover = random_set_cover(5 + seed % 4, 3 + seed % 3, 0.3 if seed % 2 else 0.1, seed)
        single = single_node_instance(cover)
        degree, _ = smallest_degree_of(single, len(cover.sets))
        above_three += degree > 3
        instance = duplicated_instance(single, len(cover.sets))
        smallest = bench.run("branch-and-cut", instance, "minmax-tco")
        fewest = bench.run("branch-and-cut", instance, "min-tco")
        if smallest.status is not Status.OPTIMAL or max(3, degree) != max(3, int(smallest.value or 0)):
            degrees.append(f"seed {seed}: v needs {degree}, the smallest maximum degree is {smallest.value}")
        if fewest.value is not None and fewest.value > max(3, degree):
            edges.append(f"seed {seed}: v needs {degree}, yet {fewest.value:g} edges are needed")
    evidence = (
        f"For every d ≥ 3: SN-TCO(d) exactly if the duplicated instance has maximum degree ≤ d, in "
        f"{number - len(degrees)} of {number} instances solved both ways ({above_three} of them need d > 3). "
    ) + "; ".join(degrees[:3])
    yield Finding("reduction to maximum degree", verdict_of(not degrees), evidence.strip(), number)
    evidence = (
        f"Definition 4.2 bounds the number of edges, and with d' = d the answers differ in {len(edges)} of {number} "
        f"instances: the proof bounds every degree instead. {edges[0] if edges else ''}"
    )
    verdict = verdict_of(not edges)
    yield Finding("reduction to TCO as defined (|E| ≤ k)", verdict, evidence.strip(), number)


def _repeated(bench: Bench) -> Iterable[Finding]:
    number = 15 if bench.quick else 60
    no_cover, too_large, no_overlay, checked = [], [], [], 0
    for seed in range(number):
        cover = random_set_cover(4 + seed % 4, 3 + seed % 3, 0.35, seed)
        sets = len(cover.sets)
        copies = sets**2
        instance = repeated_instance(cover, copies)
        for method, options in (
            ("gm", {"ties": "random"}),
            ("gm-m", {}),
            ("branch-and-cut", {}),
            ("ring-per-topic", {}),
        ):
            overlay = bench.run(method, instance, seed=seed, **options).answer
            if overlay is None:
                continue
            checked += 1
            chosen = [[u for u, v in overlay.edges.tolist() if v == sets + i and u < sets] for i in range(copies)]
            if not all(cover.covered_by(one) for one in chosen):
                no_cover.append(f"seed {seed} {method}")
            if min(map(len, chosen)) > overlay.num_edges / copies:
                too_large.append(f"seed {seed} {method}")
        best = minimum_set_cover(cover)
        links = [(s, sets + i) for s in best for i in range(copies)]
        links += [(s, other) for s in range(sets) for other in range(s)]
        built = Overlay.from_edges(instance.num_nodes, links)
        if not (built.topic_components(instance) == 1).all() or built.num_edges > len(best) * copies + sets**2:
            no_overlay.append(f"seed {seed}")
    for subject, wrong, statement in (
        ("m set covers", no_cover, f"The neighbours of each vm_i are a set cover in {checked} overlays (m = |S|²)"),
        ("one of size ≤ |E|/m", too_large, f"The smallest of them has at most |E|/m sets in {checked} overlays"),
        ("upper bound", no_overlay, f"|S_opt|·m + |S|² links suffice in {number} instances, S_opt proven"),
    ):
        verdict = verdict_of(not wrong)
        count = number if subject == "upper bound" else checked
        yield Finding(subject, verdict, statement + (f"; not in {', '.join(wrong[:3])}." if wrong else "."), count)


def _further_runs(bench: Bench) -> Iterable[Finding]:
    instances = [
        WORKLOADS[law].generate(nodes=100, topics=20, subscriptions=4, seed=seed)
        for law in LAWS
        for seed in range(3 if bench.quick else 10)
    ]
    means = []
    for count in (1, 2, 3):
        of_topics = [
            figure
            for instance in instances
            if (overlay := bench.run("gm", instance, runs=count, ties="random").answer) is not None
            for figure in _topic_figures(instance, overlay)
        ]
        connectivity, diameter = np.array(of_topics).T
        means.append((float(connectivity.mean()), float(diameter.mean())))
    shown = "; ".join(f"{runs}: {c:.2f}, {d:.2f}" for runs, (c, d) in enumerate(means, start=1))
    for column, subject, better in ((0, "connectivity", 1), (1, "diameter", -1)):
        series = [mean[column] for mean in means]
        held = all(better * (after - before) > 0 for before, after in pairwise(series))
        evidence = f"Mean edge connectivity and mean diameter of the topics after 1, 2, 3 runs: {shown}."
        yield Finding(subject, verdict_of(held), evidence, 3 * len(instances))


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
    Claim(
        "P1.L6.5",
        "GM ≤ ln(Σ|T_v|) × optimum",
        "P1 Lemma 6.5",
        _ratio,
        lambda quick: solved_instances(quick, "P1.L6.5"),
    ),
    Claim("P1.L6.6", "GM builds 2k + km edges where 2m + 2k suffice and are optimal", "P1 Lemma 6.6", cuboid),
    Claim("P1.L5.2", "SN-TCO ⇔ set cover", "P1 Lemma 5.2", _single_node),
    Claim("P1.L5.1", "SN-TCO ≤p TCO", "P1 Lemma 5.1", _duplicated),
    Claim("P1.L7.1", "an overlay holds m set covers, one of size ≤ |E|/m", "P1 Lemma 7.1", _repeated),
    Claim("P1.S6.4", "further GM runs raise connectivity and lower topic diameter", "P1 §6.4", _further_runs),
)
