"""Content instances built to show something."""

from __future__ import annotations

import numpy as np

from overlaybench.instances.content.instance import ContentInstance


def beside_a_far_broker(users: int) -> ContentInstance:
    """A publisher at broker 0, and subscribers who are all at price 1 from broker 1, at distance 100 from broker 0."""
    access = np.array([[1.0, 101.0]] + [[100.0, 1.0]] * users)
    core = np.array([[0.0, 100.0], [100.0, 0.0]])
    rates, wanted = np.zeros((users + 1, 1)), np.ones((users + 1, 1), dtype=bool)
    rates[0], wanted[0] = 1.0, False
    return ContentInstance(access, core, np.full(2, np.inf), rates, wanted)
