"""What P1 says of trading topic-connectivity for a lower degree, by the exact methods of its SOC problems."""

from __future__ import annotations

from collections.abc import Iterable

from ...instances.catalogue import WORKLOADS
from ...instances.topics.instance import TopicInstance
from ..papers.bench import LAWS, Bench
from .claim import Claim, Finding, Scope, verdict_of

_NODES, _TOPICS, _SUBSCRIPTIONS, _SECONDS = 9, 5, 2, 60.0


def _instances(count: int) -> list[TopicInstance]:
    return [
        WORKLOADS[law].generate(nodes=_NODES, topics=_TOPICS, subscriptions=_SUBSCRIPTIONS, seed=seed)
        for law in LAWS
        for seed in range(count)
    ]


def _scope(count: int, reading: str) -> Scope:
    sizes: dict[str, tuple[float | str, ...]] = {
        "law": LAWS,
        "|V|": (_NODES,),
        "|T|": (_TOPICS,),
        "|T_v|": (_SUBSCRIPTIONS,),
    }
    return Scope(sizes, samples=count, points=len(LAWS), reading=reading)


def _relaxed(bench: Bench) -> Iterable[Finding]:
    count = 2 if bench.quick else 10
    for degree, connected in (("edges", "min-tco"), ("max-degree", "minmax-tco")):
        lower, rows = 0, []
        for instance in _instances(count):
            strict = bench.value("branch-and-cut", instance, connected, time_limit=_SECONDS)
            # Any number of relays: a cost that no overlay exceeds in which a tree connects all nodes.
            loose = bench.value(
                "filtering-cp-sat", instance, f"filtering={_NODES * _TOPICS}@{degree}", time_limit=_SECONDS
            )
            lower += loose < strict
            rows.append({"instance": instance.digest[:12], "topic-connected": strict, "with relays": loose})
        evidence = f"Lower on {lower} of {len(rows)} instances where relays are allowed."
        reading = f"{degree}: the optimum with any number of relays, against that of {connected}"
        yield Finding(degree, verdict_of(lower > 0), evidence, 2 * len(rows), rows, _scope(count, reading))


def _star(bench: Bench) -> Iterable[Finding]:
    count = 2 if bench.quick else 10
    differ = 0
    for instance in _instances(count):
        problem = "topic-diameter=2@edges"
        fewest = bench.value("diameter-cp-sat", instance, problem, start="none", time_limit=_SECONDS)
        differ += bench.value("degree-diameter", instance, problem) != fewest
    total = count * len(LAWS)
    evidence = f"A star on each component has the fewest edges on {total - differ} of {total} instances."
    reading = "distances in the whole overlay, as P1 defines topic diameters; the claim is our own"
    yield Finding("star", verdict_of(differ == 0), evidence, 2 * total, scope=_scope(count, reading))


RELAXED = Claim(
    "N.SOC",
    "relaxing topic-connectivity can reduce the overlay degree",
    "P1 §2, §9",
    _relaxed,
)
STAR = Claim(
    "N.STAR",
    "a star on each component has fewest edges of all overlays with topic diameters up to 2",
    "not in the papers; for P1 §9, Diameter",
    _star,
)
