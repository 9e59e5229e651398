"""The Δ-moves of P5 §6 as checks: every move on random trees, with messages delivered in random orders."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from random import Random

import numpy as np
import numpy.typing as npt

from ...heuristics.brokers.kernels.delta_move import Coordinator, Move, MovingNetwork
from ...heuristics.brokers.kernels.forwarding import S1, S2
from ...instances.brokers.network import BrokerTree
from ...instances.contract.catalogue import WORKLOADS
from ..papers.bench import SEED, Bench
from .claim import Claim, Finding, Scope, verdict_of
from .evidence import above, all_of, mean_of

_RADIUS, _BROKERS, _PUBLICATIONS = 4, 10, 6
SEEDS = {True: range(300), False: range(2000)}
Link = tuple[int, int]


def possible_moves(tree: BrokerTree, radius: int) -> list[Move]:
    """Every Δ-move in a tree."""
    far, hops, size = tree.distances, tree.next_hops, range(tree.num_brokers)
    return [
        Move(tree, radius, mover, int(hops[mover, new]), new)
        for mover in size
        for new in size
        if 2 <= far[mover, new] <= radius
    ]


def random_tree(random: Random, size: int) -> BrokerTree:
    """A tree in which each broker is attached to a random earlier one."""
    return BrokerTree.of(size, [(random.randrange(v), v) for v in range(1, size)])


def moved(seed: int, one_view: bool) -> tuple[int, int]:
    """Publications lost, and those delivered more than once, while a random move is under way."""
    random = Random(seed)
    tree = random_tree(random, _BROKERS)
    move = random.choice(possible_moves(tree, _RADIUS))
    far, size = tree.distances, range(_BROKERS)
    links = [(u, v) for u, v in product(size, size) if 2 <= far[u, v] <= _RADIUS and random.random() < 0.5]
    network = MovingNetwork(move, links, random.choice((S1, S2)), Coordinator(), one_view=one_view)
    wanted = _run(network, random)
    return len(wanted - set(network.delivered)), len(network.delivered) - len(set(network.delivered))


def _run(network: MovingNetwork, random: Random) -> set[Link]:
    """Start the move, publish, and deliver messages, all in a random order; return what must be delivered."""
    size, wanted = network.move.tree.num_brokers, set()
    todo = ["move", *["publish"] * _PUBLICATIONS]
    random.shuffle(todo)
    while todo or network.ready:
        if todo and (not network.ready or random.random() < 0.1):
            if todo.pop() == "move":
                network.start()
            else:
                matching = sorted(random.sample(range(size), random.randint(0, size)))
                source = random.randrange(size)
                number = len(network._matching)
                wanted |= {(number, v) for v in matching if v != source}
                network.publish(source, np.array(matching, dtype=np.int32))
        else:
            network.step(random.choice(network.ready))
    return wanted


def _moves(bench: Bench) -> Iterable[Finding]:
    seeds = SEEDS[bench.quick]
    count = len(seeds)
    sizes = {"brokers": (_BROKERS,), "Δ": (_RADIUS,), "publications": (_PUBLICATIONS,)}
    for one_view, subject in (
        (False, "as written: every broker uses its current view"),
        (True, "corrected: a publication keeps the view of the first affected broker"),
    ):
        outcomes = {seed: moved(seed, one_view) for seed in seeds}
        for number, what in enumerate(("lost", "repeated")):
            wrong = {seed: each[number] for seed, each in outcomes.items() if each[number]}
            text = f"In {len(wrong)} of {count} random moves with {_PUBLICATIONS} publications each, some are {what}"
            if wrong:
                seed, most = next(iter(wrong.items()))
                text += f"; with seed {seed}, {most} deliveries"
            scope = Scope(sizes, samples=count, reading=subject)
            named = f"no publication is {what}, {subject}"
            yield Finding(named, verdict_of(not wrong), f"{text}.", count, scope=scope)


def _affected(bench: Bench) -> Iterable[Finding]:
    count, radii = 20 if bench.quick else 200, (3, _RADIUS)
    mover, ends, path = (
        "old and new Δ-neighbourhood of the mover",
        "N's before and B's after (wrap-up phase)",
        "also within Δ of the moving path",
    )
    outside = {mover: 0, ends: 0, path: 0}
    changed = tried = 0
    for radius, seed in product(radii, range(count)):
        tree = random_tree(Random(seed), _BROKERS)
        for move in possible_moves(tree, radius):
            after, tried = move.tree_after(), tried + 1
            different = set(np.flatnonzero((_anchors(tree, radius) != _anchors(after, radius)).any(axis=1)).tolist())
            changed += len(different)
            outside[mover] += len(different - _near(radius, (tree, move.mover), (after, move.mover)))
            outside[ends] += len(different - _near(radius, (tree, move.old), (after, move.new)))
            outside[path] += len(different - move.affected)
    for subject, missed in outside.items():
        yield Finding(
            f"affected brokers: {subject}",
            verdict_of(not missed),
            f"Of {changed} brokers whose anchors change in {tried} moves, {missed} are not among them.",
            tried,
            scope=Scope({"brokers": (_BROKERS,), "Δ": radii}, samples=count, points=len(radii), reading=subject),
        )


def _near(radius: int, *centres: tuple[BrokerTree, int]) -> set[int]:
    """The brokers within a radius of a broker, each in its tree."""
    return {v for tree, centre in centres for v in np.flatnonzero(tree.distances[centre] <= radius).tolist()}


def _anchors(tree: BrokerTree, radius: int) -> npt.NDArray[np.int32]:
    """The broker that is min(radius, distance) hops from u towards v, shape (n, n)."""
    size = np.arange(tree.num_brokers, dtype=np.int32)
    at = np.repeat(size[:, None], len(size), axis=1)
    for _ in range(radius):
        at = tree.next_hops[at, size[None, :]]
    return at


def _any_tree(bench: Bench) -> Iterable[Finding]:
    """Whether Δ-moves lead from one tree to every other on the same brokers."""
    size = 4 if bench.quick else 6
    start = BrokerTree.of(size, [(v, v + 1) for v in range(size - 1)])
    reached, waiting = {start.links.tobytes()}, [start]
    while waiting:
        for move in possible_moves(waiting.pop(), 2):
            after = move.tree_after()
            if after.links.tobytes() not in reached:
                reached.add(after.links.tobytes())
                waiting.append(after)
    trees = size ** (size - 2)
    text = f"From a path, moves by one hop (Δ = 2) lead to {len(reached)} of the {trees} trees on {size} brokers."
    scope = Scope({"brokers": (size,), "Δ": (2,)}, samples=1, reading="no broker joins or departs")
    yield Finding("all trees are reached", verdict_of(len(reached) == trees), text, len(reached), scope=scope)


def _more_affected(bench: Bench) -> Iterable[Finding]:
    tree = WORKLOADS["brokers-sparse"].generate(seed=SEED, publications=1, subscriptions=1).tree
    moves = Random(SEED).sample(possible_moves(tree, 2), 40)
    radii = (2, 3, 4, 5)
    sizes = {r: [len(Move(tree, r, one.mover, one.old, one.new).affected) for one in moves] for r in radii}
    rises = [
        mean_of(f"brokers affected, Δ = {r + 1} − Δ = {r}", np.subtract(sizes[r + 1], sizes[r]), together=3)
        for r in radii[:-1]
    ]
    listed = ", ".join(f"{np.mean(each):.1f} at Δ = {r}" for r, each in sizes.items())
    yield Finding(
        "a larger Δ affects more brokers",
        all_of(map(above, rises)),
        f"Trivially, as the Δ-neighbourhoods grow with Δ. Brokers affected by a move: {listed}.",
        len(moves) * len(radii),
        scope=Scope({"brokers": (120,), "Δ": radii}, {"brokers": (120,)}, samples=len(moves)),
        intervals=rises,
    )


CLAIMS_P5_MOVES: tuple[Claim, ...] = (
    Claim("P5.S6.5", "a Δ-move under traffic loses no publication and repeats none", "P5 §6", _moves),
    Claim("P5.S6.6", "a Δ-move affects the Δ-neighbourhoods that §6 names", "P5 §6, Fig. 7", _affected),
    Claim("P5.S6.7", "any change of the primary network is a series of Δ-moves", "P5 §6", _any_tree),
    Claim("P5.S7.6", "a larger Δ lets a move affect more brokers", "P5 §7", _more_affected),
)
