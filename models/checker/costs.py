"""What edges cost on topic instances with link costs, and what the digest has of it."""

from __future__ import annotations

import json
import struct
from math import isqrt

from cases import is_count, need, object_of


def read_costs(path, names):
    """The cost of a pair of nodes as a function of their numbers, and the bytes of the digest.

    Without costs: 1, and no bytes. Points and costs are integers.
    """
    content = None
    if path.endswith(".json"):
        with open(path, encoding="utf-8") as file:
            content = json.load(file, object_pairs_hook=object_of).get("costs")
    if content is None:
        return (lambda u, v: 1), b""
    if "points" in content:
        points = [content["points"][name] for name in names]
        need(all(type(number) is int for point in points for number in point), "a point is no integer")

        def distance(u, v):
            """To the nearest integer, at least 1: ⌊√s + ½⌋ = ⌊(⌊√4s⌋ + 1) ÷ 2⌋."""
            (a, b), (c, d) = points[u], points[v]
            return max(1, (isqrt(4 * ((a - c) ** 2 + (b - d) ** 2)) + 1) // 2)

        return distance, packed(len(points), 0, 0, [number for point in points for number in point])
    sites = [content["sites"][name] for name in names] if "sites" in content else names
    number = {site: rank for rank, site in enumerate(dict.fromkeys(sites))}
    table = [[content.get("other", 0)] * len(number) for _ in number]
    for one, two, cost in content["between" if "sites" in content else "links"]:
        if one in number and two in number:
            table[number[one]][number[two]] = table[number[two]][number[one]] = cost
    for site, rank in number.items():
        if sites.count(site) == 1:
            table[rank][rank] = 1  # no edge has this cost
    need(all(is_count(cost) and cost for row in table for cost in row), "a cost is missing or no number")
    at = [number[site] for site in sites]
    listed = [*at, *(cost for row in table for cost in row)]
    return (lambda u, v: table[at[u]][at[v]]), packed(0, len(at), len(table), listed)


def packed(points, sites, table, numbers):
    """The sizes of the three arrays and their numbers."""
    return b"costs\n" + struct.pack(f"<3q{len(numbers)}i", points, sites, table, *numbers)
