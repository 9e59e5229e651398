"""The incumbent of branch-and-cut: the best content overlay so far, and overlays rounded from LP values."""

from __future__ import annotations

import numpy as np

from ...heuristics.content.routing import route
from ...instances.content.instance import Flags, Floats
from ...instances.content.problems import ContentOverlay, ContentProblem
from ...instances.contract.run import Clock, offer
from ..engine.relaxation import NO_CUTOFF
from .model import ContentModel
from .moves import improve_by_moves

# Half of the relative tolerance within which a bound counts as the value.
_TOLERANCE = 5e-7


class ContentIncumbent:
    """The best overlay without violations (`answer`), and its cost (`value`, infinite without one).

    `unit` is that of the relaxation whose bounds it cuts off.
    """

    def __init__(self, model: ContentModel, problem: ContentProblem, start: ContentOverlay | None, unit: int) -> None:
        self.model, self.problem, self.unit = model, problem, unit
        self.answer: ContentOverlay | None = None
        self.value = np.inf
        self._rounded: set[bytes] = set()
        if start is not None:
            self._offer(start)

    @property
    def cutoff(self) -> int:
        """Nodes with a bound above this, in units, hold no overlay that is cheaper by more than the tolerance."""
        return int(self.value * (1 - _TOLERANCE) * self.unit) if np.isfinite(self.value) else NO_CUTOFF

    def offer_chosen(self, columns: object, chosen: Flags) -> None:
        """Offer the overlay of 0/1 values."""
        self._offer(self.model.answer(chosen.astype(np.float64)))

    def build_along(self, columns: object, x: Floats) -> ContentOverlay | None:
        """Assign users by falling largest LP value, each to the feasible broker of largest LP value."""
        instance = self.model.instance
        shares, residual = x[self.model.x], instance.load_limits()
        brokers = np.zeros(instance.num_users, np.int32)
        for u in np.argsort(-shares.max(axis=1), kind="stable").tolist():
            feasible = np.flatnonzero(residual >= instance.demands[u])
            if not len(feasible):
                return None
            brokers[u] = feasible[np.argmax(shares[u, feasible] - 1e-9 * instance.access[u, feasible])]
            residual[brokers[u]] -= instance.demands[u]
        if brokers.tobytes() in self._rounded:
            return None
        self._rounded.add(brokers.tobytes())
        overlay = route(instance, brokers, self.model.routing)
        self._offer(overlay)
        return overlay

    def improve_along(self, columns: object, x: Floats, clock: Clock, *, goal: float, steps: int) -> None:
        """As :meth:`build_along`, followed by moves of single users."""
        overlay = self.build_along(columns, x)
        if overlay is not None and not self.problem.violations(self.model.instance, overlay):
            self._offer(improve_by_moves(self.model.instance, self.problem, overlay, clock.share(0.2, 10.0)))

    def _offer(self, answer: ContentOverlay) -> None:
        value = self.problem.value(self.model.instance, answer)
        if value < self.value and not self.problem.violations(self.model.instance, answer):
            self.answer, self.value = answer, value
            offer(answer)
