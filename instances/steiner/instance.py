"""Steiner tree instances: an undirected graph with edge costs and a set of terminals to connect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Ids, check_ends, connected_components, frozen, ordered_edges
from ..contract.errors import BadInput
from ..contract.shown import Digested, circle

if TYPE_CHECKING:
    import networkx as nx


Costs = npt.NDArray[np.int64]
_LARGEST_SUM = 2**53
_TINY, _LISTED = 60, 10


@dataclass(frozen=True, eq=False, repr=False)
class SteinerInstance(Digested):
    """An immutable graph on nodes 0…n-1 with distinct edges u < v in lexicographic order, and its terminals.

    Raises BadInput if a value is out of range, out of order or repeated. :meth:`from_edges` takes edges in any order.

    Parameters
    ----------
    num_nodes : int
        n, at least 1.
    edges : int32 array, shape (m, 2)
    costs : int64 array, shape (m,)
        Not negative, with a sum of at most 2^53.
    terminals : int32 array, shape (k,)
        Distinct and increasing, at least one.
    unit : int
        By which the costs of a file with decimals were multiplied; it is shown, and not part of the digest.

    Examples
    --------
    >>> import overlaybench as ob
    >>> instance = ob.SteinerInstance.from_edges(3, [(0, 1, 5), (1, 2, 5), (0, 2, 20)], terminals=[0, 2])
    >>> ob.solve(instance).value
    10
    """

    num_nodes: int
    edges: Ids
    costs: Costs
    terminals: Ids
    unit: int = 1

    def __post_init__(self) -> None:
        if np.size(self.edges) % 2:
            raise BadInput("the edges must be pairs of nodes")
        costs, terminals = frozen(self.costs, np.int64), frozen(self.terminals, np.int32)
        if not 1 <= self.num_nodes < 2**31:
            raise BadInput(f"{self.num_nodes} nodes: a Steiner instance has from 1 to 2^31 − 1")
        edges = ordered_edges(np.reshape(self.edges, (-1, 2)), self.num_nodes, "edge")
        check_ends(terminals, self.num_nodes, "terminal")
        if len(costs) != len(edges):
            raise BadInput(f"{len(edges)} edges and {len(costs)} costs: give one cost for each edge")
        if len(terminals) == 0 or (np.diff(terminals) <= 0).any():
            raise BadInput("the terminals must be distinct and increasing, and at least one")
        if (negative := np.flatnonzero(costs < 0)).size:
            raise BadInput(f"edge {negative[0]}: the cost {costs[negative[0]]} is negative: give 0 or more")
        if sum(costs.tolist()) > _LARGEST_SUM:
            raise BadInput("the costs add up to more than 2^53: divide them by a common factor")
        self._set(edges=edges, costs=costs, terminals=terminals)

    @property
    def is_tiny(self) -> bool:
        return self.num_edges <= _TINY

    def trial(self) -> SteinerInstance:
        edges = [(v, (v + step) % 12, 1 + v * step % 7) for step in (1, 3, 5) for v in range(12)]
        return SteinerInstance.from_edges(12, edges, [0, 2, 5, 8, 11])

    @classmethod
    def from_edges(
        cls,
        num_nodes: int,
        edges: Iterable[tuple[int, int, int]] | npt.NDArray[np.int64],
        terminals: Iterable[int],
        unit: int = 1,
    ) -> SteinerInstance:
        """Build from (node, node, cost) in any order and direction; of parallel edges the cheapest is kept.

        Terminals may be repeated. Cost O(m log m). Raises BadInput as the class, and for a loop, with the edge's index.
        """
        listed = np.asarray(edges if isinstance(edges, np.ndarray) else list(edges), dtype=np.int64).reshape(-1, 3)
        if (loops := np.flatnonzero(listed[:, 0] == listed[:, 1])).size:
            raise BadInput(f"edge {loops[0]}: a loop at node {listed[loops[0], 0]}: remove it")
        u, v, cost = listed[:, :2].min(axis=1), listed[:, :2].max(axis=1), listed[:, 2]
        order = np.lexsort((cost, v, u))
        u, v, cost = u[order], v[order], cost[order]
        first = np.ones(len(u), dtype=np.bool_)
        first[1:] = (np.diff(u) != 0) | (np.diff(v) != 0)
        ends, distinct = np.stack([u, v], axis=1)[first], np.unique(np.array(list(terminals), dtype=np.int64))
        return cls(num_nodes, frozen(ends, np.int32), cost[first], frozen(distinct, np.int32), unit)

    @property
    def num_edges(self) -> int:
        """The number of edges, m."""
        return len(self.edges)

    @property
    def num_terminals(self) -> int:
        """The number of terminals, k."""
        return len(self.terminals)

    def unreachable(self) -> str:
        """Why no tree connects all terminals, with the first that the first one cannot reach; "" if one does."""
        root = connected_components(self.num_nodes, *self.edges.T.astype(np.int64))
        away = self.terminals[root[self.terminals] != root[self.terminals[0]]]
        if not len(away):
            return ""
        named = ", ".join(map(self.node_label, away[:_LISTED].tolist())) + (", …" if len(away) > _LISTED else "")
        plural = "s" if len(away) > 1 else ""
        return f"no path leads from terminal {self.node_label(int(self.terminals[0]))} to terminal{plural} {named}"

    @property
    def size(self) -> dict[str, int]:
        """n, m and k."""
        return {"nodes": self.num_nodes, "links": self.num_edges, "terminals": self.num_terminals}

    def _content(self) -> tuple[str, Iterable[npt.NDArray[Any]]]:
        return "steiner/1", (np.array([*self.size.values()]), self.edges, self.costs, self.terminals)

    def node_label(self, node: int) -> str:
        """The number of a node as in STP files, which count from 1."""
        return str(node + 1)

    def to_networkx(self) -> nx.Graph[int]:
        """The graph in networkx, with edge attribute ``weight``."""
        import networkx as nx

        graph: nx.Graph[int] = nx.Graph()
        graph.add_nodes_from(range(self.num_nodes))
        graph.add_weighted_edges_from(
            (u, v, cost) for (u, v), cost in zip(self.edges.tolist(), self.costs.tolist(), strict=True)
        )
        return graph

    def _shown(self) -> tuple[Mapping[str, object], str]:
        return {}, circle((self.num_nodes, self.node_label), self.edges, set(self.terminals.tolist()))
