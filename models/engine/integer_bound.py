"""Lower bounds as integers, in units of 1/2^32."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

UNIT = 2**32
Units = npt.NDArray[np.int64]
Edges = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Bound:
    """What dual values prove, and where they could be better.

    Attributes
    ----------
    units : int
        The bound times `UNIT`.
    new_pairs : int64 array
        Pairs u·|V| + v that are no candidates yet and have negative reduced cost, most negative first.
    reduced_costs : int64 array, one a candidate edge
        In units.
    """

    units: int
    new_pairs: Edges
    reduced_costs: Units

    @property
    def rounded_up(self) -> int:
        """The least integer that is not below the bound."""
        return -(-self.units // UNIT)
