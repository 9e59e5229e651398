"""A lower bound on the cost of every content-based overlay within the capacities, by Lagrangian relaxation."""

from __future__ import annotations

import numpy as np

from ...instances.content.instance import ContentInstance

_FIRST_STEP, _DECAY = 0.3, 0.75
_ROUNDING = 1e-9


def capacity_bound(instance: ContentInstance, *, steps: int = 100) -> float:
    """The access cost that no assignment within the capacities goes below; core cost counts as 0.

    A broker's capacity has a price λ_b ≥ 0 per unit of load. For any such prices
    Σ_u d_u·min_b(c_ub + λ_b) − Σ_b λ_b·K_b is a lower bound; at λ = 0 it is that of :func:`.access_bound`. Subgradient
    steps raise the prices of overloaded brokers.

    Parameters
    ----------
    instance : ContentInstance
        Brokers of infinite or no capacity keep the price 0.
    steps : int

    Returns
    -------
    float
        The largest bound found, less a relative 10⁻⁹ for rounding.

    Notes
    -----
    Cost O(|U| |B|) a step. Held, Wolfe, Crowder (1974) for the method.
    """
    demands, limits = instance.demands, instance.load_limits()
    limited = np.isfinite(limits) & (limits > 0)
    capacities = np.where(limited, limits, 1.0)
    prices = np.zeros(instance.num_brokers)
    first = _FIRST_STEP * float(instance.access.mean())
    best = 0.0
    for step in range(steps):
        reduced = instance.access + prices
        chosen = reduced.argmin(axis=1)
        least = reduced[np.arange(len(chosen)), chosen]
        best = max(best, float(demands @ least - prices[limited] @ limits[limited]))
        loads = np.bincount(chosen, weights=demands, minlength=len(prices))
        excess = np.where(limited, loads / capacities - 1.0, 0.0)
        prices = np.maximum(0.0, prices + first / (1 + step) ** _DECAY * excess)
    return best * (1 - _ROUNDING)
