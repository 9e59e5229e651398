"""Prices between brokers: whether they are a metric, and the metric under prices that are none (P4 §I)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..errors import BadInput

_ROUNDING = 1e-9


def check_metric(prices: npt.NDArray[np.float64], labels: Sequence[str]) -> None:
    """Symmetric, 0 on the diagonal, and no direct link dearer than a way through a third broker, or bad input.

    Parameters
    ----------
    prices : float64 array, shape (|B|, |B|)
        Not negative, finite.
    labels : sequence of str
        The brokers' names, for the message.

    Notes
    -----
    Cost O(|B|³); differences of a rounding (10⁻⁹ of a price) pass.
    """
    own = np.flatnonzero(np.diagonal(prices))
    if len(own):
        raise BadInput(f"the price of broker '{labels[own[0]]}' to itself is {prices[own[0], own[0]]:g}: give 0")
    skew = np.argwhere(prices != prices.T)
    if len(skew):
        a, b = skew[0]
        raise BadInput(
            f"the price between brokers '{labels[a]}' and '{labels[b]}' is {prices[a, b]:g} one way and "
            f"{prices[b, a]:g} the other: make them equal"
        )
    shrunk = prices * (1 - _ROUNDING)
    for via in range(len(prices)):
        dear = shrunk > prices[:, via, None] + prices[via]
        if dear.any():
            a, b = np.argwhere(dear)[0]
            raise BadInput(
                f"the price between brokers '{labels[a]}' and '{labels[b]}', {prices[a, b]:g}, exceeds the way through "
                f"'{labels[via]}', {prices[a, via] + prices[via, b]:g}: lower it, or close the prices"
            )


def closed(prices: npt.NDArray[np.float64], labels: Sequence[str] | None = None) -> npt.NDArray[np.float64]:
    """The metric closure: the price of the cheapest way between any two brokers.

    Parameters
    ----------
    prices : float64 array, shape (|B|, |B|)
        Symmetric, not negative; infinite where there is no link.
    labels : sequence of str, optional
        The brokers' names, for the message.

    Raises
    ------
    BadInput
        If two brokers have no way between them.

    Notes
    -----
    Floyd and Warshall, O(|B|³).
    """
    found = np.array(prices, dtype=np.float64)
    for via in range(len(found)):
        np.minimum(found, found[:, via, None] + found[via], out=found)
    apart = np.argwhere(np.isinf(found))
    if len(apart):
        a, b = (str(i) if labels is None else labels[i] for i in apart[0])
        raise BadInput(f"there is no way between brokers '{a}' and '{b}': give a price on one")
    return found
