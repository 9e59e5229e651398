"""A broker as an actor: messages in, messages out, and no reference to anything but its own state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ....instances.contract.arrays import Ids
from ..kernels.forwarding import NOWHERE
from .messages import (
    NEW,
    OLD,
    Ask,
    AskMap,
    Confirm,
    Drain,
    End,
    Entries,
    Grant,
    Initiate,
    Join,
    Joined,
    Left,
    Loads,
    Message,
    Ping,
    Pong,
    Publication,
    Release,
    Sends,
    ShowMap,
    Spread,
    Step,
    Subscribe,
    Unsubscribe,
    Update,
    Wave,
    Welcome,
)
from .messages import Confirm as Confirmation
from .routing import Limits, Neighbourhood, Profile, Routing, anchors_for_neighbour, edge, no_entries, removed
from .tree_changes import REFUSED, Change, Relocation

COORDINATOR = -2
View = tuple[int, int] | None


@dataclass(eq=False)
class Broker:
    """One broker. A method takes what happened to it and returns the messages that it sends.

    Parameters
    ----------
    me : int
    limits : Limits
    attributes : int
        The number of attributes of publications.

    Attributes
    ----------
    routing : Routing
        Maps, tables and links; during a change of the tree, those of the current view.
    profile : Profile
    change : Change, optional
        The change of the tree that affects it.
    kept : mapping of broker to list of publications
        The brokers that do not answer, and the copies kept for them.
    resumed : list of (sender, publication)
        Copies that waited for a new view and can be processed now.
    outcomes : list of str
        What it asked the coordinator for, once that is complete or refused: "move", "move refused".
    """

    me: int
    limits: Limits
    attributes: int
    routing: Routing = field(init=False)
    profile: Profile = field(default_factory=Profile)
    change: Change | None = None
    kept: dict[int, list[Publication]] = field(default_factory=dict)
    resumed: list[tuple[int, Publication]] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        hood = Neighbourhood(self.me, (), self.limits.radius)
        self.routing = Routing(hood, no_entries(self.attributes), {}, self.limits)
        self._waves = Waves(self.me)
        self._asked: dict[int, Entries | Ids | int] = {}
        self._tokens = 0
        self._granted: dict[str, int] = {}
        self._early: list[tuple[int, Publication]] = []
        self._relocation: Relocation | None = None
        self._left_beyond: dict[int, int] = {}
        self._sent_to: Counter[int] = Counter()
        self._processed_from: Counter[int] = Counter()
        self._processed_old: Counter[int] = Counter()

    def remember(self, former: Broker) -> None:
        """Go on with the counts that this broker had when it left, so that those of others agree with them."""
        self._waves, self._tokens = former._waves, former._tokens
        self._sent_to, self._processed_from = former._sent_to, former._processed_from

    # What its operator and its clients want.

    def subscribe(self, entries: Entries) -> Sends:
        """Issue subscriptions of local clients."""
        return self._ask("table", entries)

    def unsubscribe(self, ids: Ids) -> Sends:
        """End subscriptions of local clients."""
        return self._ask("table", ids)

    def join(self, parent: int) -> Sends:
        """Join the network at a broker."""
        return self._ask("join", parent, (parent,))

    def leave(self) -> Sends:
        """Leave the network, from its edge and without subscriptions."""
        return self._ask("leave", 0, self.routing.hood.neighbours[:1])

    def move(self, old: int, new: int) -> Sends:
        """Replace a primary neighbour by another one."""
        return self._ask("move", new, (old, new))

    def _ask(self, what: str, about: Entries | Ids | int, path: tuple[int, ...] = ()) -> Sends:
        self._tokens += 1
        self._asked[self._tokens] = about
        return [(COORDINATOR, Ask(what, self._tokens, path))]

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

        Returns
        -------
        (int, list of messages) or None
            The number of matching local subscriptions, and the copies; None if it waits for the new view of the tree
            or, at a broker that joins, for its first map.
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
        local = routing.match(publication.values)[0]
        if publication.served:
            routing.leave_out(publication.values, publication.served)
        copy = publication if publication.view == view else replace(publication, view=view)
        sends: Sends = []
        for end in routing.targets(self._still_there(sender, routing), now):
            sends += self._copy(end, copy, routing)
        if publication.view and publication.view[1] == OLD:
            self._processed_old[number] += 1
        else:
            self._processed_from[sender] += 1
        return local, sends

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

    def _copy(self, end: int, copy: Publication, routing: Routing) -> Sends:
        """A copy to a broker, or past it if it does not answer."""
        if end in self.kept:
            return self._bypass(end, copy, routing)
        return [(end, self._counted(end, copy))]

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
        routing.match(copy.values)
        if copy.served:
            routing.leave_out(copy.values, copy.served)
        now, later = routing.bypass(via, self.kept)
        for end, served in later.items():
            self.kept[end].append(self._counted(end, replace(copy, served=copy.served | served)))
        return [(end, self._counted(end, copy)) for end in now]

    def missed(self, end: int, copy: Publication) -> None:
        """A broker has left before it got a copy, which nobody needs there."""
        self._count(end, copy.view, -1)

    def answers(self, end: int) -> Sends:
        """A broker answers again: it gets what was kept for it."""
        return [(end, copy) for copy in self.kept.pop(end, [])]

    # Control messages.

    def receive(self, sender: int, message: Message, now: int) -> Sends:
        """Take a control message."""
        match message:
            case Spread():
                return self._spread(message.wave, message.step, sender)
            case Confirmation():
                return self._advance(self._waves.confirmed(message, sender))
            case Loads():
                self.profile.heard(message)
            case Ping():
                return [(sender, Pong(message.sent_at))]
            case Pong():
                self.profile.round_trips[edge(self.me, sender)] = now - message.sent_at
            case Grant():
                return self._start(message)
            case Join():
                return self._begin(Joined(sender, self.me, 1))
            case Welcome():
                self._welcomed(message)
                return self._finish("join")
            case AskMap():
                table = self.routing.table
                anchors = dict(zip(table.ids.tolist(), table.anchors.tolist(), strict=True))
                return [(sender, ShowMap(self.routing.hood.edges, anchors))]
            case ShowMap() if self._relocation:
                self._relocation.shown = message
                return self._begin(self._relocation.first(self.me))
            case Drain():
                return self._begin(message)
            case _:
                raise RuntimeError(f"broker {self.me} cannot take {message} from {sender}")
        return []

    def _start(self, grant: Grant) -> Sends:
        about = self._asked.pop(grant.token)
        if grant.change == REFUSED:
            self.outcomes.append(f"{grant.what} refused")
            return []
        if isinstance(about, Entries):
            return self._begin(Subscribe(about), grant.change)
        if not isinstance(about, int):
            return self._begin(Unsubscribe(about), grant.change)
        if grant.what == "move":
            self._relocation = Relocation(grant.change, grant.path, grant.region)
        self._granted[grant.what] = grant.change
        if grant.what == "leave":
            return self._begin(Left(self.me, 0))
        return [(about, Join() if grant.what == "join" else AskMap())]

    def _begin(self, step: Step, change: int = REFUSED) -> Sends:
        return self._spread(self._waves.new(change), step, NOWHERE)

    def _finish(self, what: str) -> Sends:
        self.outcomes.append(what)
        return [(COORDINATOR, Release(self._granted.pop(what)))]

    def _welcomed(self, message: Welcome) -> None:
        hood = Neighbourhood(self.me, message.edges | self.routing.hood.edges, self.limits.radius)
        self.routing = self.routing.with_more(message.entries).on(hood)
        self.resumed += self._early
        self._early = []

    # Waves.

    def _spread(self, wave: tuple[int, int], step: Step, sender: int) -> Sends:
        onward, passed, sums = self._apply(step)
        ends = [v for v in onward if v != sender]
        sends: Sends = [(v, Spread(wave, passed)) for v in ends]
        sends += self._advance(self._waves.opened(wave, step, sender, ends, sums))
        if isinstance(step, Left) and step.broker != self.me:
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
            case Subscribe():
                self.routing = self.routing.with_more(step.entries)
                if not hood.neighbours:
                    return (), step, sums
                moved = step.entries._replace(anchors=anchors_for_neighbour(step.entries.anchors, hood))
                return hood.neighbours, Subscribe(moved), sums
            case Unsubscribe():
                self.routing = self.routing.with_table(removed(self.routing.table, step.ids))
                return hood.neighbours, step, sums
            case Joined():
                self.routing = self.routing.on(hood.with_edge(step.broker, step.parent))
                return self._within_radius(step), replace(step, hops=step.hops + 1), sums
            case Left():
                if step.broker != self.me:
                    # Its last publications may still arrive.
                    self._left_beyond[step.broker] = hood.next_hop(step.broker)
                    self.routing = self.routing.on(hood.without(step.broker))
                return self._within_radius(step), replace(step, hops=step.hops + 1), sums
            case Initiate():
                self.change = Change.initiated(step, self.routing)
                self.routing, region = self.change.old, step.region
            case Update() if self.change:
                self.change.update(step)
                if self.change.new:
                    self.routing = self.change.new
                self.resumed += self.change.waiting
                self.change.waiting = []
            case Drain() if self.change:
                old = self._processed_old[step.change]
                sums = self.change.counted(step, self._sent_to, self._processed_from, old)
            case End() if self.change:
                self.routing, self.change = self.change.ended(), None
            case _:
                raise RuntimeError(f"broker {self.me} cannot apply {step}")
        return tuple(v for v in self.routing.hood.neighbours if v in region), step, sums

    def _within_radius(self, step: Joined | Left) -> tuple[int, ...]:
        near = self.routing.hood.neighbours if step.hops < self.limits.radius else ()
        return tuple(v for v in near if v != step.broker)

    def _advance(self, wave: OpenWave | None) -> Sends:
        """Confirm a step that is complete here and beyond, or take the next one where it began."""
        if wave is None:
            return []
        if wave.sender != NOWHERE:
            return [(wave.sender, Confirmation(wave.wave, *wave.sums))]
        step = wave.step
        if isinstance(step, Joined):
            return [(step.broker, self._welcome())]
        if isinstance(step, Left):
            return self._finish("leave")
        if isinstance(step, Subscribe | Unsubscribe):
            self.outcomes.append("table")
            return [(COORDINATOR, Release(wave.change))]
        if self._relocation is None:
            raise RuntimeError(f"broker {self.me} completes {step} of no move")
        following = self._relocation.following(step, wave.sums, self.routing)
        if following is None:
            self._relocation = None
            return self._finish("move")
        if isinstance(following, Drain) and following == step:
            return [(self.me, following)]
        return self._begin(following)

    def _welcome(self) -> Welcome:
        hood, table = self.routing.hood, self.routing.table
        return Welcome(hood.edges, table._replace(anchors=anchors_for_neighbour(table.anchors, hood)))


@dataclass
class OpenWave:
    """A step at one broker.

    Attributes
    ----------
    wave : (broker, number)
        Where it began, and its number there.
    change : int
        The grant that it belongs to, at the broker where it began.
    sender : int
        From whom the step came.
    awaited : set of int
        Brokers to whom it was passed and who have not confirmed it.
    sums : (int, int)
        The counts of a drain, here and in all confirmations.
    """

    wave: Wave
    change: int
    step: Step
    sender: int
    awaited: set[int]
    sums: tuple[int, int]


class Waves:
    """The waves at one broker."""

    def __init__(self, me: int) -> None:
        self._me, self._number = me, 0
        self._changes: dict[Wave, int] = {}
        self._open: dict[Wave, OpenWave] = {}

    def new(self, change: int) -> Wave:
        """The name of a wave that begins here."""
        self._number += 1
        self._changes[self._me, self._number] = change
        return self._me, self._number

    def opened(
        self, wave: Wave, step: Step, sender: int, passed_to: Iterable[int], sums: tuple[int, int]
    ) -> OpenWave | None:
        """Note a step that was passed on; return it if it is complete already."""
        self._open[wave] = OpenWave(wave, self._changes.pop(wave, -1), step, sender, set(passed_to), sums)
        return self._if_complete(wave)

    def confirmed(self, message: Confirm, sender: int) -> OpenWave | None:
        """Note a confirmation; return the wave if it is complete now."""
        if (wave := self._open.get(message.wave)) is None:
            return None
        wave.awaited.discard(sender)
        wave.sums = (wave.sums[0] + message.sent, wave.sums[1] + message.processed)
        return self._if_complete(message.wave)

    def forget(self, broker: int) -> list[OpenWave]:
        """Await nothing of a broker that has left; return the waves that are complete now."""
        for wave in self._open.values():
            wave.awaited.discard(broker)
        return [done for wave in list(self._open) if (done := self._if_complete(wave))]

    def _if_complete(self, wave: Wave) -> OpenWave | None:
        return self._open.pop(wave) if not self._open[wave].awaited else None
