"""One part of an instance, connected by Greedy Merge to the core that all parts of a level share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...heuristics.topics.greedy_merge import extend_greedily
from ...heuristics.topics.kernels.partial_overlay import PartialOverlay
from ...heuristics.topics.kernels.ties import TieOrder
from ...instances.contract.arrays import Ids, Offsets, entries_of
from ...instances.topics.instance import TopicInstance


class Subscriptions(NamedTuple):
    """Some nodes of an instance, sorted, with some of their topics, as CSR arrays."""

    nodes: npt.NDArray[np.int64]
    offsets: Offsets
    topics: Ids

    @classmethod
    def of(cls, batches: Iterable[pa.RecordBatch | pa.Table]) -> Subscriptions:
        """From batches in any order with columns ``id`` and ``topics``, the sorted topics of a node."""
        nodes, sizes, topics = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.int32)]
        for batch in batches:
            for column in batch["topics"].chunks if isinstance(batch, pa.Table) else (batch["topics"],):
                sizes.append(np.diff(column.offsets.to_numpy()).astype(np.int64))
                topics.append(column.flatten().to_numpy())
            nodes.append(batch["id"].to_numpy())
        offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
        given = cls(np.concatenate(nodes), offsets, np.concatenate(topics).astype(np.int32, copy=False))
        return given.taken(np.argsort(given.nodes, kind="stable"))

    def joined(self, other: Subscriptions) -> Subscriptions:
        """With the nodes of another, none of which is here. Cost O(Σ|T_v| + |V| log |V|)."""
        nodes = np.concatenate([self.nodes, other.nodes])
        offsets = np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]])
        both = Subscriptions(nodes, offsets, np.concatenate([self.topics, other.topics]))
        return both.taken(np.argsort(nodes, kind="stable"))

    def taken(self, rows: npt.NDArray[np.integer]) -> Subscriptions:
        """The nodes of the given rows, in their order. Cost O(Σ|T_v|) of these nodes."""
        offsets, at = entries_of(self.offsets, rows)
        return Subscriptions(self.nodes[rows], offsets, self.topics[at])

    def only(self, wanted: npt.NDArray[np.bool_]) -> Subscriptions:
        """Without the topics that are not wanted, and without nodes that have no other. `wanted` has a flag a topic."""
        kept = wanted[self.topics]
        offsets = np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        some = np.flatnonzero(np.diff(offsets))
        return Subscriptions(self.nodes[some], np.append(offsets[some], offsets[-1]), self.topics[kept])


def conquer(part: Subscriptions, core: Subscriptions, order: TieOrder) -> npt.NDArray[np.int64]:
    """The edges that connect each topic of a part within the part and with the core.

    Parameters
    ----------
    part : Subscriptions
        With at least one node.
    core : Subscriptions
        Other nodes, among which every topic is connected already; it may be empty.
    order : TieOrder

    Returns
    -------
    int64 array, shape (m, 2)
        Edges between nodes of the part, and between these and nodes of the core. With an empty core they are those
        of :func:`.greedy_merge`.

    Notes
    -----
    Greedy Merge (P1 §6.1) on the union of both, in which the core's subscribers of a topic start as one component (as
    the combine phase of P3, Algorithm 12, starts from the components of the parts). Topics that only the core has are
    left out. Memory about 70 bytes a subscription of both; time O(|part| · Σ_t |V_t|² ÷ |V|) for every value of
    the maximum contribution, with V and V_t those of the union.
    """
    wanted = np.zeros(1 + max(int(each.topics.max(initial=0)) for each in (part, core)), np.bool_)
    wanted[part.topics] = True
    core = core.only(wanted)
    number = (np.cumsum(wanted) - 1).astype(np.int32)
    union = part.joined(core)
    instance = TopicInstance(union.offsets, number[union.topics])
    overlay = PartialOverlay(instance, order)
    if len(core.nodes):
        of_core = np.repeat(np.isin(union.nodes, core.nodes), np.diff(union.offsets))
        connected = np.where(of_core, instance.node_topics, np.int32(-1))
        overlay.start_from(connected, np.zeros(instance.num_nodes, np.int32), 0)
    extend_greedily(overlay)
    return np.stack([union.nodes[end] for end in np.divmod(overlay.edges, instance.num_nodes)], axis=1)
