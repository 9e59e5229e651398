"""Repair of an earlier overlay for the subscriptions of today: Greedy Merge of what they leave apart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....instances.contract.arrays import connected_components
from ....instances.contract.overlay import Overlay
from ....instances.topics.instance import TopicInstance
from ..greedy_merge import extend_greedily
from ..kernels.partial_overlay import PartialOverlay
from ..tie_breaking.ties import LOWEST, TieOrder
from .linked_overlay import without_redundant


def repaired(instance: TopicInstance, earlier: Overlay, passed: Callable[[], bool] = lambda: False) -> Overlay:
    """A topic-connected overlay with most edges of an earlier one, which any edges between the nodes may be.

    Edges between nodes without a common topic go. Greedy Merge (P1 §6.1) then joins the components that are left, and
    edges that are redundant go, new ones first, until the time has `passed`. Time and memory of :func:`.greedy_merge`,
    of which little is left to do where most topics are connected, and of :func:`.without_redundant`.
    """
    links, n = earlier.topic_links(instance), instance.num_nodes
    owners = np.repeat(np.arange(n, dtype=np.int32), np.diff(instance.node_offsets))
    kept = Overlay.from_edges(n, np.stack([owners[end] for end in links], axis=1))
    partial = PartialOverlay(instance, TieOrder(LOWEST, 0))
    parts = connected_components(instance.num_subscriptions, *links).astype(np.int32)
    partial.start_from(parts, kept.degrees.astype(np.int32), kept.max_degree)
    extend_greedily(partial)
    new = np.arange(kept.num_edges + len(partial.edges)) >= kept.num_edges
    keys = np.concatenate([kept.edges.astype(np.int64) @ [n, 1], partial.edges])
    joined = Overlay.from_edges(n, np.stack(np.divmod(keys, n), axis=1))
    order = np.argsort(~new[np.argsort(keys)], kind="stable")
    return without_redundant(instance, joined, order, passed)
