"""What P5's published numbers say of each other, and the sentences of P5 that nothing here can run."""

from __future__ import annotations

from collections.abc import Iterable

from ...instances.contract.catalogue import WORKLOADS
from ..papers.bench import SEED, Bench, Sizes
from ..papers.figures_p5 import PUBLISHED, PUBLISHED_DELAYS, PUBLISHED_TRAFFIC
from ..papers.grids_p5 import DENSE, STRATEGIES
from .claim import Claim, Finding, NotRun, Scope, verdict_of
from .evidence import at_most, mean_of

PUBLISHED_DELIVERIES = {"sparse": 348, "dense": 1034}
_SECONDS, _A_POINT, _NEAR, _CONGESTED = 600, 0.01, 0.03, 0.02
_BROKERS, _MATCHED = 120, 0.53
_YIELD = 77
_NO_NUMBER = "the sentence has no number; P5.S7.4 has the bytes, docs/brokers.md the times"
_INVARIANT = "no measurement: a simulated run that ends with a map or table that differs from the tree fails"
_THEIR_MACHINE = "a time of the authors' Java system on their machines; ours is another implementation"


def _published(bench: Bench) -> Iterable[Finding]:
    sizes: Sizes = {"brokers": (_BROKERS,), "minutes": (_SECONDS // 60,)}
    scope = Scope(sizes, samples=1, reading="arithmetic on the published numbers")
    gaps = {
        f"{name} {s.upper()}": deliveries / (deliveries + forwarders[number]) - yields[number] / 100
        for name, deliveries in PUBLISHED_DELIVERIES.items()
        for forwarders, yields in [PUBLISHED[name]]
        for number, s in enumerate(STRATEGIES)
    }
    worst = max(gaps, key=lambda name: abs(gaps[name]))
    text = f"Deliveries ÷ (deliveries + pure forwarders) less the printed yield: at most {gaps[worst]:+.4f} ({worst})."
    fit = all(abs(gap) < _A_POINT for gap in gaps.values())
    yield Finding("yields of Table 2 follow from its counts", verdict_of(fit), text, len(gaps), scope=scope)
    largest = max(1 - min(forwarders) / forwarders[0] for forwarders, _ in PUBLISHED.values())
    text = f"The largest fall in Table 2 is {largest:.3f}."
    yield Finding("70% fewer pure forwarders", verdict_of(abs(largest - 0.7) < _A_POINT), text, 6, scope=scope)
    messages = {
        s: 1000 * (PUBLISHED_DELIVERIES["dense"] + PUBLISHED["dense"][0][number]) for number, s in enumerate(STRATEGIES)
    }
    ratios = [PUBLISHED_TRAFFIC[s] * _SECONDS / messages[s] for s in STRATEGIES]
    text = f"Rates of Fig. 11 over ten minutes are {min(ratios):.3f} to {max(ratios):.3f} of the messages of Table 2."
    fit = all(abs(ratio - 1) <= _NEAR for ratio in ratios)
    near = Scope(sizes, samples=1, reading=f"{scope.reading}; within {_NEAR:.0%} counts as the same")
    yield Finding("Fig. 11 has the messages of Table 2", verdict_of(fit), text, len(ratios), scope=near)
    yields = {s: max(row[STRATEGIES.index(s)] for _, row in PUBLISHED.values()) for s in ("s2", "sh")}
    text = f"Table 2 has {yields['s2']}% for S2; {yields['sh']}% is SH's."
    yield Finding("S2's yield is up to 77%", verdict_of(yields["s2"] == _YIELD), text, 2, scope=scope)
    ratio = PUBLISHED_DELAYS["s2"] / PUBLISHED_DELAYS["s0"]
    for improved, meant, text in (
        (1 - ratio, "as a fall of the mean", f"14.0 ms to 9.3 ms is {1 - ratio:.1%} less."),
        (1 / ratio - 1, "as S0's mean over S2's", f"14.0 ms is {1 / ratio - 1:.1%} more than 9.3 ms."),
    ):
        read = Scope(sizes, samples=1, reading=f"{scope.reading}; {meant}")
        verdict = verdict_of(abs(improved - 0.5) < _A_POINT)
        yield Finding(f"delays improve by up to 50%, {meant}", verdict, text, 4, scope=read)
    less = 1 - PUBLISHED_TRAFFIC["s2"] / PUBLISHED_TRAFFIC["s0"]
    text = f"3,400 to 2,200 messages a second is {less:.1%} less."
    yield Finding("traffic improves by up to 35%", verdict_of(abs(less - 0.35) < _A_POINT), text, 4, scope=scope)


def _rate(bench: Bench) -> Iterable[Finding]:
    """§7 has 3,600 publications a second below Fig. 9; its totals need 3,600 a minute."""
    shares, count = {}, 3 if bench.quick else 10
    for unit, rate in (("second", 3600 * 60), ("minute", 3600)):
        runs = []
        for seed in range(count):
            network = WORKLOADS[DENSE].generate(seed=SEED + seed, publications=count * 1200, rate=rate)
            result = bench.run("s0", network, "soft-links", service=1000)
            runs.append(1 - float(result.counters["queued_deliveries"]) / network.num_deliveries)
        shares[unit] = mean_of(f"share not delivered in time, 3,600 a {unit}", runs)
    for unit in shares:
        yield _deliveries(unit, 3600 * _SECONDS if unit == "second" else 60 * _SECONDS)
        yield Finding(
            f"no hotspots at 3,600 a {unit}",
            at_most(shares[unit], _CONGESTED),
            f"S0 leaves {shares[unit].mean:.1%} undelivered when the last publication is sent.",
            count,
            scope=Scope(
                {"brokers": (120,), "publications": (count * 1200,)},
                {"brokers": (120,)},
                samples=count,
                reading="dense data, 1 ms a match; at most 2% undelivered is no hotspot",
            ),
            intervals=[shares[unit]],
        )


def _deliveries(unit: str, publications: int) -> Finding:
    """Whether the published deliveries of the dense data can be those of so many publications."""
    each = 1000 * PUBLISHED_DELIVERIES["dense"] / publications
    reached = min(each, 1.0)
    at_most_matched = reached + (1 - reached) / _BROKERS
    return Finding(
        f"3,600 a {unit} fits the published deliveries",
        verdict_of(at_most_matched >= _MATCHED),
        f"Ten minutes have {publications} publications, so the published deliveries are {each:.2f} each: at most "
        f"{reached:.0%} of the publications reach another broker than their source's, and the others match at most the "
        f"subscriptions of one broker. On average at most {at_most_matched:.0%} of the subscriptions match; published "
        f"{_MATCHED:.0%}.",
        1,
        scope=Scope(
            {"brokers": (_BROKERS,)},
            samples=1,
            reading="arithmetic on the published numbers; subscriptions spread over the brokers",
        ),
    )


CLAIMS_P5_PUBLISHED: tuple[Claim, ...] = (
    Claim("P5.S7.2", "the published yields, falls, delays and rates fit each other", "P5 §7", _published),
    Claim("P5.S7.3", "3,600 publications are sent a second and form no hotspots", "P5 §7, on Fig. 9", _rate),
)
NOT_RUN_P5: tuple[NotRun, ...] = tuple(
    NotRun(id_, statement, source, reason)
    for id_, statement, source, reason in (
        ("P5.A.1", "computational and bandwidth overhead is negligible", "P5 abstract, §1", _NO_NUMBER),
        (
            "P5.I.2",
            "reconfiguration and clustering methods change more routing tables or need several brokers a client",
            "P5 §1",
            "a comparison with other systems without numbers",
        ),
        (
            "P5.I.3",
            "brokers choose links that avoid slow primary links and hotspots",
            "P5 §1, §6",
            "a rule of the method, which the system follows; the paper measures no share of links",
        ),
        (
            "P5.S3.2",
            "changes of the primary network are propagated within Δ-neighbourhoods only",
            "P5 §3",
            _INVARIANT,
        ),
        ("P5.S4.2", "new subscriptions enter the master and working tables at once", "P5 §4", _INVARIANT),
        (
            "P5.S6.2",
            "candidate links estimate a link's gain without a connection",
            "P5 §6",
            "a rule of the method, which the system follows; the paper measures no error of the estimate",
        ),
        (
            "P5.S6.3",
            "neighbours of a link of high gain have some chance of a high gain",
            "P5 §6",
            "the paper names no measure and no chance",
        ),
        (
            "P5.S7.13",
            "the delay of pairs of brokers improves by up to 50%",
            "P5 Fig. 10",
            "the curves are lost, and the simulation keeps no delay by pair; P5.S7.2 has the means",
        ),
        ("P5.S7.7", "an update of a working map takes 0.8 ms, every 20 s", "P5 §7", _THEIR_MACHINE),
        ("P5.S7.8", "a working subscription table of 6,500 takes 17 ms", "P5 §7", _THEIR_MACHINE),
        ("P5.S7.9", "S1 and S2 need no more time than S0 to forward a publication", "P5 §7", _THEIR_MACHINE),
        (
            "P5.S7.10",
            "more connections cost buffers and congestion control",
            "P5 §7, on Fig. 12",
            "connections cost nothing in the simulation",
        ),
        (
            "P5.S7.12",
            "results on PlanetLab machines of limited and varying capacity",
            "P5 Fig. 13(c)",
            "the machines no longer exist; P5.F13c has constant capacities",
        ),
        (
            "P5.S8.1",
            "Δ-neighbourhoods scale better than a full mesh, and routing information in publications is costly",
            "P5 §8",
            "comparisons with other systems without numbers",
        ),
    )
)
