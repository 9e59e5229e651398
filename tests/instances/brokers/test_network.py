"""Broker networks: trees, matching, files, workloads, and the judge of disseminations."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from overlaybench.instances.brokers.files import BROKERS
from overlaybench.instances.brokers.network import BrokerNetwork, BrokerTree
from overlaybench.instances.brokers.predicates import Publications, Subscriptions, matching_shares
from overlaybench.instances.brokers.problems import Dissemination, SoftLinks
from overlaybench.instances.brokers.workloads import TREES
from overlaybench.instances.contract.catalogue import WORKLOADS
from overlaybench.instances.contract.errors import BadInput
from tests.broker_strategies import broker_networks, broker_trees, graph_of
from tests.properties import property_test

PATH = {
    "format": "brokers/1",
    "radius": 2,
    "fanout": 3,
    "brokers": {"a": {}, "b": {"uplink": 5}, "c": {}},
    "links": [["a", "b"], ["b", "c", 700]],
    "attributes": ["x", "y"],
    "subscriptions": [["c", {"x": [1, 3]}], ["b", {"x": [None, 2], "y": [0, 9]}]],
    "publications": [[5, "a", [2, 20]], [9, "a", [2, 9]]],
}


@property_test(60, tree=broker_trees(), quick=10)
def test_distances_hops_and_delays_are_those_of_the_only_paths(tree: BrokerTree) -> None:
    graph = graph_of(tree)
    for u in graph:
        for v, path in nx.single_source_shortest_path(graph, u).items():
            assert tree.distances[u, v] == len(path) - 1
            assert tree.next_hops[u, v] == (path[1] if u != v else u)
            assert tree.path_delays[u, v] == nx.path_weight(graph, path, "delay")


@property_test(60, network=broker_networks(), quick=10)
def test_destinations_are_all_other_brokers_with_a_subscription_around_the_point(network: BrokerNetwork) -> None:
    subscriptions, publications = network.subscriptions, network.publications
    offsets, brokers = network.destinations
    shares = matching_shares(subscriptions, publications)
    for p in range(len(publications)):
        point = publications.values[p]
        matched = [
            s
            for s in range(len(subscriptions))
            if (subscriptions.lows[s] <= point).all() and (point <= subscriptions.highs[s]).all()
        ]
        assert shares[p] == len(matched) / max(1, len(subscriptions))
        at = {int(subscriptions.brokers[s]) for s in matched} - {int(publications.sources[p])}
        assert brokers[offsets[p] : offsets[p + 1]].tolist() == sorted(at)


def test_a_file_gives_delays_uplinks_predicates_and_destinations(tmp_path: Path) -> None:
    (tmp_path / "network.json").write_text(json.dumps(PATH))
    network = BROKERS.read(tmp_path / "network.json", {}).instance
    assert network.tree.delays.tolist() == [1000, 700]
    assert network.tree.uplinks.tolist() == [0, 5, 0]
    assert network.subscriptions.predicates.tolist() == [2, 1]
    assert [part.tolist() for part in network.destinations] == [[0, 1, 3], [2, 1, 2]]


@pytest.mark.parametrize("tree", TREES)
def test_workloads_are_the_same_for_the_same_seed_and_trees_of_their_family(tree: str) -> None:
    workload = WORKLOADS["brokers-sparse"]
    given: dict[str, Any] = {"tree": tree, "brokers": 30, "fanout": 30, "subscriptions": 90, "publications": 50}
    given |= {"specific": 50, "hosts": 50}
    network = workload.generate(seed=7, **given)
    assert network == workload.generate(seed=7, **given)
    assert network != workload.generate(seed=8, **given)
    degrees = network.tree.degrees
    assert degrees.max() == {"balanced": 3, "random": 3, "path": 2, "star": 29}[tree]
    assert network.tree.distances.max() == {"path": 29, "star": 2}.get(tree, network.tree.distances.max())
    assert len(set(network.subscriptions.brokers.tolist())) == 15
    assert set(network.subscriptions.predicates.tolist()) == {1, 2, 3, 4}


NOWHERE = np.array([0]), np.array([9]), np.array([[0]])


def two_ways() -> tuple[BrokerNetwork, Dissemination]:
    """A path of five brokers; 0 publishes for 2, 3 and 4; 0 has a soft link to 3."""
    tree = BrokerTree.of(5, [(v, v + 1) for v in range(4)])
    subscriptions = Subscriptions(np.array([2, 3, 4]), np.zeros((3, 1), dtype=int), np.zeros((3, 1), dtype=int))
    publications = Publications(np.array([0]), np.array([0]), np.array([[0]]))
    network = BrokerNetwork(tree, subscriptions, publications, 3, 3)
    return network, Dissemination.of([(0, 3)], [(0, 0, 3), (0, 3, 4), (0, 3, 2)])


def test_the_judge_counts_messages_forwarders_and_hops() -> None:
    network, answer = two_ways()
    judge = SoftLinks()
    assert judge.violations(network, answer) == []
    assert judge.value(network, answer) == 3
    along = Dissemination.of([], [(0, 0, 1), (0, 1, 2), (0, 2, 3), (0, 3, 4)])
    assert judge.violations(network, along) == []
    assert judge.measures(network, along) == {
        "deliveries": 3,
        "pure_forwarders": 1,
        "yield": 0.75,
        "average_hops": 3,
        "max_hops": 4,
        "soft_links": 0,
    }


@pytest.mark.parametrize(
    ("links", "messages", "said"),
    [
        ([(0, 3)], [(0, 0, 3), (0, 3, 4)], "publication 0 never reaches 'b2'"),
        ([], [(0, 0, 3), (0, 3, 4), (0, 3, 2)], "from 'b0' to 'b3', which no link joins"),
        ([(3, 0)], [(0, 0, 3), (0, 3, 4), (0, 3, 2)], "from 'b0' to 'b3', which no link joins"),
        ([(0, 4)], [(0, 0, 4), (0, 4, 3), (0, 3, 2)], "joins brokers 4 primary hops apart, not 2 to 3"),
        ([(0, 1)], [(0, 0, 1), (0, 1, 2), (0, 2, 3), (0, 3, 4)], "joins brokers 1 primary hops apart"),
        ([(0, 3)], [(0, 0, 3), (0, 3, 4), (0, 3, 2), (0, 2, 1), (0, 0, 1)], "publication 0 reaches 'b1' twice"),
        ([(0, 3)], [(0, 0, 3), (0, 3, 4), (0, 3, 2), (0, 2, 1), (0, 1, 0)], "publication 0 reaches 'b0' twice"),
        ([], [(0, 2, 3), (0, 3, 2), (0, 3, 4)], "is sent by 'b2', which never receives it"),
        ([], [(0, 1, 2), (0, 2, 3), (0, 3, 4)], "is sent by 'b1', which never receives it"),
        ([(0, 7)], [], "there is no broker 7"),
        ([], [(1, 0, 1)], "there is no publication 1"),
    ],
)
def test_the_judge_names_faults(links: list[tuple[int, int]], messages: list[tuple[int, int, int]], said: str) -> None:
    network, _ = two_ways()
    assert any(said in each for each in SoftLinks().violations(network, Dissemination.of(links, messages)))


@pytest.mark.parametrize(
    ("build", "given", "said"),
    [
        (BrokerTree.of, (0, []), "at least one broker"),
        (BrokerTree.of, (3, [(0, 1), (1, 2), (0, 2)]), "3 links on 3 brokers close a cycle: keep 2"),
        (partial(BrokerTree.of, delays=[]), (2, [(0, 1)]), "0 delays and 2 uplinks: give one each"),
        (partial(BrokerTree.of, delays=[-1]), (2, [(0, 1)]), "a delay or an uplink capacity is negative"),
        (Subscriptions, ([0], [[0]], [[1, 2]]), "one broker and as many lower as upper bounds"),
        (Subscriptions, ([1, 0], [[0]] * 2, [[0]] * 2), "sort the subscriptions by broker"),
        (Subscriptions, ([0], [[3]], [[1]]), "subscription 0: predicate on attribute 0 from 3 to 1: swap"),
        (Publications, ([0], [0, 1], [[0]]), "one time, one source and one value for each attribute"),
        (Publications, ([2, 1], [0, 0], [[0]] * 2), "must be in ascending order: sort them"),
        (partial(replace, two_ways()[0], radius=0), (), "the radius Δ is 0: give at least 1"),
        (partial(replace, two_ways()[0], attributes="xy"), (), "1 attributes of subscriptions, 1 of publications, 2"),
        (partial(replace, two_ways()[0], publications=Publications(*NOWHERE)), (), "publication 0: no broker 9"),
        (Dissemination, ([(0, 1, 2)], []), "soft links need rows of 2"),
    ],
)
def test_what_is_no_network_is_refused(build: Any, given: tuple[Any, ...], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        build(*given)


def test_messages_in_another_order_are_a_fault() -> None:
    network, answer = two_ways()
    faults = SoftLinks().violations(network, Dissemination(answer.soft_links, answer.messages[::-1]))
    assert faults == ["messages must be sorted by publication and receiver"]


def test_the_judge_counts_soft_links_in_their_senders_fanout() -> None:
    network, answer = two_ways()
    tight = BrokerNetwork(network.tree, network.subscriptions, network.publications, 3, 2)
    assert SoftLinks().violations(tight, answer) == []
    more = Dissemination.of([(0, 3), (0, 2)], answer.messages)
    assert "'b0' has 1 primary and 2 soft links, the fanout is 2" in SoftLinks().violations(tight, more)[0]
