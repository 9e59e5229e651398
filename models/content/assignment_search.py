"""The cheapest assignment of users to few brokers, by partial assignments breadth first, all of a level at once."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...heuristics.content.routing import links_of, spanning_tree, steiner_trees
from ...instances.content.instance import ContentInstance, Floats
from ...instances.content.problems import ContentOverlay, SteinerRouting, broker_traffic
from ...instances.contract.arrays import Ids
from ...instances.contract.run import Clock
from .exact import TOLERANCE

_MOST_BROKERS, _MOST_CELLS = 8, 1_000_000
_FEW = 64  # partial assignments kept of a level by the first search, which finds a value to cut off at
_PROBLEM = SteinerRouting()


def cheapest_assignment(
    instance: ContentInstance, start: Ids | None, clock: Clock
) -> tuple[ContentOverlay, float] | None:
    """An optimal overlay for ``content-steiner`` with a proven lower bound; None if it is not found by this search.

    Users are assigned one after the other, first those that receive most. A publisher pays for a channel the price of
    a cheapest tree of its broker and of those with a subscriber, which only rises while users are assigned: with the
    trees of the users so far, a partial assignment costs at least what its users pay and, of each other user, the least
    that it pays on a broker with enough capacity left. Those that cost as much as the best overlay are dropped.

    The `start`, shape (|U|,), an assignment within the capacities, is returned if none is cheaper by more than a
    relative 5·10⁻⁷, which is the distance of the bound from the value, and far above rounding errors.

    The search gives up above 8 brokers, or if a level has more than 10⁶ numbers: that of partial assignments times
    |B|² |C|. Cost O(2^|B| |B|²) for the prices of trees, and O(|U| |B| |C|) for each partial assignment. It is ours.
    """
    if instance.num_brokers > _MOST_BROKERS:
        return None
    tables = _tree_tables(instance.core.tobytes(), instance.num_brokers)
    best = None if start is None else _overlay(instance, start, tables)
    for most in (_FEW, 0):
        value = np.inf if best is None else _PROBLEM.value(instance, best)
        found = _search(instance, tables, value, most, start, clock)
        if found is None:
            return None
        best = _overlay(instance, found, tables) if len(found) else best
    return None if best is None else (best, _PROBLEM.value(instance, best) * (1 - TOLERANCE))


class _TreeTables(NamedTuple):
    """By the set of brokers that a tree connects, a bit each: the least price, and the brokers of the tree."""

    prices: Floats  # shape (2^|B|,)
    brokers: Ids


@lru_cache(maxsize=4)
def _tree_tables(core: bytes, count: int) -> _TreeTables:
    """Of every set the spanning tree, then the best of all sets with further brokers as relays."""
    between, sets = np.frombuffer(core).reshape(count, count), 1 << count
    prices, brokers = np.zeros(sets), np.arange(sets, dtype=np.int32)
    for each in range(1, sets):
        prices[each] = spanning_tree(between, _members(each, count)).links.sum()
    for b in range(count):
        without = np.flatnonzero(np.arange(sets) >> b & 1 == 0)
        better = without[prices[without | 1 << b] < prices[without]]
        prices[better], brokers[better] = prices[better | 1 << b], brokers[better | 1 << b]
    return _TreeTables(prices, brokers)


def _members(each: int, count: int) -> Ids:
    return np.flatnonzero(each >> np.arange(count) & 1).astype(np.int32)


def _overlay(instance: ContentInstance, assigned: Ids, tables: _TreeTables) -> ContentOverlay:
    """The overlay with cheapest trees."""
    count = instance.num_brokers

    def links(connected: Ids) -> list[tuple[int, int]]:
        tree = _members(int(tables.brokers[(1 << connected).sum()]), count)
        return links_of(spanning_tree(instance.core, tree))

    overlay = ContentOverlay(assigned)
    return ContentOverlay(assigned, steiner_trees(broker_traffic(instance, overlay), links))


class _Level(NamedTuple):
    """Partial assignments, a row each, of the same users."""

    assigned: Ids  # shape (rows, |U|)
    cost: Floats  # access, shape (rows,)
    loads: Floats  # shape (rows, |B|)
    sets: npt.NDArray[np.int64]  # of the brokers with a subscriber, shape (rows, |C|)
    published: Floats  # shape (rows, |C|, |B|)

    def taken(self, rows: npt.NDArray[np.intp]) -> _Level:
        """Copies of some rows."""
        return _Level._make(each[rows] for each in self)


def _search(
    instance: ContentInstance, tables: _TreeTables, value: float, most: int, start: Ids | None, clock: Clock
) -> Ids | None:
    """An assignment that costs less than `value`, of equal ones that with fewest moves from the start; empty if none.

    With `most`, only so many of a level are kept, those of least bound, and nothing is proven. None if it gives up.
    """
    users, count = instance.access.shape
    demands, limits, bits = instance.demands, instance.load_limits(), 1 << np.arange(count)
    access, wanted = np.full((users, count), np.inf), instance.subscriptions
    np.multiply(demands[:, None], instance.access, out=access, where=np.isfinite(instance.access))
    order = np.lexsort((-demands, -(wanted * instance.rates.sum(axis=0)).sum(axis=1)))
    shapes = (users,), (), (count,), (instance.num_channels,), (instance.num_channels, count)
    types = np.int32, np.float64, np.float64, np.int64, np.float64
    level = _Level._make(np.zeros((1, *shape), of) for shape, of in zip(shapes, types, strict=True))
    for done, user in enumerate(order.tolist(), 1):
        rows, onto = (each.ravel() for each in np.indices((len(level.cost), count)))
        if len(rows) * instance.num_channels * count > _MOST_CELLS or clock.passed:
            return None
        level, at = level.taken(rows), np.arange(len(rows))
        level.assigned[:, user] = onto
        level.cost[:] += access[user, onto]
        level.loads[at, onto] += demands[user]
        level.sets[:, wanted[user]] |= bits[onto][:, None]
        level.published[at, :, onto] += instance.rates[user]
        prices = tables.prices[level.sets[:, :, None] | bits]
        left = order[done:]
        others = access[left] + instance.rates[left] @ prices
        others[level.loads[:, None, :] + demands[left][:, None] > limits] = np.inf
        core = (level.published * prices).sum(axis=(1, 2))
        least = level.cost + core + others.min(axis=2, initial=np.inf).sum(axis=1)
        kept = np.flatnonzero((level.loads <= limits).all(axis=1) & (least < value * (1 - TOLERANCE)))
        kept = kept[np.argsort(least[kept], kind="stable")[: most or None]]
        level, least = level.taken(kept), least[kept]
        if not len(kept):
            return np.empty(0, np.int32)
    equal = level.assigned[least <= least[0] * (1 + 1e-12)]
    moves = np.zeros(len(equal)) if start is None else (equal != start).sum(axis=1)
    return np.array(equal[np.argmin(moves)], np.int32)
