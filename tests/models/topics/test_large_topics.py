"""The bound that large topics add to a split of costs among the small ones."""

from __future__ import annotations

import math
import random
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from overlaybench.instances.catalogue import PROBLEMS
from overlaybench.instances.clock import Clock
from overlaybench.models.engine.integer_bound import UNIT
from overlaybench.models.topics import lp_bound
from overlaybench.models.topics.bounds.cost_splitting import split_costs
from overlaybench.models.topics.bounds.large_topics import small_topics, units_of_large_topics, with_topics
from tests.models.topics.small_instances import small_instance, tiers, uniform_instance
from tests.topic_brute_force import optimum


@pytest.mark.parametrize("seeds", tiers(40, 300))
def test_large_topics_add_the_spanning_trees_of_what_the_others_leave(seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        draw = random.Random(seed)
        small = np.array([draw.random() < 0.5 for _ in range(instance.num_topics)])
        part = with_topics(instance, small)
        assert [part.subscribers(t).tolist() for t in range(int(small.sum()))] == [
            instance.subscribers(int(t)).tolist() for t in np.flatnonzero(small)
        ]
        splitting = split_costs(part, 5.0, Clock(None), rounds=7)
        n, edges = instance.num_nodes, splitting.edges
        left = dict.fromkeys(combinations(range(n), 2), UNIT)
        for edge, share in zip(edges.links.edge.tolist(), splitting.shares.tolist(), strict=True):
            left[divmod(int(edges.keys[edge]), n)] -= share
        large = sorted(np.flatnonzero(~small).tolist(), key=lambda t: (len(instance.subscribers(t)), t))
        trees = 0
        for place, t in enumerate(large):
            graph: nx.Graph[int] = nx.Graph()
            smaller = [set(instance.subscribers(s).tolist()) for s in large[:place]]
            for u, v in combinations(instance.subscribers(t).tolist(), 2):
                taken = any(u in members and v in members for members in smaller)
                graph.add_edge(u, v, weight=0 if taken else left[u, v])
            trees += sum(d["weight"] for *_, d in nx.minimum_spanning_edges(graph, data=True))
        added = units_of_large_topics(instance, small, splitting)
        assert added == trees, f"seed {seed}"
        assert math.ceil((splitting.units + added) / UNIT) <= optimum(instance, "min-tco"), f"seed {seed}"


def test_small_topics_are_those_of_fewest_pairs() -> None:
    instance = uniform_instance(20, 9, 3)
    sizes = np.diff(instance.topic_offsets)
    small = small_topics(instance, 60)
    assert 0 < small.sum() < len(small)
    assert (sizes * (sizes - 1) // 2)[small].sum() <= 60
    assert sizes[small].max() <= sizes[~small].min()


def test_lp_bound_keeps_large_topics_in_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = uniform_instance(30, 9, 3)
    run = lp_bound.LP_BOUND.run
    whole = run(instance, PROBLEMS["min-tco"], method="splitting")
    monkeypatch.setattr(lp_bound, "_SPLIT_LINKS", 10)
    monkeypatch.setattr(lp_bound, "_SMALL_LINKS", 150)
    part = run(instance, PROBLEMS["min-tco"], method="splitting")
    assert part.counters["large_topics"] != 0
    assert 29 <= (part.lower_bound or 0) <= (whole.value or 0)
