"""A broker as an actor: messages in, messages out, and no reference to anything but its own state."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from msgspec.structs import replace

from ....heuristics.brokers.kernels.forwarding import NOWHERE
from . import messages
from .messages import NEW, OLD, Control, Entries, Publication, Sends, Step, Wave
from .routing import BrokerLimits, Neighbourhood, Profile, Routing, edge, selected
from .tree_changes import REFUSED, Change, OpenWave, Relocation, Waves

COORDINATOR = -2
View = tuple[int, int] | None


@dataclass(eq=False)
class Broker:
    """One broker. A method takes what happened to it and returns the messages that it sends.

    `routing`: maps, tables and links; during a change of the tree, those of the current view. `kept`, mapping of
    broker to list of publications: the brokers that do not answer, and the copies kept for them. `resumed`, list of
    (sender, publication): copies that waited for a new view and can be processed now. `outcomes`: what it asked the
    coordinator for, once that is complete or refused: "move", "move refused".
    """

    me: int
    limits: BrokerLimits
    attributes: int  # the number of attributes of publications
    routing: Routing = field(init=False)
    profile: Profile = field(default_factory=Profile)
    change: Change | None = None  # the change of the tree that affects it
    kept: dict[int, list[Publication]] = field(default_factory=dict)
    resumed: list[tuple[int, Publication]] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        ids, bounds = np.empty(0, dtype=np.int32), np.empty((0, self.attributes), dtype=np.int32)
        hood = Neighbourhood(self.me, (), self.limits.radius)
        self.routing = Routing(hood, Entries(ids, bounds, bounds, ids), {}, self.limits)
        self._waves: Waves[Wave, Step] = Waves()
        self._begun = 0
        self._asked: list[Step | tuple[int, Control]] = []
        self._granted: dict[str, int] = {}
        self._tables: dict[Wave, int] = {}
        self._early: list[tuple[int, Publication]] = []
        self._relocation: Relocation | None = None
        self._left_beyond: dict[int, int] = {}
        self._sent_to: Counter[int] = Counter()
        self._processed_from: Counter[int] = Counter()
        self._processed_old: Counter[int] = Counter()

    def remember(self, former: Broker) -> None:
        """Go on with the counts that this broker had when it left, so that those of others agree with them."""
        for name in ("_waves", "_begun", "_asked", "_tables", "_sent_to", "_processed_from"):
            setattr(self, name, getattr(former, name))

    # What its operator and its clients want: each is granted by the coordinator first.

    def change_table(self, change: messages.Subscribe | messages.Unsubscribe) -> Sends:
        return self._ask("table", change)

    def join(self, parent: int) -> Sends:
        return self._ask("join", (parent, messages.Join()), (parent,))

    def leave(self) -> Sends:
        """Leave the network, from its edge and without subscriptions."""
        return self._ask("leave", messages.Left(self.me, 0), self.routing.hood.neighbours[:1])

    def move(self, old: int, new: int) -> Sends:
        """Replace a primary neighbour by another one."""
        return self._ask("move", (new, messages.AskMap()), (old, new))

    def _ask(self, what: str, then: Step | tuple[int, Control], path: tuple[int, ...] = ()) -> Sends:
        self._asked.append(then)
        return [(COORDINATOR, messages.Ask(what, len(self._asked), path))]

    def review(self, now: int, seconds: float) -> Sends:
        """Review the links after an interval, and exchange loads and round-trip times."""
        if self.change is None:
            self.routing = self.profile.review(self.routing, seconds)
        return [*self.profile.reports(self.routing.hood), *self.profile.pings(self.routing, now)]

    # Publications.

    def evaluations(self, publication: Publication) -> int:
        """The predicates that matching a publication evaluates."""
        return 0 if "join" in self._granted else self.routing.match(publication.values)[1]

    def process(self, sender: int, publication: Publication, now: int) -> tuple[int, Sends] | None:
        """Deliver a publication to local subscribers and send it on.

        Returns the number of matching local subscriptions, and the copies; None if it waits for the new view of
        the tree or, at a broker that joins, for its first map.
        """
        if "join" in self._granted:
            self._early.append((sender, publication))
            return None
        change, number = self.change, publication.view[0] if publication.view else REFUSED
        if publication.view and publication.view[1] == NEW and change and change.number == number and not change.new:
            change.waiting.append((sender, publication))
            return None
        view: View = None
        if change:
            view = publication.view if change.number == number else (change.number, change.view)
        routing = self._routing_of(view)
        local = self._match(publication, routing)
        copy = publication if publication.view == view else replace(publication, view=view)
        sends: Sends = []
        for end in routing.targets(self._still_there(sender, routing), now):
            if end in self.kept:
                sends += self._bypass(end, copy, routing)
            else:
                sends.append((end, self._counted(end, copy)))
        if publication.view and publication.view[1] == OLD:
            self._processed_old[number] += 1
        else:
            self._processed_from[sender] += 1
        return local, sends

    def _match(self, copy: Publication, routing: Routing) -> int:
        """Find the anchors of a copy but for what lies beyond brokers that are served; the local subscriptions."""
        local = routing.match(copy.values)[0]
        if copy.served:
            routing.leave_out(copy.values, copy.served)
        return local

    def _still_there(self, sender: int, routing: Routing) -> int:
        """The sender or, if it has left, the neighbour in its direction; NOWHERE if that has left too."""
        while sender not in routing.hood:
            beyond = self._left_beyond.get(sender, NOWHERE)
            if beyond in (sender, NOWHERE):
                return NOWHERE
            sender = beyond
        return sender

    def _routing_of(self, view: View) -> Routing:
        return self.change.old if self.change and view == (self.change.number, OLD) else self.routing

    def _counted(self, end: int, copy: Publication) -> Publication:
        """A copy as it is sent, and counted: only brokers that the change affects are told its view."""
        change = self.change
        if copy.view and not (change and change.number == copy.view[0] and end in change.region):
            copy = replace(copy, view=None)
        self._count(end, copy.view, 1)
        return copy

    def _count(self, end: int, view: View, copies: int) -> None:
        """Count copies: the next move waits for those of this move's new view as for those that name no view."""
        if view is None or view[1] == NEW:
            self._sent_to[end] += copies
        elif self.change:
            self.change.sent += copies

    def undelivered(self, end: int, copy: Publication) -> Sends:
        """A broker does not answer: bypass it by soft links, and keep the copy for what cannot be reached so."""
        self.kept.setdefault(end, [])
        self._count(end, copy.view, -1)
        return self._bypass(end, copy, self._routing_of(copy.view))

    def _bypass(self, via: int, copy: Publication, routing: Routing) -> Sends:
        if not routing.has_link(via):
            self.kept[via].append(self._counted(via, copy))
            return []
        self._match(copy, routing)
        now, later = routing.bypass(via, self.kept)
        for end, served in later.items():
            self.kept[end].append(self._counted(end, replace(copy, served=copy.served | served)))
        return [(end, self._counted(end, copy)) for end in now]

    def missed(self, end: int, copy: Publication) -> None:
        """A broker has left before it got a copy, which is not needed there."""
        self._count(end, copy.view, -1)

    def answers(self, end: int) -> Sends:
        """A broker answers again: it gets what was kept for it."""
        return [(end, copy) for copy in self.kept.pop(end, [])]

    # Control messages.

    def receive(self, sender: int, message: Control, now: int) -> Sends:
        hood = self.routing.hood
        match message:
            case messages.Spread():
                return self._spread(message.wave, message.step, sender)
            case messages.Confirm():
                done = self._waves.confirmed(message.wave, sender, message.sent, message.processed)
                return self._advance(done)
            case messages.Loads():
                self.profile.loads.update(message.loads)
                self.profile.round_trips.update(message.round_trips)
                return []
            case messages.Ping():
                return [(sender, messages.Pong(message.sent_at))]
            case messages.Pong():
                self.profile.round_trips[edge(self.me, sender)] = now - message.sent_at
                return []
            case messages.Grant():
                return self._start(message)
            case messages.Join():
                return self._begin(messages.Joined(sender, self.me, 1))
            case messages.Welcome():
                known = Neighbourhood(self.me, message.edges | hood.edges, self.limits.radius)
                self.routing = self.routing.with_more(message.entries).on(known)
                self.resumed += self._early
                self._early = []
                return self._finish("join")
            case messages.AskMap():
                table = self.routing.table
                anchors = dict(zip(table.ids.tolist(), table.anchors.tolist(), strict=True))
                return [(sender, messages.ShowMap(hood.edges, anchors))]
            case messages.ShowMap() if self._relocation:
                self._relocation.shown = message
                return self._begin(messages.Initiate(self._relocation.change, self.me, self._relocation.region))
            case messages.Drain():
                return self._begin(message)
        raise RuntimeError(f"broker {self.me} cannot take {message} from {sender}")

    def _start(self, grant: messages.Grant) -> Sends:
        """Begin what the coordinator grants: a step, or a message to another broker."""
        then = self._asked[grant.token - 1]
        if grant.change == REFUSED:
            self.outcomes.append(f"{grant.what} refused")
            return []
        if grant.what == "table":
            self._tables[self.me, self._begun + 1] = grant.change
        else:
            self._granted[grant.what] = grant.change
        if grant.what == "move":
            self._relocation = Relocation(grant.change, grant.path, grant.region)
        return [then] if isinstance(then, tuple) else self._begin(then)

    def _begin(self, step: Step) -> Sends:
        self._begun += 1
        return self._spread((self.me, self._begun), step, NOWHERE)

    def _finish(self, what: str) -> Sends:
        self.outcomes.append(what)
        return [(COORDINATOR, messages.Release(self._granted.pop(what)))]

    # Waves.

    def _spread(self, wave: Wave, step: Step, sender: int) -> Sends:
        """Carry out a step and pass it on; confirm it once all to whom it was passed have."""
        onward, passed, sums = self._apply(step)
        ends = [v for v in onward if v != sender]
        sends: Sends = [(v, messages.Spread(wave, passed)) for v in ends]
        sends += self._advance(self._waves.opened(wave, step, sender, ends, sums))
        if isinstance(step, messages.Left) and step.broker != self.me:
            for complete in self._waves.forget(step.broker):
                sends += self._advance(complete)
            # This broker may have been down since it kept them, and the other one up: it still counts them.
            sends += self.answers(step.broker)
        return sends

    def _apply(self, step: Step) -> tuple[tuple[int, ...], Step, tuple[int, int]]:
        """Carry out a step; return to whom it is passed, the step as passed, and the counts of a drain."""
        hood, sums = self.routing.hood, (0, 0)
        region = self.change.region if self.change else frozenset[int]()
        match step:
            case messages.Subscribe():
                self.routing = self.routing.with_more(step.entries)
                if hood.neighbours:
                    moved = hood.anchors_for_neighbour(step.entries.anchors)
                    step = messages.Subscribe(step.entries._replace(anchors=moved))
                return hood.neighbours, step, sums
            case messages.Unsubscribe():
                table = self.routing.table
                self.routing = self.routing.with_table(selected(table, ~np.isin(table.ids, step.ids)))
                return hood.neighbours, step, sums
            case messages.Joined() | messages.Left():
                if isinstance(step, messages.Joined):
                    self.routing = self.routing.on(hood.with_edge(step.broker, step.parent))
                elif step.broker != self.me:
                    # Its last publications may still arrive.
                    self._left_beyond[step.broker] = hood.next_hop(step.broker)
                    self.routing = self.routing.on(hood.without(step.broker))
                near = self.routing.hood.neighbours if step.hops < self.limits.radius else ()
                return tuple(v for v in near if v != step.broker), replace(step, hops=step.hops + 1), sums
            case messages.Initiate():
                self.change = Change.initiated(step, self.routing)
                self.routing, region = self.change.old, step.region
            case messages.Update() if self.change:
                self.routing = self.change.update(step)
                self.resumed += self.change.waiting
                self.change.waiting = []
            case messages.Drain() if self.change:
                old = self._processed_old[step.change]
                sums = self.change.counted(step, self._sent_to, self._processed_from, old)
            case messages.End() if self.change:
                self.routing, self.change = self.change.ended(), None
            case _:
                raise RuntimeError(f"broker {self.me} cannot apply {step}")
        return tuple(v for v in self.routing.hood.neighbours if v in region), step, sums

    def _advance(self, wave: OpenWave[Wave, Step] | None) -> Sends:
        """Confirm a step that is complete here and beyond, or take the next one where it began."""
        if wave is None:
            return []
        step = wave.step
        if wave.sender != NOWHERE:
            return [(wave.sender, messages.Confirm(wave.wave, *wave.sums))]
        match step:
            case messages.Joined():
                hood, table = self.routing.hood, self.routing.table
                moved = table._replace(anchors=hood.anchors_for_neighbour(table.anchors))
                return [(step.broker, messages.Welcome(hood.edges, moved))]
            case messages.Left():
                return self._finish("leave")
            case messages.Subscribe() | messages.Unsubscribe():
                self.outcomes.append("table")
                return [(COORDINATOR, messages.Release(self._tables.pop(wave.wave)))]
        if self._relocation is None:
            raise RuntimeError(f"broker {self.me} completes {step} of no move")
        following = self._relocation.following(step, wave.sums, self.routing)
        if following is None:
            self._relocation = None
            return self._finish("move")
        if following == step:
            return [(self.me, step)]
        return self._begin(following)
