"""What a solver is asked to minimise over a model, and what it says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ....instances.clock import Clock
from ....instances.overlay import Overlay
from .requirements import Requirements


@dataclass(frozen=True)
class Goal:
    """One minimisation.

    Attributes
    ----------
    problem : str
        ``min-tco``, ``minmax-tco``, ``2d-star`` or ``2d-true``.
    least : int
        A value known to be a lower bound, handed to the model.
    degree_cap : int, optional
        No degree above this one, for ``min-tco``.
    """

    problem: str
    least: int = 0
    degree_cap: int | None = None


@dataclass(frozen=True)
class Proof:
    """What came of a minimisation.

    Attributes
    ----------
    overlay : Overlay or None
        The best one found.
    lower_bound : float
        Proven; −inf if nothing is, inf if no overlay meets the goal.
    stopped : bool
        Whether the time limit ended the search.
    counters : mapping
        As in :class:`Result`.
    """

    overlay: Overlay | None = None
    lower_bound: float = -math.inf
    stopped: bool = False
    counters: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def rounded_bound(self) -> float:
        """The lower bound rounded up, as all values are integers; a millionth above one counts as tolerance."""
        return math.ceil(self.lower_bound - 1e-6) if math.isfinite(self.lower_bound) else self.lower_bound


class ModelTooLarge(Exception):
    """The model would not fit in memory; the message says how large it would be."""


def check_size(requirements: Requirements, power: int, most: int) -> None:
    """Raise :class:`ModelTooLarge` if a model of |V_t|^power variables a topic would have more than `most`."""
    variables = len(requirements.edges) + sum(len(subscribers) ** power for subscribers in requirements.topics)
    if variables > most:
        raise ModelTooLarge(f"the model could have {variables:,} variables, more than the {most:,} that fit")


class Minimise(Protocol):
    """A model with its solver.

    `start`, if there is one, meets the goal. Raises OutOfTime or ModelTooLarge if nothing could be solved.
    """

    def __call__(self, requirements: Requirements, goal: Goal, *, start: Overlay | None, clock: Clock) -> Proof: ...
