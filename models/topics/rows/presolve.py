"""Presolve: topics that other topics imply. Nodes and edges keep their numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....heuristics.compiled import kernel
from ....heuristics.topics.kernels.interest import Interest, interest_of
from ....instances.contract.arrays import Ids, Offsets, offsets_of
from ....instances.contract.option import Option
from ....instances.topics.instance import TopicInstance
from .candidate_edges import Edges

PRESOLVE = Option(
    "presolve",
    True,
    "drop topics that others imply (only where topics need no diameter), and for min-tco without a certificate "
    "attach nodes that need one neighbour",
)


@dataclass(frozen=True)
class Presolved:
    """An instance without its implied topics: the same overlays are topic-connected.

    Attributes
    ----------
    instance : TopicInstance
        On the same nodes. A node whose topics are all its own keeps one of them.
    topics : int32 array
        The number in the original instance of each topic of `instance`.
    kept : int32 array
        The topics that are not implied by the others, rising.
    forced : int64 array
        Edges u·|V| + v of every topic-connected overlay, rising: the kept topics of two subscribers.
    """

    instance: TopicInstance
    topics: Ids
    kept: Ids
    forced: Edges


def drop_implied_topics(instance: TopicInstance) -> Presolved:
    """Find and drop the topics that the others imply, and find the edges of every topic-connected overlay.

    A topic t is implied by topics s with V_s ⊆ V_t if the sets V_s, as the edges of a hypergraph, connect V_t.
    Proof: each G_s is connected and a subgraph of G_t, so all of V_t is. One subscriber (no s is needed), a
    duplicate (V_s = V_t) and a topic connected by forced edges (|V_s| = 2) are special cases. Topics are dropped one
    at a time and only those still there imply others, so by backward induction the kept topics imply all the others.

    An edge uv is forced if V_t = {u, v} for a topic t. Proof: G_t has no other edge.

    Notes
    -----
    Invalid for diameter 2 and for fault tolerance: a union of graphs of diameter 2 need not have diameter 2, nor must
    one of 2-connected graphs be 2-connected. Time O(Σ_t Σ_{v∈V_t} |T_v|),
    memory O(Σ|T_v|).

    References
    ----------
    Chen, Komusiewicz et al. (SIAM J. Discrete Math. 2015) show that several published reductions of subset
    interconnection design are wrong; this one uses no exchange argument.
    """
    interest = interest_of(instance)
    sizes = np.diff(instance.topic_offsets)
    kept = np.flatnonzero(_not_implied(interest, np.argsort(-sizes, kind="stable"))).astype(np.int32)
    pairs = kept[sizes[kept] == 2]
    first = instance.topic_offsets[pairs]
    ends = instance.topic_nodes[first].astype(np.int64), instance.topic_nodes[first + 1].astype(np.int64)
    stays = np.zeros(instance.num_topics, dtype=np.bool_)
    stays[kept] = True
    node_of = np.repeat(np.arange(instance.num_nodes), np.diff(instance.node_offsets))
    of_node = np.bincount(node_of[stays[instance.node_topics]], minlength=instance.num_nodes)
    lost = (of_node == 0) & (np.diff(instance.node_offsets) > 0)
    stays[instance.node_topics[instance.node_offsets[:-1][lost]]] = True
    here = stays[instance.node_topics]
    offsets = offsets_of(node_of[here], instance.num_nodes)
    reduced = TopicInstance.from_sorted(offsets, instance.node_topics[here], instance.num_topics)
    reduced = reduced.with_costs(instance.costs)
    forced = np.unique(ends[0] * instance.num_nodes + ends[1])
    return Presolved(reduced, np.flatnonzero(stays).astype(np.int32), kept, forced)


@kernel
def root(parent: Offsets, v: np.int64) -> np.int64:
    """The representative of v in a union-find forest, with path halving."""
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


@kernel
def _not_implied(interest: Interest, order: Offsets) -> Ids:
    """1 for each topic that stays; the largest are judged first, as small ones imply more."""
    num_topics = len(interest.topic_offsets) - 1
    stays = np.ones(num_topics, np.int32)
    inside = np.zeros(num_topics, np.int64)
    parent = np.empty(len(interest.node_offsets) - 1, np.int64)
    for t in order:
        first, last = interest.topic_offsets[t], interest.topic_offsets[t + 1]
        parts = last - first
        for i in range(first, last):
            v = interest.topic_nodes[i]
            parent[v] = v
            for j in range(interest.node_offsets[v], interest.node_offsets[v + 1]):
                inside[interest.node_topics[j]] += 1
        for i in range(first, last):
            v = interest.topic_nodes[i]
            for j in range(interest.node_offsets[v], interest.node_offsets[v + 1]):
                s = interest.node_topics[j]
                start = interest.topic_offsets[s]
                if s == t or not stays[s] or inside[s] != interest.topic_offsets[s + 1] - start:
                    continue
                a, b = root(parent, np.int64(v)), root(parent, np.int64(interest.topic_nodes[start]))
                if a != b:
                    parent[a] = b
                    parts -= 1
        for i in range(first, last):
            v = interest.topic_nodes[i]
            for j in range(interest.node_offsets[v], interest.node_offsets[v + 1]):
                inside[interest.node_topics[j]] = 0
        if parts == 1:
            stays[t] = 0
    return stays
