"""Covering sets of a broker's working subscription table, and what matching against them takes (P5 §4, Fig. 12)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...instances.arrays import Ids
from ...instances.brokers.network import BrokerNetwork
from ...instances.brokers.predicates import HIGHEST, LOWEST
from ..compiled import kernel
from .working_map import mesh_of


@dataclass(frozen=True)
class MatchingEffort:
    """Means over brokers, and over publications for the second.

    Attributes
    ----------
    covering : float
        Subscriptions in the covering sets of a broker's links together.
    evaluations : float
        Predicates evaluated to match one publication against them: a subscription ends at its first false predicate,
        a link at its first matching subscription.
    """

    covering: float
    evaluations: float


def matching_effort(network: BrokerNetwork, links: Ids, brokers: Ids, publications: int) -> MatchingEffort:
    """The covering sets of some brokers under given soft links, and the effort for the first publications.

    A subscription belongs to the link that its broker is reached over. Of those of one link only the ones that no
    other covers are kept; local subscriptions are not counted, as every fanout has them alike.

    Parameters
    ----------
    links : int32 array, shape (k, 2)
        Soft links (sender, receiver).
    brokers : int32 array
        Whose tables to look at.

    Notes
    -----
    Cost O(S log S + S · k · A) a broker, k the size of its covering sets, and their predicates a publication.
    """
    mesh = mesh_of(network.tree, [(int(u), int(v)) for u, v in links])
    wishes = network.subscriptions
    widths = (wishes.highs.astype(np.int64) - wishes.lows).sum(axis=1)
    # Whatever covers another is at least as wide in every attribute.
    widest_first = np.argsort(-widths, kind="stable")
    values = network.publications.values[:publications]
    sizes, evaluations = 0, 0
    for a in brokers.tolist():
        slots = mesh.slots[a, wishes.brokers[widest_first]]
        for slot in mesh.order[a, : mesh.counts[a]].tolist():
            kept = covering_set(wishes.lows, wishes.highs, widest_first[slots == slot])
            sizes += len(kept)
            evaluations += predicates_evaluated(wishes.lows, wishes.highs, kept, values)
    return MatchingEffort(sizes / len(brokers), evaluations / (len(brokers) * max(1, len(values))))


@kernel
def covering_set(lows: Ids, highs: Ids, among: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Of subscriptions, the widest first, those that none before them covers; of equal ones the first."""
    kept = np.empty(len(among), dtype=np.int64)
    count = 0
    for s in among:
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
    """Evaluations for all points together."""
    count = 0
    for point in values:
        for s in kept:
            matches = True
            for a in range(len(point)):
                if lows[s, a] > LOWEST or highs[s, a] < HIGHEST:
                    count += 1
                    if point[a] < lows[s, a] or point[a] > highs[s, a]:
                        matches = False
                        break
            if matches:
                break
    return count
