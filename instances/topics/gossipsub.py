"""Overlays as scripts of libp2p's interoperability tests, which simulate GossipSub on them.

References
----------
libp2p/test-plans, gossipsub-interop: script_instruction.py has the instructions, experiment.py the order of a script
and its random mesh of 20 connections a node; read at commit f494257.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..contract.overlay import Overlay
from .instance import TopicInstance

_SETTLED, _BETWEEN, _FLUSH = 120, 12, 30  # seconds before the first message, between two, and after the last one
_FIRST_HEARTBEAT, _APART = 100_000_000, 100_000  # nanoseconds, so that not all nodes have theirs at once


def script(
    instance: TopicInstance, overlay: Overlay, *, messages: int = 0, message_bytes: int = 1024, seed: int = 0
) -> dict[str, object]:
    """The parameters of an experiment: every node starts GossipSub, connects, subscribes, and some publish.

    The messages are published by random subscribers of random topics, 12 seconds apart from second 120 on. Each has 8
    bytes, which its identifier takes, to 10 MiB, which the runners of the tests allow.
    """
    return {"script": [*_instructions(instance, overlay), *_published(instance, messages, message_bytes, seed)]}


def _instructions(instance: TopicInstance, overlay: Overlay) -> Iterator[dict[str, object]]:
    for node in range(instance.num_nodes):
        delay = {"HeartbeatInitialDelay": _FIRST_HEARTBEAT + _APART * (node + 1)}
        yield _by(node, {"type": "initGossipSub", "gossipSubParams": delay})
    targets: dict[int, list[int]] = {}
    for u, v in overlay.edges.tolist():
        targets.setdefault(u, []).append(v)
    for node, others in targets.items():
        yield _by(node, {"type": "connect", "connectTo": others})
    for node in range(instance.num_nodes):
        for topic in instance.topics_of(node).tolist():
            subscribe = {"type": "subscribeToTopic", "topicID": instance.topic_label(topic), "partial": False}
            yield _by(node, subscribe)


def _by(node: int, instruction: dict[str, object]) -> dict[str, object]:
    return {"type": "ifNodeIDEquals", "nodeID": node, "instruction": instruction}


def _published(instance: TopicInstance, messages: int, size: int, seed: int) -> Iterator[dict[str, object]]:
    draw = np.random.default_rng([seed, 7])
    for number in range(messages):
        yield {"type": "waitUntil", "elapsedSeconds": _SETTLED + _BETWEEN * number}
        topic = int(draw.integers(instance.num_topics))
        sent = {"type": "publish", "messageID": number, "topicID": instance.topic_label(topic)}
        yield _by(int(draw.choice(instance.subscribers(topic))), sent | {"messageSizeBytes": size})
    if messages:
        yield {"type": "waitUntil", "elapsedSeconds": _SETTLED + _BETWEEN * messages + _FLUSH}


def random_mesh(num_nodes: int, connections: int, seed: int) -> Overlay:
    """A random graph in which every node in turn connects to random others until it has `connections` (or all).

    Those tests connect nodes so; a node that others connected to has more.
    """
    draw = np.random.default_rng([seed, 11])
    most = min(connections, num_nodes - 1)
    known = [{node} for node in range(num_nodes)]
    edges = []
    for node in range(num_nodes):
        while len(known[node]) <= most:
            other = int(draw.integers(num_nodes))
            if other not in known[node]:
                known[node].add(other)
                known[other].add(node)
                edges.append((node, other))
    return Overlay.from_edges(num_nodes, edges)
