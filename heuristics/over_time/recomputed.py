"""Methods that compute the overlay of a trace anew at every event: the yardstick of links.

Examples
--------
>>> import overlaybench as ob
>>> trace = ob.generate("churn", nodes=6, topics=3, subscriptions=2, events=5, seed=1)
>>> ob.solve(trace, "dynamic-tco", "gm-recomputed").value
42
>>> ob.solve(trace, "dynamic-tco", "rings").value
64
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...instances.contract.method import Proposal
from ...instances.contract.overlay import Overlay
from ...instances.over_time.link_log import LinkLog
from ...instances.over_time.trace import TopicTrace
from ...instances.runtime.run import Clock
from ...instances.topics.instance import TopicInstance
from ..topics.greedy_merge import greedy_merge
from ..topics.ring_per_topic import ORDER, ring_per_topic
from ..topics.tie_breaking.ties import TIES
from .trace_method import trace_method


def recomputed(trace: TopicTrace, build: Callable[[TopicInstance], Overlay], clock: Clock) -> LinkLog:
    """The log of the overlays that `build` makes of the snapshots; OutOfTime if the clock passes before the last."""

    def overlays() -> list[Overlay]:
        made = []
        for instance in trace.snapshots():
            clock.check()
            made.append(Overlay.from_edges(trace.num_nodes, []) if instance is None else build(instance))
        return made

    return LinkLog.from_overlays(trace, overlays())


def _again(build: Callable[..., Overlay], trace: TopicTrace, *, clock: Clock, **given: Any) -> Proposal[LinkLog]:
    return Proposal(recomputed(trace, partial(build, **given), clock))


GM_RECOMPUTED = trace_method(
    "gm-recomputed",
    partial(_again, greedy_merge),
    TIES,
    summary="Greedy Merge from scratch at every event",
    source="P1 §6.1",
    guarantee="every snapshot with Σ|T_v| ≥ 3 has at most ln(Σ|T_v|) times the fewest links; nothing is proven of the "
    "changes",
    cost="that of gm for every step",
)

RINGS = trace_method(
    "rings",
    partial(_again, ring_per_topic),
    ORDER,
    summary="a ring on the subscribers of each topic, into which nodes join",
    source="P1 §8.3",
    guarantee="a change of one subscription changes at most 3 links of the topic's ring",
    cost="O(Σ|T_v| log Σ|T_v|) for every step",
)
