"""Exact Pareto fronts of two functions of overlays, by limits on one of them (the ε-constraint)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import InitVar, dataclass, field
from itertools import count

from ....instances.contract.overlay import Overlay
from ....instances.runtime.run import Clock, OutOfTime
from ....instances.topics.objective import CONNECTED
from ...engine.exact_method import SolverOutcome
from .overlay_model import Minimise, SimpleBounds, Subproblem

MinimiseAt = Callable[[int, Overlay | None, Clock, int], SolverOutcome[Overlay]]
_FIRST_SHARE, _AGAIN_SHARE = 0.25, 0.8  # of the time left


@dataclass
class Front:
    """f(ℓ), the least of one function of overlays where the other one is at most ℓ: bounds and overlays.

    The least ℓ of any overlay is `first`, a lower bound on f is `least`; `size` gives ℓ and f of an overlay, `value`
    the problem's value of ℓ and f, which rises with both. Starts are valid, not necessarily on the front. If the
    largest ℓ of any overlay is known (`last`), f is found without a limit first. `fits` says whether an overlay of ℓ
    can have an f as large.

    `proven` has lower bounds on some f(ℓ), infinite where no overlay is within the limit, `nodes` counts those of all
    search trees.
    """

    first: int
    least: int
    size: Callable[[Overlay], tuple[int, int]]
    value: Callable[[int, float], float]
    starts: InitVar[Iterable[Overlay]]
    last: int | None = None
    fits: Callable[[int, float], bool] = lambda limit, f: True
    proven: dict[int, float] = field(default_factory=dict)
    nodes: float = 0.0

    def __post_init__(self, starts: Iterable[Overlay]) -> None:
        self._found = [(*self.size(overlay), overlay) for overlay in starts]

    @property
    def overlays(self) -> list[Overlay]:
        return [overlay for *_, overlay in self._found]

    def bound(self, limit: int) -> float:
        """A lower bound on f(limit). f does not increase, so one for a larger limit is valid too."""
        return max([self.least, *(bound for other, bound in self.proven.items() if other >= limit)])

    def best(self, limit: int) -> tuple[float, Overlay | None]:
        """The least f of an overlay within the limit, infinite without one, and that overlay."""
        within = [(f, overlay) for size, f, overlay in self._found if size <= limit]
        return min(within, key=lambda each: each[0], default=(math.inf, None))

    @property
    def floor(self) -> float:
        """A lower bound on f without a limit."""
        return self.least if self.last is None else self.bound(self.last)

    @property
    def _limits(self) -> range:
        return range(self.first, (max([self.first, *self.proven]) if self.last is None else self.last) + 1)

    @property
    def lower_bound(self) -> float:
        """A lower bound on the problem's value: the least over the limits, and beyond the last one."""
        values = [self.value(limit, self.bound(limit)) for limit in self._limits if self._can_be(limit)]
        if self.last is None:
            values.append(self.value(self._limits.stop, self.least))
        return min(values, default=0)

    @property
    def points(self) -> list[tuple[int, int]]:
        """The pairs (ℓ, f(ℓ)) proven to be on the front, by rising ℓ: f(ℓ) is known, and f(ℓ − 1) proven larger."""
        return [
            (limit, int(f))
            for limit in self._limits
            if math.isfinite(f := self.best(limit)[0]) and self.bound(limit) >= f
            if limit == self.first or self.bound(limit - 1) > f
        ]

    @property
    def complete(self) -> bool:
        """Whether the points are the entire front: f is known up to a limit from which on it cannot fall."""
        for limit in self._limits:
            if self.bound(limit) < self.best(limit)[0]:
                return False
            if self.best(limit)[0] <= self.floor:
                return True
        return False

    def counters(self, shown: Iterable[tuple[float, float]]) -> dict[str, float | str]:
        text = " ".join(f"{one:g}x{other:g}" for one, other in shown)
        return {"nodes": self.nodes, "front": text, "front_complete": "yes" if self.complete else "no"}

    def search(self, minimise: MinimiseAt, clock: Clock) -> None:
        """Minimise under rising limits until f cannot fall further.

        `minimise` goes from a limit, the best overlay within it, a clock and a lower bound on f to the outcome. It gets
        a quarter of the time left, which reserves time for the later ones; what is left in the end is for those that
        were stopped, from the one that allows the least value on. Without a time limit, the first that is stopped ends
        the search.
        """
        for limit in count(self.first) if self.last is None else (self.last, *range(self.first, self.last)):
            least = self.bound(limit)
            self.proven[limit] = least if self._can_be(limit) else math.inf
            if not self._minimise_at(limit, minimise, clock.share(_FIRST_SHARE)):
                return
            if limit != self.last and self.best(limit)[0] <= self.floor:
                break
        for limit in sorted(self.proven, key=lambda limit: self.value(limit, self.bound(limit))):
            if not self._minimise_at(limit, minimise, clock.share(_AGAIN_SHARE)):
                return

    def _minimise_at(self, limit: int, minimise: MinimiseAt, clock: Clock) -> bool:
        """Minimise under a limit if f may be less than is known there; whether there is time for more."""
        least = self.proven[limit]
        if least >= self.best(limit)[0]:
            return True
        if clock.passed:
            return False
        try:
            outcome = minimise(limit, self.best(limit)[1], clock, int(least))
        except OutOfTime:
            return False
        self.nodes += float(outcome.counters.get("nodes", 0))
        bound = outcome.lower_bound  # a millionth above an integer counts as the solver's tolerance
        self.proven[limit] = max(least, math.ceil(bound - 1e-6) if math.isfinite(bound) else bound)
        if outcome.answer is not None:
            self._found.append((*self.size(outcome.answer), outcome.answer))
        return not (outcome.stopped and (math.isinf(clock.left) or clock.interrupted))

    def _can_be(self, limit: int) -> bool:
        return self.fits(limit, self.bound(limit))


def edges_by_degree(num_nodes: int, simple: SimpleBounds, starts: Iterable[Overlay]) -> Front:
    """E(d), the least number of edges of a topic-connected overlay with no degree above d; the value is d·E(d).

    Degrees add up to twice the edges, so no overlay has a maximum degree d with 2·E(d) > d|V|.
    """
    return Front(
        simple.max_degree,
        simple.edges,
        lambda overlay: (overlay.max_degree, overlay.num_edges),
        lambda degree, edges: degree * edges,
        starts,
        last=num_nodes - 1,
        fits=lambda degree, edges: 2 * edges <= degree * num_nodes,
    )


def pareto_front(
    num_nodes: int, simple: SimpleBounds, minimise: Minimise, starts: Iterable[Overlay], clock: Clock
) -> Front:
    """The front of edges and maximum degree; `minimise` solves subproblems of the fewest edges."""
    front = edges_by_degree(num_nodes, simple, starts)

    def under(cap: int, start: Overlay | None, clock: Clock, least: int) -> SolverOutcome[Overlay]:
        subproblem = Subproblem(CONNECTED, least, None if cap == front.last else cap)
        return minimise(subproblem, start, clock)

    front.search(under, clock)
    return front


def shown(front: Front) -> list[tuple[float, float]]:
    """The points as edges × maximum degree."""
    return [(edges, degree) for degree, edges in front.points]
