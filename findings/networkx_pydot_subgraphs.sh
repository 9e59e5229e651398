#!/usr/bin/env bash
# networkx==3.6.1 with pydot==4.0.1.
# networkx reads DOT through pydot and leaves out what stands inside subgraphs: nodes and edges of a cluster are not in
# the graph, unless they are named outside again. rqt_graph and other tools put every node into a cluster.
# Seen: of the path a - x - y, whose edge x - y stands in a cluster, the edge a - x and the nodes a and x are left.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install networkx==3.6.1 pydot==4.0.1
cd "$folder"
"$folder/env/bin/python" -W ignore - <<'PYTHON'
from pathlib import Path

import networkx

Path("path.dot").write_text("graph { subgraph cluster_one { x -- y } a -- x }\n")
graph = networkx.Graph(networkx.nx_pydot.read_dot("path.dot"))
print("nodes", sorted(graph), "edges", sorted(map(sorted, graph.edges)))
assert sorted(graph) == ["a", "x"]
assert sorted(map(sorted, graph.edges)) == [["a", "x"]]
PYTHON
