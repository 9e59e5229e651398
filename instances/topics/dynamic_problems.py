"""The problem on traces: an overlay that stays topic-connected while its subscriptions change."""

from __future__ import annotations

from typing import Any

from ..contract.problem import Problem, stated_limits
from ..contract.timed import SECOND
from .link_log import LinkLog
from .timeline import Timeline, timeline
from .trace import TopicTrace

_FAMILY = "dynamic-tco"


class DynamicTCO(Problem[TopicTrace, LinkLog]):
    """Keep every topic connected while nodes join, leave and change their interests, with few links and changes.

    The value is the number of links, summed over the snapshots of the trace (the start, and each time of events, once
    the overlay is repaired), plus `change_cost` for each link added or removed after the start. Upkeep (heartbeats, the
    state of a link) grows with the first, connection set-up and lost messages with the second. The first overlay is
    free, and so are the links that vanish with a node.

    A topic may be disconnected only in the `delay` seconds after its subscribers have changed; a link may never join
    nodes without a common topic. Both numbers stand in the name: ``dynamic-tco@change-cost=2@delay=0.5``.
    """

    kind, default_method = "trace", "snapshot-optima"
    source = "wished for in P1 §10 and P2 §7; its terms: docs/traces.md"

    def __init__(self, change_cost: int = 0, delay: float = 0.0) -> None:
        self.change_cost, self.delay = change_cost, delay
        limits = f"@change-cost={change_cost}" if change_cost else ""
        self.name = f"{_FAMILY}{limits}" + (f"@delay={delay:g}" if delay else "")
        self.summary = "links over time" + (f" and {change_cost} a change" if change_cost else "")
        self.summary += ", topics always connected" if not delay else f", topics disconnected for at most {delay:g} s"

    def variant(self, name: str) -> DynamicTCO:
        form = "dynamic-tco@change-cost=NUMBER@delay=SECONDS, or one of the two, the first one a whole number"
        given = stated_limits(name, name.split("@")[1:], {"change-cost": 1_000_000, "delay": 1e9}, form)
        return DynamicTCO(int(given.get("change-cost", 0)), given.get("delay", 0.0))

    @property
    def free(self) -> DynamicTCO:
        return DynamicTCO(0, self.delay)

    def timeline(self, instance: TopicTrace, answer: LinkLog) -> Timeline:
        return timeline(instance, answer, round(self.delay * SECOND))

    def value(self, instance: TopicTrace, answer: LinkLog) -> float:
        """Links summed over the snapshots, plus the cost of changes."""
        seen = self.timeline(instance, answer)
        return int(seen.links[seen.steps].sum()) + self.change_cost * seen.changes

    def violations(self, instance: TopicTrace, answer: LinkLog) -> list[str]:
        return list(self.timeline(instance, answer).violations)

    def measures(self, instance: TopicTrace, answer: LinkLog) -> dict[str, float]:
        """Mean links of a snapshot, largest degree, changes an event, subscriber-seconds disconnected, link-seconds."""
        seen = self.timeline(instance, answer)
        return {
            "edges": float(seen.links[seen.steps].mean()),
            "max_degree": int(seen.max_degrees.max()),
            "recourse": seen.changes / max(1, instance.num_events),
            "disconnected_seconds": seen.integral(seen.disconnected),
            "link_seconds": seen.integral(seen.links),
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return DynamicTCO, (self.change_cost, self.delay)


DYNAMIC_PROBLEMS: tuple[DynamicTCO, ...] = (DynamicTCO(),)
