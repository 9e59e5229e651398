"""Diving: fix the edges of largest LP value step by step, and build an overlay along each new solution."""

from __future__ import annotations

import numpy as np

from ....instances.contract.run import Clock
from ...engine.highs_lp import Reals
from ...engine.integer_bound import UNIT
from ...engine.relaxation import Bits
from ..cuts.cutting_planes import CuttingPlanes
from .lp_guided import Incumbent

_ROUNDS = 6
_STEPS = 4_000
_INTEGRAL = 1e-6


def dive(planes: CuttingPlanes, incumbent: Incumbent, x: Reals, clock: Clock, *, goal: float, share: float) -> None:
    """Fix the free edges of largest LP value at 1, a share at a time, until the LP bound reaches the incumbent.

    Parameters
    ----------
    planes : CuttingPlanes
        Its bounds on edges change; the next :meth:`.Relaxation.tighten` sets them again.
    incumbent : Incumbent
        Improved by a short local search along every LP solution.
    x : float64 array, one a candidate edge
        The LP solution to start from.
    goal : float
        Stop at an incumbent of this value.
    share : float
        The share of the free edges of positive value to fix at a time; at least one is fixed.

    Notes
    -----
    About 1 ÷ share LP solves times a few rounds of cuts.
    """
    lower, upper = np.zeros(len(x), np.int8), np.ones(len(x), np.int8)
    while incumbent.value > goal and not clock.passed:
        _fix_heaviest(lower, x, share)
        bound = planes.tighten(
            clock,
            lower=lower,
            upper=upper,
            enough=int(min(incumbent.value - 1, 2**29)) * UNIT,
            exact=False,
            stall=0.02,
            rounds=_ROUNDS,
        )
        if bound is None or not planes.lp.feasible:
            return
        x = np.append(planes.lp.x, np.zeros(len(planes.edges) - len(planes.lp.x)))
        incumbent.improve_along(planes.edges, x, clock, goal=goal, steps=_STEPS)
        if bound.units > int(min(incumbent.value - 1, 2**29)) * UNIT:
            return
        grown = len(planes.edges) - len(lower)
        lower, upper = np.append(lower, np.zeros(grown, np.int8)), np.append(upper, np.ones(grown, np.int8))
        if not ((x > _INTEGRAL) & (lower == 0)).any():
            return


def _fix_heaviest(lower: Bits, x: Reals, share: float) -> None:
    free = np.flatnonzero((x > _INTEGRAL) & (lower == 0))
    ones = free[x[free] > 1 - _INTEGRAL]
    rest = free[x[free] <= 1 - _INTEGRAL]
    heaviest = rest[np.argsort(-x[rest], kind="stable")[: max(1, int(share * len(rest)))]]
    lower[ones] = 1
    lower[heaviest] = 1
