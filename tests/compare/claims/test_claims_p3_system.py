"""P3's decentralised scheme and its Algorithms 3–6: verdicts, and the verdicts under faulty versions of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.claims import p3_edge_contrib, p3_system
from overlaybench.compare.claims.claim import Claim, Verdict
from overlaybench.compare.claims.register import CLAIMS, judge
from overlaybench.compare.papers.bench import LAWS
from overlaybench.compare.papers.grids_p3 import p3_default
from overlaybench.heuristics.topics.decentralised import Decentralised, decentralised
from overlaybench.heuristics.topics.gm_m import GM_M, gm_m
from overlaybench.instances.contract.catalogue import WORKLOADS
from overlaybench.instances.contract.method import Method, Proposal
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.topics.instance import TopicInstance

Verdicts = dict[str, Verdict]
SOUND: Mapping[str, Verdicts] = {
    "P3.S4D.1": {
        "the scheme builds DCBR-M": Verdict.HOLDS,
        "the five steps alone build DCBR-M": Verdict.REFUTED,
        "the five steps alone connect": Verdict.HOLDS,
    },
    "P3.S4D.2": {
        "the three subsets": Verdict.HOLDS,
        "largest for representatives": Verdict.HOLDS,
        "fan-out at most the potential neighbours": Verdict.HOLDS,
    },
    "P3.S4D.3": {
        "no node learns of all": Verdict.HOLDS,
        "with nodes as directory": Verdict.HOLDS,
        "GM-M must know all": Verdict.HOLDS,
    },
    "P3.S4D.4": {
        "as an upper bound": Verdict.HOLDS,
        "as the growth": Verdict.REFUTED,
        "with Lemma 7's square": Verdict.HOLDS,
        "parts balance the load": Verdict.HOLDS,
        "total run time falls": Verdict.HOLDS,
    },
    "P3.A3": {
        "corrected": Verdict.HOLDS,
        "the original of [8], 0-edges kept": Verdict.REFUTED,
        "the original of [8], 0-edges discarded at the end": Verdict.REFUTED,
        "as printed": Verdict.REFUTED,
        "as printed, but line 2 ends before the maximum degree": Verdict.HOLDS,
        "less work than Algorithm 2": Verdict.HOLDS,
    },
}


def leaking(*arguments: Any, **options: Any) -> Decentralised:
    """Every node learns of every other one."""
    found = decentralised(*arguments, **options)
    return replace(found, knows=[frozenset(range(len(found.knows)))] * len(found.knows))


def forgetful(*arguments: Any, **options: Any) -> Decentralised:
    """Nodes link themselves to others of which they do not know, and lose the last link of the overlay."""
    found = decentralised(*arguments, **options)
    fewer = Overlay.from_edges(found.overlay.num_nodes, found.overlay.edges[:-1].tolist())
    return replace(found, overlay=fewer, knows=[frozenset([v]) for v in range(len(found.knows))])


def always_exchanging(*arguments: Any, topics_exchanged: bool = True) -> Decentralised:
    return decentralised(*arguments)


def undivided(instance: TopicInstance, problem: Any, **options: Any) -> Proposal[Overlay]:
    """DCBR-M with one part, whatever p is."""
    return METHODS["dcbr-m"].solve(instance, problem, **{**options, "partitions": 1})


def careless_table(instance: TopicInstance, problem: Any, **options: Any) -> Proposal[Overlay]:
    """GM-M whose table breaks ties otherwise, and looks at every pair at every step."""
    if options["data"] == "rows":
        return GM_M.solve(instance, problem, **options)
    other = "highest" if options["ties"] == "lowest" else "lowest"
    made = GM_M.solve(instance, problem, **{**options, "ties": other})
    work = 2 * int(made.counters["table_pairs"]) * int(made.counters["steps"])
    return replace(made, counters={**made.counters, "table_work": work})


def methods(name: str, solve: Callable[..., Proposal[Overlay]]) -> Mapping[str, Method[Any, Any]]:
    return {**METHODS, name: replace(METHODS[name], solve=solve)}


BROKEN: Mapping[str, tuple[tuple[str, Callable[..., Any], Verdicts], ...]] = {
    "P3.S4D.1": (
        (
            "decentralised",
            forgetful,
            {"the scheme builds DCBR-M": Verdict.REFUTED, "the five steps alone connect": Verdict.REFUTED},
        ),
        ("decentralised", always_exchanging, {"the five steps alone build DCBR-M": Verdict.HOLDS}),
        ("dcbr-m", undivided, {"the scheme builds DCBR-M": Verdict.HOLDS}),
    ),
    "P3.S4D.2": (
        ("decentralised", leaking, {"the three subsets": Verdict.REFUTED}),
        (
            "decentralised",
            forgetful,
            {"the three subsets": Verdict.REFUTED, "fan-out at most the potential neighbours": Verdict.REFUTED},
        ),
    ),
    "P3.S4D.3": (
        (
            "decentralised",
            leaking,
            {"no node learns of all": Verdict.REFUTED, "with nodes as directory": Verdict.REFUTED},
        ),
        ("decentralised", forgetful, {"GM-M must know all": Verdict.REFUTED}),
    ),
    "P3.S4D.4": (
        (
            "dcbr-m",
            undivided,
            {"parts balance the load": Verdict.REFUTED, "total run time falls": Verdict.REFUTED},
        ),
    ),
    "P3.A3": (("gm-m", careless_table, {"corrected": Verdict.REFUTED, "less work than Algorithm 2": Verdict.REFUTED}),),
}


@pytest.fixture(autouse=True)
def _smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two small instances of each law."""

    def few(quick: bool) -> Iterator[Any]:
        for law in LAWS:
            for recipe in p3_default("P3.S4D", law, 2, nodes=120, topics=60, least=5, most=30):
                yield (law, 120, 60), recipe.make()

    monkeypatch.setattr(p3_system, "_instances", few)
    monkeypatch.setitem(p3_system._COMPARED, True, (((60, 100), (60, 400)), 1))
    monkeypatch.setitem(p3_system._WORKED, True, (150, 100, 2, (2, 4)))
    monkeypatch.setattr(p3_system, "TIES", ("lowest", "random"))


def found(claim: Claim, algorithms: Mapping[str, Method[Any, Any]] = METHODS) -> Verdicts:
    p3_system._runs.cache_clear()
    outcome = judge(claim, True, algorithms)
    assert all(one.scope.samples and one.scope.sizes and one.intervals for one in outcome.findings)
    return {one.subject: one.verdict for one in outcome.findings}


@pytest.mark.slow
@pytest.mark.parametrize("claim", SOUND)
def test_the_check_gives_the_verdicts_on_record(claim: str) -> None:
    verdicts = found(CLAIMS[claim])
    assert {subject: verdicts[subject] for subject in SOUND[claim]} == SOUND[claim]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "number"), [(claim, k) for claim, cases in BROKEN.items() for k in range(len(cases))]
)
def test_a_faulty_version_changes_the_verdict(claim: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    name, faulty, expected = BROKEN[claim][number]
    if name == "decentralised":
        monkeypatch.setattr(p3_system, name, faulty)
        verdicts = found(CLAIMS[claim])
    else:
        verdicts = found(CLAIMS[claim], methods(name, faulty))
    assert {subject: verdicts[subject] for subject in expected} == expected


def test_algorithm_5_as_printed_takes_edges_that_raise_the_degree() -> None:
    forced = TopicInstance.from_subscriptions(
        {"n0": ["a", "b", "c", "d", "e", "f"], "n1": ["a", "b"], "n2": ["c", "d"], "n3": ["e", "f"]}
    )
    overlay, ended = p3_edge_contrib.as_printed(forced)
    assert ended
    assert overlay == gm_m(forced)
    free = WORKLOADS["uniform-varying"].generate(seed=0, nodes=40, topics=30, least=3, most=15)
    overlay, _ = p3_edge_contrib.as_printed(free)
    assert overlay.max_degree > 2 * gm_m(free).max_degree
    assert p3_edge_contrib.as_printed(free, up_to_maximum=False) == (gm_m(free), True)
