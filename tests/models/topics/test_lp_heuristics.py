"""Local searches and greedy overlays along LP values: valid, ever better, and optimal on small instances."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog

from overlaybench.compare.library.table import read_table
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.runtime.run import Clock
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.models.topics.branch_and_cut import BRANCH_AND_CUT
from overlaybench.models.topics.lp_heuristics import lp_guided, row_weighting
from overlaybench.models.topics.lp_heuristics.lp_guided import GuidedIncumbent, flatter_along, stars, weighted_greedy
from overlaybench.models.topics.relaxation import star_planes
from overlaybench.models.topics.relaxation.cutting_planes import CuttingPlanes
from overlaybench.models.topics.relaxation.separation import Goal
from overlaybench.models.topics.relaxation.star_planes import StarPlanes
from overlaybench.models.topics.relaxation.topic_rows import CandidateEdges, all_pairs
from overlaybench.models.topics.search.star_search import StarCentres
from tests.models.topics.small_instances import small_instance, tiers, uniform_instance
from tests.outcomes import value_of
from tests.topic_brute_force import optimum

WORK = 200_000


def search_of(instance: TopicInstance, seed: int, *, values: float = 0.0) -> row_weighting.RowWeighting:
    """A search among all pairs, from Greedy Merge's overlay; the LP values are random up to `values`."""
    edges = CandidateEdges(instance, all_pairs(instance))
    preferred = np.random.default_rng(seed).uniform(0, values, len(edges))
    return row_weighting.RowWeighting(edges, preferred, greedy_merge(instance), seed)


@pytest.mark.parametrize("seeds", tiers(20, 300))
@pytest.mark.parametrize("problem", ["min-tco", "minmax-tco"])
def test_overlays_are_valid_and_better_and_the_last_is_optimal(problem: str, seeds: range) -> None:
    for seed in seeds:
        instance, judge = small_instance(seed), PROBLEMS[problem]
        if not len(all_pairs(instance)):
            continue
        below = int(judge.value(instance, greedy_merge(instance))) + 1
        search, of_degree = search_of(instance, seed, values=seed % 3), problem == "minmax-tco"
        for overlay in search.overlays(below, Clock(None), WORK, of_degree=of_degree):
            assert judge.value(instance, overlay) < below
            assert not judge.violations(instance, overlay)
            below = int(judge.value(instance, overlay))
        assert below == optimum(instance, problem)


@pytest.mark.parametrize("of_degree", [False, True])
@pytest.mark.parametrize(("nodes", "topics", "size"), [(12, 8, 3), (16, 10, 6), (30, 4, 1)])
def test_gains_losses_components_and_degrees_are_those_of_networkx(
    nodes: int, topics: int, size: int, of_degree: bool
) -> None:
    for seed in range(5):
        instance = uniform_instance(nodes, topics, size, seed)
        search = search_of(instance, seed, values=1.0)
        # Less than a tree of the largest topic needs: the search is stopped with topics disconnected.
        below = 2 if of_degree else int(np.diff(instance.topic_offsets).max()) - 1
        assert not list(search.overlays(below, Clock(None), 30_000 * (seed + 1), of_degree=of_degree))
        space, edges = search._space, search._edges
        members = space.edges[: space.counts[row_weighting.SIZE], row_weighting.ITEM]
        gain, loss, split = np.zeros(len(edges), int), np.zeros(len(edges), int), set()
        chosen = nx.Graph(zip(edges.u[members].tolist(), edges.v[members].tolist(), strict=True))
        chosen.add_nodes_from(range(nodes))
        for t in range(topics):
            subscribers, weight = instance.subscribers(t).tolist(), space.topics[t, row_weighting.WEIGHT]
            graph = chosen.subgraph(subscribers)
            part = {v: i for i, nodes_of in enumerate(nx.connected_components(graph)) for v in nodes_of}
            bridges = {frozenset(bridge) for bridge in nx.bridges(graph)}
            if len(set(part.values())) > 1:
                split.add(t)
            for e, (u, v) in enumerate(zip(edges.u.tolist(), edges.v.tolist(), strict=True)):
                if u in part and v in part:
                    gain[e] += weight * (part[u] != part[v])
                    loss[e] += weight * (frozenset((u, v)) in bridges)
        assert space.nodes[:-1, row_weighting.DEGREE].tolist() == [degree for _, degree in sorted(chosen.degree)]
        assert space.edges[:-1, row_weighting.GAIN].tolist() == gain.tolist()
        assert space.edges[:-1, row_weighting.LOSS].tolist() == loss.tolist()
        assert set(space.topics[: space.counts[row_weighting.SPLIT], row_weighting.ITEM].tolist()) == split
        assert space.topics[:, row_weighting.WEIGHT].max() > 1


def test_a_search_that_found_nothing_begins_again_at_its_best_overlay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overlaybench.models.topics.lp_heuristics.row_weighting._STEPS", 50)
    instance = uniform_instance(12, 8, 4)
    search = search_of(instance, 0)
    *_, best = search.overlays(100, Clock(None), 1_000_000)
    before = search._space
    assert not list(search.overlays(best.num_edges, Clock(None), 1_000_000))
    assert search._space is not before
    assert not list(search.overlays(100, Clock(0), 1_000_000))


def test_one_seed_gives_one_answer_and_seeds_differ() -> None:
    instance = uniform_instance(30, 20, 5)
    answers = [
        [overlay.edges.tolist() for overlay in search_of(instance, seed).overlays(1000, Clock(None), WORK)]
        for seed in (1, 1, 2)
    ]
    assert answers[0] == answers[1] != answers[2]


@pytest.mark.slow
def test_dense_instances_reach_what_ruin_and_recreate_rarely_does() -> None:
    """Of 20 searches by ruin and recreate, one found 40."""
    instance = read_table().entries["dense-uniform-26-26-13-s2"].make()
    assert isinstance(instance, TopicInstance)
    for seed in range(3):
        found = search_of(instance, seed).overlays(1000, Clock(None), 1_000_000_000)
        assert any(overlay.num_edges == 40 for overlay in found)


def test_a_small_instance_is_searched_among_all_pairs_with_the_values_of_the_lp() -> None:
    """Searches of this length, among the LP's edges alone or without its values, end at 62 with most seeds."""
    instance = WORKLOADS["uniform"].generate(seed=390_200_000, nodes=38, topics=24, subscriptions=10)
    planes = CuttingPlanes(instance, Goal(), greedy_merge(instance))
    planes.tighten(Clock(None), stall=1e-3)
    for seed in range(3):
        incumbent = GuidedIncumbent(instance, Goal(), None, seed)
        incumbent.improve_along(planes.edges, planes.lp.x, Clock(None), goal=61, steps=20_000)
        assert incumbent.value == 61


def test_row_weighting_along_the_split_takes_half_of_the_time_or_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[int, float, int, float]] = []

    class Search:
        def __init__(self, *_: object) -> None:
            pass

        def overlays(self, below: int, clock: Clock, work: int, least: float) -> list[Overlay]:
            given.append((below, clock.left, work, least))
            return []

    monkeypatch.setattr(lp_guided, "RowWeighting", Search)
    instance = uniform_instance(14, 10, 4)
    start = greedy_merge(instance)
    for clock in (Clock(1000), Clock(None)):
        lp_guided.guided_candidates(instance, start, clock, steps=7)
    (below, left, work, least), unlimited = given
    assert 0 < least <= below <= start.num_edges
    assert 250 < left <= 500
    assert work > 10**12
    assert unlimited == (below, math.inf, 7 * row_weighting.ENTRIES_A_STEP, least)


def is_connected(instance: TopicInstance, overlay: Overlay | None) -> bool:
    return overlay is not None and bool((overlay.topic_components(instance) == 1).all())


def greedy(instance: TopicInstance, seed: int, cap: int = 100) -> Overlay:
    edges = CandidateEdges(instance, all_pairs(instance))
    weights = np.random.default_rng(seed).uniform(0.1, 1, len(edges))
    return weighted_greedy(edges, weights, cap=cap, overload=1.5, seed=seed)


@pytest.mark.parametrize("cap", [3, 100])
def test_topics_are_connected_and_nothing_redundant_is_left(cap: int) -> None:
    for seed in range(12):
        instance = uniform_instance(12, 9, 3, seed)
        overlay = greedy(instance, seed, cap)
        assert is_connected(instance, overlay)
        for edge in range(overlay.num_edges):
            assert not is_connected(instance, Overlay.from_edges(12, np.delete(overlay.edges, edge, axis=0)))


def test_of_edges_that_contribute_alike_the_heaviest_is_chosen() -> None:
    instance = uniform_instance(9, 1, 1)
    edges = CandidateEdges(instance, all_pairs(instance))
    weights = np.where(edges.u == 4, 1.0, np.where(edges.v == 4, 1.0, 0.5))
    overlay = weighted_greedy(edges, weights, cap=100, overload=0.0, seed=0)
    assert overlay.degrees.tolist() == [8 if v == 4 else 1 for v in range(9)]
    flat = weighted_greedy(edges, weights, cap=3, overload=5.0, seed=0)
    assert flat.max_degree == 3


@pytest.mark.parametrize("seeds", tiers(20, 60))
def test_an_incumbent_reaches_the_optimum_of_small_instances(seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        edges, best = CandidateEdges(instance, all_pairs(instance)), optimum(instance, "min-tco")
        incumbent = GuidedIncumbent(instance, Goal(), None, seed)
        incumbent.improve_along(edges, np.zeros(len(edges)), Clock(None), goal=0, steps=400)
        if len(edges):
            assert incumbent.value == best
            assert is_connected(instance, incumbent.overlay)


def test_an_incumbent_respects_a_cap_that_no_overlay_can_lower() -> None:
    for seed in (2, 3):
        instance = uniform_instance(15, 12, 4, seed)
        edges = CandidateEdges(instance, all_pairs(instance))
        cap = int(value_of(BRANCH_AND_CUT.run(instance, PROBLEMS["minmax-tco"])))
        capped = GuidedIncumbent(instance, Goal(cap=cap), None, seed)
        capped.improve_along(edges, np.zeros(len(edges)), Clock(None), goal=0, steps=1000)
        assert capped.overlay is not None
        flat = flatter_along(
            edges, np.zeros(len(edges)), stars(instance), Clock(None), steps=1000, seed=seed, least=cap
        )
        assert capped.overlay.max_degree == flat.max_degree == cap
        assert is_connected(instance, capped.overlay)
        assert is_connected(instance, flat)


STAR = PROBLEMS["2d-star"]


def random_stars(instance: TopicInstance, seed: int) -> StarCentres:
    pairs = CandidateEdges(instance, all_pairs(instance))
    values = np.random.default_rng(seed).uniform(size=instance.num_subscriptions)
    return StarCentres(pairs, values)


@pytest.mark.parametrize("seeds", tiers(40, 300))
def test_annealing_finds_small_optima(seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        stars = random_stars(instance, seed)
        assert not STAR.violations(instance, stars.overlay)
        stars.anneal(20_000, Clock(None), seed)
        assert not STAR.violations(instance, stars.overlay)
        assert stars.overlay.num_edges == optimum(instance, "2d-star")


def test_searches_never_make_an_overlay_worse() -> None:
    for seed in range(5):
        instance = uniform_instance(40, 30, 6, seed)
        stars = random_stars(instance, seed)
        edges = [stars.overlay.num_edges]
        stars.descend(np.zeros(len(all_pairs(instance))))
        edges.append(stars.overlay.num_edges)
        for moves in (1, 1000, 100_000):
            stars.anneal(moves, Clock(None), seed)
            edges.append(stars.overlay.num_edges)
            assert not STAR.violations(instance, stars.overlay)
        assert edges == sorted(edges, reverse=True)
        assert edges[-1] < edges[0]


@pytest.mark.parametrize("kept", [0, 10_000])
@pytest.mark.parametrize(("nodes", "topics", "size"), [(8, 5, 2), (12, 8, 4), (20, 10, 5), (6, 4, 4)])
def test_the_relaxation_is_worth_that_of_the_model(
    nodes: int, topics: int, size: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(star_planes, "_KEPT", kept)
    for seed in range(4):
        instance = uniform_instance(nodes, topics, size, seed)
        planes = StarPlanes(instance)
        bound = planes.tighten(Clock(None))
        assert bound is not None
        expected = relaxation(instance)
        assert planes.lp.value == pytest.approx(expected, abs=1e-3)
        assert bound.units / planes.unit <= expected + 1e-6
        planes.add_all_rows()
        assert planes.keeps_rows == (kept > 0)
        assert len(set(planes.rows.texts)) == len(planes.rows.texts)
        assert planes.lp.solve(60.0)
        assert planes.lp.value == pytest.approx(expected, abs=1e-3)


def relaxation(instance: TopicInstance) -> float:
    """The LP's value with a column for every pair and every centre, by SciPy."""
    columns: dict[object, int] = {}
    rows, least = [], []
    for t in range(instance.num_topics):
        subscribers = instance.subscribers(t).tolist()
        rows.append({columns.setdefault((t, v), len(columns)): -1 for v in subscribers})
        least.append(-1)
        for i, u in enumerate(subscribers):
            for v in subscribers[:i]:
                pair = columns.setdefault(frozenset((u, v)), len(columns))
                rows.append({pair: -1, columns[t, u]: 1, columns[t, v]: 1})
                least.append(0)
    matrix = np.zeros((len(rows), len(columns)))
    for row, entries in zip(matrix, rows, strict=True):
        row[list(entries)] = list(entries.values())
    costs = [float(isinstance(column, frozenset)) for column in columns]
    return float(linprog(costs, matrix, least, bounds=(0, 1), method="highs").fun)
