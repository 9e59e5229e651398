"""The checks of P1's claims on small instances: the verdict on record, and another one where something is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any

import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.claims import p1, p1_figures, p1_hardness, p1_overlap, p1_steps
from overlaybench.compare.claims.claim import Claim, NotRun, Verdict
from overlaybench.compare.claims.p1 import NOT_RUN_P1, cuboid
from overlaybench.compare.claims.properties import assorted
from overlaybench.compare.claims.register import CLAIMS, judge
from overlaybench.compare.papers.bench import LAWS, Experiment, grid, runs
from overlaybench.compare.papers.grids_p1 import ORDERS, every_tie, p1_instances
from overlaybench.compare.papers.link_contributions import Work, merge_by_link_contributions
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.heuristics.topics.ring_per_topic import ring_per_topic
from overlaybench.instances.contract.method import Proposal
from overlaybench.instances.topics.constructions import SetCover
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.models.topics.enumeration import minimum_set_cover, smallest_degree_of
from tests.compare.claims.broken import fewer_ties, second_best_greedy_merge, verdicts, with_broken

Edges = set[tuple[int, int]]


@dataclass(frozen=True)
class Case:
    """A claim's check on a small experiment, with the verdicts expected, and what to break so that they change."""

    expected: Mapping[str, Verdict]
    methods: Mapping[str, Any] = field(default_factory=lambda: METHODS)
    patches: tuple[tuple[Any, str, Any], ...] = ()
    experiment: Experiment | None = None
    check: Callable[..., Any] | None = None


def small(
    nodes: tuple[int, ...] = (100, 400), sizes: tuple[int, ...] = (10,), laws: tuple[str, ...] = LAWS
) -> Experiment:
    rings = runs("min-tco", *(("ring-per-topic", {"order": order}) for order in ORDERS))
    return Experiment(p1_instances("P1", 4, nodes=nodes, sizes=sizes), (*every_tie(True), rings))


def rings(instance: TopicInstance, ties: str, seed: int) -> Edges:
    return set(map(tuple, ring_per_topic(instance).edges.tolist()))


def every_pair(instance: TopicInstance, ties: str, seed: int) -> Edges:
    return set(combinations(range(instance.num_nodes), 2))


def first_run(instance: TopicInstance, ties: str, seed: int) -> Edges:
    return set(map(tuple, greedy_merge(instance, ties=ties).edges.tolist()))


def lacking(instance: TopicInstance, ties: str, seed: int) -> Edges:
    return set(sorted(first_run(instance, ties, seed))[:-1])


def rings_like_greedy_merge() -> Mapping[str, Any]:
    def solve(instance: TopicInstance, *given: Any, **options: Any) -> Proposal[Any]:
        return Proposal(greedy_merge(instance))

    return {**METHODS, "ring-per-topic": replace(METHODS["ring-per-topic"], solve=solve)}


def solved() -> Experiment:
    recipes = tuple(recipe for law in LAWS for recipe in grid("P1", law, 2, nodes=20, topics=15, subscriptions=5))
    return Experiment(recipes, (runs("min-tco", "branch-and-cut"), *every_tie(True)))


def relisting(instance: TopicInstance, **given: Any) -> tuple[Any, Work]:
    """An implementation that updates every pair after every edge."""
    edges, work = merge_by_link_contributions(instance, **given)
    return edges, work._replace(updates=work.edges * work.pairs + 1)


def larger_cover(cover: SetCover) -> list[int]:
    return [*minimum_set_cover(cover), 0]


def no_cover(cover: SetCover) -> list[int]:
    return list(minimum_set_cover(cover))[:-1]


def higher_degree(instance: TopicInstance, node: int) -> tuple[int, Any]:
    degree, overlay = smallest_degree_of(instance, node)
    return degree + 3, overlay


def eightfold(degree: Any, order: str) -> Mapping[str, Any]:
    return {rule: 8 + 0 * degree["gm", rule] for rule in degree["gm"]}


def few_covers(number: int, *sizes: Any) -> Iterator[tuple[int, SetCover]]:
    return original_covers(min(number, 4), *sizes)


original_covers = p1_hardness._covers
HOLDS, REFUTED, ORDER, OPEN = Verdict.HOLDS, Verdict.REFUTED, Verdict.ORDER, Verdict.OPEN
STEPS = Experiment(p1_instances("P1", 4, nodes=(100, 300)), (runs("min-tco", "gm"),))
RELISTING = ((p1_steps, "merge_by_link_contributions", relisting),)
BROKEN: Mapping[str, Case] = {
    "P1.L5.1": Case(
        {"reduction to maximum degree": HOLDS}, patches=((p1_hardness, "smallest_degree_of", higher_degree),)
    ),
    "P1.L5.2": Case({"SN-TCO": HOLDS}, patches=((p1_hardness, "minimum_set_cover", larger_cover),)),
    "P1.T5.3": Case(
        {"set cover ≤p TCO as defined": HOLDS}, patches=((p1_hardness, "minimum_set_cover", larger_cover),)
    ),
    "P1.L7.1": Case({"upper bound": HOLDS}, patches=((p1_hardness, "minimum_set_cover", no_cover),)),
    "P1.L6.1": Case({"GM": HOLDS}, with_broken("gm", lacking)),
    "P1.L6.2": Case({"GM": HOLDS}, with_broken("gm", every_pair)),
    "P1.L6.4": Case({"updates": HOLDS, "|V|²|T|": HOLDS}, patches=RELISTING, experiment=STEPS),
    "P1.L6.5": Case(
        {"GM ≤ ln Σ|T_v|": HOLDS, "GM ≤ H(max|T_v ∩ T_w|)": HOLDS}, with_broken("gm", every_pair), experiment=solved()
    ),
    "P1.L6.6": Case(
        {"GM": HOLDS, "ratio (2 + k)/4 at k = m": HOLDS},
        with_broken("gm", fewer_ties(second_best_greedy_merge)),
        check=partial(cuboid, sizes=((2, 3), (2, 4), (3, 3))),
    ),
    "P1.S6.1": Case({"every edge merges components": HOLDS}, with_broken("gm", rings)),
    "P1.S6.4": Case({"connectivity": HOLDS, "diameter": HOLDS}, with_broken("gm", first_run)),
    "P1.F2": Case(
        {"rises with |T|": HOLDS, "exponential below zipf": HOLDS}, with_broken("gm", every_pair), experiment=small()
    ),
    "P1.F3": Case(
        {
            "behaves like |V|², total": HOLDS,
            "the count depends on neither ties nor seed": HOLDS,
            "a small fraction, zipf, updates": HOLDS,
        },
        patches=RELISTING,
        experiment=STEPS,
    ),
    "P1.F4a": Case({"exponential, rings by random-per-topic": ORDER}, with_broken("gm", rings), experiment=small()),
    "P1.F4b": Case(
        {"zipf, |V| = 400, GM +25% at worst": HOLDS},
        with_broken("gm", rings),
        experiment=small(nodes=(400,), sizes=(10, 20)),
    ),
    "P1.S8.1": Case({"exponential below uniform": HOLDS}, with_broken("gm", every_pair), experiment=small()),
    "P1.S8.2": Case(
        {"larger with |V|": HOLDS, "smaller with |T|": HOLDS, "larger for exponential than zipf": HOLDS},
        patches=((p1_overlap, "overlaps", lambda instance: (1.0, 1.0)),),
    ),
    "P1.I.1": Case(
        {"linear in |T_v|, rings by random-per-topic": HOLDS},
        rings_like_greedy_merge(),
        experiment=small(nodes=(400,), sizes=(5, 10)),
    ),
    "P1.I.2": Case({"on average": HOLDS}, with_broken("gm", every_pair), experiment=small(nodes=(100,))),
    "P1.I.3": Case(
        {"zipf, 10 topics a node, rings by number": HOLDS}, with_broken("gm", rings), experiment=small((1000,))
    ),
    "P1.I.4": Case(
        {"exponential, 20 topics a node, |V| = 100, rings by number": REFUTED},
        patches=((p1_figures, "_over", eightfold),),
        experiment=small((100,), (20,)),
    ),
    "P1.I.5": Case(
        {"naive ≤ |V|⁴|T|": HOLDS},
        patches=((p1_steps, "naive_steps", lambda instance: instance.num_nodes**5 * instance.num_topics),),
    ),
}


@pytest.fixture(autouse=True)
def smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """One seed of the smaller assorted instances, few set covers, and verdicts on few solved instances."""

    def first(quick: bool) -> Iterator[tuple[str, TopicInstance]]:
        return ((name, one) for name, one in assorted(quick) if name.endswith("seed 0") and one.num_nodes < 100)

    for module in ("properties", "p1", "p1_steps"):
        monkeypatch.setattr(f"overlaybench.compare.claims.{module}.assorted", first)
    monkeypatch.setattr(p1_hardness, "_covers", few_covers)
    monkeypatch.setattr(p1, "_SOLVED", 6)
    monkeypatch.setattr(p1, "LAWS", ("zipf",))
    p1_steps.work_on.cache_clear()


def of(claim: str) -> Claim:
    case = BROKEN[claim]
    found = replace(CLAIMS[claim], judge=case.check or CLAIMS[claim].judge)
    return replace(found, experiment=lambda quick: case.experiment) if case.experiment else found


@pytest.mark.slow
@pytest.mark.parametrize("claim", BROKEN)
def test_a_broken_algorithm_changes_the_verdict(claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = BROKEN[claim]
    sound = verdicts(judge(of(claim), quick=True))
    assert {subject: sound[subject] for subject in case.expected} == case.expected
    p1_steps.work_on.cache_clear()
    for module, name, broken in case.patches:
        monkeypatch.setattr(module, name, broken)
    found = verdicts(judge(of(claim), quick=True, methods=case.methods))
    assert all(found[subject] is not verdict for subject, verdict in case.expected.items())


def test_every_claim_of_p1_has_a_case_and_every_sentence_not_run_a_reason() -> None:
    assert set(BROKEN) == {claim for claim in CLAIMS if claim.startswith("P1.")}
    assert all(isinstance(one, NotRun) and one.reason and one.id not in CLAIMS for one in NOT_RUN_P1)


def test_findings_name_scope_and_intervals() -> None:
    for claim in ("P1.F2", "P1.L6.5", "P1.L6.1"):
        for finding in judge(of(claim), quick=True).findings:
            assert finding.scope.sizes
            assert finding.scope.samples
            assert finding.intervals or claim == "P1.L6.1" or "nodes" in finding.subject
