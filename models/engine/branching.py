"""Reliability branching: pseudo-costs initialised by strong branching (Achterberg, Koch and Martin 2005)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.contract.run import Clock
from .highs_lp import HighsLP, Reals

Bits = npt.NDArray[np.int8]
_RELIABLE = 2
_LEAST = 1e-6


class Probing(NamedTuple):
    """How many columns of a node are probed at most, and for how many iterations in each direction.

    After as many iterations in all as the LPs of the nodes took, it is as `LITTLE`.
    """

    columns: int = 10
    iterations: int = 60


LITTLE = Probing()


class Step(NamedTuple):
    """A column set to 0 or 1, by how much that changes it, and the objective before."""

    column: int
    direction: int
    change: float
    value: float


class Branching:
    """Pseudo-costs: the mean objective gain per unit of change of each column in each direction.

    Parameters
    ----------
    lp : HighsLP
    scale : float
        A typical cost, by which gains are divided.
    probing : Probing

    References
    ----------
    Achterberg, Koch, Martin: Branching rules revisited, 2005, https://doi.org/10.1016/j.orl.2004.04.002
    """

    def __init__(self, lp: HighsLP, scale: float = 1.0, probing: Probing = LITTLE) -> None:
        self._lp, self._scale, self._probing = lp, scale, probing
        self._gain = np.zeros((2, 0))
        self._count = np.zeros((2, 0), np.int64)

    def choose(self, fractional: npt.NDArray[np.int64], x: Reals, lower: Bits, upper: Bits, clock: Clock) -> int:
        """The column with the largest product of its two gains; unreliable columns are probed in both directions.

        Parameters
        ----------
        fractional : int64 array
            Free columns with fractional value.
        x : float64 array, one a column
        lower, upper : int8 arrays, one a column
            The node's bounds, which the LP has.
        """
        self._grow(len(x))
        count, gain = self._count.sum(axis=1), self._gain.sum(axis=1)
        mean = gain / np.maximum(count, 1)
        rate = np.where(self._count > 0, self._gain / np.maximum(self._count, 1), np.maximum(mean, 0.05)[:, None])
        down, up = rate[0, fractional] * x[fractional], rate[1, fractional] * (1 - x[fractional])
        score = np.maximum(down, _LEAST) * np.maximum(up, _LEAST)
        order = fractional[np.lexsort((fractional, -np.minimum(x[fractional], 1 - x[fractional]), -score))]
        best, best_score = int(order[0]), float(score.max())
        value, basis = self._lp.value, self._lp.basis
        probed = False
        probing = self._probing if self._lp.probed <= self._lp.iterations else LITTLE
        for column in order[: probing.columns].tolist():
            if self._count[:, column].min() >= _RELIABLE or clock.passed:
                continue
            gains = []
            for direction in (0, 1):
                probed = True
                gained = max(0.0, self._lp.probe(column, direction, basis, probing.iterations) - value) / self._scale
                change = x[column] if direction == 0 else 1 - x[column]
                self._count_gain(column, direction, change, gained)
                gains.append(max(gained, _LEAST))
            self._lp.release(column, int(lower[column]), int(upper[column]), basis)
            if gains[0] * gains[1] > best_score or not probed:
                best, best_score = column, gains[0] * gains[1]
        return best

    def learn(self, step: Step) -> None:
        """Count what the LP of a child gained over that of its parent; the LP has the child's bounds."""
        gained = max(0.0, self._lp.value - step.value) / self._scale
        self._count_gain(step.column, step.direction, step.change, gained)

    def _count_gain(self, column: int, direction: int, change: float, gained: float) -> None:
        self._gain[direction, column] += min(gained, 2.0) / change
        self._count[direction, column] += 1

    def _grow(self, size: int) -> None:
        missing = size - self._gain.shape[1]
        if missing > 0:
            self._gain = np.pad(self._gain, ((0, 0), (0, missing)))
            self._count = np.pad(self._count, ((0, 0), (0, missing)))
