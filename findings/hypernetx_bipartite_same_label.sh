#!/usr/bin/env bash
# hypernetx==2.4.3 with xgi==0.10.2.
# The bipartite graph of a hypergraph in HyperNetX has the labels of nodes and edges themselves for vertices. Where a
# node and an edge have one label, as numbered members and numbered groups do, both become one vertex. XGI renumbers.
# Seen: 3 nodes and the edges 1 and 2 give 3 vertices in place of 5, and a loop at 1 that joins node 1 to edge 1.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install hypernetx==2.4.3 xgi==0.10.2
cd "$folder"
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import hypernetx
import xgi

members = {1: [1, 2], 2: [2, 3]}
merged = hypernetx.Hypergraph(members).bipartite()
apart = xgi.to_bipartite_graph(xgi.Hypergraph(members))
print("HyperNetX %d vertices, edges %s; XGI %d vertices" % (len(merged), sorted(map(tuple, merged.edges)), len(apart)))
assert len(merged) == 3 and merged.has_edge(1, 1)
assert len(apart) == 5
PYTHON
