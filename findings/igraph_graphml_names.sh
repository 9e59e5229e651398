#!/usr/bin/env bash
# igraph==1.0.0 with networkx==3.6.1.
# igraph writes the nodes of a GraphML file as n0, n1, ... in its own order, and keeps the names that they have in
# networkx in an attribute `_nx_name`. Where the names are n0, n1, ... themselves, a reader that takes identifiers for
# labels gets another graph on the same labels, without an error.
# Seen: the star n2 - n0 - n1, whose centre is n0, comes back with the centre n1.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install igraph==1.0.0 networkx==3.6.1
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import igraph
import networkx

star = networkx.Graph([("n2", "n0"), ("n0", "n1")])
igraph.Graph.from_networkx(star).write_graphml("star.graphml")
again = networkx.read_graphml("star.graphml")
centres = [max(graph, key=graph.degree) for graph in (star, again)]
print("centre by networkx %s, after igraph %s with the name %s" % (*centres, again.nodes[centres[1]]["_nx_name"]))
assert centres == ["n0", "n1"]
assert again.nodes["n1"]["_nx_name"] == "n0"
PYTHON
