"""The rules of P5 §2 to §6 as exact checks on small networks; :mod:`.p5_moves` has the Δ-moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

from ...heuristics.brokers.kernels.forwarding import STRATEGIES
from ...heuristics.brokers.kernels.working_map import WorkingMaps, add_link, has_bit, working_maps
from ...heuristics.brokers.soft_links import disseminate_over
from ...instances.brokers.network import BrokerNetwork, BrokerTree
from ...instances.brokers.predicates import Publications, Subscriptions
from ...instances.contract.catalogue import WORKLOADS
from ...instances.contract.result import Status
from ..papers.bench import SEED, Bench
from ..papers.grids_p5 import copies
from .claim import Claim, Finding, Scope, verdict_of
from .evidence import at_most, mean_of, within
from .p5_networks import by_network, finding, of_data

Link = tuple[int, int]
_FANOUT, _SMALL_FANOUT = 35, 6
_DELTAS = (1, 2, 3, 4, 5)
_HARDLY = 0.01
_SMALL = {"brokers": 20, "degree": 4, "subscriptions": 60, "publications": 60, "fanout": 7, "spread": 60}


def small_networks(count: int, **shape: int) -> Iterator[tuple[BrokerNetwork, list[Link]]]:
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


def _scope(count: int, **sizes: float) -> Scope:
    return Scope({"brokers": (20,), "Δ": (4,)} | {name: (value,) for name, value in sizes.items()}, samples=count)


def _example(bench: Bench) -> Iterable[Finding]:
    """Fig. 2: A–N1–N2, N2–N3, N2–N4, N4–N5, N4–N6; soft links of A to N2, N3, N5 and N6."""
    tree = BrokerTree.of(7, [(0, 1), (1, 2), (2, 3), (2, 4), (4, 5), (4, 6)])
    wanted = np.array([3, 5, 6], dtype=np.int32)
    subscriptions = Subscriptions(wanted, np.zeros((3, 1), dtype=np.int32), np.zeros((3, 1), dtype=np.int32))
    publication = Publications(np.array([0]), np.array([0], dtype=np.int32), np.zeros((1, 1), dtype=np.int32))
    network = BrokerNetwork(tree, subscriptions, publication, radius=4, fanout=5)
    links = {"s0": [], "s1": [(0, 2), (0, 3), (0, 5), (0, 6)], "s2": [(0, 2), (0, 3), (0, 5), (0, 6)]}
    for strategy, expected in (("s0", [1]), ("s1", [2]), ("s2", [3, 5, 6])):
        soft = np.array(links[strategy], dtype=np.int32).reshape(-1, 2)
        answer = disseminate_over(network, STRATEGIES.index(strategy), soft)
        sent = sorted(receiver for _, sender, receiver in answer.messages.tolist() if sender == 0)
        named = ", ".join(f"N{v}" for v in sent)
        text = f"A sends to {named}, as published." if sent == expected else f"A sends to {named}."
        scope = Scope({"brokers": (7,), "Δ": (4,)}, samples=1, reading="the tree that the text on Fig. 2 describes")
        yield Finding(strategy.upper(), verdict_of(sent == expected), text, 1, scope=scope)


def contracted(tree: BrokerTree, a: int, links: set[int], radius: int) -> dict[int, int]:
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


def _mapped(maps: WorkingMaps, a: int, v: int) -> int:
    return a if v == a else int(maps.ends[a, maps.slots[a, v]])


def _maps(bench: Bench) -> Iterable[Finding]:
    count = 3 if bench.quick else 30
    wrong, compared, changed, bits, extra = [], 0, 0, 0, 0
    for number, (network, links) in enumerate(small_networks(count)):
        tree, maps = network.tree, working_maps(network.tree, links, capacity=network.num_brokers)
        for a in range(network.num_brokers):
            ends = set(tree.neighbours[a].tolist()) | {v for u, v in links if u == a}
            near = contracted(tree, a, ends, network.radius)
            compared += len(near)
            wrong += [f"seed {SEED + number}, broker {a}" for v, at in near.items() if _mapped(maps, a, v) != at]
            sets = int(max(_largest_set(maps, a), 0))
            bits += sets > len(ends)
        extra += _one_link_more(network, links, maps)
        changed += 1
    text = f"Of {compared} entries of maps, {compared - len(wrong)} are those of the contraction"
    yield Finding(
        "maps equal the contraction of the Δ-neighbourhood",
        verdict_of(not wrong),
        f"{text}." if not wrong else f"{text}; not so with {wrong[0]}.",
        compared,
        scope=_scope(count),
    )
    text = f"A further soft link of a broker changed maps of others in {extra} of {changed} networks."
    yield Finding(
        "a soft link changes its broker's map only", verdict_of(not extra), text, changed, scope=_scope(count)
    )
    text = f"In {bits} of {20 * count} maps an auxiliary set has more members than the broker has links."
    yield Finding(
        "auxiliary sets are bounded by the links", verdict_of(not bits), text, 20 * count, scope=_scope(count)
    )


def _largest_set(maps: WorkingMaps, a: int) -> int:
    return max(
        sum(has_bit(sets[a, slot], other) for other in range(maps.ends.shape[1]))
        for slot in maps.order[a, : maps.counts[a]].tolist()
        for sets in (maps.between, maps.beyond, maps.behind)
    )


def _one_link_more(network: BrokerNetwork, links: list[Link], maps: WorkingMaps) -> bool:
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


def _anchors(bench: Bench) -> Iterable[Finding]:
    count = 3 if bench.quick else 30
    for towards, subject in (
        ("subscriber", "as written: one hop closer to the subscriber"),
        ("receiver", "one hop closer to the receiver"),
    ):
        right = wrong = 0
        for network, _ in small_networks(count):
            far = network.tree.distances
            for subscriber, path in nx.single_source_shortest_path(nx.Graph(network.tree.links.tolist()), 0).items():
                along = path[::-1]
                for at, anchor in zip(along, anchors_along(along, network.radius, towards), strict=True):
                    near = anchor is not None and far[at, anchor] == min(network.radius, far[at, subscriber])
                    right, wrong = right + near, wrong + (not near)
        yield Finding(
            subject,
            verdict_of(not wrong),
            f"{right} of {right + wrong} anchors are the broker that is min(Δ, distance) hops towards the subscriber.",
            right + wrong,
            scope=_scope(count),
        )


def _capped(strategy: str) -> dict[str, int]:
    """Uplinks of 2 a second for SH, which is S2 without caps."""
    return {"uplink": 2} if strategy == "sh" else {}


def _delivery(bench: Bench) -> Iterable[Finding]:
    count = 4 if bench.quick else 40
    for strategy in STRATEGIES:
        failed = []
        options = {} if strategy == "s0" else {"rounds": 8, "window": 15, "candidates": 3}
        for number, (network, _) in enumerate(small_networks(count, **_capped(strategy))):
            result = bench.run(strategy, network, "soft-links", **options)
            if result.status is Status.FAILED:
                failed.append(f"seed {SEED + number}: {result.reason}")
        text = f"{count - len(failed)} of {count} networks: every matching broker receives each publication once, over "
        text += "links within Δ and the fanout, although links were profiled and replaced before."
        yield Finding(
            strategy.upper(), verdict_of(not failed), " ".join([text, *failed[:1]]), count, scope=_scope(count)
        )


def _tree_only(bench: Bench) -> Iterable[Finding]:
    count, different = (4 if bench.quick else 40), 0
    for s in ("s1", "s2", "sh"):
        for network, _ in small_networks(count, **_capped(s)):
            of_tree = bench.run("s0", network, "soft-links").answer
            different += bench.run(s, network, "soft-links", rounds=0).answer != of_tree
    text = f"Without soft links S1, S2 and SH send the messages of S0 in {3 * count - different} of {3 * count} runs."
    yield Finding("S1, S2 and SH without soft links", verdict_of(not different), text, 3 * count, scope=_scope(count))


def _paths(bench: Bench) -> Iterable[Finding]:
    count, shares, means = (2 if bench.quick else 10), [], []
    for seed in range(count):
        network = WORKLOADS["brokers-sparse"].generate(seed=SEED + seed, publications=2400)
        answer = bench.run("s2", network, "soft-links").answer
        if answer is None:
            continue
        routes = _routes(network.tree, answer.soft_links)
        apart = network.tree.distances >= 2
        shares.append(float((routes[apart] >= 2).mean()))
        means.append(float(np.exp(np.log(routes[apart]).mean())))
    interval = mean_of("share of pairs at least two hops apart with two routes or more", shares)
    most = at_most(mean_of("share without", [1 - share for share in shares]), 0.5)
    yield Finding(
        "most pairs of brokers have several routes",
        most,
        f"{interval.mean:.1%} of the pairs have two routes or more along their primary path, {np.mean(means):.0f} in "
        "the geometric mean.",
        count,
        scope=Scope(
            {"brokers": (120,), "fanout": (_FANOUT,)},
            samples=count,
            reading="routes that follow the primary path; the numbers of Fig. 1 are not in its text",
        ),
        intervals=[interval],
    )


def _routes(tree: BrokerTree, links: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
    """The routes from u to v over links that each lead nearer to v along the primary path, shape (n, n)."""
    far, size = tree.distances, tree.num_brokers
    routes = np.eye(size)
    pairs = np.concatenate([tree.links, tree.links[:, ::-1], links])
    for v in range(size):
        onward = pairs[far[pairs[:, 0], v] == far[pairs[:, 0], pairs[:, 1]] + far[pairs[:, 1], v]]
        for u, w in onward[np.argsort(far[onward[:, 0], v], kind="stable")].tolist():
            routes[u, v] += routes[w, v]
    return routes


def _load_factor(bench: Bench) -> Iterable[Finding]:
    """§6: a broker whose fanout leaves one soft link, with two subscribers, 2 and 3 hops away."""
    tree = BrokerTree.of(6, [(0, 1), (1, 2), (0, 3), (3, 4), (4, 5)])
    zero = np.zeros((2, 1), dtype=np.int32)
    subscriptions = Subscriptions(np.array([2, 5], dtype=np.int32), zero, zero)
    traffic = Publications(np.arange(40) * 1000, np.zeros(40, dtype=np.int32), np.zeros((40, 1), dtype=np.int32))
    network = BrokerNetwork(tree, subscriptions, traffic, radius=4, fanout=3)
    for factor, subject in (("min", "as printed, with min"), ("max", "with max")):
        answer = bench.run("s2", network, "soft-links", load_factor=factor, window=10).answer
        links = [] if answer is None else [v for u, v in answer.soft_links.tolist() if u == 0]
        yield Finding(
            f"the link that bypasses more brokers is kept, {subject}",
            verdict_of(links == [5]),
            f"With equal traffic to brokers 2 and 3 hops away and no load, the one soft link goes to {links}; broker 5 "
            "is 3 hops away.",
            1,
            scope=Scope(
                {"brokers": (6,), "fanout": (3,)}, samples=1, reading="the load of a broker without a cap is 0"
            ),
        )
        yield _more_loaded(bench, factor, subject)
    for name, rows in of_data(bench.rows[bench.rows["method"] == "s2"]):
        printed = rows["variant"].str.contains("min")
        table = by_network(rows.assign(factor=np.where(printed, "min", "max")), "value", "p_fanout", "factor")
        changes = [
            mean_of(f"messages with min ÷ with max − 1, fanout {each}", table[each, "min"] / table[each, "max"] - 1)
            for each in sorted(set(table.columns.get_level_values("p_fanout")))
        ]
        yield finding(
            bench,
            "P5.S6.1",
            f"min or max changes the messages by less than 1% at fanout {_FANOUT}, {name}",
            within(changes[-1], -_HARDLY, _HARDLY),
            f"The fanout of {_FANOUT} leaves more soft links than gain is found for; at {_SMALL_FANOUT} it does not.",
            changes,
            rows=rows,
            reading="our question, not the paper's: the printed load factor beside the corrected one",
        )


def _more_loaded(bench: Bench, factor: str, subject: str) -> Finding:
    """A broker whose fanout leaves one soft link, with subscribers behind brokers 1 and 3, of which one is loaded."""
    zero = np.zeros((2, 1), dtype=np.int32)
    subscriptions = Subscriptions(np.array([2, 4], dtype=np.int32), zero, zero)
    traffic = Publications(np.arange(400) * 100_000, np.zeros(400, dtype=np.int32), np.zeros((400, 1), dtype=np.int32))
    kept = {}
    for loaded in (1, 3):
        caps = [int(v == loaded) for v in range(5)]
        tree = BrokerTree.of(5, [(0, 1), (1, 2), (0, 3), (3, 4)], uplinks=caps)
        network = BrokerNetwork(tree, subscriptions, traffic, radius=4, fanout=3)
        answer = bench.run("s2", network, "soft-links", load_factor=factor, window=100).answer
        kept[loaded] = [] if answer is None else [v for u, v in answer.soft_links.tolist() if u == 0]
    return Finding(
        f"the link that bypasses a more loaded broker is kept, {subject}",
        verdict_of(kept == {1: [2], 3: [4]}),
        "Equal traffic to brokers 2 and 4, behind brokers 1 and 3; one of these can send 1 publication a second and "
        f"has 10. The one soft link goes to {kept[1]} if it is broker 1, to {kept[3]} if it is broker 3.",
        len(kept),
        scope=Scope({"brokers": (5,), "fanout": (3,), "uplink": (1,)}, samples=2, reading=subject),
    )


def _radius(bench: Bench) -> Iterable[Finding]:
    tree = WORKLOADS["brokers-sparse"].generate(seed=SEED, publications=1, subscriptions=1).tree
    near = [int((tree.distances <= delta).sum(axis=1).max()) - 1 for delta in _DELTAS]
    listed = ", ".join(f"{count} at Δ = {delta}" for delta, count in zip(_DELTAS, near, strict=True))
    first = next((delta for delta, count in zip(_DELTAS, near, strict=True) if count >= _FANOUT), None)
    scope = Scope({"brokers": (120,), "degree": (3,), "Δ": _DELTAS}, {"brokers": (120,), "Δ": (4,)}, samples=1)
    yield Finding(
        f"Δ = 4 is the least with {_FANOUT} neighbours",
        verdict_of(first == 4),
        f"The most brokers within Δ of one broker: {listed}. With degree 3 at most 3 + 6 + 12 = 21 brokers are "
        "within 3 hops, on every tree.",
        len(_DELTAS),
        scope=scope,
    )


CLAIMS_P5_RULES: tuple[Claim, ...] = (
    Claim("P5.I.1", "soft links offer many redundant routes between brokers", "P5 §1, Fig. 1", _paths),
    Claim("P5.S2.1", "in the example S0 sends to N1, S1 to N2 and S2 to N3, N5 and N6", "P5 §2, Fig. 2", _example),
    Claim(
        "P5.S3.1",
        "a working map is the contraction of the Δ-neighbourhood, its sets are bounded by the links, and a soft link "
        "changes one broker's map only",
        "P5 §3, §5",
        _maps,
    ),
    Claim("P5.S4.1", "anchors move along with subscriptions and stay within Δ", "P5 §4", _anchors),
    Claim("P5.S5.1", "each strategy reaches every matching broker once", "P5 §5, Fig. 5 and 6", _delivery),
    Claim("P5.S5.2", "without soft links the strategies are conventional routing (S0)", "P5 §5", _tree_only),
    Claim(
        "P5.S6.1",
        "gain prefers links that bypass more and more loaded brokers",
        "P5 §6",
        _load_factor,
        lambda quick: copies(quick, "P5.S6.1", _SMALL_FANOUT, _FANOUT),
    ),
    Claim("P5.S7.1", "a Δ below 4 limits the fanout", "P5 §7", _radius),
)
