"""Bounds proven in integers: valid for arbitrary duals and at every iterate, and checked by independent code."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import strategies as st

from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.heuristics.topics.weighted_gm import weighted_greedy_merge
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS
from overlaybench.instances.contract.result import Status
from overlaybench.instances.contract.run import Clock
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.instances.topics.link_costs import LinkCosts
from overlaybench.models.engine.relaxation import UNIT, Bound
from overlaybench.models.topics.branch_and_cut import BRANCH_AND_CUT
from overlaybench.models.topics.lp_bound import lower_bound
from overlaybench.models.topics.relaxation.cost_splitting import proof_rows, split_costs
from overlaybench.models.topics.relaxation.cutting_planes import (
    MOST_PROVEN,
    CuttingPlanes,
    proven_bound,
    rounded_multipliers,
)
from overlaybench.models.topics.relaxation.dual_fitting import (
    DROPPED,
    count_excess_links,
    dual_fitting_bound,
    fitted_multipliers,
)
from overlaybench.models.topics.relaxation.node_cover import node_cover
from overlaybench.models.topics.relaxation.separation import Goal
from overlaybench.models.topics.relaxation.topic_rows import CandidateEdges, all_pairs, singleton_rows
from tests.models.topics.proven import proven_by, proven_value
from tests.models.topics.small_instances import priced, small_instance, tiers, uniform_instance
from tests.properties import property_test
from tests.topic_brute_force import all_graphs, members_of_topics, optimum


def with_edges(seeds: range) -> Iterator[tuple[int, TopicInstance]]:
    for seed in seeds:
        instance = small_instance(seed)
        if len(all_pairs(instance)):
            yield seed, instance


@pytest.mark.parametrize("seeds", tiers(40, 150))
def test_any_duals_prove_a_bound_that_no_overlay_undercuts(seeds: range) -> None:
    for seed, instance in with_edges(seeds):
        edges = CandidateEdges(instance, all_pairs(instance))
        rows = singleton_rows(edges.interest)
        random = np.random.default_rng(seed)
        for scale in (0.2, 1.0, 5.0):
            duals = random.random(len(rows.topic)) * scale
            none = np.zeros(instance.num_nodes)
            bound = proven_bound(edges, rows, duals, none, Goal())
            assert Fraction(bound.units, UNIT) <= optimum(instance, "min-tco")
            assert bound.proven is not None
            assert proven_value(instance, "min-tco", bound.proven) == max(0, math.ceil(Fraction(bound.units, UNIT)))
            prices = random.random(instance.num_nodes) / instance.num_nodes
            bound = proven_bound(edges, rows, duals, prices, Goal(edge_cost=0, degree_cost=1))
            assert Fraction(bound.units, UNIT) <= optimum(instance, "minmax-tco")
            if bound.units > 0:
                least, value = math.ceil(Fraction(bound.units, UNIT)), Fraction(bound.units, UNIT)
                assert bound.proven is not None
                assert proven_value(instance, "minmax-tco", bound.proven, value, of_degree=True) >= least


@pytest.mark.parametrize("seeds", tiers(30, 100))
def test_bounds_with_fixed_edges_hold_for_the_overlays_with_these_edges(seeds: range) -> None:
    for seed, instance in with_edges(seeds):
        n = instance.num_nodes
        edges = CandidateEdges(instance, all_pairs(instance))
        rows = singleton_rows(edges.interest)
        random = np.random.default_rng(seed)
        fixed = random.integers(0, 3, len(edges))
        lower, upper = (fixed == 1).astype(np.int8), (fixed != 2).astype(np.int8)
        graphs = all_graphs(n)
        valid = np.all([graphs.connects(members) for members in members_of_topics(instance)], axis=0)
        for e, (u, v) in enumerate(zip(edges.u.tolist(), edges.v.tolist(), strict=True)):
            valid = valid & (graphs.has[u, v] >= lower[e]) & (graphs.has[u, v] <= upper[e])
        duals = random.random(len(rows.topic)) * 2
        bound = proven_bound(edges, rows, duals, np.zeros(n), Goal(), lower=lower, upper=upper)
        if valid.any():
            assert bound.units <= int(graphs.edges[valid].min()) * UNIT, f"seed {seed}"


@pytest.mark.parametrize("seeds", tiers(2, 4))
def test_every_iterate_is_a_valid_bound_and_the_proof_is_of_the_best(seeds: range) -> None:
    for seed in seeds:
        instance = uniform_instance(14, 10, 4, seed)
        planes = CuttingPlanes(instance, Goal(), greedy_merge(instance))
        seen: list[int] = []

        def keep(bound: Bound, seen: list[int] = seen) -> bool:
            seen.append(bound.units)
            return False

        planes.tighten(Clock(60), at_round=keep)
        fewest = greedy_merge(instance).num_edges
        assert all(units <= fewest * UNIT for units in seen)
        assert planes.best_proven is not None
        assert proven_value(instance, "min-tco", planes.best_proven) == -(-planes.best_units // UNIT)
        assert planes.best_units == max(seen)


@pytest.mark.interpreted
@pytest.mark.parametrize("seeds", tiers(15, 60))
@pytest.mark.parametrize("method", ["lp", "splitting", "fitting"])
@pytest.mark.parametrize("problem", ["min-tco", "minmax-tco", "weighted-tco"])
def test_no_lower_bound_exceeds_the_optimum(method: str, problem: str, seeds: range) -> None:
    of_degree, weighted = problem == "minmax-tco", problem == "weighted-tco"
    for seed in seeds:
        instance = priced(small_instance(seed), seed) if weighted else small_instance(seed)
        bound = lower_bound(instance, Clock(None), method=method, of_degree=of_degree, weighted=weighted)
        assert bound.value <= optimum(instance, problem), f"seed {seed}"
        assert proven_by(instance, problem, bound) == math.ceil(bound.value), f"seed {seed}"


@pytest.mark.slow
def test_split_costs_approach_the_bound_of_the_cutting_planes() -> None:
    for seed in range(3):
        instance = uniform_instance(20, 15, 4, seed)
        planes = CuttingPlanes(instance, Goal(), greedy_merge(instance))
        planes.tighten(Clock(60))
        splitting = split_costs(instance, greedy_merge(instance).num_edges, Clock(None), rounds=2000)
        assert splitting.units <= planes.lp.value * UNIT + UNIT / 1e6
        assert splitting.units >= 0.97 * planes.best_units
        assert splitting.limit >= planes.lp.value - 1e-3
        proof = partial(rounded_multipliers, *proof_rows(splitting))
        assert proven_value(instance, "min-tco", proof) == -(-splitting.units // UNIT)


@pytest.mark.parametrize("seeds", tiers(50, 150))
def test_dual_fitting_is_valid_with_and_without_pairs(seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        fewest = optimum(instance, "min-tco")
        blind = dual_fitting_bound(instance, work=0)
        assert blind <= dual_fitting_bound(instance) <= fewest, f"seed {seed}"
        for bound in (blind, dual_fitting_bound(instance)):
            assert proven_value(instance, "min-tco", partial(fitted_multipliers, instance, bound)) == math.ceil(
                bound
            ), f"seed {seed}"


def test_splitting_by_cost_reaches_the_bound_of_cutting_planes() -> None:
    instance = WORKLOADS["plane"].generate(seed=3, nodes=24, topics=10, subscriptions=3)
    start = weighted_greedy_merge(instance)
    target = float(PROBLEMS["weighted-tco"].value(instance, start))
    splitting = split_costs(instance, target, Clock(None), rounds=3000, weighted=True)
    planes = lower_bound(instance, Clock(None), method="lp", weighted=True).value
    assert 0.98 * float(planes) <= splitting.units / 2**32 <= float(planes) * (1 + 1e-6)
    proof = partial(rounded_multipliers, *proof_rows(splitting))
    assert proven_value(instance, "weighted-tco", proof) == -(-splitting.units // 2**32)


def test_costs_beyond_what_integers_prove_end_with_a_bound_of_edges() -> None:
    instance = TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(300)})
    dear = instance.with_costs(LinkCosts.between_sites([0] * 300, [[1_000_000]]))
    assert MOST_PROVEN < 299 * 1_000_000
    result = BRANCH_AND_CUT.run(dear, PROBLEMS["weighted-tco"], progress="off")
    assert result.status is Status.TIME_LIMIT
    assert "divide" in result.reason
    assert result.lower_bound == 299


wants = st.lists(st.sets(st.integers(0, 7), min_size=1, max_size=6), min_size=1, max_size=12)


def counted(wanted: list[list[int]], topics: int, most: int, steps: int = 10**9) -> npt.NDArray[np.int64]:
    rows = sorted((t, topics_of) for topics_of in wanted for t in topics_of[: max(0, len(topics_of) - most)])
    first = np.array([t for t, _ in rows], np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(listed) for _, listed in rows], dtype=np.int64)])
    ranks = np.array([t for _, listed in rows for t in listed], np.int32)
    links = np.zeros(topics, np.int64)
    count_excess_links(first, offsets, ranks, most, steps, links)
    return links


@property_test(200, wants, st.integers(1, 4), quick=50)
def test_every_pair_with_too_many_common_topics_is_counted_once(chosen: list[set[int]], most: int) -> None:
    links = np.zeros(8, np.int64)
    for one, other in combinations(chosen, 2):
        links[sorted(one & other)[most:]] += 1
    assert counted([sorted(topics) for topics in chosen], 8, most).tolist() == links.tolist()


def test_a_topic_that_takes_too_many_comparisons_leaves_the_bound() -> None:
    wanted = [[0, 1, 2]] * 5
    assert counted(wanted, 3, 1, steps=10)[0] == DROPPED
    assert counted(wanted, 3, 1).tolist() == [0, 10, 10]


@property_test(
    100,
    st.lists(st.sets(st.integers(0, 4), min_size=1, max_size=4), min_size=2, max_size=6),
    st.integers(1, 3),
    quick=30,
)
def test_the_bound_is_at_most_the_fewest_edges(chosen: list[set[int]], most: int) -> None:
    sizes = {t: sum(t in topics for topics in chosen) for t in set().union(*chosen)}
    rank = {t: i for i, t in enumerate(sorted(sizes, key=lambda t: (sizes[t], t)))}
    wanted = [sorted(rank[t] for t in topics) for topics in chosen]
    links = counted(wanted, len(rank), most)
    total = sum(max(0, sizes[t] - 1 - int(links[rank[t]])) for t in rank)
    instance = TopicInstance.from_subscriptions({f"n{v}": [f"t{t}" for t in topics] for v, topics in enumerate(wanted)})
    assert -(-total // most) <= optimum(instance, "min-tco")


@pytest.mark.parametrize("seeds", tiers(40, 150))
def test_a_node_cover_is_a_bound_on_the_degree_that_the_checker_accepts(seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        cover = node_cover(instance, Clock(None))
        if cover is None:
            assert len(all_pairs(instance)) == 0
            continue
        least = max(least_neighbours(instance, v) for v in range(instance.num_nodes))
        assert 0 < math.ceil(cover.value) <= least <= optimum(instance, "minmax-tco")
        assert proven_value(instance, "minmax-tco", cover.multipliers, cover.value, of_degree=True) >= math.ceil(
            cover.value
        )


def least_neighbours(instance: TopicInstance, v: int) -> int:
    """The fewest other nodes that together subscribe to every topic of v that has another subscriber."""
    sets = [set(instance.topics_of(u).tolist()) for u in range(instance.num_nodes)]
    others = [sets[u] & sets[v] for u in range(instance.num_nodes) if u != v]
    wanted = set().union(*others)
    return next(
        k for k in range(len(others) + 1) if any(set().union(*chosen) == wanted for chosen in combinations(others, k))
    )
