"""The intervals of a mean, of a share, and of any statistic by bootstrap; all at 95%."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

LEVEL = 0.05
RESAMPLES = 2000
_BCA_MOST = 1000


@dataclass(frozen=True)
class Interval:
    """A mean or a share of `n` samples with its confidence interval, which is NaN for fewer than two samples."""

    mean: float
    low: float
    high: float
    n: int

    def inside(self, low: float = -math.inf, high: float = math.inf) -> bool:
        """Whether the whole interval lies between the limits; False without an interval."""
        return low <= self.low and self.high <= high

    def outside(self, low: float = -math.inf, high: float = math.inf) -> bool:
        """Whether no part of the interval lies between the limits; False without an interval."""
        return self.high < low or self.low > high

    def __str__(self) -> str:
        shown = f"{self.mean:.4g}"
        return shown if math.isnan(self.low) else f"{shown} [{self.low:.4g}, {self.high:.4g}]"


def mean_interval(sample: Iterable[float], *, together: int = 1, least: float = -math.inf) -> Interval:
    """A mean with Student's interval; `together` intervals are each widened so that all hold together (Bonferroni).

    Where no sample can be below `least`, the interval is cut there, which excludes no mean that is possible.

    The sample has one number an instance: average over ties' seeds and repeats first, since instances are sampled.
    """
    numbers = np.asarray(list(sample), float)
    mean, n = float(numbers.mean()), len(numbers)
    if n < 2:
        return Interval(mean, math.nan, math.nan, n)
    from scipy import stats

    half = float(stats.t.ppf(1 - LEVEL / (2 * together), n - 1)) * float(numbers.std(ddof=1)) / math.sqrt(n)
    return Interval(mean, max(min(least, mean), mean - half), mean + half, n)


def share_interval(hits: int, trials: int) -> Interval:
    """A share of trials with Wilson's interval."""
    from scipy import stats

    found = stats.binomtest(hits, trials).proportion_ci(1 - LEVEL, "wilson")
    return Interval(hits / trials, float(found.low), float(found.high), trials)


def bootstrap_interval(sample: npt.NDArray[np.float64], statistic: Callable[..., Any]) -> tuple[float, float]:
    """The bootstrap interval of ``np.mean`` or ``np.median`` of a sample; NaN for fewer than two numbers.

    Equal samples give equal intervals. The interval is bias-corrected and accelerated for the mean of up to 1000
    numbers, otherwise of percentiles (Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 14).
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
        confidence_level=1 - LEVEL,
        method="BCa" if corrected else "percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return float(found.low), float(found.high)
