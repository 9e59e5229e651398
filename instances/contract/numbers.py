"""Numbers as texts: in tables and reports, in messages, and in files."""

from __future__ import annotations

import math

NONE = "–"


def short(value: object) -> str:
    """A value in a table: numbers to four significant digits, "–" for None and NaN, ∞ for no limit."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NONE
    if isinstance(value, float) and math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() or abs(value) >= 10_000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def plain(value: float, separator: str = "") -> str:
    """A number to six significant digits; a large one whole rather than as a power of ten."""
    return format(value, f"{separator}.0f" if abs(value) >= 1e6 else f"{separator}.6g")


def number(value: float, pattern: str = "") -> str:
    """A number in a report, by a pattern or as :func:`plain` writes it; a dash for NaN and ±∞."""
    if not math.isfinite(value):
        return NONE
    return format(value, pattern) if pattern else plain(value, ",")


def ratio(value: float) -> str:
    """A ratio with three decimals, or more where it would look equal to 1; a dash for NaN and ±∞."""
    shown = number(value, ",.3f")
    return f"{value:.5f}" if shown == "1.000" and abs(value - 1) > 5e-6 else shown


def percentage(value: float) -> str:
    """A share in per cent to three digits; a dash for NaN and ±∞."""
    return number(100 * value, ".3g") + "%" if math.isfinite(value) else NONE


def seconds(value: float) -> str:
    """A measured time in ms, s, min or h; a dash for NaN and ±∞."""
    if not math.isfinite(value):
        return NONE
    if value < 1:
        return f"{1000 * value:,.{2 if value < 0.001 else 1 if value < 0.01 else 0}f} ms"
    if value < 120:
        return f"{value:.{2 if value < 10 else 1}f} s"
    return f"{value / 60:.1f} min" if value < 7200 else f"{value / 3600:,.1f} h"


def duration(time: float) -> str:
    """A time to go, of so many seconds, in its two largest units: ``13 h 22 min``, ``4 min 10 s``, ``7 s``."""
    minutes, rest = divmod(round(time), 60)
    hours, minutes = divmod(minutes, 60)
    parts = {"h": hours, "min": minutes, "s": 0 if hours else rest}
    return " ".join(f"{count} {unit}" for unit, count in parts.items() if count) or "0 s"


def exact(value: object, digits: int = 15) -> str:
    """A value as in files and in ``--where``: a number to `digits` significant digits."""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def distinct(*numbers: float) -> list[str]:
    """Numbers for a message: to six significant digits, or to as many as make different numbers differ."""
    for digits in range(6, 18):
        whole = [abs(each) < 1e15 and each == int(each) for each in numbers]
        texts = [f"{n:.0f}" if is_whole else f"{n:.{digits}g}" for n, is_whole in zip(numbers, whole, strict=True)]
        if len({*texts}) == len({*numbers}):
            break
    return texts
