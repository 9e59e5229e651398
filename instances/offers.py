"""Answers and bounds that a run offers before its end, to a watcher that may have to stop it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol


class Watcher(Protocol):
    """Who is told of a run while it goes on."""

    def offered(self, answer: Any, lower_bound: float | None) -> None:
        """Take an answer, which may be worse than an earlier one or even invalid, or a proven bound, or both."""

    def solving(self, begun: bool) -> None:
        """The method itself begins, and has ended: its time limit counts in between."""


_watchers: list[tuple[int, Watcher]] = []


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Tell a watcher of what is done in this process meanwhile; processes that are forked do not reach it."""
    _watchers.append((os.getpid(), watcher))
    try:
        yield
    finally:
        _watchers.pop()


def offer(answer: Any = None, lower_bound: float | None = None) -> None:
    """Offer an answer to the instance that is being solved, or a lower bound on the optimum of its problem.

    An anytime method calls it whenever it has something better. Where a limit, Ctrl-C or a lack of memory ends the run
    in a step that cannot be interrupted, the best of what it offered is its result. Without a watcher it does nothing.

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
    if _watchers and _watchers[-1][0] == os.getpid():
        _watchers[-1][1].offered(answer, lower_bound)


def solving(begun: bool) -> None:
    """Tell the watcher that a method begins or has ended."""
    if _watchers and _watchers[-1][0] == os.getpid():
        _watchers[-1][1].solving(begun)
