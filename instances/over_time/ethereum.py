"""Subscriptions of Ethereum's beacon nodes to subnets, as the consensus specification derives them from node ids.

A node attests on two of 64 subnets, which its id and the epoch determine, and keeps the data columns of some of 128
custody groups, which its id alone determines. A topic is a subnet under the name that gossip gives it. Over the epochs
this is a trace: churn that a protocol prescribes.

References
----------
Ethereum consensus specifications (CC0), https://github.com/ethereum/consensus-specs: specs/phase0/p2p-interface.md
(compute_subscribed_subnets), specs/phase0/beacon-chain.md (the swap-or-not shuffle of Hoang, Morris, Rogaway 2012),
specs/fulu/das-core.md (get_custody_groups), specs/altair/validator.md (sync committees); read at commit a08d8a6.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

import numpy as np

from ..contract.errors import BadInput
from ..contract.option import Option
from ..contract.workload import Workload
from ..topics.instance import TopicInstance
from .trace import Event, TopicTrace

_ID_BITS, _IDS = 256, 2**256
_PREFIX_BITS, _ATTESTATION_SUBNETS, _SUBNETS_PER_NODE, _EPOCHS_PER_SUBSCRIPTION = 6, 64, 2, 256
_SECONDS_PER_EPOCH = 384  # 32 slots of 12 seconds
_ROUNDS = 90
_CUSTODY_GROUPS, _CUSTODY_REQUIREMENT = 128, 4
_SYNC_COMMITTEE, _SYNC_SUBNETS, _EPOCHS_PER_COMMITTEE = 512, 4, 256
_NAMES = (
    *(f"beacon_attestation_{subnet}" for subnet in range(_ATTESTATION_SUBNETS)),
    *(f"data_column_sidecar_{group}" for group in range(_CUSTODY_GROUPS)),
    *(f"sync_committee_{subnet}" for subnet in range(_SYNC_SUBNETS)),
)


def attestation_subnets(node_id: int, epoch: int) -> list[int]:
    """The attestation subnets of a node in an epoch: consecutive ones from the shuffled prefix of its id on."""
    period = (epoch + node_id % _EPOCHS_PER_SUBSCRIPTION) // _EPOCHS_PER_SUBSCRIPTION
    first = _shuffled(period)[node_id >> (_ID_BITS - _PREFIX_BITS)]
    return [(first + index) % _ATTESTATION_SUBNETS for index in range(_SUBNETS_PER_NODE)]


@lru_cache(maxsize=16)
def _shuffled(period: int) -> list[int]:
    """The shuffled index of every prefix in a period of subscriptions (all are below 256, one block of the source)."""
    seed, count = _hash(_bytes(period, 8)), 1 << _PREFIX_BITS
    indices = list(range(count))
    for number in range(_ROUNDS):
        of_round = seed + bytes([number])
        pivot = _number(_hash(of_round)) % count
        source = _hash(of_round + bytes(4))
        for place, index in enumerate(indices):
            flip = (pivot - index) % count
            position = max(index, flip)
            if source[position // 8] >> position % 8 & 1:
                indices[place] = flip
    return indices


def custody_groups(node_id: int, count: int) -> list[int]:
    """The first `count` distinct custody groups of a node, sorted: hashes of its id and of the ids that follow."""
    if count == _CUSTODY_GROUPS:
        return list(range(count))
    groups = set[int]()
    while len(groups) < count:
        groups.add(_number(_hash(_bytes(node_id, 32))) % _CUSTODY_GROUPS)
        node_id = (node_id + 1) % _IDS
    return sorted(groups)


def _hash(data: bytes) -> bytes:
    return sha256(data).digest()


def _bytes(number: int, length: int) -> bytes:
    return number.to_bytes(length, "little")


def _number(digest: bytes) -> int:
    return int.from_bytes(digest[:8], "little")


def beacon_nodes(
    *, seed: int, nodes: int, epoch: int, custody: int, supernodes: int, sync_members: int
) -> TopicInstance:
    """Beacon nodes with random ids: subscriptions follow from the ids as the specification says.

    A node has `custody` groups; the first `supernodes` keep all 128. The specification draws sync committees from the
    state of the chain; here nodes and positions are drawn, anew every 256 epochs. Cost O(nodes · custody) hashes.
    """
    if max(supernodes, sync_members) > nodes:
        raise BadInput(f"{max(supernodes, sync_members)} supernodes or sync members of {nodes} nodes: choose fewer")
    draw = np.random.default_rng([seed, epoch // _EPOCHS_PER_COMMITTEE])
    positions = draw.choice(_SYNC_COMMITTEE, sync_members, replace=False) // (_SYNC_COMMITTEE // _SYNC_SUBNETS)
    member = dict(zip(draw.choice(nodes, sync_members, replace=False).tolist(), positions.tolist(), strict=True))
    subscribed, offsets = list[int](), [0]
    for node in range(nodes):
        node_id = _random_id(seed, node)
        subscribed += sorted(attestation_subnets(node_id, epoch))
        groups = custody_groups(node_id, _CUSTODY_GROUPS if node < supernodes else custody)
        subscribed += [_ATTESTATION_SUBNETS + group for group in groups]
        subscribed += [_ATTESTATION_SUBNETS + _CUSTODY_GROUPS + member[node]] if node in member else []
        offsets.append(len(subscribed))
    csr = np.array(offsets, np.int64), np.array(subscribed, np.int32)
    return TopicInstance.from_sorted(*csr, len(_NAMES), topic_labels=_NAMES)


def _random_id(seed: int, node: int) -> int:
    return int.from_bytes(_hash(_bytes(seed, 8) + _bytes(node, 8)), "big")


def ethereum_epochs(*, seed: int, epoch: int, epochs: int, **given: int) -> TopicTrace:
    """The beacon nodes of the workload ``ethereum`` over some epochs, of 384 seconds each.

    In every epoch one in 256 nodes, which its id determines, exchanges its two attestation subnets for the next two of
    its own; what it has in both periods it keeps. The nodes stay and keep their columns. The start, at 0 seconds, is
    `epoch`; `epochs` follow. Cost O(nodes · (epochs + custody)).
    """
    start = beacon_nodes(seed=seed, epoch=epoch, sync_members=0, **given)
    named = {
        start.node_label(v): list(map(start.topic_label, start.topics_of(v).tolist())) for v in range(start.num_nodes)
    }
    ids, events = [_random_id(seed, v) for v in range(start.num_nodes)], list[Event]()
    for later in range(epoch + 1, epoch + epochs + 1):
        for v, node_id in enumerate(ids):
            if (later + node_id) % _EPOCHS_PER_SUBSCRIPTION:
                continue
            before, now = ({*attestation_subnets(node_id, each)} for each in (later - 1, later))
            for what, subnets in (("subscribe", now - before), ("unsubscribe", before - now)):
                if subnets:
                    topics = [_NAMES[subnet] for subnet in sorted(subnets)]
                    events.append(Event((later - epoch) * _SECONDS_PER_EPOCH, what, start.node_label(v), topics))
    return TopicTrace.from_events(named, events)


_EPOCH = Option("epoch", 400_000, "a node changes subnets every 256 epochs", least=0, most=2**40)
_CUSTODY = (
    Option("custody", _CUSTODY_REQUIREMENT, "custody groups a node", least=0, most=_CUSTODY_GROUPS),
    Option("supernodes", 0, "nodes that keep all 128 custody groups", least=0, most=2**24),
)

ETHEREUM = Workload(
    "ethereum",
    "beacon nodes and the subnets that their ids determine in an epoch",
    "Ethereum consensus specifications, phase0 and fulu",
    (
        Option("nodes", 1000, "|V|", least=1, most=2**24),
        _EPOCH,
        *_CUSTODY,
        Option("sync_members", 0, "nodes in the sync committee", least=0, most=_SYNC_COMMITTEE),
    ),
    beacon_nodes,
)

ETHEREUM_EPOCHS = Workload(
    "ethereum-epochs",
    "beacon nodes that change two of 64 subnets every 256 epochs",
    ETHEREUM.source,
    (
        Option("nodes", 100, "|V|", least=1, most=2**24),
        _EPOCH,
        Option("epochs", 256, "how many follow, of 384 seconds each", least=0, most=1_000_000),
        *_CUSTODY,
    ),
    ethereum_epochs,
    "trace",
)
