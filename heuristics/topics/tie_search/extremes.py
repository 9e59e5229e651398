"""The worst and the best that any breaking of ties can make of a greedy method, by exhaustive search."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ....instances.errors import BadInput
from ....instances.method import Method, Proposal
from ....instances.overlay import Overlay
from ....instances.problem import Problem
from ....instances.topics.instance import TopicInstance
from ..kernels.ties import TIES
from .steps import EDGE_RULES, STAR_RULES, Greedy, State, greedy

SEARCHED = (*EDGE_RULES, *STAR_RULES)
EXTREMES = ("worst", "best")
TIES_OR_EXTREMES = replace(
    TIES,
    summary=f"{TIES.summary}; worst or best: whatever choices make most or least of the problem's value",
    choices=(*TIES.allowed, *EXTREMES),
)
MOST_STATES = 300_000
_DEEPEST = 20_000


class TooManyStates(RuntimeError):
    """The search was given up: nothing is said about the extremes."""


@dataclass(frozen=True)
class Extreme:
    """What the best or the worst choices lead to.

    Attributes
    ----------
    overlay : Overlay
    choices : tuple of (int, int)
        What was taken, step by step: pairs of nodes; for CD-ODA's family (centre, -1), for 2D-ODA (centre, first topic
        with these subscribers).
    open_steps : int
        At how many of the steps there was a choice.
    states : int
        How many different situations were looked at.
    """

    overlay: Overlay
    choices: tuple[tuple[int, int], ...]
    open_steps: int
    states: int


def extreme_ties(
    instance: TopicInstance,
    method: str,
    problem: str,
    extreme: str,
    *,
    k: float = 3.0,
    most_states: int = MOST_STATES,
    deadline: float | None = None,
) -> Extreme:
    """Try every way to break ties, and return one that makes the problem's value largest or smallest.

    Parameters
    ----------
    instance : TopicInstance
        Small: see the notes.
    method : str
        gm, gm-m, minmax-oda, low-oda, cd-oda, cd-oda-1, cd-oda-2 or 2d-oda.
    problem : str
        Any topic problem: minmax-tco counts the maximum degree, low-tco edges × maximum degree, all others edges.
    extreme : {"worst", "best"}
    k : float
        Of Low-ODA.
    most_states : int
        The search is given up beyond so many situations.
    deadline : float, optional
        On the clock of :func:`time.monotonic`.

    Returns
    -------
    Extreme

    Raises
    ------
    TooManyStates
        If the search is given up.

    Notes
    -----
    Depth first, each situation once: for Greedy Merge and the number of edges a situation is the topic components, for
    GM-M and Low-ODA these and the degrees, else the edges too. Exponential: as many situations as there are sets of
    edges in the worst case, each at O(|V|² |T|).
    """
    if method not in SEARCHED:
        raise BadInput(f"method '{method}' has no exhaustive search of ties: it has {', '.join(TIES.allowed)}")
    search = _Search(greedy(instance, method, k), method, problem, extreme, most_states, deadline)
    return search.run(instance)


def with_extremes(method: Method[TopicInstance, Overlay]) -> Method[TopicInstance, Overlay]:
    """The method with ``worst`` and ``best`` for its option ``ties``, where there is a search for them."""
    if method.name not in SEARCHED:
        return method

    def solve(
        instance: TopicInstance,
        problem: Problem[TopicInstance, Overlay],
        *,
        seed: int,
        time_limit: float | None,
        **options: Any,
    ) -> Proposal[Overlay]:
        extreme = options["ties"]
        if extreme not in EXTREMES:
            return method.solve(instance, problem, seed=seed, time_limit=time_limit, **options)
        if options.get("runs", 1) != 1:
            raise BadInput("ties=worst and ties=best are for one run: leave option 'runs' at 1")
        deadline = None if time_limit is None else time.monotonic() + time_limit
        k = options.get("k", 3.0)
        try:
            found = extreme_ties(instance, method.name, problem.name, extreme, k=k, deadline=deadline)
        except TooManyStates as error:
            return Proposal(reason=str(error))
        return Proposal(found.overlay, counters=_counters(found, instance, method.name))

    options = tuple(TIES_OR_EXTREMES if option == TIES else option for option in method.options)
    return replace(method, solve=solve, options=options)


def _counters(found: Extreme, instance: TopicInstance, method: str) -> Mapping[str, float | str]:
    names = [
        instance.node_label(u) if v < 0 else f"{instance.node_label(u)} {_second(instance, method, v)}"
        for u, v in found.choices
    ]
    return {
        "steps": len(found.choices),
        "open_steps": found.open_steps,
        "states": found.states,
        "choices": "; ".join(names),
    }


def _second(instance: TopicInstance, method: str, number: int) -> str:
    return instance.topic_label(number) if method == "2d-oda" else instance.node_label(number)


class _Search:
    """The memory of one search: for each situation, what is to come at the extreme and the choice that leads there."""

    def __init__(
        self, steps: Greedy, method: str, problem: str, extreme: str, most_states: int, deadline: float | None
    ) -> None:
        self.steps, self.method, self.most_states, self.deadline = steps, method, most_states, deadline
        self.counts_edges = problem not in ("minmax-tco", "low-tco")
        self.product = problem == "low-tco"
        self.sign = 1 if extreme == "best" else -1
        self.seen: dict[tuple[Any, ...], tuple[int, tuple[int, int] | None, int]] = {}

    def run(self, instance: TopicInstance) -> Extreme:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, _DEEPEST))
        try:
            self._extreme(self.steps.start())
        finally:
            sys.setrecursionlimit(limit)
        state, choices, open_steps = self.steps.start(), [], 0
        while (choice := self.seen[self._key(state)][1]) is not None:
            open_steps += self.seen[self._key(state)][2] > 1
            choices.append(choice)
            state = self.steps.after(state, choice)
        edges = [pair for place, pair in enumerate(self.steps.pairs) if state.edges >> place & 1]
        if self.method == "2d-oda":
            first = {tuple(instance.subscribers(t).tolist()): t for t in reversed(range(instance.num_topics))}
            choices = [(u, first[self.steps.classes.members[c]]) for u, c in choices]
        return Extreme(Overlay.from_edges(instance.num_nodes, edges), tuple(choices), open_steps, len(self.seen))

    def _extreme(self, state: State) -> int:
        """What is to come: the further edges where edges count, else the value at the end."""
        key = self._key(state)
        if key in self.seen:
            return self.seen[key][0]
        if len(self.seen) >= self.most_states:
            raise TooManyStates(f"ties: more than {self.most_states} situations to look at: take a smaller instance")
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise TooManyStates("ties: the time limit passed before every choice was tried")
        candidates = self.steps.candidates(state)
        best: tuple[int, tuple[int, int] | None] = (0 if self.counts_edges else self._value(state), None)
        for number, candidate in enumerate(candidates):
            following = self.steps.after(state, candidate)
            value = self._extreme(following)
            if self.counts_edges:
                value += following.edges.bit_count() - state.edges.bit_count()
            if number == 0 or self.sign * value < self.sign * best[0]:
                best = (value, candidate)
        self.seen[key] = (*best, len(candidates))
        return best[0]

    def _key(self, state: State) -> tuple[Any, ...]:
        if self.method == "gm" and self.counts_edges:
            return state.rest
        if self.method in ("gm", "gm-m", "low-oda"):
            return state.rest, state.degrees
        return state.rest, state.edges

    def _value(self, state: State) -> int:
        largest = max(state.degrees)
        return largest * state.edges.bit_count() if self.product else largest
