"""Presolve for the fewest edges: nodes that need one neighbour only."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ....heuristics.compiled import kernel
from ....heuristics.topics.kernels.interest import Interest, interest_of
from ....instances.contract.arrays import Ids
from ....instances.contract.overlay import Overlay
from ....instances.topics.instance import TopicInstance

_MOST_STEPS = 500_000_000


def attach_leaves(instance: TopicInstance) -> tuple[TopicInstance, Ids]:
    """Replace the topics of each leaf node by one that it shares with a single neighbour.

    A node v is a leaf by topic t if all subscribers of t, two or more, subscribe to every topic that v shares with
    anyone. Let a be another one of them. The fewest edges are one more than without v, and the edge va makes an overlay
    for the others one for all. Proof: va is enough, as a subscribes to v's topics. Conversely, v has a neighbour b in
    V_t in every overlay. Replace its other edges vc by bc: as b subscribes to v's topics, these are connected as if v
    and b were merged, and the others have no edge at v. Without vb, this is an overlay for the others. By induction,
    leaves may be taken one after the other, each judged without those before.

    Returns
    -------
    instance : TopicInstance
        On the same nodes and with the same topics, which leaves leave, followed by a topic {v, a} for each leaf.
        Every overlay valid for it is valid for the given instance, and the fewest edges are the same.
    steps : int32 array, shape (leaves, 3)
        The leaf v, the topic t and the neighbour a, in order.

    Notes
    -----
    Not valid for degrees, as that of a grows, nor for costs. A pass takes O(Σ_v |V_t| |T_v|) where t is v's smallest
    topic; there are passes until one finds no leaf. After 500,000,000 steps no more leaves are looked for.
    """
    kept, steps = _leaves(interest_of(instance))
    new = instance.num_topics + np.arange(len(steps), dtype=np.int32)
    nodes = np.repeat(np.arange(instance.num_nodes), np.diff(instance.node_offsets))[kept]
    nodes = np.concatenate([nodes, steps[:, 0], steps[:, 2]])
    topics = np.concatenate([instance.node_topics[kept], new, new])
    num_topics = instance.num_topics + len(steps)
    return TopicInstance.from_keys(np.sort(nodes * num_topics + topics), instance.num_nodes, num_topics), steps


def moved_to_neighbours(overlay: Overlay, instance: TopicInstance, steps: Ids) -> Overlay:
    """A valid overlay of `instance` as one, of no more edges, of the instance that :func:`attach_leaves` makes of it.

    Each leaf's other edges go to a neighbour b in V_t, and its edge to b to a, as in the proof there. Cost O(edges +
    Σ degrees of leaves).
    """
    if not len(steps):
        return overlay
    neighbours: list[set[int]] = [set() for _ in range(overlay.num_nodes)]
    for u, v in overlay.edges.tolist():
        neighbours[u].add(v)
        neighbours[v].add(u)
    for v, t, a in steps.tolist():
        b = a if a in neighbours[v] else next(c for c in sorted(neighbours[v]) if t in instance.topics_of(c))
        for c in neighbours[v]:
            neighbours[c].discard(v)
            if c != b:
                neighbours[b].add(c)
                neighbours[c].add(b)
        neighbours[v] = set()
    edges = [(u, v) for u in range(overlay.num_nodes) for v in neighbours[u] if u < v]
    return Overlay.from_edges(overlay.num_nodes, np.array(edges + steps[:, [0, 2]].tolist()).reshape(-1, 2))


@kernel
def _leaves(interest: Interest) -> tuple[npt.NDArray[np.bool_], Ids]:
    """The subscriptions that stay, and the steps."""
    n = len(interest.node_offsets) - 1
    kept = np.ones(len(interest.node_topics), np.bool_)
    steps = np.empty((n, 3), np.int32)
    count = work = 0
    there = np.ones(n, np.bool_)
    size = interest.topic_offsets[1:] - interest.topic_offsets[:-1]
    first = interest.topic_offsets[:-1].copy()  # no subscriber before it is left
    mine = np.full(len(size), -1, np.int64)
    before = -1
    while count > before:
        before = count
        for v in range(n):
            if not there[v] or work > _MOST_STEPS:
                continue
            smallest, shared = -1, 0
            for i in range(interest.node_offsets[v], interest.node_offsets[v + 1]):
                t = interest.node_topics[i]
                if size[t] >= 2:
                    shared += 1
                    mine[t] = v
                    if smallest < 0 or size[t] < size[smallest]:
                        smallest = t
            if smallest < 0:
                continue
            while not there[interest.topic_nodes[first[smallest]]]:
                first[smallest] += 1
            neighbour = -1
            for j in range(first[smallest], interest.topic_offsets[smallest + 1]):
                w = interest.topic_nodes[j]
                if w == v or not there[w]:
                    continue
                common = 0
                work += interest.node_offsets[w + 1] - interest.node_offsets[w]
                for i in range(interest.node_offsets[w], interest.node_offsets[w + 1]):
                    s = interest.node_topics[i]
                    common += mine[s] == v and size[s] >= 2
                if common < shared:
                    neighbour = -1
                    break
                neighbour = w
                if shared == 1:
                    break
            if neighbour >= 0:
                there[v] = False
                steps[count, 0], steps[count, 1], steps[count, 2] = v, smallest, neighbour
                count += 1
                for i in range(interest.node_offsets[v], interest.node_offsets[v + 1]):
                    t = interest.node_topics[i]
                    if size[t] >= 2:
                        kept[i] = False
                        size[t] -= 1
            for i in range(interest.node_offsets[v], interest.node_offsets[v + 1]):
                mine[interest.node_topics[i]] = -1
    return kept, steps[:count].copy()
