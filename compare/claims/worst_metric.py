"""Hunting for prices between brokers under which a spanning tree without relays is dearest (P4 §III.A)."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ...heuristics.content.kernels.prices import Floats, Ids, spanning_tree
from ...instances.content.core_prices import closed

_DEAREST = 10
_PATIENCE = 200


def worst_metric(brokers: int, members: int, *, steps: int, seed: int = 0) -> tuple[float, Floats, int]:
    """The largest ratio found of a minimum spanning tree of some brokers to the cheapest tree that joins them.

    Local search: a price changes, the metric closure is taken, and what is no better for the spanning tree stays;
    without a gain in 200 changes it begins anew.

    Parameters
    ----------
    brokers : int
        At least `members`.
    members : int
        How many of them, the first ones, are to be joined; at least 2.
    steps : int
        How many metrics are looked at.
    seed : int

    Returns
    -------
    ratio : float
    core : float64 array, shape (brokers, brokers)
        The metric that has it, in whole numbers up to 10.
    steps : int

    Notes
    -----
    Cost O(2^(brokers − members) brokers²) a step.
    """
    rng, wanted = np.random.default_rng(seed), np.arange(members, dtype=np.int32)
    best, worst = 0.0, np.zeros((brokers, brokers))
    idle, current, prices = _PATIENCE, 0.0, worst
    for _ in range(steps):
        if idle >= _PATIENCE:
            upper = np.triu(rng.integers(1, _DEAREST + 1, (brokers, brokers)).astype(np.float64), 1)
            tried, current, idle = upper + upper.T, 0.0, 0
        else:
            tried = prices.copy()
            a, b = rng.choice(brokers, 2, replace=False)
            tried[a, b] = tried[b, a] = rng.integers(1, _DEAREST + 1)
        core = closed(tried)
        ratio = spanning_price(core, wanted) / steiner_price(core, members)
        idle = 0 if ratio > current else idle + 1
        if ratio >= current:
            prices, current = core, ratio
        if ratio > best:
            best, worst = ratio, core
    return best, worst, steps


def spanning_price(core: Floats, members: Ids) -> float:
    """The price of a minimum spanning tree of just these brokers."""
    return float(spanning_tree(core, members).links.sum())


def steiner_price(core: Floats, members: int) -> float:
    """The price of the cheapest tree that joins the first `members` brokers: of all sets of relays the best one."""
    wanted, others = range(members), range(members, len(core))
    return min(
        spanning_price(core, np.array([*wanted, *relays], dtype=np.int32))
        for size in range(len(others) + 1)
        for relays in combinations(others, size)
    )
