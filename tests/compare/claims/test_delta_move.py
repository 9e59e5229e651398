"""Δ-moves by themselves: nothing is lost, and only the affected brokers change."""

from random import Random

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.compare.claims.delta_move import DeltaMove, MovingNetwork
from overlaybench.heuristics.brokers.kernels.forwarding import S1, S2
from overlaybench.instances.brokers.network import BrokerTree
from tests.broker_strategies import Link, broker_trees
from tests.properties import property_test

PATH = BrokerTree.of(8, [(v, v + 1) for v in range(7)])


@st.composite
def moves(draw: st.DrawFn, *, max_brokers: int = 12) -> tuple[DeltaMove, list[Link]]:
    """Any move in any tree, with any soft links within Δ."""
    tree, radius = draw(broker_trees(min_brokers=3, max_brokers=max_brokers)), draw(st.integers(2, 4))
    far, hops = tree.distances, tree.next_hops
    size = range(tree.num_brokers)
    possible = [(a, int(hops[a, b]), b) for a in size for b in size if 2 <= far[a, b] <= radius]
    assume(possible)
    mover, old, new = draw(st.sampled_from(possible))
    allowed = [(u, v) for u in size for v in size if 2 <= far[u, v] <= radius]
    links = draw(st.lists(st.sampled_from(allowed), unique=True))
    return DeltaMove(tree, radius, mover, old, new), sorted(links)


@property_test(150, given=moves(), seed=st.integers(0, 2**32))
@pytest.mark.parametrize("strategy", [S1, S2], ids=["s1", "s2"])
def test_a_move_delivers_everything_once(strategy: int, given: tuple[DeltaMove, list[Link]], seed: int) -> None:
    move, links = given
    network = MovingNetwork(move, links, strategy)
    published = network.interleave(Random(seed), 6)
    assert network.done
    expected = sorted((p, v) for p, (source, wanted) in enumerate(published) for v in set(wanted) - {source})
    assert sorted(network.delivered) == expected


def test_by_each_brokers_current_view_a_publication_can_get_lost() -> None:
    """Sent by the old view over a soft link, it reaches a broker whose new view routes it back to the sender."""
    move = DeltaMove(PATH, 4, 0, 1, 4)

    def lost(one_view: bool) -> int:
        network = MovingNetwork(move, [(4, 1)], S2, one_view=one_view)
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


@property_test(60, given=moves(max_brokers=14), quick=10)
def test_outside_the_affected_brokers_first_hops_and_anchors_stay(given: tuple[DeltaMove, list[Link]]) -> None:
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


@pytest.mark.parametrize(("given", "named"), [((4, 0, 2, 3), "b2"), ((3, 0, 1, 5), "b5"), ((4, 3, 2, 5), "b5")])
def test_a_move_that_leaves_no_tree_is_refused(given: tuple[int, int, int, int], named: str) -> None:
    with pytest.raises(ob.BadInput, match=named):
        DeltaMove(PATH, *given)
