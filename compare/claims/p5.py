"""P5's rules of §2 to §6 as exact checks on small networks, the data sets, and the columns of its figures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product
from random import Random
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt
import pandas as pd

from ...heuristics.brokers.kernels.forwarding import S1, S2, STRATEGIES
from ...heuristics.brokers.kernels.queueing import Timing, simulate
from ...heuristics.brokers.kernels.working_map import WorkingMaps, add_link, has_bit, working_maps
from ...heuristics.brokers.soft_links import disseminate_over
from ...instances.brokers.files import BROKERS
from ...instances.brokers.network import BrokerNetwork, BrokerTree
from ...instances.brokers.predicates import Publications, Subscriptions, matching_shares
from ...instances.brokers.problems import Dissemination, is_wanted, message_hops
from ...instances.contract.catalogue import WORKLOADS
from ...instances.contract.result import Status
from ..intervals import mean_interval, share_interval
from ..studies.task import Recipe
from .bench import SEED, Bench
from .claim import RISES, CaseTally, Judgement, Limit, Line, Verdict, about, at_least, at_most, claim, exact, judged
from .delta_move import DeltaMove, MovingNetwork
from .rows import Part, judge_parts
from .simulator.covering import WorkingTable, covering_set, matching_effort, predicates_evaluated

_Link = tuple[int, int]
BOTH = SPARSE, DENSE = "brokers-sparse", "brokers-dense"
UNCAPPED, SERVICES = ("s0", "s1", "s2"), (500, 1000, 2000, 4000, 8000)
_SMALL = {"brokers": 20, "degree": 4, "subscriptions": 60, "publications": 60, "fanout": 7, "spread": 60}
_DELTAS, _FANOUT, _RADIUS, _BROKERS, _PUBLICATIONS = (1, 2, 3, 4, 5), 35, 4, 10, 6
COVERING = "brokers-covering"
_YIELDS = {SPARSE: (0.38, 0.50, 0.61, 0.64), DENSE: (0.50, 0.60, 0.76, 0.77)}
_FORWARDERS = {SPARSE: (559, 348, 216, 195), DENSE: (1010, 687, 325, 300)}
_TRAFFIC = (3400, 2850, 2200, 2200)
CONFIRMED, CONTRADICTED = Verdict.CONFIRMED, Verdict.CONTRADICTED
# Data set, workload, brokers, subscriptions, published share of subscriptions that a publication matches.
DATA_SETS = (
    ("DT1", SPARSE, 120, 6552, 0.08),
    ("DT2", DENSE, 120, 19_472, 0.53),
    ("DT3", SPARSE, 250, 28_690, 0.09),
    ("DT4", SPARSE, 21, 900, 0.09),
    ("DT5", DENSE, 21, 6000, 0.54),
    ("DT-C", COVERING, 500, 10_000, 0.04),
)


def small_networks(count: int, **shape: int) -> Iterator[tuple[BrokerNetwork, list[_Link]]]:
    """Networks on random trees, and random soft links within Δ and the fanout."""
    for number in range(count):
        network = WORKLOADS["brokers-sparse"].generate(seed=SEED + number, tree="random", **(_SMALL | shape))
        random = np.random.default_rng(number)
        spare, links = network.spare_links().copy(), []
        for u, v in random.permutation(network.allowed_links()).tolist():
            if spare[u] and random.random() < 0.5:
                spare[u] -= 1
                links.append((u, v))
        yield network, sorted(links)


def _one_source(tree: BrokerTree, wanted: list[int], count: int, gap: int, *, fanout: int) -> BrokerNetwork:
    """Publications of broker 0, `gap` microseconds apart, that these brokers want."""
    zero = np.zeros((len(wanted), 1), dtype=np.int32)
    subscriptions = Subscriptions(np.array(wanted, dtype=np.int32), zero, zero)
    none = np.zeros((count, 1), dtype=np.int32)
    traffic = Publications(np.arange(count) * gap, np.zeros(count, dtype=np.int32), none)
    return BrokerNetwork(tree, subscriptions, traffic, radius=4, fanout=fanout)


@claim("P5.S2.1")
def EXAMPLE(bench: Bench) -> Judgement:
    """Fig. 2: A–N1–N2, N2–N3, N2–N4, N4–N5, N4–N6; soft links of A to N2, N3, N5 and N6."""
    tree = BrokerTree.of(7, [(0, 1), (1, 2), (2, 3), (2, 4), (4, 5), (4, 6)])
    network, tally = _one_source(tree, [3, 5, 6], 1, 1, fanout=5), CaseTally()
    for strategy, expected in (("s0", [1]), ("s1", [2]), ("s2", [3, 5, 6])):
        links = [] if strategy == "s0" else [(0, 2), (0, 3), (0, 5), (0, 6)]
        answer = disseminate_over(network, STRATEGIES.index(strategy), np.array(links, np.int32).reshape(-1, 2))
        sent = sorted(receiver for _, sender, receiver in answer.messages.tolist() if sender == 0)
        tally.add(sent == expected, f"under {strategy.upper()} A sends to {sent}")
    return tally.judgement(exact(tally.n - tally.failed, tally.n))


def contraction_of(tree: BrokerTree, a: int, links: set[int], radius: int) -> dict[int, int]:
    """What each broker within a radius of `a` is contracted into, step by step from the farthest one."""
    graph = nx.ego_graph(nx.Graph(tree.links.tolist()), a, radius=radius)
    far = nx.single_source_shortest_path_length(graph, a)
    stands_for = {v: v for v in graph}
    for v in sorted(graph, key=lambda v: (-far[v], v)):
        if v != a and v not in links:
            closer = next(w for w in graph[v] if far[w] < far[v])
            stands_for = {x: closer if at == v else at for x, at in stands_for.items()}
            graph = nx.contracted_nodes(graph, closer, v, self_loops=False)
    return stands_for


@claim("P5.S3.1")
def MAPS(bench: Bench) -> Judgement:
    """Each map against a contraction from scratch, the sizes of its sets, and the effect of one more soft link."""
    tally, entries = CaseTally(), 0
    for number, (network, links) in enumerate(small_networks(3 if bench.quick else 30)):
        tree, maps = network.tree, working_maps(network.tree, links, capacity=network.num_brokers)
        for a in range(network.num_brokers):
            ends = set(tree.neighbours[a].tolist()) | {v for u, v in links if u == a}
            near = contraction_of(tree, a, ends, network.radius)
            entries += len(near)
            same = all(at == (a if v == a else maps.ends[a, maps.slots[a, v]]) for v, at in near.items())
            tally.add(same, f"network {number}: the map of broker {a} is no contraction")
            tally.add(_largest_set(maps, a) <= len(ends), f"network {number}: broker {a} has larger sets than links")
        tally.add(not _one_link_more(network, links, maps), f"network {number}: a soft link changed maps of others")
    return tally.judgement(exact(1.0 if not tally.failed else 0.0, entries))


def _largest_set(maps: WorkingMaps, a: int) -> int:
    sizes = [
        sum(has_bit(sets[a, slot], other) for other in range(maps.ends.shape[1]))
        for slot in maps.order[a, : maps.counts[a]].tolist()
        for sets in (maps.between, maps.beyond, maps.behind)
    ]
    return max(sizes, default=0)


def _one_link_more(network: BrokerNetwork, links: list[_Link], maps: WorkingMaps) -> bool:
    """Add a soft link; whether it changes the maps of other brokers."""
    u, v = next((u, v) for u, v in network.allowed_links().tolist() if (u, v) not in links)
    before: list[npt.NDArray[Any]] = [np.array(array) for array in maps]
    add_link(maps, u, v, True)
    others = np.arange(network.num_brokers) != u
    return any(not np.array_equal(old[others], np.asarray(new)[others]) for old, new in zip(before, maps, strict=True))


def anchors_along(path: list[int], radius: int, towards: str) -> list[int | None]:
    """The anchor at each broker of a propagation path from the subscriber's broker; None if no broker is left."""
    index: int | None = 0
    found: list[int | None] = [path[0]]
    for hops in range(len(path) - 1):
        if hops > radius - 1 and index is not None:
            index = index + 1 if towards == "receiver" else (index - 1 if index else None)
        found.append(None if index is None else path[index])
    return found


@claim("P5.S4.1")
def ANCHORS(bench: Bench) -> Judgement:
    """Anchors passed on hop by hop, moved towards the receiver, and as printed towards the subscriber."""

    def along(towards: str) -> Judgement:
        tally = CaseTally()
        for network, _ in small_networks(3 if bench.quick else 30):
            far = network.tree.distances
            for subscriber, path in nx.single_source_shortest_path(nx.Graph(network.tree.links.tolist()), 0).items():
                back = path[::-1]
                for at, anchor in zip(back, anchors_along(back, network.radius, towards), strict=True):
                    near = anchor is not None and far[at, anchor] == min(network.radius, far[at, subscriber])
                    tally.add(near, f"the anchor of {subscriber} at {at} is {anchor}")
        return tally.judgement(tally.share)

    printed = along("subscriber")
    return replace(along("receiver"), sensitivity=[printed.line("as printed")])


@claim("P5.S4.3")
def COVERING_SETS(bench: Bench) -> Judgement:
    """What a covering set matches, the predicates of covered subscriptions, and the example of three subscriptions."""
    tally, fewer = CaseTally(), []
    for seed in range(5 if bench.quick else 30):
        network = WORKLOADS[COVERING].generate(seed=seed, brokers=12, subscriptions=400, publications=60)
        lows, highs = network.subscriptions.lows, network.subscriptions.highs
        widths = (highs.astype(np.int64) - lows).sum(axis=1)
        kept = covering_set(lows, highs, np.argsort(-widths, kind="stable"))
        for point in network.publications.values:
            matched = ((lows <= point) & (point <= highs)).all(axis=1)
            tally.add(matched.any() == matched[kept].any(), f"seed {seed}: the covering set misses {point}")
        predicates, covered = network.subscriptions.predicates, np.ones(len(lows), dtype=np.bool_)
        covered[kept] = False
        fewer.append(float(predicates[covered].mean() - predicates[kept].mean()))
    lows, highs = np.array([[0], [2], [4]], dtype=np.int32), np.array([[9], [7], [5]], dtype=np.int32)
    values = np.array([[1], [3], [4], [20]], dtype=np.int32)
    sets = [covering_set(lows, highs, np.array(link, dtype=np.int64)) for link in ([0, 1, 2], [0], [1, 2])]
    tables = [WorkingTable(lows[kept], highs[kept], np.array([0, len(kept), len(kept)])) for kept in sets]
    one, *two = (predicates_evaluated(table, values) for table in tables)
    found = [kept.tolist() for kept in sets]
    tally.add(found == [[0], [0], [1]] and one < sum(two), f"the example has covering sets {found}")
    more = judged(mean_interval(fewer), RISES)
    return tally.judgement(more.number) if tally.failed else more


def _capped(strategy: str) -> dict[str, int]:
    """Uplinks of 2 a second for SH, which is S2 without caps."""
    return {"uplink": 2} if strategy == "sh" else {}


@claim("P5.S5.1")
def DELIVERY(bench: Bench) -> Judgement:
    """The judge of soft links on every strategy, while links are replaced; and S0's messages without soft links."""
    tally, alike = CaseTally(), CaseTally()
    for strategy in STRATEGIES:
        options = {} if strategy == "s0" else {"rounds": 8, "window": 15, "candidates": 3}
        for number, (network, _) in enumerate(small_networks(4 if bench.quick else 40, **_capped(strategy))):
            result = bench.run(strategy, network, "soft-links", **options)
            tally.add(result.status is not Status.FAILED, f"{strategy}, network {number}: {result.reason}")
            if strategy != "s0":
                of_tree = bench.run("s0", network, "soft-links").answer
                answer = bench.run(strategy, network, "soft-links", rounds=0).answer
                alike.add(answer == of_tree, f"{strategy}, network {number}")
    line = alike.judgement(alike.share).line("without soft links S1, S2 and SH send the messages of S0")
    return tally.judgement(tally.share, sensitivity=[line])


@claim("P5.I.1")
def ROUTES(bench: Bench) -> Judgement:
    """The routes between pairs of brokers along their primary path, over the links of S2."""
    shares, means = [], []
    for seed in range(2 if bench.quick else 10):
        network = WORKLOADS[SPARSE].generate(seed=SEED + seed, publications=2400)
        answer = bench.answer("s2", network, "soft-links")
        routes, apart = route_counts(network.tree, answer.soft_links), network.tree.distances >= 2
        shares.append(float((routes[apart] >= 2).mean()))
        means.append(float(np.exp(np.log(routes[apart]).mean())))
    lines = [Line("geometric mean of the routes of a pair", mean_interval(means), CONFIRMED)]
    return judged(mean_interval(shares), at_least(0.5), sensitivity=lines)


def route_counts(tree: BrokerTree, links: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
    """The routes from u to v over links that each lead nearer to v along the primary path, shape (n, n)."""
    far, size = tree.distances, tree.num_brokers
    routes = np.eye(size)
    pairs = np.concatenate([tree.links, tree.links[:, ::-1], links])
    for v in range(size):
        onward = pairs[far[pairs[:, 0], v] == far[pairs[:, 0], pairs[:, 1]] + far[pairs[:, 1], v]]
        for u, w in onward[np.argsort(far[onward[:, 0], v], kind="stable")].tolist():
            routes[u, v] += routes[w, v]
    return routes


@claim("P5.S6.1")
def LOAD_FACTOR(bench: Bench) -> Judgement:
    """A broker whose fanout leaves one soft link: to a broker farther away, or behind a more loaded one."""
    apart = _one_source(BrokerTree.of(6, [(0, 1), (1, 2), (0, 3), (3, 4), (4, 5)]), [2, 5], 40, 1000, fanout=3)
    cases = [("the link over 3 hops, not 2", apart, 5, 10)]
    for loaded, expected in ((1, 2), (3, 4)):
        caps = [int(v == loaded) for v in range(5)]
        tree = BrokerTree.of(5, [(0, 1), (1, 2), (0, 3), (3, 4)], uplinks=caps)
        traffic = _one_source(tree, [2, 4], 400, 100_000, fanout=3)
        cases.append((f"the link that bypasses loaded broker {loaded}", traffic, expected, 100))

    def kept(factor: str) -> Judgement:
        tally = CaseTally()
        for name, network, expected, window in cases:
            answer = bench.run("s2", network, "soft-links", load_factor=factor, window=window).answer
            links = [] if answer is None else [v for u, v in answer.soft_links.tolist() if u == 0]
            tally.add(links == [expected], f"{name}: the soft link goes to {links}")
        return tally.judgement(exact(tally.n - tally.failed, tally.n))

    printed = kept("min")
    return replace(kept("max"), sensitivity=[printed.line("load factor as printed, with min")])


# Δ-moves


def possible_moves(tree: BrokerTree, radius: int) -> list[DeltaMove]:
    """Every Δ-move in a tree."""
    far, hops, size = tree.distances, tree.next_hops, range(tree.num_brokers)
    return [
        DeltaMove(tree, radius, mover, int(hops[mover, new]), new)
        for mover in size
        for new in size
        if 2 <= far[mover, new] <= radius
    ]


def random_tree(random: Random, size: int) -> BrokerTree:
    """A tree in which each broker is attached to a random earlier one."""
    return BrokerTree.of(size, [(random.randrange(v), v) for v in range(1, size)])


def moved(seed: int, one_view: bool) -> tuple[int, int]:
    """Publications lost, and those delivered more than once, while a random move is under way."""
    random = Random(seed)
    tree = random_tree(random, _BROKERS)
    move = random.choice(possible_moves(tree, _RADIUS))
    far, size = tree.distances, range(_BROKERS)
    links = [(u, v) for u, v in product(size, size) if 2 <= far[u, v] <= _RADIUS and random.random() < 0.5]
    network = MovingNetwork(move, links, random.choice((S1, S2)), one_view=one_view)
    published = network.interleave(random, _PUBLICATIONS)
    wanted = {(number, v) for number, (source, matching) in enumerate(published) for v in matching if v != source}
    return len(wanted - set(network.delivered)), len(network.delivered) - len(set(network.delivered))


MOVED_SEEDS = {True: range(150, 310), False: range(2000)}


@claim("P5.S6.5")
def MOVES(bench: Bench) -> Judgement:
    """Random moves with publications under way, by each broker's current view and by one view for each publication."""

    def wrong(one_view: bool) -> Judgement:
        tally = CaseTally()
        for seed in MOVED_SEEDS[bench.quick]:
            lost, repeated = moved(seed, one_view)
            tally.add(not lost and not repeated, f"seed {seed}: {lost} lost, {repeated} repeated")
        return tally.judgement(share_interval(tally.failed, tally.n))

    repaired = wrong(True)
    return replace(wrong(False), sensitivity=[repaired.line("one view for each publication")])


@claim("P5.S6.6")
def AFFECTED(bench: Bench) -> Judgement:
    """The brokers whose anchors change in every move on random trees, against the sets that §6 names."""
    ends, path = "N's before and B's after", "also within Δ of the moving path"
    mover = "old and new Δ-neighbourhood of the mover, as printed"
    outside, changed = {ends: 0, mover: 0, path: 0}, 0
    for radius, seed in product((3, _RADIUS), range(20 if bench.quick else 200)):
        for move in possible_moves(tree := random_tree(Random(seed), _BROKERS), radius):
            after = move.tree_after()
            different = set(np.flatnonzero((_anchors(tree, radius) != _anchors(after, radius)).any(axis=1)).tolist())
            changed += len(different)
            outside[ends] += len(different - _near(radius, (tree, move.old), (after, move.new)))
            outside[mover] += len(different - _near(radius, (tree, move.mover), (after, move.mover)))
            outside[path] += len(different - move.affected)
    first, *lines = (Line.of(name, exact(missed, changed), not missed) for name, missed in outside.items())
    return Judgement(first.verdict, f"of {changed} brokers whose anchors change", first.number, lines)


def _near(radius: int, *centres: tuple[BrokerTree, int]) -> set[int]:
    """The brokers within a radius of a broker, each in its tree."""
    return {v for tree, centre in centres for v in np.flatnonzero(tree.distances[centre] <= radius).tolist()}


def _anchors(tree: BrokerTree, radius: int) -> npt.NDArray[np.int32]:
    """The broker that is min(radius, distance) hops from u towards v, shape (n, n)."""
    size = np.arange(tree.num_brokers, dtype=np.int32)
    at = np.repeat(size[:, None], len(size), axis=1)
    for _ in range(radius):
        at = tree.next_hops[at, size[None, :]]
    return at


@claim("P5.S6.7")
def ANY_TREE(bench: Bench) -> Judgement:
    """Whether moves by one hop lead from a path to every tree on the same brokers."""
    size = 4 if bench.quick else 6
    start = BrokerTree.of(size, [(v, v + 1) for v in range(size - 1)])
    reached, waiting = {start.links.tobytes()}, [start]
    while waiting:
        for move in possible_moves(waiting.pop(), 2):
            after = move.tree_after()
            if after.links.tobytes() not in reached:
                reached.add(after.links.tobytes())
                waiting.append(after)
    trees = size ** (size - 2)
    text = f"{len(reached)} of {trees} trees on {size} brokers"
    return judged(exact(len(reached) / trees, trees), at_least(1), because=text)


@claim("P5.S7.1")
def RADIUS(bench: Bench) -> Judgement:
    """The most brokers within Δ of one broker, and the brokers that a move affects, by Δ."""
    tree = WORKLOADS[SPARSE].generate(seed=SEED, publications=1, subscriptions=1).tree
    most = {delta: int((tree.distances <= delta).sum(axis=1).max()) - 1 for delta in _DELTAS}
    moves = Random(SEED).sample(possible_moves(tree, 2), 40)
    sizes = {r: [len(DeltaMove(tree, r, one.mover, one.old, one.new).affected) for one in moves] for r in _DELTAS[1:]}
    lines = [
        Line.of(f"brokers affected by a move, Δ = {r + 1} − Δ = {r}", number, RISES)
        for r in _DELTAS[1:-1]
        if (number := mean_interval(np.subtract(sizes[r + 1], sizes[r])))
    ]
    least = min((delta for delta, count in most.items() if count >= _FANOUT), default=0)
    right = least == 4 and all(line.verdict is CONFIRMED for line in lines)
    text = ", ".join(f"{count} at Δ = {delta}" for delta, count in most.items())
    return Judgement(CONFIRMED if right else CONTRADICTED, f"most neighbours: {text}", exact(most.get(3, 0)), lines)


# Observations of our own


@claim("W.DATA")
def WORKLOAD_SHARES(bench: Bench) -> Judgement:
    """The mean share of the subscriptions that a publication of our workloads matches, beside that of each data set."""
    lines = []
    for name, workload, brokers, subscriptions, published in DATA_SETS:
        own = mean_interval(
            matched_share(workload, SEED + seed, brokers, subscriptions) for seed in range(2 if bench.quick else 10)
        )
        near = Limit(published - 0.05, published + 0.05)
        lines.append((abs(own.mean - published), Line.of(f"{name}, published {published:g}", own, near)))
    largest = max(gap for gap, _ in lines)
    return judged(exact(largest, len(lines)), at_most(0.05), sensitivity=[line for _, line in lines])


def matched_share(workload: str, seed: int, brokers: int, subscriptions: int) -> float:
    """The mean share of the subscriptions that a publication matches, in one network."""
    shape = {"brokers": brokers, "subscriptions": subscriptions, "publications": 400}
    network = WORKLOADS[workload].generate(seed=seed, **shape)
    return float(matching_shares(network.subscriptions, network.publications).mean())


@claim("W.SUMS")
def PUBLISHED_SUMS(bench: Bench) -> Judgement:
    """Arithmetic on Table 2 and Figure 11, and what 3,600 publications a second would mean."""
    deliveries = {SPARSE: 348, DENSE: 1034}
    gaps = [
        abs(deliveries[law] / (deliveries[law] + count) - share)
        for law in _YIELDS
        for count, share in zip(_FORWARDERS[law], _YIELDS[law], strict=True)
    ]
    rates = [t * 0.6 / (deliveries[DENSE] + f) for t, f in zip(_TRAFFIC, _FORWARDERS[DENSE], strict=True)]
    fit = max(abs(rate - 1) for rate in rates) <= 0.03
    least = exact(min(rates), len(_TRAFFIC))
    lines = [Line.of("messages a second of Figure 11 ÷ messages of Table 2, least", least, fit)]
    for unit, rate in (("second", 3600 * 60), ("minute", 3600)):
        late = []
        for seed in range(2 if bench.quick else 5):
            network = WORKLOADS[DENSE].generate(seed=SEED + seed, publications=6000, rate=rate)
            result = bench.run("s0", network, "soft-links", service=1000)
            late.append(1 - float(result.counters["queued_deliveries"]) / network.num_deliveries)
        text = f"share that S0 leaves undelivered at 3,600 a {unit}"
        lines.append(Line.of(text, mean_interval(late), at_most(0.02)))
    return judged(exact(max(gaps), len(gaps)), at_most(0.01), sensitivity=lines)


# The figures: columns for the claims, figures and tables of the file of runs

_STATIC = "o_simulate != 'system'"
_SAMPLED, _MATCHED, _BIN, _PAIR_LEAST = 60, 200, 10, 3


def measured(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with deliveries in time (done, thousands), their share, hops, delay in ms, messages a second (rate).

    A run of the system has its own counts, another one those of its queues, or of its messages without service times.
    """
    system = rows["o_simulate"] == "system"
    periods, empty = rows["o_periods"].fillna(1), pd.Series(np.nan, rows.index)
    minutes = rows["p_publications"] / rows["p_rate"] * periods

    def pick(in_system: str, queued: str) -> pd.Series:
        own, queues = (rows.get(f"c_{name}", empty).astype(float) for name in (in_system, queued))
        return own.where(system, queues)

    done = pick("system_deliveries", "queued_deliveries")
    return rows.assign(
        minutes=minutes,
        done=done / 1000,
        share=done / (rows["deliveries"] * periods),
        hops=pick("system_hops", "queued_hops"),
        delay=pick("system_delay_ms", "queued_delay_ms"),
        rate=pick("system_messages", "queued_messages") / (60 * minutes),
        yields=rows.get("c_system_yield", empty).where(system, rows["yield"]),
        mean_hops=rows.get("c_system_hops", empty).where(system, rows["average_hops"]),
        fall=1 - rows["yield"],
    )


def with_copies(rows: pd.DataFrame) -> pd.DataFrame:
    """`measured`, and the copies of a publication that a forwarding broker sends."""
    copies = []
    for answer, links in zip(rows["answer"], rows["soft_links"], strict=True):
        publication, sender, _ = np.asarray(answer)[1 + 2 * int(links) :].reshape(-1, 3).astype(np.int64).T
        copies.append(len(sender) / len(np.unique((publication << 20) + sender)))
    return measured(rows).assign(copies=copies)


@claim("P5.F10.1", "p5-low-rate")
def PAIRS(bench: Bench) -> Judgement:
    """The share of the mean delay of a pair of a source and a receiver that S2 saves: the largest, and all pairs."""
    rows = bench.on("p5-low-rate").query(f"{_STATIC} and law == '{DENSE}' and method in ('s0', 's1', 's2')")
    saved: dict[str, list[npt.NDArray[np.float64]]] = {"s1": [], "s2": []}
    for draw in sorted(set(rows["draw"]))[: 2 if bench.quick else 3]:
        own = {row["method"]: row for row in rows[rows["draw"] == draw].to_dict("records")}
        if len(own) == 3:
            delays = {method: pair_delays(row) for method, row in own.items()}
            for method, each in saved.items():
                each.append(1 - (delays[method] / delays["s0"]).dropna().to_numpy())
    largest = mean_interval([float(each.max()) for each in saved["s2"]])
    every = np.concatenate(saved["s2"])
    shown = {
        "largest share saved by S1": mean_interval([float(each.max()) for each in saved["s1"]]),
        "mean over all pairs, S2": mean_interval([float(each.mean()) for each in saved["s2"]]),
        "share of pairs that S2 delays": share_interval(int((every < 0).sum()), len(every)),
    }
    lines = [Line(name, number, Verdict.CONFIRMED) for name, number in shown.items()]
    return judged(largest, at_least(0.5), RISES, sensitivity=lines)


def pair_delays(row: Mapping[str, Any]) -> pd.Series:
    """The mean milliseconds from source to receiver of each pair with a few deliveries: 1 a hop, and 1 a match."""
    network, answer = _answered(row)
    wanted = is_wanted(network, answer)
    publication, _, receiver = answer.messages[wanted].T
    hops = message_hops(network, answer)[wanted]
    pairs = pd.DataFrame(
        {"source": network.publications.sources[publication], "receiver": receiver, "ms": 2 * hops + 1}
    )
    means = pairs.groupby(["source", "receiver"])["ms"].agg(["mean", "size"])
    return means.loc[means["size"] >= _PAIR_LEAST, "mean"]


def with_effort(rows: pd.DataFrame) -> pd.DataFrame:
    """`measured` with covering sets of some brokers and predicates evaluated per publication, also in percent.

    The percentages are of the smallest fanout on the same data. In the system predicates are counted, and divided by
    the matches.
    """
    covering, evaluations = [], []
    for row in rows.to_dict("records"):
        if row["o_simulate"] == "system":
            covering.append(row["c_system_covering"])
            matches = row["c_system_messages_all"] + row["c_system_published"]
            evaluations.append(row["c_system_evaluations"] / matches)
            continue
        network, answer = _answered(row)
        brokers = np.arange(0, network.num_brokers, max(1, network.num_brokers // _SAMPLED), dtype=np.int32)
        covered, evaluated = matching_effort(network, answer.soft_links, brokers, _MATCHED)
        covering.append(covered)
        evaluations.append(evaluated)
    found = measured(rows).assign(covering=covering, evaluations=evaluations)
    base = found[found["p_fanout"] == 5].set_index(["draw", "o_simulate"])[["covering", "evaluations"]]
    least = base.reindex(pd.MultiIndex.from_frame(found[["draw", "o_simulate"]])).to_numpy()
    percent = 100 * found[["covering", "evaluations"]].to_numpy() / least
    return found.assign(covering_percent=percent[:, 0], evaluations_percent=percent[:, 1])


def with_longest(rows: pd.DataFrame) -> pd.DataFrame:
    """`measured`, without the five-second runs where there are longer ones of the same setting."""
    rows = measured(rows)
    longest = rows[rows["minutes"] < 2].groupby(["p_brokers", "o_service", "p_fanout", "law"])["minutes"].max()
    keys = pd.MultiIndex.from_frame(rows[["p_brokers", "o_service", "p_fanout", "law"]])
    return rows.assign(longest=rows["minutes"].to_numpy() >= longest.reindex(keys).to_numpy())


_MORE = Part("largest rise over S0", "most / s0 - 1", about(1.15), RISES, measure="done", each="draw", published=1.15)


@claim("P5.F13.1", "p5-saturated")
def MATCHING_TIMES(bench: Bench) -> Judgement:
    """The largest rise of deliveries by the matching time, which the paper does not give."""
    rows = with_longest(bench.on("p5-saturated"))
    rows = rows.query(f"{_STATIC} and p_brokers == 120 and p_uplink == 0 and p_fanout == 35 and minutes < 0.1")
    rows = rows[rows["law"] == SPARSE]
    found = {service: judge_parts([_MORE], rows[rows["o_service"] == service]) for service in SERVICES}
    rises = [one.number.mean for one in found.values() if one.number]
    lines = [Line(f"{service / 1000:g} ms a match", one.number, one.verdict) for service, one in found.items()]
    text = f"on the matching time: {min(rises, default=0):+.0%} to {max(rises, default=0):+.0%} at 0.5 to 8 ms a match"
    reached = bool(rises) and min(rises) < 1.15 < max(rises)
    verdict = Verdict.DEPENDS if reached else Verdict.NOT_DECIDED
    return Judgement(verdict, text, found[4000].number, lines)


@claim("P5.F13c", "p5-planetlab")
def PLANETLAB(bench: Bench) -> Judgement:
    """Shares delivered by cap, and the caps under which sparse and dense data are as published."""
    rows = measured(bench.on("p5-planetlab"))
    full, part = at_least(0.99), at_most(0.99)
    of = {s: Part(f"share of {s.upper()}", s, measure="share", each="draw") for s in UNCAPPED}
    more = [Part(f"{s.upper()} − S0", f"{s} - s0", RISES, measure="share", each="draw") for s in ("s1", "s2")]

    def as_published(own: pd.DataFrame, law: str) -> bool:
        numbers = {s: of[s].number(own) for s in UNCAPPED}
        limits = {"s0": part, **dict.fromkeys(("s1", "s2"), full if law == SPARSE else part)}
        held = all(number is not None and limits[s].holds(number) for s, number in numbers.items())
        return held and judge_parts(more, own).verdict is Verdict.CONFIRMED

    fitting, details = dict[str, list[int]](), []
    for law in BOTH:
        static = rows[(rows["law"] == law) & (rows["o_simulate"] != "system")]
        by_cap = {int(cap): static[static["p_uplink"] == cap] for cap in sorted(set(static["p_uplink"]))}
        fitting[law] = [cap for cap, own in by_cap.items() if as_published(own, law)]
        shown = (f"{cap}: {', '.join(f'{of[s].number(own)}' for s in UNCAPPED)}" for cap, own in by_cap.items())
        details.append(f"{_data(law)}, shares of S0, S1, S2 by cap: {'; '.join(shown)}")
    common = sorted(set(fitting[SPARSE]) & set(fitting[DENSE]))
    each = "; ".join(
        f"{_data(law)} as published at {', '.join(map(str, caps)) or 'no cap'}" for law, caps in fitting.items()
    )
    lines = []
    for law in BOTH:
        own = rows[(rows["law"] == law) & (rows["o_simulate"] == "system")]
        if len(own):
            lines.append(Line(f"in the system, 40 a second, share of S0, {_data(law)}", of["s0"].number(own),
                              Verdict.CONFIRMED if as_published(own, law) else Verdict.NOT_DECIDED))  # fmt: skip
    size = f"; publications of {10_240 // common[-1]} bytes fit both" if common else "; no one size fits both"
    verdict, number = Verdict.DEPENDS if all(fitting.values()) else Verdict.NOT_DECIDED, exact(len(common), len(rows))
    return Judgement(verdict, f"on the size of a publication: {each}{size}", number, lines, details)


def _data(law: str) -> str:
    """Sparse or dense."""
    return law.partition("-")[2]


# What the figures show


@lru_cache(maxsize=2)
def _network(recipe: str) -> BrokerNetwork:
    network: BrokerNetwork = Recipe.from_json(recipe).make()
    return network


def _answered(row: Mapping[str, Any]) -> tuple[BrokerNetwork, Dissemination]:
    """The network of a run, generated again, and its answer."""
    network = _network(row["recipe"])
    return network, BROKERS.unpack(np.asarray(row["answer"], dtype=np.int32), network)


_KEPT = ("law", "method", "recipe", "instance", "draw", "p_fanout", "o_simulate")


def _expanded(rows: pd.DataFrame, points: Any, where: str = "") -> pd.DataFrame:
    """Several rows of each run of a query: what `points` yields for it, with the columns that tell runs apart."""
    every = (rows.query(where) if where else rows).sort_values("recipe").to_dict("records")
    return pd.DataFrame([{**{name: row[name] for name in _KEPT}, **one} for row in every for one in points(row)])


def _matching(row: Mapping[str, Any]) -> Iterator[dict[str, float]]:
    network = _network(row["recipe"])
    shares = {
        "of_subscriptions": matching_shares(network.subscriptions, network.publications),
        "of_brokers": np.diff(network.destinations[0]) / network.num_brokers,
    }
    for percent in range(0, 101, 2):
        yield {"percent": percent, **{k: 100 * float((each <= percent / 100).mean()) for k, each in shares.items()}}


def _path_lengths(row: Mapping[str, Any]) -> Iterator[dict[str, float]]:
    if row["o_simulate"] == "system":
        counts = np.array(json.loads(row["c_system_hop_counts"]))
    else:
        answered = _answered(row)
        counts = np.bincount(message_hops(*answered)[is_wanted(*answered)])
    counts = np.pad(counts, (0, max(0, 20 - len(counts))))
    for hops, share in enumerate(np.cumsum(counts) / max(1, counts.sum())):
        yield {"hops": hops, row["law"].partition("-")[2]: 100 * share}


def _delays(row: Mapping[str, Any]) -> Iterator[dict[str, float]]:
    if row["o_simulate"] == "system":
        delays = json.loads(row["c_system_pair_delays"])
    else:
        delays = np.quantile(pair_delays(row), np.linspace(0, 1, 11)).tolist()
    yield from ({"percent": 10 * rank, "delay": each} for rank, each in enumerate(delays))


def _traffic(row: Mapping[str, Any]) -> Iterator[dict[str, float]]:
    if row["o_simulate"] == "system":
        series = json.loads(row["c_system_series"])
        yield from ({"second": s, "messages": m} for s, m in zip(series["seconds"], series["messages"], strict=True))
        return
    network, answer = _answered(row)
    timing = Timing(int(row["o_service"]), horizon=int(network.publications.times.max()))
    traffic = simulate(network, STRATEGIES.index(row["method"]), answer.soft_links, timing).traffic
    rates = traffic[: len(traffic) // _BIN * _BIN].reshape(-1, _BIN).mean(axis=1)
    yield from ({"second": _BIN * number, "messages": rate} for number, rate in enumerate(rates.tolist()))


# Figures 8 to 11
matched = partial(_expanded, points=_matching, where=f"method == 's0' and {_STATIC}")
path_lengths = partial(_expanded, points=_path_lengths)
delays_of_pairs = partial(_expanded, points=_delays, where=f"law == '{DENSE}'")
traffic = partial(_expanded, points=_traffic, where=f"law == '{DENSE}'")
