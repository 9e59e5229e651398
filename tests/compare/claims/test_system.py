"""Brokers as actors: they agree with the kernels and deliver exactly once, whatever happens."""

import gc
from collections.abc import Iterator
from dataclasses import replace
from operator import itemgetter
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import example
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.compare.claims.simulator import outcome as running
from overlaybench.compare.claims.simulator.broker import Broker
from overlaybench.compare.claims.simulator.messages import Ask, Entries, Grant, Publication, Release, Sends
from overlaybench.compare.claims.simulator.network import SimulatedNetwork
from overlaybench.compare.claims.simulator.outcome import BrokenInvariant, Outcome, counters, simulate_system
from overlaybench.compare.claims.simulator.routing import BrokerLimits, Neighbourhood, Routing
from overlaybench.compare.claims.simulator.tree_changes import REFUSED, Coordinator
from overlaybench.heuristics.brokers.kernels.forwarding import S0, S1, S2, SH
from overlaybench.heuristics.brokers.kernels.link_management import Management, managed_links
from overlaybench.heuristics.brokers.kernels.queueing import Timing, simulate
from overlaybench.heuristics.brokers.soft_links import S2_FAR, Scenario, disseminate_over
from overlaybench.instances.brokers.network import BrokerNetwork, BrokerTree
from overlaybench.instances.brokers.predicates import Publications, Subscriptions
from overlaybench.instances.brokers.problems import SoftLinks
from overlaybench.instances.contract.arrays import Ids
from tests.broker_strategies import Link, networks_with_links
from tests.properties import property_test

STILL = Scenario(interval=0)
NO_LINKS = np.empty((0, 2), dtype=np.int32)


def small(seed: int, **parameters: Any) -> BrokerNetwork:
    shape = {"brokers": 24, "fanout": 8, "tree": "random", "subscriptions": 200, "publications": 500, "rate": 1500}
    network: BrokerNetwork = ob.WORKLOADS["brokers-sparse"].generate(seed=seed, **{**shape, **parameters})
    return network


def run(
    network: BrokerNetwork, strategy: int = S2, scenario: Scenario = STILL, links: Ids = NO_LINKS, service: int = 0
) -> Outcome:
    return simulate_system(network, strategy, replace(scenario, service=service), Management(), 1, links)


def assert_agreement(network: BrokerNetwork, links: Ids, strategy: int) -> None:
    outcome = run(network, strategy, links=links)
    accelerated = disseminate_over(network, strategy, links)
    assert sorted(outcome.messages[:, :3].tolist(), key=itemgetter(0, 2, 1)) == accelerated.messages.tolist()
    measures = SoftLinks().measures(network, accelerated)
    wanted = outcome.messages[:, 4] > 0
    assert wanted.sum() == measures["deliveries"]
    assert outcome.hops[wanted].sum() == round(measures["average_hops"] * measures["deliveries"])


@pytest.mark.interpreted
@property_test(100, given=networks_with_links(), strategy=st.sampled_from([S1, S2]), quick=8)
def test_routes_are_those_of_the_accelerated_mode(given: tuple[BrokerNetwork, list[Link]], strategy: int) -> None:
    network, links = given
    assert_agreement(network, np.array(links, dtype=np.int32).reshape(-1, 2), strategy)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_every_route_agrees_on_networks_of_the_workload(seed: int) -> None:
    network = small(seed, radius=2 + seed % 4, brokers=10 + seed)
    for strategy in (S0, S1, S2):
        links = NO_LINKS if strategy == S0 else managed_links(network, strategy, Management(rounds=6, window=80))
        assert_agreement(network, links, strategy)


@pytest.mark.interpreted
@pytest.mark.parametrize("uplink", [4, pytest.param(12, marks=pytest.mark.slow)])
def test_the_hybrid_strategy_with_capped_uplinks_agrees_with_the_simulation_of_queues(uplink: int) -> None:
    network = small(3, uplink=uplink, rate=3000, publications=400)
    links = managed_links(network, S2, Management(rounds=6, window=80))
    queued = simulate(network, SH, links, Timing(service=700))
    outcome = run(network, SH, links=links, service=700)
    assert queued.messages != simulate(network, S2, links, Timing(service=700)).messages
    wanted = outcome.messages[:, 4] > 0
    assert (len(outcome.messages), int(wanted.sum())) == (queued.messages, queued.deliveries)
    assert outcome.hops[wanted].sum() == queued.total_hops
    delays = outcome.messages[wanted, 3] - network.publications.times[outcome.messages[wanted, 0]]
    assert delays.sum() == queued.total_delay


def test_without_delays_brokers_choose_the_links_of_the_accelerated_mode() -> None:
    """60 publications in each interval, all known to be complete before a review."""
    given = small(5, publications=300)
    times = np.arange(300) * 100_000 + 50_000
    tree = BrokerTree.of(given.num_brokers, given.tree.links.tolist(), delays=[0] * (given.num_brokers - 1))
    published = Publications(times, given.publications.sources, given.publications.values)
    network = BrokerNetwork(tree, given.subscriptions, published, given.radius, given.fanout)
    for strategy in (S1, S2):
        outcome = run(network, strategy, Scenario(interval=6.0))
        expected = managed_links(network, strategy, Management(rounds=4, window=60))
        assert outcome.links.tolist() == expected.tolist()
        assert len(expected) > 10


EVENTS = (
    Scenario(interval=5, churn=40),
    Scenario(interval=5, crashes=20),
    Scenario(interval=5, moves=30),
    Scenario(interval=4, churn=30, crashes=15, moves=30),
)


@pytest.mark.parametrize("scenario", EVENTS)
def test_every_publication_is_delivered_exactly_once_while_the_system_changes(scenario: Scenario) -> None:
    outcome = run(small(2, radius=3), S2, scenario, service=2000)
    assert outcome.pending == []
    assert not scenario.crashes or outcome.log.bypassed > 0
    assert not scenario.moves or outcome.asked["move"] > 0


@property_test(300, seed=st.integers(0, 10**6), quick=4)
@example(seed=38791)  # Broker 0 is down while broker 1, for which it keeps copies, recovers and leaves.
@example(seed=2003334)  # A copy by the old view of a move is sent beyond the brokers it affects; the next one begins.
def test_the_invariants_hold_whatever_happens_at_once(seed: int) -> None:
    """A small network and a scenario of events, drawn at random and often dense."""
    random = np.random.default_rng(seed)

    def one_of(*values: float) -> Any:
        return values[int(random.integers(len(values)))]

    network = ob.WORKLOADS[("brokers-sparse", "brokers-dense")[seed % 2]].generate(
        seed=seed,
        tree=("random", "balanced", "path", "star")[random.integers(4)],
        brokers=int(random.integers(1, 16)),
        radius=int(random.integers(1, 6)),
        fanout=int(random.integers(4, 10)),
        publications=int(random.integers(1, 250)),
        rate=one_of(300, 1500, 5000),
        subscriptions=int(random.integers(1, 80)),
        uplink=one_of(0, 0, 3, 20),
    )
    scenario = Scenario(
        interval=one_of(0, 0.3, 1.0, 5.0),
        churn=one_of(0, 0, 30, 300),
        crashes=one_of(0, 0, 20, 120),
        moves=one_of(0, 30, 300),
        losses=one_of(0, 0, 0, 2),
        drain=seed % 5 > 0,
        service=one_of(0, 1000, 50_000),
        predicate=one_of(0, 200),
    )
    outcome = simulate_system(network, seed % 4, scenario, Management(), seed)
    assert scenario.losses or not scenario.drain or outcome.pending == []


def path_of(size: int, wanting: list[int], publications: int) -> BrokerNetwork:
    """A path whose broker 0 publishes once a second what some others want."""
    zero: Ids = np.zeros((len(wanting), 1), dtype=np.int32)
    times, sources = np.arange(publications) * 1_000_000, np.zeros(publications, dtype=np.int32)
    published = Publications(times, sources, np.full((publications, 1), 5))
    tree = BrokerTree.of(size, [(v, v + 1) for v in range(size - 1)])
    return BrokerNetwork(tree, Subscriptions(np.array(wanting), zero, zero + 9), published, size - 1, 4)


class Crashing(SimulatedNetwork):
    """A network whose broker 1 crashes in the first second of publications, for good or for five seconds."""

    for_good = False

    def publish(self, number: int) -> None:
        if number == 1:
            self.crash(1, self.for_good)
        if number == 6 and not self.for_good:
            self.recover(1)
        super().publish(number)


@pytest.mark.parametrize(("for_good", "bypassed"), [(False, False), (False, True), (True, False), (True, True)])
def test_a_soft_link_bypasses_a_crash(for_good: bool, bypassed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Crashing, "for_good", for_good)
    monkeypatch.setattr(running, "SimulatedNetwork", Crashing)
    links = np.array([(0, 2)], dtype=np.int32) if bypassed else NO_LINKS
    outcome = run(path_of(3, [2], 21), S2, links=links)
    arrived = outcome.messages[outcome.messages[:, 4] > 0]
    late = arrived[:, 3] - arrived[:, 0] * 1_000_000 > 500_000
    assert len(arrived) == (1 if for_good and not bypassed else 21)
    assert late.any() == (not for_good and not bypassed)


def test_a_bypass_splits_a_publication_and_leaves_the_rest_for_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the path 0–1–2–3, brokers 1 and 3 subscribe: 3 gets its copy at once, 1 when it is up, and neither twice."""
    monkeypatch.setattr(running, "SimulatedNetwork", Crashing)
    outcome = run(path_of(4, [1, 2, 3], 9), S2, links=np.array([(0, 3)], dtype=np.int32))
    during = outcome.messages[(outcome.messages[:, 0] >= 1) & (outcome.messages[:, 0] <= 5)]
    assert {(s, r) for _, s, r in during[:, :3].tolist()} == {(0, 3), (0, 1), (1, 2)}
    waited = during[during[:, 2] == 3][:, 3] - during[during[:, 2] == 3][:, 0] * 1_000_000
    assert waited.max() < 200_000


def reachable(start: object) -> Iterator[object]:
    """Everything that an object refers to, directly or not, but for classes, functions and modules."""
    seen, waiting = {id(start)}, [start]
    while waiting:
        for each in gc.get_referents(waiting.pop()):
            if id(each) not in seen and not isinstance(each, type | FunctionType | BuiltinFunctionType | ModuleType):
                seen.add(id(each))
                waiting.append(each)
                yield each


def test_a_broker_refers_to_no_other_broker_and_to_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[SimulatedNetwork] = []

    class Watched(SimulatedNetwork):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            built.append(self)

    monkeypatch.setattr(running, "SimulatedNetwork", Watched)
    given = small(1, publications=100)
    run(given, S2, Scenario(interval=2))
    hops = given.tree.distances
    for broker in built[0].brokers.values():
        found = list(reachable(broker))
        strangers = [
            each for each in found if isinstance(each, Broker | SimulatedNetwork | BrokerNetwork) and each is not broker
        ]
        assert strangers == []
        assert given.tree not in [each for each in found if isinstance(each, BrokerTree)]
        members = broker.routing.hood.members.tolist()
        assert members == np.flatnonzero(hops[broker.me] <= given.radius).tolist()
        with pytest.raises(AttributeError):
            _ = broker.brokers  # type: ignore[attr-defined]


class Faulty(Broker):
    """A broker that sends every tenth publication on so many times."""

    times = 1

    def process(self, sender: int, publication: Publication, now: int) -> tuple[int, Sends] | None:
        result = super().process(sender, publication, now)
        return (result[0], result[1] * self.times) if result and publication.number % 10 == 0 else result


@pytest.mark.parametrize(("times", "reason"), [(0, "is delivered to 0"), (2, "twice")])
def test_a_faulty_broker_breaks_an_invariant(times: int, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Faulty, "times", times)
    monkeypatch.setattr("overlaybench.compare.claims.simulator.network.Broker", Faulty)
    with pytest.raises(BrokenInvariant, match=reason):
        run(small(1, publications=60))


def test_the_method_simulates_the_system_and_its_answer_is_valid() -> None:
    results = [
        S2_FAR.run(small(1, publications=300), SoftLinks(), simulate="system", interval=3, moves=20, churn=20, seed=1)
        for _ in range(2)
    ]
    assert results[0].status is ob.Status.FEASIBLE, results[0].reason
    assert results[0].counters["system_published"] == 300
    assert results[0].counters == results[1].counters


def test_events_need_the_system() -> None:
    with pytest.raises(ob.BadInput, match="simulate=system"):
        S2_FAR.run(small(1, publications=10), SoftLinks(), crashes=3)


def test_a_run_without_drain_ends_with_the_last_publication_and_measures_the_same_until_then() -> None:
    """Up to then nothing differs; a publication that is still under way is no violation."""
    given = small(1, rate=30_000, publications=400)
    whole, cut = (run(given, S2, Scenario(interval=0.2, drain=drain), service=20_000) for drain in (True, False))
    inside = whole.messages[whole.messages[:, 3] <= whole.duration]
    assert cut.messages.tolist() == inside.tolist()
    assert len(cut.messages) < 0.9 * len(whole.messages)
    same = ("system_deliveries", "system_messages", "system_yield", "system_hops", "system_series")
    assert [counters(cut)[name] for name in same] == [counters(whole)[name] for name in same]


def test_a_higher_rate_compresses_the_publications_in_time() -> None:
    outcome = run(small(1, publications=100, rate=600), scenario=Scenario(interval=0, rate=6000))
    assert outcome.duration == pytest.approx(1_000_000, rel=0.01)
    assert counters(outcome)["system_published"] == 100


def test_a_broker_that_gains_primary_links_has_a_slot_for_each_of_its_links() -> None:
    """Its soft and candidate links were chosen when it had fewer neighbours, and stay until the next review."""
    hood = Neighbourhood(0, [(0, v) for v in range(1, 6)] + [(v, v + 5) for v in range(1, 6)], 2)
    none = np.empty(0, dtype=np.int32)
    table = Entries(none, none.reshape(0, 1), none.reshape(0, 1), none)
    links = {6: True, 7: True, 8: False}
    maps = Routing(hood, table, links, BrokerLimits(2, 6, 0, S2, Management(candidates=1))).maps
    assert set(maps.ends[0][maps.ends[0] >= 0].tolist()) == {1, 2, 3, 4, 5, *links}


def test_moves_run_one_after_the_other_where_their_regions_meet() -> None:
    coordinator = Coordinator(2, set(range(30)), {(v, v + 1) for v in range(29)})
    one, near, apart, gone = (Ask("move", 1, path) for path in ((4, 5), (8, 7), (21, 22), (3, 6)))
    ((_, first),) = coordinator.receive(3, one)
    assert coordinator.receive(9, near) == []
    assert [broker for broker, _ in coordinator.receive(20, apart)] == [20]
    assert isinstance(first, Grant)
    assert [broker for broker, _ in coordinator.receive(3, Release(first.change))] == [9]
    ((_, refused),) = coordinator.receive(0, gone)
    assert isinstance(refused, Grant)
    assert refused.change == REFUSED
