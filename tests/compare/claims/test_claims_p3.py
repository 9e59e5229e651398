"""The claims on P3's lemmas and sentences (§§I to IV): their verdicts, and others with broken algorithms or data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.claims.claim import Finding, Verdict
from overlaybench.compare.claims.p3 import small
from overlaybench.compare.claims.p3_degrees import varied
from overlaybench.compare.claims.p3_division import bad_partition
from overlaybench.compare.claims.p3_growth import binomial_tree, legal_degree
from overlaybench.compare.claims.p3_sentences import ends_as_printed
from overlaybench.compare.claims.properties import TIES, assorted
from overlaybench.compare.claims.register import CLAIMS
from overlaybench.compare.papers.bench import Bench, Experiment, grid, rows_here, runs
from overlaybench.compare.papers.grids_p3 import p3_default
from overlaybench.heuristics.topics.tie_search.steps import EdgeSteps
from overlaybench.instances.contract.catalogue import PROBLEMS
from overlaybench.instances.contract.method import Method, Proposal
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.topics.instance import TopicInstance
from tests.heuristics.topics import twins

Methods = Mapping[str, Method[Any, Any]]
Edges = Iterable[tuple[int, int]]


def building(name: str, build: Callable[[TopicInstance], Edges], **counters: float) -> Methods:
    """The catalogue with one algorithm that builds these edges, with these counters, under every rule for ties."""

    def solve(instance: TopicInstance, problem: Any, **options: object) -> Proposal[Overlay]:
        return Proposal(Overlay.from_edges(instance.num_nodes, sorted(build(instance))), counters=counters)

    return {**METHODS, name: replace(METHODS[name], solve=solve, warm_up=None)}


def counting(name: str, change: Callable[[dict[str, Any], TopicInstance], dict[str, Any]]) -> Methods:
    """The catalogue with one algorithm whose counters are changed."""

    def solve(instance: TopicInstance, problem: Any, **options: object) -> Proposal[Overlay]:
        proposal = METHODS[name].solve(instance, problem, **options)
        return replace(proposal, counters={**proposal.counters, **change(dict(proposal.counters), instance)})

    return {**METHODS, name: replace(METHODS[name], solve=solve)}


def instead(name: str, other: str) -> Methods:
    """The catalogue with one algorithm under the name of another."""
    options = {option.name for option in METHODS[other].options} | set(METHODS[other].inputs)
    always = ("seed", "time_limit")

    def solve(instance: TopicInstance, problem: Any, **given: Any) -> Proposal[Overlay]:
        kept = {option.name: option.default for option in METHODS[other].options}
        kept |= {key: value for key, value in given.items() if key in options or key in always}
        return METHODS[other].solve(instance, problem, **kept)

    return {**METHODS, name: replace(METHODS[name], solve=solve, warm_up=None)}


def common_pairs(instance: TopicInstance) -> Edges:
    interest = twins.interest_of(instance)
    return (
        (u, v) for u in range(len(interest)) for v in range(u + 1, len(interest)) if interest[u] & interest[v]
    )  # fmt: skip


def all_pairs(instance: TopicInstance) -> Edges:
    return ((u, v) for u in range(instance.num_nodes) for v in range(u + 1, instance.num_nodes))


def star(instance: TopicInstance) -> Edges:
    return ((0, v) for v in range(1, instance.num_nodes))


def with_hub(instance: TopicInstance) -> Edges:
    """GM-M's edges, and one from node 0 to every other node."""
    overlay = METHODS["gm-m"].run(instance, PROBLEMS["minmax-tco"]).answer
    assert overlay is not None
    return {*((u, v) for u, v in overlay.edges.tolist()), *star(instance)}


def first_half(instance: TopicInstance) -> Edges:
    half = instance.num_nodes // 2
    return ((u, v) for u in range(half) for v in range(u + 1, half))


def times_nodes(name: str, *counters: str) -> Methods:
    """Counted work times |V|⁵."""
    return counting(name, lambda kept, one: {each: kept[each] * float(one.num_nodes) ** 5 for each in counters})


def nothing_added(partial: object) -> None:
    """GM-M that adds no edge."""


def every_lightweight(instance: TopicInstance, partition: Any, coverage: int, order: Any) -> Any:
    return partition.lightweight


def low_degrees_first() -> Methods:
    """GM-M whose search of ties knows only the edges of least total degree."""

    def steps(instance: TopicInstance, **_: object) -> EdgeSteps:
        def choose(contributions: Mapping[tuple[int, int], int], degrees: Sequence[int]) -> list[tuple[int, int]]:
            useful = [edge for edge, contribution in contributions.items() if contribution]
            least = min(degrees[u] + degrees[v] for u, v in useful)
            return [(u, v) for u, v in useful if degrees[u] + degrees[v] == least][-1:]

        return EdgeSteps(instance, choose)

    return {**METHODS, "gm-m": replace(METHODS["gm-m"], solve=replace(METHODS["gm-m"].solve, steps=steps))}  # type: ignore[type-var]


def solved() -> Experiment:
    recipes = tuple(r for r in grid("x", "zipf", 2, nodes=50, topics=20, subscriptions=4))
    methods = [(name, {"ties": ties}) for name in ("gm-m", "minmax-oda") for ties in TIES]
    return Experiment(recipes, (runs("minmax-tco", "branch-and-cut", *methods),))


def growing(method: str, **options: Any) -> Callable[[], Experiment]:
    def experiment() -> Experiment:
        recipes = [r for s in (4, 8, 16) for r in grid(f"x{s}", "uniform", 6, nodes=60, topics=100, subscriptions=s)]
        each = (
            runs("minmax-tco", (method, {**options, **({"eta": s} if options else {})}), families=(f"x{s}",))
            for s in (4, 8, 16)
        )
        return Experiment(tuple(recipes), tuple(each))

    return experiment


def counted() -> Experiment:
    vary = (("P3.L7.V", {"nodes": n, "topics": 40}) for n in (40, 80, 160))
    more = (("P3.L7.T", {"nodes": 40, "topics": t}) for t in (40, 80, 160))
    recipes = tuple(r for name, shape in (*vary, *more) for r in grid(name, "uniform", 3, subscriptions=8, **shape))
    return Experiment(recipes, (runs("minmax-tco", ("gm-m", {"data": "table"})),))


def divided() -> Experiment:
    recipes = tuple(
        recipe for n in (40, 80, 160) for recipe in p3_default("x", "uniform", 3, nodes=n, topics=40, least=6, most=6)
    )
    methods = [(m, {"partitions": p, "data": "table"}) for m in ("dcb-m", "dcbr-m") for p in (2, 8, 32)]
    return Experiment(recipes, (runs("minmax-tco", *methods),))


def parted(*methods: tuple[str, dict[str, Any]]) -> Callable[[], Experiment]:
    def experiment() -> Experiment:
        recipes = p3_default("x", "zipf", 4, nodes=120, topics=60, least=3, most=30)
        return Experiment(recipes, (runs("minmax-tco", *methods),))

    return experiment


NAIVE = parted(("gm-m", {}), *(("naive-dc", {"partitions": p}) for p in (2, 5, 10, 20)))
SETS = parted(*(("dcbr-m", {"partitions": p, "coverage": c}) for p in (2, 5) for c in (1, 3)))
RATIOS = parted(*(("dcbr-m", {"partitions": p}) for p in (2, 5)), ("dcb-m", {"partitions": 2}))
H, R, O = Verdict.HOLDS, Verdict.REFUTED, Verdict.OPEN  # noqa: E741


@dataclass(frozen=True)
class Case:
    """A subject with its verdict, and what is broken so that it gets another one."""

    subject: str
    verdict: Verdict
    methods: Methods = field(default_factory=lambda: METHODS)
    patched: tuple[str, Any] | None = None
    rows: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    experiment: Callable[[], Experiment] | None = None


BROKEN: Mapping[str, Case] = {
    "P3.L1": Case("MinMax-ODA", H, building("minmax-oda", common_pairs), experiment=solved),
    "P3.L2": Case("GM-M", H, building("gm-m", common_pairs), experiment=solved),
    "P3.L3": Case("phases of GM-M", H, instead("gm-m", "gm")),
    "P3.L4": Case("GM-M", H, building("gm-m", all_pairs)),
    "P3.L5": Case("growth with max|T_v| on workloads", H, building("gm-m", common_pairs), experiment=growing("gm-m")),
    "P3.L6": Case("(a) topic-connected", H, patched=("p3.extend_gm_m", nothing_added)),
    "P3.L7": Case("O(|V|²|T|), as |V| grows", H, times_nodes("gm-m", "table_work"), experiment=counted),
    "P3.L8": Case("random halves are uniform", H, building("naive-dc", star, inner_max_degree=0)),
    "P3.L9": Case(
        "growth with η on workloads",
        H,
        counting("dcb-m", lambda kept, one: {"inner_max_degree": kept["eta"] ** 2}),
        experiment=growing("dcb-m", partitions=5),
    ),
    "P3.L10": Case("O(|L|⁴|T|/p³)", H, times_nodes("dcb-m", "inner_table_work"), experiment=divided),
    "P3.L11": Case("DCB-M", H, building("dcb-m", first_half)),
    "P3.L12": Case("Lemma 12", H, building("dcb-m", common_pairs)),
    "P3.L13": Case("O(|T|(|B||V| + |L|²)²)", H, times_nodes("dcb-m", "table_work"), experiment=divided),
    "P3.L14": Case("DCBR-M, topics of bulk nodes outward too", H, building("dcbr-m", first_half)),
    "P3.L15": Case("Lemma 15", H, building("dcbr-m", common_pairs)),
    "P3.L16": Case("O(|T|((|B| + |R|)⁴ + |L|⁴/p³))", H, times_nodes("dcbr-m", "table_work"), experiment=divided),
    "P3.E12": Case(
        "pn-ratio, as an equality",
        R,
        counting("dcbr-m", lambda kept, one: {"pn_ratio": kept["pn_ratio_formula"]}),
        experiment=RATIOS,
    ),
    "P3.F2": Case(
        "zipf-fitted, p = 20",
        O,
        counting("naive-dc", lambda kept, one: {"inner_max_degree": 10 * kept["inner_max_degree"]}),
        experiment=NAIVE,
    ),
    "P3.I.1": Case("no relays", H, building("gm-m", first_half)),
    "P3.I.2": Case("dense: suboptimal degree", H, building("gm-m", all_pairs)),
    "P3.I.12": Case(
        "DCBR-M, 8000 nodes",
        H,
        rows=lambda rows: rows.assign(seconds=100.0, cpu_seconds=100.0),
        experiment=parted(("dcbr-m", {})),
    ),
    "P3.S2.1": Case("GM", H, instead("gm", "gm-m")),
    "P3.S2.2": Case("zipf-fitted, p = 20", O, building("naive-dc", with_hub), experiment=NAIVE),
    "P3.S4A.1": Case("equal under one rule for ties", R, instead("gm-m", "minmax-oda")),
    "P3.S4A.2": Case("D phases form D matchings", R, patched=("p3._triangle", lambda: binomial_tree(2))),
    "P3.S4B.1": Case("two parts", H, counting("gm-m", lambda kept, one: {"table_work": 1.0})),
    "P3.S4C.1": Case("minimal rep-sets", H, patched=("p3_division.representatives", every_lightweight)),
    "P3.S4C.2": Case(
        "rep-sets, λ = 1",
        O,
        counting("dcbr-m", lambda kept, one: {"representatives": 1}),
        experiment=SETS,
    ),
    "P3.S4C.3": Case("greedy rep-sets", H, patched=("p3_sentences.representatives", every_lightweight)),
}

FEWER: Mapping[str, Callable[[Bench], Iterable[Finding]]] = {"P3.L8": partial(bad_partition, sizes=(2, 3))}


@pytest.fixture
def fewer_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small instances of one seed of each workload and construction."""
    kept = [(name, one) for name, one in assorted(True) if name.endswith("seed 0") and one.num_nodes <= 60]
    kept = kept[::2]

    def few(quick: bool) -> Iterator[tuple[str, TopicInstance]]:
        return iter(kept)

    for module in ("properties", "p3_division", "p3_sentences"):
        monkeypatch.setattr(f"overlaybench.compare.claims.{module}.assorted", few)
    for module in ("p3", "p3_sentences"):
        monkeypatch.setattr(
            f"overlaybench.compare.claims.{module}.small", lambda *args, **shape: [*small(*args, **shape)][::4]
        )
    monkeypatch.setattr("overlaybench.compare.claims.p3_degrees.varied", lambda bench: varied(bench)[::4])


def verdicts_of(claim: str, methods: Methods, case: Case, *, broken: bool) -> dict[str, Verdict]:
    bench = Bench(True, methods)
    experiment = case.experiment() if case.experiment else CLAIMS[claim].experiment(True)
    if experiment is not None:
        bench.rows = rows_here(experiment, methods)
        if broken and case.rows:
            bench.rows = case.rows(bench.rows)
    return {finding.subject: finding.verdict for finding in FEWER.get(claim, CLAIMS[claim].judge)(bench)}


@pytest.mark.slow
@pytest.mark.usefixtures("fewer_instances")
@pytest.mark.parametrize("claim", BROKEN)
def test_a_broken_algorithm_or_broken_data_change_the_verdict(claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = BROKEN[claim]
    assert verdicts_of(claim, METHODS, case, broken=False)[case.subject] is case.verdict
    if case.patched:
        monkeypatch.setattr(f"overlaybench.compare.claims.{case.patched[0]}", case.patched[1])
    assert verdicts_of(claim, case.methods, case, broken=True)[case.subject] is not case.verdict


def test_another_rule_of_choice_does_not_lead_gm_m_to_degree_log_n() -> None:
    right, wrong = METHODS["gm-m"].solve.steps, low_degrees_first()["gm-m"].solve.steps  # type: ignore[attr-defined]
    assert [legal_degree(right(binomial_tree(order)), order) for order in (2, 3, 4)] == [2, 3, 4]
    assert legal_degree(wrong(binomial_tree(4)), 4) is None


@pytest.mark.parametrize(("coverage", "ends"), [(1, True), (3, False)])
def test_choosing_representatives_as_printed_ends_where_every_topic_has_enough_subscribers(
    coverage: int, ends: bool
) -> None:
    assert ends_as_printed([{0, 1}, {1}, {1}, {1}], {0, 1}, coverage) is ends


def test_the_nodes_of_a_binomial_tree_have_at_most_two_topics() -> None:
    instance = binomial_tree(5)
    assert np.diff(instance.node_offsets).max() == 2
    tree = [(v & (v - 1), v) for v in range(1, 32)]
    overlay = Overlay.from_edges(32, tree)
    assert overlay.max_degree == 5
    assert (overlay.topic_components(instance) == 1).all()


def test_small_instances_are_a_third_in_the_quick_version() -> None:
    shape = {"nodes": 8, "topics": 6, "subscriptions": 3}
    assert len(list(small(True, 6, **shape))) == 6
    assert len(list(small(False, 6, **shape))) == 18
