"""Ethereum's subscriptions: the specification's own results, and its rules written a second time."""

from hashlib import sha256

import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.instances.over_time.ethereum import attestation_subnets, custody_groups
from tests.instances.topics.test_files import mapping
from tests.properties import property_test

LARGEST = 2**256 - 1
# Node id, epoch and the first of two subnets: in the tests of Lighthouse (consensus/types/src/subnet_id.rs) and
# Lodestar, from the Python specification; the last three are the arguments of compute_subscribed_subnets_random_1 to _3
# in the specification's tests, with the results of its text at commit a08d8a6.
SUBNETS = [
    (0, 54321, 4),
    (88752428858350697756262172400162263450541348766581994718383409852729519486397, 1017090249, 61),
    (18732750322395381632951253735273868184515463718109267674920115648614659369468, 1827566880, 23),
    (27726842142488109545414954493849224833670205008410190955613662332153332462900, 846255942, 38),
    (39755236029158558527862903296867805548949739810920318269566095185775868999998, 766597383, 53),
    (31899136003441886988955119620035330314647133604576220223892254902004850516297, 1204990115, 39),
    (58579998103852084482416614330746509727562027284701078483890722833654510444626, 1616209495, 48),
    (28248042035542126088870192155378394518950310811868093527036637864276176517397, 1774367616, 39),
    (60930578857433095740782970114409273483106482059893286066493409689627770333527, 1484598751, 34),
    (103822458477361691467064888613019442068586830412598673713899771287914656699997, 3525502229, 37),
    (51781405571328938149219259614021022118347017557305093857689627172914154745642, 1965462683526725586, 47),
    (84065159290331321853352677657753050104170032838956724170714636178275273565505, 4207372490368227698, 41),
    (62524992026686681062927724650084164361416283301810167550777687366062873585350, 11521147413252061507, 48),
]
# Arguments of the specification's tests of get_custody_groups, with the results of its text at that commit.
GROUPS = [
    (0, 8, [1, 17, 19, 42, 75, 87, 102, 117]),
    (LARGEST, 4, [1, 47, 87, 102]),
    (LARGEST - 1, 4, [1, 47, 87, 102]),
    (1048576, 1, [65]),
    (0, 0, []),
    (LARGEST, 128, [*range(128)]),
    (84065159290331321853352677657753050104170032838956724170714636178275273565505, 6, [27, 29, 58, 67, 96, 117]),
]
IDS = st.integers(0, LARGEST)


def test_attestation_subnets_are_those_of_the_specification() -> None:
    for node_id, epoch, first in SUBNETS:
        assert attestation_subnets(node_id, epoch) == [first, first + 1]


def test_custody_groups_are_those_of_the_specification() -> None:
    for node_id, count, groups in GROUPS:
        assert custody_groups(node_id, count) == groups


def shuffled_one_by_one(index: int, count: int, seed: bytes) -> int:
    """The shuffle as papers and early versions of the specification have it: one index through all rounds."""
    for number in range(90):
        pivot = int.from_bytes(sha256(seed + bytes([number])).digest()[:8], "little") % count
        flip = (pivot + count - index) % count
        position = max(index, flip)
        block = sha256(seed + bytes([number]) + (position // 256).to_bytes(4, "little")).digest()
        if (block[position % 256 // 8] >> (position % 8)) % 2:
            index = flip
    return index


@property_test(30, node_id=IDS, epoch=st.integers(0, 2**63))
def test_subnets_follow_the_shuffled_prefix_and_change_every_256_epochs(node_id: int, epoch: int) -> None:
    offset = node_id % 256
    period = (epoch + offset) // 256
    first = shuffled_one_by_one(node_id >> 250, 64, sha256(period.to_bytes(8, "little")).digest())
    assert attestation_subnets(node_id, epoch) == [first, (first + 1) % 64]
    epochs = (max(0, period * 256 - offset), period * 256 - offset + 255)
    assert all(attestation_subnets(node_id, each) == [first, (first + 1) % 64] for each in epochs)


@property_test(30, node_id=IDS, count=st.integers(0, 127))
def test_more_custody_keeps_the_groups_of_less(node_id: int, count: int) -> None:
    groups = custody_groups(node_id, count)
    assert groups == sorted(set(groups))
    assert len(groups) == count
    assert {*groups} < {*custody_groups(node_id, count + 1)}


def labels(instance: ob.TopicInstance, node: int) -> list[str]:
    return [instance.topic_label(topic) for topic in instance.topics_of(node).tolist()]


def test_the_workload_subscribes_each_node_by_the_rules_and_moves_with_the_epoch() -> None:
    made = ob.WORKLOADS["ethereum"].generate(nodes=300, seed=4, sync_members=40, supernodes=2, custody=8)
    for node in range(300):
        node_id = int.from_bytes(sha256((4).to_bytes(8, "little") + node.to_bytes(8, "little")).digest(), "big")
        attesting = sorted(attestation_subnets(node_id, 400_000))
        kept = range(128) if node < 2 else custody_groups(node_id, 8)
        wanted = [f"beacon_attestation_{each}" for each in attesting]
        wanted += [f"data_column_sidecar_{each}" for each in kept]
        assert [label for label in labels(made, node) if not label.startswith("sync")] == wanted
    members = [label for node in range(300) for label in labels(made, node) if label.startswith("sync")]
    assert len(members) == 40
    assert {*members} == {f"sync_committee_{each}" for each in range(4)}
    later = ob.WORKLOADS["ethereum"].generate(
        nodes=300, seed=4, sync_members=40, supernodes=2, custody=8, epoch=400_256
    )
    changed = sum(labels(made, node)[:2] != labels(later, node)[:2] for node in range(300))
    assert changed > 250


def test_more_members_than_nodes_are_refused() -> None:
    for option in ("sync_members", "supernodes"):
        with pytest.raises(ob.BadInput, match="choose fewer"):
            ob.WORKLOADS["ethereum"].generate(nodes=10, **{option: 11})


def test_the_trace_has_the_subscriptions_of_each_epoch() -> None:
    given = {"nodes": 60, "seed": 7, "custody": 2, "supernodes": 1}
    trace = ob.WORKLOADS["ethereum-epochs"].generate(epoch=1000, epochs=300, **given)
    assert isinstance(trace, ob.TopicTrace)
    assert trace.num_steps > 50
    for epoch in (1000, 1001, 1100, 1255, 1256, 1300):
        now = trace.snapshot((epoch - 1000) * 384)
        assert now is not None
        assert mapping(now) == mapping(ob.WORKLOADS["ethereum"].generate(epoch=epoch, **given))


def test_a_node_of_the_trace_changes_once_in_256_epochs_and_all_at_multiples_of_an_epoch() -> None:
    trace = ob.WORKLOADS["ethereum-epochs"].generate(nodes=40, epochs=256, custody=0, seed=1)
    assert not (trace.times % (384 * 10**6)).any()
    changed = {(int(v), int(time)) for v, time in zip(trace.nodes, trace.times, strict=True)}
    assert len(changed) == len({v for v, _ in changed})
    assert len(changed) > 35  # a node may draw the same subnets again
    assert ob.WORKLOADS["ethereum-epochs"].generate(nodes=5, epochs=0).num_events == 0
