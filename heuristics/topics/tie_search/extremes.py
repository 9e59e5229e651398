"""The worst and the best value over all ways to break the ties of a greedy method, by exhaustive search."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ....instances.contract.method import Proposal
from ....instances.contract.overlay import Overlay
from ....instances.contract.problem import Problem
from ....instances.contract.run import Clock
from ....instances.topics.instance import TopicInstance
from ..kernels.ties import TIES, tie_order
from .steps import Choice, GreedySteps, State, along, by_order, check_traceable, trace_of

EXTREMES = ("worst", "best")
TIES_OR_EXTREMES = replace(
    TIES,
    summary=f"{TIES.summary}; worst or best: whatever choices make most or least of the problem's value",
    choices=(*TIES.allowed, *EXTREMES),
)
MOST_STATES = 300_000
_RECURSION_LIMIT = 20_000


class TooManyStates(RuntimeError):
    """The search was stopped before it had proven an extreme."""


@dataclass(frozen=True)
class Extreme:
    """The result of the best or of the worst choices."""

    overlay: Overlay
    choices: tuple[str, ...]  # of every step by its labels: a pair of nodes, a centre, or a centre with a topic
    path: tuple[Choice, ...]  # the same choices by number
    open_steps: int  # the number of steps that had more than one candidate
    states: int  # the number of different states searched


def extreme_ties(
    steps: GreedySteps, problem: str, extreme: str, *, most_states: int = MOST_STATES, clock: Clock | None = None
) -> Extreme:
    """Try every way to break ties, and return one that makes the problem's value largest or smallest.

    Parameters
    ----------
    steps : GreedySteps
        The method on an instance; a small one, see the notes.
    problem : str
        Any topic problem: minmax-tco counts the maximum degree, low-tco edges × maximum degree, all others edges.
    extreme : {"worst", "best"}
    most_states : int
        The search stops beyond this number of states.
    clock : Clock, optional
        The search stops when its time has passed.

    Raises
    ------
    TooManyStates
        If the search stops early.

    Notes
    -----
    Depth-first search with one visit to each state: a state is what :attr:`.GreedySteps.depends_on` names, with the
    degrees if the problem depends on these. Exponential: as many states as there are sets of edges in the worst case,
    each at O(|V|² |T|).
    """
    return _Search(steps, problem, extreme, most_states, clock or Clock(None)).run()


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
        problem: Problem[TopicInstance, Overlay],
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
            traced = self.traced(instance, **options)
            pick = by_order(traced, tie_order(ties, seed))
            return replace(proposal, trace=partial(trace_of, traced, pick, proposal.answer))
        steps = self.steps(instance, **options)
        try:
            found = extreme_ties(steps, problem.name, ties, clock=Clock(time_limit))
        except TooManyStates as error:
            return Proposal(reason=str(error))
        counters: dict[str, float | str] = {
            "steps": len(found.choices),
            "open_steps": found.open_steps,
            "states": found.states,
            "choices": "; ".join(found.choices),
        }
        again = partial(trace_of, steps, along(found.path), found.overlay) if trace else None
        return Proposal(found.overlay, counters=counters, trace=again)


class _Search:
    """One search; `seen` has for each state the value still to come, the choice that leads there, and the number of
    candidates.
    """

    def __init__(self, steps: GreedySteps, problem: str, extreme: str, most_states: int, clock: Clock) -> None:
        self.steps, self.most_states, self.clock = steps, most_states, clock
        self.counts_edges = problem not in ("minmax-tco", "low-tco")
        self.product = problem == "low-tco"
        self.sign = 1 if extreme == "best" else -1
        self.seen: dict[tuple[Any, ...], tuple[int, Choice | None, int]] = {}

    def run(self) -> Extreme:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
        try:
            self._extreme(self.steps.start())
        finally:
            sys.setrecursionlimit(limit)
        state, path, open_steps = self.steps.start(), [], 0
        while (choice := self.seen[self._key(state)][1]) is not None:
            open_steps += self.seen[self._key(state)][2] > 1
            path.append(choice)
            state = self.steps.after(state, choice)
        overlay = Overlay.from_edges(len(self.steps.nodes), self.steps.edges_of(state))
        choices = tuple(map(self.steps.label, path))
        return Extreme(overlay, choices, tuple(path), open_steps, len(self.seen))

    def _extreme(self, state: State) -> int:
        """The number of further edges where edges count, else the value at the end."""
        key = self._key(state)
        if key in self.seen:
            return self.seen[key][0]
        if len(self.seen) >= self.most_states:
            raise TooManyStates(f"ties: more than {self.most_states} states to search: take a smaller instance")
        if self.clock.passed:
            raise TooManyStates("ties: the time limit passed before every choice was tried")
        candidates = self.steps.candidates(state)
        best: tuple[int, Choice | None] = (0 if self.counts_edges else self._value(state), None)
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
        if self.steps.depends_on == "edges":
            return state.rest, state.edges
        if self.steps.depends_on == "components" and self.counts_edges:
            return state.rest
        return state.rest, state.degrees

    def _value(self, state: State) -> int:
        largest = max(state.degrees)
        return largest * state.edges.bit_count() if self.product else largest
