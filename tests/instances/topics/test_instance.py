"""TopicInstance: what it promises of its arrays, labels, order and digest."""

import hashlib
import pickle
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.instances.contract.files import natural_order, sort_key
from tests.instances.topics.test_files import mapping
from tests.properties import property_test
from tests.topic_strategies import topic_instances

SMALL = ob.TopicInstance.from_subscriptions({"n10": ["b"], "n2": ["b", "a"], "n1": ["c", "a"]})


def pairs_of(instance: ob.TopicInstance) -> set[tuple[str, str]]:
    return {(node, topic) for node, topics in mapping(instance).items() for topic in topics}


def digest_by_hand(rows: list[list[int]], num_topics: int) -> str:
    """Written from the format alone: counts and offsets as 8 bytes, topics as 4 bytes, little-endian."""
    sha = hashlib.sha256(b"overlaybench topics/1\n" + struct.pack("<qq", len(rows), num_topics))
    place = 0
    sha.update(struct.pack("<q", 0))
    for row in rows:
        place += len(row)
        sha.update(struct.pack("<q", place))
    for row in rows:
        sha.update(struct.pack(f"<{len(row)}i", *row))
    return sha.hexdigest()


@property_test(100, topic_instances())
def test_the_two_csr_structures_hold_the_same_subscriptions(instance: ob.TopicInstance) -> None:
    by_node = {(v, int(t)) for v in range(instance.num_nodes) for t in instance.topics_of(v)}
    by_topic = {(int(v), t) for t in range(instance.num_topics) for v in instance.subscribers(t)}
    assert by_node == by_topic
    assert len(by_node) == instance.num_subscriptions == len(instance.topic_nodes)


@property_test(100, topic_instances())
def test_the_digest_of_any_instance_can_be_computed_by_hand_and_pickling_keeps_all(instance: ob.TopicInstance) -> None:
    rows = [instance.topics_of(v).tolist() for v in range(instance.num_nodes)]
    back = pickle.loads(pickle.dumps(instance))
    assert back.digest == instance.digest == digest_by_hand(rows, instance.num_topics)
    assert pairs_of(back) == pairs_of(instance)
    assert all(np.array_equal(one, two) for one, two in zip(arrays(back), arrays(instance), strict=True))


@property_test(100, topic_instances(), st.text(min_size=1, max_size=3))
def test_labels_take_no_part_in_digest_equality_or_hash(instance: ob.TopicInstance, prefix: str) -> None:
    names = [f"{prefix}{v}" for v in range(instance.num_nodes)]
    renamed = ob.TopicInstance(instance.node_offsets, instance.node_topics, names)
    assert renamed.digest == instance.digest
    assert renamed == instance
    assert hash(renamed) == hash(instance)


@property_test(100, st.data())
def test_the_order_of_rows_does_not_matter(data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(st.text("ab01²", min_size=1), st.text("xy10", min_size=1)), min_size=1))
    shuffled = data.draw(st.permutations(rows))
    one, repeats = ob.TopicInstance.from_pairs([node for node, _ in rows], [topic for _, topic in rows])
    two, repeats_again = ob.TopicInstance.from_pairs([node for node, _ in shuffled], [topic for _, topic in shuffled])
    assert pairs_of(one) == set(rows)
    assert (one.digest, one.node_labels, one.topic_labels) == (two.digest, two.node_labels, two.topic_labels)
    assert repeats == repeats_again == len(rows) - len(set(rows))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["n10", "n2", "n1"], ["n1", "n2", "n10"]),
        (["1", "01", "001", "2", "02"], ["001", "01", "1", "02", "2"]),
        (["n1b", "n1a10", "n1a9", "n1"], ["n1", "n1a9", "n1a10", "n1b"]),
        (["a", "1", "B", "é", "b"], ["1", "B", "a", "b", "é"]),
        (["n²", "n10", "n1"], ["n1", "n10", "n²"]),  # a superscript is no digit to compare by
        (["٣", "٢", "10"], ["10", "٢", "٣"]),  # nor are Arabic digits
        (["9" * 5000, "1" + "0" * 5000, "8" * 5000], ["8" * 5000, "9" * 5000, "1" + "0" * 5000]),
        (["-1", "-2", "1.5", "1.10"], ["1.5", "1.10", "-1", "-2"]),
    ],
)
def test_labels_sort_in_natural_order(labels: list[str], expected: list[str]) -> None:
    ordered, places = natural_order(labels)
    assert ordered == expected
    assert [ordered[place] for place in places] == labels


NUMBERED = st.builds(
    lambda prefix, numbers: [f"{prefix}{number}" for number in numbers],
    st.sampled_from(["", "n", "ch-", "7-", "0", "a1b", "é"]),
    st.lists(
        st.one_of(st.integers(0, 200).map(str), st.sampled_from(["007", "00", "", "1x", "9" * 30, "٣"])), max_size=9
    ),
)


@property_test(200, NUMBERED)
def test_labels_that_differ_in_a_number_sort_by_the_key_of_all_labels(labels: list[str]) -> None:
    ordered, places = natural_order(labels)
    assert ordered == sorted(set(labels), key=sort_key)
    assert [ordered[place] for place in places] == labels


def built(
    offsets: Any, topics: Any, nodes: list[str] | None = None, names: list[str] | None = None
) -> ob.TopicInstance:
    return ob.TopicInstance(np.array(offsets), np.array(topics), nodes, names)


@pytest.mark.parametrize(
    ("build", "given", "fragment"),
    [
        (ob.TopicInstance.from_pairs, (["a", None], ["x", "y"]), "row 1 has no label"),
        (ob.TopicInstance.from_pairs, (["a", 7], ["x", "y"]), "row 1 has the label 7: put it in quotes"),
        (ob.TopicInstance.from_pairs, (["a", "b"], ["x", ""]), "empty label"),
        (ob.TopicInstance.from_pairs, (["a", "\ud800"], ["x", "y"]), "is not Unicode text"),
        (ob.TopicInstance.from_subscriptions, ({},), "at least one node"),
        (ob.TopicInstance.from_subscriptions, ({"a": []},), "at least one node with one topic"),
        (ob.TopicInstance.from_subscriptions, ({"a": "xy"},), "give a list of topics"),
        (built, ([0, 0], []), "at least one node"),
        (built, ([0, 1], [0, 0]), "end at the number"),
        (built, ([0, 3, 1, 4], [0, 1, 2, 0]), "must rise from 0"),
        (built, ([0, 2], [1, 0]), "distinct, sorted"),
        (built, ([0, 1], [-1]), "not negative"),
        (built, ([0, 1], [2**31 - 1]), "topic 0 has no subscriber"),  # and no array of 2^31 counters on the way
        (built, ([0, 3], [0, 1, 9]), "topic 2 has no subscriber"),
        (built, ([0, 1], [0.5]), "do not fit int32"),
        (built, ([[0, 1]], [0]), "one dimension"),
        (built, ([0, 1, 2], [0, 0], ["a"]), "1 node labels for 2 nodes"),
        (built, ([0, 1, 2], [0, 0], None, ["x", "y"]), "2 topic labels for 1 topics"),
        (built, ([0, 1, 2], [0, 0], ["a", "a"]), "two nodes have the label 'a'"),
    ],
)
def test_what_is_no_instance_is_refused_in_one_line(build: Any, given: tuple[Any, ...], fragment: str) -> None:
    with pytest.raises(ob.BadInput, match=fragment):
        build(*given)


def arrays(instance: ob.TopicInstance) -> list[np.ndarray]:
    return [instance.node_offsets, instance.node_topics, instance.topic_offsets, instance.topic_nodes]


@pytest.mark.parametrize(
    "instance",
    [
        SMALL,
        pickle.loads(pickle.dumps(SMALL)),
        pickle.loads(pickle.dumps(SMALL, protocol=2)),
        SMALL.sample(2, seed=1),
        SMALL.induced(np.array([2, 0])),
    ],
    ids=["built", "pickled", "pickled by protocol 2", "sampled", "induced"],
)
def test_an_instance_cannot_be_changed(instance: ob.TopicInstance) -> None:
    for array in [*arrays(instance), instance.topics_of(0), instance.subscribers(0)]:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        instance.node_topics = np.array([0])  # type: ignore[misc]
    assert isinstance(instance.node_labels, tuple)


def test_an_instance_keeps_copies_and_leaves_the_given_arrays_alone() -> None:
    offsets, topics, labels = np.array([0, 1, 2]), np.array([0, 1], dtype=np.int32), ["a", "b"]
    instance = ob.TopicInstance(offsets, topics, labels)
    digest = instance.digest
    topics[:] = [1, 0]
    labels[0] = "z"
    assert instance.topics_of(0).tolist() == [0]
    assert instance.node_label(0) == "a"
    assert ob.TopicInstance(instance.node_offsets, instance.node_topics).digest == digest


@pytest.mark.parametrize("labels", [None, ["p", "q", "r", "s"]])
def test_topics_that_are_dropped_take_their_labels_with_them(labels: list[str] | None) -> None:
    instance = ob.TopicInstance.from_sorted(np.array([0, 1, 3]), np.array([2, 0, 2], np.int32), 4, topic_labels=labels)
    assert [instance.topic_label(t) for t in range(2)] == (["t0", "t2"] if labels is None else ["p", "r"])
    assert [instance.topics_of(v).tolist() for v in range(2)] == [[1], [0, 1]]


@property_test(100, topic_instances(), st.data())
def test_an_induced_instance_keeps_nodes_in_the_order_given(instance: ob.TopicInstance, data: st.DataObject) -> None:
    nodes = data.draw(st.lists(st.integers(0, instance.num_nodes - 1), min_size=1, unique=True))
    induced = instance.induced(np.array(nodes))
    names = [instance.node_label(v) for v in nodes]
    assert [induced.node_label(v) for v in range(induced.num_nodes)] == names
    assert pairs_of(induced) == {pair for pair in pairs_of(instance) if pair[0] in names}


@property_test(100, topic_instances(), st.integers(0, 2**63 - 1), st.data())
def test_a_sample_is_induced_and_fixed_by_its_seed(instance: ob.TopicInstance, seed: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, instance.num_nodes))
    sample = instance.sample(size, seed)
    assert sample.num_nodes == size
    names = [sample.node_label(v) for v in range(size)]
    assert names == [label for v in range(instance.num_nodes) if (label := instance.node_label(v)) in names]
    assert pairs_of(sample) == {pair for pair in pairs_of(instance) if pair[0] in names}
    assert sample.digest == instance.sample(size, seed).digest
