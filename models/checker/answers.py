"""Judge an answer in a file by a problem of the library: whether it is valid, and its value.

The problems that have proofs are judged by the classes that check these; the others here, on the same classes' readers
and digests. Nodes, users, … of an answer are labels; they are numbered in natural order (n2 before n10).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
from fractions import Fraction
from itertools import combinations, product

import content
import topic_files
import traces
from cases import INFINITE, document, is_count, need, neighbours, reached
from content import ContentRules
from steiner import SteinerRules
from topics import TopicRules
from traces import TraceRules

ALIKE = {"capped-tco": "min-tco"}
ROUTING = re.compile(r"(filtering|topic-diameter|average-topic-diameter)(?:=([^@=]+))?@([^@=]+)(?:=([^@=]+))?")
BY_DEFAULT = {
    "filtering": "filtering@average-degree=2",
    "topic-diameter": "topic-diameter=2@max-degree",
    "average-topic-diameter": "average-topic-diameter=2@max-degree",
}
SLACK = 1e-9
MOST_TRIES = 10**6  # sets of relays of one size


class Unknown(Exception):
    """There is no judge here for the problem."""


def value_of(instance, kind, problem, digest, path):
    """The value of the answer in a file; raises Wrong if it is not valid, and Unknown without a judge for the problem.

    `instance` is the path of the instance, and `digest` what it must have.
    """
    with open(path, encoding="utf-8") as file:
        answer = json.load(file)
    if kind not in JUDGES:
        raise Unknown(f"instances of the kind {kind}")
    return JUDGES[kind](instance, problem, digest, answer)


def natural(labels):
    """Labels in natural order: runs of digits compare as numbers, and sort before other characters."""

    def key(label):
        parts = re.findall(r"0*([0-9]+)|([^0-9]+)", label)
        return [(1, len(digits), digits) if digits else (2, other) for digits, other in parts], label

    return sorted(labels, key=key)


def numbers(labels):
    return {label: number for number, label in enumerate(labels)}


def tree_value(instance, problem, digest, answer):
    model = SteinerRules(instance, {"instance": digest})
    edges = {tuple(sorted((int(u) - 1, int(v) - 1))) for u, v in answer["edges"]}
    value, near = model.value(edges), neighbours(edges)
    need(not edges or len(edges) == len(near) - 1, "the answer is no tree")
    need(len(components(near, near)) < 2, "the answer has several parts")
    return value


def content_value(instance, problem, digest, answer):
    data = content.read(instance)
    head = {kind: natural(data[kind]) for kind in ("users", "brokers", "channels")}
    model = ContentRules(instance, {"problem": problem, "instance": digest} | head)
    broker, channel = numbers(head["brokers"]), numbers(head["channels"]) | {None: None}
    need(set(answer["assignment"]) == set(head["users"]), "users without a broker, or unknown ones")
    trees = [
        (
            channel[tree.get("channel")],
            {broker[b] for b in tree.get("sources", ())},
            [(broker[a], broker[b]) for a, b in tree["links"]],
        )
        for tree in answer.get("trees", ())
    ]
    return float(model.value(([broker[answer["assignment"][u]] for u in head["users"]], trees)))


def overlay_value(instance, problem, digest, answer):
    family = re.split("[@=]", problem)[0]
    nodes, rows, _ = topic_files.read(instance)
    names, of = natural(nodes), natural({topic for _, topic in rows})
    base = problem if problem in TopicRules.problems else ALIKE.get(family, "min-tco")
    model = TopicRules(instance, {"problem": base, "nodes": names, "topics": of, "instance": digest, "unit": 1})
    node = numbers(names)
    edges = {tuple(sorted((node[u], node[v]))) for u, v in answer["edges"]}
    if problem == base:
        return model.value(edges)
    near = neighbours(edges, range(model.n))
    if family in ("capped-tco", "partial-tco"):
        *words, limit = problem.split("@")[1:]
        need_within(limit, model, near, len(edges))
        return model.value(edges) if family == "capped-tco" else missing(words[0] if words else "topics", model, near)
    parts = ROUTING.fullmatch(BY_DEFAULT.get(problem, problem))
    if parts is None:
        raise Unknown(f"the problem {problem}")
    return routed_value(model, near, len(edges), *parts.groups())


def need_within(limit, model, near, edges):
    """Stop unless degrees keep a limit such as max-degree=4."""
    rule, _, text = limit.partition("=")
    most, n = Fraction(text), model.n
    if rule == "average-degree":
        need(edges <= math.floor(min(most, n) * n / 2), "the overlay has too many edges")
        return
    need(rule in ("max-degree", "degree-per-topic"), f"no such limit as {rule}")
    subscribed = [sum(v in nodes for nodes in map(set, model.every)) for v in range(n)]
    caps = [most if rule == "max-degree" else math.ceil(most * count) for count in subscribed]
    need(all(len(near[v]) <= caps[v] for v in range(n)), "a node has too many neighbours")


def components(nodes, near):
    """The components of the overlay on some nodes."""
    left, found = set(nodes), []
    while left:
        found.append(reached(min(left), near, set(nodes)))
        left -= found[-1]
    return found


def missing(measure, model, near):
    """What is not connected: topics, subscribers outside the largest component, or components beyond one a topic."""
    parts = [components(nodes, near) for nodes in model.every]
    if measure == "topics":
        return sum(len(each) > 1 for each in parts)
    if measure == "components":
        return sum(len(each) - 1 for each in parts)
    need(measure == "subscribers", f"no such measure as {measure}")
    return sum(sum(map(len, each)) - max(map(len, each)) for each in parts)


def routed_value(model, near, edges, routing, most_cost, degree, most_degree):
    """What is minimised of the degree function and the routing cost: the one without a limit, or their sum."""
    degrees = {"edges": edges, "max-degree": max(map(len, near.values())), "average-degree": 2 * edges / model.n}
    need(degree in degrees, f"no such degree function as {degree}")
    if routing == "filtering":
        cost = sum(fewest_relays(nodes, near) for nodes in model.every)
    else:
        farthest = [max(distances(u, near).get(v, INFINITE) for u, v in product(nodes, nodes)) for nodes in model.every]
        cost = max(farthest) if routing == "topic-diameter" else sum(farthest) / len(farthest)
    need(cost < INFINITE, "no path connects two subscribers")
    for value, limit in ((degrees[degree], most_degree), (cost, most_cost)):
        need(limit is None or value <= float(limit) + SLACK, f"{value} is more than {limit}")
    if most_degree is not None:
        return cost
    return degrees[degree] + (cost if most_cost is None else 0)


def distances(start, near):
    found, ring = {start: 0}, {start}
    while ring:
        ring = set().union(*(near[v] for v in ring)) - found.keys()
        found |= dict.fromkeys(ring, max(found.values()) + 1)
    return found


def fewest_relays(nodes, near):
    """The fewest other nodes that connect some; INFINITE if none do."""
    inside, around = set(nodes), reached(nodes[0], near, set(near))
    if not inside <= around:
        return INFINITE
    relays = sorted(around - inside)
    for size in range(len(relays) + 1):
        if math.comb(len(relays), size) > MOST_TRIES:
            raise Unknown("filtering with so many relays")
        if any(inside <= reached(nodes[0], near, inside | set(chosen)) for chosen in combinations(relays, size)):
            return size
    return INFINITE


def links_value(instance, problem, digest, answer):
    """The messages over a tree of brokers and soft links, which bring each publication where it is wanted, once."""
    data, least, most = document(instance, "brokers/1"), -(2**31), 2**31 - 1
    at, attributes = numbers(data["brokers"]), data["attributes"]
    links = sorted((*sorted((at[a], at[b])), *(rest or [1000])) for a, b, *rest in data["links"])
    near = neighbours([link[:2] for link in links], at.values())
    wanted = []
    for broker, ranges in sorted(data["subscriptions"], key=lambda each: at[each[0]]):
        bounds = [ranges.get(name, (None, None)) for name in attributes]
        low, high = [least if a is None else a for a, _ in bounds], [most if b is None else b for _, b in bounds]
        wanted.append((at[broker], low, high))
    sent = [(time, at[source], values) for time, source, values in data["publications"]]
    flat = [len(at), data["radius"], data["fanout"], len(attributes), len(wanted), len(sent)]
    flat += [end for a, b, _ in links for end in (a, b)] + [delay for *_, delay in links]
    flat += [each.get("uplink", 0) for each in data["brokers"].values()]
    flat += [b for b, _, _ in wanted] + [x for _, low, _ in wanted for x in low] + [x for *_, up in wanted for x in up]
    flat += [time for time, _, _ in sent] + [source for _, source, _ in sent] + [x for *_, at_ in sent for x in at_]
    found = hashlib.sha256(b"overlaybench brokers/1\n" + struct.pack(f"<{len(flat)}q", *flat)).hexdigest()
    need(found == digest, "the instance has another digest")
    far = {b: distances(b, near) for b in near}
    soft = {(at[a], at[b]) for a, b in answer["soft_links"]}
    need(len(soft) == len(answer["soft_links"]), "a soft link occurs twice")
    need(all(2 <= far[a][b] <= data["radius"] for a, b in soft), "a soft link is too short or too long")
    used = {b: len(near[b]) + sum(a == b for a, _ in soft) for b in near}
    need(all(count <= data["fanout"] for count in used.values()), "a broker has too many links")
    sender = [{} for _ in sent]
    for publication, a, b in answer["messages"]:
        a, b = at[a], at[b]
        need(is_count(publication) and publication < len(sent), "there is no such publication")
        need(far[a][b] == 1 or (a, b) in soft, "a message takes no link")
        need(b not in sender[publication] and b != sent[publication][1], "a broker receives a publication twice")
        sender[publication][b] = a
    for (_, source, values), came in zip(sent, sender, strict=True):
        out = {b: {c for c, a in came.items() if a == b} for b in near}
        need(reached(source, out, set(near)) == {source, *came}, "a message starts where the publication never came")
        for broker, low, high in wanted:
            matches = all(x <= value <= y for x, value, y in zip(low, values, high, strict=True))
            need(not matches or broker == source or broker in came, "a subscriber does not receive a publication")
    return sum(map(len, sender))


def log_value(instance, problem, digest, answer):
    if not TraceRules.poses(problem):
        raise Unknown(f"the problem {problem}")
    nodes, of = map(natural, traces.labels(traces.read(instance)))
    model = TraceRules(instance, {"problem": problem, "nodes": nodes, "topics": of, "instance": digest})
    node, changes = numbers(nodes), answer["changes"]
    need(all(type(added) is bool for *_, added in changes), "a link is neither added nor removed")
    return model.value([(traces.microseconds(time), *sorted((node[u], node[v])), +add) for time, u, v, add in changes])


JUDGES = {
    "topics": overlay_value,
    "steiner": tree_value,
    "content": content_value,
    "brokers": links_value,
    "trace": log_value,
}
