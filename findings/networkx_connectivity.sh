#!/usr/bin/env bash
# networkx==3.6.1.
# networkx' edge and node connectivity count loops, which connect nothing, as if they were edges to other nodes, and
# `minimum_edge_cut` has a loop in it. The node connectivity of a directed graph may be larger than its edge connectivity:
# it is 1 for a path, in which most nodes do not reach the others.
# Guess before: loops change no cut; Whitney's inequality (nodes <= edges <= least degree without loops) holds.
# Seen: the complete graph of four nodes has 3 and 3, with a loop at each node 5 and 5, and a "minimum" cut of 4 edges; the
# directed path 0-1-2 has node connectivity 1 and edge connectivity 0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install networkx==3.6.1
"$folder/env/bin/python" - <<'PYTHON'
import networkx


def connectivity(graph):
    return networkx.node_connectivity(graph), networkx.edge_connectivity(graph)


graph = networkx.complete_graph(4)
without = connectivity(graph), len(networkx.minimum_edge_cut(graph))
graph.add_edges_from((node, node) for node in list(graph))
cut = networkx.minimum_edge_cut(graph)
print("without loops", without, "with loops", connectivity(graph), cut)
assert without == ((3, 3), 3)
assert connectivity(graph) == (5, 5)
assert len(cut) == 4 and any(u == v for u, v in cut)
path = networkx.DiGraph([(0, 1), (1, 2)])
print("directed path", connectivity(path), "strongly connected:", networkx.is_strongly_connected(path))
assert connectivity(path) == (1, 0)
PYTHON
