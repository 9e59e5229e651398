"""The LP relaxation, solved by cutting planes and column generation, with a proven bound in every round.

Any dual values prove a bound, so they are rounded to multiples of 1/2^32 and the bound is computed from them in
integers. Neither the solver's tolerances nor rounding can lift it above the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import chain

import numpy as np
import numpy.typing as npt

from ....heuristics.topics.greedy_merge import greedy_merge
from ....heuristics.topics.kernels.interest import costs_of
from ....instances.contract.arrays import Ids, offsets_of
from ....instances.contract.overlay import Overlay
from ....instances.runtime.run import Clock
from ....instances.topics.instance import TopicInstance
from ....instances.topics.problems import AnyTopicProblem
from ...engine.proof import Multipliers, ProofFile, Proven
from ...engine.relaxation import MANY_PROBES, UNIT, Bits, Bound, HighsLP, Reals, Relaxation
from .neighbour_rows import NeighbourRows, NeighbourSeparation, neighbour_texts
from .presolve import Presolved
from .separation import Goal
from .topic_rows import (
    DIAMETER,
    EDGES,
    LEAVING,
    PARTITION,
    TWICE,
    CandidateEdges,
    Edges,
    TopicRows,
    Units,
    all_pairs,
    count_links,
    cover,
    crossing,
    edge_terms,
    joined,
    keys_of,
    no_rows,
    singleton_rows,
    sweep,
    useful_edges,
)

_PATIENCE = 60
_REFINED = 100  # nodes of the tree at which rows of neighbours are looked for
_KINDS = {PARTITION: "parts", DIAMETER: "pair", LEAVING: "leaving", TWICE: "twice", EDGES: "edges"}
LP_LINKS = 30_000
"""Up to so many pairs of subscribers of a topic the LP alone gives the best bound within seconds."""


def proven_bound(
    edges: CandidateEdges,
    rows: TopicRows,
    duals: Reals,
    node_duals: Reals,
    goal: Goal,
    *,
    lower: npt.NDArray[np.int8] | None = None,
    upper: npt.NDArray[np.int8] | None = None,
    near: tuple[NeighbourRows, Reals] | None = None,
) -> Bound:
    """A lower bound on the goal's objective over every overlay that satisfies the rows.

    Overlays may use every pair of nodes with a topic in common, candidate or not. If the goal has no costs, a positive
    bound proves infeasibility. The arrays have one number a row, one a node (of the rows degree(v) ≤ D), and one a
    candidate edge: the bounds of x, 0 and 1 by default. Rows of neighbours, `near`, come with their dual values where
    all pairs are candidates.

    Weak duality: Σ duals·rhs + Σ_edges min over x of (cost − cover + prices)·x + min over D of (degree_cost − Σ
    prices)·D. Time as for :func:`.sweep`; the sums of integers stay below 2^62 as long as Σ duals·|E| < 2^30.
    """
    units, prices = _rounded(duals), _rounded(node_duals)
    cost, costs = goal.edge_cost * UNIT, goal.costs_on(edges.instance.num_nodes)
    used = np.flatnonzero(units)
    used = used[np.argsort(rows.topic[used], kind="stable")]
    kept, factors = rows.chosen(used), units[used]
    starts = np.searchsorted(kept.topic, np.arange(edges.instance.num_topics + 1)).astype(np.int64)
    excess, pairs, covers = sweep(
        edges.interest, edges.position, kept, starts, factors, prices, cost, UNIT >> 20, costs
    )
    reduced = (
        cost * costs_of(edges.u, edges.v, costs)
        - cover(rows, units, edges.links, len(edges))
        + prices[edges.u]
        + prices[edges.v]
    )
    total = sum((units * rows.rhs.astype(np.int64)).tolist())
    texts: Callable[[], Iterable[tuple[Hashable, int]]] = tuple
    if near is not None:
        factors = _rounded(near[1])
        reduced -= factors @ near[0].weights
        total += sum((factors * near[0].rhs).tolist())
        texts = partial(neighbour_texts, edges, near[0], factors)
    row, edge, value = edge_terms(rows, edges)
    np.subtract.at(reduced, edge, units[row] * value)
    if near is not None or len(row):  # all pairs are candidates
        excess = -int(np.minimum(reduced, 0).sum())
    total -= int(excess)
    if lower is not None and upper is not None:
        negative = np.minimum(reduced, 0)
        total += int(-negative[upper == 0].sum() + (reduced - negative)[lower == 1].sum())
    slack = goal.degree_cost * UNIT - int(prices.sum())
    total += slack * goal.degree_range(edges.instance.num_nodes)[0 if slack >= 0 else 1]
    unknown = ~np.isin(pairs, edges.keys)
    proof = partial(row_multipliers, rows, units, prices, not goal.edge_cost, texts)
    return Bound(total, pairs[unknown][np.argsort(-covers[unknown], kind="stable")], reduced, proof)


def row_multipliers(
    rows: TopicRows,
    units: Units,
    prices: Units,
    farkas: bool,
    others: Callable[[], Iterable[tuple[Hashable, int]]] = tuple,
) -> Multipliers:
    """The rows of a bound, `others`, and the nodes' degree rows with their multipliers in units, for a proof.

    A row's text is its kind, topic, and its labels. `farkas` says that they are counted without the edges' costs: their
    sum contradicts the cap on degrees, if any.
    """
    used, priced = np.flatnonzero(units), np.flatnonzero(prices)
    label, offsets = rows.label.tolist(), rows.offsets.tolist()
    listed = (used.tolist(), rows.kind[used].tolist(), rows.topic[used].tolist(), units[used].tolist())
    texts = (
        ((_KINDS[kind], topic, tuple(label[offsets[r] : offsets[r + 1]])), factor)
        for r, kind, topic, factor in zip(*listed, strict=True)
    )
    return Multipliers(chain(texts, others()), zip(priced.tolist(), prices[priced].tolist(), strict=True), farkas)


def _rounded(duals: Reals) -> Units:
    units: Units = np.floor(np.maximum(duals, 0.0) * UNIT).astype(np.int64)
    return units


def begin_proof(file: ProofFile, instance: TopicInstance, problem: AnyTopicProblem, reduced: Presolved) -> None:
    """Write the first line, and those of the steps of :func:`.attach_leaves`.

    Rows speak of the topics that presolve keeps by their position there, and then of those of leaves.
    """
    if not file.is_written:
        return
    nodes = [instance.node_label(v) for v in range(instance.num_nodes)]
    topics = [instance.topic_label(t) for t in range(instance.num_topics)]
    kept = reduced.topics.tolist()
    facts = {"problem": problem.name, **problem.objective.stated, "instance": instance.digest, "unit": UNIT}
    file.head(**facts, nodes=nodes, topics=topics, kept=kept)
    for step in reduced.leaves.tolist():
        file.line("leaf", *step)


def write_case(file: ProofFile, proven: Proven | None, bound: Fraction, *, of_degree: bool = False) -> None:
    """Write the case of a bound on the edges, or that no overlay has degrees below a bound on the degree."""
    if of_degree and bound <= 0:
        return
    case = file.case(cap=math.ceil(bound) - 1 if of_degree else None)
    case.bound(0, proven)
    case.end(math.inf)


_VIOLATION, _WORTH, _USED = 1e-4, 1e-3, 1e-9
_START_PAIRS = 3
ALL_PAIRS = 30_000_000
_PACE = 2e-6  # seconds a link of a pair, to list and to price them all, on a machine with other work


class CuttingPlanes(Relaxation[TopicRows]):
    """Minimise Σ costs·x + degree_cost·D subject to rows of topics and, optionally, degree(v) ≤ D for each node v.

    Column 0 of the LP is D; column 1 + e is candidate edge e, 0 ≤ x ≤ 1. The topic rows follow the |V| degree rows,
    which are there only if D has a cost or the degrees a cap. The edges of a valid overlay, `start`, are candidates. If
    `sparse`, there are few more, and the others are priced in; otherwise all pairs with a topic in common are.
    """

    def __init__(self, instance: TopicInstance, goal: Goal, start: Overlay, *, sparse: bool = True) -> None:
        super().__init__()
        self.instance, self.goal, n = instance, goal, instance.num_nodes
        sparse = sparse and goal.rows is None
        pairs = starting_pairs(instance, start, sparse=sparse, weighted=goal.costs is not None)
        self.edges = self.columns = CandidateEdges(instance, pairs)
        self._costs, self._separator = goal.costs_on(n), goal.new_separator()
        self.lp, self.rows, self.idle = HighsLP(first=1), no_rows(), np.empty(0, np.int64)
        self.near: NeighbourRows | None = None
        self._near_separation: NeighbourSeparation | None = None
        self._refined = self._degree_rows = 0
        if goal.separator.quick:
            self.patience, self.probing = _PATIENCE, MANY_PROBES
        least, most = goal.degree_range(n)
        self.lp.append_columns(np.array([float(goal.degree_cost)]), float(least), float(most))
        if goal.degree_cost > 0 or goal.cap < n:
            self.fixed_rows = self._degree_rows = n
            self.lp.append_rows(np.zeros(n), np.arange(n), np.zeros(n, np.int32), np.ones(n))
        self._load_edges(0)
        self._add_rows(singleton_rows(self.edges.interest))
        if goal.costs is not None:
            self.cost_scale = float(instance.edge_costs(self.edges.u, self.edges.v).mean()) if len(self.edges) else 1.0
        if len((rows := self._separator.first_rows(instance.topic_offsets)).topic):
            self._add_rows(rows)
        self.columns_at_once = max(self.columns_at_once, n)

    def _load_edges(self, first: int) -> None:
        """Append the columns of the candidate edges from this number on."""
        edges, count = self.edges, len(self.edges) - first
        offsets, crossed = crossing(self.rows, edges.links, first)
        row_of = np.repeat(np.arange(len(self.rows.topic)), np.diff(offsets)) + self.fixed_rows
        edge_of, value = crossed.astype(np.int64) - first, np.ones(len(crossed))
        if self._degree_rows:
            row_of = np.concatenate([edges.u[first:], edges.v[first:], row_of])
            edge_of = np.concatenate([np.arange(count), np.arange(count), edge_of])
            value = np.concatenate([np.full(2 * count, -1.0), value])
        order = np.argsort(edge_of, kind="stable")
        starts = offsets_of(edge_of, count)[:-1]
        costs = self.goal.edge_cost * costs_of(edges.u[first:], edges.v[first:], self._costs).astype(np.float64)
        self.lp.append_columns(costs, 0.0, 1.0, starts, row_of[order], value[order])

    @property
    def keys(self) -> Edges:
        """The edges, as numbers u·|V| + v."""
        return self.edges.keys

    def include(self, keys: Edges) -> None:
        """Add edges that are not candidates yet."""
        if len(new := np.setdiff1d(keys, self.edges.keys)):
            self._add_columns(new)

    def warm_start(self, used: Edges, rows: TopicRows, duals: Reals) -> None:
        """Take the bound of rows with dual values, the edges that it uses, and the rows of larger values."""
        self.include(used)
        prices = np.zeros(self.instance.num_nodes)
        bound = proven_bound(self.edges, rows, duals, prices, self.goal)
        self.best_units, self.best_proven = bound.units, bound.proven
        rows = rows.chosen(duals > _WORTH)
        self.cuts += len(rows.topic)
        self._add_rows(rows)

    def add_rows(self, topics: Sequence[int], labels: Sequence[Ids], rhs: Sequence[int]) -> None:
        """Add partition inequalities of topics by the labels of their subscribers."""
        of = np.array(topics, np.int32)
        offsets = np.cumsum([0, *map(len, labels)]).astype(np.int64)
        self._add_rows(TopicRows(of, np.zeros_like(of), np.array(rhs, np.int32), offsets, np.concatenate(labels)))

    def add_near(self) -> bool:
        """Add violated rows of neighbours, which come before those of topics; whether there are any.

        All pairs with a topic in common become candidates.
        """
        if self._near_separation is None:
            self.include(all_pairs(self.instance))
            self._near_separation = NeighbourSeparation(self.edges)
        rows = self._near_separation.violated(np.pad(self.lp.x, (0, len(self.edges) - len(self.lp.x))))
        if not len(rows.rhs):
            return False
        topics, idle = self.rows, self.idle
        self.lp.delete_rows(np.arange(self.fixed_rows, self.fixed_rows + len(topics.topic)))
        row, edge = np.nonzero(rows.weights)
        starts, weights = np.searchsorted(row, np.arange(len(rows.rhs))), rows.weights[row, edge].astype(np.float64)
        self.lp.append_rows(rows.rhs.astype(np.float64), starts, edge + 1, weights)
        self.near = rows if self.near is None else self.near.joined(rows)
        self.fixed_rows = self._degree_rows + len(self.near.rhs)
        self.cuts += len(rows.rhs)
        self.rows, self.idle = no_rows(), np.zeros(0, np.int64)
        self._add_rows(topics)
        self.idle = idle
        return True

    def refine(self) -> bool:
        """Add rows of neighbours at the first nodes of a tree, for all nodes, if the root has some."""
        self._refined += 1
        return self.near is not None and self._refined <= _REFINED and self.add_near()

    def violated(self, x: Reals, *, exact: bool) -> TopicRows:
        """Rows that x violates. If x is 0/1, there are none exactly if x is an overlay within the goal's limits."""
        return self._separator.violated(self.edges, x, tolerance=_VIOLATION, exact=exact)

    def described(self, column: int) -> tuple[int, int]:
        """The two nodes of an edge."""
        return int(self.edges.u[column]), int(self.edges.v[column])

    def _solve(self, time_limit: float) -> bool:
        solved = self.lp.solve(time_limit)
        if solved and self.lp.feasible:
            self.idle = np.where(self.lp.row_duals[self.fixed_rows :] > 1e-9, 0, self.idle + 1)
        return solved

    def _proven(self, lower: Bits | None, upper: Bits | None) -> Bound:
        duals = self.lp.row_duals
        prices = duals[: self._degree_rows] if self._degree_rows else np.zeros(self.instance.num_nodes)
        near = None if self.near is None else (self.near, duals[self._degree_rows : self.fixed_rows])
        goal = self.goal if self.lp.feasible else replace(self.goal, edge_cost=0, degree_cost=0)
        duals = duals[self.fixed_rows :]
        return proven_bound(self.edges, self.rows, duals, prices, goal, lower=lower, upper=upper, near=near)

    def _add_rows(self, rows: TopicRows) -> None:
        offsets, crossed = crossing(rows, self.edges.links, 0)
        row, edge, value = edge_terms(rows, self.edges)
        crossed, values = np.insert(crossed, offsets[row], edge), np.insert(np.ones(len(crossed)), offsets[row], value)
        offsets = offsets + np.searchsorted(row, np.arange(len(offsets)))
        self.lp.append_rows(rows.rhs.astype(np.float64), offsets[:-1], crossed + 1, values)
        self.rows = joined(self.rows, rows)
        self.idle = np.concatenate([self.idle, np.zeros(len(rows.topic), np.int64)])

    def _add_columns(self, columns: Edges) -> None:
        self.edges.add(columns)
        self._load_edges(len(self.edges) - len(columns))


class KeptRows:
    """Partition inequalities that an LP used, for that of an instance with many of the same nodes and topics.

    `topics` has the labels of the first topics of the instance that is solved. A subscriber that a row does not know
    has a label of its own there: with k labels, k − 1 edges cross whatever the labels are.
    """

    def __init__(self) -> None:
        self.topics: list[str] = []
        self._rows: dict[str, list[tuple[Ids, Ids]]] = {}
        self._edges = np.empty(0, np.int64)

    def take(self, planes: CuttingPlanes) -> None:
        """Remember the rows with dual values, and the edges that the last solution uses."""
        rows, duals, self._rows = planes.rows, planes.lp.row_duals[planes.fixed_rows :], {}
        self._edges = planes.edges.keys[: len(planes.lp.x)][planes.lp.x > _USED]
        for r in np.flatnonzero(duals[: len(rows.topic)] > _USED).tolist():  # rows may have changed since: no matter
            if (t := int(rows.topic[r])) < len(self.topics) and rows.kind[r] == PARTITION:
                labels = rows.label[rows.offsets[r] : rows.offsets[r + 1]]
                self._rows.setdefault(self.topics[t], []).append((planes.instance.subscribers(t), labels))

    def give(self, planes: CuttingPlanes) -> bool:
        """Add the edges and the rows to an LP; whether there are any."""
        found = dict[tuple[int, bytes], tuple[Ids, int]]()
        planes.include(useful_edges(planes.instance, self._edges))
        for t, topic in enumerate(self.topics):
            here = planes.instance.subscribers(t)
            for nodes, labels in self._rows.get(topic, ()):
                at = np.minimum(np.searchsorted(nodes, here), len(nodes) - 1)
                own = labels.max() + 1 + np.arange(len(here))
                used, label = np.unique(np.where(nodes[at] == here, labels[at], own), return_inverse=True)
                if 2 <= len(used) < len(here):
                    found[t, label.tobytes()] = label.astype(np.int32), len(used) - 1
        if found:
            planes.add_rows([t for t, _ in found], *zip(*found.values(), strict=True))
        return bool(found)


def is_timely(instance: TopicInstance, clock: Clock) -> bool:
    """Whether the time suffices for a round over all pairs, which cannot be interrupted."""
    return _PACE * count_links(instance) < clock.left


def starting_pairs(instance: TopicInstance, start: Overlay, *, sparse: bool, weighted: bool = False) -> Edges:
    """The edges of an overlay and of Greedy Merge, and the pairs with most topics in common, three for each edge.

    With `weighted`, those with most topics in common ÷ cost. If there are more than `ALL_PAIRS` links, the overlay's
    edges only.
    """
    if count_links(instance) > ALL_PAIRS:
        return useful_edges(instance, keys_of(start))
    pairs = all_pairs(instance)
    if not sparse:
        return pairs
    useful = useful_edges(instance, np.unique(np.concatenate([keys_of(start), keys_of(greedy_merge(instance))])))
    common = CandidateEdges(instance, pairs).common
    worth = common / (instance.edge_costs(*np.divmod(pairs, instance.num_nodes)) if weighted else 1)
    richest = np.lexsort((pairs, -worth))[: _START_PAIRS * start.num_edges]
    return np.unique(np.concatenate([useful, pairs[richest]]))
