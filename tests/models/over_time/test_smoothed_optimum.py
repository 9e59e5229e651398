"""The smoothed optimum is the least over all sequences of overlays, and no method is below it."""

from itertools import chain, combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.compare.studies.proofs import run_checker
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.instances.runtime.run import Clock
from overlaybench.models.over_time import snapshot_optima
from overlaybench.models.topics.relaxation.cutting_planes import CuttingPlanes, KeptRows
from overlaybench.models.topics.relaxation.separation import Goal
from tests.outcomes import bound_of, value_of
from tests.properties import property_test
from tests.trace_strategies import Subscriptions, event_lists, held_over_time, parts

pytestmark = pytest.mark.interpreted

Links = frozenset[tuple[str, str]]
Drawn = tuple[dict[str, list[str]], list[ob.Event]]


def overlays(held: Subscriptions) -> list[Links]:
    """All overlays of a snapshot."""
    pairs = [(u, v) for u, v in combinations(sorted(held), 2) if held[u] & held[v]]
    topics = {topic for own in held.values() for topic in own}
    every = chain.from_iterable(combinations(pairs, size) for size in range(len(pairs) + 1))
    return [frozenset(one) for one in every if all(len(parts(held, set(one), topic)) == 1 for topic in topics)]


def least_cost(start: dict[str, list[str]], events: list[ob.Event], change_cost: int) -> int:
    """The least cost of all sequences of overlays, one for each snapshot."""
    states = [held for _, held in held_over_time(start, events)]
    least = {links: len(links) for links in overlays(states[0])}
    for held in states[1:]:
        left = dict[Links, int]()
        for links, cost in least.items():
            stay = frozenset(link for link in links if all(v in held for v in link))
            left[stay] = min(cost, left.get(stay, cost))
        least = {
            links: len(links) + min(cost + change_cost * len(links ^ stay) for stay, cost in left.items())
            for links in overlays(held)
        }
    return min(least.values())


def smoothed(trace: ob.TopicTrace, change_cost: int, *, time_limit: float | None = None) -> ob.Result[ob.LinkLog]:
    name = f"dynamic-tco@change-cost={change_cost}" if change_cost else "dynamic-tco"
    return ob.solve(trace, name, "smoothed-optimum", time_limit=time_limit)


@property_test(300, event_lists(max_nodes=4, max_topics=4, max_events=8), st.integers(0, 5), quick=15)
def test_the_smoothed_optimum_is_the_least_of_all_sequences_of_overlays(drawn: Drawn, change_cost: int) -> None:
    result = smoothed(ob.TopicTrace.from_events(*drawn), change_cost)
    assert result.status is ob.Status.OPTIMAL
    assert value_of(result) == bound_of(result) == least_cost(*drawn, change_cost)


def test_a_link_that_is_needed_again_soon_is_kept_and_one_that_is_needed_late_is_not() -> None:
    start = {"a": ["x", "y"], "b": ["x", "y"], "c": ["x", "y"]}
    away = [ob.Event(1, "unsubscribe", "c", ["x"]), ob.Event(2, "subscribe", "c", ["x"])]
    # Two links connect both topics of three nodes; after the first event c needs one link in y alone.
    assert least_cost(start, away, 1) == value_of(smoothed(ob.TopicTrace.from_events(start, away), 1)) == 6
    # A vanishing link costs nothing, the one that comes back costs a change.
    leaves = [ob.Event(1, "leave", "c"), ob.Event(2, "join", "c", ["x", "y"])]
    assert least_cost(start, leaves, 7) == value_of(smoothed(ob.TopicTrace.from_events(start, leaves), 7)) == 5 + 7


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_without_a_cost_of_changes_it_is_the_sum_of_the_optima_of_snapshots(seed: int) -> None:
    trace = ob.generate("churn", seed=seed, nodes=12, topics=6, subscriptions=3, events=10)
    other = ob.solve(trace, "dynamic-tco", "snapshot-optima")
    result = smoothed(trace, 0)
    assert result.status is other.status is ob.Status.OPTIMAL
    assert value_of(result) == value_of(other)


def test_no_method_is_below_it_and_it_rises_with_the_cost_of_changes() -> None:
    trace = ob.generate("churn", seed=5, nodes=10, topics=6, subscriptions=3, events=5)
    values = []
    for change_cost in (0, 4):
        values.append(value_of(smoothed(trace, change_cost)))
        problem = ob.PROBLEMS["dynamic-tco" + (f"@change-cost={change_cost}" if change_cost else "")]
        for name, method in ob.METHODS.items():
            if method.answers("dynamic-tco"):
                assert value_of(method.run(trace, problem)) >= values[-1], name
    assert values == sorted(values)
    assert values[0] < values[1]


@pytest.mark.slow
def test_when_it_is_stopped_bound_and_value_enclose_the_optimum_and_a_delay_is_skipped() -> None:
    trace = ob.generate("churn", seed=2, nodes=14, topics=6, subscriptions=3, events=12)
    optimum = value_of(smoothed(trace, 2))
    stopped = smoothed(trace, 2, time_limit=0.05)
    assert 0 <= (stopped.lower_bound or 0) <= optimum <= (stopped.value or optimum)
    assert ob.solve(trace, "dynamic-tco@delay=1", "smoothed-optimum").status is ob.Status.SKIPPED


def test_time_that_is_left_goes_to_the_snapshots_without_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = ob.generate("churn", seed=1, nodes=6, topics=3, subscriptions=2, events=3)
    optimum, solved = snapshot_optima._optimum, list[int]()

    def unproven_at_first(instance: ob.TopicInstance, step: int, *others: Any) -> snapshot_optima.SnapshotOptimum:
        solved.append(step)
        found = optimum(instance, step, *others)
        return found._replace(bound=0) if solved.count(step) < 2 else found

    monkeypatch.setattr(snapshot_optima, "_optimum", unproven_at_first)
    assert ob.solve(trace, "dynamic-tco", "snapshot-optima").status is ob.Status.OPTIMAL
    assert sorted(solved) == sorted([*set(solved)] * 2)


@pytest.mark.parametrize("seed", [2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (0, 1, 3))])
def test_rows_kept_for_the_next_snapshot_bound_it(seed: int) -> None:
    trace, kept, given = ob.generate("churn", seed=seed, nodes=12, topics=8, subscriptions=4, events=2), KeptRows(), 0
    for instance in trace.snapshots():
        assert instance is not None
        planes = CuttingPlanes(instance, Goal(), greedy_merge(instance))
        kept.topics = list(map(instance.topic_label, range(instance.num_topics)))
        first = len(planes.rows.topic)
        given += kept.give(planes)
        for r in range(first, len(planes.rows.topic)):
            labels = planes.rows.label[planes.rows.offsets[r] : planes.rows.offsets[r + 1]]
            assert len(labels) == len(instance.subscribers(int(planes.rows.topic[r])))
            assert planes.rows.rhs[r] == len(set(labels.tolist())) - 1
        planes.tighten(Clock(None))
        assert planes.least_value(planes.best_units) <= value_of(ob.solve(instance, "min-tco", "branch-and-cut"))
        kept.take(planes)
    assert given


@pytest.mark.slow
def test_a_proof_by_kept_rows_is_accepted(tmp_path: Path) -> None:
    trace = ob.generate("ethereum-epochs", nodes=100, custody=8, epochs=6)
    result = ob.solve(trace, "dynamic-tco", "snapshot-optima", proof=tmp_path / "proof.gz")
    ob.write_trace(trace, tmp_path / "trace.jsonl")
    checked = run_checker(tmp_path / "trace.jsonl", tmp_path / "proof.gz", digest=trace.digest)
    assert (checked.optimal, checked.value) == (True, result.value)
