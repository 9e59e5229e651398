"""What Onus and Richa (P2) say of the single steps of Low-ODA and MinMax-ODA, from traces of runs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, pairwise, product
from typing import Any, TypeAlias

import networkx as nx
import numpy as np
import pandas as pd

from ...instances.topics.constructions import minmax_oda_matchings
from ...instances.topics.instance import TopicInstance
from ..papers.bench import LAWS, Bench, grid
from ..papers.grids import GRIDS
from ..papers.grids import SIZES as CLAIMED
from .claim import Claim, Finding, Scope, Verdict, verdict_of
from .evidence import at_most, mean_of, over_ties
from .p2_families import chain
from .p2_figures import with_k
from .p2_points import Comparison, at_points, by_method, finding_on
from .properties import TIES

Edge = tuple[int, int]
Graph: TypeAlias = "nx.Graph[int]"
_NODES, _TOPICS, _SUBSCRIPTIONS = 8, 10, 3
_FACTORS = (1.0, 2.0, 3.0, 4.0, 8.0)


def small_instances(quick: bool) -> dict[str, TopicInstance]:
    """Random instances of 8 nodes by workload and seed: two or ten a law."""
    shape = {"nodes": _NODES, "topics": _TOPICS, "subscriptions": _SUBSCRIPTIONS}
    return {
        f"{law} {shape} seed {recipe.seed}": recipe.make()
        for law in LAWS
        for recipe in grid("small", law, 2 if quick else 10, **shape)
    }


def _small_scope(bench: Bench, **more: tuple[float | str, ...]) -> Scope:
    sizes: dict[str, tuple[float | str, ...]] = {
        "|V|": (_NODES,),
        "|T|": (_TOPICS,),
        "|T_v|": (_SUBSCRIPTIONS,),
        "law": LAWS,
    }
    return Scope({**sizes, **more}, samples=2 if bench.quick else 10, points=3, ties=TIES)


def steps_of(bench: Bench, method: str, instance: TopicInstance, **options: Any) -> Iterator[list[Edge]]:
    """The edges of a method in the order in which it adds them, under each rule for ties."""
    for ties in TIES:
        result = bench.run(method, instance, ties=ties, trace=True, **options)
        if result.trace is not None:
            yield [(u, v) for step in result.trace.steps for u, v in step.edges]


class Components:
    """The components of every topic of a partial overlay."""

    def __init__(self, instance: TopicInstance, edges: Iterable[Edge] = ()) -> None:
        self._topics = [set(instance.topics_of(v).tolist()) for v in range(instance.num_nodes)]
        self._label = {(v, t): v for v, topics in enumerate(self._topics) for t in topics}
        for edge in edges:
            self.add(edge)

    def contribution(self, edge: Edge) -> int:
        """The topics of which an edge joins two components."""
        u, v = edge
        return sum(self._label[u, t] != self._label[v, t] for t in self._topics[u] & self._topics[v])

    def add(self, edge: Edge) -> int:
        """Add an edge; returns its contribution."""
        gain, (u, v) = self.contribution(edge), edge
        for t in self._topics[u] & self._topics[v]:
            old, new = self._label[v, t], self._label[u, t]
            for w in range(len(self._topics)):
                if self._label.get((w, t)) == old:
                    self._label[w, t] = new
        return gain


def blocks_of(edges: Sequence[Edge], nodes: int, height: int) -> list[list[Edge]]:
    """Lemma 4's sets R_i: the edges added while the maximum degree is above (i − 1)·height and at most i·height."""
    degrees, found = np.zeros(nodes, int), dict[int, list[Edge]]()
    for edge in edges:
        degrees[list(edge)] += 1
        found.setdefault((int(degrees.max()) - 1) // height, []).append(edge)
    return [found[number] for number in sorted(found)]


def best_matching(instance: TopicInstance, before: Sequence[Edge]) -> tuple[int, bool]:
    """The most components that a matching joins beyond `before`, and whether this is exact or an upper bound.

    The upper bound is the maximum weight of a matching by the edges' single contributions.
    """
    start = Components(instance, before)
    graph: Graph = nx.Graph()
    for edge in combinations(range(instance.num_nodes), 2):
        if weight := start.contribution(edge):
            graph.add_edge(*edge, weight=weight)
    matching = nx.max_weight_matching(graph)
    bound = sum(graph.edges[edge]["weight"] for edge in matching)
    grown = Components(instance, before)
    return bound, sum(grown.add((min(e), max(e))) for e in sorted(matching)) == bound


def _third(bench: Bench) -> Iterable[Finding]:
    """Lemma 4: each R_i joins at least a third of the components that any matching joins."""
    for subject, up in (("h = ⌈n/2k⌉ + 1", True), ("h = ⌊n/2k⌋ + 1", False)):
        least, blocks, below = math.inf, 0, {True: 0, False: 0}
        for instance in small_instances(bench.quick).values():
            for k in _FACTORS:
                part = instance.num_nodes / (2 * k)
                height = (math.ceil(part) if up else math.floor(part)) + 1
                for edges in steps_of(bench, "low-oda", instance, k=k):
                    before: list[Edge] = []
                    for block in blocks_of(edges, instance.num_nodes, height):
                        most, exact = best_matching(instance, before)
                        grown = Components(instance, before)
                        joined = sum(grown.add(edge) for edge in block)
                        before += block
                        blocks += 1
                        least = min(least, joined / most if most else math.inf)
                        below[exact] += 3 * joined < most
        text = (
            f"{blocks} sets R_i, k = 1, 2, 3, 4 and 8: each joins at least {least:.3f} of what any matching joins, by "
            "the maximum weight of a matching, an upper bound."
        )
        verdict = verdict_of(blocks > 0 and not below[True])
        verdict = Verdict.OPEN if verdict is Verdict.HOLDS and below[False] else verdict
        scope = _small_scope(bench, k=_FACTORS)
        yield Finding(f"Low-ODA, {subject}", verdict, text, blocks, scope=replace(scope, reading=subject))


def _perfect_matchings(bench: Bench) -> Iterable[Finding]:
    """§3: the first n/2 edges of MinMax-ODA are a perfect matching, the next n/2 as well, and so on."""
    sizes = (4, 6, 8)
    lemma = {f"Lemma 1's instance of {n} nodes": minmax_oda_matchings(n=n) for n in sizes}
    of_lemma = Scope({"n": sizes}, samples=1, points=len(sizes), ties=TIES, reading="Lemma 1's instances")
    random = replace(_small_scope(bench), reading="random instances")
    parts = (("the first n/2 edges", slice(0, 1)), ("every further n/2 edges", slice(1, None)))
    every = ((small_instances(bench.quick), random, ""), (lemma, of_lemma, ", Lemma 1's instances"))
    for (subject, of), (instances, scope, suffix) in product(parts, every):
        whole, broken = 0, ""
        for name, instance in instances.items():
            half = instance.num_nodes // 2
            for edges in steps_of(bench, "minmax-oda", instance):
                groups = [edges[i : i + half] for i in range(0, len(edges) - half + 1, half)][of]
                for group in groups:
                    ends = [v for edge in group for v in edge]
                    whole += 1
                    if len(set(ends)) < len(ends) and not broken:
                        broken = f" On {name} a node is twice in {[(u + 1, v + 1) for u, v in group]}."
        text = f"{whole} groups of n/2 consecutive edges, each a perfect matching: {'no' if broken else 'yes'}.{broken}"
        yield Finding(f"{subject}{suffix}", verdict_of(whole > 0 and not broken), text, whole, scope=scope)


def _matchings_of_optima(bench: Bench) -> Iterable[Finding]:
    """Lemma 3: a graph of maximum degree d is the union of d + 1 matchings."""
    graphs = [graph for graph in nx.graph_atlas_g() if 2 <= len(graph) <= (5 if bench.quick else 7)]
    shown = f"All {len(graphs)} graphs of 2 to {max(map(len, graphs))} nodes, up to isomorphism"
    graphs = [graph for graph in graphs if graph.number_of_edges()]
    scope = Scope({"|V|": tuple(sorted({len(g) for g in graphs}))}, samples=1, points=len(graphs))
    for subject, more in (("d + 1 matchings", 1), ("d matchings", 0)):
        wrong = [graph for graph in graphs if not partitioned(graph, largest_degree(graph) + more)]
        text = f"{shown}: {len(graphs) - len(wrong)} of the {len(graphs)} with edges are such a union."
        if more:
            yield Finding(subject, verdict_of(not wrong), text, len(graphs), scope=scope)
        else:
            text += " So the 1 is needed."
            yield Finding("the 1 is needed", verdict_of(bool(wrong)), text, len(graphs), scope=scope)


def largest_degree(graph: Graph) -> int:
    """The maximum degree."""
    return max(degree for _, degree in graph.degree)


def partitioned(graph: Graph, count: int) -> bool:
    """Whether the edges are the union of `count` matchings, by exhaustive search; exponential."""
    edges = sorted(map(tuple, graph.edges), key=lambda edge: -graph.degree[edge[0]] - graph.degree[edge[1]])
    used: dict[int, set[int]] = {v: set() for v in graph}

    def colour(rank: int, opened: int) -> bool:
        if rank == len(edges):
            return True
        u, v = edges[rank]
        for c in range(min(opened + 1, count)):  # colours not used so far are equivalent
            if c not in used[u] and c not in used[v]:
                used[u].add(c)
                used[v].add(c)
                if colour(rank + 1, max(opened, c + 1)):
                    return True
                used[u].discard(c)
                used[v].discard(c)
        return False

    return colour(0, 0)


def share_compared(rows: pd.DataFrame) -> pd.Series:
    """The subscriptions that each run compared ÷ (|V|²|T|); NaN for a run that did not count them."""
    counted = [json.loads(text).get("counted", math.nan) for text in rows["counters"]]
    return pd.Series(counted, rows.index, float) / (rows["p_nodes"].astype(float) ** 2 * rows["p_topics"])


def _running_time(bench: Bench) -> Iterable[Finding]:
    """Lemma 2: O(|V|²|T|) steps, as our implementation counts them, and for Algorithm 1 as written."""
    rows = with_k(bench.rows)
    share = by_method(rows.assign(share=share_compared(rows)), "share", "line")["k=3"]
    found = at_points(share, "subscriptions compared ÷ (|V|²|T|)", partial(at_most, limit=1.0))
    literal, kept = _as_written(bench)
    text = (
        f"Subscriptions that Low-ODA compares ÷ (|V|²|T|), mean at a point {found.range}. An index "
        f"updates contributions less than |V|²|T|/2 times whatever the edges: {_listed(kept)}."
    )
    said = "subscriptions compared by our implementation, which keeps an index; the constant is 1"
    yield finding_on(rows, CLAIMED["P2.F1"], "at most |V|²|T|", found, text, reading=said)
    found = _exponents(share)
    text = f"Fitted exponents of |V| of the same share: {found.range}."
    said = "subscriptions compared by our implementation, which keeps an index; bounded: an exponent of at most 0.1"
    yield finding_on(rows, CLAIMED["P2.F1"], "the share does not grow with |V|", found, text, reading=said)
    sizes = tuple(literal)
    grows = all(after > before for before, after in pairwise(literal.values()))
    text = f"Evaluations of lines 17 to 19 of Algorithm 1 ÷ (|V|²|T|): {_listed(literal)}; they grow: {grows}."
    reading = (
        "every contribution is computed again after each edge, as Algorithm 1 is written; bounded: it does not grow"
    )
    scope = Scope({"|V|": sizes, "|T|": (10,), "|T_v|": (3,), "law": ("uniform",)}, samples=1, points=len(sizes),
                  ties=TIES, reading=reading)  # fmt: skip
    yield Finding("Algorithm 1 as written", verdict_of(not grows), text, 3 * len(sizes), scope=scope)


def _exponents(share: pd.Series) -> Comparison:
    """The exponent of |V| of each number of instance, by the rules for ties."""
    table = share.groupby([share.index.get_level_values(level) for level in ("ties", "p_nodes")])
    numbered = share.to_frame("share").assign(number=table.cumcount())
    wide = np.log(numbered.set_index("number", append=True)["share"]).groupby(["ties", "number", "p_nodes"]).mean()
    lines = wide.unstack().dropna()
    x = np.log(lines.columns.to_numpy(float))
    fitted = pd.Series([float(np.polyfit(x, row, 1)[0]) for row in lines.to_numpy()], lines.index)
    rules = list(fitted.groupby("ties"))
    intervals = {rule: mean_of(f"exponent of |V|, ties {rule}", own, together=len(rules)) for rule, own in rules}
    verdict, note = over_ties({rule: at_most(one, 0.1) for rule, one in intervals.items()})
    return Comparison(verdict, note, tuple(intervals.values()))


def _as_written(bench: Bench) -> tuple[dict[int, float], dict[int, float]]:
    """By |V|: the evaluations of lines 17 to 19 and all decreases of contributions, each ÷ (|V|²|T|)."""
    literal, kept = dict[int, float](), dict[int, float]()
    for n in (10, 20) if bench.quick else (10, 20, 40, 80):
        (recipe,) = grid("steps", "uniform", 1, nodes=n, topics=10, subscriptions=3)
        instance = recipe.make()
        pairs, changed, counted = list(combinations(range(n), 2)), [], []
        for edges in steps_of(bench, "low-oda", instance, k=3.0):
            empty, full = Components(instance), Components(instance, edges)
            changed.append(sum(empty.contribution(pair) - full.contribution(pair) for pair in pairs))
            counted.append(sum(len(pairs) - i for i in range(1, len(edges) + 1)))
        scale = n**2 * instance.num_topics
        literal[n], kept[n] = max(counted) / scale, max(changed) / scale
    return literal, kept


def _listed(values: dict[int, float]) -> str:
    return ", ".join(f"{value:.3f} at |V| = {n}" for n, value in values.items())


def _long_paths(bench: Bench) -> Iterable[Finding]:
    """§6.5: a topic's diameter may be Θ(n) under GM; §1: MinMax-ODA does not bound it either."""
    sizes = (8, 16) if bench.quick else (8, 16, 32, 64)
    for subject, method in (("GM, diameter Θ(n)", "gm"), ("MinMax-ODA, diameter not bounded", "minmax-oda")):
        least: dict[int, int] = {}
        for n in sizes:
            found = []
            for ties in TIES:
                answer = bench.run(method, chain(n), ties=ties).answer
                if answer is not None:
                    graph: Graph = nx.Graph(answer.edges.tolist())
                    found.append(nx.diameter(graph) if len(graph) == n and nx.is_connected(graph) else 0)
            least[n] = min(found, default=0)
        text = (
            "All nodes share topic z, neighbours on a path one more: smallest diameter of z over ties "
            f"{', '.join(f'{d} at n = {n}' for n, d in least.items())}."
        )
        linear = method == "gm"
        reading = "linear: at least n/2" if linear else "not bounded: the smallest diameter rises with every n"
        scope = Scope({"n": sizes}, samples=1, points=len(sizes), ties=TIES, reading=reading)
        rises = all(after > before for before, after in pairwise(least.values()))
        held = all(2 * d >= n for n, d in least.items()) if linear else rises
        yield Finding(subject, verdict_of(held), text, 3 * len(sizes), scope=scope)


CLAIMS_P2_STEPS: tuple[Claim, ...] = (
    Claim("P2.L2", "Low-ODA runs in O(|V|²|T|) time", "P2 Lemma 2", _running_time, GRIDS["P2.F1"]),
    Claim("P2.L3", "a graph of maximum degree d is the union of d + 1 matchings", "P2 Lemma 3", _matchings_of_optima),
    Claim("P2.L4", "each set R_i joins at least a third of what any matching joins", "P2 Lemma 4", _third),
    Claim(
        "P2.S3.1", "MinMax-ODA's edges are perfect matchings of n/2 edges each", "P2 §3, Lemma 1", _perfect_matchings
    ),
    Claim(
        "P2.S6.5.4",
        "a topic's diameter may be Θ(n) under GM, and MinMax-ODA does not bound it",
        "P2 §1, §6.5",
        _long_paths,
    ),
)
