"""Published numbers as curves in the axes of a paper's figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_AVERAGE, _LARGEST, _SECONDS = "average_degree", "max_degree", "seconds"


@dataclass(frozen=True)
class PublishedCurve:
    """What a paper states of a curve: a level, or a multiple of the mean of another method plus a difference.

    Attributes
    ----------
    label : str
        As the legend has it.
    column : str
        The panel's column.
    base : str
        The method whose mean in our runs is multiplied; "" for none.
    times, plus : float
        The curve is `times` × the mean of the base + `plus`.
    """

    label: str
    column: str
    base: str = ""
    times: float = 1.0
    plus: float = 0.0


def _diameter(most: float, second: float, others: float) -> tuple[PublishedCurve, ...]:
    """P2 §6.5: at most this factor between 2D-ODA and GM, and those of the CD-ODA family over 2D-ODA."""
    return (
        PublishedCurve(f"2D-ODA ≤ {most:g} × GM", _AVERAGE, "gm", most),
        PublishedCurve(f"CD-ODA-II = {second:g} × 2D-ODA", _AVERAGE, "2d-oda", second),
        PublishedCurve(f"CD-ODA, CD-ODA-I = {others:g} × 2D-ODA", _AVERAGE, "2d-oda", others),
    )


def _divided(most: float, share: float) -> tuple[PublishedCurve, ...]:
    """P3 §VI: DCBR-M's loss in maximum degree and its share of GM-M's time."""
    return (
        PublishedCurve(f"D_DCBR ≤ D_GMM + {most:g}", _LARGEST, "gm-m", plus=most),
        PublishedCurve(f"T_DCBR = {share:.3g} × T_GMM", _SECONDS, "gm-m", share),
    )


PUBLISHED: Mapping[str, tuple[PublishedCurve, ...]] = {
    "P1.F3": (PublishedCurve("in the order of 10⁻³", "share", plus=1e-3),),
    "P1.F4a": (PublishedCurve("RingPT = 3 × GM", _AVERAGE, "gm", 3.0),),
    "P2.F8": _diameter(1.09, 2.04, 2.06),
    "P2.F9": _diameter(1.07, 1.96, 2.0),
    "P2.F10": _diameter(1.1, 1.94, 2.23),
    "P3.F4": (PublishedCurve("D_DCBR ≤ D_GMM + 6.5", _LARGEST, "gm-m", plus=6.5),),
    "P3.F6": _divided(2.0, 0.04),
    "P3.F7": (
        PublishedCurve("T_DCBR = 0.0479 × T_GMM", _SECONDS, "gm-m", 0.0479),
        PublishedCurve("T_DCB = 0.757 × T_GMM", _SECONDS, "gm-m", 0.757),
    ),
    "P3.F8": _divided(3.51, 0.038),
    "P3.F10": (PublishedCurve("RingPT = 30 × DCBR-M", _LARGEST, "dcbr-m", 30.0),),
    "P5.F11": tuple(
        PublishedCurve(f"{name} {rate}", "messages", plus=rate)
        for name, rate in (("S0", 3400), ("S1", 2850), ("S2, SH", 2200))
    ),
}
"""The curves that the text of a paper gives, by figure; those without a number in the text have none."""
