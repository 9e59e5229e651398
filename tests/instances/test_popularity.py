"""The popularity laws, as integer weights."""

from __future__ import annotations

import numpy as np
import pytest

from overlaybench.instances.contract.workload import exponential, uniform, zipf

COUNTS = [1, 2, 5, 9, 10, 11, 19, 20, 100, 200, 1000]


@pytest.mark.parametrize("topics", COUNTS)
@pytest.mark.parametrize(
    ("law", "shape"),
    [
        ("uniform", {}),
        ("zipf", {"alpha": 0.5}),
        ("zipf", {"alpha": 2.0}),
        ("zipf", {"alpha": 20.0}),
        ("exponential", {"top_decile": 0.55}),
    ],
)
def test_weights_are_positive_falling_and_sum_to_about_two_to_the_forty(
    topics: int, law: str, shape: dict[str, float]
) -> None:
    weights = {"uniform": uniform, "zipf": zipf, "exponential": exponential}[law](topics, **shape)
    assert weights.shape == (topics,)
    assert weights.dtype == np.uint64
    assert weights.min() >= 1
    assert (weights[:-1] >= weights[1:]).all()
    assert abs(int(weights.sum()) - 2**40) <= 2 * topics


@pytest.mark.parametrize("topics", COUNTS)
def test_uniform_weights_are_equal(topics: int) -> None:
    assert len(set(uniform(topics).tolist())) == 1


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 2.0])
def test_zipf_weights_fall_as_a_power_of_the_rank(alpha: float) -> None:
    weights = zipf(200, alpha).astype(float)
    ranks = np.arange(1, 201)
    assert weights[0] / weights == pytest.approx(ranks**alpha, rel=1e-6)


def test_the_zipf_law_of_the_papers_gives_the_first_of_100_topics_ten_times_the_last() -> None:
    weights = zipf(100, 0.5).astype(float)
    assert weights[0] / weights[99] == pytest.approx(10, rel=1e-6)


@pytest.mark.parametrize("topics", [10, 11, 19, 20, 100, 200, 1000, 10_000])
@pytest.mark.parametrize("mass", [0.3, 0.55, 0.9, 0.999])
def test_the_first_tenth_of_exponential_weights_has_the_mass_asked_for(topics: int, mass: float) -> None:
    weights = exponential(topics, mass).astype(float)
    assert weights[: -(-topics // 10)].sum() / weights.sum() == pytest.approx(mass, abs=1e-6)


@pytest.mark.parametrize("topics", [10, 19, 100, 1000])
def test_exponential_weights_fall_by_one_factor(topics: int) -> None:
    weights = exponential(topics, 0.55).astype(float)
    factors = weights[1:] / weights[:-1]
    assert factors == pytest.approx(np.full(topics - 1, factors[0]), rel=1e-5)


@pytest.mark.parametrize("topics", [1, 5, 10, 11, 19, 20, 1000])
@pytest.mark.parametrize("mass", [0, 0.001, 0.05])
def test_a_mass_below_the_share_of_the_first_tenth_is_uniform(topics: int, mass: float) -> None:
    assert (exponential(topics, mass) == uniform(topics)).all()


@pytest.mark.parametrize("topics", [5, 10, 11, 19, 20, 100, 1000])
@pytest.mark.parametrize("above", [0, 1e-16, 1e-15, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6, 1e-3])
def test_a_mass_just_above_that_share_is_almost_uniform(topics: int, above: float) -> None:
    share = -(-topics // 10) / topics
    weights = exponential(topics, share + above).astype(float)
    assert weights[: -(-topics // 10)].sum() / weights.sum() == pytest.approx(share + above, abs=1e-7)


@pytest.mark.parametrize("mass", [0, 0.001, 0.55, 0.999])
def test_a_single_topic_has_all_the_mass(mass: float) -> None:
    assert exponential(1, mass).tolist() == [2**40]
