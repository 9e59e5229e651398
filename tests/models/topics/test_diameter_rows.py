"""Rows of diameter 2 cut off exactly the graphs of larger diameter, and no others."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest

from overlaybench.models.topics.relaxation.candidate_edges import CandidateEdges, all_pairs
from overlaybench.models.topics.relaxation.separation import violated_diameters
from tests.models.topics.small_instances import small_instance, tiers, uniform_instance
from tests.topic_brute_force import all_graphs, members_of_topics


@pytest.mark.parametrize("seeds", tiers(40, 150))
def test_zero_one_vectors_violate_a_row_if_and_only_if_the_topic_is_too_wide(seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        edges = CandidateEdges(instance, all_pairs(instance))
        chosen = np.random.default_rng(seed).random(len(edges)) < 0.6
        graphs = all_graphs(instance.num_nodes)
        taken = set(zip(edges.u[chosen].tolist(), edges.v[chosen].tolist(), strict=True))
        mask = sum(1 << place for place, pair in enumerate(graphs.pairs) if pair in taken)
        rows = violated_diameters(instance.topic_offsets, edges.links, chosen.astype(float), tolerance=1e-4)
        wide = [
            t for t, members in enumerate(members_of_topics(instance)) if not graphs.brings_within_two(members)[mask]
        ]
        assert sorted(set(rows.topic.tolist())) == wide


def test_the_most_violated_row_is_found_for_fractional_values() -> None:
    for seed in range(40):
        instance = uniform_instance(6, 2, 1, seed)
        edges = CandidateEdges(instance, all_pairs(instance))
        x = np.random.default_rng(seed).integers(0, 5, len(edges)) / 8
        weight = dict(zip(zip(edges.u.tolist(), edges.v.tolist(), strict=True), x.tolist(), strict=True))
        rows = violated_diameters(instance.topic_offsets, edges.links, x, tolerance=1e-6)
        for t, members in enumerate(members_of_topics(instance)):
            least = 1.0
            for u, v in combinations(members, 2):
                others = [w for w in members if w not in (u, v)]
                for near in chain.from_iterable(combinations(others, k) for k in range(len(others) + 1)):
                    total = weight[u, v] + sum(
                        weight[min(end, w), max(end, w)] for w in others for end in [u if w in near else v]
                    )
                    least = min(least, total)
            assert (t in rows.topic) == (least < 1 - 1e-6)
