"""Bootstrap intervals, seeded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

RESAMPLES = 2000
_BCA_MOST = 1000


def interval(
    sample: npt.NDArray[np.float64], statistic: Callable[..., Any], *, confidence: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """The bootstrap interval of a statistic of a sample; equal samples give equal intervals.

    Parameters
    ----------
    sample : float array, shape (n,)
    statistic : callable
        ``np.mean`` or ``np.median``. The interval is bias-corrected and accelerated for the mean of up to 1000
        numbers, otherwise of percentiles.

    Returns
    -------
    (float, float)
        NaN for fewer than two numbers.

    References
    ----------
    Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 14.
    """
    if len(sample) < 2:
        return np.nan, np.nan
    if np.all(sample == sample[0]):
        return float(sample[0]), float(sample[0])
    from scipy.stats import bootstrap

    corrected = statistic is np.mean and len(sample) <= _BCA_MOST
    found = bootstrap(
        (sample,),
        statistic,
        n_resamples=RESAMPLES,
        batch=max(1, 2**22 // len(sample)),
        confidence_level=confidence,
        method="BCa" if corrected else "percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(found.low), float(found.high)
