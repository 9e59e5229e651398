"""The Lagrangian bound on content overlays, against all assignments and against the bound without capacities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from overlaybench.instances.content.instance import ContentInstance
from overlaybench.instances.contract.catalogue import WORKLOADS
from overlaybench.models.content.exact import access_bound, capacity_bound
from tests.content_brute_force import assignments
from tests.content_strategies import content_instances


def least_access(instance: ContentInstance) -> float:
    """The least access cost within the capacities, over all assignments."""
    users = np.arange(instance.num_users)
    found = (float(instance.demands @ instance.access[users, list(brokers)]) for brokers in assignments(instance))
    return min(found, default=np.inf)


@given(content_instances(tight=True))
def test_no_assignment_within_the_capacities_costs_less(instance: ContentInstance) -> None:
    assert capacity_bound(instance, steps=20) <= least_access(instance)


@given(content_instances())
def test_without_capacities_it_is_the_access_bound(instance: ContentInstance) -> None:
    assert capacity_bound(instance, steps=5) == pytest.approx(access_bound(instance))


def test_scarce_capacity_raises_it() -> None:
    crowded = WORKLOADS["content"].generate(seed=1, users=500, brokers=10, slack=1.1)
    assert capacity_bound(crowded) > 1.02 * access_bound(crowded)
