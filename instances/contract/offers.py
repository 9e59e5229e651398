"""Answers and bounds that a run offers before its end: for its trajectory, and a watcher that may have to stop it."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from .problem import Problem
from .trajectory import Trajectory

Report = Callable[[float | None, float | None], object]
"""A function of a value and a lower bound, None for what is not known."""

_SHARE, _FREE_SECONDS = 0.05, 0.05


class Watcher(Protocol):
    """Who is told of a run while it goes on."""

    def offered(self, answer: Any, value: float | None, lower_bound: float | None) -> None:
        """Take a valid answer with its value, or a proven bound, or both: each better than those before."""

    def solving(self, begun: bool) -> None:
        """The method itself begins, and has ended: its time limit counts in between."""


class _Run:
    """A method at work: judges the answers that it offers, in at most a twentieth of its time."""

    def __init__(
        self, instance: Any, problem: Problem[Any, Any], trajectory: Trajectory, watcher: Watcher | None
    ) -> None:
        self.process = os.getpid()
        self._instance, self._problem = instance, problem
        self._trajectory, self._watcher = trajectory, watcher
        self._value, self._bound = math.inf, -math.inf
        self._pending: Any = None
        self._start, self._spent = time.perf_counter(), 0.0

    def offered(self, answer: Any, value: float | None, lower_bound: float | None) -> None:
        """Pass on what is better; an answer waits for the next offer while judging has taken its share of the time."""
        self._trajectory.report(value, lower_bound)
        self._pending = self._pending if answer is None else answer
        now = time.perf_counter()
        if self._is_busy(now):
            return
        chosen, self._pending = self._pending, None
        improved = chosen is not None and self._improves(chosen)
        raised = lower_bound is not None and self._bound < lower_bound < math.inf
        self._bound = lower_bound if raised and lower_bound is not None else self._bound
        if improved:
            self._trajectory.report(self._value)
        if self._watcher is not None and (improved or raised):
            self._watcher.offered(
                chosen if improved else None, self._value if improved else None, self._bound if raised else None
            )
        self._spent += time.perf_counter() - now

    def offered_if_free(self, make: Callable[[], Any]) -> None:
        """Pass on an answer that takes time to make, unless offers have taken their share of the time."""
        now = time.perf_counter()
        if not self._is_busy(now):
            answer = make()
            self._spent += time.perf_counter() - now
            self.offered(answer, None, None)

    def _is_busy(self, now: float) -> bool:
        return self._spent > _FREE_SECONDS + _SHARE * (now - self._start)

    def _improves(self, answer: Any) -> bool:
        try:
            value = float(self._problem.value(self._instance, answer))
            if not value < self._value or self._problem.violations(self._instance, answer):
                return False
        except Exception:  # an answer to something else, which must not end the run
            return False
        self._value = value
        return True


_run: ContextVar[_Run | None] = ContextVar("_run", default=None)
_watch: ContextVar[tuple[Watcher, int] | None] = ContextVar("_watch", default=None)


def _active() -> _Run | None:
    """The innermost run of this thread; a forked process has none of its parent's."""
    run = _run.get()
    return run if run is not None and run.process == os.getpid() else None


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Tell a watcher of what is done in this process meanwhile; processes that are forked do not reach it."""
    token = _watch.set((watcher, os.getpid()))
    try:
        yield
    finally:
        _watch.reset(token)


@contextmanager
def solving(instance: Any, problem: Problem[Any, Any], trajectory: Trajectory) -> Iterator[None]:
    """Around the work of a method, whose offers go to its trajectory and to the watcher of the process, if any.

    The watcher does not hear what another method offers that is run meanwhile: it is about another instance.
    """
    watch = _watch.get()
    is_heard = watch is not None and watch[1] == os.getpid() and _active() is None
    watcher = watch[0] if watch is not None and is_heard else None
    token = _run.set(_Run(instance, problem, trajectory, watcher))
    try:
        if watcher is not None:
            watcher.solving(True)
        yield
        if watcher is not None:
            watcher.solving(False)
    finally:
        _run.reset(token)


def offer(answer: Any = None, lower_bound: float | None = None) -> None:
    """Offer an answer to the instance that is being solved, or a lower bound on the optimum of its problem.

    An anytime method calls it whenever it has something better. It becomes a point of the run's trajectory; and where a
    limit, Ctrl-C or a lack of memory ends the run in a step that cannot be interrupted, the best of what it offered is
    its result. Outside of :meth:`.Method.run` it does nothing.

    A method that calls another one by :meth:`.Method.run` offers what that one returns, where it is worth it.

    Parameters
    ----------
    answer : Answer, optional
        Of the instance as given, not of a reduced one; it is judged before it counts.
    lower_bound : float, optional
        Proven.

    Examples
    --------
    >>> import overlaybench as ob
    >>> from overlaybench.instances.contract.offers import offer
    >>> offer(ob.Overlay.from_edges(2, [(0, 1)]), lower_bound=1.0)
    """
    if (run := _active()) is not None:
        run.offered(answer, None, lower_bound)


def offer_value(value: float | None, lower_bound: float | None) -> None:
    """Offer the value of an answer that a solver has, but does not give away yet, and a proven bound.

    The value becomes a point of the trajectory only: what ends the run also takes the answer with it.
    """
    if (run := _active()) is not None:
        run.offered(None, value, lower_bound)


def offer_made(make: Callable[[], Any]) -> None:
    """Offer the answer that a function makes from a solver's solution; it is not called too often for its cost."""
    if (run := _active()) is not None:
        run.offered_if_free(make)


def offer_bound(lower_bound: float) -> None:
    """Offer a lower bound alone, as :func:`offer` does."""
    offer(lower_bound=lower_bound)
