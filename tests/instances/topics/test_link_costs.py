"""Costs of links: their arithmetic, digests, files and errors."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.topics.files import read_topics, write_topics
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.instances.topics.link_costs import LinkCosts
from tests.models.topics.small_instances import priced, small_instance
from tests.topic_brute_force import cost_between

TRIANGLE = TopicInstance.from_subscriptions({"a": ["t"], "b": ["t"], "c": ["t", "s"]})


def test_distances_are_rounded_to_the_nearest_integer_and_at_least_one() -> None:
    costs = LinkCosts.plane([(0, 0), (3, 4), (0, 0), (1, 1), (0, 2)])
    assert costs.between([0, 0, 0, 0, 1], [1, 2, 3, 4, 4]).tolist() == [5, 1, 1, 2, 4]


@pytest.mark.parametrize("seed", range(30))
def test_costs_are_those_of_their_definition(seed: int) -> None:
    instance = priced(small_instance(seed), seed)
    pairs = [(u, v) for v in range(instance.num_nodes) for u in range(v)]
    u, v = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    assert instance.edge_costs(u, v).tolist() == [cost_between(instance, *pair) for pair in pairs]


def test_the_value_is_the_total_cost_and_without_costs_the_number_of_edges() -> None:
    overlay = Overlay.from_edges(3, [(0, 1), (1, 2)])
    costs = LinkCosts.given([[0, 7, 1], [7, 0, 5], [1, 5, 0]])
    assert PROBLEMS["weighted-tco"].value(TRIANGLE.with_costs(costs), overlay) == 12
    assert PROBLEMS["weighted-tco"].value(TRIANGLE, overlay) == 2


def test_costs_change_the_digest_and_their_absence_does_not() -> None:
    priced_one = TRIANGLE.with_costs(LinkCosts.plane([(0, 0), (1, 1), (5, 5)]))
    assert priced_one.digest != TRIANGLE.digest
    assert priced_one.with_costs(None).digest == TRIANGLE.digest
    assert pickle.loads(pickle.dumps(priced_one)) == priced_one


def test_sites_of_another_numbering_are_the_same_costs() -> None:
    one = LinkCosts.between_sites([0, 1, 1], [[3, 9], [9, 4]])
    other = LinkCosts.between_sites([2, 0, 0], [[4, 1, 9], [1, 1, 1], [9, 1, 8]])
    assert one.contents == other.contents


@pytest.mark.parametrize("ending", ["json", "parquet"])
@pytest.mark.parametrize("seed", range(6))
def test_costs_are_read_as_they_were_written(seed: int, ending: str, tmp_path: Path) -> None:
    instance = priced(small_instance(seed), seed)
    path = tmp_path / f"wanted.{ending}"
    write_topics(instance, path)
    read = read_topics(path).instance
    assert read == instance
    assert read.costs is not None


def test_a_table_of_text_has_no_place_for_costs(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"wanted\.csv: .* write \.json"):
        write_topics(priced(TRIANGLE, 0), tmp_path / "wanted.csv")
    assert not list(tmp_path.iterdir())


def test_a_part_keeps_the_costs_of_its_nodes() -> None:
    for seed in range(6):
        instance = priced(WORKLOADS["uniform"].generate(nodes=8, topics=4, subscriptions=2, seed=seed), seed)
        part = instance.induced(np.array([5, 2, 7]))
        assert part.edge_costs([0, 0, 1], [1, 2, 2]).tolist() == instance.edge_costs([5, 5, 2], [2, 7, 7]).tolist()


@pytest.mark.parametrize(
    "make",
    [
        lambda: LinkCosts.given([[0, 2], [3, 0]]),
        lambda: LinkCosts.given([[0, 2.5], [2.5, 0]]),
        lambda: LinkCosts.given([[0, 2, 3], [2, 0, 3]]),
        lambda: LinkCosts.given([[0, 2_000_000], [2_000_000, 0]]),
        lambda: LinkCosts.between_sites([0, 2], [[1, 1], [1, 1]]),
        lambda: LinkCosts.plane([(0.5, 1)]),
        lambda: LinkCosts(),
        lambda: TRIANGLE.with_costs(LinkCosts.plane([(0, 0)])),
    ],
)
def test_costs_that_do_not_fit_are_bad_input(make: Any) -> None:
    with pytest.raises(BadInput):
        make()


def test_priced_workloads_add_costs_to_the_subscriptions_of_their_popularity() -> None:
    for name in ("plane", "transit-stub"):
        for popularity in ("uniform", "zipf"):
            sizes = {"nodes": 30, "topics": 9, "subscriptions": 3}
            instance = WORKLOADS[name].generate(seed=4, popularity=popularity, **sizes)
            assert instance.with_costs(None) == WORKLOADS[popularity].generate(seed=4, **sizes)
            assert instance == WORKLOADS[name].generate(seed=4, popularity=popularity, **sizes)
            assert instance != WORKLOADS[name].generate(seed=5, popularity=popularity, **sizes)


def test_transit_stub_costs_are_paths_that_rest_on_a_metric() -> None:
    instance = WORKLOADS["transit-stub"].generate(seed=1, nodes=60, topics=9, subscriptions=3, transits=4, stubs=3)
    n = instance.num_nodes
    cost = instance.edge_costs(*np.divmod(np.arange(n * n), n)).reshape(n, n)
    assert (cost[:, None] <= cost[:, :, None] + cost[None]).all()
    assert cost[~np.eye(n, dtype=bool)].min() == 2
