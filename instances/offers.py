"""Answers and bounds that a run offers before its end, to a watcher that may have to stop it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol


class Watcher(Protocol):
    """Who is told of a run while it goes on."""

    def offered(self, answer: Any, lower_bound: float | None) -> None:
        """Take an answer, which may be worse than an earlier one or even invalid, or a proven bound, or both."""

    def solving(self, begun: bool) -> None:
        """The method itself begins, and has ended: its time limit counts in between."""


@dataclass
class _Watch:
    """A watcher, the process that it watches, and how many methods of that process are solving, one within another."""

    watcher: Watcher
    process: int
    depth: int = 0


_watches: list[_Watch] = []


def _watch() -> _Watch | None:
    return _watches[-1] if _watches and _watches[-1].process == os.getpid() else None


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Tell a watcher of what is done in this process meanwhile; processes that are forked do not reach it."""
    _watches.append(_Watch(watcher, os.getpid()))
    try:
        yield
    finally:
        _watches.pop()


@contextmanager
def solving() -> Iterator[None]:
    """Around the work of a method: what another one offers that it calls is about another instance, and not heard."""
    watch = _watch()
    if watch is None:
        yield
        return
    watch.depth += 1
    try:
        if watch.depth == 1:
            watch.watcher.solving(True)
        yield
        if watch.depth == 1:
            watch.watcher.solving(False)
    finally:
        watch.depth -= 1


def offer(answer: Any = None, lower_bound: float | None = None) -> None:
    """Offer an answer to the instance that is being solved, or a lower bound on the optimum of its problem.

    An anytime method calls it whenever it has something better. Where a limit, Ctrl-C or a lack of memory ends the run
    in a step that cannot be interrupted, the best of what it offered is its result. Without a watcher it does nothing.

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
    >>> from overlaybench.instances.offers import offer
    >>> offer(ob.Overlay.from_edges(2, [(0, 1)]), lower_bound=1.0)
    """
    watch = _watch()
    if watch is not None and watch.depth == 1:
        watch.watcher.offered(answer, lower_bound)
