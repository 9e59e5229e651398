"""Candidates of local search from a split of costs among the nearest pairs."""

from __future__ import annotations

from functools import cache

import numpy as np

from ....heuristics.topics.greedy_merge import greedy_merge
from ....heuristics.topics.heuristic import trial_instance
from ....heuristics.topics.local_search.nearest import nearest_pairs
from ....heuristics.topics.local_search.overlay_search import candidate_lists, priced_weights
from ....heuristics.topics.local_search.search_workspace import CandidateLists, Keys
from ....heuristics.topics.polish import searches_in_parts
from ....instances.clock import Clock
from ....instances.overlay import Overlay
from ....instances.topics.instance import TopicInstance
from ..bounds.certificate import MOST_PROVEN
from ..bounds.cost_splitting import split_costs
from ..cuts.cutting_planes import keys_of
from ..rows.candidate_edges import CandidateEdges
from .weighted_greedy import weighted_greedy

_ROUNDS = 600
_MOST_LINKS = 20_000_000
_MOST_BUILT = 3_000_000_000
_USED = 0.02


def guided_candidates(
    instance: TopicInstance, start: Overlay, clock: Clock, *, weighted: bool = False
) -> tuple[CandidateLists | None, list[Overlay]]:
    """The edges that an approximate LP solution uses, as candidates of local search, and an overlay built along it.

    A fifth of the time goes into cost splitting among each node's nearest. If these pairs have more than 20,000,000
    topics in common, all of them are candidates; the overlay is built if there is time. Where overlays are searched in
    parts, which find their own candidates, there is neither.
    """
    if searches_in_parts(instance.num_nodes, "cost" if weighted else "edges"):
        return None, []
    edges = _with(nearest_pairs(instance, by_cost=weighted), start)
    target = float(instance.total_cost(start.edges) if weighted else start.num_edges)
    if CandidateEdges(instance, edges).common.sum() > _MOST_LINKS or clock.passed or target >= MOST_PROVEN:
        return candidate_lists(instance, edges, priced_weights(instance, edges) if weighted else None), []
    splitting = split_costs(instance, target, clock.share(0.2), rounds=_ROUNDS, among=edges, weighted=weighted)
    used = splitting.usage > _USED
    kept = CandidateEdges(instance, _with(edges[used], start))
    usage = splitting.usage[np.searchsorted(edges, kept.keys)]
    overlays = []
    if len(kept) * start.num_edges < _MOST_BUILT and not clock.passed:
        worth = (usage + 0.01) / (instance.edge_costs(kept.u, kept.v) if weighted else 1)
        overlays.append(weighted_greedy(kept, worth, cap=instance.num_nodes, overload=0.0, seed=0))
    preferred = (0.9 + 0.1 * np.minimum(usage, 1.0)).astype(np.float32)
    if weighted:
        preferred *= priced_weights(instance, kept.keys)
    return candidate_lists(instance, kept.keys, preferred), overlays


def _with(keys: Keys, overlay: Overlay) -> Keys:
    return np.union1d(keys, keys_of(overlay))


@cache
def warm_up() -> None:
    """Compile the kernels of :func:`guided_candidates`."""
    small = trial_instance()
    for weighted in (False, True):
        guided_candidates(small, greedy_merge(small), Clock(None), weighted=weighted)
