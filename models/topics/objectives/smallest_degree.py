"""Smallest maximum degree: an integer bound on the degree, and a search under decreasing caps."""

from __future__ import annotations

import math
from contextlib import suppress

from ....instances.contract.overlay import Overlay
from ....instances.contract.run import Clock, offer_bound
from ....instances.topics.instance import TopicInstance
from ...engine.integer_bound import UNIT
from ...engine.proof import Proven
from ..bounds.certificate import Certificate
from ..cuts.cutting_planes import CuttingPlanes
from ..rows.goal import Goal
from .edge_minimisation import SearchOutcome, SearchSettings, minimise_edges


def minimise_degree(
    instance: TopicInstance, least: int, starts: list[Overlay], clock: Clock, settings: SearchSettings
) -> tuple[Overlay, int, SearchOutcome]:
    """Find an overlay of smallest maximum degree, and prove it.

    First the LP that minimises D subject to the partition inequalities and degree(v) ≤ D gives a bound, rounded up.
    Then the search looks for any overlay with degrees below the incumbent's, until there is none or the incumbent's
    degree equals the bound.

    Parameters
    ----------
    least : int
        A known lower bound.
    starts : list of Overlay
        Topic-connected, at least one.

    Returns
    -------
    overlay : Overlay
    bound : int
        Proven, equal to the overlay's maximum degree if the search ended.
    outcome : SearchOutcome
        Counters of all searches, certificate of the LP's bound, `stopped_by` of the last search.

    Notes
    -----
    MinMax-TCO: P2 §2.1. With equal duals on all degree rows the LP's bound is 2·(bound on |E|) ÷ |V|; with a dual on
    one node's row alone it is that node's fractional cover of its topics by neighbours. The LP dominates both.
    """
    best = min(starts, key=lambda overlay: (overlay.max_degree, overlay.num_edges))
    total = SearchOutcome()
    bound = least
    if not clock.passed:
        by_lp, total.certificate, proven = degree_bound(instance, best, clock.share(0.3), settings)
        bound = max(bound, by_lp)
        if settings.proof.is_written:
            bound = by_lp  # the other bound is not in the proof
            if by_lp > 0:
                case = settings.proof.case(cap=by_lp - 1)
                case.contradiction(0, proven)
                case.end(math.inf)
    offer_bound(bound)
    while bound < best.max_degree and not clock.passed:
        cap = best.max_degree - 1
        outcome = minimise_edges(
            instance, Goal(cap=cap, least_degree=min(bound, cap)), best, clock, settings, stop_at_first=True
        )
        for name, value in outcome.counters.items():
            if name in ("cuts", "nodes", "simplex_iterations") and not isinstance(value, str):
                total.counters[name] = float(total.counters.get(name, 0.0)) + value
        if outcome.overlay is not None:
            best = outcome.overlay
        elif outcome.complete:
            bound = best.max_degree
        else:
            total.stopped_by = outcome.stopped_by
            break
        offer_bound(bound)
    total.stopped_by = total.stopped_by or clock.stopped_by
    total.complete = bound >= best.max_degree
    total.counters["degree_bound"] = bound
    return best, min(bound, best.max_degree), total


def degree_bound(
    instance: TopicInstance, start: Overlay, clock: Clock, settings: SearchSettings
) -> tuple[int, Certificate | None, Proven | None]:
    """A lower bound on the maximum degree, its certificate, and its multipliers."""
    planes = CuttingPlanes(instance, Goal(edge_cost=0, degree_cost=1), start, sparse=settings.sparse)
    with suppress(MemoryError):
        planes.tighten(clock, stall=1e-4)
    return max(0, -(-planes.best_units // UNIT)), planes.certificate, planes.best_proven
