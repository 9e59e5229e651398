"""Every heuristic gives the overlay of its twin in plain Python, edge by edge."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import strategies as st

from overlaybench.heuristics.topics.cd_oda import cd_oda, cd_oda_1, cd_oda_2
from overlaybench.heuristics.topics.gm_m import gm_m
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.heuristics.topics.low_oda import low_oda
from overlaybench.heuristics.topics.minmax_oda import minmax_oda
from overlaybench.heuristics.topics.ring_per_topic import ring_per_topic
from overlaybench.heuristics.topics.two_diameter_oda import two_diameter_oda
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.topics.constructions import CONSTRUCTIONS, SET_COVER_CONSTRUCTIONS
from overlaybench.instances.topics.instance import TopicInstance
from tests.heuristics.topics import twins
from tests.heuristics.topics.constructions import CONSTRUCTED
from tests.heuristics.topics.test_guarantees import middling
from tests.properties import property_test
from tests.topic_strategies import topic_instances

PAIRS: dict[str, tuple[Callable[..., Overlay], Callable[..., set[twins.Edge]]]] = {
    "gm": (greedy_merge, twins.greedy_merge),
    "minmax-oda": (minmax_oda, twins.minmax_oda),
    "gm-m": (gm_m, twins.gm_m),
    "gm-m by table": (partial(gm_m, data="table"), twins.gm_m),
    "cd-oda": (cd_oda, twins.cd_oda),
    "cd-oda-1": (cd_oda_1, twins.cd_oda_1),
    "cd-oda-2": (cd_oda_2, twins.cd_oda_2),
    "2d-oda": (two_diameter_oda, twins.two_diameter_oda),
}
TIES = ("lowest", "highest", "random")
# The least k, k between and beyond small contributions, and k that are no exact floats.
FACTORS = (1.0, 1.5, 2.0, 3.0, 7 / 3, 0.1 + 0.2 + 1.7, 100.0)


@property_test(100, instance=topic_instances(), seed=st.integers(-5, 2**40))
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("name", PAIRS)
def test_heuristic_equals_its_twin(name: str, ties: str, instance: TopicInstance, seed: int) -> None:
    method, twin = PAIRS[name]
    assert edges(method(instance, ties=ties, seed=seed)) == twin(twins.interest_of(instance), twins.rank_by(ties, seed))


@property_test(150, instance=topic_instances(), seed=st.integers(0, 99), k=st.sampled_from(FACTORS) | st.floats(1, 8))
@pytest.mark.parametrize("ties", TIES)
def test_low_oda_equals_its_twin(ties: str, instance: TopicInstance, seed: int, k: float) -> None:
    rank = twins.rank_by(ties, seed)
    assert edges(low_oda(instance, k=k, ties=ties, seed=seed)) == twins.low_oda(
        twins.interest_of(instance), rank, Fraction(k)
    )


@property_test(100, instance=topic_instances(), seed=st.integers(0, 99), runs=st.integers(2, 4))
@pytest.mark.parametrize("ties", TIES)
def test_runs_of_greedy_merge_equal_their_twin(ties: str, instance: TopicInstance, seed: int, runs: int) -> None:
    assert edges(greedy_merge(instance, runs=runs, ties=ties, seed=seed)) == twins.greedy_merge_runs(
        twins.interest_of(instance), twins.rank_by(ties, seed), runs
    )


@property_test(200, topic_instances())
def test_ring_per_topic_equals_its_twin(instance: TopicInstance) -> None:
    assert edges(ring_per_topic(instance)) == twins.ring_per_topic(twins.interest_of(instance))


def test_every_construction_is_compared() -> None:
    named = {workload.name for workload in (*CONSTRUCTIONS, *SET_COVER_CONSTRUCTIONS)}
    assert {label.split()[0] for label in CONSTRUCTED} == named


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("name", [*PAIRS, "low-oda", "gm in 3 runs", "ring-per-topic"])
@pytest.mark.parametrize("construction", CONSTRUCTED)
def test_heuristic_equals_its_twin_on_every_construction(construction: str, name: str, ties: str) -> None:
    check(CONSTRUCTED[construction], name, ties, seed=1)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("name", [*PAIRS, "low-oda"])
@pytest.mark.parametrize(("nodes", "topics", "most"), [(14, 5, 3), (12, 20, 10), (18, 9, 5), (16, 2, 2)])
def test_heuristic_equals_its_twin_on_larger_instances(
    nodes: int, topics: int, most: int, name: str, ties: str
) -> None:
    for seed in range(3):
        check(middling(seed, nodes, topics, most), name, ties, seed)


def check(instance: TopicInstance, name: str, ties: str, seed: int) -> None:
    interest, rank = twins.interest_of(instance), twins.rank_by(ties, seed)
    if name == "low-oda":
        assert edges(low_oda(instance, k=2.5, ties=ties, seed=seed)) == twins.low_oda(interest, rank, Fraction(5, 2))
    elif name == "gm in 3 runs":
        assert edges(greedy_merge(instance, runs=3, ties=ties, seed=seed)) == twins.greedy_merge_runs(interest, rank, 3)
    elif name == "ring-per-topic":
        assert edges(ring_per_topic(instance)) == twins.ring_per_topic(interest)
    else:
        method, twin = PAIRS[name]
        assert edges(method(instance, ties=ties, seed=seed)) == twin(interest, rank)


def edges(overlay: Overlay) -> set[twins.Edge]:
    return {(int(u), int(v)) for u, v in overlay.edges}
