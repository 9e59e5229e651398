"""The content instances that P4 constructs or speaks of: Steiner trees in disguise, and metrics where relays help."""

from __future__ import annotations

import numpy as np

from ..errors import BadInput
from ..option import Option
from ..steiner.instance import SteinerInstance
from ..steiner.workloads import STEINER_WORKLOADS
from ..workload import Workload
from .core_prices import closed
from .instance import ContentInstance, Floats

_SPARSE = STEINER_WORKLOADS[0]


def steiner_overlay(instance: SteinerInstance, *, brokers_at: str = "all-nodes") -> ContentInstance:
    """P4, Theorem 1: a content instance that asks for a Steiner tree. One user publishes, all others want it.

    Every terminal is a user, the first of them the publisher of one unit on one channel, and a unit of traffic costs
    the length of the cheapest way between two brokers and, by the letter, to a user alike.

    Parameters
    ----------
    instance : SteinerInstance
        Connected.
    brokers_at : {"all-nodes", "steiner-nodes"}
        ``steiner-nodes``: a broker at every node that is no terminal, as the proof has it. No tree of the overlay can
        then branch at a terminal or join two directly. ``all-nodes``: a broker at the terminals too, and a user pays
        for a way as often as there are terminals; then the least cost for ``content-steiner`` is a Steiner tree's.

    Raises
    ------
    BadInput
        If the graph is not connected, or if there is no node for a broker.

    Notes
    -----
    Why the least costs agree under ``all-nodes``: users at their own nodes pay for a Steiner tree between these alone.
    Whatever else an overlay does, its tree of brokers with the ways of the users to them joins all terminals, each
    link paid for at least once. To pay for a way once would do, but leaves linear relaxations weak. Cost O(n³).
    """
    known = set(instance.terminals.tolist())
    homes = np.array([v for v in range(instance.num_nodes) if brokers_at == "all-nodes" or v not in known], np.int32)
    if not len(homes):
        raise BadInput("every node is a terminal: none is left for a broker")
    lengths = np.full((instance.num_nodes, instance.num_nodes), np.inf)
    np.fill_diagonal(lengths, 0.0)
    u, v = instance.edges.T
    lengths[u, v] = lengths[v, u] = instance.costs
    ways = closed(lengths, [instance.node_label(node) for node in range(instance.num_nodes)])
    price = instance.num_terminals if brokers_at == "all-nodes" else 1
    return _one_publisher(
        price * ways[np.ix_(instance.terminals, homes)],
        ways[np.ix_(homes, homes)],
        [f"u{instance.node_label(t)}" for t in instance.terminals.tolist()],
        [f"b{instance.node_label(b)}" for b in homes.tolist()],
    )


def relay_star(*, rim: int) -> ContentInstance:
    """P4 §III.A: k brokers with a user each, 2 apart, and a hub, b0, at distance 1 from all of them.

    The tree of the rim brokers alone costs 2(rim − 1), that through the hub costs rim. A user pays 0 to his own broker
    and more than either tree to any other. Cost O(rim²).
    """
    core = np.full((rim + 1, rim + 1), 2.0)
    core[0, :] = core[:, 0] = 1.0
    np.fill_diagonal(core, 0.0)
    access = np.full((rim, rim + 1), 2.0 * rim)
    access[np.arange(rim), np.arange(1, rim + 1)] = 0.0
    return _one_publisher(access, core, [f"u{i}" for i in range(1, rim + 1)], [f"b{i}" for i in range(rim + 1)])


def _one_publisher(access: Floats, core: Floats, users: list[str], brokers: list[str]) -> ContentInstance:
    """The first user publishes one unit on one channel, all others want it; capacities have no limit."""
    first = np.arange(len(access))[:, None] == 0
    return ContentInstance(
        access, core, np.full(len(core), np.inf), first.astype(np.float64), ~first, users, brokers, ["message"]
    )


def _generate_steiner_overlay(*, seed: int, brokers_at: str, **shape: int) -> ContentInstance:
    return steiner_overlay(_SPARSE.generate(seed=seed, **shape), brokers_at=brokers_at)


def _generate_relay_star(*, seed: int, rim: int) -> ContentInstance:
    return relay_star(rim=rim)


CONTENT_CONSTRUCTIONS: tuple[Workload[ContentInstance], ...] = (
    Workload(
        "steiner-overlay",
        "one publisher, and one message for all: a random Steiner tree problem as an overlay",
        "P4 Theorem 1",
        (
            Option("nodes", 12, "n of the graph", least=1, most=2000),
            Option("edges", 20, "m", least=0, most=2_000_000),
            Option("terminals", 5, "users", least=1, most=2000),
            Option("dearest", 10, "the largest cost of an edge", least=1, most=10**6),
            Option(
                "brokers_at",
                "all-nodes",
                "or, by the letter of the proof, at the nodes alone that are no terminals",
                choices=("all-nodes", "steiner-nodes"),
            ),
        ),
        _generate_steiner_overlay,
        "content",
    ),
    Workload(
        "relay-star",
        "minimum spanning trees cost 2(k − 1), through a relay k suffice (no seed)",
        "P4 §III.A",
        (Option("rim", 3, "k, the brokers with users", least=2, most=2000),),
        _generate_relay_star,
        "content",
    ),
)
