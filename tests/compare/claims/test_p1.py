"""P1's claims in small versions: the verdict of the sound algorithm, and another one where something is broken."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import overlaybench as ob
from overlaybench.compare.claims import p1
from overlaybench.compare.claims.claim import Verdict
from overlaybench.compare.claims.enumeration import minimum_set_cover, smallest_degree_of
from overlaybench.compare.claims.link_contributions import LineCounts, merge_by_link_contributions
from overlaybench.compare.claims.properties import assorted, not_greedy
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.instances.topics.constructions import (
    SetCover,
    duplicated_instance,
    greedy_merge_cuboid,
    random_set_cover,
    single_node_instance,
)
from tests.compare.claims.faults import (
    Edges,
    Fault,
    every_pair,
    judged_on,
    tiered,
    with_answers,
    with_broken,
    with_options,
)
from tests.heuristics.topics import twins
from tests.heuristics.topics.test_guarantees import middling
from tests.heuristics.topics.twins import CONSTRUCTED
from tests.outcomes import known, value_of
from tests.properties import property_test
from tests.topic_strategies import topic_instances

CONFIRMED, ORDER, CONTRADICTED = Verdict.CONFIRMED, Verdict.ORDER, Verdict.CONTRADICTED


def one_run(instance: ob.TopicInstance, ties: str, seed: int) -> Edges:
    return set(map(tuple, greedy_merge(instance, ties=ties).edges.tolist()))


def lacking(instance: ob.TopicInstance, ties: str, seed: int) -> Edges:
    return set(sorted(one_run(instance, ties, seed))[:-1])


def relisting(instance: ob.TopicInstance, **given: Any) -> tuple[Any, LineCounts]:
    """An implementation that updates every pair after every edge."""
    edges, work = merge_by_link_contributions(instance, **given)
    return edges, work._replace(updates=work.edges * work.pairs + 1)


def larger_cover(cover: SetCover) -> list[int]:
    return [*minimum_set_cover(cover), 0]


def no_cover(cover: SetCover) -> list[int]:
    return list(minimum_set_cover(cover))[:-1]


def higher_degree(instance: ob.TopicInstance, node: int) -> tuple[int, Any]:
    degree, overlay = smallest_degree_of(instance, node)
    return degree + 3, overlay


BY_NODES, BY_TOPICS = {"nodes": (200, 400, 800)}, {"nodes": 200, "topics": (100,)}
OWN_ORDERS, RINGS = with_options("ring-per-topic", order="random-per-topic"), with_answers("gm", found="ring-per-topic")
FAULTS: Mapping[str, Fault] = {
    "P1.L5.1": Fault(replaced={"p1.smallest_degree_of": higher_degree}),
    "P1.L5.2": Fault(replaced={"p1.minimum_set_cover": larger_cover}),
    "P1.T5.3": Fault(replaced={"p1.minimum_set_cover": larger_cover}),
    "P1.L7.1": Fault(replaced={"p1.minimum_set_cover": no_cover}),
    "P1.L6.1": Fault(with_broken(gm=lacking)),
    "P1.L6.2": Fault(with_broken(gm=every_pair)),
    "P1.L6.4": Fault(replaced={"p1.merge_by_link_contributions": relisting}),
    "P1.L6.5": Fault(with_broken(gm=every_pair), shape={"nodes": (16,)}),
    "P1.L6.6": Fault(with_broken(gm=every_pair)),
    "P1.S6.4": Fault(with_broken(gm=one_run)),
    "P1.S6.4.3": Fault(with_answers("gm-incremental", found="rings"), shape={"popularity": "uniform"}),
    "P1.S6.4.4": Fault(with_broken(gm=every_pair), broken=Verdict.NOT_DECIDED),
    "P1.F2": Fault(RINGS, shape=BY_NODES),
    "P1.S8.2": Fault(replaced={"p1.overlaps": lambda instance: (1.0, 1.0)}),
    "P1.F3": Fault(sound=ORDER, replaced={"p1.updates_of": lambda instance: float(instance.num_nodes**3)}),
    "P1.F4a": Fault(RINGS, ORDER, shape={"nodes": (1000,)}),
    "P1.F4b": Fault(OWN_ORDERS, CONTRADICTED, CONFIRMED, shape=BY_TOPICS),
    "P1.I.1": Fault(OWN_ORDERS, CONTRADICTED, CONFIRMED, shape={"nodes": 400, "topics": (100,)}),
    "P1.I.2": Fault(with_broken(gm=every_pair), shape={"nodes": (100,)}),
    "P1.I.4": Fault(OWN_ORDERS, CONTRADICTED, CONFIRMED, shape={"nodes": 400, "topics": (100,)}),
}


@pytest.fixture(autouse=True)
def fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four set covers, and the smaller assorted instances."""
    covers = p1._covers

    def small(quick: bool) -> Iterator[tuple[str, ob.TopicInstance]]:
        return ((name, one) for name, one in assorted(quick) if one.num_nodes < 100)

    monkeypatch.setattr(p1, "_covers", lambda number, *sizes: covers(min(number, 4), *sizes))
    monkeypatch.setattr("overlaybench.compare.claims.p1.assorted", small)


SLOW = {
    *("P1.L5.1", "P1.L6.1", "P1.L6.4", "P1.S6.4", "P1.S6.4.3", "P1.F2", "P1.F3", "P1.F4a", "P1.F4b"),
    *("P1.I.1", "P1.I.4"),
}


@tiered(SLOW, FAULTS)
def test_a_fault_changes_the_verdict(id_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[id_].check(id_, monkeypatch)


@pytest.mark.interpreted
def test_a_higher_level_and_a_wrong_closed_form_contradict_figure_3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(p1, "merge_by_link_contributions", relisting)
    assert "updates, not" in judged_on("P1.F3", ob.METHODS, {}).because


def test_an_edge_that_contributes_less_than_another_one_is_found_in_a_trace() -> None:
    fork = {"n0": ["a", "b"], "n1": ["a", "b", "c", "d"], "n2": ["c", "d"], "n3": ["c", "e"], "n4": ["e"]}
    instance = ob.TopicInstance.from_subscriptions(fork)
    for method, greedy in (("gm", True), ("gm-m", False)):  # GM-M keeps n1's degree at 1 and links n2 and n3 early
        run = ob.METHODS[method].run(instance, ob.PROBLEMS["min-tco"], seed=0, trace=True)
        assert (not_greedy(instance, run) == "") is greedy
    again = replace(known(run.trace), steps=known(run.trace).steps[:1] * 2)
    assert "contributes 0" in not_greedy(instance, replace(run, trace=again))


LARGER = (middling(1, 18, 9, 5), middling(2, 12, 20, 10))


@pytest.mark.interpreted
@property_test(100, topic_instances())
def test_each_edge_contributes_most_when_it_is_added(instance: ob.TopicInstance) -> None:
    _check(instance)


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "instance",
    [*(pytest.param(each, marks=pytest.mark.slow) for each in CONSTRUCTED.values()), *LARGER],
    ids=[*CONSTRUCTED, "random", "random, many topics"],
)
def test_each_edge_contributes_most_on_larger_instances(instance: ob.TopicInstance) -> None:
    _check(instance)


def _check(instance: ob.TopicInstance) -> None:
    interest = twins.interest_of(instance)
    edges, work = merge_by_link_contributions(instance)
    overlay, updates = set[twins.Edge](), 0
    weights = twins.contributions(interest, overlay)
    for pair in map(tuple, edges.tolist()):
        assert weights[pair] == max(weights.values()) > 0
        overlay.add(pair)
        after = twins.contributions(interest, overlay)
        updates += sum(weights[other] - after[other] for other in after)
        weights = after
    assert (work.edges, work.updates) == (len(edges), updates)
    assert work.listed == sum(weight > 0 for weight in twins.contributions(interest, set()).values())
    built = ob.Overlay.from_edges(instance.num_nodes, sorted(overlay))
    assert ob.PROBLEMS["min-tco"].violations(instance, built) == []


@pytest.mark.interpreted
def test_the_loop_as_printed_leaves_topics_apart() -> None:
    instance = ob.WORKLOADS["exponential"].generate(nodes=60, topics=20, subscriptions=5, seed=0)
    overlays = [
        ob.Overlay.from_edges(instance.num_nodes, merge_by_link_contributions(instance, as_printed=printed)[0])
        for printed in (False, True)
    ]
    assert [bool((overlay.topic_components(instance) == 1).all()) for overlay in overlays] == [True, False]


class TestErrata:
    def test_lemma_5_1_does_not_bound_the_edges(self) -> None:
        single = single_node_instance(cover := random_set_cover(5, 3, 0.15, 0))
        degree, _ = smallest_degree_of(single, len(cover.sets))
        instance = duplicated_instance(single, len(cover.sets))
        fewest = ob.METHODS["branch-and-cut"].run(instance, ob.PROBLEMS["min-tco"], seed=0)
        assert value_of(fewest) > max(3, degree)

    def test_lemma_6_2s_topics_have_cycles(self) -> None:
        found = 0
        for _, instance in assorted(True):
            overlay = greedy_merge(instance, ties="random", seed=1)
            common = np.zeros(instance.num_topics, int)
            for u, v in overlay.edges.tolist():
                common[np.intersect1d(instance.topics_of(u), instance.topics_of(v))] += 1
            found += bool((common > np.diff(instance.topic_offsets) - 1).any())
        assert found

    @pytest.mark.interpreted
    def test_lemma_6_4s_initialization_examines_pairs_without_common_topics(self) -> None:
        ratios = []
        for nodes in (50, 100, 200):
            pairs = ob.TopicInstance.from_subscriptions({f"n{v}": [f"t{v // 2}"] for v in range(nodes)})
            ratios.append(merge_by_link_contributions(pairs)[1].initialization / p1.common_topics(pairs))
        assert ratios[2] > 1.5 * ratios[1] > 2.25 * ratios[0]

    def test_lemma_6_5s_bound_is_below_1_on_two_nodes(self) -> None:
        instance = ob.TopicInstance.from_subscriptions({"n0": ["a"], "n1": ["a"]})
        assert greedy_merge(instance).num_edges == 1 > np.log(instance.num_subscriptions)

    def test_lemma_6_6s_order_is_not_that_of_the_algorithm(self) -> None:
        instance = greedy_merge_cuboid(k=4, m=3)
        trace = known(ob.METHODS["gm"].run(instance, ob.PROBLEMS["min-tco"], seed=0, trace=True).trace)
        named = [{instance.node_label(v) for v in edge} for step in trace for edge in step.edges]
        assert all({f"Stwo{p}", "Sk4"} in named[:2] for p in (1, 2))
        assert not all({f"Stwo{p}", f"Sk{i}"} in named[:8] for p in (1, 2) for i in range(1, 5))
