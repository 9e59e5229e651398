"""The parts the heuristics share."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlaybench.heuristics.topics.kernels.bucket_queue import BucketQueue
from overlaybench.heuristics.topics.kernels.contributions import open_nodes, partners
from overlaybench.heuristics.topics.kernels.growth import ANY_DEGREE, Growth, _collect
from overlaybench.heuristics.topics.kernels.ties import candidate_of, priority, tie_order
from overlaybench.heuristics.topics.kernels.topic_components import contribution, join
from overlaybench.instances.catalogue import methods_of
from overlaybench.instances.overlay import Overlay
from overlaybench.instances.topics.instance import TopicInstance
from tests.heuristics.topics import twins
from tests.topic_strategies import topic_instances

HEURISTICS = tuple(method for method in methods_of("overlaybench.heuristics.topics") if not method.anytime)


@settings(deadline=None)
@given(st.integers(0, 2**62 - 1), st.sampled_from(["lowest", "highest", "random"]), st.integers(-(2**70), 2**70))
def test_a_priority_stands_for_one_candidate(candidate: int, ties: str, seed: int) -> None:
    order = tie_order(ties, seed)
    place = priority(candidate, order)
    assert 0 <= place < 2**63
    assert candidate_of(place, order) == candidate


def test_random_priorities_order_two_candidates_either_way_equally_often() -> None:
    orders = [tie_order("random", seed) for seed in range(2000)]
    first = sum(priority(4, order) < priority(5, order) for order in orders)
    assert 880 < first < 1120


@settings(max_examples=200, deadline=None)
@given(topic_instances(max_nodes=9), st.randoms(use_true_random=False), st.integers(1, 4))
def test_partners_are_the_open_later_nodes_that_contribute_most(
    instance: TopicInstance, random: object, below: int
) -> None:
    growth, chosen = grown(instance, random)
    weights = twins.contributions(twins.interest_of(instance), chosen)
    open_ = open_nodes(growth.degrees, below, growth.contributions)
    nodes = [v for v in range(instance.num_nodes) if growth.degrees[v] < below]
    assert open_.nodes.tolist() == nodes
    rows = {u: {v: weights.get((u, v), 0) for v in nodes if v > u} for u in nodes}
    level = max((weight for row in rows.values() for weight in row.values()), default=0)
    for u, row in rows.items():
        if level > 0:
            found, bound = partners(u, level, open_, growth.degrees, below, growth.contributions)
            assert found.tolist() == [v for v, weight in row.items() if weight == level]
            assert max(row.values(), default=0) <= bound < level + bool(len(found))


@settings(max_examples=200, deadline=None)
@given(topic_instances(max_nodes=9), st.randoms(use_true_random=False))
def test_contributions_are_those_of_the_components(instance: TopicInstance, random: object) -> None:
    growth, chosen = grown(instance, random)
    for (u, v), weight in twins.contributions(twins.interest_of(instance), chosen).items():
        assert contribution(u, v, growth.components) == weight


def grown(instance: TopicInstance, random: object) -> tuple[Growth, set[twins.Edge]]:
    """An overlay of half of all pairs, drawn at random, and its edges."""
    pairs = list(combinations(range(instance.num_nodes), 2))
    random.shuffle(pairs)  # type: ignore[attr-defined]
    growth, chosen = Growth(instance, tie_order("lowest", 0)), set(pairs[: len(pairs) // 2])
    for u, v in chosen:
        join(u, v, growth.components)
        growth.degrees[[u, v]] += 1
    return growth, chosen


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(1, 5)), unique_by=lambda item: item[0]))
def test_the_bucket_queue_sorts_by_level_then_priority(items: list[tuple[int, int]]) -> None:
    queue, taken = BucketQueue(), []
    half = len(items) // 2
    queue.put_each(
        np.array([place for place, _ in items[:half]], dtype=np.int64),
        np.array([level for _, level in items[:half]], dtype=np.int32),
    )
    for place, level in items[half:]:
        queue.put(np.array([place]), level)
    while level := queue.top:
        taken += [(level, place) for place in queue.pop().tolist()]
    assert taken == sorted(((level, place) for place, level in items), key=lambda item: (-item[0], item[1]))


@pytest.mark.parametrize("ties", ["lowest", "highest", "random"])
@settings(max_examples=100, deadline=None)
@given(topic_instances(max_nodes=9), st.integers(1, 4))
def test_linking_a_level_leaves_no_open_pair_that_contributes_as_much(
    ties: str, instance: TopicInstance, below: int
) -> None:
    growth = Growth(instance, tie_order(ties, 3))
    bounds = growth.bounds()
    while level := int(bounds.max()):
        growth.link_level(bounds, level, below)
        overlay = growth.overlay()
        assert growth.to_merge == overlay.topic_components(instance).sum() - instance.num_topics
        assert (growth.degrees == overlay.degrees).all()
        assert growth.degrees.max() <= below
        open_ = set(np.flatnonzero(growth.degrees < below).tolist())
        for (u, v), weight in twins.contributions(twins.interest_of(instance), overlay_edges(growth)).items():
            assert weight <= bounds[u] < level or not {u, v} <= open_


@settings(max_examples=100, deadline=None)
@given(topic_instances(max_nodes=9), st.randoms(use_true_random=False), st.integers(1, 3))
def test_candidates_collected_a_few_at_a_time_are_all_of_them_in_order(
    instance: TopicInstance, random: object, room: int
) -> None:
    order = tie_order("random", 5)
    growth, chosen = grown(instance, random)
    weights = twins.contributions(twins.interest_of(instance), chosen)
    level = max(1, max(weights.values(), default=0))
    open_ = open_nodes(growth.degrees, ANY_DEGREE, growth.contributions)
    place, taken = twins.place_by("random", 5), []
    while len(taken) % room == 0:
        after = taken[-1] if taken else -1
        collected = _collect(
            level, after, room, growth.bounds(), open_, growth.degrees, ANY_DEGREE, growth.contributions, order
        ).tolist()
        if not collected:
            break
        taken += collected
    n = instance.num_nodes
    assert taken == sorted(place(u * n + v) for (u, v), weight in weights.items() if weight == level)


@settings(max_examples=200, deadline=None)
@given(topic_instances(max_nodes=9), st.randoms(use_true_random=False))
def test_labels_are_equal_within_a_component_only(instance: TopicInstance, random: object) -> None:
    growth, chosen = grown(instance, random)
    components = growth.components
    for topic in range(instance.num_topics):
        expected = twins.components(twins.interest_of(instance), chosen, topic)
        start, end = components.topic_offsets[topic : topic + 2]
        label = dict(zip(components.topic_nodes[start:end].tolist(), components.label[start:end].tolist(), strict=True))
        assert label.keys() == expected.keys()
        for u, v in combinations(expected, 2):
            assert (label[u] == label[v]) == (expected[u] == expected[v])


def overlay_edges(growth: Growth) -> set[twins.Edge]:
    return {divmod(edge, growth.instance.num_nodes) for edge in growth.edges.tolist()}


def test_warming_up_compiles_every_kernel_a_run_needs() -> None:
    """In a process of its own: after the warm-ups, runs with any option compile nothing."""
    program = """
import numba, sys
from overlaybench.instances.catalogue import PROBLEMS, methods_of
HEURISTICS = [m for m in methods_of("overlaybench.heuristics.topics") if not m.anytime]
from overlaybench.heuristics.compiled import Kernel
from overlaybench.instances.topics.instance import TopicInstance

def signatures():
    kernels = {
        id(value): value
        for name, module in sys.modules.items() if name.startswith("overlaybench.heuristics")
        for value in vars(module).values() if isinstance(value, Kernel)
    }
    assert len(kernels) > 20
    return {kernel.__name__: len(kernel.dispatcher.signatures) for kernel in kernels.values()}

for method in HEURISTICS:
    method.warm_up()
before = signatures()
further = {"gm": [{"runs": 1}, {"runs": 3}]}
further |= dict.fromkeys(("naive-dc", "dcb-m", "dcbr-m", "dc-gm"), [{"partitions": p} for p in (0, 1, 4, 50)])
import random
for seed in range(8):
    random.seed(seed)
    instance = TopicInstance.from_subscriptions(
        {f"n{v}": random.sample("abcdefgh", random.randint(1, 5)) for v in range(30)}
    )
    for method in HEURISTICS:
        for ties in ("lowest", "highest", "random"):
            options = {"ties": ties} if any(option.name == "ties" for option in method.options) else {}
            for more in further.get(method.name, [{}]):
                assert method.run(instance, PROBLEMS["min-tco"], seed=seed, **options, **more).answer is not None
after = signatures()
assert before == after, {name: after[name] for name in after if before[name] != after[name]}
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[3], timeout=250)


def test_compilation_is_said_once_a_process_on_stderr_and_only_if_there_is_any(tmp_path: Path) -> None:
    program = """
import sys
from overlaybench.instances.catalogue import methods_of
HEURISTICS = [m for m in methods_of("overlaybench.heuristics.topics") if not m.anytime]
for name in sys.argv[1:]:
    next(method for method in HEURISTICS if method.name == name).warm_up()
"""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run(
            [sys.executable, "-c", program, *names],
            check=True,
            cwd=Path(__file__).parents[3],
            env=environment,
            capture_output=True,
            text=True,
            timeout=250,
        ).stderr
        for names in (("ring-per-topic", "cd-oda-1"), ("cd-oda-1",), ("ring-per-topic", "2d-oda"))
    ]
    assert said == ["compiling kernels, once\n", "", "compiling kernels, once\n"]


def test_kernels_of_earlier_versions_are_removed_a_day_after_their_last_use(tmp_path: Path) -> None:
    old, recent, other = tmp_path / "kernels-1", tmp_path / "kernels-2", tmp_path / "something"
    for folder in (old, recent, other):
        folder.mkdir()
        (folder / "file").write_text("")
    os.utime(old, (0, 0))
    os.utime(other, (0, 0))
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    program = "import overlaybench.heuristics.compiled"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[3], env=environment)
    left = {folder.name for folder in tmp_path.iterdir()}
    assert {"kernels-2", "something"} < left
    assert "kernels-1" not in left


@pytest.mark.parametrize("method", HEURISTICS, ids=lambda method: method.name)
def test_a_summary_fits_a_line(method: object) -> None:
    assert 0 < len(method.summary) < 100  # type: ignore[attr-defined]


def test_an_overlay_of_a_growth_is_sorted() -> None:
    instance = TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(5)})
    growth = Growth(instance, tie_order("random", 3))
    growth.add(np.array([14, 3, 1]), merged=3)
    assert growth.overlay() == Overlay.from_edges(5, [(0, 1), (0, 3), (2, 4)])
