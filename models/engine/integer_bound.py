"""Lower bounds as integers, in units of 1/2^32."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .proof import Proven

UNIT = 2**32
Units = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Bound:
    """A lower bound proven by dual values, with the reduced costs.

    Attributes
    ----------
    units : int
        The bound times `UNIT`.
    new_columns : int64 array
        Columns of negative reduced cost that are not in the LP yet, most negative first.
    reduced_costs : int64 array, one a column of the LP
        In units.
    proven : Proven or None
        The multipliers that prove it.
    """

    units: int
    new_columns: npt.NDArray[np.int64]
    reduced_costs: Units
    proven: Proven | None = None
