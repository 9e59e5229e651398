"""A tree searched by several processes, in rounds of equal work: one seed and one number of them give one answer."""

from __future__ import annotations

import heapq
import signal
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.contract.option import Option
from ...instances.runtime.run import Clock
from ...instances.runtime.stoppable import Fork
from .exact_method import SearchLog
from .proof import NotedTree, Record
from .relaxation import Bound, Reals
from .tree_search import BranchStep, Node, TreeSearch

Keys = npt.NDArray[np.int64]
_ROUND, _NODE = (1_000, 20_000), 500
"""Simplex iterations of a round, the least and the most, and for each node that a process receives."""
_SMALL_TREE = 3_000  # simplex iterations: about half a second, for which one process searches
_POLL_SECONDS = 0.05
THREADS = Option("threads", 1, "processes that search the tree; a seed and a number give one answer", least=1, most=64)


class SentNode(NamedTuple):
    """A node of the tree, by keys of columns."""

    units: int
    depth: int
    case: int
    ones: Keys
    zeros: Keys
    branched: BranchStep | None  # its column is a key


class Share(NamedTuple):
    """What a process receives: all columns known, the best answer, its nodes, and how much it may work."""

    keys: Keys
    answer: Any
    nodes: list[SentNode]
    iterations: int


class Gathered(NamedTuple):
    """What is left of a share, and what was found."""

    keys: Keys
    answer: Any
    nodes: list[SentNode]
    record: Record
    solved: int
    closed: int
    cuts: int
    iterations: int
    is_stuck: bool  # numerical trouble: nodes are left that cannot be solved


def search_tree(tree: TreeSearch, clock: Clock, root: Bound | None, guide: Reals, *, workers: int) -> None:
    """As :meth:`.TreeSearch.run`; with several `workers`, processes search on in a tree that is not small.

    Each is a fork of this process with an LP of its own, which it keeps. In a round the open nodes are dealt, best
    first, one to each in turn; each process searches below its own for an equal number of simplex iterations; then
    answers, columns, and what is left are gathered, always in the same order. Cuts and pseudo-costs stay where they
    were found. Until a round ends, its nodes count as open, so the bound is proven at any time. RuntimeError if a
    process dies, and what it raised itself.
    """
    tree.begin(root, guide)
    if tree.advance(clock, _SMALL_TREE if workers > 1 else 2**62):
        _search_in_rounds(tree, clock, workers)
    tree.end()


def _search_in_rounds(tree: TreeSearch, clock: Clock, workers: int) -> None:
    with ExitStack() as stack:
        if tree.current is not None:
            heapq.heappush(tree.open, tree.current)
            tree.current = None
        children = []
        for number in range(workers):
            child = Fork(lambda pipe, number=number: _work(pipe, tree, clock, number))  # type: ignore[misc]
            stack.callback(child.end)
            children.append(child)
        stuck = False
        while tree.open and not stuck and not clock.passed and not tree.is_answered:
            nodes = [_sent(tree, node) for node in sorted(tree.open)]
            iterations = int(np.clip(len(nodes) // workers * _NODE, *_ROUND))
            for number, child in enumerate(children):
                share = Share(tree.planes.keys, tree.incumbent.overlay, nodes[number::workers], iterations)
                child.pipe.send(share)
            replies = [_received(child, children, clock) for child in children]
            stuck = any(reply.is_stuck for reply in replies)
            _gather(tree, replies)
            tree.print()


def _received(child: Fork, all_children: list[Fork], clock: Clock) -> Gathered:
    told = False
    while True:
        with suppress(TimeoutError):
            reply = child.receive(_POLL_SECONDS)
            if isinstance(reply, BaseException):
                raise reply
            assert isinstance(reply, Gathered)
            return reply
        if clock.interrupted and not told:
            told = True
            for each in all_children:
                each.signal(signal.SIGUSR1)


def _gather(tree: TreeSearch, replies: list[Gathered]) -> None:
    planes, left = tree.planes, []
    for reply in replies:
        made = tree.proof.replay(reply.record)
        planes.include(reply.keys)
        if reply.answer is not None:
            tree.incumbent.offer(reply.answer)
        left += [node._replace(case=made.get(node.case, node.case)) for node in reply.nodes]
        tree.nodes += reply.solved
        tree.closed = min(tree.closed, reply.closed)
        planes.cuts += reply.cuts
        planes.lp.iterations += reply.iterations
    _take(tree, left)


def _work(pipe: Connection, tree: TreeSearch, clock: Clock, number: int) -> None:
    """Search what comes until killed."""
    signal.signal(signal.SIGUSR1, lambda *_: clock.interrupt())
    tree.progress = SearchLog("off")
    tree.incumbent.vary(number)
    try:
        while True:
            share: Share = pipe.recv()
            pipe.send(_done(tree, share, clock))
    except Exception as error:
        pipe.send(error)


def _done(tree: TreeSearch, share: Share, clock: Clock) -> Gathered:
    planes, solved, cuts, iterations = tree.planes, tree.nodes, tree.planes.cuts, tree.planes.lp.iterations
    planes.include(share.keys)
    if share.answer is not None:
        tree.incumbent.offer(share.answer)
    _take(tree, share.nodes)
    proof, before = tree.proof, tree.incumbent.value
    tree.proof = noted = NotedTree(proof)
    more = tree.advance(clock, share.iterations)
    left = [*tree.open, *([] if tree.current is None else [tree.current])]
    answer = tree.incumbent.overlay if tree.incumbent.value < before else None
    reply = Gathered(
        planes.keys,
        answer,
        [_sent(tree, node) for node in sorted(left) if node.units <= tree.incumbent.cutoff],
        noted.record,
        tree.nodes - solved,
        tree.closed,
        planes.cuts - cuts,
        planes.lp.iterations - iterations,
        bool(left) and not more and not clock.passed and not tree.is_answered,
    )
    tree.proof = proof
    return reply


def _sent(tree: TreeSearch, node: Node) -> SentNode:
    keys, step = tree.planes.keys, node.branched
    named = None if step is None else step._replace(column=int(keys[step.column]))
    ones, zeros = (keys[: len(node.lower)][node.lower == 1], keys[: len(node.upper)][node.upper == 0])
    return SentNode(node.units, node.depth, node.case, ones, zeros, named)


def _take(tree: TreeSearch, nodes: list[SentNode]) -> None:
    """Make these the open nodes; all their columns are there."""
    keys = tree.planes.keys
    order = np.argsort(keys)

    def columns(of: Keys) -> Keys:
        return order[np.searchsorted(keys, of, sorter=order)]

    tree.current, tree.open = None, []
    for number, node in enumerate(nodes, start=1):
        lower, upper = np.zeros(len(keys), np.int8), np.ones(len(keys), np.int8)
        lower[columns(node.ones)], upper[columns(node.zeros)] = 1, 0
        step = node.branched
        if step is not None:
            step = step._replace(column=int(columns(np.array([step.column]))[0]))
        tree.open.append(Node(0, node.units, node.depth, number, lower, upper, node.case, step))
    heapq.heapify(tree.open)
