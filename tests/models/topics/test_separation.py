"""Separation and the rows of topics of diameter 2 against every partition and all graphs, and LPs against flows."""

from collections.abc import Iterator
from functools import cache
from itertools import chain, combinations

import highspy
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.heuristics.topics.merge.gm2 import gm2
from overlaybench.heuristics.topics.merge.weighted_gm import weighted_greedy_merge
from overlaybench.instances.runtime.run import Clock
from overlaybench.models.engine import relaxation
from overlaybench.models.engine.relaxation import UNIT
from overlaybench.models.topics.lp_heuristics.lp_guided import any_overlay
from overlaybench.models.topics.relaxation import separation
from overlaybench.models.topics.relaxation.cutting_planes import CuttingPlanes
from overlaybench.models.topics.relaxation.neighbour_rows import NeighbourSeparation
from overlaybench.models.topics.relaxation.star_planes import StarPlanes
from overlaybench.models.topics.relaxation.topic_rows import LEAVING, CandidateEdges, all_pairs
from tests.models.topics.small_instances import small_instance, tiers, uniform_instance
from tests.outcomes import BoundLog
from tests.properties import property_test
from tests.topic_brute_force import all_graphs, members_of_topics, optimum


def partitions(members: list[int]) -> Iterator[list[list[int]]]:
    if not members:
        yield []
        return
    first, *rest = members
    for blocks in partitions(rest):
        yield [[first], *blocks]
        for i in range(len(blocks)):
            yield [*blocks[:i], [first, *blocks[i]], *blocks[i + 1 :]]


def largest_violation(members: list[int], weights: dict[tuple[int, int], float]) -> float:
    worst = 0.0
    for blocks in partitions(list(members)):
        block_of = {v: i for i, block in enumerate(blocks) for v in block}
        cross = sum(
            w for (u, v), w in weights.items() if u in block_of and v in block_of and block_of[u] != block_of[v]
        )
        worst = max(worst, len(blocks) - 1 - cross)
    return worst


def drawn(seed: int) -> tuple[ob.TopicInstance, CandidateEdges, npt.NDArray[np.float64]]:
    instance = uniform_instance(7, 3, 2, seed)
    edges = CandidateEdges(instance, all_pairs(instance))
    random = np.random.default_rng(seed)
    # Multiples of 1/12 with many ones and zeros, as LP vertices have.
    x = np.clip(random.integers(-4, 16, len(edges)), 0, 12) / 12 * random.choice([0.3, 0.6, 1.0])
    return instance, edges, x


@pytest.mark.parametrize("seeds", tiers(40, 150))
def test_rows_are_violated_partitions_and_exact_separation_misses_none(seeds: range) -> None:
    for seed in seeds:
        instance, edges, x = drawn(seed)
        weights = dict(zip(zip(edges.u.tolist(), edges.v.tolist(), strict=True), x.tolist(), strict=True))
        for exact in (False, True):
            rows = separation.violated_partitions(instance.topic_offsets, edges.links, x, tolerance=1e-6, exact=exact)
            for r, t in enumerate(rows.topic):
                label = rows.label[rows.offsets[r] : rows.offsets[r + 1]].tolist()
                block = dict(zip(instance.subscribers(int(t)).tolist(), label, strict=True))
                assert rows.rhs[r] == len(set(label)) - 1
                cross = sum(w for (u, v), w in weights.items() if u in block and v in block and block[u] != block[v])
                assert cross < rows.rhs[r]
        for t in range(instance.num_topics):
            violated = largest_violation(instance.subscribers(t).tolist(), weights) > 1e-5
            assert (t in rows.topic) == violated, f"seed {seed}, topic {t}"


def test_zero_one_weights_violate_nothing_if_and_only_if_topics_are_connected() -> None:
    for seed in range(150):
        instance = small_instance(seed)
        edges = CandidateEdges(instance, all_pairs(instance))
        chosen = np.random.default_rng(seed).random(len(edges)) < 0.6
        rows = separation.violated_partitions(
            instance.topic_offsets, edges.links, chosen.astype(float), tolerance=1e-4, exact=False
        )
        overlay = ob.Overlay.from_edges(instance.num_nodes, np.stack([edges.u[chosen], edges.v[chosen]], axis=1))
        broken = np.flatnonzero(overlay.topic_components(instance) > 1).tolist()
        assert rows.topic.tolist() == broken


def flow_bound(instance: ob.TopicInstance) -> float:
    """The multi-commodity flow relaxation: in each topic, a unit of flow from the first subscriber to each other."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    edges = [divmod(int(key), instance.num_nodes) for key in all_pairs(instance)]
    x = {edge: highs.addVariable(0, 1, 1) for edge in edges}
    arborescence = {}
    for t in range(instance.num_topics):
        nodes = instance.subscribers(t).tolist()
        arcs = [(u, v) for u in nodes for v in nodes if u != v]
        for sink in nodes[1:]:
            flow = {arc: highs.addVariable(0, 1, 0) for arc in arcs}
            for v in nodes:
                balance = sum(flow[v, w] - flow[w, v] for w in nodes if w != v)
                highs.addConstr(balance == (1 if v == nodes[0] else -1 if v == sink else 0))
            # The capacities of one edge's two directions are split once for all sinks: a directed formulation.
            for u, v in arcs:
                if u < v and (t, u, v) not in arborescence:
                    for arc in ((t, u, v), (t, v, u)):
                        arborescence[arc] = highs.addVariable(0, 1, 0)
                    highs.addConstr(arborescence[t, u, v] + arborescence[t, v, u] <= x[u, v])
                highs.addConstr(flow[u, v] <= arborescence[t, u, v])
    highs.run()
    return float(highs.getInfo().objective_function_value)


@pytest.mark.parametrize("seeds", tiers(4, 12))
def test_the_cutting_plane_bound_is_that_of_the_directed_flow_lp(seeds: range) -> None:
    for seed in seeds:
        instance = uniform_instance(9, 6, 3, seed)
        start = ob.Overlay.from_edges(instance.num_nodes, [divmod(int(k), 9) for k in all_pairs(instance)])
        planes = CuttingPlanes(instance, separation.Goal(), start)
        planes.tighten(Clock(60))
        assert planes.converged
        assert planes.best_units / UNIT == pytest.approx(flow_bound(instance), abs=2e-3)


def test_the_most_violated_row_is_found_for_fractional_values_and_0_and_1() -> None:
    for seed in range(60):
        instance = uniform_instance(6, 2, 1, seed)
        edges = CandidateEdges(instance, all_pairs(instance))
        x = np.random.default_rng(seed).integers(0, 5 if seed < 40 else 2, len(edges)) / (8 if seed < 40 else 1)
        weight = dict(zip(zip(edges.u.tolist(), edges.v.tolist(), strict=True), x.tolist(), strict=True))
        shares = np.array([1.0, 0.5])
        rows = separation.violated_diameters(instance.topic_offsets, edges.links, x, tolerance=1e-6, shares=shares)
        for t, members in enumerate(members_of_topics(instance)):
            least = shares[t]
            for u, v in combinations(members, 2):
                others = [w for w in members if w not in (u, v)]
                for near in chain.from_iterable(combinations(others, k) for k in range(len(others) + 1)):
                    total = weight[u, v] + sum(
                        weight[min(end, w), max(end, w)] for w in others for end in [u if w in near else v]
                    )
                    least = min(least, total)
            assert (t in rows.topic) == (least < shares[t] - 1e-6)


def test_rows_of_fault_tolerance_hold_for_fault_tolerant_overlays_and_cut_off_others() -> None:
    for seed in range(8):
        instance = uniform_instance(10, 4, 2, seed)
        edges = CandidateEdges(instance, all_pairs(instance))
        separator = separation.FaultSeparator()
        for overlay, holds in ((gm2(instance), True), (weighted_greedy_merge(instance), False)):
            keys = overlay.edges[:, 0].astype(np.int64) * 10 + overlay.edges[:, 1]
            x = np.isin(edges.keys, keys).astype(float)
            rows = separator.violated(edges, x, tolerance=1e-6, exact=False)
            assert (len(rows.topic) == 0) == holds
            assert holds or set(rows.kind.tolist()) == {LEAVING}
            for r, rhs in enumerate(rows.rhs):
                assert rhs == len({*rows.label[rows.offsets[r] : rows.offsets[r + 1]].tolist()} - {-1}) - 1
        assert len(separator.first_rows(instance.topic_offsets).topic) == sum(
            size for size in np.diff(instance.topic_offsets).tolist() if size > 2
        )


def test_cutting_planes_of_fault_tolerance_bound_the_optimum() -> None:
    for seed in range(6):
        instance = small_instance(seed + 3)
        planes = CuttingPlanes(instance, separation.Goal(separator=separation.FaultSeparator), gm2(instance))
        planes.tighten(Clock(None))
        assert planes.best_units <= optimum(instance, "k-tco") * UNIT


SEEDS = st.integers(0, 10**9)


@cache
def graphs_of_diameter_two(n: int) -> npt.NDArray[np.int64]:
    """The edges of each, by pairs in lexicographic order."""
    graphs = all_graphs(n)
    valid = graphs.brings_within_two(tuple(range(n)))
    return np.stack([graphs.has[pair][valid] for pair in combinations(range(n), 2)], axis=1).astype(np.int64)


def is_possible(n: int, x: npt.NDArray[np.float64]) -> bool:
    """Whether the LP of one topic of n subscribers has a solution with these values of its pairs."""
    instance = ob.TopicInstance.from_subscriptions({str(v): ["t"] for v in range(n)})
    planes = StarPlanes(instance, others=True, every_edge=True)
    planes.lp.bound_columns(x, x)
    while planes.lp.solve(60.0) and planes.lp.feasible:
        rows = planes.violated(planes.lp.x, exact=True)
        if not len(rows.rhs):
            return True
        planes._add_rows(rows)
    return False


@property_test(200, SEEDS, quick=4)
def test_averages_of_graphs_of_diameter_two_are_possible(seed: int) -> None:
    draw, n = np.random.default_rng(seed), 4 + seed % 3
    graphs = graphs_of_diameter_two(n)
    for count in (1, 2, 5):
        assert is_possible(n, graphs[draw.integers(0, len(graphs), count)].mean(axis=0))


def test_too_few_edges_are_not_possible() -> None:
    pairs = list(combinations(range(6), 2))
    path = np.array([float(b - a == 1) for a, b in pairs])  # connected, of diameter 5
    all_stars = np.full(len(pairs), 1 / 3)
    assert not is_possible(6, path)
    assert is_possible(6, all_stars)
    assert not is_possible(6, all_stars - 1e-3)


@property_test(100, SEEDS, quick=3)
def test_the_lp_of_what_topics_are_is_between_that_of_pairs_and_the_optimum(seed: int) -> None:
    instance = small_instance(seed)
    (start,) = any_overlay(instance, ob.PROBLEMS["2d-true"])
    pairs = CuttingPlanes(instance, separation.Goal(separator=separation.DiameterSeparator), start)
    pairs.tighten(Clock(None))
    values = []
    for every_edge in (False, True):
        planes = StarPlanes(instance, others=True, every_edge=every_edge)
        planes.tighten(Clock(None))
        assert planes.best_units <= optimum(instance, "2d-true") * planes.unit
        values.append(planes.lp.value)
    assert values[0] == pytest.approx(values[1], abs=1e-2)
    assert values[0] > pairs.lp.value - 1e-2


@pytest.mark.slow
def test_an_lp_that_time_stops_proves_bounds_that_rise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices as short as possible stop it often; together they prove what it does at once."""
    monkeypatch.setattr(relaxation, "_LEAST_SLICE", 0.0)
    monkeypatch.setattr(relaxation, "_SLICES", 10_000)
    instance, bounds = uniform_instance(60, 60, 6, 0), BoundLog()
    planes = StarPlanes(instance, others=True)
    assert planes.tighten(Clock(60), stall=1.0, at_round=bounds) is not None
    whole = StarPlanes(instance, others=True)
    whole.tighten(Clock(None), stall=1.0)
    assert 0 < bounds[0] < max(bounds) - UNIT
    assert max(bounds) / UNIT == pytest.approx(whole.lp.value, abs=2.0)


@property_test(60, st.integers(0, 10**6), quick=2)
def test_rows_of_neighbours_hold_with_equality_and_cut_off_what_no_cover_dominates(seed: int) -> None:
    """With an exact right-hand side; where no row is found, x is as large as a mean of covers, up to the tolerance."""
    instance, edges, x = drawn(seed)
    rows = NeighbourSeparation(edges).violated(x)
    for v in range(instance.num_nodes):
        at = np.flatnonzero((edges.u == v) | (edges.v == v))
        if not len(at):
            continue
        topics = [set(instance.topics_of(int(w)).tolist()) for w in (edges.u + edges.v)[at] - v]
        wanted = set(instance.topics_of(v).tolist()) & set().union(*topics)
        sets = (list(each) for size in range(len(at) + 1) for each in combinations(range(len(at)), size))
        covers = [each for each in sets if wanted <= set().union(*(topics[k] for k in each))]
        found = np.flatnonzero(rows.node == v)
        for r in found:
            weights = rows.weights[r, at]
            assert min(weights[each].sum() for each in covers) == rows.rhs[r] > weights @ x[at]
            assert not rows.weights[r].sum() - weights.sum()
        if not len(found):
            table = np.zeros((len(covers), len(at)))
            for k, each in enumerate(covers):
                table[k, each] = 1
            assert largest_share(table, x[at]) > 0.95


def largest_share(covers: npt.NDArray[np.float64], x: npt.NDArray[np.float64]) -> float:
    """The largest sum of numbers λ ≥ 0 of covers with Σ λ·cover ≤ x."""
    lp = highspy.Highs()
    lp.setOptionValue("output_flag", False)
    rows = [lp.addVariable(lb=0, obj=-1) for _ in covers]
    for column, bound in zip(covers.T, x, strict=True):
        used = [rows[k] for k in np.flatnonzero(column)]
        if used:
            lp.addConstr(sum(used[1:], start=1 * used[0]) <= float(bound))
    lp.run()
    return -float(lp.getInfo().objective_function_value)
