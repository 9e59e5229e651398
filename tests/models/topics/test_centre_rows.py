"""The rows of topics of diameter 2 that tell graphs with a centre from others, against all graphs."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import strategies as st

from overlaybench.instances.contract.run import Clock
from overlaybench.models.engine.relaxation import UNIT
from overlaybench.models.topics.relaxation.centre_rows import CentreRows, first_centre_rows
from overlaybench.models.topics.relaxation.cutting_planes import proven_bound
from overlaybench.models.topics.relaxation.separation import Goal
from overlaybench.models.topics.relaxation.topic_rows import CENTRES, CandidateEdges, all_pairs
from tests.models.topics.small_instances import tiers, uniform_instance
from tests.properties import property_test
from tests.topic_brute_force import all_graphs, optimum

SEEDS = st.integers(0, 10**9)


@cache
def graphs_of_diameter_two(n: int) -> npt.NDArray[np.int64]:
    """The edges of each, by pairs in lexicographic order."""
    graphs = all_graphs(n)
    valid = graphs.brings_within_two(tuple(range(n)))
    return np.stack([graphs.has[pair][valid] for pair in combinations(range(n), 2)], axis=1).astype(np.int64)


def coefficients(labels: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    n = int(labels[0])
    return labels[1 : 1 + n * (n - 1) // 2]


@pytest.mark.parametrize("n", [4, 5, 6])
def test_graphs_of_diameter_two_without_a_centre_have_two_edges_a_node_but_five(n: int) -> None:
    graphs = graphs_of_diameter_two(n)
    ends = np.array(list(combinations(range(n), 2)))
    degrees = np.stack([graphs[:, (ends == v).any(axis=1)].sum(axis=1) for v in range(n)], axis=1)
    without = graphs[degrees.max(axis=1) < n - 1]
    assert without.sum(axis=1).min() == max(n, 2 * n - 5)


@property_test(400, SEEDS, quick=20)
def test_rows_hold_for_all_graphs_of_diameter_two_and_cut_the_point_off(seed: int) -> None:
    draw, n = np.random.default_rng(seed), 4 + seed % 3
    separation = CentreRows(n)
    for _ in range(4):
        x = np.minimum(draw.integers(0, 7, n * (n - 1) // 2) / draw.choice([6, 12]), 1.0)
        row = separation.violated(x, 1e-4)
        if row is not None:
            rhs, labels = row
            assert (graphs_of_diameter_two(n) @ coefficients(labels) >= rhs).all()
            assert coefficients(labels) @ x < rhs


@property_test(400, SEEDS, quick=20)
def test_no_average_of_graphs_of_diameter_two_is_cut_off(seed: int) -> None:
    draw, n = np.random.default_rng(seed), 4 + seed % 3
    graphs, separation = graphs_of_diameter_two(n), CentreRows(n)
    for count in (1, 2, 5):
        assert separation.violated(graphs[draw.integers(0, len(graphs), count)].mean(axis=0), 1e-4) is None


def test_too_few_edges_are_cut_off() -> None:
    pairs = list(combinations(range(6), 2))
    path = np.array([float(b - a == 1) for a, b in pairs])  # connected, of diameter 5
    all_stars = np.full(len(pairs), 1 / 3)
    assert CentreRows(6).violated(path, 1e-4) is not None
    assert CentreRows(6).violated(all_stars, 1e-4) is None
    assert CentreRows(6).violated(all_stars - 1e-3, 1e-4) is not None


@pytest.mark.parametrize("seeds", tiers(6, 60))
def test_the_lp_of_all_topics_bounds_the_optimum_by_rows_of_single_topics(seeds: range) -> None:
    for seed in seeds:
        instance = uniform_instance(6, 4, 3, seed)
        found = first_centre_rows(instance, Clock(None))
        sizes = np.diff(instance.topic_offsets)
        assert (found is None) == (sizes.max() < 4)
        if found is None:
            continue
        _, rows, duals = found
        for r in np.flatnonzero(rows.kind == CENTRES):
            labels = rows.label[rows.offsets[r] : rows.offsets[r + 1]]
            graphs = graphs_of_diameter_two(int(sizes[rows.topic[r]]))
            assert (graphs @ coefficients(labels) >= rows.rhs[r]).all()
        edges = CandidateEdges(instance, all_pairs(instance))
        units = proven_bound(edges, rows, duals, np.zeros(6), Goal()).units
        assert 0 < units <= UNIT * optimum(instance, "2d-true")
