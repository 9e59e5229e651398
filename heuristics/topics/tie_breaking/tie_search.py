"""Exhaustive search over all ways to break the ties of a greedy method, and the traces of its runs.

The search takes exponential time: it visits every set of edges that some choices lead to, for small instances only. It
stands with the heuristics because each greedy method names its own steps (``ties=worst``, ``ties=best``).

Every step is computed in plain Python from its definition, without a rule for ties. Topics with the same subscribers
are one class with a weight, which keeps the papers' constructions with thousands of such topics small.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from ....instances.contract.errors import BadInput
from ....instances.contract.method import Proposal
from ....instances.contract.overlay import Overlay
from ....instances.contract.result import Step, Trace
from ....instances.runtime.run import Clock
from ....instances.topics.instance import TopicInstance
from ....instances.topics.problems import AnyTopicProblem, LowTCO, MinMaxTCO
from .greedy_rule import DENSITY, FEWEST, NEIGHBOURS, WEIGHTED, EdgeRule, GreedyRule, RingRule, StarRule
from .ties import HIGHEST, RANDOM, TIES, TieOrder, ranks_of, tie_order

Choice = tuple[int, int]
Edge = tuple[int, int]
Degrees = tuple[int, ...]
Pick = Callable[[Sequence[Choice]], Choice]
Depends = Literal["components", "degrees", "edges"]

EXTREMES = ("worst", "best")
TIES_OR_EXTREMES = replace(
    TIES,
    summary=f"{TIES.summary}; worst or best: whatever choices make most or least of the problem's value",
    choices=(*TIES.allowed, *EXTREMES),
)
MOST_STATES = 300_000
MOST_NODES = 200
_RECURSION_LIMIT = 20_000


class State(NamedTuple):
    """A partial overlay."""

    edges: int  # bit i for the i-th pair in lexicographic order
    degrees: Degrees
    rest: tuple[int, ...]
    """What else the next step depends on: for methods that add edges the component of every subscription to a class,
    for methods that add stars how many topics of each class are left."""


class GreedySteps(ABC):
    """A greedy method on one instance as a state machine: the equally good choices of a step, and the state after one.

    `pairs`, list of (int, int): all pairs of nodes, in lexicographic order. `topics`, `members`, `weights`,
    `classes_of`: of each class its topics, their subscribers and their number, in the order of the first topics; of
    each node its classes. `measure`: what a choice maximises, as :class:`.Trace` names it. `depends_on`, one of
    "components", "degrees", "edges": what the choices of the next steps depend on: `rest` alone, also the degrees,
    or also the edges.
    """

    measure = "contribution"

    def __init__(self, instance: TopicInstance, depends_on: Depends, *, grouped: bool = True) -> None:
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
        """The number by which rules for ties rank a choice (see :mod:`.tie_breaking.ties`)."""

    @abstractmethod
    def traced(self, pick: Pick) -> Iterator[Step]:
        """The steps of a run that picks one of the equally good choices."""

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
    """A method that adds one edge at a time by a rule until no edge contributes: a choice is a pair of nodes."""

    def __init__(self, instance: TopicInstance, rule: EdgeRule) -> None:
        # Contributions follow from the components; which degrees may still grow, from the degrees or all edges.
        depends_on: Depends = "edges" if rule.adds_idle else "degrees" if rule.limits_degree else "components"
        super().__init__(instance, depends_on)
        self.rule = rule
        starts = np.concatenate([[0], np.cumsum([len(members) for members in self.members], dtype=int)]).tolist()
        self._ranges = [range(*ends) for ends in pairwise(starts)]
        index = [dict(zip(nodes, at, strict=True)) for nodes, at in zip(self.members, self._ranges, strict=True)]
        self._common = {
            (u, v): [(index[c][u], index[c][v], c) for c in self.classes_of[u] if c in self.classes_of[v]]
            for u, v in self.pairs
        }

    def start(self) -> State:
        return State(0, (0,) * len(self.nodes), tuple(range(sum(map(len, self.members)))))

    def candidates(self, state: State) -> Sequence[Choice]:
        contributions = self.contributions(state)
        return self.chosen(contributions, state.degrees) if any(contributions.values()) else []

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
        labels = state.rest
        return {
            pair: sum(self.weights[c] for i, j, c in self._common[pair] if labels[i] != labels[j])
            for pair in self.pairs
            if not self.has_edge(state, pair)
        }

    def chosen(self, contributions: Mapping[Edge, int], degrees: Degrees) -> list[Edge]:
        """The equally good edges, given the contributions of all that are left, of which one at least is positive."""
        rule, second = self.rule, _heaviest(contributions)
        if not rule.limits_degree:
            return second
        allowed = {edge: each for edge, each in contributions.items() if each or rule.adds_idle}
        most = max(degrees)
        below = {(u, v): each for (u, v), each in allowed.items() if degrees[u] < most and degrees[v] < most}
        first = _heaviest(below or allowed)
        return first if contributions[second[0]] <= rule.threshold(contributions[first[0]]) else second

    def traced(self, pick: Pick) -> Iterator[Step]:
        state = self.start()
        contributions = self.contributions(state)
        while any(contributions.values()):
            choices = self.chosen(contributions, state.degrees)
            yield self.step(state, edge := pick(choices), len(choices))
            for c, here, there in self._united(state, edge):
                for u in here:
                    for v in there:
                        if (pair := (u, v) if u < v else (v, u)) in contributions:
                            contributions[pair] -= self.weights[c]
            del contributions[edge]
            state = self.after(state, edge)

    def step(self, state: State, edge: Choice, ties: int) -> Step:
        """The step that adds an edge to a state."""
        topics = sorted(t for c, _, _ in self._united(state, edge) for t in self.topics[c])
        degrees = self.after(state, edge).degrees
        return Step(edge, (edge,), len(topics), ties, tuple(degrees[v] for v in edge), tuple(topics))

    def _united(self, state: State, pair: Edge) -> Iterator[tuple[int, list[int], list[int]]]:
        """Each class of which the pair joins two components, with the nodes of both."""
        for i, j, c in self._common[pair]:
            if (one := state.rest[i]) != (other := state.rest[j]):
                labelled = list(zip(self.members[c], (state.rest[k] for k in self._ranges[c]), strict=True))
                yield c, [v for v, label in labelled if label == one], [v for v, label in labelled if label == other]


def _heaviest(contributions: Mapping[Edge, int]) -> list[Edge]:
    """The edges of maximum contribution."""
    most = max(contributions.values())
    return [edge for edge, contribution in contributions.items() if contribution == most]


_SCORES: Mapping[int, tuple[str, Callable[[int, int], Fraction]]] = {
    NEIGHBOURS: ("neighbours", lambda weighted, neighbours: Fraction(neighbours)),
    WEIGHTED: ("weighted neighbours", lambda weighted, neighbours: Fraction(weighted)),
    DENSITY: ("connection density", Fraction),
    FEWEST: ("neighbours, negated", lambda weighted, neighbours: Fraction(-neighbours)),
}
"""The name of each score of a node, and its value by the node's weighted neighbours and neighbours (P2 §6.1)."""


class StarSteps(GreedySteps):
    """A method that takes centres: a choice (u, -1) adds the stars at u of all topics of u that are left.

    Topics with the same subscribers are one class if `grouped`.
    """

    def __init__(self, instance: TopicInstance, rule: StarRule, *, grouped: bool = True) -> None:
        super().__init__(instance, "edges", grouped=grouped)
        self.measure, self._score = _SCORES[rule.score]

    def start(self) -> State:
        return State(0, (0,) * len(self.nodes), self.weights)

    def candidates(self, state: State) -> Sequence[Choice]:
        scores = self.scores(state)
        most = max(scores.values(), default=Fraction(0))
        return [choice for choice, score in scores.items() if score == most]

    def after(self, state: State, choice: Choice) -> State:
        return self.with_stars(state, choice[0], dict.fromkeys(self.left(state, choice[0]), 0))

    def label(self, choice: Choice) -> str:
        return self.instance.node_label(choice[0])

    def number(self, choice: Choice) -> int:
        return choice[0]

    def scores(self, state: State) -> dict[Choice, Fraction]:
        return {
            (u, -1): self._score(self.weighted(state, u), len({v for c in left for v in self.members[c]}))
            for u in self.nodes
            if (left := self.left(state, u))
        }

    def left(self, state: State, node: int) -> list[int]:
        return [c for c in self.classes_of[node] if state.rest[c]]

    def weighted(self, state: State, node: int) -> int:
        """The weighted neighbours: the sum of |V_t| over the node's topics left."""
        return sum(state.rest[c] * len(self.members[c]) for c in self.left(state, node))

    def with_stars(self, state: State, centre: int, left: Mapping[int, int]) -> State:
        """The state after the stars of some classes at one centre; `left` has the topics left of each of them."""
        star = [(centre, v) for c in left for v in self.members[c] if v != centre]
        return State(*self.with_edges(state, star), tuple(left.get(c, count) for c, count in enumerate(state.rest)))

    def traced(self, pick: Pick) -> Iterator[Step]:
        state = self.start()
        while choices := self.candidates(state):
            choice = pick(choices)
            following, gain = self.after(state, choice), self.scores(state)[choice]
            added = tuple(edge for edge in self.edges_of(following) if not self.has_edge(state, edge))
            dropped = [c for c, left in enumerate(following.rest) if left < state.rest[c]]
            topics = tuple(sorted(t for c in dropped for t in self.topics[c]))
            shown = int(gain) if gain.denominator == 1 else float(gain)
            yield Step(choice[:1], added, shown, len(choices), (following.degrees[choice[0]],), topics)
            state = following


def steps_by(rule: Callable[..., GreedyRule], instance: TopicInstance, **options: Any) -> GreedySteps:
    """The steps of a method that adds edges or stars, by its rule under these options."""
    chosen = rule(**options)
    assert not isinstance(chosen, RingRule)
    return EdgeSteps(instance, chosen) if isinstance(chosen, EdgeRule) else StarSteps(instance, chosen)


class TooManyStates(RuntimeError):
    """The search was stopped before it had proven an extreme."""


class Extreme(NamedTuple):
    """The result of the best or of the worst choices."""

    overlay: Overlay
    path: tuple[Choice, ...]
    open_steps: int  # the number of steps that had more than one candidate
    states: int  # the number of different states searched


def extreme_ties(
    steps: GreedySteps,
    problem: AnyTopicProblem,
    extreme: str,
    *,
    most_states: int = MOST_STATES,
    clock: Clock | None = None,
) -> Extreme:
    """Try every way to break ties, and return one that makes the problem's value largest or smallest.

    A :class:`.MinMaxTCO` counts the maximum degree, low-tco edges × maximum degree, all other topic problems edges.

    Raises TooManyStates beyond this number of states, or if the time of the clock has passed.

    Depth-first search with one visit to each state: a state is what :attr:`.GreedySteps.depends_on` names, with the
    degrees if the problem depends on these. Exponential: as many states as there are sets of edges in the worst case,
    each at O(|V|² |T|).
    """
    product = isinstance(problem, LowTCO)
    counts_edges = not product and not isinstance(problem, MinMaxTCO)
    sign = 1 if extreme == "best" else -1
    # Of each state the value still to come, the choice that leads there, and the number of candidates.
    seen: dict[tuple[Any, ...], tuple[int, Choice | None, int]] = {}

    def key_of(state: State) -> tuple[Any, ...]:
        if steps.depends_on == "edges":
            return state.rest, state.edges
        return (state.rest, () if steps.depends_on == "components" and counts_edges else state.degrees)

    def value_from(state: State) -> int:
        """The number of further edges where edges count, else the value at the end."""
        key = key_of(state)
        if key in seen:
            return seen[key][0]
        if len(seen) >= most_states:
            raise TooManyStates(f"ties: more than {most_states} states to search: take a smaller instance")
        if clock is not None and clock.passed:
            raise TooManyStates("ties: the time limit passed before every choice was tried")
        candidates, choice = steps.candidates(state), None
        best = 0 if counts_edges else max(state.degrees) * (state.edges.bit_count() if product else 1)
        for candidate in candidates:
            following = steps.after(state, candidate)
            value = value_from(following)
            if counts_edges:
                value += following.edges.bit_count() - state.edges.bit_count()
            if choice is None or sign * value < sign * best:
                best, choice = value, candidate
        seen[key] = (best, choice, len(candidates))
        return best

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        value_from(steps.start())
    finally:
        sys.setrecursionlimit(limit)
    state, path, open_steps = steps.start(), list[Choice](), 0
    while (choice := seen[key_of(state)][1]) is not None:
        open_steps += seen[key_of(state)][2] > 1
        path.append(choice)
        state = steps.after(state, choice)
    return Extreme(Overlay.from_edges(len(steps.nodes), steps.edges_of(state)), tuple(path), open_steps, len(seen))


@dataclass(frozen=True)
class SolveUnderTies:
    """`solve` of a method whose option ``ties`` may be ``worst`` or ``best``: exhaustive search for these.

    `steps` takes the instance and, by name, the options other than ``ties``; so does `traced`, whose steps the trace
    repeats.
    """

    solve: Callable[..., Proposal[Overlay]]
    steps: Callable[..., GreedySteps]
    traced: Callable[..., GreedySteps]

    def __call__(
        self,
        instance: TopicInstance,
        problem: AnyTopicProblem,
        *,
        seed: int,
        time_limit: float | None,
        ties: str,
        trace: bool = False,
        **options: Any,
    ) -> Proposal[Overlay]:
        if trace:
            check_traceable(instance)
        if ties not in EXTREMES:
            proposal = self.solve(instance, problem, seed=seed, time_limit=time_limit, ties=ties, **options)
            if not trace or proposal.answer is None:
                return proposal
            repeated = self.traced(instance, **options)
            pick = by_order(repeated, tie_order(ties, seed))
            return replace(proposal, trace=partial(trace_of, repeated, pick, proposal.answer))
        steps = self.steps(instance, **options)
        try:
            found = extreme_ties(steps, problem, ties, clock=Clock(time_limit))
        except TooManyStates as error:
            return Proposal(reason=str(error))
        counters: dict[str, float | str] = {
            "steps": len(found.path),
            "open_steps": found.open_steps,
            "states": found.states,
            "choices": "; ".join(map(steps.label, found.path)),
        }
        again = partial(trace_of, steps, along(found.path), found.overlay) if trace else None
        return Proposal(found.overlay, counters=counters, trace=again)


def check_traceable(instance: TopicInstance) -> None:
    """Raise BadInput if an instance is too large for a trace."""
    if instance.num_nodes > MOST_NODES:
        raise BadInput(f"a trace of {instance.num_nodes} nodes: at most {MOST_NODES}: draw a sample, or leave it out")


def trace_of(steps: GreedySteps, pick: Pick, overlay: Overlay) -> Trace:
    """The trace that ends in an overlay; `pick` is the rule for ties (:func:`by_order`, :func:`along`).

    Raises RuntimeError if the choices do not end in the overlay, which would be a defect of the method.

    Time O(|E| |V|² + Σ_t |V_t|²) for a method that adds edges, O(|V| Σ_v |T_v| max|V_t|) a step for one that adds
    stars; memory O(|V|² + Σ_pairs |T_u ∩ T_v|). At 200 nodes 1 to 12 s.
    """
    listed = tuple(steps.traced(pick))
    edges = [edge for step in listed for edge in step.edges]
    if Overlay.from_edges(len(steps.nodes), edges) != overlay:
        raise RuntimeError("the trace does not end in the overlay of the run: please report this")
    return trace_with_labels(steps.instance, listed, steps.measure)


def trace_with_labels(instance: TopicInstance, steps: Sequence[Step], measure: str) -> Trace:
    """The trace of these steps, with the labels of their instance."""
    nodes = tuple(map(instance.node_label, range(instance.num_nodes)))
    return Trace(measure, tuple(steps), nodes, tuple(map(instance.topic_label, range(instance.num_topics))))


def by_order(steps: GreedySteps, order: TieOrder) -> Pick:
    """Pick the choice of lowest rank (see :func:`.tie_order`)."""
    if order.rule != RANDOM:
        end = -1 if order.rule == HIGHEST else 0
        return lambda choices: choices[end]

    def pick(choices: Sequence[Choice]) -> Choice:
        numbers = np.array([steps.number(choice) for choice in choices], dtype=np.int64)
        return choices[int(np.argmin(ranks_of(numbers, order)))]

    return pick


def along(path: Sequence[Choice]) -> Pick:
    """Pick the choices of a path, one after the other."""
    following = iter(path)
    return lambda choices: next(following)
