"""What Onus and Richa (P2) say in §1 to motivate their problem: rings for each topic, and correlated subscriptions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial

import networkx as nx
import numpy as np

from ...instances.contract.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from ..papers.bench import Bench, grid
from ..studies.recipe import Recipe
from .claim import Claim, Finding, Scope, verdict_of
from .evidence import all_of, at_most, mean_of, over_ties, within
from .properties import TIES

_SIZES = (100, 400)
_TOPICS, _SUBSCRIPTIONS = 100, 10
_GROUPS = 5
_LINEAR = (0.9, 1.1)
_ORDERS = {
    "number": "every ring follows the nodes' numbers",
    "random-per-topic": "each ring has a random order of its own",
}


def _rings(bench: Bench) -> Iterable[Finding]:
    """A ring for each topic: diameters in proportion to |V_t|, degrees in proportion to |T_v|, for each order."""
    for order, reading in _ORDERS.items():
        yield _own_ring(bench, order, reading)
        yield from _rings_in(bench, order, reading)


def _own_ring(bench: Bench, order: str, reading: str) -> Finding:
    """A single topic: its ring's diameter is half the number of its subscribers, and every degree is 2."""
    sizes, right, shown = (10, 50, 100, 400), True, []
    for n in sizes:
        alone = TopicInstance.from_subscriptions({f"n{v}": ["t"] for v in range(n)})
        answer = bench.run("ring-per-topic", alone, order=order).answer
        long = 0 if answer is None else nx.diameter(nx.Graph(answer.edges.tolist()))
        right &= answer is not None and long == n // 2 and bool((answer.degrees == 2).all())
        shown.append(f"{long} at |V_t| = {n}")
    text = f"Diameter of the ring of one topic: {', '.join(shown)}; every node has degree 2."
    said = f"a topic's own ring, by which it holds by definition; {reading}"
    scope = Scope({"|V_t|": sizes}, samples=1, points=len(sizes), reading=said)
    return Finding(f"a topic's own ring, order {order}", verdict_of(right), text, len(sizes), scope=scope)


def _rings_in(bench: Bench, order: str, reading: str) -> Iterable[Finding]:
    samples = 6 if bench.quick else 10
    scope = Scope(
        {"|V|": _SIZES, "|T|": (_TOPICS,), "|T_v|": (_SUBSCRIPTIONS,), "law": ("uniform",)},
        samples=samples,
        points=len(_SIZES),
        reading=f"in proportion: an exponent between 0.9 and 1.1; the union of all rings, diameters of every tenth "
        f"topic; {reading}",
    )
    means = [
        [_diameter(bench, recipe.make(), order) for recipe in _uniform(samples, n)] for n in _SIZES
    ]  # fmt: skip
    exponents = [
        math.log(large / small) / math.log(_SIZES[1] / _SIZES[0]) if small and large else 0.0
        for small, large in zip(*means, strict=True)
    ]
    interval = mean_of("exponent of |V_t|", exponents)
    text = (
        f"Mean diameter of a topic, over its subscribers: {np.mean(means[0]):.1f} at |V| = {_SIZES[0]}, "
        f"{np.mean(means[1]):.1f} at |V| = {_SIZES[1]}."
    )
    verdict = within(interval, *_LINEAR)
    yield Finding(f"diameter, order {order}", verdict, text, 2 * samples, scope=scope, intervals=(interval,))
    shape = {"nodes": 400, "topics": _TOPICS, "least": 5, "most": 20}
    exponents = [
        _degree_exponent(bench, recipe.make(), order) for recipe in grid("rings", "uniform-varying", samples, **shape)
    ]  # fmt: skip
    interval = mean_of("exponent of |T_v|", exponents)
    text = "Degree of the nodes with 15 to 20 topics against that of those with 5 to 10."
    own = Scope(
        {"|V|": (400,), "|T|": (_TOPICS,), "|T_v|": (5, 20), "law": ("uniform",)},
        samples=samples,
        reading=f"in proportion: an exponent between 0.9 and 1.1; the union of all rings; {reading}",
    )
    yield Finding(f"degree, order {order}", within(interval, *_LINEAR), text, samples, scope=own, intervals=(interval,))


def _uniform(samples: int, nodes: int) -> tuple[Recipe, ...]:
    return grid("rings", "uniform", samples, nodes=nodes, topics=_TOPICS, subscriptions=_SUBSCRIPTIONS)


def _diameter(bench: Bench, instance: TopicInstance, order: str) -> float:
    """The mean diameter of the topics' overlays; 0 without an answer."""
    answer = bench.run("ring-per-topic", instance, order=order).answer
    return 0.0 if answer is None else float(np.mean(list(topic_diameters(instance, answer))))


def topic_diameters(instance: TopicInstance, overlay: Overlay) -> Iterable[int]:
    """The diameter of every tenth topic that is connected."""
    graph: nx.Graph[int] = nx.Graph(overlay.edges.tolist())
    for t in range(0, instance.num_topics, 10):
        part = graph.subgraph(instance.subscribers(t).tolist())
        if len(part) > 1 and nx.is_connected(part):
            yield nx.diameter(part)


def _degree_exponent(bench: Bench, instance: TopicInstance, order: str) -> float:
    answer = bench.run("ring-per-topic", instance, order=order).answer
    if answer is None:
        return 0.0
    sizes, degrees = np.diff(instance.node_offsets), np.asarray(answer.degrees, float)
    few, many = sizes <= 10, sizes >= 15
    degree = math.log(degrees[many].mean() / degrees[few].mean())
    return degree / math.log(sizes[many].mean() / sizes[few].mean())


def correlated(share: float, seed: int) -> TopicInstance:
    """100 nodes with 10 of 100 topics each, of which a share comes from the 20 topics of the node's group."""
    rng, topics_of = np.random.default_rng(seed), {}
    of_group = _TOPICS // _GROUPS
    for v in range(_SIZES[0]):
        home = np.arange(of_group) + of_group * (v % _GROUPS)
        own = rng.choice(home, round(share * _SUBSCRIPTIONS), replace=False)
        other = np.setdiff1d(np.arange(_TOPICS), own)
        rest = rng.choice(other, _SUBSCRIPTIONS - len(own), replace=False)
        topics_of[f"n{v}"] = [f"t{t}" for t in sorted((*own.tolist(), *rest.tolist()))]
    return TopicInstance.from_subscriptions(topics_of)


def _correlation(bench: Bench) -> Iterable[Finding]:
    """Well correlated subscriptions allow overlays of few edges: GM with shares of topics from a group."""
    samples, shares = (5 if bench.quick else 20), (0.5, 1.0)
    found, shown = {}, []
    for ties in TIES:
        edges = {
            share: [bench.value("gm", correlated(share, s), "min-tco", ties=ties, seed=s) for s in range(samples)]
            for share in (0.0, *shares)
        }
        found[ties] = [
            mean_of(
                f"edges with {share:.0%} of the topics from a group ÷ edges with none, ties {ties}",
                np.divide(edges[share], edges[0.0]),
                together=len(shares) * len(TIES),
            )
            for share in shares
        ]
        shown.append(f"{ties} {', '.join(f'{np.mean(each):.0f}' for each in edges.values())}")
    judge = partial(at_most, limit=float(np.nextafter(1, 0)))
    verdict, note = over_ties({ties: all_of(map(judge, intervals)) for ties, intervals in found.items()})
    scope = Scope(
        {"|V|": _SIZES[:1], "|T|": (_TOPICS,), "|T_v|": (_SUBSCRIPTIONS,), "share from the group": (0.0, *shares)},
        samples=samples,
        points=3,
        ties=TIES,
        reading="correlated: half or all topics of a node are from its group's 20; low: fewer edges than without",
    )
    text = f"Mean edges of GM with 0%, 50% and 100% of the topics from a group, ties {'; '.join(shown)}.{note}"
    intervals = tuple(interval for each in found.values() for interval in each)
    yield Finding("GM", verdict, text, 9 * samples, scope=scope, intervals=intervals)


CLAIMS_P2_MOTIVATION: tuple[Claim, ...] = (
    Claim(
        "P2.S1.1",
        "a ring for each topic has diameters in proportion to |V_t| and degrees in proportion to |T_v|",
        "P2 §1",
        _rings,
    ),
    Claim("P2.S1.2", "well correlated subscriptions allow overlays of low degree", "P2 §1", _correlation),
)
