"""What every simulated run must satisfy: deliveries exactly once, no copy twice, and maps that agree with the tree."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids
from ...compiled import kernel
from .coordinator import Coordinator
from .log import NEVER, Log
from .neighbourhood import Neighbourhood, paths_from
from .network import Network

_CHUNK = 1 << 22
_MOST_NAMED = 5


def violations(network: Network, values: Ids, num_brokers: int, quiet: bool = True) -> list[str]:
    """The invariants that a run violates which is `quiet` at its end or not; a few of each.

    Notes
    -----
    A subscription is owed a publication that was published after every broker had confirmed the subscription and
    completed before its end began, unless a broker that crashed for good had a copy. Cost O(P · S · A).
    """
    checks = (_twice(network.log, num_brokers), _deliveries(network.log, values, num_brokers, quiet), _maps(network))
    return [each for check in checks for each, _ in zip(check, range(_MOST_NAMED), strict=False)]


def _twice(log: Log, num_brokers: int) -> Iterator[str]:
    at = np.array(log.publication, dtype=np.int64) * num_brokers + np.array(log.receiver, dtype=np.int64)
    found, counts = np.unique(at, return_counts=True)
    for each in found[counts > 1].tolist():
        yield f"publication {each // num_brokers} reaches broker {each % num_brokers} twice"


def _deliveries(log: Log, values: Ids, num_brokers: int, quiet: bool) -> Iterator[str]:
    if not log.issued:
        return
    brokers, lows, highs, times = log.subscriptions()
    for broker, crashed in log.crashed.items():
        times[brokers == broker, 2] = np.minimum(times[brokers == broker, 2], crashed)
    publication, receiver = np.array(log.publication, dtype=np.int64), np.array(log.receiver, dtype=np.int64)
    order, local = np.argsort(publication, kind="stable"), np.array(log.local, dtype=np.int64)
    completed = log.completed.copy()
    if unfinished := np.flatnonzero(log.under_way > 0).tolist():
        if quiet and not log.crashed:
            yield f"publication {unfinished[0]} is still under way"
        completed[unfinished] = NEVER
    exempt = np.zeros(len(values), dtype=np.bool_)
    exempt[[*log.lost, *unfinished]] = True
    rows = max(1, _CHUNK // num_brokers)
    for first in range(0, len(values), rows):
        last = min(first + rows, len(values))
        own = order[
            np.searchsorted(publication, first, sorter=order) : np.searchsorted(publication, last, sorter=order)
        ]
        delivered = np.zeros((last - first, num_brokers), dtype=np.int64)
        delivered[publication[own] - first, receiver[own]] = local[own]
        of = slice(first, last)
        owed, possible = _counts(brokers, lows, highs, times, values[of], log.published[of], completed[of], num_brokers)
        owed[exempt[of]] = 0
        for p, v in np.argwhere((delivered < owed) | (delivered > possible)).tolist():
            yield (
                f"publication {first + p} is delivered to {delivered[p, v]} subscriptions of broker {v}, which has "
                f"from {owed[p, v]} to {possible[p, v]} that match"
            )


@kernel
def _counts(
    brokers: Ids,
    lows: Ids,
    highs: Ids,
    times: npt.NDArray[np.int64],
    values: Ids,
    published: npt.NDArray[np.int64],
    completed: npt.NDArray[np.int64],
    num_brokers: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Of each publication and broker: the subscriptions that are owed it, and those that may get it."""
    owed = np.zeros((len(values), num_brokers), dtype=np.int64)
    possible = np.zeros((len(values), num_brokers), dtype=np.int64)
    for p in range(len(values)):
        for s in range(len(brokers)):
            matches = True
            for a in range(values.shape[1]):
                matches &= lows[s, a] <= values[p, a] <= highs[s, a]
            if matches:
                owed[p, brokers[s]] += times[s, 1] <= published[p] < NEVER and completed[p] < times[s, 2]
                possible[p, brokers[s]] += times[s, 0] <= completed[p]
    return owed, possible


def _maps(network: Network) -> Iterator[str]:
    coordinator = network.coordinator
    changing = frozenset[int]().union(*(region for _, region in coordinator.running.values()))
    if any(what == "table" for what, _ in coordinator.running.values()):
        return
    for broker in network.brokers.values():
        if broker.me in network.down or broker.me in changing or broker.me not in coordinator.members:
            continue
        hood = broker.routing.hood
        expected = Neighbourhood(broker.me, coordinator.edges, hood.radius)
        if hood.edges != expected.edges:
            yield f"the map of broker {broker.me} differs from the tree: {sorted(hood.edges ^ expected.edges)}"
        yield from _anchors(network, coordinator, broker.me)


def _anchors(network: Network, coordinator: Coordinator, me: int) -> Iterator[str]:
    """Each anchor must be on the path to the subscription's broker, Δ hops away or at its end."""
    table, paths = network.brokers[me].routing.table, paths_from(me, coordinator.edges)
    anchor = dict(zip(table.ids.tolist(), table.anchors.tolist(), strict=True))
    ended = {id(each) for each in network.log.issued if each.ended < NEVER}
    known = 0
    for each in network.log.issued:
        if id(each) in ended or each.settled == NEVER:
            continue
        at = each.broker
        while paths[at][1] > coordinator.radius:
            at = paths[at][0]
        known += len(each.entries.ids)
        for number in each.entries.ids.tolist():
            if anchor.get(number) != at:
                yield f"broker {me} has anchor {anchor.get(number)} for subscription {number}, not {at}"
    if known != len(anchor):
        yield f"broker {me} has {len(anchor)} subscriptions, not {known}"
