"""Generating functions over the content space and their exact histograms (P4 §II.B, §IV.A, §VI.A)."""

from __future__ import annotations

import itertools

import numpy as np

from .instance import Flags, Floats

_VALUES_AT_ONCE = 1_000_000


def equal_cells(intervals: int) -> Floats:
    """The ends of intervals of equal length of the content space [0, 1]. Shape (intervals + 1,)."""
    return np.arange(intervals + 1) / intervals


def exact_cells(low: Floats, high: Floats) -> Floats:
    """The ends of cells with a boundary wherever a subscription begins or ends.

    Every subscription is a union of cells, so histograms on them are exact: all messages of a cell have the same
    subscribers (P4 §III.A: the content spaces of uniform subscriber groups do not overlap).

    Parameters
    ----------
    low, high : float64 arrays, shape (n,)
        The ends of each subscription, in [0, 1].

    Returns
    -------
    float64 array, shape (k + 1,)
        The ends of the k ≤ 2n + 1 cells.
    """
    return np.unique(np.concatenate([low, high, [0.0, 1.0]]))


def cut_quadratic_histogram(coefficients: Floats, ends: Floats, scale: float) -> Floats:
    """The integer number of units that each publisher generates in each cell of the content space.

    The generating function is the positive part of a quadratic on [0, 1]. A cell's rate is the integral: the mean on
    the cell, as in P4, times its length. The integrals from 0 to the cells' ends are rounded, so that the rates of a
    coarser histogram are sums of those of a finer one.

    Parameters
    ----------
    coefficients : float64 array, shape (n, 3)
        a, b, c of a·x² + b·x + c, one row for each publisher.
    ends : float64 array, shape (k + 1,)
        Of the cells, from 0 to 1 (:func:`equal_cells`, :func:`exact_cells`).
    scale : float
        Units per integral of 1.

    Returns
    -------
    float64 array, shape (n, k)
        Integers.

    Notes
    -----
    Zhao, Wu (P4), §IV.A and §VI.A. Only sums, products, quotients and square roots are used, which all machines round
    in the same way. O(n k).
    """
    rates = np.empty((len(coefficients), len(ends) - 1))
    step = max(1, _VALUES_AT_ONCE // len(ends))
    for start in range(0, len(rates), step):
        rows = slice(start, start + step)
        below = np.maximum.accumulate(cut_quadratic_integral(coefficients[rows], ends), axis=1)
        rates[rows] = np.diff(np.rint(below * scale), axis=1)
    return rates


def cut_quadratic_integral(coefficients: Floats, ends: Floats) -> Floats:
    """The integrals of max(0, a·x² + b·x + c) from 0 to each end.

    Parameters
    ----------
    coefficients : float64 array, shape (n, 3)
    ends : float64 array, shape (k,)
        From 0 to 1.

    Returns
    -------
    float64 array, shape (n, k)

    Notes
    -----
    Between consecutive ones of 0, the roots and 1 the quadratic has one sign, and so has its integral.
    """
    roots = np.sort(np.clip(np.nan_to_num(_roots(coefficients), nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0), axis=1)
    breaks = [np.zeros(len(roots)), roots[:, 0], roots[:, 1], np.ones(len(roots))]
    total = np.zeros((len(coefficients), len(ends)))
    for start, end in itertools.pairwise(breaks):
        reached = np.clip(ends, start[:, None], end[:, None])
        piece = _primitive(coefficients, reached) - _primitive(coefficients, start[:, None])
        total += np.maximum(piece, 0.0)
    return total


def _roots(coefficients: Floats) -> Floats:
    """Both roots, without cancellation; NaN or infinite if there is none. Shape (n, 2)."""
    a, b, c = coefficients.T
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        half = -(b + np.copysign(np.sqrt(b * b - 4 * a * c), b)) / 2
        return np.stack([half / a, c / half], axis=1)


def _primitive(coefficients: Floats, x: Floats) -> Floats:
    a, b, c = (coefficient[:, None] for coefficient in coefficients.T)
    integral: Floats = ((a / 3 * x + b / 2) * x + c) * x
    return integral


def intersected_cells(low: Floats, high: Floats, intervals: int) -> Flags:
    """The intervals of equal length of [0, 1] that each subscription intersects: false positives, no false negatives.

    Parameters
    ----------
    low, high : float64 arrays, shape (n,)
        The ends of each subscription, low ≤ high.
    intervals : int

    Returns
    -------
    bool array, shape (n, intervals)

    Notes
    -----
    Zhao, Wu (P4), §IV.A. Intervals are half-open at the upper end, except the last one.
    """
    first = np.minimum(np.floor(low * intervals), intervals - 1)
    last = np.minimum(np.floor(high * intervals), intervals - 1)
    numbers = np.arange(intervals)
    return (numbers >= first[:, None]) & (numbers <= last[:, None])


def contained_cells(low: Floats, high: Floats, ends: Floats) -> Flags:
    """The cells within each subscription; on :func:`exact_cells` it does not intersect any other.

    Parameters
    ----------
    low, high : float64 arrays, shape (n,)
        The ends of each subscription, low ≤ high.
    ends : float64 array, shape (k + 1,)

    Returns
    -------
    bool array, shape (n, k)
    """
    return (ends[:-1] >= low[:, None]) & (ends[1:] <= high[:, None])
