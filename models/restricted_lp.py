"""The linear relaxation over some of the edges and some of the inequalities, solved and re-solved by HiGHS."""

from __future__ import annotations

import highspy
import numpy as np
import numpy.typing as npt

from models.candidate_edges import CandidateEdges, Edges
from models.topic_rows import TopicRows, crossing, joined, no_rows

Reals = npt.NDArray[np.float64]
_OPTIMAL, _INFEASIBLE = highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInfeasible


class RestrictedLP:
    """Minimise Σ cost·x + degree_cost·D subject to rows of topics and, if asked for, degree(v) ≤ D for each node v.

    Column 0 is D; column 1 + e is candidate edge e, 0 ≤ x ≤ 1. The topic rows follow the |V| degree rows.

    Parameters
    ----------
    edges : CandidateEdges
        Grown by :meth:`add_edges`.
    edge_cost, degree_cost : int
        The objective.
    degrees : bool
        Whether there are degree rows.
    threads : int
        Of HiGHS.

    Attributes
    ----------
    rows : TopicRows
        The topic rows now in the LP.
    idle : int64 array, shape (rows,)
        For how many solves in a row each was slack.
    x : float64 array, one an edge
    degree : float
        The value of D.
    value : float
        The objective, by floating point.
    duals : float64 array, shape (rows,)
    node_duals : float64 array, shape (|V|,)
        Not negative; all 0 without degree rows.
    feasible : bool
        False if the LP has no solution; then the duals are a Farkas ray, scaled to a largest entry of 1.
    iterations : int
        Simplex iterations so far.
    """

    def __init__(
        self,
        edges: CandidateEdges,
        *,
        edge_cost: int = 1,
        degree_cost: int = 0,
        degrees: bool = False,
        threads: int = 1,
    ) -> None:
        self.edges, self.edge_cost, self.degree_cost = edges, edge_cost, degree_cost
        self.num_nodes = edges.instance.num_nodes
        self._degree_rows = self.num_nodes if degrees else 0
        self.rows = no_rows()
        self.idle = np.empty(0, np.int64)
        self.iterations = 0
        self.x, self.degree, self.value, self.feasible = np.zeros(len(edges)), 0.0, 0.0, True
        self.duals, self.node_duals = np.empty(0), np.zeros(self.num_nodes)
        self._highs = highspy.Highs()
        for name, value in (
            ("output_flag", False),
            ("threads", threads),
            ("presolve", "off"),
            ("solver", "simplex"),
            ("simplex_strategy", 1),
            ("random_seed", 0),
        ):
            self._highs.setOptionValue(name, value)
        self._append_columns(np.array([float(degree_cost)]), 0.0, float(self.num_nodes))
        if degrees:
            starts = np.arange(self._degree_rows, dtype=np.int32)
            zeros = np.zeros(self._degree_rows, dtype=np.int32)
            ones = np.ones(self._degree_rows)
            self._append_rows(np.zeros(self._degree_rows), starts, zeros, ones)
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
        starts = np.concatenate([[0], np.cumsum(np.bincount(edge_of, minlength=count))])[:-1]
        self._append_columns(
            np.full(count, float(self.edge_cost)), 0.0, 1.0, starts.astype(np.int32), row_of[order], value[order]
        )
        self._columns += count

    def _append_columns(
        self,
        costs: Reals,
        lower: float,
        upper: float,
        starts: npt.NDArray[np.int32] | None = None,
        rows: npt.NDArray[np.integer] | None = None,
        values: Reals | None = None,
    ) -> None:
        count = len(costs)
        self._highs.addCols(
            count,
            costs,
            np.full(count, lower),
            np.full(count, upper),
            0 if rows is None else len(rows),
            np.zeros(count, np.int32) if starts is None else starts,
            np.empty(0, np.int32) if rows is None else rows.astype(np.int32),
            np.empty(0) if values is None else values,
        )

    def _append_rows(
        self, lower: Reals, starts: npt.NDArray[np.integer], columns: npt.NDArray[np.integer], values: Reals
    ) -> None:
        self._highs.addRows(
            len(lower),
            lower,
            np.full(len(lower), highspy.kHighsInf),
            len(columns),
            starts.astype(np.int32),
            columns.astype(np.int32),
            values,
        )

    def add_rows(self, rows: TopicRows) -> None:
        """Append topic rows."""
        offsets, crossed = crossing(rows, self.edges.links)
        self._append_rows(rows.rhs.astype(np.float64), offsets[:-1], crossed + 1, np.ones(len(crossed)))
        self.rows = joined(self.rows, rows)
        self.idle = np.concatenate([self.idle, np.zeros(len(rows.topic), np.int64)])

    def drop_rows(self, drop: npt.NDArray[np.bool_]) -> None:
        """Remove topic rows."""
        index = np.flatnonzero(drop)
        if len(index):
            self._highs.deleteRows(len(index), (index + self._degree_rows).astype(np.int32))
            self.rows, self.idle = self.rows.chosen(~drop), self.idle[~drop]

    def bound_edges(self, lower: Reals, upper: Reals) -> None:
        """Set the bounds of all edges' columns."""
        self._highs.changeColsBounds(len(lower), np.arange(1, len(lower) + 1, dtype=np.int32), lower, upper)

    def bound_degree(self, lower: float, upper: float) -> None:
        """Set the bounds of D."""
        self._highs.changeColsBounds(1, np.zeros(1, np.int32), np.array([lower]), np.array([upper]))

    @property
    def basis(self) -> highspy.HighsBasis:
        """The basis, as long as rows and columns stay the same."""
        return self._highs.getBasis()

    def start_from(self, basis: highspy.HighsBasis) -> None:
        """Start the next solve from a basis."""
        self._highs.setBasis(basis)

    def probe(self, edge: int, value: int, basis: highspy.HighsBasis, iterations: int) -> float:
        """The objective a few dual simplex iterations after an edge is fixed; :meth:`release` it afterwards."""
        self._highs.setBasis(basis)
        self._highs.changeColsBounds(
            1, np.array([edge + 1], np.int32), np.array([float(value)]), np.array([float(value)])
        )
        self._highs.setOptionValue("simplex_iteration_limit", iterations)
        self._highs.run()
        self._highs.setOptionValue("simplex_iteration_limit", highspy.kHighsIInf)
        if self._highs.getModelStatus() == _INFEASIBLE:
            return float("inf")
        return float(self._highs.getInfo().objective_function_value)

    def release(self, edge: int, lower: int, upper: int, basis: highspy.HighsBasis) -> None:
        """Take back what :meth:`probe` changed."""
        self._highs.changeColsBounds(
            1, np.array([edge + 1], np.int32), np.array([float(lower)]), np.array([float(upper)])
        )
        self._highs.setBasis(basis)

    def solve(self, time_limit: float) -> bool:
        """Solve; False if the time limit (seconds) or numerical trouble left no solution."""
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(time_limit, 0.01))
        self._highs.run()
        status = self._highs.getModelStatus()
        info = self._highs.getInfo()
        self.iterations += max(0, info.simplex_iteration_count)
        if status == _OPTIMAL:
            solution = self._highs.getSolution()
            values = np.array(solution.col_value)
            duals = np.maximum(np.array(solution.row_dual), 0.0)
            self.degree, self.x = float(values[0]), np.clip(values[1:], 0.0, 1.0)
            self.value, self.feasible = float(info.objective_function_value), True
            self._take_duals(duals)
            self.idle = np.where(self.duals > 1e-9, 0, self.idle + 1)
            return True
        if status == _INFEASIBLE:
            _, known, ray = self._highs.getDualRay()
            if known and (largest := float(np.abs(ray).max())) > 0:
                self.feasible, self.value = False, np.inf
                self._take_duals(np.maximum(np.asarray(ray) / largest, 0.0))
                return True
        return False

    def _take_duals(self, duals: Reals) -> None:
        split = self._degree_rows
        self.node_duals = duals[:split].copy() if split else np.zeros(self.num_nodes)
        self.duals = duals[split:].copy()
