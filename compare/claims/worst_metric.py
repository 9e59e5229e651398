"""Search for broker prices under which a spanning tree without relays is most expensive (Zhao and Wu, §III.A)."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ...heuristics.content.routing import spanning_tree
from ...instances.content.instance import Floats, metric_closure
from ...instances.contract.arrays import Ids

_LARGEST_PRICE = 10
_PATIENCE = 200


def worst_metric(brokers: int, members: int, *, steps: int, seed: int = 0) -> tuple[float, Floats, int]:
    """The largest ratio found between a minimum spanning tree of some brokers and their cheapest Steiner tree.

    A local search changes a price, takes the metric closure, and accepts the change if the ratio does not fall. It
    restarts after 200 changes without improvement.

    Parameters
    ----------
    brokers : int
        At least `members`.
    members : int
        The number of brokers to connect, at least 2: the first ones.
    steps : int
        The number of metrics evaluated.
    seed : int

    Returns
    -------
    ratio : float
    core : float64 array, shape (brokers, brokers)
        The metric with this ratio, in integers up to 10.
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
            upper = np.triu(rng.integers(1, _LARGEST_PRICE + 1, (brokers, brokers)).astype(np.float64), 1)
            tried, current, idle = upper + upper.T, 0.0, 0
        else:
            tried = prices.copy()
            a, b = rng.choice(brokers, 2, replace=False)
            tried[a, b] = tried[b, a] = rng.integers(1, _LARGEST_PRICE + 1)
        core = metric_closure(tried)
        ratio = spanning_price(core, wanted) / steiner_price(core, members)
        idle = 0 if ratio > current else idle + 1
        if ratio >= current:
            prices, current = core, ratio
        if ratio > best:
            best, worst = ratio, core
    return best, worst, steps


def spanning_price(core: Floats, members: Ids) -> float:
    """The price of a minimum spanning tree of these brokers."""
    return float(spanning_tree(core, members).links.sum())


def steiner_price(core: Floats, members: int) -> float:
    """The price of the cheapest tree that connects the first `members` brokers, over all sets of relays."""
    wanted, others = range(members), range(members, len(core))
    return min(
        spanning_price(core, np.array([*wanted, *relays], dtype=np.int32))
        for size in range(len(others) + 1)
        for relays in combinations(others, size)
    )
