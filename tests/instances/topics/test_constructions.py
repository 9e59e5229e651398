"""The papers' constructions are as they are told: sizes, subscriptions, and the overlays that are said to suffice."""

from itertools import combinations

import numpy as np
import pytest

import overlaybench as ob
from overlaybench.instances.topics import constructions


def overlay_of(instance: ob.TopicInstance, edges: list[tuple[str, str]]) -> ob.Overlay:
    return ob.Overlay.from_labels(edges, instance)


def common(instance: ob.TopicInstance, a: str, b: str) -> int:
    ids = {instance.node_label(v): v for v in range(instance.num_nodes)}
    return len(np.intersect1d(instance.topics_of(ids[a]), instance.topics_of(ids[b])))


@pytest.mark.parametrize(("k", "m"), [(2, 3), (3, 4), (4, 3)])
def test_the_cuboid_of_lemma_6_6_has_the_intersections_of_its_proof(k: int, m: int) -> None:
    instance = constructions.greedy_merge_cuboid(k=k, m=m)
    assert (instance.num_nodes, instance.num_topics) == (2 + k + m, 2 * (2**k - 1) * m)
    for i in range(1, k + 1):
        assert common(instance, f"Sk{i}", "Sm1") == 2**i
        assert common(instance, f"Sk{i}", "Stwo2") == m * 2 ** (i - 1)
    assert common(instance, "Stwo1", "Stwo2") == common(instance, "Sk1", "Sk2") == common(instance, "Sm1", "Sm2") == 0
    others = [f"Sk{i}" for i in range(1, k + 1)] + [f"Sm{j}" for j in range(1, m + 1)]
    overlay = overlay_of(instance, [(two, other) for two in ("Stwo1", "Stwo2") for other in others])
    assert overlay.num_edges == 2 * m + 2 * k
    assert ob.PROBLEMS["min-tco"].violations(instance, overlay) == []


@pytest.mark.parametrize("n", [4, 6, 9])
def test_stars_suffice_where_p2_says_so(n: int) -> None:
    for instance, centre in (
        (constructions.minmax_oda_matchings(n=n), "v1"),
        (constructions.nested_subscriptions(n=n), f"v{n}"),
    ):
        star = overlay_of(instance, [(centre, f"v{i}") for i in range(1, n + 1) if f"v{i}" != centre])
        assert ob.PROBLEMS["2d-star"].violations(instance, star) == []


def test_every_node_of_lemma_1_shares_two_topics_with_every_other() -> None:
    instance = constructions.minmax_oda_matchings(n=5)
    assert instance.num_topics == 25
    assert {common(instance, f"v{i}", f"v{j}") for i, j in combinations(range(2, 6), 2)} == {2}
    assert {common(instance, "v1", f"v{i}") for i in range(2, 6)} == {2 * 5 - 1}


@pytest.mark.parametrize("n", [2, 3, 4])
def test_lemma_6_has_its_topic_sets_in_full_size(n: int) -> None:
    instance = constructions.weighted_nested_subscriptions(n=n)
    assert instance.num_topics == n + n**3 * n * (n + 1) // 2
    assert common(instance, "v1", "u1") == n**4
    edges = [(f"v{n}", f"v{i}") for i in range(1, n)] + [(f"u{i}", f"v{i}") for i in range(1, n + 1)]
    overlay = overlay_of(instance, edges)
    assert overlay.num_edges == 2 * n - 1
    assert ob.PROBLEMS["2d-star"].violations(instance, overlay) == []


@pytest.mark.parametrize("n", [5, 8, 14])
def test_n_edges_suffice_in_case_seven(n: int) -> None:
    instance = constructions.case_seven(n=n)
    assert (instance.num_nodes, instance.num_topics) == (n, n + 2)
    edges = [("u1", u) for u in ("v1", "v2", *(f"u{i}" for i in range(2, n - 2)))] + [("v1", "v2"), ("v1", "w")]
    overlay = overlay_of(instance, edges)
    assert overlay.num_edges == n
    assert ob.PROBLEMS["2d-true"].violations(instance, overlay) == []


@pytest.mark.parametrize("h", [1, 2, 4])
def test_a_binary_tree_connects_lemma_8(h: int) -> None:
    instance = constructions.binary_tree_of_topics(h=h)
    assert (instance.num_nodes, instance.num_topics) == (2 ** (h + 1) - 1, 2**h)
    children = [(f"v{i}-{(j + 1) // 2}", f"v{i + 1}-{j}") for i in range(h) for j in range(1, 2 ** (i + 1) + 1)]
    tree = overlay_of(instance, children)
    assert ob.PROBLEMS["minmax-tco"].violations(instance, tree) == []
    assert tree.max_degree == min(3, h + 1)
    bad = instance.induced(np.array(constructions.root_and_leaves(h=h)))
    assert bad.num_nodes == 2**h + 1
    assert bad.num_topics == 2**h
    assert set(np.diff(bad.topic_offsets)) == {2}


def test_the_reductions_of_p1_have_the_sizes_of_their_proofs() -> None:
    cover = constructions.random_set_cover(6, 4, 0.4, 1)
    single = constructions.single_node_instance(cover)
    assert (single.num_nodes, single.num_topics) == (5, 6)
    assert len(single.topics_of(4)) == 6
    duplicated = constructions.duplicated_instance(single, 4)
    assert (duplicated.num_nodes, duplicated.num_topics) == (1 + 4 * 4, 6)
    assert duplicated.node_label(16) == "v"
    for number, members in enumerate(cover.sets):
        assert all(len(duplicated.topics_of(4 * number + copy)) == len(members) for copy in range(4))
    repeated = constructions.repeated_instance(cover, 16)
    assert (repeated.num_nodes, repeated.num_topics) == (4 + 16, 6 * 16)
    assert all(len(repeated.topics_of(4 + i)) == 6 for i in range(16))
