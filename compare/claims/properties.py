"""Claims that hold on every instance: they are tested on instances of every workload, or against proven optima."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from ...instances.contract.catalogue import defined_in
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Result, Status
from ...instances.contract.workload import Workload
from ...instances.topics.constructions import CONSTRUCTIONS, SET_COVER_CONSTRUCTIONS
from ...instances.topics.instance import TopicInstance
from ..papers.bench import Bench
from .claim import Finding, Scope, Verdict

TIES = ("lowest", "highest", "random")


def assorted(quick: bool) -> Iterator[tuple[str, TopicInstance]]:
    """Instances of every topic workload and construction of the project that needs no data, with their names."""
    constructed = {workload.name for workload in (*CONSTRUCTIONS, *SET_COVER_CONSTRUCTIONS)}
    for workload in (each for each in defined_in("overlaybench.instances.topics", Workload) if not each.needs):
        options = {option.name for option in workload.parameters}
        shapes: list[dict[str, int]] = [{}]
        if workload.name not in constructed:
            shapes = [
                {"nodes": nodes, "topics": topics} | ({"least": 5, "most": 30} if "least" in options else {})
                for nodes, topics in ((60, 30), (300, 100))
            ]
        for shape in shapes:
            for seed in range(2 if quick else 10):
                yield f"{workload.name} {shape} seed {seed}", workload.generate(seed=seed, **shape)


def property_finding(
    bench: Bench, subject: str, method: str, violation: Callable[[TopicInstance, Result[Overlay]], str], statement: str
) -> Finding:
    """Run an algorithm on assorted instances under every tie-breaking rule; `violation` is "" where the claim holds."""
    tried: list[TopicInstance] = []
    for name, instance in assorted(bench.quick):
        for ties in TIES:
            tried.append(instance)
            result = bench.run(method, instance, ties=ties, seed=len(tried))
            if wrong := violation(instance, result):
                evidence = f"{statement}. Not so on {name} with ties {ties}: {wrong}"
                return Finding(subject, Verdict.REFUTED, evidence, len(tried), scope=scope_over(tried, TIES))
    text = f"{statement}: in all {len(tried)} runs."
    return Finding(subject, Verdict.HOLDS, text, len(tried), scope=scope_over(tried, TIES))


def scope_over(
    instances: Iterable[TopicInstance],
    ties: Sequence[str] = (),
    *,
    seeds: int = 1,
    reading: str = "",
    sizes: Mapping[str, tuple[float | str, ...]] = MappingProxyType({}),
) -> Scope:
    """The scope of runs on these instances, of which each counts as a sample of one point; `sizes` are further ones."""
    kept = {instance.digest: instance for instance in instances}.values()
    shape = {
        "|V|": tuple(sorted({instance.num_nodes for instance in kept})),
        "|T|": tuple(sorted({instance.num_topics for instance in kept})),
    }
    return Scope({**shape, **sizes}, samples=len(kept), ties=tuple(ties), seeds=seeds, reading=reading)


def invalid(instance: TopicInstance, result: Result[Overlay]) -> str:
    """The violations that the problem found in an answer; "" if it is valid."""
    return result.reason if result.status is Status.FAILED else ""


def largest_topics_of_a_node(instance: TopicInstance) -> int:
    """max|T_v|."""
    return int(np.diff(instance.node_offsets).max())


def optima(bench: Bench, problem: str) -> dict[str, float]:
    """The proven optima among the claim's runs, by the digest of the instance."""
    rows = bench.rows[(bench.rows["problem"] == problem) & (bench.rows["status"] == Status.OPTIMAL)]
    return {digest: float(value) for digest, value in zip(rows["instance"], rows["value"], strict=True)}
