"""P3's claims in small versions: the verdict of the sound algorithm or of published values, and of broken ones."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import overlaybench as ob
from overlaybench.compare.claims import p3, p3_lemmas, p3_system
from overlaybench.compare.claims.bench import Bench, rows_here
from overlaybench.compare.claims.claim import Judgement, Verdict
from overlaybench.compare.claims.contribution_table import gm_m_by_table
from overlaybench.compare.claims.data import GRIDS
from overlaybench.compare.claims.enumeration import smallest_cover
from overlaybench.compare.claims.register import CLAIMS, judge
from overlaybench.heuristics.topics.merge.divide_and_conquer import (
    best_division,
    partition_of,
    random_order,
    representatives,
    restricted,
)
from overlaybench.heuristics.topics.tie_breaking.ties import tie_order
from tests.compare.claims.faults import (
    Edges,
    Fault,
    every_pair,
    judged_on_rows,
    no_edge,
    tiered,
    with_answers,
    with_broken,
)
from tests.outcomes import known

CONFIRMED, CONTRADICTED = Verdict.CONFIRMED, Verdict.CONTRADICTED


def path(instance: ob.TopicInstance, ties: str, seed: int) -> Edges:
    return {(v, v + 1) for v in range(instance.num_nodes - 1)}


def path_of_few(instance: ob.TopicInstance, ties: str, seed: int) -> Edges:
    return path(instance, ties, seed) if instance.num_nodes < 100 else every_pair(instance, ties, seed)


def only_equal_parts(instance: ob.TopicInstance, nodes: Any) -> ob.TopicInstance:
    return restricted(instance, nodes if len(nodes) == instance.num_nodes // 2 else nodes[:2])


def other_by_table(instance: ob.TopicInstance, **given: Any) -> Any:
    return gm_m_by_table.build(instance, ties="random", seed=99)


def every_pair_told(quick: bool, simulate: Any) -> list[Any]:
    """The schemes in which everyone knows everyone: no partial knowledge."""
    return [
        (instance, part, replace(found, knows=[frozenset(range(instance.num_nodes))] * instance.num_nodes))
        for instance, part, found in schemes(quick, simulate)
    ]


schemes = p3_system._schemes
OTHER_STEPS = {
    **ob.METHODS,
    "gm-m": replace(ob.METHODS["gm-m"], solve=ob.METHODS["dcb-m"].solve, options=ob.METHODS["dcb-m"].options),
}
FAULTS: Mapping[str, Fault] = {
    "P3.I.1": Fault(with_broken(gm_m=no_edge)),
    "P3.I.2": Fault(with_broken(gm_m=every_pair)),
    "P3.S2.1": Fault(with_answers("gm", found="gm-m")),
    "P3.L4": Fault(with_broken(gm_m=every_pair)),
    "P3.L11": Fault(with_broken(dcb_m=path)),
    "P3.L14": Fault(with_broken(dcbr_m=path_of_few)),
    "P3.S5.1": Fault(with_broken(dcbr_m=path)),
    "P3.S4D.1": Fault(with_broken(dcbr_m=every_pair)),
    "P3.S4A.2": Fault(with_broken(gm_m=path), CONTRADICTED, CONFIRMED),
    "P3.L5": Fault(OTHER_STEPS, CONTRADICTED, Verdict.NOT_DECIDED),
    "P3.L9": Fault(OTHER_STEPS, CONTRADICTED, Verdict.NOT_DECIDED),
    "P3.L3": Fault(replaced={"p3_lemmas.best_matching": lambda labels, free: 100}),
    "P3.L6": Fault(replaced={"p3_lemmas._extended": lambda bench, instance, current, ties, seed: current}),
    "P3.L8": Fault(replaced={"p3_lemmas.conquered_tree": lambda bench, h, part, ties: 3}),
    "P3.S4C.1": Fault(
        replaced={"p3_lemmas.representatives": lambda one, *given: np.arange(one.num_nodes, dtype=np.int32)}
    ),
    "P3.S4C.3": Fault(replaced={"p3_lemmas.smallest_cover": lambda cover, needed: (0,)}),
    "P3.L12": Fault(replaced={"p3_system._lower_bound": lambda bench, instance: 1e-9}),
    "P3.L15": Fault(replaced={"p3_system._lower_bound": lambda bench, instance: 1e-9}),
    "P3.S4D.2": Fault(replaced={"p3_system._schemes": every_pair_told}),
    "P3.S4D.3": Fault(replaced={"p3_system._schemes": every_pair_told}),
    "P3.S4D.4": Fault(replaced={"p3_system._work": lambda bench, instance, parts: ([10**12 // parts**6], 1)}),
    "P3.S4B.1": Fault(replaced={"p3_system.restricted": only_equal_parts}),
    "P3.A3": Fault(replaced={"p3_lemmas.gm_m_by_table": SimpleNamespace(build=other_by_table)}),
}
SLOW = {
    *("P3.L1", "P3.L2", "P3.L11", "P3.L12", "P3.L14", "P3.L15", "P3.S5.1", "P3.S4D.1", "P3.S4D.2", "P3.S4D.3"),
    *("P3.T2", "P3.T3", "P3.T4", "P3.F6", "P3.F9"),
}


@tiered(SLOW, FAULTS)
def test_a_fault_changes_the_verdict(id_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[id_].check(id_, monkeypatch)


def test_when_edges_of_contribution_0_are_discarded_decides() -> None:
    found = judge(CLAIMS["P3.S4A.1"]).judgement
    assert found.verdict is Verdict.DEPENDS
    assert [line.verdict for line in found.sensitivity] == [CONFIRMED]


@pytest.mark.slow
def test_choosing_parts_is_dear_where_it_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    once = best_division
    monkeypatch.setattr(p3_system, "best_division", lambda *given: list(map(once, *([one] * 200 for one in given))))
    found = judge(CLAIMS["P3.S5.3"]).judgement
    assert found.verdict in (CONTRADICTED, Verdict.NOT_DECIDED)
    assert known(found.number).mean > 1


def test_choosing_parts_is_a_share_of_processor_time_and_the_first_instance_compiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moments = iter([0.0, 5.0, 6.0, 10.0, 11.0, 31.0, 40.0, 41.0, 51.0])  # shares of 5, 1/20 and 1/10
    small = next(p3_lemmas.small(True, 1, nodes=9, topics=4, subscriptions=2))
    monkeypatch.setattr(p3_system, "instances_p3", lambda *_, **__: [small] * 3)
    monkeypatch.setattr(p3_system, "best_division", lambda *_: None)
    monkeypatch.setattr(p3_system, "time", SimpleNamespace(process_time=moments.__next__))
    monkeypatch.setattr(p3_system, "divide_and_conquer", lambda *_, **__: None)
    bench: Any = SimpleNamespace(quick=True, done=0)
    assert known(CLAIMS["P3.S5.3"].judge(bench).number).mean == pytest.approx(0.075)


# ---- claims about rows: a small grid, whose runs have the given values ----

Values = Callable[[pd.DataFrame], Mapping[str, Any]]


@cache
def runs_of(name: str) -> pd.DataFrame:
    """The runs of a grid's quick version on tiny instances."""
    sheets = []
    for one in GRIDS[name].sheets:
        shape = {**one.shape, **one.quick, "nodes": (12, 24) if isinstance(one.shape["nodes"], tuple) else 12}
        if "subscriptions" not in shape and "least" not in shape:
            shape |= {"topics": (20, 30) if isinstance(one.shape["topics"], tuple) else 20, "least": 3, "most": 9}
        sheets.append(replace(one, shape=shape, quick={}))
    return rows_here(replace(GRIDS[name], sheets=tuple(sheets)).experiment(True), ob.METHODS)


def by_method(rows: pd.DataFrame, values: Mapping[str, float], other: float = 1.0) -> pd.Series:
    """A value for each method, a little larger on each further instance."""
    rank = rows["instance"].astype("category").cat.codes
    return rows["method"].map(values).fillna(other) * (1 + 1e-4 * rank)


def degrees(**values: float) -> Values:
    named = {name.replace("_", "-"): value for name, value in values.items()}
    return lambda rows: {"max_degree": by_method(rows, named), "average_degree": by_method(rows, named)}


def work(dcbr: float, dcb: float = 0.757) -> Values:
    def values(rows: pd.DataFrame) -> Mapping[str, Any]:
        steps = by_method(rows, {"gm-m": 1e6, "dcb-m": dcb * 1e6, "dcbr-m": dcbr * 1e6})
        return {"c_table_work": steps.where(rows["o_data"] == "table"), "c_table_listed": 0.0}

    return values


ROWS: Mapping[str, tuple[Values, Values]] = {
    "P3.T2": (degrees(gm_m=8.0, dcb_m=10.3, dcbr_m=10.9), degrees(gm_m=8.0, dcb_m=10.3, dcbr_m=30)),
    "P3.T3": (degrees(gm_m=11.1, dcb_m=16.3, dcbr_m=16.4), degrees(gm_m=11.1, dcb_m=16.3, dcbr_m=60)),
    "P3.T4": (degrees(gm_m=8.4, dcb_m=10.8, dcbr_m=10.8), degrees(gm_m=8.4, dcb_m=10.8, dcbr_m=60)),
    "P3.F6": (degrees(gm_m=8.0, dcbr_m=9.2), degrees(gm_m=8.0, dcbr_m=20)),
    "P3.F7": (work(0.048), work(3.0, 3.0)),
    "P3.F8": (degrees(gm_m=8.0, dcbr_m=11.6), degrees(gm_m=8.0, dcbr_m=40)),
    "P3.F10": (degrees(gm_m=6.0, dcbr_m=7.2, ring_per_topic=216), degrees(gm_m=6.0, dcbr_m=7.2, ring_per_topic=14)),
    "P3.I.12": (lambda rows: {"seconds": 1.0, "cpu_seconds": 1.0}, lambda rows: {"cpu_seconds": 99.0}),
    "P3.S6.4": (degrees(gm_m=8, minmax_oda=8.5, low_oda=9, gm=90, ring_per_topic=90), degrees(gm_m=9, minmax_oda=7)),
    "P3.S4C.2": (lambda rows: {"c_representatives": 10.0, "c_lightweight": 90.0},
                 lambda rows: {"c_representatives": 80.0, "c_lightweight": 90.0}),
    "P3.S5.2": (lambda rows: {"c_bulk": 5.0, "c_eta": 3.0}, lambda rows: {"c_bulk": 5.0, "c_eta": 8.0}),
    "P3.E12": (lambda rows: {"c_pn_ratio": 0.5, "c_pn_ratio_formula": 0.49},
               lambda rows: {"c_pn_ratio": 1.0, "c_pn_ratio_formula": 0.5}),
    "P3.F2": (lambda rows: {"c_inner_max_degree": np.nan, **degrees(gm_m=8, naive_dc=12)(rows)},
              lambda rows: {"c_inner_max_degree": np.nan, **degrees(gm_m=8, naive_dc=8)(rows)}),
    "P3.S5.4": (lambda rows: {"max_degree": 8 + rows["o_eta"]}, lambda rows: {"max_degree": 99 - rows["o_eta"]}),
    "P3.L7": (lambda rows: {}, lambda rows: {"c_table_work": 9.0 * rows["p_nodes"].astype(float) ** 3 * 100}),
    "P3.L10": (lambda rows: {}, lambda rows: {"c_inner_table_work": 1e3 * rows["p_nodes"].astype(float) ** 6}),
    "P3.L13": (lambda rows: {}, lambda rows: {"c_table_work": 1e6 * rows["p_nodes"].astype(float) ** 6}),
    "P3.L16": (lambda rows: {}, lambda rows: {"c_table_work": 1e6 * rows["p_nodes"].astype(float) ** 6}),
    "P3.L1": (lambda rows: {}, lambda rows: {"value": by_method(rows, {"minmax-oda": 99.0})}),
    "P3.L2": (lambda rows: {}, lambda rows: {"value": by_method(rows, {"gm-m": 99.0})}),
}  # fmt: skip


def judged_with(id_: str, values: Values) -> Judgement:
    """The judgement of a claim whose runs have these values."""
    rows = runs_of(CLAIMS[id_].grids[0])
    return judged_on_rows(id_, rows.assign(**values(rows)))


@tiered(SLOW, ROWS)
def test_rows_as_published_are_not_contradicted_and_others_are(id_: str) -> None:
    right, wrong = (judged_with(id_, values) for values in ROWS[id_])
    assert "contradicted" not in (right.details[0] if right.details else right.verdict)
    assert wrong.verdict is CONTRADICTED


def curve_over(column: str, values: Callable[[float], float]) -> Values:
    return lambda rows: {"max_degree": rows[column].fillna(0).astype(float).map(values)}


OTHER_WAY: Mapping[str, Values] = {
    "P3.F4": lambda rows: {"max_degree": by_method(rows, {"gm-m": 5.0, "dcbr-m": 50.0})},
    "P3.F5": curve_over("o_coverage", lambda c: 20 + 5 * c),
    "P3.F9": lambda rows: {"max_degree": rows["p_most"].astype(float) * by_method(rows, {"dcbr-m": 2})},
    "P3.S2.2": lambda rows: {"max_degree": 9.0, "average_degree": by_method(rows, {"naive-dc": 9})},
    "P3.S6.1": lambda rows: {"max_degree": rows.groupby("instance").ngroup() * (rows["law"] == "uniform")},
}


@tiered(SLOW, OTHER_WAY)
def test_rows_that_go_the_other_way_contradict(id_: str) -> None:
    assert judged_with(id_, OTHER_WAY[id_]).verdict is CONTRADICTED


@pytest.mark.slow
def test_the_printed_lines_of_algorithm_12_are_run() -> None:
    lines = judge(CLAIMS["P3.L14"]).judgement.sensitivity
    assert [(line.varied[:7], line.verdict) for line in lines] == [("line 6 ", CONTRADICTED), ("line 12", CONFIRMED)]


def test_the_largest_share_of_a_time_bound_is_that_of_one_run_and_not_a_mean_over_p() -> None:
    rows = runs_of("p3-work")
    found = {one.split(":")[0]: one for one in judged_on_rows("P3.L10", rows).details}
    own = p3.of_lemma_10(rows[rows["method"] == "dcb-m"])
    assert own["o_partitions"].nunique() > 1
    assert f" {own['of_bound'].max():.4g} [" in found["counted work ÷ |L|⁴|T| ÷ p³"]


def test_the_least_ratio_of_variances_is_the_number() -> None:
    rows = runs_of("p3-tables")
    draw = np.random.default_rng(0)
    spread = {"uniform-varying": 1.0, "zipf-varying": 9.0, "exponential-fitted": 4.0}
    degree = 50 + draw.normal(size=len(rows)) * rows["workload"].map(spread).fillna(1.0)
    found = judged_on_rows("P3.S6.1", rows.assign(max_degree=degree))
    ratios = [float(line.split(": ")[1].split(" ")[0]) for line in found.details]
    assert known(found.number).mean == pytest.approx(min(ratios), rel=1e-3)


def test_a_representative_set_is_compared_with_the_smallest_of_its_part() -> None:
    found = judge(CLAIMS["P3.S4C.3"]).judgement
    worst = 0.0
    for seed, instance in enumerate(p3_lemmas.small(True, 9, nodes=60, topics=30, subscriptions=6)):
        for parts, coverage, ties in ((2, 1, "lowest"), (2, 3, "highest"), (3, 2, "random")):
            shuffled = random_order(np.arange(60, dtype=np.int32), seed)
            partition = partition_of(60, shuffled, parts)
            chosen = representatives(instance, partition, coverage, tie_order(ties, seed))
            for part in partition.parts():
                smallest = len(smallest_cover(*p3_lemmas._cover_problem(instance, part, coverage)))
                worst = max(worst, np.isin(part, chosen).sum() / smallest)
    assert known(found.number).mean == worst


def test_algorithm_5_as_printed_builds_another_overlay_and_corrected_the_same() -> None:
    instance = next(p3_lemmas.small(True, 6, nodes=20, topics=15, subscriptions=4))
    greedy = Bench(True).run("gm-m", instance, "minmax-tco").answer
    assert p3_lemmas.as_printed(instance, up_to_maximum=False) == greedy
    assert p3_lemmas.as_printed(instance) != greedy
