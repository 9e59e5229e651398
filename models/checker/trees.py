"""Bounds by spanning trees of topics, each given as a row of the topic's subscribers and the gaps between them."""

from __future__ import annotations

from itertools import accumulate, chain

from cases import is_count, need


def weight_of(model, trees):
    """The units that every overlay costs, by trees as topic, row and gaps.

    A pair weighs as much as the largest gap between its places in the row. Then no spanning tree of the topic is
    lighter than the row itself, which weighs the sum of gaps. Where the weights of a pair exceed its cost, an overlay
    may have it for less than it weighs: what is above goes off the sum.
    """
    total, places = 0, [[] for _ in range(model.n)]
    for topic, row, gaps in trees:
        need(is_count(topic) and topic < len(model.members), "no such topic")
        fits = all(map(is_count, [*row, *gaps])) and sorted(row) == model.members[topic]
        need(fits and len(gaps) == len(row) - 1, "no row of the topic's subscribers with gaps between them")
        total += sum(gaps)
        for place, v in enumerate(row):
            places[v].append((row, gaps, place))
    for u in range(model.n):
        weights = dict.fromkeys(chain.from_iterable(row for row, _, _ in places[u]), 0)
        for row, gaps, place in places[u]:
            for v, widest in zip(row[place + 1 :], accumulate(gaps[place:], max)):
                weights[v] += widest
            for v, widest in zip(reversed(row[:place]), accumulate(reversed(gaps[:place]), max)):
                weights[v] += widest
        if max(weights.values(), default=0) > model.unit:  # no pair costs less
            pairs = ((u * model.n + v, weight) for v, weight in weights.items() if v > u and weight)
            total += sum(min(0, model.cost(column) - weight) for column, weight in pairs)
    return total


def as_rows(model, given, trees):
    """The line of a bound by rows ``parts`` that says the same: the parts between all gaps from each weight on.

    The rows are appended to those `given`.
    """
    listed = []
    for topic, row, gaps in trees:
        below = 0
        for least in sorted(set(gaps) - {0}):
            label = dict(zip(row, accumulate((gap >= least for gap in gaps), initial=0)))
            listed += [len(given), least - below]
            given.append(["parts", topic, [label[v] for v in model.members[topic]]])
            below = least
    return ["bound", 0, listed]
