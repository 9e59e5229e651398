"""P4's constructions of content instances: reductions from Steiner trees, and metrics in which relays help."""

from __future__ import annotations

import numpy as np

from ..contract.errors import BadInput
from ..contract.option import Option
from ..contract.workload import Workload
from ..steiner.instance import SteinerInstance
from ..steiner.workloads import STEINER_WORKLOADS
from .core_prices import metric_closure
from .instance import ContentInstance, Floats

_SPARSE = STEINER_WORKLOADS[0]


def steiner_overlay(instance: SteinerInstance, *, brokers_at: str = "all-nodes") -> ContentInstance:
    """P4, Theorem 1: the reduction from the Steiner tree problem. One user publishes, all others subscribe.

    Every terminal is a user; the first one publishes one unit on the only channel. Prices are the lengths of shortest
    paths.

    Parameters
    ----------
    instance : SteinerInstance
        Connected.
    brokers_at : {"all-nodes", "steiner-nodes"}
        ``steiner-nodes``: a broker at every node that is no terminal, as in the proof. Then no tree of the overlay
        branches at a terminal or connects two terminals directly. ``all-nodes``: a broker at every node, and access
        prices multiplied by the number of terminals. Then the optimum for ``content-steiner`` is that of the Steiner
        tree problem.

    Raises
    ------
    BadInput
        If the graph is not connected, or every node is a terminal and none is left for a broker.

    Notes
    -----
    The optima agree under ``all-nodes``: with each user on the broker at its node the overlay costs as much as a
    Steiner tree. In any overlay the tree of brokers and the users' paths to them connect all terminals, and each link
    is paid for at least once. A factor of 1 would do, but weakens linear relaxations. Cost O(n³).
    """
    nodes = np.arange(instance.num_nodes)
    brokers = nodes if brokers_at == "all-nodes" else np.setdiff1d(nodes, instance.terminals)
    if not len(brokers):
        raise BadInput("every node is a terminal, which leaves none for a broker: use brokers_at all-nodes")
    lengths = np.full((instance.num_nodes, instance.num_nodes), np.inf)
    np.fill_diagonal(lengths, 0.0)
    u, v = instance.edges.T
    lengths[u, v] = lengths[v, u] = instance.costs
    paths = metric_closure(lengths, [instance.node_label(node) for node in range(instance.num_nodes)])
    factor = instance.num_terminals if brokers_at == "all-nodes" else 1
    return _one_publisher(
        factor * paths[np.ix_(instance.terminals, brokers)],
        paths[np.ix_(brokers, brokers)],
        [f"u{instance.node_label(t)}" for t in instance.terminals.tolist()],
        [f"b{instance.node_label(b)}" for b in brokers.tolist()],
    )


def relay_star(*, rim: int) -> ContentInstance:
    """P4 §III.A: `rim` brokers with one user each, at distance 2 from each other, and a hub, b0, at distance 1.

    The tree of the rim brokers costs 2(rim − 1), the tree through the hub costs rim. A user pays 0 to its own broker
    and more than either tree to any other. Cost O(rim²).
    """
    core = np.full((rim + 1, rim + 1), 2.0)
    core[0, :] = core[:, 0] = 1.0
    np.fill_diagonal(core, 0.0)
    access = np.full((rim, rim + 1), 2.0 * rim)
    access[np.arange(rim), np.arange(1, rim + 1)] = 0.0
    return _one_publisher(access, core, [f"u{i}" for i in range(1, rim + 1)], [f"b{i}" for i in range(rim + 1)])


def _one_publisher(access: Floats, core: Floats, users: list[str], brokers: list[str]) -> ContentInstance:
    """The first user publishes one unit on one channel, all others subscribe; capacities are infinite."""
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
        "one publisher, all others subscribe: a random Steiner tree problem as an overlay",
        "P4 Theorem 1",
        (
            Option("nodes", 12, "n of the graph", least=1, most=2000),
            Option("edges", 20, "m", least=0, most=2_000_000),
            Option("terminals", 5, "users", least=1, most=2000),
            Option("dearest", 10, "the largest cost of an edge", least=1, most=10**6),
            Option(
                "brokers_at",
                "all-nodes",
                "brokers at all nodes or, as in the proof, at the nodes that are no terminals",
                choices=("all-nodes", "steiner-nodes"),
            ),
        ),
        _generate_steiner_overlay,
        "content",
    ),
    Workload(
        "relay-star",
        "minimum spanning trees cost 2(k − 1), trees through a relay k (no seed)",
        "P4 §III.A",
        (Option("rim", 3, "k, the number of brokers with users", least=2, most=2000),),
        _generate_relay_star,
        "content",
    ),
)
