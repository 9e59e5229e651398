"""Generating functions over the content space, and their histograms by exact integration (P4 §II.B, §IV.A, §VI.A)."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
_VALUES_AT_ONCE = 1_000_000


def equal_cells(intervals: int) -> Floats:
    """The ends of equally long intervals of the content space [0, 1]. Shape (intervals + 1,)."""
    return np.arange(intervals + 1) / intervals


def exact_cells(low: Floats, high: Floats) -> Floats:
    """The content space cut wherever a subscription begins or ends: on these cells a histogram loses nothing.

    Every subscription is made of whole cells, so that no message of a cell is wanted by some users of those who want
    others of it (P4 §III.A: the content spaces of its uniform subscriber groups do not overlap).

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
    """What each publisher generates in each cell of the content space, in whole units.

    The generating function is a quadratic on [0, 1] with its negative part cut off. A cell's rate is its integral: the
    mean on the cell, as P4 has it, times the length. Units are cut at the cell's ends from the whole, so that the
    rates of a coarser histogram are sums of those of a finer one.

    Parameters
    ----------
    coefficients : float64 array, shape (n, 3)
        a, b, c of a·x² + b·x + c, one row a publisher.
    ends : float64 array, shape (k + 1,)
        Of the cells, from 0 to 1 (:func:`equal_cells`, :func:`exact_cells`).
    scale : float
        Units that an integral of 1 makes.

    Returns
    -------
    float64 array, shape (n, k)
        Whole numbers.

    Notes
    -----
    Zhao, Wu (P4), §IV.A and §VI.A. Only sums, products, quotients and square roots are taken, which every machine
    rounds alike. O(n k).
    """
    found = np.empty((len(coefficients), len(ends) - 1))
    step = max(1, _VALUES_AT_ONCE // len(ends))
    for start in range(0, len(found), step):
        rows = slice(start, start + step)
        below = np.maximum.accumulate(cut_quadratic_integral(coefficients[rows], ends), axis=1)
        found[rows] = np.diff(np.rint(below * scale), axis=1)
    return found


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
    Between two neighbours among 0, the roots and 1 the function keeps its sign, and so does the integral from the
    first of them on.
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
    """Both roots, without cancellation; NaN or infinite where there is none. Shape (n, 2)."""
    a, b, c = coefficients.T
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        half = -(b + np.copysign(np.sqrt(b * b - 4 * a * c), b)) / 2
        return np.stack([half / a, c / half], axis=1)


def _primitive(coefficients: Floats, x: Floats) -> Floats:
    a, b, c = (coefficient[:, None] for coefficient in coefficients.T)
    integral: Floats = ((a / 3 * x + b / 2) * x + c) * x
    return integral


def touched(low: Floats, high: Floats, intervals: int) -> Flags:
    """Which of equally long intervals of [0, 1] a subscription touches: more than it wants, never less.

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
    Zhao, Wu (P4), §IV.A. An interval counts if it has a point in common with the subscription, its own upper end
    apart; the last one has its upper end too.
    """
    first = np.minimum(np.floor(low * intervals), intervals - 1)
    last = np.minimum(np.floor(high * intervals), intervals - 1)
    places = np.arange(intervals)
    return (places >= first[:, None]) & (places <= last[:, None])


def covered(low: Floats, high: Floats, ends: Floats) -> Flags:
    """Which cells a subscription wants all of. On :func:`exact_cells` it wants nothing of the others.

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
