"""The fewest relays of connected overlays with one cycle at most, which `filtering` at an average degree of 2 allows.

A topic counts if it has two subscribers; T(v) are those of node v, f(S) counts those with subscribers in S and outside.
A bridge that separates S is used by the trees of exactly f(S) topics. Suppose that f(S) ≥ |T(v)| for all v ∈ S that are
not a node h of most topics, S without h: then Hu's (1974) argument gives that a star is the best tree, with
#topics − |T(h)| relays, as each bridge of a tree separates its lower end x from the root h, and |T(x)| topics use it.
The same holds for the trees that hang on a cycle: if each is rooted at its node of most topics, a star is no worse.

So the nodes fall into bags, in the order of the cycle, each around a node c_i of its own. Let X_i be the topics whose
tree enters bag i: an arc of the cycle for each topic, and T(v) ⊆ X_i for each v in the bag. The relays are
Σ |X_i| − |T(c_i)|, a circular path decomposition of least excess. The edges between bags are used Σ |X_i| − #topics
times, so one of them by fewer topics than |T(h)|. The search cuts the cycle there, for each set of topics that may use
this edge, and goes from bag to bag by the excess so far (Dijkstra). A bag that ends no topic's arc is no use, nor is a
topic before it is needed, nor one whose subscribers all are in bags; then T(c_i) ∩ X_i is what counts.

Hu: Optimum communication spanning trees, SIAM Journal on Computing 3(3), 1974, https://doi.org/10.1137/0203015
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ...instances.contract.overlay import Overlay
from ...instances.runtime.run import Clock
from ...instances.topics.instance import TopicInstance
from ..topics.compact.overlay_model import pair

_MOST_ALIKE = 2**30


class _State(NamedTuple):
    """Bits: nodes in bags so far; topics on the edge after the last bag, ended, and begun again before the cut."""

    placed: int
    open: int
    ended: int
    again: int


def fewest_relays(instance: TopicInstance, below: int, clock: Clock, *, cycle: bool) -> tuple[int, Overlay | None]:
    """A lower bound on the filtering cost of trees, or of overlays with one `cycle` too, that connect all nodes.

    The bound is the least cost, or `below` if that is less. In the first case an overlay comes along, which has that
    cost unless a node would be on the cycle twice. The bound is 0 if no topic has two subscribers, or some set of nodes
    without h shares fewer topics with the others than one of its nodes does. Exponential in the number of topics: 12
    topics and 25 nodes take seconds. Raises OutOfTime.
    """
    search = _Search(instance, clock)
    if not search.of_topic or not search.stars_are_best():
        return 0, None
    star = len(search.of_topic) - search.most
    bags: list[int] = []
    if cycle:
        for size in range(search.most):
            for shared in combinations(range(len(search.of_topic)), size):
                cost, found = search.least(sum(1 << t for t in shared), min(star, below))
                if found:
                    star, bags = cost, found
    if star >= below:
        return below, None
    return star, search.overlay(bags or [(1 << len(search.of_topic)) - 1])


class _Search:
    def __init__(self, instance: TopicInstance, clock: Clock) -> None:
        self.clock, self.num_nodes = clock, instance.num_nodes
        subscribers = [instance.subscribers(t).tolist() for t in range(instance.num_topics)]
        subscribers = [nodes for nodes in subscribers if len(nodes) > 1]
        self.of_topic = [sum(1 << v for v in nodes) for nodes in subscribers]
        self.topics = [0] * self.num_nodes
        for t, nodes in enumerate(subscribers):
            for v in nodes:
                self.topics[v] |= 1 << t
        self.most = max(map(int.bit_count, self.topics))  # topics of a node
        self.content = cache(self._content)

    def stars_are_best(self) -> bool:
        """Whether no set of nodes without h shares fewer topics with the others than one of its nodes."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_flow

        n, count = self.num_nodes, len(self.of_topic)
        arcs = [(v, n + t, _MOST_ALIKE) for v, mine in enumerate(self.topics) for t in _bits(mine)]
        arcs += [(t + count, v, capacity) for v, t, capacity in arcs]
        arcs += [(n + t, n + count + t, 1) for t in range(count)]
        tails, heads, capacities = np.array(arcs, np.int32).T
        graph = csr_array((capacities, (tails, heads)), shape=(n + 2 * count,) * 2)
        hub = max(range(n), key=lambda v: self.topics[v].bit_count())
        for v in range(n):
            self.clock.check()
            if v != hub and maximum_flow(graph, v, hub).flow_value < self.topics[v].bit_count():
                return False
        return True

    def _content(self, bag: int) -> tuple[int, int]:
        """The nodes that a bag may hold, and its excess."""
        nodes = sum(1 << v for v, mine in enumerate(self.topics) if not mine & ~bag)
        return nodes, bag.bit_count() - max((mine & bag).bit_count() for mine in self.topics)

    def least(self, shared: int, below: int) -> tuple[int, list[int]]:
        """The least excess below a limit where these topics use the edge at the cut, and bags; no bags if none."""
        start, everything = _State(0, shared, 0, 0), (1 << self.num_nodes) - 1
        reached: dict[_State, tuple[int, _State | None, int]] = {start: (0, None, 0)}
        waiting = [(0, start)]
        while waiting:
            self.clock.check()
            cost, state = heapq.heappop(waiting)
            if cost > reached[state][0]:
                continue
            if state.placed == everything and state.open == shared:
                return cost, self._way(state, reached)
            for bag in self._bags(state, shared, below - 1 - cost):
                nodes, excess = self.content(bag)
                if cost + excess >= below:
                    continue
                placed, again = state.placed | nodes, state.again | (bag & state.ended)
                over = sum(1 << t for t in _bits(bag & ~shared) if not self.of_topic[t] & ~placed)
                for pause in _subsets(bag & shared & ~again):
                    if over | pause or placed == everything:
                        after = _State(placed, bag & ~(over | pause), state.ended | over | pause, again)
                        if after not in reached or reached[after][0] > cost + excess:
                            reached[after] = cost + excess, state, bag
                            heapq.heappush(waiting, (cost + excess, after))
        return below, []

    def _bags(self, state: _State, shared: int, excess: int) -> set[int]:
        """The bags after a state that end some arcs: of topics, with all nodes, or of shared ones, with any nodes."""
        most = excess + self.most
        left = [t for t in range(len(self.of_topic)) if not (state.ended & ~shared | state.again) >> t & 1]
        needed = {(1 << t) | self._topics_of(self.of_topic[t] & ~state.placed) for t in left}
        paused = shared & ~state.ended
        needed |= {mine for v, mine in enumerate(self.topics) if mine & paused and not state.placed >> v & 1}
        bags, grown = {state.open}, [state.open]
        while grown:
            bag = grown.pop()
            for more in needed:
                larger = bag | more
                if larger not in bags and larger.bit_count() <= most:
                    bags.add(larger)
                    grown.append(larger)
        return bags

    def _topics_of(self, nodes: int) -> int:
        topics = 0
        for v in _bits(nodes):
            topics |= self.topics[v]
        return topics

    def _way(self, state: _State | None, reached: dict[_State, tuple[int, _State | None, int]]) -> list[int]:
        bags = []
        while state is not None:
            _, state, bag = reached[state]
            bags.append(bag)
        return bags[:-1]

    def overlay(self, bags: list[int]) -> Overlay:
        """A cycle of a node a bag, each of most topics; the other nodes are its neighbours in bags that hold them."""
        centres: list[int] = []
        for bag in bags:
            others = [v for v in range(self.num_nodes) if v not in centres]
            centres.append(max(others, key=lambda v: (self.topics[v] & bag).bit_count()))
        edges = {pair(u, centres[i - 1]) for i, u in enumerate(centres) if u != centres[i - 1]}
        for v in set(range(self.num_nodes)) - set(centres):
            holder = next(i for i, bag in enumerate(bags) if not self.topics[v] & ~bag)
            edges.add(pair(v, centres[holder]))
        return Overlay.from_edges(self.num_nodes, sorted(edges))


def _bits(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _subsets(bits: int) -> Iterator[int]:
    subset = bits
    while True:
        yield subset
        if not subset:
            return
        subset = (subset - 1) & bits
