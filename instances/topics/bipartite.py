"""Topic instances from and to bipartite networkx graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from ..contract.errors import BadInput
from .instance import TopicInstance

if TYPE_CHECKING:
    import networkx as nx

_SIDES = ("node", "topic")


def from_bipartite(graph: nx.Graph[Any]) -> TopicInstance:
    """The instance of a bipartite networkx graph with node attribute ``bipartite=0`` (nodes) or ``1`` (topics).

    The labels are the graph nodes as text; of ``("node", label)`` and ``("topic", label)``, as :func:`to_bipartite`
    returns them, the label.

    Raises
    ------
    BadInput
        If the attribute is missing, an edge lies within one side, a node or topic has no edge, or two nodes or
        two topics have the same label.
    """
    side = dict(graph.nodes(data="bipartite"))
    if missing := [v for v in graph if side[v] not in (0, 1)]:
        raise BadInput(f"graph node '{missing[0]}' lacks the attribute bipartite=0 (node) or 1 (topic): set it")
    if isolated := [v for v in graph if graph.degree(v) == 0]:
        kind, other = ("node", "topic") if side[isolated[0]] == 0 else ("topic", "subscriber")
        raise BadInput(f"{kind} '{isolated[0]}' has no {other}: remove it")
    if within := [(a, b) for a, b in graph.edges() if side[a] == side[b]]:
        raise BadInput(f"edge {within[0]} lies within one side: edges join a node and a topic")
    labels = {v: _label(v, _SIDES[side[v]]) for v in graph}
    for (number, label), count in Counter((side[v], label) for v, label in labels.items()).items():
        if count > 1:
            raise BadInput(f"two {_SIDES[number]}s have the label '{label}': rename one")
    pairs = [(a, b) if side[a] == 0 else (b, a) for a, b in graph.edges()]
    return TopicInstance.from_pairs([labels[a] for a, _ in pairs], [labels[b] for _, b in pairs])[0]


def _label(graph_node: Hashable, kind: str) -> str:
    if isinstance(graph_node, tuple) and len(graph_node) == 2 and graph_node[0] == kind:
        return str(graph_node[1])
    return str(graph_node)


def to_bipartite(instance: TopicInstance) -> nx.Graph[tuple[str, str]]:
    """The subscriptions as a bipartite networkx graph on ("node", label) and ("topic", label)."""
    return instance.to_networkx()
