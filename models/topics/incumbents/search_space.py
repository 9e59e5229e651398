"""Index of candidate edges by topic and by edge, for the weighted greedy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....instances.arrays import Ids, Offsets
from ..rows.candidate_edges import CandidateEdges


class SearchSpace(NamedTuple):
    """Links by topic and by edge.

    Attributes
    ----------
    topic_offsets : int64 array, shape (|T| + 1,)
    offsets, edge, a, b
        As in :class:`.Links`.
    edge_offsets : int64 array, shape (edges + 1,)
        The links of edge e are numbered ``edge_links[edge_offsets[e]:edge_offsets[e + 1]]``.
    edge_links : int64 array
    link_topic : int32 array
    u, v : int32 arrays, one an edge
    """

    topic_offsets: Offsets
    offsets: Offsets
    edge: Ids
    a: Ids
    b: Ids
    edge_offsets: Offsets
    edge_links: Offsets
    link_topic: Ids
    u: Ids
    v: Ids


def search_space(edges: CandidateEdges) -> SearchSpace:
    """The search space of some candidates. Cost O(links log links)."""
    links = edges.links
    order = np.argsort(links.edge, kind="stable").astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(edges.common)]).astype(np.int64)
    topic = np.repeat(np.arange(len(links.offsets) - 1, dtype=np.int32), np.diff(links.offsets))
    return SearchSpace(edges.instance.topic_offsets, *links, offsets, order, topic, edges.u, edges.v)
