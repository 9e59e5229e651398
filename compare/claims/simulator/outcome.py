"""A simulated run: set up, played, checked against the invariants, and summarised."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ....heuristics.brokers.kernels.link_management import Management
from ....heuristics.brokers.kernels.queueing import repeated_times
from ....heuristics.brokers.soft_links import Scenario
from ....instances.brokers.network import BrokerNetwork
from ....instances.brokers.predicates import Publications
from ....instances.contract.arrays import Ids
from ....instances.contract.time_units import SECOND
from ....instances.runtime.compiled import kernel
from .messages import NEVER
from .network import Log, SimulatedNetwork
from .routing import BrokerLimits, Neighbourhood, anchor, paths_from
from .scenario import Director
from .tree_changes import Coordinator

_MOST_BINS, _MOST_NAMED = 60, 5
_CHUNK = 1 << 22


@dataclass(frozen=True)
class Outcome:
    """What happened between the first publication and the last, and afterwards until all was quiet.

    `messages`, shape (m, 5): rows (publication, sender, receiver, time, local) of all copies that brokers received,
    in order of processing: microseconds since the first publication could be published, and the matching local
    subscriptions.
    """

    messages: npt.NDArray[np.int64]
    hops: npt.NDArray[np.int64]  # shape (m,): links from the source
    sources: npt.NDArray[np.int64]  # the broker of each publication
    duration: int  # microseconds in which publications were published
    start: int
    log: Log  # its times are from the start of the first broker; `start` is the offset
    links: Ids  # shape (k, 2): the soft links at the end, rows (sender, receiver)
    asked: Mapping[str, int]  # how often moves, departures and joins came about or were refused
    covering: float  # subscriptions in the covering sets of all links of a broker at the end, the mean over brokers
    pending: list[str]  # what the coordinator was asked for or granted and that is not complete


class BrokenInvariant(RuntimeError):
    """A simulated run violates an invariant."""


def simulate_system(
    given: BrokerNetwork,
    strategy: int,
    scenario: Scenario,
    management: Management,
    seed: int = 0,
    links: Ids | None = None,
) -> Outcome:
    """Simulate brokers that know only what messages brought them.

    `strategy`, one of S0, S1, S2, SH. `management`: `rounds` and `window` are not used: reviews follow the clock.
    `links`, shape (k, 2), optional: soft links from the beginning. Raises BrokenInvariant if a publication misses a
    subscription, reaches a broker twice, or a map differs from the tree.

    P5 §3 to §6. Cost: about 50 microseconds a message, and O(P · S · A) for the invariants.
    """
    uplinks = [scenario.uplink] * given.num_brokers if scenario.uplink else given.tree.uplinks.tolist()
    own = management if strategy else replace(management, candidates=0)
    limits = [BrokerLimits(given.radius, given.fanout, uplink, strategy, own) for uplink in uplinks]
    network = SimulatedNetwork(given, limits, scenario.service, scenario.predicate)
    director, coordinator = Director(given, network, scenario, seed), network.coordinator
    director.set_up()
    for u, v in links.tolist() if links is not None else ():
        broker = network.brokers[u]
        broker.routing = broker.routing.over({**broker.routing.links, v: True})
    director.play()
    if broken := violations(network, given.publications.values, given.num_brokers, scenario.drain):
        raise BrokenInvariant("; ".join(broken))
    rows = network.log.rows()
    messages = rows[rows[:, 1] >= 0]
    messages[:, 3] -= director.start
    soft = [(each.me, v) for each in network.brokers.values() for v, real in each.routing.links.items() if real]
    tables = [each.routing.working for each in network.brokers.values() if each.me not in network.joining]
    pending = [what for what, _ in coordinator.running.values()] + [ask.what for _, ask in coordinator.waiting]
    return Outcome(
        messages,
        _hops(messages, given.num_brokers),
        given.publications.sources.astype(np.int64),
        director.end - director.start,
        director.start,
        network.log,
        np.array(sorted(soft), dtype=np.int32).reshape(-1, 2),
        director.outcomes,
        float(np.mean([table.starts[-2] for table in tables])) if tables else 0.0,
        pending,
    )


def _hops(messages: npt.NDArray[np.int64], num_brokers: int) -> npt.NDArray[np.int64]:
    """Links from the source; a copy is processed after the one that brought it to its sender."""
    at: dict[int, int] = {}
    hops = np.empty(len(messages), dtype=np.int64)
    for row, (p, sender, receiver) in enumerate(messages[:, :3].tolist()):
        hops[row] = at[p * num_brokers + receiver] = at.get(p * num_brokers + sender, 0) + 1
    return hops


def repeated(given: BrokerNetwork, periods: int) -> BrokerNetwork:
    """The network with its publications several times, one period after the other."""
    if periods == 1:
        return given
    of, times = given.publications, repeated_times(given.publications.times, periods)
    return replace(
        given, publications=Publications(times, np.tile(of.sources, periods), np.tile(of.values, (periods, 1)))
    )


def links_allowed(given: BrokerNetwork, links: Ids) -> Ids:
    """The links that the limits allow in the given tree, which need not be the one at the end of a run."""
    hops, spare = given.tree.distances, given.spare_links().tolist()
    allowed = []
    for u, v in links.tolist():
        if 2 <= hops[u, v] <= given.radius and spare[u] > 0:
            spare[u] -= 1
            allowed.append((u, v))
    return np.array(allowed, dtype=np.int32).reshape(-1, 2)


def counters(outcome: Outcome) -> dict[str, float | str]:
    """The counters of a result: those of the interval of publications, unless named otherwise."""
    log, second = outcome.log, outcome.start // SECOND
    inside = outcome.messages[:, 3] <= outcome.duration
    wanted = outcome.messages[:, 4] > 0
    late = inside & (outcome.messages[:, 3] > outcome.duration // 2)
    arrived = outcome.messages[inside & wanted]
    delays = arrived[:, 3] + outcome.start - log.published[arrived[:, 0]]
    control, publications = (
        sum(count for at, count in each.items() if at >= second) for each in (log.control_bytes, log.publication_bytes)
    )
    found: dict[str, float | str] = {
        "system_deliveries": int((inside & wanted).sum()),
        "system_messages": int(inside.sum()),
        "system_yield": _ratio((inside & wanted).sum(), inside.sum()),
        "system_yield_late": _ratio((late & wanted).sum(), late.sum()),
        "system_hops": float(outcome.hops[inside & wanted].mean()) if len(arrived) else 0.0,
        "system_delay_ms": float(delays.mean()) / 1000 if len(arrived) else 0.0,
        "system_messages_all": len(outcome.messages),
        "system_deliveries_all": int(wanted.sum()),
        "system_published": int((log.published < NEVER).sum()),
        "system_longest_queue": log.longest_queue,
        "system_control_bytes": control,
        "system_publication_bytes": publications,
        "system_control_share": _ratio(control, control + publications),
        "system_load_share": _ratio(log.control_by_kind["Loads"], control + publications),
        "system_evaluations": log.evaluations,
        "system_covering": outcome.covering,
        "system_bypassed": log.bypassed,
        "system_lost": len(log.lost),
        "system_pending": ", ".join(outcome.pending),
    }
    found["system_series"] = json.dumps(_series(outcome, inside, wanted))
    found["system_hop_counts"] = json.dumps(np.bincount(outcome.hops[inside & wanted]).tolist())
    found["system_pair_delays"] = json.dumps(_pair_delays(outcome, arrived, delays))
    asked = {f"system_{what.replace(' ', '_')}s": count for what, count in outcome.asked.items() if "table" not in what}
    return found | dict(sorted(asked.items()))


def _pair_delays(outcome: Outcome, arrived: npt.NDArray[np.int64], delays: npt.NDArray[np.int64]) -> list[float]:
    """Percentiles 0, 10, … 100 of the mean milliseconds from a source to a receiver, over the pairs with deliveries."""
    if not len(arrived):
        return []
    ends = outcome.sources[arrived[:, 0]] * (arrived[:, 2].max() + 1) + arrived[:, 2]
    pairs = np.unique(ends, return_inverse=True)[1]
    means = np.bincount(pairs, delays / 1000) / np.bincount(pairs)
    return [round(float(each), 4) for each in np.percentile(means, range(0, 101, 10))]


def _series(outcome: Outcome, inside: npt.NDArray[np.bool_], wanted: npt.NDArray[np.bool_]) -> dict[str, list[float]]:
    """Measures by time: at most 60 bins of whole seconds, each with its end in seconds."""
    seconds = max(1, -(-outcome.duration // SECOND))
    width = -(-seconds // _MOST_BINS)
    bins = -(-seconds // width)
    own, log = outcome.messages[inside], outcome.log
    at = np.minimum(own[:, 3] // (width * SECOND), bins - 1)
    good = wanted[inside]
    received, delivered = np.bincount(at, minlength=bins), np.bincount(at[good], minlength=bins)
    delays = (own[good, 3] + outcome.start - log.published[own[good, 0]]) / 1000
    each = np.maximum(delivered, 1)
    control = np.zeros(bins)
    for second, size in log.control_bytes.items():
        if 0 <= (bin_ := (second - outcome.start // SECOND) // width) < bins:
            control[bin_] += size
    series = {
        "seconds": np.minimum(np.arange(1, bins + 1) * width, seconds),
        "deliveries": delivered / width,
        "messages": received / width,
        "yield": delivered / np.maximum(received, 1),
        "hops": np.bincount(at[good], outcome.hops[inside][good], minlength=bins) / each,
        "delay_ms": np.bincount(at[good], delays, minlength=bins) / each,
        "control_bytes": control / width,
    }
    return {name: np.round(values, 4).tolist() for name, values in series.items()}


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else 1.0


def violations(network: SimulatedNetwork, values: Ids, num_brokers: int, quiet: bool = True) -> list[str]:
    """The invariants that a run violates which is `quiet` at its end or not; a few of each.

    A subscription is owed a publication that was published after every broker had confirmed the subscription and
    completed before its end began, unless a broker that crashed for good had a copy. Cost O(P · S · A).
    """
    checks = (_twice(network.log, num_brokers), _deliveries(network.log, values, num_brokers, quiet), _maps(network))
    return [each for check in checks for each, _ in zip(check, range(_MOST_NAMED), strict=False)]


def _twice(log: Log, num_brokers: int) -> Iterator[str]:
    publication, _, receiver, _, _ = log.rows().T
    found, counts = np.unique(publication * num_brokers + receiver, return_counts=True)
    for each in found[counts > 1].tolist():
        yield f"publication {each // num_brokers} reaches broker {each % num_brokers} twice"


def _deliveries(log: Log, values: Ids, num_brokers: int, quiet: bool) -> Iterator[str]:
    if not log.issued:
        return
    brokers, lows, highs, times = log.subscriptions()
    for broker, crashed in log.crashed.items():
        times[brokers == broker, 2] = np.minimum(times[brokers == broker, 2], crashed)
    publication, _, receiver, _, local = log.rows().T
    order, completed = np.argsort(publication, kind="stable"), log.completed.copy()
    if unfinished := np.flatnonzero(log.under_way > 0).tolist():
        if quiet and not log.crashed:
            yield f"publication {unfinished[0]} is still under way"
        completed[unfinished] = NEVER
    exempt = np.zeros(len(values), dtype=np.bool_)
    exempt[[*log.lost, *unfinished]] = True
    rows = max(1, _CHUNK // num_brokers)
    for first in range(0, len(values), rows):
        of = slice(first, last := min(first + rows, len(values)))
        own = order[slice(*np.searchsorted(publication, (first, last), sorter=order))]
        delivered = np.zeros((last - first, num_brokers), dtype=np.int64)
        delivered[publication[own] - first, receiver[own]] = local[own]
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


def _maps(network: SimulatedNetwork) -> Iterator[str]:
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


def _anchors(network: SimulatedNetwork, coordinator: Coordinator, me: int) -> Iterator[str]:
    """Each anchor must be on the path to the subscriber's broker, Δ hops away or at its end."""
    table, paths = network.brokers[me].routing.table, paths_from(me, coordinator.edges)
    anchors = dict(zip(table.ids.tolist(), table.anchors.tolist(), strict=True))
    known = 0
    for each in network.log.issued:
        if each.ended < NEVER or each.settled == NEVER:
            continue
        at = anchor(paths, each.broker, coordinator.radius)
        known += len(each.entries.ids)
        for number in each.entries.ids.tolist():
            if anchors.get(number) != at:
                yield f"broker {me} has anchor {anchors.get(number)} for subscription {number}, not {at}"
    if known != len(anchors):
        yield f"broker {me} has {len(anchors)} subscriptions, not {known}"
