"""What a step of local search reads and writes: its rules, its candidates, and a workspace."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.arrays import Ids, Offsets
from ...compiled import kernel
from .linked_overlay import Flags, Links, Subscriptions, link, unlink

Keys = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float32]
MOST_REMOVED = 4
SHADES = 8  # levels a unit of contribution × weight is told apart by
NOISE = 0.25
TOUCHED, GONE, NEW, TO_MERGE, LOG, OVERLOADS, SMALL = range(7)


class Rules(NamedTuple):
    """What is minimised, and how boldly.

    Attributes
    ----------
    cap : int
        Of degrees.
    overload : float
        The cost of an overlay is its number of edges plus this for each degree above `cap` by one.
    heat : float
        A step that costs d more is accepted with probability exp(−d ÷ heat).
    """

    cap: int
    overload: float
    heat: float


class Near(NamedTuple):
    """The candidate edges of node v: to ``nodes[offsets[v]:offsets[v + 1]]``, with weights from above 0 to 1."""

    offsets: Offsets
    nodes: Ids
    weights: Weights


class Workspace(NamedTuple):
    """What a step needs; `label`, the flags and `top` are as before the step when it is over.

    Attributes
    ----------
    label : int32 array, one a place
    touched, is_touched, dirty, open : arrays, one a topic
    queue, work : int32 arrays, shapes (m,) and (5, m) for m the most subscribers of a topic
    small, is_small : arrays, one a node
        The nodes outside a largest component.
    candidates, weights, chain, bucket, top
        Candidate edges as keys u·|V| + v, their weights, and chains of those of one level from `top`.
    gone, new, fresh
        The edges of before that the step removed, the slots of those that it added, and the slots that still hold one.
    log : int64 array
        Every edge removed or added by a step that was accepted, in order.
    counts : int64 array
        Entries in `touched`, `gone` and `new`; components still to merge; entries in `log`; overloads; entries in
        `small`.
    random : uint64 array, shape (1,)
    """

    label: Ids
    touched: Ids
    is_touched: Flags
    dirty: Flags
    open: Flags
    queue: Ids
    work: Ids
    small: Ids
    is_small: Flags
    candidates: Keys
    weights: Weights
    chain: Ids
    bucket: Ids
    top: Ids
    gone: Keys
    new: Ids
    fresh: Flags
    log: Keys
    counts: npt.NDArray[np.int64]
    random: npt.NDArray[np.uint64]


def workspace(subscriptions: Subscriptions, near: Near, slots: int, steps: int, seed: int) -> Workspace:
    """Room for `steps` steps on an overlay of at most `slots` edges."""
    places, nodes = len(subscriptions.topic_nodes), len(subscriptions.node_offsets) - 1
    topics = len(subscriptions.topic_offsets) - 1
    most = int(np.diff(subscriptions.topic_offsets).max())
    width = int(np.diff(subscriptions.node_offsets).max())
    return Workspace(
        label=np.zeros(places, np.int32),
        touched=np.zeros(topics, np.int32),
        is_touched=np.zeros(topics, np.bool_),
        dirty=np.zeros(topics, np.bool_),
        open=np.zeros(topics, np.bool_),
        queue=np.zeros(most, np.int32),
        work=np.zeros((5, most), np.int32),
        small=np.zeros(nodes, np.int32),
        is_small=np.zeros(nodes, np.bool_),
        candidates=np.zeros(len(near.nodes), np.int64),
        weights=np.zeros(len(near.nodes), np.float32),
        chain=np.zeros(len(near.nodes), np.int32),
        bucket=np.zeros(len(near.nodes), np.int32),
        top=np.full(int(SHADES * (1 + NOISE) * width) + 2, -1, np.int32),
        gone=np.zeros(slots, np.int64),
        new=np.zeros(slots, np.int32),
        fresh=np.zeros(slots, np.bool_),
        log=np.zeros(slots + 32 * steps, np.int64),
        counts=np.zeros(7, np.int64),
        random=np.array([2 * seed + 1], np.uint64),
    )


@kernel
def settle(space: Workspace) -> None:
    """Forget which topics were touched, and what was removed, without a word in the log."""
    for t in space.touched[: space.counts[TOUCHED]]:
        space.is_touched[t] = space.dirty[t] = space.open[t] = False
    space.counts[TOUCHED] = space.counts[GONE] = space.counts[NEW] = 0


@kernel
def count_overloads(cap: int, links: Links, space: Workspace) -> None:
    """Take `cap` for the steps to come."""
    space.counts[OVERLOADS] = np.maximum(links.degrees - cap, 0).sum()


@kernel
def touch(t: int, space: Workspace) -> None:
    """Remember that a step concerns a topic."""
    if not space.is_touched[t]:
        space.is_touched[t] = True
        space.touched[space.counts[TOUCHED]] = t
        space.counts[TOUCHED] += 1


@kernel
def take(slot: int, cap: int, links: Links, space: Workspace) -> None:
    """Remove an edge, and remember it unless this step added it."""
    for end in links.ends[slot]:
        space.counts[OVERLOADS] -= links.degrees[end] > cap
    if space.fresh[slot]:
        space.fresh[slot] = False
    else:
        space.gone[space.counts[GONE]] = key_of(slot, links)
        space.counts[GONE] += 1
    unlink(slot, links)


@kernel
def put(u: int, v: int, cap: int, subscriptions: Subscriptions, links: Links, space: Workspace) -> int:
    """Add an edge, and return its slot."""
    space.counts[OVERLOADS] += (links.degrees[u] >= cap) + (links.degrees[v] >= cap)
    return link(min(u, v), max(u, v), subscriptions, links)


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
