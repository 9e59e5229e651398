"""The instances that P1, P2 and P3 construct to prove lower bounds, and reductions of set cover (P1).

Labels are those of the papers; nodes are numbered in their natural order (Sk1, Sm1, Stwo1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ..contract.option import Option
from ..contract.workload import Workload
from .instance import TopicInstance


def greedy_merge_cuboid(*, k: int, m: int) -> TopicInstance:
    """P1, Lemma 6.6: a cuboid of 2 × (2^k − 1) × m topics, with a subscriber for each plane, slab and row.

    Stwo1 and Stwo2 subscribe to a plane each, Sk_i to a slab of width 2^(i−1), Sm_j to a row: m + k + 2 nodes. Edges
    from both Stwo nodes to all other nodes suffice: 2m + 2k. Cost O(2^k m).
    """
    slabs = {i: range(2 ** (i - 1) - 1, 2**i - 1) for i in range(1, k + 1)}
    planes, width, rows = range(1, 3), range(2**k - 1), range(1, m + 1)
    topics_of = {f"Stwo{p}": _grid([p], width, rows) for p in planes}
    topics_of |= {f"Sk{i}": _grid(planes, slabs[i], rows) for i in slabs}
    topics_of |= {f"Sm{j}": _grid(planes, width, [j]) for j in rows}
    return TopicInstance.from_subscriptions(topics_of)


def minmax_oda_matchings(*, n: int) -> TopicInstance:
    """P2, Lemma 1: v1 subscribes to all n² topics t(i, j), every other v_i to t(i, j) and t(j, i) for all j.

    A star at v1 has n − 1 edges. Cost O(n²).
    """
    numbers = range(1, n + 1)
    topics_of = {"v1": [f"t{i}-{j}" for i in numbers for j in numbers]}
    topics_of |= {f"v{i}": sorted({t for j in numbers for t in (f"t{i}-{j}", f"t{j}-{i}")}) for i in numbers[1:]}
    return TopicInstance.from_subscriptions(topics_of)


def nested_subscriptions(*, n: int) -> TopicInstance:
    """P2, Lemma 5: v_i subscribes to t_1 … t_i. A star at v_n has n − 1 edges. Cost O(n²)."""
    return TopicInstance.from_subscriptions({f"v{i}": _first_topics(i) for i in range(1, n + 1)})


def weighted_nested_subscriptions(*, n: int) -> TopicInstance:
    """P2, Lemma 6: v_i subscribes to t_1 … t_i and, like u_i, to the n³(n − i + 1) topics of S_i.

    A star at v_n and the n edges (u_i, v_i) suffice: 2n − 1. Cost O(n^5).
    """
    sets = {i: [f"s{i}-{j}" for j in range(1, n**3 * (n - i + 1) + 1)] for i in range(1, n + 1)}
    topics_of = {f"v{i}": [*_first_topics(i), *sets[i]] for i in sets}
    topics_of |= {f"u{i}": sets[i] for i in sets}
    return TopicInstance.from_subscriptions(topics_of)


def case_seven(*, n: int) -> TopicInstance:
    """P2, Case VII: v1 has topics x_1 … x_n and z, v2 x_1 … x_n, w z, each of u_1 … u_(n−3) x_1 and y. Cost O(n)."""
    xs = [f"x{i}" for i in range(1, n + 1)]
    others = {f"u{i}": ["x1", "y"] for i in range(1, n - 2)}
    return TopicInstance.from_subscriptions({"v1": [*xs, "z"], "v2": xs, "w": ["z"], **others})


def binary_tree_of_topics(*, h: int) -> TopicInstance:
    """P3, Lemma 8: 2^h topics; each of the 2^i nodes v_i-j of level i subscribes to 2^(h−i) of them. Cost O(h 2^h).

    The tree has maximum degree 3. The lemma's worst part consists of :func:`root_and_leaves`.
    """
    topics_of = {
        f"v{i}-{j}": [f"t{t}" for t in range((j - 1) * 2 ** (h - i) + 1, j * 2 ** (h - i) + 1)]
        for i in range(h + 1)
        for j in range(1, 2**i + 1)
    }
    return TopicInstance.from_subscriptions(topics_of)


def root_and_leaves(*, h: int) -> list[int]:
    """P3, Lemma 8: the nodes of :func:`binary_tree_of_topics` that form the worst part."""
    return [0, *range(2**h - 1, 2 ** (h + 1) - 1)]


def _grid(planes: Iterable[int], columns: Iterable[int], rows: Iterable[int]) -> list[str]:
    return [f"t{plane}-{column}-{row}" for plane in planes for column in columns for row in rows]


def _first_topics(count: int) -> list[str]:
    return [f"t{j}" for j in range(1, count + 1)]


def _construction(
    name: str, summary: str, source: str, build: Callable[..., TopicInstance], *parameters: Option
) -> Workload[TopicInstance]:
    def generate(*, seed: int, **given: int) -> TopicInstance:
        return build(**given)

    return Workload(name, f"{summary} (no seed)", source, parameters, generate)


CONSTRUCTIONS: tuple[Workload[TopicInstance], ...] = (
    _construction(
        "greedy-merge-cuboid",
        "Greedy Merge takes km + 2k edges, 2m + 2k suffice",
        "P1 Lemma 6.6",
        greedy_merge_cuboid,
        Option("k", 3, "slabs of doubling width", least=1, most=12),
        Option("m", 4, "rows", least=1, most=200),
    ),
    _construction(
        "minmax-oda-matchings",
        "MinMax-ODA takes about n²/2 edges, n − 1 suffice",
        "P2 Lemma 1",
        minmax_oda_matchings,
        Option("n", 6, "nodes", least=2, most=1000),
    ),
    _construction(
        "nested-subscriptions",
        "CD-ODA may take n(n − 1)/2 edges, n − 1 suffice",
        "P2 Lemma 5",
        nested_subscriptions,
        Option("n", 6, "nodes", least=2, most=10_000),
    ),
    _construction(
        "weighted-nested-subscriptions",
        "CD-ODA-I takes n(n − 1)/2 + n edges, 2n − 1 suffice",
        "P2 Lemma 6",
        weighted_nested_subscriptions,
        Option("n", 3, "half of the nodes", least=2, most=12),
    ),
    _construction(
        "case-seven",
        "the CD-ODA family takes 2n − 5 edges, 2D-ODA n",
        "P2 §6.4, Case VII",
        case_seven,
        Option("n", 8, "nodes", least=4, most=10_000),
    ),
    _construction(
        "binary-tree-of-topics",
        "maximum degree 3; the root with the leaves alone needs |T|",
        "P3 Lemma 8",
        binary_tree_of_topics,
        Option("h", 3, "levels below the root", least=1, most=16),
    ),
)


@dataclass(frozen=True)
class SetCover:
    """An instance of minimum set cover: elements 0…`elements`−1, and sets, none empty, whose union they are."""

    elements: int
    sets: tuple[frozenset[int], ...]

    def covered_by(self, chosen: Iterable[int]) -> bool:
        return len(set().union(*(self.sets[number] for number in chosen))) == self.elements


def random_set_cover(elements: int, sets: int, share: float, seed: int) -> SetCover:
    """Each set has each element with probability `share`; an element in no set is added to a random one.

    The same seed gives the same sets on any machine. Cost O(elements · sets).
    """
    rng = np.random.default_rng(seed)
    member = rng.integers(0, 2**32, (sets, elements)) < int(share * 2**32)
    uncovered = np.flatnonzero(~member.any(axis=0))
    member[rng.integers(0, sets, len(uncovered)), uncovered] = True
    empty = np.flatnonzero(~member.any(axis=1))
    member[empty, rng.integers(0, elements, len(empty))] = True
    return SetCover(elements, tuple(frozenset(np.flatnonzero(row).tolist()) for row in member))


def single_node_instance(cover: SetCover) -> TopicInstance:
    """P1, Lemma 5.2: a topic t_u for each element, a node s for each set, and v, a subscriber of all topics.

    v can have degree d in a topic-connected overlay if and only if d sets cover all elements. v is the last node.
    """
    topics_of = {f"s{number}": [f"t{u}" for u in sorted(members)] for number, members in enumerate(cover.sets)}
    return TopicInstance.from_subscriptions(topics_of | {"v": [f"t{u}" for u in range(cover.elements)]})


def duplicated_instance(instance: TopicInstance, kept: int) -> TopicInstance:
    """P1, Lemma 5.1: |V| − 1 copies of every node but `kept`, so that only `kept` needs a degree above 3.

    The copies of node w are w-1, w-2, …; `kept` keeps its label, and is the last node if it was.
    """
    topics = [instance.topic_label(t) for t in range(instance.num_topics)]
    topics_of: dict[str, list[str]] = {}
    for v in range(instance.num_nodes):
        label, subscribed = instance.node_label(v), [topics[t] for t in instance.topics_of(v)]
        copies = [label] if v == kept else [f"{label}-{copy}" for copy in range(1, instance.num_nodes)]
        topics_of |= dict.fromkeys(copies, subscribed)
    return TopicInstance.from_subscriptions(topics_of)


def repeated_instance(cover: SetCover, copies: int) -> TopicInstance:
    """P1, Lemma 7.1: m topics t_u-i for each element u; v_i has t_u-i for all u, s all topics of its set's elements.

    Nodes: the sets' s0, s1, … first, then v1 … vm, m being `copies`. Every topic-connected overlay contains m set
    covers, the neighbours of each v_i. Cost O(m Σ|s|).
    """
    numbers = range(1, copies + 1)
    topics_of = {
        f"s{number}": [f"t{u}-{i}" for u in members for i in numbers] for number, members in enumerate(cover.sets)
    }
    topics_of |= {f"v{i}": [f"t{u}-{i}" for u in range(cover.elements)] for i in numbers}
    return TopicInstance.from_subscriptions(topics_of)


def _of_set_covers(
    name: str, summary: str, source: str, build: Callable[..., TopicInstance], *more: Option, most: int
) -> Workload[TopicInstance]:
    def generate(*, elements: int, sets: int, share: float, seed: int, **given: int) -> TopicInstance:
        return build(random_set_cover(elements, sets, share, seed), **given)

    parameters = (
        Option("elements", 6, "elements of the random set cover", least=1, most=most),
        Option("sets", 4, "its sets", least=1, most=most),
        Option("share", 0.4, "probability of an element in a set", least=0.0, most=1.0),
        *more,
    )
    return Workload(name, summary, source, parameters, generate)


SET_COVER_CONSTRUCTIONS: tuple[Workload[TopicInstance], ...] = (
    _of_set_covers(
        "set-cover-single-node",
        "the degree of node v is the size of a set cover",
        "P1 Lemma 5.2",
        single_node_instance,
        most=1000,
    ),
    _of_set_covers(
        "set-cover-duplicated",
        "the single-node instance with |V| − 1 copies of every other node",
        "P1 Lemma 5.1",
        lambda cover: duplicated_instance(single_node_instance(cover), len(cover.sets)),
        most=100,
    ),
    _of_set_covers(
        "set-cover-repeated",
        "m set covers in one overlay",
        "P1 Lemma 7.1",
        lambda cover, copies: repeated_instance(cover, copies or len(cover.sets) ** 2),
        Option("copies", 0, "m; 0: the square of the number of sets", least=0, most=10_000),
        most=100,
    ),
)
