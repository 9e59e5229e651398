"""Bounds proven in integers, by duals and by costs that are split among topics, and checked by independent code."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest

import overlaybench as ob
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.heuristics.topics.kernels.interest import costs_of, edge_costs, unit_costs
from overlaybench.heuristics.topics.local_search.overlay_search import nearest_pairs
from overlaybench.heuristics.topics.merge.minmax_oda import minmax_oda
from overlaybench.heuristics.topics.merge.weighted_gm import weighted_greedy_merge
from overlaybench.instances.runtime.run import Clock
from overlaybench.models.engine.relaxation import UNIT
from overlaybench.models.topics.branch_and_cut import BRANCH_AND_CUT
from overlaybench.models.topics.lp_bound import lower_bound
from overlaybench.models.topics.lp_heuristics.lp_guided import stars, weighted_greedy
from overlaybench.models.topics.relaxation import cost_splitting, dual_fitting, price_join
from overlaybench.models.topics.relaxation.cost_splitting import (
    MOST_PROVEN,
    PricingParameters,
    _rows_of_trees,
    proof_trees,
    spanning,
    split_by_pricing,
    split_costs,
)
from overlaybench.models.topics.relaxation.cutting_planes import CuttingPlanes, proven_bound
from overlaybench.models.topics.relaxation.dual_fitting import dual_fitting_bound, fitted_multipliers
from overlaybench.models.topics.relaxation.node_cover import node_cover
from overlaybench.models.topics.relaxation.price_join import pairs_above, price_of, price_trees
from overlaybench.models.topics.relaxation.separation import Goal
from overlaybench.models.topics.relaxation.topic_rows import CandidateEdges, all_pairs, keys_of, singleton_rows
from tests.models.checker.tiny import proven_by, proven_value
from tests.models.topics.small_instances import priced, small_instance, tiers, uniform_instance
from tests.outcomes import BoundLog, known
from tests.topic_brute_force import all_graphs, connected, optimum


def with_edges(seeds: range) -> Iterator[tuple[int, ob.TopicInstance]]:
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
            least = max(0, math.ceil(Fraction(bound.units, UNIT)))
            assert proven_value(instance, "min-tco", known(bound.proven)) == least
            prices = random.random(instance.num_nodes) / instance.num_nodes
            bound = proven_bound(edges, rows, duals, prices, Goal(edge_cost=0, degree_cost=1))
            assert Fraction(bound.units, UNIT) <= optimum(instance, "minmax-tco")
            if bound.units > 0:
                least, value = math.ceil(Fraction(bound.units, UNIT)), Fraction(bound.units, UNIT)
                assert proven_value(instance, "minmax-tco", known(bound.proven), value, of_degree=True) >= least


@pytest.mark.parametrize("seeds", tiers(30, 100))
def test_bounds_with_fixed_edges_hold_for_the_overlays_with_these_edges(seeds: range) -> None:
    for seed, instance in with_edges(seeds):
        n = instance.num_nodes
        edges = CandidateEdges(instance, all_pairs(instance))
        rows = singleton_rows(edges.interest)
        random = np.random.default_rng(seed)
        fixed = random.integers(0, 3, len(edges))
        lower, upper = (fixed == 1).astype(np.int8), (fixed != 2).astype(np.int8)
        graphs, valid = all_graphs(n), connected(instance)
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
        seen = BoundLog()
        planes.tighten(Clock(60), at_round=seen)
        fewest = greedy_merge(instance).num_edges
        assert all(units <= fewest * UNIT for units in seen)
        assert proven_value(instance, "min-tco", known(planes.best_proven)) == -(-planes.best_units // UNIT)
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


@pytest.mark.parametrize("seeds", tiers(50, 150))
def test_dual_fitting_without_pairs_proves_no_more_than_with_them(seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed) if seed % 2 else uniform_instance(14, 10, 5, seed)
        bounds = [dual_fitting_bound(instance, work=0), dual_fitting_bound(instance)]
        assert bounds[0] <= bounds[1], f"seed {seed}"
        for bound in bounds:
            proof = partial(fitted_multipliers, instance, bound)
            assert proven_value(instance, "min-tco", proof) == math.ceil(bound), f"seed {seed}"


@pytest.mark.parametrize("steps", [10**8, 0])
@pytest.mark.parametrize("seeds", tiers(50, 150))
def test_parts_without_a_rarer_topic_are_those_of_their_graphs(
    seeds: range, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dual_fitting, "_LEAST_STEPS", steps)
    monkeypatch.setattr(dual_fitting, "_STEPS_A_SUBSCRIPTION", 0)
    for seed in seeds:
        instance = small_instance(seed)
        order = np.argsort(np.diff(instance.topic_offsets), kind="stable").tolist()
        members = [instance.subscribers(t).tolist() for t in order]
        parts = 0
        for k, own in enumerate(members):
            graph: nx.Graph[int] = nx.Graph()
            graph.add_nodes_from(range(instance.num_nodes) if not steps else own)
            for rarer in members[:k]:
                nx.add_path(graph, rarer if not steps else set(own) & set(rarer))
            parts += sum(not component.isdisjoint(own) for component in map(set, nx.connected_components(graph))) - 1
        assert dual_fitting._exclusive_parts(instance, np.empty(instance.num_subscriptions, np.int32)) == parts


def test_rare_topics_come_before_those_that_their_edges_connect() -> None:
    pairs = {f"n{v}": ["all", f"p{v // 2}", f"q{(v + 1) // 2}"] for v in range(8)}
    assert dual_fitting_bound(ob.TopicInstance.from_subscriptions(pairs), work=0) == 7
    rare = {f"n{v}": ["all", f"p{v % 4}", f"q{v // 4}"] for v in range(8)}
    assert dual_fitting_bound(ob.TopicInstance.from_subscriptions(rare), work=0) == 10


def test_splitting_by_cost_reaches_the_bound_of_cutting_planes() -> None:
    instance = ob.WORKLOADS["plane"].generate(seed=3, nodes=24, topics=10, subscriptions=3)
    start = weighted_greedy_merge(instance)
    target = float(ob.PROBLEMS["weighted-tco"].value(instance, start))
    splitting = split_costs(instance, target, Clock(None), rounds=3000, weighted=True)
    planes = lower_bound(instance, Clock(None), method="lp", weighted=True).value
    assert 0.98 * float(planes) <= splitting.units / 2**32 <= float(planes) * (1 + 1e-6)
    proof = partial(proof_trees, splitting)
    assert proven_value(instance, "weighted-tco", proof) == -(-splitting.units // 2**32)


def test_costs_beyond_what_integers_prove_end_with_a_bound_of_edges() -> None:
    instance = ob.TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(300)})
    dear = instance.with_costs(ob.LinkCosts.between_sites([0] * 300, [[1_000_000]]))
    assert MOST_PROVEN < 299 * 1_000_000
    result = BRANCH_AND_CUT.run(dear, ob.PROBLEMS["weighted-tco"], progress="off")
    assert result.status is ob.Status.TIME_LIMIT
    assert "divide" in result.reason
    assert result.lower_bound == 299


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


def least_neighbours(instance: ob.TopicInstance, v: int) -> int:
    """The fewest other nodes that together subscribe to every topic of v that has another subscriber."""
    sets = [set(instance.topics_of(u).tolist()) for u in range(instance.num_nodes)]
    others = [sets[u] & sets[v] for u in range(instance.num_nodes) if u != v]
    wanted = set().union(*others)
    return next(
        k for k in range(len(others) + 1) if any(set().union(*chosen) == wanted for chosen in combinations(others, k))
    )


_TWO_NEAREST = PricingParameters(nearest=2, rounds=300)
_OF_MANY = replace(cost_splitting._OF_MANY, rounds=60)


@pytest.fixture
def _two_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that instances small enough to judge have pairs to price."""
    monkeypatch.setattr(cost_splitting, "_FEW", 1.0)


def _tree(edges: CandidateEdges, shares: list[int], topic: int) -> nx.Graph[int]:
    """A minimum spanning tree of a topic under the shares of the listed pairs."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(edges.instance.subscribers(topic).tolist())
    for k in range(edges.links.offsets[topic], edges.links.offsets[topic + 1]):
        u, v = divmod(int(edges.keys[edges.links.edge[k]]), edges.instance.num_nodes)
        graph.add_edge(u, v, weight=shares[k])
    return nx.minimum_spanning_tree(graph)


def _heaviest(tree: nx.Graph[int], u: int, v: int) -> int:
    return max(int(tree.edges[edge]["weight"]) for edge in pairwise(nx.shortest_path(tree, u, v)))


def _prices(edges: CandidateEdges, shares: list[int]) -> tuple[int, dict[tuple[int, int], int]]:
    """The weight of all trees, and the sum of each pair's shares: given, or the heaviest edges on tree paths."""
    instance, listed = edges.instance, dict[tuple[int, int, int], int]()
    topics = np.repeat(np.arange(instance.num_topics), np.diff(edges.links.offsets)).tolist()
    for edge, topic, share in zip(edges.links.edge.tolist(), topics, shares, strict=True):
        u, v = divmod(int(edges.keys[edge]), instance.num_nodes)
        listed[u, v, topic] = share
    total, spent = 0, dict.fromkeys(combinations(range(instance.num_nodes), 2), 0)
    for t in range(instance.num_topics):
        tree = _tree(edges, shares, t)
        assert nx.is_connected(tree)
        complete: nx.Graph[int] = nx.Graph()
        for u, v in combinations(instance.subscribers(t).tolist(), 2):
            weight = listed[u, v, t] if (u, v, t) in listed else _heaviest(tree, u, v)
            complete.add_edge(u, v, weight=weight)
            spent[u, v] += weight
        least = sum(d["weight"] for *_, d in nx.minimum_spanning_edges(complete, data=True))
        assert least == sum(d["weight"] for *_, d in tree.edges(data=True))
        total += least
    return total, spent


@pytest.mark.usefixtures("_two_nearest")
@pytest.mark.parametrize("parameters", [_TWO_NEAREST, _OF_MANY])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seeds", tiers(20, 200))
def test_shares_of_all_pairs_prove_the_bound(seeds: range, weighted: bool, parameters: PricingParameters) -> None:
    priced_pairs = 0
    for seed in seeds:
        instance = small_instance(seed)
        if weighted:
            instance = priced(instance, seed)
        splitting = split_by_pricing(instance, greedy_merge(instance), Clock(None), parameters, weighted=weighted)
        total, spent = _prices(CandidateEdges(instance, splitting.keys), splitting.shares.tolist())
        assert splitting.units == total, f"seed {seed}"
        assert (splitting.shares >= 0).all()
        pairs = np.array(list(spent), np.int32).reshape(-1, 2)
        costs = instance.edge_costs(pairs[:, 0], pairs[:, 1]).tolist()
        assert all(UNIT * cost >= sum_ for cost, sum_ in zip(costs, spent.values(), strict=True)), f"seed {seed}"
        best = optimum(instance, "weighted-tco" if weighted else "min-tco")
        assert splitting.units <= best * UNIT, f"seed {seed}"
        priced_pairs += len(all_pairs(instance)) - len(splitting.keys)
    assert priced_pairs


@pytest.mark.parametrize("seeds", tiers(10, 60))
def test_of_many_cheap_pairs_the_cheapest_are_listed(seeds: range) -> None:
    left_out = 0
    for seed in seeds:
        instance = uniform_instance(30, 5, 4, seed)
        few = CandidateEdges(instance, keys_of(greedy_merge(instance)))
        split = split_costs(instance, 30.0, Clock(None), rounds=30, among=few)
        listed, (_, before) = few.keys, _prices(few, split.shares.tolist())
        priced = cost_splitting._with_cheap(few, split, False, len(listed), Clock(None))
        assert priced is not None
        edges, shares, most = priced
        assert len(edges) <= 2 * len(listed)
        cheap = {pair: price / UNIT for pair, price in before.items() if price > UNIT * (1 + 1e-8)}
        added = {divmod(key, instance.num_nodes) for key in np.setdiff1d(edges.keys, listed).tolist()}
        assert added == {pair for pair, price in cheap.items() if price > most}, f"seed {seed}"
        assert all(np.bincount(edges.links.edge, shares) <= 1 + 1e-12)
        left_out += len(cheap) - len(added)
    assert left_out


@pytest.mark.usefixtures("_two_nearest")
@pytest.mark.parametrize("seeds", tiers(3, 12))
def test_pricing_reaches_the_bound_of_the_cutting_planes(seeds: range) -> None:
    for seed in seeds:
        instance = uniform_instance(30, 30, 8, seed)
        start = greedy_merge(instance)
        planes = CuttingPlanes(instance, Goal(), start)
        planes.tighten(Clock(None))
        few = CandidateEdges(instance, np.union1d(nearest_pairs(instance, 2), keys_of(start)))
        alone = split_costs(instance, start.num_edges, Clock(None), rounds=3000, among=few)
        splitting = split_by_pricing(instance, start, Clock(None), replace(_TWO_NEAREST, rounds=3000))
        assert alone.units > 1.01 * planes.lp.value * UNIT, "the pairs of the start suffice"
        assert 0.98 * planes.best_units <= splitting.units <= planes.lp.value * UNIT * (1 + 1e-6)
        assert planes.lp.value - 1e-3 <= splitting.limit == pytest.approx(splitting.usage.sum())


@pytest.mark.usefixtures("_two_nearest")
def test_overlays_are_built_along_splits_whenever_the_rounds_have_doubled() -> None:
    instance = uniform_instance(30, 20, 4)
    built = list[int]()

    def build(edges: CandidateEdges, usage: npt.NDArray[np.float64]) -> float:
        overlay = weighted_greedy(edges, usage + 0.01, cap=instance.num_nodes, overload=0.0, seed=0)
        assert not ob.PROBLEMS["min-tco"].violations(instance, overlay)
        built.append(overlay.num_edges)
        return overlay.num_edges

    splitting = split_by_pricing(instance, stars(instance), Clock(None), _OF_MANY, build=build)
    assert splitting.units <= UNIT * min(built)
    assert 3 <= len(built) <= 5  # of 60 rounds
    assert min(built) < stars(instance).num_edges


@pytest.mark.usefixtures("_two_nearest")
def test_a_passed_clock_leaves_a_bound_of_nothing() -> None:
    instance = uniform_instance(30, 20, 4)
    splitting = split_by_pricing(instance, greedy_merge(instance), Clock(0.0))
    assert (splitting.units, splitting.rounds, splitting.converged) == (0, 0, False)


@pytest.mark.parametrize("seeds", tiers(10, 100))
def test_the_widest_gap_in_a_row_is_the_heaviest_edge_on_the_path(seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        edges = CandidateEdges(instance, all_pairs(instance))
        weight = np.random.default_rng(seed).integers(0, 20, len(edges.links.edge))  # with ties
        _, in_tree = spanning(edges)(weight)
        links = edges.links
        row, place, gap = _rows_of_trees(edges.interest, links.offsets, links.a, links.b, weight, in_tree)
        for t in range(instance.num_topics):
            tree, first = _tree(edges, weight.tolist(), t), int(instance.topic_offsets[t])
            where = dict(zip(instance.subscribers(t).tolist(), place[first:].tolist(), strict=False))
            assert all(row[where[v]] == v for v in where)
            for u, v in combinations(where, 2):
                begin, end = sorted((where[u], where[v]))
                assert gap[begin + 1 : end + 1].max() == _heaviest(tree, u, v), f"seed {seed}, topic {t}, {u} to {v}"


def test_a_topic_without_candidate_edges_has_a_tree_of_weight_0() -> None:
    instance = ob.read({"ann": ["a"], "bob": ["a", "b"], "cid": ["b"], "dan": ["b"]})
    total, in_tree = spanning(CandidateEdges(instance, np.array([1])))(np.array([7]))
    assert (total, in_tree.tolist()) == (7, [True])


@pytest.mark.parametrize(("threads", "popular"), [(1, 0), (1, 2), (3, 5)])
@pytest.mark.parametrize("seeds", tiers(20, 200))
def test_the_join_finds_exactly_the_pairs_whose_prices_exceed_their_cost(
    seeds: range, threads: int, popular: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(threads))
    monkeypatch.setattr(price_join, "FEW_SUBSCRIPTIONS", 0)
    monkeypatch.setattr(price_join, "_LEAST_PART", 3)
    monkeypatch.setattr(price_join, "_POPULAR", (popular,))
    found_above = 0
    for seed in seeds:
        random = np.random.default_rng(seed)
        instance = small_instance(seed) if seed % 2 else uniform_instance(24, 12, 8, seed)
        costs = edge_costs(priced(instance, seed)) if seed % 4 > 1 else unit_costs(instance.num_nodes)
        edges = CandidateEdges(instance, all_pairs(instance))
        most = UNIT * int(costs.table.max(initial=1))
        # Prices of 0 are those that the join leaves out, and equal ones are not those of the core.
        zeros = [0, 0, 0][seed % 4 :]
        weight = random.choice([*zeros, most // 5, most // 3, most // 2, most], len(edges.links.edge))
        _, in_tree = spanning(edges)(weight)
        trees = price_trees(instance.topic_offsets, edges.links, weight, in_tree)
        totals = dict.fromkeys(all_pairs(instance).tolist(), 0)
        for t in range(instance.num_topics):
            tree, first = _tree(edges, weight.tolist(), t), int(instance.topic_offsets[t])
            for (i, u), (j, v) in combinations(enumerate(instance.subscribers(t).tolist()), 2):
                assert price_of(first + i, first + j, trees) == _heaviest(tree, u, v), f"seed {seed}, topic {t}"
                totals[u * instance.num_nodes + v] += _heaviest(tree, u, v)
        u, v = np.divmod(np.array(list(totals), np.int64), instance.num_nodes)
        paid = costs_of(u.astype(np.int32), v.astype(np.int32), costs)
        ratios = dict(zip(totals, np.array(list(totals.values())) / UNIT / paid, strict=True))
        for most_pairs in (10**6, 3):
            found = pairs_above(instance, trees, costs, 1.0, most_pairs, Clock(None))
            assert found is not None
            keys, given, least = found
            assert sorted(keys.tolist()) == sorted(key for key, ratio in ratios.items() if ratio > least)
            assert given.tolist() == [ratios[key] for key in keys.tolist()]
            falling = sorted((ratio for ratio in ratios.values() if ratio > 1), reverse=True)
            assert least == (falling[most_pairs] if len(falling) > most_pairs else 1)  # each pair counts once
            found_above += len(keys)
    assert found_above


def test_an_overlay_of_other_edges_than_the_split_has_is_a_candidate_as_a_whole() -> None:
    instance = uniform_instance(30, 5, 4, 0)
    split = split_costs(instance, 30.0, Clock(0.0), among=CandidateEdges(instance, keys_of(greedy_merge(instance))))
    other = minmax_oda(instance)
    edges, _ = split.used_or_in(other)
    useful = [key for key in keys_of(other).tolist() if key in set(all_pairs(instance).tolist())]
    assert set(useful) - set(split.columns.tolist())
    assert set(useful) <= set(edges.keys.tolist()) <= set(all_pairs(instance).tolist())
