"""The workloads of topics and their popularity laws, of a million nodes too, in little memory."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import combinations, permutations, product
from typing import TypeVar

import numpy as np
import pytest
from scipy.stats import chisquare

import overlaybench as ob
from overlaybench.instances.contract.workload import Weights, exponential, uniform, zipf
from overlaybench.instances.topics.kernels import draw_subscriptions

Outcome = TypeVar("Outcome")
NODES = 40_000
UNLIKELY = 1e-3  # of every test below, at its fixed seed


def weights_of(*weights: int) -> Weights:
    return np.array(weights, dtype=np.uint64)


def successive_sampling(weights: Weights, size: int) -> dict[tuple[int, ...], Fraction]:
    """The exact probability of each set when topics are drawn one by one, by weight, among those not drawn."""
    total = sum(weights.tolist())
    found: dict[tuple[int, ...], Fraction] = {}
    for chosen in combinations(range(len(weights)), size):
        found[chosen] = Fraction(0)
        for order in permutations(chosen):
            probability, left = Fraction(1), total
            for topic in order:
                probability *= Fraction(int(weights[topic]), left)
                left -= int(weights[topic])
            found[chosen] += probability
    return found


def drawn_sets(weights: Weights, least: int, most: int, seed: int, nodes: int = NODES) -> list[tuple[int, ...]]:
    sizes, topics = draw_subscriptions(weights, least, most, seed, 0, nodes)
    return [tuple(row.tolist()) for row in np.split(topics, np.cumsum(sizes)[:-1])]


def assert_follows(observed: Counter[Outcome], expected: dict[Outcome, Fraction]) -> None:
    """By Pearson's test; outcomes to be seen less than five times are taken together."""
    assert set(observed) <= set(expected)
    count = sum(observed.values())
    common = [key for key, p in expected.items() if p * count >= 5]
    seen = [observed[key] for key in common]
    awaited = [float(expected[key] * count) for key in common]
    seen.append(count - sum(seen))
    awaited.append(float(sum(p * count for key, p in expected.items() if key not in common)))
    if awaited[-1] < 1:
        assert seen.pop() <= 3
        awaited.pop()
    share = np.array(awaited) / sum(awaited)
    assert len(seen) == 1 or chisquare(seen, share * sum(seen)).pvalue > UNLIKELY


@pytest.mark.parametrize(
    ("weights", "size"),
    [
        (weights_of(4, 3, 2, 1), 3),
        (zipf(5, 2.0), 3),
        (exponential(11, 0.55), 1),
        (weights_of(2**40, 5, 3, 2), 3),  # every second draw is made among the free topics
        (weights_of(10, 6, 4, 1000), 3),  # some are, after 64 repeats
    ],
    ids=str,
)
def test_sets_of_topics_have_the_probabilities_of_successive_sampling(weights: Weights, size: int) -> None:
    expected = successive_sampling(weights, size)
    assert sum(expected.values()) == 1
    assert_follows(Counter(drawn_sets(weights, size, size, seed=1)), expected)


@pytest.mark.parametrize("weights", [weights_of(3, 2, 1), weights_of(2**40, 2, 1)], ids=str)
def test_with_varying_sizes_each_size_is_as_likely_and_draws_by_the_same_law(weights: Weights) -> None:
    sets = drawn_sets(weights, 1, 3, seed=2)
    assert_follows(Counter(len(some) for some in sets), dict.fromkeys((1, 2, 3), Fraction(1, 3)))
    for size in (1, 2):
        assert_follows(Counter(some for some in sets if len(some) == size), successive_sampling(weights, size))
    assert {some for some in sets if len(some) == 3} == {(0, 1, 2)}


@pytest.mark.parametrize(("least", "most"), [(10, 90), (3, 8), (4, 4), (1, 2)])
def test_peaked_sizes_are_sums_of_two_uniform_numbers(least: int, most: int) -> None:
    sizes, _ = draw_subscriptions(uniform(100), least, most, 5, 0, NODES, peaked=True)
    half = (most - least) // 2
    sums = Counter(least + a + b for a in range(half + 1) for b in range(most - least - half + 1))
    assert_follows(Counter(sizes.tolist()), {size: Fraction(ways, sums.total()) for size, ways in sums.items()})


@pytest.mark.parametrize("step", [(0, 1), (0, 2), (0, 1000), (1, 0), (2**32, 0), (1, 1), (1, -1)])
def test_neighbouring_nodes_and_seeds_draw_independently(step: tuple[int, int]) -> None:
    """The topics of (seed, node) and (seed + Δ, node + Δ') fill a table as independent draws do."""
    seed_step, node_step = step
    weights = weights_of(3, 2, 1)
    _, here = draw_subscriptions(weights, 1, 1, 3, 1, 1 + NODES)
    _, there = draw_subscriptions(weights, 1, 1, 3 + seed_step, 1 + node_step, 1 + node_step + NODES)
    expected = {(a, b): Fraction((3 - a) * (3 - b), 36) for a in range(3) for b in range(3)}
    assert_follows(Counter(zip(here.tolist(), there.tolist(), strict=True)), expected)


FIXED = ["uniform", "zipf", "exponential"]
VARYING = ["uniform-varying", "zipf-varying", "exponential-varying"]
FITTED = ["zipf-fitted", "exponential-fitted"]


@pytest.mark.parametrize("name", [*FIXED, *VARYING, *FITTED])
def test_every_topic_is_taken_where_as_many_are_asked_for_as_there_are(name: str) -> None:
    size = {"subscriptions": 12} if name in FIXED else {"least": 12, "most": 12}
    steep = {"alpha": 20} if name.startswith("zipf") else {"top_decile": 0.999} if name.startswith("exp") else {}
    instance = ob.WORKLOADS[name].generate(nodes=50, topics=12, **size, **steep)
    assert instance.node_topics.tolist() == list(range(12)) * 50


def test_topics_that_nobody_drew_are_dropped_and_the_others_keep_their_names() -> None:
    instance = ob.WORKLOADS["uniform"].generate(nodes=4, topics=100, subscriptions=3, seed=2)
    _, drawn = draw_subscriptions(uniform(100), 3, 3, 2, 0, 4)
    assert instance.topic_labels == tuple(f"t{t}" for t in sorted(set(drawn.tolist())))
    assert [instance.topic_label(t) for t in instance.node_topics.tolist()] == [f"t{t}" for t in drawn.tolist()]
    assert instance.node_label(3) == "n3"


GOLDEN = {
    "uniform": "0bb5c6cc6e935c53e6eefebbe1d5100a7a48fa0b7976660c829bc4ffd5586058",
    "zipf": "4c22a2be21da9688dfab0828b1cd186bf320f419912b5468323cd196596b46d4",
    "exponential": "08c5bc6b6881a590c81cbd0c5bc217c96b44da091780a386f566bbb6cfafda98",
    "uniform-varying": "0263bf0f119933fb96165ea2be6769abc733eb53dbaed0635d068a15e8cec171",
    "zipf-varying": "55154b5d6ad49df34cabd51c432b383f079c358571155cb932ed6f2e3a2d142f",
    "exponential-varying": "e9415e2ab5c6d9bd1346fe9d24211d6caf672664c41e89ad0e7ae184f68d1302",
    "zipf-fitted": "262d40b04d6e8f2114e0c3f170ff51306f31edc25199320183bc1b9e0189f2bf",
    "exponential-fitted": "1451d109558329e73eb6458a498bd9e80ee6ede0911742f9d16cb09891978487",
}


@pytest.mark.parametrize("name", [*FIXED, *VARYING, *FITTED])
def test_an_instance_is_the_same_on_every_machine(name: str) -> None:
    assert ob.WORKLOADS[name].generate(seed=42, nodes=500).digest == GOLDEN[name]


@pytest.mark.parametrize(
    ("name", "parameters", "fragment"),
    [
        ("uniform", {"nodes": 0}, "option 'nodes' must lie from 1 to 2147483647, not 0"),
        ("uniform", {"subscriptions": 101}, "101 subscriptions a node from 100 topics: choose fewer"),
        ("uniform", {"nodes": 2**31 - 1}, "choose fewer"),
        ("uniform", {"alpha": 1}, "unknown option 'alpha' of workload 'uniform'"),
        ("zipf", {"alpha": -0.1}, "option 'alpha' must lie from 0 to 20, not -0.1"),
        ("exponential", {"top_decile": 1}, "option 'top_decile' must lie from 0 to 0.999, not 1.0"),
        ("uniform-varying", {"least": 91}, "at least 91 and at most 90 subscriptions a node: swap them"),
        ("uniform", {"seed": -1}, "seed -1 must be an integer from 0 to 2^63 - 1"),
    ],
)
def test_parameters_out_of_range_are_refused(name: str, parameters: dict[str, object], fragment: str) -> None:
    with pytest.raises(ob.BadInput, match=re.escape(fragment)):
        ob.WORKLOADS[name].generate(**parameters)  # type: ignore[arg-type]


LAWS: list[Callable[[int], Weights]] = [
    uniform,
    *(partial(zipf, alpha=alpha) for alpha in (0.0, 0.5, 1.0, 2.0, 20.0)),
    *(partial(exponential, top_decile=mass) for mass in (0.0, 0.55, 0.999)),
]


def test_weights_fall_are_positive_and_have_one_sum() -> None:
    for law, topics in product(LAWS, [1, 2, 5, 9, 10, 11, 19, 20, 100, 200, 1000]):
        weights = law(topics)
        assert weights.shape == (topics,)
        assert weights.dtype == np.uint64
        assert weights.min() >= 1
        assert (weights[:-1] >= weights[1:]).all()
        assert abs(int(weights.sum()) - 2**40) <= 2 * topics
        assert law is not uniform or len(set(weights.tolist())) == 1


def test_zipf_weights_fall_as_a_power_of_the_rank() -> None:
    for alpha in (0.0, 0.5, 1.0, 2.0):
        weights = zipf(200, alpha).astype(float)
        assert weights[0] / weights == pytest.approx(np.arange(1, 201) ** alpha, rel=1e-6)


def share_of_the_first_tenth(topics: int, mass: float) -> float:
    weights = exponential(topics, mass).astype(float)
    return float(weights[: -(-topics // 10)].sum() / weights.sum())


def test_the_first_tenth_of_exponential_weights_has_the_mass_asked_for() -> None:
    for topics, mass in product([10, 11, 19, 20, 100, 200, 1000, 10_000], [0.3, 0.55, 0.9, 0.999]):
        assert share_of_the_first_tenth(topics, mass) == pytest.approx(mass, abs=1e-6)
    for topics in (10, 200, 1000):
        weights = exponential(topics, 0.55).astype(float)
        factors = weights[1:] / weights[:-1]
        assert factors == pytest.approx(np.full(topics - 1, factors[0]), rel=1e-5)


def test_a_mass_of_at_most_or_just_above_the_share_of_the_first_tenth_is_almost_uniform() -> None:
    for topics in (1, 5, 10, 11, 19, 20, 1000):
        assert all((exponential(topics, mass) == uniform(topics)).all() for mass in (0, 0.001, 0.05))
        share = -(-topics // 10) / topics
        for above in (0, 1e-16, 1e-15, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6, 1e-3) if topics > 1 else ():
            assert share_of_the_first_tenth(topics, share + above) == pytest.approx(share + above, abs=1e-7)


# A child's ru_maxrss begins with what its parent held, so the high-water mark is read of the new address space itself.
PEAK = """
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
"""

GENERATE = """
from overlaybench.instances.contract.catalogue import WORKLOADS

instance = WORKLOADS["{name}"].generate({sizes})
assert len(instance.digest) == 64
print(sum(getattr(instance, name).nbytes for name in {arrays}), peak())
"""
CONTENT = ("access", "core", "capacities", "rates", "subscriptions")
TOPICS = ("node_offsets", "node_topics", "topic_offsets", "topic_nodes")
MILLION = "nodes=1_000_000, topics=1_000, subscriptions=20, seed=1"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sizes", "arrays", "kept", "most"),
    [
        *((name, MILLION, TOPICS, 168_008_016, 2e9) for name in FIXED),
        ("content", "users=10_000, brokers=100, intervals=1_000", CONTENT, 98_080_800, 500e6),
    ],
)
def test_large_instances_are_generated_in_little_memory(
    name: str, sizes: str, arrays: tuple[str, ...], kept: int, most: float
) -> None:
    script = PEAK + GENERATE.format(name=name, sizes=sizes, arrays=arrays)
    child = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    found, peak = map(int, child.stdout.split())
    assert found == kept
    assert peak < most
