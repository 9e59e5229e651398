"""Claims that hold on every instance: they are tested on instances of every workload, or against proven optima."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ...instances.catalogue import defined_in
from ...instances.overlay import Overlay
from ...instances.result import Result, Status
from ...instances.topics.constructions import CONSTRUCTIONS
from ...instances.topics.instance import TopicInstance
from ...instances.topics.set_cover import SET_COVER_CONSTRUCTIONS
from ...instances.workload import Workload
from ..papers.bench import Bench
from .claim import Finding, Verdict

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
    tried = 0
    for name, instance in assorted(bench.quick):
        for ties in TIES:
            tried += 1
            result = bench.run(method, instance, ties=ties, seed=tried)
            if wrong := violation(instance, result):
                evidence = f"{statement}. Not so on {name} with ties {ties}: {wrong}"
                return Finding(subject, Verdict.REFUTED, evidence, tried)
    return Finding(subject, Verdict.HOLDS, f"{statement}: in all {tried} runs, ties {', '.join(TIES)}.", tried)


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
