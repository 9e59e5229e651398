"""The checks of the papers' claims on small versions of each, and with faulty algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.claims.claim import Claim, Finding, Verdict, open_if_fewer
from overlaybench.compare.claims.p1 import cuboid
from overlaybench.compare.claims.p3 import bad_partition
from overlaybench.compare.claims.properties import assorted
from overlaybench.compare.claims.register import CLAIMS, claims_named, judge
from overlaybench.compare.papers.bench import Bench
from overlaybench.instances.catalogue import PROBLEMS
from overlaybench.instances.errors import BadInput
from overlaybench.instances.topics.instance import TopicInstance
from tests.compare.claims.broken import (
    fewer_ties,
    forgetful_cd_oda,
    second_best_greedy_merge,
    verdicts,
    with_broken,
)
from tests.heuristics.topics import twins


def test_every_claim_of_the_first_three_papers_is_known_by_its_id() -> None:
    assert all(claim.id == id_ for id_, claim in CLAIMS.items())
    assert {claim.id.partition(".")[0] for claim in CLAIMS.values()} >= {"P1", "P2", "P3", "W"}
    assert [claim.id for claim in claims_named(["P1.L6.6", "P1.L6.6"])] == ["P1.L6.6"]
    assert len(claims_named(["P1"])) > 5
    assert claims_named([]) == list(CLAIMS.values())
    with pytest.raises(BadInput, match=r"unknown claim 'P1\.L6\.7'"):
        claims_named(["P1.L6.7"])


def test_fewer_runs_than_a_claim_names_decide_nothing() -> None:
    few = open_if_fewer(Verdict.HOLDS, "All is well.", "GM", 10, 20)
    assert few.verdict is Verdict.OPEN
    assert "10 of 20 runs, so far: holds" in few.evidence
    assert open_if_fewer(Verdict.HOLDS, "All is well.", "GM", 20, 20).verdict is Verdict.HOLDS


VERDICTS: Mapping[str, dict[str, Verdict]] = {
    "P1.L6.1": {"GM": Verdict.HOLDS},
    "P1.L6.2": {"GM": Verdict.HOLDS},
    "P1.L6.6": {"GM": Verdict.HOLDS, "optimum": Verdict.HOLDS, "order of the first 2k edges": Verdict.REFUTED},
    "P1.L5.2": {"SN-TCO": Verdict.HOLDS},
    "P1.L5.1": {"reduction to maximum degree": Verdict.HOLDS, "reduction to TCO as defined (|E| ≤ k)": Verdict.REFUTED},
    "P1.L7.1": {"m set covers": Verdict.HOLDS, "one of size ≤ |E|/m": Verdict.HOLDS, "upper bound": Verdict.HOLDS},
    "P1.S6.4": {"connectivity": Verdict.HOLDS, "diameter": Verdict.HOLDS},
    "P3.L4": {"GM-M": Verdict.HOLDS},
    "P3.L5": {"GM-M": Verdict.HOLDS},
    "P3.L8": {
        "optimum 3": Verdict.HOLDS,
        "a bad partition forces degree |T|": Verdict.HOLDS,
        "the same with equal parts": Verdict.ORDER,
        "how often chance finds it": Verdict.HOLDS,
    },
    "P3.L11": {"DCB-M": Verdict.HOLDS},
    "P3.L14": {
        "DCBR-M, topics of bulk nodes outward too": Verdict.HOLDS,
        "DCBR-M, Algorithm 12 taken literally": Verdict.REFUTED,
    },
}

# The same checks on fewer sizes.
FEWER_SIZES: Mapping[str, Callable[[Bench], Iterable[Finding]]] = {
    "P1.L6.6": partial(cuboid, sizes=((2, 3), (2, 4), (3, 3))),
    "P3.L8": partial(bad_partition, sizes=(2, 3)),
}


def smaller(claim: str) -> Claim:
    return replace(CLAIMS[claim], judge=FEWER_SIZES.get(claim, CLAIMS[claim].judge))


@pytest.fixture
def fewer_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    """One seed of each workload and construction, instead of two."""

    def first_seeds(quick: bool) -> Iterator[tuple[str, TopicInstance]]:
        return ((name, instance) for name, instance in assorted(quick) if name.endswith("seed 0"))

    for module in ("properties", "p3"):
        monkeypatch.setattr(f"overlaybench.compare.claims.{module}.assorted", first_seeds)


@pytest.mark.usefixtures("fewer_instances")
@pytest.mark.parametrize("claim", VERDICTS)
def test_the_check_gives_the_verdicts_on_record_on_fewer_instances(claim: str) -> None:
    assert verdicts(judge(smaller(claim), quick=True)) == VERDICTS[claim]


@pytest.mark.slow
@pytest.mark.parametrize("claim", VERDICTS)
def test_the_quick_check_gives_the_verdicts_on_record(claim: str) -> None:
    assert verdicts(judge(CLAIMS[claim], quick=True)) == VERDICTS[claim]


@pytest.mark.parametrize("of", [smaller, pytest.param(CLAIMS.__getitem__, marks=pytest.mark.slow)])
def test_second_best_edges_refute_lemma_6_6(of: Callable[[str], Claim]) -> None:
    found = judge(of("P1.L6.6"), True, with_broken("gm", fewer_ties(second_best_greedy_merge)))
    assert verdicts(found)["GM"] is Verdict.REFUTED


@pytest.mark.usefixtures("fewer_instances")
def test_an_overlay_that_lacks_an_edge_refutes_lemma_6_1() -> None:
    def lacking(instance: TopicInstance, ties: str, seed: int) -> set[tuple[int, int]]:
        complete = METHODS["gm"].run(instance, PROBLEMS["min-tco"], ties=ties, seed=seed).answer
        assert complete is not None
        return set(map(tuple, complete.edges[:-1].tolist()))

    assert verdicts(judge(CLAIMS["P1.L6.1"], True, with_broken("gm", lacking)))["GM"] is Verdict.REFUTED


@pytest.mark.parametrize(
    ("claim", "subject", "method"),
    [("P3.L11", "DCB-M", "dcb-m"), ("P3.L14", "DCBR-M, topics of bulk nodes outward too", "dcbr-m")],
)
def test_parts_that_are_not_combined_refute_topic_connectivity(claim: str, subject: str, method: str) -> None:
    def uncombined(instance: TopicInstance, ties: str, seed: int) -> set[tuple[int, int]]:
        half = instance.num_nodes // 2
        interest = twins.interest_of(instance)
        return {
            (u, v) for u in range(half) for v in range(u + 1, half) if interest[u] & interest[v]
        }  # fmt: skip

    assert verdicts(judge(CLAIMS[claim], True, with_broken(method, uncombined)))[subject] is Verdict.REFUTED


def test_every_pair_with_a_common_topic_is_too_many_edges_for_lemma_6_2() -> None:
    assert verdicts(judge(CLAIMS["P1.L6.2"], True, with_broken("gm", forgetful_cd_oda)))["GM"] is Verdict.REFUTED
