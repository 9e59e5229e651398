"""Δ-moves while publications flow: nothing is lost or delivered twice, whatever the interleaving."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from overlaybench.heuristics.brokers.kernels.delta_move import Coordinator, Move, MovingNetwork
from overlaybench.heuristics.brokers.kernels.forwarding import S1, S2
from overlaybench.instances.brokers.network import BrokerTree
from overlaybench.instances.contract.errors import BadInput
from tests.broker_strategies import Link, broker_trees
from tests.properties import property_test

PATH = BrokerTree.of(8, [(v, v + 1) for v in range(7)])


@st.composite
def moves(draw: st.DrawFn, *, max_brokers: int = 12) -> tuple[Move, list[Link]]:
    """Any move in any tree, with any soft links within Δ."""
    tree, radius = draw(broker_trees(min_brokers=3, max_brokers=max_brokers)), draw(st.integers(2, 4))
    far, hops = tree.distances, tree.next_hops
    size = range(tree.num_brokers)
    possible = [(a, int(hops[a, b]), b) for a in size for b in size if 2 <= far[a, b] <= radius]
    assume(possible)
    mover, old, new = draw(st.sampled_from(possible))
    allowed = [(u, v) for u in size for v in size if 2 <= far[u, v] <= radius]
    links = draw(st.lists(st.sampled_from(allowed), unique=True))
    return Move(tree, radius, mover, old, new), sorted(links)


def run_move(network: MovingNetwork, random: Random, publications: int) -> list[set[int]]:
    """Deliver messages in a random order, with the move and publications in between; return their destinations."""
    size, wanted = network.move.tree.num_brokers, []
    todo = ["move"] + ["publish"] * publications
    random.shuffle(todo)
    while todo or network.ready:
        if todo and (not network.ready or random.random() < 0.1):
            if todo.pop() == "move":
                assert network.start()
            else:
                matching = sorted(random.sample(range(size), random.randint(0, size)))
                source = random.randrange(size)
                wanted.append(set(matching) - {source})
                network.publish(source, np.array(matching, dtype=np.int32))
        else:
            network.step(random.choice(network.ready))
    return wanted


@property_test(150, given=moves(), seed=st.integers(0, 2**32))
@pytest.mark.parametrize("strategy", [S1, S2], ids=["s1", "s2"])
def test_a_move_loses_nothing_and_delivers_nothing_twice(
    strategy: int, given: tuple[Move, list[Link]], seed: int
) -> None:
    move, links = given
    coordinator = Coordinator()
    network = MovingNetwork(move, links, strategy, coordinator)
    wanted = run_move(network, Random(seed), 6)
    assert network.done
    assert coordinator.granted == []
    expected = sorted((p, v) for p, brokers in enumerate(wanted) for v in brokers)
    assert sorted(network.delivered) == expected


def test_by_each_brokers_current_view_a_publication_can_get_lost() -> None:
    """Sent by the old view over a soft link, it reaches a broker whose new view routes it back to the sender."""
    move = Move(PATH, 4, 0, 1, 4)

    def lost(one_view: bool) -> int:
        network = MovingNetwork(move, [(4, 1)], S2, Coordinator(), one_view=one_view)
        network.start()
        while not (4 in network._avoiding and network.ready == [(0, 4)]):
            network.step(network.ready[0])
        network.publish(4, np.array([0], dtype=np.int32))
        assert (4, 1) in network.ready
        while others := [link for link in network.ready if link != (4, 1)]:
            network.step(others[0])
        while network.ready:
            network.step(network.ready[0])
        return 1 - len(network.delivered)

    assert lost(one_view=False) == 1
    assert lost(one_view=True) == 0


def test_a_broker_beyond_delta_of_the_mover_can_have_an_anchor_on_the_moving_path() -> None:
    """5 - 4 - 3 - c hangs off the path N - c - x - B; its anchor towards the mover is N, before and wrongly after."""
    tree = BrokerTree.of(8, [(0, 1), (1, 2), (2, 6), (6, 7), (2, 3), (3, 4), (4, 5)])
    move = Move(tree, 4, 0, 1, 7)
    after = move.tree_after()
    assert tree.distances[5, 0] > 4 < after.distances[5, 0]
    assert tree.distances[5, 1] == 4
    assert after.next_hops[1, 0] == 2 == after.next_hops[1, 5], "the mover is behind the sender"
    assert 5 in move.affected


@property_test(60, given=moves(max_brokers=14), quick=10)
def test_outside_the_affected_brokers_first_hops_and_anchors_stay(given: tuple[Move, list[Link]]) -> None:
    move, _ = given
    before, after = move.tree, move.tree_after()

    def anchor(tree: BrokerTree, v: int, x: int) -> int:
        at = v
        for _ in range(move.radius):
            at = int(tree.next_hops[at, x])
        return at

    for v in set(range(before.num_brokers)) - move.affected:
        for x in range(before.num_brokers):
            assert anchor(before, v, x) == anchor(after, v, x)
            assert before.next_hops[v, x] == after.next_hops[v, x]


def test_concurrent_moves_are_refused_where_their_neighbourhoods_meet() -> None:
    tree = BrokerTree.of(30, [(v, v + 1) for v in range(29)])
    one, near, apart = Move(tree, 2, 3, 4, 5), Move(tree, 2, 9, 8, 7), Move(tree, 2, 20, 21, 22)
    coordinator = Coordinator()
    assert coordinator.grant(one)
    assert one.affected & near.affected
    assert not coordinator.grant(near)
    assert not MovingNetwork(near, [], S2, coordinator).start()
    assert coordinator.grant(apart)
    coordinator.release(one)
    assert coordinator.grant(near)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((4, 0, 2, 3), "'b2' is no primary neighbour of 'b0'"),
        ((3, 0, 1, 5), "'b5' is not 2 to 3 hops from 'b0'"),
        ((4, 3, 2, 5), "'b5' is on the mover's side of 'b2'"),
    ],
)
def test_a_move_that_leaves_no_tree_is_refused(given: tuple[int, int, int, int], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Move(PATH, *given)
