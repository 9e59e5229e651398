"""Content-based overlays: which rows are valid, and why.

Users, brokers and channels are numbered as the head lists them. Of an answer, x(u, b) says that user u is on broker b,
d(a, b) that broker b has a subscriber of audience a (channels with the same subscribers), y(k, i, j) that the tree of
commodity k (a publisher and an audience), directed away from the publisher's broker, has the arc from i to j: the
cheapest of the answer's trees for the audience's channels, without what leads to no destination. Last, t(i, j) says
that the shared tree has a link.
"""

from __future__ import annotations

import hashlib
import struct
from fractions import Fraction
from itertools import combinations, product

from cases import INFINITE, Model, document, is_count, need, need_labels, neighbours, reached, reading

ROWS = ("on", "capacity", "cover", "there", "cut", "served", "enters", "links", "along", "tree")
_LOAD = Fraction(1, 10**9)  # a load may exceed a capacity by this share
_DETOUR = 1e-9  # a price may exceed a detour's by this share
_GAP = Fraction(5, 10**7)  # a tree ends at nodes whose answers are cheaper by less than this share


class ContentRules(Model):
    """Least access and core cost under three routings."""

    problems = ("content-steiner", "content-mst", "content-shared-tree")
    slack = Fraction(1, 10**6)

    def __init__(self, path, head):
        data, (users, brokers, channels) = read(path), (head[kind] for kind in ("users", "brokers", "channels"))
        self.problem, self.costs = head["problem"], {}
        for kind, names in (("users", users), ("brokers", brokers), ("channels", channels)):
            need_labels(names)
            need(len(names) == len(set(names)) and set(names) == set(data[kind]), f"the instance has other {kind}")
        self.core = [[price(data.get("core", {}), a, b) for b in brokers] for a in brokers]
        access = [[finite(data["users"][u]["access"][b]) for b in brokers] for u in users]
        limits = [data["brokers"][b]["capacity"] for b in brokers]
        rates = [[finite(data["users"][u].get("rates", {}).get(c, 0)) for c in channels] for u in users]
        wanted = [[c in data["users"][u].get("subscriptions", ()) for c in channels] for u in users]
        floats = [number for rows in (access, self.core) for row in rows for number in row]
        floats += [INFINITE if limit is None else finite(limit) for limit in limits]
        floats += [number for row in rates for number in row]
        packed = struct.pack(f"<3q{len(floats)}d", len(users), len(brokers), len(channels), *floats)
        packed += bytes(flag for row in wanted for flag in row)
        digest = hashlib.sha256(b"overlaybench content/1\n" + packed).hexdigest()
        need(digest == head["instance"], "the instance has another digest")
        self.users, self.brokers, self.channels = range(len(users)), range(len(brokers)), range(len(channels))
        self.wanted, self.rates = wanted, [[Fraction(rate) for rate in row] for row in rates]
        self.access = [[Fraction(number) for number in row] for row in access]
        self.core = [[Fraction(number) for number in row] for row in self.core]
        self.limits = [None if limit is None else Fraction(float(limit)) * (1 + _LOAD) for limit in limits]
        total = [sum(row[c] for row in self.rates) for c in self.channels]
        self.demands = [
            sum(self.rates[u]) + sum(total[c] - self.rates[u][c] for c in self.channels if wanted[u][c])
            for u in self.users
        ]

    def begin(self, facts):
        """Check that audiences are channels with the same subscribers, each in one, and list the columns."""
        need(not self.costs, "a second case: rows speak of one case's audiences")
        self.unit, self.audiences, commodities = facts["unit"], facts["audiences"], facts["commodities"]
        need(is_count(self.unit) and self.unit, "the unit is no number")
        listed = [channel for audience in self.audiences for channel in audience]
        need(len(listed) == len(set(listed)) and set(listed) <= set(self.channels), "a channel is in two audiences")
        self.members = []
        for audience in self.audiences:
            sets = {tuple(u for u in self.users if self.wanted[u][c]) for c in audience}
            need(len(sets) == 1, f"the channels {audience} have different subscribers")
            self.members += sets
        need(len({tuple(pair) for pair in commodities}) == len(commodities), "a commodity repeats")
        need(all(u in self.users and is_count(a) for u, a in commodities), "a commodity has no such publisher")
        self.commodities = [(u, a, sum(self.rates[u][c] for c in self.audiences[a])) for u, a in commodities]
        for u, prices in enumerate(self.access):
            self.costs |= {("x", u, b): self.units(self.demands[u], price) for b, price in enumerate(prices)}
        self.costs |= {("d", a, b): 0 for a in range(len(self.audiences)) for b in self.brokers}
        arcs = [(i, j) for i in self.brokers for j in self.brokers if i != j]
        for k, (_, _, rate) in enumerate(self.commodities):
            self.costs |= {("y", k, i, j): self.units(rate, self.core[i][j]) for i, j in arcs}
        if self.problem == "content-shared-tree":
            self.costs |= {("t", i, j): 0 for i, j in arcs if i < j}
        self.columns = list(self.costs)

    def units(self, amount, price):
        """Their product in units, rounded down: they are not negative."""
        return amount.numerator * price.numerator * self.unit // (amount.denominator * price.denominator)

    def may_end(self, below):
        """Costs need not be integers."""
        return type(below) in (int, float) and 0 <= below < INFINITE

    def column(self, items):
        """The column of a branch."""
        need(tuple(items) in self.costs, f"there is no column {items}")
        return tuple(items)

    def cost(self, column):
        """In units, rounded down."""
        return self.costs[column]

    def units_below(self, value):
        """Answers that are cheaper by less than the gap are not looked for."""
        return int(Fraction(value) * (1 - _GAP) * self.unit)

    def value_of(self, units):
        """Costs need not be integers."""
        return Fraction(units, self.unit)

    def least(self, below):
        """See `units_below`."""
        return Fraction(below) * (1 - _GAP)

    def row(self, kind, *items):
        """The coefficients and the right-hand side of a row, if it is valid."""
        need(kind in ROWS, f"rows {kind!r} are not valid here")
        coefficients, rhs = getattr(self, kind)(*items)
        need(all(column in self.costs for column, _ in coefficients), "the row has no such columns")
        return coefficients, rhs

    def on(self, u, sign):
        """A user is on one broker."""
        need(sign in (1, -1), "the sign is 1 or -1")
        return [(("x", u, b), sign) for b in self.brokers], sign

    def capacity(self, b, scale):
        """Demands within the capacity stay so when scaled and rounded down."""
        need(scale > 0 and self.limits[b] is not None, "no scale, or no capacity")
        scale = Fraction(scale)
        return [(("x", u, b), -int(self.demands[u] * scale)) for u in self.users], -int(self.limits[b] * scale)

    def cover(self, b, *users):
        """Users who together exceed a capacity are not all there."""
        need(len(set(users)) == len(users) and self.limits[b] is not None, "a user repeats, or no capacity")
        need(sum(self.demands[u] for u in users) > self.limits[b], "the users fit")
        return [(("x", u, b), -1) for u in users], 1 - len(users)

    def there(self, a, b, u):
        """A broker with a subscriber is a destination."""
        need(u in self.members[a], f"user {u} is no subscriber")
        return [(("d", a, b), 1), (("x", u, b), -1)], 0

    def served(self, a, b):
        """A destination has a subscriber."""
        return [*((("x", u, b), 1) for u in self.members[a]), (("d", a, b), -1)], 0

    def enters(self, k, i, j):
        """A spanning tree of source and destinations, directed away from the source, enters destinations only."""
        need(self.problem == "content-mst", "other brokers may relay")
        return [(("d", self.commodities[k][1], j), 1), (("y", k, i, j), -1)], 0

    def cut(self, k, target, *inside):
        """If a set of brokers has a destination, the publisher is in it or an arc enters it."""
        need(is_count(k), "a negative number of a commodity")
        publisher, audience, _ = self.commodities[k]
        within = set(inside)
        need(target in within and len(within) == len(inside), "the destination is not in the set")
        arcs = [("y", k, i, j) for i in self.brokers if i not in within for j in inside]
        entering = [(column, 1) for column in (*(("x", publisher, b) for b in inside), *arcs)]
        return [*entering, (("d", audience, target), -1)], 0

    def links(self, sign):
        """A spanning tree of all brokers has one link fewer than there are brokers."""
        need(sign in (1, -1), "the sign is 1 or -1")
        return [(("t", i, j), sign) for i, j in combinations(self.brokers, 2)], sign * (len(self.brokers) - 1)

    def along(self, k, i, j):
        """Messages take links of the shared tree, in one direction."""
        return [(("t", i, j), 1), (("y", k, i, j), -1), (("y", k, j, i), -1)], 0

    def tree(self, *inside):
        """A spanning tree has a link between a set of brokers and the others."""
        within = set(inside)
        need(within and within < set(self.brokers), "the set is empty, has all brokers, or one that does not exist")
        return [(("t", i, j), 1) for i, j in combinations(self.brokers, 2) if (i in within) != (j in within)], 1

    def value(self, answer):
        """The cost of an answer, which must be valid: the users' brokers, and trees as (channel, sources, links)."""
        at, trees = answer
        need(len(at) == len(self.users) and all(b in self.brokers for b in at), "a user has no broker")
        for b in self.brokers:
            load = sum(self.demands[u] for u in self.users if at[u] == b)
            need(self.limits[b] is None or load <= self.limits[b], f"broker {b} carries too much")
        cost = sum(self.demands[u] * self.access[u][at[u]] for u in self.users)
        for c in self.channels:
            destinations = {at[u] for u in self.users if self.wanted[u][c]}
            for source in set(at):
                rate = sum(self.rates[u][c] for u in self.users if at[u] == source)
                if rate and destinations - {source}:
                    cost += rate * self.tree_price(trees, c, source, destinations | {source})
        return cost

    def tree_price(self, trees, channel, source, members):
        """The price of the tree that carries a source's messages on a channel to some brokers."""
        if self.problem == "content-mst":
            return self.spanning_price(members)
        if self.problem == "content-steiner":
            trees = [tree for tree in trees if tree[0] == channel and source in tree[1]]
        need(len(trees) == 1, f"broker {source} has {len(trees)} trees for channel {channel}")
        links = {tuple(link) for link in trees[0][2]}
        near = neighbours(links, self.brokers)
        parts = reached(source, near, set(self.brokers))
        need(len(links) == len(parts) - 1 and {b for link in links for b in link} <= parts, "a tree is no tree")
        need(members <= parts, "a tree does not reach all destinations")
        if self.problem == "content-steiner":
            return self.links_price(links)
        return sum(self.core[a][b] for a, b in links if members - reached(source, cut_off(near, a, b), parts))

    def links_price(self, links):
        return sum(self.core[a][b] for a, b in links)

    def spanning_price(self, members):
        """The price of a minimum spanning tree."""
        inside, outside, total = {min(members)}, members - {min(members)}, 0
        while outside:
            cost, b = min((self.core[a][b], b) for a in inside for b in outside)
            total, inside, outside = total + cost, inside | {b}, outside - {b}
        return total


@reading
def read(path):
    """The object in a JSON file; all names are known, all numbers finite and not negative, the core is a metric."""
    need(path.endswith(".json"), "only JSON is in the standard library: write the instance as .json")
    data = document(path, "content/1")
    need(data.get("close", False) is False, "the prices are not closed: write the instance with its metric closure")
    users, brokers, channels, core = data["users"], data["brokers"], data["channels"], data.get("core", {})
    need(type(channels) is list and len(set(channels)) == len(channels), "the channels are no list, or one repeats")
    need(
        all(type(entry) is dict and entry for entry in (users, brokers)) and channels, "users, brokers or channels lack"
    )
    need_labels([*users, *brokers, *channels])
    need_known([core, *core.values()], brokers)
    for user in users.values():
        need(type(user.get("subscriptions", [])) is list, "subscriptions are no list")
        need_known([user["access"], brokers], user["access"])
        need_known([user["access"]], brokers)
        need_known([user.get("rates", {}), user.get("subscriptions", ())], channels)
        need(None not in user["access"].values(), "a user does not know a broker: write the instance with its price")
        for value in (*user["access"].values(), *user.get("rates", {}).values()):
            finite(value)
    for broker in brokers.values():
        need(broker["capacity"] is None or finite(broker["capacity"]) >= 0, "no capacity")
    prices = {a: {b: price(core, a, b) for b in brokers} for a in brokers}
    for a, b, via in product(brokers, repeat=3):
        need(prices[a][b] == prices[b][a], "two prices")
        need(prices[a][b] * (1 - _DETOUR) <= prices[a][via] + prices[via][b], "the prices are no metric")
    return data


def need_known(entries, names):
    """Stop if an object or a list of the instance names what does not exist."""
    need(set().union(*entries) <= set(names), "the instance names what does not exist")


def finite(value):
    """A number of the instance as the machine holds it: finite, not negative, and 0 without a sign."""
    need(type(value) in (int, float), "the instance has another value in place of a number")
    found = float(value) + 0.0
    need(0 <= found < INFINITE, "the instance has a number that is negative or too large")
    return found


def cut_off(near, a, b):
    """Neighbours without one link."""
    return near | {a: near[a] - {b}, b: near[b] - {a}}


def price(given, a, b):
    """The price between two brokers, given in one direction or both."""
    if a == b:
        need(finite(given.get(a, {}).get(a, 0)) == 0, "a broker has a price to itself")
        return 0.0
    return finite(given.get(a, {}).get(b, given.get(b, {}).get(a)))
