"""P4's claims on small versions, and with faulty solvers and heuristics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.claims import p4
from overlaybench.compare.claims.claim import Verdict
from overlaybench.compare.claims.register import CLAIMS, judge
from overlaybench.compare.claims.worst_metric import spanning_price, steiner_price, worst_metric
from overlaybench.compare.papers.bench import Experiment, grid, rows_here, runs
from overlaybench.compare.papers.drawing import draw
from overlaybench.compare.papers.figures import FIGURES, TABLES, rows_for
from overlaybench.compare.papers.figures_p4 import UPPER_BOUND
from overlaybench.compare.papers.grids import GRIDS
from overlaybench.compare.papers.grids_p4 import CONTENT_METHODS, METRICS
from overlaybench.compare.studies.recipe import freeze
from overlaybench.instances.catalogue import WORKLOADS
from overlaybench.instances.content.overlay import ContentOverlay
from overlaybench.instances.method import Method, Proposal
from overlaybench.instances.overlay import Overlay
from overlaybench.instances.steiner.instance import SteinerInstance
from tests.compare.claims.broken import verdicts


@pytest.fixture
def few_graphs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, SteinerInstance]]:
    """Three graphs under a name of SteinLib, for where the files are not."""
    graphs = [
        (f"SteinLib {seed}", WORKLOADS["steiner-sparse"].generate(seed=seed, nodes=9, edges=14, terminals=4))
        for seed in range(3)
    ]
    monkeypatch.setattr(p4, "steiner_instances", lambda quick: iter(graphs))
    monkeypatch.setattr(p4, "_small_graphs", lambda quick: iter(graphs))
    return graphs


def with_answers(name: str, change: Callable[[Any, Any], Any]) -> Mapping[str, Method[Any, Any]]:
    """The catalogue with a method whose answers are changed, which therefore proves nothing."""
    method = METHODS[name]

    def solve(instance: Any, problem: Any, **given: Any) -> Proposal[Any]:
        found = method.solve(instance, problem, **given)
        return replace(found, answer=change(instance, found.answer), lower_bound=None, status=None)

    return {**METHODS, name: replace(method, solve=solve)}


def without_a_proof(instance: Any, answer: Any) -> Any:
    return answer


def first_broker_for_all(instance: Any, answer: Any) -> Any:
    return ContentOverlay(np.zeros(instance.num_users, np.int32))


def everything(instance: Any, answer: Any) -> Any:
    """A spanning tree of all nodes by breadth-first search: a needlessly expensive Steiner tree."""
    tree = nx.bfs_tree(instance.to_networkx(), int(instance.terminals[0]))
    return Overlay.from_edges(instance.num_nodes, [tuple(sorted(edge)) for edge in tree.edges])


@pytest.mark.usefixtures("few_graphs")
def test_steiner_trees_and_overlays_cost_the_same_with_brokers_everywhere_and_not_as_written() -> None:
    assert verdicts(judge(CLAIMS["P4.T1"], True)) == {
        "a broker at every node": Verdict.HOLDS,
        "taken literally: brokers at Steiner nodes only": Verdict.REFUTED,
    }
    unproven = judge(CLAIMS["P4.T1"], True, with_answers("branch-and-cut", without_a_proof))
    assert set(verdicts(unproven).values()) == {Verdict.OPEN}


def test_relays_make_trees_cheaper_and_no_metric_is_worse_than_the_star() -> None:
    found = verdicts(judge(CLAIMS["P4.MST"], True))
    assert {found[subject] for subject in found if "star" in subject and "no metric" in subject} == {Verdict.HOLDS}
    assert {found[subject] for subject in found if "no metric" not in subject} == {Verdict.REFUTED}


def test_an_expensive_tree_refutes_the_factor_of_the_mst_approximation(
    few_graphs: list[tuple[str, SteinerInstance]],
) -> None:
    (subject,) = verdicts(judge(CLAIMS["P4.2A"], True))
    assert verdicts(judge(CLAIMS["P4.2A"], True))[subject] is Verdict.HOLDS
    dear = [
        ("SteinLib dear", SteinerInstance.from_edges(6, [(0, 1, 1), *((0, v, 50) for v in range(2, 6))], [0, 1])),
    ]
    few_graphs[:] = dear
    assert verdicts(judge(CLAIMS["P4.2A"], True))[subject] is Verdict.HOLDS
    assert verdicts(judge(CLAIMS["P4.2A"], True, with_answers("mehlhorn", everything)))[subject] is Verdict.REFUTED


def test_without_the_files_of_steinlib_the_factor_is_open(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(p4, "STEINLIB", tmp_path)
    assert set(verdicts(judge(CLAIMS["P4.2A"], True)).values()) == {Verdict.OPEN}


def content_grid(figure: str, **shapes: Any) -> Experiment:
    recipes = tuple(
        recipe
        for metric in METRICS
        for users in (60, 120)
        for recipe in grid(figure, "content", 2, users=users, brokers=users // 20, intervals=8, metric=metric, **shapes)
    )
    return Experiment(recipes, (runs("content-mst", *CONTENT_METHODS),))


def test_cost_reduction_ratios_are_judged_by_what_the_heuristics_build() -> None:
    claim = replace(CLAIMS["P4.F9"], experiment=lambda quick: content_grid("P4.F9"))
    assert verdicts(judge(claim, True))["clustering > greedy-packing"] is Verdict.REFUTED
    assert verdicts(judge(claim, True))["steiner-mixing > clustering"] is Verdict.HOLDS
    unlimited = replace(CLAIMS["P4.F9"], experiment=lambda quick: content_grid("P4.F9", slack=100.0))
    assert verdicts(judge(unlimited, True))["all > 1"] is Verdict.HOLDS
    lazy = with_answers("steiner-mixing", first_broker_for_all)
    broken = verdicts(judge(unlimited, True, lazy))
    assert broken["steiner-mixing > clustering"] is Verdict.REFUTED
    assert broken["all > 1"] is Verdict.REFUTED


def core_prices(**shape: Any) -> Experiment:
    networks = grid("P4.F10", "content", 2, users=120, brokers=6, intervals=8, **shape)
    recipes = tuple(
        replace(network, parameters=freeze({**dict(network.parameters), "access_to_core": ratio}))
        for ratio in (1.0, 8.0, 32.0)
        for network in networks
    )
    return Experiment(recipes, (runs("content-mst", *CONTENT_METHODS),))


def test_what_core_prices_change_is_judged_by_what_the_heuristics_build() -> None:
    claim = replace(CLAIMS["P4.F10"], experiment=lambda quick: core_prices(slack=100.0))
    found = verdicts(judge(claim, False))
    assert found == {"the three converge": Verdict.REFUTED, "mixing hardly changes": Verdict.REFUTED}
    lazy = with_answers("steiner-mixing", first_broker_for_all)
    assert verdicts(judge(claim, False, lazy))["mixing hardly changes"] is Verdict.HOLDS


def test_a_claim_whose_runs_failed_is_open_with_the_reason() -> None:
    claim = replace(CLAIMS["P4.F10"], experiment=lambda quick: core_prices())
    (finding,) = judge(claim, True, with_answers("steiner-mixing", first_broker_for_all)).findings
    assert finding.verdict is Verdict.OPEN
    assert finding.evidence.startswith("6 of 24 runs failed, the first of steiner-mixing: ")


def test_no_heuristic_saves_more_than_the_proven_upper_bound() -> None:
    rows = rows_for("P4.F9", rows_here(content_grid("P4.F9"), METHODS))
    most = rows[rows["method"] == UPPER_BOUND].set_index("instance")["crr"]
    mine = rows[rows["method"] != UPPER_BOUND]
    assert (mine["crr"].to_numpy() <= most[mine["instance"]].to_numpy() * (1 + 1e-12)).all()
    assert draw("P4.F9", rows).svg_file == draw("P4.F9", rows).svg_file


def test_table_one_holds_shares_of_its_slowest() -> None:
    ours = TABLES["P4.TI"].means(rows_here(content_grid("P4.TI"), METHODS))
    assert set(ours) == set(TABLES["P4.TI"].published) == set(CONTENT_METHODS)
    assert ours["steiner-mixing"] == TABLES["P4.TI"].published["steiner-mixing"] == 1


def test_every_figure_and_table_of_the_papers_has_a_grid_and_axes() -> None:
    assert set(GRIDS) == set(FIGURES) | set(TABLES)
    on_grids = {claim for claim in CLAIMS if claim.split(".")[1][0] in "FT" and claim[:2] in ("P1", "P2", "P3", "P4")}
    theorems = {"P2.T1", "P2.T2", "P4.T1"}
    assert on_grids - theorems <= set(GRIDS)


@pytest.mark.parametrize("seed", range(4))
def test_the_cheapest_tree_is_that_of_an_independent_search(seed: int) -> None:
    """Over all edge sets of a small graph."""
    rng = np.random.default_rng(seed)
    _, core, _ = worst_metric(5, 3, steps=10, seed=seed)
    members = 3 if rng.random() < 0.5 else 2
    pairs = list(combinations(range(5), 2))
    cheapest = np.inf
    for size in range(1, 5):
        for edges in combinations(pairs, size):
            graph = nx.Graph(edges)
            if set(range(members)) <= set(graph) and nx.is_connected(graph):
                cheapest = min(cheapest, sum(core[edge] for edge in edges))
    assert steiner_price(core, members) == cheapest
    assert spanning_price(core, np.arange(members, dtype=np.int32)) >= cheapest


def test_local_search_finds_the_star_on_four_brokers() -> None:
    ratio, core, _ = worst_metric(4, 3, steps=1500, seed=4)
    assert ratio == pytest.approx(4 / 3)
    assert spanning_price(core, np.arange(3, dtype=np.int32)) / steiner_price(core, 3) == ratio
