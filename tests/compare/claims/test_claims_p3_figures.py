"""The checks of P3's tables, figures and parameters on small grids, and with faulty algorithms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.claims.claim import Verdict
from overlaybench.compare.claims.p3_figures import CLAIMS_P3_FIGURES
from overlaybench.compare.claims.p3_parameters import CLAIMS_P3_PARAMETERS
from overlaybench.compare.claims.p3_tables import CLAIMS_P3_TABLES, agreement, chance_outside
from overlaybench.compare.claims.register import ClaimOutcome, judge
from overlaybench.compare.papers.bench import LAWS, Experiment, rows_here, runs
from overlaybench.compare.papers.grids_p3 import GRIDS_P3, SIZES_P3, TABLE_LAWS, by_the_paper, p3_default, with_rules
from overlaybench.compare.papers.rows_p3 import chosen, drawn, labelled
from overlaybench.compare.papers.tables_p3 import PRINTED, RUNS, TABLES_P3, Printed
from overlaybench.instances.contract.catalogue import PROBLEMS
from overlaybench.instances.contract.method import Method, Proposal
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.topics.instance import TopicInstance

CLAIMS = {claim.id: claim for claim in (*CLAIMS_P3_TABLES, *CLAIMS_P3_FIGURES, *CLAIMS_P3_PARAMETERS)}
DIVIDED = ("gm-m", "dcb-m", "dcbr-m")
TABLE_SAMPLES = 400
"""A quarter of the paper's instances."""
SMALL = ({"nodes": 40, "topics": 40}, {"nodes": 80, "topics": 40}, {"nodes": 80, "topics": 80})
Methods = Mapping[str, Method[Any, Any]]
Change = Callable[[TopicInstance, Proposal[Overlay]], Proposal[Overlay]]


def small(
    figure: str, *methods: Any, laws: tuple[str, ...] = ("uniform",), shapes: Any = SMALL, seeds: int = 2
) -> Experiment:
    recipes = tuple(
        recipe
        for law in laws
        for shape in shapes
        for recipe in p3_default(figure, law, seeds, **{"least": 3, "most": 9, **shape})
    )
    return Experiment(recipes, (runs("minmax-tco", *methods),))


def altered(name: str, change: Change, **options: Callable[[Any], Any]) -> Methods:
    """The catalogue with one algorithm whose options or proposals are altered."""
    sound = METHODS[name]

    def solve(instance: TopicInstance, problem: Any, **given: Any) -> Proposal[Overlay]:
        own = {key: options[key](value) if key in options else value for key, value in given.items()}
        return change(instance, sound.solve(instance, problem, **own))

    return {**METHODS, name: replace(sound, solve=solve, warm_up=None)}


def all_pairs(instance: TopicInstance, proposal: Proposal[Overlay]) -> Proposal[Overlay]:
    """Every pair with a common topic is linked."""
    interest = np.zeros((instance.num_nodes, instance.num_topics), int)
    interest[np.repeat(np.arange(instance.num_nodes), np.diff(instance.node_offsets)), instance.node_topics] = 1
    edges = np.argwhere(np.triu(interest @ interest.T, 1))
    return replace(proposal, answer=Overlay.from_edges(instance.num_nodes, edges))


def as_gm_m(instance: TopicInstance, proposal: Proposal[Overlay]) -> Proposal[Overlay]:
    return replace(proposal, answer=METHODS["gm-m"].run(instance, PROBLEMS["minmax-tco"]).answer)


def hub_if_skewed(instance: TopicInstance, proposal: Proposal[Overlay]) -> Proposal[Overlay]:
    """On instances with topics of very unequal size, a hub of a random number of nodes."""
    sizes = np.diff(instance.topic_offsets)
    if sizes.max() <= 3 * sizes.mean() or proposal.answer is None:
        return proposal
    star = [(0, v) for v in range(1, 2 + int(instance.digest, 16) % (instance.num_nodes - 1))]
    edges = np.unique(np.concatenate([proposal.answer.edges, star]), axis=0)
    return replace(proposal, answer=Overlay.from_edges(instance.num_nodes, edges))


def more_work(instance: TopicInstance, proposal: Proposal[Overlay]) -> Proposal[Overlay]:
    counters = dict(proposal.counters)
    if "table_work" in counters:
        counters["table_work"] = 1000 * float(counters["table_work"])
    return replace(proposal, counters=counters)


def unchanged(instance: TopicInstance, proposal: Proposal[Overlay]) -> Proposal[Overlay]:
    return proposal


def known_by_all(instance: TopicInstance, proposal: Proposal[Overlay]) -> Proposal[Overlay]:
    return replace(proposal, counters={**proposal.counters, "pn_ratio": 1.0})


def slow_division(*given: object) -> int:
    return sum(range(3 * 10**7))


def few_large_nodes(quick: bool, nodes: int = 0) -> list[tuple[str, TopicInstance]]:
    """A fifth of the nodes have sixty topics, the others one."""
    topics = [f"t{number}" for number in range(60)]
    interest = {f"n{number}": topics if number < 20 else topics[:1] for number in range(100)}
    return [("uniform", TopicInstance.from_subscriptions(interest))] * 3


@dataclass(frozen=True)
class Fault:
    """A fault, the finding that it must change, and the small version of the claim's experiment, if it has one."""

    subject: str
    sound: Verdict
    methods: Methods = field(default_factory=lambda: METHODS)
    experiment: Experiment | None = None
    patch: Mapping[str, Any] = field(default_factory=dict)


PARTS: Any = [(name, {"partitions": p}) for name in ("dcb-m", "dcbr-m") for p in (1, 4, 2**31 - 1)]
COVERAGES: Any = [("dcbr-m", {"coverage": coverage}) for coverage in range(1, 5)]
RINGS: Any = [("ring-per-topic", {"order": order}) for order in ("number", "random", "random-per-topic")]
ONE = ({"nodes": 100, "topics": 60},)
PAPER = by_the_paper(*DIVIDED)
WORSE = altered("dcbr-m", all_pairs)
LIMITS = ({"nodes": 100, "topics": 40}, {"nodes": 60, "topics": 40, "least": 9, "most": 15})
BROKEN: Mapping[str, Fault] = {
    **{
        table: Fault(
            "maximum degrees",
            Verdict.OPEN,
            altered("dcbr-m", as_gm_m),
            small(table, *DIVIDED, *PAPER[::3], ("dcbr-m", {"aim": "lemma-16"}), laws=(law,), shapes=ONE, seeds=4),
        )
        for table, law in TABLE_LAWS.items()
    },
    "P3.S6.1": Fault(
        "maximum degrees vary more under exponential than uniform",
        Verdict.OPEN,
        {**altered("dcbr-m", hub_if_skewed), "gm-m": altered("gm-m", hub_if_skewed)["gm-m"]},
        small("P3.S6.1", "gm-m", "dcbr-m", laws=LAWS, shapes=ONE, seeds=8),
    ),
    "P3.F4": Fault(
        "at p = |L| both equal GM-M",
        Verdict.HOLDS,
        WORSE,
        small("P3.F4", *with_rules("gm-m", *PARTS, rules=("lowest", "highest")), *PAPER, shapes=ONE, seeds=3),
    ),
    "P3.F5": Fault(
        "D falls in λ",
        Verdict.HOLDS,
        altered("dcbr-m", unchanged, coverage=lambda coverage: 5 - coverage),
        small("P3.F5", "gm-m", *COVERAGES, shapes=({"nodes": 200, "topics": 100},), seeds=6),
    ),
    "P3.F6": Fault(
        "uniform: D_DCBR − D_GMM ≤ 2.0",
        Verdict.HOLDS,
        WORSE,
        small("P3.F6", *with_rules("gm-m", "dcbr-m", rules=("lowest",)), *PAPER[::2], laws=LAWS),
    ),
    "P3.F7": Fault(
        "DCBR-M and DCB-M have similar degrees",
        Verdict.HOLDS,
        WORSE,
        small("P3.F7", *with_rules(*DIVIDED, rules=("highest",)), *DIVIDED, *PAPER),
    ),
    "P3.F8": Fault(
        "zipf: D_DCBR − D_GMM ≤ 4.46",
        Verdict.HOLDS,
        WORSE,
        small("P3.F8", *with_rules(*DIVIDED, rules=("lowest",)), *PAPER[::3], laws=LAWS),
    ),
    "P3.F9": Fault(
        "d falls with |T_v|",
        Verdict.HOLDS,
        altered("gm-m", all_pairs),
        small(
            "P3.F9",
            *with_rules(*DIVIDED, rules=("lowest", "highest")),
            shapes=tuple({"nodes": 60, "topics": 40, "least": at, "most": at + 6} for at in (4, 12, 24)),
        ),
    ),
    "P3.F10": Fault(
        "RingPT's maximum degree ≈ 30 × DCBR-M's: order number",
        Verdict.ORDER,
        WORSE,
        small("P3.F10", *RINGS, *with_rules("gm-m", "dcbr-m")),
    ),
    "P3.S6.4": Fault(
        "GM-M's maximum degree is at most that of gm",
        Verdict.HOLDS,
        altered("gm-m", all_pairs),
        small("P3.S6.4", *with_rules("gm-m", "minmax-oda"), "gm", "low-oda", "ring-per-topic", shapes=ONE, seeds=6),
    ),
    "P3.S5.1": Fault("every node bulk: DCBR-M is GM-M", Verdict.HOLDS, WORSE),
    "P3.S5.2": Fault("the workload follows the 80–20 rule", Verdict.REFUTED, patch={"_defaults": few_large_nodes}),
    "P3.S5.3": Fault("choosing p is cheap", Verdict.HOLDS, patch={"best_division": slow_division}),
    "P3.S5.4": Fault("uniform: the pn-ratio falls with η", Verdict.HOLDS, altered("dcbr-m", known_by_all)),
}


def outcome(claim: str, methods: Methods = METHODS) -> ClaimOutcome:
    fault = BROKEN[claim]
    own = CLAIMS[claim]
    if fault.experiment is not None:
        own = replace(own, experiment=lambda quick: fault.experiment)
    return judge(own, True, methods)


def verdict(claim: str, methods: Methods = METHODS) -> Verdict:
    found = {finding.subject: finding.verdict for finding in outcome(claim, methods).findings}
    return found[BROKEN[claim].subject]


def test_every_claim_has_a_fault() -> None:
    assert set(BROKEN) == set(CLAIMS)


def few(quick: bool, nodes: int = 0) -> list[tuple[str, TopicInstance]]:
    return [
        (law, recipe.make())
        for law in LAWS
        for shape in LIMITS
        for recipe in p3_default("x", law, 1, **{"least": 3, "most": 9, **shape})
    ]


@pytest.mark.slow
@pytest.mark.parametrize("claim", [name for name in BROKEN if name != "P3.S5.3"])
def test_a_fault_changes_the_verdict(claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overlaybench.compare.claims.p3_parameters._defaults", few)
    instances = [one.make() for one in p3_default("x", "uniform", 4, nodes=200, topics=30, least=3, most=9)]
    monkeypatch.setattr("overlaybench.compare.claims.p3_trade_off._instances", lambda quick, law: instances)
    monkeypatch.setattr("overlaybench.compare.claims.p3_trade_off.LAWS", ("uniform",))
    assert verdict(claim) is BROKEN[claim].sound
    for name, broken in BROKEN[claim].patch.items():
        monkeypatch.setattr(f"overlaybench.compare.claims.p3_parameters.{name}", broken)
    assert verdict(claim, BROKEN[claim].methods) is not BROKEN[claim].sound


@pytest.mark.slow
def test_a_slow_division_is_not_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    assert verdict("P3.S5.3") is Verdict.HOLDS
    for name, broken in BROKEN["P3.S5.3"].patch.items():
        monkeypatch.setattr(f"overlaybench.compare.claims.p3_parameters.{name}", broken)
    assert verdict("P3.S5.3") is not Verdict.HOLDS


def test_a_claim_on_time_follows_the_counted_work() -> None:
    subject = "T_DCBR is 4.79% of T_GMM or less: Algorithms 3 to 6, counted work"
    found = {finding.subject: finding for finding in outcome("P3.F7").findings}
    assert found[subject].verdict is Verdict.OPEN
    assert found[subject].scope.scale == "at |V| up to 80 of 8000, |T| up to 80 of 100, mean |T_v| up to 6 of 50"
    slow = {finding.subject: finding for finding in outcome("P3.F7", altered("gm-m", more_work)).findings}
    assert slow[subject].verdict is Verdict.HOLDS


def test_a_printed_mean_agrees_only_with_a_close_sample() -> None:
    line = Printed(8.0, 7, 9, 0.04)
    sample = pd.Series(8.0 + 0.2 * np.sin(np.arange(400)))
    assert agreement(sample, line) is Verdict.HOLDS
    assert agreement(sample + 0.1, line) is Verdict.REFUTED
    assert agreement(pd.Series([4.0, 12.0]), line) is Verdict.OPEN


def test_few_of_equally_many_runs_lie_beyond_the_greatest_of_others() -> None:
    assert chance_outside(0, RUNS) == 1
    assert chance_outside(1, RUNS) == pytest.approx(0.5)
    assert chance_outside(6, RUNS) == pytest.approx(2**-6, rel=0.05)


@pytest.mark.parametrize("table", TABLE_LAWS)
def test_printed_lines_are_statistics_of_one_sample(table: str) -> None:
    for line in PRINTED[table].values():
        assert line.least <= line.mean <= line.most
        # Popoviciu's bound on a variance.
        assert line.variance <= (line.most - line.least) ** 2 / 4


@pytest.mark.parametrize("quick", [True, False])
def test_every_grid_of_p3_has_runs_of_its_own_families_and_named_sizes(quick: bool) -> None:
    assert set(SIZES_P3) == {*GRIDS_P3, "P3.S6.4"}
    for figure, experiment in GRIDS_P3.items():
        made = experiment(quick)
        families = {recipe.family for recipe in made.recipes}
        assert {family.partition(" ")[0] for family in families} == {figure}
        assert families == {family for one in made.runs for family in one.families}


def test_full_grids_have_the_sizes_of_the_paper() -> None:
    nodes = {name: {dict(one.parameters)["nodes"] for one in GRIDS_P3[name](False).recipes} for name in GRIDS_P3}
    assert all(max(nodes[name]) == 8000 for name in ("P3.F6", "P3.F7", "P3.F10"))
    assert nodes["P3.F8"] == {4000}
    for table in TABLE_LAWS:
        recipes = GRIDS_P3[table](False).recipes
        assert sum(not recipe.family.endswith("laws") for recipe in recipes) == TABLE_SAMPLES


def test_a_figure_shows_one_line_a_method_of_our_kernels() -> None:
    experiment = BROKEN["P3.F4"].experiment
    assert experiment is not None
    rows = rows_here(experiment, METHODS)
    shown = labelled(drawn(rows))
    assert set(shown["ties"]) == {"lowest"}
    assert set(shown["data"]) == {"rows"}
    assert shown[shown["method"] == "dcbr-m"]["given"].all()


def test_table_means_compare_times_within_an_instance() -> None:
    experiment = BROKEN["P3.T2"].experiment
    assert experiment is not None
    rows = rows_here(experiment, METHODS)
    means = TABLES_P3["P3.T2"].means(rows)
    assert set(TABLES_P3["P3.T2"].published) <= set(means)
    own = chosen(labelled(rows))
    assert means["D_GMM"] == own[own["method"] == "gm-m"]["max_degree"].mean()
    seconds = own.pivot_table(index="instance", columns="method", values="seconds")
    assert np.isclose(means["T_DCB/T_GMM"], (seconds["dcb-m"] / seconds["gm-m"]).mean())
