"""The single minimisations that a compact model is solved for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ....instances.contract.overlay import Overlay
from ....instances.contract.run import Clock, Report
from ...engine.exact_method import SolverOutcome
from .requirements import Requirements


@dataclass(frozen=True)
class Subproblem:
    """One minimisation.

    Attributes
    ----------
    problem : str
        ``min-tco``, ``minmax-tco``, ``weighted-tco``, ``k-tco``, ``2d-star`` or ``2d-true``; the costs of the edges
        and fault tolerance are in the requirements.
    least : int
        A known lower bound on the value, which becomes a row of the model.
    degree_cap : int, optional
        The largest degree allowed, for ``min-tco``.
    report : callable, optional
        Is given the value of each solution, and each bound on it.
    """

    problem: str
    least: int = 0
    degree_cap: int | None = None
    report: Report | None = None


class Minimise(Protocol):
    """A model with its solver.

    `start`, if there is one, is feasible. Raises :class:`.OutOfTime` or :class:`.ModelTooLarge` before any result.
    """

    def __call__(
        self, requirements: Requirements, subproblem: Subproblem, *, start: Overlay | None, clock: Clock
    ) -> SolverOutcome[Overlay]: ...
