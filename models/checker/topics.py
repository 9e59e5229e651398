"""Overlays on topic instances: which rows are valid, and why."""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import combinations, starmap
from operator import ne

from cases import INFINITE, Model, Wrong, is_count, need, need_labels, neighbours, reached
from kinds import Kinds, links_of
from rows import Named
from topic_files import digest_of, numbered_costs, read
from trees import as_rows, tree, weight_of


class TopicRules(Kinds, Model):
    """Overlays in which every topic is connected, has diameter 2, or stays connected when a subscriber leaves.

    A column is a pair of nodes u < v as u·n + v, or beyond n² what a topic is.
    """

    tree, weight_of, trees_as_rows = tree, weight_of, as_rows
    problems = ("min-tco", "minmax-tco", "low-tco", "weighted-tco", "k-tco", "2d-star", "2d-true")

    def __init__(self, path, head):
        names, topics = head["nodes"], head["topics"]
        node_of, self.unit = {name: v for v, name in enumerate(names)}, head["unit"]
        need(len(node_of) == len(names) and is_count(self.unit) and self.unit, "nodes repeat, or the unit is no number")
        need_labels([*names, *topics])
        nodes, rows, costs = read(path)
        need(nodes == set(names), "the instance has other nodes")
        listed = {topic: t for t, topic in enumerate(topics)}
        need({t for _, t in rows} == set(topics) and len(listed) == len(topics), "the instance has other topics")
        numbered = sorted((node_of[v], listed[t]) for v, t in rows)
        self.paid, priced = numbered_costs(costs, names)
        digest = digest_of(len(names), len(listed), numbered, priced)
        need(digest == head["instance"], "the instance has another digest")
        every = [[] for _ in topics]
        for v, t in numbered:
            every[t].append(v)
        self.pose(head.get("base", head["problem"]), len(names), every, head.get("kept", range(len(topics))))
        if "base" in head:
            self.state(head["problem"], head.get("cap"))

    def state(self, name, limit):
        """Take the name of a problem of others, whose overlays are some of the base's, and its limit on degrees."""
        need(self.problem in ("min-tco", "weighted-tco"), "no problem of others has such a base")
        need(limit is None or is_count(limit), "the cap is no number")
        self.name, self.limit, self.exact = name, limit, False

    def pose(self, problem, num_nodes, every, kept):
        """Set the problem, and the subscribers of every topic; rows speak of those that are kept."""
        self.problem, self.n, self.every = problem, num_nodes, every
        self.members = [list(every[t]) for t in kept]
        self.subscribed = [set() for _ in range(self.n)]
        for place, nodes in enumerate(self.members):
            for v in nodes:
                self.subscribed[v].add(place)
        self.name, self.limit, self.cap, self.given = "", None, None, {}
        self.around = lru_cache(64)(self.around)
        self.settled, self.seen = {}, []  # by the end of a case: the fixings of all overlays of a smaller value
        self.exact = self.problem in ("min-tco", "weighted-tco", "k-tco", "2d-true")  # columns are edges, and mean that

    @cached_property
    def pairs(self):
        """The columns of pairs."""
        return {u * self.n + v for nodes in self.every for u, v in combinations(nodes, 2)}

    @cached_property
    def columns(self):
        """Pairs in order, and what topics are; listed where columns may be fixed, as large instances have too many."""
        columns = sorted(self.pairs)
        for t, nodes in enumerate(self.members if self.problem.startswith("2d-") else ()):
            columns += (self.centre(t, v) for v in nodes)
            if self.has_others(t):
                columns += [self.none(t), *(self.other(t, u, v) for u, v in combinations(nodes, 2))]
        return columns

    @property
    def title(self):
        return self.name or self.problem

    def stated(self):
        if not self.name:
            return ""
        more = "" if self.limit is None else f", with no degree above {self.limit}"
        own = "" if type(self) is TopicRules else f", as {type(self).__name__} judges"
        return f"stated: {self.name} is {self.problem}{more}{own}"

    def leaf(self, node, topic, other):
        """A node leaves its topics for one that it shares with `other` alone: the fewest edges stay the same.

        Every subscriber of one of its topics subscribes to all that it shares. It has a neighbour b among them, and its
        other edges may start at b instead; then only the edge to b is needed, and any of them may be b.

        Or it shares two topics or fewer, all with `other`. Without such a neighbour b, each of its edges helps one of
        the two. They may start at `other` instead, as if both nodes were merged; then one of them is not needed, since
        the path between the two nodes in a topic has become a cycle there.
        """
        need(self.problem == "min-tco" and not self.name, "leaves are not valid here")
        self.exact = False  # some overlays of the fewest edges are not those of the smaller instance
        shared = {t for t in self.subscribed[node] if len(self.members[t]) > 1}
        need(topic in shared and other in self.members[topic] and other != node, "the nodes do not share the topic")
        few = len(shared) <= 2 and shared <= self.subscribed[other]
        always = few or all(shared <= self.subscribed[v] for v in self.members[topic])
        need(always, f"node {node} may need more neighbours")
        for t in shared:
            self.members[t].remove(node)
        self.subscribed[node] = set()
        self.members.append(sorted((node, other)))

    def begin(self, facts):
        self.cap = facts.get("cap")
        need(self.cap is None or is_count(self.cap), "the cap is no number")
        self.given = {self.column(facts[key]): value for key, value in (("with", 1), ("without", 0)) if key in facts}
        need(len(self.given) < 2 and (self.exact or not self.given), "no edge can be settled here")
        return -1 if self.given else self.cap

    def assumed(self, below):
        return self.settled.get(below, {}) | self.given

    def learn(self, case):
        """Settle the edges that node 0 fixes, or the one of the case if no overlay is better than the case's end.

        Both hold for all overlays of a smaller value than the end, and so in all later cases of the same end.
        """
        if not self.exact or self.cap is not None or case.below is None:
            return
        known = self.settled.setdefault(case.below, {})
        if not self.given:
            known.update((column, value) for column, value in case.root_fixings().items() if self.is_pair(column))
        elif case.proven() >= case.below:
            ((column, value),) = self.given.items()
            need(known.get(column, 1 - value) == 1 - value, "no overlay has the value")
            known[column] = 1 - value

    def see(self, answer):
        """An overlay that shows that some edges are in some overlays, and some are not in all."""
        self.seen.append((self.value(answer), {u * self.n + v for u, v in answer}))

    def shared(self):
        if not self.seen:
            return ""
        below = max(self.settled, default=0)
        need(all(value < below for value, _ in self.seen), "an overlay is worse than what is settled")
        known, every = self.settled[below], self.pairs
        have = {column for column, value in known.items() if value}
        some = set.union(*(edges for _, edges in self.seen)) & set.union(*(every - edges for _, edges in self.seen))
        need(not some & set(known), "an overlay contradicts what is settled: a row must be wrong")
        counts = f"have {len(have)} and miss {len(known) - len(have)}; {len(some)} are in some and missing in others"
        left = len(every) - len(known) - len(some)
        return f"shared: of {len(every)} pairs, all overlays of {self.problem} below {below} {counts}, {left} are open"

    def column(self, pair):
        if len(pair) != 2 and self.problem.startswith("2d-"):
            return (self.none, None, self.centre, self.other)[len(pair) - 1](*pair[: max(1, len(pair) - 1)])
        u, v = pair
        need(0 <= u < v < self.n and self.is_pair(u * self.n + v), f"{pair} is no pair of subscribers of a topic")
        return u * self.n + v

    def is_pair(self, column):
        """Whether a column is that of two nodes with a topic in common."""
        u, v = divmod(column, self.n)
        return u < self.n and not self.topics_of[u].isdisjoint(self.topics_of[v])

    @cached_property
    def topics_of(self):
        """The topics of each node."""
        found = [set() for _ in range(self.n)]
        for topic, nodes in enumerate(self.every):
            for v in nodes:
                found[v].add(topic)
        return found

    def cost(self, column):
        if column >= self.n * self.n:
            return 0
        return self.unit * (self.paid(*divmod(column, self.n)) if self.problem == "weighted-tco" else 1)

    def price(self, column, prices):
        return prices.get(column // self.n, 0) + prices.get(column % self.n, 0)

    def price_term(self, prices):
        """The rows degree(v) ≤ cap."""
        need(not prices or self.cap is not None, "degrees have a price in a case without a cap")
        return -sum(prices.values()) * (self.cap or 0)

    def row(self, kind, topic, labels=None, other=None):
        """With k labels, k − 1 edges cross; or of u, v and W (labels 0, 1, 2), one of uv, u–W and v–the others (3).

        With stars, some centre of the topic has all edges: one is enough, so uv is an edge if the centre is u or v. If
        the subscriber of label −1 may leave, k − 1 edges cross between the k labels of the others; and two edges cross
        every cut of three subscribers or more, as one of its ends may leave.
        """
        if kind == "near":
            return self.near(topic, labels)
        if kind == "edges":
            return self.edges(*labels)
        nodes = self.members[topic] if is_count(topic) and topic < len(self.members) else []
        if kind in ("centre", "star") and self.problem.startswith("2d-"):
            return self.centred(kind, topic, labels, other)
        if kind in ("number", "ends", "apart"):
            return self.without(kind, topic, nodes, labels)
        need(len(labels) == len(nodes) > 0, "the labels are not those of the topic's subscribers")
        parts, pairs = len(set(labels)), combinations(labels, 2)
        if kind == "parts":
            return self.among(topic, starmap(ne, pairs)), parts - 1
        if kind in ("leaving", "twice"):
            need(self.problem == "k-tco", "a row of fault tolerance is not valid here")
        if kind == "leaving":
            need(labels.count(-1) == 1, "no single subscriber leaves")
            return self.among(topic, (a != b and -1 not in (a, b) for a, b in pairs)), parts - 2
        if kind == "twice":
            need(len(nodes) > 2 and parts == 2, "no cut of three subscribers or more")
            return self.among(topic, starmap(ne, pairs)), 2
        need(kind == "pair" and self.problem.startswith("2d-"), f"rows {kind!r} are not valid here")
        helps = links_of(labels)
        return self.among(topic, ({a, b} in helps for a, b in pairs)), 1

    def among(self, topic, marks):
        """The coefficients of a topic's pairs: 1 for those that are marked."""
        columns = (u * self.n + v for u, v in combinations(self.members[topic], 2))
        return Named(("topic", topic), columns, bytes(marks))

    def edges(self, least, *terms):
        """A row of a problem of others: u, v and the coefficient of each pair."""
        pairs = dict(zip(zip(terms[::3], terms[1::3], strict=True), terms[2::3], strict=True))
        need(3 * len(pairs) == len(terms) and set(map(type, terms)) <= {int}, "a pair repeats, or is none")
        row = [(self.column(pair), value) for pair, value in pairs.items()]
        need(self.name and self.holds(pairs, least), "the row need not hold")
        return row, least

    def holds(self, pairs, least):
        """Whether Σ coefficient·x ≥ least for every overlay; a class for a problem of others answers that."""
        raise Wrong(f"{self.name} has rows of its own: name the file of its rules")

    def around(self, node):
        """The topics that a node shares, as bits of a number, and those of each pair with it, in rising order."""
        topics_of, shared = {}, [nodes for nodes in self.members if node in nodes and len(nodes) > 1]
        for bit, nodes in enumerate(shared):
            for v in nodes:
                topics_of[v] = topics_of.get(v, 0) | 1 << bit
        pairs = {min(node, v) * self.n + max(node, v): topics_of[v] for v in sorted(topics_of) if v != node}
        return topics_of.get(node, 0), pairs

    def near(self, node, weights):
        """A node has a neighbour in each topic that it shares: its neighbours weigh as much as the lightest such set.

        The weights are those of all nodes that share a topic with it, in rising order.
        """
        shared, pairs = self.around(node)
        fits = len(weights) == len(pairs) > 0 and all(map(is_count, weights))
        need(fits, "the weights are not those of the node's possible neighbours")
        others, order, left = sorted(zip(weights, pairs.values())), [], shared
        for _, topics in others:
            if topics & left:
                order, left = [topics & left, *order], left & ~topics  # those last that a lighter node has

        def lightest(left, below):
            """The least weight of nodes that together have all topics of `left`, or `below` if it is not less."""
            first = next(topics for topics in order if topics & left) & left
            first &= -first
            for weight, topics in others:
                if weight >= below:
                    break
                if topics & first:
                    rest = left & ~topics
                    if not rest:
                        return weight
                    if weight + others[0][0] < below:
                        below = weight + lightest(rest, below - weight)
            return below

        least = lightest(shared, sum(weights))
        return (Named(("near", node), pairs, bytes(weights)) if max(weights) < 256 else [*zip(pairs, weights)]), least

    def value(self, answer):
        """The value of an answer, which must be valid: the edges of an overlay."""
        edges = {(u, v) for u, v in answer}
        need(all(is_count(u) and is_count(v) and u < v < self.n for u, v in edges), "the answer has no such nodes")
        near = neighbours(edges, range(self.n))
        for nodes in self.every:
            need(self.serves(nodes, near), f"the answer does not connect {len(nodes)} subscribers of a topic")
        degree = max(map(len, near.values()))
        need(self.limit is None or degree <= self.limit, "a node of the answer has too many neighbours")
        if self.problem == "weighted-tco":
            return sum(self.paid(u, v) for u, v in edges)
        return {"minmax-tco": degree, "low-tco": len(edges) * degree}.get(self.problem, len(edges))

    def serves(self, nodes, near):
        """Whether an overlay, as the neighbours of each node, is what the subscribers of a topic ask for."""
        inside = set(nodes)
        if self.problem == "2d-star":
            return any(inside <= near[c] | {c} for c in nodes)
        if self.problem == "2d-true":
            return all(v in near[u] or near[u] & near[v] & inside for u, v in combinations(nodes, 2))
        leavers = nodes if self.problem == "k-tco" and len(nodes) > 2 else [None]
        rests = [inside - {left} for left in leavers]
        return all(reached(min(rest), near, rest) == rest for rest in rests)

    def conclude(self, cases):
        """The bound on the problem's value that cases, as (cap, bound on the edges), prove together."""
        if self.problem not in ("minmax-tco", "low-tco"):
            covering = [bound for cap, bound in cases if cap is None or (self.limit is not None and cap >= self.limit)]
            return max(covering, default=0)
        least = INFINITE
        for degree in range(min(2, max(map(len, self.every)) - 1), self.n):
            edges = max((bound for cap, bound in cases if cap is None or cap >= degree), default=0)
            if edges == INFINITE or 2 * edges > degree * self.n:
                continue  # the degrees add up to twice the edges
            least = min(least, degree if self.problem == "minmax-tco" else degree * edges)
        return least
