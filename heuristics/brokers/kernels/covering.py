"""Covering sets of working subscription tables, and matching against them (P5 §4, Fig. 12)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....instances.brokers.network import BrokerNetwork
from ....instances.brokers.predicates import HIGHEST, LOWEST
from ....instances.contract.arrays import Ids
from ....instances.contract.compiled import kernel
from .working_map import working_maps


@dataclass(frozen=True)
class MatchingEffort:
    """Means over brokers.

    Attributes
    ----------
    covering : float
        Subscriptions in the covering sets of all links of a broker.
    evaluations : float
        Predicates evaluated to match a publication against them: up to the first false predicate of a subscription,
        and up to the first matching subscription of a link.
    """

    covering: float
    evaluations: float


def matching_effort(network: BrokerNetwork, links: Ids, brokers: Ids, publications: int) -> MatchingEffort:
    """The covering sets of some brokers with given soft links, and the effort for the first publications.

    A subscription belongs to the link over which its broker is reached. The covering set of a link has those of its
    subscriptions that no other covers; local subscriptions are left out, as they do not depend on links.

    Parameters
    ----------
    links : int32 array, shape (k, 2)
        Soft links (sender, receiver).
    brokers : int32 array
        The brokers whose tables are counted.

    Notes
    -----
    Cost O(S log S + S · k · A) a broker, with k the size of its covering sets, and their predicates for a publication.
    """
    maps = working_maps(network.tree, links)
    subscriptions = network.subscriptions
    widths = (subscriptions.highs.astype(np.int64) - subscriptions.lows).sum(axis=1)
    # A subscription that covers another is at least as wide in every attribute.
    widest_first = np.argsort(-widths, kind="stable")
    values = network.publications.values[:publications]
    sizes, evaluations = 0, 0
    for a in brokers.tolist():
        slots = maps.slots[a, subscriptions.brokers[widest_first]]
        for slot in maps.order[a, : maps.counts[a]].tolist():
            kept = covering_set(subscriptions.lows, subscriptions.highs, widest_first[slots == slot])
            sizes += len(kept)
            evaluations += predicates_evaluated(subscriptions.lows, subscriptions.highs, kept, values)
    return MatchingEffort(sizes / len(brokers), evaluations / (len(brokers) * max(1, len(values))))


@kernel
def covering_set(lows: Ids, highs: Ids, widest_first: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The subscriptions, given the widest first, that none before them covers; of equal ones the first."""
    kept = np.empty(len(widest_first), dtype=np.int64)
    count = 0
    for s in widest_first:
        covered = False
        for i in range(count):
            within = True
            for a in range(lows.shape[1]):
                if lows[s, a] < lows[kept[i], a] or highs[s, a] > highs[kept[i], a]:
                    within = False
                    break
            if within:
                covered = True
                break
        if not covered:
            kept[count] = s
            count += 1
    return kept[:count]


@kernel
def predicates_evaluated(lows: Ids, highs: Ids, kept: npt.NDArray[np.int64], values: Ids) -> int:
    """The number of evaluations for all points."""
    count = 0
    for point in values:
        for s in kept:
            matches, evaluated = matched(lows, highs, s, point)
            count += evaluated
            if matches:
                break
    return count


@kernel
def matched(lows: Ids, highs: Ids, s: int, point: Ids) -> tuple[bool, int]:
    """Whether a subscription matches a point, and how many predicates are evaluated: up to the first false one."""
    evaluated = 0
    for a in range(len(point)):
        if lows[s, a] > LOWEST or highs[s, a] < HIGHEST:
            evaluated += 1
            if point[a] < lows[s, a] or point[a] > highs[s, a]:
                return False, evaluated
    return True, evaluated
