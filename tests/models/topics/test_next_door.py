"""Bounds, cuts and searches of weighted-tco and k-tco beyond what test_exact_methods.py asks of every exact method."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.heuristics.topics.gm2 import gm2
from overlaybench.heuristics.topics.weighted_gm import weighted_greedy_merge
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.contract.result import Result, Status
from overlaybench.instances.contract.run import Clock
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.instances.topics.link_costs import LinkCosts
from overlaybench.models.topics.lp_bound import lower_bound
from overlaybench.models.topics.relaxation.candidate_edges import CandidateEdges, all_pairs
from overlaybench.models.topics.relaxation.cost_splitting import proof_rows, split_costs
from overlaybench.models.topics.relaxation.cutting_planes import CuttingPlanes
from overlaybench.models.topics.relaxation.proven_bound import MOST_PROVEN, RowMultipliers
from overlaybench.models.topics.relaxation.separation import (
    FaultSeparator,
    Goal,
    degree_rows,
    leaving_topics,
    violated_two_cuts,
)
from tests.models.topics.proven import proven_by, proven_value
from tests.models.topics.small_instances import priced, small_instance, tiers, uniform_instance
from tests.topic_brute_force import optimum

NEXT_DOOR = ("weighted-tco", "k-tco")


def solved(name: str, problem: str, instance: TopicInstance, **options: Any) -> Result[Overlay]:
    result: Result[Overlay] = METHODS[name].run(instance, PROBLEMS[problem], seed=1, **options)
    assert result.status is Status.OPTIMAL, f"{name}: {result.status}, {result.reason}"
    return result


@pytest.mark.parametrize("seeds", tiers(10, 150))
@pytest.mark.parametrize("method", ["lp", "splitting", "fitting"])
def test_lower_bounds_by_cost_are_bounds(method: str, seeds: range) -> None:
    for seed in seeds:
        instance = priced(small_instance(seed), seed)
        bound = lower_bound(instance, Clock(None), method=method, weighted=True)
        assert bound.value <= optimum(instance, "weighted-tco"), f"seed {seed}"
        assert proven_by(instance, "weighted-tco", bound) == math.ceil(bound.value)


def test_splitting_by_cost_reaches_the_bound_of_cutting_planes() -> None:
    instance = WORKLOADS["plane"].generate(seed=3, nodes=24, topics=10, subscriptions=3)
    start = weighted_greedy_merge(instance)
    target = float(PROBLEMS["weighted-tco"].value(instance, start))
    splitting = split_costs(instance, target, Clock(None), rounds=3000, weighted=True)
    planes = lower_bound(instance, Clock(None), method="lp", weighted=True).value
    assert 0.98 * float(planes) <= splitting.units / 2**32 <= float(planes) * (1 + 1e-6)
    proof = RowMultipliers.of(*proof_rows(splitting))
    assert proven_value(instance, "weighted-tco", proof) == -(-splitting.units // 2**32)


def test_rows_of_fault_tolerance_hold_for_fault_tolerant_overlays_and_cut_off_others() -> None:
    for seed in range(8):
        instance = uniform_instance(10, 4, 2, seed)
        edges = CandidateEdges(instance, all_pairs(instance))
        leaving = leaving_topics(instance.topic_offsets, edges.links, len(edges))
        for overlay, holds in ((gm2(instance), True), (weighted_greedy_merge(instance), False)):
            keys = overlay.edges[:, 0].astype(np.int64) * 10 + overlay.edges[:, 1]
            x = np.isin(edges.keys, keys).astype(float)
            cuts = violated_two_cuts(instance.topic_offsets, edges.links, x, tolerance=1e-6)
            rows = leaving.violated(x, tolerance=1e-6, exact=False)
            assert (len(cuts.topic) == 0 and len(rows.topic) == 0) == holds
        assert len(degree_rows(instance.topic_offsets).topic) == sum(
            size for size in np.diff(instance.topic_offsets).tolist() if size > 2
        )


def test_cutting_planes_of_fault_tolerance_bound_the_optimum() -> None:
    for seed in range(6):
        instance = small_instance(seed + 3)
        planes = CuttingPlanes(instance, Goal(separator=FaultSeparator), gm2(instance))
        planes.tighten(Clock(None))
        assert planes.best_units <= optimum(instance, "k-tco") * 2**32


def test_costs_beyond_what_integers_prove_end_with_a_bound_of_edges() -> None:
    instance = TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(300)})
    dear = instance.with_costs(LinkCosts.between_sites([0] * 300, [[1_000_000]]))
    assert MOST_PROVEN < 299 * 1_000_000
    result = METHODS["branch-and-cut"].run(dear, PROBLEMS["weighted-tco"], progress="off")
    assert result.status is Status.TIME_LIMIT
    assert "divide" in result.reason
    assert result.lower_bound == 299
