"""Local search from an overlay in several calls, each with its own parameters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....instances.contract.arrays import Ids, offsets_of
from ....instances.contract.overlay import Overlay
from ....instances.topics.instance import TopicInstance
from ..kernels.edge_costs import EdgeCosts, costs_of, unit_costs
from .linked_overlay import Subscriptions, edges_of, links_of, mark_all_bridges
from .nearest import nearest_pairs
from .ruin_and_recreate import drop_redundant, ruin_and_recreate
from .search_workspace import (
    COST,
    LEVELS_PER_UNIT,
    MOST_REMOVED,
    PRICED_LEVELS_PER_UNIT,
    CandidateLists,
    Keys,
    SearchParameters,
    Weights,
    count_degree_excess,
    reset,
    workspace,
)

MOST_STEPS = 500
_DROPS = 1000
_CHEAP = 0.2


def most_common_topics(subscriptions: Subscriptions) -> int:
    """No two nodes have more topics in common: those of three subscribers or more, and those of the two alone.

    A node with thousands of leaf nodes shares a topic of its own with each of them.
    """
    offsets, topics = subscriptions.node_offsets, subscriptions.node_topics
    sizes = np.bincount(topics)
    nodes, size = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), sizes[topics]
    shared = np.bincount(nodes[size > 2], minlength=1)
    alone = nodes[size == 2][np.argsort(topics[size == 2], kind="stable")].reshape(-1, 2)
    pairs, count = np.unique(alone @ [len(offsets), 1], return_counts=True)
    return int(shared.max() + (count.max() if len(pairs) else 0))


class OverlaySearch:
    """A local search by ruin and recreate from a topic-connected overlay.

    Parameters
    ----------
    costs : EdgeCosts, optional
        Of the edges, 1 each by default. Then candidates should have weights by cost (:func:`priced_weights`).

    Attributes
    ----------
    overlay : Overlay
        The best overlay that a call has kept, at first the one given.
    steps : int
        The number of steps so far.
    """

    def __init__(
        self,
        subscriptions: Subscriptions,
        overlay: Overlay,
        candidates: CandidateLists,
        seed: int,
        costs: EdgeCosts | None = None,
    ) -> None:
        self.overlay, self.candidates, self.steps = overlay, candidates, 0
        self._subscriptions = subscriptions
        width = int(np.diff(subscriptions.node_offsets).max())
        self._links = links_of(
            overlay,
            self._subscriptions,
            spare_edges=2 * MOST_REMOVED * width + overlay.num_edges // 4,
            spare_links=2 * MOST_REMOVED * width * most_common_topics(subscriptions) + overlay.num_edges,
        )
        paid = unit_costs(overlay.num_nodes) if costs is None else costs
        levels = LEVELS_PER_UNIT if costs is None else PRICED_LEVELS_PER_UNIT
        slots = len(self._links.members)
        self._space = workspace(self._subscriptions, candidates, slots, MOST_STEPS, seed, paid, levels)
        self._space.counts[COST] = costs_of(*_ends(overlay), paid).sum()
        mark_all_bridges(self._subscriptions, self._links, self._space.work)

    def drop_redundant(self, passed: Callable[[], bool] = lambda: False) -> None:
        """Drop redundant edges in random order, until the time has `passed`. Call it before :meth:`run`."""
        while self._links.counts[2] > 0 and not passed():
            drop_redundant(_DROPS, len(self._links.degrees), self._subscriptions, self._links, self._space)
            reset(self._space)
        self.overlay = self._overlay(edges_of(self._links))

    def run(self, parameters: SearchParameters, steps: int = MOST_STEPS, below: float = np.inf) -> float:
        """Take at most 500 steps from the current overlay.

        Returns the least cost of these steps; if it is below `below`, its overlay is kept.
        """
        before = edges_of(self._links)
        count_degree_excess(parameters.cap, self._links, self._space)
        cost, logged, taken = ruin_and_recreate(
            steps, parameters, self.candidates, self._subscriptions, self._links, self._space
        )
        self.steps += max(1, taken)
        if cost < below:
            changed, times = np.unique(self._space.log[:logged], return_counts=True)
            self.overlay = self._overlay(np.setxor1d(before, changed[times % 2 == 1], assume_unique=True))
        return float(cost)

    def _overlay(self, keys: Keys) -> Overlay:
        return Overlay.from_edges(len(self._links.degrees), np.stack(np.divmod(keys, len(self._links.degrees)), axis=1))


def _ends(overlay: Overlay) -> tuple[Ids, Ids]:
    return np.ascontiguousarray(overlay.edges[:, 0]), np.ascontiguousarray(overlay.edges[:, 1])


def priced_candidates(instance: TopicInstance, overlay: Overlay) -> CandidateLists:
    """Candidates by contribution ÷ cost: the nearest pairs by cost and the edges of an overlay, with their weights."""
    u, v = overlay.edges.astype(np.int64).T
    keys = np.union1d(nearest_pairs(instance, by_cost=True), u * overlay.num_nodes + v)
    return candidate_lists(instance, keys, priced_weights(instance, keys))


def priced_weights(instance: TopicInstance, keys: Keys) -> Weights:
    """Weights in (0, 1] in inverse proportion to costs; the cheapest fifth of the edges weighs 1."""
    costs = instance.edge_costs(*np.divmod(keys, instance.num_nodes))
    cheap = np.sort(costs)[int(_CHEAP * (len(costs) - 1))] if len(costs) else 1
    weights: Weights = np.minimum(1.0, cheap / costs).astype(np.float32)
    return weights


def candidate_lists(
    instance: TopicInstance, keys: Keys | None = None, weights: Weights | None = None
) -> CandidateLists:
    """Candidate edges, distinct numbers u·|V| + v, with weights in (0, 1]; by default nearest pairs of weight 1."""
    return lists_of(instance.num_nodes, nearest_pairs(instance) if keys is None else keys, weights)


def lists_of(n: int, keys: Keys, weights: Weights | None = None) -> CandidateLists:
    """The lists of `n` nodes; see :func:`candidate_lists`."""
    if weights is None:
        weights = np.ones(len(keys), np.float32)
    u, v = np.divmod(keys, n)
    ends, others, both = np.concatenate([u, v]), np.concatenate([v, u]), np.concatenate([weights, weights])
    order = np.lexsort((others, ends))
    offsets = offsets_of(ends, n)
    return CandidateLists(offsets, others[order].astype(np.int32), both[order].astype(np.float32))
