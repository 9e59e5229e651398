"""The optimum of soft links, against brute force over links and routes."""

from __future__ import annotations

from itertools import combinations, product

import networkx as nx
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.heuristics.brokers.soft_links import BrokerMethod, disseminate
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS, methods_of
from overlaybench.models.brokers.soft_link_model import LEAST_MESSAGES, SOFT_CP_SAT, SOFT_ILP, least_messages
from tests.broker_strategies import Link, broker_networks, graph_of
from tests.outcomes import known, value_of
from tests.properties import property_test

BROKER_HEURISTICS = methods_of("overlaybench.heuristics.brokers")
BROKER_MODELS = methods_of("overlaybench.models.brokers")

PROBLEM = PROBLEMS["soft-links"]
EXACT = [method for method in BROKER_MODELS if method.exact]


def fewest_over(network: ob.BrokerNetwork, links: set[Link]) -> int:
    """Messages over given links: for each publication the smallest set of brokers that its source reaches alone."""
    graph = graph_of(network.tree).to_directed()
    graph.add_edges_from(links)
    offsets, brokers = network.destinations
    total = 0
    for p in range(len(network.publications)):
        source, ends = int(network.publications.sources[p]), set(brokers[offsets[p] : offsets[p + 1]].tolist())
        others = sorted(set(range(network.num_brokers)) - ends - {source})
        total += next(
            len(ends) + size
            for size in range(len(others) + 1)
            for forwarders in combinations(others, size)
            if not ends or ends <= reachable(graph, source, ends | {source, *forwarders})
        )
    return total


def reachable(graph: nx.DiGraph[int], source: int, within: set[int]) -> set[int]:
    return nx.descendants(graph.subgraph(within), source)


def fewest(network: ob.BrokerNetwork) -> int:
    """Over every choice of soft links that fanout and radius allow."""
    spare = network.spare_links().tolist()
    allowed: dict[int, list[Link]] = {u: [] for u in range(network.num_brokers)}
    for u, v in network.allowed_links().tolist():
        allowed[u].append((u, v))
    choices = [list(combinations(own, min(len(own), spare[u]))) for u, own in allowed.items()]
    return min(fewest_over(network, {link for own in chosen for link in own}) for chosen in product(*choices))


@property_test(25, network=broker_networks(max_brokers=5, max_publications=4), quick=5)
@pytest.mark.parametrize("method", EXACT, ids=lambda method: method.name)
def test_exact_methods_find_the_optimum(method: BrokerMethod, network: ob.BrokerNetwork) -> None:
    result = method.run(network, PROBLEM)
    assert result.status is ob.Status.OPTIMAL, result.reason
    assert result.value == fewest(network)


@property_test(25, network=broker_networks(max_brokers=8), strategy=st.sampled_from(["s0", "s1", "s2"]), quick=5)
def test_least_messages_are_the_fewest_over_the_links_given(network: ob.BrokerNetwork, strategy: str) -> None:
    answer = disseminate(network, strategy)
    found = least_messages(network, answer)
    fewest = known(found.answer)
    assert PROBLEM.violations(network, fewest) == []
    links = {(u, v) for u, v in answer.soft_links.tolist()}
    assert PROBLEM.value(network, fewest) == found.counters["least"] == fewest_over(network, links)
    assert found.counters["open"] == 0


SLOW = [pytest.param(12, seed, marks=pytest.mark.slow) for seed in (1, 2)]


@pytest.mark.parametrize(("brokers", "seed"), [(9, 1), *SLOW])
def test_the_two_models_agree_and_no_strategy_is_better(brokers: int, seed: int) -> None:
    network = WORKLOADS["brokers-sparse"].generate(
        seed=seed, tree="random", brokers=brokers, publications=25, subscriptions=4 * brokers, fanout=4, spread=20
    )
    ilp, cp_sat = SOFT_ILP.run(network, PROBLEM), SOFT_CP_SAT.run(network, PROBLEM)
    assert ilp.status is cp_sat.status is ob.Status.OPTIMAL
    assert ilp.value == cp_sat.value
    for method in (*BROKER_HEURISTICS, LEAST_MESSAGES):
        assert value_of(method.run(network, PROBLEM)) >= value_of(ilp)


def test_a_limit_leaves_the_first_strategy_and_the_deliveries_as_bound() -> None:
    network = WORKLOADS["brokers-sparse"].generate(seed=1, brokers=20, publications=100, fanout=5)
    result = SOFT_ILP.run(network, PROBLEM, time_limit=0)
    assert result.status is ob.Status.TIME_LIMIT
    assert result.value == value_of(next(each for each in BROKER_HEURISTICS if each.name == "s0").run(network, PROBLEM))
    assert result.lower_bound == network.num_deliveries
