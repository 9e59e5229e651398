"""The best content overlay so far, and assignments rounded from LP values."""

from __future__ import annotations

import numpy as np

from ...heuristics.content.kernels.routing import routed
from ...instances.clock import Clock
from ...instances.content.overlay import ContentOverlay
from ...instances.content.problems import ContentProblem
from ..engine.relaxation import NO_CUTOFF
from .model import ContentModel, Flags, Reals
from .starts import improved

# Half of the relative tolerance within which a bound counts as the value.
_TOLERANCE = 5e-7


class ContentIncumbent:
    """An overlay without violations.

    Parameters
    ----------
    model : ContentModel
    problem : ContentProblem
    start : ContentOverlay, optional
        Valid.
    unit : int
        Of the relaxation whose bounds it cuts off.

    Attributes
    ----------
    answer : ContentOverlay or None
    value : float
        Its cost, infinite without one.
    """

    def __init__(self, model: ContentModel, problem: ContentProblem, start: ContentOverlay | None, unit: int) -> None:
        self.model, self.problem, self.unit = model, problem, unit
        self.answer: ContentOverlay | None = None
        self.value = np.inf
        self._known: set[bytes] = set()
        if start is not None:
            self._offer(start)

    @property
    def cutoff(self) -> int:
        """A bound above this, in units, leaves nothing that is cheaper by more than half a millionth."""
        return int(self.value * (1 - _TOLERANCE) * self.unit) if np.isfinite(self.value) else NO_CUTOFF

    def offer_chosen(self, columns: object, chosen: Flags) -> None:
        """The overlay that 0/1 values stand for."""
        self._offer(self.model.answer(chosen.astype(np.float64)))

    def build_along(self, columns: object, x: Reals) -> ContentOverlay | None:
        """Each user, from the most decided one on, goes to the broker of largest LP value that has room."""
        instance = self.model.instance
        shares, room = x[self.model.x], instance.room()
        brokers = np.zeros(instance.num_users, np.int32)
        for u in np.argsort(-shares.max(axis=1), kind="stable").tolist():
            fitting = np.flatnonzero(room >= instance.demands[u])
            if not len(fitting):
                return None
            brokers[u] = fitting[np.argmax(shares[u, fitting] - 1e-9 * instance.access[u, fitting])]
            room[brokers[u]] -= instance.demands[u]
        if brokers.tobytes() in self._known:
            return None
        self._known.add(brokers.tobytes())
        built = routed(instance, brokers, self.model.routing)
        self._offer(built)
        return built

    def improve_along(self, columns: object, x: Reals, clock: Clock, *, goal: float, steps: int) -> None:
        """As :meth:`build_along`, then by moves of single users."""
        built = self.build_along(columns, x)
        if built is not None and not self.problem.violations(self.model.instance, built):
            self._offer(improved(self.model.instance, self.problem, built, clock.share(0.2, 10.0)))

    def _offer(self, answer: ContentOverlay) -> None:
        value = self.problem.value(self.model.instance, answer)
        if value < self.value and not self.problem.violations(self.model.instance, answer):
            self.answer, self.value = answer, value
