"""Set cover, and its reductions to topic instances (P1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ..contract.errors import BadInput
from ..contract.option import Option
from ..contract.workload import Workload
from .instance import TopicInstance


@dataclass(frozen=True)
class SetCover:
    """An instance of minimum set cover: elements 0…`elements`−1, and sets whose union they are.

    Raises
    ------
    BadInput
        If a set is empty or has another member, or an element is in no set.
    """

    elements: int
    sets: tuple[frozenset[int], ...]

    def __post_init__(self) -> None:
        for number, members in enumerate(self.sets):
            if not members or not members <= set(range(self.elements)):
                raise BadInput(f"set {number} must consist of elements 0…{self.elements - 1}, at least one")
        if not self.covered_by(range(len(self.sets))):
            raise BadInput("an element is in no set: put it in one")

    def covered_by(self, chosen: Iterable[int]) -> bool:
        """Whether the union of the sets with these indices has every element."""
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


def _duplicated(cover: SetCover) -> TopicInstance:
    return duplicated_instance(single_node_instance(cover), len(cover.sets))


def _repeated(cover: SetCover, copies: int) -> TopicInstance:
    return repeated_instance(cover, copies or len(cover.sets) ** 2)


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
        _duplicated,
        most=100,
    ),
    _of_set_covers(
        "set-cover-repeated",
        "m set covers in one overlay",
        "P1 Lemma 7.1",
        _repeated,
        Option("copies", 0, "m; 0: the square of the number of sets", least=0, most=10_000),
        most=100,
    ),
)
