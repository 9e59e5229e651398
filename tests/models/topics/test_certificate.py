"""Bounds proven in integers: valid for arbitrary duals and at every iterate, and checked by independent code."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.instances.contract.catalogue import PROBLEMS
from overlaybench.instances.contract.method import Method
from overlaybench.instances.contract.run import Clock
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.models.engine.integer_bound import UNIT, Bound
from overlaybench.models.topics.bounds.certificate import Certificate, proven_bound
from overlaybench.models.topics.bounds.certificate_text import packed, proven_value, unpacked
from overlaybench.models.topics.bounds.cost_splitting import certificate_rows, split_costs
from overlaybench.models.topics.bounds.dual_fitting import dual_fitting_bound, fitted_certificate
from overlaybench.models.topics.branch_and_cut import BRANCH_AND_CUT
from overlaybench.models.topics.cuts.cutting_planes import CuttingPlanes
from overlaybench.models.topics.lp_bound import LP_BOUND, BoundSettings, lower_bound
from overlaybench.models.topics.rows.candidate_edges import CandidateEdges, all_pairs
from overlaybench.models.topics.rows.goal import Goal
from overlaybench.models.topics.rows.topic_rows import singleton_rows
from tests.models.topics.small_instances import small_instance, tiers, uniform_instance, value_of
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
            assert Certificate.of(rows, duals, none).check(instance) == Fraction(bound.units, UNIT)
            prices = random.random(instance.num_nodes) / instance.num_nodes
            bound = proven_bound(edges, rows, duals, prices, Goal(edge_cost=0, degree_cost=1))
            assert Fraction(bound.units, UNIT) <= optimum(instance, "minmax-tco")
            assert Certificate.of(rows, duals, prices).check(instance) == Fraction(bound.units, UNIT)


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
def test_every_iterate_is_a_valid_bound_and_the_certificate_proves_the_best(seeds: range) -> None:
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
        assert planes.certificate is not None
        assert planes.certificate.check(instance) == Fraction(planes.best_units, UNIT)
        assert planes.best_units == max(seen)


@pytest.mark.parametrize("seeds", tiers(15, 60))
@pytest.mark.parametrize("method", ["lp", "splitting", "fitting"])
@pytest.mark.parametrize(("of_degree", "problem"), [(False, "min-tco"), (True, "minmax-tco")])
def test_no_lower_bound_exceeds_the_optimum(method: str, of_degree: bool, problem: str, seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        bound = lower_bound(instance, BoundSettings(method=method, progress="off"), of_degree=of_degree)
        assert bound.value <= optimum(instance, problem), f"seed {seed}"
        if bound.certificate is not None:
            assert proven_value(instance, problem, packed([bound.certificate])) == math.ceil(bound.value)
            if bound.certificate.of_degree or not of_degree:
                assert bound.certificate.check(instance) == bound.value


@pytest.mark.parametrize("seeds", tiers(1, 3))
def test_split_costs_approach_the_bound_of_the_cutting_planes(seeds: range) -> None:
    for seed in seeds:
        instance = uniform_instance(20, 15, 4, seed)
        planes = CuttingPlanes(instance, Goal(), greedy_merge(instance))
        planes.tighten(Clock(60))
        splitting = split_costs(instance, greedy_merge(instance).num_edges, Clock(None), rounds=2000)
        assert splitting.units <= planes.lp.value * UNIT + UNIT / 1e6
        assert splitting.units >= 0.97 * planes.best_units
        assert splitting.limit >= planes.lp.value - 1e-3
        rows, duals = certificate_rows(splitting)
        proof = Certificate.of(rows, duals, np.zeros(instance.num_nodes))
        assert proof.check(instance) == Fraction(splitting.units, UNIT)


@pytest.mark.parametrize("seeds", tiers(50, 150))
def test_dual_fitting_is_valid_with_and_without_pairs(seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        fewest = optimum(instance, "min-tco")
        blind = dual_fitting_bound(instance, work=0)
        assert blind <= dual_fitting_bound(instance) <= fewest, f"seed {seed}"
        for bound in (blind, dual_fitting_bound(instance)):
            proven = fitted_certificate(instance, bound).check(instance)
            assert proven <= bound <= proven + Fraction(1, 2**20), f"seed {seed}"


def test_a_forged_certificate_is_refused() -> None:
    instance = uniform_instance(10, 6, 3)
    proof = lower_bound(instance, BoundSettings(method="lp", presolve=False, progress="off")).certificate
    assert proof is not None
    for forged in (
        replace(proof, duals=(-1, *proof.duals[1:])),
        replace(proof, node_duals=(2 * UNIT,) + (0,) * 9),
        replace(proof, rows=proof.rows._replace(rhs=proof.rows.rhs + 1)),
    ):
        with pytest.raises(ValueError, match=r"row|dual"):
            forged.check(instance)


@pytest.mark.parametrize("method", [BRANCH_AND_CUT, LP_BOUND], ids=lambda method: method.name)
@pytest.mark.parametrize("problem", ["min-tco", "minmax-tco", "low-tco", "2d-star", "2d-true"])
def test_a_stored_certificate_proves_the_bound_at_the_root(method: Method[Any, Any], problem: str) -> None:
    if problem not in method.problems:
        pytest.skip("not answered")
    if method is BRANCH_AND_CUT and problem == "2d-star":
        pytest.skip("a certificate has no rows of the star model: its proof is a file")
    checked = 0
    for seed in range(20):
        instance = small_instance(seed)
        result = method.run(instance, PROBLEMS[problem], certificate=True)
        if "certificate" in result.counters:
            bound = proven_value(instance, problem, str(result.counters["certificate"]))
            assert bound <= optimum(instance, problem), f"seed {seed}"
            assert bound == result.lower_bound or method is BRANCH_AND_CUT or problem == "low-tco"
            checked += 1
    assert checked >= 2


@pytest.mark.parametrize("problem", ["min-tco", "minmax-tco"])
def test_a_second_method_finds_what_the_certificate_says(problem: str) -> None:
    instance = uniform_instance(20, 20, 5)
    tree = BRANCH_AND_CUT.run(instance, PROBLEMS[problem], certificate=True)
    bound = LP_BOUND.run(instance, PROBLEMS[problem], certificate=True)
    for result in (tree, bound):
        assert proven_value(instance, problem, str(result.counters["certificate"])) == bound.lower_bound
    assert bound.lower_bound is not None
    assert bound.lower_bound <= value_of(tree) <= bound.lower_bound + 1


def test_a_certificate_survives_being_packed() -> None:
    instance = uniform_instance(30, 20, 5)
    for of_degree in (False, True):
        proof = lower_bound(instance, BoundSettings(method="lp", progress="off"), of_degree=of_degree).certificate
        assert proof is not None
        [read] = unpacked(packed([proof]))
        assert read.check(instance) == proof.check(instance)
        assert len(packed([proof])) < 40 * len(proof.duals)


def test_rows_of_diameter_two_prove_nothing_about_connectedness() -> None:
    instance = uniform_instance(12, 4, 2)
    text = str(BRANCH_AND_CUT.run(instance, PROBLEMS["2d-true"], certificate=True).counters["certificate"])
    assert 1 in unpacked(text)[0].rows.kind
    assert proven_value(instance, "2d-true", text) > 0
    with pytest.raises(ValueError, match="row"):
        proven_value(instance, "min-tco", text)


@pytest.mark.parametrize(
    "text", ["", "nonsense", "YWJj", *(base64.b64encode(zlib.compress(j)).decode() for j in (b"[]", b'{"format": 2}'))]
)
def test_what_is_no_certificate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"certificate|base64|format|padding"):
        proven_value(uniform_instance(9, 5, 2), "min-tco", text)
