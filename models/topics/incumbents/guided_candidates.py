"""Candidates of local search from a split of costs among the nearest pairs."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from ....heuristics.topics.greedy_merge import greedy_merge
from ....heuristics.topics.heuristic import trial_instance
from ....heuristics.topics.local_search.overlay_search import candidate_lists, nearest_pairs, priced_weights
from ....heuristics.topics.local_search.ruin_and_recreate import CandidateLists
from ....heuristics.topics.polish import searches_in_parts
from ....instances.contract.overlay import Overlay
from ....instances.contract.run import Clock, offer
from ....instances.topics.instance import TopicInstance
from ..bounds.certificate import MOST_PROVEN
from ..bounds.cost_splitting import Splitting
from ..bounds.priced_splitting import is_affordable, split_by_pricing
from ..bounds.priced_splitting import warm_up as warm_up_pricing
from ..rows.candidate_edges import keys_of
from .row_weighting import ENTRIES_A_STEP, RowWeighting, preferred
from .row_weighting import warm_up as warm_up_row_weighting
from .weighted_greedy import seconds_of_greedy, weighted_greedy

_ROUNDS, _FEW_ROUNDS = 2_000, 350  # few of a large instance without a time limit
_LONGEST_GREEDY = 30.0


def guided_candidates(
    instance: TopicInstance,
    start: Overlay,
    clock: Clock,
    *,
    weighted: bool = False,
    splitting: Splitting | None = None,
    steps: int | None = None,
    seed: int = 0,
) -> tuple[CandidateLists | None, list[Overlay]]:
    """The edges that an approximate LP solution uses, as candidates of local search, and overlays built along it.

    Unless there is a split of costs already, a fifth of the time goes into one where :func:`.is_affordable`; else each
    node's nearest are the candidates. The overlay is built if there is time. Where overlays are searched in parts,
    these find their own candidates.

    Parameters
    ----------
    steps : int, optional
        Only the number of edges matters: :class:`.RowWeighting` along the split improves the better overlay in half of
        the time that is left; without a time limit, for as long as so many steps of ruin and recreate take.
    seed : int
        Of this search.
    """
    in_parts = searches_in_parts(instance.num_nodes, "cost" if weighted else "edges")
    target = instance.total_cost(start.edges) if weighted else start.num_edges
    fifth = clock.share(0.2)
    if splitting is None and target < MOST_PROVEN and is_affordable(instance, fifth):
        rounds = _FEW_ROUNDS if in_parts and math.isinf(fifth.left) else _ROUNDS
        splitting = split_by_pricing(instance, start, fifth, rounds=rounds, weighted=weighted)
    if splitting is None:
        if in_parts:
            return None, []
        near = np.union1d(nearest_pairs(instance, by_cost=weighted), keys_of(start))
        return candidate_lists(instance, near, priced_weights(instance, near) if weighted else None), []
    kept, usage = splitting.used_or_in(start)
    overlays = []
    if seconds_of_greedy(kept) < min(_LONGEST_GREEDY, clock.left):
        worth = (usage + 0.01) / (instance.edge_costs(kept.u, kept.v) if weighted else 1)
        overlays.append(weighted_greedy(kept, worth, cap=instance.num_nodes, overload=0.0, seed=0))
    if in_parts:
        return None, overlays
    if steps is not None:
        best = min([start, *overlays], key=lambda overlay: overlay.num_edges)
        search = RowWeighting(kept, usage, best, seed)
        work = steps * ENTRIES_A_STEP if math.isinf(clock.left) else 10**18
        for found in search.overlays(best.num_edges, clock.share(0.5), work):
            offer(found)
            overlays.append(found)
    weights = preferred(usage).astype(np.float32)
    if weighted:
        weights *= priced_weights(instance, kept.keys)
    return candidate_lists(instance, kept.keys, weights), overlays


@cache
def warm_up() -> None:
    """Compile the kernels of :func:`guided_candidates`."""
    warm_up_pricing()
    warm_up_row_weighting()
    small = trial_instance()
    for weighted in (False, True):
        guided_candidates(small, greedy_merge(small), Clock(None), weighted=weighted)
