"""Bounds by spanning trees of topics, each given as a row of the topic's subscribers and the gaps between them."""

from __future__ import annotations

from array import array
from bisect import bisect
from itertools import accumulate

from cases import is_count, need


def tree(model, topic, row, gaps):
    """A tree as its topic, row and gaps, packed."""
    need(is_count(topic) and topic < len(model.members), "no such topic")
    fits = all(map(is_count, [*row, *gaps])) and sorted(row) == model.members[topic]
    need(fits and len(gaps) == len(row) - 1, "no row of the topic's subscribers with gaps between them")
    return topic, array("i", row), array("q", gaps)


def weight_of(model, trees):
    """The units that every overlay costs, by trees.

    A pair weighs as much as the largest gap between its places in the row. Then no spanning tree of the topic is
    lighter than the row itself, which weighs the sum of gaps. Where the weights of a pair exceed its cost, an overlay
    may have it for less than it weighs: what is above goes off the sum.

    Pairs are not listed. In a topic, u and v weigh at most the larger of their weights with one subscriber, the core.
    So a pair may weigh too much only if these add up to more than 1, and in a topic it counts only if one of the two is
    positive. Popular topics have few positive subscribers.
    """
    total, places = sum(sum(gaps) for _, _, gaps in trees), [array("i") for _ in range(model.n)]
    merged = []
    for number, (_, row, gaps) in enumerate(trees):
        merged.append(Merges(row, gaps))
        for index, v in enumerate(merged[-1].members):
            places[v].extend((number, index))
    for u, mine in enumerate(places):
        most = {}
        for number, index in zip(mine[::2], mine[1::2]):
            for v, weight in merged[number].beyond(index):
                most[v] = most.get(v, 0) + weight
        at = dict(zip(mine[::2], mine[1::2]))
        for v in [v for v, weight in most.items() if weight > model.unit]:  # no pair costs less
            common = [(merged[k], at[k], index) for k, index in zip(places[v][::2], places[v][1::2]) if k in at]
            weight = sum(part.weight(one, other) for part, one, other in common)
            if weight > model.unit:
                total += min(0, model.cost(u * model.n + v) - weight)
    return total


class Merges:
    """The parts of a row, merged at its gaps from the smallest on; a subscriber is an index in rising order.

    A part has a root, and the smaller of two parts gets the other's root as the parent of its own. So few steps lead to
    the last root, the core, and the gaps at which they were made rise. The core itself has a gap of −1.
    """

    def __init__(self, row, gaps):
        size, members, count = len(row), sorted(row), [1] * len(row)  # of subscribers of a part, at both of its ends
        index = {v: i for i, v in enumerate(members)}
        root, start, stop = [index[v] for v in row], [*range(size)], [*range(size)]
        self.members, self.parent, self.gap = array("i", members), array("i", range(size)), array("q", [-1]) * size
        for place in sorted(range(size - 1), key=gaps.__getitem__):
            first, last = start[place], stop[place + 1]
            small, large = sorted((first, last), key=count.__getitem__)
            self.parent[root[small]], self.gap[root[small]] = root[large], gaps[place]
            root[first] = root[last] = root[large]
            count[first] = count[last] = count[first] + count[last]
            stop[first], start[last] = last, first
        self.to_core = array("q", map(self._to_core, range(size)))
        self.positive = array("i", (i for i, weight in enumerate(self.to_core) if weight))

    def _to_core(self, one):
        gap = 0
        while self.gap[one] >= 0:
            gap, one = self.gap[one], self.parent[one]
        return gap

    def beyond(self, one):
        """The subscribers after one, and the most that each weighs with it, where this may be positive."""
        least, weights = self.to_core[one], self.to_core
        if least:
            return zip(self.members[one + 1 :], (w if w > least else least for w in weights[one + 1 :]))
        return ((self.members[i], weights[i]) for i in self.positive[bisect(self.positive, one) :])

    def weight(self, one, other):
        """The largest gap between two different subscribers: of the two, the one merged at the smaller gap goes up."""
        most = 0
        while one != other:
            if self.gap[one] < 0 or 0 <= self.gap[other] < self.gap[one]:
                one, other = other, one
            most, one = max(most, self.gap[one]), self.parent[one]
        return most


def as_rows(model, trees, known):
    """Rows ``parts`` by negative numbers, and the line of a bound by them that says the same as the trees.

    The rows are the parts between all gaps from each weight on; so many rows of other trees are known.
    """
    rows, listed = {}, []
    for topic, row, gaps in trees:
        below = 0
        for least in sorted(set(gaps) - {0}):
            label = dict(zip(row, accumulate((gap >= least for gap in gaps), initial=0)))
            number = -known - len(rows) - 1
            rows[number] = ["parts", topic, [label[v] for v in model.members[topic]]]
            listed += [number, least - below]
            below = least
    return rows, ["bound", 0, listed]
