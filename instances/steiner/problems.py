"""The Steiner tree problem in graphs, and its judge."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..arrays import Ids
from ..overlay import Overlay
from ..problem import Problem
from .instance import Costs, SteinerInstance


class SteinerTree(Problem[SteinerInstance, Overlay]):
    """A tree of least cost in the graph that holds all terminals; other nodes may be on it (Karp 1972; P4 §II.A)."""

    kind = "steiner"
    name, summary, source = "steiner", "cheapest tree that joins all terminals", "P4 §II.A"

    def value(self, instance: SteinerInstance, answer: Overlay) -> float:
        """The cost of the edges; infinite if one of them is not in the graph."""
        place, known = _places(instance, answer.edges)
        return int(instance.costs[place].sum()) if known.all() else np.inf

    def violations(self, instance: SteinerInstance, answer: Overlay) -> list[str]:
        """See :class:`Problem`."""
        if answer.num_nodes != instance.num_nodes:
            return [f"the tree is on {answer.num_nodes} nodes, the instance has {instance.num_nodes}"]
        strange = answer.edges[~_places(instance, answer.edges)[1]]
        if len(strange):
            u, v = strange[0].tolist()
            return [f"{instance.node_label(u)}–{instance.node_label(v)} is no edge of the graph"]
        size = (instance.num_nodes, instance.num_nodes)
        graph = sp.coo_array((np.ones(answer.num_edges), (answer.edges[:, 0], answer.edges[:, 1])), shape=size)
        component = connected_components(graph, directed=False)[1]
        trunk = component[instance.terminals[0]]
        found = []
        if apart := int((component[instance.terminals] != trunk).sum()):
            found.append(f"{apart} of {instance.num_terminals} terminals are not joined to the first one")
        if elsewhere := int((component[answer.edges[:, 0]] != trunk).sum()):
            found.append(f"{elsewhere} edges hang together with no terminal of the first one's tree")
        cycles = answer.num_edges - (instance.num_nodes - len(np.unique(component)))
        if cycles:
            found.append(f"{cycles} edges too many for a tree: they close cycles")
        return found

    def measures(self, instance: SteinerInstance, answer: Overlay) -> dict[str, float]:
        """Edges, and nodes on the tree that are no terminals."""
        touched = np.union1d(answer.edges.ravel(), instance.terminals)
        return {"edges": answer.num_edges, "steiner_nodes": len(touched) - instance.num_terminals}


def _places(instance: SteinerInstance, edges: Ids) -> tuple[Costs, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Where each edge stands among the instance's, and whether it does."""
    keys = instance.edges[:, 0].astype(np.int64) * instance.num_nodes + instance.edges[:, 1]
    wanted = edges[:, 0].astype(np.int64) * instance.num_nodes + edges[:, 1]
    if not len(keys):
        return np.zeros(0, np.int64), np.zeros(len(wanted), np.bool_)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return place, keys[place] == wanted


STEINER_PROBLEMS: tuple[SteinerTree, ...] = (SteinerTree(),)
