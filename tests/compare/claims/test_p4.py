"""P4's claims on small versions, and with faulty algorithms, under which each verdict changes."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import overlaybench as ob
from overlaybench.compare.catalogue import METHODS, problem_named
from overlaybench.compare.claims import p4, p4_mixing
from overlaybench.compare.claims.bench import Bench, Experiment, grid, rows_here, runs
from overlaybench.compare.claims.claim import Verdict
from overlaybench.compare.claims.p4 import CONTENT_METHODS, METRICS, spanning_price, steiner_price, worst_metric
from overlaybench.compare.claims.register import CLAIMS
from overlaybench.heuristics.content.migration import MigrationResult, simulate_migration
from overlaybench.instances.content.problems import ContentOverlay, RoutingTree
from overlaybench.models.content.exact import access_bound
from tests.compare.claims.faults import Fault, judged_on_rows, tiered, with_answers
from tests.content_brute_force import assignments
from tests.content_strategies import content_instances
from tests.outcomes import answer_of

pytestmark = pytest.mark.interpreted

CONFIRMED, ORDER, DEPENDS = Verdict.CONFIRMED, Verdict.ORDER, Verdict.DEPENDS
CONTRADICTED, UNDECIDED = Verdict.CONTRADICTED, Verdict.NOT_DECIDED


def dearest(instance: Any, answer: Any) -> Any:
    return ContentOverlay(p4_mixing.dearest_brokers(instance))


def all_on_one(instance: Any, answer: Any) -> Any:
    return ContentOverlay(np.zeros(instance.num_users, np.int32))


def everything(instance: Any, answer: Any) -> Any:
    """A spanning tree of all nodes by breadth-first search: a needlessly expensive Steiner tree."""
    tree = nx.bfs_tree(instance.to_networkx(), int(instance.terminals[0]))
    return ob.Overlay.from_edges(instance.num_nodes, [tuple(sorted(edge)) for edge in tree.edges])


def small_grid() -> Experiment:
    """Every law of prices at two sizes, with a hundredth as many brokers, and 10 brokers for the exponents."""
    recipes = tuple(
        recipe
        for metric in METRICS
        for users in (200, 400)
        for recipe in grid(
            "a", "content", 4, paired=True, users=users, brokers=users // 100, metric=metric, intervals=8
        )
    )
    grown, heaviest = ("steiner-mixing", {"trees": "grown"}), ("greedy-packing", {"order": "heaviest"})
    fixed = tuple(
        recipe for users in (100, 900) for recipe in grid("b", "content", 4, users=users, brokers=10, intervals=4)
    )
    every = runs("content-mst", *CONTENT_METHODS, grown, heaviest, families=["a"])
    return Experiment((*recipes, *fixed), (every, runs("content-mst", "random-assignment", families=["b"])))


def core_prices() -> Experiment:
    recipes = tuple(
        recipe
        for ratio in (1.0, 4.0, 32.0)
        for recipe in grid("c", "content", 4, paired=True, users=200, brokers=4, intervals=8, access_to_core=ratio)
    )
    return Experiment(recipes, (runs("content-mst", *CONTENT_METHODS, ("steiner-mixing", {"trees": "grown"})),))


def shuffled_prices(instance: Any, answer: Any) -> Any:
    """Good where core prices are low, random elsewhere."""
    return answer if instance.core.mean() * 8 < instance.access.mean() else dearest(instance, answer)


UNPROVEN = with_answers("branch-and-cut")
FAULTS: Mapping[str, Fault] = {
    "P4.T1": Fault(UNPROVEN, broken=UNDECIDED),
    "P4.T1.2": Fault(with_answers("cp-sat"), CONTRADICTED, UNDECIDED),
    "P4.MST": Fault(
        sound=CONTRADICTED,
        broken=CONFIRMED,
        replaced={"p4.relay_star": lambda rim: ob.WORKLOADS["relay-star"].generate(rim=2)},
    ),
    "P4.2A": Fault(with_answers("mehlhorn", everything)),
    "P4.S2.2": Fault(replaced={"p4.cost_of_single_flows": lambda instance, overlay: 1.0}),
    "P4.S3.1": Fault(with_answers("greedy-packing", dearest), DEPENDS),
    "P4.E.1": Fault(with_answers("clustering", found="greedy-packing"), ORDER),
    "P4.S3.4": Fault(with_answers("clustering", found="random-assignment"), broken=UNDECIDED),
    "P4.S4.8": Fault(with_answers("lp-rounding", all_on_one)),
    "P4.S4.1": Fault(
        replaced={"p4_mixing.intersected_cells": lambda low, high, count: np.zeros((len(low), count), np.bool_)}
    ),
    "P4.S4.2": Fault(replaced={"p4_mixing.access_by_formula": lambda instance, brokers: 1.0}),
    "P4.S4.3": Fault(replaced={"p4_mixing.trees_traffic": lambda instance, grown: np.ones(instance.access.shape)}),
    "P4.S4.4": Fault(replaced={"p4.cheapest_links": lambda core, members: [(0, 1), (1, 2), (0, 2)]}),
    "P4.S4.5": Fault(UNPROVEN, CONTRADICTED, UNDECIDED),
    "P4.S4.6": Fault(replaced={"p4_mixing.moved_cost": lambda instance, brokers, user, broker: float(broker)}),
    "P4.S4.7": Fault(with_answers("migration", dearest), DEPENDS),
    "P4.S4.10": Fault(
        sound=DEPENDS,
        replaced={
            "p4_mixing.migrate": lambda instance, brokers, *given, **more: MigrationResult(
                ContentOverlay(brokers), (), 1
            )
        },
    ),
    "P4.S1.1": Fault(replaced={"p4_mixing.exchanged": lambda one, *given, **more: one}, broken=UNDECIDED),
    "P4.S5.1": Fault(
        replaced={
            "p4_mixing.simulate_migration": lambda *given, **more: simulate_migration(
                *given, **{**more, "forwarding": 0}
            )
        }
    ),
    "P4.S5.3": Fault(with_answers("clustering", all_on_one)),
    "P4.S6.2": Fault(
        sound=CONTRADICTED,
        broken=CONFIRMED,
        replaced={"p4_mixing.dearest_brokers": lambda instance: instance.access.argmin(axis=1).astype(np.int32)},
    ),
    "P4.F9": Fault(with_answers("greedy-packing", found="random-assignment"), CONTRADICTED, UNDECIDED, grid=small_grid),
    "P4.F10": Fault(with_answers("clustering", found="steiner-mixing"), CONTRADICTED, CONFIRMED, grid=core_prices),
    "P4.F10.1": Fault(with_answers("steiner-mixing", shuffled_prices), grid=core_prices),
    "P4.F10.2": Fault(with_answers("greedy-packing", dearest)),
    "P4.TI": Fault(
        sound=ORDER,
        replaced={"p4.counted_work": lambda instance: dict.fromkeys(CONTENT_METHODS, 1.0)},
        grid=small_grid,
    ),
}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most six networks of 200 users, three small graphs, and a short search."""
    graphs = [
        (f"b{seed}", ob.WORKLOADS["steiner-sparse"].generate(seed=seed, nodes=9, edges=14, terminals=4))
        for seed in range(3)
    ]
    monkeypatch.setattr(p4, "steiner_graphs", lambda quick, small=False: iter(graphs))
    monkeypatch.setattr(p4, "worst_metric", lambda *shape, steps, seed: worst_metric(*shape, steps=50, seed=seed))
    networks = p4.networks

    def fewer(law: str, draws: int, **shape: Any) -> Iterator[ob.ContentInstance]:
        return networks(law, min(draws, 10), **{**shape, "users": min(shape["users"], 200)})

    for module in (p4, p4_mixing):
        monkeypatch.setattr(module, "networks", fewer)


SLOW = {
    *("P4.F9", "P4.F10", "P4.F10.1", "P4.TI", "P4.T1.2", "P4.S1.1", "P4.S3.1", "P4.S3.4", "P4.S4.1", "P4.S4.3"),
    *("P4.S4.5", "P4.S4.7", "P4.S4.8", "P4.S4.10", "P4.S5.3"),
}


@pytest.mark.usefixtures("few")
@tiered(SLOW, FAULTS)
def test_the_verdict_changes_with_a_fault(id_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[id_].check(id_, monkeypatch)


def test_a_cost_in_proportion_to_the_users_would_be_confirmed_and_a_square_is_not() -> None:
    for power, expected in ((1.0, CONFIRMED), (2.0, CONTRADICTED)):
        sizes = [(users, draw) for users in (1000, 10_000) for draw in range(3)]
        rows = pd.DataFrame({"p_users": users, "value": users**power * (1 + draw / 100)} for users, draw in sizes)
        named = {"method": "random-assignment", "problem": "content-mst", "p_metric": "plane", "status": "feasible"}
        rows = rows.assign(**named, p_brokers=rows["p_users"] // 100, instance=range(len(rows)))
        assert judged_on_rows("P4.S6.1", rows).verdict is expected


def test_without_the_files_of_steinlib_the_row_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(p4, "STEINLIB", tmp_path)
    assert "beside the checkout" in CLAIMS["P4.2A"].judge(Bench(True)).scale


def test_reductions_are_against_random_assignment_on_the_same_instance() -> None:
    experiment = small_grid()
    own = replace(experiment, recipes=tuple(one for one in experiment.recipes if one.family == "a")[:2])
    rows = p4.with_reductions(rows_here(own, METHODS))
    for _, each in rows.groupby("instance"):
        random = each.loc[each["method"] == "random-assignment", "value"].iloc[0]
        assert np.allclose(each["crr"] * each["value"], random)


@pytest.mark.parametrize("seed", range(4))
def test_the_cheapest_tree_is_that_of_an_independent_search(seed: int) -> None:
    """Over all edge sets of a small graph."""
    _, core = worst_metric(5, 3, steps=10, seed=seed)
    members, cheapest = 2 + seed % 2, np.inf
    pairs = list(combinations(range(5), 2))
    for edges in (some for size in range(1, 5) for some in combinations(pairs, size)):
        graph = nx.Graph(edges)
        if set(range(members)) <= set(graph) and nx.is_connected(graph):
            cheapest = min(cheapest, sum(core[edge] for edge in edges))
    assert steiner_price(core, members) == cheapest
    assert spanning_price(core, np.arange(members, dtype=np.int32)) >= cheapest


def test_local_search_finds_the_star_on_four_brokers() -> None:
    ratio, core = worst_metric(4, 3, steps=1500, seed=4)
    assert ratio == pytest.approx(4 / 3)
    assert spanning_price(core, np.arange(3, dtype=np.int32)) / steiner_price(core, 3) == ratio


def test_a_forest_or_a_cycle_is_no_overlay_of_one_tree() -> None:
    one = ob.WORKLOADS["content"].generate(seed=0, users=20, brokers=4, intervals=4)
    result = METHODS["greedy-packing"].run(one, problem_named("content-shared-tree"))
    assert p4.is_one_tree(one, result)
    answer = answer_of(result)
    short = ContentOverlay(answer.brokers, (RoutingTree.of(answer.trees[0].links[1:]),))
    assert not p4.is_one_tree(one, replace(result, answer=short))


def least_access(instance: ob.ContentInstance) -> float:
    """The least access cost within the capacities, over all assignments."""
    users = np.arange(instance.num_users)
    found = (float(instance.demands @ instance.access[users, list(brokers)]) for brokers in assignments(instance))
    return min(found, default=np.inf)


@given(content_instances(tight=True))
def test_no_assignment_within_the_capacities_costs_less(instance: ob.ContentInstance) -> None:
    assert p4.capacity_bound(instance, steps=20) <= least_access(instance)


@given(content_instances())
def test_without_capacities_it_is_the_access_bound(instance: ob.ContentInstance) -> None:
    assert p4.capacity_bound(instance, steps=5) == pytest.approx(access_bound(instance))


def test_scarce_capacity_raises_it() -> None:
    crowded = ob.WORKLOADS["content"].generate(seed=1, users=500, brokers=10, slack=1.1)
    assert p4.capacity_bound(crowded) > 1.02 * access_bound(crowded)
