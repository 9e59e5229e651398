"""Files of topic instances: their subscriptions, costs and digest."""

from __future__ import annotations

import csv
import hashlib
import struct
import sys
from array import array
from collections import Counter
from itertools import accumulate, chain
from math import isqrt
from os.path import splitext

from cases import document, is_integer, need, need_labels, reading

MOST_COST, MOST_SITES = 1_000_000, 20_000


@reading
def read(path):
    """The nodes, the (node, topic) rows and the costs, None without any, of a JSON, CSV or TSV file."""
    ending = splitext(path)[1]
    if ending == ".json":
        data = document(path, "topics/1")
        subscriptions, costs = data["subscriptions"], data.get("costs")
        need(all(type(topics) is list for topics in subscriptions.values()), "a node's topics are no list")
        nodes, rows = set(subscriptions), {(v, t) for v, topics in subscriptions.items() for t in topics}
    else:
        need(ending in (".csv", ".tsv", ".dat", ".txt"), f"convert the instance to .json or .csv: not {ending}")
        rows, costs = read_table(path), None
        nodes = {node for node, _ in rows}
    need(rows, "the instance has no subscription")
    need_labels([*nodes, *(topic for _, topic in rows)])
    if costs is not None:
        need_costs(costs, nodes)
    return nodes, rows, costs


def read_table(path):
    """The (node, topic) rows of a table of text: quotes as in RFC 4180, a row a line, empty lines apart."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        first = next((line for line in file if line.strip("\r\n")), "")
        rows = csv.reader(chain([first], file), delimiter="\t" if "\t" in first else ",", strict=True)
        names = next(rows)
        need(len(first) <= 2**20, "the instance begins with a line of more than a million characters")
        need(names.count("node") == names.count("topic") == 1, "the instance needs one column node and one topic")
        node, topic = names.index("node"), names.index("topic")
        listed = [row for row in rows if row]
    need(all(len(row) == len(names) for row in listed), "the instance has a short line")
    return {(row[node], row[topic]) for row in listed}


def digest_of(num_nodes, num_topics, rows, costs):
    """SHA-256 of sorted (node, topic) numbers: how many of each, where each node's topics begin, the topics; costs."""
    counts = Counter(v for v, _ in rows)
    starts = [0, *accumulate(map(counts.__getitem__, range(num_nodes)))]
    topics = array("i", [t for _, t in rows])
    if sys.byteorder == "big":
        topics.byteswap()
    packed = struct.pack(f"<{2 + len(starts)}q", num_nodes, num_topics, *starts)
    return hashlib.sha256(b"overlaybench topics/1\n" + packed + topics.tobytes() + costs).hexdigest()


def need_costs(content, nodes):
    """Stop unless costs are points or sites of all nodes, or links, and every cost is given, once."""
    keys = ("points", "sites", "between", "links", "other")
    given = {key: content[key] for key in keys if content.get(key) is not None}
    forms = ({"points"}, {"sites", "between"}, {"links"}, {"links", "other"})
    need(set(given) in forms, "costs are points, sites with between, or links, perhaps with other")
    ends = given.get("points", given.get("sites", dict.fromkeys(nodes)))
    need(set(ends) == nodes, "the points or sites are those of other nodes")
    if "points" in given:
        need(all(type(point) is list and len(point) == 2 for point in ends.values()), "a point has two coordinates")
        numbers = [number for point in ends.values() for number in point]
        need(all(is_integer(number, -(2**30), 2**30) for number in numbers), "a coordinate is no integer")
        spans = [max(each) - min(each) for each in zip(*ends.values(), strict=True)]
        need(sum(span**2 for span in spans) <= MOST_COST**2, "the points are too far from each other")
        return
    entries = given.get("between", given.get("links"))
    used = set(given["sites"].values()) if "sites" in given else nodes
    need(type(entries) is list and all(type(name) is str for name in used), "costs are no list, or a site is no text")
    for entry in entries:
        need(type(entry) is list and len(entry) == 3, "a cost needs two ends and a number")
        need(type(entry[0]) is type(entry[1]) is str, "the end of a cost is no text")
        need(is_integer(entry[2], 1, MOST_COST), "a cost is no integer of its range")
        need("sites" in given or (entry[0] != entry[1] and {*entry[:2]} <= nodes), "a link joins no two nodes")
    pairs = {frozenset(entry[:2]) for entry in entries}
    need(len(pairs) == len(entries), "a cost is given twice")
    need(len(used.union(*pairs)) <= MOST_SITES, "the instance has too many sites")
    asked = len(used) * (len(used) + (1 if "sites" in given else -1)) // 2
    need("other" in given or sum(pair <= used for pair in pairs) == asked, "a cost is missing")
    need(is_integer(given.get("other", 1), 1, MOST_COST), "a cost is no integer of its range")


def numbered_costs(content, names):
    """The cost of a pair of nodes as a function of their numbers, and the bytes of the digest.

    Without costs: 1, and no bytes. Points and costs are integers.
    """
    if content is None:
        return (lambda u, v: 1), b""
    if content.get("points") is not None:
        points = [content["points"][name] for name in names]

        def distance(u, v):
            """To the nearest integer, at least 1: ⌊√s + ½⌋ = ⌊(⌊√4s⌋ + 1) ÷ 2⌋."""
            (a, b), (c, d) = points[u], points[v]
            return max(1, (isqrt(4 * ((a - c) ** 2 + (b - d) ** 2)) + 1) // 2)

        return distance, packed(len(points), 0, 0, [number for point in points for number in point])
    entries = content.get("links")
    sites = names if entries is not None else [content["sites"][name] for name in names]
    number = {site: rank for rank, site in enumerate(dict.fromkeys(sites))}
    table = [[content.get("other")] * len(number) for _ in number]
    for one, two, cost in content["between"] if entries is None else entries:
        if one in number and two in number:
            table[number[one]][number[two]] = table[number[two]][number[one]] = cost
    for site, count in Counter(sites).items():
        if count == 1:
            table[number[site]][number[site]] = 1  # no edge has this cost
    at = [number[site] for site in sites]
    listed = [*at, *(cost for row in table for cost in row)]
    return (lambda u, v: table[at[u]][at[v]]), packed(0, len(at), len(table), listed)


def packed(points, sites, table, numbers):
    """The sizes of the three arrays and their numbers."""
    return b"costs\n" + struct.pack(f"<3q{len(numbers)}i", points, sites, table, *numbers)
