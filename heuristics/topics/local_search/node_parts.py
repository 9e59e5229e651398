"""Parts of an instance: nodes of similar interests, and what their edges have to connect if all others are fixed."""

from __future__ import annotations

import numpy as np

from ....instances.contract.arrays import Ids, entries_of, offsets_of
from ....instances.topics.instance import TopicInstance
from ...compiled import kernel
from ..kernels.topic_components import TopicComponents, join
from .linked_overlay import Subscriptions


def similar_order(instance: TopicInstance, random: np.random.Generator) -> Ids:
    """The nodes in an order in which similar ones are close: by their first three topics in a random order of topics.

    Two nodes have the same first topic with a probability equal to the Jaccard index of their interests (Broder 1997).
    Cost O(Σ|T_v| log Σ|T_v|).

    References
    ----------
    .. [1] A. Z. Broder, "On the resemblance and containment of documents", Compression and Complexity of Sequences,
       1997. https://doi.org/10.1109/SEQUEN.1997.666900
    """
    rank = random.permutation(instance.num_topics)[instance.node_topics]
    owners = np.repeat(np.arange(instance.num_nodes), np.diff(instance.node_offsets))
    rank = rank[np.lexsort((rank, owners))]
    first, last = instance.node_offsets[:-1], instance.node_offsets[1:] - 1
    hashes = [rank[np.minimum(first + k, last)] for k in range(3)]
    return np.lexsort((random.random(instance.num_nodes), *reversed(hashes))).astype(np.int32)


@kernel
def connect(edges: Ids, components: TopicComponents) -> None:
    """Unite the components that edges connect. Cost O(Σ_edges (|T_u| + |T_v|))."""
    for e in range(len(edges)):
        join(edges[e, 0], edges[e, 1], components)


def copied(components: TopicComponents) -> TopicComponents:
    """Components to which edges can be added."""
    label, following, size = components.label.copy(), components.following.copy(), components.size.copy()
    return components._replace(label=label, following=following, size=size)


def contracted(nodes: Ids, fixed: TopicComponents, united: TopicComponents) -> Subscriptions:
    """What edges between some ascending nodes have to connect, given the edges that are fixed.

    The nodes are numbered from 0. A vertex is a component of the `fixed` edges, and a topic is one of the components of
    those and the present edges, `united`, if it has several vertices here. Edges that connect these topics keep all
    topics of the instance connected, even if the edges between other nodes are replaced at the same time in this way.

    Cost O(S log S) for S subscriptions of these nodes.
    """
    offsets, index = entries_of(fixed.node_offsets, nodes)
    owners = np.repeat(np.arange(len(nodes), dtype=np.int32), np.diff(offsets))
    # A label is the position of a member among the subscribers of its topic, so labels are in the order of topics.
    used = np.zeros(len(fixed.label), np.bool_)
    used[fixed.label[fixed.position[index]]] = True
    labels, vertices = np.flatnonzero(used), (np.cumsum(used) - 1)[fixed.label[fixed.position[index]]]
    _, topics, sizes = np.unique(united.label[labels], return_inverse=True, return_counts=True)
    order = np.argsort(topics, kind="stable")
    order = order[sizes[topics[order]] > 1]
    number = np.full(len(labels), -1, np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    kept = number[vertices] >= 0
    owners, positions = owners[kept], number[vertices[kept]]
    _, topics = np.unique(topics[order], return_inverse=True)
    return Subscriptions(
        node_offsets=offsets_of(owners, len(nodes)),
        node_topics=topics[positions].astype(np.int32),
        topic_offsets=offsets_of(topics, int(topics.max(initial=-1)) + 1),
        topic_nodes=owners[np.argsort(positions, kind="stable")],
        positions=positions,
        vertex_offsets=offsets_of(positions, len(order)).astype(np.int32),
    )
