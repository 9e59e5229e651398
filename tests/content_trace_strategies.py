"""Small random content traces for hypothesis, and their users and brokers after every time, replayed naively."""

from collections.abc import Iterator
from random import Random
from typing import Any

from hypothesis import strategies as st

import overlaybench as ob
from tests.content_strategies import content_instances

Drawn = tuple[ob.ContentInstance, list[ob.ContentEvent], list[str]]
User = tuple[list[float], set[int]]


@st.composite
def content_events(
    draw: st.DrawFn, max_events: int = 12, tight: bool = False, max_users: int = 5, max_channels: int = 3
) -> Drawn:
    """Users, events that follow from each other, some simultaneous, and absent users; broker b0 never fails."""
    instance = draw(content_instances(tight=tight, max_users=max_users, max_channels=max_channels))
    users, brokers, channels = (
        [f"{of}{k}" for k in range(count)]
        for of, count in zip("ubc", (instance.num_users, instance.num_brokers, instance.num_channels), strict=True)
    )
    wanted = {f"u{u}": {f"c{c}" for c in instance.subscriptions[u].nonzero()[0]} for u in range(instance.num_users)}
    absent = draw(st.lists(st.sampled_from(users), unique=True))
    present, down = {user: set(own) for user, own in wanted.items() if user not in absent}, set[str]()
    events, time, acted = list[ob.ContentEvent](), 1, set[str]()
    for _ in range(draw(st.integers(0, max_events))):
        if draw(st.booleans()):
            time, acted = time + draw(st.integers(1, 3)), set()
        if not (able := [one for one in (*users, *brokers[1:]) if one not in acted]):
            continue
        who, channel = draw(st.sampled_from(able)), draw(st.sampled_from(channels))
        acted.add(who)
        if who in brokers:
            events.append(ob.ContentEvent(time, "broker-up" if who in down else "broker-down", broker=who))
            down ^= {who}
        elif who not in present:
            present[who] = set(wanted[who])
            events.append(ob.ContentEvent(time, "join", who))
        elif (what := draw(st.sampled_from(["leave", "rate", "change", "change"]))) == "leave":
            present.pop(who)
            events.append(ob.ContentEvent(time, "leave", who))
        elif what == "rate":
            events.append(ob.ContentEvent(time, "rate", who, channel=channel, rate=draw(st.integers(0, 5))))
        else:
            kind = "unsubscribe" if channel in present[who] else "subscribe"
            events.append(ob.ContentEvent(time, kind, who, channel=channel))
            present[who] ^= {channel}
    return instance, events, absent


def instance_of(*arrays: Any) -> ob.ContentInstance:
    """The instance of lists: access, core, capacities, rates, subscriptions."""
    return ob.ContentInstance(*arrays)


def trace_of(instance: ob.ContentInstance, events: list[ob.ContentEvent], absent: list[str]) -> ob.ContentTrace:
    return ob.ContentTrace.from_events(instance, events, absent=absent)


def content_traces(**most: Any) -> st.SearchStrategy[ob.ContentTrace]:
    """Any trace of at most this size."""
    return content_events(**most).map(lambda drawn: trace_of(*drawn))


def shuffled(events: list[ob.ContentEvent], random: Random) -> list[ob.ContentEvent]:
    """The events with simultaneous ones in another order."""
    return sorted(random.sample(events, len(events)), key=lambda event: event.time)


def states_over_time(
    instance: ob.ContentInstance, events: list[ob.ContentEvent], absent: list[str]
) -> Iterator[tuple[dict[str, User], set[str]]]:
    """Users (rates and channels) and brokers that are up, at the start and after each time of events."""

    def joined(user: str) -> User:
        return instance.rates[int(user[1:])].tolist(), {*instance.subscriptions[int(user[1:])].nonzero()[0].tolist()}

    users = {f"u{u}": joined(f"u{u}") for u in range(instance.num_users) if f"u{u}" not in absent}
    up = {f"b{b}" for b in range(instance.num_brokers)}
    for time in [0.0, *sorted({event.time for event in events})]:
        for event in (event for event in events if event.time == time):
            channel = int(event.channel[1:] or 0)
            if event.broker:
                up = up ^ {event.broker}
            elif event.event == "join":
                users[event.user] = joined(event.user)
            elif event.event == "leave":
                users.pop(event.user)
            elif event.event == "rate":
                users[event.user][0][channel] = event.rate
            else:
                rates, wanted = users[event.user]
                users[event.user] = rates, wanted ^ {channel}
        yield {user: (list(own[0]), own[1]) for user, own in users.items()}, up
