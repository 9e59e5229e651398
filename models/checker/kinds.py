"""What a topic is in an overlay of diameter 2: columns and rows of stars, and of graphs without a centre."""

from __future__ import annotations

from itertools import combinations

from cases import is_count, need


class Kinds:
    """Part of the rules of topics, whose columns these follow."""

    def centre(self, topic, node):
        """The column of a topic's centre: beyond those of pairs."""
        need(is_count(topic) and node in self.members[topic], f"node {node} does not subscribe to topic {topic}")
        return (self.n + topic) * self.n + node

    def has_others(self, topic):
        """Whether a topic may have diameter 2 without a centre."""
        return self.problem == "2d-true" and is_count(topic) and len(self.members[topic]) > 3

    def none(self, topic):
        """The column that says that a topic has no centre: beyond those of centres."""
        need(self.has_others(topic), f"topic {topic} has a centre")
        return (self.n + len(self.members) + topic * self.n) * self.n

    def other(self, topic, u, v):
        """The column of an edge of a topic without a centre."""
        return self.none(topic) + self.column((u, v))

    def centred(self, kind, topic, u, v):
        """Some centre of the topic has all edges, or it has none: uv is an edge if the centre is u or v, or by z."""
        others = self.has_others(topic)
        if kind == "centre":
            centres = [(self.centre(topic, node), 1) for node in self.members[topic]]
            return centres + ([(self.none(topic), 1)] if others else []), 1
        terms = [(self.column((u, v)), 1), (self.centre(topic, u), -1), (self.centre(topic, v), -1)]
        return terms + ([(self.other(topic, u, v), -1)] if others else []), 0

    def without(self, kind, topic, nodes, labels):
        """Rows of the graph of a topic without a centre, of k subscribers: 0 if it has one.

        It has max(k, 2k − 5) edges (Erdős, Rényi 1962; Murty 1968), each subscriber has two, and the rows "pair" hold.
        """
        none, k, pairs = self.none(topic), len(nodes), list(combinations(nodes, 2))
        if kind == "number":
            least = max(k, 2 * k - 5)
        elif kind == "ends":
            need(labels in nodes, f"node {labels} does not subscribe to topic {topic}")
            pairs, least = [pair for pair in pairs if labels in pair], 2
        else:
            need(len(labels) == k, "the labels are not those of the topic's subscribers")
            of, helps, least = dict(zip(nodes, labels)), links_of(labels), 1
            pairs = [(u, v) for u, v in pairs if {of[u], of[v]} in helps]
        return [(self.other(topic, u, v), 1) for u, v in pairs] + [(none, -least)], 0


def links_of(labels):
    """The labels that an edge of a row of the pair u and v (0 and 1) has: it is uv, u–W (2) or v–the others (3)."""
    need(labels.count(0) == labels.count(1) == 1 and set(labels) <= {0, 1, 2, 3}, "no pair of subscribers")
    return {0, 1}, {0, 2}, {1, 3}
