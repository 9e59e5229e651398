"""Small random traces for hypothesis, and the snapshots of a trace and a log by replaying them naively."""

from collections.abc import Iterator

import networkx as nx
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.instances.contract.time_units import SECOND

Subscriptions = dict[str, set[str]]


@st.composite
def event_lists(
    draw: st.DrawFn, *, max_nodes: int = 6, max_topics: int = 4, max_events: int = 12
) -> tuple[dict[str, list[str]], list[ob.Event]]:
    """The subscriptions at the start and events that follow from each other, some of them simultaneous."""
    nodes = [f"n{v}" for v in range(draw(st.integers(1, max_nodes)))]
    topics = [f"t{t}" for t in range(draw(st.integers(1, max_topics)))]
    some = st.sets(st.sampled_from(topics), max_size=len(topics))
    held = {v: draw(some) for v in nodes if draw(st.booleans())}
    held.setdefault(nodes[0], set()).add(topics[0])
    start = {v: sorted(own) for v, own in held.items()}
    events, time, acted = list[ob.Event](), 1, set[str]()
    for _ in range(draw(st.integers(0, max_events))):
        if draw(st.booleans()):
            time, acted = time + draw(st.integers(1, 3)), set()
        if not (able := [v for v in nodes if v not in acted]):
            continue
        v = draw(st.sampled_from(able))
        acted.add(v)
        own = held.get(v)
        if own is None:
            held[v] = draw(some)
            events.append(ob.Event(time, "join", v, sorted(held[v])))
            continue
        what = draw(st.sampled_from(["leave", "crash", "subscribe", "unsubscribe"]))
        choice = sorted(own if what == "unsubscribe" else set(topics) - own)
        if what in ("leave", "crash"):
            held.pop(v)
            events.append(ob.Event(time, what, v))
        elif choice:
            given = draw(st.sets(st.sampled_from(choice), min_size=1))
            own ^= given
            events.append(ob.Event(time, what, v, sorted(given)))
    return start, events


def traces(**most: int) -> st.SearchStrategy[ob.TopicTrace]:
    """Any trace of at most this size."""
    return event_lists(**most).map(lambda drawn: ob.TopicTrace.from_events(*drawn))


def held_over_time(start: dict[str, list[str]], events: list[ob.Event]) -> Iterator[tuple[float, Subscriptions]]:
    """The subscriptions of present nodes after the start and after each time of events."""
    held = {v: set(own) for v, own in start.items()}
    yield 0, {v: set(own) for v, own in held.items()}
    for time in sorted({event.time for event in events}):
        for event in (event for event in events if event.time == time):
            if event.what == "join":
                held[event.node] = set(event.topics)
            elif event.what in ("leave", "crash"):
                held.pop(event.node)
            else:
                held[event.node] ^= set(event.topics)
        yield time, {v: set(own) for v, own in held.items()}


def links_over_time(trace: ob.TopicTrace, log: ob.LinkLog, times: list[float]) -> Iterator[set[tuple[str, str]]]:
    """The links after the changes of each time; those of nodes that leave vanish before them."""
    links, before = set[tuple[str, str]](), -1
    for time in times:
        until = round(time * SECOND)
        gone = {trace.node_label(v) for at, v in trace.departures() if before < at <= until}
        links = {link for link in links if not gone & set(link)}
        for when, (u, v), added in zip(log.times.tolist(), log.links.tolist(), log.added.tolist(), strict=True):
            if before < when <= until:
                link = trace.node_label(u), trace.node_label(v)
                assert (link in links) != bool(added)
                links = links | {link} if added else links - {link}
        before = until
        yield set(links)


def parts(held: Subscriptions, links: set[tuple[str, str]], topic: str) -> list[set[str]]:
    """The components of a topic."""
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(v for v, own in held.items() if topic in own)
    graph.add_edges_from(link for link in links if set(link) <= set(graph))
    return list(nx.connected_components(graph))
