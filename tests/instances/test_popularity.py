"""The popularity laws, as integer weights."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from overlaybench.instances.contract.workload import Weights, exponential, uniform, zipf

COUNTS = [1, 2, 5, 9, 10, 11, 19, 20, 100, 200, 1000]
LAWS: list[Callable[[int], Weights]] = [
    uniform,
    *(partial(zipf, alpha=alpha) for alpha in (0.0, 0.5, 1.0, 2.0, 20.0)),
    *(partial(exponential, top_decile=mass) for mass in (0.0, 0.55, 0.999)),
]


@pytest.mark.parametrize("topics", COUNTS)
def test_weights_fall_are_positive_and_have_one_sum(topics: int) -> None:
    for law in LAWS:
        weights = law(topics)
        assert weights.shape == (topics,)
        assert weights.dtype == np.uint64
        assert weights.min() >= 1
        assert (weights[:-1] >= weights[1:]).all()
        assert abs(int(weights.sum()) - 2**40) <= 2 * topics
    assert len(set(uniform(topics).tolist())) == 1


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 2.0])
def test_zipf_weights_fall_as_a_power_of_the_rank(alpha: float) -> None:
    weights = zipf(200, alpha).astype(float)
    assert weights[0] / weights == pytest.approx(np.arange(1, 201) ** alpha, rel=1e-6)


@pytest.mark.parametrize("topics", [10, 11, 19, 20, 100, 200, 1000, 10_000])
@pytest.mark.parametrize("mass", [0.3, 0.55, 0.9, 0.999])
def test_the_first_tenth_of_exponential_weights_has_the_mass_asked_for(topics: int, mass: float) -> None:
    weights = exponential(topics, mass).astype(float)
    assert weights[: -(-topics // 10)].sum() / weights.sum() == pytest.approx(mass, abs=1e-6)
    if mass == 0.55:
        factors = weights[1:] / weights[:-1]
        assert factors == pytest.approx(np.full(topics - 1, factors[0]), rel=1e-5 if topics <= 1000 else 1)


@pytest.mark.parametrize("topics", [1, 5, 10, 11, 19, 20, 1000])
def test_a_mass_of_at_most_or_just_above_the_share_of_the_first_tenth_is_almost_uniform(topics: int) -> None:
    for mass in (0, 0.001, 0.05):
        assert (exponential(topics, mass) == uniform(topics)).all()
    share = -(-topics // 10) / topics
    for above in (0, 1e-16, 1e-15, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6, 1e-3):
        weights = exponential(topics, share + above).astype(float)
        assert topics == 1 or weights[: -(-topics // 10)].sum() / weights.sum() == pytest.approx(
            share + above, abs=1e-7
        )
