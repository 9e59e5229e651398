"""Polishing and repair: valid, never worse, free of redundant edges, and repeatable."""

from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.heuristics.topics.kernels.interest import singletons
from overlaybench.heuristics.topics.local_search import linked_overlay, overlay_search
from overlaybench.heuristics.topics.local_search import polish as polish_module
from overlaybench.heuristics.topics.local_search.polish import FAULT_TOLERANT_POLISH, POLISH, polish, searches_in_parts
from overlaybench.heuristics.topics.local_search.repair import repaired
from overlaybench.heuristics.topics.local_search.ruin_and_recreate import SearchParameters
from overlaybench.heuristics.topics.ring_per_topic import harary_per_topic
from overlaybench.instances.runtime.compiled import Interpreter, interpreted
from overlaybench.instances.runtime.run import Clock
from tests.heuristics.topics import twins
from tests.instances.test_overlay import subgraphs
from tests.interrupts import ctrl_c_at_answer
from tests.models.topics.small_instances import small_instance, uniform_instance
from tests.outcomes import value_of
from tests.properties import property_test
from tests.topic_brute_force import optimum
from tests.topic_strategies import Case, instances_with_overlays, topic_instances


def marks(
    links: linked_overlay.Links, subscriptions: linked_overlay.VertexTable
) -> dict[tuple[int, tuple[int, ...]], bool]:
    """The links of each topic by their ends, with whether they are marked as bridges."""
    found: dict[tuple[int, tuple[int, ...]], bool] = {}
    for slot in links.members[: links.counts[0]]:
        one = links.first[slot]
        while one >= 0:
            ends = tuple(sorted(int(subscriptions.topic_nodes[links.target[2 * one + i]]) for i in (0, 1)))
            assert ends == tuple(links.ends[slot])
            found[int(links.topic[one]), ends] = bool(links.bridge[one])
            one = links.following[one]
    return found


def connected(instance: ob.TopicInstance, overlay: ob.Overlay) -> ob.Overlay:
    """The overlay with the path over each topic's subscribers added."""
    paths = [edge for t in range(instance.num_topics) for edge in pairwise(instance.subscribers(t).tolist())]
    return ob.Overlay.from_edges(instance.num_nodes, [*overlay.edges.tolist(), *paths])


@property_test(100, instances_with_overlays())
def test_bridges_and_redundant_edges_are_those_of_networkx(pair: Case) -> None:
    instance, overlay = pair
    overlay = connected(instance, overlay)
    subscriptions = linked_overlay.subscriptions_of(instance)
    links = linked_overlay.links_of(overlay, subscriptions, spare_edges=0, spare_links=0)
    most = int(np.diff(instance.topic_offsets).max())
    linked_overlay.mark_all_bridges(subscriptions, links, np.zeros((5, most), np.int32))
    graphs: Any = enumerate(subgraphs(instance, overlay))
    bridges = {(t, tuple(sorted(e))) for t, graph in graphs for e in nx.bridges(graph)}
    found = marks(links, subscriptions)
    assert {key for key, bridge in found.items() if bridge} == bridges
    redundant: set[tuple[int, ...]] = set()
    while links.counts[2]:
        slot = linked_overlay.next_redundant(0.5, links)
        if slot >= 0:
            redundant.add(tuple(links.ends[slot].tolist()))
    assert redundant == set(map(tuple, overlay.edges.tolist())) - {ends for _, ends in bridges}


@property_test(100, topic_instances(max_nodes=9), st.integers(1, 4))
def test_nearest_are_those_with_most_in_common_weighted_by_rarity(instance: ob.TopicInstance, count: int) -> None:
    sizes = [len(instance.subscribers(t)) for t in range(instance.num_topics)]
    worth = [round(100 * float(np.log(2 * max(sizes) / size))) for size in sizes]
    topics = [set(instance.topics_of(v).tolist()) for v in range(instance.num_nodes)]
    expected: set[tuple[int, ...]] = set()
    for v in range(instance.num_nodes):
        scores = {u: sum(worth[t] for t in topics[u] & topics[v]) for u in range(instance.num_nodes) if u != v}
        reached = sorted((score for score in scores.values() if score), reverse=True)[:count]
        chosen = {tuple(sorted((u, v))) for u, score in scores.items() if reached and score > reached[-1]}
        expected |= chosen
        tied = [u for u, score in scores.items() if reached and score == reached[-1]]
        found = {key for key in nearest(instance, count) if v in key}
        assert chosen <= found
        assert len(found & {tuple(sorted((u, v))) for u in tied}) >= len(reached) - len(chosen)
    assert len(nearest(instance, count)) <= instance.num_nodes * count


def nearest(instance: ob.TopicInstance, count: int) -> set[tuple[int, ...]]:
    return {divmod(key, instance.num_nodes) for key in overlay_search.nearest_pairs(instance, count).tolist()}


RANKS: dict[str, Callable[[ob.Overlay], Any]] = {
    "edges": lambda overlay: (overlay.num_edges, overlay.max_degree),
    "degree": lambda overlay: (overlay.max_degree, overlay.num_edges),
    "product": lambda overlay: overlay.num_edges * overlay.max_degree,
}


def is_connected(instance: ob.TopicInstance, overlay: ob.Overlay) -> bool:
    return all(map(nx.is_connected, subgraphs(instance, overlay)))


@property_test(100, instances_with_overlays(), st.sampled_from(list(RANKS)), st.integers(0, 3))
def test_overlays_become_no_worse_and_stay_valid(pair: Case, first: str, seed: int) -> None:
    instance, overlay = pair
    start = connected(instance, overlay)
    polished = polish(instance, start, first=first, seed=seed, steps=600)
    assert is_connected(instance, polished)
    assert RANKS[first](polished) <= RANKS[first](start)


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(60), marks=pytest.mark.slow)], ids=["quick", "all"])
@pytest.mark.parametrize("problem", ["min-tco", "minmax-tco"])
def test_the_optimum_of_small_instances_is_found_from_all_edges_at_once(problem: str, seeds: range) -> None:
    missed = 0
    for seed in seeds:
        instance = small_instance(seed)
        everything = [(u, v) for u in range(instance.num_nodes) for v in range(u)]
        start = ob.Overlay.from_edges(instance.num_nodes, everything)
        first = "edges" if problem == "min-tco" else "degree"
        polished = polish(instance, start, first=first, seed=seed, steps=3000)
        assert ob.PROBLEMS[problem].value(instance, polished) >= optimum(instance, problem)
        missed += ob.PROBLEMS[problem].value(instance, polished) > optimum(instance, problem)
    assert missed == 0


def test_no_two_nodes_have_more_topics_in_common_than_is_counted() -> None:
    instances = [small_instance(seed) for seed in range(60)]
    instances.append(ob.TopicInstance.from_subscriptions({"a": [*"012"], "b": [*"0123"], "c": [*"34"], "d": [*"45"]}))
    for instance in instances:
        topics = [set(instance.topics_of(v).tolist()) for v in range(instance.num_nodes)]
        common = max((len(one & other) for one, other in combinations(topics, 2)), default=0)
        assert common <= overlay_search.most_common_topics(linked_overlay.subscriptions_of(instance))
    leaves = {f"n{leaf}": [f"t{leaf}"] for leaf in range(3000)}
    wanted = [topic for (topic,) in leaves.values()]
    star = ob.TopicInstance.from_subscriptions(leaves | {"hub": wanted, "another": wanted[:50]})
    assert (
        overlay_search.most_common_topics(linked_overlay.subscriptions_of(star)) == 51
    )  # 50 topics of three, and one of two


@pytest.mark.parametrize("cap", [4, 100])
@pytest.mark.parametrize("temperature", [0.05, 1.0])
def test_after_any_number_of_steps_marks_costs_and_overlays_are_right(cap: int, temperature: float) -> None:
    instance = uniform_instance(18, 12, 4)
    start = connected(instance, ob.Overlay.from_edges(18, []))
    search = overlay_search.OverlaySearch(
        linked_overlay.subscriptions_of(instance), start, overlay_search.candidate_lists(instance), 3
    )
    search.drop_redundant()
    penalty = 1.5 if cap < 18 else 0.0
    for steps in (1, 2, 3, 50, 200):
        cost = search.run(SearchParameters(cap, penalty, temperature), steps)
        overlay = search.overlay
        assert is_connected(instance, overlay)
        assert cost == overlay.num_edges + penalty * np.maximum(overlay.degrees - cap, 0).sum()
        links, subscriptions = search._links, search._subscriptions
        now = ob.Overlay.from_edges(18, np.stack(np.divmod(linked_overlay.edges_of(links), 18), axis=1))
        assert is_connected(instance, now)
        found = marks(links, subscriptions)
        for (t, (u, v)), bridge in found.items():
            graph = nx.Graph(subgraphs(instance, now)[t])
            graph.remove_edge(u, v)
            assert bridge == (not nx.is_connected(graph))
        assert {ends for (_, ends), bridge in found.items() if bridge} == set(map(tuple, now.edges.tolist()))


def test_a_step_draws_among_equally_good_edges() -> None:
    """200 steps from a star give 158 trees; they gave 123 when the first of equal edges was always taken."""
    instance = ob.TopicInstance.from_subscriptions({f"n{v}": ["t"] for v in range(8)})
    star, trees = ob.Overlay.from_edges(8, [(0, v) for v in range(1, 8)]), set[bytes]()
    for seed in range(200):
        search = overlay_search.OverlaySearch(
            linked_overlay.subscriptions_of(instance), star, overlay_search.candidate_lists(instance), seed
        )
        search.drop_redundant()
        search.run(SearchParameters(8, 0.0, 1.0), 1)
        trees.add(np.sort(linked_overlay.edges_of(search._links)).tobytes())
    assert len(trees) > 140


def test_an_interpreted_search_is_the_compiled_one() -> None:
    """Degrees above a limit are counted at both ends of an edge: NumPy's sum of two truth values is 1."""

    def searched() -> tuple[float, ob.Overlay]:
        instance = uniform_instance(18, 12, 4)
        start = connected(instance, ob.Overlay.from_edges(18, []))
        search = overlay_search.OverlaySearch(
            linked_overlay.subscriptions_of(instance), start, overlay_search.candidate_lists(instance), 3
        )
        search.drop_redundant()
        return search.run(SearchParameters(4, 1.5, 1.0), 200), search.overlay

    compiled = searched()
    with interpreted(Interpreter()):
        assert searched() == compiled


def test_ctrl_c_or_an_interrupted_clock_ends_the_search_with_the_best_so_far() -> None:
    instance = uniform_instance(40, 30, 5)
    start = connected(instance, ob.Overlay.from_edges(40, []))
    clock = Clock(None)
    clock.interrupt()
    assert polish(instance, start, steps=10**12, clock=clock) == start
    with ctrl_c_at_answer(2):
        result = POLISH.run(instance, ob.PROBLEMS["min-tco"], time_limit=60, overlay=start)
    assert value_of(result) < start.num_edges
    assert result.seconds < 30


def test_ctrl_c_while_kernels_are_recorded_ends_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("overlaybench.heuristics.topics.local_search.polish._Annealing.run", pressed)
    trial = uniform_instance(40, 30, 5).trial()
    with pytest.raises(KeyboardInterrupt):
        POLISH.calls(trial, ob.PROBLEMS["min-tco"], POLISH.complete({}, "min-tco"))


@pytest.mark.parametrize(("problem", "method"), [("min-tco", POLISH), ("k-tco", FAULT_TOLERANT_POLISH)])
def test_steps_end_a_search_before_its_time(problem: str, method: ob.Method[Any, Any]) -> None:
    instance, clocks = ob.generate("uniform", nodes=20, topics=10, subscriptions=4, seed=1), []

    class Noted(Clock):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            clocks.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(polish_module, "Clock", Noted)
        result = method.run(instance, ob.PROBLEMS[problem], time_limit=30, steps=50)
    assert result.answer is not None
    assert clocks
    assert not any(clock.passed for clock in clocks)


@pytest.mark.parametrize("method", [POLISH, FAULT_TOLERANT_POLISH])
@pytest.mark.parametrize("given", [False, True])
def test_an_overlay_that_no_time_is_left_to_judge_is_the_answer(
    method: ob.Method[Any, Any], given: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polish_module, "_JUDGING", 1e9)
    instance, problem = uniform_instance(12, 5, 3), ob.PROBLEMS[method.problems[0]]
    first = harary_per_topic(instance, order="number")
    offered: list[Any] = []
    monkeypatch.setattr(polish_module, "offer", offered.append)
    start: dict[str, Any] = {"overlay": first} if given else {}
    result = method.run(instance, problem, time_limit=1e3, **start)
    assert result.status is ob.Status.TIME_LIMIT
    assert result.answer == first
    assert not offered
    assert value_of(method.run(instance, problem, steps=300, **start)) < value_of(result)


@property_test(100, instances_with_overlays())
def test_an_overlay_that_leaves_a_topic_unconnected_is_refused(pair: Case) -> None:
    instance, overlay = pair
    if is_connected(instance, overlay):
        polish(instance, overlay, steps=0)
    else:
        with pytest.raises(ob.BadInput, match="components: give an overlay"):
            polish(instance, overlay, steps=0)


MIN_TCO = ob.PROBLEMS["min-tco"]


def searched(
    instance: ob.TopicInstance, overlay: ob.Overlay, steps: int, seed: int = 0, threads: int = 1, **given: Any
) -> ob.Overlay:
    search = overlay_search.PartitionedSearch(instance, overlay, seed, threads, **given)
    while search.has_choice and search.steps < steps:
        search.run(lambda taken: taken >= steps)
    return search.overlay


@property_test(30, instances_with_overlays(max_nodes=9), st.integers(1, 4), st.integers(1, 9), st.integers(0, 3))
def test_any_overlay_searched_in_parts_becomes_no_worse_and_stays_valid(
    pair: Case, part: int, group: int, seed: int
) -> None:
    instance, overlay = pair
    start = connected(instance, overlay)
    found = searched(instance, start, 100, seed, group=group, part=part)
    assert not MIN_TCO.violations(instance, found)
    assert found.num_edges <= start.num_edges
    own = overlay_search.candidate_lists(instance, start.edges @ np.array([instance.num_nodes, 1]))
    among_own = searched(instance, start, 100, seed, group=group, part=part, candidates=own)
    assert set(map(tuple, among_own.edges.tolist())) <= set(map(tuple, start.edges.tolist()))


def test_threads_do_not_change_the_overlay() -> None:
    instance = uniform_instance(80, 12, 4)
    overlay = greedy_merge(instance)
    one, two, three = (searched(instance, overlay, 1500, threads=threads, group=40, part=8) for threads in (1, 2, 3))
    assert one == two == three
    assert one != searched(instance, overlay, 1500, seed=1, group=40, part=8)


@property_test(30, instances_with_overlays(), st.sets(st.integers(0, 6), min_size=1), quick=12)
def test_a_part_connects_what_only_its_edges_connect(pair: Case, chosen: set[int]) -> None:
    instance, overlay = pair
    overlay = connected(instance, overlay)
    nodes = np.array(sorted(v for v in chosen if v < instance.num_nodes) or [0], np.int32)
    own = np.isin(overlay.edges, nodes).all(axis=1)
    fixed = singletons(instance)
    overlay_search.connect(overlay.edges[~own], fixed)
    united = overlay_search.copied(fixed)
    overlay_search.connect(overlay.edges[own], united)
    part = overlay_search.contracted(nodes, fixed, united)
    rest = ob.Overlay.from_edges(instance.num_nodes, overlay.edges[~own])
    vertices = {}
    for t, graph in enumerate(subgraphs(instance, rest)):
        pieces = (piece & set(nodes.tolist()) for piece in nx.connected_components(graph))
        if len(parted := sorted(sorted(piece) for piece in pieces if piece)) > 1:
            vertices[t] = parted
    found = [
        sorted(
            sorted(nodes[part.topic_nodes[part.vertex_offsets[p] : part.vertex_offsets[p + 1]]].tolist())
            for p in range(part.topic_offsets[t], part.topic_offsets[t + 1])
        )
        for t in range(len(part.topic_offsets) - 1)
    ]
    assert found == [vertices[t] for t in sorted(vertices)]


def test_equal_interests_are_close_in_the_order_of_nodes() -> None:
    instance = ob.TopicInstance.from_subscriptions({f"n{v}": [f"t{v % 5}", f"u{v % 5}"] for v in range(50)})
    kinds = overlay_search.similar_order(instance, np.random.default_rng(0)) % 5
    assert np.count_nonzero(np.diff(kinds)) == 4


@pytest.mark.slow
def test_large_overlays_are_polished_in_parts() -> None:
    assert searches_in_parts(10_000, "edges")
    assert not searches_in_parts(9_999, "edges")
    assert not searches_in_parts(10**6, "degree")
    instance = ob.WORKLOADS["zipf"].generate(seed=0, nodes=10_000, topics=500, subscriptions=10)
    overlay = greedy_merge(instance)
    polished = polish(instance, overlay, steps=4000)
    assert not MIN_TCO.violations(instance, polished)
    assert polished.num_edges < overlay.num_edges
    assert polished == polish(instance, overlay, steps=4000, threads=2)
    with pytest.raises(ob.BadInput, match="threads"):
        polish(instance, overlay, steps=10, threads=5)


@pytest.mark.interpreted
@property_test(60, given=instances_with_overlays())
def test_an_overlay_is_repaired_with_no_redundant_link(given: Case) -> None:
    instance, earlier = given
    overlay = repaired(instance, earlier)
    assert not ob.check(instance, overlay, "min-tco")
    for edge in twins.edges(overlay):
        fewer = ob.Overlay.from_edges(instance.num_nodes, [other for other in twins.edges(overlay) if other != edge])
        assert ob.check(instance, fewer, "min-tco"), "a redundant link"


@pytest.mark.interpreted
@pytest.mark.parametrize("seed", range(20))
def test_a_minimal_overlay_keeps_its_links_where_nothing_has_changed(seed: int) -> None:
    instance = small_instance(seed)
    minimal = repaired(instance, greedy_merge(instance))
    assert repaired(instance, minimal).edges.tolist() == minimal.edges.tolist()
    most = instance.num_subscriptions - instance.num_topics
    for gone in twins.edges(minimal):
        left = ob.Overlay.from_edges(instance.num_nodes, [edge for edge in twins.edges(minimal) if edge != gone])
        assert len(twins.edges(repaired(instance, left)) - twins.edges(left)) <= most - left.num_edges
