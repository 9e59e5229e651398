"""Methods for soft links: each forwarding strategy over the links that link management ends with."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from ...instances.arrays import Ids
from ...instances.brokers.dissemination import Dissemination
from ...instances.brokers.network import BrokerNetwork
from ...instances.brokers.predicates import Publications, Subscriptions
from ...instances.brokers.tree import BrokerTree
from ...instances.method import Method, Proposal
from ...instances.option import Option
from ...instances.problem import Problem
from .dissemination import carry, new_load, new_profile, traffic_of
from .forwarding import S0, STRATEGIES
from .link_management import Management, managed_links
from .queueing import Timing, simulate
from .working_map import mesh_of

_DEFAULT = Management()
_NO_LINKS = np.empty((0, 2), dtype=np.int32)
BrokerMethod = Method[BrokerNetwork, Dissemination]
MANAGEMENT = (
    Option("rounds", _DEFAULT.rounds, "reviews of the links", least=0),
    Option("window", _DEFAULT.window, "publications carried before each review", least=1),
    Option("candidates", _DEFAULT.candidates, "links profiled beyond the fanout (maxlinks − fanout)", least=0),
    Option("load_threshold", _DEFAULT.load_threshold, "percent of its uplink above which a broker is loaded", least=0),
)
_OUTPUT = Option(
    "output_threshold", _DEFAULT.output_threshold, "percent of its uplink above which SH saves it", least=0
)

_QUEUES = Option(
    "service", 0, "microseconds to match a publication; above 0 the queues are simulated too, and counted", least=0
)


def disseminate(network: BrokerNetwork, strategy: str, how: Management = _DEFAULT) -> Dissemination:
    """All publications of a network carried by one strategy of all brokers.

    Parameters
    ----------
    network : BrokerNetwork
    strategy : {"s0", "s1", "s2", "sh"}
    how : Management
        Soft links are managed by it first, on the same traffic and by the same strategy; s0 has none.

    Returns
    -------
    Dissemination

    Notes
    -----
    P5 §5 and §6, in a network without queues. Cost as for :func:`.carry` and
    :func:`.managed_links`.
    """
    number = STRATEGIES.index(strategy)
    links = _NO_LINKS if number == S0 else managed_links(network, number, how)
    return carried(network, number, links, how.output_threshold)


def carried(network: BrokerNetwork, strategy: int, links: Ids, output_threshold: int = 80) -> Dissemination:
    """All publications carried by a strategy over given soft links."""
    mesh = mesh_of(network.tree, [(int(u), int(v)) for u, v in links])
    load = new_load(network, output_threshold)
    return Dissemination.of(links, carry(traffic_of(network), mesh, strategy, load, new_profile(mesh)))


def _solve(
    instance: BrokerNetwork,
    problem: Problem[BrokerNetwork, Dissemination],
    *,
    seed: int,
    time_limit: float | None,
    strategy: str,
    **options: Any,
) -> Proposal[Dissemination]:
    service = options.pop("service")
    how = Management(**options)
    answer = disseminate(instance, strategy, how)
    return Proposal(answer, counters=_queued(instance, strategy, answer, how, service) if service else {})


def _queued(
    network: BrokerNetwork, strategy: str, answer: Dissemination, how: Management, service: int
) -> dict[str, float | str]:
    """What the queueing simulation counts up to the last publication."""
    horizon = int(network.publications.times.max(initial=0))
    timing = Timing(service, horizon=horizon, output_threshold=how.output_threshold)
    queued = simulate(network, STRATEGIES.index(strategy), answer.soft_links, timing)
    return {
        "queued_deliveries": queued.deliveries,
        "queued_messages": queued.messages,
        "queued_delay_ms": queued.average_delay,
        "queued_hops": queued.average_hops,
        "longest_queue": int(queued.longest_queue.max()),
    }


@cache
def _warm_up() -> None:
    for strategy in STRATEGIES:
        how = Management(rounds=3, candidates=2)
        _queued(two_feeds(), strategy, disseminate(two_feeds(), strategy, how), how, 1)


def two_feeds() -> BrokerNetwork:
    """A path of six brokers with so little fanout that links get promoted, dropped and profiled on it."""
    tree = BrokerTree.of(6, [(v, v + 1) for v in range(5)], uplinks=[1] * 6)
    wishes = Subscriptions(np.array([3, 4, 5]), np.array([[0], [1], [0]]), np.array([[0], [1], [1]]))
    times = np.arange(4) * 400_000
    events = Publications(times, np.zeros(4, dtype=np.int32), np.array([[0], [1], [1], [0]]))
    return BrokerNetwork(tree, wishes, events, radius=4, fanout=3)


def _method(
    strategy: str, summary: str, source: str, options: tuple[Option, ...], look: tuple[str, str]
) -> BrokerMethod:
    return Method(
        name=strategy,
        problems=("soft-links",),
        summary=summary,
        source=source,
        solve=partial(_solve, strategy=strategy),
        options=options,
        colour=look[0],
        marker=look[1],
        warm_up=_warm_up,
    )


S0_TREE = _method("s0", "S0: along the primary tree, no soft links", "P5 §2, §5", (_QUEUES,), ("#8C8C8C", "X"))
S1_COMMON = _method(
    "s1",
    "S1: to the farthest broker on all primary paths that way",
    "P5 §5 Fig. 5",
    (*MANAGEMENT, _QUEUES),
    ("#E69F00", "s"),
)
S2_FAR = _method(
    "s2", "S2: straight to the farthest reachable anchors", "P5 §5 Fig. 6", (*MANAGEMENT, _QUEUES), ("#0072B2", "o")
)
SH_HYBRID = _method(
    "sh", "SH: S1 while the uplink is busy, else S2", "P5 §5", (*MANAGEMENT, _OUTPUT, _QUEUES), ("#009E73", "^")
)
