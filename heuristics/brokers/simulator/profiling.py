"""Link management by a broker's own measurements: loads and round trips as heard, and the review (P5 §6)."""

from __future__ import annotations

import numpy as np

from ..kernels.link_management import Limits as ReviewLimits
from ..kernels.link_management import neighbour_table, review_own
from ..kernels.working_map import FREE, has_bit
from .messages import Edge, Loads, Ping, Sends
from .neighbourhood import Neighbourhood, edge
from .routing import Routing, Sent


class Profile:
    """What a broker has measured and heard.

    Attributes
    ----------
    loads : mapping of broker to float
        Output in the last interval as a share of the uplink, as last heard; 0 without a cap.
    round_trips : mapping of primary link to int
        Microseconds, as last heard; those of its own soft links are under the same kind of key.
    """

    def __init__(self) -> None:
        self.loads: dict[int, float] = {}
        self.round_trips: dict[Edge, int] = {}
        self._profiled: dict[int, int] = {}
        self._round = 0

    def heard(self, message: Loads) -> None:
        """Take over what a neighbour has heard."""
        self.loads.update(message.loads)
        self.round_trips.update(message.round_trips)

    def reports(self, hood: Neighbourhood) -> Sends:
        """Tell each primary neighbour what it may have to know: the brokers within Δ − 1 hops on this side of it."""
        sends: Sends = []
        for v in hood.neighbours:
            told = [x for x in hood.hops if x not in (v, hood.centre) and hood.hops[x] < hood.radius]
            told = [x for x in told if hood.next_hop(x) != v]
            trips = (edge(x, hood.before(x)) for x in told)
            loads = {x: self.loads.get(x, 0.0) for x in (hood.centre, *told)}
            sends.append((v, Loads(loads, {link: self.round_trips.get(link, 0) for link in trips})))
        return sends

    def pings(self, routing: Routing, now: int) -> Sends:
        """Ask for the round-trip times of all links in use."""
        ends = (*routing.hood.neighbours, *(v for v, real in routing.links.items() if real))
        return [(v, Ping(now)) for v in ends]

    def review(self, routing: Routing, seconds: float) -> Routing:
        """Keep, promote and drop links by what was sent in an interval, and choose the next candidates."""
        hood, limits, maps, own = routing.hood, routing.limits, routing.maps, routing.own
        members, size = hood.members.tolist(), len(hood.members)
        sent = routing.sent()
        self.loads[hood.centre] = sent.total / (limits.uplink * seconds) if limits.uplink else 0.0
        above = np.array([self.loads.get(v, 0.0) for v in members]) - limits.load_threshold / 100
        factors = 1 + (np.minimum(above, 0.0) if limits.printed_factor else np.maximum(above, 0.0))
        path_delays = np.zeros((size, size), dtype=np.int64)
        path_delays[own] = [self._path_delay(hood, v) for v in members]
        spare = np.full(size, limits.fanout - len(hood.neighbours), dtype=np.int64)
        profiled = np.full((size, size), FREE, dtype=np.int64)
        profiled[own] = [self._profiled.get(v, FREE) for v in members]
        given = ReviewLimits(spare, path_delays, limits.radius, limits.candidates)
        review_own(maps, own, routing.counts.by_slot, factors, given, neighbour_table(hood.tree), profiled, self._round)
        self._profiled = dict(zip(members, profiled[own].tolist(), strict=True))
        self._round += 1
        links = {
            int(hood.members[maps.ends[own, slot]]): bool(has_bit(maps.real[own], slot))
            for slot in maps.order[own, : maps.counts[own]].tolist()
        }
        links = {v: real for v, real in links.items() if hood.hops[v] > 1}
        return routing.over(links, Sent(sent.interval, sent.current, sent.previous))

    def _path_delay(self, hood: Neighbourhood, broker: int) -> int:
        """Microseconds over the primary path, half of the round trips."""
        total = 0
        while broker != hood.centre:
            total += self.round_trips.get(edge(broker, hood.before(broker)), 0) // 2
            broker = hood.before(broker)
        return total
