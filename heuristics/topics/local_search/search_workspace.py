"""The data of a local search: its parameters, its candidate edges, and its work arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids, Offsets
from ....instances.contract.run import Clock
from ...compiled import kernel
from ..kernels.edge_costs import EdgeCosts, cost_of
from .linked_overlay import Flags, Links, Subscriptions, add_edge, remove_edge

Keys = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float32]
MOST_REMOVED = 4
LEVELS_PER_UNIT = 8  # levels for each unit of contribution × weight, where all edges cost 1
PRICED_LEVELS_PER_UNIT = 64
NOISE = 0.25
# Of `counts`: entries in lists, components beyond one a split topic, the sum of all excesses over the cap, and the
# total cost of the edges.
TOUCHED, REMOVED, ADDED, EXCESS_COMPONENTS, LOG, DEGREE_EXCESS, CUT_OFF, COST = range(8)


class SearchParameters(NamedTuple):
    """The objective of a local search, and its acceptance of worse overlays.

    The cost of an overlay is the total cost of its edges × `scale`, plus `penalty` for each unit by which a degree
    exceeds `cap`. A step that raises the cost by d is accepted with probability exp(−d ÷ `temperature`).
    """

    cap: int
    penalty: float
    temperature: float
    scale: float = 1.0


class Cooling:
    """A temperature that falls geometrically with the work done, sooner if the time of the clock is shorter."""

    def __init__(self, hot: float, cold: float, clock: Clock) -> None:
        self._hot, self._cold, self._clock, self._seconds = hot, cold, clock, clock.left

    def at(self, share: float) -> float:
        """The temperature when this share of the work is done."""
        passed = 1 - self._clock.left / self._seconds if np.isfinite(self._seconds) else 0
        return self._hot * (self._cold / self._hot) ** max(share, passed)


class CandidateLists(NamedTuple):
    """The candidate edges of node v: to ``nodes[offsets[v]:offsets[v + 1]]``, with weights in (0, 1]."""

    offsets: Offsets
    nodes: Ids
    weights: Weights


class Workspace(NamedTuple):
    """The work arrays of a step; after each step `label`, the flags and `top` are reset."""

    label: Ids  # of each vertex: its component, 0 for the largest
    touched: Ids  # the topics that the step has changed
    is_touched: Flags
    dirty: Flags  # of each topic
    split: Flags  # of each topic
    queue: Ids  # shape (m,) for m the most subscribers of a topic
    work: Ids  # shape (5, m)
    cut_off: Ids  # the nodes outside a largest component
    is_cut_off: Flags
    candidates: Keys  # candidate edges u·|V| + v
    weights: Weights
    chain: Ids  # linked lists of the candidates of one level, from `top`
    bucket: Ids
    top: Ids
    removed: Keys  # the edges that the step removed and had not added
    added: Ids  # the slots of the edges that it added
    is_added: Flags  # of each slot: it still holds one of these
    log: Keys  # every edge removed or added by an accepted step, in order
    counts: npt.NDArray[np.int64]  # by TOUCHED, REMOVED, …, COST
    random: npt.NDArray[np.uint64]
    costs: EdgeCosts
    width: int  # at least the most topics of a node
    levels: int  # for each unit of contribution × weight


def workspace(
    subscriptions: Subscriptions,
    candidates: CandidateLists,
    slots: int,
    steps: int,
    seed: int,
    costs: EdgeCosts,
    levels: int = LEVELS_PER_UNIT,
) -> Workspace:
    """The work arrays of `steps` steps on an overlay of at most `slots` edges."""
    vertices, nodes = len(subscriptions.vertex_offsets) - 1, len(subscriptions.node_offsets) - 1
    topics = len(subscriptions.topic_offsets) - 1
    most = int(np.diff(subscriptions.topic_offsets).max())
    width = int(np.diff(subscriptions.node_offsets).max())
    return Workspace(
        label=np.zeros(vertices, np.int32),
        touched=np.zeros(topics, np.int32),
        is_touched=np.zeros(topics, np.bool_),
        dirty=np.zeros(topics, np.bool_),
        split=np.zeros(topics, np.bool_),
        queue=np.zeros(most, np.int32),
        work=np.zeros((5, most), np.int32),
        cut_off=np.zeros(nodes, np.int32),
        is_cut_off=np.zeros(nodes, np.bool_),
        candidates=np.zeros(len(candidates.nodes), np.int64),
        weights=np.zeros(len(candidates.nodes), np.float32),
        chain=np.zeros(len(candidates.nodes), np.int32),
        bucket=np.zeros(len(candidates.nodes), np.int32),
        top=np.full(int(levels * (1 + NOISE) * width) + 2, -1, np.int32),
        removed=np.zeros(slots, np.int64),
        added=np.zeros(slots, np.int32),
        is_added=np.zeros(slots, np.bool_),
        log=np.zeros(slots + 32 * steps, np.int64),
        counts=np.zeros(8, np.int64),
        random=np.array([2 * seed + 1], np.uint64),
        costs=costs,
        width=(int(LEVELS_PER_UNIT * (1 + NOISE) * width) + 2) // LEVELS_PER_UNIT,
        levels=levels,
    )


@kernel
def reset(space: Workspace) -> None:
    """Reset the flags of the topics touched and the lists of edges removed and added."""
    for t in space.touched[: space.counts[TOUCHED]]:
        space.is_touched[t] = space.dirty[t] = space.split[t] = False
    space.counts[TOUCHED] = space.counts[REMOVED] = space.counts[ADDED] = 0


@kernel
def count_degree_excess(cap: int, links: Links, space: Workspace) -> None:
    """Count the excesses of degrees over `cap`."""
    space.counts[DEGREE_EXCESS] = np.maximum(links.degrees - cap, 0).sum()


@kernel
def touch(t: int, space: Workspace) -> None:
    """Note that a step changes a topic."""
    if not space.is_touched[t]:
        space.is_touched[t] = True
        space.touched[space.counts[TOUCHED]] = t
        space.counts[TOUCHED] += 1


@kernel
def step_remove(slot: int, cap: int, links: Links, space: Workspace) -> None:
    """Remove an edge, and note it unless this step added it."""
    for end in links.ends[slot]:
        space.counts[DEGREE_EXCESS] -= links.degrees[end] > cap
    space.counts[COST] -= cost_of(links.ends[slot, 0], links.ends[slot, 1], space.costs)
    if space.is_added[slot]:
        space.is_added[slot] = False
    else:
        space.removed[space.counts[REMOVED]] = key_of(slot, links)
        space.counts[REMOVED] += 1
    remove_edge(slot, links)


@kernel
def step_add(u: int, v: int, cap: int, subscriptions: Subscriptions, links: Links, space: Workspace) -> int:
    """Add an edge, and return its slot."""
    space.counts[DEGREE_EXCESS] += (links.degrees[u] >= cap) + (links.degrees[v] >= cap)
    space.counts[COST] += cost_of(u, v, space.costs)
    return add_edge(min(u, v), max(u, v), subscriptions, links)


@kernel
def key_of(slot: int, links: Links) -> int:
    """The edge in a slot as u·|V| + v."""
    return int(np.int64(links.ends[slot, 0]) * len(links.degrees) + links.ends[slot, 1])


@kernel
def random_number(state: npt.NDArray[np.uint64]) -> float:
    """Uniform on [0, 1): xorshift64* (Marsaglia 2003, Vigna 2016)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return float((x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(11)) / 9007199254740992.0
