"""What many checks do: a property on instances of every workload, and values under every way to break ties."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import networkx as nx
import numpy as np
import numpy.typing as npt

from ...instances.contract.catalogue import defined_in
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Result, Status
from ...instances.contract.workload import Workload
from ...instances.topics.instance import TopicInstance
from ..catalogue import problem_named
from .bench import TIES, Bench
from .claim import CaseTally, Judgement, Line, Verdict, exact

Labels = npt.NDArray[np.int64]
Graph: TypeAlias = "nx.Graph[int]"

_SEEDS = (10, 100)
_SEARCH_SECONDS = 20.0
_NEAR = 0.1


def assorted(quick: bool) -> Iterator[tuple[str, TopicInstance]]:
    """Instances of every topic workload and construction of the project that needs no data, with their names."""
    for workload in (
        each
        for each in defined_in("overlaybench.instances.topics", Workload)
        if each.kind == "topics" and not each.needs
    ):
        options = {option.name for option in workload.parameters}
        shapes: list[dict[str, int]] = [{}]
        if "nodes" in options:
            sizes = [
                {"nodes": nodes, "topics": topics, "least": 5, "most": 30} for nodes, topics in ((60, 30), (300, 100))
            ]
            shapes = [{name: size for name, size in each.items() if name in options} for each in sizes]
        for shape in shapes[:1] if quick else shapes:
            for seed in range(1 if quick else 10):
                yield f"{workload.name} {shape} seed {seed}", workload.generate(seed=seed, **shape)


def on_assorted(
    bench: Bench,
    method: str,
    violation: Callable[[TopicInstance, Result[Overlay]], str],
    problem: str = "min-tco",
    **options: Any,
) -> Judgement:
    """Run a method on assorted instances under every rule for ties; `violation` is "" where the claim holds."""
    tally = CaseTally()
    for name, instance in assorted(bench.quick):
        for ties in TIES:
            result = bench.run(method, instance, problem, ties=ties, seed=tally.n, **options)
            tally.add(not (wrong := violation(instance, result)), f"{name}, ties {ties}: {wrong}")
    return tally.judgement()


def violation_of(result: Result[Overlay]) -> str:
    """The violations that the problem found in an answer; "" if it is valid."""
    return result.reason if result.status is Status.FAILED else ""


@dataclass(frozen=True)
class PropertyCase:
    """An instance with its name and the claimed value; `exhaustive` adds the extremes over all choices by search."""

    name: str
    instance: TopicInstance
    claimed: float
    exhaustive: bool = True


def counts(bench: Bench, method: str, problem: str, cases: Iterable[PropertyCase], **options: Any) -> Judgement:
    """Compare a method's values with the claimed ones on each case, for ties lowest, highest, random, best and worst.

    ``confirmed``: all are equal. ``depends`` on ties: so on every case under some rule, and under another on none or
    not on all. ``confirmed in order``: in the last case every value is within a tenth. Otherwise ``contradicted``. The
    number is the value under ties lowest in the last case.
    """
    every = [(case, values_by_rule(bench, method, problem, case, **options)) for case in cases]
    rules = dict.fromkeys(rule for _, found in every for rule in found)
    right = {one: all(set(found[one]) == {case.claimed} for case, found in every if one in found) for one in rules}
    last, found = every[-1]
    near = all(abs(v - last.claimed) <= _NEAR * last.claimed for values in found.values() for v in values)
    if all(right.values()):
        verdict, because = Verdict.CONFIRMED, f"in all {len(every)} cases under every rule for ties"
    elif any(right.values()):
        verdict = Verdict.DEPENDS
        because = f"on ties: the count holds under {', '.join(r for r, held in right.items() if held)} only"
    else:
        verdict = Verdict.ORDER if near else Verdict.CONTRADICTED
        because = f"the count holds under no rule: {last.name}, claimed {last.claimed:g}"
    lines = tuple(
        Line.of(f"ties {rule}, {last.name}", exact(values[-1]), right[rule]) for rule, values in found.items()
    )
    details = tuple(f"{case.name}: claimed {case.claimed:g}; {_shown(found)}" for case, found in every[-4:])
    return Judgement(verdict, because, exact(found["lowest"][0], len(every)), lines, details)


def values_by_rule(
    bench: Bench, method: str, problem: str, case: PropertyCase, **options: Any
) -> dict[str, tuple[float, ...]]:
    """The distinct values of a method on one instance, sorted, by rule for ties; best and worst are searched."""

    def value(ties: str, seed: int = 0) -> float:
        return bench.value(method, case.instance, problem, ties=ties, seed=seed, **options)

    seeds = range(_SEEDS[0 if bench.quick else 1])
    found: dict[str, tuple[float, ...]] = {"lowest": (value("lowest"),), "highest": (value("highest"),)}
    found["random"] = tuple(sorted({value("random", seed) for seed in seeds}))
    for extreme in ("best", "worst") if case.exhaustive else ():
        bench.done += 1
        result = bench.methods[method].run(
            case.instance, problem_named(problem), ties=extreme, time_limit=_SEARCH_SECONDS, **options
        )
        found |= {extreme: (result.value,)} if result.value is not None else {}
    return found


def _shown(found: dict[str, tuple[float, ...]]) -> str:
    return ", ".join(f"{rule} {values[0]:g}" + f"–{values[-1]:g}" * (len(values) > 1) for rule, values in found.items())


def component_labels(instance: TopicInstance) -> Labels:
    """The component of every subscription without any edge, shape (|T|, |V|); -1 where there is none."""
    label = np.full((instance.num_topics, instance.num_nodes), -1)
    for topic in range(instance.num_topics):
        label[topic, instance.subscribers(topic)] = instance.subscribers(topic)
    return label


def merge_components(labels: Labels, *edges: tuple[int, int]) -> tuple[Labels, int]:
    """The labels after some edges, and how many components these merge."""
    new, merged = labels.copy(), 0
    for u, v in edges:
        apart = np.flatnonzero((new[:, u] >= 0) & (new[:, v] >= 0) & (new[:, u] != new[:, v]))
        for t in apart:
            new[t, new[t] == new[t, v]] = new[t, u]
        merged += len(apart)
    return new, merged


def best_matching(labels: Labels, free: Sequence[int]) -> int:
    """The most components that a matching of some nodes joins; cost: all of these matchings, 105 of 8 nodes."""
    if len(free) < 2:
        return 0
    first, *others = free
    most = best_matching(labels, others) if len(free) % 2 else 0
    for v in others:
        new, merged = merge_components(labels, (first, v))
        most = max(most, merged + best_matching(new, [w for w in others if w != v]))
    return most


def contributions(labels: Labels) -> Labels:
    """The contribution of every pair u < v, shape (|V|, |V|)."""
    own = labels >= 0
    apart = own[:, :, None] & own[:, None, :] & (labels[:, :, None] != labels[:, None, :])
    return np.triu(apart.sum(axis=0), 1)


def not_greedy(instance: TopicInstance, result: Result[Overlay]) -> str:
    """The first edge of a trace that merges nothing or contributes less than another pair; "" for none."""
    labels = component_labels(instance)
    for step in result.trace or ():
        every, (edge,) = contributions(labels), step.edges
        if not every[edge] == every.max() > 0:
            return f"{edge} contributes {every[edge]}, another pair {every.max()}"
        labels, _ = merge_components(labels, edge)
    return ""


def most_common_topics(instance: TopicInstance) -> int:
    """The most topics that two nodes have in common."""
    return int(contributions(component_labels(instance)).max())


def mean_diameter(instance: TopicInstance, overlay: Overlay, every: int = 1) -> float:
    """The mean over topics, or over each `every`-th, of the largest distance within G_t between two subscribers."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import shortest_path

    n, (u, v) = instance.num_nodes, overlay.edges.T
    graph = sp.csr_array((np.ones(2 * len(u)), (np.concatenate([u, v]), np.concatenate([v, u]))), shape=(n, n))
    groups = (instance.subscribers(t) for t in range(0, instance.num_topics, every))
    largest = [shortest_path(graph[own][:, own], unweighted=True).max() for own in groups if len(own) > 1]
    return float(np.mean(largest))


def is_edge_colourable(graph: Graph, count: int) -> bool:
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
