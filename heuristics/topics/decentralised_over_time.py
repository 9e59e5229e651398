"""The decentralised scheme of P3 §IV.D on a trace: after each step nodes send what changed, and compute again.

Examples
--------
>>> import overlaybench as ob
>>> trace = ob.generate("churn", nodes=6, topics=3, subscriptions=2, events=5, seed=1)
>>> ob.solve(trace, "dynamic-tco", "dcbr-m-decentralised").value
43
"""

from __future__ import annotations

import numpy as np

from ...instances.contract.method import Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.run import Clock
from ...instances.topics.instance import TopicInstance
from ...instances.topics.link_log import LinkLog
from ...instances.topics.trace import TopicTrace
from .decentralised import Heard, Round, decentralised, drawn_parts
from .divide_and_conquer import BULK, COVERAGE, Partition, bulk_threshold
from .gm_m import extend_gm_m
from .heuristic import trace_method
from .kernels.ties import TIES, tie_order
from .recomputed import recomputed


def decentralised_over_time(
    trace: TopicTrace, num_parts: int, coverage: int, *, ties: str = "lowest", seed: int = 0, clock: Clock | None = None
) -> tuple[LinkLog, list[list[Round]]]:
    """The log of :func:`.decentralised` after each step, and the messages of each snapshot that has subscriptions.

    A node draws its part once; η is that of the first such snapshot, so that a node becomes bulk as it gains topics. A
    message is sent only if its content changed. A node that left has forgotten all, and others what it had sent; the
    message by which the directory learns of a departure is not counted. OutOfTime is raised as in :func:`.recomputed`.

    Cost: that of the static scheme for each step, and memory for the last message between any two nodes of a part, or
    of the combine phase.
    """
    order = tie_order(ties, seed)
    drawn, parts = np.unique(drawn_parts(trace.num_nodes, num_parts, seed), return_inverse=True)
    eta = next((bulk_threshold(each) for each in trace.snapshots() if each is not None), 1)
    heard, rounds, before = Heard(), list[list[Round]](), np.zeros(trace.num_nodes, np.bool_)

    def build(instance: TopicInstance) -> Overlay:
        nonlocal before
        sizes = np.diff(instance.node_offsets)
        gone, before = before & (sizes == 0), sizes > 0
        if gone.any():
            for key in [key for key in heard if gone[list(key[1])].any()]:
                del heard[key]
        partition = Partition(np.where(sizes > eta, BULK, parts).astype(np.int32), len(drawn))
        found = decentralised(instance, partition, coverage, extend_gm_m, order, heard=heard)
        rounds.append(list(found.rounds))
        return found.overlay

    return recomputed(trace, build, Clock(None) if clock is None else clock), rounds


def _solve(
    trace: TopicTrace, *, seed: int, clock: Clock, partitions: int, coverage: int, ties: str
) -> Proposal[LinkLog]:
    log, rounds = decentralised_over_time(trace, partitions, coverage, ties=ties, seed=seed, clock=clock)
    sent = [sum(one.messages for one in each) for each in rounds]
    counters = {
        "messages": sum(sent),
        "messages_at_start": sum(sent[:1]),
        "messages_an_event": sum(sent[1:]) / max(1, trace.num_events),
        "entries": sum(one.entries for each in rounds for one in each),
    }
    return Proposal(log, counters=counters)


DECENTRALISED = trace_method(
    "dcbr-m-decentralised",
    _solve,
    Option("partitions", 4, "parts, of which every node draws one", least=1, most=2**31 - 1),
    COVERAGE,
    TIES,
    summary="DCBR-M by nodes that know their part only and send each other what changed; messages are counted",
    source="P3 §IV.D",
    guarantee="every snapshot has the overlay of dcbr-m with the same parts; nothing is proven of the changes",
    cost="that of dcbr-m on each part and on bulk nodes and representatives, for every step",
    random=True,
    colour="#332288",
    marker="p",
)
