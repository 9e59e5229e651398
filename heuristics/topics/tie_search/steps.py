"""Greedy methods as state machines: the equally good choices of the next step, and the state after one of them.

Every step is computed in plain Python from its definition, without a rule for ties. Topics with the same subscribers
are one class with a weight, which keeps the papers' constructions with thousands of such topics small.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from ....instances.contract.errors import BadInput
from ....instances.contract.overlay import Overlay
from ....instances.contract.result import Step, Trace
from ....instances.topics.instance import TopicInstance
from ..kernels.ties import RULES, TieOrder, ranks_of

Choice = tuple[int, int]
Edge = tuple[int, int]
Degrees = tuple[int, ...]
Chooser = Callable[[Mapping[Edge, int], Degrees], Sequence[Edge]]


class State(NamedTuple):
    """A partial overlay.

    `edges` has bit i for the i-th pair in lexicographic order; `degrees` follow from it. `rest` is what else the
    next step depends on: for methods that add edges the component of every subscription to a class, for methods that
    add stars how many topics of each class are left.
    """

    edges: int
    degrees: Degrees
    rest: tuple[int, ...]


class GreedySteps(ABC):
    """A greedy method on one instance.

    Attributes
    ----------
    pairs : list of (int, int)
        All pairs of nodes, in lexicographic order.
    topics, members, weights, classes_of : tuples
        Of each class its topics, their subscribers and their number, in the order of the first topics; of each node its
        classes.
    measure : str
        What a choice maximises, as :class:`.Trace` names it.
    depends_on : {"components", "degrees", "edges"}
        What the choices of the next steps depend on: `rest` alone, also the degrees, or also the edges.
    """

    measure = "contribution"

    def __init__(
        self, instance: TopicInstance, depends_on: Literal["components", "degrees", "edges"], *, grouped: bool = True
    ) -> None:
        self.instance, self.depends_on = instance, depends_on
        self.nodes = range(instance.num_nodes)
        topics: dict[tuple[tuple[int, ...], int], list[int]] = {}
        for topic in range(instance.num_topics):
            key = tuple(instance.subscribers(topic).tolist()), -1 if grouped else topic
            topics.setdefault(key, []).append(topic)
        self.topics = tuple(map(tuple, topics.values()))
        self.members = tuple(members for members, _ in topics)
        self.weights = tuple(map(len, self.topics))
        self.classes_of = tuple(tuple(c for c, nodes in enumerate(self.members) if v in nodes) for v in self.nodes)
        self.pairs: list[Edge] = list(combinations(self.nodes, 2))
        self._bits = {pair: 1 << i for i, pair in enumerate(self.pairs)}

    @abstractmethod
    def start(self) -> State:
        """The overlay without edges."""

    @abstractmethod
    def candidates(self, state: State) -> Sequence[Choice]:
        """The equally good choices of the next step in the order of ties ``lowest``; none at the end."""

    @abstractmethod
    def after(self, state: State, choice: Choice) -> State:
        """The state after a choice."""

    @abstractmethod
    def label(self, choice: Choice) -> str:
        """A choice by the labels of its nodes and topics."""

    @abstractmethod
    def number(self, choice: Choice) -> int:
        """The number by which rules for ties rank a choice (see :mod:`..kernels.ties`)."""

    def edges_of(self, state: State) -> list[Edge]:
        """The edges of a state, in lexicographic order."""
        return [pair for pair in self.pairs if self.has_edge(state, pair)]

    def has_edge(self, state: State, pair: Edge) -> bool:
        """Whether a pair u < v is an edge."""
        return bool(state.edges & self._bits[pair])

    def with_edges(self, state: State, edges: Sequence[Edge]) -> tuple[int, Degrees]:
        """The state's edges and degrees after an addition of edges, of which some may be present already."""
        bits, degrees = state.edges, list(state.degrees)
        for u, v in edges:
            bit = self._bits[(u, v) if u < v else (v, u)]
            if not bits & bit:
                bits |= bit
                degrees[u] += 1
                degrees[v] += 1
        return bits, tuple(degrees)


class EdgeSteps(GreedySteps):
    """A method that adds one edge at a time until no edge contributes: a choice is a pair of nodes.

    Parameters
    ----------
    instance : TopicInstance
    choose : callable
        Returns the equally good edges, given the contributions of all pairs that are not edges, of which at least one
        is positive, and the degrees of the nodes.
    depends_on : {"components", "degrees", "edges"}
    """

    def __init__(
        self,
        instance: TopicInstance,
        choose: Chooser,
        depends_on: Literal["components", "degrees", "edges"] = "edges",
    ) -> None:
        super().__init__(instance, depends_on)
        self.choose = choose
        index: list[dict[int, int]] = []
        self._ranges, first = [], 0
        for members in self.members:
            index.append({node: first + i for i, node in enumerate(members)})
            self._ranges.append(range(first, first + len(members)))
            first += len(members)
        self._common = {
            (u, v): [(index[c][u], index[c][v], c) for c in self.classes_of[u] if c in self.classes_of[v]]
            for u, v in self.pairs
        }

    def start(self) -> State:
        return State(0, (0,) * len(self.nodes), tuple(range(sum(map(len, self.members)))))

    def candidates(self, state: State) -> Sequence[Choice]:
        contributions = self.contributions(state)
        return self.choose(contributions, state.degrees) if any(contributions.values()) else []

    def after(self, state: State, choice: Choice) -> State:
        labels = list(state.rest)
        for i, j, c in self._common[choice]:
            if labels[i] != labels[j]:
                kept, replaced = sorted((labels[i], labels[j]))
                for k in self._ranges[c]:
                    if labels[k] == replaced:
                        labels[k] = kept
        return State(*self.with_edges(state, [choice]), tuple(labels))

    def label(self, choice: Choice) -> str:
        return " ".join(map(self.instance.node_label, choice))

    def number(self, choice: Choice) -> int:
        return choice[0] * len(self.nodes) + choice[1]

    def contributions(self, state: State) -> dict[Edge, int]:
        """The contribution of every pair that is not an edge, in lexicographic order."""
        return {p: self._contribution(state, p) for p in self.pairs if not self.has_edge(state, p)}

    def united(self, state: State, pair: Edge) -> Iterator[tuple[int, list[int], list[int]]]:
        """Each class of which the pair joins two components, with the nodes of both."""
        for i, j, c in self._common[pair]:
            if (one := state.rest[i]) != (other := state.rest[j]):
                labels = [state.rest[k] for k in self._ranges[c]]
                here, there = (
                    [v for v, at in zip(self.members[c], labels, strict=True) if at == k] for k in (one, other)
                )
                yield c, here, there

    def _contribution(self, state: State, pair: Edge) -> int:
        labels = state.rest
        return sum(self.weights[c] for i, j, c in self._common[pair] if labels[i] != labels[j])


def heaviest(contributions: Mapping[Edge, int]) -> list[Edge]:
    """The edges of maximum contribution."""
    most = max(contributions.values())
    return [edge for edge, contribution in contributions.items() if contribution == most]


def least_raising(contributions: Mapping[Edge, int], degrees: Degrees) -> Mapping[Edge, int]:
    """The edges whose addition raises the maximum degree least, with their contributions."""
    most = max(degrees)
    below = {(u, v): weight for (u, v), weight in contributions.items() if degrees[u] < most and degrees[v] < most}
    return below or contributions


class StarSteps(GreedySteps):
    """A method that takes centres: a choice (u, -1) adds the stars at u of all topics of u that are left.

    Parameters
    ----------
    instance : TopicInstance
    score : callable
        What the centre maximises, given its weighted neighbours and its neighbours over the topics left (P2 §6.1).
    measure : str
        The name of the score.
    grouped : bool
        Whether topics with the same subscribers are one class.
    """

    def __init__(
        self, instance: TopicInstance, score: Callable[[int, int], Fraction], measure: str, *, grouped: bool = True
    ) -> None:
        super().__init__(instance, "edges", grouped=grouped)
        self._score, self.measure = score, measure

    def start(self) -> State:
        return State(0, (0,) * len(self.nodes), self.weights)

    def candidates(self, state: State) -> Sequence[Choice]:
        scores = self.scores(state)
        most = max(scores.values(), default=Fraction(0))
        return [choice for choice, score in scores.items() if score == most]

    def after(self, state: State, choice: Choice) -> State:
        centre = choice[0]
        return self.with_stars(state, centre, dict.fromkeys(self.left(state, centre), 0))

    def label(self, choice: Choice) -> str:
        return self.instance.node_label(choice[0])

    def number(self, choice: Choice) -> int:
        return choice[0]

    def scores(self, state: State) -> dict[Choice, Fraction]:
        """The score of every choice."""
        return {
            (u, -1): self._score(self.weighted(state, u), len({v for c in left for v in self.members[c]}))
            for u in self.nodes
            if (left := self.left(state, u))
        }

    def left(self, state: State, node: int) -> list[int]:
        """The classes of a node with topics left."""
        return [c for c in self.classes_of[node] if state.rest[c]]

    def weighted(self, state: State, node: int) -> int:
        """The weighted neighbours: the sum of |V_t| over the node's topics left."""
        return sum(state.rest[c] * len(self.members[c]) for c in self.left(state, node))

    def with_stars(self, state: State, centre: int, left: Mapping[int, int]) -> State:
        """The state after the stars of some classes at one centre; `left` has the topics left of each of them."""
        star = [(centre, v) for c in left for v in self.members[c] if v != centre]
        return State(*self.with_edges(state, star), tuple(left.get(c, count) for c, count in enumerate(state.rest)))


MOST_NODES = 200
_HIGHEST, _RANDOM = RULES.index("highest"), RULES.index("random")

Pick = Callable[[Sequence[Choice]], Choice]


def check_traceable(instance: TopicInstance) -> None:
    """Raise BadInput if an instance is too large for a trace."""
    if instance.num_nodes > MOST_NODES:
        raise BadInput(f"a trace of {instance.num_nodes} nodes: at most {MOST_NODES}: draw a sample, or leave it out")


def trace_of(steps: GreedySteps, pick: Pick, overlay: Overlay) -> Trace:
    """The trace that ends in an overlay.

    Parameters
    ----------
    steps : GreedySteps
        The method on an instance.
    pick : callable
        The rule for ties: one of the equally good choices (:func:`by_order`, :func:`along`).
    overlay : Overlay
        The answer of the run.

    Raises
    ------
    BadInput
        If the instance has more than 200 nodes.
    RuntimeError
        If the choices do not end in the overlay, which would be a defect of the method.

    Notes
    -----
    Time O(|E| |V|² + Σ_t |V_t|²) for a method that adds edges, O(|V| Σ_v |T_v| max|V_t|) a step for one that adds
    stars; memory O(|V|² + Σ_pairs |T_u ∩ T_v|). At 200 nodes 1 to 12 s.
    """
    check_traceable(steps.instance)
    listed = tuple(_edge_steps(steps, pick) if isinstance(steps, EdgeSteps) else _star_steps(steps, pick))
    edges = [edge for step in listed for edge in step.edges]
    if Overlay.from_edges(len(steps.nodes), edges) != overlay:
        raise RuntimeError("the trace does not end in the overlay of the run: please report this")
    return traced(steps.instance, listed, steps.measure)


def traced(instance: TopicInstance, steps: Sequence[Step], measure: str) -> Trace:
    """The trace of these steps, with the labels of their instance."""
    nodes = tuple(map(instance.node_label, range(instance.num_nodes)))
    return Trace(measure, tuple(steps), nodes, tuple(map(instance.topic_label, range(instance.num_topics))))


def by_order(steps: GreedySteps, order: TieOrder) -> Pick:
    """Pick the choice of lowest rank (see :func:`.tie_order`)."""
    if order.rule != _RANDOM:
        end = -1 if order.rule == _HIGHEST else 0
        return lambda choices: choices[end]

    def pick(choices: Sequence[Choice]) -> Choice:
        numbers = np.array([steps.number(choice) for choice in choices], dtype=np.int64)
        return choices[int(np.argmin(ranks_of(numbers, order)))]

    return pick


def along(path: Sequence[Choice]) -> Pick:
    """Pick the choices of a path, one after the other."""
    following = iter(path)
    return lambda choices: next(following)


def _edge_steps(steps: EdgeSteps, pick: Pick) -> Iterator[Step]:
    state = steps.start()
    contributions = steps.contributions(state)
    while any(contributions.values()):
        choices = steps.choose(contributions, state.degrees)
        yield edge_step(steps, state, edge := pick(choices), len(choices))
        for c, here, there in steps.united(state, edge):
            for u in here:
                for v in there:
                    if (pair := (u, v) if u < v else (v, u)) in contributions:
                        contributions[pair] -= steps.weights[c]
        del contributions[edge]
        state = steps.after(state, edge)


def edge_step(steps: EdgeSteps, state: State, edge: Choice, ties: int) -> Step:
    """The step that adds an edge to a state."""
    topics = sorted(t for c, _, _ in steps.united(state, edge) for t in steps.topics[c])
    degrees = steps.after(state, edge).degrees
    return Step(edge, (edge,), len(topics), ties, tuple(degrees[v] for v in edge), tuple(topics))


def _star_steps(steps: GreedySteps, pick: Pick) -> Iterator[Step]:
    assert isinstance(steps, StarSteps)
    state = steps.start()
    while scores := steps.scores(state):
        most = max(scores.values())
        choices = [choice for choice, score in scores.items() if score == most]
        choice = pick(choices)
        centre, following = choice[0], steps.after(state, choice)
        star = [(min(centre, v), max(centre, v)) for v in steps.nodes if v != centre]
        added = tuple(e for e in star if steps.has_edge(following, e) and not steps.has_edge(state, e))
        dropped = [c for c, left in enumerate(following.rest) if left < state.rest[c]]
        topics = tuple(sorted(t for c in dropped for t in steps.topics[c]))
        gain = int(most) if most.denominator == 1 else float(most)
        yield Step((centre,), added, gain, len(choices), (following.degrees[centre],), topics)
        state = following
