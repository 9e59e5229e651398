"""The papers' grids: instances and algorithms, with fewer seeds if quick, and the sizes that the papers name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .bench import Experiment, Sizes
from .grids_p1 import GRIDS_P1, SIZES_P1
from .grids_p2 import GRIDS_P2, SIZES_P2
from .grids_p3 import GRIDS_P3, SIZES_P3
from .grids_p4 import GRIDS_P4, SIZES_P4
from .grids_p5 import GRIDS_P5, SIZES_P5
from .grids_p5_system import GRIDS_P5_SYSTEM, SIZES_P5_SYSTEM

GRIDS: Mapping[str, Callable[[bool], Experiment]] = {
    **GRIDS_P1,
    **GRIDS_P2,
    **GRIDS_P3,
    **GRIDS_P4,
    **GRIDS_P5,
    **GRIDS_P5_SYSTEM,
}
SIZES: Mapping[str, Sizes] = {**SIZES_P1, **SIZES_P2, **SIZES_P3, **SIZES_P4, **SIZES_P5, **SIZES_P5_SYSTEM}
"""The sizes that a paper names for a figure or table, by the symbols of a scope."""
