"""The coordinator of P5 §6: it grants changes of the primary tree so that no two affect the same broker at a time.

It is outside the brokers and knows the tree from what it granted. Beyond the paper, subscriptions and moves take turns:
a wave of subscriptions that crosses a broker before and another one after a move could miss the mover.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .messages import Ask, Edge, Grant, Release, Sends
from .neighbourhood import edge, links_by_end, paths_from, paths_over

REFUSED = -1


@dataclass(frozen=True)
class _Request:
    sender: int
    ask: Ask


@dataclass
class Coordinator:
    """Grants what brokers ask for, in the order asked unless a request waits for brokers that are affected already.

    Attributes
    ----------
    edges : set of (u, v)
        The primary tree after all that was granted.
    members : set of int
        The brokers in it.
    running : mapping
        What was granted and is not released, by number: what it is, and the brokers that it affects.
    """

    radius: int
    members: set[int]
    edges: set[Edge] = field(default_factory=set)
    running: dict[int, tuple[str, frozenset[int]]] = field(default_factory=dict)
    waiting: list[_Request] = field(default_factory=list)
    _granted: int = 0

    def receive(self, sender: int, message: Ask | Release) -> Sends:
        """Take a request, or the end of what was granted; return the grants that are now possible."""
        if isinstance(message, Release):
            del self.running[message.change]
        else:
            self.waiting.append(_Request(sender, message))
        sends: Sends = []
        kept, blocked = [], [*self.running.values()]
        ends = links_by_end(self.edges)
        for request in self.waiting:
            path = self._path(request)
            if path is None:
                sends.append((request.sender, Grant(request.ask.what, request.ask.token, REFUSED)))
                continue
            if not self._possible(request):
                kept.append(request)
                continue
            asked = (request.ask.what, self._affected(request, path, ends))
            if any(_conflict(asked, other) for other in blocked):
                kept.append(request)
            else:
                self._granted += 1
                self.running[self._granted] = asked
                region = asked[1] if request.ask.what == "move" else frozenset[int]()
                sends.append((request.sender, Grant(request.ask.what, request.ask.token, self._granted, path, region)))
                self._apply(request)
                ends = links_by_end(self.edges)
            blocked.append(asked)
        self.waiting = kept
        return sends

    def _possible(self, request: _Request) -> bool:
        """Whether it only waits for others: a broker can join only where the parent has joined."""
        return request.ask.what != "join" or request.ask.path[0] in self.members

    def _path(self, request: _Request) -> tuple[int, ...] | None:
        """The path that a grant names, or None for a request that the tree does not admit any more."""
        what, path, me = request.ask.what, request.ask.path, request.sender
        if what == "leave":
            return () if sum(me in each for each in self.edges) == 1 else None
        if what != "move":
            return ()
        old, new = path
        if edge(me, old) not in self.edges or new not in self.members:
            return None
        found = paths_from(old, self.edges - {edge(me, old)})
        if new not in found or not 1 <= found[new][1] < self.radius:
            return None
        back = [new]
        while back[-1] != old:
            back.append(found[back[-1]][0])
        return tuple(reversed(back))

    def _affected(self, request: _Request, path: tuple[int, ...], ends: Mapping[int, list[int]]) -> frozenset[int]:
        what, me = request.ask.what, request.sender
        if what == "table":
            return frozenset()
        near = path if what == "move" else request.ask.path
        return frozenset[int]().union(*(paths_over(start, ends, self.radius) for start in {me, *near}))

    def _apply(self, request: _Request) -> None:
        what, path, me = request.ask.what, request.ask.path, request.sender
        if what == "join":
            self.members.add(me)
            self.edges.add(edge(me, path[0]))
        elif what == "leave":
            self.members.discard(me)
            self.edges -= {each for each in self.edges if me in each}
        elif what == "move":
            self.edges = (self.edges - {edge(me, path[0])}) | {edge(me, path[1])}


def _conflict(one: tuple[str, frozenset[int]], other: tuple[str, frozenset[int]]) -> bool:
    tables = (one[0] == "table") + (other[0] == "table")
    if tables:
        return tables == 1 and "move" in (one[0], other[0])
    return not one[1].isdisjoint(other[1])
