"""Content instances and overlays in files: what is written is read, and what is wrong is named."""

import copy
import itertools
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.instances.content.files import CONTENT
from overlaybench.instances.content.instance import ContentInstance, metric_closure
from overlaybench.instances.content.problems import ContentOverlay, RoutingTree
from tests.content_strategies import assignments, content_instances
from tests.properties import property_test

GOOD: dict[str, Any] = {
    "format": "content/1",
    "channels": ["news", "sport"],
    "brokers": {"b2": {"capacity": None}, "b10": {"capacity": 12.5}},
    "core": {"b2": {"b10": 3}},
    "users": {
        "u1": {"access": {"b2": 1, "b10": 2.5}, "rates": {"sport": 4}, "subscriptions": ["news"]},
        "u0": {"access": {"b2": 2, "b10": 2}},
    },
}


def read(folder: Path, data: dict[str, Any]) -> ContentInstance:
    (folder / "x.json").write_text(json.dumps(data))
    return CONTENT.read(folder / "x.json", {}).instance


def test_labels_are_numbered_in_natural_order(tmp_path: Path) -> None:
    instance = read(tmp_path, GOOD)
    assert (instance.user_labels, instance.broker_labels) == (("u0", "u1"), ("b2", "b10"))
    assert instance.access.tolist() == [[2, 2], [1, 2.5]]
    assert instance.core.tolist() == [[0, 3], [3, 0]]
    assert instance.capacities.tolist() == [np.inf, 12.5]
    assert instance.rates.tolist() == [[0, 0], [0, 4]]
    assert instance.subscriptions.tolist() == [[False, False], [True, False]]


def test_prices_that_are_no_metric_are_named_or_closed(tmp_path: Path) -> None:
    data = copy.deepcopy(GOOD)
    data["brokers"]["b3"] = {"capacity": 1}
    data["core"] = {"b2": {"b10": 9, "b3": 2}, "b3": {"b10": 3}}
    for user in data["users"].values():
        user["access"]["b3"] = 1
    with pytest.raises(ob.BadInput, match="'b2' and 'b10', 9, exceeds the path through 'b3', 5"):
        read(tmp_path, data)
    data["close"] = True
    assert read(tmp_path, data).core.tolist() == [[0, 2, 5], [2, 0, 3], [5, 3, 0]]
    del data["core"]["b2"]["b10"]
    assert read(tmp_path, data).core.max() == 5
    data["core"] = {"b2": {"b3": 1}}
    with pytest.raises(ob.BadInput, match="no path between brokers 'b2' and 'b10'"):
        read(tmp_path, data)


def test_labels_survive_npz(tmp_path: Path) -> None:
    instance = read(tmp_path, GOOD)
    CONTENT.write(instance, tmp_path / "x.npz")
    again = CONTENT.read(tmp_path / "x.npz", {}).instance
    assert (again, again.user_labels, again.channel_labels) == (instance, ("u0", "u1"), ("news", "sport"))


@pytest.mark.parametrize("broken", ["text", "missing", "objects"])
def test_broken_npz_files_are_bad_input(tmp_path: Path, broken: str) -> None:
    file = tmp_path / "x.npz"
    if broken == "text":
        file.write_text("content")
    elif broken == "missing":
        np.savez(file, access=np.ones((1, 1)))
    else:
        names = ("access", "core", "capacities", "rates", "subscriptions")
        arrays: dict[str, Any] = dict.fromkeys(names, np.array(["a"]))
        np.savez(file, **arrays)
    with pytest.raises(ob.BadInput, match=r"x\.npz: "):
        CONTENT.read(file, {})


def instance_of_one(**changes: Any) -> ContentInstance:
    arrays = {
        "access": np.ones((1, 2)),
        "core": np.array([[0.0, 1.0], [1.0, 0.0]]),
        "capacities": np.full(2, np.inf),
        "rates": np.ones((1, 2)),
        "subscriptions": np.ones((1, 2)),
    }
    return ContentInstance(**{**arrays, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rates": np.array([[1.0, -1.0]])}, "rates of user 'u0' and channel 'c1' is -1: give a finite number"),
        ({"rates": np.array([[np.nan, 1.0]])}, "rates of user 'u0' and channel 'c0' is nan"),
        ({"access": np.array([[np.inf, np.inf]])}, "user 'u0' knows no broker"),
        ({"capacities": np.array([1.0, np.nan])}, "capacities of broker 'b1' is nan"),
        ({"core": np.array([[0.0, 1.0], [2.0, 0.0]])}, "1 one way and 2 the other"),
        ({"core": np.zeros((2, 3))}, "core has shape (2, 3): give (2, 2)"),
        ({"subscriptions": np.full((1, 2), 2)}, "subscriptions must be true or false"),
        ({"subscriptions": np.ones((2, 2))}, "subscriptions has shape (2, 2): give (1, 2)"),
        ({"rates": np.ones((0, 2))}, "at least one user"),
        ({"user_labels": ["a", "b"]}, "2 user labels for 1 users"),
    ],
)
def test_bad_arrays_are_bad_input(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ob.BadInput) as error:
        instance_of_one(**changes)
    assert message in str(error.value)


def test_users_who_know_only_some_brokers_have_prohibitive_prices(tmp_path: Path) -> None:
    data = copy.deepcopy(GOOD)
    data["users"]["u1"]["access"]["b2"] = None
    instance = read(tmp_path, data)
    for brokers in itertools.product(range(2), repeat=2):
        costly = ob.PROBLEMS["content-mst"].value(instance, ContentOverlay(np.array(brokers))) > 50
        assert costly == (brokers[1] == 0)
    CONTENT.write(instance, tmp_path / "again.json")
    assert CONTENT.read(tmp_path / "again.json", {}).instance == instance == instance.sample(2, seed=1)


def test_instances_are_immutable_and_labels_no_part_of_the_digest() -> None:
    instance = instance_of_one()
    for array in (instance.rates, instance.access, instance.demands, pickle.loads(pickle.dumps(instance)).rates):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1
    named = instance_of_one(user_labels=["Ada"])
    assert named.digest == instance.digest == instance_of_one(rates=np.ones((1, 2), dtype=int)).digest
    assert instance_of_one(rates=np.array([[1.0, 2.0]])).digest != instance.digest


def test_a_sample_keeps_its_users() -> None:
    rates = np.arange(20.0).reshape(10, 2)
    whole = ContentInstance(np.ones((10, 1)), np.zeros((1, 1)), np.full(1, np.inf), rates, rates > 5)
    part = whole.sample(4, seed=1)
    kept = [int(label[1:]) for label in part.user_labels or ()]
    assert kept == sorted(set(kept))
    assert part.rates.tolist() == rates[kept].tolist()
    with pytest.raises(ob.BadInput, match="a sample of 11 users from 10"):
        whole.sample(11, seed=1)


@property_test(30, st.integers(1, 5), st.integers(0, 10**6))
def test_closed_prices_are_a_metric_below_the_given_ones(count: int, seed: int) -> None:
    upper = np.triu(np.random.default_rng(seed).integers(0, 20, (count, count)), 1).astype(float)
    prices = upper + upper.T
    core = metric_closure(prices)
    assert (core <= prices).all()
    assert (core[:, :, None] <= core[:, None, :] + core[None, :, :]).all()
    assert metric_closure(core).tolist() == core.tolist()


@property_test(30, st.data())
def test_overlays_survive_files_and_packing(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    instance = data.draw(content_instances(max_brokers=4))
    last = instance.num_brokers - 1
    broker, channel = st.integers(0, last), st.none() | st.integers(0, instance.num_channels - 1)
    links = st.lists(st.tuples(broker, broker), max_size=3)
    trees = data.draw(st.lists(st.builds(RoutingTree.of, links, channel, st.lists(broker, max_size=2)), max_size=3))
    overlay = ContentOverlay(data.draw(assignments(instance)), tuple(trees))
    file = tmp_path_factory.mktemp("overlay") / "a.json"
    CONTENT.write_answer(overlay, instance, file)
    assert CONTENT.read_answer(file, instance) == overlay
    assert CONTENT.unpack(CONTENT.pack(overlay), instance) == overlay
    assert pickle.loads(pickle.dumps(overlay)) == overlay
