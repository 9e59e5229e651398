"""Overlays of stars: local search ends at valid ones, small optima are found, and the LP without own pairs is whole."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from overlaybench.instances.contract.catalogue import PROBLEMS
from overlaybench.instances.contract.run import Clock
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.models.topics.lp_heuristics.star_centres import StarCentres
from overlaybench.models.topics.relaxation.candidate_edges import CandidateEdges, all_pairs
from overlaybench.models.topics.search import star_search
from overlaybench.models.topics.search.star_search import StarPlanes
from tests.models.topics.small_instances import small_instance, tiers, uniform_instance
from tests.topic_brute_force import optimum

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
    monkeypatch.setattr(star_search, "_KEPT", kept)
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
