"""Working subscription tables: covering sets, and matching against them (P5 §4, Fig. 12)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....heuristics.brokers.kernels.working_map import WORD, Bits, set_bit, working_maps
from ....instances.brokers.network import BrokerNetwork
from ....instances.brokers.predicates import HIGHEST, LOWEST
from ....instances.contract.arrays import Ids
from ....instances.runtime.compiled import kernel


class WorkingTable(NamedTuple):
    """What a publication is compared with: for each slot of the working map the covering set of its subscriptions.

    `lows`, `highs`, shape (m, A): of the covering sets, one slot after the other, and then of the local
    subscriptions, none of them left out.
    """

    lows: Ids
    highs: Ids
    starts: npt.NDArray[np.int64]  # shape (c + 2,): where the subscriptions of each slot begin, and the local ones


def working_table(lows: Ids, highs: Ids, slots: npt.NDArray[np.int32], count: int) -> WorkingTable:
    """The working table of subscriptions by their slots, of which there are `count`; -1 for local ones.

    Cost O(S log S + S · k · A) with k the largest covering set.
    """
    widths = (highs.astype(np.int64) - lows).sum(axis=1)
    # A subscription that covers another is at least as wide in every attribute.
    order = np.lexsort((-widths, np.where(slots < 0, count, slots)))
    ends = np.searchsorted(np.where(slots < 0, count, slots)[order], np.arange(count + 2))
    kept, starts = _covering_sets(lows, highs, order, ends)
    return WorkingTable(lows[kept], highs[kept], starts)


@kernel
def _covering_sets(
    lows: Ids, highs: Ids, order: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    kept = np.empty(len(order), dtype=np.int64)
    starts = np.zeros(len(ends), dtype=np.int64)
    filled = 0
    for slot in range(len(ends) - 1):
        own = order[ends[slot] : ends[slot + 1]]
        if slot < len(ends) - 2:
            own = covering_set(lows, highs, own)
        kept[filled : filled + len(own)] = own
        filled += len(own)
        starts[slot + 1] = filled
    return kept[:filled], starts


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
def find_matching(table: WorkingTable, values: Ids, anchors: Bits) -> tuple[int, int]:
    """Put the slots with a matching subscription in `anchors`; return the matching local ones and the evaluations.

    A subscription is compared up to its first false predicate, a slot up to its first matching subscription.
    """
    anchors[:] = 0
    evaluations = local = 0
    last = len(table.starts) - 2
    for slot in range(last + 1):
        for s in range(table.starts[slot], table.starts[slot + 1]):
            matches = True
            for a in range(len(values)):
                if table.lows[s, a] > LOWEST or table.highs[s, a] < HIGHEST:
                    evaluations += 1
                    if values[a] < table.lows[s, a] or values[a] > table.highs[s, a]:
                        matches = False
                        break
            if matches and slot == last:
                local += 1
            elif matches:
                set_bit(anchors, slot)
                break
    return local, evaluations


@kernel
def predicates_evaluated(table: WorkingTable, values: Ids) -> int:
    """The predicates that :func:`find_matching` evaluates for all publications."""
    anchors = np.zeros(len(table.starts) // WORD + 1, dtype=np.uint64)
    count = 0
    for point in values:
        count += find_matching(table, point, anchors)[1]
    return count


def matching_effort(network: BrokerNetwork, links: Ids, brokers: Ids, publications: int) -> tuple[float, float]:
    """The covering sets of some brokers with given soft links, and the effort for the first publications.

    `links` has rows (sender, receiver). A subscription belongs to the link over which its broker is reached; local
    ones, which do not depend on links, are left out.

    Returns means over brokers: the subscriptions in the covering sets of all links, and the predicates evaluated to
    match a publication against them. Cost of a broker: that of its :func:`working_table`, and these predicates.
    """
    maps = working_maps(network.tree, links)
    subscriptions, values = network.subscriptions, network.publications.values[:publications]
    sizes = evaluations = 0
    for a in brokers.tolist():
        slots = maps.slots[a, subscriptions.brokers]
        far = slots >= 0
        table = working_table(subscriptions.lows[far], subscriptions.highs[far], slots[far], maps.ends.shape[1])
        sizes += len(table.lows)
        evaluations += predicates_evaluated(table, values)
    return sizes / len(brokers), evaluations / (len(brokers) * max(1, len(values)))
