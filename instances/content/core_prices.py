"""Prices between brokers: the check that they are a metric, and the metric closure (P4 §I)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..contract.errors import BadInput

_TOLERANCE = 1e-9


def check_metric(prices: npt.NDArray[np.float64], labels: Sequence[str]) -> None:
    """Check that prices are symmetric, 0 on the diagonal, and satisfy the triangle inequality.

    Parameters
    ----------
    prices : float64 array, shape (|B|, |B|)
        Finite, not negative.
    labels : sequence of str
        The brokers' names, for the message.

    Raises
    ------
    BadInput
        If they do not, with a relative tolerance of 10⁻⁹ in the triangle inequality.

    Notes
    -----
    Cost O(|B|³).
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
    lowered = prices * (1 - _TOLERANCE)
    for via in range(len(prices)):
        excessive = lowered > prices[:, via, None] + prices[via]
        if excessive.any():
            a, b = np.argwhere(excessive)[0]
            raise BadInput(
                f"the price between brokers '{labels[a]}' and '{labels[b]}', {prices[a, b]:g}, exceeds the path "
                f"through '{labels[via]}', {prices[a, via] + prices[via, b]:g}: lower it, or close the prices"
            )


def metric_closure(prices: npt.NDArray[np.float64], labels: Sequence[str] | None = None) -> npt.NDArray[np.float64]:
    """The price of the cheapest path between any two brokers.

    Parameters
    ----------
    prices : float64 array, shape (|B|, |B|)
        Symmetric, not negative; infinite if there is no link.
    labels : sequence of str, optional
        The brokers' names, for the message.

    Raises
    ------
    BadInput
        If there is no path between two brokers.

    Notes
    -----
    Floyd and Warshall, O(|B|³).
    """
    closure = np.array(prices, dtype=np.float64)
    for via in range(len(closure)):
        np.minimum(closure, closure[:, via, None] + closure[via], out=closure)
    separate = np.argwhere(np.isinf(closure))
    if len(separate):
        a, b = (str(i) if labels is None else labels[i] for i in separate[0])
        raise BadInput(f"there is no path between brokers '{a}' and '{b}': add a price of one of its links")
    return closure
