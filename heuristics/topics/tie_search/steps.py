"""The greedy methods step by step: which candidates are equally good now, and what comes of taking one.

This tells every method once more, without kernels and without a rule for ties, for :mod:`.extremes` to
try all rules at once. Topics with the same subscribers are one class with a weight, so that the constructions of the
papers, which have thousands of them, stay small.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from ....instances.topics.instance import TopicInstance

Edge = tuple[int, int]


class State(NamedTuple):
    """An overlay in the making.

    `edges` has bit i for the i-th pair in lexicographic order; `degrees` follow from it. `rest` is what else the
    next step depends on: for methods that add edges the component of every subscription to a class, for methods that
    add stars how many topics of each class are left.
    """

    edges: int
    degrees: tuple[int, ...]
    rest: tuple[int, ...]


@dataclass(frozen=True)
class Classes:
    """Topics by their subscribers: `members` and `weights`, and `of`, the classes of each node."""

    members: tuple[tuple[int, ...], ...]
    weights: tuple[int, ...]
    of: tuple[tuple[int, ...], ...]


def classes_of(instance: TopicInstance) -> Classes:
    """The classes in the order of their first topic. Cost O(Σ|T_v|)."""
    counts: dict[tuple[int, ...], int] = {}
    for topic in range(instance.num_topics):
        members = tuple(instance.subscribers(topic).tolist())
        counts[members] = counts.get(members, 0) + 1
    members = tuple(counts)
    of = tuple(tuple(c for c, nodes in enumerate(members) if v in nodes) for v in range(instance.num_nodes))
    return Classes(members, tuple(counts.values()), of)


class Greedy(ABC):
    """A greedy method on one instance.

    Attributes
    ----------
    pairs : list of (int, int)
        All pairs of nodes, in lexicographic order.
    """

    def __init__(self, instance: TopicInstance) -> None:
        self.nodes = range(instance.num_nodes)
        self.classes = classes_of(instance)
        self.pairs: list[Edge] = list(combinations(self.nodes, 2))
        self._place = {pair: place for place, pair in enumerate(self.pairs)}

    @abstractmethod
    def start(self) -> State:
        """The overlay without edges."""

    @abstractmethod
    def candidates(self, state: State) -> Sequence[tuple[int, int]]:
        """The equally good choices of the next step in the order of ties ``lowest``; none at the end."""

    @abstractmethod
    def after(self, state: State, candidate: tuple[int, int]) -> State:
        """What comes of a choice."""

    def with_edges(self, state: State, edges: Sequence[Edge]) -> tuple[int, tuple[int, ...]]:
        """The state's edges and degrees, those given added."""
        bits, degrees = state.edges, list(state.degrees)
        for u, v in edges:
            bit = 1 << self._place[(u, v) if u < v else (v, u)]
            if not bits & bit:
                bits |= bit
                degrees[u] += 1
                degrees[v] += 1
        return bits, tuple(degrees)

    def has_edge(self, state: State, pair: Edge) -> bool:
        """Whether a pair u < v is an edge."""
        return bool(state.edges >> self._place[pair] & 1)


class EdgeByEdge(Greedy):
    """The methods that add one edge at a time: a candidate is a pair.

    Parameters
    ----------
    instance : TopicInstance
    rule : str
        gm, gm-m, minmax-oda or low-oda.
    k : Fraction
        Of Low-ODA.
    """

    def __init__(self, instance: TopicInstance, rule: str, k: Fraction) -> None:
        super().__init__(instance)
        self.rule, self.k = rule, k
        offsets: list[dict[int, int]] = []
        place = 0
        for members in self.classes.members:
            offsets.append({node: place + i for i, node in enumerate(members)})
            place += len(members)
        self._ranges = [(min(at.values()), max(at.values()) + 1) for at in offsets]
        self._common = {
            (u, v): [
                (offsets[c][u], offsets[c][v], c) for c in self.classes.of[u] if c in set(self.classes.of[v])
            ]
            for u, v in self.pairs
        }  # fmt: skip

    def start(self) -> State:
        subscriptions = tuple(range(sum(map(len, self.classes.members))))
        return State(0, (0,) * len(self.nodes), subscriptions)

    def candidates(self, state: State) -> Sequence[tuple[int, int]]:
        weights = {pair: self._contribution(state, pair) for pair in self.pairs if not self.has_edge(state, pair)}
        most = max(weights.values(), default=0)
        if most == 0:
            return []
        if self.rule == "gm":
            return _of_weight(weights, most)
        if self.rule == "gm-m":
            weights = {pair: weight for pair, weight in weights.items() if weight}
        sparing = self._least_raising(state, weights)
        heaviest = max(sparing.values())
        if self.rule == "low-oda" and self.k * heaviest < most:
            return _of_weight(weights, most)
        return _of_weight(sparing, heaviest)

    def after(self, state: State, candidate: tuple[int, int]) -> State:
        labels = list(state.rest)
        for i, j, c in self._common[candidate]:
            if labels[i] != labels[j]:
                kept, gone = sorted((labels[i], labels[j]))
                for place in range(*self._ranges[c]):
                    if labels[place] == gone:
                        labels[place] = kept
        return State(*self.with_edges(state, [candidate]), tuple(labels))

    def _contribution(self, state: State, pair: Edge) -> int:
        labels = state.rest
        return sum(self.classes.weights[c] for i, j, c in self._common[pair] if labels[i] != labels[j])

    def _least_raising(self, state: State, weights: dict[Edge, int]) -> dict[Edge, int]:
        """The pairs that raise the maximum degree least."""
        largest = max(state.degrees)
        below = {
            (u, v): weight
            for (u, v), weight in weights.items()
            if state.degrees[u] < largest and state.degrees[v] < largest
        }
        return below or weights


class StarByStar(Greedy):
    """The methods that add stars: a candidate is a node with -1, or for 2D-ODA a node with a class of topics.

    Parameters
    ----------
    instance : TopicInstance
    rule : str
        cd-oda, cd-oda-1, cd-oda-2 or 2d-oda.
    """

    def __init__(self, instance: TopicInstance, rule: str) -> None:
        super().__init__(instance)
        self.rule = rule

    def start(self) -> State:
        return State(0, (0,) * len(self.nodes), self.classes.weights)

    def candidates(self, state: State) -> Sequence[tuple[int, int]]:
        scores = {
            choice: self._score(state, *choice)
            for u in self.nodes
            for choice in ([(u, c) for c in self._left(state, u)] if self.rule == "2d-oda" else [(u, -1)])
            if self._left(state, u)
        }
        most = max(scores.values(), default=Fraction(0))
        return [choice for choice, score in scores.items() if score == most]

    def after(self, state: State, candidate: tuple[int, int]) -> State:
        centre, only = candidate
        dropped = self._left(state, centre) if only < 0 else [only]
        star = [(centre, v) for c in dropped for v in self.classes.members[c] if v != centre]
        left = list(state.rest)
        for c in dropped:
            left[c] = 0 if only < 0 else left[c] - 1
        return State(*self.with_edges(state, star), tuple(left))

    def _left(self, state: State, node: int) -> list[int]:
        return [c for c in self.classes.of[node] if state.rest[c]]

    def _score(self, state: State, u: int, c: int) -> Fraction:
        left = self._left(state, u)
        weighted = sum(state.rest[other] * len(self.classes.members[other]) for other in left)
        if self.rule == "2d-oda":
            missing = [v for v in self.classes.members[c] if v == u or not self.has_edge(state, (min(u, v), max(u, v)))]
            return Fraction(weighted, len(missing))
        neighbours = len({v for other in left for v in self.classes.members[other]})
        return {"cd-oda": Fraction(neighbours), "cd-oda-1": Fraction(weighted)}.get(
            self.rule, Fraction(weighted, neighbours)
        )


def _of_weight(weights: dict[Edge, int], wanted: int) -> list[Edge]:
    return [pair for pair, weight in weights.items() if weight == wanted]


EDGE_RULES = ("gm", "gm-m", "minmax-oda", "low-oda")
STAR_RULES = ("cd-oda", "cd-oda-1", "cd-oda-2", "2d-oda")


def greedy(instance: TopicInstance, rule: str, k: float = 3.0) -> Greedy:
    """The method of that name, step by step; `k` is Low-ODA's."""
    return EdgeByEdge(instance, rule, Fraction(k)) if rule in EDGE_RULES else StarByStar(instance, rule)
