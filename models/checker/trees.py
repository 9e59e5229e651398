"""Bounds by spanning trees of topics, each given as a row of the topic's subscribers and the gaps between them."""

from __future__ import annotations

from array import array
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
    """
    total, places = sum(sum(gaps) for _, _, gaps in trees), [array("i") for _ in range(model.n)]
    for number, (_, row, _) in enumerate(trees):
        for place, v in enumerate(row):
            places[v].extend((number, place))
    for u in range(model.n):
        weights = {}
        for number, place in zip(places[u][::2], places[u][1::2]):
            _, row, gaps = trees[number]
            for v, widest in zip(row[place + 1 :], accumulate(gaps[place:], max)):
                weights[v] = weights.get(v, 0) + widest
            for v, widest in zip(reversed(row[:place]), accumulate(reversed(gaps[:place]), max)):
                weights[v] = weights.get(v, 0) + widest
        if max(weights.values(), default=0) > model.unit:  # no pair costs less
            pairs = ((u * model.n + v, weight) for v, weight in weights.items() if v > u and weight)
            total += sum(min(0, model.cost(column) - weight) for column, weight in pairs)
    return total


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
