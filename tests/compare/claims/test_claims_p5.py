"""The claims of P5 on small versions, and with broken strategies, rules or data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.claims import p5, p5_loads, p5_matching, p5_moves, p5_published, p5_rules, p5_system
from overlaybench.compare.claims.claim import Claim, Verdict
from overlaybench.compare.claims.evidence import above, mean_of
from overlaybench.compare.papers.bench import Bench, Experiment, rows_here, runs
from overlaybench.compare.papers.figures_p5 import PUBLISHED
from overlaybench.compare.papers.grids_p5 import COVERING, DENSE, PLANETLAB_CAPS, SERVICES, SPARSE, THRESHOLDS
from overlaybench.compare.studies.recipe import Recipe, freeze
from overlaybench.heuristics.brokers.kernels.delta_move import Move, MovingNetwork
from overlaybench.heuristics.brokers.kernels.working_map import working_maps
from overlaybench.heuristics.brokers.soft_links import disseminate_over
from overlaybench.instances.brokers.network import BrokerTree
from overlaybench.instances.brokers.problems import Dissemination
from overlaybench.instances.contract.catalogue import WORKLOADS
from overlaybench.instances.contract.method import Method

Methods = Mapping[str, Method[Any, Any]]
Change = Callable[[pytest.MonkeyPatch], Methods]
CLAIMS: Mapping[str, Claim] = {
    claim.id: claim
    for claims in (
        p5.CLAIMS_P5,
        p5_loads.CLAIMS_P5_LOADS,
        p5_matching.CLAIMS_P5_MATCHING,
        p5_moves.CLAIMS_P5_MOVES,
        p5_published.CLAIMS_P5_PUBLISHED,
        p5_rules.CLAIMS_P5_RULES,
        p5_system.CLAIMS_P5_SYSTEM,
    )
    for claim in claims
}
HOLDS, ORDER, REFUTED, OPEN = Verdict.HOLDS, Verdict.ORDER, Verdict.REFUTED, Verdict.OPEN
SIZE = {"brokers": 30, "subscriptions": 240, "publications": 120, "fanout": 9}
MANAGED = {"rounds": 12, "window": 120}
BOTH = (SPARSE, DENSE)


@dataclass(frozen=True)
class Broken:
    """A subject of a claim with its verdict, and a change under which the verdict differs."""

    subject: str
    sound: Verdict
    change: Change
    experiment: Callable[[], Experiment] | None = None


def recipes(workload: str, seeds: int = 7, **shape: Any) -> tuple[Recipe, ...]:
    parameters = freeze(WORKLOADS[workload].complete({**SIZE, **shape}))
    return tuple(Recipe("small", seed, workload=workload, parameters=parameters) for seed in range(1, seeds + 1))


def small(
    workloads: tuple[str, ...], methods: tuple[str, ...], *options: Mapping[str, Any], **lists: tuple[Any, ...]
) -> Experiment:
    """Every combination of workloads and of one list of values, by methods with each of some options."""
    ((name, values),) = lists.items() or (("fanout", (SIZE["fanout"],)),)
    own = tuple(one for workload in workloads for value in values for one in recipes(workload, **{name: value}))
    given = [
        (s, {**each, **(MANAGED if s != "s0" else {})})
        for each in options or ({},)
        for s in (("sh",) if "output_threshold" in each else methods)
    ]
    return Experiment(own, (runs("soft-links", *given),))


TREE = ("s0", "s1", "s2")
ALL = (*TREE, "sh")
low_rate = partial(small, BOTH, ALL, {"service": 1000})
dense = partial(small, (DENSE,), ALL, {"service": 1000})
by_fanout = partial(small, BOTH, TREE, {"service": 4000}, fanout=(4, 9))
FASTER = {"rate": 72_000}
IN_SYSTEM = {"simulate": "system", "service": 500, "interval": 0.5}


def system(workloads: tuple[str, ...], methods: tuple[str, ...], shape: Mapping[str, Any], **given: Any) -> Experiment:
    """Some strategies in the system, on small networks."""
    own = tuple(one for workload in workloads for one in recipes(workload, 5, **{"publications": 300, **shape}))
    options = {**IN_SYSTEM, **given}
    return Experiment(own, (runs("soft-links", *((s, options) for s in methods)),))


in_system = partial(system, (SPARSE,), ALL, {})


def at_rate(experiment: Callable[[], Experiment], **shape: Any) -> Callable[[], Experiment]:
    """The experiment with other parameters for all networks."""

    def changed() -> Experiment:
        own = experiment()
        faster = tuple(replace(one, parameters=freeze({**dict(one.parameters), **shape})) for one in own.recipes)
        return Experiment(faster, own.runs)

    return changed


def without_soft_links(*names: str) -> Change:
    """Strategies that never create soft links."""

    def change(monkeypatch: pytest.MonkeyPatch) -> Methods:
        return {**METHODS, **{name: with_options(name, rounds=0) for name in names}}

    return change


def with_options(name: str, **fixed: Any) -> Method[Any, Any]:
    """The method with some options fixed, whatever is asked."""
    method = METHODS[name]

    def solve(instance: Any, problem: Any, **options: Any) -> Any:
        return method.solve(instance, problem, **{**options, **fixed})

    return replace(method, solve=solve)


def instead(name: str, other: str) -> Change:
    """Another strategy under the name of one."""

    def change(monkeypatch: pytest.MonkeyPatch) -> Methods:
        taken = {option.name for option in METHODS[other].options}

        def solve(instance: Any, problem: Any, **options: Any) -> Any:
            known = {key: value for key, value in options.items() if key in taken or key in ("seed", "time_limit")}
            return METHODS[other].solve(instance, problem, **known)

        return {**METHODS, name: replace(METHODS[name], solve=solve)}

    return change


def fixed(name: str, **options: Any) -> Change:
    return lambda monkeypatch: {**METHODS, name: with_options(name, **options)}


def patched(module: Any, attribute: str, value: Any) -> Change:
    def change(monkeypatch: pytest.MonkeyPatch) -> Methods:
        monkeypatch.setattr(module, attribute, value)
        return METHODS

    return change


def losing_a_message(monkeypatch: pytest.MonkeyPatch) -> Methods:
    method = METHODS["s1"]

    def solve(instance: Any, problem: Any, **options: Any) -> Any:
        found = method.solve(instance, problem, **options)
        assert found.answer is not None
        return replace(found, answer=Dissemination(found.answer.soft_links, found.answer.messages[1:]))

    return {**METHODS, "s1": replace(method, solve=solve)}


def always_as_written(*given: Any, one_view: bool, **more: Any) -> Any:
    return MovingNetwork(*given, one_view=False, **more)


all_of_s2 = without_soft_links("s1", "s2", "sh")
possible_moves = p5_moves.possible_moves
halved = {name: (counts, (19, 25, 30, 32)) for name, (counts, _) in PUBLISHED.items()}
earlier = tuple({"service": 500, "output_threshold": percent} for percent in THRESHOLDS)

SATURATED_SYSTEM = at_rate(
    partial(small, (SPARSE,), TREE, {**IN_SYSTEM, "service": 4000, "interval": 0.01}, fanout=(4, 9)), **FASTER
)

BROKEN: Mapping[str, Broken] = {
    "P5.T2": Broken("yields, dense", ORDER, all_of_s2, low_rate),
    "P5.F9": Broken("S2 < S1 < S0, dense", HOLDS, all_of_s2, low_rate),
    "P5.F10": Broken("average delay in ms", ORDER, all_of_s2, dense),
    "P5.F11": Broken("messages a second", ORDER, all_of_s2, dense),
    "P5.S2.3": Broken("S2 sends fewer messages, more at a time, dense", HOLDS, all_of_s2, partial(small, BOTH, TREE)),
    "P5.S7.5": Broken(
        "saves more delay at a higher rate",
        OPEN,
        all_of_s2,
        partial(small, (DENSE,), ("s0", "s2"), {"service": 4000}, rate=(3600, 9_000)),
    ),
    "P5.F13": Broken("S1 and S2 deliver more than S0, sparse", HOLDS, all_of_s2, at_rate(by_fanout, **FASTER)),
    "P5.F13b": Broken("grow with fanout, sparse", HOLDS, all_of_s2, at_rate(by_fanout, **FASTER)),
    "P5.F13.times": Broken(
        "some matching time gives 115%",
        HOLDS,
        all_of_s2,
        at_rate(partial(small, BOTH, TREE, *({"service": each} for each in SERVICES)), rate=144_000),
    ),
    "P5.F13.minutes": Broken(
        "S1 and S2 deliver more than S0, sparse",
        HOLDS,
        all_of_s2,
        at_rate(partial(small, BOTH, TREE, *({"service": 4000, "periods": each} for each in (1, 3))), **FASTER),
    ),
    "P5.F13.hybrid": Broken(
        "S2 delivers more than SH, dense, uplinks of 20 a second",
        ORDER,
        instead("sh", "s2"),
        at_rate(partial(small, BOTH, ALL, {"service": 500}, uplink=(20,)), **FASTER),
    ),
    "P5.F13c": Broken(
        "S0 least, S1 and S2 not in full (dense)",
        HOLDS,
        all_of_s2,
        partial(small, BOTH, TREE, {"service": 500}, uplink=PLANETLAB_CAPS[:2]),
    ),
    "P5.F14": Broken(
        "SH delivers more than S1, threshold 40%",
        HOLDS,
        instead("sh", "s1"),
        partial(
            small,
            (SPARSE,),
            ALL[1:],
            {"service": 500},
            *earlier,
            uplink=(10,),
        ),
    ),
    "P5.F14.others": Broken(
        "SH delivers more than S1, sparse, uplinks of 10 a second",
        HOLDS,
        instead("sh", "s1"),
        partial(small, BOTH, ALL[1:], {"service": 500}, uplink=(10,)),
    ),
    "P5.F12": Broken(
        "fanout 5 to 10",
        ORDER,
        all_of_s2,
        at_rate(partial(small, (COVERING,), ("s2",), fanout=(5, 10)), brokers=60, subscriptions=800),
    ),
    "P5.F8": Broken(f"DT1, {SPARSE}", HOLDS, patched(p5_matching, "DATA_SETS", (("DT1", SPARSE, 120, 900, 0.5),))),
    "P5.S4.3": Broken(
        "a covering set matches what its subscriptions match",
        HOLDS,
        patched(p5_matching, "covering_set", lambda lows, highs, order: order[:1]),
    ),
    "P5.I.1": Broken("most pairs of brokers have several routes", HOLDS, all_of_s2),
    "P5.S2.1": Broken(
        "S2",
        HOLDS,
        patched(p5_rules, "disseminate_over", lambda network, strategy, links: disseminate_over(network, 1, links)),
    ),
    "P5.S3.1": Broken(
        "maps equal the contraction of the Δ-neighbourhood",
        HOLDS,
        patched(p5_rules, "working_maps", lambda tree, links, capacity: working_maps(tree, links[1:], capacity)),
    ),
    "P5.S4.1": Broken(
        "one hop closer to the receiver",
        HOLDS,
        patched(p5_rules, "anchors_along", lambda path, radius, towards: [path[0]] * len(path)),
    ),
    "P5.S5.1": Broken("S1", HOLDS, losing_a_message),
    "P5.S5.2": Broken("S1, S2 and SH without soft links", HOLDS, fixed("s2", rounds=4)),
    "P5.S6.1": Broken(
        "the link that bypasses more brokers is kept, as printed, with min",
        REFUTED,
        fixed("s2", load_factor="max"),
        partial(small, BOTH, ("s2",), {"load_factor": "max"}, {"load_factor": "min"}),
    ),
    "P5.S6.4": Broken(
        "soft links bypass crashed neighbours",
        HOLDS,
        fixed("s2", interval=0.0),
        partial(system, (SPARSE,), ("s0", "s2"), {"publications": 1500}, crashes=20),
    ),
    "P5.S6.5": Broken(
        "no publication is lost, corrected: a publication keeps the view of the first affected broker",
        HOLDS,
        patched(p5_moves, "MovingNetwork", always_as_written),
    ),
    "P5.S6.6": Broken(
        "affected brokers: also within Δ of the moving path",
        HOLDS,
        patched(Move, "affected", property(lambda move: frozenset())),
    ),
    "P5.S6.7": Broken(
        "all trees are reached",
        HOLDS,
        patched(p5_moves, "possible_moves", lambda tree, radius: possible_moves(tree, radius)[:1]),
    ),
    "P5.S7.1": Broken("Δ = 4 is the least with 35 neighbours", HOLDS, patched(p5_rules, "_DELTAS", (1, 5))),
    "P5.S7.2": Broken("yields of Table 2 follow from its counts", HOLDS, patched(p5_published, "PUBLISHED", halved)),
    "P5.S7.3": Broken("no hotspots at 3,600 a second", REFUTED, fixed("s0", service=1)),
    "P5.S7.4": Broken(
        "load exchange takes less than 2% of the bytes",
        REFUTED,
        patched(p5_system, "_LOAD_BYTES", 0.9),
        partial(system, (DENSE,), ALL, {}),
    ),
    "P5.T2.system": Broken(
        "hops to a delivery fall from S0 to S2, sparse", HOLDS, fixed("s2", interval=0.0), in_system
    ),
    "P5.F12.system": Broken(
        "fanout 5 to 10",
        OPEN,
        fixed("s2", interval=0.0),
        at_rate(
            partial(small, (COVERING,), ("s2",), {**IN_SYSTEM, "predicate": 1}, fanout=(5, 10)),
            brokers=60,
            subscriptions=800,
            publications=300,
        ),
    ),
    "P5.F13.system": Broken(
        "S1 and S2 deliver more than S0, fanout 9",
        OPEN,
        fixed("s2", interval=0.0),
        SATURATED_SYSTEM,
    ),
    "P5.F13b.system": Broken(
        "deliveries grow with fanout",
        OPEN,
        fixed("s2", interval=0.0),
        SATURATED_SYSTEM,
    ),
    "P5.F13.hybrid.system": Broken(
        "S2 outperforms SH with uplinks of 60 a second",
        REFUTED,
        fixed("sh", service=5_000),
        partial(system, (SPARSE,), ("s1", "s2", "sh"), {"rate": 72_000, "uplink": 60}),
    ),
    "P5.F13c.system": Broken(
        "S0 delivers least, S1 and S2 more but not all, dense, 20 copies a second",
        HOLDS,
        fixed("s2", interval=0.0),
        at_rate(partial(small, BOTH, TREE, {**IN_SYSTEM, "interval": 0.05}, uplink=(20,)), rate=14_400),
    ),
    "P5.F14.system": Broken(
        "SH delivers more than S2 with uplinks of 150 a second, threshold 80%, 0.0417 minutes",
        OPEN,
        instead("s2", "s0"),
        at_rate(
            partial(small, (SPARSE,), ALL[1:], IN_SYSTEM, {**IN_SYSTEM, "output_threshold": 5}, uplink=(20,)),
            rate=7200,
            publications=300,
        ),
    ),
    "P5.S7.11": Broken(
        "S1 and S2 outperform S0 by 37% and 115%, in yield",
        ORDER,
        fixed("s2", interval=0.0),
        partial(system, (SPARSE,), TREE, {"publications": 1500}),
    ),
    "P5.S7.6": Broken(
        "a larger Δ affects more brokers",
        HOLDS,
        patched(Move, "affected", property(lambda move: frozenset({0}))),
    ),
}
SHORTER: Mapping[str, Change] = {
    "P5.F8": patched(p5_matching, "DATA_SETS", (("DT1", SPARSE, 120, 900, 0.08),)),
    "P5.F13.times": patched(p5_loads, "_MORE", 0.5),
    "P5.S7.5": patched(p5, "_DELIVERED", 0.9),
    "P5.S6.5": patched(p5_moves, "SEEDS", {True: range(155, 162)}),
}


@cache
def _rows(name: str) -> Any:
    experiment = BROKEN[name].experiment
    assert experiment is not None
    return rows_here(experiment(), METHODS)


def found(claim: Claim, name: str, methods: Methods) -> dict[str, Verdict]:
    experiment = BROKEN[name].experiment
    bench = Bench(True, methods)
    if experiment is not None:
        bench.rows = (_rows(name) if methods is METHODS else rows_here(experiment(), methods)).copy()
    return {one.subject: one.verdict for one in claim.judge(bench)}


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_algorithm_or_broken_data_change_the_verdict(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, claim = BROKEN[name], CLAIMS[name]
    if name in SHORTER:
        SHORTER[name](monkeypatch)
    assert found(claim, name, METHODS)[broken.subject] is broken.sound
    methods = broken.change(monkeypatch)
    assert found(claim, name, methods)[broken.subject] is not broken.sound


def test_every_claim_of_p5_has_a_broken_version() -> None:
    assert set(CLAIMS) == set(BROKEN)


def test_sentences_that_are_not_run_have_ids_of_their_own() -> None:
    names = [one.id for one in p5_published.NOT_RUN_P5]
    assert len(names) == len(set(names))
    assert not set(names) & set(CLAIMS)
    assert all(one.reason for one in p5_published.NOT_RUN_P5)


def test_the_routes_counted_are_those_of_a_path_with_a_soft_link() -> None:
    tree = BrokerTree.of(4, [(0, 1), (1, 2), (2, 3)])
    routes = p5_rules._routes(tree, np.array([[0, 2]], dtype=np.int32))
    assert (routes[0, 3], routes[3, 0], routes[0, 2], routes[1, 1]) == (2, 1, 2, 1)


def test_exactly_equal_values_are_no_ranking() -> None:
    assert above(mean_of("difference", [0.0, 0.0])) is REFUTED
    assert above(mean_of("difference", [1.0, 1.1, 0.9])) is HOLDS
