"""The linear relaxation over some of the edges and some of the inequalities, solved repeatedly by HiGHS."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ....heuristics.topics.kernels.interest import costs_of
from ....instances.contract.arrays import offsets_of
from ...engine.highs_lp import HighsLP, Reals
from ..rows.candidate_edges import CandidateEdges, Edges
from ..rows.goal import Goal
from ..rows.topic_rows import TopicRows, crossing, joined, no_rows


class RestrictedLP(HighsLP):
    """Minimise Σ costs·x + degree_cost·D subject to rows of topics and, optionally, degree(v) ≤ D for each node v.

    Column 0 is D; column 1 + e is candidate edge e, 0 ≤ x ≤ 1. The topic rows follow the |V| degree rows.

    Parameters
    ----------
    edges : CandidateEdges
        Grown by :meth:`add_edges`.
    goal : Goal
        Degree rows are there only if D has a cost or the degrees a cap.
    threads : int
        Of HiGHS.

    Attributes
    ----------
    rows : TopicRows
        The topic rows now in the LP.
    idle : int64 array, shape (rows,)
        The number of consecutive solves in which each was slack.
    degree : float
        The value of D.
    duals : float64 array, shape (rows,)
    node_duals : float64 array, shape (|V|,)
        Not negative; all 0 without degree rows.
    x, value, feasible, iterations
        As in :class:`.HighsLP`; x has one value an edge.
    """

    def __init__(self, edges: CandidateEdges, goal: Goal, *, threads: int = 1) -> None:
        super().__init__(threads=threads, first=1)
        self.edges, self._edge_cost = edges, float(goal.edge_cost)
        self.num_nodes = edges.instance.num_nodes
        self._costs = goal.costs_on(self.num_nodes)
        degrees = goal.degree_cost > 0 or goal.cap < self.num_nodes
        self._degree_rows = self.num_nodes if degrees else 0
        self.rows = no_rows()
        self.idle = np.empty(0, np.int64)
        self.x, self.degree = np.zeros(len(edges)), 0.0
        self.duals, self.node_duals = np.empty(0), np.zeros(self.num_nodes)
        least, most = goal.degree_range(self.num_nodes)
        self.append_columns(np.array([float(goal.degree_cost)]), float(least), float(most))
        if degrees:
            starts = np.arange(self._degree_rows, dtype=np.int32)
            zeros = np.zeros(self._degree_rows, dtype=np.int32)
            ones = np.ones(self._degree_rows)
            self.append_rows(np.zeros(self._degree_rows), starts, zeros, ones)
        self._columns = 0
        self._load_new_edges()

    def add_edges(self, keys: Edges) -> None:
        """Append candidate edges and their columns."""
        self.edges.add(keys)
        self._load_new_edges()

    def _load_new_edges(self) -> None:
        first, count = self._columns, len(self.edges) - self._columns
        offsets, crossed = crossing(self.rows, self.edges.links, first)
        row_of = np.repeat(np.arange(len(self.rows.topic)), np.diff(offsets)) + self._degree_rows
        edge_of = crossed.astype(np.int64) - first
        value = np.ones(len(row_of))
        if self._degree_rows:
            ends = np.concatenate([self.edges.u[first:], self.edges.v[first:]])
            row_of = np.concatenate([ends, row_of])
            edge_of = np.concatenate([np.arange(count), np.arange(count), edge_of])
            value = np.concatenate([np.full(2 * count, -1.0), value])
        order = np.argsort(edge_of, kind="stable")
        starts = offsets_of(edge_of, count)[:-1]
        costs = self._edge_cost * costs_of(self.edges.u[first:], self.edges.v[first:], self._costs).astype(np.float64)
        self.append_columns(costs, 0.0, 1.0, starts, row_of[order], value[order])
        self._columns += count

    def add_rows(self, rows: TopicRows) -> None:
        """Append topic rows."""
        offsets, crossed = crossing(rows, self.edges.links, 0)
        self.append_rows(rows.rhs.astype(np.float64), offsets[:-1], crossed + 1, np.ones(len(crossed)))
        self.rows = joined(self.rows, rows)
        self.idle = np.concatenate([self.idle, np.zeros(len(rows.topic), np.int64)])

    def drop_rows(self, drop: npt.NDArray[np.bool_]) -> None:
        """Remove topic rows."""
        index = np.flatnonzero(drop)
        if len(index):
            self.delete_rows(index + self._degree_rows)
            self.rows, self.idle = self.rows.chosen(~drop), self.idle[~drop]

    def _take_values(self, values: Reals) -> None:
        super()._take_values(values)
        self.degree = float(values[0])

    def _take_duals(self, duals: Reals) -> None:
        super()._take_duals(duals)
        split = self._degree_rows
        self.node_duals = duals[:split].copy() if split else np.zeros(self.num_nodes)
        self.duals = duals[split:].copy()
        if self.feasible:
            self.idle = np.where(self.duals > 1e-9, 0, self.idle + 1)
