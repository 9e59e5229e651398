"""Proven optima of every instance on at most 7 nodes: all graphs by rising value, and the first one that serves."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.contract.arrays import Ids, Offsets
from ...instances.runtime.compiled import in_place_kernel, kernel
from ...instances.topics.instance import TopicInstance
from ...instances.topics.problems import TOPIC_PROBLEMS
from .every_instance import Rows, node_sets
from .small_graphs import SmallGraphs, entry_of, small_graphs

_CONNECTED, _STAR, _TWO = range(3)
_RULES = {"connected": _CONNECTED, "star": _STAR, "diameter-2": _TWO}
_MEASURES = {"edges": 0, "degree": 1, "product": 2}
PROBLEMS = {
    each.name: (_RULES[each.objective.rule], _MEASURES[each.objective.first])
    for each in TOPIC_PROBLEMS
    if each.objective.rule in _RULES and each.objective.first in _MEASURES
}
"""The problems whose optima are listed: what a topic asks of its subscribers, and the measure."""
_WORD = 64
Words = npt.NDArray[np.uint64]


class _Ranked(NamedTuple):
    """All graphs by rising value, 64 of one value to a word; the last word of a value is filled up."""

    values: npt.NDArray[np.int16]  # of each word
    serving: Words  # [set, word]: the graphs that serve a topic with these subscribers


def optima_of(nodes: int, rows: Rows, problem: str) -> npt.NDArray[np.int16]:
    """The optimum of one of `PROBLEMS` on each instance, shape (instances,).

    All 2^(n(n − 1)/2) graphs in the worst case. Instances in the order of :func:`.instances` share the search of their
    common topics, because no graph serves more topics than fewer.
    """
    rule, measure = PROBLEMS[problem]
    return _first_serving(rows, _ranked(nodes, rule, measure))


def smallest_value(instance: TopicInstance, problem: str) -> int:
    """The optimum of one of `PROBLEMS` on an instance of at most 7 nodes."""
    sets = [sum(1 << v for v in instance.subscribers(t).tolist()) for t in range(instance.num_topics)]
    number = {s: k for k, s in enumerate(node_sets(instance.num_nodes).tolist())}
    row = np.array([[number[s] for s in sets if s in number]], np.uint8)
    return int(optima_of(instance.num_nodes, row, problem)[0])


@cache
def _ranked(nodes: int, rule: int, measure: int) -> _Ranked:
    graphs = small_graphs(nodes)
    edges, degree = graphs.edges.astype(np.int16), graphs.max_degree.astype(np.int16)
    value = (edges, degree, edges * degree)[measure]
    order = np.argsort(value, kind="stable")
    counts = np.bincount(value)
    words = -(-counts // _WORD)
    position = np.arange(len(order)) + np.repeat(np.cumsum(words * _WORD - counts) - (words * _WORD - counts), counts)
    serving = np.zeros((len(graphs.sets), int(words.sum())), np.uint64)
    _fill(rule, order.astype(np.int32), position, graphs, serving)
    return _Ranked(np.repeat(np.arange(len(counts)), words).astype(np.int16), serving)


@in_place_kernel
def _fill(rule: int, order: Ids, position: Offsets, graphs: SmallGraphs, serving: Words) -> int:
    for k in range(len(graphs.sets)):
        for i in range(len(order)):
            if _serves(rule, k, order[i], graphs):
                serving[k, position[i] // _WORD] |= np.uint64(1) << np.uint64(position[i] % _WORD)
    return 0


@in_place_kernel
def _serves(rule: int, k: int, graph: int, graphs: SmallGraphs) -> bool:
    """Whether a graph connects a set of nodes, has a star on it, or gives it diameter 2, by the edges within."""
    if rule == _CONNECTED:
        return bool(graphs.joining[entry_of(k, graph, graphs)] == 0)
    members = graphs.sets[k]
    for u in range(graphs.nodes):
        if not members >> u & 1:
            continue
        missing = graphs.stars[u, members] & ~graph
        if rule == _STAR and missing == 0:
            return True
        for v in range(u if rule == _TWO else 0):
            near = False
            for w in range(graphs.nodes):
                both = graphs.stars[w, 1 << u | 1 << v]
                near |= members >> w & 1 and both & ~graph == 0
            if members >> v & 1 and not near:
                return False
    return rule == _TWO


@kernel
def _first_serving(rows: Rows, ranked: _Ranked) -> npt.NDArray[np.int16]:
    topics = rows.shape[1]
    found, first = np.empty(len(rows), np.int16), np.zeros(topics + 1, np.int64)
    for i in range(len(rows)):
        shared = 0
        while i > 0 and shared < topics and rows[i, shared] == rows[i - 1, shared]:
            shared += 1
        for t in range(shared, topics):
            word = first[t]
            while True:
                serving = ranked.serving[rows[i, 0], word]
                for j in range(1, t + 1):
                    serving &= ranked.serving[rows[i, j], word]
                if serving:
                    break
                word += 1
            first[t + 1] = word
        found[i] = ranked.values[first[topics]]
    return found
