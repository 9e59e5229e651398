"""Claims on the problems next door (N): link costs and fault tolerance, as their abstracts have it, and P1 §9's SOC."""

from __future__ import annotations

from dataclasses import replace

from ...instances.contract.catalogue import WORKLOADS
from ...instances.topics.instance import TopicInstance
from ..intervals import mean_interval, share_interval
from .bench import LAWS, SEED, Bench
from .claim import CaseTally, Judgement, Limit, at_least, claim, exact, judged, under
from .properties import mean_diameter, most_common_topics

_WEIGHTED = ("plane", "transit-stub")
_CONNECTED = {"edges": "min-tco", "max-degree": "minmax-tco"}
_SMALL = {"nodes": 10, "topics": 6, "subscriptions": 3}


def instances(law: str, nodes: int, count: int, **more: object) -> list[TopicInstance]:
    """So many instances of a law, with 100 topics and 10 a node unless said otherwise."""
    sizes = {"nodes": nodes, "topics": 100, "subscriptions": 10, **more}
    return [WORKLOADS[law].generate(seed=SEED + number, **sizes) for number in range(count)]


@claim("N.WTCO.1")
@under(_WEIGHTED)
def LOGARITHMIC_RATIO(bench: Bench, law: str) -> Judgement:
    """The cost of the greedy overlay ÷ a proven bound, against H(max|T_u ∩ T_v|)."""
    nodes, count = (10, 6) if bench.quick else (16, 30)
    tally, largest = CaseTally(), 0.0
    for number, one in enumerate(instances(law, nodes, count, topics=10, subscriptions=4)):
        least = bench.run("branch-and-cut", one, "weighted-tco", progress="off", time_limit=60).lower_bound
        found = bench.value("weighted-gm", one, "weighted-tco") / (least or 1.0)
        limit = sum(1 / i for i in range(1, most_common_topics(one) + 1))
        tally.add(found <= limit + 1e-9, f"instance {number}: {found:.3f} above {limit:.3f}")
        largest = max(largest, found)
    return tally.judgement(exact(largest, tally.n))


@claim("N.WTCO.2")
@under(_WEIGHTED)
def BEATS_EQUAL_EDGES(bench: Bench, law: str) -> Judgement:
    """The cost of an overlay built as if all edges were equal ÷ that of one built by costs."""
    nodes, count = (100, 4) if bench.quick else (1000, 8)
    found = []
    for one in instances(law, nodes, count):
        blind = bench.answer("gm", one, "min-tco")
        found.append(float(one.total_cost(blind.edges)) / bench.value("weighted-gm", one, "weighted-tco"))
    return judged(mean_interval(found), at_least(1.0))


@claim("N.KTCO.1")
def FAULT_TOLERANT(bench: Bench) -> Judgement:
    """Whether the judge of k-tco accepts the overlays of GM2 and of HararyPT."""
    tally, valid = CaseTally(), dict[str, int]()
    for law in LAWS[:2]:
        for number, one in enumerate(instances(law, *((100, 3) if bench.quick else (1000, 8)))):
            for method in ("gm2", "harary-per-topic"):
                result = bench.run(method, one, "k-tco")
                held = tally.add(result.value is not None, f"{method}, {law} {number}: {result.reason}")
                valid[method] = valid.get(method, 0) + held
    return tally.judgement(share_interval(sum(valid.values()), tally.n))


@claim("N.KTCO.2")
@under(LAWS)
def DEGREE_RATIO(bench: Bench, law: str) -> Judgement:
    """The average degree of GM2's overlay ÷ that of GM's."""
    nodes, count = (200, 4) if bench.quick else (1000, 8)
    found = [
        float(bench.answer("gm2", one, "k-tco").average_degree / bench.answer("gm", one, "min-tco").average_degree)
        for one in instances(law, nodes, count)
    ]
    return judged(mean_interval(found), Limit(1.55, 1.75), Limit(1.0, 2.0))


@claim("N.KTCO.3")
@under(LAWS)
def SHORTER_TOPICS(bench: Bench, law: str) -> Judgement:
    """The mean topic diameter of GM2's overlay ÷ that of GM's."""
    nodes, count = (100, 4) if bench.quick else (500, 8)
    found = [
        mean_diameter(one, bench.answer("gm2", one, "k-tco")) / mean_diameter(one, bench.answer("gm", one, "min-tco"))
        for one in instances(law, nodes, count)
    ]
    return judged(mean_interval(found), Limit(0.4, 0.6), Limit(high=1.0))


@claim("N.PTCO.1")
@under(LAWS)
def FOUR_FIFTHS_FOR_A_FIFTH(bench: Bench, law: str) -> Judgement:
    """The average degree that unites 80% of the topic components ÷ that which unites all."""
    found = []
    for one in instances(law, *((200, 2) if bench.quick else (1000, 4))):
        whole = bench.answer("gm", one, "min-tco").num_edges
        left, right = 0, whole  # the fewest edges with which ptco reaches 80%
        allowed = 0.2 * (one.num_subscriptions - one.num_topics)
        while left < right:
            middle = (left + right) // 2
            problem = f"partial-tco@components@average-degree={2 * middle / one.num_nodes:.12g}"
            left, right = (left, middle) if bench.value("ptco", one, problem) <= allowed else (middle + 1, right)
        found.append(left / whole)
    return judged(mean_interval(found), Limit(high=0.2), Limit(high=0.4))


@claim("N.SOC.1")
def RELAYS_LOWER_DEGREES(bench: Bench) -> Judgement:
    """The least edges and degree with any number of relays, beside those of a topic-connected overlay."""
    lower: dict[str, Judgement] = {}
    for degree, connected in _CONNECTED.items():
        # No overlay in which a tree connects all nodes exceeds this cost.
        problem = f"filtering={_SMALL['nodes'] * _SMALL['topics']}@{degree}"
        fewer = [
            bench.value("filtering-cp-sat", one, problem, start="none")
            < bench.value("branch-and-cut", one, connected, progress="off")
            for law in LAWS
            for one in instances(law, count=2 if bench.quick else 10, **_SMALL)
        ]
        lower[degree] = judged(share_interval(sum(fewer), len(fewer)), Limit(low=1e-9))
    lines = [lower["max-degree"].line("maximum degree")]
    for law in LAWS:
        ratios = []
        for one in instances(law, *((40, 2) if bench.quick else (100, 5))):
            bound = bench.run("lp-bound", one, progress="off").lower_bound
            assert bound is not None
            ratios.append(bench.value("edge-insertion", one, "filtering=100@edges") / bound)
        relayed = judged(mean_interval(ratios), Limit(high=1.0))
        lines.append(relayed.line(f"edges with a relay a topic ÷ bound without, {law}"))
    return replace(lower["edges"], sensitivity=lines)


@claim("N.SOC.2")
def NO_RELAY_IS_CONNECTED(bench: Bench) -> Judgement:
    """Whether the least degree at a filtering cost of 0 is that of Min-TCO and MinMax-TCO."""
    tally = CaseTally()
    for degree, connected in _CONNECTED.items():
        for law in LAWS:
            for number, one in enumerate(instances(law, count=2 if bench.quick else 15, **_SMALL)):
                least = bench.value("branch-and-cut", one, connected, progress="off")
                filtered = bench.value("filtering-cp-sat", one, f"filtering=0@{degree}", start="none")
                tally.add(least == filtered, f"{degree}, {law} {number}: {filtered:g}, not {least:g}")
    return tally.judgement(tally.share)
