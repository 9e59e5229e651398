"""Bounds proven in integers: valid for arbitrary duals, at every iterate, and checked by code of their own."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from heuristics.greedy_merge import greedy_merge
from models.candidate_edges import CandidateEdges, all_pairs
from models.certificate import UNIT, Certificate, proven_bound
from models.cost_splitting import certificate_rows, split_costs
from models.cutting_planes import CuttingPlanes, Goal
from models.dual_fitting import dual_fitting_bound
from models.lp_bound import lower_bound
from models.time_budget import TimeBudget
from models.topic_rows import singleton_rows
from tests.brute_force import all_graphs, members_of_topics, optimum
from tests.models.small_instances import small_instance, uniform_instance


def with_edges(seeds):
    for seed in seeds:
        instance = small_instance(seed)
        if len(all_pairs(instance)):
            yield seed, instance


def test_any_duals_prove_a_bound_that_no_overlay_undercuts():
    for seed, instance in with_edges(range(150)):
        edges = CandidateEdges(instance, all_pairs(instance))
        rows = singleton_rows(edges.interest)
        random = np.random.default_rng(seed)
        for scale in (0.2, 1.0, 5.0):
            duals = random.random(len(rows.topic)) * scale
            none = np.zeros(instance.num_nodes)
            bound = proven_bound(edges, rows, duals, none, edge_cost=1, degree_cost=0, degree_bounds=(0, 9))
            assert Fraction(bound.units, UNIT) <= optimum(instance, "min-tco")
            assert Certificate.of(rows, duals, none).check(instance) == Fraction(bound.units, UNIT)
            prices = random.random(instance.num_nodes) / instance.num_nodes
            bound = proven_bound(edges, rows, duals, prices, edge_cost=0, degree_cost=1, degree_bounds=(0, 9))
            assert Fraction(bound.units, UNIT) <= optimum(instance, "minmax-tco")
            assert Certificate.of(rows, duals, prices).check(instance) == Fraction(bound.units, UNIT)


def test_bounds_with_fixed_edges_hold_for_the_overlays_that_keep_to_them():
    for seed, instance in with_edges(range(100)):
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
        bound = proven_bound(
            edges,
            rows,
            duals,
            np.zeros(n),
            edge_cost=1,
            degree_cost=0,
            degree_bounds=(0, n),
            lower=lower,
            upper=upper,
        )
        if valid.any():
            assert bound.units <= int(graphs.edges[valid].min()) * UNIT, f"seed {seed}"


def test_every_iterate_is_a_valid_bound_and_the_certificate_proves_the_best():
    for seed in range(4):
        instance = uniform_instance(14, 10, 4, seed)
        planes = CuttingPlanes(instance, Goal(), greedy_merge(instance))
        seen = []
        planes.tighten(TimeBudget(60), at_round=lambda bound, seen=seen: seen.append(bound.units) and False)
        fewest = greedy_merge(instance).num_edges
        assert all(units <= fewest * UNIT for units in seen)
        assert planes.certificate.check(instance) == Fraction(planes.best_units, UNIT)
        assert planes.best_units == max(seen)


@pytest.mark.parametrize("method", ["lp", "splitting", "fitting"])
@pytest.mark.parametrize(("of_degree", "problem"), [(False, "min-tco"), (True, "minmax-tco")])
def test_no_lower_bound_exceeds_the_optimum(method, of_degree, problem):
    for seed in range(60):
        instance = small_instance(seed)
        bound = lower_bound(instance, of_degree=of_degree, method=method, progress="off")
        assert bound.value <= optimum(instance, problem), f"seed {seed}"
        if bound.certificate is not None:
            assert bound.certificate.check(bound.instance) == bound.value


def test_split_costs_approach_the_bound_of_the_cutting_planes():
    for seed in range(3):
        instance = uniform_instance(20, 15, 4, seed)
        planes = CuttingPlanes(instance, Goal(), greedy_merge(instance))
        planes.tighten(TimeBudget(60))
        splitting = split_costs(instance, greedy_merge(instance).num_edges, TimeBudget(None), rounds=2000)
        assert splitting.units <= planes.lp.value * UNIT + UNIT / 1e6
        assert splitting.units >= 0.97 * planes.best_units
        assert splitting.limit >= planes.lp.value - 1e-3
        rows, duals = certificate_rows(splitting)
        proof = Certificate.of(rows, duals, np.zeros(instance.num_nodes))
        assert proof.check(instance) == Fraction(splitting.units, UNIT)


def test_dual_fitting_is_valid_with_and_without_looking_at_pairs():
    for seed in range(150):
        instance = small_instance(seed)
        fewest = optimum(instance, "min-tco")
        blind = dual_fitting_bound(instance, work=0)
        assert blind <= dual_fitting_bound(instance) <= fewest, f"seed {seed}"


def test_a_forged_certificate_is_refused():
    instance = uniform_instance(10, 6, 3)
    proof = lower_bound(instance, presolve=False, method="lp", progress="off").certificate
    for forged in (
        replace(proof, duals=(-1, *proof.duals[1:])),
        replace(proof, node_duals=(2 * UNIT,) + (0,) * 9),
        replace(proof, rows=proof.rows._replace(rhs=proof.rows.rhs + 1)),
    ):
        with pytest.raises(ValueError, match=r"row|dual"):
            forged.check(instance)
