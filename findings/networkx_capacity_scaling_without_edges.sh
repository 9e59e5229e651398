#!/usr/bin/env bash
# networkx==3.6.1.
# `capacity_scaling` raises NetworkXUnfeasible when no flow meets all demands, except where the graph has no edge between
# two nodes (no edge at all, or loops): then the flow of nothing is returned at cost 0, as the optimum. A component of
# terminals without edges, as after a filter, passes for a cheap one. `network_simplex` raises.
# Guess before: both raise.
# Seen: for the demands -2 and 2 and no edge, cost 0; with an edge that leads elsewhere it raises.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install networkx==3.6.1
"$folder/env/bin/python" - <<'PYTHON'
import networkx


def cost(method, edges):
    graph = networkx.DiGraph()
    graph.add_node("source", demand=-2)
    graph.add_node("target", demand=2)
    graph.add_edges_from(edges, capacity=5, weight=1)
    try:
        return method(graph)[0]
    except networkx.NetworkXUnfeasible:
        return None


for edges in ([], [("target", "target")], [("source", "elsewhere")]):
    scaling, simplex = cost(networkx.capacity_scaling, edges), cost(networkx.network_simplex, edges)
    print(edges, "capacity_scaling", scaling, "network_simplex", simplex)
    assert scaling == (None if ("source", "elsewhere") in edges else 0) and simplex is None
PYTHON
