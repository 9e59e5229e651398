"""P4's claims on small versions, and with faulty algorithms, under which each verdict changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.claims import p4, p4_costs, p4_figures, p4_mixing, p4_model
from overlaybench.compare.claims.claim import Claim, Verdict
from overlaybench.compare.claims.register import judge
from overlaybench.compare.claims.worst_metric import spanning_price, steiner_price, worst_metric
from overlaybench.compare.papers.bench import Experiment, grid, rows_here, runs
from overlaybench.compare.papers.drawing import draw
from overlaybench.compare.papers.figures import FIGURES, TABLES, rows_for
from overlaybench.compare.papers.figures_p4 import UPPER_BOUND
from overlaybench.compare.papers.grids import GRIDS
from overlaybench.compare.papers.grids_p4 import CONTENT_METHODS, GROWN, METRICS, ROUTINGS
from overlaybench.compare.studies.recipe import freeze
from overlaybench.heuristics.content.migration_protocol import simulate_migration
from overlaybench.instances.content.instance import ContentInstance
from overlaybench.instances.content.problems import ContentOverlay, RoutingTree
from overlaybench.instances.contract.catalogue import WORKLOADS
from overlaybench.instances.contract.method import Method, Proposal
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.steiner.instance import SteinerInstance
from tests.compare.claims.broken import verdicts

Methods = Mapping[str, Method[Any, Any]]
MODULES = (p4, p4_model, p4_mixing, p4_figures, p4_costs)
OWN = [one for module in MODULES for tuple_ in vars(module).values() if isinstance(tuple_, tuple) for one in tuple_]
CLAIMS: Mapping[str, Claim] = {claim.id: claim for claim in OWN if isinstance(claim, Claim)}


def with_answers(name: str, change: Callable[[Any, Any], Any], found: str = "") -> Methods:
    """The catalogue with a method whose answers, or those of the method `found`, are changed; it proves nothing."""
    method, other = METHODS[name], METHODS[found or name]

    def solve(instance: Any, problem: Any, **given: Any) -> Proposal[Any]:
        if found:
            given = {"seed": given["seed"], "time_limit": None, **other.complete({}, problem.name)}
        proposal = other.solve(instance, problem, **given)
        return replace(proposal, answer=change(instance, proposal.answer), lower_bound=None, status=None)

    return {**METHODS, name: replace(method, solve=solve)}


def unchanged(instance: Any, answer: Any) -> Any:
    return answer


def dearest(instance: Any, answer: Any) -> Any:
    return ContentOverlay(p4_costs.dearest_brokers(instance))


def without_a_link(instance: Any, answer: Any) -> Any:
    return ContentOverlay(answer.brokers, (RoutingTree.of(answer.trees[0].links[1:]),))


def everything(instance: Any, answer: Any) -> Any:
    """A spanning tree of all nodes by breadth-first search: a needlessly expensive Steiner tree."""
    tree = nx.bfs_tree(instance.to_networkx(), int(instance.terminals[0]))
    return Overlay.from_edges(instance.num_nodes, [tuple(sorted(edge)) for edge in tree.edges])


def small_grid(figure: str, methods: tuple[Any, ...] = (*CONTENT_METHODS, GROWN), **shapes: Any) -> Experiment:
    shape = {"intervals": 8, "slack": 1e3, **shapes}
    users = (60, 120) if "users" not in shape else (shape.pop("users"),)
    recipes = tuple(
        recipe
        for metric in METRICS
        for count in users
        for recipe in grid(figure, "content", 4, users=count, brokers=count // 20, metric=metric, **shape)
    )
    return Experiment(recipes, (runs("content-mst", *methods),))


def core_prices(quick: bool) -> Experiment:
    networks = small_grid("P4.F10", users=120).recipes
    recipes = tuple(
        replace(network, parameters=freeze({**dict(network.parameters), "access_to_core": ratio}))
        for ratio in (0.25, 1.0, 32.0)
        for network in networks
    )
    return Experiment(recipes, (runs("content-mst", *CONTENT_METHODS, GROWN),))


def sizes(quick: bool) -> Experiment:
    return small_grid("P4.F9", (*CONTENT_METHODS, ("greedy-packing", {"order": "heaviest"}), GROWN))


def settings(quick: bool) -> Experiment:
    methods = (*CONTENT_METHODS, GROWN)
    recipes = small_grid("P4.S6.A", users=60).recipes
    return Experiment(recipes, tuple(runs(routing, *methods) for routing in ROUTINGS))


def growth(quick: bool) -> Experiment:
    fixed = (
        recipe
        for metric in METRICS
        for users in (100, 10_000)
        for recipe in grid("P4.S6.1", "content", 6, users=users, brokers=10, intervals=4, metric=metric)
    )
    recipes = (*small_grid("P4.F9").recipes, *fixed)
    return Experiment(recipes, (runs("content-mst", "random-assignment"),))


SMALL: Mapping[str, Callable[[bool], Experiment]] = {
    "P4.F9": sizes,
    "P4.F10": core_prices,
    "P4.S6.A": settings,
    "P4.S6.1": growth,
    "P4.TI": lambda quick: small_grid("P4.TI", users=60),
}


@dataclass(frozen=True)
class Fault:
    """What makes a claim's verdict change: faulty methods, or a faulty function in place of one of the judge's module.

    Attributes
    ----------
    sound, broken : mapping
        The verdicts by subject without and with the fault.
    """

    sound: Mapping[str, Verdict]
    broken: Mapping[str, Verdict]
    methods: Methods = field(default_factory=lambda: METHODS)
    module: Any = None
    replaced: Mapping[str, Any] = field(default_factory=dict)


HOLDS, ORDER, REFUTED, OPEN = Verdict.HOLDS, Verdict.ORDER, Verdict.REFUTED, Verdict.OPEN


def no_relays(core: Any, members: int) -> float:
    return spanning_price(core, np.arange(members, dtype=np.int32))


def all_brokers(trees: str, instance: ContentInstance) -> Any:
    return np.ones(instance.access.shape)


def sleepy(method: str, seconds: float) -> Methods:
    """A method that uses the processor for so many seconds more."""

    def solve(instance: Any, problem: Any, **given: Any) -> Proposal[Any]:
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass
        return METHODS[method].solve(instance, problem, **given)

    return {**METHODS, method: replace(METHODS[method], solve=solve)}


BROKEN: Mapping[str, Fault] = {
    "P4.T1": Fault(
        {
            "a broker at every node": HOLDS,
            "taken literally: brokers at Steiner nodes only": REFUTED,
            "brokers at Steiner nodes, the Steiner tree/star problem": HOLDS,
        },
        {"a broker at every node": OPEN, "taken literally: brokers at Steiner nodes only": OPEN},
        with_answers("branch-and-cut", unchanged),
    ),
    "P4.T1.2": Fault(
        {"a constant ratio is possible": REFUTED, "a constant ratio is possible without capacities": REFUTED},
        {"a constant ratio is possible": OPEN, "a constant ratio is possible without capacities": OPEN},
        {
            **with_answers("cp-sat", unchanged),
            "branch-and-cut": with_answers("branch-and-cut", unchanged)["branch-and-cut"],
        },
    ),
    "P4.MST": Fault(
        {"random metrics, plane": REFUTED, "no metric on 4 brokers is worse than the star": HOLDS},
        {"random metrics, plane": HOLDS},
        module=p4,
        replaced={"steiner_price": no_relays},
    ),
    "P4.2A": Fault(
        {"minimum spanning tree of the metric closure": HOLDS, "Algorithm 3": REFUTED},
        {"minimum spanning tree of the metric closure": REFUTED},
        with_answers("mehlhorn", everything),
    ),
    "P4.S2.1": Fault(
        {"users and brokers": HOLDS},
        {"users and brokers": REFUTED},
        with_answers("greedy-packing", without_a_link),
    ),
    "P4.S2.2": Fault(
        {"traffic between brokers": HOLDS},
        {"traffic between brokers": REFUTED},
        module=p4_model,
        replaced={"cost_of_single_flows": lambda instance, overlay: 1.0},
    ),
    "P4.S3.1": Fault(
        {
            "core problem without relays": HOLDS,
            "greedy packing without capacities": HOLDS,
            "a polynomial method within capacities": REFUTED,
        },
        {"greedy packing without capacities": REFUTED},
        with_answers("greedy-packing", dearest),
    ),
    "P4.S3.2": Fault(
        {"groups of equal subscriptions": REFUTED, "groups of equal subscribers": HOLDS},
        {"groups of equal subscribers": REFUTED},
        module=p4_model,
        replaced={"exact_cells": lambda low, high: np.linspace(0.0, 1.0, 4)},
    ),
    "P4.S3.3": Fault(
        {"without capacities": HOLDS, "within capacities": REFUTED},
        {"without capacities": REFUTED},
        with_answers("greedy-packing", unchanged, "clustering"),
    ),
    "P4.S3.4": Fault(
        {"more than random-assignment": HOLDS},
        {"more than random-assignment": REFUTED},
        with_answers("clustering", unchanged, "random-assignment"),
    ),
    "P4.S4.1": Fault(
        {"no message is lost, 1-dimensional": HOLDS, "false positives make results worse": HOLDS},
        {"no message is lost, 1-dimensional": REFUTED},
        module=p4_mixing,
        replaced={"intersected_cells": lambda low, high, count: np.zeros((len(low), count), np.bool_)},
    ),
    "P4.S4.2": Fault(
        {"the costs of channels add up": HOLDS, "the access cost of §IV.A": HOLDS},
        {"the costs of channels add up": REFUTED, "the access cost of §IV.A": REFUTED},
        module=p4_mixing,
        replaced={"cost_of": lambda instance, brokers: 1.0, "access_by_formula": lambda instance, brokers: 1.0},
    ),
    "P4.S4.3": Fault(
        {
            "assignments conflict, steiner-mixing": HOLDS,
            "at most T brokers, steiner-mixing": HOLDS,
            "at most T brokers, steiner-mixing trees=grown": REFUTED,
        },
        {"at most T brokers, steiner-mixing": REFUTED},
        module=p4_mixing,
        replaced={"trees_traffic": all_brokers},
    ),
    "P4.S4.4": Fault(
        {"pairs of users": REFUTED, "a tree for each message": HOLDS},
        {"pairs of users": HOLDS, "a tree for each message": REFUTED},
        module=p4_mixing,
        replaced={
            "ring_of_pairs": lambda count: WORKLOADS["relay-star"].generate(seed=0, rim=2),
            "cheapest_links": lambda core, members: [(0, 1), (1, 2), (0, 2)],
        },
    ),
    "P4.S4.5": Fault(
        {"the least cost stays the same": REFUTED, "the best assignment stays the same": REFUTED},
        {"the least cost stays the same": OPEN, "the best assignment stays the same": OPEN},
        with_answers("branch-and-cut", unchanged),
    ),
    "P4.S4.6": Fault(
        {"enumeration finds the best broker": HOLDS, "subscriptions and prices suffice": REFUTED},
        {"enumeration finds the best broker": REFUTED},
        module=p4_mixing,
        replaced={"_moved_cost": lambda instance, brokers, user, broker: float(broker)},
    ),
    "P4.S4.7": Fault(
        {"moving each of its users matches steiner-mixing trees=grown": HOLDS},
        {"moving each of its users matches steiner-mixing trees=grown": REFUTED},
        with_answers("migration", dearest),
    ),
    "P4.S5.1": Fault(
        {"with forwarding no message is lost": HOLDS, "forwarding is needed": HOLDS},
        {"with forwarding no message is lost": REFUTED},
        module=p4_mixing,
        replaced={
            "simulate_migration": lambda *given, **more: simulate_migration(*given, **{**more, "forwarding": 0.0}),
        },
    ),
    "P4.S5.2": Fault(
        {"no higher cost if 50% decline": HOLDS},
        {"no higher cost if 50% decline": REFUTED},
        with_answers("migration", dearest),
    ),
    "P4.F9": Fault(
        {"steiner-mixing > 1, prices cheapest-ways": HOLDS},
        {"steiner-mixing > 1": REFUTED},
        with_answers("steiner-mixing", dearest),
    ),
    "P4.F10": Fault(
        {"greedy-packing converges to steiner-mixing": OPEN, f"greedy-packing converges to {p4_figures.GROWN}": HOLDS},
        {f"greedy-packing converges to {p4_figures.GROWN}": REFUTED},
        with_answers("steiner-mixing", dearest),
    ),
    "P4.S6.A": Fault(
        {"clustering > greedy-packing": REFUTED},
        {"clustering > greedy-packing": OPEN},
        with_answers("greedy-packing", unchanged, "random-assignment"),
    ),
    "P4.S6.1": Fault(
        {"linear in the number of users, |B| = 10": REFUTED, "linear in the total traffic of users, |B| = 10": HOLDS},
        {"linear in the total traffic of users, |B| = 10": REFUTED},
        module=p4_costs,
        replaced={"traffic_of": lambda recipe: float(sum(map(ord, recipe)))},
    ),
    "P4.S6.2": Fault(
        {"no assignment costs more": REFUTED},
        {"no assignment costs more": HOLDS},
        module=p4_costs,
        replaced={"dearest_brokers": lambda instance: instance.access.argmin(axis=1).astype(np.int32)},
    ),
    "P4.TI": Fault(
        {"clustering < steiner-mixing trees=grown": ORDER},
        {"clustering < steiner-mixing trees=grown": REFUTED},
        sleepy("clustering", 0.05),
    ),
}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, SteinerInstance]]:
    """At most five networks a law of prices, and three graphs under a name of SteinLib for where its files are not."""
    graphs = [
        (f"SteinLib {seed}", WORKLOADS["steiner-sparse"].generate(seed=seed, nodes=9, edges=14, terminals=4))
        for seed in range(3)
    ]
    monkeypatch.setattr(p4, "steiner_instances", lambda quick: iter(graphs))
    monkeypatch.setattr(p4, "_small_graphs", lambda quick: iter(graphs))
    monkeypatch.setattr(p4, "worst_metric", lambda *shape, steps, seed: worst_metric(*shape, steps=300, seed=seed))
    networks = p4_model.networks

    def fewer(draws: int, **shape: Any) -> Iterator[tuple[str, ContentInstance]]:
        return networks(min(draws, 5), **{**shape, "users": min(shape["users"], 200)})

    for module in (p4_model, p4_mixing):
        monkeypatch.setattr(module, "networks", fewer)
    return graphs


@pytest.mark.slow
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("id_", BROKEN)
def test_the_verdict_changes_with_a_fault(id_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    claim, fault = replace(CLAIMS[id_], experiment=SMALL.get(id_, CLAIMS[id_].experiment)), BROKEN[id_]
    sound = verdicts(judge(claim, True))
    assert {subject: sound[subject] for subject in fault.sound} == fault.sound
    for name, function in fault.replaced.items():
        monkeypatch.setattr(fault.module, name, function)
    broken = verdicts(judge(claim, True, fault.methods))
    assert {subject: broken[subject] for subject in fault.broken} == fault.broken


def test_every_claim_has_a_fault() -> None:
    assert set(BROKEN) == set(CLAIMS)


def test_without_the_files_of_steinlib_the_factor_is_open(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(p4, "STEINLIB", tmp_path)
    assert verdicts(judge(CLAIMS["P4.2A"], True))["minimum spanning tree of the metric closure"] is Verdict.OPEN


def test_a_claim_whose_runs_failed_is_open_with_the_reason() -> None:
    def first_broker_for_all(instance: Any, answer: Any) -> Any:
        return ContentOverlay(np.zeros(instance.num_users, np.int32))

    claim = replace(CLAIMS["P4.F9"], experiment=lambda quick: small_grid("P4.F9", users=60, slack=2.0))
    (finding,) = judge(claim, True, with_answers("steiner-mixing", first_broker_for_all)).findings
    assert finding.verdict is Verdict.OPEN
    assert " runs failed, the first of steiner-mixing: " in finding.evidence


def test_no_heuristic_saves_more_than_the_proven_upper_bound() -> None:
    rows = rows_for("P4.F9", rows_here(small_grid("P4.F9", users=60, slack=2.0), METHODS))
    most = rows[rows["method"] == UPPER_BOUND].set_index("instance")["crr"]
    mine = rows[rows["method"] != UPPER_BOUND]
    assert (mine["crr"].to_numpy() <= most[mine["instance"]].to_numpy() * (1 + 1e-12)).all()
    assert draw("P4.F9", rows).svg_file == draw("P4.F9", rows).svg_file


def test_table_one_holds_shares_of_its_slowest() -> None:
    ours = TABLES["P4.TI"].means(rows_here(small_grid("P4.TI", users=60), METHODS))
    assert set(ours) == set(TABLES["P4.TI"].published) == set(CONTENT_METHODS)
    assert ours["steiner-mixing"] == TABLES["P4.TI"].published["steiner-mixing"] == 1


@pytest.mark.parametrize("seed", range(4))
def test_the_cheapest_tree_is_that_of_an_independent_search(seed: int) -> None:
    """Over all edge sets of a small graph."""
    _, core, _ = worst_metric(5, 3, steps=10, seed=seed)
    members = 2 + seed % 2
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


def test_every_figure_and_table_of_the_papers_has_a_grid_and_axes() -> None:
    assert set(GRIDS) == set(FIGURES) | set(TABLES)
