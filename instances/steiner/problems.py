"""The Steiner tree problem in graphs."""

from __future__ import annotations

import numpy as np

from ..contract.arrays import Ids, connected_components, edge_keys
from ..contract.overlay import Overlay
from ..contract.problem import Problem
from .instance import Costs, SteinerInstance


class SteinerTree(Problem[SteinerInstance, Overlay]):
    """Find a tree of least cost that contains all terminals, and possibly other nodes (Karp 1972; P4 §II.A)."""

    kind, default_method = "steiner", "branch-and-cut"
    name, summary, source = "steiner", "cheapest tree that connects all terminals", "P4 §II.A"

    def value(self, instance: SteinerInstance, answer: Overlay) -> float:
        """The cost of the edges; infinite if one of them is not in the graph."""
        indices, present = _indices(instance, answer.edges)
        return int(instance.costs[indices].sum()) if present.all() else np.inf

    def violations(self, instance: SteinerInstance, answer: Overlay) -> list[str]:
        if answer.num_nodes != instance.num_nodes:
            return [f"the tree is on {answer.num_nodes} nodes, the instance has {instance.num_nodes}"]
        absent = answer.edges[~_indices(instance, answer.edges)[1]]
        if len(absent):
            u, v = absent[0].tolist()
            return [f"{instance.node_label(u)}–{instance.node_label(v)} is no edge of the graph"]
        component = connected_components(instance.num_nodes, *answer.edges.T.astype(np.int64))
        main = component[instance.terminals[0]]
        faults = []
        if apart := int((component[instance.terminals] != main).sum()):
            faults.append(f"{apart} of {instance.num_terminals} terminals are not connected to the first one")
        if elsewhere := int((component[answer.edges[:, 0]] != main).sum()):
            faults.append(f"{elsewhere} edges are outside the first terminal's component")
        cycles = answer.num_edges - (instance.num_nodes - len(np.unique(component)))
        if cycles:
            faults.append(f"{cycles} edges more than in a tree: they close cycles")
        return faults

    def unit(self, instance: SteinerInstance) -> int:
        return instance.unit

    def measures(self, instance: SteinerInstance, answer: Overlay) -> dict[str, float]:
        """The numbers of edges and of Steiner nodes (nodes on the tree that are no terminals)."""
        nodes = np.union1d(answer.edges.ravel(), instance.terminals)
        return {"edges": answer.num_edges, "steiner_nodes": len(nodes) - instance.num_terminals}


def _indices(instance: SteinerInstance, edges: Ids) -> tuple[Costs, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """The index of each edge among those of the instance, and whether it is one of them."""
    keys, given = (edge_keys(each, instance.num_nodes) for each in (instance.edges, edges))
    if not len(keys):
        return np.zeros(0, np.int64), np.zeros(len(given), np.bool_)
    indices = np.minimum(np.searchsorted(keys, given), len(keys) - 1)
    return indices, keys[indices] == given


STEINER_PROBLEMS: tuple[SteinerTree, ...] = (SteinerTree(),)
